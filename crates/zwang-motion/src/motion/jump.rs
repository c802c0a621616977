//! Events: the step ends there, something changes, and the motion restarts.

use super::{
    Motion, Outcome,
    events::{LocatedEvents, SignChange},
};
use crate::{ConstraintLevel, Dynamics, Jump, MotionError, Reaction, State, tolerance};

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Locates the first events of the step and ends it there; they are applied when the motion continues. `false` if there are
    /// none.
    pub(super) fn find_events(&mut self) -> Result<bool, MotionError> {
        if self.events.is_empty() {
            return Ok(false);
        }
        self.make_dense()?;
        let Some(found) = self.events.first(&mut self.flow, &self.step.dense)? else { return Ok(false) };
        self.end_at(found.t)?;
        self.pending = Some(found);
        Ok(true)
    }

    /// Applies the events at the end of the last step, and restarts.
    pub(super) fn jump(&mut self, found: LocatedEvents) -> Result<(), Outcome> {
        self.make_dense()?;
        let (own, mut guards) = self.events.part(&found.which);
        self.count_conditions(&own, found.t)?;
        self.events.note_conditions(&own);
        let (before, state) = (self.point.y.clone(), self.point.state());
        let reactions = self.apply_events(&own, found.t)?;
        let (switches, changes) = (reactions.contains(&Reaction::Switch), reactions.contains(&Reaction::Change));
        let mut mode = self.resolver().map(|resolver| resolver.previous_mode());
        if changes {
            // an impact may open closed contacts
            if let Some(mut system) = self.flow.contact_system() {
                system.open_all();
                system.release();
            }
            self.project_after_jump(own[0].0, state)?;
            if let (Some(mut resolver), Some(mode)) = (self.resolver(), &mut mode)
                && let Some(row) = resolver.check_gaps(mode)?
            {
                return Err(Outcome::OffConstraint { event: own[0].0, row, is_velocity: false });
            }
        }
        // an event that changes the state has put it on the constraints again
        let most_off = self.most_off();
        let corner = match (self.step.corner.filter(|_| switches && !changes), self.resolver(), &mut mode) {
            (Some(_), Some(mut resolver), Some(mode)) => resolver.turn_corner(mode, &mut guards, most_off)?,
            (corner, ..) => corner,
        };
        if mode.is_some() && corner.is_none() {
            self.contradiction.note_switch(self.point.t);
            self.resolve(mode, &guards)?;
        } else if reactions.iter().any(|r| *r != Reaction::Ignore) {
            self.contradiction.note_switch(self.point.t);
            if let Err(error) = self.restart()
                && (corner.is_none() || matches!(error, MotionError::Contradiction { .. }))
            {
                // constraints that no longer agree leave the state as it was
                self.point.restore(before);
                return Err(self.failed(error));
            }
        }
        if let Some((row, is_velocity)) = corner {
            self.point.restore(before);
            return Err(Outcome::OffConstraint { event: own[0].0, row, is_velocity });
        }
        self.events.passed(&found.which);
        self.update_saturation();
        self.choose_first_step().map_err(Outcome::Failed)
    }

    /// Counts conditions that are triggered at one instant: changes that follow each other without end have no motion after them.
    fn count_conditions(&mut self, own: &[(usize, bool)], t: f64) -> Result<(), Outcome> {
        let window = self.window();
        for &(event, _) in own.iter().filter(|(event, upwards)| *upwards && self.events.is_condition(*event)) {
            if self.events.has_returned(event) {
                return Err(Outcome::AccumulatedEvents { t, events: vec![event] });
            }
            self.log.count_condition(t, event, window)?;
        }
        Ok(())
    }

    /// Applies these events of the system and notes those that matter; the velocities may leave the constraints.
    fn apply_events(&mut self, own: &[(usize, bool)], t: f64) -> Result<Vec<Reaction>, Outcome> {
        self.flow.smooth.set_state(self.point.t, &self.point.y);
        let (mut state, mut reactions) = (self.point.state(), Vec::new());
        for &(event, upwards) in own {
            // the bounds of control forces follow those of the system
            let reaction = match self.flow.smooth.dynamics.events().filter(|_| self.events.is_of_system(event)) {
                Some(events) => events.apply_event(event, upwards, &mut state)?,
                None => Reaction::Switch,
            };
            if reaction != Reaction::Ignore {
                self.log.log(SignChange { t, event, upwards });
            }
            reactions.push(reaction);
        }
        if reactions.contains(&Reaction::Switch) {
            self.log.count_switch(t, own[0].0, self.fastest_rate())?;
        }
        self.point.set_velocities(&state.qdot);
        Ok(reactions)
    }

    /// Projects the velocities onto the constraints after a jump; positions must not have left them.
    fn project_after_jump(&mut self, event: usize, before: State) -> Result<(), Outcome> {
        let smooth = &mut self.flow.smooth;
        smooth.set_state(self.point.t, &self.point.y);
        smooth.factor()?;
        if let Some(row) = smooth.violated_row(ConstraintLevel::Positions, tolerance::OFF_CONSTRAINT)? {
            return Err(Outcome::OffConstraint { event, row, is_velocity: false });
        }
        // forces of a control are finite: velocities that it tracks exactly do not jump either
        if let Some(row) = smooth.violated_control_row(ConstraintLevel::Velocities, tolerance::OFF_CONSTRAINT)? {
            return Err(Outcome::OffConstraint { event, row, is_velocity: true });
        }
        if smooth.violated_row(ConstraintLevel::Velocities, tolerance::OFF_CONSTRAINT)?.is_some() {
            self.log.log_undone(self.point.t, event);
        }
        smooth.project(true)?;
        self.point.read_state(smooth);
        self.log.log_jump(Jump { before, after: self.point.state(), is_impact: false });
        Ok(())
    }

    /// Steps over a switch of a formula that no step can cross within the tolerance: 64 roundings of the time further. Without a
    /// switch the step is too small.
    pub(super) fn step_over_switch(&mut self) -> Result<(), Outcome> {
        match self.find_switch()? {
            Some(found) => {
                self.counts.steps += 1;
                self.end_at(found.t)?;
                self.pending = Some(found);
                Ok(())
            }
            None => Err(self.too_small(self.step_size.h)),
        }
    }

    /// The events of a straight step of 64 roundings of the time, which becomes the last step.
    fn find_switch(&mut self) -> Result<Option<LocatedEvents>, MotionError> {
        if self.events.is_empty() {
            return Ok(None);
        }
        let t = self.point.t;
        let h = 64.0 * f64::EPSILON * t.abs();
        let mut rate = std::mem::take(&mut self.scratch);
        rate.resize(self.point.y.len(), 0.0);
        let done = self.flow.rate(t, &self.point.y, false, &mut rate);
        self.step.set_straight(t, h, &self.point.y, &rate);
        self.scratch = rate;
        done?;
        self.events.first(&mut self.flow, &self.step.dense)
    }
}
