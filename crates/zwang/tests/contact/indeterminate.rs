//! Forces that are not unique: redundant contacts, feet that share a load, friction in blocked directions.

use super::{PARTICLE_IN_SPACE, codes, last};
use crate::common::{
    all_close, attempt_to, close, finished, inspected, run_and_notes, run_and_notes_at, run_to, times,
};
use zwang::Overrides;
use zwang::simulate::End;

/// A box on four legs: one more contact than freedoms, and the weight is shared.
#[test]
fn four_legs_stand_although_three_would_do() {
    let text = "model \"box\"\ncoordinates z, a, b\nmass z: 4\nmass a, b: 0.5\nforce z: -4*9.81\n\
                contact leg1: z + a + b >= 0\ncontact leg2: z + a - b >= 0\n\
                contact leg3: z - a + b >= 0\ncontact leg4: z - a - b >= 0\n\
                start z = 0, a = 0, b = 0\nrun 2\n\
                output p = lambda(leg1) + lambda(leg2) + lambda(leg3) + lambda(leg4)\noutput least = lambda(leg4)\n";
    let run = run_to(text, &[], 2.0);
    assert_eq!(*run.end(), End::Finished);
    all_close(&run.state().q, &[0.0, 0.0, 0.0], 1e-12);
    close(run.outputs()[0].values.unwrap().last, 4.0 * 9.81, 1e-10);
    close(run.outputs()[1].values.unwrap().last, 9.81, 1e-10);
}

/// A box on four legs in space, with friction; F pulls at its top.
fn four_legs(start: &str, run: &str) -> String {
    format!(
        "model \"four legs\"\ncoordinates x, y, z, a, b, c\nparameter m = 2, g = 9.81, mu = 0.3, F = 0, w = 0.5, h = 0.4, e = 0\n\
         body B at (x, y, z) turned z by c, y by b, x by a with mass m and inertia m*(0.2, 0.2, 0.3)\ngravity (0, 0, -g)\n\
         point top = B.point(0, 0, h)\nforce top: (F, 0, 0)\n\
         point L1 = B.point(w, w, -h)\npoint L2 = B.point(w, -w, -h)\npoint L3 = B.point(-w, -w, -h)\npoint L4 = B.point(-w, w, -h)\n\
         contact l1: L1.z >= 0 with friction mu and restitution e and at L1\n\
         contact l2: L2.z >= 0 with friction mu and restitution e and at L2\n\
         contact l3: L3.z >= 0 with friction mu and restitution e and at L3\n\
         contact l4: L4.z >= 0 with friction mu and restitution e and at L4\n\
         start {start}\nrun {run}\n\
         output N = lambda(l1) + lambda(l2) + lambda(l3) + lambda(l4)\noutput one = lambda(l1)\n"
    )
}

const STANDING: &str = "x = 0, y = 0, z = h, a = 0, b = 0, c = 0, x' = 0, y' = 0, z' = 0, a' = 0, b' = 0, c' = 0";

/// It stands, and the single forces are reported as indeterminate.
#[test]
fn a_box_on_four_legs_rests() {
    let (run, diagnostics) = run_and_notes(&four_legs(STANDING, "1"), &[]);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    assert!(
        run.state().q.iter().zip([0.0, 0.0, 0.4, 0.0, 0.0, 0.0]).all(|(x, y)| (x - y).abs() < 1e-12),
        "{:?}",
        run.state()
    );
    close(last(&run, "N"), 2.0 * 9.81, 1e-10);
    let reported = diagnostics.iter().find(|d| d.code == "Z614").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(["`l1`", "`l2`", "`l3`", "`l4`"].iter().all(|l| reported.message.contains(l)), "{}", reported.message);
    // the sum is determined, one of them is not
    assert!(!run.check().determinacy.is_choice("N") && run.check().determinacy.is_choice("one"));
    // nothing slides, so no friction depends on the shares
    assert!(!diagnostics.iter().any(|d| d.code == "Z611"), "{diagnostics:#?}");
}

/// It slides to a stop after v²/(2 μ g), however the legs share the weight.
#[test]
fn a_box_on_four_legs_slides_to_a_stop() {
    let (run, diagnostics) = run_and_notes(&four_legs(&STANDING.replace("x' = 0", "x' = 1.5"), "1"), &[]);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    close(run.state().q[0], 1.5 * 1.5 / (2.0 * 0.3 * 9.81), 1e-8);
    close(last(&run, "N"), 2.0 * 9.81, 1e-9);
    let stick = run.events().iter().find(|e| e.kind.as_str() == "stick").unwrap();
    close(stick.t, 1.5 / (0.3 * 9.81), 1e-8);
    close(run.audit().energy.work, -0.5 * 2.0 * 2.25, 1e-8);
}

