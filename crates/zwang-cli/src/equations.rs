//! `zwang equations`: the equations of motion as text, as a document or as code.

use std::path::Path;

use zwang::diagnostic::{Diagnostic, Diagnostics, Severity};
use zwang::equations::Equations;
use zwang::model::Model;
use zwang::verdict::{Contradiction, Surety};
use zwang::{Check, Wishes};
use zwang_view::{
    Article, Block, FormulaLanguage, Told, article_html, article_latex, article_markdown, derivation, equations_code,
    geometry_of,
};

use crate::arguments::{Format, ModelSource};
use crate::files::write_text;
use crate::shell::{Exit, print, usage};
use crate::source::Source;

/// Prints or writes the equations of a model.
pub fn equations(model: &ModelSource, format: Option<Format>, lagrangian: bool, output: Option<&Path>) -> Exit {
    let format = match Format::wanted(format, output) {
        Ok(format) => format,
        Err(message) => return usage(&message),
    };
    if lagrangian && !matches!(format, Format::Text | Format::Latex) {
        return usage("with --lagrangian the format is text or latex");
    }
    let mut source = Source::open(model, false)?;
    let told = source.told_text();
    let is_document =
        matches!(format, Format::Html | Format::Markdown) || matches!(format, Format::Latex) && output.is_some();
    let found = is_document.then(|| look(&source)).flatten();
    let Some(stated) = source.reading.model.take() else { return source.fail(false) };
    let untold = may_clash(&stated).then(|| source.aside(untold));
    zwang::later_notes(&stated, Severity::Note, &mut source.diagnostics);
    let mut equations = Equations::derive(stated);
    // a module is called by the name of its file
    let stem = match (output, format) {
        (Some(path), _) => stem(path),
        (None, Format::Sympy) => format!("{}_sympy", stem(Path::new(&source.file))),
        (None, _) => stem(Path::new(&source.file)),
    };
    let text = match (format, lagrangian) {
        (Format::Text, false) => zwang_view::equations_text(&mut equations),
        (Format::Text, true) => zwang_view::lagrangian_text(&mut equations),
        (Format::Latex, true) => zwang_view::lagrangian_latex(&mut equations),
        (Format::Latex, false) if output.is_none() => zwang_view::equations_latex(&mut equations),
        (Format::Latex, false) => article_latex(&article(&mut equations, &told, found.as_ref())),
        (Format::Html, _) => article_html(&article(&mut equations, &told, found.as_ref())),
        (Format::Markdown, _) => article_markdown(&article(&mut equations, &told, found.as_ref())),
        (Format::Rust, _) => equations_code(&mut equations, FormulaLanguage::Rust, &stem),
        (Format::C, _) => equations_code(&mut equations, FormulaLanguage::C, &stem),
        (Format::Numpy, _) => equations_code(&mut equations, FormulaLanguage::NumPy, &stem),
        (Format::Sympy, _) => equations_code(&mut equations, FormulaLanguage::SymPy, &stem),
    };
    source.diagnostics.extend(untold.and_then(|thread| thread.join().ok()).into_iter().flatten());
    if source.diagnostics.has_errors() {
        return source.fail(false);
    }
    source.say();
    match output {
        None => print(&text),
        Some(path) => match write_text(path, &text) {
            Ok(()) => print(&format!("  wrote {}\n", path.display())),
            Err(message) => usage(&message),
        },
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The derivation alone as a document.
fn article(equations: &mut Equations, model_text: &str, found: Option<&Found>) -> Article {
    let told = Told {
        model_text,
        check: found.map(|found| &found.check),
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

/// What is known about a model at a state.
struct Found {
    check: Check,
    notes: Vec<String>,
    /// Whether that is the start of the model, and not just some state.
    is_start: bool,
}

/// Looks at the start of the model, or where it has none at a state somewhere; none where there is no such state.
fn look(source: &Source) -> Option<Found> {
    let at_start = checked(source.again()).map(|(check, notes)| Found { check, notes, is_start: true });
    at_start.or_else(|| {
        let (check, _) = checked(source.somewhere()?)?;
        Some(Found { check, notes: Vec::new(), is_start: false })
    })
}

fn checked(mut source: Source) -> Option<(Check, Vec<String>)> {
    let stated = source.reading.model.take()?;
    let mut diagnostics = Diagnostics::default();
    let check = zwang::check(stated, &Wishes::default(), &mut diagnostics)?;
    Some((check, notes(&diagnostics)))
}

/// Whether rows may clash, or controls fail: one constraint rarely does, and to look takes as long as its formulas.
fn may_clash(model: &Model) -> bool {
    model.rows().len() > 1 || !model.controls.is_empty()
}

/// What formulas do not tell: constraints that cannot hold together, that vanish or leave M singular, and controls that cannot
/// act. An error if the constraints never hold, else a warning.
fn untold(mut source: Source) -> Vec<Diagnostic> {
    let Some(stated) = source.reading.model.take() else { return Vec::new() };
    let mut diagnostics = Diagnostics::default();
    zwang::check(stated, &Wishes { brief: true, ..Wishes::default() }, &mut diagnostics);
    let matters = |d: &&Diagnostic| d.contradiction.is_some() || matches!(d.code, "Z312" | "Z401" | "Z701" | "Z702");
    let mut untold: Vec<Diagnostic> = diagnostics.iter().filter(matters).cloned().collect();
    let never = |c: &Contradiction| c.everywhere == Some(true) && c.surety == Surety::Certain;
    for d in untold.iter_mut().filter(|d| d.is_error() && !d.contradiction.as_deref().is_some_and(never)) {
        d.severity = Severity::Warning;
    }
    untold
}

/// What was said about a model, as sentences of a document.
pub fn notes(diagnostics: &Diagnostics) -> Vec<String> {
    let told = |d: &&Diagnostic| !d.is_error();
    diagnostics.iter().filter(told).map(|d| format!("{} ({})", d.message, d.code)).collect()
}
