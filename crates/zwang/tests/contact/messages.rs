//! Inspection of contacts, starts that are refused, and mistakes in models.

use crate::common::{all_close, attempt, attempt_to, close, every_route_gives, inspected, model_text, run_and_notes};
use zwang::Overrides;

/// A start inside is refused with the nearest one outside, in the metric of the masses.
#[test]
fn a_start_inside_is_refused_with_the_nearest_one_outside() {
    let text = "model \"inside\"\ncoordinates x, y\nmass x: 1\nmass y: 3\ncontact slope: x + y >= 0\n\
                start x = 0, y = -4\nrun 1\n";
    let (run, diagnostics) = attempt_to(text, &[], 1.0);
    assert!(run.is_none());
    let inside = diagnostics.iter().find(|d| d.code == "Z203").unwrap();
    // λ = 4/(1 + 1/3) = 3 moves x by 3 and y by 1
    assert!(format!("{inside:?}").contains("start x = 3, y = -3"), "{inside:#?}");
}

/// The contact mode at a state, by every route: a box that lies on a slope slides on both feet with g (sin − μ cos).
#[test]
fn contacts_are_inspected_as_they_are() {
    let text = model_text("thrown_box");
    let set = ["mu=0.2".to_string()].to_vec();
    let start = ["y=0.3 m, a=0, x'=1 m/s, y'=0, a'=0".to_string()].to_vec();
    let found = inspected(&text, &Overrides { set, start });
    let (sin, cos) = (17f64.to_radians().sin(), 17f64.to_radians().cos());
    every_route_gives(&found, &[9.81 * (sin - 0.2 * cos), 0.0, 0.0], 1e-12);
    let snapshot = &found.check.snapshot.found;
    // the moment of friction about the centre: h μ m g cos, by feet at ±w
    let total = 9.81 * cos;
    let uneven = 0.3 * 0.2 * 9.81 * cos / 0.5;
    all_close(&snapshot.lambda_acting, &[(total - uneven) / 2.0, (total + uneven) / 2.0], 1e-12);
    close(snapshot.nonideal_force[0], -0.2 * total, 1e-12);
    assert_eq!(found.check.rank, 2);
    let modes: Vec<&str> = found.check.modes.iter().map(|(_, word)| *word).collect();
    assert_eq!(modes, ["closed", "closed", "slides", "slides"]);
}

/// A place that follows the surface and not the body moves along one line only; the normal force there is 0/0, which is reported.
#[test]
fn a_place_without_a_normal_force_is_reported() {
    let text = "model \"tip\"\ncoordinates x, y, θ\nparameter r = 0.3\nmass x, y: 1\nmass θ: r^2/2\nforce y: -10\n\
                let n = direction((x, y))\npoint D = (x, y) - r*n\n\
                contact tip: |(x, y)| >= r with friction 0.4 and slip x'*n.y - y'*n.x + r*θ' and at D\n\
                start x = 0.05, y = sqrt(r^2 - 0.0025), θ = 0, x' = 0, y' = 0, θ' = 0\nrun 0.5\n";
    let (_, diagnostics) = run_and_notes(text, &[]);
    assert!(diagnostics.iter().any(|d| d.code == "Z402"), "{diagnostics:#?}");
}

/// Mistakes in a model are reported with their place.
#[test]
fn mistakes_are_reported_with_their_place() {
    let particle = "coordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n";
    let floor = "constraint floor: y = 0";
    for (text, code, part) in [
        (
            format!("{particle}{floor} with friction 0.2 and sliding 0.5\nstart x = 0, x' = 1\nrun 1\n"),
            "Z320",
            "sliding",
        ),
        (format!("{particle}{floor}\nwhen t >= 0.5: y' = 2\nstart x = 1\nrun 1\n"), "Z615", "t >= 0.5"),
        (format!("{particle}contact f: y^3 >= 0\nstart x = 0, y = 1\nrun 3\n"), "Z603", "contact `f`"),
        (
            format!("{particle}contact f: y >= t\ncontact c: 1 >= y\nstart x = 0, y = 0.5\nrun 3\n"),
            "Z301",
            "contact `c`",
        ),
        (
            format!("{particle}constraint a: y = 1 - t\ncontact f: y >= 0\nstart x = 0\nrun 3\n"),
            "Z301",
            "constraint `a`",
        ),
    ] {
        let (_, diagnostics) = attempt(&format!("model \"m\"\n{text}"), &[]);
        let reported =
            diagnostics.iter().find(|d| d.code == code).unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
        assert!(reported.message.contains(part), "{reported:#?}");
        assert!(reported.span.is_some(), "{reported:#?}");
    }
}

/// From a start inside, approximate values move, and exact ones stay: y ~ 0 goes to x² = 1.
#[test]
fn the_nearest_start_outside_keeps_exact_values() {
    let text = "model \"start\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ncontact f: y >= x^2\n\
                start x = 1, y ~ 0\nrun 3\n";
    let (_, diagnostics) = attempt(text, &[]);
    let reported = diagnostics.iter().find(|d| d.code == "Z203").unwrap();
    assert!(reported.help.iter().any(|h| h.contains("x = 1, y = 1")), "{reported:#?}");
}

/// A ladder that slides at both ends: with C, the multipliers that act, and not the ideal ones, make up M q″ − Q.
#[test]
fn inspect_has_the_multipliers_that_act() {
    let text = "model \"ladder\"\ncoordinates x, y, th\nbody L at (x, y) turned by th with mass 10 and inertia 40/3\n\
                gravity (0, -10)\npoint foot = (x + 2*cos(th), y - 2*sin(th))\npoint top = (x - 2*cos(th), y + 2*sin(th))\n\
                contact floor: y - 2*sin(th) >= 0 with friction 0.2 and at foot\n\
                contact wall: x - 2*cos(th) >= 0 with friction 0.1 and at top\n\
                start th = 1, x = 2*cos(1), y = 2*sin(1)\nrun 1\noutput floor = lambda(floor)\n";
    let inspection = inspected(text, &Default::default());
    let (given, found) = (&inspection.check.snapshot.given, &inspection.check.snapshot.found);
    assert!((found.lambda_acting[0] - found.lambda[0]).abs() > 1.0);
    close(inspection.outputs[0].1.unwrap(), found.lambda_acting[0], 1e-12);
    for j in 0..3 {
        let rows = (0..found.lambda.len()).map(|i| {
            let (col, value) = given.constraint_matrix.row(i);
            col.iter().zip(value).filter(|(c, _)| **c == j).map(|(_, a)| a * found.lambda_acting[i]).sum::<f64>()
        });
        let force = given.given_force[j] + found.nonideal_force[j] + rows.sum::<f64>();
        close([10.0, 10.0, 40.0 / 3.0][j] * found.qddot[j], force, 1e-9);
    }
}
