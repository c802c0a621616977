//! Permanent constraints, contacts, friction, controls and events.

use zwang::equations::{ConstraintRow, Equations, SparseRow};
use zwang::model::Level;
use zwang_expr::Expr;

use super::{DerivationContext, DerivationWriter, MOST_LISTED, MOST_ROWS, named};
use crate::article::Block;
use crate::table::{kind_words, verdicts};

/// A row as stated, and its first derivative.
#[derive(Copy, Clone)]
pub(super) struct Stated {
    left: Expr,
    right: Expr,
    rate: Expr,
}

/// The first rows of constraints and of controls as stated, in the shortest form found.
pub(super) fn stated_rows(equations: &mut Equations) -> [Vec<Stated>; 2] {
    let Equations { model, rows, asked, .. } = equations;
    let of_constraints = rows.iter().take(MOST_ROWS).map(|row| (row, &model.constraints[row.constraint]));
    let of_controls = asked.iter().take(MOST_ROWS).map(|r| (&r.row, &model.controls[r.row.constraint].stated));
    let mut exprs = Vec::new();
    for (row, constraint) in of_constraints.chain(of_controls) {
        let of_model = constraint.rows.iter().find(|r| r.lambda == row.lambda);
        let right = of_model.map_or(Expr::ZERO, |r| r.right);
        let left = model.graph.add(row.residual, right);
        exprs.extend([left, right, row.rate.unwrap_or(Expr::ZERO)]);
    }
    let n_constraints = rows.len().min(MOST_ROWS);
    // each row separately: the roots of one row do not simplify another
    let mut stated = exprs.chunks(3).map(|row| match equations.shortest(row)[..] {
        [left, right, rate] => Stated { left, right, rate },
        _ => Stated { left: row[0], right: row[1], rate: row[2] },
    });
    [stated.by_ref().take(n_constraints).collect(), stated.collect()]
}

