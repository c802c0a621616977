//! Constraints that cannot hold together: exactly those are named that cannot, and only where they cannot.
//!
//! Every model is made of constraints whose contradiction is known by hand. The names must be the expected ones whatever the scale,
//! the order and the names of the constraints; each named constraint is left out in turn, and the rest must be accepted.

use crate::common::{checked, run_and_notes, run_as};
use zwang::Overrides;
use zwang::analysis::{Certainty, Contradiction};
use zwang::diagnostic::{Diagnostic, Diagnostics};
use zwang::model::Level;
use zwang::{Run, RunOptions};

/// A constraint: name, left side, right side.
type Equality = (&'static str, &'static str, &'static str);

struct Case {
    /// Everything but constraints.
    head: &'static str,
    constraints: &'static [Equality],
    level: Level,
    /// The rows that must be named.
    clash: &'static [&'static str],
}

/// One constraint as it is written in a variation of a case.
#[derive(Clone)]
struct Stated {
    name: String,
    left: String,
    right: String,
    /// Vectors are multiplied as a whole, so a scale fits them too.
    scale: Option<&'static str>,
}

fn text(head: &str, constraints: &[Stated]) -> String {
    let line = |c: &Stated| match c.scale {
        Some(s) => format!("constraint {}: {s}*({}) = {s}*({})\n", c.name, c.left, c.right),
        None => format!("constraint {}: {} = {}\n", c.name, c.left, c.right),
    };
    let lines: String = constraints.iter().map(line).collect();
    format!("{head}\n{lines}")
}

fn errors(diagnostics: &Diagnostics) -> Vec<&Diagnostic> {
    diagnostics.iter().filter(|d| d.is_error()).collect()
}

/// The one contradiction that a text must be refused for.
fn contradiction_of(text: &str) -> Contradiction {
    let (check, diagnostics) = checked(text, &Overrides::default());
    assert!(check.is_none(), "accepted:\n{text}");
    let errors = errors(&diagnostics);
    assert_eq!(errors.len(), 1, "{text}\n{diagnostics:#?}");
    assert_eq!(errors[0].code, "Z301", "{text}\n{errors:#?}");
    let shown = format!("{errors:?}");
    assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    let found = errors[0].contradiction.clone().unwrap_or_else(|| panic!("{text}\n{errors:#?}"));
    for clash in &found.clashes {
        assert!(errors[0].message.contains(&format!("`{}`", clash.name)), "{errors:#?}");
    }
    *found
}

fn names(found: &Contradiction) -> Vec<&str> {
    let mut names: Vec<&str> = found.clashes.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    names
}

fn assert_accepted(text: &str) {
    let (check, diagnostics) = checked(text, &Overrides::default());
    assert!(check.is_some(), "{text}\n{:#?}", errors(&diagnostics));
}

/// `pin` of `pin.x`.
fn constraint_of(row: &str) -> &str {
    row.split('.').next().unwrap_or(row)
}

/// The case as it is, scaled, reordered and renamed, and without each named constraint.
fn check(case: &Case) -> Contradiction {
    let plain: Vec<Stated> = case
        .constraints
        .iter()
        .map(|(name, left, right)| Stated {
            name: name.to_string(),
            left: left.to_string(),
            right: right.to_string(),
            scale: None,
        })
        .collect();
    let mut wanted: Vec<String> = case.clash.iter().map(|s| s.to_string()).collect();
    wanted.sort_unstable();

    let scaled = |first: &'static str, second: &'static str| -> Vec<Stated> {
        let each = plain.iter().cloned().enumerate();
        each.map(|(k, c)| Stated { scale: Some(if k % 2 == 0 { first } else { second }), ..c }).collect()
    };
    let reversed: Vec<Stated> = plain.iter().rev().cloned().collect();
    let mut turned = plain.clone();
    turned.rotate_left(1);
    for constraints in [&plain, &reversed, &turned, &scaled("1e6", "1e-6"), &scaled("1e-6", "-1e6")] {
        let text = text(case.head, constraints);
        let found = contradiction_of(&text);
        assert_eq!(names(&found), wanted, "{text}\n{found:#?}");
        assert_eq!((found.level, found.minimal), (case.level, true), "{text}\n{found:#?}");
        assert!(found.clashes.iter().all(|c| c.residual.is_some_and(|residual| residual != 0.0)), "{found:#?}");
    }
    let renamed: Vec<Stated> = plain.iter().map(|c| Stated { name: format!("z{}9", c.name), ..c.clone() }).collect();
    let found = contradiction_of(&text(case.head, &renamed));
    let wanted_renamed: Vec<String> = case.clash.iter().map(|row| renamed_row(row)).collect();
    let mut wanted_renamed = wanted_renamed;
    wanted_renamed.sort_unstable();
    assert_eq!(names(&found), wanted_renamed);

    for row in case.clash {
        let rest: Vec<Stated> = plain.iter().filter(|c| c.name != constraint_of(row)).cloned().collect();
        assert_accepted(&text(case.head, &rest));
    }
    contradiction_of(&text(case.head, &plain))
}

fn renamed_row(row: &str) -> String {
    let base = constraint_of(row);
    format!("z{base}9{}", &row[base.len()..])
}

/// lhs − rhs of a row if the others hold.
fn residual(found: &Contradiction, name: &str) -> f64 {
    found
        .clashes
        .iter()
        .find(|c| c.name == name)
        .and_then(|c| c.residual)
        .unwrap_or_else(|| panic!("{name}: {found:#?}"))
}

