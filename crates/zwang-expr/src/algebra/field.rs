//! The indeterminates of polynomials: symbols, sines and cosines of base angles, roots, and opaque subexpressions.
//!
//! Squares of sines and roots are replaced by sin² = 1 − cos² and √p² = p, which gives equal polynomials the same form.

use super::angles::Angles;
use super::budget::WorkLimit;
use super::exponentials::Exponents;
use super::fraction::Fraction;
use super::gcd::{content, gcd};
use super::monomial::Monomial;
use super::polynomial::{Polynomial, Split, Term};
use super::write::Written;
use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;
use rustc_hash::FxHashMap;

/// The work granted to one factorisation or greatest common divisor; a longer one seldom has a short result.
pub(crate) const SMALL_WORK: u64 = 60_000;

/// The longest divisor whose conjugate is tried, in terms.
const LONGEST_CONJUGATE: usize = 16;

/// The expression and the relations of an indeterminate.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub expr: Expr,
    /// its square in terms of older indeterminates
    pub square: Option<Polynomial>,
    /// the sine that belongs to a cosine, or the cosine that belongs to a sine
    pub partner: Option<usize>,
}

/// The indeterminates, their relations, and memos of expressions in them.
pub(crate) struct Field {
    pub atoms: Vec<Atom>,
    index: FxHashMap<Expr, usize>,
    pub angles: Angles,
    /// the basis of exponents; `None` if exponentials stay as they are
    pub exponents: Option<Exponents>,
    /// expressions as fractions, as far as the conversion succeeded
    pub known: FxHashMap<Expr, Fraction>,
    /// factors of earlier denominators, which are likely to occur again
    pub factors: Vec<Polynomial>,
    /// polynomials in written form
    pub written: FxHashMap<Polynomial, Written>,
    /// reading costs of expressions
    pub costs: FxHashMap<Expr, u64>,
    /// reading costs of the first indeterminates, as many as were needed
    atom_costs: Vec<u64>,
    pub budget: WorkLimit,
    /// work left for the search for the shortest written form
    pub writing: WorkLimit,
}

impl Field {
    pub fn new(angles: Angles, budget: WorkLimit, writing: WorkLimit) -> Field {
        Field {
            atoms: Vec::new(),
            index: FxHashMap::default(),
            angles,
            exponents: None,
            known: FxHashMap::default(),
            factors: Vec::new(),
            written: FxHashMap::default(),
            costs: FxHashMap::default(),
            atom_costs: Vec::new(),
            budget,
            writing,
        }
    }

    /// The indeterminate that represents an expression.
    pub fn atom(&mut self, expr: Expr) -> usize {
        if let Some(&k) = self.index.get(&expr) {
            return k;
        }
        self.atoms.push(Atom { expr, square: None, partner: None });
        self.index.insert(expr, self.atoms.len() - 1);
        self.atoms.len() - 1
    }

    /// The sine and the cosine of an angle as polynomials; numbers at multiples of π/2.
    pub fn sine_and_cosine(&mut self, graph: &mut Graph, angle: Expr) -> (Polynomial, Polynomial) {
        let cosine = self.wave(graph, Function::Cos, angle);
        let sine = self.wave(graph, Function::Sin, angle);
        if let (Some(c), Some(s)) = (lone(&cosine), lone(&sine))
            && self.atoms[s].partner.is_none()
        {
            self.atoms[s].square = Some(one_minus_square(c));
            self.atoms[s].partner = Some(c);
            self.atoms[c].partner = Some(s);
        }
        (sine, cosine)
    }

    /// The sine or cosine f of an angle as ± an indeterminate or a number, without relations.
    pub fn wave(&mut self, graph: &mut Graph, f: Function, angle: Expr) -> Polynomial {
        let value = graph.apply(f, angle);
        let (c, rest) = graph.split_coefficient(value);
        let number = graph.number(c).cloned().unwrap_or(Number::ONE);
        if rest == Expr::ONE {
            return Polynomial::constant(number);
        }
        Polynomial::term(Monomial::power(self.atom(rest), 1), number)
    }

