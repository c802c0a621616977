//! A workspace answers as the library does, keeps what it can, and ends where its caller says.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use zwang::csv_table::CsvTable;
use zwang::simulate::End;
use zwang::{At, Budget, Error, Monitor, Overrides, Progress, Resource, RunOptions};
use zwang_view::{FormulaLanguage, Language};
use zwang_workspace::{
    Answer, AnswerEnd, Body, DocumentFormat, EquationsPart, FileMap, Request, WEB_BUDGET, Workspace,
};

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
    let Some(Body::Run(run)) = answer.body else { panic!("{:?}", answer.error) };
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
    let at = ask(&mut w, &Request::Inspect(At::Time(0.5), RunOptions::default())).body;
    assert!(matches!(at, Some(Body::Inspection(found)) if (found.check.state.t - 0.5).abs() < 1e-12));
    assert!(
        matches!(ask(&mut w, &Request::Linearize(None)).body, Some(Body::Linearization(found)) if found.states.len() == 2)
    );
    let export = Request::Export { language: Language::C, name: "pendulum".into() };
    let code = ask(&mut w, &export).body;
    assert!(matches!(code, Some(Body::Text(text)) if text.contains("void")));
    let page = ask(&mut w, &Request::Explain("Z310".into())).body;
    assert!(matches!(page, Some(Body::Text(text)) if text.starts_with("# Z310")));
    assert!(ask(&mut w, &Request::Explain("Z000".into())).error.is_some());
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

/// Every kind of request about a tall building, whose table is opened as often as its text is read.
#[test]
fn every_request_derives_once() {
    let text = model("tall_building");
    let table = std::fs::read_to_string(format!("{ROOT}/models/ground_motion.csv")).unwrap();
    let n_opened = Rc::new(Cell::new(0));
    let fresh = |overrides: Overrides| {
        let (table, n_opened) = (table.clone(), Rc::clone(&n_opened));
        n_opened.set(0);
        let mut w = workspace(&text);
        w.set_overrides(overrides);
        w.open_with(move |_| {
            n_opened.set(n_opened.get() + 1);
            Ok(table.clone())
        });
        w
    };
    let short = || RunOptions::to(0.05);
    let code = |language| EquationsPart::Code { language, name: "building".into() };
    let document = |format| Request::Equations(EquationsPart::Derivation(format));
    let requests = [
        Request::Check,
        Request::Run(short()),
        Request::CompareDrift(short()),
        Request::Equations(EquationsPart::Explicit),
        Request::Equations(EquationsPart::ExplicitLatex),
        Request::Equations(EquationsPart::Lagrangian),
        Request::Equations(EquationsPart::LagrangianLatex),
        Request::Equations(code(FormulaLanguage::SymPy)),
        document(DocumentFormat::Html),
        document(DocumentFormat::Latex),
        document(DocumentFormat::Markdown),
        Request::Inspect(At::Start, RunOptions::default()),
        Request::Inspect(At::Time(0.05), RunOptions::default()),
        Request::ScaledStart,
        Request::Linearize(Some(At::Time(0.05))),
        Request::Inverse { table: CsvTable::parse("t, none\n0, 1\n1, 2\n").unwrap(), driven: vec![] },
        Request::Export { language: Language::C, name: "building".into() },
        Request::Fixes(zwang::syntax::Span::new(0, 10)),
    ];
    for overrides in [Overrides::default(), set(&["m=2"])] {
        let mut kept = fresh(overrides.clone());
        for request in &requests {
            let n_before = n_opened.get();
            ask(&mut kept, request);
            // whatever was requested before, nothing is derived again
            assert_eq!((n_opened.get(), kept.n_derivations()), (n_before.max(1), 1), "{request:?}");
        }
        for request in &requests {
            let mut w = fresh(overrides.clone());
            ask(&mut w, request);
            let n_first = n_opened.get();
            ask(&mut w, request);
            assert_eq!((n_first, n_opened.get(), w.n_derivations()), (1, 1, 1), "{request:?}");
        }
    }
}

