//! A run: the motion computed from its start, with every quantity that is recorded along it.

mod balance;
mod messages;
pub(crate) mod powers;
mod probes;
mod record;
mod result;

use zwang_expr::Expr;
use zwang_motion::{
    Drift, EventFunctions, IntegrationOptions, Method, Motion, MotionError, Outcome, Reaction, Saturation, Settings,
    State, Trajectory, TransitionKind,
};

use crate::analysis::constraints::contradiction;
use crate::compile::evaluator::Evaluator;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::equations::Equations;
use crate::error::Error;
use crate::quantity::number;
use crate::run::{Budget, Keep, Monitor, Progress, Resource, RunOptions, Stage};
use crate::{analysis::check::Check, tolerance};
use balance::AuditBuilder;
pub use balance::{Audit, EnergyBalance, Momentum, OutputRange, OutputValues, TrackingError};
pub use powers::Parts;
use powers::WorkIntegrator;
use probes::ProbeContext;
pub use record::PlotCurves;
pub(crate) use record::columns;
use record::{Extremes, Recorder};
use result::MotionRecord;
pub use result::{Bound, End, Event, EventKind, Run};

/// Moves a checked model with an evaluator that can move; none says that something has no value.
///
/// Fails, with the reason among the messages unless it is the request's, if the motion cannot even begin; a motion that ends
/// early is a run.
pub(crate) fn simulate(
    mut check: Check,
    motion: Option<Evaluator>,
    options: &RunOptions,
    settings: &Settings,
    diagnostics: &mut Diagnostics,
    monitor: &mut dyn Monitor,
) -> Result<Run, Option<Error>> {
    let plan = integration_options(&check, options);
    if plan.end.is_nan() || plan.end < check.state.t {
        let (end, start) = (number(plan.end), number(check.state.t));
        return Err(Some(Error::Request(format!("the run would end at t = {end}, and it starts at t = {start}"))));
    }
    let Some(motion) = motion else {
        let message = "an event or an integral contains a quantity that this version cannot compute";
        diagnostics.push(Diagnostic::error("Z901", message));
        return Err(None);
    };
    let parameters = check.system.parameters().to_vec();
    check.system = motion;
    check.system.set_parameters(&parameters);
    // messages and records of a motion with contacts name all rows; the check keeps the permanent ones
    let mut with_contacts = check.equations.has_contacts().then(|| check.equations.clone().with_contact_rows());
    let equations = with_contacts.as_mut().unwrap_or(&mut check.equations);
    let built = RunBuilder::new(equations, &mut check.system, &check.state, options, &plan, settings);
    let done = match built {
        Ok(builder) => {
            builder.allows(&options.budget).map_err(Some)?;
            builder.run(monitor)
        }
        Err(error) => Err(error),
    };
    let record = match done {
        Ok(record) => record,
        Err(error) => {
            let Check { equations, system, state, .. } = &mut check;
            let equations = with_contacts.as_ref().unwrap_or(equations);
            diagnostics.push(contradiction::explained(equations, system, state, &error, settings));
            return Err(None);
        }
    };
    let mut run = Run::new(check, record, &plan);
    if !run.record.undetermined_contacts.is_empty()
        && let Some(determinacy) = run.check.determinacy_at(&run.record.state, settings)
    {
        run.check.determinacy = determinacy;
    }
    report(&mut run, with_contacts.as_ref(), settings, diagnostics);
    Ok(run)
}

/// The motion of a check whose evaluator has the programs of a motion, for a caller who advances it step by step and reads it
/// off; nothing is kept of it.
pub fn motion<'c>(
    check: &'c mut Check,
    options: &RunOptions,
    settings: &Settings,
) -> Result<Motion<'c, Evaluator>, MotionError> {
    let plan = integration_options(check, options);
    let Check { equations, system, state, .. } = check;
    system.set_parameters(&equations.model.parameter_values);
    let mut start = state.clone();
    apply_at_start(equations, system, &mut start, &mut Vec::new())?;
    Motion::new(system, &start, &plan, settings)
}

