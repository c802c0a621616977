//! Bounded forces: those at a bound, which bound it is, and since when.

use super::events::EventFinder;

/// A bounded force has come to another bound, or has left one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Time of the change.
    pub t: f64,
    /// Index among the driven coordinates.
    pub place: usize,
    /// The bound before: 1 the upper one, −1 the lower one, 0 none.
    pub before: i8,
    /// The bound from now on.
    pub side: i8,
}

/// The bound at which each bounded force is, and every change of these.
pub(super) struct SaturationLog {
    sides: Vec<i8>,
    pub(super) changes: Vec<Saturation>,
}

impl SaturationLog {
    pub(super) fn new(n_bounded: usize) -> SaturationLog {
        SaturationLog { sides: vec![0; n_bounded], changes: Vec::new() }
    }

    /// Compares the bounds that act with those that did: whatever has happened at t may have changed them.
    pub(super) fn update(&mut self, t: f64, events: &EventFinder) {
        for place in 0..self.sides.len() {
            let (before, side) = (self.sides[place], events.side(place));
            if side != before {
                self.changes.push(Saturation { t, place, before, side });
                self.sides[place] = side;
            }
        }
    }
}
