//! Resolution of contact at one point of a motion: impacts, then the mode that follows.

use super::impact::ImpactResult;
use super::log::{ContactLog, SideChange};
use super::place::{ContactMode, ContactState};
use super::touching::Touching;
use super::{
    CandidateMode, ContactSystem, ContactTransition, ImpactState, Inequality, MotionPoint, Slip, TransitionKind, length,
};
use crate::factor::dot;
use crate::{
    ConstraintLevel, Dynamics, Jump, MotionError, limits,
    smooth::RowMask,
    tolerance::{self, RunWindow},
};

const FALLEN_SPEED: f64 = 0.5;

/// The mode that is left, to find what has changed.
pub(crate) struct PreviousMode {
    pub(super) closed: Vec<bool>,
    pub(super) states: Vec<ContactState>,
    /// For each friction: `true` if it was arrested.
    arrested: Vec<bool>,
    /// The sign of the normal force of each friction.
    pub(super) sides: Vec<f64>,
    pub(super) directions: Vec<Slip>,
    /// Speeds below which slips follow their acceleration.
    pub(super) slow: Vec<f64>,
    /// `true` if active rows are redundant and nothing slides, so that forces are indeterminate.
    pub(super) is_indeterminate: bool,
}

impl PreviousMode {
    /// `true` if it equals this mode.
    pub(super) fn is_same(&self, mode: &ContactMode) -> bool {
        self.closed == mode.closed && self.states == mode.states
    }

    /// The state of friction k as it was reported.
    pub(super) fn reported_state(&self, k: usize) -> ContactState {
        if self.arrested[k] { ContactState::Sticking } else { self.states[k] }
    }

    /// A normal force that has changed its side acts on the other: at zero both would fit.
    fn change_sides(&mut self, triggered: &[usize]) {
        let n_contacts = self.closed.len();
        for (k, side) in self.sides.iter_mut().enumerate() {
            if triggered.contains(&(n_contacts + 2 * k + 1)) {
                *side *= -1.0;
            }
        }
    }

    /// `true` if friction k slides against its former direction.
    fn turns_back(&self, k: usize, mode: &ContactMode) -> bool {
        dot(&self.directions[k], &mode.directions[k]) < 0.0
    }
}

/// Why contact ends the motion.
pub(crate) enum ContactError {
    /// The gradient of a gap vanishes where it closes.
    MotionNotUnique { t: f64, rows: Vec<usize> },
    /// No mode, or more than one, satisfies Coulomb's law.
    Ambiguous { t: f64, rows: Vec<usize>, n_modes: usize, tried: Vec<CandidateMode> },
    /// No outcome of an impact, or more than one, satisfies Newton's and Coulomb's laws.
    AmbiguousImpact { t: f64, rows: Vec<usize>, outcomes: Vec<Vec<ImpactState>> },
    /// There are too many modes to try them all, and none of those tried satisfies Coulomb's law.
    TooManyModes { t: f64, rows: Vec<usize> },
    /// Transitions follow each other without end.
    EndlessTransitions { t: f64 },
    /// The equations cannot be evaluated or solved.
    Failed(MotionError),
}

/// The search for the mode that follows, at one point of the motion.
pub(crate) struct Resolver<'a, 'd, D: Dynamics + ?Sized> {
    pub(super) system: ContactSystem<'a, 'd, D>,
    pub(super) log: &'a mut ContactLog,
    pub(super) window: RunWindow,
    pub(super) t: f64,
    pub(super) y: &'a mut Vec<f64>,
    pub(super) rank: usize,
    pub(super) is_first: bool,
    pub(super) units: &'a [Option<usize>],
    pub(super) rounding_acceleration: &'a [f64],
}

/// Mode, mask and state before a resolution, to return to if it fails.
pub(crate) struct SavedMode {
    mode: ContactMode,
    rows: RowMask,
    y: Vec<f64>,
}

/// The first half of a resolution: mode and velocities are set, and the motion has to restart with them.
pub(crate) struct Resolution {
    touching: Touching,
    struck: Vec<usize>,
    /// State before the impact, if there was one.
    before: Option<Vec<f64>>,
    is_start: bool,
}

impl<'a, 'd, D: Dynamics + ?Sized> Resolver<'a, 'd, D> {
    pub(super) fn new(
        system: ContactSystem<'a, 'd, D>,
        log: &'a mut ContactLog,
        window: RunWindow,
        point: MotionPoint<'a>,
    ) -> Resolver<'a, 'd, D> {
        let MotionPoint { t, y, rank, is_first, units, rounding_acceleration } = point;
        Resolver { system, log, window, t, y, rank, is_first, units, rounding_acceleration }
    }

