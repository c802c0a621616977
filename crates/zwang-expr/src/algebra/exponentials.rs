//! Exponentials as powers of few independent ones, so that equal formulas in them become equal polynomials.
//!
//! $$ e^{a+b} = e^a e^b, \qquad \cosh u = \tfrac12(e^u + e^{-u}), \qquad \tanh u = 1 - \frac{2}{e^{2u} + 1} $$
//!
//! The exponents are sums of terms with rational coefficients. A basis over the rationals, divided by the denominators that occur,
//! makes every exponential a product of integer powers. Only proofs use this form; a reader wants `tanh(u)`.

use super::field::Field;
use super::fraction::Fraction;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use super::{Algebra, Limits};
use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;

/// The largest power of a basic exponential that is expanded.
const HIGHEST_EXPONENT: i64 = 24;

/// The largest number of independent exponents: beyond it the search for a basis would take longer than the proof saves.
const MOST_EXPONENTS: usize = 40;

/// A term of an exponent: a product over a common denominator.
type ExponentTerm = (Monomial, Vec<(Polynomial, u32)>);

/// An exponent as a combination of numbered terms.
type Combination = Vec<(usize, Number)>;

/// Independent exponents b, of which e^b are indeterminates.
#[derive(Default)]
pub(crate) struct Exponents {
    keys: Vec<ExponentTerm>,
    /// b and the indeterminate e^b, once it is needed
    basis: Vec<(Fraction, Option<usize>)>,
    /// combinations of the basis in echelon form: pivot, the combination in terms of the keys, and in terms of the basis
    echelon: Vec<(usize, Combination, Combination)>,
}

impl Algebra {
    /// The algebra of these expressions for proofs: exponentials and hyperbolic functions are powers of few indeterminates.
    pub fn for_proofs(graph: &mut Graph, exprs: &[Expr], limits: Limits) -> Algebra {
        let mut algebra = Algebra::new(graph, exprs, limits);
        let mut below = graph.below(exprs);
        below.sort_unstable();
        let is_exponential = |e: &Expr| exponent_of(graph.node(*e)).is_some();
        let found: Vec<Expr> = below.into_iter().filter(is_exponential).collect();
        if found.is_empty() {
            return algebra;
        }
        let outer = |e: &Expr| {
            let inner = exponent_of(graph.node(*e)).map_or(Vec::new(), |(u, _)| graph.below(&[u]));
            !inner.into_iter().any(|x| exponent_of(graph.node(x)).is_some())
        };
        let plain: Vec<Expr> = found.iter().copied().filter(outer).collect();
        algebra.renew();
        algebra.field.exponents = algebra.field.basis_of(graph, &plain);
        algebra.field.known.clear();
        algebra
    }

    /// `true` if `e` is zero wherever all `zeros` are: by elimination of indeterminates in which they are linear, then by division.
    /// `None` if a limit was reached; `false` only tells that no proof was found.
    pub fn vanishes_on(&mut self, graph: &mut Graph, e: Expr, zeros: &[Expr]) -> Option<bool> {
        self.renew();
        let mut p = self.field.fraction(graph, e)?.above;
        let mut open: Vec<Polynomial> = Vec::new();
        for d in zeros {
            open.extend(self.field.fraction(graph, *d).map(|f| f.above).filter(|d| !d.is_zero()));
        }
        let mut kept: Vec<Polynomial> = Vec::new();
        while let Some(d) = open.pop() {
            if p.is_zero() {
                return Some(true);
            }
            let solved = d.indeterminates().into_iter().find_map(|k| Some((k, super::division::solved_for(&d, k)?)));
            let Some((k, value)) = solved else {
                kept.push(d);
                continue;
            };
            p = self.put_in(&p, k, &value)?;
            let others = open.into_iter().chain(std::mem::take(&mut kept));
            open = others.map(|d| self.put_in(&d, k, &value)).collect::<Option<_>>()?;
            open.retain(|d| !d.is_zero());
        }
        Some(
            p.is_zero() || self.is_divided(p.clone(), &kept).is_some() || {
                kept.reverse();
                self.is_divided(p, &kept).is_some()
            },
        )
    }

