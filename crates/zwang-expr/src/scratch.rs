//! Arrays that are kept between sweeps over an expression, so that a sweep costs only the nodes it visits.

use crate::node::{Expr, Node};

/// Arrays over the nodes that sweeps reuse. An entry is valid only if its stamp is the current one, so starting a sweep
/// needs no clearing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    stamp: Vec<u32>,
    now: u32,
    pub value: Vec<Expr>,
    stack: Vec<(Expr, bool)>,
    pub order: Vec<Expr>,
}

impl Scratch {
    /// Starts a sweep over a graph of `len` nodes.
    pub fn begin(&mut self, len: usize) {
        if self.now == u32::MAX {
            self.stamp.fill(0);
            self.now = 0;
        }
        self.now += 1;
        self.order.clear();
        self.stamp.resize(len.max(self.stamp.len()), 0);
        self.value.resize(len.max(self.value.len()), Expr::NONE);
    }

    /// `true` if this sweep has reached `e`.
    pub fn reached(&self, e: Expr) -> bool {
        self.stamp[e.index()] == self.now
    }

    /// Appends to `order` all nodes below `root` that `enter` admits, operands first.
    pub fn collect(&mut self, nodes: &[Node], root: Expr, enter: impl Fn(Expr) -> bool) {
        self.stack.push((root, false));
        while let Some((e, operands_done)) = self.stack.pop() {
            if operands_done {
                self.order.push(e);
            } else if !self.reached(e) && enter(e) {
                self.stamp[e.index()] = self.now;
                self.stack.push((e, true));
                self.stack.extend(nodes[e.index()].operands().iter().map(|&x| (x, false)));
            }
        }
    }
}
