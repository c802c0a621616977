//! Expressions as source code of other languages, in the order in which they are printed.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, Node, TableId};
use crate::number::Number;
use crate::print::{MAX_WRITTEN, Precedence, tightness};
use crate::terms::{Item, Names, Quotient, Style, SumTerm, terms, written_size};

/// A piece of source code: text or an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// An operand between brackets or commas; it needs no brackets of its own.
    Inside(Expr),
    /// An operand next to other code: bracketed unless it is a name, a number or a call.
    Tight(Expr),
}

impl Piece {
    /// `name(x, y)`.
    pub fn call(name: &str, arguments: &[Expr]) -> Vec<Piece> {
        let mut pieces = vec![Piece::Text(format!("{name}("))];
        for (k, &x) in arguments.iter().enumerate() {
            if k > 0 {
                pieces.push(Piece::Text(", ".into()));
            }
            pieces.push(Piece::Inside(x));
        }
        pieces.push(Piece::Text(")".into()));
        pieces
    }
}

/// The notation of a language for the parts of a formula. Sums, products and quotients are the same in all languages.
///
/// The code that a method returns must bind as tightly as a name; a power, as [`Notation::POWER_IS_TIGHT`] states.
/// `is_bare` is `true` if the operand is written with number literals only, which do not fix a numeric type.
pub trait Notation {
    /// `true` if a power binds as tightly as a name, as a call does; `false` if it binds like `x**2`.
    const POWER_IS_TIGHT: bool;

    /// A number ≥ 0, given by its exact decimal: `2`, `0.35`, `1e-9`.
    fn number(&self, decimal: &str) -> String;

    /// A ratio of integers that stands alone, or `None` if it is written as a quotient.
    fn ratio(&self, numerator: &str, denominator: &str) -> Option<String>;

    /// π.
    fn pi(&self) -> String;

    /// The base to a number > 0 other than one; the exponent one half is the root.
    fn power(&self, base: Expr, is_bare: bool, exponent: &Number) -> Vec<Piece>;

    /// The base to an arbitrary exponent.
    fn general_power(&self, base: Expr, is_bare: bool, exponent: Expr) -> Vec<Piece>;

    /// A function of one argument.
    fn apply(&self, f: Function, x: Expr, is_bare: bool) -> Vec<Piece>;

    /// A function of two arguments.
    fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece>;

    /// The value of a table at an argument.
    fn look(&self, table: TableId, x: Expr) -> Vec<Piece>;

    /// `then` if the comparison of the two expressions holds, else `otherwise`.
    fn select(&self, comparison: Comparison, compared: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece>;
}

/// The reason why an expression cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Unwritable {
    /// A symbol has no name in the code.
    Symbol(Expr),
    /// The expression is too long, more than 20,000 nodes.
    TooLong,
}

impl Graph {
    /// The expression in another language; symbols and other named subexpressions are written by their `names`.
    pub fn source<N: Notation>(&self, e: Expr, names: &Names, notation: &N) -> Result<String, Unwritable> {
        if written_size(self, e, names) > MAX_WRITTEN as u64 {
            return Err(Unwritable::TooLong);
        }
        let style = Style::new(names);
        let mut writer = SourceWriter { graph: self, style: &style, notation, bare: FxHashMap::default() };
        let mut out = String::new();
        let mut stack = vec![SourcePiece::Write(e, Precedence::Sum)];
        let mut tasks = Vec::new();
        while let Some(task) = stack.pop() {
            match task {
                SourcePiece::Text(text) => out.push_str(&text),
                SourcePiece::Write(e, level) => {
                    writer.write(e, level, &mut tasks)?;
                    stack.extend(tasks.drain(..).rev());
                }
            }
        }
        Ok(out)
    }
}

/// A piece that remains to be written; a stack of them replaces recursion.
enum SourcePiece {
    Text(String),
    Write(Expr, Precedence),
}

struct SourceWriter<'a, N> {
    graph: &'a Graph,
    style: &'a Style<'a>,
    notation: &'a N,
    /// memo of `is_bare`
    bare: FxHashMap<Expr, bool>,
}

