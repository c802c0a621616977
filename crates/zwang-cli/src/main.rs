//! The `zwang` command: arguments in, results out, no physics.

mod arguments;
mod bench;
mod commands;
mod drawing;
mod equations;
mod export;
mod files;
mod inverse;
mod linearize;
mod run;
mod shell;
mod source;
mod templates;
mod watch;

use clap::Parser;

fn main() -> std::process::ExitCode {
    // an internal error is reported in words; RUST_BACKTRACE requests more
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            shell::eprint(&format!(
                "internal error: {panic}\nthis is a mistake in zwang; please report it with the model\n"
            ));
        }));
    }
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // a program that requests JSON gets it for every exit code
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
