//! Abilities that a system may have in addition to its equations, each with the data it fills in.

use super::{ConstraintLevel, ContactRow, Coulomb, Friction, Instant, State};
use crate::{Matrix, MotionError, Settings};

/// Rows eliminated by formulas: accelerations and projections without a decomposition.
pub trait Elimination {
    /// Makes the explicit acceleration ready for these rows of A, known to be independent and to imply the others; `false` if
    /// the system has none. `scales` bring the rows of A M^(-1/2) to a length of about one, `control_scales` the control
    /// rows, as their forces reach them.
    fn prepare(&mut self, rows: &[usize], scales: &[f64], control_scales: &[f64]) -> bool;

    /// The smallest change of q, or of q̇, that removes φ, or φ̇ and ψ, to first order; `false` if a pivot is in doubt.
    fn correct(&mut self, state: &State, level: ConstraintLevel, delta: &mut [f64]) -> bool;
}

/// Constraints that do work on virtual displacements.
pub trait NonidealForce {
    /// C, the force whose virtual work the constraints do, UK02 (10); `lambda` belongs to the ideal part.
    #[allow(non_snake_case)]
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError>;
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
    ///
    /// Row i is $A_{c,i}\ddot q = \dots + A_{c,i} K (Q + u)$, whose terms may be large where they cancel: `of_forces` is the sum of
    /// their sizes, of which q̈ carries the rounding.
    pub fn violated_row(&self, qddot: &[f64], of_forces: impl Fn(usize) -> f64, settings: &Settings) -> Option<usize> {
        let Settings { contradiction_tolerance, contradiction_floor, .. } = settings;
        (0..self.rhs.len()).find(|&i| {
            let (col, value) = self.rows.row(i);
            let (mut sum, mut size, mut top) = (0.0, self.rhs[i].abs() + of_forces(i), 0f64);
            for (&j, &x) in col.iter().zip(value) {
                sum += x * qddot[j];
                size += (x * qddot[j]).abs();
                top = top.max(x.abs());
            }
            !((self.rhs[i] - sum).abs() <= contradiction_tolerance * size + contradiction_floor * top)
        })
    }
}

/// Control of the motion by forces on driven coordinates.
pub trait ControlEquations {
    /// A `ControlRows` with the right sizes and patterns.
    fn allocate_control_rows(&self) -> ControlRows;

    /// The control rows at the state.
    fn fill_control_rows(&mut self, state: &State, rows: &mut ControlRows) -> Result<(), MotionError>;

    /// Residuals of the rows tracked exactly: positions of those tracked there, or velocities of all of them.
    #[allow(unused_variables)]
    fn fill_tracked(
        &mut self,
        state: &State,
        level: ConstraintLevel,
        residuals: &mut [f64],
    ) -> Result<(), MotionError> {
        Ok(())
    }
}

/// Quantities integrated along the motion in addition to q and q̇, such as work.
pub trait Integrals {
    /// Their number.
    fn n_integrals(&self) -> usize;

    /// Their rates, once the motion at the state is known; `lambda` acts, C included.
    fn fill_integrands(&mut self, instant: &Instant, rates: &mut [f64]) -> Result<(), MotionError>;
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

/// Functions of the state at whose sign changes a step ends.
pub trait EventFunctions {
    /// The number of event functions.
    fn n_events(&self) -> usize;

    /// The number of conditions: event functions g that trigger a change when they become positive. They come first.
    fn n_conditions(&self) -> usize {
        0
    }

    /// `true` if a condition holds only where g > 0, `false` if it holds where g = 0, too.
    #[allow(unused_variables)]
    fn is_strict(&self, condition: usize) -> bool {
        false
    }

    /// The rate of each condition and the sizes by which rounding is measured, with y = (t, q, q̇) and the size of q̇ for q̇:
    ///
    /// $$ \dot g = \sum_y \frac{\partial g}{\partial y}\,\dot y, \qquad \sum_y \Big|\frac{\partial g}{\partial y}\,y\Big|,
    ///    \qquad \sum_y \Big|\frac{\partial g}{\partial y}\,\dot y\Big| $$
    #[allow(unused_variables)]
    fn fill_condition_rates(&mut self, instant: &Instant, speeds: &[f64], rates: &mut [ConditionRate]) {}

    /// The event functions at the state.
    fn fill_events(&mut self, state: &State, values: &mut [f64]) -> Result<(), MotionError>;

    /// Applies an event whose function has changed its sign, upwards or downwards: it may change the velocities and the
    /// system. The motion projects the velocities onto the constraints afterwards.
    fn apply_event(&mut self, event: usize, upwards: bool, state: &mut State) -> Result<Reaction, MotionError>;
}

/// The rate of a condition, and the sizes of the terms that enter the condition and its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConditionRate {
    /// ġ.
    pub rate: f64,
    /// The size of the terms of g.
    pub size: f64,
    /// The size of the terms of ġ.
    pub rate_size: f64,
}

