//! The audit of a run: residuals, energy against work, conserved momenta, extremes of the outputs.

use zwang_expr::Expr;
use zwang_motion::{Jump, MotionError, State};

use crate::compile::evaluator::{Energies, Evaluator};
use crate::equations::Equations;
use crate::simulate::powers::Parts;

/// The energy along a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBalance {
    /// E at the start.
    pub start: f64,
    /// E at the end.
    pub end: f64,
    /// Work of all nonconservative forces and energy added by events, from start to end; without impacts.
    pub work: f64,
    /// The energy added by impacts: E(end) = E(start) + work + impacts. It is positive only with moving contacts.
    pub impacts: f64,
    /// Work of the parts of the constraint force; `None` if every constraint is ideal.
    pub parts: Option<Parts>,
    /// The largest |E(t) − E(0) − ∫power dt|.
    pub drift: f64,
}

/// A momentum that should be conserved.
#[derive(Clone, Debug, PartialEq)]
pub struct Momentum {
    /// Name of its coordinate.
    pub name: String,
    /// Its value at the start.
    pub start: f64,
    /// The largest change.
    pub drift: f64,
}

/// The deviation of a motion from a control target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrackingError {
    /// Name of the control row, such as `trace.x`.
    pub name: String,
    /// lhs − rhs at the end.
    pub last: f64,
    /// The largest |lhs − rhs|.
    pub largest: f64,
}

/// The constraint residuals, energy balance and conserved quantities of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// The largest |lhs − rhs| of every row, as written.
    pub residuals: Vec<(String, f64)>,
    /// The largest |φ̇| of a row on positions.
    pub rate: f64,
    /// The energy against the work.
    pub energy: EnergyBalance,
    /// Momenta of cyclic coordinates without forces.
    pub momenta: Vec<Momentum>,
    /// The tracking error of every control row.
    pub following: Vec<TrackingError>,
    /// The total control force at the end on each driven coordinate.
    pub control_force: Vec<(String, f64)>,
    /// The work of each control.
    pub control_work: Vec<(String, f64)>,
}

/// Accumulates the audit of a run.
pub(super) struct AuditBuilder {
    audit: Audit,
    cyclic: Vec<usize>,
    first: Option<Energies>,
    jumped: f64,
    /// The parameters since the last event.
    parameters: Vec<f64>,
}

impl AuditBuilder {
    /// For a motion that starts with these parameters.
    pub(super) fn new(equations: &mut Equations, parameters: &[f64]) -> AuditBuilder {
        let names = equations.rows.iter().filter(|r| r.rate.is_some()).map(|r| (r.name.clone(), 0.0));
        let asked = equations.asked.iter().filter(|r| r.row.rate.is_some());
        let following = asked.map(|r| TrackingError { name: r.row.name.clone(), ..TrackingError::default() });
        let audit = Audit { residuals: names.collect(), following: following.collect(), ..Audit::default() };
        let parameters = parameters.to_vec();
        AuditBuilder { audit, cyclic: cyclic(equations), first: None, jumped: 0.0, parameters }
    }

    /// Evaluates the audit at a state; `work` is the work done on the system since the start.
    pub(super) fn look(
        &mut self,
        equations: &Equations,
        system: &mut Evaluator,
        state: &State,
        work: f64,
    ) -> Result<(), MotionError> {
        for ((_, most), now) in self.audit.residuals.iter_mut().zip(system.residuals(state)) {
            *most = most.max(now.abs());
        }
        for (row, now) in self.audit.following.iter_mut().zip(system.control_errors(state)) {
            (row.last, row.largest) = (now, row.largest.max(now.abs()));
        }
        self.audit.rate = system.position_rates(state).iter().fold(self.audit.rate, |most, x| most.max(x.abs()));
        let now = system.energies(state)?;
        let first = self.first.get_or_insert_with(|| now.clone());
        let energy = &mut self.audit.energy;
        (energy.start, energy.end) = (first.energy - self.jumped, now.energy);
        energy.work = work + self.jumped - energy.impacts;
        energy.drift = energy.drift.max((now.energy - first.energy - work).abs());
        if self.audit.momenta.is_empty() {
            let start = |&k: &usize| Momentum {
                name: equations.model.coordinates[k].name.clone(),
                start: first.momentum[k],
                drift: 0.0,
            };
            self.audit.momenta = self.cyclic.iter().map(start).collect();
        }
        for (momentum, &k) in self.audit.momenta.iter_mut().zip(&self.cyclic) {
            momentum.drift = momentum.drift.max((now.momentum[k] - first.momentum[k]).abs());
        }
        Ok(())
    }

