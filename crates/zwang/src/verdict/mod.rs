//! What the constraints imply: kinds, dependence, determinacy, contradiction, freedom.

pub mod classification;
pub mod contradiction;
pub mod dependence;
pub mod determinacy;
pub mod freedom;
pub mod integrability;
mod polynomial;

pub(crate) use classification::vanishes;
pub use classification::{Classification, Time, Velocity, classify};
pub use dependence::{Dependencies, Evidence, Necessity, Redundant};
pub use determinacy::{Determinacy, Family, Quantity};
pub use freedom::{Freedom, Mobility};
