//! Friction and laws that do work along the motion, against closed forms.

#![allow(clippy::excessive_precision, reason = "values as the literature gives them")]

mod common;

use common::{all_close, attempt_to, close, finished_model, model_text, run_to, times};
use zwang::diagnostic::Diagnostics;
use zwang::simulate::Ended;
use zwang::{Overrides, RunWishes, Wishes, check, read, simulate};

/// One swing of a bead on a ring with friction has a closed form; it turns twice and stays at the third stop.
#[test]
fn a_bead_on_a_ring_turns_twice_and_sticks() {
    let run = finished_model("bead_on_ring", 5.0);
    let stops = [0.471995154924121031, 1.50428669908202209, 2.50214242614568376];
    all_close(&times(&run, "stick"), &stops[2..], 1e-8);
    for (t, angle) in stops[..2].iter().zip([1.0086914098910833, -0.46465243648130682]) {
        let run = finished_model("bead_on_ring", *t);
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
    let run = finished_model("bead_on_wire", 5.0);
    close(run.state.q[0], 0.0556, 5e-5);
    all_close(&times(&run, "stick"), &[2.188], 5e-4);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
    let lost = run.outputs[0].values.unwrap().last;
    close(lost, 0.1 * 9.81 * (0.5 - run.state.q[1]), 1e-8);
}

/// tan 20° < 0.5 holds a block; tan 30° > 0.3 does not.
#[test]
fn a_block_on_a_slope_stays_or_returns() {
    let run = finished_model("block_stays", 2.0);
    all_close(&times(&run, "stick"), &[0.376675740391540722], 1e-8);
    close(run.state.q[0], 0.565013610587311083, 1e-8);
    close(run.state.qdot[0], 0.0, 1e-15);

    let back = finished_model("block_returns", 1.11833197793229436);
    close(back.state.q[0], 0.0, 1e-8);
    close(back.state.qdot[0], -1.68674349420530488, 1e-8);
    let stop = finished_model("block_returns", 0.402483982848926993);
    close(stop.state.q[0], 0.603725974273390489, 1e-8);
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
    all_close(&sticks, &(0..3).map(|k| 1.1772 + slip + period * k as f64).collect::<Vec<_>>(), 1e-8);
    let stuck = finished_model("stick_slip_belt", 1.1772 + slip + 0.1);
    close(stuck.state.qdot[0], 0.5, 1e-15);
    close(stuck.state.q[0], 0.1962 + 0.05, 1e-8);
    assert!(run.audit.energy.drift < 1e-8, "{:?}", run.audit.energy);
}

/// A puck without other forces stops in a straight line after v²/(2 μ g); a force below μ m g then does not move it.
#[test]
fn a_puck_in_space_stops_and_stays() {
    let text = "model \"puck\"\ncoordinates x, y, z\nparameter F = 0\nparticle P at (x, y, z) with mass 1\n\
                gravity (0, 0, -9.81)\nforce x: F\nconstraint table: z = 0 with friction 0.2\n\
                start x = 0, y = 0, z = 0, x' = 3/5, y' = 4/5\nrun 4\noutput force = |reaction(table, P)|\n";
    let way = 1.0 / (2.0 * 0.2 * 9.81);
    let stopped = run_to(text, &[], 4.0);
    all_close(&stopped.state.q, &[0.6 * way, 0.8 * way, 0.0], 1e-9);
    all_close(&times(&stopped, "stick"), &[2.0 * way], 1e-9);
    // |(μ N, N)| while it slides
    close(stopped.outputs[0].values.unwrap().max, 9.81 * 1.04f64.sqrt(), 1e-9);
    let pulled = run_to(text, &["F=1.5"], 4.0);
    assert_eq!(times(&pulled, "stick").len(), 1);
    assert!(pulled.state.qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", pulled.state.qdot);
    close(pulled.outputs[0].values.unwrap().last, 9.81f64.hypot(1.5), 1e-9);
    // more than it can hold
    let free = run_to(text, &["F=3"], 4.0);
    assert!(free.state.qdot[0] > 1.0);
}

/// Painlevé: a rod pushed tip first over a rough floor has no motion, and pulled it has one.
#[test]
fn a_rod_that_digs_in_is_refused() {
    let text = "model \"rod\"\ncoordinates x, y, a\nparameter u = -3\nmass x, y: 1\nmass a: 1/3\nforce y: -9.81\n\
                point tip = (x - cos(a), y - sin(a))\n\
                contact floor: tip.y >= 0 with friction 2 and at tip\n\
                start x = 0, a = 1, y = sin(1), x' = u, a' = 0, y' = 0\nrun 0.1\n";
    let (pushed, diagnostics) = attempt_to(text, &[], 0.1);
    assert_eq!(pushed.unwrap().ended.as_str(), "no-motion");
    assert!(diagnostics.iter().any(|d| d.code == "Z610"), "{diagnostics:#?}");
    let pulled = run_to(text, &["u=3"], 0.1);
    assert_eq!(pulled.ended, Ended::Finished);
    assert!(pulled.audit.energy.drift < 1e-8, "{:?}", pulled.audit.energy);
}

/// Two rails that say the same share a force that friction needs: said, and the motion is that of equal shares.
#[test]
fn a_normal_force_that_is_shared_is_said() {
    let text = "model \"rails\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint one: y = 0 with friction 0.4\nconstraint two: y = 0\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 0.1\n";
    let (shared, diagnostics) = attempt_to(text, &[], 0.1);
    assert!(diagnostics.iter().any(|d| d.code == "Z611" && d.message.contains("`one`")), "{diagnostics:#?}");
    close(shared.unwrap().state.qdot[0], 1.0 - 0.4 * 5.0 * 0.1, 1e-9);
    let (_, alone) = attempt_to(&text.replace("constraint two: y = 0\n", ""), &[], 0.1);
    assert!(!alone.iter().any(|d| d.code == "Z611"), "{alone:#?}");
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
    all_close(&held.state.q, &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 1e-12);
    let pulled = run_to(text, &["F=12"], 1.0);
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
    let run = run_to(text, &[], 3.0);
    all_close(&times(&run, "stick"), &[3.0 / (3.0 * 0.2 * 9.81)], 1e-9);
    close(run.state.qdot[0], 2.0, 1e-9);
    close(run.state.qdot[2], 4.0, 1e-9);
}

/// A bead on a helix without weight is pressed with m κ v², so v = v₀/(1 + μ κ v₀ t), with κ = R/(R² + c²).
#[test]
fn a_bead_on_a_curve_in_space_slides_as_the_curvature_says() {
    let text = "model \"helix\"\ncoordinates x, y, z\nparameter R = 2, c = 1, mu = 0.3\n\
                particle P at (x, y, z) with mass 1.5\n\
                constraint wire: (x, y) = (R*cos(z/c), R*sin(z/c)) with friction mu\n\
                start x = R, y = 0, z = 0, z' = 1\nrun 5\noutput lost = -work(wire)\noutput rate = power(wire)\n";
    let (kappa, v0, mu) = (2.0 / 5.0, 5f64.sqrt(), 0.3);
    let found = run_to(text, &[], 5.0);
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
    let stays = run_to(text, &[], 1.0);
    all_close(&stays.state.q, &[2.0, 0.0, 0.0], 1e-14);
    let slides = run_to(text, &["mu=0.49"], 0.01);
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
    let found = run_to(text, &[], 0.1);
    close(found.state.qdot[0], 3.0 - 0.2 * 10.0 * 0.1 - 0.2 * 1.5 * arrival / 2.0, 1e-9);
    assert!(found.audit.energy.drift < 1e-9, "{:?}", found.audit.energy);
    // with more friction than momentum it stops
    let stopped = run_to(text, &["v=0.15", "mu=0.4"], 0.1);
    close(stopped.state.qdot[0], 0.0, 1e-15);
    // and what does not slide is not moved
    let still = run_to(text, &["v=0"], 0.1);
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
    let (run, diagnostics) = attempt_to(text, &[], 1.0);
    let run = run.unwrap();
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z612"), "{diagnostics:#?}");
    for i in 0..12 {
        let force = 0.5 * (i as f64 + 1.0 - 6.5);
        let rest = if f64::abs(force) <= 2.0 { 0.0 } else { force - 2.0 * force.signum() };
        close(run.state.q[i] - (i as f64 + 1.0), rest / 2.0, 1e-9);
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

/// While the belt carries the block the ideal part does its work ½ k x², and nothing else does any.
#[test]
fn the_parts_of_the_constraint_force_do_their_own_work() {
    let parts = finished_model("stick_slip_belt", 1.0).audit.energy.parts.unwrap();
    close(parts.ideal, 0.5 * 10.0 * 0.25, 1e-9);
    close(parts.nonideal, 0.0, 1e-12);
    close(parts.law, 0.0, 1e-12);
    // sliding takes μ m g times the way, all of it by C
    let parts = finished_model("block_stays", 2.0).audit.energy.parts.unwrap();
    let lost = 0.5 * 9.81 * 20f64.to_radians().cos() * 0.565013610587311083;
    close(parts.ideal, 0.0, 1e-12);
    close(parts.nonideal, -lost, 1e-9);
    close(parts.law, -lost, 1e-9);
    // and a law with reactions: ½ m (v² − v₀²) with v = v₀/(1 + μ v₀ t/R)
    let parts = finished_model("ring_with_drag", 10.0).audit.energy.parts.unwrap();
    let v = 4.0 / (1.0 + 0.2 * 4.0 * 10.0);
    close(parts.law, 0.5 * (v * v - 16.0), 1e-8);
    close(parts.nonideal, parts.law, 1e-9);
    assert!(finished_model("pendulum_stop", 0.1).audit.energy.parts.is_none());
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
    let free = run_to(&text.replace("LAW", ""), &[], 1.0);
    let bound = run_to(&text.replace("LAW", law), &[], 1.0);
    all_close(&bound.state.q, &free.state.q, 1e-9);
    all_close(&bound.state.qdot, &free.state.qdot, 1e-9);
    let parts = bound.audit.energy.parts.unwrap();
    close(parts.nonideal, 0.0, 1e-9);
    let found = common::inspected(&text.replace("LAW", law), &Overrides::default()).check.snapshot.found;
    assert!(found.nonideal_force.iter().any(|c| c.abs() > 1.0), "{:?}", found.nonideal_force);
    assert!(found.constraint_force_nonideal.iter().all(|c| c.abs() < 1e-12), "{:?}", found.constraint_force_nonideal);
}

/// Power and work agree: on a slope friction takes μ m g cos times the speed.
#[test]
fn the_power_of_friction_is_an_output() {
    let text = model_text("block_stays") + "output rate = power(plane)\noutput lost = work(plane)\n";
    let found = run_to(&text, &[], 2.0);
    let rate = found.outputs[0].values.unwrap();
    close(rate.min, -0.5 * 9.81 * 20f64.to_radians().cos() * 3.0, 1e-9);
    close(rate.last, 0.0, 1e-12);
}

/// The middle one of three bricks is pulled for a second, then let go: each is stopped by friction alone, and all stick.
#[test]
fn bricks_slide_and_stick_one_after_the_other() {
    let run = finished_model("bricks", 3.0);
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
