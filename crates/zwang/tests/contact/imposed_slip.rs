//! Slip imposed by drives, belts and cranks, through starts, stops and dead points.

use super::last;
use crate::common::{close, finished, times};

/// A drive that turns back takes the block along: it sticks at no time, although its slip passes zero.
#[test]
fn a_driven_block_turns_back_without_sticking() {
    let text = "model \"driven\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint floor: y = 0 with friction 0.3\nconstraint drive: x = 0.5*sin(t)\n\
                start x = 0, y = 0, x' = 0.5, y' = 0\nrun 6\n";
    let found = finished(text, &[]);
    assert_eq!(times(&found, "slip").len(), 2);
    close(times(&found, "slip")[0], std::f64::consts::FRAC_PI_2, 1e-9);
    close(times(&found, "slip")[1], 3.0 * std::f64::consts::FRAC_PI_2, 1e-9);
    assert!(times(&found, "stick").is_empty(), "{:?}", found.events());
}

/// A fly wheel moves a block to and fro: ½(J + m r² sin²θ)θ'² falls by μ m g for every metre, also through the dead points.
#[test]
fn a_yoke_with_friction_passes_its_dead_points() {
    let text = "model \"yoke\"\ncoordinates θ, x, y\nmass θ: 1\nparticle S at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint floor: y = 0 with friction 0.3\nconstraint yoke: x = 0.2*cos(θ)\n\
                start θ = 0.3, x ~ 0.2, y = 0, y' = 0, θ' = 3\nrun 6 s with tolerance 1e-11\n";
    let found = finished(text, &[]);
    let (angle, rate) = (found.state().q[0], found.state().qdot[0]);
    let energy = |angle: f64, rate: f64| 0.5 * (1.0 + 0.04 * angle.sin().powi(2)) * rate * rate;
    let pi = std::f64::consts::PI;
    assert!(3.0 * pi < angle && angle < 4.0 * pi, "{angle}");
    let way = 0.2 * ((0.3f64.cos() + 1.0) + 2.0 + 2.0 + (angle.cos() + 1.0));
    close(energy(angle, rate), energy(0.3, 3.0) - 3.0 * way, 1e-9);
    assert_eq!(times(&found, "slip").len(), 3);
}

/// A block at rest at a stop, on a belt that starts with −1.5t: it is taken along by μg = 1.2 less what holds it there, or stays.
#[test]
fn a_block_held_by_a_stop_does_not_stick_to_a_belt() {
    let text = "model \"belt\"\ncoordinates x, y\nparameter F = 0.2\nparticle P at (x, y) with mass 1\n\
                gravity (0, -10)\nforce x: F\ncontact belt: y >= 0 with friction 0.12 and slip x' + 1.5*t\n\
                contact hi: 0 >= x\nstart x = 0, y = 0, x' = 0, y' = 0\nrun 2\n";
    close(finished(text, &[]).state().q[0], 0.5 * (0.2 - 1.2) * 4.0, 1e-9);
    let held = finished(text, &["F=1.25"]);
    close(held.state().q[0], 0.0, 1e-12);
    assert!(times(&held, "take-off").is_empty(), "{:?}", held.events());
}

/// Two blocks on a rod, on belts that part at t = 1: neither can stick to its own, (4 − 6)/3 moves both.
#[test]
fn blocks_on_a_rod_slide_on_belts_that_part() {
    let text = "model \"belts\"\ncoordinates x1, x2, y1, y2\nparticle A at (x1, y1) with mass 1\n\
                particle B at (x2, y2) with mass 2\ngravity (0, -10)\nconstraint rod: x2 - x1 = 1\n\
                contact ba: y1 >= 0 with friction 0.4 and slip x1' - max(0, t - 1)\n\
                contact bb: y2 >= 0 with friction 0.3 and slip x2' + max(0, t - 1)\n\
                start x1 = 0, x2 = 1, y1 = 0, y2 = 0, x1' = 0, x2' = 0, y1' = 0, y2' = 0\nrun 2\n";
    let found = finished(text, &[]);
    close(found.state().q[0], -1.0 / 3.0, 1e-9);
    close(times(&found, "slip")[0], 1.0, 1e-9);
}

