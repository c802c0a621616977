//! `zwang inverse`: the forces that produce a given path.

use zwang::csv_table::CsvTable;
use zwang::{Error, Samples};
use zwang_view::{inverse_json, inverse_table};
use zwang_workspace::{Body, Request};

use crate::arguments::InverseModel;
use crate::files::{Destination, FileKind, check_outputs, write_files};
use crate::source::{ModelFile, read_text};
use crate::terminal::{Exit, MODEL_ERRORS, SUCCESS, print, print_json, report, usage_as};
use crate::watch::unwatched;

/// Computes the forces and writes them.
pub fn inverse(arguments: &InverseModel) -> Exit {
    let as_json = arguments.json;
    let is_table = |to: &Destination| matches!(to.kind, FileKind::Csv | FileKind::Npz | FileKind::Parquet);
    let outputs = check_outputs(&arguments.output, as_json, |to| match is_table(to) {
        true => Ok(()),
        false => Err("`inverse` writes .csv, .npz and .parquet".into()),
    })?;
    let path = if arguments.path == "-" { "/dev/stdin" } else { &arguments.path };
    outputs.spare(path.as_ref(), "the path itself").or_else(|message| usage_as(as_json, &message))?;
    let mut file = ModelFile::open(&arguments.source, outputs, as_json)?;
    let driven = file.system()?.driven_by(&arguments.using);
    let driven = driven.or_else(|error| usage_as(as_json, &format!("--using: {error}")))?;
    let unusable = |why: &str| format!("cannot use `{}`: {why}", arguments.path);
    let text = read_text(&arguments.path).or_else(|message| usage_as(as_json, &message))?;
    let table = CsvTable::parse(&text).or_else(|why| usage_as(as_json, &unusable(&why)))?;
    let answer = file.ask(&Request::Inverse { table, driven }, &mut unwatched);
    if let Some(Error::Request(why)) = &answer.error {
        return usage_as(as_json, &unusable(why));
    }
    let Some(Body::Inverse(found)) = &answer.body else { return file.fail(&answer) };
    if as_json {
        print_json(&inverse_json(&answer.source, &answer.diagnostics, found))?;
    } else {
        report(&file.name, &answer.source, &answer.diagnostics);
        print(&inverse_table(&file.name, &arguments.path, found))?;
    }
    let written = write_files(&arguments.output, |to| bytes(to.kind, &found.samples, arguments.units_in_header));
    written.report_errors();
    if !as_json {
        print(&written.line(Some(found.samples.n_rows())))?;
    }
    let code = written.exit_code();
    Ok(if code == SUCCESS && !found.is_possible() { MODEL_ERRORS } else { code })
}

fn bytes(kind: FileKind, samples: &Samples, units_in_header: bool) -> Result<Vec<u8>, String> {
    match kind {
        FileKind::Npz => zwang_view::npz(samples),
        #[cfg(feature = "parquet")]
        FileKind::Parquet => zwang_view::parquet(samples, "{}"),
        _ => Ok(zwang_view::csv(samples, units_in_header).into_bytes()),
    }
}
