//! Moving along the constraints: a motion under way, from its start or a jump on.

mod advance;
mod blow;
mod choices;
mod contact;
mod crossing;
mod event;
mod friction;
mod impact;
mod jump;
mod look;
mod onset;
mod outcome;
mod rattle;
mod rest;
mod runge_kutta;
mod saturation;
mod search;
mod singular;
mod slow;
mod step;
mod step_size;
mod stiff;
mod tableau;
mod touching;
mod tried;
mod turns;
mod undetermined;
mod watch;

use crate::{
    Drift, Dynamics, Instant, Method, MotionError, Reaction, Settings, State,
    acceleration::decomposition::Decomposition,
    flow::Flow,
    unilateral::{ModeChange, Tamed},
};
pub use blow::Struck;
use contact::{Busy, SideChange};
pub use crossing::Passage;
use crossing::{Choice, Crossing, generic_rank};
pub use event::Event;
use event::{Found, Watch};
pub use look::ForceParts;
use onset::{Ahead, Verdict};
pub use outcome::{Counts, Outcome, Plan, Solver, Stiffness};
use rattle::Rattle;
use runge_kutta::RungeKutta;
pub use saturation::Saturation;
pub use step::Step;
use stiff::Collocation;
pub use tableau::{ORDER_5, ORDER_8, Tableau};
pub use tried::{Inequality, TriedMode};
use watch::Progress;

enum Stepper {
    Explicit(RungeKutta),
    Stiff(Box<Collocation>),
    Fixed(Box<Rattle>),
}

impl Stepper {
    /// The end of the step that was tried last.
    fn end(&self) -> &[f64] {
        match self {
            Stepper::Explicit(rk) => &rk.end,
            Stepper::Stiff(collocation) => &collocation.end,
            Stepper::Fixed(rattle) => &rattle.end,
        }
    }
}

/// A motion under way.
///
/// ```text
/// let mut motion = Motion::new(&mut system, &start, &plan, &settings)?;
/// while motion.advance() {
///     let instant = motion.at(motion.t())?;
/// }
/// ```
pub struct Motion<'d, D: Dynamics + ?Sized> {
    flow: Flow<'d, D>,
    plan: Plan,
    method: Method,
    stepper: Stepper,
    crossing: Crossing,
    watch: Watch,
    t0: f64,
    t: f64,
    y: Vec<f64>,
    /// The step the controller wants next.
    h: f64,
    /// What error is allowed, component by component.
    allowed: Vec<f64>,
    /// The unit of each coordinate, and the largest q and q̇ of each unit so far; the last belongs to pure numbers.
    units: Vec<Option<usize>>,
    of_unit: Vec<(f64, f64)>,
    /// What rounding alone makes of each unit during the run.
    noise: Vec<f64>,
    /// Accelerations of each coordinate that are rounding beside what pushes at the start.
    idle: Vec<f64>,
    /// The least size of a pure number.
    natural_size: f64,
    /// The largest velocity of each unit ever.
    fastest: Vec<f64>,
    step: Step,
    has_dense: bool,
    /// The error of the last accepted step, and whether the next may be longer.
    last_error: f64,
    grows: bool,
    /// The rate at the end of the last step is that at the start of the next.
    goes_on: bool,
    /// Events at the end of the last step, which fire when the motion goes on.
    pending: Option<Found>,
    /// When switches of formulas began to be counted, and how many there have been since.
    first_switch: f64,
    n_switches: usize,
    /// The row that the state does not meet where the last step was cut, and whether it is the velocities that do not.
    corner: Option<(usize, bool)>,
    /// The motion has started afresh within this step.
    restarted: bool,
    n_stiff: usize,
    n_not_stiff: usize,
    /// The longest time constant of the fast mode met while counting, which is the best estimate.
    time_constant: f64,
    /// The step of the explicit method when stiffness was noticed.
    explicit_step: f64,
    cause: Option<MotionError>,
    counts: Counts,
    passages: Vec<Passage>,
    events: Vec<Event>,
    mode_changes: Vec<ModeChange>,
    /// The bound at which each bounded force is, and every change of these.
    sides: Vec<i8>,
    saturations: Vec<Saturation>,
    /// The longest step since the motion began or started afresh, and the accelerations at the ends of such steps.
    longest: f64,
    usual: Vec<f64>,
    /// Rows with friction, and contacts, whose force others share.
    shared: Vec<usize>,
    undetermined: Vec<usize>,
    /// How often there were too many modes to look at them all.
    n_unchecked: usize,
    /// Blows whose restitution was lowered, because energy would have come out of nothing.
    tamed: Vec<Tamed>,
    /// When changes of mode began to be counted, and how many there have been since.
    first_change: f64,
    n_changes: usize,
    /// The same for a longer while, with the speed where it began.
    busy: Busy,
    /// For each friction, when the force that presses last changed its side.
    side_changes: Vec<SideChange>,
    progress: Progress,
    /// The largest size of the row of each contact.
    row_tops: Vec<f64>,
    /// Events that set velocities which the constraints do not allow, and when.
    undone: Vec<(f64, usize)>,
    stiffness: Option<Stiffness>,
    rank: usize,
    /// The rank at the start, where the motion starts in a position in which the constraints lose rank.
    singular_start: Option<usize>,
    /// Where steps of one length began, and how many have been taken since.
    fixed: (f64, usize),
    outcome: Option<Outcome>,
    /// Where formulas last switched, or the motion started.
    began: f64,
    /// A contradiction that a step has met, while it is being located.
    ahead: Option<Ahead>,
    /// The least pivot of the rows at the end of the step; none where they have been decomposed there.
    pivot: Option<f64>,
    spare: Vec<f64>,
}

