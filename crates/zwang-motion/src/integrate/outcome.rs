//! What is wished of a run, why it ended, and what it has cost.

use super::{Struck, TriedMode};
use crate::{Drift, Method, MotionError, RouteName, State};

/// What is wished of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// When it ends.
    pub end: f64,
    /// Error allowed per step, relative to the sizes of q and q̇.
    pub tolerance: f64,
    /// The method.
    pub method: Method,
    /// The step of a fixed-step method, and the longest one of the others.
    pub step: Option<f64>,
    /// What keeps the system on the constraints.
    pub drift: Drift,
    /// The route to the acceleration.
    pub route: RouteName,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            end: 10.0,
            tolerance: 1e-9,
            method: Method::Auto,
            step: None,
            drift: Drift::Project,
            route: RouteName::GeneralizedInverse,
        }
    }
}

/// Why a motion ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The end was reached.
    End,
    /// From here on no motion satisfies the constraints.
    Contradiction {
        /// What contradicts what.
        error: MotionError,
        /// When that begins: where formulas last switched, if they do so right after it.
        t: f64,
        /// The first state at which they visibly do.
        state: Box<State>,
        /// A state further on at which they do so clearly, as far as the motion can be followed in spite of them.
        later: Box<State>,
    },
    /// The constraints lose rank ahead and do not say which way the motion goes on.
    Undetermined {
        /// When.
        t: f64,
        /// The rows that lose rank.
        rows: Vec<usize>,
    },
    /// The step has become too small.
    StepTooSmall {
        /// How small.
        h: f64,
        /// The coordinate that changes fastest, relative to its size.
        coordinate: usize,
        /// The rows that are about to become dependent, if some are.
        rows: Vec<usize>,
        /// What went wrong at the last attempt, if something did.
        cause: Option<MotionError>,
    },
    /// Driven coordinates lose their hold on what is asked: the forces grow without bound.
    HoldLost {
        /// The asked row they hold least.
        row: usize,
    },
    /// The implicit equations of a fixed-step method have no solution near: its step is too long.
    StepTooLong {
        /// The step.
        h: f64,
    },
    /// A formula switches back and forth without end: the motion slides along the place where it switches.
    Sliding {
        /// Which of the watched quantities.
        event: usize,
    },
    /// No mode, or more than one, of contacts and frictions satisfies Coulomb's law here.
    Ambiguous {
        /// When.
        t: f64,
        /// The rows that press.
        rows: Vec<usize>,
        /// How many different motions were found.
        n_modes: usize,
        /// Those that were tried first: two that fit, or some of which none does.
        tried: Vec<TriedMode>,
    },
    /// No outcome of an impact, or more than one, satisfies Newton's and Coulomb's laws.
    AmbiguousBlow {
        /// When.
        t: f64,
        /// The rows that are struck.
        rows: Vec<usize>,
        /// Two outcomes, if there are several: what each place does.
        outcomes: Vec<Vec<Struck>>,
    },
    /// There are too many modes to try them all, and none was met that satisfies Coulomb's law.
    TooManyModes {
        /// When.
        t: f64,
        /// The rows that press.
        rows: Vec<usize>,
    },
    /// Very many steps have hardly moved the time on, and velocities go back and forth: a law without end, as that of a sign.
    Stalled {
        /// The coordinate whose velocity does.
        coordinate: usize,
    },
    /// Contacts open and close without end.
    Restless {
        /// When.
        t: f64,
    },
    /// An event changed a parameter, or a formula switched, so that a constraint is no longer met.
    JumpedOff {
        /// The event.
        event: usize,
        /// The row.
        row: usize,
        /// Whether the velocities would have to jump, else the positions.
        is_velocity: bool,
    },
    /// The equations cannot be evaluated or solved.
    Failed(MotionError),
}

/// What the run has cost so far, and what was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of M, Q, A, b.
    pub evaluations: usize,
    /// Decompositions of A.
    pub factorizations: usize,
    /// Decompositions made for the projection alone.
    pub projections: usize,
    /// Largest change a projection made to q, relative to its size.
    pub largest_correction: f64,
    /// Steps with their stages on the constraints.
    pub guarded: usize,
    /// Largest noise accepted near a singular position, relative to the tolerance.
    pub noise: f64,
}

/// Stiffness, as met.
#[derive(Clone, Debug, PartialEq)]
pub struct Stiffness {
    /// When it was noticed.
    pub t: f64,
    /// The coordinate that takes most part in the fast mode.
    pub coordinate: usize,
    /// Its time constant.
    pub time_constant: f64,
    /// Whether the stiff method was tried and given up, because it needed shorter steps: the fast motion is really there.
    pub given_up: bool,
}

/// What the accelerations of a motion are found with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Elimination written out for the very system, in an order of pivots fixed beforehand.
    Explicit,
    /// A complete orthogonal decomposition by hand, for few coordinates.
    Small,
    /// The same by faer.
    Dense,
    /// Sparse Cholesky of A M⁻¹Aᵀ.
    Sparse,
    /// The route the user chose.
    Route,
}

impl Solver {
    /// In a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Solver::Explicit => "explicit elimination",
            Solver::Small => "small orthogonal decomposition",
            Solver::Dense => "dense orthogonal decomposition",
            Solver::Sparse => "sparse Cholesky",
            Solver::Route => "the chosen route",
        }
    }
}