    /// `true` if the indeterminate is a sine or cosine with its relation.
    pub fn is_wave(&self, k: usize) -> bool {
        self.atoms[k].partner.is_some()
    }

    /// A monomial that covers all sines and cosines with their relation.
    pub fn waves(&self) -> Monomial {
        Monomial::cover((0..self.atoms.len()).filter(|k| self.is_wave(*k)))
    }

    pub fn is_root(&self, k: usize) -> bool {
        self.atoms[k].square.is_some() && self.atoms[k].partner.is_none()
    }

    /// The normal form, without squares of sines and roots.
    pub fn normal(&self, p: &Polynomial) -> Option<Polynomial> {
        self.normal_within(p, &self.budget)
    }

    pub fn normal_within(&self, p: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let mut p = p.clone();
        for k in (0..self.atoms.len()).rev() {
            if let Some(square) = &self.atoms[k].square {
                p = p.without_squares(k, square, budget)?;
            }
        }
        Some(p)
    }

    /// The alternative form, without squares of cosines.
    pub fn flipped(&self, p: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let mut p = p.clone();
        for (k, atom) in self.atoms.iter().enumerate() {
            if let Some(sine) = atom.partner.filter(|_| atom.square.is_none()) {
                p = p.without_squares(k, &one_minus_square(sine), budget)?;
            }
        }
        Some(p)
    }

    /// The normal form of a product.
    pub fn product(&self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        self.normal(&a.mul(b, &self.budget)?)
    }

    /// p / d in normal form if the relations make it a polynomial; `None` may also mean that the quotient was not
    /// found.
    pub fn divide(&self, p: &Polynomial, d: &Polynomial) -> Option<Polynomial> {
        self.budget.within(SMALL_WORK, |budget| self.divide_within(p, d, budget, 0))
    }

    fn divide_within(&self, p: &Polynomial, d: &Polynomial, budget: &WorkLimit, depth: usize) -> Option<Polynomial> {
        if let Some(quotient) = p.divide(d, budget) {
            return self.normal_within(&quotient, budget);
        }
        let own = d.indeterminates();
        if own.iter().any(|k| self.is_wave(*k)) && d.len() > 1 {
            let (p, d) = (self.flipped(p, budget)?, self.flipped(d, budget)?);
            if let Some(quotient) = p.divide(&d, budget) {
                return self.normal_within(&quotient, budget);
            }
        }
        if own.iter().any(|k| self.is_wave(*k)) {
            let is_wave = |k: usize| self.is_wave(k);
            if p.indeterminates().into_iter().chain(own.iter().copied()).all(|k| is_wave(k) || !self.is_root(k)) {
                return self.divide_waves(p, d, budget);
            }
        }
        // p/d = p d̄ / (d d̄), where d̄ has the opposite sign of a sine or root and d d̄ does not contain it
        let k = own.into_iter().rev().find(|k| self.atoms[*k].square.is_some())?;
        if d.len() > LONGEST_CONJUGATE || d.len() < 2 || depth > 3 {
            return None;
        }
        let conjugate = negated(d, k);
        let above = self.normal_within(&p.mul(&conjugate, budget)?, budget)?;
        let below = self.normal_within(&d.mul(&conjugate, budget)?, budget)?;
        self.divide_within(&above, &below, budget, depth + 1)
    }

    /// A common divisor of two polynomials in normal form; 1 if the work limit is reached.
    pub fn common(&self, a: &Polynomial, b: &Polynomial) -> Polynomial {
        let found = self.budget.within(SMALL_WORK, |budget| gcd(a, b, budget));
        found.unwrap_or_else(Polynomial::one)
    }

    /// The factors of a primitive polynomial, as far as they are found within the work limit.
    pub fn factored(&self, p: &Polynomial) -> Vec<(Polynomial, u32)> {
        let mut open = vec![p.clone()];
        let mut found: Vec<(Polynomial, u32)> = Vec::new();
        while let Some(p) = open.pop() {
            if p.is_constant() {
                continue;
            }
            match self.writing.within(SMALL_WORK, |budget| parted_once(&p, budget)) {
                Some((a, b)) => open.extend([a, b].iter().map(|p| p.split()).map(|s| s.rest)),
                None => match found.iter_mut().find(|(known, _)| *known == p) {
                    Some((_, n)) => *n += 1,
                    None => found.push((p, 1)),
                },
            }
        }
        found.sort();
        found
    }

