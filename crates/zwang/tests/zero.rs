//! Zero is a matter of structure: what a formula does far from the start, and identities that numbers only suggest.

use crate::common::{Random, checked, run_to};
use zwang::analysis::{Evidence, IntegrabilityEvidence, Time};
use zwang::{Check, Overrides};

fn looked_at(text: &str) -> Check {
    let (check, diagnostics) = checked(text, &Overrides::default());
    let mut check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    check.analyse_lagrangian(&Default::default());
    check
}

/// What is said of the energy, with the reasons.
fn energy(text: &str) -> (Option<bool>, String) {
    let verdict = looked_at(text).lagrangian.unwrap().energy;
    (verdict.conserved, verdict.why.join("; "))
}

#[track_caller]
fn energy_changes(text: &str, words: &[&str]) {
    let (conserved, why) = energy(text);
    assert_eq!(conserved, Some(false), "{text}\n{why}");
    words.iter().for_each(|word| assert!(why.contains(word), "`{word}` is missing: {why}"));
}

fn momenta(text: &str) -> Vec<String> {
    looked_at(text).lagrangian.unwrap().conserved.into_iter().map(|c| c.name).collect()
}

#[test]
fn a_constraint_that_moves_later_is_rheonomic() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint c: y = tanh(20*(t - 3)) + 1\n\
                start x = 0, y = 0, x' = 1\nrun 6";
    assert_eq!(looked_at(text).constraints[0].time, Time::Rheonomic);
    energy_changes(text, &["constraint `c`", "t = 3"]);
}

#[test]
fn a_stiffness_that_changes_later_changes_the_energy() {
    energy_changes(
        "coordinate x\nlagrangian x'^2/2 - x^2/2*(2 + tanh(20*(t - 3)))\nstart x = 1\nrun 6",
        &["∂L/∂t", "tanh(20*(t - 3))"],
    );
}

#[test]
fn a_force_that_sets_in_later_changes_energy_and_momentum() {
    let text = "coordinate x\nlagrangian x'^2/2\nforce x: tanh(12*(t - 4)) + 1\nstart x = 0, x' = 1\nrun 6";
    energy_changes(text, &["the force on `x` does work"]);
    assert!(momenta(text).is_empty());
}

#[test]
fn a_step_of_the_potential_far_away_changes_the_momentum() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y^2 - (tanh(20*(x - 3)) + 1)/2\n\
                start x = 0, x' = 1.2, y = 0\nrun 6";
    assert!(momenta(text).is_empty(), "{:?}", momenta(text));
    assert_eq!(energy(text).0, Some(true));
}

#[test]
fn a_row_that_turns_far_away_is_not_integrable() {
    let check = looked_at(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = (tanh(20*(y - 3)) + 1)*x'\n\
         start x = 0, y = 0, z = 0, x' = 1, y' = 1\nrun 6",
    );
    assert_eq!(check.constraints[0].integrable, Some(false));
    assert_eq!(check.integrability.growth_vector, Some(vec![2, 3]));
    assert!(check.integrability.integrals.is_empty());
}

#[test]
fn a_factor_of_one_in_disguise_is_one() {
    let check = looked_at(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
         constraint c: z' = x'*((y + 1e5)^3 - y^3 - 3e5*y^2 - 3e10*y - 1e15 + 1)\n\
         start x = 0, y = 0, z = 0, x' = 1, y' = 1\nrun 6",
    );
    assert_eq!(check.constraints[0].integrable, Some(true));
    assert_eq!(check.integrability.evidence, IntegrabilityEvidence::Proved);
    let text = check.integrability.integrals[0].text.clone().unwrap_or_default();
    assert!(text.contains('x') && text.contains('z') && !text.contains('y'), "z - x = const, not {text}");
}

