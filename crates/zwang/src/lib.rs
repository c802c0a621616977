//! From a model text to explicit equations of motion.
//!
//! A model states coordinates, a Lagrangian L, forces F and constraints of any kind. What follows is
//!
//! $$ M \ddot q = Q + A^T \lambda, \qquad A \ddot q = b, \qquad
//!    \ddot q = a + M^{-1/2}(A M^{-1/2})^+ (b - A a) $$
//!
//! with M = ∂²L/∂q̇∂q̇, Q = F + ∂L/∂q − (∂p/∂q)q̇ − ∂p/∂t and the constraints differentiated until they are linear in q̈.
//!
//! ```
#![doc = include_str!("../tests/example/pendulum.rs")]
//! ```
//!
//! [`read`] turns text into a [`model::Model`], [`equations::Equations::derive`] derives, [`check`] finds a consistent
//! start and says what the constraints imply there, [`inspect`] looks at it by every route.
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

mod check;
mod closed_form;
mod compiled;
mod control;
pub mod diagnostic;
pub mod equations;
mod equivalent;
pub mod explain;
mod explicit;
mod exported;
mod inspect;
pub mod inverse;
mod legendre;
pub mod linearize;
pub mod lower;
mod mode;
pub mod model;
mod moving;
mod one_sided;
mod printed;
pub mod quantity;
mod random;
pub mod samples;
pub mod scene;
pub mod sheet;
pub mod simulate;
pub mod start;
mod step;
mod switches;
pub mod syntax;
pub mod system;
pub mod units;
pub mod verdict;

pub use check::{Check, Reading, Wishes, check, later_notes, read, read_with};
pub use closed_form::{ClosedForm, Part, Projections, closed_form};
pub use compiled::Coding;
pub use equivalent::{Appell, Equality, Equivalent, equivalent};
pub use exported::{Exported, ExportedRow, repeating};
pub use inspect::{Inspection, RouteResult, inspect, scaled_accelerations, scaled_start, two_form};
pub use legendre::{LegendreTransform, legendre_transform};
pub use samples::{Column, Samples, ascii_name, unique_names};
pub use simulate::{Run, RunWishes, simulate};
pub use syntax::Overrides;
pub use syntax::name::latex as latex_name;
