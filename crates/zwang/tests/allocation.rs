//! Nothing allocates once a model is under way: machine code, elimination, projection and the check of omitted rows.

mod common;

use common::{checked, model_text};
use zwang::{JitPolicy, Overrides};
use zwang_motion::{IntegrationOptions, Motion, Settings, Solver};

/// Allocations in fifty steps, after ten and some events that may set things up.
fn allocations(name: &str) -> (u64, Solver) {
    allocations_of(name, &model_text(name), 0)
}

fn allocations_of(name: &str, text: &str, n_events: usize) -> (u64, Solver) {
    let (check, diagnostics) = checked(text, &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    check.system.set_jit(JitPolicy::Immediate);
    assert!(check.system.compile_motion(&mut check.equations), "{name}");
    let plan = IntegrationOptions { end: 1e3, ..IntegrationOptions::default() };
    let mut motion = Motion::new(&mut check.system, &check.state, &plan, &Settings::default()).expect("it moves");
    (0..10).for_each(|_| assert!(motion.advance(), "{name}"));
    // what only events need becomes machine code at the first of them
    while motion.events().len() < n_events {
        assert!(motion.advance(), "{name}");
    }
    // an event starts the motion afresh, which may set things up again: steps that end or begin there do not count
    let (mut n_steps, mut found, mut last) = (0, 0, None);
    while n_steps < 50 {
        let before = motion.events().len();
        let info = allocation_counter::measure(|| assert!(motion.advance(), "{name}"));
        // an event that ends a step is reported in the next
        let is_quiet = motion.events().len() == before;
        if let Some(count) = last.take().filter(|_| is_quiet) {
            (n_steps, found) = (n_steps + 1, found + count);
        }
        last = is_quiet.then_some(info.count_total);
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

/// Contacts that are open, that slide in the plane and in space, and that share a weight and hold.
#[test]
fn steps_with_contacts_allocate_nothing() {
    let flies = "coordinates x, y\nmass x, y: 1\nforce x: -x\nforce y: -y\ncontact floor: y >= -5 with friction 0.3\n\
                 start x = 1, y = 0, x' = 0, y' = 0.5";
    let slides = "coordinates x, y\nmass x, y: 1\nforce x: 6 + sin(t)\nforce y: -10 + cos(t)\n\
                  contact floor: y >= 0 with friction 0.3\nstart x = 0, y = 0, x' = 1, y' = 0";
    let in_space = "coordinates x, y, z\nparticle P at (x, y, z) with mass 1\nforce P: (6 + sin(t), 2*cos(t), -10)\n\
                    contact floor: z >= 0 with friction 0.3\nstart x = 0, y = 0, z = 0, x' = 1, y' = 0, z' = 0";
    let stands = "coordinates x, y, a\nmass x, y: 1\nmass a: 1\nforce x: sin(t)\nforce y: -10\n\
                  point L = (x - cos(a), y - sin(a))\npoint R = (x + cos(a), y + sin(a))\n\
                  contact left: L.y >= 0 with friction 0.5 and at L\ncontact right: R.y >= 0 with friction 0.5 and at R\n\
                  start x = 0, y = 0, a = 0, x' = 0, y' = 0, a' = 0";
    for (name, text) in [("flies", flies), ("slides", slides), ("slides in space", in_space), ("stands", stands)] {
        let (found, _) = allocations_of(name, text, 0);
        assert_eq!(found, 0, "{name}: {found} allocations in fifty steps");
    }
}

/// Controls: full force, driven coordinates with constraints, several motors with a weight, and forces at their bounds.
#[test]
fn controlled_steps_allocate_nothing() {
    let arm = model_text("two_link_arm");
    let bounded = arm.replace("with settling 0.2 s", "with settling 0.2 s and limit 12 N*m");
    let turned = "coordinates x, y\nmass x, y: 2\nforce y: -2*9.81\nconstraint rod: x^2 + y^2 = 1\n\
                  control turn: x*y' - y*x' = 3 + sin(t)\nstart x = 1, y = 0\nstart x' = 0, y' = 3\nrun 2";
    let many = "coordinates x, y, z\nkinetic x'^2 + y'^2 + z'^2 + x'*y'/2\n\
                control sum: x + 2*y - z = sin(t) using x, y, z with weight (1, 2, 3) and settling 0.3\n\
                start x = 0, y = 0, z = 0";
    for (name, text, n_events) in
        [("arm", arm.as_str(), 0), ("bounded arm", &bounded, 3), ("turned", turned, 0), ("many", many, 0)]
    {
        let (found, _) = allocations_of(name, text, n_events);
        assert_eq!(found, 0, "{name}: {found} allocations in fifty steps");
    }
}
