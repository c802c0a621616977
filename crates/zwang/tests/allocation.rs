//! Nothing allocates once a model is under way: machine code, elimination, landing and the look at rows left out.

mod common;

use common::{checked, model_text};
use zwang::{Coding, Overrides};
use zwang_motion::{Motion, Plan, Settings, Solver};

/// Allocations in fifty steps, after ten that may set things up.
fn allocations(name: &str) -> (u64, Solver) {
    allocations_of(name, &model_text(name))
}

fn allocations_of(name: &str, text: &str) -> (u64, Solver) {
    let (check, diagnostics) = checked(text, &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    check.system.set_coding(Coding::AtOnce);
    assert!(check.system.prepare_motion(&mut check.equations), "{name}");
    let plan = Plan { end: 1e3, ..Plan::default() };
    let mut motion = Motion::new(&mut check.system, &check.state, &plan, &Settings::default()).expect("it moves");
    (0..10).for_each(|_| assert!(motion.advance(), "{name}"));
    // an event starts the motion afresh, which may set things up again: steps that end or begin there do not count
    let (mut n_steps, mut found, mut was_event) = (0, 0, false);
    while n_steps < 50 {
        let before = motion.events().len();
        let info = allocation_counter::measure(|| assert!(motion.advance(), "{name}"));
        let is_event = motion.events().len() > before;
        if !is_event && !was_event {
            (n_steps, found) = (n_steps + 1, found + info.count_total);
        }
        was_event = is_event;
    }
    (found, motion.solver())
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

/// Controls: full force, driven coordinates beside constraints, several motors with a weight, and forces at their bounds.
#[test]
fn controlled_steps_allocate_nothing() {
    let arm = model_text("two_link_arm");
    let bounded = arm.replace("with settling 0.2 s", "with settling 0.2 s and limit 12 N*m");
    let turned = "coordinates x, y\nmass x, y: 2\nforce y: -2*9.81\nconstraint rod: x^2 + y^2 = 1\n\
                  control turn: x*y' - y*x' = 3 + sin(t)\nstart x = 1, y = 0\nstart x' = 0, y' = 3\nrun 2";
    let many = "coordinates x, y, z\nkinetic x'^2 + y'^2 + z'^2 + x'*y'/2\n\
                control sum: x + 2*y - z = sin(t) using x, y, z with weight (1, 2, 3) and settling 0.3\n\
                start x = 0, y = 0, z = 0";
    for (name, text) in [("arm", arm.as_str()), ("bounded arm", &bounded), ("turned", turned), ("many", many)] {
        let (found, _) = allocations_of(name, text);
        assert_eq!(found, 0, "{name}: {found} allocations in fifty steps");
    }
}
