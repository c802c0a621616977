//! Sparse polynomials over the rationals in numbered indeterminates.

use super::budget::WorkLimit;
use super::monomial::Monomial;
use crate::number::Number;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The relative cost of arithmetic with numbers that do not fit into machine integers.
const WORK_OF_LONG_NUMBERS: usize = 40;

/// A number times a monomial.
pub(crate) type Term = (Monomial, Number);

/// A sum of numbers times monomials; none of the numbers is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Polynomial {
    /// sorted by monomial, ascending
    terms: Vec<Term>,
}

/// A polynomial as number · monomial · rest. The rest has coprime integer coefficients, no common indeterminate and a
/// positive leading coefficient.
pub(crate) struct Split {
    pub number: Number,
    pub monomial: Monomial,
    pub rest: Polynomial,
}

impl Polynomial {
    pub fn constant(value: Number) -> Polynomial {
        Polynomial::term(Monomial::default(), value)
    }

    pub fn one() -> Polynomial {
        Polynomial::constant(Number::ONE)
    }

    pub fn term(monomial: Monomial, value: Number) -> Polynomial {
        Polynomial { terms: if value.is_zero() { Vec::new() } else { vec![(monomial, value)] } }
    }

    /// The indeterminate k to the power n.
    pub fn power(k: usize, n: u16) -> Polynomial {
        Polynomial::term(Monomial::power(k, n), Number::ONE)
    }

    /// The sum of terms with distinct monomials, in any order.
    pub fn from_terms(mut terms: Vec<Term>) -> Polynomial {
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Polynomial { terms }
    }

    /// The terms, sorted by monomial, ascending.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    pub fn monomials(&self) -> impl DoubleEndedIterator<Item = &Monomial> {
        self.terms.iter().map(|(m, _)| m)
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn is_one(&self) -> bool {
        matches!(&self.terms[..], [(m, c)] if m.is_one() && c.is_one())
    }

    /// `true` if no indeterminate occurs.
    pub fn is_constant(&self) -> bool {
        self.last().is_none_or(|(m, _)| m.is_one())
    }

    pub fn first(&self) -> Option<&Term> {
        self.terms.first()
    }

    /// The leading term.
    pub fn last(&self) -> Option<&Term> {
        self.terms.last()
    }

    fn place(&self, m: &Monomial) -> Result<usize, usize> {
        self.terms.binary_search_by(|(known, _)| known.cmp(m))
    }

    /// The coefficient of a monomial, or `None` if it is zero.
    pub fn get(&self, m: &Monomial) -> Option<&Number> {
        self.place(m).ok().map(|at| &self.terms[at].1)
    }

    /// Sets the coefficient of a monomial; it must not be zero.
    pub fn insert(&mut self, m: Monomial, value: Number) {
        if self.last().is_none_or(|(last, _)| *last < m) {
            return self.terms.push((m, value));
        }
        match self.place(&m) {
            Ok(at) => self.terms[at].1 = value,
            Err(at) => self.terms.insert(at, (m, value)),
        }
    }

    /// Removes a term and returns its coefficient.
    pub fn remove(&mut self, m: &Monomial) -> Option<Number> {
        let at = self.place(m).ok()?;
        Some(self.terms.remove(at).1)
    }

    /// Adds factor · monomial · other.
    pub fn add_product(
        &mut self,
        other: &Polynomial,
        factor: &Number,
        monomial: &Monomial,
        budget: &WorkLimit,
    ) -> Option<()> {
        let product = times_term(&other.terms, factor, monomial, budget)?;
        self.terms = merged(std::mem::take(&mut self.terms), product)?;
        budget.allow(self.len())
    }

    pub fn add(&self, other: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let mut sum = self.clone();
        sum.add_product(other, &Number::ONE, &Monomial::default(), budget)?;
        Some(sum)
    }

    pub fn sub(&self, other: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let mut sum = self.clone();
        sum.add_product(other, &Number::MINUS_ONE, &Monomial::default(), budget)?;
        Some(sum)
    }

    pub fn mul(&self, other: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let (short, long) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        Some(Polynomial { terms: product(&short.terms, &long.terms, budget)? })
    }

