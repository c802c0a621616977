//! What polynomials are in: symbols, sines and cosines of base angles, roots, and whatever else stands for itself.
//!
//! Squares of sines and roots are written by sin² = 1 − cos² and √p² = p, which makes equal polynomials look equal.

use super::angles::Angles;
use super::budget::Budget;
use super::fraction::Fraction;
use super::gcd::{content, gcd};
use super::polynomial::{Polynomial, Split, exponent};
use super::write::Written;
use crate::graph::Graph;
use crate::node::{Expr, Function, Node};
use crate::number::Number;
use rustc_hash::FxHashMap;

/// Work that one factorisation or common divisor may take: what takes longer has seldom one that is short.
pub(crate) const SMALL_WORK: u64 = 60_000;

/// Longest divisor whose conjugate is tried.
const LONGEST_CONJUGATE: usize = 16;

/// What stands behind an indeterminate.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub expr: Expr,
    /// its square by indeterminates before it
    pub square: Option<Polynomial>,
    /// the sine of a cosine and the cosine of a sine
    pub partner: Option<usize>,
}

/// The indeterminates, their relations and what is known of expressions in them.
pub(crate) struct Field {
    pub atoms: Vec<Atom>,
    index: FxHashMap<Expr, usize>,
    pub angles: Angles,
    /// expressions as fractions; none where one could not be had
    pub known: FxHashMap<Expr, Fraction>,
    /// what stood below a bar: likely to do so again
    pub factors: Vec<Polynomial>,
    /// polynomials as they are written
    pub written: FxHashMap<Polynomial, Written>,
    /// how long expressions are to read
    pub costs: FxHashMap<Expr, u64>,
    pub budget: Budget,
    /// work left for finding the shortest way to write
    pub writing: Budget,
}

impl Field {
    pub fn new(angles: Angles, budget: Budget, writing: Budget) -> Field {
        Field {
            atoms: Vec::new(),
            index: FxHashMap::default(),
            angles,
            known: FxHashMap::default(),
            factors: Vec::new(),
            written: FxHashMap::default(),
            costs: FxHashMap::default(),
            budget,
            writing,
        }
    }

    /// The indeterminate that stands for an expression.
    pub fn atom(&mut self, expr: Expr) -> usize {
        if let Some(&k) = self.index.get(&expr) {
            return k;
        }
        self.atoms.push(Atom { expr, square: None, partner: None });
        self.index.insert(expr, self.atoms.len() - 1);
        self.atoms.len() - 1
    }

    /// The sine and the cosine of an angle, as polynomials: numbers at quarter turns.
    pub fn sine_and_cosine(&mut self, graph: &mut Graph, angle: Expr) -> (Polynomial, Polynomial) {
        let cosine = self.wave(graph, Function::Cos, angle);
        let sine = self.wave(graph, Function::Sin, angle);
        if let (Some(c), Some(s)) = (lone(&cosine), lone(&sine))
            && self.atoms[s].partner.is_none()
        {
            let mut square = Polynomial::one();
            square.terms.extend(Polynomial::power(c, 2).neg().terms);
            self.atoms[s].square = Some(square);
            self.atoms[s].partner = Some(c);
            self.atoms[c].partner = Some(s);
        }
        (sine, cosine)
    }

    /// f of an angle as ± an indeterminate or a number, without relations.
    pub fn wave(&mut self, graph: &mut Graph, f: Function, angle: Expr) -> Polynomial {
        let value = graph.apply(f, angle);
        let (c, rest) = graph.split_coefficient(value);
        let number = graph.number(c).cloned().unwrap_or(Number::ONE);
        if rest == Expr::ONE {
            return Polynomial::constant(number);
        }
        let mut monomial = vec![0; self.atom(rest) + 1];
        *monomial.last_mut().expect("not empty") = 1;
        Polynomial::term(monomial, number)
    }

    /// Whether an indeterminate is a sine or a cosine with its relation.
    pub fn is_wave(&self, k: usize) -> bool {
        self.atoms[k].partner.is_some()
    }

    pub fn is_root(&self, k: usize) -> bool {
        self.atoms[k].square.is_some() && self.atoms[k].partner.is_none()
    }

    /// The normal form: no squares of sines and roots.
    pub fn normal(&self, p: &Polynomial) -> Option<Polynomial> {
        self.normal_within(p, &self.budget)
    }

    pub fn normal_within(&self, p: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let mut p = p.clone();
        for k in (0..self.atoms.len()).rev() {
            if let Some(square) = &self.atoms[k].square {
                p = p.without_squares(k, square, budget)?;
            }
        }
        Some(p)
    }

    /// The other form: no squares of cosines.
    pub fn flipped(&self, p: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let mut p = p.clone();
        for (k, atom) in self.atoms.iter().enumerate() {
            if let Some(sine) = atom.partner.filter(|_| atom.square.is_none()) {
                let mut square = Polynomial::one();
                square.terms.extend(Polynomial::power(sine, 2).neg().terms);
                p = p.without_squares(k, &square, budget)?;
            }
        }
        Some(p)
    }

    /// The normal form of a product.
    pub fn product(&self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        self.normal(&a.mul(b, &self.budget)?)
    }

    /// p / d in normal form, if it is a polynomial with the relations; none may also mean that it was not found.
    pub fn divide(&self, p: &Polynomial, d: &Polynomial) -> Option<Polynomial> {
        self.budget.within(SMALL_WORK, |budget| self.divide_within(p, d, budget, 0))
    }

