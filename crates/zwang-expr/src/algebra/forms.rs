//! Equal polynomials that may be shorter: in other sines and cosines, with squares of sums.

use super::field::Field;
use super::polynomial::{Monomial, Polynomial, meet, over, parted, times};
use super::write::LONGEST_TRIED;
use crate::graph::Graph;
use crate::number::Number;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Parts of parts below this level are not looked at in other sines and cosines.
const REFORMED_LEVELS: usize = 2;

impl Field {
    /// Equal polynomials in other sines and cosines.
    pub fn forms(&mut self, graph: &mut Graph, p: &Polynomial, level: usize) -> Vec<Polynomial> {
        let mut forms = vec![p.clone()];
        if level >= REFORMED_LEVELS {
            forms.extend(self.with_squares(graph, p));
            return forms;
        }
        forms.extend(self.wave_forms(graph, p));
        forms.extend(self.mixed(graph, p));
        let with_squares: Vec<Polynomial> = forms.iter().filter_map(|form| self.with_squares(graph, form)).collect();
        forms.extend(with_squares);
        let mut distinct: Vec<Polynomial> = Vec::new();
        for form in forms {
            if !distinct.contains(&form) {
                distinct.push(form);
            }
        }
        distinct
    }

    fn wave_forms(&mut self, graph: &mut Graph, p: &Polynomial) -> Vec<Polynomial> {
        let mut forms = Vec::new();
        if !p.indeterminates().into_iter().any(|k| self.is_wave(k)) {
            return forms;
        }
        forms.extend(self.normal_within(p, &self.writing));
        forms.extend(self.flipped(p, &self.writing));
        forms.extend(self.with_sums_for_products(graph, p));
        if let Some(spectrum) = self.spectrum(graph, p, &self.writing) {
            forms.extend(self.as_sum_of_waves(graph, &spectrum));
            for better in self.in_better_angles(graph, &spectrum) {
                forms.extend(self.flipped(&better, &self.writing));
                forms.push(better);
            }
        }
        forms
    }

    /// a² + 2 a b + b² as (a + b)² wherever it occurs, a and b products; none if it does not.
    fn with_squares(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Polynomial> {
        if p.len() < 4 || p.len() > LONGEST_TRIED / 4 {
            return None;
        }
        self.writing.spend(p.len() * p.len() / 4)?;
        let (mut rest, mut found) = (p.clone(), Polynomial::default());
        let terms: Vec<&Monomial> = p.terms.keys().collect();
        for (at, a) in terms.iter().enumerate() {
            for b in &terms[..at] {
                let Some(square) = square_of(&rest, a, b) else { continue };
                let sum = self.flat(graph, &square.root);
                let k = self.atom(sum);
                found.add_product(&Polynomial::power(k, 2), &square.number, &square.common, &self.writing)?;
                for m in [*a, *b, &square.mixed] {
                    rest.terms.remove(m);
                }
            }
        }
        if found.is_zero() {
            return None;
        }
        found.add(&rest, &self.writing)
    }

    /// Each coefficient of what is no wave in the form that is shortest for it.
    fn mixed(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Polynomial> {
        let mut groups: Vec<(Polynomial, Vec<(Monomial, Number)>)> = Vec::new();
        let mut by_rest: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        for (m, c) in &p.terms {
            let (rest, waves) = parted(m, |k| self.is_wave(k));
            by_rest.entry(rest).or_default().terms.insert(waves, c.clone());
        }
        if by_rest.len() < 2 {
            return None;
        }
        for (rest, waves) in by_rest {
            let split = waves.split();
            let whole = split.rest.times_monomial(&split.monomial)?;
            match groups.iter_mut().find(|(known, _)| *known == whole) {
                Some((_, members)) => members.push((rest, split.number)),
                None => groups.push((whole, vec![(rest, split.number)])),
            }
        }
        let mut mixed = Polynomial::default();
        for (waves, members) in groups {
            let mut forms = self.wave_forms(graph, &waves);
            forms.push(waves);
            let shortest = forms.into_iter().min_by_key(|form| self.flat_cost(graph, form))?;
            for (rest, number) in members {
                mixed.add_product(&shortest, &number, &rest, &self.writing)?;
            }
        }
        Some(mixed)
    }

    /// The cost of the sum of products.
    pub fn flat_cost(&self, graph: &Graph, p: &Polynomial) -> u64 {
        let mut known = FxHashMap::default();
        let mut total = 0;
        for (m, c) in &p.terms {
            let has_number = m.is_empty() || !c.abs().is_one();
            let mut factors = u64::from(has_number);
            let mut cost = factors;
            for (k, &n) in m.iter().enumerate().filter(|(_, n)| **n > 0) {
                cost += graph.tree_cost(self.atoms[k].expr, &mut known) + if n > 1 { 2 } else { 0 };
                factors += 1;
            }
            total += cost + factors;
        }
        total.saturating_sub(1)
    }
}

/// number · common · root², of which one term is the mixed one.
struct Square {
    number: Number,
    common: Monomial,
    root: Polynomial,
    mixed: Monomial,
}

/// The square that two terms of a polynomial are part of.
fn square_of(p: &Polynomial, a: &Monomial, b: &Monomial) -> Option<Square> {
    let (x, y) = (p.terms.get(a)?, p.terms.get(b)?);
    let common = meet(a, b);
    let half = |m: &Monomial| {
        let root: Option<Monomial> = m.iter().map(|n| (n % 2 == 0).then_some(n / 2)).collect();
        root.filter(|root| !root.is_empty())
    };
    let (u, v) = (half(&over(a, &common)?)?, half(&over(b, &common)?)?);
    let mixed = times(&times(&u, &v)?, &common)?;
    // x u² + z u v + y v² = x (u + z/(2 x) v)², if z² = 4 x y
    let z = p.terms.get(&mixed)?;
    if z.mul(z)? != x.mul(y)?.mul(&Number::integer(4))? {
        return None;
    }
    let ratio = z.mul(&x.recip()?)?.mul(&Number::ratio(1, 2))?;
    // integer coefficients inside: (2 u + 3 v)²
    let below = ratio.denominator();
    let number = x.mul(&below.recip()?)?.mul(&below.recip()?)?;
    let mut root = Polynomial::term(u, below.clone());
    root.terms.extend(Polynomial::term(v, ratio.mul(&below)?).terms);
    Some(Square { number, common, root, mixed })
}
