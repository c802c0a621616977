//! The motion near a state: equilibria, matrices and eigenvalues known in closed form or from print.

mod common;

use common::{checked, model_text};
use zwang::linearize::{Linearized, Place, Stability, equilibria, linearize};
use zwang::{Check, Overrides};
use zwang_motion::Settings;

fn prepared(text: &str, overrides: &Overrides) -> Check {
    let (check, diagnostics) = checked(text, overrides);
    let mut check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    assert!(check.system.prepare_motion(&mut check.equations));
    check
}

fn at_start(text: &str, overrides: &Overrides) -> Linearized {
    let mut check = prepared(text, overrides);
    let state = check.state.clone();
    linearize(&mut check, &state, &Settings::default()).expect("the state has derivatives")
}

fn near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance * (1.0 + wanted.abs()), "{found} and {wanted}");
}

/// Every wanted eigenvalue is there, as often as it is wanted; real and imaginary parts.
fn has_eigenvalues(found: &Linearized, wanted: &[(f64, f64)], tolerance: f64) {
    let mut left: Vec<(f64, f64)> = found.modes.iter().map(|m| m.value).collect();
    for &(re, im) in wanted {
        let at = left.iter().position(|(x, y)| (x - re).hypot(y - im) <= tolerance * (1.0 + re.hypot(im)));
        left.remove(at.unwrap_or_else(|| panic!("{re} + {im} i is not among {left:?}")));
    }
}

const PENDULUM: &str =
    "coordinates x, y\nparameter l = 2, g = 9.81, c = 0.4\nmass x, y: 3\nforce y: -3*g\nforce x: -c*x'
force y: -c*y'\nconstraint rod: x^2 + y^2 = l^2\nstart x = l*sin(0.3), y = -l*cos(0.3)";

/// M x'' + c x' + (m g/l) x = 0 for the horizontal displacement at the bottom; above, the sign of K turns.
#[test]
fn a_pendulum_rests_below_and_falls_from_above() {
    let mut check = prepared(PENDULUM, &Overrides::default());
    let found = equilibria(&mut check, &Settings::default());
    assert_eq!(found.len(), 2, "{found:?}");
    for (place, sign) in found.iter().zip([-1.0, 1.0]) {
        near(place.state.q[0], 0.0, 1e-9);
        near(place.state.q[1], 2.0 * sign, 1e-12);
        assert_eq!((&place.positions[..], &place.velocities[..]), (&[0][..], &[0][..]));
        near(place.mass[0], 3.0, 1e-12);
        near(place.damping[0], 0.4, 1e-12);
        near(place.stiffness[0], -sign * 3.0 * 9.81 / 2.0, 1e-9);
        // λ² + (c/m) λ ± g/l = 0
        let (b, w) = (0.4 / 3.0 / 2.0, -sign * 9.81 / 2.0);
        let root = w - b * b;
        match root > 0.0 {
            true => has_eigenvalues(place, &[(-b, root.sqrt()), (-b, -root.sqrt())], 1e-10),
            false => has_eigenvalues(place, &[(-b + (-root).sqrt(), 0.0), (-b - (-root).sqrt(), 0.0)], 1e-10),
        }
    }
    assert!(matches!(found[0].stability(), Stability::Stable { time } if (time - 15.0).abs() < 1e-9));
    assert!(matches!(found[1].stability(), Stability::Unstable { .. }));
}

/// The same without friction: neither grows nor dies out, and two rods instead of one change nothing.
#[test]
fn a_pendulum_stated_twice_swings_with_its_frequency() {
    let text =
        "coordinates x, y\nmass x, y: 1\nforce y: -9\nconstraint a: x^2 + y^2 = 1\nconstraint b: 3*x^2 + 3*y^2 = 3
start x = 0, y = -1";
    let found = at_start(text, &Overrides::default());
    assert_eq!((found.place, found.stability()), (Place::Equilibrium, Stability::Neutral));
    has_eigenvalues(&found, &[(0.0, 3.0), (0.0, -3.0)], 1e-12);
    // that the force has no potential stated is all that is missing
    let mut check = prepared(&text.replace("force y: -9", "potential 9*y"), &Overrides::default());
    check.look_at_lagrangian(&Settings::default());
    let state = check.state.clone();
    let found = linearize(&mut check, &state, &Settings::default()).unwrap();
    assert_eq!(found.stability(), Stability::Minimum);
}

/// Two equal masses between three equal springs: ω² = k/m and 3 k/m, in phase and against each other.
#[test]
fn coupled_masses_have_their_modes() {
    let text = "coordinates x, y\nmass x, y: 2\npotential 8*(x^2 + (x - y)^2 + y^2)/2\nstart x = 0.1, y = 0.3";
    let mut check = prepared(text, &Overrides::default());
    let found = equilibria(&mut check, &Settings::default());
    assert_eq!(found.len(), 1);
    let slow = 2.0;
    let fast = 12.0_f64.sqrt();
    has_eigenvalues(&found[0], &[(0.0, slow), (0.0, -slow), (0.0, fast), (0.0, -fast)], 1e-12);
    for mode in &found[0].modes {
        let [(a, b), (c, d)] = mode.vector[..] else { panic!("two coordinates") };
        let sign = if (mode.value.1.abs() - slow).abs() < 1e-6 { 1.0 } else { -1.0 };
        near(c, sign * a, 1e-10);
        near(d, sign * b, 1e-10);
    }
    for (entry, wanted) in found[0].stiffness.iter().zip([16.0, -8.0, -8.0, 16.0]) {
        near(*entry, wanted, 1e-12);
    }
}

