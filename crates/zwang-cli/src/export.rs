//! `zwang export`: the derived functions as source code.

use std::path::Path;

use zwang::diagnostic::Diagnostic;
use zwang::repeating;
use zwang_view::{Language, code};

use crate::arguments::{CodeLanguage, ModelSource};
use crate::files::write_text;
use crate::shell::{Exit, print, usage};
use crate::source::ModelFile;

/// Writes the function of a model.
pub fn export(model: &ModelSource, to: CodeLanguage, output: Option<&Path>) -> Exit {
    let file = ModelFile::open(model, false)?;
    let mut derived = file.derive().or_else(|error| file.fail(&error))?;
    match rows_left_out(&file) {
        Ok(rows) => {
            let exported = derived.exported(&rows).or_else(|error| file.fail(&error))?;
            file.report(&derived.source, &derived.notes);
            write(&code(&exported, language(to), &stem(&file)), output)
        }
        Err(diagnostics) => {
            derived.notes.extend(diagnostics);
            file.fail_with(&derived.source, &derived.notes)
        }
    }
}

fn language(to: CodeLanguage) -> Language {
    match to {
        CodeLanguage::C => Language::C,
        CodeLanguage::Rust => Language::Rust,
        CodeLanguage::Python => Language::Python,
    }
}

/// The name of the exported function: that of its file.
fn stem(file: &ModelFile) -> String {
    Path::new(&file.file).file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned())
}

fn write(text: &str, output: Option<&Path>) -> Exit {
    match output {
        None => print(text),
        Some(path) => match write_text(path, text) {
            Ok(()) => print(&format!("  wrote {}\n", path.display())),
            Err(message) => usage(&message),
        },
    }
}

/// The redundant rows at the start, or without a start at an arbitrary state; empty if no state is found. Fails for
/// unreachable control targets, which no force satisfies.
fn rows_left_out(source: &ModelFile) -> Result<Vec<String>, Vec<Diagnostic>> {
    match rows_of(source)? {
        Some(rows) => Ok(rows),
        None => Ok(source.somewhere().as_ref().map(rows_of).transpose()?.flatten().unwrap_or_default()),
    }
}

/// The redundant rows at the start of a model; `None` if it has no start.
fn rows_of(source: &ModelFile) -> Result<Option<Vec<String>>, Vec<Diagnostic>> {
    let checked = source.try_load().and_then(|system| system.check());
    let diagnostics = match &checked {
        Ok(check) => &check.notes,
        Err(error) => match error.diagnostics() {
            Some(diagnostics) => diagnostics,
            None => return Ok(None),
        },
    };
    let is_about_control = |d: &&Diagnostic| d.is_error() && d.code.starts_with("Z70");
    let mut refused: Vec<Diagnostic> = diagnostics.iter().filter(is_about_control).cloned().collect();
    refused.extend(diagnostics.iter().find(|d| d.code == "Z707").map(asked_twice));
    match refused.is_empty() {
        true => Ok(checked.ok().as_deref().map(repeating)),
        false => Err(refused),
    }
}

/// Z705: a small linear system does not determine the shares of redundant control rows, or of control rows that a
/// constraint already satisfies.
fn asked_twice(note: &Diagnostic) -> Diagnostic {
    let d = Diagnostic::error("Z705", "the force of controls that ask for one thing twice cannot be written");
    let d = match note.span {
        Some(span) => d.at(span, "asks for nothing new"),
        None => d,
    };
    d.with_note(note.message.clone()).help("leave the control, or the component, out that asks for nothing new")
}
