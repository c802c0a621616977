//! Tables: files as smooth functions, in forces, in constraints and as what is to be followed.

use crate::common::{messages, relative};
use zwang::diagnostic::Diagnostics;
use zwang::{Check, Error, LoadOptions, Run, RunOptions, System, load_with};

/// t from 0 to 10 in steps of 0.05, and a function of it.
fn rows(head: &str, f: impl Fn(f64) -> f64) -> String {
    let row = |k: usize| format!("{}, {:e}\n", 0.05 * k as f64, f(0.05 * k as f64));
    head.to_string() + &(0..=200).map(row).collect::<String>()
}

fn loaded(text: &str, file: &str) -> Result<System, Error> {
    let open = |name: &str| if name == "file.csv" { Ok(file.to_string()) } else { Err("it is not there".to_string()) };
    load_with(text, &LoadOptions { files: &open, ..LoadOptions::default() })
}

fn checked(text: &str, file: &str) -> (Option<Check>, Diagnostics) {
    match loaded(text, file).and_then(|system| system.check()) {
        Ok(check) => (Some(Check::clone(&check)), check.notes.clone()),
        Err(error) => (None, messages(&error)),
    }
}

fn ran(text: &str, file: &str) -> Run {
    let options = RunOptions { tolerance: Some(1e-11), ..RunOptions::default() };
    let run = loaded(text, file).and_then(|system| system.run(&options));
    run.unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn column<'r>(run: &'r Run, name: &str) -> &'r [f64] {
    &run.samples().column(name).unwrap_or_else(|| panic!("no column {name}")).values
}

/// ẍ = sin t from a file in millinewtons: x = −sin t.
#[test]
fn a_force_from_a_file_moves_as_its_formula_does() {
    let text = "coordinates x\nparameter m = 1 kg\nmass x: m\nlet F = table(\"file.csv\", t)\nforce x: F\n\
                start x = 0 m, x' = -1 m/s\nrun 10 s\noutput slope = F' in N/s\noutput again = table(\"file.csv\", t, 1) in N/s";
    let run = ran(text, &rows("t [s], F [mN]\n", |t| 1e3 * t.sin()));
    let [t, x, slope, again] = ["t", "x", "slope", "again"].map(|name| column(&run, name));
    for k in 0..t.len() {
        assert!((x[k] + t[k].sin()).abs() < 1e-8, "t = {}: {}", t[k], x[k]);
        assert!((slope[k] - t[k].cos()).abs() < 1e-6 && slope[k] == again[k], "t = {}: {}", t[k], slope[k]);
    }
}

/// A control that follows a table needs its second derivative: the force on a free mass is m d²F/dt².
#[test]
fn a_table_can_be_followed_and_constrain() {
    let file = rows("t; x\n", |t| (0.7 * t).sin()).replace(", ", ";");
    for word in ["control", "constraint"] {
        let text = format!(
            "coordinates x, y\nmass x, y: 2\n{word} follow: x = table(\"file.csv\", t)\nstart x = 0, y = 0\nrun 10"
        );
        let run = ran(&text, &file);
        let force = if word == "control" { "control_x" } else { "fc_x" };
        let [t, x, u] = ["t", "x", force].map(|name| column(&run, name));
        for k in 0..t.len() {
            assert!((x[k] - (0.7 * t[k]).sin()).abs() < 1e-8, "t = {}: {}", t[k], x[k]);
            assert!((u[k] + 0.98 * (0.7 * t[k]).sin()).abs() < 1e-5, "t = {}: {}", t[k], u[k]);
        }
    }
}

/// A potential over a place: E = ½ ẋ² + V(x) stays, with V from a file, and the force is −V'.
#[test]
fn a_table_over_a_coordinate_has_its_slope_as_force() {
    let text = "coordinates x\nmass x: 1\npotential table(\"file.csv\", x + 5)\nstart x = 1\nrun 20\noutput pull = x''";
    let run = ran(text, &rows("", |s| (s - 5.0).powi(2) / 2.0));
    let [t, x, pull] = ["t", "x", "pull"].map(|name| column(&run, name));
    for k in 0..t.len() {
        assert!((x[k] - t[k].cos()).abs() < 1e-7, "t = {}: {}", t[k], x[k]);
        assert!((pull[k] + t[k].cos()).abs() < 1e-7);
    }
    assert!(run.audit().energy.drift < 1e-10, "{:e}", run.audit().energy.drift);
}

