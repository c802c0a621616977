//! `zwang equations`: the equations of motion as text, as a document or as code.

use std::path::Path;

use zwang_view::FormulaLanguage;
use zwang_workspace::{Body, DocumentFormat, EquationsPart, Request};

use crate::arguments::{Format, ModelSource};
use crate::files::print_or_write;
use crate::inputs::OutputFiles;
use crate::source::{ModelFile, stem};
use crate::terminal::{Exit, report, usage};
use crate::watch::unwatched;

/// Prints or writes the equations of a model.
pub fn equations(model: &ModelSource, format: Option<Format>, lagrangian: bool, output: Option<&Path>) -> Exit {
    let format = Format::wanted(format, output).or_else(|message| usage(&message))?;
    if lagrangian && !matches!(format, Format::Text | Format::Latex) {
        return usage("with --lagrangian the format is text or latex");
    }
    let mut file = ModelFile::open(model, OutputFiles::new(output), false)?;
    // a module is called by the name of its file
    let name = match (output, format) {
        (Some(path), _) => stem(path),
        (None, Format::Sympy) => format!("{}_sympy", file.stem()),
        (None, _) => file.stem(),
    };
    let answer = file.ask(&Request::Equations(part(format, lagrangian, output.is_some(), name)), &mut unwatched);
    let Some(Body::Text(text)) = &answer.body else { return file.fail(&answer) };
    report(&file.name, &answer.source, &answer.diagnostics);
    print_or_write(text, output)
}

/// The part that is requested; LaTeX in a file is the whole derivation.
fn part(format: Format, lagrangian: bool, is_file: bool, name: String) -> EquationsPart {
    let code = |language| EquationsPart::Code { language, name };
    match format {
        Format::Text if lagrangian => EquationsPart::Lagrangian,
        Format::Latex if lagrangian => EquationsPart::LagrangianLatex,
        Format::Text => EquationsPart::Explicit,
        Format::Latex if !is_file => EquationsPart::ExplicitLatex,
        Format::Latex => EquationsPart::Derivation(DocumentFormat::Latex),
        Format::Html => EquationsPart::Derivation(DocumentFormat::Html),
        Format::Markdown => EquationsPart::Derivation(DocumentFormat::Markdown),
        Format::Rust => code(FormulaLanguage::Rust),
        Format::C => code(FormulaLanguage::C),
        Format::Numpy => code(FormulaLanguage::NumPy),
        Format::Sympy => code(FormulaLanguage::SymPy),
    }
}
