//! Rational functions: a polynomial over a product of factors that is not expanded.
//!
//! The factors of denominators come from few expressions and recur, so division by them finds most cancellations.
//! Greatest common divisors are computed at the end.

use super::field::{Field, merged};
use super::monomial::Monomial;
use super::polynomial::Polynomial;
use crate::graph::{Graph, flag};
use crate::node::{Expr, Function, Node};
use crate::number::Number;

/// The largest integer exponent that is expanded.
const HIGHEST_POWER: i64 = 32;

/// above / Π factorⁿ; the factors have coprime integer coefficients and a positive leading coefficient.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Fraction {
    pub above: Polynomial,
    pub below: Vec<(Polynomial, u32)>,
}

impl Fraction {
    pub fn polynomial(above: Polynomial) -> Fraction {
        Fraction { above, below: Vec::new() }
    }
}

impl Field {
    pub fn add(&mut self, a: &Fraction, b: &Fraction) -> Option<Fraction> {
        if a.below == b.below {
            let above = a.above.add(&b.above, &self.budget)?;
            return self.cancelled(above, a.below.clone());
        }
        // the least common denominator
        let mut below = a.below.clone();
        for (factor, n) in &b.below {
            match below.iter_mut().find(|(known, _)| known == factor) {
                Some((_, m)) => *m = (*m).max(*n),
                None => below.push((factor.clone(), *n)),
            }
        }
        let below = merged(below);
        let (left, right) = (self.widened(a, &below)?, self.widened(b, &below)?);
        let above = left.add(&right, &self.budget)?;
        self.cancelled(above, below)
    }

    /// The numerator of f over the denominator `below`.
    fn widened(&self, f: &Fraction, below: &[(Polynomial, u32)]) -> Option<Polynomial> {
        let mut above = f.above.clone();
        for (factor, n) in below {
            let own = f.below.iter().find(|(known, _)| known == factor).map_or(0, |(_, m)| *m);
            for _ in own..*n {
                above = self.product(&above, factor)?;
            }
        }
        Some(above)
    }

    pub fn multiply(&mut self, a: &Fraction, b: &Fraction) -> Option<Fraction> {
        // cancel each numerator with the other denominator first, so that products stay short
        let a_over = self.cancelled(a.above.clone(), b.below.clone())?;
        let b_over = self.cancelled(b.above.clone(), a.below.clone())?;
        let above = self.product(&a_over.above, &b_over.above)?;
        self.cancelled(above, merged([a_over.below, b_over.below].concat()))
    }

    /// 1/f, or `None` if f = 0.
    pub fn inverse(&mut self, f: &Fraction) -> Option<Fraction> {
        if f.above.is_zero() {
            return None;
        }
        let (number, mut factors) = self.below_the_bar(&f.above);
        let mut above = Polynomial::constant(number.recip()?);
        // 1/√p = √p/p
        let is_root = |(factor, _): &(Polynomial, u32)| match factor.indeterminates()[..] {
            [k] if factor.len() == 1 => self.is_root(k),
            _ => false,
        };
        let roots: Vec<(Polynomial, u32)> = factors.extract_if(.., |factor| is_root(factor)).collect();
        for (root, n) in roots {
            let square = self.normal(&root.pow(2, &self.budget)?)?;
            let (number, parts) = self.below_the_bar(&square);
            for _ in 0..n {
                above = self.product(&above, &root)?.scale(&number.recip()?)?;
                factors.extend(parts.iter().cloned());
            }
        }
        for (factor, n) in &f.below {
            for _ in 0..*n {
                above = self.product(&above, factor)?;
            }
        }
        self.cancelled(above, merged(factors))
    }

    pub fn power(&mut self, f: &Fraction, n: i64) -> Option<Fraction> {
        let base = if n < 0 { self.inverse(f)? } else { f.clone() };
        let mut power = Fraction::polynomial(Polynomial::one());
        for _ in 0..n.unsigned_abs() {
            power = self.multiply(&power, &base)?;
        }
        Some(power)
    }

