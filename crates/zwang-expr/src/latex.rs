//! Expressions as LaTeX: fractions, roots, and the LaTeX name of each symbol.

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, Node};
use crate::number::Number;
use crate::print::MAX_WRITTEN;
use crate::terms::{Item, Names, Quotient, Style, terms, written_size};

/// The context of an expression, which decides whether it needs parentheses.
#[derive(Copy, Clone, PartialEq)]
enum LatexContext {
    /// alone between delimiters
    Free,
    /// a factor of a product: a sum needs parentheses
    Factor,
    /// the base of a power: everything but names and delimited forms needs parentheses
    Base,
}

/// A piece that remains to be written; a stack of them replaces recursion.
enum LatexPiece {
    Text(String),
    Write(Expr, LatexContext),
}

impl Graph {
    /// The expression as LaTeX. An expression of more than 20,000 nodes becomes a placeholder that states its size.
    pub fn latex(&self, e: Expr) -> String {
        self.latex_with(e, &Names::new())
    }

    /// The expression as LaTeX, with the given subexpressions replaced by their names.
    pub fn latex_with(&self, e: Expr, names: &Names) -> String {
        if written_size(self, e, names) > MAX_WRITTEN as u64 {
            return format!("\\left(\\ldots\\ {}\\ \\text{{terms}}\\right)", self.size(e));
        }
        let style = Style::new(names);
        let mut out = String::new();
        let mut stack = vec![LatexPiece::Write(e, LatexContext::Free)];
        let mut tasks = Vec::new();
        while let Some(task) = stack.pop() {
            match task {
                LatexPiece::Text(text) => out.push_str(&text),
                LatexPiece::Write(e, place) => {
                    self.write_latex(e, place, &style, &mut tasks);
                    stack.extend(tasks.drain(..).rev());
                }
            }
        }
        out
    }

    fn write_latex(&self, e: Expr, place: LatexContext, style: &Style, out: &mut Vec<LatexPiece>) {
        if let Some(name) = style.names.get(&e) {
            return text(out, name);
        }
        match self.node(e) {
            Node::Pi => text(out, "\\pi"),
            Node::Symbol(id) => text(out, &self.symbols[id.0 as usize].latex),
            Node::Apply(f, x) => parenthesized(out, place == LatexContext::Base, |out| self.call(out, f, "", x)),
            Node::Look(table, x) => {
                let table = self.table(table);
                let primes = "'".repeat(table.order() as usize);
                let name = if table.column().is_empty() { table.name() } else { table.column() };
                text(out, &format!("\\mathrm{{{}}}{primes}\\left(", name.replace('_', "\\_")));
                out.push(LatexPiece::Write(x, LatexContext::Free));
                text(out, "\\right)");
            }
            Node::Apply2(f, x, y) => {
                text(out, &format!("{}\\left(", name2(f)));
                out.push(LatexPiece::Write(x, LatexContext::Free));
                text(out, ", ");
                out.push(LatexPiece::Write(y, LatexContext::Free));
                text(out, "\\right)");
            }
            Node::Pow(u, v) if !self.is_number(v) => {
                parenthesized(out, place == LatexContext::Base, |out| {
                    self.base(out, u);
                    text(out, "^{");
                    out.push(LatexPiece::Write(v, LatexContext::Free));
                    text(out, "}");
                });
            }
            Node::Select { comparison, left, right, then, otherwise } => {
                text(out, "\\begin{cases} ");
                out.push(LatexPiece::Write(then, LatexContext::Free));
                text(out, " & ");
                out.push(LatexPiece::Write(left, LatexContext::Free));
                text(out, relation(comparison));
                out.push(LatexPiece::Write(right, LatexContext::Free));
                text(out, " \\\\ ");
                out.push(LatexPiece::Write(otherwise, LatexContext::Free));
                text(out, " & \\text{otherwise} \\end{cases}");
            }
            Node::Number(_) | Node::Add(..) | Node::Mul(..) | Node::Pow(..) => self.latex_sum(e, place, style, out),
        }
    }

    fn latex_sum(&self, e: Expr, place: LatexContext, style: &Style, out: &mut Vec<LatexPiece>) {
        let terms: Vec<Quotient> = terms(self, e, style).into_iter().map(|t| t.quotient()).collect();
        if terms.is_empty() {
            text(out, "0");
        }
        let loose = match (&terms[..], place) {
            (_, LatexContext::Free) | ([], _) => false,
            ([only], LatexContext::Factor) => only.negative,
            ([only], LatexContext::Base) => {
                only.negative || !matches!((&only.above[..], &only.below[..]), ([Item::Number(_)], []))
            }
            _ => true,
        };
        parenthesized(out, loose, |out| {
            for (k, term) in terms.iter().enumerate() {
                text(out, [["", " + "], ["-", " - "]][term.negative as usize][(k > 0) as usize]);
                self.latex_quotient(out, term);
            }
        });
    }

