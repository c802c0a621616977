//! From a model text to explicit equations of motion.
#![allow(clippy::needless_range_loop)]

mod check;
mod closed_form;
pub mod diagnostic;
pub mod equations;
pub mod explain;
mod inspect;
pub mod lower;
pub mod model;
pub mod quantity;
pub mod start;
pub mod syntax;
pub mod system;
pub mod units;
pub mod verdict;

pub use check::{Check, Reading, Wishes, check, later_notes, read};
pub use closed_form::{ClosedForm, closed_form};
pub use inspect::{Inspection, RouteResult, inspect};
pub use syntax::Overrides;
