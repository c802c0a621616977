//! Division of polynomials in sines and cosines, by z = cos u + i sin u.
//!
//! In z and 1/z no relation remains, so plain division finds every quotient that exists: cos u = (z + 1/z)/2, sin u =
//! (z − 1/z)/(2i).

use super::budget::WorkLimit;
use super::field::Field;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use crate::number::Number;
use std::collections::BTreeMap;

/// a + i b.
#[derive(Clone, PartialEq, Debug)]
struct Complex(Number, Number);

impl Complex {
    fn add(&self, other: &Complex) -> Option<Complex> {
        Some(Complex(self.0.add(&other.0)?, self.1.add(&other.1)?))
    }

    fn mul(&self, other: &Complex) -> Option<Complex> {
        let (Complex(a, b), Complex(c, d)) = (self, other);
        Some(Complex(a.mul(c)?.add(&b.mul(d)?.neg())?, a.mul(d)?.add(&b.mul(c)?)?))
    }

    fn recip(&self) -> Option<Complex> {
        let size = self.0.mul(&self.0)?.add(&self.1.mul(&self.1)?)?.recip()?;
        Some(Complex(self.0.mul(&size)?, self.1.neg().mul(&size)?))
    }

    fn neg(&self) -> Complex {
        Complex(self.0.neg(), self.1.neg())
    }

    fn is_zero(&self) -> bool {
        self.0.is_zero() && self.1.is_zero()
    }
}

/// Powers of the indeterminates, possibly negative; the powers of z are stored at the indices of the cosines.
type Powers = Vec<i32>;

/// Terms by their powers.
type Laurent = BTreeMap<Powers, Complex>;

fn add_term(p: &mut Laurent, powers: Powers, value: &Complex) -> Option<()> {
    let sum = match p.get(&powers) {
        Some(known) => known.add(value)?,
        None => value.clone(),
    };
    if sum.is_zero() {
        p.remove(&powers);
    } else {
        p.insert(powers, sum);
    }
    Some(())
}

impl Field {
    /// p / d, or `None` if there is a remainder; without roots, every quotient is found.
    pub fn divide_waves(&self, p: &Polynomial, d: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let (mut rest, d) = (self.laurent(p, budget)?, self.laurent(d, budget)?);
        let (lead, lead_value) = d.last_key_value()?;
        let inverse = lead_value.recip()?;
        // the powers of a product are sums of powers, so the quotient has no lower ones
        let lowest = |p: &Laurent| {
            let start: Option<Powers> = p.keys().next().cloned();
            start.map(|start| p.keys().fold(start, |low, m| low.iter().zip(m).map(|(a, b)| *a.min(b)).collect()))
        };
        let Some(low_rest) = lowest(&rest) else { return Some(Polynomial::default()) };
        let floor: Powers = low_rest.iter().zip(lowest(&d)?).map(|(a, b)| a - b).collect();
        let mut quotient = Laurent::new();
        while let Some((top, value)) = rest.last_key_value() {
            let powers: Powers = top.iter().zip(lead).map(|(a, b)| a - b).collect();
            if powers.iter().zip(&floor).any(|(a, b)| a < b) {
                return None;
            }
            let value = value.mul(&inverse)?;
            budget.spend(4 * d.len())?;
            let minus = value.neg();
            for (m, c) in &d {
                add_term(&mut rest, m.iter().zip(&powers).map(|(a, b)| a + b).collect(), &c.mul(&minus)?)?;
            }
            quotient.insert(powers, value);
            budget.allow(quotient.len())?;
        }
        self.in_sines_and_cosines(&quotient, budget)
    }

    fn laurent(&self, p: &Polynomial, budget: &WorkLimit) -> Option<Laurent> {
        let mut sum = Laurent::new();
        let half = Number::ratio(1, 2);
        for (m, c) in p.terms() {
            let start = vec![0i32; self.atoms.len()];
            let mut terms = vec![(start, Complex(c.clone(), Number::ZERO))];
            for (k, n) in m.powers() {
                let Some(partner) = self.atoms[k].partner else {
                    terms.iter_mut().for_each(|(powers, _)| powers[k] += i32::from(n));
                    continue;
                };
                // (z + 1/z)/2, or −i/2 (z − 1/z)
                let is_sine = self.atoms[k].square.is_some();
                let place = if is_sine { partner } else { k };
                let (up, down) = match is_sine {
                    false => (Complex(half.clone(), Number::ZERO), Complex(half.clone(), Number::ZERO)),
                    true => (Complex(Number::ZERO, half.neg()), Complex(Number::ZERO, half.clone())),
                };
                for _ in 0..n {
                    let mut product = Laurent::new();
                    for (powers, value) in &terms {
                        for (step, factor) in [(1, &up), (-1, &down)] {
                            let mut powers = powers.clone();
                            powers[place] += step;
                            add_term(&mut product, powers, &value.mul(factor)?)?;
                        }
                    }
                    budget.spend(4 * terms.len())?;
                    terms = product.into_iter().collect();
                }
            }
            for (powers, value) in terms {
                add_term(&mut sum, powers, &value)?;
            }
        }
        Some(sum)
    }

    /// Converts by zⁿ = (cos u + i sin u)ⁿ; `None` unless the imaginary parts vanish.
    fn in_sines_and_cosines(&self, p: &Laurent, budget: &WorkLimit) -> Option<Polynomial> {
        let (mut real, mut imaginary) = (Polynomial::default(), Polynomial::default());
        for (powers, Complex(a, b)) in p {
            let mut rest = Monomial::default();
            let (mut cosine, mut sine) = (Polynomial::one(), Polynomial::default());
            for (k, &n) in powers.iter().enumerate().filter(|(_, n)| **n != 0) {
                let Some(partner) = self.atoms[k].partner else {
                    rest = rest.times(&Monomial::power(k, u16::try_from(n).ok()?))?;
                    continue;
                };
                let c = Polynomial::power(k, 1);
                let s = Polynomial::power(partner, 1).scale(&Number::integer(i64::from(n.signum())))?;
                for _ in 0..n.abs() {
                    let next = cosine.mul(&c, budget)?.sub(&sine.mul(&s, budget)?, budget)?;
                    sine = self.normal_within(&sine.mul(&c, budget)?.add(&cosine.mul(&s, budget)?, budget)?, budget)?;
                    cosine = self.normal_within(&next, budget)?;
                }
            }
            // (a + i b)(cos + i sin)
            real.add_product(&cosine, a, &rest, budget)?;
            real.add_product(&sine, &b.neg(), &rest, budget)?;
            imaginary.add_product(&sine, a, &rest, budget)?;
            imaginary.add_product(&cosine, b, &rest, budget)?;
        }
        let imaginary = self.normal_within(&imaginary, budget)?;
        if !imaginary.is_zero() {
            return None;
        }
        self.normal_within(&real, budget)
    }
}
