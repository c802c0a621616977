//! Exact simplification: identities of mathematics, textbook forms, values kept, limits respected.

use crate::formula::Formulas;
use std::time::Instant;
use zwang_expr::{Algebra, Expr, Function, Graph, Limits, Program};

/// The shortest form of a formula, as text.
fn short(text: &str) -> String {
    let mut formulas = Formulas::default();
    let e = formulas.read(text);
    let found = formulas.graph.shortest(&[e], Limits::default())[0].expect(text);
    formulas.graph.text(found)
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    assert_eq!(short(text), wanted, "{text}");
}

#[test]
fn common_factors_cancel() {
    check("(x^2 - y^2)/(x - y)", "x + y");
    check("(x^3 - y^3)/(x^2 + x*y + y^2)", "x - y");
    check("1/(x - 1) - 1/(x + 1) - 2/(x^2 - 1)", "0");
    check("x/(x + y) + y/(x + y)", "1");
    check("(a*c + a*d + b*c + b*d)/(a + b)", "c + d");
    check("(x^2 + 2*x*y + y^2)/(x + y)^2", "1");
}

#[test]
fn pythagoras_and_sums_of_angles() {
    check("sin(a)^2 + cos(a)^2", "1");
    check("cos(a)*cos(b) + sin(a)*sin(b)", "cos(a - b)");
    check("sin(a)*cos(b) - cos(a)*sin(b)", "sin(a - b)");
    check("m*l^2*cos(a)*cos(b) + m*l^2*sin(a)*sin(b)", "m*l^2*cos(a - b)");
    check("2*sin(a)*cos(a)", "sin(2*a)");
    check("cos(a)^2 - sin(a)^2", "cos(2*a)");
    check("1 - cos(a)^2", "sin(a)^2");
    check("sin(a + b)*cos(b) - cos(a + b)*sin(b)", "sin(a)");
    check("sin(a)/cos(a)", "tan(a)");
    check("(1 - cos(a)^2)/sin(a)", "sin(a)");
    check("tan(a)*cos(a)", "sin(a)");
    check("cos(x)^4 - sin(x)^4", "cos(2*x)");
}

#[test]
fn common_parts_are_written_once() {
    check("m1*g + m2*g", "g*(m1 + m2)");
    check("k*x*x'^2 + k*x*y'^2", "k*x*(x'^2 + y'^2)");
    check("x^2 + 2*x*y + y^2", "(x + y)^2");
    check("m*x'^2/2 + m*y'^2/2", "m*(x'^2 + y'^2)/2");
}

#[test]
fn roots_keep_their_law() {
    check("(x^2 + y^2)/sqrt(x^2 + y^2)", "sqrt(x^2 + y^2)");
    check("x/sqrt(x^2 + y^2)*sqrt(x^2 + y^2)", "x");
    check("sqrt(x^2 + y^2)^3/(x^2 + y^2)", "sqrt(x^2 + y^2)");
    check("k*x/(x^2 + y^2)^(3/2)", "k*x/(x^2 + y^2)^(3/2)");
    // terms with the root and without it, each over what is left of u = x² + y² below
    check("(m*x*u'^2*(x^2 + y^2)^2 - k*y*sqrt(x^2 + y^2))/(m*(x^2 + y^2)^2)", "x*u'^2 - k*y/(m*(x^2 + y^2)^(3/2))");
    check("(x*(x^2 + y^2) + sqrt(x^2 + y^2))/(x^2 + y^2)", "x + 1/sqrt(x^2 + y^2)");
    check("sqrt(z^2*x^2 + z^2*y^2)", "abs(z)*sqrt(x^2 + y^2)");
    check("sqrt(z^4*x^2 + z^4*y^2)", "z^2*sqrt(x^2 + y^2)");
    // x² (y − 1) is zero at x = 0, where √(y − 1) may not exist
    check("sqrt(x^2*y - x^2)", "sqrt(x^2*(y - 1))");
}

#[test]
fn sines_below_stand_where_they_are_needed() {
    check("(m*x'^2 + k*y*sin(a)^2*(x + z))/(2*sin(a)^2)", "k*y*(x + z)/2 + m*x'^2/(2*sin(a)^2)");
    check("(k*x*y'*(y' + z)*sin(a) - m*g*cos(a))/sin(a)", "k*x*y'*(y' + z) - m*g/tan(a)");
}