/// Unilateral contacts, and places with friction.
pub trait ContactLaws {
    /// The rows on positions that only push; none if all rows are permanent.
    fn contact_rows(&self) -> Vec<ContactRow>;

    /// The places with friction.
    fn frictions(&self) -> Vec<Friction>;

    /// The restitution of each contact.
    fn fill_restitutions(&mut self, state: &State, restitutions: &mut [f64]) -> Result<(), MotionError>;

    /// Coulomb's law of each place with friction.
    fn fill_friction_laws(&mut self, state: &State, laws: &mut [Coulomb]) -> Result<(), MotionError>;
}

/// Changes of the equations with the state while q̈ and λ stay, from which the derivatives of the motion follow.
///
/// $$ M\,\delta\ddot q - A^T\delta\lambda = \delta(Q + A^T\lambda - M\ddot q) + \delta C, \qquad A\,\delta\ddot q = \delta(b - A\ddot q) $$
///
/// C depends on the multipliers of the ideal part, so δC has a term in their change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jacobian {
    /// ∂(Q + Aᵀλ − M q̈)/∂q, n x n.
    pub force_by_q: Matrix,
    /// ∂(Q + Aᵀλ − M q̈)/∂q̇, n x n.
    pub force_by_qdot: Matrix,
    /// ∂(b − A q̈)/∂q, m x n.
    pub rows_by_q: Matrix,
    /// ∂(b − A q̈)/∂q̇, m x n.
    pub rows_by_qdot: Matrix,
    /// ∂C/∂q, n x n; without rows if every constraint is ideal.
    pub nonideal_by_q: Matrix,
    /// ∂C/∂q̇, n x n; without rows if every constraint is ideal.
    pub nonideal_by_qdot: Matrix,
    /// ∂C/∂λ for the multipliers of the ideal part, n x m; without rows if every constraint is ideal.
    pub nonideal_by_lambda: Matrix,
}

/// Derivatives of the equations.
pub trait Jacobians {
    /// A `Jacobian` with the right sizes and patterns.
    fn allocate_jacobian(&self) -> Jacobian;

    /// The derivatives at an instant.
    fn fill_jacobian(&mut self, instant: &Instant, jacobian: &mut Jacobian) -> Result<(), MotionError>;
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

/// The Legendre transform of a Lagrangian.
pub trait LegendreData {
    /// A `Legendre` with the right sizes and patterns.
    fn allocate_legendre(&self) -> Legendre;

    /// The Legendre data at the state.
    fn fill_legendre(&mut self, state: &State, legendre: &mut Legendre) -> Result<(), MotionError>;

    /// `true` if L is quadratic in the velocities, as RATTLE needs it.
    fn is_natural(&self) -> bool {
        true
    }
}

/// Bounds of a quantity over a part of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Enclosure {
    /// Lower bound.
    pub lo: f64,
    /// Upper bound.
    pub hi: f64,
}

/// The entry of the equations to which a sharp term belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermEntry {
    /// Mᵢⱼ.
    Mass(usize, usize),
    /// Qᵢ.
    Force(usize),
    /// Aᵣⱼ.
    Row(usize, usize),
    /// bᵣ.
    Rhs(usize),
    /// An entry of the matrix of control rows.
    ControlRow(usize, usize),
    /// An entry of the right side of control rows.
    ControlRhs(usize),
}

/// Terms of the equations that contain a sharp function, which may act between the nodes of a method: exponentials, waves, steps,
/// quotients, high powers.
///
/// The term is W = a ∂T/∂a, the part of a summand T to which the function a contributes. Inputs are t, q, q̇ by number: 0, then 1 to
/// n, then n + 1 to 2n.
pub trait SharpTerms {
    /// The inputs of which arguments of sharp functions are made.
    fn argument_inputs(&self) -> &[usize];

    /// Collects the terms of the functions that a polynomial of degree 7 does not follow over a box of inputs; only those of
    /// `argument_inputs` are read.
    fn find_untamed(&mut self, inputs: &[Enclosure], terms: &mut Vec<usize>);

    /// The number of the sharp function in a term.
    fn function_of(&self, term: usize) -> usize;

    /// The entry that contains a term.
    fn entry(&self, term: usize) -> TermEntry;

    /// The inputs of a term.
    fn inputs_of(&self, term: usize) -> &[usize];

    /// The value of a term.
    fn value(&mut self, term: usize, inputs: &[f64]) -> f64;

    /// Bounds of a term over a box of inputs.
    fn enclose(&mut self, term: usize, inputs: &[Enclosure]) -> Enclosure;
}
