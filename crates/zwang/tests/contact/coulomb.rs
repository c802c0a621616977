//! Coulomb friction: sticking, sliding, and the change between them.

use crate::common::{
    all_close, attempt_to, close, finished, finished_model, model_text, run_and_notes, run_and_notes_at, run_to, times,
};
use zwang::simulate::End;

/// The foot without friction never slips; the other starts to slide at t = μ (5 + 0.2 t), where h/w = 0.4 and m g = 10.
#[test]
fn a_foot_without_friction_does_not_slip() {
    let text = "model \"feet\"\ncoordinates x, y, a\nparameter w = 0.5, h = 0.2\n\
                body B at (x, y) turned by a with mass 1 and inertia (w^2 + h^2)/3\ngravity (0, -10)\nforce B: (t, 0)\n\
                point L = B.point(-w, -h)\npoint R = B.point(w, -h)\n\
                contact left: L.y >= 0 with friction 0 and at L\ncontact right: R.y >= 0 with friction 0.6 and at R\n\
                start x = 0, y = h, a = 0\nrun 6\n";
    let slips = times(&finished(text, &[]), "slip");
    assert_eq!(slips.len(), 1);
    close(slips[0], 3.0 / 0.88, 1e-9);
}

/// Bricks of which the second is pulled by 4t: it takes those above along until they need μ g = 3, each of them exactly; above
/// the first that slips nothing does. Below, μ n g = 3 n holds until t = 3 n/4, with n bricks from the second on.
#[test]
fn a_contact_exactly_on_its_cone_does_not_slip() {
    for n in [3, 6, 8, 9] {
        let text = format!(
            "model \"bricks\"\ncoordinates x[1..{n}], y[1..{n}]\nparticle b[i in 1..{n}] at (x[i], y[i]) with mass 1\n\
             gravity (0, -10)\nforce x[2]: 4*t\ncontact floor: y[1] >= 0 with friction 0.3 and at b[1]\n\
             contact upon[i in 2..{n}]: y[i] - y[i-1] >= 1 with friction 0.3 and slip x[i]' - x[i-1]' and at b[i]\n\
             start x[i in 1..{n}] = 0, y[i in 1..{n}] = i - 1\nrun 20\n"
        );
        let slips = times(&finished(&text, &[]), "slip");
        let first = 0.75 * f64::from(n - 1);
        assert_eq!(slips.len(), 2, "{n} bricks: {slips:?}");
        close(slips[0], first, 1e-9);
        close(slips[1], 2.0 * first, 1e-9);
    }
}

/// A disc that turns in a corner stops by friction against both sides: with N, W the forces of floor and wall, W = μN and N + μW
/// = m g. Then the floor holds it alone, and the wall, whose normal force is zero, has no event.
#[test]
fn a_disc_that_stops_in_a_corner_does_not_slip() {
    let (m, r, mu, spin) = (2.0, 0.5, 0.3, 20.0);
    let text = format!(
        "model \"corner\"\ncoordinates x, y, θ\nparameter m = {m}, r = {r}, μ = {mu}\n\
         body D at (x, y) turned by θ with mass m and inertia m*r^2/2\ngravity (0, -9.81)\n\
         point Cf = (x, y - r)\npoint Cw = (x - r, y)\n\
         contact floor: y >= r with friction μ and slip x' + r*θ' and at Cf\n\
         contact wall: x >= r with friction μ and slip y' - r*θ' and at Cw\n\
         start x = r, y = r, θ = 0, x' = 0, y' = 0, θ' = {spin}\nrun 5\n"
    );
    let found = finished(&text, &[]);
    let floor = m * 9.81 / (1.0 + mu * mu);
    let braking = mu * (floor + mu * floor) / (0.5 * m * r);
    assert_eq!(times(&found, "stick").len(), 1);
    close(times(&found, "stick")[0], spin / braking, 1e-9);
    assert!(times(&found, "slip").is_empty(), "{:?}", found.events());
}

/// What is held by friction slips where an event takes the friction away.
#[test]
fn a_sticking_contact_slips_when_its_friction_is_removed() {
    let text = "model \"ice\"\ncoordinates x, y\nparameter μ = 0.6\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                force x: 3\ncontact floor: y >= 0 with friction μ\nwhen t >= 1: μ = 0\nstart x = 0, y = 0\nrun 3\n";
    let found = finished(text, &[]);
    assert_eq!(times(&found, "slip").len(), 1);
    close(times(&found, "slip")[0], 1.0, 1e-12);
    close(found.state().q[0], 6.0, 1e-9);
}

