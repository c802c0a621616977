//! Linearly dependent rows of A, and the contradictions among them.

use crate::{
    Gap, Given, Matrix, MotionError, Settings,
    acceleration::{large::Large, repeats::Repeats},
    factor::{largest, power_of_two},
    limits, tolerance,
};
use std::collections::BinaryHeap;

/// A linear combination of rows: row index and coefficient.
type Terms = Vec<(usize, f64)>;

/// The linear dependence of the rows of a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependence {
    /// Rank of A.
    pub rank: usize,
    /// The clarity of the rank decision: the smallest remainder that counted and the largest that did not.
    pub gap: Gap,
    /// Rows that are linearly independent of all earlier rows.
    pub independent: Vec<usize>,
    /// Rows that are combinations of earlier independent rows: row = Σ coefficient · row, for the rows as written.
    pub dependent: Vec<(usize, Vec<(usize, f64)>)>,
    /// Rows of zeros.
    pub vanished: Vec<usize>,
}

/// Finds the rows of A that depend linearly on earlier ones, with their coefficients.
///
/// Multiples of earlier rows are found by comparison. If many rows remain, a factor of A Aᵀ may show that they are
/// independent, and no more is needed. Otherwise Gaussian elimination treats one row after the other, in the order
/// written, so that a later row depends on earlier ones. Rows are first scaled to the same size. The combination of
/// each dependent row is unique. All steps are sparse.
pub fn dependence(A: &Matrix, settings: &Settings) -> Result<Dependence, MotionError> {
    if let Some((i, j)) = A.not_finite() {
        return Err(MotionError::NotFinite { what: format!("constraint row {i} at coordinate {j}") });
    }
    let mut repeats = Repeats::default();
    repeats.find(A, &[], true, settings);
    let is_empty = |i: &usize| largest(A.row(*i).1) == 0.0;
    let (vanished, rows): (Vec<usize>, Vec<usize>) = repeats.kept.iter().partition(|i| is_empty(i));
    let mut found = Dependence { vanished, gap: Gap { kept: f64::INFINITY, dropped: 0.0 }, ..Dependence::default() };
    match clearly_independent(A, rows.len(), settings) {
        Some(gap) => (found.gap, found.independent) = (gap, rows),
        None => eliminate(A, &rows, settings, &mut found),
    }
    // a multiple of a dependent row depends on the same independent rows
    let multiples: Vec<(usize, Terms)> = repeats
        .iter()
        .map(|(row, of, factor)| {
            let of = repeats.kept[of];
            match found.dependent.binary_search_by_key(&of, |(row, _)| *row) {
                Ok(at) => (row, found.dependent[at].1.iter().map(|&(k, c)| (k, factor * c)).collect()),
                Err(_) => (row, vec![(of, factor)]),
            }
        })
        .collect();
    found.dependent.extend(multiples);
    found.dependent.sort_by_key(|(row, _)| *row);
    found.rank = found.independent.len();
    if found.rank == 0 {
        found.gap.kept = 1.0;
    }
    Ok(found)
}

/// The gap that shows the `n_rows` rows which are neither empty nor multiples to be independent; `None` if a factor of
/// A Aᵀ does not show it.
fn clearly_independent(A: &Matrix, n_rows: usize, settings: &Settings) -> Option<Gap> {
    if n_rows < limits::FEW_ROWS {
        return None;
    }
    let mut large = Large::new(settings);
    let done = large.factor(&Matrix::identity(A.n_cols), A).ok()?;
    (done && large.rank() == n_rows && large.gap().kept > tolerance::CLEARLY_INDEPENDENT).then(|| large.gap())
}

/// Gaussian elimination of the rows in their order.
fn eliminate(A: &Matrix, rows: &[usize], settings: &Settings, found: &mut Dependence) {
    let mut elimination = RowElimination::new(A, rows);
    for &i in rows {
        let scale = 1.0 / power_of_two(largest(A.row(i).1));
        let remainder = elimination.reduce(A.row(i), scale);
        if remainder > settings.rank_tolerance {
            found.gap.kept = found.gap.kept.min(remainder);
            elimination.keep(i, scale);
            found.independent.push(i);
        } else {
            found.gap.dropped = found.gap.dropped.max(remainder);
            found.dependent.push((i, elimination.combination(scale)));
        }
    }
}

