//! Answers: data and diagnostics.

use std::sync::Arc;

use zwang::diagnostic::{Diagnostics, Fix};
use zwang::inverse::Inverse;
use zwang::linearize::Linearization;
use zwang::{Check, Error, Inspection, ModelText, Run};
use zwang_motion::Scaled;
use zwang_view::DriftComparison;

/// The answer to a request.
pub struct Answer {
    /// The hash of the text it is about, so that a caller can drop what comes late.
    pub text_hash: u64,
    /// How it ended.
    pub end: AnswerEnd,
    /// The text that the diagnostics point into, with overrides appended.
    pub source: Arc<ModelText>,
    /// All messages.
    pub diagnostics: Diagnostics,
    /// The data, or `None` after an error.
    pub body: Option<Body>,
    /// The reason why there is no body.
    pub error: Option<Error>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// In order, with or without a body.
    Done,
    /// By the monitor.
    Cancelled,
    /// Because its budget was spent.
    Budget,
}

/// The data of an answer.
#[non_exhaustive]
pub enum Body {
    /// Of [`Request::Check`](crate::Request::Check).
    Check(Arc<Check>),
    /// Of [`Request::Run`](crate::Request::Run).
    Run(Box<Run>),
    /// Of [`Request::CompareDrift`](crate::Request::CompareDrift); the first run is that with projection.
    Comparison(Vec<DriftComparison>),
    /// Of [`Request::Inspect`](crate::Request::Inspect).
    Inspection(Box<Inspection>),
    /// Of [`Request::ScaledStart`](crate::Request::ScaledStart).
    ScaledStart(Box<Scaled>),
    /// Of [`Request::Linearize`](crate::Request::Linearize).
    Linearization(Linearization),
    /// Of [`Request::Inverse`](crate::Request::Inverse).
    Inverse(Box<Inverse>),
    /// Equations, source code or a page.
    Text(String),
    /// Of [`Request::Fixes`](crate::Request::Fixes).
    Fixes(Vec<Fix>),
}
