//! The acceleration and the motion of a constrained mechanical system.
//!
//! Given M, Q, A, b at a state, find the q̈ that is closest to the free motion among those the constraints allow:
//!
//! $$ \min_{\ddot q}\ (\ddot q - a)^T M (\ddot q - a) \quad\text{subject to}\quad A \ddot q = b, \qquad a = M^{-1} Q $$
//!
//! A may have any rank and M may be singular where A makes up for it. Six [routes](route) find the same q̈ by algebra of their
//! own; [`Snapshot`] gathers every quantity at a state; [`dependence()`] says which rows repeat others, and
//! [`project`] puts values on the constraints. A [`Motion`] moves the system along them step by step, and a
//! [`Trajectory`] keeps the steps.
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
pub mod consistency;
pub mod dependence;
pub mod dynamics;
pub mod error;
mod factor;
mod flow;
pub mod integrate;
pub mod matrix;
pub mod method;
pub mod scaled;
pub mod settings;
pub mod snapshot;
pub mod spectrum;
mod steering;
pub mod trajectory;
pub mod unilateral;

pub use acceleration::{Gap, Route, RouteName, Solution, route};
pub use conflict::{Conflict, conflict};
pub use consistency::{Projection, Residual, project, project_only};
pub use dependence::{Dependence, dependence};
pub use dynamics::{Asked, Dynamics, Given, Instant, Jacobian, Legendre, Reaction, State};
pub use error::MotionError;
pub use integrate::{
    Counts, Event, ForceParts, Inequality, Motion, ORDER_5, ORDER_8, Outcome, Passage, Plan, Saturation, Solver, Step,
    Stiffness, Struck, Tableau, TriedMode,
};
pub use matrix::Matrix;
pub use method::{Drift, Method};
pub use scaled::{Scaled, scaled};
pub use settings::Settings;
pub use snapshot::{Found, Geometry, Snapshot, geometry};
pub use spectrum::{Eigen, eigen};
pub use trajectory::Trajectory;
pub use unilateral::{
    Contact, Friction, MOST_NORMALS, ModeChange, NoPushes, Pushes, Roughness, Side, Tamed, Turn, complementarity,
};