    /// Division from the highest term down; `None` if a remainder is left or the work limit is reached.
    fn is_divided(&self, mut rest: Polynomial, divisors: &[Polynomial]) -> Option<()> {
        let budget = &self.field.budget;
        while let Some((top, value)) = rest.last() {
            let takes = |d: &Polynomial| {
                let (lead, number) = d.last()?;
                Some((top.over(lead)?, value.mul(&number.recip()?)?))
            };
            let (k, (monomial, factor)) = divisors.iter().enumerate().find_map(|(k, d)| Some((k, takes(d)?)))?;
            rest.add_product(&divisors[k], &factor.neg(), &monomial, budget)?;
            rest = self.field.normal(&rest)?;
        }
        Some(())
    }
}

/// The exponent u of e^u, sinh, cosh and tanh, and the number by which the function multiplies it.
fn exponent_of(node: Node) -> Option<(Expr, Number)> {
    match node {
        Node::Apply(Function::Exp | Function::Sinh | Function::Cosh, u) => Some((u, Number::ONE)),
        Node::Apply(Function::Tanh, u) => Some((u, Number::integer(2))),
        _ => None,
    }
}

impl Field {
    /// The basis of the exponents of some exponentials; `None` if a limit was reached.
    fn basis_of(&mut self, graph: &mut Graph, exponentials: &[Expr]) -> Option<Exponents> {
        let mut found = Exponents::default();
        let mut denominators: Vec<Number> = Vec::new();
        for &e in exponentials {
            let (u, factor) = exponent_of(graph.node(e))?;
            let exponent = self.fraction(graph, u)?;
            let exponent = self.lowest(&exponent)?;
            let vector = scaled(&found.vector(&exponent), &factor)?;
            match found.coordinates(&vector) {
                Some(parts) => {
                    for (j, c) in parts {
                        let q = c.denominator();
                        denominators[j] = denominators[j].mul(&q)?.mul(&denominators[j].gcd(&q).recip()?)?;
                    }
                }
                None if found.basis.len() < MOST_EXPONENTS => {
                    found.add(vector, times(&exponent, &factor)?)?;
                    denominators.push(Number::ONE);
                }
                None => return None,
            }
        }
        // b/q in place of b
        for ((b, _), q) in found.basis.iter_mut().zip(&denominators) {
            *b = times(b, &q.recip()?)?;
        }
        for (_, _, combination) in &mut found.echelon {
            for (j, c) in combination {
                *c = c.mul(&denominators[*j])?;
            }
        }
        Some(found)
    }

    /// An exponential or a hyperbolic function in terms of basic exponentials; `None` if it is to stay as it is.
    pub fn exponential(&mut self, graph: &mut Graph, f: Function, u: Expr) -> Option<Fraction> {
        self.exponents.as_ref()?;
        let exponent = self.known.get(&u)?.clone();
        let exponent = self.lowest(&exponent)?;
        if f == Function::Tanh {
            // 1 − 2/(e^(2u) + 1)
            let square = self.power_of_e(graph, &times(&exponent, &Number::integer(2))?)?;
            let one = Fraction::polynomial(Polynomial::one());
            let below = self.add(&square, &one)?;
            let inverse = times(&self.inverse(&below)?, &Number::integer(-2))?;
            return self.add(&one, &inverse);
        }
        let rising = self.power_of_e(graph, &exponent)?;
        if f == Function::Exp {
            return Some(rising);
        }
        let falling = self.inverse(&rising)?;
        let falling = if f == Function::Sinh { times(&falling, &Number::MINUS_ONE)? } else { falling };
        let sum = self.add(&rising, &falling)?;
        times(&sum, &Number::ratio(1, 2))
    }

