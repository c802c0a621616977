//! Exact division, which proves that one formula vanishes wherever others do.

use super::Algebra;
use super::fraction::Fraction;
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use crate::graph::Graph;
use crate::node::Expr;

impl Algebra {
    /// p / d, or `None` if the denominator of the quotient contains more than single indeterminates.
    pub fn quotient(&mut self, graph: &mut Graph, p: Expr, d: Expr) -> Option<Expr> {
        self.renew();
        let (p, d) = (self.field.fraction(graph, p)?, self.field.fraction(graph, d)?);
        if d.above.is_zero() {
            return None;
        }
        let inverse = self.field.inverse(&d)?;
        let quotient = self.field.multiply(&p, &inverse)?;
        let quotient = self.field.lowest(&quotient)?;
        if quotient.below.iter().any(|(factor, _)| factor.len() > 1) {
            return None;
        }
        self.field.write_fraction(graph, &quotient)
    }

    /// The forms of p on d = 0, one for each indeterminate that d contains in a single linear term and that is
    /// eliminated.
    ///
    /// For d = √u − l, elimination of √u = l turns √u + l into 2 l.
    pub fn on_zero_of(&mut self, graph: &mut Graph, p: Expr, d: Expr) -> Vec<Expr> {
        self.renew();
        let (Some(p), Some(d)) = (self.polynomial(graph, p), self.polynomial(graph, d)) else { return Vec::new() };
        let mut found = Vec::new();
        for k in d.indeterminates() {
            let put_in = solved_for(&d, k).and_then(|value| self.put_in(&p, k, &value));
            if let Some(e) = put_in.and_then(|p| self.field.write_fraction(graph, &Fraction::polynomial(p))) {
                found.push(e);
            }
        }
        found
    }

    /// The factors q with p = Σ q d, by division from the highest term down: each term is divided by the first divisor
    /// whose leading term divides it. `None` if a remainder is left.
    ///
    /// The existence of a remainder may depend on the order of the divisors; a result without remainder is a proof.
    pub fn cofactors(&mut self, graph: &mut Graph, p: Expr, divisors: &[Expr]) -> Option<Vec<Expr>> {
        self.renew();
        let mut rest = self.polynomial(graph, p)?;
        let divisors: Vec<Polynomial> = divisors.iter().map(|d| self.polynomial(graph, *d)).collect::<Option<_>>()?;
        let mut quotients = vec![Polynomial::default(); divisors.len()];
        while let Some((top, value)) = rest.last() {
            let takes = |d: &Polynomial| {
                let (lead, number) = d.last()?;
                Some((top.over(lead)?, value.mul(&number.recip()?)?))
            };
            let (k, (monomial, factor)) = divisors.iter().enumerate().find_map(|(k, d)| Some((k, takes(d)?)))?;
            rest.add_product(&divisors[k], &factor.neg(), &monomial, &self.field.budget)?;
            quotients[k].insert(monomial, factor);
        }
        quotients.iter().map(|q| self.field.write_fraction(graph, &Fraction::polynomial(q.clone()))).collect()
    }

    /// The expression as a polynomial, or `None` if it has a denominator.
    fn polynomial(&mut self, graph: &mut Graph, e: Expr) -> Option<Polynomial> {
        let fraction = self.field.fraction(graph, e)?;
        let fraction = self.field.lowest(&fraction)?;
        fraction.below.is_empty().then_some(fraction.above)
    }

    /// The polynomial with the indeterminate k replaced by `value`.
    pub(super) fn put_in(&self, p: &Polynomial, k: usize, value: &Polynomial) -> Option<Polynomial> {
        let budget = &self.field.budget;
        let mut sum = Polynomial::default();
        for (monomial, number) in p.terms() {
            let others = monomial.with(k, 0);
            let power = value.pow(u32::from(monomial.exponent(k)), budget)?;
            sum.add_product(&power, number, &others, budget)?;
        }
        self.field.normal(&sum)
    }
}

/// The indeterminate k in terms of the others on d = 0, or `None` unless d contains k in one term c · k only.
pub(super) fn solved_for(d: &Polynomial, k: usize) -> Option<Polynomial> {
    let mut rest = d.clone();
    let number = rest.remove(&Monomial::power(k, 1))?;
    if rest.degree(k) > 0 {
        return None;
    }
    rest.scale(&number.recip()?.neg())
}
