//! Contacts, impacts and friction along the motion, against closed forms.

#![allow(clippy::excessive_precision, reason = "values as the literature gives them")]

mod common;

use common::model_text;
use zwang::diagnostic::Diagnostics;
use zwang::simulate::Ended;
use zwang::{Overrides, Run, RunWishes, Wishes, check, read, simulate};

/// Runs a model text to a time at 1e-10.
fn run(text: &str, set: &[&str], to: f64) -> Run {
    let (run, diagnostics) = attempt(text, set, to);
    run.unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

fn attempt(text: &str, set: &[&str], to: f64) -> (Option<Run>, Diagnostics) {
    let overrides = Overrides { set: set.iter().map(|s| s.to_string()).collect(), ..Overrides::default() };
    let reading = read(text, &overrides);
    let mut diagnostics = reading.diagnostics;
    let Some(model) = reading.model else { return (None, diagnostics) };
    let Some(checked) = check(model, &Wishes::default(), &mut diagnostics) else { return (None, diagnostics) };
    let wishes = RunWishes { to: Some(to), tolerance: Some(1e-10), ..RunWishes::default() };
    let run = simulate(checked, &wishes, &mut diagnostics, &mut |_| true);
    (run, diagnostics)
}

fn finished(name: &str, to: f64) -> Run {
    let run = run(&model_text(name), &[], to);
    assert_eq!(run.ended, Ended::Finished, "{name}");
    run
}

/// The times of events of one kind.
fn times(run: &Run, kind: &str) -> Vec<f64> {
    run.events.iter().filter(|e| e.kind == kind).map(|e| e.t).collect()
}

#[track_caller]
fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{found} instead of {wanted}, off by {:e}", found - wanted);
}

#[track_caller]
fn all_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert!(found.len() >= wanted.len(), "{found:?} instead of {wanted:?}");
    found.iter().zip(wanted).for_each(|(f, w)| close(*f, *w, tolerance));
}

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
        let run = finished("bouncing_ball", t);
        close(run.state.q[0], y, 1e-8);
        close(run.state.qdot[0], ydot, 1e-8);
        let found = times(&run, "impact");
        assert_eq!(found.len(), n, "at t = {t}");
        all_close(&found, &(1..=n as i32).map(impact).collect::<Vec<_>>(), 1e-9);
    }
    let run = finished("bouncing_ball", 60.0);
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
        let run = run(text, &[], to);
        let account = &run.audit.energy;
        close(account.start, 9.81, 1e-12);
        close(account.end, energy, 1e-8);
        close(account.work, energy - 9.81, 1e-8);
        assert!(account.drift < 1e-8, "{account:?}");
    }
}

/// The floor pushes with m g once the ball lies.
#[test]
fn a_ball_at_rest_is_pushed_with_its_weight() {
    let text = model_text("bouncing_ball") + "\noutput push = lambda(floor)\n";
    let run = run(&text, &[], 6.0);
    let push = run.outputs.iter().find(|o| o.name == "push").unwrap().values.unwrap();
    close(push.last, 9.81, 1e-12);
    assert!(push.min >= 0.0);
}

/// It leaves where cos θ = 2/3 + v²/(3 g R), and meets the floor after free flight.
#[test]
fn a_particle_leaves_the_ball_where_it_should() {
    let run = finished("sliding_off_sphere", 1.17632347670251591);
    all_close(&times(&run, "take-off"), &[0.754238838002551947], 1e-8);
    close(run.state.q[0], 1.47107772505707675, 1e-8);
    close(run.state.q[1], -1.0, 1e-8);
    let left = finished("sliding_off_sphere", 0.754238838002551947);
    close(left.state.q[0], 0.737670037375658261, 1e-8);
    close(left.state.qdot[0].hypot(left.state.qdot[1]), 2.57358375292768223, 1e-8);
    let after = finished("sliding_off_sphere", 1.5);
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
    let run = finished("pendulum_stop", 9.0);
    let found = times(&run, "impact");
    assert_eq!(found.len(), 6);
    all_close(&found, &wanted, 1e-9);
}

