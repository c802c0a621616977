//! Why an acceleration could not be found.

use std::{error::Error, fmt};

/// The request cannot be met, and why.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionError {
    /// A number that is not finite came in or would have gone out.
    NotFinite {
        /// Which term, and where.
        what: String,
    },
    /// vᵀMv is negative beyond rounding, so M is not a mass matrix.
    MassNotPositive {
        /// v, of length one.
        direction: Vec<f64>,
        /// vᵀMv.
        value: f64,
    },
    /// M is singular and the constraints do not make up for it: this direction has neither mass nor constraint.
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
        /// b − A q̈ for the acceleration that comes closest.
        residual: Vec<f64>,
    },
    /// The two-form route needs the Legendre data and the system offers none.
    NoLegendre,
    /// The stiff method needs derivatives, and the system offers none.
    NoJacobian,
    /// The method needs position constraints without work, and this row is something else.
    NotHolonomic {
        /// Which row.
        row: usize,
    },
    /// The method needs a mass matrix that is regular by itself.
    MassSingular,
    /// The method needs a Lagrangian that is quadratic in the velocities.
    NotQuadratic,
    /// Friction and the force that drives it hold each other up: no or several normal forces satisfy Coulomb's law.
    Jammed {
        /// The row that presses.
        row: usize,
    },
    /// One-sided rows exclude each other.
    Excluded {
        /// The other one-sided rows that touch; none where it is a constraint that excludes it.
        others: Vec<usize>,
        /// One of them.
        row: usize,
    },
    /// A table is asked for a value beyond its rows.
    OutsideTable {
        /// Which one, where.
        what: String,
    },
    /// The weight of the control forces is no metric: wᵀW w is not positive for every w.
    WeightNotPositive,
    /// The limit of a control force is not positive.
    LimitNotPositive,
    /// A number that a control is made with, such as a settling time, is not positive here.
    NotPositive {
        /// What it is, as the user calls it.
        what: &'static str,
        /// Which control.
        control: usize,
        /// Its value.
        value: f64,
    },
    /// The method knows no control forces.
    Controlled,
    /// The driven coordinates cannot do what a control asks.
    Unreachable {
        /// Which of the asked rows is missed.
        row: usize,
        /// How many independent directions of what is asked they reach.
        reached: usize,
        /// How many there are.
        needed: usize,
    },
    /// An iteration ended before it reached its tolerance.
    NotConverged {
        /// What was left.
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
            MotionError::NotConverged { residual } => {
                write!(f, "the iteration ended with a residual of {residual:.3e}")
            }
        }
    }
}

impl Error for MotionError {}

/// The nonzero entries as `0.5 q[0] - 1 q[3]`, at most eight of them.
fn write_entries(f: &mut fmt::Formatter<'_>, x: &[f64], name: &str) -> fmt::Result {
    const SHOWN: usize = 8;
    let nonzero = || x.iter().enumerate().filter(|(_, x)| **x != 0.0);
    for (k, (i, x)) in nonzero().take(SHOWN).enumerate() {
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
        k if k > SHOWN => write!(f, " + {} more", k - SHOWN),
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
