//! Intervals with outward rounding: every operation returns bounds that hold for all values of its operands.
//!
//! $$ f([x]) \supseteq \{ f(x) : x \in [x] \} $$
//!
//! Bounds hold for the exact value and for the value that [`real`](crate::real) computes: the ends are moved outwards by one unit
//! in the last place after an operation, and by more after a function of the system's library. Where an operation is not defined on
//! a part of an interval, the result is the whole line, so no end is ever NaN. After Moore, Kearfott and Cloud, Introduction to
//! Interval Analysis.

use crate::node::{Comparison, Function, Function2};
use crate::real;
use crate::table::Table;
use std::f64::consts::{FRAC_2_PI, PI};
use std::ops::{Add, Mul, Neg, Sub};

/// Units in the last place by which the computed sine and cosine may be off at both places that are compared: each is off by less
/// than one.
const TRIG_ULPS: u32 = 2;

/// The same for functions of the system's library, which are off by less than two.
const LIBRARY_ULPS: u32 = 4;

/// Beyond this argument a quadrant is not told from its neighbour with a wide margin, and sine and cosine are only known to be at
/// most one.
const LARGEST_REDUCED: f64 = 1e12;

/// Rounding of an argument divided by π/2, relative to its size and to one quadrant.
const QUADRANT_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Rounding of a polynomial of degree five and of its shift, relative to the sum of its terms.
const TABLE_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// All numbers between two ends, which may be infinite and are never NaN.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Interval {
    /// below +∞
    lo: f64,
    /// above −∞
    hi: f64,
}

impl Interval {
    /// All numbers.
    pub const WHOLE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// The number 0.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    const UNIT: Interval = Interval { lo: -1.0, hi: 1.0 };

    /// The interval between two numbers in either order; the whole line if they do not bound a number.
    #[inline]
    pub fn new(a: f64, b: f64) -> Interval {
        let (lo, hi) = if a <= b { (a, b) } else { (b, a) };
        if lo < f64::INFINITY && hi > f64::NEG_INFINITY { Interval { lo, hi } } else { Interval::WHOLE }
    }

    /// One number; the whole line if it is not finite.
    #[inline]
    pub fn point(x: f64) -> Interval {
        if x.is_finite() { Interval { lo: x, hi: x } } else { Interval::WHOLE }
    }

    /// The least number.
    #[inline]
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// The largest number.
    #[inline]
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// The distance of the ends.
    #[inline]
    pub fn width(self) -> f64 {
        self.hi - self.lo
    }

    /// A number about halfway between the ends; finite.
    pub fn middle(self) -> f64 {
        let (lo, hi) = (self.lo.max(-f64::MAX), self.hi.min(f64::MAX));
        (0.5 * lo + 0.5 * hi).clamp(lo, hi)
    }

