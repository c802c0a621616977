//! The results: the explicit equation of motion, the forces, their geometry, and equivalent principles.

use zwang::{ClosedForm, Equality, Equivalent, Part};
use zwang_expr::Expr;

use super::{DerivationWriter, capital, is_tautology};
use crate::article::Block;
use crate::letters::with_formulas;

impl DerivationWriter<'_> {
    /// a, e, λ and q̈.
    pub(super) fn explicit(&mut self, closed: &ClosedForm) {
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
            lines.extend(gaps.map(|(k, gap)| format!("e_{{{}}} &= {}", self.row_name(&e.rows[*k]), self.tex(*gap))));
            let missed = if closed.gap.is_empty() { "" } else { ", which violates them by $\\e = \\b - \\A \\a$" };
            self.words(&format!(
                "Without its constraints the system would have the acceleration $\\a = \\M^{{-1}} \\Q${missed}:"
            ));
            self.formulas(lines);
        }
        self.section("Explicit equation of motion");
        if has_rows && !model.only_at_times().is_empty() {
            self.words("What follows is without the forces that act only at times.");
        }
        self.words(&self.principle(closed));
        if closed.n_redundant > 0 {
            let rows = match closed.n_redundant {
                1 => "One row repeats".into(),
                n => format!("{n} rows repeat"),
            };
            let place = match closed.needs_values {
                true => "for the values that the parameters have, and the formulas hold for these only",
                false => "wherever the constraints hold",
            };
            let multipliers = match closed.multipliers.len() == e.rows.len() {
                false => {
                    "the acceleration does not change when they are left out, and $\\lambda$ is given for the rest."
                }
                true => {
                    "together they share one force. The prescribed $\\C$ contains the share of each, that of the shortest \
                     $\\lambda$ with this force."
                }
            };
            self.words(&format!("{rows} others {place}; {multipliers}"));
        }
        let lines = closed.multipliers.iter();
        let lines = lines.map(|(k, l)| format!("{} &= {}", self.tex(e.rows[*k].lambda), self.tex(*l))).collect();
        self.formulas(lines);
        let motion = model.coordinates.iter().zip(&closed.accelerations);
        let motion: Vec<String> = motion.map(|(c, x)| format!("{} &= {}", self.tex(c.qddot), self.tex(*x))).collect();
        if motion.iter().any(|line| is_tautology(line)) {
            self.words("Accelerations that are not repeated here were found by the last of the steps above.");
        }
        self.formulas(motion);
    }

    /// The principle that determines the motion.
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

    /// M q̈ = Q + … with its rows, each as an inline formula.
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

    /// The parts, grouped by meaning.
    pub(super) fn parts(&mut self, parts: &[Part]) {
        for group in parts.chunk_by(|one, next| one.meaning == next.meaning) {
            let lines = group.iter().map(|p| format!("{} &= {}", self.tex(p.symbol), self.tex(p.value))).collect();
            self.words(&format!("{}:", capital(&with_formulas(&group[0].meaning))));
            self.formulas(lines);
        }
    }

    /// Qc, Qₙ, u and G.
    pub(super) fn forces(&mut self, closed: &ClosedForm) {
        let e = self.equations;
        if e.rows.is_empty() && closed.control.is_empty() {
            return;
        }
        self.section("Forces");
        let each = |symbol: &str, of: &[Expr]| -> Vec<String> {
            let pairs = e.model.coordinates.iter().zip(of);
            pairs.map(|(c, f)| format!("{symbol}_{{{}}} &= {}", self.tex(c.q), self.tex(*f))).collect()
        };
        let (letter, announced) = match closed.nonideal_force.is_empty() {
            true => (
                "Q^{c}",
                "The constraints act with the force $\\Q^{c} = \\A^{\\mathsf T} \\lambda$, which does no work on virtual \
                 displacements:",
            ),
            false => (
                "Q^{i}",
                "The constraints act with the force $\\Q^{c} = \\Q^{i} + \\Q^{n}$. Its ideal part \
                 $\\Q^{i} = \\A^{\\mathsf T} \\lambda$ does no work on virtual displacements:",
            ),
        };
        let (ideal, nonideal) = (each(letter, &closed.constraint_force), each("Q^{n}", &closed.nonideal_force));
        let control = each("u", &closed.control);
        self.announced(announced, ideal);
        self.announced(
            "Of the prescribed $\\C$ only the part acts that the constraints leave free, \
             $\\Q^{n} = \\M^{1/2} (\\I - \\B^{+} \\B) \\M^{-1/2} \\C$:",
            nonideal,
        );
        if !control.is_empty() {
            let limits = e.model.controls.iter().any(|c| !c.limit.is_empty());
            let while_free = if limits { ", while it is within its limits" } else { "" };
            self.announced(&format!("The controls act with the force{while_free}:"), control);
        }
        if let Some(gaussian) = closed.gaussian {
            // forces other than those of ideal constraints make it larger
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
    pub(super) fn geometry(&mut self, closed: &ClosedForm, drawing: Option<&String>) {
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
        } else {
            self.words(
                "In scaled accelerations $\\M^{1/2} \\ddot\\q$ the constraints pull the motion without them straight onto those that \
                 they allow.",
            );
        }
        if let Some(svg) = drawing {
            let caption = "Scaled accelerations at the start, and the constraints' part of them.";
            self.blocks.push(Block::Picture(svg.clone(), caption.into()));
        }
    }

    /// M q̈ = Q + Aᵀλ, for a system without a closed form.
    pub(super) fn implicit(&mut self, why: &str, drawing: Option<&String>) {
        self.section("Equations of motion");
        let equations = self.implicit_equations();
        self.words(&format!(
            "No closed form is written for this system: {}. The acceleration is found at every state from {equations}.",
            with_formulas(why)
        ));
        if let Some(svg) = drawing {
            let caption = "Scaled accelerations at the start, and the constraints' part of them.";
            self.blocks.push(Block::Picture(svg.clone(), caption.into()));
        }
    }

    /// Lagrange's first kind, Gauss, Gibbs and Appell, side by side.
    pub(super) fn other_words(&mut self, same: Option<&Equivalent>) {
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
            let title = match appell.is_gibbs {
                true => "Gibbs and Appell's equations",
                false => "D'Alembert's principle",
            };
            groups.push((title.into(), lines));
        }
        self.section("The same motion in other words");
        let mut words = String::from(
            "These give the same acceleration. Lagrange's equations of the first kind keep the multipliers as unknowns.",
        );
        if same.constraint.is_some() {
            words += " Gauss's principle asks for the least departure from the motion without constraints.";
        }
        if same.appell.as_ref().is_some_and(|appell| !appell.is_gibbs) {
            words += " By d'Alembert's principle $\\M \\ddot\\q - \\Q$ does no work along any acceleration that the constraints \
                      leave free, once they are solved for some of the accelerations.";
        } else if same.appell.is_some() {
            words += " Gibbs and Appell's equations are $\\partial \\mathcal S/\\partial \\ddot q_i = \\Pi_i$ with \
                      $\\mathcal S = \\tfrac12\\, \\ddot\\q^{\\mathsf T} \\M \\ddot\\q$, once the constraints are solved for some \
                      of the accelerations.";
        }
        self.words(&words);
        self.blocks.push(Block::Beside(groups));
    }
}
