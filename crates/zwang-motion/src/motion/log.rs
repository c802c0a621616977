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
    /// For each condition the time at which it was triggered last, and how often it was at that instant.
    triggered: Vec<(f64, usize)>,
}

impl EventLog {
    pub(super) fn new(start: f64) -> EventLog {
        EventLog {
            events: Vec::new(),
            jumps: Vec::new(),
            undone: Vec::new(),
            first_switch: start,
            n_switches: 0,
            triggered: Vec::new(),
        }
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

    /// Counts a condition that is triggered. One that is triggered again and again at one instant, through jumps that become ever
    /// smaller or that undo each other, has no motion after it.
    pub(super) fn count_condition(&mut self, t: f64, event: usize, window: RunWindow) -> Result<(), Outcome> {
        if self.triggered.len() <= event {
            self.triggered.resize(event + 1, (f64::NEG_INFINITY, 0));
        }
        let instant = window.instant(t);
        let (last, n_times) = &mut self.triggered[event];
        *n_times = if t - *last <= instant { *n_times + 1 } else { 1 };
        *last = t;
        if *n_times < limits::TRIGGERS_AT_ONE_INSTANT {
            return Ok(());
        }
        let is_endless =
            |(last, n_times): &(f64, usize)| t - last <= instant && 2 * n_times > limits::TRIGGERS_AT_ONE_INSTANT;
        let events = (0..self.triggered.len()).filter(|&k| is_endless(&self.triggered[k])).collect();
        Err(Outcome::AccumulatedEvents { t, events })
    }

    /// Counts a switch of formulas; `rate` is the fastest relative rate of change. Switches that follow each other without end are a sliding motion, which the formulas do not
    /// determine.
    pub(super) fn count_switch(&mut self, t: f64, event: usize, rate: f64) -> Result<(), Outcome> {
        if self.n_switches == 0 {
            self.first_switch = t;
        }
        self.n_switches += 1;
        if self.n_switches < limits::SWITCHES {
            return Ok(());
        }
        self.n_switches = 0;
        let span = t - self.first_switch;
        let unresolved = limits::SWITCHES as f64 * tolerance::UNRESOLVED_SWITCH * t.abs();
        if span * rate < tolerance::CROWDED_SWITCHES || span < unresolved {
            Err(Outcome::Sliding { event })
        } else {
            Ok(())
        }
    }
}
