//! No motion or several: Painlevé's paradox and forces without a consistent side.

use crate::common::{attempt, attempt_to, model_text, run_and_notes, run_to};
use zwang::simulate::End;

/// Painlevé's rod, pushed tip first, has no motion from the start: nothing is known of its forces.
#[test]
fn where_no_motion_is_possible_no_force_is_reported() {
    let (found, diagnostics) = run_and_notes(&model_text("painleve_rod"), &["u=-3"]);
    assert!(diagnostics.iter().any(|d| d.code == "Z610"), "{diagnostics:#?}");
    assert!(found.outputs().iter().all(|output| output.values.is_none()));
}

/// Z610 names the inequality that each continuation violates, with its numbers.
#[test]
fn a_paradox_is_reported_with_its_inequalities() {
    let (_, diagnostics) = attempt(&model_text("painleve_rod"), &["u=-3"]);
    let reported = diagnostics.iter().find(|d| d.code == "Z610").expect("a rod that digs in");
    let inequalities = reported.notes.iter().filter(|n| n.contains(">= 0") || n.contains("μ N =")).count();
    assert!(inequalities >= 2, "{reported:#?}");
}

/// The normal force of the second bead reaches zero at 2.1586 s. With friction against its slip, a force on either side would
/// have to act on the other: no motion continues.
#[test]
fn a_force_that_can_press_on_neither_side_ends_the_motion() {
    let text = "model \"beads\"\ncoordinates x0, y0, x1, y1, x2, y2\nparticle P0 at (x0, y0) with mass 2\n\
                particle P1 at (x1, y1) with mass 2.2\nparticle P2 at (x2, y2) with mass 0.65\ngravity (0, -9.81)\n\
                constraint upper: |P0 - P1| = sqrt(1.21^2 + 1.23^2)\nconstraint lower: |P1 - P2| = sqrt(1.13^2 + 1.86^2)\n\
                constraint straight: 0.78*x1 + 0.63*y1 = 0.78*0.67 + 0.63*0.96 with friction 0.158 and sliding 0.142 and at P1\n\
                constraint round: (x2 - 0.53)^2 + (y2 + 0.19)^2 = 0.99^2 + 0.71^2 with friction 0.483 and at P2\n\
                force P2: (2.2*sin(1.05*t), 9.13*cos(1.43*t))\n\
                start x0 = -0.54, y0 = -0.27, x1 = 0.67, y1 = 0.96, x2 = -0.46, y2 = -0.9\nrun 5\n";
    let (run, diagnostics) = run_and_notes(text, &[]);
    let stop = diagnostics.iter().find(|d| d.code == "Z610").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert!(stop.message.contains("no motion"), "{}", stop.message);
    assert_eq!(stop.notes.iter().filter(|note| note.contains("has the wrong sign")).count(), 2, "{:?}", stop.notes);
    assert!(run.cost().steps < 500, "{}", run.cost().steps);
}

/// Painlevé: a rod pushed tip first over a floor with friction has no motion, and pulled it has one.
#[test]
fn a_rod_that_digs_in_has_no_motion() {
    let text = "model \"rod\"\ncoordinates x, y, a\nparameter u = -3\nmass x, y: 1\nmass a: 1/3\nforce y: -9.81\n\
                point tip = (x - cos(a), y - sin(a))\n\
                contact floor: tip.y >= 0 with friction 2 and at tip\n\
                start x = 0, a = 1, y = sin(1), x' = u, a' = 0, y' = 0\nrun 0.1\n";
    let (pushed, diagnostics) = attempt_to(text, &[], 0.1);
    assert_eq!(pushed.unwrap().end().as_str(), "no-motion");
    assert!(diagnostics.iter().any(|d| d.code == "Z610"), "{diagnostics:#?}");
    let pulled = run_to(text, &["u=3"], 0.1);
    assert_eq!(*pulled.end(), End::Finished);
    assert!(pulled.audit().energy.drift < 1e-8, "{:?}", pulled.audit().energy);
}

/// The same rod turning with ω: free of the floor its tip would rise with ω² sin α − g > 0. Sliding is a motion as well, with N >
/// 0: friction presses the tip down by more than N lifts it.
#[test]
fn a_rod_that_may_lift_off_or_dig_in_has_two_motions() {
    let text = "model \"rod\"\ncoordinates x, y, a\nmass x, y: 1\nmass a: 1/3\nforce y: -9.81\n\
                point tip = (x - cos(a), y - sin(a))\n\
                contact floor: tip.y >= 0 with friction 2 and at tip\n\
                start x = 0, a = 1, y = sin(1), x' = -3, a' = -4, y' = -4*cos(1)\nrun 0.1\n";
    let (run, diagnostics) = run_and_notes(text, &[]);
    assert_eq!((run.end().as_str(), run.state().t), ("several-motions", 0.0), "{diagnostics:#?}");
    let stop = diagnostics.iter().find(|d| d.code == "Z610").unwrap_or_else(|| panic!("{diagnostics:#?}"));
    for mode in ["sliding", "open"] {
        assert!(stop.notes.iter().any(|n| n.contains(&format!("with `floor` {mode}: this satisfies"))), "{stop:#?}");
    }
}
