//! Friction in space: which way a slip sets out, what several rough feet do, and slips stated as vectors.

mod common;

use common::{close, finished, times, told};
use zwang::simulate::Ended;

const PARTICLE: &str = "coordinates x, y, z\nparticle P at (x, y, z) with mass 1\n";

/// A pull t (1, c) against 5 lets go at 5/√(1 + c²) and moves along itself: with a = √(1 + c²) τ + 10 (0.5 − μ), τ from there on.
#[test]
fn a_slip_sets_out_along_an_oblique_pull() {
    for (c, sliding, slip) in
        [(0.3, 0.5, ""), (-0.7, 0.5, ""), (0.3, 0.3, ""), (2.9, 0.3, ""), (0.3, 0.5, " and slip (x', y')")]
    {
        for floor in ["contact floor: z >= 0", "constraint floor: z = 0"] {
            let height = if floor.starts_with("contact") { ", z = 0" } else { "" };
            let text = format!(
                "model \"pull\"\n{PARTICLE}gravity (0, 0, -10)\nforce P: t*(1, {c}, 0)\n\
                 {floor} with friction 0.5 and sliding {sliding}{slip}\nstart x = 0, y = 0{height}\nrun 6\n"
            );
            let (found, diagnostics) = told(&text, &[]);
            // its direction turns fast only at first: no stiffness
            assert!(!diagnostics.iter().any(|d| d.code == "Z601"), "{diagnostics:#?}");
            let strength = f64::hypot(1.0, c);
            let slips = times(&found, "slip");
            assert_eq!(slips.len(), 1);
            close(slips[0], 5.0 / strength, 1e-9);
            let after = 6.0 - 5.0 / strength;
            let way = strength * after.powi(3) / 6.0 + 5.0 * (0.5 - sliding) * after * after;
            close(found.state.q[0], way / strength, 1e-7);
            close(found.state.q[1], c * way / strength, 1e-7);
        }
    }
}

