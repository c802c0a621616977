//! `zwang inspect`: every quantity at a state, and the geometry of least constraint as a file.

use zwang::{At, Inspection, RunOptions};
use zwang_view::{GeometryNames, geometry_svg, inspect_json, inspect_table};
use zwang_workspace::{Body, Request};

use crate::arguments::OneModel;
use crate::files::{Destination, FileKind, WrittenFiles, check_outputs, drawing, write_files};
use crate::source::ModelFile;
use crate::terminal::{Exit, eprint, print, print_json, report};
use crate::watch::{ProgressBar, unwatched};

/// Inspects a model at its start, or at a time up to which it is run.
pub fn inspect(model: &OneModel, at: Option<f64>, tolerance: Option<f64>, output: &[Destination]) -> Exit {
    let is_drawn = |to: &Destination| matches!(to.kind, FileKind::Svg | FileKind::Png) && to.path.is_some();
    let outputs = check_outputs(output, model.json, |to| match is_drawn(to) {
        true => Ok(()),
        false => Err("`inspect` draws .svg and .png; `zwang run -o` writes the other files".into()),
    })?;
    let mut file = ModelFile::open_one(model, outputs)?;
    file.system()?;
    let mut bar = ProgressBar::new(file.spent());
    let options = RunOptions { tolerance, ..RunOptions::default() };
    let answer = file.ask(&Request::Inspect(at.map_or(At::Start, At::Time), options), &mut bar);
    bar.finish();
    let Some(Body::Inspection(inspection)) = &answer.body else {
        let failed = file.fail(&answer);
        draw_gap(&mut file, output);
        return failed;
    };
    let written = write_files(output, |to| drawing(drawn(inspection)?, to.kind));
    if model.json {
        print_json(&inspect_json(&answer.source, &answer.diagnostics, inspection))?;
    } else {
        report(&file.name, &answer.source, &answer.diagnostics);
        print(&inspect_table(&file.name, inspection))?;
    }
    written.report_errors();
    if !model.json {
        print(&written.line(None))?;
    }
    Ok(written.exit_code())
}

/// The geometry of an inspection as SVG.
fn drawn(inspection: &Inspection) -> Result<String, String> {
    match &inspection.scaled {
        Some(scaled) => Ok(geometry_svg(scaled, &GeometryNames::of(&inspection.check.equations))),
        None if !inspection.check.regular => Err("there is no picture: the mass matrix is singular".to_string()),
        None => Err("there is no picture of a system of this size".to_string()),
    }
}

/// Draws constraints that conflict at the start, with the gap between them.
fn draw_gap(file: &mut ModelFile, output: &[Destination]) {
    let Ok(system) = file.workspace.system() else { return };
    if output.is_empty() || system.check().is_ok() {
        return;
    }
    let Some(Body::ScaledStart(scaled)) = file.ask(&Request::ScaledStart, &mut unwatched).body else { return };
    let svg = geometry_svg(&scaled, &GeometryNames::of(&system.equations()));
    let written: WrittenFiles = write_files(output, |to| drawing(svg.clone(), to.kind));
    for name in written.names() {
        eprint(&format!("wrote {name}: the nearest acceleration, and its distance from each row\n"));
    }
    written.report_errors();
}
