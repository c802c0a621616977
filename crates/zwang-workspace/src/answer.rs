//! What is answered.

use std::sync::Arc;

use zwang::diagnostic::{Diagnostics, Fix};
use zwang::inverse::Inverse;
use zwang::linearize::Linearization;
use zwang::{Check, Inspection, ModelText, Run};

/// The answer to a request.
pub struct Answer {
    /// The hash of the text it is about, so that a caller can drop what comes late.
    pub text_hash: u64,
    /// How it ended.
    pub end: AnswerEnd,
    /// The text that the messages point into, with overrides behind it.
    pub source: Arc<ModelText>,
    /// All that was said.
    pub diagnostics: Diagnostics,
    /// What the request itself got wrong, if it did.
    pub refusal: Option<String>,
    /// The data; none if there is no answer.
    pub body: Option<Body>,
}

/// How a request ended.
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
    /// Of [`Request::Inspect`](crate::Request::Inspect).
    Inspection(Box<Inspection>),
    /// Of [`Request::Linearize`](crate::Request::Linearize).
    Linearization(Linearization),
    /// Of [`Request::Inverse`](crate::Request::Inverse).
    Inverse(Box<Inverse>),
    /// Equations, source code or a page.
    Text(String),
    /// Of [`Request::Fixes`](crate::Request::Fixes).
    Fixes(Vec<Fix>),
}