fn assert_close(found: f64, wanted: f64) {
    // searches end at 1e-12 of the sizes, near double roots at the root of that
    assert!((found - wanted).abs() <= 1e-5 * (1.0 + wanted.abs()), "{found} instead of {wanted}");
}

const LINE: &str = "coordinates x\nmass x: 1\nstart x ~ 0.3, x' ~ 0";
const PLANE: &str = "coordinates x, y\nmass x, y: 1\nstart x ~ 0.3, y ~ 0.4, x' ~ 0, y' ~ 0";
const SPACE: &str = "coordinates x, y, z\nmass x, y, z: 1\nstart x ~ 0.3, y ~ 0.4, z ~ 0.2, x' ~ 0, y' ~ 0, z' ~ 0";
const MANY: &str = "coordinates x, y, z, u, v, w\nmass x, y, z, u, v, w: 1
start x ~ 0.3, y ~ 0.4, z ~ 0.2, u ~ 1, v ~ 0.5, w ~ 0.8
start x' ~ 0, y' ~ 0, z' ~ 0, u' ~ 0, v' ~ 0, w' ~ 0";

use Level::{Acceleration, Position, Velocity};

mod positions {
    use super::*;

    #[test]
    fn two_values_of_one_coordinate() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("a", "x", "0"), ("b", "x", "1")],
            level: Position,
            clash: &["a", "b"],
        });
        // where x = 1 the first is off by 1, where x = 0 the second by −1
        assert_close(residual(&found, "a"), 1.0);
        assert_close(residual(&found, "b"), -1.0);
        assert_eq!((found.everywhere, found.surety), (Some(true), Certainty::Certain));
    }

    #[test]
    fn scaled_copies_with_different_right_sides() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("a", "2*x + 4*y", "0"), ("b", "3*x + 6*y", "3")],
            level: Position,
            clash: &["a", "b"],
        });
        assert_close(residual(&found, "a"), 2.0);
        assert_close(residual(&found, "b"), -3.0);
    }

    #[test]
    fn two_radii_of_one_circle() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("small", "x^2 + y^2", "1"), ("large", "x^2 + y^2", "1.44")],
            level: Position,
            clash: &["small", "large"],
        });
        assert_close(residual(&found, "small"), 0.44);
        assert_eq!(found.surety, Certainty::Certain);
    }

    const CYCLE: [Equality; 3] = [("a", "x - y", "0"), ("b", "y - z", "0"), ("c", "z - x", "1")];

    #[test]
    fn a_cycle_of_three_that_agrees_in_pairs() {
        check(&Case { head: SPACE, constraints: &CYCLE, level: Position, clash: &["a", "b", "c"] });
    }

    #[test]
    fn a_cycle_of_three_among_innocent_constraints() {
        let constraints =
            [("one", "u", "1"), CYCLE[0], ("ring", "v^2 + w^2", "0.89"), CYCLE[1], ("sum", "u + x", "1.5"), CYCLE[2]];
        check(&Case {
            head: MANY,
            constraints: Box::leak(Box::new(constraints)),
            level: Position,
            clash: &["a", "b", "c"],
        });
    }

    #[test]
    fn three_lines_without_a_common_point() {
        check(&Case {
            head: PLANE,
            constraints: &[("a", "x + y", "1"), ("b", "x - y", "1"), ("c", "x", "2")],
            level: Position,
            clash: &["a", "b", "c"],
        });
    }

    const ROD: [Equality; 3] =
        [("first", "x^2 + y^2", "1"), ("second", "(u - x)^2 + (v - y)^2", "1"), ("third", "u^2 + v^2", "9")];

    /// 1 + 1 < 3: the triangle inequality.
    #[test]
    fn rods_that_make_no_triangle() {
        let head = "coordinates x, y, u, v\nmass x, y, u, v: 1
start x ~ 0.8, y ~ 0.5, u ~ 2, v ~ 1, x' ~ 0, y' ~ 0, u' ~ 0, v' ~ 0";
        let found = check(&Case { head, constraints: &ROD, level: Position, clash: &["first", "second", "third"] });
        assert_eq!(found.surety, Certainty::Certain);
        // where the first two hold, the third reaches 2 at most: 4 − 9
        assert_close(residual(&found, "third"), -5.0);
    }

    #[test]
    fn rods_stated_by_their_lengths_make_no_triangle_either() {
        let head = "coordinates x, y, u, v\nmass x, y, u, v: 1\npoint P = (x, y)\npoint Q = (u, v)
start x ~ 0.8, y ~ 0.5, u ~ 2, v ~ 1, x' ~ 0, y' ~ 0, u' ~ 0, v' ~ 0";
        let constraints = [("first", "|P|", "1"), ("second", "|Q - P|", "1"), ("third", "|Q|", "3")];
        let constraints = Box::leak(Box::new(constraints));
        let found = check(&Case { head, constraints, level: Position, clash: &["first", "second", "third"] });
        assert_close(residual(&found, "third"), -1.0);
    }

    #[test]
    fn circles_apart() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("left", "x^2 + y^2", "1"), ("right", "(x - 3)^2 + y^2", "1")],
            level: Position,
            clash: &["left", "right"],
        });
        // from (1, 0) the right one is 2 away: 4 − 1
        assert_close(residual(&found, "right"), 3.0);
        assert_eq!(found.surety, Certainty::Certain);
    }

    #[test]
    fn a_circle_inside_another() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("outer", "x^2 + y^2", "9"), ("inner", "(x - 1)^2 + y^2", "1")],
            level: Position,
            clash: &["outer", "inner"],
        });
        assert_eq!(found.surety, Certainty::Certain);
    }

    #[test]
    fn a_sphere_and_a_plane_beyond_it() {
        check(&Case {
            head: SPACE,
            constraints: &[("sphere", "x^2 + y^2 + z^2", "1"), ("plane", "x + y + z", "2")],
            level: Position,
            clash: &["sphere", "plane"],
        });
    }

    const POINT: [Equality; 3] = [("ring", "x^2 + y^2", "1"), ("diagonal", "x", "y"), ("wall", "x", "0.5")];

    /// The diagonal leaves the ring at x = ±√½, not at ½.
    #[test]
    fn a_ring_a_line_and_a_wall_that_meet_in_pairs() {
        check(&Case { head: PLANE, constraints: &POINT, level: Position, clash: &["ring", "diagonal", "wall"] });
    }

    #[test]
    fn the_same_among_innocent_constraints() {
        let constraints =
            [("one", "u", "1"), POINT[0], ("more", "u + v", "1.5"), POINT[1], POINT[2], ("cup", "w", "x^2 + y^2")];
        let constraints = Box::leak(Box::new(constraints));
        check(&Case { head: MANY, constraints, level: Position, clash: &["ring", "diagonal", "wall"] });
    }

    #[test]
    fn a_constraint_that_is_impossible_by_itself() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("line", "x", "y"), ("none", "x^2 + y^2", "-1")],
            level: Position,
            clash: &["none"],
        });
        assert_eq!(found.surety, Certainty::Certain);
    }

    /// A search proves nothing, and the message says so.
    #[test]
    fn a_sine_above_one_was_only_searched_for() {
        let found =
            check(&Case { head: LINE, constraints: &[("high", "sin(x)", "2")], level: Position, clash: &["high"] });
        assert!(matches!(found.surety, Certainty::Searched { .. }));
        assert_close(residual(&found, "high"), -1.0);
    }

    /// Close to x = 0 the slope of √x is arbitrarily large, and √x + 1 is still not zero.
    #[test]
    fn a_steep_root_that_stays_positive_is_not_zero() {
        for start in ["1", "0.01", "100"] {
            let text = format!("coordinates x\nmass x: 1\nconstraint low: sqrt(x) = -1\nstart x ~ {start}");
            assert_eq!(names(&contradiction_of(&text)), ["low"]);
        }
    }

    /// x = e⁻⁴⁰ is a start, however steep log is there; x = 10⁻¹² is nearer to it than the tolerance and is moved there, x = 10⁻⁶ is
    /// refused.
    #[test]
    fn a_start_at_a_steep_place_is_found_or_refused() {
        let from = |start: &str| {
            checked(
                &format!("coordinates x\nmass x: 1\nconstraint deep: log(x) = -40\nstart x {start}"),
                &Overrides::default(),
            )
        };
        for start in ["~ 1", "= 1e-12"] {
            let (check, diagnostics) = from(start);
            let check = check.unwrap_or_else(|| panic!("{start}: {diagnostics:#?}"));
            assert_close(check.state.q[0].ln(), -40.0);
        }
        let (check, diagnostics) = from("= 1e-6");
        assert!(check.is_none());
        assert_eq!(errors(&diagnostics)[0].code, "Z201", "{diagnostics:#?}");
    }

    /// Lengths of any size: what is a clash for metres is one for picometres, and a start that is off is off.
    #[test]
    fn no_verdict_on_a_start_depends_on_the_size_of_the_model() {
        for size in ["1e6", "1", "1e-3", "1e-6", "1e-9", "1e-12"] {
            let head = format!("parameter u = {size} m\ncoordinates x, y\nmass x, y: 1 kg\n");
            let clash = format!("{head}constraint a: x = u/2\nconstraint b: x = u\nstart x ~ 0 m, y = 0 m");
            assert_eq!(names(&contradiction_of(&clash)), ["a", "b"], "{size}");
            let circles = format!(
                "{head}constraint a: x^2 + y^2 = u^2\nconstraint b: (x - 2.001*u)^2 + y^2 = u^2\nstart x ~ u, y ~ 0*u"
            );
            assert_eq!(names(&contradiction_of(&circles)), ["a", "b"], "{size}");
            let (_, diagnostics) =
                checked(&format!("{head}constraint a: y = u/2\nstart x = 0 m, y = 0 m"), &Overrides::default());
            assert_eq!(errors(&diagnostics)[0].code, "Z201", "{size}");
            assert_accepted(&format!("{head}constraint a: x^2 + y^2 = u^2\nstart x = 0.6*u, y ~ 0.7*u"));
        }
    }

    /// log(x) has no value at x = −1, and no number is made up for it.
    #[test]
    fn a_formula_without_a_value_is_no_number() {
        let text = "coordinates x, y\nmass x, y: 1\nconstraint a: log(x) = y\nconstraint b: x = -1\nstart x ~ 1, y ~ 0";
        let found = contradiction_of(text);
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found.clashes[0].residual, None);
    }

    #[test]
    fn rows_of_vectors_are_named() {
        check(&Case {
            head: PLANE,
            constraints: &[("pin", "(x, y)", "(0, 0)"), ("wall", "x", "1")],
            level: Position,
            clash: &["pin.x", "wall"],
        });
        check(&Case {
            head: SPACE,
            constraints: &[("pin", "(x, y, z)", "(0, 0, 0)"), ("hook", "(x, y, z)", "(0, 1, 0)")],
            level: Position,
            clash: &["pin.y", "hook.y"],
        });
    }

    #[test]
    fn the_time_at_which_constraints_can_first_hold_is_reported() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("drive", "x", "t"), ("stop", "x", "0.52")],
            level: Position,
            clash: &["drive", "stop"],
        });
        assert_eq!(found.everywhere, Some(false));
        assert_close(found.agrees_at.unwrap(), 0.52);
    }

    #[test]
    fn constraints_that_run_side_by_side_never_meet() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("one", "x", "t"), ("two", "x", "t + 1")],
            level: Position,
            clash: &["one", "two"],
        });
        assert_eq!((found.everywhere, found.agrees_at), (Some(true), None));
    }

    /// x = 0 and x = 1 are enough, although x = 0, y = 0, x + y = 2 contradict each other too.
    #[test]
    fn the_smaller_set_is_named() {
        check_names(
            PLANE,
            &["constraint a: x = 0", "constraint b: y = 0", "constraint c: x + y = 2", "constraint d: x = 1"],
            &["a", "d"],
        );
    }

    /// Two rings of different size round one point, behind a triangle that cannot be closed.
    #[test]
    fn the_smaller_set_is_named_where_it_is_not_linear() {
        check_names(
            "coordinates x, y, u, v\nmass x, y, u, v: 1\nstart x ~ 0.8, y ~ 0.5, u ~ 2, v ~ 1",
            &[
                "constraint first: x^2 + y^2 = 1",
                "constraint second: (u - x)^2 + (v - y)^2 = 1",
                "constraint third: u^2 + v^2 = 9",
                "constraint fourth: x^2 + y^2 = 1.5",
            ],
            &["first", "fourth"],
        );
    }

    fn check_names(head: &str, lines: &[&str], wanted: &[&str]) {
        let mut order: Vec<&str> = lines.to_vec();
        for _ in 0..lines.len() {
            let found = contradiction_of(&format!("{head}\n{}", order.join("\n")));
            assert_eq!(names(&found), wanted, "{order:?}");
            order.rotate_left(1);
        }
    }

    #[test]
    fn units_change_the_numbers_shown_and_nothing_else() {
        let model = |right: &str| {
            format!(
                "coordinates x, y\nparameter a = 0 m, b = {right}\nmass x, y: 1 kg\nconstraint rail: y = a
constraint shelf: y = b\nstart x = 0 m, y ~ 0 m"
            )
        };
        for right in ["50 cm", "0.5 m", "500 mm"] {
            let found = contradiction_of(&model(right));
            assert_eq!(names(&found), ["rail", "shelf"]);
            assert_close(residual(&found, "rail"), 0.5);
        }
        let (_, diagnostics) = checked(&model("50 cm"), &Overrides::default());
        assert!(errors(&diagnostics)[0].label.contains("0.5 m"), "{diagnostics:#?}");
    }
}