    /// e^u as a product of powers of basic exponentials; an exponent beyond the basis joins it.
    fn power_of_e(&mut self, graph: &mut Graph, exponent: &Fraction) -> Option<Fraction> {
        let exponents = self.exponents.as_mut()?;
        let vector = exponents.vector(exponent);
        let whole = |parts: Combination| -> Option<Vec<(usize, i64)>> {
            parts.into_iter().map(|(j, c)| Some((j, c.to_i64().filter(|n| n.abs() <= HIGHEST_EXPONENT)?))).collect()
        };
        let parts = match exponents.coordinates(&vector) {
            Some(parts) => whole(parts)?,
            None => vec![(exponents.add(vector, exponent.clone())?, 1)],
        };
        let mut product = Fraction::polynomial(Polynomial::one());
        for (j, n) in parts {
            let k = self.basic_exponential(graph, j)?;
            let power = self.power(&Fraction::polynomial(Polynomial::power(k, 1)), n)?;
            product = self.multiply(&product, &power)?;
        }
        Some(product)
    }

    /// The indeterminate e^b.
    fn basic_exponential(&mut self, graph: &mut Graph, j: usize) -> Option<usize> {
        let (b, known) = self.exponents.as_ref()?.basis[j].clone();
        if known.is_some() {
            return known;
        }
        let b = self.write_fraction(graph, &b)?;
        let e = graph.apply(Function::Exp, b);
        let k = self.atom(e);
        self.exponents.as_mut()?.basis[j].1 = Some(k);
        Some(k)
    }
}

impl Exponents {
    /// An exponent in terms of the keys, which grow.
    fn vector(&mut self, exponent: &Fraction) -> Combination {
        let mut vector = Combination::new();
        for (monomial, number) in exponent.above.terms() {
            let key = (monomial.clone(), exponent.below.clone());
            let at = self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                self.keys.push(key);
                self.keys.len() - 1
            });
            vector.push((at, number.clone()));
        }
        vector
    }

    /// The rational coordinates of an exponent in the basis; `None` if it is independent of it.
    fn coordinates(&self, vector: &Combination) -> Option<Combination> {
        let (rest, parts) = self.reduced(vector)?;
        rest.is_empty().then_some(parts)
    }

    /// What the echelon form leaves of an exponent, and the combination of the basis that was taken away.
    fn reduced(&self, vector: &Combination) -> Option<(Combination, Combination)> {
        let (mut rest, mut parts) = (vector.clone(), Combination::new());
        for (pivot, row, combination) in &self.echelon {
            let Some(c) = rest.iter().find(|(k, _)| k == pivot).map(|(_, c)| c.clone()) else { continue };
            rest = sum(&rest, row, &c.neg())?;
            parts = sum(&parts, combination, &c)?;
        }
        Some((rest, parts))
    }

    /// Adds an independent exponent to the basis and returns its index.
    fn add(&mut self, vector: Combination, exponent: Fraction) -> Option<usize> {
        let (rest, parts) = self.reduced(&vector)?;
        let (pivot, lead) = rest.first()?.clone();
        let inverse = lead.recip()?;
        let at = self.basis.len();
        // rest = b − Σ parts
        let combination = sum(&vec![(at, Number::ONE)], &parts, &Number::MINUS_ONE)?;
        self.echelon.push((pivot, scaled(&rest, &inverse)?, scaled(&combination, &inverse)?));
        self.basis.push((exponent, None));
        Some(at)
    }
}

/// a + c b.
fn sum(a: &Combination, b: &Combination, c: &Number) -> Option<Combination> {
    let mut sum = a.clone();
    for (k, x) in b {
        let x = x.mul(c)?;
        match sum.iter().position(|(known, _)| known == k) {
            Some(at) => sum[at].1 = sum[at].1.add(&x)?,
            None => sum.push((*k, x)),
        }
    }
    sum.retain(|(_, x)| !x.is_zero());
    Some(sum)
}

fn scaled(vector: &Combination, factor: &Number) -> Option<Combination> {
    vector.iter().map(|(k, x)| Some((*k, x.mul(factor)?))).collect()
}

/// A fraction times a number.
fn times(f: &Fraction, factor: &Number) -> Option<Fraction> {
    Some(Fraction { above: f.above.scale(factor)?, below: f.below.clone() })
}
