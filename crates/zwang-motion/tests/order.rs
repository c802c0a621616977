//! Order, dense output, time reversal, stiffness, redundancy and drift, on systems whose motion is known.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use crate::mechanism::*;
use zwang_motion::*;

/// A tolerance that no step misses, so that `IntegrationOptions::step` alone decides.
const LOOSE: f64 = 1.0;

fn fixed(method: Method, step: f64, end: f64) -> IntegrationOptions {
    IntegrationOptions { end, tolerance: LOOSE, method, step: Some(step), ..IntegrationOptions::default() }
}

/// The number of steps and the largest error met at their ends.
fn error_of(known: &Known, plan: &IntegrationOptions) -> (f64, f64) {
    let mut mechanism = known.mechanism.clone();
    let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), plan, &Settings::default()).unwrap();
    let mut most = 0f64;
    while motion.advance() {
        most = most.max(distance(known, &motion.state()));
    }
    assert_eq!(motion.outcome(), Some(&Outcome::End), "{} by {plan:?}", known.name);
    (motion.counts().steps as f64, most)
}

/// Largest difference of q, and of q̇ relative to the speed at the start; all lengths are about 1.
fn distance(known: &Known, found: &State) -> f64 {
    let wanted = (known.truth)(found.t);
    apart(known, found, &wanted)
}

fn apart(known: &Known, x: &State, y: &State) -> f64 {
    let most = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
    let speed = (known.truth)(0.0).qdot.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
    most(&x.q, &y.q).max(most(&x.qdot, &y.qdot) / speed)
}

/// The slope of the line through the logarithms, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = logs.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let above: f64 = logs.iter().map(|p| (p.0 - mean.0) * (p.1 - mean.1)).sum();
    above / logs.iter().map(|p| (p.0 - mean.0).powi(2)).sum::<f64>()
}

/// Errors below this are rounding and say nothing about the order.
const ROUNDING: f64 = 3e-13;

/// Error against number of steps for each step, without what is only rounding.
fn errors(known: &Known, method: Method, end: f64, steps: &[f64]) -> Vec<(f64, f64)> {
    let run = |&h: &f64| error_of(known, &fixed(method, h, end));
    steps.iter().map(run).filter(|point| point.1 > ROUNDING).collect()
}

/// The observed order may miss the exponent by this part: the next term of the error is still there at steps that are long
/// enough for rounding not to matter.
const ORDER_MARGIN: f64 = 0.2;

fn check_order(known: &Known, method: Method, order: f64, end: f64, steps: &[f64]) {
    let points = errors(known, method, end, steps);
    assert!(points.len() >= 3, "{} by {method}: {points:?}", known.name);
    let observed = -slope(&points);
    let shown: Vec<String> = points.iter().map(|p| format!("{}: {:.1e}", p.0, p.1)).collect();
    println!("{:<12}{:<8} order {observed:.2} from {}", known.name, method.as_str(), shown.join(", "));
    let margin = ORDER_MARGIN * order;
    // where the leading term is small the next one shows, so that an order too high by one is no mistake
    assert!(observed >= order - margin, "{} by {method}: {observed} {points:?}", known.name);
    assert!(observed <= order + 1.0 + margin, "{} by {method}: {observed} {points:?}", known.name);
}

/// Steps from the first, each half the last.
fn halvings(first: f64, n: i32) -> Vec<f64> {
    (0..n).map(|k| first / 2f64.powi(k)).collect()
}

/// A step with which a method of order 8 is just about right.
fn long_step(known: &Known) -> f64 {
    match known.name {
        "pendulum" => 0.12,
        "heisenberg" => 0.6,
        _ => 0.3,
    }
}

/// From so long that the error is seen to so short that rounding is near.
#[test]
fn order8_has_order_eight() {
    for known in all() {
        let steps: Vec<f64> = (0..7).map(|k| long_step(&known) / 1.25f64.powi(k)).collect();
        check_order(&known, Method::Order8, 8.0, 6.0, &steps);
    }
}

