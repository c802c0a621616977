//! Slow slips in space: their directions turn faster than steps can follow, and need not be resolved.

use super::ContactSystem;
use super::candidates::excess;
use super::length;
use super::place::ContactState;
use super::resolve::PreviousMode;
use super::resolve::Resolver;
use crate::factor::dot;
use crate::{Dynamics, MotionError};

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Sets the slips in space that follow their acceleration, and their largest speed; and the lag of slips that have just
    /// started.
    ///
    /// A slip s turns towards its pull at the rate a/|s|, where a is the acceleration by friction alone. While that is fast
    /// compared with the run, of length T, it lags by |s|ω/a, if the pull turns with ω, and neglecting the lag changes the
    /// velocity by |s|²ω/a: less than the tolerance if |s| < a T √tolerance, with a margin.
    pub(super) fn set_slip_regime(&mut self, before: &PreviousMode) -> Result<(), MotionError> {
        const SLIP_ROOM: f64 = 1.0 / 30.0;
        let part = SLIP_ROOM * self.window.tolerance.sqrt() * self.window.length();
        let system = &mut self.system;
        for k in 0..system.mode.frictions.len() {
            let ContactState::Sliding(sense) = system.mode.states[k] else { continue };
            let in_space = system.mode.slides_in_space(k);
            let direction = if in_space { system.mode.directions[k] } else { [sense, 0.0, 0.0] };
            let along = dot(&system.slip(k)?, &direction);
            let slip_onset = system.mode.slip_onset[k];
            system.mode.lag[k] = if slip_onset { f64::max(-along, 0.0) } else { 0.0 };
            if !in_space {
                continue;
            }
            let force = friction_force(system, k);
            let slow_limits = f64::max(part * force * system.compliance(k)?, system.tolerated_slip(k));
            system.mode.slow_limits[k] = slow_limits;
            system.mode.slow[k] = if slip_onset { slow_limits } else { 0.0 };
        }
        let goes_on = |&k: &usize| system.follows_slip(k) && before.slow[k] > 0.0;
        let slow: Vec<(usize, f64)> = (0..before.slow.len()).filter(goes_on).map(|k| (k, before.slow[k])).collect();
        system.follow_acceleration(&slow).map(|_| ())
    }
}

/// A change of slips in space after a step.
pub(crate) enum SlipUpdate {
    /// This slip is too fast to follow its acceleration any longer.
    Fast(usize),
    /// These slips have become slow, and may follow their acceleration up to these speeds.
    Fading(Vec<(usize, f64)>),
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// Updates the directions from which slips in space are watched: if one stops, or turns by more than a right angle, its
    /// mode ends.
    pub(crate) fn update_slip_directions(&mut self, t: f64, y: &[f64]) -> Result<(), MotionError> {
        self.smooth.set_state(t, y);
        if self.mode.slow.iter().any(|slow| *slow > 0.0) {
            self.evaluate()?;
            self.mode.bases.clone_from(&self.mode.directions);
        }
        for k in 0..self.mode.frictions.len() {
            if self.follows_slip(k)
                && let Some(d) = self.slip_direction(k)?
            {
                self.mode.directions[k] = d;
            }
        }
        Ok(())
    }

    /// `true` if a slow slip is too fast at the end (t, y) of a trial step to follow its acceleration.
    pub(super) fn exceeds_slow_limit(&mut self, t: f64, y: &[f64]) -> Result<bool, MotionError> {
        /// Within one step it may become faster by this factor.
        const SLIP_FASTER: f64 = 4.0;
        Ok(self.fast_slip(t, y, SLIP_FASTER)?.is_some())
    }

    /// Finds slips that have become too fast to follow their acceleration, or slow enough to follow it. `None` if nothing
    /// changes.
    pub(crate) fn slip_update(&mut self, t: f64, y: &[f64]) -> Result<Option<SlipUpdate>, MotionError> {
        if let Some(k) = self.fast_slip(t, y, 1.0)? {
            return Ok(Some(SlipUpdate::Fast(k)));
        }
        let fading = self.fading_slips(t, y)?;
        Ok((!fading.is_empty()).then_some(SlipUpdate::Fading(fading)))
    }

