//! A finished run, its events and its end: what users read.

use zwang_motion::{
    Counts, Drift, IntegrationOptions, Method, Outcome, RankDrop, ReducedRestitution, State, Trajectory, TransitionKind,
};

use crate::analysis::check::Check;
use crate::diagnostic::Diagnostics;
use crate::error::Error;
use crate::run::Resource;
use crate::samples::{Column, Samples, ascii_name};
use crate::scene::Scene;
use crate::simulate::balance::{Audit, OutputRange};
use crate::simulate::record::PlotCurves;

/// An event of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time of the event, in seconds.
    pub t: f64,
    /// The user's name for it: a constraint, a condition.
    pub name: String,
    /// What happened.
    pub kind: EventKind,
}

/// What happened at an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A contact takes an impulse.
    Impact,
    /// A contact opens.
    TakeOff,
    /// A contact closes.
    Rest,
    /// Sliding ends.
    Stick,
    /// Sliding begins.
    Slip,
    /// The constraints lose rank at a position that the motion crosses.
    RankDrop,
    /// The condition of a `when` holds.
    When,
    /// A formula switches.
    Switch,
    /// A bounded control force reaches a bound or leaves one.
    Saturation {
        /// The coordinate that is driven.
        coordinate: String,
        /// The bound from now on.
        bound: Bound,
    },
}

/// A bound of a control force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The upper bound.
    Upper,
    /// The lower bound.
    Lower,
    /// No bound is active.
    None,
}

impl Bound {
    /// In one word, as files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Bound::Upper => "upper",
            Bound::Lower => "lower",
            Bound::None => "none",
        }
    }
}

impl EventKind {
    /// In one word, as files have it.
    pub fn as_str(&self) -> &'static str {
        match self {
            EventKind::Impact => "impact",
            EventKind::TakeOff => "take-off",
            EventKind::Rest => "rest",
            EventKind::Stick => "stick",
            EventKind::Slip => "slip",
            EventKind::RankDrop => "rank-drop",
            EventKind::When => "when",
            EventKind::Switch => "switch",
            EventKind::Saturation { .. } => "saturation",
        }
    }
}

impl From<TransitionKind> for EventKind {
    fn from(kind: TransitionKind) -> EventKind {
        match kind {
            TransitionKind::Impact => EventKind::Impact,
            TransitionKind::TakeOff => EventKind::TakeOff,
            TransitionKind::Rest => EventKind::Rest,
            TransitionKind::Stick => EventKind::Stick,
            TransitionKind::Slip => EventKind::Slip,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// At its end.
    Finished,
    /// By the user.
    Cancelled,
    /// Because something ran out.
    BudgetSpent(Resource),
    /// Because of the motion.
    Stopped(Outcome),
}

impl End {
    /// In one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            End::Finished => "finished",
            End::Cancelled => "interrupted",
            End::BudgetSpent(_) => "budget",
            End::Stopped(Outcome::Contradiction { .. }) => "contradiction",
            End::Stopped(Outcome::MotionNotUnique { .. }) => "undetermined",
            End::Stopped(Outcome::StepTooSmall { .. }) => "step-too-small",
            End::Stopped(Outcome::ControlAuthorityLost { .. }) => "out-of-reach",
            End::Stopped(Outcome::StepTooLong { .. }) => "step-too-long",
            End::Stopped(Outcome::Sliding { .. } | Outcome::NoProgress { .. }) => "sliding",
            End::Stopped(Outcome::AccumulatedEvents { .. }) => "accumulation",
            End::Stopped(Outcome::OffConstraint { .. }) => "off-constraint",
            End::Stopped(Outcome::EndlessTransitions { .. }) => "restless",
            End::Stopped(Outcome::TooManyModes { .. }) => "too-many-modes",
            End::Stopped(Outcome::Ambiguous { n_modes: 0, .. }) => "no-motion",
            End::Stopped(Outcome::AmbiguousImpact { outcomes, .. }) if outcomes.is_empty() => "no-motion",
            End::Stopped(Outcome::Ambiguous { .. } | Outcome::AmbiguousImpact { .. }) => "several-motions",
            End::Stopped(_) => "failed",
        }
    }
}

/// A finished run.
pub struct Run {
    /// What was known before; its system has the parameters of the end.
    pub(crate) check: Check,
    /// The motion.
    pub(crate) record: MotionRecord,
    /// When it should have ended.
    end: f64,
    tolerance: f64,
    /// What kept the system on the constraints.
    drift: Drift,
    /// Seconds from the text to machine programs and seconds that the motion took, if the caller has measured them.
    seconds: (f64, f64),
    /// All diagnostics, from reading the model to the end of the motion.
    pub(crate) notes: Diagnostics,
}

