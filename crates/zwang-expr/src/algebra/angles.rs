//! Angles as integer combinations of few base angles.

use super::field::Field;
use super::polynomial::Polynomial;
use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;
use rustc_hash::FxHashMap;

/// The largest sum of multiples of the base angles in an angle that is expanded; others are indeterminates of their
/// own.
const MOST_TURNS: i64 = 6;

/// An angle as a linear combination of keys.
pub(crate) type Form = Vec<(Expr, Number)>;

/// The keys, of which arguments of sines and cosines are linear combinations, and the base angles that represent them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Angles {
    /// each key, and the number of which all its coefficients are integer multiples
    keys: Vec<(Expr, Number)>,
    place: FxHashMap<Expr, usize>,
    /// base angles in units of the keys; empty if the keys are the base angles
    pub base: Vec<Vec<i64>>,
    /// the keys in units of the base angles
    inverse: Vec<Vec<i64>>,
    /// the expressions of base angles, filled when needed
    shown: Vec<Option<Expr>>,
}

impl Angles {
    /// The keys of all angles in these expressions.
    pub fn of(graph: &Graph, exprs: &[Expr]) -> Angles {
        let mut angles = Angles::default();
        let mut below = graph.below(exprs);
        below.sort_unstable();
        for e in below {
            let Node::Apply(Function::Sin | Function::Cos | Function::Tan, u) = graph.node(e) else { continue };
            for (key, coefficient) in linear_form(graph, u) {
                let next = angles.keys.len();
                let at = *angles.place.entry(key).or_insert(next);
                match at == next {
                    true => angles.keys.push((key, coefficient.abs())),
                    false => angles.keys[at].1 = angles.keys[at].1.gcd(&coefficient),
                }
            }
        }
        angles.shown = vec![None; angles.keys.len()];
        angles
    }

