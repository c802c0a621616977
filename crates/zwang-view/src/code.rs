//! The derived functions as source code in C, Rust or Python, without allocation and without libraries.

mod dialect;

use std::fmt::Write;

pub use dialect::Language;
pub(crate) use dialect::{C_LOOKUP, RUST_LOOKUP};
use dialect::{Dialect, bare};
use zwang::visible::visible;
use zwang::{Exported, ExportedRow, ascii_name};
use zwang_expr::{Instruction, Operation, Program};

/// The source of a function from (t, q, q̇, parameters) to the control force, or to the acceleration without controls.
pub fn code(exported: &Exported, language: Language, name: &str) -> String {
    let name = ascii_name(name);
    let mut writer = CodeWriter { exported, dialect: Dialect::of(language), out: String::new(), literals: Vec::new() };
    writer.literals = writer.registers(&exported.program, "r", &[]);
    writer.head(&name);
    writer.tables();
    writer.out.push_str(writer.dialect.solver);
    writer.function(&name);
    if language == Language::C { c_text(&writer.out) } else { visible(&writer.out).into_owned() }
}

/// C in which no comment acts on the code: hidden characters are written out, `??` begins no trigraph, and no comment continues on
/// the next line.
pub(crate) fn c_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let visible = visible(text);
    for line in visible.lines() {
        let mut before = ' ';
        for c in line.trim_end_matches(['\\', ' ']).chars() {
            if (before, c) == ('?', '?') {
                out.push(' ');
            }
            out.push(c);
            before = c;
        }
        out.push('\n');
    }
    out
}

struct CodeWriter<'e> {
    exported: &'e Exported,
    dialect: Dialect,
    out: String,
    /// The name of each register.
    literals: Vec<String>,
}

/// The row and column of the first entry of a block.
type Place = (usize, usize);