/// A step shorter than this part of the time or of the run counts as no step.
const SHORTEST: f64 = 1e-13;

/// The part of the tolerance that one step may spend: errors of many steps add up.
const SHARE: f64 = 0.08;

/// Noise that may be accepted where a singular position is crossed, in shares of a step; above it rounding would decide the
/// branch.
const MOST_NOISE: f64 = 1000.0 / SHARE;

impl<'d, D: Dynamics + ?Sized> Motion<'d, D> {
    /// Stands at the start, which must lie on the constraints.
    pub fn new(dynamics: &'d mut D, start: &State, plan: &Plan, settings: &Settings) -> Result<Self, MotionError> {
        let flow = Flow::new(dynamics, plan.route, plan.drift, settings);
        let size = flow.n_values();
        let method = match plan.method {
            // above this the lower order takes fewer evaluations
            Method::Auto if plan.tolerance >= 1e-4 => Method::Order5,
            Method::Auto => Method::Order8,
            other => other,
        };
        let units: Vec<Option<usize>> = (0..flow.n).map(|i| flow.dynamics.unit(i)).collect();
        let mut y = vec![0.0; size];
        y[..flow.n].copy_from_slice(&start.q);
        y[flow.n..2 * flow.n].copy_from_slice(&start.qdot);
        let mut motion = Motion {
            stepper: Stepper::Explicit(RungeKutta::new(&ORDER_8, size)),
            crossing: Crossing::default(),
            watch: Watch::new(flow.dynamics.n_events(), 2 * flow.n_bounded(), flow.n_turns(), plan.end - start.t),
            t0: start.t,
            t: start.t,
            h: 0.0,
            allowed: vec![plan.tolerance; 2 * flow.n],
            noise: vec![0.0; units.iter().flatten().max().map_or(0, |k| k + 1) + 1],
            idle: vec![0.0; units.len()],
            of_unit: vec![(0.0, 0.0); units.iter().flatten().max().map_or(0, |k| k + 1) + 1],
            fastest: vec![0.0; units.iter().flatten().max().map_or(0, |k| k + 1) + 1],
            natural_size: flow.dynamics.natural_size(start),
            units,
            step: Step { start: start.t, end: start.t, h: 0.0, n: flow.n, y: y.clone(), F: Vec::new() },
            has_dense: true,
            last_error: 1.0,
            grows: true,
            goes_on: false,
            pending: None,
            first_switch: start.t,
            n_switches: 0,
            corner: None,
            restarted: false,
            n_stiff: 0,
            n_not_stiff: 0,
            time_constant: 0.0,
            explicit_step: 0.0,
            cause: None,
            counts: Counts::default(),
            passages: Vec::new(),
            events: Vec::new(),
            mode_changes: Vec::new(),
            sides: vec![0; flow.n_bounded()],
            saturations: Vec::new(),
            longest: 0.0,
            usual: vec![0.0; flow.n],
            shared: Vec::new(),
            undetermined: Vec::new(),
            n_unchecked: 0,
            tamed: Vec::new(),
            first_change: start.t,
            n_changes: 0,
            busy: Busy::default(),
            side_changes: vec![SideChange::default(); flow.modes.frictions.len()],
            progress: Progress::new(start),
            row_tops: vec![0.0; flow.modes.contacts.len()],
            undone: Vec::new(),
            stiffness: None,
            rank: 0,
            singular_start: None,
            fixed: (start.t, 0),
            outcome: None,
            began: start.t,
            ahead: None,
            pivot: None,
            spare: vec![0.0; size],
            y,
            flow,
            plan: plan.clone(),
            method,
        };
        motion.choose_solver();
        motion.begin()?;
        motion.begin_contact()?;
        motion.note_bounds();
        motion.use_method(method)?;
        Ok(motion)
    }

