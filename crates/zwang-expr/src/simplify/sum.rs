//! Sums: a number comes first, and the coefficients of equal terms are added.

use super::{Guard, LOOK_DOWN};
use crate::graph::Graph;
use crate::node::{Expr, Node};
use crate::number::Number;

impl Graph {
    /// a + b.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        // 0 + x = x
        if a == Expr::ZERO {
            return b;
        }
        if b == Expr::ZERO {
            return a;
        }
        // (c + x) + (d + y) = (c + d) + (x + y)
        let ((c, x), (d, y)) = (self.split_constant(a), self.split_constant(b));
        let rest = self.add_terms(x, y);
        match self.add_numbers(c, d) {
            Some(c) => self.offset(c, rest),
            None => self.sorted_add(a, b),
        }
    }

    /// a - b.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        let minus_b = self.neg(b);
        self.add(a, minus_b)
    }

    /// -a.
    pub fn neg(&mut self, a: Expr) -> Expr {
        self.scale(Expr::MINUS_ONE, a)
    }

    /// The sum of all terms, from left to right.
    pub fn sum(&mut self, terms: &[Expr]) -> Expr {
        terms.iter().fold(Expr::ZERO, |total, &term| self.add(total, term))
    }

    /// The constant term c and the rest of e = c + rest.
    fn split_constant(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Number(_) => (e, Expr::ZERO),
            Node::Add(c, rest) if self.is_number(c) => (c, rest),
            _ => (Expr::ZERO, e),
        }
    }

    /// c + rest for a number c.
    fn offset(&mut self, c: Expr, rest: Expr) -> Expr {
        if c == Expr::ZERO {
            return rest;
        }
        if rest == Expr::ZERO {
            return c;
        }
        let (d, x) = self.split_constant(rest);
        match self.add_numbers(c, d) {
            Some(_) if d == Expr::ZERO => self.intern(Node::Add(c, rest)),
            Some(sum) if x == Expr::ZERO || sum == Expr::ZERO => self.add_shallow(sum, x),
            Some(sum) => self.intern(Node::Add(sum, x)),
            None => self.sorted_add(c, rest),
        }
    }

    /// a + b for operands without a constant term.
    fn add_terms(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ZERO || b == Expr::ZERO {
            return if a == Expr::ZERO { b } else { a };
        }
        self.merge_terms(a, b)
            .or_else(|| self.merge_selects(a, b))
            .or_else(|| self.merge_into_sum(a, b))
            .or_else(|| self.merge_into_sum(b, a))
            .or_else(|| self.merge_signs(a, b))
            .unwrap_or_else(|| self.sorted_add(a, b))
    }

    /// a + b by the rules for two terms only.
    fn add_shallow(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ZERO || b == Expr::ZERO {
            return if a == Expr::ZERO { b } else { a };
        }
        if let Some(sum) = self.add_numbers(a, b) {
            return sum;
        }
        self.merge_terms(a, b).or_else(|| self.merge_signs(a, b)).unwrap_or_else(|| self.sorted_add(a, b))
    }

    fn sorted_add(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.sorted(a, b);
        self.intern(Node::Add(a, b))
    }

    /// c x + d x = (c + d) x.
    fn merge_terms(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        if x != y || x == Expr::ONE {
            return None;
        }
        let c = self.add_numbers(c, d)?;
        Some(self.scale(c, x))
    }

    /// (-x) + (-y) = -(x + y); a square or an even function then drops the sign.
    fn merge_signs(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let is_negative = |e: Expr| match self.node(e) {
            Node::Mul(c, _) => self.number(c).is_some_and(Number::is_negative),
            _ => false,
        };
        if !is_negative(a) || !is_negative(b) {
            return None;
        }
        let (x, y) = (self.neg(a), self.neg(b));
        let sum = self.sorted_add(x, y);
        Some(self.neg(sum))
    }

    /// (if p then a else 0) + (if p then 0 else b) = if p then a else b.
    fn merge_selects(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (p, q) = (Guard::of(self.node(a))?, Guard::of(self.node(b))?);
        if p.condition() != q.condition() {
            return None;
        }
        Some(match (p.in_then, q.in_then) {
            (true, false) => p.build(self, p.value, q.value),
            (false, true) => p.build(self, q.value, p.value),
            (in_then, _) => {
                let total = self.add_shallow(p.value, q.value);
                p.around(self, total, in_then)
            }
        })
    }

    /// Adds `term` to a like term of the sum `chain` or of -`chain`, searching at most `LOOK_DOWN` terms.
    fn merge_into_sum(&mut self, term: Expr, chain: Expr) -> Option<Expr> {
        let (_, like) = self.split_coefficient(term);
        let (mut at, negated) = match self.node(chain) {
            Node::Mul(Expr::MINUS_ONE, sum) => (sum, true),
            _ => (chain, false),
        };
        let mut passed = [Expr::ZERO; LOOK_DOWN];
        for depth in 0..LOOK_DOWN {
            let Node::Add(l, r) = self.node(at) else {
                return None;
            };
            for (this, other) in [(l, r), (r, l)] {
                if self.split_coefficient(this).1 == like {
                    // -(x + rest) + term = -((x - term) + rest)
                    let term = if negated { self.neg(term) } else { term };
                    let merged = self.merge_terms(term, this)?;
                    let start = self.add_shallow(merged, other);
                    let kept = passed[..depth].iter().rev();
                    let sum = kept.fold(start, |sum, &p| self.add_shallow(p, sum));
                    return Some(if negated { self.neg(sum) } else { sum });
                }
            }
            let down_right = matches!(self.node(r), Node::Add(..));
            (at, passed[depth]) = if down_right { (r, l) } else { (l, r) };
        }
        None
    }
}
