//! Quantities that change their sign during a step, located on its dense output.

use super::step::Step;
use crate::{Dynamics, MotionError, flow::Flow};

/// A watched quantity changed its sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub t: f64,
    /// Which of the watched quantities.
    pub event: usize,
    /// From negative to positive.
    pub upwards: bool,
}

/// The first events of a step: when, and which in which direction.
pub(crate) struct Found {
    pub(crate) t: f64,
    pub(crate) which: Vec<(usize, bool)>,
}

/// The signs of the watched quantities at the start of the step.
pub(crate) struct Watch {
    /// None for one that is zero where the watch began.
    positive: Vec<Option<bool>>,
    /// How many are the system's own; then come bounds of forces, two for each; the rest are ends of the mode, positive
    /// while it lasts.
    n_events: usize,
    n_own: usize,
    values: Vec<f64>,
    y: Vec<f64>,
}

/// Places in a step at which the signs are looked at.
const LOOKS: usize = 8;

impl Watch {
    pub(crate) fn new(n_events: usize, n_bounds: usize, n_turns: usize) -> Watch {
        let n_own = n_events + n_bounds;
        let n = n_own + n_turns;
        Watch { positive: vec![None; n], n_events, n_own, values: vec![0.0; n], y: Vec::new() }
    }

    /// The bound at which a force is, of the two watched from here on: 1 the upper one, −1 the lower one, 0 none.
    pub(crate) fn side(&self, upper: usize) -> i8 {
        match (self.positive[upper], self.positive[upper + 1]) {
            (Some(false), _) => 1,
            (_, Some(false)) => -1,
            _ => 0,
        }
    }

    /// The system's own events among these, and the ends of the mode.
    pub(crate) fn part(&self, which: &[(usize, bool)]) -> (Vec<(usize, bool)>, Vec<usize>) {
        let own = which.iter().copied().filter(|(event, _)| *event < self.n_own).collect();
        (own, which.iter().filter(|(event, _)| *event >= self.n_own).map(|(event, _)| event - self.n_own).collect())
    }

    fn fill<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        let (own, turns) = self.values.split_at_mut(self.n_own);
        flow.fill_watched(own)?;
        flow.fill_turns(turns)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Notes the signs where the flow stands.
    pub(crate) fn begin<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        if self.is_empty() {
            return Ok(());
        }
        self.fill(flow)?;
        self.positive.iter_mut().zip(&self.values).for_each(|(sign, x)| *sign = (*x != 0.0).then_some(*x > 0.0));
        // a force that is just as large as its bound has not come to it
        for (sign, x) in self.positive[self.n_events..self.n_own].iter_mut().zip(&self.values[self.n_events..]) {
            *sign = Some(*x >= 0.0);
        }
        self.positive[self.n_own..].fill(Some(true));
        Ok(())
    }

    /// These quantities have changed their sign.
    pub(crate) fn passed(&mut self, which: &[(usize, bool)]) {
        let own = which.iter().filter(|(event, _)| *event < self.n_own);
        own.for_each(|&(event, upwards)| self.positive[event] = Some(upwards));
    }

    fn place<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) {
        self.y.resize(step.y.len(), 0.0);
        step.values(t, &mut self.y);
        flow.place(t, &self.y);
    }

    /// Where a gap that closes at one look and opens at the next has closed altogether between them: a place inside.
    fn dip<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        (start, end): (f64, f64),
        (closing, opening): (&[f64], &[f64]),
    ) -> Result<Option<f64>, MotionError> {
        /// Halvings until the nearest place is met to rounding of its depth.
        const HALVINGS: usize = 40;
        for c in (0..closing.len()).filter(|&c| closing[c] < 0.0 && opening[c] > 0.0) {
            let (mut low, mut high) = (start, end);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                self.place(flow, step, middle);
                if flow.closing()?[c] < 0.0 { low = middle } else { high = middle }
            }
            self.at(flow, step, low)?;
            if self.changed() {
                return Ok(Some(low));
            }
        }
        Ok(None)
    }

    fn at<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) -> Result<(), MotionError> {
        self.place(flow, step, t);
        self.fill(flow)
    }

    fn changed(&self) -> bool {
        self.values.iter().zip(&self.positive).any(|(x, sign)| has_changed(*x, *sign))
    }

    /// Gives those that were zero the sign they have now.
    fn settle(&mut self) {
        for (sign, x) in self.positive.iter_mut().zip(&self.values).filter(|(sign, x)| sign.is_none() && **x != 0.0) {
            *sign = Some(*x > 0.0);
        }
    }

    /// The first change of sign in the step, to rounding: by bisection, which asks nothing of the quantity but its sign.
    pub(crate) fn first<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
    ) -> Result<Option<Found>, MotionError> {
        let whole = step.end - step.start;
        let (mut low, mut high) = (step.start, f64::NAN);
        self.place(flow, step, low);
        let mut closing = flow.closing()?;
        for k in 1..=LOOKS {
            let t = if k == LOOKS { step.end } else { step.start + whole * k as f64 / LOOKS as f64 };
            self.at(flow, step, t)?;
            self.settle();
            if self.changed() {
                high = t;
                break;
            }
            self.place(flow, step, t);
            let opening = flow.closing()?;
            if let Some(dip) = self.dip(flow, step, (low, t), (&closing, &opening))? {
                high = dip;
                break;
            }
            closing = opening;
            low = t;
        }
        if high.is_nan() {
            return Ok(None);
        }
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            self.at(flow, step, middle)?;
            if self.changed() {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.at(flow, step, high)?;
        let signs = self.values.iter().zip(&self.positive).enumerate();
        let which = signs.filter(|(_, (x, sign))| has_changed(**x, **sign)).map(|(k, (x, _))| (k, *x > 0.0)).collect();
        Ok(Some(Found { t: high, which }))
    }
}

/// Whether a quantity has the other sign than it had. Zero has none, so that a step never starts on the edge itself.
fn has_changed(x: f64, positive: Option<bool>) -> bool {
    positive.is_some_and(|positive| if positive { x < 0.0 } else { x > 0.0 })
}