    /// The current mode, which is about to be left.
    pub(crate) fn previous_mode(&self) -> PreviousMode {
        let mode = &self.system.mode;
        PreviousMode {
            closed: mode.closed.clone(),
            states: mode.states.clone(),
            arrested: mode.arrested.clone(),
            sides: mode.sides.clone(),
            directions: mode.directions.clone(),
            slow: mode.slow.clone(),
            is_indeterminate: self.system.is_indeterminate(self.rank),
        }
    }

    /// Mode, mask and state now.
    pub(crate) fn save(&self) -> SavedMode {
        SavedMode { mode: self.system.mode.clone(), rows: self.system.smooth.rows.clone(), y: self.y.clone() }
    }

    /// Returns to an earlier mode and state: where the motion stops, results are those before the resolution.
    pub(crate) fn restore(&mut self, saved: SavedMode) {
        (*self.system.mode, self.system.smooth.rows, *self.y) = (saved.mode, saved.rows, saved.y);
        self.system.release();
    }

    /// Finds impacts and the mode that follows. `triggered` are the guards that have reached zero.
    pub(crate) fn resolve(
        &mut self,
        mut before: PreviousMode,
        triggered: &[usize],
    ) -> Result<Resolution, ContactError> {
        before.change_sides(triggered);
        self.check_side_changes(&before, triggered)?;
        self.find_next(&before, triggered)
    }

    /// The second half, after the motion has restarted in the new mode.
    pub(crate) fn finish(&mut self, resolution: &Resolution) -> Result<(), MotionError> {
        // contacts that close have no gap left only now, and the energy lost by bounces that were cut short counts too
        if let Some(before) = &resolution.before {
            self.log_jump(before);
        }
        self.set_force_threshold()?;
        if resolution.is_start { self.log_take_offs(&resolution.touching, &resolution.struck) } else { Ok(()) }
    }

    fn find_next(&mut self, before: &PreviousMode, triggered: &[usize]) -> Result<Resolution, ContactError> {
        self.count_transitions()?;
        let is_start = self.is_first && self.t == self.window.start;
        let mut touching = self.touching(before, triggered).map_err(ContactError::Failed)?;
        self.check_gap_gradient(&touching)?;
        let mut stopped = vec![false; before.closed.len()];
        let y = self.y.clone();
        let mut remaining = None;
        let mut impact;
        let closed = loop {
            self.y.copy_from_slice(&y);
            impact = self.resolve_impact(&touching, &stopped)?;
            let bounces = &impact.bounces;
            let closed = self.closing_contacts(&touching).map_err(ContactError::Failed)?;
            // bounces that accumulate before anything else can happen are over
            let accumulating = self.accumulating(bounces, &stopped, &closed).map_err(ContactError::Failed)?;
            if accumulating.is_empty() {
                let ended = self.end_accumulation(before, &impact.with_impulse(), &y).map_err(ContactError::Failed)?;
                let closed = ended.map_or(closed, |ended| {
                    (touching, remaining) = (ended.touching, Some(ended.left));
                    ended.closed
                });
                break closed;
            }
            // contacts that take an impulse together come to rest together
            for (contact, time) in accumulating {
                stopped[contact] = true;
                remaining = Some(f64::max(time, remaining.unwrap_or(0.0)));
            }
        };
        // a closed contact whose guard has triggered takes off, an open one takes an impulse
        let n_contacts = before.closed.len();
        let mut releasing: Vec<usize> =
            triggered.iter().copied().filter(|&k| k >= n_contacts || before.closed[k]).collect();
        // if a slip ends or a contact takes an impulse at the same instant, forces jump, and a place at its cone may stick
        let released = |k: usize| match k < n_contacts {
            true => before.closed[k],
            false => before.states[(k - n_contacts) / 2] == ContactState::Sticking,
        };
        if !triggered.iter().all(|&k| released(k)) {
            releasing.clear();
        }
        let has_impact = *self.y != y;
        self.choose_mode(&touching, closed, &releasing, before)?;
        let struck = self.log_impacts(&impact, before);
        self.log_transitions(before, &struck, is_start, remaining.unwrap_or(0.0));
        let before = has_impact.then_some(y);
        Ok(Resolution { touching, struck, before, is_start })
    }

