//! Random contact problems: momentum and energy through impacts, friction and rest.

mod common;

use std::fmt::Write;

use common::{Random, attempt, told, told_at};
use zwang::simulate::Ended;
use zwang::{Overrides, Run, read};

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * 0.5 * (1.0 + random.next())
}

/// One to four particles in a box with a rough floor, apart from each other; some are tied in pairs by rods.
fn particles(random: &mut Random) -> String {
    let n = 1 + (between(random, 0.0, 4.0) as usize).min(3);
    let mut text = format!("model \"particles\"\ncoordinates x[1..{n}], y[1..{n}]\ngravity (0, -9.81)\n");
    for i in 1..=n {
        let mass = between(random, 0.5, 3.0);
        let _ = writeln!(text, "particle P[{i}] at (x[{i}], y[{i}]) with mass {mass}");
        let (mu, e) = (between(random, 0.0, 0.8), between(random, 0.0, 1.0));
        let _ = writeln!(text, "contact floor[{i}]: y[{i}] >= 0 with friction {mu} and restitution {e}");
        let _ = writeln!(text, "contact left[{i}]: x[{i}] >= -2 with restitution {e}");
        let _ = writeln!(text, "contact right[{i}]: 2 >= x[{i}] with restitution {e}");
        for j in 1..i {
            let _ = writeln!(
                text,
                "contact touch{j}{i}: |P[{i}] - P[{j}]| >= 0.3 with restitution {}",
                between(random, 0.0, 1.0)
            );
        }
        let (x, y) = (-1.9 + 0.8 * i as f64, between(random, 0.0, 1.0));
        let (vx, vy) = (between(random, -3.0, 3.0), between(random, -3.0, 3.0));
        let _ = writeln!(text, "start x[{i}] = {x}, y[{i}] = {y}, x[{i}]' = {vx}, y[{i}]' = {vy}");
    }
    text + "run 1.5\n"
}

/// A box that is thrown at a rough floor, corners first: four contacts with their own friction and restitution.
fn boxes(random: &mut Random) -> String {
    let (w, h) = (between(random, 0.2, 0.8), between(random, 0.2, 0.8));
    let mut text = format!(
        "model \"box\"\ncoordinates x, y, a\nmass x, y: 1\nmass a: {}\nforce y: -9.81\n",
        (w * w + h * h) / 3.0
    );
    for (k, (u, v)) in [(-w, -h), (w, -h), (w, h), (-w, h)].into_iter().enumerate() {
        let (mu, e) = (between(random, 0.0, 0.6), between(random, 0.0, 0.9));
        let _ = writeln!(text, "point C{k} = (x + ({u})*cos(a) - ({v})*sin(a), y + ({u})*sin(a) + ({v})*cos(a))");
        let _ = writeln!(text, "contact c{k}: C{k}.y >= 0 with friction {mu} and restitution {e} and at C{k}");
    }
    let (vx, vy, spin) = (between(random, -2.0, 2.0), between(random, -2.0, 0.0), between(random, -4.0, 4.0));
    let angle = between(random, -3.0, 3.0);
    let _ = writeln!(text, "start x = 0, y = {}, a = {angle}, x' = {vx}, y' = {vy}, a' = {spin}", w.hypot(h) + 0.2);
    text + "run 2\n"
}

/// A body in space with three to five rough feet, thrown; sometimes beside a wall.
fn thrown_in_space(random: &mut Random) -> String {
    let mut text = String::from(
        "model \"feet\"\ncoordinates x, y, z, a, b, c\ngravity (0, 0, -9.81)\n\
         body B at (x, y, z) turned z by c, y by b, x by a with mass 2 and inertia (0.2, 0.25, 0.3)\n",
    );
    let n = 3 + (between(random, 0.0, 3.0) as usize).min(2);
    let (mu, e) = (between(random, 0.1, 0.8), between(random, 0.0, 0.6));
    for k in 0..n {
        let angle = std::f64::consts::TAU * k as f64 / n as f64 + between(random, -0.2, 0.2);
        let (u, v) = (0.5 * angle.cos(), 0.5 * angle.sin());
        let _ = writeln!(text, "point L{k} = B.point({u}, {v}, -0.2)");
        let _ = writeln!(text, "contact l{k}: L{k}.z >= 0 with friction {mu} and restitution {e} and at L{k}");
    }
    if between(random, 0.0, 1.0) > 0.5 {
        let _ = writeln!(text, "point T = B.point(0.5, 0, 0)");
        let _ = writeln!(text, "contact wall: T.x <= 0.9 with friction {mu} and restitution {e} and at T");
    }
    let mut any = |size: f64| between(random, -size, size);
    let (tilt, v, spin) = ([any(0.2), any(0.2)], [any(2.0), any(1.0)], [any(1.0), any(1.0), any(1.0)]);
    let _ = writeln!(
        text,
        "start x = 0, y = 0, z = 0.8, a = {}, b = {}, c = 0, x' = {}, y' = {}, z' = 0, a' = {}, b' = {}, c' = {}",
        tilt[0], tilt[1], v[0], v[1], spin[0], spin[1], spin[2]
    );
    text + "run 2\n"
}

