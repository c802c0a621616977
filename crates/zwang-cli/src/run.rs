//! `zwang run`: check, derive, simulate, write, report.

use std::time::Instant;

use serde_json::{Value, json};
use zwang::simulate::{Ended, plan};
use zwang::{Check, Run, RunWishes};
use zwang_motion::{Drift, Method};
use zwang_view::{Block, Comparison, Told, comparison, comparison_json, run_json, run_summary};

use crate::arguments::{DriftChoice, OneModel, RunModel};
use crate::equations;
use crate::files::{Destination, Kind};
use crate::shell::{Exit, STOPPED, SUCCESS, USAGE, complain, print, print_json, quoted, usage_as};
use crate::source::{Source, settings};
use crate::watch::Watch;

/// Most rows that are kept of a motion.
const MOST_ROWS: f64 = 1e7;

/// Characters across a sketch.
const SKETCH_WIDTH: usize = 96;

/// Runs a model.
pub fn run(arguments: &RunModel) -> Exit {
    let model = &arguments.model;
    check_outputs(arguments)?;
    let clock = Instant::now();
    let mut source = Source::open(&model.source, model.json)?;
    let check = source.check_briefly(model, is_symplectic(arguments, &source))?;
    source.refuse_later(&check, model.json)?;
    let seconds_before = clock.elapsed().as_secs_f64();
    let wishes = wishes(arguments, &check)?;
    let mut watch = Watch::new(plan(&check, &wishes).end);
    let moved = zwang::simulate(check, &wishes, &mut source.diagnostics, &mut |t| watch.goes_on(t));
    let Some(mut run) = moved else {
        watch.finish();
        return source.fail(model.json);
    };
    let others = match arguments.drift {
        DriftChoice::Compare => compared(&source, arguments, &wishes, &mut watch)?,
        _ => Vec::new(),
    };
    watch.finish();

    let summary = run_summary(&source.file, &run);
    let mut record = run_json(&source.reading, &source.diagnostics, &run, seconds_before);
    record.insert("overrides".into(), source.overrides_json());
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    let written = write_all(arguments, &source, &mut run, &summary, &Value::Object(record.clone()));
    let code = exit_code(&run, &written);
    if !model.json {
        source.say();
    }
    if run.ended == Ended::Interrupted {
        complain(&format!("interrupted at t = {}\n", zwang::quantity::number(run.state.t)));
    }
    for (_, result) in &written {
        if let Err(message) = result {
            complain(&format!("error: {message}\n"));
        }
    }
    let figure = arguments.plot.then(|| zwang_view::sketch(&zwang_view::figure(&run), SKETCH_WIDTH));
    let samples_rows = run.samples.n_rows();
    let mut runs = vec![Comparison { name: "project", run: Ok(Box::new(run)) }];
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
        true => complain(&out),
        false => {
            print(&out)?;
        }
    }
    Ok(code)
}

/// Whether the method needs momenta, which are compiled only for it.
fn is_symplectic(arguments: &RunModel, source: &Source) -> bool {
    let stated = source.reading.model.as_ref().and_then(|model| model.run.as_ref()?.method.as_ref()?.0.parse().ok());
    arguments.course.method.or(stated).is_some_and(Method::is_fixed_step)
}

/// What can be wrong with the files is said before anything is computed.
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

pub fn is_compiled(kind: Kind) -> bool {
    let optional = [(Kind::Parquet, cfg!(feature = "parquet")), (Kind::Png, cfg!(feature = "png"))];
    optional.iter().all(|(other, is_there)| *other != kind || *is_there)
}

fn wishes(arguments: &RunModel, check: &Check) -> Result<RunWishes, u8> {
    let kinds = || arguments.output.iter().map(|to| to.kind);
    let pictures = arguments.plot || kinds().any(Kind::is_picture);
    let wishes = RunWishes {
        to: arguments.course.to,
        tolerance: arguments.course.tolerance,
        method: arguments.course.method,
        step: arguments.step,
        drift: match arguments.drift {
            DriftChoice::Project | DriftChoice::Compare => Drift::Project,
            DriftChoice::Baumgarte => BAUMGARTE,
            DriftChoice::None => Drift::None,
        },
        every: arguments.every,
        samples: kinds().any(Kind::is_table) || pictures && zwang_view::wants_samples(&check.equations.model),
        pictures,
        settings: settings(&arguments.model)?,
    };
    let end = plan(check, &wishes).end;
    if let Some(every) = wishes.every.filter(|every| end / every > MOST_ROWS) {
        let least = zwang::quantity::rounded(end / MOST_ROWS, 2);
        let message =
            format!("--every {every} would make more than 10 million rows of {end}; type --every {least} or more");
        return usage_as(arguments.model.json, &message);
    }
    Ok(wishes)
}

/// The engine chooses the rate.
const BAUMGARTE: Drift = Drift::Baumgarte { rate: 0.0 };

/// The same model without projection, for a comparison.
fn compared(
    source: &Source,
    arguments: &RunModel,
    wishes: &RunWishes,
    watch: &mut Watch,
) -> Result<Vec<Comparison>, u8> {
    let mut runs = Vec::new();
    for drift in [BAUMGARTE, Drift::None] {
        let wishes = RunWishes { drift, samples: false, pictures: false, ..wishes.clone() };
        let mut again = source.again();
        let check = again.check_briefly(&arguments.model, is_symplectic(arguments, &again))?;
        let moved = zwang::simulate(check, &wishes, &mut again.diagnostics, &mut |t| watch.goes_on(t));
        let failed =
            || again.diagnostics.iter().find(|d| d.is_error()).map_or("it failed".into(), |d| d.message.clone());
        runs.push(Comparison { name: drift.as_str(), run: moved.map(Box::new).ok_or_else(failed) });
    }
    Ok(runs)
}

