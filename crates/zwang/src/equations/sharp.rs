//! Sharp functions: nodes of the equations that may act within a small part of their argument's range.

use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Expr, Function, Function2, Graph, Node};

/// The degree of dense output: polynomials up to this one are followed by it.
const FOLLOWED_DEGREE: f64 = 7.0;

/// Integer powers up to this one are no sharper than their base.
const BLUNT_POWER: f64 = 4.0;

/// The sharp functions in formulas, inner ones first: waves, exponentials and steps of anything that depends on the state, quotients,
/// roots, powers above the fourth, and polynomials above degree seven in the state.
///
/// Tables are cut at their rows, `abs`, `min` and `if` at their switches. A quotient by a length that an `if` keeps from zero, as in
/// `direction(v)`, is a switch as well.
pub(crate) fn sharp_functions(graph: &Graph, formulas: &[Expr], is_state: impl Fn(Expr) -> bool) -> Vec<Expr> {
    let nodes = below(graph, formulas);
    let guarded = guarded_lengths(graph, &nodes);
    let mut degrees: FxHashMap<Expr, f64> = FxHashMap::default();
    let mut found = Vec::new();
    for e in nodes {
        let degree = |x: Expr| degrees[&x];
        let own = match graph.node(e) {
            Node::Number(_) | Node::Pi => 0.0,
            Node::Symbol(_) => f64::from(u8::from(is_state(e))),
            Node::Add(a, b) => degree(a).max(degree(b)),
            Node::Mul(a, b) => degree(a) + degree(b),
            Node::Pow(a, n) => match graph.constant_value(n) {
                Some(n) => degree(a) * if n > 0.0 { n } else { 1.0 },
                None => degree(a).max(degree(n)).min(1.0),
            },
            node => node.operands().iter().fold(0.0, |top: f64, x| top.max(degree(*x))).min(1.0),
        };
        let is_sharp = own > 0.0
            && match graph.node(e) {
                Node::Apply(f, _) => !matches!(f, Function::Abs | Function::Sign | Function::Sqrt),
                Node::Apply2(f, ..) => f == Function2::Atan2,
                Node::Pow(base, _) if guarded.contains(&base) => false,
                Node::Pow(_, n) => graph
                    .constant_value(n)
                    .is_none_or(|n| !(n > 0.0 && n <= BLUNT_POWER && n.fract() == 0.0) || own > FOLLOWED_DEGREE),
                _ => false,
            };
        if is_sharp {
            found.push(e);
        }
        degrees.insert(e, own);
    }
    found
}

/// The summands of a formula.
pub(crate) fn summands(graph: &Graph, formula: Expr) -> Vec<Expr> {
    let (mut found, mut open) = (Vec::new(), vec![formula]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Add(a, b) => open.extend([b, a]),
            _ => found.push(e),
        }
    }
    found
}

/// All nodes of formulas, operands before what is built of them.
pub(crate) fn below(graph: &Graph, formulas: &[Expr]) -> Vec<Expr> {
    let (mut seen, mut open) = (FxHashSet::default(), formulas.to_vec());
    while let Some(e) = open.pop() {
        if seen.insert(e) {
            open.extend_from_slice(&graph.node(e).operands());
        }
    }
    let mut nodes: Vec<Expr> = seen.into_iter().collect();
    nodes.sort_unstable();
    nodes
}

/// Lengths that an `if` compares with zero, and what is under their roots.
fn guarded_lengths(graph: &Graph, nodes: &[Expr]) -> FxHashSet<Expr> {
    let mut guarded = FxHashSet::default();
    for &e in nodes {
        let Node::Select { left, right, .. } = graph.node(e) else { continue };
        if right == Expr::ZERO {
            guarded.insert(left);
            if let Node::Pow(radicand, _) = graph.node(left) {
                guarded.insert(radicand);
            }
        }
    }
    guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(build: impl FnOnce(&mut Graph, Expr, Expr) -> Expr, wanted: &[&str]) {
        let mut g = Graph::new();
        let [x, k] = ["x", "k"].map(|name| g.symbol(name, name));
        let formula = build(&mut g, x, k);
        let found: Vec<String> = sharp_functions(&g, &[formula], |s| s == x).iter().map(|e| g.text(*e)).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn functions_of_the_state_are_sharp_and_those_of_parameters_are_not() {
        check(
            |g, x, k| {
                let (of_x, of_k) = (g.apply(Function::Exp, x), g.apply(Function::Exp, k));
                let inner = g.apply(Function::Tanh, of_x);
                g.mul(inner, of_k)
            },
            &["exp(x)", "tanh(exp(x))"],
        );
    }

    #[test]
    fn low_powers_are_not_sharp_unless_their_degree_grows() {
        check(|g, x, _| g.powi(x, 4), &[]);
        check(|g, x, _| g.powi(x, 5), &["x^5"]);
        check(|g, x, _| g.powi(x, -1), &["1/x"]);
        check(
            |g, x, k| {
                let fourth = g.powi(x, 4);
                let sum = g.add(fourth, k);
                g.powi(sum, 3)
            },
            &["(k + x^4)^3"],
        );
    }

    #[test]
    fn a_quotient_guarded_by_an_if_is_a_switch() {
        let direction = |g: &mut Graph, x: Expr, k: Expr| {
            let (a, b) = (g.powi(x, 2), g.powi(k, 2));
            let sum = g.add(a, b);
            let length = g.sqrt(sum);
            let quotient = g.div(x, length);
            g.select(zwang_expr::Comparison::Greater, length, Expr::ZERO, quotient, Expr::ZERO)
        };
        check(direction, &[]);
    }
}
