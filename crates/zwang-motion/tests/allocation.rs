//! Nothing allocates once the motion is under way.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

mod mechanism;

use mechanism::*;
use zwang_motion::*;

/// Allocations in a hundred steps, after ten that may set things up. Far from singular positions, not near the end.
fn allocations(known: &Known, method: Method, settings: &Settings) -> u64 {
    let mut mechanism = known.mechanism.clone();
    let plan =
        IntegrationOptions { end: 1e3, tolerance: 1e-9, method, step: Some(0.2), ..IntegrationOptions::default() };
    let mut motion = Motion::new(&mut mechanism, &(known.truth)(0.0), &plan, settings).unwrap();
    for _ in 0..10 {
        assert!(motion.advance());
    }
    let mut advanced = 0;
    let info = allocation_counter::measure(|| {
        for _ in 0..100 {
            advanced += u32::from(motion.advance());
        }
    });
    assert_eq!(advanced, 100);
    info.count_total
}

fn check(known: Known, method: Method) {
    check_with(known, method, &Settings::default());
}

fn check_with(known: Known, method: Method, settings: &Settings) {
    let found = allocations(&known, method, settings);
    assert_eq!(found, 0, "{} by {method}: {found} allocations in a hundred steps", known.name);
}

/// The counter counts.
#[test]
fn an_allocation_is_seen() {
    let info = allocation_counter::measure(|| drop(std::hint::black_box(vec![1.0; 8])));
    assert_eq!(info.count_total, 1);
}

#[test]
fn an_unconstrained_step_allocates_nothing() {
    check(kepler(), Method::Order8);
    check(kepler(), Method::Order5);
}

#[test]
fn a_step_with_a_position_constraint_allocates_nothing() {
    check(pendulum(), Method::Order8);
}

#[test]
fn a_step_with_two_moving_constraints_allocates_nothing() {
    check(hoop(), Method::Order8);
}

#[test]
fn a_step_with_a_velocity_constraint_allocates_nothing() {
    check(heisenberg(), Method::Order8);
}

#[test]
fn a_step_with_redundant_rows_allocates_nothing() {
    check(pendulum_in_copies(), Method::Order8);
    check(pendulum_in_forms(), Method::Order8);
}

/// The same as if the systems were large, with rows that are multiples of others and rows that depend otherwise.
#[test]
fn a_sparse_step_allocates_nothing() {
    let settings = Settings { sparse_limit: 0, ..Settings::default() };
    for known in [pendulum(), hoop(), heisenberg(), pendulum_in_copies(), pendulum_in_forms()] {
        check_with(known, Method::Order8, &settings);
    }
}
