//! The last step: its dense output, its end, and the values that the next step may reuse.

use crate::{
    Dynamics, MotionError, Step,
    flow::Flow,
    methods::{Integrator, Radau},
};

/// The step in progress or accepted last.
pub(super) struct LastStep {
    pub(super) dense: Step,
    /// `true` if the dense output has been filled in.
    has_dense: bool,
    /// The least pivot of the rows at the end of the step; `None` if they have been decomposed there.
    pub(super) pivot: Option<f64>,
    /// The row that is not satisfied where the step was ended early, and `true` if it is its velocities that are not.
    pub(super) corner: Option<(usize, bool)>,
    /// The rate at the end of the step is that at the start of the next.
    can_reuse_rate: bool,
    /// The motion has restarted within this step.
    has_restarted: bool,
}

impl LastStep {
    /// A step of length zero at the start of the motion.
    pub(super) fn new(t: f64, n: usize, y: &[f64]) -> LastStep {
        LastStep {
            dense: Step { start: t, end: t, h: 0.0, n, y: y.to_vec(), F: Vec::new() },
            has_dense: true,
            pivot: None,
            corner: None,
            can_reuse_rate: false,
            has_restarted: false,
        }
    }

    /// Becomes the step of length h from (t, y).
    #[inline]
    pub(super) fn set(&mut self, t: f64, h: f64, y: &[f64]) {
        (self.dense.start, self.dense.end, self.dense.h) = (t, t + h, h);
        self.dense.y.copy_from_slice(y);
        self.has_dense = false;
    }

    /// Becomes the straight step of length h from (t, y) with this rate.
    #[inline]
    pub(super) fn set_straight(&mut self, t: f64, h: f64, y: &[f64], rate: &[f64]) {
        self.set(t, h, y);
        self.dense.F.clear();
        self.dense.F.extend(rate.iter().map(|f| h * f));
        self.has_dense = true;
    }

    /// Becomes the step of length h from (t, y) by a method of its own.
    #[inline]
    pub(super) fn set_by(&mut self, radau: &mut Radau, t: f64, h: f64, y: &[f64]) {
        self.set(t, h, y);
        radau.dense(h, &mut self.dense);
        self.has_dense = true;
    }

    /// The step, for what else fills in its dense output.
    #[inline]
    pub(super) fn dense_mut(&mut self) -> &mut Step {
        &mut self.dense
    }

    /// Fills in the dense output, if that has not been done.
    pub(super) fn make_dense<D: Dynamics + ?Sized>(
        &mut self,
        integrator: &mut Integrator,
        flow: &mut Flow<D>,
    ) -> Result<(), MotionError> {
        if !self.has_dense {
            integrator.fill_dense(flow, &mut self.dense)?;
            self.has_dense = true;
        }
        Ok(())
    }

    /// The step ends at t, at a corner if a row is not satisfied there.
    #[inline]
    pub(super) fn end_at(&mut self, t: f64) {
        self.dense.end = t;
    }

    /// A row is not satisfied where the step ends, or none.
    #[inline]
    pub(super) fn set_corner(&mut self, corner: Option<(usize, bool)>) {
        self.corner = corner;
    }

    /// The least pivot at the end of the step, or none.
    #[inline]
    pub(super) fn set_pivot(&mut self, pivot: Option<f64>) {
        self.pivot = pivot;
    }

    /// The step will be tried again.
    #[inline]
    pub(super) fn reject(&mut self) {
        self.has_dense = false;
        self.pivot = None;
    }

    /// The next step starts where this one ends, with the same rate.
    #[inline]
    pub(super) fn allow_reuse_of_rate(&mut self) {
        self.can_reuse_rate = true;
    }

    /// `true`, once, if the rate at the end serves the next step.
    #[inline]
    pub(super) fn take_reuse_of_rate(&mut self) -> bool {
        std::mem::take(&mut self.can_reuse_rate)
    }

    /// The motion has restarted within this step.
    #[inline]
    pub(super) fn note_restart(&mut self) {
        self.has_restarted = true;
    }

    /// `true`, once, if the motion has restarted within this step.
    #[inline]
    pub(super) fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }
}
