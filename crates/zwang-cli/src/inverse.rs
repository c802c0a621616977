//! `zwang inverse`: the forces that produce a given path.

use zwang::csv_table::CsvTable;
use zwang::inverse::{MotionPath, obstacles};
use zwang_view::{inverse_json, inverse_table};

use crate::arguments::InverseModel;
use crate::files::{Destination, FileKind};
use crate::shell::{Exit, MODEL_ERRORS, SUCCESS, USAGE, eprint, print, print_json, usage_as};
use crate::source::{ModelFile, read_text};

/// Computes the forces and writes them.
pub fn run(arguments: &InverseModel) -> Exit {
    let as_json = arguments.json;
    check_outputs(arguments)?;
    let file = ModelFile::open(&arguments.source, as_json)?;
    let system = file.load()?;
    let model = system.model();
    let driven = driven(arguments, model)?;
    let names: Vec<String> = driven.iter().map(|&k| format!("`{}`", model.coordinates[k].name)).collect();
    let wrong = |why: String| format!("cannot use `{}`: {why}", arguments.path);
    let table = read_text(&arguments.path).and_then(|text| CsvTable::parse(&text).map_err(wrong));
    let path = table.and_then(|table| MotionPath::new(&system.equations(), &table).map_err(wrong));
    let path = path.or_else(|message| usage_as(as_json, &message))?;
    let found = system.inverse(&path, &driven).or_else(|error| file.fail(&error))?;
    let mut notes = system.notes().clone();
    notes.extend(obstacles(&found, &names));
    if as_json {
        print_json(&inverse_json(system.source(), &notes, &found))?;
    } else {
        file.report(system.source(), &notes);
        print(&inverse_table(&file.file, &arguments.path, &found))?;
    }
    let written = write(arguments, &found.samples)?;
    Ok(if written == SUCCESS && !found.is_possible() { MODEL_ERRORS } else { written })
}

/// The driven coordinates: those of the command line, else those of the model's controls, else all.
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
    matches!(to.kind, FileKind::Csv | FileKind::Npz | FileKind::Parquet)
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
            FileKind::Npz => zwang_view::npz(samples),
            #[cfg(feature = "parquet")]
            FileKind::Parquet => zwang_view::parquet(samples, "{}"),
            _ => Ok(zwang_view::csv(samples, arguments.units_in_header).into_bytes()),
        };
        match bytes.and_then(|bytes| to.write(&bytes)) {
            Ok(()) if arguments.json || to.path.is_none() => {}
            Ok(()) => {
                print(&format!("  wrote {} ({} rows)\n", to.name(), samples.n_rows()))?;
            }
            Err(message) => {
                eprint(&format!("error: {message}\n"));
                code = USAGE;
            }
        }
    }
    Ok(code)
}
