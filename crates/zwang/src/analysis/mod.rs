//! Everything that is derived from a model without integrating it: constraints, invariants, control.

pub mod check;
pub mod constraints;
pub(crate) mod contact_mode;
pub mod control;
pub mod invariants;
pub(crate) mod messages;
pub mod start;

pub use crate::diagnostic::{Certainty, ConflictingRow, Contradiction};
pub use constraints::classification::{Classification, Time, Velocity, classify};
pub use constraints::dependence::{Dependencies, Evidence, Necessity, Redundant};
pub use constraints::determinacy::{Determinacy, Family, Quantity};
pub use constraints::freedom::{Freedom, Mobility};
pub use constraints::integrability::{Integrability, IntegrabilityEvidence, Integral};
pub use invariants::{Conserved, Cyclic, Degenerate, EnergyVerdict, LagrangianSide, lagrangian_side};

/// The scalar product.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
