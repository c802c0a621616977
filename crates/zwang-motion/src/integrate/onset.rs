//! Contradictions met on the way: where exactly they begin.

use super::*;
use crate::unilateral::modes::Grip;
use crate::unilateral::{Slip, length};

/// A contradiction ahead.
pub(super) struct Ahead {
    /// The nearest state at which it was met.
    state: State,
    /// The state at which it was met first, further on.
    first: State,
    /// What contradicts what at the nearest state.
    error: MotionError,
    /// How often a step has met it.
    n_met: usize,
}

/// Steps that may meet the same contradiction: far more than halvings lead to the shortest step.
const MOST_MET: usize = 400;

/// What becomes of a step that ends in a contradiction.
#[derive(PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is taken as it is: an event right at its start comes first.
    Taken,
    /// A shorter one is tried.
    Shorter,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Whether a step that ends in a contradiction is taken, tried again, or the last.
    ///
    /// The contradiction may lie beyond an event, which would change the constraints; then the step has to end there. It may
    /// come from a step that was too long; then a shorter one does not meet it. If it is real, steps are halved until it is known
    /// to rounding when it begins.
    pub(super) fn meet_contradiction(&mut self, choice: Choice, error: MotionError) -> Result<Verdict, Outcome> {
        let met = self.flow.instant.state.clone();
        let resolution = self.resolution();
        if !self.watch.is_empty() {
            // what cannot be evaluated beyond the contradiction tells of no event
            let dense = self.make_dense();
            let event = dense.and_then(|()| self.watch.first(&mut self.flow, &self.step)).unwrap_or(None);
            if let Some(event) = event {
                let until = event.t - self.t;
                if until <= 2.0 * resolution || self.method.is_fixed_step() {
                    return Ok(Verdict::Taken);
                }
                return Ok(self.try_shorter(until - resolution));
            }
        }
        if !self.method.is_fixed_step() && self.drag_off(&met, false)? {
            return Ok(Verdict::Shorter);
        }
        let ahead = match self.ahead.take() {
            Some(ahead) => Ahead { state: met, error, n_met: ahead.n_met + 1, ..ahead },
            None => Ahead { first: met.clone(), state: met, error, n_met: 1 },
        };
        let is_last = choice.h <= resolution || ahead.n_met > MOST_MET;
        // where a singular position is near, or steps have one length, the length is not free
        if is_last || choice.guarded || choice.crossing.is_some() || self.method.is_fixed_step() {
            let Ahead { state, first, error, .. } = ahead;
            if !self.method.is_fixed_step() && self.drag_off(&first, true).unwrap_or(false) {
                return Ok(Verdict::Shorter);
            }
            let t = self.onset(state.t);
            return Err(Outcome::Contradiction { error, t, state: Box::new(state), later: Box::new(first) });
        }
        self.ahead = Some(ahead);
        Ok(self.try_shorter(0.5 * choice.h))
    }

    /// Lets go here what sticks and what constraints drag off it ahead, if that is so; or one of several that they drag `together`.
    ///
    /// A drive may set out with no velocity and no acceleration; then sticking agrees with it where it begins, and nowhere after.
    fn drag_off(&mut self, ahead: &State, together: bool) -> Result<bool, Outcome> {
        if !self.flow.modes.sticks() {
            return Ok(false);
        }
        let dragged = self.dragged(ahead, together).unwrap_or_default();
        if dragged.iter().all(Option::is_none) {
            return self.begin().map(|()| false).map_err(|error| self.failed(error));
        }
        (self.flow.modes.dragged, self.flow.modes.together, self.ahead) = (dragged, together, None);
        let before = self.mode();
        let settled = self.settle(before, &[]);
        self.flow.modes.dragged.fill(None);
        settled?;
        self.note_bounds();
        self.restart().map_err(Outcome::Failed)?;
        Ok(true)
    }

    /// Where constraints and contacts drag each friction that sticks, one by one or together, at a state ahead, if they do. The motion has to
    /// begin again after that.
    fn dragged(&mut self, ahead: &State, together: bool) -> Result<Vec<Option<Slip>>, MotionError> {
        let flow = &mut self.flow;
        let (modes, here) = (flow.modes.clone(), flow.instant.state.clone());
        let sticks = |k: &usize| modes.grips[*k] == Grip::Sticks;
        flow.instant.state.clone_from(ahead);
        flow.modes.open_all();
        flow.modes.closed.clone_from(&modes.closed);
        flow.modes.switch();
        flow.release();
        let mut dragged = vec![None; modes.frictions.len()];
        let done = flow.evaluate().and_then(|()| flow.project(true)).and_then(|_| {
            flow.evaluate()?;
            for k in (0..dragged.len()).filter(sticks) {
                let slip = if together { flow.slip(k)? } else { flow.held_slip(k)? };
                if length(&slip) > flow.rate_noise(&flow.modes.frictions[k].slip) {
                    dragged[k] = Some(slip);
                }
            }
            flow.meets_all_rows()
        });
        (flow.modes, flow.instant.state) = (modes, here);
        done.map(|agree| if agree { dragged } else { Vec::new() })
    }

    /// After a step that was taken: the way to a contradiction ahead is tried once more, from nearer.
    pub(super) fn mind_contradiction(&mut self) {
        let Some(ahead) = &self.ahead else { return };
        let left = ahead.state.t - self.t;
        if left > 0.0 {
            self.h = self.h.min(left);
        } else {
            self.ahead = None;
        }
    }

    fn try_shorter(&mut self, h: f64) -> Verdict {
        self.counts.rejected += 1;
        self.h = h;
        self.has_dense = false;
        self.pivot = None;
        if let Stepper::Stiff(collocation) = &mut self.stepper {
            collocation.restart();
        }
        Verdict::Shorter
    }

    /// When a contradiction begins that is seen at a time.
    ///
    /// Between switches formulas are analytic: rows that agree for a while agree until the next one. So a contradiction begins
    /// where formulas last switched, and is seen as soon as it has grown beyond rounding.
    fn onset(&self, seen: f64) -> f64 {
        /// A contradiction that takes a larger part of the run to be seen is told where it is seen.
        const SOON: f64 = 1e-3;
        if seen - self.began <= SOON * (self.plan.end - self.t0) { self.began } else { seen }
    }

    /// How well times are told: a few digits above their rounding.
    fn resolution(&self) -> f64 {
        const TOLD: f64 = 1e-12;
        TOLD * self.t.abs().max(self.plan.end - self.t0)
    }

    /// Why the motion ends: a contradiction is told with its state.
    pub(super) fn failed(&self, error: MotionError) -> Outcome {
        match error {
            MotionError::Contradiction { .. } => {
                let state = Box::new(State { t: self.t, q: self.y[..self.flow.n].to_vec(), qdot: self.velocities() });
                Outcome::Contradiction { error, t: self.t, later: state.clone(), state }
            }
            other => Outcome::Failed(other),
        }
    }

    fn velocities(&self) -> Vec<f64> {
        self.y[self.flow.n..2 * self.flow.n].to_vec()
    }
}
