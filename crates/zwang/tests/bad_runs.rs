//! Motions that cannot continue: they stop where they must, give the reason, and keep the results so far.

#![allow(non_snake_case)]

use crate::common::{ROOT, checked, run_as};
use zwang::diagnostic::{Diagnostic, Diagnostics};
use zwang::{Keep, Overrides, Run, RunOptions, Samples};

/// The model, and the line that states what must happen.
fn bad_run(name: &str) -> (String, String) {
    let path = format!("{ROOT}/crates/zwang/tests/bad_runs/{name}.zw");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = text.lines().nth(1).unwrap_or_default().to_string();
    (text, line)
}

/// The time in `Must stop at t = 4/3 = 1.3333333: …`.
fn stated_time(line: &str) -> f64 {
    let rest = line.split_once("Must stop at t = ").unwrap_or_else(|| panic!("{line}")).1;
    let until = |end: &[char]| rest.split(end).next().unwrap_or_default().trim().to_string();
    let sides = until(&[':', ',']);
    sides.split('=').rev().find_map(|side| side.trim().parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

fn moved(text: &str) -> (Option<Run>, Diagnostics) {
    let keep = Keep { pictures: true, ..Keep::default() };
    run_as(text, &Overrides::default(), &RunOptions { keep, ..RunOptions::default() })
}

/// Until where the closed form is compared, as a part of the time to the stop: beyond it, the motion is singular.
const COMPARED: f64 = 0.9;

/// Tolerance 1e-9, and what grows towards a singularity.
const COMPARISON: f64 = 1e-6;

/// The error that ends the run; what must hold of every run that stops is checked on the way.
fn check(
    name: &str,
    ended: &str,
    code: &str,
    truth: impl Fn(f64, &dyn Fn(&str) -> f64) -> Vec<(f64, f64)>,
) -> (Run, Diagnostic) {
    let (text, line) = bad_run(name);
    let wanted = stated_time(&line);
    let (run, diagnostics) = moved(&text);
    let run = run.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    assert_eq!(run.end().as_str(), ended, "{name}: {diagnostics:#?}");
    let t = run.state().t;
    // a stop may come as early as the steps that would lead over it
    assert!((t - wanted).abs() <= 1e-3 * wanted, "{name} stopped at {t}, not {wanted}");
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{name}: {diagnostics:#?}");
    let error = errors[0].clone();
    assert_eq!(error.code, code, "{name}: {error:#?}");
    state_is_said(&run, &error);
    all_is_finite(name, &run);
    samples_reach_the_stop(name, &run);
    let samples = &run.samples();
    let times = &samples.column("t").unwrap().values;
    for (row, &t) in times.iter().enumerate().filter(|(_, t)| **t <= COMPARED * wanted) {
        let value = |column: &str| samples.column(column).unwrap_or_else(|| panic!("no column {column}")).values[row];
        for (found, wanted) in truth(t, &value) {
            let off = (found - wanted).abs() / wanted.abs().max(1.0);
            assert!(off <= COMPARISON, "{name} at {t}: {found} instead of {wanted}");
        }
    }
    (run, error)
}

/// The notes have the time and every coordinate with its velocity.
fn state_is_said(run: &Run, error: &Diagnostic) {
    let note = error.notes.iter().find(|note| note.starts_with("stopped at t = "));
    let note = note.unwrap_or_else(|| panic!("{error:#?}"));
    for coordinate in &run.check().equations.model.coordinates {
        let name = &coordinate.name;
        assert!(note.contains(&format!("{name} = ")) && note.contains(&format!("{name}' = ")), "{note}");
    }
    assert!(!error.help.is_empty(), "{error:#?}");
    let all = format!("{error:?}");
    assert!(!all.contains("NaN") && !all.contains("inf"), "{all}");
}

fn all_is_finite(name: &str, run: &Run) {
    let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
    assert!(finite(&run.state().q) && finite(&run.state().qdot), "{name}: {:?}", run.state());
    for column in &run.samples().columns {
        assert!(finite(&column.values), "{name}: {} is not finite", column.name);
    }
    for curve in run.plots().iter().flat_map(|plot| plot.curves.iter().chain([&plot.versus])) {
        assert!(finite(&curve.values), "{name}: {} is not finite", curve.name);
    }
    for output in run.outputs() {
        let values = output.values.unwrap_or_else(|| panic!("{name}: {} is unknown", output.name));
        assert!(finite(&[values.last, values.min, values.max]), "{name}: {output:?}");
    }
    assert!(run.audit().residuals.iter().all(|r| r.1.is_finite()) && run.audit().rate.is_finite(), "{name}");
}

/// A thousandth of the run between rows, and the state at the stop as the last one.
fn samples_reach_the_stop(name: &str, run: &Run) {
    let Samples { columns } = &run.samples();
    let times = &run.samples().column("t").unwrap().values;
    assert!(columns.iter().all(|c| c.values.len() == times.len()), "{name}");
    assert_eq!(*times.last().unwrap(), run.state().t, "{name}");
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    let rows = 1000.0 * run.state().t / run.end_time();
    assert!((times.len() as f64 - rows).abs() <= 2.0, "{name}: {} rows of {rows}", times.len());
}

#[test]
fn a_motion_that_leaves_every_bound_stops_there() {
    let (_, error) = check("blow_up", "step-too-small", "Z604", |t, value| {
        vec![(value("x"), (1.0 - t).powi(-2)), (value("x_dot"), 2.0 * (1.0 - t).powi(-3))]
    });
    assert!(error.notes.iter().any(|note| note.contains("`x` changes fastest")), "{error:#?}");
}

#[test]
fn a_constraint_that_loses_its_grip_is_named() {
    let (run, error) = check("comes_to_rest", "undetermined", "Z603", |t, value| {
        let z = 6.0 * t - 9.81 * t * t / 2.5;
        vec![(value("x"), 0.3 * z), (value("y"), 0.4 * z), (value("z"), z)]
    });
    assert!(error.message.contains("`cone`"), "{error:#?}");
    // much nearer than the step: the time of rest is approached as the speed goes to zero
    assert!((run.state().t - 7.5 / 9.81).abs() < 1e-5, "{}", run.state().t);
}

#[test]
fn constraints_that_begin_to_differ_are_named() {
    let (_, error) = check("contradiction_later", "contradiction", "Z301", |t, value| {
        vec![(value("x"), t), (value("x_dot"), 1.0), (value("x_ddot"), 0.0)]
    });
    assert!(error.message.contains("`rail`") && error.message.contains("`belt`"), "{error:#?}");
}

/// The note on the start reports that one of them repeats the other, and nothing more: later they differ.
#[test]
fn constraints_that_begin_to_differ_agree_at_first() {
    let (check, diagnostics) = checked(&bad_run("contradiction_later").0, &Overrides::default());
    let check = check.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert_eq!((check.rank, check.degrees_of_freedom()), (1, 0));
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
}

/// u = sin(θ/2) is a sine of the time that is left.
#[test]
fn angles_that_lose_their_meaning_stop_the_run() {
    let (run, _) = check("gimbal", "step-too-small", "Z604", |t, value| {
        let K2 = 4.0 / 3.0f64;
        let left = 0.9462812565548 - t;
        let u = (K2 / (K2 + 1.0)).sqrt() * (0.5 * (K2 + 1.0).sqrt() * left).sin();
        vec![(value("theta"), 2.0 * u.asin()), (value("E"), 5.0 / 3.0)]
    });
    for output in run.outputs() {
        let (values, wanted) = (output.values.unwrap(), if output.name == "E" { 5.0 / 3.0 } else { 1.0 });
        let off = (values.max - wanted).abs().max((values.min - wanted).abs());
        assert!(off <= COMPARISON, "{}: off by {off:.1e}", output.name);
    }
}

#[test]
fn rods_that_reach_no_further_stop_the_run() {
    check("out_of_reach", "step-too-small", "Z604", |t, value| {
        let d = 1.0 + 0.5 * t;
        let y = (1.0 - 0.25 * d * d).sqrt();
        vec![(value("x"), 0.5 * d), (value("y"), y), (value("y_dot"), -0.125 * d / y)]
    });
}

/// As the file says: the message names both.
#[test]
fn rods_that_reach_no_further_are_named() {
    let (_, diagnostics) = moved(&bad_run("out_of_reach").0);
    let error = diagnostics.iter().find(|d| d.is_error()).unwrap();
    let reported = format!("{error:?}");
    assert!(reported.contains("`left`") && reported.contains("`right`"), "{error:#?}");
}

/// x'²/2 = 2 (1 − √(1 − x)), and the time from it: with s = 1 − √(1 − x), t = 2√s(1 − s/3).
#[test]
fn a_force_that_ends_at_a_wall_stops_the_run() {
    let (_, error) = check("underflow", "step-too-small", "Z604", |t, value| {
        let s = 1.0 - (1.0 - value("x")).sqrt();
        vec![(value("x_dot").powi(2), 4.0 * s), (2.0 * s.sqrt() * (1.0 - s / 3.0), t)]
    });
    assert!(error.notes.iter().any(|note| note.contains("1/sqrt(1 - x)")), "{error:#?}");
}

#[test]
fn a_start_off_the_constraints_is_refused() {
    let (text, line) = bad_run("off_start");
    assert!(line.contains("Must be refused") && line.contains("Z201"), "{line}");
    let (run, diagnostics) = moved(&text);
    assert!(run.is_none());
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!((errors.len(), errors[0].code), (1, "Z201"), "{diagnostics:#?}");
    assert!(errors[0].message.contains("`rod`") && errors[0].message.contains("4.99 mm"), "{diagnostics:#?}");
}

/// Every file in the folder has its test above.
#[test]
fn every_bad_run_has_a_test() {
    let own = include_str!("bad_runs.rs");
    for entry in std::fs::read_dir(format!("{ROOT}/crates/zwang/tests/bad_runs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(own.contains(&format!("\"{name}\"")), "no test looks at {name}");
    }
}

/// Constraints with a corner: the run stops there with the velocities it came with, whatever the tolerance.
#[test]
fn corners_of_constraints() {
    // text, velocities on arrival at t = 1
    let cases: [(&str, &[f64]); 4] = [
        (
            "coordinates x, y\nmass x, y: 1\nconstraint c: y = abs(x)\nstart x = -1, y = 1, x' = 1, y' = -1",
            &[1.0, -1.0],
        ),
        (
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint c: z' = sign(x)*y'
start x = -1, y = 0, z = 0, x' = 1, y' = 1, z' = -1",
            &[1.0, 1.0, -1.0],
        ),
        ("coordinates x\nmass x: 1\nconstraint c: x = if t > 1 then 1 else 0\nstart x = 0", &[0.0]),
        ("coordinates x\nmass x: 1\nconstraint c: x = max(t - 1, 0)\nstart x = 0", &[0.0]),
    ];
    for (text, arrival) in cases {
        for tolerance in ["1e-4", "1e-9", "1e-12"] {
            let (run, diagnostics) = moved(&format!("{text}\nrun 3 with tolerance {tolerance}"));
            let run = run.unwrap_or_else(|| panic!("{text}: {diagnostics:#?}"));
            assert_eq!(run.end().as_str(), "off-constraint", "{text}: {diagnostics:#?}");
            assert!((run.state().t - 1.0).abs() < 1e-3, "{text}, {tolerance}: {}", run.state().t);
            let codes: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
            assert_eq!(codes, ["Z607"], "{text}");
            for (found, wanted) in run.state().qdot.iter().zip(arrival) {
                assert!((found - wanted).abs() < 1e-3, "{text}, {tolerance}: {:?}", run.state().qdot);
            }
        }
    }
}

/// Where only the curvature switches there is no corner.
#[test]
fn bends_of_constraints_are_passed() {
    for power in [2, 3] {
        let text = format!(
            "coordinates x, y\nmass x, y: 1\nforce x: 1\nconstraint c: y = max(x, 0)^{power}\nstart x = -1, y = 0\nrun 3"
        );
        let (run, diagnostics) = moved(&text);
        let run = run.unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert_eq!(run.end().as_str(), "finished", "{text}: {diagnostics:#?}");
        // the force is constant: (x′² + y′²)/2 = x + 1
        let (q, v) = (&run.state().q, &run.state().qdot);
        assert!(((v[0] * v[0] + v[1] * v[1]) / 2.0 - q[0] - 1.0).abs() < 1e-8, "{q:?} {v:?}");
    }
}

/// Drag by the square of the speed on a body at rest, together with a stiff one: its derivative has a value, its formula
/// none. The slow root of λ² + 1e5 λ + 1e5 = 0 is −1.00001.
#[test]
fn drag_at_rest_stops_no_stiff_motion() {
    let text =
        "coordinates x, y, z\nmass x, y, z: 1\nforce x: -0.3*sqrt(x'^2 + y'^2)*x'\nforce y: -0.3*sqrt(x'^2 + y'^2)*y'
force z: -1e5*z' - 1e5*z\nstart x = 0.1, y = 0, z = 1\nrun 20";
    let (run, diagnostics) = moved(text);
    let run = run.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert_eq!(run.end().as_str(), "finished", "{diagnostics:#?}");
    let slow = 2e5 / (1e5 + (1e10_f64 - 4e5).sqrt());
    assert!(
        (run.state().q[0] - 0.1).abs() < 1e-12 && (run.state().q[2] - (-20.0 * slow).exp()).abs() < 1e-9,
        "{:?}",
        run.state()
    );
}
