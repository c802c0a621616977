//! The workspace for WebAssembly: a JSON request in, a JSON answer out.
//!
//! ```
//! let answer = zwang_web::answer(r#"{"text": "coordinates x\nmass x: 1\nforce x: 2\nstart x = 0\nrun 1", "request": "run"}"#);
//! assert!(answer.contains(r#""outcome":"finished""#), "{answer}");
//! ```

mod border;

use std::cell::RefCell;
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use zwang::{Overrides, Progress, RunOptions};
use zwang_view::{check_json, diagnostics_json, run_json};
use zwang_workspace::{Body, Request, WEB_BUDGET, Workspace};

thread_local! {
    /// Kept between requests, so that a slider does not derive again.
    static WORKSPACE: RefCell<Workspace> = RefCell::new(Workspace::new(WEB_BUDGET));
}

/// Answers `{"text": …, "request": "check" or "run", "set": ["l=2"], "to": 10}`.
pub fn answer(request: &str) -> String {
    let answer = match serde_json::from_str::<Value>(request) {
        Ok(request) => WORKSPACE.with_borrow_mut(|workspace| answered(workspace, &request)),
        Err(error) => json!({ "error": format!("the request is not JSON: {error}") }),
    };
    answer.to_string()
}

fn answered(workspace: &mut Workspace, request: &Value) -> Value {
    let Some(text) = request["text"].as_str() else { return json!({ "error": "the request has no `text`" }) };
    let words = |key: &str| -> Vec<String> {
        request[key].as_array().into_iter().flatten().filter_map(|v| v.as_str().map(String::from)).collect()
    };
    workspace.set_text(text);
    workspace.set_overrides(Overrides { set: words("set"), start: words("start") });
    let asked = match request["request"].as_str() {
        Some("check") => Request::Check,
        Some("run") => Request::Run(RunOptions { to: request["to"].as_f64(), ..RunOptions::default() }),
        _ => return json!({ "error": "`request` is `check` or `run`" }),
    };
    let answer = workspace.answer(&asked, &mut |_: Progress| ControlFlow::Continue(()));
    let (source, notes) = (&answer.source, &answer.diagnostics);
    let mut object = match &answer.body {
        Some(Body::Run(run)) => run_json(source, notes, run),
        Some(Body::Check(check)) => check_json(source, notes, Some(check)).as_object().cloned().unwrap_or_default(),
        _ => Map::from_iter([("diagnostics".to_string(), diagnostics_json(source, notes))]),
    };
    object.insert("text_hash".into(), json!(format!("{:016x}", answer.text_hash)));
    if let Some(error) = answer.error.filter(|error| error.diagnostics().is_none()) {
        object.insert("error".into(), json!(error.to_string()));
    }
    Value::Object(object)
}