/// The end, tolerance, method and step of a run: those of its options, else those of the model.
fn integration_options(check: &Check, options: &RunOptions) -> IntegrationOptions {
    let model = &check.equations.model;
    let stated = model.run.as_ref();
    let number = |e: Option<Expr>| e.map(|e| model.constants(&[e])[0]).filter(|x| x.is_finite());
    let default = IntegrationOptions::default();
    let end = options.to.or(number(stated.map(|r| r.duration))).unwrap_or(default.end);
    let drift = match options.drift {
        Drift::Baumgarte { rate } if rate <= 0.0 => {
            Drift::Baumgarte { rate: BAUMGARTE / if end > 0.0 { end } else { 1.0 } }
        }
        other => other,
    };
    IntegrationOptions {
        end,
        tolerance: options.tolerance.or(number(stated.and_then(|r| r.tolerance))).unwrap_or(default.tolerance),
        method: options.method_in(model),
        step: options.step.or(number(stated.and_then(|r| r.step))),
        drift,
        route: check.route,
    }
}

/// Baumgarte's rate times the length of the run: errors die out within a hundredth of it.
const BAUMGARTE: f64 = 200.0;

/// Rows of the samples unless the user says otherwise.
const SAMPLES_IN_TABLE: f64 = 1000.0;

/// Reports the conditions that a run has encountered; `with_contacts` are the equations with all rows, if some are not permanent.
fn report(run: &mut Run, with_contacts: Option<&Equations>, settings: &Settings, diagnostics: &mut Diagnostics) {
    let equations = with_contacts.unwrap_or(&run.check.equations);
    if let Some(note) = messages::passed(equations, &run.record.rank_drops) {
        diagnostics.push(note);
    }
    if let Some(warning) = messages::shared(equations, &run.record.shared_normals) {
        diagnostics.push(warning);
    }
    if let Some(note) = messages::undetermined_contacts(equations, &run.record.undetermined_contacts) {
        diagnostics.push(note);
    }
    if let Some(note) = messages::unchecked(run.record.n_unchecked) {
        diagnostics.push(note);
    }
    if let Some(note) = messages::reduced_restitutions(equations, &run.record.reduced_restitutions) {
        diagnostics.push(note);
    }
    if let Some(warning) = messages::undone(equations, &run.record.undone) {
        diagnostics.push(warning);
    }
    if let Some(warning) = messages::left(equations, run) {
        diagnostics.push(warning);
    }
    if let End::BudgetSpent(resource) = run.record.ended {
        diagnostics.push(messages::budget_spent(resource, &run.record));
    }
    if let Some(warning) = messages::passed_over(&run.check.system, run) {
        diagnostics.push(warning);
    }
    let asked = run.check.snapshot.found.asked.as_ref();
    if let End::Stopped(outcome) = &run.record.ended
        && let Some(error) =
            messages::ending(equations, &mut run.check.system, &run.record.state, outcome, asked, settings)
    {
        diagnostics.push(error);
    }
    if let Some((stiffness, switched)) = &run.record.stiffness {
        diagnostics.push(messages::stiff(equations, stiffness, *switched));
    }
    if let Some(limit) = &run.record.rounding {
        diagnostics.push(messages::limited_by_rounding(limit, run.tolerance(), run.record.counts.steps));
    }
}

/// A motion and everything that is kept of it.
struct RunBuilder<'c> {
    motion: Motion<'c, Evaluator>,
    equations: &'c mut Equations,
    accountant: AuditBuilder,
    recorder: Recorder,
    extremes: Extremes,
    /// The works of the parts of the constraint force, where not every constraint is ideal.
    worker: Option<WorkIntegrator>,
    events: Vec<Event>,
    n_events: usize,
    n_changes: usize,
    n_saturations: usize,
    start: f64,
    every: f64,
    n_rows: usize,
    end: f64,
    keep: Keep,
    budget: Budget,
    trajectory: Option<Trajectory>,
}

