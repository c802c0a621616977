//! Diagnostics of the analyses: the start, dependent rows, failures.

pub(crate) mod dependence;
pub(crate) mod failure;
pub(crate) mod start;
