//! `zwang run`: check, derive, simulate, write, report.

use serde_json::{Value, json};
use zwang::simulate::End;
use zwang::{Budget, Error, Keep, Run, RunOptions, System};
use zwang_motion::Drift;
use zwang_view::{Block, DerivationContext, DriftComparison, comparison, comparison_json, run_json, run_summary};

use crate::arguments::{DriftChoice, RunModel};
use crate::equations;
use crate::files::{Destination, FileKind};
use crate::shell::{Exit, STOPPED, SUCCESS, USAGE, eprint, print, print_json, quoted, usage_as};
use crate::source::ModelFile;
use crate::watch::ProgressBar;

/// Largest number of rows kept of a motion.
const MOST_ROWS_KEPT: f64 = 1e7;

/// Width of a sketch, in characters.
const SKETCH_WIDTH: usize = 96;

/// Runs a model.
pub fn run(arguments: &RunModel) -> Exit {
    let model = &arguments.model;
    check_outputs(arguments)?;
    let file = ModelFile::open_one(model)?;
    let mut bar = ProgressBar::new();
    let system = file.load()?;
    let options = options(arguments, &system)?;
    let mut run = match moved(&system, &options, &mut bar) {
        Ok(run) => run,
        Err(error) => {
            bar.finish();
            return file.fail(&error);
        }
    };
    let others = match arguments.drift {
        DriftChoice::Compare => compared(&system, &options, &mut bar),
        _ => Vec::new(),
    };
    bar.finish();

    let (source, notes) = (system.source(), run.notes().clone());
    let summary = run_summary(&file.file, &run);
    let mut record = run_json(source, &notes, &run);
    record.insert("overrides".into(), file.overrides_json());
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    let text = file.text_with_overrides(source);
    let written = write_all(arguments, &text, &mut run, &summary, &Value::Object(record.clone()));
    let code = exit_code(&run, &written);
    if !model.json {
        file.report(source, &notes);
    }
    if *run.end() == End::Cancelled {
        eprint(&format!("interrupted at t = {}\n", zwang::quantity::number(run.state().t)));
    }
    for (_, result) in &written {
        if let Err(message) = result {
            eprint(&format!("error: {message}\n"));
        }
    }
    let figure = arguments.plot.then(|| zwang_view::sketch(&zwang_view::figure(&run), SKETCH_WIDTH));
    let samples_rows = run.samples().n_rows();
    let mut runs = vec![DriftComparison { name: "project", run: Ok(Box::new(run)) }];
    runs.extend(others);
    if model.json {
        record.insert("files".into(), files_json(&written));
        if runs.len() > 1 {
            record.insert("drift".into(), comparison_json(&runs));
        }
        print_json(&Value::Object(record))?;
        return Ok(code);
    }
    let mut out = summary;
    if runs.len() > 1 {
        out.push_str(&comparison(&runs));
    }
    out.push_str(&figure.unwrap_or_default());
    out.push_str(&wrote(&written, samples_rows));
    out.push_str(&next(arguments, &written));
    match arguments.output.iter().any(|to| to.path.is_none()) {
        true => eprint(&out),
        false => {
            print(&out)?;
        }
    }
    Ok(code)
}

/// Runs the system and measures the time.
fn moved(system: &System, options: &RunOptions, bar: &mut ProgressBar) -> Result<Run, Error> {
    let mut run = system.run_with(options, bar)?;
    let (compile, motion) = bar.seconds();
    run.set_seconds(compile, motion);
    Ok(run)
}

/// Ends a command whose motion did not reach the requested time, or that failed.
pub fn ending<T>(file: &ModelFile, error: &Error) -> Result<T, u8> {
    let Error::Ended { source, diagnostics, .. } = error else { return file.fail(error) };
    let _: Result<T, u8> = file.fail_with(source, diagnostics);
    eprint(&format!("error: {error}\n"));
    Err(STOPPED)
}

/// Reports problems with the files before the computation starts.
fn check_outputs(arguments: &RunModel) -> Result<(), u8> {
    let as_json = arguments.model.json;
    if as_json && arguments.output.iter().any(|to| to.path.is_none()) {
        return usage_as(true, "`-o -` and --json both want standard output; write the CSV to a file");
    }
    let own = std::fs::canonicalize(&arguments.model.source.model).ok();
    for to in &arguments.output {
        let target = to.path.as_ref().and_then(|path| std::fs::canonicalize(path).ok());
        if target.is_some() && target == own {
            return usage_as(as_json, &format!("`{}` is the model itself; choose another name", to.name()));
        }
        if !is_compiled(to.kind) {
            return usage_as(as_json, &format!("this zwang was built without the writer of `{}`", to.name()));
        }
        if let Err(message) = to.probe() {
            return usage_as(as_json, &message);
        }
    }
    Ok(())
}

pub fn is_compiled(kind: FileKind) -> bool {
    let optional = [(FileKind::Parquet, cfg!(feature = "parquet")), (FileKind::Png, cfg!(feature = "png"))];
    optional.iter().all(|(other, is_there)| *other != kind || *is_there)
}

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
            DriftChoice::Baumgarte => BAUMGARTE,
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

/// Baumgarte's method with a rate that the engine chooses.
const BAUMGARTE: Drift = Drift::Baumgarte { rate: 0.0 };

