//! The `zwang` command: arguments in, results out, no physics.

mod arguments;
mod bench;
mod budget;
mod check;
mod equations;
mod explain;
mod export;
mod files;
mod inputs;
mod inspect;
mod inverse;
mod linearize;
mod new;
mod run;
mod source;
mod templates;
mod terminal;
mod time_argument;
mod watch;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command};
use terminal::print;

fn main() -> std::process::ExitCode {
    // an internal error is reported in words; RUST_BACKTRACE requests more
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            terminal::eprint(&format!(
                "internal error: {panic}\nthis is a mistake in zwang; please report it with the model\n"
            ));
        }));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // a program that requests JSON gets it for every exit code
            if error.use_stderr() && std::env::args().any(|a| a == "--json") {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").lines().next().unwrap_or_default().to_string();
                let _ = terminal::print_json(&terminal::usage_json(&message));
            }
            // what the user typed may act on the terminal
            if std::env::args().any(|a| a.contains(zwang::visible::is_hidden)) {
                terminal::eprint(&error.to_string());
                return std::process::ExitCode::from(error.exit_code() as u8);
            }
            error.exit()
        }
    };
    std::process::ExitCode::from(execute(arguments.command).unwrap_or_else(|code| code))
}

/// Runs a command. Data go to standard output, messages to standard error.
fn execute(command: Command) -> terminal::Exit {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check { model, fix } => check::check(&model, fix),
        Command::Equations { model, format, lagrangian, output } => {
            equations::equations(&model, format, lagrangian, output.as_deref())
        }
        Command::Inspect { model, at, tolerance, output } => inspect::inspect(&model, at, tolerance, &output),
        Command::Linearize { model, at } => linearize::linearize(&model, at),
        Command::Export { model, to, output } => export::export(&model, to, output.as_deref()),
        Command::Inverse(arguments) => inverse::inverse(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Explain { code } => explain::explain(code.as_deref()),
        Command::New { name, list } => new::new(name.as_deref(), list),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "zwang", &mut out);
            print(&String::from_utf8_lossy(&out))
        }
        Command::Manual => {
            let mut out = Vec::new();
            // writing into memory does not fail
            let _ = clap_mangen::Man::new(Arguments::command()).render(&mut out);
            print(&String::from_utf8_lossy(&out))
        }
    }
}
