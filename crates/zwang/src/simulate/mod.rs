//! A run: the model moved from its start, with everything read off on the way.

mod account;
mod ending;
mod gauge;
mod powers;
mod record;

use std::time::Instant as Clock;

use zwang_expr::Expr;
use zwang_motion::{
    Counts, Drift, Dynamics, Method, Motion, MotionError, Outcome, Passage, Plan, Reaction, RouteName, Saturation,
    Settings, Solver, State, Tamed, Turn,
};

use crate::check::Check;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::samples::Samples;
use crate::scene::Scene;
use crate::system::System;
use crate::verdict::contradiction;
use account::Accountant;
pub use account::{Audit, EnergyAccount, Extent, ExtentValues, Following, Momentum};
use gauge::Around;
pub use powers::Parts;
use powers::Worker;
pub use record::Pictured;
pub(crate) use record::columns;
use record::{Extremes, Recorder};

/// What is wished of a run; what is left out is as the model says, or the default.
#[derive(Clone, Debug, Default)]
pub struct RunWishes {
    /// When it ends.
    pub to: Option<f64>,
    /// Error allowed per step, relative.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: Option<Method>,
    /// The step of a fixed-step method, the longest step of others.
    pub step: Option<f64>,
    /// What keeps the system on the constraints; Baumgarte's rate is chosen from the duration if it is zero.
    pub drift: Drift,
    /// Time between two rows of the samples; a thousandth of the run if left out.
    pub every: Option<f64>,
    /// Keep samples of every quantity.
    pub samples: bool,
    /// Keep what is to be drawn and plotted.
    pub pictures: bool,
    /// The numbers that decide something.
    pub settings: Settings,
}

/// What happened at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// When.
    pub t: f64,
    /// The user's name for it: a constraint, a condition.
    pub name: String,
    /// `impact`, `take-off`, `rest`, `stick`, `slip`, `rank-drop`, `when`, `switch` or `saturation`.
    pub kind: &'static str,
    /// Which bounded force it is about, if it is.
    pub bounded: Option<BoundedForce>,
}

/// A bounded force that comes to a bound or leaves one.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedForce {
    /// The coordinate that is driven.
    pub coordinate: String,
    /// The bound from now on: `upper`, `lower` or `none`.
    pub bound: &'static str,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// At its end.
    Finished,
    /// By the user.
    Interrupted,
    /// Because of the motion.
    Stopped(Outcome),
}

impl Ended {
    /// In one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Ended::Finished => "finished",
            Ended::Interrupted => "interrupted",
            Ended::Stopped(Outcome::Contradiction { .. }) => "contradiction",
            Ended::Stopped(Outcome::Undetermined { .. }) => "undetermined",
            Ended::Stopped(Outcome::StepTooSmall { .. }) => "step-too-small",
            Ended::Stopped(Outcome::HoldLost { .. }) => "out-of-reach",
            Ended::Stopped(Outcome::StepTooLong { .. }) => "step-too-long",
            Ended::Stopped(Outcome::Sliding { .. } | Outcome::Stalled { .. }) => "sliding",
            Ended::Stopped(Outcome::JumpedOff { .. }) => "off-constraint",
            Ended::Stopped(Outcome::Restless { .. }) => "restless",
            Ended::Stopped(Outcome::TooManyModes { .. }) => "too-many-modes",
            Ended::Stopped(Outcome::Ambiguous { n_modes: 0, .. }) => "no-motion",
            Ended::Stopped(Outcome::AmbiguousBlow { outcomes, .. }) if outcomes.is_empty() => "no-motion",
            Ended::Stopped(Outcome::Ambiguous { .. } | Outcome::AmbiguousBlow { .. }) => "several-motions",
            Ended::Stopped(_) => "failed",
        }
    }
}