impl DerivationWriter<'_> {
    /// Each constraint with its derivatives, the rows as a matrix, and their analysis.
    pub(super) fn constraints(&mut self, context: &DerivationContext, stated: &[Stated]) {
        let e = self.equations;
        if e.rows.is_empty() {
            return;
        }
        self.section("Constraints");
        self.words(
            "Every constraint is differentiated with respect to time until accelerations appear, in which it is then linear. A \
             motion that starts on the constraints and satisfies these rows stays on them.",
        );
        for (row, stated) in e.rows.iter().zip(stated) {
            self.constraint(context, row, *stated);
        }
        if e.rows.len() > MOST_ROWS {
            let more = e.rows.len() - MOST_ROWS;
            self.words(&format!(
                "… and {more} more rows of the same kinds, which the command `zwang equations` prints."
            ));
        }
        self.rows_together("\\A \\ddot\\q = \\b", "\\A", "\\b", e.rows.iter());
        if let Some(check) = context.check {
            let place = if context.at_start { "at the start" } else { "at a state on them" };
            self.blocks.push(Block::Part(format!("What they say {place}")));
            let mut lines = verdicts(check);
            lines.extend(context.notes.iter().cloned());
            self.blocks.push(Block::List(lines));
        }
    }

    /// The contacts and the friction.
    pub(super) fn at_times(&mut self) {
        let model = &self.equations.model;
        if model.only_at_times().is_empty() {
            return;
        }
        self.section("What holds only at times");
        let (law, rows) = match (model.contacts.is_empty(), model.frictions.is_empty()) {
            (false, true) => {
                ("A contact pushes only while it is closed", "a closed contact adds its row to $\\A \\ddot\\q = \\b$")
            }
            (true, _) => (
                "Friction either holds a place or acts against its velocity",
                "a place that sticks adds its rows to $\\A \\ddot\\q = \\b$, and one that slides its force, which is not ideal",
            ),
            (false, false) => (
                "A contact pushes only while it is closed, and friction either holds a place or acts against its velocity",
                "a closed contact and a place that sticks add their rows to $\\A \\ddot\\q = \\b$, and a place that slides adds \
                 its force, which is not ideal",
            ),
        };
        self.words(&format!("{law}. The equations below leave these forces out: {rows}."));
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

    /// Restitution and friction of each place that has some.
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
            law.map_or([String::new(), String::new()], |law| [number(law.static_mu), number(law.kinetic_mu)])
        };
        let mut rows = Vec::new();
        for (k, contact) in model.contacts.iter().enumerate() {
            let [holding, sliding] = friction(false, k);
            rows.push(vec![named(&contact.name), number(model.restitutions[k]), holding, sliding]);
        }
        for law in model.frictions.iter().filter(|law| law.constraint) {
            let name = named(&model.constraints[law.of].name);
            rows.push(vec![name, String::new(), number(law.static_mu), number(law.kinetic_mu)]);
        }
        let n_all = rows.len();
        rows.truncate(MOST_LISTED);
        self.table(["place", "restitution", "friction at rest", "sliding friction"], rows, n_all);
    }

    /// One control row as stated, and the law by which its tracking error decays.
    fn control(&mut self, row: &ConstraintRow, stated: Stated) {
        let control = &self.equations.model.controls[row.constraint];
        let mut lines = vec![format!("{} &= {}", self.tex(stated.left), self.tex(stated.right))];
        let (tau, zeta) = (control.settling.map(|tau| self.tex(tau)), self.tex(control.damping));
        let zeta = if zeta == "1" { String::new() } else { format!("\\, {zeta}") };
        let squared = |tau: &str| match tau.chars().all(|c| c.is_ascii_alphanumeric() || c == '.') {
            true => format!("{tau}^2"),
            false => format!("\\left({tau}\\right)^2"),
        };
        let law = match (tau, row.level) {
            (Some(tau), Level::Position) => Some(format!(
                "\\ddot\\varepsilon + \\frac{{2 {zeta}}}{{{tau}}} \\, \\dot\\varepsilon + \\frac{{\\varepsilon}}{{{}}} &= 0",
                squared(&tau)
            )),
            (Some(tau), Level::Velocity) => Some(format!("\\dot\\varepsilon + \\frac{{\\varepsilon}}{{{tau}}} &= 0")),
            _ => None,
        };
        self.blocks.push(Block::Part(named(&row.name)));
        if let Some(law) = law {
            self.words("The error $\\varepsilon$, left side minus right side, dies out by the second law:");
            lines.push(law);
        }
        self.formulas(lines);
    }

    pub(super) fn events(&mut self) {
        let events = self.equations.model.events();
        if !events.is_empty() {
            self.section("Events");
            self.words(
                "Where the condition of an event begins to hold a value changes, and the equations go on with it:",
            );
            self.blocks.push(Block::List(events.iter().map(|event| format!("`{event}`")).collect()));
        }
    }

    fn constraint(&mut self, context: &DerivationContext, row: &ConstraintRow, stated: Stated) {
        let name = &self.equations.model.constraints[row.constraint].name;
        let kind = context.check.and_then(|check| check.constraints.iter().find(|c| c.name == *name)).map(kind_words);
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

    /// A q̈ of one row, in full, with the symbols of the accelerations.
    fn row_left(&self, row: &SparseRow) -> String {
        let term = |(k, (j, e)): (usize, &(usize, Expr))| {
            let x = self.tex(self.equations.model.coordinates[*j].qddot);
            let factor = self.tex(*e);
            let sign = if k == 0 { "" } else { " + " };
            match factor.as_str() {
                "1" => format!("{sign}{x}"),
                "-1" => format!("{}{x}", if k == 0 { "-" } else { " - " }),
                // a sum needs parentheses; a leading minus becomes the sign of the term
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

    /// The matrix and the right side of some rows.
    fn rows_together<'r>(
        &mut self,
        what: &str,
        matrix: &str,
        right: &str,
        rows: impl ExactSizeIterator<Item = &'r ConstraintRow>,
    ) {
        if self.n().is_none() || rows.len() > MOST_ROWS {
            return;
        }
        let rows: Vec<&ConstraintRow> = rows.collect();
        let names: Vec<String> = rows.iter().map(|row| self.row_name(row)).collect();
        let (coefficients, rhs): (Vec<SparseRow>, Vec<Expr>) =
            rows.iter().map(|r| (r.coefficients.clone(), r.rhs)).unzip();
        self.words(&format!("All rows together are ${what}$ with"));
        let lines = [self.matrix(matrix, &coefficients, &names), self.column(right, &rhs, &names)].concat();
        self.formulas(lines);
    }

    pub(super) fn controls(&mut self, stated: &[Stated]) {
        let e = self.equations;
        if e.asked.is_empty() {
            return;
        }
        self.section("Control targets");
        let weighs = e.model.controls.iter().any(|c| !c.weight.is_empty());
        let measure = if weighs { "by the weights of the model" } else { "in $\\u^{\\mathsf T} \\M^{-1} \\u$" };
        self.words(&format!(
            "A control asks the motion to satisfy rows of its own, $\\A_c \\ddot\\q = \\b_c$; what lets an error settle is part of \
             $\\b_c$. The force $\\u$ on the driven coordinates is the least one, {measure}, that does it."
        ));
        for (asked, stated) in e.asked.iter().zip(stated) {
            self.control(&asked.row, *stated);
        }
        self.rows_together(
            "\\A_c \\ddot\\q = \\b_c",
            "\\A_c",
            "\\b_c",
            e.asked.iter().map(|asked| &asked.row).collect::<Vec<_>>().into_iter(),
        );
    }
}

/// `true` if a formula is a sum outside all braces and parentheses.
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
