//! Dependence of rows: redundant rows, the forces that remain determined, and the number of freedoms.

use crate::common::{Random, checked, model_text};
use zwang::analysis::{Evidence, Mobility};
use zwang::diagnostic::Severity;
use zwang::{Check, Overrides};

fn check(text: &str) -> Check {
    let (check, diagnostics) = checked(text, &Overrides::default());
    check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"))
}

fn check_from(name: &str, start: &str) -> Check {
    let overrides = Overrides { start: vec![start.to_string()], ..Overrides::default() };
    let (check, diagnostics) = checked(&model_text(name), &overrides);
    check.unwrap_or_else(|| panic!("{name}\n{diagnostics:#?}"))
}

/// Two constraints on a point of the plane, at (3, 4)/5 of the unit circle.
fn circle_and(second: &str) -> Check {
    check(&format!(
        "coordinates x, y\nparameter k = 3\nmass x, y: 1\nforce y: -9.81\nconstraint circle: x^2 + y^2 = 1\n\
         constraint twice: {second}\nstart x = 0.6, y = 0.8, x' = 0.8, y' = -0.6\n"
    ))
}

/// The one redundant row: its formula and the evidence for it.
fn formula(check: &Check) -> (Option<&str>, Evidence) {
    assert_eq!((check.rank, check.redundant.len()), (1, 1), "{:?}", check.redundant);
    let r = &check.redundant[0];
    assert_eq!(r.everywhere, Some(true), "{r:?}");
    (r.formula.as_deref(), r.evidence)
}

/// Multiples by numbers, parameters and functions are found as formulas and proved by division.
#[test]
fn a_multiple_of_a_constraint_is_proved_with_its_factor() {
    for (second, expected) in [
        ("2*(x^2 + y^2) = 2", "2*circle"),
        ("k*x^2 + k*y^2 = k", "k*circle"),
        ("(1 + x^2)*(x^2 + y^2 - 1) = 0", "(x^2 + 1)*circle"),
        ("x^4 + x^2*y^2 - x^2 + x^2 + y^2 = 1", "(x^2 + 1)*circle"),
        ("exp(x)*(x^2 + y^2) = exp(x)", "exp(x)*circle"),
        ("x*x' + y*y' = 0", "circle'/2"),
    ] {
        let check = circle_and(second);
        let (text, evidence) = formula(&check);
        assert_eq!(evidence, Evidence::Proved, "{second}: {:?}", check.redundant);
        assert_eq!(text, Some(expected), "{second}");
        assert!(check.constraints.iter().all(|c| c.essential == Some(false)), "{second}");
        assert_eq!(check.removable, [1], "{second}");
    }
}

/// A length and its square: u - 1 = (√u - 1)(√u + 1).
#[test]
fn a_length_is_its_square_in_disguise() {
    let check = circle_and("sqrt(x^2 + y^2) = 1");
    let (text, evidence) = formula(&check);
    assert_eq!(evidence, Evidence::Proved, "{:?}", check.redundant);
    assert!(text.is_some_and(|t| t.contains("circle")), "{text:?}");
    assert!((check.redundant[0].depends_on[0].1 - 0.5).abs() < 1e-12);
}

/// sin(2 y) = 2 sin(y) cos(y) and exp(2 y) = exp(y)² are proved; an identity unknown to the algebra is tested at random states:
/// log(y²) = 2 log(y).
#[test]
fn unproved_identities_are_tested_at_random_states() {
    for (once, again, start, wanted) in [
        ("sin(2*y)", "6*sin(y)*cos(y)", "sin(1)", Evidence::Proved),
        ("exp(2*y)", "3*exp(y)^2", "exp(1)", Evidence::Proved),
        ("log(y^2)", "6*log(y)", "2*log(0.5)", Evidence::Held(8)),
    ] {
        let check = check(&format!(
            "coordinates x, y\nmass x, y: 1\nconstraint once: x = {once}\nconstraint again: 3*x = {again}\n\
             start x = {start}, y = 0.5\n",
        ));
        let (text, evidence) = formula(&check);
        assert_eq!((text, evidence), (Some("3*once"), wanted), "{:?}", check.redundant);
    }
}

/// A knife edge and the same with tan: one row, factor 1/cos.
#[test]
fn a_knife_edge_in_disguise_is_the_same_knife_edge() {
    let model = |second: &str, turn: usize| {
        let second = if second.is_empty() { String::new() } else { format!("constraint disguised: {second}\n") };
        check(&format!(
            "coordinates x, y, a\nmass x, y, a: 1\nforce x: 1\nconstraint edge: y'*cos(a) = x'*sin(a)\n{second}start x = 0, y = 0, a = 0.4, x' = 2*cos(0.4), y' = 2*sin(0.4), a' = {turn}\n"
        ))
    };
    for second in ["y' = x'*tan(a)", "y'*cos(a)^2 = x'*sin(a)*cos(a)", "y'*(1 - sin(a)^2) = x'*sin(a)*cos(a)"] {
        let check = model(second, 1);
        assert_eq!(check.rank, 1, "{second}");
        assert_eq!(check.redundant[0].evidence, Evidence::Proved, "{second}: {:?}", check.redundant);
        assert_eq!(check.redundant[0].everywhere, Some(true));
        // x'' = cos(a) (F cos(a) - ...): one independent row moves as the single knife edge does
        let alone = model("", 1);
        assert!(crate::common::relative(&check.snapshot.found.qddot, &alone.snapshot.found.qddot) < 1e-12, "{second}");
    }
    // the same line at the start, another one elsewhere
    let other = model("y' = x'*tan(0.4)", 0);
    assert_eq!(other.redundant[0].everywhere, Some(false));
    assert_eq!((other.freedom.here, other.freedom.general), (2, Some(1)));
}

