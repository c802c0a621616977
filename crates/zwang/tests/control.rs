//! Controls: the force that makes a system follow, against closed forms and against the same force applied from outside.

mod common;

use common::{Random, checked, gallery, inspected, model_text, relative};
use zwang::simulate::{Run, RunWishes, simulate};
use zwang::system::System;
use zwang::{Coding, Overrides, read};
use zwang_motion::{Dynamics, Given, Motion, MotionError, Outcome, Plan, RouteName, Settings, Snapshot, State, route};

fn ran(text: &str, tolerance: f64, to: Option<f64>) -> Run {
    let (check, mut diagnostics) = checked(text, &Overrides::default());
    let check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    let wishes = RunWishes { to, tolerance: Some(tolerance), samples: true, ..RunWishes::default() };
    simulate(check, &wishes, &mut diagnostics, &mut |_| true).unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"))
}

fn column<'r>(run: &'r Run, name: &str) -> &'r [f64] {
    &run.samples.columns.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}")).values
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
    assert_eq!((run.rank, run.audit.residuals.len()), (0, 0));
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
    assert!(run.audit.energy.drift < 1e-10, "{:e}", run.audit.energy.drift);
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
    assert!(run.audit.energy.drift < 1e-8, "{:e}", run.audit.energy.drift);
}

/// Beside a rod: the force of the motor stands apart from that of the rod, which keeps the particle on its circle.
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
    assert_eq!((run.rank, column(&run, "lambda_rod").len()), (1, t.len()));
    assert!(run.audit.energy.drift < 1e-9);
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
fn a_bounded_force_saturates_and_tells_when_it_no_longer_does() {
    let text = "coordinates x\nmass x: 1\ncontrol come: x = 1 with settling 1 and limit 0.5\nstart x = 0\nrun 3";
    let run = ran(text, 1e-11, None);
    let leaves = 6f64.sqrt() - 2.0;
    let saturations: Vec<f64> = run.events.iter().filter(|e| e.kind == "saturation").map(|e| e.t).collect();
    assert!(saturations.len() == 2 && saturations[0] == 0.0, "{:?}", run.events);
    assert!((saturations[1] - leaves).abs() < 1e-10, "{:?}", run.events);
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
        ("control c: x = 1 + t\nstart x' = 0", "Z201", &["the start velocities miss control `c`", "x' = 1"]),
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
        let (found, said) = message(&format!("{head}{line}"));
        assert_eq!(found, code, "{line}: {said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{line}: no {part:?} in {said}"));
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
    let (check, mut diagnostics) = checked(&text, &Overrides::default());
    let run = simulate(check.unwrap(), &RunWishes::default(), &mut diagnostics, &mut |_| true);
    assert!(run.is_some_and(|run| run.state.t < 12.0 && run.ended.as_str() != "finished"));
    assert!(diagnostics.iter().any(|d| d.code == "Z703" && d.message.contains("`trace`")), "{diagnostics:#?}");
}

/// A system without controls on which the force that another one reports acts from outside.
struct Driven {
    plain: System,
    steered: System,
    snapshot: Snapshot,
}

impl Dynamics for Driven {
    fn n_coordinates(&self) -> usize {
        self.plain.n_coordinates()
    }
    fn n_rows(&self) -> usize {
        self.plain.n_rows()
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
    fn has_nonideal(&self) -> bool {
        self.plain.has_nonideal()
    }
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], out: &mut [f64]) -> Result<(), MotionError> {
        self.plain.fill_nonideal(state, lambda, out)
    }
    fn n_position_rows(&self) -> usize {
        self.plain.n_position_rows()
    }
    fn n_velocity_rows(&self) -> usize {
        self.plain.n_velocity_rows()
    }
    fn fill_positions(&mut self, state: &State, phi: &mut [f64]) -> Result<(), MotionError> {
        self.plain.fill_positions(state, phi)
    }
    fn fill_velocities(&mut self, state: &State, psi: &mut [f64]) -> Result<(), MotionError> {
        self.plain.fill_velocities(state, psi)
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
    let model = read(&without_controls(text), &Overrides::default()).model.unwrap_or_else(|| panic!("{name}"));
    let mut equations = zwang::equations::Equations::derive(model);
    let mut plain = System::compile(&mut equations, false, Coding::default()).unwrap();
    assert!(plain.prepare_motion(&mut equations) && check.system.prepare_motion(&mut check.equations));
    let snapshot = Snapshot::new(&check.system);
    let mut driven = Driven { plain, steered: check.system, snapshot };
    let plan = Plan { end: to, tolerance: 1e-11, ..Plan::default() };
    let mut motion = Motion::new(&mut driven, &start, &plan, &Settings::default()).unwrap();
    while motion.advance() {}
    assert_eq!(motion.outcome(), Some(&Outcome::End), "{name}");
    (run.state, motion.state())
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

/// Random masses, constraints and controls: what is asked is met, constraints hold, and the motion is that of all rows together.
#[test]
fn control_beside_constraints_moves_as_all_rows_together_would() {
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
