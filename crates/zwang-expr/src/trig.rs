//! Sine and cosine with the same bits on every machine, for one argument or many.
//!
//! $$ |x| = k \frac\pi2 + y, \qquad |y| \le \frac\pi4 $$
//!
//! The quadrant k selects among ± sin y and ± cos y, which two polynomials approximate. All operations are single
//! additions, multiplications and bit operations, each of which IEEE 754 defines to the last bit. No operation is
//! fused, and the system's library is not used. The code has no branch, so the loop over many arguments becomes vector
//! instructions. The error is below 0.8 units in the last place.
//!
//! The formulas are written once, for every type that computes like a number: [`Lane`]. They also emit the machine
//! code.

use crate::simd_dispatch::{self, VectorKernel};
use std::f64::consts::FRAC_2_PI;
use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitXor, Mul, Shl, Sub};

/// A number, a vector of numbers, or the code that will compute them.
pub trait Lane: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The bit pattern of the number.
    type Bits: Copy
        + Sub<Output = Self::Bits>
        + BitAnd<Output = Self::Bits>
        + BitXor<Output = Self::Bits>
        + Shl<usize, Output = Self::Bits>;

    /// A constant of the same kind as this number.
    fn constant(self, value: f64) -> Self;

    /// Constant bits of the same kind as this number.
    fn constant_bits(self, value: u64) -> Self::Bits;

    /// The bits of this number.
    fn bits(self) -> Self::Bits;

    /// The number with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
}

impl Lane for f64 {
    type Bits = Wrapping<u64>;

    #[inline(always)]
    fn constant(self, value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn constant_bits(self, value: u64) -> Wrapping<u64> {
        Wrapping(value)
    }

    #[inline(always)]
    fn bits(self) -> Wrapping<u64> {
        Wrapping(self.to_bits())
    }

    #[inline(always)]
    fn from_bits(bits: Wrapping<u64>) -> f64 {
        f64::from_bits(bits.0)
    }
}

/// The largest |x| for `near`: here k < 2¹⁹, and its products with the parts of π/2 are exact. Beyond, `reduce_large`
/// is used.
pub const LIMIT: f64 = (1 << 19) as f64;

/// π/2 in parts: multiples of 2⁻³², 2⁻⁶⁶, 2⁻⁹⁹ of at most 33 bits, and the rest rounded.
const HALF_PI: [f64; 4] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32];

/// 1.5 · 2⁵². Added to a small number, it leaves the integer part in the last bits.
const ROUND: f64 = 6755399441055744.0;

/// (sin y - y)/y³ as a polynomial in y², with the least relative error in sin y: 2⁻⁵⁷.
const SIN: [f64; 6] = [
    -0.1666666666666663,
    0.00833333333332184,
    -0.0001984126982935851,
    2.7557313538498483e-06,
    -2.5050734385276395e-08,
    1.5895432974316188e-10,
];

/// (cos y - 1 + y²/2)/y⁴ as a polynomial in y², with the least relative error in cos y: 2⁻⁶³.
const COS: [f64; 6] = [
    0.041666666666666595,
    -0.0013888888888873342,
    2.4801587289002076e-05,
    -2.7557314217035774e-07,
    2.0875705395219483e-09,
    -1.1358749174710391e-11,
];

const SIGN: u64 = 1 << 63;

/// sin x and cos x; NaN if x is not finite.
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= LIMIT { near(x) } else { far(x) }
}

/// The sines and cosines of many arguments, with the bits of [`sin_cos`].
///
/// The slices must be equally long.
pub fn sin_cos_many(x: &[f64], sin: &mut [f64], cos: &mut [f64]) {
    assert!(x.len() == sin.len() && x.len() == cos.len(), "lengths of arguments, sines and cosines");
    if let (&[x], [sin], [cos]) = (x, &mut *sin, &mut *cos) {
        (*sin, *cos) = sin_cos(x);
    } else if simd_dispatch::run(Many { x, sin, cos }) {
        far_among(x, sin, cos);
    }
}

/// Eight sines and cosines with the bits of [`sin_cos`]; to be inlined into loops.
#[inline(always)]
pub(crate) fn sin_cos_eight(x: &[f64; 8], sin: &mut [f64; 8], cos: &mut [f64; 8]) {
    if is_beyond(eight(x, sin, cos)) {
        far_among(x, sin, cos);
    }
}

#[cold]
#[inline(never)]
fn far_among(x: &[f64], sin: &mut [f64], cos: &mut [f64]) {
    for ((&x, sin), cos) in x.iter().zip(sin).zip(cos).filter(|((x, _), _)| is_beyond(distance(**x))) {
        (*sin, *cos) = far(x);
    }
}

struct Many<'a> {
    x: &'a [f64],
    sin: &'a mut [f64],
    cos: &'a mut [f64],
}

