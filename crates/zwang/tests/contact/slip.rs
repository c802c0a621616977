//! The sliding point and its slip velocity: edges, cylinders, planks that move, slips stated as vectors.

use super::{PARTICLE_IN_SPACE, PARTICLE_IN_THE_PLANE};
use crate::common::{attempt, close, finished, times};

/// A brake pad that its coordinate moves off the disc only: J θ'' = T − μ r F, and it holds while T < 0.4 r F.
#[test]
fn a_guided_pad_brakes_by_its_stated_slip() {
    let text = |slip: &str| {
        format!(
            "model \"brake\"\ncoordinates θ, s\nparameter T = 1\nmass θ: 0.5\nmass s: 0.1\nforce s: -20\n\
             force θ: T\npoint pad = (s, 0)\ncontact brk: s >= 0 with friction 0.4 and sliding 0.3{slip} and at pad\n\
             when t >= 2: T = 2.5\nstart θ = 0, s = 0, θ' = 3, s' = 0\nrun 4\n"
        )
    };
    let found = finished(&text(" and slip 0.3*θ'"), &[]);
    close(times(&found, "stick")[0], 3.0 / 1.6, 1e-9);
    close(times(&found, "slip")[0], 2.0, 1e-9);
    close(found.state().q[0], 4.5 / 1.6 + 0.5 * (2.5 - 1.8) / 0.5 * 4.0, 1e-9);
    // without the slip its velocity is unknown
    let (none, diagnostics) = attempt(&text(""), &[]);
    assert!(none.is_none() && diagnostics.iter().any(|d| d.code == "Z319"), "{diagnostics:#?}");
}

/// A wheel of radius 0.5 rolls with v over a step of height 0.1; a is its inertia by m r². Friction holds it at the edge.
fn step(v: f64, a: f64, at: &str) -> String {
    format!(
        "model \"step\"\ncoordinates x, y, th\nparameter r = 0.5, h = 0.1\npoint E = (0, h)\n\
         body W at (x, y) turned by th with mass 1 and inertia {a}*r^2\ngravity (0, -10)\n\
         contact floor: y >= r with friction 2 and slip x' + r*th' and at (x, y - r)\n\
         contact step: |W - E| >= r with friction 5 and slip ((y - h)*x' - x*y')/r + r*th' and at {at}\n\
         start x = -0.5, y = r, th = 0, x' = {v}, th' = -{v}/r\nrun 0.3\n"
    )
}

/// About the edge (a + 1) m r² ω = a m r v + m v (r − h), and from there on (a + 1) m r² ω²/2 + m g y stays; it does not matter
/// which place is named: the centre, the edge, or the place of the wheel that is next to it.
#[test]
fn a_wheel_rolls_over_an_edge() {
    for (v, a) in [(1.8, 0.5), (1.7, 1.0)] {
        for at in ["W", "E", "(W + r*(E - W)/|E - W|)"] {
            let run = finished(&step(v, a, at), &[]);
            let w = v * (a * 0.5 + 0.4) / ((a + 1.0) * 0.25);
            let (q, p) = (&run.state().q, &run.state().qdot);
            let about_edge = |w: f64| 0.5 * (a + 1.0) * 0.25 * w * w;
            close(q[0].hypot(q[1] - 0.1), 0.5, 1e-9);
            close(about_edge(p[2]) + 10.0 * q[1], about_edge(w) + 5.0, 1e-8);
            close(p[0].hypot(p[1]), -0.5 * p[2], 1e-9);
        }
    }
}

