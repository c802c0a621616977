//! Sparse polynomials over the rationals in numbered indeterminates.

use super::budget::Budget;
use crate::number::Number;
use std::collections::BTreeMap;

/// How much longer arithmetic takes with numbers beyond machine integers.
const WORK_OF_LONG_NUMBERS: usize = 40;

/// Exponents of the indeterminates 0, 1, ..., without zeros at the end.
pub(crate) type Monomial = Vec<u16>;

/// A sum of numbers times monomials, none of the numbers zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Polynomial {
    pub terms: BTreeMap<Monomial, Number>,
}

/// A polynomial as number · monomial · rest, the rest with coprime integer coefficients, no common indeterminate and a
/// positive leading coefficient.
pub(crate) struct Split {
    pub number: Number,
    pub monomial: Monomial,
    pub rest: Polynomial,
}

/// The exponent of an indeterminate.
pub(crate) fn exponent(m: &[u16], k: usize) -> u16 {
    m.get(k).copied().unwrap_or(0)
}

fn trimmed(mut m: Monomial) -> Monomial {
    while m.last() == Some(&0) {
        m.pop();
    }
    m
}

/// The product of two monomials; none if an exponent grows too large.
pub(crate) fn times(a: &[u16], b: &[u16]) -> Option<Monomial> {
    (0..a.len().max(b.len())).map(|k| exponent(a, k).checked_add(exponent(b, k))).collect()
}

/// The quotient of two monomials; none if there is a remainder.
pub(crate) fn over(a: &[u16], b: &[u16]) -> Option<Monomial> {
    let quotient: Option<Monomial> =
        (0..a.len().max(b.len())).map(|k| exponent(a, k).checked_sub(exponent(b, k))).collect();
    quotient.map(trimmed)
}

/// The greatest common divisor of two monomials.
pub(crate) fn meet(a: &[u16], b: &[u16]) -> Monomial {
    trimmed(a.iter().zip(b).map(|(x, y)| *x.min(y)).collect())
}

/// The monomial without the indeterminates for which `is_out` holds, and those alone.
pub(crate) fn parted(m: &[u16], is_out: impl Fn(usize) -> bool) -> (Monomial, Monomial) {
    let kept = m.iter().enumerate().map(|(k, &n)| if is_out(k) { 0 } else { n }).collect();
    let out = m.iter().enumerate().map(|(k, &n)| if is_out(k) { n } else { 0 }).collect();
    (trimmed(kept), trimmed(out))
}

impl Polynomial {
    pub fn constant(value: Number) -> Polynomial {
        Polynomial::term(Vec::new(), value)
    }

    pub fn one() -> Polynomial {
        Polynomial::constant(Number::ONE)
    }

    pub fn term(monomial: Monomial, value: Number) -> Polynomial {
        let mut p = Polynomial::default();
        if !value.is_zero() {
            p.terms.insert(trimmed(monomial), value);
        }
        p
    }

