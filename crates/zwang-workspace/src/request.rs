//! What can be asked.

use zwang::csv_table::CsvTable;
use zwang::syntax::Span;
use zwang::{At, RunOptions};
use zwang_view::Language;

/// A question about the model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Request {
    /// What the constraints say, a consistent start, what is conserved.
    Check,
    /// The motion.
    Run(RunOptions),
    /// The equations as text.
    Equations(EquationsPart),
    /// Every quantity at a state.
    Inspect(At),
    /// Equilibria, or the motion at a time, to first order.
    Linearize(Option<f64>),
    /// The forces that produce a path: a table of times and coordinates.
    Inverse(CsvTable),
    /// The control force, or the acceleration, as source code.
    Export(Language),
    /// The cures of the messages that touch a piece of the text.
    Fixes(Span),
    /// The page behind a message.
    Explain(String),
}

/// A part of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationsPart {
    /// L, M, Q, A, b and the explicit equations.
    Explicit,
    /// The same as LaTeX.
    ExplicitLatex,
    /// Momenta, forms, energy, Hamiltonian.
    Lagrangian,
}
