//! The `zwang` command: arguments in, results out, no physics.

mod arguments;
mod commands;
mod templates;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let arguments = arguments::Arguments::parse();
    let code = commands::run(arguments);
    std::process::ExitCode::from(code)
}
