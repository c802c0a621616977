//! Formulas in Rust.

use zwang_expr::{Comparison, Expr, Function, Function2, Notation, Number, Piece, TableId};

use super::functions::{FunctionSyntax, one_line};
use super::quantity::{CodeQuantity, QuantityShape};
use super::{Sheet, example_values};
use crate::code::RUST_LOOKUP;

pub(super) struct Rust;

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

/// `x.f(…)`, or `f64::f(x, …)` if no name fixes the type of x.
fn method(x: Expr, is_bare: bool, name: &str, argument: Vec<Piece>) -> Vec<Piece> {
    let mut pieces = match is_bare {
        true => vec![text(format!("f64::{name}(")), Piece::Inside(x)],
        false => vec![Piece::Tight(x), text(format!(".{name}("))],
    };
    if is_bare && !argument.is_empty() {
        pieces.push(text(", "));
    }
    pieces.extend(argument);
    pieces.push(text(")"));
    pieces
}

/// A floating-point literal of both C and Rust; a number too large for a double becomes `infinity`.
pub(super) fn float(decimal: &str, infinity: &str) -> String {
    if decimal.parse().is_ok_and(f64::is_infinite) {
        return infinity.into();
    }
    if decimal.contains(['.', 'e']) { decimal.to_string() } else { format!("{decimal}.0") }
}

impl Notation for Rust {
    const POWER_IS_TIGHT: bool = true;

    fn number(&self, decimal: &str) -> String {
        float(decimal, "f64::INFINITY")
    }

