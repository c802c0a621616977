//! Products of powers, packed so that comparison, multiplication and division take a few machine instructions.

use std::hash::{Hash, Hasher};

/// The number of exponents in one word.
const PER_WORD: usize = 8;

/// The number of words stored inline; most formulas have fewer than 32 indeterminates.
const WORDS_INLINE: usize = 4;

/// The highest bit of each exponent. It stays zero; a sum that sets it is too large.
const TOP: u64 = 0x8080_8080_8080_8080;

/// The lowest bit of each exponent.
const LOW: u64 = 0x0101_0101_0101_0101;

/// The largest exponent.
const HIGHEST: u16 = 127;

/// Exponents of the indeterminates 0, 1, ..., in lexicographic order.
#[derive(Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Monomial {
    /// the first exponent is in the highest bits, so that words compare like exponents
    near: [u64; WORDS_INLINE],
    /// the exponents of later indeterminates, without trailing zeros
    far: Box<[u64]>,
}

impl PartialEq for Monomial {
    /// Compares word by word, without a call.
    #[inline]
    fn eq(&self, other: &Monomial) -> bool {
        let differ = self.near.iter().zip(&other.near).fold(0, |differ, (a, b)| differ | (a ^ b));
        differ == 0 && (self.far.is_empty() && other.far.is_empty() || self.far == other.far)
    }
}

impl Hash for Monomial {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.near.iter().chain(self.far.iter()).for_each(|word| state.write_u64(*word));
    }
}

impl Clone for Monomial {
    /// Most monomials consist of their inline words only.
    #[inline]
    fn clone(&self) -> Monomial {
        let far = if self.far.is_empty() { Box::default() } else { self.far.clone() };
        Monomial { near: self.near, far }
    }
}

impl Monomial {
    /// The indeterminate k to the power n, at most `HIGHEST`.
    pub fn power(k: usize, n: u16) -> Monomial {
        debug_assert!(n <= HIGHEST);
        Monomial::default().with(k, n.min(HIGHEST))
    }

    /// `true` if no indeterminate occurs.
    pub fn is_one(&self) -> bool {
        self.near == [0; WORDS_INLINE] && self.far.is_empty()
    }

    /// The exponent of an indeterminate.
    pub fn exponent(&self, k: usize) -> u16 {
        let word = match k / PER_WORD {
            at if at < WORDS_INLINE => self.near[at],
            at => self.far.get(at - WORDS_INLINE).copied().unwrap_or(0),
        };
        (word >> shift(k)) as u16 & HIGHEST
    }

    /// The monomial with the exponent of one indeterminate replaced.
    pub fn with(&self, k: usize, n: u16) -> Monomial {
        let mut m = self.clone();
        m.set(k, n);
        m
    }

    fn set(&mut self, k: usize, n: u16) {
        let (keep, new) = (!(u64::from(HIGHEST) << shift(k)), u64::from(n & HIGHEST) << shift(k));
        let at = k / PER_WORD;
        if at < WORDS_INLINE {
            self.near[at] = self.near[at] & keep | new;
            return;
        }
        let mut far = self.far.to_vec();
        far.resize(far.len().max(at - WORDS_INLINE + 1), 0);
        far[at - WORDS_INLINE] = far[at - WORDS_INLINE] & keep | new;
        self.far = trimmed(far);
    }

    /// The indeterminates that occur, with their exponents.
    pub fn powers(&self) -> impl Iterator<Item = (usize, u16)> + '_ {
        let words = self.near.iter().chain(self.far.iter());
        words.enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let place = left.leading_zeros() as usize / PER_WORD;
                let k = at * PER_WORD + place;
                (left != 0).then(|| {
                    let n = (left >> shift(k)) as u16 & HIGHEST;
                    left &= !(u64::from(HIGHEST) << shift(k));
                    (k, n)
                })
            })
        })
    }

    /// The product of two monomials, or `None` if an exponent grows too large.
    pub fn times(&self, other: &Monomial) -> Option<Monomial> {
        self.joined(other, |a, b| Some(a + b).filter(|sum| sum & TOP == 0))
    }

    /// The quotient of two monomials, or `None` if one does not divide the other.
    pub fn over(&self, other: &Monomial) -> Option<Monomial> {
        // each exponent borrows from its own highest bit
        self.joined(other, |a, b| Some((a | TOP) - b).filter(|rest| rest & TOP == TOP).map(|rest| rest ^ TOP))
    }

    /// The greatest common divisor of two monomials.
    pub fn meet(&self, other: &Monomial) -> Monomial {
        let least = |a: u64, b: u64| {
            let is_other = ((((a | TOP) - b) & TOP) >> 7) * 0xFF;
            Some(b & is_other | a & !is_other)
        };
        self.joined(other, least).unwrap_or_default()
    }

    /// A monomial that contains all indeterminates of both.
    pub fn join(&self, other: &Monomial) -> Monomial {
        self.joined(other, |a, b| Some(a | b)).unwrap_or_default()
    }

    /// These indeterminates to the highest power, as a mask for `parted`.
    pub fn cover(indeterminates: impl IntoIterator<Item = usize>) -> Monomial {
        let mut cover = Monomial::default();
        indeterminates.into_iter().for_each(|k| cover.set(k, HIGHEST));
        cover
    }

    /// The monomial without the indeterminates of a cover, and the part in those indeterminates.
    pub fn parted(&self, cover: &Monomial) -> (Monomial, Monomial) {
        let kept = self.joined(cover, |a, b| Some(a & !b)).unwrap_or_default();
        (kept, self.joined(cover, |a, b| Some(a & b)).unwrap_or_default())
    }

    /// The square root of the monomial, or `None` if it is not a square.
    pub fn root(&self) -> Option<Monomial> {
        self.joined(&Monomial::default(), |a, _| (a & LOW == 0).then_some(a >> 1))
    }

    /// Combines two monomials word by word.
    fn joined(&self, other: &Monomial, of: impl Fn(u64, u64) -> Option<u64>) -> Option<Monomial> {
        let mut near = [0; WORDS_INLINE];
        for ((word, a), b) in near.iter_mut().zip(self.near).zip(other.near) {
            *word = of(a, b)?;
        }
        if self.far.is_empty() && other.far.is_empty() {
            return Some(Monomial { near, far: Box::default() });
        }
        let word = |m: &Monomial, k: usize| m.far.get(k).copied().unwrap_or(0);
        let n_far = self.far.len().max(other.far.len());
        let far: Option<Vec<u64>> = (0..n_far).map(|k| of(word(self, k), word(other, k))).collect();
        Some(Monomial { near, far: trimmed(far?) })
    }
}