    /// Replaces the base angles, which must span the same integer combinations; `None` if they do not.
    pub fn with_base(&self, base: Vec<Vec<i64>>) -> Option<Angles> {
        let inverse = inverted(&base)?;
        Some(Angles { base, inverse, shown: vec![None; self.keys.len()], ..self.clone() })
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The keys of an angle, or the angle itself if its multiples are too large.
    pub fn keys_of(&self, graph: &Graph, angle: Expr) -> Vec<Expr> {
        match self.multiples(graph, angle) {
            Some(_) => linear_form(graph, angle).into_iter().map(|(key, _)| key).collect(),
            None => vec![angle],
        }
    }

    /// An angle in units of the keys, or `None` if its multiples are too large.
    fn multiples(&self, graph: &Graph, angle: Expr) -> Option<Vec<i64>> {
        let mut multiples = vec![0; self.keys.len()];
        for (key, coefficient) in linear_form(graph, angle) {
            let &at = self.place.get(&key)?;
            multiples[at] = coefficient.mul(&self.keys[at].1.recip()?)?.to_i64()?;
        }
        let turns = multiples.iter().fold(0i64, |sum, n| sum.saturating_add(n.saturating_abs()));
        (turns <= MOST_TURNS).then_some(multiples)
    }

    /// Converts units of the keys to units of the base angles.
    fn in_base(&self, multiples: &[i64]) -> Vec<i64> {
        if self.base.is_empty() {
            return multiples.to_vec();
        }
        let n = multiples.len();
        (0..n).map(|j| (0..n).map(|k| multiples[k] * self.inverse[k][j]).sum()).collect()
    }
}

/// The terms of a sum with their coefficients; any other expression is its own single term.
fn linear_form(graph: &Graph, angle: Expr) -> Form {
    let mut form: Form = Vec::new();
    let mut stack = vec![(angle, Number::ONE)];
    while let Some((x, c)) = stack.pop() {
        let (factor, rest) = graph.split_coefficient(x);
        let scaled = graph.number(factor).and_then(|f| f.mul(&c));
        match (graph.node(rest), scaled) {
            (Node::Add(a, b), Some(c)) => stack.extend([(b, c.clone()), (a, c)]),
            (_, Some(c)) => push(&mut form, rest, c),
            (_, None) => push(&mut form, x, c),
        }
    }
    form.retain(|(_, c)| !c.is_zero());
    form
}

/// Σ n u, with the coefficients of equal keys added.
pub(crate) fn sum_of_angles(graph: &mut Graph, angles: &[(Expr, i64)]) -> Expr {
    let mut form: Form = Vec::new();
    for &(angle, n) in angles {
        let parts: Option<Form> =
            linear_form(graph, angle).into_iter().map(|(key, c)| Some((key, c.mul(&Number::integer(n))?))).collect();
        let parts = parts.unwrap_or_else(|| vec![(angle, Number::integer(n))]);
        parts.into_iter().for_each(|(key, c)| push(&mut form, key, c));
    }
    form.sort_by_key(|(key, _)| *key);
    let mut sum = Expr::ZERO;
    for (key, c) in form {
        let factor = graph.exact(c);
        let part = graph.mul(factor, key);
        sum = graph.add(sum, part);
    }
    sum
}

fn push(form: &mut Form, key: Expr, c: Number) {
    match form.iter().position(|(known, _)| *known == key) {
        Some(at) => match form[at].1.add(&c) {
            Some(sum) => form[at].1 = sum,
            None => form.push((key, c)),
        },
        None => form.push((key, c)),
    }
}

/// The inverse of an integer matrix, or `None` if it is not an integer matrix.
fn inverted(rows: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let n = rows.len();
    let number = |x: i64| Number::integer(x);
    let mut a: Vec<Vec<Number>> = (0..n)
        .map(|i| (0..2 * n).map(|j| if j < n { number(rows[i][j]) } else { number((j == n + i) as i64) }).collect())
        .collect();
    solve_rows(&mut a, n)?;
    a.iter().map(|row| row[n..].iter().map(Number::to_i64).collect()).collect()
}

impl Field {
    /// The sine and cosine of an angle in terms of those of the base angles.
    pub fn split_wave(&mut self, graph: &mut Graph, angle: Expr) -> Option<(Polynomial, Polynomial)> {
        let Some(multiples) = self.angles.multiples(graph, angle) else {
            let shown = self.known.get(&angle)?.clone();
            let shown = self.write_fraction(graph, &shown)?;
            return Some(self.sine_and_cosine(graph, shown));
        };
        let mut waves = Vec::new();
        for (j, n) in self.angles.in_base(&multiples).into_iter().enumerate().filter(|(_, n)| *n != 0) {
            let base = self.base_angle(graph, j)?;
            waves.push((self.sine_and_cosine(graph, base), n));
        }
        // cos + i sin of a sum of angles is the product of those of the angles
        let (mut sine, mut cosine) = (Polynomial::default(), Polynomial::one());
        for ((s, c), n) in waves {
            let s = if n < 0 { s.neg() } else { s };
            for _ in 0..n.abs() {
                let budget = &self.budget;
                let new_sine = sine.mul(&c, budget)?.add(&cosine.mul(&s, budget)?, budget)?;
                let new_cosine = cosine.mul(&c, budget)?.sub(&sine.mul(&s, budget)?, budget)?;
                (sine, cosine) = (self.normal(&new_sine)?, self.normal(&new_cosine)?);
            }
        }
        Some((sine, cosine))
    }

    /// The expression of a base angle, with its keys in their shortest form.
    pub fn base_angle(&mut self, graph: &mut Graph, j: usize) -> Option<Expr> {
        if let Some(shown) = self.angles.shown[j] {
            return Some(shown);
        }
        let n = self.angles.len();
        let row = match self.angles.base.is_empty() {
            true => (0..n).map(|k| (k == j) as i64).collect(),
            false => self.angles.base[j].clone(),
        };
        let mut shown = Expr::ZERO;
        for (k, &times) in row.iter().enumerate().filter(|(_, n)| **n != 0) {
            let (key, unit) = self.angles.keys[k].clone();
            let part = match self.known.get(&key).cloned() {
                Some(f) => self.write_fraction(graph, &f)?,
                None => key,
            };
            let factor = graph.exact(unit.mul(&Number::integer(times))?);
            let part = graph.mul(factor, part);
            shown = graph.add(shown, part);
        }
        self.angles.shown[j] = Some(shown);
        Some(shown)
    }
}

/// Gauss-Jordan elimination of the first columns; `None` if a pivot is missing or a number grows too large.
pub(super) fn solve_rows(a: &mut [Vec<Number>], n_columns: usize) -> Option<()> {
    let n = a.len();
    for k in 0..n_columns {
        let pivot = (k..n).find(|i| !a[*i][k].is_zero())?;
        a.swap(k, pivot);
        let inverse = a[k][k].recip()?;
        a[k] = a[k].iter().map(|x| x.mul(&inverse)).collect::<Option<_>>()?;
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i][k].neg();
            let row = a[k].iter().zip(&a[i]).map(|(x, y)| x.mul(&factor)?.add(y));
            a[i] = row.collect::<Option<_>>()?;
        }
    }
    Some(())
}
