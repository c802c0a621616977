//! Cures that are called safe cure: the model then passes the check that the message is about.

use std::collections::BTreeSet;

use zwang::diagnostic::{Confidence, Diagnostic, fixed};
use zwang::{LoadOptions, derive, explain::PAGES, load};

fn messages(text: &str) -> Vec<Diagnostic> {
    match derive(text, &LoadOptions::default()) {
        Ok(derived) => derived.notes.iter().cloned().collect(),
        Err(error) => error.diagnostics().map(|notes| notes.iter().cloned().collect()).unwrap_or_default(),
    }
}

/// Texts with mistakes: those of the pages behind the messages, those of the language tests, and one for each cure.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (_, page) in PAGES {
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("```zw") {
                texts.push(lines.by_ref().take_while(|l| !l.starts_with("```")).collect::<Vec<_>>().join("\n"));
            }
        }
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language");
    for entry in std::fs::read_dir(folder).unwrap() {
        texts.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    texts.extend(MISTAKES.iter().copied().flatten().map(|text| text.to_string()));
    texts
}

/// Texts whose only mistake has a safe fix, for each place in the sources that makes one.
const MISTAKES: [&[&str]; 6] = [
    &[
        "// a comment\ncoordinates x\nmass x: 1\nstart x = 0",
        "coordinates x\n  % a comment\nmass x: 1\nstart x = 0",
        "coordinates x # y\n//\nmass x: 1\nstart x = 0",
    ],
    &["coordinates x\nlagrangian x'^2/2 - 2(x + x^2)\nstart x = 0"],
    &[
        "coordinates x\nlagrangian x'^2/2 - 2 x\nstart x = 0",
        "coordinates x\nparameter k = 3\nlagrangian x'^2/2 - 2 k*x\nstart x = 0",
    ],
    &["coordinates x\nlagrangian x'^2/2 - ln(2 + x^2)\nstart x = 0"],
    &[
        "coordinates x\nlagrangian x'^2/2 - arcsin(x/9)\nstart x = 0",
        "coordinates x\nlagrangian x'^2/2 - arccos(x/9)\nstart x = 0",
        "coordinates x\nlagrangian x'^2/2 - arctan(x/9)\nstart x = 0",
    ],
    &[
        "coordinates x\nlagrangian xdot^2/2 - x^2\nstart x = 0",
        "coordinates θ\nlagrangian theta_dot^2/2 - θ^2\nstart θ = 0",
    ],
];

/// Each place that makes a safe fix has texts above; the fixed text passes the whole check.
#[test]
fn every_text_with_one_mistake_passes_the_check_once_it_is_fixed() {
    let sources = sources();
    let places = sources.iter().map(|text| text.matches(".cure(").count() + text.matches(".cured_by(").count());
    // `cured_by` makes its fix by `cure`
    assert_eq!(places.sum::<usize>(), MISTAKES.len() + 1, "a place without a text, or a text without a place");
    for text in MISTAKES.iter().copied().flatten() {
        let error = load(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
        let errors = error.diagnostics().unwrap().iter().filter(|d| d.is_error());
        assert_eq!(errors.count(), 1, "{text}\n{error}");
        let fixed = fixed(text, error.diagnostics().unwrap().iter()).unwrap_or_else(|| panic!("{text}\n{error}"));
        let check = load(&fixed).and_then(|system| system.check());
        assert!(check.is_ok_and(|check| !check.notes.has_errors()), "{fixed}");
    }
}

/// The texts of all source files of the crate.
fn sources() -> Vec<String> {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "rs") => {
                    texts.push(std::fs::read_to_string(path).unwrap());
                }
                false => {}
            }
        }
    }
    texts
}

#[test]
fn every_safe_fix_cures_its_message() {
    let mut cured = BTreeSet::new();
    for text in texts() {
        let before = messages(&text);
        for d in before.iter().filter(|d| d.fixes.iter().any(|fix| fix.confidence == Confidence::Safe)) {
            let after = messages(&fixed(&text, std::iter::once(d)).unwrap());
            let count =
                |list: &[Diagnostic]| list.iter().filter(|x| (x.code, &x.message) == (d.code, &d.message)).count();
            assert!(count(&after) < count(&before), "{text}\n{d:#?}\n{after:#?}");
            cured.insert(d.code);
        }
    }
    assert_eq!(cured.into_iter().collect::<Vec<_>>(), ["Z007", "Z101", "Z102"]);
}

/// What may have been meant otherwise stays as it is: a remainder, a division, a word of another language, a unit.
#[test]
fn ambiguous_text_is_not_touched() {
    let formulas =
        ["7 % 3", "x // 2", "2 & x", "-2 # strange\n   x", "if x > 0 && x < 1 then 1 else 2", "2 ! x", "3 kg"];
    for formula in formulas {
        let text = format!("coordinates x\nmass x: 1\nforce x: {formula}\nstart x = 1\nrun 5 g\n");
        assert_eq!(fixed(&text, messages(&text).iter()), None, "{text}");
    }
    let text = "coordinates x\r\n// comment\r\nmass x: 1\r\nstart x = 0\r\n";
    assert_eq!(
        fixed(text, messages(text).iter()).as_deref(),
        Some("coordinates x\r\n# comment\r\nmass x: 1\r\nstart x = 0\r\n")
    );
}

/// A guess is an edit that can be made, inside the text.
#[test]
fn guesses_lie_inside_the_text() {
    let mut n_guesses = 0;
    for text in texts() {
        for d in messages(&text) {
            for edit in d.fixes.iter().flat_map(|fix| &fix.edits) {
                assert!(text.get(edit.span.start..edit.span.end).is_some(), "{text}\n{d:#?}");
                n_guesses += 1;
            }
        }
    }
    assert!(n_guesses > 10, "{n_guesses}");
}
