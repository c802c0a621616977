//! The Lagrangian's side: energy and momenta as `check` tells them, against motions and against closed forms.

use crate::common::{NO_SAMPLES, Random, checked, derived, gallery, inspected, model_text, run_as};
use zwang::analysis::LagrangianSide;
use zwang::{Check, Overrides, RunOptions, legendre_transform};
use zwang_motion::State;

fn looked_at(text: &str) -> Check {
    let (check, diagnostics) = checked(text, &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    check.analyse_lagrangian(&Default::default());
    check
}

fn side(text: &str) -> LagrangianSide {
    looked_at(text).lagrangian.unwrap()
}

/// Asserts the verdict on the energy, and that each word of `wanted` stands among the reasons.
fn energy(text: &str, conserved: Option<bool>, wanted: &[&str]) {
    let verdict = side(text).energy;
    assert_eq!(verdict.conserved, conserved, "{text}\n{verdict:?}");
    let why = verdict.why.join("; ");
    for word in wanted {
        assert!(why.contains(word), "`{word}` is missing: {why}");
    }
    assert_eq!(verdict.why.is_empty(), conserved == Some(true), "{why}");
}

fn momenta(text: &str) -> Vec<String> {
    side(text).conserved.into_iter().map(|c| c.name).collect()
}

/// How far models of the gallery are moved: past a few of their own times, and none takes long.
const A_WHILE: f64 = 1.0;

/// Over the whole gallery: an energy that is reported as conserved stays along a run; otherwise a cause is named.
#[test]
fn the_verdict_on_the_energy_agrees_with_the_motion() {
    let (mut n_kept, mut n_changed) = (0, 0);
    for (name, text) in gallery() {
        let check = looked_at(&text);
        let verdict = check.lagrangian.as_ref().unwrap().energy.clone();
        if verdict.conserved != Some(true) {
            assert!(!verdict.why.is_empty(), "{name}: no reason");
        }
        // contacts and friction take energy only where they act
        let acts_at_times = !check.equations.model.only_at_times().is_empty();
        if acts_at_times || check.equations.model.later.iter().any(|l| l.changes_motion) {
            assert_eq!(verdict.conserved, None, "{name}: {verdict:?}");
            continue;
        }
        assert!(verdict.conserved.is_some(), "{name}: {verdict:?}");
        // fixed steps keep the energy only on average
        let method = Some(zwang_motion::Method::Auto);
        let options = RunOptions { tolerance: Some(1e-10), method, ..RunOptions::to(A_WHILE) };
        let run = run_as(&text, &Overrides::default(), &options).0.unwrap_or_else(|| panic!("{name} does not run"));
        let column = |name: &str| run.samples().column(name).unwrap().values.clone();
        let energies = column("E");
        let size = energies.iter().fold(0.0_f64, |m, e| m.max((e - run.audit().energy.start).abs()));
        // what is held still has the energy of its rounding
        let scale = column("T").iter().fold(run.audit().energy.start.abs(), |m, t| m.max(t.abs())).max(1e-24);
        match verdict.conserved {
            Some(true) => {
                assert!(size <= 1e-6 * scale, "{name}: the energy changes by {size:e} of {scale:e}");
                n_kept += 1;
            }
            _ => n_changed += 1,
        }
    }
    assert!(n_kept > 15 && n_changed > 5, "{n_kept} kept, {n_changed} changed");
}

/// Over the whole gallery: quantities reported as conserved stay along a run.
#[test]
fn conserved_momenta_stay_along_the_motion() {
    let mut n_met = 0;
    for (name, text) in gallery() {
        let mut check = looked_at(&text);
        let list = check.lagrangian.clone().unwrap().conserved;
        if list.is_empty() {
            continue;
        }
        let names: Vec<String> = check.equations.model.coordinates.iter().map(|c| c.name.clone()).collect();
        let start = check.state.clone();
        let before = check.system.energies(&start).unwrap().momentum;
        let method = Some(zwang_motion::Method::Auto);
        let options = RunOptions { tolerance: Some(1e-10), method, keep: NO_SAMPLES, ..RunOptions::to(A_WHILE) };
        let run = run_as(&text, &Overrides::default(), &options).0.unwrap();
        let after = run.check().system.clone().energies(run.state()).unwrap().momentum;
        for one in list {
            let along = |p: &[f64]| -> f64 {
                one.terms.iter().map(|(n, x)| x * p[names.iter().position(|m| m == n).unwrap()]).sum()
            };
            let scale = before.iter().chain(&after).fold(0.0_f64, |m, p| m.max(p.abs())).max(1e-300);
            assert!((along(&before) - one.value.unwrap()).abs() <= 1e-12 * scale, "{name}: {}", one.name);
            let change = (along(&after) - along(&before)).abs();
            assert!(change <= 1e-7 * scale, "{name}: {} changes by {change:e} of {scale:e}", one.name);
            n_met += 1;
        }
    }
    assert!(n_met >= 5, "only {n_met} momenta");
}

const POLAR: &str = "coordinates r, φ\nparameter m = 2, k = 3\n\
    lagrangian m/2*(r'^2 + r^2*φ'^2) + k/r\nstart r = 1, φ = 0, r' = 0.1, φ' = 1.2\n";

#[test]
fn a_central_force_keeps_energy_and_angular_momentum() {
    let side = side(POLAR);
    assert_eq!(side.energy.conserved, Some(true));
    assert_eq!(side.cyclic.len(), 1);
    assert_eq!((side.cyclic[0].coordinate.as_str(), side.cyclic[0].conserved), ("φ", Some(true)));
    assert_eq!(side.conserved.len(), 1);
    // m r² φ' at the start
    assert!((side.conserved[0].value.unwrap() - 2.4).abs() < 1e-15);
}

#[test]
fn a_constraint_that_holds_a_cyclic_coordinate_is_named() {
    let side = side(&format!("{POLAR}constraint groove: φ = r - 1\n").replace("φ' = 1.2", "φ' = 0.1"));
    assert_eq!(side.cyclic[0].conserved, Some(false));
    assert_eq!(side.cyclic[0].spoiled_by, ["constraint `groove`"]);
    assert!(side.conserved.is_empty() && side.energy.conserved == Some(true));
}

/// Particles joined by rods, with masses that differ: the sums over each direction stay.
#[test]
fn rods_between_particles_keep_the_sums_of_momenta() {
    let text = "coordinates x1, y1, x2, y2, x3, y3\n\
        particle A at (x1, y1) with mass 1\nparticle B at (x2, y2) with mass 2\nparticle C at (x3, y3) with mass 3\n\
        constraint first: |B - A|^2 = 1\nconstraint second: |C - B|^2 = 1\n\
        start x1 = 1, x2 = 2, x3 = 3, y1 = 0, y2 = 0, y3 = 0, x1' = 0.3, x2' = 0.3, x3' = 0.3, y1' = 0.2, y2' = 0, y3' = 1\n";
    assert_eq!(momenta(text), ["p_x1 + p_x2 + p_x3", "p_y1 + p_y2 + p_y3"]);
    // gravity along y leaves the sum over x
    let falling = format!("{text}gravity (0, -9.81)\n");
    assert_eq!(momenta(&falling), ["p_x1 + p_x2 + p_x3"]);
    // scaled constraints, of whatever size, give the same verdict
    for factor in ["1e6", "1e-6"] {
        let scaled = falling.replace("|B - A|^2 = 1", &format!("{factor}*|B - A|^2 = {factor}"));
        assert_eq!(momenta(&scaled), ["p_x1 + p_x2 + p_x3"]);
    }
}

/// Two wheels in gear, r₁φ₁ + r₂φ₂ = 0: what turns without the teeth pushing is r₂ p₁ − r₁ p₂.
#[test]
fn gears_keep_the_momentum_that_their_teeth_do_not_touch() {
    let side = side(
        "coordinates a, b\nparameter r1 = 2, r2 = 3\nmass a: 5\nmass b: 7\nconstraint teeth: r1*a + r2*b = 0\n\
         start a = 0, b = 0, a' = 3, b' = -2\n",
    );
    assert_eq!(side.conserved.len(), 1);
    let [(_, x), (_, y)] = &side.conserved[0].terms[..] else { panic!("{:?}", side.conserved) };
    assert!((x * 2.0 + y * 3.0).abs() < 1e-12 * x.abs(), "{x} {y}");
    assert!(side.cyclic.iter().all(|c| c.spoiled_by == ["constraint `teeth`"]));
}

#[test]
fn causes_of_energy_change_are_named() {
    let mass = "coordinates x, y\nmass x, y: 2\nstart x = 0.4, y = 0.2, x' = 1, y' = 0.5\n";
    let with = |line: &str| format!("{mass}{line}\n");
    energy(mass, Some(true), &[]);
    energy(&with("force x: -0.3*x'"), Some(false), &["the force on `x`"]);
    // zero at t = 0, where the start is
    energy(&with("force x: sin(t)"), Some(false), &["the force on `x`"]);
    energy(&with("potential x^2*cos(t)"), Some(false), &["depends on time"]);
    energy(&with("dissipation x'^2/2"), Some(false), &["dissipation"]);
    // a guide that turns: x = y tan(t + …)
    let guided =
        "coordinates x, y\nmass x, y: 2\nconstraint guide: x*cos(t) = y*sin(t)\nstart x = 0, y = 1, x' ~ 1, y' ~ 0\n";
    energy(guided, Some(false), &["constraint `guide`", "moves with time"]);
    energy(
        "coordinates x, y\nmass x, y: 2\npotential y\nconstraint pace: x'^2 + y'^2 = 1\nstart x = 0, y = 0, x' = 0.6, y' = 0.8",
        Some(false),
        &["constraint `pace`", "not linear"],
    );
    energy(&model_text("nonideal_particle"), Some(false), &["the force at `P`", "nonideal", "`blade`"]);
}

#[test]
fn forces_without_work_are_recognized() {
    let mass = "coordinates x, y\nparameter c = 0\nmass x, y: 2\nstart x = 0.4, y = 0, x' = 1, y' = 0\n";
    let with = |line: &str| format!("{mass}{line}\n");
    // across the velocity, as a magnetic field
    energy(&with("force x: 3*y'\nforce y: -3*x'"), Some(true), &[]);
    // across all that is allowed
    energy(&with("force y: 7*x\nconstraint floor: y = 0"), Some(true), &[]);
    energy(&with("force x: -c*x'"), Some(true), &[]);
    // homogeneous of degree two: ψ_v·v = 2ψ = 0
    energy(
        "coordinates x, y, z\nmass x, y, z: 1\npotential x*y\nconstraint cone: x'^2 + y'^2 = z'^2\n\
        start x = 0.4, y = 0.1, z = 0, x' = 0.6, y' = 0.8, z' = 1",
        Some(true),
        &[],
    );
    // pushed by nothing, at constant speed
    energy("coordinates x, y\nmass x, y: 1\npotential y^2\nconstraint c: x = 3*t\nstart y = 1\n", Some(true), &[]);
    // ∂L/∂t = x − y vanishes on the constraint
    energy(
        "coordinates x, y\nmass x, y: 1\nlagrangian t*(x - y)\nconstraint c: x = y\nstart x = 0.3, y = 0.3, x' = 1, y' = 1\n",
        Some(true),
        &[],
    );
    // the areal rate of Kepler's motion, imposed: its multiplier is zero
    energy(&model_text("kepler_with_integral"), Some(true), &[]);
}

/// A force that acts only far from the start must not be taken for none.
#[test]
fn a_force_that_waits_leaves_the_verdict_open() {
    let text = "coordinates x\nmass x: 1\nforce x: if x > 50 then -x' else 0\nstart x = 0, x' = 1\n";
    energy(text, None, &["the force on `x`", "no identity was found"]);
    let text = "coordinates x\nmass x: 1\npotential if x > 50 then x - 50 else 0\nstart x = 0, x' = 1\n";
    let found = side(text);
    assert!(found.conserved.is_empty(), "{:?}", found.conserved);
    let text = "coordinates x\nparameter c = 0\nmass x: 1\nforce x: -c*x'\nwhen t >= 1: c = 2\nstart x = 0, x' = 1\n";
    energy(text, None, &["when"]);
}

/// Nothing acts near the start, but behind the switch a force does: no momentum is reported as conserved.
#[test]
fn momenta_are_not_promised_beyond_a_switch() {
    let masses = "coordinates x, y, z\nmass x, y, z: 1\n";
    let floor = "constraint c: y = 0\nstart x = 0, y = 0, z = 0, x' = 2, z' = 1\n";
    // only z, which no formula contains
    for line in ["potential max(x - 3, 0)^2", "force x: max(x - 1, 0)", "potential sign(x - 3)"] {
        assert_eq!(momenta(&format!("{masses}{line}\n{floor}")), ["p_z"], "{line}");
    }
    let wedge = "constraint m: z' = max(x - 5, 0)*y'\nstart x = 0, y = 0, z = 0, x' = 2, y' = 1, z' = 0\n";
    let found = side(&format!("{masses}{wedge}"));
    assert!(found.conserved.iter().all(|c| c.name != "p_y" && c.name != "p_z"), "{:?}", found.conserved);
    assert!(found.skipped.is_some_and(|s| s.contains("switches")));
    let ramp = "constraint c: z = if x > 2 then 3*(x - 2)^3*y else 0\nstart x = 0, y = 1, z = 0, x' = 1, y' = 0.2\n";
    assert!(momenta(&format!("{masses}{ramp}")).is_empty());
}

/// A coefficient that is zero for the parameters constrains nothing, and then the coordinate is reported once.
#[test]
fn a_conserved_momentum_is_not_also_reported_as_changing() {
    let text = "coordinates x, y\nparameter k = 0\nmass x, y: 1\nconstraint c: y = k*x\n\
                start x = 1, y = 0, x' = 1, y' = 0\n";
    let found = side(text);
    assert!(found.conserved.iter().any(|c| c.name == "p_x"), "{:?}", found.conserved);
    let x = found.cyclic.iter().find(|c| c.coordinate == "x").unwrap();
    assert_eq!((x.conserved, x.spoiled_by.len()), (Some(true), 0));
    // an event gives it a value later
    let text = format!("{text}when t >= 1: k = 2\n");
    assert!(momenta(&text).is_empty());
    energy(&text, None, &["when t >= 1"]);
}

/// Along y = |x| the velocity has to jump at x = 0, and what becomes of the energy is not a question of powers.
#[test]
fn corners_leave_the_energy_open() {
    let masses = "coordinates x, y, z\nmass x, y, z: 1\n";
    for (row, start) in [
        ("y = abs(x)", "x = -1, y = 1, z = 0, x' = 1, y' = -1"),
        ("y = max(x, 0)", "x = -1, y = 0, z = 0, x' = 1"),
        ("z' = sign(x)*y'", "x = 1, y = 0, z = 1, x' = -1, y' = 1, z' = 1"),
        ("x = if t > 1 then 1 else 0", "x = 0, y = 0, z = 0"),
    ] {
        energy(&format!("{masses}constraint c: {row}\nstart {start}\n"), None, &["`c` has a corner"]);
    }
    // continuous coefficients, and a potential whose two formulas meet
    energy(&format!("{masses}constraint c: z' = max(x, 0)*y'\nstart x = -1, y = 0, z = 0, x' = 1\n"), Some(true), &[]);
    let wall = |height: &str| {
        format!("{masses}potential if x > 2 then 5*(x - 2)^2 + {height} else 0\nstart x = 0, y = 0, z = 0, x' = 1\n")
    };
    energy(&wall("0"), Some(true), &[]);
    energy(&wall("1"), None, &["may jump"]);
}

/// T depends on |x'| alone: turning the velocity around costs nothing, another speed does.
#[test]
fn a_velocity_that_is_turned_around_keeps_the_energy() {
    let text = |value: &str| {
        format!("coordinates x\nmass x: 2\npotential x^2\nwhen x >= 1: x' = {value}\nstart x = 0, x' = 3\n")
    };
    energy(&text("-x'"), Some(true), &[]);
    energy(&text("-0.9*x'"), Some(false), &["when x >= 1"]);
}

/// x = t needs no force: λ is rounding, however the row is written, and rounding does no work. On the circle x = t,
/// y = √(1 − t²) there is a force, which is zero for a moment where it starts.
#[test]
fn rounding_does_no_work() {
    let masses = "coordinates x, y\nmass x, y: 1\n";
    let twice = |factor: &str| {
        format!("{masses}constraint c: x = t\nconstraint d: x*{factor} = t*{factor}\nstart x = 0, y = 1\n")
    };
    for factor in ["1", "1e6", "1e-6"] {
        energy(&twice(factor), Some(true), &[]);
    }
    for factor in ["exp(y)", "1e-6*exp(y)", "1e6*exp(y)"] {
        assert_ne!(side(&twice(factor)).energy.conserved, Some(false), "{factor}");
    }
    for run in ["", "run 3\n"] {
        let circle = "constraint v: x = t\nconstraint l: x^2 + y^2 = 1\nstart x = 0, y = 1\n";
        assert_ne!(side(&format!("{masses}{circle}{run}")).energy.conserved, Some(true), "{run}");
    }
}

/// The verdict does not depend on the scale of a constraint or on the unit of a coordinate.
#[test]
fn scales_do_not_change_the_verdict() {
    for factor in ["1", "1e6", "1e-6"] {
        let text = format!(
            "coordinates x, y\nmass x, y: 2\nforce y: 5\nconstraint flat: {factor}*(y - x^2) = 0\n\
             start x = 0.3, y = 0.09, x' = 1, y' = 0.6\n"
        );
        energy(&text, Some(false), &["the force on `y`"]);
        let text = text.replace("force y: 5", "force x: -2*x*3\nforce y: 3");
        energy(&text, Some(true), &[]);
    }
    // a light mass pushed, a heavy one carried along, far apart in size
    energy(
        "coordinates x, y\nmass x: 1e-200\nmass y: 1e200\nforce x: 1e10\nconstraint c: x = y\nstart x = 0, y = 0\n",
        Some(false),
        &["the force on `x`"],
    );
    // a motor on a small mass, with large forces on others
    energy(
        "coordinates x, y\nmass x: 1\nmass y: 1e24\npotential 1e24*y^2 + x\nconstraint motor: x = sin(t)\nstart y = 1\n",
        Some(false),
        &["constraint `motor`"],
    );
    // a weak drag among strong forces that cancel; one that rounding hides must not be overlooked for certain
    let drag = |c: &str| {
        format!(
            "coordinates x, y\nmass x, y: 1\nforce x: 1e6*y'\nforce y: -1e6*x'\nforce x: -{c}*x'\nstart x = 0, y = 0, x' = 1, y' = 0.7\n"
        )
    };
    energy(&drag("1e-3"), Some(false), &["the force on `x`"]);
    energy(&drag("1e-6"), None, &["too little to decide"]);
    energy(&drag("1e-12"), None, &["too little to decide"]);
    // where the strong ones do nothing, it is seen
    energy(&drag("1e-12").replace("y' = 0.7", "y' = 0"), Some(false), &["the force on `x`"]);
    for length in ["1e6", "1e-6"] {
        // x in another unit of length
        let text = format!(
            "coordinates x, y\nparameter u = {length}\nlagrangian (x'/u)^2 + y'^2 - y\nforce x: -1/u^2*x'\n\
             start x = u, y = 0, x' = u, y' = 0\n"
        );
        energy(&text, Some(false), &["the force on `x`"]);
    }
}

#[test]
fn directions_without_mass_are_named() {
    let side = side(&model_text("massless_link"));
    assert!(!side.degenerate.is_empty());
    let text =
        "coordinates x, y\nlagrangian (x' + 2*y')^2/2\nconstraint c: y = x\nstart x = 0, y = 0, x' = 1, y' = 1\n";
    let side = self::side(text);
    assert_eq!(side.degenerate.len(), 1);
    // (x' + 2y') vanishes along (2, -1)
    let direction: Vec<f64> = side.degenerate[0].direction.iter().map(|(_, x)| *x).collect();
    assert_eq!(direction, [2.0, -1.0]);
    assert_eq!(side.degenerate[0].everywhere, Some(true));
    let text =
        "coordinates x, y\nlagrangian x'^2/2 + x^2*y'^2/2\nconstraint c: y = x\nstart x = 0, y = 0, x' = 1, y' = 1\n";
    let side = self::side(text);
    assert_eq!(side.degenerate[0].direction, [("y".to_string(), 1.0)]);
    assert_eq!(side.degenerate[0].everywhere, Some(false));
}

/// A particle in a turning frame and a magnetic field: momenta are not proportional to velocities, Ω_L has a part dx∧dy.
const GYROSCOPIC: &str = "coordinates x, y\nparameter m = 2, w = 0.7\n\
    lagrangian m/2*((x' - w*y)^2 + (y' + w*x)^2) + m*x*y*x' - x^2\nstart x = 0.3, y = -0.4, x' = 0.9, y' = 0.2\n";

/// H(q, p(q, v)) = E(q, v), and v(q, p(q, v)) = v.
#[test]
fn the_legendre_transform_and_its_way_back_agree() {
    for text in [POLAR, GYROSCOPIC, &model_text("double_pendulum_angles")] {
        let mut equations = derived(text, &Overrides::default()).equations;
        let transform = legendre_transform(&mut equations);
        let model = &mut equations.model;
        let known = transform.symbols.iter().copied().zip(transform.momentum.iter().copied()).collect();
        let mut wanted = vec![transform.hamiltonian.unwrap()];
        wanted.extend(transform.velocities.unwrap());
        let mut exprs = model.graph.substitute(&wanted, &known);
        exprs.push(equations.energy);
        exprs.extend(model.coordinates.iter().map(|c| c.qdot));
        let program = zwang_expr::Program::new(&model.graph, &model.state_symbols(), &exprs).unwrap();
        let n = model.coordinates.len();
        let mut random = Random(3);
        for _ in 0..10 {
            let mut draw = |shift: f64| (0..n).map(|_| shift + random.next()).collect::<Vec<f64>>();
            let state = State { t: 0.3, q: draw(1.5), qdot: draw(0.0) };
            let mut values = vec![0.0; exprs.len()];
            program.run(&model.state_values(&state), &mut program.workspace(), &mut values);
            let (found, wanted) = values.split_at(n + 1);
            for (x, y) in found.iter().zip(wanted) {
                assert!((x - y).abs() < 1e-11 * (1.0 + y.abs()), "{x} instead of {y}");
            }
        }
    }
}

/// Ω_L is skew, and i_X Ω_L = dE for the motion X = (q̇, q̈) of a system without constraints and forces: Y05 4.1.
#[test]
fn the_two_form_turns_the_motion_into_the_slope_of_the_energy() {
    for text in [POLAR, GYROSCOPIC] {
        let snapshot = inspected(text, &Overrides::default()).check.snapshot;
        let n = snapshot.state.q.len();
        let legendre = snapshot.legendre.as_ref().unwrap();
        let omega = zwang::two_form(legendre, &snapshot.given.mass_matrix.to_dense(), n);
        let x: Vec<f64> = snapshot.state.qdot.iter().chain(&snapshot.found.qddot).copied().collect();
        let slope: Vec<f64> = legendre.energy_by_q.iter().chain(&legendre.energy_by_qdot).copied().collect();
        for j in 0..2 * n {
            let contracted: f64 = (0..2 * n).map(|i| x[i] * omega[i * 2 * n + j]).sum();
            assert!((contracted - slope[j]).abs() < 1e-12 * (1.0 + slope[j].abs()), "{contracted} {}", slope[j]);
            assert!((0..2 * n).all(|i| omega[i * 2 * n + j] == -omega[j * 2 * n + i]));
        }
    }
}

/// A led row does work against forces through other rows, though all forces on its own coordinate cancel.
#[test]
fn a_led_row_does_work_against_forces_through_other_rows() {
    // a rope over a pulley, led at constant speed, lifts a weight
    let lift =
        "coordinates x, y\nmass x, y: 1\npotential 9.81*y\nconstraint rope: x + y = 0\nconstraint motor: x = -0.5*t
start x = 0, y = 0\nrun 1";
    energy(lift, Some(false), &["`motor`"]);
    // the end of a rod led at constant speed: λ ≠ 0 because the rod turns
    for (rod, pull) in [("1", "1"), ("-1e3", "1e-6"), ("1e6", "1e6")] {
        let text = format!(
            "coordinates x, y\nmass x, y: 1\nconstraint rod: {rod}*(x^2 + y^2) = {rod}\nconstraint pull: {pull}*x = {pull}*(0.5 + t)
start x = 0.5, y ~ 1\nrun 0.2"
        );
        energy(&text, Some(false), &["`pull`"]);
    }
}

/// At the tip of a cone every row vanishes; no sum of momenta is conserved on it.
#[test]
fn no_momentum_is_made_up_where_rows_vanish() {
    for row in ["x^2 + y^2 = z^2", "x^2 + y^2 = 2*z^2", "x*y' - y*x' + z*z' = 0"] {
        let text = format!("coordinates x, y, z\nmass x, y, z: 1\nconstraint c: {row}\nstart x = 0, y = 0, z = 0");
        assert!(momenta(&text).is_empty(), "{row}: {:?}", momenta(&text));
    }
}

/// k changes, but on the constraint the term with k is zero, and its force is taken up by the constraint.
#[test]
fn an_event_that_changes_a_vanishing_term_is_no_cause_of_energy_change() {
    let model = |term: &str| {
        format!(
            "coordinates x, y\nparameter k = 1\nmass x, y: 1\npotential k*{term}\nconstraint c: x = 1 - y
when t >= 0.5: k = 2\nstart x = 0, y = 1, x' = 1\nrun 1"
        )
    };
    let vanishing = side(&model("(x + y - 1)^2")).energy;
    assert_ne!(vanishing.conserved, Some(false), "{vanishing:?}");
    energy(&model("x^2"), Some(false), &["k"]);
}
