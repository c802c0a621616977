//! Products of sines and cosines as Fourier sums, and the base angles that suit them best.
//!
//! Example: cos a cos b + sin a sin b = cos(a − b). A trigonometric polynomial has a unique Fourier sum, whose
//! frequencies show the combinations of angles on which it depends.

use super::angles::sum_of_angles;
use super::budget::WorkLimit;
use super::field::Field;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;
use std::collections::BTreeMap;

/// The largest number of angles whose pairs are tried one by one.
const MOST_PAIRED: usize = 4;

/// Integer multiples of angles.
pub(crate) type Frequency = Vec<i64>;

/// A polynomial as a sum of number · monomial without sines and cosines · sine or cosine of a sum of angles.
pub(crate) struct FourierPolynomial {
    /// the cosines of the angles that occur
    pub cosines: Vec<usize>,
    pub terms: BTreeMap<(Monomial, Frequency, bool), Number>,
}

impl FourierPolynomial {
    /// The nonzero frequencies.
    pub fn frequencies(&self) -> Vec<Frequency> {
        let mut all: Vec<Frequency> = self.terms.keys().map(|(_, f, _)| f.clone()).collect();
        all.retain(|f| f.iter().any(|n| *n != 0));
        all.sort();
        all.dedup();
        all
    }
}

/// Short frequencies whose integer combinations include all given ones, or `None` if the search finds none.
pub(crate) fn lattice_basis(frequencies: &[Frequency]) -> Option<Vec<Frequency>> {
    let size = |f: &Frequency| f.iter().map(|n| n.abs()).sum::<i64>();
    let mut sorted = frequencies.to_vec();
    sorted.sort_by_key(|f| (size(f), f.iter().map(|n| -n).collect::<Vec<_>>()));
    let mut basis: Vec<Frequency> = Vec::new();
    for f in &sorted {
        if rational_coordinates(&basis, f).is_none() {
            basis.push(f.clone());
        }
    }
    sorted.iter().all(|f| coordinates(&basis, f).is_some()).then_some(basis)
}

/// The shortest integer vector in the same direction.
fn without_content(f: &Frequency) -> Frequency {
    let content = f.iter().fold(0i64, |g, n| num_integer::gcd(g, *n)).max(1);
    f.iter().map(|n| n / content).collect()
}

/// The integer coordinates of f in the basis, or `None` if there are none.
pub(crate) fn coordinates(basis: &[Frequency], f: &Frequency) -> Option<Vec<i64>> {
    rational_coordinates(basis, f)?.iter().map(Number::to_i64).collect()
}

fn rational_coordinates(basis: &[Frequency], f: &Frequency) -> Option<Vec<Number>> {
    let (r, n) = (basis.len(), f.len());
    // the columns are the basis vectors; the last one is f
    let mut a: Vec<Vec<Number>> =
        (0..n).map(|i| (0..=r).map(|j| Number::integer(if j < r { basis[j][i] } else { f[i] })).collect()).collect();
    super::angles::solve_rows(&mut a, r)?;
    let is_solved = a[r.min(n)..].iter().all(|row| row[r].is_zero());
    is_solved.then(|| a[..r].iter().map(|row| row[r].clone()).collect())
}

