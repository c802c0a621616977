//! Motion along the constraints.

mod attempt;
mod bernstein;
mod contradiction;
mod events;
mod jump;
mod log;
mod monitor;
mod observe;
mod outcome;
mod point;
mod resolution;
mod saturation;
mod scales;
mod sign;
mod step;
mod step_size;

use crate::{
    Dynamics, Method, MotionError, Settings, State,
    acceleration::decomposition::Decomposition,
    contact::{MotionPoint, PreviousMode, Resolver},
    flow::Flow,
    limits,
    methods::Integrator,
    singular::{Singular, StepPlan, first_step, generic_rank},
    smooth::Smooth,
    tolerance::{self, RunWindow, SHORTEST},
};
use attempt::Examination;
use contradiction::ContradictionSearch;
pub use events::SignChange;
use events::{EventFinder, LocatedEvents};
use log::EventLog;
use monitor::MotionMonitor;
pub use observe::ForceParts;
pub use outcome::{Counts, IntegrationOptions, Outcome, RoundingLimit, Solver, Stiffness};
use point::Point;
use resolution::Resolution;
pub use saturation::Saturation;
use saturation::SaturationLog;
use scales::{STEP_SHARE, Scales};
use step::LastStep;
use step_size::StepSize;

/// Noise that may be accepted where a singular position is crossed, in shares of a step; above it rounding would decide the
/// branch.
const MOST_NOISE: f64 = 1000.0 / STEP_SHARE;

/// The fastest rate of change relative to the sizes of the coordinates.
fn fastest_rate<D: Dynamics + ?Sized>(smooth: &Smooth<D>) -> f64 {
    smooth.v_size.iter().zip(&smooth.q_size).fold(0.0, |top: f64, (v, q)| top.max(v / q))
}

/// A motion in progress.
///
/// ```text
/// let mut motion = Motion::new(&mut system, &start, &plan, &settings)?;
/// while motion.advance() {
///     let instant = motion.at(motion.t())?;
/// }
/// ```
pub struct Motion<'d, D: Dynamics + ?Sized> {
    flow: Flow<'d, D>,
    options: IntegrationOptions,
    integrator: Integrator,
    point: Point,
    step: LastStep,
    step_size: StepSize,
    scales: Scales,
    singular: Singular,
    resolution: Resolution,
    events: EventFinder,
    /// Events at the end of the last step, which are applied when the motion continues.
    pending: Option<LocatedEvents>,
    monitor: MotionMonitor,
    contradiction: ContradictionSearch,
    saturation: SaturationLog,
    log: EventLog,
    counts: Counts,
    outcome: Option<Outcome>,
    scratch: Vec<f64>,
}

impl<'d, D: Dynamics + ?Sized> Motion<'d, D> {
    /// Stands at the start, which must lie on the constraints.
    pub fn new(
        dynamics: &'d mut D,
        start: &State,
        plan: &IntegrationOptions,
        settings: &Settings,
    ) -> Result<Self, MotionError> {
        let window = RunWindow { start: start.t, end: plan.end, tolerance: plan.tolerance };
        let mut flow = Flow::new(dynamics, plan.route, plan.drift, window, settings);
        let method = match plan.method {
            // above this the lower order takes fewer evaluations
            Method::Auto if plan.tolerance >= tolerance::COARSE => Method::Order5,
            Method::Auto => Method::Order8,
            other => other,
        };
        let n_events =
            flow.smooth.dynamics.events().map_or((0, 0), |events| (events.n_conditions(), events.n_events()));
        let resolution = Resolution::new(&mut *flow.smooth.dynamics, start);
        let smooth = &flow.smooth;
        let point = Point::new(start, smooth.n_values());
        let mut motion = Motion {
            step: LastStep::new(start.t, smooth.n, &point.y),
            step_size: StepSize::new(start.t),
            scales: Scales::new(smooth, start, plan.tolerance),
            singular: Singular::default(),
            resolution,
            events: EventFinder::new(n_events, 2 * smooth.n_bounded(), flow.n_guards(), window),
            pending: None,
            monitor: MotionMonitor::new(&point),
            contradiction: ContradictionSearch::new(start.t),
            saturation: SaturationLog::new(smooth.n_bounded()),
            log: EventLog::new(start.t),
            counts: Counts::default(),
            outcome: None,
            scratch: vec![0.0; point.y.len()],
            // the method itself is prepared once contacts and ranks are known
            integrator: Integrator::new(&mut flow, Method::Order8)?,
            options: plan.clone(),
            point,
            flow,
        };
        motion.choose_solver();
        motion.restart()?;
        motion.start_contact(method)?;
        motion.update_saturation();
        motion.use_method(method)?;
        Ok(motion)
    }

