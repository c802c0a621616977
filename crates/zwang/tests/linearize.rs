//! The motion near a state: equilibria, matrices and eigenvalues known in closed form or from print.

use crate::common::{checked, model_text};
use zwang::linearize::{Linearized, MotionKind, Obstacle, Stability, equilibria, is_timed, linearize};
use zwang::{Check, Overrides};
use zwang_motion::{RouteName, Settings, Snapshot, State, route};

fn prepared(text: &str, overrides: &Overrides) -> Check {
    let (check, diagnostics) = checked(text, overrides);
    let mut check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    assert!(check.system.compile_motion(&mut check.equations));
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
    assert_eq!((found.place, found.stability()), (MotionKind::Equilibrium, Stability::Neutral));
    has_eigenvalues(&found, &[(0.0, 3.0), (0.0, -3.0)], 1e-12);
    // that the force has no potential stated is all that is missing
    let mut check = prepared(&text.replace("force y: -9", "potential 9*y"), &Overrides::default());
    check.analyse_lagrangian(&Settings::default());
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
        assert_eq!(found.place, MotionKind::Steady);
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
    assert_eq!(found.place, MotionKind::Equilibrium);
    has_eigenvalues(&found, &[(0.0, 2.0), (0.0, -2.0), (0.0, 2.0), (0.0, -2.0)], 1e-5);
}

