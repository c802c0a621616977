//! Exact simplification for printing: rational functions over the rationals in the form that is shortest to read.
//!
//! $$ \frac{x^2 - y^2}{x - y} = x + y, \qquad \cos a \cos b + \sin a \sin b = \cos(a - b) $$
//!
//! An expression becomes a fraction of polynomials in its symbols, in roots, and in sines and cosines of few base
//! angles with sin² + cos² = 1. Any other subexpression is an indeterminate of its own. Common factors cancel. Many
//! forms are then written: expanded and factored, collected by each symbol, with products or with sums of angles. The
//! one with the fewest symbols is taken. All steps are exact, and [`Limits`] ensures that they terminate.

mod angles;
mod budget;
mod common_subexpressions;
mod cost;
mod division;
mod exponentials;
mod factors;
mod field;
mod forms;
mod fourier;
mod fraction;
mod gcd;
mod laurent;
mod monomial;
mod polynomial;
mod write;

use crate::graph::Graph;
use crate::node::{Expr, Node};
use crate::number::Number;
use angles::Angles;
use budget::WorkLimit;
use field::Field;
use fourier::{Frequency, lattice_basis};
use fraction::Fraction;
use polynomial::Polynomial;
use rustc_hash::FxHashMap;

/// The limits at which a simplification is abandoned.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// The longest polynomial, in terms; a longer one is of no use to a reader.
    pub terms: usize,
    /// The largest number of operations on single terms for one expression; a million take a second or less.
    pub work: u64,
    /// The largest number of operations on single terms for all expressions of an [`Algebra`] together.
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { terms: 2000, work: 1_000_000, total: 20_000_000 }
    }
}

/// Expressions over common indeterminates, simplified one after the other; they share factors found so far.
pub struct Algebra {
    field: Field,
    limits: Limits,
}

impl Algebra {
    /// The algebra of these expressions; others that consist of the same parts may be simplified too.
    pub fn new(graph: &mut Graph, exprs: &[Expr], limits: Limits) -> Algebra {
        let angles = Angles::of(graph, exprs);
        let mut algebra = Algebra::with_angles(angles, limits).ordered(graph, exprs);
        let better = algebra.better_angles(graph, exprs);
        algebra.renew();
        match better {
            Some(better) => Algebra::with_angles(better, algebra.limits).ordered(graph, exprs),
            None => algebra,
        }
    }

    fn with_angles(angles: Angles, limits: Limits) -> Algebra {
        let field = Field::new(angles, budget(limits), writing(limits));
        Algebra { field, limits }
    }

    /// Creates the indeterminates in the order of their symbols, so that it does not depend on the traversal.
    fn ordered(mut self, graph: &Graph, exprs: &[Expr]) -> Algebra {
        for symbol in graph.symbols_of(exprs) {
            self.field.atom(symbol);
        }
        self
    }

    /// The shortest expression found that equals `e`, or `e` itself if none is shorter; `None` if a limit was reached.
    ///
    /// It is equal wherever `e` is defined and may be defined on a larger set, as x for x²/x.
    pub fn shortest(&mut self, graph: &mut Graph, e: Expr) -> Option<Expr> {
        self.renew();
        let fraction = self.field.fraction(graph, e)?;
        let short = self.field.write_fraction(graph, &fraction)?;
        Some(if graph.cost(short) <= graph.cost(e) { short } else { e })
    }

    /// `true` if `e` is zero by the rules of fractions, sin² + cos² = 1 and √p² = p; `None` if a limit was reached.
    pub fn is_zero(&mut self, graph: &mut Graph, e: Expr) -> Option<bool> {
        self.renew();
        Some(self.field.fraction(graph, e)?.above.is_zero())
    }

