//! The interface of a system: whoever can evaluate M, Q, A, b at (t, q, q̇), then C once λ is known, can be moved.

mod contact_law;
mod tableau;

use crate::{Matrix, MotionError, Settings};
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

/// Control rows in addition to the constraints: A_c q̈ = b_c, by forces u = S w on driven coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlRows {
    /// A_c: first the rows tracked exactly on positions, then those tracked on velocities, then the others.
    pub rows: Matrix,
    /// b_c.
    pub rhs: Vec<f64>,
    /// The numbers of rows tracked exactly on positions and on velocities: drift from these is projected away.
    pub n_held: (usize, usize),
    /// The coordinates that are driven, each once.
    pub driven: Vec<usize>,
    /// W of the least wᵀW w, row after row; empty for the metric of M⁻¹.
    pub weight: Vec<f64>,
    /// The largest |wᵢ|, infinite without a bound; empty if nothing is bounded.
    pub limit: Vec<f64>,
}

impl ControlRows {
    /// The first row that an acceleration violates, relative to the sizes that enter it; `None` if it satisfies all of them.
    pub fn missed_row(&self, qddot: &[f64], settings: &Settings) -> Option<usize> {
        let Settings { contradiction_tolerance, contradiction_floor, .. } = settings;
        (0..self.rhs.len()).find(|&i| {
            let (col, value) = self.rows.row(i);
            let (mut sum, mut size, mut top) = (0.0, self.rhs[i].abs(), 0f64);
            for (&j, &x) in col.iter().zip(value) {
                sum += x * qddot[j];
                size += (x * qddot[j]).abs();
                top = top.max(x.abs());
            }
            !((self.rhs[i] - sum).abs() <= contradiction_tolerance * size + contradiction_floor * top)
        })
    }
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
    pub(crate) fn new<D: Dynamics + ?Sized>(dynamics: &D, state: &State) -> Instant {
        let (n, m) = (dynamics.n_coordinates(), dynamics.n_rows());
        Instant {
            state: state.clone(),
            qddot: vec![0.0; n],
            lambda_ideal: vec![0.0; m],
            lambda: vec![0.0; m],
            nonideal_force: vec![0.0; n],
            control_force: vec![0.0; n],
            control_powers: vec![0.0; dynamics.allocate_control_rows().map_or(0, |asked| asked.rhs.len())],
            integrals: vec![0.0; dynamics.n_integrals()],
        }
    }
}

/// What an event does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    Ignore,
    /// The formulas switch, so that a step should end here.
    Switch,
    /// The state or the system has changed.
    Change,
}

