//! `zwang linearize`: equilibria and the motion near them.

use zwang::RunOptions;
use zwang_view::{linearize_json, linearize_table};

use crate::arguments::OneModel;
use crate::run::ending;
use crate::shell::{Exit, print, print_json};
use crate::source::ModelFile;
use crate::watch::ProgressBar;

/// Linearizes at a time of the motion if one is given, else at the start if it is a steady motion, else at every
/// equilibrium found.
pub fn run(model: &OneModel, at: Option<f64>) -> Exit {
    let file = ModelFile::open_one(model)?;
    let system = file.load()?;
    let mut bar = ProgressBar::new();
    let found = system.linearize_with(at, &RunOptions::default(), &mut bar);
    bar.finish();
    let found = found.or_else(|error| ending(&file, &error))?;
    if model.json {
        return print_json(&linearize_json(system.source(), &found.notes, system.model(), &found.states));
    }
    file.report(system.source(), &found.notes);
    print(&linearize_table(&file.file, system.model(), found.at, &found.states))
}