/// A finished run.
pub struct Run {
    /// What was known before; its system has the parameters of the end.
    pub check: Check,
    /// How it ended.
    pub ended: Ended,
    /// The state at the end.
    pub state: State,
    /// When it should have ended.
    pub end: f64,
    /// The sizes of q and of q̇, against which errors were measured.
    pub sizes: (Vec<f64>, Vec<f64>),
    /// Rank along the motion.
    pub rank: usize,
    /// The tolerance.
    pub tolerance: f64,
    /// The method at the end.
    pub method: Method,
    /// What kept the system on the constraints.
    pub drift: Drift,
    /// What it cost.
    pub counts: Counts,
    /// Seconds from the text to machine programs, and of the motion itself.
    pub compile_seconds: f64,
    /// Seconds the motion took.
    pub wall_seconds: f64,
    /// Residuals, energy, momenta.
    pub audit: Audit,
    /// The outputs.
    pub outputs: Vec<Extent>,
    /// Events in the order of time.
    pub events: Vec<Happening>,
    /// Rows with friction whose normal force is not determined, because others share it.
    pub shared_normals: Vec<usize>,
    /// Contacts whose force is not determined one by one, because others share it.
    pub undetermined_contacts: Vec<usize>,
    /// How often there were too many modes of friction to look for another one that fits.
    pub n_unchecked: usize,
    /// Blows whose restitution was lowered, because energy would have come out of nothing.
    pub tamed: Vec<Tamed>,
    /// `when` statements that set velocities which the constraints do not allow, and when.
    pub undone: Vec<(f64, usize)>,
    /// Positions passed in which the constraints lose rank.
    pub passages: Vec<Passage>,
    /// Stiffness met by an explicit method, and whether the stiff one took over.
    pub stiffness: Option<(zwang_motion::Stiffness, bool)>,
    /// The motion at chosen times, if wished.
    pub samples: Samples,
    /// What was drawn and plotted, if wished.
    pub scene: Scene,
    /// The curves of every `plot`.
    pub plots: Vec<Pictured>,
}

