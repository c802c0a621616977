//! Nonideal laws next to contacts and constraints.

use crate::common::{all_close, attempt, close, finished, inspected, run_to};
use zwang::Overrides;

/// Where the law −|N| direction(v) ends at rest it goes back and forth: the run reports so and ends.
#[test]
fn a_law_of_directions_ends_where_it_sticks() {
    let text = "model \"law\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\nconstraint floor: y = 0\n\
                nonideal P: -0.3*|reaction(floor, P)|*direction(P')\nstart x = 0, x' = 3\nrun 2\n";
    let (found, diagnostics) = attempt(text, &[]);
    let found = found.unwrap();
    assert_eq!(found.end().as_str(), "sliding");
    close(found.state().t, 1.0, 1e-5);
    close(found.state().q[0], 1.5, 1e-8);
    assert!(diagnostics.iter().any(|d| d.code == "Z606"), "{diagnostics:#?}");
}

/// The same law driven by the normal force of a contact, in flight and on the floor: x' falls by 0.3·10 per second, only while it
/// touches.
#[test]
fn a_law_may_be_driven_by_a_contact() {
    let text = "model \"law\"\ncoordinates x, y\nparameter h = 0\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                contact floor: y >= 0\nnonideal P: -0.3*|reaction(floor, P)|*direction(P')\n\
                start x = 0, y = h, x' = 3\nrun 0.9\n";
    let slides = |t: f64| 3.0 * t - 1.5 * t * t;
    let found = finished(text, &[]);
    close(found.state().q[0], slides(0.9), 1e-9);
    // falls 0.5 s, then slides
    let found = finished(text, &["h=1.25"]);
    close(found.state().q[0], 1.5 + slides(0.4), 1e-8);
}

/// UK02: whatever w is, C = Aᵀw is taken back by the constraints; nothing moves differently and Qc_nonideal is zero.
#[test]
fn a_law_in_the_range_of_the_rows_changes_nothing() {
    let text = "model \"law\"\ncoordinates x, y, z\nparameter k = 1\nparticle P at (x, y, z) with mass 2\ngravity (0, 0, -9.81)\n\
                constraint ball: x^2 + y^2 + z^2 = 4\nconstraint blade: y' = z*x'\nLAW\
                start x = 0, y = 0, z = 2, x' = 1, y' = 2, z' = 0\nrun 3\n";
    // A = (2x, 2y, 2z) and (−z, 1, 0)
    let law = "let w = k*(3 + sin(5*t) + x'^2)\nlet u = k*(x*z' - 7)\n\
               nonideal x: 2*x*w - z*u\nnonideal y: 2*y*w + u\nnonideal z: 2*z*w\n";
    let free = run_to(&text.replace("LAW", ""), &[], 1.0);
    let bound = run_to(&text.replace("LAW", law), &[], 1.0);
    all_close(&bound.state().q, &free.state().q, 1e-9);
    all_close(&bound.state().qdot, &free.state().qdot, 1e-9);
    let parts = bound.audit().energy.parts.unwrap();
    close(parts.nonideal, 0.0, 1e-9);
    let found = inspected(&text.replace("LAW", law), &Overrides::default()).check.snapshot.found;
    assert!(found.nonideal_force.iter().any(|c| c.abs() > 1.0), "{:?}", found.nonideal_force);
    assert!(found.constraint_force_nonideal.iter().all(|c| c.abs() < 1e-12), "{:?}", found.constraint_force_nonideal);
}