/// Sums of rows: the combination that was written is the combination that is found.
#[test]
fn a_sum_of_rows_gives_back_its_coefficients() {
    let check = check_from("redundant_pendulum", "x=0.6, y=0, z=-0.8, x'=1.6, z'=1.2");
    let formulas: Vec<_> = check.redundant.iter().map(|r| (r.row.as_str(), r.formula.as_deref().unwrap())).collect();
    assert_eq!(formulas[0], ("doubled", "2*sphere"));
    assert_eq!(formulas[1..], [("added", "sphere + plane"), ("mixed", "-sphere/2 + 3*plane")]);
    assert!(check.redundant.iter().all(|r| r.evidence == Evidence::Proved));
    // each of the five could go alone, three of them together
    assert!(check.constraints.iter().all(|c| c.essential == Some(false)));
    assert_eq!(check.removable.len(), 3);
    let family = &check.determinacy.families[0];
    assert_eq!((family.directions.len(), family.determined.len()), (3, 2));
}

/// Factors that contain parameters and coordinates come out of a division by several rows.
#[test]
fn factors_of_several_rows_are_formulas() {
    let check = check(
        "coordinates x, y, z\nparameter k = 0.35, h = 2.7\nmass x, y, z: 1\nconstraint a: x^2 + y = 1\nconstraint b: x*y + z = 0\n\
         constraint c: k*x^2 + k*y + h*x*y + h*z = k\nconstraint d: x^3 + 2*x*y + z = x\nstart x = 0.5, y = 0.75, z = -0.375\n",
    );
    let formulas: Vec<_> = check.redundant.iter().map(|r| (r.formula.as_deref(), r.evidence)).collect();
    assert_eq!(formulas, [(Some("k*a + h*b"), Evidence::Proved), (Some("x*a + b"), Evidence::Proved)]);
}

/// Rows that agree in all but their last digits are reported.
#[test]
fn an_unclear_rank_is_reported() {
    let reported = |second: &str| {
        let text = format!(
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint a: x + y = 0\nconstraint b: {second} = 0\nstart x = 0, y = 0, z = 1\n"
        );
        checked(&text, &Overrides::default()).1.iter().any(|d| d.code == "Z318")
    };
    assert!(reported("x + 1.00000001*y"));
    assert!(!reported("x + 1.01*y") && !reported("x + y"));
}

/// Rows that are dependent only here are distinguished from rows that are dependent everywhere; freedoms nearby are counted.
#[test]
fn before_at_and_after_a_singular_position() {
    // four-bar: all bars flat, so that the three lengths give the same equation for x
    let flat = "x[0]=1, y[0]=0, x[1]=2, y[1]=0, x[2]=3, y[2]=0, x[0]'=0, x[1]'=0, x[2]'=0, y[0]'=0, y[1]'=0, y[2]'=0";
    let at = check_from("four_bar_row", flat);
    assert_eq!((at.freedom.here, at.freedom.general, at.freedom.mobility), (3, Some(1), Mobility::Singular));
    assert!(at.redundant.iter().all(|r| r.everywhere == Some(false)), "{:?}", at.redundant);
    assert!(at.constraints.iter().all(|c| c.essential == Some(true)));
    for angle in [0.3, 0.01, -0.01, -0.3_f64] {
        let (c, s) = (angle.cos(), angle.sin());
        let start: Vec<String> =
            (0..3).map(|i| format!("x[{i}]={}, y[{i}]={s}, x[{i}]'=0, y[{i}]'=0", f64::from(i) + c)).collect();
        let beside = check_from("four_bar_row", &start.join(", "));
        assert_eq!((beside.freedom.here, beside.freedom.mobility), (1, Mobility::Regular), "at angle {angle}");
        assert!(beside.redundant.is_empty());
    }
    // the parallelogram in one line: crossed and parallel motion meet
    let at = check_from("crossed_parallelogram", "x1=1, y1=0, x2=3, y2=0, x1'=0, y1'=0, x2'=0, y2'=0");
    assert_eq!((at.freedom.here, at.freedom.general, at.freedom.mobility), (2, Some(1), Mobility::Singular));
    // equal arms upright: the slider could rest while both arms turn as one rod
    let at = check_from("slider_crank_dead_centre", "a=pi/2, b=-pi/2, x=0, a'=0, b'=0, x'=0");
    assert_eq!((at.freedom.here, at.freedom.general, at.freedom.mobility), (2, Some(1), Mobility::Singular));
    let beside = check_from("slider_crank_dead_centre", "a=pi/2-0.01, b=-pi/2+0.01, x=2*l*sin(0.01), a'=0, b'=0, x'=0");
    assert_eq!((beside.freedom.here, beside.freedom.mobility), (1, Mobility::Regular));
}

