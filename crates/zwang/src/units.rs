//! Units and their dimensions. Every value is converted to SI units when it is read.

use crate::tolerance;
use std::fmt;

/// Names of the seven base units, in the order of [`Dimension`]'s exponents.
const BASE: [&str; 7] = ["kg", "m", "s", "A", "K", "mol", "cd"];

/// Exponents of kilogram, metre, second, ampere, kelvin, mole and candela.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Dimension(pub [f64; 7]);

impl Dimension {
    /// A pure number; also an angle, since `rad` is 1.
    pub const NONE: Dimension = Dimension([0.0; 7]);
    /// Time.
    pub const SECOND: Dimension = Dimension([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    /// Energy.
    pub const JOULE: Dimension = Dimension([1.0, 2.0, -2.0, 0.0, 0.0, 0.0, 0.0]);

    /// The dimension of a product of powers: self · other^power.
    pub fn times(self, other: Dimension, power: f64) -> Dimension {
        let mut sum = self.0;
        for (s, o) in sum.iter_mut().zip(other.0) {
            *s += o * power;
        }
        Dimension(sum)
    }

    /// The dimension of self^power.
    pub fn power(self, power: f64) -> Dimension {
        Dimension::NONE.times(self, power)
    }

    /// `true` if both are equal up to the rounding of fractional exponents.
    pub fn same(self, other: Dimension) -> bool {
        self.0.iter().zip(other.0).all(|(a, b)| (a - b).abs() < tolerance::EXPONENT)
    }

    /// The common word for the dimension, or `None`: `length`, `energy`, ...
    pub fn word(self) -> Option<&'static str> {
        let words: [(&str, [f64; 3]); 16] = [
            ("pure number", [0.0, 0.0, 0.0]),
            ("length", [0.0, 1.0, 0.0]),
            ("mass", [1.0, 0.0, 0.0]),
            ("time", [0.0, 0.0, 1.0]),
            ("velocity", [0.0, 1.0, -1.0]),
            ("acceleration", [0.0, 1.0, -2.0]),
            ("angular velocity", [0.0, 0.0, -1.0]),
            ("angular acceleration", [0.0, 0.0, -2.0]),
            ("area", [0.0, 2.0, 0.0]),
            ("volume", [0.0, 3.0, 0.0]),
            ("force", [1.0, 1.0, -2.0]),
            ("energy", [1.0, 2.0, -2.0]),
            ("power", [1.0, 2.0, -3.0]),
            ("moment of inertia", [1.0, 2.0, 0.0]),
            ("momentum", [1.0, 1.0, -1.0]),
            ("stiffness", [1.0, 0.0, -2.0]),
        ];
        let find = |e: [f64; 3]| Dimension([e[0], e[1], e[2], 0.0, 0.0, 0.0, 0.0]);
        words.iter().find(|(_, e)| self.same(find(*e))).map(|(word, _)| *word)
    }

    /// The unit with which a value of this dimension is shown; empty for a pure number.
    pub fn unit(self) -> String {
        let shown = ["N", "J", "W"];
        for name in shown {
            if find(name).is_some_and(|u| u.dimension.same(self)) {
                return name.to_string();
            }
        }
        if self.same(Dimension::NONE) { String::new() } else { self.written("*") }
    }

    /// The dimension as a product of base units: `kg*m^2/s^2`.
    fn written(self, times: &str) -> String {
        let part = |sign: f64| -> Vec<String> {
            let one = |(name, e): (&&str, &f64)| match e * sign {
                e if (e - 1.0).abs() < tolerance::EXPONENT => name.to_string(),
                e if e > tolerance::EXPONENT => format!("{name}^{}", (e * 1e6).round() / 1e6),
                _ => String::new(),
            };
            BASE.iter().zip(&self.0).map(one).filter(|s| !s.is_empty()).collect()
        };
        let (above, below) = (part(1.0), part(-1.0));
        let above = if above.is_empty() { "1".to_string() } else { above.join(times) };
        std::iter::once(above).chain(below).collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let written = if self.same(Dimension::NONE) { "1".to_string() } else { self.written("·") };
        let raised = [("^2", "²"), ("^3", "³"), ("^4", "⁴")];
        f.write_str(&raised.iter().fold(written, |s, (from, to)| s.replace(from, to)))
    }
}

/// A unit: its exact factor to SI units, and its dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The text as written by the user, such as `m/s^2`.
    pub text: String,
    /// Numerator of the factor to SI, which is numerator / denominator · π^pi.
    pub numerator: i64,
    /// Denominator of the factor to SI.
    pub denominator: i64,
    /// Power of π in the factor to SI (1 for degrees).
    pub pi: i32,
    /// The dimension that it measures.
    pub dimension: Dimension,
}

impl Unit {
    /// The factor to SI as a number.
    pub fn factor(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64 * std::f64::consts::PI.powi(self.pi)
    }

    /// This unit times another one to a power; `None` if the exact factor grows too large.
    pub fn times(&self, other: &Unit, power: i32) -> Option<Unit> {
        let (n, d) =
            if power >= 0 { (other.numerator, other.denominator) } else { (other.denominator, other.numerator) };
        let (mut numerator, mut denominator) = (self.numerator, self.denominator);
        for _ in 0..power.unsigned_abs() {
            (numerator, denominator) = reduced(numerator.checked_mul(n)?, denominator.checked_mul(d)?);
        }
        Some(Unit {
            text: String::new(),
            numerator,
            denominator,
            pi: self.pi + other.pi * power,
            dimension: self.dimension.times(other.dimension, f64::from(power)),
        })
    }

