//! Contacts and friction along a motion: where a mode ends, what is struck, which mode follows.

use super::impact::Blow;
use super::touching::Touching;
use super::*;
use crate::factor::dot;
use crate::unilateral::modes::{Grip, Modes};
use crate::unilateral::{ModeChange, Slip, Turn, length};

/// A gap below this part of the size of its row counts as touching; it equals the default tolerance of a run.
pub(super) const TOUCHING: f64 = 1e-9;

/// The gap of a contact that opens without a blow may be negative by this part of the size of its row: nothing but rounding
/// and the error of one step.
pub(super) const LIFTING: f64 = 1e-10;

/// A push below this part of those that the forces at hand make is none.
pub(super) const NO_PUSH: f64 = 1e-12;

/// The same where forces are shared.
const NO_SHARE: f64 = 3e-10;

/// Gaps below this part of the size of the row are rounding.
const ROUNDING: f64 = 1e-15;

/// So many changes of mode within this part of the run do not end.
const MOST_CHANGES: usize = 10_000;
const CLOSE: f64 = 1e-9;

/// At this rate a run has a hundred million of them; they do not end either, unless speeds fall to this part meanwhile, as they do
/// where bounces die out.
const BUSY: f64 = 1e-4;
const FALLEN: f64 = 0.5;

/// Many changes of mode, and how fast the system was where they began to be counted.
#[derive(Default)]
pub(super) struct Busy {
    since: f64,
    n_changes: usize,
    speed: f64,
}

/// Where a force changed its side: when, what it was there, and how often it has done so at this very instant.
#[derive(Clone, Copy, Default)]
pub(super) struct SideChange {
    t: f64,
    lambda: f64,
    n_times: usize,
}

/// The mode that was left, to tell what has changed.
pub(super) struct Before {
    pub(super) closed: Vec<bool>,
    pub(super) grips: Vec<Grip>,
    /// Whether each slides only by name, and stands.
    stands: Vec<bool>,
    /// The sign with which each friction is pressed.
    pub(super) presses: Vec<f64>,
    pub(super) directions: Vec<Slip>,
    /// Below which slips follow their acceleration.
    pub(super) slow: Vec<f64>,
    /// Whether rows that hold repeat each other where nothing slides, so that forces may be shared in many ways.
    pub(super) is_shared: bool,
}

impl Before {
    /// Whether it is this mode.
    pub(super) fn is_same(&self, modes: &Modes) -> bool {
        self.closed == modes.closed && self.grips == modes.grips
    }

    /// What friction k did, as it is told.
    pub(super) fn told(&self, k: usize) -> Grip {
        if self.stands[k] { Grip::Sticks } else { self.grips[k] }
    }

    /// A force that has changed its side presses on the other: where it is zero both would fit.
    fn change_sides(&mut self, fired: &[usize]) {
        let n_contacts = self.closed.len();
        for (k, press) in self.presses.iter_mut().enumerate() {
            if fired.contains(&(n_contacts + 2 * k + 1)) {
                *press *= -1.0;
            }
        }
    }