#[test]
fn order5_has_order_five() {
    for known in all() {
        check_order(&known, Method::Order5, 5.0, 6.0, &halvings(0.2 * long_step(&known), 4));
    }
}

#[test]
fn rattle_has_order_two() {
    for known in [kepler(), pendulum(), hoop()] {
        check_order(&known, Method::Rattle, 2.0, 2.0, &halvings(0.02, 4));
    }
}

#[test]
fn rattle4_has_order_four() {
    for known in [kepler(), pendulum(), hoop()] {
        check_order(&known, Method::Rattle4, 4.0, 2.0, &halvings(0.04, 4));
    }
}

/// As users see it: the error stays near the tolerance, and falls with the number of steps as fast as the order says.
fn check_tolerance(known: &Known, method: Method, order: f64) {
    let mut points = Vec::new();
    for tolerance in [1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
        let (n_steps, error) =
            error_of(known, &IntegrationOptions { end: 6.0, tolerance, method, ..IntegrationOptions::default() });
        let multiple = error / tolerance;
        println!("{:<12}{:<8} {tolerance:.0e}: {n_steps} steps, {multiple:.2} tol", known.name, method.as_str());
        // errors of some hundred steps, each below the tolerance, add up
        assert!(multiple <= 100.0, "{} by {method} at {tolerance:.0e}: {multiple} tolerances", known.name);
        points.push((n_steps, error));
    }
    let observed = -slope(&points);
    println!("{:<12}{:<8} {observed:.2} of {order}", known.name, method.as_str());
    assert!(observed >= (1.0 - ORDER_MARGIN) * order, "{} by {method}: {observed} {points:?}", known.name);
}

#[test]
fn tolerance_buys_accuracy() {
    for known in all() {
        check_tolerance(&known, Method::Order8, 8.0);
        check_tolerance(&known, Method::Order5, 5.0);
    }
}

/// Newton's iteration is no better than the tolerance asks, so that the steps cannot be forced as for the explicit methods.
#[test]
fn tolerance_buys_accuracy_from_the_stiff_method() {
    for known in all() {
        check_tolerance(&known, Method::Stiff, 5.0);
    }
}

/// Local error of the dense output in the middle of the first step, by its order and one more.
fn check_dense(known: &Known, method: Method, order: f64, steps: &[f64]) {
    let error = |&h: &f64| {
        let mut mechanism = known.mechanism.clone();
        let plan = fixed(method, h, 100.0 * h);
        let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), &plan, &Settings::default()).unwrap();
        assert!(motion.advance());
        let step = motion.last_step().unwrap();
        let length = step.end - step.start;
        (length, distance(known, &step.state(step.start + 0.5 * length)))
    };
    let points: Vec<(f64, f64)> = steps.iter().map(error).filter(|p| p.1 > 1e-15).collect();
    let observed = slope(&points);
    println!("{:<12}{:<8} dense {observed:.2} {points:?}", known.name, method.as_str());
    assert!((observed - order).abs() < ORDER_MARGIN * order, "{} by {method}: {observed} {points:?}", known.name);
}

#[test]
fn dense_output_has_its_order() {
    for known in all() {
        let h = long_step(&known);
        check_dense(&known, Method::Order8, 8.0, &halvings(h, 4));
        check_dense(&known, Method::Order5, 5.0, &halvings(0.5 * h, 4));
        if known.name != "heisenberg" {
            // a cubic through both ends: the ends are of order 2, or the cubic of order 3
            check_dense(&known, Method::Rattle, 3.0, &halvings(0.2 * h, 4));
            check_dense(&known, Method::Rattle4, 4.0, &halvings(0.2 * h, 4));
        }
    }
}

