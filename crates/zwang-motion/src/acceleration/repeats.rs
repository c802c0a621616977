//! Rows that are multiples of another row: they are removed from the solve, and their residual is still checked.

use crate::{Matrix, Settings, factor::largest, limits, tolerance};
use std::collections::HashMap;

/// The rows of A that are multiples of others.
///
/// Of rows that are multiples of each other the first represents all. With row i = c·row k, the right-hand side of row
/// k is the mean of all their right-hand sides, each scaled to the length of row k: the least-squares solution for
/// rows of the same length. A multiplier Λ of row k is distributed as λᵢ = c Λ/Σc², which is the shortest choice.
#[derive(Default)]
pub(crate) struct Repeats {
    /// The rows that represent themselves and possibly others.
    pub(crate) kept: Vec<usize>,
    list: Vec<Repeat>,
    /// Σc² and the number of rows, for each row kept.
    square: Vec<f64>,
    copies: Vec<f64>,
    /// The tolerance within which entries of multiples agree.
    tolerance: f64,
    /// True for each row that was a multiple earlier and no longer is.
    apart: Vec<bool>,
    n_parted: usize,
}

/// Row `row` is `factor` times the kept row of index `of`.
struct Repeat {
    row: usize,
    of: usize,
    factor: f64,
}

impl Repeats {
    /// Finds the multiples among rows of the same pattern. Rows that ceased to be multiples stay separate unless the
    /// pattern is new. The rows `without`, in increasing order, are ignored.
    pub(crate) fn find(&mut self, A: &Matrix, without: &[usize], is_new: bool, settings: &Settings) {
        self.tolerance = tolerance::PARALLEL_ROWS * settings.rank_tolerance.min(tolerance::RANK);
        if is_new {
            self.apart.clear();
            self.n_parted = 0;
        }
        self.apart.resize(A.n_rows, false);
        self.kept.clear();
        self.list.clear();
        let mut of_pattern: HashMap<&[usize], Vec<usize>> = HashMap::new();
        for i in 0..A.n_rows {
            if without.binary_search(&i).is_ok() {
                continue;
            }
            let (col, value) = A.row(i);
            let place = self.kept.len();
            if largest(value) == 0.0 || self.apart[i] || self.n_parted >= limits::PARTED_SEARCHES {
                self.kept.push(i);
                continue;
            }
            let tolerance = self.tolerance;
            let alike = of_pattern.entry(col).or_default();
            let found = alike.iter().find_map(|&k| Some((k, multiple(A.row(self.kept[k]).1, value, 1.0, tolerance)?)));
            match found {
                Some((of, factor)) => self.list.push(Repeat { row: i, of, factor }),
                None => {
                    if alike.len() < limits::ROWS_COMPARED {
                        alike.push(place);
                    }
                    self.kept.push(i);
                }
            }
        }
        self.square.resize(self.kept.len(), 1.0);
        self.copies.clear();
        self.copies.resize(self.kept.len(), 1.0);
        self.list.iter().for_each(|repeat| self.copies[repeat.of] += 1.0);
        self.update(A);
    }

    /// Permutes the kept rows: index k takes the row of index `order[k]`.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        self.kept = order.iter().map(|&k| self.kept[k]).collect();
        self.copies = order.iter().map(|&k| self.copies[k]).collect();
        self.square = order.iter().map(|&k| self.square[k]).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &before)| place[before] = k);
        self.list.iter_mut().for_each(|repeat| repeat.of = place[repeat.of]);
    }

    /// Updates the factors for new values of A; false if a row is no longer a multiple, so that the search must be
    /// repeated.
    pub(crate) fn update(&mut self, A: &Matrix) -> bool {
        if self.list.is_empty() {
            return true;
        }
        self.square.fill(1.0);
        let mut holds = true;
        for repeat in &mut self.list {
            let (first, row) = (A.row(self.kept[repeat.of]).1, A.row(repeat.row).1);
            match multiple(first, row, repeat.factor, self.tolerance) {
                Some(factor) => {
                    repeat.factor = factor;
                    self.square[repeat.of] += factor * factor;
                }
                None => {
                    self.apart[repeat.row] = true;
                    holds = false;
                }
            }
        }
        self.n_parted += usize::from(!holds);
        holds
    }

    /// Σc² of kept row k: the square of the factor that gives it the combined length of its multiples.
    pub(crate) fn square(&self, k: usize) -> f64 {
        if self.list.is_empty() { 1.0 } else { self.square[k] }
    }

    /// The number of rows that kept row k represents.
    pub(crate) fn copies(&self, k: usize) -> f64 {
        self.copies[k]
    }

    /// Replaces the right-hand side of each kept row by the mean over the row and its multiples.
    pub(crate) fn merge(&self, g: &[f64], merged: &mut [f64]) {
        if self.list.is_empty() {
            return;
        }
        for repeat in &self.list {
            merged[repeat.of] += g[repeat.row] / repeat.factor;
        }
        merged.iter_mut().zip(&self.copies).for_each(|(x, n)| *x /= n);
    }

    /// For every multiple: its row, the index of the kept row it repeats, and the factor.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.list.iter().map(|repeat| (repeat.row, repeat.of, repeat.factor))
    }
}

