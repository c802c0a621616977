//! Controls: the force that makes a system follow, against closed forms and against the same force applied from outside.

#![allow(non_snake_case, clippy::needless_range_loop, reason = "matrices and indices are those of the formulas")]

use crate::common::{
    Random, attempt, checked, derived, gallery, inspected, model_text, relative, run_and_notes, run_as,
};
use zwang::{Evaluator, JitPolicy, Overrides, Run, RunOptions};
use zwang_motion::{
    ConstraintLevel, Dynamics, Given, IntegrationOptions, Motion, MotionError, NonidealForce, Outcome, RouteName,
    Settings, Size, Snapshot, State, route,
};

fn ran(text: &str, tolerance: f64, to: Option<f64>) -> Run {
    let options = RunOptions { to, tolerance: Some(tolerance), ..RunOptions::default() };
    let (run, diagnostics) = run_as(text, &Overrides::default(), &options);
    run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"))
}

fn column<'r>(run: &'r Run, name: &str) -> &'r [f64] {
    &run.samples().columns.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}")).values
}

/// The first message of a text that has a mistake.
fn message(text: &str) -> (String, String) {
    let (_, diagnostics) = checked(text, &Overrides::default());
    let first = diagnostics.iter().find(|d| d.severity == zwang::diagnostic::Severity::Error);
    let first = first.unwrap_or_else(|| panic!("no error: {text}"));
    (first.code.to_string(), format!("{} {:?} {:?}", first.message, first.notes, first.help))
}

/// KU94 (42): −(X − tY, −tX + t²Y)/(1 + t²) + m(ẏ + α̇)/(1 + t²)·(1, −t), along the whole run.
#[test]
fn the_guiding_force_is_the_printed_one() {
    let run = ran(&model_text("guided_particle"), 1e-10, None);
    let columns = ["t", "x", "y_dot", "control_x", "control_y", "x_dot"].map(|name| column(&run, name));
    for k in 0..columns[0].len() {
        let [t, x, v, ux, uy, w] = columns.map(|c| c[k]);
        let (fx, fy, rate) = (-x + t.cos(), -0.1 * v, 0.5 * t.cos());
        let along = (v + rate) / (1.0 + t * t);
        let wanted = [-(fx - t * fy) / (1.0 + t * t) + along, -(-t * fx + t * t * fy) / (1.0 + t * t) - t * along];
        assert!(relative(&[ux, uy], &wanted) < 1e-13, "t = {t}: {ux}, {uy} instead of {wanted:?}");
        // held as stated
        assert!((w - t * v - (1.0 + 0.5 * t.sin())).abs() < 1e-13 * (1.0 + w.abs() + (t * v).abs()), "t = {t}");
    }
    assert_eq!((run.rank(), run.audit().residuals.len()), (0, 0));
}

/// The part of KU94 (33) that is linear in b and the rest, at t = 0: A = (1, 0), b = ẏ + α̇.
#[test]
fn the_force_falls_into_the_part_linear_in_b_and_the_rest() {
    let inspection = inspected(
        &model_text("guided_particle"),
        &Overrides { start: vec!["x = 0.3, y' = 2".into()], ..Overrides::default() },
    );
    let found = &inspection.check.snapshot.found;
    assert!(relative(&found.control_linear, &[2.5, 0.0]) < 1e-15, "{:?}", found.control_linear);
    let rest: Vec<f64> = found.control_force.iter().zip(&found.control_linear).map(|(u, l)| u - l).collect();
    assert!(relative(&rest, &[-0.7, 0.0]) < 1e-14, "{rest:?}");
    assert!(inspection.disagreement < 1e-13, "{:e}", inspection.disagreement);
    assert_eq!((inspection.check.rank, inspection.check.degrees_of_freedom()), (0, 2));
}

/// θ = 0.5 sin 2t + e⁻ᵗ cos √3 t and torque = θ̈ + g sin θ + 0.1 θ̇.
#[test]
fn an_error_settles_as_its_equation_says() {
    let run = ran(&model_text("tracked_pendulum_control"), 1e-12, None);
    let root = 3f64.sqrt();
    let [t, theta, torque] = ["t", "theta", "torque"].map(|name| column(&run, name));
    for k in 0..t.len() {
        let (s, c, fall) = ((root * t[k]).sin(), (root * t[k]).cos(), (-t[k]).exp());
        let wanted = 0.5 * (2.0 * t[k]).sin() + fall * c;
        let speed = (2.0 * t[k]).cos() - fall * (c + root * s);
        let bend = -2.0 * (2.0 * t[k]).sin() + fall * (-2.0 * c + 2.0 * root * s);
        assert!((theta[k] - wanted).abs() < 1e-10, "t = {}: θ = {}", t[k], theta[k]);
        let force = bend + 9.81 * wanted.sin() + 0.1 * speed;
        assert!((torque[k] - force).abs() < 1e-10, "t = {}: {} instead of {force}", t[k], torque[k]);
    }
    assert!((torque[0] - 6.254_830_360_965_465).abs() < 1e-12, "{}", torque[0]);
    assert!((torque[t.len() - 1] + 0.679_603_359_751_119_5).abs() < 1e-10);
    assert!(run.audit().energy.drift < 1e-10, "{:e}", run.audit().energy.drift);
}

/// Two conditions on a free particle make Newton's force: |F| r² = 1.44, and Kepler's motion.
#[test]
fn a_conic_with_constant_areal_rate_needs_the_inverse_square_force() {
    let text = "coordinates x, y\nmass x, y: 1\nlet r = sqrt(x^2 + y^2)\ncontrol conic: r + 0.6*x = 1\n\
                control rate: x*y' - y*x' = 1.2\nstart x = 0.625, y = 0, x' = 0, y' = 1.92\nrun 10";
    let run = ran(text, 1e-12, None);
    let [x, y, ux, uy] = ["x", "y", "control_x", "control_y"].map(|name| column(&run, name));
    for k in 0..x.len() {
        let square = x[k] * x[k] + y[k] * y[k];
        let wanted = [-1.44 * x[k] / square.powf(1.5), -1.44 * y[k] / square.powf(1.5)];
        assert!(relative(&[ux[k], uy[k]], &wanted) < 1e-10, "{k}: {} {} {wanted:?}", ux[k], uy[k]);
    }
    let last = x.len() - 1;
    let off = relative(&[x[last], y[last]], &[0.536_419_144_213_811_2, -0.414_897_466_905_760_9]);
    assert!(off < 1e-10, "{off:e}");
}