mod velocities {
    use super::*;

    #[test]
    fn two_speeds() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("a", "x'", "1"), ("b", "x'", "2")],
            level: Velocity,
            clash: &["a", "b"],
        });
        assert_close(residual(&found, "a"), 1.0);
        assert_eq!((found.everywhere, found.surety), (Some(true), Certainty::Certain));
    }

    #[test]
    fn scaled_speeds() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("a", "2*x' + 2*y'", "2"), ("b", "5*x' + 5*y'", "4")],
            level: Velocity,
            clash: &["a", "b"],
        });
        // x' + y' is 1 or 0.8
        assert_close(residual(&found, "a"), -0.4);
        assert_close(residual(&found, "b"), 1.0);
    }

    #[test]
    fn a_cycle_of_three_among_innocent_constraints() {
        check(&Case {
            head: MANY,
            constraints: &[
                ("one", "u'", "v'"),
                ("a", "x' - y'", "0"),
                ("b", "y' - z'", "0"),
                ("ring", "v^2 + w^2", "0.89"),
                ("c", "z' - x'", "1"),
                ("two", "u' + x'", "0.5"),
            ],
            level: Velocity,
            clash: &["a", "b", "c"],
        });
    }

    #[test]
    fn a_servo_against_a_wall() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("wall", "x", "0"), ("servo", "x'", "0.1"), ("floor", "y", "0")],
            level: Velocity,
            clash: &["wall", "servo"],
        });
        assert_eq!(found.everywhere, Some(true));
    }

    #[test]
    fn a_speed_limit_that_is_exceeded() {
        let found = check(&Case {
            head: "coordinates x, y\nmass x, y: 1\nstart x = 0, y = 0, x' ~ 1, y' ~ 0.5",
            constraints: &[("speed", "x'^2 + y'^2", "1"), ("drive", "x'", "2")],
            level: Velocity,
            clash: &["speed", "drive"],
        });
        assert_eq!(found.surety, Certainty::Certain);
    }

    #[test]
    fn three_that_agree_in_pairs_where_one_is_not_linear() {
        check(&Case {
            head: "coordinates x, y\nmass x, y: 1\nstart x = 0, y = 0, x' ~ 0.3, y' ~ 0.5",
            constraints: &[("speed", "x'^2 + y'^2", "1"), ("both", "x'", "y'"), ("drive", "x'", "0.5")],
            level: Velocity,
            clash: &["speed", "both", "drive"],
        });
    }

    #[test]
    fn a_wheel_that_must_roll_spin_and_stand() {
        check(&Case {
            head: "coordinates x, φ\nparameter r = 0.3\nmass x, φ: 1\nstart x = 0, φ = 0, x' ~ 0, φ' ~ 0",
            constraints: &[("roll", "x'", "r*φ'"), ("spin", "φ'", "1"), ("stand", "x'", "0")],
            level: Velocity,
            clash: &["roll", "spin", "stand"],
        });
    }

    /// x = t and x = 2 t agree at t = 0 as positions; their velocities are 1 and 2 at all times.
    #[test]
    fn positions_that_agree_at_the_start_only() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("slow", "x", "t"), ("fast", "x", "2*t")],
            level: Velocity,
            clash: &["slow", "fast"],
        });
        assert_close(residual(&found, "slow"), 1.0);
    }

    /// x = 0 implies x' = 0, so x' = y needs y = 0: possible elsewhere, not here.
    #[test]
    fn a_contradiction_only_at_these_positions() {
        let found = check(&Case {
            head: "coordinates x, y\nmass x, y: 1\nstart x ~ 0, y = 1, x' ~ 0, y' ~ 0",
            constraints: &[("wall", "x", "0"), ("drive", "x'", "y")],
            level: Velocity,
            clash: &["wall", "drive"],
        });
        assert_eq!(found.everywhere, Some(false));
    }
}

