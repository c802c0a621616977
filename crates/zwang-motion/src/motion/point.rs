//! The point that a motion has reached.

use crate::{Dynamics, State, smooth::Smooth};

/// Time and y = (q, q̇, integrals).
pub(super) struct Point {
    /// Time at which the motion started.
    pub(super) start: f64,
    pub(super) t: f64,
    pub(super) y: Vec<f64>,
    /// The number of coordinates.
    n: usize,
}

impl Point {
    /// The start of a motion; `size` is the length of y, and the integrals are zero.
    pub(super) fn new(start: &State, size: usize) -> Point {
        let n = start.q.len();
        let mut y = vec![0.0; size];
        y[..n].copy_from_slice(&start.q);
        y[n..2 * n].copy_from_slice(&start.qdot);
        Point { start: start.t, t: start.t, y, n }
    }

    /// Moves to (t, y).
    #[inline]
    pub(super) fn move_to(&mut self, t: f64, y: &[f64]) {
        self.t = t;
        self.y.copy_from_slice(y);
    }

    /// Takes over q and q̇ of the smooth part.
    pub(super) fn read_state<D: Dynamics + ?Sized>(&mut self, smooth: &Smooth<D>) {
        smooth.write_state(&mut self.y);
    }

    /// Changes the velocities.
    #[inline]
    pub(super) fn set_velocities(&mut self, qdot: &[f64]) {
        self.y[self.n..2 * self.n].copy_from_slice(qdot);
    }

    /// Returns to an earlier y.
    #[inline]
    pub(super) fn restore(&mut self, y: Vec<f64>) {
        self.y = y;
    }

    /// y, for contact, whose impacts change the velocities.
    #[inline]
    pub(super) fn y_mut(&mut self) -> &mut Vec<f64> {
        &mut self.y
    }

    /// q̇.
    #[inline]
    pub(super) fn velocities(&self) -> &[f64] {
        &self.y[self.n..2 * self.n]
    }

    /// The integrals.
    #[inline]
    pub(super) fn integrals(&self) -> &[f64] {
        &self.y[2 * self.n..]
    }

    /// Time, q and q̇.
    #[inline]
    pub(super) fn state(&self) -> State {
        State { t: self.t, q: self.y[..self.n].to_vec(), qdot: self.velocities().to_vec() }
    }
}
