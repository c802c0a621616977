//! Contact, impact and friction, one file per law, against closed forms and identities.

#![allow(clippy::excessive_precision, reason = "values as the literature gives them")]

mod ambiguity;
mod coulomb;
mod coulomb_in_space;
mod energy;
mod guards;
mod impact;
mod imposed_slip;
mod indeterminate;
mod messages;
mod nonideal;
mod rest;
mod slip;
mod unilateral;
mod zeno;

use crate::common::run_and_notes_at;
use zwang::Run;
use zwang::diagnostic::Diagnostics;
use zwang::simulate::End;

/// Free of forces, without the line of its name.
const PARTICLE_IN_SPACE: &str = "coordinates x, y, z\nparticle P at (x, y, z) with mass 1\n";

/// Falls with 10 m/s².
const BALL: &str = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\n";

/// Falls with 10 m/s².
const PARTICLE_IN_THE_PLANE: &str =
    "model \"thrown\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n";

/// Runs to the end with a closed energy balance, and reports neither singular positions nor friction without a motion.
#[track_caller]
fn finishes_cleanly(text: &str, tolerance: f64) -> Run {
    let (run, diagnostics) = run_and_notes_at(text, tolerance);
    assert_eq!(*run.end(), End::Finished, "{text}\n{diagnostics:#?}");
    assert!(!diagnostics.iter().any(|d| ["Z602", "Z603", "Z610"].contains(&d.code)), "{text}\n{diagnostics:#?}");
    let account = &run.audit().energy;
    assert!(account.drift.abs() <= 1e-8 * account.start.abs(), "{text}\n{account:?}");
    run
}

/// Time, kind and name of every event.
fn events(run: &Run) -> Vec<(f64, &str, &str)> {
    run.events().iter().map(|e| (e.t, e.kind.as_str(), e.name.as_str())).collect()
}

/// The codes of all messages.
fn codes(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|d| d.code).collect()
}

/// The value of an output at the end.
fn last(run: &Run, name: &str) -> f64 {
    run.outputs().iter().find(|o| o.name == name).unwrap().values.unwrap().last
}
