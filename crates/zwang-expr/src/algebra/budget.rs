//! How much work a simplification may take: what is longer is better not simplified.

use std::cell::Cell;

/// Work left, in operations on single terms; shared by all steps of one simplification.
#[derive(Debug)]
pub(crate) struct Budget {
    granted: u64,
    left: Cell<u64>,
    /// longest polynomial
    max_terms: usize,
}

impl Budget {
    pub fn new(work: u64, max_terms: usize) -> Budget {
        Budget { granted: work, left: Cell::new(work), max_terms }
    }

    /// Takes `work` away; none if that much is not left.
    pub fn spend(&self, work: usize) -> Option<()> {
        let left = self.left.get().checked_sub(work as u64);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// What was taken away.
    pub fn spent(&self) -> u64 {
        self.granted - self.left.get()
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// None if a polynomial of `terms` terms is too long.
    pub fn allow(&self, terms: usize) -> Option<()> {
        (terms <= self.max_terms).then_some(())
    }

    /// The result of a step that may take `work` at most, which is taken from here.
    pub fn within<T>(&self, work: u64, step: impl FnOnce(&Budget) -> Option<T>) -> Option<T> {
        let granted = work.min(self.left.get());
        let part = Budget::new(granted, self.max_terms);
        let result = step(&part);
        self.left.set(self.left.get() - (granted - part.left.get()));
        result
    }
}
