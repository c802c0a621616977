//! Expressions rewritten for cheaper evaluation: like terms are merged, common factors are extracted, and factors that
//! change seldom come first.

use crate::graph::{Graph, flag};
use crate::node::{Expr, Node};
use crate::number::Number;
use crate::terms::{SumTerm, merge_like, merge_squares};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of terms of a sum that is rewritten; merging compares all terms.
const MAX_TERMS: usize = 200;

/// The largest number of factors of a product that is flattened.
const MAX_FACTORS: usize = 40;

impl Graph {
    /// Expressions equal to these, up to rounding, that cost less if the symbols `is_held` change seldom.
    ///
    /// Products are written with fixed factors first, so that these can be multiplied in advance. In sums, like terms
    /// are merged, sin² + cos² becomes 1, and factors common to all terms are extracted. Sines and cosines of sums of
    /// angles are written by those of the angles if fewer remain. Common subexpressions remain common.
    pub fn shortened(&mut self, exprs: &[Expr], is_held: impl Fn(Expr) -> bool) -> Vec<Expr> {
        let mut order = self.below(exprs);
        order.sort_unstable();
        let mut shortener = Shortener::new(self, &order, exprs, is_held);
        for &e in &order {
            shortener.rewrite(e);
        }
        let short: Vec<Expr> = exprs.iter().map(|&e| shortener.new_of(e)).collect();
        self.split_angles(&short)
    }

    /// All nodes of these expressions.
    pub(crate) fn below(&self, exprs: &[Expr]) -> Vec<Expr> {
        let mut seen = vec![false; self.len()];
        let (mut found, mut stack) = (Vec::new(), exprs.to_vec());
        while let Some(e) = stack.pop() {
            if !std::mem::replace(&mut seen[e.index()], true) {
                found.push(e);
                stack.extend(self.node(e).operands().iter());
            }
        }
        found
    }
}

struct Shortener<'g> {
    graph: &'g mut Graph,
    /// the replacement of each expression
    new: FxHashMap<Expr, Expr>,
    /// the number of uses of each expression
    uses: FxHashMap<Expr, u32>,
    /// sums that occur in one sum only
    absorbed: FxHashSet<Expr>,
    /// `true` for an expression of fixed symbols and numbers only; also filled for new expressions
    held: FxHashMap<Expr, bool>,
}

impl<'g> Shortener<'g> {
    fn new(graph: &'g mut Graph, order: &[Expr], roots: &[Expr], is_held: impl Fn(Expr) -> bool) -> Shortener<'g> {
        let (mut uses, mut held) = (FxHashMap::default(), FxHashMap::default());
        roots.iter().for_each(|&e| *uses.entry(e).or_insert(0) += 1);
        for &e in order {
            graph.node(e).operands().iter().for_each(|&x| *uses.entry(x).or_insert(0) += 1);
            if graph.is_symbol(e) {
                held.insert(e, is_held(e));
            }
        }
        let is_sum = |e: Expr| matches!(graph.node(e), Node::Add(..));
        let sums = order.iter().filter(|&&e| is_sum(e));
        let inner = sums.flat_map(|&e| graph.node(e).operands().to_vec()).filter(|x| is_sum(*x) && uses[x] == 1);
        let absorbed = inner.collect();
        Shortener { graph, new: FxHashMap::default(), uses, absorbed, held }
    }

    /// The replacement of an expression; the expression itself if it was not rewritten.
    fn new_of(&self, e: Expr) -> Expr {
        self.new.get(&e).copied().unwrap_or(e)
    }

    fn is_held(&mut self, e: Expr) -> bool {
        if let Some(&held) = self.held.get(&e) {
            return held;
        }
        // operands first, without recursion
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            let operands = self.graph.node(x).operands();
            let open: Vec<Expr> = operands.iter().copied().filter(|y| !self.held.contains_key(y)).collect();
            if open.is_empty() {
                let held = operands.iter().all(|y| self.held[y]) && !self.graph.is_symbol(x);
                self.held.insert(x, held);
                stack.pop();
            } else {
                stack.extend(open);
            }
        }
        self.held[&e]
    }

    /// `true` for zero, for values that may be non-finite, and for case distinctions; these are not rewritten.
    fn is_delicate(&self, e: Expr) -> bool {
        e == Expr::ZERO || self.graph.has(e, flag::SINGULAR) || matches!(self.graph.node(e), Node::Select { .. })
    }

