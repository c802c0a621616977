//! What a run with contacts and friction tells: its events, and what is not determined or does not fit.

mod common;

use common::{attempt, close, inspected, told};
use zwang::diagnostic::Diagnostics;
use zwang::{Overrides, Run};

/// Time, kind and name of every event.
fn events(run: &Run) -> Vec<(f64, &str, &str)> {
    run.events.iter().map(|e| (e.t, e.kind, e.name.as_str())).collect()
}

fn codes(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|d| d.code).collect()
}

const BALL: &str = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\n";

/// A ball that lies is driven into the floor with 4: it is struck, and does not take off by itself; 2 comes back for 0.4 s.
#[test]
fn a_blow_by_an_event_is_an_impact() {
    let text =
        format!("{BALL}contact floor: y >= 0 with restitution 0.5\nwhen t >= 1: y' = -4\nstart y = 0\nrun 1.5\n");
    let (found, _) = told(&text, &[]);
    let told = events(&found);
    assert_eq!((told[1].1, told[2].1), ("impact", "impact"), "{told:?}");
    close(told[1].0, 1.0, 1e-12);
    close(told[2].0, 1.4, 1e-9);
    assert!(!told.iter().any(|e| e.1 == "take-off"), "{told:?}");
}

/// A coin pushed over a hill of curvature 1 with 4 m/s needs 16 m/s² to stay on it and has 10: it leaves at once.
#[test]
fn leaving_at_the_start_is_told() {
    let text = "model \"hill\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact hill: y >= -x^2/2\nparameter v = 4\nstart x = 0, y = 0, x' = v\nrun 0.2\n";
    assert_eq!(events(&told(text, &[]).0), [(0.0, "take-off", "hill")]);
    let (slow, _) = attempt(text, &["v=2"]);
    assert!(slow.unwrap().events.is_empty());
}

/// Three balls of which two touch: one blow, and both contacts take an impulse.
#[test]
fn every_contact_that_takes_an_impulse_is_told() {
    let text = "model \"cradle\"\ncoordinates x[1..3]\nmass x[1]: 1\nmass x[2]: 1\nmass x[3]: 1\n\
                contact c1: x[2] - x[1] >= 1 with restitution 1\ncontact c2: x[3] - x[2] >= 1 with restitution 1\n\
                start x[1] = -1, x[2] = 1, x[3] = 2, x[1]' = 1\nrun 3\n";
    let (found, _) = told(text, &[]);
    let told = events(&found);
    assert_eq!(told.iter().map(|e| (e.1, e.2)).collect::<Vec<_>>(), [("impact", "c1"), ("impact", "c2")]);
    told.iter().for_each(|e| close(e.0, 1.0, 1e-12));
    // Moreau's law: (−1/3, 2/3, 2/3), and the balls that stay together cost no steps
    close(found.state.q[0], -2.0 / 3.0, 1e-9);
    assert!(found.counts.steps < 100 && found.counts.evaluations < 10_000, "{:?}", found.counts);
}

/// 5 m fall takes 1 s, the whole run: it is struck there, and 5 m/s come back.
#[test]
fn an_impact_at_the_very_end_is_met() {
    let (found, _) =
        told(&format!("{BALL}contact c: y >= 0 with restitution 0.5\nstart y = 5\nrun 1\noutput v = y'\n"), &[]);
    assert_eq!(found.events.len(), 1);
    close(found.events[0].t, 1.0, 1e-12);
    close(found.state.qdot[0], 5.0, 1e-9);
    close(found.outputs[0].values.unwrap().last, 5.0, 1e-9);
    close(found.audit.energy.impacts, -37.5, 1e-8);
}

/// Down with 4 against 6 + 4 it stops after 0.4 s and slides back with 6 − 4.
#[test]
fn turning_back_is_told() {
    let text = "model \"slope\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (6, -8)\n\
                constraint floor: y = 0 with friction 0.5\nstart x = 0, x' = -4\nrun 3\n";
    let (found, _) = told(text, &[]);
    assert_eq!((found.events.len(), found.events[0].kind), (1, "slip"));
    close(found.events[0].t, 0.4, 1e-9);
    close(found.state.q[0], -0.8 + 2.6 * 2.6, 1e-8);
}

