//! Contacts and friction at one state: what holds there as constraints, what slides as a nonideal force.

use std::collections::HashMap;

use zwang_expr::{Expr, Number};
use zwang_motion::{Motion, MotionError, Plan, RouteName, Settings, Snapshot, State, route};

use crate::check::Check;
use crate::equations::{Equations, Symbols, constraint_rows};
use crate::model::{Derived, Model};
use crate::simulate::engage;
use crate::system::System;
use crate::verdict::{self, Determinacy, dependence, determinacy};

/// What holds at a state.
struct Mode {
    state: State,
    /// One for each row of the engaged equations.
    holds: Vec<bool>,
    /// The multipliers that act.
    lambda: Vec<f64>,
    /// What each contact and friction does, by its row.
    words: Vec<(usize, &'static str)>,
}

impl Check {
    /// Leaves of contacts and friction what they are at a state: closed contacts and what sticks as constraints, sliding friction
    /// as C. Returns the state, with the velocities after what is struck there, and the multipliers of the rows that are left.
    /// Nothing changes where all rows always hold.
    pub(crate) fn enter_mode(
        &mut self,
        state: &State,
        settings: &Settings,
    ) -> Result<(State, Option<Vec<f64>>), MotionError> {
        if !self.equations.is_one_sided() {
            return Ok((state.clone(), None));
        }
        let not_known = || MotionError::NotFinite { what: "a contact or its friction".into() };
        let parameters = self.system.parameters().to_vec();
        if !engage(self) || !self.system.prepare_motion(&mut self.equations) {
            return Err(not_known());
        }
        self.system.set_parameters(&parameters);
        let mode = find_mode(&mut self.system, state, settings)?;
        let Equations { rows, model, .. } = &self.equations;
        let name = |row: usize| model.constraints[rows[row].constraint].name.clone();
        self.modes = mode.words.iter().map(|&(row, word)| (name(row), word)).collect();
        let acting: HashMap<Expr, f64> = rows.iter().map(|row| row.lambda).zip(mode.lambda.iter().copied()).collect();
        self.equations.keep(&mode).ok_or_else(not_known)?;
        let kept = self.equations.rows.iter().map(|row| acting.get(&row.lambda).copied()).collect();
        self.constraints = verdict::classify(&mut self.equations);
        let coding = self.system.coding();
        self.system = System::compile(&mut self.equations, true, coding).ok_or_else(not_known)?;
        self.system.set_parameters(&parameters);
        Ok((mode.state, kept))
    }
}

impl Check {
    /// Which multipliers, and what is made of them, the model determines at a state, contacts and friction included; none
    /// where that cannot be found out.
    pub(crate) fn determinacy_at(&mut self, state: &State, settings: &Settings) -> Option<Determinacy> {
        let mode = find_mode(&mut self.system, state, settings).ok()?;
        let mut equations = self.equations.clone();
        equations.keep(&mode)?;
        let mut system = System::compile(&mut equations, false, self.system.coding())?;
        system.set_parameters(self.system.parameters());
        let mut snapshot = Snapshot::new(&system);
        let mut way = route(RouteName::GeneralizedInverse, settings);
        snapshot.take(&mut system, &mode.state, &mut *way, settings).ok()?;
        let rows = dependence::redundant(&mut equations, &mut system, &mode.state, &snapshot.given, settings);
        Some(determinacy::determinacy(&equations, &snapshot, &rows))
    }
}

fn find_mode(system: &mut System, state: &State, settings: &Settings) -> Result<Mode, MotionError> {
    let plan = Plan { end: state.t + 1.0, route: RouteName::GeneralizedInverse, ..Plan::default() };
    let mut motion = Motion::new(system, state, &plan, settings)?;
    if motion.outcome().is_some() {
        return Err(MotionError::Jammed { row: motion.rows_with_friction().first().copied().unwrap_or(0) });
    }
    let lambda = motion.at(state.t)?.lambda.clone();
    let holds = (0..lambda.len()).map(|row| motion.holds(row)).collect();
    Ok(Mode { state: motion.state(), holds, lambda, words: motion.modes() })
}

impl Equations {
    /// Keeps the rows that hold; the multipliers of the others become numbers, and those of what slides make up C.
    fn keep(&mut self, mode: &Mode) -> Option<()> {
        let mut known: HashMap<Expr, Expr> = HashMap::new();
        let mut force = vec![Expr::ZERO; self.model.n_coordinates()];
        let graph = &mut self.model.graph;
        for (k, row) in self.rows.iter().enumerate().filter(|(k, _)| !mode.holds[*k]) {
            let size = Number::from_decimal(&format!("{:e}", mode.lambda[k].abs()))?;
            let value = graph.exact(if mode.lambda[k] < 0.0 { size.neg() } else { size });
            known.insert(row.lambda, value);
            for &(j, coefficient) in &row.coefficients {
                let part = graph.mul(value, coefficient);
                force[j] = graph.add(force[j], part);
            }
        }
        self.outputs = graph.substitute(&self.outputs, &known);
        if force.iter().any(|f| *f != Expr::ZERO) || !self.nonideal_force.is_empty() {
            self.nonideal_force.resize(force.len(), Expr::ZERO);
            let nonideal = graph.substitute(&self.nonideal_force, &known);
            self.nonideal_force = nonideal.iter().zip(&force).map(|(c, f)| graph.add(*c, *f)).collect();
        }
        let model = &mut self.model;
        model.constraints.iter_mut().for_each(|c| c.rows.retain(|row| !known.contains_key(&row.lambda)));
        self.outputs = without_open(model, &self.outputs);
        model.constraints.retain(|c| !c.rows.is_empty());
        model.contacts.clear();
        model.restitutions.clear();
        model.frictions.clear();
        self.n_always = None;
        let symbols = Symbols::new(model.time, &model.coordinates);
        self.rows = constraint_rows(model, &symbols);
        Some(())
    }
}

/// Renumbers the constraints whose work or power is asked for as those without rows go. What is open has no power; its work since the
/// start is not known here. Returns the outputs.
fn without_open(model: &mut Model, outputs: &[Expr]) -> Vec<Expr> {
    let Model { graph, constraints, derived, .. } = model;
    let stays: Vec<bool> = constraints.iter().map(|c| !c.rows.is_empty()).collect();
    let place = |k: usize| stays[..k].iter().filter(|stays| **stays).count();
    let powers = derived.iter().filter(|(_, d)| matches!(d, Derived::Power(k) if !stays[*k]));
    let none: HashMap<Expr, Expr> = powers.map(|(symbol, _)| (*symbol, Expr::ZERO)).collect();
    derived.retain(|_, d| !matches!(d, Derived::Work(k) | Derived::Power(k) if !stays[*k]));
    for d in derived.values_mut() {
        if let Derived::Work(k) | Derived::Power(k) = d {
            *k = place(*k);
        }
    }
    graph.substitute(outputs, &none)
}
