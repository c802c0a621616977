//! `zwang run`: check, derive, simulate, write, report.

use serde_json::{Map, Value, json};
use zwang::simulate::End;
use zwang::syntax::quoted;
use zwang::{Budget, Keep, Run, RunOptions, System};
use zwang_motion::Drift;
use zwang_view::{DriftComparison, RunReport, comparison, comparison_json, run_json};
use zwang_workspace::{Body, Request};

use crate::arguments::{DriftChoice, RunModel};
use crate::files::{FileKind, WrittenFiles, check_outputs, drawing, write_files};
use crate::source::{ModelFile, stem};
use crate::terminal::{Exit, STOPPED, eprint, print, print_json, report, usage_as};
use crate::watch::ProgressBar;

/// Largest number of rows kept of a motion.
const MOST_ROWS_KEPT: f64 = 1e7;

/// Width of a sketch, in characters.
const SKETCH_WIDTH: usize = 96;

/// Runs a model.
pub fn run(arguments: &RunModel) -> Exit {
    let model = &arguments.model;
    check_outputs(&arguments.output, &model.source.model, model.json, |_| Ok(()))?;
    let mut file = ModelFile::open_one(model)?;
    let mut bar = ProgressBar::new();
    let options = options(arguments, &file.system()?)?;
    let request = match arguments.drift {
        DriftChoice::Compare => Request::CompareDrift(options),
        _ => Request::Run(options),
    };
    let answer = file.ask(&request, &mut bar);
    let seconds = bar.finish();
    let mut runs = match answer.body {
        Some(Body::Run(run)) => vec![DriftComparison { name: "project", run: Ok(run) }],
        Some(Body::Comparison(runs)) => runs,
        _ => return file.fail(&answer),
    };
    for (run, (compile, motion)) in runs.iter_mut().filter_map(|c| c.run.as_mut().ok()).zip(seconds) {
        run.set_seconds(compile, motion);
    }
    let Some(Ok(run)) = runs.first().map(|c| &c.run) else { return Err(STOPPED) };

    let text = file.workspace.overrides().stated_in(answer.source.own());
    let documents = RunReport::new(&file.name, &text, run);
    let mut record = run_json(&answer.source, &answer.diagnostics, run);
    let overrides = file.workspace.overrides();
    record.insert("overrides".into(), json!({ "set": overrides.set, "start": overrides.start }));
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    let written = write_files(&arguments.output, |to| bytes(to.kind, arguments, run, &documents, &record));
    if !model.json {
        report(&file.name, &answer.source, &answer.diagnostics);
    }
    if *run.end() == End::Cancelled {
        eprint(&format!("interrupted at t = {}\n", zwang::quantity::number(run.state().t)));
    }
    written.report_errors();
    let code = if *run.end() == End::Finished { written.exit_code() } else { STOPPED };
    if model.json {
        record.insert("files".into(), written.json());
        if runs.len() > 1 {
            record.insert("drift".into(), comparison_json(&runs));
        }
        print_json(&Value::Object(record))?;
        return Ok(code);
    }
    let mut out = documents.summary().to_string();
    if runs.len() > 1 {
        out.push_str(&comparison(&runs));
    }
    if arguments.plot {
        out.push_str(&zwang_view::sketch(&zwang_view::figure(run), SKETCH_WIDTH));
    }
    out.push_str(&written.line(Some(run.samples().n_rows())));
    out.push_str(&next(arguments, &file, &written));
    match arguments.output.iter().any(|to| to.path.is_none()) {
        true => eprint(&out),
        false => {
            print(&out)?;
        }
    }
    Ok(code)
}

/// The options of the run; fails for more rows than are kept.
fn options(arguments: &RunModel, system: &System) -> Result<RunOptions, u8> {
    let kinds = || arguments.output.iter().map(|to| to.kind);
    let pictures = arguments.plot || kinds().any(FileKind::is_picture);
    let samples = kinds().any(FileKind::is_table) || pictures && zwang_view::wants_samples(system.model());
    let options = RunOptions {
        to: arguments.integration.to,
        tolerance: arguments.integration.tolerance,
        method: arguments.integration.method,
        step: arguments.step,
        drift: match arguments.drift {
            DriftChoice::Project | DriftChoice::Compare => Drift::Project,
            // the engine chooses the rate
            DriftChoice::Baumgarte => Drift::Baumgarte { rate: 0.0 },
            DriftChoice::None => Drift::None,
        },
        every: arguments.every,
        keep: Keep { samples, pictures, ..Keep::default() },
        // rows are counted below, with the option that changes them
        budget: Budget::UNLIMITED,
    };
    let end = system.end(&options);
    if let Some(every) = options.every.filter(|every| end / every > MOST_ROWS_KEPT) {
        let least = zwang::quantity::rounded(end / MOST_ROWS_KEPT, 2);
        let message =
            format!("--every {every} would make more than 10 million rows of {end}; type --every {least} or more");
        return usage_as(arguments.model.json, &message);
    }
    Ok(options)
}

/// The contents of a file.
fn bytes(
    kind: FileKind,
    arguments: &RunModel,
    run: &Run,
    documents: &RunReport,
    record: &Map<String, Value>,
) -> Result<Vec<u8>, String> {
    let text = match kind {
        FileKind::Csv => zwang_view::csv(run.samples(), arguments.units_in_header),
        #[cfg(feature = "parquet")]
        FileKind::Parquet => {
            return zwang_view::parquet(run.samples(), &Value::Object(record.clone()).to_string());
        }
        FileKind::Npz => return zwang_view::npz(run.samples()),
        FileKind::Json => {
            let (samples, units) = zwang_view::samples_json(run.samples());
            let mut whole = record.clone();
            whole.insert("samples".into(), samples);
            whole.insert("units".into(), units);
            format!("{}\n", Value::Object(whole))
        }
        FileKind::Svg | FileKind::Png => return drawing(zwang_view::svg(&zwang_view::figure(run)), kind),
        FileKind::Html => documents.html(),
        FileKind::Tex => documents.latex(),
        FileKind::Markdown => documents.markdown(),
        #[cfg(not(feature = "parquet"))]
        FileKind::Parquet => return Err("this zwang was built without it".into()),
    };
    Ok(text.into_bytes())
}

/// A suggestion of the next command; empty if the model came from standard input, which cannot be read again.
fn next(arguments: &RunModel, file: &ModelFile, written: &WrittenFiles) -> String {
    let path = &arguments.model.source.model;
    if path == "-" {
        return String::new();
    }
    let model = format!("{} {}", quoted(path), file.workspace.overrides().arguments());
    let model = model.trim_end();
    let first = match written.has(FileKind::Html) {
        false => format!("zwang run {model} -o {}", quoted(&format!("{}.html", stem(path.as_ref())))),
        true => format!("zwang inspect {model}"),
    };
    format!("  next:  {first}   |   zwang equations {}\n", quoted(path))
}
