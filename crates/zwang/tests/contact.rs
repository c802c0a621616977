//! Contacts, impacts and friction along the motion, against closed forms.

#![allow(clippy::excessive_precision, reason = "values as the literature gives them")]

mod common;

use common::{close, model_text, times};
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
        close(account.impacts, energy - 9.81, 1e-8);
        close(account.work, 0.0, 1e-8);
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

/// The table of speeds before each impact: the energy between two impacts tells the speed, and so does the one before.
#[test]
fn a_pendulum_meets_its_stop_with_the_known_speeds() {
    let impacts = [(0.652048229598350203, 2.93713622765773711), (2.00499885341248025, 2.05599535936041597)];
    let later = [(3.44536859614313506, 1.43919675155229118), (6.64537372835402505, 0.705206408260622679)];
    for (t, speed) in impacts.into_iter().chain(later) {
        let after = finished("pendulum_stop", t + 0.05);
        let (angle, rate) = (after.state.q[0], after.state.qdot[0]);
        let squared = rate * rate - 2.0 * 9.81 * (angle.cos() - 20f64.to_radians().cos());
        close(squared.sqrt() / 0.7, speed, 1e-8);
    }
}

/// Three rows of the table of the cradle, for all contacts at once.
#[test]
fn cradles_of_three_and_of_two_that_come() {
    let text = model_text("newtons_cradle");
    let three = run(&text, &["n=3"], 1.0);
    all_close(&three.state.qdot, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
    let two = text.replace("x[1]' = 1 m/s, x[i in 2..n]' = 0", "x[1]' = 1 m/s, x[2]' = 1 m/s, x[i in 3..n]' = 0");
    assert_ne!(two, text);
    all_close(&run(&two, &[], 1.0).state.qdot, &[-0.2, -0.2, 0.8, 0.8, 0.8], 1e-12);
    let apart = two.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    all_close(&run(&apart, &[], 1.0).state.qdot, &[0.0, 0.0, 0.0, 1.0, 1.0], 1e-12);
}

/// Multipliers (7, 3), (10, 0) and (0, 1.5) of the two contacts, in exact numbers.
#[test]
fn one_sided_rows_at_rest_push_with_the_exact_multipliers() {
    let text = model_text("one_sided_at_rest").replace("contact spare: 2*x + 3*y >= 0\n", "");
    let text = text + "output a = lambda(floor)\noutput b = lambda(slope)\n";
    for (force, pushes) in
        [(["X=-3", "Y=-10"], [7.0, 3.0]), (["X=5", "Y=-10"], [10.0, 0.0]), (["X=-8", "Y=5"], [0.0, 1.5])]
    {
        let run = run(&text, &force, 1.0);
        let found: Vec<f64> = run.outputs.iter().map(|o| o.values.unwrap().last).collect();
        all_close(&found, &pushes, 1e-12);
    }
}

/// A minute later it still lies there.
#[test]
fn a_ball_still_lies_after_a_minute() {
    let text = model_text("bouncing_ball") + "\noutput push = |reaction(floor)|\n";
    let run = run(&text, &[], 60.0);
    assert_eq!(run.ended, Ended::Finished);
    close(run.state.q[0], 0.0, 1e-14);
    close(run.outputs[0].values.unwrap().last, 9.81, 1e-12);
    assert!(run.counts.steps < 1000, "{} steps", run.counts.steps);
}

/// A bead on a helix without weight is pressed with m κ v², so v = v₀/(1 + μ κ v₀ t), with κ = R/(R² + c²).
#[test]
fn a_bead_on_a_curve_in_space_slides_as_the_curvature_says() {
    let text = "model \"helix\"\ncoordinates x, y, z\nparameter R = 2, c = 1, mu = 0.3\n\
                particle P at (x, y, z) with mass 1.5\n\
                constraint wire: (x, y) = (R*cos(z/c), R*sin(z/c)) with friction mu\n\
                start x = R, y = 0, z = 0, z' = 1\nrun 5\noutput lost = -work(wire)\noutput rate = power(wire)\n";
    let (kappa, v0, mu) = (2.0 / 5.0, 5f64.sqrt(), 0.3);
    let found = run(text, &[], 5.0);
    assert_eq!(found.ended, Ended::Finished);
    let speed = |t: f64| v0 / (1.0 + mu * kappa * v0 * t);
    let v = speed(5.0);
    close(found.state.qdot.iter().map(|v| v * v).sum::<f64>().sqrt(), v, 1e-9);
    // the way is log(1 + μ κ v₀ t)/(μ κ), of which z is the part c/√(R² + c²)
    close(found.state.q[2], (1.0 + mu * kappa * v0 * 5.0).ln() / (mu * kappa) / 5f64.sqrt(), 1e-9);
    close(found.outputs[0].values.unwrap().last, 0.75 * (v0 * v0 - v * v), 1e-9);
    close(found.outputs[1].values.unwrap().last, -mu * 1.5 * kappa * v * v * v, 1e-9);
    assert!(found.audit.energy.drift < 1e-9, "{:?}", found.audit.energy);
}

/// On a helix as steep as c/R a bead stays where μ is larger, and slides where it is smaller.
#[test]
fn a_bead_on_a_curve_in_space_stays_where_it_is_rough_enough() {
    let text = "model \"helix\"\ncoordinates x, y, z\nparameter R = 2, c = 1, mu = 0.51\n\
                particle P at (x, y, z) with mass 1.5\ngravity (0, 0, -9.81)\n\
                constraint wire: (x, y) = (R*cos(z/c), R*sin(z/c)) with friction mu\n\
                start x = R, y = 0, z = 0, z' = 0\nrun 1\n";
    let stays = run(text, &[], 1.0);
    all_close(&stays.state.q, &[2.0, 0.0, 0.0], 1e-14);
    let slides = run(text, &["mu=0.49"], 0.01);
    // at first N = m g cos, and the pull along the wire is m g sin
    let (cos, sin) = (2.0 / 5f64.sqrt(), 1.0 / 5f64.sqrt());
    close(slides.state.qdot[2] / 0.01, -9.81 * (sin - 0.49 * cos) * sin, 1e-5);
}

/// A ball that falls with w on a block in a rough rail: the rail takes p = m (1 + e) w, and friction μ p of the block's momentum.
#[test]
fn a_blow_from_above_slows_a_block_in_its_rail() {
    let text = "model \"rail\"\ncoordinates x, y, u, h\nparameter v = 3, mu = 0.2\n\
                particle block at (x, y) with mass 2\nparticle ball at (u, h) with mass 1\nforce h: -10\nforce y: -20\n\
                constraint rail: y = 0 with friction mu and at block\n\
                contact lid: h - y >= 0 with restitution 0.5\n\
                start x = 0, y = 0, u = 0, h = 0.05, x' = v, u' = 0, h' = -2\nrun 0.1\n";
    // the ball arrives with √(4 + 1); before that and after it friction is μ m g
    let arrival = 5f64.sqrt();
    let found = run(text, &[], 0.1);
    close(found.state.qdot[0], 3.0 - 0.2 * 10.0 * 0.1 - 0.2 * 1.5 * arrival / 2.0, 1e-9);
    assert!(found.audit.energy.drift < 1e-9, "{:?}", found.audit.energy);
    // with more friction than momentum it stops
    let stopped = run(text, &["v=0.15", "mu=0.4"], 0.1);
    close(stopped.state.qdot[0], 0.0, 1e-15);
    // and what does not slide is not moved
    let still = run(text, &["v=0"], 0.1);
    all_close(&still.state.q[..2], &[0.0, 0.0], 1e-14);
}

/// Twelve blocks with friction have 4¹² modes: the right one is found, and that others were not looked at is said.
#[test]
fn very_many_places_with_friction_move_as_they_must() {
    let text = "model \"blocks\"\nlet n = 12\ncoordinates x[1..n], y[1..n]\n\
                particle B[i in 1..n] at (x[i], y[i]) with mass 1\ngravity (0, -10)\n\
                force x[i in 1..n]: 0.5*(i - 6.5)\n\
                contact floor[i in 1..n]: y[i] >= 0 with friction 0.2\n\
                start x[i in 1..n] = i, y[i in 1..n] = 0\nrun 1\n";
    let (run, diagnostics) = attempt(text, &[], 1.0);
    let run = run.unwrap();
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z612"), "{diagnostics:#?}");
    for i in 0..12 {
        let force = 0.5 * (i as f64 + 1.0 - 6.5);
        let rest = if f64::abs(force) <= 2.0 { 0.0 } else { force - 2.0 * force.signum() };
        close(run.state.q[i] - (i as f64 + 1.0), rest / 2.0, 1e-9);
    }
}

/// Two balls and an event at the same instant; and two that are a hair apart.
#[test]
fn events_that_fall_together_are_all_met() {
    let text = "model \"two\"\ncoordinates a, b\nmass a, b: 1\nparameter k = 1\nforce a: -10\nforce b: -10*k\n\
                contact left: a >= 0 with restitution 0.5\ncontact right: b >= 0 with restitution 0.5\n\
                when t >= 1: k = 2\nstart a = 5, b = 5\nrun 1.5\n";
    let found = run(text, &[], 1.5);
    all_close(&times(&found, "impact"), &[1.0, 1.0], 1e-12);
    all_close(&times(&found, "when"), &[1.0], 1e-12);
    // up with 5, and from then on the right one is pulled twice as much: back after 0.5 s
    all_close(&found.state.q, &[5.0 * 0.5 - 5.0 * 0.25, 0.0], 1e-9);
    for hair in [1e-13, 1e-10, 1e-7] {
        let found = run(&text.replace("b = 5\n", &format!("b = {}\n", 5.0 + hair)), &[], 1.2);
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
        let found = run(text, &[&format!("b={:.17}", 1.0 + over)], 10.0);
        assert!(times(&found, "impact").is_empty(), "missed by {over}");
        all_close(&found.state.q, &[5.0, 1.0 + over], 1e-10);
    }
    for under in [1e-2f64, 1e-4, 1e-6, 1e-8] {
        let b = 1.0 - under;
        let found = run(text, &[&format!("b={b:.17}")], 10.0);
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
        let found = run(text, &[top], 1.2);
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

/// Near sticking the steps stay long, whatever the tolerance: nothing is as fine as the slip that dies.
#[test]
fn no_steps_are_wasted_near_sticking() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        for (name, most) in
            [("bead_on_wire", 120), ("bead_on_ring", 160), ("stick_slip_belt", 250), ("block_stays", 60)]
        {
            let text = model_text(name);
            let mut diagnostics = Diagnostics::default();
            let checked =
                check(read(&text, &Overrides::default()).model.unwrap(), &Wishes::default(), &mut diagnostics);
            let wishes = RunWishes { tolerance: Some(tolerance), ..RunWishes::default() };
            let run = simulate(checked.unwrap(), &wishes, &mut diagnostics, &mut |_| true).unwrap();
            assert!(run.counts.steps <= most, "{name} at {tolerance:e}: {} steps", run.counts.steps);
        }
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
        let (run, diagnostics) = attempt(&text, &[], end);
        let run = run.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
        let account = &run.audit.energy;
        let size = account.start.abs() + account.end.abs() + account.work.abs() + account.impacts.abs();
        assert!(account.drift <= 1e-8 * size, "{name}: {account:?}");
        close(account.end - account.start - account.work - account.impacts, 0.0, 1e-8 * size);
        assert!(account.impacts <= 1e-12 * size, "{name}: {account:?}");
    }
    assert!(n_models >= 10, "only {n_models} models");
}

/// While the belt carries the block the ideal part does its work ½ k x², and nothing else does any.
#[test]
fn the_parts_of_the_constraint_force_do_their_own_work() {
    let parts = finished("stick_slip_belt", 1.0).audit.energy.parts.unwrap();
    close(parts.ideal, 0.5 * 10.0 * 0.25, 1e-9);
    close(parts.nonideal, 0.0, 1e-12);
    close(parts.law, 0.0, 1e-12);
    // sliding takes μ m g times the way, all of it by C
    let parts = finished("block_stays", 2.0).audit.energy.parts.unwrap();
    let lost = 0.5 * 9.81 * 20f64.to_radians().cos() * 0.565013610587311083;
    close(parts.ideal, 0.0, 1e-12);
    close(parts.nonideal, -lost, 1e-9);
    close(parts.law, -lost, 1e-9);
    // and a law with reactions: ½ m (v² − v₀²) with v = v₀/(1 + μ v₀ t/R)
    let parts = finished("ring_with_drag", 10.0).audit.energy.parts.unwrap();
    let v = 4.0 / (1.0 + 0.2 * 4.0 * 10.0);
    close(parts.law, 0.5 * (v * v - 16.0), 1e-8);
    close(parts.nonideal, parts.law, 1e-9);
    assert!(finished("pendulum_stop", 0.1).audit.energy.parts.is_none());
}

/// UK02: whatever w is, C = Aᵀw is taken back by the constraints; nothing moves differently and Qc_nonideal is zero.
#[test]
fn a_law_in_the_range_of_the_rows_changes_nothing() {
    let text = "model \"law\"\ncoordinates x, y, z\nparameter k = 1\nparticle P at (x, y, z) with mass 2\ngravity (0, 0, -9.81)\n\
                constraint ball: x^2 + y^2 + z^2 = 4\nconstraint blade: y' = z*x'\nLAW\
                start x = 0, y = 0, z = 2, x' = 1, y' = 2, z' = 0\nrun 3\n";
    // A = (2x, 2y, 2z) and (−z, 1, 0)
    let law = "let w = k*(3 + sin(5*t) + x'^2)\nlet u = k*(x*z' - 7)\n\
               nonideal x: 2*x*w - z*u\nnonideal y: 2*y*w + u\nnonideal z: 2*z*w\n";
    let free = run(&text.replace("LAW", ""), &[], 1.0);
    let bound = run(&text.replace("LAW", law), &[], 1.0);
    all_close(&bound.state.q, &free.state.q, 1e-9);
    all_close(&bound.state.qdot, &free.state.qdot, 1e-9);
    let parts = bound.audit.energy.parts.unwrap();
    close(parts.nonideal, 0.0, 1e-9);
    let found = common::inspected(&text.replace("LAW", law), &Overrides::default()).check.snapshot.found;
    assert!(found.nonideal_force.iter().any(|c| c.abs() > 1.0), "{:?}", found.nonideal_force);
    assert!(found.constraint_force_nonideal.iter().all(|c| c.abs() < 1e-12), "{:?}", found.constraint_force_nonideal);
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

/// Power and work agree: on a slope friction takes μ m g cos times the speed.
#[test]
fn the_power_of_friction_is_an_output() {
    let text = model_text("block_stays") + "output rate = power(plane)\noutput lost = work(plane)\n";
    let found = run(&text, &[], 2.0);
    let rate = found.outputs[0].values.unwrap();
    close(rate.min, -0.5 * 9.81 * 20f64.to_radians().cos() * 3.0, 1e-9);
    close(rate.last, 0.0, 1e-12);
}

/// The middle one of three bricks is pulled for a second, then let go: each is stopped by friction alone, and all stick.
#[test]
fn bricks_slide_and_stick_one_after_the_other() {
    let run = finished("bricks", 3.0);
    let g = 9.81f64;
    // pulled: (F − 3 μ m g)/m for the middle one, μ g for the upper one
    let (a2, a3) = (12.0 - 0.9 * g, 0.3 * g);
    // let go: −3 μ g and +μ g until both are equally fast, then −2 μ g... of both together, which is −μ (2m) g/(2m)
    let together = (a2 - a3) / (1.2 * g);
    let v = a2 - 0.9 * g * together;
    let stop = 1.0 + together + v / (0.3 * g);
    all_close(&times(&run, "stick"), &[1.0 + together, stop], 1e-9);
    let way = a2 / 2.0 + (a2 + v) / 2.0 * together + v * v / (0.6 * g);
    close(run.state.q[1], way, 1e-9);
    close(run.state.q[0], 0.0, 1e-12);
    assert!(run.state.qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", run.state.qdot);
}

/// A box on four legs that was tipped rocks ever faster and stands again, in finite time.
#[test]
fn a_box_that_rocks_comes_to_stand() {
    let run = finished("box_on_four_legs", 1.0);
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
    let (run, diagnostics) = attempt(text, &[], 0.2);
    let run = run.unwrap();
    let said = diagnostics.iter().find(|d| d.code == "Z613").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(said.message.contains("0.866"), "{}", said.message);
    let e = 0.75f64.sqrt();
    let (normal, along) = ((1.5 + 2.0 * e) / 3.0, -e / 3.0);
    all_close(&run.state.qdot, &[-0.5 + along, -1.0 + normal, normal + along], 1e-9);
    close(run.audit.energy.impacts, 0.0, 1e-9);
    // with a restitution that makes none nothing is changed
    let (half, diagnostics) = attempt(&text.replace("restitution 1", "restitution 0.5"), &[], 0.2);
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
