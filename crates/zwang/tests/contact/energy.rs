//! Energy and momentum: impacts and friction only dissipate, and the balance is closed.

use std::fmt::Write;

use crate::common::{Random, attempt_to, close, finished_model, gallery, model_text, run_and_notes, run_to};
use zwang::Overrides;
use zwang::simulate::End;

/// What is left of the energy and what impacts took make up what there was.
#[test]
fn impacts_take_the_energy_that_is_missing() {
    let text = "model \"ball\"\ncoordinates y\nlagrangian L = y'^2/2 - 9.81*y\n\
                contact floor: y >= 0 with restitution 0.8\nstart y = 1\nrun 2\n";
    for (to, energy) in [(0.4, 9.81), (1.0, 9.81 * 0.64), (1.5, 9.81 * 0.64 * 0.64), (5.0, 0.0)] {
        let run = run_to(text, &[], to);
        let account = &run.audit().energy;
        close(account.start, 9.81, 1e-12);
        close(account.end, energy, 1e-8);
        close(account.impacts, energy - 9.81, 1e-8);
        close(account.work, 0.0, 1e-8);
        assert!(account.drift < 1e-8, "{account:?}");
    }
}

/// Energy, work and what impacts take make up a constant, in every model of the gallery that has contacts or friction.
#[test]
fn the_energy_balance_of_every_contact_model_is_closed() {
    let mut n_models = 0;
    for (name, text) in gallery() {
        let model = crate::common::derived(&text, &Overrides::default()).equations.model;
        if model.contacts.is_empty() && model.frictions.is_empty() {
            continue;
        }
        n_models += 1;
        let end = model.horizon();
        let (run, diagnostics) = attempt_to(&text, &[], end);
        let run = run.unwrap_or_else(|| panic!("{name}: {diagnostics:#?}"));
        let account = &run.audit().energy;
        let size = account.start.abs() + account.end.abs() + account.work.abs() + account.impacts.abs();
        assert!(account.drift <= 1e-8 * size, "{name}: {account:?}");
        close(account.end - account.start - account.work - account.impacts, 0.0, 1e-8 * size);
        assert!(account.impacts <= 1e-12 * size, "{name}: {account:?}");
    }
    assert!(n_models >= 15, "only {n_models} models");
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * 0.5 * (1.0 + random.next())
}

/// One to four particles in a box whose floor has friction, apart from each other, that may touch.
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

/// A box that is thrown at a floor with friction, corners first: four contacts with their own friction and restitution.
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

/// A body in space on three to five feet with friction, thrown; sometimes next to a wall.
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
    (0..8).for_each(|seed| energy_only_falls(&thrown_in_space(&mut Random(300 + seed))));
}

/// Energy is never gained: impacts and friction only dissipate, and the balance is closed. No friction here is large enough for
/// Painlevé's paradox, so that every run goes to its end.
fn energy_only_falls(text: &str) {
    let (run, diagnostics) = run_and_notes(text, &[]);
    let account = &run.audit().energy;
    let size = account.start.abs() + account.end.abs() + account.work.abs() + 1.0;
    assert!(account.impacts <= 1e-10 * size, "{text}\n{account:?}");
    let parts = account.parts.unwrap_or_else(|| panic!("friction is stated: {text}"));
    assert!(parts.nonideal <= 1e-9 * size, "{text}\n{parts:?}");
    assert!(parts.ideal.abs() <= 1e-9 * size, "{text}\n{parts:?}");
    assert!(account.drift <= 1e-6 * size, "{text}\n{account:?}");
    assert!(run.audit().residuals.iter().all(|(_, r)| *r <= 1e-8), "{text}\n{:?}", run.audit().residuals);
    assert_eq!(*run.end(), End::Finished, "{text}\n{diagnostics:#?}");
}

#[test]
fn particles_in_a_box_never_gain_energy() {
    (0..60).for_each(|seed| energy_only_falls(&particles(&mut Random(7 + seed))));
}

#[test]
fn boxes_thrown_at_a_floor_never_gain_energy() {
    (0..40).for_each(|seed| energy_only_falls(&boxes(&mut Random(1000 + seed))));
}

