//! The rows of the equations: permanent ones, and those of contacts, which are constraints only in some contact modes.

use std::collections::HashMap;
use std::sync::Arc;

use zwang_expr::{Expr, Number};

use crate::equations::{ConstraintRow, Equations, Symbols, ready_row};
use crate::model::{Constraint, Derived, FrictionLaw, Model, Row};

/// When a row is a constraint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// Always.
    #[default]
    Permanent,
    /// While the contact is closed: the residual is its gap.
    Gap,
    /// While the place sticks: the residual is its slip.
    Slip,
}

/// All rows of a model with contacts or friction, in the order of A, and the constraints and contacts they belong to.
pub(crate) struct ContactRows {
    rows: Vec<ConstraintRow>,
    /// The permanent constraints, then the contacts; slips belong to the constraint or contact whose force they limit.
    constraints: Vec<Constraint>,
    n_permanent: usize,
}

impl ContactRows {
    /// Derives the rows; `None` if all of them are permanent.
    pub(crate) fn derive(model: &mut Model, symbols: &Symbols) -> Option<Arc<ContactRows>> {
        if model.contacts.is_empty() && model.frictions.is_empty() {
            return None;
        }
        let n_permanent = model.constraints.len();
        let mut constraints = [&model.constraints[..], &model.contacts].concat();
        for law in &model.frictions {
            constraints[owner(law, n_permanent)].rows.extend(law.slip.iter().cloned());
        }
        let slips: Vec<Expr> = model.frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        let kind = |k: usize, row: &Row| match () {
            _ if slips.contains(&row.lambda) => RowKind::Slip,
            _ if k >= n_permanent => RowKind::Gap,
            _ => RowKind::Permanent,
        };
        let rows = derive_rows(model, &constraints, symbols, kind);
        Some(Arc::new(ContactRows { rows, constraints, n_permanent }))
    }

    /// The rows that are constraints in every contact mode.
    pub(crate) fn permanent(&self) -> Vec<ConstraintRow> {
        self.rows.iter().filter(|row| row.kind == RowKind::Permanent).cloned().collect()
    }
}

/// The index of the constraint or contact whose normal force a friction law takes, among constraints and contacts.
fn owner(law: &FrictionLaw, n_permanent: usize) -> usize {
    if law.constraint { law.of } else { n_permanent + law.of }
}

/// Every row of A q̈ = b of some constraints: φ differentiated twice, ψ once, rows on accelerations as they are.
pub(crate) fn derive_rows(
    model: &mut Model,
    constraints: &[Constraint],
    symbols: &Symbols,
    kind: impl Fn(usize, &Row) -> RowKind,
) -> Vec<ConstraintRow> {
    let mut stated: Vec<(usize, &Row)> = Vec::new();
    for (k, constraint) in constraints.iter().enumerate() {
        stated.extend(constraint.rows.iter().map(|row| (k, row)));
    }
    stated.sort_by_key(|(_, row)| row.level);
    let mut ready = |(k, row): (usize, &Row)| {
        let kind = kind(k, row);
        ConstraintRow { kind, ..ready_row(&mut model.graph, symbols, k, row.clone()) }
    };
    stated.into_iter().map(&mut ready).collect()
}

impl Equations {
    /// True if some rows belong to contacts or friction and are not constraints in every contact mode.
    pub(crate) fn has_contacts(&self) -> bool {
        self.contact_rows.is_some()
    }

    /// All rows of a motion, those of contacts included, in the order of A.
    pub(crate) fn motion_rows(&self) -> &[ConstraintRow] {
        self.contact_rows.as_ref().map_or(&self.rows, |contact| &contact.rows)
    }

    /// The equations with all rows of a motion and the constraints they belong to. Nothing is derived.
    pub fn with_contact_rows(mut self) -> Equations {
        if let Some(contact) = &self.contact_rows {
            self.rows = contact.rows.clone();
            self.model.constraints = contact.constraints.clone();
        }
        self
    }

