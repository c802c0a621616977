//! The reading cost of an expression.

use crate::graph::Graph;
use crate::node::{Expr, Node};
use rustc_hash::FxHashMap;

impl Graph {
    /// The number of symbols of the printed expression: names, numbers, operators and functions. Parentheses do not
    /// count; a power counts its `^` and exponent.
    pub fn cost(&self, e: Expr) -> u64 {
        match self.text_limited(e, crate::print::MAX_WRITTEN) {
            Some(text) => symbols_in(&text),
            None => self.tree_cost(e, &mut FxHashMap::default()),
        }
    }

    /// The number of operations of the printed expression, operators and functions; `None` if it is too long to print.
    pub fn operations(&self, e: Expr) -> Option<u64> {
        self.text_limited(e, crate::print::MAX_WRITTEN).map(|text| operations_in(&text))
    }

    /// The number of symbols, estimated from the expression without printing it.
    pub(crate) fn tree_cost(&self, e: Expr, known: &mut FxHashMap<Expr, u64>) -> u64 {
        let mut stack = vec![(e, false)];
        while let Some((x, ready)) = stack.pop() {
            if known.contains_key(&x) {
                continue;
            }
            let node = self.node(x);
            if ready {
                let cost = self.node_cost(node, known);
                known.insert(x, cost);
            } else {
                stack.push((x, true));
                stack.extend(node.operands().iter().map(|y| (*y, false)));
            }
        }
        known[&e]
    }

    pub(crate) fn node_cost(&self, node: Node, known: &FxHashMap<Expr, u64>) -> u64 {
        let of = |x: Expr| known[&x];
        // the cost that a power adds to its base; 1/x has a one and a fraction bar
        let power = |n: Expr| {
            let bar = if self.number(n).is_some_and(|n| n.is_negative()) { 2 } else { 0 };
            bar + match self.number(n).and_then(|n| n.to_small()) {
                Some((-1, 1)) => 0,
                Some((1 | -1, 2)) => 1,
                _ => 2,
            }
        };
        let is_below = |x: Expr| match self.node(x) {
            Node::Pow(_, n) => self.number(n).is_some_and(|n| n.is_negative()),
            _ => false,
        };
        match node {
            Node::Number(id) => match self.number_at(id).to_small() {
                Some((_, d)) if d > 1 && crate::terms::decimal(&self.number_at(id).abs()).is_none() => 3,
                _ => 1,
            },
            Node::Pi | Node::Symbol(_) => 1,
            // a leading minus replaces the plus
            Node::Mul(Expr::MINUS_ONE, x) => of(x),
            // x/2 and 3 x/2
            Node::Mul(c, x) if self.is_number(c) => {
                let fraction = self.number(c).and_then(|c| c.to_small()).is_some_and(|(n, d)| n.abs() != 1 && d != 1);
                let number = if fraction { 4 } else { 2 };
                of(x) + number - if is_below(x) { 2 } else { 0 }
            }
            // if there is a numerator, a factor of the denominator adds only the bar
            Node::Mul(x, y) => {
                let n_bars = u64::from(is_below(x) || is_below(y));
                (1 + of(x)).saturating_add(of(y)) - 2 * n_bars
            }
            Node::Pow(u, n) if self.is_number(n) => of(u) + power(n),
            _ => node.operands().iter().fold(1u64, |sum, x| sum.saturating_add(of(*x))),
        }
    }
}

/// The number of words and operators of a text.
fn symbols_in(text: &str) -> u64 {
    let mut count = 0;
    let mut in_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || matches!(c, '_' | '\'' | '.' | '"');
        count += u64::from(is_word && !in_word) + u64::from(matches!(c, '+' | '-' | '*' | '/' | '^'));
        in_word = is_word;
    }
    count
}

/// The number of operators of a text and of words before parentheses.
fn operations_in(text: &str) -> u64 {
    let mut count = 0;
    let mut before = ' ';
    for c in text.chars() {
        let is_call = c == '(' && (before.is_alphanumeric() || before == '_');
        count += u64::from(is_call) + u64::from(matches!(c, '+' | '-' | '*' | '/' | '^'));
        before = c;
    }
    count
}
