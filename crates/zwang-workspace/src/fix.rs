//! Safe fixes of the errors of a text.

use zwang::Error;
use zwang::diagnostic::{Confidence, fixed};
use zwang::syntax::line_and_column;

/// Largest number of rounds of fixes; one may uncover another message.
pub(crate) const MOST_ROUNDS: usize = 20;

/// A fix that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedFix {
    /// Line of the message, from 1; 0 if it concerns the model as a whole.
    pub line: usize,
    /// The effect of the edits.
    pub title: String,
    /// The code of the message.
    pub code: &'static str,
}

/// The text with the safe fixes of its errors applied, and these; `None` if no error has one.
pub(crate) fn fixed_text(text: &str, error: &Error) -> Option<(String, Vec<AppliedFix>)> {
    let Error::Model { source, diagnostics } = error else { return None };
    let text = fixed(text, diagnostics.iter())?;
    let mut applied = Vec::new();
    for d in diagnostics.iter() {
        let line = d.span.map_or(0, |span| line_and_column(&source.text, span.start).0);
        let safe = d.fixes.iter().filter(|fix| fix.confidence == Confidence::Safe);
        applied.extend(safe.map(|fix| AppliedFix { line, title: fix.title.clone(), code: d.code }));
    }
    Some((text, applied))
}