/// A box that sticks with two feet: how they share the force along the floor is not determined, and said; what is shown lies in the
/// cones, in the run and in the inspection alike.
#[test]
fn shares_of_what_sticks_are_told_and_agree() {
    let text = "model \"box\"\ncoordinates x, y, θ\nparameter m = 1, a = 0.5, b = 1, g = 10, F = 4\n\
                body B at (x, y) turned by θ with mass m and inertia m*(a^2 + b^2)/3\ngravity (0, -g)\n\
                point L = B.point(-a, -b)\npoint R = B.point(a, -b)\nforce x: F\n\
                contact l: L.y >= 0 with friction 0.45 and at L\ncontact r: R.y >= 0 with friction 0.45 and at R\n\
                start x = 0, y = b, θ = 0\nrun 1\noutput fl = reaction(l, L).x\noutput fr = reaction(r, R).x\n\
                output nl = reaction(l, L).y\noutput nr = reaction(r, R).y\n";
    let (found, diagnostics) = told(text, &[]);
    assert!(codes(&diagnostics).contains(&"Z614"), "{diagnostics:#?}");
    let last: Vec<f64> = found.outputs.iter().map(|o| o.values.unwrap().last).collect();
    // the moment of F about the feet: 4·1 = 10·0.5·… leaves 1 on the left and 9 on the right
    close(last[0] + last[1], -4.0, 1e-9);
    close(last[2], 1.0, 1e-9);
    close(last[3], 9.0, 1e-9);
    let in_cones = |f: &[f64]| f[0].abs() <= 0.45 * f[2] + 1e-9 && f[1].abs() <= 0.45 * f[3] + 1e-9;
    assert!(in_cones(&last), "{last:?}");
    let inspection = inspected(text, &Overrides::default());
    let shown: Vec<f64> = inspection.outputs.iter().map(|(_, value)| value.unwrap()).collect();
    shown.iter().zip(&last).for_each(|(x, y)| close(*x, *y, 1e-9));
}

/// Two rough contacts that say the same share the weight, and with it the friction: said (Z611, Z614), and no paradox (Z610).
#[test]
fn rough_contacts_that_repeat_each_other_are_no_paradox() {
    let same = "contact f: y >= 0 with friction 0.2\ncontact c: y >= 0 with friction 0.4\n";
    let beside = "constraint a: y = 0\ncontact floor: y >= 0 with friction 0.3\n";
    for (stated, y) in [(same, "y = 0"), (beside, ""), (same, "y = 1")] {
        let start = if y.is_empty() { String::new() } else { format!("{y}, ") };
        let text = format!(
            "model \"twice\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n{stated}\
             start {start}x = 0, x' = 3\nrun 3\n"
        );
        let (found, diagnostics) = told(&text, &[]);
        assert_eq!(found.ended.as_str(), "finished", "{diagnostics:#?}");
        assert!(codes(&diagnostics).contains(&"Z611") && !codes(&diagnostics).contains(&"Z610"), "{diagnostics:#?}");
        // by whatever shares, friction takes between 0.2 and 0.4, or nothing and 0.3, of the weight
        assert!(found.state.q[0] > 0.0 && found.state.q[0] < 9.0, "{:?}", found.state);
    }
}

/// Z610 names the inequality that each way to go on breaks, with its numbers.
#[test]
fn a_paradox_is_told_with_its_inequalities() {
    let (_, diagnostics) = attempt(&common::model_text("painleve_rod"), &["u=-3"]);
    let told = diagnostics.iter().find(|d| d.code == "Z610").expect("a rod that digs in");
    let inequalities = told.notes.iter().filter(|n| n.contains("instead of") || n.contains("μ N =")).count();
    assert!(inequalities >= 2, "{told:#?}");
}

