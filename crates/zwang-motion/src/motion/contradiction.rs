//! Contradictions ahead of a motion, and the instant at which they begin.

use super::{Motion, Outcome};
use crate::{
    Dynamics, MotionError, State, limits,
    methods::Integrator,
    singular::StepPlan,
    tolerance::{self, RunWindow},
};

/// The search for the time at which a contradiction begins.
pub(super) struct ContradictionSearch {
    /// A contradiction that a step has reached, while it is being located.
    ahead: Option<PendingContradiction>,
    /// The time at which formulas last switched, or the motion started.
    last_switch: f64,
}

/// A contradiction ahead.
struct PendingContradiction {
    /// The nearest state at which it was found.
    state: State,
    /// The state at which it was first found, further ahead.
    first: State,
    /// What contradicts what at the nearest state.
    error: MotionError,
    /// The number of steps that have reached it.
    n_met: usize,
}

/// What becomes of a step that ends in a contradiction.
#[derive(PartialEq, Eq)]
pub(super) enum ContradictionVerdict {
    /// It is taken as it is: an event right at its start comes first.
    Taken,
    /// A shorter one is tried.
    Shorter,
}

impl ContradictionSearch {
    pub(super) fn new(start: f64) -> ContradictionSearch {
        ContradictionSearch { ahead: None, last_switch: start }
    }

    /// Formulas switch at t.
    #[inline]
    pub(super) fn note_switch(&mut self, t: f64) {
        self.last_switch = t;
    }

    /// The nearest state of the contradiction ahead, after a step has reached it at a state.
    #[inline]
    fn meet(&mut self, state: State, error: MotionError) -> PendingContradiction {
        match self.ahead.take() {
            Some(ahead) => PendingContradiction { state, error, n_met: ahead.n_met + 1, ..ahead },
            None => PendingContradiction { first: state.clone(), state, error, n_met: 1 },
        }
    }

    /// The contradiction is sought again, from nearer.
    #[inline]
    fn keep(&mut self, ahead: PendingContradiction) {
        self.ahead = Some(ahead);
    }

    #[inline]
    fn forget(&mut self) {
        self.ahead = None;
    }

    /// The time from t to the contradiction ahead; `None` if there is none.
    #[inline]
    pub(super) fn time_left(&mut self, t: f64) -> Option<f64> {
        let left = self.ahead.as_ref()?.state.t - t;
        if left > 0.0 {
            return Some(left);
        }
        self.ahead = None;
        None
    }

    /// When a contradiction begins that is seen at a time.
    ///
    /// Between switches formulas are analytic: rows that agree for a while agree until the next one. So a contradiction begins
    /// where formulas last switched, and is seen as soon as it has grown beyond rounding.
    #[inline]
    fn onset(&self, seen: f64, window: RunWindow) -> f64 {
        if seen - self.last_switch <= tolerance::CONTRADICTION_SOON * window.length() { self.last_switch } else { seen }
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Decides whether a step that ends in a contradiction is taken, tried again, or the last.
    ///
    /// The contradiction may lie beyond an event, which would change the constraints; then the step has to end there. It may
    /// come from a step that was too long; then a shorter one does not reach it. If it is real, steps are halved until it is known
    /// to rounding when it begins.
    pub(super) fn locate_contradiction(
        &mut self,
        plan: StepPlan,
        error: MotionError,
    ) -> Result<ContradictionVerdict, Outcome> {
        let met = self.flow.smooth.instant.state.clone();
        let resolution = self.time_resolution();
        let is_fixed = self.integrator.is_fixed_step();
        if !self.events.is_empty() {
            // what cannot be evaluated beyond the contradiction tells of no event
            let dense = self.make_dense();
            let event = dense.and_then(|()| self.events.first(&mut self.flow, &self.step.dense)).unwrap_or(None);
            if let Some(event) = event {
                let until = event.t - self.point.t;
                if until <= 2.0 * resolution || is_fixed {
                    return Ok(ContradictionVerdict::Taken);
                }
                return Ok(self.try_shorter(until - resolution));
            }
        }
        if !is_fixed && self.release_imposed_slips(&met, false)? {
            return Ok(ContradictionVerdict::Shorter);
        }
        let ahead = self.contradiction.meet(met, error);
        let is_last = plan.h <= resolution || ahead.n_met > limits::CONTRADICTIONS_MET;
        // if a singular position is near, or steps have one length, the length is not free
        if is_last || plan.guarded || plan.crossing.is_some() || is_fixed {
            let PendingContradiction { state, first, error, .. } = ahead;
            if !is_fixed && self.release_imposed_slips(&first, true).unwrap_or(false) {
                return Ok(ContradictionVerdict::Shorter);
            }
            let t = self.contradiction.onset(state.t, self.window());
            return Err(Outcome::Contradiction { error, t, state: Box::new(state), later: Box::new(first) });
        }
        self.contradiction.keep(ahead);
        Ok(self.try_shorter(0.5 * plan.h))
    }

    /// Releases places that stick and on which constraints impose a slip ahead, if there are such; or one of several on which they
    /// impose slips `together`.
    ///
    /// A drive may start with no velocity and no acceleration; sticking then agrees with it at its beginning only.
    fn release_imposed_slips(&mut self, ahead: &State, together: bool) -> Result<bool, Outcome> {
        let Some(mut system) = self.flow.contact_system().filter(|system| system.sticks()) else { return Ok(false) };
        let imposed = system.imposed_slips(ahead, together).unwrap_or_default();
        if imposed.iter().all(Option::is_none) {
            return self.restart().map(|()| false).map_err(|error| self.failed(error));
        }
        system.impose_slips(imposed, together);
        self.contradiction.forget();
        let before = self.resolver().map(|resolver| resolver.previous_mode());
        let resolved = self.resolve(before, &[]);
        if let Some(mut system) = self.flow.contact_system() {
            system.forget_imposed_slips();
        }
        resolved?;
        self.update_saturation();
        self.choose_first_step()?;
        Ok(true)
    }

    /// After a step that was taken: the search for a contradiction ahead is tried once more, from nearer.
    pub(super) fn limit_step_to_contradiction(&mut self) {
        if let Some(left) = self.contradiction.time_left(self.point.t) {
            self.step_size.limit(left);
        }
    }

    fn try_shorter(&mut self, h: f64) -> ContradictionVerdict {
        self.counts.rejected += 1;
        self.step_size.set(h);
        self.step.reject();
        if let Integrator::Radau(radau) = &mut self.integrator {
            radau.restart();
        }
        ContradictionVerdict::Shorter
    }

    /// The resolution of times in messages: 1e-12 of the time or of the run, a few digits above rounding.
    fn time_resolution(&self) -> f64 {
        tolerance::ROUNDING * self.point.t.abs().max(self.window().length())
    }

    /// Why the motion ends: a contradiction is reported with its state.
    pub(super) fn failed(&self, error: MotionError) -> Outcome {
        match error {
            MotionError::Contradiction { .. } => {
                let state = Box::new(self.point.state());
                Outcome::Contradiction { error, t: self.point.t, later: state.clone(), state }
            }
            other => Outcome::Failed(other),
        }
    }
}
