//! Coulomb friction on surfaces and curves in space: the cone, and the direction of slip.

use super::PARTICLE_IN_SPACE;
use crate::common::{all_close, close, finished, run_and_notes, run_to, times};
use zwang::simulate::End;

/// A pull t (1, c) against 5 starts a slip at 5/√(1 + c²), along itself: with a = √(1 + c²) τ + 10 (0.5 − μ), τ from there on.
#[test]
fn slip_starts_along_an_oblique_pull() {
    for (c, sliding, slip) in
        [(0.3, 0.5, ""), (-0.7, 0.5, ""), (0.3, 0.3, ""), (2.9, 0.3, ""), (0.3, 0.5, " and slip (x', y')")]
    {
        for floor in ["contact floor: z >= 0", "constraint floor: z = 0"] {
            let height = if floor.starts_with("contact") { ", z = 0" } else { "" };
            let text = format!(
                "model \"pull\"\n{PARTICLE_IN_SPACE}gravity (0, 0, -10)\nforce P: t*(1, {c}, 0)\n\
                 {floor} with friction 0.5 and sliding {sliding}{slip}\nstart x = 0, y = 0{height}\nrun 6\n"
            );
            let (found, diagnostics) = run_and_notes(&text, &[]);
            // its direction turns fast only at first: no stiffness
            assert!(!diagnostics.iter().any(|d| d.code == "Z601"), "{diagnostics:#?}");
            let strength = f64::hypot(1.0, c);
            let slips = times(&found, "slip");
            assert_eq!(slips.len(), 1);
            close(slips[0], 5.0 / strength, 1e-9);
            let after = 6.0 - 5.0 / strength;
            let way = strength * after.powi(3) / 6.0 + 5.0 * (0.5 - sliding) * after * after;
            close(found.state().q[0], way / strength, 1e-7);
            close(found.state().q[1], c * way / strength, 1e-7);
        }
    }
}

/// Where a force of any direction reaches the cone: a turning pull, a tilting plane, a turntable that spins up, a rolling ball.
#[test]
fn sticking_ends_at_the_cone_in_every_direction() {
    let pull = |w: f64| {
        format!(
            "model \"pull\"\n{PARTICLE_IN_SPACE}gravity (0, 0, -10)\nforce P: t*(cos({w}*t), sin({w}*t), 0)\n\
             contact floor: z >= 0 with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 6\n"
        )
    };
    let tilt = format!(
        "model \"tilt\"\n{PARTICLE_IN_SPACE}gravity 10*(sin(t/10)*0.6, sin(t/10)*0.8, -cos(t/10))\n\
         contact floor: z >= 0 with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 8\n"
    );
    let turntable = format!(
        "model \"turntable\"\n{PARTICLE_IN_SPACE}gravity (0, 0, -10)\n\
         contact floor: z >= 0 with friction 0.5 and slip (x' + t*y, y' - t*x, 0)\nstart x = 1, y = 0, z = 0\nrun 4\n"
    );
    let wall = |gap: &str| {
        format!(
            "model \"wall\"\n{PARTICLE_IN_SPACE}parameter f = 0.6\nforce P: 10*(cos(f), sin(f), 0) + t*(0, 0, 1)\n\
             contact wall: {gap} with friction 0.5\nstart x = cos(f), y = sin(f), z = 0\nrun 8\n"
        )
    };
    let ball = "model \"ball\"\ncoordinates x, y, z, e0, e1, e2, e3\nparameter r = 0.5\n\
                body B at (x, y, z) turned by quaternion e0, e1, e2, e3 with mass 1 and inertia 0.4*r^2*(1, 1, 1)\n\
                gravity (0, 0, -10)\nforce B: 4*t*(1, 0.3, 0)\npoint C = (x, y, z - r)\nlet o = B.omega\n\
                contact floor: z >= r with friction 0.2 and \
                slip (x' - r*dot(o, (0, 1, 0)), y' + r*dot(o, (1, 0, 0)), 0) and at C\n\
                start x = 0, y = 0, z = r, e0 = 1, e1 = 0, e2 = 0, e3 = 0\nrun 3\n";
    for (text, when) in [
        (pull(0.1), 5.0),
        (pull(3.0), 5.0),
        (tilt, 10.0 * 0.5f64.atan()),
        // α r and ω² r = t² together make 5
        (turntable, 24f64.sqrt().sqrt()),
        (wall("x*cos(f) + y*sin(f) <= 1"), 5.0),
        (wall("x^2 + y^2 <= 1"), 5.0),
        // rolling takes two sevenths of the pull
        (ball.to_string(), 7.0 / (4.0 * 1.09f64.sqrt())),
    ] {
        let found = finished(&text, &[]);
        let slips = times(&found, "slip");
        assert!(!slips.is_empty(), "{text}");
        close(slips[0], when, 1e-8);
    }
}

