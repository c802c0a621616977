//! What each command does. Data goes to standard output, messages to standard error.

use std::io::{IsTerminal, Read, Write};

use clap::CommandFactory;
use zwang::diagnostic::{Diagnostic, Diagnostics, Severity};
use zwang::equations::Equations;
use zwang::{Check, Overrides, Reading, Wishes, explain};
use zwang_motion::Settings;
use zwang_view::{Paint, check_json, check_table, inspect_json, inspect_table, messages, run_json, summary};

use crate::arguments::{Arguments, Command, Format, ModelSource, OneModel};
use crate::templates::TEMPLATES;

/// All went well.
const SUCCESS: u8 = 0;
/// The model has errors.
const MODEL_ERRORS: u8 = 1;
/// The command line is wrong or a file cannot be read.
const USAGE: u8 = 2;

/// Runs a command and returns its exit code.
pub fn run(arguments: Arguments) -> u8 {
    let result = match arguments.command {
        Command::Run(model) => run_model(&model),
        Command::Check(model) => check(&model),
        Command::Equations { model, format } => equations(&model, format),
        Command::Inspect { model, at } => inspect(&model, at),
        Command::Explain { code } => explain_code(code.as_deref()),
        Command::New { name, list } => new(name.as_deref(), list),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "zwang", &mut out);
            print(&String::from_utf8_lossy(&out))
        }
    };
    result.unwrap_or_else(|code| code)
}

/// An exit code: `Err` ends a command early.
type Exit = Result<u8, u8>;

/// Writes to standard output; a reader that went away is no error, a full disk is.
fn print(text: &str) -> Exit {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => usage(&format!("cannot write: {error}")),
        _ => Ok(SUCCESS),
    }
}

/// Writes to standard error; there is nowhere to complain if that fails.
fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Complains about the command line.
fn usage<T>(message: &str) -> Result<T, u8> {
    complain(&format!("error: {message}\n"));
    Err(USAGE)
}

/// A model that was read, with the name to show in messages.
struct Source {
    file: String,
    reading: Reading,
    diagnostics: Diagnostics,
}

impl Source {
    fn open(source: &ModelSource, as_json: bool) -> Result<Source, u8> {
        let file = if source.model == "-" { "standard input".to_string() } else { source.model.clone() };
        let text = match read_text(&source.model) {
            Ok(text) => text,
            Err(message) => {
                if as_json {
                    let d = serde_json::json!({ "code": "Z001", "severity": "error", "message": message });
                    print_json(&serde_json::json!({ "diagnostics": [d] }))?;
                }
                return usage(&message);
            }
        };
        let overrides = Overrides { set: source.set.clone(), start: source.start.clone() };
        let mut reading = zwang::read(&text, &overrides);
        let diagnostics = std::mem::take(&mut reading.diagnostics);
        Ok(Source { file, reading, diagnostics })
    }

    /// Messages to standard error, in colour on a terminal unless NO_COLOR is set.
    fn say(&self) {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let paint = if colour { Paint::Coloured } else { Paint::Plain };
        complain(&messages(&self.file, &self.reading, &self.diagnostics, paint));
    }

    /// Ends a command whose model has errors.
    fn fail<T>(&self, as_json: bool) -> Result<T, u8> {
        if as_json {
            print_json(&check_json(&self.reading, &self.diagnostics, None))?;
        } else {
            self.say();
        }
        // mistakes in --set and --start are mistakes of the command line
        let is_override = |d: &Diagnostic| d.is_error() && d.span.is_some_and(|s| s.start >= self.reading.file_length);
        let overrides = self.reading.text.len() > self.reading.file_length && self.diagnostics.iter().any(is_override);
        Err(if overrides { USAGE } else { MODEL_ERRORS })
    }

    fn check(&mut self, model: &OneModel, with_legendre: bool) -> Result<Check, u8> {
        let wishes =
            Wishes { settings: settings(model)?, fix_start: model.fix_start, with_legendre, route: model.route };
        let Some(stated) = self.reading.model.take() else { return self.fail(model.json) };
        match zwang::check(stated, &wishes, &mut self.diagnostics) {
            Some(check) => Ok(check),
            None => self.fail(model.json),
        }
    }

    /// Refuses to give numbers for a model that says more than this version computes.
    fn refuse_later(&mut self, check: &Check, as_json: bool) -> Result<(), u8> {
        let model = &check.equations.model;
        if !model.later.iter().any(|l| l.changes_motion) {
            return Ok(());
        }
        zwang::later_notes(model, Severity::Error, &mut self.diagnostics);
        self.fail(as_json)
    }
}

/// Largest model that is read; no text written by a person comes near it.
const LARGEST_FILE: u64 = 64 << 20;

