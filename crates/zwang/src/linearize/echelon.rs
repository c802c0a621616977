//! Linear systems reduced to echelon form.

#![allow(non_snake_case)]

use crate::{analysis::dot, tolerance};

/// Rows reduced until each has a pivot column of its own.
pub(super) struct Echelon {
    rows: Vec<Vec<f64>>,
    /// The pivot column of each row.
    pub(super) pivots: Vec<usize>,
}

impl Echelon {
    /// The rows, each scaled to a largest entry of one.
    pub(super) fn new(mut rows: Vec<Vec<f64>>) -> Echelon {
        for row in &mut rows {
            let size = row.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
            if size > 0.0 {
                row.iter_mut().for_each(|x| *x /= size);
            }
        }
        Echelon { rows, pivots: Vec::new() }
    }

    /// Finds pivots in the first n columns, the largest entry first; rows without one are dropped.
    pub(super) fn reduce(&mut self, n: usize) {
        for done in 0..self.rows.len() {
            let entries = (done..self.rows.len()).flat_map(|i| (0..n).map(move |j| (i, j)));
            let best = entries.max_by(|&(i, j), &(k, l)| self.rows[i][j].abs().total_cmp(&self.rows[k][l].abs()));
            let Some((i, j)) = best.filter(|&(i, j)| self.rows[i][j].abs() > tolerance::ECHELON_PIVOT) else { break };
            self.rows.swap(done, i);
            let pivot = self.rows[done][j];
            self.rows[done].iter_mut().for_each(|x| *x /= pivot);
            let own = self.rows[done].clone();
            for (_, row) in self.rows.iter_mut().enumerate().filter(|(k, _)| *k != done) {
                let factor = row[j];
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
            }
            self.pivots.push(j);
        }
        self.rows.truncate(self.pivots.len());
    }

    /// The vector with 1 in the free column and the value of `asked` in the pivot column of each row.
    pub(super) fn dependent(&self, n: usize, asked: impl Fn(&[f64]) -> f64, free: usize) -> Vec<f64> {
        let mut vector = vec![0.0; n];
        if free < n {
            vector[free] = 1.0;
        }
        for (row, &j) in self.rows.iter().zip(&self.pivots) {
            vector[j] = asked(row);
        }
        vector
    }
}

/// The shortest x with A x = b, A having p columns; of dependent rows the larger ones count. `None` if A is zero.
///
/// Rows are orthogonalized one after another, the one with the largest remainder first. Each keeps its own scale, so a
/// direction that is nearly flat is followed as far as its digits allow.
pub(super) fn shortest(A: &[f64], p: usize, b: &[f64]) -> Option<Vec<f64>> {
    let length = |row: &[f64]| dot(row, row).sqrt();
    // each row at length one
    let mut open: Vec<(Vec<f64>, f64)> = Vec::new();
    for (row, b) in A.chunks(p.max(1)).zip(b) {
        let size = length(row);
        if size > 0.0 {
            open.push((row.iter().map(|x| x / size).collect(), b / size));
        }
    }
    let mut x = vec![0.0; p];
    let mut n_used = 0;
    while let Some(most) = (0..open.len()).max_by(|&i, &j| length(&open[i].0).total_cmp(&length(&open[j].0))) {
        let (row, b) = open.swap_remove(most);
        let size = length(&row);
        if size <= tolerance::REPEATED_DIRECTION {
            break;
        }
        n_used += 1;
        let (e, c): (Vec<f64>, f64) = (row.iter().map(|x| x / size).collect(), b / size);
        x.iter_mut().zip(&e).for_each(|(x, e)| *x += c * e);
        for (row, b) in &mut open {
            let part = dot(row, &e);
            row.iter_mut().zip(&e).for_each(|(x, e)| *x -= part * e);
            *b -= part * c;
        }
    }
    (n_used > 0).then_some(x)
}

/// The size of the largest entry.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |top, x| top.max(x.abs()))
}
