//! From fractions back to expressions, in the shortest of many forms.

use super::factors::Factors;
use super::field::Field;
use super::fraction::Fraction;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use crate::graph::Graph;
use crate::node::{Expr, Node};
use crate::number::Number;
use std::collections::BTreeMap;

/// The number of groupings that are worked out in full, for the whole, for its parts, for their parts, and so on.
const GROUPINGS: [usize; 5] = [4, 3, 2, 1, 1];

/// A grouping is discarded if its first cost exceeds the best one by more than 1/4 of that.
const WORSE_BY: u64 = 4;

/// A form in other sines and cosines is discarded if its cost exceeds the best one by more than 1/2 of that.
const FORM_WORSE_BY: u64 = 2;

/// The work of examining a polynomial, per term.
const WORK_OF_A_LOOK: usize = 10;

/// The longest numerator and denominator that are divided into polynomial part and proper fraction, in terms.
const LONGEST_PARTED: usize = 24;

/// A polynomial part with fraction is discarded if its first cost exceeds that of the numerator by more than 1/5.
const PARTED_WORSE_BY: u64 = 5;

/// The number of symbols by which a sum of fractions over a denominator must be shorter: nested fractions are hard to
/// read.
const WORTH_OF_ONE_BAR: u64 = 3;

/// The longest polynomial that is tried in several forms, in terms.
pub(crate) const LONGEST_TRIED: usize = 400;

impl Field {
    /// The fraction as an expression; `None` only if a number grows too large.
    pub fn write_fraction(&mut self, graph: &mut Graph, f: &Fraction) -> Option<Expr> {
        let f = self.lowest(f)?;
        if f.above.is_zero() {
            return Some(Expr::ZERO);
        }
        let joint = self.joint(graph, &f)?;
        let others = [self.apart(graph, &f), self.with_whole_part(graph, &f), self.with_roots_apart(graph, &f)];
        let shortest =
            others.into_iter().flatten().fold(joint, |best, other| if other.0 < best.0 { other } else { best });
        Some(shortest.1)
    }

    /// Polynomial part and proper fraction in the shortest division; `None` if there is no polynomial part.
    fn with_whole_part(&mut self, graph: &mut Graph, f: &Fraction) -> Option<(u64, Expr)> {
        let long = f.below.iter().find(|(p, n)| p.len() > 1 && *n == 1)?;
        if f.above.len() > LONGEST_PARTED || long.0.len() > LONGEST_PARTED {
            return None;
        }
        let others: Vec<_> = f.below.iter().filter(|factor| *factor != long).cloned().collect();
        let mut best: Option<(u64, Expr)> = None;
        let flat = self.flat_cost(graph, &f.above);
        let longest = flat + flat / PARTED_WORSE_BY;
        for lead in long.0.monomials() {
            let (whole, rest) = f.above.divide_with_rest(&long.0, lead, &self.writing)?;
            if whole.is_zero() || rest.is_zero() || rest.len() > f.above.len() {
                continue;
            }
            if self.flat_cost(graph, &whole) + self.flat_cost(graph, &rest) > longest {
                continue;
            }
            let whole = self.lowest(&Fraction { above: whole, below: others.clone() })?;
            let rest = self.lowest(&Fraction { above: rest, below: f.below.clone() })?;
            let ((_, whole), (_, rest)) = (self.joint(graph, &whole)?, self.joint(graph, &rest)?);
            let sum = graph.add(whole, rest);
            let cost = self.cost(graph, sum);
            if best.is_none_or(|best| cost < best.0) {
                best = Some((cost, sum));
            }
        }
        best
    }

    /// The terms with a root √u and those without, each with its own power of u below; `None` if u is not a
    /// denominator.
    fn with_roots_apart(&mut self, graph: &mut Graph, f: &Fraction) -> Option<(u64, Expr)> {
        let is_below = |k: &usize| {
            let square = self.atoms[*k].square.as_ref().filter(|_| self.is_root(*k));
            square.is_some_and(|u| f.below.iter().any(|(factor, _)| factor == u))
        };
        let k = f.above.indeterminates().into_iter().find(is_below)?;
        let mut sum = Expr::ZERO;
        for is_odd in [false, true] {
            let terms = f.above.terms().iter().filter(|(m, _)| (m.exponent(k) % 2 == 1) == is_odd).cloned().collect();
            let above = Polynomial::from_terms(terms);
            if above.is_zero() {
                return None;
            }
            let part = self.cancelled(above, f.below.clone())?;
            let part = self.write_fraction(graph, &part)?;
            sum = graph.add(sum, part);
        }
        Some((self.cost(graph, sum), sum))
    }

