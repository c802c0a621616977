//! What the constraints imply: kinds, dependence, contradiction, freedom.

pub mod clash;
pub mod classification;
pub mod contradiction;
pub mod dependence;
pub mod freedom;
pub mod hidden;
pub mod integrability;

pub use clash::{Clash, Contradiction, Surety};
pub(crate) use classification::vanishes;
pub use classification::{Classification, Time, Velocity, classify};
pub use dependence::Redundant;