/// The polynomial gives both ends of the step, whatever the method.
#[test]
fn dense_output_agrees_with_both_ends() {
    for known in all() {
        for method in Method::ALL {
            if method.is_fixed_step() && known.name == "heisenberg" {
                continue;
            }
            let mut mechanism = known.mechanism.clone();
            let step = method.is_fixed_step().then_some(0.05);
            let plan = IntegrationOptions { end: 2.0, tolerance: 1e-6, method, step, ..IntegrationOptions::default() };
            let mut last = (known.truth)(0.0);
            let mut motion = Motion::new(&mut mechanism, &last, &plan, &Settings::default()).unwrap();
            while motion.advance() {
                let end = motion.state();
                let step = motion.last_step().unwrap();
                assert_eq!((step.start, step.end), (last.t, end.t));
                for (found, wanted) in [(step.state(step.start), &last), (step.state(step.end), &end)] {
                    let off = apart(&known, &found, wanted);
                    // differences of numbers of size 1, added up again; the end of the run may be cut from a longer step, and is
                    // then put on the constraints
                    let allowed = if wanted.t < plan.end { 32.0 * f64::EPSILON } else { plan.tolerance };
                    assert!(off <= allowed, "{} by {method} at {}: {off:.1e}", known.name, wanted.t);
                }
                last = end;
            }
        }
    }
}

fn flipped(state: &State) -> State {
    State { t: 0.0, q: state.q.clone(), qdot: state.qdot.iter().map(|v| -v).collect() }
}

fn end_of(known: &Known, start: &State, plan: &IntegrationOptions) -> (State, usize) {
    let mut mechanism = known.mechanism.clone();
    let mut motion = Motion::new(&mut mechanism, start, plan, &Settings::default()).unwrap();
    while motion.advance() {}
    assert_eq!(motion.outcome(), Some(&Outcome::End), "{} by {plan:?}", known.name);
    (motion.state(), motion.counts().steps)
}

/// Forward, velocities flipped, and back: within 100 tolerances of the start, the symmetric methods to rounding.
#[test]
fn motions_run_back_to_where_they_began() {
    for known in [kepler(), pendulum(), heisenberg()] {
        for method in Method::ALL {
            if method.is_fixed_step() && known.name == "heisenberg" {
                continue;
            }
            let step = method.is_fixed_step().then_some(0.01);
            let plan = IntegrationOptions { end: 6.0, tolerance: 1e-9, method, step, ..IntegrationOptions::default() };
            let start = (known.truth)(0.0);
            let (there, n_steps) = end_of(&known, &start, &plan);
            let (back, _) = end_of(&known, &flipped(&there), &plan);
            let off = apart(&known, &flipped(&back), &start);
            // rounding of each step, grown as neighbouring motions part: in time, for both
            let rounding = f64::EPSILON * n_steps as f64 * 6.0;
            let allowed = if method.is_fixed_step() { rounding } else { 100.0 * plan.tolerance };
            println!("{:<12}{:<8} back {off:.1e} of {allowed:.1e}", known.name, method.as_str());
            assert!(off <= allowed, "{} by {method}: {off:.1e} above {allowed:.1e}", known.name);
        }
    }
}

/// Stiffness of the spring and its damping: critical, so that a time of 1e-4 belongs to it.
const SPRING: f64 = 1e8;
const DAMPER: f64 = 2e4;