/// The independent rows so far, each with the earlier ones eliminated from it.
struct RowElimination {
    /// The kept row whose pivot lies in each column.
    pivot_of: Vec<usize>,
    /// The last row of each column and the number of its occurrences; pivots that cause little fill are preferred.
    occurrence: Vec<(usize, usize)>,
    kept: Vec<Kept>,
    /// The row under elimination: its values and its nonzero columns.
    value: Vec<f64>,
    present: Vec<bool>,
    columns: Vec<usize>,
    multipliers: Vec<(usize, f64)>,
    queue: BinaryHeap<std::cmp::Reverse<usize>>,
    weight: Vec<f64>,
}

/// One kept row: its remainder, its pivot, and the multiples of earlier kept rows that were subtracted.
struct Kept {
    row: usize,
    scale: f64,
    pivot: usize,
    pivot_value: f64,
    rest: Vec<(usize, f64)>,
    multipliers: Vec<(usize, f64)>,
}

const NONE: usize = usize::MAX;

impl RowElimination {
    fn new(A: &Matrix, rows: &[usize]) -> RowElimination {
        let mut occurrence = vec![(0, 0); A.n_cols];
        for &i in rows {
            A.row(i).0.iter().for_each(|&j| occurrence[j] = (i, occurrence[j].1 + 1));
        }
        RowElimination {
            pivot_of: vec![NONE; A.n_cols],
            occurrence,
            kept: Vec::new(),
            value: vec![0.0; A.n_cols],
            present: vec![false; A.n_cols],
            columns: Vec::new(),
            multipliers: Vec::new(),
            queue: BinaryHeap::new(),
            weight: Vec::new(),
        }
    }

    /// Eliminates all kept rows from the scaled row, in their order; returns the largest remaining entry.
    fn reduce(&mut self, row: (&[usize], &[f64]), scale: f64) -> f64 {
        for &j in &self.columns {
            (self.value[j], self.present[j]) = (0.0, false);
        }
        self.columns.clear();
        self.multipliers.clear();
        for (&j, &x) in row.0.iter().zip(row.1) {
            self.add(j, x * scale);
        }
        while let Some(std::cmp::Reverse(k)) = self.queue.pop() {
            let Kept { pivot, pivot_value, .. } = self.kept[k];
            let s = self.value[pivot] / pivot_value;
            self.value[pivot] = 0.0;
            if s == 0.0 {
                continue;
            }
            self.multipliers.push((k, s));
            let rest = std::mem::take(&mut self.kept[k].rest);
            for &(j, x) in &rest {
                self.add(j, -s * x);
            }
            self.kept[k].rest = rest;
        }
        self.columns.iter().fold(0.0, |top: f64, &j| top.max(self.value[j].abs()))
    }

    /// value[j] += x; a column that contains a pivot is queued for elimination.
    fn add(&mut self, j: usize, x: f64) {
        if !self.present[j] {
            self.present[j] = true;
            self.columns.push(j);
            if self.pivot_of[j] != NONE {
                self.queue.push(std::cmp::Reverse(self.pivot_of[j]));
            }
        }
        self.value[j] += x;
    }

    /// Keeps the remainder of the row. Its pivot is a large entry in a column that few later rows contain, if possible
    /// none, because a row enters others only through its pivot.
    fn keep(&mut self, row: usize, scale: f64) {
        /// A pivot is at least this fraction of the largest entry; within that bound the column with the least fill is
        /// chosen.
        const PIVOT_THRESHOLD: f64 = 0.3;
        let top = self.columns.iter().fold(0.0, |top: f64, &j| top.max(self.value[j].abs()));
        let candidates = self.columns.iter().copied().filter(|&j| self.value[j].abs() >= PIVOT_THRESHOLD * top);
        let pivot = candidates
            .min_by(|&i, &j| {
                let size = |j: usize| self.value[j].abs();
                self.occurrence[i].cmp(&self.occurrence[j]).then(size(j).total_cmp(&size(i))).then(i.cmp(&j))
            })
            .unwrap_or(0);
        // entries that elimination has cancelled are dropped, so that rows stay short
        let left = |j: &usize| *j != pivot && self.value[*j].abs() > tolerance::CANCELLED_ENTRY * top;
        let rest = self.columns.iter().copied().filter(left).map(|j| (j, self.value[j])).collect();
        self.pivot_of[pivot] = self.kept.len();
        self.kept.push(Kept {
            row,
            scale,
            pivot,
            pivot_value: self.value[pivot],
            rest,
            multipliers: self.multipliers.clone(),
        });
    }