/// The arm: how far the tip is off, and the torque at the start.
#[test]
fn the_arm_finds_its_circle() {
    let run = ran(&model_text("two_link_arm"), 1e-10, None);
    let [t, error, torque] = ["t", "error", "torque1"].map(|name| column(&run, name));
    // with 1/τ = 5: ε = (ε₀ + (ε̇₀ + 5 ε₀) t) e^(−5t) in each component, from rest at q = (−20°, 80°)
    let (a, b) = (-20f64.to_radians(), 60f64.to_radians());
    let off = [0.5 * a.cos() + 0.4 * b.cos() - 0.65, 0.5 * a.sin() + 0.4 * b.sin() - 0.2];
    let closed = |t: f64| {
        let part = |off: f64, rate: f64| (off + (rate + 5.0 * off) * t) * (-5.0 * t).exp();
        1e3 * part(off[0], 0.0).hypot(part(off[1], -0.15))
    };
    assert!((closed(0.0) - 31.6).abs() < 0.05 && (closed(1.0) - 2.2).abs() < 0.05, "{} {}", closed(0.0), closed(1.0));
    for k in 0..t.len() {
        assert!((error[k] - closed(t[k])).abs() < 1e-6, "t = {}: {} mm instead of {}", t[k], error[k], closed(t[k]));
        assert!(t[k] < 6.0 || error[k] < 1e-8, "t = {}: {:e} mm", t[k], error[k]);
    }
    assert!((torque[0] - 22.9).abs() < 0.05, "{} N m", torque[0]);
    assert!(run.audit().energy.drift < 1e-8, "{:e}", run.audit().energy.drift);
}

/// The torques of the arm as a force at its tip: JᵀF is the torques, with J = ∂tip/∂q.
#[test]
fn the_control_force_at_a_point_follows_from_the_torques() {
    let text = model_text("two_link_arm") + "output fx = control(tip).x in N\noutput fy = control(tip).y in N\n";
    let run = ran(&text, 1e-9, Some(3.0));
    let [q1, q2, u1, u2, fx, fy] = ["q1", "q2", "control_q1", "control_q2", "fx", "fy"].map(|name| column(&run, name));
    for k in 0..q1.len() {
        let (elbow, link) =
            ((0.5 * q1[k].cos(), 0.5 * q1[k].sin()), (0.4 * (q1[k] + q2[k]).cos(), 0.4 * (q1[k] + q2[k]).sin()));
        let lower = link.0 * fy[k] - link.1 * fx[k];
        let upper = (elbow.0 + link.0) * fy[k] - (elbow.1 + link.1) * fx[k];
        assert!(relative(&[upper, lower], &[u1[k], u2[k]]) < 1e-12, "{k}: {upper} {lower}, {} {}", u1[k], u2[k]);
    }
}

/// Together with a rod: the force of the motor is separate from that of the rod, which keeps the particle on its circle.
#[test]
fn constraint_and_control_forces_are_kept_apart() {
    let text = "coordinates x, y\nmass x, y: 2\nforce y: -2*9.81\nconstraint rod: x^2 + y^2 = 1\n\
                control turn: x*y' - y*x' = 3\nstart x = 1, y = 0, x' = 0, y' = 3\nrun 2\n\
                output push = power(turn)\noutput done = work(turn)\noutput pull = lambda(rod)";
    let run = ran(text, 1e-11, None);
    let [t, x, y, ux, uy, push, done] =
        ["t", "x", "y", "control_x", "control_y", "push", "done"].map(|n| column(&run, n));
    for k in 0..t.len() {
        let (s, c) = (3.0 * t[k]).sin_cos();
        assert!((x[k] - c).abs() < 1e-9 && (y[k] - s).abs() < 1e-9, "t = {}", t[k]);
        // the motor holds the tangential part of gravity, and nothing else
        let u = 2.0 * 9.81 * c;
        assert!(relative(&[ux[k], uy[k]], &[-u * s, u * c]) < 1e-8, "t = {}: {} {}", t[k], ux[k], uy[k]);
        assert!((push[k] - 3.0 * u).abs() < 1e-7 && (done[k] - 2.0 * 9.81 * s).abs() < 1e-8, "t = {}", t[k]);
    }
    assert_eq!((run.rank(), column(&run, "lambda_rod").len()), (1, t.len()));
    assert!(run.audit().energy.drift < 1e-9);
}

/// With more motors than needed the force is least in the metric asked for.
#[test]
fn the_least_force_is_least_in_its_weight() {
    let text = |weight: &str| {
        format!(
            "coordinates x, y\nmass x: 1\nmass y: 4\ncontrol sum: x + y = 0.5*t^2 using x, y {weight}\nstart x = 0, y = 0\nrun 1"
        )
    };
    // u = W⁻¹j/(jᵀW⁻¹j) with j = (1, 1/4)
    let j = [1.0, 0.25];
    for (weight, inverse) in [
        ("", [1.0, 0.0, 0.0, 4.0]),
        ("with weight 3", [1.0, 0.0, 0.0, 1.0]),
        ("with weight (1, 0.1)", [1.0, 0.0, 0.0, 10.0]),
        // the inverse of [2, 1; 1, 3], up to a factor
        ("with weight [2, 1; 1, 3]", [3.0, -1.0, -1.0, 2.0]),
    ] {
        let raw = [inverse[0] * j[0] + inverse[1] * j[1], inverse[2] * j[0] + inverse[3] * j[1]];
        let size = raw[0] * j[0] + raw[1] * j[1];
        let wanted = [raw[0] / size, raw[1] / size];
        let found = inspected(&text(weight), &Overrides::default()).check.snapshot.found;
        assert!(relative(&found.control_force, &wanted) < 1e-14, "{weight}: {:?}", found.control_force);
    }
}