/// Where a force of any direction reaches the cone: a turning pull, a tilting plane, a turntable that spins up, a rolling ball.
#[test]
fn what_holds_lets_go_at_the_cone_in_every_direction() {
    let pull = |w: f64| {
        format!(
            "model \"pull\"\n{PARTICLE}gravity (0, 0, -10)\nforce P: t*(cos({w}*t), sin({w}*t), 0)\n\
             contact floor: z >= 0 with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 6\n"
        )
    };
    let tilt = format!(
        "model \"tilt\"\n{PARTICLE}gravity 10*(sin(t/10)*0.6, sin(t/10)*0.8, -cos(t/10))\n\
         contact floor: z >= 0 with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 8\n"
    );
    let turntable = format!(
        "model \"turntable\"\n{PARTICLE}gravity (0, 0, -10)\n\
         contact floor: z >= 0 with friction 0.5 and slip (x' + t*y, y' - t*x, 0)\nstart x = 1, y = 0, z = 0\nrun 4\n"
    );
    let wall = |gap: &str| {
        format!(
            "model \"wall\"\n{PARTICLE}parameter f = 0.6\nforce P: 10*(cos(f), sin(f), 0) + t*(0, 0, 1)\n\
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
fn turning_back_on_an_oblique_slope_is_told() {
    let text = format!(
        "model \"slope\"\n{PARTICLE}parameter k = 0\ngravity 10*(-sin(0.6)*0.6, -sin(0.6)*0.8, -cos(0.6))\n\
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
        close(found.state.q[0], 0.6 * way, tolerance);
        close(found.state.q[1], 0.8 * way, tolerance);
    }
}

/// On a slope that pulls with w < k = μ g along x, a slip u turns and stops: (k|u| + w u_x)' = w² − k², whatever its way. For a ball
/// the same with 7/2 k, since friction turns it too, and then it rolls.
#[test]
fn a_slip_that_turns_stops_when_it_must() {
    let text = format!(
        "model \"slope\"\n{PARTICLE}parameter w = 3, vx = 1, vy = 2\ngravity (w, 0, -10)\n\
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

/// A box on four rough feet with a pull 15 t at its top: it sets out at once with all feet, at μ m g.
#[test]
fn a_box_on_four_feet_sets_out_along_the_pull() {
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
        close(found.state.q[0], way * 15.0 / strength, 1e-7);
        close(found.state.q[1], way * 15.0 * c / strength, 1e-7);
    }
}

/// A box that falls askew strikes with one rough foot after the other; Coulomb's law always has an outcome there, and none makes
/// energy.
#[test]
fn oblique_impacts_of_one_rough_foot_have_an_outcome() {
    let mut text = "model \"box\"\ncoordinates x, y, z, a, b, c\nparameter m = 2, w = 0.5, h = 0.4, g = 9.81\n\
                    body B at (x, y, z) turned z by c, y by b, x by a with mass m and inertia m/3*(w^2 + h^2, w^2 + h^2, 2*w^2)\n\
                    gravity (0, 0, -g)\n"
        .to_string();
    for (k, place) in ["w, w", "w, -w", "-w, -w", "-w, w"].iter().enumerate() {
        text += &format!(
            "point L{k} = B.point({place}, -h)\n\
             contact leg{k}: L{k}.z >= 0 with friction 0.9 and restitution 0.3 and at L{k}\n"
        );
    }
    text += "start x = 0, y = 0, z = h + 0.3, a = 0.2, b = 0.1, c = 0.3, x' = 0.5\nrun 0.5\n";
    let found = finished(&text, &[]);
    assert!(times(&found, "impact").len() >= 3);
    let energy = &found.audit.energy;
    assert!(energy.impacts < 0.0 && energy.impacts > -2.0 * 9.81 * 0.5, "{energy:?}");
}

/// A belt stated as P' − (u, 0): the part that opens the gap is no slip. The load t reaches 5 at t = 5.
#[test]
fn a_slip_with_a_normal_part_is_the_tangential_one() {
    for slip in ["P' - (u, 0)", "x' - u"] {
        let text = format!(
            "model \"belt\"\ncoordinates x, y\nparameter u = 0\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
             force x: t\ncontact floor: y >= 0 with friction 0.5 and slip {slip}\nstart x = 0, y = 0\nrun 8\noutput n = lambda(floor)\n"
        );
        for u in [0.0, 1.0] {
            let found = finished(&text, &[&format!("u={u}")]);
            let slips = times(&found, "slip");
            close(*slips.last().unwrap(), 5.0, 1e-9);
            let n = found.outputs[0].values.unwrap();
            close(n.min, 10.0, 1e-9);
            close(n.max, 10.0, 1e-9);
        }
    }
    // on a plane through the z axis, in space
    let text = format!(
        "model \"wall\"\n{PARTICLE}force P: 10*(cos(0.6), sin(0.6), 0) + t*(0, 0, 1)\n\
         contact wall: x*cos(0.6) + y*sin(0.6) <= 1 with friction 0.5 and slip P'\n\
         start x = cos(0.6), y = sin(0.6), z = 0\nrun 8\n"
    );
    close(times(&finished(&text, &[]), "slip")[0], 5.0, 1e-9);
}

/// One particle on one floor: three rows say how it slides, and none of its forces is shared.
#[test]
fn one_particle_shares_no_force() {
    for floor in ["contact floor: z >= 0", "contact floor: z + 0.3*x >= 0"] {
        let text = format!(
            "model \"rest\"\n{PARTICLE}gravity (0, 0, -10)\n{floor} with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 1\n"
        );
        let (found, diagnostics) = told(&text, &[]);
        assert_eq!(found.ended, Ended::Finished);
        assert!(!diagnostics.iter().any(|d| d.code == "Z614"), "{diagnostics:#?}");
    }
}

/// A puck of mass 5 slides over a box and pushes it with 20; its feet hold 24 together, and each presses as long as the puck is
/// within 0.44. It stops at 0.3 + 1/8, and the box has not moved.
#[test]
fn feet_share_forces_while_another_contact_slides() {
    let text = "model \"puck\"\ncoordinates x, y, a, u, v\nparameter w = 0.5, h = 0.2, g = 10, mu = 0.4, mp = 5\n\
                body B at (x, y) turned by a with mass 1 and inertia (w^2 + h^2)/3\nparticle P at (u, v) with mass mp\n\
                gravity (0, -g)\npoint L = B.point(-w, -h)\npoint R = B.point(w, -h)\n\
                contact left: L.y >= 0 with friction mu and at L\ncontact right: R.y >= 0 with friction mu and at R\n\
                contact top: dot(P - B, B.vector(0, 1)) >= h with friction mu and \
                slip u' - x' + a'*dot(P - B, B.vector(0, 1)) and at P\n\
                start x = 0, y = h, a = 0, u = 0.3, v = 2*h, u' = 1\nrun 1\n";
    let found = finished(text, &[]);
    assert!(times(&found, "slip").is_empty());
    close(times(&found, "stick")[0], 0.25, 1e-9);
    close(found.state.q[0], 0.0, 1e-12);
    close(found.state.q[3], 0.425, 1e-9);
}

/// A rough floor in the way of a constraint is excluded by it, as a smooth one is.
#[test]
fn a_rough_contact_against_a_constraint_is_excluded() {
    for friction in ["", " with friction 0.3"] {
        let text = format!(
            "model \"press\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
             constraint c: y = -0.1*t\ncontact floor: y >= -0.05{friction}\nstart x = 0, y = 0, x' = 1\nrun 3\n"
        );
        let (_, diagnostics) = told(&text, &[]);
        assert!(diagnostics.iter().any(|d| d.code == "Z301"), "{diagnostics:#?}");
    }
}

/// A block that comes back to where x is zero but for rounding, and breaks away there, goes on.
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
