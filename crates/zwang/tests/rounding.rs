//! Decisions near rounding: relative to what enters them, and told where they are not clear.

use crate::common::{Random, attempt, checked, close, finished, loaded, messages};
use zwang::Overrides;

const ARM: &str = "model \"arm\"\nparameter l = 0.4, m = 2, g = 9.81, a = 0, b = 0, c = 0\ncoordinates q1, q2, q3\n\
    let x1 = l*cos(q1)\nlet z1 = l*sin(q1)\nlet x2 = x1 + l*cos(q1+q2)\nlet z2 = z1 + l*sin(q1+q2)\n\
    let x3 = x2 + l*cos(q1+q2+q3)\nlet z3 = z2 + l*sin(q1+q2+q3)\nparticle A at (x1, z1) with mass m\n\
    particle B at (x2, z2) with mass m\nparticle C at (x3, z3) with mass m\ngravity (0, -g)\n\
    control h1: q1 = a\ncontrol h2: q2 = b\ncontrol h3: q3 = c\nstart q1 = a, q2 = b, q3 = c\nrun 0.1\n";

/// Every joint of the arm has its motor, so any pose can be held, with any mass; the shoulder carries m g (x1 + x2 + x3).
#[test]
fn a_driven_arm_is_held_in_any_pose_with_any_mass() {
    let mut random = Random(7);
    let mut poses = vec![[0.0; 3]];
    poses.extend((0..60).map(|_| [(); 3].map(|()| 3.0 * random.next())));
    for (k, [a, b, c]) in poses.into_iter().enumerate() {
        for m in ["1", "2", "3", "0.7", "1e6"].iter().take(if k == 0 { 5 } else { 2 }) {
            let set = [format!("m={m}"), format!("a={a}"), format!("b={b}"), format!("c={c}")];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let run = finished(&format!("{ARM}output u = control(q1)\n"), &set);
            let xs = [a, a + b, a + b + c].map(f64::cos);
            let m: f64 = m.parse().unwrap();
            let wanted = m * 9.81 * 0.4 * (3.0 * xs[0] + 2.0 * xs[1] + xs[2]);
            let found = run.outputs()[0].values.unwrap().last;
            assert!((found - wanted).abs() < 1e-7 * m * 23.6, "{a} {b} {c}: {found} and {wanted}");
        }
    }
}

/// Rows that differ by 1e-10 of their size, where a row counts, are not said to give a unique motion.
#[test]
fn a_row_that_is_nearly_dependent_is_not_called_redundant() {
    let text = "model \"near\"\ncoordinates x, y\nmass x, y: 1\nforce x: 1\nforce y: 1\nconstraint a: x' = 0\n\
                constraint b: x' + D*y' = 0\nstart x = 0, y = 0\nrun 2\n";
    let (_, notes) = checked(&text.replace('D', "1e-10"), &Overrides::default());
    let note = notes.iter().find(|d| d.code == "Z310").unwrap();
    assert!(!note.notes.iter().any(|n| n.contains("unique")), "{note:#?}");
    assert!(note.notes.iter().any(|n| n.contains("1.0e-10")), "{note:#?}");
    let (_, notes) = checked(&text.replace('D', "0"), &Overrides::default());
    let note = notes.iter().find(|d| d.code == "Z310").unwrap();
    assert!(note.notes.iter().any(|n| n.contains("unique")), "{note:#?}");
    close(finished(&text.replace('D', "1e-6"), &[]).state().q[1], 0.0, 1e-9);
}

/// A mass by which numbers cannot divide is refused; one that only is small moves as any other.
#[test]
fn a_mass_below_the_smallest_numbers_is_refused() {
    let text = |m: &str| format!("model \"tiny\"\ncoordinates x\nmass x: {m}\nforce x: {m}\nstart x = 0\nrun 2\n");
    for m in ["1e-310", "1e-300"] {
        let (run, notes) = attempt(&text(m), &[]);
        assert!(
            run.is_none() && notes.iter().any(|d| d.code == "Z401" && d.message.contains("too small")),
            "{notes:#?}"
        );
    }
    for m in ["1e-280", "1e-30", "1e30"] {
        close(finished(&text(m), &[]).state().q[0], 2.0, 1e-9);
    }
}