/// c with row = c·first within the tolerance, if one exists; `guess` is tried first.
fn multiple(first: &[f64], row: &[f64], guess: f64, tolerance: f64) -> Option<f64> {
    let top = largest(row);
    let within = |c: f64, size: f64| first.iter().zip(row).all(|(x, y)| (y - c * x).abs() <= size);
    if top < f64::INFINITY && within(guess, tolerance * top) {
        return Some(guess);
    }
    let scale = largest(first);
    if !(0.0 < top && top < f64::INFINITY && 0.0 < scale && scale < f64::INFINITY) {
        return None;
    }
    // scaled by their sizes, so that no square overflows
    let along: f64 = first.iter().zip(row).map(|(x, y)| (x / scale) * (y / top)).sum();
    let c = along / first.iter().map(|x| (x / scale) * (x / scale)).sum::<f64>() * (top / scale);
    (c != 0.0 && c.is_finite() && (1.0 / c).is_finite() && within(c, tolerance * top)).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[[f64; 3]]) -> Repeats {
        let mut repeats = Repeats::default();
        repeats.find(&Matrix::from_dense(rows.len(), 3, rows.as_flattened()), &[], true, &Settings::default());
        repeats
    }

    #[test]
    fn multiples_are_found_whatever_their_factor() {
        let repeats =
            found(&[[1., 2., 0.], [0., 1., 1.], [1e200, 2e200, 0.], [0., -1e-200, -1e-200], [1., 2.0001, 0.]]);
        assert_eq!(repeats.kept, [0, 1, 4]);
        let list: Vec<_> = repeats.iter().map(|(row, of, _)| (row, of)).collect();
        assert_eq!(list, [(2, 0), (3, 1)]);
        assert!(repeats.iter().all(|(_, of, c)| (c / [1e200, -1e-200][of] - 1.0).abs() < 1e-15));
    }

    #[test]
    fn rows_that_part_stay_apart() {
        let mut A = Matrix::from_dense(2, 2, &[1., 2., 3., 6.]);
        let mut repeats = Repeats::default();
        repeats.find(&A, &[], true, &Settings::default());
        assert!(repeats.update(&A) && repeats.kept == [0]);
        A.value[3] = 6.1;
        assert!(!repeats.update(&A));
        repeats.find(&A, &[], false, &Settings::default());
        A.value[3] = 6.0;
        assert!(repeats.update(&A) && repeats.kept == [0, 1]);
    }

    #[test]
    fn the_kept_row_gets_the_mean_right_hand_side() {
        let repeats = found(&[[1., 1., 0.], [2., 2., 0.], [0., 0., 1.]]);
        let mut merged = vec![3.0, 5.0];
        repeats.merge(&[3.0, 4.0, 5.0], &mut merged);
        assert_eq!(merged, [2.5, 5.0]);
        assert_eq!((repeats.square(0), repeats.square(1)), (5.0, 1.0));
    }

    #[test]
    fn empty_and_wild_rows_are_no_multiples() {
        let wild = [[0.0; 3], [0.0; 3], [f64::NAN, 1., 1.], [f64::NAN, 1., 1.], [f64::MAX, 1., 1.], [1e-300, 1., 1.]];
        assert_eq!(found(&wild).kept, [0, 1, 2, 3, 4, 5]);
    }
}
