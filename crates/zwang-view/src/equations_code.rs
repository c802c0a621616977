//! The printed formulas as readable source code: Rust, C, Python with NumPy, SymPy.
//!
//! Unlike [`code`](crate::code()), which writes one fast function, this module keeps the printed form of the formulas
//! and the names of the model.

mod c;
mod functions;
mod names;
mod numpy;
mod quantity;
mod rust;
mod sympy;

use std::fmt::Write;

use zwang::equations::Equations;
use zwang::visible::visible;
use zwang::{ClosedForm, Part, ascii_name, closed_form};

use crate::code::c_text;
use functions::write_functions;
use names::CodeNames;
use quantity::{CodeQuantity, quantities};

/// A language for formulas.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FormulaLanguage {
    /// Rust, without dependencies.
    Rust,
    /// C99, for any compiler with `math.h`.
    C,
    /// Python 3 with NumPy, for one state or for many at once.
    NumPy,
    /// Python 3 with SymPy: exact expressions, no numbers.
    SymPy,
}

/// M, Q, A, b and the closed forms as source code; `name` is the file name without its extension.
///
/// Contacts and sticking friction are not permanent and are omitted; the file states this.
pub fn equations_code(equations: &mut Equations, language: FormulaLanguage, name: &str) -> String {
    Formulas::new(equations).code(language, name)
}

/// Equations in printed form with their closed form, computed once for several languages.
pub struct Formulas {
    equations: Equations,
    closed: Result<ClosedForm, &'static str>,
    /// The contacts and frictions that are omitted because they are not permanent.
    at_times: Vec<String>,
}

impl Formulas {
    /// The formulas of the permanent constraints.
    pub fn new(equations: &mut Equations) -> Formulas {
        let at_times = equations.model.only_at_times();
        let mut printed = equations.printed();
        let closed = closed_form(&mut printed);
        Formulas { equations: printed, closed, at_times }
    }

    /// The formulas as source code; `name` is the file name without its extension.
    pub fn code(&self, language: FormulaLanguage, name: &str) -> String {
        let (equations, closed) = (&self.equations, self.closed.as_ref().ok());
        let quantities = quantities(equations, closed);
        let parts = parts(equations, closed);
        let names = CodeNames::new(equations, &parts, language);
        let name = ascii_name(name);
        let closed = self.closed.as_ref().map_err(|why| *why);
        let sheet = Sheet { name, equations, quantities, parts, names, closed, at_times: &self.at_times };
        let text = match language {
            FormulaLanguage::Rust => write_functions(&sheet, &rust::Rust),
            FormulaLanguage::C => return c_text(&write_functions(&sheet, &c::C { name: sheet.name.clone() })),
            FormulaLanguage::NumPy => write_functions(&sheet, &numpy::NumPy),
            FormulaLanguage::SymPy => sympy::write(&sheet),
        };
        visible(&text).into_owned()
    }
}

/// The contents of the file, independent of the language.
struct Sheet<'e> {
    /// The name of the file.
    name: String,
    equations: &'e Equations,
    quantities: Vec<CodeQuantity>,
    /// Each part comes after those it uses.
    parts: Vec<Part>,
    names: CodeNames,
    closed: Result<&'e ClosedForm, &'static str>,
    /// The contacts and frictions that are omitted because they are not permanent.
    at_times: &'e [String],
}

impl Sheet<'_> {
    /// The introduction of the file, in the order in which a reader needs it.
    fn head(&self) -> String {
        let model = &self.equations.model;
        let title = if model.title.is_empty() { &self.name } else { &model.title };
        let mut out = format!(
            "{title}: the equations of motion as formulas.\nWritten by zwang {}; all values in SI units.\n\n",
            env!("CARGO_PKG_VERSION")
        );
        let (rows, asked) = (&self.equations.rows, &self.equations.asked);
        out += "    M q'' = Q";
        out += if rows.is_empty() { "" } else { " + A^T lambda" };
        out += if self.equations.nonideal_force.is_empty() { "" } else { " + Qn" };
        out += if asked.is_empty() { "" } else { " + u" };
        out += if rows.is_empty() { "" } else { ",   A q'' = b" };
        out += if asked.is_empty() { "" } else { ",   A_c q'' = b_c" };
        out += "\n\n";
        let coordinates = model.coordinates.iter().map(|c| c.name.as_str());
        let _ = writeln!(out, "q, q'  coordinates and their velocities: {}", numbered(coordinates));
        if !rows.is_empty() {
            let _ = writeln!(out, "A, b   rows: {}", numbered(rows.iter().map(|r| r.name.as_str())));
        }
        if !asked.is_empty() {
            let _ =
                writeln!(out, "A_c    rows asked by controls: {}", numbered(asked.iter().map(|r| r.row.name.as_str())));
        }
        out + &self.missing()
    }

    /// The quantities that are missing, with the reasons.
    fn missing(&self) -> String {
        let mut out = String::new();
        match self.closed {
            Err(why) => {
                let _ = writeln!(
                    out,
                    "\nThere is no closed form: {why}.\n\
                     Accelerations, multipliers and forces are not here; the equations to solve for them are."
                );
            }
            Ok(closed) => {
                if closed.needs_values {
                    out += "\nRows of A repeat others for the values of the parameters in the model, not for all: the formulas\n\
                            hold for these values only.\n";
                }
                for (name, why) in closed.missing() {
                    let _ = writeln!(out, "\nNot here: {name} ({why}).");
                }
            }
        }
        if let Some(lambda) = self.quantities.iter().find(|q| q.name == "multipliers") {
            let left_out = self.equations.rows.len() - lambda.entries.len();
            if left_out > 0 {
                let _ = writeln!(out, "\nRows of A that repeat others have the multiplier 0: {left_out} of them.");
            }
        }
        if self.closed.is_ok() && self.equations.model.controls.iter().any(|control| !control.limit.is_empty()) {
            out += "\nControl force and accelerations hold while no force is at its limit.\n";
        }
        if !self.at_times.is_empty() {
            let _ = writeln!(out, "\nNot here, because it holds only at times: {}.", self.at_times.join(", "));
        }
        out
    }
}

/// The parts of the equations, then those of the closed form.
fn parts(equations: &Equations, closed: Option<&ClosedForm>) -> Vec<Part> {
    let own = closed.map_or(&[][..], |closed| &closed.parts[..]);
    let new = own.iter().filter(|part| !equations.parts.contains(part));
    equations.parts.iter().chain(new).cloned().collect()
}

/// `x [0], y [1]`
fn numbered<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.enumerate().map(|(i, name)| format!("{name} [{i}]")).collect::<Vec<_>>().join(", ")
}

/// Values for the example of a call: neither zeros nor equal values, at which formulas may be singular.
fn example_values(n: usize, first: usize) -> Vec<String> {
    (0..n).map(|k| format!("0.{}", 2 + (3 * (k + first)) % 8)).collect()
}
