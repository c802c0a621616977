//! Streams, messages and exit codes, common to all commands.

use std::io::{IsTerminal, Write};

use zwang::diagnostic::{Diagnostic, Diagnostics};
use zwang::visible::{is_hidden, visible};
use zwang::{Budget, Error, ModelText};
use zwang_view::{Paint, check_json, messages};

/// The command succeeded.
pub const SUCCESS: u8 = 0;
/// The model has errors.
pub const MODEL_ERRORS: u8 = 1;
/// The command line is wrong, or a file cannot be read or written.
pub const USAGE: u8 = 2;
/// The simulation stopped early.
pub const STOPPED: u8 = 3;

/// An exit code: `Err` ends a command early.
pub type Exit = Result<u8, u8>;

/// Writes to standard output, with hidden characters written out. A closed pipe is not an error; a full disk is.
pub fn print(text: &str) -> Exit {
    let mut out = std::io::stdout();
    match out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => usage(&format!("cannot write: {error}")),
        _ => Ok(SUCCESS),
    }
}

/// Writes to standard error, with hidden characters written out; a failure cannot be reported and is ignored.
pub fn eprint(text: &str) {
    eprint_painted(&visible(text));
}

/// Writes text with colours to standard error, which must be visible otherwise.
fn eprint_painted(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Reports a mistake of the command line.
pub fn usage<T>(message: &str) -> Result<T, u8> {
    eprint(&format!("error: {message}\n"));
    Err(USAGE)
}

/// Reports a mistake of the command line, as JSON if `as_json`.
pub fn usage_as<T>(as_json: bool, message: &str) -> Result<T, u8> {
    if as_json {
        print_json(&usage_json(message))?;
    }
    usage(message)
}

/// A mistake of the command line as JSON.
pub fn usage_json(message: &str) -> serde_json::Value {
    serde_json::json!({ "diagnostics": [{ "code": null, "severity": "error", "message": message, "source": "command line" }] })
}

/// Prints one JSON object.
pub fn print_json(value: &serde_json::Value) -> Exit {
    print(&visible_json(format!("{value:#}\n")))
}

/// JSON in which hidden characters, which occur inside its strings only, are escaped; line ends are those between its values.
pub fn visible_json(text: String) -> String {
    let acts = |c: char| is_hidden(c) && c != '\n';
    if !text.contains(acts) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            true => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
            false => out.push(c),
        }
    }
    out
}

/// Prints messages about the model called `name` to standard error, in colour on a terminal unless NO_COLOR is set.
pub fn report(name: &str, source: &ModelText, notes: &Diagnostics) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let paint = if colour { Paint::Coloured } else { Paint::Plain };
    eprint_painted(&messages(name, source, notes, paint));
}

/// Ends a command that failed.
pub fn fail<T>(name: &str, error: &Error, as_json: bool) -> Result<T, u8> {
    let (source, diagnostics) = match error {
        Error::Model { source, diagnostics } | Error::Ended { source, diagnostics, .. } => (source, diagnostics),
        Error::Budget { what, .. } => {
            let message = match *what {
                Budget::EXPRESSIONS => format!("{error}: --budget parts=…, or smaller families and sums"),
                Budget::CELLS => format!("{error}: --budget cells=…, or a larger --every"),
                _ => format!("{error}: --budget memory=…, or a larger --every"),
            };
            return usage_as(as_json, &message);
        }
        _ => return usage_as(as_json, &error.to_string()),
    };
    if as_json {
        print_json(&check_json(source, diagnostics, None))?;
    } else {
        report(name, source, diagnostics);
    }
    if let Error::Ended { .. } = error {
        eprint(&format!("error: {error}\n"));
        return Err(STOPPED);
    }
    // mistakes in --set and --start are mistakes of the command line
    let is_override = |d: &Diagnostic| d.is_error() && d.span.is_some_and(|s| s.start >= source.file_length);
    let overrides = source.text.len() > source.file_length && diagnostics.iter().any(is_override);
    Err(if overrides { USAGE } else { MODEL_ERRORS })
}
