//! Powers of numbers if the result is exact, and of products and powers if the identity holds.

use crate::graph::{Graph, flag};
use crate::node::{Expr, Function, Node};

impl Graph {
    /// base^exponent.
    pub fn pow(&mut self, base: Expr, exponent: Expr) -> Expr {
        // u¹ = u
        if exponent == Expr::ONE {
            return base;
        }
        // u⁰ = 1, also for u = 0
        if exponent == Expr::ZERO && !self.has(base, flag::SINGULAR) {
            return Expr::ONE;
        }
        // 1ᵛ = 1
        if base == Expr::ONE && !self.has(exponent, flag::SINGULAR) {
            return Expr::ONE;
        }
        let simpler = match self.number(exponent) {
            Some(n) if n.is_integer() => self.integer_power(base, exponent),
            Some(_) => self.rational_power(base, exponent),
            None => None,
        };
        simpler.unwrap_or_else(|| self.intern(Node::Pow(base, exponent)))
    }

    /// base^exponent for an integer exponent.
    pub fn powi(&mut self, base: Expr, exponent: i32) -> Expr {
        let exponent = self.integer(exponent.into());
        self.pow(base, exponent)
    }

    /// √x, which is x^(1/2).
    pub fn sqrt(&mut self, x: Expr) -> Expr {
        self.pow(x, Expr::HALF)
    }

    fn integer_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        match self.node(base) {
            Node::Number(_) => self.number_power(base, n),
            // (c u)ⁿ = cⁿ uⁿ
            Node::Mul(c, u) if self.is_number(c) => self.scaled_power(c, u, n),
            // (uᵐ)ⁿ = uᵐⁿ, unless u may be non-finite: u⁰ would hide that
            Node::Pow(u, m) if !self.has(base, flag::SINGULAR) => {
                let exponent = if self.is_number(m) { self.mul_numbers(m, n)? } else { self.mul(m, n) };
                Some(self.pow(u, exponent))
            }
            // |u|²ᵏ = u²ᵏ
            Node::Apply(Function::Abs, u) if self.number(n)?.is_even() => Some(self.pow(u, n)),
            _ => None,
        }
    }

    /// cⁿ uⁿ, or `None` if cⁿ is not an exact number.
    fn scaled_power(&mut self, c: Expr, u: Expr, n: Expr) -> Option<Expr> {
        let c = self.number_power(c, n)?;
        let power = self.pow(u, n);
        Some(self.scale(c, power))
    }

    fn rational_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        match self.node(base) {
            Node::Number(_) => self.number_power(base, n),
            // (c u)ⁿ = cⁿ uⁿ for c > 0
            Node::Mul(c, u) if self.is_number(c) => self.scaled_power(c, u, n),
            Node::Pow(u, m) if !self.has(base, flag::SINGULAR) => {
                let even = self.number(m)?.is_even();
                let exponent = self.mul_numbers(m, n)?;
                // (u²ᵏ)ⁿ = |u|²ᵏⁿ; any other (uᵐ)ⁿ is defined for u ≥ 0 only, where it equals uᵐⁿ
                let u = if even { self.apply(Function::Abs, u) } else { u };
                Some(self.pow(u, exponent))
            }
            _ => None,
        }
    }

    fn number_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        let power = self.number(base)?.pow(self.number(n)?)?;
        Some(self.exact(power))
    }
}