    /// Decides between dense and sparse algebra, once, at the start.
    fn choose_solver(&mut self) {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        if flow.n > flow.settings.sparse_limit {
            flow.all.go_large();
            if flow.factor().is_err() {
                flow.all = Decomposition::new(&flow.settings);
            }
        }
    }

    /// Sizes, rank and scales at the start or after a jump.
    fn begin(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        flow.release();
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        if flow.has_route() {
            flow.factor()?;
        }
        self.measure(true);
        let found = generic_rank(&mut self.flow)?;
        self.flow.factor_levels()?;
        self.rank = found.rank;
        self.flow.hold(found.rank);
        if found.at_rest {
            let rows = (0..self.flow.given.constraint_rhs.len()).collect();
            self.outcome = Some(Outcome::Undetermined { t: self.t, rows });
        }
        self.singular_start = found.singular.then_some(self.flow.all.rank());
        self.flow.place(self.t, &self.y);
        if !found.singular {
            self.flow.project(true)?;
            let mut y = std::mem::take(&mut self.y);
            self.flow.take_state(&mut y);
            self.y = y;
            self.flow.evaluate()?;
            if let Some(error) = self.flow.contradiction().or_else(|| self.flow.unreachable()) {
                return Err(error);
            }
            // velocities that no projection has reached: an event may have taken rows apart
            if self.flow.all.rank() < self.flow.given.constraint_rhs.len()
                && let Some(error) = self.missed()?
            {
                return Err(error);
            }
        }
        if found.singular {
            self.flow.is_explicit = false;
        } else {
            self.flow.specialize();
        }
        self.crossing.reset();
        self.flow.modes.tolerance = self.plan.tolerance;
        self.longest = 0.0;
        self.usual.fill(0.0);
        self.watch.begin(&mut self.flow)
    }

    fn use_method(&mut self, method: Method) -> Result<(), MotionError> {
        self.method = method;
        let size = self.y.len();
        let tableau = if method == Method::Order5 { &ORDER_5 } else { &ORDER_8 };
        self.stepper = match method {
            Method::Stiff => Stepper::Stiff(Box::new(Collocation::new(&mut self.flow)?)),
            Method::Rattle | Method::Rattle4 => Stepper::Fixed(Box::new(Rattle::new(&mut self.flow, method)?)),
            _ => Stepper::Explicit(RungeKutta::new(tableau, size)),
        };
        self.restart()
    }

    /// Evaluates the rate here and chooses a first step.
    fn restart(&mut self) -> Result<(), MotionError> {
        if self.singular_start.is_some() {
            return Ok(());
        }
        let size = self.y.len();
        let mut rate = std::mem::take(&mut self.spare);
        rate.resize(size, 0.0);
        self.flow.rate(self.t, &self.y, false, &mut rate)?;
        self.measure(true);
        self.h = match self.plan.step {
            Some(h) if self.method.is_fixed_step() => h,
            _ => self.first_step(&rate)?.min(self.slips_last()?),
        };
        if self.method.is_fixed_step() {
            // steps of one length that end at the end
            let whole = self.plan.end - self.t;
            self.h = whole / (whole / self.h - 1e-9).ceil().max(1.0);
            self.fixed = (self.t, 0);
        }
        if matches!(self.stepper, Stepper::Explicit(_)) {
            let pivot = self.flow.rate_quickly(self.t, &self.y, &mut rate)?;
            if !pivot.is_some_and(|pivot| self.crossing.is_clear(pivot, self.h)) {
                if pivot.is_some() {
                    self.flow.place(self.t, &self.y);
                    self.flow.evaluate()?;
                }
                self.crossing.look(&mut self.flow, self.h)?;
            }
        }
        match &mut self.stepper {
            Stepper::Explicit(rk) => rk.rate_mut(0).copy_from_slice(&rate),
            Stepper::Stiff(collocation) => collocation.restart(),
            Stepper::Fixed(rattle) => rattle.restart(&mut self.flow, self.t, &self.y)?,
        }
        self.spare = rate;
        Ok(())
    }
}