/// What overcomes μs = 0.46 slides with μk = 0.38, and pulls at the block below by 3.8 N and not by 4.6 N: that holds up to
/// 5.6 N − 3.8 N = 1.8 N.
#[test]
fn a_sliding_contact_acts_with_its_kinetic_friction() {
    let text = "model \"stack\"\ncoordinates x1, y1, x2, y2\nparameter F = 1.5\nparticle A at (x1, y1) with mass 1\n\
                particle B at (x2, y2) with mass 1\ngravity (0, -10)\nforce x1: F\nforce x2: 6\n\
                contact lower: y1 >= 0 with friction 0.28 and at A\n\
                contact upper: y2 - y1 >= 0.1 with friction 0.46 and sliding 0.38 and slip x2' - x1' and at B\n\
                start x1 = 0, y1 = 0, x2 = 0, y2 = 0.1, x1' = 0, y1' = 0, x2' = 0, y2' = 0\nrun 1\n";
    for (force, way) in [(1.5, 0.0), (1.79, 0.0), (1.81, 0.005), (2.0, 0.1)] {
        let found = finished(text, &[&format!("F={force}")]);
        close(found.state().q[0], way, 1e-9);
        close(found.state().q[2], 0.5 * (6.0 - 3.8), 1e-9);
        assert!(found.events().is_empty(), "{:?}", found.events());
    }
}

/// A block at a stop, pulled away from it by t − 3.5: it leaves where that reaches μs m g = 4, and x'' = t − 3.5 − μk g from there.
#[test]
fn a_block_that_starts_to_slide_leaves_its_stop() {
    let text = "model \"stop\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\nforce x: t - 3.5\n\
                contact floor: y >= 0 with friction 0.4 and sliding 0.3\ncontact lo: x >= 0\n\
                start x = 0, y = 0, x' = 0, y' = 0\nrun 8.5\n";
    let found = finished(text, &[]);
    // stop and floor share the load, which is resolved to some 1e-10 of the weight, 10 N; the pull grows by 1 N/s
    close(times(&found, "take-off")[0], 7.5, 1e-8);
    close(found.state().q[0], 0.5 + 1.0 / 6.0, 2e-8);
}

/// A rod that turns with its ends in two guides with friction at right angles: both forces follow from one in the rod, m L α̇², and
/// α̈ = −μ α̇². Where an end turns back, the force of its guide changes its side at the same instant.
#[test]
fn a_force_may_vanish_together_with_its_slip() {
    let text = "model \"trammel\"\ncoordinates x, y, a, b\nparticle A at (x, y) with mass 1\n\
                particle B at (a, b) with mass 1\nconstraint rod: |A - B| = 1\n\
                constraint level: y = 0 with friction 0.05\nconstraint plumb: a = 0 with friction 0.05\n\
                start x = 0.5, x' = 3, b ~ 0.86\nrun 5\n";
    let found = finished(text, &[]);
    let (mu, first) = (0.05f64, std::f64::consts::FRAC_PI_6);
    let speed = 3.0 / first.cos();
    let slips = times(&found, "slip");
    assert_eq!(slips.len(), 8);
    for (n, t) in slips.iter().enumerate() {
        let turned = (n + 1) as f64 * std::f64::consts::FRAC_PI_2 - first;
        close(*t, ((mu * turned).exp() - 1.0) / (mu * speed), 1e-8);
    }
    close(found.state().q[0], (first + (1.0 + mu * speed * 5.0).ln() / mu).sin(), 1e-8);
    assert!(found.cost().steps < 500, "{}", found.cost().steps);
}

/// A block that comes back to where x is zero but for rounding, and starts to slide there, continues.
#[test]
fn a_breakaway_near_zero_has_no_tiny_steps() {
    let text = "model \"block\"\ncoordinates x, y\nparameter F = 6, w = 1\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                force x: F*sin(w*t)\ncontact floor: y >= 0 with friction 0.5 and sliding 0.3\nstart x = 0, y = 0\nrun 20\n";
    let first = |load: f64, w: f64| (5.0 / load).asin() / w;
    for (load, w) in [(5.428, 8.138), (6.0, 1.0), (5.428, 8.1), (5.43, 8.138)] {
        let found = finished(text, &[&format!("F={load}"), &format!("w={w}")]);
        close(times(&found, "slip")[0], first(load, w), 1e-9);
    }
}

