//! Every reference of the gallery is met by a run, at three tolerances.

use crate::common::reference::{Moment, ReferenceRun, references};
use crate::common::{NO_SAMPLES, model_text, options, run_as};
use zwang::simulate::End;
use zwang::{LoadOptions, Overrides, Run, RunOptions, load_with};
use zwang_motion::Settings;

/// What errors may grow to over a run that is not chaotic, in tolerances.
const GROWTH: f64 = 100.0;

/// Through singular positions rounding decides below this tolerance.
const SINGULAR_LIMIT: f64 = 1e-10;

fn run_to(name: &str, run: &ReferenceRun, to: f64, tolerance: f64, settings: &Settings) -> Run {
    let overrides = Overrides { set: run.overrides.clone(), start: run.start.clone() };
    let load_options = LoadOptions { settings: settings.clone(), ..options(&overrides) };
    let run_options = RunOptions { tolerance: Some(tolerance), keep: NO_SAMPLES, ..RunOptions::to(to) };
    let run = load_with(&model_text(name), &load_options).and_then(|system| system.run(&run_options));
    let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(*run.end(), End::Finished, "{name} at {tolerance:e}");
    run
}

/// A quantity at the end of a run, and its size along it.
fn quantity(run: &Run, name: &str) -> Option<(f64, f64)> {
    let coordinate = |c: &str| run.check().equations.model.coordinates.iter().position(|x| x.name == c);
    match (coordinate(name), name.strip_suffix('\'').and_then(coordinate)) {
        (Some(k), _) => Some((run.state().q[k], run.sizes().0[k])),
        (None, Some(k)) => Some((run.state().qdot[k], run.sizes().1[k])),
        _ => {
            let values = run.outputs().iter().find(|o| o.name == *name)?.values?;
            Some((values.last, values.max.abs().max(values.min.abs()).max(1.0)))
        }
    }
}

/// Values at a moment, relative to their sizes; residuals as written.
fn meets(name: &str, run: &Run, known: &ReferenceRun, moment: &Moment, tolerance: f64, violations: &mut Vec<String>) {
    for (what, value, own) in &moment.values {
        let (found, size) = quantity(run, what).unwrap_or_else(|| panic!("{name}: {what}"));
        let amplified = known.amplified.iter().find(|(n, _)| n == what).map_or(1.0, |(_, factor)| *factor);
        let error = ((found - value).abs() - own).max(0.0) / (size * tolerance);
        if error.is_nan() || error > GROWTH * amplified {
            violations
                .push(format!("{name} at t = {}: {what} = {found}, not {value}: {error:.0} tolerances", moment.t));
        }
    }
    for (row, residual) in &run.audit().residuals {
        if *residual > 10.0 * tolerance {
            violations.push(format!("{name}: `{row}` is off by {residual:e}"));
        }
    }
}

fn has_passages(run: &ReferenceRun) -> bool {
    run.events.iter().any(|(_, kind)| kind == "rank-drop")
}

/// Runs of more than a few seconds, which only the ignored test makes.
fn is_long(run: &ReferenceRun) -> bool {
    run.overrides.iter().any(|o| o == "N=40")
}

fn check_all(wanted: f64, choose: impl Fn(&ReferenceRun) -> bool) {
    check_all_with(wanted, &Settings::default(), choose);
}

fn check_all_with(wanted: f64, settings: &Settings, choose: impl Fn(&ReferenceRun) -> bool) {
    let (mut n_runs, mut violations) = (0, Vec::new());
    for (name, reference) in references() {
        for known in reference.runs.iter().filter(|run| choose(run)) {
            let tolerance = if has_passages(known) { wanted.max(SINGULAR_LIMIT) } else { wanted };
            for moment in known.moments.iter().filter(|moment| moment.t > 0.0) {
                let run = run_to(&name, known, moment.t, tolerance, settings);
                n_runs += 1;
                meets(&name, &run, known, moment, tolerance, &mut violations);
                events_meet(&name, &run, known, tolerance, &mut violations);
                if let Some(bound) = known.energy_drift.filter(|_| tolerance <= 1e-11)
                    && run.audit().energy.drift > bound
                {
                    violations.push(format!("{name}: energy drifts by {:e}", run.audit().energy.drift));
                }
            }
        }
    }
    assert!(n_runs > 0, "no reference was chosen");
    assert!(violations.is_empty(), "at {wanted:e}:\n{}", violations.join("\n"));
}

/// Every event up to the end of the run, in order, at its time.
fn events_meet(name: &str, run: &Run, known: &ReferenceRun, tolerance: f64, violations: &mut Vec<String>) {
    let expected: Vec<&(f64, String)> = known.events.iter().filter(|(t, _)| *t < run.state().t).collect();
    let found: Vec<(f64, &str)> = run.events().iter().map(|e| (e.t, e.kind.as_str())).collect();
    let is_met = expected.len() == found.len()
        && expected
            .iter()
            .zip(&found)
            .all(|(e, f)| e.1 == f.1 && (e.0 - f.0).abs() <= GROWTH * tolerance * run.state().t);
    if !is_met {
        violations.push(format!("{name}: events {found:?}, not {expected:?}"));
    }
}

#[test]
fn references_are_met_at_1e_6() {
    check_all(1e-6, |run| !is_long(run));
}

#[test]
fn references_are_met_at_1e_9() {
    check_all(1e-9, |run| !is_long(run));
}

#[test]
fn references_are_met_at_1e_12() {
    check_all(1e-12, |run| !is_long(run));
}

/// Every system as if it were a large one: singular positions are crossed sparsely too.
#[test]
fn references_are_met_sparsely() {
    let settings = Settings { sparse_limit: 0, ..Settings::default() };
    check_all_with(1e-9, &settings, |run| !is_long(run));
}

/// Forty four-bar linkages in a row, as tips and as bodies: half a minute.
#[test]
#[ignore = "takes half a minute; run with --release -- --ignored"]
fn long_runs_agree_with_their_references() {
    check_all(1e-9, is_long);
}

/// x = cos 2t until an event at t = 1, whose energy is known; another event holds already at the start, and a formula may switch
/// at the same instant.
#[test]
fn the_energy_of_an_event_is_that_before_and_after_it() {
    let (x, v) = (f64::cos(2.0), -2.0 * f64::sin(2.0));
    for (change, added) in [("k = 1", -1.5 * x * x), ("x' = 3", 0.5 * (9.0 - v * v))] {
        for force in ["", "force x: max(t - 1, 0)\n"] {
            for events in [
                format!("when t >= 1: {change}\nwhen t >= 0: k = 4\n"),
                format!("when t >= 0: k = 4\nwhen t >= 1: {change}\n"),
            ] {
                let text = format!(
                    "coordinates x\nparameter k = 1\nmass x: 1\npotential k*x^2/2\n{force}{events}start x = 1\nrun 3"
                );
                for to in [1.0 + 1e-9, 3.0] {
                    let options = RunOptions { tolerance: Some(1e-11), ..RunOptions::to(to) };
                    let (run, diagnostics) = run_as(&text, &Overrides::default(), &options);
                    let run = run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
                    let energy = run.audit().energy;
                    assert!((energy.start - 2.0).abs() < 1e-9 && energy.drift < 1e-8, "{text}\n{energy:?}");
                    let is_alone = force.is_empty() || to < 2.0;
                    assert!(!is_alone || (energy.work - added).abs() < 1e-8, "{text}\n{energy:?} instead of {added}");
                    assert_eq!(energy.impacts, 0.0);
                }
            }
        }
    }
}