    /// Whether friction k slides away from where it went.
    fn turns_back(&self, k: usize, modes: &Modes) -> bool {
        dot(&self.directions[k], &modes.directions[k]) < 0.0
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The mode now.
    pub(super) fn mode(&self) -> Before {
        let modes = &self.flow.modes;
        Before {
            closed: modes.closed.clone(),
            grips: modes.grips.clone(),
            stands: modes.stands.clone(),
            presses: modes.presses.clone(),
            directions: modes.directions.clone(),
            slow: modes.slow.clone(),
            is_shared: self.flow.has_shares(self.rank),
        }
    }

    /// Changes of mode so far, in the order of time.
    pub fn mode_changes(&self) -> &[ModeChange] {
        &self.mode_changes
    }

    /// The mode at the start, and what is struck there.
    pub(super) fn begin_contact(&mut self) -> Result<(), MotionError> {
        if self.flow.modes.is_empty() {
            return Ok(());
        }
        if let (true, Some(contact)) = (self.method.is_fixed_step(), self.flow.modes.contacts.first()) {
            return Err(MotionError::NotHolonomic { row: contact.row });
        }
        self.flow.wants_lambda = true;
        let before = self.mode();
        match self.settle(before, &[]) {
            Err(Outcome::Failed(error) | Outcome::Contradiction { error, .. }) => Err(error),
            Err(outcome) => {
                self.outcome = Some(outcome);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Finds impacts and the mode that follows where the motion stands, and begins there. `fired` are the contacts whose gap
    /// or push has reached zero.
    pub(super) fn settle(&mut self, mut before: Before, fired: &[usize]) -> Result<(), Outcome> {
        let (modes, y) = (self.flow.modes.clone(), self.y.clone());
        before.change_sides(fired);
        let done = self.mind_sides(&before, fired).and_then(|()| self.find_next(&before, fired));
        if done.is_err() {
            // what is read off where the motion stops is what came before
            (self.flow.modes, self.y) = (modes, y);
            self.flow.release();
        }
        done
    }

    fn find_next(&mut self, before: &Before, fired: &[usize]) -> Result<(), Outcome> {
        self.count_changes()?;
        let is_start = self.counts.steps == 0 && self.t == self.t0;
        let mut touching = self.touching(before, fired).map_err(Outcome::Failed)?;
        self.mind_vanishing(&touching)?;
        let mut stopped = vec![false; before.closed.len()];
        let y = self.y.clone();
        let mut left = None;
        let mut blow;
        let closed = loop {
            self.y.copy_from_slice(&y);
            blow = self.strike(&touching, &stopped)?;
            let bounces = &blow.bounces;
            let closed = self.rest(&touching).map_err(Outcome::Failed)?;
            // bounces that die out before anything else can happen are over
            let dying = self.dying(bounces, &stopped, &closed).map_err(Outcome::Failed)?;
            if dying.is_empty() {
                let ended = self.end_rocking(before, &blow.struck(), &y).map_err(Outcome::Failed)?;
                let closed = ended.map_or(closed, |ended| {
                    (touching, left) = (ended.touching, Some(ended.left));
                    ended.closed
                });
                break closed;
            }
            // feet that are struck together come to rest together
            for (contact, time) in dying {
                stopped[contact] = true;
                left = Some(f64::max(time, left.unwrap_or(0.0)));
            }
        };
        // a closed contact that has fired takes off, an open one was struck
        let n_contacts = before.closed.len();
        let mut let_go: Vec<usize> = fired.iter().copied().filter(|&k| k >= n_contacts || before.closed[k]).collect();
        // where a slip ends or a contact is struck at the same instant, forces jump, and what was at its edge may hold
        let lets_go = |k: usize| match k < n_contacts {
            true => before.closed[k],
            false => before.grips[(k - n_contacts) / 2] == Grip::Sticks,
        };
        if !fired.iter().all(|&k| lets_go(k)) {
            let_go.clear();
        }
        let is_struck = self.y != y;
        self.choose_mode(&touching, closed, &let_go, before)?;
        let struck = self.note_impacts(&blow, before);
        self.note_turns(before, &struck, is_start, left.unwrap_or(0.0));
        self.begin().map_err(|error| self.failed(error))?;
        // only now do contacts that close have no gap left, and what bounces cut short have lost is counted too
        if is_struck {
            self.count_energy(&y).map_err(Outcome::Failed)?;
        }
        self.mind_pushes().map_err(Outcome::Failed)?;
        if is_start { self.note_leaving(&touching, &struck).map_err(Outcome::Failed) } else { Ok(()) }
    }

    /// A force that changes its side again and again at one instant fits neither: friction would pull it to the other each time.
    fn mind_sides(&mut self, before: &Before, fired: &[usize]) -> Result<(), Outcome> {
        /// It may once where its slip turns back, and once more.
        const MOST: usize = 3;
        let first = before.closed.len();
        for k in (0..before.grips.len()).filter(|k| fired.contains(&(first + 2 * k + 1))) {
            let row = self.flow.modes.frictions[k].normals[0];
            let lambda = before.presses[k] * -self.flow.instant.lambda[row];
            let last = self.side_changes[k];
            let is_again = self.t - last.t <= SHORTEST * (self.plan.end - self.t0).max(self.t.abs());
            let n_times = if is_again { last.n_times + 1 } else { 1 };
            self.side_changes[k] = SideChange { t: self.t, lambda, n_times };
            if n_times > MOST {
                let pulls = |lambda: f64| self.told_now(Inequality::Pull { row, lambda });
                let tried = vec![pulls(lambda), pulls(last.lambda)];
                return Err(Outcome::Ambiguous { t: self.t, rows: vec![row], n_modes: 0, tried });
            }
        }
        Ok(())
    }

    /// Changes that follow each other without end are a motion that this law does not determine.
    fn count_changes(&mut self) -> Result<(), Outcome> {
        if self.t - self.first_change > CLOSE * (self.plan.end - self.t0) {
            (self.first_change, self.n_changes) = (self.t, 0);
        }
        self.n_changes += 1;
        let speed = length(&self.y[self.flow.n..2 * self.flow.n]);
        let busy = &mut self.busy;
        if busy.n_changes == 0 {
            (busy.since, busy.speed) = (self.t, speed);
        }
        busy.n_changes += 1;
        let mut is_stuck = self.n_changes >= MOST_CHANGES;
        if busy.n_changes >= MOST_CHANGES {
            let is_short = self.t - busy.since < BUSY * (self.plan.end - self.t0);
            is_stuck |= is_short && speed > FALLEN * busy.speed;
            busy.n_changes = 0;
        }
        if is_stuck { Err(Outcome::Restless { t: self.t }) } else { Ok(()) }
    }

    /// Looks at the gaps after an event: a contact whose surface went away is open; the row of one whose surface went into the
    /// system is returned.
    pub(super) fn mind_gaps(&mut self, before: &mut Before) -> Result<Option<usize>, MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        for (c, closed) in before.closed.iter_mut().enumerate() {
            let row = flow.modes.contacts[c].row;
            let off = jump::OFF * flow.row_size(row, &flow.q_size);
            if gaps[row] < -off {
                return Ok(Some(row));
            }
            *closed &= gaps[row] <= off;
        }
        Ok(None)
    }

    /// A gap whose derivatives vanish where it closes does not tell how fast, and nothing can push.
    fn mind_vanishing(&mut self, touching: &Touching) -> Result<(), Outcome> {
        /// Beside the largest so far, a row below this has vanished.
        const NOTHING: f64 = 1e-9;
        let flow = &self.flow;
        for (c, contact) in flow.modes.contacts.iter().enumerate() {
            // sizes of coordinates grow on the way, and have no part in this
            let size = flow.modes.whole.constraint_matrix.row(contact.row).1.iter().map(|a| a.abs()).sum::<f64>();
            self.row_tops[c] = self.row_tops[c].max(size);
            if touching.contacts.contains(&c) && size < NOTHING * self.row_tops[c] {
                return Err(Outcome::Undetermined { t: self.t, rows: vec![contact.row] });
            }
        }
        Ok(())
    }

    /// Lets the system count the energy that a blow takes.
    fn count_energy(&mut self, y: &[f64]) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, y);
        let state = flow.instant.state.clone();
        flow.dynamics.struck(&state)?;
        flow.place(self.t, &self.y);
        let state = flow.instant.state.clone();
        flow.dynamics.landed(&state)
    }

    /// Notes what was struck: contacts that took an impulse, unless they were closed and still are. Returns all that did.
    fn note_impacts(&mut self, blow: &Blow, before: &Before) -> Vec<usize> {
        let struck = blow.struck();
        let modes = &self.flow.modes;
        for &c in struck.iter().filter(|&&c| !(before.closed[c] && modes.closed[c])) {
            self.mode_changes.push(ModeChange { t: self.t, turn: Turn::Impact, row: modes.contacts[c].row });
        }
        struck
    }

    /// Notes contacts that touch where the motion starts, at rest, and leave at once.
    fn note_leaving(&mut self, touching: &Touching, struck: &[usize]) -> Result<(), MotionError> {
        /// An acceleration below this part of its terms is rounding.
        const NOTHING: f64 = 1e-9;
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let rates = flow.rates()?;
        for (&c, &row) in touching.contacts.iter().zip(touching.normals()) {
            let (col, value) = flow.modes.whole.constraint_matrix.row(row);
            let b = flow.modes.whole.constraint_rhs[row];
            let parts = || col.iter().zip(value).map(|(&j, a)| a * flow.instant.qddot[j]);
            let (opening, terms) = (parts().sum::<f64>() - b, parts().map(f64::abs).sum::<f64>() + b.abs());
            let is_open = !flow.modes.closed[c] && !struck.contains(&c);
            if is_open && rates[row].abs() <= flow.rate_noise(&[row]) && opening > NOTHING * terms {
                self.mode_changes.push(ModeChange { t: self.t, turn: Turn::TakeOff, row });
            }
        }
        Ok(())
    }

    /// A contact that is about to close at the very end of the run, but for rounding, closes there.
    pub(super) fn strike_at_end(&mut self) -> Result<(), Outcome> {
        if self.flow.modes.contacts.is_empty() {
            return Ok(());
        }
        let before = self.mode();
        let mut touching = self.closing_at_end().map_err(Outcome::Failed)?;
        touching.retain(|&c| !before.closed[c]);
        if touching.is_empty() { Ok(()) } else { self.settle(before, &touching) }
    }

    /// The contacts whose gap closes within rounding of the end.
    fn closing_at_end(&mut self) -> Result<Vec<usize>, MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        let rates = flow.rates()?;
        let soon = SHORTEST * (self.plan.end - self.t0).max(self.plan.end.abs());
        let closes = |&c: &usize| {
            let row = flow.modes.contacts[c].row;
            rates[row] < -flow.rate_noise(&[row])
                && gaps[row] + soon * rates[row] <= ROUNDING * flow.row_size(row, &flow.q_size)
        };
        Ok((0..flow.modes.contacts.len()).filter(closes).collect())
    }

