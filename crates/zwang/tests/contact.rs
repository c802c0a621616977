//! Contacts and impacts along the motion, against closed forms.

#![allow(clippy::excessive_precision, reason = "values as the literature gives them")]

mod common;

use common::{all_close, attempt_to, close, finished_model, model_text, run_to, times};
use zwang::simulate::Ended;
use zwang::{Overrides, RunWishes, read, simulate};

/// Impact k of a ball dropped from 1 m with restitution ε is at t₁ + 2 t₁(ε + … + ε^(k−1)); all end at t₁(1 + ε)/(1 − ε).
#[test]
fn a_bouncing_ball_comes_to_rest_in_finite_time() {
    let t1 = (2.0f64 / 9.81).sqrt();
    let impact = |k: i32| t1 + 2.0 * t1 * (1..k).map(|j| 0.8f64.powi(j)).sum::<f64>();
    let end = t1 * 1.8 / 0.2;
    for (t, n, y, ydot) in [
        (1.0, 1, 0.468004452526036311, -1.83699554747396369),
        (2.0, 3, 0.260741728327057197, -0.165869135836471402),
        (3.0, 6, 0.068707460965765722, -0.0153541333847447593),
        (4.0, 19, 0.0000776749914278877753, 0.0505067445274685524),
    ] {
        let run = finished_model("bouncing_ball", t);
        close(run.state.q[0], y, 1e-8);
        close(run.state.qdot[0], ydot, 1e-8);
        let found = times(&run, "impact");
        assert_eq!(found.len(), n, "at t = {t}");
        all_close(&found, &(1..=n as i32).map(impact).collect::<Vec<_>>(), 1e-9);
    }
    let run = finished_model("bouncing_ball", 60.0);
    all_close(&times(&run, "rest"), &[end], 1e-8);
    assert_eq!(times(&run, "rest").len(), 1);
    close(run.state.q[0], 0.0, 1e-12);
    close(run.state.qdot[0], 0.0, 1e-12);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
    close(run.audit.energy.end, 0.0, 1e-10);
}

/// What is left of the energy and what impacts took make up what there was.
#[test]
fn impacts_take_the_energy_that_is_missing() {
    let text = "model \"ball\"\ncoordinates y\nlagrangian L = y'^2/2 - 9.81*y\n\
                contact floor: y >= 0 with restitution 0.8\nstart y = 1\nrun 2\n";
    for (to, energy) in [(0.4, 9.81), (1.0, 9.81 * 0.64), (1.5, 9.81 * 0.64 * 0.64), (5.0, 0.0)] {
        let run = run_to(text, &[], to);
        let account = &run.audit.energy;
        close(account.start, 9.81, 1e-12);
        close(account.end, energy, 1e-8);
        close(account.impacts, energy - 9.81, 1e-8);
        close(account.work, 0.0, 1e-8);
        assert!(account.drift < 1e-8, "{account:?}");
    }
}

/// The floor pushes with m g once the ball lies.
#[test]
fn a_ball_at_rest_is_pushed_with_its_weight() {
    let text = model_text("bouncing_ball") + "\noutput push = lambda(floor)\n";
    let run = run_to(&text, &[], 6.0);
    let push = run.outputs.iter().find(|o| o.name == "push").unwrap().values.unwrap();
    close(push.last, 9.81, 1e-12);
    assert!(push.min >= 0.0);
}

/// It leaves where cos θ = 2/3 + v²/(3 g R), and meets the floor after free flight.
#[test]
fn a_particle_leaves_the_ball_where_it_should() {
    let run = finished_model("sliding_off_sphere", 1.17632347670251591);
    all_close(&times(&run, "take-off"), &[0.754238838002551947], 1e-8);
    close(run.state.q[0], 1.47107772505707675, 1e-8);
    close(run.state.q[1], -1.0, 1e-8);
    let left = finished_model("sliding_off_sphere", 0.754238838002551947);
    close(left.state.q[0], 0.737670037375658261, 1e-8);
    close(left.state.qdot[0].hypot(left.state.qdot[1]), 2.57358375292768223, 1e-8);
    let after = finished_model("sliding_off_sphere", 1.5);
    all_close(&times(&after, "impact"), &[1.17632347670251591], 1e-8);
    close(after.state.q[1], -1.0, 1e-10);
    let press = after.outputs[0].values.unwrap();
    assert!(press.min >= 0.0, "{press:?}");
}

