//! The vector field of the Lagrangian two-form, Y05 4.1 with 6.1.

use super::{Route, RouteSolution, problem::Problem, shortest::Shortest};
use crate::{
    Given, Legendre, MotionError, Settings, State,
    factor::{
        dense::{Stop, Svd, faer_svd},
        dot, norm,
    },
};
use faer::{Mat, prelude::*};

/// Y05 4.1 with 6.1: the skew matrix of Ω_L, solved on the constraint distribution.
pub(crate) struct TwoForm {
    settings: Settings,
    problem: Problem,
    shortest: Shortest,
    qdot: Option<Vec<f64>>,
}

impl TwoForm {
    pub(crate) fn new(settings: &Settings) -> TwoForm {
        TwoForm { settings: settings.clone(), problem: Problem::new(), shortest: Shortest::new(), qdot: None }
    }

    /// The scaled Legendre data: ∂p/∂q, ∂E/∂q − F + ∂p/∂t and ∂E/∂q̇, with the terms that were added to a singular M.
    fn scaled(&self, given: &Given, legendre: &Legendre, extra_force: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let Problem { n, col_scale: D, .. } = &self.problem;
        let n = *n;
        let mut p_q = legendre.momentum_by_q.to_dense();
        (0..n * n).for_each(|k| p_q[k] *= D[k / n] * D[k % n]);
        let mut by_q: Vec<f64> = (0..n)
            .map(|i| {
                let F = legendre.force[i] + extra_force.get(i).copied().unwrap_or(0.0);
                D[i] * (legendre.energy_by_q[i] - F + legendre.momentum_by_t[i])
            })
            .collect();
        let mut by_qdot: Vec<f64> = (0..n).map(|i| D[i] * legendre.energy_by_qdot[i]).collect();
        if self.problem.singular {
            // M + AᵀA with the force Aᵀb: the energy gains ½|A q̇|²
            for (i, s) in self.problem.row_scale.iter().enumerate() {
                let row = self.problem.row(i);
                let Aqdot = self.qdot.as_ref().map_or(0.0, |v| s * given.constraint_matrix.row_times(i, v));
                for j in 0..n {
                    by_q[j] -= row[j] * self.problem.b[i];
                    by_qdot[j] += row[j] * Aqdot;
                }
            }
        }
        (p_q, by_q, by_qdot)
    }

    /// The 2n equations for X = (X_q, X_q̇): the form on the distribution, the form on q̇, the constraints.
    fn assemble(&self, rows: &Svd, p_q: &[f64], by_q: &[f64], by_qdot: &[f64]) -> (Mat<f64>, Mat<f64>) {
        let Problem { n, m, M, b, .. } = &self.problem;
        let (n, m, r) = (*n, *m, rows.rank);
        // Ω = [∂pᵀ − ∂p, −M; M, 0]
        let omega = |i: usize, j: usize| match (i < n, j < n) {
            (true, true) => p_q[j * n + i] - p_q[i * n + j],
            (true, false) => -M[i * n + j - n],
            (false, true) => M[(i - n) * n + j],
            (false, false) => 0.0,
        };
        // virtual displacements: directions with A δq = 0, the complement of the row space of A
        let seen = |k: usize| &rows.V[k * n..(k + 1) * n];
        let free = orthogonal_complement(n, (0..r).map(seen));
        let mut matrix = Mat::zeros(2 * n, 2 * n);
        let mut rhs = Mat::zeros(2 * n, 1);
        for (k, w) in free.iter().enumerate() {
            for j in 0..2 * n {
                matrix[(k, j)] = (0..n).map(|i| w[i] * omega(i, j)).sum();
            }
            rhs[(k, 0)] = dot(w, by_q);
        }
        for k in 0..r {
            let at = n - r + k;
            (0..n).for_each(|j| matrix[(at, n + j)] = seen(k)[j]);
            rhs[(at, 0)] = dot(&rows.U[k * m..(k + 1) * m], b) / rows.sigma[k];
        }
        for i in n..2 * n {
            (0..n).for_each(|j| matrix[(i, j)] = omega(i, j));
            rhs[(i, 0)] = by_qdot[i - n];
        }
        (matrix, rhs)
    }
}

/// An orthonormal basis of the complement of the given orthonormal vectors, from the columns of the projector.
fn orthogonal_complement<'v>(n: usize, vectors: impl Iterator<Item = &'v [f64]>) -> Vec<Vec<f64>> {
    let mut projector = vec![0.0; n * n];
    (0..n).for_each(|i| projector[i * (n + 1)] = 1.0);
    let mut r = 0;
    for v in vectors {
        (0..n * n).for_each(|k| projector[k] -= v[k / n] * v[k % n]);
        r += 1;
    }
    let found = faer_svd(&projector, n, n, Stop::Rank(n - r));
    (0..n - r).map(|k| found.U[k * n..(k + 1) * n].to_vec()).collect()
}

