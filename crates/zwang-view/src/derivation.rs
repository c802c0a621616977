//! The derivation step by step: from the model as stated to the explicit equation of motion, and to the same in other words.

use zwang::equations::{ConstraintRow, Equations, SparseRow};
use zwang::model::Level;
use zwang::quantity::with_unit;
use zwang::{Check, ClosedForm, Equality, Equivalent, Part, closed_form, equivalent};
use zwang_expr::Expr;

use crate::article::Block;
use crate::letters::{with_formulas, with_letters};
use crate::table::{kind_words, verdicts};

/// Largest system whose matrices and equations are written out.
const MOST_COORDINATES: usize = 8;

/// Constraint rows that are written out; a chain of many links repeats itself.
const MOST_ROWS: usize = 12;

/// Coordinates and parameters listed.
const MOST_LISTED: usize = 40;

/// What the derivation is told from, beside the equations.
#[derive(Default)]
pub struct Told<'a> {
    /// The model as the user wrote it.
    pub model_text: &'a str,
    /// What was found about it at a state; none if there was none to look at.
    pub check: Option<&'a Check>,
    /// Whether that state is the start of the model.
    pub at_start: bool,
    /// Warnings and notes about it, each a sentence.
    pub notes: &'a [String],
    /// The scaled accelerations at the start, as SVG.
    pub geometry: Option<String>,
}

/// The blocks of the derivation.
pub fn derivation(equations: &mut Equations, told: &Told) -> Vec<Block> {
    // contacts and sticking friction hold only at times
    let mut always = equations.always();
    let is_one_sided = !(equations.model.contacts.is_empty() && equations.model.frictions.is_empty());
    let equations = &mut always.as_mut().unwrap_or(equations).printed();
    let stated = stated_rows(equations);
    let closed = closed_form(equations);
    let free = closed.as_ref().map_or(&[][..], |closed| &closed.free);
    let is_small = equations.model.n_coordinates() <= MOST_COORDINATES && equations.rows.len() <= MOST_ROWS;
    let same = if is_small { equivalent(equations, free) } else { None };
    let mut writer = Writer { equations, blocks: Vec::new() };
    writer.model(told);
    writer.energy();
    writer.masses();
    writer.constraints(told, &stated, is_one_sided);
    writer.controls();
    writer.events();
    match &closed {
        Some(closed) => {
            writer.explicit(closed);
            writer.forces(closed);
            writer.geometry(closed, told.geometry.as_ref());
        }
        None => writer.implicit(told.geometry.as_ref()),
    }
    writer.other_words(same.as_ref());
    writer.blocks.into_iter().map(set).collect()
}

/// A block with the letters of the theory in their own shapes.
fn set(block: Block) -> Block {
    let all = |lines: Vec<String>| lines.iter().map(|line| with_letters(line)).collect();
    match block {
        Block::Words(text) => Block::Words(with_letters(&text)),
        Block::Formulas(lines) => Block::Formulas(all(lines)),
        Block::Beside(groups) => Block::Beside(groups.into_iter().map(|(title, lines)| (title, all(lines))).collect()),
        block => block,
    }
}

/// A row as stated, and its first derivative.
#[derive(Copy, Clone)]
struct Stated {
    left: Expr,
    right: Expr,
    rate: Expr,
}

/// The first rows as stated, in the shortest form found.
fn stated_rows(equations: &mut Equations) -> Vec<Stated> {
    let mut exprs = Vec::new();
    for row in equations.rows.iter().take(MOST_ROWS) {
        let of_model = equations.model.constraints[row.constraint].rows.iter().find(|r| r.lambda == row.lambda);
        let right = of_model.map_or(Expr::ZERO, |r| r.right);
        let left = equations.model.graph.add(row.residual, right);
        exprs.extend([left, right, row.rate.unwrap_or(Expr::ZERO)]);
    }
    let short = equations.shortest(&exprs);
    short.chunks(3).map(|row| Stated { left: row[0], right: row[1], rate: row[2] }).collect()
}

