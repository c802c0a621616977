//! Formulas as a module of SymPy: exact expressions of dynamic symbols.

use std::fmt::Write;

use zwang_expr::{Comparison, Expr, Function, Function2, Notation, Number, Piece, TableId, Unwritable};

use super::Sheet;
use super::functions::{broken_lines, one_line, reason, used_tables};
use super::numpy::{LOOKUP, docstring, python_power, table};
use super::quantity::{CodeQuantity, QuantityShape};

struct SymPy;

/// The largest number of names in one line.
const IN_LINE: usize = 8;

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

/// A number ≥ 0 in the form that SymPy keeps exact.
fn exact(decimal: &str) -> String {
    if decimal.contains(['.', 'e']) { format!("Rational(\"{decimal}\")") } else { decimal.to_string() }
}

impl Notation for SymPy {
    const POWER_IS_TIGHT: bool = false;

    fn number(&self, decimal: &str) -> String {
        exact(decimal)
    }

    fn ratio(&self, numerator: &str, denominator: &str) -> Option<String> {
        Some(format!("Rational({numerator}, {denominator})"))
    }

    fn pi(&self) -> String {
        "pi".into()
    }

    fn power(&self, base: Expr, _: bool, exponent: &Number) -> Vec<Piece> {
        match exponent.to_small() {
            Some((1, 2)) => Piece::call("sqrt", &[base]),
            _ if exponent.is_integer() => python_power(base, exponent.to_string()),
            _ => python_power(base, format!("Rational({}, {})", exponent.numerator(), exponent.denominator())),
        }
    }

    fn general_power(&self, base: Expr, _: bool, exponent: Expr) -> Vec<Piece> {
        vec![Piece::Tight(base), text("**"), Piece::Tight(exponent)]
    }

    fn apply(&self, f: Function, x: Expr, _: bool) -> Vec<Piece> {
        Piece::call(if f == Function::Abs { "Abs" } else { f.name() }, &[x])
    }

    fn apply2(&self, f: Function2, x: Expr, y: Expr) -> Vec<Piece> {
        let name = match f {
            Function2::Min => "Min",
            Function2::Max => "Max",
            Function2::Atan2 => "atan2",
        };
        Piece::call(name, &[x, y])
    }

    fn look(&self, table: TableId, x: Expr) -> Vec<Piece> {
        Piece::call(&format!("table{}", table.index()), &[x])
    }

    fn select(&self, comparison: Comparison, [left, right]: [Expr; 2], then: Expr, otherwise: Expr) -> Vec<Piece> {
        vec![
            text("Piecewise(("),
            Piece::Inside(then),
            text(", "),
            Piece::Tight(left),
            text(format!(" {} ", comparison.symbol())),
            Piece::Tight(right),
            text("), ("),
            Piece::Inside(otherwise),
            text(", True))"),
        ]
    }
}

/// The whole module.
pub(super) fn write(sheet: &Sheet) -> String {
    let mut out = begin(sheet);
    out += &symbols(sheet);
    out += &tables(sheet);
    out += &parts(sheet);
    for quantity in &sheet.quantities {
        let _ = writeln!(out, "\n# {}", quantity.meaning);
        match assignment(sheet, quantity) {
            Ok(text) => out += &text,
            Err(why) => {
                let _ = writeln!(out, "# {}: {}", letter(quantity), reason(sheet, &why));
            }
        }
    }
    out
}

/// The name of a quantity; `lambda` is a keyword of Python.
fn letter(quantity: &CodeQuantity) -> &'static str {
    if quantity.letter == "lambda" { "lam" } else { quantity.letter }
}

fn begin(sheet: &Sheet) -> String {
    let name = &sheet.name;
    let shown = sheet.quantities.iter().find(|q| q.name == sheet.example()).map_or("Q", letter);
    let (whole, unfold) = match sheet.parts.is_empty() {
        true => (format!("p.{shown}"), ""),
        false => (
            format!("p.unfold(p.{shown})"),
            "\nLong formulas are written with named parts, `parts`, as pairs that sympy.cse would give; unfold(...) puts\nthem in.\n",
        ),
    };
    let letters: Vec<&str> = sheet.quantities.iter().map(letter).collect();
    let head = format!(
        "{}
This module, {name}.py, gives them as SymPy expressions with exact numbers: {}.
Coordinates `q` are dynamicsymbols, functions of time as sympy.physics.mechanics uses them; velocities `qdot` are their
derivatives; parameters are plain symbols, with their values in `values`.
{unfold}
    import sympy
    import {name} as p
    p.{shown}
    f = sympy.lambdify([p.t, p.q, p.qdot, p.parameters], {whole}, cse=True)
    f(0.0, [{}], [{}], [{}])
",
        sheet.head(),
        letters.join(", "),
        super::example_values(sheet.n(), 0).join(", "),
        super::example_values(sheet.n(), 1).join(", "),
        sheet.parameters().map(|(_, value, _)| format!("{value:?}")).collect::<Vec<_>>().join(", "),
    );
    let imports = "from sympy import (
    Abs, Function, Matrix, Max, Min, Piecewise, Rational, acos, asin, atan, atan2, cos, cosh, exp, log, pi, sign, sin, sinh,
    sqrt, symbols, tan, tanh, zeros)
from sympy.physics.mechanics import dynamicsymbols
";
    format!("\"\"\"{}\"\"\"\n{imports}", docstring(&head))
}

