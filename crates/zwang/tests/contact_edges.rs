//! Corners of surfaces, feet that are struck together, loads exactly at the edge, and contacts that never come to an end.

mod common;

use common::{attempt, close, finished, times, told};

/// A floor that rises with slope k from x = 1 on; it is reached at t = 0.2 with 5 m/s.
const BENT: &str = "model \"bent\"\ncoordinates x, y\nparameter e = 0, k = 0.5\nparticle P at (x, y) with mass 1\n\
                    gravity (0, -10)\ncontact floor: y >= (if x < 1 then 0*x else k*(x - 1)) with restitution e\n\
                    start x = 0, y = 0, x' = 5\nrun 1\n";

/// What runs into a slope keeps the velocity along it, v·τ, and gives back e times the one across: v − (1 + e)(v·n) n.
#[test]
fn what_runs_into_a_corner_is_struck_there() {
    for (e, k) in [(0.0, 0.5), (0.0, 2.0), (0.5, 0.5), (1.0, 0.5), (1.0, 2.0)] {
        let found = finished(BENT, &[&format!("e={e}"), &format!("k={k}")]);
        assert_eq!(times(&found, "impact")[0], times(&found, "switch")[0]);
        close(times(&found, "impact")[0], 0.2, 1e-9);
        let size = f64::hypot(1.0, k);
        let across = -5.0 * k / size;
        let lost = 0.5 * across * across * (1.0 - e * e);
        // up to the first touch after it, the energy is known
        let early = finished(&BENT.replace("run 1", "run 0.25"), &[&format!("e={e}"), &format!("k={k}")]);
        close(early.audit.energy.impacts, -lost, 1e-9);
        let (vx, vy) = (5.0 + (1.0 + e) * across * k / size, -(1.0 + e) * across / size);
        let g = if e == 0.0 { -10.0 * k / (size * size) } else { 0.0 };
        let fall = if e == 0.0 { -10.0 * k * k / (size * size) } else { -10.0 };
        close(early.state.q[0], 1.0 + vx * 0.05 + 0.5 * g * 0.0025, 1e-9);
        close(early.state.q[1], vy * 0.05 + 0.5 * fall * 0.0025, 1e-9);
    }
}

/// Where the floor falls away it flies: y = −5τ² meets −k·5τ after τ = k.
#[test]
fn what_leaves_a_corner_flies() {
    for k in [0.3, 0.5, 0.7] {
        let found = finished(BENT, &[&format!("k={}", -k)]);
        close(times(&found, "take-off")[0], 0.2, 1e-9);
        close(times(&found, "impact")[0], 0.2 + k, 1e-9);
        assert!(found.audit.residuals.iter().all(|(_, r)| *r < 1e-9), "{:?}", found.audit.residuals);
    }
    // a step down is left as well; a step up stands in the way
    let step = BENT.replace("k*(x - 1)", "k");
    close(times(&finished(&step, &["k=-0.2"]), "impact")[0], 0.2 + 0.2, 1e-9);
    assert!(told(&step, &["k=0.2"]).1.iter().any(|d| d.code == "Z607"));
}

/// A box on two feet, of which one is smooth, lands flat with (v, −1): v is stopped by the rough one, if it can be.
///
/// Both impulses across, N₂ − N₁ = v h/w and N₁ + N₂ = 1, and the whole friction v at the second foot: it holds for v < μ N₂.
#[test]
fn feet_that_are_struck_together_share_the_friction() {
    let text = "model \"feet\"\ncoordinates x, y, a\nparameter w = 0.5, h = 0.2, v = 0.1, l = 0, r = 0.6\n\
                body B at (x, y) turned by a with mass 1 and inertia (w^2 + h^2)/3\n\
                point L = B.point(-w, -h)\npoint R = B.point(w, -h)\n\
                contact left: L.y >= 0 with friction l and at L\ncontact right: R.y >= 0 with friction r and at R\n\
                start x = 0, y = h + 0.1, a = 0, x' = v, y' = -1\nrun 0.5\n";
    for set in [["l=0", "r=0.6", "v=0.1"], ["l=0", "r=0.6", "v=0.3"], ["l=0.2", "r=0.5", "v=0.3"]] {
        let found = finished(text, &set);
        let v: f64 = set[2][2..].parse().unwrap();
        close(found.state.q[0], 0.1 * v, 1e-10);
        close(found.state.qdot[0], 0.0, 1e-12);
        close(found.audit.energy.impacts, -0.5 * (1.0 + v * v), 1e-10);
    }
    // what both feet together cannot hold goes on: μ (N₁ + N₂) is all there is
    let found = finished(text, &["l=0.2", "r=0.2", "v=0.5"]);
    close(found.state.qdot[0], 0.5 - 0.2, 1e-10);
}

