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
    values: Vec<f64>,
    y: Vec<f64>,
}

/// Places in a step at which the signs are looked at.
const LOOKS: usize = 8;

impl Watch {
    pub(crate) fn new(n_events: usize) -> Watch {
        Watch { positive: vec![None; n_events], values: vec![0.0; n_events], y: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Notes the signs where the flow stands.
    pub(crate) fn begin<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        if self.is_empty() {
            return Ok(());
        }
        flow.fill_watched(&mut self.values)?;
        self.positive.iter_mut().zip(&self.values).for_each(|(sign, x)| *sign = (*x != 0.0).then_some(*x > 0.0));
        Ok(())
    }

    /// These quantities have changed their sign.
    pub(crate) fn passed(&mut self, which: &[(usize, bool)]) {
        which.iter().for_each(|&(event, upwards)| self.positive[event] = Some(upwards));
    }

    fn at<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) -> Result<(), MotionError> {
        self.y.resize(step.y.len(), 0.0);
        step.values(t, &mut self.y);
        flow.place(t, &self.y);
        flow.fill_watched(&mut self.values)
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
        for k in 1..=LOOKS {
            let t = if k == LOOKS { step.end } else { step.start + whole * k as f64 / LOOKS as f64 };
            self.at(flow, step, t)?;
            self.settle();
            if self.changed() {
                high = t;
                break;
            }
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
