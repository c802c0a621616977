//! Partial derivatives by one backward sweep, directional and time derivatives by one forward sweep.
//!
//! Both use the same partial derivatives, one rule per kind of node. A case distinction is differentiated branch by
//! branch: the derivative of `if p then a else b` is `if p then a' else b'`, regardless of the behaviour at the
//! boundary.

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, Node};
use crate::scratch::Scratch;
use std::fmt;

/// A symbol without a rate; no expression that contains it has one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NoRate(pub Expr);

impl fmt::Display for NoRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbol {} has no time derivative", self.0.index())
    }
}

impl std::error::Error for NoRate {}

/// Marks a node that does not depend on a wanted symbol, in place of its adjoint.
const INACTIVE: Expr = Expr(u32::MAX - 1);

impl Graph {
    /// The symbols of `e` with a nonzero derivative and that derivative, sorted by symbol.
    ///
    /// One backward sweep computes all of them: with w = ∂e/∂node, each operand u of the node receives w ∂node/∂u. The
    /// cost is a small multiple of the size of `e`, independent of the number of symbols.
    pub fn gradient(&mut self, e: Expr) -> Vec<(Expr, Expr)> {
        self.gradient_in(e, |_| true)
    }

    /// The [`gradient`](Graph::gradient) with respect to the `wanted` symbols only.
    ///
    /// Subexpressions that do not contain them are not differentiated.
    pub fn gradient_in(&mut self, e: Expr, wanted: impl Fn(Expr) -> bool) -> Vec<(Expr, Expr)> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.begin(self.len());
        scratch.collect(&self.nodes, e, |_| true);
        self.mark_active(&mut scratch, wanted);
        if scratch.value[e.index()] == Expr::NONE {
            scratch.value[e.index()] = Expr::ONE;
        }

