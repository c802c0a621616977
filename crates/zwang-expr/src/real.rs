//! The value of each operation for doubles.

use crate::node::{Comparison, Function, Function2};
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

/// The sign -1, 0 or 1; NaN for NaN.
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

/// f(x, y). Minimum and maximum propagate NaN. The angle treats -0 as 0: it is π on the negative axis, even if rounding
/// or an algebraic identity turned 0 into -0.
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

/// `then` if the comparison holds, else `otherwise`.
#[inline]
pub fn select(comparison: Comparison, left: f64, right: f64, then: f64, otherwise: f64) -> f64 {
    if comparison.holds(&left, &right) { then } else { otherwise }
}
