//! Large systems near positions in which a singular value of B vanishes.

use super::{Large, Plan};
use crate::{
    acceleration::smallest::{self, Smallest},
    factor::dot,
};

/// Singular values and vectors of B near a rank drop. Rows of B have their frozen lengths here; rows and coordinates
/// are in internal orders.
impl Large {
    /// Freezes this rank and the lengths of the rows, against which small singular values are judged. Rows that are
    /// dependent here are omitted from now on, so that the solution stays a smooth function of the state where they
    /// are only nearly dependent.
    pub(crate) fn hold(&mut self, rank: usize) {
        self.held_rank = Some(rank);
        if self.is_deficient() && self.left_out.is_empty() {
            let mut leaves = vec![false; self.repeats.kept.len()];
            self.dependent.iter().for_each(|&k| leaves[k] = true);
            let kept = self.repeats.kept.iter().enumerate().filter(|(k, _)| leaves[*k]).map(|(_, &row)| row);
            let multiples = self.repeats.iter().filter(|(_, of, _)| leaves[*of]).map(|(row, ..)| row);
            self.left_out = kept.chain(multiples).collect();
            self.left_out.sort_unstable();
            // the next factorization omits these rows
            self.plan = None;
            return;
        }
        self.hold_lengths();
    }

    /// Freezes the lengths of the rows if that was requested and has not been done.
    pub(super) fn hold_lengths(&mut self) {
        let Some(Plan { rows, .. }) = &self.plan else { return };
        if self.held_rank.is_none() || !self.held.is_empty() {
            return;
        }
        self.held.resize(self.scale.len(), 0.0);
        rows.lengths(&mut self.held);
        let held = |(held, scale): (&mut f64, &f64)| *held = if *held > 0.0 { scale / *held } else { 1.0 };
        self.held.iter_mut().zip(&self.scale).for_each(held);
    }

    /// Releases the frozen rank and lengths.
    pub(crate) fn release(&mut self) {
        self.held.clear();
        self.held_rank = None;
        if !self.left_out.is_empty() {
            self.left_out.clear();
            self.plan = None;
        }
    }

    /// The frozen rank; the rank of the last factorization if none is frozen.
    pub(crate) fn held_rank(&self) -> usize {
        self.held_rank.unwrap_or(self.rank())
    }

    /// True if rows are linearly dependent without being multiples of one another.
    pub(crate) fn is_deficient(&self) -> bool {
        self.rank() < self.repeats.kept.len()
    }

    /// The factor that multiplies row k of B; one if no lengths are frozen.
    fn held(&self, k: usize) -> f64 {
        self.held.get(k).copied().unwrap_or(1.0) / self.scale[k]
    }

    /// Writes the remainder of every row after elimination of the earlier ones; dependent rows have remainders of
    /// rounding size.
    pub(crate) fn pivots(&self, pivots: &mut Vec<f64>) {
        let Some(Plan { sparse, .. }) = &self.plan else { return };
        pivots.clear();
        pivots.resize(self.scale.len(), 0.0);
        sparse.each_pivot(|k, pivot| pivots[k] = pivot.sqrt() * self.held(k));
    }

    /// True if rows of A are added to a singular M.
    pub(crate) fn has_singular_mass(&self) -> bool {
        !self.square.is_empty()
    }

