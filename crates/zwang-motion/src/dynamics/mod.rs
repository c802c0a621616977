//! The interface of a system: it evaluates M, Q, A, b at (t, q, q̇), and C once λ is known. That suffices for a motion.

mod abilities;
mod contact_law;
mod tableau;

use crate::{Matrix, MotionError};
pub use abilities::{
    ConditionRate, ContactLaws, ControlEquations, ControlRows, Elimination, Enclosure, EventFunctions, Integrals,
    Jacobian, Jacobians, Legendre, LegendreData, NonidealForce, Reaction, SharpTerms, TermEntry,
};
pub use contact_law::{ContactRow, Coulomb, Friction, MOST_NORMALS};
pub(crate) use contact_law::{Slip, length, unit_vector};
pub(crate) use tableau::NodeGap;
pub use tableau::Tableau;

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

impl Given {
    /// M and Q, and some rows of A and b.
    pub fn select(&self, rows: &[usize]) -> Given {
        let columns: Vec<Vec<usize>> = rows.iter().map(|&row| self.constraint_matrix.row(row).0.to_vec()).collect();
        let constraint_matrix = Matrix::from_pattern(rows.len(), self.constraint_matrix.n_cols, &columns);
        let (mass_matrix, given_force) = (self.mass_matrix.clone(), self.given_force.clone());
        let mut selected = Given { mass_matrix, given_force, constraint_matrix, constraint_rhs: vec![0.0; rows.len()] };
        selected.copy_selected(self, rows);
        selected
    }

    /// Copies the values of M, Q and some rows of A and b; the patterns are those of [`Given::select`].
    pub fn copy_selected(&mut self, all: &Given, rows: &[usize]) {
        self.mass_matrix.value.copy_from_slice(&all.mass_matrix.value);
        self.given_force.copy_from_slice(&all.given_force);
        let mut start = 0;
        for (k, &row) in rows.iter().enumerate() {
            let value = all.constraint_matrix.row(row).1;
            self.constraint_matrix.value[start..start + value.len()].copy_from_slice(value);
            start += value.len();
            self.constraint_rhs[k] = all.constraint_rhs[row];
        }
    }

    /// True if every number is finite.
    pub fn is_finite(&self) -> bool {
        let parts = [&self.mass_matrix.value, &self.given_force, &self.constraint_matrix.value, &self.constraint_rhs];
        parts.iter().all(|part| part.iter().all(|x| x.is_finite()))
    }
}

/// The motion at one instant: the state, and what follows from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instant {
    /// t, q, q̇.
    pub state: State,
    /// q̈.
    pub qddot: Vec<f64>,
    /// λ of the ideal part.
    pub lambda_ideal: Vec<f64>,
    /// λ that acts, nonideal forces included.
    pub lambda: Vec<f64>,
    /// C.
    pub nonideal_force: Vec<f64>,
    /// u, the control force; zero without control rows.
    pub control_force: Vec<f64>,
    /// The share of each control row in the power u·q̇.
    pub control_powers: Vec<f64>,
    /// Quantities integrated along the motion.
    pub integrals: Vec<f64>,
}

impl Instant {
    /// At a state, with memory for all that follows from it.
    pub(crate) fn new<D: Dynamics + ?Sized>(dynamics: &mut D, state: &State) -> Instant {
        let Size { coordinates: n, rows: m, .. } = dynamics.size();
        Instant {
            state: state.clone(),
            qddot: vec![0.0; n],
            lambda_ideal: vec![0.0; m],
            lambda: vec![0.0; m],
            nonideal_force: vec![0.0; n],
            control_force: vec![0.0; n],
            control_powers: vec![
                0.0;
                dynamics.control().map_or(0, |control| control.allocate_control_rows().rhs.len())
            ],
            integrals: vec![0.0; dynamics.integrals().map_or(0, |integrals| integrals.n_integrals())],
        }
    }
}

/// The states before and after a sudden change of velocities or of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The state before the jump.
    pub before: State,
    /// The state after it, on the constraints.
    pub after: State,
    /// `true` if the jump is an impact, `false` if it is the change of events, which may also change the system.
    pub is_impact: bool,
}

