//! What is looked at after every step: constraints, stiffness, the algebra in use.

use super::*;
use crate::unilateral::length;

/// How far the last steps have come.
pub(super) struct Progress {
    t: f64,
    n_steps: usize,
    /// For each velocity, its sign and how often it has changed since.
    flips: Vec<(bool, usize)>,
}

/// A step counts as stiff where neighbouring solutions part at this rate at least, times the step, and this much faster than
/// the solution itself changes.
const STIFF: (f64, f64) = (0.3, 100.0);

impl Progress {
    pub(super) fn new(start: &State) -> Progress {
        Progress { t: start.t, n_steps: 0, flips: start.qdot.iter().map(|v| (*v > 0.0, 0)).collect() }
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Ends a motion that would take more steps than anybody waits for because a law of the velocities goes back and forth.
    pub(super) fn watch_progress(&mut self) -> Result<(), Outcome> {
        /// Steps that are taken together, and the part of the run they must get through: else a run takes 10¹⁰ of them.
        const STEPS: usize = 10_000;
        const LEAST: f64 = 1e-6;
        /// One in so many steps must turn a velocity back.
        const FLIPS: usize = 20;
        let n = self.flow.n;
        let progress = &mut self.progress;
        for ((positive, n_flips), v) in progress.flips.iter_mut().zip(&self.y[n..2 * n]) {
            *n_flips += usize::from(*positive != (*v > 0.0));
            *positive = *v > 0.0;
        }
        progress.n_steps += 1;
        if progress.n_steps < STEPS {
            return Ok(());
        }
        let most = (0..n).max_by_key(|&i| progress.flips[i].1).filter(|&i| progress.flips[i].1 > STEPS / FLIPS);
        let is_slow = self.t - progress.t < LEAST * (self.plan.end - self.t0);
        (progress.t, progress.n_steps) = (self.t, 0);
        progress.flips.iter_mut().for_each(|(_, n_flips)| *n_flips = 0);
        match most {
            Some(coordinate) if is_slow => Err(Outcome::Stalled { coordinate }),
            _ => Ok(()),
        }
    }

    /// The contradiction at the end of the step, if the constraints can no longer be met there. The rank stays as it was decided
    /// where the motion began.
    pub(super) fn watch_constraints(&mut self) -> Result<Option<MotionError>, MotionError> {
        if self.plan.drift != Drift::Project || self.flow.given.constraint_rhs.is_empty() {
            return Ok(None);
        }
        // independent rows can always be met, and the last correction was nothing but rounding
        if self.pivot.is_some() && (self.flow.is_whole || self.rows_left_out_hold()?) {
            return Ok(None);
        }
        if let Some(error) = self.flow.contradiction() {
            return Ok(Some(error));
        }
        self.missed()
    }

    /// The contradiction between positions or velocities that the last projection has not met.
    pub(super) fn missed(&mut self) -> Result<Option<MotionError>, MotionError> {
        if self.plan.drift != Drift::Project {
            return Ok(None);
        }
        let is_met = self.flow.miss()? <= 100.0 * self.plan.tolerance.max(1e-12);
        let flow = &self.flow;
        Ok((!is_met).then(|| crate::dependence::contradiction(&flow.given, &flow.instant.qddot, &flow.settings)))
    }

    /// Whether rows that are left out are met by the end of the step; if not, there is a decomposition there to tell more.
    fn rows_left_out_hold(&mut self) -> Result<bool, MotionError> {
        let Stepper::Explicit(rk) = &self.stepper else { return Ok(false) };
        let (n, n_stages) = (self.flow.n, rk.tableau.n_stages);
        self.flow.fill()?;
        let is_met = self.flow.meets_rows(&rk.rate(n_stages)[n..2 * n]);
        if is_met && self.flow.miss()? <= 100.0 * self.plan.tolerance.max(1e-12) {
            return Ok(true);
        }
        self.pivot = None;
        self.flow.evaluate()?;
        Ok(false)
    }

    /// Takes down how long steps are, and how large accelerations are at the ends of long ones.
    pub(super) fn watch_pace(&mut self, h: f64) {
        /// A step of this part of the longest is long.
        const LONG: f64 = 0.5;
        self.longest = self.longest.max(h);
        if self.flow.control.is_none() || h < LONG * self.longest {
            return;
        }
        let Stepper::Explicit(rk) = &self.stepper else { return };
        let n = self.flow.n;
        let rate = &rk.rate(rk.tableau.n_stages)[n..2 * n];
        // what would not change the velocities much in such a step counts as nothing
        for ((usual, a), v) in self.usual.iter_mut().zip(rate).zip(&self.flow.v_size) {
            *usual = usual.max(a.abs()).max(v / self.longest);
        }
    }

    /// The asked row on which the driven coordinates lose their hold, if a step of this length shows it: what is left of a row
    /// has become small beside what it was, and the steps with it, because forces grow as the hold falls. A motion that passes
    /// such a position with finite forces goes on.
    pub(super) fn lost_row(&self, h: f64) -> Option<usize> {
        /// So little is left of the row, and of the longest step.
        const LOST: f64 = 1e-3;
        /// What accelerations grow by at least, as a part of what the hold has lost: long steps have seen some of both already.
        const GROWN: f64 = 0.02;
        if h > LOST * self.longest {
            return None;
        }
        let steering = &self.flow.control.as_ref()?.steering;
        // a force at its bound does not grow
        if steering.margins.iter().any(|margin| *margin < 0.0) {
            return None;
        }
        let (row, left) = steering.weakest().filter(|(_, left)| *left < LOST)?;
        let Stepper::Explicit(rk) = &self.stepper else { return Some(row) };
        let n = self.flow.n;
        let rate = &rk.rate(rk.tableau.n_stages)[n..2 * n];
        let grows = rate.iter().zip(&self.usual).any(|(a, usual)| a.abs() * left > GROWN * usual);
        grows.then_some(row)
    }

    /// Leaves sparse algebra where a pivot becomes very small: S = B Bᵀ squares, and what corrects it then no longer gains.
    /// Singular positions that are crossed are no reason, since steps have no stage there.
    pub(super) fn watch_solver(&mut self) -> Result<(), MotionError> {
        /// A pivot of B below this, beside its row, is too small to be squared.
        const SMALL: f64 = 1e-5;
        /// A dense decomposition of more coordinates than this takes longer than anybody waits.
        const LARGEST: usize = 1000;
        // a look ahead leaves the decomposition of another state behind
        let kept = match (self.pivot, &self.stepper) {
            (Some(pivot), _) => pivot.max(0.0).sqrt(),
            (None, Stepper::Explicit(_)) => self.crossing.kept,
            _ => self.flow.all.gap().kept,
        };
        let flow = &mut self.flow;
        let leaves = flow.all.is_large() && flow.n <= LARGEST && kept <= SMALL;
        if !(flow.all.take_fallback() || leaves) {
            return Ok(());
        }
        self.make_dense()?;
        self.flow.all = Decomposition::new(&self.flow.settings);
        self.begin()?;
        self.note_bounds();
        self.restart()?;
        self.restarted = true;
        Ok(())
    }

    /// Counts steps in which neighbouring motions part much faster than the motion itself changes.
    pub(super) fn watch_stiffness(&mut self) -> Result<(), MotionError> {
        /// The stiff method solves with all coordinates coupled: more of them cost more than short steps.
        const LARGEST: usize = 500;
        let Stepper::Explicit(rk) = &self.stepper else { return self.watch_stiff_method() };
        if rk.guarded || self.stiffness.is_some() || self.flow.n > LARGEST {
            return Ok(());
        }
        let spread = rk.spread(self.step.h, &self.allowed);
        let is_stiff = spread.neighbours > STIFF.0 && spread.neighbours > STIFF.1 * spread.own;
        if is_stiff && !self.slips_change()? {
            self.n_not_stiff = 0;
            self.n_stiff += 1;
            self.time_constant = self.time_constant.max(self.step.h / spread.neighbours);
            if self.n_stiff == 15 {
                self.stiffness = Some(Stiffness {
                    t: self.t,
                    coordinate: spread.coordinate,
                    time_constant: self.time_constant,
                    given_up: false,
                });
                self.explicit_step = self.step.h;
            }
        } else if self.n_stiff > 0 {
            self.n_not_stiff += 1;
            if self.n_not_stiff == 6 {
                (self.n_stiff, self.time_constant) = (0, 0.0);
            }
        }
        Ok(())
    }

    /// Whether a slip in space has become faster or slower in the step by more than a little. Its direction then turns fast for a
    /// while, and steps grow with it: no stiffness that lasts.
    fn slips_change(&mut self) -> Result<bool, MotionError> {
        const LITTLE: f64 = 0.01;
        let mut changes = false;
        for k in 0..self.flow.modes.frictions.len() {
            if !self.flow.modes.slides_in_space(k) {
                continue;
            }
            self.flow.place(self.step.start, &self.step.y);
            let before = length(&self.flow.slip(k)?);
            self.flow.place(self.t, &self.y);
            let after = length(&self.flow.slip(k)?);
            changes |= (after - before).abs() > LITTLE * after.max(before);
        }
        Ok(changes)
    }

    /// Gives the stiff method up where it needs shorter steps than the explicit one did.
    pub(super) fn watch_stiff_method(&mut self) -> Result<(), MotionError> {
        /// After so many steps they should not be shorter than this part.
        const TRIAL: usize = 60;
        const SHORTER: f64 = 0.5;
        let tried = matches!(self.stepper, Stepper::Stiff(_)) && self.plan.method == Method::Auto;
        let Some(stiffness) = self.stiffness.as_mut().filter(|s| tried && !s.given_up) else { return Ok(()) };
        self.n_stiff += 1;
        if self.n_stiff != TRIAL {
            return Ok(());
        }
        if self.step.h > SHORTER * self.explicit_step {
            return Ok(());
        }
        stiffness.given_up = true;
        self.make_dense()?;
        self.use_method(Method::Order8)?;
        self.restarted = true;
        Ok(())
    }
}
