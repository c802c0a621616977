//! The whole gallery with machine code and without: the same motion to the last bit, and the acceleration of every route.
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must fail, and `!(x <= y)` says so")]

use crate::common::{NO_SAMPLES, gallery, options};
use zwang::simulate::motion;
use zwang::{Budget, Check, Evaluator, JitPolicy, LoadOptions, Overrides, RunOptions, System, load_with};
use zwang_motion::{Dynamics, ORDER_5, ORDER_8, Settings, Snapshot, State, Tableau, route};

/// A loaded model; `None` if this version does not compute all of it.
fn loaded(name: &str, text: &str, jit: JitPolicy) -> Option<System> {
    let options = LoadOptions { jit, ..options(&Overrides::default()) };
    let system = load_with(text, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    system.is_computable().is_ok().then_some(system)
}

/// A model ready to move, by symplectic methods too.
fn prepared(name: &str, text: &str, jit: JitPolicy) -> Option<Check> {
    let check = loaded(name, text, jit)?.check().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut check = Check::clone(&check);
    check.system = Evaluator::compile(&mut check.equations, true, jit)?;
    assert!(check.system.compile_motion(&mut check.equations), "{name}");
    Some(check)
}

/// Twenty steps.
fn moved(name: &str, text: &str, jit: JitPolicy) -> Option<State> {
    let budget = Budget { steps: 20, ..Budget::default() };
    let options = RunOptions { budget, keep: NO_SAMPLES, ..RunOptions::default() };
    let run = loaded(name, text, jit)?.run(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
    Some(run.state().clone())
}

#[test]
fn machine_code_moves_the_gallery_to_the_same_bits() {
    let mut n_compared = 0;
    for (name, text) in gallery() {
        let Some(expected) = moved(&name, &text, JitPolicy::Never) else { continue };
        for jit in [JitPolicy::Immediate, JitPolicy::Optimized, JitPolicy::Adaptive] {
            assert_eq!(moved(&name, &text, jit).as_ref(), Some(&expected), "{name}, {jit:?}");
        }
        n_compared += 1;
    }
    assert!(n_compared > 40, "{n_compared} models");
}

/// y + h Σ wᵢ kᵢ.
fn combined(weights: &[(usize, f64)], y: &[f64], h: f64, k: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = y.to_vec();
    for &(i, w) in weights {
        let hw = h * w;
        sum.iter_mut().zip(&k[i]).for_each(|(x, k)| *x += hw * k);
    }
    sum
}

/// A step of a small system is one program, and gives the bits of the stages one by one.
#[test]
fn a_step_in_one_is_its_stages_one_after_the_other() {
    let step_of = |name: &str, tableau: &'static Tableau| {
        let text = crate::common::model_text(name);
        let mut check = prepared(name, &text, JitPolicy::Optimized).expect("it moves");
        let mut motion = motion(&mut check, &RunOptions::default(), &Settings::default()).expect("it moves");
        let state = motion.state();
        let y = [&state.q[..], &state.qdot, motion.integrals()].concat();
        let (t, h, system) = (0.3, 0.01, motion.dynamics());
        let mut k = vec![vec![0.0; y.len()]];
        system.explicit_rate(t, &y, &mut k[0]).expect("no pivot is in doubt");
        let mut stage = Vec::new();
        for i in 1..tableau.n_stages {
            stage = combined(tableau.a[i], &y, h, &k);
            let mut rate = vec![0.0; y.len()];
            system.explicit_rate(t + tableau.c[i] * h, &stage, &mut rate).expect("no pivot is in doubt");
            k.push(rate);
        }
        let end = combined(tableau.b, &y, h, &k);
        let expected = [k.concat(), end, stage].concat();
        let mut found = vec![0.0; expected.len()];
        found[..y.len()].copy_from_slice(&k[0]);
        let is_one = system.explicit_step(tableau, t, h, &y, &mut found);
        assert!(!is_one || found == expected, "{name}");
        is_one
    };
    for name in
        ["pendulum", "double_pendulum_angles", "knife_edge", "rotating_hoop", "newton_ellipse", "ring_with_drag"]
    {
        assert!(step_of(name, &ORDER_8) && step_of(name, &ORDER_5), "{name}");
    }
    assert!(!step_of("squeezer", &ORDER_8), "too long to pay");
}

/// Along the motion the explicit acceleration is that of the decomposition which looks for its pivots.
#[test]
fn explicit_accelerations_agree_with_the_generalized_inverse() {
    let settings = Settings::default();
    let mut n_explicit = 0;
    for (name, text) in gallery() {
        let Some(mut check) = prepared(&name, &text, JitPolicy::Immediate) else { continue };
        let Some(mut judge) = prepared(&name, &text, JitPolicy::Never) else { continue };
        let mut motion = motion(&mut check, &RunOptions::default(), &settings).expect("the gallery moves");
        let mut way = route(Default::default(), &settings);
        let mut snapshot = Snapshot::new(&mut judge.system);
        for _ in 0..10 {
            if !motion.advance() {
                break;
            }
            let state = motion.state();
            let y = [&state.q[..], &state.qdot, motion.integrals()].concat();
            let mut rate = y.clone();
            if motion.dynamics().explicit_rate(state.t, &y, &mut rate).is_none() {
                continue;
            }
            let qddot = &rate[state.q.len()..2 * state.q.len()];
            judge.system.set_parameters(motion.dynamics().parameters());
            // in a singular position the rank at one state is another than that of the motion
            if snapshot.take(&mut judge.system, &state, &mut *way, &settings).is_err() {
                break;
            }
            let free = &snapshot.found.unconstrained_acceleration;
            let size = qddot.iter().chain(free).fold(0.0, |top: f64, x| top.max(x.abs()));
            if snapshot.found.rank != motion.rank() {
                continue;
            }
            for (i, (x, y)) in qddot.iter().zip(&snapshot.found.qddot).enumerate() {
                assert!((x - y).abs() <= 1e-11 * size, "{name}, coordinate {i} at t = {}: {x} and {y}", state.t);
            }
            n_explicit += 1;
        }
    }
    assert!(n_explicit > 300, "{n_explicit} states");
}
