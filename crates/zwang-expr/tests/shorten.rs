//! Shortened expressions have the same values and take less work.

use zwang_expr::{Expr, Function, Graph, Program};

/// Values of expressions of these symbols at a point, and how many instructions they take.
fn values(g: &Graph, symbols: &[Expr], exprs: &[Expr], point: &[f64]) -> (Vec<f64>, usize) {
    let program = Program::new(g, symbols, exprs).expect("all symbols are inputs");
    let mut out = vec![0.0; exprs.len()];
    program.run(point, &mut program.workspace(), &mut out);
    (out, program.len())
}

#[test]
fn like_terms_merge_and_squares_of_sine_and_cosine_go() {
    let mut g = Graph::new();
    let [m, l, u, v] = ["m", "l", "u", "v"].map(|name| g.symbol(name, name));
    let (sine, cosine) = (g.apply(Function::Sin, u), g.apply(Function::Cos, u));
    // m l² sin² + m l² cos² = m l²
    let parts = [sine, cosine].map(|f| g.product(&[m, l, f, l, f]));
    let sum = g.sum(&parts);
    let constant = g.shortened(&[sum], |s| s == m || s == l)[0];
    assert!(g.symbols(constant).iter().all(|s| [m, l].contains(s)), "{}", g.text(constant));
    // (m v) u − m (u v) = 0, however the products were built
    let (mv, uv) = (g.mul(m, v), g.mul(u, v));
    let (left, right) = (g.mul(mv, u), g.mul(m, uv));
    let difference = g.sub(left, right);
    assert_eq!(g.shortened(&[difference], |_| false)[0], Expr::ZERO);
}

#[test]
fn held_factors_are_gathered_and_pulled_out() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = ["m", "l", "k", "x", "y"].iter().map(|name| g.symbol(name, name)).collect();
    let [m, l, k, x, y] = symbols[..] else { unreachable!() };
    // x m l k y + y l m k x² = (m l k) x y (1 + x)
    let square = g.powi(x, 2);
    let first = g.product(&[x, m, l, k, y]);
    let second = g.product(&[y, l, m, k, square]);
    let sum = g.add(first, second);
    let short = g.shortened(&[sum], |s| [m, l, k].contains(&s))[0];
    let point = [2.0, 3.0, 0.5, 1.5, -0.7];
    let ((before, n_before), (after, n_after)) =
        (values(&g, &symbols, &[sum], &point), values(&g, &symbols, &[short], &point));
    assert!((before[0] - after[0]).abs() <= 1e-15 * before[0].abs(), "{before:?} {after:?}");
    assert!(n_after < n_before, "{n_after} of {n_before} instructions");
    let program = Program::new(&g, &symbols, &[short]).expect("all symbols are inputs");
    let (_, moving) = program.split(0..3);
    assert!(moving.len() <= 4, "{} instructions while x and y move", moving.len());
}

/// cos(a - b) and sin(a + b - c) by the sines and cosines of the angles, where those are needed anyway; else not.
#[test]
fn sums_of_angles_are_split_where_fewer_sines_are_left() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = ["a", "b", "c"].iter().map(|name| g.symbol(name, name)).collect();
    let [a, b, c] = symbols[..] else { unreachable!() };
    let (difference, sum) = (g.sub(a, b), g.add(a, b));
    let all = g.sub(sum, c);
    let sines = [a, b, c].map(|x| g.apply(Function::Sin, x));
    let exprs = [&sines[..], &[g.apply(Function::Cos, difference), g.apply(Function::Sin, all)]].concat();
    let short = g.shortened(&exprs, |_| false);
    let point = [0.4, 2.5, -1.3];
    let ((before, _), (after, _)) = (values(&g, &symbols, &exprs, &point), values(&g, &symbols, &short, &point));
    assert!(before.iter().zip(&after).all(|(x, y)| (x - y).abs() < 1e-15), "{before:?} {after:?}");
    assert!(!g.text(short[3]).contains("a - b") && !g.text(short[4]).contains("a + b"), "{}", g.text(short[4]));

    // two sines become four: nothing is gained
    let alone = [exprs[3], exprs[4]];
    assert_eq!(g.shortened(&alone, |_| false), alone);
}

/// Random sums of products of few factors, with quotients and shared parts: many of them merge.
#[test]
fn random_expressions_keep_their_values() {
    let mut state = 7u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..300 {
        let mut g = Graph::new();
        let symbols: Vec<Expr> = (0..4).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
        let mut all = symbols.clone();
        all.extend([g.integer(2), g.rational(-1, 3)]);
        let functions: Vec<Expr> =
            [Function::Sin, Function::Cos].iter().flat_map(|&f| [0, 1].map(|k| g.apply(f, symbols[k]))).collect();
        all.extend(functions);
        for _ in 0..40 {
            let (a, b) = (all[next(all.len())], all[next(all.len())]);
            let e = match next(8) {
                0..=2 => g.add(a, b),
                3 => g.sub(a, b),
                4..=5 => g.mul(a, b),
                6 => g.powi(a, 2),
                _ => {
                    let square = g.powi(b, 2);
                    let positive = g.add(square, Expr::ONE);
                    g.div(a, positive)
                }
            };
            all.push(e);
        }
        let exprs = all[all.len() - 6..].to_vec();
        let short = g.shortened(&exprs, |s| s == symbols[2] || s == symbols[3]);
        let point = [0.7, -0.4, 1.3, 0.9];
        let (before, after) = (values(&g, &symbols, &exprs, &point).0, values(&g, &symbols, &short, &point).0);
        for (x, y) in before.iter().zip(&after).filter(|(x, _)| x.abs() < 1e100) {
            assert!((x - y).abs() <= 1e-9 * x.abs().max(1.0), "{x} and {y}");
        }
    }
}
