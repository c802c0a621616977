//! The work limit of a simplification; an expression that exceeds it is better left as it is.

use std::cell::Cell;

/// The work left, in operations on single terms; all steps of one simplification share it.
#[derive(Debug)]
pub(crate) struct WorkLimit {
    granted: u64,
    left: Cell<u64>,
    /// longest polynomial, in terms
    max_terms: usize,
}

impl WorkLimit {
    pub fn new(work: u64, max_terms: usize) -> WorkLimit {
        WorkLimit { granted: work, left: Cell::new(work), max_terms }
    }

    /// Subtracts `work`; `None` if less than that is left.
    pub fn spend(&self, work: usize) -> Option<()> {
        let left = self.left.get().checked_sub(work as u64);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// The work spent so far.
    pub fn spent(&self) -> u64 {
        self.granted - self.left.get()
    }

    /// `true` if no work is left.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// `None` if a polynomial of `terms` terms is too long.
    pub fn allow(&self, terms: usize) -> Option<()> {
        (terms <= self.max_terms).then_some(())
    }

    /// The result of a step that may spend at most `work` of this limit.
    pub fn within<T>(&self, work: u64, step: impl FnOnce(&WorkLimit) -> Option<T>) -> Option<T> {
        let granted = work.min(self.left.get());
        let part = WorkLimit::new(granted, self.max_terms);
        let result = step(&part);
        self.left.set(self.left.get() - (granted - part.left.get()));
        result
    }
}
