//! What the constraints imply: kinds, dependence, determinacy, contradiction, freedom.

pub mod classification;
pub mod contradiction;
pub mod control;
pub mod dependence;
pub mod determinacy;
mod energy;
pub mod failure;
pub mod freedom;
pub mod hidden;
pub mod integrability;
mod lagrangian;
mod momentum;
mod rigidity;

pub use classification::{Classification, Time, Velocity, classify};
pub(crate) use classification::{samples, vanishes};
pub use contradiction::{Clash, Contradiction, Surety};
pub use dependence::{Dependencies, Evidence, Necessity, Redundant};
pub use determinacy::{Determinacy, Family, Quantity};
pub use energy::EnergyVerdict;
pub use freedom::{Freedom, Mobility};
pub use integrability::{Integrability, Integral};
pub use lagrangian::{Degenerate, LagrangianSide, lagrangian_side};
pub use momentum::{Conserved, Cyclic};

/// Coordinates beyond which other states are not tried, to keep `check` a blink.
pub(crate) const MOST_COORDINATES: usize = 400;

/// The scalar product.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
