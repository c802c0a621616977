//! How the acceleration changes with the state.

use super::Flow;
use crate::{Dynamics, Jacobian, MotionError};

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// ∂q̈/∂q and ∂q̈/∂q̇ here, n x n, row after row; q̈ and λ have been found.
    ///
    /// Each column solves M δq̈ − Aᵀδλ = δ(Q + C + Aᵀλ − M q̈), A δq̈ = δ(b − A q̈), with the decomposition at hand. How C
    /// changes through λ is left out.
    pub(crate) fn derivatives(
        &mut self,
        jacobian: Option<&mut Jacobian>,
        by_q: &mut [f64],
        by_qdot: &mut [f64],
    ) -> Result<(), MotionError> {
        let n = self.n;
        if self.control.is_some() {
            return self.differences(by_q, by_qdot);
        }
        let Some(jacobian) = jacobian else { return Err(MotionError::NoJacobian) };
        match self.dynamics.fill_jacobian(&self.instant, jacobian) {
            // |v| v at rest has a derivative, though its formula divides zero by zero
            Err(MotionError::NotFinite { .. }) => return self.differences(by_q, by_qdot),
            filled => filled?,
        }
        let Jacobian { force_by_q, force_by_qdot, rows_by_q, rows_by_qdot } = jacobian;
        let A = &self.given.constraint_matrix;
        let m = A.n_rows;
        // room for the derivatives by columns, and for one right-hand side
        let Flow { all, columns, rhs, delta, .. } = self;
        columns.resize((n + m) * n + n, 0.0);
        for (force, rows, out) in [(force_by_q, rows_by_q, by_q), (force_by_qdot, rows_by_qdot, by_qdot)] {
            let (f, rest) = columns.split_at_mut(n);
            let (forces, rates) = rest.split_at_mut(n * n);
            force.write_dense(forces);
            rows.write_dense(&mut rates[..m * n]);
            for j in 0..n {
                (0..n).for_each(|i| f[i] = forces[i * n + j]);
                (0..m).for_each(|i| rhs[i] = rates[i * n + j]);
                all.solve(A, f, &[], rhs, delta)?;
                (0..n).for_each(|i| out[i * n + j] = delta[i]);
            }
        }
        Ok(())
    }

    /// The same by differences, for a system with controls, or where formulas of derivatives have no value: what solves with it only
    /// needs to converge.
    fn differences(&mut self, by_q: &mut [f64], by_qdot: &mut [f64]) -> Result<(), MotionError> {
        /// √ε: what is lost by rounding is then as much as by the bend.
        const PART: f64 = 1.5e-8;
        let n = self.n;
        let (base, here) = (self.instant.qddot.clone(), self.instant.state.clone());
        for (on_positions, out) in [(true, by_q), (false, by_qdot)] {
            for j in 0..n {
                let sizes = if on_positions { &self.q_size } else { &self.v_size };
                let state = &mut self.instant.state;
                let x = if on_positions { &mut state.q[j] } else { &mut state.qdot[j] };
                let before = *x;
                *x += PART * sizes[j].max(before.abs());
                let step = *x - before;
                self.evaluate()?;
                (0..n).for_each(|i| out[i * n + j] = (self.instant.qddot[i] - base[i]) / step);
                self.instant.state.clone_from(&here);
            }
        }
        self.evaluate()
    }
}
