//! A selection of the rows that the programs of a model compute: permanent constraints, or the constraints of a contact mode.

use zwang_motion::Given;

/// The selected rows, and the multipliers of the others if they are known.
#[derive(Clone)]
pub(super) struct RowSelection {
    /// Indices among all rows, in increasing order.
    pub(super) rows: Vec<usize>,
    /// One multiplier for each row, zero for the selected ones; `None` if the contact mode is not known.
    fixed: Option<Vec<f64>>,
    /// M, Q, A, b with all rows.
    pub(super) all: Given,
    lambda: Vec<f64>,
}

impl RowSelection {
    pub(super) fn new(rows: Vec<usize>, fixed: Option<&[f64]>, all: &Given) -> RowSelection {
        let fixed = fixed.map(|lambda| {
            let mut fixed = lambda.to_vec();
            rows.iter().for_each(|&row| fixed[row] = 0.0);
            fixed
        });
        RowSelection { rows, fixed, all: all.clone(), lambda: Vec::new() }
    }

    /// The multipliers of all rows from those of the selected ones; multipliers that are not known are zero.
    pub(super) fn lambda(&mut self, selected: &[f64]) -> &[f64] {
        self.lambda.clear();
        match &self.fixed {
            Some(fixed) => self.lambda.extend(fixed),
            None => self.lambda.resize(self.all.constraint_rhs.len(), 0.0),
        }
        self.rows.iter().zip(selected).for_each(|(&row, &lambda)| self.lambda[row] = lambda);
        &self.lambda
    }

    /// True if the multipliers of these rows are known, or are found with the motion.
    pub(super) fn knows(&self, rows: &[usize]) -> bool {
        self.fixed.is_some() || rows.iter().all(|row| self.rows.binary_search(row).is_ok())
    }

    /// True if a row that is not selected exerts a force.
    pub(super) fn has_force(&self) -> bool {
        self.fixed.as_ref().is_some_and(|fixed| fixed.iter().any(|lambda| *lambda != 0.0))
    }

    /// Adds Aᵀλ of the rows that are not selected, with A as last filled in.
    pub(super) fn add_force(&self, force: &mut [f64]) {
        for (row, &lambda) in self.fixed.iter().flatten().enumerate().filter(|(_, lambda)| **lambda != 0.0) {
            let (col, value) = self.all.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] += a * lambda);
        }
    }
}