/// A mass pulled to 1 by a force of at most 1/2: x = t²/4 until the demand 1 − x − 2ẋ has fallen to 1/2, at t = √6 − 2.
#[test]
fn the_beginning_and_the_end_of_saturation_are_reported() {
    let text = "coordinates x\nmass x: 1\ncontrol come: x = 1 with settling 1 and limit 0.5\nstart x = 0\nrun 3";
    let run = ran(text, 1e-11, None);
    let leaves = 6f64.sqrt() - 2.0;
    let saturations: Vec<f64> = run.events().iter().filter(|e| e.kind.as_str() == "saturation").map(|e| e.t).collect();
    assert!(saturations.len() == 2 && saturations[0] == 0.0, "{:?}", run.events());
    assert!((saturations[1] - leaves).abs() < 1e-10, "{:?}", run.events());
    let [t, x, u] = ["t", "x", "control_x"].map(|name| column(&run, name));
    // from there on ε = (ε₀ + (ε̇₀ + ε₀) s) e^(−s)
    let (e0, v0) = (leaves * leaves / 4.0 - 1.0, leaves / 2.0);
    for k in 0..t.len() {
        let s = t[k] - leaves;
        let wanted = if s < 0.0 { t[k] * t[k] / 4.0 } else { 1.0 + (e0 + (v0 + e0) * s) * (-s).exp() };
        assert!((x[k] - wanted).abs() < 1e-9, "t = {}: {} instead of {wanted}", t[k], x[k]);
        assert!(u[k] <= 0.5 + 1e-12 && (s > 0.0 || (u[k] - 0.5).abs() < 1e-12), "t = {}: {}", t[k], u[k]);
    }
}

/// Mistakes about controls, each with its code and what it is about.
#[test]
fn mistakes_about_controls_are_named() {
    let head = "coordinates x, y\nmass x, y: 1\nstart x = 1, y = 0\nrun 1\n";
    for (line, code, parts) in [
        ("control c: x = 2", "Z201", &["control `c`", "by 1 ", "start x = 2", "settling"][..]),
        ("control c: x = 1 + t\nstart x' = 0", "Z201", &["the start velocities violate control `c`", "x' = 1"]),
        ("control c: (x, y) = (1, 0) using x", "Z701", &["2 directions", "can drive 1", "missing: `c.y`"]),
        ("control c: x = 1 with damping 2", "Z704", &["`damping`"]),
        ("control c: x'' = 1 with settling 1", "Z704", &["acceleration"]),
        ("control c: x = 1 with settling 0", "Z109", &["positive time"]),
        ("control c: x = 1 with settling 1 and limit (1, 2, 3)", "Z704", &["as many entries"]),
        ("control c: x = 1 with settling 1 and weight (1, -2)", "Z704", &["entry 2"]),
        ("control c: x = 1 with settling 1 and weight [1, 2; 3, 9]", "Z704", &["symmetric"]),
        ("control c: x = 1 using x, x", "Z104", &["`x` is named twice"]),
        ("constraint d: x = 1\ncontrol c: x = 1 + t^2 with settling 1", "Z701", &["no force", "`c`"]),
        ("control c: x = 1\noutput f = reaction(c)", "Z107", &["is a control"]),
    ] {
        let (found, reported) = message(&format!("{head}{line}"));
        assert_eq!(found, code, "{line}: {reported}");
        parts.iter().for_each(|part| assert!(reported.contains(part), "{line}: no {part:?} in {reported}"));
    }
}

/// A load on a rope answers to trolley and winch only in its fourth derivative; on a spring in the fourth too.
#[test]
fn a_force_that_shows_later_is_refused_with_its_relative_degree() {
    let crane = "coordinates x, l, a\nmass x: 10\nmass l: 2\nparticle load at (x + l*sin(a), -l*cos(a)) with mass 5\n\
                 gravity (0, -9.81)\ncontrol move: load = (0.1*t^2, -2) using x, l with settling 1\nstart x = 0, l = 2, a = 0";
    let spring = "coordinates x, y\nmass x, y: 1\npotential (y - x)^2/2\n\
                  control load: y = 0.1*t^4 using x with settling 1\nstart x = 0, y = 0";
    let damper = "coordinates x, y\nmass x, y: 1\ndissipation (y' - x')^2/2\n\
                  control load: y = 0.1*t^4 using x with settling 1\nstart x = 0, y = 0";
    for (text, row, degree) in [(crane, "`move.x`", 4), (spring, "`load`", 4), (damper, "`load`", 3)] {
        let (_, diagnostics) = checked(text, &Overrides::default());
        let found = diagnostics.iter().find(|d| d.code == "Z702").unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert!(found.message.contains(row), "{found:#?}");
        assert!(format!("{found:?}").contains(&format!("relative degree {degree};")), "{found:#?}");
    }
    // nothing ever moves y
    let apart = "coordinates x, y\nmass x, y: 1\ncontrol load: y = t^2 using x with settling 1\nstart x = 0, y = 0";
    assert_eq!(message(apart).0, "Z701");
}

/// A target that leaves the reach of the arm ends the run with a word on the control.
#[test]
fn a_target_out_of_reach_ends_the_run() {
    let text = model_text("two_link_arm").replace("R = 0.15 m", "R = 0.5 m");
    let (run, diagnostics) = attempt(&text, &[]);
    assert!(run.is_some_and(|run| run.state().t < 12.0 && run.end().as_str() != "finished"));
    assert!(diagnostics.iter().any(|d| d.code == "Z703" && d.message.contains("`trace`")), "{diagnostics:#?}");
}

