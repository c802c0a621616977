//! Functions and case distinctions: exact values are inserted, and signs are moved to the front.

use crate::graph::{Graph, flag};
use crate::node::{Comparison, Expr, Function, Function2, Node};
use crate::number::Number;

impl Graph {
    /// f(x).
    pub fn apply(&mut self, f: Function, x: Expr) -> Expr {
        use Function::*;
        if f == Sqrt {
            return self.sqrt(x);
        }
        if let Some(value) = self.exact_value(f, x) {
            return value;
        }
        match f {
            Abs => return self.abs(x),
            // sign(c u) = sign(c) sign(u)
            Sign => {
                let (c, u) = self.split_coefficient(x);
                let negative = self.number(c).is_some_and(Number::is_negative);
                let sign = self.intern(Node::Apply(Sign, u));
                return if negative { self.neg(sign) } else { sign };
            }
            // log(exp(u)) = u
            Log => {
                if let Node::Apply(Exp, u) = self.node(x) {
                    return u;
                }
            }
            // exp(log(u)) = u
            Exp => {
                if let Node::Apply(Log, u) = self.node(x) {
                    return u;
                }
            }
            _ => {}
        }
        self.apply_parity(f, x)
    }

    /// f(-u) = -f(u) for odd f, f(-u) = f(u) for even f.
    fn apply_parity(&mut self, f: Function, x: Expr) -> Expr {
        use Function::*;
        let (c, _) = self.split_coefficient(x);
        if !self.number(c).is_some_and(Number::is_negative) {
            return self.intern(Node::Apply(f, x));
        }
        match f {
            Sin | Tan | Asin | Atan | Sinh | Tanh => {
                let minus_x = self.neg(x);
                let value = self.intern(Node::Apply(f, minus_x));
                self.neg(value)
            }
            Cos | Cosh => {
                let minus_x = self.neg(x);
                self.intern(Node::Apply(f, minus_x))
            }
            _ => self.intern(Node::Apply(f, x)),
        }
    }

    /// c u| = |c| |u|, and |u| = u if u ≥ 0.
    fn abs(&mut self, x: Expr) -> Expr {
        if self.has(x, flag::NONNEGATIVE) {
            return x;
        }
        let (c, u) = self.split_coefficient(x);
        let size = self.number(c).map_or(Number::ONE, Number::abs);
        let c = self.exact(size);
        let abs = if self.has(u, flag::NONNEGATIVE) { u } else { self.intern(Node::Apply(Function::Abs, u)) };
        self.scale(c, abs)
    }

    /// The rational values of f: at 0, at 1, at multiples of π/2, and sign and absolute value of a number.
    fn exact_value(&mut self, f: Function, x: Expr) -> Option<Expr> {
        use Function::*;
        match (f, self.node(x)) {
            (Sin | Tan | Asin | Atan | Sinh | Tanh | Abs | Sign, _) if x == Expr::ZERO => Some(Expr::ZERO),
            (Cos | Cosh | Exp, _) if x == Expr::ZERO => Some(Expr::ONE),
            (Log | Acos, _) if x == Expr::ONE => Some(Expr::ZERO),
            (Sign, Node::Number(_)) => Some(if self.number(x)?.is_negative() { Expr::MINUS_ONE } else { Expr::ONE }),
            (Abs, Node::Number(_)) => {
                let abs = self.number(x)?.abs();
                Some(self.exact(abs))
            }
            (Sin | Cos, _) => self.at_quarter_turns(f, x),
            _ => None,
        }
    }

    /// sin(k π/2) and cos(k π/2) for an integer k.
    fn at_quarter_turns(&self, f: Function, x: Expr) -> Option<Expr> {
        let (c, rest) = self.split_coefficient(x);
        if self.node(rest) != Node::Pi {
            return None;
        }
        let quarters = self.number(c)?.mul(&Number::integer(2))?.to_i64()?;
        let quarters = quarters.rem_euclid(4) + if f == Function::Cos { 1 } else { 0 };
        Some([Expr::ZERO, Expr::ONE, Expr::ZERO, Expr::MINUS_ONE][quarters as usize % 4])
    }

    /// f(x, y).
    pub fn apply2(&mut self, f: Function2, x: Expr, y: Expr) -> Expr {
        match f {
            Function2::Atan2 => {
                // atan2(0, x) = 0 for x > 0
                if x == Expr::ZERO && self.number(y).is_some_and(|y| *y > Number::ZERO) {
                    return Expr::ZERO;
                }
                self.intern(Node::Apply2(f, x, y))
            }
            Function2::Min | Function2::Max => self.min_max(f, x, y),
        }
    }

    /// min(x, x) = x, min(x, y) = min(y, x), and the smaller of two numbers; likewise max.
    fn min_max(&mut self, f: Function2, x: Expr, y: Expr) -> Expr {
        if x == y {
            return x;
        }
        if let (Some(a), Some(b)) = (self.number(x), self.number(y)) {
            return if (a < b) == (f == Function2::Min) { x } else { y };
        }
        let (x, y) = self.sorted(x, y);
        self.intern(Node::Apply2(f, x, y))
    }

    /// `if left comparison right then then else otherwise`; a comparison of two numbers is decided immediately.
    pub fn select(&mut self, comparison: Comparison, left: Expr, right: Expr, then: Expr, otherwise: Expr) -> Expr {
        if then == otherwise {
            return then;
        }
        if let (Some(a), Some(b)) = (self.number(left), self.number(right)) {
            return if comparison.holds(a, b) { then } else { otherwise };
        }
        self.intern(Node::Select { comparison, left, right, then, otherwise })
    }
}