/// Shot up a slope against 10 (sin α + μ cos α) it stops, and slides back with 10 (sin α − μ cos α).
#[test]
fn reversal_on_an_oblique_slope_is_one_slip_event() {
    let text = format!(
        "model \"slope\"\n{PARTICLE_IN_SPACE}parameter k = 0\ngravity 10*(-sin(0.6)*0.6, -sin(0.6)*0.8, -cos(0.6))\n\
         contact floor: z >= 0 with friction 0.3\nstart x = 0, y = 0, z = 0, x' = 1.8, y' = 2.4 + k\nrun 3\n"
    );
    let (up, down) = (10.0 * (0.6f64.sin() + 0.3 * 0.6f64.cos()), 10.0 * (0.6f64.sin() - 0.3 * 0.6f64.cos()));
    for (k, tolerance) in [(0.0, 1e-8), (1e-6, 1e-5), (1e-9, 1e-6)] {
        let found = finished(&text, &[&format!("k={k}")]);
        let (stop, way) = (3.0 / up, 4.5 / up - down / 2.0 * (3.0 - 3.0 / up).powi(2));
        if k == 0.0 {
            assert_eq!(times(&found, "slip").len(), 1);
            close(times(&found, "slip")[0], stop, 1e-9);
        }
        close(found.state().q[0], 0.6 * way, tolerance);
        close(found.state().q[1], 0.8 * way, tolerance);
    }
}

/// On a slope that pulls with w < k = μ g along x, a slip u turns and stops: (k|u| + w u_x)' = w² − k², whatever its way. For a
/// ball the same with 7/2 k, since friction turns it too, and then it rolls.
#[test]
fn a_slip_that_turns_stops_when_it_must() {
    let text = format!(
        "model \"slope\"\n{PARTICLE_IN_SPACE}parameter w = 3, vx = 1, vy = 2\ngravity (w, 0, -10)\n\
         contact floor: z >= 0 with friction 0.5\nstart x = 0, y = 0, z = 0, x' = vx, y' = vy\nrun 4\n"
    );
    let ball = "model \"ball\"\ncoordinates x, y, z, e0, e1, e2, e3\nparameter r = 0.5, w = 3, vx = 1, vy = 2\n\
                body B at (x, y, z) turned by quaternion e0, e1, e2, e3 with mass 1 and inertia 0.4*r^2*(1, 1, 1)\n\
                gravity (w, 0, -10)\npoint C = (x, y, z - r)\nlet o = B.omega\n\
                contact floor: z >= r with friction 0.5 and \
                slip (x' - r*dot(o, (0, 1, 0)), y' + r*dot(o, (1, 0, 0)), 0) and at C\n\
                start x = 0, y = 0, z = r, e0 = 1, e1 = 0, e2 = 0, e3 = 0, x' = vx, y' = vy\nrun 4\n";
    for (text, k) in [(text.as_str(), 5.0), (ball, 17.5)] {
        for (w, vx, vy) in [
            (3.0, 1.0, 2.0),
            (3.0, -1.0, 2.0),
            (1.0, -1.0, 0.5),
            (0.1, 1.0, 2.0),
            (4.0, -3.0, 1e-3),
            (4.0, -3.0, 1e-6),
            (4.0, -3.0, 1e-10),
            // it all but slides on
            (4.99, -1.0, 0.02),
        ] {
            let found = finished(text, &[&format!("w={w}"), &format!("vx={vx}"), &format!("vy={vy}")]);
            let sticks = times(&found, "stick");
            assert_eq!(sticks.len(), 1, "{w} {vx} {vy}: {sticks:?}");
            close(sticks[0], (k * f64::hypot(vx, vy) + w * vx) / (k * k - w * w), 2e-9);
        }
    }
}

