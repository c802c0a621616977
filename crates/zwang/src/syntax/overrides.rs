//! What the command line changes: values of parameters and constants, and entries of the start.

use super::lexer::{Token, tokens};
use super::name::{canonical, nearest};
use super::parser::{Parsed, Parser};
use super::tree::*;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Changes to a model text, each written as on the command line.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `l=2`, `n=5`
    pub set: Vec<String>,
    /// `x=1, x'=0`
    pub start: Vec<String>,
}

impl Overrides {
    /// Changes the tree. The overrides are appended to `text`, so that messages can point into them.
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

/// Appends a line to the text and returns its tokens.
fn appended(text: &mut String, line: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    text.push('\n');
    let from = text.len();
    text.push_str(&line.replace(['\n', '\r'], " "));
    tokens(text, from, diagnostics)
}

/// Reads one override; nothing may be left over.
fn reading<T>(
    tokens: &[Token],
    diagnostics: &mut Diagnostics,
    read: impl FnOnce(&mut Parser) -> Parsed<T>,
) -> Parsed<T> {
    let mut parser = Parser::new(tokens, diagnostics);
    let result = read(&mut parser)?;
    if parser.at < tokens.len() { parser.fail("the end") } else { Ok(result) }
}

fn set_value(tree: &mut SyntaxTree, change: Initial, diagnostics: &mut Diagnostics) {
    let wanted = canonical(&change.target.name.text);
    let mut known = Vec::new();
    for statement in &mut tree.statements {
        let settable: Vec<(&Target, &mut Formula)> = match &mut statement.kind {
            StatementKind::Parameters(list) => list.iter_mut().map(|p| (&p.target, &mut p.value)).collect(),
            StatementKind::Let { target, arguments: None, value } => vec![(&*target, value)],
            _ => continue,
        };
        for (target, value) in settable {
            if canonical(&target.name.text) == wanted && change.target.indices.is_empty() {
                *value = change.value;
                return;
            }
            known.push(target.name.text.clone());
        }
    }
    let name = &change.target.name.text;
    let d = Diagnostic::error("Z801", format!("there is no parameter or constant `{name}` to set"))
        .at(change.target.span, "not in the model");
    let d = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => d.help("the model has no parameters"),
        None => d.help(format!("what can be set: {}", known.join(", "))),
    };
    diagnostics.push(d);
}

/// Entries of the same name give way; the new ones come last.
fn replace_start(tree: &mut SyntaxTree, entries: Vec<Initial>) {
    let key = |i: &Initial| {
        let (name, dots) = super::name::undotted(&i.target.name.text).unwrap_or((String::new(), 0));
        let name = if dots > 0 { name } else { canonical(&i.target.name.text) };
        let index = |k: &Index| match k {
            Index::One(Formula { kind: FormulaKind::Number(n), .. }) => n.clone(),
            other => format!("{other:?}"),
        };
        (name, i.target.indices.iter().map(index).collect::<Vec<_>>(), i.primes + dots)
    };
    let new: Vec<_> = entries.iter().map(key).collect();
    for statement in &mut tree.statements {
        if let StatementKind::Start(list) = &mut statement.kind {
            list.retain(|old| !new.contains(&key(old)));
        }
    }
    let span = entries[0].span.to(entries[entries.len() - 1].span);
    tree.statements.push(Statement { span, kind: StatementKind::Start(entries) });
}
