//! Impacts: restitution, friction in impacts, simultaneous impacts.

use super::{BALL, events};
use crate::common::{all_close, attempt_to, close, finished, finished_model, model_text, run_and_notes, run_to, times};

/// Six impacts, with elliptic times of flight between them.
#[test]
fn a_pendulum_reaches_its_stop_on_time() {
    let wanted = [
        0.652048229598350203,
        2.00499885341248025,
        3.44536859614313506,
        4.99184526452942695,
        6.64537372835402505,
        8.39324199412131724,
    ];
    let run = finished_model("pendulum_stop", 9.0);
    let found = times(&run, "impact");
    assert_eq!(found.len(), 6);
    all_close(&found, &wanted, 1e-9);
}

/// Moreau's law for simultaneous impacts; sequential impacts for balls a thousandth of a diameter apart.
#[test]
fn the_cradle_follows_the_law_for_all_contacts_at_once() {
    let text = model_text("newtons_cradle");
    let moreau = run_to(&text, &[], 1.0);
    all_close(&moreau.state().qdot, &[-0.6, 0.4, 0.4, 0.4, 0.4], 1e-12);
    let apart = text.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    assert_ne!(apart, text);
    let sequential = run_to(&apart, &[], 1.0);
    all_close(&sequential.state().qdot, &[0.0, 0.0, 0.0, 0.0, 1.0], 1e-12);
    assert_eq!(times(&sequential, "impact").len(), 4);
    for run in [moreau, sequential] {
        close(run.state().qdot.iter().sum::<f64>(), 1.0, 1e-12);
        close(run.state().qdot.iter().map(|v| v * v).sum::<f64>(), 1.0, 1e-12);
    }
}

/// A unit mass thrown on a floor with friction loses μ(1 + e) of its speed of fall in an impact, as long as it slides.
#[test]
fn an_impact_with_friction_slows_the_slip() {
    let text = "model \"stone\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -9.81)\n\
                contact floor: y >= 0 with friction 0.3 and restitution 0.4\n\
                start x = 0, y = 1, x' = 3, y' = 0\nrun 4\noutput force = |reaction(floor, P)|\n";
    let fall = (2.0f64 * 9.81).sqrt();
    let once = run_to(text, &[], 0.5);
    close(once.state().qdot[0], 3.0 - 0.3 * 1.4 * fall, 1e-9);
    let twice = run_to(text, &[], 0.9);
    close(twice.state().qdot[0], 3.0 - 0.3 * 1.4 * fall * 1.4, 1e-9);
    let rest = run_to(text, &[], 4.0);
    close(rest.state().qdot[0], 0.0, 1e-15);
    close(rest.outputs()[0].values.unwrap().last, 9.81, 1e-9);
    assert!(rest.audit().energy.drift < 1e-8, "{:?}", rest.audit().energy);
}

/// The table of speeds before each impact: the energy between two impacts tells the speed, and so does the one before.
#[test]
fn a_pendulum_reaches_its_stop_with_the_known_speeds() {
    let impacts = [(0.652048229598350203, 2.93713622765773711), (2.00499885341248025, 2.05599535936041597)];
    let later = [(3.44536859614313506, 1.43919675155229118), (6.64537372835402505, 0.705206408260622679)];
    for (t, speed) in impacts.into_iter().chain(later) {
        let after = finished_model("pendulum_stop", t + 0.05);
        let (angle, rate) = (after.state().q[0], after.state().qdot[0]);
        let squared = rate * rate - 2.0 * 9.81 * (angle.cos() - 20f64.to_radians().cos());
        close(squared.sqrt() / 0.7, speed, 1e-8);
    }
}