/// A box on four feet with friction and a pull 15 t at its top: all feet start to slide at once, at μ m g.
#[test]
fn a_box_on_four_feet_starts_to_slide_along_the_pull() {
    for c in [0.0, 0.37] {
        let mut text = format!(
            "model \"box\"\ncoordinates x, y, z, a, b, c\nparameter m = 2, w = 0.5, h = 0.05, g = 9.81, μ = 0.2\n\
             body B at (x, y, z) turned z by c, y by b, x by a with mass m and inertia m/3*(w^2 + h^2, w^2 + h^2, 2*w^2)\n\
             gravity (0, 0, -g)\npoint top = B.point(0, 0, h)\nforce top: 15*t*(1, {c}, 0)\n"
        );
        for (k, place) in ["w, w", "w, -w", "-w, -w", "-w, w"].iter().enumerate() {
            text += &format!(
                "point L{k} = B.point({place}, -h)\ncontact leg{k}: L{k}.z >= 0 with friction μ and at L{k}\n"
            );
        }
        text += "start x = 0, y = 0, z = h, a = 0, b = 0, c = 0\nrun 1\n";
        let found = finished(&text, &[]);
        let strength = 15.0 * f64::hypot(1.0, c);
        let begin = 0.2 * 2.0 * 9.81 / strength;
        times(&found, "slip").iter().for_each(|t| close(*t, begin, 1e-8));
        assert_eq!(times(&found, "slip").len(), 4);
        let way = strength * (1.0 - begin).powi(3) / 12.0;
        close(found.state().q[0], way * 15.0 / strength, 1e-7);
        close(found.state().q[1], way * 15.0 * c / strength, 1e-7);
    }
}

/// A puck without other forces stops in a straight line after v²/(2 μ g); a force below μ m g then does not move it.
#[test]
fn a_puck_in_space_stops_and_stays() {
    let text = "model \"puck\"\ncoordinates x, y, z\nparameter F = 0\nparticle P at (x, y, z) with mass 1\n\
                gravity (0, 0, -9.81)\nforce x: F\nconstraint table: z = 0 with friction 0.2\n\
                start x = 0, y = 0, z = 0, x' = 3/5, y' = 4/5\nrun 4\noutput force = |reaction(table, P)|\n";
    let way = 1.0 / (2.0 * 0.2 * 9.81);
    let stopped = run_to(text, &[], 4.0);
    all_close(&stopped.state().q, &[0.6 * way, 0.8 * way, 0.0], 1e-9);
    all_close(&times(&stopped, "stick"), &[2.0 * way], 1e-9);
    // |(μ N, N)| while it slides
    close(stopped.outputs()[0].values.unwrap().max, 9.81 * 1.04f64.sqrt(), 1e-9);
    let pulled = run_to(text, &["F=1.5"], 4.0);
    assert_eq!(times(&pulled, "stick").len(), 1);
    assert!(pulled.state().qdot.iter().all(|v| v.abs() < 1e-14), "{:?}", pulled.state().qdot);
    close(pulled.outputs()[0].values.unwrap().last, 9.81f64.hypot(1.5), 1e-9);
    // more than it can hold
    let free = run_to(text, &["F=3"], 4.0);
    assert!(free.state().qdot[0] > 1.0);
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
    assert_eq!(*found.end(), End::Finished);
    let speed = |t: f64| v0 / (1.0 + mu * kappa * v0 * t);
    let v = speed(5.0);
    close(found.state().qdot.iter().map(|v| v * v).sum::<f64>().sqrt(), v, 1e-9);
    // the way is log(1 + μ κ v₀ t)/(μ κ), of which z is the part c/√(R² + c²)
    close(found.state().q[2], (1.0 + mu * kappa * v0 * 5.0).ln() / (mu * kappa) / 5f64.sqrt(), 1e-9);
    close(found.outputs()[0].values.unwrap().last, 0.75 * (v0 * v0 - v * v), 1e-9);
    close(found.outputs()[1].values.unwrap().last, -mu * 1.5 * kappa * v * v * v, 1e-9);
    assert!(found.audit().energy.drift < 1e-9, "{:?}", found.audit().energy);
}

/// On a helix as steep as c/R a bead stays where μ is larger, and slides where it is smaller.
#[test]
fn a_bead_on_a_curve_in_space_sticks_with_enough_friction() {
    let text = "model \"helix\"\ncoordinates x, y, z\nparameter R = 2, c = 1, mu = 0.51\n\
                particle P at (x, y, z) with mass 1.5\ngravity (0, 0, -9.81)\n\
                constraint wire: (x, y) = (R*cos(z/c), R*sin(z/c)) with friction mu\n\
                start x = R, y = 0, z = 0, z' = 0\nrun 1\n";
    let stays = run_to(text, &[], 1.0);
    all_close(&stays.state().q, &[2.0, 0.0, 0.0], 1e-14);
    let slides = run_to(text, &["mu=0.49"], 0.01);
    // at first N = m g cos, and the pull along the wire is m g sin
    let (cos, sin) = (2.0 / 5f64.sqrt(), 1.0 / 5f64.sqrt());
    close(slides.state().qdot[2] / 0.01, -9.81 * (sin - 0.49 * cos) * sin, 1e-5);
}
