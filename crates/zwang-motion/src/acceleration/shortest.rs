//! The shortest multipliers for the rows as written.

use super::problem::Problem;
use crate::factor::{
    dense::{Qr, Stop},
    largest, norm,
};

/// Finds the shortest λ among those with the same Aᵀλ.
///
/// With the scaled rows decomposed, (D_r A)ᵀ Π = Q T, all λ with T Πᵀ D_r⁻¹ λ = z give the same force. The shortest is in
/// the range of D_r⁻¹ Π Tᵀ, found by a second decomposition whose rows are sorted by size, so that rows of
/// different units do not spoil each other.
pub(crate) struct Shortest {
    rows: Qr,
    second: Qr,
    order: Vec<usize>,
    length: Vec<f64>,
    z: Vec<f64>,
}

impl Shortest {
    pub(crate) fn new() -> Shortest {
        Shortest { rows: Qr::new(), second: Qr::new(), order: Vec::new(), length: Vec::new(), z: Vec::new() }
    }

    /// λ with T Πᵀ λ̂ = z, λ = D_r λ̂, shortest; `qr` holds T and Π, `scale(i)` is D_r of row i.
    pub(crate) fn from_triangle(
        &mut self,
        qr: &Qr,
        scale: impl Fn(usize) -> f64,
        z: &[f64],
        lambda: &mut [f64],
        small_limit: usize,
    ) {
        let (m, r) = (lambda.len(), qr.rank);
        lambda.fill(0.0);
        if r == m {
            let x = &mut self.z;
            x.clear();
            x.extend_from_slice(&z[..r]);
            qr.solve_triangle(x);
            (0..r).for_each(|k| lambda[qr.perm[k]] = scale(qr.perm[k]) * x[k]);
            return;
        }
        if r == 0 {
            return;
        }
        // rows of D_r⁻¹ Π Tᵀ, the largest first
        let Shortest { second, order, length, .. } = self;
        length.resize(m, 0.0);
        for j in 0..m {
            let column = &qr.columns[j * qr.n_rows..j * qr.n_rows + r.min(j + 1)];
            length[j] = largest(column) / scale(qr.perm[j]);
        }
        order.clear();
        order.extend(0..m);
        order.sort_unstable_by(|&i, &j| length[j].total_cmp(&length[i]));
        second.resize(m, r);
        for (i, &j) in order.iter().enumerate() {
            for k in 0..r {
                second.columns[k * m + i] = if k <= j { qr.t(k, j) / scale(qr.perm[j]) } else { 0.0 };
            }
        }
        second.factor(Stop::Rank(r), small_limit);
        // W = second, Wᵀλ = z with W Π' = Z S: λ = Z S⁻ᵀ Π'ᵀ z
        let x = &mut self.z;
        x.clear();
        x.resize(m, 0.0);
        (0..r).for_each(|k| x[k] = z[second.perm[k]]);
        second.solve_triangle_transposed(x);
        second.apply(x);
        for (i, &j) in order.iter().enumerate() {
            lambda[qr.perm[j]] = x[i];
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
    ) {
        let (n, m) = (problem.n, problem.m);
        lambda.resize(m, 0.0);
        if rank == m {
            (0..m).for_each(|i| lambda[i] = problem.row_scale[i] * lambda_scaled[i]);
            return;
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
        // z = T Πᵀ λ̂
        let mut z = vec![0.0; rows.rank];
        for j in 0..m {
            let p = rows.perm[j];
            for k in 0..rows.rank.min(j + 1) {
                z[k] += rows.t(k, j) * lambda_scaled[p] * length[p];
            }
        }
        let scale = |i: usize| problem.row_scale[i] / if length[i] > 0.0 { length[i] } else { 1.0 };
        self.from_triangle(&rows, scale, &z, lambda, small_limit);
        self.rows = rows;
    }
}
