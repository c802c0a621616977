//! The action of each command. Data go to standard output, messages to standard error.

use std::io::Write;

use clap::CommandFactory;
use zwang::{At, RunOptions, explain};
use zwang_view::{check_json, check_table, inspect_json, inspect_table};

use crate::arguments::{Arguments, Command, OneModel};
use crate::bench;
use crate::drawing;
use crate::equations;
use crate::export;
use crate::files::Destination;
use crate::inverse;
use crate::linearize;
use crate::run;
use crate::shell::{Exit, print, print_json, quoted, usage};
use crate::source::ModelFile;
use crate::templates::TEMPLATES;
use crate::watch::ProgressBar;

/// Runs a command and returns its exit code.
pub fn execute(arguments: Arguments) -> u8 {
    let result = match arguments.command {
        Command::Run(model) => run::run(&model),
        Command::Check { model, fix } => check(&model, fix),
        Command::Equations { model, format, lagrangian, output } => {
            equations::equations(&model, format, lagrangian, output.as_deref())
        }
        Command::Inspect { model, at, tolerance, output } => inspect(&model, at, tolerance, &output),
        Command::Linearize { model, at } => linearize::run(&model, at),
        Command::Export { model, to, output } => export::export(&model, to, output.as_deref()),
        Command::Inverse(model) => inverse::run(&model),
        Command::Bench(model) => bench::bench(&model),
        Command::Explain { code } => explain_code(code.as_deref()),
        Command::New { name, list } => new(name.as_deref(), list),
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
    };
    result.unwrap_or_else(|code| code)
}

fn check(model: &OneModel, fix: bool) -> Exit {
    let mut file = ModelFile::open_one(model)?;
    if fix {
        file.fix()?;
    }
    let system = file.load()?;
    let check = system.check().or_else(|error| file.fail(&error))?;
    let done = if model.json {
        print_json(&check_json(system.source(), &check.notes, Some(&check)))
    } else {
        file.report(system.source(), &check.notes);
        print(&check_table(&file.file, &check))
    };
    // the program ends here; freeing the many small parts of a large model would take longer than some commands
    std::mem::forget((system, check));
    done
}

fn inspect(model: &OneModel, at: Option<f64>, tolerance: Option<f64>, output: &[Destination]) -> Exit {
    drawing::check_outputs(model, output)?;
    let file = ModelFile::open_one(model)?;
    let system = file.load()?;
    let mut bar = ProgressBar::new();
    let options = RunOptions { tolerance, ..RunOptions::default() };
    let inspection = system.inspect_with(&at.map_or(At::Start, At::Time), &options, &mut bar);
    bar.finish();
    let inspection = inspection.or_else(|error| {
        if system.check().is_err() {
            let failed = file.fail(&error);
            drawing::write_gap(&file, model, output);
            return failed;
        }
        run::ending(&file, &error)
    })?;
    let written = drawing::write(&inspection, output);
    let notes = &inspection.check.notes;
    if model.json {
        print_json(&inspect_json(system.source(), notes, &inspection))?;
    } else {
        file.report(system.source(), notes);
        print(&inspect_table(&file.file, &inspection))?;
    }
    written.say(model.json)
}

fn explain_code(code: Option<&str>) -> Exit {
    let title = |page: &str| page.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    match code {
        None => {
            let list: Vec<String> = explain::PAGES.iter().map(|(_, page)| title(page)).collect();
            print(&format!("{}\n", list.join("\n")))
        }
        Some(code) => match explain::explain(code) {
            Some(page) => print(page),
            None => usage(&format!("there is no message `{code}`; `zwang explain` lists them all")),
        },
    }
}

fn new(name: Option<&str>, list: bool) -> Exit {
    if list {
        let lines: Vec<String> = TEMPLATES.iter().map(|(name, what, _)| format!("  {name:<16} {what}")).collect();
        return print(&format!("{}\n", lines.join("\n")));
    }
    let Some(name) = name else { return usage("give a name, as in `zwang new pendulum`, or --list") };
    let name = name.trim_end_matches(".zw");
    if name.is_empty() || name.ends_with('/') {
        return usage("give a name, as in `zwang new pendulum`");
    }
    let stem = std::path::Path::new(name).file_name().and_then(|s| s.to_str()).unwrap_or(name);
    let (_, _, text) = TEMPLATES.iter().find(|(template, _, _)| *template == stem).unwrap_or(&TEMPLATES[0]);
    let path = format!("{name}.zw");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => print(&format!("wrote {path}\n  next:  zwang run {}\n", quoted(&path))),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            usage(&format!("`{path}` is there already; choose another name"))
        }
        Err(error) => usage(&format!("cannot write `{path}`: {error}")),
    }
}