/// The model at a later time.
pub fn moved_to(
    source: &mut Source,
    check: Check,
    t: f64,
    tolerance: Option<f64>,
    model: &OneModel,
) -> Result<Check, u8> {
    let settings = settings(model)?;
    let wishes = RunWishes { to: Some(t), tolerance, settings: settings.clone(), ..RunWishes::default() };
    let mut watch = Watch::new(t);
    let moved = zwang::simulate(check, &wishes, &mut source.diagnostics, &mut |t| watch.goes_on(t));
    watch.finish();
    let Some(run) = moved else { return source.fail(model.json) };
    if run.ended != Ended::Finished {
        source.stop(model.json, &format!("the motion ended at t = {}", zwang::quantity::number(run.state.t)))?;
        return Err(STOPPED);
    }
    let mut check = run.check;
    match check.move_to(run.state, &settings) {
        Ok(()) => Ok(check),
        Err(diagnostic) => {
            source.diagnostics.push(*diagnostic);
            source.fail(model.json)
        }
    }
}

/// What became of each file.
type Written = Vec<(Destination, Result<(), String>)>;

fn write_all(arguments: &RunModel, source: &Source, run: &mut Run, summary: &str, record: &Value) -> Written {
    let write = |to: &Destination| {
        let bytes = bytes(to.kind, arguments, source, run, summary, record);
        let result = bytes.map_err(|why| format!("cannot write `{}`: {why}", to.name())).and_then(|b| to.write(&b));
        (to.clone(), result)
    };
    arguments.output.iter().map(write).collect()
}

fn bytes(
    kind: Kind,
    arguments: &RunModel,
    source: &Source,
    run: &mut Run,
    summary: &str,
    record: &Value,
) -> Result<Vec<u8>, String> {
    let text = match kind {
        Kind::Csv => zwang_view::csv(&run.samples, arguments.units_in_header),
        #[cfg(feature = "parquet")]
        Kind::Parquet => return zwang_view::parquet(&run.samples, &record.to_string()),
        Kind::Npz => return zwang_view::npz(&run.samples),
        Kind::Json => {
            let (samples, units) = zwang_view::samples_json(&run.samples);
            let mut whole = record.clone();
            (whole["samples"], whole["units"]) = (samples, units);
            format!("{whole}\n")
        }
        Kind::Svg => zwang_view::svg(&zwang_view::figure(run)),
        #[cfg(feature = "png")]
        Kind::Png => return zwang_view::png(&zwang_view::svg(&zwang_view::figure(run))),
        Kind::Html => zwang_view::page_of(run, &derived(source, run), summary),
        Kind::Tex => zwang_view::article_latex(&zwang_view::run_article(run, derived(source, run), summary)),
        Kind::Markdown => zwang_view::article_markdown(&zwang_view::run_article(run, derived(source, run), summary)),
        #[cfg(not(all(feature = "parquet", feature = "png")))]
        _ => return Err("this zwang was built without it".into()),
    };
    Ok(text.into_bytes())
}

/// The derivation behind a run.
fn derived(source: &Source, run: &Run) -> Vec<Block> {
    let notes = equations::notes(&source.diagnostics);
    let geometry = zwang_view::geometry_of(&run.check);
    let told =
        Told { model_text: &source.told_text(), check: Some(&run.check), at_start: true, notes: &notes, geometry };
    zwang_view::derivation(&mut run.check.equations.clone(), &told)
}

fn exit_code(run: &Run, written: &Written) -> u8 {
    match (&run.ended, written.iter().all(|(_, result)| result.is_ok())) {
        (Ended::Finished, true) => SUCCESS,
        (Ended::Finished, false) => USAGE,
        _ => STOPPED,
    }
}

fn files_json(written: &Written) -> Value {
    let one =
        |(to, result): &(Destination, Result<(), String>)| json!({ "path": to.name(), "error": result.as_ref().err() });
    written.iter().map(one).collect()
}

/// `wrote double.csv (1001 rows), double.html`.
fn wrote(written: &Written, n_rows: usize) -> String {
    let done = written.iter().filter(|(to, result)| result.is_ok() && to.path.is_some());
    let name = |(to, _): &(Destination, Result<(), String>)| match to.kind.is_table() {
        true => format!("{} ({n_rows} rows)", to.name()),
        false => to.name(),
    };
    let names: Vec<String> = done.map(name).collect();
    if names.is_empty() { String::new() } else { format!("  wrote {}\n", names.join(", ")) }
}

/// What to type next; nothing where the model came from standard input and is gone.
fn next(arguments: &RunModel, written: &Written) -> String {
    let source = &arguments.model.source;
    if source.model == "-" {
        return String::new();
    }
    let mut model = quoted(&source.model);
    for (option, values) in [("--set", &source.set), ("--start", &source.start)] {
        values.iter().for_each(|value| model.push_str(&format!(" {option} {}", quoted(value))));
    }
    let stem = std::path::Path::new(&source.model).file_stem().map_or("motion".into(), |s| s.to_string_lossy());
    let has_page = written.iter().any(|(to, result)| to.kind == Kind::Html && result.is_ok());
    let first = match has_page {
        false => format!("zwang run {model} -o {}", quoted(&format!("{stem}.html"))),
        true => format!("zwang inspect {model}"),
    };
    format!("  next:  {first}   |   zwang equations {}\n", quoted(&source.model))
}
