//! `zwang export`: the derived functions as source code.

use std::path::Path;

use zwang::diagnostic::{Diagnostics, Severity};
use zwang::equations::Equations;
use zwang::{Exported, Wishes, repeating};
use zwang_view::{Language, code};

use crate::arguments::{CodeLanguage, ModelSource};
use crate::files::write_text;
use crate::shell::{Exit, print, usage};
use crate::source::Source;

/// Writes the function of a model.
pub fn export(model: &ModelSource, to: CodeLanguage, output: Option<&Path>) -> Exit {
    let mut source = Source::open(model, false)?;
    let rows = rows_left_out(&source);
    let Some(stated) = source.reading.model.take() else { return source.fail(false) };
    if stated.later.iter().any(|later| later.changes_motion) {
        zwang::later_notes(&stated, Severity::Error, &mut source.diagnostics);
        return source.fail(false);
    }
    let exported = match Exported::new(&mut Equations::derive(stated), &rows) {
        Ok(exported) => exported,
        Err(diagnostic) => {
            source.diagnostics.push(*diagnostic);
            return source.fail(false);
        }
    };
    source.say();
    let language = match to {
        CodeLanguage::C => Language::C,
        CodeLanguage::Rust => Language::Rust,
        CodeLanguage::Python => Language::Python,
    };
    let stem = Path::new(&source.file).file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    let text = code(&exported, language, &stem);
    match output {
        None => print(&text),
        Some(path) => match write_text(path, &text) {
            Ok(()) => print(&format!("  wrote {}\n", path.display())),
            Err(message) => usage(&message),
        },
    }
}

/// The rows that repeat others, as far as a start tells; without one all rows are taken.
fn rows_left_out(source: &Source) -> Vec<String> {
    let Some(stated) = source.again().reading.model.take() else { return Vec::new() };
    let checked = zwang::check(stated, &Wishes::default(), &mut Diagnostics::default());
    checked.as_ref().map_or(Vec::new(), repeating)
}