/// What a model says wrongly is told, with the place.
#[test]
fn mistakes_are_told() {
    let particle = "coordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n";
    let floor = "constraint floor: y = 0";
    for (text, code, part) in [
        (
            format!("{particle}{floor} with friction 0.2 and sliding 0.5\nstart x = 0, x' = 1\nrun 1\n"),
            "Z320",
            "sliding",
        ),
        (format!("{particle}{floor}\nwhen t >= 0.5: y' = 2\nstart x = 1\nrun 1\n"), "Z615", "t >= 0.5"),
        (format!("{particle}contact f: y^3 >= 0\nstart x = 0, y = 1\nrun 3\n"), "Z603", "contact `f`"),
        (
            format!("{particle}contact f: y >= t\ncontact c: 1 >= y\nstart x = 0, y = 0.5\nrun 3\n"),
            "Z301",
            "contact `c`",
        ),
        (
            format!("{particle}constraint a: y = 1 - t\ncontact f: y >= 0\nstart x = 0\nrun 3\n"),
            "Z301",
            "constraint `a`",
        ),
    ] {
        let (_, diagnostics) = attempt(&format!("model \"m\"\n{text}"), &[]);
        let told = diagnostics.iter().find(|d| d.code == code).unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
        assert!(told.message.contains(part), "{told:#?}");
        assert!(told.span.is_some(), "{told:#?}");
    }
}

/// Of a start inside, what is given roughly moves, and what is given exactly stays: y ~ 0 goes to x² = 1.
#[test]
fn the_way_out_of_a_start_inside_keeps_what_is_exact() {
    let text = "model \"start\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ncontact f: y >= x^2\n\
                start x = 1, y ~ 0\nrun 3\n";
    let (_, diagnostics) = attempt(text, &[]);
    let told = diagnostics.iter().find(|d| d.code == "Z203").unwrap();
    assert!(told.help.iter().any(|h| h.contains("x = 1, y = 1")), "{told:#?}");
}

/// Where a gap has no value the run ends there, x = 0 at t = ½, and not a step before.
#[test]
fn a_gap_without_a_value_ends_the_run_where_it_begins() {
    let text = "model \"gap\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact floor: y >= sqrt(x)\nstart x = 1, y = 3, x' = -2\nrun 5\n";
    let (found, _) = told(text, &[]);
    close(found.state.t, 0.5, 1e-9);
}

const THROWN: &str = "model \"thrown\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n";

/// A floor lifts 1 kg at 1 m/s, against 10 N; two contacts before it are open and have no power.
#[test]
fn an_open_contact_has_no_power() {
    for friction in ["", " with friction 0.2"] {
        let text = format!(
            "{THROWN}contact a: y >= 0{friction}\ncontact b: 5 >= x\ncontact floor: y >= 1 + t\n\
             output p = power(a)\noutput w = work(a)\noutput lift = power(floor)\n\
             start x = 0, y = 1, x' = 3, y' = 1\nrun 1\n"
        );
        let found = inspected(&text, &Overrides::default());
        let value = |name: &str| found.outputs.iter().find(|(n, _)| n == name).and_then(|(_, v)| *v);
        assert_eq!(value("p"), Some(0.0), "{friction}: {:?}", found.outputs);
        close(value("lift").unwrap(), 10.0, 1e-12);
        // work since the start needs the motion
        assert_eq!(value("w"), None);
        let (run, _) = told(&text, &[]);
        let last = |name: &str| run.outputs.iter().find(|o| o.name == name).and_then(|o| o.values).map(|v| v.last);
        assert_eq!((last("p"), last("w")), (Some(0.0), Some(0.0)));
        close(last("lift").unwrap(), 10.0, 1e-8);
    }
}

/// Four smooth legs share a force, and nothing depends on the shares: no warning, only the note on the forces.
#[test]
fn without_friction_nothing_is_driven_by_a_shared_force() {
    let legs = |mu: f64| {
        let leg = |k: i32, u: f64, w: f64| {
            format!(
                "point C{k} = (x, y, z + ({u})*a + ({w})*b)\n\
                 contact l{k}: C{k}.z >= 0 with friction {mu} and slip (x', y', 0) and at C{k}\n"
            )
        };
        let legs: String =
            [(1, 0.3, 0.2), (2, -0.3, 0.2), (3, 0.3, -0.2), (4, -0.3, -0.2)].map(|(k, u, w)| leg(k, u, w)).concat();
        format!(
            "model \"legs\"\ncoordinates x, y, z, a, b\nmass x, y, z: 1\nmass a, b: 0.1\nforce z: -10\n{legs}\
             start x = 0, y = 0, z = 0, a = 0, b = 0, x' = 1, y' = 0, z' = 0, a' = 0, b' = 0\nrun 0.1\n"
        )
    };
    assert!(!codes(&told(&legs(0.0), &[]).1).contains(&"Z611"));
    assert!(codes(&told(&legs(0.3), &[]).1).contains(&"Z611"));
}