/// The symbols by the names of the model; the Python names are equal to them unless they are reserved.
fn symbols(sheet: &Sheet) -> String {
    let names = &sheet.names;
    let mut out = String::from("\nt = dynamicsymbols._t\n");
    let mut declare = |names: &[String], call: &str, more: &str| {
        for line in names.chunks(IN_LINE) {
            let spelled: Vec<&str> = line.iter().map(|name| name.trim_end_matches('_')).collect();
            let comma = if line.len() == 1 { "," } else { "" };
            let (left, right) = (line.join(", "), spelled.join(" "));
            let _ = writeln!(out, "{left}{comma} = {call}(\"{right}{comma}\"{more})");
        }
    };
    declare(&names.coordinates, "dynamicsymbols", "");
    declare(&names.parameters, "symbols", "");
    for line in names.coordinates.iter().zip(&names.velocities).collect::<Vec<_>>().chunks(IN_LINE) {
        let (q, v): (Vec<&str>, Vec<String>) = line.iter().map(|(q, v)| (v.as_str(), format!("{q}.diff(t)"))).unzip();
        let _ = writeln!(out, "{} = {}", q.join(", "), v.join(", "));
    }
    if sheet.quantities.iter().any(|q| q.takes_multipliers) {
        for (name, row) in names.multipliers.iter().zip(&sheet.equations.rows) {
            let _ = writeln!(out, "{name} = symbols(\"{}\")  # multiplier of {}", name.trim_end_matches('_'), row.name);
        }
    }
    let _ = writeln!(out, "\nq = Matrix([{}])", names.coordinates.join(", "));
    let _ = writeln!(out, "qdot = Matrix([{}])", names.velocities.join(", "));
    let _ = writeln!(out, "parameters = [{}]", names.parameters.join(", "));
    let _ = writeln!(out, "values = {{");
    for (name, value, description) in sheet.parameters() {
        let number = format!("{:?}", value.abs());
        let number = exact(number.strip_suffix(".0").unwrap_or(&number));
        let description = if description.is_empty() { description } else { format!("  # {description}") };
        let _ = writeln!(out, "    {name}: {}{number},{description}", if value < 0.0 { "-" } else { "" });
    }
    out + "}\n"
}

/// Tables as functions with numerical code: they can be evaluated but not differentiated.
fn tables(sheet: &Sheet) -> String {
    let graph = &sheet.equations.model.graph;
    let used = used_tables(sheet);
    if used.is_empty() {
        return String::new();
    }
    let list = |values: &mut dyn Iterator<Item = f64>| values.map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
    let mut out = String::from("\nimport numpy as np\nfrom sympy.utilities.lambdify import implemented_function\n");
    out += LOOKUP;
    for id in used {
        let numbers = graph.table(id);
        let knots = list(&mut numbers.knots().iter().copied());
        let pieces = list(&mut numbers.pieces().iter().flatten().copied());
        let k = id.index();
        let _ = writeln!(out, "\n# {}, derivative {}", one_line(numbers.name()), numbers.order());
        out += &table(id, &knots, &pieces);
        let function = format!("lambda x: look(TABLE{k}_KNOTS, TABLE{k}_PIECES, x)");
        let _ = writeln!(out, "table{k} = implemented_function(\"table{k}\", {function})");
    }
    out
}

fn parts(sheet: &Sheet) -> String {
    if sheet.parts.is_empty() {
        return String::new();
    }
    let graph = &sheet.equations.model.graph;
    let mut out = String::from("\n# parts, each with its formula, which may use earlier ones\nparts = []\n");
    let mut last = "";
    for (part, name) in sheet.parts.iter().zip(&sheet.names.parts) {
        if part.meaning != last {
            last = &part.meaning;
            let _ = writeln!(out, "# {}", one_line(last));
        }
        let _ = writeln!(out, "{name} = symbols(\"{}\")", name.trim_end_matches('_'));
        let _ = match graph.source(part.value, &sheet.names.of, &SymPy) {
            Ok(value) => writeln!(out, "parts.append(({name}, {}))", broken_lines(&value, true)),
            Err(why) => writeln!(out, "# {}", reason(sheet, &why)),
        };
    }
    out + "

def unfold(expression):
    \"\"\"The expression without named parts.\"\"\"
    whole = {}
    for symbol, value in parts:
        whole[symbol] = value.xreplace(whole)
    return expression.xreplace(whole)

"
}

fn assignment(sheet: &Sheet, quantity: &CodeQuantity) -> Result<String, Unwritable> {
    let graph = &sheet.equations.model.graph;
    let name = letter(quantity);
    let mut out = match quantity.shape {
        QuantityShape::Scalar => String::new(),
        QuantityShape::Vector(n) => format!("{name} = zeros({n}, 1)\n"),
        QuantityShape::Matrix(n, m) => format!("{name} = zeros({n}, {m})\n"),
    };
    for entry in &quantity.entries {
        let value = broken_lines(&graph.source(entry.value, &sheet.names.of, &SymPy)?, true);
        let place = match quantity.shape {
            QuantityShape::Scalar => name.to_string(),
            QuantityShape::Vector(_) => format!("{name}[{}]", entry.row),
            QuantityShape::Matrix(..) => format!("{name}[{}, {}]", entry.row, entry.col),
        };
        let label = if entry.label.is_empty() { String::new() } else { format!("  # {}", entry.label) };
        let _ = writeln!(out, "{place} = {value}{label}");
    }
    Ok(out)
}