#[test]
fn bodies_in_space_never_gain_energy() {
    let finished = (0..8).filter(|seed| energy_only_falls(&thrown_in_space(&mut Random(300 + seed)))).count();
    assert_eq!(finished, 8);
}

/// Energy is never made: impacts and friction only take, and the account is closed.
fn energy_only_falls(text: &str) -> bool {
    let (run, diagnostics) = told(text, &[]);
    let account = &run.audit.energy;
    let size = account.start.abs() + account.end.abs() + account.work.abs() + 1.0;
    assert!(account.impacts <= 1e-10 * size, "{text}\n{account:?}");
    if let Some(parts) = account.parts {
        assert!(parts.nonideal <= 1e-9 * size, "{text}\n{parts:?}");
        assert!(parts.ideal.abs() <= 1e-9 * size, "{text}\n{parts:?}");
    }
    assert!(account.drift <= 1e-6 * size, "{text}\n{account:?}");
    assert!(run.audit.residuals.iter().all(|(_, r)| *r <= 1e-8), "{text}\n{:?}", run.audit.residuals);
    // rigid bodies with friction may have no motion; everything else must go on to the end
    let may_end = diagnostics.iter().any(|d| d.code == "Z610");
    assert!(run.ended == Ended::Finished || may_end, "{text}\n{:?}\n{diagnostics:#?}", run.ended);
    run.ended == Ended::Finished
}

#[test]
fn particles_in_a_box_never_gain_energy() {
    let finished = (0..60).filter(|seed| energy_only_falls(&particles(&mut Random(7 + seed)))).count();
    assert!(finished >= 57, "only {finished} of 60");
}

#[test]
fn boxes_thrown_at_a_floor_never_gain_energy() {
    let finished = (0..40).filter(|seed| energy_only_falls(&boxes(&mut Random(1000 + seed)))).count();
    assert!(finished >= 38, "only {finished} of 40");
}

/// Balls in a row with random masses and restitutions, struck many times: the momentum stays to rounding.
#[test]
fn cradles_of_all_kinds_keep_their_momentum() {
    let mut random = Random(99);
    for _ in 0..40 {
        let n = 2 + (between(&mut random, 0.0, 5.0) as usize).min(4);
        let mut text = format!("model \"cradle\"\ncoordinates x[1..{n}]\n");
        for i in 1..=n {
            let _ = writeln!(text, "mass x[{i}]: {}", between(&mut random, 0.2, 3.0));
            let gap = if random.next() > 0.0 { 0.0 } else { 0.01 };
            let _ = writeln!(text, "start x[{i}] = {}, x[{i}]' = {}", i as f64 + gap * i as f64, 2.0 * random.next());
            if i > 1 {
                let e = between(&mut random, 0.0, 1.0);
                let _ = writeln!(text, "contact touch{i}: x[{i}] - x[{}] >= 1 with restitution {e}", i - 1);
            }
        }
        let first = format!("{text}run 0.000001\noutput p = {}\n", total(n));
        let last = format!("{text}run 2\noutput p = {}\n", total(n));
        if read(&last, &Overrides::default()).diagnostics.has_errors() {
            panic!("{last}");
        }
        let (run, _) = attempt(&last, &[]);
        let Some(run) = run else { continue };
        let (before, _) = told(&first, &[]);
        let momentum = |run: &Run| {
            let masses = &run.check.snapshot.given.mass_matrix.value;
            masses.iter().zip(&run.state.qdot).map(|(m, v)| m * v).sum::<f64>()
        };
        assert!((momentum(&run) - momentum(&before)).abs() < 1e-13 * 10.0, "{text}");
        assert!(run.audit.energy.impacts <= 1e-14, "{text}{:?}", run.audit.energy);
    }
}

