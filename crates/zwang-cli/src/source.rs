//! The model a command is about, and what is said about it.

use std::io::{IsTerminal, Read};
use std::thread::JoinHandle;

use zwang::diagnostic::{Diagnostic, Diagnostics, Severity};
use zwang::{Check, Overrides, Reading, Wishes};
use zwang_motion::Settings;
use zwang_view::{Paint, check_json, messages};

use crate::arguments::{ModelSource, OneModel};
use crate::shell::{MODEL_ERRORS, USAGE, complain, print_json, quoted, usage_as};

/// A model that was read, with the name to show in messages.
pub struct Source {
    pub file: String,
    pub reading: Reading,
    pub diagnostics: Diagnostics,
    overrides: Overrides,
}

impl Source {
    /// Reads the model; what is wrong with the file is a mistake of the command line.
    pub fn open(source: &ModelSource, as_json: bool) -> Result<Source, u8> {
        let file = if source.model == "-" { "standard input".to_string() } else { source.model.clone() };
        let text = match read_text(&source.model) {
            Ok(text) => text,
            Err(message) => {
                return usage_as(as_json, &message);
            }
        };
        let overrides = Overrides { set: source.set.clone(), start: source.start.clone() };
        let mut reading = read_model(&file, &text, &overrides);
        let diagnostics = std::mem::take(&mut reading.diagnostics);
        Ok(Source { file, reading, diagnostics, overrides })
    }

    /// Messages to standard error, in colour on a terminal unless NO_COLOR is set.
    pub fn say(&self) {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let paint = if colour { Paint::Coloured } else { Paint::Plain };
        complain(&messages(&self.file, &self.reading, &self.diagnostics, paint));
    }

    /// Ends a command whose model has errors.
    pub fn fail<T>(&self, as_json: bool) -> Result<T, u8> {
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

    /// Says that the motion ended before the time that was asked for.
    pub fn stop(&self, as_json: bool, message: &str) -> Result<(), u8> {
        if as_json {
            print_json(&check_json(&self.reading, &self.diagnostics, None))?;
        } else {
            self.say();
        }
        complain(&format!("error: {message}\n"));
        Ok(())
    }

    /// The model as the user wrote it, without what the command line changes.
    pub fn text(&self) -> &str {
        &self.reading.text[..self.reading.file_length]
    }

    /// The same with a last line that says what the command line changes, for pages and reports.
    pub fn told_text(&self) -> String {
        let text = self.text();
        let options = [("--set", &self.overrides.set), ("--start", &self.overrides.start)];
        let changes: Vec<String> = options
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |v| format!("{name} {}", quoted(v))))
            .collect();
        match changes.is_empty() {
            true => text.to_string(),
            false => format!(
                "{}\n\n# changed on the command line: {}\n",
                text.trim_end(),
                changes.join(" ").replace('\n', " ")
            ),
        }
    }

    /// What the command line changes.
    pub fn overrides_json(&self) -> serde_json::Value {
        serde_json::json!({ "set": self.overrides.set, "start": self.overrides.start })
    }

    /// The same model once more.
    pub fn again(&self) -> Source {
        let mut reading = read_model(&self.file, self.text(), &self.overrides);
        let diagnostics = std::mem::take(&mut reading.diagnostics);
        Source { file: self.file.clone(), reading, diagnostics, overrides: self.overrides.clone() }
    }

    /// Does something with the same model in a thread of its own.
    pub fn aside<T: Send + 'static>(&self, act: fn(Source) -> T) -> JoinHandle<T> {
        let (file, text, overrides) = (self.file.clone(), self.text().to_string(), self.overrides.clone());
        std::thread::spawn(move || {
            let mut reading = read_model(&file, &text, &overrides);
            let diagnostics = std::mem::take(&mut reading.diagnostics);
            act(Source { file, reading, diagnostics, overrides })
        })
    }

    /// The same model from a start near no special position, for what does not depend on it.
    pub fn somewhere(&self) -> Option<Source> {
        let again = self.again();
        let coordinates = &again.reading.model.as_ref()?.coordinates;
        // steps of about the golden ratio, so that no two values are in a simple proportion
        let guess = |(k, c): (usize, &zwang::model::Coordinate)| format!("{} ~ {}", c.name, 0.3 + 0.618 * k as f64);
        let start: Vec<String> = coordinates.iter().enumerate().map(guess).collect();
        let overrides = Overrides { set: self.overrides.set.clone(), start: vec![start.join(", ")] };
        let mut reading = read_model(&self.file, self.text(), &overrides);
        let diagnostics = std::mem::take(&mut reading.diagnostics);
        Some(Source { file: self.file.clone(), reading, diagnostics, overrides })
    }

    /// Checks the model; ends the command if it has errors.
    pub fn check(&mut self, model: &OneModel, with_legendre: bool) -> Result<Check, u8> {
        self.checked(model, with_legendre, false)
    }

    /// The same for a run, which does not wait for verdicts that take long.
    pub fn check_briefly(&mut self, model: &OneModel, with_legendre: bool) -> Result<Check, u8> {
        self.checked(model, with_legendre, true)
    }

    fn checked(&mut self, model: &OneModel, with_legendre: bool, brief: bool) -> Result<Check, u8> {
        let wishes = Wishes {
            settings: settings(model)?,
            fix_start: model.fix_start,
            with_legendre,
            route: model.route,
            brief,
            ..Wishes::default()
        };
        let Some(stated) = self.reading.model.take() else { return self.fail(model.json) };
        match zwang::check(stated, &wishes, &mut self.diagnostics) {
            Some(check) => Ok(check),
            None => self.fail(model.json),
        }
    }

    /// Refuses to give numbers for a model that says more than this version computes.
    pub fn refuse_later(&mut self, check: &Check, as_json: bool) -> Result<(), u8> {
        let model = &check.equations.model;
        if !model.later.iter().any(|l| l.changes_motion) {
            return Ok(());
        }
        zwang::later_notes(model, Severity::Error, &mut self.diagnostics);
        self.fail(as_json)
    }
}

/// Reads a model; the files it names are looked for beside it.
fn read_model(file: &str, text: &str, overrides: &Overrides) -> Reading {
    let folder = std::path::Path::new(file).parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    let open = |name: &str| match name {
        "-" => Err("a table is a file".into()),
        _ => read_text(&folder.join(name).to_string_lossy()),
    };
    zwang::read_with(text, overrides, &open)
}

/// Largest model that is read; no text written by a person comes near it.
const LARGEST_FILE: u64 = 64 << 20;

/// The text of a file or of standard input, or what is wrong with it.
pub fn read_text(path: &str) -> Result<String, String> {
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

/// The numbers that decide something, as the command line changes them.
pub fn settings(model: &OneModel) -> Result<Settings, u8> {
    let mut settings = Settings::default();
    if let Some(tolerance) = model.rank_tolerance {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return usage_as(model.json, "--rank-tolerance must lie between 0 and 1, such as 1e-8");
        }
        settings.rank_tolerance = tolerance;
    }
    Ok(settings)
}
