//! One step: tried, examined, projected onto the constraints, accepted, and given its dense output.

use super::{MOST_NOISE, Motion, Outcome, contradiction::ContradictionVerdict, scales::STEP_SHARE};
use crate::{
    ConstraintLevel, Dynamics, Method, MotionError,
    contact::StepVerdict,
    methods::Integrator,
    singular::{StepPlan, vanishing_rows},
    tolerance,
};

/// What becomes of a trial step whose error is allowed.
pub(super) enum Examination {
    Accept,
    /// Another one is tried, of the length that is set.
    Retry,
    /// The branches do not meet in the singular position that the step crossed: the step is repeated without crossing.
    Restart,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Length and kind of the next step; `is_first` if none was rejected from here.
    pub(super) fn plan_step(&self, is_first: bool) -> StepPlan {
        let (t, left) = (self.point.t, self.options.end - self.point.t);
        let h = self.step_size.h.min(self.options.step.unwrap_or(f64::INFINITY));
        let plain = |h: f64| StepPlan { h, full: h, guarded: false, crossing: None, ends: false };
        let Some(rk) = self.integrator.runge_kutta() else {
            return plain(if self.integrator.is_fixed_step() { self.step_size.h.min(left) } else { shorten(h, left) });
        };
        let plan = self.singular.plan(t, h, rk.tableau.gap, STEP_SHARE * self.options.tolerance, is_first);
        // near a singular position the end is taken from the dense output, never by a short step
        if plan.guarded { plan } else { StepPlan { h: shorten(plan.h, left), ..plan } }
    }

    /// Why no step of length h could be taken.
    pub(super) fn too_small(&mut self, h: f64) -> Outcome {
        self.flow.smooth.set_state(self.point.t, &self.point.y);
        let _ = self.flow.evaluate();
        let smooth = &self.flow.smooth;
        let rate = |i: usize| {
            let v = smooth.instant.state.qdot[i].abs() / smooth.q_size[i];
            v.max(smooth.instant.qddot[i].abs() / smooth.v_size[i])
        };
        let coordinate = (0..smooth.n).max_by(|&i, &j| rate(i).total_cmp(&rate(j))).unwrap_or(0);
        let cause = match self.step_size.take_cause() {
            Some(error @ MotionError::Contradiction { .. }) => return self.failed(error),
            cause => cause.or_else(|| self.resolution.cut_near(self.point.t, self.window())),
        };
        let rows = if smooth.all.is_large() { Vec::new() } else { vanishing_rows(smooth) };
        Outcome::StepTooSmall { h, coordinate, rows, cause }
    }

    /// Tries a step; `true` if its error is allowed and it ends on the constraints. Sets the next step to try.
    pub(super) fn attempt(&mut self, plan: StepPlan) -> Result<bool, MotionError> {
        let (t, y, h) = (self.point.t, &self.point.y, plan.h);
        match &mut self.integrator {
            Integrator::RungeKutta(_) => self.attempt_explicit(plan),
            Integrator::Radau(radau) => {
                let error = radau.attempt(&mut self.flow, t, y, h, &self.scales.allowed)?;
                self.step_size.accepts(error, h, 1.0, 4)
            }
            Integrator::Rattle(rattle) => {
                rattle.attempt(&mut self.flow, t, y, h)?;
                Ok(true)
            }
        }
    }

    fn attempt_explicit(&mut self, plan: StepPlan) -> Result<bool, MotionError> {
        let Some(rk) = self.integrator.runge_kutta_mut() else { return Ok(false) };
        let (h, tableau) = (plan.h, rk.tableau);
        rk.guarded = plan.guarded;
        rk.attempt(&mut self.flow, self.point.t, &self.point.y, h)?;
        // rounding is amplified in a step that crosses a singular position, and may then exceed the tolerance
        let noise = match plan.crossing {
            Some(_) => self.singular.noise(h, rk.smallest) / (STEP_SHARE * self.options.tolerance),
            None => 0.0,
        };
        let needs_end = tableau.error.iter().any(|&(i, _)| i == tableau.n_stages);
        if !needs_end && !self.accepts_error(h, noise)? {
            return Ok(false);
        }
        let moved = self.project_end(plan)?;
        // a step past a switch of a formula may end well off the constraints: it is to end at the switch
        if !self.events.is_empty() && !plan.guarded && moved > tolerance::SWITCH_RESIDUAL * self.options.tolerance {
            self.step_size.set(0.25 * h);
            return Ok(false);
        }
        if needs_end && !self.accepts_error(h, noise)? {
            return Ok(false);
        }
        if plan.guarded {
            self.counts.noise = self.counts.noise.max(STEP_SHARE * noise);
        }
        Ok(true)
    }