    /// The largest absolute value.
    #[inline]
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The least absolute value.
    #[inline]
    pub fn least_magnitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// `true` if x lies between the ends, or on one.
    #[inline]
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// `true` if both ends are finite.
    #[inline]
    pub fn is_bounded(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// The smallest interval that contains both.
    #[inline]
    pub fn hull(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The numbers of both; `None` if there is none.
    #[inline]
    pub fn intersection(self, other: Interval) -> Option<Interval> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    /// All numbers at a distance of at most r from the interval.
    #[inline]
    pub fn widened(self, r: f64) -> Interval {
        if r.is_nan() { Interval::WHOLE } else { outward(self.lo - r, self.hi + r) }
    }

    /// x².
    #[inline]
    pub fn square(self) -> Interval {
        let (least, most) = (self.least_magnitude(), self.magnitude());
        let hi = if most == 0.0 { 0.0 } else { (most * most).next_up() };
        Interval { lo: (least * least).next_down().max(0.0), hi }
    }

    /// x/y.
    #[inline]
    pub fn quotient(self, below: Interval) -> Interval {
        if below.contains(0.0) {
            return Interval::WHOLE;
        }
        if self == Interval::ZERO {
            return Interval::ZERO;
        }
        let ratios = [self.lo / below.lo, self.lo / below.hi, self.hi / below.lo, self.hi / below.hi];
        // ∞/∞ is any number of that sign
        if ratios.iter().any(|ratio| ratio.is_nan()) {
            return match (self.lo >= 0.0, self.hi <= 0.0, below.lo > 0.0) {
                (true, _, true) | (_, true, false) => Interval { lo: 0.0, hi: f64::INFINITY },
                (true, _, false) | (_, true, true) => Interval { lo: f64::NEG_INFINITY, hi: 0.0 },
                _ => Interval::WHOLE,
            };
        }
        outward(least(ratios), most(ratios))
    }

    /// xʸ.
    pub fn power(self, exponent: Interval) -> Interval {
        let Interval { lo, hi } = self;
        if exponent.lo == exponent.hi && exponent.lo.fract() == 0.0 {
            return self.integer_power(exponent.lo);
        }
        if lo < 0.0 || lo == 0.0 && exponent.lo <= 0.0 || !exponent.is_bounded() {
            return Interval::WHOLE;
        }
        // y log x is linear in both y and log x, so the extremes are at the corners
        let corners = [(lo, exponent.lo), (lo, exponent.hi), (hi, exponent.lo), (hi, exponent.hi)];
        let corners = corners.map(|(x, y)| real::pow(x, y));
        Interval { lo: down(least(corners), LIBRARY_ULPS).max(0.0), hi: up(most(corners), LIBRARY_ULPS) }
    }

    fn integer_power(self, n: f64) -> Interval {
        if n == 0.0 {
            return Interval { lo: 1.0, hi: 1.0 };
        }
        if n < 0.0 && self.contains(0.0) {
            return Interval::WHOLE;
        }
        // beyond 2⁵³ every double is even
        let is_even = n % 2.0 == 0.0;
        let Interval { lo, hi } =
            if is_even { Interval { lo: self.least_magnitude(), hi: self.magnitude() } } else { self };
        let (first, last) = (lo.powf(n), hi.powf(n));
        let ends = [first, first, last, last];
        let bound = Interval { lo: down(least(ends), LIBRARY_ULPS), hi: up(most(ends), LIBRARY_ULPS) };
        if lo >= 0.0 { Interval { lo: bound.lo.max(0.0), ..bound } } else { bound }
    }

    /// f(x).
    pub fn apply(self, f: Function) -> Interval {
        let Interval { lo, hi } = self;
        let increasing = |ulps: u32| Interval { lo: down(real::apply(f, lo), ulps), hi: up(real::apply(f, hi), ulps) };
        match f {
            // the crests are at π/2 + 2kπ, the troughs at −π/2 + 2kπ
            Function::Sin => self.wave(f, 1.0),
            Function::Cos => self.wave(f, 0.0),
            Function::Tan if self.quadrants_contain(1.0, 2.0) => Interval::WHOLE,
            Function::Asin | Function::Acos if lo < -1.0 || hi > 1.0 => Interval::WHOLE,
            Function::Log if lo <= 0.0 => Interval::WHOLE,
            Function::Sqrt if lo < 0.0 => Interval::WHOLE,
            Function::Tan | Function::Asin | Function::Atan | Function::Log | Function::Sinh => {
                increasing(LIBRARY_ULPS)
            }
            Function::Tanh => increasing(LIBRARY_ULPS).clamped(-1.0, 1.0),
            Function::Exp => increasing(LIBRARY_ULPS).clamped(0.0, f64::INFINITY),
            Function::Sqrt => increasing(1).clamped(0.0, f64::INFINITY),
            Function::Acos => Interval { lo: down(hi.acos(), LIBRARY_ULPS).max(0.0), hi: up(lo.acos(), LIBRARY_ULPS) },
            Function::Cosh => {
                let (least, most) = (self.least_magnitude().cosh(), self.magnitude().cosh());
                Interval { lo: down(least, LIBRARY_ULPS).max(1.0), hi: up(most, LIBRARY_ULPS) }
            }
            Function::Abs => Interval { lo: self.least_magnitude(), hi: self.magnitude() },
            Function::Sign => Interval { lo: real::sign(lo), hi: real::sign(hi) },
        }
    }

    /// The sine or cosine; its crests are `crest` + 4k quadrants from zero.
    fn wave(self, f: Function, crest: f64) -> Interval {
        let (has_crest, has_trough) = (self.quadrants_contain(crest, 4.0), self.quadrants_contain(crest + 2.0, 4.0));
        if has_crest && has_trough {
            return Interval::UNIT;
        }
        let (a, b) = (real::apply(f, self.lo), real::apply(f, self.hi));
        let lo = if has_trough { -1.0 } else { down(a.min(b), TRIG_ULPS) };
        let hi = if has_crest { 1.0 } else { up(a.max(b), TRIG_ULPS) };
        Interval { lo, hi }.clamped(-1.0, 1.0)
    }

    /// `true` if the interval contains (first + k·period) π/2 for some k, or if rounding leaves that in doubt.
    fn quadrants_contain(self, first: f64, period: f64) -> bool {
        if self.magnitude() >= LARGEST_REDUCED {
            return true;
        }
        let quadrants = |x: f64, sign: f64| {
            let at = x * FRAC_2_PI;
            at + sign * QUADRANT_ROUNDING * (at.abs() + 1.0)
        };
        let (from, to) = (quadrants(self.lo, -1.0), quadrants(self.hi, 1.0));
        let next = first + period * ((from - first) / period).ceil();
        // the quotient may have been rounded up to an integer
        next <= to || next - period >= from
    }

    fn clamped(self, least: f64, most: f64) -> Interval {
        Interval { lo: self.lo.clamp(least, most), hi: self.hi.clamp(least, most) }
    }

    /// f(x, y).
    pub fn apply2(self, f: Function2, other: Interval) -> Interval {
        match f {
            Function2::Atan2 => self.angle(other),
            Function2::Min => Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) },
            Function2::Max => Interval { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) },
        }
    }

    /// atan2(y, x) of y = `self`.
    fn angle(self, x: Interval) -> Interval {
        let y = self;
        let turn = up(PI, LIBRARY_ULPS);
        // the angle jumps from π to −π across the negative axis, and has every value at the origin
        let jumps = x.lo < 0.0 && y.lo < 0.0 && y.hi >= 0.0;
        if jumps || x.contains(0.0) && y.contains(0.0) {
            return Interval { lo: -turn, hi: turn };
        }
        let corners = [(y.lo, x.lo), (y.lo, x.hi), (y.hi, x.lo), (y.hi, x.hi)];
        let corners = corners.map(|(y, x)| real::apply2(Function2::Atan2, y, x));
        Interval { lo: down(least(corners), LIBRARY_ULPS), hi: up(most(corners), LIBRARY_ULPS) }.clamped(-turn, turn)
    }

    /// 1 if the comparison holds for all numbers of both intervals, 0 if it holds for none, else both.
    pub fn compare(self, comparison: Comparison, other: Interval) -> Interval {
        let (least, most) = match comparison {
            Comparison::Less | Comparison::LessOrEqual => {
                (comparison.holds(&self.hi, &other.lo), comparison.holds(&self.lo, &other.hi))
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                (comparison.holds(&self.lo, &other.hi), comparison.holds(&self.hi, &other.lo))
            }
        };
        Interval { lo: f64::from(least), hi: f64::from(most) }
    }

    /// `then` if `self` is not 0, else `otherwise`; both if that is not known.
    #[inline]
    pub fn select(self, then: Interval, otherwise: Interval) -> Interval {
        match (self == Interval::ZERO, self.contains(0.0)) {
            (true, _) => otherwise,
            (_, false) => then,
            _ => then.hull(otherwise),
        }
    }

    /// The value of a table; the whole line if a part of the interval lies outside its range.
    pub fn look(self, table: &Table) -> Interval {
        let Interval { lo, hi } = self;
        if !(table.value(lo).is_finite() && table.value(hi).is_finite()) {
            return Interval::WHOLE;
        }
        let (knots, pieces) = (table.knots(), table.pieces());
        let piece = |x: f64| knots.partition_point(|knot| *knot <= x).clamp(1, pieces.len()) - 1;
        let (first, last) = (piece(lo), piece(hi));
        (first..=last)
            .fold(None, |all: Option<Interval>, k| {
                let from = if k == first { lo } else { knots[k] };
                let to = if k == last { hi } else { knots[k + 1] };
                let part = polynomial(&pieces[k], Interval::new(from, to) - Interval::point(knots[k]));
                Some(all.map_or(part, |all| all.hull(part)))
            })
            .unwrap_or(Interval::WHOLE)
    }
}

