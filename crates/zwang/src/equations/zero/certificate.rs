//! A box that contains a state on the constraints for certain, by Krawczyk's operator.
//!
//! $$ K = z - Y f(z) + (1 - Y J([z]))\,([z] - z) \subset \operatorname{int}\,[z] \;\Rightarrow\; [z] \ni z^*,\ f(z^*) = 0 $$
//!
//! Y is the inverse of the best conditioned minor of J; the symbols outside it keep their values. After Neumaier, Interval Methods
//! for Systems of Equations, 5.1.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph, Interval, Program};

use crate::tolerance;

/// Expressions with their derivatives by free symbols, for given values of the others.
pub(super) struct Conditions {
    /// The expressions, then the derivatives; the inputs are the free symbols, then the others.
    program: Program,
    n_rows: usize,
    n_free: usize,
    /// Row and column of each derivative.
    entries: Vec<(usize, usize)>,
    fixed: Vec<f64>,
}

impl Conditions {
    pub(super) fn new(graph: &mut Graph, rows: &[Expr], free: &[Expr], held: &[Expr], fixed: Vec<f64>) -> Conditions {
        let column: FxHashMap<Expr, usize> = free.iter().enumerate().map(|(k, s)| (*s, k)).collect();
        let (mut entries, mut outputs) = (Vec::new(), rows.to_vec());
        for (i, row) in rows.iter().enumerate() {
            for (symbol, slope) in graph.gradient_in(*row, |s| column.contains_key(&s)) {
                entries.push((i, column[&symbol]));
                outputs.push(slope);
            }
        }
        let program = Program::new(graph, &[free, held].concat(), &outputs);
        let program = program.unwrap_or_else(|_| unreachable!("all symbols are inputs"));
        Conditions { program, n_rows: rows.len(), n_free: free.len(), entries, fixed }
    }

    /// Values and derivatives; `None` if one of them is not finite.
    pub(super) fn at(&self, z: &[f64]) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
        let inputs = [z, &self.fixed].concat();
        let mut out = vec![0.0; self.program.n_outputs()];
        self.program.run(&inputs, &mut self.program.workspace(), &mut out);
        if !out.iter().all(|x| x.is_finite()) {
            return None;
        }
        let mut slopes = vec![vec![0.0; self.n_free]; self.n_rows];
        self.entries.iter().zip(&out[self.n_rows..]).for_each(|((i, j), x)| slopes[*i][*j] = *x);
        out.truncate(self.n_rows);
        Some((out, slopes))
    }

    /// The same as bounds over a box.
    fn over(&self, z: &[Interval]) -> (Vec<Interval>, Vec<Vec<Interval>>) {
        let inputs = self.with_fixed(z);
        let mut out = vec![Interval::ZERO; self.program.n_outputs()];
        self.program.enclose(&inputs, &mut self.program.enclosure_workspace(), &mut out);
        let mut slopes = vec![vec![Interval::ZERO; self.n_free]; self.n_rows];
        self.entries.iter().zip(&out[self.n_rows..]).for_each(|((i, j), x)| slopes[*i][*j] = *x);
        out.truncate(self.n_rows);
        (out, slopes)
    }

    /// A box of the free symbols with the values of the others, each with its rounding.
    pub(super) fn with_fixed(&self, z: &[Interval]) -> Vec<Interval> {
        let held = self.fixed.iter().map(|x| match x.fract() == 0.0 {
            true => Interval::point(*x),
            false => Interval::point(*x).widened(0.0),
        });
        z.iter().copied().chain(held).collect()
    }
}