    pub fn pow(&self, n: u32, budget: &WorkLimit) -> Option<Polynomial> {
        if n == 1 {
            return Some(self.clone());
        }
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

    pub fn times_monomial(&self, monomial: &Monomial) -> Option<Polynomial> {
        let terms: Option<_> = self.terms.iter().map(|(m, c)| Some((m.times(monomial)?, c.clone()))).collect();
        Some(Polynomial { terms: terms? })
    }

    /// The highest power of the indeterminate k.
    pub fn degree(&self, k: usize) -> u16 {
        self.monomials().map(|m| m.exponent(k)).max().unwrap_or(0)
    }

    /// The indeterminates that occur.
    pub fn indeterminates(&self) -> Vec<usize> {
        let all = self.monomials().fold(Monomial::default(), |all, m| all.join(m));
        all.powers().map(|(k, _)| k).collect()
    }

    /// The coefficients of the polynomial in the indeterminate k, by power.
    pub fn coefficients(&self, k: usize) -> BTreeMap<u16, Polynomial> {
        let mut powers: BTreeMap<u16, Polynomial> = BTreeMap::new();
        for (m, c) in &self.terms {
            // terms with the same power of k remain sorted when k is removed
            powers.entry(m.exponent(k)).or_default().terms.push((m.with(k, 0), c.clone()));
        }
        powers
    }

    /// The greatest common divisor of the coefficients, with the sign of the leading one, and the polynomial divided by
    /// it.
    pub fn without_number(self) -> (Number, Polynomial) {
        let is_negative = self.last().is_some_and(|(_, lead)| lead.is_negative());
        let size = self.terms.iter().fold(Number::ZERO, |common, (_, c)| common.gcd(c));
        let number = if is_negative { size.neg() } else { size };
        if number.is_one() {
            return (number, self);
        }
        match number.recip().and_then(|inverse| self.scale(&inverse)) {
            Some(rest) => (number, rest),
            // numbers at the size limit of exact arithmetic are left in place
            None => (Number::ONE, self),
        }
    }

    pub fn split(&self) -> Split {
        let Some((last, _)) = self.terms.last() else {
            return Split { number: Number::ZERO, monomial: Monomial::default(), rest: Polynomial::one() };
        };
        let monomial = self.monomials().fold(last.clone(), |common, m| common.meet(m));
        let (number, mut rest) = self.clone().without_number();
        if !monomial.is_one() {
            for (m, _) in &mut rest.terms {
                if let Some(quotient) = m.over(&monomial) {
                    *m = quotient;
                }
            }
        }
        Split { number, monomial, rest }
    }

    /// self / divisor, or `None` if there is a remainder.
    pub fn divide(&self, divisor: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let (lead, lead_value) = divisor.last()?;
        let (first, _) = divisor.first()?;
        let inverse = lead_value.recip()?;
        // the lowest term of a product is the product of the lowest terms
        if let Some((lowest, _)) = self.first() {
            lowest.over(first)?;
        }
        let mut rest = self.clone();
        let mut quotient = Vec::new();
        while let Some((top, value)) = rest.last() {
            let monomial = top.over(lead)?;
            let value = value.mul(&inverse)?;
            rest.add_product(divisor, &value.neg(), &monomial, budget)?;
            quotient.push((monomial, value));
            budget.allow(quotient.len())?;
        }
        // the terms were found in descending order
        quotient.reverse();
        Some(Polynomial { terms: quotient })
    }

    /// Quotient and remainder by one pass over the terms that are multiples of `lead`, a monomial of the divisor.
    pub fn divide_with_rest(
        &self,
        divisor: &Polynomial,
        lead: &Monomial,
        budget: &WorkLimit,
    ) -> Option<(Polynomial, Polynomial)> {
        let inverse = divisor.get(lead)?.recip()?.neg();
        let (mut rest, mut quotient) = (self.clone(), Polynomial::default());
        for (m, value) in &self.terms {
            let Some(monomial) = m.over(lead) else { continue };
            let factor = value.mul(&inverse)?;
            rest.add_product(divisor, &factor, &monomial, budget)?;
            quotient.insert(monomial, factor.neg());
        }
        Some((quotient, rest))
    }

    /// Replaces powers kⁿ, n ≥ 2, by k² = square.
    pub fn without_squares(&self, k: usize, square: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        if self.monomials().all(|m| m.exponent(k) < 2) {
            return Some(self.clone());
        }
        let mut powers = vec![Polynomial::one()];
        let mut reduced = Polynomial::default();
        for (m, c) in &self.terms {
            let n = m.exponent(k);
            let rest = m.with(k, n % 2);
            let half = usize::from(n / 2);
            while powers.len() <= half {
                powers.push(powers[powers.len() - 1].mul(square, budget)?);
            }
            reduced.add_product(&powers[half], c, &rest, budget)?;
        }
        Some(reduced)
    }

    /// ∂/∂k.
    pub fn derivative(&self, k: usize) -> Option<Polynomial> {
        let mut terms = Vec::with_capacity(self.len());
        for (m, c) in &self.terms {
            let n = m.exponent(k);
            if n > 0 {
                terms.push((m.with(k, n - 1), c.mul(&Number::integer(i64::from(n)))?));
            }
        }
        Some(Polynomial { terms })
    }
}

/// factor · monomial · Σ terms.
fn times_term(terms: &[Term], factor: &Number, monomial: &Monomial, budget: &WorkLimit) -> Option<Vec<Term>> {
    budget.spend(terms.len())?;
    let mut product = Vec::with_capacity(terms.len());
    for (m, c) in terms {
        let value = if factor.is_one() { c.clone() } else { c.mul(factor)? };
        if value.to_small().is_none() {
            budget.spend(WORK_OF_LONG_NUMBERS)?;
        }
        if !value.is_zero() {
            product.push((m.times(monomial)?, value));
        }
    }
    Some(product)
}

/// The product of two sums. The first is halved until single terms remain, because sums of like length merge fast.
fn product(short: &[Term], long: &[Term], budget: &WorkLimit) -> Option<Vec<Term>> {
    match short {
        [] => Some(Vec::new()),
        [(m, c)] => times_term(long, c, m, budget),
        _ => {
            let (low, high) = short.split_at(short.len() / 2);
            let sum = merged(product(low, long, budget)?, product(high, long, budget)?)?;
            budget.allow(sum.len())?;
            Some(sum)
        }
    }
}

/// The sum of two sums, both sorted.
fn merged(a: Vec<Term>, b: Vec<Term>) -> Option<Vec<Term>> {
    if a.is_empty() || b.is_empty() {
        return Some(if a.is_empty() { b } else { a });
    }
    let mut sum: Vec<Term> = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.0.cmp(&y.0) {
            Ordering::Less => sum.extend(a.next()),
            Ordering::Greater => sum.extend(b.next()),
            Ordering::Equal => {
                let value = x.1.add(&y.1)?;
                let (term, _) = (a.next(), b.next());
                sum.extend(term.map(|(m, _)| (m, value)).filter(|(_, value)| !value.is_zero()));
            }
        }
    }
    sum.extend(a);
    sum.extend(b);
    Some(sum)
}