/// Runs the motion again with Baumgarte's method and without correction, to compare the drift.
fn compared(system: &System, options: &RunOptions, bar: &mut ProgressBar) -> Vec<DriftComparison> {
    let mut runs = Vec::new();
    for drift in [BAUMGARTE, Drift::None] {
        let keep = Keep { samples: false, pictures: false, ..options.keep };
        bar.restart();
        let moved = moved(system, &RunOptions { drift, keep, ..options.clone() }, bar);
        let failed = |error: Error| {
            let first = error.diagnostics().and_then(|notes| notes.iter().find(|d| d.is_error()).cloned());
            first.map_or("it failed".into(), |d| d.message)
        };
        runs.push(DriftComparison { name: drift.as_str(), run: moved.map(Box::new).map_err(failed) });
    }
    runs
}

/// The result of writing each file.
type WrittenFiles = Vec<(Destination, Result<(), String>)>;

fn write_all(arguments: &RunModel, source: &str, run: &mut Run, summary: &str, record: &Value) -> WrittenFiles {
    let write = |to: &Destination| {
        let bytes = bytes(to.kind, arguments, source, run, summary, record);
        let result = bytes.map_err(|why| format!("cannot write `{}`: {why}", to.name())).and_then(|b| to.write(&b));
        (to.clone(), result)
    };
    arguments.output.iter().map(write).collect()
}

fn bytes(
    kind: FileKind,
    arguments: &RunModel,
    source: &str,
    run: &mut Run,
    summary: &str,
    record: &Value,
) -> Result<Vec<u8>, String> {
    let text = match kind {
        FileKind::Csv => zwang_view::csv(run.samples(), arguments.units_in_header),
        #[cfg(feature = "parquet")]
        FileKind::Parquet => return zwang_view::parquet(run.samples(), &record.to_string()),
        FileKind::Npz => return zwang_view::npz(run.samples()),
        FileKind::Json => {
            let (samples, units) = zwang_view::samples_json(run.samples());
            let mut whole = record.clone();
            (whole["samples"], whole["units"]) = (samples, units);
            format!("{whole}\n")
        }
        FileKind::Svg => zwang_view::svg(&zwang_view::figure(run)),
        #[cfg(feature = "png")]
        FileKind::Png => return zwang_view::png(&zwang_view::svg(&zwang_view::figure(run))),
        FileKind::Html => zwang_view::page_of(run, &derived(source, run), summary),
        FileKind::Tex => zwang_view::article_latex(&zwang_view::run_article(run, derived(source, run), summary)),
        FileKind::Markdown => {
            zwang_view::article_markdown(&zwang_view::run_article(run, derived(source, run), summary))
        }
        #[cfg(not(all(feature = "parquet", feature = "png")))]
        _ => return Err("this zwang was built without it".into()),
    };
    Ok(text.into_bytes())
}

/// The derivation behind a run.
fn derived(model_text: &str, run: &Run) -> Vec<Block> {
    let notes = equations::notes(run.notes());
    let geometry = zwang_view::geometry_of(run.check());
    let context = DerivationContext { model_text, check: Some(run.check()), at_start: true, notes: &notes, geometry };
    zwang_view::derivation(&mut run.check().equations.clone(), &context)
}

fn exit_code(run: &Run, written: &WrittenFiles) -> u8 {
    match (run.end(), written.iter().all(|(_, result)| result.is_ok())) {
        (End::Finished, true) => SUCCESS,
        (End::Finished, false) => USAGE,
        _ => STOPPED,
    }
}

fn files_json(written: &WrittenFiles) -> Value {
    let one =
        |(to, result): &(Destination, Result<(), String>)| json!({ "path": to.name(), "error": result.as_ref().err() });
    written.iter().map(one).collect()
}

/// `wrote double.csv (1001 rows), double.html`.
fn wrote(written: &WrittenFiles, n_rows: usize) -> String {
    let done = written.iter().filter(|(to, result)| result.is_ok() && to.path.is_some());
    let name = |(to, _): &(Destination, Result<(), String>)| match to.kind.is_table() {
        true => format!("{} ({n_rows} rows)", to.name()),
        false => to.name(),
    };
    let names: Vec<String> = done.map(name).collect();
    if names.is_empty() { String::new() } else { format!("  wrote {}\n", names.join(", ")) }
}

/// A suggestion of the next command; empty if the model came from standard input, which cannot be read again.
fn next(arguments: &RunModel, written: &WrittenFiles) -> String {
    let source = &arguments.model.source;
    if source.model == "-" {
        return String::new();
    }
    let mut model = quoted(&source.model);
    for (option, values) in [("--set", &source.set), ("--start", &source.start)] {
        values.iter().for_each(|value| model.push_str(&format!(" {option} {}", quoted(value))));
    }
    let stem = std::path::Path::new(&source.model).file_stem().map_or("motion".into(), |s| s.to_string_lossy());
    let has_page = written.iter().any(|(to, result)| to.kind == FileKind::Html && result.is_ok());
    let first = match has_page {
        false => format!("zwang run {model} -o {}", quoted(&format!("{stem}.html"))),
        true => format!("zwang inspect {model}"),
    };
    format!("  next:  {first}   |   zwang equations {}\n", quoted(&source.model))
}
