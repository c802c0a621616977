//! Bounded forces: which of them are at which bound, and since when.

use super::*;

/// A bounded force has come to another bound, or has left one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// When.
    pub t: f64,
    /// Which of the driven coordinates.
    pub place: usize,
    /// The bound before: 1 the upper one, −1 the lower one, 0 none.
    pub before: i8,
    /// The bound from now on.
    pub side: i8,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Every change of bound so far, those at the start included.
    pub fn saturations(&self) -> &[Saturation] {
        &self.saturations
    }

    /// Compares the bounds that act with those that did: whatever has happened here may have changed them.
    pub(super) fn note_bounds(&mut self) {
        let first = self.flow.dynamics.n_events();
        // what begins with the motion begins at its start
        let t = if self.t - self.t0 <= SHORTEST * (self.plan.end - self.t0) { self.t0 } else { self.t };
        for place in 0..self.sides.len() {
            let (before, side) = (self.sides[place], self.watch.side(first + 2 * place));
            if side != before {
                self.saturations.push(Saturation { t, place, before, side });
                self.sides[place] = side;
            }
        }
    }
}