mod accelerations {
    use super::*;

    #[test]
    fn two_accelerations() {
        let found = check(&Case {
            head: LINE,
            constraints: &[("one", "x''", "1"), ("two", "x''", "2")],
            level: Acceleration,
            clash: &["one", "two"],
        });
        assert_close(residual(&found, "one"), 1.0);
        assert_eq!(found.everywhere, Some(true));
    }

    #[test]
    fn scaled_accelerations() {
        let found = check(&Case {
            head: PLANE,
            constraints: &[("one", "2*x'' - 2*y''", "2"), ("two", "3*x'' - 3*y''", "6")],
            level: Acceleration,
            clash: &["one", "two"],
        });
        assert_close(residual(&found, "one"), 2.0);
        assert_close(residual(&found, "two"), -3.0);
    }

    #[test]
    fn a_cycle_of_three_among_innocent_constraints() {
        check(&Case {
            head: MANY,
            constraints: &[
                ("one", "u''", "v''"),
                ("a", "x'' - y''", "0"),
                ("ring", "v^2 + w^2", "0.89"),
                ("b", "y'' - z''", "0"),
                ("c", "z'' - x''", "1"),
                ("two", "u' + x'", "0.5"),
            ],
            level: Acceleration,
            clash: &["a", "b", "c"],
        });
    }

