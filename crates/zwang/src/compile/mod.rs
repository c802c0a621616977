//! Compilation of equations to programs for evaluation, integration, events and outputs of a motion.

mod build;
mod contact_programs;
pub(crate) mod control_programs;
pub mod evaluator;
mod explicit;
pub(crate) mod motion_programs;
pub(crate) mod program;
mod row_selection;
mod sharp_programs;
mod whole_step;
