//! Products in written form: signs where they read best, tangents and double angles combined.

use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;

/// A number times powers.
pub(crate) struct Factors {
    pub number: Number,
    pub powers: Vec<(Expr, i64)>,
}

impl Default for Factors {
    fn default() -> Factors {
        Factors { number: Number::ONE, powers: Vec::new() }
    }
}

impl Factors {
    /// Multiplies by eⁿ; a sum that reads better with the opposite signs passes its sign to the number.
    pub fn push(&mut self, graph: &mut Graph, e: Expr, n: i64) -> Option<()> {
        let (c, rest) = graph.split_coefficient(e);
        let number = graph.number(c)?.pow(&Number::integer(n))?;
        self.number = self.number.mul(&number)?;
        let mut e = rest;
        if n % 2 != 0 && prefers_negation(graph, e) {
            e = negated_sum(graph, e);
            self.number = self.number.neg();
        }
        if e != Expr::ONE {
            self.powers.push((e, n));
        }
        Some(())
    }

    /// Multiplies by a product, factor by factor.
    pub fn push_factors(&mut self, graph: &mut Graph, e: Expr) -> Option<()> {
        let mut stack = vec![e];
        while let Some(x) = stack.pop() {
            match graph.node(x) {
                Node::Mul(a, b) => stack.extend([b, a]),
                Node::Pow(u, n) => match graph.number(n).and_then(Number::to_i64) {
                    Some(n) => self.powers.push((u, n)),
                    None => self.powers.push((x, 1)),
                },
                _ => self.push(graph, x, 1)?,
            }
        }
        Some(())
    }

    pub fn product(mut self, graph: &mut Graph) -> Expr {
        self.give_sign_to_a_sum(graph);
        self.join_tangents(graph);
        self.double_angles(graph);
        let mut product = graph.exact(self.number);
        let (above, below): (Vec<_>, Vec<_>) = self.powers.into_iter().partition(|(_, n)| *n > 0);
        for (e, n) in above.into_iter().chain(below) {
            let power = graph.powi(e, n as i32);
            product = graph.mul(product, power);
        }
        product
    }

    /// Moves a negative sign into a sum: −x (a − b) = x (b − a).
    fn give_sign_to_a_sum(&mut self, graph: &mut Graph) {
        if !self.number.is_negative() {
            return;
        }
        let place = self.powers.iter().position(|(e, n)| n % 2 != 0 && *n > 0 && has_minus(graph, *e));
        if let Some(at) = place {
            self.powers[at].0 = negated_sum(graph, self.powers[at].0);
            self.number = self.number.neg();
        }
    }

    /// sin/cos = tan.
    fn join_tangents(&mut self, graph: &mut Graph) {
        for at in 0..self.powers.len() {
            let (e, n) = self.powers[at];
            let Node::Apply(Function::Sin, u) = graph.node(e) else { continue };
            let cosine = graph.apply(Function::Cos, u);
            let Some(other) = self.powers.iter().position(|(e, _)| *e == cosine) else { continue };
            let m = self.powers[other].1;
            if (n > 0) != (m < 0) {
                continue;
            }
            let turns = n.abs().min(m.abs()) * n.signum();
            let tangent = graph.apply(Function::Tan, u);
            self.powers[at].1 -= turns;
            self.powers[other].1 += turns;
            self.powers.push((tangent, turns));
        }
        self.powers.retain(|(_, n)| *n != 0);
    }

    /// 2 sin u cos u = sin 2u.
    fn double_angles(&mut self, graph: &mut Graph) {
        for at in 0..self.powers.len() {
            let (e, n) = self.powers[at];
            let Node::Apply(Function::Sin, u) = graph.node(e) else { continue };
            let cosine = graph.apply(Function::Cos, u);
            let Some(other) = self.powers.iter().position(|(e, m)| *e == cosine && *m == n) else { continue };
            let Some(number) = self.halved(n) else { continue };
            self.number = number;
            let twice = graph.add(u, u);
            self.powers[at] = (graph.apply(Function::Sin, twice), n);
            self.powers[other].1 = 0;
        }
        self.powers.retain(|(_, n)| *n != 0);
    }

    /// The number divided by 2ⁿ, or `None` unless that makes it shorter without a larger denominator.
    fn halved(&self, n: i64) -> Option<Number> {
        let number = self.number.mul(&Number::ratio(1, 2).pow(&Number::integer(n))?)?;
        (number.denominator() <= self.number.denominator() && number.numerator().abs() < self.number.numerator().abs())
            .then_some(number)
    }
}

/// The terms of a sum, with `true` for those with a minus.
fn signs(graph: &Graph, e: Expr) -> Vec<(Expr, bool)> {
    let (mut found, mut stack) = (Vec::new(), vec![(e, false)]);
    while let Some((x, negative)) = stack.pop() {
        match graph.node(x) {
            Node::Add(a, b) => stack.extend([(b, negative), (a, negative)]),
            Node::Mul(Expr::MINUS_ONE, y) => stack.push((y, !negative)),
            _ => {
                let (c, _) = graph.split_coefficient(x);
                let minus = graph.number(c).is_some_and(Number::is_negative);
                found.push((x, negative ^ minus));
            }
        }
    }
    found
}

fn has_minus(graph: &Graph, e: Expr) -> bool {
    matches!(graph.node(e), Node::Add(..)) && signs(graph, e).iter().any(|(_, minus)| *minus)
}

/// `true` if a sum reads better with the opposite signs: all terms, or its number, would become positive.
fn prefers_negation(graph: &Graph, e: Expr) -> bool {
    if !matches!(graph.node(e), Node::Add(..)) {
        return false;
    }
    let signs = signs(graph, e);
    let number = signs.iter().find(|(x, _)| graph.is_number(*x));
    signs.iter().all(|(_, minus)| *minus) || number.is_some_and(|(_, minus)| *minus)
}

/// The sum with the signs of all terms changed.
fn negated_sum(graph: &mut Graph, e: Expr) -> Expr {
    let (mut sum, mut stack) = (Expr::ZERO, vec![e]);
    while let Some(x) = stack.pop() {
        match graph.node(x) {
            Node::Add(a, b) => stack.extend([b, a]),
            Node::Mul(Expr::MINUS_ONE, y) if matches!(graph.node(y), Node::Add(..)) => sum = graph.add(sum, y),
            _ => {
                let term = negated_product(graph, x);
                sum = graph.add(sum, term);
            }
        }
    }
    sum
}

/// The product with the opposite sign, moved into a factor that is a sum with a minus: −x (a − b) = x (b − a).
fn negated_product(graph: &mut Graph, e: Expr) -> Expr {
    let (mut others, mut stack) = (Expr::ONE, vec![e]);
    let (c, _) = graph.split_coefficient(e);
    if graph.number(c).is_some_and(Number::is_negative) {
        return graph.neg(e);
    }
    while let Some(x) = stack.pop() {
        match graph.node(x) {
            Node::Mul(a, b) => stack.extend([b, a]),
            _ if has_minus(graph, x) => {
                let flipped = negated_sum(graph, x);
                let product = graph.mul(others, flipped);
                return stack.iter().fold(product, |product, y| graph.mul(product, *y));
            }
            _ => others = graph.mul(others, x),
        }
    }
    graph.neg(e)
}
