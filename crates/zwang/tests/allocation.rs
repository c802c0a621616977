//! Nothing allocates once a model is under way: machine code, elimination, landing and the look at rows left out.

mod common;

use common::{checked, model_text};
use zwang::{Coding, Overrides};
use zwang_motion::{Motion, Plan, Settings, Solver};

/// Allocations in fifty steps, after ten that may set things up.
fn allocations(name: &str) -> (u64, Solver) {
    let (check, diagnostics) = checked(&model_text(name), &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    check.system.set_coding(Coding::AtOnce);
    assert!(check.system.prepare_motion(&mut check.equations), "{name}");
    let plan = Plan { end: 1e3, ..Plan::default() };
    let mut motion = Motion::new(&mut check.system, &check.state, &plan, &Settings::default()).expect("it moves");
    (0..10).for_each(|_| assert!(motion.advance(), "{name}"));
    let info = allocation_counter::measure(|| (0..50).for_each(|_| assert!(motion.advance(), "{name}")));
    (info.count_total, motion.solver())
}

#[test]
fn explicit_steps_allocate_nothing() {
    for name in
        ["pendulum", "double_pendulum_angles", "double_pendulum_redundant", "heisenberg_particle", "chain_of_ten"]
    {
        let (found, solver) = allocations(name);
        assert_eq!(solver, Solver::Explicit, "{name}");
        assert_eq!(found, 0, "{name}: {found} allocations in fifty steps");
    }
}
