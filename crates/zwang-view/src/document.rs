//! The derivation as text in the model's own syntax, and as LaTeX.

use std::collections::HashSet;

use zwang::equations::{Equations, SparseRow};
use zwang::{ClosedForm, Part, closed_form};
use zwang_expr::Expr;

use crate::article::pasted;
use crate::letters::letter_or;

/// The longest formula that is printed, in nodes.
const LONGEST: usize = 4000;

/// The multipliers of redundant rows whose shares a law contains.
const SHARED: &str = "; together they share one force, each as in the shortest lambda, which C contains";

/// L, p, M, Q, A, b, the quantities derived from them, and the explicit equations, one line `x'' = …` per coordinate,
/// in model syntax.
///
/// Every line that is not a comment is `name = formula` or `let name = formula`, and formulas use names defined above.
pub fn equations_text(equations: &mut Equations) -> String {
    let times = equations.model.only_at_times();
    let equations = &mut equations.printed();
    let closed = closed_form(equations);
    let mut text = Text::new(equations, closed.as_ref().ok());
    let title = if equations.model.title.is_empty() { "Equations of motion" } else { &equations.model.title };
    text.out = format!("# {title}\n");
    if !times.is_empty() {
        text.out.push_str(&format!(
            "# not in these formulas, because it depends on what touches, sticks or slides: {}\n",
            times.join(", ")
        ));
    }
    let events = equations.model.events();
    if !events.is_empty() {
        text.out.push_str(
            "# where the condition of an event begins to hold, a value changes, and the formulas go on with it:\n",
        );
        text.out.extend(events.iter().map(|event| format!("#   {event}\n")));
    }
    text.shared(&equations.parts);
    text.heading("Lagrangian");
    text.line(letter_or(&equations.model, "L", "Lagrangian"), equations.lagrangian);
    text.given();
    match &closed {
        Ok(closed) => text.explicit(closed),
        Err(why) => text.implicit(why),
    }
    text.out
}

/// The text under construction.
struct Text<'a> {
    equations: &'a Equations,
    names: Vec<&'a str>,
    /// The named parts that formulas refer to.
    parts: &'a [Part],
    printed: HashSet<Expr>,
    out: String,
}