/// Bricard: five coordinates and five equations nevertheless leave one freedom everywhere.
#[test]
fn bricard_moves_although_the_count_of_equations_forbids_it() {
    for (name, counted) in [("bricard", 0), ("bricard_bodies", 0)] {
        let check = check(&model_text(name));
        let freedom = &check.freedom;
        assert_eq!((freedom.counted, freedom.here, freedom.general), (counted, 1, Some(1)), "{name}");
        assert_eq!(freedom.mobility, Mobility::Regular, "{name}");
        assert!(freedom.n_states >= 4, "{name}: {freedom:?}");
        assert!(check.redundant.iter().all(|r| r.everywhere == Some(true)), "{name}: {:?}", check.redundant);
    }
}

/// Two rods in one line have a velocity across and no motion; with rods a little longer they are rigid; with one rod they turn.
#[test]
fn a_shaky_structure_is_not_a_mechanism() {
    let rods = |extra: &str| {
        check(&format!("coordinates x, y\nmass x, y: 1\nconstraint left: x^2 + y^2 = 1\n{extra}\nstart x = 1, y = 0\n"))
    };
    let shaky = rods("constraint right: (x - 2)^2 + y^2 = 1");
    assert_eq!((shaky.freedom.here, shaky.freedom.general, shaky.freedom.mobility), (1, Some(0), Mobility::Shaky));
    assert_eq!(shaky.redundant[0].evidence, Evidence::NoOtherPosition);
    assert!(shaky.constraints.iter().all(|c| c.essential.is_none()));
    let free = rods("constraint right: 4*x^2 + 4*y^2 = 4");
    assert_eq!((free.freedom.here, free.freedom.general, free.freedom.mobility), (1, Some(1), Mobility::Regular));
    let fixed = rods("constraint right: x + y = 1\nconstraint third: x - 2*y = 1");
    assert_eq!((fixed.freedom.here, fixed.freedom.mobility), (0, Mobility::Fixed));
    assert!(fixed.constraints.iter().all(|c| c.essential == Some(false)), "{:?}", fixed.constraints);
}

/// A table on four legs: equilibrium gives three equations, so of four forces three sums are determined and one is not.
#[test]
fn four_legs_share_a_load_in_a_way_statics_cannot_tell() {
    let table = |feet: &str, outputs: &str| {
        check(&format!(
            "coordinates z, a, b\nmass z: 10\nmass a, b: 1\nforce z: -98.1\nforce a: -2\n{feet}\n{outputs}\nstart z = 0, a = 0, b = 0\n"
        ))
    };
    let four = "constraint leg1: z + a + b = 0\nconstraint leg2: z + a - b = 0\nconstraint leg3: z - a - b = 0\nconstraint leg4: z - a + b = 0";
    let outputs = "output one = lambda(leg1)\noutput sum = lambda(leg1) + lambda(leg2) + lambda(leg3) + lambda(leg4)\n\
                   output tilt = lambda(leg1) + lambda(leg2)\noutput across = lambda(leg1) + lambda(leg3)\n\
                   output size = |lambda(leg2)|\noutput height = z";
    let check = table(four, outputs);
    let family = &check.determinacy.families[0];
    assert_eq!((family.rows.len(), family.directions.len(), family.determined.len()), (4, 1, 3));
    // (1, -1, 1, -1) makes no force: the diagonals against each other
    let direction = &family.directions[0];
    let entry = |name: &str| direction.iter().find(|(n, _)| n == name).unwrap().1;
    let y = ["leg1", "leg2", "leg3", "leg4"].map(entry);
    assert!(y.iter().zip([1.0, -1.0, 1.0, -1.0]).all(|(a, b)| (a - b * y[0]).abs() < 1e-12), "{y:?}");
    let verdict = |name: &str| check.determinacy.quantities.iter().find(|q| q.name == name).map(|q| q.here);
    assert_eq!(verdict("one"), Some(false));
    assert_eq!(verdict("sum"), Some(true));
    assert_eq!(verdict("tilt"), Some(true));
    assert_eq!(verdict("across"), Some(false));
    assert_eq!(verdict("size"), Some(false));
    assert_eq!(verdict("height"), None);
    // the determined values are the right ones: the weight, and half of it shifted by the moment
    let lambda = &check.snapshot.found.lambda;
    assert!((lambda.iter().sum::<f64>() - 98.1).abs() < 1e-10);
    assert!((lambda[0] + lambda[1] - (98.1 + 2.0) / 2.0).abs() < 1e-10);
    let three = four.lines().take(3).collect::<Vec<_>>().join("\n");
    let check = table(&three, "output one = lambda(leg1)");
    assert!(check.determinacy.families.is_empty() && check.determinacy.quantities.is_empty());
}