/// A box around z that contains a state at which the first `n_zeros` equations hold; `None` if that is not certain.
///
/// Rows that depend on others there are not certified; they must not be violated.
#[allow(non_snake_case)]
pub(super) fn box_around(conditions: &Conditions, n_zeros: usize, z: &[f64], width: &[f64]) -> Option<Vec<Interval>> {
    let points: Vec<Interval> = z.iter().map(|x| Interval::point(*x)).collect();
    if n_zeros == 0 {
        return Some(points);
    }
    let (_, slopes) = conditions.at(z)?;
    let (rows, columns) = minor(&slopes[..n_zeros], width);
    let Y = inverse(&rows, &columns, &slopes)?;
    let (f, _) = conditions.over(&points);
    let m = rows.len();
    let correction = |i: usize| (0..m).fold(Interval::ZERO, |sum, j| sum + Interval::point(Y[i][j]) * f[rows[j]]);
    let corrections: Vec<Interval> = (0..m).map(correction).collect();
    // ten times the correction, and at least what rounding moves
    let radius = |i: usize| (10.0 * corrections[i].magnitude()).max(tolerance::ON_CONSTRAINT * width[columns[i]]);
    let radii: Vec<f64> = (0..m).map(radius).collect();
    let mut state = points;
    (0..m).for_each(|i| state[columns[i]] = Interval::new(z[columns[i]] - radii[i], z[columns[i]] + radii[i]));
    let (values, J) = conditions.over(&state);
    for (i, correction) in corrections.iter().enumerate() {
        let mut image = -*correction;
        for (l, r) in radii.iter().enumerate() {
            let one = Interval::point(if i == l { 1.0 } else { 0.0 });
            let product = (0..m).fold(Interval::ZERO, |sum, j| sum + Interval::point(Y[i][j]) * J[rows[j]][columns[l]]);
            image = image + (one - product) * Interval::new(-r, *r);
        }
        if image.magnitude() >= radii[i] {
            return None;
        }
    }
    values[..n_zeros].iter().all(|value| value.contains(0.0)).then_some(state)
}

/// Independent rows, and as many columns in which their minor is well conditioned: elimination with complete pivoting, in units of
/// the ranges.
fn minor(slopes: &[Vec<f64>], width: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let scaled = |row: &Vec<f64>| -> Vec<f64> {
        let row: Vec<f64> = row.iter().zip(width).map(|(x, w)| x * w).collect();
        let largest = row.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        row.into_iter().map(|x| if largest > 0.0 { x / largest } else { 0.0 }).collect()
    };
    let mut left: Vec<Vec<f64>> = slopes.iter().map(scaled).collect();
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    loop {
        let all = (0..left.len()).flat_map(|i| (0..width.len()).map(move |j| (i, j)));
        let open = all.filter(|(i, j)| !rows.contains(i) && !columns.contains(j));
        let Some((i, j)) = open.max_by(|a, b| left[a.0][a.1].abs().total_cmp(&left[b.0][b.1].abs())) else { break };
        if left[i][j].abs() <= tolerance::NEW_DIRECTION {
            break;
        }
        let pivot = left[i].clone();
        for (_, row) in left.iter_mut().enumerate().filter(|(k, _)| *k != i && !rows.contains(k)) {
            let factor = row[j] / pivot[j];
            row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
        }
        rows.push(i);
        columns.push(j);
    }
    (rows, columns)
}

/// The inverse of a minor by Gauss–Jordan elimination.
fn inverse(rows: &[usize], columns: &[usize], slopes: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let m = rows.len();
    let mut a: Vec<Vec<f64>> = rows.iter().map(|i| columns.iter().map(|j| slopes[*i][*j]).collect()).collect();
    a.iter_mut().enumerate().for_each(|(i, row)| row.extend((0..m).map(|j| f64::from(u8::from(i == j)))));
    for k in 0..m {
        let pivot = (k..m).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        a.swap(k, pivot);
        let divisor = a[k][k];
        if divisor == 0.0 || !divisor.is_finite() {
            return None;
        }
        a[k].iter_mut().for_each(|x| *x /= divisor);
        let row = a[k].clone();
        for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = other[k];
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    Some(a.into_iter().map(|row| row[m..].to_vec()).collect())
}