impl<'a> Text<'a> {
    fn new(equations: &'a Equations, closed: Option<&'a ClosedForm>) -> Text<'a> {
        let names = equations.model.coordinates.iter().map(|c| c.name.as_str()).collect();
        let parts = closed.map_or(&equations.parts[..], |closed| &closed.parts[..]);
        Text { equations, names, parts, printed: HashSet::new(), out: String::new() }
    }

    fn heading(&mut self, heading: &str) {
        self.out.push_str(&format!("\n# {heading}\n"));
    }

    fn formula(&self, e: Expr) -> String {
        let graph = &self.equations.model.graph;
        graph.text_limited(e, LONGEST).unwrap_or_else(|| "… (too long to print)".into())
    }

    fn line(&mut self, name: &str, e: Expr) {
        self.out.push_str(&format!("{name} = {}\n", self.formula(e)));
    }

    /// Writes an entry of a given quantity, by the name of its part if it has one.
    fn entry(&mut self, name: &str, e: Expr) {
        let parts = self.parts;
        let letter = name.split('[').next().unwrap_or_default();
        let is_it =
            |part: &&Part| part.value == e && part.name.strip_prefix(letter).is_some_and(|rest| rest.starts_with('_'));
        match parts.iter().filter(|part| !self.printed.contains(&part.symbol)).find(is_it) {
            Some(part) => self.part(part),
            None => self.line(name, e),
        }
    }

    fn part(&mut self, part: &Part) {
        if self.printed.insert(part.symbol) {
            self.line(&format!("let {}", part.name), part.value);
        }
    }

    /// Writes parts under headings that state their meanings.
    fn shared(&mut self, parts: &[Part]) {
        let mut last = "";
        for part in parts.iter().filter(|part| !self.printed.contains(&part.symbol)).collect::<Vec<_>>() {
            if part.meaning != last {
                last = &part.meaning;
                self.heading(last);
            }
            self.part(part);
        }
    }

    fn vector(&mut self, letter: &str, heading: &str, entries: &[Expr]) {
        if !entries.is_empty() {
            self.heading(heading);
            for (k, e) in entries.iter().enumerate() {
                self.line(&format!("{letter}[{}]", self.names[k]), *e);
            }
        }
    }

    /// p, M, Q, A, b, C and the control rows.
    fn given(&mut self) {
        let equations = self.equations;
        if !self.momenta_are_plain() {
            self.vector("p", "momenta p = dL/dq'", &equations.momentum);
        }
        self.heading("mass matrix M (entries that are not zero)");
        self.matrix("M", &equations.mass_matrix, &self.names.clone(), true);
        self.heading("given force Q: all that drives the unconstrained system, velocity terms included");
        for (k, q) in equations.given_force.iter().enumerate() {
            self.entry(&format!("Q[{}]", self.names[k]), *q);
        }
        if !equations.rows.is_empty() {
            self.heading("constraints A q'' = b");
            let rows: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
            self.matrix("A", &rows, &equations.rows.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), false);
            for row in &equations.rows {
                self.entry(&format!("b[{}]", row.name), row.rhs);
            }
        }
        self.vector("C", "nonideal force C, with the multipliers of the ideal part", &equations.nonideal_force);
        if !equations.asked.is_empty() {
            self.heading("asked by controls: A_c q'' = b_c, errors that settle included");
            let rows: Vec<SparseRow> = equations.asked.iter().map(|r| r.row.coefficients.clone()).collect();
            self.matrix("A_c", &rows, &equations.asked.iter().map(|r| r.row.name.as_str()).collect::<Vec<_>>(), false);
            for asked in &equations.asked {
                self.entry(&format!("b_c[{}]", asked.row.name), asked.row.rhs);
            }
        }
    }

    /// `true` if every momentum is a constant mass times its own velocity, which M shows as well.
    fn momenta_are_plain(&self) -> bool {
        let (equations, graph) = (self.equations, &self.equations.model.graph);
        let state: Vec<Expr> = equations.model.coordinates.iter().flat_map(|c| [c.q, c.qdot]).collect();
        let is_constant = |e: Expr| !graph.symbols(e).iter().any(|s| state.contains(s) || *s == equations.model.time);
        let is_plain = |(k, row): (usize, &SparseRow)| {
            let own = equations.model.coordinates[k].qdot;
            let only_own = graph.symbols(equations.momentum[k]).iter().all(|s| !state.contains(s) || *s == own);
            only_own && row.iter().all(|(j, e)| *j == k && is_constant(*e))
        };
        equations.mass_matrix.iter().enumerate().all(is_plain)
    }

    fn matrix(&mut self, symbol: &str, rows: &[SparseRow], row_names: &[&str], symmetric: bool) {
        if rows.iter().flatten().all(|(_, entry)| *entry == Expr::ZERO) {
            self.out.push_str("# none\n");
        }
        for (i, row) in rows.iter().enumerate() {
            for (j, entry) in row.iter().filter(|(j, _)| !symmetric || *j >= i) {
                // some entries become zero only by sin² + cos² = 1
                if *entry != Expr::ZERO {
                    self.entry(&format!("{symbol}[{}, {}]", row_names[i], self.names[*j]), *entry);
                }
            }
        }
    }

    /// a, e, λ, the forces, G, P and N, and q̈ = a + M⁻¹Aᵀλ.
    fn explicit(&mut self, closed: &ClosedForm) {
        let equations = self.equations;
        if closed.parts.iter().any(|part| !equations.parts.contains(part)) {
            self.out.push_str(
                "\n# in full the formulas below would be long; they are given by parts, each with its meaning\n",
            );
            self.shared(&closed.parts);
        }
        let has_forces = !(closed.multipliers.is_empty() && closed.control.is_empty());
        if has_forces && !closed.free.is_empty() {
            let heading = match (closed.multipliers.is_empty(), closed.gap.is_empty()) {
                (true, _) => "acceleration a = M^-1 Q without the control",
                (false, true) => "acceleration a = M^-1 Q without the constraints",
                (false, false) => {
                    "acceleration a = M^-1 Q without the constraints, and what these ask beyond it: e = b - A a"
                }
            };
            self.vector("a", heading, &closed.free);
            for (k, e) in &closed.gap {
                self.line(&format!("e[{}]", equations.rows[*k].name), *e);
            }
        }
        if !closed.multipliers.is_empty() {
            let here =
                if closed.needs_values { " for the values of the parameters, to which all this is bound," } else { "" };
            let is_whole = closed.multipliers.len() == equations.rows.len();
            let left_out = match (closed.n_redundant, is_whole) {
                (0, _) => String::new(),
                (1, false) => format!(" (one row repeats others{here} and is left out)"),
                (n, false) => format!(" ({n} rows repeat others{here} and are left out)"),
                (1, true) => format!(" (one row repeats others{here}{SHARED})"),
                (n, true) => format!(" ({n} rows repeat others{here}{SHARED})"),
            };
            self.heading(&format!("multipliers, with which the constraint force is A^T lambda{left_out}"));
            for (k, lambda) in &closed.multipliers {
                self.line(&format!("lambda({})", equations.rows[*k].name), *lambda);
            }
        }
        match closed.nonideal_force.is_empty() {
            true => self.vector("Qc", "constraint force Qc = A^T lambda", &closed.constraint_force),
            false => {
                self.vector(
                    "Qi",
                    "constraint force Qc = Qi + Qn, its ideal part Qi = A^T lambda",
                    &closed.constraint_force,
                );
                self.vector("Qn", "its nonideal part Qn", &closed.nonideal_force);
            }
        }
        if !closed.control.is_empty() {
            let limits = self.equations.model.controls.iter().any(|c| !c.limit.is_empty());
            self.heading(if limits { "control force, while it is within its limits" } else { "control force" });
            for (k, e) in closed.control.iter().enumerate() {
                self.line(&format!("control({})", self.names[k]), *e);
            }
        }
        if let Some(gaussian) = closed.gaussian {
            // forces other than those of ideal constraints make it larger
            let least = match equations.nonideal_force.is_empty() && equations.asked.is_empty() {
                true => ", the least that the constraints leave possible",
                false => "",
            };
            self.heading(&format!("Gaussian G = (q'' - a)^T M (q'' - a){least}"));
            self.line(letter_or(&equations.model, "G", "Gaussian"), gaussian);
        }
        self.projections(closed);
        self.missing(closed);
        self.heading("explicit equations of motion");
        for (k, e) in closed.accelerations.iter().enumerate() {
            self.line(&format!("{}''", self.names[k]), *e);
        }
    }

    /// The quantities that are not printed, with the reasons.
    fn missing(&mut self, closed: &ClosedForm) {
        for missing in closed.missing().chunk_by(|one, next| one.1 == next.1) {
            let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
            self.out.push_str(&format!("\n# not here: {} ({})\n", names.join(", "), missing[0].1));
        }
    }

    fn projections(&mut self, closed: &ClosedForm) {
        let Some(projections) = &closed.projections else { return };
        let of = if projections.scaled { "scaled accelerations M^(1/2) q''" } else { "accelerations" };
        let kinds = [
            ("P", "what the constraints decide", &projections.onto_rows),
            ("N", "what they leave free", &projections.along_rows),
        ];
        // the projections of scaled accelerations are symmetric
        let (of_all, first) = match projections.scaled {
            true => ("upper half, ", 1),
            false => ("", 0),
        };
        for (letter, onto, entries) in kinds {
            self.heading(&format!("projection {letter} of {of} onto {onto} ({of_all}entries that are not zero)"));
            for (i, row) in entries.iter().enumerate() {
                for (j, e) in row.iter().enumerate().skip(first * i).filter(|(_, e)| **e != Expr::ZERO) {
                    self.line(&format!("{letter}[{}, {}]", self.names[i], self.names[j]), *e);
                }
            }
            if entries.iter().flatten().all(|e| *e == Expr::ZERO) {
                self.out.push_str("# none\n");
            }
        }
    }

    /// M q̈ = Q + Aᵀλ, for a system without a closed form.
    fn implicit(&mut self, why: &str) {
        let equations = self.equations;
        let model = &equations.model;
        let control = match equations.asked.is_empty() {
            true => ["", ""],
            false => [" + u", " with the least u = control(...) on the driven coordinates"],
        };
        self.out.push_str(&format!(
            "\n# equations of motion M q'' = Q{} + A^T lambda{}\n# (no closed form: {why})\n",
            control[0], control[1]
        ));
        let driven = if equations.asked.is_empty() { Vec::new() } else { model.driven() };
        for (i, row) in equations.mass_matrix.iter().enumerate().take(200) {
            let times = |factor: Expr, name: String| match self.formula(factor) {
                one if one == "1" => name,
                letters if letters.chars().all(char::is_alphanumeric) => format!("{letters}*{name}"),
                sum => format!("({sum})*{name}"),
            };
            let term = |(j, m): &(usize, Expr)| times(*m, format!("{}''", model.coordinates[*j].name));
            let left: Vec<String> = row.iter().map(term).collect();
            let left = if left.is_empty() { "0".to_string() } else { left.join(" + ") };
            let push = |r: &zwang::equations::ConstraintRow| {
                let (_, a) = r.coefficients.iter().find(|(k, _)| *k == i)?;
                Some(format!(" + {}", times(*a, format!("lambda({})", r.name))))
            };
            let force: String = equations.rows.iter().filter_map(push).collect();
            let name = &model.coordinates[i].name;
            let control = if driven.contains(&i) { format!(" + control({name})") } else { String::new() };
            let nonideal =
                equations.nonideal_force.get(i).map(|c| format!(" + ({})", self.formula(*c))).unwrap_or_default();
            let given = self.formula(equations.given_force[i]);
            self.out.push_str(&format!("{left} = {given}{control}{nonideal}{force}\n"));
        }
    }
}