#[test]
fn a_road_with_a_bump_does_not_repeat_the_level() {
    let check = looked_at(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\nconstraint level: y = 0\n\
         constraint road: y = 0.1*exp(-(x - 6)^2)\nstart x = 0, y = 0, x' = 1\nrun 10",
    );
    let row = &check.redundant[0];
    assert_eq!(row.everywhere, Some(false), "{row:?}");
    assert!(matches!(row.evidence, Evidence::Failed(_)) && row.ends_at.as_ref().is_some_and(|at| at.contains("x = ")));
    assert!(check.removable.is_empty());
}

/// E(end) − E(start) is the work of the moved pivot.
#[test]
fn a_pivot_that_moves_later_does_work() {
    let text = "coordinates x, y\nlet s = 0.3*exp(-((t - 5.123)/0.1)^2)\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\n\
                constraint rod: (x - s)^2 + y^2 = 1\nstart x = 0.5, y ~ -0.8\noutput W = work(rod)\nrun 6";
    energy_changes(text, &["constraint `rod`"]);
    let run = run_to(text, &[], 6.0);
    let energy = &run.audit().energy;
    assert!(energy.drift < 1e-7 && (energy.end - energy.start).abs() > 1e-3, "{energy:?}");
    let work = run.outputs()[0].values.expect("the work is known").last;
    assert!((work - (energy.end - energy.start)).abs() < 1e-7, "{work} instead of {}", energy.end - energy.start);
}

#[test]
fn a_force_that_is_zero_by_an_identity_does_nothing() {
    for zero in ["sin(x)^2 + cos(x)^2 - 1", "tanh(2*x) - 2*tanh(x)/(1 + tanh(x)^2)", "exp(x)*exp(t) - exp(x + t)"] {
        let text =
            format!("coordinates x, a\nlagrangian (x'^2 + a'^2)/2\nforce a: {zero}\nstart x = 0, a = 0, x' = 1\nrun 6");
        assert_eq!(energy(&text).0, Some(true), "{zero}");
        assert_eq!(momenta(&text), ["p_x", "p_a"], "{zero}");
    }
}

/// ω.x and ω.y of a ball with zxz angles contain θ' and ψ' only; written out they contain a' times zero.
#[test]
fn the_spin_of_a_rolling_ball_about_the_vertical_is_kept() {
    let check = looked_at(
        "coordinates x, y, a, θ, ψ\nbody ball at (x, y, 0) turned z by a, x by θ, z by ψ \
         with mass 1 and inertia (0.4, 0.4, 0.4)\nconstraint p: x' = ball.omega.y\nconstraint q: y' = -ball.omega.x\n\
         start x = 0, y = 0, a = 0, θ = 1, ψ = 0, a' = 1, θ' = 0.5, ψ' = 0.3\nrun 1",
    );
    let side = check.lagrangian.unwrap();
    let a = side.cyclic.iter().find(|c| c.coordinate == "a").unwrap_or_else(|| panic!("{side:?}"));
    assert_eq!((a.conserved, a.spoiled_by.len()), (Some(true), 0), "{a:?}");
}

#[test]
fn what_no_identity_proves_is_not_decided() {
    let text = "coordinates x, a\nlagrangian (x'^2 + a'^2)/2\nforce a: atan(x) + atan(1/x) - pi/2\n\
                start x = 3, a = 0, x' = 1\nrun 6";
    let (conserved, why) = energy(text);
    assert_eq!(conserved, None, "{why}");
    assert!(why.contains("the force on `a`"), "{why}");
    assert!(!momenta(text).contains(&"p_a".to_string()));
}

#[test]
fn a_force_that_sets_in_after_the_run_is_told_with_its_time() {
    let text = "coordinate x\nlagrangian x'^2/2\nforce x: tanh(20*(t - 30)) + 1\nstart x = 0, x' = 1\nrun 6";
    energy_changes(text, &["t = 30", "after the end of the run"]);
}

