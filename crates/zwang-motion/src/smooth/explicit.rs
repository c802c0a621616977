//! The choice of explicit formulas for the acceleration: they are abandoned once most of their results are in doubt.

use super::Smooth;
use crate::{Drift, Dynamics, limits};

/// The use of explicit accelerations along a motion.
#[derive(Default)]
pub(super) struct ExplicitUse {
    /// `true` if the system gives its acceleration explicitly, for the frozen rank.
    is_on: bool,
    /// The number of requested explicit accelerations, and of those in doubt.
    n_asked: usize,
    n_doubts: usize,
}

impl<D: Dynamics + ?Sized> Smooth<'_, D> {
    /// Lets the system prepare its explicit acceleration, if that is allowed, for rows that are independent here and imply the
    /// others.
    pub(crate) fn specialize(&mut self, is_allowed: bool) {
        let (m, rank) = (self.given.constraint_rhs.len(), self.all.rank());
        let control_scales = match &self.control {
            None => Some(Vec::new()),
            // exactly tracked rows, bounds and redundant rows take a decomposition
            Some(control) => {
                Some(control).filter(|_| self.levels.n_tracked.1 == 0).and_then(|control| control.plain_scales())
            }
        };
        let usable = is_allowed
            && !self.has_route()
            && control_scales.is_some()
            && !matches!(self.drift, Drift::Baumgarte { .. });
        let rows = match rank == m {
            true => Some((0..m).collect()),
            // rows on positions first: others may follow from them, but do not imply them
            false => self.all.independent_rows(|i| {
                if i < self.h {
                    1e6
                } else if i < self.hs {
                    1e3
                } else {
                    1.0
                }
            }),
        };
        self.has_full_rank = rank == m;
        let is_on = usable
            && rows.is_some_and(|rows: Vec<usize>| {
                let scales = self.all.row_scales();
                let scales: Vec<f64> = rows.iter().map(|&i| scales[i]).collect();
                let control_scales = control_scales.unwrap_or_default();
                self.dynamics.elimination().is_some_and(|formulas| formulas.prepare(&rows, &scales, &control_scales))
            });
        self.explicit = ExplicitUse { is_on, ..ExplicitUse::default() };
    }

    /// `true` if the system gives its acceleration explicitly, for the frozen rank.
    #[inline]
    pub(crate) fn is_explicit(&self) -> bool {
        self.explicit.is_on
    }

    /// Accelerations take a decomposition from now on.
    pub(crate) fn leave_explicit(&mut self) {
        self.explicit.is_on = false;
    }

    /// The explicit rate at (t, y) with its least pivot; `None` if the system has none here, or a pivot is in doubt.
    #[inline]
    pub(crate) fn explicit_rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        if !self.explicit.is_on {
            return None;
        }
        self.explicit.n_asked += 1;
        let pivot = self.dynamics.explicit_rate(t, y, rate)?;
        self.work.evaluations += 1;
        Some(pivot)
    }

    /// All stages and the end of an explicit step, if the system computes them together by `step`; `false` if it does not.
    pub(crate) fn explicit_step(&mut self, n_stages: usize, step: impl FnOnce(&mut D) -> bool) -> bool {
        let is_done = self.explicit.is_on && step(self.dynamics);
        if is_done {
            self.explicit.n_asked += n_stages - 1;
            self.work.evaluations += n_stages - 1;
        }
        is_done
    }

    /// Counts an explicit rate that was in doubt. If most are, no more are requested.
    pub(crate) fn count_doubt(&mut self) {
        let ExplicitUse { is_on, n_asked, n_doubts } = &mut self.explicit;
        if *is_on {
            *n_doubts += 1;
            *is_on = *n_asked < limits::EXPLICIT_TRIAL || 2 * *n_doubts < *n_asked;
        }
    }

    /// `true` if accelerations have mostly been explicit so far.
    pub(crate) fn is_mostly_explicit(&self) -> bool {
        let ExplicitUse { is_on, n_asked, n_doubts } = self.explicit;
        is_on && 2 * n_doubts <= n_asked
    }
}