    /// Ends a motion in which a normal force changes its side again and again at one instant: it fits neither, because
    /// friction pulls it to the other each time.
    fn check_side_changes(&mut self, before: &PreviousMode, triggered: &[usize]) -> Result<(), ContactError> {
        let first = before.closed.len();
        for k in (0..before.states.len()).filter(|k| triggered.contains(&(first + 2 * k + 1))) {
            let row = self.system.mode.frictions[k].normals[0];
            let lambda = before.sides[k] * -self.system.smooth.instant.lambda[row];
            let last = self.log.side_changes[k];
            let is_again = self.t - last.t <= self.window.instant(self.t);
            let n_times = if is_again { last.n_times + 1 } else { 1 };
            self.log.side_changes[k] = SideChange { t: self.t, lambda, n_times };
            if n_times > limits::SLIP_REVERSALS {
                let pulls = |lambda: f64| self.describe_current(Inequality::Pull { row, lambda });
                let tried = vec![pulls(lambda), pulls(last.lambda)];
                return Err(ContactError::Ambiguous { t: self.t, rows: vec![row], n_modes: 0, tried });
            }
        }
        Ok(())
    }

    /// Counts transitions. If they follow each other without end, the law does not determine the motion.
    fn count_transitions(&mut self) -> Result<(), ContactError> {
        if self.t - self.log.first_transition > tolerance::ENDLESS_TRANSITIONS * self.window.length() {
            (self.log.first_transition, self.log.n_transitions) = (self.t, 0);
        }
        self.log.n_transitions += 1;
        let speed = length(&self.y[self.system.smooth.n..2 * self.system.smooth.n]);
        let recent = &mut self.log.recent;
        if recent.n_transitions == 0 {
            (recent.since, recent.speed) = (self.t, speed);
        }
        recent.n_transitions += 1;
        let mut is_stuck = self.log.n_transitions >= limits::CONTACT_TRANSITIONS;
        if recent.n_transitions >= limits::CONTACT_TRANSITIONS {
            let so_far = self.t - self.window.start;
            let is_short = self.t - recent.since < tolerance::CROWDED_TRANSITIONS * so_far;
            is_stuck |= is_short && speed > FALLEN_SPEED * recent.speed;
            recent.n_transitions = 0;
        }
        if is_stuck { Err(ContactError::EndlessTransitions { t: self.t }) } else { Ok(()) }
    }

