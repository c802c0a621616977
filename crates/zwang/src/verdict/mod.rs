//! What the constraints imply: kinds, dependence, contradiction, freedom.

pub mod classification;
pub mod contradiction;
pub mod dependence;
pub mod freedom;
pub mod integrability;

pub(crate) use classification::vanishes;
pub use classification::{Classification, Time, Velocity, classify};
pub use dependence::Redundant;
pub use integrability::{Integrability, Integral};
