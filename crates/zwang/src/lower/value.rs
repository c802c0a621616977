//! The value of a formula: an expression with its dimension, or several of them.

use zwang_expr::Expr;

use crate::lower::dimensions::Dim;

/// A scalar with its dimension.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub(super) expr: Expr,
    pub(super) dim: Dim,
}

impl Quantity {
    pub(super) fn new(expr: Expr, dim: Dim) -> Quantity {
        Quantity { expr, dim }
    }
}

/// The kinds of values of a formula.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Quantity),
    /// Two or three components.
    Vector(Vec<Quantity>),
    /// A generalized force: the coordinates it acts on and its components there.
    Generalized(Vec<(usize, Quantity)>),
}

impl Value {
    /// The kind of the value in words.
    pub(super) fn word(&self) -> String {
        match self {
            Value::Scalar(_) => "a scalar".into(),
            Value::Vector(v) => format!("a vector of {} components", v.len()),
            Value::Generalized(_) => "a generalized force".into(),
        }
    }

    /// The components of a vector, or the scalar as the only one.
    pub(super) fn components(self) -> Vec<Quantity> {
        match self {
            Value::Scalar(q) => vec![q],
            Value::Vector(v) => v,
            Value::Generalized(g) => g.into_iter().map(|(_, q)| q).collect(),
        }
    }
}
