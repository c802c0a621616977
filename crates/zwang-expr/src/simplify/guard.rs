//! Choices between a value and zero; products with them are formed inside the choice.

use super::LOOK_DOWN;
use crate::graph::Graph;
use crate::node::{Comparison, Expr, Node};

/// A choice between a value and zero.
#[derive(Copy, Clone)]
pub(super) struct Guard {
    comparison: Comparison,
    left: Expr,
    right: Expr,
    pub(super) value: Expr,
    pub(super) in_then: bool,
}

impl Guard {
    pub(super) fn of(node: Node) -> Option<Guard> {
        match node {
            Node::Select { comparison, left, right, then, otherwise: Expr::ZERO } => {
                Some(Guard { comparison, left, right, value: then, in_then: true })
            }
            Node::Select { comparison, left, right, then: Expr::ZERO, otherwise } => {
                Some(Guard { comparison, left, right, value: otherwise, in_then: false })
            }
            _ => None,
        }
    }

    pub(super) fn condition(&self) -> (Comparison, Expr, Expr) {
        (self.comparison, self.left, self.right)
    }

    pub(super) fn build(&self, graph: &mut Graph, then: Expr, otherwise: Expr) -> Expr {
        graph.select(self.comparison, self.left, self.right, then, otherwise)
    }

    pub(super) fn around(&self, graph: &mut Graph, value: Expr, in_then: bool) -> Expr {
        if in_then { self.build(graph, value, Expr::ZERO) } else { self.build(graph, Expr::ZERO, value) }
    }
}

/// The guards around a value, outermost first, at most `LOOK_DOWN` of them.
pub(super) struct Guards {
    list: [Option<Guard>; LOOK_DOWN],
    pub(super) inner: Expr,
}

impl Guards {
    pub(super) fn of(graph: &Graph, e: Expr) -> Guards {
        let mut guards = Guards { list: [None; LOOK_DOWN], inner: e };
        for slot in &mut guards.list {
            *slot = Guard::of(graph.node(guards.inner));
            let Some(guard) = slot else { break };
            guards.inner = guard.value;
        }
        guards
    }

    pub(super) fn around(&self, graph: &mut Graph, value: Expr) -> Expr {
        self.list.iter().flatten().rev().fold(value, |value, guard| guard.around(graph, value, guard.in_then))
    }
}
