//! `zwang export`: the derived functions as source code.

use std::path::Path;

use zwang::diagnostic::{Diagnostic, Diagnostics, Severity};
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
    let rows = match rows_left_out(&source) {
        Ok(rows) => rows,
        Err(diagnostics) => {
            diagnostics.into_iter().for_each(|d| source.diagnostics.push(d));
            return source.fail(false);
        }
    };
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

/// The rows that repeat others, as far as the start tells, or where there is none a state somewhere; all rows are taken if no
/// state is found. What is out of reach has no force that could be written.
fn rows_left_out(source: &Source) -> Result<Vec<String>, Vec<Diagnostic>> {
    match rows_of(source.again())? {
        Some(rows) => Ok(rows),
        None => Ok(source.somewhere().map(rows_of).transpose()?.flatten().unwrap_or_default()),
    }
}

/// The same at the start of a model; none if it has no start.
fn rows_of(mut source: Source) -> Result<Option<Vec<String>>, Vec<Diagnostic>> {
    let Some(stated) = source.reading.model.take() else { return Ok(None) };
    let mut diagnostics = Diagnostics::default();
    let checked = zwang::check(stated, &Wishes::default(), &mut diagnostics);
    let is_about_control = |d: &&Diagnostic| d.is_error() && d.code.starts_with("Z70");
    let mut refused: Vec<Diagnostic> = diagnostics.iter().filter(is_about_control).cloned().collect();
    refused.extend(diagnostics.iter().find(|d| d.code == "Z707").map(asked_twice));
    match refused.is_empty() {
        true => Ok(checked.as_ref().map(repeating)),
        false => Err(refused),
    }
}

/// Z705: of wishes that repeat each other, or what a constraint holds, a small linear system does not tell the shares.
fn asked_twice(note: &Diagnostic) -> Diagnostic {
    let d = Diagnostic::error("Z705", "the force of controls that ask for one thing twice cannot be written");
    let d = match note.span {
        Some(span) => d.at(span, "asks for nothing new"),
        None => d,
    };
    d.with_note(note.message.clone()).help("leave the control, or the component, out that asks for nothing new")
}
