//! Requests: the questions about a model.

use zwang::csv_table::CsvTable;
use zwang::syntax::Span;
use zwang::{At, RunOptions};
use zwang_view::{FormulaLanguage, Language};

/// A question about the model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Request {
    /// The kinds of the constraints, a consistent start, the conserved quantities.
    Check,
    /// The motion.
    Run(RunOptions),
    /// The motion with each measure against drift: projection, Baumgarte, none.
    CompareDrift(RunOptions),
    /// The equations as text.
    Equations(EquationsPart),
    /// Every quantity at a state; the options say how a later time is reached.
    Inspect(At, RunOptions),
    /// The scaled accelerations at the start, also of constraints that contradict each other.
    ScaledStart,
    /// The motion near a state to first order; without one at the start if it is steady, else at every equilibrium found.
    Linearize(Option<At>),
    /// The forces that produce a path.
    Inverse {
        /// The path: times and coordinates.
        table: CsvTable,
        /// The driven coordinates, by index; empty for those of the controls, without controls all.
        driven: Vec<usize>,
    },
    /// The control force, or without controls the acceleration, as source code.
    Export {
        /// The language of the code.
        language: Language,
        /// The name of the function.
        name: String,
    },
    /// The fixes of the messages that touch a piece of the text.
    Fixes(Span),
    /// The page behind a message.
    Explain(String),
}

/// A part of the equations with its format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EquationsPart {
    /// L, M, Q, A, b and the explicit equations, one line each.
    Explicit,
    /// The explicit equations as LaTeX formulas.
    ExplicitLatex,
    /// Momenta, forms, energy and Hamiltonian, one line each.
    Lagrangian,
    /// Momenta, forms, energy and Hamiltonian as LaTeX formulas.
    LagrangianLatex,
    /// The derivation step by step.
    Derivation(DocumentFormat),
    /// M, Q, A, b and the explicit equations as functions.
    Code {
        /// The language of the code.
        language: FormulaLanguage,
        /// The name of the module.
        name: String,
    },
}

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// A page.
    Html,
    /// LaTeX, ready to be set.
    Latex,
    /// Markdown.
    Markdown,
}
