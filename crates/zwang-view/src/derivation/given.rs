//! The model as stated: its text, energies, masses and forces.

use zwang::quantity::in_unit;
use zwang_expr::Expr;

use super::{DerivationContext, DerivationWriter, MOST_LISTED, named};
use crate::article::Block;

impl DerivationWriter<'_> {
    /// The text of the model and the meanings of its names.
    pub(super) fn model(&mut self, context: &DerivationContext) {
        let model = &self.equations.model;
        let mut coordinates = Vec::new();
        for c in model.coordinates.iter().take(MOST_LISTED) {
            let unit = c.dimension.map_or(String::new(), |d| d.unit());
            coordinates.push(vec![format!("${}$", self.tex(c.q)), named(&c.name), unit, described(&c.description)]);
        }
        let mut parameters = Vec::new();
        for (p, value) in model.parameters.iter().zip(&model.parameter_values).take(MOST_LISTED) {
            let value = in_unit(*value, p.unit.as_ref());
            parameters.push(vec![
                format!("${}$", self.tex(p.symbol)),
                named(&p.name),
                value,
                described(&p.description),
            ]);
        }
        self.section("The model");
        if !context.model_text.trim().is_empty() {
            self.blocks.push(Block::Code(context.model_text.to_string()));
        }
        self.table(["coordinate", "in the model", "unit", ""], coordinates, model.coordinates.len());
        self.table(["parameter", "in the model", "value", ""], parameters, model.parameters.len());
        let has_units = model.parameters.iter().any(|p| p.unit.is_some());
        if has_units {
            self.words("Numbers in formulas are in SI units.");
        }
    }

    /// L, T, V and p.
    pub(super) fn energy(&mut self) {
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
    pub(super) fn masses(&mut self) {
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
        if self.n().is_none() {
            let n = e.model.n_coordinates();
            let entries = e.mass_matrix.iter().map(Vec::len).sum::<usize>();
            self.words(&format!(
                "Here $\\M$ is ${n} \\times {n}$ with {entries} entries that are not zero; the command `zwang equations` prints \
                 every one."
            ));
            return;
        }
        let names = self.coordinate_names();
        let mut lines = Vec::new();
        if e.applied_force.iter().any(|f| *f != Expr::ZERO) && e.applied_force != e.given_force {
            lines.extend(self.column("\\F", &e.applied_force, &names));
        }
        lines.extend(self.matrix("\\M", &e.mass_matrix, &names));
        lines.extend(self.column("\\Q", &e.given_force, &names));
        self.formulas(lines);
        if !e.nonideal_force.is_empty() {
            self.words("Constraints that are not ideal exert, in addition to their ideal force, with the multipliers of the latter, the prescribed");
            self.formulas(self.column("\\C", &e.nonideal_force, &names));
        }
    }
}

/// The user's description, with all marks escaped.
fn described(description: &Option<String>) -> String {
    let text = description.as_deref().unwrap_or_default();
    text.replace('\\', "\\\\").replace('$', "\\$").replace('`', "\\`")
}
