//! The shortest multipliers for the rows as written.

use super::problem::Problem;
use crate::{
    MotionError,
    factor::{
        add_multiple,
        dense::{Qr, Stop},
        dot, norm, small,
    },
    limits, tolerance,
};

/// Finds the shortest λ among those with the same Aᵀλ.
///
/// With the scaled rows decomposed, (D_r A)ᵀ Π = Q [T₁ T₂], Y = T₁⁻¹T₂ expresses the rows without pivots by those with
/// pivots. So λ = D_r (λ̂ − Y c, c) gives the same force for any c, and the minimum of |λ| is a least-squares problem
/// for D_r c, well conditioned because of the identity in it.
///
/// Rows may be in very different units. Those in large units have small multipliers for the same force and decide
/// which λ is shortest, so they become pivots first. An error of c does not change the force.
pub(crate) struct Shortest {
    rows: Qr,
    by_unit: Qr,
    /// Y by columns, then its scaled form G = D_b Y D_f⁻¹.
    Y: Vec<f64>,
    G: Vec<f64>,
    /// I + GᵀG and its factor.
    normal: Vec<f64>,
    weight: Vec<f64>,
    x: Vec<f64>,
    multipliers: Vec<f64>,
    sorted: Vec<f64>,
    /// Rows without pivots that are not empty; empty rows exert no force.
    open: Vec<usize>,
}