/// M q̈ = Q of two equal rods with point masses at their ends, angles from the vertical.
#[test]
fn the_double_pendulum_has_its_textbook_form() {
    let mut formulas = Formulas::default();
    let matrix = [
        ["2*m*l^2", "m*l^2*cos(a)*cos(b) + m*l^2*sin(a)*sin(b)"],
        ["m*l^2*cos(a)*cos(b) + m*l^2*sin(a)*sin(b)", "m*l^2"],
    ];
    let right = [
        "-m*l^2*b'^2*(sin(a)*cos(b) - cos(a)*sin(b)) - 2*m*g*l*sin(a)",
        "m*l^2*a'^2*(sin(a)*cos(b) - cos(a)*sin(b)) - m*g*l*sin(b)",
    ];
    let textbook = [
        "-(l*sin(a - b)*(b'^2 + a'^2*cos(a - b)) + g*(2*sin(a) - sin(b)*cos(a - b)))/(l*(2 - cos(a - b)^2))",
        "(l*sin(a - b)*(2*a'^2 + b'^2*cos(a - b)) + 2*g*(sin(a)*cos(a - b) - sin(b)))/(l*(2 - cos(a - b)^2))",
    ];
    let matrix: Vec<Vec<Expr>> = matrix.iter().map(|row| row.iter().map(|e| formulas.read(e)).collect()).collect();
    let right: Vec<Expr> = right.iter().map(|e| formulas.read(e)).collect();
    let textbook: Vec<Expr> = textbook.iter().map(|e| formulas.read(e)).collect();
    let g = &mut formulas.graph;
    let all = [matrix.concat(), right.clone()].concat();
    let mut algebra = Algebra::new(g, &all, Limits::default());
    let solution = algebra.solve(g, &matrix, &right).unwrap();
    for (found, wanted) in solution.iter().zip(textbook) {
        let difference = g.sub(*found, wanted);
        assert_eq!(algebra.is_zero(g, difference), Some(true), "{}", g.text(*found));
        assert!(g.cost(*found) <= g.cost(wanted), "{}\n{}", g.text(*found), g.text(wanted));
    }
}

/// A power of a long sum has more terms than anyone reads.
#[test]
fn limits_are_respected() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..20).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let sum = g.sum(&symbols);
    let power = g.powi(sum, 20);
    let start = Instant::now();
    assert_eq!(g.shortest(&[power], Limits::default()), [None]);
    assert!(start.elapsed().as_secs_f64() < 1.0, "{:?}", start.elapsed());
}

struct Random(u64);