fn total(n: usize) -> String {
    (1..=n).map(|i| format!("x[{i}]'")).collect::<Vec<_>>().join(" + ")
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

#[track_caller]
fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{found} instead of {wanted}, off by {:e}", found - wanted);
}

fn last(run: &Run, k: usize) -> f64 {
    run.outputs[k].values.unwrap().last
}

/// It stands, and the single forces are said to be undetermined.
#[test]
fn a_box_on_four_legs_rests() {
    let (run, diagnostics) = told(&four_legs(STANDING, "1"), &[]);
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    assert!(
        run.state.q.iter().zip([0.0, 0.0, 0.4, 0.0, 0.0, 0.0]).all(|(x, y)| (x - y).abs() < 1e-12),
        "{:?}",
        run.state
    );
    close(last(&run, 0), 2.0 * 9.81, 1e-10);
    let said = diagnostics.iter().find(|d| d.code == "Z614").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(["`l1`", "`l2`", "`l3`", "`l4`"].iter().all(|l| said.message.contains(l)), "{}", said.message);
    // the sum is determined, one of them is not
    assert!(!run.check.determinacy.is_choice("N") && run.check.determinacy.is_choice("one"));
    // nothing slides, so no friction depends on the shares
    assert!(!diagnostics.iter().any(|d| d.code == "Z611"), "{diagnostics:#?}");
}

/// It slides to a stop after v²/(2 μ g), however the legs share the weight.
#[test]
fn a_box_on_four_legs_slides_to_a_stop() {
    let (run, diagnostics) = told(&four_legs(&STANDING.replace("x' = 0", "x' = 1.5"), "1"), &[]);
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    close(run.state.q[0], 1.5 * 1.5 / (2.0 * 0.3 * 9.81), 1e-8);
    close(last(&run, 0), 2.0 * 9.81, 1e-9);
    let stick = run.events.iter().find(|e| e.kind == "stick").unwrap();
    close(stick.t, 1.5 / (0.3 * 9.81), 1e-8);
    close(run.audit.energy.work, -0.5 * 2.0 * 2.25, 1e-8);
}

/// A pull F at the top (2h above the floor) tips it where 2 h F > w m g; friction above F/(m g) holds the legs.
#[test]
fn a_box_on_four_legs_tips_and_lands() {
    let tips = 0.5 * 2.0 * 9.81 / 0.8;
    let stands = four_legs(STANDING, "0.5").replace("mu = 0.3, F = 0", &format!("mu = 0.9, F = {}", 0.99 * tips));
    let (run1, diagnostics) = told(&stands, &[]);
    assert_eq!(run1.ended, Ended::Finished, "{diagnostics:#?}");
    close(run1.state.q[4], 0.0, 1e-12);
    close(last(&run1, 0), 2.0 * 9.81, 1e-9);
    // more, and the hind legs leave at once; let go after 0.2 s it falls back and stands
    let text = four_legs(STANDING, "2").replace("mu = 0.3, F = 0", &format!("mu = 0.9, F = {}", 1.2 * tips));
    let (run2, diagnostics) = told(&format!("{text}when t >= 0.2: F = 0\n"), &[]);
    assert_eq!(run2.ended, Ended::Finished, "{diagnostics:#?}");
    assert!(run2.events.iter().any(|e| e.kind == "impact"), "{:?}", run2.events);
    close(run2.state.q[2], 0.4, 1e-10);
    close(run2.state.q[4], 0.0, 1e-10);
    close(last(&run2, 0), 2.0 * 9.81, 1e-8);
}