impl Field {
    /// The Fourier sum of a polynomial; `None` if it has no sines and cosines, or too many.
    pub fn spectrum(&self, graph: &Graph, p: &Polynomial, budget: &WorkLimit) -> Option<FourierPolynomial> {
        let is_cosine = |k: usize| self.is_wave(k) && self.atoms[k].square.is_none();
        let mut cosines: Vec<usize> = p
            .indeterminates()
            .into_iter()
            .filter(|k| self.is_wave(*k))
            .map(|k| if is_cosine(k) { k } else { self.atoms[k].partner.unwrap_or(k) })
            .collect();
        // the oldest angle gets the positive sign
        cosines.sort_by_key(|k| (self.argument(graph, *k), *k));
        cosines.dedup();
        if cosines.is_empty() {
            return None;
        }
        let mut terms = BTreeMap::new();
        let cover = self.waves();
        for (m, c) in p.terms() {
            let (rest, _) = m.parted(&cover);
            // cos 0 = 1
            let mut waves = vec![(vec![0i64; cosines.len()], false, c.clone())];
            for (at, &k) in cosines.iter().enumerate() {
                let sine = self.atoms[k].partner?;
                for _ in 0..m.exponent(k) {
                    waves = multiplied(&waves, at, false)?;
                }
                for _ in 0..m.exponent(sine) {
                    waves = multiplied(&waves, at, true)?;
                }
                budget.spend(waves.len())?;
            }
            for (f, is_sine, value) in waves {
                add_wave(&mut terms, &rest, f, is_sine, &value)?;
            }
        }
        terms.retain(|_, c| !c.is_zero());
        Some(FourierPolynomial { cosines, terms })
    }

    /// The argument of a sine or cosine.
    pub fn argument(&self, graph: &Graph, k: usize) -> Expr {
        match graph.node(self.atoms[k].expr) {
            Node::Apply(_, u) => u,
            _ => self.atoms[k].expr,
        }
    }

    /// The combination of the angles of a Fourier sum with integer coefficients.
    fn combined(&self, graph: &mut Graph, cosines: &[usize], f: &Frequency) -> Expr {
        let angles: Vec<(Expr, i64)> =
            cosines.iter().zip(f).filter(|(_, n)| **n != 0).map(|(k, n)| (self.argument(graph, *k), *n)).collect();
        sum_of_angles(graph, &angles)
    }

