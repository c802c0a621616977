//! What a command prints or writes takes at most five lines of Rust, which give the same bytes.

use std::process::{Command, Output};

use zwang::csv_table::CsvTable;
use zwang::inverse::MotionPath;
use zwang::{At, Keep, LoadOptions, Overrides, RunOptions, load, load_with};
use zwang_view::{
    DerivationContext, FormulaLanguage, GeometryNames, Language, RunReport, article_markdown, check_table, code,
    comparison, csv, derivation_article, equations_code, equations_latex, equations_text, figure, geometry_of,
    geometry_svg, inspect_table, inverse_table, lagrangian_text, linearize_table, npz, svg,
};
use zwang_workspace::{Body, Request, Workspace};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The model of most lines here, and of the commands with which they are compared.
const MODEL: &str = "models/pendulum.zw";

type Done = Result<(), Box<dyn std::error::Error>>;

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zwang")).args(arguments).current_dir(ROOT).output().unwrap()
}

/// Standard output of a command.
fn printed(arguments: &[&str]) -> String {
    let output = command(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The bytes that a command writes into the file `-o`.
fn written(name: &str, arguments: &[&str]) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("zwang-in-rust-{}-{name}", std::process::id()));
    printed(&[arguments, &["-o", &path.to_string_lossy()]].concat());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    bytes
}

fn model_text(path: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{path}")).unwrap()
}