    /// One product divided by another.
    fn joint(&mut self, graph: &mut Graph, f: &Fraction) -> Option<(u64, Expr)> {
        let mut factors = Factors::default();
        // denominators are common subexpressions and come first
        for (factor, n) in &f.below {
            self.factors_of(graph, factor, -i64::from(*n), &mut factors, 0)?;
        }
        self.factors_of(graph, &f.above, 1, &mut factors, 0)?;
        let e = factors.product(graph);
        Some((self.cost(graph, e), e))
    }

    /// A sum of terms, each with its remaining single indeterminates as denominator; `None` if there are no such.
    fn apart(&mut self, graph: &mut Graph, f: &Fraction) -> Option<(u64, Expr)> {
        let (single, long): (Vec<_>, Vec<_>) = f.below.iter().cloned().partition(|(p, _)| p.len() == 1);
        if single.is_empty() || f.above.len() < 2 || f.above.len() > LONGEST_TRIED {
            return None;
        }
        let below = single
            .iter()
            .try_fold(Polynomial::one(), |product, (p, n)| product.mul(&p.pow(*n, &self.writing)?, &self.writing))?;
        let (below, _) = below.first()?;
        // use sin² = 1 − cos² if a sine is in the denominator
        let is_sine = |(k, _): (usize, u16)| self.is_wave(k) && self.atoms[k].square.is_some();
        let above = match below.powers().any(is_sine) {
            true => self.flipped(&f.above, &self.writing)?,
            false => f.above.clone(),
        };
        let mut sum = Expr::ZERO;
        for (left, group) in &groups_over(&above, below)? {
            let (_, above) = self.shortest(graph, group, 0)?;
            let mut term = Factors::default();
            term.push_factors(graph, above)?;
            term.powers.extend(left.powers().map(|(k, n)| (self.atoms[k].expr, -i64::from(n))));
            let term = term.product(graph);
            sum = graph.add(sum, term);
        }
        if long.is_empty() {
            return Some((self.cost(graph, sum), sum));
        }
        let mut product = Factors::default();
        product.push(graph, sum, 1)?;
        for (factor, n) in &long {
            self.factors_of(graph, factor, -i64::from(*n), &mut product, 0)?;
        }
        let quotient = product.product(graph);
        Some((self.cost(graph, quotient) + WORTH_OF_ONE_BAR, quotient))
    }

    /// Multiplies a product by the n-th power of a polynomial, factor by factor.
    fn factors_of(
        &mut self,
        graph: &mut Graph,
        p: &Polynomial,
        n: i64,
        product: &mut Factors,
        level: usize,
    ) -> Option<()> {
        let split = p.split();
        let mut rest = split.rest;
        // decimals in the terms may be shorter than their common divisor in front
        if n == 1 && rest.len() > 1 && !split.number.is_integer() {
            rest = rest.scale(&split.number)?;
        } else {
            product.number = product.number.mul(&split.number.pow(&Number::integer(n))?)?;
        }
        for (k, m) in split.monomial.powers() {
            product.powers.push((self.atoms[k].expr, i64::from(m) * n));
        }
        if !rest.is_one() {
            let (_, e) = self.shortest(graph, &rest, level)?;
            product.push(graph, e, n)?;
        }
        Some(())
    }

    /// The cost of an expression on its own, where a leading minus counts.
    fn cost(&mut self, graph: &Graph, e: Expr) -> u64 {
        let (c, rest) = graph.split_coefficient(e);
        let has_minus = graph.number(c).is_some_and(Number::is_negative) && !matches!(graph.node(rest), Node::Add(..));
        graph.tree_cost(e, &mut self.costs) + u64::from(has_minus)
    }

