//! The smallest inconsistent set of linear equations.

use crate::{Matrix, Settings, dependence, factor::largest, limits, tolerance};

/// A minimal inconsistent set of equations: without any one of them the others have a solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The rows of the set, in increasing order.
    pub rows: Vec<usize>,
    /// y with Σ yᵢ rowᵢ = 0, for the rows as written, one entry per row above.
    pub weights: Vec<f64>,
    /// Σ yᵢ bᵢ, which consistent equations require to be zero.
    pub gap: f64,
}

impl Conflict {
    /// The residual of each row where all the others are satisfied, in its own unit: row·x − b = −(yᵀb)/yᵢ.
    pub fn residuals(&self) -> Vec<f64> {
        self.weights.iter().map(|y| -self.gap / y).collect()
    }
}

/// The smallest conflict found in A x = b; `None` if the equations are consistent.
///
/// A row that is a combination of independent rows, with no coefficient zero, needs all of them. Such a circuit is a
/// minimal conflict if b does not follow the same combination. The circuits of elimination suffice to decide
/// consistency: if none of them is a conflict, there is no conflict. Small sets are then enumerated, up to 5000 of
/// each size, and elimination is repeated in other orders. Rows are compared at the same size. Of several conflicts
/// with the same number of rows, the one with the largest gap relative to its terms is taken.
pub fn conflict(A: &Matrix, b: &[f64], settings: &Settings) -> Option<Conflict> {
    let all: Vec<usize> = (0..A.n_rows).collect();
    let mut search = ConflictSearch { A, b, settings, best: None };
    let core = search.eliminate(&all);
    search.best.as_ref()?;
    for size in 2..=limits::SET_SIZE {
        let found = search.best.as_ref().map_or(0, |(_, conflict)| conflict.rows.len());
        // sets of the size found are enumerated too: another one may have the larger gap
        if found < size || n_sets(core.len(), size) > limits::SETS {
            break;
        }
        search.each(&core, size);
    }
    if search.best.as_ref().is_some_and(|(_, conflict)| conflict.rows.len() > limits::SET_SIZE) {
        let mut order = core.clone();
        order.reverse();
        search.eliminate(&order);
        order.sort_by_key(|&i| A.row(i).0.len());
        search.eliminate(&order);
        order.reverse();
        search.eliminate(&order);
    }
    search.best.map(|(_, conflict)| conflict)
}

/// The number of subsets of size k among n, C(n, k).
fn n_sets(n: usize, k: usize) -> usize {
    (0..k).fold(1usize, |product, i| product.saturating_mul(n.saturating_sub(i)) / (i + 1))
}

struct ConflictSearch<'a> {
    A: &'a Matrix,
    b: &'a [f64],
    settings: &'a Settings,
    /// The best conflict so far, with its gap relative to the terms that enter it.
    best: Option<(f64, Conflict)>,
}

