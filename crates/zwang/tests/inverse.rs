//! Inverse dynamics along given paths, against closed forms.

use crate::common::{model_text, relative};
use zwang::csv_table::CsvTable;
use zwang::inverse::{Inverse, MotionPath};
use zwang::{Overrides, load};

/// A path of `n` rows from t = 0 to 2: its columns by name.
fn path(names: &str, n: usize, row: impl Fn(f64) -> Vec<f64>) -> CsvTable {
    let mut text = format!("t, {names}\n");
    for k in 0..n {
        let t = 2.0 * k as f64 / (n - 1) as f64;
        let values: Vec<String> = row(t).iter().map(|x| format!("{x:e}")).collect();
        text.push_str(&format!("{t:e}, {}\n", values.join(", ")));
    }
    CsvTable::parse(&text).unwrap()
}

fn found(text: &str, sheet: &CsvTable, driven: &[usize]) -> Inverse {
    let system = load(text).unwrap();
    let path = MotionPath::new(system.coordinates(), sheet).unwrap();
    system.inverse_with(&path, driven).unwrap()
}

fn column<'i>(inverse: &'i Inverse, name: &str) -> &'i [f64] {
    &inverse.samples.column(name).unwrap_or_else(|| panic!("no column {name}")).values
}

/// A pendulum in Cartesian coordinates swings as θ = sin t: the rod takes m (θ̇² + g cos θ) along itself, the force along the
/// path is m (θ̈ + g sin θ).
#[test]
fn force_and_reaction_share_the_work_as_they_must() {
    let text =
        "coordinates x, y\nmass x, y: 2\nforce y: -2*9.81\nconstraint rod: (x^2 + y^2 - 1)/2 = 0\nstart x = 0, y = -1";
    let sheet = path("x, y", 201, |t| vec![t.sin().sin(), -t.sin().cos()]);
    let inverse = found(text, &sheet, &[0, 1]);
    assert!(inverse.is_possible(), "{:?} {:?}", inverse.left, inverse.deviations);
    assert_eq!(inverse.rank, (1, 1));
    let [t, ux, uy, lambda] = ["t", "control_x", "control_y", "lambda_rod"].map(|name| column(&inverse, name));
    for k in 0..t.len() {
        let (angle, rate, bend) = (t[k].sin(), t[k].cos(), -t[k].sin());
        let along = 2.0 * (bend + 9.81 * angle.sin());
        let wanted = [along * angle.cos(), along * angle.sin()];
        let off = (ux[k] - wanted[0]).abs().max((uy[k] - wanted[1]).abs());
        assert!(off < 2e-5, "t = {}: {} {} instead of {wanted:?}", t[k], ux[k], uy[k]);
        let pull = -2.0 * (rate * rate + 9.81 * angle.cos());
        assert!((lambda[k] - pull).abs() < 2e-5, "t = {}: {} instead of {pull}", t[k], lambda[k]);
    }
    let top = inverse.forces.iter().map(|peak| peak.value).collect::<Vec<_>>();
    assert!(top[0] > 1.0 && inverse.forces[0].name == "x");
}

/// Only x is driven: its force does the same work along the circle, so it is the tangential one over the cosine.
#[test]
fn one_driven_coordinate_does_what_two_did() {
    let text = "coordinates x, y\nmass x, y: 2\nforce y: -2*9.81\nconstraint rod: x^2 + y^2 = 1\nstart x = 0, y = -1";
    let sheet = path("y, x", 201, |t| vec![-t.sin().cos(), t.sin().sin()]);
    let inverse = found(text, &sheet, &[0]);
    assert!(inverse.is_possible(), "{:?}", inverse.deviations);
    let (t, ux) = (column(&inverse, "t"), column(&inverse, "control_x"));
    for k in 0..t.len() {
        let angle = t[k].sin();
        let wanted = 2.0 * (-t[k].sin() + 9.81 * angle.sin()) / angle.cos();
        assert!((ux[k] - wanted).abs() < 5e-5, "t = {}: {} instead of {wanted}", t[k], ux[k]);
    }
}

/// The arm: the path of a formula and of a file need the same torques.
#[test]
fn a_file_and_a_formula_need_the_same_torques() {
    let arm = model_text("two_link_arm");
    let (q1, q2) = (|t: f64| 0.4 * (1.3 * t).sin(), |t: f64| 1.2 + 0.5 * (0.9 * t).cos());
    let inverse = found(&arm, &path("q1, q2", 401, |t| vec![q1(t), q2(t)]), &[0, 1]);
    let control = "control path: (q1, q2) = (0.4*sin(1.3[1/s]*t), 1.2 + 0.5*cos(0.9[1/s]*t))";
    let held: String = arm
        .lines()
        .filter(|line| !line.starts_with("start"))
        .map(|line| if line.starts_with("control") { control.to_string() } else { line.to_string() } + "\n")
        .collect();
    let inspected = crate::common::inspected(&format!("{held}start q1 = 0, q2 = 1.7\n"), &Overrides::default());
    let torque = &inspected.check.snapshot.found.control_force;
    let first = [column(&inverse, "control_q1")[0], column(&inverse, "control_q2")[0]];
    assert!(relative(&first, torque) < 1e-5, "{first:?} instead of {torque:?}");
    assert!(inverse.is_possible());
}