/// ẍ = −k(x − cos t) − c ẋ drags a mass along; y'' = −y is independent of it.
///
/// After the start x = Re(k/(k − 1 + ic) eⁱᵗ), which is cos t but for 1e-8 and 2e-4 of it.
#[test]
fn auto_turns_to_the_stiff_method_and_says_so() {
    fn equations(state: &State, Q: &mut [f64], _: &mut [f64], _: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        Q[0] = -SPRING * (q[0] - state.t.cos()) - DAMPER * v[0];
        Q[1] = -q[1];
    }
    let none: fn(&State, &mut [f64]) = |_, _| ();
    let mut mechanism =
        Mechanism { masses: vec![1.0; 2], n_rows: (0, 0), equations, positions: none, velocities: none };
    let start = State { t: 0.0, q: vec![0.9, 1.0], qdot: vec![0.0, 0.0] };
    let plan = IntegrationOptions { end: 10.0, tolerance: 1e-8, ..IntegrationOptions::default() };
    let mut motion = Motion::new(&mut mechanism, &start, &plan, &Settings::default()).unwrap();
    while motion.advance() {}
    assert_eq!(motion.outcome(), Some(&Outcome::End));
    let stiffness = motion.stiffness().expect("said to be stiff").clone();
    println!("{stiffness:?} {:?}", motion.counts());
    assert_eq!((motion.method(), stiffness.coordinate), (Method::Stiff, 0));
    assert!((1e-5..1e-3).contains(&stiffness.time_constant), "{stiffness:?}");
    assert!(motion.counts().steps < 2000, "{:?}", motion.counts());
    let (state, t) = (motion.state(), motion.t());
    let (re, im) = (SPRING - 1.0, DAMPER);
    let size = SPRING / (re * re + im * im);
    let x = size * (re * t.cos() + im * t.sin());
    let v = size * (-re * t.sin() + im * t.cos());
    let off = [state.q[0] - x, state.qdot[0] - v, state.q[1] - t.cos(), state.qdot[1] + t.sin()];
    println!("{off:?}");
    assert!(off.iter().all(|d| d.abs() < 100.0 * plan.tolerance), "{off:?}");
}

/// Rounding of every step, grown as neighbouring motions part: linearly in time for the pendulum.
fn growth(n_steps: usize) -> f64 {
    f64::EPSILON * n_steps as f64
}

#[test]
fn rows_stated_again_change_nothing() {
    let once = pendulum();
    let start = (once.truth)(0.0);
    for method in [Method::Order8, Method::Order5, Method::Rattle, Method::Rattle4, Method::Stiff] {
        let step = method.is_fixed_step().then_some(0.01);
        let plan = IntegrationOptions { end: 4.0, method, step, ..IntegrationOptions::default() };
        let (wanted, n_steps) = end_of(&once, &start, &plan);
        let (copies, _) = end_of(&pendulum_in_copies(), &start, &plan);
        let off = apart(&once, &copies, &wanted);
        println!("{method}: copies {off:.1e}, {:.1e}", growth(n_steps));
        assert!(off <= 10.0 * growth(n_steps), "{method}: {off:.1e}");
        // off the circle the forms differ, and so do the stages: by the error of the step
        let (forms, _) = end_of(&pendulum_in_forms(), &start, &plan);
        let off = apart(&once, &forms, &wanted);
        println!("{method}: forms {off:.1e}");
        assert!(off <= 10.0 * plan.tolerance, "{method}: {off:.1e}");
    }
    // and at the tightest tolerance there is no difference left
    let plan = IntegrationOptions { end: 4.0, tolerance: 1e-14, ..IntegrationOptions::default() };
    let (wanted, n_steps) = end_of(&once, &start, &plan);
    let (forms, _) = end_of(&pendulum_in_forms(), &start, &plan);
    let off = apart(&once, &forms, &wanted);
    println!("forms at 1e-14 {off:.1e}, {:.1e} {:.1e}", growth(n_steps), distance(&once, &wanted));
    assert!(off <= 10.0 * growth(n_steps), "{off:.1e}");
}

/// The largest |φ| up to each of the times.
fn residuals(known: &Known, plan: &IntegrationOptions, times: &[f64]) -> Vec<f64> {
    let mut mechanism = known.mechanism.clone();
    let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), plan, &Settings::default()).unwrap();
    let mut found = vec![0f64; times.len()];
    let mut phi = vec![0.0; known.mechanism.n_rows.0];
    while motion.advance() {
        (known.mechanism.positions)(&motion.state(), &mut phi);
        let most = phi.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        for (found, _) in found.iter_mut().zip(times).filter(|(_, t)| motion.t() <= **t) {
            *found = found.max(most);
        }
    }
    assert_eq!(motion.outcome(), Some(&Outcome::End));
    found
}

const TIMES: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];

