//! Steps out of and across positions in which the constraints lose rank.

use super::*;

/// How often the first step out of a singular position is halved.
const MOST_HALVINGS: usize = 12;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The first step out of a position in which the constraints lose rank, where the motion cannot be evaluated: collocation has
    /// no node there. One step is compared with two of half its length.
    pub(super) fn leave_singular_start(&mut self) -> Result<(), Outcome> {
        let n = self.flow.n;
        let pace = (0..n).map(|i| self.y[n + i].abs() / self.flow.q_size[i]).fold(0.0, f64::max);
        let mut h = (0.05 / pace).min(self.plan.end - self.t);
        let mut whole = Collocation::new(&mut self.flow).map_err(Outcome::Failed)?;
        let mut half = Collocation::new(&mut self.flow).map_err(Outcome::Failed)?;
        (whole.by_iteration, half.by_iteration) = (true, true);
        let mut best = (f64::INFINITY, h);
        for _ in 0..MOST_HALVINGS {
            match self.try_both(&mut whole, &mut half, h) {
                Ok(error) if error < best.0 => best = (error, h),
                // rounding grows when the step shrinks
                Ok(error) if error > 4.0 * best.0 => break,
                Ok(_) => {}
                Err(error) => self.cause = Some(error),
            }
            if best.0 <= 1.0 {
                break;
            }
            self.counts.rejected += 1;
            h *= 0.5;
        }
        if best.0 <= MOST_NOISE {
            self.counts.noise = SHARE * best.0;
            self.try_both(&mut whole, &mut half, best.1).map_err(Outcome::Failed)?;
            return self.accept_first(whole, best.1).map_err(Outcome::Failed);
        }
        let rows = (0..self.flow.given.constraint_rhs.len()).collect();
        Err(Outcome::Undetermined { t: self.t, rows })
    }

    /// The error of one step of length h, from two of half its length.
    pub(super) fn try_both(
        &mut self,
        whole: &mut Collocation,
        half: &mut Collocation,
        h: f64,
    ) -> Result<f64, MotionError> {
        let (t, y) = (self.t, self.y.clone());
        whole.restart();
        whole.attempt(&mut self.flow, t, &y, h, &self.allowed)?;
        half.restart();
        half.attempt(&mut self.flow, t, &y, 0.5 * h, &self.allowed)?;
        let middle = half.end.clone();
        half.attempt(&mut self.flow, t + 0.5 * h, &middle, 0.5 * h, &self.allowed)?;
        // the two differ by 31 times the error of the better one, for order 5
        let parts = self.allowed.iter().enumerate().map(|(i, a)| ((whole.end[i] - half.end[i]) / a).abs());
        Ok(parts.fold(0.0, f64::max))
    }

    pub(super) fn accept_first(&mut self, mut whole: Collocation, h: f64) -> Result<(), MotionError> {
        let (t, r) = (self.t, self.singular_start.take().unwrap_or(0));
        let rows = (0..self.flow.given.constraint_rhs.len()).collect();
        self.passages.push(Passage { t, rank: r, of: self.rank, rows, kappa: f64::NAN, rho: 0.0 });
        (self.step.start, self.step.end, self.step.h) = (t, t + h, h);
        self.step.y.copy_from_slice(&self.y);
        whole.dense(h, &mut self.step);
        self.has_dense = true;
        self.counts.steps += 1;
        self.y.copy_from_slice(&whole.end);
        self.t = t + h;
        self.restart()
    }

    /// False if the step crossed a position where the branches do not meet. The flow stands at the end of the step.
    pub(super) fn look_for_crossing(&mut self, choice: Choice) -> Result<bool, MotionError> {
        let (t, h) = (self.t, choice.h);
        let Stepper::Explicit(rk) = &mut self.stepper else { return Ok(true) };
        if let Some(pivot) = self.pivot {
            if self.crossing.is_clear(pivot, h) {
                return Ok(true);
            }
            self.flow.place(t + h, &rk.end);
            self.flow.evaluate_afresh()?;
        }
        let before = choice.guarded.then(|| self.crossing.clone());
        self.crossing.look(&mut self.flow, h)?;
        let guess = choice.crossing.map(|D| t + D).or_else(|| self.crossing.behind(h).map(|D| t + h + D));
        let (Some(guess), Some(before)) = (guess, before) else { return Ok(true) };
        rk.dense(&mut self.flow, t, &self.y, h, &mut self.step)?;
        let Some(passage) = self.crossing.check(&mut self.flow, &self.step, guess)? else { return Ok(true) };
        let inside = passage.t > t - 1e-9 * h && passage.t < t + h * (1.0 + 1e-9);
        if !inside || self.passages.last().is_some_and(|last| (last.t - passage.t).abs() < 1e-3 * h) {
            return Ok(true);
        }
        if self.crossing.meets(&passage, self.plan.tolerance) {
            self.passages.push(passage);
            return Ok(true);
        }
        self.crossing = before;
        self.crossing.avoid(passage.t);
        self.h = 0.25 * h;
        Ok(false)
    }
}