    /// The number of stored values of B.
    pub(crate) fn n_values(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.rows.n_values())
    }

    /// Writes the values of B.
    pub(crate) fn write_B(&self, B: &mut Vec<f64>) {
        let Some(Plan { rows, .. }) = &self.plan else { return };
        B.clear();
        (0..self.scale.len()).for_each(|k| B.extend(rows.row(k).iter().map(|x| self.held(k) * x)));
    }

    /// An estimate of the change of B from its earlier values: the largest change of a row, enlarged because rows
    /// share coordinates.
    pub(crate) fn change(&self, before: &[f64]) -> f64 {
        /// Enlargement for shared coordinates: a row has about two neighbours.
        const NEIGHBOURS: f64 = 1.7;
        let Some(Plan { rows, .. }) = &self.plan else { return 0.0 };
        let (mut most, mut first) = (0f64, 0);
        for k in 0..self.scale.len() {
            let row = rows.row(k);
            let old = &before[first..first + row.len()];
            let square: f64 = row.iter().zip(old).map(|(x, y)| (self.held(k) * x - y).powi(2)).sum();
            (most, first) = (most.max(square), first + row.len());
        }
        NEIGHBOURS * most.sqrt()
    }

    /// The `count` smallest singular values of B, without the zeros of dependent rows.
    pub(crate) fn smallest(&mut self, count: usize, start: Option<&Smallest>) -> Smallest {
        let (m, n) = (self.scale.len(), self.work.x.len());
        let empty = m - self.held_rank().min(m);
        let factor: Vec<f64> = (0..m).map(|k| self.held(k)).collect();
        let Some(Plan { rows, sparse }) = &mut self.plan else { return Smallest::default() };
        let solve = |x: &mut [f64]| {
            x.iter_mut().zip(&factor).for_each(|(x, f)| *x /= f);
            sparse.solve(x, |_, _| {});
            x.iter_mut().zip(&factor).for_each(|(x, f)| *x /= f);
        };
        let transposed = |x: &[f64], y: &mut [f64]| {
            y.fill(0.0);
            (0..m).for_each(|k| rows.add(k, factor[k] * x[k], y));
        };
        let found = smallest::by_iteration((m, n), count + empty, start, solve, transposed);
        let kept = found.len() - empty.min(found.len());
        found.chosen(0..kept)
    }

    /// UᵀBV, row after row.
    pub(crate) fn between(&self, values: &Smallest) -> Vec<f64> {
        let Some(Plan { rows, .. }) = &self.plan else { return Vec::new() };
        let count = values.len();
        let mut block = vec![0.0; count * count];
        if values.m != self.scale.len() {
            return block;
        }
        for j in 0..count {
            let image: Vec<f64> = (0..values.m).map(|k| self.held(k) * rows.times(k, values.v(j))).collect();
            (0..count).for_each(|i| block[i * count + j] = dot(values.u(i), &image));
        }
        block
    }

    /// The coordinates as written of a right vector.
    pub(crate) fn to_coordinates(&self, v: &[f64]) -> Vec<f64> {
        let Some(Plan { rows, .. }) = &self.plan else { return v.to_vec() };
        let (mut x, mut found) = (vec![0.0; v.len()], vec![0.0; v.len()]);
        rows.unload(&self.blocks, v, &mut x);
        rows.coordinate.iter().zip(&x).for_each(|(&i, x)| found[i as usize] = *x);
        found
    }

    /// The factor that turns a change of coordinate i into a scaled one.
    pub(crate) fn mass_scale(&self, i: usize) -> f64 {
        1.0 / self.blocks.scale(i)
    }

    /// Writes the share of each row of A in a left vector.
    pub(crate) fn shares(&self, u: &[f64], share: &mut [f64]) {
        let mut put = |row: usize, k: usize| share[row] = f64::max(share[row], u[k].abs());
        self.repeats.kept.iter().enumerate().for_each(|(k, &row)| put(row, k));
        self.repeats.iter().for_each(|(row, of, _)| put(row, of));
    }

    /// The residual of A x = g along the left vectors; x becomes the smallest vector that satisfies A x = g in all
    /// other directions.
    pub(crate) fn solve_without(&mut self, values: &Smallest, g: &[f64], x: &mut [f64]) -> f64 {
        let factor: Vec<f64> = (0..self.scale.len()).map(|k| self.held(k)).collect();
        let Some(Plan { rows, sparse }) = &mut self.plan else { return 0.0 };
        for (k, &i) in self.repeats.kept.iter().enumerate() {
            self.work.asked[k] = g[i];
        }
        self.repeats.merge(g, &mut self.work.asked);
        for k in 0..factor.len() {
            self.work.left[k] = factor[k] * self.scale[k] * self.work.asked[k];
        }
        let along = (0..values.len()).map(|k| dot(values.u(k), &self.work.left).abs()).fold(0.0, f64::max);
        values.remove_left(&mut self.work.left);
        self.work.left.iter_mut().zip(&factor).for_each(|(x, f)| *x /= f);
        let change = &mut self.work.change;
        change.fill(0.0);
        sparse.solve(&mut self.work.left, |k, lambda| rows.add(k, lambda, change));
        values.remove_right(change);
        x.copy_from_slice(&self.to_coordinates(&self.work.change));
        along
    }
}