    fn rewrite(&mut self, e: Expr) {
        let node = self.graph.node(e);
        let written = match node {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => return,
            _ if self.absorbed.contains(&e) || self.graph.constant_value(e).is_some() => return,
            Node::Add(..) => self.sum(e),
            Node::Mul(..) | Node::Pow(..) => {
                let term = self.term(e, Number::ONE);
                match term {
                    Some(term) => self.product(&term),
                    None => self.same(node),
                }
            }
            _ => self.same(node),
        };
        self.new.insert(e, written);
    }

    /// The same node with replaced operands.
    fn same(&mut self, node: Node) -> Expr {
        match node {
            Node::Add(a, b) => self.graph.add(self.new_of(a), self.new_of(b)),
            Node::Mul(a, b) => self.graph.mul(self.new_of(a), self.new_of(b)),
            Node::Pow(a, b) => self.graph.pow(self.new_of(a), self.new_of(b)),
            Node::Apply(f, x) => self.graph.apply(f, self.new_of(x)),
            Node::Look(table, x) => self.graph.look(table, self.new_of(x)),
            Node::Apply2(f, x, y) => self.graph.apply2(f, self.new_of(x), self.new_of(y)),
            Node::Select { comparison, left, right, then, otherwise } => {
                let [left, right, then, otherwise] = [left, right, then, otherwise].map(|x| self.new_of(x));
                self.graph.select(comparison, left, right, then, otherwise)
            }
            Node::Number(_) | Node::Pi | Node::Symbol(_) => unreachable!("leaves stay as they are"),
        }
    }

    /// The sum with merged terms and extracted common factors.
    fn sum(&mut self, e: Expr) -> Expr {
        let node = self.graph.node(e);
        let summands = self.summands(e);
        let terms: Option<Vec<SumTerm>> = match summands.len() <= MAX_TERMS {
            true => summands.into_iter().map(|(x, coefficient)| self.term(self.new_of(x), coefficient)).collect(),
            false => None,
        };
        let Some(terms) = terms else { return self.same(node) };
        let mut terms = merge_like(self.graph, terms);
        merge_squares(self.graph, &mut terms);
        if terms.len() < 2 {
            return terms.first().map_or(Expr::ZERO, |term| self.product(term));
        }
        let mut common = common(&terms);
        match terms.iter().map(|term| divided(term, &common)).collect::<Option<Vec<SumTerm>>>() {
            Some(divided) => terms = divided,
            // a number grew too large, so nothing is extracted
            None => (common.coefficient, common.factors) = (Number::ONE, Vec::new()),
        }
        let parts: Vec<Expr> = terms.iter().map(|term| self.product(term)).collect();
        let inner = self.graph.sum(&parts);
        match common.factors.is_empty() && common.coefficient == Number::ONE {
            true => inner,
            false => {
                let mut whole = common;
                // a sum may have become a product or a number
                let rest = self.term(inner, Number::ONE);
                match rest.and_then(|rest| Some((whole.coefficient.mul(&rest.coefficient)?, rest.factors))) {
                    Some((coefficient, factors)) => {
                        whole.coefficient = coefficient;
                        whole.factors = joined([whole.factors, factors].concat());
                        self.product(&whole)
                    }
                    None => {
                        let outer = self.product(&whole);
                        self.graph.mul(outer, inner)
                    }
                }
            }
        }
    }

    /// The summands of a sum with their coefficients; inner sums used elsewhere are kept whole.
    fn summands(&self, e: Expr) -> Vec<(Expr, Number)> {
        let (mut found, mut stack) = (Vec::new(), vec![(e, Number::ONE)]);
        let is_inner = |x: Expr| self.uses.get(&x).copied().unwrap_or(0) < 2;
        while let Some((x, c)) = stack.pop() {
            match self.graph.node(x) {
                Node::Add(a, b) if x == e || is_inner(x) => stack.extend([(b, c.clone()), (a, c)]),
                Node::Mul(d, y) if d == Expr::MINUS_ONE || is_inner(x) => {
                    match self.graph.number(d).and_then(|d| d.mul(&c)) {
                        Some(product) => stack.push((y, product)),
                        None => found.push((x, c)),
                    }
                }
                _ => found.push((x, c)),
            }
        }
        found
    }