    /// The indeterminate k to the power n.
    pub fn power(k: usize, n: u16) -> Polynomial {
        let mut monomial = vec![0; k + 1];
        monomial[k] = n;
        Polynomial::term(monomial, Number::ONE)
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn is_one(&self) -> bool {
        self.as_constant().is_some_and(|c| c.is_one())
    }

    /// The value, if no indeterminate occurs.
    pub fn as_constant(&self) -> Option<Number> {
        match self.terms.last_key_value() {
            None => Some(Number::ZERO),
            Some((m, c)) if m.is_empty() => Some(c.clone()),
            _ => None,
        }
    }

    pub fn is_constant(&self) -> bool {
        self.terms.last_key_value().is_none_or(|(m, _)| m.is_empty())
    }

    /// Adds factor · monomial · other.
    pub fn add_product(
        &mut self,
        other: &Polynomial,
        factor: &Number,
        monomial: &[u16],
        budget: &Budget,
    ) -> Option<()> {
        budget.spend(other.len())?;
        for (m, c) in &other.terms {
            let value = c.mul(factor)?;
            if value.to_small().is_none() {
                budget.spend(WORK_OF_LONG_NUMBERS)?;
            }
            self.add_term(times(m, monomial)?, value)?;
        }
        budget.allow(self.len())
    }

    fn add_term(&mut self, m: Monomial, value: Number) -> Option<()> {
        use std::collections::btree_map::Entry;
        match self.terms.entry(m) {
            Entry::Vacant(place) => {
                if !value.is_zero() {
                    place.insert(value);
                }
            }
            Entry::Occupied(mut place) => {
                let sum = place.get().add(&value)?;
                if sum.is_zero() {
                    place.remove();
                } else {
                    *place.get_mut() = sum;
                }
            }
        }
        Some(())
    }

    pub fn add(&self, other: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let mut sum = self.clone();
        sum.add_product(other, &Number::ONE, &[], budget)?;
        Some(sum)
    }

    pub fn sub(&self, other: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let mut sum = self.clone();
        sum.add_product(other, &Number::MINUS_ONE, &[], budget)?;
        Some(sum)
    }

    pub fn mul(&self, other: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let (short, long) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        let mut product = Polynomial::default();
        for (m, c) in &short.terms {
            product.add_product(long, c, m, budget)?;
        }
        Some(product)
    }

    pub fn pow(&self, n: u32, budget: &Budget) -> Option<Polynomial> {
        let mut product = Polynomial::one();
        for _ in 0..n {
            product = product.mul(self, budget)?;
        }
        Some(product)
    }

    pub fn scale(&self, factor: &Number) -> Option<Polynomial> {
        if factor.is_one() {
            return Some(self.clone());
        }
        let terms: Option<_> = self.terms.iter().map(|(m, c)| Some((m.clone(), c.mul(factor)?))).collect();
        Some(Polynomial { terms: terms? })
    }

    pub fn neg(&self) -> Polynomial {
        Polynomial { terms: self.terms.iter().map(|(m, c)| (m.clone(), c.neg())).collect() }
    }

    pub fn times_monomial(&self, monomial: &[u16]) -> Option<Polynomial> {
        let terms: Option<_> = self.terms.iter().map(|(m, c)| Some((times(m, monomial)?, c.clone()))).collect();
        Some(Polynomial { terms: terms? })
    }

    /// The highest power of an indeterminate.
    pub fn degree(&self, k: usize) -> u16 {
        self.terms.keys().map(|m| exponent(m, k)).max().unwrap_or(0)
    }

    /// The indeterminates that occur.
    pub fn indeterminates(&self) -> Vec<usize> {
        let most = self.terms.keys().map(Vec::len).max().unwrap_or(0);
        let mut found = vec![false; most];
        for m in self.terms.keys() {
            m.iter().zip(&mut found).for_each(|(n, found)| *found |= *n > 0);
        }
        (0..most).filter(|k| found[*k]).collect()
    }

    /// The polynomial as one in the indeterminate k alone: its coefficients by the power they belong to.
    pub fn coefficients(&self, k: usize) -> BTreeMap<u16, Polynomial> {
        let mut powers: BTreeMap<u16, Polynomial> = BTreeMap::new();
        for (m, c) in &self.terms {
            let (rest, _) = parted(m, |j| j == k);
            powers.entry(exponent(m, k)).or_default().terms.insert(rest, c.clone());
        }
        powers
    }

    pub fn split(&self) -> Split {
        let Some((last, lead)) = self.terms.last_key_value() else {
            return Split { number: Number::ZERO, monomial: Vec::new(), rest: Polynomial::one() };
        };
        let monomial = self.terms.keys().fold(last.clone(), |common, m| meet(&common, m));
        let size = self.terms.values().fold(Number::ZERO, |common, c| common.gcd(c));
        let number = if lead.is_negative() { size.neg() } else { size };
        let scaled = number.recip().and_then(|inverse| self.scale(&inverse));
        let (number, rest) = match scaled {
            Some(rest) => (number, rest),
            // numbers at the edge of what is kept exact stay where they are
            None => (Number::ONE, self.clone()),
        };
        let terms = rest.terms.into_iter().map(|(m, c)| (over(&m, &monomial).unwrap_or(m), c)).collect();
        Split { number, monomial, rest: Polynomial { terms } }
    }

    /// self / divisor, if there is no remainder.
    pub fn divide(&self, divisor: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let (lead, lead_value) = divisor.terms.last_key_value()?;
        let (first, _) = divisor.terms.first_key_value()?;
        let inverse = lead_value.recip()?;
        // the lowest term of a product is that of the lowest terms
        if let Some((lowest, _)) = self.terms.first_key_value() {
            over(lowest, first)?;
        }
        let mut rest = self.clone();
        let mut quotient = Polynomial::default();
        while let Some((top, value)) = rest.terms.last_key_value() {
            let monomial = over(top, lead)?;
            let value = value.mul(&inverse)?;
            rest.add_product(divisor, &value.neg(), &monomial, budget)?;
            quotient.terms.insert(monomial, value);
            budget.allow(quotient.len())?;
        }
        Some(quotient)
    }

    /// Quotient and remainder by one pass over the terms that are multiples of `lead`, a term of the divisor.
    pub fn divide_with_rest(
        &self,
        divisor: &Polynomial,
        lead: &Monomial,
        budget: &Budget,
    ) -> Option<(Polynomial, Polynomial)> {
        let inverse = divisor.terms.get(lead)?.recip()?.neg();
        let (mut rest, mut quotient) = (self.clone(), Polynomial::default());
        for (m, value) in &self.terms {
            let Some(monomial) = over(m, lead) else { continue };
            let factor = value.mul(&inverse)?;
            rest.add_product(divisor, &factor, &monomial, budget)?;
            quotient.terms.insert(monomial, factor.neg());
        }
        Some((quotient, rest))
    }

    /// The same with powers kⁿ, n ≥ 2, written by k² = square.
    pub fn without_squares(&self, k: usize, square: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        if self.terms.keys().all(|m| exponent(m, k) < 2) {
            return Some(self.clone());
        }
        let mut powers = vec![Polynomial::one()];
        let mut reduced = Polynomial::default();
        for (m, c) in &self.terms {
            let n = exponent(m, k);
            let mut rest = m.clone();
            if n >= 2 {
                rest[k] = n % 2;
            }
            let half = usize::from(n / 2);
            while powers.len() <= half {
                powers.push(powers[powers.len() - 1].mul(square, budget)?);
            }
            reduced.add_product(&powers[half], c, &trimmed(rest), budget)?;
        }
        Some(reduced)
    }

    /// ∂/∂k.
    pub fn derivative(&self, k: usize) -> Option<Polynomial> {
        let mut derivative = Polynomial::default();
        for (m, c) in self.terms.iter().filter(|(m, _)| exponent(m, k) > 0) {
            let mut lower = m.clone();
            lower[k] -= 1;
            derivative.terms.insert(trimmed(lower), c.mul(&Number::integer(i64::from(m[k])))?);
        }
        Some(derivative)
    }
}
