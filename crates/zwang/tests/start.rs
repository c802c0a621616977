//! Starts by formulas, and velocities that a start leaves out.

use zwang::{Check, RunOptions, load};

fn started(text: &str) -> std::sync::Arc<Check> {
    load(text).and_then(|system| system.check()).unwrap_or_else(|error| panic!("{error}"))
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (x, y) in found.iter().zip(wanted) {
        assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{found:?} and {wanted:?}");
    }
}

#[test]
fn formulas_of_positions_and_velocities_give_the_state() {
    let check = started(
        "coordinates x, y\nmass x, y: 1\nlet s = x + y\nlet v = 2*x' + y'
start s = 3, x - y = 1, v = 1, y' - x' = 4",
    );
    close(&check.state.q, &[2.0, 1.0]);
    close(&check.state.qdot, &[-1.0, 3.0]);
    // a product with a position is linear in the velocities as well
    let polar = started("coordinates r, φ\nmass r: 1\nmass φ: 1\nstart r = 2, φ = 0, r' = 0, r*φ' = 3");
    close(&polar.state.qdot, &[0.0, 1.5]);
    let alias = started("coordinates x\nmass x: 1\nlet v = x'\nstart x = 0, v = 1");
    close(&alias.state.qdot, &[1.0]);
}

/// ė = ½ e ∘ ω: with e = (1, 0, 0, 0) and ω = (0, 0, 5) it is (0, 0, 0, 5/2).
#[test]
fn an_angular_velocity_starts_a_quaternion() {
    let check = started(
        "coordinates x, y, z, e0, e1, e2, e3
body B at (x, y, z) turned by quaternion e0, e1, e2, e3 with mass 1 and inertia (1, 2, 3)
start x = 0, y = 0, z = 0, e0 = 1, e1 = 0, e2 = 0, e3 = 0, B.omega = (0, 0, 5)",
    );
    close(&check.state.qdot[3..], &[0.0, 0.0, 0.0, 2.5]);
    // about successive axes the velocities of the angles follow
    let top = started(
        "coordinates a, b, c\nbody B at (0, 0, 0) turned z by a, x by b, z by c with mass 1 and inertia (1, 1, 2)
start a = 0, b = 0.5, c = 0, B.omega = (0.3, 0, 2)",
    );
    close(&top.state.qdot, &[2.0, 0.3, 0.0]);
}

/// Of the velocities with x' + y' = 3 those with the least kinetic energy: m x' is the same for both.
#[test]
fn velocities_that_a_formula_leaves_open_are_the_smallest_by_mass() {
    let check = started("coordinates x, y\nmass x: 1\nmass y: 2\nstart x = 0, y = 0, x' + y' = 3");
    close(&check.state.qdot, &[2.0, 1.0]);
}

/// A bead on a turning helix: R² (z'/h + Ω)² + z'² is least at z' = −R² Ω h/(R² + h²).
#[test]
fn a_velocity_left_out_that_is_not_zero_is_told() {
    let text = "coordinates x, y, z\nparameter R = 0.3 m, h = 0.2 m, Ω = 2 1/s\nmass x, y, z: 1 kg
constraint wire: (x, y) = (R*cos(z/h + Ω*t), R*sin(z/h + Ω*t))\nstart z = 0.9 m";
    let check = started(text);
    let wanted = -0.3_f64.powi(2) * 2.0 * 0.2 / (0.3_f64.powi(2) + 0.2_f64.powi(2));
    assert!((check.state.qdot[2] - wanted).abs() < 1e-9, "{:?}", check.state.qdot);
    let note = check.notes.iter().find(|d| d.code == "Z206").expect("it is told");
    assert!(note.message.contains("`z'`") && note.message.contains("m/s"), "{}", note.message);
    // what is given, or is zero, is not told
    let told = |text: &str| started(text).notes.iter().any(|d| d.code == "Z206");
    assert!(!told("coordinates x, y\nmass x, y: 1\nconstraint c: y = x/2 + t\nstart x = 0, x' = 0, y' = 1"));
    assert!(!told("coordinates x, y\nmass x, y: 1\nconstraint c: y = x/2\nstart x = 0"));
}

/// y'³ = 1 + 7 has one real solution; y'² = 1 + 8 has two.
#[test]
fn the_only_velocity_is_taken() {
    let of = |power: u32, speed: f64| {
        load(&format!(
            "coordinates x, y\nmass x, y: 1\nconstraint c: y'^{power} = 1 + x'\nstart x = 0, y = 0, x' = {speed}"
        ))
        .and_then(|system| system.check())
    };
    close(&of(3, 7.0).unwrap_or_else(|error| panic!("{error}")).state.qdot, &[7.0, 2.0]);
    assert!(of(2, 8.0).is_err());
}

/// A run of length zero is its start, with one row.
#[test]
fn a_run_may_have_length_zero() {
    for text in [
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1\nstart x = 1, y = 0, y' = 2
run 5\noutput tension = -2*lambda(rod)",
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\ncontact floor: y >= 0 with friction 0.3\nstart x = 0, y = 0, x' = 2
run 5\noutput tension = y + 4",
    ] {
        let system = load(text).unwrap();
        let run = system.run(&RunOptions::to(0.0)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((run.end().as_str(), run.state().t), ("finished", 0.0));
        let check = system.check().unwrap();
        close(&run.state().q, &check.state.q);
        close(&run.state().qdot, &check.state.qdot);
        assert_eq!(run.samples().n_rows(), 1);
        close(&run.column("x").unwrap().values, &check.state.q[..1]);
        // the rod carries v²/r along it
        close(&[run.outputs()[0].values.expect("it is known").last], &[4.0]);
    }
}