/// A path off the circle is reported with its distance and time; one that the driven coordinate cannot produce, with the missing
/// direction.
#[test]
fn impossible_paths_are_reported() {
    let text = "coordinates x, y\nmass x, y: 1\nconstraint rod: x^2 + y^2 = 1\nstart x = 0, y = -1";
    let inverse = found(text, &path("x, y", 101, |t| vec![1.1 * t.sin(), -1.1 * t.cos()]), &[0, 1]);
    assert!(!inverse.is_possible() && inverse.left[0].name == "rod", "{inverse:?}");
    assert!((inverse.left[0].value - 0.21).abs() < 1e-3, "{:?}", inverse.left);
    let reported = format!("{:?}", inverse.obstacles());
    assert!(reported.contains("Z706") && reported.contains("constraint `rod` by up to 0.21"), "{reported}");

    let free = "coordinates x, y\nmass x, y: 1\nstart x = 0, y = 0";
    let inverse = found(free, &path("x, y", 101, |t| vec![t.sin(), t * t]), &[0]);
    assert_eq!((inverse.rank, inverse.deviations.len()), ((1, 2), 1));
    assert!(
        inverse.deviations[0].name == "y" && (inverse.deviations[0].value - 2.0).abs() < 1e-6,
        "{:?}",
        inverse.deviations
    );
    let reported = format!("{:?}", inverse.obstacles());
    assert!(reported.contains("missing: `y`") && reported.contains("1 of 2 directions"), "{reported}");
}

/// Two coupled masses, one driven: of all motions that its force can make, the nearest in Gauss's sense moves the driven one
/// as wanted, since Sᵀ(q̈ − wanted) = 0. So w = a/(M⁻¹)₁₁ = 1.5 a for M = (2, 1; 1, 2).
#[test]
fn a_lone_force_makes_the_nearest_motion() {
    let text = "coordinates x, y\nkinetic x'^2 + y'^2 + x'*y'\nstart x = 0, y = 0";
    let inverse = found(text, &path("x, y", 201, |t| vec![t.sin(), (2.0 * t).cos()]), &[0]);
    assert_eq!((inverse.rank, inverse.deviations.len()), ((1, 2), 1), "{:?}", inverse.deviations);
    let (t, w) = (column(&inverse, "t"), column(&inverse, "control_x"));
    for k in 0..t.len() {
        assert!((w[k] + 1.5 * t[k].sin()).abs() < 1e-5, "t = {}: {}", t[k], w[k]);
    }
}

#[test]
fn faults_of_a_path_are_reported() {
    let system = load("coordinates x, θ\nmass x: 1\nmass θ: 1\nstart x = 0, θ = 0").unwrap();
    let wrong = |text: &str| MotionPath::new(system.coordinates(), &CsvTable::parse(text).unwrap()).unwrap_err();
    assert!(wrong("t, x\n0, 1\n1, 2").contains("no column for `θ`"));
    assert!(wrong("t, x, theta\n0, 1, 0\n0, 2, 0").contains("line 3 the time does not grow"));
    assert!(wrong("t, x, theta, x\n0, 1, 0, 1\n1, 2, 0, 3").contains("2 columns for `x`"));
    assert!(wrong("0, 1, 0\n1, 2, 0").contains("no names; name them in its first row, as in `t, x, θ`"));
    assert!(wrong("x, t, theta\n0, 1, 0\n1, 2, 0").contains("first column is `x`, where the time belongs"));
    assert!(wrong("t [m], x, theta\n0, 1, 0\n1, 2, 0").contains("is a length and should be a time"));
    assert!(MotionPath::new(system.coordinates(), &CsvTable::parse("t, x, theta\n0, 1, 0\n1, 2, 0").unwrap()).is_ok());
}

/// x = sin t with unit mass needs −sin t: more than 1/2 from π/6 on, more than 1/4 from asin 1/4 on. The smaller limit counts.
#[test]
fn forces_beyond_their_limits_are_reported_with_times() {
    let sheet = path("x", 401, |t| vec![t.sin()]);
    for (limits, limit) in [("limit 0.5", 0.5f64), ("limit 0.25", 0.25), ("limit 2", 2.0)] {
        let text = format!("coordinates x\nmass x: 1\ncontrol a: x = 0 with settling 1 and {limits}\nstart x = 0");
        let inverse = found(&text, &sheet, &[0]);
        if limit > 1.0 {
            assert!(inverse.is_possible() && inverse.exceeded.is_empty());
            continue;
        }
        assert!(!inverse.is_possible() && inverse.exceeded.len() == 1, "{:?}", inverse.exceeded);
        let excess = &inverse.exceeded[0];
        assert_eq!((excess.limit, excess.spans.len()), (limit, 1));
        let (from, to) = excess.spans[0];
        assert!((from - limit.asin()).abs() < 1e-5 && (to - 2.0).abs() < 1e-12, "{from} to {to}");
        assert!((excess.peak.value - 1.0).abs() < 1e-4 && (excess.peak.t - std::f64::consts::FRAC_PI_2).abs() < 5e-3);
        let reported = format!("{:?}", inverse.obstacles());
        assert!(reported.contains("Z706") && reported.contains("its limit is"), "{reported}");
    }
}
