//! Every model of the gallery: passes `check`, and meets its closed form or reference where one is known.

use crate::common::{checked, every_route_gives, gallery, inspected, inspected_model, relative};
use zwang::{Inspection, Overrides};

/// All routes agree on every model, to rounding amplified by the condition of the worst (the rattleback, whose lightest
/// direction weighs 1e-5 of its heaviest).
const AGREEMENT: f64 = 1e-9;

#[test]
fn every_model_passes_check_and_all_routes_agree() {
    let models = gallery();
    assert!(models.len() >= 40, "only {} models", models.len());
    for (name, text) in models {
        let inspection = inspected(&text, &Overrides::default());
        assert!(!inspection.check.equations.model.title.is_empty(), "{name} has no title");
        for (route, result) in &inspection.routes {
            assert!(matches!(result, Some(Ok(_))), "{name} by {}: {result:?}", route.as_str());
        }
        assert!(inspection.disagreement <= AGREEMENT, "{name}: {:e}", inspection.disagreement);
        projections_have_the_dimensions_of_rank_and_freedom(&name, &inspection);
    }
}

/// P projects onto rank(A) directions, N onto the rest, so their traces count both.
fn projections_have_the_dimensions_of_rank_and_freedom(name: &str, inspection: &Inspection) {
    let found = &inspection.check.snapshot.found;
    // B = A M^(-1/2) needs masses that are regular by themselves
    assert_eq!(inspection.geometry.is_some(), inspection.check.regular, "{name}");
    let Some(geometry) = &inspection.geometry else { return };
    let n = found.qddot.len();
    let trace_p: f64 = (0..n).map(|k| geometry.P[k * n + k]).sum();
    assert!((trace_p - found.rank as f64).abs() < 1e-9 * (1.0 + n as f64), "{name}: trace P = {trace_p}");
    let trace_n: f64 = (0..n).map(|k| geometry.N[k * n + k]).sum();
    assert!((trace_n - (n - found.rank) as f64).abs() < 1e-9 * (1.0 + n as f64), "{name}: trace N = {trace_n}");
}

/// Andrews' mechanism: accelerations and multipliers at the start, known to thirty digits.
#[test]
fn squeezer_starts_with_the_published_accelerations() {
    let inspection = inspected_model("squeezer", "");
    let wanted = [14_222.443_919_954_114, -10_666.832_939_965_585, 0.0, 0.0, 0.0, 0.0, 0.0];
    every_route_gives(&inspection, &wanted, 1e-11);
    let lambda = &inspection.check.snapshot.found.lambda;
    let size: Vec<f64> = lambda.iter().map(|l| l.abs()).collect();
    assert!(relative(&size[..2], &[98.566_870_396_241_09, 6.122_688_344_255_662]) < 1e-11, "{lambda:?}");
}

/// Exact rationals: M full, A of rank 2 with three rows.
#[test]
fn exact_rationals_come_out_exactly() {
    let inspection = inspected_model("exact_rationals", "");
    every_route_gives(&inspection, &[22.0 / 13.0, 0.0, 47.0 / 13.0, 17.0 / 13.0], 1e-14);
    let found = &inspection.check.snapshot.found;
    assert_eq!(found.rank, 2);
    assert!(relative(&found.unconstrained_acceleration, &[2.0 / 3.0, -5.0 / 3.0, 7.0 / 3.0, 4.0]) < 1e-14);
    let force = [75.0 / 13.0, 95.0 / 13.0, 55.0 / 13.0, -35.0 / 13.0];
    assert!(relative(&found.constraint_force_ideal, &force) < 1e-14);
    assert!(relative(&found.lambda, &[205.0 / 39.0, -185.0 / 39.0, 20.0 / 39.0]) < 1e-14);
    assert!((found.gaussian - 400.0 / 13.0).abs() < 1e-13);
}

