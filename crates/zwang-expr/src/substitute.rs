//! The symbols and the size of an expression, and substitution.

use crate::graph::Graph;
use crate::node::{Expr, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;

impl Graph {
    /// The free symbols of `e`, sorted.
    pub fn symbols(&self, e: Expr) -> Vec<Expr> {
        self.symbols_of(&[e])
    }

    /// The free symbols of all the expressions together, sorted.
    pub fn symbols_of(&self, es: &[Expr]) -> Vec<Expr> {
        let mut found = Vec::new();
        self.visit(es, |e| {
            if self.is_symbol(e) {
                found.push(e);
            }
        });
        found.sort_unstable();
        found
    }

    /// The number of distinct nodes of `e`, including `e` itself.
    pub fn size(&self, e: Expr) -> usize {
        let mut count = 0;
        self.visit(&[e], |_| count += 1);
        count
    }

    /// A graph of these expressions alone, and their handles in it: what is built there leaves this graph as it is. The symbols keep
    /// their order, so that those of [`symbols_of`](Graph::symbols_of) correspond; they have no rates.
    pub fn part(&self, es: &[Expr]) -> (Graph, Vec<Expr>) {
        let mut nodes = Vec::new();
        self.visit(es, |e| nodes.push(e));
        nodes.sort_unstable();
        let mut part = Graph::new();
        let mut place: FxHashMap<Expr, Expr> = FxHashMap::default();
        for e in nodes {
            let at = |x: Expr| place[&x];
            // the operands keep their order, so that the node is still in the form that building it gives
            let new = match self.node(e) {
                Node::Number(id) => part.exact(self.number_at(id).clone()),
                Node::Symbol(_) => part.symbol(self.name(e), &self.latex(e)),
                Node::Pi => part.pi(),
                Node::Add(a, b) => part.intern(Node::Add(at(a), at(b))),
                Node::Mul(a, b) => part.intern(Node::Mul(at(a), at(b))),
                Node::Pow(a, b) => part.intern(Node::Pow(at(a), at(b))),
                Node::Apply(f, x) => part.intern(Node::Apply(f, at(x))),
                Node::Look(table, x) => {
                    let table = part.add_table(self.table(table).clone());
                    part.look(table, at(x))
                }
                Node::Apply2(f, x, y) => part.intern(Node::Apply2(f, at(x), at(y))),
                Node::Select { comparison, left, right, then, otherwise } => {
                    let [left, right, then, otherwise] = [left, right, then, otherwise].map(at);
                    part.intern(Node::Select { comparison, left, right, then, otherwise })
                }
            };
            place.insert(e, new);
        }
        (part, es.iter().map(|e| place[e]).collect())
    }

    /// Calls `see` once for each distinct node of the roots, including the roots themselves.
    fn visit(&self, roots: &[Expr], mut see: impl FnMut(Expr)) {
        let mut seen = FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                see(e);
                stack.extend_from_slice(&self.node(e).operands());
            }
        }
    }

    /// The roots with every key of `with` replaced by its value, simultaneously; a key may be any subexpression.
    pub fn substitute(&mut self, roots: &[Expr], with: &HashMap<Expr, Expr>) -> Vec<Expr> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.begin(self.len());
        for &root in roots {
            scratch.collect(&self.nodes, root, |_| true);
        }
        for &e in &scratch.order {
            let new = |x: Expr| scratch.value[x.index()];
            let node = self.node(e);
            scratch.value[e.index()] = match with.get(&e) {
                Some(&replaced) => replaced,
                None if node.operands().iter().all(|&x| new(x) == x) => e,
                None => self.rebuild(node, new),
            };
        }
        let replaced = roots.iter().map(|root| scratch.value[root.index()]).collect();
        self.scratch = scratch;
        replaced
    }

    /// The node with its operands replaced by `new` of them.
    pub(crate) fn rebuild(&mut self, node: Node, new: impl Fn(Expr) -> Expr) -> Expr {
        match node {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => unreachable!("leaves have no operands"),
            Node::Add(a, b) => self.add(new(a), new(b)),
            Node::Mul(a, b) => self.mul(new(a), new(b)),
            Node::Pow(a, b) => self.pow(new(a), new(b)),
            Node::Apply(f, x) => self.apply(f, new(x)),
            Node::Look(table, x) => self.look(table, new(x)),
            Node::Apply2(f, x, y) => self.apply2(f, new(x), new(y)),
            Node::Select { comparison, left, right, then, otherwise } => {
                self.select(comparison, new(left), new(right), new(then), new(otherwise))
            }
        }
    }
}
