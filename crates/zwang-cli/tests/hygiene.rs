//! Format and lints, as tests, so that one command is the whole gate.

use std::process::Command;

fn cargo(arguments: &[&str]) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    // a folder of its own: the build that runs this test may hold the usual one
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("hygiene");
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root).env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_code_is_formatted() {
    cargo(&["fmt", "--all", "--check"]);
}

#[test]
fn the_lints_are_silent() {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
}
