//! The command as other programs use it: exit codes, streams, JSON.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn zwang(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap()
}

fn zwang_reading(text: &[u8], arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zwang"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_main_command_runs_the_first_model() {
    let output = zwang(&["run", "models/pendulum.zw"]);
    assert_eq!(output.status.code(), Some(0));
    let out = text(&output.stdout);
    assert!(out.contains("2 coordinates, 1 constraint equation, 1 independent  →  1 degree of freedom"), "{out}");
}

#[test]
fn inspect_has_the_fields_of_the_contract() {
    let value = json(&zwang(&["inspect", "models/double_pendulum_redundant.zw", "--json"]));
    for field in [
        "t",
        "coordinates",
        "q",
        "qdot",
        "rows",
        "M",
        "Q",
        "A",
        "b",
        "C",
        "a",
        "e",
        "qddot",
        "Qc_ideal",
        "Qc_nonideal",
        "lambda",
        "rank",
        "gaussian",
        "influence",
        "P",
        "N",
        "energy",
        "kinetic",
        "potential",
        "momentum",
        "routes",
        "disagreement",
    ] {
        assert!(!value[field].is_null(), "{field} is missing");
    }
    assert_eq!(value["routes"].as_object().unwrap().len(), 6);
    assert_eq!(value["rank"], 2);
    assert_eq!(value["rows"], serde_json::json!(["rod[1]", "rod[2]", "again"]));
}

#[test]
fn quantities_that_do_not_exist_are_null() {
    let value = json(&zwang(&["inspect", "models/wheel_on_slope.zw", "--json"]));
    for field in ["a", "e", "gaussian", "influence", "P", "N"] {
        assert!(value[field].is_null(), "{field} of a singular mass matrix");
    }
}

#[test]
fn check_has_the_fields_of_the_contract() {
    let value = json(&zwang(&["check", "models/double_pendulum_redundant.zw", "--json"]));
    assert_eq!(value["constraints"][2]["kind"], "holonomic");
    assert_eq!(value["constraints"][2]["velocity"], "catastatic");
    assert_eq!(value["redundant"][0]["constraint"], "again");
    let factor = value["redundant"][0]["depends_on"]["rod[2]"].as_f64().unwrap();
    assert!((factor - 2.0).abs() < 1e-12);
    assert_eq!(value["redundant"][0]["everywhere"], true);
    // |P|² - l² = (|P| + l)(|P| - l), and |P| = l
    assert_eq!(
        (&value["redundant"][0]["formula"], &value["redundant"][0]["evidence"]),
        (&"2*l*rod[2]".into(), &"proved".into())
    );
    let essential: Vec<bool> = (0..3).map(|k| value["constraints"][k]["essential"].as_bool().unwrap()).collect();
    assert_eq!(essential, [true, false, false]);
    assert_eq!(value["removable"], serde_json::json!(["again"]));
    assert_eq!(value["determinacy"]["families"][0]["dimension"], 1);
    assert_eq!(
        value["determinacy"]["families"][0]["determined"][0],
        serde_json::json!({ "rod[2]": 1.0, "again": 2.0 })
    );
    assert_eq!((&value["freedom"]["here"], &value["freedom"]["counted"]), (&2.into(), &1.into()));
    assert_eq!(value["indeterminate"], serde_json::json!(["rod[2]", "again"]));
    assert_eq!((value["rank"].as_u64(), value["degrees_of_freedom"].as_u64()), (Some(2), Some(2)));
    let note = &value["diagnostics"][0];
    assert_eq!(
        (note["code"].as_str(), note["line"].as_u64(), note["column"].as_u64()),
        (Some("Z310"), Some(8), Some(19))
    );
}

#[test]
fn mistakes_exit_with_one_and_say_where() {
    let output = zwang_reading(b"coordinates x\nforce x: -k*x\n", &["check", "-"]);
    assert_eq!(output.status.code(), Some(1));
    let err = text(&output.stderr);
    assert!(err.contains("error[Z101]") && err.contains("standard input:2:11"), "{err}");
    assert!(output.stdout.is_empty());
    let value = json(&zwang_reading(b"coordinates x\nforce x: -k*x\n", &["check", "-", "--json"]));
    assert_eq!(value["diagnostics"][0]["code"], "Z101");
}