impl VectorKernel for Many<'_> {
    /// `true` if an argument is beyond the limit, so that its results are not computed yet.
    type Output = bool;

    /// Takes eight arguments at a time, then four; the last four may overlap others, whose results are computed twice.
    #[inline(always)]
    fn run(self) -> bool {
        let Many { x, sin, cos } = self;
        if x.len() < 4 {
            return two_or_three(x, sin, cos);
        }
        let mut beyond = 0;
        for ((x, sin), cos) in x.as_chunks().0.iter().zip(sin.as_chunks_mut().0).zip(cos.as_chunks_mut().0) {
            beyond |= eight(x, sin, cos);
        }
        let (first, last) = (x.len() / 8 * 8, x.len() - 4);
        if first < last {
            beyond |= four(array(&x[first..]), array_mut(&mut sin[first..]), array_mut(&mut cos[first..]));
        }
        if first < x.len() {
            beyond |= four(array(&x[last..]), array_mut(&mut sin[last..]), array_mut(&mut cos[last..]));
        }
        is_beyond(beyond)
    }
}

#[inline(always)]
fn array<const N: usize>(x: &[f64]) -> &[f64; N] {
    x.first_chunk().expect("N or more elements")
}

#[inline(always)]
fn array_mut<const N: usize>(x: &mut [f64]) -> &mut [f64; N] {
    x.first_chunk_mut().expect("N or more elements")
}

/// Eight sines and cosines; returns the distances of the arguments to the limit, combined by bitwise or.
///
/// Two loops: the shorter the chain from argument to result, the more of them a processor overlaps.
#[inline(always)]
fn eight(x: &[f64; 8], sin: &mut [f64; 8], cos: &mut [f64; 8]) -> u64 {
    let (mut k, mut y0, mut y1) = ([Wrapping(0); 8], [0.0; 8], [0.0; 8]);
    let mut beyond = 0;
    for j in 0..8 {
        beyond |= distance(x[j]);
        (k[j], y0[j], y1[j]) = reduce(x[j].abs());
    }
    for j in 0..8 {
        (sin[j], cos[j]) = turn(x[j], k[j], y0[j], y1[j]);
    }
    beyond
}

/// Four sines and cosines in one loop; returns the distances to the limit, combined by bitwise or.
#[inline(always)]
fn four(x: &[f64; 4], sin: &mut [f64; 4], cos: &mut [f64; 4]) -> u64 {
    let mut beyond = 0;
    for j in 0..4 {
        beyond |= distance(x[j]);
        (sin[j], cos[j]) = near(x[j]);
    }
    beyond
}

/// Two or three sines and cosines; the last argument fills the four places. `true` if an argument is beyond the limit.
#[inline(always)]
fn two_or_three(x: &[f64], sin: &mut [f64], cos: &mut [f64]) -> bool {
    let (Some(&last), [first, second, ..]) = (x.last(), x) else { return false };
    let (mut s, mut c) = ([0.0; 4], [0.0; 4]);
    let beyond = four(&[*first, *second, last, last], &mut s, &mut c);
    let n = x.len();
    (sin[0], sin[1], sin[n - 1]) = (s[0], s[1], s[2]);
    (cos[0], cos[1], cos[n - 1]) = (c[0], c[1], c[2]);
    is_beyond(beyond)
}

/// `true` if one of the distances, combined by bitwise or, is negative.
#[inline(always)]
fn is_beyond(distances: u64) -> bool {
    distances & SIGN != 0
}

/// The limit minus |x| as bits; negative if x is beyond the limit or NaN.
#[inline(always)]
fn distance(x: f64) -> u64 {
    LIMIT.to_bits().wrapping_sub(x.abs().to_bits())
}

/// sin x and cos x for |x| up to [`LIMIT`].
#[inline(always)]
pub fn near<L: Lane>(x: L) -> (L, L) {
    let size = L::from_bits(x.bits() & x.constant_bits(!SIGN));
    let (k, y0, y1) = reduce(size);
    turn(x, k, y0, y1)
}

/// k and y0 + y1 with x = k π/2 + y for 0 ≤ x ≤ `LIMIT`; only the last bits of k are meaningful.
#[inline(always)]
fn reduce<L: Lane>(x: L) -> (L::Bits, L, L) {
    // k, the nearest integer to 2x/π
    let round = x.constant(ROUND);
    let shifted = x * x.constant(FRAC_2_PI) + round;
    let k = shifted - round;

    // y = x - k π/2 = y0 + y1. Each difference is exact up to an error that is computed exactly: the operands are so
    // close that the result has few enough bits
    let [p0, p1, p2, p3] = HALF_PI.map(|p| x.constant(p));
    let a = x - k * p0;
    let b = a - k * p1;
    let b_error = (a - b) - k * p1;
    let y0 = b - k * p2;
    let y_error = (b - y0) - k * p2;
    let y1 = (b_error + y_error) - k * p3;

    (shifted.bits(), y0, y1)
}