    /// The Fourier sum as a polynomial in which each sine and cosine of a sum is an indeterminate of its own.
    pub fn as_sum_of_waves(&mut self, graph: &mut Graph, spectrum: &FourierPolynomial) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for ((rest, f, is_sine), value) in &spectrum.terms {
            let angle = self.combined(graph, &spectrum.cosines, f);
            let wave = self.wave(graph, if *is_sine { Function::Sin } else { Function::Cos }, angle);
            sum.add_product(&wave, value, rest, &self.writing)?;
        }
        Some(sum)
    }

    /// Replaces one kind of product of two sines or cosines by the addition theorem, wherever the polynomial does not
    /// become longer: sin u cos v = sin(u + v) − cos u sin v.
    pub fn with_sums_for_products(&mut self, graph: &mut Graph, p: &Polynomial) -> Vec<Polynomial> {
        let own = p.indeterminates();
        let is_cosine = |k: &usize| self.is_wave(*k) && self.atoms[*k].square.is_none();
        let mut cosines: Vec<usize> = (0..self.atoms.len()).filter(is_cosine).collect();
        cosines.retain(|k| own.contains(k) || self.atoms[*k].partner.is_some_and(|s| own.contains(&s)));
        cosines.sort_by_key(|k| self.argument(graph, *k));
        let mut forms = Vec::new();
        if cosines.len() > MOST_PAIRED || self.writing.spend(8 * p.len()).is_none() {
            return forms;
        }
        for (at, &cv) in cosines.iter().enumerate() {
            for &cu in &cosines[..at] {
                forms.extend(self.with_sum_of(graph, p, cu, cv));
            }
        }
        forms.retain(|form| form.len() <= p.len());
        forms
    }

    fn with_sum_of(&mut self, graph: &mut Graph, p: &Polynomial, cu: usize, cv: usize) -> Vec<Polynomial> {
        let (Some(su), Some(sv)) = (self.atoms[cu].partner, self.atoms[cv].partner) else { return Vec::new() };
        let (u, v) = (self.argument(graph, cu), self.argument(graph, cv));
        let angles = [1, -1].map(|n| sum_of_angles(graph, &[(u, 1), (v, n)]));
        let mut forms = Vec::new();
        for (angle, sign) in angles.into_iter().zip([1, -1]) {
            let waves = [Function::Sin, Function::Cos].map(|f| self.wave(graph, f, angle));
            // the sine or cosine is the first product plus sign times the second
            for (wave, first, second, sign) in
                [(&waves[0], (su, cv), (cu, sv), sign), (&waves[1], (cu, cv), (su, sv), -sign)]
            {
                forms.extend(replaced(p, first, wave, 1, second, -sign, &self.writing));
                forms.extend(replaced(p, second, wave, sign, first, -sign, &self.writing));
            }
        }
        forms
    }

    /// The Fourier sum as polynomials in the sines and cosines of fewer or shorter angles, if there are such.
    pub fn in_better_angles(&mut self, graph: &mut Graph, spectrum: &FourierPolynomial) -> Vec<Polynomial> {
        let frequencies = spectrum.frequencies();
        // cost: the coordinates of each frequency in the basis so far
        let n_angles = frequencies.first().map_or(0, Vec::len);
        if self.writing.spend(frequencies.len() * n_angles * n_angles).is_none() {
            return Vec::new();
        }
        let Some(basis) = lattice_basis(&frequencies) else { return Vec::new() };
        // cos(2 a − 2 b) is also tried in terms of cos(a − b)
        let simple: Vec<Frequency> = basis.iter().map(without_content).collect();
        let mut bases = vec![basis];
        if simple != bases[0] {
            bases.push(simple);
        }
        bases.extend(halves(&frequencies));
        bases.retain(|basis| basis.iter().any(|f| f.iter().map(|n| n.abs()).sum::<i64>() != 1));
        bases.iter().filter_map(|basis| self.in_angles(graph, spectrum, basis)).collect()
    }

    fn in_angles(
        &mut self,
        graph: &mut Graph,
        spectrum: &FourierPolynomial,
        basis: &[Frequency],
    ) -> Option<Polynomial> {
        let waves: Vec<(Polynomial, Polynomial)> = basis
            .iter()
            .map(|f| {
                let angle = self.combined(graph, &spectrum.cosines, f);
                self.sine_and_cosine(graph, angle)
            })
            .collect();
        let mut sum = Polynomial::default();
        for ((rest, f, is_sine), value) in &spectrum.terms {
            let multiples = coordinates(basis, f)?;
            let (sine, cosine) = self.turned(&waves, &multiples)?;
            sum.add_product(if *is_sine { &sine } else { &cosine }, value, rest, &self.writing)?;
        }
        Some(sum)
    }

    /// sin and cos of Σ nᵢ uᵢ.
    fn turned(&self, waves: &[(Polynomial, Polynomial)], multiples: &[i64]) -> Option<(Polynomial, Polynomial)> {
        let budget = &self.writing;
        let (mut sine, mut cosine) = (Polynomial::default(), Polynomial::one());
        for ((s, c), n) in waves.iter().zip(multiples) {
            let s = if *n < 0 { s.neg() } else { s.clone() };
            for _ in 0..n.abs() {
                let new_sine = sine.mul(c, budget)?.add(&cosine.mul(&s, budget)?, budget)?;
                let new_cosine = cosine.mul(c, budget)?.sub(&sine.mul(&s, budget)?, budget)?;
                sine = self.normal_within(&new_sine, budget)?;
                cosine = self.normal_within(&new_cosine, budget)?;
            }
        }
        Some((sine, cosine))
    }
}

/// Half the sum and half the difference of two frequencies: sin a + sin b = 2 sin((a + b)/2) cos((a − b)/2).
fn halves(frequencies: &[Frequency]) -> Option<Vec<Frequency>> {
    let [f, g] = frequencies else { return None };
    let half = |sign: i64| {
        let doubled = f.iter().zip(g).map(|(a, b)| a + sign * b);
        doubled.map(|n| (n % 2 == 0).then_some(n / 2)).collect::<Option<Frequency>>()
    };
    Some(vec![half(1)?, half(-1)?])
}