struct Writer<'e> {
    equations: &'e Equations,
    blocks: Vec<Block>,
}

impl Writer<'_> {
    fn section(&mut self, title: &str) {
        self.blocks.push(Block::Section(title.into()));
    }

    fn words(&mut self, words: &str) {
        self.blocks.push(Block::Words(words.into()));
    }

    /// Words and the formulas they announce; neither where there are none.
    fn announced(&mut self, words: &str, lines: Vec<String>) {
        if lines.iter().any(|line| !is_tautology(line)) {
            self.words(words);
            self.formulas(lines);
        }
    }

    /// Formulas; what was named before is not said once more.
    fn formulas(&mut self, mut lines: Vec<String>) {
        lines.retain(|line| !is_tautology(line));
        if !lines.is_empty() {
            self.blocks.push(Block::Formulas(lines));
        }
    }

    fn tex(&self, e: Expr) -> String {
        self.equations.model.graph.latex(e)
    }

    /// How many coordinates, if they are few enough for matrices.
    fn n(&self) -> Option<usize> {
        Some(self.equations.model.n_coordinates()).filter(|n| *n <= MOST_COORDINATES)
    }

    /// The text, and what its names mean.
    fn model(&mut self, told: &Told) {
        let model = &self.equations.model;
        let mut coordinates = Vec::new();
        for c in model.coordinates.iter().take(MOST_LISTED) {
            let unit = c.dimension.map_or(String::new(), |d| d.unit());
            coordinates.push(vec![format!("${}$", self.tex(c.q)), named(&c.name), unit, described(&c.description)]);
        }
        let mut parameters = Vec::new();
        for (p, value) in model.parameters.iter().zip(&model.parameter_values).take(MOST_LISTED) {
            let value = with_unit(*value, p.unit.as_ref().map(|u| u.dimension));
            parameters.push(vec![
                format!("${}$", self.tex(p.symbol)),
                named(&p.name),
                value,
                described(&p.description),
            ]);
        }
        self.section("The model");
        if !told.model_text.trim().is_empty() {
            self.blocks.push(Block::Code(told.model_text.to_string()));
        }
        self.table(["coordinate", "in the model", "unit", ""], coordinates, model.coordinates.len());
        self.table(["parameter", "in the model", "value", ""], parameters, model.parameters.len());
    }

    /// A table without columns that say nothing.
    fn table<const N: usize>(&mut self, head: [&str; N], mut rows: Vec<Vec<String>>, n_all: usize) {
        if rows.is_empty() {
            return;
        }
        let kept: Vec<usize> = (0..N).filter(|&k| rows.iter().any(|row| !row[k].is_empty())).collect();
        for row in &mut rows {
            *row = kept.iter().map(|&k| std::mem::take(&mut row[k])).collect();
        }
        if rows.len() < n_all {
            rows.push(vec!["…".into(), format!("{n_all} in all")]);
        }
        self.blocks.push(Block::Table(kept.iter().map(|&k| head[k].to_string()).collect(), rows));
    }

    /// L, T, V and p.
    fn energy(&mut self) {
        let e = self.equations;
        self.section("Lagrangian and momenta");
        self.words("The kinetic energy $\\T$, the potential energy $\\V$, and the Lagrangian $\\L = \\T - \\V$:");
        let (kinetic, potential) = (self.tex(e.kinetic), self.tex(e.potential));
        self.formulas(vec![format!("\\T &= {kinetic}"), format!("\\V &= {potential}")]);
        if !e.parts.is_empty() {
            self.words("with");
            self.parts(&e.parts.clone());
        }
        if self.n().is_some() {
            self.words("The momentum of a coordinate is $p_i = \\partial \\L/\\partial \\dot q_i$:");
            let momentum = e.model.coordinates.iter().zip(&e.momentum);
            let lines = momentum.map(|(c, p)| format!("p_{{{}}} &= {}", self.tex(c.q), self.tex(*p))).collect();
            self.formulas(lines);
        }
    }

    /// F, M and Q.
    fn masses(&mut self) {
        let e = self.equations;
        self.section("Mass matrix and given force");
        self.words(
            "Lagrange's equations $\\frac{\\mathrm d}{\\mathrm d t}\\frac{\\partial \\L}{\\partial \\dot\\q} - \
             \\frac{\\partial \\L}{\\partial \\q} = \\F$, with the applied force $\\F$ and the derivative carried out, are those of the \
             system without its constraints, $\\M \\ddot\\q = \\Q$:",
        );
        self.formulas(vec![
            "\\M &= \\frac{\\partial^2 \\L}{\\partial \\dot\\q\\,\\partial \\dot\\q}, \\qquad \\Q = \\F + \\frac{\\partial \\L}{\\partial \\q} - \
             \\frac{\\partial^2 \\L}{\\partial \\dot\\q\\,\\partial \\q}\\,\\dot\\q - \\frac{\\partial^2 \\L}{\\partial \\dot\\q\\,\\partial t}"
                .into(),
        ]);
        let Some(n) = self.n() else {
            let n = e.model.n_coordinates();
            let entries = e.mass_matrix.iter().map(Vec::len).sum::<usize>();
            self.words(&format!(
                "Here $\\M$ is ${n} \\times {n}$ with {entries} entries that are not zero; the command `zwang equations` prints \
                 every one."
            ));
            return;
        };
        let mut lines = Vec::new();
        if e.applied_force.iter().any(|f| *f != Expr::ZERO) && e.applied_force != e.given_force {
            lines.push(format!("\\F &= {}", self.column(&e.applied_force)));
        }
        lines.push(format!("\\M &= {}", self.matrix(&e.mass_matrix, n)));
        lines.push(format!("\\Q &= {}", self.column(&e.given_force)));
        self.formulas(lines);
        if !e.nonideal_force.is_empty() {
            self.words("Constraints that are not ideal exert beside their ideal force, with the multipliers of the latter, the prescribed");
            self.formulas(vec![format!("\\C &= {}", self.column(&e.nonideal_force))]);
        }
    }

    /// Each constraint with its derivatives, the rows together, and what they say.
    fn constraints(&mut self, told: &Told, stated: &[Stated], is_one_sided: bool) {
        let e = self.equations;
        if is_one_sided {
            self.at_times();
        }
        if e.rows.is_empty() {
            return;
        }
        self.section("Constraints");
        self.words(
            "Every constraint is differentiated with respect to time until accelerations appear, in which it is then linear. A \
             motion that starts on the constraints and satisfies these rows stays on them.",
        );
        for (row, stated) in e.rows.iter().zip(stated) {
            self.constraint(told, row, *stated);
        }
        if e.rows.len() > MOST_ROWS {
            let more = e.rows.len() - MOST_ROWS;
            self.words(&format!(
                "… and {more} more rows of the same kinds, which the command `zwang equations` prints."
            ));
        }
        self.rows_together("\\A \\ddot\\q = \\b", "\\A", "\\b", e.rows.iter());
        if let Some(check) = told.check {
            let place = if told.at_start { "at the start" } else { "at a state on them" };
            self.blocks.push(Block::Part(format!("What they say {place}")));
            let mut lines = verdicts(check);
            lines.extend(told.notes.iter().cloned());
            self.blocks.push(Block::List(lines));
        }
    }

    /// Contacts and friction.
    fn at_times(&mut self) {
        let model = &self.equations.model;
        self.section("What holds only at times");
        self.words(
            "Contacts push only while they are closed, and friction either holds a place or acts against its velocity. The \
             equations below leave their forces out: a closed contact and a place that sticks add their rows to \
             $\\A \\ddot\\q = \\b$, and a place that slides adds its force to $\\Q$.",
        );
        let rows = model.contacts.iter().flat_map(|contact| &contact.rows).take(MOST_ROWS);
        let gap = |row: &zwang::model::Row| {
            let lambda = self.tex(row.lambda);
            format!(
                "{} &\\ge 0, \\qquad {lambda} \\ge 0, \\qquad {lambda} = 0 \\text{{ while open}}",
                self.tex(row.expr)
            )
        };
        let lines = rows.map(gap).collect();
        self.formulas(lines);
        self.laws_of_contact();
    }

    /// Restitution and friction, of each place that has some.
    fn laws_of_contact(&mut self) {
        let model = &self.equations.model;
        if !model.contacts.is_empty() {
            self.words("A contact that closes at a speed opens with its restitution times that speed.");
        }
        if !model.frictions.is_empty() {
            self.words(
                "Coulomb's law: a place sticks while the force along the surface is at most its friction at rest times the \
                 normal force, and slides otherwise, against its velocity with its sliding friction times the normal force.",
            );
        }
        let number = |e: Expr| format!("${}$", self.tex(e));
        let friction = |constraint: bool, of: usize| {
            let law = model.frictions.iter().find(|law| law.constraint == constraint && law.of == of);
            law.map_or([String::new(), String::new()], |law| [number(law.holding), number(law.sliding)])
        };
        let mut rows = Vec::new();
        for (k, contact) in model.contacts.iter().enumerate() {
            let [holding, sliding] = friction(false, k);
            rows.push(vec![named(&contact.name), number(model.restitutions[k]), holding, sliding]);
        }
        for law in model.frictions.iter().filter(|law| law.constraint) {
            let name = named(&model.constraints[law.of].name);
            rows.push(vec![name, String::new(), number(law.holding), number(law.sliding)]);
        }
        let n_all = rows.len();
        rows.truncate(MOST_LISTED);
        self.table(["place", "restitution", "friction at rest", "sliding friction"], rows, n_all);
    }

    fn events(&mut self) {
        let events = self.equations.model.events();
        if !events.is_empty() {
            self.section("Events");
            self.words(
                "Where the condition of an event begins to hold a value changes, and the equations go on with it:",
            );
            self.blocks.push(Block::List(events.iter().map(|event| format!("`{event}`")).collect()));
        }
    }

    fn constraint(&mut self, told: &Told, row: &ConstraintRow, stated: Stated) {
        let name = &self.equations.model.constraints[row.constraint].name;
        let kind = told.check.and_then(|check| check.constraints.iter().find(|c| c.name == *name)).map(kind_words);
        self.blocks.push(Block::Part(match kind {
            Some(kind) => format!("{}: {kind}", named(&row.name)),
            None => named(&row.name),
        }));
        let mut lines = Vec::new();
        if row.level != Level::Acceleration {
            lines.push(format!("{} &= {}", self.tex(stated.left), self.tex(stated.right)));
        }
        if row.level == Level::Position {
            lines.push(format!("{} &= 0", self.tex(stated.rate)));
        }
        lines.push(format!("{} &= {}", self.row_left(&row.coefficients), self.tex(row.rhs)));
        self.formulas(lines);
    }

    /// A q̈ of one row, written out with the symbols of the accelerations.
    fn row_left(&self, row: &SparseRow) -> String {
        let term = |(k, (j, e)): (usize, &(usize, Expr))| {
            let x = self.tex(self.equations.model.coordinates[*j].qddot);
            let factor = self.tex(*e);
            let sign = if k == 0 { "" } else { " + " };
            match factor.as_str() {
                "1" => format!("{sign}{x}"),
                "-1" => format!("{}{x}", if k == 0 { "-" } else { " - " }),
                // a sum needs its parentheses, a leading minus its own sign
                f if has_sum(f) => format!("{sign}\\left({f}\\right) {x}"),
                f => match f.strip_prefix('-') {
                    Some(f) => format!("{}{} \\, {x}", if k == 0 { "-" } else { " - " }, f.trim_start()),
                    None => format!("{sign}{f} \\, {x}"),
                },
            }
        };
        let terms: String = row.iter().enumerate().map(term).collect();
        if terms.is_empty() { "0".into() } else { terms }
    }

    /// The matrix of some rows and their right side.
    fn rows_together<'r>(
        &mut self,
        what: &str,
        matrix: &str,
        right: &str,
        rows: impl ExactSizeIterator<Item = &'r ConstraintRow>,
    ) {
        let Some(n) = self.n().filter(|_| rows.len() <= MOST_ROWS) else { return };
        let (coefficients, rhs): (Vec<SparseRow>, Vec<Expr>) = rows.map(|r| (r.coefficients.clone(), r.rhs)).unzip();
        self.words(&format!("All rows together are ${what}$ with"));
        let lines =
            vec![format!("{matrix} &= {}", self.matrix(&coefficients, n)), format!("{right} &= {}", self.column(&rhs))];
        self.formulas(lines);
    }

    fn controls(&mut self) {
        let e = self.equations;
        if e.asked.is_empty() {
            return;
        }
        self.section("What controls ask for");
        let weighs = e.model.controls.iter().any(|c| !c.weight.is_empty());
        let measure = if weighs { "by the weights of the model" } else { "in $\\u^{\\mathsf T} \\M^{-1} \\u$" };
        self.words(&format!(
            "A control asks the motion to satisfy rows of its own, $\\A_c \\ddot\\q = \\b_c$; what lets an error settle is part of \
             $\\b_c$. The force $\\u$ on the driven coordinates is the least one, {measure}, that does it."
        ));
        self.rows_together(
            "\\A_c \\ddot\\q = \\b_c",
            "\\A_c",
            "\\b_c",
            e.asked.iter().map(|asked| &asked.row).collect::<Vec<_>>().into_iter(),
        );
    }

    /// a, e, λ and q̈.
    fn explicit(&mut self, closed: &ClosedForm) {
        let e = self.equations;
        let model = &e.model;
        let has_rows = !e.rows.is_empty();
        let own: Vec<Part> = closed.parts.iter().filter(|part| !e.parts.contains(part)).cloned().collect();
        if !own.is_empty() {
            self.section("Step by step");
            self.words(
                "In full the formulas below would be too long to be read. They are given by the steps of the elimination that \
                 finds them; each quantity is given by those before it.",
            );
            self.parts(&own);
        }
        if has_rows && !closed.free.is_empty() {
            self.section("Without the constraints");
            let pairs = model.coordinates.iter().zip(&closed.free);
            let mut lines: Vec<String> =
                pairs.map(|(c, a)| format!("a_{{{}}} &= {}", self.tex(c.q), self.tex(*a))).collect();
            let gaps = closed.gap.iter();
            // named by their row, as the multipliers are
            let of_row = |k: usize| self.tex(e.rows[k].lambda).replacen("\\lambda", "e", 1);
            lines.extend(gaps.map(|(k, gap)| format!("{} &= {}", of_row(*k), self.tex(*gap))));
            let missed = if closed.gap.is_empty() { "" } else { ", which misses them by $\\e = \\b - \\A \\a$" };
            self.words(&format!(
                "Without its constraints the system would have the acceleration $\\a = \\M^{{-1}} \\Q${missed}:"
            ));
            self.formulas(lines);
        }
        self.section("Explicit equation of motion");
        self.words(&self.principle(closed));
        let left_out = e.rows.len() - closed.multipliers.len();
        if left_out > 0 {
            let rows = if left_out == 1 { "One row repeats".into() } else { format!("{left_out} rows repeat") };
            self.words(&format!(
                "{rows} others wherever the constraints hold; the acceleration does not change when they are left out, and \
                 $\\lambda$ is given for the rest."
            ));
        }
        let lines = closed.multipliers.iter();
        let lines = lines.map(|(k, l)| format!("{} &= {}", self.tex(e.rows[*k].lambda), self.tex(*l))).collect();
        self.formulas(lines);
        let motion = model.coordinates.iter().zip(&closed.accelerations);
        let motion = motion.map(|(c, x)| format!("{} &= {}", self.tex(c.qddot), self.tex(*x))).collect();
        self.formulas(motion);
    }

    /// What the motion is the solution of.
    fn principle(&self, closed: &ClosedForm) -> String {
        let e = self.equations;
        let (is_ideal, is_free) = (e.nonideal_force.is_empty(), e.asked.is_empty());
        if e.rows.is_empty() && is_free {
            let free = match e.model.only_at_times().is_empty() {
                true => "There are no constraints",
                false => "While nothing of that holds there are no constraints",
            };
            return format!("{free}: $\\ddot\\q = \\M^{{-1}} \\Q$.");
        }
        if !is_free || closed.free.is_empty() {
            return format!("The acceleration and the forces are the solution of {}.", self.implicit_equations());
        }
        let (nonideal, nearest, of) = match is_ideal {
            true => ("", ": of all accelerations that satisfy the constraints the one nearest to $\\a$", ""),
            false => (" + \\M^{-1/2} (\\I - \\B^{+} \\B) \\M^{-1/2} \\C", "", ", the multipliers of the ideal part"),
        };
        format!(
            "With $\\B = \\A \\M^{{-1/2}}$ and its generalized inverse $\\B^{{+}}$ the acceleration is \
             $\\ddot\\q = \\a + \\M^{{-1/2}} \\B^{{+}} (\\b - \\A \\a){nonideal}${nearest}. On independent rows \
             $\\M^{{-1/2}} \\B^{{+}} = \\M^{{-1}} \\A^{{\\mathsf T}} \\S^{{-1}}$ with $\\S = \\A \\M^{{-1}} \\A^{{\\mathsf T}}$, and \
             $\\lambda = \\S^{{-1}} \\e${of}."
        )
    }

    /// M q̈ = Q + …, with the rows that go with it, each as a formula inside words.
    fn implicit_equations(&self) -> String {
        let e = self.equations;
        let mut right = String::from("\\Q");
        let mut rows = Vec::new();
        if !e.nonideal_force.is_empty() {
            right.push_str(" + \\C");
        }
        if !e.rows.is_empty() {
            right.push_str(" + \\A^{\\mathsf T} \\lambda");
            rows.push("$\\A \\ddot\\q = \\b$");
        }
        if !e.asked.is_empty() {
            right.push_str(" + \\u");
            rows.push("$\\A_c \\ddot\\q = \\b_c$");
        }
        let limits = e.model.controls.iter().any(|c| !c.limit.is_empty());
        let limits = if limits { " while $\\u$ is within its limits" } else { "" };
        let rows: String = rows.iter().map(|row| format!(" and {row}")).collect();
        format!("$\\M \\ddot\\q = {right}${rows}{limits}")
    }

    /// The parts by what they are.
    fn parts(&mut self, parts: &[Part]) {
        for group in parts.chunk_by(|one, next| one.meaning == next.meaning) {
            let lines = group.iter().map(|p| format!("{} &= {}", self.tex(p.symbol), self.tex(p.value))).collect();
            self.words(&format!("{}:", capital(&with_formulas(&group[0].meaning))));
            self.formulas(lines);
        }
    }

    /// Qc, Qₙ, u and G.
    fn forces(&mut self, closed: &ClosedForm) {
        let e = self.equations;
        if e.rows.is_empty() && closed.control.is_empty() {
            return;
        }
        self.section("Forces");
        let each = |symbol: &str, of: &[Expr]| -> Vec<String> {
            let pairs = e.model.coordinates.iter().zip(of);
            pairs.map(|(c, f)| format!("{symbol}_{{{}}} &= {}", self.tex(c.q), self.tex(*f))).collect()
        };
        let (ideal, nonideal) = (each("Q^{c}", &closed.constraint_force), each("Q^{n}", &closed.nonideal_force));
        let control = each("u", &closed.control);
        self.announced(
            "The constraints act with the force $\\Q^{c} = \\A^{\\mathsf T} \\lambda$, which does no work on virtual displacements:",
            ideal,
        );
        self.announced(
            "Of the prescribed $\\C$ only the part acts that the constraints leave free, \
             $\\Q^{n} = \\M^{1/2} (\\I - \\B^{+} \\B) \\M^{-1/2} \\C$:",
            nonideal,
        );
        if !control.is_empty() {
            let limits = e.model.controls.iter().any(|c| !c.limit.is_empty());
            let while_free = if limits { ", while it is within its limits" } else { "" };
            self.words(&format!("The controls act with the force{while_free}"));
            self.formulas(control);
        }
        if let Some(gaussian) = closed.gaussian {
            // forces beside those of ideal constraints make it larger
            let (words, product) = match e.nonideal_force.is_empty() && e.asked.is_empty() {
                true => (
                    "The Gaussian at the actual acceleration, which no other that satisfies the constraints can make smaller:",
                    " = \\e^{\\mathsf T} \\lambda",
                ),
                false => ("The Gaussian at the actual acceleration:", ""),
            };
            let line = format!(
                "\\G &= (\\ddot\\q - \\a)^{{\\mathsf T}} \\M (\\ddot\\q - \\a){product} = {}",
                self.tex(gaussian)
            );
            self.announced(words, vec![line]);
        }
    }

    /// P, N and the drawing.
    fn geometry(&mut self, closed: &ClosedForm, drawing: Option<&String>) {
        if closed.projections.is_none() && drawing.is_none() {
            return;
        }
        self.section("Geometry");
        if let Some(projections) = &closed.projections {
            let (words, names) = match projections.scaled {
                true => (
                    "In scaled accelerations $\\M^{1/2} \\ddot\\q$ the constraints fix one part and leave another to the given \
                     force: $\\P = \\B^{+} \\B$ projects onto the first, $\\N = \\I - \\B^{+} \\B$ onto the second, at a right angle to it.",
                    ["\\P", "\\N"],
                ),
                false => (
                    "The constraints fix one part of the acceleration and leave another to the given force. \
                     $\\M^{-1/2} \\P \\M^{1/2} = \\M^{-1} \\A^{\\mathsf T} \\S^{-1} \\A$ projects onto the first, with $\\P = \\B^{+} \\B$, and \
                     $\\M^{-1/2} \\N \\M^{1/2}$ onto the second, at a right angle in the metric of $\\M$.",
                    ["\\M^{-1/2} \\P \\M^{1/2}", "\\M^{-1/2} \\N \\M^{1/2}"],
                ),
            };
            self.words(words);
            let matrices = [&projections.onto_rows, &projections.along_rows];
            let lines = names.iter().zip(matrices).map(|(name, m)| format!("{name} &= {}", self.dense(m))).collect();
            self.formulas(lines);
        }
        if let Some(svg) = drawing {
            let caption = "Scaled accelerations at the start, and the constraints' part of them.";
            self.blocks.push(Block::Picture(svg.clone(), caption.into()));
        }
    }

    /// M q̈ = Q + Aᵀλ where there is no closed form.
    fn implicit(&mut self, drawing: Option<&String>) {
        self.section("Equations of motion");
        let equations = self.implicit_equations();
        self.words(&format!(
            "No closed form is written for this system: it is large, its mass matrix is singular, or its controls drive only \
             some coordinates, or within limits. The acceleration is found at every state from {equations}."
        ));
        if let Some(svg) = drawing {
            let caption = "Scaled accelerations at the start, and the constraints' part of them.";
            self.blocks.push(Block::Picture(svg.clone(), caption.into()));
        }
    }

    /// Lagrange's first kind, Gauss, Gibbs and Appell, side by side.
    fn other_words(&mut self, same: Option<&Equivalent>) {
        let Some(same) = same.filter(|_| !self.equations.rows.is_empty()) else { return };
        let equality = |(left, right): &Equality| format!("{} &= {}", self.tex(*left), self.tex(*right));
        let rows: Vec<String> = same.rows.iter().map(equality).collect();
        let mut first: Vec<String> = same.first_kind.iter().map(equality).collect();
        first.extend(rows.clone());
        let mut groups = vec![("Lagrange's equations of the first kind".to_string(), first)];
        if let Some(constraint) = same.constraint {
            let mut gauss = vec![format!("\\min_{{\\ddot\\q}}\\; \\G &= {}", self.tex(constraint))];
            gauss.extend(rows.iter().enumerate().map(|(k, row)| {
                let (left, right) = row.split_once(" &= ").unwrap_or((row, "0"));
                format!("{} &{left} = {right}", if k == 0 { "\\text{subject to}\\;" } else { "" })
            }));
            groups.push(("Gauss's principle of least constraint".into(), gauss));
        }
        if let Some(appell) = &same.appell {
            let coordinates = &self.equations.model.coordinates;
            let mut lines: Vec<String> = appell
                .dependent
                .iter()
                .map(|(k, x)| format!("{} &= {}", self.tex(coordinates[*k].qddot), self.tex(*x)))
                .collect();
            lines.extend(appell.equations.iter().map(equality));
            groups.push(("Gibbs and Appell's equations".into(), lines));
        }
        self.section("The same motion in other words");
        self.words(
            "These give the same acceleration. Lagrange's equations of the first kind keep the multipliers as unknowns; Gauss's \
             principle asks for the least departure from the motion without constraints; Gibbs and Appell's equations are \
             $\\partial \\mathcal S/\\partial \\ddot q_i = \\Pi_i$ with $\\mathcal S = \\tfrac12\\, \\ddot\\q^{\\mathsf T} \\M \\ddot\\q$, once \
             the constraints are solved for some of the accelerations.",
        );
        self.blocks.push(Block::Beside(groups));
    }

    fn matrix(&self, rows: &[SparseRow], n: usize) -> String {
        let entry =
            |row: &SparseRow, j: usize| row.iter().find(|(k, _)| *k == j).map_or("0".into(), |(_, e)| self.tex(*e));
        bmatrix(rows.iter().map(|row| (0..n).map(|j| entry(row, j)).collect()))
    }

    fn dense(&self, rows: &[Vec<Expr>]) -> String {
        bmatrix(rows.iter().map(|row| row.iter().map(|e| self.tex(*e)).collect()))
    }

    fn column(&self, entries: &[Expr]) -> String {
        bmatrix(entries.iter().map(|e| vec![self.tex(*e)]))
    }
}

/// Whether both sides are the same: a quantity that was named before.
fn is_tautology(line: &str) -> bool {
    line.split_once(" &= ").is_some_and(|(left, right)| left == right)
}

fn bmatrix(rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<String> = rows.map(|row| row.join(" & ")).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
}

/// Whether a formula is a sum outside all braces and parentheses.
fn has_sum(latex: &str) -> bool {
    let mut depth = 0_i32;
    latex.char_indices().any(|(at, c)| {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        at > 0 && depth == 0 && matches!(c, '+' | '-')
    })
}

fn named(name: &str) -> String {
    format!("`{name}`")
}

/// What the user says, in which no mark means anything.
fn described(description: &Option<String>) -> String {
    let text = description.as_deref().unwrap_or_default();
    text.replace('\\', "\\\\").replace('$', "\\$").replace('`', "\\`")
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
