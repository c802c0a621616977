//! Products: a number comes first, and the exponents of equal bases are added.

use super::{Guard, Guards, LOOK_DOWN};
use crate::graph::{Graph, flag};
use crate::node::{Expr, Node};

impl Graph {
    /// a b.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        // 1 x = x
        if a == Expr::ONE {
            return b;
        }
        if b == Expr::ONE {
            return a;
        }
        // (c x) (d y) = (c d) (x y)
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        match self.mul_numbers(c, d) {
            Some(Expr::ZERO) => self.vanish(if a == Expr::ZERO { b } else { a }),
            Some(c) => {
                let rest = self.mul_factors(x, y);
                self.scale(c, rest)
            }
            None => self.sorted_mul(a, b),
        }
    }

    /// a / b.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        let reciprocal = self.pow(b, Expr::MINUS_ONE);
        self.mul(a, reciprocal)
    }

    /// The product of all factors, from left to right.
    pub fn product(&mut self, factors: &[Expr]) -> Expr {
        factors.iter().fold(Expr::ONE, |total, &factor| self.mul(total, factor))
    }

    /// The coefficient c and the rest of e = c rest.
    pub(crate) fn split_coefficient(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Number(_) => (e, Expr::ONE),
            Node::Mul(c, rest) if self.is_number(c) => (c, rest),
            _ => (Expr::ONE, e),
        }
    }

    /// 0 x = 0 for finite x.
    fn vanish(&mut self, x: Expr) -> Expr {
        if self.has(x, flag::SINGULAR) { self.intern(Node::Mul(Expr::ZERO, x)) } else { Expr::ZERO }
    }

    /// c x for a number c; if x is a choice between a value and zero, the value is scaled.
    pub(super) fn scale(&mut self, c: Expr, x: Expr) -> Expr {
        if c == Expr::ONE {
            return x;
        }
        if c == Expr::ZERO {
            return self.vanish(x);
        }
        if Guard::of(self.node(x)).is_none() {
            return self.scale_plain(c, x);
        }
        let guards = Guards::of(self, x);
        let scaled = self.scale_plain(c, guards.inner);
        guards.around(self, scaled)
    }

    fn scale_plain(&mut self, c: Expr, x: Expr) -> Expr {
        // c (d y) = (c d) y
        let (d, y) = self.split_coefficient(x);
        match self.mul_numbers(c, d) {
            Some(Expr::ONE) => y,
            Some(c) if y == Expr::ONE => c,
            Some(c) => self.intern(Node::Mul(c, y)),
            None => self.sorted_mul(c, x),
        }
    }

    /// a b for operands without a coefficient.
    fn mul_factors(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ONE || b == Expr::ONE {
            return if a == Expr::ONE { b } else { a };
        }
        self.merge_factors(a, b)
            .or_else(|| self.mul_inside_guards(a, b))
            .or_else(|| self.merge_into_product(a, b))
            .or_else(|| self.merge_into_product(b, a))
            .unwrap_or_else(|| self.sorted_mul(a, b))
    }

    /// a b by the rules for two factors only.
    fn mul_shallow(&mut self, a: Expr, b: Expr) -> Expr {
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        let Some(c) = self.mul_numbers(c, d) else {
            return self.sorted_mul(a, b);
        };
        if x == Expr::ONE || y == Expr::ONE {
            return self.scale(c, if x == Expr::ONE { y } else { x });
        }
        let rest = self.merge_factors(x, y).unwrap_or_else(|| self.sorted_mul(x, y));
        self.scale(c, rest)
    }

    fn sorted_mul(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.sorted(a, b);
        self.intern(Node::Mul(a, b))
    }

    /// The base and the exponent of e = base^exponent if the exponent is a number, otherwise e and 1.
    fn split_power(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Pow(base, exponent) if self.is_number(exponent) => (base, exponent),
            _ => (e, Expr::ONE),
        }
    }

    /// uᵃ uᵇ = uᵃ⁺ᵇ for numbers a, b; a non-integer power is defined for u ≥ 0 only, where the identity holds too.
    fn merge_factors(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let ((base, m), (other, n)) = (self.split_power(a), self.split_power(b));
        if base != other || self.has(base, flag::SINGULAR) || base == Expr::ZERO {
            return None;
        }
        let exponent = self.add_numbers(m, n)?;
        Some(self.pow(base, exponent))
    }

    /// (if p then a else 0) b = if p then a b else 0; b is then evaluated under the guard only.
    fn mul_inside_guards(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (guarded, factor) = if Guard::of(self.node(a)).is_some() { (a, b) } else { (b, a) };
        Guard::of(self.node(guarded))?;
        let guards = Guards::of(self, guarded);
        let product = self.mul_shallow(guards.inner, factor);
        Some(guards.around(self, product))
    }

    /// Multiplies `factor` into the factor of `chain` with the same base, searching at most `LOOK_DOWN` factors.
    fn merge_into_product(&mut self, factor: Expr, chain: Expr) -> Option<Expr> {
        let (base, _) = self.split_power(factor);
        let mut passed = [Expr::ONE; LOOK_DOWN];
        let mut at = chain;
        for depth in 0..LOOK_DOWN {
            let Node::Mul(l, r) = self.node(at) else {
                return None;
            };
            for (this, other) in [(l, r), (r, l)] {
                if self.split_power(this).0 == base {
                    let merged = self.merge_factors(factor, this)?;
                    let kept = passed[..depth].iter().rev();
                    let start = self.mul_shallow(merged, other);
                    return Some(kept.fold(start, |product, &p| self.mul_shallow(p, product)));
                }
            }
            let down_right = matches!(self.node(r), Node::Mul(..));
            (at, passed[depth]) = if down_right { (r, l) } else { (l, r) };
        }
        None
    }
}
