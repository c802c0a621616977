//! Formulas in C.

use zwang_expr::{Comparison, Expr, Function, Function2, Notation, Number, Piece, TableId};

use super::functions::{FunctionSyntax, one_line};
use super::quantity::{CodeQuantity, QuantityShape};
use super::rust::float;
use super::{Sheet, example_values};
use crate::code::C_LOOKUP;

pub(super) struct C {
    /// The prefix of every function name.
    pub name: String,
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

impl Notation for C {
    const POWER_IS_TIGHT: bool = true;

    fn number(&self, decimal: &str) -> String {
        float(decimal, "INFINITY")
    }

    fn ratio(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn pi(&self) -> String {
        // M_PI is not part of C99
        format!("{:?}", std::f64::consts::PI)
    }

    fn power(&self, base: Expr, _: bool, exponent: &Number) -> Vec<Piece> {
        match (exponent.to_small(), exponent.to_i64()) {
            (Some((1, 2)), _) => Piece::call("sqrt", &[base]),
            (_, Some(n)) => vec![text("pow("), Piece::Inside(base), text(format!(", {n})"))],
            _ => vec![text("pow("), Piece::Inside(base), text(format!(", {:?})", exponent.to_f64()))],
        }
    }

    fn general_power(&self, base: Expr, _: bool, exponent: Expr) -> Vec<Piece> {
        Piece::call("pow", &[base, exponent])
    }

    fn apply(&self, f: Function, x: Expr, _: bool) -> Vec<Piece> {
        match f {
            Function::Abs => Piece::call("fabs", &[x]),
            Function::Sign => {
                vec![text("(("), Piece::Inside(x), text(" > 0.0) - ("), Piece::Inside(x), text(" < 0.0))")]
            }
            other => Piece::call(other.name(), &[x]),
        }
    }

    fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece> {
        match f {
            Function2::Min => Piece::call("fmin", &[x, y]),
            Function2::Max => Piece::call("fmax", &[x, y]),
            // -0 counts as 0
            Function2::Atan2 => {
                vec![text("atan2("), Piece::Inside(x), text(" + 0.0, "), Piece::Inside(y), text(" + 0.0)")]
            }
        }
    }

    fn look(&self, table: TableId, x: Expr) -> Vec<Piece> {
        let (name, k) = (&self.name, table.index());
        let pieces = format!("{name}_table{k}_pieces");
        let call = format!("{name}_look(sizeof {pieces}/sizeof *{pieces}/6, {name}_table{k}_knots, {pieces}, ");
        vec![text(call), Piece::Inside(x), text(")")]
    }

    fn select(&self, comparison: Comparison, [left, right]: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece> {
        vec![
            text("("),
            Piece::Inside(left),
            text(format!(" {} ", comparison.symbol())),
            Piece::Inside(right),
            text(" ? "),
            Piece::Inside(then),
            text(" : "),
            Piece::Inside(otherwise),
            text(")"),
        ]
    }
}

impl FunctionSyntax for C {
    const COMMENT: &'static str = "//";
    const STOP: &'static str = ";";
    const NEEDS_BRACKETS: bool = false;

    fn begin(&self, sheet: &Sheet) -> String {
        let (n, name) = (sheet.n(), &self.name);
        let p = if sheet.has_parameters() { format!(", &{name}_defaults") } else { String::new() };
        let (q, v) = (example_values(n, 0).join(", "), example_values(n, 1).join(", "));
        let example = format!(
            "    #include \"{name}.c\"\n\n    const double q[] = {{{q}}}, v[] = {{{v}}};\n    double found[{n}];\n    {name}_{}(0.0, q, v{p}, found);",
            sheet.example()
        );
        let head = format!("{}\n{example}", sheet.head());
        // a backslash at the end of a line would continue the comment
        let comment = |line: &str| format!("{}\n", format!("// {line}").trim_end().trim_end_matches('\\'));
        let mut out: String = head.lines().map(comment).collect();
        out += "\n#include <math.h>\n";
        if sheet.has_parameters() {
            out += "\n// The parameters, and their values as the model has them.\ntypedef struct {\n";
            for (name, _, description) in sheet.parameters() {
                let description = if description.is_empty() {
                    description
                } else {
                    format!("  // {}", description.trim_end_matches('\\'))
                };
                out += &format!("    double {name};{description}\n");
            }
            out += &format!("}} {name}_parameters;\n\nconst {name}_parameters {name}_defaults = {{\n");
            for (name, value, _) in sheet.parameters() {
                out += &format!("    .{name} = {value:?},\n");
            }
            out += "};\n";
        }
        out
    }

    fn lookup(&self) -> String {
        C_LOOKUP.replace("look(", &format!("{}_look(", self.name))
    }

    fn table(&self, table: TableId, knots: &str, pieces: &str, n_pieces: usize) -> String {
        let (name, k) = (&self.name, table.index());
        format!(
            "static const double {name}_table{k}_knots[{}] = {{{knots}}};\nstatic const double {name}_table{k}_pieces[{}] = {{{pieces}}};\n",
            n_pieces + 1,
            6 * n_pieces
        )
    }

    fn open(&self, quantity: &CodeQuantity, sheet: &Sheet, unused: &[&str]) -> String {
        let (n, name) = (sheet.n(), &self.name);
        let p = if sheet.has_parameters() { format!(", const {name}_parameters *p") } else { String::new() };
        let m = sheet.equations.rows.len();
        let lam = if quantity.takes_multipliers { format!(", const double lam[{m}]") } else { String::new() };
        let (kind, result) = match quantity.shape {
            QuantityShape::Scalar => ("double", String::new()),
            QuantityShape::Vector(n) => ("void", format!(", double out[{n}]")),
            QuantityShape::Matrix(n, m) => ("void", format!(", double out[{n}][{m}]")),
        };
        let mut out = format!(
            "// {}: {}.\n{kind} {name}_{}(double t, const double q[{n}], const double v[{n}]{p}{lam}{result})\n{{\n",
            quantity.letter,
            one_line(&quantity.meaning),
            quantity.name
        );
        let unused: Vec<String> = unused.iter().map(|argument| format!("(void){argument};")).collect();
        if !unused.is_empty() {
            out += &format!("    {}\n", unused.join(" "));
        }
        out
    }

    fn bind(&self, pairs: &[(&str, String)]) -> String {
        let list: Vec<String> = pairs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("const double {};", list.join(", "))
    }

    fn parameter(&self, name: &str) -> String {
        format!("p->{name}")
    }

    fn zeros(&self, shape: QuantityShape, all_written: bool) -> String {
        match shape {
            _ if all_written => String::new(),
            QuantityShape::Scalar => String::new(),
            QuantityShape::Vector(n) => format!("    for (int i = 0; i < {n}; i++) out[i] = 0.0;\n"),
            QuantityShape::Matrix(n, m) => {
                format!("    for (int i = 0; i < {n}; i++) for (int j = 0; j < {m}; j++) out[i][j] = 0.0;\n")
            }
        }
    }

    fn entry(&self, shape: QuantityShape, row: usize, col: usize) -> String {
        match shape {
            QuantityShape::Scalar => "return ".into(),
            QuantityShape::Vector(_) => format!("out[{row}] = "),
            QuantityShape::Matrix(..) => format!("out[{row}][{col}] = "),
        }
    }

    fn close(&self, _: QuantityShape) -> String {
        "}\n".into()
    }
}