    /// above / below with the factors cancelled that divide `above`.
    pub fn cancelled(&self, above: Polynomial, mut below: Vec<(Polynomial, u32)>) -> Option<Fraction> {
        let mut above = self.normal(&above)?;
        if above.is_zero() {
            return Some(Fraction { above, below: Vec::new() });
        }
        for (factor, n) in &mut below {
            while *n > 0 {
                let Some(quotient) = self.divide(&above, factor) else { break };
                above = quotient;
                *n -= 1;
            }
        }
        below.retain(|(_, n)| *n > 0);
        Some(Fraction { above, below })
    }

    /// The fraction without common divisors, as far as they are found.
    pub fn lowest(&mut self, f: &Fraction) -> Option<Fraction> {
        let mut f = f.clone();
        let mut at = 0;
        while at < f.below.len() {
            let factor = f.below[at].0.clone();
            let common = self.common(&f.above, &factor);
            if common.is_constant() || factor.len() < 2 {
                at += 1;
                continue;
            }
            let (Some(above), Some(rest)) = (self.divide(&f.above, &common), self.divide(&factor, &common)) else {
                at += 1;
                continue;
            };
            f.below[at].1 -= 1;
            let (number, parts) = self.below_the_bar(&rest);
            f.below.extend(parts);
            f = Fraction { above: above.scale(&number.recip()?)?, below: merged(f.below) };
            at = 0;
        }
        Some(f)
    }

    /// An expression as a fraction; `None` if the work limit is reached or it divides by zero.
    pub fn fraction(&mut self, graph: &mut Graph, e: Expr) -> Option<Fraction> {
        // operands first, without recursion
        let mut stack = vec![(e, false)];
        while let Some((x, ready)) = stack.pop() {
            if self.known.contains_key(&x) {
                continue;
            }
            self.budget.spend(1)?;
            if ready {
                let fraction = self.convert(graph, x)?;
                self.known.insert(x, fraction);
            } else {
                stack.push((x, true));
                stack.extend(self.parts(graph, x).into_iter().map(|part| (part, false)));
            }
        }
        self.known.get(&e).cloned()
    }

    /// The subexpressions that must be converted before an expression.
    fn parts(&self, graph: &Graph, e: Expr) -> Vec<Expr> {
        match graph.node(e) {
            Node::Apply(Function::Sin | Function::Cos | Function::Tan, u) => self.angles.keys_of(graph, u),
            Node::Pow(u, n) if graph.is_number(n) => vec![u],
            node => node.operands().to_vec(),
        }
    }

    fn convert(&mut self, graph: &mut Graph, e: Expr) -> Option<Fraction> {
        if e == Expr::ZERO || !graph.has(e, flag::SINGULAR) {
            let of = |field: &Field, x: Expr| field.known.get(&x).cloned();
            return match graph.node(e) {
                Node::Number(id) => Some(Fraction::polynomial(Polynomial::constant(graph.number_at(id).clone()))),
                Node::Pi | Node::Symbol(_) => Some(self.alone(e)),
                Node::Add(a, b) => {
                    let (a, b) = (of(self, a)?, of(self, b)?);
                    self.add(&a, &b)
                }
                Node::Mul(a, b) => {
                    let (a, b) = (of(self, a)?, of(self, b)?);
                    self.multiply(&a, &b)
                }
                Node::Pow(u, n) if graph.is_number(n) => {
                    let base = of(self, u)?;
                    self.converted_power(graph, &base, n)
                }
                Node::Apply(f @ (Function::Sin | Function::Cos), u) => {
                    let (sine, cosine) = self.split_wave(graph, u)?;
                    Some(Fraction::polynomial(if f == Function::Sin { sine } else { cosine }))
                }
                Node::Apply(Function::Tan, u) => {
                    let (sine, cosine) = self.split_wave(graph, u)?;
                    let inverse = self.inverse(&Fraction::polynomial(cosine))?;
                    self.multiply(&Fraction::polynomial(sine), &inverse)
                }
                node @ Node::Apply(f @ (Function::Exp | Function::Sinh | Function::Cosh | Function::Tanh), u)
                    if self.exponents.is_some() =>
                {
                    match self.exponential(graph, f, u) {
                        Some(fraction) => Some(fraction),
                        None => self.opaque(graph, node),
                    }
                }
                node => self.opaque(graph, node),
            };
        }
        None
    }

    fn alone(&mut self, e: Expr) -> Fraction {
        let k = self.atom(e);
        Fraction::polynomial(Polynomial::power(k, 1))
    }

