//! The greatest common divisor of polynomials in many indeterminates.
//!
//! Most pairs are coprime, and most others share a factor that is linear in some indeterminate. Images with one
//! indeterminate left, modulo a prime, therefore bound the degrees first. Indeterminates that only one polynomial
//! contains are then removed, and trial division follows. The remainder sequence is used for the rest.

use super::budget::WorkLimit;
use super::polynomial::Polynomial;

/// The prime 2⁶¹ − 1; products of residues fit into 128 bits.
pub(crate) const PRIME: u64 = (1 << 61) - 1;

/// The greatest common divisor, with coprime integer coefficients and a positive leading coefficient.
pub(crate) fn gcd(a: &Polynomial, b: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
    match (a.is_zero(), b.is_zero()) {
        (true, true) => return Some(Polynomial::one()),
        (true, _) => return Some(whole(b)),
        (_, true) => return Some(whole(a)),
        _ => {}
    }
    let (a, b) = (a.split(), b.split());
    gcd_of_rests(&a.rest, &b.rest, budget)?.times_monomial(&a.monomial.meet(&b.monomial))
}

/// The polynomial divided by the common number of its coefficients.
fn whole(p: &Polynomial) -> Polynomial {
    p.clone().without_number().1
}

/// The greatest common divisor of a and all others.
fn gcd_of_all<'p>(
    a: &Polynomial,
    others: impl IntoIterator<Item = &'p Polynomial>,
    budget: &WorkLimit,
) -> Option<Polynomial> {
    let mut others: Vec<&Polynomial> = others.into_iter().collect();
    // short ones first: they reduce the divisor most
    others.sort_by_key(|p| p.len());
    let mut common = a.clone();
    for other in others {
        common = gcd(&common, other, budget)?;
        if common.is_constant() {
            break;
        }
    }
    Some(common)
}

/// The greatest common divisor of the coefficients of the powers of k.
pub(crate) fn content(p: &Polynomial, k: usize, budget: &WorkLimit) -> Option<Polynomial> {
    gcd_of_all(&Polynomial::default(), p.coefficients(k).values(), budget)
}