#[test]
fn projection_keeps_the_constraints() {
    for known in [pendulum(), hoop()] {
        for tolerance in [1e-4, 1e-7, 1e-10] {
            for method in [Method::Order8, Method::Order5, Method::Stiff] {
                let plan = IntegrationOptions { end: 32.0, tolerance, method, ..IntegrationOptions::default() };
                let found = residuals(&known, &plan, &TIMES);
                assert!(found.iter().all(|r| *r <= 10.0 * tolerance), "{method} at {tolerance}: {found:?}");
            }
        }
    }
}

/// Each step leaves its error in φ̇, which then adds up in φ: as t² at first.
#[test]
fn without_projection_the_drift_is_quadratic() {
    let plan = IntegrationOptions {
        end: 32.0,
        tolerance: 1e-7,
        method: Method::Order5,
        drift: Drift::None,
        ..IntegrationOptions::default()
    };
    let found = residuals(&pendulum(), &plan, &TIMES);
    let points: Vec<(f64, f64)> = TIMES.into_iter().zip(found).collect();
    println!("none {:.2} {points:?}", slope(&points));
    assert!((slope(&points) - 2.0).abs() < ORDER_MARGIN * 2.0, "{points:?}");
}

/// Baumgarte's terms hold what the steps leave: the last half of the run is no worse than the first.
#[test]
fn baumgarte_bounds_the_drift() {
    let drift = Drift::Baumgarte { rate: 5.0 };
    let plan = IntegrationOptions {
        end: 32.0,
        tolerance: 1e-7,
        method: Method::Order5,
        drift,
        ..IntegrationOptions::default()
    };
    let found = residuals(&pendulum(), &plan, &TIMES);
    println!("baumgarte {found:?}");
    assert!(found[4] <= 1.5 * found[2] && found[4] <= 100.0 * plan.tolerance, "{found:?}");
}

/// Samples between the steps are as good as the steps: the error in their middle stays near the tolerance too.
#[test]
fn the_middle_of_steps_is_as_good_as_their_ends() {
    for known in all() {
        for method in [Method::Order8, Method::Order5, Method::Stiff] {
            for tolerance in [1e-6, 1e-9] {
                let mut mechanism = known.mechanism.clone();
                let plan = IntegrationOptions { end: 6.0, tolerance, method, ..IntegrationOptions::default() };
                let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), &plan, &Settings::default()).unwrap();
                let (mut middles, mut ends) = (0f64, 0f64);
                while motion.advance() {
                    let middle = 0.5 * (motion.step_start() + motion.t());
                    middles = middles.max(distance(&known, &motion.at(middle).unwrap().state));
                    ends = ends.max(distance(&known, &motion.state()));
                }
                let multiple = (middles - ends) / tolerance;
                println!("{:<12}{:<8} {tolerance:.0e}: middles {multiple:.1} tol", known.name, method.as_str());
                // the estimate sees the ends; between them the error may be some ten times what it sees
                assert!(multiple < 30.0, "{} by {method} at {tolerance:.0e}: {multiple}", known.name);
            }
        }
    }
}

/// What the dense output may add to the error of the steps, in tolerances.
const BETWEEN: f64 = 100.0;

#[test]
fn a_trajectory_knows_every_instant() {
    for known in all() {
        let plan = IntegrationOptions { end: 3.0, tolerance: 1e-9, ..IntegrationOptions::default() };
        let mut mechanism = known.mechanism.clone();
        let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), &plan, &Settings::default()).unwrap();
        let trajectory = Trajectory::follow(&mut motion).unwrap();
        assert_eq!(trajectory.span(), Some((0.0, 3.0)));
        assert_eq!(trajectory.state(-0.1), None);
        assert_eq!(trajectory.state(3.1), None);
        for k in 0..=100 {
            let state = trajectory.state(0.03 * f64::from(k)).unwrap();
            let error = distance(&known, &state);
            assert!(error <= BETWEEN * plan.tolerance, "{} at t = {}: {error:e}", known.name, state.t);
        }
    }
}
