//! Simplifications made while nodes are built, each with the identity it uses.
//!
//! An identity holds wherever its left side has a finite value; the right side may be defined on a larger set, as in
//! x/x = 1. A constant that is not finite, such as 0^-1, is never cancelled, so that running the program finds it.
//!
//! Every rule inspects a bounded number of nodes, so building is fast and long sums remain common subexpressions.

mod function;
mod guard;
mod power;
mod product;
mod sum;

use crate::graph::Graph;
use crate::node::{Expr, Node};
use guard::{Guard, Guards};

/// The depth to which a sum or product is searched for a like term or an equal base; deeper searches seldom find more.
const LOOK_DOWN: usize = 8;

impl Graph {
    pub(crate) fn is_number(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_))
    }

    pub(super) fn add_numbers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == Expr::ZERO || b == Expr::ZERO {
            return Some(if a == Expr::ZERO { b } else { a });
        }
        let sum = self.number(a)?.add(self.number(b)?)?;
        Some(self.exact(sum))
    }

    pub(super) fn mul_numbers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == Expr::ONE || b == Expr::ONE {
            return Some(if a == Expr::ONE { b } else { a });
        }
        let product = self.number(a)?.mul(self.number(b)?)?;
        Some(self.exact(product))
    }

    /// The operands of a commutative operation in canonical order: numbers first, then by age.
    pub(super) fn sorted(&self, a: Expr, b: Expr) -> (Expr, Expr) {
        let key = |e: Expr| (!self.is_number(e), e);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }
}