    /// `true` if the error of an explicit step is allowed. Noise so large that rounding would decide the branch ends the motion.
    fn accepts_error(&mut self, h: f64, noise: f64) -> Result<bool, MotionError> {
        let Some(rk) = self.integrator.runge_kutta() else { return Ok(false) };
        let error = rk.error(h, &self.scales.allowed);
        let limit = (3.0 * noise).clamp(1.0, MOST_NOISE);
        let accepted = self.step_size.accepts(error, h, limit, rk.tableau.order)?;
        if !accepted && noise > MOST_NOISE && error > 1.0 {
            self.outcome = Some(self.not_unique());
        }
        Ok(accepted)
    }

    /// Projects the end of the step onto the constraints, and finds its rate. Returns how far that moved the state, relative to its
    /// size.
    fn project_end(&mut self, plan: StepPlan) -> Result<f64, MotionError> {
        let Some(rk) = self.integrator.runge_kutta_mut() else { return Ok(0.0) };
        let flow = &mut self.flow;
        let smooth = &mut flow.smooth;
        let t = self.point.t + plan.h;
        smooth.set_state(t, &rk.end);
        let is_quick = smooth.is_explicit() && !plan.guarded;
        // the decomposition of the last stage is close enough, unless there is none or a singular position is near
        let has_near = !(smooth.is_explicit() || plan.guarded || smooth.has_route());
        let cheap = if is_quick || has_near { smooth.project(false).ok() } else { None };
        let moved = match cheap {
            Some(moved) => moved,
            None => {
                smooth.set_state(t, &rk.end);
                self.counts.projections += 1;
                smooth.project(true)?
            }
        };
        self.counts.largest_correction = self.counts.largest_correction.max(moved);
        let moved = smooth.velocities_moved(&rk.end).max(moved);
        smooth.write_state(&mut rk.end);
        self.step.set_pivot(None);
        let (end, rate) = rk.end_and_rate();
        if is_quick {
            self.step.set_pivot(flow.rate_quickly(t, end, rate)?);
            return Ok(moved);
        }
        flow.evaluate_accepted()?;
        flow.smooth.write_rate(rate)?;
        Ok(moved)
    }

    /// Examines a trial step whose error is allowed: contact, contradictions ahead, control authority, crossings.
    pub(super) fn examine(&mut self, plan: StepPlan) -> Result<Examination, Outcome> {
        let (t, h) = (self.point.t, plan.h);
        if let Some(mut system) = self.flow.contact_system() {
            match system.allows(t + h, self.integrator.end())? {
                StepVerdict::Allowed => {}
                // a gap may have no value there, although nothing moves by it yet
                StepVerdict::NoValue(error) => {
                    self.step_size.failed(h, error);
                    self.counts.rejected += 1;
                    return Ok(Examination::Retry);
                }
                StepVerdict::TooFast => {
                    self.step_size.set(0.5 * h);
                    self.counts.rejected += 1;
                    return Ok(Examination::Retry);
                }
            }
        }
        self.step.set(t, h, &self.point.y);
        if !self.resolves_formulas(plan)? {
            return Ok(Examination::Retry);
        }
        if let Some(error) = self.check_constraints()?
            && self.locate_contradiction(plan, error)? == ContradictionVerdict::Shorter
        {
            return Ok(Examination::Retry);
        }
        self.note_step_length(h);
        // an explicit acceleration satisfies all control rows, with authority that is not in doubt
        if self.step.pivot.is_none() || self.integrator.runge_kutta().is_none() {
            if let Some(error) = self.flow.smooth.unreachable() {
                return Err(Outcome::Failed(error));
            }
            if let Some(row) = self.lost_control_row(h) {
                return Err(Outcome::ControlAuthorityLost { row });
            }
        }
        if let Some(rk) = self.integrator.runge_kutta_mut() {
            let (pivot, tolerance) = (self.step.pivot, self.options.tolerance);
            let step = self.step.dense_mut();
            let allows = self.singular.allows((&mut self.flow, rk), step, pivot, plan, tolerance);
            if !allows? {
                self.step_size.set(0.25 * h);
                self.counts.rejected += 1;
                return Ok(Examination::Restart);
            }
        }
        Ok(Examination::Accept)
    }