/// The determined sums really are: every shortest or shifted solution gives the same value, by Aᵀy = 0.
#[test]
fn every_determined_sum_is_orthogonal_to_every_free_direction() {
    for name in ["redundant_pendulum", "double_pendulum_redundant", "bricard", "bricard_bodies"] {
        let check = check(&model_text(name));
        let m = check.equations.rows.len();
        let mut counted = 0;
        for family in &check.determinacy.families {
            assert_eq!(family.rows.len(), family.directions.len() + family.determined.len(), "{name}");
            counted += family.directions.len();
            for direction in &family.directions {
                for sum in &family.determined {
                    let product: f64 = sum
                        .iter()
                        .map(|(n, c)| c * direction.iter().find(|(k, _)| k == n).map_or(0.0, |(_, y)| *y))
                        .sum();
                    assert!(product.abs() < 1e-9, "{name}: {sum:?} along {direction:?}");
                }
            }
        }
        assert_eq!(counted, m - check.rank, "{name}");
    }
}

/// A multiplier that is one of a family only in a singular position is determined along the motion.
#[test]
fn a_singular_position_leaves_the_reactions_determined_elsewhere() {
    let text = format!("{}\noutput pull = lambda(crank1)\n", model_text("crossed_parallelogram"));
    let start = vec!["x1=1, y1=0, x2=3, y2=0, x1'=0, y1'=0, x2'=0, y2'=0".to_string()];
    let (check, _) = checked(&text, &Overrides { start, ..Overrides::default() });
    let check = check.unwrap();
    let pull = check.determinacy.quantities.iter().find(|q| q.name == "pull").unwrap();
    assert_eq!((pull.here, pull.general), (false, Some(true)));
    assert!(!check.determinacy.is_choice("pull") && check.determinacy.is_choice_here("pull"));
}

/// The power of one of two drives that push the same way is their choice; that of a rail at rest is zero whatever it carries.
#[test]
fn the_power_of_a_shared_drive_is_not_determined() {
    let check = check(
        "coordinates x, y\nmass x, y: 1\nforce y: -9.81\nconstraint drive: x = sin(t)\nconstraint helper: 2*x = 2*sin(t)\n\
         constraint rail: y = 0\nconstraint second: 3*y = 0\noutput one = power(drive)\noutput none = power(rail)\noutput done = work(drive)\noutput idle = work(rail)\n\
         output all = power(drive) + power(helper)\noutput total = 3*work(helper) + 3*work(drive)\noutput half = work(drive) + 2*work(helper)\n\
         output both = lambda(drive) + 2*lambda(helper)\nstart x = 0, y = 0, x' = 1, y' = 0\n",
    );
    let verdict =
        |name: &str| check.determinacy.quantities.iter().find(|q| q.name == name).map(|q| (q.here, q.general));
    assert_eq!(verdict("one"), Some((false, Some(false))));
    assert_eq!(verdict("none"), Some((true, Some(true))));
    assert_eq!(verdict("both"), Some((true, Some(true))));
    assert_eq!((verdict("done"), verdict("idle")), (Some((false, Some(false))), Some((true, Some(true)))));
    // together they do what the motion needs, and only in equal parts
    assert_eq!((verdict("all"), verdict("total")), (Some((true, Some(true))), Some((true, Some(true)))));
    assert_eq!(verdict("half"), Some((false, Some(false))));
}

/// x = t and x = sin(t) agree at t = 0 alone: none of them is called superfluous.
#[test]
fn rows_that_time_takes_apart_are_both_needed() {
    let check = check(
        "coordinates x\nmass x: 1\nconstraint even: x = t\nconstraint wave: x = sin(t)\nstart x ~ 0, x' ~ 1\nrun 1",
    );
    assert!(check.removable.is_empty());
    assert!(check.constraints.iter().all(|c| c.essential != Some(false)));
}

/// The verdicts, which must not depend on how a model is written down.
#[derive(Debug, PartialEq)]
struct Verdicts {
    rank: usize,
    n_redundant: usize,
    general: Option<usize>,
    mobility: Mobility,
    families: Vec<(usize, usize)>,
    essential: Vec<(String, Option<bool>)>,
}

fn verdicts(check: &Check) -> Verdicts {
    let mut families: Vec<(usize, usize)> =
        check.determinacy.families.iter().map(|f| (f.rows.len(), f.directions.len())).collect();
    families.sort_unstable();
    let mut essential: Vec<(String, Option<bool>)> =
        check.constraints.iter().map(|c| (c.name.clone(), c.essential)).collect();
    essential.sort();
    Verdicts {
        rank: check.rank,
        n_redundant: check.redundant.len(),
        general: check.freedom.general,
        mobility: check.freedom.mobility,
        families,
        essential,
    }
}