    /// The solution of a square system of linear equations in its shortest form; `None` if a limit was reached or the
    /// determinant is zero.
    ///
    /// It uses Cramer's rule and computes every minor once, so the only division is the last step.
    pub fn solve(&mut self, graph: &mut Graph, matrix: &[Vec<Expr>], right: &[Expr]) -> Option<Vec<Expr>> {
        self.renew();
        let n = right.len();
        if n > MOST_UNKNOWNS || matrix.len() != n || matrix.iter().any(|row| row.len() != n) {
            return None;
        }
        if let Some(better) = self.angles_of(graph, &matrix.concat()) {
            self.renew();
            let symbols: Vec<Expr> = self.field.atoms.iter().map(|atom| atom.expr).collect();
            *self = Algebra::with_angles(better, self.limits).ordered(graph, &symbols);
        }
        let mut entries = Vec::with_capacity(n);
        for (row, rhs) in matrix.iter().zip(right) {
            let row = row.iter().chain([rhs]).map(|e| self.field.fraction(graph, *e));
            entries.push(row.collect::<Option<Vec<Fraction>>>()?);
        }
        // clear denominators and common factors of columns and rows; the unknowns are rescaled by those of the columns
        let mut scales = Vec::with_capacity(n + 1);
        for k in 0..=n {
            let column: Vec<Fraction> = entries.iter().map(|row| row[k].clone()).collect();
            let (column, scale) = self.field.without_denominators(&column)?;
            entries.iter_mut().zip(column).for_each(|(row, p)| row[k] = Fraction::polynomial(p));
            scales.push(scale);
        }
        let mut rows = Vec::with_capacity(n);
        for row in &entries {
            rows.push(self.field.without_denominators(row)?.0);
        }
        let all: Vec<usize> = (0..n).collect();
        let mut minors = FxHashMap::default();
        let whole = self.field.determinant(&rows, &all, &mut minors)?;
        if whole.is_zero() {
            return None;
        }
        let right_scale = scales.pop()?;
        let inverse = self.field.multiply(&Fraction::polynomial(whole), &right_scale)?;
        let inverse = self.field.inverse(&inverse)?;
        let mut solution = Vec::with_capacity(n);
        for (k, scale) in scales.iter().enumerate() {
            // the right side replaces column k
            let columns: Vec<usize> = (0..n).map(|j| if j == k { n } else { j }).collect();
            let part = self.field.determinant(&rows, &columns, &mut minors)?;
            let quotient = self.field.multiply(&Fraction::polynomial(part), &inverse)?;
            let quotient = self.field.multiply(&quotient, scale)?;
            self.limits.total = self.limits.total.saturating_sub(self.field.writing.spent());
            self.field.writing = writing(self.limits);
            solution.push(self.field.write_fraction(graph, &quotient)?);
        }
        Some(solution)
    }

    /// Grants the work of the next step, as far as the total allows.
    fn renew(&mut self) {
        let spent = self.field.budget.spent() + self.field.writing.spent();
        self.limits.total = self.limits.total.saturating_sub(spent);
        self.limits.work = self.limits.work.min(self.limits.total);
        self.field.budget = budget(self.limits);
        self.field.writing = writing(self.limits);
    }

    /// Base angles on which the denominators depend least; `None` if they are no better than the angles as written.
    fn better_angles(&mut self, graph: &mut Graph, exprs: &[Expr]) -> Option<Angles> {
        let below: Vec<Expr> = graph.below(exprs);
        let is_divisor = |e: &Expr| match graph.node(*e) {
            Node::Pow(u, n) => graph.number(n).filter(|n| n.is_negative()).map(|_| u),
            _ => None,
        };
        let divisors: Vec<Expr> = below.iter().filter_map(is_divisor).collect();
        self.angles_of(graph, &divisors)
    }

    /// Base angles on which these expressions depend least; `None` if the present ones are as good.
    fn angles_of(&mut self, graph: &mut Graph, exprs: &[Expr]) -> Option<Angles> {
        if self.field.angles.len() < 2 || !self.field.angles.base.is_empty() {
            return None;
        }
        let mut frequencies: Vec<Frequency> = Vec::new();
        for e in exprs {
            let Some(fraction) = self.field.fraction(graph, *e) else { continue };
            frequencies.extend(self.field.key_frequencies(graph, &fraction.above).unwrap_or_default());
        }
        let basis = lattice_basis(&frequencies)?;
        let is_plain = |f: &Frequency| f.iter().map(|n| n.abs()).sum::<i64>() == 1;
        if basis.is_empty() || basis.iter().all(is_plain) {
            return None;
        }
        self.field.angles.with_base(completed(basis, self.field.angles.len()))
    }
}

/// The largest number of unknowns of a linear system, since 2ⁿ minors are computed.
const MOST_UNKNOWNS: usize = 8;

/// The work limit of writing; the search for the shortest form takes longer per term.
fn writing(limits: Limits) -> WorkLimit {
    WorkLimit::new(limits.work / 2, limits.terms)
}

fn budget(limits: Limits) -> WorkLimit {
    WorkLimit::new(limits.work, limits.terms)
}

