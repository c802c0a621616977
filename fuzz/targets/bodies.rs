//! What is done with one input: by the fuzzer, and by the deterministic driver of the tests.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use zwang::csv_table::CsvTable;
use zwang::{Budget, Keep, Progress, RunOptions};
use zwang_view::{
    FormulaLanguage, Language, Paint, RunReport, check_json, csv, figure, inverse_json, inverse_table, messages,
    run_json, samples_json, svg,
};
use zwang_workspace::{Answer, Body, DocumentFormat, EquationsPart, Request, Workspace};

/// What one input may use: some seconds, some hundred megabytes.
pub const BUDGET: Budget = Budget { nodes: 100_000, bytes: 50_000_000, steps: 5_000, events: 500, cells: 200_000 };

fn workspace(text: &str) -> Workspace {
    let mut workspace = Workspace::new(BUDGET);
    workspace.set_text(text);
    workspace
}

fn ask(workspace: &mut Workspace, request: &Request) -> Answer {
    let answer = workspace.answer(request, &mut |_: Progress| ControlFlow::Continue(()));
    let shown = messages("model.zw", &answer.source, &answer.diagnostics, Paint::Plain);
    assert!(!shown.contains(|c: char| zwang::visible::is_hidden(c) && !matches!(c, '\n' | '\t')), "hidden: {shown:?}");
    check_json(&answer.source, &answer.diagnostics, None);
    assert!(answer.body.is_some() || answer.error.is_some(), "neither an answer nor an error");
    answer
}

/// Any model can be run; what comes out can be shown in every format.
pub fn run(text: &str) {
    let mut workspace = workspace(text);
    let keep = Keep { pictures: true, ..Keep::default() };
    let options = RunOptions { keep, ..RunOptions::default() };
    let answer = ask(&mut workspace, &Request::Run(options));
    let Some(Body::Run(run)) = &answer.body else { return };
    assert!(run.events().len() <= BUDGET.events as usize + 100, "{} events", run.events().len());
    let documents = RunReport::new("model.zw", text, run);
    let summary = documents.summary().to_string();
    assert!(summary.lines().count() > 2, "{summary}");
    for page in [documents.html(), documents.latex(), documents.markdown()] {
        assert!(!page.is_empty());
    }
    run_json(&answer.source, &answer.diagnostics, run);
    samples_json(run.samples());
    csv(run.samples(), true);
    svg(&figure(run));
}

/// Any text can be a table of a model and the path of inverse dynamics.
pub fn data(table: &str) {
    const MODEL: &str = "coordinates x\nmass x: 1\nforce x: table(\"f.csv\", t) - x\nstart x = 0\nrun 1\n";
    let mut workspace = workspace(MODEL);
    workspace.set_files(BTreeMap::from([("f.csv".to_string(), table.to_string())]));
    ask(&mut workspace, &Request::Check);
    ask(&mut workspace, &Request::Run(RunOptions::default()));
    let Ok(table) = CsvTable::parse(table) else { return };
    workspace.set_text("coordinates x, y\nmass x, y: 1\nconstraint rod: x^2 + y^2 = 1\nstart x = 1, y = 0\nrun 1\n");
    let answer = ask(&mut workspace, &Request::Inverse { table, driven: Vec::new() });
    let Some(Body::Inverse(found)) = &answer.body else { return };
    inverse_table("model.zw", "path.csv", found);
    inverse_json(&answer.source, &answer.diagnostics, found);
}

/// Any model can be written as code and as a document, or is refused with a message.
pub fn export(text: &str) {
    let mut workspace = workspace(text);
    let name = || "model".to_string();
    for language in [Language::C, Language::Rust, Language::Python] {
        let answer = ask(&mut workspace, &Request::Export { language, name: name() });
        let Some(Body::Text(code)) = &answer.body else { return };
        visible_code(code);
    }
    for language in [FormulaLanguage::C, FormulaLanguage::Rust, FormulaLanguage::NumPy, FormulaLanguage::SymPy] {
        let part = EquationsPart::Code { language, name: name() };
        if let Some(Body::Text(code)) = ask(&mut workspace, &Request::Equations(part)).body {
            visible_code(&code);
        }
    }
    for format in [DocumentFormat::Html, DocumentFormat::Latex, DocumentFormat::Markdown] {
        ask(&mut workspace, &Request::Equations(EquationsPart::Derivation(format)));
    }
}

fn visible_code(code: &str) {
    assert!(!code.contains(|c: char| zwang::visible::is_hidden(c) && !matches!(c, '\n' | '\t')), "hidden in code");
}
