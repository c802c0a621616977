//! Building an expression keeps its value and finds the simplifications promised.

use crate::oracle::{config, graph, points, trees, value};
use proptest::prelude::*;
use zwang_expr::{Comparison, Expr, Function, Function2, Graph, Program};

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn simplify_keeps_the_value(tree in trees(), point in points()) {
        let Some([expected, _]) = tree.expected(&point, &[0.0; 4]) else { return Ok(()) };
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let found = value(&g, &symbols, e, &point);
        prop_assert!(expected.meets(found), "{found} instead of {expected:?}: {}", g.text(e));
    }

    #[test]
    fn building_twice_gives_the_same_handle(tree in trees()) {
        let (mut g, symbols) = graph();
        let first = tree.build(&mut g, &symbols);
        let size = g.len();
        prop_assert_eq!(tree.build(&mut g, &symbols), first);
        prop_assert_eq!(g.len(), size);
    }

    #[test]
    fn constants_know_their_value(tree in trees(), point in points()) {
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let expected = tree.expected(&point, &[0.0; 4]);
        match (g.constant_value(e), expected) {
            (Some(found), Some([expected, _])) => prop_assert!(expected.meets(found)),
            (Some(_), None) => prop_assert!(g.symbols(e).is_empty()),
            (None, _) => prop_assert!(!g.symbols(e).is_empty()),
        }
    }
}

/// Checks that both closures build the same expression of x, y, z.
fn same(left: impl Fn(&mut Graph, [Expr; 3]) -> Expr, right: impl Fn(&mut Graph, [Expr; 3]) -> Expr) {
    let mut g = Graph::new();
    let symbols = ["x", "y", "z"].map(|name| g.symbol(name, name));
    let (left, right) = (left(&mut g, symbols), right(&mut g, symbols));
    assert_eq!(left, right, "{} is not {}", g.text(left), g.text(right));
}

#[test]
fn like_terms_are_added() {
    same(
        |g, [x, ..]| g.add(x, x),
        |g, [x, ..]| {
            let two = g.integer(2);
            g.mul(two, x)
        },
    );
    same(
        |g, [x, ..]| {
            let three = g.integer(3);
            let t = g.mul(three, x);
            g.sub(t, x)
        },
        |g, [x, ..]| g.add(x, x),
    );
    same(|g, [x, ..]| g.sub(x, x), |_, _| Expr::ZERO);
    same(
        |g, [x, y, z]| {
            let s = g.sum(&[x, y, z]);
            g.sub(s, x)
        },
        |g, [_, y, z]| g.add(y, z),
    );
    same(
        |g, [x, y, _]| {
            let s = g.add(x, Expr::ONE);
            let t = g.add(y, Expr::MINUS_ONE);
            g.add(s, t)
        },
        |g, [x, y, _]| g.add(y, x),
    );
}

#[test]
fn equal_bases_are_collected() {
    same(
        |g, [x, y, _]| {
            let p = g.mul(y, x);
            g.mul(p, x)
        },
        |g, [x, y, _]| {
            let p = g.powi(x, 2);
            g.mul(p, y)
        },
    );
    same(|g, [x, ..]| g.div(x, x), |_, _| Expr::ONE);
    same(
        |g, [x, ..]| {
            let r = g.sqrt(x);
            g.mul(r, r)
        },
        |_, [x, ..]| x,
    );
    same(
        |g, [x, ..]| {
            let r = g.sqrt(x);
            g.powi(r, 2)
        },
        |_, [x, ..]| x,
    );
    same(
        |g, [x, ..]| {
            let p = g.powi(x, 2);
            g.sqrt(p)
        },
        |g, [x, ..]| g.apply(Function::Abs, x),
    );
    same(
        |g, [x, ..]| {
            let p = g.powi(x, 3);
            g.powi(p, -2)
        },
        |g, [x, ..]| g.powi(x, -6),
    );
    same(
        |g, [x, y, _]| {
            let p = g.product(&[x, y, x, y, x]);
            g.div(p, x)
        },
        |g, [x, y, _]| {
            let (a, b) = (g.powi(x, 2), g.powi(y, 2));
            g.mul(a, b)
        },
    );
}

#[test]
fn coefficients_are_collected_in_front() {
    same(
        |g, [m, v, _]| {
            let (half_m, two_v) = (g.mul(Expr::HALF, m), g.add(v, v));
            g.mul(half_m, two_v)
        },
        |g, [m, v, _]| g.mul(m, v),
    );
    same(
        |g, [x, ..]| {
            let minus = g.neg(x);
            g.powi(minus, 2)
        },
        |g, [x, ..]| g.powi(x, 2),
    );
    same(
        |g, [x, ..]| {
            let four = g.integer(4);
            let t = g.mul(four, x);
            g.sqrt(t)
        },
        |g, [x, ..]| {
            let r = g.sqrt(x);
            g.add(r, r)
        },
    );
}

