//! Programs that some tests need: compilers, Python, a browser, LaTeX. A check whose program is missing is left out and noted in
//! a file, which the last program of the test command (`left_out` of zwang-workspace) prints; where `ZWANG_TEST_ALL` is set, as in
//! continuous integration, the check fails instead.

use std::io::Write;
use std::process::Command;
use std::sync::Mutex;

/// One line per check that was left out; one test writes at a time.
static LEFT_OUT: Mutex<()> = Mutex::new(());
const NOTES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/left_out.txt");

/// The first of these programs that succeeds with these arguments.
pub fn tool(names: &[&str], arguments: &[&str]) -> Option<String> {
    let runs = |name: &&&str| Command::new(name).args(arguments).output().is_ok_and(|found| found.status.success());
    if let Some(name) = names.iter().find(runs) {
        return Some(name.to_string());
    }
    let missing = format!("`{} {}` does not run here", names.join("` or `"), arguments.join(" "));
    assert!(std::env::var_os("ZWANG_TEST_ALL").is_none(), "{missing}, and ZWANG_TEST_ALL is set");
    let test = std::thread::current().name().unwrap_or("a test").to_string();
    let _guard = LEFT_OUT.lock().unwrap();
    let notes = std::fs::OpenOptions::new().create(true).append(true).open(NOTES);
    notes.and_then(|mut file| writeln!(file, "{missing}\t{test}")).unwrap();
    None
}

/// A browser that shows pages without a screen.
pub fn browser() -> Option<String> {
    tool(&["chromium", "chromium-browser", "google-chrome"], &["--version"])
}

/// The C compiler, which `CC` may name.
pub fn c_compiler() -> Option<String> {
    tool(&[&std::env::var("CC").unwrap_or("cc".into())], &["--version"])
}

/// Python with these modules; `PYTHON` may name the interpreter.
pub fn python(modules: &str) -> Option<String> {
    tool(&[&std::env::var("PYTHON").unwrap_or("python3".into())], &["-c", &format!("import {modules}")])
}