/// Down with 4 against 6 + 4 it stops after 0.4 s and slides back with 6 − 4.
#[test]
fn reversal_of_a_slip_is_reported() {
    let text = "model \"slope\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (6, -8)\n\
                constraint floor: y = 0 with friction 0.5\nstart x = 0, x' = -4\nrun 3\n";
    let (found, _) = run_and_notes(text, &[]);
    assert_eq!((found.events().len(), found.events()[0].kind.as_str()), (1, "slip"));
    close(found.events()[0].t, 0.4, 1e-9);
    close(found.state().q[0], -0.8 + 2.6 * 2.6, 1e-8);
}

/// One swing of a bead on a ring with friction has a closed form; it turns twice and stays at the third stop.
#[test]
fn a_bead_on_a_ring_turns_twice_and_sticks() {
    let run = finished_model("bead_on_ring", 5.0);
    let stops = [0.471995154924121031, 1.50428669908202209, 2.50214242614568376];
    all_close(&times(&run, "stick"), &stops[2..], 1e-8);
    for (t, angle) in stops[..2].iter().zip([1.0086914098910833, -0.46465243648130682]) {
        let run = finished_model("bead_on_ring", *t);
        close(run.state().q[0].atan2(-run.state().q[1]), angle, 1e-8);
        close(run.state().qdot[0].hypot(run.state().qdot[1]), 0.0, 1e-7);
    }
    close(run.state().q[0].atan2(-run.state().q[1]), 0.0519993001001358276, 1e-8);
    assert!(run.state().qdot.iter().all(|v| v.abs() < 1e-15), "{:?}", run.state().qdot);
    assert!(run.audit().energy.drift < 1e-8, "{:?}", run.audit().energy);
}

/// The bead of the language page.
#[test]
fn a_bead_on_a_wire_comes_to_rest() {
    let run = finished_model("bead_on_wire", 5.0);
    close(run.state().q[0], 0.0556, 5e-5);
    all_close(&times(&run, "stick"), &[2.188], 5e-4);
    assert!(run.audit().energy.drift < 1e-8, "{:?}", run.audit().energy);
    let lost = run.outputs()[0].values.unwrap().last;
    close(lost, 0.1 * 9.81 * (0.5 - run.state().q[1]), 1e-8);
}

/// tan 20° < 0.5 holds a block; tan 30° > 0.3 does not.
#[test]
fn a_block_on_a_slope_stays_or_returns() {
    let run = finished_model("block_stays", 2.0);
    all_close(&times(&run, "stick"), &[0.376675740391540722], 1e-8);
    close(run.state().q[0], 0.565013610587311083, 1e-8);
    close(run.state().qdot[0], 0.0, 1e-15);

    let back = finished_model("block_returns", 1.11833197793229436);
    close(back.state().q[0], 0.0, 1e-8);
    close(back.state().qdot[0], -1.68674349420530488, 1e-8);
    let stop = finished_model("block_returns", 0.402483982848926993);
    close(stop.state().q[0], 0.603725974273390489, 1e-8);
}

/// Stick and slip on a belt: first slip at 1.1772 s, then periodic.
#[test]
fn a_block_on_a_belt_sticks_and_slips() {
    let (slip, stick) = (1.42246400116501578, 0.7848);
    let run = finished_model("stick_slip_belt", 10.0);
    let slips = times(&run, "slip");
    let sticks = times(&run, "stick");
    let period = slip + stick;
    all_close(&slips, &(0..4).map(|k| 1.1772 + period * k as f64).collect::<Vec<_>>(), 1e-8);
    all_close(&sticks, &(0..4).map(|k| 1.1772 + slip + period * k as f64).collect::<Vec<_>>(), 1e-8);
    let stuck = finished_model("stick_slip_belt", 1.1772 + slip + 0.1);
    close(stuck.state().qdot[0], 0.5, 1e-15);
    close(stuck.state().q[0], 0.1962 + 0.05, 1e-8);
    assert!(run.audit().energy.drift < 1e-8, "{:?}", run.audit().energy);
}