    /// Records a jump of parameters or velocities that has just happened: energy and momenta are compared from here on.
    pub(super) fn jump(&mut self, system: &mut Evaluator, jump: &Jump) -> Result<(), MotionError> {
        // an impact leaves the parameters as they are
        let before = match jump.is_impact {
            true => system.energies(&jump.before)?,
            false => system.energies_with(&self.parameters, &jump.before)?,
        };
        let after = system.energies(&jump.after)?;
        self.parameters.copy_from_slice(system.parameters());
        // an impact at the start time counts as after the start
        let first = self.first.get_or_insert_with(|| before.clone());
        if jump.is_impact {
            self.audit.energy.impacts += after.energy - before.energy;
        }
        first.energy += after.energy - before.energy;
        self.jumped += after.energy - before.energy;
        for k in 0..first.momentum.len() {
            first.momentum[k] += after.momentum[k] - before.momentum[k];
        }
        Ok(())
    }

    /// Records the control forces at the end and the work of each control.
    pub(super) fn controls(&mut self, equations: &Equations, force: &[f64], works: &[f64]) {
        let model = &equations.model;
        let named = |k: usize| (model.coordinates[k].name.clone(), force[k]);
        self.audit.control_force = model.driven().into_iter().map(named).collect();
        let first = works.len().saturating_sub(model.controls.len());
        let names = model.controls.iter().map(|c| c.stated.name.clone());
        self.audit.control_work = names.zip(works[first..].iter().copied()).collect();
    }

    pub(super) fn finish(mut self, equations: &Equations, parts: Option<Parts>) -> Audit {
        self.audit.energy.parts = parts;
        // the slip of a sliding place is not a residual
        let slips: Vec<&str> =
            equations.model.frictions.iter().flat_map(|law| &law.slip).map(|r| r.name.as_str()).collect();
        self.audit.residuals.retain(|(name, _)| !slips.contains(&name.as_str()));
        self.audit
    }
}

/// Coordinates that occur neither in L nor in A, and on which no force acts: their momenta are constant.
fn cyclic(equations: &mut Equations) -> Vec<usize> {
    let n = equations.model.n_coordinates();
    let mut free = vec![true; n];
    let symbols: Vec<Expr> = equations.model.graph.symbols(equations.lagrangian);
    for (k, c) in equations.model.coordinates.iter().enumerate() {
        let occurs = symbols.binary_search(&c.q).is_ok() || !symbols.contains(&c.qdot);
        let driven = equations.applied_force[k] != Expr::ZERO;
        let worked = equations.nonideal_force.get(k).is_some_and(|e| *e != Expr::ZERO);
        free[k] = !(occurs || driven || worked);
    }
    for (k, _) in equations.rows.iter().flat_map(|r| &r.coefficients) {
        free[*k] = false;
    }
    equations.model.driven().into_iter().for_each(|k| free[k] = false);
    (0..n).filter(|&k| free[k]).collect()
}

/// An output along a run: its value at the end and its extremes.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRange {
    /// Its name.
    pub name: String,
    /// The unit it is shown in, or its SI unit.
    pub unit: String,
    /// Value at the end, least and largest value of the continuous quantity, in that unit; `None` if it cannot be
    /// computed.
    pub values: Option<OutputValues>,
    /// True if the output was undefined at some time, such as a logarithm of a negative number.
    pub undefined: bool,
}

/// The numbers of an [`OutputRange`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputValues {
    /// The value at the end; NaN if the output is undefined there.
    pub last: f64,
    /// The least value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}
