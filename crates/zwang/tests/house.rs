//! The rules of the house, read off the sources: rooms without cycles, types in their own rooms, one name for one thing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::ROOT;

/// A source file: its crate, its path below `src`, and its text without comments and unit tests.
struct Source {
    krate: String,
    path: String,
    text: String,
}

impl Source {
    /// The top-level module it belongs to.
    fn room(&self) -> &str {
        self.path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|e| e == "rs") => files.push(path),
            false => {}
        }
    }
}

fn sources() -> Vec<Source> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(format!("{ROOT}/crates")).unwrap() {
        let folder = entry.unwrap().path();
        let krate = folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // unit tests stand at the end of a file
            let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
            let code = |line: &str| line.split("//").next().unwrap_or_default().to_string();
            let path = file.strip_prefix(folder.join("src")).unwrap().to_string_lossy().replace('\\', "/");
            let text: Vec<String> = text.lines().map(code).collect();
            all.push(Source { krate: krate.clone(), path, text: text.join("\n") });
        }
    }
    assert!(all.len() > 250, "{} sources", all.len());
    all
}

fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// The modules that a source names behind `crate::`, also in a tree of braces.
fn named_rooms(text: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let Some(tree) = rest.strip_prefix('{') else {
            rooms.insert(name_at(rest).to_string());
            continue;
        };
        let (mut depth, mut begins) = (1, true);
        for (k, c) in tree.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => begins = true,
                c if depth == 1 && begins && !c.is_whitespace() => {
                    rooms.insert(name_at(&tree[k..]).to_string());
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    rooms
}

#[test]
fn no_module_takes_all_of_its_parent() {
    let all = sources();
    let stars: Vec<String> =
        all.iter().filter(|s| s.text.contains("use super::*")).map(|s| format!("{}/{}", s.krate, s.path)).collect();
    assert!(stars.is_empty(), "{stars:#?}");
}

#[test]
fn rooms_have_no_cycle() {
    let all = sources();
    let crates: BTreeSet<&str> = all.iter().map(|s| s.krate.as_str()).collect();
    for krate in crates {
        let own: Vec<&Source> =
            all.iter().filter(|s| s.krate == krate && !matches!(s.room(), "lib" | "main")).collect();
        let rooms: BTreeSet<&str> = own.iter().map(|s| s.room()).collect();
        let mut needs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for source in own {
            let named = named_rooms(&source.text).into_iter();
            let others = named.filter(|name| rooms.contains(name.as_str()) && name != source.room());
            needs.entry(source.room()).or_default().extend(others);
        }
        // rooms that need nothing that is left go first; what never goes is part of a cycle
        while let Some(free) = needs.iter().find(|(_, n)| !n.iter().any(|r| needs.contains_key(r.as_str()))) {
            let free = *free.0;
            needs.remove(free);
        }
        assert!(needs.is_empty(), "{krate}: {needs:#?}");
    }
}

/// Types with their crate, room and visibility.
fn types(all: &[Source]) -> Vec<(&str, &Source, bool)> {
    let mut found = Vec::new();
    for source in all {
        for line in source.text.lines() {
            let (is_visible, rest) = match line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")) {
                Some(rest) => (true, rest),
                None => (false, line.strip_prefix("pub(super) ").unwrap_or(line)),
            };
            let kinds = ["struct ", "enum ", "trait ", "type "];
            if let Some(rest) = kinds.iter().find_map(|kind| rest.strip_prefix(kind)) {
                found.push((name_at(rest), source, is_visible));
            }
        }
    }
    found
}

#[test]
fn visible_types_have_names_of_their_own() {
    let all = sources();
    let mut known: BTreeMap<&str, &Source> = BTreeMap::new();
    for (name, source, _) in types(&all).into_iter().filter(|(_, _, is_visible)| *is_visible) {
        // one of the two is compiled: with a code generator, or without
        let is_choice = name == "MachineCode";
        if let Some(other) = known.insert(name, source).filter(|_| !is_choice) {
            panic!("{name} is defined in {}/{} and in {}/{}", other.krate, other.path, source.krate, source.path);
        }
    }
}