/// x = t and a force that comes and goes leave nothing at rest; where the stiffness does, x = 0 rests, but coefficients of one moment do
/// not tell what is stable there.
#[test]
fn time_dependent_systems_rest_only_where_they_always_do() {
    for (force, n) in [("-4*(x - t)", 0), ("-4*x + sin(t)", 0), ("-(1 + 0.5*cos(2*t))*x", 1)] {
        let text = format!("coordinates x\nmass x: 1\nforce x: {force}\nstart x = 0");
        let mut check = prepared(&text, &Overrides::default());
        assert!(is_timed(&check));
        let found = equilibria(&mut check, &Settings::default());
        assert_eq!(found.len(), n, "{force}");
        for place in &found {
            assert_eq!(place.stability(), Stability::Undecided);
            near(place.stiffness[0], 1.5, 1e-12);
        }
        let here = at_start(&text, &Overrides::default());
        let wanted = if n == 0 { MotionKind::Passing } else { MotionKind::Equilibrium };
        assert_eq!((here.place, here.stability()), (wanted, Stability::Undecided), "{force}");
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

fn found(text: &str) -> Vec<Linearized> {
    let mut check = prepared(text, &Overrides::default());
    check.analyse_lagrangian(&Settings::default());
    equilibria(&mut check, &Settings::default())
}

/// The hoop stated by a moving place: cos² + sin² leaves no time in the equations. Rest at cos θ = g/(Ω²R) = 0.545,
/// and at both ends.
#[test]
fn a_moving_frame_may_leave_no_time_in_the_equations() {
    let text = "coordinates θ\nparameter R = 0.5, Ω = 6, g = 9.81
particle P at R*(sin(θ)*cos(Ω*t), sin(θ)*sin(Ω*t), -cos(θ)) with mass 1\ngravity (0,0,-g)\nstart θ = 0.4\nrun 3";
    assert!(!is_timed(&prepared(text, &Overrides::default())));
    let all = found(text);
    assert_eq!(all.len(), 4, "{all:?}");
    for place in &all {
        let angle = place.state.q[0];
        near(angle.sin() * (36.0 * 0.5 * angle.cos() - 9.81), 0.0, 1e-9);
        // −K = R² Ω² cos 2θ − g R cos θ
        near(place.stiffness[0], 9.81 * 0.5 * angle.cos() - 9.0 * (2.0 * angle).cos(), 1e-9);
    }
    // a spring pendulum on a cart with constant acceleration hangs along what gravity and cart make together
    let text = "coordinates s, θ\nparameter a = 1, g = 9.81, k = 10
particle P at (a*t^2/2 + s*sin(θ), -s*cos(θ)) with mass 1\ngravity (0, -g)\npotential k/2*(s-1)^2\nstart s = 1, θ = 0.1\nrun 1";
    let all = found(text);
    let weight = 9.81_f64.hypot(1.0);
    let hanging = all.iter().find(|x| (x.state.q[0] - 1.0 - weight / 10.0).abs() < 1e-9).expect("it hangs");
    near(hanging.state.q[1], -(1.0 / 9.81_f64).atan(), 1e-9);
    let swings = (weight / (1.0 + weight / 10.0)).sqrt();
    has_eigenvalues(hanging, &[(0.0, 10.0_f64.sqrt()), (0.0, swings)], 1e-9);
}

/// A pendulum whose support shakes rests upright and hanging, whatever the shaking.
#[test]
fn a_shaken_pendulum_rests_above_and_below() {
    let text = "coordinates θ\nparticle P at (0.5*sin(θ), 0.02*cos(150*t) - 0.5*cos(θ)) with mass 1\ngravity (0, -9.81)
start θ = 3\nrun 2";
    let all = found(text);
    let mut angles: Vec<f64> = all.iter().map(|x| x.state.q[0].abs()).collect();
    angles.sort_by(f64::total_cmp);
    assert_eq!(angles.len(), 2, "{all:?}");
    near(angles[0], 0.0, 1e-12);
    near(angles[1], std::f64::consts::PI, 1e-12);
    assert!(all.iter().all(|x| x.is_timed && x.stability() == Stability::Undecided));
}

/// sign jumps, abs has a corner, |v| v has neither, and away from the switch all are smooth.
#[test]
fn at_a_jump_or_corner_there_is_no_linearization() {
    let at = |force: &str, start: &str| {
        let text = format!("coordinates x\nmass x: 1\nforce x: {force}\nstart x = {start}");
        at_start(&text, &Overrides::default())
    };
    let of = |name: &str| vec![name.to_string()];
    let coulomb = at("-x - 0.2*sign(x')", "0");
    assert_eq!(coulomb.obstacle, Some(Obstacle::Jump { switches: of("x'") }));
    assert_eq!((coulomb.place, coulomb.stability()), (MotionKind::Equilibrium, Stability::Undecided));
    assert_eq!(at("-x - 0.5*abs(x)", "0").obstacle, Some(Obstacle::Corner { switches: of("x") }));
    assert_eq!(at("-2*x - max(x, 0)", "0").obstacle, Some(Obstacle::Corner { switches: of("x") }));
    for smooth in ["-4*x - 0.3*abs(x')*x'", "-4*x - 0.3*x*abs(x)", "if x > 0 then -4*x - x^2 else -4*x + x^3"] {
        let found = at(smooth, "0");
        assert_eq!(found.obstacle, None, "{smooth}");
        has_eigenvalues(&found, &[(0.0, 2.0), (0.0, -2.0)], 1e-7);
    }
    let sliding = at("-4*x - 0.2*sign(x')", "0.5, x' = 1");
    assert_eq!(sliding.obstacle, None);
    near(sliding.stiffness[0], 4.0, 1e-12);
    // two conditions that have to change at once
    let corner =
        "coordinates x, y\nmass x, y: 1\nforce x: if x > 0 then (if y > 0 then -1 else 0) else 0\nstart x = 0, y = 0";
    assert!(matches!(at_start(corner, &Overrides::default()).obstacle, Some(Obstacle::Jump { .. })));
}

/// x y = 0 at its crossing, and (x + y)² = 0 everywhere, have no row there; four bars that lie in one line have one too few.
#[test]
fn where_constraints_lose_rank_there_is_no_linearization() {
    for constraint in ["x*y = 0", "(x + y)^2 = 0"] {
        let text =
            format!("coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint c: {constraint}\nstart x = 0, y = 0");
        let here = at_start(&text, &Overrides::default());
        assert_eq!(here.obstacle, Some(Obstacle::Rank { constraints: vec!["c".into()] }), "{constraint}");
        assert_eq!(here.stability(), Stability::Undecided);
    }
    let bars = "coordinates x, y, u, v\nmass x, y, u, v: 1\nconstraint a: x^2 + y^2 = 1\nconstraint b: (x - u)^2 + (y - v)^2 = 4
constraint d: (u - 2)^2 + v^2 = 1\nstart x = 1, y = 0, u = 3, v = 0";
    match at_start(bars, &Overrides::default()).obstacle {
        Some(Obstacle::Rank { constraints }) => assert_eq!(constraints, ["a", "b", "d"]),
        other => panic!("{other:?}"),
    }
}

/// A body that falls and a particle that passes a turning point of its force have no future by their eigenvalues.
#[test]
fn away_from_equilibria_there_is_no_verdict() {
    let falling = "coordinates y\nmass y: 1\nforce y: -9.81\nstart y = 1";
    let passing = "coordinates x\nmass x: 1\nforce x: -x - 0.3*x'\nstart x = -0.3, x' = 1";
    assert!(found(falling).is_empty());
    for text in [falling, passing] {
        let here = at_start(text, &Overrides::default());
        assert_eq!((here.place, here.stability()), (MotionKind::Passing, Stability::Undecided));
    }
}

/// Roots of higher order: V = x⁴/2, x³/3 − x y², (x − 1)⁴ and (x − 1)⁴ written out, and the hoop at the speed where it leaves the bottom.
#[test]
fn where_the_stiffness_vanishes_one_equilibrium_is_found() {
    let models = [
        ("coordinates x\nlagrangian x'^2/2 - x^4/2\nstart x = 0.5", 1, 0.0, 1e-9),
        ("coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^3 - 3*x*y^2)/3\nstart x = 0.1, y = 0.1", 1, 0.0, 1e-9),
        ("coordinates x\nlagrangian x'^2/2 - (x - 1)^4\nstart x = 0.5", 1, 1.0, 1e-9),
        // rounding of the sum leaves a third of the digits
        ("coordinates x\nlagrangian x'^2/2 - (x^4 - 4*x^3 + 6*x^2 - 4*x)\nstart x = 0.5", 1, 1.0, 3e-5),
        ("coordinates θ\nlagrangian θ'^2/2 + 10*sin(θ)^2/2 + 10*cos(θ)\nstart θ = 0.3", 2, 0.0, 1e-9),
        // one direction is stiff, the other flat
        ("coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 50*(y - x^2)^2 - x^6\nstart x = 0.4, y = 0.3", 1, 0.0, 1e-9),
    ];
    for (text, n, x, accuracy) in models {
        let all = found(text);
        assert_eq!(all.len(), n, "{text}: {all:?}");
        let flat = all.iter().find(|place| (place.state.q[0] - x).abs() <= accuracy).expect(text);
        assert_eq!(flat.zeros.power, 1, "{text}");
        assert_eq!(flat.stability(), Stability::Neutral, "{text}");
        near(flat.stiffness[0], 0.0, 1e-12);
        assert!(flat.family.is_empty(), "{text}: {:?}", flat.family);
    }
}

/// A skate across a slope rests; turned a little it slides off: y'' = −g sin α δφ with δφ = ω t gives y ~ t³.
#[test]
fn a_skate_across_a_slope_slides_off() {
    let text = "coordinates x, y, φ\nkinetic (x'^2 + y'^2)/2 + 0.05*φ'^2\npotential -3*x
constraint blade: x'*sin(φ) = y'*cos(φ)\nstart x = 0, y = 0, φ = pi/2";
    let all = found(text);
    assert_eq!(all.len(), 2, "{all:?}");
    // the start is one, and comes first
    assert_eq!((all[0].state.q[0], all[0].state.q[1]), (0.0, 0.0));
    for place in &all {
        near(place.state.q[2].abs(), std::f64::consts::FRAC_PI_2, 1e-9);
        assert_eq!(place.stability(), Stability::Growing { power: 3 });
        assert_eq!((place.n_zero(), &place.family[..]), (5, &[0, 1][..]));
    }
}

/// A free particle drifts, and rests wherever it is; so does a ring of equilibria in a trough.
#[test]
fn a_family_of_equilibria_is_one() {
    let free = found("coordinates x, y\nmass x, y: 1\npotential 2*y^2\nstart x = 0.3, y = 0.2");
    assert_eq!(free.len(), 1, "{free:?}");
    assert_eq!((free[0].zeros.count, free[0].zeros.power, free[0].zeros.is_even), (2, 1, true));
    assert_eq!((free[0].stability(), &free[0].family[..]), (Stability::Neutral, &[0][..]));
    let ring = found("coordinates x, y\nmass x, y: 1\npotential (x^2 + y^2 - 1)^2\nstart x = 0.3, y = 0.2");
    // V'' = 8 across the ring, and the top in the middle: V'' = −4
    assert_eq!(ring.len(), 2, "{ring:?}");
    has_eigenvalues(&ring[0], &[(0.0, 8.0_f64.sqrt()), (0.0, 0.0)], 1e-6);
    has_eigenvalues(&ring[1], &[(2.0, 0.0), (2.0, 0.0)], 1e-9);
}

/// Forces that fade like exp(−x) and 1/r² have no equilibrium far out.
#[test]
fn a_force_that_fades_is_no_equilibrium() {
    let morse = found("coordinates x\nmass x: 1\npotential (1 - exp(-x))^2\nstart x = 1");
    assert_eq!(morse.len(), 1, "{morse:?}");
    near(morse[0].state.q[0], 0.0, 1e-12);
    near(morse[0].stiffness[0], 2.0, 1e-9);
    let pull = found("coordinates x, y\nmass x, y: 1\npotential -1/sqrt(x^2 + y^2)\nstart x = 1, y = 0.2");
    assert!(pull.is_empty(), "{pull:?}");
    // a ball on a beam: r'' = −g sin α, and (1 + r²) α'' = −g r cos α, which also fades far out
    let beam = "coordinates r, α\nkinetic r'^2/2 + (1 + r^2)*α'^2/2\npotential 9.81*r*sin(α)\nstart r = 0.3, α = 0.2";
    for place in found(beam) {
        near(place.state.q[0], 0.0, 1e-9);
    }
}

/// A cylinder of radius r rolls in one of radius R: (R − r) θ' = r φ' is kept from the start, 30° up. At the bottom
/// φ = −(R − r)/r 30°, and ω² = 2 g/(3 (R − r)).
#[test]
fn rolling_bodies_stay_on_the_integral_manifold_of_their_start() {
    let text = "coordinates θ, φ\nparameter m = 2, R = 1, r = 0.2, g = 9.81
kinetic m/2*(R-r)^2*θ'^2 + m*r^2/4*φ'^2\npotential -m*g*(R-r)*cos(θ)\nconstraint roll: (R - r)*θ' = r*φ'\nstart θ = pi/6, φ = 0";
    let all = found(text);
    assert_eq!(all.len(), 2, "{all:?}");
    let bottom = &all[0];
    near(bottom.state.q[0], 0.0, 1e-9);
    near(bottom.state.q[1], -4.0 * std::f64::consts::FRAC_PI_6, 1e-9);
    assert_eq!(bottom.stability(), Stability::Minimum);
    let omega = (2.0 * 9.81 / (3.0 * 0.8_f64)).sqrt();
    has_eigenvalues(bottom, &[(0.0, omega), (0.0, -omega)], 1e-9);
    near(all[1].state.q[1], 4.0 * (all[1].state.q[0] - std::f64::consts::FRAC_PI_6), 1e-9);
}

/// N = 9.81 + 30 x on the floor, so 0.1 (N − 9.81) = 3 x: ẍ = 2 x − 0.3 ẋ, unstable.
#[test]
fn a_law_that_follows_the_normal_force_is_part_of_the_stiffness() {
    let text = "coordinates x, y\nmass x, y: 1\nforce x: -x - 0.3*x'\nforce y: -9.81 - 30*x
constraint floor: y = 0\nnonideal x: 0.1*(lambda(floor) - 9.81)\nstart x = 0, y = 0";
    let here = at_start(text, &Overrides::default());
    assert_eq!(here.place, MotionKind::Equilibrium);
    near(here.stiffness[0], -2.0, 1e-12);
    near(here.damping[0], 0.3, 1e-12);
    // λ² + 0.3 λ − 2 = 0
    let root = (0.0225_f64 + 2.0).sqrt();
    has_eigenvalues(&here, &[(-0.15 + root, 0.0), (-0.15 - root, 0.0)], 1e-12);
    assert!(matches!(here.stability(), Stability::Unstable { .. }));
}

/// The acceleration at exact states on y = 0.3 x² − 0.2 x z, stated once or twice with a factor that varies, so that the shares of
/// the redundant rows change with the place: its central differences are the derivatives.
#[test]
fn the_linear_equations_of_random_nonideal_laws_are_differences_of_the_acceleration() {
    let mut random = random_numbers(7);
    for n_rows in [1, 2] {
        for _ in 0..6 {
            let mut c = || (random() * 1e3).round() / 1e3;
            let last = if n_rows == 2 { "again" } else { "floor" };
            let again =
                if n_rows == 2 { "constraint again: (1 + x^2 + 0.5*z)*(y - 0.3*x^2 + 0.2*x*z) = 0\n" } else { "" };
            let text = format!(
                "coordinates x, y, z\nmass x, y: 2\nmass z: 1.5\nforce x: -x\nforce y: -9.81 - 3*x\nforce z: {}*sin(x) - z
constraint floor: y = 0.3*x^2 - 0.2*x*z\n{again}nonideal x: {}*lambda(floor) + {}*x'*lambda({last})
nonideal z: {}*sin(x)*lambda({last}) + {}*z'*x\nnonideal y: {}*z*lambda(floor) + {}\nstart x = 0, y = 0, z = 0",
                c(), c(), c(), c(), c(), c(), c()
            );
            let mut check = prepared(&text, &Overrides::default());
            let free = [c(), c(), c(), c()];
            let state = on_the_floor(free);
            let linear = linearize(&mut check, &state, &Settings::default()).expect("the law is smooth");
            assert_eq!((&linear.positions[..], &linear.velocities[..]), (&[0, 2][..], &[0, 2][..]), "{text}");
            for column in 0..4 {
                let at = |check: &mut Check, part: f64| {
                    let mut free = free;
                    free[column] += part;
                    acceleration(check, &on_the_floor(free))
                };
                let h = 1e-4;
                let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(|part| at(&mut check, part));
                let slope = [0, 2].map(|j| (8.0 * (a[j] - b[j]) - (c[j] - d[j])) / (12.0 * h));
                for row in 0..2 {
                    let wanted = -(0..2).map(|j| linear.mass[row * 2 + j] * slope[j]).sum::<f64>();
                    let matrix = if column < 2 { &linear.stiffness } else { &linear.damping };
                    near(matrix[row * 2 + column % 2], wanted, 1e-8);
                }
            }
        }
    }
}

/// Numbers between −1 and 1.
fn random_numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// The state on y = 0.3 x² − 0.2 x z for x, z, x', z'.
fn on_the_floor([x, z, dx, dz]: [f64; 4]) -> State {
    let (y, dy) = (0.3 * x * x - 0.2 * x * z, 0.6 * x * dx - 0.2 * (dx * z + x * dz));
    State { t: 0.0, q: vec![x, y, z], qdot: vec![dx, dy, dz] }
}

/// q̈ at a state on the constraints.
fn acceleration(check: &mut Check, state: &State) -> Vec<f64> {
    let settings = Settings::default();
    let mut snapshot = Snapshot::new(&mut check.system);
    snapshot.take(&mut check.system, state, &mut *route(RouteName::default(), &settings), &settings).expect("it moves");
    snapshot.found.qddot
}
