//! `zwang run`: check, derive, simulate, write, report.

use serde_json::{Map, Value, json};
use zwang::simulate::End;
use zwang::syntax::quoted;
use zwang::{Budget, Error, Keep, Run, RunOptions};
use zwang_motion::Drift;
use zwang_view::{DriftComparison, RunReport, comparison, comparison_json, run_json};
use zwang_workspace::{Body, Request};

use crate::arguments::{DriftChoice, RunModel};
use crate::budget::CommandLimits;
use crate::files::{FileKind, WrittenFiles, check_outputs, drawing, write_files};
use crate::source::{ModelFile, stem};
use crate::terminal::{Exit, STOPPED, eprint, print, print_json, report, usage_as, visible_json};
use crate::watch::ProgressBar;

/// Largest number of rows kept of a motion.
const MOST_ROWS_KEPT: f64 = 1e7;

/// Rows of the samples unless the user says otherwise.
const SAMPLES_IN_TABLE: f64 = 1000.0;

/// Largest number of cells of a run that is written as JSON or as a document, unless the user says otherwise.
const MOST_CELLS_AS_TEXT: u64 = 20_000_000;

/// Width of a sketch, in characters.
const SKETCH_WIDTH: usize = 96;

/// Runs a model.
pub fn run(arguments: &RunModel) -> Exit {
    let model = &arguments.model;
    let outputs = check_outputs(&arguments.output, model.json, |_| Ok(()))?;
    let mut file = ModelFile::open_one(model, outputs)?;
    let mut bar = ProgressBar::new(file.spent());
    let options = options(arguments, &mut file)?;
    let request = match arguments.drift {
        DriftChoice::Compare => Request::CompareDrift(options.clone()),
        _ => Request::Run(options.clone()),
    };
    let answer = file.ask(&request, &mut bar);
    let seconds = bar.finish();
    let mut runs = match answer.body {
        Some(Body::Run(run)) => vec![DriftComparison { name: "project", run: Ok(run) }],
        Some(Body::Comparison(runs)) => runs,
        _ => match answer.error {
            Some(Error::Budget { what: Budget::CELLS, needed, allowed }) => {
                return too_many_cells(arguments, file.system()?.end(&options), (needed, allowed));
            }
            _ => return file.fail(&answer),
        },
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
fn options(arguments: &RunModel, file: &mut ModelFile) -> Result<RunOptions, u8> {
    let system = file.system()?;
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
        budget: budget(&file.limits, kinds()),
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

/// What the run may use. Formats that are made of text objects need several times the memory of the numbers.
fn budget(limits: &CommandLimits, mut kinds: impl Iterator<Item = FileKind>) -> Budget {
    let counted = limits.counted();
    let is_text = |kind| matches!(kind, FileKind::Json | FileKind::Html | FileKind::Tex | FileKind::Markdown);
    match kinds.any(is_text) && !limits.has_cells() {
        true => Budget { cells: counted.cells.min(MOST_CELLS_AS_TEXT), ..counted },
        false => counted,
    }
}

/// Reports that the samples need more cells than allowed, with the option that changes their number.
fn too_many_cells<T>(arguments: &RunModel, end: f64, (needed, allowed): (u64, u64)) -> Result<T, u8> {
    let every = arguments.every.unwrap_or(end / SAMPLES_IN_TABLE);
    let rounded = |x: f64| zwang::quantity::rounded(x, 2);
    let least = rounded(1.05 * every * needed as f64 / allowed as f64);
    let message = format!(
        "--every {every} would make {} cells, rows times columns, and {} are allowed; type --every {least} or more, or --budget \
         cells={}",
        rounded(needed as f64),
        rounded(allowed as f64),
        rounded(1.05 * needed as f64)
    );
    usage_as(arguments.model.json, &message)
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
            visible_json(format!("{}\n", Value::Object(whole)))
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