/// Five rows of rank two move as two, with the same force.
#[test]
fn redundant_pendulum_has_rank_two_and_the_force_of_two_rows() {
    let start = "x=0.6, y=0, z=-0.8, x'=1.6, z'=1.2";
    let inspection = inspected_model("redundant_pendulum", start);
    let found = &inspection.check.snapshot.found;
    assert_eq!((found.rank, inspection.check.equations.rows.len()), (2, 5));
    // tension of a pendulum: v²/l + g cos, along the rod
    let tension = 4.0 + 9.81 * 0.8;
    assert!(relative(&found.constraint_force_ideal, &[-0.6 * tension, 0.0, 0.8 * tension]) < 1e-12);
    assert_eq!(inspection.check.redundant.len(), 3);
    assert!(inspection.check.redundant.iter().all(|r| r.everywhere == Some(true)));
}

/// A mass matrix that is singular and made whole by a constraint; refused without it.
#[test]
fn singular_masses_are_decided_by_mass_and_constraints_together() {
    let wheel = inspected_model("wheel_on_slope", "");
    every_route_gives(&wheel, &[-1.095079234054703, 5.182356434595327], 1e-13);
    assert!(!wheel.check.regular);
    let link = inspected_model("massless_link", "");
    assert!(!link.check.regular);

    let text = crate::common::model_text("massless_link");
    let without: String = text.lines().filter(|l| !l.starts_with("constraint")).map(|l| format!("{l}\n")).collect();
    let without: String = without.lines().filter(|l| !l.starts_with("output")).map(|l| format!("{l}\n")).collect();
    let (check, diagnostics) = checked(&without, &Overrides::default());
    assert!(check.is_none());
    assert!(diagnostics.iter().any(|d| d.code == "Z401" && d.message.contains("`q`")), "{diagnostics:#?}");
}

/// A force law comes out of the constraints alone: −1.44/r² at the near apse.
#[test]
fn newton_ellipse_gives_the_inverse_square_law() {
    let inspection = inspected_model("newton_ellipse", "");
    every_route_gives(&inspection, &[-3.6864, 0.0], 1e-13);
}

/// A constraint that the free motion satisfies exerts no force.
#[test]
fn a_first_integral_as_constraint_costs_no_force() {
    let inspection = inspected_model("kepler_with_integral", "");
    let force = &inspection.check.snapshot.found.constraint_force_ideal;
    assert!(force.iter().all(|f| f.abs() < 1e-14), "{force:?}");
}

/// Particle with a work-doing constraint force: the acceleration known from 39-digit arithmetic.
#[test]
fn nonideal_particle_has_the_known_acceleration() {
    let inspection = inspected_model("nonideal_particle", "");
    every_route_gives(&inspection, &[-0.693643643040795, 0.0483079651232219, -0.1862584902511], 1e-13);
}

/// Closed loops that a naive count calls rigid.
#[test]
fn bricard_moves_although_the_count_says_it_cannot() {
    for name in ["bricard", "bricard_bodies"] {
        let check = inspected_model(name, "").check;
        assert_eq!(check.degrees_of_freedom(), 1, "{name}");
    }
}

/// dE/dt = 0 along q̇ and q̈ where constraints are ideal and scleronomic and nothing else does work.
#[test]
fn energy_is_stationary_where_no_power_flows() {
    for name in ["chaplygin_sleigh", "rolling_disk", "tumbling_body", "rattleback", "routh_sphere", "bicycle"] {
        let inspection = inspected_model(name, "");
        let (state, qddot) = (&inspection.check.state, &inspection.check.snapshot.found.qddot);
        let mut system = inspection.check.system;
        let h = 1e-5;
        let mut energy = |h: f64| {
            let mut moved = state.clone();
            for (k, a) in qddot.iter().enumerate() {
                moved.q[k] += h * state.qdot[k] + h * h / 2.0 * a;
                moved.qdot[k] += h * a;
            }
            system.energies(&moved).unwrap()
        };
        let (before, after) = (energy(-h), energy(h));
        assert!(after.kinetic > 1e-6, "{name} is at rest, which shows nothing");
        // central differences err by h² times the third derivative
        let rate = (after.energy - before.energy) / (2.0 * h);
        let scale = after.kinetic + after.potential.abs();
        assert!(rate.abs() < 1e-6 * scale, "{name}: dE/dt = {rate:e} of {scale}");
    }
}
