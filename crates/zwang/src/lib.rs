//! From a model text to explicit equations of motion.
//!
//! A model states coordinates, a Lagrangian L, forces F and constraints of any kind. The result is
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
//! [`load`] reads, derives and compiles a model; a [`System`] is cloned cheaply, shared between threads and run with other
//! parameters or another start. [`System::check`] analyses the constraints, [`System::run`] computes the motion, and
//! [`System::inspect`], [`System::linearize`] and [`System::inverse`] evaluate, linearize and invert the equations. An
//! [`Error`] prints itself.
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

pub mod analysis;
mod compile;
pub mod csv_table;
pub mod diagnostic;
pub mod equations;
mod error;
pub mod explain;
mod formulas;
mod inspect;
pub mod inverse;
mod limits;
pub mod linearize;
pub mod lower;
pub mod model;
pub mod quantity;
mod random;
mod run;
pub mod samples;
pub mod scene;
pub mod simulate;
mod span;
mod stack;
pub mod syntax;
mod system;
mod tolerance;
pub mod units;
pub mod visible;

pub use analysis::check::Check;
pub use compile::evaluator::Evaluator;
pub use compile::program::{Background, Jit, JitPolicy};
pub use error::{Error, ModelText};
pub use formulas::closed_form::{ClosedForm, Part, Projections, closed_form};
pub use formulas::equivalent::{Appell, Equality, Equivalent, equivalent};
pub use formulas::exported::{Exported, ExportedLaw, ExportedRow};
pub use formulas::legendre::{LegendreTransform, legendre_transform};
pub use inspect::{Inspection, RouteResult, inspect, scaled_accelerations, two_form};
pub use run::{Budget, Keep, Monitor, Progress, Resource, RunOptions, Stage};
pub use samples::{Column, Samples, ascii_name, unique_names};
pub use simulate::{Bound, End, Event, EventKind, Run};
pub use syntax::Overrides;
pub use syntax::name::latex as latex_name;
pub use system::{At, Derivation, LoadOptions, System, derive, load, load_with};
pub use zwang_motion::{Drift, Method, RouteName, Settings, State};
