//! What every command does with streams and exit codes.

use std::io::Write;

/// All went well.
pub const SUCCESS: u8 = 0;
/// The model has errors.
pub const MODEL_ERRORS: u8 = 1;
/// The command line is wrong, or a file cannot be read or written.
pub const USAGE: u8 = 2;
/// The simulation stopped early.
pub const STOPPED: u8 = 3;

/// An exit code: `Err` ends a command early.
pub type Exit = Result<u8, u8>;

/// Writes to standard output; a reader that went away is no error, a full disk is.
pub fn print(text: &str) -> Exit {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => usage(&format!("cannot write: {error}")),
        _ => Ok(SUCCESS),
    }
}

/// Writes to standard error; there is nowhere to complain if that fails.
pub fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Complains about the command line.
pub fn usage<T>(message: &str) -> Result<T, u8> {
    complain(&format!("error: {message}\n"));
    Err(USAGE)
}

/// Complains about the command line, also to a program that reads JSON.
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

/// A path as a shell takes it.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
