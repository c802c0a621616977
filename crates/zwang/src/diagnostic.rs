//! Messages to the user about the text: the fact, its place, and the cure.

use crate::units::Dimension;
use crate::{limits, span::Span};

/// The severity of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A circumstance worth knowing; it is not a mistake.
    Note,
    /// Probably a mistake; the work continues.
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

/// One message: the fact, its place, its circumstances and its cure.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The code behind which `zwang explain` has a page, such as `Z101`.
    pub code: &'static str,
    /// Error, warning or note.
    pub severity: Severity,
    /// The fact: lower case, names in backticks, no full stop.
    pub message: String,
    /// The place in the text; `None` if the message concerns the model as a whole.
    pub span: Option<Span>,
    /// The label at that place.
    pub label: String,
    /// Other relevant places, each with its label.
    pub also: Vec<(Span, String)>,
    /// The circumstances.
    pub notes: Vec<String>,
    /// The cures, each something to type or do.
    pub help: Vec<String>,
    /// Edits of the text that cure it.
    pub fixes: Vec<Fix>,
    /// The conflicting constraints, if the message reports a contradiction.
    pub contradiction: Option<Box<Contradiction>>,
}

/// The highest derivative of the coordinates in a constraint row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Positions and time: φ(q, t) = 0.
    Position,
    /// Velocities: ψ(q, q̇, t) = 0.
    Velocity,
    /// Accelerations, linearly.
    Acceleration,
}

/// One row among conflicting rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictingRow {
    /// Index of the row in the equations.
    pub row: usize,
    /// Its name.
    pub name: String,
    /// The level at which it is stated.
    pub level: Level,
    /// The residual lhs − rhs, or its rate at this level, if the other rows are satisfied; in SI units. `None` if
    /// it has no value there or was not evaluated.
    pub residual: Option<f64>,
    /// The dimension of the residual, if the model states units.
    pub dimension: Option<Dimension>,
}

/// The certainty of a contradiction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Proved: a linear combination of the rows has no zero.
    Certain,
    /// Searched: no search from `n_starts` starts satisfied the rows, which is not a proof.
    Searched {
        /// The number of starts.
        n_starts: usize,
    },
}

/// Conflicting rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The level of the contradiction: no positions, no velocities at the given positions, or no accelerations at the
    /// given state satisfy the rows.
    pub level: Level,
    /// The rows; if `minimal`, the others can be satisfied without any one of them.
    pub clashes: Vec<ConflictingRow>,
    /// Time of the contradiction, in seconds.
    pub t: f64,
    /// True if the contradiction also exists at other times, positions or states; `None` if that is not known.
    pub everywhere: Option<bool>,
    /// A later time at which they agree.
    pub agrees_at: Option<f64>,
    /// The certainty of the contradiction.
    pub surety: Certainty,
    /// True if every row is necessary for the contradiction.
    pub minimal: bool,
    /// During a motion: a later time, and the residual of each row there.
    pub later: Option<(f64, Vec<f64>)>,
}

impl Contradiction {
    /// `positions`, `velocities` or `accelerations`.
    pub fn unknowns(&self) -> &'static str {
        match self.level {
            Level::Position => "positions",
            Level::Velocity => "velocities",
            Level::Acceleration => "accelerations",
        }
    }

    pub(crate) fn rows(&self) -> Vec<usize> {
        self.clashes.iter().map(|clash| clash.row).collect()
    }
}

/// Edits of the text that cure a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The effect of the edits, in a few words.
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// The confidence that the fix is what the user meant.
    pub confidence: Confidence,
}

/// A replacement of a part of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The part that is removed; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// The confidence that a fix is what the user meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The message has one cure: the model then passes this check, and `zwang check --fix` applies it.
    Safe,
    /// Possibly what was meant; it is only offered.
    Guess,
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
            fixes: Vec::new(),
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

    /// Sets the place of the message and the label there.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// Adds a second place with its label.
    pub fn and_at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.also.push((span, label.into()));
        self
    }

    /// Adds a cure.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// Adds the name that was probably meant.
    pub(crate) fn did_you_mean(self, near: &str) -> Diagnostic {
        let span = self.span;
        let d = self.help(format!("did you mean `{near}`?"));
        match span {
            Some(span) => d.guessed(format!("write `{near}`"), span, near),
            None => d,
        }
    }

    /// Adds a cure that replaces the text at the place of the message.
    pub(crate) fn cured_by(self, help: impl Into<String>, text: impl Into<String>) -> Diagnostic {
        let (help, span) = (help.into(), self.span);
        let d = self.help(help.clone());
        match span {
            Some(span) => d.cure(help, span, text),
            None => d,
        }
    }

    /// Adds the edit that cures the message.
    pub(crate) fn cure(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        let edits = vec![Edit { span, text: text.into() }];
        self.fixes.push(Fix { title: title.into(), edits, confidence: Confidence::Safe });
        self
    }

    /// Adds an edit that may cure the message.
    pub(crate) fn guessed(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        let edits = vec![Edit { span, text: text.into() }];
        self.fixes.push(Fix { title: title.into(), edits, confidence: Confidence::Guess });
        self
    }

    /// Adds a circumstance.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Shortens texts that quote more than 400 characters.
    fn shorten(&mut self) {
        let cut = |text: &mut String| {
            if let Some((end, _)) = text.char_indices().nth(limits::TEXT) {
                text.truncate(end);
                text.push('…');
            }
        };
        cut(&mut self.message);
        cut(&mut self.label);
        self.also.iter_mut().for_each(|(_, label)| cut(label));
        self.help.iter_mut().for_each(cut);
    }

    /// True if the message is an error, so that the model cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The messages of one reading, in the order they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    n_more_errors: usize,
}

impl Diagnostics {
    /// Adds a message; beyond the first hundred only the number of errors is kept.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.kept.len() < limits::MESSAGES {
            diagnostic.shorten();
            if !self.kept.contains(&diagnostic) {
                self.kept.push(diagnostic);
            }
        } else if diagnostic.is_error() {
            self.n_more_errors += 1;
        }
    }

    /// Adds several messages.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// True if no more messages are kept, so that a search for cures would be wasted.
    pub fn is_full(&self) -> bool {
        self.kept.len() >= limits::MESSAGES
    }

    /// True if a message is an error.
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

/// The text with every safe fix applied; `None` without safe fixes. If two edits overlap, the first one applies.
pub fn fixed<'a>(text: &str, diagnostics: impl Iterator<Item = &'a Diagnostic>) -> Option<String> {
    let fixes = diagnostics.flat_map(|d| &d.fixes).filter(|fix| fix.confidence == Confidence::Safe);
    let is_inside = |edit: &&Edit| edit.span.end <= text.len();
    let mut edits: Vec<&Edit> = fixes.flat_map(|fix| &fix.edits).filter(is_inside).collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in &edits {
        if edit.span.start >= at {
            out.push_str(&text[at..edit.span.start]);
            out.push_str(&edit.text);
            at = edit.span.end;
        }
    }
    out.push_str(&text[at..]);
    (!edits.is_empty()).then_some(out)
}