    /// The unit of pure numbers.
    pub fn one() -> Unit {
        Unit { text: "1".into(), numerator: 1, denominator: 1, pi: 0, dimension: Dimension::NONE }
    }
}

fn reduced(n: i64, d: i64) -> (i64, i64) {
    let (mut a, mut b) = (n, d);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (n / a, d / a)
}

/// name, numerator, denominator, power of π, then exponents of kg, m, s, A, K, mol, cd
type Row = (&'static str, i64, i64, i32, [i8; 7]);

/// All units of the language. `g` is not among them, because every reader takes it for gravity.
const UNITS: [Row; 47] = [
    ("m", 1, 1, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("km", 1000, 1, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("dm", 1, 10, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("cm", 1, 100, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("mm", 1, 1000, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("um", 1, 1_000_000, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("μm", 1, 1_000_000, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("inch", 254, 10_000, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("ft", 3048, 10_000, 0, [0, 1, 0, 0, 0, 0, 0]),
    ("kg", 1, 1, 0, [1, 0, 0, 0, 0, 0, 0]),
    ("gram", 1, 1000, 0, [1, 0, 0, 0, 0, 0, 0]),
    ("mg", 1, 1_000_000, 0, [1, 0, 0, 0, 0, 0, 0]),
    ("tonne", 1000, 1, 0, [1, 0, 0, 0, 0, 0, 0]),
    ("lb", 45_359_237, 100_000_000, 0, [1, 0, 0, 0, 0, 0, 0]),
    ("s", 1, 1, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("ms", 1, 1000, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("us", 1, 1_000_000, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("μs", 1, 1_000_000, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("min", 60, 1, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("h", 3600, 1, 0, [0, 0, 1, 0, 0, 0, 0]),
    ("rad", 1, 1, 0, [0, 0, 0, 0, 0, 0, 0]),
    ("deg", 1, 180, 1, [0, 0, 0, 0, 0, 0, 0]),
    ("rev", 2, 1, 1, [0, 0, 0, 0, 0, 0, 0]),
    ("rpm", 1, 30, 1, [0, 0, -1, 0, 0, 0, 0]),
    ("Hz", 1, 1, 0, [0, 0, -1, 0, 0, 0, 0]),
    ("kHz", 1000, 1, 0, [0, 0, -1, 0, 0, 0, 0]),
    ("N", 1, 1, 0, [1, 1, -2, 0, 0, 0, 0]),
    ("mN", 1, 1000, 0, [1, 1, -2, 0, 0, 0, 0]),
    ("kN", 1000, 1, 0, [1, 1, -2, 0, 0, 0, 0]),
    ("MN", 1_000_000, 1, 0, [1, 1, -2, 0, 0, 0, 0]),
    ("J", 1, 1, 0, [1, 2, -2, 0, 0, 0, 0]),
    ("mJ", 1, 1000, 0, [1, 2, -2, 0, 0, 0, 0]),
    ("kJ", 1000, 1, 0, [1, 2, -2, 0, 0, 0, 0]),
    ("W", 1, 1, 0, [1, 2, -3, 0, 0, 0, 0]),
    ("kW", 1000, 1, 0, [1, 2, -3, 0, 0, 0, 0]),
    ("Pa", 1, 1, 0, [1, -1, -2, 0, 0, 0, 0]),
    ("kPa", 1000, 1, 0, [1, -1, -2, 0, 0, 0, 0]),
    ("MPa", 1_000_000, 1, 0, [1, -1, -2, 0, 0, 0, 0]),
    ("GPa", 1_000_000_000, 1, 0, [1, -1, -2, 0, 0, 0, 0]),
    ("A", 1, 1, 0, [0, 0, 0, 1, 0, 0, 0]),
    ("K", 1, 1, 0, [0, 0, 0, 0, 1, 0, 0]),
    ("mol", 1, 1, 0, [0, 0, 0, 0, 0, 1, 0]),
    ("cd", 1, 1, 0, [0, 0, 0, 0, 0, 0, 1]),
    ("V", 1, 1, 0, [1, 2, -3, -1, 0, 0, 0]),
    ("C", 1, 1, 0, [0, 0, 1, 1, 0, 0, 0]),
    ("T", 1, 1, 0, [1, 0, -2, -1, 0, 0, 0]),
    ("ohm", 1, 1, 0, [1, 2, -3, -2, 0, 0, 0]),
];

/// The unit of that name, or `None`.
pub fn find(name: &str) -> Option<Unit> {
    let row = UNITS.iter().find(|row| row.0 == name)?;
    Some(Unit {
        text: name.to_string(),
        numerator: row.1,
        denominator: row.2,
        pi: row.3,
        dimension: Dimension(row.4.map(f64::from)),
    })
}

/// The names of all units.
pub fn names() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|row| row.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_is_written_in_base_units_and_by_its_own_name() {
        let newton = find("N").unwrap().dimension;
        assert_eq!(newton.to_string(), "kg·m/s²");
        assert_eq!(newton.unit(), "N");
        assert_eq!(newton.word(), Some("force"));
    }

    #[test]
    fn degrees_are_exact_fractions_of_pi() {
        assert_eq!(find("deg").unwrap().factor() * 180.0, std::f64::consts::PI);
    }

    #[test]
    fn g_is_gravity_and_no_unit() {
        assert!(find("g").is_none());
    }
}