/// Three rows of the table of the cradle, for all contacts at once.
#[test]
fn cradles_of_three_and_of_two_that_come() {
    let text = model_text("newtons_cradle");
    let three = run_to(&text, &["n=3"], 1.0);
    all_close(&three.state().qdot, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
    let two = text.replace("x[1]' = 1 m/s, x[i in 2..n]' = 0", "x[1]' = 1 m/s, x[2]' = 1 m/s, x[i in 3..n]' = 0");
    assert_ne!(two, text);
    all_close(&run_to(&two, &[], 1.0).state().qdot, &[-0.2, -0.2, 0.8, 0.8, 0.8], 1e-12);
    let apart = two.replace("= (i - 1)*d, x[1]'", "= (i - 1)*1.001*d, x[1]'");
    all_close(&run_to(&apart, &[], 1.0).state().qdot, &[0.0, 0.0, 0.0, 1.0, 1.0], 1e-12);
}

/// A body with S = (2, 1; 1, 2) that arrives with (−1, −½) and would stick: Newton's law with e = 1 asks for a twelfth more energy.
/// None is made where (3/2 + 2 e)(1 − e) = e/2, so e is lowered to √3/2, and the impact takes nothing.
#[test]
fn a_restitution_that_would_gain_energy_is_reduced() {
    let text = "model \"kane\"\ncoordinates x, y, a\nmass x, y, a: 1\npoint foot = (x + cos(a) + sin(a), y + sin(a) - cos(a))\n\
                contact floor: foot.y >= 0 with friction 0.5 and restitution 1 and at foot\n\
                start x = 0, y = 1.1, a = 0, x' = -0.5, y' = -1, a' = 0\nrun 0.2\n";
    let (run, diagnostics) = attempt_to(text, &[], 0.2);
    let run = run.unwrap();
    let reported = diagnostics.iter().find(|d| d.code == "Z613").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(reported.message.contains("0.866"), "{}", reported.message);
    let e = 0.75f64.sqrt();
    let (normal, along) = ((1.5 + 2.0 * e) / 3.0, -e / 3.0);
    all_close(&run.state().qdot, &[-0.5 + along, -1.0 + normal, normal + along], 1e-9);
    close(run.audit().energy.impacts, 0.0, 1e-9);
    // with a restitution that makes none nothing is changed
    let (half, diagnostics) = attempt_to(&text.replace("restitution 1", "restitution 0.5"), &[], 0.2);
    assert!(!diagnostics.iter().any(|d| d.code == "Z613"), "{diagnostics:#?}");
    assert!(half.unwrap().audit().energy.impacts < -0.1);
}

/// A box on two feet, of which one has no friction, lands flat with (v, −1): the other stops v, if it can.
///
/// Both impulses across, N₂ − N₁ = v h/w and N₁ + N₂ = 1, and the whole friction v at the second foot: it holds for v < μ N₂.
#[test]
fn feet_in_one_impact_share_the_friction() {
    let text = "model \"feet\"\ncoordinates x, y, a\nparameter w = 0.5, h = 0.2, v = 0.1, l = 0, r = 0.6\n\
                body B at (x, y) turned by a with mass 1 and inertia (w^2 + h^2)/3\n\
                point L = B.point(-w, -h)\npoint R = B.point(w, -h)\n\
                contact left: L.y >= 0 with friction l and at L\ncontact right: R.y >= 0 with friction r and at R\n\
                start x = 0, y = h + 0.1, a = 0, x' = v, y' = -1\nrun 0.5\n";
    for set in [["l=0", "r=0.6", "v=0.1"], ["l=0", "r=0.6", "v=0.3"], ["l=0.2", "r=0.5", "v=0.3"]] {
        let found = finished(text, &set);
        let v: f64 = set[2][2..].parse().unwrap();
        close(found.state().q[0], 0.1 * v, 1e-10);
        close(found.state().qdot[0], 0.0, 1e-12);
        close(found.audit().energy.impacts, -0.5 * (1.0 + v * v), 1e-10);
    }
    // the rest of v that both feet together cannot stop stays: μ (N₁ + N₂) is all there is
    let found = finished(text, &["l=0.2", "r=0.2", "v=0.5"]);
    close(found.state().qdot[0], 0.5 - 0.2, 1e-10);
}

/// A bead runs along a floor without friction into a wall that leans over it by 45° with μ = 1. It is wedged: no impulse inside
/// the cone makes it bounce, whatever the restitution, and Z613 reports that. Without friction the floor would let it bounce.
#[test]
fn a_wedged_bead_does_not_bounce() {
    let text = "model \"lean\"\ncoordinates x, y\nparameter μ = 1\nparticle P at (x, y) with mass 1\ngravity (0, -9.81)\n\
                contact floor: y >= 0\ncontact wall: (x - y)/sqrt(2) >= 0 with friction μ and restitution 0.5\n\
                start x = 1, y = 0, x' = -2\nrun 1\n";
    let (run, diagnostics) = run_and_notes(text, &[]);
    assert_eq!(*run.end(), zwang::simulate::End::Finished, "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z613"), "{diagnostics:#?}");
    close(run.audit().energy.impacts, -2.0, 1e-12);
    close(run.state().q[0], 0.0, 1e-12);
    assert!(finished(text, &["μ=0"]).state().qdot[0] > 0.5);
}

