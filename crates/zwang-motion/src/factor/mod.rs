//! Factorizations that the routes use: `small` written out, `dense` written out or by faer, `blocks` and `sparse` for
//! large systems.
//!
//! Dense matrices are slices, row after row unless a name says columns. No inner function allocates after the
//! first call of its size.

pub(crate) mod blocks;
pub(crate) mod dense;
mod ldl;
pub(crate) mod small;
pub(crate) mod sparse;

/// The clarity of a rank decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The last pivot that counted, relative to the first; 1 if none did.
    pub kept: f64,
    /// The first pivot that did not count, relative to the first; 0 if all did.
    pub dropped: f64,
}

impl Default for Gap {
    fn default() -> Gap {
        Gap { kept: 1.0, dropped: 0.0 }
    }
}

/// The power of two at or below |x|, between 2^-1000 and 2^1000; 1 for zero.
///
/// Scaling by powers of two does not round.
pub(crate) fn power_of_two(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    if x == 0.0 { 1.0 } else { two_to(exponent) }
}

/// 2^exponent, with the exponent limited to ±1000.
pub(crate) fn two_to(exponent: i64) -> f64 {
    f64::from_bits(((exponent.clamp(-1000, 1000) + 1023) as u64) << 52)
}

/// The power of two near √x, for x > 0.
pub(crate) fn root_power_of_two(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    two_to(exponent.div_euclid(2))
}

/// The largest |xᵢ|.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |top: f64, x| top.max(x.abs()))
}

/// True if two slices have the same bits; many entries are compared at a time.
pub(crate) fn same(x: &[f64], y: &[f64]) -> bool {
    const AT_A_TIME: usize = 64;
    let differ = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0, |d, (x, y)| d | (x.to_bits() ^ y.to_bits()));
    x.len() == y.len() && x.chunks(AT_A_TIME).zip(y.chunks(AT_A_TIME)).all(|(x, y)| differ(x, y) == 0)
}

/// xᵀy.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// |x|, safe against overflow.
pub(crate) fn norm(x: &[f64]) -> f64 {
    let scale = power_of_two(largest(x));
    scale * x.iter().map(|x| (x / scale) * (x / scale)).sum::<f64>().sqrt()
}

/// x += s y.
pub(crate) fn add_multiple(x: &mut [f64], s: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += s * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_bracket_the_number() {
        for x in [1.0, 1.5, 3.9, 4.0, 1e-8, 7e200, -5.0] {
            let p = power_of_two(x);
            assert!(p <= f64::abs(x) && f64::abs(x) < 2.0 * p, "{x}");
            let r = root_power_of_two(x.abs());
            assert!((0.9..2.1).contains(&(x.abs().sqrt() / r)), "{x}");
        }
        assert_eq!(power_of_two(0.0), 1.0);
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    }
}