/// A system without controls on which the force that another one reports acts from outside.
struct Driven {
    plain: Evaluator,
    steered: Evaluator,
    snapshot: Snapshot,
}

impl Dynamics for Driven {
    fn size(&self) -> Size {
        self.plain.size()
    }
    fn allocate(&self) -> Given {
        self.plain.allocate()
    }
    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError> {
        let (settings, name) = (Settings::default(), RouteName::GeneralizedInverse);
        let settings = Settings { contradiction_tolerance: f64::INFINITY, ..settings };
        self.snapshot.take(&mut self.steered, state, &mut *route(name, &settings), &settings)?;
        self.plain.fill(state, given)?;
        given.given_force.iter_mut().zip(&self.snapshot.found.control_force).for_each(|(q, u)| *q += u);
        Ok(())
    }
    fn nonideal(&mut self) -> Option<&mut dyn NonidealForce> {
        self.plain.nonideal()
    }
    fn fill_residuals(&mut self, state: &State, level: ConstraintLevel, out: &mut [f64]) -> Result<(), MotionError> {
        self.plain.fill_residuals(state, level, out)
    }
}

/// The text without its controls and what refers to them.
fn without_controls(text: &str) -> String {
    let of_control = |line: &&str| !["control", "output", "plot"].iter().any(|word| line.starts_with(word));
    text.lines().filter(of_control).map(|line| format!("{line}\n")).collect()
}

