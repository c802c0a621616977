//! Slow slips in space: their directions turn faster than steps can follow, and need not be followed.

use super::choices::excess;
use super::contact::Before;
use super::*;
use crate::factor::dot;
use crate::unilateral::length;
use crate::unilateral::modes::Grip;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Says which slips in space follow their acceleration, and how fast they may be; and how fast slips that set out go against
    /// their direction yet.
    ///
    /// A slip s turns towards the direction in which it is pulled at the rate a/|s|, where a is what friction alone does to it.
    /// While that is fast beside the run, of length T, it lags behind by |s|ω/a, if the pull turns with ω, and leaving that out
    /// moves the velocity by |s|²ω/a: less than the tolerance where |s| < a T √tolerance, with some room.
    pub(super) fn mind_slow(&mut self, before: &Before) -> Result<(), MotionError> {
        const ROOM: f64 = 1.0 / 30.0;
        let part = ROOM * self.plan.tolerance.sqrt() * (self.plan.end - self.t0);
        let flow = &mut self.flow;
        for k in 0..flow.modes.frictions.len() {
            let Grip::Slides(sense) = flow.modes.grips[k] else { continue };
            let in_space = flow.modes.slides_in_space(k);
            let direction = if in_space { flow.modes.directions[k] } else { [sense, 0.0, 0.0] };
            let along = dot(&flow.slip(k)?, &direction);
            let sets_out = flow.modes.sets_out[k];
            flow.modes.behind[k] = if sets_out { f64::max(-along, 0.0) } else { 0.0 };
            if !in_space {
                continue;
            }
            let force = friction_force(flow, k);
            let slowest = f64::max(part * force * flow.compliance(k)?, flow.tolerated_slip(k));
            flow.modes.slowest[k] = slowest;
            flow.modes.slow[k] = if sets_out { slowest } else { 0.0 };
        }
        let goes_on = |&k: &usize| flow.follows_slip(k) && before.slow[k] > 0.0;
        let slow: Vec<(usize, f64)> = (0..before.slow.len()).filter(goes_on).map(|k| (k, before.slow[k])).collect();
        flow.follow(&slow).map(|_| ())
    }

    /// Slips in space are watched from where they go now: where one stops, or turns by more than a right angle, its mode ends.
    pub(super) fn mind_directions(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        if flow.modes.slow.iter().any(|slow| *slow > 0.0) {
            flow.evaluate()?;
            flow.modes.bases.clone_from(&flow.modes.directions);
        }
        for k in 0..flow.modes.frictions.len() {
            if flow.follows_slip(k)
                && let Some(d) = flow.slip_direction(k)?
            {
                flow.modes.directions[k] = d;
            }
        }
        Ok(())
    }

    /// Whether a slip that has just set out is faster than may be at the end of a step, where it follows its acceleration.
    pub(super) fn outruns(&mut self, t: f64) -> Result<bool, MotionError> {
        /// Within one step it may become faster by this factor.
        const FAR: f64 = 4.0;
        Ok(self.fast_slips(t, FAR, true)?.is_some())
    }

    /// Slips that are fast enough no longer follow their acceleration, and those that have become slow and go where it leads begin
    /// to; the motion starts afresh then.
    pub(super) fn mind_pace_of_slips(&mut self) -> Result<(), MotionError> {
        let fast = self.fast_slips(self.t, 1.0, false)?;
        if let Some(k) = fast {
            self.make_dense()?;
            self.flow.modes.slow[k] = 0.0;
        } else if !self.follow_fading()? {
            return Ok(());
        }
        self.restart()?;
        self.restarted = true;
        Ok(())
    }

    /// How long slips in space last as they are: what changes them faster turns them, and a step must see that.
    pub(super) fn slips_last(&mut self) -> Result<f64, MotionError> {
        let mut shortest = f64::INFINITY;
        let n = self.flow.modes.frictions.len();
        if !(0..n).any(|k| self.flow.follows_slip(k)) {
            return Ok(shortest);
        }
        self.flow.place(self.t, &self.y);
        self.flow.evaluate()?;
        for k in 0..n {
            if !self.flow.follows_slip(k) {
                continue;
            }
            let change = length(&self.flow.modes.frictions[k].slips(|row| excess(&self.flow, row).0));
            let speed = length(&self.flow.slip(k)?);
            if speed > self.flow.tolerated_slip(k) {
                shortest = shortest.min(speed / change);
            }
        }
        Ok(shortest)
    }

    /// Lets slips in space that have become slow follow their acceleration, if they do. Their directions turn ever faster as they
    /// end, which no steps can follow to the end, and need not where they have turned already.
    fn follow_fading(&mut self) -> Result<bool, MotionError> {
        /// Between the two bounds a slip does as it did.
        const APART: f64 = 2.0;
        self.flow.place(self.t, &self.y);
        let mut slow = Vec::new();
        for k in 0..self.flow.modes.frictions.len() {
            let slowest = self.flow.modes.slowest[k];
            if self.flow.follows_slip(k) && APART * length(&self.flow.slip(k)?) < slowest {
                slow.push((k, slowest));
            }
        }
        if slow.is_empty() {
            return Ok(false);
        }
        self.make_dense()?;
        self.flow.place(self.t, &self.y);
        self.flow.follow(&slow)
    }

    /// A slip that is slow by its mode, but faster than so many times its bound.
    fn fast_slips(&mut self, t: f64, factor: f64, is_tried: bool) -> Result<Option<usize>, MotionError> {
        if self.flow.modes.slow.iter().all(|slow| *slow == 0.0) {
            return Ok(None);
        }
        self.flow.place(t, if is_tried { self.stepper.end() } else { &self.y });
        for k in 0..self.flow.modes.slow.len() {
            let slow = self.flow.modes.slow[k];
            if slow > 0.0 && length(&self.flow.slip(k)?) > factor * slow {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }
}

/// The force of friction k.
fn friction_force<D: Dynamics + ?Sized>(flow: &Flow<D>, k: usize) -> f64 {
    length(&flow.modes.frictions[k].slips(|row| flow.instant.lambda[row]))
}