    /// A polynomial in its shortest form, with its cost; `level` is its depth as a part of the whole.
    pub fn shortest(&mut self, graph: &mut Graph, p: &Polynomial, level: usize) -> Option<(u64, Expr)> {
        if let Some(known) = self.written.get(p).filter(|known| known.level <= level) {
            return Some((known.cost, known.expr));
        }
        let expr = self.flat(graph, p);
        let cost = self.cost(graph, expr);
        // this is also the result for a search that returns to the same polynomial
        self.written.insert(p.clone(), Written { level, cost, expr });
        let mut best = (cost, expr);
        let is_tried = p.len() > 1 && p.len() <= LONGEST_TRIED && level < GROUPINGS.len();
        if is_tried && self.writing.spend(WORK_OF_A_LOOK * p.len()).is_some() {
            for form in self.promising(graph, p, level) {
                if let Some(found) = self.arranged(graph, &form, level).filter(|found| found.0 < best.0) {
                    best = found;
                }
            }
        }
        // an unfinished search is repeated when work is available again
        let level = if self.writing.is_spent() { GROUPINGS.len() } else { level };
        self.written.insert(p.clone(), Written { level, cost: best.0, expr: best.1 });
        Some(best)
    }

    /// Equal polynomials, except those whose cost is much higher than the best.
    fn promising(&mut self, graph: &mut Graph, p: &Polynomial, level: usize) -> Vec<Polynomial> {
        let forms = self.forms(graph, p, level);
        let mut forms: Vec<(u64, Polynomial)> =
            forms.into_iter().map(|form| (self.flat_cost(graph, &form), form)).collect();
        forms.sort_by_key(|(cost, _)| *cost);
        let most = forms.first().map_or(0, |(cost, _)| cost + cost / FORM_WORSE_BY);
        let is_promising = |(cost, form): &(u64, Polynomial)| *cost <= most || form == p;
        forms.into_iter().filter(is_promising).map(|(_, form)| form).collect()
    }

    /// The expanded polynomial: a sum of products.
    pub fn flat(&self, graph: &mut Graph, p: &Polynomial) -> Expr {
        let mut sum = Expr::ZERO;
        for (m, c) in p.terms().iter().rev() {
            let number = graph.exact(c.clone());
            let product = self.monomial(graph, m);
            let term = graph.mul(number, product);
            sum = graph.add(sum, term);
        }
        sum
    }

    /// The polynomial as a product, or with terms collected.
    fn arranged(&mut self, graph: &mut Graph, p: &Polynomial, level: usize) -> Option<(u64, Expr)> {
        let split = p.split();
        let factors = if split.rest.len() > 1 { self.factored(&split.rest) } else { Vec::new() };
        let is_product = !split.monomial.is_one() || !split.number.abs().is_one() || factors.len() > 1;
        if !is_product && factors.first().is_none_or(|(_, n)| *n == 1) {
            return self.collected(graph, p, level);
        }
        let as_sum = if split.number.is_integer() { None } else { self.collected(graph, p, level) };
        let mut product = Factors { number: split.number, ..Factors::default() };
        for (k, m) in split.monomial.powers() {
            product.powers.push((self.atoms[k].expr, i64::from(m)));
        }
        for (factor, n) in factors {
            let (_, e) = self.shortest(graph, &factor, level + 1)?;
            product.push(graph, e, i64::from(n))?;
        }
        let e = product.product(graph);
        let cost = self.cost(graph, e);
        Some(as_sum.filter(|sum| sum.0 < cost).unwrap_or((cost, e)))
    }

    /// The sum with common factors of some terms extracted.
    fn collected(&mut self, graph: &mut Graph, p: &Polynomial, level: usize) -> Option<(u64, Expr)> {
        let flat = self.flat(graph, p);
        let mut best = (self.cost(graph, flat), flat);
        if p.len() < 3 {
            return Some(best);
        }
        let mut groupings: Vec<(u64, Grouping)> = Vec::new();
        let choices = self.choices(graph, p);
        if self.writing.spend(choices.len() * p.len()).is_none() {
            return Some(best);
        }
        for inside in choices {
            let grouping = grouped(p, &inside);
            if grouping.len() < p.len() {
                let mut of = |p: &Polynomial| self.flat_cost(graph, p);
                let cost = |(a, b): &(Polynomial, Polynomial)| of(a) + of(b) + 2;
                groupings.push((grouping.iter().map(cost).sum(), grouping));
            }
        }
        groupings.sort_by_key(|(cost, _)| *cost);
        groupings.dedup();
        let promising = groupings.first().map_or(0, |(cost, _)| cost + cost / WORSE_BY);
        let groupings = groupings.into_iter().take_while(|(cost, _)| *cost <= promising);
        for (_, grouping) in groupings.take(GROUPINGS[level.min(GROUPINGS.len() - 1)]) {
            let Some(e) = self.sum_of_groups(graph, &grouping, level + 1, best.0) else { continue };
            let cost = self.cost(graph, e);
            if cost < best.0 {
                best = (cost, e);
            }
        }
        Some(best)
    }