/// Moves a text and the same text with its control forces applied from outside; both ends.
fn both(name: &str, text: &str, to: f64) -> (State, State) {
    let (check, diagnostics) = checked(text, &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
    let start = check.state.clone();
    let run = ran(text, 1e-11, Some(to));
    let mut equations = derived(&without_controls(text), &Overrides::default()).equations;
    let mut plain = Evaluator::compile(&mut equations, false, JitPolicy::default()).unwrap();
    assert!(plain.compile_motion(&mut equations) && check.system.compile_motion(&mut check.equations));
    let snapshot = Snapshot::new(&mut check.system);
    let mut driven = Driven { plain, steered: check.system, snapshot };
    let plan = IntegrationOptions { end: to, tolerance: 1e-11, ..IntegrationOptions::default() };
    let mut motion = Motion::new(&mut driven, &start, &plan, &Settings::default()).unwrap();
    while motion.advance() {}
    assert_eq!(motion.outcome(), Some(&Outcome::End), "{name}");
    (run.state().clone(), motion.state())
}

/// Over all control models, and one with constraint, bound and nonideal law: the reported force does it.
#[test]
fn the_reported_force_applied_from_outside_makes_the_same_motion() {
    let mut models: Vec<(String, String)> = gallery();
    models.retain(|(_, text)| text.lines().any(|line| line.starts_with("control")));
    assert!(models.len() >= 3);
    let braked = "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1\n\
                  nonideal x: -0.1*|lambda(rod)|*x'\nnonideal y: -0.1*|lambda(rod)|*y'\n\
                  control turn: x*y' - y*x' = 1 using x with settling 0.5\nstart x = 0.6, y = -0.8\nrun 1\n";
    models.push(("braked".into(), braked.into()));
    for (name, text) in models {
        let (there, here) = both(&name, &text, 1.0);
        let off = relative(&here.q, &there.q).max(relative(&here.qdot, &there.qdot));
        assert!(off < 1e-8, "{name}: {off:e}, {here:?} instead of {there:?}");
    }
}

/// Drift of a held control is projected away; that of a stiffly settling one dies out.
#[test]
fn held_controls_do_not_drift() {
    let text =
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\ncontrol ring: x^2 + y^2 = 1\nstart x = 1, y = 0\nrun 20";
    let run = ran(text, 1e-7, None);
    let (x, y) = (column(&run, "x"), column(&run, "y"));
    let most = x.iter().zip(y).fold(0f64, |top, (x, y)| top.max((x * x + y * y - 1.0).abs()));
    assert!(most < 1e-14, "{most:e}");
}

/// Random masses, constraints and controls: targets and constraints are satisfied, and the motion is that of all rows together.
#[test]
fn control_and_constraints_move_as_all_rows_together() {
    let mut random = Random(5);
    for round in 0..20 {
        let mut number = || format!("{:.6}", 2.0 * random.next());
        let rows: Vec<String> = (0..4)
            .map(|_| {
                format!("{}*a'' + {}*b'' + {}*c'' + {}*d'' + {}*e''", number(), number(), number(), number(), number())
            })
            .collect();
        let head = "coordinates a, b, c, d, e\nmass a: 1\nmass b: 2\nmass c: 0.5\nkinetic d'^2 + e'^2 + 0.7*d'*e'\n\
                    force a: 1\nforce d: -2\nstart a = 0, b = 0, c = 0, d = 0, e = 0\n";
        let text = |word: &str| {
            format!(
                "{head}constraint p: {} = 1\nconstraint q: {} = 2\n{word} r: {} = 3\n{word} s: {} = 4\n",
                rows[0], rows[1], rows[2], rows[3]
            )
        };
        let (apart, together) =
            (inspected(&text("control"), &Overrides::default()), inspected(&text("constraint"), &Overrides::default()));
        let (apart, together) = (&apart.check.snapshot, &together.check.snapshot);
        assert!(relative(&apart.found.qddot, &together.found.qddot) < 1e-9, "round {round}");
        // M q̈ = Q + Aᵀλ + u
        for i in 0..5 {
            let sum = apart.given.given_force[i] + apart.found.constraint_force_ideal[i] + apart.found.control_force[i];
            let push = apart.given.mass_matrix.row_times(i, &apart.found.qddot);
            assert!((sum - push).abs() < 1e-9 * (1.0 + push.abs()), "round {round}");
        }
        assert_eq!((apart.found.rank, apart.found.lambda.len(), together.found.rank), (2, 2, 4));
    }
}

/// x of K x = r, by elimination with exchange of rows.
fn solve(mut K: Vec<Vec<f64>>, mut r: Vec<f64>) -> Option<Vec<f64>> {
    let n = r.len();
    for l in 0..n {
        let best = (l..n).max_by(|&i, &j| K[i][l].abs().total_cmp(&K[j][l].abs()))?;
        K.swap(l, best);
        r.swap(l, best);
        if K[l][l].abs() < 1e-12 {
            return None;
        }
        for i in l + 1..n {
            let c = K[i][l] / K[l][l];
            (l..n).for_each(|j| K[i][j] -= c * K[l][j]);
            r[i] -= c * r[l];
        }
    }
    for i in (0..n).rev() {
        let after: f64 = (i + 1..n).map(|j| K[i][j] * r[j]).sum();
        r[i] = (r[i] - after) / K[i][i];
    }
    Some(r)
}

/// A random system of five coordinates with one constraint, and two rows asked for by forces on some coordinates.
struct Problem {
    M: Vec<Vec<f64>>,
    Q: Vec<f64>,
    A: Vec<f64>,
    b: f64,
    C: Vec<Vec<f64>>,
    c: Vec<f64>,
    driven: Vec<usize>,
    W: Vec<f64>,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Problem {
    fn new(random: &mut Random, driven: &[usize]) -> Problem {
        let mut number = || (1e6 * random.next()).round() / 1e6;
        let mut row = || (0..5).map(|_| number()).collect::<Vec<f64>>();
        let G: Vec<Vec<f64>> = (0..5).map(|_| row()).collect();
        let product = |i: usize, j: usize| (0..5).map(|k| G[k][i] * G[k][j]).sum::<f64>();
        let M = (0..5).map(|i| (0..5).map(|j| product(i, j) + f64::from(i == j)).collect()).collect();
        let (Q, A, C) = (row(), row(), vec![row(), row()]);
        let (c, W) = (row(), row());
        let W = driven.iter().map(|&k| 0.5 + W[k].abs()).collect();
        Problem { M, Q, A, b: c[4], C, c, driven: driven.to_vec(), W }
    }

    /// The text of the model, with what follows `using` put in.
    fn text(&self, properties: &str) -> String {
        let sum = |row: &[f64]| {
            let term = |k: usize| format!("({:.17})*{}''", row[k], NAMES[k]);
            (0..5).map(term).collect::<Vec<_>>().join(" + ")
        };
        let kinetic: Vec<String> = (0..25)
            .map(|at| format!("({:.17})/2*{}'*{}'", self.M[at / 5][at % 5], NAMES[at / 5], NAMES[at % 5]))
            .collect();
        let mut text = format!("coordinates a, b, c, d, e\nkinetic {}\n", kinetic.join(" + "));
        (0..5).for_each(|k| text.push_str(&format!("force {}: {:.17}\n", NAMES[k], self.Q[k])));
        let using: Vec<&str> = self.driven.iter().map(|&k| NAMES[k]).collect();
        text.push_str(&format!("constraint p: {} = {:.17}\n", sum(&self.A), self.b));
        text.push_str(&format!(
            "control r: ({}, {}) = ({:.17}, {:.17}) using {}{properties}\n",
            sum(&self.C[0]),
            sum(&self.C[1]),
            self.c[0],
            self.c[1],
            using.join(", ")
        ));
        text + "start a = 0, b = 0, c = 0, d = 0, e = 0\n"
    }

    /// M⁻¹ restricted to the driven coordinates: the metric of Gauss.
    fn gauss_weight(&self) -> Vec<Vec<f64>> {
        let column = |k: usize| solve(self.M.clone(), (0..5).map(|i| f64::from(i == k)).collect()).unwrap();
        let columns: Vec<Vec<f64>> = self.driven.iter().map(|&k| column(k)).collect();
        columns.iter().map(|column| self.driven.iter().map(|&i| column[i]).collect()).collect()
    }

    /// The quadratic program by its conditions of optimality (Karush, Kuhn, Tucker), all unknowns at once:
    /// q̈, λ, w and the multipliers of M q̈ − Aᵀλ − S w = Q, A q̈ = b, A_c q̈ = b_c.
    fn least(&self, W: &[Vec<f64>]) -> Vec<f64> {
        let k = self.driven.len();
        let (q, l, w, p, s, m) = (0, 5, 6, 6 + k, 11 + k, 12 + k);
        let size = 14 + k;
        let (mut K, mut r) = (vec![vec![0.0; size]; size], vec![0.0; size]);
        for i in 0..5 {
            for j in 0..5 {
                // M q̈ − Aᵀλ − S w = Q, and for q̈: M p + Aᵀσ + A_cᵀμ = 0
                K[i][q + j] = self.M[i][j];
                K[8 + k + i][p + j] = self.M[i][j];
            }
            (K[i][l], r[i]) = (-self.A[i], self.Q[i]);
            K[8 + k + i][s] = self.A[i];
            (0..2).for_each(|c| K[8 + k + i][m + c] = self.C[c][i]);
            // A q̈ = b, A_c q̈ = b_c, and for λ: A p = 0
            K[5][q + i] = self.A[i];
            (0..2).for_each(|c| K[6 + c][q + i] = self.C[c][i]);
            K[13 + k][p + i] = self.A[i];
        }
        (r[5], r[6], r[7]) = (self.b, self.c[0], self.c[1]);
        for (x, &i) in self.driven.iter().enumerate() {
            K[i][w + x] = -1.0;
            // for w: W w = Sᵀp
            (0..k).for_each(|y| K[8 + x][w + y] = W[x][y]);
            K[8 + x][p + i] = -1.0;
        }
        solve(K, r).unwrap()[w..w + k].to_vec()
    }

    /// K, what the constraint leaves of forces: K f = M⁻¹f + M⁻¹Aᵀλ with A K f = 0.
    fn left(&self, force: &[f64]) -> Vec<f64> {
        self.accelerated(force, 0.0)
    }

    fn accelerated(&self, force: &[f64], b: f64) -> Vec<f64> {
        let mut K = vec![vec![0.0; 6]; 6];
        for i in 0..5 {
            (0..5).for_each(|j| K[i][j] = self.M[i][j]);
            (K[i][5], K[5][i]) = (-self.A[i], self.A[i]);
        }
        let r: Vec<f64> = force.iter().copied().chain([b]).collect();
        solve(K, r).unwrap()[..5].to_vec()
    }

    /// The distance of a force from the target in Gauss's sense: rᵀ (A_c K A_cᵀ)⁻¹ r with the residual r.
    fn distance(&self, w: &[f64]) -> f64 {
        let mut force = self.Q.clone();
        self.driven.iter().zip(w).for_each(|(&k, w)| force[k] += w);
        let qddot = self.accelerated(&force, self.b);
        let residual: Vec<f64> = (0..2).map(|c| self.c[c] - dot(&self.C[c], &qddot)).collect();
        let responses: Vec<Vec<f64>> = self.C.iter().map(|row| self.left(row)).collect();
        let metric = (0..2).map(|i| (0..2).map(|j| dot(&self.C[i], &responses[j])).collect()).collect();
        dot(&residual, &solve(metric, residual.clone()).unwrap())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The least force is that of the quadratic program, solved independently: in the metric of mass and in weights of the user.
#[test]
fn the_least_force_solves_the_quadratic_program() {
    let mut random = Random(11);
    for round in 0..30 {
        let driven: &[usize] = [&[0, 1, 2, 3, 4][..], &[0, 1, 3, 4], &[1, 2, 4], &[0, 3]][round % 4];
        let problem = Problem::new(&mut random, driven);
        let given: Vec<String> = problem.W.iter().map(|w| format!("{w:.17}")).collect();
        let diagonal: Vec<Vec<f64>> = (0..driven.len())
            .map(|i| (0..driven.len()).map(|j| if i == j { problem.W[i] } else { 0.0 }).collect())
            .collect();
        let own = if driven.len() > 3 {
            format!(" with weight [{}]", given.join(", "))
        } else {
            format!(" with weight ({})", given.join(", "))
        };
        for (properties, W) in [(String::new(), problem.gauss_weight()), (own, diagonal)] {
            let text = problem.text(&properties);
            let found = inspected(&text, &Overrides::default()).check.snapshot.found.control_force;
            let wanted = problem.least(&W);
            let found: Vec<f64> = driven.iter().map(|&k| found[k]).collect();
            assert!(relative(&found, &wanted) < 1e-8, "round {round}: {found:?} instead of {wanted:?}\n{text}");
        }
    }
}

/// Bounded forces come as close as any combination of free and bound ones can: all of them tried out.
#[test]
fn bounded_forces_come_as_close_as_any_can() {
    let mut random = Random(23);
    let mut n_bound = 0;
    for round in 0..30 {
        let problem = Problem::new(&mut random, &[0, 2, 3]);
        let free = problem.least(&problem.gauss_weight());
        let limit = 0.6 * free.iter().fold(0f64, |top, w| top.max(w.abs()));
        let text = problem.text(&format!(" with limit {limit:.17}"));
        let found = inspected(&text, &Overrides::default()).check.snapshot.found;
        let w: Vec<f64> = [0, 2, 3].iter().map(|&k| found.control_force[k]).collect();
        assert!(w.iter().all(|w| w.abs() <= limit * (1.0 + 1e-14)), "round {round}: {w:?} beyond {limit}");
        n_bound += usize::from(!found.saturated.is_empty());
        // each force at a bound, or one of a fine grid between: nothing comes closer
        let mut best = f64::INFINITY;
        let steps = 24;
        let grid: Vec<f64> = (0..=steps).map(|k| limit * (2.0 * k as f64 / steps as f64 - 1.0)).collect();
        for &x in &grid {
            for &y in &grid {
                for &z in &grid {
                    best = best.min(problem.distance(&[x, y, z]));
                }
            }
        }
        let own = problem.distance(&w);
        assert!(own <= best * (1.0 + 1e-9) + 1e-16, "round {round}: {own:e} instead of {best:e}");
    }
    assert!(n_bound > 20, "only {n_bound} were bound");
}

/// Two bounded motors, one rod: where the set of bounds in force changes, an event is located, and forces stay within.
#[test]
fn changes_of_the_active_bounds_are_events_and_the_motion_between_is_smooth() {
    let text =
        model_text("two_link_arm").replace("with settling 0.2 s", "with settling 0.2 s and limit (17 N*m, 3 N*m)");
    let run = ran(&text, 1e-10, Some(2.5));
    let times: Vec<f64> = run.events().iter().filter(|e| e.kind.as_str() == "saturation").map(|e| e.t).collect();
    assert!(times.len() > 4, "{:?}", run.events());
    let [t, u1, u2] = ["t", "control_q1", "control_q2"].map(|name| column(&run, name));
    let bound = |k: usize| [17.0 - u1[k].abs(), 3.0 - u2[k].abs()];
    for k in 0..t.len() {
        assert!(bound(k).iter().all(|margin| *margin > -1e-9), "t = {}: {} {}", t[k], u1[k], u2[k]);
        // between two rows without an event the set of bounds stays
        if k > 0 && !times.iter().any(|at| (t[k - 1]..=t[k]).contains(at)) {
            let at_bound = |k: usize| bound(k).map(|margin| margin < 1e-9);
            assert_eq!(at_bound(k), at_bound(k - 1), "between t = {} and {}", t[k - 1], t[k]);
        }
    }
    assert!(run.audit().energy.drift < 1e-7, "{:e}", run.audit().energy.drift);
    // a tighter run moves the same
    let fine = ran(&text, 1e-12, Some(2.5));
    assert!(relative(&run.state().q, &fine.state().q) < 1e-6, "{:?} {:?}", run.state().q, fine.state().q);
}

/// The closed loop: what the motors do shows at the tip as its error says, in closed form.
#[test]
fn an_arm_with_a_loop_follows_with_the_error_it_was_given() {
    let run = ran(&model_text("five_bar_arm"), 1e-11, Some(2.0));
    let [t, error] = ["t", "error"].map(|name| column(&run, name));
    // ε = −v t e^(−10 t) from rest, with v = (2 ω r, ω r) = (0.32, 0.16) m/s
    let speed = 0.32f64.hypot(0.16) * 1e3;
    for k in 0..t.len() {
        let wanted = speed * t[k] * (-10.0 * t[k]).exp();
        assert!((error[k] - wanted).abs() < 1e-6, "t = {}: {} mm instead of {wanted}", t[k], error[k]);
    }
    assert_eq!((run.rank(), run.check().snapshot.found.control_rank), (2, (2, 2)));
    // the links at the tip are not driven
    assert!(run.samples().column("control_b1").is_none() && run.samples().column("control_a1").is_some());
}

/// θ = θ₀ (1 + t/τ) e^(−t/τ), and the cart takes what momentum balance gives it.
#[test]
fn a_pendulum_is_caught_by_its_cart() {
    let run = ran(&model_text("cart_pendulum"), 1e-11, None);
    let [t, theta, push, x_ddot] = ["t", "theta", "push", "x_ddot"].map(|name| column(&run, name));
    let start = 15f64.to_radians();
    for k in 0..t.len() {
        let s = t[k] / 0.3;
        let wanted = start * (1.0 + s) * (-s).exp();
        let (v, a) = (-start * s / 0.3 * (-s).exp(), start * (s - 1.0) / 0.09 * (-s).exp());
        assert!((theta[k] - wanted).abs() < 1e-9, "t = {}: {}", t[k], theta[k]);
        // l θ̈ + ẍ cos θ = g sin θ, and F = (M + m) ẍ + m l (θ̈ cos θ − θ̇² sin θ)
        let cart = (9.81 * wanted.sin() - 0.8 * a) / wanted.cos();
        let force = 2.5 * cart + 0.4 * (a * wanted.cos() - v * v * wanted.sin());
        assert!((x_ddot[k] - cart).abs() < 1e-7, "t = {}: {} instead of {cart}", t[k], x_ddot[k]);
        assert!((push[k] - force).abs() < 1e-7, "t = {}: {} instead of {force}", t[k], push[k]);
    }
}

/// The roof stays where it is until the force reaches its limit, and the force never passes it.
#[test]
fn the_roof_is_held_within_the_limit() {
    let run = ran(&model_text("tall_building"), 1e-10, None);
    let saturated: Vec<f64> = run.events().iter().filter(|e| e.kind.as_str() == "saturation").map(|e| e.t).collect();
    assert!(saturated.len() > 4 && saturated[0] > 0.5, "{:?}", run.events());
    let [t, roof, push, first] = ["t", "roof", "push", "first"].map(|name| column(&run, name));
    for k in 0..t.len() {
        assert!(push[k].abs() <= 100.0 + 1e-9, "t = {}: {} kN", t[k], push[k]);
        assert!(t[k] > saturated[0] || roof[k].abs() < 1e-9, "t = {}: {} mm", t[k], roof[k]);
    }
    let most = |x: &[f64]| x.iter().fold(0f64, |top, x| top.max(x.abs()));
    assert!(most(first) > 5.0 && most(roof) > 5.0);
    // without a limit it never moves
    let text = model_text("tall_building").replace(" and limit limit", "");
    let held = ran(&text, 1e-10, None);
    assert!(most(column(&held, "roof")) < 1e-9, "{:e}", most(column(&held, "roof")));
}

/// A refusal states its reason, by its code and with the missing direction.
#[test]
fn refused_models_say_what_is_missing() {
    for (name, code, parts) in [
        ("crane", "Z702", &["`move.x`", "`x` and `l`"][..]),
        (
            "cart_pendulum_both",
            "Z701",
            // l θ'' + x'' cos θ = g sin θ whatever the force is: what never moves is x + l/cos(15°) θ
            &[
                "`hold` and `catch` together ask for 2 directions",
                "`x` can drive 1",
                "missing: `hold` + 0.8282 `catch`",
            ],
        ),
    ] {
        let (found, reported) = message(&model_text(&format!("refused/{name}")));
        assert_eq!(found, code, "{name}: {reported}");
        parts.iter().for_each(|part| assert!(reported.contains(part), "{name}: no {part:?} in {reported}"));
    }
}

/// Free motors share the load that a bound one leaves, exactly and in few steps: x + y + z = 1 from rest at 0 demands
/// 4, of which the first gives 1/2.
#[test]
fn free_motors_share_the_load_that_a_bound_one_leaves() {
    let text =
        "coordinates x, y, z\nmass x, y, z: 1\ncontrol a: x + y + z = 1 with settling 0.5 and limit (0.5, 20, 30)
start x = 0, y = 0, z = 0\nrun 1\noutput u = control(x)\noutput v = control(y)\noutput w = control(z)";
    let run = run_as(text, &Overrides::default(), &RunOptions::default()).0.unwrap();
    let column = |name: &str| run.samples().column(name).unwrap().values.clone();
    for ((u, v), w) in column("u").iter().zip(column("v")).zip(column("w")) {
        assert!((v - w).abs() < 1e-11 && *u <= 0.5 + 1e-12, "{u} {v} {w}");
    }
    assert!((column("v")[0] - 1.75).abs() < 1e-12);
    assert!(run.cost().steps < 500, "{}", run.cost().steps);
}

/// A bound that does not act changes nothing.
#[test]
fn a_bound_that_does_not_act_changes_no_force() {
    let force = |limit: &str| {
        let text = format!(
            "coordinates x, y\nmass matrix = [2, 0.5; 0.5, 1]\ncontrol a: x + 2*y = 3 using x, y with settling 0.5 and limit ({limit}, 1)
start x = 0, y = 0\nrun 1"
        );
        let (check, diagnostics) = checked(&text, &Overrides::default());
        check.unwrap_or_else(|| panic!("{diagnostics:#?}")).snapshot.found.control_force
    };
    let wide = force("20");
    for limit in ["3", "2.9", "2", "0.6"] {
        for (found, wanted) in force(limit).iter().zip(&wide) {
            assert!((found - wanted).abs() < 1e-12, "{limit}: {found} instead of {wanted}");
        }
    }
}

/// A controlled quantity does not jump with an event, and a limit below zero is invalid: both end the run with a message.
#[test]
fn events_that_no_force_can_follow_end_the_run() {
    let cases = [
        ("control a: x = r", "when t >= 1: r = 2", "Z607"),
        ("control a: x = r", "when t >= 1: x' = 2", "Z607"),
        ("control a: x = r with settling 0.5 and limit r", "when t >= 1: r = -1", "Z704"),
    ];
    for (control, when, code) in cases {
        let text =
            format!("coordinates x, y\nparameter r = 1\nmass x, y: 1\n{control}\n{when}\nstart x = 1, y = 0\nrun 2");
        let (run, diagnostics) = run_and_notes(&text, &[]);
        assert!(
            (run.state().t - 1.0).abs() < 1e-9 && (run.state().q[0] - 1.0).abs() < 1e-9,
            "{text}: {:?}",
            run.state()
        );
        let codes: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

/// Weights may be many, and may change with time: the least Σ Wᵢ uᵢ² with u₁ + … = r has uᵢ in the ratio of 1/Wᵢ.
#[test]
fn weights_of_many_motors_and_of_time() {
    let text =
        "coordinates x[1..4]\nmass x[1..4]: 1\ncontrol a: sum(i in 1..4: x[i]) = 1 using x[1..4] with settling 0.5
and weight (1, 2, 3, 4) and limit (9, 9, 9, 9)\nstart x[i in 1..4] = 0\nrun 1"
            .replace("0.5\nand", "0.5 and");
    let (check, diagnostics) = checked(&text, &Overrides::default());
    let force = check.unwrap_or_else(|| panic!("{diagnostics:#?}")).snapshot.found.control_force;
    for (k, u) in force.iter().enumerate() {
        assert!((u * (k + 1) as f64 - force[0]).abs() < 1e-12, "{force:?}");
    }
    let text = "coordinates x, y\nmass x, y: 1\ncontrol a: x + y = 2 using x, y with settling 1 and weight (1, 1 + t)
start x = 1, y = 0\nrun 2\noutput u = control(x)\noutput v = control(y)";
    let run = ran(text, 1e-9, None);
    for ((t, u), v) in column(&run, "t").iter().zip(column(&run, "u")).zip(column(&run, "v")) {
        assert!((u - (1.0 + t) * v).abs() < 1e-11, "{t}: {u} {v}");
    }
}

/// Explicit formulas give the results of decompositions: accelerations and the work of each control, together with
/// constraints, with forces on all coordinates, on some and on more than needed, in any weight.
#[test]
fn explicit_accelerations_follow_as_decompositions_do() {
    let head = "coordinates x, y, z\nmass x: 1\nmass y: 2\nkinetic (z' + 0.3*cos(x)*y')^2\nforce x: -x\nforce z: -0.2*z'\n\
                start x = 0.6, y = -0.7, z = 0.1, x' = 0.1\nrun 2\n";
    let rod = "constraint rod: x^2 + 2*y^2 = 1.34\nstart y' ~ 0.04\n";
    for (constraint, control) in [
        ("", "control a: x + y*z = sin(t) with settling 0.5"),
        ("", "control a: x + y*z = sin(t) using x with settling 0.5"),
        ("", "control a: x + y*z = sin(t) using x, z with settling 0.5 and weight [2, 1; 1, 3]"),
        ("", "control a: (x, z) = (sin(t), x*y) with settling 0.5\ncontrol b: y' = 0.2 with settling 0.3"),
        (rod, "control a: z + x*y = 0.3*t with settling 0.5"),
        (
            rod,
            "control a: z + x*y = 0.3*t using y, z with settling 0.5\ncontrol b: x - y = 1.2 + 0.05*t using x, y with settling 1",
        ),
        (rod, "control a: z + x*y = 0.3*t using x, y, z with settling 0.5 and weight (1, 1 + t, 3)"),
    ] {
        let text = format!("{head}{constraint}{control}\noutput wa = work(a)");
        let (check, diagnostics) = checked(&text, &Overrides::default());
        let mut check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
        assert!(check.system.compile_motion(&mut check.equations));
        let settings = Settings::default();
        let plan = IntegrationOptions { end: 2.0, tolerance: 1e-10, ..IntegrationOptions::default() };
        let mut other = checked(&text, &Overrides::default()).0.unwrap();
        let mut snapshot = Snapshot::new(&mut other.system);
        let mut motion = Motion::new(&mut check.system, &check.state, &plan, &settings).unwrap();
        while motion.advance() {
            let qddot = motion.acceleration().unwrap().to_vec();
            snapshot
                .take(&mut other.system, &motion.state(), &mut *route(RouteName::default(), &settings), &settings)
                .unwrap();
            let off = relative(&qddot, &snapshot.found.qddot);
            assert!(off < 1e-11, "{text}\nt = {}: {off:e}", motion.t());
        }
        assert_eq!(motion.outcome(), Some(&Outcome::End), "{text}");
        assert_eq!(motion.solver(), zwang_motion::Solver::Explicit, "{text}");
        // work integrated by explicit rates, power read off decompositions
        let run = ran(&format!("{text}\noutput pa = power(a)"), 1e-11, None);
        let [t, wa, pa] = ["t", "wa", "pa"].map(|name| column(&run, name));
        let mut sum = 0.0;
        for k in (2..t.len()).step_by(2) {
            sum += (t[k] - t[k - 2]) / 6.0 * (pa[k - 2] + 4.0 * pa[k - 1] + pa[k]);
            let off = (sum - wa[k]).abs();
            assert!(off < 1e-8 * (1.0 + sum.abs()), "{text}\nt = {}: {sum} and {}", t[k], wa[k]);
        }
    }
}