/// A mass matrix that keeps only few digits is told, with its condition; one that is far from that is not.
#[test]
fn a_nearly_singular_mass_matrix_is_told() {
    let notes = |d: &str| {
        let text =
            format!("model \"m\"\ncoordinates x, y\nmass matrix = [1, 1; 1, 1 + {d}]\nstart x = 0, y = 0\nrun 1\n");
        checked(&text, &Overrides::default()).1
    };
    assert!(notes("1e-10").iter().any(|d| d.code == "Z618" && d.message.contains("4.0e10")), "{:#?}", notes("1e-10"));
    assert!(!notes("1e-4").iter().any(|d| d.code == "Z618"));
}

/// Friction on a surface that moves with time is not taken as if the surface were at rest; a stated slip says how it moves.
#[test]
fn friction_on_a_driven_surface_asks_for_the_slip() {
    let text = |with: &str| {
        format!(
            "model \"wire\"\nparameter R = 0.5, h = 0.2, w = 1\ncoordinates x, y, z\nparticle P at (x, y, z) with mass 1\n\
             gravity (0, 0, -9.81)\nconstraint wire: (x, y) = (R*cos(z/h + w*t), R*sin(z/h + w*t)) with friction 0.2{with}\n\
             start z = 0.9\nrun 0.5\n"
        )
    };
    let error = loaded(&text(""), &Overrides::default()).and_then(|system| system.check().map(|_| ())).unwrap_err();
    let found = messages(&error);
    assert!(found.iter().any(|d| d.code == "Z319" && d.message.contains("moves with time")), "{found:#?}");
    finished(&text(" and at P and slip P' - (-w*y, w*x, 0)"), &[]);
    // a plane that moves along its normal has no other velocity unless one is stated: a note
    let table = "model \"table\"\ncoordinates x, y\nparticle P at (x, y) with mass 1\ngravity (0, -10)\n\
                 constraint table: y = 0.1*t with friction 0.3\nstart x = 0, x' = 3\nrun 0.5\n";
    let (run, notes) = attempt(table, &[]);
    close(run.unwrap().state().qdot[0], 1.5, 1e-9);
    assert!(notes.iter().any(|d| d.code == "Z319"), "{notes:#?}");
}

/// The distance in the message belongs to the row that it names.
#[test]
fn a_start_misses_the_named_row_by_its_own_distance() {
    let text = "model \"go\"\ncoordinates x, y, z\nmass x, y, z: 1\nconstraint go: (x + y, y - z, z) = (1, 2, 3)\n\
                start x = 0, y = 0, z = 0\nrun 1\n";
    let (_, notes) = attempt(text, &[]);
    let found = notes.iter().find(|d| d.code == "Z201").unwrap();
    assert!(found.message.ends_with("`go.z` by 3"), "{found:#?}");
}

/// Where rounding of a stiff feedback limits the steps, the run says so and names a tolerance that can be met.
#[test]
fn a_tolerance_that_rounding_does_not_allow_is_told() {
    let text = "model \"held\"\ncoordinates q1, q2\n\
        particle elbow at 0.5*(cos(q1), sin(q1)) with mass 2\nparticle tip at elbow + 0.4*(cos(q1+q2), sin(q1+q2)) with mass 1.5\n\
        gravity (0, -9.81)\nforce q1: -1e5*(q1 - 0.5*sin(t)) - 10*q1'\nforce q2: -1e5*(q2 - 1) - 10*q2'\n\
        start q1 = 0, q2 = 1\nrun 3\n";
    let noted = |tolerance: f64| {
        let (_, notes) = crate::common::run_and_notes_at(text, tolerance);
        notes.iter().find(|d| d.code == "Z617").map(|d| d.help.join(" "))
    };
    assert!(noted(1e-11).is_some_and(|help| help.contains("1e-9")));
    assert_eq!(noted(1e-9), None);
}
