//! What the constraints imply: kinds, dependence, contradiction, freedom.

pub mod clash;
pub mod classification;
pub mod contradiction;
pub mod dependence;
mod energy;
pub mod freedom;
pub mod hidden;
pub mod integrability;
mod lagrangian;
mod momentum;

pub use clash::{Clash, Contradiction, Surety};
pub(crate) use classification::vanishes;
pub use classification::{Classification, Time, Velocity, classify};
pub use dependence::Redundant;
pub use energy::EnergyVerdict;
pub use integrability::{Integrability, Integral};
pub use lagrangian::{Degenerate, LagrangianSide, lagrangian_side};
pub use momentum::{Conserved, Cyclic};
