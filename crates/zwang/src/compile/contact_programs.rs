//! Contact rows as rows of the equations of motion: gaps of closed contacts, and slips of sticking places.

use zwang_expr::Expr;
use zwang_motion::{Contact, Coulomb, Friction, MOST_NORMALS, MotionError};

use crate::compile::program::{Compiled, Jit};
use crate::equations::{Equations, RowKind};
use crate::model::FrictionLaw;

/// The contact rows with their restitution and friction laws.
#[derive(Clone)]
pub(crate) struct ContactPrograms {
    pub(crate) contacts: Vec<Contact>,
    pub(crate) frictions: Vec<Friction>,
    restitutions: Compiled,
    /// F, the static and the kinetic coefficient of each friction law.
    roughness: Compiled,
}

/// The number of values of one friction law: F and two coefficients.
const N_ROUGH: usize = 3 * MOST_NORMALS + 2;

/// F by columns, padded with zeros; then both coefficients.
fn roughness_of(law: &FrictionLaw) -> Vec<Expr> {
    let mut numbers = vec![Expr::ZERO; N_ROUGH];
    for (i, force) in law.forces.iter().take(MOST_NORMALS).enumerate() {
        numbers[3 * i..3 * i + force.len()].copy_from_slice(force);
    }
    (numbers[N_ROUGH - 2], numbers[N_ROUGH - 1]) = (law.static_mu, law.kinetic_mu);
    numbers
}

impl ContactPrograms {
    /// Compiles the contact rows of equations that include them. `None` if all rows are permanent, or if a property
    /// contains a symbol without a value.
    pub(crate) fn compile(equations: &Equations, jit: &Jit) -> Option<ContactPrograms> {
        let model = &equations.model;
        if equations.rows.iter().all(|row| row.kind == RowKind::Permanent) {
            return None;
        }
        let row_of = |lambda: Expr| equations.rows.iter().position(|row| row.lambda == lambda);
        let (mut contacts, mut restitutions) = (Vec::new(), Vec::new());
        for (contact, &restitution) in model.contacts.iter().zip(&model.restitutions) {
            for row in &contact.rows {
                contacts.push(Contact { row: row_of(row.lambda)? });
                restitutions.push(restitution);
            }
        }
        let mut frictions = Vec::new();
        for law in &model.frictions {
            let pressing = equations.owner(law)?.rows.iter().take(law.forces.len());
            let normals: Vec<usize> = pressing.map(|row| row_of(row.lambda)).collect::<Option<_>>()?;
            let contact = contacts.iter().position(|contact| contact.row == normals[0]);
            let slip = law.slip.iter().map(|row| row_of(row.lambda)).collect::<Option<_>>()?;
            frictions.push(Friction { normals, contact, slip });
        }
        let rough: Vec<Expr> = model.frictions.iter().flat_map(roughness_of).collect();
        let inputs = model.state_symbols();
        let compile = |exprs: &[Expr]| Compiled::moving(&model.graph, &inputs, model.held_symbols(), exprs, jit);
        Some(ContactPrograms {
            contacts,
            frictions,
            restitutions: compile(&restitutions)?,
            roughness: compile(&rough)?,
        })
    }

    /// The restitution of each contact, between 0 and 1.
    pub(crate) fn restitutions(&mut self, inputs: &[f64], out: &mut [f64]) -> Result<(), MotionError> {
        out.copy_from_slice(self.restitutions.run(inputs));
        match out.iter().all(|e| e.is_finite()) {
            true => out.iter_mut().for_each(|e| *e = e.clamp(0.0, 1.0)),
            false => return Err(MotionError::NotFinite { what: "a restitution".into() }),
        }
        Ok(())
    }

    /// The friction law of each place; negative coefficients are treated as zero.
    pub(crate) fn roughness(&mut self, inputs: &[f64], out: &mut [Coulomb]) -> Result<(), MotionError> {
        let values = self.roughness.run(inputs);
        if !values.iter().all(|x| x.is_finite()) {
            return Err(MotionError::NotFinite { what: "a coefficient of friction or a normal force".into() });
        }
        for (rough, x) in out.iter_mut().zip(values.chunks_exact(N_ROUGH)) {
            let (forces, coefficients) = x.split_at(3 * MOST_NORMALS);
            *rough = Coulomb {
                forces: std::array::from_fn(|i| std::array::from_fn(|k| forces[3 * i + k])),
                static_mu: coefficients[0].max(0.0),
                kinetic_mu: coefficients[1].max(0.0),
            };
        }
        Ok(())
    }

    /// Sets the residuals of open gaps and of all slip rows to zero, because neither violates a constraint; a
    /// penetration stays.
    pub(crate) fn mask(&self, residuals: &mut [f64]) {
        for contact in &self.contacts {
            residuals[contact.row] = residuals[contact.row].min(0.0);
        }
        self.frictions.iter().flat_map(|f| &f.slip).for_each(|&row| residuals[row] = 0.0);
    }

    /// Sets the rates of contact rows to zero: the rate of an open gap is not a constraint violation.
    pub(crate) fn mask_rates(&self, rates: &mut [f64]) {
        self.contacts.iter().for_each(|contact| rates[contact.row] = 0.0);
    }
}
