//! Answers that stay: those of the command about every model of the gallery, and the words that other programs read.
//!
//! `tests/corpus` holds a digest for each model: verdicts, outcome, counts, columns, events, the state at the end. A change that is
//! meant is recorded by running this test with `ZWANG_RECORD=1`, and then reviewed in the difference of the files;
//! `scripts/corpus` compares two programs to the bit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Numbers agree within this part of themselves: a libm of another machine may round otherwise.
const AGREES: f64 = 1e-6;

fn json(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// The models with their names, without the one that takes minutes.
fn models() -> Vec<(String, String)> {
    let mut models = Vec::new();
    for folder in ["models", "models/refused", "crates/zwang/tests/bad_runs"] {
        for entry in std::fs::read_dir(format!("{ROOT}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "zw") && !path.ends_with("pendulum_long.zw") {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                models.push((name, path.to_string_lossy().into_owned()));
            }
        }
    }
    models.sort();
    models
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let text = |v: &Value| v[key].as_str().unwrap_or_default().to_string();
    value.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

fn values(object: &Value) -> String {
    let one = |(name, x): (&String, &Value)| format!(" {name}={x}");
    object.as_object().map(|o| o.iter().map(one).collect()).unwrap_or_default()
}

/// The answers of the command about a model, in a few lines.
fn digest(name: &str, path: &str) -> String {
    let check = json(&["check", path, "--json"]);
    let mut lines = vec![
        format!("check: {}", texts(&check["diagnostics"], "code").join(" ")),
        format!("rank: {} freedoms: {}", check["rank"], check["degrees_of_freedom"]),
        format!("integrability: {} growth: {}", check["integrability"], check["growth_vector"]),
    ];
    for c in check["constraints"].as_array().into_iter().flatten() {
        lines.push(format!("constraint: {} {} {} {} {}", c["name"], c["kind"], c["time"], c["ideal"], c["essential"]));
    }
    let csv = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("corpus-{name}.csv"));
    let run = json(&["run", path, "--json", "-o", csv.to_str().unwrap()]);
    lines.push(format!("run: {} {}", run["outcome"], texts(&run["diagnostics"], "code").join(" ")));
    lines.push(format!("cost: steps={} rejected={} evaluations={}", run["steps"], run["rejected"], run["evaluations"]));
    lines.push(format!("end: t={}{}{}", run["t"], values(&run["q"]), values(&run["qdot"])));
    for event in run["events"].as_array().into_iter().flatten() {
        lines.push(format!("event: {} {} {}", event["t"], event["kind"], event["name"]));
    }
    let columns = std::fs::read_to_string(&csv).unwrap_or_default();
    lines.push(format!("columns: {}", columns.lines().next().unwrap_or_default()));
    let _ = std::fs::remove_file(&csv);
    lines.join("\n") + "\n"
}

/// True if two lines have the same words and numbers that agree.
fn agrees(old: &str, new: &str) -> bool {
    let words = |line: &str| -> Vec<String> { line.split([' ', '=', ',']).map(str::to_string).collect() };
    let (old, new) = (words(old), words(new));
    old.len() == new.len()
        && old.iter().zip(&new).all(|(a, b)| match (a.parse::<f64>(), b.parse::<f64>()) {
            _ if a == b => true,
            // counts are words
            (Ok(x), Ok(y)) if a.contains('.') && b.contains('.') => {
                (x - y).abs() <= AGREES * x.abs().max(y.abs()).max(AGREES)
            }
            _ => false,
        })
}

#[test]
fn every_model_answers_as_it_did() {
    let folder = PathBuf::from(ROOT).join("crates/zwang-cli/tests/corpus");
    let records = std::env::var_os("ZWANG_RECORD").is_some();
    let models = models();
    let digests: Vec<String> = std::thread::scope(|scope| {
        let half = models.len().div_ceil(2);
        let jobs: Vec<_> = models
            .chunks(half)
            .map(|part| scope.spawn(move || part.iter().map(|(name, path)| digest(name, path)).collect::<Vec<_>>()))
            .collect();
        jobs.into_iter().flat_map(|job| job.join().unwrap()).collect()
    });
    let mut differences = Vec::new();
    for ((name, _), new) in models.iter().zip(&digests) {
        let path = folder.join(format!("{name}.txt"));
        if records {
            std::fs::write(&path, new).unwrap();
            continue;
        }
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old.lines().count() != new.lines().count() {
            differences.push(format!("{name}: {} lines became {}", old.lines().count(), new.lines().count()));
        }
        let changed = old.lines().zip(new.lines()).filter(|(a, b)| !agrees(a, b));
        differences.extend(changed.map(|(a, b)| format!("{name}\n  - {a}\n  + {b}")));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name == "words" || models.iter().any(|(model, _)| *model == name), "no model is called {name}");
    }
}

/// Every key of a JSON value, with `[]` for lists and `*` where keys are names of the model.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    /// Objects whose keys are the user's names.
    const NAMED: [&str; 13] = [
        "q",
        "qdot",
        "outputs",
        "residual",
        "momentum",
        "depends_on",
        "combination",
        "gaps",
        "directions[]",
        "determined[]",
        "routes",
        "units",
        "samples",
    ];
    match value {
        Value::Object(object) => {
            let is_named = NAMED.iter().any(|name| path.ends_with(name));
            for (key, inner) in object {
                let path = if is_named { format!("{path}.*") } else { format!("{path}.{key}") };
                found.insert(path.clone());
                keys(inner, &path, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| keys(inner, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// Other programs read these words: none may go away.
#[test]
fn the_words_that_programs_read_are_still_there() {
    let mut found = BTreeSet::new();
    let models = "pendulum double_pendulum_redundant bouncing_ball two_link_arm nonideal_particle rolling_disk knife_edge tall_building \
                  four_legs stick_slip_belt slider_crank_dead_centre";
    for name in models.split_whitespace() {
        let path = format!("models/{name}.zw");
        for command in ["check", "run", "inspect", "linearize"] {
            let answer = json(&[command, &path, "--json"]);
            keys(&answer, command, &mut found);
        }
    }
    keys(&json(&["bench", "models/pendulum.zw", "--no-run", "--json"]), "bench", &mut found);
    keys(&json(&["run", "crates/zwang/tests/bad_runs/contradiction_later.zw", "--json"]), "run", &mut found);
    let pages = Command::new(env!("CARGO_BIN_EXE_zwang")).arg("explain").output().unwrap().stdout;
    let code = |line: &str| format!("explain {}", line.split(':').next().unwrap_or_default());
    found.extend(String::from_utf8_lossy(&pages).lines().map(code));
    let path = format!("{ROOT}/crates/zwang-cli/tests/corpus/words.txt");
    if std::env::var_os("ZWANG_RECORD").is_some() {
        let lines: Vec<&str> = found.iter().map(String::as_str).collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    let frozen = std::fs::read_to_string(&path).unwrap();
    let gone: Vec<&str> = frozen.lines().filter(|key| !found.contains(*key)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}