#[test]
fn unreadable_input_exits_with_two() {
    for arguments in [&["check", "no_such_file.zw"][..], &["check", "models"], &["frobnicate"], &["check"]] {
        assert_eq!(zwang(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let output = zwang_reading(b"model \"\xff\"", &["check", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("not UTF-8"));
}

#[test]
fn overrides_change_parameters_constants_and_the_start() {
    let value = json(&zwang(&["inspect", "models/pendulum.zw", "--set", "l=50 cm", "--set", "g=10", "--json"]));
    assert_eq!(value["q"], serde_json::json!([0.5, 0.0]));
    assert_eq!(value["qddot"], serde_json::json!([0.0, -10.0]));
    let value = json(&zwang(&["check", "models/chain.zw", "--set", "n=3", "--json"]));
    assert_eq!(value["coordinates"].as_array().unwrap().len(), 6);
    let start = ["inspect", "models/pendulum.zw", "--start", "x=0.6, y=-0.8, der(x)=0.8, y'=0.6", "--json"];
    let value = json(&zwang(&start));
    assert_eq!(value["qdot"], serde_json::json!([0.8, 0.6]));
    let output = zwang(&["check", "models/pendulum.zw", "--set", "lenght=2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no parameter or constant `lenght`"));
    assert_eq!(zwang(&["check", "models/pendulum.zw", "--set", "l=2 s"]).status.code(), Some(2));
}

#[test]
fn a_start_that_is_off_can_be_pasted_or_fixed() {
    let off = ["check", "models/pendulum.zw", "--start", "x=1, y=0.1"];
    let output = zwang(&off);
    let err = text(&output.stderr);
    assert!(err.contains("violates constraint `rod` by 4.99 mm"), "{err}");
    let line = err.lines().map(str::trim).find_map(|l| l.strip_prefix("start ")).unwrap();
    assert_eq!(zwang(&["check", "models/pendulum.zw", "--start", line]).status.code(), Some(0), "{line}");
    assert_eq!(zwang(&[&off[..], &["--fix-start"]].concat()).status.code(), Some(0));
}

#[test]
fn unsupported_statements_are_refused_by_run_and_noted_by_check() {
    let model =
        b"coordinates y\nmass y: 1\nforce y: -10\ncontrol lift: y = 1 - cos(t)\ncontact floor: y >= -1\nstart y = 0\n";
    assert_eq!(zwang_reading(model, &["check", "-"]).status.code(), Some(0));
    for command in ["run", "inspect"] {
        let output = zwang_reading(model, &[command, "-"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("not yet"), "{}", text(&output.stderr));
    }
    // a sweep is only noted
    assert_eq!(zwang(&["run", "models/chain.zw", "--set", "n=4"]).status.code(), Some(0));
}

#[test]
fn contacts_are_inspected_and_measured_but_not_exported() {
    let output = zwang(&["inspect", "models/thrown_box.zw", "--at", "1.5"]);
    let summary = text(&output.stdout);
    assert!(summary.contains("foot closed, toe closed, foot sticks, toe sticks"), "{summary}");
    assert_eq!(zwang(&["bench", "models/bouncing_ball.zw", "--no-run"]).status.code(), Some(0));
    let output = zwang(&["export", "models/bouncing_ball.zw", "--to", "c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("Z705"), "{}", text(&output.stderr));
}

#[test]
fn equations_are_text_and_latex() {
    let out = text(&zwang(&["equations", "models/pendulum.zw"]).stdout);
    assert!(out.contains("y'' = y*(g*y - x'^2 - y'^2)/(x^2 + y^2) - g"), "{out}");
    let out = text(&zwang(&["equations", "models/pendulum.zw", "--format", "latex"]).stdout);
    assert!(out.contains("\\begin{align*}") && out.contains("\\ddot{x}"), "{out}");
}

#[test]
fn equations_of_constraints_that_cannot_hold_are_not_printed() {
    let never = b"coordinates x, y\nmass x, y: 1\nconstraint a: x = 1\nconstraint b: x = 2\n";
    let output = zwang_reading(never, &["equations", "-"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty() && text(&output.stderr).contains("Z301"));
    // only the start is wrong, and the equations hold elsewhere
    let here = b"coordinates x, y\nmass x, y: 1\nconstraint a: x = y\nconstraint b: x + y = 2*t\nstart x = 5, y = 5\n";
    let output = zwang_reading(here, &["equations", "-"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("x'' = 0\n"));
}

#[test]
fn a_file_is_called_by_what_is_in_it() {
    let output = zwang(&["equations", "models/pendulum.zw", "--format", "c", "-o", "x.py"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--format"));
}

#[test]
fn templates_run_and_are_never_overwritten() {
    let folder = std::env::temp_dir().join(format!("zwang-templates-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let here = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(&folder).output().unwrap()
    };
    let list = text(&here(&["new", "--list"]).stdout);
    for template in list.lines().filter_map(|l| l.split_whitespace().next()) {
        assert_eq!(here(&["new", template]).status.code(), Some(0), "{template}");
        assert_eq!(here(&["run", &format!("{template}.zw"), "--to", "0.5"]).status.code(), Some(0), "{template}");
        assert_eq!(here(&["new", template]).status.code(), Some(2), "{template} was overwritten");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_code_is_explained_and_every_shell_completed() {
    let list = text(&zwang(&["explain"]).stdout);
    assert!(list.lines().count() > 30);
    assert!(text(&zwang(&["explain", "z201"]).stdout).starts_with("# Z201"));
    assert_eq!(zwang(&["explain", "Z999"]).status.code(), Some(2));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(text(&zwang(&["completions", shell]).stdout).contains("zwang"), "{shell}");
    }
}

/// The README shows what the program prints.
#[test]
fn the_readme_shows_real_output() {
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let real = [
        text(&zwang(&["equations", "models/pendulum.zw"]).stdout),
        text(&zwang(&["check", "models/double_pendulum_redundant.zw"]).stderr),
        text(&zwang(&["run", "models/pendulum.zw"]).stdout),
    ]
    .map(|text| comparable(&text));
    let mut n_shown = 0;
    for block in readme.split("```text\n").skip(1) {
        let block = comparable(block.split("```").next().unwrap().trim_end());
        let is_real = real.iter().any(|text| text.contains(&block));
        assert!(is_real, "the README shows what the program does not print:\n{block}\n---\n{}", real.join("\n"));
        n_shown += 1;
    }
    assert_eq!(n_shown, 4);
    assert!(
        readme.contains("(docs/pendulum.svg)") && std::path::Path::new(&format!("{ROOT}/docs/pendulum.svg")).exists()
    );
}

/// Pages show what the program prints: each block names its command, `-` reads the model above it.
#[test]
fn the_pages_show_real_output() {
    for (page, n_blocks) in [("constraints", 12), ("equations", 2)] {
        let text_of_page = std::fs::read_to_string(format!("{ROOT}/docs/{page}.md")).unwrap();
        let (mut model, mut n_shown) = ("", 0);
        for block in text_of_page.split("\n```").skip(1).step_by(2) {
            let (kind, body) = block.split_once('\n').unwrap();
            match kind {
                "zw" => model = body,
                "text" => {
                    assert_shown(body, model);
                    n_shown += 1;
                }
                _ => {}
            }
        }
        assert_eq!(n_shown, n_blocks, "{page}");
    }
}

/// A command and what it prints.
fn assert_shown(body: &str, model: &str) {
    let (command, shown) = body.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.trim_start_matches("$ zwang ").split(' ').collect();
    let output = match arguments.last() {
        Some(&"-") => zwang_reading(format!("{model}\n").as_bytes(), &arguments),
        _ => zwang(&arguments),
    };
    let real = text(&output.stderr) + &text(&output.stdout);
    assert!(real.contains(shown.trim_end()), "{command} shows\n{shown}\n--- and prints\n{real}");
}

/// The text without what differs from machine to machine: times and errors of a run.
fn comparable(text: &str) -> String {
    let line = |line: &str| match line.contains(" simulated in ") || line.contains("energy error ") {
        true => line
            .split_whitespace()
            .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .collect::<Vec<_>>()
            .join(" "),
        false => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n").replace(" µs by", " ms by")
}

/// Every route can be asked for by name, and an unknown one is a mistake of the command line.
#[test]
fn routes_are_chosen_by_name() {
    let reference = json(&zwang(&["inspect", "models/rolling_disk.zw", "--json"]));
    for name in reference["routes"].as_object().unwrap().keys() {
        let value = json(&zwang(&["inspect", "models/rolling_disk.zw", "--json", "--route", name]));
        assert_eq!(value["qddot"], value["routes"][name], "{name}");
        assert!(value["disagreement"].as_f64().unwrap() < 1e-12, "{name}");
    }
    assert_eq!(zwang(&["inspect", "models/rolling_disk.zw", "--route", "guess"]).status.code(), Some(2));
}

#[test]
fn check_reports_conserved_quantities() {
    let value = json(&zwang(&["check", "models/pendulum.zw", "--json"]));
    assert_eq!(value["energy"]["conserved"], true);
    assert_eq!(value["cyclic"][0]["coordinate"], "x");
    assert_eq!(value["cyclic"][0]["conserved"], false);
    assert_eq!(value["cyclic"][0]["spoiled_by"][0], "constraint `rod`");
    assert_eq!(value["conserved"], serde_json::json!([]));
    assert_eq!(value["degenerate"], serde_json::json!([]));
    let free = b"coordinates q\nparameter m = 3\nlagrangian m/2*q'^2\nstart q = 0, q' = 2\n";
    let value = json(&zwang_reading(free, &["check", "-", "--json"]));
    assert_eq!(value["conserved"][0]["name"], "p_q");
    assert_eq!(value["conserved"][0]["value"], 6.0);
    let out = text(&zwang_reading(free, &["check", "-"]).stdout);
    assert!(out.contains("energy is conserved") && out.contains("`q` is cyclic: p_q = m*q' is conserved"), "{out}");
}

#[test]
fn the_forms_of_the_lagrangian_are_printed() {
    let model =
        b"coordinates r, a\nparameter m = 2\nlagrangian m/2*(r'^2 + r^2*a'^2)\nstart r = 1, a = 0, r' = 0, a' = 1\n";
    let out = text(&zwang_reading(model, &["equations", "-", "--lagrangian"]).stdout);
    for line in ["p_r = m*r'", "p_a = m*r^2*a'", "Theta_L = ", "Omega_L = ", "d(r) ^ d(a)", "a' = p_a/(m*r^2)", "H = "]
    {
        assert!(out.contains(line), "{line} is missing:\n{out}");
    }
    let out = text(&zwang_reading(model, &["equations", "-", "--lagrangian", "--format", "latex"]).stdout);
    assert!(out.contains("\\Omega_{{\\mathcal L}} &= ") && out.contains("\\wedge"), "{out}");
    // Ω at the state: skew, with M next to it
    let value = json(&zwang_reading(model, &["inspect", "-", "--json"]));
    let omega = |i: usize, j: usize| value["omega"][i][j].as_f64().unwrap();
    assert_eq!((omega(0, 2), omega(1, 3), omega(2, 0)), (2.0, 2.0, -2.0));
    // ∂p_r/∂a − ∂p_a/∂r = −2 m r a'
    assert_eq!((omega(0, 1), omega(1, 0)), (-4.0, 4.0));
    assert_eq!(value["scaled"]["free"].as_array().unwrap().len(), 2);
}

#[test]
fn inspect_draws_the_geometry() {
    let folder = std::env::temp_dir().join(format!("zwang-geometry-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (svg, png, gap) = (path("a.svg"), path("a.png"), path("gap.svg"));
    let output = zwang(&["inspect", "models/pendulum.zw", "--at", "0.5", "-o", &svg, "-o", &png]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(&format!("wrote {svg}, {png}")));
    let drawn = std::fs::read_to_string(&svg).unwrap();
    assert!(drawn.contains("data-name=\"pull\"") && drawn.contains("data-rows=\"rod\""), "{drawn}");
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));

    let model = b"coordinates x\nmass x: 1\nconstraint slow: x'' = 1\nconstraint fast: x'' = 2\nstart x = 0\n";
    let output = zwang_reading(model, &["inspect", "-", "-o", &gap]);
    assert_eq!(output.status.code(), Some(1), "a contradiction stays an error");
    assert!(std::fs::read_to_string(&gap).unwrap().contains("class=\"gap\""));
    assert_eq!(zwang(&["inspect", "models/pendulum.zw", "-o", &path("a.csv")]).status.code(), Some(2));
    std::fs::remove_dir_all(&folder).unwrap();
}