/// The slider of a crank that turns evenly turns back at every dead centre, where the rod does not press it against its guide.
#[test]
fn a_slider_with_friction_passes_its_dead_centres() {
    let text = "model \"crank\"\ncoordinates θ, x, y\nmass θ: 0.05\nmass x, y: 1\n\
                point pin = (0.1*cos(θ), 0.1*sin(θ))\npoint S = (x, y)\nconstraint motor: θ = 10*t\n\
                constraint rod: |S - pin| = 0.3\nconstraint guide: y = 0 with friction 0.2 and at S\n\
                start y = 0, x ~ 0.4\nrun 2\n";
    let found = finished(text, &[]);
    let slips = times(&found, "slip");
    assert_eq!(slips.len(), 6);
    slips.iter().enumerate().for_each(|(k, t)| close(*t, (k + 1) as f64 * std::f64::consts::PI / 10.0, 1e-9));
    // the tolerance, of the energy at the end
    assert!(found.audit().energy.drift.abs() < 1e-9 * 3.0, "{}", found.audit().energy.drift);
    assert!(found.cost().steps < 500, "{}", found.cost().steps);
}

/// A block of mass 2 on a floor with friction follows a drive that starts with no velocity and no acceleration: m x″ + μ m g
/// x′/|x′|.
#[test]
fn a_drive_starts_gently_on_a_floor_with_friction() {
    // the drive, x and x″ at the end
    let cases = [
        ("t^3", 27.0, 18.0, 6.0),
        ("-t^3", -27.0, -18.0, -6.0),
        ("t^2", 9.0, 2.0, 6.0),
        ("t^4", 81.0, 108.0, 6.0),
        ("t^5", 243.0, 540.0, 6.0),
        ("max(0, t - 1)^3", 8.0, 12.0, 6.0),
        ("1 - cos(t)", 1.0 - 3.0_f64.cos(), 3.0_f64.cos(), 6.0),
        ("t^3*(3 - t)/4", 0.0, -13.5, -6.0),
    ];
    for floor in ["contact floor: y >= 0", "constraint floor: y = 0"] {
        for (drive, x, a, rub) in cases {
            let run = finished(
                &format!(
                    "model \"drive\"\ncoordinates x, y\nparticle P at (x, y) with mass 2\ngravity (0, -10)\n\
                     {floor} with friction 0.3\nconstraint drive: x = {drive}\nstart y = 0\nrun 3\n\
                     output force = lambda(drive)\n"
                ),
                &[],
            );
            close(run.state().q[0], x, 1e-9 * x.abs().max(1.0));
            close(last(&run, "force"), 2.0 * a + rub, 1e-7);
            assert!(run.audit().energy.drift < 1e-8 * x.abs().max(1.0), "{drive}: {:?}", run.audit().energy);
        }
    }
}

/// x = t − sin t stands still for an instant at 2π, without acceleration, and continues.
#[test]
fn a_drive_stops_for_an_instant_and_continues() {
    let run = finished(
        "model \"halting\"\ncoordinates x, y\nparticle P at (x, y) with mass 2\ngravity (0, -10)\n\
         contact floor: y >= 0 with friction 0.3\nconstraint drive: x = t - sin(t)\nstart y = 0\nrun 8\n\
         output force = lambda(drive)\noutput lost = -work(floor)\n",
        &[],
    );
    close(last(&run, "force"), 2.0 * 8.0_f64.sin() + 6.0, 1e-8);
    close(last(&run, "lost"), 6.0 * (8.0 - 8.0_f64.sin()), 1e-7);
}

