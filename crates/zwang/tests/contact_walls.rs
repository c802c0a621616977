//! Friction beside constraints and contacts that hold the same: corners, grooves, drives.

mod common;

use common::{close, finished, times, told};
use zwang::Run;
use zwang::simulate::Ended;

/// A particle of mass 1 on a floor, pushed into a wall and pulled along both.
fn corner(of_floor: f64, of_wall: f64, push: f64, pull: &str) -> String {
    format!(
        "model \"corner\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -10)\n\
         force P: ({pull}, -{push}, 0)\ncontact floor: z >= 0 with friction {of_floor}\n\
         contact wall: y >= 0 with friction {of_wall}\nstart x = 0, y = 0, z = 0\nrun 2\n\
         output floor = lambda(floor)\noutput wall = lambda(wall)\n"
    )
}

fn last(run: &Run, name: &str) -> f64 {
    run.outputs.iter().find(|o| o.name == name).unwrap().values.unwrap().last
}

/// It holds while the pull is at most μ₁ m g + μ₂ N, whatever the friction of the floor could hold across, and slides beyond.
#[test]
fn a_corner_holds_what_both_its_places_hold() {
    for (of_floor, of_wall, push) in
        [(0.3, 0.2, 6.0), (0.8, 0.5, 6.0), (2.0, 0.2, 6.0), (0.1, 0.9, 30.0), (0.0, 0.4, 5.0)]
    {
        let most = 10.0 * of_floor + of_wall * push;
        for part in [0.5, 0.99, 1.01, 1.3] {
            let (run, diagnostics) = told(&corner(of_floor, of_wall, push, &format!("{}", part * most)), &[]);
            assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
            close(run.state.q[0], 2.0 * f64::max(part - 1.0, 0.0) * most, 1e-9);
            close(run.state.q[1].abs() + run.state.q[2].abs(), 0.0, 1e-12);
            close(last(&run, "floor"), 10.0, 1e-9);
            close(last(&run, "wall"), push, 1e-9);
            let is_shared = diagnostics.iter().any(|d| d.code == "Z614");
            assert_eq!(is_shared, part < 1.0, "{diagnostics:#?}");
        }
    }
}

/// A pull 3 t along the corner reaches 4.2 at t = 1.4, and one off the wall is the floor's alone.
#[test]
fn a_corner_lets_go_where_both_places_do() {
    let run = finished(&corner(0.3, 0.2, 6.0, "3*t"), &[]);
    // shared forces are told to some 1e-10 of the weight
    times(&run, "slip").iter().for_each(|t| close(*t, 1.4, 1e-8));
    assert_eq!(times(&run, "slip").len(), 2);
    close(run.state.q[0], 0.5 * 0.6_f64.powi(3), 1e-8);
    let run = finished(&corner(0.3, 0.2, -2.0, "2*t").replace("--2", "2"), &[]);
    close(times(&run, "slip")[0], 5.0_f64.sqrt() / 2.0, 1e-9);
}

/// In a groove with walls at 30° the weight presses with m g/(2 cos 30°) on each.
#[test]
fn a_groove_holds_by_both_walls() {
    let text = |pull: f64| {
        format!(
            "model \"groove\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -10)\n\
             force P: ({pull}, 0, 0)\ncontact left: z*cos(π/6) + y*sin(π/6) >= 0 with friction 0.2\n\
             contact right: z*cos(π/6) - y*sin(π/6) >= 0 with friction 0.3\nstart x = 0, y = 0, z = 0\nrun 2\n"
        )
    };
    let most = 0.5 * 10.0 / 3.0_f64.sqrt();
    close(finished(&text(0.99 * most), &[]).state.q[0], 0.0, 1e-12);
    close(finished(&text(1.2 * most), &[]).state.q[0], 2.0 * 0.2 * most, 1e-9);
}