/// Two balls under 10 m/s², one above the other, dropped from `start`; restitutions of the floor and of the touch, and how heavy the
/// upper is beside the lower. Between impacts all is known, and bounces that have died out are over once the upper ball rises. The
/// height and speed of the upper ball at the end.
fn struck_exactly(ratio: f64, restitutions: [f64; 2], start: [f64; 2], end: f64) -> [f64; 2] {
    let ([mut a, mut b], mut u, mut v, mut t) = (start, 0.0, 0.0, 0.0);
    loop {
        let floor = (u + f64::sqrt(f64::max(u * u + 20.0 * a, 0.0))) / 10.0;
        let touch = if u > v { (b - a) / (u - v) } else { f64::INFINITY };
        let is_over = f64::abs(u) < 1e-9 && a < 1e-12 && v > 0.0;
        let step = if is_over { end - t } else { floor.min(touch).min(end - t) };
        (a, b) = (a + (u - 5.0 * step) * step, b + (v - 5.0 * step) * step);
        (u, v, t) = (u - 10.0 * step, v - 10.0 * step, t + step);
        if t >= end {
            return [b, v];
        }
        if floor <= touch {
            (a, u) = (0.0, -restitutions[0] * u);
        } else {
            let impulse = (1.0 + restitutions[1]) * (u - v) * ratio / (1.0 + ratio);
            (u, v) = (u - impulse, v + impulse / ratio);
        }
    }
}

/// A ball near the end of its bounces is struck from above: its impacts follow each other ever faster, and are not over.
#[test]
fn a_blow_near_the_end_of_bounces_is_not_their_end() {
    let cases = [(0.9, 1.0, 3.0, 2e-3), (0.9, 0.9, 3.0, 3e-3), (0.8, 1.0, 1.0, 1e-3), (0.8, 1.0, 3.0, 1e-3)];
    for (e, touch, ratio, early) in cases {
        // 0.2 m fall takes 0.2 s, and the bounces end after 0.2 (1 + e)/(1 − e)
        let over: f64 = 0.2 * (1.0 + e) / (1.0 - e);
        let (high, end) = (5.0 * (over - early).powi(2), over + 0.3);
        let text = format!(
            "model \"struck\"\ncoordinates a, b\nmass a: 1\nmass b: {ratio}\nforce a: -10\nforce b: -10*{ratio}\n\
             contact floor: a >= 0 with restitution {e}\ncontact touch: b - a >= 0 with restitution {touch}\n\
             start a = 0.2, b = {high}\nrun {end}\n"
        );
        let (run, _) = told_at(&text, 1e-11);
        let [b, v] = struck_exactly(ratio, [e, touch], [0.2, high], end);
        let (found, speed) = (run.state.q[1], run.state.qdot[1]);
        let case = format!("{e} {touch} {ratio} {early}");
        assert!(
            (found - b).abs() < 1e-6 * high && (speed - v).abs() < 1e-6 * (20.0 * high).sqrt(),
            "{case}: {found} {b} {speed} {v}"
        );
        let energy = run.audit.energy;
        assert!(energy.drift.abs() < 1e-8 * high * 10.0 * ratio, "{case}: {energy:?}");
    }
}

/// A smooth body that falls down a slope into a corner and comes to rest there on one corner after the other: what the ends of its
/// bounces cut off is in the account too, to the tolerance of the run.
#[test]
fn what_the_end_of_bounces_takes_is_counted() {
    let mut text = String::from(
        "model \"quad\"\ncoordinates x, y, a\nparameter e = 0.2, slope = 25 deg\n\
         body B at (x, y) turned by a with mass 0.892 and inertia 0.0373\n\
         gravity (9.81*sin(slope), -9.81*cos(slope))\n",
    );
    let corners = [(0.28825, 0.08313), (-0.24204, 0.17724), (-0.29903, -0.02408), (0.08192, -0.28860)];
    for (k, (u, v)) in corners.into_iter().enumerate() {
        let _ = writeln!(text, "point P{k} = B.point({u}, {v})\ncontact c{k}: P{k}.y >= 0 with restitution e");
        let _ = writeln!(text, "contact w{k}: 1.5 >= P{k}.x with restitution e");
    }
    text += "start x = 0, y = 0.7947, a = 5.0182, x' = -0.3475, y' = 0.1256, a' = 5.1885\nrun 4\n";
    let account = told(&text, &[]).0.audit.energy;
    assert!(account.impacts < -1.0 && account.drift.abs() < 1e-9 * account.impacts.abs(), "{account:?}");
}
