//! Moving along the constraints: steps, their sizes, events, and why the motion ended.

mod blow;
mod contact;
mod crossing;
mod event;
mod friction;
mod impact;
mod jump;
mod look;
mod onset;
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
mod turns;
mod watch;

use crate::{
    Drift, Dynamics, Instant, Method, MotionError, Reaction, RouteName, Settings, State,
    acceleration::decomposition::Decomposition,
    flow::Flow,
    unilateral::{ModeChange, Tamed},
};
use contact::Busy;
pub use crossing::Passage;
use crossing::{Choice, Crossing, generic_rank};
pub use event::Event;
use event::{Found, Watch};
pub use friction::{Inequality, TriedMode};
pub use look::ForceParts;
use onset::{Ahead, Verdict};
use rattle::Rattle;
use runge_kutta::RungeKutta;
pub use saturation::Saturation;
pub use step::Step;
use stiff::Collocation;
pub use tableau::{ORDER_5, ORDER_8, Tableau};
use watch::Progress;

/// What is wished of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// When it ends.
    pub end: f64,
    /// Error allowed per step, relative to the sizes of q and q̇.
    pub tolerance: f64,
    /// The method.
    pub method: Method,
    /// The step of a fixed-step method, and the longest one of the others.
    pub step: Option<f64>,
    /// What keeps the system on the constraints.
    pub drift: Drift,
    /// The route to the acceleration.
    pub route: RouteName,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            end: 10.0,
            tolerance: 1e-9,
            method: Method::Auto,
            step: None,
            drift: Drift::Project,
            route: RouteName::GeneralizedInverse,
        }
    }
}

/// Why a motion ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The end was reached.
    End,
    /// From here on no motion satisfies the constraints.
    Contradiction {
        /// What contradicts what.
        error: MotionError,
        /// When that begins: where formulas last switched, if they do so right after it.
        t: f64,
        /// The first state at which they visibly do.
        state: Box<State>,
        /// A state further on at which they do so clearly, as far as the motion can be followed in spite of them.
        later: Box<State>,
    },
    /// The constraints lose rank ahead and do not say which way the motion goes on.
    Undetermined {
        /// When.
        t: f64,
        /// The rows that lose rank.
        rows: Vec<usize>,
    },
    /// The step has become too small.
    StepTooSmall {
        /// How small.
        h: f64,
        /// The coordinate that changes fastest, relative to its size.
        coordinate: usize,
        /// The rows that are about to become dependent, if some are.
        rows: Vec<usize>,
        /// What went wrong at the last attempt, if something did.
        cause: Option<MotionError>,
    },
    /// Driven coordinates lose their hold on what is asked: the forces grow without bound.
    HoldLost {
        /// The asked row they hold least.
        row: usize,
    },
    /// The implicit equations of a fixed-step method have no solution near: its step is too long.
    StepTooLong {
        /// The step.
        h: f64,
    },
    /// A formula switches back and forth without end: the motion slides along the place where it switches.
    Sliding {
        /// Which of the watched quantities.
        event: usize,
    },
    /// No mode, or more than one, of contacts and frictions satisfies Coulomb's law here.
    Ambiguous {
        /// When.
        t: f64,
        /// The rows that press.
        rows: Vec<usize>,
        /// How many different motions were found.
        n_modes: usize,
        /// Those that were tried first: two that fit, or some of which none does.
        tried: Vec<TriedMode>,
    },
    /// There are too many modes to try them all, and none was met that satisfies Coulomb's law.
    TooManyModes {
        /// When.
        t: f64,
        /// The rows that press.
        rows: Vec<usize>,
    },
    /// Very many steps have hardly moved the time on, and velocities go back and forth: a law without end, as that of a sign.
    Stalled {
        /// The coordinate whose velocity does.
        coordinate: usize,
    },
    /// Contacts open and close without end.
    Restless {
        /// When.
        t: f64,
    },
    /// An event changed a parameter, or a formula switched, so that a constraint is no longer met.
    JumpedOff {
        /// The event.
        event: usize,
        /// The row.
        row: usize,
        /// Whether the velocities would have to jump, else the positions.
        is_velocity: bool,
    },
    /// The equations cannot be evaluated or solved.
    Failed(MotionError),
}