    fn ratio(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn pi(&self) -> String {
        "std::f64::consts::PI".into()
    }

    fn power(&self, base: Expr, is_bare: bool, exponent: &Number) -> Vec<Piece> {
        match (exponent.to_small(), exponent.to_i64()) {
            (Some((1, 2)), _) => method(base, is_bare, "sqrt", Vec::new()),
            (_, Some(n)) if i32::try_from(n).is_ok() => method(base, is_bare, "powi", vec![text(n.to_string())]),
            _ => method(base, is_bare, "powf", vec![text(format!("{:?}", exponent.to_f64()))]),
        }
    }

    fn general_power(&self, base: Expr, is_bare: bool, exponent: Expr) -> Vec<Piece> {
        method(base, is_bare, "powf", vec![Piece::Inside(exponent)])
    }

    fn apply(&self, f: Function, x: Expr, is_bare: bool) -> Vec<Piece> {
        let name = match f {
            Function::Log => "ln",
            Function::Sign => {
                let sign = [text("(if "), Piece::Inside(x), text(" > 0.0 { 1.0 } else if "), Piece::Inside(x)];
                return [&sign[..], &[text(" < 0.0 { -1.0 } else { 0.0 })")]].concat();
            }
            other => other.name(),
        };
        method(x, is_bare, name, Vec::new())
    }

    fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece> {
        // -0 counts as 0
        if f == Function2::Atan2 {
            return vec![text("f64::atan2("), Piece::Inside(x), text(" + 0.0, "), Piece::Inside(y), text(" + 0.0)")];
        }
        Piece::call(&format!("f64::{}", f.name()), &[x, y])
    }

    fn look(&self, table: TableId, x: Expr) -> Vec<Piece> {
        let k = table.index();
        vec![text(format!("look(&TABLE{k}_KNOTS, &TABLE{k}_PIECES, ")), Piece::Inside(x), text(")")]
    }

    fn select(&self, comparison: Comparison, [left, right]: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece> {
        vec![
            text("(if "),
            Piece::Inside(left),
            text(format!(" {} ", comparison.symbol())),
            Piece::Inside(right),
            text(" { "),
            Piece::Inside(then),
            text(" } else { "),
            Piece::Inside(otherwise),
            text(" })"),
        ]
    }
}

fn kind(shape: QuantityShape) -> String {
    match shape {
        QuantityShape::Scalar => "f64".into(),
        QuantityShape::Vector(n) => format!("[f64; {n}]"),
        QuantityShape::Matrix(n, m) => format!("[[f64; {m}]; {n}]"),
    }
}

impl FunctionSyntax for Rust {
    const COMMENT: &'static str = "//";
    const STOP: &'static str = ";";
    const NEEDS_BRACKETS: bool = false;

    fn begin(&self, sheet: &Sheet) -> String {
        let (n, name) = (sheet.n(), &sheet.name);
        let p = if sheet.has_parameters() { format!(", &{name}::Parameters::default()") } else { String::new() };
        let (q, v) = (example_values(n, 0).join(", "), example_values(n, 1).join(", "));
        let example = format!(
            "    mod {name};\n\n    let (t, q, v) = (0.0, [{q}], [{v}]);\n    let found = {name}::{}(t, &q, &v{p});",
            sheet.example()
        );
        let head = format!("{}\n{example}", sheet.head());
        let mut out: String = head.lines().map(|line| format!("{}\n", format!("//! {line}").trim_end())).collect();
        out += "\n#![allow(non_snake_case, unused_mut, unused_variables, unused_parens, dead_code, clippy::all)]\n";
        if sheet.has_parameters() {
            out += "\n/// The parameters; the default is as the model has them.\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Parameters {\n";
            for (name, _, description) in sheet.parameters() {
                if !description.is_empty() {
                    out += &format!("    /// {description}\n");
                }
                out += &format!("    pub {name}: f64,\n");
            }
            out += "}\n\nimpl Default for Parameters {\n    fn default() -> Parameters {\n        Parameters {\n";
            for (name, value, _) in sheet.parameters() {
                out += &format!("            {name}: {value:?},\n");
            }
            out += "        }\n    }\n}\n";
        }
        out
    }

    fn lookup(&self) -> String {
        RUST_LOOKUP.into()
    }

    fn table(&self, table: TableId, knots: &str, pieces: &str, n_pieces: usize) -> String {
        let k = table.index();
        format!(
            "static TABLE{k}_KNOTS: [f64; {}] = [{knots}];\nstatic TABLE{k}_PIECES: [f64; {}] = [{pieces}];\n",
            n_pieces + 1,
            6 * n_pieces
        )
    }

    fn open(&self, quantity: &CodeQuantity, sheet: &Sheet, _: &[&str]) -> String {
        let n = sheet.n();
        let p = if sheet.has_parameters() { ", p: &Parameters" } else { "" };
        let m = sheet.equations.rows.len();
        let lam = if quantity.takes_multipliers { format!(", lam: &[f64; {m}]") } else { String::new() };
        format!(
            "/// {}: {}.\npub fn {}(t: f64, q: &[f64; {n}], v: &[f64; {n}]{p}{lam}) -> {} {{\n",
            quantity.letter,
            one_line(&quantity.meaning),
            quantity.name,
            kind(quantity.shape)
        )
    }

    fn bind(&self, pairs: &[(&str, String)]) -> String {
        let (names, values): (Vec<&str>, Vec<&str>) = pairs.iter().map(|(name, value)| (*name, value.as_str())).unzip();
        match pairs {
            [(name, value)] => format!("let {name} = {value};"),
            _ => format!("let ({}) = ({});", names.join(", "), values.join(", ")),
        }
    }

    fn parameter(&self, name: &str) -> String {
        format!("p.{name}")
    }

    fn zeros(&self, shape: QuantityShape, _: bool) -> String {
        match shape {
            QuantityShape::Scalar => String::new(),
            QuantityShape::Vector(n) => format!("    let mut out = [0.0; {n}];\n"),
            QuantityShape::Matrix(n, m) => format!("    let mut out = [[0.0; {m}]; {n}];\n"),
        }
    }

    fn entry(&self, shape: QuantityShape, row: usize, col: usize) -> String {
        match shape {
            QuantityShape::Scalar => "return ".into(),
            QuantityShape::Vector(_) => format!("out[{row}] = "),
            QuantityShape::Matrix(..) => format!("out[{row}][{col}] = "),
        }
    }

    fn close(&self, shape: QuantityShape) -> String {
        if shape == QuantityShape::Scalar { "}\n".into() } else { "    out\n}\n".into() }
    }
}
