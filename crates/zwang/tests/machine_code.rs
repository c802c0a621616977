//! The whole gallery with machine code and without: the same motion to the last bit, and the acceleration of every route.
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must fail, and `!(x <= y)` says so")]

use crate::common::read;

use crate::common::gallery;
use zwang::simulate::{move_bare, plan};
use zwang::{Check, JitPolicy, Overrides, RunWishes, Wishes, check};
use zwang_motion::{Dynamics, Motion, ORDER_5, ORDER_8, Settings, Snapshot, State, Tableau, route};

/// A model ready to move; none if it is not simulated in this version.
fn prepared(name: &str, text: &str, jit: JitPolicy) -> Option<Check> {
    let reading = read(text, &Overrides::default());
    let mut diagnostics = reading.diagnostics;
    let model = reading.model.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    if model.later.iter().any(|l| l.changes_motion) {
        return None;
    }
    let wishes = Wishes { jit, with_legendre: true, ..Wishes::default() };
    let mut check = check(model, &wishes, &mut diagnostics).unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    assert!(check.system.compile_motion(&mut check.equations), "{name}");
    Some(check)
}

/// Twenty steps.
fn moved(check: &mut Check) -> State {
    let plan = plan(check, &RunWishes::default().options());
    let mut n_steps = 0;
    let bare = move_bare(check, &plan, &Settings::default(), &mut |_| {
        n_steps += 1;
        n_steps < 20
    });
    bare.expect("every model of the gallery moves").state
}

#[test]
fn machine_code_moves_the_gallery_to_the_same_bits() {
    let mut n_compared = 0;
    for (name, text) in gallery() {
        let Some(mut interpreted) = prepared(&name, &text, JitPolicy::Never) else { continue };
        let expected = moved(&mut interpreted);
        for jit in [JitPolicy::Immediate, JitPolicy::Optimized, JitPolicy::Adaptive] {
            let Some(mut compiled) = prepared(&name, &text, jit) else { continue };
            assert_eq!(moved(&mut compiled), expected, "{name}, {jit:?}");
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
        let plan = plan(&check, &RunWishes::default().options());
        let mut motion = Motion::new(&mut check.system, &check.state, &plan, &Settings::default()).expect("it moves");
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
        let plan = plan(&check, &RunWishes::default().options());
        let mut motion = Motion::new(&mut check.system, &check.state, &plan, &settings).expect("the gallery moves");
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
