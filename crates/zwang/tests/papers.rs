//! The worked examples of the founding papers against their printed equations, by every route.

#![allow(non_snake_case)]

use crate::common::{Random, derived, every_route_gives, inspected, inspected_model, model_text, relative};
use zwang::Overrides;

/// Rounding of a handful of operations.
const ROUNDING: f64 = 1e-13;

/// KU94, first example: ẏ = z ẋ and no given force; printed as (38).
#[test]
fn free_particle_with_nonholonomic_constraint_matches_print() {
    let mut random = Random(1);
    for _ in 0..50 {
        let [x, y, z, xdot, zdot] = [0; 5].map(|_| 3.0 * random.next());
        let start = format!("x={x}, y={y}, z={z}, x'={xdot}, y'={}, z'={zdot}", z * xdot);
        let k = zdot * xdot / (1.0 + z * z);
        every_route_gives(&inspected_model("rosenberg_particle", &start), &[-k * z, k, 0.0], ROUNDING);
    }
}

/// KU94, second example: ẋ − t ẏ = α(t) under given forces; printed as (41) and (42). Time is shifted to t₀.
#[test]
fn guided_particle_matches_print() {
    let mut random = Random(2);
    for _ in 0..50 {
        let [x, y, ydot, t0] = [0; 4].map(|_| 2.0 * random.next());
        let m = 1.5 + random.next();
        let text = format!(
            "coordinates x, y\nparameter m = {m}, s = {t0}\nmass x, y: m\nlet τ = t + s\n\
             force x: -x + cos(τ)\nforce y: -0.1*y'\nconstraint guide: x' - τ*y' = 1 + 0.5*sin(τ)\n\
             start x = {x}, y = {y}, y' = {ydot}"
        );
        let (t, alpha_dot) = (t0, 0.5 * t0.cos());
        let (X, Y) = (-x + t.cos(), -0.1 * ydot);
        let push = m * (ydot + alpha_dot);
        let d = 1.0 + t * t;
        let wanted = [(t * t * X + t * Y + push) / (d * m), (t * X + Y - t * push) / (d * m)];
        let inspection = inspected(&text, &Overrides::default());
        every_route_gives(&inspection, &wanted, ROUNDING);

        // the guiding force (42)
        let force = [-(X - t * Y) / d + push / d, -(-t * X + t * t * Y) / d - t * push / d];
        assert!(relative(&inspection.check.snapshot.found.constraint_force_ideal, &force) <= 10.0 * ROUNDING);
    }
}

/// KUXI95: pendulum with A = (x₁ x₂); printed as (26), (27) and (34), also at x₁ = 0.
#[test]
fn pendulum_and_its_multiplier_match_print() {
    let mut random = Random(3);
    for case in 0..50 {
        let angle: f64 = if case == 0 { -std::f64::consts::FRAC_PI_2 } else { 3.0 * random.next() };
        let (l, m, g, speed) = (1.0 + 0.5 * random.next(), 2.0 + random.next(), 9.81, 3.0 * random.next());
        let (x1, x2) = if case == 0 { (0.0, -l) } else { (l * angle.cos(), l * angle.sin()) };
        let (v1, v2) = (-speed * x2, speed * x1);
        let text = format!(
            "coordinates x1, x2\nparameter m = {m}, l = {l}, g = {g}\nmass x1, x2: m\nforce x2: -m*g\n\
             constraint rod: (x1^2 + x2^2 - l^2)/2 = 0\nstart x1 = {x1}, x2 = {x2}, x1' = {v1}, x2' = {v2}"
        );
        let k = (x2 * g - v1 * v1 - v2 * v2) / (x1 * x1 + x2 * x2);
        let inspection = inspected(&text, &Overrides::default());
        every_route_gives(&inspection, &[x1 * k, x2 * k - g], ROUNDING);
        assert!(relative(&inspection.check.snapshot.found.lambda, &[m * k]) <= ROUNDING);
    }
}

/// UK02: C = Aᵀw for any w changes nothing, and Qc_nonideal is zero.
#[test]
fn a_nonideal_force_in_the_range_of_the_constraints_changes_nothing() {
    let body = "coordinates x, y, z\nparameter w = 0.7\nmass x: 2\nmass y: 3\nmass z: 1\nforce x: sin(y) - z\n\
                constraint surface: z = x^2 - x*y\nstart x = 0.3, y = -0.8, z ~ 0.3, x' = 0.4, y' = 1.1\n";
    let plain = inspected(body, &Overrides::default());
    // A = (-2x + y, x, 1)
    let pushed = format!("{body}nonideal x: w*(y - 2*x)\nnonideal y: w*x\nnonideal z: w\n");
    let pushed = inspected(&pushed, &Overrides::default());
    let wanted = plain.check.snapshot.found.qddot.clone();
    every_route_gives(&pushed, &wanted, ROUNDING);
    let found = &pushed.check.snapshot.found;
    assert!(found.nonideal_force.iter().any(|c| c.abs() > 0.1));
    let size = found.nonideal_force.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    assert!(found.constraint_force_nonideal.iter().all(|c| c.abs() <= ROUNDING * size));
}

