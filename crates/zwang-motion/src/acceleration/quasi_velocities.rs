//! The Gibbs-Appell equations in quasi-velocities.

use super::{Route, RouteSolution, problem::Problem, shortest::Shortest};
use crate::{
    Gap, Given, Legendre, MotionError, Settings,
    factor::{add_multiple, dot, norm, small},
};

/// The Gibbs-Appell equations, with as many unknowns as there are degrees of freedom.
pub(crate) struct QuasiVelocities {
    settings: Settings,
    problem: Problem,
    shortest: Shortest,
}

impl QuasiVelocities {
    pub(crate) fn new(settings: &Settings) -> QuasiVelocities {
        QuasiVelocities { settings: settings.clone(), problem: Problem::new(), shortest: Shortest::new() }
    }
}

/// Rows of A made orthonormal by Gram and Schmidt, the longest remainder first: A[order[i]] = Σₖ T[i, k] basis[k].
struct Rows {
    basis: Vec<Vec<f64>>,
    order: Vec<usize>,
    T: Vec<Vec<f64>>,
    gap: Gap,
}

fn orthonormal_rows(problem: &Problem, tolerance: f64) -> Rows {
    let m = problem.m;
    let lengths: Vec<f64> = (0..m).map(|i| norm(problem.row(i))).collect();
    let mut rest: Vec<Vec<f64>> = (0..m).map(|i| problem.row(i).to_vec()).collect();
    for (row, length) in rest.iter_mut().zip(&lengths) {
        row.iter_mut().for_each(|x| *x /= if *length > 0.0 { *length } else { 1.0 });
    }
    let mut found = Rows { basis: Vec::new(), order: Vec::new(), T: Vec::new(), gap: Gap::default() };
    let mut open: Vec<usize> = (0..m).collect();
    while let Some(at) = (0..open.len()).max_by(|&i, &j| norm(&rest[open[i]]).total_cmp(&norm(&rest[open[j]]))) {
        let i = open[at];
        let length = norm(&rest[i]);
        if !(length > tolerance) {
            found.gap.dropped = length;
            break;
        }
        found.gap.kept = length;
        open.swap_remove(at);
        // orthogonalised once more against all earlier ones, because the remainder of a long row is inexact
        let mut q = rest[i].clone();
        remove(&found.basis, &mut q);
        let length = norm(&q);
        q.iter_mut().for_each(|x| *x /= length);
        for &j in &open {
            let s = dot(&rest[j], &q);
            add_multiple(&mut rest[j], -s, &q);
        }
        found.basis.push(q);
        found.order.push(i);
        found.T.push(found.basis.iter().map(|q| dot(problem.row(i), q)).collect());
    }
    found
}

/// x ← x minus its part along the orthonormal basis, twice.
fn remove(basis: &[Vec<f64>], x: &mut [f64]) {
    for _ in 0..2 {
        for q in basis {
            let s = dot(x, q);
            add_multiple(x, -s, q);
        }
    }
}

/// An orthonormal basis of the null space of the rows, started from the unit vectors that lie least in the span of the
/// rows.
fn free_directions(n: usize, basis: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut all = basis.to_vec();
    let mut free: Vec<f64> = (0..n).map(|j| 1.0 - basis.iter().map(|q| q[j] * q[j]).sum::<f64>()).collect();
    let mut W = Vec::new();
    for _ in basis.len()..n {
        let Some(j) = (0..n).max_by(|&i, &j| free[i].total_cmp(&free[j])) else { break };
        let mut w = vec![0.0; n];
        w[j] = 1.0;
        remove(&all, &mut w);
        let length = norm(&w);
        w.iter_mut().for_each(|x| *x /= length);
        free.iter_mut().zip(&w).for_each(|(f, w)| *f -= w * w);
        all.push(w.clone());
        W.push(w);
    }
    W
}

impl Route for QuasiVelocities {
    /// The Gibbs-Appell equations: q̈ = W u̇ + q̈ₚ with the columns of W spanning the directions that the constraints
    /// leave free.
    ///
    /// $$ (W^T M W)\, \dot u = W^T (Q - M \ddot q_p), \qquad A W = 0, \quad A \ddot q_p = b $$
    ///
    /// The method of Gram and Schmidt makes W and the rows of A orthonormal together. The multipliers then follow from
    /// Aᵀλ = M q̈ − Q.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        self.problem.fill(given, extra_force, &self.settings)?;
        let Problem { n, m, M, Q, b, .. } = &self.problem;
        let (n, m) = (*n, *m);
        let rows = orthonormal_rows(&self.problem, self.settings.rank_tolerance);
        let rank = rows.basis.len();

        // the particular acceleration that lies in the span of the rows
        let mut x = vec![0.0; n];
        let mut y = vec![0.0; rank];
        for i in 0..rank {
            y[i] = (b[rows.order[i]] - dot(&rows.T[i][..i], &y[..i])) / rows.T[i][i];
            add_multiple(&mut x, y[i], &rows.basis[i]);
        }

        // (WᵀMW) u̇ = Wᵀ(Q − M q̈ₚ)
        let W = free_directions(n, &rows.basis);
        let freedoms = W.len();
        let force: Vec<f64> = (0..n).map(|i| Q[i] - dot(&M[i * n..(i + 1) * n], &x)).collect();
        let mut u: Vec<f64> = W.iter().map(|w| dot(w, &force)).collect();
        let mut reduced = vec![0.0; freedoms * freedoms];
        for (k, w) in W.iter().enumerate() {
            let Mw: Vec<f64> = (0..n).map(|i| dot(&M[i * n..(i + 1) * n], w)).collect();
            (0..freedoms).for_each(|l| reduced[k * freedoms + l] = dot(&W[l], &Mw));
        }
        if !small::cholesky(&mut reduced, freedoms, 0.0) {
            return Err(MotionError::NotConverged { residual: norm(&force) });
        }
        small::solve_lower(&reduced, freedoms, &mut u);
        small::solve_lower_transposed(&reduced, freedoms, &mut u);

        // q̈ = W u̇ + q̈ₚ
        W.iter().zip(&u).for_each(|(w, u)| add_multiple(&mut x, *u, w));
        self.problem.finish(given, &x, &self.settings, solution)?;

        // Tᵀλ = basis · (M q̈ − Q) on the rows taken
        let g = self.problem.constraint_force(&x);
        let mut lambda = vec![0.0; m];
        for i in (0..rank).rev() {
            let later: f64 = (i + 1..rank).map(|k| rows.T[k][i] * lambda[rows.order[k]]).sum();
            lambda[rows.order[i]] = (dot(&rows.basis[i], &g) - later) / rows.T[i][i];
        }
        self.shortest.shorten(&self.problem, &lambda, rank, &mut solution.lambda, self.settings.small_limit)?;
        (solution.rank, solution.gap) = (rank, rows.gap);
        Ok(())
    }
}