/// A slip that is no velocity is refused, and two bodies that move are told of the slip between them.
#[test]
fn a_slip_is_a_velocity() {
    let refused = |text: &str| {
        let reading = zwang::read(text, &Overrides::default());
        let found = reading.diagnostics.iter().find(|d| d.code == "Z319").cloned();
        found.unwrap_or_else(|| panic!("{text}\n{:#?}", reading.diagnostics))
    };
    let with = |slip: &str| {
        format!("{THROWN}contact a: y >= 0 with friction 0.3 and slip {slip}\nstart x = 0, y = 0\nrun 1\n")
    };
    assert!(refused(&with("x'^2")).message.contains("not linear"));
    assert!(refused(&with("0*x' + 1")).message.contains("no velocity"));
    assert!(zwang::read(&with("x' - 1"), &Overrides::default()).model.is_some());
    assert!(zwang::read(&with("cos(x)*x' + t*y'"), &Overrides::default()).model.is_some());
    let plank = "model \"plank\"\ncoordinates x[1..2], y[1..2]\nparticle P[i in 1..2] at (x[i], y[i]) with mass 1\n\
                 gravity (0, -10)\ncontact deck: y[2] - y[1] >= 0.1 with friction 0.4\nrun 1\n";
    assert!(refused(plank).help.iter().any(|help| help.contains("slip")));
}

/// A foot that sticks on the floor beside a hinge on a wall and on the floor: one force along the floor is not determined, and the
/// sentence is about one.
#[test]
fn a_single_force_that_is_shared_is_told_as_one() {
    let text = "model \"half a step ladder\"\ncoordinates x, y, a\n\
                body L at (x, y) + 0.25*(cos(a), sin(a)) turned by a with mass 1 and inertia 1/48\ngravity (0, -9.81)\n\
                point A = (x, y)\npoint H = A + 0.5*(cos(a), sin(a))\nconstraint mirror: H.x = 0\n\
                contact left: A.y >= 0 with friction 0.2 and at A\ncontact hinge: H.y >= 0\n\
                start x ~ -0.3, y = 0, a = 0.8, x' = 0, y' = 0, a' = 0\nrun 2\n";
    let (_, diagnostics) = told(text, &[]);
    let note = diagnostics.iter().find(|d| d.code == "Z614").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert_eq!(note.message, "the force of `left` is not determined");
}

/// The wire of the second bead stops pressing at 2.1586 s. With friction against its slip, pressed on either side it would press on
/// the other: no motion goes on.
#[test]
fn a_force_that_can_press_on_neither_side_ends_the_motion() {
    let text = "model \"beads\"\ncoordinates x0, y0, x1, y1, x2, y2\nparticle P0 at (x0, y0) with mass 2\n\
                particle P1 at (x1, y1) with mass 2.2\nparticle P2 at (x2, y2) with mass 0.65\ngravity (0, -9.81)\n\
                constraint upper: |P0 - P1| = sqrt(1.21^2 + 1.23^2)\nconstraint lower: |P1 - P2| = sqrt(1.13^2 + 1.86^2)\n\
                constraint straight: 0.78*x1 + 0.63*y1 = 0.78*0.67 + 0.63*0.96 with friction 0.158 and sliding 0.142 and at P1\n\
                constraint round: (x2 - 0.53)^2 + (y2 + 0.19)^2 = 0.99^2 + 0.71^2 with friction 0.483 and at P2\n\
                force P2: (2.2*sin(1.05*t), 9.13*cos(1.43*t))\n\
                start x0 = -0.54, y0 = -0.27, x1 = 0.67, y1 = 0.96, x2 = -0.46, y2 = -0.9\nrun 5\n";
    let (run, diagnostics) = told(text, &[]);
    let stop = diagnostics.iter().find(|d| d.code == "Z610").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(stop.message.contains("no motion"), "{}", stop.message);
    assert_eq!(stop.notes.iter().filter(|note| note.contains("has the wrong sign")).count(), 2, "{:?}", stop.notes);
    assert!(run.counts.steps < 500, "{}", run.counts.steps);
}