/// Moves a checked model. `goes_on` is asked after every step with the time reached and says whether to go on.
///
/// Fails, with the reason among the messages, where the motion cannot even begin; a motion that ends early is a run.
pub fn simulate(
    mut check: Check,
    wishes: &RunWishes,
    diagnostics: &mut Diagnostics,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Option<Run> {
    let clock = Clock::now();
    let plan = plan(&check, wishes);
    if !engage(&mut check) || !check.system.prepare_motion(&mut check.equations) {
        let message = "an event or an integral contains a quantity that this version cannot compute";
        diagnostics.push(Diagnostic::error("Z901", message));
        return None;
    }
    let compile_seconds = clock.elapsed().as_secs_f64();
    let clock = Clock::now();
    let mut run = match Walk::new(&mut check, wishes, &plan).and_then(|walk| walk.run(goes_on)) {
        Ok(walked) => walked.into_run(check, &plan),
        Err(error) => {
            let Check { equations, system, state, .. } = &mut check;
            diagnostics.push(contradiction::explained(equations, system, state, &error, &wishes.settings));
            return None;
        }
    };
    run.compile_seconds += compile_seconds;
    run.wall_seconds = clock.elapsed().as_secs_f64();
    if !run.undetermined_contacts.is_empty()
        && let Some(determinacy) = run.check.determinacy_at(&run.state, &wishes.settings)
    {
        run.check.determinacy = determinacy;
    }
    say(&mut run, &wishes.settings, diagnostics);
    Some(run)
}

/// Takes what holds only at times among the rows, and compiles them; false if one contains a symbol without a value.
pub fn engage(check: &mut Check) -> bool {
    if check.equations.n_always.is_some() || !check.equations.is_one_sided() {
        return true;
    }
    check.equations.engage();
    let with_legendre = check.route == RouteName::TwoForm;
    let Some(system) = System::compile(&mut check.equations, with_legendre, check.system.coding()) else {
        return false;
    };
    check.system = system;
    true
}

/// A motion of which nothing was kept but its end.
pub struct Bare {
    /// The state at the end.
    pub state: State,
    /// Why it ended.
    pub outcome: Option<Outcome>,
    /// What it cost.
    pub counts: Counts,
    /// What its accelerations were found with.
    pub solver: Solver,
}

/// Moves a checked and prepared model as planned and keeps nothing on the way; `goes_on` is asked after every step.
pub fn move_bare(
    check: &mut Check,
    plan: &Plan,
    settings: &Settings,
    goes_on: &mut dyn FnMut(&mut Motion<System>) -> bool,
) -> Result<Bare, MotionError> {
    let Check { equations, system, state, .. } = check;
    system.set_parameters(&equations.model.parameter_values);
    let mut start = state.clone();
    fire_at_start(equations, system, &mut start, &mut Vec::new())?;
    let mut motion = Motion::new(system, &start, plan, settings)?;
    while motion.advance() && goes_on(&mut motion) {}
    Ok(Bare {
        state: motion.state(),
        outcome: motion.outcome().cloned(),
        counts: motion.counts(),
        solver: motion.solver(),
    })
}

/// The plan of the run: the command line wins over the model.
pub fn plan(check: &Check, wishes: &RunWishes) -> Plan {
    let model = &check.equations.model;
    let stated = model.run.as_ref();
    let number = |e: Option<Expr>| e.map(|e| model.constants(&[e])[0]).filter(|x| x.is_finite());
    let default = Plan::default();
    let end = wishes.to.or(number(stated.map(|r| r.duration))).unwrap_or(default.end);
    let drift = match wishes.drift {
        Drift::Baumgarte { rate } if rate <= 0.0 => Drift::Baumgarte { rate: BAUMGARTE / end },
        other => other,
    };
    Plan {
        end,
        tolerance: wishes.tolerance.or(number(stated.and_then(|r| r.tolerance))).unwrap_or(default.tolerance),
        method: wishes.method.or(stated.and_then(|r| r.method.as_ref()?.0.parse().ok())).unwrap_or_default(),
        step: wishes.step.or(number(stated.and_then(|r| r.step))),
        drift,
        route: check.route,
    }
}

/// Baumgarte's rate times the length of the run: errors die out within a hundredth of it.
const BAUMGARTE: f64 = 200.0;

/// Rows of the samples unless the user says otherwise.
const ROWS: f64 = 1000.0;

fn say(run: &mut Run, settings: &Settings, diagnostics: &mut Diagnostics) {
    let equations = &run.check.equations;
    if let Some(note) = ending::passed(equations, &run.passages) {
        diagnostics.push(note);
    }
    if let Some(warning) = ending::shared(equations, &run.shared_normals) {
        diagnostics.push(warning);
    }
    if let Some(note) = ending::undetermined_contacts(equations, &run.undetermined_contacts) {
        diagnostics.push(note);
    }
    if let Some(note) = ending::unchecked(run.n_unchecked) {
        diagnostics.push(note);
    }
    if let Some(note) = ending::tamed(equations, &run.tamed) {
        diagnostics.push(note);
    }
    if let Some(warning) = ending::undone(equations, &run.undone) {
        diagnostics.push(warning);
    }
    if let Some(warning) = ending::left(equations, run) {
        diagnostics.push(warning);
    }
    let asked = run.check.snapshot.found.asked.as_ref();
    if let Ended::Stopped(outcome) = &run.ended
        && let Some(error) = ending::ending(equations, &mut run.check.system, &run.state, outcome, asked, settings)
    {
        diagnostics.push(error);
    }
    if let Some((stiffness, switched)) = &run.stiffness {
        diagnostics.push(ending::stiff(equations, stiffness, *switched));
    }
}

/// A motion and everything that is kept of it.
struct Walk<'c> {
    motion: Motion<'c, System>,
    equations: &'c mut crate::equations::Equations,
    accountant: Accountant,
    recorder: Recorder,
    extremes: Extremes,
    /// The works of the parts of the constraint force, where not every constraint is ideal.
    worker: Option<Worker>,
    events: Vec<Happening>,
    n_events: usize,
    n_changes: usize,
    n_saturations: usize,
    start: f64,
    every: f64,
    n_rows: usize,
}