impl Random {
    fn next(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Random sums of products and quotients, with sines, cosines, roots and shared parts.
fn random_expression(random: &mut Random, g: &mut Graph, symbols: &[Expr], n: usize) -> Expr {
    let mut all = symbols.to_vec();
    all.extend([g.integer(2), g.rational(-1, 3)]);
    let difference = g.sub(symbols[0], symbols[1]);
    let angles = [symbols[0], symbols[1], difference];
    for f in [Function::Sin, Function::Cos] {
        all.extend(angles.map(|u| g.apply(f, u)));
    }
    for _ in 0..n {
        let (a, b) = (all[random.next(all.len())], all[random.next(all.len())]);
        let e = match random.next(10) {
            0..=2 => g.add(a, b),
            3 => g.sub(a, b),
            4..=6 => g.mul(a, b),
            7 => g.powi(a, 2),
            8 => {
                let square = g.powi(b, 2);
                let positive = g.add(square, Expr::ONE);
                g.sqrt(positive)
            }
            _ => {
                let square = g.powi(b, 2);
                let positive = g.add(square, Expr::ONE);
                g.div(a, positive)
            }
        };
        all.push(e);
    }
    all[all.len() - 1]
}

fn value(g: &Graph, symbols: &[Expr], e: Expr, point: &[f64]) -> f64 {
    let program = Program::new(g, symbols, &[e]).unwrap();
    let mut out = [0.0];
    program.run(point, &mut program.workspace(), &mut out);
    out[0]
}

#[test]
fn values_are_kept_and_nothing_becomes_longer() {
    let mut random = Random(7);
    let limits = Limits { work: 100_000, ..Limits::default() };
    let (mut done, mut shorter) = (0, 0);
    for _ in 0..80 {
        let mut g = Graph::new();
        let symbols: Vec<Expr> = ["a", "b", "x", "y"].iter().map(|name| g.symbol(name, name)).collect();
        let e = random_expression(&mut random, &mut g, &symbols, 30);
        let Some(short) = g.shortest(&[e], limits)[0] else { continue };
        done += 1;
        let text = g.text(short);
        assert!(g.cost(short) <= g.cost(e) + 2, "{}\n{text}", g.text(e));
        shorter += (g.cost(short) < g.cost(e)) as usize;
        for point in [[0.7, -0.4, 1.3, 0.9], [-1.1, 0.3, 0.6, -0.8]] {
            let (before, after) = (value(&g, &symbols, e, &point), value(&g, &symbols, short, &point));
            // where terms cancel, rounding is relative to them
            assert!((before - after).abs() <= 1e-12 * before.abs().max(1.0), "{before} {after}\n{}\n{text}", g.text(e));
        }
        let again = g.shortest(&[short], limits)[0].unwrap();
        assert!(g.cost(again) <= g.cost(short), "{text}\n{}", g.text(again));
    }
    assert!(done > 70 && shorter > 2, "{done} {shorter}");
}

/// (a c + b c)/(a + b) = c, whatever a, b and c are.
#[test]
fn terms_added_on_both_sides_cancel() {
    let mut random = Random(5);
    let mut n_done = 0;
    for _ in 0..80 {
        let mut g = Graph::new();
        let symbols: Vec<Expr> = ["a", "b", "x", "y"].iter().map(|name| g.symbol(name, name)).collect();
        let [a, b, c] = [6, 5, 6].map(|n| random_expression(&mut random, &mut g, &symbols, n));
        let sum = g.add(a, b);
        if sum == Expr::ZERO || Algebra::new(&mut g, &[sum], Limits::default()).is_zero(&mut g, sum) == Some(true) {
            continue;
        }
        let products = [g.mul(a, c), g.mul(b, c)];
        let product = g.add(products[0], products[1]);
        let e = g.div(product, sum);
        let Some(short) = g.shortest(&[e], Limits::default())[0] else { continue };
        // c itself may be written as a square of a sum, which expansion hides; what did not cancel would be longer by far
        assert!(g.cost(short) <= 2 * g.cost(c), "{}\n{}\n{}", g.text(e), g.text(short), g.text(c));
        n_done += 1;
    }
    assert!(n_done > 60, "{n_done}");
}

#[test]
fn squares_of_sums_are_found_among_other_terms() {
    check("l*(u'^2 + 2*u'*v' + v'^2 - 25)", "l*((u' + v')^2 - 25)");
    check("x^2 - 2*x*u + u^2 + y^2 - 2*y*v + v^2", "(x - u)^2 + (y - v)^2");
    // Newton's ellipse: 25 r² + 30 x r + 9 x² = (5 r + 3 x)²
    let r = "sqrt(x^2 + y^2)";
    check(&format!("(34*x^2 + 25*y^2 + 30*x*{r})/(3*x + 5*{r})"), &format!("3*x + 5*{r}"));
    check("sin(a)*x/(l*(1 - cos(a)^2))", "x/(l*sin(a))");
}

#[test]
fn functions_that_remain_have_short_arguments() {
    check("exp((x^2 - y^2)/(x - y))", "exp(x + y)");
    check("log(x)*(sin(a)^2 + cos(a)^2) - log(x*y/y)", "0");
    check("abs(x*(y + 1) - x*y)^2", "x^2");
    check("cos(sin(a)^2 + cos(a)^2 + x - 1)", "cos(x)");
}

#[test]
fn nothing_is_divided_by_zero() {
    for text in ["1/(sin(a)^2 + cos(a)^2 - 1)", "x/(sqrt(x)^2 - x)", "1/(x - y - (x^2 - y^2)/(x + y))"] {
        let mut formulas = Formulas::default();
        let e = formulas.read(text);
        assert_eq!(formulas.graph.shortest(&[e], Limits::default()), [None], "{text}");
    }
}

#[test]
fn symbols_and_operations_are_counted_as_printed() {
    let mut formulas = Formulas::default();
    let e = formulas.read("m*l^2*cos(a - b)");
    // m * l ^ 2 * cos a - b
    assert_eq!(formulas.graph.cost(e), 10);
    assert_eq!(formulas.graph.operations(e), Some(5));
}

/// A x = b with A and x given: what is found must be x.
#[test]
fn linear_systems_return_the_solution_they_were_made_from() {
    let mut formulas = Formulas::default();
    let rows = [
        ["x + 1", "y", "sin(a)", "1"],
        ["y", "x^2 + 2", "cos(a)", "m"],
        ["0", "k", "x*y", "1/x"],
        ["l", "0", "3", "x"],
    ];
    let wanted = ["x + y", "cos(a)", "m/(x + 1)", "sqrt(x^2 + 1)"];
    let matrix: Vec<Vec<Expr>> = rows.iter().map(|row| row.iter().map(|e| formulas.read(e)).collect()).collect();
    let wanted: Vec<Expr> = wanted.iter().map(|e| formulas.read(e)).collect();
    let g = &mut formulas.graph;
    let mut right = Vec::new();
    for row in &matrix {
        let products: Vec<Expr> = row.iter().zip(&wanted).map(|(a, x)| g.mul(*a, *x)).collect();
        right.push(g.sum(&products));
    }
    let all = [matrix.concat(), right.clone()].concat();
    let mut algebra = Algebra::new(g, &all, Limits::default());
    let solution = algebra.solve(g, &matrix, &right).unwrap();
    let text = |g: &Graph, exprs: &[Expr]| exprs.iter().map(|e| g.text(*e)).collect::<Vec<_>>();
    assert_eq!(text(g, &solution), text(g, &wanted));

    // twice the same row
    let singular = vec![matrix[0].clone(), matrix[0].clone(), matrix[1].clone(), matrix[2].clone()];
    assert_eq!(algebra.solve(g, &singular, &right), None);
}

/// (1 + x²)(x² + y² − l²) over its factors, and a sum that has none of them.
#[test]
fn a_product_is_divided_by_its_factor() {
    let mut formulas = Formulas::default();
    let [p, d, wrong] = ["(1 + x^2)*(x^2 + y^2 - l^2)", "x^2 + y^2 - l^2", "(1 + x^2)*(x^2 + y^2 - l^2) + y"]
        .map(|text| formulas.read(text));
    let g = &mut formulas.graph;
    let mut algebra = Algebra::new(g, &[p, d, wrong], Limits::default());
    let quotient = algebra.quotient(g, p, d).unwrap();
    assert_eq!(g.text(quotient), "x^2 + 1");
    assert_eq!(algebra.quotient(g, wrong, d), None);
    assert_eq!(algebra.quotient(g, d, p), None);
}

/// (x² + y² − l²)/(√(x² + y²) − l) = √(x² + y²) + l, which is 2 l where the divisor vanishes.
#[test]
fn a_length_divides_its_square() {
    let mut formulas = Formulas::default();
    let [p, d] = ["x^2 + y^2 - l^2", "sqrt(x^2 + y^2) - l"].map(|text| formulas.read(text));
    let g = &mut formulas.graph;
    let mut algebra = Algebra::new(g, &[p, d], Limits::default());
    let quotient = algebra.quotient(g, p, d).unwrap();
    assert_eq!(g.text(quotient), "l + sqrt(x^2 + y^2)");
    let there: Vec<String> = algebra.on_zero_of(g, quotient, d).iter().map(|e| g.text(*e)).collect();
    assert!(there.contains(&"2*l".to_string()), "{there:?}");
    assert_eq!(algebra.quotient(g, d, p), None);
}

/// x (x − y) + 2 (y² − 1) by x − y and y² − 1, in either order; with a remainder by neither.
#[test]
fn a_sum_is_divided_by_several() {
    let mut formulas = Formulas::default();
    let [p, a, b, wrong] = ["x*(x - y) + 2*(y^2 - 1)", "x - y", "y^2 - 1", "x + 1"].map(|text| formulas.read(text));
    let g = &mut formulas.graph;
    let mut algebra = Algebra::new(g, &[p, a, b, wrong], Limits::default());
    for parts in [[a, b], [b, a]] {
        let factors = algebra.cofactors(g, p, &parts).unwrap();
        let products: Vec<Expr> = parts.iter().zip(&factors).map(|(part, factor)| g.mul(*part, *factor)).collect();
        let sum = g.sum(&products);
        let rest = g.sub(p, sum);
        assert_eq!(algebra.is_zero(g, rest), Some(true));
    }
    assert_eq!(algebra.cofactors(g, wrong, &[a, b]), None);
}

/// What is zero is found zero, and what is zero only nearly is not: x − x at random, plus a small part.
#[test]
fn zero_is_distinguished_from_small() {
    let mut random = Random(11);
    let mut n_told = 0;
    for _ in 0..60 {
        let mut g = Graph::new();
        let symbols: Vec<Expr> = ["a", "b", "x", "y"].iter().map(|name| g.symbol(name, name)).collect();
        let [u, v] = [10, 10].map(|n| random_expression(&mut random, &mut g, &symbols, n));
        // (u + v)² − u² − 2 u v − v²
        let sum = g.add(u, v);
        let (two, product) = (g.integer(2), g.mul(u, v));
        let parts = [g.powi(sum, 2), g.powi(u, 2), g.mul(two, product), g.powi(v, 2)];
        let others = g.sum(&parts[1..]);
        let zero = g.sub(parts[0], others);
        let (tiny, sine) = (g.rational(1, 1_000_000_007), g.apply(Function::Sin, symbols[0]));
        let small = g.mul(tiny, sine);
        let nearly = g.add(zero, small);
        let mut algebra = Algebra::new(&mut g, &[zero, nearly], Limits::default());
        let Some(is_zero) = algebra.is_zero(&mut g, zero) else { continue };
        assert!(is_zero, "{}", g.text(zero));
        assert_eq!(algebra.is_zero(&mut g, nearly), Some(false), "{}", g.text(nearly));
        n_told += 1;
    }
    assert!(n_told > 50, "{n_told}");
}

#[test]
fn long_repeated_parts_get_a_name() {
    let mut formulas = Formulas::default();
    let common = formulas.read("x*y + a*b + m*k");
    let exprs = ["sin(x*y + a*b + m*k)/(1 + x)", "(x*y + a*b + m*k)*cos(a)", "x*y + 1"].map(|text| formulas.read(text));
    assert_eq!(formulas.graph.worth_naming(&exprs, 5, 10), [common]);
    // it saves ten symbols and costs five
    assert!(formulas.graph.worth_naming(&exprs, 6, 10).is_empty());
    assert!(formulas.graph.worth_naming(&exprs, 5, 0).is_empty());
}

#[test]
fn long_formulas_are_cut_until_every_line_is_short() {
    let mut formulas = Formulas::default();
    let terms: Vec<String> = (0..30).map(|k| format!("x{k}*sin(y{k} + {})", k + 1)).collect();
    let e = formulas.read(&terms.join(" + "));
    let g = &mut formulas.graph;
    let parts = g.cut(&[e], &[], 60);
    let mut known = std::collections::HashMap::new();
    let mut n_lines = 0;
    for part in parts.iter().chain([&e]) {
        let line = g.substitute(&[*part], &known)[0];
        assert!(g.cost(line) <= 60, "{}", g.text(line));
        let symbol = g.symbol(&format!("c{n_lines}"), "c");
        known.insert(*part, symbol);
        n_lines += 1;
    }
    assert!((4..=12).contains(&n_lines), "{n_lines}");
    // every line stands for what it names
    assert_eq!(g.substitute(&[e], &known)[0], known[&e]);
}

/// What a proof says of a formula, on the zeros of others.
#[track_caller]
fn proves(text: &str, zeros: &[&str], wanted: bool) {
    let mut formulas = Formulas::default();
    let e = formulas.read(text);
    let zeros: Vec<Expr> = zeros.iter().map(|z| formulas.read(z)).collect();
    let graph = &mut formulas.graph;
    let mut algebra = Algebra::for_proofs(graph, &[&[e], &zeros[..]].concat(), Limits::default());
    let found = match zeros.is_empty() {
        true => algebra.is_zero(graph, e),
        false => algebra.vanishes_on(graph, e, &zeros),
    };
    assert_eq!(found, Some(wanted), "{text} on {zeros:?}");
}

#[test]
fn identities_of_exponentials_are_proved() {
    for zero in [
        "exp(x + y) - exp(x)*exp(y)",
        "exp(2*x) - exp(x)^2",
        "exp(x/2)*exp(x/3) - exp(5*x/6)",
        "cosh(x)^2 - sinh(x)^2 - 1",
        "tanh(2*x) - 2*tanh(x)/(1 + tanh(x)^2)",
        "tanh(20*(x - 3)) + 1 - 2*exp(40*x)/(exp(40*x) + exp(120))",
        "sinh(x + y) - sinh(x)*cosh(y) - cosh(x)*sinh(y)",
        "tanh(x)*cosh(x) - sinh(x)",
        "exp(-((x - 5)*10)^2)*exp(100*x^2) - exp(1000*x - 2500)",
        "exp(exp(x) + y) - exp(y)*exp(exp(x))",
    ] {
        proves(zero, &[], true);
    }
    for other in ["exp(x)^2 - exp(2*x) + 1/10^30", "tanh(20*(x - 3)) + 1", "tanh(x) - sinh(x)", "exp(-x^2)*exp(-y^2)"] {
        proves(other, &[], false);
    }
}

#[test]
fn formulas_vanish_where_others_do() {
    proves("(x^2 + y^2 - 1)*tanh(20*(x - 3))", &["x^2 + y^2 - 1"], true);
    proves("x*u + y*v", &["x - l*cos(a)", "y - l*sin(a)", "u + l*sin(a)*w", "v - l*cos(a)*w"], true);
    proves("u*sin(a) - v*cos(a)", &["u - k*cos(a)", "v - k*sin(a)"], true);
    proves("(1 + tanh(50*(x - 9/10)))*y", &["x^2 + y^2 - 1"], false);
    proves("y - exp(-(x - 6)^2)/10", &["y"], false);
}
