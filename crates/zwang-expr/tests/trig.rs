//! Sine and cosine against exact arithmetic, and many at once against one by one.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use zwang_expr::trig::{sin_cos, sin_cos_many};

/// What the polynomials and their evaluation leave, in units of the last place of the exact result.
const ERROR: f64 = 0.8;

/// Bits behind the point: the whole of every double and as many again as decide the last place.
const BITS: u64 = 1400;

/// Bits behind the point of results that are not tiny.
const SHORT: u64 = 250;

/// 2ᴮ arctan(1/n).
fn arctan_inverse(n: u32) -> BigInt {
    let mut power = (BigInt::one() << BITS) / n;
    let (mut sum, mut k) = (BigInt::zero(), 1);
    while !power.is_zero() {
        let term: BigInt = &power / k;
        sum = if k % 4 == 1 { sum + term } else { sum - term };
        power = power / n / n;
        k += 2;
    }
    sum
}

/// sin x and cos x as integers over a power of 2.
struct Exact {
    pi: BigInt,
}

impl Exact {
    /// π = 16 arctan 1/5 - 4 arctan 1/239.
    fn new() -> Exact {
        Exact { pi: arctan_inverse(5) * 16 - arctan_inverse(239) * 4 }
    }

    /// sin x, cos x, and the bits behind their points.
    fn sin_cos(&self, x: f64) -> (BigInt, BigInt, u64) {
        // x = k π/2 + y
        let scaled = integer(x, BITS);
        let halves: BigInt = &scaled * 4 + &self.pi;
        let k = halves.div_floor(&(&self.pi * 2));
        let y: BigInt = scaled - &self.pi * &k / 2;
        let bits = if y.bits() + 60 > BITS { SHORT } else { BITS };
        let y = y >> (BITS - bits);
        let (sin, cos) = (series(&y, y.clone(), 1, bits), series(&y, BigInt::one() << bits, 0, bits));
        match k.mod_floor(&BigInt::from(4)).to_u32() {
            Some(0) => (sin, cos, bits),
            Some(1) => (cos, -sin, bits),
            Some(2) => (-sin, -cos, bits),
            _ => (-cos, sin, bits),
        }
    }

    /// The larger error of the two results, in units of the last place.
    fn error(&self, x: f64) -> f64 {
        let (sin, cos, bits) = self.sin_cos(x);
        let found = sin_cos(x);
        f64::max(ulps(found.0, &sin, bits), ulps(found.1, &cos, bits))
    }
}

/// The first term of the series of sine or cosine and all after it.
fn series(y: &BigInt, first: BigInt, mut k: u32, bits: u64) -> BigInt {
    let square: BigInt = (y * y) >> bits;
    let (mut term, mut sum) = (first, BigInt::zero());
    while !term.is_zero() && term != -BigInt::one() {
        sum += &term;
        term = -((term * &square) >> bits) / ((k + 1) * (k + 2));
        k += 2;
    }
    sum
}

/// 2ᴮ x.
fn integer(x: f64, bits: u64) -> BigInt {
    let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7FF) as i64, x.to_bits() & ((1 << 52) - 1));
    let m = BigInt::from(if exponent == 0 { fraction } else { fraction | 1 << 52 });
    let shift = bits as i64 + exponent.max(1) - 1075;
    let size = if shift < 0 { m >> -shift } else { m << shift };
    if x < 0.0 { -size } else { size }
}

fn ulps(found: f64, exact: &BigInt, bits: u64) -> f64 {
    // the last place of subnormal results is that of the smallest normal ones
    let place = (exact.bits() as i64 - 53).max(bits as i64 - 1074);
    let error: BigInt = (integer(found, bits) - exact).abs() << 64;
    (error >> place).to_f64().unwrap_or(f64::NAN) / 2f64.powi(64)
}

fn check(arguments: impl IntoIterator<Item = f64>) {
    let exact = Exact::new();
    for x in arguments {
        let error = exact.error(x);
        assert!(error < ERROR, "{error} ulp at {x:e}");
    }
}

/// Numbers in [0, 1), the same at every run.
fn random() -> impl Iterator<Item = f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 11) as f64 / (1u64 << 53) as f64)
    })
}

