//! Depth costs nothing: a sum of a million terms is a chain a million deep.

use std::collections::HashMap;
use zwang_expr::{Expr, Function, Graph, Program};

const N: usize = 1_000_000;

#[test]
fn a_million_terms_differentiate_print_compile_and_drop() {
    let mut g = Graph::new();
    let [x, v] = ["x", "v"].map(|name| g.symbol(name, name));
    g.set_rate(x, v);
    let mut sum = Expr::ZERO;
    for k in 0..N {
        let c = g.integer(k as i64);
        let shifted = g.add(x, c);
        let term = g.apply(Function::Atan, shifted);
        sum = g.add(sum, term);
    }
    assert_eq!(g.symbols(sum), [x]);
    assert!(g.size(sum) > 2 * N);

    let gradient = g.gradient(sum);
    let rate = g.rate(sum).unwrap();
    let program = Program::new(&g, &[x, v], &[sum, gradient[0].1, rate]).unwrap();
    let mut outputs = [0.0; 3];
    program.run(&[0.5, 2.0], &mut program.workspace(), &mut outputs);
    let expected: f64 = (0..N).map(|k| 1.0 / (1.0 + (k as f64 + 0.5).powi(2))).sum();
    assert!((outputs[1] - expected).abs() < 1e-9 && (outputs[2] - 2.0 * expected).abs() < 1e-9);

    assert_eq!(g.text(sum), format!("(… {} terms)", g.size(sum)));
    assert!(g.text_limited(sum, usize::MAX).unwrap().len() > 10 * N);
    let replaced = g.substitute(&[sum], &HashMap::from([(x, Expr::ZERO)]))[0];
    assert!(g.constant_value(replaced).is_some());
}

#[test]
fn a_million_nested_calls_differentiate_print_and_compile() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let mut e = x;
    for _ in 0..N {
        e = g.apply(Function::Sin, e);
    }
    let derivative = g.derivative(e, x);
    let program = Program::new(&g, &[x], &[e, derivative]).unwrap();
    let mut outputs = [0.0; 2];
    program.run(&[1.0], &mut program.workspace(), &mut outputs);
    assert!(outputs[0] > 0.0 && outputs[0] < 0.01);
    assert_eq!(g.text_limited(e, usize::MAX).unwrap().len(), 5 * N + 1);
}

#[test]
fn small_questions_about_a_large_graph_stay_small() {
    let mut g = Graph::new();
    let x = g.symbol("x", "x");
    let mut e = x;
    for _ in 0..N {
        e = g.apply(Function::Sin, e);
    }
    let y = g.symbol("y", "y");
    let small = g.mul(x, y);
    // a cost of the whole graph would make this 10^11 steps
    for _ in 0..100_000 {
        assert_eq!(g.symbols(small), [x, y]);
        assert_eq!(g.gradient(small), [(x, y), (y, x)]);
        assert_eq!(g.text(small), "x*y");
    }
}