    /// Checks the gaps after an event. A contact whose surface moved away is open; the row of a contact whose surface moved
    /// into the system is returned.
    pub(crate) fn check_gaps(&mut self, before: &mut PreviousMode) -> Result<Option<usize>, MotionError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        system.evaluate()?;
        let mut gaps = vec![0.0; system.smooth.h];
        system.smooth.residuals(ConstraintLevel::Positions, &mut gaps)?;
        for (c, closed) in before.closed.iter_mut().enumerate() {
            let row = system.mode.contacts[c].row;
            let off = tolerance::OFF_CONSTRAINT * system.row_size(row, &system.smooth.q_size);
            if gaps[row] < -off {
                return Ok(Some(row));
            }
            *closed &= gaps[row] <= off;
        }
        Ok(None)
    }

    /// Resolves a corner of a surface, where formulas of closed contacts switch: a contact that runs into the next face
    /// takes an impulse there, one that leaves it opens. Returns the row, and `true` for its velocities, from which a corner
    /// takes the system permanently.
    pub(crate) fn turn_corner(
        &mut self,
        before: &mut PreviousMode,
        turns: &mut Vec<usize>,
        most: f64,
    ) -> Result<Option<(usize, bool)>, MotionError> {
        self.system.open_all();
        self.system.release();
        let closed = before.closed.clone();
        let entered = self.check_gaps(before)?.map(|row| (row, false));
        for c in (0..closed.len()).filter(|&c| closed[c] && !before.closed[c]) {
            let row = self.system.mode.contacts[c].row;
            self.log.transitions.push(ContactTransition { t: self.t, turn: TransitionKind::TakeOff, row });
        }
        // a permanent constraint cannot open
        let of_positions = self.system.smooth.violated_row(ConstraintLevel::Positions, most)?.map(|row| (row, false));
        let of_velocities = self.system.smooth.violated_row(ConstraintLevel::Velocities, most)?.map(|row| (row, true));
        let corner = entered.or(of_positions).or(of_velocities);
        let rates = self.system.rates()?;
        for c in (0..before.closed.len()).filter(|_| corner.is_none()) {
            let row = self.system.mode.contacts[c].row;
            if before.closed[c] && rates[row] < -self.system.rate_noise(&[row]) {
                before.closed[c] = false;
                turns.push(c);
            }
        }
        Ok(corner)
    }

    /// Ends the motion if the gradient of a gap vanishes where it closes: then no normal force can act.
    fn check_gap_gradient(&mut self, touching: &Touching) -> Result<(), ContactError> {
        let system = &self.system;
        for (c, contact) in system.mode.contacts.iter().enumerate() {
            // sizes of coordinates grow on the way, and do not count here
            let size =
                system.smooth.rows.whole.constraint_matrix.row(contact.row).1.iter().map(|a| a.abs()).sum::<f64>();
            self.log.row_tops[c] = self.log.row_tops[c].max(size);
            if touching.contacts.contains(&c) && size < tolerance::VANISHED_ROW * self.log.row_tops[c] {
                return Err(ContactError::MotionNotUnique { t: self.t, rows: vec![contact.row] });
            }
        }
        Ok(())
    }

    /// Logs the states before and after an impact; `y` is that before it.
    fn log_jump(&mut self, y: &[f64]) {
        let smooth = &mut *self.system.smooth;
        smooth.set_state(self.t, y);
        let before = smooth.instant.state.clone();
        smooth.set_state(self.t, self.y);
        let after = smooth.instant.state.clone();
        self.log.jumps.push(Jump { before, after, is_impact: true });
    }

    /// Logs impacts: contacts that took an impulse, unless they were closed and still are. Returns all that did.
    fn log_impacts(&mut self, impact: &ImpactResult, before: &PreviousMode) -> Vec<usize> {
        let struck = impact.with_impulse();
        let mode = &self.system.mode;
        for &c in struck.iter().filter(|&&c| !(before.closed[c] && mode.closed[c])) {
            self.log.transitions.push(ContactTransition {
                t: self.t,
                turn: TransitionKind::Impact,
                row: mode.contacts[c].row,
            });
        }
        struck
    }

    /// Logs contacts that touch where the motion starts, at rest, and open at once.
    fn log_take_offs(&mut self, touching: &Touching, struck: &[usize]) -> Result<(), MotionError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        system.evaluate()?;
        let rates = system.rates()?;
        for (&c, &row) in touching.contacts.iter().zip(touching.normals()) {
            let (col, value) = system.smooth.rows.whole.constraint_matrix.row(row);
            let b = system.smooth.rows.whole.constraint_rhs[row];
            let parts = || col.iter().zip(value).map(|(&j, a)| a * system.smooth.instant.qddot[j]);
            let (opening, terms) = (parts().sum::<f64>() - b, parts().map(f64::abs).sum::<f64>() + b.abs());
            let is_open = !system.mode.closed[c] && !struck.contains(&c);
            if is_open && rates[row].abs() <= system.rate_noise(&[row]) && opening > tolerance::LAW * terms {
                self.log.transitions.push(ContactTransition { t: self.t, turn: TransitionKind::TakeOff, row });
            }
        }
        Ok(())
    }

    /// Open contacts that are about to close at the very end of the run, but for rounding: they close there.
    pub(crate) fn closing_at_end(&mut self) -> Result<Vec<usize>, MotionError> {
        if self.system.mode.contacts.is_empty() {
            return Ok(Vec::new());
        }
        let mut closing = self.closing_within_rounding()?;
        closing.retain(|&c| !self.system.mode.closed[c]);
        Ok(closing)
    }

    /// Contacts whose gap closes within rounding of the end of the run.
    fn closing_within_rounding(&mut self) -> Result<Vec<usize>, MotionError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        let mut gaps = vec![0.0; system.smooth.h];
        system.smooth.residuals(ConstraintLevel::Positions, &mut gaps)?;
        let rates = system.rates()?;
        let soon = self.window.instant(self.window.end);
        let closes = |&c: &usize| {
            let row = system.mode.contacts[c].row;
            rates[row] < -system.rate_noise(&[row])
                && gaps[row] + soon * rates[row]
                    <= tolerance::GAP_ROUNDING * system.row_size(row, &system.smooth.q_size)
        };
        Ok((0..system.mode.contacts.len()).filter(closes).collect())
    }

    /// Sets the mode that follows.
    fn choose_mode(
        &mut self,
        touching: &Touching,
        closed: Vec<bool>,
        triggered: &[usize],
        before: &PreviousMode,
    ) -> Result<(), ContactError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        let rates = system.rates().map_err(ContactError::Failed)?;
        for (&c, &row) in touching.contacts.iter().zip(touching.normals()) {
            system.mode.separating[c] = !closed[c] && rates[row] <= system.rate_noise(&[row]);
        }
        let resting = |c: &usize| {
            let row = system.mode.contacts[*c].row;
            rates[row] <= system.rate_noise(&[row])
        };
        let resting: Vec<usize> = touching.contacts.iter().copied().filter(resting).collect();
        if !system.mode.frictions.is_empty() {
            self.choose_among(&resting, triggered, before)?;
            let mode = &mut self.system.mode;
            resting.iter().for_each(|&c| mode.separating[c] = !mode.closed[c]);
            return self.note_indeterminate_forces().map_err(ContactError::Failed);
        }
        system.mode.closed = closed;
        system.mask();
        self.note_indeterminate_forces().map_err(ContactError::Failed)
    }

    /// `true` if contact c has opened and still touches, because sticking places hold it there.
    fn unloaded(&mut self, c: usize, before: &PreviousMode) -> bool {
        let system = &mut self.system;
        let touched = before.closed[c] || system.mode.unloaded[c];
        touched
            && !system.mode.closed[c]
            && system.mode.sticks()
            && system.are_blocked(&[system.mode.contacts[c].row]).unwrap_or(false)
    }

    /// Logs contacts that have opened or closed; `remaining` is the time of bounces that were cut short. A contact with
    /// an impulse opens by the impact.
    fn log_transitions(&mut self, before: &PreviousMode, struck: &[usize], is_start: bool, remaining: f64) {
        let unloaded: Vec<bool> = (0..before.closed.len()).map(|c| self.unloaded(c, before)).collect();
        let stayed = std::mem::replace(&mut self.system.mode.unloaded, unloaded);
        if is_start {
            return;
        }
        let mode = &self.system.mode;
        for (c, contact) in mode.contacts.iter().enumerate() {
            let touched = before.closed[c] || stayed[c];
            let (turn, t) = match (touched, mode.closed[c] || mode.unloaded[c]) {
                (false, true) => (TransitionKind::Rest, (self.t + remaining).min(self.window.end)),
                (true, false) if !struck.contains(&c) => (TransitionKind::TakeOff, self.t),
                _ => continue,
            };
            self.log.transitions.push(ContactTransition { t, turn, row: contact.row });
        }
        for k in 0..mode.frictions.len() {
            let friction = &mode.frictions[k];
            // without friction nothing turns back
            let has_law = mode.laws[k].static_mu > 0.0 || mode.laws[k].kinetic_mu > 0.0;
            let turn = match (before.reported_state(k), mode.reported_state(k)) {
                (ContactState::Sticking, ContactState::Sliding(_)) => TransitionKind::Slip,
                (ContactState::Sliding(_), ContactState::Sticking) => TransitionKind::Stick,
                // the slip stops and turns back
                (ContactState::Sliding(old), ContactState::Sliding(new)) if has_law && self.accelerates(k, new) => {
                    match friction.slip.len() {
                        1 if old != new => TransitionKind::Slip,
                        2.. if mode.slip_onset[k] && before.turns_back(k, mode) => TransitionKind::Slip,
                        _ => continue,
                    }
                }
                _ => continue,
            };
            self.log.transitions.push(ContactTransition { t: self.t, turn, row: friction.normals[0] });
        }
    }

    /// Sets the threshold below which a normal force is treated as zero.
    fn set_force_threshold(&mut self) -> Result<(), MotionError> {
        /// A mode may begin with tensile forces within rounding; it ends at twice these.
        const ENDING_MODE: f64 = 2.0;
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        system.evaluate()?;
        let top = system.smooth.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        // a mode must not end while some distribution of indeterminate forces satisfies it
        let part =
            if system.is_indeterminate(self.rank) { tolerance::INDETERMINATE_FORCE } else { tolerance::ROUNDING };
        // nor does it end by forces that it began with
        let closed = system.mode.contacts.iter().zip(&system.mode.closed).filter(|(_, closed)| **closed);
        let pull = closed.map(|(contact, _)| -system.smooth.instant.lambda[contact.row]).fold(0.0, f64::max);
        system.mode.force_threshold = f64::max(part * top, ENDING_MODE * pull);
        Ok(())
    }
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// Contacts whose gap has grown beyond rounding may take an impulse again.
    pub(crate) fn update_separation(&mut self, t: f64, y: &[f64]) -> Result<(), MotionError> {
        if !self.mode.separating.contains(&true) {
            return Ok(());
        }
        self.smooth.set_state(t, y);
        self.smooth.fill_gaps()?;
        for c in 0..self.mode.contacts.len() {
            let row = self.mode.contacts[c].row;
            let has_left =
                self.smooth.scratch.residual[row] > tolerance::SEPARATING * self.row_size(row, &self.smooth.q_size);
            self.mode.separating[c] &= !has_left;
        }
        Ok(())
    }
}