#[test]
fn error_is_below_one_unit_for_angles() {
    check(random().take(20_000).map(|r| 14.0 * r - 7.0));
    // where the polynomials are worst
    check(random().take(20_000).map(|r| 0.7 + 0.0855 * r));
}

#[test]
fn error_is_below_one_unit_up_to_the_limit() {
    check(random().take(10_000).map(|r| (2.0 * r - 1.0) * 524288.0));
    check([524288.0, 524288.0f64.next_down(), 524288.0f64.next_up()]);
}

#[test]
fn error_is_below_one_unit_for_tiny_arguments() {
    let powers = (-1074..0).map(|e| 2f64.powi(e / 2) * 2f64.powi(e - e / 2));
    check(powers.zip(random()).map(|(power, r)| power * (1.0 + r)));
}

#[test]
fn error_is_below_one_unit_for_huge_arguments() {
    let powers = (0..3000).map(|k| 2f64.powi(18 + k % 1006));
    check(powers.zip(random()).map(|(power, r)| power * (1.0 + r)));
    // of all doubles the nearest to a multiple of π/2
    check([6381956970095103.0 * 2f64.powi(797), f64::MAX]);
}

/// The doubles next to k π/2 for every k below the limit, and of those the nearest.
#[test]
fn error_is_below_one_unit_next_to_multiples_of_half_pi() {
    let half_pi: u128 = 0xC90F_DAA2_2168_C234_C4C6_628B_80DC_1CD1 >> 22; // 2¹⁰⁵ π/2
    let mut near: Vec<(f64, f64)> = Vec::new();
    for k in 1..333_772u128 {
        let exact = k * half_pi;
        let x = exact as f64 / 2f64.powi(105);
        let distance = (exact as i128 - (x * 2f64.powi(105)) as i128) as f64;
        near.push((distance.abs(), x));
    }
    check(near.iter().step_by(50).flat_map(|&(_, x)| [x, x.next_down(), x.next_up()]));
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    check(near.iter().take(1000).map(|&(_, x)| x));
}

#[test]
fn zeros_and_values_that_are_not_finite() {
    assert_eq!(sin_cos(0.0).0.to_bits(), 0.0f64.to_bits());
    assert_eq!(sin_cos(-0.0).0.to_bits(), (-0.0f64).to_bits());
    assert_eq!((sin_cos(0.0).1, sin_cos(-0.0).1), (1.0, 1.0));
    for x in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (sin, cos) = sin_cos(x);
        assert!(sin.is_nan() && cos.is_nan());
    }
}

fn all_sizes() -> impl Iterator<Item = f64> {
    random().zip(random().skip(7)).map(|(r, s)| (2.0 * r - 1.0) * 2f64.powf(1100.0 * s.powi(3) - 30.0).min(f64::MAX))
}

#[test]
fn sine_is_odd_cosine_is_even_and_their_squares_add_to_one() {
    for x in all_sizes().take(100_000) {
        let (sin, cos) = sin_cos(x);
        assert_eq!((sin.to_bits(), cos.to_bits()), ((-sin_cos(-x).0).to_bits(), sin_cos(-x).1.to_bits()), "{x}");
        assert!((sin * sin + cos * cos - 1.0).abs() < 4.0 * f64::EPSILON, "{x}");
    }
}

/// Lengths 0 to 40, with some arguments beyond the limit and some not finite.
#[test]
fn many_at_once_are_the_same_bits() {
    let special = [0.0, -0.0, 5e-324, 524288.0, -524289.0, 1e300, f64::NAN, f64::INFINITY, -f64::MAX];
    for n in (0..=40).cycle().take(41 * 60) {
        let mut numbers = random().skip(n * 31);
        let x: Vec<f64> = all_sizes()
            .skip(17 * n)
            .take(n)
            .map(|x| match numbers.next() {
                Some(r) if r < 0.1 => special[(r * 90.0) as usize],
                Some(r) if r < 0.5 => 20.0 * r,
                _ => x,
            })
            .collect();
        let (mut sin, mut cos) = (vec![7.0; n], vec![7.0; n]);
        sin_cos_many(&x, &mut sin, &mut cos);
        for k in 0..n {
            let expected = sin_cos(x[k]);
            assert_eq!((sin[k].to_bits(), cos[k].to_bits()), (expected.0.to_bits(), expected.1.to_bits()), "{}", x[k]);
        }
    }
}
