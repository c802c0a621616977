//! Exact rational numbers: a pair of machine integers while they fit, otherwise big integers.

use num_bigint::{BigInt, Sign};
use num_integer::{Integer, Roots};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// The largest sum of the bits of two numbers whose sum or product is folded. This is more than the decimals of physics
/// need, and small enough that no chain of sums of fractions grows without bound.
const MAX_BITS: u64 = 1024;

/// The largest size of a folded power, in bits.
const MAX_POWER_BITS: u64 = 512;

/// The largest absolute value of the exponent of a folded power.
const MAX_POWER: i64 = 64;

/// The largest absolute value of a decimal exponent in text; the exponents of all doubles are smaller.
const MAX_DECIMAL_EXPONENT: i64 = 400;

/// The largest number of digits in a decimal; the longest exact value of a double has 767.
const MAX_DIGITS: usize = 800;

/// An exact rational number in lowest terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Number(Repr);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Repr {
    /// n/d with |n| ≤ i64::MAX and 1 ≤ d; the product of two such integers fits into i128
    Small(i64, i64),
    /// a number that does not fit into `Small`
    Big(Box<BigRational>),
}

use Repr::{Big, Small};

impl Number {
    /// Zero.
    pub const ZERO: Number = Number(Small(0, 1));
    /// One.
    pub const ONE: Number = Number(Small(1, 1));
    /// Minus one.
    pub const MINUS_ONE: Number = Number(Small(-1, 1));

    /// The integer `value`.
    pub fn integer(value: i64) -> Number {
        Number::integer_i128(value as i128)
    }

    /// The fraction `numerator / denominator`; the denominator must not be zero.
    pub fn ratio(numerator: i64, denominator: i64) -> Number {
        assert!(denominator != 0, "the denominator of a rational number is zero");
        Number::ratio_i128(numerator as i128, denominator as i128)
    }

    /// The integer `n`; it needs no reduction to lowest terms.
    fn integer_i128(n: i128) -> Number {
        match i64::try_from(n) {
            Ok(n) if n != i64::MIN => Number(Small(n, 1)),
            _ => Number(Big(Box::new(BigRational::from_integer(n.into())))),
        }
    }

    fn ratio_i128(n: i128, d: i128) -> Number {
        // most fractions are short, and i64 divides many times faster than i128
        if let (Ok(n), Ok(d)) = (i64::try_from(n), i64::try_from(d))
            && n != i64::MIN
            && d > 0
        {
            let g = n.gcd(&d);
            return Number(Small(n / g, d / g));
        }
        let g = n.gcd(&d) * d.signum();
        let (n, d) = (n / g, d / g);
        match (i64::try_from(n), i64::try_from(d)) {
            (Ok(n), Ok(d)) if n != i64::MIN => Number(Small(n, d)),
            _ => Number(Big(Box::new(BigRational::new_raw(n.into(), d.into())))),
        }
    }

    fn from_big(value: BigRational) -> Number {
        match (value.numer().to_i64(), value.denom().to_i64()) {
            (Some(n), Some(d)) if n != i64::MIN => Number(Small(n, d)),
            _ => Number(Big(Box::new(value))),
        }
    }

    fn to_big(&self) -> BigRational {
        match &self.0 {
            Small(n, d) => BigRational::new_raw((*n).into(), (*d).into()),
            Big(value) => (**value).clone(),
        }
    }

