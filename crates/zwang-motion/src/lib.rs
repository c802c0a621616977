//! The acceleration of a constrained mechanical system.
//!
//! Given M, Q, A, b at a state, find the q̈ that is closest to the free motion among those the constraints allow:
//!
//! $$ \min_{\ddot q}\ (\ddot q - a)^T M (\ddot q - a) \quad\text{subject to}\quad A \ddot q = b, \qquad a = M^{-1} Q $$
#![allow(non_snake_case)]

pub mod acceleration;
pub mod consistency;
pub mod dependence;
pub mod dynamics;
pub mod error;
mod factor;
pub mod matrix;
pub mod settings;
pub mod snapshot;

pub use acceleration::{Gap, Route, RouteName, Solution, route};
pub use consistency::{Projection, Residual, project};
pub use dependence::{Dependence, dependence};
pub use dynamics::{Dynamics, Given, Legendre, State};
pub use error::MotionError;
pub use matrix::Matrix;
pub use settings::Settings;
pub use snapshot::{Found, Geometry, Snapshot, geometry};
