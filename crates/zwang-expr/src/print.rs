//! Expressions as plain text in the usual notation, which parses back to the same value.

use crate::graph::Graph;
use crate::node::{Expr, Node};
use crate::number::Number;
use crate::terms::{Item, Names, Quotient, Style, decimal, terms, written_size};

/// The longest expression that is written in full, in nodes of its tree: about ten pages.
pub(crate) const MAX_WRITTEN: usize = 20_000;

/// The least precedence that a written form needs in its context.
#[derive(Copy, Clone, PartialEq, PartialOrd)]
pub(crate) enum Precedence {
    /// anything, also a leading minus
    Sum,
    /// a product or quotient
    Product,
    /// a power
    Power,
    /// a name, a number, a call
    Atom,
}

/// A piece that remains to be written; a stack of them replaces recursion.
enum TextPiece {
    Text(String),
    Write(Expr, Precedence),
}

impl Graph {
    /// The expression as text. An expression of more than 20,000 nodes becomes a placeholder that states its size.
    pub fn text(&self, e: Expr) -> String {
        self.text_with(e, &Names::new())
    }

    /// The expression as text, or `None` if its tree has more than `limit` nodes.
    pub fn text_limited(&self, e: Expr, limit: usize) -> Option<String> {
        self.write_text(e, &Style::new(&Names::new()), limit)
    }

    /// The expression as text, with the given subexpressions replaced by their names.
    pub fn text_with(&self, e: Expr, names: &Names) -> String {
        self.write_text(e, &Style::new(names), MAX_WRITTEN).unwrap_or_else(|| format!("(… {} terms)", self.size(e)))
    }

    pub(crate) fn write_text(&self, e: Expr, style: &Style, limit: usize) -> Option<String> {
        if written_size(self, e, style.names) > limit as u64 {
            return None;
        }
        let writer = TextWriter { graph: self, style };
        let mut out = String::new();
        let mut stack = vec![TextPiece::Write(e, Precedence::Sum)];
        let mut tasks = Vec::new();
        while let Some(task) = stack.pop() {
            match task {
                TextPiece::Text(text) => out.push_str(&text),
                TextPiece::Write(e, level) => {
                    writer.write(e, level, &mut tasks);
                    stack.extend(tasks.drain(..).rev());
                }
            }
        }
        Some(out)
    }
}

struct TextWriter<'a> {
    graph: &'a Graph,
    style: &'a Style<'a>,
}

impl TextWriter<'_> {
    /// The tasks that write `e`.
    fn write(&self, e: Expr, level: Precedence, out: &mut Vec<TextPiece>) {
        if let Some(name) = self.style.names.get(&e) {
            return text(out, name);
        }
        match self.graph.node(e) {
            Node::Pi => text(out, "pi"),
            Node::Symbol(id) => text(out, &self.graph.symbols[id.0 as usize].name),
            Node::Apply(f, x) => call(out, f.name(), &[x]),
            Node::Apply2(f, x, y) => call(out, f.name(), &[x, y]),
            Node::Look(table, x) => {
                let table = self.graph.table(table);
                text(out, &format!("table(\"{}\", ", table.name()));
                out.push(TextPiece::Write(x, Precedence::Sum));
                if !table.column().is_empty() {
                    text(out, &format!(", \"{}\"", table.column()));
                }
                if table.order() > 0 {
                    text(out, &format!(", {}", table.order()));
                }
                text(out, ")");
            }
            Node::Pow(u, v) if !self.graph.is_number(v) => {
                parenthesized(out, level > Precedence::Power, |out| {
                    out.push(TextPiece::Write(u, Precedence::Atom));
                    text(out, "^");
                    out.push(TextPiece::Write(v, Precedence::Atom));
                });
            }
            Node::Select { comparison, left, right, then, otherwise } => {
                text(out, "(if ");
                out.push(TextPiece::Write(left, Precedence::Sum));
                text(out, &format!(" {} ", comparison.symbol()));
                out.push(TextPiece::Write(right, Precedence::Sum));
                text(out, " then ");
                out.push(TextPiece::Write(then, Precedence::Sum));
                text(out, " else ");
                out.push(TextPiece::Write(otherwise, Precedence::Sum));
                text(out, ")");
            }
            Node::Number(_) | Node::Add(..) | Node::Mul(..) | Node::Pow(..) => self.write_sum(e, level, out),
        }
    }

    fn write_sum(&self, e: Expr, level: Precedence, out: &mut Vec<TextPiece>) {
        let terms: Vec<Quotient> = terms(self.graph, e, self.style).into_iter().map(|t| t.quotient()).collect();
        let tightness = match &terms[..] {
            [] => Precedence::Atom,
            [only] => tightness(only),
            _ => Precedence::Sum,
        };
        if terms.is_empty() {
            text(out, "0");
        }
        parenthesized(out, level > tightness, |out| {
            for (k, term) in terms.iter().enumerate() {
                text(out, [["", " + "], ["-", " - "]][term.negative as usize][(k > 0) as usize]);
                quotient(out, term);
            }
        });
    }
}

/// The precedence of a written term.
pub(crate) fn tightness(term: &Quotient) -> Precedence {
    match (&term.above[..], &term.below[..]) {
        _ if term.negative => Precedence::Sum,
        ([Item::Number(_)], []) => Precedence::Atom,
        ([Item::Power(_, n)], []) if is_half(n) => Precedence::Atom,
        ([Item::Power(..)], []) => Precedence::Power,
        _ => Precedence::Product,
    }
}

/// above/below without the sign.
fn quotient(out: &mut Vec<TextPiece>, term: &Quotient) {
    product(out, &term.above);
    if !term.below.is_empty() {
        text(out, "/");
        parenthesized(out, term.below.len() > 1, |out| product(out, &term.below));
    }
}

fn product(out: &mut Vec<TextPiece>, items: &[Item]) {
    if items.is_empty() {
        text(out, "1");
    }
    for (k, item) in items.iter().enumerate() {
        if k > 0 {
            text(out, "*");
        }
        match item {
            Item::Number(number) => text(out, number),
            Item::Power(base, n) => power(out, *base, n),
        }
    }
}

fn power(out: &mut Vec<TextPiece>, base: Expr, n: &Number) {
    if n.is_one() {
        return out.push(TextPiece::Write(base, Precedence::Power));
    }
    if is_half(n) {
        return call(out, "sqrt", &[base]);
    }
    out.push(TextPiece::Write(base, Precedence::Atom));
    match decimal(n).filter(|_| n.is_integer()) {
        Some(n) => text(out, &format!("^{n}")),
        None => text(out, &format!("^({n})")),
    }
}

fn is_half(n: &Number) -> bool {
    n.to_small() == Some((1, 2))
}

fn call(out: &mut Vec<TextPiece>, name: &str, arguments: &[Expr]) {
    text(out, name);
    for (k, &x) in arguments.iter().enumerate() {
        text(out, if k == 0 { "(" } else { ", " });
        out.push(TextPiece::Write(x, Precedence::Sum));
    }
    text(out, ")");
}

fn parenthesized(out: &mut Vec<TextPiece>, needed: bool, inside: impl FnOnce(&mut Vec<TextPiece>)) {
    if needed {
        text(out, "(");
    }
    inside(out);
    if needed {
        text(out, ")");
    }
}

fn text(out: &mut Vec<TextPiece>, text: &str) {
    if !text.is_empty() {
        out.push(TextPiece::Text(text.to_string()));
    }
}
