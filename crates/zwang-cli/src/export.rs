//! `zwang export`: the derived functions as source code.

use std::path::Path;

use zwang_view::Language;
use zwang_workspace::{Body, Request};

use crate::arguments::{CodeLanguage, ModelSource};
use crate::files::print_or_write;
use crate::inputs::OutputFiles;
use crate::source::ModelFile;
use crate::terminal::{Exit, report};
use crate::watch::unwatched;

/// Writes the function of a model; it is called as the file is.
pub fn export(model: &ModelSource, to: CodeLanguage, output: Option<&Path>) -> Exit {
    let mut file = ModelFile::open(model, OutputFiles::new(output), false)?;
    let language = match to {
        CodeLanguage::C => Language::C,
        CodeLanguage::Rust => Language::Rust,
        CodeLanguage::Python => Language::Python,
    };
    let answer = file.ask(&Request::Export { language, name: file.stem() }, &mut unwatched);
    let Some(Body::Text(code)) = &answer.body else { return file.fail(&answer) };
    report(&file.name, &answer.source, &answer.diagnostics);
    print_or_write(code, output)
}
