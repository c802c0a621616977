//! What holds only at times, as rows of the equations of motion: contacts, and the slip where friction sticks.

use zwang_expr::Expr;
use zwang_motion::{Contact, Friction, MOST_NORMALS, MotionError, Roughness};

use crate::compiled::{Coding, Compiled};
use crate::equations::{Equations, Symbols, constraint_rows};
use crate::model::{Constraint, FrictionLaw};

impl Equations {
    /// Whether some rows hold only at times.
    pub(crate) fn is_one_sided(&self) -> bool {
        !(self.model.contacts.is_empty() && self.model.frictions.is_empty())
    }

    /// The equations of what always holds, for documents; none if that is all there is.
    pub fn always(&self) -> Option<Equations> {
        let first = self.n_always?;
        let mut equations = self.clone();
        let model = &mut equations.model;
        let slips: Vec<Expr> = model.frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        model.constraints.truncate(first);
        model.constraints.iter_mut().for_each(|c| c.rows.retain(|row| !slips.contains(&row.lambda)));
        let symbols = Symbols::new(model.time, &model.coordinates);
        equations.rows = constraint_rows(model, &symbols);
        equations.n_always = None;
        Some(equations)
    }

    /// How many rows always hold.
    pub fn n_always_rows(&self) -> usize {
        let Some(first) = self.n_always else { return self.rows.len() };
        let slips: Vec<Expr> = self.model.frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        self.rows.iter().filter(|row| row.constraint < first && !slips.contains(&row.lambda)).count()
    }

    /// Takes contacts and slips among the rows, after what holds always. What is said about constraints without moving is
    /// said before.
    pub(crate) fn engage(&mut self) {
        let model = &mut self.model;
        self.n_always = Some(model.constraints.len());
        model.constraints.extend(model.contacts.iter().cloned());
        // friction is part of the reaction it belongs to
        for law in &model.frictions {
            let owner = law.of + if law.constraint { 0 } else { self.n_always.unwrap_or(0) };
            let Constraint { rows, .. } = &mut model.constraints[owner];
            rows.extend(law.slip.iter().cloned());
        }
        let symbols = Symbols::new(model.time, &model.coordinates);
        self.rows = constraint_rows(model, &symbols);
    }
}

/// The rows that hold only at times, and what belongs to them.
pub(crate) struct OneSided {
    pub(crate) contacts: Vec<Contact>,
    pub(crate) frictions: Vec<Friction>,
    restitutions: Compiled,
    /// F, μ while it sticks, μ while it slides, for each friction.
    roughness: Compiled,
}

/// Numbers that say how rough one place is: F and two coefficients.
const N_ROUGH: usize = 3 * MOST_NORMALS + 2;

/// F by columns, filled up with zeros; then both coefficients.
fn roughness_of(law: &FrictionLaw) -> Vec<Expr> {
    let mut numbers = vec![Expr::ZERO; N_ROUGH];
    for (i, force) in law.forces.iter().take(MOST_NORMALS).enumerate() {
        numbers[3 * i..3 * i + force.len()].copy_from_slice(force);
    }
    (numbers[N_ROUGH - 2], numbers[N_ROUGH - 1]) = (law.holding, law.sliding);
    numbers
}

impl OneSided {
    /// Of equations that have been engaged; none if all rows always hold, or if a property contains a symbol without a value.
    pub(crate) fn compile(equations: &Equations, coding: Coding) -> Option<OneSided> {
        let first = equations.n_always?;
        let model = &equations.model;
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
            let owner = &model.constraints[law.of + if law.constraint { 0 } else { first }];
            let pressing = owner.rows.iter().take(law.forces.len());
            let normals: Vec<usize> = pressing.map(|row| row_of(row.lambda)).collect::<Option<_>>()?;
            let contact = contacts.iter().position(|contact| contact.row == normals[0]);
            let slip = law.slip.iter().map(|row| row_of(row.lambda)).collect::<Option<_>>()?;
            frictions.push(Friction { normals, contact, slip });
        }
        let rough: Vec<Expr> = model.frictions.iter().flat_map(roughness_of).collect();
        let inputs = model.state_symbols();
        let compile = |exprs: &[Expr]| Compiled::moving(&model.graph, &inputs, model.held_symbols(), exprs, coding);
        Some(OneSided { contacts, frictions, restitutions: compile(&restitutions)?, roughness: compile(&rough)? })
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

    /// How rough each place is; negative coefficients count as none.
    pub(crate) fn roughness(&mut self, inputs: &[f64], out: &mut [Roughness]) -> Result<(), MotionError> {
        let values = self.roughness.run(inputs);
        if !values.iter().all(|x| x.is_finite()) {
            return Err(MotionError::NotFinite { what: "a coefficient of friction or a normal force".into() });
        }
        for (rough, x) in out.iter_mut().zip(values.chunks_exact(N_ROUGH)) {
            let (forces, coefficients) = x.split_at(3 * MOST_NORMALS);
            *rough = Roughness {
                forces: std::array::from_fn(|i| std::array::from_fn(|k| forces[3 * i + k])),
                holding: coefficients[0].max(0.0),
                sliding: coefficients[1].max(0.0),
            };
        }
        Ok(())
    }

    /// What is missed of a row that holds only at times: nothing while its gap is open or it slides.
    pub(crate) fn mask(&self, residuals: &mut [f64]) {
        for contact in &self.contacts {
            residuals[contact.row] = residuals[contact.row].min(0.0);
        }
        self.frictions.iter().flat_map(|f| &f.slip).for_each(|&row| residuals[row] = 0.0);
    }

    /// Rates of rows that may be open say nothing about how well constraints are kept.
    pub(crate) fn mask_rates(&self, rates: &mut [f64]) {
        self.contacts.iter().for_each(|contact| rates[contact.row] = 0.0);
    }
}
