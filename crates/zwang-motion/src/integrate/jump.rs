//! Events: the step ends there, something changes, and the motion starts afresh.

use super::contact::Before;
use super::*;
use crate::unilateral::Turn;

/// How far off, relative to the size of its row, an event may leave a constraint.
pub(super) const OFF: f64 = 1e-6;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Locates the first events of the step and ends it there; they fire when the motion goes on.
    pub(super) fn find_events(&mut self) -> Result<bool, MotionError> {
        if self.watch.is_empty() {
            return Ok(false);
        }
        self.make_dense()?;
        let Some(found) = self.watch.first(&mut self.flow, &self.step)? else { return Ok(false) };
        self.cut(found.t)?;
        self.pending = Some(found);
        Ok(true)
    }

    /// Does what the events at the end of the last step say, and starts afresh.
    pub(super) fn fire(&mut self, found: Found) -> Result<(), Outcome> {
        self.make_dense().map_err(Outcome::Failed)?;
        self.flow.place(self.t, &self.y);
        let mut state = self.flow.instant.state.clone();
        let mut reactions = Vec::new();
        let (own, turns) = self.watch.part(&found.which);
        for &(event, upwards) in &own {
            // behind those of the system stand the bounds of control forces
            let reaction = match event < self.flow.dynamics.n_events() {
                true => self.flow.dynamics.fire(event, upwards, &mut state).map_err(Outcome::Failed)?,
                false => Reaction::Switch,
            };
            if reaction != Reaction::Ignore {
                self.events.push(Event { t: found.t, event, upwards });
            }
            reactions.push(reaction);
        }
        if reactions.contains(&Reaction::Switch) {
            self.count_switches(found.t, own[0].0)?;
        }
        let n = self.flow.n;
        let before = self.y.clone();
        self.y[n..2 * n].copy_from_slice(&state.qdot);
        let mut mode = self.mode();
        if reactions.contains(&Reaction::Change) {
            // a blow may open what is closed
            if !self.flow.modes.is_empty() {
                self.flow.modes.open_all();
                self.flow.release();
            }
            self.land_after(own[0].0)?;
            if !self.flow.modes.is_empty()
                && let Some(row) = self.mind_gaps(&mut mode).map_err(Outcome::Failed)?
            {
                return Err(Outcome::JumpedOff { event: own[0].0, row, is_velocity: false });
            }
        }
        // what changes with an event was put on the constraints again
        let has_corner = reactions.contains(&Reaction::Switch) && !reactions.contains(&Reaction::Change);
        let mut turns = turns;
        let corner = match self.corner.filter(|_| has_corner) {
            Some(_) if !self.flow.modes.is_empty() => {
                self.turn_corner(&mut mode, &mut turns).map_err(Outcome::Failed)?
            }
            corner => corner,
        };
        if !self.flow.modes.is_empty() && corner.is_none() {
            self.began = self.t;
            self.settle(mode, &turns)?;
        } else if reactions.iter().any(|r| *r != Reaction::Ignore) {
            self.began = self.t;
            if let Err(error) = self.begin()
                && (corner.is_none() || matches!(error, MotionError::Contradiction { .. }))
            {
                // constraints that no longer agree leave the state as it was
                self.y = before;
                return Err(self.failed(error));
            }
        }
        if let Some((row, is_velocity)) = corner {
            self.y = before;
            return Err(Outcome::JumpedOff { event: own[0].0, row, is_velocity });
        }
        self.watch.passed(&found.which);
        self.note_bounds();
        self.restart().map_err(Outcome::Failed)
    }

    /// Where formulas of closed contacts switch, their surfaces have a corner: what runs into the next face is struck there, what
    /// leaves it behind flies. Returns the row, and whether it is the velocities, that a corner takes the system off for good.
    fn turn_corner(&mut self, mode: &mut Before, turns: &mut Vec<usize>) -> Result<Option<(usize, bool)>, MotionError> {
        self.flow.modes.open_all();
        self.flow.release();
        let closed = mode.closed.clone();
        let entered = self.mind_gaps(mode)?.map(|row| (row, false));
        for c in (0..closed.len()).filter(|&c| closed[c] && !mode.closed[c]) {
            let row = self.flow.modes.contacts[c].row;
            self.mode_changes.push(ModeChange { t: self.t, turn: Turn::TakeOff, row });
        }
        let most = self.most_off();
        // what always holds has nowhere to fly to
        let of_positions = self.flow.row_off(true, most)?.map(|row| (row, false));
        let of_velocities = self.flow.row_off(false, most)?.map(|row| (row, true));
        let corner = entered.or(of_positions).or(of_velocities);
        let rates = self.flow.rates()?;
        for c in (0..mode.closed.len()).filter(|_| corner.is_none()) {
            let row = self.flow.modes.contacts[c].row;
            if mode.closed[c] && rates[row] < -self.flow.rate_noise(&[row]) {
                mode.closed[c] = false;
                turns.push(c);
            }
        }
        Ok(corner)
    }

    /// Puts the velocities back on the constraints after a jump; positions must not have left them.
    pub(super) fn land_after(&mut self, event: usize) -> Result<(), Outcome> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.factor().map_err(Outcome::Failed)?;
        if let Some(row) = flow.row_off(true, OFF).map_err(Outcome::Failed)? {
            return Err(Outcome::JumpedOff { event, row, is_velocity: false });
        }
        // forces of a control are finite: velocities that it holds do not jump either
        if let Some(row) = flow.held_off(false, OFF).map_err(Outcome::Failed)? {
            return Err(Outcome::JumpedOff { event, row, is_velocity: true });
        }
        let is_off = flow.row_off(false, OFF).map_err(Outcome::Failed)?.is_some();
        if is_off {
            self.undone.push((self.t, event));
        }
        flow.project(true).map_err(Outcome::Failed)?;
        let mut y = std::mem::take(&mut self.y);
        flow.take_state(&mut y);
        self.y = y;
        let state = flow.instant.state.clone();
        flow.dynamics.landed(&state).map_err(Outcome::Failed)
    }

    /// Switches that follow each other without end are a sliding motion, which the formulas do not determine.
    pub(super) fn count_switches(&mut self, t: f64, event: usize) -> Result<(), Outcome> {
        /// So many switches within this part of the run.
        const MOST: usize = 1000;
        const CLOSE: f64 = 1e-2;
        if self.n_switches == 0 {
            self.first_switch = t;
        }
        self.n_switches += 1;
        if self.n_switches < MOST {
            return Ok(());
        }
        self.n_switches = 0;
        let close = t - self.first_switch < CLOSE * (self.plan.end - self.t0);
        if close { Err(Outcome::Sliding { event }) } else { Ok(()) }
    }

    /// Steps over a switch of a formula that no step can cross within the tolerance: a few roundings of the time further.
    pub(super) fn hop(&mut self) -> Result<bool, MotionError> {
        if self.watch.is_empty() {
            return Ok(false);
        }
        let (t, size) = (self.t, self.y.len());
        let h = 64.0 * f64::EPSILON * t.abs();
        self.spare.resize(size, 0.0);
        let mut rate = std::mem::take(&mut self.spare);
        let done = self.flow.rate(t, &self.y, false, &mut rate);
        (self.step.start, self.step.end, self.step.h) = (t, t + h, h);
        self.step.y.copy_from_slice(&self.y);
        self.step.F.clear();
        self.step.F.extend(rate.iter().map(|f| h * f));
        self.has_dense = true;
        self.spare = rate;
        done?;
        let Some(found) = self.watch.first(&mut self.flow, &self.step)? else { return Ok(false) };
        self.counts.steps += 1;
        self.cut(found.t)?;
        self.pending = Some(found);
        Ok(true)
    }
}
