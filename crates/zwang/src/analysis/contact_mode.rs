//! Contacts and friction at one state: active rows become constraints, sliding friction becomes a nonideal force.

use std::collections::HashMap;

use zwang_expr::{Expr, Number};
use zwang_motion::{IntegrationOptions, Motion, MotionError, RouteName, Settings, Snapshot, State, route};

use crate::analysis::check::Check;
use crate::analysis::constraints::{dependence, determinacy};
use crate::analysis::{self, Determinacy};
use crate::compile::evaluator::Evaluator;
use crate::equations::{Equations, Symbols, constraint_rows};
use crate::model::{Derived, Model};

/// The contact mode at a state.
struct Mode {
    state: State,
    /// `true` for each active row of the equations, contact rows included.
    holds: Vec<bool>,
    /// The multipliers that act, one for each row.
    lambda: Vec<f64>,
    /// The mode of each contact and of each friction law, by its row.
    words: Vec<(usize, &'static str)>,
}

impl Check {
    /// Replaces contacts and friction by their contact mode at a state: closed and sticking contacts become
    /// constraints, sliding friction becomes C.
    ///
    /// Returns the state, with the velocities after any impact there, and the multipliers of the remaining rows.
    /// Nothing changes if all rows are permanent.
    pub(crate) fn enter_mode(
        &mut self,
        state: &State,
        settings: &Settings,
    ) -> Result<(State, Option<Vec<f64>>), MotionError> {
        if !self.equations.has_contacts() {
            return Ok((state.clone(), None));
        }
        let not_known = || MotionError::NotFinite { what: "a contact or its friction".into() };
        let parameters = self.system.parameters().to_vec();
        if !self.engage() || !self.system.compile_motion(&mut self.equations) {
            return Err(not_known());
        }
        self.system.set_parameters(&parameters);
        let mode = find_mode(&mut self.system, state, settings)?;
        let Equations { rows, model, .. } = &self.equations;
        let name = |row: usize| model.constraints[rows[row].constraint].name.clone();
        self.modes = mode.words.iter().map(|&(row, word)| (name(row), word)).collect();
        let acting: HashMap<Expr, f64> = rows.iter().map(|row| row.lambda).zip(mode.lambda.iter().copied()).collect();
        keep(&mut self.equations, &mode).ok_or_else(not_known)?;
        let kept = self.equations.rows.iter().map(|row| acting.get(&row.lambda).copied()).collect();
        self.constraints = analysis::classify(&mut self.equations);
        let jit = self.system.jit();
        self.system = Evaluator::compile(&mut self.equations, true, jit).ok_or_else(not_known)?;
        self.system.set_parameters(&parameters);
        Ok((mode.state, kept))
    }
}

impl Check {
    /// The determinacy of the multipliers, and of the quantities computed from them, at a state, contacts and friction
    /// included; `None` if the contact mode was not found.
    pub(crate) fn determinacy_at(&mut self, state: &State, settings: &Settings) -> Option<Determinacy> {
        let mode = find_mode(&mut self.system, state, settings).ok()?;
        let mut equations = self.equations.clone();
        keep(&mut equations, &mode)?;
        let mut system = Evaluator::compile(&mut equations, false, self.system.jit())?;
        system.set_parameters(self.system.parameters());
        let mut snapshot = Snapshot::new(&system);
        let mut way = route(RouteName::GeneralizedInverse, settings);
        snapshot.take(&mut system, &mode.state, &mut *way, settings).ok()?;
        let rows = dependence::redundant(&mut equations, &mut system, &mode.state, &snapshot.given, settings);
        Some(determinacy::determinacy(&equations, &snapshot, &rows))
    }
}

fn find_mode(system: &mut Evaluator, state: &State, settings: &Settings) -> Result<Mode, MotionError> {
    let plan = IntegrationOptions {
        end: state.t + 1.0,
        route: RouteName::GeneralizedInverse,
        ..IntegrationOptions::default()
    };
    let mut motion = Motion::new(system, state, &plan, settings)?;
    if motion.outcome().is_some() {
        return Err(MotionError::Jammed { row: motion.rows_with_friction().first().copied().unwrap_or(0) });
    }
    let lambda = motion.at(state.t)?.lambda.clone();
    let holds = (0..lambda.len()).map(|row| motion.holds(row)).collect();
    Ok(Mode { state: motion.state(), holds, lambda, words: motion.modes() })
}

/// Keeps the active rows; the multipliers of the others become numbers, and those of sliding friction make up C.
fn keep(equations: &mut Equations, mode: &Mode) -> Option<()> {
    let mut known: HashMap<Expr, Expr> = HashMap::new();
    let mut force = vec![Expr::ZERO; equations.model.n_coordinates()];
    let graph = &mut equations.model.graph;
    for (k, row) in equations.rows.iter().enumerate().filter(|(k, _)| !mode.holds[*k]) {
        let size = Number::from_decimal(&format!("{:e}", mode.lambda[k].abs()))?;
        let value = graph.exact(if mode.lambda[k] < 0.0 { size.neg() } else { size });
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
    let model = &mut equations.model;
    model.constraints.iter_mut().for_each(|c| c.rows.retain(|row| !known.contains_key(&row.lambda)));
    equations.outputs = without_open(model, &equations.outputs);
    model.constraints.retain(|c| !c.rows.is_empty());
    model.contacts.clear();
    model.restitutions.clear();
    model.frictions.clear();
    equations.n_permanent = None;
    let symbols = Symbols::new(model.time, &model.coordinates);
    equations.rows = constraint_rows(model, &symbols);
    Some(())
}

/// Renumbers the constraints whose work or power is an output, because constraints without rows are removed, and
/// returns the outputs. An open contact has zero power; its work since the start is not known here.
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