    /// The last reduced row in terms of the rows as written.
    ///
    /// It is Σ sₖ uₖ with uₖ = rowₖ − Σ lₖⱼ uⱼ, so from the last k down: cₖ = sₖ, and sⱼ decreases by cₖ lₖⱼ.
    fn combination(&mut self, scale: f64) -> Terms {
        self.weight.resize(self.kept.len(), 0.0);
        let mut queue = BinaryHeap::new();
        for &(k, s) in &self.multipliers {
            self.weight[k] = s;
            queue.push(k);
        }
        let mut terms = Vec::new();
        let mut last = NONE;
        while let Some(k) = queue.pop() {
            if k == last {
                continue;
            }
            last = k;
            let c = std::mem::take(&mut self.weight[k]);
            // rounding is not propagated: otherwise a row stated twice would depend on all rows before it
            if c.abs() <= tolerance::ROW_ROUNDING {
                continue;
            }
            let Kept { row, scale: row_scale, ref multipliers, .. } = self.kept[k];
            for &(j, l) in multipliers {
                self.weight[j] -= c * l;
                queue.push(j);
            }
            // rows are scaled to one, so a coefficient of rounding size is treated as zero
            if c.abs() > tolerance::NO_MULTIPLE {
                terms.push((row, c * row_scale / scale));
            }
        }
        terms.reverse();
        terms
    }
}

/// The contradiction in A q̈ = b, given the acceleration that comes closest.
///
/// Each dependent row r = Σ c·row has one certificate, y = e_r − Σ c e_row; the one with the fewest rows among those
/// whose gap yᵀb is not small is returned. If no such certificate exists, the residual itself serves as one.
pub(crate) fn contradiction(given: &Given, qddot: &[f64], settings: &Settings) -> MotionError {
    let (A, b) = (&given.constraint_matrix, &given.constraint_rhs);
    let mut residual = vec![0.0; A.n_rows];
    A.multiply(qddot, &mut residual);
    residual.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
    let mut best: Option<(f64, Terms)> = None;
    if let Ok(found) = dependence(A, settings) {
        let vanished = found.vanished.iter().map(|&i| (i, Vec::new()));
        for (i, terms) in vanished.chain(found.dependent) {
            let gap = residual[i] - terms.iter().map(|&(k, c)| c * residual[k]).sum::<f64>();
            let size = b[i].abs() + terms.iter().map(|&(k, c)| (c * b[k]).abs()).sum::<f64>();
            let certificate: Terms = terms.iter().map(|&(k, c)| (k, -c)).chain([(i, 1.0)]).collect();
            let clear = gap.abs() > 0.5 * settings.contradiction_tolerance * size && gap != 0.0;
            let relative = if size > 0.0 { gap.abs() / size } else { 0.0 };
            let shorter = best.as_ref().is_none_or(|(other, terms)| {
                certificate.len() < terms.len() || (certificate.len() == terms.len() && relative > *other)
            });
            if clear && shorter {
                best = Some((relative, certificate));
            }
        }
    }
    let terms = best.map_or_else(|| scaled_residual(A, &residual), |(_, certificate)| certificate);
    let top = terms.iter().fold(0.0, |top: f64, (_, y)| top.max(y.abs()));
    let mut certificate = vec![0.0; A.n_rows];
    terms.iter().filter(|_| top > 0.0).for_each(|&(i, y)| certificate[i] = y / top);
    let gap = certificate.iter().zip(b).map(|(y, b)| y * b).sum();
    MotionError::Contradiction { certificate, gap, residual }
}

/// The residual of the nearest acceleration is orthogonal to the scaled rows, so it is a certificate too.
fn scaled_residual(A: &Matrix, residual: &[f64]) -> Terms {
    let scale = |i: usize| 1.0 / power_of_two(largest(A.row(i).1));
    residual.iter().enumerate().map(|(i, r)| (i, r * scale(i) * scale(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rows_depend_on_earlier_ones_as_written() {
        let A = Matrix::from_dense(5, 3, &[1., 2., 0., 0., 0., 0., 0., 1e8, 1e8, 2., 4., 0., 1., 3., 1.]);
        let found = dependence(&A, &Settings::default()).unwrap();
        assert_eq!((found.rank, &found.independent[..], &found.vanished[..]), (2, &[0, 2][..], &[1][..]));
        assert_eq!(found.dependent[0], (3, vec![(0, 2.0)]));
        let (row, terms) = &found.dependent[1];
        assert_eq!((*row, terms[0], terms[1].0), (4, (0, 1.0), 2));
        assert!((terms[1].1 - 1e-8).abs() < 1e-22);
    }

    #[test]
    fn no_rows_have_no_rank() {
        let found = dependence(&Matrix::from_dense(0, 3, &[]), &Settings::default()).unwrap();
        assert_eq!((found.rank, found.gap), (0, Gap::default()));
    }
}
