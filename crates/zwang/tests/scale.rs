//! Large models keep sparse structures: a chain of thousands of masses through the whole of `check`.

use std::sync::Arc;

use crate::common::{NO_SAMPLES, checked, loaded};
use zwang::simulate::End;
use zwang::{Check, Overrides, RunOptions, System};

fn chain_system(n: usize, extra: &str) -> System {
    let text = format!("{}{extra}", crate::common::model_text("chain"));
    let overrides = Overrides { set: vec![format!("n={n}")], ..Overrides::default() };
    loaded(&text, &overrides).unwrap()
}

fn chain(n: usize, extra: &str) -> Arc<Check> {
    chain_system(n, extra).check().unwrap()
}

#[test]
fn a_chain_of_two_thousand_masses_stays_sparse() {
    let check = chain(2000, "");
    assert_eq!((check.state.q.len(), check.rank), (4000, 2000));
    let given = &check.snapshot.given;
    assert_eq!(given.mass_matrix.value.len(), 4000);
    assert_eq!(given.constraint_matrix.value.len(), 4 * 2000 - 2);
    // dropped from horizontal every link falls freely but for the first, which pulls on nothing yet
    let fall = check.snapshot.found.qddot[2000..].iter().fold(0.0_f64, |m, a| m.max((a + 9.81).abs()));
    assert!(fall < 1e-9, "{fall}");
}

#[test]
fn every_rod_stated_twice_changes_no_motion() {
    let twice = "constraint again[i in 1..n]: |P[i] - P[i-1]|^2 = l^2\n";
    let (once, twice) = (chain(200, ""), chain(200, twice));
    assert_eq!((once.rank, twice.rank, twice.equations.rows.len()), (200, 200, 400));
    assert_eq!(twice.redundant.len(), 200);
    let (a, b) = (&once.snapshot.found.qddot, &twice.snapshot.found.qddot);
    assert!(crate::common::relative(b, a) < 1e-9);
}

/// A chain of 300 coordinates moves sparsely, and every rod stated once more in another form changes nothing.
#[test]
fn a_long_chain_moves_the_same_with_rods_stated_twice() {
    let twice = "constraint again[i in 1..n]: |P[i] - P[i-1]|^2 = l^2\n";
    let ends = ["", twice].map(|extra| {
        let options = RunOptions { keep: NO_SAMPLES, ..RunOptions::to(0.05) };
        let run = chain_system(150, extra).run(&options).unwrap();
        assert_eq!(*run.end(), End::Finished);
        assert!(run.audit().energy.drift < 1e-9, "{:e}", run.audit().energy.drift);
        run.state().q.clone()
    });
    assert!(crate::common::relative(&ends[1], &ends[0]) < 1e-9);
}

/// The instructions of an n-link pendulum in angles grow like n², as its mass matrix does.
#[test]
fn an_n_link_pendulum_costs_what_its_mass_matrix_has_entries() {
    let cost = |n: usize| {
        let text = format!(
            "let n = {n}\ncoordinates θ[1..n]\nparameter m = 1 kg, l = 1 m, g = 9.81 m/s^2\npoint P[0] = (0, 0)\n\
             particle P[i in 1..n] at P[i-1] + l*(sin(θ[i]), -cos(θ[i])) with mass m\ngravity (0, -g)\n\
             start θ[i in 1..n] = 0.5\n"
        );
        checked(&text, &Overrides::default()).0.unwrap().system.n_instructions() as f64
    };
    let growth = cost(80) / cost(20);
    assert!(growth < 20.0, "four times the links cost {growth} times the work");
}
