//! What each node means for doubles.

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, Node};
use crate::trig;

/// f(x).
#[inline]
pub fn apply(f: Function, x: f64) -> f64 {
    match f {
        Function::Sin => trig::sin_cos(x).0,
        Function::Cos => trig::sin_cos(x).1,
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Sqrt => x.sqrt(),
        Function::Abs => x.abs(),
        Function::Sign => sign(x),
    }
}

/// -1, 0 or 1; NaN stays NaN.
#[inline]
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x * 0.0
    }
}

/// f(x, y); the smaller and the larger of two values spread NaN, the angle knows only one zero:
/// it is π on the negative axis, also where rounding or a law of algebra made -0 of 0.
#[inline]
pub fn apply2(f: Function2, x: f64, y: f64) -> f64 {
    match f {
        Function2::Atan2 => (x + 0.0).atan2(y + 0.0),
        Function2::Min if x.is_nan() || x <= y => x,
        Function2::Max if x.is_nan() || x >= y => x,
        Function2::Min | Function2::Max => y,
    }
}

/// xʸ for real x and y; x ≥ 0 unless y is an integer.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 0.5 { x.sqrt() } else { x.powf(y) }
}

/// The chosen one of two values.
#[inline]
pub fn select(comparison: Comparison, left: f64, right: f64, then: f64, otherwise: f64) -> f64 {
    if comparison.holds(&left, &right) { then } else { otherwise }
}

/// The value of one node, whose operands have the values `of`.
pub fn evaluate(graph: &Graph, node: Node, of: impl Fn(Expr) -> f64) -> f64 {
    match node {
        Node::Number(id) => graph.number_at(id).to_f64(),
        Node::Pi => std::f64::consts::PI,
        Node::Symbol(_) => f64::NAN,
        Node::Add(a, b) => of(a) + of(b),
        Node::Mul(a, b) => of(a) * of(b),
        Node::Pow(a, b) => pow(of(a), of(b)),
        Node::Apply(f, x) => apply(f, of(x)),
        Node::Look(table, x) => graph.table(table).value(of(x)),
        Node::Apply2(f, x, y) => apply2(f, of(x), of(y)),
        Node::Select { comparison, left, right, then, otherwise } => {
            select(comparison, of(left), of(right), of(then), of(otherwise))
        }
    }
}
