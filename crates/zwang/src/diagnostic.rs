//! What is said to the user about the text: the fact, where it stands, and the cure.

use crate::syntax::Span;
use crate::verdict::Contradiction;

/// How much a message matters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A circumstance worth knowing; nothing is wrong.
    Note,
    /// Probably not what was meant; the work goes on.
    Warning,
    /// The model cannot be used as it is.
    Error,
}

impl Severity {
    /// The word shown to the user.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One message: the fact, its place, what surrounds it and what to type instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The code behind which `zwang explain` has a page, such as `Z101`.
    pub code: &'static str,
    /// Error, warning or note.
    pub severity: Severity,
    /// The fact: lower case, names in backticks, no full stop.
    pub message: String,
    /// The place it is about; none if it is about the model as a whole.
    pub span: Option<Span>,
    /// What is said at that place.
    pub label: String,
    /// Other places that matter, each with what is said there.
    pub also: Vec<(Span, String)>,
    /// The circumstances.
    pub notes: Vec<String>,
    /// The cures, each something to type or do.
    pub help: Vec<String>,
    /// Constraints that cannot hold together, where it is about that.
    pub contradiction: Option<Box<Contradiction>>,
}

impl Diagnostic {
    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            span: None,
            label: String::new(),
            also: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            contradiction: None,
        }
    }

    /// An error with its code and fact.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    /// A warning with its code and fact.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// A note with its code and fact.
    pub fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Note, message)
    }

    /// The same message at a place, with what is said there.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// The same message with a second place.
    pub fn and_at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.also.push((span, label.into()));
        self
    }

    /// The same message with a cure.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// The same message with a circumstance.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Cuts texts that quote more of the user's than anybody would read.
    fn shorten(&mut self) {
        let cut = |text: &mut String| {
            if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
                text.truncate(end);
                text.push('…');
            }
        };
        cut(&mut self.message);
        cut(&mut self.label);
        self.also.iter_mut().for_each(|(_, label)| cut(label));
        self.help.iter_mut().for_each(cut);
    }

    /// Whether this makes the model unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Characters of one text in a message.
const LONGEST_TEXT: usize = 400;

/// How many messages are kept; a garbled file should not bury its first mistake.
const MOST_KEPT: usize = 100;

/// The messages of one reading, in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    n_more_errors: usize,
}

impl Diagnostics {
    /// Adds a message; beyond the first hundred only the number of errors is kept.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.kept.len() < MOST_KEPT {
            diagnostic.shorten();
            if !self.kept.contains(&diagnostic) {
                self.kept.push(diagnostic);
            }
        } else if diagnostic.is_error() {
            self.n_more_errors += 1;
        }
    }

    /// Adds several.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// Whether no room is left, so that finding help for further mistakes would be wasted work.
    pub fn is_full(&self) -> bool {
        self.kept.len() >= MOST_KEPT
    }

    /// Whether any message is an error.
    pub fn has_errors(&self) -> bool {
        self.n_more_errors > 0 || self.kept.iter().any(Diagnostic::is_error)
    }

    /// The messages kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// Errors that were counted but not kept.
    pub fn n_more_errors(&self) -> usize {
        self.n_more_errors
    }
}
