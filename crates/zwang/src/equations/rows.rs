//! The rows of the equations: permanent ones, and those of contacts and slips.

use zwang_expr::Expr;

use crate::equations::{Equations, Symbols, constraint_rows};
use crate::model::Constraint;

impl Equations {
    /// True if the model has contact rows.
    pub(crate) fn has_contacts(&self) -> bool {
        !(self.model.contacts.is_empty() && self.model.frictions.is_empty())
    }

    /// The equations of the permanent constraints, for documents; `None` if there are no contact rows.
    pub fn permanent(&self) -> Option<Equations> {
        let first = self.n_permanent?;
        let mut equations = self.clone();
        let model = &mut equations.model;
        let slips: Vec<Expr> = model.frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        model.constraints.truncate(first);
        model.constraints.iter_mut().for_each(|c| c.rows.retain(|row| !slips.contains(&row.lambda)));
        let symbols = Symbols::new(model.time, &model.coordinates);
        equations.rows = constraint_rows(model, &symbols);
        equations.n_permanent = None;
        Some(equations)
    }

    /// The number of permanent rows.
    pub fn n_permanent_rows(&self) -> usize {
        let Some(first) = self.n_permanent else { return self.rows.len() };
        let slips: Vec<Expr> = self.model.frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        self.rows.iter().filter(|row| row.constraint < first && !slips.contains(&row.lambda)).count()
    }

    /// Adds the contact rows after the permanent ones. Analyses of the constraints without a motion must come before.
    pub(crate) fn engage(&mut self) {
        let model = &mut self.model;
        self.n_permanent = Some(model.constraints.len());
        model.constraints.extend(model.contacts.iter().cloned());
        // friction is part of the reaction it belongs to
        for law in &model.frictions {
            let owner = law.of + if law.constraint { 0 } else { self.n_permanent.unwrap_or(0) };
            let Constraint { rows, .. } = &mut model.constraints[owner];
            rows.extend(law.slip.iter().cloned());
        }
        let symbols = Symbols::new(model.time, &model.coordinates);
        self.rows = constraint_rows(model, &symbols);
    }
}