        let mut gradient = Vec::new();
        for k in (0..scratch.order.len()).rev() {
            let x = scratch.order[k];
            let w = scratch.value[x.index()];
            match self.node(x) {
                _ if w == INACTIVE || w == Expr::NONE || w == Expr::ZERO => {}
                Node::Symbol(_) => gradient.push((x, w)),
                node => self.spread(x, node, w, &mut scratch.value),
            }
        }
        self.scratch = scratch;
        gradient.sort_unstable();
        gradient
    }

    /// ∂e/∂symbol.
    pub fn derivative(&mut self, e: Expr, symbol: Expr) -> Expr {
        self.derivative_by_node(e, symbol)
    }

    /// ∂e/∂node, where every occurrence of the node counts as one symbol that nothing else depends on.
    pub fn derivative_by_node(&mut self, e: Expr, node: Expr) -> Expr {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.begin(self.len());
        scratch.collect(&self.nodes, e, |x| x >= node);
        for k in 0..scratch.order.len() {
            let x = scratch.order[k];
            // a node older than the variable does not contain it
            let of = |y: Expr| if y >= node { scratch.value[y.index()] } else { Expr::ZERO };
            scratch.value[x.index()] = if x == node { Expr::ONE } else { self.tangent(x, of) };
        }
        let derivative = if scratch.reached(e) { scratch.value[e.index()] } else { Expr::ZERO };
        self.scratch = scratch;
        derivative
    }

    /// The total time derivative from the rates of the symbols; it is memoised for every subexpression.
    ///
    /// Fails if a symbol in `e` has no rate.
    pub fn rate(&mut self, e: Expr) -> Result<Expr, NoRate> {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.rates.resize(self.len().max(self.rates.len()), Expr::NONE);
        scratch.begin(self.len());
        scratch.collect(&self.nodes, e, |x| self.rates[x.index()] == Expr::NONE);
        let done = scratch.order.iter().try_for_each(|&x| {
            let rate = match self.node(x) {
                Node::Symbol(id) => self.symbols[id.0 as usize].rate.ok_or(NoRate(x))?,
                _ => self.rate_of_node(x),
            };
            self.rates[x.index()] = rate;
            Ok(())
        });
        self.scratch = scratch;
        done.map(|()| self.rates[e.index()])
    }

    /// The derivatives of expressions along one direction; `direction(s)` is the rate of change of the symbol s.
    ///
    /// One forward sweep computes all of them, at a small multiple of their common size.
    pub fn tangents(&mut self, exprs: &[Expr], direction: impl Fn(Expr) -> Expr) -> Vec<Expr> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.begin(self.len());
        exprs.iter().for_each(|&e| scratch.collect(&self.nodes, e, |_| true));
        for k in 0..scratch.order.len() {
            let x = scratch.order[k];
            scratch.value[x.index()] = match self.node(x) {
                Node::Symbol(_) => direction(x),
                _ => self.tangent(x, |y| scratch.value[y.index()]),
            };
        }
        let tangents = exprs.iter().map(|e| scratch.value[e.index()]).collect();
        self.scratch = scratch;
        tangents
    }

    fn rate_of_node(&mut self, e: Expr) -> Expr {
        let rates = std::mem::take(&mut self.rates);
        let rate = self.tangent(e, |x| rates[x.index()]);
        self.rates = rates;
        rate
    }

    /// Clears the adjoints of the nodes that depend on a wanted symbol and marks the others as inactive.
    fn mark_active(&self, scratch: &mut Scratch, wanted: impl Fn(Expr) -> bool) {
        for &x in &scratch.order {
            let node = self.node(x);
            let active = match node {
                Node::Symbol(_) => wanted(x),
                _ => varying(&node).iter().any(|&(_, y)| y != Expr::NONE && scratch.value[y.index()] != INACTIVE),
            };
            scratch.value[x.index()] = if active { Expr::NONE } else { INACTIVE };
        }
    }

    /// Adds the contributions of the adjoint w of a node to the adjoints of its operands.
    fn spread(&mut self, e: Expr, node: Node, w: Expr, adjoint: &mut [Expr]) {
        for (position, operand) in varying(&node) {
            if operand == Expr::NONE || adjoint[operand.index()] == INACTIVE {
                continue;
            }
            let contribution = match choice(&node) {
                Some((comparison, left, right, ..)) if position == 0 => {
                    self.select(comparison, left, right, w, Expr::ZERO)
                }
                Some((comparison, left, right, ..)) => self.select(comparison, left, right, Expr::ZERO, w),
                None => {
                    let partial = self.partial(e, node, position);
                    self.mul(w, partial)
                }
            };
            let so_far = adjoint[operand.index()];
            adjoint[operand.index()] = if so_far == Expr::NONE { contribution } else { self.add(so_far, contribution) };
        }
    }

    /// The derivative of a node whose operands have the derivatives `of`: Σ ∂node/∂u u'.
    fn tangent(&mut self, e: Expr, of: impl Fn(Expr) -> Expr) -> Expr {
        let node = self.node(e);
        if let Some((comparison, left, right, then, otherwise)) = choice(&node) {
            return self.select(comparison, left, right, of(then), of(otherwise));
        }
        let mut total = Expr::ZERO;
        for (position, operand) in varying(&node) {
            if operand == Expr::NONE || of(operand) == Expr::ZERO {
                continue;
            }
            let partial = self.partial(e, node, position);
            let term = self.mul(partial, of(operand));
            total = self.add(total, term);
        }
        total
    }

    /// ∂node/∂operand for the operand at `position`; `e` is the node itself.
    fn partial(&mut self, e: Expr, node: Node, position: usize) -> Expr {
        match (node, position) {
            (Node::Add(..), _) => Expr::ONE,
            (Node::Mul(_, b), 0) => b,
            (Node::Mul(a, _), _) => a,
            // ∂uᵛ/∂u = v uᵛ⁻¹
            (Node::Pow(u, v), 0) => {
                let less = self.add(v, Expr::MINUS_ONE);
                let power = self.pow(u, less);
                self.mul(v, power)
            }
            // 0ᵛ = 0 for v > 0
            (Node::Pow(Expr::ZERO, _), _) => Expr::ZERO,
            // ∂uᵛ/∂v = uᵛ log u
            (Node::Pow(u, _), _) => {
                let log = self.apply(Function::Log, u);
                self.mul(e, log)
            }
            (Node::Apply(f, u), _) => self.slope(f, e, u),
            (Node::Look(table, x), _) => {
                let slope = self.slope_of_table(table);
                self.look(slope, x)
            }
            (Node::Apply2(Function2::Atan2, y, x), _) => self.atan2_partial(y, x, position),
            _ => unreachable!("leaves have no operands, choices no partial derivatives"),
        }
    }

    /// f'(u), where e = f(u).
    fn slope(&mut self, f: Function, e: Expr, u: Expr) -> Expr {
        use Function::*;
        match f {
            Sin => self.apply(Cos, u),
            Cos => {
                let sin = self.apply(Sin, u);
                self.neg(sin)
            }
            // 1 + tan²u
            Tan => {
                let square = self.powi(e, 2);
                self.add(Expr::ONE, square)
            }
            // 1/√(1 - u²)
            Asin => self.arc_slope(u),
            Acos => {
                let slope = self.arc_slope(u);
                self.neg(slope)
            }
            // 1/(1 + u²)
            Atan => {
                let square = self.powi(u, 2);
                let below = self.add(Expr::ONE, square);
                self.div(Expr::ONE, below)
            }
            Sinh => self.apply(Cosh, u),
            Cosh => self.apply(Sinh, u),
            // 1 - tanh²u
            Tanh => {
                let square = self.powi(e, 2);
                self.sub(Expr::ONE, square)
            }
            Exp => e,
            Log => self.div(Expr::ONE, u),
            // 1/(2 √u)
            Sqrt => {
                let reciprocal = self.div(Expr::ONE, e);
                self.mul(Expr::HALF, reciprocal)
            }
            Abs => self.apply(Sign, u),
            Sign => Expr::ZERO,
        }
    }

    fn arc_slope(&mut self, u: Expr) -> Expr {
        let square = self.powi(u, 2);
        let below = self.sub(Expr::ONE, square);
        let root = self.sqrt(below);
        self.div(Expr::ONE, root)
    }

    /// ∂atan2(y, x) = (x ∂y - y ∂x) / (x² + y²).
    fn atan2_partial(&mut self, y: Expr, x: Expr, position: usize) -> Expr {
        let (yy, xx) = (self.powi(y, 2), self.powi(x, 2));
        let below = self.add(yy, xx);
        let above = if position == 0 { x } else { self.neg(y) };
        self.div(above, below)
    }
}

/// The operands that a node depends on differentiably, with their positions, filled up with `Expr::NONE`.
fn varying(node: &Node) -> [(usize, Expr); 2] {
    match *node {
        Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Apply(Function::Sign, _) => {
            [(0, Expr::NONE), (1, Expr::NONE)]
        }
        Node::Add(a, b) | Node::Mul(a, b) | Node::Pow(a, b) | Node::Apply2(_, a, b) => [(0, a), (1, b)],
        Node::Apply(_, x) | Node::Look(_, x) => [(0, x), (1, Expr::NONE)],
        Node::Select { then, otherwise, .. } => [(0, then), (1, otherwise)],
    }
}

/// A case distinction as (comparison, left, right, then, otherwise); min(a, b) is a if a ≤ b, else b.
fn choice(node: &Node) -> Option<(Comparison, Expr, Expr, Expr, Expr)> {
    match *node {
        Node::Select { comparison, left, right, then, otherwise } => Some((comparison, left, right, then, otherwise)),
        Node::Apply2(Function2::Min, a, b) => Some((Comparison::LessOrEqual, a, b, a, b)),
        Node::Apply2(Function2::Max, a, b) => Some((Comparison::GreaterOrEqual, a, b, a, b)),
        _ => None,
    }
}