/// sin x and cos x for |x| = k π/2 + y0 + y1; only the two lowest bits of k matter.
#[inline(always)]
fn turn<L: Lane>(x: L, k: L::Bits, y0: L, y1: L) -> (L, L) {
    let z = y0 * y0;
    let zz = z * z;

    // cos y = 1 - z/2 + z² C(z) - y0 y1, where 1 - z/2 = w + ((1 - w) - z/2) exactly
    let (half, one) = (z * x.constant(0.5), x.constant(1.0));
    let w = one - half;
    let cos = w + (((one - w) - half) + (zz * polynomial(&COS, z, zz) - y0 * y1));

    // sin y = y0 + y0 z S(z) + y1 cos y0
    let sin = y0 + (y0 * z * polynomial(&SIN, z, zz) + y1 * w);

    // odd quadrants exchange sine and cosine; two quadrants change the sign of both
    let (sin, cos, sign) = (sin.bits(), cos.bits(), x.constant_bits(SIGN));
    let swap = (sin ^ cos) & (x.constant_bits(0) - (k & x.constant_bits(1)));
    let sin_sign = (k << 62) ^ x.bits();
    let cos_sign = (k ^ (k << 1)) << 62;
    (L::from_bits(sin ^ swap ^ (sin_sign & sign)), L::from_bits(cos ^ swap ^ (cos_sign & sign)))
}

/// c₀ + c₁ z + ... + c₅ z⁵ in pairs, whose dependency chain is shorter than that of Horner's scheme.
#[inline(always)]
fn polynomial<L: Lane>(c: &[f64; 6], z: L, zz: L) -> L {
    let c = c.map(|c| z.constant(c));
    (c[0] + c[1] * z) + zz * ((c[2] + c[3] * z) + zz * (c[4] + c[5] * z))
}

/// sin x and cos x beyond the limit.
#[cold]
#[inline(never)]
fn far(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    let (k, y0, y1) = reduce_large(x.abs());
    turn(x, Wrapping(k), y0, y1)
}

/// 64 zeros and the binary digits of 2/π after the point, as many as any double needs.
const QUADRANT_BITS: [u64; 20] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
];

/// 2¹²⁷ π/2.
const HALF_PI_BITS: u128 = 0xC90F_DAA2_2168_C234_C4C6_628B_80DC_1CD1;

/// k and y0 + y1 with x = k π/2 + y for finite x beyond the limit, by the method of Payne and Hanek.
///
/// x = m 2ᵉ with an integer m. Of 2/π only those 192 bits matter whose product with x is neither a multiple of 4 nor
/// negligible. No double is nearer to a multiple of π/2 than about 2⁻⁶¹. All but the last 53 bits after the point are
/// right, so more than 70 bits of y are right.
fn reduce_large(x: f64) -> (u64, f64, f64) {
    let (exponent, m) = ((x.to_bits() >> 52) as usize, x.to_bits() & ((1 << 52) - 1) | 1 << 52);

    // 192 bits of 2/π, beginning with the one whose product with 2ᵉ is 2
    let first = exponent - 1013;
    let word = |k: usize| {
        let pair = (QUADRANT_BITS[first / 64 + k] as u128) << 64 | QUADRANT_BITS[first / 64 + k + 1] as u128;
        (pair >> (64 - first % 64)) as u64
    };

    // 2x/π modulo 4: two bits before and 190 after the point
    let low = m as u128 * word(2) as u128;
    let middle = m as u128 * word(1) as u128 + (low >> 64);
    let high = m.wrapping_mul(word(0)).wrapping_add((middle >> 64) as u64);
    let k = high >> 62;
    let mut fraction = (high as u128) << 66 | (middle as u64 as u128) << 2 | (low as u64 >> 62) as u128;
    let mut rest = (low as u64) << 2;

    // above one half, measure from the next quadrant downwards
    let down = fraction >> 127 == 1;
    if down {
        fraction = (!fraction).wrapping_add((rest == 0) as u128);
        rest = rest.wrapping_neg();
    }

    // y = π/2 times the fraction, 128 bits from the first that is 1
    let zeros = fraction.leading_zeros();
    let fraction = fraction << zeros | ((rest as u128) << zeros) >> 64;
    let y = high_product(fraction, HALF_PI_BITS);
    let scale = |exponent: i32| {
        let power = f64::from_bits(((1023 + exponent) as u64) << 52);
        if down { -power } else { power }
    };
    let y0 = (y >> 75) as f64 * scale(-52 - zeros as i32);
    let y1 = (y & ((1 << 75) - 1)) as f64 * scale(-127 - zeros as i32);
    (k + down as u64, y0, y1)
}

/// a b / 2¹²⁸ with an error of at most 2 units of the last bit.
fn high_product(a: u128, b: u128) -> u128 {
    let (a1, a0, b1, b0) = (a >> 64, a as u64 as u128, b >> 64, b as u64 as u128);
    a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instruction set of the build and the widest one of the machine give the same bits.
    #[test]
    fn instruction_sets_agree() {
        let x: Vec<f64> = (0..2003).map(|k| 0.37 * (k - 1000) as f64 * 1.003f64.powi(k)).collect();
        let (mut sin, mut cos) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let beyond = Many { x: &x, sin: &mut sin, cos: &mut cos }.run();
        assert!(!beyond);
        for k in 0..x.len() {
            let expected = sin_cos(x[k]);
            assert_eq!((sin[k].to_bits(), cos[k].to_bits()), (expected.0.to_bits(), expected.1.to_bits()), "{}", x[k]);
        }
    }
}