/// The position of an exponent in its word, in bits from the low end.
fn shift(k: usize) -> usize {
    PER_WORD * (PER_WORD - 1 - k % PER_WORD)
}

fn trimmed(mut words: Vec<u64>) -> Box<[u64]> {
    while words.last() == Some(&0) {
        words.pop();
    }
    words.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The monomial with these exponents.
    fn monomial(exponents: &[u16]) -> Monomial {
        exponents.iter().enumerate().fold(Monomial::default(), |m, (k, n)| m.with(k, *n))
    }

    fn exponents(m: &Monomial, n: usize) -> Vec<u16> {
        (0..n).map(|k| m.exponent(k)).collect()
    }

    /// Many exponent vectors, some longer than the inline words, with zeros among them.
    fn samples() -> Vec<Vec<u16>> {
        let value = |seed: usize, k: usize| ((seed * 7919 + k * 104_729 + seed * k * 31) % 23 % 9) as u16;
        let length = |seed: usize| [1, 5, 8, 9, 31, 32, 33, 70][seed % 8];
        let zeros = |n: u16| if n > 4 { 0 } else { n };
        (1..25)
            .map(|seed| (0..70).map(|k| if k < length(seed) { zeros(value(seed, k)) } else { 0 }).collect())
            .collect()
    }

    #[test]
    fn packed_exponents_behave_as_exponents() {
        for a in samples() {
            for b in samples() {
                let (x, y) = (monomial(&a), monomial(&b));
                let by_one = |of: fn(u16, u16) -> u16| a.iter().zip(&b).map(|(a, b)| of(*a, *b)).collect::<Vec<_>>();
                assert_eq!(x.cmp(&y), a.cmp(&b));
                assert_eq!(exponents(&x.times(&y).expect("small"), 70), by_one(|a, b| a + b));
                assert_eq!(exponents(&x.meet(&y), 70), by_one(|a, b| a.min(b)));
                let divides = a.iter().zip(&b).all(|(a, b)| a >= b);
                assert_eq!(x.over(&y).is_some(), divides);
                assert_eq!(x.times(&y).and_then(|product| product.over(&y)), Some(x.clone()));
                assert_eq!(x.times(&x).and_then(|square| square.root()), Some(x.clone()));
                let joint: Vec<usize> = x.join(&y).powers().map(|(k, _)| k).collect();
                assert_eq!(joint, (0..70).filter(|&k| a[k] > 0 || b[k] > 0).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn parts_and_powers_are_those_of_the_exponents() {
        for a in samples() {
            let x = monomial(&a);
            let powers: Vec<(usize, u16)> = a.iter().copied().enumerate().filter(|(_, n)| *n > 0).collect();
            assert_eq!(x.powers().collect::<Vec<_>>(), powers);
            let (kept, out) = x.parted(&Monomial::cover((0..70).filter(|k| k % 3 == 0)));
            assert!(kept.powers().all(|(k, _)| k % 3 != 0) && out.powers().all(|(k, _)| k % 3 == 0));
            assert_eq!(kept.times(&out), Some(x));
        }
    }

    #[test]
    fn exponents_that_are_too_large_are_refused() {
        for k in [0, 7, 31, 32, 50] {
            let high = Monomial::power(k, HIGHEST);
            assert!(high.times(&Monomial::power(k, 1)).is_none());
            assert!(high.times(&Monomial::power(k + 1, HIGHEST)).is_some());
            assert!(Monomial::power(k, 3).root().is_none());
        }
    }
}
