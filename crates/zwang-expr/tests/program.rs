//! Programs: what they compute, what they leave out, and how they name trouble.

use crate::oracle::{config, graph, points, trees};
use proptest::prelude::*;
use zwang_expr::{Expr, Function, Graph, Operation, Program, UnknownSymbol};

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn program_equals_direct_evaluation(first in trees(), second in trees(), point in points()) {
        let (mut g, symbols) = graph();
        let outputs = [first.build(&mut g, &symbols), second.build(&mut g, &symbols)];
        let program = Program::new(&g, &symbols, &outputs).unwrap();
        let (mut workspace, mut results) = (program.workspace(), [0.0; 2]);
        program.run(&point, &mut workspace, &mut results);
        for (tree, found) in [first, second].iter().zip(results) {
            if let Some([expected, _]) = tree.expected(&point, &[0.0; 4]) {
                prop_assert!(expected.meets(found), "{found} instead of {expected:?}");
            }
        }
        // the same bits again
        let mut again = [0.0; 2];
        program.run(&point, &mut workspace, &mut again);
        prop_assert_eq!(results.map(f64::to_bits), again.map(f64::to_bits));
    }
}

fn operations(build: impl Fn(&mut Graph, [Expr; 2]) -> Expr) -> Vec<Operation> {
    let mut g = Graph::new();
    let symbols = ["x", "y"].map(|name| g.symbol(name, name));
    let e = build(&mut g, symbols);
    let program = Program::new(&g, &symbols, &[e]).unwrap();
    program.instructions().iter().map(|instruction| instruction.operation).collect()
}

#[test]
fn differences_quotients_and_powers_are_single_instructions() {
    use Operation::*;
    assert_eq!(operations(|g, [x, y]| g.sub(x, y)), [Sub]);
    assert_eq!(operations(|g, [x, y]| g.div(x, y)), [Div]);
    assert_eq!(operations(|g, [x, _]| g.div(Expr::ONE, x)), [Div]);
    assert_eq!(operations(|g, [x, _]| g.neg(x)), [Neg]);
    assert_eq!(operations(|g, [x, _]| g.powi(x, 2)), [Mul]);
    assert_eq!(operations(|g, [x, _]| g.powi(x, 4)), [Mul, Mul]);
    assert_eq!(operations(|g, [x, _]| g.sqrt(x)), [Apply(Function::Sqrt)]);
    assert_eq!(
        operations(|g, [x, y]| {
            let r = g.sqrt(x);
            g.div(y, r)
        }),
        [Apply(Function::Sqrt), Div]
    );
    assert_eq!(operations(|_, [x, _]| x), []);
    assert_eq!(
        operations(|g, _| {
            let two = g.integer(2);
            g.sqrt(two)
        }),
        []
    );
}

#[test]
fn powers_of_one_base_share_their_squares() {
    let count = operations(|g, [x, _]| {
        let powers = [g.powi(x, 2), g.powi(x, 4), g.powi(x, -4)];
        g.sum(&powers)
    });
    // x², x⁴, 1/x⁴ and two sums
    assert_eq!(count.len(), 5);
}

#[test]
fn unknown_symbols_are_named() {
    let mut g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
    let e = g.add(x, y);
    assert_eq!(Program::new(&g, &[x], &[e]).unwrap_err(), UnknownSymbol(y));
    assert!(Program::new(&g, &[x, y], &[]).unwrap().is_empty());
}

#[test]
fn trouble_names_the_quotient_that_was_written() {
    let mut g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
    let quotient = g.div(x, y);
    let root = g.sqrt(x);
    let e = {
        let sin = g.apply(Function::Sin, quotient);
        g.add(sin, root)
    };
    let program = Program::new(&g, &[x, y], &[e]).unwrap();
    let mut workspace = program.workspace();
    let trouble = program.first_non_finite(&[0.0, 0.0], &mut workspace).unwrap();
    assert_eq!(trouble.expr, quotient);
    assert!(trouble.value.is_nan());
    assert_eq!(program.first_non_finite(&[-1.0, 1.0], &mut workspace).unwrap().expr, root);
    assert_eq!(program.first_non_finite(&[1.0, 1.0], &mut workspace), None);
}