    #[test]
    fn a_push_against_a_wall() {
        check(&Case {
            head: PLANE,
            constraints: &[("wall", "x", "0"), ("push", "x''", "1"), ("floor", "y", "0")],
            level: Acceleration,
            clash: &["wall", "push"],
        });
    }

    #[test]
    fn a_velocity_and_an_acceleration() {
        check(&Case {
            head: LINE,
            constraints: &[("ramp", "x'", "t"), ("push", "x''", "2")],
            level: Acceleration,
            clash: &["ramp", "push"],
        });
    }

    /// Positions, velocities and accelerations: x + y = 0, y' = 0, x'' = 1.
    #[test]
    fn one_of_each_level() {
        check(&Case {
            head: PLANE,
            constraints: &[("sum", "x + y", "0"), ("still", "y'", "0"), ("push", "x''", "1")],
            level: Acceleration,
            clash: &["sum", "still", "push"],
        });
    }

    /// On a ring of radius 1 at speed 1 the acceleration towards the centre is 1, so x'' = −1 at x = 1 and never 0.
    #[test]
    fn a_contradiction_only_at_this_state() {
        let found = check(&Case {
            head: "coordinates x, y\nmass x, y: 1\nstart x ~ 1, y = 0, x' ~ 0, y' = 1",
            constraints: &[("ring", "x^2 + y^2", "1"), ("straight", "x''", "0")],
            level: Acceleration,
            clash: &["ring", "straight"],
        });
        assert_eq!(found.everywhere, Some(false));
    }

    /// x = 0 together with x' = y implies y = 0 and so y' = 0.
    #[test]
    fn a_start_that_leaves_a_hidden_condition() {
        check(&Case {
            head: "coordinates x, y\nmass x, y: 1\nstart x ~ 0, y = 0, x' ~ 0, y' = 1",
            constraints: &[("wall", "x", "0"), ("drive", "x'", "y")],
            level: Acceleration,
            clash: &["wall", "drive"],
        });
    }
}

mod motions {
    use super::*;

    fn moved(text: &str) -> (Run, Diagnostics) {
        let (run, diagnostics) = run_as(text, &Overrides::default(), &RunOptions::default());
        (run.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}")), diagnostics)
    }

