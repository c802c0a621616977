//! Errors of accelerations and motions.

use crate::limits;
use std::{error::Error, fmt};

/// The reason why an acceleration or a motion could not be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionError {
    /// An input or a result is not finite.
    NotFinite {
        /// The term and its position.
        what: String,
    },
    /// vᵀMv is negative beyond rounding, so M is not a mass matrix.
    MassNotPositive {
        /// v, of length one.
        direction: Vec<f64>,
        /// vᵀMv.
        value: f64,
    },
    /// A mass is so small that numbers cannot divide by it.
    MassTooSmall {
        /// The coordinate.
        coordinate: usize,
        /// Its mass, larger than zero.
        mass: f64,
    },
    /// M is singular and the constraints do not compensate for it: this direction has neither mass nor constraint.
    Indeterminate {
        /// v with M v = 0 and A v = 0, of length one.
        direction: Vec<f64>,
    },
    /// No acceleration satisfies A q̈ = b.
    Contradiction {
        /// y with yᵀA = 0 and yᵀb ≠ 0, for the rows as written, on few rows; its largest entry is 1 in size.
        certificate: Vec<f64>,
        /// yᵀb.
        gap: f64,
        /// b − A q̈ for the least-squares acceleration.
        residual: Vec<f64>,
    },
    /// The two-form route needs the Legendre data and the system offers none.
    NoLegendre,
    /// The stiff method needs derivatives, and the system offers none.
    NoJacobian,
    /// The method needs ideal position constraints, and this row is something else.
    NotHolonomic {
        /// Index of the row.
        row: usize,
    },
    /// The method needs a mass matrix that is regular by itself.
    MassSingular,
    /// The method needs a Lagrangian that is quadratic in the velocities.
    NotQuadratic,
    /// Friction and its normal force increase each other without bound: no normal force, or several, satisfy Coulomb's
    /// law.
    Jammed {
        /// Index of the row of the normal force.
        row: usize,
    },
    /// Unilateral rows exclude each other.
    Excluded {
        /// The other closed unilateral rows; empty if a permanent constraint excludes the row.
        others: Vec<usize>,
        /// Index of one of the rows.
        row: usize,
    },
    /// The argument of a table lies beyond its rows.
    OutsideTable {
        /// The table and the argument.
        what: String,
    },
    /// The weight of the control forces is not a metric: wᵀW w is not positive for every w.
    WeightNotPositive,
    /// The limit of a control force is not positive.
    LimitNotPositive,
    /// A parameter of a control, such as a settling time, is not positive at this state.
    NotPositive {
        /// The user's word for the parameter.
        what: &'static str,
        /// Index of the control.
        control: usize,
        /// Value of the parameter.
        value: f64,
    },
    /// The method does not support control forces.
    Controlled,
    /// The driven coordinates cannot satisfy the control rows.
    Unreachable {
        /// Index of a control row that is not satisfied.
        row: usize,
        /// The number of independent control directions that the driven coordinates reach.
        reached: usize,
        /// The number of independent control directions.
        needed: usize,
    },
    /// A function changes within less than the shortest step.
    Unresolved {
        /// The number of the function, see [`SharpTerms`](crate::SharpTerms).
        function: usize,
    },
    /// An iteration ended before it reached its tolerance.
    NotConverged {
        /// The residual at the end of the iteration.
        residual: f64,
    },
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MotionError::NotFinite { what } => write!(f, "{what} is not finite"),
            MotionError::MassNotPositive { direction, value } => {
                write!(f, "the mass matrix is not positive: vᵀMv = {value:.3e} for v = ")?;
                write_entries(f, direction, "q")
            }
            MotionError::MassTooSmall { coordinate, mass } => {
                write!(f, "the mass {mass:.3e} of coordinate {coordinate} is too small to divide by")
            }
            MotionError::Indeterminate { direction } => {
                write!(f, "neither mass nor constraints determine the acceleration along ")?;
                write_entries(f, direction, "q")
            }
            MotionError::Contradiction { certificate, gap, .. } => {
                write!(f, "the constraints contradict each other: ")?;
                write_entries(f, certificate, "row")?;
                write!(f, " has no acceleration in it and yet must be {gap:.3e}")
            }
            MotionError::NoLegendre => write!(f, "the two-form route needs a Lagrangian, and the system offers none"),
            MotionError::NoJacobian => write!(f, "the stiff method needs derivatives, and the system offers none"),
            MotionError::NotHolonomic { row } => write!(f, "row {row} is not an ideal constraint on positions"),
            MotionError::MassSingular => write!(f, "the mass matrix is singular, which this method does not allow"),
            MotionError::NotQuadratic => write!(f, "the Lagrangian is not quadratic in the velocities"),
            MotionError::Jammed { row } => {
                write!(f, "the friction of row {row} and its normal force hold each other up")
            }
            MotionError::Excluded { row, .. } => write!(f, "row {row} and other one-sided rows exclude each other"),
            MotionError::OutsideTable { what } => write!(f, "there is no value of {what}"),
            MotionError::LimitNotPositive => write!(f, "the limit of a control force is not positive"),
            MotionError::NotPositive { what, control, value } => {
                write!(f, "`{what}` of control {control} is {value}, which is not positive")
            }
            MotionError::WeightNotPositive => write!(f, "the weight of a control force is not positive definite"),
            MotionError::Controlled => write!(f, "the method knows no control forces"),
            MotionError::Unreachable { row, reached, needed } => {
                write!(
                    f,
                    "asked row {row} cannot be met: the driven coordinates reach {reached} of {needed} directions"
                )
            }
            MotionError::Unresolved { function } => write!(f, "no step is short enough for sharp function {function}"),
            MotionError::NotConverged { residual } => {
                write!(f, "the iteration ended with a residual of {residual:.3e}")
            }
        }
    }
}

impl Error for MotionError {}

/// The nonzero entries as `0.5 q[0] - 1 q[3]`, at most eight of them.
fn write_entries(f: &mut fmt::Formatter<'_>, x: &[f64], name: &str) -> fmt::Result {
    let nonzero = || x.iter().enumerate().filter(|(_, x)| **x != 0.0);
    for (k, (i, x)) in nonzero().take(limits::ENTRIES_SHOWN).enumerate() {
        match (k, *x < 0.0) {
            (0, true) => write!(f, "-")?,
            (0, false) => {}
            (_, true) => write!(f, " - ")?,
            (_, false) => write!(f, " + ")?,
        }
        write!(f, "{:.4} {name}[{i}]", x.abs())?;
    }
    match nonzero().count() {
        0 => write!(f, "0"),
        k if k > limits::ENTRIES_SHOWN => write!(f, " + {} more", k - limits::ENTRIES_SHOWN),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contradiction_names_its_rows() {
        let error = MotionError::Contradiction { certificate: vec![1.0, 0.0, -0.5], gap: 2.0, residual: vec![0.0; 3] };
        let text = error.to_string();
        assert!(text.contains("1.0000 row[0] - 0.5000 row[2]"), "{text}");
    }
}