impl ConflictSearch<'_> {
    /// Tests the circuit of every row that depends on earlier rows; returns the rows that take part in any circuit.
    fn eliminate(&mut self, order: &[usize]) -> Vec<usize> {
        let Ok(found) = dependence(&self.part(order), self.settings) else { return Vec::new() };
        let mut core = Vec::new();
        let vanished = found.vanished.iter().map(|&k| (k, Vec::new()));
        for (row, terms) in vanished.chain(found.dependent) {
            let circuit: Vec<(usize, f64)> =
                terms.iter().map(|&(k, c)| (order[k], -c)).chain([(order[row], 1.0)]).collect();
            core.extend(circuit.iter().map(|(row, _)| *row));
            self.offer(circuit);
        }
        core.sort_unstable();
        core.dedup();
        core
    }

    /// Tests every set of `size` rows.
    fn each(&mut self, core: &[usize], size: usize) {
        let mut at: Vec<usize> = (0..size).collect();
        loop {
            let rows: Vec<usize> = at.iter().map(|&k| core[k]).collect();
            if let Ok(found) = dependence(&self.part(&rows), self.settings)
                && let [(row, terms)] = &found.dependent[..]
                && terms.len() == size - 1
            {
                let circuit = terms.iter().map(|&(k, c)| (rows[k], -c)).chain([(rows[*row], 1.0)]);
                self.offer(circuit.collect());
            }
            // the next set in lexicographic order
            let Some(k) = (0..size).rev().find(|&k| at[k] < core.len() - (size - k)) else { return };
            at[k] += 1;
            (k + 1..size).for_each(|l| at[l] = at[l - 1] + 1);
        }
    }

    /// Keeps a circuit if it is a conflict and better than the best so far.
    fn offer(&mut self, mut circuit: Vec<(usize, f64)>) {
        let Settings { contradiction_tolerance: tolerance, contradiction_floor: floor, .. } = *self.settings;
        circuit.sort_by_key(|(row, _)| *row);
        let terms = || circuit.iter().map(|&(i, y)| y * self.b[i]);
        let (gap, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
        let least: f64 = circuit.iter().map(|&(i, y)| floor * y.abs() * largest(self.A.row(i).1)).sum();
        if !(gap.abs() > tolerance * size + least) {
            return;
        }
        let relative = gap.abs() / size;
        // gaps that differ by rounding count as the same, so that the first set stays
        let better = self.best.as_ref().is_none_or(|(other, best)| {
            let n = best.rows.len();
            circuit.len() < n || (circuit.len() == n && relative > other * (1.0 + tolerance::DISTINCT))
        });
        if better {
            let (rows, weights) = circuit.into_iter().unzip();
            self.best = Some((relative, Conflict { rows, weights, gap }));
        }
    }

    /// The submatrix of some rows of A, restricted to their nonzero columns.
    fn part(&self, rows: &[usize]) -> Matrix {
        let mut columns: Vec<usize> = rows.iter().flat_map(|&i| self.A.row(i).0).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        let (mut row_start, mut col, mut value) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let (from, x) = self.A.row(i);
            col.extend(from.iter().map(|j| columns.partition_point(|c| c < j)));
            value.extend_from_slice(x);
            row_start.push(col.len());
        }
        Matrix { n_rows: rows.len(), n_cols: columns.len(), row_start, col, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(n: usize, A: &[f64], b: &[f64]) -> Option<Conflict> {
        conflict(&Matrix::from_dense(b.len(), n, A), b, &Settings::default())
    }

    #[test]
    fn equations_that_repeat_each_other_are_no_conflict() {
        assert_eq!(found(2, &[1., 1., 2., 2., 0., 1., 1., 2.], &[1., 2., 3., 4.]), None);
    }

    /// x = 0, y = 0, x + y = 1, x + y = 2: the last two are enough.
    #[test]
    fn the_smallest_set_is_found_behind_larger_ones() {
        let conflict = found(2, &[1., 0., 0., 1., 1., 1., 1., 1.], &[0., 0., 1., 2.]).unwrap();
        assert_eq!(conflict.rows, [2, 3]);
        let residuals = conflict.residuals();
        // where x + y = 2 holds, x + y − 1 is 1; conversely it is −1
        assert_eq!((residuals[0], residuals[1]), (1.0, -1.0));
    }

    #[test]
    fn three_rows_that_agree_in_pairs_are_all_named_whatever_their_scale() {
        let scale = [1.0, 1e6, 1e-6];
        let rows = [[1., -1., 0.], [0., 1., -1.], [-1., 0., 1.]];
        let A: Vec<f64> = rows.iter().zip(scale).flat_map(|(row, s)| row.map(|x| x * s)).collect();
        let b = [0.0, 1e6, 0.0];
        let conflict = found(3, &A, &b).unwrap();
        assert_eq!(conflict.rows, [0, 1, 2]);
        let residuals = conflict.residuals();
        for (residual, scale) in residuals.iter().zip(scale) {
            assert!((residual.abs() / scale - 1.0).abs() < 1e-12, "{residuals:?}");
        }
    }

    #[test]
    fn a_row_of_zeros_is_a_conflict_by_itself() {
        assert_eq!(found(1, &[0., 1.], &[2., 1.]).unwrap().rows, [0]);
    }

    #[test]
    fn sets_are_counted() {
        assert_eq!((n_sets(5, 2), n_sets(3, 4), n_sets(4, 4)), (10, 0, 1));
    }
}
