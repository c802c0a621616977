//! Formulas for readers and for other programs: closed forms, printed equations, equivalent principles, exported code.

pub(crate) mod closed_form;
pub(crate) mod equivalent;
pub(crate) mod exported;
pub(crate) mod legendre;
pub(crate) mod printed;
