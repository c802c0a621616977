//! The shortest multipliers for the rows as written.

use super::problem::Problem;
use crate::{
    MotionError,
    factor::{
        dense::{Qr, Stop},
        add_multiple, norm,
    },
};

/// Finds the shortest λ among those with the same Aᵀλ.
///
/// With the scaled rows decomposed, (D_r A)ᵀ Π = Q [T₁ T₂], the columns of K = Π [−T₁⁻¹T₂; I] span the null space of (D_r A)ᵀ,
/// and λ = D_r (λ̂ − K c) gives the same force for any c. The least |λ| is a least-squares problem for c.
///
/// Rows may be in very different units. Those in large units have small multipliers for the same force and decide which λ is
/// shortest; so they are taken as pivots first, and K then says how others depend on them and never how they depend on others,
/// where rounding would matter more than they do.
pub(crate) struct Shortest {
    rows: Qr,
    by_unit: Qr,
    second: Qr,
    /// K by columns, rows in the order of the pivots.
    K: Vec<f64>,
    /// Places of K sorted by the size of their rows in D_r K.
    order: Vec<usize>,
    size: Vec<f64>,
    x: Vec<f64>,
    multipliers: Vec<f64>,
}

/// One solve and one correction.
const REFINEMENTS: usize = 2;

impl Shortest {
    pub(crate) fn new() -> Shortest {
        Shortest {
            rows: Qr::new(),
            by_unit: Qr::new(),
            second: Qr::new(),
            K: Vec::new(),
            order: Vec::new(),
            size: Vec::new(),
            x: Vec::new(),
            multipliers: Vec::new(),
        }
    }

    /// The shortest λ = D_r λ̂ with T Πᵀ λ̂ = z; `qr` holds T and Π, `scale(i)` is D_r of row i.
    pub(crate) fn from_triangle(
        &mut self,
        qr: &Qr,
        scale: impl Fn(usize) -> f64,
        z: &[f64],
        lambda: &mut [f64],
        small_limit: usize,
    ) {
        // λ̂ on the rows with pivots, zero on the others
        let mut multipliers = std::mem::take(&mut self.multipliers);
        multipliers.clear();
        multipliers.extend_from_slice(&z[..qr.rank]);
        qr.solve_triangle(&mut multipliers);
        multipliers.resize(lambda.len(), 0.0);
        self.remove_null(qr, |k| scale(qr.perm[k]), &mut multipliers, small_limit);
        (0..lambda.len()).for_each(|k| lambda[qr.perm[k]] = scale(qr.perm[k]) * multipliers[k]);
        self.multipliers = multipliers;
    }

    /// λ̂ ← λ̂ − K c with |D_r λ̂| least; everything in the order of the pivots.
    fn remove_null(&mut self, qr: &Qr, scale: impl Fn(usize) -> f64, multipliers: &mut [f64], small_limit: usize) {
        /// Units within this factor count as the same.
        const ALIKE: f64 = 16.0;
        let (m, r) = (multipliers.len(), qr.rank);
        if r == m {
            return;
        }
        let empty = |k: usize| (0..r.min(k + 1)).all(|i| qr.t(i, k) == 0.0);
        let (low, high) = (0..m)
            .filter(|&k| !empty(k))
            .fold((f64::INFINITY, 0f64), |(low, high), k| (low.min(scale(k)), high.max(scale(k))));
        if high <= ALIKE * low {
            self.remove_null_of(qr, scale, multipliers, small_limit);
            return;
        }
        // T once more, with rows in large units first
        let mut by_unit = std::mem::replace(&mut self.by_unit, Qr::new());
        by_unit.resize(r, m);
        for k in 0..m {
            let column = by_unit.column_mut(k);
            (0..r).for_each(|i| column[i] = if i <= k { qr.t(i, k) } else { 0.0 });
        }
        self.size.clear();
        self.size.extend((0..m).map(|k| 1.0 / scale(k)));
        by_unit.factor_by_weight(r, &self.size);
        let mut sorted: Vec<f64> = by_unit.perm.iter().map(|&k| multipliers[k]).collect();
        self.remove_null_of(&by_unit, |k| scale(by_unit.perm[k]), &mut sorted, small_limit);
        by_unit.perm.iter().zip(sorted).for_each(|(&k, x)| multipliers[k] = x);
        self.by_unit = by_unit;
    }

