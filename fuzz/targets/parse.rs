//! Any text can be parsed: a tree and messages with spans inside the text, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (_, diagnostics) = zwang::syntax::parse(text);
    for diagnostic in diagnostics.iter() {
        if let Some(span) = diagnostic.span {
            assert!(text.get(span.start..span.end).is_some(), "{} points outside the text", diagnostic.code);
        }
    }
});