    /// Makes the trial step the motion's.
    pub(super) fn commit(&mut self, plan: StepPlan) {
        self.counts.steps += 1;
        self.counts.guarded += usize::from(plan.guarded);
        // a step that only led up to a singular position is followed by a full one
        if plan.guarded && plan.h < plan.full {
            self.step_size.raise(plan.full);
        }
        let mut t = self.point.t + plan.h;
        if self.integrator.is_fixed_step() {
            t = self.step_size.next_fixed().min(self.options.end);
            self.step.end_at(t);
        }
        self.point.move_to(t, self.integrator.end());
    }

    /// Events in the step, the end of the run inside it, and the transition to the next step.
    pub(super) fn finish_step(&mut self) -> Result<(), MotionError> {
        if self.point.t > self.options.end {
            self.end_at(self.options.end)?;
        }
        let has_events = self.find_events()?;
        let switches = self.monitor.wants_stiff_method()
            && self.options.method == Method::Auto
            && self.integrator.runge_kutta().is_some()
            && self.flow.smooth.dynamics.jacobian().is_some();
        if switches {
            self.make_dense()?;
            self.monitor.begin_stiff_method();
            return self.use_method(Method::Stiff);
        }
        if !has_events {
            self.update_slip_regime()?;
        }
        if has_events || self.step.take_restart() {
            return Ok(());
        }
        self.step.allow_reuse_of_rate();
        if !self.integrator.is_fixed_step() {
            self.step_size.limit(self.events.longest_step());
        }
        self.flow.smooth.set_state(self.point.t, &self.point.y);
        self.update_scales(false);
        match self.flow.contact_system() {
            Some(mut system) => system.update_separation(self.point.t, &self.point.y),
            None => Ok(()),
        }
    }

    /// Lets slips that have become fast or slow change with the step; the motion restarts then.
    fn update_slip_regime(&mut self) -> Result<(), MotionError> {
        let Some(mut system) = self.flow.contact_system() else { return Ok(()) };
        let Some(update) = system.slip_update(self.point.t, &self.point.y)? else { return Ok(()) };
        self.make_dense()?;
        let Some(mut system) = self.flow.contact_system() else { return Ok(()) };
        if system.update_slip_regime(&update, self.point.t, &self.point.y)? {
            self.choose_first_step()?;
            self.step.note_restart();
        }
        Ok(())
    }

    /// Ends the step at an earlier time, from the dense output.
    pub(super) fn end_at(&mut self, t: f64) -> Result<(), MotionError> {
        self.make_dense()?;
        let mut y = std::mem::take(&mut self.scratch);
        y.resize(self.point.y.len(), 0.0);
        self.step.dense.values(t, &mut y);
        let most = self.most_off();
        let smooth = &mut self.flow.smooth;
        smooth.set_state(t, &y);
        smooth.factor()?;
        // at a corner of a constraint the velocities would have to jump, and by how much no formula says
        let of_positions = smooth.violated_row(ConstraintLevel::Positions, most)?.map(|row| (row, false));
        let corner = of_positions.or(smooth.violated_row(ConstraintLevel::Velocities, most)?.map(|row| (row, true)));
        self.step.set_corner(corner);
        if corner.is_none() {
            smooth.project(true)?;
        }
        smooth.write_state(&mut y);
        self.point.move_to(t, &y);
        self.scratch = y;
        self.step.end_at(t);
        self.singular.end_at(t);
        Ok(())
    }

    /// The largest residual where a step is ended early, relative to the size of a row.
    pub(super) fn most_off(&self) -> f64 {
        tolerance::OFF_CONSTRAINT.max(tolerance::SWITCH_RESIDUAL * self.options.tolerance)
    }

    /// Fills in the dense output of the last step.
    pub(super) fn make_dense(&mut self) -> Result<(), MotionError> {
        self.step.make_dense(&mut self.integrator, &mut self.flow)
    }
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
