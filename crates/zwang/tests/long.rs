//! Long runs: what is conserved stays so.

use crate::common::model_text;
use std::f64::consts::PI;
use zwang::simulate::End;
use zwang::{Run, RunOptions, load};
use zwang_motion::Method;

fn run(text: &str, options: &RunOptions) -> Run {
    let run = load(text).unwrap().run(options).unwrap();
    assert_eq!(*run.end(), End::Finished, "{:#?}", run.notes());
    run
}

fn column<'r>(run: &'r Run, name: &str) -> &'r [f64] {
    &run.samples().column(name).unwrap_or_else(|| panic!("no column {name}")).values
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |top: f64, x| top.max(x.abs()))
}

/// Let go from the side.
const PENDULUM: &str = "\
coordinates x, y
mass x, y: 1
potential y
constraint rod: x^2 + y^2 = 1
start x = 1, y = 0, x' = 0, y' = 0
";

/// Its period, 4 K(sin 45°), by the arithmetic-geometric mean.
fn period() -> f64 {
    let (mut a, mut b) = (1.0, 0.5f64.sqrt());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    2.0 * PI / a
}

/// |E − E₀| along a run of so many periods with so many steps to each, at the ends of every seventh step.
fn energy_errors(n_periods: f64, n_steps: f64) -> Vec<f64> {
    let h = period() / n_steps;
    let options = RunOptions {
        method: Some(Method::Rattle),
        step: Some(h),
        every: Some(7.0 * h),
        ..RunOptions::to(n_periods * period())
    };
    let run = run(PENDULUM, &options);
    assert_eq!(run.cost().steps as f64, n_periods * n_steps);
    let energy = column(&run, "E");
    energy.iter().map(|e| (e - energy[0]).abs()).collect()
}

/// A symplectic method keeps an energy that differs from E by terms in h²: the error is bounded by them and does not grow.
#[test]
fn rattle_keeps_the_energy_for_a_thousand_periods() {
    // four times coarser over ten periods: sixteen times the error, and a tenth for terms in h⁴
    let coarse = largest(&energy_errors(10.0, 25.0));
    let errors = energy_errors(1000.0, 100.0);
    let n = errors.len();
    let (whole, first, last) = (largest(&errors), largest(&errors[..n / 10]), largest(&errors[n - n / 10..]));
    println!("energy error {whole:.3e}, first tenth {first:.3e}, last tenth {last:.3e}, coarse {coarse:.3e}");
    assert!(whole <= 1.1 * coarse / 16.0, "{whole:.3e} at a hundred steps, {coarse:.3e} at 25");
    assert!(last <= 1.5 * first, "{last:.3e} after {first:.3e}");
}

/// Problem e4 for so long; what is kept, and how well.
fn tumble(to: f64) {
    let text = model_text("tumbling_body");
    let run = run(&text, &RunOptions { tolerance: Some(1e-10), every: Some(0.37), ..RunOptions::to(to) });
    let e: Vec<&[f64]> = ["e0", "e1", "e2", "e3"].iter().map(|name| column(&run, name)).collect();
    let norm = (0..e[0].len()).map(|k| e.iter().map(|e| e[k] * e[k]).sum::<f64>() - 1.0).collect::<Vec<f64>>();
    let norm = largest(&norm);
    let off = |name: &str, wanted: f64| {
        let output = run.outputs().iter().find(|o| o.name == name).unwrap_or_else(|| panic!("no output {name}"));
        let values = output.values.unwrap();
        (values.max - wanted).abs().max((values.min - wanted).abs())
    };
    let energy = off("E", 8.13 / 2.0);
    let momentum = ["momentum.x", "momentum.y", "momentum.z"].iter().zip([0.1, 4.0, -0.6]);
    let momentum = momentum.map(|(name, wanted)| off(name, wanted)).fold(0.0, f64::max);
    println!(
        "{to} s: |e|² - 1 {norm:.1e}, energy {energy:.1e}, momentum {momentum:.1e}, {} steps, {:.1} s",
        run.cost().steps,
        run.seconds().1
    );
    // the projection ends at rounding, however long the run
    assert!(norm < 1e-12, "{norm:.1e}");
    // the errors of the steps add up: linearly in time, to a thousand tolerances in 500 s
    let allowed = 1000.0 * run.tolerance() * (to / 500.0);
    assert!(energy < allowed && momentum < allowed, "energy {energy:.1e}, momentum {momentum:.1e}");
}

#[test]
fn a_tumbling_body_keeps_what_it_has() {
    tumble(500.0);
}

/// The same for twenty times as long: minutes in the dev profile.
#[test]
#[ignore = "long; run in release"]
fn a_tumbling_body_keeps_what_it_has_for_hours() {
    tumble(10_000.0);
}