impl CodeWriter<'_> {
    /// Constants by value, inputs by name, results by letter and number; `others` are inputs behind the parameters.
    fn registers(&self, program: &Program, letter: &str, others: &[String]) -> Vec<String> {
        let n = self.exported.coordinates.len();
        let mut names: Vec<String> = program.constants().iter().map(|c| self.dialect.number(*c)).collect();
        names.push("t".into());
        names.extend((0..n).map(|i| format!("q[{i}]")));
        names.extend((0..n).map(|i| format!("v[{i}]")));
        names.extend((0..self.exported.parameters.len()).map(|i| format!("p[{i}]")));
        names.extend_from_slice(others);
        names.extend((0..program.len()).map(|k| format!("{letter}{k}")));
        names
    }

    /// The name of an output of the program.
    fn output(&self, index: usize) -> &str {
        &self.literals[self.exported.program.outputs()[index] as usize]
    }

    /// The program of the matrices, and that of the nonideal force.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(&self.exported.program).chain(self.exported.law.iter().map(|law| &law.program))
    }

    fn comment(&mut self, text: &str) {
        let line = self.dialect.comment;
        for part in text.lines() {
            let _ = writeln!(self.out, "{}", format!("{line} {part}").trim_end());
        }
    }

    /// The introduction: purpose, example of a call, and the parameter values of the model.
    fn head(&mut self, name: &str) {
        let e = self.exported;
        let called = function_name(name, e);
        let list = |names: Vec<String>| names.join(", ");
        let numbered = |names: &[String]| list(names.iter().enumerate().map(|(i, s)| format!("{s} [{i}]")).collect());
        let title = if e.title.is_empty() { name } else { &e.title };
        let mut text = format!("{title}: written by zwang {}; all values in SI units.\n\n", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(text, "q, v  coordinates and their velocities: {}", numbered(&e.coordinates));
        let parameters: Vec<String> = e.parameters.iter().map(|(name, _)| name.clone()).collect();
        if !parameters.is_empty() {
            let _ = writeln!(text, "p     parameters: {}", numbered(&parameters));
        }
        if e.has_controls() {
            let driven: Vec<String> = e.driven.iter().map(|&k| e.coordinates[k].clone()).collect();
            let _ = writeln!(text, "u     the force that makes it follow, on: {}", numbered(&driven));
        } else {
            let _ = writeln!(text, "a     the acceleration of each coordinate");
            if !e.row_names.is_empty() {
                let with = if e.law.is_some() { ", nonideal forces included" } else { "" };
                let _ = writeln!(text, "f     the multipliers of: {}{with}", numbered(&e.row_names));
            }
        }
        let _ = write!(text, "\n{called} {}", self.dialect.outcome);
        self.comment(&text);
        self.out.push_str(self.dialect.prelude);
        if !e.parameters.is_empty() {
            let values: Vec<String> = e.parameters.iter().map(|(_, value)| self.dialect.number(*value)).collect();
            let line = self.dialect.constants(&constant_name(name, "parameters", &self.dialect), &values);
            let _ = writeln!(self.out, "\n{line}");
        }
    }

    /// The tables that the program uses.
    fn tables(&mut self) {
        let used: Vec<usize> = self.used_tables();
        if used.is_empty() {
            return;
        }
        self.out.push_str(self.dialect.lookup);
        for k in used {
            let table = self.exported.program.tables()[k].clone();
            let number = |x: &f64| self.dialect.number(*x);
            let knots: Vec<String> = table.knots().iter().map(number).collect();
            let pieces: Vec<String> = table.pieces().iter().flatten().map(number).collect();
            let (at, of) = (self.dialect.table_name(k, "knots"), self.dialect.table_name(k, "pieces"));
            let lines = [self.dialect.constants(&at, &knots), self.dialect.constants(&of, &pieces)];
            let _ = writeln!(self.out, "\n{}\n{}", lines[0], lines[1]);
        }
    }

    fn used_tables(&self) -> Vec<usize> {
        let looks = self.programs().flat_map(Program::instructions).filter_map(|i| match i.operation {
            Operation::Look(table) => Some(table.index()),
            _ => None,
        });
        let mut used: Vec<usize> = looks.collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    fn function(&mut self, name: &str) {
        let e = self.exported;
        let sizes = Sizes::of(e);
        let called = function_name(name, e);
        let head = self.dialect.function(&called, e, sizes.n, sizes.m);
        let _ = writeln!(self.out, "\n{head}");
        self.instructions(&e.program, &self.literals.clone());
        if !e.has_controls() {
            self.acceleration(&sizes);
        } else if e.asked.len() == e.driven.len() {
            self.exact_force(&sizes);
        } else {
            self.least_force(&sizes);
        }
        self.out.push_str(self.dialect.end);
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {text}{}", self.dialect.stop);
    }

    /// The straight-line part.
    fn instructions(&mut self, program: &Program, names: &[String]) {
        let first = names.len() - program.len();
        for k in 0..program.len() {
            let Instruction { operation, a, b, c } = program.instructions()[k];
            let name = |r: u32| names[r as usize].as_str();
            let length = |table: usize| program.tables()[table].pieces().len();
            let value = self.dialect.operation(operation, [name(a), name(b), name(c)], length);
            let text = self.dialect.declare(&names[first + k], &value);
            self.line(&text);
        }
    }

    fn array(&mut self, name: &str, size: usize) {
        let text = self.dialect.array(name, size);
        self.line(&text);
    }

    fn set(&mut self, array: &str, at: usize, value: &str) {
        self.line(&format!("{array}[{at}] = {}", bare(value)));
    }

    /// Writes the entries of a matrix into a dense one with `width` columns, starting at a place; `sign` is empty or a
    /// minus.
    fn entries(&mut self, array: &str, width: usize, rows: &[ExportedRow], (row, col): Place, sign: &str) {
        for (i, entries) in rows.iter().enumerate() {
            for &(j, output) in entries {
                let value = format!("{sign}{}", self.output(output));
                self.set(array, (row + i) * width + col + j, &value);
            }
        }
    }

    /// Writes −Aᵀ for the coordinates listed in `rows`, starting at row 0.
    fn reactions(&mut self, array: &str, width: usize, rows: &[usize], col: usize) {
        let e = self.exported;
        for (r, entries) in e.rows.iter().enumerate() {
            for &(j, output) in entries {
                if let Some(i) = rows.iter().position(|&row| row == j) {
                    let value = format!("-{}", self.output(output));
                    self.set(array, i * width + col + r, &value);
                }
            }
        }
    }

    /// Writes the solution of a linear system, which ends the function if it is singular.
    fn solve(&mut self, n: usize, n_rhs: usize, matrix: &str, x: &str) {
        let text = self.dialect.solve(n, n_rhs, matrix, x);
        let _ = writeln!(self.out, "{text}");
    }

    fn refuse_not_finite(&mut self, array: &str, n: usize) {
        let text = self.dialect.refuse_not_finite(array, n);
        let _ = writeln!(self.out, "{text}");
    }

    /// Σ of an exported row times entries of x, which start at `first` and are `stride` apart.
    fn product(&self, row: &ExportedRow, x: &str, stride: usize, first: usize) -> String {
        let terms: Vec<String> =
            row.iter().map(|&(j, output)| format!("{}*{x}[{}]", self.output(output), j * stride + first)).collect();
        if terms.is_empty() { "0.0".into() } else { terms.join(" + ") }
    }

    /// [M −Aᵀ; A 0](q̈, λ) = (Q, b); with a nonideal law λ gives C, and the system is solved again with Q + C.
    fn acceleration(&mut self, sizes: &Sizes) {
        let e = self.exported;
        let Sizes { n, m, .. } = *sizes;
        self.acceleration_by(sizes, ("S", "x"), &[]);
        let mut solution = "x";
        if let Some(law) = &e.law {
            let multipliers: Vec<String> = (n..n + m).map(|i| format!("x[{i}]")).collect();
            let names = self.registers(&law.program, "c", &multipliers);
            self.instructions(&law.program, &names);
            let force: Vec<String> =
                law.force.iter().map(|&output| names[law.program.outputs()[output] as usize].clone()).collect();
            self.acceleration_by(sizes, ("T", "y"), &force);
            solution = "y";
        }
        (0..n).for_each(|i| self.set("a", i, &format!("{solution}[{i}]")));
        self.refuse_not_finite("a", n);
        (0..m).for_each(|r| self.set("f", r, &format!("{solution}[{}]", n + r)));
    }

    /// Solves for q̈ and λ, with further forces on the coordinates, in arrays of these names.
    fn acceleration_by(&mut self, sizes: &Sizes, (matrix, x): (&str, &str), force: &[String]) {
        let e = self.exported;
        let Sizes { n, m, .. } = *sizes;
        let size = n + m;
        self.array(matrix, size * size);
        self.array(x, size);
        self.entries(matrix, size, &e.mass, (0, 0), "");
        self.reactions(matrix, size, &(0..n).collect::<Vec<_>>(), n);
        self.entries(matrix, size, &e.rows, (n, 0), "");
        for (i, &output) in e.force.iter().chain(&e.rhs).enumerate() {
            let value = match force.get(i) {
                Some(force) => format!("{} + {force}", self.output(output)),
                None => self.output(output).to_string(),
            };
            self.set(x, i, &value);
        }
        self.solve(size, 1, matrix, x);
    }

    /// The control force for as many driven coordinates as control rows. The control rows, the constraints and the
    /// equations of the undriven coordinates determine the motion; the force is the remainder of the equations of the
    /// driven ones.
    fn exact_force(&mut self, sizes: &Sizes) {
        let e = self.exported;
        let Sizes { n, m, .. } = *sizes;
        let size = n + m;
        let idle: Vec<usize> = (0..n).filter(|i| !e.driven.contains(i)).collect();
        self.array("S", size * size);
        self.array("x", size);
        let mass: Vec<ExportedRow> = idle.iter().map(|&i| e.mass[i].clone()).collect();
        self.entries("S", size, &mass, (0, 0), "");
        self.reactions("S", size, &idle, n);
        self.entries("S", size, &e.rows, (idle.len(), 0), "");
        self.entries("S", size, &e.asked, (idle.len() + m, 0), "");
        let right = idle.iter().map(|&i| e.force[i]).chain(e.rhs.iter().copied()).chain(e.asked_rhs.iter().copied());
        for (i, output) in right.enumerate() {
            let value = self.output(output).to_string();
            self.set("x", i, &value);
        }
        self.solve(size, 1, "S", "x");
        for (k, &i) in e.driven.iter().enumerate() {
            let mut value = format!("{} - {}", self.product(&e.mass[i], "x", 1, 0), self.output(e.force[i]));
            for (r, row) in e.rows.iter().enumerate() {
                for &(_, output) in row.iter().filter(|(j, _)| *j == i) {
                    let _ = write!(value, " - {}*x[{}]", self.output(output), n + r);
                }
            }
            self.set("u", k, &value);
        }
        self.bound();
    }

    /// The control force for more driven coordinates than control rows: the effect of each force, then the least force.
    fn least_force(&mut self, sizes: &Sizes) {
        let e = self.exported;
        let Sizes { n, m, k, c } = *sizes;
        let (size, width) = (n + m, k + 1);
        // column 0 of x: the motion without control; the others: the effect of a unit of each force
        self.array("S", size * size);
        self.array("x", size * width);
        self.entries("S", size, &e.mass, (0, 0), "");
        self.reactions("S", size, &(0..n).collect::<Vec<_>>(), n);
        self.entries("S", size, &e.rows, (n, 0), "");
        for (i, &output) in e.force.iter().chain(&e.rhs).enumerate() {
            let value = self.output(output).to_string();
            self.set("x", i * width, &value);
        }
        for (l, &i) in e.driven.iter().enumerate() {
            self.set("x", i * width + 1 + l, "1.0");
        }
        self.solve(size, width, "S", "x");
        // [W −Jᵀ; J 0](w, μ) = (0, b_c − A_c q̈)
        let whole = k + c;
        self.array("T", whole * whole);
        self.array("w", whole);
        self.write_weight(sizes);
        for (i, row) in e.asked.iter().enumerate() {
            for l in 0..k {
                let value = self.product(row, "x", width, 1 + l);
                self.set("T", (k + i) * whole + l, &value);
                self.set("T", l * whole + k + i, &format!("-T[{}]", (k + i) * whole + l));
            }
            let value = format!("{} - ({})", self.output(e.asked_rhs[i]), self.product(row, "x", width, 0));
            self.set("w", k + i, &value);
        }
        self.solve(whole, 1, "T", "w");
        (0..k).for_each(|l| self.set("u", l, &format!("w[{l}]")));
        self.bound();
    }

    /// Writes W: as given, or SᵀM⁻¹S, which is already known if there are no constraints.
    fn write_weight(&mut self, sizes: &Sizes) {
        let e = self.exported;
        let Sizes { n, m, k, c } = *sizes;
        let whole = k + c;
        if !e.weight.is_empty() {
            for (at, &output) in e.weight.iter().enumerate() {
                let value = self.output(output).to_string();
                self.set("T", at / k * whole + at % k, &value);
            }
            return;
        }
        let (array, width, first) = if m == 0 { ("x", k + 1, 1) } else { ("y", k, 0) };
        if m > 0 {
            self.array("N", n * n);
            self.array("y", n * k);
            self.entries("N", n, &e.mass, (0, 0), "");
            for (l, &i) in e.driven.iter().enumerate() {
                self.set("y", i * k + l, "1.0");
            }
            self.solve(n, k, "N", "y");
        }
        for (a, &i) in e.driven.iter().enumerate() {
            for b in 0..k {
                self.set("T", a * whole + b, &format!("{array}[{}]", i * width + first + b));
            }
        }
    }

    /// Limits a single force to its bound.
    fn bound(&mut self) {
        self.refuse_not_finite("u", self.exported.driven.len());
        if let Some(limit) = self.exported.limit {
            let value = self.dialect.clamp("u[0]", self.output(limit));
            self.set("u", 0, &value);
        }
    }
}

/// The sizes: n coordinates, m rows of A, k driven coordinates, c control rows.
struct Sizes {
    n: usize,
    m: usize,
    k: usize,
    c: usize,
}

impl Sizes {
    fn of(e: &Exported) -> Sizes {
        Sizes { n: e.coordinates.len(), m: e.rows.len(), k: e.driven.len(), c: e.asked.len() }
    }
}

fn function_name(name: &str, exported: &Exported) -> String {
    format!("{name}_{}", if exported.has_controls() { "control" } else { "acceleration" })
}

fn constant_name(name: &str, what: &str, dialect: &Dialect) -> String {
    let name = format!("{name}_{what}");
    if dialect.shouts { name.to_uppercase() } else { name }
}
