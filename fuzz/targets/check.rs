//! Any model can be read, checked, derived, inspected and printed; what comes out is finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zwang::Wishes;
use zwang::equations::Equations;
use zwang_view::{Paint, check_json, equations_latex, equations_text, inspect_json, inspect_table, messages};

fuzz_target!(|text: &str| {
    let mut reading = zwang::read(text, &Default::default());
    let mut diagnostics = std::mem::take(&mut reading.diagnostics);
    let Some(model) = reading.model.take() else {
        assert!(diagnostics.has_errors(), "no model and no error");
        messages("model.zw", &reading, &diagnostics, Paint::Plain);
        return;
    };
    let mut equations = Equations::derive(model.clone());
    equations_text(&mut equations);
    equations_latex(&mut equations);

    let wishes = Wishes { with_legendre: true, ..Default::default() };
    let check = zwang::check(model, &wishes, &mut diagnostics);
    messages("model.zw", &reading, &diagnostics, Paint::Plain);
    check_json(&reading, &diagnostics, check.as_ref());
    let Some(check) = check else {
        assert!(diagnostics.has_errors(), "no result and no error");
        return;
    };
    assert!(check.state.q.iter().chain(&check.state.qdot).all(|x| x.is_finite()), "the start is not finite");
    if check.equations.model.later.iter().any(|later| later.changes_motion) {
        return;
    }
    if let Ok(inspection) = zwang::inspect(check, &wishes.settings) {
        let found = &inspection.check.snapshot.found;
        assert!(found.qddot.iter().chain(&found.lambda).all(|x| x.is_finite()), "the result is not finite");
        inspect_table("model.zw", &inspection);
        inspect_json(&reading, &diagnostics, &inspection);
    }
});