/// Moreau's law for contacts that are struck at once; the sequential one for balls a hair apart.
#[test]
fn the_cradle_follows_the_law_for_all_contacts_at_once() {
    let text = model_text("newtons_cradle");
    let moreau = run(&text, &[], 1.0);
    all_close(&moreau.state.qdot, &[-0.6, 0.4, 0.4, 0.4, 0.4], 1e-12);
    let apart = text.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    assert_ne!(apart, text);
    let sequential = run(&apart, &[], 1.0);
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
        let run = run(&text, &force, 1.0);
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
    let run = run(text, &[], 5.0);
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
    let run = run(text, &[], 2.0);
    assert_eq!(run.ended, Ended::Finished);
    all_close(&run.state.q, &[0.0, 0.0, 0.0], 1e-12);
    close(run.outputs[0].values.unwrap().last, 4.0 * 9.81, 1e-10);
    close(run.outputs[1].values.unwrap().last, 9.81, 1e-10);
}

/// One swing of a bead on a ring with friction has a closed form; it turns twice and stays at the third stop.
#[test]
fn a_bead_on_a_ring_turns_twice_and_sticks() {
    let run = finished("bead_on_ring", 5.0);
    let stops = [0.471995154924121031, 1.50428669908202209, 2.50214242614568376];
    all_close(&times(&run, "stick"), &stops[2..], 1e-8);
    for (t, angle) in stops[..2].iter().zip([1.0086914098910833, -0.46465243648130682]) {
        let run = finished("bead_on_ring", *t);
        close(run.state.q[0].atan2(-run.state.q[1]), angle, 1e-8);
        close(run.state.qdot[0].hypot(run.state.qdot[1]), 0.0, 1e-7);
    }
    close(run.state.q[0].atan2(-run.state.q[1]), 0.0519993001001358276, 1e-8);
    assert!(run.state.qdot.iter().all(|v| v.abs() < 1e-15), "{:?}", run.state.qdot);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
}

/// The bead of the language page.
#[test]
fn a_bead_on_a_wire_comes_to_rest() {
    let run = finished("bead_on_wire", 5.0);
    close(run.state.q[0], 0.0556, 5e-5);
    all_close(&times(&run, "stick"), &[2.188], 5e-4);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
    let lost = run.outputs[0].values.unwrap().last;
    close(lost, 0.1 * 9.81 * (0.5 - run.state.q[1]), 1e-8);
}

/// tan 20° < 0.5 holds a block; tan 30° > 0.3 does not.
#[test]
fn a_block_on_a_slope_stays_or_returns() {
    let run = finished("block_stays", 2.0);
    all_close(&times(&run, "stick"), &[0.376675740391540722], 1e-8);
    close(run.state.q[0], 0.565013610587311083, 1e-8);
    close(run.state.qdot[0], 0.0, 1e-15);

    let back = finished("block_returns", 1.11833197793229436);
    close(back.state.q[0], 0.0, 1e-8);
    close(back.state.qdot[0], -1.68674349420530488, 1e-8);
    let stop = finished("block_returns", 0.402483982848926993);
    close(stop.state.q[0], 0.603725974273390489, 1e-8);
}

/// Stick and slip on a belt: first slip at 1.1772 s, then periodic.
#[test]
fn a_block_on_a_belt_sticks_and_slips() {
    let (slip, stick) = (1.42246400116501578, 0.7848);
    let run = finished("stick_slip_belt", 10.0);
    let slips = times(&run, "slip");
    let sticks = times(&run, "stick");
    let period = slip + stick;
    all_close(&slips, &(0..4).map(|k| 1.1772 + period * k as f64).collect::<Vec<_>>(), 1e-8);
    all_close(&sticks, &(0..3).map(|k| 1.1772 + slip + period * k as f64).collect::<Vec<_>>(), 1e-8);
    let stuck = finished("stick_slip_belt", 1.1772 + slip + 0.1);
    close(stuck.state.qdot[0], 0.5, 1e-15);
    close(stuck.state.q[0], 0.1962 + 0.05, 1e-8);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
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
    let thrown = run(text, &[], 3.0);
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
    let sliding = run(&text.replace("y = h + 0.1, a = 0.1, x' = 1", "y = h, a = 0, x' = 0"), &["mu=0.2"], 3.0);
    close(sliding.state.q[0], 4.5 * (sin - 0.2 * cos), 1e-9);
}

