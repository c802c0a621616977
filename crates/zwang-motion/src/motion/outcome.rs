//! Options of a run, the reason for its end, and its cost.

use crate::{
    CandidateMode, Drift, ImpactState, Method, MotionError, RouteName, State, contact::ContactError, tolerance,
};

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrationOptions {
    /// Time at which it ends.
    pub end: f64,
    /// Error allowed per step, relative to the sizes of q and q̇.
    pub tolerance: f64,
    /// The method.
    pub method: Method,
    /// The step of a fixed-step method, and the longest one of the others.
    pub step: Option<f64>,
    /// How drift from the constraints is prevented.
    pub drift: Drift,
    /// The route to the acceleration.
    pub route: RouteName,
}

impl Default for IntegrationOptions {
    fn default() -> IntegrationOptions {
        IntegrationOptions {
            end: 10.0,
            tolerance: tolerance::RUN,
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
        /// Time at which that begins: where formulas last switched, if they do so right after it.
        t: f64,
        /// The first state at which they visibly do.
        state: Box<State>,
        /// A state further on at which they do so clearly, as far as the motion can be followed in spite of them.
        later: Box<State>,
    },
    /// The constraints lose rank ahead and do not determine the motion beyond.
    MotionNotUnique {
        /// Time of the position.
        t: f64,
        /// The rows that lose rank.
        rows: Vec<usize>,
    },
    /// The step has become too small.
    StepTooSmall {
        /// Length of the step.
        h: f64,
        /// The coordinate that changes fastest, relative to its size.
        coordinate: usize,
        /// The rows that are about to become dependent, if some are.
        rows: Vec<usize>,
        /// What went wrong at the last attempt, if something did.
        cause: Option<MotionError>,
    },
    /// Driven coordinates lose control authority: the forces grow without bound.
    ControlAuthorityLost {
        /// The control row with the least authority.
        row: usize,
    },
    /// The implicit equations of a fixed-step method have no solution near: its step is too long.
    StepTooLong {
        /// The step.
        h: f64,
    },
    /// A formula switches back and forth without end: the motion slides along the surface on which it switches.
    Sliding {
        /// Index of the event function.
        event: usize,
    },
    /// Conditions are triggered ever faster, or again and again at one instant: the events accumulate, and no motion follows.
    AccumulatedEvents {
        /// The time at which they accumulate.
        t: f64,
        /// Indices of the event functions.
        events: Vec<usize>,
    },
    /// No contact mode, or more than one, satisfies Coulomb's law.
    Ambiguous {
        /// Time of the event.
        t: f64,
        /// The first normal row of each place.
        rows: Vec<usize>,
        /// The number of different motions that were found.
        n_modes: usize,
        /// Candidate modes that were tried first: two that fit, or some of which none does.
        tried: Vec<CandidateMode>,
    },
    /// No outcome of an impact, or more than one, satisfies Newton's and Coulomb's laws.
    AmbiguousImpact {
        /// Time of the impact.
        t: f64,
        /// The normal rows of the impact.
        rows: Vec<usize>,
        /// Two outcomes, if there are several: what each place does.
        outcomes: Vec<Vec<ImpactState>>,
    },
    /// There are too many contact modes to try them all, and none was found that satisfies Coulomb's law.
    TooManyModes {
        /// Time of the event.
        t: f64,
        /// The first normal row of each place.
        rows: Vec<usize>,
    },
    /// In 10,000 steps a velocity has turned back again and again within the tolerance, and nothing has moved by much: a law as
    /// that of a sign.
    NoProgress {
        /// The coordinate whose velocity changes its sign.
        coordinate: usize,
    },
    /// Transitions of contacts follow each other without end.
    EndlessTransitions {
        /// Time of the last transition.
        t: f64,
    },
    /// An event changed a parameter, or a formula switched, so that a constraint is no longer satisfied.
    OffConstraint {
        /// Index of the event function.
        event: usize,
        /// Index of the constraint row.
        row: usize,
        /// `true` if the velocities would have to jump, `false` if the positions would.
        is_velocity: bool,
    },
    /// The equations cannot be evaluated or solved.
    Failed(MotionError),
}

impl From<MotionError> for Outcome {
    fn from(error: MotionError) -> Outcome {
        Outcome::Failed(error)
    }
}

impl From<ContactError> for Outcome {
    fn from(error: ContactError) -> Outcome {
        match error {
            ContactError::MotionNotUnique { t, rows } => Outcome::MotionNotUnique { t, rows },
            ContactError::Ambiguous { t, rows, n_modes, tried } => Outcome::Ambiguous { t, rows, n_modes, tried },
            ContactError::AmbiguousImpact { t, rows, outcomes } => Outcome::AmbiguousImpact { t, rows, outcomes },
            ContactError::TooManyModes { t, rows } => Outcome::TooManyModes { t, rows },
            ContactError::EndlessTransitions { t } => Outcome::EndlessTransitions { t },
            ContactError::Failed(error) => Outcome::Failed(error),
        }
    }
}

/// What the run has cost so far, and what was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Steps shortened because a formula could have acted unseen between their nodes.
    pub cut_for_formulas: usize,
    /// Terms whose bounds stayed too wide, so that the steps were not examined for them any more.
    pub functions_not_bounded: usize,
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

/// Stiffness, as noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct Stiffness {
    /// Time at which it was noticed.
    pub t: f64,
    /// The coordinate that takes most part in the fast mode.
    pub coordinate: usize,
    /// Its time constant.
    pub time_constant: f64,
    /// `true` if the stiff method was tried and given up, because it needed shorter steps: the fast motion is really there.
    pub given_up: bool,
}

/// Steps that are limited by rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundingLimit {
    /// Time at which it was noticed.
    pub t: f64,
    /// The step there.
    pub h: f64,
    /// The tolerance from which on rounding does not limit the steps.
    pub tolerance: f64,
}

/// The algebra by which accelerations are found.
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