/// The number of random models: 300, or as many as `ZWANG_CASES=10000 cargo test -p zwang --test suite zero` asks for.
fn n_cases() -> usize {
    std::env::var("ZWANG_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// A smooth step or bump with its place and width.
struct Feature {
    text: String,
    value: Box<dyn Fn(f64) -> f64>,
    place: f64,
    width: f64,
}

impl Feature {
    /// One of six shapes of a variable, somewhere between 1 and 9, with a width between 1 and 10⁻⁴.
    fn random(random: &mut Random, of: &str) -> Feature {
        let place = ((5.0 + 4.0 * random.next()) * 1e3).round() / 1e3;
        let width = 10f64.powi((-2.0 + 2.0 * random.next()).round() as i32);
        let u = format!("(({of} - {place})/{width})");
        let (text, shape): (String, fn(f64) -> f64) = match ((random.next() + 1.0) * 3.0) as usize {
            0 => (format!("(tanh{u} + 1)"), |u| u.tanh() + 1.0),
            1 => (format!("exp(-{u}^2)"), |u| (-u * u).exp()),
            2 => (format!("1/(1 + {u}^2)"), |u| 1.0 / (1.0 + u * u)),
            3 => (format!("{u}*exp(-{u}^2)"), |u| u * (-u * u).exp()),
            4 => (format!("(1 - tanh{u}^2)"), |u| 1.0 - u.tanh() * u.tanh()),
            _ => (format!("{u}/(1 + {u}^2)"), |u| u / (1.0 + u * u)),
        };
        Feature { text, value: Box::new(move |x| shape((x - place) / width)), place, width }
    }

    /// The largest value on a grid that is aimed at the place, however narrow: the truth does not depend on any step.
    fn largest(&self) -> f64 {
        let at = |k: i32| (self.value)(self.place + 0.1 * f64::from(k) * self.width).abs();
        (-40..=40).map(at).fold(0.0, f64::max)
    }

    /// The largest change between neighbours on that grid.
    fn varies(&self) -> f64 {
        let at = |k: i32| (self.value)(self.place + 0.1 * f64::from(k) * self.width);
        (-40..40).map(|k| (at(k + 1) - at(k)).abs()).fold(0.0, f64::max)
    }
}

/// A random model with what is true of it: energy conserved, `p_x` conserved, the first constraint scleronomic, the
/// first constraint integrable, the second row redundant; `None` where nothing is asserted.
#[derive(Default)]
struct Truth {
    text: String,
    energy: Option<bool>,
    momentum: Option<bool>,
    scleronomic: Option<bool>,
    integrable: Option<bool>,
    redundant: Option<bool>,
}

fn random_model(random: &mut Random) -> Truth {
    let plane = "coordinates x, y\n";
    let start = "start x = 0.1, y = 0.2, x' = 1, y' = 0.3\nrun 10\n";
    let space = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n";
    let start3 = "start x = 0.1, y = 0.2, z = 0, x' ~ 1, y' ~ 0.3\nrun 10\n";
    let free = "lagrangian (x'^2 + y'^2)/2\n";
    let mut f = |of: &str| Feature::random(random, of);
    let (t, x, y) = (f("t"), f("x"), f("y"));
    // the grids say that the features act
    let (acts, varies) = (t.largest() > 0.1 && x.largest() > 0.1, t.varies() > 1e-3 && x.varies() > 1e-3);
    assert!(acts && varies && y.varies() > 1e-3);
    let (t, x, y) = (t.text, x.text, y.text);
    match ((random.next() + 1.0) * 6.5) as usize {
        0 => Truth {
            text: format!("{plane}lagrangian (x'^2 + y'^2)/2 - x^2/2*(1 + {t})\n{start}"),
            energy: Some(false),
            momentum: Some(false),
            ..Truth::default()
        },
        1 => Truth {
            text: format!("{plane}lagrangian (x'^2 + y'^2)/2 - y^2 - {x}\n{start}"),
            energy: Some(true),
            momentum: Some(false),
            ..Truth::default()
        },
        2 => Truth {
            text: format!("{plane}{free}force x: {t}\n{start}"),
            energy: Some(false),
            momentum: Some(false),
            ..Truth::default()
        },
        3 => Truth {
            text: format!("{plane}{free}force x: {y}\n{start}"),
            energy: Some(false),
            momentum: Some(false),
            ..Truth::default()
        },
        4 => Truth {
            text: format!("{plane}{free}constraint c: y = {t}\nstart x = 0.1, x' = 1, y ~ 0, y' ~ 0\nrun 10"),
            energy: Some(false),
            momentum: Some(true),
            scleronomic: Some(false),
            ..Truth::default()
        },
        5 => Truth {
            text: format!("{space}constraint c: z' = {y}*x'\n{start3}"),
            energy: Some(true),
            integrable: Some(false),
            ..Truth::default()
        },
        6 => Truth {
            text: format!("{space}constraint c: z' = {x}*x'\n{start3}"),
            energy: Some(true),
            integrable: Some(true),
            ..Truth::default()
        },
        // the magnetic force does no work
        7 => Truth {
            text: format!("{plane}{free}force x: {x}*y'\nforce y: -{x}*x'\n{start}"),
            energy: Some(true),
            ..Truth::default()
        },
        8 => Truth {
            text: format!("{plane}{free}force x: (sin(y)^2 + cos(y)^2 - 1)*{t}\n{start}"),
            energy: Some(true),
            momentum: Some(true),
            ..Truth::default()
        },
        9 => Truth {
            text: format!("{plane}{free}force x: {x}*{y}\n{start}"),
            energy: Some(false),
            momentum: Some(false),
            ..Truth::default()
        },
        10 => Truth {
            text: format!(
                "{plane}{free}constraint level: y = 0\nconstraint road: 3*y = (sin(x)^2 + cos(x)^2 - 1)*{x}\n\
                 start x = 0.1, y = 0, x' = 1\nrun 10"
            ),
            redundant: Some(true),
            ..Truth::default()
        },
        11 => Truth {
            text: format!(
                "{plane}{free}constraint c: y = sin(x)*(tanh(t) - sinh(t)/cosh(t))*{t}\n\
                 start x = 0.1, y = 0, x' = 1\nrun 10"
            ),
            energy: Some(true),
            scleronomic: Some(true),
            ..Truth::default()
        },
        _ => Truth {
            text: format!("{plane}lagrangian x'^2/2*(1 + {t}) + y'^2/2\n{start}"),
            energy: Some(false),
            momentum: Some(true),
            ..Truth::default()
        },
    }
}

/// What is said may be nothing, but never the opposite of the truth.
#[test]
fn no_verdict_contradicts_the_whole_range() {
    let mut random = Random(20);
    let (mut n_said, mut n_open) = (0, 0);
    for _ in 0..n_cases() {
        let truth = random_model(&mut random);
        let check = looked_at(&truth.text);
        let side = check.lagrangian.as_ref().unwrap();
        let momentum = side.cyclic.iter().find(|c| c.coordinate == "x").map_or(Some(false), |c| c.conserved);
        let scleronomic = check.constraints.first().map(|c| c.time == Time::Scleronomic);
        let redundant = check.redundant.first().map_or(Some(false), |r| r.everywhere);
        let pairs = [
            ("energy", truth.energy, side.energy.conserved),
            ("momentum", truth.momentum, momentum),
            ("scleronomic", truth.scleronomic, scleronomic),
            ("integrable", truth.integrable, check.constraints.first().and_then(|c| c.integrable)),
            ("redundant", truth.redundant, redundant),
        ];
        for (what, truth_of, said) in pairs {
            let Some(wanted) = truth_of else { continue };
            n_said += usize::from(said.is_some());
            n_open += usize::from(said.is_none());
            assert!(said.is_none_or(|said| said == wanted), "{what} is {wanted}, said {said:?}\n{}", truth.text);
        }
    }
    assert!(n_open * 10 <= n_said, "{n_open} of {} are open", n_open + n_said);
}