/// The numbers of coordinates and of rows.
///
/// A has the rows stated for positions, φ(q, t) = 0, first, then those stated for velocities, ψ(q, q̇, t) = 0; the rest is
/// stated for accelerations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// n, the number of coordinates.
    pub coordinates: usize,
    /// m, the number of all rows.
    pub rows: usize,
    /// The number of rows stated for positions.
    pub position_rows: usize,
    /// The number of rows stated for velocities.
    pub velocity_rows: usize,
}

/// Which residuals of the rows are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintLevel {
    /// φ of the rows stated for positions.
    Positions,
    /// φ̇ and ψ of the rows stated for positions or velocities.
    Velocities,
}

/// The units in which coordinates are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units<'a> {
    /// All coordinates are pure numbers, such as angles, for which 1 is a natural size.
    #[default]
    Pure,
    /// It is not known which coordinates are pure numbers: their size follows from the start.
    Unstated,
    /// A number for each coordinate: coordinates of one unit have the same; none is a pure number.
    Stated(&'a [Option<usize>]),
}

/// A mechanical system that can state its equations at any state.
///
/// What only some systems have, such as events or contacts, is an ability of its own, which others leave out.
pub trait Dynamics {
    /// The numbers of coordinates and of rows.
    fn size(&self) -> Size;

    /// A `Given` with the right sizes and patterns; its values mean nothing yet.
    fn allocate(&self) -> Given;

    /// M, Q, A, b at the state.
    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError>;

    /// φ, one value per row on positions; or φ̇ and ψ, one value per row on positions or velocities. Systems without such
    /// rows have nothing to fill in.
    #[allow(unused_variables)]
    fn fill_residuals(
        &mut self,
        state: &State,
        level: ConstraintLevel,
        residuals: &mut [f64],
    ) -> Result<(), MotionError> {
        Ok(())
    }

    /// The units of the coordinates.
    fn units(&self) -> Units<'_> {
        Units::Pure
    }

    /// The rate (q̇, q̈, ẇ) at t and y = (q, q̇, w), explicitly and without a decomposition, as [`Elimination`] has prepared
    /// it. Returns the least pivot of the rows, as the square of a length relative to that in their preparation; `None` if a
    /// pivot is in doubt, and a decomposition must decide.
    #[allow(unused_variables)]
    fn explicit_rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        None
    }

    /// A whole step of an explicit method from t and y = (q, q̇, w), of length h, if that is one computation; `false` if it
    /// is not, or a pivot is in doubt at a stage. `k` holds one rate after the other: the first is known, the others are
    /// found; y at the end and y at the last stage follow them. To the bit the same as stage by stage.
    #[allow(unused_variables)]
    fn explicit_step(&mut self, tableau: &'static Tableau, t: f64, h: f64, y: &[f64], k: &mut [f64]) -> bool {
        false
    }

    /// Rows eliminated by formulas, which make accelerations and projections explicit.
    fn elimination(&mut self) -> Option<&mut dyn Elimination> {
        None
    }

    /// Constraints that do work on virtual displacements.
    fn nonideal(&mut self) -> Option<&mut dyn NonidealForce> {
        None
    }

    /// Control.
    fn control(&mut self) -> Option<&mut dyn ControlEquations> {
        None
    }

    /// Quantities integrated along the motion.
    fn integrals(&mut self) -> Option<&mut dyn Integrals> {
        None
    }

    /// Events.
    fn events(&mut self) -> Option<&mut dyn EventFunctions> {
        None
    }

    /// Terms that may act between the nodes of a method, and can be bounded.
    fn sharp_terms(&mut self) -> Option<&mut dyn SharpTerms> {
        None
    }

    /// Contacts and friction.
    fn contacts(&mut self) -> Option<&mut dyn ContactLaws> {
        None
    }

    /// Derivatives, which the stiff method needs.
    fn jacobian(&mut self) -> Option<&mut dyn Jacobians> {
        None
    }

    /// A Lagrangian, which the two-form route and RATTLE need.
    fn legendre(&mut self) -> Option<&mut dyn LegendreData> {
        None
    }
}