    /// A polynomial as number · Π factors, with single indeterminates among them; known factors are tried first.
    pub fn below_the_bar(&mut self, p: &Polynomial) -> (Number, Vec<(Polynomial, u32)>) {
        let Split { number, monomial, rest } = p.split();
        let mut factors: Vec<(Polynomial, u32)> =
            monomial.powers().map(|(k, n)| (Polynomial::power(k, 1), u32::from(n))).collect();
        let mut rest = rest;
        for known in &self.factors {
            while known.len() <= rest.len() && !rest.is_constant() {
                let Some(quotient) = rest.divide(known, &self.budget) else { break };
                rest = quotient.split().rest;
                factors.push((known.clone(), 1));
            }
        }
        let mut number = number;
        for (factor, n) in self.factored(&rest) {
            let Some((scale, parts)) = self.refined(&factor) else {
                if !self.factors.contains(&factor) {
                    self.factors.push(factor.clone());
                }
                factors.push((factor, n));
                continue;
            };
            match scale.pow(&Number::integer(i64::from(n))).and_then(|scale| scale.mul(&number)) {
                Some(scaled) => number = scaled,
                None => return (number, merged([factors, vec![(factor, n)]].concat())),
            }
            factors.extend(parts.into_iter().map(|(part, m)| (part, m * n)));
        }
        (number, merged(factors))
    }

    /// The factors of a polynomial in another form of its sines and roots, if it has factors there: 1 − cos² = sin².
    fn refined(&self, p: &Polynomial) -> Option<(Number, Vec<(Polynomial, u32)>)> {
        let budget = &self.writing;
        let forms = [self.flipped(p, budget), self.by_roots(p, budget)];
        for form in forms.into_iter().flatten().filter(|form| form != p) {
            let split = form.split();
            let mut parts = if split.rest.is_one() { Vec::new() } else { self.factored(&split.rest) };
            parts.extend(split.monomial.powers().map(|(k, n)| (Polynomial::power(k, 1), u32::from(n))));
            if parts.len() > 1 || parts.first().is_some_and(|(_, n)| *n > 1) {
                let normal = |(part, n): (Polynomial, u32)| Some((self.normal_within(&part, budget)?, n));
                return Some((split.number, parts.into_iter().map(normal).collect::<Option<_>>()?));
            }
        }
        None
    }

    /// The form in powers of roots, from y² = √(x² + y²)² − x².
    fn by_roots(&self, p: &Polynomial, budget: &WorkLimit) -> Option<Polynomial> {
        let mut p = p.clone();
        for k in p.indeterminates().into_iter().filter(|k| self.is_root(*k)) {
            let square = self.atoms[k].square.as_ref()?;
            let is_alone = |j: &usize| square.monomials().filter(|m| m.exponent(*j) > 0).eq([&Monomial::power(*j, 2)]);
            let Some(j) = square.indeterminates().into_iter().rev().find(is_alone) else { continue };
            // square = c j² + rest, so j² = (k² − rest)/c
            let mut rest = square.clone();
            let c = rest.remove(&Monomial::power(j, 2))?;
            let other = Polynomial::power(k, 2).sub(&rest, budget)?.scale(&c.recip()?)?;
            p = p.without_squares(j, &other, budget)?;
        }
        Some(p)
    }

    /// States the square of |x| or √x, once.
    pub fn relate(&mut self, k: usize, square: &Polynomial) {
        let is_older = square.indeterminates().into_iter().all(|j| j < k);
        if is_older && self.atoms[k].square.is_none() && self.atoms[k].partner.is_none() {
            self.atoms[k].square = Some(square.clone());
        }
    }