impl Shortest {
    pub(crate) fn new() -> Shortest {
        Shortest {
            rows: Qr::new(),
            by_unit: Qr::new(),
            Y: Vec::new(),
            G: Vec::new(),
            normal: Vec::new(),
            weight: Vec::new(),
            x: Vec::new(),
            multipliers: Vec::new(),
            sorted: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The shortest λ = D_r λ̂ with T Πᵀ λ̂ = z; `qr` holds T and Π, `scale(i)` is D_r of row i.
    pub(crate) fn on_triangle(&mut self, qr: &Qr, scale: impl Fn(usize) -> f64, z: &[f64], lambda: &mut [f64]) {
        // λ̂ on the rows with pivots, zero on the others
        let mut multipliers = std::mem::take(&mut self.multipliers);
        multipliers.clear();
        multipliers.extend_from_slice(&z[..qr.rank]);
        qr.solve_triangle(&mut multipliers);
        multipliers.resize(lambda.len(), 0.0);
        self.remove_null(qr, |k| scale(qr.perm[k]), &mut multipliers);
        (0..lambda.len()).for_each(|k| lambda[qr.perm[k]] = scale(qr.perm[k]) * multipliers[k]);
        self.multipliers = multipliers;
    }

    /// λ̂ ← λ̂ − (Y c, −c) such that |D_r λ̂| is least; all vectors are in the order of the pivots.
    fn remove_null(&mut self, qr: &Qr, scale: impl Fn(usize) -> f64, multipliers: &mut [f64]) {
        /// Units within this factor count as the same.
        const ALIKE_UNITS: f64 = 16.0;
        let (m, r) = (multipliers.len(), qr.rank);
        if r == m {
            return;
        }
        let empty = |k: usize| (0..r.min(k + 1)).all(|i| qr.t(i, k) == 0.0);
        let (low, high) = (0..m)
            .filter(|&k| !empty(k))
            .fold((f64::INFINITY, 0f64), |(low, high), k| (low.min(scale(k)), high.max(scale(k))));
        if high <= ALIKE_UNITS * low {
            self.remove_null_of(qr, scale, multipliers);
            return;
        }
        // T is factored again with the rows in large units first
        let mut by_unit = std::mem::replace(&mut self.by_unit, Qr::new());
        let mut sorted = std::mem::take(&mut self.sorted);
        by_unit.resize(r, m);
        for k in 0..m {
            let column = by_unit.column_mut(k);
            (0..r).for_each(|i| column[i] = if i <= k { qr.t(i, k) } else { 0.0 });
        }
        self.weight.clear();
        self.weight.extend((0..m).map(|k| 1.0 / scale(k)));
        by_unit.factor_by_weight(r, &self.weight);
        sorted.clear();
        sorted.extend(by_unit.perm.iter().map(|&k| multipliers[k]));
        self.remove_null_of(&by_unit, |k| scale(by_unit.perm[k]), &mut sorted);
        by_unit.perm.iter().zip(&sorted).for_each(|(&k, &x)| multipliers[k] = x);
        (self.by_unit, self.sorted) = (by_unit, sorted);
    }

    /// Removes the null-space part of λ̂ with the triangle in its present order.
    fn remove_null_of(&mut self, qr: &Qr, scale: impl Fn(usize) -> f64, multipliers: &mut [f64]) {
        let (m, r) = (multipliers.len(), qr.rank);
        let Shortest { Y, G, normal, x, open, .. } = self;
        let (basic, other) = multipliers.split_at_mut(r);
        // inactive rows are empty, and there may be many of them
        open.clear();
        open.extend((r..m).filter(|&k| (0..r).any(|i| qr.t(i, k) != 0.0)));
        (r..m).filter(|k| !open.contains(k)).for_each(|k| other[k - r] = 0.0);
        let free = open.len();
        if free == 0 {
            return;
        }
        Y.resize(r * free, 0.0);
        G.resize(r * free, 0.0);
        for (l, &row) in open.iter().enumerate() {
            let column = &mut Y[l * r..(l + 1) * r];
            (0..r).for_each(|k| column[k] = qr.t(k, row));
            // a row that depends on the first pivots alone must not depend on later ones, which may be in far smaller
            // units
            let mut tail = 0.0;
            let given = (0..r).rev().take_while(|&k| {
                tail = f64::hypot(tail, column[k]);
                tail <= tolerance::DEPENDENT_REMAINDER
            });
            let first = r - given.count();
            column[first..].fill(0.0);
            qr.solve_triangle(column);
            (0..r).for_each(|k| G[l * r + k] = scale(k) * column[k] / scale(row));
            // at first the rows with pivots carry all of the force
            add_multiple(basic, other[row - r], column);
            other[row - r] = 0.0;
        }
        normal.resize(free * free, 0.0);
        for k in 0..free {
            for l in 0..=k {
                normal[k * free + l] = dot(&G[k * r..(k + 1) * r], &G[l * r..(l + 1) * r]);
            }
            normal[k * (free + 1)] += 1.0;
        }
        // I + GᵀG has no eigenvalue below one; the factor fails only if G overflows, and λ̂ then stays unchanged
        if !small::cholesky(normal, free, 0.0) {
            return;
        }
        for _ in 0..limits::REFINEMENTS {
            // (I + GᵀG) D_f δ = GᵀD_b λ̂_b − D_f λ̂_f
            x.clear();
            x.extend((0..r).map(|k| scale(k) * basic[k]));
            for (l, &row) in open.iter().enumerate() {
                let step = dot(&G[l * r..(l + 1) * r], &x[..r]) - scale(row) * other[row - r];
                x.push(step);
            }
            let step = &mut x[r..];
            small::solve_lower(normal, free, step);
            small::solve_lower_transposed(normal, free, step);
            for (l, &row) in open.iter().enumerate() {
                let change = step[l] / scale(row);
                add_multiple(basic, -change, &Y[l * r..(l + 1) * r]);
                other[row - r] += change;
            }
        }
    }

    /// λ for the rows as written from the scaled λ̂ of a route, with the rank that the route decided.
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
            // lengths are exactly one, so that the pivots compare directions
            let row = problem.row(i);
            length[i] = norm(row);
            let s = if length[i] > 0.0 { 1.0 / length[i] } else { 1.0 };
            rows.column_mut(i).iter_mut().zip(row).for_each(|(y, x)| *y = x * s);
        }
        rows.factor(Stop::Rank(rank), small_limit);
        // λ̂ for rows of length one, in the order of the pivots
        let mut multipliers: Vec<f64> = rows.perm.iter().map(|&i| lambda_scaled[i] * length[i]).collect();
        let scale = |i: usize| problem.row_scale[i] / if length[i] > 0.0 { length[i] } else { 1.0 };
        self.remove_null(&rows, |k| scale(rows.perm[k]), &mut multipliers);
        (0..m).for_each(|k| lambda[rows.perm[k]] = scale(rows.perm[k]) * multipliers[k]);
        self.rows = rows;
        check_multipliers(lambda)
    }
}

/// Fails if λ is not finite: it may overflow if the entries of a row are close to the smallest number.
pub(crate) fn check_multipliers(lambda: &[f64]) -> Result<(), MotionError> {
    match lambda.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(MotionError::NotFinite { what: format!("the multiplier of constraint row {i}") }),
        None => Ok(()),
    }
}
