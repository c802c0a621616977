//! What several test files need: models from the gallery, looked at from every side.
#![allow(dead_code)]

pub mod reference;

use zwang::diagnostic::Diagnostics;
use zwang::simulate::End;
use zwang::{Check, Inspection, Overrides, Reading, Run, RunWishes, Wishes, check, inspect, read_with, simulate};

/// The folder of the project.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The text of a model of the gallery.
pub fn model_text(name: &str) -> String {
    let path = format!("{ROOT}/models/{name}.zw");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Reads a model text; tables are looked for among the models.
pub fn read(text: &str, overrides: &Overrides) -> Reading {
    let open = |name: &str| std::fs::read_to_string(format!("{ROOT}/models/{name}")).map_err(|e| e.to_string());
    read_with(text, overrides, &open)
}

/// All models of the gallery: name and text.
pub fn gallery() -> Vec<(String, String)> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(format!("{ROOT}/models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "zw") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            models.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    models.sort();
    models
}

/// Checks a model text; the messages come along.
pub fn checked(text: &str, overrides: &Overrides) -> (Option<Check>, Diagnostics) {
    let reading = read(text, overrides);
    let mut diagnostics = reading.diagnostics;
    let wishes = Wishes { with_legendre: true, ..Wishes::default() };
    let check = reading.model.and_then(|model| check(model, &wishes, &mut diagnostics));
    (check, diagnostics)
}

/// Runs a model text as it says, at 1e-9; the messages come along.
pub fn attempt(text: &str, set: &[&str]) -> (Option<Run>, Diagnostics) {
    attempt_as(text, set, &RunWishes::default())
}

/// The same of a text that has no mistakes.
#[track_caller]
pub fn told(text: &str, set: &[&str]) -> (Run, Diagnostics) {
    let (run, diagnostics) = attempt(text, set);
    (run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}")), diagnostics)
}

/// The same at a tolerance.
#[track_caller]
pub fn told_at(text: &str, tolerance: f64) -> (Run, Diagnostics) {
    let wishes = RunWishes { tolerance: Some(tolerance), ..RunWishes::default() };
    let (run, diagnostics) = attempt_as(text, &[], &wishes);
    (run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}")), diagnostics)
}

/// The same of a run that goes to its end.
#[track_caller]
pub fn finished(text: &str, set: &[&str]) -> Run {
    let (run, diagnostics) = told(text, set);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    run
}

fn attempt_as(text: &str, set: &[&str], wishes: &RunWishes) -> (Option<Run>, Diagnostics) {
    let overrides = Overrides { set: set.iter().map(|s| s.to_string()).collect(), ..Overrides::default() };
    let reading = read(text, &overrides);
    let mut diagnostics = reading.diagnostics;
    let check = reading.model.and_then(|model| check(model, &Wishes::default(), &mut diagnostics));
    let run = check.and_then(|check| simulate(check, wishes, &mut diagnostics, &mut |_| true));
    (run, diagnostics)
}

/// Inspects a model text that has no mistakes.
pub fn inspected(text: &str, overrides: &Overrides) -> Inspection {
    let (check, diagnostics) = checked(text, overrides);
    let check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    inspect(check, &Default::default()).unwrap()
}

/// Inspects a model of the gallery, perhaps from another start.
pub fn inspected_model(name: &str, start: &str) -> Inspection {
    let start = if start.is_empty() { vec![] } else { vec![start.to_string()] };
    inspected(&model_text(name), &Overrides { start, ..Overrides::default() })
}

/// Numbers between -1 and 1 that look random and are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Largest difference, relative to the largest value.
pub fn relative(found: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let scale = wanted.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(1e-300);
    found.iter().zip(wanted).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / scale
}

/// Asserts that every route gives these accelerations.
pub fn every_route_gives(inspection: &Inspection, wanted: &[f64], tolerance: f64) {
    for (name, result) in &inspection.routes {
        let found = result.as_ref().unwrap().as_ref().unwrap_or_else(|e| panic!("{}: {e}", name.as_str()));
        let off = relative(found, wanted);
        assert!(off <= tolerance, "{}: {found:?} instead of {wanted:?}, off by {off:e}", name.as_str());
    }
}

/// The times of events of one kind.
pub fn times(run: &Run, kind: &str) -> Vec<f64> {
    run.events().iter().filter(|e| e.kind.as_str() == kind).map(|e| e.t).collect()
}

/// Two numbers no further apart than this.
#[track_caller]
pub fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{found} instead of {wanted}, off by {:e}", found - wanted);
}

/// Runs a model text to a time at 1e-10.
#[track_caller]
pub fn run_to(text: &str, set: &[&str], to: f64) -> Run {
    let (run, diagnostics) = attempt_to(text, set, to);
    run.unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

/// The same of a text that may have mistakes.
pub fn attempt_to(text: &str, set: &[&str], to: f64) -> (Option<Run>, Diagnostics) {
    attempt_as(text, set, &RunWishes { to: Some(to), tolerance: Some(1e-10), ..RunWishes::default() })
}

/// The same of a model of the gallery that goes to its end.
#[track_caller]
pub fn finished_model(name: &str, to: f64) -> Run {
    let run = run_to(&model_text(name), &[], to);
    assert_eq!(*run.end(), End::Finished, "{name}");
    run
}

/// Two lists of equally many numbers, no further apart than this.
#[track_caller]
pub fn all_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len(), "{found:?} instead of {wanted:?}");
    found.iter().zip(wanted).for_each(|(f, w)| close(*f, *w, tolerance));
}
