//! One step: tried, judged, brought onto the constraints, accepted, and known at every instant in it.

use super::*;

/// Attempts at one step: each failure makes it shorter, so that far fewer lead to the shortest.
const MOST_ATTEMPTS: usize = 200;

/// How far off the constraints a step may end, in tolerances, where formulas switch: what it leaves is of the size of its error.
const MOST_MOVED: f64 = 100.0;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
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
    pub(super) fn attempt(&mut self, choice: Choice) -> Result<bool, MotionError> {
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
        self.flow.place(t, self.stepper.end());
        self.flow.fill()?;
        self.flow.fill_gaps()
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
    pub(super) fn cut(&mut self, t: f64) -> Result<(), MotionError> {
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
    pub(super) fn most_off(&self) -> f64 {
        jump::OFF.max(MOST_MOVED * self.plan.tolerance)
    }

    pub(super) fn make_dense(&mut self) -> Result<(), MotionError> {
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
