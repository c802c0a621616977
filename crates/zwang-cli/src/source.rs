//! The model of a command, and the messages about it.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;

use zwang::diagnostic::{Confidence, Diagnostic, Diagnostics, fixed};
use zwang::syntax::line_and_column;
use zwang::{Background, Derivation, Error, LoadOptions, ModelText, Overrides, System};
use zwang_motion::{RouteName, Settings};
use zwang_view::{Paint, check_json, messages};

use crate::arguments::{ModelSource, OneModel};
use crate::shell::{MODEL_ERRORS, USAGE, eprint, print_json, quoted, usage_as};

/// Runs the optimisation of machine code on separate threads.
struct Threads;

impl Background for Threads {
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        // without a thread the present code gives the same values
        let _ = std::thread::Builder::new().spawn(work);
    }
}

/// A model text with its name in messages and the options of its loading.
#[derive(Clone)]
pub struct ModelFile {
    pub file: String,
    text: String,
    overrides: Overrides,
    settings: Settings,
    route: RouteName,
    fix_start: bool,
    as_json: bool,
}

impl ModelFile {
    /// Reads the text; a problem with the file is a mistake of the command line.
    pub fn open(source: &ModelSource, as_json: bool) -> Result<ModelFile, u8> {
        let file = if source.model == "-" { "standard input".to_string() } else { source.model.clone() };
        let text = match read_text(&source.model) {
            Ok(text) => text,
            Err(message) => return usage_as(as_json, &message),
        };
        let overrides = Overrides { set: source.set.clone(), start: source.start.clone() };
        let (settings, route) = (Settings::default(), RouteName::default());
        Ok(ModelFile { file, text, overrides, settings, route, fix_start: false, as_json })
    }

    /// Reads the text for a command that checks or runs the model.
    pub fn open_one(model: &OneModel) -> Result<ModelFile, u8> {
        let settings = settings(model)?;
        let file = ModelFile::open(&model.source, model.json)?;
        Ok(ModelFile { settings, route: model.route, fix_start: model.fix_start, ..file })
    }

    /// Applies safe fixes to the file as long as a message has one.
    pub fn fix(&mut self) -> Result<(), u8> {
        /// Largest number of rounds; one fix may uncover another message.
        const MOST_ROUNDS: usize = 20;
        if self.file == "standard input" {
            return usage_as(self.as_json, "--fix writes into the file, and standard input is none");
        }
        let mut done: Vec<String> = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let Err(Error::Model { source, diagnostics }) = self.derive() else { break };
            let Some(text) = fixed(&self.text, diagnostics.iter()) else { break };
            for d in diagnostics.iter() {
                let safe = d.fixes.iter().filter(|fix| fix.confidence == Confidence::Safe);
                let line = d.span.map_or(0, |span| line_and_column(&source.text, span.start).0);
                done.extend(safe.map(|fix| format!("  line {line}: {} ({})\n", fix.title, d.code)));
            }
            self.text = text;
        }
        if !done.is_empty() {
            if std::fs::metadata(&self.file).is_ok_and(|data| data.permissions().readonly()) {
                return usage_as(self.as_json, &format!("cannot write `{}`: it is write-protected", self.file));
            }
            let written = crate::files::write_text(std::path::Path::new(&self.file), &self.text);
            written.or_else(|message| usage_as(self.as_json, &message))?;
            eprint(&format!("fixed {}\n{}", self.file, done.concat()));
        }
        Ok(())
    }

    /// Tolerances and limits of the numerical methods.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Loads the model; ends the command if it has errors.
    pub fn load(&self) -> Result<System, u8> {
        self.try_load().or_else(|error| self.fail(&error))
    }

    /// Loads the model.
    pub fn try_load(&self) -> Result<System, Error> {
        self.with_options(|options| zwang::load_with(&self.text, options))
    }

    /// Derives the equations without compiling them.
    pub fn derive(&self) -> Result<Derivation, Error> {
        self.with_options(|options| zwang::derive(&self.text, options))
    }

    /// Calls `act` with the load options, whose tables are searched in the folder of the model.
    fn with_options<T>(&self, act: impl FnOnce(&LoadOptions) -> T) -> T {
        let folder = PathBuf::from(&self.file).parent().map(PathBuf::from).unwrap_or_default();
        let open = |name: &str| match name {
            "-" => Err("a table is a file".into()),
            _ => read_text(&folder.join(name).to_string_lossy()),
        };
        let ModelFile { overrides, settings, route, fix_start, .. } = self.clone();
        let background: Option<Arc<dyn Background>> = Some(Arc::new(Threads));
        act(&LoadOptions { overrides, files: &open, settings, route, fix_start, background, ..LoadOptions::default() })
    }

    /// The model with a generic start, for results that do not depend on the start.
    pub fn somewhere(&self) -> Option<ModelFile> {
        let derived = self.derive().ok()?;
        // multiples of about the golden ratio, so that no two values have a simple proportion
        let guess = |(k, c): (usize, &zwang::model::Coordinate)| format!("{} ~ {}", c.name, 0.3 + 0.618 * k as f64);
        let start: Vec<String> = derived.equations.model.coordinates.iter().enumerate().map(guess).collect();
        let overrides = Overrides { set: self.overrides.set.clone(), start: vec![start.join(", ")] };
        Some(ModelFile { overrides, ..self.clone() })
    }

    /// Prints messages to standard error, in colour on a terminal unless NO_COLOR is set.
    pub fn report(&self, source: &ModelText, notes: &Diagnostics) {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let paint = if colour { Paint::Coloured } else { Paint::Plain };
        eprint(&messages(&self.file, source, notes, paint));
    }

    /// Ends a command that failed.
    pub fn fail<T>(&self, error: &Error) -> Result<T, u8> {
        let Error::Model { source, diagnostics } = error else { return usage_as(self.as_json, &error.to_string()) };
        self.fail_with(source, diagnostics)
    }

    /// Ends a command whose model has errors.
    pub fn fail_with<T>(&self, source: &ModelText, diagnostics: &Diagnostics) -> Result<T, u8> {
        if self.as_json {
            print_json(&check_json(source, diagnostics, None))?;
        } else {
            self.report(source, diagnostics);
        }
        // mistakes in --set and --start are mistakes of the command line
        let is_override = |d: &Diagnostic| d.is_error() && d.span.is_some_and(|s| s.start >= source.file_length);
        let overrides = source.text.len() > source.file_length && diagnostics.iter().any(is_override);
        Err(if overrides { USAGE } else { MODEL_ERRORS })
    }

    /// The text with a last line that states the changes of the command line, for pages and reports.
    pub fn text_with_overrides(&self, source: &ModelText) -> String {
        let text = source.own();
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

    /// The changes of the command line, as JSON.
    pub fn overrides_json(&self) -> serde_json::Value {
        serde_json::json!({ "set": self.overrides.set, "start": self.overrides.start })
    }
}

/// Largest size of a model file, in bytes; no text written by a person is nearly as long.
const LARGEST_FILE: u64 = 64 << 20;

/// The text of a file or of standard input, or the reason why it cannot be read.
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
fn settings(model: &OneModel) -> Result<Settings, u8> {
    let mut settings = Settings::default();
    if let Some(tolerance) = model.rank_tolerance {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return usage_as(model.json, "--rank-tolerance must lie between 0 and 1, such as 1e-8");
        }
        settings.rank_tolerance = tolerance;
    }
    Ok(settings)
}
