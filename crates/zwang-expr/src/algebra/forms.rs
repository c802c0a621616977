//! Equal polynomials that may be shorter: with other sines and cosines, or with squares of sums.

use super::field::Field;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use super::write::LONGEST_TRIED;
use crate::graph::Graph;
use crate::number::Number;
use std::collections::BTreeMap;

/// The depth of nested parts from which other sines and cosines are no longer tried.
const REFORMED_LEVELS: usize = 2;

impl Field {
    /// Equal polynomials with other sines and cosines.
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

    /// Writes a² + 2 a b + b² as (a + b)² wherever it occurs, for products a and b; `None` if it does not occur.
    fn with_squares(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Polynomial> {
        if p.len() < 4 || p.len() > LONGEST_TRIED / 4 {
            return None;
        }
        self.writing.spend(p.len() * p.len() / 4)?;
        let (mut rest, mut found) = (p.clone(), Polynomial::default());
        let terms: Vec<&Monomial> = p.monomials().collect();
        for (at, a) in terms.iter().enumerate() {
            for b in &terms[..at] {
                let Some(square) = square_of(&rest, a, b) else { continue };
                let sum = self.flat(graph, &square.root);
                let k = self.atom(sum);
                found.add_product(&Polynomial::power(k, 2), &square.number, &square.common, &self.writing)?;
                for m in [*a, *b, &square.mixed] {
                    rest.remove(m);
                }
            }
        }
        if found.is_zero() {
            return None;
        }
        found.add(&rest, &self.writing)
    }

    /// Each coefficient with respect to the non-trigonometric indeterminates in the form that is shortest for it.
    fn mixed(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Polynomial> {
        let mut groups: Vec<(Polynomial, Vec<(Monomial, Number)>)> = Vec::new();
        let mut by_rest: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        let cover = self.waves();
        for (m, c) in p.terms() {
            let (rest, waves) = m.parted(&cover);
            by_rest.entry(rest).or_default().insert(waves, c.clone());
        }
        if by_rest.len() < 2 {
            return None;
        }
        for (rest, waves) in by_rest {
            let (number, whole) = waves.without_number();
            match groups.iter_mut().find(|(known, _)| *known == whole) {
                Some((_, members)) => members.push((rest, number)),
                None => groups.push((whole, vec![(rest, number)])),
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
    pub fn flat_cost(&mut self, graph: &Graph, p: &Polynomial) -> u64 {
        let costs = self.atom_costs(graph);
        let mut total = 0;
        for (m, c) in p.terms() {
            let has_number = m.is_one() || !(c.is_one() || c.is_minus_one());
            let mut factors = u64::from(has_number);
            let mut cost = factors;
            for (k, n) in m.powers() {
                cost += costs[k] + if n > 1 { 2 } else { 0 };
                factors += 1;
            }
            total += cost + factors;
        }
        total.saturating_sub(1)
    }
}

/// number · common · root²; `mixed` is the monomial of its cross term.
struct Square {
    number: Number,
    common: Monomial,
    root: Polynomial,
    mixed: Monomial,
}

/// The square to which two terms of a polynomial belong, or `None`.
fn square_of(p: &Polynomial, a: &Monomial, b: &Monomial) -> Option<Square> {
    let (x, y) = (p.get(a)?, p.get(b)?);
    let common = a.meet(b);
    let half = |m: &Monomial| m.over(&common)?.root().filter(|root| !root.is_one());
    let (u, v) = (half(a)?, half(b)?);
    let mixed = u.times(&v)?.times(&common)?;
    // x u² + z u v + y v² = x (u + z/(2 x) v)² if z² = 4 x y
    let z = p.get(&mixed)?;
    if z.mul(z)? != x.mul(y)?.mul(&Number::integer(4))? {
        return None;
    }
    let ratio = z.mul(&x.recip()?)?.mul(&Number::ratio(1, 2))?;
    // integer coefficients inside the square: (2 u + 3 v)²
    let below = ratio.denominator();
    let number = x.mul(&below.recip()?)?.mul(&below.recip()?)?;
    let other = ratio.mul(&below)?;
    let root = Polynomial::from_terms(vec![(u, below), (v, other)]);
    Some(Square { number, common, root, mixed })
}