    /// The expression times the coefficient as a number and powers of replaced factors; `None` if it should not be
    /// rewritten.
    fn term(&self, e: Expr, mut coefficient: Number) -> Option<SumTerm> {
        let mut factors = Vec::new();
        let mut stack = vec![(e, Number::ONE)];
        while let Some((x, n)) = stack.pop() {
            let x = self.new_of(x);
            if self.is_delicate(x) || factors.len() > MAX_FACTORS {
                return None;
            }
            match self.graph.node(x) {
                Node::Mul(a, b) => stack.extend([(b, n.clone()), (a, n)]),
                Node::Pow(u, k) => match self.graph.number(k).filter(|k| k.is_integer()).and_then(|k| k.mul(&n)) {
                    Some(k) => stack.push((u, k)),
                    None => factors.push((x, n)),
                },
                Node::Number(id) => coefficient = self.graph.number_at(id).pow(&n).and_then(|c| c.mul(&coefficient))?,
                _ => factors.push((x, n)),
            }
        }
        Some(SumTerm { coefficient, factors: joined(factors), place: e })
    }

    /// coefficient · fixed factors · the others, each group with one common denominator.
    fn product(&mut self, term: &SumTerm) -> Expr {
        let number = self.graph.exact(term.coefficient.clone());
        let (held, moving): (Vec<_>, Vec<_>) = term.factors.iter().cloned().partition(|(base, _)| self.is_held(*base));
        let held = self.powers(&held);
        let moving = self.powers(&moving);
        let product = self.graph.mul(held, moving);
        self.graph.mul(number, product)
    }

    fn powers(&mut self, factors: &[(Expr, Number)]) -> Expr {
        let side = |shortener: &mut Self, below: bool| {
            let chosen = factors.iter().filter(|(_, n)| n.is_negative() == below);
            chosen.fold(Expr::ONE, |product, (base, n)| {
                let exponent = shortener.graph.exact(n.abs());
                let power = shortener.graph.pow(*base, exponent);
                shortener.graph.mul(product, power)
            })
        };
        let (above, below) = (side(self, false), side(self, true));
        if below == Expr::ONE { above } else { self.graph.div(above, below) }
    }
}

/// Factors sorted by base, with the exponents of equal bases added.
fn joined(mut factors: Vec<(Expr, Number)>) -> Vec<(Expr, Number)> {
    factors.sort_by_key(|(base, _)| *base);
    let mut joined: Vec<(Expr, Number)> = Vec::with_capacity(factors.len());
    for (base, n) in factors {
        match joined.last_mut() {
            Some((last, m)) if *last == base => match m.add(&n) {
                Some(sum) => *m = sum,
                None => joined.push((base, n)),
            },
            _ => joined.push((base, n)),
        }
    }
    joined.retain(|(_, n)| !n.is_zero());
    joined
}

/// The largest common factor of all terms.
fn common(terms: &[SumTerm]) -> SumTerm {
    let first = &terms[0];
    let mut factors = Vec::new();
    for (base, n) in &first.factors {
        let exponents: Option<Vec<&Number>> =
            terms.iter().map(|term| term.factors.iter().find(|(other, _)| other == base).map(|(_, n)| n)).collect();
        let Some(exponents) = exponents else { continue };
        if exponents.iter().all(|m| m.is_negative() == n.is_negative()) {
            let least = exponents.into_iter().min_by_key(|m| m.abs().to_i64().unwrap_or(i64::MAX)).unwrap_or(n);
            factors.push((*base, least.clone()));
        }
    }
    let same = terms.iter().all(|term| term.coefficient.abs() == first.coefficient.abs());
    let coefficient = if same { first.coefficient.abs() } else { Number::ONE };
    SumTerm { coefficient, factors, place: first.place }
}

/// term / common, or `None` if a number grows too large.
fn divided(term: &SumTerm, common: &SumTerm) -> Option<SumTerm> {
    let mut factors = term.factors.clone();
    for (base, n) in &common.factors {
        let (_, m) = factors.iter_mut().find(|(other, _)| other == base)?;
        *m = m.add(&n.neg())?;
    }
    factors.retain(|(_, n)| !n.is_zero());
    let coefficient = term.coefficient.mul(&common.coefficient.recip()?)?;
    Some(SumTerm { coefficient, factors, place: term.place })
}