/// What is left of a walk once the motion is over.
struct Walked {
    ended: Ended,
    state: State,
    sizes: (Vec<f64>, Vec<f64>),
    rank: usize,
    method: Method,
    counts: Counts,
    audit: Audit,
    outputs: Vec<Extent>,
    events: Vec<Happening>,
    shared_normals: Vec<usize>,
    undetermined_contacts: Vec<usize>,
    n_unchecked: usize,
    tamed: Vec<Tamed>,
    undone: Vec<(f64, usize)>,
    passages: Vec<Passage>,
    stiffness: Option<(zwang_motion::Stiffness, bool)>,
    samples: Samples,
    scene: Scene,
    plots: Vec<Pictured>,
}

impl<'c> Walk<'c> {
    fn new(check: &'c mut Check, wishes: &RunWishes, plan: &Plan) -> Result<Walk<'c>, MotionError> {
        let Check { equations, system, state, .. } = check;
        let mut events = Vec::new();
        let mut start = state.clone();
        fire_at_start(equations, system, &mut start, &mut events)?;
        let works = system.works().to_vec();
        let accountant = Accountant::new(equations);
        let recorder = Recorder::new(equations, &works, wishes);
        let extremes = Extremes::new(equations, &works);
        let has_parts = equations.has_nonideal_parts();
        let every = wishes.every.unwrap_or((plan.end - state.t) / ROWS);
        let start_t = state.t;
        let motion = Motion::new(system, &start, plan, &wishes.settings)?;
        Ok(Walk {
            motion,
            equations,
            accountant,
            recorder,
            extremes,
            worker: has_parts.then(Worker::default),
            events,
            n_events: 0,
            n_changes: 0,
            n_saturations: 0,
            start: start_t,
            every,
            n_rows: 0,
        })
    }

    fn run(mut self, goes_on: &mut dyn FnMut(f64) -> bool) -> Result<Walked, MotionError> {
        self.note_events();
        self.look()?;
        // where no motion is possible no force is known
        if self.motion.outcome().is_none() {
            self.extremes.begin(&mut self.motion)?;
        }
        self.write_rows()?;
        let mut interrupted = false;
        while self.motion.advance() {
            // what cannot be evaluated between two good states ends the looking, not the run
            self.look()?;
            self.extremes.look(&mut self.motion)?;
            if let Some(worker) = &mut self.worker {
                worker.look(&mut self.motion)?;
            }
            self.write_rows()?;
            self.note_events();
            if !goes_on(self.motion.t()) {
                interrupted = true;
                break;
            }
        }
        // what falls on the very end is struck there
        if self.motion.mode_changes().len() > self.n_changes {
            self.look()?;
            self.extremes.look(&mut self.motion)?;
        }
        self.note_events();
        self.write_last_row()?;
        Ok(self.finish(interrupted))
    }

    /// Residuals, energy and momenta at the state reached.
    fn look(&mut self) -> Result<(), MotionError> {
        let state = self.motion.state();
        for jump in self.motion.dynamics().take_jumps() {
            self.accountant.jump(&jump);
        }
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
            if t > reached * (1.0 + 1e-15) {
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
        if self.recorder.is_wanted() && t - last > 1e-14 * (t.abs() + self.every) {
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
        self.recorder.write(&record::Look {
            instant: motion.instant(),
            around: Around {
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
            // behind those of the system stand the bounds of forces, which are told below
            if event.event >= system.n_events() {
                continue;
            }
            let (name, kind) = match system.when(event.event) {
                Some(k) => (self.equations.model.whens[k].name.clone(), "when"),
                None => ("a formula switches".into(), "switch"),
            };
            self.events.push(Happening { t: event.t, name, kind, bounded: None });
        }
        self.note_saturations();
        let changes = &self.motion.mode_changes()[self.n_changes..];
        self.n_changes += changes.len();
        for change in changes {
            let row = &self.equations.rows[change.row];
            // a curve stated by several rows slides as one
            let name = match change.turn {
                Turn::Stick | Turn::Slip => self.equations.model.constraints[row.constraint].name.clone(),
                _ => row.name.clone(),
            };
            self.events.push(Happening { t: change.t, name, kind: change.turn.as_str(), bounded: None });
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
            let word = |side: i8| if side > 0 { "upper" } else { "lower" };
            let (name, bound) = match (before, side) {
                (_, 0) => (format!("{coordinate} leaves its {} limit", word(before)), "none"),
                (0, _) => (format!("{coordinate} at its {} limit", word(side)), word(side)),
                _ => (format!("{coordinate} from its {} to its {} limit", word(before), word(side)), word(side)),
            };
            let bounded = Some(BoundedForce { coordinate, bound });
            self.events.push(Happening { t, name, kind: "saturation", bounded });
        }
    }

    fn finish(mut self, interrupted: bool) -> Walked {
        let ended = match self.motion.outcome() {
            Some(Outcome::End) => Ended::Finished,
            Some(outcome) => Ended::Stopped(outcome.clone()),
            None if interrupted => Ended::Interrupted,
            None => Ended::Finished,
        };
        if !self.equations.asked.is_empty() && self.motion.at(self.motion.t()).is_ok() {
            let force = self.motion.instant().control_force.clone();
            let works = record::works_of(&mut self.motion).map_or(Vec::new(), |(works, _)| works);
            self.accountant.controls(self.equations, &force, &works);
        }
        let undone: Vec<(f64, usize)> = self.motion.undone().to_vec();
        let undone = undone.iter().filter_map(|&(t, event)| Some((t, self.motion.dynamics().when(event)?))).collect();
        let passages = self.motion.passages().to_vec();
        for passage in &passages {
            let names: Vec<&str> = passage.rows.iter().take(6).map(|&k| self.equations.rows[k].name.as_str()).collect();
            self.events.push(Happening { t: passage.t, name: names.join(", "), kind: "rank-drop", bounded: None });
        }
        self.events.sort_by(|a, b| a.t.total_cmp(&b.t));
        let (samples, scene, plots) = self.recorder.finish();
        let switched = self.motion.method() == Method::Stiff;
        Walked {
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
            tamed: self.motion.tamed().to_vec(),
            undone,
            passages,
            stiffness: self.motion.stiffness().cloned().map(|s| (s, switched)),
            samples,
            scene,
            plots,
        }
    }
}

impl Walked {
    fn into_run(self, check: Check, plan: &Plan) -> Run {
        // what holds only at times is no constraint to be counted
        let rank = if check.equations.n_always.is_some() { check.rank } else { self.rank };
        Run {
            check,
            ended: self.ended,
            state: self.state,
            end: plan.end,
            sizes: self.sizes,
            rank,
            tolerance: plan.tolerance,
            method: self.method,
            drift: plan.drift,
            counts: self.counts,
            compile_seconds: 0.0,
            wall_seconds: 0.0,
            audit: self.audit,
            outputs: self.outputs,
            events: self.events,
            shared_normals: self.shared_normals,
            undetermined_contacts: self.undetermined_contacts,
            n_unchecked: self.n_unchecked,
            tamed: self.tamed,
            undone: self.undone,
            passages: self.passages,
            stiffness: self.stiffness,
            samples: self.samples,
            scene: self.scene,
            plots: self.plots,
        }
    }
}

/// Events whose condition holds already at the start.
fn fire_at_start(
    equations: &crate::equations::Equations,
    system: &mut System,
    state: &mut State,
    events: &mut Vec<Happening>,
) -> Result<(), MotionError> {
    let mut values = vec![0.0; system.n_events()];
    system.fill_events(state, &mut values)?;
    for (event, value) in values.iter().enumerate() {
        let Some(k) = system.when(event).filter(|_| *value >= 0.0) else { continue };
        let reaction = system.fire(event, true, state)?;
        if reaction == Reaction::Change {
            events.push(Happening {
                t: state.t,
                name: equations.model.whens[k].name.clone(),
                kind: "when",
                bounded: None,
            });
        }
    }
    Ok(())
}
