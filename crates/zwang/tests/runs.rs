//! Every reference of the gallery is met by a run, at three tolerances.

mod common;

use common::reference::{Moment, ReferenceRun, references};
use common::{checked, model_text};
use zwang::simulate::{Ended, Run, RunWishes, simulate};
use zwang::{Overrides, check};

/// What a run to some time gives.
fn run_to(name: &str, run: &ReferenceRun, to: Option<f64>, tolerance: f64) -> Run {
    let overrides = Overrides { set: run.overrides.clone(), start: run.start.clone() };
    let (checked, mut diagnostics) = checked(&model_text(name), &overrides);
    let checked = checked.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    let wishes = RunWishes { to, tolerance: Some(tolerance), ..RunWishes::default() };
    simulate(checked, &wishes, &mut diagnostics, &mut |_| true).unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"))
}

/// The largest error at a moment, as a multiple of the tolerance; values are compared with the larger of 1 and themselves.
fn worst(name: &str, run: &Run, moment: &Moment, tolerance: f64) -> (f64, String) {
    let model = &run.check.equations.model;
    let mut worst = (0.0, String::new());
    for (quantity, value, own) in &moment.values {
        let coordinate = |c: &str| model.coordinates.iter().position(|x| x.name == c);
        let (found, size) = match (coordinate(quantity), quantity.strip_suffix('\'').and_then(coordinate)) {
            (Some(k), _) => (run.state.q[k], run.sizes.0[k]),
            (None, Some(k)) => (run.state.qdot[k], run.sizes.1[k]),
            _ => {
                let output = run.outputs.iter().find(|o| o.name == *quantity);
                let values = output.and_then(|o| o.values).unwrap_or_else(|| panic!("{name}: {quantity}"));
                (values.last, values.max.abs().max(values.min.abs()))
            }
        };
        let error = ((found - value).abs() - own).max(0.0) / size.max(1.0) / tolerance;
        if !(error <= worst.0) {
            worst = (error, format!("{quantity} = {found}, not {value}"));
        }
    }
    worst
}

#[test]
fn table() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, reference) in references() {
        if !name.contains(&only) || name.as_str() < std::env::var("FROM").unwrap_or_default().as_str() {
            continue;
        }
        for (k, run) in reference.runs.iter().enumerate() {
            if run.overrides.iter().any(|o| o == "N=40") {
                continue;
            }
            let mut line = format!("{name} {k}:");
            for tolerance in [1e-6, 1e-9, 1e-12] {
                let clock = std::time::Instant::now();
                let mut most = (0.0, String::new());
                let mut last = None;
                for moment in &run.moments {
                    if moment.t == 0.0 {
                        continue;
                    }
                    let done = run_to(&name, run, Some(moment.t), tolerance);
                    let w = worst(&name, &done, moment, tolerance);
                    if !(w.0 <= most.0) {
                        most = w;
                    }
                    last = Some(done);
                }
                if let Some(run_done) = last {
                    let res = run_done.audit.residuals.iter().fold(0.0f64, |a, b| a.max(b.1));
                    line += &format!(
                        "  [{:.0e}] err {:.1}tol {} E {:.0e}/{:?} res {:.0e} {}st {}ev {} {:?}",
                        tolerance,
                        most.0,
                        if most.0 > 100.0 { most.1.clone() } else { String::new() },
                        run_done.audit.energy.drift,
                        run.energy_drift,
                        res,
                        run_done.counts.steps,
                        run_done.events.len(),
                        if run_done.ended == Ended::Finished { "" } else { run_done.ended.as_str() },
                        clock.elapsed()
                    );
                }
            }
            println!("{line}");
        }
    }
}