/// Balls in a row with random masses and restitutions, that touch or are 1/64 apart, struck many times: Σ m v stays to rounding.
#[test]
fn cradles_of_all_kinds_keep_their_momentum() {
    let mut random = Random(99);
    for _ in 0..40 {
        let n = 2 + (between(&mut random, 0.0, 5.0) as usize).min(4);
        let mut text = format!("model \"cradle\"\ncoordinates x[1..{n}]\n");
        let (mut place, mut momentum) = (0.0, 0.0);
        for i in 1..=n {
            let (mass, speed) = (between(&mut random, 0.2, 3.0), 2.0 * random.next());
            place += if random.next() > 0.0 { 1.0 } else { 1.0 + 1.0 / 64.0 };
            momentum += mass * speed;
            let _ = writeln!(text, "mass x[{i}]: {mass}\nstart x[{i}] = {place}, x[{i}]' = {speed}");
            if i > 1 {
                let e = between(&mut random, 0.0, 1.0);
                let _ = writeln!(text, "contact touch{i}: x[{i}] - x[{}] >= 1 with restitution {e}", i - 1);
            }
        }
        let (run, diagnostics) = run_and_notes(&format!("{text}run 2\n"), &[]);
        assert_eq!(*run.end(), End::Finished, "{text}{diagnostics:#?}");
        let masses = &run.check().snapshot.given.mass_matrix.value;
        let kept: f64 = masses.iter().zip(&run.state().qdot).map(|(m, v)| m * v).sum();
        assert!((kept - momentum).abs() < 1e-12, "{text}{kept} instead of {momentum}");
        // the search for a reduced restitution ends where the gain is rounding, 1e-12 of the work of the impulses
        let is_reduced = diagnostics.iter().any(|d| d.code == "Z613");
        let allowed = if is_reduced { 1e-11 * run.audit().energy.start } else { 1e-14 };
        assert!(run.audit().energy.impacts <= allowed, "{text}{:?}", run.audit().energy);
    }
}

/// A body without friction that falls down a slope into a corner and comes to rest there on one corner after the other: what the
/// ends of its bounces cut off is in the balance too, to the tolerance of the run.
#[test]
fn the_energy_of_bounces_beyond_the_tolerance_is_counted() {
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
    let account = run_and_notes(&text, &[]).0.audit().energy;
    assert!(account.impacts < -1.0 && account.drift.abs() < 1e-9 * account.impacts.abs(), "{account:?}");
}

/// While the belt carries the block the ideal part does its work ½ k x², and nothing else does any.
#[test]
fn the_parts_of_the_constraint_force_do_their_own_work() {
    let parts = finished_model("stick_slip_belt", 1.0).audit().energy.parts.unwrap();
    close(parts.ideal, 0.5 * 10.0 * 0.25, 1e-9);
    close(parts.nonideal, 0.0, 1e-12);
    close(parts.law, 0.0, 1e-12);
    // sliding takes μ m g times the way, all of it by C
    let parts = finished_model("block_stays", 2.0).audit().energy.parts.unwrap();
    let lost = 0.5 * 9.81 * 20f64.to_radians().cos() * 0.565013610587311083;
    close(parts.ideal, 0.0, 1e-12);
    close(parts.nonideal, -lost, 1e-9);
    close(parts.law, -lost, 1e-9);
    // and a law with reactions: ½ m (v² − v₀²) with v = v₀/(1 + μ v₀ t/R)
    let parts = finished_model("ring_with_drag", 10.0).audit().energy.parts.unwrap();
    let v = 4.0 / (1.0 + 0.2 * 4.0 * 10.0);
    close(parts.law, 0.5 * (v * v - 16.0), 1e-8);
    close(parts.nonideal, parts.law, 1e-9);
    assert!(finished_model("pendulum_stop", 0.1).audit().energy.parts.is_none());
}

/// On a slope friction takes μ m g cos times the speed, and by the time it sticks as much times the way.
#[test]
fn the_power_and_the_work_of_friction_are_outputs() {
    let text = model_text("block_stays") + "output rate = power(plane)\noutput lost = work(plane)\n";
    let found = run_to(&text, &[], 2.0);
    let rate = found.outputs()[0].values.unwrap();
    close(rate.min, -0.5 * 9.81 * 20f64.to_radians().cos() * 3.0, 1e-9);
    close(rate.last, 0.0, 1e-12);
    close(found.outputs()[1].values.unwrap().last, -0.5 * 9.81 * 20f64.to_radians().cos() * found.state().q[0], 1e-9);
}