    fn latex_quotient(&self, out: &mut Vec<LatexPiece>, term: &Quotient) {
        if term.below.is_empty() {
            return self.latex_product(out, &term.above);
        }
        text(out, "\\frac{");
        self.latex_product(out, &term.above);
        text(out, "}{");
        self.latex_product(out, &term.below);
        text(out, "}");
    }

    fn latex_product(&self, out: &mut Vec<LatexPiece>, items: &[Item]) {
        if items.is_empty() {
            text(out, "1");
        }
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                text(out, " \\, ");
            }
            match item {
                Item::Number(number) => text(out, &number_latex(number)),
                Item::Power(base, n) if n.is_one() => {
                    out.push(LatexPiece::Write(
                        *base,
                        if items.len() > 1 { LatexContext::Factor } else { LatexContext::Free },
                    ));
                }
                Item::Power(base, n) => self.latex_power(out, *base, n),
            }
        }
    }

    fn latex_power(&self, out: &mut Vec<LatexPiece>, base: Expr, n: &Number) {
        if n.to_small() == Some((1, 2)) {
            text(out, "\\sqrt{");
            out.push(LatexPiece::Write(base, LatexContext::Free));
            return text(out, "}");
        }
        match self.node(base) {
            // sin²x is customary, whereas |x|² needs no special form
            Node::Apply(f, x) if f != Function::Abs => self.call(out, f, &format!("^{{{n}}}"), x),
            _ => {
                self.base(out, base);
                text(out, &format!("^{{{n}}}"));
            }
        }
    }

    /// The base of a power; braces keep the dots and indices of a name together.
    fn base(&self, out: &mut Vec<LatexPiece>, base: Expr) {
        text(out, "{");
        out.push(LatexPiece::Write(base, LatexContext::Base));
        text(out, "}");
    }

    fn call(&self, out: &mut Vec<LatexPiece>, f: Function, exponent: &str, x: Expr) {
        if f == Function::Abs {
            text(out, "\\left|");
            out.push(LatexPiece::Write(x, LatexContext::Free));
            return text(out, "\\right|");
        }
        let bare = matches!(self.node(x), Node::Symbol(_) | Node::Pi);
        text(out, &format!("{}{exponent}{}", name(f), if bare { " " } else { "\\left(" }));
        out.push(LatexPiece::Write(x, LatexContext::Free));
        if !bare {
            text(out, "\\right)");
        }
    }
}

fn name(f: Function) -> &'static str {
    match f {
        Function::Sin => "\\sin",
        Function::Cos => "\\cos",
        Function::Tan => "\\tan",
        Function::Asin => "\\arcsin",
        Function::Acos => "\\arccos",
        Function::Atan => "\\arctan",
        Function::Sinh => "\\sinh",
        Function::Cosh => "\\cosh",
        Function::Tanh => "\\tanh",
        Function::Exp => "\\exp",
        Function::Log => "\\log",
        Function::Sqrt => "\\sqrt",
        Function::Abs => "\\operatorname{abs}",
        Function::Sign => "\\operatorname{sign}",
    }
}

fn name2(f: Function2) -> &'static str {
    match f {
        Function2::Atan2 => "\\operatorname{atan2}",
        Function2::Min => "\\min",
        Function2::Max => "\\max",
    }
}

fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => " < ",
        Comparison::LessOrEqual => " \\le ",
        Comparison::Greater => " > ",
        Comparison::GreaterOrEqual => " \\ge ",
    }
}

/// `6.6e-11` becomes `6.6 \cdot 10^{-11}`.
fn number_latex(number: &str) -> String {
    match number.split_once('e') {
        Some((digits, exponent)) => format!("{digits} \\cdot 10^{{{exponent}}}"),
        None => number.to_string(),
    }
}

fn parenthesized(out: &mut Vec<LatexPiece>, needed: bool, inside: impl FnOnce(&mut Vec<LatexPiece>)) {
    if needed {
        text(out, "\\left(");
    }
    inside(out);
    if needed {
        text(out, "\\right)");
    }
}

fn text(out: &mut Vec<LatexPiece>, text: &str) {
    if !text.is_empty() {
        out.push(LatexPiece::Text(text.to_string()));
    }
}