/// Scaling rows by a million, reordering them, and measuring in other units changes no verdict.
#[test]
fn no_verdict_depends_on_scale_order_or_units() {
    // a point on a circle in a plane, stated redundantly, in units of 1/u
    let rows = [
        ("sphere", "x^2 + y^2 + z^2 - r^2"),
        ("plane", "z - k*x"),
        ("both", "x^2 + y^2 + z^2 - r^2 + r*(z - k*x)"),
        ("disguised", "(r^2 + x^2)*(z - k*x)"),
        ("needed", "y - r/2"),
    ];
    let model = |scales: [f64; 5], order: [usize; 5], u: f64, with: usize| {
        let mut text = format!("coordinates x, y, z\nparameter r = {u}, k = 0.5\nmass x, y, z: {}\n", 1.0 / (u * u));
        for i in order.into_iter().filter(|i| *i < with) {
            text.push_str(&format!("constraint {}: {:e}*({}) = 0\n", rows[i].0, scales[i], rows[i].1));
        }
        // 1.25 x² + y² = r² with y = r/2
        let x = (0.75_f64 / 1.25).sqrt();
        text.push_str(&format!("start x = {}, y = {}, z = {}\n", x * u, 0.5 * u, 0.5 * x * u));
        check(&text)
    };
    let mut random = Random(7);
    for with in [4, 5] {
        let plain = verdicts(&model([1.0; 5], [0, 1, 2, 3, 4], 1.0, with));
        assert_eq!((plain.rank, plain.n_redundant), (with - 2, 2));
        for _ in 0..12 {
            let scales = [0; 5].map(|_| 10.0_f64.powf(6.0 * random.next()));
            let mut order = [0, 1, 2, 3, 4];
            (1..5).rev().for_each(|i| order.swap(i, (random.next().abs() * (i + 1) as f64) as usize));
            let u = 10.0_f64.powf(6.0 * random.next());
            let other = verdicts(&model(scales, order, u, with));
            assert_eq!(plain, other, "scales {scales:?}, order {order:?}, unit {u}");
        }
    }
}

/// A squared constraint cannot be judged from its row, which vanishes wherever it holds; a special state is something else.
#[test]
fn a_square_is_not_judged_by_its_row_and_a_special_state_is() {
    let never = checked(
        "coordinates x, y\nmass x, y: 1\nconstraint squared: (x - y)^2 = 0\nconstraint line: x = y\nstart x = 1, y = 1\n",
        &Overrides::default(),
    );
    let text = format!("{:?}", never.1);
    assert!(text.contains("cannot be judged from its row"), "{text}");
    let essential: Vec<_> = never.0.unwrap().constraints.iter().map(|c| c.essential).collect();
    assert_eq!(essential, [None, Some(true)]);
    let crossed = checked(
        "coordinates x, y\nmass x, y: 1\nconstraint wires: x*y = 0\nstart x = 0, y = 0, x' = 1, y' = 0\n",
        &Overrides::default(),
    );
    assert!(!format!("{:?}", crossed.1).contains("cannot be judged"));
    let freedom = crossed.0.unwrap().freedom;
    assert_eq!((freedom.here, freedom.general, freedom.mobility), (2, Some(1), Mobility::Singular));
}

/// Thousands of repeated rods are proved one by one, and the answer comes within seconds.
#[test]
fn three_thousand_rods_stated_twice_are_proved() {
    let text = format!("{}constraint again[i in 1..n]: 2*|P[i] - P[i-1]| = 2*l\n", model_text("chain"));
    let overrides = Overrides { set: vec!["n=3000".into()], ..Overrides::default() };
    let begin = std::time::Instant::now();
    let check = checked(&text, &overrides).0.unwrap();
    let took = begin.elapsed().as_secs_f64();
    assert_eq!((check.rank, check.redundant.len()), (3000, 3000));
    assert!(check.redundant.iter().all(|r| r.evidence == Evidence::Proved));
    assert_eq!(check.redundant[0].formula.as_deref(), Some("2*link[1]"));
    assert_eq!((check.freedom.general, check.freedom.mobility), (Some(3000), Mobility::Regular));
    assert_eq!(check.removable.len(), 3000);
    assert!(took < 20.0, "{took} s");
}

/// `true` if no row is called superfluous and no freedoms are claimed for the neighbourhood.
fn claims_nothing(check: &Check) -> bool {
    check.removable.is_empty()
        && check.constraints.iter().all(|c| c.essential != Some(false))
        && check.redundant.iter().all(|r| r.everywhere != Some(true))
        && check.freedom.mobility != Mobility::Regular
}

/// z = 0 and z = x^p meet in x = 0 alone, however closely they touch and however they are scaled: both are needed.
#[test]
fn constraints_that_touch_closely_are_not_taken_for_the_same() {
    for power in [2, 3, 4, 6, 8] {
        for k in [1.0, 7.0, 1e6, 1e-6] {
            for (more, at) in [(", y", ", y = 1"), ("", "")] {
                let text = format!(
                    "coordinates x, z{more}\nmass x, z{more}: 1\nforce x: 1\nconstraint a: z = 0\n\
                     constraint b: {k:e}*z = {k:e}*x^{power}\nstart x = 0, z = 0{at}\n"
                );
                let check = check(&text);
                assert!(claims_nothing(&check), "{text}\n{:?} {:?}", check.redundant, check.freedom);
                assert!(check.redundant.iter().all(|r| r.everywhere != Some(false)), "{text}");
            }
        }
    }
    // the circle and its parabola agree to third order
    let check = check(
        "coordinates x, y\nmass x, y: 1\nconstraint circle: x^2 + y^2 = 1\nconstraint para: y = 1 - x^2/2\nstart x = 0, y = 1\n",
    );
    assert!(claims_nothing(&check), "{:?}", check.redundant);
}