/// The polynomial after the substitution from = a · wave + b · to, where `from` and `to` are products of two
/// indeterminates; `None` if it becomes longer.
fn replaced(
    p: &Polynomial,
    from: (usize, usize),
    wave: &Polynomial,
    a: i64,
    to: (usize, usize),
    b: i64,
    budget: &WorkLimit,
) -> Option<Polynomial> {
    let product = |(i, j): (usize, usize)| Monomial::power(i, 1).times(&Monomial::power(j, 1));
    let (from, to) = (product(from)?, product(to)?);
    let mut new = wave.scale(&Number::integer(a))?;
    new.add_product(&Polynomial::one(), &Number::integer(b), &to, budget)?;
    if !is_shorter_with(p, &from, &new) {
        return None;
    }
    let mut result = Polynomial::default();
    for (m, c) in p.terms() {
        match m.over(&from) {
            Some(rest) => result.add_product(&new, c, &rest, budget)?,
            None => result.add_product(&Polynomial::one(), c, m, budget)?,
        }
    }
    Some(result)
}

/// `true` if terms with `from` exist and substituting `new` for it does not lengthen the polynomial.
fn is_shorter_with(p: &Polynomial, from: &Monomial, new: &Polynomial) -> bool {
    let (mut change, mut found) = (0, false);
    for (m, c) in p.terms() {
        let Some(rest) = m.over(from) else { continue };
        found = true;
        change -= 1;
        for (m, factor) in new.terms() {
            change += match rest.times(m).and_then(|m| p.get(&m)) {
                Some(known) if c.mul(factor).is_some_and(|value| value.neg() == *known) => -1,
                Some(_) => 0,
                None => 1,
            };
        }
    }
    found && change <= 0
}

/// Fourier terms times the sine or cosine of one angle: 2 cos a cos b = cos(a + b) + cos(a − b), and similar
/// identities.
fn multiplied(waves: &[(Frequency, bool, Number)], at: usize, by_sine: bool) -> Option<Vec<(Frequency, bool, Number)>> {
    let half = Number::ratio(1, 2);
    let mut product = Vec::with_capacity(2 * waves.len());
    for (f, is_sine, value) in waves {
        let value = value.mul(&half)?;
        let (mut up, mut down) = (f.clone(), f.clone());
        up[at] += 1;
        down[at] -= 1;
        // sin s: cos(f) s = (sin(f+) − sin(f−))/2, sin(f) s = (cos(f−) − cos(f+))/2
        let (up_value, down_value) = match (by_sine, is_sine) {
            (false, _) => (value.clone(), value),
            (true, false) => (value.clone(), value.neg()),
            (true, true) => (value.neg(), value),
        };
        product.push((up, *is_sine ^ by_sine, up_value));
        product.push((down, *is_sine ^ by_sine, down_value));
    }
    Some(product)
}

/// Adds a Fourier term, normalised so that its first nonzero multiple is positive.
fn add_wave(
    terms: &mut BTreeMap<(Monomial, Frequency, bool), Number>,
    rest: &Monomial,
    mut f: Frequency,
    is_sine: bool,
    value: &Number,
) -> Option<()> {
    let first = f.iter().copied().find(|n| *n != 0);
    let mut value = value.clone();
    if first.is_some_and(|n| n < 0) {
        f.iter_mut().for_each(|n| *n = -*n);
        value = if is_sine { value.neg() } else { value };
    }
    if first.is_none() && is_sine {
        return Some(());
    }
    let sum = terms.entry((rest.clone(), f, is_sine)).or_insert(Number::ZERO);
    *sum = sum.add(&value)?;
    Some(())
}

/// `true` if a vector is not a linear combination of the basis.
pub(crate) fn are_independent(basis: &[Frequency], f: &Frequency) -> bool {
    rational_coordinates(basis, f).is_none()
}
