//! Derivatives against dual numbers.

use crate::oracle::{config, graph, points, trees, value};
use proptest::prelude::*;
use std::collections::HashMap;
use zwang_expr::{Comparison, Expr, Function, Graph, NoRate};

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn gradient_matches_dual_numbers(tree in trees(), point in points()) {
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let gradient: HashMap<Expr, Expr> = g.gradient(e).into_iter().collect();
        for k in 0..symbols.len() {
            let mut direction = [0.0; 4];
            direction[k] = 1.0;
            let Some([_, expected]) = tree.expected(&point, &direction) else { continue };
            let partial = gradient.get(&symbols[k]).copied().unwrap_or(Expr::ZERO);
            let found = value(&g, &symbols, partial, &point);
            prop_assert!(expected.meets(found), "{found} instead of {expected:?}: {}", g.text(e));
        }
    }

    #[test]
    fn derivative_matches_dual_numbers(tree in trees(), point in points(), k in 0usize..4) {
        let mut direction = [0.0; 4];
        direction[k] = 1.0;
        let Some([_, expected]) = tree.expected(&point, &direction) else { return Ok(()) };
        let (mut g, symbols) = graph();
        let e = tree.build(&mut g, &symbols);
        let derivative = g.derivative(e, symbols[k]);
        let found = value(&g, &symbols, derivative, &point);
        prop_assert!(expected.meets(found), "{found} instead of {expected:?}: {}", g.text(e));
    }

    #[test]
    fn rate_is_the_derivative_along_the_motion(tree in trees(), point in points(), velocity in points()) {
        let Some([_, expected]) = tree.expected(&point, &velocity) else { return Ok(()) };
        let (mut g, mut symbols) = graph();
        for k in 0..symbols.len() {
            let rate = g.symbol("v", "v");
            g.set_rate(symbols[k], rate);
            symbols.push(rate);
        }
        let e = tree.build(&mut g, &symbols);
        let rate = g.rate(e).unwrap();
        let found = value(&g, &symbols, rate, &[point, velocity].concat());
        prop_assert!(expected.meets(found), "{found} instead of {expected:?}: {}", g.text(e));
    }

    #[test]
    fn substitute_evaluates_the_replacement(tree in trees(), other in trees(), point in points()) {
        let Some([inner, _]) = other.expected(&point, &[0.0; 4]) else { return Ok(()) };
        let moved = [inner.value, point[1], point[2], point[3]];
        let Some([expected, slope]) = tree.expected(&moved, &[1.0, 0.0, 0.0, 0.0]) else { return Ok(()) };
        let (mut g, symbols) = graph();
        let (e, replacement) = (tree.build(&mut g, &symbols), other.build(&mut g, &symbols));
        let replaced = g.substitute(&[e], &HashMap::from([(symbols[0], replacement)]))[0];
        let found = value(&g, &symbols, replaced, &point);
        let error = expected.error + slope.value.abs() * inner.error;
        prop_assert!((found - expected.value).abs() <= error, "{found} instead of {expected:?}: {}", g.text(e));
    }
}

#[test]
fn gradient_is_sorted_and_leaves_out_zeros() {
    let mut g = Graph::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| g.symbol(name, name));
    let sign = g.apply(Function::Sign, z);
    let e = {
        let p = g.mul(y, x);
        g.add(p, sign)
    };
    assert_eq!(g.gradient(e), vec![(x, y), (y, x)]);
    assert_eq!(g.gradient_in(e, |s| s == y), vec![(y, x)]);
    assert_eq!(g.gradient(Expr::ONE), vec![]);
    assert_eq!(g.gradient(x), vec![(x, Expr::ONE)]);
    assert_eq!(g.gradient_in(x, |_| false), vec![]);
}

#[test]
fn rate_names_the_symbol_without_one() {
    let mut g = Graph::new();
    let [x, v] = ["x", "v"].map(|name| g.symbol(name, name));
    g.set_rate(x, v);
    let kinetic = g.powi(v, 2);
    assert_eq!(g.rate(x), Ok(v));
    assert_eq!(g.rate(kinetic), Err(NoRate(v)));
    let a = g.symbol("a", "a");
    g.set_rate(v, a);
    let rate = g.rate(kinetic).unwrap();
    assert_eq!(g.text(rate), "2*v*a");
    g.set_rate(v, Expr::ZERO);
    assert_eq!(g.rate(kinetic), Ok(Expr::ZERO));
}

#[test]
fn the_branch_not_taken_does_not_spoil_the_derivative() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let (square, root) = (g.powi(x, 2), g.sqrt(x));
    let e = g.select(Comparison::Less, x, Expr::ZERO, square, root);
    let gradient = g.gradient(e)[0].1;
    assert_eq!(value(&g, &[x], gradient, &[-3.0]), -6.0);
    assert_eq!(value(&g, &[x], gradient, &[4.0]), 0.25);
    assert_eq!(g.derivative(e, x), gradient);
}

/// T = 3 exp(u) + exp(u)² x with exp(u) for a symbol a: ∂T/∂a = 3 + 2 a x.
#[test]
fn a_node_is_differentiated_like_a_symbol() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let u = g.powi(x, 3);
    let a = g.apply(Function::Exp, u);
    let (three, square) = (g.integer(3), g.powi(a, 2));
    let (first, second) = (g.mul(three, a), g.mul(square, x));
    let sum = g.add(first, second);
    let slope = g.derivative_by_node(sum, a);
    let program = zwang_expr::Program::new(&g, &[x], &[slope]).unwrap();
    let mut found = [0.0];
    program.run(&[0.5], &mut program.workspace(), &mut found);
    assert!((found[0] - (3.0 + 0.125f64.exp())).abs() < 1e-14, "{found:?}");
    assert_eq!(g.derivative_by_node(u, a), zwang_expr::Expr::ZERO);
}