    /// Reads a decimal such as `9.81`, `1e-3` or `2.5E+7` exactly.
    ///
    /// Returns `None` if the text is malformed, too large for a double, has an exponent beyond ±400 or more than 800
    /// digits. The limits prevent giant integers.
    pub fn from_decimal(text: &str) -> Option<Number> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], decimal_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let well_formed = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !well_formed || !text.parse::<f64>().is_ok_and(f64::is_finite) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Number::ZERO);
        }

        // value = significant * 10^scale
        let scale = exponent - fraction.len() as i64 + (digits.len() - significant.len()) as i64;
        if significant.len() > MAX_DIGITS || scale.unsigned_abs() > MAX_DIGITS as u64 + MAX_DECIMAL_EXPONENT as u64 {
            return None;
        }
        let numerator: BigInt = significant.parse().ok()?;
        let power = BigInt::from(10).pow(scale.unsigned_abs() as u32);
        Some(Number::from_big(if scale < 0 {
            BigRational::new(numerator, power)
        } else {
            BigRational::from_integer(numerator * power)
        }))
    }

    /// `true` if the number is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0, _))
    }

    /// `true` if the number is 1.
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small(1, 1))
    }

    /// `true` if the number is -1.
    pub(crate) fn is_minus_one(&self) -> bool {
        matches!(self.0, Small(-1, 1))
    }

    /// `true` if the number is less than 0.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Small(n, _) => *n < 0,
            Big(value) => value.is_negative(),
        }
    }

    /// `true` if the denominator is 1.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Small(_, d) => *d == 1,
            Big(value) => value.is_integer(),
        }
    }

    /// `true` if the number is an even integer.
    pub fn is_even(&self) -> bool {
        match &self.0 {
            Small(n, d) => *d == 1 && n % 2 == 0,
            Big(value) => value.is_integer() && value.numer().is_even(),
        }
    }

    /// The value as an integer, or `None` if it is not an integer or does not fit.
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Small(n, 1) => Some(n),
            _ => None,
        }
    }

    /// Numerator and denominator, or `None` if one of them does not fit into a machine integer.
    pub fn to_small(&self) -> Option<(i64, i64)> {
        match self.0 {
            Small(n, d) => Some((n, d)),
            Big(_) => None,
        }
    }

    /// The numerator of the fraction in lowest terms; carries the sign.
    pub fn numerator(&self) -> Number {
        match &self.0 {
            Small(n, _) => Number(Small(*n, 1)),
            Big(value) => Number::from_big(BigRational::from_integer(value.numer().clone())),
        }
    }

    /// The denominator of the fraction in lowest terms; positive.
    pub fn denominator(&self) -> Number {
        match &self.0 {
            Small(_, d) => Number(Small(*d, 1)),
            Big(value) => Number::from_big(BigRational::from_integer(value.denom().clone())),
        }
    }

    /// The nearest double; infinite beyond the largest one.
    pub fn to_f64(&self) -> f64 {
        const EXACT: i64 = 1 << 53;
        match &self.0 {
            // both integers are exact as doubles, so one division rounds correctly
            Small(n, d) if n.abs() <= EXACT && *d <= EXACT => *n as f64 / *d as f64,
            _ => self.to_big().to_f64().unwrap_or(f64::NAN),
        }
    }

    /// a + b, or `None` if the result is too large to be kept exactly.
    pub fn add(&self, other: &Number) -> Option<Number> {
        match (&self.0, &other.0) {
            (Small(a, 1), Small(b, 1)) => Some(Number::integer_i128(*a as i128 + *b as i128)),
            (Small(a, c), Small(b, d)) => {
                let (a, b, c, d) = (*a as i128, *b as i128, *c as i128, *d as i128);
                Some(Number::ratio_i128(a * d + b * c, c * d))
            }
            // 0 + a is a, however long a is
            (Small(0, 1), _) => Some(other.clone()),
            (_, Small(0, 1)) => Some(self.clone()),
            _ if self.bits() + other.bits() > MAX_BITS => None,
            _ => Number::from_big(self.to_big() + other.to_big()).finite(),
        }
    }

    /// a b, or `None` if the result is too large to be kept exactly.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        match (&self.0, &other.0) {
            (Small(a, 1), Small(b, 1)) => Some(Number::integer_i128(*a as i128 * *b as i128)),
            (Small(a, c), Small(b, d)) => Some(Number::ratio_i128(*a as i128 * *b as i128, *c as i128 * *d as i128)),
            // 1 a is a, however long a is
            (Small(1, 1), _) => Some(other.clone()),
            (_, Small(1, 1)) => Some(self.clone()),
            _ if self.bits() + other.bits() > MAX_BITS => None,
            _ => Number::from_big(self.to_big() * other.to_big()).finite(),
        }
    }

    /// -a.
    pub fn neg(&self) -> Number {
        match &self.0 {
            Small(n, d) => Number(Small(-n, *d)),
            Big(value) => Number::from_big(-(**value).clone()),
        }
    }

    /// |a|.
    pub fn abs(&self) -> Number {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// 1/a, or `None` if a = 0 or if 1/a is too large for a double.
    pub fn recip(&self) -> Option<Number> {
        match &self.0 {
            Small(0, _) => None,
            Small(n, d) => Some(Number(Small(d * n.signum(), n.abs()))),
            Big(value) => Number::from_big(value.recip()).finite(),
        }
    }

    /// aᵏ for a rational k, or `None` if it is not rational, too large, or a negative power of 0.
    pub fn pow(&self, exponent: &Number) -> Option<Number> {
        match exponent.0 {
            Small(-1, 1) => self.recip(),
            Small(k, 1) => self.powi(k),
            Small(k, 2) => self.sqrt()?.powi(k),
            _ => None,
        }
    }

    fn powi(&self, k: i64) -> Option<Number> {
        let base = if k < 0 { self.recip()? } else { self.clone() };
        if base.is_zero() && k > 0 || base.is_one() {
            return Some(base);
        }
        if base == Number::MINUS_ONE {
            return Some(if k % 2 == 0 { Number::ONE } else { base });
        }
        if k.abs() > MAX_POWER || base.bits() * k.unsigned_abs() > MAX_POWER_BITS {
            return None;
        }
        let mut power = Number::ONE;
        for _ in 0..k.abs() {
            power = power.mul(&base)?;
        }
        Some(power)
    }

    /// √a, or `None` if a is not the square of a rational number.
    pub fn sqrt(&self) -> Option<Number> {
        if self.is_negative() {
            return None;
        }
        if let Small(n, d) = self.0 {
            let (p, q) = (n.sqrt(), d.sqrt());
            return (p * p == n && q * q == d).then_some(Number(Small(p, q)));
        }
        let square = self.to_big();
        let root = BigRational::new_raw(square.numer().sqrt(), square.denom().sqrt());
        (&root * &root == square).then(|| Number::from_big(root))
    }

    /// The largest number ≥ 0 of which both numbers are integer multiples; 0 only for two zeros.
    pub(crate) fn gcd(&self, other: &Number) -> Number {
        if let (Small(a, 1), Small(b, 1)) = (&self.0, &other.0) {
            return Number(Small(a.gcd(b), 1));
        }
        if let (Small(a, c), Small(b, d)) = (&self.0, &other.0) {
            let (a, b, c, d) = (*a as i128, *b as i128, *c as i128, *d as i128);
            return Number::ratio_i128(a.gcd(&b), c.lcm(&d));
        }
        let (a, b) = (self.to_big(), other.to_big());
        Number::from_big(BigRational::new(a.numer().gcd(b.numer()), a.denom().lcm(b.denom())))
    }

    /// The value modulo a prime. If the prime divides the denominator, the result is 0.
    pub(crate) fn residue(&self, prime: u64) -> u64 {
        let of = |n: &BigInt| n.mod_floor(&BigInt::from(prime)).to_u64().unwrap_or(0);
        match &self.0 {
            Small(n, 1) => (*n as i128).rem_euclid(i128::from(prime)) as u64,
            _ => {
                let value = self.to_big();
                let inverse = value.denom().modpow(&BigInt::from(prime - 2), &BigInt::from(prime));
                of(&(value.numer() * inverse))
            }
        }
    }

    /// The number of bits of the longer of numerator and denominator.
    fn bits(&self) -> u64 {
        match &self.0 {
            Small(n, d) => 64 - n.unsigned_abs().max(d.unsigned_abs()).leading_zeros() as u64,
            Big(value) => value.numer().bits().max(value.denom().bits()),
        }
    }

    /// The number itself, or `None` if it is too large for a double.
    fn finite(self) -> Option<Number> {
        self.to_f64().is_finite().then_some(self)
    }

    /// The digits d and the scale s with |a| = d 10⁻ˢ, where d is 0 or not divisible by ten. Returns `None` if the
    /// decimal expansion of a does not terminate.
    pub fn decimal_digits(&self) -> Option<(String, i64)> {
        let (digits, scale) = match self.0 {
            Small(n, 1) => (n.unsigned_abs().to_string(), 0),
            _ => self.shifted_digits()?,
        };
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some((digits, 0));
        }
        let zeros = (digits.len() - significant.len()) as i64;
        Some((significant.to_string(), scale - zeros))
    }

    /// The digits d and the scale s with |a| = d 10⁻ˢ; d may end in zeros.
    fn shifted_digits(&self) -> Option<(String, i64)> {
        let value = self.to_big().abs();
        let scale = multiplicity(value.denom(), 2).max(multiplicity(value.denom(), 5));
        let shifted = value * BigRational::from_integer(BigInt::from(10).pow(scale));
        shifted.is_integer().then(|| (shifted.to_integer().to_string(), scale as i64))
    }
}

/// The multiplicity of the prime `p`, 2 or 5, in `n`.
fn multiplicity(n: &BigInt, p: u32) -> u32 {
    if p == 2 {
        return n.trailing_zeros().unwrap_or(0) as u32;
    }
    let (mut n, p, mut count) = (n.clone(), BigInt::from(p), 0);
    while n.sign() == Sign::Plus && !n.is_one() {
        let (quotient, rest) = n.div_rem(&p);
        if !rest.is_zero() {
            break;
        }
        (n, count) = (quotient, count + 1);
    }
    count
}

/// The exponent after `e`: an optional sign and digits, within ±400.
fn decimal_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size: i64 = digits.parse().ok().filter(|&size| size <= MAX_DECIMAL_EXPONENT)?;
    Some(if text.starts_with('-') { -size } else { size })
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a, c), Small(b, d)) => (*a as i128 * *d as i128).cmp(&(*b as i128 * *c as i128)),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Small(n, 1) => write!(f, "{n}"),
            Small(n, d) => write!(f, "{n}/{d}"),
            Big(value) => write!(f, "{value}"),
        }
    }
}
