//! Helpers of several test files: models from the gallery, evaluated in every way.
#![allow(dead_code)]

pub mod reference;

use zwang::diagnostic::Diagnostics;
use zwang::simulate::End;
use zwang::{
    At, Check, Derivation, Error, Inspection, Keep, LoadOptions, Overrides, Run, RunOptions, System, derive, load_with,
};

/// The folder of the project.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The text of a model of the gallery.
pub fn model_text(name: &str) -> String {
    let path = format!("{ROOT}/models/{name}.zw");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What a run keeps if only its end matters.
pub const NO_SAMPLES: Keep = Keep { samples: false, dense: false, pictures: false, extremes: true, audit: true };

fn table(name: &str) -> Result<String, String> {
    std::fs::read_to_string(format!("{ROOT}/models/{name}")).map_err(|e| e.to_string())
}

/// The default options with these overrides; tables are looked for among the models.
pub fn options(overrides: &Overrides) -> LoadOptions<'static> {
    LoadOptions { overrides: overrides.clone(), files: &table, ..LoadOptions::default() }
}

/// Loads a model text.
pub fn loaded(text: &str, overrides: &Overrides) -> Result<System, Error> {
    load_with(text, &options(overrides))
}

/// Derives a model text without mistakes.
#[track_caller]
pub fn derived(text: &str, overrides: &Overrides) -> Derivation {
    derive(text, &options(overrides)).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The messages of an error about a model.
#[track_caller]
pub fn messages(error: &Error) -> Diagnostics {
    error.diagnostics().unwrap_or_else(|| panic!("{error}")).clone()
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

/// Checks a model text, with the messages.
pub fn checked(text: &str, overrides: &Overrides) -> (Option<Check>, Diagnostics) {
    match loaded(text, overrides).and_then(|system| system.check()) {
        Ok(check) => (Some(Check::clone(&check)), check.notes.clone()),
        Err(error) => (None, messages(&error)),
    }
}

/// Runs a model text, with the messages.
pub fn run_as(text: &str, overrides: &Overrides, options: &RunOptions) -> (Option<Run>, Diagnostics) {
    match loaded(text, overrides).and_then(|system| system.run(options)) {
        Ok(run) => {
            let notes = run.notes().clone();
            (Some(run), notes)
        }
        Err(error) => (None, messages(&error)),
    }
}

/// Runs a model text as it states, with the messages.
pub fn attempt(text: &str, set: &[&str]) -> (Option<Run>, Diagnostics) {
    attempt_as(text, set, RunOptions::default())
}

/// The run of a text without mistakes, and the messages.
#[track_caller]
pub fn run_and_notes(text: &str, set: &[&str]) -> (Run, Diagnostics) {
    let (run, diagnostics) = attempt(text, set);
    (run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}")), diagnostics)
}

/// The run of a text without mistakes at a tolerance, and the messages.
#[track_caller]
pub fn run_and_notes_at(text: &str, tolerance: f64) -> (Run, Diagnostics) {
    let options = RunOptions { tolerance: Some(tolerance), ..RunOptions::default() };
    let (run, diagnostics) = attempt_as(text, &[], options);
    (run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}")), diagnostics)
}

/// A run that reaches its end.
#[track_caller]
pub fn finished(text: &str, set: &[&str]) -> Run {
    let (run, diagnostics) = run_and_notes(text, set);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    run
}

fn attempt_as(text: &str, set: &[&str], options: RunOptions) -> (Option<Run>, Diagnostics) {
    let overrides = Overrides { set: set.iter().map(|s| s.to_string()).collect(), ..Overrides::default() };
    run_as(text, &overrides, &RunOptions { keep: NO_SAMPLES, ..options })
}

/// Inspects a model text that has no mistakes.
#[track_caller]
pub fn inspected(text: &str, overrides: &Overrides) -> Inspection {
    let inspection = loaded(text, overrides).and_then(|system| system.inspect(At::Start));
    inspection.unwrap_or_else(|error| panic!("{text}\n{error}"))
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
    assert_eq!(inspection.routes.len(), 6);
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

/// Runs a text that may have mistakes to a time at 1e-10, with the messages.
pub fn attempt_to(text: &str, set: &[&str], to: f64) -> (Option<Run>, Diagnostics) {
    attempt_as(text, set, RunOptions { tolerance: Some(1e-10), ..RunOptions::to(to) })
}

/// Runs a model of the gallery, which reaches its end, to a time at 1e-10.
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
