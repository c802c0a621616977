//! Analyses of the constraints: kinds, dependence, determinacy, contradiction, freedom.

pub mod classification;
pub mod contradiction;
pub mod dependence;
pub mod determinacy;
pub(crate) mod exclusion;
pub mod freedom;
pub mod hidden;
pub mod integrability;
mod rigidity;