impl<N: Notation> SourceWriter<'_, N> {
    /// The tasks that write `e`.
    fn write(&mut self, e: Expr, level: Precedence, out: &mut Vec<SourcePiece>) -> Result<(), Unwritable> {
        if let Some(name) = self.style.names.get(&e) {
            out.push(SourcePiece::Text(name.clone()));
            return Ok(());
        }
        let pieces = match self.graph.node(e) {
            Node::Symbol(_) => return Err(Unwritable::Symbol(e)),
            Node::Pi => vec![Piece::Text(self.notation.pi())],
            Node::Apply(f, x) => self.notation.apply(f, x, self.is_bare(x)),
            Node::Apply2(f, x, y) => self.notation.apply2(f, x, y),
            Node::Look(table, x) => self.notation.look(table, x),
            Node::Pow(u, v) if !self.graph.is_number(v) => {
                let pieces = self.notation.general_power(u, self.is_bare(u), v);
                self.bracketed(out, !N::POWER_IS_TIGHT && level > Precedence::Power, |_, out| push(out, pieces));
                return Ok(());
            }
            Node::Select { comparison, left, right, then, otherwise } => {
                self.notation.select(comparison, [left, right], then, otherwise)
            }
            Node::Number(_) | Node::Add(..) | Node::Mul(..) | Node::Pow(..) => {
                self.write_sum(e, level, out);
                return Ok(());
            }
        };
        push(out, pieces);
        Ok(())
    }

    fn write_sum(&mut self, e: Expr, level: Precedence, out: &mut Vec<SourcePiece>) {
        let terms = terms(self.graph, e, self.style);
        let tight = match &terms[..] {
            [] => Precedence::Atom,
            [only] if self.ratio(only).is_some() && !only.coefficient.is_negative() => Precedence::Atom,
            [only] => match tightness(&only.clone().quotient()) {
                Precedence::Power if N::POWER_IS_TIGHT => Precedence::Atom,
                other => other,
            },
            _ => Precedence::Sum,
        };
        if terms.is_empty() {
            out.push(SourcePiece::Text(self.notation.number("0")));
        }
        self.bracketed(out, level > tight, |writer, out| {
            for (k, term) in terms.into_iter().enumerate() {
                let signs = [["", " + "], ["-", " - "]];
                let sign = signs[usize::from(term.coefficient.is_negative())][usize::from(k > 0)];
                out.push(SourcePiece::Text(sign.into()));
                match writer.ratio(&term) {
                    Some(ratio) => out.push(SourcePiece::Text(ratio)),
                    None => writer.quotient(out, &term.quotient()),
                }
            }
        });
    }

    /// A term that consists of a ratio only, in the notation of the language.
    fn ratio(&self, term: &SumTerm) -> Option<String> {
        if !term.factors.is_empty() || term.coefficient.is_integer() {
            return None;
        }
        let size = term.coefficient.abs();
        self.notation.ratio(&size.numerator().to_string(), &size.denominator().to_string())
    }

    /// above/below without the sign.
    fn quotient(&mut self, out: &mut Vec<SourcePiece>, term: &Quotient) {
        self.product(out, &term.above);
        if !term.below.is_empty() {
            out.push(SourcePiece::Text("/".into()));
            self.bracketed(out, term.below.len() > 1, |writer, out| writer.product(out, &term.below));
        }
    }

    fn product(&mut self, out: &mut Vec<SourcePiece>, items: &[Item]) {
        if items.is_empty() {
            out.push(SourcePiece::Text(self.notation.number("1")));
        }
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                out.push(SourcePiece::Text("*".into()));
            }
            match item {
                Item::Number(number) => out.push(SourcePiece::Text(self.notation.number(number))),
                Item::Power(base, n) if n.is_one() => out.push(SourcePiece::Write(*base, Precedence::Power)),
                Item::Power(base, n) => push(out, self.notation.power(*base, self.is_bare(*base), n)),
            }
        }
    }

    fn bracketed(
        &mut self,
        out: &mut Vec<SourcePiece>,
        needed: bool,
        inside: impl FnOnce(&mut Self, &mut Vec<SourcePiece>),
    ) {
        if needed {
            out.push(SourcePiece::Text("(".into()));
        }
        inside(self, out);
        if needed {
            out.push(SourcePiece::Text(")".into()));
        }
    }

    /// `true` if the value of `e` is written with number literals only.
    fn is_bare(&mut self, e: Expr) -> bool {
        let mut stack = vec![(e, false)];
        while let Some((x, operands_done)) = stack.pop() {
            // the operands of a comparison are not part of the value
            let operands: &[Expr] = match &self.graph.node(x) {
                Node::Apply(Function::Sign, _) => &[],
                Node::Select { then, otherwise, .. } => &[*then, *otherwise],
                node => &node.operands(),
            };
            if operands_done {
                let bare = operands.iter().all(|y| self.bare[y]);
                self.bare.insert(x, bare);
            } else if self.style.names.contains_key(&x) || self.graph.is_symbol(x) {
                self.bare.insert(x, false);
            } else if !self.bare.contains_key(&x) {
                stack.push((x, true));
                stack.extend(operands.iter().map(|&y| (y, false)));
            }
        }
        self.bare[&e]
    }
}

