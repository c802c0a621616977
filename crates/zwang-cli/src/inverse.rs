//! `zwang inverse`: the forces that produce a given path.

use zwang::equations::Equations;
use zwang::inverse::{Path, inverse, obstacles};
use zwang::sheet::Sheet;
use zwang_view::{inverse_json, inverse_table};

use crate::arguments::InverseModel;
use crate::files::{Destination, Kind};
use crate::shell::{Exit, MODEL_ERRORS, SUCCESS, USAGE, complain, print, print_json, usage_as};
use crate::source::{Source, read_text};

/// Finds the forces and writes them.
pub fn run(arguments: &InverseModel) -> Exit {
    let as_json = arguments.json;
    check_outputs(arguments)?;
    let mut source = Source::open(&arguments.source, as_json)?;
    let Some(stated) = source.reading.model.take() else { return source.fail(as_json) };
    if stated.later.iter().any(|later| later.changes_motion) {
        zwang::later_notes(&stated, zwang::diagnostic::Severity::Error, &mut source.diagnostics);
        return source.fail(as_json);
    }
    if let Some(first) = stated.only_at_times().first() {
        let message = format!("not yet: `inverse` does not know {first}");
        let help = "state a held contact as a `constraint`, and leave friction out";
        let d = zwang::diagnostic::Diagnostic::error("Z901", message).help(help);
        source.diagnostics.push(match stated.first_at_times() {
            Some(span) => d.at(span, "holds only at times"),
            None => d,
        });
        return source.fail(as_json);
    }
    let driven = driven(arguments, &stated)?;
    let names: Vec<String> = driven.iter().map(|&k| format!("`{}`", stated.coordinates[k].name)).collect();
    let equations = Equations::derive(stated);
    let wrong = |why: String| format!("cannot use `{}`: {why}", arguments.path);
    let sheet = read_text(&arguments.path).and_then(|text| Sheet::parse(&text).map_err(wrong));
    let path = sheet.and_then(|sheet| Path::new(&equations, &sheet).map_err(wrong));
    let path = path.or_else(|message| usage_as(as_json, &message))?;
    let found = match inverse(equations, &path, &driven) {
        Ok(found) => found,
        Err(diagnostic) => {
            source.diagnostics.push(*diagnostic);
            return source.fail(as_json);
        }
    };
    obstacles(&found, &names).into_iter().for_each(|d| source.diagnostics.push(d));
    if as_json {
        print_json(&inverse_json(&source.reading, &source.diagnostics, &found))?;
    } else {
        source.say();
        print(&inverse_table(&source.file, &arguments.path, &found))?;
    }
    let written = write(arguments, &found.samples)?;
    Ok(if written == SUCCESS && !found.is_possible() { MODEL_ERRORS } else { written })
}

/// The coordinates that are driven: those of the command line, else those of the model's controls, else all.
fn driven(arguments: &InverseModel, model: &zwang::model::Model) -> Result<Vec<usize>, u8> {
    if arguments.using.is_empty() {
        let own = model.driven();
        return Ok(if own.is_empty() { (0..model.n_coordinates()).collect() } else { own });
    }
    let mut driven = Vec::new();
    for name in &arguments.using {
        let wanted = zwang::syntax::name::canonical(name.trim());
        let is_it = |c: &zwang::model::Coordinate| zwang::syntax::name::canonical(&c.name) == wanted;
        match model.coordinates.iter().position(is_it) {
            Some(k) if driven.contains(&k) => {
                return usage_as(arguments.json, &format!("--using: `{name}` is named twice"));
            }
            Some(k) => driven.push(k),
            None => return usage_as(arguments.json, &format!("--using: `{name}` is not a coordinate of the model")),
        }
    }
    driven.sort_unstable();
    Ok(driven)
}

fn is_table(to: &Destination) -> bool {
    matches!(to.kind, Kind::Csv | Kind::Npz | Kind::Parquet)
}

fn check_outputs(arguments: &InverseModel) -> Result<(), u8> {
    for to in &arguments.output {
        if !is_table(to) || !crate::run::is_compiled(to.kind) {
            return usage_as(arguments.json, "`inverse` writes .csv, .npz and .parquet");
        }
        if arguments.json && to.path.is_none() {
            return usage_as(true, "`-o -` and --json both want standard output; write the CSV to a file");
        }
        if let Err(message) = to.probe() {
            return usage_as(arguments.json, &message);
        }
    }
    Ok(())
}

fn write(arguments: &InverseModel, samples: &zwang::Samples) -> Exit {
    let mut code = SUCCESS;
    for to in &arguments.output {
        let bytes = match to.kind {
            Kind::Npz => zwang_view::npz(samples),
            #[cfg(feature = "parquet")]
            Kind::Parquet => zwang_view::parquet(samples, "{}"),
            _ => Ok(zwang_view::csv(samples, arguments.units_in_header).into_bytes()),
        };
        match bytes.and_then(|bytes| to.write(&bytes)) {
            Ok(()) if arguments.json || to.path.is_none() => {}
            Ok(()) => {
                print(&format!("  wrote {} ({} rows)\n", to.name(), samples.n_rows()))?;
            }
            Err(message) => {
                complain(&format!("error: {message}\n"));
                code = USAGE;
            }
        }
    }
    Ok(code)
}
