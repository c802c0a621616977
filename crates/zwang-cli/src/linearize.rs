//! `zwang linearize`: equilibria and the motion near them.

use zwang::At;
use zwang_view::{linearize_json, linearize_table};
use zwang_workspace::{Body, Request};

use crate::arguments::OneModel;
use crate::inputs::OutputFiles;
use crate::source::ModelFile;
use crate::terminal::{Exit, print, print_json, report};
use crate::watch::ProgressBar;

/// Linearizes at a time of the motion if one is given, else at the start if it is a steady motion, else at every
/// equilibrium found.
pub fn linearize(model: &OneModel, at: Option<f64>) -> Exit {
    let mut file = ModelFile::open_one(model, OutputFiles::default())?;
    let mut bar = ProgressBar::new(file.spent());
    let answer = file.ask(&Request::Linearize(at.map(At::Time)), &mut bar);
    bar.finish();
    let Some(Body::Linearization(found)) = &answer.body else { return file.fail(&answer) };
    let system = file.system()?;
    if model.json {
        return print_json(&linearize_json(&answer.source, &answer.diagnostics, system.model(), &found.states));
    }
    report(&file.name, &answer.source, &answer.diagnostics);
    print(&linearize_table(&file.name, system.model(), found.at, &found.states))
}
