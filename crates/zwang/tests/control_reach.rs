//! Limits of control: bounds that are reached, lost control authority, singular positions, targets without effect.

use crate::common::{checked, model_text, run_as};
use zwang::diagnostic::{Diagnostic, Severity};
use zwang::{EventKind, Overrides, Run, RunOptions};

/// A run with all its diagnostics.
fn ran(text: &str) -> (Run, Vec<Diagnostic>) {
    let options = RunOptions { tolerance: Some(1e-10), ..RunOptions::default() };
    let (run, diagnostics) = run_as(text, &Overrides::default(), &options);
    let run = run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    (run, diagnostics.iter().cloned().collect())
}

/// Changes of bound: when, of which coordinate, to which bound.
fn bounds(run: &Run) -> Vec<(f64, String, &'static str)> {
    let reported = run.events().iter().filter(|e| e.kind.as_str() == "saturation");
    reported
        .map(|e| match &e.kind {
            EventKind::Saturation { coordinate, bound } => (e.t, coordinate.clone(), bound.as_str()),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn assert_bounds(text: &str, wanted: &[(f64, &str)]) {
    let found = bounds(&ran(text).0);
    assert_eq!(found.len(), wanted.len(), "{text}\n{found:?} instead of {wanted:?}");
    for ((t, name, bound), (at, side)) in found.iter().zip(wanted) {
        assert!((t - at).abs() < 1e-8 && bound == side && name == "x", "{text}\n{found:?} instead of {wanted:?}");
    }
}

/// The first message of a text with this code, in all its words.
fn reported(diagnostics: &[Diagnostic], code: &str) -> String {
    let found = diagnostics.iter().find(|d| d.code == code);
    let found = found.unwrap_or_else(|| panic!("no {code}: {diagnostics:#?}"));
    format!("{} {:?} {:?} {:?} {:?}", found.message, found.label, found.also, found.notes, found.help)
}

/// The message of `check` about a text, with this code.
fn check_says(text: &str, code: &str) -> String {
    let all: Vec<Diagnostic> = checked(text, &Overrides::default()).1.iter().cloned().collect();
    reported(&all, code)
}

/// x'' = u with |u| ≤ 1 and demand 4 (s − x) − 4 x'. From rest at 0 towards s = 1 the force is at its upper bound, x = t²/2,
/// until 2t² + 4t = 3. Then s becomes −1: at once the lower bound acts, whether the upper one still did or not.
#[test]
fn every_change_of_bound_is_reported_with_its_side() {
    let text = |when: f64| {
        format!(
            "coordinates x\nparameter s = 1\nmass x: 1\ncontrol a: x = s with settling 0.5 and limit 1\n\
             when t >= {when}: s = -1\nstart x = 0\nrun {}",
            when + 0.1
        )
    };
    let leaves = (10f64.sqrt() - 2.0) / 2.0;
    assert_bounds(&text(1.0), &[(0.0, "upper"), (leaves, "none"), (1.0, "lower")]);
    assert_bounds(&text(0.5), &[(0.0, "upper"), (0.5, "lower")]);
    let (run, _) = ran(&text(0.5));
    let names: Vec<&str> =
        run.events().iter().filter(|e| e.kind.as_str() == "saturation").map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["x at its upper limit", "x from its upper to its lower limit"]);
}

/// cos x = 2 is out of reach: from 1 at rest the bound −3 drives x = 1 − 3t²/2 to 0, where sin x changes its sign and with it
/// the bound, without a moment between.
#[test]
fn a_demand_that_jumps_through_infinity_changes_the_bound_at_once() {
    let text = "coordinates x\nmass x: 1\ncontrol a: cos(x) = 2 with settling 0.5 and limit 3\nstart x = 1\nrun 0.9";
    assert_bounds(text, &[(0.0, "lower"), ((2f64 / 3.0).sqrt(), "upper")]);
}

/// Between two bounds 10⁻⁹ s apart the bang-bang motion keeps its balance: the work of the control is the kinetic energy.
#[test]
fn work_is_kept_through_bounds_that_change_at_once() {
    let text = "coordinates x\nmass x: 1\ncontrol a: x = 2 using x with settling 1e-9 and limit 1\nstart x = 1\nrun 2\n\
                output gap = work(a) - x'^2/2\noutput push = power(a) - control(x)*x'";
    let (run, _) = ran(text);
    for name in ["gap", "push"] {
        let values = &run.samples().column(name).unwrap().values;
        let most = values.iter().fold(0f64, |top, x| top.max(x.abs()));
        assert!(most < 1e-7, "{name}: {most:e}");
    }
    let found = bounds(&run);
    // x = 1 + t²/2 reaches 2 at √2
    assert!(found[0].2 == "upper" && found[1].2 != "upper", "{found:?}");
    assert!((found[1].0 - 2f64.sqrt()).abs() < 1e-6, "{found:?}");
}

/// A force just as large as its bound is not saturated, and rounding causes no events.
#[test]
fn a_force_as_large_as_its_bound_makes_no_events() {
    let text = "coordinates x\nmass x: 3\nforce x: -3*9.81\ncontrol a: x = 0 with settling 1 and limit 3*9.81\nstart x = 0\nrun 5";
    let (run, _) = ran(text);
    assert!(bounds(&run).len() <= 1 && run.state().q[0].abs() < 1e-9, "{:?}", run.events());
}

/// A property that a `when` changes is checked where the change happens.
#[test]
fn properties_that_an_event_makes_negative_end_the_run_there() {
    for (property, name) in
        [("settling s", "settling"), ("settling 1 and damping s", "damping"), ("settling 1 and limit s", "limit")]
    {
        for value in ["-0.1", "0"] {
            let text = format!(
                "coordinates x\nparameter s = 1\nmass x: 1\ncontrol a: x = 2 using x with {property}\n\
                 when t >= 1: s = {value}\nstart x = 1\nrun 2"
            );
            let (run, all) = ran(&text);
            assert!(
                (run.state().t - 1.0).abs() < 1e-9 && run.end().as_str() != "finished",
                "{text}: {}",
                run.state().t
            );
            let found = all.iter().find(|d| d.code == "Z704").unwrap_or_else(|| panic!("{text}: {all:#?}"));
            assert!(found.is_error() && found.span.is_some(), "{found:#?}");
            let shown = reported(&all, "Z704");
            assert!(shown.contains(&format!("`{name}` of control `a` is {value} from t = 1 on")), "{shown}");
        }
    }
}

/// Two masses on a spring, force on the first: the position of the second answers in its fourth derivative, its velocity
/// in the third, its acceleration in the second.
#[test]
fn the_relative_degree_counts_from_the_target() {
    for (asked, degree, needs) in [("y = 0.1*t^4", 4, 2), ("y' = 0.1*t^4", 3, 1), ("y'' = 0.1", 2, 0)] {
        let text = format!(
            "coordinates x, y\nmass x, y: 1\npotential (y - x)^2/2\ncontrol load: {asked} using x\nstart x = 0, y = 0"
        );
        let found = check_says(&text, "Z702");
        assert!(found.contains(&format!("relative degree {degree}; what is computed needs {needs}")), "{found}");
    }
    // a load on a rope, the target of two controls: along the rope both forces act at once, across it neither does
    let crane = "coordinates x, l, a\nmass x: 10\nmass l: 2\nparticle load at (x + l*sin(a), -l*cos(a)) with mass 50\n\
                 gravity (0, -9.81)\ncontrol movex: load.x = 0.5*t using x, l with settling 1\n\
                 control movey: load.y = -4 using x, l with settling 1\nstart x = 0, l = 4, a = 0.3";
    let found = check_says(crane, "Z702");
    assert!(found.contains("relative degree 4") && found.contains("`movex`") && found.contains("`movey`"), "{found}");
    // across the rope: cos a · x + sin a · y, shown with its largest factor one
    assert!(found.contains(&format!("(`movex` + {:.4} `movey`)''", 0.3f64.tan())), "{found}");
}

/// At the lowest point of a circle a vertical force causes no sideways acceleration, next to that point it does: the
/// relative degree is not the cause.
#[test]
fn a_singular_position_is_called_singular() {
    let text = |x: f64| {
        let y = -(1.0 - x * x).sqrt();
        format!(
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint r: x^2 + y^2 = 1\nconstraint h: z = y\nforce y: -9.81\n\
             control a: x = sin(t) using z with settling 0.5\nstart x = {x}, y = {y}, z = {y}"
        )
    };
    let found = check_says(&text(0.0), "Z701");
    for part in
        ["in this position", "rank 0 of 1", "missing: `a`", "position is singular", "close by the rank is 1 of 1"]
    {
        assert!(found.contains(part), "no {part:?} in {found}");
    }
    assert!(checked(&text(0.1), &Overrides::default()).0.is_some());
}

/// A stretched arm cannot push along itself: the missing direction is that of the arm, here at −20°.
#[test]
fn a_singular_start_names_the_missing_direction() {
    let arm = model_text("two_link_arm");
    let (_, all) = checked(&arm, &Overrides { start: vec!["q2 = 0".into()], ..Overrides::default() });
    let found = reported(&all.iter().cloned().collect::<Vec<_>>(), "Z701");
    let tangent = format!("missing: `trace.x` - {:.3} `trace.y`", 20f64.to_radians().tan());
    for part in ["singular", "rank 1 of 2", tangent.as_str()] {
        assert!(found.contains(part), "no {part:?} in {found}");
    }
    // |v|² does not answer to accelerations at rest
    let rest = "coordinates x, y\nmass x, y: 2\ncontrol a: x'^2 + y'^2 = 1 with settling 0.5\nstart x = 0, y = 0";
    let found = check_says(rest, "Z701");
    assert!(found.contains("missing: `a`") && found.contains("rank 0 of 1"), "{found}");
}

/// θ = θ₀ (1 + s) e^(−s) with s = t/τ from 100° falls through 90°, where the cart no longer moves the angle: (1 + s) e^(−s) = 0.9.
/// The run ends just before, promptly.
#[test]
fn a_loss_of_control_authority_ends_the_run_promptly() {
    let (run, all) = ran(&model_text("cart_pendulum").replace("θ = 15 deg", "θ = 100 deg"));
    let (mut low, mut high) = (0.0, 2.0);
    while high - low > 1e-14 {
        let s: f64 = 0.5 * (low + high);
        if (1.0 + s) * (-s).exp() > 0.9 { low = s } else { high = s }
    }
    let wanted = 0.3 * low;
    assert!(run.state().t < wanted && wanted - run.state().t < 2e-3, "{} instead of {wanted}", run.state().t);
    assert!(run.cost().steps < 400 && run.end().as_str() == "out-of-reach", "{} steps", run.cost().steps);
    let found = reported(&all, "Z703");
    for part in
        ["forces on `x` cannot make the motion follow `catch` beyond t = 0.1", "rank 0 of 1", "missing: `catch`"]
    {
        assert!(found.contains(part), "no {part:?} in {found}");
    }
}

/// A load on a rope driven sideways by its trolley, from a slanting rope: control authority ends where the rope hangs straight.
#[test]
fn a_crane_driven_through_its_rope_ends_where_the_rope_hangs_straight() {
    let text = "coordinates x, l, a\nmass x: 10\nmass l: 2\nparticle load at (x + l*sin(a), -l*cos(a)) with mass 50\n\
                gravity (0, -9.81)\ncontrol move: load.x = 0.5*t using x with settling 1\nstart x = 0, l = 4, a = 0.3\nrun 20";
    let (run, all) = ran(text);
    assert!(run.cost().steps < 1000, "{}", run.cost().steps);
    assert!(run.state().q[2].abs() < 1e-2, "{:?}", run.state());
    let found = reported(&all, "Z703");
    assert!(found.contains("rank 0 of 1") && found.contains("missing: `move`"), "{found}");
}

/// Controls and constraints that contradict each other are all shown, each under its own kind.
#[test]
fn contradicting_controls_are_each_labelled() {
    let two = "coordinates x\nmass x: 1\ncontrol a: x = sin(t) with settling 1\ncontrol b: x = cos(t) with settling 1\nstart x = 0";
    let all: Vec<Diagnostic> = checked(two, &Overrides::default()).1.iter().cloned().collect();
    let found = all.iter().find(|d| d.code == "Z701").unwrap_or_else(|| panic!("{all:#?}"));
    assert!(found.span.is_some() && found.also.len() == 1, "{found:#?}");
    assert!(found.message.contains("`a` and `b`") && found.message.contains("contradict"), "{found:#?}");
    let held = "coordinates x\nmass x: 1\nconstraint d: x = 1\ncontrol c: x = 1 + t^2 with settling 1\nstart x = 1";
    let found = check_says(held, "Z701");
    assert!(found.contains("`c`") && found.contains("`d` holds it otherwise"), "{found}");
    for (line, code) in [
        ("control a: 1 = 1", "Z302"),
        ("control a: x'' = 1", "Z303"),
        ("control a: x''^2 = 1", "Z304"),
        ("control a: x = 1\nconstraint a: x = 1", "Z104"),
    ] {
        let found = check_says(&format!("coordinates x\nmass x: 1\n{line}\nstart x = 1"), code);
        assert!(found.contains("control") && !found.contains("constraint `a`"), "{found}");
    }
}

/// Properties and targets without effect are reported.
#[test]
fn properties_and_targets_without_effect_are_reported() {
    let head = "coordinates x, y\nmass x, y: 1\nstart x = 1, y = 0, x' = 0, y' = 1\n";
    for (line, code, severity, parts) in [
        ("control a: x' = 1 with settling 0.5 and damping 2", "Z704", Severity::Error, &["asks for a velocity"][..]),
        (
            "control a: x = 1 using x, y with settling 0.5 and limit 1\ncontrol b: y = 1 using x, y with settling 0.5 and limit 2",
            "Z704",
            Severity::Warning,
            &["the force on `x` has two limits", "`a` and of `b`"],
        ),
        (
            "control a: x = sin(t) with settling 1\ncontrol b: 2*x = 2*sin(t) with settling 1",
            "Z707",
            Severity::Note,
            &["the target of control `b` follows from `a` at the start"],
        ),
        (
            "constraint r: x^2 + y^2 = 1\ncontrol a: x^2 + y^2 = 1 with settling 1",
            "Z707",
            Severity::Note,
            &["the target of control `a` follows from constraint `r` at the start"],
        ),
    ] {
        let all: Vec<Diagnostic> = checked(&format!("{head}{line}"), &Overrides::default()).1.iter().cloned().collect();
        let found = all.iter().find(|d| d.code == code).unwrap_or_else(|| panic!("{line}: {all:#?}"));
        assert_eq!(found.severity, severity, "{found:#?}");
        parts.iter().for_each(|part| assert!(found.message.contains(part), "no {part:?} in {found:#?}"));
    }
    // no limit is stated twice if both say the same
    let same =
        "control a: x = 1 using x with settling 1 and limit 1\ncontrol b: y = 1 using y with settling 1 and limit 2";
    assert!(checked(&format!("{head}{same}"), &Overrides::default()).1.iter().all(|d| d.code != "Z704"));
}

/// Units are checked wherever they are written, and the place that determined one is shown.
#[test]
fn units_of_controls_are_checked() {
    let head = "coordinates x\nparameter m = 2 kg\nparticle P at (x, 0) with mass m\nrun 1 s\n";
    let both = format!("{head}control a: x = 1[m] using x with settling 1 m and limit 3 s\nstart x = 0 m");
    let found: Vec<String> = checked(&both, &Overrides::default()).1.iter().map(|d| d.code.to_string()).collect();
    assert_eq!(found, ["Z501", "Z501"]);
    // x is a time because of the control, not because of the particle
    let text = format!("{head}control a: x = 1[s] using x with settling 1 s and limit 3 N\nstart x = 0");
    let (_, all) = checked(&text, &Overrides::default());
    let blamed: Vec<&str> = all.iter().flat_map(|d| &d.also).map(|(span, _)| &text[span.start..span.end]).collect();
    assert!(blamed.contains(&"x = 1[s]") && !blamed.iter().any(|part| part.contains("with mass")), "{blamed:?}");
    // a zero with a unit has it, a bare one fits anything
    for (start, fits) in [("x = 0 s", false), ("x = 0 m", true), ("x = 0", true)] {
        let text = format!("{head}force x: 3[N]\nstart {start}");
        assert_eq!(checked(&text, &Overrides::default()).0.is_some(), fits, "{start}");
    }
}

/// On a ring the constraint satisfies each of two targets at some places, never both: the path is followed all the way round.
#[test]
fn a_target_that_the_constraint_satisfies_at_the_start_is_tracked_later() {
    for gravity in ["", "potential 9.81*y\n"] {
        for weight in ["", " using x, y with weight (1, 2)"] {
            let text = format!(
                "coordinates x, y\nmass x, y: 1\n{gravity}constraint rod: x^2 + y^2 = 1
control s: (x, y) = (cos(t), sin(t)){weight}\nstart x = 1, y = 0, y' = 1\nrun 8"
            );
            let (run, reported) = ran(&text);
            assert_eq!(run.end().as_str(), "finished", "{text}\n{reported:#?}");
            let off = (run.state().q[0] - 8.0_f64.cos()).hypot(run.state().q[1] - 8.0_f64.sin());
            assert!(off < 1e-8, "{text}\n{off}");
        }
    }
}

/// x² + y² = 1 and x = cos t are one control at (1, 0) and two next to it: no force there belongs to both.
#[test]
fn targets_that_coincide_at_the_start_are_a_singular_position() {
    let text = "coordinates x, y\nmass x, y: 1\ncontrol a: x^2 + y^2 = 1\ncontrol s: x = cos(t)\nstart x = 1, y = 0, y' = 1\nrun 8";
    let words = check_says(text, "Z701");
    assert!(words.contains("the position is singular: close by the rank is 2 of 2"), "{words}");
}