    fn divide_within(&self, p: &Polynomial, d: &Polynomial, budget: &Budget, depth: usize) -> Option<Polynomial> {
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
        // p/d = p d̄ / (d d̄), where d̄ has the other sign of a sine or root and d d̄ is free of it
        let k = own.into_iter().rev().find(|k| self.atoms[*k].square.is_some())?;
        if d.len() > LONGEST_CONJUGATE || d.len() < 2 || depth > 3 {
            return None;
        }
        let conjugate = negated(d, k);
        let above = self.normal_within(&p.mul(&conjugate, budget)?, budget)?;
        let below = self.normal_within(&d.mul(&conjugate, budget)?, budget)?;
        self.divide_within(&above, &below, budget, depth + 1)
    }

    /// A common divisor of two polynomials in normal form.
    pub fn common(&self, a: &Polynomial, b: &Polynomial) -> Polynomial {
        let found = self.budget.within(SMALL_WORK, |budget| gcd(a, b, budget));
        found.unwrap_or_else(Polynomial::one)
    }

    /// The factors of a polynomial without number and common indeterminates, as far as they are easily found.
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

    /// A polynomial as number · Π factors, single indeterminates among them, known factors found again.
    pub fn below_the_bar(&mut self, p: &Polynomial) -> (Number, Vec<(Polynomial, u32)>) {
        let Split { number, monomial, rest } = p.split();
        let mut factors: Vec<(Polynomial, u32)> = monomial
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(k, n)| (Polynomial::power(k, 1), u32::from(*n)))
            .collect();
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

    /// A factor as number · Π factors in the other forms of its sines and roots, if it has factors there: 1 − cos² = sin².
    fn refined(&self, p: &Polynomial) -> Option<(Number, Vec<(Polynomial, u32)>)> {
        let budget = &self.writing;
        let forms = [self.flipped(p, budget), self.by_roots(p, budget)];
        for form in forms.into_iter().flatten().filter(|form| form != p) {
            let split = form.split();
            let mut parts = if split.rest.is_one() { Vec::new() } else { self.factored(&split.rest) };
            let singles = split.monomial.iter().enumerate().filter(|(_, n)| **n > 0);
            parts.extend(singles.map(|(k, n)| (Polynomial::power(k, 1), u32::from(*n))));
            if parts.len() > 1 || parts.first().is_some_and(|(_, n)| *n > 1) {
                let normal = |(part, n): (Polynomial, u32)| Some((self.normal_within(&part, budget)?, n));
                return Some((split.number, parts.into_iter().map(normal).collect::<Option<_>>()?));
            }
        }
        None
    }

    /// The form in powers of roots: y² = √(x² + y²)² − x².
    fn by_roots(&self, p: &Polynomial, budget: &Budget) -> Option<Polynomial> {
        let mut p = p.clone();
        for k in p.indeterminates().into_iter().filter(|k| self.is_root(*k)) {
            let square = self.atoms[k].square.as_ref()?;
            let is_alone = |j: &usize| {
                let mut wanted = vec![0; j + 1];
                wanted[*j] = 2;
                square.terms.keys().filter(|m| exponent(m, *j) > 0).eq([&wanted])
            };
            let Some(j) = square.indeterminates().into_iter().rev().find(is_alone) else { continue };
            // square = c j² + rest, so j² = (k² − rest)/c
            let own = Polynomial::power(j, 2);
            let (m, _) = own.terms.first_key_value()?;
            let mut rest = square.clone();
            let c = rest.terms.remove(m)?;
            let other = Polynomial::power(k, 2).sub(&rest, budget)?.scale(&c.recip()?)?;
            p = p.without_squares(j, &other, budget)?;
        }
        Some(p)
    }

    /// The square of |x| and √x, stated once.
    pub fn relate(&mut self, k: usize, square: &Polynomial) {
        let is_older = square.indeterminates().into_iter().all(|j| j < k);
        if is_older && self.atoms[k].square.is_none() && self.atoms[k].partner.is_none() {
            self.atoms[k].square = Some(square.clone());
        }
    }

    /// The expression a monomial stands for, leaving out the number.
    pub fn monomial(&self, graph: &mut Graph, monomial: &[u16]) -> Expr {
        let mut product = Expr::ONE;
        for (k, &n) in monomial.iter().enumerate().filter(|(_, n)| **n > 0) {
            let power = graph.powi(self.atoms[k].expr, i32::from(n));
            product = graph.mul(product, power);
        }
        product
    }

    /// Whether a symbol stays the same in time.
    pub fn is_held(&self, graph: &Graph, k: usize) -> bool {
        match graph.node(self.atoms[k].expr) {
            Node::Symbol(id) => graph.symbols[id.0 as usize].rate == Some(Expr::ZERO),
            _ => false,
        }
    }
}

/// The only indeterminate of ± one.
fn lone(p: &Polynomial) -> Option<usize> {
    let (m, _) = p.terms.first_key_value()?;
    (!m.is_empty()).then(|| m.len() - 1)
}

/// The same with −k for k, which stands alone only.
fn negated(p: &Polynomial, k: usize) -> Polynomial {
    let sign = |(m, c): (&Vec<u16>, &Number)| {
        let is_odd = m.get(k).is_some_and(|n| n % 2 == 1);
        (m.clone(), if is_odd { c.neg() } else { c.clone() })
    };
    Polynomial { terms: p.terms.iter().map(sign).collect() }
}

/// Exponents of equal factors added.
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

/// Two factors of a polynomial: one that lacks an indeterminate, or one that is there twice.
fn parted_once(p: &Polynomial, budget: &Budget) -> Option<(Polynomial, Polynomial)> {
    let all = p.indeterminates();
    if p.len() < 2 || all.len() > 40 {
        return None;
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