/// What the run has cost so far, and what was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of M, Q, A, b.
    pub evaluations: usize,
    /// Decompositions of A.
    pub factorizations: usize,
    /// Decompositions made for the projection alone.
    pub projections: usize,
    /// Largest change a projection made to q, relative to its size.
    pub largest_correction: f64,
    /// Steps with their stages on the constraints.
    pub guarded: usize,
    /// Largest noise accepted near a singular position, relative to the tolerance.
    pub noise: f64,
}

/// Stiffness, as met.
#[derive(Clone, Debug, PartialEq)]
pub struct Stiffness {
    /// When it was noticed.
    pub t: f64,
    /// The coordinate that takes most part in the fast mode.
    pub coordinate: usize,
    /// Its time constant.
    pub time_constant: f64,
    /// Whether the stiff method was tried and given up, because it needed shorter steps: the fast motion is really there.
    pub given_up: bool,
}

/// What the accelerations of a motion are found with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Elimination written out for the very system, in an order of pivots fixed beforehand.
    Explicit,
    /// A complete orthogonal decomposition by hand, for few coordinates.
    Small,
    /// The same by faer.
    Dense,
    /// Sparse Cholesky of A M⁻¹Aᵀ.
    Sparse,
    /// The route the user chose.
    Route,
}

impl Solver {
    /// In a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Solver::Explicit => "explicit elimination",
            Solver::Small => "small orthogonal decomposition",
            Solver::Dense => "dense orthogonal decomposition",
            Solver::Sparse => "sparse Cholesky",
            Solver::Route => "the chosen route",
        }
    }
}

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

/// Longest and shortest next step, as multiples of the last.
const GROWTH: (f64, f64) = (0.2, 6.0);

/// What the estimate may miss: the next step is this part of the ideal one.
const SAFETY: f64 = 0.9;

/// The size of velocities fades by this factor in a step: to half in fifty; and never below this part of the largest ever.
const FORGETTING: f64 = 0.986;
const LEAST_MEMORY: f64 = 1e-4;

/// How often the first step out of a singular position is halved.
const MOST_HALVINGS: usize = 12;

/// The part of the tolerance that one step may spend: errors of many steps add up.
const SHARE: f64 = 0.08;

/// A step counts as stiff where neighbouring solutions part at this rate at least, times the step, and this much faster than
/// the solution itself changes.
const STIFF: (f64, f64) = (0.3, 100.0);

/// Attempts at one step: each failure makes it shorter, so that far fewer lead to the shortest.
const MOST_ATTEMPTS: usize = 200;

/// How far off the constraints a step may end, in tolerances, where formulas switch: what it leaves is of the size of its error.
const MOST_MOVED: f64 = 100.0;

/// Noise that may be accepted where a singular position is crossed, in shares of a step; above it rounding would decide the
/// branch.
const MOST_NOISE: f64 = 1000.0 / SHARE;