/// A box that falls askew strikes with one foot after the other; with friction at one foot Coulomb's law always has an outcome,
/// and none gains energy.
#[test]
fn oblique_impacts_of_one_foot_with_friction_have_an_outcome() {
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
    let energy = &found.audit().energy;
    assert!(energy.impacts < 0.0 && energy.impacts > -2.0 * 9.81 * 0.5, "{energy:?}");
}

/// A ball at rest is driven into the floor with 4: that is an impact and no take-off; 2 comes back for 0.4 s.
#[test]
fn a_velocity_that_an_event_sets_into_a_contact_is_an_impact() {
    let text =
        format!("{BALL}contact floor: y >= 0 with restitution 0.5\nwhen t >= 1: y' = -4\nstart y = 0\nrun 1.5\n");
    let (found, _) = run_and_notes(&text, &[]);
    let logged = events(&found);
    assert_eq!((logged[1].1, logged[2].1), ("impact", "impact"), "{logged:?}");
    close(logged[1].0, 1.0, 1e-12);
    close(logged[2].0, 1.4, 1e-9);
    assert!(!logged.iter().any(|e| e.1 == "take-off"), "{logged:?}");
}

/// Three balls of which two touch: in one impact both contacts take an impulse.
#[test]
fn every_contact_that_takes_an_impulse_is_reported() {
    let text = "model \"cradle\"\ncoordinates x[1..3]\nmass x[1]: 1\nmass x[2]: 1\nmass x[3]: 1\n\
                contact c1: x[2] - x[1] >= 1 with restitution 1\ncontact c2: x[3] - x[2] >= 1 with restitution 1\n\
                start x[1] = -1, x[2] = 1, x[3] = 2, x[1]' = 1\nrun 3\n";
    let (found, _) = run_and_notes(text, &[]);
    let logged = events(&found);
    assert_eq!(logged.iter().map(|e| (e.1, e.2)).collect::<Vec<_>>(), [("impact", "c1"), ("impact", "c2")]);
    logged.iter().for_each(|e| close(e.0, 1.0, 1e-12));
    // Moreau's law: (−1/3, 2/3, 2/3), and the balls that stay together cost no steps
    close(found.state().q[0], -2.0 / 3.0, 1e-9);
    assert!(found.cost().steps < 100 && found.cost().evaluations < 10_000, "{:?}", found.cost());
}

/// A ball that falls with w on a block in a rail with friction: the rail takes p = m (1 + e) w, and friction μ p of the block's
/// momentum.
#[test]
fn an_impact_from_above_slows_a_block_in_its_rail() {
    let text = "model \"rail\"\ncoordinates x, y, u, h\nparameter v = 3, mu = 0.2\n\
                particle block at (x, y) with mass 2\nparticle ball at (u, h) with mass 1\nforce h: -10\nforce y: -20\n\
                constraint rail: y = 0 with friction mu and at block\n\
                contact lid: h - y >= 0 with restitution 0.5\n\
                start x = 0, y = 0, u = 0, h = 0.05, x' = v, u' = 0, h' = -2\nrun 0.1\n";
    // the ball arrives with √(4 + 1); before that and after it friction is μ m g
    let arrival = 5f64.sqrt();
    let found = run_to(text, &[], 0.1);
    close(found.state().qdot[0], 3.0 - 0.2 * 10.0 * 0.1 - 0.2 * 1.5 * arrival / 2.0, 1e-9);
    assert!(found.audit().energy.drift < 1e-9, "{:?}", found.audit().energy);
    // with more friction than momentum it stops
    let stopped = run_to(text, &["v=0.15", "mu=0.4"], 0.1);
    close(stopped.state().qdot[0], 0.0, 1e-15);
    // and what does not slide is not moved
    let still = run_to(text, &["v=0"], 0.1);
    all_close(&still.state().q[..2], &[0.0, 0.0], 1e-14);
}