/// The smooth foot carries no friction and never slips; the rough one lets go at t = μ (5 + 0.2 t), where h/w = 0.4 and m g = 10.
#[test]
fn a_smooth_foot_does_not_slip() {
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
fn what_is_exactly_at_its_edge_does_not_slip() {
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

/// Between walls that meet at t = 2 an elastic ball becomes faster without end: told soon, with the gaps kept.
#[test]
fn bounces_that_become_ever_faster_are_told() {
    let text = "model \"squeeze\"\ncoordinates x\nmass x: 1\ncontact a: x >= 0 with restitution 1\n\
                contact b: x <= 1 - t/2 with restitution 1\nstart x = 0.5, x' = 1\nrun 3\n";
    let (found, diagnostics) = told(text, &[]);
    assert!(diagnostics.iter().any(|d| d.code == "Z609"), "{diagnostics:#?}");
    assert!(found.state.t < 2.0 && found.state.t > 1.99, "{}", found.state.t);
    assert!(found.counts.steps < 50_000 && found.audit.residuals.iter().all(|(_, r)| *r < 1e-9));
    // bounces that only die out slowly are no such thing: with e = 0.995 they last 2 v/(g (1 − e))
    let ball = "model \"ball\"\ncoordinates y\nmass y: 1\nforce y: -10\ncontact floor: y >= 0 with restitution 0.995\n\
                start y = 0, y' = 1\nrun 60\n";
    close(times(&finished(ball, &[]), "rest")[0], 0.2 / 0.005, 1e-6);
}

/// Painlevé's rod, pushed tip first, has no motion from the start: nothing is known of its forces.
#[test]
fn where_no_motion_is_possible_no_force_is_told() {
    let (found, diagnostics) = told(&common::model_text("painleve_rod"), &["u=-3"]);
    assert!(diagnostics.iter().any(|d| d.code == "Z610"), "{diagnostics:#?}");
    assert!(found.outputs.iter().all(|output| output.values.is_none()));
}

/// Dropped askew it strikes its feet one by one and in pairs, slides, rocks and stands, m g on its feet and m g h left.
#[test]
fn a_box_dropped_askew_on_four_legs_comes_to_rest() {
    for (mu, e) in [(0.9, 0.3), (0.5, 0.3), (0.3, 0.0)] {
        let text = common::model_text("box_on_four_legs")
            .replace("and at L", &format!("and restitution {e} and at L"))
            .replace("when t >= 0.2 s: F = 0\n", "")
            .replace("z = h, a = 0, b = 0, c = 0, x' = 0", "z = h + 0.3 m, a = 0.2, b = 0.1, c = 0.3, x' = 0.5")
            .replace("run 1 s", "run 3 s");
        let found = finished(&text, &[&format!("μ={mu}"), "F=0"]);
        close(found.state.q[2], 0.4, 1e-9);
        close(found.state.q[3], 0.0, 1e-9);
        close(found.state.q[4], 0.0, 1e-9);
        assert!(found.state.qdot.iter().all(|v| v.abs() < 1e-9), "{:?}", found.state);
        close(found.outputs[0].values.unwrap().last, 2.0 * 9.81, 1e-8);
        let energy = &found.audit.energy;
        close(energy.end, 2.0 * 9.81 * 0.4, 1e-8);
        close(energy.start + energy.work + energy.impacts, energy.end, 1e-7);
        assert!(energy.work <= 1e-9 && energy.impacts <= 0.0, "{energy:?}");
        assert!(found.counts.steps + found.counts.rejected < 3000, "{:?}", found.counts);
    }
}

/// A disc that turns in a corner stops against both rough sides: with N, W the forces of floor and wall, W = μN and N + μW = m g.
/// Then the floor holds it alone, and the wall, which presses no more, tells nothing.
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
    assert!(times(&found, "slip").is_empty(), "{:?}", found.events);
}

/// What is held by friction slips where an event takes the friction away.
#[test]
fn what_held_slips_when_its_friction_is_taken_away() {
    let text = "model \"ice\"\ncoordinates x, y\nparameter μ = 0.6\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                force x: 3\ncontact floor: y >= 0 with friction μ\nwhen t >= 1: μ = 0\nstart x = 0, y = 0\nrun 3\n";
    let found = finished(text, &[]);
    assert_eq!(times(&found, "slip").len(), 1);
    close(times(&found, "slip")[0], 1.0, 1e-12);
    close(found.state.q[0], 6.0, 1e-9);
}

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
    close(found.state.q[0], 4.5 / 1.6 + 0.5 * (2.5 - 1.8) / 0.5 * 4.0, 1e-9);
    // without the slip nobody says how fast it slides
    let (none, diagnostics) = attempt(&text(""), &[]);
    assert!(none.is_none() && diagnostics.iter().any(|d| d.code == "Z319"), "{diagnostics:#?}");
}

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
    assert!(times(&found, "stick").is_empty(), "{:?}", found.events);
}