    /// Takes one step; false once the motion has ended.
    pub fn advance(&mut self) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        match self.step() {
            Ok(()) => true,
            Err(outcome) => {
                self.outcome = Some(outcome);
                false
            }
        }
    }

    fn step(&mut self) -> Result<(), Outcome> {
        // a jump may make further conditions true, at the same instant
        while let Some(events) = self.pending.take().or_else(|| self.events.take_triggered(self.point.t)) {
            self.jump(events)?;
        }
        if self.is_over() {
            return Err(self.finish());
        }
        match self.singular.start() {
            Some(_) => self.leave_singular_start(),
            None => self.take_step(),
        }
    }

    /// Tries steps until one is accepted.
    fn take_step(&mut self) -> Result<(), Outcome> {
        self.prepare_step()?;
        for attempt in 0..=limits::STEP_ATTEMPTS {
            let plan = self.plan_step(attempt == 0);
            if plan.ends {
                return Err(self.not_unique());
            }
            let shortest = 8.0 * f64::EPSILON * self.point.t.abs();
            if !(plan.h > shortest) {
                break;
            }
            if self.resolve_ahead(plan)? {
                continue;
            }
            if self.try_step(plan)? {
                match self.examine(plan)? {
                    Examination::Accept => {
                        self.commit(plan);
                        return self.after_step();
                    }
                    Examination::Retry => {}
                    Examination::Restart => return self.take_step(),
                }
            }
            // a trial step may show that the motion is not unique
            if let Some(outcome) = self.outcome.take() {
                return Err(outcome);
            }
        }
        self.step_over_switch()
    }

    /// Tries a step; `true` if its error is allowed and it ends on the constraints. If not, the next step to try is shorter.
    fn try_step(&mut self, plan: StepPlan) -> Result<bool, Outcome> {
        match self.attempt(plan) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(_) if self.integrator.is_fixed_step() => return Err(Outcome::StepTooLong { h: plan.h }),
            Err(cause) => self.step_size.failed(plan.h, cause),
        }
        self.counts.rejected += 1;
        Ok(false)
    }

    /// What a step starts with: directions of slips, and the rate at the end of the last step.
    fn prepare_step(&mut self) -> Result<(), MotionError> {
        self.step_size.clear_cause();
        if let Some(mut system) = self.flow.contact_system() {
            system.update_slip_directions(self.point.t, &self.point.y)?;
        }
        if let (true, Integrator::RungeKutta(rk)) = (self.step.take_reuse_of_rate(), &mut self.integrator) {
            rk.reuse_end_rate();
        }
        Ok(())
    }

    /// Stiffness, algebra, events, contact, contradictions and progress after an accepted step.
    fn after_step(&mut self) -> Result<(), Outcome> {
        self.check_stiffness()?;
        self.check_solver()?;
        self.finish_step()?;
        self.limit_step_to_contradiction();
        let (window, smooth) = (self.window(), &self.flow.smooth);
        self.monitor.check_progress(&self.point, (&smooth.v_size, || fastest_rate(smooth)), window)?;
        self.check_rounding().map_err(Outcome::Failed)
    }

    /// The fastest rate of change relative to the sizes of the coordinates.
    fn fastest_rate(&self) -> f64 {
        fastest_rate(&self.flow.smooth)
    }

    /// `true` if what is left of the run does not count as a step.
    fn is_over(&self) -> bool {
        let window = self.window();
        self.point.t >= window.end - window.instant(window.end)
    }

    /// The outcome at the end of the run; contacts that would close there, but for rounding, do.
    fn finish(&mut self) -> Outcome {
        self.resolve_at_end().err().unwrap_or(Outcome::End)
    }

    /// The outcome if the constraints do not determine the motion.
    fn not_unique(&self) -> Outcome {
        let rows = (0..self.flow.smooth.given.constraint_rhs.len()).collect();
        Outcome::MotionNotUnique { t: self.point.t, rows }
    }

    /// The time span of the run and its tolerance.
    fn window(&self) -> RunWindow {
        RunWindow { start: self.point.start, end: self.options.end, tolerance: self.options.tolerance }
    }

    /// Takes the first step out of a position in which the constraints lose rank.
    fn leave_singular_start(&mut self) -> Result<(), Outcome> {
        let (t, y, longest) = (self.point.t, &self.point.y, self.options.end - self.point.t);
        let n_rejected = &mut self.counts.rejected;
        let found = first_step(&mut self.flow, (t, y), &self.scales.allowed, longest, MOST_NOISE, n_rejected);
        let Some(mut first) = found? else { return Err(self.not_unique()) };
        self.counts.noise = STEP_SHARE * first.error;
        self.singular.leave_start(t, self.flow.smooth.given.constraint_rhs.len());
        self.step.set_by(&mut first.radau, t, first.h, &self.point.y);
        self.counts.steps += 1;
        self.point.move_to(t + first.h, &first.radau.end);
        self.choose_first_step().map_err(Outcome::Failed)
    }

    /// Contact at the point reached, if there is contact.
    fn resolver(&mut self) -> Option<Resolver<'_, 'd, D>> {
        let Flow { smooth, contact } = &mut self.flow;
        let point = MotionPoint {
            t: self.point.t,
            y: self.point.y_mut(),
            rank: self.singular.rank(),
            is_first: self.counts.steps == 0,
            units: &self.scales.units,
            rounding_acceleration: &self.scales.rounding_acceleration,
        };
        contact.as_mut().map(|contact| contact.resolver(smooth, point))
    }

    /// Finds the mode at the start, and impacts there.
    fn start_contact(&mut self, method: Method) -> Result<(), MotionError> {
        let Some(contact) = &self.flow.contact else { return Ok(()) };
        if let (true, Some(row)) = (method.is_fixed_step(), contact.first_row()) {
            return Err(MotionError::NotHolonomic { row });
        }
        self.flow.smooth.wants_lambda = true;
        let before = self.resolver().map(|resolver| resolver.previous_mode());
        match self.resolve(before, &[]) {
            Err(Outcome::Failed(error) | Outcome::Contradiction { error, .. }) => Err(error),
            Err(outcome) => {
                self.outcome = Some(outcome);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Finds impacts and the mode that follows, and restarts in it; nothing without contact. `triggered` are the guards that have
    /// reached zero.
    fn resolve(&mut self, before: Option<PreviousMode>, triggered: &[usize]) -> Result<(), Outcome> {
        let (Some(resolver), Some(before)) = (self.resolver(), before) else { return Ok(()) };
        let saved = resolver.save();
        let done = self.resolve_from(before, triggered);
        if let Some(contact) = &mut self.flow.contact {
            self.log.log_impacts(contact.jumps_mut());
        }
        if let (true, Some(mut resolver)) = (done.is_err(), self.resolver()) {
            resolver.restore(saved);
        }
        done
    }

    fn resolve_from(&mut self, before: PreviousMode, triggered: &[usize]) -> Result<(), Outcome> {
        let Some(mut resolver) = self.resolver() else { return Ok(()) };
        let resolution = resolver.resolve(before, triggered)?;
        self.restart().map_err(|error| self.failed(error))?;
        let Some(mut resolver) = self.resolver() else { return Ok(()) };
        resolver.finish(&resolution).map_err(Outcome::Failed)
    }

    /// Closes contacts that would close at the very end of the run, but for rounding.
    fn resolve_at_end(&mut self) -> Result<(), Outcome> {
        let Some(mut resolver) = self.resolver() else { return Ok(()) };
        let closing = resolver.closing_at_end()?;
        let before = resolver.previous_mode();
        if closing.is_empty() { Ok(()) } else { self.resolve(Some(before), &closing) }
    }

    /// Decides between dense and sparse algebra, once, at the start.
    fn choose_solver(&mut self) {
        let smooth = &mut self.flow.smooth;
        smooth.set_state(self.point.t, &self.point.y);
        if smooth.n > smooth.settings.sparse_limit {
            smooth.all.go_large();
            if smooth.factor().is_err() {
                smooth.all = Decomposition::new(&smooth.settings);
            }
        }
    }

    /// Finds rank, scales and signs of the event functions at the start or after a jump.
    fn restart(&mut self) -> Result<(), MotionError> {
        self.flow.release();
        self.flow.smooth.set_state(self.point.t, &self.point.y);
        self.flow.evaluate()?;
        if self.flow.smooth.has_route() {
            self.flow.smooth.factor()?;
        }
        self.update_scales(true);
        let smooth = &mut self.flow.smooth;
        let found = generic_rank(smooth)?;
        smooth.factor_levels()?;
        smooth.freeze_rank(found.rank);
        self.singular.set_rank(&found, smooth.all.rank());
        if found.at_rest {
            self.outcome = Some(self.not_unique());
        }
        self.flow.smooth.set_state(self.point.t, &self.point.y);
        if found.singular {
            self.flow.smooth.leave_explicit();
        } else {
            self.project_start()?;
            self.flow.specialize();
        }
        self.singular.reset();
        self.monitor.restart();
        self.events.restart(&mut self.flow)
    }

    /// Projects the point where the motion restarts onto the constraints, which must agree there.
    fn project_start(&mut self) -> Result<(), MotionError> {
        self.flow.smooth.project(true)?;
        self.point.read_state(&self.flow.smooth);
        self.flow.evaluate()?;
        let smooth = &mut self.flow.smooth;
        if let Some(error) = smooth.contradiction().or_else(|| smooth.unreachable()) {
            return Err(error);
        }
        // velocities that no projection has reached: an event may have taken rows apart
        if smooth.all.rank() < smooth.given.constraint_rhs.len()
            && let Some(error) = self.violated_projection()?
        {
            return Err(error);
        }
        Ok(())
    }

    fn use_method(&mut self, method: Method) -> Result<(), MotionError> {
        self.integrator = Integrator::new(&mut self.flow, method)?;
        self.choose_first_step()
    }

    /// Evaluates the rate at the point reached and chooses a first step.
    fn choose_first_step(&mut self) -> Result<(), MotionError> {
        if self.singular.start().is_some() {
            return Ok(());
        }
        let mut rate = std::mem::take(&mut self.scratch);
        rate.resize(self.point.y.len(), 0.0);
        self.flow.rate(self.point.t, &self.point.y, false, &mut rate)?;
        self.update_scales(true);
        let is_fixed = self.integrator.is_fixed_step();
        let h = match self.options.step {
            Some(h) if is_fixed => h,
            _ => self.first_step(&rate)?.min(self.slip_duration()?),
        };
        self.step_size.set(h);
        let (t, y) = (self.point.t, &self.point.y);
        if is_fixed {
            self.step_size.fix(t, self.options.end - t);
        }
        if self.integrator.runge_kutta().is_some() {
            let pivot = self.flow.rate_quickly(t, y, &mut rate)?;
            let h = self.step_size.h;
            if !pivot.is_some_and(|pivot| self.singular.is_clear(pivot, h)) {
                if pivot.is_some() {
                    self.flow.smooth.set_state(t, y);
                    self.flow.evaluate()?;
                }
                self.singular.look(&mut self.flow.smooth, h)?;
            }
        }
        self.integrator.restart(&mut self.flow, (t, y), &rate)?;
        self.scratch = rate;
        Ok(())
    }

    /// The time in which slips change by as much as they are.
    fn slip_duration(&mut self) -> Result<f64, MotionError> {
        match self.flow.contact_system() {
            Some(mut system) => system.slip_duration(self.point.t, &self.point.y),
            None => Ok(f64::INFINITY),
        }
    }

    /// Updates the scales from the current state of the flow, from zero at the start of a run; `restarts` if the motion does.
    fn update_scales(&mut self, restarts: bool) {
        let window = self.window();
        if self.counts.steps == 0 && self.point.t == window.start {
            self.scales.reset(&mut self.flow.smooth, window);
        }
        self.scales.update(&mut self.flow.smooth, window, restarts);
    }

    /// Compares the bounds of forces that act now with those that did.
    fn update_saturation(&mut self) {
        let window = self.window();
        // a bound that acts from the beginning acts from the start
        let is_start = self.point.t - window.start <= SHORTEST * window.length();
        let t = if is_start { window.start } else { self.point.t };
        self.saturation.update(t, &self.events);
    }
}
