//! Formulas in Python with NumPy, for one state or many.

use zwang_expr::{Comparison, Expr, Function, Function2, Notation, Number, Piece, TableId};

use super::functions::{FunctionSyntax, one_line};
use super::quantity::{CodeQuantity, QuantityShape};
use super::{Sheet, example_values};

pub(super) struct NumPy;

/// The largest number of digits of an integer literal; a longer one does not fit NumPy's integers.
const MOST_DIGITS: usize = 15;

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

/// A power in the syntax of Python.
pub(super) fn python_power(base: Expr, exponent: String) -> Vec<Piece> {
    vec![Piece::Tight(base), text(format!("**{exponent}"))]
}

impl Notation for NumPy {
    const POWER_IS_TIGHT: bool = false;

    fn number(&self, decimal: &str) -> String {
        let is_long = decimal.len() > MOST_DIGITS && !decimal.contains(['.', 'e']);
        if is_long { format!("{decimal}.0") } else { decimal.to_string() }
    }

    fn ratio(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn pi(&self) -> String {
        "np.pi".into()
    }

    fn power(&self, base: Expr, _: bool, exponent: &Number) -> Vec<Piece> {
        match (exponent.to_small(), exponent.to_i64()) {
            (Some((1, 2)), _) => Piece::call("np.sqrt", &[base]),
            (_, Some(n)) => python_power(base, n.to_string()),
            _ => vec![text("np.power("), Piece::Inside(base), text(format!(", {:?})", exponent.to_f64()))],
        }
    }

    fn general_power(&self, base: Expr, _: bool, exponent: Expr) -> Vec<Piece> {
        Piece::call("np.power", &[base, exponent])
    }

    fn apply(&self, f: Function, x: Expr, _: bool) -> Vec<Piece> {
        let name = match f {
            Function::Asin => "arcsin",
            Function::Acos => "arccos",
            Function::Atan => "arctan",
            other => other.name(),
        };
        Piece::call(&format!("np.{name}"), &[x])
    }

    fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece> {
        match f {
            Function2::Min => Piece::call("np.minimum", &[x, y]),
            Function2::Max => Piece::call("np.maximum", &[x, y]),
            // -0 counts as 0
            Function2::Atan2 => {
                vec![text("np.arctan2("), Piece::Inside(x), text(" + 0.0, "), Piece::Inside(y), text(" + 0.0)")]
            }
        }
    }

    fn look(&self, table: TableId, x: Expr) -> Vec<Piece> {
        let k = table.index();
        vec![text(format!("look(TABLE{k}_KNOTS, TABLE{k}_PIECES, ")), Piece::Inside(x), text(")")]
    }

    fn select(&self, comparison: Comparison, [left, right]: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece> {
        let compared = [text("np.where("), Piece::Inside(left), text(format!(" {} ", comparison.symbol()))];
        let chosen = [Piece::Inside(right), text(", "), Piece::Inside(then), text(", "), Piece::Inside(otherwise)];
        [&compared[..], &chosen, &[text(")")]].concat()
    }
}

/// The text escaped for use inside `"""`.
pub(super) fn docstring(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

/// The evaluation of a table for arrays, in Python with NumPy.
pub(super) const LOOKUP: &str = "

def look(knots, pieces, x):
    \"\"\"A table at x: pieces of degree 5 between its knots; not a number beyond its ends.\"\"\"
    x = np.asarray(x, dtype=float)
    at = np.clip(np.searchsorted(knots, x, side=\"right\"), 1, len(knots) - 1) - 1
    s, total = x - knots[at], 0.0
    for k in range(5, -1, -1):
        total = total*s + pieces[at, k]
    slack = 1e-9*(knots[-1] - knots[0])
    return np.where((x >= knots[0] - slack) & (x <= knots[-1] + slack), total, np.nan)

";

/// The numbers of a table as arrays.
pub(super) fn table(table: TableId, knots: &str, pieces: &str) -> String {
    let k = table.index();
    format!("TABLE{k}_KNOTS = np.array([{knots}])\nTABLE{k}_PIECES = np.array([{pieces}]).reshape(-1, 6)\n")
}

const ARRAYS: &str = "

def arrays(t, q, v):
    \"\"\"Time, coordinates and velocities as arrays of numbers.\"\"\"
    return np.asarray(t, dtype=float), np.asarray(q, dtype=float), np.asarray(v, dtype=float)


def zeros(shape, t, q, v):
    \"\"\"Zeros of this shape for every state.\"\"\"
    return np.zeros(shape + np.broadcast_shapes(t.shape, q.shape[1:], v.shape[1:]))
";

impl FunctionSyntax for NumPy {
    const COMMENT: &'static str = "#";
    const STOP: &'static str = "";
    const NEEDS_BRACKETS: bool = true;

    fn begin(&self, sheet: &Sheet) -> String {
        let (n, name, example) = (sheet.n(), &sheet.name, sheet.example());
        let (q, v) = (example_values(n, 0).join(", "), example_values(n, 1).join(", "));
        let other = sheet.parameters().next().map(|(p, value, _)| {
            format!("\n    {name}.{example}(t, q, v, {name}.Parameters({p}={value:?}))  # or other parameters")
        });
        let call = format!(
            "    import {name}\n    t, q, v = 0.0, [{q}], [{v}]\n    {name}.{example}(t, q, v){}",
            other.unwrap_or_default()
        );
        let many =
            "Many states at once: q and v are then arrays with one state in each column, t is a number or a row.";
        let head = format!("{}\n{call}\n\n{many}\n", sheet.head());
        let mut out = format!("\"\"\"{}\"\"\"\n", docstring(&head));
        out += if sheet.has_parameters() { "from dataclasses import dataclass\n\n" } else { "" };
        out += "import numpy as np\n";
        if sheet.has_parameters() {
            out += "\n\n@dataclass(frozen=True)\nclass Parameters:\n    \"\"\"The parameters, with the model's values unless others are given.\"\"\"\n";
            for (name, value, description) in sheet.parameters() {
                let description = if description.is_empty() { description } else { format!("  # {description}") };
                out += &format!("    {name}: float = {value:?}{description}\n");
            }
        }
        out + ARRAYS
    }

    fn lookup(&self) -> String {
        LOOKUP.into()
    }

    fn table(&self, id: TableId, knots: &str, pieces: &str, _: usize) -> String {
        table(id, knots, pieces)
    }

    fn open(&self, quantity: &CodeQuantity, sheet: &Sheet, _: &[&str]) -> String {
        let p = if sheet.has_parameters() { ", p=Parameters()" } else { "" };
        let lam = if quantity.takes_multipliers { ", lam" } else { "" };
        let description = docstring(&one_line(&quantity.meaning));
        format!(
            "\ndef {}(t, q, v{lam}{p}):\n    \"\"\"{}: {description}.\"\"\"\n    t, q, v = arrays(t, q, v)\n{}",
            quantity.name,
            quantity.letter,
            if quantity.takes_multipliers { "    lam = np.asarray(lam, dtype=float)\n" } else { "" }
        )
    }

    fn bind(&self, pairs: &[(&str, String)]) -> String {
        let (names, values): (Vec<&str>, Vec<&str>) = pairs.iter().map(|(name, value)| (*name, value.as_str())).unzip();
        format!("{} = {}", names.join(", "), values.join(", "))
    }

    fn parameter(&self, name: &str) -> String {
        format!("p.{name}")
    }

    fn zeros(&self, shape: QuantityShape, _: bool) -> String {
        let shape = match shape {
            QuantityShape::Scalar => return "    out = zeros((), t, q, v)\n".into(),
            QuantityShape::Vector(n) => format!("({n},)"),
            QuantityShape::Matrix(n, m) => format!("({n}, {m})"),
        };
        format!("    out = zeros({shape}, t, q, v)\n")
    }

    fn entry(&self, shape: QuantityShape, row: usize, col: usize) -> String {
        match shape {
            QuantityShape::Scalar => "out[()] = ".into(),
            QuantityShape::Vector(_) => format!("out[{row}] = "),
            QuantityShape::Matrix(..) => format!("out[{row}, {col}] = "),
        }
    }

    fn close(&self, _: QuantityShape) -> String {
        "    return out\n".into()
    }
}