/// A cylinder of radius 0.2 rolls down from one of radius 1 that stands still: 3/4 m v² = m g 1.2 (cos φ₀ − cos φ).
#[test]
fn a_cylinder_rolls_down_a_cylinder() {
    for at in ["W", "(W/|W|)"] {
        let text = format!(
            "model \"cylinders\"\ncoordinates x, y, th\nbody W at (x, y) turned by th with mass 1 and inertia 0.02\n\
             gravity (0, -10)\ncontact top: |W| >= 1.2 with friction 0.9 and slip (y*x' - x*y')/|W| + 0.2*th' and at {at}\n\
             start x = 1.2*sin(0.2), y = 1.2*cos(0.2), th = 0\nrun 0.6\n"
        );
        let run = finished(&text, &[]);
        let (q, p) = (&run.state().q, &run.state().qdot);
        assert!(run.events().is_empty() && q[0].atan2(q[1]) > 0.3);
        close(0.75 * (p[0] * p[0] + p[1] * p[1]), 10.0 * (1.2 * 0.2_f64.cos() - q[1]), 1e-8);
        close(0.2 * p[2], -p[0].hypot(p[1]), 1e-9);
    }
}

/// A block on a plank that moves: without a slip statement it is requested; with it both continue with a third of
/// v after 2 v/(3 μ g).
#[test]
fn a_block_on_a_moving_plank_needs_its_slip() {
    let text = |slip: &str| {
        format!(
            "model \"plank\"\ncoordinates x1, y1, x2, y2\nparticle A at (x1, y1) with mass 2\nparticle B at (x2, y2) with mass 1\n\
             gravity (0, -10)\ncontact floor: y1 >= 0\ncontact deck: y2 - y1 >= 0.1 with friction 0.4{slip} and at B\n\
             start x1 = 0, y1 = 0, x2 = 0, y2 = 0.1, x1' = 0, y1' = 0, x2' = 3, y2' = 0\nrun 1\n"
        )
    };
    let (run, diagnostics) = attempt(&text(""), &[]);
    let refused = diagnostics.iter().find(|d| d.code == "Z319");
    assert!(run.is_none() && refused.is_some_and(|d| d.help[0].contains("and slip B' - A'")), "{diagnostics:#?}");
    for slip in [" and slip B' - A'", " and slip x2' - x1'"] {
        let run = finished(&text(slip), &[]);
        close(run.events()[0].t, 0.5, 1e-9);
        close(run.state().qdot[0], 1.0, 1e-9);
        close(run.state().qdot[2], 1.0, 1e-9);
    }
    // a floor that goes up by itself moves along the normal only
    let lift = "model \"lift\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact floor: y >= t with friction 0.4 and at P\nstart x = 0, y = 0, x' = 2, y' = 1\nrun 1\n";
    close(finished(lift, &[]).state().q[0], 0.5, 1e-9);
}

/// A block slides on the bed of a lift that is driven upwards with a = F/(M + m) − g, in coordinates relative to it: N = m (g +
/// a), and friction takes μ N. At the block itself no force does the work of the bed, which acts on the lift as well; that is
/// refused.
#[test]
fn places_in_relative_coordinates_are_relative() {
    let lift = |at: &str| {
        format!(
            "model \"lift\"\ncoordinates Y, x, h\nparticle L at (0, Y) with mass 9\nforce L: (0, 120)\n\
             particle B at (x, Y + h) with mass 1\ngravity (0, -9.81)\n\
             contact bed: h >= 0 with friction 0.3 and at {at}\nstart Y = 0, x = 0, h = 0, x' = 5\nrun 1\n"
        )
    };
    let run = finished(&lift("B - L"), &[]);
    close(run.state().q[1], 5.0 - 0.5 * 0.3 * 12.0, 1e-9);
    let (run, diagnostics) = attempt(&lift("B"), &[]);
    assert!(run.is_none());
    let refused = diagnostics.iter().find(|d| d.code == "Z319").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(refused.message.contains("no force at the sliding point"), "{}", refused.message);
    assert!(refused.help.iter().any(|help| help.contains("at B - A")), "{:?}", refused.help);
}

/// A body at rest on a rising turntable stays at rest while ω²r < μ g: the velocity of the rise is no slip.
#[test]
fn a_slip_stated_as_a_velocity_lies_along_the_surface() {
    let text = "model \"turntable\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -9.81)\n\
                contact table: z >= 0.2*t with friction 0.5 and slip P' - (-2*y, 2*x, 0)\n\
                start x = 1, y = 0, z = 0, x' = 0, y' = 2, z' = 0.2\nrun 3\n";
    let run = finished(text, &[]);
    close(run.state().q[0], 6f64.cos(), 1e-8);
    close(run.state().q[1], 6f64.sin(), 1e-8);
    close(run.state().q[2], 0.6, 1e-9);
}