    /// The same, with the null space from the triangle as it is.
    fn remove_null_of(&mut self, qr: &Qr, scale: impl Fn(usize) -> f64, multipliers: &mut [f64], small_limit: usize) {
        let (m, r) = (multipliers.len(), qr.rank);
        let free = m - r;
        let Shortest { second, K, order, size, x, .. } = self;
        K.resize(m * free, 0.0);
        for l in 0..free {
            let column = &mut K[l * m..(l + 1) * m];
            (0..r).for_each(|k| column[k] = -qr.t(k, r + l));
            qr.solve_triangle(&mut column[..r]);
            column[r..].fill(0.0);
            column[r + l] = 1.0;
        }
        // D_r K, the largest rows first; the pivots will take the largest columns first, and sizes do not mix
        size.clear();
        size.extend((0..m).map(|k| scale(k) * (0..free).fold(0.0, |top: f64, l| top.max(K[l * m + k].abs()))));
        order.clear();
        order.extend(0..m);
        order.sort_unstable_by(|&i, &j| size[j].total_cmp(&size[i]));
        second.resize(m, free);
        for l in 0..free {
            let column = &mut second.columns[l * m..(l + 1) * m];
            column.iter_mut().zip(order.iter()).for_each(|(x, &k)| *x = scale(k) * K[l * m + k]);
        }
        second.factor(Stop::Rank(free), small_limit);
        for _ in 0..REFINEMENTS {
            // c = (D_r K)⁺ D_r λ̂
            x.clear();
            x.extend(order.iter().map(|&k| scale(k) * multipliers[k]));
            second.apply_transposed(x);
            second.solve_triangle(x);
            for l in 0..second.rank {
                add_multiple(multipliers, -x[l], &K[second.perm[l] * m..(second.perm[l] + 1) * m]);
            }
        }
    }

    /// λ as written from the scaled λ̂ of a route, with the rank the route has found.
    pub(crate) fn shorten(
        &mut self,
        problem: &Problem,
        lambda_scaled: &[f64],
        rank: usize,
        lambda: &mut Vec<f64>,
        small_limit: usize,
    ) -> Result<(), MotionError> {
        let (n, m) = (problem.n, problem.m);
        lambda.resize(m, 0.0);
        if rank == m {
            (0..m).for_each(|i| lambda[i] = problem.row_scale[i] * lambda_scaled[i]);
            return check_multipliers(lambda);
        }
        let mut rows = std::mem::replace(&mut self.rows, Qr::new());
        rows.resize(n, m);
        let mut length = vec![1.0; m];
        for i in 0..m {
            // lengths exactly one, so that the pivots compare directions
            let row = problem.row(i);
            length[i] = norm(row);
            let s = if length[i] > 0.0 { 1.0 / length[i] } else { 1.0 };
            rows.column_mut(i).iter_mut().zip(row).for_each(|(y, x)| *y = x * s);
        }
        rows.factor(Stop::Rank(rank), small_limit);
        // λ̂ for rows of length one, in the order of the pivots
        let mut multipliers: Vec<f64> = rows.perm.iter().map(|&i| lambda_scaled[i] * length[i]).collect();
        let scale = |i: usize| problem.row_scale[i] / if length[i] > 0.0 { length[i] } else { 1.0 };
        self.remove_null(&rows, |k| scale(rows.perm[k]), &mut multipliers, small_limit);
        (0..m).for_each(|k| lambda[rows.perm[k]] = scale(rows.perm[k]) * multipliers[k]);
        self.rows = rows;
        check_multipliers(lambda)
    }
}

/// λ may overflow where a row is all but empty.
pub(crate) fn check_multipliers(lambda: &[f64]) -> Result<(), MotionError> {
    match lambda.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(MotionError::NotFinite { what: format!("the multiplier of constraint row {i}") }),
        None => Ok(()),
    }
}