/// Two circles that touch do so wherever both hold, whatever else is free: no state nearby has another rank.
#[test]
fn a_shaky_pair_with_free_coordinates_is_no_singular_position() {
    for more in ["w", "u, v, w"] {
        let check = check(&format!(
            "coordinates x, y, {more}\nmass x, y, {more}: 1\nconstraint left: x^2 + y^2 = 1\n\
             constraint right: (x - 2)^2 + y^2 = 1\nstart x = 1, y = 0, w = 0{}\n",
            if more == "w" { "" } else { ", u = 5, v = 1" }
        ));
        assert!(claims_nothing(&check), "{:?} {:?}", check.redundant, check.freedom);
        assert_eq!(check.redundant[0].everywhere, None, "{:?}", check.redundant);
        assert_ne!(check.freedom.mobility, Mobility::Singular);
    }
}

/// x = cos a, y = sin a imply the circle everywhere: one row too many at a = 0 as elsewhere, in every order.
#[test]
fn rows_that_change_partners_are_no_singular_position() {
    let rows = ["tether: x^2 + y^2 = 1", "px: x = cos(a)", "py: y = sin(a)"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let stated: String = order.iter().map(|i| format!("constraint {}\n", rows[*i])).collect();
        let text = format!("coordinates x, y, a\nmass x, y, a: 1\n{stated}start x = 1, y = 0, a = 0\n");
        let (found, diagnostics) = checked(&text, &Overrides::default());
        let found = found.unwrap();
        assert!(
            !diagnostics.iter().any(|d| d.severity == zwang::diagnostic::Severity::Warning),
            "{text}\n{diagnostics:#?}"
        );
        assert_eq!((found.freedom.here, found.freedom.general), (1, Some(1)), "{text}");
        assert_eq!(found.redundant.len(), 1);
        assert_eq!(found.redundant[0].everywhere, Some(true), "{text}\n{:?}", found.redundant);
        // without py the rows of the others are the same at a = 0
        let essential = |name: &str| found.constraints.iter().find(|c| c.name == name).unwrap().essential;
        assert_eq!([essential("tether"), essential("px"), essential("py")], [Some(false), Some(false), Some(true)]);
        assert_eq!(found.removable.len(), 1, "{text}");
    }
}

/// A row that is removable elsewhere may be needed here, and a row that vanishes here is not judged.
#[test]
fn removable_rows_are_tested_at_this_state_too() {
    let essential = |text: &str| {
        let check = check(text);
        let removable: Vec<String> = check.removable.iter().map(|c| check.constraints[*c].name.clone()).collect();
        (check.constraints.iter().map(|c| c.essential).collect::<Vec<_>>(), removable.join(" "))
    };
    // b = x y a vanishes on the axis
    let found = essential(
        "coordinates x, y\nmass x, y: 1\nconstraint a: x^2 + y^2 = 1\nconstraint b: x*y*(x^2 + y^2) = x*y\nstart x = 1, y = 0\n",
    );
    assert_eq!(found, (vec![Some(true), None], String::new()));
    let found = essential(
        "coordinates x, y, u, v\nmass x, y, u, v: 1\nconstraint a: u + v = 0\nconstraint b: u - v = 0\n\
         constraint k: x*(u + v) + y*(u - v) = 0\nstart x = 0, y = 0, u = 0, v = 0\n",
    );
    assert_eq!(found, (vec![Some(true), Some(true), None], String::new()));
    // k is a where h = 0, so that a could go and b could not
    let found = essential(
        "coordinates x, y, h\nmass x, y, h: 1\nconstraint a: x' = 0\nconstraint b: y' = 0\n\
         constraint k: cos(h)*x' + sin(h)*y' = 0\nstart x = 0, y = 0, h = 0, h' = 1\n",
    );
    assert_eq!(found, (vec![Some(false), Some(true), Some(false)], "k".into()));
}

/// Squares and cubes hold a point although their rows vanish where they do.
#[test]
fn a_row_that_vanishes_is_never_called_superfluous() {
    for (constraint, rates) in [
        ("x^2 + y^2 = 0", ""),
        ("x^3 = 0", ""),
        ("1e6*x^3 = 0", ""),
        ("x'^2 + y'^2 = 0", ", z' = 1"),
        ("(x' - y')^3 = 0", ", x' = 1, y' = 1"),
    ] {
        let text = format!(
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint c: {constraint}\nstart x = 0, y = 0, z = 2{rates}\n"
        );
        let (found, diagnostics) = checked(&text, &Overrides::default());
        let found = found.unwrap_or_else(|| panic!("{text}{diagnostics:#?}"));
        assert!(claims_nothing(&found), "{text}{:?}", found.freedom);
        assert_eq!(found.constraints[0].essential, None, "{text}");
        assert!(!format!("{diagnostics:?}").contains("never acts"), "{text}");
    }
}