/// UK02: sliding friction of one particle, C = −μ |Qᵢ| v/|v|, leaves the normal force alone and turns against v.
#[test]
fn sliding_friction_acts_along_the_velocity() {
    let text = "coordinates x, y\nparameter μ = 0.3\nparticle P at (x, y) with mass 2\ngravity (0, -9.81)\n\
                constraint wire: y = 0.5*x^2\nnonideal P: -μ*|reaction(wire)|*direction(P')\n\
                start x = 0.7, x' = 1.3\n";
    let with = inspected(text, &Overrides::default());
    let without = inspected(text, &Overrides { set: vec!["μ=0".into()], ..Overrides::default() });
    let (with, without) = (&with.check, &without.check);
    assert!(relative(&with.snapshot.found.lambda, &without.snapshot.found.lambda) <= ROUNDING);
    let v = &with.state.qdot;
    let speed = v[0].hypot(v[1]);
    let ideal = &with.snapshot.found.constraint_force_ideal;
    let normal = ideal[0].hypot(ideal[1]);
    let wanted: Vec<f64> = v.iter().map(|v| -0.3 * normal * v / speed).collect();
    assert!(relative(&with.snapshot.found.constraint_force_nonideal, &wanted) <= 10.0 * ROUNDING);
}

/// The printed formulas themselves, from the model text alone.
#[test]
fn closed_forms_are_printed_as_in_the_papers() {
    let explicit = |name: &str| {
        let mut equations = derived(&model_text(name), &Overrides::default()).equations;
        let closed = zwang::closed_form(&mut equations).unwrap();
        let graph = &equations.model.graph;
        closed.accelerations.iter().map(|e| graph.text(*e)).collect::<Vec<_>>()
    };
    // KU94 (38)
    assert_eq!(explicit("rosenberg_particle"), ["-x'*z*z'/(z^2 + 1)", "x'*z'/(z^2 + 1)", "0"]);
    // KUXI95 (26)
    let pendulum = ["x*(g*y - x'^2 - y'^2)/(x^2 + y^2)", "y*(g*y - x'^2 - y'^2)/(x^2 + y^2) - g"];
    assert_eq!(explicit("pendulum"), pendulum);
}

/// KU94 (41): (1 + t²) m (ẍ, ÿ) = (t² X + t Y, t X + Y) + m (ẏ + α̇) (1, −t), here with constant X, Y and α̇; (42) the
/// force that guides, −(X − t Y, −t X + t² Y)/(1 + t²) + m (ẏ + α̇)/(1 + t²) (1, −t).
#[test]
fn a_guided_particle_is_printed_as_in_the_paper() {
    let text = "coordinates x, y\nparameter m = 1, X = 1, Y = 2, a = 0.5\nmass x, y: m\nforce x: X\nforce y: Y\n\
                control guide: x' - t*y' = a*t\nstart x = 0, y = 0, x' = 0, y' = 0\nrun 1\n";
    let mut equations = derived(text, &Overrides::default()).equations;
    let closed = zwang::closed_form(&mut equations).unwrap();
    let printed = |exprs: &[zwang_expr::Expr]| exprs.iter().map(|e| equations.model.graph.text(*e)).collect::<Vec<_>>();
    let motion = ["(m*(a + y') + t*(X*t + Y))/(m*(t^2 + 1))", "(Y + t*(X - m*(a + y')))/(m*(t^2 + 1))"];
    assert_eq!(printed(&closed.accelerations), motion);
    let force = ["(Y*t - X + m*(a + y'))/(t^2 + 1)", "t*(X - Y*t - m*(a + y'))/(t^2 + 1)"];
    assert_eq!(printed(&closed.control), force);
}

/// Virtual work at a point: the rod of a Cartesian pendulum pulls its mass with the tension, along the rod.
#[test]
fn the_reaction_at_a_point_is_the_force_that_does_the_virtual_work() {
    let text = "coordinates x, y\nparameter m = 2 kg, l = 1 m, g = 9.81 m/s^2\nparticle P at (x, y) with mass m\n\
                gravity (0, -g)\nconstraint rod: |P| = l\nstart x = 0.6 m, y = -0.8 m, x' = 0.8 m/s, y' = 0.6 m/s\n\
                output pull = reaction(rod, P) in N\noutput side = reaction(rod, (x, 3[m])) in N\n";
    let outputs = inspected(text, &Overrides::default()).outputs;
    // m v²/l + m g cos, towards the pivot
    let tension = 2.0 + 2.0 * 9.81 * 0.8;
    assert!((outputs[0].1.unwrap() + 0.6 * tension).abs() < 1e-12);
    assert!((outputs[1].1.unwrap() - 0.8 * tension).abs() < 1e-12);
    // a place that cannot move along y says nothing of the force there
    assert!(outputs[2].1.is_some());
    assert_eq!(outputs[3].1, None);
}
