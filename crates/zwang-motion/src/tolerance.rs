//! The time span of a run, its tolerance, and the instants that cannot be told apart in it.

/// A step shorter than this fraction of the time, or of the run, does not count as a step.
pub(crate) const SHORTEST: f64 = 1e-13;

/// The time span of a run and its tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunWindow {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) tolerance: f64,
}

impl RunWindow {
    /// The length of the run.
    #[inline]
    pub(crate) fn length(self) -> f64 {
        self.end - self.start
    }

    /// The interval around the time t that counts as one instant.
    #[inline]
    pub(crate) fn instant(self, t: f64) -> f64 {
        SHORTEST * self.length().max(t.abs())
    }
}
