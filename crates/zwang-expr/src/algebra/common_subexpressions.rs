//! Common subexpressions of formulas, and the gain from naming them.

use crate::graph::Graph;
use crate::node::{Expr, Node};
use rustc_hash::{FxHashMap, FxHashSet};

/// The cost of defining a name, in symbols: the name, an equals sign, and a line.
const COST_OF_A_NAME: u64 = 5;

/// The largest cost of a part that is never named: `m*l^2` or `sin(a - b)` is easier to read than to remember.
const SHORT: u64 = 5;

impl Graph {
    /// The number of occurrences of each part in the written formulas, saturating. The parts of a named part count once
    /// for all its occurrences.
    pub fn occurrences(&self, exprs: &[Expr], named: &FxHashSet<Expr>) -> FxHashMap<Expr, u64> {
        let mut all = self.below(exprs);
        // operands are older than the expressions that contain them
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

    /// The parts that are worth a name, because they are long and occur several times: each saves at least `gain`
    /// symbols. They are in the order of definition.
    ///
    /// All candidates have a name at first; the names that save least are removed until every remaining one is
    /// worthwhile.
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
            // parts inside an unnamed part occur more often, so only a third is removed at a time
            weak[..n_weak.div_ceil(3)].iter().for_each(|(_, e)| {
                named.remove(e);
            });
        }
        let mut order: Vec<Expr> = named.into_iter().collect();
        order.sort_unstable();
        order
    }

    /// The given parts and more, so that no formula and no part costs more than `longest`, if possible; long ones are
    /// cut.
    pub fn cut(&self, exprs: &[Expr], named: &[Expr], longest: u64) -> Vec<Expr> {
        let mut named: FxHashSet<Expr> = named.iter().copied().collect();
        loop {
            let costs = self.costs_with(exprs, &named);
            let lines = exprs.iter().chain(&named);
            let Some(line) = lines.copied().filter(|e| costs[e] > longest).max_by_key(|e| (costs[e], *e)) else {
                break;
            };
            // the subexpressions visible in the line
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

    /// `true` unless the expression is a name, a number, a reciprocal, or a multiple of something other than a sum.
    fn can_be_named(&self, e: Expr) -> bool {
        match self.node(e) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => false,
            Node::Mul(c, x) => !self.is_number(c) || matches!(self.node(x), Node::Add(..)),
            Node::Pow(_, n) => !self.number(n).is_some_and(|n| n.is_negative()),
            _ => true,
        }
    }

    /// The cost of every part; a named part inside it costs one symbol.
    fn costs_with(&self, exprs: &[Expr], named: &FxHashSet<Expr>) -> FxHashMap<Expr, u64> {
        let mut all = self.below(exprs);
        all.sort_unstable();
        let mut own: FxHashMap<Expr, u64> = FxHashMap::default();
        // the cost inside another part: one symbol for a named part
        let mut seen: FxHashMap<Expr, u64> = FxHashMap::default();
        for e in all {
            let cost = self.node_cost(self.node(e), &seen);
            own.insert(e, cost);
            seen.insert(e, if named.contains(&e) { 1 } else { cost });
        }
        own
    }
}
