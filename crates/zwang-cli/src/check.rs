//! `zwang check`: every analysis that needs no integration.

use zwang_view::{check_json, check_table};
use zwang_workspace::{Body, Request};

use crate::arguments::OneModel;
use crate::files::write_text;
use crate::inputs::OutputFiles;
use crate::source::ModelFile;
use crate::terminal::{Exit, eprint, print, print_json, report, usage_as};
use crate::watch::unwatched;

/// Checks a model; with `fix` the safe fixes are written into the file first.
pub fn check(model: &OneModel, fix: bool) -> Exit {
    let mut file = ModelFile::open_one(model, OutputFiles::default())?;
    if fix {
        fix_file(&mut file, model)?;
    }
    let answer = file.ask(&Request::Check, &mut unwatched);
    let Some(Body::Check(check)) = &answer.body else { return file.fail(&answer) };
    let done = if model.json {
        print_json(&check_json(&answer.source, &answer.diagnostics, Some(check)))
    } else {
        report(&file.name, &answer.source, &answer.diagnostics);
        print(&check_table(&file.name, check))
    };
    // the program ends here; freeing the many small parts of a large model would take longer than some commands
    std::mem::forget((file, answer));
    done
}

/// Writes the safe fixes into the file.
fn fix_file(file: &mut ModelFile, model: &OneModel) -> Result<(), u8> {
    if model.source.model == "-" {
        return usage_as(model.json, "--fix writes into the file, and standard input is none");
    }
    let fixes = file.workspace.fix();
    if fixes.is_empty() {
        return Ok(());
    }
    if std::fs::metadata(&model.source.model).is_ok_and(|data| data.permissions().readonly()) {
        return usage_as(model.json, &format!("cannot write `{}`: it is write-protected", file.name));
    }
    let written = write_text(std::path::Path::new(&model.source.model), file.workspace.text());
    written.or_else(|message| usage_as(model.json, &message))?;
    let lines = fixes.iter().map(|fix| format!("  line {}: {} ({})\n", fix.line, fix.title, fix.code));
    eprint(&format!("fixed {}\n{}", file.name, lines.collect::<String>()));
    Ok(())
}
