//! The `zwang` command: arguments in, results out, no physics.

mod arguments;
mod commands;
mod files;
mod run;
mod shell;
mod source;
mod templates;
mod watch;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // a program that asked for JSON gets it for every exit code
            if error.use_stderr() && std::env::args().any(|a| a == "--json") {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").lines().next().unwrap_or_default().to_string();
                let _ = shell::print_json(&shell::usage_json(&message));
            }
            error.exit()
        }
    };
    std::process::ExitCode::from(commands::execute(arguments))
}