/// A bead on a hoop that turns with Ω rests below while Ω² < g/r, and aside at cos θ = g/(Ω² r) beyond.
#[test]
fn a_bead_on_a_turning_hoop_leaves_the_bottom() {
    let hoop = |speed: f64| {
        format!(
            "coordinates θ\nparameter Ω = {speed}\nlagrangian L = θ'^2/2 + Ω^2*sin(θ)^2/2 + 10*cos(θ)\nstart θ = 0.2"
        )
    };
    for (speed, n) in [(3.0, 2), (4.0, 4)] {
        let mut check = prepared(&hoop(speed), &Overrides::default());
        let found = equilibria(&mut check, &Settings::default());
        assert_eq!(found.len(), n, "{found:?}");
        for place in &found {
            let angle = place.state.q[0];
            near(angle.sin() * (speed * speed * angle.cos() - 10.0), 0.0, 1e-9);
            // −K = Ω² cos 2θ − 10 cos θ
            near(place.stiffness[0], 10.0 * angle.cos() - speed * speed * (2.0 * angle).cos(), 1e-9);
        }
    }
}

/// Meijaard, Papadopoulos, Ruina and Schwab 2007: M, v C1 and g K0 + v² K2 for lean and steer, and the eigenvalues.
#[test]
fn the_benchmark_bicycle_has_its_published_matrices() {
    const M: [[f64; 2]; 2] = [[80.81722, 2.3194133220870907], [2.3194133220870907, 0.2978418819968554]];
    const C1: [[f64; 2]; 2] = [[0.0, 33.86641391492494], [-0.8503564145697845, 1.6854039739755957]];
    const K0: [[f64; 2]; 2] = [[-80.95, -2.599516852498716], [-2.599516852498716, -0.8032948845861767]];
    const K2: [[f64; 2]; 2] = [[0.0, 76.59734589573222], [0.0, 2.6543152379460397]];
    let eigenvalues: [(f64, [(f64, f64); 4]); 4] = [
        (
            1.0,
            [
                (-7.110080146374, 0.0),
                (-3.134231250666, 0.0),
                (3.526961709901, 0.807740275199),
                (3.526961709901, -0.807740275199),
            ],
        ),
        (
            3.0,
            [
                (-10.351014672459, 0.0),
                (-2.633661372537, 0.0),
                (1.706756056640, 2.315824473843),
                (1.706756056640, -2.315824473843),
            ],
        ),
        (
            5.0,
            [
                (-14.078389692798, 0.0),
                (-0.775341882196, 4.464867713788),
                (-0.775341882196, -4.464867713788),
                (-0.322866429004, 0.0),
            ],
        ),
        (
            7.0,
            [
                (-18.157884661252, 0.0),
                (-2.138756442584, 7.195259133298),
                (-2.138756442584, -7.195259133298),
                (0.102681705748, 0.0),
            ],
        ),
    ];
    let text = model_text("bicycle");
    for (v, wanted) in eigenvalues {
        let set = [format!("v={v} m/s"), "w=0 rad/s".to_string()];
        let overrides = Overrides { set: set.to_vec(), ..Overrides::default() };
        let found = at_start(&text, &overrides);
        assert_eq!(found.place, Place::Steady);
        has_eigenvalues(&found, &wanted, 1e-8);
        // lean is coordinate 4, steer 6
        let of = |list: &[usize], j: usize| list.iter().position(|&k| k == j).expect("lean and steer are free");
        let (k, p) = (found.velocities.len(), found.positions.len());
        let rows = [4, 6].map(|j| of(&found.velocities, j));
        let columns = [4, 6].map(|j| of(&found.positions, j));
        for i in 0..2 {
            for j in 0..2 {
                near(found.mass[rows[i] * k + rows[j]], M[i][j], 1e-8);
                near(found.damping[rows[i] * k + rows[j]], v * C1[i][j], 1e-8);
                near(found.stiffness[rows[i] * p + columns[j]], 9.81 * K0[i][j] + v * v * K2[i][j], 1e-8);
            }
        }
    }
}

/// 2 x'' = −8 x − 0.3 |v| v at rest: the drag has no linear part, though its formula divides zero by zero.
#[test]
fn drag_by_the_square_of_the_speed_is_no_damping() {
    let text = "coordinates x, y\nmass x, y: 2\nforce x: -8*x - 0.3*sqrt(x'^2 + y'^2)*x'\nforce y: -8*y - 0.3*sqrt(x'^2 + y'^2)*y'
start x = 0, y = 0";
    let found = at_start(text, &Overrides::default());
    assert_eq!(found.place, Place::Equilibrium);
    has_eigenvalues(&found, &[(0.0, 2.0), (0.0, -2.0), (0.0, 2.0), (0.0, -2.0)], 1e-5);
}

/// Where the equations contain the time nothing rests, whatever they say at one moment.
#[test]
fn what_depends_on_time_has_no_equilibrium() {
    for force in ["-4*(x - t)", "-4*x + sin(t)", "-(1 + 0.5*cos(2*t))*x"] {
        let text = format!("coordinates x\nmass x: 1\nforce x: {force}\nstart x = 0");
        let mut check = prepared(&text, &Overrides::default());
        assert!(equilibria(&mut check, &Settings::default()).is_empty(), "{force}");
        assert_eq!(at_start(&text, &Overrides::default()).place, Place::Passing, "{force}");
    }
}

/// Two hanging links are one equilibrium, from wherever it is found.
#[test]
fn a_double_pendulum_has_four_equilibria() {
    let mut check = prepared(&model_text("double_pendulum_angles"), &Overrides::default());
    let found = equilibria(&mut check, &Settings::default());
    assert_eq!(found.len(), 4, "{found:?}");
    let growing = |linear: &Linearized| linear.modes.iter().filter(|m| m.value.0 > 1e-6).count();
    assert_eq!(found.iter().map(growing).collect::<Vec<_>>(), [0, 1, 1, 2]);
}
