//! The equations as text, with the messages that the formulas alone do not show.

use std::sync::Arc;

use zwang::analysis::{Certainty, Contradiction};
use zwang::diagnostic::{Diagnostic, Severity};
use zwang::model::Model;
use zwang::{Check, Derivation, Error, System};
use zwang_view::{
    Article, DerivationContext, article_html, article_latex, article_markdown, derivation_article, equations_code,
    equations_latex, equations_text, geometry_of, lagrangian_latex, lagrangian_text, note_sentences,
};

use crate::request::{DocumentFormat, EquationsPart};

/// A part of the equations; `text` is the model as a document shows it, and `system` fails where a quantity has no value.
pub(crate) fn written(
    derivation: &mut Derivation,
    part: &EquationsPart,
    text: &str,
    system: &Result<System, Error>,
) -> String {
    let equations = &mut derivation.equations;
    match part {
        EquationsPart::Explicit => equations_text(equations),
        EquationsPart::ExplicitLatex => equations_latex(equations),
        EquationsPart::Lagrangian => lagrangian_text(equations),
        EquationsPart::LagrangianLatex => lagrangian_latex(equations),
        EquationsPart::Code { language, name } => equations_code(equations, *language, name),
        EquationsPart::Derivation(format) => {
            let article = article(derivation, text, system.as_ref().ok());
            match format {
                DocumentFormat::Html => article_html(&article),
                DocumentFormat::Latex => article_latex(&article),
                DocumentFormat::Markdown => article_markdown(&article),
            }
        }
    }
}

fn article(derivation: &mut Derivation, model_text: &str, system: Option<&System>) -> Article {
    let checked = system.and_then(checked);
    let checked = checked.as_ref();
    let context = DerivationContext {
        model_text,
        check: checked.map(|checked| &*checked.check),
        at_start: checked.is_some_and(|checked| checked.is_start),
        notes: checked.map_or(&[][..], |checked| &checked.notes),
        geometry: checked.filter(|checked| checked.is_start).and_then(|checked| geometry_of(&checked.check)),
    };
    derivation_article(&mut derivation.equations, &context)
}

/// The check of a model at a state.
struct CheckedModel {
    check: Arc<Check>,
    notes: Vec<String>,
    /// True if the state is the start of the model, false for an arbitrary state.
    is_start: bool,
}

/// Checks the model at its start, or without a start at an arbitrary state; `None` if no such state exists.
fn checked(system: &System) -> Option<CheckedModel> {
    if let Ok(check) = system.check() {
        let known = note_sentences(system.notes());
        let notes = note_sentences(&check.notes).into_iter().filter(|note| !known.contains(note)).collect();
        return Some(CheckedModel { check, notes, is_start: true });
    }
    let check = system.generic_start().check().ok()?;
    Some(CheckedModel { check, notes: Vec::new(), is_start: false })
}

/// True if rows may conflict or controls may fail. One constraint rarely conflicts, and the check takes as long as its
/// formulas.
pub(crate) fn may_conflict(model: &Model) -> bool {
    model.rows().len() > 1 || !model.controls.is_empty()
}

/// Problems that the formulas do not show: constraints in conflict, constraints that vanish or leave M singular, and
/// controls without authority. An error if the constraints can never be satisfied, else a warning.
pub(crate) fn not_in_formulas(system: &System) -> Vec<Diagnostic> {
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