/// Derived: the first text with overrides, then the text without them; then numbers of parameters need nothing more.
#[test]
fn a_slider_derives_twice_however_far_it_is_moved() {
    let mut w = workspace(&model("pendulum"));
    let counts: Vec<usize> = (1..6)
        .map(|k| {
            w.set_overrides(set(&[&format!("l={}", 0.5 * f64::from(k))]));
            ask(&mut w, &Request::Check);
            w.n_derivations()
        })
        .collect();
    assert_eq!(counts, [1, 2, 2, 2, 2]);
    w.set_overrides(set(&["l=50 cm"]));
    ask(&mut w, &Request::Check);
    assert_eq!(w.n_derivations(), 3, "a unit is read by the language");
}

/// Each round of fixes reads the text again; the text without mistakes is derived once, for the check too.
#[test]
fn fixes_are_applied_until_none_is_left() {
    let mut w = workspace("coordinates x\n// said\nlagrangian xdot^2/2 - ln(2 + x^2)\nstart x = 0");
    let fixes: Vec<(usize, &str)> = w.fix().iter().map(|fix| (fix.line, fix.code)).collect();
    assert_eq!(fixes, [(2, "Z007"), (3, "Z101"), (3, "Z101")]);
    assert_eq!(w.text(), "coordinates x\n# said\nlagrangian x'^2/2 - log(2 + x^2)\nstart x = 0");
    assert!(ask(&mut w, &Request::Check).body.is_some());
    assert_eq!(w.n_derivations(), 1);
    assert!(w.fix().is_empty());
}

/// A document about constraints that contradict each other is not written; a picture of their gap is drawn.
#[test]
fn conflicting_rows_have_a_picture() {
    let mut w = workspace(
        "coordinates x, y\nmass x, y: 1\nconstraint slow: x'' + y'' = 1\nconstraint fast: x'' + y'' = 2\nstart x = 0, y = 0",
    );
    let inspected = ask(&mut w, &Request::Inspect(At::Start, RunOptions::default()));
    assert!(inspected.body.is_none() && inspected.diagnostics.has_errors());
    let Some(Body::ScaledStart(scaled)) = ask(&mut w, &Request::ScaledStart).body else { panic!("no picture") };
    assert_eq!(scaled.gaps.len(), 2);
    assert!(ask(&mut w, &Request::Equations(EquationsPart::Explicit)).body.is_none());
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
fn a_request_ends_where_its_monitor_or_its_budget_ends() {
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
    assert!(answer.end == AnswerEnd::Budget && answer.error.is_some_and(|why| why.to_string().contains("10 allowed")));
}

/// A limit that the monitor measures, as time, ends a run with the outcome of a budget and not with that of an interruption.
#[test]
fn a_monitor_that_measures_ends_a_run_as_a_budget_does() {
    struct Clock(bool);
    impl Monitor for Clock {
        fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
            self.0 = progress.t > 1.0;
            if self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
        fn spent(&self) -> Option<Resource> {
            self.0.then_some(Resource::Time)
        }
    }
    let mut w = workspace(&model("pendulum"));
    let answer = w.answer(&Request::Run(RunOptions::default()), &mut Clock(false));
    assert_eq!(answer.end, AnswerEnd::Budget);
    assert!(answer.diagnostics.iter().any(|d| d.code == "Z620"));
    let Some(Body::Run(run)) = answer.body else { panic!("no run") };
    assert_eq!((run.end().as_str(), run.end()), ("budget", &End::BudgetSpent(Resource::Time)));
    assert!(run.state().t > 1.0 && run.state().t < 3.0);
}

/// The budget of the web ends what would fill a tab.
#[test]
fn the_web_has_a_budget() {
    let mut w = Workspace::new(WEB_BUDGET);
    w.set_text("coordinates x[1..2000]\nmass x[k in 1..2000]: 1\nstart x[k in 1..2000] = 1\nrun 1\n");
    let options = RunOptions { every: Some(1e-6), ..RunOptions::default() };
    let answer = ask(&mut w, &Request::Run(options));
    assert!(answer.end == AnswerEnd::Budget && matches!(answer.error, Some(Error::Budget { what: Budget::CELLS, .. })));
    w.set_text(
        "coordinates x\nmass x: 1\nforce x: -sum(i in 1..900: sum(j in 1..900: sin(i*j*x)))\nstart x = 1\nrun 1\n",
    );
    assert!(matches!(ask(&mut w, &Request::Check).error, Some(Error::Budget { what: Budget::EXPRESSIONS, .. })));
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
