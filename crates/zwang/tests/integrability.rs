//! Distributions with known flags: growth vectors, integrals and the verdict on each constraint, from the mathematics.

use crate::common::{checked, model_text};
use zwang::{Check, Overrides};

/// A distribution: coordinates, rows as `left = right`, the growth vector, how many integrals the velocity rows have in addition
/// to the stated positions, and for each row whether it is integrable.
struct Case {
    name: &'static str,
    coordinates: &'static str,
    rows: &'static [&'static str],
    growth: &'static [usize],
    n_integrals: usize,
    integrable: &'static [bool],
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // one form that is never integrable: contact structures
    Case { name: "Heisenberg", coordinates: "x y z", rows: &["y' = z*x'"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "Heisenberg, symmetric", coordinates: "x y z", rows: &["z' = (x*y' - y*x')/2"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "contact in R5", coordinates: "z x y p q", rows: &["z' = p*x' + q*y'"], growth: &[4, 5], n_integrals: 0, integrable: &[false] },
    Case { name: "contact in R7", coordinates: "z x y u p q r", rows: &["z' = p*x' + q*y' + r*u'"], growth: &[6, 7], n_integrals: 0, integrable: &[false] },
    Case { name: "Martinet, from its singular plane", coordinates: "x z y0", rows: &["z' = y0^2*x'"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "Darboux form with an exponential", coordinates: "x y z", rows: &["exp(z)*x' + y' = 0"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "knife edge", coordinates: "x y θ", rows: &["x'*sin(θ) = y'*cos(θ)"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "sleigh with an offset", coordinates: "x y θ", rows: &["y'*cos(θ) - x'*sin(θ) = 0.3*θ'"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "no spin about a space axis", coordinates: "φ θ ψ", rows: &["φ' + ψ'*cos(θ) = 0"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "contact times a plane", coordinates: "x y z w", rows: &["y' = z*x'"], growth: &[3, 4], n_integrals: 0, integrable: &[false] },
    Case { name: "torsion form", coordinates: "x y z", rows: &["cos(z)*x' + sin(z)*y' = 0"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "degenerate rank in R5", coordinates: "z x y p q", rows: &["z' = p*x'"], growth: &[4, 5], n_integrals: 0, integrable: &[false] },
    // chains
    Case { name: "Engel", coordinates: "x y z w", rows: &["y' = z*x'", "z' = w*x'"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "Goursat of five", coordinates: "x a b c d", rows: &["a' = b*x'", "b' = c*x'", "c' = d*x'"], growth: &[2, 3, 4, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "Goursat of six", coordinates: "x a b c d e", rows: &["a' = b*x'", "b' = c*x'", "c' = d*x'", "d' = e*x'"], growth: &[2, 3, 4, 5, 6], n_integrals: 0, integrable: &[false, false, false, false] },
    Case { name: "chained form", coordinates: "a b c d", rows: &["c' = b*a'", "d' = c*a'"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "jets of two functions", coordinates: "x u v p q", rows: &["u' = p*x'", "v' = q*x'"], growth: &[3, 5], n_integrals: 0, integrable: &[false, false] },
    Case { name: "second jets of two functions", coordinates: "x u v p q r s", rows: &["u' = p*x'", "v' = q*x'", "p' = r*x'", "q' = s*x'"], growth: &[3, 5, 7], n_integrals: 0, integrable: &[false, false, false, false] },
    // nilpotent groups
    Case { name: "Cartan", coordinates: "x y p q z", rows: &["y' = p*x'", "p' = q*x'", "z' = q^2*x'"], growth: &[2, 3, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "Monge, cubic", coordinates: "x y p q z", rows: &["y' = p*x'", "p' = q*x'", "z' = q^3*x'"], growth: &[2, 3, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "Monge, linear, is no more than a chain", coordinates: "x y p q z", rows: &["y' = p*x'", "p' = q*x'", "z' = q*x'"], growth: &[2, 3, 4], n_integrals: 1, integrable: &[false, false, false] },
    Case { name: "free nilpotent of step 3", coordinates: "x y z u v", rows: &["z' = (x*y' - y*x')/2", "u' = z*x'", "v' = z*y'"], growth: &[2, 3, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "free nilpotent of three", coordinates: "a b c u v w", rows: &["u' = a*b'", "v' = a*c'", "w' = b*c'"], growth: &[3, 6], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "quaternionic Heisenberg", coordinates: "a b c d u v w", rows: &["u' = a*b' - b*a' + c*d' - d*c'", "v' = a*c' - c*a' + d*b' - b*d'", "w' = a*d' - d*a' + b*c' - c*b'"], growth: &[4, 7], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "two Heisenberg groups", coordinates: "x y z u v w", rows: &["y' = z*x'", "v' = w*u'"], growth: &[4, 6], n_integrals: 0, integrable: &[false, false] },
    Case { name: "Heisenberg beside Engel", coordinates: "x y z a b c d", rows: &["y' = z*x'", "b' = c*a'", "c' = d*a'"], growth: &[4, 6, 7], n_integrals: 0, integrable: &[false, false, false] },
    // wheels
    Case { name: "rolling penny", coordinates: "x y θ φ", rows: &["x' = 0.5*cos(φ)*θ'", "y' = 0.5*sin(φ)*θ'"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "rolling disk", coordinates: "x y ψ θ φ", rows: &["x' = 0.3*φ'*cos(ψ)", "y' = 0.3*φ'*sin(ψ)"], growth: &[3, 4, 5], n_integrals: 0, integrable: &[false, false] },
    Case { name: "ball on a plane", coordinates: "x y φ θ ψ", rows: &["x' = θ'*sin(φ) - ψ'*sin(θ)*cos(φ)", "y' = -θ'*cos(φ) - ψ'*sin(θ)*sin(φ)"], growth: &[3, 5], n_integrals: 0, integrable: &[false, false] },
    Case { name: "ball on a plane without spin", coordinates: "x y φ θ ψ", rows: &["x' = θ'*sin(φ) - ψ'*sin(θ)*cos(φ)", "y' = -θ'*cos(φ) - ψ'*sin(θ)*sin(φ)", "φ' + ψ'*cos(θ) = 0"], growth: &[2, 3, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "kinematic car", coordinates: "x y θ φ", rows: &["x'*sin(θ) = y'*cos(θ)", "x'*sin(θ + φ) - y'*cos(θ + φ) = 2*θ'*cos(φ)"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "unicycle with one trailer", coordinates: "x y a b", rows: &["(x + cos(b))'*sin(a) = (y + sin(b))'*cos(a)", "x'*sin(b) = y'*cos(b)"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "unicycle with two trailers", coordinates: "x y a b c", rows: &["(x + cos(b) + cos(c))'*sin(a) = (y + sin(b) + sin(c))'*cos(a)", "(x + cos(c))'*sin(b) = (y + sin(c))'*cos(b)", "x'*sin(c) = y'*cos(c)"], growth: &[2, 3, 4, 5], n_integrals: 0, integrable: &[false, false, false] },
    Case { name: "unicycle with three trailers", coordinates: "x y a b c d", rows: &["(x + cos(b) + cos(c) + cos(d))'*sin(a) = (y + sin(b) + sin(c) + sin(d))'*cos(a)", "(x + cos(c) + cos(d))'*sin(b) = (y + sin(c) + sin(d))'*cos(b)", "(x + cos(d))'*sin(c) = (y + sin(d))'*cos(c)", "x'*sin(d) = y'*cos(d)"], growth: &[2, 3, 4, 5, 6], n_integrals: 0, integrable: &[false, false, false, false] },
    Case { name: "snakeboard", coordinates: "x y θ ψ φ", rows: &["-sin(θ + φ)*x' + cos(θ + φ)*y' = 0.2*cos(φ)*θ'", "-sin(θ - φ)*x' + cos(θ - φ)*y' = -0.2*cos(φ)*θ'"], growth: &[3, 4, 5], n_integrals: 0, integrable: &[false, false] },
    Case { name: "carriage of two wheels", coordinates: "x y θ p q", rows: &["y'*cos(θ) = x'*sin(θ)", "x'*cos(θ) + y'*sin(θ) + 0.2*θ' = 0.1*p'", "x'*cos(θ) + y'*sin(θ) - 0.2*θ' = 0.1*q'"], growth: &[2, 3, 4], n_integrals: 1, integrable: &[false, false, false] },
    Case { name: "wheel on a straight track", coordinates: "x φ", rows: &["x' = 0.3*φ'"], growth: &[1], n_integrals: 1, integrable: &[true] },
    // forms that are integrable, exact or with a factor
    Case { name: "rays from the origin", coordinates: "x y", rows: &["y*x' = x*y'"], growth: &[1], n_integrals: 1, integrable: &[true] },
    Case { name: "rays times a line", coordinates: "x y z", rows: &["y*x' = x*y'"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "spheres", coordinates: "x y z", rows: &["x*x' + y*y' + z*z' = 0"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "planes", coordinates: "x y z", rows: &["x' + 2*y' + 3*z' = 0"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "x y^2 z^3 with a factor taken away", coordinates: "x y z", rows: &["y*z*x' + 2*x*z*y' + 3*x*y*z' = 0"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "x exp(y)", coordinates: "x y", rows: &["x' + x*y' = 0"], growth: &[1], n_integrals: 1, integrable: &[true] },
    Case { name: "exact with trigonometry", coordinates: "x y z", rows: &["cos(x)*sin(y)*x' + sin(x)*cos(y)*y' = z'"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "a factor of trigonometry", coordinates: "x y z", rows: &["z' = z*tan(x)*x'"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "a sphere about the z-axis, conformal", coordinates: "x y z", rows: &["(x*x' + y*y')*exp(z) = 0"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "everything held", coordinates: "x y", rows: &["x' = 0", "y' = 0"], growth: &[0], n_integrals: 2, integrable: &[true, true] },
    Case { name: "curves are always integrable", coordinates: "x y z", rows: &["y' = z*x'", "z' = 0"], growth: &[1], n_integrals: 2, integrable: &[true, true] },
    Case { name: "curves, with nothing exact", coordinates: "x y z", rows: &["y' = z*x'", "z' = y*x'"], growth: &[1], n_integrals: 2, integrable: &[true, true] },
    Case { name: "no spin about two axes", coordinates: "φ θ ψ", rows: &["φ' + ψ'*cos(θ) = 0", "θ'*cos(φ) + ψ'*sin(θ)*sin(φ) = 0"], growth: &[1], n_integrals: 2, integrable: &[true, true] },
    // integrable in disguise through combinations
    Case { name: "a difference", coordinates: "x y z w", rows: &["x' = z*y'", "w' = z*y'"], growth: &[2, 3], n_integrals: 1, integrable: &[false, false] },
    Case { name: "a sum of three", coordinates: "x y z u v", rows: &["x' = z*y'", "u' = 2*z*y'", "v' = x' + 3*u'"], growth: &[2, 3], n_integrals: 2, integrable: &[false, false, true] },
    Case { name: "a combination that turns", coordinates: "x y s z u", rows: &["x' = y*(s' + z*u')", "y' = -x*(s' + z*u')"], growth: &[3, 4], n_integrals: 1, integrable: &[false, false] },
    Case { name: "Heisenberg beside a plane field", coordinates: "x y z w v", rows: &["y' = z*x'", "w' = 2*v'"], growth: &[3, 4], n_integrals: 1, integrable: &[false, true] },
    Case { name: "a knife edge and its disguised copy", coordinates: "x y θ", rows: &["x'*sin(θ) = y'*cos(θ)", "(1 + x^2)*x'*sin(θ) = (1 + x^2)*y'*cos(θ)"], growth: &[2, 3], n_integrals: 0, integrable: &[false, false] },
    // together with positions
    Case { name: "the angle of a circle", coordinates: "x y z", rows: &["x^2 + y^2 = 1", "z' = x*y' - y*x'"], growth: &[1], n_integrals: 1, integrable: &[true, true] },
    Case { name: "the area on a sphere", coordinates: "x y z w", rows: &["x^2 + y^2 + z^2 = 1", "w' = x*y' - y*x'"], growth: &[2, 3], n_integrals: 0, integrable: &[true, false] },
    Case { name: "twist on a cylinder", coordinates: "x y z w", rows: &["x^2 + y^2 = 1", "w' = z*(x*y' - y*x')"], growth: &[2, 3], n_integrals: 0, integrable: &[true, false] },
    Case { name: "Hopf", coordinates: "x y z w", rows: &["x^2 + y^2 + z^2 + w^2 = 1", "x*y' - y*x' + z*w' - w*z' = 0"], growth: &[2, 3], n_integrals: 0, integrable: &[true, false] },
    Case { name: "a circle stated twice", coordinates: "x y z", rows: &["x^2 + y^2 = 1", "x*x' + y*y' = 0"], growth: &[2], n_integrals: 0, integrable: &[true, true] },
    Case { name: "a circle and a row that repeats it on the circle only", coordinates: "x y z", rows: &["x^2 + y^2 = 1", "x*x' + y*y' + (x^2 + y^2 - 1)*z' = 0"], growth: &[2], n_integrals: 0, integrable: &[true, true] },
    Case { name: "a pair (c, (1 + x^2) c) of positions with a contact row", coordinates: "x y z w", rows: &["x^2 + y^2 = 1", "(1 + x^2)*(x^2 + y^2 - 1) = 0", "w' = z*(x*y' - y*x')"], growth: &[2, 3], n_integrals: 0, integrable: &[true, true, false] },
    // with time
    Case { name: "a given rate", coordinates: "x", rows: &["x' = t"], growth: &[1], n_integrals: 1, integrable: &[true] },
    Case { name: "a constant rate beside a free coordinate", coordinates: "x y", rows: &["x' = 1"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "growth", coordinates: "x", rows: &["x' = x"], growth: &[1], n_integrals: 1, integrable: &[true] },
    Case { name: "KU94 (39)", coordinates: "x y", rows: &["x' - t*y' = cos(t)"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "a row that turns with time", coordinates: "x y", rows: &["cos(t)*x' + sin(t)*y' = 0"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "steered by a coordinate", coordinates: "x y", rows: &["x' = y"], growth: &[2, 3], n_integrals: 0, integrable: &[false] },
    Case { name: "steered twice", coordinates: "x y z", rows: &["x' = y", "y' = z"], growth: &[2, 3, 4], n_integrals: 0, integrable: &[false, false] },
    Case { name: "a moving wheel", coordinates: "x φ", rows: &["x' = 0.3*φ' + sin(t)"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "product with time", coordinates: "x y", rows: &["t*x' + x = y'"], growth: &[2], n_integrals: 1, integrable: &[true] },
    Case { name: "a moving line", coordinates: "x y z", rows: &["y = x*t", "z' = t*x'"], growth: &[2, 3], n_integrals: 0, integrable: &[true, false] },
    // without rows on velocities
    Case { name: "circle", coordinates: "x y", rows: &["x^2 + y^2 = 1"], growth: &[1], n_integrals: 0, integrable: &[true] },
    Case { name: "turning line", coordinates: "x y z", rows: &["y*cos(t) = x*sin(t)"], growth: &[3], n_integrals: 0, integrable: &[true] },
    Case { name: "free", coordinates: "x y z", rows: &[], growth: &[3], n_integrals: 0, integrable: &[] },
];

/// How a case is written.
#[derive(Clone, Copy, Default)]
struct Writing {
    /// Factors of the rows, in turn.
    scales: [f64; 2],
    /// Coordinates and rows in the opposite order.
    reversed: bool,
    /// Other names for the coordinates.
    renamed: bool,
    /// A factor that every coordinate carries, as another unit would give it.
    unit: f64,
}

const PLAIN: Writing = Writing { scales: [1.0, 1.0], reversed: false, renamed: false, unit: 1.0 };

/// A text with every name replaced, where `with` knows it.
fn replaced(text: &str, with: impl Fn(&str) -> Option<String>) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for c in text.chars().chain([' ']) {
        if c.is_alphabetic() || (c.is_ascii_digit() && !word.is_empty()) {
            word.push(c);
            continue;
        }
        out.push_str(&with(&word).unwrap_or(word.clone()));
        word.clear();
        out.push(c);
    }
    out
}

/// The model text of a case; it starts where the circle, the spheres and the moving line allow it.
fn text(case: &Case, writing: Writing) -> String {
    let mut coordinates: Vec<&str> = case.coordinates.split(' ').collect();
    let start: Vec<f64> = (0..coordinates.len()).map(|k| 0.4 + 0.17 * k as f64).collect();
    let start = |name: &str| match (case.rows.iter().any(|r| r.contains("^2 = 1")), case.name, name) {
        // (3, 4)/5, and on S³ (1, 1, 1, 1)/2
        (true, "Hopf", _) => 0.5,
        (true, _, "x") => 0.6,
        (true, "the area on a sphere", "y") => 0.0,
        (true, _, "y") => 0.8,
        (true, "the area on a sphere", "z") => 0.8,
        (_, "a moving line" | "turning line", "y") => 0.0,
        (_, _, "y0") => 0.0,
        _ => start[case.coordinates.split(' ').position(|c| c == name).unwrap()],
    };
    let name = |c: &str| if writing.renamed { format!("w{}", c.chars().next().unwrap() as u32) } else { c.to_string() };
    let put = |word: &str| {
        let found = case.coordinates.split(' ').find(|c| *c == word)?;
        Some(if writing.unit == 1.0 { name(found) } else { format!("({:e}*{})", writing.unit, name(found)) })
    };
    let scale = |k: usize| writing.scales[k % 2];
    let mut rows: Vec<String> = Vec::new();
    for (k, row) in case.rows.iter().enumerate() {
        let (left, right) = row.split_once(" = ").unwrap();
        rows.push(format!(
            "constraint r{k}: {:e}*({} - ({})) = 0",
            scale(k),
            replaced(left, put),
            replaced(right, put)
        ));
    }
    if writing.reversed {
        coordinates.reverse();
        rows.reverse();
    }
    let names: Vec<String> = coordinates.iter().map(|c| name(c)).collect();
    let starts: Vec<String> =
        coordinates.iter().map(|c| format!("{} = {}", name(c), start(c) / writing.unit)).collect();
    let list = names.join(", ");
    format!("coordinates {list}\nmass {list}: 1\n{}\nstart {}\n", rows.join("\n"), starts.join(", "))
}

fn check(text: &str) -> Check {
    let (check, diagnostics) = checked(text, &Overrides::default());
    check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"))
}

fn meets(case: &Case, writing: Writing) {
    let text = text(case, writing);
    let check = check(&text);
    let found = &check.integrability;
    let context = format!("{}\n{text}{}", case.name, found.verdict);
    assert_eq!(found.growth_vector.as_deref(), Some(case.growth), "{context}");
    assert_eq!(found.n_integrals, Some(case.n_integrals), "{context}");
    for (k, wanted) in case.integrable.iter().enumerate() {
        let kind = check.constraints.iter().find(|c| c.name == format!("r{k}")).unwrap();
        assert_eq!(kind.integrable, Some(*wanted), "r{k} of {context}");
    }
}

#[test]
fn there_are_many_cases() {
    assert!(CASES.len() >= 60, "{}", CASES.len());
}

#[test]
fn growth_vectors_and_integrals_are_those_of_the_textbooks() {
    CASES.iter().for_each(|case| meets(case, PLAIN));
}

#[test]
fn no_verdict_depends_on_the_size_of_a_row() {
    for scales in [[1e6, 1e-6], [1e-6, 1e6], [1e6, 1e6]] {
        CASES.iter().for_each(|case| meets(case, Writing { scales, ..PLAIN }));
    }
}

#[test]
fn no_verdict_depends_on_names_or_order() {
    CASES.iter().for_each(|case| meets(case, Writing { renamed: true, ..PLAIN }));
    CASES.iter().for_each(|case| meets(case, Writing { reversed: true, ..PLAIN }));
}

#[test]
fn no_verdict_depends_on_units() {
    for unit in [1e-3, 1e3] {
        CASES.iter().for_each(|case| meets(case, Writing { unit, ..PLAIN }));
    }
}

/// Every closed form that is shown stays constant along any motion the rows allow: its rate is the combination of rows, so
/// one that is pasted as a further constraint changes no degree of freedom.
#[test]
fn integrals_that_are_shown_can_be_pasted() {
    let mut n_shown = 0;
    for case in CASES.iter().filter(|c| c.n_integrals > 0) {
        let text = text(case, PLAIN);
        let before = check(&text);
        assert_eq!(before.integrability.integrals.len(), case.n_integrals, "{text}");
        for (k, integral) in before.integrability.integrals.iter().enumerate() {
            let (Some(phi), Some(value)) = (&integral.text, integral.value) else { continue };
            n_shown += 1;
            let with = format!("{text}constraint pasted{k}: {phi} = {value:.17e}\n");
            let after = check(&with);
            assert_eq!(after.rank, before.rank, "{with}");
            let grown = after.integrability;
            assert_eq!(grown.growth_vector, before.integrability.growth_vector, "{with}");
            assert_eq!(grown.n_integrals, Some(case.n_integrals - 1), "{with}");
        }
    }
    println!("{n_shown} closed forms");
    assert!(n_shown >= 22, "{n_shown} closed forms");
}

/// The verdict on a model of the gallery: growth vector, number of integrals, and which constraints are integrable.
fn gallery(name: &str, growth: Option<&[usize]>, n_integrals: usize, integrable: &[(&str, bool)]) -> Check {
    let check = check(&model_text(name));
    let found = &check.integrability;
    assert_eq!(found.growth_vector.as_deref(), growth, "{name}: {}", found.verdict);
    assert_eq!(found.n_integrals, Some(n_integrals), "{name}: {}", found.verdict);
    for (constraint, wanted) in integrable {
        let kind = check.constraints.iter().find(|c| c.name == *constraint).unwrap();
        assert_eq!(kind.integrable, Some(*wanted), "{constraint} of {name}");
    }
    check
}

#[test]
fn the_gallery_gets_the_verdicts_of_its_papers() {
    gallery("heisenberg_particle", Some(&[2, 3]), 0, &[("blade", false)]);
    gallery("rosenberg_particle", Some(&[2, 3]), 0, &[("blade", false)]);
    gallery("rolling_penny", Some(&[2, 3, 4]), 0, &[("along", false), ("aside", false)]);
    gallery("rolling_disk", Some(&[3, 4, 5]), 0, &[]);
    gallery("appell_hamel", None, 0, &[("cone", false)]);
    gallery("isokinetic_particle", None, 0, &[("thermostat", false)]);
    gallery("acatastatic_particle", Some(&[2, 3]), 0, &[("guide", false)]);
    // 9 coordinates, 6 rolling equations; each wheel keeps its height above the road
    gallery("bicycle", Some(&[3, 5, 7]), 2, &[("roll1", false), ("roll2", false)]);
    // without rows on velocities: n − rank, on (t, q) one more
    assert!(gallery("rotating_hoop", Some(&[2]), 0, &[("plane", true)]).integrability.with_time);
    gallery("pendulum", Some(&[1]), 0, &[("rod", true)]);
    gallery("redundant_pendulum", Some(&[1]), 0, &[]);
}

/// r (p1 − p2) = 2 b θ; and the centre of the ball keeps its distance from the axis, x² + y² = D².
#[test]
fn hidden_combinations_of_the_gallery_are_found_in_closed_form() {
    let check = gallery("carriage", Some(&[2, 3, 4]), 1, &[("edge", false), ("left", false), ("right", false)]);
    let integral = &check.integrability.integrals[0];
    assert_eq!(integral.combination, [("left".into(), "1".into()), ("right".into(), "-1".into())]);
    assert_eq!(integral.value, Some(0.0));
    let text = format!("{}\nconstraint hidden: {} = 0", model_text("carriage"), integral.text.as_ref().unwrap());
    assert_eq!(self::check(&text).integrability.n_integrals, Some(0));

    let check = gallery("ball_in_cylinder", Some(&[3, 5]), 1, &[("roll", false), ("ball.norm", true)]);
    let integral = &check.integrability.integrals[0];
    assert_eq!((integral.text.as_deref(), integral.value), (Some("x^2 + y^2"), Some(1.0)));
}

/// No model of the gallery is left undecided.
#[test]
fn every_model_of_the_gallery_is_decided() {
    for (name, text) in crate::common::gallery() {
        let found = check(&text).integrability;
        assert!(found.n_integrals.is_some(), "{name}: {}", found.verdict);
        let closed = found.integrals.iter().filter(|i| i.text.is_some()).count();
        println!("{name}: {:?}, {closed} of {:?} in closed form", found.growth_vector, found.n_integrals);
    }
}

/// Constraints that are not linear in the velocities: what the motions they allow can reach.
#[test]
fn nonlinear_rows_are_decided_by_what_their_motions_reach() {
    let cases: &[(&str, &str, &str, bool, usize)] = &[
        // a unit speed in the plane goes anywhere, on a line it does not
        ("x, y", "x'^2 + y'^2 = 1", "x' = 0.6, y' = 0.8", false, 0),
        ("x", "x'^2 = 1", "x' = 1", true, 1),
        ("x, y", "x'^2 = 1", "x' = 1, y' = 0.3", true, 1),
        ("x, y, z", "x'^2 + y'^2 = z'^2/4", "x' = 0.3, y' = 0.4, z' = 1", false, 0),
        // two branches; the start is on y' = 0
        ("x, y", "x'*y' = 0", "x' = 1, y' = 0", true, 1),
        // linear in disguise: x − y = const, and ẏ = z ẋ
        ("x, y", "(x' - y')*(1 + x'^2) = 0", "x' = 1, y' = 1", true, 1),
        ("x, y, z", "(y' - z*x')*exp(z') = 0", "x' = 1, y' = 0.5, z' = 0.2", false, 0),
    ];
    for (coordinates, row, start, integrable, n_integrals) in cases {
        let text =
            format!("coordinates {coordinates}\nmass {coordinates}: 1\nconstraint c: {row}\nstart x = 0.5, {start}\n");
        let text = if coordinates.contains('y') { text + "start y = 0.2\n" } else { text };
        let text = if coordinates.contains('z') { text + "start z = 0.5\n" } else { text };
        let check = check(&text);
        let found = &check.integrability;
        assert_eq!(found.growth_vector, None, "{text}");
        assert_eq!(found.n_integrals, Some(*n_integrals), "{text}{}", found.verdict);
        assert_eq!(check.constraints[0].integrable, Some(*integrable), "{text}{}", found.verdict);
    }
}

/// Squares that cancel leave a linear row; it has a growth vector.
#[test]
fn rows_that_only_look_nonlinear_are_linear() {
    let text = "coordinates x, y, z\nmass x, y, z: 1\n\
                constraint c: (x' + y')^2 - x'^2 - y'^2 - 2*x'*y' + y' = z*x'\nstart x = 1, y = 0.1, z = 1\n";
    let check = check(text);
    assert_eq!(check.integrability.growth_vector, Some(vec![2, 3]));
    assert_eq!(check.constraints[0].integrable, Some(false));
}

/// ∫ |y| dy is not y²/2 where y < 0: nothing was evaluated behind the switch, so no line is offered.
#[test]
fn no_closed_form_is_offered_across_a_switch() {
    let text = "coordinates x, y\nmass x, y: 1\nconstraint c: x' = abs(y)*y'\nstart x = 1, y = 1\n";
    let found = check(text).integrability;
    assert_eq!((found.growth_vector, found.n_integrals), (Some(vec![1]), Some(1)));
    assert!(found.integrals.iter().all(|i| i.text.is_none()), "{:?}", found.integrals);
    assert!(found.verdict.contains("near the start"), "{}", found.verdict);
}

/// The closed form with the widest validity: an angle that continues through y = 0, no logarithm of what may vanish.
#[test]
fn closed_forms_hold_where_the_rows_do() {
    for (row, wanted) in [
        ("(x*y' - y*x')/(x^2 + y^2) = z'", "-atan2(x, y) - z"),
        ("x' + x*y' = 0", "x*exp(y)"),
        ("x' = x", "x*exp(-t)"),
        ("x*x' + y*y' = z'*sqrt(x^2 + y^2)", "sqrt(x^2 + y^2) - z"),
    ] {
        let text = format!("coordinates x, y, z\nmass x, y, z: 1\nconstraint c: {row}\nstart x = 1, y = 0.1, z = 1\n");
        let found = check(&text).integrability;
        assert_eq!(found.integrals[0].text.as_deref(), Some(wanted), "{row}");
    }
}

/// A row that vanishes where the motion takes place has no verdict, and not a wrong one.
#[test]
fn undecided_rows_are_reported_as_undecided() {
    let squared = "coordinates x, y, z\nmass x, y, z: 1\nconstraint c: (x^2 + y^2 - 1)^2 = 0\n\
                   constraint v: z' = x*y' - y*x'\nstart x = 1, y = 0, z = 0\n";
    let check = check(squared);
    assert_eq!(check.integrability.growth_vector, None);
    assert_eq!(check.constraints.iter().find(|c| c.name == "v").unwrap().integrable, None);
    assert!(check.integrability.verdict.contains("not decided"), "{}", check.integrability.verdict);
}

/// ẋ = y and ẋ = z forbid motion wherever y ≠ z: on (t, q) the rows give dt = 0, and nothing is to be integrated.
#[test]
fn rows_that_stop_the_time_have_no_integrals() {
    let cases: [&[&str]; 4] =
        [&["x' = y", "x' = 2*y"], &["x' = y", "x' = z"], &["x = 0", "x' = y^2"], &["x = 0", "x' = y", "y' = z"]];
    for rows in cases {
        let rows: String = rows.iter().enumerate().map(|(k, r)| format!("constraint r{k}: {r}\n")).collect();
        let text = format!("coordinates x, y, z\nmass x, y, z: 1\n{rows}start x = 0, y = 0, z = 0\n");
        let (check, diagnostics) = checked(&text, &Overrides::default());
        let check = check.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
        let found = &check.integrability;
        assert_eq!((&found.growth_vector, found.n_integrals), (&None, None), "{text}{}", found.verdict);
        assert!(found.integrals.is_empty() && found.verdict.contains("further condition"), "{}", found.verdict);
        let of_velocities = |c: &&zwang::analysis::Classification| c.kind() == "nonholonomic";
        assert!(check.constraints.iter().filter(of_velocities).all(|c| c.integrable.is_none()), "{text}");
    }
}

/// ẏ = kẋ is the rate of y − kx only while k is a constant.
#[test]
fn nothing_is_integrated_across_an_event() {
    let text = "coordinates x, y\nparameter k = 0\nmass x, y: 1\nconstraint c: y' = k*x'\n\
                start x = 1, x' = 1, y = 0\n";
    assert_eq!(check(text).constraints[0].integrable, Some(true));
    let found = check(&format!("{text}when t >= 1: k = 2\n"));
    assert!(found.integrability.integrals.is_empty() && found.constraints[0].integrable.is_none());
    assert!(found.integrability.verdict.contains("until `when t >= 1` changes `k`"), "{}", found.integrability.verdict);
}

/// The Z311 notes of a model, as one text.
fn reported(text: &str) -> String {
    let (_, diagnostics) = checked(text, &Overrides::default());
    diagnostics.iter().filter(|d| d.code == "Z311").map(|d| format!("{d:?}\n")).collect()
}

/// An angle by atan2 ends at its cut, and a row that vanishes at the start holds nothing there: neither is to be pasted.
#[test]
fn lines_that_would_change_the_motion_are_not_offered() {
    let angle = "coordinates x, y, z\nmass x, y, z: 1\nconstraint m: (x*y' - y*x')/(x^2 + y^2) = z'\n\
                 start x = 0, y = -1, z = 0.2, x' = 1, z' = 1\n";
    let (angle, vanishing) = (
        reported(angle),
        reported("coordinates a, b\nmass a, b: 1\nconstraint c: a'*sin(b) = 0\nstart a = 1, b = 0, a' = 1\n"),
    );
    for note in [angle, vanishing] {
        assert!(note.contains("keep the velocity constraint") && !note.contains("constraint m:"), "{note}");
        assert!(!note.contains("\"constraint c:"), "{note}");
    }
    // 17 digits where it takes them: a start that is read again meets the line
    let third = reported(
        "coordinates x, y\nmass x, y: 1\nconstraint c: x*x' + y*y' = 0\nstart x = 0.1234567891234567, y = 1\n",
    );
    let value = (0.1234567891234567_f64.powi(2) + 1.0) / 2.0;
    let digits: Option<f64> = third.split(" = ").filter_map(|s| s.split('"').next()?.parse().ok()).next();
    assert!(digits.is_some_and(|x| (x - value).abs() < 1e-15), "{third}");
}

/// x + t = y + t knows no time.
#[test]
fn time_that_cancels_makes_nothing_rheonomic() {
    let found = check("coordinates x, y\nmass x, y: 1\nconstraint c: x + t = y + t\nstart x = 1, y = 1\n");
    assert_eq!(found.constraints[0].time, zwang::analysis::Time::Scleronomic);
    assert_eq!((found.integrability.with_time, found.integrability.growth_vector), (false, Some(vec![1])));
}

/// ż = yẋ is no rate by itself; where y is held it is one, together with that row.
#[test]
fn rows_integrable_only_with_others_are_reported_as_such() {
    let text = "coordinates x, y, z\nmass x, y, z: 1\nconstraint a: z' = y*x'\nconstraint b: y = 2\n\
                start x = 1, y = 2, z = 0\n";
    let note = reported(text);
    assert!(note.contains("together with the others") && !note.contains("a total time derivative"), "{note}");
}

/// Coefficients that are parameters are named: d(m2 a − …) holds whatever the values are.
#[test]
fn combinations_are_written_in_parameters() {
    let text = "coordinates x, y, z, w\nparameter k = 0.731, m = 1.37\nmass x, y, z, w: 1\n\
                constraint a: k*x' = z*y'\nconstraint b: w' = m*z*y'\nstart x = 0.3, y = 0.1, z = 0.7, w = 0.2\n";
    let check = check(text);
    let integral = &check.integrability.integrals[0];
    assert_eq!(integral.combination.len(), 2);
    let phi = integral.text.as_deref().unwrap();
    assert!(phi.contains('k') && phi.contains('m'), "{phi}");
    for set in ["k=2", "m=0.1"] {
        let with = format!("{text}constraint hidden: {phi} = {phi_at}\n", phi_at = put(phi));
        let overrides = Overrides { set: vec![set.to_string()], ..Overrides::default() };
        let (check, diagnostics) = checked(&with, &overrides);
        let check = check.unwrap_or_else(|| panic!("{with}\n{diagnostics:#?}"));
        assert_eq!(check.integrability.n_integrals, Some(0), "{with}");
    }
}

/// The formula with the start of the test above put in.
fn put(phi: &str) -> String {
    replaced(phi, |word| match word {
        "x" => Some("0.3".into()),
        "w" => Some("0.2".into()),
        _ => None,
    })
}

/// Twenty coordinates, chains of every kind: decided.
#[test]
fn twenty_coordinates_are_not_too_many() {
    let chain: String = (1..=18).map(|k| format!("constraint c{k}: q[{k}]' = q[{}]*q[20]'\n", k + 1)).collect();
    let trailers: String = (1..=6)
        .map(|k| {
            let sum = |f: &str| (k + 1..=6).map(|j| format!(" + {f}(q[{j}])")).collect::<String>();
            format!("constraint c{k}: (q[19]{})'*sin(q[{k}]) = (q[20]{})'*cos(q[{k}])\n", sum("cos"), sum("sin"))
        })
        .collect();
    let contact = "constraint c: q[1]' = sum(i in 1..9: q[2*i]*q[2*i+1]')\n".to_string();
    for rows in [chain, trailers, contact] {
        let text = format!(
            "coordinates q[1..20]\nkinetic sum(i in 1..20: q[i]'^2)/2\n{rows}start q[i in 1..20] = 0.1 + 0.05*i\n"
        );
        let check = check(&text);
        let decided = check.integrability.growth_vector.is_some() && check.integrability.n_integrals.is_some();
        assert!(decided, "{}", check.integrability.verdict);
    }
}

/// Too many coordinates for brackets: the skipped analysis is reported, and verdicts that need no brackets are still found.
#[test]
fn skipped_analyses_of_large_models_are_reported() {
    let wheels = |n: usize| {
        format!(
            "coordinates x[1..{n}], a[1..{n}]\nkinetic sum(i in 1..{n}: x[i]'^2 + a[i]'^2)/2\n\
             constraint roll[i in 1..{n}]: x[i]' = 0.3*a[i]'\nstart x[i in 1..{n}] = 0.1*i\nstart a[i in 1..{n}] = 0\n"
        )
    };
    let check = check(&wheels(1000));
    assert_eq!(check.integrability.growth_vector, None);
    assert!(check.integrability.verdict.contains("2000 coordinates"), "{}", check.integrability.verdict);
    assert!(check.constraints.iter().all(|c| c.integrable == Some(true)));
    // below the limit every one of them has its closed form
    let check = self::check(&wheels(50));
    assert_eq!(check.integrability.growth_vector, Some(vec![50]));
    assert!(check.integrability.integrals.iter().all(|i| i.text.is_some()));
}
