//! What each command does. Data goes to standard output, messages to standard error.

use std::io::{IsTerminal, Read, Write};

use clap::CommandFactory;
use zwang::diagnostic::{Diagnostic, Diagnostics};
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

/// Writes to standard output; a reader that went away is no error.
fn print(text: &str) -> Exit {
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(SUCCESS)
}

/// Complains about the command line.
fn usage<T>(message: &str) -> Result<T, u8> {
    eprintln!("error: {message}");
    Err(USAGE)
}

/// A model that was read, with the name to show in messages.
struct Source {
    file: String,
    reading: Reading,
    diagnostics: Diagnostics,
}

impl Source {
    fn open(source: &ModelSource) -> Result<Source, u8> {
        let (file, bytes) = if source.model == "-" {
            let mut bytes = Vec::new();
            if let Err(error) = std::io::stdin().read_to_end(&mut bytes) {
                return usage(&format!("cannot read standard input: {error}"));
            }
            ("standard input".to_string(), bytes)
        } else {
            match std::fs::read(&source.model) {
                Ok(bytes) => (source.model.clone(), bytes),
                Err(error) => return usage(&format!("cannot read `{}`: {error}", source.model)),
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                return usage(&format!(
                    "[Z001] `{file}` is not UTF-8 text: byte {at} begins no character; save it as UTF-8"
                ));
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
        eprint!("{}", messages(&self.file, &self.reading, &self.diagnostics, paint));
    }

    /// Ends a command whose model has errors.
    fn fail<T>(&self, as_json: bool) -> Result<T, u8> {
        if as_json {
            print_json(&check_json(&self.reading, &self.diagnostics, None));
        } else {
            self.say();
        }
        Err(MODEL_ERRORS)
    }

    fn check(&mut self, model: &OneModel, with_legendre: bool) -> Result<Check, u8> {
        let wishes = Wishes { settings: settings(model)?, fix_start: model.fix_start, with_legendre };
        let Some(stated) = self.reading.model.take() else { return self.fail(model.json) };
        match zwang::check(stated, &wishes, &mut self.diagnostics) {
            Some(check) => Ok(check),
            None => self.fail(model.json),
        }
    }

    /// Refuses to give numbers for a model that says more than this version computes.
    fn refuse_later(&mut self, check: &Check, as_json: bool) -> Result<(), u8> {
        let missing: Vec<_> = check.equations.model.later.iter().filter(|l| l.changes_motion).collect();
        if missing.is_empty() {
            return Ok(());
        }
        for later in missing {
            self.diagnostics.push(
                Diagnostic::error(
                    "Z901",
                    format!("not yet: {} is understood but this version does not compute it", later.what),
                )
                .at(later.span, "the motion would be wrong without it")
                .help("`zwang check` and `zwang equations` work without it"),
            );
        }
        self.fail(as_json)
    }
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

fn print_json(value: &serde_json::Value) {
    let _ = print(&format!("{value:#}\n"));
}

fn check(model: &OneModel) -> Exit {
    let mut source = Source::open(&model.source)?;
    let check = source.check(model, false)?;
    if model.json {
        print_json(&check_json(&source.reading, &source.diagnostics, Some(&check)));
        return Ok(SUCCESS);
    }
    source.say();
    print(&check_table(&source.file, &check))
}

fn run_model(model: &OneModel) -> Exit {
    let mut source = Source::open(&model.source)?;
    let check = source.check(model, false)?;
    source.refuse_later(&check, model.json)?;
    if model.json {
        print_json(&run_json(&source.reading, &source.diagnostics, &check));
        return Ok(SUCCESS);
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
    let mut source = Source::open(&model.source)?;
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
        print_json(&inspect_json(&source.reading, &source.diagnostics, &inspection));
        return Ok(SUCCESS);
    }
    source.say();
    print(&inspect_table(&source.file, &inspection))
}

fn equations(model: &ModelSource, format: Format) -> Exit {
    let mut source = Source::open(model)?;
    let Some(stated) = source.reading.model.take() else { return source.fail(false) };
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
    let stem = std::path::Path::new(name).file_name().and_then(|s| s.to_str()).unwrap_or(name);
    let (_, _, text) = TEMPLATES.iter().find(|(template, _, _)| *template == stem).unwrap_or(&TEMPLATES[0]);
    let path = format!("{name}.zw");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => print(&format!("wrote {path}\n  next:  zwang run {path}\n")),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            usage(&format!("`{path}` is there already; choose another name"))
        }
        Err(error) => usage(&format!("cannot write `{path}`: {error}")),
    }
}
