//! The acceleration and the motion of a constrained mechanical system.
//!
//! Given M, Q, A, b at a state, find the q̈ that is closest to the free motion among those the constraints allow:
//!
//! $$ \min_{\ddot q}\ (\ddot q - a)^T M (\ddot q - a) \quad\text{subject to}\quad A \ddot q = b, \qquad a = M^{-1} Q $$
//!
//! A may have any rank, and M may be singular in directions that A determines. Six [routes](route) compute the same q̈ by
//! independent algebra; [`Snapshot`] gathers every quantity at a state; [`dependence()`] finds the redundant rows, and
//! [`project`] projects values onto the constraints. A [`Motion`] advances the system along them step by step, and a
//! [`Trajectory`] stores the steps.
//!
//! ```
#![doc = include_str!("../tests/example/pendulum.rs")]
//! ```
//!
//! Letters and sources are those of `docs/theory.md`.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must fail, and `!(x > y)` says so")]

pub mod acceleration;
pub mod conflict;
pub mod contact;
mod control;
pub mod dynamics;
pub mod error;
mod factor;
mod flow;
mod limits;
pub mod matrix;
pub mod method;
mod methods;
pub mod motion;
pub mod projection;
pub mod scaled;
pub mod settings;
mod singular;
mod smooth;
pub mod snapshot;
pub mod spectrum;
#[doc(hidden)]
pub mod tolerance;
pub mod trajectory;

pub use acceleration::dependence::{Dependence, dependence};
pub use acceleration::{Gap, Route, RouteName, RouteSolution, route};
pub use conflict::{Conflict, conflict};
pub use contact::{
    CandidateMode, ContactTransition, ImpactState, Inequality, NoSolution, NormalForces, ReducedRestitution, Side,
    TransitionKind, complementarity,
};
pub use dynamics::{
    ConditionRate, ConstraintLevel, ContactLaws, ContactRow as Contact, ControlEquations, ControlRows, Coulomb,
    Dynamics, Elimination, Enclosure, EventFunctions, Friction, Given, Instant, Integrals, Jacobian, Jacobians, Jump,
    Legendre, LegendreData, MOST_NORMALS, NonidealForce, Reaction, SharpTerms, Size, State, Tableau, TermEntry, Units,
};
pub use error::MotionError;
pub use matrix::Matrix;
pub use method::{Drift, Method};
pub use methods::{ORDER_5, ORDER_8, Step};
pub use motion::{
    Counts, ForceParts, IntegrationOptions, Motion, Outcome, RoundingLimit, Saturation, SignChange, Solver, Stiffness,
};
pub use projection::{Projection, Residual, project, project_only};
pub use scaled::{Scaled, scaled};
pub use settings::Settings;
pub use singular::RankDrop;
pub use snapshot::{Geometry, Snapshot, StateQuantities, geometry};
pub use spectrum::{Eigen, eigen};
pub use trajectory::Trajectory;