/// c₀ + c₁s + … from its Taylor series at the middle of the interval: p(m) ± Σ |p⁽ᵏ⁾(m)|/k! rᵏ.
fn polynomial(c: &[f64], s: Interval) -> Interval {
    let (m, top) = (s.middle(), s.magnitude());
    let r = (s.hi - m).max(m - s.lo).next_up();
    let mut shifted = [0.0; 8];
    shifted[..c.len()].copy_from_slice(c);
    for first in 0..c.len() {
        for k in (first..c.len() - 1).rev() {
            shifted[k] += m * shifted[k + 1];
        }
    }
    let spread = shifted[1..c.len()].iter().rev().fold(0.0, |sum, p| (sum + p.abs()) * r);
    let terms = c.iter().rev().fold(0.0, |sum, c| sum * (top + r) + c.abs());
    Interval::point(shifted[0]).widened(spread + TABLE_ROUNDING * terms)
}

/// x moved down by a number of units in the last place.
#[inline]
fn down(x: f64, ulps: u32) -> f64 {
    (0..ulps).fold(x, |x, _| x.next_down())
}

/// x moved up by a number of units in the last place.
#[inline]
fn up(x: f64, ulps: u32) -> f64 {
    (0..ulps).fold(x, |x, _| x.next_up())
}