/// The text of a file or of standard input, or what is wrong with it.
fn read_text(path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().take(LARGEST_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) => return Err(format!("cannot read `{path}`: {error}")),
        Ok(n) if n as u64 > LARGEST_FILE => return Err(format!("`{path}` is larger than {} MB", LARGEST_FILE >> 20)),
        Ok(_) => {}
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("[Z001] `{path}` is not UTF-8 text: byte {at} begins no character; save it as UTF-8")
    })
}

fn settings(model: &OneModel) -> Result<Settings, u8> {
    let mut settings = Settings::default();
    if let Some(tolerance) = model.rank_tolerance {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return usage("--rank-tolerance must lie between 0 and 1, such as 1e-8");
        }
        settings.rank_tolerance = tolerance;
    }
    Ok(settings)
}

fn print_json(value: &serde_json::Value) -> Exit {
    print(&format!("{value:#}\n"))
}

fn check(model: &OneModel) -> Exit {
    let mut source = Source::open(&model.source, model.json)?;
    let check = source.check(model, false)?;
    if model.json {
        return print_json(&check_json(&source.reading, &source.diagnostics, Some(&check)));
    }
    source.say();
    print(&check_table(&source.file, &check))
}

fn run_model(model: &OneModel) -> Exit {
    let mut source = Source::open(&model.source, model.json)?;
    let check = source.check(model, false)?;
    source.refuse_later(&check, model.json)?;
    if model.json {
        return print_json(&run_json(&source.reading, &source.diagnostics, &check));
    }
    source.say();
    let mut out = summary(&source.file, &check);
    let names = check.equations.model.coordinates.iter().zip(&check.snapshot.found.qddot);
    let shown: Vec<String> =
        names.take(8).map(|(c, x)| format!("{}'' = {}", c.name, zwang::quantity::number(*x))).collect();
    out.push_str(&format!("  at the start: {}\n", shown.join(", ")));
    out.push_str("  derived and checked; simulation is not part of this version\n");
    let file = &source.file;
    out.push_str(&format!("  next:  zwang inspect {file}   |   zwang equations {file}\n"));
    print(&out)
}

fn inspect(model: &OneModel, at: Option<f64>) -> Exit {
    if at.is_some_and(|t| t != 0.0) {
        return usage(
            "--at looks along a motion, and simulation is not part of this version; leave it out for the start",
        );
    }
    let mut source = Source::open(&model.source, model.json)?;
    let check = source.check(model, true)?;
    source.refuse_later(&check, model.json)?;
    let state = check.state.clone();
    let inspection = match zwang::inspect(check, &settings(model)?) {
        Ok(inspection) => inspection,
        Err(error) => {
            source
                .diagnostics
                .push(Diagnostic::error("Z402", error.to_string()).with_note(format!("at t = {}", state.t)));
            return source.fail(model.json);
        }
    };
    if model.json {
        return print_json(&inspect_json(&source.reading, &source.diagnostics, &inspection));
    }
    source.say();
    print(&inspect_table(&source.file, &inspection))
}

fn equations(model: &ModelSource, format: Format) -> Exit {
    let mut source = Source::open(model, false)?;
    let Some(stated) = source.reading.model.take() else { return source.fail(false) };
    zwang::later_notes(&stated, Severity::Note, &mut source.diagnostics);
    source.say();
    let mut equations = Equations::derive(stated);
    print(&match format {
        Format::Text => zwang_view::equations_text(&mut equations),
        Format::Latex => zwang_view::equations_latex(&mut equations),
    })
}

fn explain_code(code: Option<&str>) -> Exit {
    let title = |page: &str| page.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    match code {
        None => {
            let list: Vec<String> = explain::PAGES.iter().map(|(_, page)| title(page)).collect();
            print(&format!("{}\n", list.join("\n")))
        }
        Some(code) => match explain::explain(code) {
            Some(page) => print(page),
            None => usage(&format!("there is no message `{code}`; `zwang explain` lists them all")),
        },
    }
}

fn new(name: Option<&str>, list: bool) -> Exit {
    if list {
        let lines: Vec<String> = TEMPLATES.iter().map(|(name, what, _)| format!("  {name:<16} {what}")).collect();
        return print(&format!("{}\n", lines.join("\n")));
    }
    let Some(name) = name else { return usage("give a name, as in `zwang new pendulum`, or --list") };
    let name = name.trim_end_matches(".zw");
    if name.is_empty() || name.ends_with('/') {
        return usage("give a name, as in `zwang new pendulum`");
    }
    let stem = std::path::Path::new(name).file_name().and_then(|s| s.to_str()).unwrap_or(name);
    let (_, _, text) = TEMPLATES.iter().find(|(template, _, _)| *template == stem).unwrap_or(&TEMPLATES[0]);
    let path = format!("{name}.zw");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => print(&format!("wrote {path}\n  next:  zwang run {}\n", quoted(&path))),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            usage(&format!("`{path}` is there already; choose another name"))
        }
        Err(error) => usage(&format!("cannot write `{path}`: {error}")),
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
