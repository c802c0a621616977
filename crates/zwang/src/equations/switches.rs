//! Switches of formulas: the expressions whose sign changes there.

use rustc_hash::FxHashSet;
use zwang_expr::{Expr, Function, Function2, Graph, Node};

/// The expressions whose sign changes where one of the formulas switches, each once.
///
/// `if a < b …`, `min(a, b)` and `max(a, b)` give a − b, `abs(u)` and `sign(u)` give u. An expression of constant sign
/// causes no switch: numbers, and lengths as in `direction(v)`.
pub(crate) fn switches(graph: &mut Graph, exprs: &[Expr]) -> Vec<Expr> {
    let (mut seen, mut found) = (FxHashSet::default(), FxHashSet::default());
    let (mut open, mut list) = (exprs.to_vec(), Vec::new());
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        open.extend_from_slice(&graph.node(e).operands());
        let Some(switch) = switch_of(graph, e) else { continue };
        // b − a changes its sign where a − b does
        let opposite = graph.neg(switch);
        if !has_one_sign(graph, switch) && !found.contains(&opposite) && found.insert(switch) {
            list.push(switch);
        }
    }
    list.sort_unstable();
    list
}

/// True if one of the formulas contains a switch that depends on a symbol for which `is_unknown` is true, so that it
/// is not one formula for all values of the symbol.
pub(crate) fn switches_by(graph: &Graph, exprs: &[Expr], is_unknown: impl Fn(Expr) -> bool) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), exprs.to_vec());
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        let node = graph.node(e);
        let decides = match node {
            Node::Apply(Function::Abs | Function::Sign, u) => vec![u],
            Node::Apply2(Function2::Min | Function2::Max, a, b) => vec![a, b],
            Node::Select { left, right, .. } => vec![left, right],
            // a table consists of pieces and has no value beyond its ends
            Node::Look(_, argument) => vec![argument],
            _ => Vec::new(),
        };
        if graph.symbols_of(&decides).into_iter().any(&is_unknown) {
            return true;
        }
        open.extend_from_slice(&node.operands());
    }
    false
}

/// The expression whose sign changes at the switch of this node.
fn switch_of(graph: &mut Graph, e: Expr) -> Option<Expr> {
    match graph.node(e) {
        Node::Apply(Function::Abs | Function::Sign, u) => Some(u),
        Node::Apply2(Function2::Min | Function2::Max, a, b) => Some(graph.sub(a, b)),
        Node::Select { left, right, .. } => Some(graph.sub(left, right)),
        _ => None,
    }
}

/// True if an expression is a number, a length or an even power, possibly times a number.
fn has_one_sign(graph: &Graph, e: Expr) -> bool {
    if graph.constant_value(e).is_some() {
        return true;
    }
    match graph.node(e) {
        Node::Pow(_, power) => graph.number(power).is_some_and(|n| n.is_even() || !n.is_integer()),
        Node::Apply(function, _) => matches!(function, Function::Abs | Function::Exp | Function::Cosh),
        Node::Mul(factor, rest) => graph.constant_value(factor).is_some() && has_one_sign(graph, rest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang_expr::Comparison;

    /// The switches, as text, of a formula over x and y.
    fn check(build: impl FnOnce(&mut Graph, Expr, Expr) -> Expr, wanted: &[&str]) {
        let mut g = Graph::new();
        let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
        let formula = build(&mut g, x, y);
        let found = switches(&mut g, &[formula, formula]);
        let texts: Vec<String> = found.into_iter().map(|e| g.text(e)).collect();
        assert_eq!(texts, wanted);
    }

    #[test]
    fn every_kind_of_switch_is_found() {
        check(|g, x, _| g.apply(Function::Abs, x), &["x"]);
        check(|g, x, _| g.apply(Function::Sign, x), &["x"]);
        check(|g, x, y| g.apply2(Function2::Max, x, y), &["x - y"]);
        check(|g, x, y| g.select(Comparison::Less, x, Expr::ONE, y, Expr::ZERO), &["x - 1"]);
    }

    #[test]
    fn switches_inside_switches_are_found_and_none_twice() {
        let nested = |g: &mut Graph, x: Expr, y: Expr| {
            let (min, max) = (g.apply2(Function2::Min, y, x), g.apply2(Function2::Max, x, y));
            let product = g.mul(min, max);
            let inner = g.apply(Function::Sin, product);
            g.apply(Function::Abs, inner)
        };
        let mut g = Graph::new();
        let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
        let formula = nested(&mut g, x, y);
        assert_eq!(switches(&mut g, &[formula]).len(), 2);
    }

    #[test]
    fn numbers_and_lengths_switch_nothing() {
        let direction = |g: &mut Graph, x: Expr, y: Expr| {
            let (a, b) = (g.powi(x, 2), g.powi(y, 2));
            let sum = g.add(a, b);
            let length = g.sqrt(sum);
            let quotient = g.div(x, length);
            g.select(Comparison::Greater, length, Expr::ZERO, quotient, Expr::ZERO)
        };
        check(direction, &[]);
        check(|g, x, y| g.mul(x, y), &[]);
    }

    #[test]
    fn a_deep_formula_needs_no_deep_stack() {
        let deep = |g: &mut Graph, x: Expr, y: Expr| {
            let start = g.apply(Function::Abs, x);
            (0..100_000).fold(start, |e, _| {
                let sum = g.add(e, y);
                g.apply(Function::Sin, sum)
            })
        };
        check(deep, &["x"]);
    }
}