    /// Changes the regime of slips; `false` if they stay as they are.
    pub(crate) fn update_slip_regime(&mut self, update: &SlipUpdate, t: f64, y: &[f64]) -> Result<bool, MotionError> {
        match update {
            SlipUpdate::Fast(k) => {
                self.mode.slow[*k] = 0.0;
                Ok(true)
            }
            SlipUpdate::Fading(slips) => {
                self.smooth.set_state(t, y);
                self.follow_acceleration(slips)
            }
        }
    }

    /// The time in which slips in space change by as much as they are: a step must resolve that.
    pub(crate) fn slip_duration(&mut self, t: f64, y: &[f64]) -> Result<f64, MotionError> {
        let mut shortest = f64::INFINITY;
        let n = self.mode.frictions.len();
        if !(0..n).any(|k| self.follows_slip(k)) {
            return Ok(shortest);
        }
        self.smooth.set_state(t, y);
        self.evaluate()?;
        for k in 0..n {
            if !self.follows_slip(k) {
                continue;
            }
            let change = length(&self.mode.frictions[k].slips(|row| excess(self, row).0));
            let speed = length(&self.slip(k)?);
            if speed > self.tolerated_slip(k) {
                shortest = shortest.min(speed / change);
            }
        }
        Ok(shortest)
    }

    /// `true` if a slip in space has changed its speed between two states by more than 1 %. Its direction then turns fast
    /// for a while, and steps grow with it: that does not count as stiffness.
    pub(crate) fn slips_change(&mut self, start: (f64, &[f64]), end: (f64, &[f64])) -> Result<bool, MotionError> {
        const SLIP_CHANGED: f64 = 0.01;
        let mut changes = false;
        for k in 0..self.mode.frictions.len() {
            if !self.mode.slides_in_space(k) {
                continue;
            }
            self.smooth.set_state(start.0, start.1);
            let before = length(&self.slip(k)?);
            self.smooth.set_state(end.0, end.1);
            let after = length(&self.slip(k)?);
            changes |= (after - before).abs() > SLIP_CHANGED * after.max(before);
        }
        Ok(changes)
    }

    /// Slips in space that have become slow. Their directions turn ever faster as they end, which no steps can resolve, and
    /// need not once they have turned.
    fn fading_slips(&mut self, t: f64, y: &[f64]) -> Result<Vec<(usize, f64)>, MotionError> {
        /// Between the two bounds a slip keeps its regime.
        const REGIMES_APART: f64 = 2.0;
        self.smooth.set_state(t, y);
        let mut slow = Vec::new();
        for k in 0..self.mode.frictions.len() {
            let slow_limits = self.mode.slow_limits[k];
            if self.follows_slip(k) && REGIMES_APART * length(&self.slip(k)?) < slow_limits {
                slow.push((k, slow_limits));
            }
        }
        Ok(slow)
    }

    /// A slow slip that is faster at (t, y) than this multiple of its limit.
    fn fast_slip(&mut self, t: f64, y: &[f64], factor: f64) -> Result<Option<usize>, MotionError> {
        if self.mode.slow.iter().all(|slow| *slow == 0.0) {
            return Ok(None);
        }
        self.smooth.set_state(t, y);
        for k in 0..self.mode.slow.len() {
            let slow = self.mode.slow[k];
            if slow > 0.0 && length(&self.slip(k)?) > factor * slow {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }
}

/// The force of friction k.
fn friction_force<D: Dynamics + ?Sized>(system: &ContactSystem<'_, '_, D>, k: usize) -> f64 {
    length(&system.mode.frictions[k].slips(|row| system.smooth.instant.lambda[row]))
}