    /// Sets the mode that follows.
    fn choose_mode(
        &mut self,
        touching: &Touching,
        closed: Vec<bool>,
        fired: &[usize],
        before: &Before,
    ) -> Result<(), Outcome> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates().map_err(Outcome::Failed)?;
        for (&c, &row) in touching.contacts.iter().zip(touching.normals()) {
            flow.modes.lifting[c] = !closed[c] && rates[row] <= flow.rate_noise(&[row]);
        }
        let resting = |c: &usize| {
            let row = flow.modes.contacts[*c].row;
            rates[row] <= flow.rate_noise(&[row])
        };
        let resting: Vec<usize> = touching.contacts.iter().copied().filter(resting).collect();
        if !flow.modes.frictions.is_empty() {
            self.choose_among(&resting, fired, before)?;
            let modes = &mut self.flow.modes;
            resting.iter().for_each(|&c| modes.lifting[c] = !modes.closed[c]);
            return self.mind_shared().map_err(Outcome::Failed);
        }
        flow.modes.closed = closed;
        flow.modes.switch();
        self.mind_shared().map_err(Outcome::Failed)
    }

    /// Whether contact c has opened and touches all the same, because what sticks holds it there.
    fn stays(&mut self, c: usize, before: &Before) -> bool {
        let flow = &mut self.flow;
        let touched = before.closed[c] || flow.modes.stays[c];
        touched
            && !flow.modes.closed[c]
            && flow.modes.sticks()
            && flow.are_held(&[flow.modes.contacts[c].row]).unwrap_or(false)
    }

    /// Notes which contacts have opened or closed; `left` is the time that bounces cut short would still take. What is struck
    /// opens by the blow.
    fn note_turns(&mut self, before: &Before, struck: &[usize], is_start: bool, left: f64) {
        let stays: Vec<bool> = (0..before.closed.len()).map(|c| self.stays(c, before)).collect();
        let stayed = std::mem::replace(&mut self.flow.modes.stays, stays);
        if is_start {
            return;
        }
        let modes = &self.flow.modes;
        for (c, contact) in modes.contacts.iter().enumerate() {
            let touched = before.closed[c] || stayed[c];
            let (turn, t) = match (touched, modes.closed[c] || modes.stays[c]) {
                (false, true) => (Turn::Rest, (self.t + left).min(self.plan.end)),
                (true, false) if !struck.contains(&c) => (Turn::TakeOff, self.t),
                _ => continue,
            };
            self.mode_changes.push(ModeChange { t, turn, row: contact.row });
        }
        for k in 0..modes.frictions.len() {
            let friction = &modes.frictions[k];
            // without friction nothing turns back
            let is_rough = modes.roughness[k].holding > 0.0 || modes.roughness[k].sliding > 0.0;
            let turn = match (before.told(k), modes.told(k)) {
                (Grip::Sticks, Grip::Slides(_)) => Turn::Slip,
                (Grip::Slides(_), Grip::Sticks) => Turn::Stick,
                // it stops and slides back
                (Grip::Slides(old), Grip::Slides(new)) if is_rough && self.sets_off(k, new) => {
                    match friction.slip.len() {
                        1 if old != new => Turn::Slip,
                        2.. if modes.sets_out[k] && before.turns_back(k, modes) => Turn::Slip,
                        _ => continue,
                    }
                }
                _ => continue,
            };
            self.mode_changes.push(ModeChange { t: self.t, turn, row: friction.normals[0] });
        }
    }

    /// How small a push of each closed contact counts as none.
    fn mind_pushes(&mut self) -> Result<(), MotionError> {
        /// Room beside the pull, within rounding, of a contact that a mode begins with.
        const BEGUN: f64 = 2.0;
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let top = flow.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        // shared forces are found less exactly: a mode must not end while some way to share them is left
        let part = if flow.has_shares(self.rank) { NO_SHARE } else { NO_PUSH };
        // nor does it end by what it was begun with
        let closed = flow.modes.contacts.iter().zip(&flow.modes.closed).filter(|(_, closed)| **closed);
        let pull = closed.map(|(contact, _)| -flow.instant.lambda[contact.row]).fold(0.0, f64::max);
        flow.modes.no_push = f64::max(part * top, BEGUN * pull);
        Ok(())
    }

    /// Contacts that have left for good may be struck again.
    pub(super) fn mind_lifting(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        if !flow.modes.lifting.contains(&true) {
            return Ok(());
        }
        flow.place(self.t, &self.y);
        flow.fill_gaps()?;
        for c in 0..flow.modes.contacts.len() {
            let row = flow.modes.contacts[c].row;
            let has_left = flow.residual[row] > LIFTING * flow.row_size(row, &flow.q_size);
            flow.modes.lifting[c] &= !has_left;
        }
        Ok(())
    }
}
