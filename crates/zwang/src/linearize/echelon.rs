//! Linear rows solved for some of their unknowns.

#![allow(non_snake_case)]

use crate::verdict::dot;

/// Rows reduced until each has a column of its own.
pub(super) struct Echelon {
    rows: Vec<Vec<f64>>,
    /// The column of each row.
    pub(super) pivots: Vec<usize>,
}

impl Echelon {
    /// Rows at size one.
    pub(super) fn new(mut rows: Vec<Vec<f64>>) -> Echelon {
        for row in &mut rows {
            let size = row.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
            if size > 0.0 {
                row.iter_mut().for_each(|x| *x /= size);
            }
        }
        Echelon { rows, pivots: Vec::new() }
    }

    /// Looks for pivots in the first n columns, the largest entry first; rows without one are dropped.
    pub(super) fn reduce(&mut self, n: usize) {
        /// What is left of a row that others give.
        const NOTHING: f64 = 1e-10;
        for done in 0..self.rows.len() {
            let entries = (done..self.rows.len()).flat_map(|i| (0..n).map(move |j| (i, j)));
            let best = entries.max_by(|&(i, j), &(k, l)| self.rows[i][j].abs().total_cmp(&self.rows[k][l].abs()));
            let Some((i, j)) = best.filter(|&(i, j)| self.rows[i][j].abs() > NOTHING) else { break };
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

    /// The vector with 1 in the free column and what each row asks of its own column.
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

/// The shortest x with A x = b, A of k rows and p columns, by complete pivoting on A Aᵀ; none if A has no rank at all.
pub(super) fn shortest(A: &[f64], k: usize, p: usize, b: &[f64]) -> Option<Vec<f64>> {
    let row = |i: usize| &A[i * p..(i + 1) * p];
    let mut joined: Vec<Vec<f64>> = Vec::with_capacity(k);
    for i in 0..k {
        let mut line: Vec<f64> = (0..k).map(|j| dot(row(i), row(j))).collect();
        line.push(b[i]);
        joined.push(line);
    }
    let mut echelon = Echelon { rows: joined, pivots: Vec::new() };
    echelon.reduce(k);
    if echelon.pivots.is_empty() {
        return None;
    }
    let y = echelon.dependent(k, |line| line[k], usize::MAX);
    Some((0..p).map(|j| (0..k).map(|i| A[i * p + j] * y[i]).sum()).collect())
}