/// Changes of the equations with the state while q̈ and λ stay, from which the derivatives of the motion follow.
///
/// $$ M\,\delta\ddot q - A^T\delta\lambda = \delta(Q + C + A^T\lambda - M\ddot q), \qquad A\,\delta\ddot q = \delta(b - A\ddot q) $$
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jacobian {
    /// ∂(Q + C + Aᵀλ − M q̈)/∂q, n x n.
    pub force_by_q: Matrix,
    /// ∂(Q + C + Aᵀλ − M q̈)/∂q̇, n x n.
    pub force_by_qdot: Matrix,
    /// ∂(b − A q̈)/∂q, m x n.
    pub rows_by_q: Matrix,
    /// ∂(b − A q̈)/∂q̇, m x n.
    pub rows_by_qdot: Matrix,
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

    /// `true` if some constraint does work on virtual displacements, so that `fill_nonideal` matters.
    fn has_nonideal(&self) -> bool {
        false
    }

    /// C, the force whose virtual work the constraints do, UK02 (10); `lambda` belongs to the ideal part.
    #[allow(non_snake_case, unused_variables)]
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError> {
        C.fill(0.0);
        Ok(())
    }

    /// A `ControlRows` with the right sizes and patterns, if the system has control rows.
    fn allocate_control_rows(&self) -> Option<ControlRows> {
        None
    }

    /// The control rows at the state.
    #[allow(unused_variables)]
    fn fill_control_rows(&mut self, state: &State, asked: &mut ControlRows) -> Result<(), MotionError> {
        Ok(())
    }

    /// Residuals of the rows tracked exactly: positions of those tracked there, or velocities of all of them.
    #[allow(unused_variables)]
    fn fill_tracked(&mut self, state: &State, on_positions: bool, values: &mut [f64]) -> Result<(), MotionError> {
        Ok(())
    }

    /// Makes the explicit acceleration ready for these rows of A, known to be independent and to imply the others; false if
    /// the system has none. `scales` bring the rows of A M^(-1/2) to a length of about one, `asked_scales` the control rows,
    /// as their forces reach them.
    #[allow(unused_variables)]
    fn specialize(&mut self, rows: &[usize], scales: &[f64], asked_scales: &[f64]) -> bool {
        false
    }

    /// The rate (q̇, q̈, ẇ) at t and y = (q, q̇, w), explicitly and without a decomposition. Returns the least pivot of the
    /// rows, as the square of a length relative to those of `scales`; `None` if a pivot is in doubt, and a decomposition
    /// must decide.
    #[allow(unused_variables)]
    fn accelerate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        None
    }

    /// A whole step of an explicit method from t and y = (q, q̇, w), of length h, if that is one computation; `false` if it
    /// is not, or a pivot is in doubt at a stage. `k` holds one rate after the other: the first is known, the others are
    /// found;
    /// y at the end and y at the last stage follow them. To the bit the same as stage by stage.
    fn step(&mut self, _tableau: &'static Tableau, _t: f64, _h: f64, _y: &[f64], _k: &mut [f64]) -> bool {
        false
    }

    /// The smallest change of q, or of q̇, that removes φ, or φ̇ and ψ, to first order, explicitly; `false` if that is not
    /// possible.
    #[allow(unused_variables)]
    fn correct(&mut self, state: &State, on_positions: bool, delta: &mut [f64]) -> bool {
        false
    }

    /// The number of rows on positions, φ(q, t) = 0; they are the first of A.
    fn n_position_rows(&self) -> usize {
        0
    }

    /// The number of rows on velocities, ψ(q, q̇, t) = 0; they follow. The rest is stated for accelerations.
    fn n_velocity_rows(&self) -> usize {
        0
    }

    /// φ, one value per position row.
    #[allow(unused_variables)]
    fn fill_positions(&mut self, state: &State, phi: &mut [f64]) -> Result<(), MotionError> {
        Ok(())
    }

    /// φ̇ and ψ, one value per position or velocity row.
    #[allow(unused_variables)]
    fn fill_velocities(&mut self, state: &State, psi: &mut [f64]) -> Result<(), MotionError> {
        Ok(())
    }

    /// Which unit a coordinate is measured in: coordinates of one unit have the same number. None is a pure number, such as
    /// an angle, for which 1 is a natural size.
    fn unit(&self, coordinate: usize) -> Option<usize> {
        let _ = coordinate;
        None
    }

    /// The least size of a coordinate that is a pure number: 1 for angles.
    fn natural_size(&self, start: &State) -> f64 {
        let _ = start;
        1.0
    }

    /// The number of quantities integrated along the motion in addition to q and q̇, such as work.
    fn n_integrals(&self) -> usize {
        0
    }

    /// Their rates, once the motion at the state is known; `lambda` acts, C included.
    #[allow(unused_variables)]
    fn fill_integrands(&mut self, instant: &Instant, rates: &mut [f64]) -> Result<(), MotionError> {
        Ok(())
    }

    /// The number of event functions.
    fn n_events(&self) -> usize {
        0
    }

    /// The event functions at the state.
    #[allow(unused_variables)]
    fn fill_events(&mut self, state: &State, values: &mut [f64]) -> Result<(), MotionError> {
        Ok(())
    }

    /// An event function has changed its sign, upwards or downwards: returns what is to be done. May change the state and
    /// the system.
    #[allow(unused_variables)]
    fn fire(&mut self, event: usize, upwards: bool, state: &mut State) -> Result<Reaction, MotionError> {
        Ok(Reaction::Ignore)
    }

    /// The state after an event, from which the motion continues: velocities may have been projected onto the constraints.
    #[allow(unused_variables)]
    fn landed(&mut self, state: &State) -> Result<(), MotionError> {
        Ok(())
    }

    /// The rows on positions that only push; empty if all rows are permanent.
    fn contacts(&self) -> Vec<ContactRow> {
        Vec::new()
    }

    /// The places with friction.
    fn frictions(&self) -> Vec<Friction> {
        Vec::new()
    }

    /// The restitution of each contact.
    #[allow(unused_variables)]
    fn fill_restitutions(&mut self, state: &State, restitutions: &mut [f64]) -> Result<(), MotionError> {
        restitutions.fill(0.0);
        Ok(())
    }

    /// Coulomb's law of each place with friction.
    #[allow(unused_variables)]
    fn fill_friction_laws(&mut self, state: &State, roughness: &mut [Coulomb]) -> Result<(), MotionError> {
        roughness.fill(Coulomb::default());
        Ok(())
    }

    /// The velocities are about to jump by an impact.
    #[allow(unused_variables)]
    fn struck(&mut self, state: &State) -> Result<(), MotionError> {
        Ok(())
    }

    /// `true` if L is quadratic in the velocities, as RATTLE needs it.
    fn is_natural(&self) -> bool {
        true
    }

    /// A `Jacobian` with the right sizes and patterns, if the system can differentiate itself.
    fn allocate_jacobian(&mut self) -> Option<Jacobian> {
        None
    }

    /// The derivatives at an instant.
    #[allow(unused_variables)]
    fn fill_jacobian(&mut self, instant: &Instant, jacobian: &mut Jacobian) -> Result<(), MotionError> {
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