/// A unit mass thrown on a rough floor loses μ(1 + e) of its speed of fall in a blow, as long as it slides.
#[test]
fn a_blow_with_friction_slows_the_slip() {
    let text = "model \"stone\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -9.81)\n\
                contact floor: y >= 0 with friction 0.3 and restitution 0.4\n\
                start x = 0, y = 1, x' = 3, y' = 0\nrun 4\noutput force = |reaction(floor, P)|\n";
    let fall = (2.0f64 * 9.81).sqrt();
    let once = run(text, &[], 0.5);
    close(once.state.qdot[0], 3.0 - 0.3 * 1.4 * fall, 1e-9);
    let twice = run(text, &[], 0.9);
    close(twice.state.qdot[0], 3.0 - 0.3 * 1.4 * fall * 1.4, 1e-9);
    let rest = run(text, &[], 4.0);
    close(rest.state.qdot[0], 0.0, 1e-15);
    close(rest.outputs[0].values.unwrap().last, 9.81, 1e-9);
    assert!(rest.audit.energy.drift < 1e-8, "{:?}", rest.audit.energy);
}

/// A puck without other forces stops in a straight line after v²/(2 μ g); a force below μ m g then does not move it.
#[test]
fn a_puck_in_space_stops_and_stays() {
    let text = "model \"puck\"\ncoordinates x, y, z\nparameter F = 0\nparticle P at (x, y, z) with mass 1\n\
                gravity (0, 0, -9.81)\nforce x: F\nconstraint table: z = 0 with friction 0.2\n\
                start x = 0, y = 0, z = 0, x' = 3/5, y' = 4/5\nrun 4\noutput force = |reaction(table, P)|\n";
    let way = 1.0 / (2.0 * 0.2 * 9.81);
    let stopped = run(text, &[], 4.0);
    all_close(&stopped.state.q, &[0.6 * way, 0.8 * way, 0.0], 1e-9);
    all_close(&times(&stopped, "stick"), &[2.0 * way], 1e-9);
    // |(μ N, N)| while it slides
    close(stopped.outputs[0].values.unwrap().max, 9.81 * 1.04f64.sqrt(), 1e-9);
    let pulled = run(text, &["F=1.5"], 4.0);
    assert_eq!(times(&pulled, "stick").len(), 1);
    assert!(pulled.state.qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", pulled.state.qdot);
    close(pulled.outputs[0].values.unwrap().last, 9.81f64.hypot(1.5), 1e-9);
    // more than it can hold
    let free = run(text, &["F=3"], 4.0);
    assert!(free.state.qdot[0] > 1.0);
}

/// Painlevé: a rod pushed tip first over a rough floor has no motion, and pulled it has one.
#[test]
fn a_rod_that_digs_in_is_refused() {
    let text = "model \"rod\"\ncoordinates x, y, a\nparameter u = -3\nmass x, y: 1\nmass a: 1/3\nforce y: -9.81\n\
                point tip = (x - cos(a), y - sin(a))\n\
                contact floor: tip.y >= 0 with friction 2 and at tip\n\
                start x = 0, a = 1, y = sin(1), x' = u, a' = 0, y' = 0\nrun 0.1\n";
    let (pushed, diagnostics) = attempt(text, &[], 0.1);
    assert_eq!(pushed.unwrap().ended.as_str(), "no-motion");
    assert!(diagnostics.iter().any(|d| d.code == "Z610"), "{diagnostics:#?}");
    let pulled = run(text, &["u=3"], 0.1);
    assert_eq!(pulled.ended, Ended::Finished);
    assert!(pulled.audit.energy.drift < 1e-8, "{:?}", pulled.audit.energy);
}

/// A kick lifts what lies, and an event may also throw it down.
#[test]
fn a_kick_lifts_a_ball_that_lies() {
    let text = "model \"kick\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0\nstart y = 0\nrun 3\n\
                when t >= 1: y' = 5\n";
    let run = run(text, &[], 3.0);
    all_close(&times(&run, "take-off"), &[1.0], 1e-9);
    all_close(&times(&run, "rest"), &[2.0], 1e-8);
    close(run.state.q[0], 0.0, 1e-12);
}

/// Two rails that say the same share a force that friction needs: said, and the motion is that of equal shares.
#[test]
fn a_normal_force_that_is_shared_is_said() {
    let text = "model \"rails\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint one: y = 0 with friction 0.4\nconstraint two: y = 0\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 0.1\n";
    let (shared, diagnostics) = attempt(text, &[], 0.1);
    assert!(diagnostics.iter().any(|d| d.code == "Z611" && d.message.contains("`one`")), "{diagnostics:#?}");
    close(shared.unwrap().state.qdot[0], 1.0 - 0.4 * 5.0 * 0.1, 1e-9);
    let (_, alone) = attempt(&text.replace("constraint two: y = 0\n", ""), &[], 0.1);
    assert!(!alone.iter().any(|d| d.code == "Z611"), "{alone:#?}");
}

/// Free flight takes steps as long as the run; an obstacle much thinner than they are is met all the same.
#[test]
fn a_thin_obstacle_is_not_passed_through() {
    let text = "model \"peg\"\ncoordinates x, y\nmass x, y: 1\ncontact peg: (x - 7)^2 + y^2 >= 0.001^2 with restitution 1\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 10\n";
    let run = run(text, &[], 10.0);
    all_close(&times(&run, "impact"), &[6.999], 1e-9);
    close(run.state.qdot[0], -1.0, 1e-9);
    close(run.state.q[0], 6.999 - 3.001, 1e-8);
}

/// A start inside is refused with the nearest one outside, in the metric of the masses.
#[test]
fn a_start_inside_is_told_the_way_out() {
    let text = "model \"inside\"\ncoordinates x, y\nmass x: 1\nmass y: 3\ncontact slope: x + y >= 0\n\
                start x = 0, y = -4\nrun 1\n";
    let (run, diagnostics) = attempt(text, &[], 1.0);
    assert!(run.is_none());
    let inside = diagnostics.iter().find(|d| d.code == "Z203").unwrap();
    // λ = 4/(1 + 1/3) = 3 moves x by 3 and y by 1
    assert!(format!("{inside:?}").contains("start x = 3, y = -3"), "{inside:#?}");
}

/// Three boxes, the middle one pulled with 12 N: the lowest is held by the floor, the highest slips on the middle one.
#[test]
fn a_stack_with_friction_slides_where_it_must() {
    let text = "model \"stack\"\ncoordinates x[1..3], y[1..3]\nparameter F = 5\n\
                particle B[i in 1..3] at (x[i], y[i]) with mass 1\ngravity (0, -9.81)\nforce x[2]: F\n\
                contact floor: y[1] >= 0 with friction 0.3 and at B[1]\n\
                contact upon[i in 2..3]: y[i] - y[i-1] >= 1 with friction 0.3 and slip x[i]' - x[i-1]' and at B[i]\n\
                start x[i in 1..3] = 0, y[i in 1..3] = i - 1\nrun 1\n";
    let held = run(text, &[], 1.0);
    all_close(&held.state.q, &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 1e-12);
    let pulled = run(text, &["F=12"], 1.0);
    let (upper, lower) = (0.3 * 9.81, 0.3 * 2.0 * 9.81);
    all_close(&pulled.state.q, &[0.0, (12.0 - upper - lower) / 2.0, upper / 2.0, 0.0, 1.0, 2.0], 1e-9);
    assert!(pulled.audit.energy.drift < 1e-9, "{:?}", pulled.audit.energy);
}

/// A wheel thrown without spin slides until it rolls, at two thirds of its speed.
#[test]
fn a_wheel_slides_until_it_rolls() {
    let text = "model \"wheel\"\ncoordinates x, y, a\nparameter m = 1, r = 0.5, mu = 0.2\npoint centre = (x, y)\n\
                mass x, y: m\nmass a: m*r^2/2\nforce y: -m*9.81\n\
                constraint ground: y = r with friction mu and slip x' - r*a' and at centre\n\
                start x = 0, y = r, a = 0, x' = 3, a' = 0\nrun 3\n";
    let run = run(text, &[], 3.0);
    all_close(&times(&run, "stick"), &[3.0 / (3.0 * 0.2 * 9.81)], 1e-9);
    close(run.state.qdot[0], 2.0, 1e-9);
    close(run.state.qdot[2], 4.0, 1e-9);
}