/// A ball whose centre of mass lies off its middle rolls the same, turned by a quaternion or by angles.
#[test]
fn a_slip_of_a_body_with_a_quaternion_is_that_of_one_with_angles() {
    let ball = |turned: &str, start: &str| {
        format!(
            "model \"loaded ball\"\ncoordinates x, y, z, {}\n\
             body B at (x, y, z) turned {turned} with mass 1 and inertia (0.004, 0.004, 0.003)\ngravity (0, 0, -9.81)\n\
             let k = 0.03*B.vector(0, 0, 1) - 0.1*(0, 0, 1)\n\
             contact floor: z + k.z >= 0 with friction 0.8 and at B + k and slip B' + cross(B.omega, k)\n\
             start x = 0, y = 0, z = 0.1 - 0.03*cos(1), x' = 0.5, y' = 0.2, {start}\nrun 0.5\n",
            if turned.contains("quaternion") { "p, q, r, s" } else { "a, b, c" }
        )
    };
    let angles = finished(&ball("z by a, y by b, z by c", "a = 0, b = 1, c = 0, a' = 0, b' = 2, c' = 3"), &[]);
    // half the product of the quaternion and the angular velocity (0, 2, 3) of the body
    let quaternion = "p = cos(0.5), q = 0, r = sin(0.5), s = 0, \
                      p' = -sin(0.5), q' = 1.5*sin(0.5), r' = cos(0.5), s' = 1.5*cos(0.5)";
    let quaternion = finished(&ball("by quaternion p, q, r, s", quaternion), &[]);
    for i in 0..3 {
        close(quaternion.state().q[i], angles.state().q[i], 1e-8);
    }
    assert!(angles.state().q[0].abs() > 0.01);
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
            let n = found.outputs()[0].values.unwrap();
            close(n.min, 10.0, 1e-9);
            close(n.max, 10.0, 1e-9);
        }
    }
    // on a plane through the z axis, in space
    let text = format!(
        "model \"wall\"\n{PARTICLE_IN_SPACE}force P: 10*(cos(0.6), sin(0.6), 0) + t*(0, 0, 1)\n\
         contact wall: x*cos(0.6) + y*sin(0.6) <= 1 with friction 0.5 and slip P'\n\
         start x = cos(0.6), y = sin(0.6), z = 0\nrun 8\n"
    );
    close(times(&finished(&text, &[]), "slip")[0], 5.0, 1e-9);
}

/// A slip that is no velocity is refused, and for two moving bodies the slip between them is requested.
#[test]
fn a_slip_is_a_velocity() {
    let refused = |text: &str| {
        let diagnostics = crate::common::messages(&zwang::load(text).err().unwrap());
        let found = diagnostics.iter().find(|d| d.code == "Z319").cloned();
        found.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"))
    };
    let with = |slip: &str| {
        format!(
            "{PARTICLE_IN_THE_PLANE}contact a: y >= 0 with friction 0.3 and slip {slip}\nstart x = 0, y = 0\nrun 1\n"
        )
    };
    assert!(refused(&with("x'^2")).message.contains("not linear"));
    assert!(refused(&with("0*x' + 1")).message.contains("no velocity"));
    assert!(zwang::load(&with("x' - 1")).is_ok());
    assert!(zwang::load(&with("cos(x)*x' + t*y'")).is_ok());
    let plank = "model \"plank\"\ncoordinates x[1..2], y[1..2]\nparticle P[i in 1..2] at (x[i], y[i]) with mass 1\n\
                 gravity (0, -10)\ncontact deck: y[2] - y[1] >= 0.1 with friction 0.4\nrun 1\n";
    assert!(refused(plank).help.iter().any(|help| help.contains("slip")));
}
