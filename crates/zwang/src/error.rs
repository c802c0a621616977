//! Errors: the reasons why a request could not be answered.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::line_and_column;

/// The text of a model, with what a caller has changed written behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelText {
    /// The text, with the overrides appended, so that messages can point into them.
    pub text: String,
    /// How much of `text` is the user's file.
    pub file_length: usize,
}

impl ModelText {
    /// The text as the user wrote it.
    pub fn own(&self) -> &str {
        &self.text[..self.file_length]
    }
}

/// The reason why a request could not be answered. Prints itself, with the line of the text that it is about.
#[derive(Clone, PartialEq)]
pub enum Error {
    /// The model has errors; the messages say which, and may also hold notes and warnings.
    Model {
        /// The text they point into.
        source: Arc<ModelText>,
        /// All that is known.
        diagnostics: Diagnostics,
    },
    /// The motion ended before the requested time.
    Ended {
        /// The text that the messages point into.
        source: Arc<ModelText>,
        /// All diagnostics, including the reason for the end.
        diagnostics: Diagnostics,
        /// When it ended.
        t: f64,
    },
    /// Nothing has this name.
    UnknownName {
        /// As requested.
        name: String,
        /// The name that was perhaps meant.
        nearest: Option<String>,
    },
    /// The request needs more than its budget, which was counted before anything was spent.
    Budget {
        /// What is counted.
        what: &'static str,
        /// How much is needed.
        needed: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// The request is not possible.
    Request(String),
}

impl Error {
    /// The messages; empty unless the model is at fault.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Error::Model { diagnostics, .. } | Error::Ended { diagnostics, .. } => Some(diagnostics),
            _ => None,
        }
    }

    /// That nothing has this name, with the nearest of those that exist.
    pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let known: Vec<String> = known.map(str::to_string).collect();
        let nearest = crate::syntax::name::nearest(name, known.iter().map(String::as_str)).map(str::to_string);
        Error::UnknownName { name: name.to_string(), nearest }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Model { source, diagnostics } => {
                let errors: Vec<String> =
                    diagnostics.iter().filter(|d| d.is_error()).map(|d| described(&source.text, d)).collect();
                write!(f, "{}", errors.join("\n"))
            }
            Error::Ended { t, .. } => write!(f, "the motion ended at t = {}", crate::quantity::number(*t)),
            Error::UnknownName { name, nearest: Some(nearest) } => {
                write!(f, "there is no `{name}`; did you mean `{nearest}`?")
            }
            Error::UnknownName { name, nearest: None } => write!(f, "there is no `{name}`"),
            // counted while they are made: how many more there would be is not known
            Error::Budget { what, needed, allowed } if *needed == allowed.saturating_add(1) => {
                write!(f, "more than {allowed} {what} are needed, {allowed} allowed; raise the budget or ask for less")
            }
            Error::Budget { what, needed, allowed } => {
                write!(f, "{needed} {what} are needed and {allowed} allowed; raise the budget or ask for less")
            }
            Error::Request(message) => write!(f, "{message}"),
        }
    }
}

/// As it prints itself, so that a program that ends with it shows the message.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {}

/// A message with its line, in plain text.
fn described(text: &str, d: &Diagnostic) -> String {
    let mut lines = vec![format!("{}[{}]: {}", d.severity.as_str(), d.code, d.message)];
    if let Some(span) = d.span {
        let (line, column) = line_and_column(text, span.start);
        let shown = text.lines().nth(line - 1).unwrap_or_default().trim_end();
        lines.push(format!("  line {line}, column {column}:  {shown}"));
    }
    lines.extend(d.notes.iter().map(|note| format!("  note: {note}")));
    lines.extend(d.help.iter().map(|help| format!("  help: {help}")));
    lines.join("\n")
}