/// What is kept of a motion.
pub(crate) struct MotionRecord {
    pub(crate) ended: End,
    /// The state at the end.
    pub(crate) state: State,
    /// The sizes of q and of q̇, against which errors were measured.
    pub(crate) sizes: (Vec<f64>, Vec<f64>),
    /// Rank along the motion.
    pub(super) rank: usize,
    /// The method at the end.
    pub(super) method: Method,
    /// What it cost.
    pub(super) counts: Counts,
    /// Residuals, energy, momenta.
    pub(crate) audit: Audit,
    pub(super) outputs: Vec<OutputRange>,
    /// In the order of time.
    pub(super) events: Vec<Event>,
    /// Rows with friction whose normal force is not determined, because others share it.
    pub(super) shared_normals: Vec<usize>,
    /// Contacts whose force is not determined one by one, because others share it.
    pub(super) undetermined_contacts: Vec<usize>,
    /// The number of searches with too many modes of friction to look for a second solution.
    pub(super) n_unchecked: usize,
    /// Impacts whose restitution was reduced, because they would have gained energy.
    pub(super) reduced_restitutions: Vec<ReducedRestitution>,
    /// `when` statements that set velocities which the constraints do not allow, and when.
    pub(super) undone: Vec<(f64, usize)>,
    /// Positions crossed in which the constraints lose rank.
    pub(super) rank_drops: Vec<RankDrop>,
    /// Stiffness noticed by an explicit method, and true if the stiff one took over.
    /// Time and sharp function of the first step of fixed length that passed over what it does.
    pub(super) passed_over: Option<(f64, usize)>,
    pub(super) stiffness: Option<(zwang_motion::Stiffness, bool)>,
    /// Where rounding limited the steps most, if it did.
    pub(super) rounding: Option<zwang_motion::RoundingLimit>,
    /// The motion at equal intervals, if it was kept.
    pub(super) samples: Samples,
    /// What was drawn, and the curves of every `plot`, if they were kept.
    pub(super) scene: Scene,
    pub(super) plots: Vec<PlotCurves>,
    /// The dense output, if it was kept.
    pub(super) trajectory: Option<Trajectory>,
}

impl Run {
    /// Of a checked model that moved as planned.
    pub(super) fn new(check: Check, mut record: MotionRecord, plan: &IntegrationOptions) -> Run {
        // closed contacts are not counted
        if check.equations.has_contacts() {
            record.rank = check.rank;
        }
        let IntegrationOptions { end, tolerance, drift, .. } = *plan;
        Run { check, record, end, tolerance, drift, seconds: (0.0, 0.0), notes: Diagnostics::default() }
    }

    /// How it ended.
    pub fn end(&self) -> &End {
        &self.record.ended
    }

    /// What was known before the motion, at the start; its parameters are those of the end.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// The check behind the run, to work with.
    pub fn into_check(self) -> Check {
        self.check
    }

    /// The time at which it should have ended.
    pub fn end_time(&self) -> f64 {
        self.end
    }

    /// The sizes of q and of q̇, against which errors were measured.
    pub fn sizes(&self) -> (&[f64], &[f64]) {
        (&self.record.sizes.0, &self.record.sizes.1)
    }

    /// The rank of the constraints along the motion.
    pub fn rank(&self) -> usize {
        self.record.rank
    }

    /// The tolerance.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The method at the end.
    pub fn method(&self) -> Method {
        self.record.method
    }

    /// What kept the system on the constraints.
    pub fn drift(&self) -> Drift {
        self.drift
    }

    /// Seconds until the motion began and seconds that it took, if the caller has measured them.
    pub fn seconds(&self) -> (f64, f64) {
        self.seconds
    }

    /// Takes down what the caller has measured: seconds until the motion began, and seconds that it took.
    pub fn set_seconds(&mut self, compile: f64, motion: f64) {
        self.seconds = (compile, motion);
    }

    /// Singular positions that the motion crossed.
    pub fn rank_drops(&self) -> &[RankDrop] {
        &self.record.rank_drops
    }

    /// Stiffness that an explicit method encountered; `true` if the stiff method replaced it.
    pub fn stiffness(&self) -> Option<&(zwang_motion::Stiffness, bool)> {
        self.record.stiffness.as_ref()
    }

    /// The motion at equal intervals, if it was kept.
    pub fn samples(&self) -> &Samples {
        &self.record.samples
    }

    /// The state at the end.
    pub fn state(&self) -> &State {
        &self.record.state
    }

    /// The events, in the order of time.
    pub fn events(&self) -> &[Event] {
        &self.record.events
    }

    /// A column of the samples by its name: `t`, `x`, `x_dot`, `lambda_rod`, an output.
    pub fn column(&self, name: &str) -> Result<&Column, Error> {
        if self.record.samples.columns.is_empty() {
            return Err(Error::Request("no samples were kept; set `keep.samples`".into()));
        }
        let known = || self.record.samples.columns.iter().map(|c| c.name.as_str());
        let spelled = || {
            self.record
                .samples
                .columns
                .iter()
                .find(|c| c.label == name)
                .or(self.record.samples.column(&ascii_name(name)))
        };
        self.record.samples.column(name).or_else(spelled).ok_or_else(|| Error::unknown(name, known()))
    }

    /// The motion at equal intervals; the first column is the time.
    pub fn columns(&self) -> &[Column] {
        &self.record.samples.columns
    }

    /// The state at a time inside the motion, from the dense output, which `keep.dense` asks for. At a jump it is the state after
    /// it.
    pub fn state_at(&self, t: f64) -> Result<State, Error> {
        let Some(trajectory) = &self.record.trajectory else {
            return Err(Error::Request("the dense output was not kept; set `keep.dense`".into()));
        };
        trajectory.state(t).ok_or_else(|| {
            let (start, end) = trajectory.span().unwrap_or((self.record.state.t, self.record.state.t));
            Error::Request(format!("t = {t} lies outside the motion, which goes from {start} to {end}"))
        })
    }

    /// The outputs: at the end, and their extremes.
    pub fn outputs(&self) -> &[OutputRange] {
        &self.record.outputs
    }

    /// Residuals, energy balance and momenta.
    pub fn audit(&self) -> &Audit {
        &self.record.audit
    }

    /// Steps and evaluations.
    pub fn cost(&self) -> &Counts {
        &self.record.counts
    }

    /// All diagnostics, from reading the model to the end of the motion.
    pub fn notes(&self) -> &Diagnostics {
        &self.notes
    }

    /// What there is to draw.
    pub fn scene(&self) -> &Scene {
        &self.record.scene
    }

    /// The curves of every `plot`.
    pub fn plots(&self) -> &[PlotCurves] {
        &self.record.plots
    }
}