/// What the equations print reads back as the same table and the same derivative.
#[test]
fn printed_tables_read_back() {
    let head = "coordinates x\nmass x: 1\nstart x = 0.5\nrun 1\nforce x: ";
    let file = rows("s, a, b\n", |t| (0.3 * t).exp()).lines().map(|l| format!("{l}, 1\n")).collect::<String>();
    let file = file.replacen("s, a, b, 1", "s, a, b", 1);
    let text = format!("{head}table(\"file.csv\", x^2, \"a\")' + table(\"file.csv\", t, \"a\", 2)");
    let (check, diagnostics) = checked(&text, &file);
    let mut check = check.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    let force = check.equations.given_force[0];
    let printed = check.equations.model.graph.text(force);
    assert!(printed.contains("table(\"file.csv\", x^2, \"a\", 1)"), "{printed}");
    let (again, diagnostics) = checked(&format!("{head}{printed}"), &file);
    let mut again = again.unwrap_or_else(|| panic!("{printed}: {diagnostics:#?}"));
    let state = zwang_motion::State { t: 0.3, q: vec![0.8], qdot: vec![-0.4] };
    let values = |check: &mut Check| {
        let mut given = zwang_motion::Dynamics::allocate(&check.system);
        zwang_motion::Dynamics::fill(&mut check.system, &state, &mut given).unwrap();
        given.given_force
    };
    assert!(relative(&values(&mut check), &values(&mut again)) < 1e-15);
    // d/dt e^(0.3 x²) = 0.6 x ẋ e^(0.3 x²), and 0.09 e^(0.3 t)
    let wanted = 0.6 * 0.8 * -0.4 * (0.3f64 * 0.64).exp() + 0.09 * (0.09f64).exp();
    assert!((values(&mut check)[0] - wanted).abs() < 1e-7, "{:?} {wanted}", values(&mut check));
}

/// Beyond its last row a table has no value: the run ends there and says so.
#[test]
fn a_run_that_outlasts_its_table_ends_with_it() {
    let text = "coordinates x\nmass x: 1\nforce x: table(\"file.csv\", t)\nstart x = 0\nrun 12";
    let system = loaded(text, &rows("", |t| t)).unwrap();
    let diagnostics = system.notes();
    let warned = diagnostics
        .iter()
        .any(|d| d.code == "Z111" && d.message.contains("until t = 12, the table `file.csv` only until 10"));
    assert!(warned, "{diagnostics:#?}");
    let run = system.run(&RunOptions::default()).unwrap();
    assert!((run.state().t - 10.0).abs() < 1e-6, "{}", run.state().t);
    let reported = format!("{:?}", run.notes());
    assert!(reported.contains("whose rows go from 0 to 10"), "{reported}");
}

#[test]
fn mistakes_about_tables_are_named() {
    let text = |call: &str| format!("coordinates x\nmass x: 1\nforce x: {call}\nstart x = 1 m\nrun 1 s");
    let good = rows("t [s], F [N]\n", |t| t);
    for (call, file, code, part) in [
        ("table(\"none.csv\", t)", good.as_str(), "Z111", "it is not there"),
        ("table(\"file.csv\", t)", "t, F\n0, 1\n0, 2\n", "Z111", "line 3 the argument does not grow"),
        ("table(\"file.csv\", t)", "t, F\n0, 1\n", "Z111", "fewer than two rows"),
        ("table(\"file.csv\", t)", "t\n0\n1\n", "Z111", "one column"),
        ("table(\"file.csv\", t)", "t, F\n0, one\n", "Z111", "`one` is not a number"),
        ("table(\"file.csv\", t)", "t, F, G\n0, 1, 2\n1, 2, 3\n", "Z111", "several columns"),
        ("table(\"file.csv\", t, \"H\")", "t, F, G\n0, 1, 2\n1, 2, 3\n", "Z111", "no column `H` but `F` and `G`"),
        ("table(\"file.csv\", t, 9)", good.as_str(), "Z107", "up to five times"),
        ("table(\"file.csv\")", good.as_str(), "Z107", "a file name and an argument"),
        ("table(t, t)", good.as_str(), "Z107", "in quotes"),
        ("table(\"file.csv\", x)", good.as_str(), "Z501", "first column"),
    ] {
        let (_, diagnostics) = checked(&text(call), file);
        let found = diagnostics.iter().find(|d| d.is_error()).unwrap_or_else(|| panic!("{call}: no error"));
        let reported = format!("{} {:?}", found.message, found.notes);
        assert!(found.code == code && reported.contains(part), "{call}: {} {reported}", found.code);
    }
}