fn gcd_of_rests(a: &Polynomial, b: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
    budget.spend(a.len() + b.len())?;
    if a.is_constant() || b.is_constant() {
        return Some(Polynomial::one());
    }
    if a == b {
        return Some(a.clone());
    }
    // an indeterminate of only one polynomial is not in the common divisor
    let (of_a, of_b) = (a.indeterminates(), b.indeterminates());
    if let Some(&k) = of_a.iter().find(|k| !of_b.contains(k)) {
        return gcd_of_all(b, a.coefficients(k).values(), budget);
    }
    if let Some(&k) = of_b.iter().find(|k| !of_a.contains(k)) {
        return gcd_of_all(a, b.coefficients(k).values(), budget);
    }
    let degrees: Vec<u16> = of_a.iter().map(|&k| degree_of_images(a, b, k, budget)).collect::<Option<_>>()?;
    if degrees.iter().all(|d| *d == 0) {
        return Some(Polynomial::one());
    }
    if let Some(at) = degrees.iter().position(|d| *d == 0) {
        let (of_a, of_b) = (a.coefficients(of_a[at]), b.coefficients(of_a[at]));
        return gcd_of_all(&Polynomial::default(), of_a.values().chain(of_b.values()), budget);
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.divide(short, budget).is_some() {
        return Some(short.clone());
    }
    by_remainders(a, b, &of_a, &degrees, budget)
}

/// The greatest common divisor by a remainder sequence in the indeterminate that promises the least work.
fn by_remainders(
    a: &Polynomial,
    b: &Polynomial,
    all: &[usize],
    degrees: &[u16],
    budget: &WorkLimit,
) -> Option<Polynomial> {
    let effort = |at: usize| {
        let k = all[at];
        let low = a.degree(k).min(b.degree(k));
        (low - degrees[at].min(low), low, a.degree(k).max(b.degree(k)))
    };
    let at = (0..all.len()).min_by_key(|&at| effort(at))?;
    let k = all[at];
    let (content_a, content_b) = (content(a, k, budget)?, content(b, k, budget)?);
    let common = gcd(&content_a, &content_b, budget)?;
    let (a, b) = (a.divide(&content_a, budget)?, b.divide(&content_b, budget)?);
    let (mut high, mut low) = if a.degree(k) >= b.degree(k) { (a, b) } else { (b, a) };
    // a divisor with the degree of the common divisor is the common divisor
    if low.degree(k) == degrees[at] && high.divide(&low, budget).is_some() {
        return low.split().rest.mul(&common, budget);
    }
    loop {
        let remainder = pseudo_remainder(&high, &low, k, budget)?;
        if remainder.is_zero() {
            return whole(&low).mul(&common, budget);
        }
        if remainder.degree(k) == 0 {
            return Some(common);
        }
        let remainder = whole(&remainder);
        let content = content(&remainder, k, budget)?;
        (high, low) = (low, remainder.divide(&content, budget)?);
    }
}

/// The pseudo-remainder: that of lead(b)ⁿ a divided by b, as polynomials in k.
fn pseudo_remainder(a: &Polynomial, b: &Polynomial, k: usize, budget: &WorkLimit) -> Option<Polynomial> {
    let degree = b.degree(k);
    let lead = b.coefficients(k).remove(&degree)?;
    let mut rest = a.clone();
    while !rest.is_zero() && rest.degree(k) >= degree {
        let power = rest.degree(k);
        let top = rest.coefficients(k).remove(&power)?;
        let shift = Polynomial::power(k, power - degree);
        let shifted = b.mul(&top, budget)?.mul(&shift, budget)?;
        rest = rest.mul(&lead, budget)?.sub(&shifted, budget)?;
    }
    Some(rest)
}

/// The degree in k of the common divisor of two images, in which values replace all other indeterminates.
fn degree_of_images(a: &Polynomial, b: &Polynomial, k: usize, budget: &WorkLimit) -> Option<u16> {
    let widest = |p: &Polynomial| p.monomials().map(|m| m.powers().last().map_or(0, |(k, _)| k + 1)).max().unwrap_or(0);
    budget.spend((a.len() + b.len()) * (1 + widest(a).max(widest(b)) / 8))?;
    let (mut high, mut low) = (image(a, k), image(b, k));
    if high.len() < low.len() {
        std::mem::swap(&mut high, &mut low);
    }
    while !low.is_empty() {
        let remainder = remainder(high, &low);
        (high, low) = (low, remainder);
    }
    u16::try_from(high.len().saturating_sub(1)).ok()
}

/// The coefficients of the powers of k modulo the prime, at pseudo-random values of the other indeterminates.
fn image(p: &Polynomial, k: usize) -> Vec<u64> {
    let mut image = vec![0; usize::from(p.degree(k)) + 1];
    for (m, c) in p.terms() {
        let mut value = c.residue(PRIME);
        let mut power = 0;
        for (j, n) in m.powers() {
            if j == k {
                power = usize::from(n);
            } else {
                value = multiply(value, raise(scattered(j), u64::from(n)));
            }
        }
        image[power] = add(image[power], value);
    }
    while image.last() == Some(&0) {
        image.pop();
    }
    image
}

/// A pseudo-random value modulo the prime for the indeterminate j.
fn scattered(j: usize) -> u64 {
    let mixed = (j as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) % PRIME
}

fn remainder(mut high: Vec<u64>, low: &[u64]) -> Vec<u64> {
    let inverse = low.last().map_or(0, |lead| raise(*lead, PRIME - 2));
    while high.len() >= low.len() {
        let factor = multiply(high[high.len() - 1], inverse);
        let shift = high.len() - low.len();
        for (k, &c) in low.iter().enumerate() {
            high[shift + k] = add(high[shift + k], PRIME - multiply(factor, c));
        }
        while high.last() == Some(&0) {
            high.pop();
        }
    }
    high
}

fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn multiply(a: u64, b: u64) -> u64 {
    // 2⁶¹ = 1 modulo the prime
    let product = u128::from(a) * u128::from(b);
    let folded = (product as u64 & PRIME) + (product >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

/// aⁿ modulo the prime.
pub(crate) fn raise(mut a: u64, mut n: u64) -> u64 {
    let mut power = 1;
    while n > 0 {
        if n & 1 == 1 {
            power = multiply(power, a);
        }
        a = multiply(a, a);
        n >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::super::monomial::Monomial;
    use super::*;
    use crate::number::Number;

    struct Random(u64);

    impl Random {
        fn next(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        /// A random polynomial with up to `terms` terms in `n` indeterminates.
        fn polynomial(&mut self, n: usize, terms: usize, degree: u64) -> Polynomial {
            let budget = WorkLimit::new(u64::MAX, usize::MAX);
            let mut p = Polynomial::default();
            for _ in 0..terms {
                let powers = (0..n).map(|_| if self.next(2) == 0 { 0 } else { self.next(degree + 1) as u16 });
                let m = powers.enumerate().fold(Monomial::default(), |m, (k, n)| m.with(k, n));
                let c = Number::integer(self.next(19) as i64 - 9);
                p.add_product(&Polynomial::term(m, c), &Number::ONE, &Monomial::default(), &budget).unwrap();
            }
            p
        }
    }

    #[test]
    fn common_factors_of_random_polynomials_are_found() {
        let mut random = Random(3);
        let mut n_shared = 0;
        for _ in 0..300 {
            let budget = WorkLimit::new(20_000_000, 100_000);
            let n = 2 + random.next(4) as usize;
            let [p, q, g] = [4, 4, 3].map(|terms| random.polynomial(n, terms, 2));
            if p.is_zero() || q.is_zero() || g.is_zero() {
                continue;
            }
            let (a, b) = (p.mul(&g, &budget).unwrap(), q.mul(&g, &budget).unwrap());
            let found = gcd(&a, &b, &budget).unwrap();
            assert!(found.divide(&whole(&g), &budget).is_some(), "{g:?} does not divide {found:?}");
            assert!(a.divide(&found, &budget).is_some() && b.divide(&found, &budget).is_some());
            // the cofactors are coprime
            let (a, b) = (a.divide(&found, &budget).unwrap(), b.divide(&found, &budget).unwrap());
            assert!(gcd(&a, &b, &budget).unwrap().is_constant());
            n_shared += !g.is_constant() as usize;
        }
        assert!(n_shared > 200);
    }

    #[test]
    fn polynomials_without_a_common_factor_have_none() {
        let budget = WorkLimit::new(1_000_000, 1000);
        // x + y + 1 and x + y + 2
        let sum = Polynomial::power(0, 1).add(&Polynomial::power(1, 1), &budget).unwrap();
        let [a, b] = [1, 2].map(|c| sum.add(&Polynomial::constant(Number::integer(c)), &budget).unwrap());
        assert!(gcd(&a, &b, &budget).unwrap().is_one());
        let squares = [&a, &b].map(|p| p.mul(p, &budget).unwrap());
        assert!(gcd(&squares[0], &squares[1], &budget).unwrap().is_one());
        assert_eq!(gcd(&squares[0], &a, &budget).unwrap(), a);
    }
}