    /// The run must stop at this time, with exactly these rows; what was found until then is kept.
    fn check(text: &str, t: f64, wanted: &[&str]) {
        let (run, diagnostics) = moved(text);
        assert_eq!(run.end().as_str(), "contradiction", "{text}\n{diagnostics:#?}");
        let error = errors(&diagnostics)[0];
        let found = error.contradiction.as_ref().unwrap_or_else(|| panic!("{error:#?}"));
        assert_eq!(names(found), wanted, "{error:#?}");
        assert!((found.t - t).abs() <= 1e-9, "{}", found.t);
        // it is seen when the gap between accelerations, (t − t0)² at least, is 1e-8
        assert!((run.state().t - t).abs() <= 1e-4, "{}", run.state().t);
        assert!(error.notes.iter().any(|note| note.starts_with("stopped at t = ")), "{error:#?}");
        let times = &run.samples().column("t").unwrap().values;
        // a row every thousandth, and one at the stop unless that falls on one
        let last = *times.last().unwrap();
        assert!(times.len() >= (1000.0 * t) as usize && (last - run.state().t).abs() < 1e-12, "{last}");
    }

    #[test]
    fn positions_that_part_at_052() {
        for power in [2, 3, 4] {
            check(
                &format!(
                    "coordinates x, y\nmass x, y: 1\nforce y: -y\nconstraint rail: x = t
constraint belt: x = t + max(t - 0.52, 0)^{power}\nstart x = 0, y = 1, x' = 1\nrun 1"
                ),
                0.52,
                &["belt", "rail"],
            );
        }
    }

    #[test]
    fn three_that_part_at_052_among_innocent_ones() {
        check(
            "coordinates x, y, z, u, v\nmass x, y, z, u, v: 1\nforce x: 1
constraint a: x - y = 0\nconstraint rod: u^2 + v^2 = 1\nconstraint b: y - z = 0\nconstraint c: 1e6*(z - x) = 1e6*max(t - 0.52, 0)^3
start x = 0, y = 0, z = 0, u = 1, v = 0, v' = 2\nrun 1",
            0.52,
            &["a", "b", "c"],
        );
    }

    #[test]
    fn velocities_that_part_at_052() {
        check(
            "coordinates x, y\nmass x, y: 1\nconstraint one: x' = 1\nconstraint two: x' = 1 + max(t - 0.52, 0)^2
start x = 0, y = 0, y' = 1\nrun 1",
            0.52,
            &["one", "two"],
        );
    }

    #[test]
    fn velocities_that_jump_apart_at_052() {
        check(
            "coordinates x, y\nmass x, y: 1\nconstraint one: x' = 0\nconstraint two: x' = (if t > 0.52 then 1 else 0)
start x = 0, y = 0, y' = 1\nrun 1",
            0.52,
            &["one", "two"],
        );
    }

    /// A parameter changes, so that no velocities satisfy both; the reported state is the one before.
    #[test]
    fn an_event_that_takes_two_velocities_apart() {
        let text = "coordinates x, y\nparameter k = 0\nmass x, y: 1\nconstraint one: x' = 0\nconstraint two: x' = k
when t >= 0.52: k = 1\nstart x = 0, y = 0, y' = 1\nrun 1";
        check(text, 0.52, &["one", "two"]);
        assert_eq!(moved(text).0.state().qdot, [0.0, 1.0]);
    }

    #[test]
    fn accelerations_that_jump_apart_at_052() {
        check(
            "coordinates x, y\nmass x, y: 1\nconstraint one: x'' = 0\nconstraint two: x'' = (if t > 0.52 then 1 else 0)
start x = 0, y = 0, y' = 1\nrun 1",
            0.52,
            &["one", "two"],
        );
    }

    /// y = t reaches the place at t = 0.52.
    #[test]
    fn constraints_that_part_at_a_position() {
        check(
            "coordinates x, y\nmass x, y: 1\nconstraint one: x' = 0\nconstraint two: x' = max(y - 0.52, 0)^2
start x = 0, y = 0, y' = 1\nrun 1",
            0.52,
            &["one", "two"],
        );
    }

    #[test]
    fn a_contradiction_that_an_earlier_event_removes_is_not_reported() {
        for condition in ["t", "y"] {
            for law in ["max(s - 0.5, 0)^2", "(if s > 0.5 then 1 else 0)", "max(s - 0.5, 0)"] {
                let law = law.replace("(s", &format!("({condition}")).replace("if s", &format!("if {condition}"));
                let text = format!(
                    "coordinates x, y\nparameter k = 1\nmass x, y: 1\nconstraint a: x' = 0\nconstraint b: x' = k*{law}
when {condition} >= 0.5: k = 0\nstart x = 0, y = 0, y' = 1\nrun 1"
                );
                let (run, diagnostics) = moved(&text);
                assert_eq!(run.end().as_str(), "finished", "{text}\n{diagnostics:#?}");
                assert_close(run.state().q[1], 1.0);
                assert!(run.state().q[0].abs() < 1e-9, "{:?}", run.state());
            }
        }
    }

    #[test]
    fn a_contradiction_before_an_event_is_found_before_it() {
        check(
            "coordinates x, y\nparameter k = 1\nmass x, y: 1\nconstraint a: x' = 0\nconstraint b: x' = k*max(t - 0.3, 0)^2
when t >= 0.5: k = 0\nstart x = 0, y = 0, y' = 1\nrun 1",
            0.3,
            &["a", "b"],
        );
    }

