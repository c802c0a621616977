//! Derivatives of the acceleration with respect to the state.

use super::{RowScratch, Smooth};
use crate::{Dynamics, Jacobian, MotionError};

impl<D: Dynamics + ?Sized> Smooth<'_, D> {
    /// ∂q̈/∂q and ∂q̈/∂q̇ at the state, n x n, row after row; q̈ and λ have been found.
    ///
    /// Each column solves M δq̈ − Aᵀδλ = δ(Q + C + Aᵀλ − M q̈), A δq̈ = δ(b − A q̈), with the decomposition at hand. The
    /// change of C through λ is left out: an iteration needs no exact derivative. Returns `false` if the formulas have no value,
    /// or a control acts: then differences are needed.
    pub(crate) fn derivatives(
        &mut self,
        jacobian: Option<&mut Jacobian>,
        by_q: &mut [f64],
        by_qdot: &mut [f64],
    ) -> Result<bool, MotionError> {
        let n = self.n;
        if self.control.is_some() {
            return Ok(false);
        }
        let Some(jacobian) = jacobian else { return Err(MotionError::NoJacobian) };
        let Some(formulas) = self.dynamics.jacobian() else { return Err(MotionError::NoJacobian) };
        match formulas.fill_jacobian(&self.instant, jacobian) {
            // |v| v at rest has a derivative, though its formula divides zero by zero
            Err(MotionError::NotFinite { .. }) => return Ok(false),
            filled => filled?,
        }
        let Jacobian { force_by_q, force_by_qdot, rows_by_q, rows_by_qdot, .. } = &*jacobian;
        let by_state = [
            (force_by_q, &jacobian.nonideal_by_q, rows_by_q, by_q),
            (force_by_qdot, &jacobian.nonideal_by_qdot, rows_by_qdot, by_qdot),
        ];
        let A = &self.given.constraint_matrix;
        let m = A.n_rows;
        // scratch for the derivatives by columns, and for one right-hand side
        let Smooth { all, scratch: RowScratch { columns, rhs, delta, .. }, .. } = self;
        columns.resize((n + m) * n + n, 0.0);
        for (force, nonideal, rows, out) in by_state {
            let (f, rest) = columns.split_at_mut(n);
            let (forces, rates) = rest.split_at_mut(n * n);
            force.write_dense(forces);
            nonideal.add_dense(forces);
            rows.write_dense(&mut rates[..m * n]);
            for j in 0..n {
                (0..n).for_each(|i| f[i] = forces[i * n + j]);
                (0..m).for_each(|i| rhs[i] = rates[i * n + j]);
                all.solve(A, f, &[], rhs, delta)?;
                (0..n).for_each(|i| out[i * n + j] = delta[i]);
            }
        }
        Ok(true)
    }
}
