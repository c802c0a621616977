//! Unilateral contact: gap, normal force, take-off and rest, without friction or in spite of it.

use super::{PARTICLE_IN_THE_PLANE, events};
use crate::common::{
    all_close, attempt, close, finished, finished_model, inspected, model_text, run_and_notes, run_to, times,
};
use zwang::{LoadOptions, Overrides, RunOptions, load_with};

/// The normal force is m g once the ball is at rest.
#[test]
fn a_ball_at_rest_is_pushed_with_its_weight() {
    let text = model_text("bouncing_ball") + "\noutput push = lambda(floor)\n";
    let run = run_to(&text, &[], 6.0);
    let push = run.outputs().iter().find(|o| o.name == "push").unwrap().values.unwrap();
    close(push.last, 9.81, 1e-12);
    assert!(push.min >= 0.0);
}

/// It leaves where cos θ = 2/3 + v²/(3 g R), and reaches the floor after free flight.
#[test]
fn a_particle_leaves_the_ball_where_it_should() {
    let run = finished_model("sliding_off_sphere", 1.17632347670251591);
    all_close(&times(&run, "take-off"), &[0.754238838002551947], 1e-8);
    close(run.state().q[0], 1.47107772505707675, 1e-8);
    close(run.state().q[1], -1.0, 1e-8);
    let left = finished_model("sliding_off_sphere", 0.754238838002551947);
    close(left.state().q[0], 0.737670037375658261, 1e-8);
    close(left.state().qdot[0].hypot(left.state().qdot[1]), 2.57358375292768223, 1e-8);
    let after = finished_model("sliding_off_sphere", 1.5);
    all_close(&times(&after, "impact"), &[1.17632347670251591], 1e-8);
    close(after.state().q[1], -1.0, 1e-10);
    let press = after.outputs()[0].values.unwrap();
    assert!(press.min >= 0.0, "{press:?}");
}

/// Free accelerations (−3, −10), (5, −10), (−8, 5) under ÿ ≥ 0, ẍ + ÿ ≥ 0 and a redundant row: known in exact numbers.
#[test]
fn one_sided_rows_at_rest_move_as_the_least_constraint_says() {
    let text = model_text("one_sided_at_rest");
    for (force, a) in [(["X=-3", "Y=-10"], [0.0, 0.0]), (["X=5", "Y=-10"], [5.0, 0.0]), (["X=-8", "Y=5"], [-6.5, 6.5])]
    {
        let run = run_to(&text, &force, 1.0);
        all_close(&run.state().qdot, &a, 1e-12);
        all_close(&run.state().q, &[a[0] / 2.0, a[1] / 2.0], 1e-12);
    }
}

/// A kick lifts a ball at rest: with 5 m/s up it is back after 1 s.
#[test]
fn a_kick_lifts_a_ball_that_lies() {
    let text = "model \"kick\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0\nstart y = 0\nrun 3\n\
                when t >= 1: y' = 5\n";
    let run = run_to(text, &[], 3.0);
    all_close(&times(&run, "take-off"), &[1.0], 1e-9);
    all_close(&times(&run, "rest"), &[2.0], 1e-8);
    close(run.state().q[0], 0.0, 1e-12);
}

/// Multipliers (7, 3), (10, 0) and (0, 1.5) of the two contacts, in exact numbers.
#[test]
fn one_sided_rows_at_rest_have_the_exact_multipliers() {
    let text = model_text("one_sided_at_rest").replace("contact spare: 2*x + 3*y >= 0\n", "");
    let text = text + "output a = lambda(floor)\noutput b = lambda(slope)\n";
    for (force, pushes) in
        [(["X=-3", "Y=-10"], [7.0, 3.0]), (["X=5", "Y=-10"], [10.0, 0.0]), (["X=-8", "Y=5"], [0.0, 1.5])]
    {
        let run = run_to(&text, &force, 1.0);
        let found: Vec<f64> = run.outputs().iter().map(|o| o.values.unwrap().last).collect();
        all_close(&found, &pushes, 1e-12);
    }
}

/// What rests and cannot move stays, in few steps: a block that sticks on a slope, a particle in a groove, a block that has come
/// to rest on two contacts of one floor.
#[test]
fn bodies_at_rest_stay_at_rest() {
    let cases = [
        ("contact a: y >= 0.3*x with friction 0.5", "x = 0, y = 0", [0.0, 0.0]),
        ("constraint a: y = 0.3*x with friction 0.5", "x = 0, y = 0", [0.0, 0.0]),
        ("contact a: y >= x\ncontact b: y >= -x", "x = 0, y = 0", [0.0, 0.0]),
        // v²/(2 μ g) = 9/4
        (
            "contact a: y >= 0 with friction 0.2\ncontact b: y >= 0 with friction 0.2",
            "x = 0, y = 0, x' = 3",
            [2.25, 0.0],
        ),
    ];
    for (contacts, start, end) in cases {
        let text = format!(
            "coordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n{contacts}\nstart {start}\nrun 3"
        );
        let (run, diagnostics) = run_and_notes(&text, &[]);
        assert_eq!(run.end().as_str(), "finished", "{text}\n{diagnostics:#?}");
        for (found, wanted) in run.state().q.iter().zip(end) {
            assert!((found - wanted).abs() < 1e-8, "{text}: {:?}", run.state().q);
        }
        assert!(run.cost().steps < 100, "{text}: {}", run.cost().steps);
    }
}