/// x = 0 and x + y = 0 are two rows whatever the mass of y is; if the digits cannot show it, the message says so.
#[test]
fn masses_far_apart_make_no_row_superfluous() {
    for (mass, is_clear) in [(1.0, true), (1e6, true), (1e22, false), (6e24, false), (1e30, false)] {
        let text = format!(
            "coordinates x, y\nmass x: 1\nmass y: {mass:e}\nconstraint a: x = 0\nconstraint b: x + y = 0\nstart x = 0, y = 0\n"
        );
        let (found, diagnostics) = checked(&text, &Overrides::default());
        let found = found.unwrap();
        assert!(found.redundant.is_empty() && found.removable.is_empty(), "{mass:e}: {:?}", found.redundant);
        assert!(found.constraints.iter().all(|c| c.essential != Some(false)));
        let reported = diagnostics.iter().any(|d| d.code == "Z318" && d.message.contains("1 or 2"));
        assert_eq!(reported, !is_clear, "{mass:e}: {diagnostics:#?}");
    }
}

/// x'' = 0 together with x = 0: the same row, and reported as such.
#[test]
fn factors_that_stay_the_same_are_not_called_other_factors() {
    let text = "coordinates x, y\nmass x, y: 1\nconstraint a: x'' = 0\nconstraint b: x = 0\nstart x = 0, y = 0\n";
    let reported = format!("{:?}", checked(text, &Overrides::default()).1);
    assert!(reported.contains("held at 8 random states") && !reported.contains("other factors"), "{reported}");
}

/// 2 x is the sum of x + y and x - y, in whatever unit these are written.
#[test]
fn a_proof_does_not_depend_on_the_scale_of_rows() {
    for (k, l) in [(1.0, 1.0), (1e6, 1e-6), (1e-6, 1e6), (3e5, 7e-4)] {
        let check = check(&format!(
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint a: {k:e}*(x + y) = 0\nconstraint b: {l:e}*(x - y) = 0\n\
             constraint c: 2*x = 0\nstart x = 0, y = 0, z = 0\n"
        ));
        assert_eq!(check.redundant.len(), 1);
        assert_eq!(check.redundant[0].evidence, Evidence::Proved, "{k:e}, {l:e}: {:?}", check.redundant);
    }
}

/// z = x y, z = x², z = 0 meet in the line x = 0: directions off it lead back, and that proves nothing.
#[test]
fn a_line_in_a_wide_tangent_space_is_not_called_rigid() {
    let text = "coordinates x, y, z\nmass x, y, z: 1\nconstraint a: z = x*y\nconstraint b: z = x^2\nconstraint c: z = 0
start x = 0, y = 0, z = 0";
    assert_eq!(check(text).freedom.mobility, Mobility::Unknown);
    // z = x² + y² and z = 0 meet in a point
    let text = "coordinates x, y, z\nmass x, y, z: 1\nconstraint bowl: z = x^2 + y^2\nconstraint table: z = 0
start x = 0, y = 0, z = 0";
    assert_eq!(check(text).freedom.mobility, Mobility::Shaky);
}

/// Rows that are the same only on one side of a switch, or until an event, are not called superfluous.
#[test]
fn nothing_is_superfluous_beyond_a_switch() {
    let cases = [
        "constraint a: y = x*abs(x)\nconstraint b: y = x^2\nstart x = 0, y = 0",
        "constraint a: y = 0\nconstraint b: y = k*x\nwhen t >= 1: k = 1\nstart x = 0, y = 0\nrun 2",
    ];
    for case in cases {
        let check = check(&format!("coordinates x, y\nparameter k = 0\nmass x, y: 1\n{case}"));
        assert!(check.removable.is_empty(), "{case}");
        assert!(check.constraints.iter().all(|c| c.essential != Some(false)), "{case}");
        assert!(check.redundant.iter().all(|r| r.everywhere != Some(true)), "{case}");
    }
}

/// z' = y x' together with z = 0 and x' = 1 implies y = 0: a single other state is no evidence, in whatever order.
#[test]
fn one_other_state_is_no_evidence() {
    for order in ["x, y, z", "z, y, x"] {
        let check = check(&format!(
            "coordinates {order}\nmass x, y, z: 1\nconstraint a: z' = y*x'\nconstraint b: z = 0\nconstraint c: x' = 1
start x = 0, y = 0, z = 0\nrun 1"
        ));
        assert!(check.removable.is_empty() && check.constraints.iter().all(|c| c.essential != Some(false)), "{order}");
    }
}