/// Six impacts, with elliptic times of flight between them.
#[test]
fn a_pendulum_meets_its_stop_on_time() {
    let wanted = [
        0.652048229598350203,
        2.00499885341248025,
        3.44536859614313506,
        4.99184526452942695,
        6.64537372835402505,
        8.39324199412131724,
    ];
    let run = finished_model("pendulum_stop", 9.0);
    let found = times(&run, "impact");
    assert_eq!(found.len(), 6);
    all_close(&found, &wanted, 1e-9);
}

/// Moreau's law for contacts that are struck at once; the sequential one for balls a hair apart.
#[test]
fn the_cradle_follows_the_law_for_all_contacts_at_once() {
    let text = model_text("newtons_cradle");
    let moreau = run_to(&text, &[], 1.0);
    all_close(&moreau.state.qdot, &[-0.6, 0.4, 0.4, 0.4, 0.4], 1e-12);
    let apart = text.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    assert_ne!(apart, text);
    let sequential = run_to(&apart, &[], 1.0);
    all_close(&sequential.state.qdot, &[0.0, 0.0, 0.0, 0.0, 1.0], 1e-12);
    assert_eq!(times(&sequential, "impact").len(), 4);
    for run in [moreau, sequential] {
        close(run.state.qdot.iter().sum::<f64>(), 1.0, 1e-12);
        close(run.state.qdot.iter().map(|v| v * v).sum::<f64>(), 1.0, 1e-12);
    }
}

/// Free accelerations (−3, −10), (5, −10), (−8, 5) under ÿ ≥ 0, ẍ + ÿ ≥ 0 and a redundant row: known in exact numbers.
#[test]
fn one_sided_rows_at_rest_move_as_the_least_constraint_says() {
    let text = model_text("one_sided_at_rest");
    for (force, a) in [(["X=-3", "Y=-10"], [0.0, 0.0]), (["X=5", "Y=-10"], [5.0, 0.0]), (["X=-8", "Y=5"], [-6.5, 6.5])]
    {
        let run = run_to(&text, &force, 1.0);
        all_close(&run.state.qdot, &a, 1e-12);
        all_close(&run.state.q, &[a[0] / 2.0, a[1] / 2.0], 1e-12);
    }
}

/// Three boxes on top of each other, dropped from a little height: the floor carries all of them.
#[test]
fn a_stack_comes_to_rest_and_carries_its_weight() {
    let text = "model \"stack\"\ncoordinates y[1..3]\nmass y[1..3]: 2\nforce y[i in 1..3]: -2*9.81\n\
                contact floor: y[1] >= 0 with restitution 0.3\n\
                contact upon[i in 2..3]: y[i] - y[i-1] >= 1 with restitution 0.3\n\
                start y[i in 1..3] = (i - 1) + 0.2*i, y[i in 1..3]' = 0\nrun 5\n\
                output a = lambda(floor)\noutput b = lambda(upon[2])\noutput c = lambda(upon[3])\n";
    let run = run_to(text, &[], 5.0);
    assert_eq!(run.ended, Ended::Finished);
    all_close(&run.state.q, &[0.0, 1.0, 2.0], 1e-9);
    all_close(&run.state.qdot, &[0.0, 0.0, 0.0], 1e-12);
    for (k, output) in run.outputs.iter().enumerate() {
        close(output.values.unwrap().last, 9.81 * 2.0 * (3 - k) as f64, 1e-9);
    }
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
}