    fn converted_power(&mut self, graph: &mut Graph, base: &Fraction, exponent: Expr) -> Option<Fraction> {
        let n = graph.number(exponent)?.clone();
        match n.to_small()? {
            (n, 1) if n.abs() <= HIGHEST_POWER => self.power(base, n),
            (n, 2) if n.abs() <= HIGHEST_POWER => {
                let root = self.root(graph, base)?;
                // u^(k + 1/2) = uᵏ √u
                let whole = self.power(base, n.div_euclid(2))?;
                self.multiply(&whole, &root)
            }
            _ => {
                let base = self.write_fraction(graph, base)?;
                let power = graph.pow(base, exponent);
                Some(self.alone(power))
            }
        }
    }

    /// √f with squares taken out of the root: √(x² p) = |x| √p.
    fn root(&mut self, graph: &mut Graph, f: &Fraction) -> Option<Fraction> {
        let monomial = if f.below.is_empty() { f.above.split().monomial } else { Monomial::default() };
        let outside: Vec<(usize, u16)> = monomial.powers().filter(|(_, n)| *n > 1).map(|(k, n)| (k, n / 2)).collect();
        if outside.is_empty() {
            return self.plain_root(graph, f);
        }
        let square = outside.iter().try_fold(Monomial::default(), |m, (k, n)| m.times(&Monomial::power(*k, 2 * n)))?;
        let inside = f.above.divide(&Polynomial::term(square, Number::ONE), &self.budget)?;
        let inside = Fraction::polynomial(inside);
        let written = self.write_fraction(graph, &inside)?;
        // at x = 0 the root of x² p is defined for negative p too
        if !graph.has(written, flag::NONNEGATIVE) {
            return self.plain_root(graph, f);
        }
        let mut product = self.plain_root(graph, &inside)?;
        for (k, n) in outside {
            let size = graph.apply(Function::Abs, self.atoms[k].expr);
            let size = self.fraction(graph, size)?;
            let size = self.power(&size, i64::from(n))?;
            product = self.multiply(&product, &size)?;
        }
        Some(product)
    }

    fn plain_root(&mut self, graph: &mut Graph, f: &Fraction) -> Option<Fraction> {
        let inside = self.write_fraction(graph, f)?;
        let root = graph.sqrt(inside);
        let (c, rest) = graph.split_coefficient(root);
        let number = graph.number(c)?.clone();
        if rest == Expr::ONE {
            return Some(Fraction::polynomial(Polynomial::constant(number)));
        }
        let k = self.atom(rest);
        // (√f / c)² = f / c²
        if f.below.is_empty() {
            let inverse = number.recip()?;
            let square = f.above.scale(&inverse.mul(&inverse)?)?;
            self.relate(k, &square);
        }
        Some(Fraction::polynomial(Polynomial::power(k, 1).scale(&number)?))
    }

    /// Any other node is an indeterminate of its own, with operands in their shortest form.
    fn opaque(&mut self, graph: &mut Graph, node: Node) -> Option<Fraction> {
        let operands: Vec<Expr> = node.operands().to_vec();
        let mut short = Vec::with_capacity(operands.len());
        for operand in &operands {
            let f = self.known.get(operand)?.clone();
            short.push(self.write_fraction(graph, &f)?);
        }
        let new = |x: Expr| operands.iter().position(|y| *y == x).map_or(x, |at| short[at]);
        let e = graph.rebuild(node, new);
        if graph.has(e, flag::SINGULAR) {
            return None;
        }
        let (c, rest) = graph.split_coefficient(e);
        let number = graph.number(c).cloned().unwrap_or(Number::ONE);
        if rest == Expr::ONE {
            return Some(Fraction::polynomial(Polynomial::constant(number)));
        }
        let k = self.atom(rest);
        if let (Node::Apply(Function::Abs, _), [operand]) = (graph.node(rest), &operands[..]) {
            // |x|² = x²
            let inside = self.known.get(operand)?.clone();
            if inside.below.is_empty() && number.is_one() {
                let square = self.product(&inside.above, &inside.above)?;
                self.relate(k, &square);
            }
        }
        Some(Fraction::polynomial(Polynomial::power(k, 1).scale(&number)?))
    }
}