/// In space the drive x = t³ takes a block along that a force of 3 pulls across: friction that has been 3 across stays so as it
/// starts to slide, and x′ pulls the rest; ẏ at the end by the fourth order method of Runge and Kutta.
#[test]
fn a_drive_in_space_lets_a_block_slide_across() {
    let text = |across: f64, more: &str| {
        format!(
            "model \"drive\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 2\ngravity (0, 0, -10)\n\
             force P: (0, {across}, 0)\ncontact floor: z >= 0 with friction 0.3\nconstraint drive: x = t^3\n{more}\
             start z = 0, y = 0\nrun 2\noutput force = lambda(drive)\n"
        )
    };
    let run = finished(&text(3.0, ""), &[]);
    assert!(run.events().is_empty(), "{:?}", run.events());
    close(run.state().q[1], 1.3473112, 1e-6);
    close(run.state().qdot[1], 1.6264752512, 1e-8);
    close(last(&run, "force"), 24.0 + 72.0 / 12.0_f64.hypot(run.state().qdot[1]), 1e-8);
    let run = finished(&text(0.0, "constraint along: y = 2*t^3\n"), &[]);
    close(last(&run, "force"), 24.0 + 6.0 / 5.0_f64.sqrt(), 1e-8);
}

/// A block held on a belt that starts gently is rubbed with μ m g, a free one goes with it until 6 t exceeds μ g.
#[test]
fn a_belt_starts_gently() {
    let text = |hold: &str| {
        format!(
            "model \"belt\"\ncoordinates x, y\nparticle P at (x, y) with mass 2\ngravity (0, -10)\n\
             contact belt: y >= 0 with friction 0.3 and slip x' - 3*t^2\n{hold}start x = 0, y = 0\nrun 2\n"
        )
    };
    let held = finished(&text("constraint hold: x = 0\noutput force = lambda(hold)\n"), &[]);
    close(last(&held, "force"), -6.0, 1e-9);
    close(times(&finished(&text(""), &[]), "slip")[0], 0.5, 1e-9);
}

/// The work of a drive that starts late is counted: m x′²/2 + μ m g x, with x = 16 − 1 and x′ = 32 − 4.
#[test]
fn a_drive_that_starts_late_does_its_work() {
    let run = finished(
        "model \"late\"\ncoordinates x, y\nparameter w = 1 1/s, X = 1 m\nparticle P at (x, y) with mass 2 kg\n\
         gravity (0, -10[m/s^2])\ncontact floor: y >= 0 with friction 0.3\n\
         constraint drive: x = X*(max(0, w*t - 1)^4 - max(0, w*t - 2)^4)\nstart y = 0\nrun 3 s\noutput done = work(drive)\n",
        &[],
    );
    close(last(&run, "done"), 28.0 * 28.0 + 6.0 * 15.0, 1e-6);
    assert!(run.audit().energy.drift < 1e-6, "{:?}", run.audit().energy);
}

/// A drive of x₁ + x₂ takes along the block that holds less, 3 N against 4 N.
#[test]
fn a_drive_of_two_blocks_moves_the_looser_one() {
    let text = "model \"sum\"\ncoordinates x1, y1, x2, y2\nparticle A at (x1, y1) with mass 1\nparticle B at (x2, y2) with mass 1\n\
                gravity (0, -10)\ncontact fa: y1 >= 0 with friction 0.3 and at A\ncontact fb: y2 >= 0 with friction 0.4 and at B\n\
                constraint drive: x1 + x2 = t^3\nstart y1 = 0, x1 = 0, x2 = 0, y2 = 0\nrun 0.16\noutput force = lambda(drive)\n";
    let run = finished(text, &[]);
    close(run.state().q[0], 0.16_f64.powi(3), 1e-9);
    close(run.state().q[2], 0.0, 1e-12);
    close(last(&run, "force"), 6.0 * 0.16 + 3.0, 1e-8);
}