/// A pull F at the top (2h above the floor) tips it where 2 h F > w m g; friction above F/(m g) holds the legs.
#[test]
fn a_box_on_four_legs_tips_and_lands() {
    let tips = 0.5 * 2.0 * 9.81 / 0.8;
    let stands = four_legs(STANDING, "0.5").replace("mu = 0.3, F = 0", &format!("mu = 0.9, F = {}", 0.99 * tips));
    let (run1, diagnostics) = run_and_notes(&stands, &[]);
    assert_eq!(*run1.end(), End::Finished, "{diagnostics:#?}");
    close(run1.state().q[4], 0.0, 1e-12);
    close(last(&run1, "N"), 2.0 * 9.81, 1e-9);
    // more, and the hind legs leave at once; released after 0.2 s it falls back and stands
    let text = four_legs(STANDING, "2").replace("mu = 0.3, F = 0", &format!("mu = 0.9, F = {}", 1.2 * tips));
    let (run2, diagnostics) = run_and_notes(&format!("{text}when t >= 0.2: F = 0\n"), &[]);
    assert_eq!(*run2.end(), End::Finished, "{diagnostics:#?}");
    let lifted: Vec<&str> =
        run2.events().iter().filter(|e| e.kind.as_str() == "take-off" && e.t == 0.0).map(|e| &*e.name).collect();
    assert_eq!(lifted, ["l3", "l4"], "{:?}", run2.events());
    for leg in ["l3", "l4"] {
        assert!(
            run2.events().iter().any(|e| e.kind.as_str() == "impact" && e.name == leg),
            "{leg}: {:?}",
            run2.events()
        );
    }
    close(run2.state().q[2], 0.4, 1e-10);
    close(run2.state().q[4], 0.0, 1e-10);
    close(last(&run2, "N"), 2.0 * 9.81, 1e-8);
}

/// An arch of two rods that lies flat but for a millionth carries nothing, although its feet share forces with others: its top
/// falls freely, for √(2h/g), but for the friction of the feet, which acts on it by the slope of the rods.
#[test]
fn a_flat_arch_does_not_stand() {
    let h: f64 = 1e-6;
    let foot = 1.8 - (0.81 - h * h).sqrt();
    let text = format!(
        "model \"arch\"\ncoordinates x0, y0, x1, y1, x2, y2, x3, y3, x4, y4\n\
         particle P0 at (x0, y0) with mass 0.3\nparticle P1 at (x1, y1) with mass 1.4\n\
         particle P2 at (x2, y2) with mass 0.7\nparticle P3 at (x3, y3) with mass 1.5\n\
         particle P4 at (x4, y4) with mass 1\ngravity (0, -9.81)\n\
         constraint r0: (x1-x0)^2 + (y1-y0)^2 = 0.9^2\nconstraint r1: (x2-x1)^2 + (y2-y1)^2 = 0.9^2\n\
         constraint r2: (x3-x2)^2 + (y3-y2)^2 = 0.9^2\nconstraint r3: (x4-x3)^2 + (y4-y3)^2 = 0.9^2\n\
         contact k0: y0 >= 0 with friction 0.6\ncontact k1: y1 >= 0 with friction 0.6\n\
         contact k2: y2 >= 0 with friction 0.6\ncontact k3: y3 >= 0 with friction 0.8\n\
         contact k4: y4 >= 0 with friction 1\n\
         start x0 = 0, y0 = 0, x1 = 0.9, y1 = 0, x2 = {top}, y2 = {h}, x3 = {x3}, y3 = 0, x4 = {x4}, y4 = 0\nrun 0.001\n",
        top = 1.8 - (foot - 0.9),
        x3 = 2.7 - 2.0 * (foot - 0.9),
        x4 = 3.6 - 2.0 * (foot - 0.9),
    );
    let (run, diagnostics) = run_and_notes_at(&text, 1e-9);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    let impacts = times(&run, "impact");
    close(impacts[0], (2.0 * h / 9.81).sqrt(), 1e-7);
}