/// A floor that an event takes away lets a resting body fall from where it is: 1 m in √(2/10) s; one that comes up into it, or
/// into a body in flight, ends the run.
#[test]
fn floors_that_events_move() {
    let moved = |h: &str, from: &str| {
        let text = format!(
            "coordinates y\nparameter h = 0\nmass y: 1\nforce y: -10\ncontact floor: y >= h\nwhen t >= 2: h = {h}\nstart y = {from}\nrun 4"
        );
        let (run, diagnostics) = run_and_notes(&text, &[]);
        let codes: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        (run, codes.join(" "))
    };
    let (run, codes) = moved("-1", "0");
    assert_eq!((run.end().as_str(), codes.as_str()), ("finished", ""));
    let fall = 2.0 + 0.2f64.sqrt();
    assert!(run.events().iter().any(|e| (e.t - fall).abs() < 1e-9), "{:?}", run.events());
    assert!((run.state().q[0] + 1.0).abs() < 1e-9);
    for (h, from) in [("1", "0"), ("15", "30")] {
        let (run, codes) = moved(h, from);
        assert_eq!(codes, "Z607", "{h} {from}");
        assert!((run.state().t - 2.0).abs() < 1e-9);
    }
}

/// Every route leads through contacts.
#[test]
fn contacts_follow_every_route() {
    let text = model_text("thrown_box");
    let wanted = finished(&text, &[]);
    for route in zwang_motion::RouteName::ALL {
        let system = load_with(&text, &LoadOptions { route, ..LoadOptions::default() }).unwrap();
        let run = system.run(&RunOptions::default()).unwrap();
        assert_eq!(*run.end(), zwang::simulate::End::Finished, "{}", route.as_str());
        close(run.state().q[0], wanted.state().q[0], 1e-8);
    }
}

/// A floor in the way of a constraint contradicts it, with friction and without.
#[test]
fn a_contact_in_the_way_of_a_constraint_is_a_contradiction() {
    for friction in ["", " with friction 0.3"] {
        let text = format!(
            "model \"press\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
             constraint c: y = -0.1*t\ncontact floor: y >= -0.05{friction}\nstart x = 0, y = 0, x' = 1\nrun 3\n"
        );
        let (_, diagnostics) = run_and_notes(&text, &[]);
        assert!(diagnostics.iter().any(|d| d.code == "Z301"), "{diagnostics:#?}");
    }
}

/// A coin pushed over a hill of curvature 1 with 4 m/s needs 16 m/s² to stay on it and has 10: it leaves at once.
#[test]
fn take_off_at_the_start_is_reported() {
    let text = "model \"hill\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact hill: y >= -x^2/2\nparameter v = 4\nstart x = 0, y = 0, x' = v\nrun 0.2\n";
    assert_eq!(events(&run_and_notes(text, &[]).0), [(0.0, "take-off", "hill")]);
    let (slow, _) = attempt(text, &["v=2"]);
    assert!(slow.unwrap().events().is_empty());
}

/// A floor lifts 1 kg at 1 m/s, against 10 N; two contacts before it are open and have no power.
#[test]
fn an_open_contact_has_no_power() {
    for friction in ["", " with friction 0.2"] {
        let text = format!(
            "{PARTICLE_IN_THE_PLANE}contact a: y >= 0{friction}\ncontact b: 5 >= x\ncontact floor: y >= 1 + t\n\
             output p = power(a)\noutput w = work(a)\noutput lift = power(floor)\n\
             start x = 0, y = 1, x' = 3, y' = 1\nrun 1\n"
        );
        let found = inspected(&text, &Overrides::default());
        let value = |name: &str| found.outputs.iter().find(|(n, _)| n == name).and_then(|(_, v)| *v);
        assert_eq!(value("p"), Some(0.0), "{friction}: {:?}", found.outputs);
        close(value("lift").unwrap(), 10.0, 1e-12);
        // work since the start needs the motion
        assert_eq!(value("w"), None);
        let (run, _) = run_and_notes(&text, &[]);
        let last = |name: &str| run.outputs().iter().find(|o| o.name == name).and_then(|o| o.values).map(|v| v.last);
        assert_eq!((last("p"), last("w")), (Some(0.0), Some(0.0)));
        close(last("lift").unwrap(), 10.0, 1e-8);
    }
}
