//! Overrides from the command line: values of parameters and constants, and entries of the start.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::lexer::{Token, tokens};
use crate::syntax::name::{canonical, nearest};
use crate::syntax::parser::{Parsed, Parser};
use crate::syntax::tree::*;

/// Changes to a model text, each in the syntax of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `l=2`, `n=5`
    pub set: Vec<String>,
    /// `x=1, x'=0`
    pub start: Vec<String>,
}

impl Overrides {
    /// The changes as arguments of a command line, quoted for a shell: `--set l=2 --start 'x=1, y=0'`; empty without changes.
    pub fn arguments(&self) -> String {
        let set = self.set.iter().map(|value| format!("--set {}", quoted(value)));
        let start = self.start.iter().map(|value| format!("--start {}", quoted(value)));
        set.chain(start).collect::<Vec<_>>().join(" ")
    }

    /// The text of a model with a last line that states the changes, for pages and reports.
    pub fn stated_in(&self, text: &str) -> String {
        match self.arguments() {
            none if none.is_empty() => text.to_string(),
            changes => {
                format!("{}\n\n# changed on the command line: {}\n", text.trim_end(), changes.replace('\n', " "))
            }
        }
    }

    /// Changes the tree. The overrides are appended to `text`, so that messages can refer to them.
    pub fn apply(&self, text: &mut String, tree: &mut SyntaxTree, diagnostics: &mut Diagnostics) {
        for set in &self.set {
            let tokens = appended(text, set, diagnostics);
            if let Ok(change) = reading(&tokens, diagnostics, |p| p.initial()) {
                set_value(tree, change, diagnostics);
            }
        }
        for start in &self.start {
            let tokens = appended(text, start, diagnostics);
            if let Ok(entries) = reading(&tokens, diagnostics, |p| p.list(|p| p.initial())) {
                replace_start(tree, entries);
            }
        }
    }
}

/// A word quoted for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Appends a line to the text and returns its tokens.
fn appended(text: &mut String, line: &str, diagnostics: &mut Diagnostics) -> (Vec<Token>, usize) {
    text.push('\n');
    let from = text.len();
    text.push_str(&line.replace(['\n', '\r'], " "));
    (tokens(text, from, diagnostics), text.len())
}

/// Reads one override, which must end with the tokens.
fn reading<T>(
    (tokens, end): &(Vec<Token>, usize),
    diagnostics: &mut Diagnostics,
    read: impl FnOnce(&mut Parser) -> Parsed<T>,
) -> Parsed<T> {
    let mut parser = Parser::new(tokens, *end, diagnostics);
    let result = read(&mut parser)?;
    if parser.at < tokens.len() { parser.fail("the end") } else { Ok(result) }
}

fn set_value(tree: &mut SyntaxTree, change: Initial, diagnostics: &mut Diagnostics) {
    let target = match &change.left {
        InitialSide::Quantity { target, primes: 0 } if change.exact && target.indices.is_empty() => target,
        _ => {
            let d = Diagnostic::error("Z801", "--set gives a value to one parameter or constant")
                .at(change.span, "not of that form");
            diagnostics.push(d.help("--set l=2   (for the start:  --start \"x'=0\")"));
            return;
        }
    };
    let wanted = canonical(&target.name.text);
    let mut known = Vec::new();
    let constants = constant_lets(tree);
    for statement in &mut tree.statements {
        match &mut statement.kind {
            StatementKind::Parameters(list) => {
                for p in list {
                    if canonical(&p.target.name.text) == wanted {
                        p.set_unit = p.unit();
                        p.value = change.value;
                        return;
                    }
                    known.push(p.target.name.text.clone());
                }
            }
            StatementKind::Let { target, arguments: None, value }
                if constants.contains(&canonical(&target.name.text)) =>
            {
                if canonical(&target.name.text) == wanted {
                    *value = change.value;
                    return;
                }
                known.push(target.name.text.clone());
            }
            _ => {}
        }
    }
    let name = &target.name.text;
    let d = Diagnostic::error("Z801", format!("there is no parameter or constant `{name}` to set"))
        .at(target.span, "not in the model");
    let d = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => d.did_you_mean(near),
        None if known.is_empty() => d.help("the model has no parameters"),
        None => d.help(format!("what can be set: {}", known.join(", "))),
    };
    diagnostics.push(d);
}

/// The definitions that consist of numbers and other such definitions only.
fn constant_lets(tree: &SyntaxTree) -> Vec<String> {
    let mut constants: Vec<String> = Vec::new();
    loop {
        let before = constants.len();
        for statement in &tree.statements {
            let StatementKind::Let { target, arguments: None, value } = &statement.kind else { continue };
            let name = canonical(&target.name.text);
            if !constants.contains(&name) && is_constant(value, &constants) {
                constants.push(name);
            }
        }
        if constants.len() == before {
            return constants;
        }
    }
}

fn is_constant(formula: &Formula, constants: &[String]) -> bool {
    let all = |parts: &[(bool, Formula)]| parts.iter().all(|(_, part)| is_constant(part, constants));
    match &formula.kind {
        FormulaKind::Number(_) | FormulaKind::WithUnit(..) => true,
        FormulaKind::Name(name) => canonical(name) == "π" || constants.contains(&canonical(name)),
        FormulaKind::Call(_, arguments) => arguments.iter().all(|a| is_constant(a, constants)),
        FormulaKind::Sum(parts) | FormulaKind::Product(parts) => all(parts),
        FormulaKind::Negative(of) | FormulaKind::Length(of) => is_constant(of, constants),
        FormulaKind::Power(a, b) => is_constant(a, constants) && is_constant(b, constants),
        _ => false,
    }
}

/// Replaces entries of the same name; the new ones come last. Formulas have no name and are added.
fn replace_start(tree: &mut SyntaxTree, entries: Vec<Initial>) {
    let key = |i: &Initial| {
        let InitialSide::Quantity { target, primes } = &i.left else { return None };
        let (name, dots) = crate::syntax::name::undotted(&target.name.text).unwrap_or((String::new(), 0));
        let name = if dots > 0 { name } else { canonical(&target.name.text) };
        let index = |k: &Index| match k {
            Index::One(Formula { kind: FormulaKind::Number(n), .. }) => n.clone(),
            other => format!("{other:?}"),
        };
        Some((name, target.indices.iter().map(index).collect::<Vec<_>>(), primes + dots))
    };
    let mut entries = entries;
    entries.iter_mut().for_each(|entry| entry.replaces = true);
    let new: Vec<_> = entries.iter().filter_map(key).collect();
    for statement in &mut tree.statements {
        if let StatementKind::Start(list) = &mut statement.kind {
            list.retain(|old| key(old).is_none_or(|old| !new.contains(&old)));
        }
    }
    let span = entries[0].span.to(entries[entries.len() - 1].span);
    tree.statements.push(Statement { span, kind: StatementKind::Start(entries) });
}