    #[test]
    fn fixed_and_stiff_methods_stop_too() {
        for (method, off) in [("stiff", 1e-6), ("order5", 1e-6), ("rattle", 2e-2)] {
            let (run, diagnostics) = moved(&format!(
                "coordinates x, y\nmass x, y: 1\nforce y: -y\nconstraint rail: x = t
constraint belt: x = t + max(t - 0.52, 0)^3\nstart x = 0, y = 1, x' = 1\nrun 1 with method {method} and step 0.01"
            ));
            assert_eq!(run.end().as_str(), "contradiction", "{method}: {diagnostics:#?}");
            let found = errors(&diagnostics)[0].contradiction.clone().unwrap();
            assert_eq!(names(&found), ["belt", "rail"], "{method}");
            assert!((found.t - 0.52).abs() <= off && run.state().t <= 0.521, "{method}: {}", found.t);
        }
    }

    /// x = 0 together with x' = y implies y = 0, from which the force drives the motion away.
    #[test]
    fn a_hidden_condition_is_reported_and_then_stops_the_run() {
        let text = "coordinates x, y\nmass x, y: 1\nforce y: 1\nconstraint wall: x = 0\nconstraint drive: x' = y
start x = 0, y = 0\nrun 1";
        let (_, diagnostics) = checked(text, &Overrides::default());
        let warning = diagnostics.iter().find(|d| d.code == "Z308").unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert!(warning.message.contains("`wall`") && warning.message.contains("`drive`"), "{warning:#?}");
        assert!(warning.message.contains("y = 0"), "{warning:#?}");
        let (run, diagnostics) = moved(text);
        assert_eq!(run.end().as_str(), "contradiction", "{diagnostics:#?}");
        assert!(run.state().t < 1e-6);
        let found = errors(&diagnostics)[0].contradiction.clone().unwrap();
        assert_eq!(names(&found), ["drive", "wall"]);
    }

    /// However small the speeds, and however the rows are scaled: no position enters, so none is reported to matter.
    #[test]
    fn small_velocities_that_contradict_do_so_everywhere() {
        for speed in ["1e-9", "1e-6", "1", "1e6"] {
            for scale in ["1e-6", "1000", "1e6"] {
                let text = format!(
                    "coordinates x, y\nparameter c = {speed}\nmass x, y: 1\nconstraint a: x' = c
constraint b: {scale}*x' = 2*{scale}*c\nstart x = 0, y = 0"
                );
                let found = contradiction_of(&text);
                assert_eq!(names(&found), ["a", "b"], "{speed} {scale}");
                assert_ne!(found.everywhere, Some(false), "{speed} {scale}");
            }
        }
    }

    #[test]
    fn velocities_that_agree_at_the_start_only_are_reported() {
        let text = "coordinates x, y\nmass x, y: 1\nconstraint one: x' = 1\nconstraint two: 2*x' = 2 + t^4
start x = 0, y = 0, x' = 1\nrun 1";
        let (_, diagnostics) = checked(text, &Overrides::default());
        let warning = diagnostics.iter().find(|d| d.code == "Z308").unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert!(warning.message.contains("agree at t = 0 but not"), "{warning:#?}");
        let (run, diagnostics) = moved(text);
        assert_eq!(run.end().as_str(), "contradiction", "{diagnostics:#?}");
        // t³/2·4 is seen when it is 1e-8
        assert!(run.state().t < 0.01, "{}", run.state().t);
    }

    /// Position constraints whose first derivatives agree at the start part by t³ or t⁴ later.
    #[test]
    fn positions_that_agree_at_the_start_only_are_reported() {
        let pairs = [("1 - cos(t)", "t^2/2"), ("sin(t)", "t"), ("t^2", "t^2 + t^3"), ("sin(t)", "tanh(t)")];
        for (one, two) in pairs {
            let text = format!(
                "coordinates x, y\nmass x, y: 1\nconstraint one: x = {one}\nconstraint two: 3*x = 3*({two})
start x ~ 0, y = 0, x' ~ 0, y' = 0\nrun 1"
            );
            let (_, diagnostics) = checked(&text, &Overrides::default());
            let warning = diagnostics.iter().find(|d| d.code == "Z308").unwrap_or_else(|| panic!("{diagnostics:#?}"));
            assert!(warning.message.contains("agree at t = 0 but not"), "{warning:#?}");
            let (run, diagnostics) = moved(&text);
            assert_eq!(run.end().as_str(), "contradiction", "{text}\n{diagnostics:#?}");
        }
    }

    /// y = t goes where one of two constraints that agreed so far leaves the other with the second or third power.
    #[test]
    fn constraints_that_let_nothing_pass() {
        for (power, scale) in [(2, 1.0), (3, 1.0), (2, 1e6)] {
            let (run, diagnostics) = moved(&format!(
                "coordinates x, y\nmass x, y: 1\nconstraint rail: x = 0\nconstraint innocent: 2*x = 0
constraint bend: {scale}*x = {scale}*max(0, y - 0.52)^{power}\nstart x = 0, y = 0, y' = 1\nrun 1"
            ));
            let error = errors(&diagnostics)[0];
            let found = error.contradiction.as_ref().unwrap_or_else(|| panic!("{error:#?}"));
            assert!(names(found).len() == 2 && names(found).contains(&"bend"), "{error:#?}");
            assert!((run.state().t - 0.52).abs() < 1e-6 && (found.t - 0.52).abs() < 1e-6, "{error:#?}");
            // further on x = 0 and y = t: the bend is off by (y − 0.52)^power
            let (later, residuals) = found.later.as_ref().unwrap();
            let bend = found.clashes.iter().position(|c| c.name == "bend").unwrap();
            let gap = scale * (later - 0.52).powi(power);
            assert!((residuals[bend] + gap).abs() < 1e-6 * gap, "{gap} {residuals:?}");
        }
    }

