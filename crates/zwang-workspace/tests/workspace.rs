//! A workspace answers as the library does, keeps what it can, and ends where it is told to.

use std::ops::ControlFlow;

use zwang::simulate::End;
use zwang::{At, Budget, Overrides, Progress, RunOptions};
use zwang_workspace::{Answer, AnswerEnd, Body, EquationsPart, FileMap, Request, Workspace};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn model(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/models/{name}.zw")).unwrap()
}

fn workspace(text: &str) -> Workspace {
    let mut workspace = Workspace::new(Budget::default());
    workspace.set_text(text);
    workspace
}

fn ask(workspace: &mut Workspace, request: &Request) -> Answer {
    workspace.answer(request, &mut |_: Progress| ControlFlow::Continue(()))
}

fn end_of(answer: Answer) -> Vec<f64> {
    let Some(Body::Run(run)) = answer.body else { panic!("{:?} {:?}", answer.diagnostics, answer.refusal) };
    [&run.state().q[..], &run.state().qdot[..]].concat()
}

fn set(values: &[&str]) -> Overrides {
    Overrides { set: values.iter().map(|v| v.to_string()).collect(), start: Vec::new() }
}

#[test]
fn every_request_about_a_pendulum_is_answered() {
    let mut w = workspace(&model("pendulum"));
    assert!(matches!(ask(&mut w, &Request::Check).body, Some(Body::Check(check)) if check.rank == 1));
    assert!(
        matches!(ask(&mut w, &Request::Run(RunOptions::to(1.0))).body, Some(Body::Run(run)) if *run.end() == End::Finished)
    );
    let equations = ask(&mut w, &Request::Equations(EquationsPart::Explicit)).body;
    assert!(matches!(equations, Some(Body::Text(text)) if text.contains("x'' =")));
    let at = ask(&mut w, &Request::Inspect(At::Time(0.5))).body;
    assert!(matches!(at, Some(Body::Inspection(found)) if (found.check.state.t - 0.5).abs() < 1e-12));
    assert!(
        matches!(ask(&mut w, &Request::Linearize(None)).body, Some(Body::Linearization(found)) if found.states.len() == 2)
    );
    let code = ask(&mut w, &Request::Export(zwang_view::Language::C)).body;
    assert!(matches!(code, Some(Body::Text(text)) if text.contains("void")));
    let page = ask(&mut w, &Request::Explain("Z310".into())).body;
    assert!(matches!(page, Some(Body::Text(text)) if text.starts_with("# Z310")));
    assert!(ask(&mut w, &Request::Explain("Z000".into())).refusal.is_some());
}

/// Numbers of parameters change the motion as `--set` does, to the bit, whether or not anything is derived again.
#[test]
fn overrides_move_as_the_text_says() {
    let text = model("pendulum");
    let run = Request::Run(RunOptions::to(1.0));
    let mut w = workspace(&text);
    let plain = end_of(ask(&mut w, &run));
    for overrides in [set(&["l=2"]), set(&["l=2", "m=3"]), set(&["l=50 cm"]), set(&["l=7"])] {
        w.set_overrides(overrides.clone());
        let options = zwang::LoadOptions { overrides, ..zwang::LoadOptions::default() };
        let own = zwang::load_with(&text, &options).unwrap().run(&RunOptions::to(1.0)).unwrap();
        let found = end_of(ask(&mut w, &run));
        assert_eq!(found, [&own.state().q[..], &own.state().qdot[..]].concat());
        assert_ne!(found, plain);
    }
    w.set_overrides(Overrides::default());
    assert_eq!(end_of(ask(&mut w, &run)), plain);
}

#[test]
fn a_mistake_comes_with_its_fixes() {
    let text = "coordinates x\nlagrangian x'^2/2 - ln(2 + x^2)\nstart x = 0";
    let mut w = workspace(text);
    let answer = ask(&mut w, &Request::Run(RunOptions::default()));
    assert!(answer.body.is_none() && answer.diagnostics.has_errors() && answer.end == AnswerEnd::Done);
    let at = text.find("ln(").unwrap();
    let answer = ask(&mut w, &Request::Fixes(zwang::syntax::Span::new(at, at)));
    let Some(Body::Fixes(fixes)) = answer.body else { panic!("no fixes") };
    assert_eq!(fixes[0].edits[0].text, "log");
}

#[test]
fn tables_come_from_the_files_that_were_given() {
    let mut w = workspace(&model("tall_building"));
    assert!(ask(&mut w, &Request::Check).diagnostics.has_errors(), "its table is not there yet");
    let table = std::fs::read_to_string(format!("{ROOT}/models/ground_motion.csv")).unwrap();
    w.set_files(FileMap::from([("ground_motion.csv".to_string(), table)]));
    assert!(ask(&mut w, &Request::Check).body.is_some());
}

#[test]
fn a_request_ends_where_it_is_told_to() {
    let mut w = workspace(&model("pendulum"));
    let mut n_steps = 0;
    let answer = w.answer(&Request::Run(RunOptions::default()), &mut |_: Progress| {
        n_steps += 1;
        if n_steps > 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(answer.end, AnswerEnd::Cancelled);
    assert!(matches!(answer.body, Some(Body::Run(run)) if run.state().t > 0.0 && run.state().t < 10.0));
    let mut w = Workspace::new(Budget { steps: 7, ..Budget::default() });
    w.set_text(&model("pendulum"));
    let answer = ask(&mut w, &Request::Run(RunOptions::default()));
    assert_eq!(answer.end, AnswerEnd::Budget);
    let mut w = Workspace::new(Budget { nodes: 10, ..Budget::default() });
    w.set_text(&model("pendulum"));
    let answer = ask(&mut w, &Request::Check);
    assert!(answer.end == AnswerEnd::Budget && answer.refusal.is_some_and(|why| why.contains("10 allowed")));
}

#[test]
fn answers_name_the_text_they_are_about() {
    let mut w = workspace("coordinates x\nmass x: 1\nstart x = 0");
    let first = ask(&mut w, &Request::Check).text_hash;
    w.set_text("coordinates y\nmass y: 1\nstart y = 0");
    let second = ask(&mut w, &Request::Check).text_hash;
    assert_ne!(first, second);
    w.set_text("coordinates x\nmass x: 1\nstart x = 0");
    assert_eq!(ask(&mut w, &Request::Check).text_hash, first);
}
