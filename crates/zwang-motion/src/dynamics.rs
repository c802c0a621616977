//! The one seam: whoever can fill M, Q, A, b at (t, q, q̇), then C once λ is known, can be moved.

use crate::{Matrix, MotionError};

/// Where the system is: time, coordinates, velocities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time t.
    pub t: f64,
    /// Coordinates q.
    pub q: Vec<f64>,
    /// Velocities q̇.
    pub qdot: Vec<f64>,
}

impl State {
    /// The origin at rest at t = 0, with n coordinates.
    pub fn zero(n: usize) -> State {
        State { t: 0.0, q: vec![0.0; n], qdot: vec![0.0; n] }
    }
}

/// What the system says of itself at a state: M q̈ = Q without constraints, A q̈ = b with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// M, n x n, symmetric, both triangles stored.
    pub mass_matrix: Matrix,
    /// Q, all that drives the unconstrained system.
    pub given_force: Vec<f64>,
    /// A, one row per constraint.
    pub constraint_matrix: Matrix,
    /// b, one entry per constraint.
    pub constraint_rhs: Vec<f64>,
}

/// What the two-form route needs: the Legendre transform of L and its derivatives, Y05 2.2 and 3.1.
///
/// p = ∂L/∂q̇ and E = p·q̇ − L, so ∂E/∂q = (∂p/∂q)ᵀ q̇ − ∂L/∂q and ∂E/∂q̇ = M q̇.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legendre {
    /// p = ∂L/∂q̇.
    pub momentum: Vec<f64>,
    /// ∂pᵢ/∂qⱼ, row i, column j.
    pub momentum_by_q: Matrix,
    /// ∂p/∂t.
    pub momentum_by_t: Vec<f64>,
    /// ∂E/∂q.
    pub energy_by_q: Vec<f64>,
    /// ∂E/∂q̇.
    pub energy_by_qdot: Vec<f64>,
    /// F, the applied forces that no potential gives.
    pub force: Vec<f64>,
}

/// A mechanical system that can state its equations at any state.
pub trait Dynamics {
    /// n, the number of coordinates.
    fn n_coordinates(&self) -> usize;

    /// m, the number of constraint rows.
    fn n_rows(&self) -> usize;

    /// A `Given` with the right sizes and patterns; its values mean nothing yet.
    fn allocate(&self) -> Given;

    /// M, Q, A, b at the state.
    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError>;

    /// Whether some constraint does work on virtual displacements, so that `fill_nonideal` matters.
    fn has_nonideal(&self) -> bool {
        false
    }

    /// C, the force whose virtual work the constraints do, UK02 (10); `lambda` belongs to the ideal part.
    #[allow(non_snake_case, unused_variables)]
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError> {
        C.fill(0.0);
        Ok(())
    }

    /// A `Legendre` with the right sizes and patterns, if the system has a Lagrangian.
    fn allocate_legendre(&self) -> Option<Legendre> {
        None
    }

    /// The Legendre data at the state.
    #[allow(unused_variables)]
    fn fill_legendre(&mut self, state: &State, legendre: &mut Legendre) -> Result<(), MotionError> {
        Err(MotionError::NoLegendre)
    }
}