/// A box on four legs: one more contact than freedoms, and the weight is shared.
#[test]
fn four_legs_stand_although_three_would_do() {
    let text = "model \"box\"\ncoordinates z, a, b\nmass z: 4\nmass a, b: 0.5\nforce z: -4*9.81\n\
                contact leg1: z + a + b >= 0\ncontact leg2: z + a - b >= 0\n\
                contact leg3: z - a + b >= 0\ncontact leg4: z - a - b >= 0\n\
                start z = 0, a = 0, b = 0\nrun 2\n\
                output p = lambda(leg1) + lambda(leg2) + lambda(leg3) + lambda(leg4)\noutput least = lambda(leg4)\n";
    let run = run_to(text, &[], 2.0);
    assert_eq!(run.ended, Ended::Finished);
    all_close(&run.state.q, &[0.0, 0.0, 0.0], 1e-12);
    close(run.outputs[0].values.unwrap().last, 4.0 * 9.81, 1e-10);
    close(run.outputs[1].values.unwrap().last, 9.81, 1e-10);
}

/// A body on two feet with friction is thrown onto a slope: it tumbles, slides and stays, and the feet carry it.
#[test]
fn a_box_thrown_on_a_slope_comes_to_rest_on_both_feet() {
    let text = "model \"box\"\ncoordinates x, y, a\n\
                parameter m = 1, g = 9.81, mu = 0.5, slope = 0.3, w = 0.5, h = 0.3\nmass x, y: m\n\
                mass a: m*(w^2 + h^2)/3\nforce x: m*g*sin(slope)\nforce y: -m*g*cos(slope)\n\
                point left = (x - w*cos(a) + h*sin(a), y - w*sin(a) - h*cos(a))\n\
                point right = (x + w*cos(a) + h*sin(a), y + w*sin(a) - h*cos(a))\n\
                contact l: left.y >= 0 with friction mu and restitution 0.3 and at left\n\
                contact r: right.y >= 0 with friction mu and restitution 0.3 and at right\n\
                start x = 0, y = h + 0.1, a = 0.1, x' = 1, y' = 0, a' = 0\nrun 3\n\
                output pl = lambda(l)\noutput pr = lambda(r)\n";
    let thrown = run_to(text, &[], 3.0);
    assert_eq!(thrown.ended, Ended::Finished);
    close(thrown.state.q[1], 0.3, 1e-12);
    close(thrown.state.q[2], 0.0, 1e-12);
    assert!(thrown.state.qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", thrown.state.qdot);
    // N_l + N_r = m g cos, and the moments about the centre: (N_r − N_l) w = h m g sin
    let (cos, sin) = (9.81 * 0.3f64.cos(), 9.81 * 0.3f64.sin());
    close(thrown.outputs[0].values.unwrap().last, (cos - 0.6 * sin) / 2.0, 1e-9);
    close(thrown.outputs[1].values.unwrap().last, (cos + 0.6 * sin) / 2.0, 1e-9);
    assert!(thrown.audit.energy.drift < 1e-8, "{:?}", thrown.audit.energy);
    // on less friction it slides on with g (sin − μ cos)
    let sliding = run_to(&text.replace("y = h + 0.1, a = 0.1, x' = 1", "y = h, a = 0, x' = 0"), &["mu=0.2"], 3.0);
    close(sliding.state.q[0], 4.5 * (sin - 0.2 * cos), 1e-9);
}

/// A unit mass thrown on a rough floor loses μ(1 + e) of its speed of fall in a blow, as long as it slides.
#[test]
fn a_blow_with_friction_slows_the_slip() {
    let text = "model \"stone\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -9.81)\n\
                contact floor: y >= 0 with friction 0.3 and restitution 0.4\n\
                start x = 0, y = 1, x' = 3, y' = 0\nrun 4\noutput force = |reaction(floor, P)|\n";
    let fall = (2.0f64 * 9.81).sqrt();
    let once = run_to(text, &[], 0.5);
    close(once.state.qdot[0], 3.0 - 0.3 * 1.4 * fall, 1e-9);
    let twice = run_to(text, &[], 0.9);
    close(twice.state.qdot[0], 3.0 - 0.3 * 1.4 * fall * 1.4, 1e-9);
    let rest = run_to(text, &[], 4.0);
    close(rest.state.qdot[0], 0.0, 1e-15);
    close(rest.outputs[0].values.unwrap().last, 9.81, 1e-9);
    assert!(rest.audit.energy.drift < 1e-8, "{:?}", rest.audit.energy);
}

/// A kick lifts what lies, and an event may also throw it down.
#[test]
fn a_kick_lifts_a_ball_that_lies() {
    let text = "model \"kick\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0\nstart y = 0\nrun 3\n\
                when t >= 1: y' = 5\n";
    let run = run_to(text, &[], 3.0);
    all_close(&times(&run, "take-off"), &[1.0], 1e-9);
    all_close(&times(&run, "rest"), &[2.0], 1e-8);
    close(run.state.q[0], 0.0, 1e-12);
}

/// Free flight takes steps as long as the run; an obstacle much thinner than they are is met all the same.
#[test]
fn a_thin_obstacle_is_not_passed_through() {
    let text = "model \"peg\"\ncoordinates x, y\nmass x, y: 1\ncontact peg: (x - 7)^2 + y^2 >= 0.001^2 with restitution 1\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 10\n";
    let run = run_to(text, &[], 10.0);
    all_close(&times(&run, "impact"), &[6.999], 1e-9);
    close(run.state.qdot[0], -1.0, 1e-9);
    close(run.state.q[0], 6.999 - 3.001, 1e-8);
}

/// A start inside is refused with the nearest one outside, in the metric of the masses.
#[test]
fn a_start_inside_is_told_the_way_out() {
    let text = "model \"inside\"\ncoordinates x, y\nmass x: 1\nmass y: 3\ncontact slope: x + y >= 0\n\
                start x = 0, y = -4\nrun 1\n";
    let (run, diagnostics) = attempt_to(text, &[], 1.0);
    assert!(run.is_none());
    let inside = diagnostics.iter().find(|d| d.code == "Z203").unwrap();
    // λ = 4/(1 + 1/3) = 3 moves x by 3 and y by 1
    assert!(format!("{inside:?}").contains("start x = 3, y = -3"), "{inside:#?}");
}

/// The table of speeds before each impact: the energy between two impacts tells the speed, and so does the one before.
#[test]
fn a_pendulum_meets_its_stop_with_the_known_speeds() {
    let impacts = [(0.652048229598350203, 2.93713622765773711), (2.00499885341248025, 2.05599535936041597)];
    let later = [(3.44536859614313506, 1.43919675155229118), (6.64537372835402505, 0.705206408260622679)];
    for (t, speed) in impacts.into_iter().chain(later) {
        let after = finished_model("pendulum_stop", t + 0.05);
        let (angle, rate) = (after.state.q[0], after.state.qdot[0]);
        let squared = rate * rate - 2.0 * 9.81 * (angle.cos() - 20f64.to_radians().cos());
        close(squared.sqrt() / 0.7, speed, 1e-8);
    }
}

/// Three rows of the table of the cradle, for all contacts at once.
#[test]
fn cradles_of_three_and_of_two_that_come() {
    let text = model_text("newtons_cradle");
    let three = run_to(&text, &["n=3"], 1.0);
    all_close(&three.state.qdot, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
    let two = text.replace("x[1]' = 1 m/s, x[i in 2..n]' = 0", "x[1]' = 1 m/s, x[2]' = 1 m/s, x[i in 3..n]' = 0");
    assert_ne!(two, text);
    all_close(&run_to(&two, &[], 1.0).state.qdot, &[-0.2, -0.2, 0.8, 0.8, 0.8], 1e-12);
    let apart = two.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    all_close(&run_to(&apart, &[], 1.0).state.qdot, &[0.0, 0.0, 0.0, 1.0, 1.0], 1e-12);
}

/// Multipliers (7, 3), (10, 0) and (0, 1.5) of the two contacts, in exact numbers.
#[test]
fn one_sided_rows_at_rest_push_with_the_exact_multipliers() {
    let text = model_text("one_sided_at_rest").replace("contact spare: 2*x + 3*y >= 0\n", "");
    let text = text + "output a = lambda(floor)\noutput b = lambda(slope)\n";
    for (force, pushes) in
        [(["X=-3", "Y=-10"], [7.0, 3.0]), (["X=5", "Y=-10"], [10.0, 0.0]), (["X=-8", "Y=5"], [0.0, 1.5])]
    {
        let run = run_to(&text, &force, 1.0);
        let found: Vec<f64> = run.outputs.iter().map(|o| o.values.unwrap().last).collect();
        all_close(&found, &pushes, 1e-12);
    }
}

/// A minute later it still lies there.
#[test]
fn a_ball_still_lies_after_a_minute() {
    let text = model_text("bouncing_ball") + "\noutput push = |reaction(floor)|\n";
    let run = run_to(&text, &[], 60.0);
    assert_eq!(run.ended, Ended::Finished);
    close(run.state.q[0], 0.0, 1e-14);
    close(run.outputs[0].values.unwrap().last, 9.81, 1e-12);
    assert!(run.counts.steps < 1000, "{} steps", run.counts.steps);
}

/// Two balls and an event at the same instant; and two that are a hair apart.
#[test]
fn events_that_fall_together_are_all_met() {
    let text = "model \"two\"\ncoordinates a, b\nmass a, b: 1\nparameter k = 1\nforce a: -10\nforce b: -10*k\n\
                contact left: a >= 0 with restitution 0.5\ncontact right: b >= 0 with restitution 0.5\n\
                when t >= 1: k = 2\nstart a = 5, b = 5\nrun 1.5\n";
    let found = run_to(text, &[], 1.5);
    all_close(&times(&found, "impact"), &[1.0, 1.0], 1e-12);
    all_close(&times(&found, "when"), &[1.0], 1e-12);
    // up with 5, and from then on the right one is pulled twice as much: back after 0.5 s
    all_close(&found.state.q, &[5.0 * 0.5 - 5.0 * 0.25, 0.0], 1e-9);
    for hair in [1e-13, 1e-10, 1e-7] {
        let found = run_to(&text.replace("b = 5\n", &format!("b = {}\n", 5.0 + hair)), &[], 1.2);
        all_close(&times(&found, "impact"), &[1.0, 1.0], 1e-6);
        close(found.state.q[0], 5.0 * 0.2 - 5.0 * 0.04, 1e-9);
        close(found.state.q[1], 5.0 * 0.2 - 10.0 * 0.04, 1e-6);
    }
}

/// A particle that passes a peg: it misses it by a hair, or is turned by the angle that a mirror gives.
#[test]
fn grazing_is_met_or_missed_as_it_should_be() {
    let text = "model \"peg\"\ncoordinates x, y\nparameter b = 1\nmass x, y: 1\n\
                contact peg: x^2 + y^2 >= 1 with restitution 1\nstart x = -5, y = b, x' = 1, y' = 0\nrun 10\n";
    for over in [1e-4, 1e-8, 1e-12, 0.0] {
        let found = run_to(text, &[&format!("b={:.17}", 1.0 + over)], 10.0);
        assert!(times(&found, "impact").is_empty(), "missed by {over}");
        all_close(&found.state.q, &[5.0, 1.0 + over], 1e-10);
    }
    for under in [1e-2f64, 1e-4, 1e-6, 1e-8] {
        let b = 1.0 - under;
        let found = run_to(text, &[&format!("b={b:.17}")], 10.0);
        assert_eq!(times(&found, "impact").len(), 1, "hit by {under}");
        // the normal at the point of impact is (−√(1 − b²), b)
        let (n, v) = ([-(1.0 - b * b).sqrt(), b], found.state.qdot.clone());
        all_close(&v, &[1.0 - 2.0 * n[0] * n[0], -2.0 * n[0] * n[1]], 1e-7);
        close(v[0].hypot(v[1]), 1.0, 1e-12);
    }
}

/// A ball thrown up a ramp that just touches a ceiling: grazed from below at the top of its flight.
#[test]
fn a_ceiling_is_touched_at_the_top_of_a_flight() {
    let text = "model \"ceiling\"\ncoordinates y\nparameter top = 1.25\nmass y: 1\nforce y: -10\n\
                contact ceiling: top >= y with restitution 0.5\ncontact floor: y >= 0\nstart y = 0, y' = 5\nrun 1.2\n";
    for (top, n_hits) in [("top=1.2500001", 0), ("top=1.2499999", 1), ("top=1.2", 1)] {
        let found = run_to(text, &[top], 1.2);
        let hits = found.events.iter().filter(|e| e.name == "ceiling" && e.kind == "impact").count();
        assert_eq!(hits, n_hits, "{top}");
        close(found.state.q[0], 0.0, 1e-12);
        let arrival = found.events.iter().find(|e| e.name == "floor" && e.kind == "impact").unwrap().t;
        let h: f64 = top[4..].parse().unwrap();
        let wanted = if n_hits == 0 {
            1.0
        } else {
            // up with 5, speed w at the ceiling, back with w/2
            let w = (25.0 - 20.0 * h).sqrt();
            (5.0 - w) / 10.0 + (-w / 2.0 + (w * w / 4.0 + 20.0 * h).sqrt()) / 10.0
        };
        close(arrival, wanted, 1e-8);
    }
}

/// Energy, work and what impacts take make up a constant, in every model of the gallery that has contacts or friction.
#[test]
fn the_energy_account_of_every_contact_model_is_closed() {
    let mut n_models = 0;
    for (name, text) in common::gallery() {
        // a model with a table needs its file, and has no contact
        let Some(model) = read(&text, &Overrides::default()).model else { continue };
        if model.contacts.is_empty() && model.frictions.is_empty() {
            continue;
        }
        n_models += 1;
        let end = model.horizon();
        let (run, diagnostics) = attempt_to(&text, &[], end);
        let run = run.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
        let account = &run.audit.energy;
        let size = account.start.abs() + account.end.abs() + account.work.abs() + account.impacts.abs();
        assert!(account.drift <= 1e-8 * size, "{name}: {account:?}");
        close(account.end - account.start - account.work - account.impacts, 0.0, 1e-8 * size);
        assert!(account.impacts <= 1e-12 * size, "{name}: {account:?}");
    }
    assert!(n_models >= 10, "only {n_models} models");
}

/// What holds at a state, by every route: a box that lies on a slope slides on both feet with g (sin − μ cos).
#[test]
fn contacts_are_inspected_as_they_are() {
    let text = model_text("thrown_box");
    let set = ["mu=0.2".to_string()].to_vec();
    let start = ["y=0.3 m, a=0, x'=1 m/s, y'=0, a'=0".to_string()].to_vec();
    let found = common::inspected(&text, &Overrides { set, start });
    let (sin, cos) = (17f64.to_radians().sin(), 17f64.to_radians().cos());
    common::every_route_gives(&found, &[9.81 * (sin - 0.2 * cos), 0.0, 0.0], 1e-12);
    let snapshot = &found.check.snapshot.found;
    // the moment of friction about the centre: h μ m g cos, by feet at ±w
    let total = 9.81 * cos;
    let uneven = 0.3 * 0.2 * 9.81 * cos / 0.5;
    all_close(&snapshot.lambda_acting, &[(total - uneven) / 2.0, (total + uneven) / 2.0], 1e-12);
    close(snapshot.nonideal_force[0], -0.2 * total, 1e-12);
    assert_eq!(found.check.rank, 2);
    let modes: Vec<&str> = found.check.modes.iter().map(|(_, word)| *word).collect();
    assert_eq!(modes, ["closed", "closed", "slides", "slides"]);
}

/// A box on four legs that was tipped rocks ever faster and stands again, in finite time.
#[test]
fn a_box_that_rocks_comes_to_stand() {
    let run = finished_model("box_on_four_legs", 1.0);
    close(run.state.q[2], 0.4, 1e-10);
    all_close(&run.state.q[3..], &[0.0, 0.0, 0.0], 1e-10);
    assert!(run.state.qdot.iter().all(|v| v.abs() < 1e-9), "{:?}", run.state.qdot);
    close(run.outputs[0].values.unwrap().last, 2.0 * 9.81, 1e-8);
    let impacts = times(&run, "impact");
    // feet are struck two at a time, after intervals in one proportion
    let at: Vec<f64> = impacts.chunks(2).map(|pair| pair[0]).collect();
    let ratio = |k: usize| (at[k + 2] - at[k + 1]) / (at[k + 1] - at[k]);
    assert!(at.len() > 5, "{impacts:?}");
    close(ratio(1), ratio(2), 2e-2 * ratio(1));
}

/// A body with S = (2, 1; 1, 2) that arrives with (−1, −½) and would stick: Newton's law with e = 1 asks for a twelfth more energy.
/// None is made where (3/2 + 2 e)(1 − e) = e/2, so e is lowered to √3/2, and the impact takes nothing.
#[test]
fn a_restitution_that_would_make_energy_is_lowered() {
    let text = "model \"kane\"\ncoordinates x, y, a\nmass x, y, a: 1\npoint foot = (x + cos(a) + sin(a), y + sin(a) - cos(a))\n\
                contact floor: foot.y >= 0 with friction 0.5 and restitution 1 and at foot\n\
                start x = 0, y = 1.1, a = 0, x' = -0.5, y' = -1, a' = 0\nrun 0.2\n";
    let (run, diagnostics) = attempt_to(text, &[], 0.2);
    let run = run.unwrap();
    let said = diagnostics.iter().find(|d| d.code == "Z613").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(said.message.contains("0.866"), "{}", said.message);
    let e = 0.75f64.sqrt();
    let (normal, along) = ((1.5 + 2.0 * e) / 3.0, -e / 3.0);
    all_close(&run.state.qdot, &[-0.5 + along, -1.0 + normal, normal + along], 1e-9);
    close(run.audit.energy.impacts, 0.0, 1e-9);
    // with a restitution that makes none nothing is changed
    let (half, diagnostics) = attempt_to(&text.replace("restitution 1", "restitution 0.5"), &[], 0.2);
    assert!(!diagnostics.iter().any(|d| d.code == "Z613"), "{diagnostics:#?}");
    assert!(half.unwrap().audit.energy.impacts < -0.1);
}

/// What rests and cannot move stays, in few steps: a block that sticks on a slope, a particle in a groove, a block that has come
/// to rest on two contacts of one floor.
#[test]
fn what_rests_stays() {
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
        let (check, mut diagnostics) = common::checked(&text, &zwang::Overrides::default());
        let check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
        let wishes = zwang::simulate::RunWishes::default();
        let run = zwang::simulate::simulate(check, &wishes, &mut diagnostics, &mut |_| true).unwrap();
        assert_eq!(run.ended.as_str(), "finished", "{text}\n{diagnostics:#?}");
        for (found, wanted) in run.state.q.iter().zip(end) {
            assert!((found - wanted).abs() < 1e-8, "{text}: {:?}", run.state.q);
        }
        assert!(run.counts.steps < 100, "{text}: {}", run.counts.steps);
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
        let (check, mut diagnostics) = common::checked(&text, &Overrides::default());
        let run = simulate(check.unwrap(), &RunWishes::default(), &mut diagnostics, &mut |_| true).unwrap();
        let codes: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        (run, codes.join(" "))
    };
    let (run, codes) = moved("-1", "0");
    assert_eq!((run.ended.as_str(), codes.as_str()), ("finished", ""));
    let fall = 2.0 + 0.2f64.sqrt();
    assert!(run.events.iter().any(|e| (e.t - fall).abs() < 1e-9), "{:?}", run.events);
    assert!((run.state.q[0] + 1.0).abs() < 1e-9);
    for (h, from) in [("1", "0"), ("15", "30")] {
        let (run, codes) = moved(h, from);
        assert_eq!(codes, "Z607", "{h} {from}");
        assert!((run.state.t - 2.0).abs() < 1e-9);
    }
}