#[test]
fn types_are_implemented_in_their_own_rooms() {
    // expressions are the one idea of zwang-expr, and each of its files adds what it does with them; what prints equations and
    // messages about contradictions have files of their own
    let elsewhere = [
        ("zwang-expr", "Graph", ""),
        ("zwang-expr", "Program", "interpret.rs"),
        ("zwang-expr", "Program", "enclose.rs"),
        ("zwang", "Equations", "formulas/printed.rs"),
        ("zwang", "Contradiction", "analysis/constraints/contradiction.rs"),
    ];
    let all = sources();
    let types = types(&all);
    for source in &all {
        for line in source.text.lines().filter(|line| line.starts_with("impl") && !line.contains(" for ")) {
            let rest = line.trim_start_matches("impl");
            let rest = match rest.strip_prefix('<') {
                Some(_) => rest.split_once("> ").map_or("", |(_, rest)| rest),
                None => rest.trim_start(),
            };
            let name = name_at(rest);
            let homes: Vec<&str> = types
                .iter()
                .filter(|(n, s, _)| *n == name && s.krate == source.krate)
                .map(|(_, s, _)| s.room())
                .collect();
            let is_known = elsewhere.iter().any(|(krate, other, path)| {
                *krate == source.krate && *other == name && (path.is_empty() || *path == source.path)
            });
            let is_home = homes.is_empty() || homes.contains(&source.room());
            assert!(is_home || is_known, "{name} of {homes:?} is implemented in {}/{}", source.krate, source.path);
        }
    }
}

/// A line of code without the contents of its strings.
fn without_strings(line: &str) -> String {
    line.replace("'\"'", "").split('"').step_by(2).collect::<Vec<_>>().join("\"")
}

/// The exponents of the numbers of a line that are written with a negative one, as in `2.5e-3`.
fn negative_exponents(line: &str) -> Vec<i32> {
    let is_number = |at: usize| {
        let digits = line[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_');
        digits.len() < at && !digits.ends_with(|c: char| c.is_alphanumeric())
    };
    let exponent = |at: usize| {
        let digits = &line[at + 2..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<i32>().ok()
    };
    line.match_indices("e-").filter(|(at, _)| is_number(*at)).filter_map(|(at, _)| exponent(at)).collect()
}

#[test]
fn thresholds_stand_in_one_place() {
    // coefficients of methods: tableaus, the control of the step size, and the digits that are printed
    let coefficients = ["methods/tableau.rs", "motion/step_size.rs", "quantity.rs", "settings.rs"];
    let is_place = |path: &str| path.starts_with("tolerance") || path.starts_with("limits");
    for source in sources().iter().filter(|s| matches!(s.krate.as_str(), "zwang" | "zwang-motion")) {
        if is_place(&source.path) || coefficients.contains(&source.path.as_str()) {
            continue;
        }
        for line in source.text.lines() {
            let small = negative_exponents(&without_strings(line)).into_iter().any(|e| e >= 3);
            assert!(!small, "{}/{} decides by a number of its own: {}", source.krate, source.path, line.trim());
        }
    }
}

#[test]
fn a_number_is_named_after_its_decision() {
    let vague = ["NOTHING", "ROUNDING", "MOST", "LEAST", "NEAR", "EDGE", "FOUND", "SMALL", "LARGE", "ROUNDS", "APART"];
    let mut known: BTreeMap<String, (String, String)> = BTreeMap::new();
    for source in &sources() {
        for (at, _) in source.text.match_indices("const ") {
            let rest = &source.text[at + "const ".len()..];
            let Some((name, rest)) = rest.split_once(": ") else { continue };
            let kinds = ["f64 = ", "usize = ", "u32 = ", "u64 = ", "i32 = "];
            let Some(value) = kinds.iter().find_map(|kind| rest.strip_prefix(kind)) else { continue };
            let value = value.split(';').next().unwrap_or_default().to_string();
            let at = format!("{}/{}", source.krate, source.path);
            let is_vague = vague.contains(&name) && !source.krate.ends_with("view") && source.path != "tolerance.rs";
            assert!(!is_vague, "{name} in {at} names no decision");
            let (before, other) = known.entry(name.to_string()).or_insert((value.clone(), at.clone()));
            assert!(*before == value, "{name} is {before} in {other} and {value} in {at}");
        }
    }
}