#[test]
fn signs_leave_odd_and_even_functions() {
    same(
        |g, [x, ..]| {
            let m = g.neg(x);
            g.apply(Function::Cos, m)
        },
        |g, [x, ..]| g.apply(Function::Cos, x),
    );
    same(
        |g, [x, ..]| {
            let m = g.neg(x);
            g.apply(Function::Abs, m)
        },
        |g, [x, ..]| g.apply(Function::Abs, x),
    );
    same(
        |g, [x, ..]| {
            let m = g.neg(x);
            g.apply(Function::Sin, m)
        },
        |g, [x, ..]| {
            let s = g.apply(Function::Sin, x);
            g.neg(s)
        },
    );
}

#[test]
fn a_sum_of_negatives_is_a_negative_sum() {
    let minus_sum = |g: &mut Graph, [x, y, _]: [Expr; 3]| {
        let (a, b) = (g.neg(x), g.neg(y));
        g.add(a, b)
    };
    same(minus_sum, |g, [x, y, _]| {
        let sum = g.add(x, y);
        g.neg(sum)
    });
    same(
        move |g, s| {
            let sum = minus_sum(g, s);
            g.powi(sum, 2)
        },
        |g, [x, y, _]| {
            let sum = g.add(x, y);
            g.powi(sum, 2)
        },
    );
    same(
        move |g, s| {
            let sum = minus_sum(g, s);
            g.add(sum, s[0])
        },
        |g, [_, y, _]| g.neg(y),
    );
}

#[test]
fn exact_values_are_found() {
    for (f, x, expected) in [
        (Function::Sin, 0, 0),
        (Function::Cos, 0, 1),
        (Function::Exp, 0, 1),
        (Function::Log, 1, 0),
        (Function::Sqrt, 49, 7),
        (Function::Abs, -3, 3),
        (Function::Sign, -3, -1),
    ] {
        same(
            move |g, _| {
                let x = g.integer(x);
                g.apply(f, x)
            },
            move |g, _| g.integer(expected),
        );
    }
    same(
        |g, _| {
            let pi = g.pi();
            g.apply(Function::Cos, pi)
        },
        |_, _| Expr::MINUS_ONE,
    );
    same(
        |g, _| {
            let q = g.rational(4, 9);
            g.sqrt(q)
        },
        |g, _| g.rational(2, 3),
    );
    same(
        |g, [x, y, _]| {
            let (two, three) = (g.integer(2), g.integer(3));
            g.select(Comparison::Less, two, three, x, y)
        },
        |_, [x, ..]| x,
    );
    same(
        |g, _| {
            let (a, b) = (g.rational(1, 3), g.rational(1, 4));
            g.apply2(Function2::Max, a, b)
        },
        |g, _| g.rational(1, 3),
    );
}

#[test]
fn a_sum_with_a_shared_tail_keeps_sharing_it() {
    let mut g = Graph::new();
    let terms: Vec<Expr> = (0..100).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let tail = g.sum(&terms[..99]);
    let all = g.add(tail, terms[99]);
    let before = g.len();
    // (tail + x) + tail = 2 tail + x
    let twice = g.add(all, tail);
    assert!(g.len() - before <= 3);
    let expected = {
        let two = g.integer(2);
        let t = g.mul(two, tail);
        g.add(t, terms[99])
    };
    assert_eq!(twice, expected);
}

#[test]
fn division_by_zero_is_kept_and_found_when_run() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let reciprocal = g.div(Expr::ONE, Expr::ZERO);
    let none = g.div(Expr::ZERO, Expr::ZERO);
    let log = g.apply(Function::Log, Expr::ZERO);
    let (difference, zero_log) = (g.sub(reciprocal, reciprocal), g.mul(Expr::ZERO, log));
    let with_x = g.add(x, reciprocal);
    let lost = g.sub(with_x, with_x);
    for e in [reciprocal, none, difference, zero_log, lost] {
        let program = Program::new(&g, &[x], &[e]).unwrap();
        let trouble = program.first_non_finite(&[1.0], &mut program.workspace());
        assert!(trouble.is_some(), "{} went unnoticed", g.text(e));
    }
    assert_eq!(g.pow(Expr::ZERO, Expr::ZERO), Expr::ONE);
    assert_eq!(g.text(none), "0/0");
}

#[test]
fn large_powers_stay_symbolic() {
    let mut g = Graph::new();
    let (two, ten) = (g.integer(2), g.integer(10));
    let huge = {
        let n = g.integer(1_000_000_000);
        g.pow(ten, n)
    };
    assert_eq!(g.number(huge), None);
    let large = g.powi(two, 64);
    assert_eq!(g.text(large), "18446744073709551616");
    assert_eq!(g.number_value(large), Some(2f64.powi(64)));
}
