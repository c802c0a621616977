//! `zwang equations`: the equations of motion as text, as a document or as code.

use std::path::Path;
use std::sync::Arc;

use zwang::analysis::{Certainty, Contradiction};
use zwang::diagnostic::{Diagnostic, Diagnostics, Severity};
use zwang::equations::Equations;
use zwang::model::Model;
use zwang::{Check, Derivation};
use zwang_view::{
    Article, Block, DerivationContext, FormulaLanguage, article_html, article_latex, article_markdown, derivation,
    equations_code, geometry_of,
};

use crate::arguments::{Format, ModelSource};
use crate::files::write_text;
use crate::shell::{Exit, print, usage};
use crate::source::ModelFile;

/// Prints or writes the equations of a model.
pub fn equations(model: &ModelSource, format: Option<Format>, lagrangian: bool, output: Option<&Path>) -> Exit {
    let format = match Format::wanted(format, output) {
        Ok(format) => format,
        Err(message) => return usage(&message),
    };
    if lagrangian && !matches!(format, Format::Text | Format::Latex) {
        return usage("with --lagrangian the format is text or latex");
    }
    let file = ModelFile::open(model, false)?;
    let mut derived = file.derive().or_else(|error| file.fail(&error))?;
    derived.note_unsupported();
    let Derivation { source, mut equations, mut notes } = derived;
    let text = file.text_with_overrides(&source);
    let is_document =
        matches!(format, Format::Html | Format::Markdown) || matches!(format, Format::Latex) && output.is_some();
    let found = is_document.then(|| look(&file)).flatten();
    let left_out = may_clash(&equations.model).then(|| {
        let file = file.clone();
        std::thread::spawn(move || not_in_formulas(&file))
    });
    // a module is called by the name of its file
    let stem = match (output, format) {
        (Some(path), _) => stem(path),
        (None, Format::Sympy) => format!("{}_sympy", stem(Path::new(&file.file))),
        (None, _) => stem(Path::new(&file.file)),
    };
    let written = match (format, lagrangian) {
        (Format::Text, false) => zwang_view::equations_text(&mut equations),
        (Format::Text, true) => zwang_view::lagrangian_text(&mut equations),
        (Format::Latex, true) => zwang_view::lagrangian_latex(&mut equations),
        (Format::Latex, false) if output.is_none() => zwang_view::equations_latex(&mut equations),
        (Format::Latex, false) => article_latex(&article(&mut equations, &text, found.as_ref())),
        (Format::Html, _) => article_html(&article(&mut equations, &text, found.as_ref())),
        (Format::Markdown, _) => article_markdown(&article(&mut equations, &text, found.as_ref())),
        (Format::Rust, _) => equations_code(&mut equations, FormulaLanguage::Rust, &stem),
        (Format::C, _) => equations_code(&mut equations, FormulaLanguage::C, &stem),
        (Format::Numpy, _) => equations_code(&mut equations, FormulaLanguage::NumPy, &stem),
        (Format::Sympy, _) => equations_code(&mut equations, FormulaLanguage::SymPy, &stem),
    };
    notes.extend(left_out.and_then(|thread| thread.join().ok()).into_iter().flatten());
    if notes.has_errors() {
        return file.fail_with(&source, &notes);
    }
    file.report(&source, &notes);
    match output {
        None => print(&written),
        Some(path) => match write_text(path, &written) {
            Ok(()) => print(&format!("  wrote {}\n", path.display())),
            Err(message) => usage(&message),
        },
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The derivation alone as a document.
fn article(equations: &mut Equations, model_text: &str, found: Option<&CheckedModel>) -> Article {
    let told = DerivationContext {
        model_text,
        check: found.map(|found| &*found.check),
        at_start: found.is_some_and(|found| found.is_start),
        notes: found.map_or(&[][..], |found| &found.notes),
        geometry: found.filter(|found| found.is_start).and_then(|found| geometry_of(&found.check)),
    };
    let title = match equations.model.title.as_str() {
        "" => "Equations of motion".to_string(),
        title => title.to_string(),
    };
    let mut blocks = derivation(equations, &told);
    blocks.push(Block::Words(format!("Written by zwang {}.", env!("CARGO_PKG_VERSION"))));
    Article { title, blocks }
}

/// The check of a model at a state.
struct CheckedModel {
    check: Arc<Check>,
    notes: Vec<String>,
    /// True if the state is the start of the model, false for an arbitrary state.
    is_start: bool,
}

/// Checks the model at its start, or without a start at an arbitrary state; `None` if no such state exists.
fn look(file: &ModelFile) -> Option<CheckedModel> {
    let at_start = checked(file).map(|(check, notes)| CheckedModel { check, notes, is_start: true });
    at_start.or_else(|| {
        let (check, _) = checked(&file.somewhere()?)?;
        Some(CheckedModel { check, notes: Vec::new(), is_start: false })
    })
}

/// A check, and its messages beyond those of reading the text.
fn checked(file: &ModelFile) -> Option<(Arc<Check>, Vec<String>)> {
    let system = file.try_load().ok()?;
    let check = system.check().ok()?;
    let known: Vec<String> = notes(system.notes());
    let new = notes(&check.notes).into_iter().filter(|note| !known.contains(note)).collect();
    Some((check, new))
}

/// True if rows may conflict or controls may fail. One constraint rarely conflicts, and the check takes as long as its
/// formulas.
fn may_clash(model: &Model) -> bool {
    model.rows().len() > 1 || !model.controls.is_empty()
}

/// Problems that the formulas do not show: constraints in conflict, constraints that vanish or leave M singular, and
/// controls without authority. An error if the constraints can never be satisfied, else a warning.
fn not_in_formulas(file: &ModelFile) -> Vec<Diagnostic> {
    let Ok(system) = file.try_load() else { return Vec::new() };
    let checked = system.check_briefly();
    let diagnostics = match &checked {
        Ok(check) => &check.notes,
        Err(error) => match error.diagnostics() {
            Some(diagnostics) => diagnostics,
            None => return Vec::new(),
        },
    };
    let matters = |d: &&Diagnostic| d.contradiction.is_some() || matches!(d.code, "Z312" | "Z401" | "Z701" | "Z702");
    let mut found: Vec<Diagnostic> = diagnostics.iter().filter(matters).cloned().collect();
    let never = |c: &Contradiction| c.everywhere == Some(true) && c.surety == Certainty::Certain;
    for d in found.iter_mut().filter(|d| d.is_error() && !d.contradiction.as_deref().is_some_and(never)) {
        d.severity = Severity::Warning;
    }
    found
}

/// The messages about a model, as sentences of a document.
pub fn notes(diagnostics: &Diagnostics) -> Vec<String> {
    let told = |d: &&Diagnostic| !d.is_error();
    diagnostics.iter().filter(told).map(|d| format!("{} ({})", d.message, d.code)).collect()
}
