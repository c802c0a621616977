//! The log of a motion: events that changed something, jumps, and switches of formulas.

use super::{Outcome, events::SignChange};
use crate::{
    Jump, limits,
    tolerance::{self, RunWindow},
};

/// Events so far.
pub(super) struct EventLog {
    pub(super) events: Vec<SignChange>,
    /// Jumps that have not been taken yet, in the order of time.
    pub(super) jumps: Vec<Jump>,
    /// Times and indices of events that set velocities which the constraints do not allow.
    pub(super) undone: Vec<(f64, usize)>,
    /// The time since which switches of formulas are counted, and their number.
    first_switch: f64,
    n_switches: usize,
}

impl EventLog {
    pub(super) fn new(start: f64) -> EventLog {
        EventLog { events: Vec::new(), jumps: Vec::new(), undone: Vec::new(), first_switch: start, n_switches: 0 }
    }

    /// An event changed something.
    pub(super) fn log(&mut self, event: SignChange) {
        self.events.push(event);
    }

    /// Events changed the velocities or the system.
    pub(super) fn log_jump(&mut self, jump: Jump) {
        self.jumps.push(jump);
    }

    /// Takes over impacts.
    pub(super) fn log_impacts(&mut self, impacts: &mut Vec<Jump>) {
        self.jumps.append(impacts);
    }

    /// The jumps since the last call.
    pub(super) fn take_jumps(&mut self) -> Vec<Jump> {
        std::mem::take(&mut self.jumps)
    }

    /// An event set velocities which the constraints do not allow.
    pub(super) fn log_undone(&mut self, t: f64, event: usize) {
        self.undone.push((t, event));
    }

    /// Counts a switch of formulas. Switches that follow each other without end are a sliding motion, which the formulas do not
    /// determine.
    pub(super) fn count_switch(&mut self, t: f64, event: usize, window: RunWindow) -> Result<(), Outcome> {
        if self.n_switches == 0 {
            self.first_switch = t;
        }
        self.n_switches += 1;
        if self.n_switches < limits::SWITCHES {
            return Ok(());
        }
        self.n_switches = 0;
        let close = t - self.first_switch < tolerance::CROWDED_SWITCHES * window.length();
        if close { Err(Outcome::Sliding { event }) } else { Ok(()) }
    }
}