/// A rod that falls beside a wall: its lower end sticks, and could take the push of 6 as well, but the wall does. Its upper end rubs
/// with 0.2 · 6 along its arc: m l²/6 ω² = m g l/2 (cos θ₀ − cos θ) − 1.2 l (θ − θ₀).
#[test]
fn a_wall_takes_the_push_that_sticking_could() {
    let text = "model \"rod\"\ncoordinates x, y, z, th\npoint L = (x, y, z)\npoint S = (x + sin(th), y, z + cos(th))\n\
                body R at (x + sin(th)/2, y, z + cos(th)/2) turned y by th with mass 1 and inertia (1, 1, 0)/12\n\
                gravity (0, 0, -10)\nforce S: (0, -6, 0)\ncontact lower: z >= 0 with friction 0.8 and at L\n\
                contact side: y >= 0 with friction 0.2 and at S\nstart x = 0, y = 0, z = 0, th = 0.3\nrun 0.5\n\
                output side = lambda(side)\n";
    let (run, diagnostics) = told(text, &[]);
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z611"), "{diagnostics:#?}");
    let (th, w) = (run.state.q[3], run.state.qdot[3]);
    close(w * w / 6.0, 5.0 * (0.3_f64.cos() - th.cos()) - 1.2 * (th - 0.3), 1e-9);
    assert!(th > 0.4 && run.audit.energy.drift < 1e-9);
    close(last(&run, "side"), 6.0, 1e-9);
}

/// A block of mass 2 on a rough floor follows a drive that sets out with no velocity and no acceleration: m x″ + μ m g x′/|x′|.
#[test]
fn a_drive_sets_out_gently_on_a_rough_floor() {
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
            close(run.state.q[0], x, 1e-9 * x.abs().max(1.0));
            close(last(&run, "force"), 2.0 * a + rub, 1e-7);
            assert!(run.audit.energy.drift < 1e-8 * x.abs().max(1.0), "{drive}: {:?}", run.audit.energy);
        }
    }
}

/// x = t − sin t stands still for an instant at 2π, without acceleration, and goes on.
#[test]
fn a_drive_stops_and_goes_on() {
    let run = finished(
        "model \"halting\"\ncoordinates x, y\nparticle P at (x, y) with mass 2\ngravity (0, -10)\n\
         contact floor: y >= 0 with friction 0.3\nconstraint drive: x = t - sin(t)\nstart y = 0\nrun 8\n\
         output force = lambda(drive)\noutput lost = -work(floor)\n",
        &[],
    );
    close(last(&run, "force"), 2.0 * 8.0_f64.sin() + 6.0, 1e-8);
    close(last(&run, "lost"), 6.0 * (8.0 - 8.0_f64.sin()), 1e-7);
}

/// In space the drive x = t³ takes a block along that a force of 3 pulls across: friction that has been 3 across stays so as it sets
/// out, and x′ pulls the rest; ẏ at the end by the fourth order method of Runge and Kutta.
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
    assert!(run.events.is_empty(), "{:?}", run.events);
    close(run.state.q[1], 1.3473112, 1e-6);
    close(run.state.qdot[1], 1.6264752512, 1e-8);
    close(last(&run, "force"), 24.0 + 72.0 / 12.0_f64.hypot(run.state.qdot[1]), 1e-8);
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

