//! What formulas have in common, and what it is worth to name it.

use crate::graph::Graph;
use crate::node::{Expr, Node};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a name costs where it is explained: itself, an equals sign, and a line.
const COST_OF_A_NAME: u64 = 5;

/// Parts as short as `m*l^2` or `sin(a - b)` are read more easily than remembered.
const SHORT: u64 = 5;

impl Graph {
    /// How often each part occurs in these formulas as they are written. What is below a named part counts once for all its
    /// places; numbers beyond the range are the largest there is.
    pub fn occurrences(&self, exprs: &[Expr], named: &FxHashSet<Expr>) -> FxHashMap<Expr, u64> {
        let mut all = self.below(exprs);
        // operands are older than what they are in
        all.sort_unstable_by(|a, b| b.cmp(a));
        let mut times: FxHashMap<Expr, u64> = FxHashMap::default();
        exprs.iter().for_each(|e| *times.entry(*e).or_insert(0) += 1);
        for e in all {
            let own = if named.contains(&e) { 1 } else { times[&e] };
            for operand in self.node(e).operands().iter() {
                let sum = times.entry(*operand).or_insert(0);
                *sum = sum.saturating_add(own);
            }
        }
        times
    }

    /// The parts that are worth a name because they are long and occur several times: each saves at least `gain` symbols. In
    /// the order in which they are needed.
    ///
    /// All that could have a name begins with one; the names that save least are taken away until every other is worth it.
    pub fn worth_naming(&self, exprs: &[Expr], gain: u64, most: usize) -> Vec<Expr> {
        let once = self.occurrences(exprs, &self.below(exprs).into_iter().collect());
        let is_candidate = |e: &Expr| once[e] > 1 && self.can_be_named(*e);
        let mut named: FxHashSet<Expr> = once.keys().copied().filter(is_candidate).collect();
        loop {
            let times = self.occurrences(exprs, &named);
            let costs = self.costs_with(exprs, &named);
            let saved = |e: &Expr| match costs[e] > SHORT {
                true => (times[e] - 1).saturating_mul(costs[e] - 1).saturating_sub(COST_OF_A_NAME),
                false => 0,
            };
            let mut weak: Vec<(u64, Expr)> = named.iter().map(|e| (saved(e), *e)).collect();
            weak.sort_unstable();
            let n_weak = weak.iter().filter(|(saved, _)| *saved < gain).count().max(named.len().saturating_sub(most));
            if n_weak == 0 {
                break;
            }
            // what is inside a part without a name occurs more often, so not all at once
            weak[..n_weak.div_ceil(3)].iter().for_each(|(_, e)| {
                named.remove(e);
            });
        }
        let mut order: Vec<Expr> = named.into_iter().collect();
        order.sort_unstable();
        order
    }

    /// These parts and more, so that no formula and no part is longer than `longest` if that can be: long ones are cut in two.
    pub fn cut(&self, exprs: &[Expr], named: &[Expr], longest: u64) -> Vec<Expr> {
        let mut named: FxHashSet<Expr> = named.iter().copied().collect();
        loop {
            let costs = self.costs_with(exprs, &named);
            let lines = exprs.iter().chain(&named);
            let Some(line) = lines.copied().filter(|e| costs[e] > longest).max_by_key(|e| (costs[e], *e)) else {
                break;
            };
            // what is seen of it, and not half of it yet
            let (mut inside, mut stack) = (Vec::new(), self.node(line).operands().to_vec());
            while let Some(e) = stack.pop() {
                if !named.contains(&e) {
                    inside.push(e);
                    stack.extend(self.node(e).operands().iter());
                }
            }
            let fits = |e: &Expr| costs[e] <= longest && costs[e] >= longest / 8 && self.can_be_named(*e);
            let Some(part) = inside.into_iter().filter(fits).max_by_key(|e| (costs[e], *e)) else { break };
            named.insert(part);
        }
        let mut order: Vec<Expr> = named.into_iter().collect();
        order.sort_unstable();
        order
    }

    /// Names, numbers and reciprocals are no quantities of their own.
    fn can_be_named(&self, e: Expr) -> bool {
        match self.node(e) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => false,
            Node::Mul(c, x) => !self.is_number(c) || matches!(self.node(x), Node::Add(..)),
            Node::Pow(_, n) => !self.number(n).is_some_and(|n| n.is_negative()),
            _ => true,
        }
    }

    /// The cost of every part, where named ones inside cost one.
    fn costs_with(&self, exprs: &[Expr], named: &FxHashSet<Expr>) -> FxHashMap<Expr, u64> {
        let mut all = self.below(exprs);
        all.sort_unstable();
        let mut own: FxHashMap<Expr, u64> = FxHashMap::default();
        // as seen from outside: one symbol for what has a name
        let mut seen: FxHashMap<Expr, u64> = FxHashMap::default();
        for e in all {
            let cost = self.node_cost(self.node(e), &seen);
            own.insert(e, cost);
            seen.insert(e, if named.contains(&e) { 1 } else { cost });
        }
        own
    }
}
