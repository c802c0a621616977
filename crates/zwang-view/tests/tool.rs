//! Programs that some tests need: compilers, Python, a browser, LaTeX. A check whose program is missing is left out, which
//! standard error says once per program; where `ZWANG_TEST_ALL` is set, as in continuous integration, it fails instead.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;
use std::sync::Mutex;

static LEFT_OUT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The first of these programs that succeeds with these arguments.
pub fn tool(names: &[&str], arguments: &[&str]) -> Option<String> {
    let runs = |name: &&&str| Command::new(name).args(arguments).output().is_ok_and(|found| found.status.success());
    if let Some(name) = names.iter().find(runs) {
        return Some(name.to_string());
    }
    let missing = format!("`{} {}` does not run here", names.join("` or `"), arguments.join(" "));
    assert!(std::env::var_os("ZWANG_TEST_ALL").is_none(), "{missing}, and ZWANG_TEST_ALL is set");
    // the harness captures what `eprintln!` prints, but not what is written to the stream itself
    if LEFT_OUT.lock().unwrap().insert(missing.clone()) {
        let _ = writeln!(std::io::stderr(), "\nleft out: checks that need a program, since {missing}");
    }
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
