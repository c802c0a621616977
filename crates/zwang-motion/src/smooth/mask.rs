//! Inactive rows: they are rows of zeros, which the decomposition leaves out like any row that has vanished.

use crate::Given;

/// The rows left out of A and b, and A and b with all rows. Empty if all rows are permanent.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowMask {
    /// For each row: `true` if it is left out.
    pub(crate) off: Vec<bool>,
    /// A and b with all rows.
    pub(crate) whole: Given,
}

impl RowMask {
    /// A mask for rows of which some hold only at times; at first all hold.
    pub(crate) fn new(given: &Given) -> RowMask {
        RowMask { off: vec![false; given.constraint_rhs.len()], whole: given.clone() }
    }

    /// `true` if all rows are permanent.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.off.is_empty()
    }

    /// The number of rows that hold.
    #[inline]
    pub(crate) fn n_active(&self) -> usize {
        self.off.iter().filter(|off| !**off).count()
    }

    /// Keeps all rows of A and b, and makes those zero that do not hold.
    #[inline]
    pub(crate) fn apply(&mut self, given: &mut Given) {
        if self.is_empty() {
            return;
        }
        self.whole.constraint_matrix.value.copy_from_slice(&given.constraint_matrix.value);
        self.whole.constraint_rhs.copy_from_slice(&given.constraint_rhs);
        for row in (0..self.off.len()).filter(|row| self.off[*row]) {
            given.constraint_matrix.row_mut(row).1.fill(0.0);
            given.constraint_rhs[row] = 0.0;
        }
    }

    /// Makes the residuals of rows that do not hold zero; `residual` belongs to the first rows.
    #[inline]
    pub(crate) fn apply_to_residual(&self, residual: &mut [f64]) {
        residual.iter_mut().zip(&self.off).filter(|(_, off)| **off).for_each(|(x, _)| *x = 0.0);
    }

    /// Σ |Aᵢⱼ| sizeⱼ of a row, whether it holds or not.
    #[inline]
    pub(crate) fn row_size(&self, row: usize, sizes: &[f64]) -> f64 {
        self.whole.constraint_matrix.row_size(row, sizes)
    }
}