    /// True if a row of the motion belongs to a contact.
    pub(crate) fn is_of_contact(&self, row: usize) -> bool {
        self.contact_rows.as_ref().is_some_and(|contact| contact.rows[row].constraint >= contact.n_permanent)
    }

    /// The constraint or contact whose normal force a friction law takes.
    pub(crate) fn owner(&self, law: &FrictionLaw) -> Option<&Constraint> {
        let contact = self.contact_rows.as_ref()?;
        contact.constraints.get(owner(law, contact.n_permanent))
    }

    /// The equations in a contact mode: rows that hold are constraints, the multipliers of the others are numbers, and
    /// those of sliding friction make up C. `None` if a multiplier is not finite.
    pub(crate) fn in_contact_mode(self, holds: &[bool], lambda: &[f64]) -> Option<Equations> {
        let mut equations = self.with_contact_rows();
        let mut known: HashMap<Expr, Expr> = HashMap::new();
        let mut force = vec![Expr::ZERO; equations.model.n_coordinates()];
        let graph = &mut equations.model.graph;
        for (k, row) in equations.rows.iter().enumerate().filter(|(k, _)| !holds[*k]) {
            let size = Number::from_decimal(&format!("{:e}", lambda[k].abs()))?;
            let value = graph.exact(if lambda[k] < 0.0 { size.neg() } else { size });
            known.insert(row.lambda, value);
            for &(j, coefficient) in &row.coefficients {
                let part = graph.mul(value, coefficient);
                force[j] = graph.add(force[j], part);
            }
        }
        equations.outputs = graph.substitute(&equations.outputs, &known);
        if force.iter().any(|f| *f != Expr::ZERO) || !equations.nonideal_force.is_empty() {
            equations.nonideal_force.resize(force.len(), Expr::ZERO);
            let nonideal = graph.substitute(&equations.nonideal_force, &known);
            equations.nonideal_force = nonideal.iter().zip(&force).map(|(c, f)| graph.add(*c, *f)).collect();
        }
        equations.keep_rows(holds);
        Some(equations)
    }

    /// Leaves out the rows that do not hold, and the contacts without a row that does.
    fn keep_rows(&mut self, holds: &[bool]) {
        let mut kept = holds.iter();
        self.rows.retain(|_| *kept.next().unwrap_or(&true));
        let model = &mut self.model;
        let held: Vec<Expr> = self.rows.iter().map(|row| row.lambda).collect();
        model.constraints.iter_mut().for_each(|c| c.rows.retain(|row| held.contains(&row.lambda)));
        let stays: Vec<bool> = model.constraints.iter().map(|c| !c.rows.is_empty()).collect();
        let place = |k: usize| stays[..k].iter().filter(|stays| **stays).count();
        self.outputs = without_open(model, &self.outputs, &stays);
        for d in model.derived.values_mut() {
            if let Derived::Work(k) | Derived::Power(k) = d {
                *k = place(*k);
            }
        }
        self.rows.iter_mut().for_each(|row| row.constraint = place(row.constraint));
        model.constraints.retain(|c| !c.rows.is_empty());
        model.contacts.clear();
        model.restitutions.clear();
        model.frictions.clear();
        self.contact_rows = None;
    }
}

/// The outputs with the power of open contacts set to zero; their work since the start is not known here.
fn without_open(model: &mut Model, outputs: &[Expr], stays: &[bool]) -> Vec<Expr> {
    let Model { graph, derived, .. } = model;
    let powers = derived.iter().filter(|(_, d)| matches!(d, Derived::Power(k) if !stays[*k]));
    let zero: HashMap<Expr, Expr> = powers.map(|(symbol, _)| (*symbol, Expr::ZERO)).collect();
    derived.retain(|_, d| !matches!(d, Derived::Work(k) | Derived::Power(k) if !stays[*k]));
    graph.substitute(outputs, &zero)
}