/// A law that uses the load of one row of several keeps all of them: without one of them the load changes.
#[test]
fn rows_that_share_a_load_a_law_asks_for_are_needed() {
    let check = check(
        "coordinates x, y\nmass x, y: 1\nforce y: -1\nconstraint a: y = 0\nconstraint b: 3*y = 0
nonideal x: -0.3*abs(lambda(a))*sign(x')\nstart x = 0, y = 0, x' = 1\nrun 1",
    );
    assert!(check.removable.is_empty());
}

/// The removable rows do not depend on the scale of rows nor on their order.
#[test]
fn removable_rows_do_not_depend_on_scales_and_order() {
    for (v, w) in [("1", "1"), ("1e6", "1e-6"), ("-1e-6", "1e3")] {
        let check = check(&format!(
            "coordinates x, y, z\nmass x, y, z: 1\nconstraint v: {v}*(x, y, x + y) = {v}*(1, 2, 3)
constraint w: {w}*(z - x, y, z) = {w}*(0, 2, 1)\nstart x = 1, y = 2, z = 1"
        ));
        let names: Vec<&str> = check.removable.iter().map(|c| check.constraints[*c].name.as_str()).collect();
        assert_eq!(names, ["v"], "{v} {w}");
    }
    let rows = ["x = cos(θ)", "y = sin(θ)", "x^2 + y^2 = 1", "x*sin(θ) = y*cos(θ)"];
    for order in [[0, 1, 2, 3], [2, 3, 0, 1], [3, 1, 2, 0], [2, 0, 3, 1]] {
        let lines: String = order.iter().map(|k| format!("constraint c{k}: {}\n", rows[*k])).collect();
        let check = check(&format!("coordinates x, y, θ\nmass x, y, θ: 1\n{lines}start θ = 0"));
        assert_eq!(check.removable.len(), 2, "{order:?}");
    }
}

/// Quotients without a value and the larger of two multipliers are no more determined than the multipliers.
#[test]
fn functions_of_multipliers_that_are_a_choice_are_a_choice() {
    for force in ["0", "-1"] {
        let check = check(&format!(
            "coordinates x, y\nmass x, y: 1\nforce y: {force}\nconstraint a: y = 0\nconstraint b: 2*y = 0
output ratio = lambda(a)/lambda(b)\noutput top = max(lambda(a), lambda(a) + 2*lambda(b))\noutput whole = abs(lambda(a) + 2*lambda(b))
start x = 0, y = 0, x' = 1"
        ));
        let here = |name: &str| check.determinacy.quantities.iter().find(|q| q.name == name).map(|q| q.here);
        assert_eq!((here("ratio"), here("top"), here("whole")), (Some(false), Some(false), Some(true)), "{force}");
    }
}

/// Numbers as typed are exact: rows that differ by less than rounding are reported as different.
#[test]
fn rows_that_differ_by_less_than_rounding_are_reported_as_different() {
    let cases = [("y = 0", "y = 1e-12", "1e-12"), ("x + y = 0", "x + (1 + 1e-12)*y = 0", "1e-12*y")];
    for (one, two, rest) in cases {
        let text =
            format!("coordinates x, y\nmass x, y: 1\nconstraint a: {one}\nconstraint b: {two}\nstart x ~ 0, y ~ 0");
        let (check, diagnostics) = checked(&text, &Overrides::default());
        let found = check.unwrap().redundant[0].rest.clone().unwrap();
        assert_eq!(found.trim_start_matches('-'), rest);
        let warning = diagnostics.iter().find(|d| d.code == "Z310").unwrap();
        assert!(warning.severity == Severity::Warning && warning.notes.iter().any(|n| n.contains(rest)), "{warning:?}");
    }
    let same =
        check("coordinates x, y\nmass x, y: 1\nconstraint a: y = 0.1\nconstraint b: 3*y = 0.3\nstart x = 0, y = 0.1");
    assert!(same.redundant[0].rest.is_none());
}

/// b = 3 a, so λ(a) + 3 λ(b) is the whole load, which no split changes; λ(a) alone is a share.
#[test]
fn a_law_of_the_whole_load_is_no_law_of_a_share() {
    let law = |load: &str| {
        check(&format!(
            "coordinates x, y\nmass x, y: 1\nforce y: -1\nconstraint a: y = 0\nconstraint b: 3*y = 0
nonideal x: -0.3*abs({load})*sign(x')\nstart x = 0, y = 0"
        ))
    };
    assert_eq!(law("lambda(a) + 3*lambda(b)").redundant[0].asked_share, None);
    assert_eq!(law("lambda(a)").redundant[0].asked_share.as_deref(), Some("a"));
}

/// The condition hidden in one pair does not silence the copy of another.
#[test]
fn a_hidden_condition_does_not_silence_the_other_copies() {
    let text = "coordinates x, y, z\nmass x, y, z: 1\nconstraint wall: x = 0\nconstraint drive: x' = y
constraint floor: z = 0\nconstraint again: 2*z = 0\nstart x = 0, y = 0, z = 0";
    let (_, diagnostics) = checked(text, &Overrides::default());
    assert!(diagnostics.iter().any(|d| d.code == "Z308"), "{diagnostics:#?}");
    assert!(diagnostics.iter().any(|d| d.code == "Z310" && d.message.contains("`again`")), "{diagnostics:#?}");
}
