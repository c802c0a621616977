//! Any model can be loaded, checked, derived, inspected and printed; what comes out is finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zwang::{At, Error, LoadOptions};
use zwang_view::{Paint, check_json, equations_latex, equations_text, inspect_json, inspect_table, messages};

/// Messages of a request that was refused: at least one of them is an error.
fn refused(error: &Error) {
    let Error::Model { source, diagnostics } = error else { return };
    assert!(diagnostics.has_errors(), "no result and no error");
    messages("model.zw", source, diagnostics, Paint::Plain);
    check_json(source, diagnostics, None);
}

fuzz_target!(|text: &str| {
    let mut derived = match zwang::derive(text, &LoadOptions::default()) {
        Ok(derived) => derived,
        Err(error) => return refused(&error),
    };
    equations_text(&mut derived.equations);
    equations_latex(&mut derived.equations);

    let system = match zwang::load(text) {
        Ok(system) => system,
        Err(error) => return refused(&error),
    };
    let check = match system.check() {
        Ok(check) => check,
        Err(error) => return refused(&error),
    };
    messages("model.zw", system.source(), &check.notes, Paint::Plain);
    check_json(system.source(), &check.notes, Some(&check));
    assert!(check.state.q.iter().chain(&check.state.qdot).all(|x| x.is_finite()), "the start is not finite");
    if let Ok(inspection) = system.inspect(At::Start) {
        let found = &inspection.check.snapshot.found;
        assert!(found.qddot.iter().chain(&found.lambda).all(|x| x.is_finite()), "the result is not finite");
        inspect_table("model.zw", &inspection);
        inspect_json(system.source(), &inspection.check.notes, &inspection);
    }
});