/// A ladder that slides at both ends: with C, the multipliers that act, and not the ideal ones, make up M q″ − Q.
#[test]
fn inspect_has_the_multipliers_that_act() {
    let text = "model \"ladder\"\ncoordinates x, y, th\nbody L at (x, y) turned by th with mass 10 and inertia 40/3\n\
                gravity (0, -10)\npoint foot = (x + 2*cos(th), y - 2*sin(th))\npoint top = (x - 2*cos(th), y + 2*sin(th))\n\
                contact floor: y - 2*sin(th) >= 0 with friction 0.2 and at foot\n\
                contact wall: x - 2*cos(th) >= 0 with friction 0.1 and at top\n\
                start th = 1, x = 2*cos(1), y = 2*sin(1)\nrun 1\noutput floor = lambda(floor)\n";
    let inspection = common::inspected(text, &Default::default());
    let (given, found) = (&inspection.check.snapshot.given, &inspection.check.snapshot.found);
    assert!((found.lambda_acting[0] - found.lambda[0]).abs() > 1.0);
    close(inspection.outputs[0].1.unwrap(), found.lambda_acting[0], 1e-12);
    for j in 0..3 {
        let rows = (0..found.lambda.len()).map(|i| {
            let (col, value) = given.constraint_matrix.row(i);
            col.iter().zip(value).filter(|(c, _)| **c == j).map(|(_, a)| a * found.lambda_acting[i]).sum::<f64>()
        });
        let force = given.given_force[j] + found.nonideal_force[j] + rows.sum::<f64>();
        close([10.0, 10.0, 40.0 / 3.0][j] * found.qddot[j], force, 1e-9);
    }
}

/// The work of a drive that sets out late is counted: m x′²/2 + μ m g x, with x = 16 − 1 and x′ = 32 − 4.
#[test]
fn a_drive_that_sets_out_late_does_its_work() {
    let run = finished(
        "model \"late\"\ncoordinates x, y\nparameter w = 1 1/s, X = 1 m\nparticle P at (x, y) with mass 2 kg\n\
         gravity (0, -10[m/s^2])\ncontact floor: y >= 0 with friction 0.3\n\
         constraint drive: x = X*(max(0, w*t - 1)^4 - max(0, w*t - 2)^4)\nstart y = 0\nrun 3 s\noutput done = work(drive)\n",
        &[],
    );
    close(last(&run, "done"), 28.0 * 28.0 + 6.0 * 15.0, 1e-6);
    assert!(run.audit.energy.drift < 1e-6, "{:?}", run.audit.energy);
}

/// A drive of x₁ + x₂ takes along the block that holds less, 3 N against 4 N.
#[test]
fn a_drive_of_two_blocks_moves_the_looser_one() {
    let text = "model \"sum\"\ncoordinates x1, y1, x2, y2\nparticle A at (x1, y1) with mass 1\nparticle B at (x2, y2) with mass 1\n\
                gravity (0, -10)\ncontact fa: y1 >= 0 with friction 0.3 and at A\ncontact fb: y2 >= 0 with friction 0.4 and at B\n\
                constraint drive: x1 + x2 = t^3\nstart y1 = 0, x1 = 0, x2 = 0, y2 = 0\nrun 0.16\noutput force = lambda(drive)\n";
    let run = finished(text, &[]);
    close(run.state.q[0], 0.16_f64.powi(3), 1e-9);
    close(run.state.q[2], 0.0, 1e-12);
    close(last(&run, "force"), 6.0 * 0.16 + 3.0, 1e-8);
}

/// A block in the corner of a rough floor and a rough wall, pulled to and fro along it: at each turn it holds until the pull is
/// μ m g + μ N again. What stands may slide by name; its friction then acts along the corner, and not against floor or wall.
#[test]
fn a_corner_holds_the_same_at_every_turn() {
    let text = "model \"to and fro\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -9.81)\n\
                force P: (1.3*17.81*sin(2*t), -8, 0)\ncontact floor: z >= 0 with friction 1\n\
                contact wall: y >= 0 with friction 1\nstart x = 0, y = 0, z = 0\nrun 4\n";
    let run = finished(text, &[]);
    let first = (1.0f64 / 1.3).asin() / 2.0;
    let slips: Vec<f64> = run.events.iter().filter(|e| e.kind == "slip" && e.name == "wall").map(|e| e.t).collect();
    assert!(slips.len() >= 2, "{:?}", run.events);
    for (k, t) in slips.iter().enumerate() {
        close(*t, first + k as f64 * std::f64::consts::FRAC_PI_2, 1e-8);
    }
}