    #[test]
    fn a_hidden_condition_between_an_acceleration_and_a_position_is_reported() {
        let text = "coordinates x, y\nmass x, y: 1\nconstraint wall: x = 0\nconstraint drive: x'' = 2*y
start x = 0, y = 0";
        let (_, diagnostics) = checked(text, &Overrides::default());
        let warning = diagnostics.iter().find(|d| d.code == "Z308").unwrap_or_else(|| panic!("{diagnostics:#?}"));
        assert!(warning.message.contains("imply y = 0"), "{warning:#?}");
    }
}

mod no_false_alarms {
    use super::*;

    /// Constraints that repeat each other, in every disguise: no contradiction, no hidden condition, and the run goes through.
    const HARMLESS: [&str; 14] = [
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1\nconstraint again: 2*x^2 + 2*y^2 = 2
start x = 1, y = 0",
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1
constraint again: (1 + x^2)*(x^2 + y^2 - 1) = 0\nstart x = 1, y = 0",
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint rod: x^2 + y^2 = 1\nconstraint again: sqrt(x^2 + y^2) = 1
start x = 0.6, y = 0.8",
        "coordinates x, y\nmass x, y: 1\nconstraint speed: x'^2 + y'^2 = 1\nconstraint again: 1e6*(x'^2 + y'^2) = 1e6
start x = 0, y = 0, x' = 0.6, y' = 0.8",
        "coordinates x, y, z\nmass x, y, z: 1\nforce x: 1\nconstraint blade: y' = z*x'\nconstraint again: (1 + x^2)*(y' - z*x') = 0
start x = 0, y = 0, z = 1, x' = 1, y' = 1, z' = 0.1",
        "coordinates x, y\nmass x, y: 1\nforce y: 1\nconstraint drive: x = t\nconstraint rate: x' = 1\nstart x = 0, y = 0, x' = 1",
        "coordinates x, y\nmass x, y: 1\nforce y: 1\nconstraint drive: x = sin(t)\nconstraint rate: x' = cos(t)
constraint push: x'' = -sin(t)\nstart x = 0, y = 0, x' = 1",
        "coordinates x, y, z\nmass x, y, z: 1\nforce x: 1\nconstraint a: x - y = 1\nconstraint b: y - z = 2\nconstraint c: x - z = 3
start x = 3, y = 2, z = 0",
        "coordinates x, y\nmass x, y: 1\nconstraint a: x = 0\nconstraint b: x + 1e-7*y = 0\nstart x = 0, y = 0",
        "coordinates x, y\nmass x, y: 1\nforce x: 1\nconstraint a: 1e8*(x + y) = 3e8\nconstraint b: 1e-8*(x + y) = 3e-8
start x = 1, y = 2",
        "coordinates x, y\nmass x, y: 1\nforce y: 1\nconstraint wall: x = 0\nconstraint drive: x' = y\nconstraint further: y = 0
start x = 0, y = 0",
        "coordinates x, y, u, v\nmass x, y, u, v: 1\nforce y: -1\nconstraint rod: (x, y) = (u, v)
constraint length: (x - u)*x + (y - v)*y = 0\nstart x = 1, y = 0, u = 1, v = 0",
        "coordinates x, y\nmass x, y: 1\nforce y: 1\nconstraint a: x = 1e6 + t\nconstraint b: 3*x = 3e6 + 3*t
start x = 1e6, y = 0, x' = 1",
        "coordinates x, y, z\nmass x, y, z: 1\nforce z: 1\nconstraint a: x' - t*y' = 0\nconstraint b: (1 + t^2)*x' - t*(1 + t^2)*y' = 0
start x = 0, y = 0, z = 0, y' = 1",
    ];

    #[test]
    fn constraints_that_repeat_each_other_are_accepted_and_moved() {
        for text in HARMLESS {
            let text = format!("{text}\nrun 2");
            let (run, diagnostics) = run_and_notes(&text, &[]);
            assert_eq!(run.end().as_str(), "finished", "{text}\n{diagnostics:#?}");
            let alarms: Vec<&Diagnostic> = diagnostics.iter().filter(|d| ["Z301", "Z308"].contains(&d.code)).collect();
            assert!(alarms.is_empty(), "{text}\n{alarms:#?}");
        }
    }

    #[test]
    fn no_model_of_the_gallery_hides_a_condition() {
        for (name, text) in crate::common::gallery() {
            let (_, diagnostics) = checked(&text, &Overrides::default());
            let alarm = diagnostics.iter().find(|d| ["Z301", "Z308"].contains(&d.code));
            assert!(alarm.is_none(), "{name}: {alarm:#?}");
        }
    }

    /// A start that is only off is no contradiction, however far.
    #[test]
    fn a_start_far_off_is_reported_as_such() {
        let text = "coordinates x, y\nmass x, y: 1\nconstraint rod: x^2 + y^2 = 1\nstart x = 100, y = 7";
        let (_, diagnostics) = checked(text, &Overrides::default());
        assert_eq!(errors(&diagnostics)[0].code, "Z201", "{diagnostics:#?}");
    }
}