/// The interval one unit in the last place beyond both ends.
#[inline]
fn outward(lo: f64, hi: f64) -> Interval {
    Interval { lo: lo.next_down(), hi: hi.next_up() }
}

#[inline]
fn least(of: [f64; 4]) -> f64 {
    of[0].min(of[1]).min(of[2].min(of[3]))
}

#[inline]
fn most(of: [f64; 4]) -> f64 {
    of[0].max(of[1]).max(of[2].max(of[3]))
}

impl Add for Interval {
    type Output = Interval;

    #[inline]
    fn add(self, other: Interval) -> Interval {
        match (self == Interval::ZERO, other == Interval::ZERO) {
            (true, _) => other,
            (_, true) => self,
            _ => outward(self.lo + other.lo, self.hi + other.hi),
        }
    }
}

impl Sub for Interval {
    type Output = Interval;

    #[inline]
    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Neg for Interval {
    type Output = Interval;

    #[inline]
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Mul for Interval {
    type Output = Interval;

    #[inline]
    fn mul(self, other: Interval) -> Interval {
        if self == Interval::ZERO || other == Interval::ZERO {
            return Interval::ZERO;
        }
        let products = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        // an infinite end is a bound, not a number: its product with 0 is 0
        outward(least(products.map(number)), most(products.map(number)))
    }
}

#[inline]
fn number(product: f64) -> f64 {
    if product.is_nan() { 0.0 } else { product }
}
