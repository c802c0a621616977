//! Streams and exit codes, common to all commands.

use std::io::Write;

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

/// Writes to standard output. A closed pipe is not an error; a full disk is.
pub fn print(text: &str) -> Exit {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => usage(&format!("cannot write: {error}")),
        _ => Ok(SUCCESS),
    }
}

/// Writes to standard error; a failure cannot be reported and is ignored.
pub fn eprint(text: &str) {
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
    print(&format!("{value:#}\n"))
}

/// A path quoted for a shell.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