/// One particle on one floor: three rows say how it slides, and none of its forces is indeterminate.
#[test]
fn one_particle_has_no_indeterminate_force() {
    for floor in ["contact floor: z >= 0", "contact floor: z + 0.3*x >= 0"] {
        let text = format!(
            "model \"rest\"\n{PARTICLE_IN_SPACE}gravity (0, 0, -10)\n{floor} with friction 0.5\nstart x = 0, y = 0, z = 0\nrun 1\n"
        );
        let (found, diagnostics) = run_and_notes(&text, &[]);
        assert_eq!(*found.end(), End::Finished);
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
    close(found.state().q[0], 0.0, 1e-12);
    close(found.state().q[3], 0.425, 1e-9);
}

/// A box that sticks with two feet: how they share the force along the floor is not determined, and reported; the forces shown
/// lie in the cones, in the run and in the inspection alike.
#[test]
fn shares_of_sticking_feet_are_reported_and_agree() {
    let text = "model \"box\"\ncoordinates x, y, θ\nparameter m = 1, a = 0.5, b = 1, g = 10, F = 4\n\
                body B at (x, y) turned by θ with mass m and inertia m*(a^2 + b^2)/3\ngravity (0, -g)\n\
                point L = B.point(-a, -b)\npoint R = B.point(a, -b)\nforce x: F\n\
                contact l: L.y >= 0 with friction 0.45 and at L\ncontact r: R.y >= 0 with friction 0.45 and at R\n\
                start x = 0, y = b, θ = 0\nrun 1\noutput fl = reaction(l, L).x\noutput fr = reaction(r, R).x\n\
                output nl = reaction(l, L).y\noutput nr = reaction(r, R).y\n";
    let (found, diagnostics) = run_and_notes(text, &[]);
    assert!(codes(&diagnostics).contains(&"Z614"), "{diagnostics:#?}");
    let last: Vec<f64> = found.outputs().iter().map(|o| o.values.unwrap().last).collect();
    // the moment of F about the feet: 4·1 = 10·0.5·… leaves 1 on the left and 9 on the right
    close(last[0] + last[1], -4.0, 1e-9);
    close(last[2], 1.0, 1e-9);
    close(last[3], 9.0, 1e-9);
    let in_cones = |f: &[f64]| f[0].abs() <= 0.45 * f[2] + 1e-9 && f[1].abs() <= 0.45 * f[3] + 1e-9;
    assert!(in_cones(&last), "{last:?}");
    let inspection = inspected(text, &Overrides::default());
    let shown: Vec<f64> = inspection.outputs.iter().map(|(_, value)| value.unwrap()).collect();
    shown.iter().zip(&last).for_each(|(x, y)| close(*x, *y, 1e-9));
}

/// Two redundant contacts with friction share the weight, and with it the friction: reported (Z611, Z614), and no paradox (Z610).
/// By whatever shares, friction takes between 0.2 and 0.4, or nothing and 0.3, of the weight m g = 10, and v = 3 ends after v²/(2
/// μ g); the smallest forces are equal ones, 0.3 and 0.15.
#[test]
fn redundant_contacts_with_friction_are_no_paradox() {
    let same = "contact f: y >= 0 with friction 0.2\ncontact c: y >= 0 with friction 0.4\n";
    let beside = "constraint a: y = 0\ncontact floor: y >= 0 with friction 0.3\n";
    let way = |v: f64, mu: f64| v * v / (20.0 * mu);
    // nothing stops it within the three seconds of the run
    let on = (way(3.0, 0.3), 3.0 * 3.0);
    // falls for √0.2 s, takes an impulse of √20, of which friction takes a part as well, and slides on
    let (fall, impulse) = (0.2f64.sqrt(), 20f64.sqrt());
    let lands = |mu: f64| 3.0 * fall + way(3.0 - mu * impulse, mu);
    for (stated, y, (least, most), equal) in [
        (same, "y = 0, ", (way(3.0, 0.4), way(3.0, 0.2)), Some(way(3.0, 0.3))),
        (beside, "", on, Some(way(3.0, 0.15))),
        (same, "y = 1, ", (lands(0.4), lands(0.2)), None),
    ] {
        let text = format!(
            "model \"twice\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n{stated}\
             start {y}x = 0, x' = 3\nrun 3\n"
        );
        let (found, diagnostics) = run_and_notes(&text, &[]);
        assert_eq!(found.end().as_str(), "finished", "{diagnostics:#?}");
        assert!(codes(&diagnostics).contains(&"Z611") && !codes(&diagnostics).contains(&"Z610"), "{diagnostics:#?}");
        assert!(codes(&diagnostics).contains(&"Z614"), "{diagnostics:#?}");
        let x = found.state().q[0];
        assert!((least - 1e-8..=most + 1e-8).contains(&x), "{x} is not between {least} and {most}");
        equal.into_iter().for_each(|equal| close(x, equal, 1e-8));
    }
}

/// Four legs without friction share a force, and nothing depends on the shares: no warning, only the note on the forces.
#[test]
fn without_friction_no_motion_depends_on_indeterminate_forces() {
    let legs = |mu: f64| {
        let leg = |k: i32, u: f64, w: f64| {
            format!(
                "point C{k} = (x, y, z + ({u})*a + ({w})*b)\n\
                 contact l{k}: C{k}.z >= 0 with friction {mu} and slip (x', y', 0) and at C{k}\n"
            )
        };
        let legs: String =
            [(1, 0.3, 0.2), (2, -0.3, 0.2), (3, 0.3, -0.2), (4, -0.3, -0.2)].map(|(k, u, w)| leg(k, u, w)).concat();
        format!(
            "model \"legs\"\ncoordinates x, y, z, a, b\nmass x, y, z: 1\nmass a, b: 0.1\nforce z: -10\n{legs}\
             start x = 0, y = 0, z = 0, a = 0, b = 0, x' = 1, y' = 0, z' = 0, a' = 0, b' = 0\nrun 0.1\n"
        )
    };
    for (mu, depends) in [(0.0, false), (0.3, true)] {
        let (_, diagnostics) = run_and_notes(&legs(mu), &[]);
        let codes = codes(&diagnostics);
        assert!(codes.contains(&"Z614") && codes.contains(&"Z611") == depends, "{mu}: {diagnostics:#?}");
    }
}

/// A foot that sticks on the floor next to a hinge on a wall and on the floor: one force along the floor is not determined, and the
/// sentence is about one.
#[test]
fn a_single_indeterminate_force_is_reported_as_one() {
    let text = "model \"half a step ladder\"\ncoordinates x, y, a\n\
                body L at (x, y) + 0.25*(cos(a), sin(a)) turned by a with mass 1 and inertia 1/48\ngravity (0, -9.81)\n\
                point A = (x, y)\npoint H = A + 0.5*(cos(a), sin(a))\nconstraint mirror: H.x = 0\n\
                contact left: A.y >= 0 with friction 0.2 and at A\ncontact hinge: H.y >= 0\n\
                start x ~ -0.3, y = 0, a = 0.8, x' = 0, y' = 0, a' = 0\nrun 2\n";
    let (_, diagnostics) = run_and_notes(text, &[]);
    let note = diagnostics.iter().find(|d| d.code == "Z614").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert_eq!(note.message, "the force of `left` is not determined");
}

/// A particle of mass 1 on a floor, pushed into a wall and pulled along both.
fn corner(of_floor: f64, of_wall: f64, push: f64, pull: &str) -> String {
    format!(
        "model \"corner\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -10)\n\
         force P: ({pull}, -{push}, 0)\ncontact floor: z >= 0 with friction {of_floor}\n\
         contact wall: y >= 0 with friction {of_wall}\nstart x = 0, y = 0, z = 0\nrun 2\n\
         output floor = lambda(floor)\noutput wall = lambda(wall)\n"
    )
}

/// It holds while the pull is at most μ₁ m g + μ₂ N, whatever the friction of the floor could hold across, and slides beyond.
#[test]
fn the_load_that_a_corner_holds_is_the_sum_of_both_places() {
    for (of_floor, of_wall, push) in
        [(0.3, 0.2, 6.0), (0.8, 0.5, 6.0), (2.0, 0.2, 6.0), (0.1, 0.9, 30.0), (0.0, 0.4, 5.0)]
    {
        let most = 10.0 * of_floor + of_wall * push;
        for part in [0.5, 0.99, 1.01, 1.3] {
            let (run, diagnostics) = run_and_notes(&corner(of_floor, of_wall, push, &format!("{}", part * most)), &[]);
            assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
            close(run.state().q[0], 2.0 * f64::max(part - 1.0, 0.0) * most, 1e-9);
            close(run.state().q[1].abs() + run.state().q[2].abs(), 0.0, 1e-12);
            close(last(&run, "floor"), 10.0, 1e-9);
            close(last(&run, "wall"), push, 1e-9);
            let is_shared = diagnostics.iter().any(|d| d.code == "Z614");
            assert_eq!(is_shared, part < 1.0, "{diagnostics:#?}");
        }
    }
}

/// A pull 3 t along the corner reaches 4.2 at t = 1.4, and one off the wall is the floor's alone.
#[test]
fn a_corner_slips_where_both_places_do() {
    let run = finished(&corner(0.3, 0.2, 6.0, "3*t"), &[]);
    // shared forces are resolved to some 1e-10 of the weight
    times(&run, "slip").iter().for_each(|t| close(*t, 1.4, 1e-8));
    assert_eq!(times(&run, "slip").len(), 2);
    close(run.state().q[0], 0.5 * 0.6_f64.powi(3), 1e-8);
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
    close(finished(&text(0.99 * most), &[]).state().q[0], 0.0, 1e-12);
    close(finished(&text(1.2 * most), &[]).state().q[0], 2.0 * 0.2 * most, 1e-9);
}

/// A rod that falls next to a wall: its lower end sticks, and could take the force of 6 as well, but the wall does. Its upper end
/// rubs with 0.2 · 6 along its arc: m l²/6 ω² = m g l/2 (cos θ₀ − cos θ) − 1.2 l (θ − θ₀).
#[test]
fn a_wall_carries_the_force_that_sticking_could() {
    let text = "model \"rod\"\ncoordinates x, y, z, th\npoint L = (x, y, z)\npoint S = (x + sin(th), y, z + cos(th))\n\
                body R at (x + sin(th)/2, y, z + cos(th)/2) turned y by th with mass 1 and inertia (1, 1, 0)/12\n\
                gravity (0, 0, -10)\nforce S: (0, -6, 0)\ncontact lower: z >= 0 with friction 0.8 and at L\n\
                contact side: y >= 0 with friction 0.2 and at S\nstart x = 0, y = 0, z = 0, th = 0.3\nrun 0.5\n\
                output side = lambda(side)\n";
    let (run, diagnostics) = run_and_notes(text, &[]);
    assert_eq!(*run.end(), End::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z611"), "{diagnostics:#?}");
    let (th, w) = (run.state().q[3], run.state().qdot[3]);
    close(w * w / 6.0, 5.0 * (0.3_f64.cos() - th.cos()) - 1.2 * (th - 0.3), 1e-9);
    assert!(th > 0.4 && run.audit().energy.drift < 1e-9);
    close(last(&run, "side"), 6.0, 1e-9);
}

/// A block in the corner of floor and wall with friction, pulled to and fro along it: at each turn it holds until the pull is
/// μ m g + μ N again. A block at rest may be in the sliding state; its friction then acts along the corner,
/// and not against floor or wall.
#[test]
fn a_corner_holds_the_same_at_every_turn() {
    let text = "model \"to and fro\"\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\ngravity (0, 0, -9.81)\n\
                force P: (1.3*17.81*sin(2*t), -8, 0)\ncontact floor: z >= 0 with friction 1\n\
                contact wall: y >= 0 with friction 1\nstart x = 0, y = 0, z = 0\nrun 4\n";
    let run = finished(text, &[]);
    let first = (1.0f64 / 1.3).asin() / 2.0;
    let slips: Vec<f64> =
        run.events().iter().filter(|e| e.kind.as_str() == "slip" && e.name == "wall").map(|e| e.t).collect();
    assert!(slips.len() >= 2, "{:?}", run.events());
    for (k, t) in slips.iter().enumerate() {
        close(*t, first + k as f64 * std::f64::consts::FRAC_PI_2, 1e-8);
    }
}

/// Two redundant rails share a force that friction needs: reported, and the motion is that of equal shares.
#[test]
fn friction_of_an_indeterminate_normal_force_is_reported() {
    let text = "model \"rails\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint one: y = 0 with friction 0.4\nconstraint two: y = 0\n\
                start x = 0, y = 0, x' = 1, y' = 0\nrun 0.1\n";
    let (shared, diagnostics) = attempt_to(text, &[], 0.1);
    assert!(diagnostics.iter().any(|d| d.code == "Z611" && d.message.contains("`one`")), "{diagnostics:#?}");
    close(shared.unwrap().state().qdot[0], 1.0 - 0.4 * 5.0 * 0.1, 1e-9);
    let (_, alone) = attempt_to(&text.replace("constraint two: y = 0\n", ""), &[], 0.1);
    assert!(!alone.iter().any(|d| d.code == "Z611"), "{alone:#?}");
}
