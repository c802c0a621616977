//! One model text, many requests.
//!
//! A [`Workspace`] holds a text, the files that it names and the overrides of a caller, and answers requests with data. Results
//! that do not depend on a change are kept: other values of parameters need no derivation, and a second request for the same
//! check costs nothing. There is no clock, no thread and no file inside: a caller ends a request early by its
//! [`Monitor`](zwang::Monitor), and a [`Budget`](zwang::Budget) limits what is counted.
//!
//! ```
//! use zwang_workspace::{Body, Request, Workspace};
//!
//! let mut workspace = Workspace::new(zwang::Budget::default());
//! workspace.set_text("coordinates x\nparameter k = 4\nmass x: 1\nforce x: -k*x\nstart x = 1\nrun 1 s");
//! let answer = workspace.answer(&Request::Run(zwang::RunOptions::default()), &mut |_| std::ops::ControlFlow::Continue(()));
//! let Some(Body::Run(run)) = answer.body else { panic!("{:?}", answer.diagnostics) };
//! assert!((run.state().q[0] - 2f64.cos()).abs() < 1e-8);
//! ```

mod answer;
mod cache;
mod equations;
mod fix;
mod request;
mod workspace;

pub use answer::{Answer, AnswerEnd, Body};
pub use cache::FileMap;
pub use fix::AppliedFix;
pub use request::{DocumentFormat, EquationsPart, Request};
pub use workspace::{WEB_BUDGET, Workspace};