/// A fly wheel moves a block to and fro: ½(J + m r² sin²θ)θ'² falls by μ m g for every metre, also through the dead points.
#[test]
fn a_rough_yoke_passes_its_dead_points() {
    let text = "model \"yoke\"\ncoordinates θ, x, y\nmass θ: 1\nparticle S at (x, y) with mass 1\ngravity (0, -10)\n\
                constraint floor: y = 0 with friction 0.3\nconstraint yoke: x = 0.2*cos(θ)\n\
                start θ = 0.3, x ~ 0.2, y = 0, y' = 0, θ' = 3\nrun 6 s with tolerance 1e-11\n";
    let found = finished(text, &[]);
    let (angle, rate) = (found.state.q[0], found.state.qdot[0]);
    let energy = |angle: f64, rate: f64| 0.5 * (1.0 + 0.04 * angle.sin().powi(2)) * rate * rate;
    let pi = std::f64::consts::PI;
    assert!(3.0 * pi < angle && angle < 4.0 * pi, "{angle}");
    let way = 0.2 * ((0.3f64.cos() + 1.0) + 2.0 + 2.0 + (angle.cos() + 1.0));
    close(energy(angle, rate), energy(0.3, 3.0) - 3.0 * way, 1e-9);
    assert_eq!(times(&found, "slip").len(), 3);
}

/// A block at rest at a stop, on a belt that sets out with −1.5t: it is taken along by μg = 1.2 less what holds it there, or stays.
#[test]
fn what_a_stop_holds_does_not_stick_to_a_belt() {
    let text = "model \"belt\"\ncoordinates x, y\nparameter F = 0.2\nparticle P at (x, y) with mass 1\n\
                gravity (0, -10)\nforce x: F\ncontact belt: y >= 0 with friction 0.12 and slip x' + 1.5*t\n\
                contact hi: 0 >= x\nstart x = 0, y = 0, x' = 0, y' = 0\nrun 2\n";
    close(finished(text, &[]).state.q[0], 0.5 * (0.2 - 1.2) * 4.0, 1e-9);
    let held = finished(text, &["F=1.25"]);
    close(held.state.q[0], 0.0, 1e-12);
    assert!(times(&held, "take-off").is_empty(), "{:?}", held.events);
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
    close(found.state.q[0], -1.0 / 3.0, 1e-9);
    close(times(&found, "slip")[0], 1.0, 1e-9);
}

/// A place that follows the surface and not the body moves along one line only; the force that presses there is 0/0, which is told.
#[test]
fn a_place_that_cannot_be_pressed_is_told() {
    let text = "model \"tip\"\ncoordinates x, y, θ\nparameter r = 0.3\nmass x, y: 1\nmass θ: r^2/2\nforce y: -10\n\
                let n = direction((x, y))\npoint D = (x, y) - r*n\n\
                contact tip: |(x, y)| >= r with friction 0.4 and slip x'*n.y - y'*n.x + r*θ' and at D\n\
                start x = 0.05, y = sqrt(r^2 - 0.0025), θ = 0, x' = 0, y' = 0, θ' = 0\nrun 0.5\n";
    let (_, diagnostics) = told(text, &[]);
    assert!(diagnostics.iter().any(|d| d.code == "Z402"), "{diagnostics:#?}");
}

/// What overcomes μs = 0.46 slides with μk = 0.38, and pulls at the block below by 3.8 N and not by 4.6 N: that holds up to
/// 5.6 N − 3.8 N = 1.8 N.
#[test]
fn what_slides_pulls_with_the_friction_of_sliding() {
    let text = "model \"stack\"\ncoordinates x1, y1, x2, y2\nparameter F = 1.5\nparticle A at (x1, y1) with mass 1\n\
                particle B at (x2, y2) with mass 1\ngravity (0, -10)\nforce x1: F\nforce x2: 6\n\
                contact lower: y1 >= 0 with friction 0.28 and at A\n\
                contact upper: y2 - y1 >= 0.1 with friction 0.46 and sliding 0.38 and slip x2' - x1' and at B\n\
                start x1 = 0, y1 = 0, x2 = 0, y2 = 0.1, x1' = 0, y1' = 0, x2' = 0, y2' = 0\nrun 1\n";
    for (force, way) in [(1.5, 0.0), (1.79, 0.0), (1.81, 0.005), (2.0, 0.1)] {
        let found = finished(text, &[&format!("F={force}")]);
        close(found.state.q[0], way, 1e-9);
        close(found.state.q[2], 0.5 * (6.0 - 3.8), 1e-9);
        assert!(found.events.is_empty(), "{:?}", found.events);
    }
}