/// A text without the line that depends on the clock.
fn without_clock(text: &str) -> String {
    let has_clock = |line: &&str| line.contains("simulated in") || line.contains("Time of the computation");
    text.lines().filter(|line| !has_clock(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn check() -> Done {
    let text = model_text(MODEL);

    let check = load(&text)?.check()?;
    let table = check_table(MODEL, &check);

    assert_eq!(table, printed(&["check", MODEL]));
    Ok(())
}

#[test]
fn check_with_other_values() -> Done {
    let text = model_text(MODEL);

    let overrides = Overrides { set: vec!["l=50 cm".into()], start: vec!["x=0.3, y=-0.4".into()] };
    let system = load_with(&text, &LoadOptions { overrides, ..LoadOptions::default() })?;
    let table = check_table(MODEL, &*system.check()?);

    assert_eq!(table, printed(&["check", MODEL, "--set", "l=50 cm", "--start", "x=0.3, y=-0.4"]));
    Ok(())
}

#[test]
fn check_and_fix() -> Done {
    let path = std::env::temp_dir().join(format!("zwang-in-rust-{}.zw", std::process::id()));
    let text = "coordinates x\n// an oscillator\nlagrangian xdot^2/2 - 2 x^2 + ln(4)\nstart x = 1\n";
    std::fs::write(&path, text)?;
    printed(&["check", "--fix", &path.to_string_lossy()]);
    let expected = std::fs::read_to_string(&path)?;
    std::fs::remove_file(&path)?;

    let mut workspace = Workspace::new(zwang::Budget::default());
    workspace.set_text(text);
    let n_fixes = workspace.fix().len();

    assert_eq!(workspace.text(), expected);
    assert_eq!(workspace.text(), "coordinates x\n# an oscillator\nlagrangian x'^2/2 - 2*x^2 + log(4)\nstart x = 1\n");
    assert_eq!(n_fixes, 4);
    Ok(())
}

#[test]
fn run_with_outputs() -> Done {
    let text = model_text(MODEL);
    let run_file = |name: &str| written(name, &["run", MODEL, "--to", "1"]);

    let keep = Keep { pictures: true, ..Keep::default() };
    let run = load(&text)?.run(&RunOptions { keep, ..RunOptions::to(1.0) })?;
    let (csv, npz, svg) = (csv(run.samples(), false), npz(run.samples())?, svg(&figure(&run)));
    let report = RunReport::new(MODEL, &text, &run);
    let (summary, html, tex, markdown) = (report.summary(), report.html(), report.latex(), report.markdown());

    assert_eq!(csv.as_bytes(), run_file("a.csv"));
    assert_eq!(npz, run_file("a.npz"));
    assert_eq!(svg.as_bytes(), run_file("a.svg"));
    for (name, document) in [("a.html", &html), ("a.tex", &tex), ("a.md", &markdown)] {
        let file = String::from_utf8(run_file(name))?;
        let without_row = |text: &str| without_clock(&text.replace("</tr>", "</tr>\n"));
        assert_eq!(without_row(document), without_row(&file), "{name}");
    }
    let shown = printed(&["run", MODEL, "--to", "1"]);
    assert!(without_clock(&shown).starts_with(&without_clock(summary)), "{shown}");
    Ok(())
}

/// The documents of a run hold the derivation that was written for the first of them.
#[test]
fn documents_of_a_run_share_one_derivation() -> Done {
    let text = model_text(MODEL);
    let run = load(&text)?.run(&RunOptions::to(0.1))?;
    let report = RunReport::new(MODEL, &text, &run);
    let first = report.derivation().as_ptr();
    let (html, markdown) = (report.html(), report.markdown());
    assert!(html.len() > markdown.len() && std::ptr::eq(first, report.derivation().as_ptr()));
    Ok(())
}

#[test]
fn run_with_every_measure_against_drift() -> Done {
    let text = model_text(MODEL);

    let mut workspace = Workspace::new(zwang::Budget::default());
    workspace.set_text(&text);
    let request = Request::CompareDrift(RunOptions::to(1.0));
    let answer = workspace.answer(&request, &mut |_| std::ops::ControlFlow::Continue(()));
    let Some(Body::Comparison(runs)) = answer.body else { panic!("{:?}", answer.error) };

    let shown = printed(&["run", MODEL, "--to", "1", "--drift", "compare"]);
    // times depend on the clock
    let columns = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().filter(|l| ["project", "baumgarte", "none"].iter().any(|w| l.trim().starts_with(w)));
        let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
        lines
            .map(words)
            .map(|mut words| {
                words.drain(3..5);
                words
            })
            .collect()
    };
    assert_eq!(columns(&comparison(&runs)), columns(&shown));
    assert_eq!(columns(&shown).len(), 3);
    Ok(())
}

#[test]
fn equations_in_every_format() -> Done {
    let text = model_text(MODEL);

    let system = load(&text)?;
    let (plain, latex) = (equations_text(&mut system.equations()), equations_latex(&mut system.equations()));
    let lagrangian = lagrangian_text(&mut system.equations());
    let c = equations_code(&mut system.equations(), FormulaLanguage::C, "pendulum");
    let sympy = equations_code(&mut system.equations(), FormulaLanguage::SymPy, "pendulum_sympy");

    assert_eq!(plain, printed(&["equations", MODEL]));
    assert_eq!(latex, printed(&["equations", MODEL, "--format", "latex"]));
    assert_eq!(lagrangian, printed(&["equations", MODEL, "--lagrangian"]));
    assert_eq!(c, printed(&["equations", MODEL, "--format", "c"]));
    assert_eq!(sympy, printed(&["equations", MODEL, "--format", "sympy"]));
    for (language, name) in [(FormulaLanguage::Rust, "rust"), (FormulaLanguage::NumPy, "numpy")] {
        let code = equations_code(&mut system.equations(), language, "pendulum");
        assert_eq!(code, printed(&["equations", MODEL, "--format", name]));
    }
    Ok(())
}

#[test]
fn the_derivation_as_a_document() -> Done {
    let text = model_text(MODEL);

    let system = load(&text)?;
    let check = system.check()?;
    let geometry = geometry_of(&check);
    let context = DerivationContext { model_text: &text, check: Some(&check), at_start: true, notes: &[], geometry };
    let markdown = article_markdown(&derivation_article(&mut system.equations(), &context));

    assert_eq!(markdown.as_bytes(), written("d.md", &["equations", MODEL]));
    Ok(())
}

#[test]
fn inspect_at_a_time() -> Done {
    let text = model_text(MODEL);

    let inspection = load(&text)?.inspect(At::Time(0.5))?;
    let table = inspect_table(MODEL, &inspection);
    let names = GeometryNames::of(&inspection.check.equations);
    let drawing = inspection.scaled.as_ref().map(|scaled| geometry_svg(scaled, &names));

    assert_eq!(table, printed(&["inspect", MODEL, "--at", "0.5"]));
    assert_eq!(drawing.unwrap().as_bytes(), written("g.svg", &["inspect", MODEL, "--at", "0.5"]));
    Ok(())
}

#[test]
fn linearize() -> Done {
    let text = model_text(MODEL);

    let system = load(&text)?;
    let found = system.linearize(None)?;
    let table = linearize_table(MODEL, system.model(), found.at, &found.states);

    assert_eq!(table, printed(&["linearize", MODEL]));
    let later = system.linearize(Some(At::Time(0.5)))?;
    let table = linearize_table(MODEL, system.model(), later.at, &later.states);
    assert_eq!(table, printed(&["linearize", MODEL, "--at", "0.5"]));
    Ok(())
}

#[test]
fn inverse() -> Done {
    let arm = "models/two_link_arm.zw";
    let text = model_text(arm);
    let path = std::env::temp_dir().join(format!("zwang-in-rust-{}-path.csv", std::process::id()));
    let path_name = path.to_string_lossy().into_owned();
    let table = csv(load(&text)?.run(&RunOptions::to(1.0))?.samples(), false);
    std::fs::write(&path, &table)?;

    let system = load(&text)?;
    let wanted = MotionPath::new(system.coordinates(), &CsvTable::parse(&table)?)?;
    let found = system.inverse(&wanted)?;
    let shown = inverse_table(arm, &path_name, &found);

    let output = command(&["inverse", arm, &path_name]);
    std::fs::remove_file(&path)?;
    assert_eq!(shown, String::from_utf8(output.stdout)?);
    assert_eq!(found.is_possible(), output.status.success());
    Ok(())
}

#[test]
fn export() -> Done {
    for name in ["pendulum", "two_link_arm", "double_pendulum_redundant"] {
        let model = format!("models/{name}.zw");
        let text = model_text(&model);

        let exported = load(&text)?.exported()?;
        let (c, rust, python) = (
            code(&exported, Language::C, name),
            code(&exported, Language::Rust, name),
            code(&exported, Language::Python, name),
        );

        for (language, code) in [("c", c), ("rust", rust), ("python", python)] {
            assert_eq!(code, printed(&["export", &model, "--to", language]), "{name} {language}");
        }
    }
    Ok(())
}

#[test]
fn the_cost_of_a_run() -> Done {
    let text = model_text(MODEL);

    let run = load(&text)?.run(&RunOptions::to(1.0))?;
    let (steps, evaluations) = (run.cost().steps, run.cost().evaluations);

    let bench: serde_json::Value = serde_json::from_str(&printed(&["bench", MODEL, "--to", "1", "--json"]))?;
    assert_eq!(bench["steps"], steps);
    // the rows of the samples and the audit evaluate too
    assert!(bench["evaluations"].as_u64().unwrap() <= evaluations as u64 && evaluations > 0);
    Ok(())
}

#[test]
fn the_page_behind_a_message() {
    let page = zwang::explain::explain("Z310").unwrap();

    assert_eq!(page, printed(&["explain", "Z310"]));
}

/// The command line loads models by its workspace alone; `bench` derives again because it measures that.
#[test]
fn the_command_line_computes_nothing_itself() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap().replace(".load(Ordering", "");
        for call in ["load", "load_with", "derive", "run_with", "inspect_with", "linearize_with"] {
            let n = text.matches(&format!(".{call}(")).count() + text.matches(&format!("::{call}(")).count();
            let is_measured = path.ends_with("bench.rs") && call == "derive";
            assert_eq!(n, usize::from(is_measured), "{} calls `{call}`", path.display());
        }
    }
}