    /// The expression of a monomial.
    pub fn monomial(&self, graph: &mut Graph, monomial: &Monomial) -> Expr {
        let mut product = Expr::ONE;
        for (k, n) in monomial.powers() {
            let power = graph.powi(self.atoms[k].expr, i32::from(n));
            product = graph.mul(product, power);
        }
        product
    }

    /// The costs of all indeterminates.
    pub fn atom_costs(&mut self, graph: &Graph) -> &[u64] {
        for atom in &self.atoms[self.atom_costs.len()..] {
            self.atom_costs.push(graph.tree_cost(atom.expr, &mut self.costs));
        }
        &self.atom_costs
    }

    /// `true` if the indeterminate is a symbol that is constant in time.
    pub fn is_held(&self, graph: &Graph, k: usize) -> bool {
        self.rate(graph, k) == Some(Expr::ZERO)
    }

    /// The rate of an indeterminate that is a symbol, otherwise `None`.
    pub fn rate(&self, graph: &Graph, k: usize) -> Option<Expr> {
        match graph.node(self.atoms[k].expr) {
            Node::Symbol(id) => graph.symbols[id.0 as usize].rate,
            _ => None,
        }
    }
}

/// The indeterminate of a polynomial that is ± an indeterminate.
fn lone(p: &Polynomial) -> Option<usize> {
    p.first()?.0.powers().next().map(|(k, _)| k)
}

/// The polynomial with −k in place of k.
fn negated(p: &Polynomial, k: usize) -> Polynomial {
    let sign = |(m, c): &Term| (m.clone(), if m.exponent(k) % 2 == 1 { c.neg() } else { c.clone() });
    Polynomial::from_terms(p.terms().iter().map(sign).collect())
}

/// 1 − k².
fn one_minus_square(k: usize) -> Polynomial {
    Polynomial::from_terms(vec![(Monomial::default(), Number::ONE), (Monomial::power(k, 2), Number::MINUS_ONE)])
}

/// The factors with the exponents of equal ones added.
pub(crate) fn merged(mut factors: Vec<(Polynomial, u32)>) -> Vec<(Polynomial, u32)> {
    factors.sort();
    let mut merged: Vec<(Polynomial, u32)> = Vec::with_capacity(factors.len());
    for (factor, n) in factors {
        match merged.last_mut() {
            Some((last, m)) if *last == factor => *m += n,
            _ => merged.push((factor, n)),
        }
    }
    merged.retain(|(_, n)| *n > 0);
    merged
}

/// `true` if an indeterminate occurs in one term only, there to the first power. Of two factors, one would not contain
/// it; that one would divide this term and all others, but the polynomial has no common indeterminate.
fn is_prime_by_one_term(p: &Polynomial, all: &[usize]) -> bool {
    all.iter().any(|&k| p.monomials().map(|m| m.exponent(k)).filter(|n| *n > 0).eq([1]))
}

/// Two factors of a polynomial: one that does not contain some indeterminate, or a repeated one.
fn parted_once(p: &Polynomial, budget: &WorkLimit) -> Option<(Polynomial, Polynomial)> {
    let all = p.indeterminates();
    if p.len() < 2 || all.len() > 40 || is_prime_by_one_term(p, &all) {
        return None;
    }
    // a polynomial linear in k whose coefficients in k have no common divisor is irreducible
    let n_terms = |k: usize| p.monomials().filter(|m| m.exponent(k) > 0).count();
    if let Some(k) = all.iter().copied().filter(|k| p.degree(*k) == 1).min_by_key(|k| n_terms(*k)) {
        let common = content(p, k, budget)?;
        if common.is_constant() {
            return None;
        }
        let rest = p.divide(&common, budget)?;
        return Some((common, rest));
    }
    for &k in &all {
        let common = content(p, k, budget)?;
        if !common.is_constant() {
            let rest = p.divide(&common, budget)?;
            return Some((common, rest));
        }
    }
    for &k in all.iter().filter(|k| p.degree(**k) > 1) {
        let twice = gcd(p, &p.derivative(k)?, budget)?;
        if !twice.is_constant() {
            let rest = p.divide(&twice, budget)?;
            return Some((twice, rest));
        }
    }
    None
}
