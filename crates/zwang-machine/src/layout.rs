//! The calling interface of machine code and its level of optimisation.

use std::ops::Range;

/// The level of optimisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OptLevel {
    /// Fast compilation: about a microsecond per instruction.
    Quick,
    /// Better code: compilation takes several times longer, and the code runs up to a third faster.
    Thorough,
}

/// The inputs and outputs that have slices of their own, so that no values have to be copied.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The range of inputs that are read from the state slice.
    pub state: Range<usize>,
    /// The number of outputs, counted from the first, that remain at the beginning of the workspace.
    pub n_apart: usize,
}