/// How much the last error counts beside the present one.
const DAMPING: f64 = 0.3;

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

    /// Takes one step; false once the motion has ended.
    pub fn advance(&mut self) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        if let Some(found) = self.pending.take()
            && let Err(outcome) = self.fire(found)
        {
            self.outcome = Some(outcome);
            return false;
        }
        let end = self.plan.end;
        if self.t >= end - SHORTEST * (end - self.t0).max(end.abs()) {
            self.outcome = Some(self.strike_at_end().err().unwrap_or(Outcome::End));
            return false;
        }
        let taken = match self.singular_start.is_some() {
            true => self.leave_singular_start(),
            false => self.take_step(),
        };
        match taken {
            Ok(()) => true,
            Err(outcome) => {
                self.outcome = Some(outcome);
                false
            }
        }
    }

    fn take_step(&mut self) -> Result<(), Outcome> {
        self.cause = None;
        self.mind_directions().map_err(Outcome::Failed)?;
        if let (true, Stepper::Explicit(rk)) = (std::mem::take(&mut self.goes_on), &mut self.stepper) {
            rk.go_on();
        }
        for attempt in 0.. {
            let choice = self.choose(attempt == 0);
            if choice.ends {
                let rows = (0..self.flow.given.constraint_rhs.len()).collect();
                return Err(Outcome::Undetermined { t: self.t, rows });
            }
            let shortest = 8.0 * f64::EPSILON * self.t.abs();
            if !(choice.h > shortest) || attempt > MOST_ATTEMPTS {
                break;
            }
            match self.attempt(choice) {
                Ok(true) => {
                    if self.accept(choice)? {
                        return Ok(());
                    }
                }
                Ok(false) => self.counts.rejected += 1,
                Err(_) if self.method.is_fixed_step() => return Err(Outcome::StepTooLong { h: choice.h }),
                Err(error) => {
                    self.counts.rejected += 1;
                    self.h = 0.25 * choice.h;
                    self.cause = Some(error);
                }
            }
            if let Some(outcome) = self.outcome.take() {
                return Err(outcome);
            }
        }
        match self.hop() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.too_small(self.h)),
            Err(error) => Err(Outcome::Failed(error)),
        }
    }

    /// Length and kind of the next step.
    fn choose(&self, is_first: bool) -> Choice {
        let left = self.plan.end - self.t;
        let h = self.h.min(self.plan.step.unwrap_or(f64::INFINITY));
        let plain = |h: f64| Choice { h, full: h, guarded: false, crossing: None, ends: false };
        let Stepper::Explicit(rk) = &self.stepper else {
            return plain(if self.method.is_fixed_step() { self.h.min(left) } else { shorten(h, left) });
        };
        let choice = self.crossing.choose(self.t, h, rk.tableau.gap, SHARE * self.plan.tolerance, is_first);
        // near a singular position the end is taken from the dense output, never by a short step
        if choice.guarded { choice } else { Choice { h: shorten(choice.h, left), ..choice } }
    }

    fn too_small(&mut self, h: f64) -> Outcome {
        self.flow.place(self.t, &self.y);
        let _ = self.flow.evaluate();
        let instant = &self.flow.instant;
        let pace = |i: usize| {
            let v = instant.state.qdot[i].abs() / self.flow.q_size[i];
            v.max(instant.qddot[i].abs() / self.flow.v_size[i])
        };
        let coordinate = (0..self.flow.n).max_by(|&i, &j| pace(i).total_cmp(&pace(j))).unwrap_or(0);
        if let Some(error @ MotionError::Contradiction { .. }) = self.cause.take_if(|e| is_contradiction(e)) {
            return self.failed(error);
        }
        let rows = if self.flow.all.is_large() { Vec::new() } else { crossing::dying_rows(&self.flow) };
        Outcome::StepTooSmall { h, coordinate, rows, cause: self.cause.take() }
    }

    /// Tries a step; true if its error is allowed and it ends on the constraints. Sets the next step to try.
    fn attempt(&mut self, choice: Choice) -> Result<bool, MotionError> {
        let h = choice.h;
        match &mut self.stepper {
            Stepper::Explicit(_) => self.attempt_explicit(choice),
            Stepper::Stiff(collocation) => {
                let error = collocation.attempt(&mut self.flow, self.t, &self.y, h, &self.allowed)?;
                self.judge(error, h, 1.0, 4)
            }
            Stepper::Fixed(rattle) => {
                rattle.attempt(&mut self.flow, self.t, &self.y, h)?;
                Ok(true)
            }
        }
    }

    fn attempt_explicit(&mut self, choice: Choice) -> Result<bool, MotionError> {
        let Stepper::Explicit(rk) = &mut self.stepper else { return Ok(false) };
        let (h, n_stages) = (choice.h, rk.tableau.n_stages);
        rk.guarded = choice.guarded;
        rk.attempt(&mut self.flow, self.t, &self.y, h)?;
        let order = rk.tableau.order;
        // rounding is amplified in a step that crosses a singular position, and may then exceed the tolerance
        let noise = match choice.crossing {
            Some(_) => self.crossing.noise(h, rk.smallest) / (SHARE * self.plan.tolerance),
            None => 0.0,
        };
        let limit = (3.0 * noise).clamp(1.0, MOST_NOISE);
        let needs_end = rk.tableau.error.iter().any(|&(i, _)| i == n_stages);
        if !needs_end {
            let error = rk.error(h, &self.allowed);
            if !self.judge(error, h, limit, order)? {
                return self.not_determined(noise, error);
            }
        }
        let moved = self.land(choice)?;
        // a step past a switch of a formula may end well off the constraints: it is to end at the switch
        if !self.watch.is_empty() && !choice.guarded && moved > MOST_MOVED * self.plan.tolerance {
            self.h = 0.25 * h;
            return Ok(false);
        }
        if needs_end {
            let Stepper::Explicit(rk) = &mut self.stepper else { return Ok(false) };
            let error = rk.error(h, &self.allowed);
            if !self.judge(error, h, limit, order)? {
                return self.not_determined(noise, error);
            }
        }
        if choice.guarded {
            self.counts.noise = self.counts.noise.max(SHARE * noise);
        }
        Ok(true)
    }

    /// Noise so large that rounding would decide the branch ends the motion.
    fn not_determined(&mut self, noise: f64, error: f64) -> Result<bool, MotionError> {
        if noise > MOST_NOISE && error > 1.0 {
            let rows = (0..self.flow.given.constraint_rhs.len()).collect();
            self.outcome = Some(Outcome::Undetermined { t: self.t, rows });
        }
        Ok(false)
    }

    /// The end of the step on the constraints, and its rate. Returns how far that moved the state, relative to its size.
    fn land(&mut self, choice: Choice) -> Result<f64, MotionError> {
        let Stepper::Explicit(rk) = &mut self.stepper else { return Ok(0.0) };
        let flow = &mut self.flow;
        let t = self.t + choice.h;
        flow.place(t, &rk.end);
        let is_quick = flow.is_explicit && !choice.guarded;
        // the decomposition of the last stage is close enough, unless there is none or a singular position is near
        let has_near = !(flow.is_explicit || choice.guarded || flow.has_route());
        let cheap = if is_quick || has_near { flow.project(false).ok() } else { None };
        let moved = match cheap {
            Some(moved) => moved,
            None => {
                flow.place(t, &rk.end);
                self.counts.projections += 1;
                flow.project(true)?
            }
        };
        self.counts.largest_correction = self.counts.largest_correction.max(moved);
        let moved = flow.velocities_moved(&rk.end).max(moved);
        flow.take_state(&mut rk.end);
        let n_stages = rk.tableau.n_stages;
        self.pivot = None;
        if is_quick {
            let (end, rate) = rk.end_and_rate();
            self.pivot = flow.rate_quickly(t, end, rate)?;
            return Ok(moved);
        }
        flow.evaluate_afresh()?;
        flow.write_rate(rk.rate_mut(n_stages))?;
        Ok(moved)
    }

    /// Makes the attempted step the motion's, after a look at crossings, contradictions, stiffness and events; false if a
    /// shorter one has to be tried.
    fn accept(&mut self, choice: Choice) -> Result<bool, Outcome> {
        let (t, h) = (self.t, choice.h);
        if let Err(error) = self.rows_at_end(t + h) {
            // a gap may have no value there, although nothing moves by it yet
            self.h = 0.25 * h;
            self.cause = Some(error);
            self.counts.rejected += 1;
            return Ok(false);
        }
        if self.outruns(t + h).map_err(Outcome::Failed)? {
            self.h = 0.5 * h;
            self.counts.rejected += 1;
            return Ok(false);
        }
        self.step.start = t;
        self.step.end = t + h;
        self.step.h = h;
        self.step.y.copy_from_slice(&self.y);
        self.has_dense = false;
        if let Some(error) = self.watch_constraints().map_err(Outcome::Failed)?
            && self.meet_contradiction(choice, error)? == Verdict::Shorter
        {
            return Ok(false);
        }
        self.watch_pace(h);
        // an explicit acceleration does all that is asked, with a hold that is not in doubt
        if self.pivot.is_none() || !matches!(self.stepper, Stepper::Explicit(_)) {
            if let Some(error) = self.flow.unreachable() {
                return Err(Outcome::Failed(error));
            }
            if let Some(row) = self.lost_row(h) {
                return Err(Outcome::HoldLost { row });
            }
        }
        if matches!(self.stepper, Stepper::Explicit(_)) && !self.look_for_crossing(choice).map_err(Outcome::Failed)? {
            // the branches do not meet: once more, without crossing
            self.counts.rejected += 1;
            return self.take_step().map(|()| true);
        }
        self.counts.steps += 1;
        self.counts.guarded += usize::from(choice.guarded);
        // a step that only led up to a singular position is followed by a full one
        if choice.guarded && choice.h < choice.full {
            self.h = self.h.max(choice.full);
        }
        self.t = t + h;
        if self.method.is_fixed_step() {
            // counted, so that rounding does not add up
            self.fixed.1 += 1;
            self.t = (self.fixed.0 + self.fixed.1 as f64 * self.h).min(self.plan.end);
            self.step.end = self.t;
        }
        self.y.copy_from_slice(self.stepper.end());
        self.watch_stiffness().map_err(Outcome::Failed)?;
        self.watch_solver().map_err(Outcome::Failed)?;
        self.finish_step().map_err(Outcome::Failed)?;
        self.mind_contradiction();
        self.watch_progress()?;
        Ok(true)
    }

    /// Whether rows that hold only at times can be evaluated at the end of a step.
    fn rows_at_end(&mut self, t: f64) -> Result<(), MotionError> {
        if self.flow.modes.is_empty() {
            return Ok(());
        }
        let here = self.flow.instant.state.clone();
        self.flow.place(t, self.stepper.end());
        let mut gaps = vec![0.0; self.flow.h];
        let state = std::mem::replace(&mut self.flow.instant.state, here);
        let mut given = self.flow.dynamics.allocate();
        self.flow.dynamics.fill(&state, &mut given)?;
        self.flow.dynamics.fill_positions(&state, &mut gaps)
    }

    /// Events in the step, the end of the run inside it, and the way into the next step.
    fn finish_step(&mut self) -> Result<(), MotionError> {
        if self.t > self.plan.end {
            self.cut(self.plan.end)?;
        }
        let jumped = self.find_events()?;
        let switches = self.stiffness.as_ref().is_some_and(|stiffness| !stiffness.given_up)
            && self.plan.method == Method::Auto
            && matches!(self.stepper, Stepper::Explicit(_))
            && self.flow.dynamics.allocate_jacobian().is_some();
        if switches {
            self.make_dense()?;
            self.n_stiff = 0;
            return self.use_method(Method::Stiff);
        }
        if !jumped {
            self.mind_pace_of_slips()?;
        }
        if jumped || std::mem::take(&mut self.restarted) {
            return Ok(());
        }
        self.goes_on = true;
        if !self.method.is_fixed_step() {
            self.h = self.h.min(self.watch.longest_step());
        }
        self.measure_here();
        self.mind_lifting()
    }

    fn measure_here(&mut self) {
        self.flow.place(self.t, &self.y);
        self.measure(false);
    }

    /// Ends the step at an earlier time, from the dense output.
    fn cut(&mut self, t: f64) -> Result<(), MotionError> {
        self.make_dense()?;
        let mut y = std::mem::take(&mut self.spare);
        y.resize(self.y.len(), 0.0);
        self.step.values(t, &mut y);
        self.flow.place(t, &y);
        self.flow.factor()?;
        // at a corner of a constraint the velocities would have to jump, and by how much no formula says
        let most = self.most_off();
        let of_positions = self.flow.row_off(true, most)?.map(|row| (row, false));
        self.corner = of_positions.or(self.flow.row_off(false, most)?.map(|row| (row, true)));
        if self.corner.is_none() {
            self.flow.project(true)?;
        }
        self.flow.take_state(&mut y);
        self.y.copy_from_slice(&y);
        self.spare = y;
        (self.t, self.step.end) = (t, t);
        self.passages.retain(|passage| passage.t <= t);
        Ok(())
    }

    /// How far off the constraints a step may be cut, as a part of the size of a row.
    fn most_off(&self) -> f64 {
        jump::OFF.max(MOST_MOVED * self.plan.tolerance)
    }

    fn make_dense(&mut self) -> Result<(), MotionError> {
        if self.has_dense {
            return Ok(());
        }
        let (t, h) = (self.step.start, self.step.h);
        match &mut self.stepper {
            Stepper::Explicit(rk) => {
                let y = std::mem::take(&mut self.step.y);
                let done = rk.dense(&mut self.flow, t, &y, h, &mut self.step);
                self.step.y = y;
                done?;
            }
            Stepper::Stiff(collocation) => collocation.dense(h, &mut self.step),
            Stepper::Fixed(rattle) => rattle.dense(&mut self.flow, h, &mut self.step)?,
        }
        self.has_dense = true;
        Ok(())
    }
}

fn is_contradiction(error: &MotionError) -> bool {
    matches!(error, MotionError::Contradiction { .. })
}

/// h so that the remaining time is not left with a tiny last step.
fn shorten(h: f64, left: f64) -> f64 {
    if h >= left {
        left
    } else if h > 0.5 * left {
        0.5 * left
    } else {
        h
    }
}