/// The derivation as LaTeX, for a document with amsmath.
pub fn equations_latex(equations: &mut Equations) -> String {
    let times = equations.model.only_at_times();
    let left_out = match times.is_empty() {
        true => String::new(),
        false => format!("% left out, because it acts only at times: {}\n", times.join(", ")),
    };
    left_out + &pasted(&latex_lines(equations))
}

/// The lines of the LaTeX; parts come before the formulas that use them.
fn latex_lines(equations: &mut Equations) -> Vec<String> {
    let equations = &mut equations.printed();
    let closed = closed_form(equations);
    let model = &equations.model;
    let tex = |e: Expr| model.graph.latex(e);
    let n = model.coordinates.len();
    let part = |part: &Part| format!("{} &= {}", tex(part.symbol), tex(part.value));
    let mut lines: Vec<String> = equations.parts.iter().map(part).collect();
    lines.push(format!("\\L &= {}", tex(equations.lagrangian)));
    if n <= 8 {
        lines.push(format!(
            "\\M &= {}",
            bmatrix(n, n, |i, j| entry(&equations.mass_matrix[i], j).map_or("0".into(), tex))
        ));
        lines.push(format!("\\Q &= {}", bmatrix(n, 1, |i, _| tex(equations.given_force[i]))));
        let m = equations.rows.len();
        if m > 0 && m <= 12 {
            let coefficient = |i: usize, j: usize| entry(&equations.rows[i].coefficients, j).map_or("0".into(), tex);
            lines.push(format!("\\A &= {}", bmatrix(m, n, coefficient)));
            lines.push(format!("\\b &= {}", bmatrix(m, 1, |i, _| tex(equations.rows[i].rhs))));
        }
        let m = equations.asked.len();
        if m > 0 && m <= 12 {
            let coefficient =
                |i: usize, j: usize| entry(&equations.asked[i].row.coefficients, j).map_or("0".into(), tex);
            lines.push(format!("\\A_c &= {}", bmatrix(m, n, coefficient)));
            lines.push(format!("\\b_c &= {}", bmatrix(m, 1, |i, _| tex(equations.asked[i].row.rhs))));
        }
        if !equations.nonideal_force.is_empty() {
            lines.push(format!("\\C &= {}", bmatrix(n, 1, |i, _| tex(equations.nonideal_force[i]))));
        }
    }
    let Ok(closed) = closed else {
        let (u, asked) = match equations.asked.is_empty() {
            true => ("", ""),
            false => (" + \\u", ", \\qquad \\A_c \\ddot\\q = \\b_c"),
        };
        lines
            .push(format!("\\M \\ddot\\q &= \\Q{u} + \\A^{{\\mathsf T}} \\lambda, \\qquad \\A \\ddot\\q = \\b{asked}"));
        return lines;
    };
    lines.extend(closed.parts.iter().filter(|part| !equations.parts.contains(part)).map(part));
    lines.extend(closed.multipliers.iter().map(|(k, l)| format!("{} &= {}", tex(equations.rows[*k].lambda), tex(*l))));
    let force = model.coordinates.iter().zip(&closed.control);
    lines.extend(force.map(|(c, e)| format!("u_{{{}}} &= {}", tex(c.q), tex(*e))));
    let motion = model.coordinates.iter().zip(&closed.accelerations);
    lines.extend(motion.map(|(c, e)| format!("{} &= {}", tex(c.qddot), tex(*e))));
    lines
}

fn entry(row: &SparseRow, column: usize) -> Option<Expr> {
    row.iter().find(|(k, _)| *k == column).map(|(_, e)| *e)
}

fn bmatrix(n_rows: usize, n_cols: usize, entry: impl Fn(usize, usize) -> String) -> String {
    let row = |i: usize| (0..n_cols).map(|j| entry(i, j)).collect::<Vec<_>>().join(" & ");
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
}
