//! The rewrites applied as nodes are built, each with the law it uses.
//!
//! A law holds wherever its left side has a finite value; the right side may be defined further, as in
//! x/x = 1. A constant that is not finite, such as 0^-1, is never cancelled: it is kept and found when run.
//!
//! Every rule looks at a bounded number of nodes, so that building is fast and long sums stay shared.

mod function;
mod guard;
mod power;
mod product;
mod sum;

use crate::graph::Graph;
use crate::node::{Expr, Node};
use guard::{Guard, Guards};

/// How far down a sum or product a like term or an equal base is looked for: longer searches seldom find more.
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

    /// Operands of a commutative operation in their order: numbers first, then the older one.
    pub(super) fn sorted(&self, a: Expr, b: Expr) -> (Expr, Expr) {
        let key = |e: Expr| (!self.is_number(e), e);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }
}