/// A block at a stop, pulled away from it by t − 3.5: it leaves where that reaches μs m g = 4, and x'' = t − 3.5 − μk g from there.
#[test]
fn what_lets_go_at_a_stop_leaves_it() {
    let text = "model \"stop\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\nforce x: t - 3.5\n\
                contact floor: y >= 0 with friction 0.4 and sliding 0.3\ncontact lo: x >= 0\n\
                start x = 0, y = 0, x' = 0, y' = 0\nrun 8.5\n";
    let found = finished(text, &[]);
    // stop and floor share what holds it, which is told to some 1e-10 of the weight, 10 N; the pull grows by 1 N/s
    close(times(&found, "take-off")[0], 7.5, 1e-8);
    close(found.state.q[0], 0.5 + 1.0 / 6.0, 2e-8);
}

/// A rod that turns with its ends in two rough guides at right angles: both forces follow from one in the rod, m L α̇², and
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
    close(found.state.q[0], (first + (1.0 + mu * speed * 5.0).ln() / mu).sin(), 1e-8);
    assert!(found.counts.steps < 500, "{}", found.counts.steps);
}

/// The slider of a crank that turns evenly turns back at every dead centre, where the rod does not press it against its guide.
#[test]
fn a_rough_slider_passes_its_dead_centres() {
    let text = "model \"crank\"\ncoordinates θ, x, y\nmass θ: 0.05\nmass x, y: 1\n\
                point pin = (0.1*cos(θ), 0.1*sin(θ))\npoint S = (x, y)\nconstraint motor: θ = 10*t\n\
                constraint rod: |S - pin| = 0.3\nconstraint guide: y = 0 with friction 0.2 and at S\n\
                start y = 0, x ~ 0.4\nrun 2\n";
    let found = finished(text, &[]);
    let slips = times(&found, "slip");
    assert_eq!(slips.len(), 6);
    slips.iter().enumerate().for_each(|(k, t)| close(*t, (k + 1) as f64 * std::f64::consts::PI / 10.0, 1e-9));
    // the tolerance, of the energy at the end
    assert!(found.audit.energy.drift.abs() < 1e-9 * 3.0, "{}", found.audit.energy.drift);
    assert!(found.counts.steps < 500, "{}", found.counts.steps);
}

/// A bead runs along a smooth floor into a wall that leans over it by 45° with μ = 1. It is wedged: no impulse inside the cone makes it
/// bounce, whatever the restitution, and that is told. Without friction the floor would let it bounce.
#[test]
fn what_jams_does_not_bounce() {
    let text = "model \"lean\"\ncoordinates x, y\nparameter μ = 1\nparticle P at (x, y) with mass 1\ngravity (0, -9.81)\n\
                contact floor: y >= 0\ncontact wall: (x - y)/sqrt(2) >= 0 with friction μ and restitution 0.5\n\
                start x = 1, y = 0, x' = -2\nrun 1\n";
    let (run, diagnostics) = told(text, &[]);
    assert_eq!(run.ended, zwang::simulate::Ended::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z613"), "{diagnostics:#?}");
    close(run.audit.energy.impacts, -2.0, 1e-12);
    close(run.state.q[0], 0.0, 1e-12);
    assert!(finished(text, &["μ=0"]).state.qdot[0] > 0.5);
}

/// Every route leads through contacts.
#[test]
fn contacts_follow_every_route() {
    let text = common::model_text("thrown_box");
    let wanted = finished(&text, &[]);
    for route in zwang_motion::RouteName::ALL {
        let reading = zwang::read(&text, &zwang::Overrides::default());
        let mut diagnostics = reading.diagnostics;
        let wishes = zwang::Wishes { route, with_legendre: true, ..zwang::Wishes::default() };
        let check = reading.model.and_then(|model| zwang::check(model, &wishes, &mut diagnostics));
        let run = check
            .and_then(|check| zwang::simulate(check, &zwang::RunWishes::default(), &mut diagnostics, &mut |_| true));
        let run = run.unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert_eq!(run.ended, zwang::simulate::Ended::Finished, "{}", route.as_str());
        close(run.state.q[0], wanted.state.q[0], 1e-8);
    }
}
