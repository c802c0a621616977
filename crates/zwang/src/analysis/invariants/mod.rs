//! Analyses of the Lagrangian: regularity, energy, momenta.

mod energy;
mod lagrangian;
mod momentum;

pub use energy::EnergyVerdict;
pub use lagrangian::{Degenerate, LagrangianSide, lagrangian_side};
pub use momentum::{Conserved, Cyclic};
