//! The generalized inverse, UK02 (12): the default route.

use super::{Route, RouteSolution, decomposition::Decomposition, large::Large, shortest::check_multipliers};
use crate::{Given, Legendre, MotionError, Settings};

/// UK02 (12) by a complete orthogonal decomposition, or sparsely if the system is large.
pub(crate) struct GeneralizedInverse {
    settings: Settings,
    large: Option<Large>,
    dense: Decomposition,
    wants_lambda: bool,
    /// True if the last solve was sparse.
    was_large: bool,
}

impl GeneralizedInverse {
    pub(crate) fn new(settings: &Settings) -> GeneralizedInverse {
        let dense = Decomposition::new(settings);
        GeneralizedInverse { settings: settings.clone(), large: None, dense, wants_lambda: true, was_large: false }
    }

    /// A route that computes q̈ without λ. With linearly dependent rows λ is the most expensive part.
    pub(crate) fn without_multipliers(settings: &Settings) -> GeneralizedInverse {
        GeneralizedInverse { wants_lambda: false, ..GeneralizedInverse::new(settings) }
    }
}

impl GeneralizedInverse {
    /// Solves for q̈ with another force; M, A and b are those of the last solve.
    pub(crate) fn solve_again(&mut self, given: &Given, solution: &mut RouteSolution) -> Result<(), MotionError> {
        match &mut self.large {
            Some(large) if self.was_large => {
                let Given { given_force: Q, constraint_matrix: A, constraint_rhs: b, .. } = given;
                solution.qddot.resize(Q.len(), 0.0);
                large.solve_for(A, Q, &[], b, &mut solution.qddot);
                match solution.qddot.iter().all(|x| x.is_finite()) {
                    true => Ok(()),
                    false => Err(MotionError::NotFinite { what: "the acceleration".into() }),
                }
            }
            _ => self.solve(given, None, &[], solution),
        }
    }
}

impl Route for GeneralizedInverse {
    /// Acceleration of the constrained system by the generalized inverse, UK02 (12).
    ///
    /// $$ \ddot q = a + M^{-1/2} B^+ (b - A a), \qquad B = A M^{-1/2} $$
    ///
    /// Any R with M = R Rᵀ may stand for M^(1/2); here R is the Cholesky factor. A may have any rank: B⁺ comes from a
    /// complete orthogonal decomposition of B with its rows scaled to the same length. Large systems whose M is block
    /// diagonal with small blocks use S = A M⁻¹Aᵀ instead. Fails if M is not positive semidefinite, if some direction
    /// has neither mass nor constraint, or if no acceleration satisfies A q̈ = b.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        if given.given_force.len() > self.settings.sparse_limit {
            let large = self.large.get_or_insert_with(|| Large::new(&self.settings));
            self.was_large = large.solve(given, extra_force, self.wants_lambda, solution)?;
            if self.was_large {
                return Ok(());
            }
        }
        let dense = &mut self.dense;
        dense.problem.fill(given, extra_force, &self.settings)?;
        dense.decompose();
        dense.find_x();
        dense.problem.finish(given, &dense.x, &self.settings, solution)?;
        (solution.rank, solution.gap) = (dense.rank(), dense.gap());
        if !self.wants_lambda {
            return Ok(());
        }
        solution.lambda.resize(given.constraint_rhs.len(), 0.0);
        dense.multipliers(&given.constraint_matrix, &mut solution.lambda)?;
        check_multipliers(&solution.lambda)
    }
}