/// Completes independent vectors to a basis by unit vectors.
fn completed(mut basis: Vec<Frequency>, n: usize) -> Vec<Frequency> {
    // from the last one: in a − b, the angle a is then expressed by a − b and b
    for k in (0..n).rev() {
        let unit: Frequency = (0..n).map(|j| (j == k) as i64).collect();
        if basis.len() < n && fourier::are_independent(&basis, &unit) {
            basis.push(unit);
        }
    }
    basis
}

impl Field {
    /// The entries of a row or column multiplied by a common factor that clears denominators and removes common
    /// factors, and that factor.
    fn without_denominators(&mut self, entries: &[Fraction]) -> Option<(Vec<Polynomial>, Fraction)> {
        let mut scale = Fraction::polynomial(Polynomial::one());
        for (factor, n) in entries.iter().flat_map(|entry| &entry.below) {
            let scaled: Vec<Fraction> = entries.iter().map(|e| self.multiply(e, &scale)).collect::<Option<_>>()?;
            let still = scaled.iter().flat_map(|e| &e.below).find(|(known, _)| known == factor).map_or(0, |(_, n)| *n);
            for _ in 0..still.min(*n) {
                scale = self.multiply(&scale, &Fraction::polynomial(factor.clone()))?;
            }
        }
        let scaled = entries.iter().map(|e| self.multiply(e, &scale).filter(|f| f.below.is_empty()).map(|f| f.above));
        let scaled: Vec<Polynomial> = scaled.collect::<Option<_>>()?;
        let monomials = scaled.iter().filter(|p| !p.is_zero()).map(|p| p.split().monomial);
        let Some(common) = monomials.reduce(|a, b| a.meet(&b)).filter(|m| !m.is_one()) else {
            return Some((scaled, scale));
        };
        let common = Polynomial::term(common, Number::ONE);
        let inverse = self.inverse(&Fraction::polynomial(common.clone()))?;
        let divided = scaled.iter().map(|p| p.divide(&common, &self.budget)).collect::<Option<_>>()?;
        Some((divided, self.multiply(&scale, &inverse)?))
    }

    /// The determinant of the last rows in these columns, expanded along the first of them; each minor is computed
    /// once.
    fn determinant(
        &self,
        rows: &[Vec<Polynomial>],
        columns: &[usize],
        minors: &mut FxHashMap<Vec<usize>, Polynomial>,
    ) -> Option<Polynomial> {
        let Some(row) = rows.len().checked_sub(columns.len()).filter(|_| !columns.is_empty()) else {
            return Some(Polynomial::one());
        };
        if let Some(known) = minors.get(columns) {
            return Some(known.clone());
        }
        let mut sum = Polynomial::default();
        for (at, &column) in columns.iter().enumerate() {
            let entry = &rows[row][column];
            if entry.is_zero() {
                continue;
            }
            let rest = [&columns[..at], &columns[at + 1..]].concat();
            let minor = self.determinant(rows, &rest, minors)?;
            let term = self.product(entry, &minor)?;
            sum = if at % 2 == 0 { sum.add(&term, &self.budget)? } else { sum.sub(&term, &self.budget)? };
        }
        minors.insert(columns.to_vec(), sum.clone());
        Some(sum)
    }

    /// The frequencies of a polynomial with respect to the angles as written.
    fn key_frequencies(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Vec<Frequency>> {
        let spectrum = self.spectrum(graph, p, &self.budget)?;
        let n = self.angles.len();
        let shown: Vec<Expr> = (0..n).map(|j| self.base_angle(graph, j)).collect::<Option<_>>()?;
        let place = |k: &usize| {
            let angle = self.argument(graph, *k);
            shown.iter().position(|e| *e == angle)
        };
        let places: Vec<usize> = spectrum.cosines.iter().map(place).collect::<Option<_>>()?;
        let widened = |f: Frequency| {
            let mut wide = vec![0; n];
            places.iter().zip(f).for_each(|(at, times)| wide[*at] = times);
            wide
        };
        Some(spectrum.frequencies().into_iter().map(widened).collect())
    }
}

impl Graph {
    /// The shortest expressions found that equal these, `None` for each that reached a limit; see [`Algebra`].
    pub fn shortest(&mut self, exprs: &[Expr], limits: Limits) -> Vec<Option<Expr>> {
        let mut algebra = Algebra::new(self, exprs, limits);
        exprs.iter().map(|e| algebra.shortest(self, *e)).collect()
    }
}