/// Three boxes, the middle one pulled with 12 N: the lowest is held by the floor, the highest slips on the middle one.
#[test]
fn a_stack_with_friction_slides_where_it_must() {
    let text = "model \"stack\"\ncoordinates x[1..3], y[1..3]\nparameter F = 5\n\
                particle B[i in 1..3] at (x[i], y[i]) with mass 1\ngravity (0, -9.81)\nforce x[2]: F\n\
                contact floor: y[1] >= 0 with friction 0.3 and at B[1]\n\
                contact upon[i in 2..3]: y[i] - y[i-1] >= 1 with friction 0.3 and slip x[i]' - x[i-1]' and at B[i]\n\
                start x[i in 1..3] = 0, y[i in 1..3] = i - 1\nrun 1\n";
    let held = run_to(text, &[], 1.0);
    all_close(&held.state().q, &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 1e-12);
    let pulled = run_to(text, &["F=12"], 1.0);
    let (upper, lower) = (0.3 * 9.81, 0.3 * 2.0 * 9.81);
    all_close(&pulled.state().q, &[0.0, (12.0 - upper - lower) / 2.0, upper / 2.0, 0.0, 1.0, 2.0], 1e-9);
    assert!(pulled.audit().energy.drift < 1e-9, "{:?}", pulled.audit().energy);
}

/// A wheel thrown without spin slides until it rolls, at two thirds of its speed.
#[test]
fn a_wheel_slides_until_it_rolls() {
    let text = "model \"wheel\"\ncoordinates x, y, a\nparameter m = 1, r = 0.5, mu = 0.2\npoint centre = (x, y)\n\
                mass x, y: m\nmass a: m*r^2/2\nforce y: -m*9.81\n\
                constraint ground: y = r with friction mu and slip x' - r*a' and at centre\n\
                start x = 0, y = r, a = 0, x' = 3, a' = 0\nrun 3\n";
    let run = run_to(text, &[], 3.0);
    all_close(&times(&run, "stick"), &[3.0 / (3.0 * 0.2 * 9.81)], 1e-9);
    close(run.state().qdot[0], 2.0, 1e-9);
    close(run.state().qdot[2], 4.0, 1e-9);
}

/// Twelve blocks with friction have 4¹² modes: the right one is found, and Z612 reports that others were not tried.
#[test]
fn very_many_places_with_friction_move_as_they_must() {
    let text = "model \"blocks\"\nlet n = 12\ncoordinates x[1..n], y[1..n]\n\
                particle B[i in 1..n] at (x[i], y[i]) with mass 1\ngravity (0, -10)\n\
                force x[i in 1..n]: 0.5*(i - 6.5)\n\
                contact floor[i in 1..n]: y[i] >= 0 with friction 0.2\n\
                start x[i in 1..n] = i, y[i in 1..n] = 0\nrun 1\n";
    let (run, diagnostics) = attempt_to(text, &[], 1.0);
    let run = run.unwrap();
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z612"), "{diagnostics:#?}");
    for i in 0..12 {
        let force = 0.5 * (i as f64 + 1.0 - 6.5);
        let rest = if f64::abs(force) <= 2.0 { 0.0 } else { force - 2.0 * force.signum() };
        close(run.state().q[i] - (i as f64 + 1.0), rest / 2.0, 1e-9);
    }
}

/// Near sticking the steps stay long, whatever the tolerance: no step has to resolve the slip as it decays.
#[test]
fn no_steps_are_wasted_near_sticking() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        for (name, most) in
            [("bead_on_wire", 120), ("bead_on_ring", 160), ("stick_slip_belt", 250), ("block_stays", 60)]
        {
            let text = model_text(name);
            let (run, _) = run_and_notes_at(&text, tolerance);
            assert!(run.cost().steps <= most, "{name} at {tolerance:e}: {} steps", run.cost().steps);
        }
    }
}

/// The middle one of three bricks is pulled for a second, then released: each is stopped by friction alone, and all stick.
#[test]
fn bricks_slide_and_stick_one_after_the_other() {
    let run = finished_model("bricks", 3.0);
    let g = 9.81f64;
    // pulled: (F − 3 μ m g)/m for the middle one, μ g for the upper one
    let (a2, a3) = (12.0 - 0.9 * g, 0.3 * g);
    // released: −3 μ g and +μ g until both are equally fast, then −μ g of both together
    let together = (a2 - a3) / (1.2 * g);
    let v = a2 - 0.9 * g * together;
    let stop = 1.0 + together + v / (0.3 * g);
    all_close(&times(&run, "stick"), &[1.0 + together, stop], 1e-9);
    let way = a2 / 2.0 + (a2 + v) / 2.0 * together + v * v / (0.6 * g);
    close(run.state().q[1], way, 1e-9);
    close(run.state().q[0], 0.0, 1e-12);
    assert!(run.state().qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", run.state().qdot);
}