impl<'c> RunBuilder<'c> {
    fn new(
        equations: &'c mut Equations,
        system: &'c mut Evaluator,
        state: &State,
        options: &RunOptions,
        plan: &IntegrationOptions,
        settings: &Settings,
    ) -> Result<RunBuilder<'c>, MotionError> {
        let mut events = Vec::new();
        let mut start = state.clone();
        apply_at_start(equations, system, &mut start, &mut events)?;
        let works = system.works().to_vec();
        let accountant = AuditBuilder::new(equations, system.parameters());
        let recorder = Recorder::new(equations, &works, options.keep);
        let extremes = Extremes::new(equations, &works);
        let has_parts = equations.has_nonideal_parts();
        // a run of length zero has one row, whatever the interval is
        let length = if plan.end > state.t { plan.end - state.t } else { 1.0 };
        let every = options.every.unwrap_or(length / SAMPLES_IN_TABLE);
        let start_t = state.t;
        let motion = Motion::new(system, &start, plan, settings)?;
        Ok(RunBuilder {
            motion,
            equations,
            accountant,
            recorder,
            extremes,
            worker: has_parts.then(WorkIntegrator::default),
            events,
            n_events: 0,
            n_changes: 0,
            n_saturations: 0,
            start: start_t,
            every,
            n_rows: 0,
            end: plan.end,
            keep: options.keep,
            budget: options.budget,
            trajectory: options.keep.dense.then(Trajectory::default),
        })
    }

    /// Rows that a run may have are known before it begins.
    fn allows(&self, budget: &Budget) -> Result<(), Error> {
        let n_rows = if self.recorder.is_wanted() { (self.end - self.start) / self.every + 2.0 } else { 0.0 };
        budget.allows_table(n_rows, self.recorder.n_columns())
    }

    fn run(mut self, monitor: &mut dyn Monitor) -> Result<MotionRecord, MotionError> {
        self.note_events();
        self.note_jumps()?;
        self.look()?;
        // where no motion is possible no force is known
        if self.motion.outcome().is_none() {
            self.extremes.begin(&mut self.motion)?;
        }
        self.write_rows()?;
        let mut cut = self.is_cut(monitor);
        while cut.is_none() && self.motion.advance() {
            self.note_jumps()?;
            // a failed evaluation between two good states ends the sampling, not the run
            if self.keep.audit {
                self.look()?;
            }
            if self.keep.extremes {
                self.extremes.look(&mut self.motion)?;
            }
            if let Some(worker) = &mut self.worker {
                worker.look(&mut self.motion)?;
            }
            if let Some(trajectory) = &mut self.trajectory {
                trajectory.push(self.motion.last_step()?.clone());
            }
            self.write_rows()?;
            self.note_events();
            cut = self.is_cut(monitor);
        }
        // what falls on the very end is struck there
        self.note_jumps()?;
        if self.motion.contact_transitions().len() > self.n_changes || !self.keep.audit {
            self.look()?;
            self.extremes.look(&mut self.motion)?;
        }
        self.note_events();
        self.write_last_row()?;
        Ok(self.finish(cut))
    }

    /// Why the run ends here although the motion would continue.
    fn is_cut(&self, monitor: &mut dyn Monitor) -> Option<End> {
        let (t, steps) = (self.motion.t(), self.motion.counts().steps as u64);
        let length = self.end - self.start;
        let fraction = if length > 0.0 { ((t - self.start) / length).clamp(0.0, 1.0) } else { 1.0 };
        if monitor.progress(Progress { stage: Stage::Move, fraction, t, steps }).is_break() {
            return Some(monitor.spent().map_or(End::Cancelled, End::BudgetSpent));
        }
        if steps >= self.budget.steps {
            return Some(End::BudgetSpent(Resource::Steps));
        }
        (self.events.len() as u64 >= self.budget.events.max(1)).then_some(End::BudgetSpent(Resource::Events))
    }

    /// Energies before and after events and impacts, while the parameters are those of the last event.
    fn note_jumps(&mut self) -> Result<(), MotionError> {
        for jump in self.motion.take_jumps() {
            self.accountant.jump(self.motion.dynamics(), &jump)?;
        }
        Ok(())
    }

    /// Residuals, energy and momenta at the state reached.
    fn look(&mut self) -> Result<(), MotionError> {
        let state = self.motion.state();
        let work = match self.motion.dynamics().has_power() {
            true => self.motion.integrals()[0],
            false => 0.0,
        };
        self.accountant.look(self.equations, self.motion.dynamics(), &state, work)
    }

    /// Rows of the samples up to the time reached.
    fn write_rows(&mut self) -> Result<(), MotionError> {
        if !self.recorder.is_wanted() {
            return Ok(());
        }
        loop {
            let t = self.start + self.every * self.n_rows as f64;
            let reached = self.motion.t();
            if t > reached * (1.0 + tolerance::RESIDUAL_ROUNDING) {
                return Ok(());
            }
            self.write_row(t.min(reached))?;
            self.n_rows += 1;
        }
    }

    /// The state reached, where no row falls on it.
    fn write_last_row(&mut self) -> Result<(), MotionError> {
        let last = self.start + self.every * (self.n_rows as f64 - 1.0);
        let t = self.motion.t();
        if self.recorder.is_wanted() && t - last > tolerance::VALUE_ROUNDING * (t.abs() + self.every) {
            self.write_row(t)?;
        }
        Ok(())
    }

    fn write_row(&mut self, t: f64) -> Result<(), MotionError> {
        let motion = &mut self.motion;
        let works = self.worker.as_ref().map(|worker| worker.at(motion, t)).transpose()?;
        motion.at(t)?;
        let parts =
            works.map(|works| record::PartsAt { forces: motion.force_parts(), power: powers::power(motion), works });
        let gaussian = if self.recorder.wants_gaussian() { motion.gaussian() } else { f64::NAN };
        let constraint_force = motion.constraint_force();
        let ((works, powers), control_powers) = (record::works_of(motion)?, record::control_powers_of(motion));
        let state = motion.instant().state.clone();
        let system = motion.dynamics();
        let energies = system.energies(&state)?;
        let residuals = system.residuals(&state);
        let parameters = system.parameters().to_vec();
        self.recorder.write(&record::Sample {
            instant: motion.instant(),
            around: ProbeContext {
                parameters: &parameters,
                gaussian,
                works: &works,
                powers: &powers,
                control_powers: &control_powers,
            },
            constraint_force: &constraint_force,
            energies: [energies.kinetic, energies.potential, energies.energy],
            residuals: &residuals,
            parts: parts.as_ref(),
        });
        Ok(())
    }

    /// Takes over the events of the last step.
    fn note_events(&mut self) {
        let new: Vec<_> = self.motion.events()[self.n_events..].to_vec();
        self.n_events += new.len();
        for event in new {
            let system = self.motion.dynamics();
            // the bounds of forces follow those of the system and are reported below
            if event.event >= system.n_events() {
                continue;
            }
            let (name, kind) = match system.when(event.event) {
                Some(k) => (self.equations.model.whens[k].name.clone(), EventKind::When),
                None => ("a formula switches".into(), EventKind::Switch),
            };
            self.events.push(Event { t: event.t, name, kind });
        }
        self.note_saturations();
        let changes = &self.motion.contact_transitions()[self.n_changes..];
        self.n_changes += changes.len();
        for change in changes {
            let row = &self.equations.rows[change.row];
            // a curve stated by several rows slides as one
            let name = match change.turn {
                TransitionKind::Stick | TransitionKind::Slip => {
                    self.equations.model.constraints[row.constraint].name.clone()
                }
                _ => row.name.clone(),
            };
            self.events.push(Event { t: change.t, name, kind: change.turn.into() });
        }
    }

    /// Bounded forces that have come to a bound or left one, whatever made them.
    fn note_saturations(&mut self) {
        let new = &self.motion.saturations()[self.n_saturations..];
        self.n_saturations += new.len();
        let model = &self.equations.model;
        for &Saturation { t, place, before, side } in new {
            let Some(&driven) = model.driven().get(place) else { continue };
            let coordinate = model.coordinates[driven].name.clone();
            let bound = |side: i8| match side {
                0 => Bound::None,
                side if side > 0 => Bound::Upper,
                _ => Bound::Lower,
            };
            let (from, to) = (bound(before).as_str(), bound(side).as_str());
            let name = match (before, side) {
                (_, 0) => format!("{coordinate} leaves its {from} limit"),
                (0, _) => format!("{coordinate} at its {to} limit"),
                _ => format!("{coordinate} from its {from} to its {to} limit"),
            };
            let kind = EventKind::Saturation { coordinate, bound: bound(side) };
            self.events.push(Event { t, name, kind });
        }
    }

    fn finish(mut self, cut: Option<End>) -> MotionRecord {
        let ended = match self.motion.outcome() {
            Some(Outcome::End) => End::Finished,
            Some(outcome) => End::Stopped(outcome.clone()),
            None => cut.unwrap_or(End::Finished),
        };
        if !self.equations.asked.is_empty() && self.motion.at(self.motion.t()).is_ok() {
            let force = self.motion.instant().control_force.clone();
            let works = record::works_of(&mut self.motion).map_or(Vec::new(), |(works, _)| works);
            self.accountant.controls(self.equations, &force, &works);
        }
        let undone: Vec<(f64, usize)> = self.motion.undone().to_vec();
        let undone = undone.iter().filter_map(|&(t, event)| Some((t, self.motion.dynamics().when(event)?))).collect();
        let rank_drops = self.motion.rank_drops().to_vec();
        for passage in &rank_drops {
            let names: Vec<&str> = passage.rows.iter().take(6).map(|&k| self.equations.rows[k].name.as_str()).collect();
            self.events.push(Event { t: passage.t, name: names.join(", "), kind: EventKind::RankDrop });
        }
        self.events.sort_by(|a, b| a.t.total_cmp(&b.t));
        let (samples, scene, plots) = self.recorder.finish();
        let switched = self.motion.method() == Method::Stiff;
        MotionRecord {
            ended,
            state: self.motion.state(),
            sizes: (self.motion.sizes().0.to_vec(), self.motion.sizes().1.to_vec()),
            rank: self.motion.rank(),
            method: self.motion.method(),
            counts: self.motion.counts(),
            audit: self.accountant.finish(self.equations, self.worker.map(|worker| worker.total())),
            outputs: self.extremes.finish(self.equations),
            events: self.events,
            shared_normals: self.motion.shared_normals().to_vec(),
            undetermined_contacts: self.motion.undetermined_contacts().to_vec(),
            n_unchecked: self.motion.n_unchecked(),
            reduced_restitutions: self.motion.reduced_restitutions().to_vec(),
            undone,
            rank_drops,
            passed_over: self.motion.passed_over(),
            stiffness: self.motion.stiffness().cloned().map(|s| (s, switched)),
            rounding: self.motion.rounding_limit(),
            samples,
            scene,
            plots,
            trajectory: self.trajectory,
        }
    }
}

/// Applies events whose condition holds already at the start.
fn apply_at_start(
    equations: &Equations,
    system: &mut Evaluator,
    state: &mut State,
    events: &mut Vec<Event>,
) -> Result<(), MotionError> {
    let mut values = vec![0.0; system.n_events()];
    system.fill_events(state, &mut values)?;
    for (event, value) in values.iter().enumerate() {
        let Some(k) = system.when(event).filter(|_| *value >= 0.0) else { continue };
        if *value == 0.0 && equations.model.whens[k].is_strict {
            continue;
        }
        let reaction = system.apply_event(event, true, state)?;
        if reaction == Reaction::Change {
            events.push(Event { t: state.t, name: equations.model.whens[k].name.clone(), kind: EventKind::When });
        }
    }
    Ok(())
}
