//! Smooth part and contact mode together: the acceleration with friction.

use super::place::{ContactMode, ContactState};
use crate::{Coulomb, Dynamics, MotionError, smooth::Smooth};

/// A system in a contact mode.
pub(crate) struct ContactSystem<'a, 'd, D: Dynamics + ?Sized> {
    pub(crate) smooth: &'a mut Smooth<'d, D>,
    pub(super) mode: &'a mut ContactMode,
}

/// What contact says of a trial step.
pub(crate) enum StepVerdict {
    Allowed,
    /// A contact row has no value at the end of the step.
    NoValue(MotionError),
    /// A slow slip is too fast at the end of the step to follow its acceleration.
    TooFast,
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// Finds q̈, and λ and C if they are needed, at the state.
    pub(crate) fn evaluate(&mut self) -> Result<(), MotionError> {
        // slow slips follow their acceleration
        let mode = &mut *self.mode;
        let slides = |k: &usize| matches!(mode.states[*k], ContactState::Sliding(_)) && mode.slow[*k] > 0.0;
        let slow: Vec<usize> = (0..mode.slow.len()).filter(slides).collect();
        slow.iter().for_each(|&k| mode.directions[k] = mode.bases[k]);
        let has_lambda = match slow.is_empty() {
            true => self.evaluate_once()?,
            false => self.settle_directions(&slow, false).map(|()| true)?,
        };
        if has_lambda { self.redistribute() } else { Ok(()) }
    }

    /// Finds q̈ and the shortest λ with the directions of slow slips as they are. Returns `true` if λ may be redistributed.
    pub(super) fn evaluate_once(&mut self) -> Result<bool, MotionError> {
        let slides = self.mode.slides();
        if self.smooth.has_route() && !slides {
            return self.evaluate_by_route().map(|()| false);
        }
        self.smooth.factor()?;
        self.smooth.stabilize()?;
        self.find_blocked_directions();
        if slides {
            self.prepare_sliding()?;
        }
        let wants_lambda = self.smooth.wants_lambda || slides;
        let mode = &*self.mode;
        let has_lambda = self.smooth.solve(wants_lambda, |lambda| mode.transfer_blocked(lambda))?;
        if has_lambda && slides {
            self.add_friction()?;
        }
        Ok(has_lambda)
    }

    /// Evaluates by the route the user chose; a decomposition of the same rows serves what follows from the mode.
    fn evaluate_by_route(&mut self) -> Result<(), MotionError> {
        let smooth = &mut *self.smooth;
        smooth.evaluate_by_route()?;
        match smooth.control {
            Some(_) => Ok(()),
            None => smooth.all.factor(&smooth.given.mass_matrix, &smooth.given.constraint_matrix),
        }
    }

    /// Judges a trial step by its end: contact rows must have values there, and slow slips must not be too fast.
    pub(crate) fn allows(&mut self, t: f64, end: &[f64]) -> Result<StepVerdict, MotionError> {
        self.smooth.set_state(t, end);
        if let Err(error) = self.smooth.fill().and_then(|()| self.smooth.fill_gaps()) {
            return Ok(StepVerdict::NoValue(error));
        }
        Ok(if self.exceeds_slow_limit(t, end)? { StepVerdict::TooFast } else { StepVerdict::Allowed })
    }

    /// The restitution of each contact at the state.
    pub(super) fn fill_restitutions(&mut self, restitutions: &mut [f64]) -> Result<(), MotionError> {
        match self.smooth.dynamics.contacts() {
            Some(laws) => laws.fill_restitutions(&self.smooth.instant.state, restitutions),
            None => Ok(()),
        }
    }

    /// Coulomb's law of each place with friction at the state.
    pub(super) fn fill_friction_laws(&mut self, laws: &mut [Coulomb]) -> Result<(), MotionError> {
        match self.smooth.dynamics.contacts() {
            Some(contacts) => contacts.fill_friction_laws(&self.smooth.instant.state, laws),
            None => Ok(()),
        }
    }

    /// `true` if a place sticks.
    pub(crate) fn sticks(&self) -> bool {
        self.mode.sticks()
    }

    /// Opens every place.
    pub(crate) fn open_all(&mut self) {
        self.mode.open_all();
        self.mask();
    }

    /// Leaves out the rows that do not hold in the mode.
    pub(crate) fn mask(&mut self) {
        self.mode.mask(&mut self.smooth.rows);
    }

    /// Lets ranks, and the number of free directions of each place, be decided anew.
    pub(crate) fn release(&mut self) {
        self.smooth.release();
        self.mode.n_free.clear();
    }
}
