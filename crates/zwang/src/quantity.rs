//! Numbers for readers: enough digits to be typed again, with a suitable unit.

use crate::units::{Dimension, Unit};

/// A number with at most twelve significant digits, without trailing zeros.
pub fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    let plain = format!("{rounded}");
    if rounded != 0.0 && !(1e-4..1e9).contains(&rounded.abs()) { format!("{rounded:e}") } else { plain }
}

/// A number with at most `n_digits` significant digits.
pub fn rounded(x: f64, n_digits: usize) -> String {
    number(format!("{x:.*e}", n_digits.saturating_sub(1)).parse().unwrap_or(x))
}

/// A quantity with three significant digits and its unit: `4.99 mm`.
pub fn with_unit(x: f64, dimension: Option<Dimension>) -> String {
    let Some(dimension) = dimension else { return digits(x) };
    let is_length = dimension.word() == Some("length");
    if is_length && (1e-6..0.1).contains(&x.abs()) {
        return format!("{} mm", digits(x * 1e3));
    }
    match dimension.unit() {
        unit if unit.is_empty() => digits(x),
        unit => format!("{} {unit}", digits(x)),
    }
}

/// A quantity in the user's unit: `30 deg`.
pub fn in_unit(x: f64, unit: Option<&Unit>) -> String {
    match unit {
        Some(unit) if !unit.text.is_empty() => format!("{} {}", digits(x / unit.factor()), unit.text),
        _ => with_unit(x, unit.map(|unit| unit.dimension)),
    }
}

/// A number with three significant digits, or with up to six if that is its exact value.
fn digits(x: f64) -> String {
    let exact: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    let short: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    let rounded = if (x - exact).abs() <= 1e-12 * x.abs() { exact } else { short };
    if rounded != 0.0 && !(1e-3..1e5).contains(&rounded.abs()) { format!("{rounded:e}") } else { format!("{rounded}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units;

    #[test]
    fn small_lengths_are_shown_in_millimetres() {
        let metre = Some(units::find("m").unwrap().dimension);
        assert_eq!(with_unit(0.004987562, metre), "4.99 mm");
        assert_eq!(with_unit(1.2, metre), "1.2 m");
    }

    #[test]
    fn numbers_can_be_typed_again() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(1e-7), "1e-7");
    }
}
