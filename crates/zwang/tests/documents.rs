//! The documents tell the truth: models in them pass, names in them exist, every message has its page.

use crate::common::{ROOT, checked};
use zwang::explain::{PAGES, explain};
use zwang::{Overrides, diagnostic::Severity};

fn document(path: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The fenced blocks of a document whose fence begins with `tag`: the rest of the fence line and the text.
fn blocks(text: &str, tag: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.trim_start().strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|l| !l.trim_start().starts_with("```")).collect();
        if let Some(rest) = fence.strip_prefix(tag)
            && (rest.is_empty() || rest.starts_with(' '))
        {
            found.push((rest.trim().to_string(), body.join("\n") + "\n"));
        }
    }
    found
}

#[test]
fn models_in_the_documents_pass_check() {
    let mut n_models = 0;
    for path in ["README.md", "docs/language.md", "docs/theory.md", "docs/motion.md", "docs/contact.md"] {
        for (_, model) in blocks(&document(path), "zw") {
            n_models += 1;
            let (check, diagnostics) = checked(&model, &Overrides::default());
            assert!(check.is_some(), "{path}:\n{model}\n{diagnostics:#?}");
        }
    }
    assert!(n_models >= 20, "only {n_models} models");
}

#[test]
fn every_page_shows_its_message_and_how_to_mend_it() {
    for (code, page) in PAGES {
        assert!(page.starts_with(&format!("# {code}: ")), "{code} has no title");
        for (tag, model) in blocks(page, "zw") {
            let (_, diagnostics) = checked(&model, &Overrides::default());
            let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
            match tag.as_str() {
                "wrong" => assert!(codes.contains(&code), "{code}:\n{model}\n{codes:?}"),
                "right" => {
                    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
                    assert!(errors.is_empty() && !codes.contains(&code), "{code}:\n{model}\n{errors:#?}");
                }
                other => panic!("{code}: a block is `wrong` or `right`, not `{other}`"),
            }
        }
    }
}

/// Every code in the sources has a page, and every page belongs to a code.
#[test]
fn codes_and_pages_match() {
    let mut codes = std::collections::BTreeSet::new();
    for folder in ["crates/zwang/src", "crates/zwang-cli/src"] {
        collect_codes(std::path::Path::new(&format!("{ROOT}/{folder}")), &mut codes);
    }
    for code in &codes {
        assert!(explain(code).is_some(), "{code} has no page");
    }
    for (code, _) in PAGES {
        assert!(codes.contains(code), "nothing says {code}");
    }
}

fn collect_codes(folder: &std::path::Path, codes: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("explain.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let bytes = text.as_bytes();
            for k in 1..bytes.len().saturating_sub(4) {
                let code = &bytes[k..k + 4];
                let quoted = matches!(bytes[k - 1], b'"' | b'[');
                if quoted && code[0] == b'Z' && code[1..].iter().all(u8::is_ascii_digit) {
                    codes.insert(String::from_utf8_lossy(code).into_owned());
                }
            }
        }
    }
}

/// The folders that ARCHITECTURE.md names exist, and so do its types.
#[test]
fn the_architecture_page_names_what_exists() {
    let page = document("ARCHITECTURE.md");
    let mut sources = String::new();
    for folder in ["zwang", "zwang-expr", "zwang-machine", "zwang-motion", "zwang-view", "zwang-workspace", "zwang-cli"]
    {
        append_sources(std::path::Path::new(&format!("{ROOT}/crates/{folder}/src")), &mut sources);
    }
    let (mut n_folders, mut n_types) = (0, 0);
    for line in page.lines().filter(|l| l.starts_with('|')) {
        for word in line.split('`').skip(1).step_by(2) {
            if word.starts_with("crates/") {
                assert!(std::path::Path::new(&format!("{ROOT}/{word}")).is_dir(), "{word} does not exist");
                n_folders += 1;
            } else if word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric) {
                let defined =
                    ["struct", "enum", "trait", "type"].iter().any(|k| sources.contains(&format!("pub {k} {word}")));
                assert!(defined, "there is no type {word}");
                n_types += 1;
            }
        }
    }
    assert!(n_folders > 15 && n_types > 30, "the tables were not found");
}

fn append_sources(folder: &std::path::Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            append_sources(&path, sources);
        } else if path.extension().is_some_and(|e| e == "rs") {
            sources.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The long names of the notation table are names in the code.
#[test]
fn the_notation_of_the_theory_is_that_of_the_code() {
    let theory = document("docs/theory.md");
    let mut sources = String::new();
    for folder in ["zwang", "zwang-motion"] {
        append_sources(std::path::Path::new(&format!("{ROOT}/crates/{folder}/src")), &mut sources);
    }
    let is_letter = |row: &&str| row.starts_with("| `") && row.matches('|').count() == 5;
    let mut n_names = 0;
    for row in theory.lines().filter(is_letter) {
        let long_names = row.split('|').nth(2).unwrap_or("");
        for name in long_names.split('`').skip(1).step_by(2) {
            let known = sources.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            assert!(known, "docs/theory.md names {name}, the code does not: {row}");
            n_names += 1;
        }
    }
    assert!(n_names > 15, "the notation table was not found");
}

/// Links between the documents lead somewhere.
#[test]
fn links_lead_somewhere() {
    for path in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "docs/language.md",
        "docs/theory.md",
        "docs/motion.md",
        "docs/constraints.md",
        "docs/contact.md",
        "docs/performance.md",
        "docs/trust.md",
        "bench/README.md",
        "models/README.md",
    ] {
        let text = document(path);
        let folder = std::path::Path::new(ROOT).join(path).parent().unwrap().to_path_buf();
        for piece in text.split("](").skip(1) {
            let link = piece.split(')').next().unwrap_or("").split('#').next().unwrap_or("");
            if !link.is_empty() && !link.contains("://") {
                assert!(folder.join(link).exists(), "{path} links to {link}");
            }
        }
    }
}

/// The page on trust names files of tests that exist.
#[test]
fn promises_name_their_tests() {
    let text = document("docs/trust.md");
    let promises = text.split("## How each promise is tested").nth(1).unwrap().split("## Validation").next().unwrap();
    let files: Vec<&str> = promises.split('`').filter(|piece| piece.ends_with(".rs")).collect();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let folders = ["zwang/tests", "zwang-cli/tests", "zwang-workspace/tests", "zwang/src/lower"];
        let exists = |folder: &&str| std::path::Path::new(&format!("{ROOT}/crates/{folder}/{file}")).exists();
        assert!(folders.iter().any(exists), "docs/trust.md names {file}");
    }
}
