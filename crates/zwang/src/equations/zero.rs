//! Expressions that vanish identically, judged by their structure and at a few arbitrary states.

use zwang_expr::{Expr, Graph, Node, Program};

use crate::{random::scattered, tolerance};

/// True if an expression vanishes identically: by its structure, or up to rounding at a few arbitrary states.
///
/// A product vanishes with one of its factors; a sum is compared with the sizes of its terms.
pub(crate) fn vanishes(graph: &Graph, expr: Expr) -> bool {
    let (mut factors, mut open) = (Vec::new(), vec![expr]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Mul(a, b) => open.extend([a, b]),
            _ => factors.push(e),
        }
    }
    factors.into_iter().any(|factor| factor == Expr::ZERO || sum_vanishes(graph, factor))
}

/// Values of expressions at a few scattered points, without the points at which one of them is not finite.
pub(crate) fn samples(graph: &Graph, expressions: &[Expr]) -> Vec<Vec<f64>> {
    let mut symbols: Vec<Expr> = expressions.iter().flat_map(|e| graph.symbols(*e)).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let Ok(program) = Program::new(graph, &symbols, expressions) else { return Vec::new() };
    let (mut work, mut values) = (program.workspace(), vec![0.0; expressions.len()]);
    let mut at = |k: usize| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.4 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        values.clone()
    };
    (1..4).map(&mut at).filter(|values| values.iter().all(|v| v.is_finite())).collect()
}

fn sum_vanishes(graph: &Graph, expr: Expr) -> bool {
    let (mut terms, mut open) = (Vec::new(), vec![expr]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Add(a, b) => open.extend([a, b]),
            _ => terms.push(e),
        }
    }
    let symbols = graph.symbols(expr);
    let Ok(program) = Program::new(graph, &symbols, &terms) else { return false };
    let (mut work, mut values) = (program.workspace(), vec![0.0; terms.len()]);
    let mut looks_zero = |k: usize| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.4 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        let (sum, size) = values.iter().fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
        // rounding of a handful of operations on terms of that size
        sum.abs() <= tolerance::ROUNDING * size
    };
    terms.len() > 1 && (1..4).all(&mut looks_zero)
}
