//! The change of the ideal part's multipliers with the state.
//!
//! A nonideal law C(q, q̇, λ, t) takes λ from the motion with C = 0, UK02 (6) and (32):
//!
//! $$ M\ddot q_i - A^T\lambda = Q, \qquad A\ddot q_i = b, \qquad
//!    M\,\delta\ddot q_i - A^T\delta\lambda = \delta(Q + A^T\lambda - M\ddot q_i), \qquad A\,\delta\ddot q_i = \delta(b - A\ddot q_i) $$

#![allow(non_snake_case)]

use zwang_motion::{Given, Instant, Jacobian, Jacobians, Matrix, MotionError, Route, RouteSolution, Snapshot};

use crate::compile::evaluator::Evaluator;

/// The derivatives of the equations of the ideal part at a state.
pub(super) struct IdealMultipliers {
    jacobian: Jacobian,
    /// With redundant rows: the derivatives where q̈ is less by z = A⁺λ.
    ///
    /// The shortest λ is orthogonal to every y with Aᵀy = 0, and these y turn with the state: yᵀδλ = −λᵀδy = yᵀ δA z.
    turned: Option<Jacobian>,
}

impl IdealMultipliers {
    /// Evaluates the derivatives at the state of a snapshot; `None` if no law contains a multiplier.
    pub(super) fn new(
        system: &mut Evaluator,
        snapshot: &Snapshot,
        route: &mut dyn Route,
        jacobian: &Jacobian,
    ) -> Result<Option<IdealMultipliers>, MotionError> {
        if jacobian.nonideal_by_lambda.n_stored() == 0 {
            return Ok(None);
        }
        let (given, lambda) = (&snapshot.given, &snapshot.found.lambda);
        let mut ideal = RouteSolution::default();
        route.at(&snapshot.state);
        route.solve(given, snapshot.legendre.as_ref(), &[], &mut ideal)?;
        let mut instant = Instant {
            state: snapshot.state.clone(),
            qddot: ideal.qddot,
            lambda_ideal: lambda.clone(),
            lambda: lambda.clone(),
            ..Instant::default()
        };
        let mut found = IdealMultipliers { jacobian: jacobian.clone(), turned: None };
        system.fill_jacobian(&instant, &mut found.jacobian)?;
        if ideal.rank < lambda.len() {
            // z = A⁺λ: the shortest z with A z = λ
            let n = instant.qddot.len();
            let z = on_unit_masses(given, vec![0.0; n], lambda.clone(), route)?.qddot;
            instant.qddot.iter_mut().zip(&z).for_each(|(x, z)| *x -= z);
            let mut turned = jacobian.clone();
            system.fill_jacobian(&instant, &mut turned)?;
            found.turned = Some(turned);
        }
        Ok(Some(found))
    }

    /// δλ for a variation that satisfies the constraints.
    pub(super) fn change(
        &self,
        given: &Given,
        route: &mut dyn Route,
        (dq, dv): (&[f64], &[f64]),
    ) -> Result<Vec<f64>, MotionError> {
        let problem = Given {
            mass_matrix: given.mass_matrix.clone(),
            constraint_matrix: given.constraint_matrix.clone(),
            given_force: times(&self.jacobian.force_by_q, &self.jacobian.force_by_qdot, dq, dv),
            constraint_rhs: times(&self.jacobian.rows_by_q, &self.jacobian.rows_by_qdot, dq, dv),
        };
        let mut solution = RouteSolution::default();
        route.solve(&problem, None, &[], &mut solution)?;
        let mut change = solution.lambda;
        let Some(turned) = &self.turned else { return Ok(change) };
        // w = δA z, of which the part along the y counts
        let mut w = times(&turned.rows_by_q, &turned.rows_by_qdot, dq, dv);
        w.iter_mut().zip(&problem.constraint_rhs).for_each(|(w, rate)| *w -= rate);
        let mut pull = vec![0.0; dq.len()];
        given.constraint_matrix.multiply_transposed(&w, &mut pull);
        pull.iter_mut().for_each(|x| *x = -*x);
        let along_rows = on_unit_masses(given, pull, vec![0.0; w.len()], route)?.lambda;
        for (change, (w, along)) in change.iter_mut().zip(w.iter().zip(&along_rows)) {
            *change += w - along;
        }
        Ok(change)
    }
}

/// The rows times a variation of the state.
pub(super) fn times(by_q: &Matrix, by_qdot: &Matrix, dq: &[f64], dv: &[f64]) -> Vec<f64> {
    (0..by_q.n_rows).map(|i| by_q.row_times(i, dq) + by_qdot.row_times(i, dv)).collect()
}

/// x − Aᵀλ = f, A x = b.
fn on_unit_masses(
    given: &Given,
    force: Vec<f64>,
    rhs: Vec<f64>,
    route: &mut dyn Route,
) -> Result<RouteSolution, MotionError> {
    let problem = Given {
        mass_matrix: Matrix::identity(force.len()),
        constraint_matrix: given.constraint_matrix.clone(),
        given_force: force,
        constraint_rhs: rhs,
    };
    let mut solution = RouteSolution::default();
    route.solve(&problem, None, &[], &mut solution)?;
    Ok(solution)
}