fn push(out: &mut Vec<SourcePiece>, pieces: Vec<Piece>) {
    out.extend(pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => SourcePiece::Text(text),
        Piece::Inside(x) => SourcePiece::Write(x, Precedence::Sum),
        Piece::Tight(x) => SourcePiece::Write(x, Precedence::Atom),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers in the notation of Python, all functions under their own names.
    struct Python;

    impl Notation for Python {
        const POWER_IS_TIGHT: bool = false;

        fn number(&self, decimal: &str) -> String {
            decimal.into()
        }

        fn ratio(&self, numerator: &str, denominator: &str) -> Option<String> {
            Some(format!("Rational({numerator}, {denominator})"))
        }

        fn pi(&self) -> String {
            "pi".into()
        }

        fn power(&self, base: Expr, _: bool, exponent: &Number) -> Vec<Piece> {
            vec![Piece::Tight(base), Piece::Text(format!("**{exponent}"))]
        }

        fn general_power(&self, base: Expr, _: bool, exponent: Expr) -> Vec<Piece> {
            vec![Piece::Tight(base), Piece::Text("**".into()), Piece::Tight(exponent)]
        }

        fn apply(&self, f: Function, x: Expr, is_bare: bool) -> Vec<Piece> {
            Piece::call(&format!("{}{}", if is_bare { "bare_" } else { "" }, f.name()), &[x])
        }

        fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece> {
            Piece::call(f.name(), &[x, y])
        }

        fn look(&self, _: TableId, x: Expr) -> Vec<Piece> {
            Piece::call("look", &[x])
        }

        fn select(&self, _: Comparison, [left, right]: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece> {
            Piece::call("select", &[left, right, then, otherwise])
        }
    }

    /// Brackets are written only if the order of operations needs them.
    #[test]
    fn the_written_source_has_the_same_value() {
        let mut g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| g.symbol(name, name));
        let names = Names::from([(x, "x".into()), (y, "y_".into()), (z, "z".into())]);
        let sum = g.add(x, y);
        let square = g.powi(sum, 2);
        let negative = g.neg(square);
        let quotient = g.div(x, sum);
        let of_quotient = g.pow(quotient, y);
        let tower = g.pow(of_quotient, z);
        let half = g.add(Expr::HALF, x);
        let one = g.apply(Function::Sin, Expr::ONE);
        let bell = g.apply(Function::Exp, negative);
        let below = g.product(&[x, y]);
        let over = g.div(Expr::ONE, below);
        let cases = [
            (negative, "-(x + y_)**2"),
            (quotient, "x/(x + y_)"),
            (of_quotient, "(x/(x + y_))**y_"),
            (tower, "((x/(x + y_))**y_)**z"),
            (half, "x + Rational(1, 2)"),
            (one, "bare_sin(1)"),
            (bell, "exp(-(x + y_)**2)"),
            (over, "1/(x*y_)"),
        ];
        for (e, wanted) in cases {
            assert_eq!(g.source(e, &names, &Python).as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn a_symbol_without_a_name_is_reported() {
        let mut g = Graph::new();
        let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
        let sum = g.add(x, y);
        assert_eq!(g.source(sum, &Names::from([(x, "x".into())]), &Python), Err(Unwritable::Symbol(y)));
    }
}