    /// Sets of indeterminates whose powers may be used to collect terms.
    fn choices(&self, graph: &Graph, p: &Polynomial) -> Vec<Vec<usize>> {
        let all = p.indeterminates();
        let mut choices: Vec<Vec<usize>> = all.iter().map(|k| vec![*k]).collect();
        let (held, moving): (Vec<usize>, Vec<usize>) = all.iter().partition(|k| self.is_held(graph, **k));
        let is_function = |k: &&usize| !graph.is_symbol(self.atoms[**k].expr);
        let functions: Vec<usize> = moving.iter().filter(is_function).copied().collect();
        let plain: Vec<usize> = moving.iter().filter(|k| !is_function(k)).copied().collect();
        // differences of positions in addition to those of their velocities
        let rates: Vec<Expr> = plain.iter().filter_map(|k| self.rate(graph, *k)).collect();
        let velocities = plain.iter().filter(|k| rates.contains(&self.atoms[**k].expr)).copied().collect();
        choices.extend([held, moving, functions, plain, velocities]);
        choices.retain(|choice| !choice.is_empty() && choice.len() < all.len().max(2));
        choices
    }

    /// A lower bound of the cost of a product of two polynomials in a sum, in any form: each symbol occurs with an
    /// operator, and at least one function if there are any.
    fn least_cost(&self, graph: &Graph, (a, b): &(Polynomial, Polynomial)) -> u64 {
        let of = |p: &Polynomial| {
            let (symbols, functions): (Vec<usize>, Vec<usize>) =
                p.indeterminates().into_iter().partition(|k| graph.is_symbol(self.atoms[*k].expr));
            2 * symbols.len() as u64 + if functions.is_empty() { 0 } else { 3 }
        };
        of(a) + of(b)
    }

    /// Σ a b, or `None` if its cost exceeds `most`.
    fn sum_of_groups(&mut self, graph: &mut Graph, grouping: &Grouping, level: usize, most: u64) -> Option<Expr> {
        let mut sum = Expr::ZERO;
        let mut left: u64 = grouping.iter().map(|group| self.least_cost(graph, group)).sum();
        if left > most {
            return None;
        }
        for group @ (a, b) in grouping {
            let mut product = Factors::default();
            self.factors_of(graph, a, 1, &mut product, level)?;
            self.factors_of(graph, b, 1, &mut product, level)?;
            let term = product.product(graph);
            sum = graph.add(sum, term);
            left -= self.least_cost(graph, group);
            if self.cost(graph, sum) + left >= most {
                return None;
            }
        }
        Some(sum)
    }
}

/// The terms of a polynomial over a monomial, grouped by the remaining denominator.
fn groups_over(above: &Polynomial, below: &Monomial) -> Option<Vec<(Monomial, Polynomial)>> {
    let mut groups: Vec<(Monomial, Polynomial)> = Vec::new();
    for (m, c) in above.terms() {
        let common = m.meet(below);
        let (left, m) = (below.over(&common)?, m.over(&common)?);
        match groups.iter_mut().find(|(known, _)| *known == left) {
            Some((_, group)) => group.insert(m, c.clone()),
            None => groups.push((left, Polynomial::term(m, c.clone()))),
        }
    }
    Some(groups)
}

/// The written form of a polynomial, with its cost and the level at which it was found.
#[derive(Copy, Clone)]
pub(crate) struct Written {
    level: usize,
    cost: u64,
    expr: Expr,
}

/// Σ a b.
type Grouping = Vec<(Polynomial, Polynomial)>;

/// The terms collected by their part in the indeterminates `inside`; equal coefficients are combined.
fn grouped(p: &Polynomial, inside: &[usize]) -> Grouping {
    let mut coefficients: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
    let cover = Monomial::cover(inside.iter().copied());
    for (m, c) in p.terms() {
        let (rest, own) = m.parted(&cover);
        coefficients.entry(own).or_default().insert(rest, c.clone());
    }
    let mut grouping: Grouping = Vec::new();
    for (own, coefficient) in coefficients {
        let (number, whole) = coefficient.without_number();
        match grouping.iter_mut().find(|(known, _)| *known == whole) {
            Some((_, sum)) => sum.insert(own, number),
            None => grouping.push((whole, Polynomial::term(own, number))),
        }
    }
    grouping
}
