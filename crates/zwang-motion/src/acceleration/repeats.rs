//! Rows that repeat another one up to a factor: they leave the solve, and their residual is still watched.

use crate::{Matrix, Settings, factor::largest};
use std::collections::HashMap;

/// Which rows of A are multiples of others.
///
/// Of rows that are multiples of each other the first stands for all. With row i = c·row k, what is asked of row k is the
/// mean of what all of them ask, each brought to the length of row k: the answer of least squares for rows of the same length.
/// A multiplier Λ of row k is shared as λᵢ = c Λ/Σc², the shortest way.
#[derive(Default)]
pub(crate) struct Repeats {
    /// Rows that stand for themselves and maybe for others.
    pub(crate) kept: Vec<usize>,
    list: Vec<Repeat>,
    /// Σc² and the number of rows, for each row kept.
    square: Vec<f64>,
    copies: Vec<f64>,
    /// How well multiples agree.
    tolerance: f64,
    /// Rows that were multiples once and are so no longer.
    apart: Vec<bool>,
    n_parted: usize,
}

/// Row `row` is `factor` times the row kept at place `of`.
struct Repeat {
    row: usize,
    of: usize,
    factor: f64,
}

/// Entries of rows that are multiples of each other agree to this part of the rank tolerance, relative to the largest: 1e-13
/// by default, far above rounding.
const PARALLEL: f64 = 1e-3;

/// Rows of one pattern that a row is compared with at most.
const MOST_COMPARED: usize = 16;

/// After so many surprises nothing is taken for a multiple any more.
const MOST_PARTED: usize = 3;

impl Repeats {
    /// Finds the multiples among rows of the same pattern. What has parted before stays apart if the pattern is the old one. Rows
    /// `without`, in increasing order, are left out of everything.
    pub(crate) fn find(&mut self, A: &Matrix, without: &[usize], is_new: bool, settings: &Settings) {
        self.tolerance = PARALLEL * settings.rank_tolerance.min(1e-10);
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
            if largest(value) == 0.0 || self.apart[i] || self.n_parted >= MOST_PARTED {
                self.kept.push(i);
                continue;
            }
            let tolerance = self.tolerance;
            let alike = of_pattern.entry(col).or_default();
            let found = alike.iter().find_map(|&k| Some((k, multiple(A.row(self.kept[k]).1, value, 1.0, tolerance)?)));
            match found {
                Some((of, factor)) => self.list.push(Repeat { row: i, of, factor }),
                None => {
                    if alike.len() < MOST_COMPARED {
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

    /// Puts the kept rows into another order: place k takes what was at place `order[k]`.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        self.kept = order.iter().map(|&k| self.kept[k]).collect();
        self.copies = order.iter().map(|&k| self.copies[k]).collect();
        self.square = order.iter().map(|&k| self.square[k]).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &before)| place[before] = k);
        self.list.iter_mut().for_each(|repeat| repeat.of = place[repeat.of]);
    }

    /// The factors for new values of A; false if a row is no multiple any more, so that all must be found again.
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

    /// Σc² of the row kept at place k: a row of that weight, squared, stands for all.
    pub(crate) fn square(&self, k: usize) -> f64 {
        if self.list.is_empty() { 1.0 } else { self.square[k] }
    }

    /// How many rows it stands for.
    pub(crate) fn copies(&self, k: usize) -> f64 {
        self.copies[k]
    }

    /// Adds to what is asked of the rows kept what their multiples ask, and takes the mean.
    pub(crate) fn merge(&self, g: &[f64], merged: &mut [f64]) {
        if self.list.is_empty() {
            return;
        }
        for repeat in &self.list {
            merged[repeat.of] += g[repeat.row] / repeat.factor;
        }
        merged.iter_mut().zip(&self.copies).for_each(|(x, n)| *x /= n);
    }

    /// For every multiple: its row, the place of the row it repeats, and the factor.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.list.iter().map(|repeat| (repeat.row, repeat.of, repeat.factor))
    }
}

/// c with row = c·first to the tolerance, if there is one; `guess` is tried first.
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
    // at their sizes, so that no square overflows
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
    fn the_mean_is_asked_of_the_row_that_stays() {
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