impl Route for TwoForm {
    fn at(&mut self, state: &State) {
        self.qdot = Some(state.qdot.clone());
    }

    /// The vector field X = (q̇, q̈) of the two-form, Y05 4.1 with 6.1.
    ///
    /// $$ i_X \Omega_L = dE - (F - \partial p/\partial t + A^T\lambda) \cdot dq, \qquad A \ddot q = b $$
    ///
    /// Ω_L = dqⁱ ∧ dpᵢ has the skew matrix [∂pᵀ − ∂p, −M; M, 0]. Tested with virtual displacements, A δq = 0, the
    /// equation loses λ; the n rows on q̇ make X second order, which is checked if the state is known (`at`). A
    /// singular M has only a presymplectic form. It is replaced as for the other routes, and then the state must be
    /// known unless A q̇ = 0.
    fn solve(
        &mut self,
        given: &Given,
        legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        let legendre = legendre.ok_or(MotionError::NoLegendre)?;
        check_finite(legendre)?;
        self.problem.fill(given, extra_force, &self.settings)?;
        let Problem { n, m, A, col_scale: D, .. } = &self.problem;
        let (n, m) = (*n, *m);
        let rows = faer_svd(A, m, n, Stop::Tolerance(self.settings.rank_tolerance));
        let (p_q, by_q, by_qdot) = self.scaled(given, legendre, extra_force);
        let (matrix, rhs) = self.assemble(&rows, &p_q, &by_q, &by_qdot);
        let X = if n > 0 { matrix.partial_piv_lu().solve(&rhs) } else { rhs };
        let (X_q, x): (Vec<f64>, Vec<f64>) =
            ((0..n).map(|i| X[(i, 0)]).collect(), (0..n).map(|i| X[(n + i, 0)]).collect());

        // second order: the q-part of X is the velocity
        let Settings { second_order_tolerance: tolerance, contradiction_floor: floor, .. } = self.settings;
        if let Some(qdot) = self.qdot.take().filter(|qdot| qdot.len() == n) {
            let residual: Vec<f64> = (0..n).map(|i| X_q[i] - qdot[i] / D[i]).collect();
            if !(norm(&residual) <= tolerance * norm(&X_q) + floor) {
                return Err(MotionError::NotConverged { residual: norm(&residual) });
            }
        }
        // without constraints the form gives M q̈ = Q; otherwise these are not the Legendre data of M and Q
        let gyroscopic = |i: usize| (0..n).map(|j| (p_q[j * n + i] - p_q[i * n + j]) * X_q[j]).sum::<f64>();
        let Q: Vec<f64> = (0..n).map(|i| gyroscopic(i) - by_q[i]).collect();
        let residual: Vec<f64> = Q.iter().zip(&self.problem.Q).map(|(x, y)| x - y).collect();
        if !(norm(&residual) <= tolerance * (norm(&by_q) + norm(&self.problem.Q)) + floor) {
            return Err(MotionError::NotConverged { residual: norm(&residual) });
        }
        self.problem.finish(given, &x, &self.settings, solution)?;

        // Aᵀλ is the remainder of the equation on dq: λ = U Σ⁻¹ Vᵀ (M q̈ − Q)
        let g: Vec<f64> = (0..n).map(|i| dot(&self.problem.M[i * n..(i + 1) * n], &x) - Q[i]).collect();
        let mut lambda = vec![0.0; m];
        for k in 0..rows.rank {
            let s = dot(&rows.V[k * n..(k + 1) * n], &g) / rows.sigma[k];
            (0..m).for_each(|i| lambda[i] += s * rows.U[k * m + i]);
        }
        self.shortest.shorten(&self.problem, &lambda, rows.rank, &mut solution.lambda, self.settings.small_limit)?;
        (solution.rank, solution.gap) = (rows.rank, rows.gap);
        Ok(())
    }
}

fn check_finite(legendre: &Legendre) -> Result<(), MotionError> {
    let parts = [
        ("∂p/∂q", &legendre.momentum_by_q.value),
        ("∂p/∂t", &legendre.momentum_by_t),
        ("∂E/∂q", &legendre.energy_by_q),
        ("∂E/∂q̇", &legendre.energy_by_qdot),
        ("the applied force", &legendre.force),
    ];
    match parts.iter().find(|(_, x)| x.iter().any(|x| !x.is_finite())) {
        Some((name, _)) => Err(MotionError::NotFinite { what: (*name).into() }),
        None => Ok(()),
    }
}
