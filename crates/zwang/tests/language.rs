//! Snippets of the language, each with the messages it must give written above the line they belong to.
//!
//! A line `#> error Z101 some words` expects that message on the next line, with those words in it; a snippet
//! without such lines must pass `check` without any message but notes.

use std::sync::Arc;

use zwang::diagnostic::{Diagnostics, Severity};
use zwang::syntax::line_and_column;
use zwang::{Error, load};

/// All messages of a model text, `check` included.
fn messages(text: &str) -> (String, Diagnostics) {
    let system = load(text);
    let source = match &system {
        Ok(system) => Arc::clone(system.source()),
        Err(Error::Model { source, .. }) => Arc::clone(source),
        Err(error) => panic!("{error}"),
    };
    let diagnostics = match system.and_then(|system| system.check()) {
        Ok(check) => check.notes.clone(),
        Err(error) => crate::common::messages(&error),
    };
    (source.text.clone(), diagnostics)
}

struct Expected {
    severity: String,
    code: String,
    words: String,
    line: usize,
}

/// The model text of a snippet and what is expected of it.
fn expectations(snippet: &str) -> (String, Vec<Expected>) {
    let (mut text, mut expected, mut line) = (String::new(), Vec::new(), 1);
    for source in snippet.lines() {
        if let Some(rest) = source.strip_prefix("#> ") {
            let mut parts = rest.splitn(3, ' ').map(str::to_string);
            let mut next = || parts.next().expect("severity, code and words");
            expected.push(Expected { severity: next(), code: next(), words: next(), line });
        } else {
            text.push_str(source);
            text.push('\n');
            line += 1;
        }
    }
    (text, expected)
}

/// What is wrong with a snippet's messages; nothing if all is well.
fn check_snippet(file: &str, claim: &str, snippet: &str) -> Vec<String> {
    let (text, expected) = expectations(snippet);
    let (_, diagnostics) = messages(&text);
    let list: Vec<String> = diagnostics.iter().map(|d| format!("{} {} {:?}", d.code, d.message, d.help)).collect();
    let shown = format!("{file}: {claim}\n  {}", list.join("\n  "));
    let mut wrong = Vec::new();
    for want in &expected {
        let found = diagnostics.iter().any(|d| {
            let at = d.span.map(|s| line_and_column(&text, s.start).0);
            let everything = format!("{} {} {} {}", d.message, d.label, d.notes.join(" "), d.help.join(" "));
            d.code == want.code
                && d.severity.as_str() == want.severity
                && (at == Some(want.line) || at.is_none())
                && everything.contains(&want.words)
        });
        if !found {
            let Expected { severity, code, words, line } = want;
            wrong.push(format!("expected {severity} {code} `{words}` on line {line}\n{shown}"));
        }
    }
    let serious = diagnostics.iter().filter(|d| d.severity > Severity::Note);
    for d in serious {
        let at = d.span.map(|s| line_and_column(&text, s.start).0);
        let fits =
            |e: &Expected| e.code == d.code && e.severity == d.severity.as_str() && at.is_none_or(|l| l == e.line);
        let known = expected.iter().any(fits);
        if !known {
            wrong.push(format!("unexpected {} {}\n{shown}", d.code, d.message));
        }
    }
    wrong
}

#[test]
fn snippets_give_the_messages_written_above_their_lines() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language");
    let (mut n_snippets, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for snippet in text.split("=== ").skip(1) {
            let (claim, body) = snippet.split_once('\n').unwrap();
            wrong.extend(check_snippet(&path.file_name().unwrap().to_string_lossy(), claim, body));
            n_snippets += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(n_snippets > 60, "only {n_snippets} snippets were found");
}
