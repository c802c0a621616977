//! Identities between formulas, proved exactly: sums of products over what cannot be taken apart.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Function, Graph, Node, Number};

/// More terms than this are not multiplied out: the test must cost less than what it saves.
const MOST_TERMS: usize = 400;
/// A sum is multiplied out up to this power.
const HIGHEST_POWER: i32 = 8;

/// Exponents of the atoms, without zeros at the end; negative ones divide.
type Exponents = Vec<i32>;

/// Σ coefficient · product of powers of atoms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Polynomial(BTreeMap<Exponents, Number>);

/// What polynomials are made of: symbols, functions and all else that is not a sum, a product or a whole power.
#[derive(Default)]
pub(crate) struct Atoms {
    exprs: Vec<Expr>,
    index: FxHashMap<Expr, usize>,
    known: FxHashMap<Expr, Option<Polynomial>>,
}

impl Polynomial {
    fn constant(value: Number) -> Polynomial {
        let mut p = Polynomial::default();
        if !value.is_zero() {
            p.0.insert(Vec::new(), value);
        }
        p
    }

    /// self += factor · monomial · other; none if a coefficient grows too large.
    fn add_product(&mut self, other: &Polynomial, factor: &Number, monomial: &[i32]) -> Option<()> {
        for (exponents, value) in &other.0 {
            let value = value.mul(factor)?;
            let exponents = times(exponents, monomial);
            let sum = match self.0.get(&exponents) {
                Some(before) => before.add(&value)?,
                None => value,
            };
            match sum.is_zero() {
                true => self.0.remove(&exponents),
                false => self.0.insert(exponents, sum),
            };
        }
        (self.0.len() <= MOST_TERMS).then_some(())
    }

    fn multiply(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (exponents, value) in &self.0 {
            product.add_product(other, value, exponents)?;
        }
        Some(product)
    }

    /// self − other.
    pub(crate) fn minus(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut difference = self.clone();
        difference.add_product(other, &Number::integer(-1), &[])?;
        Some(difference)
    }

    /// The product of atoms without which no exponent is negative.
    fn denominator(&self) -> Exponents {
        let mut lowest: Exponents = Vec::new();
        for exponents in self.0.keys() {
            lowest.resize(lowest.len().max(exponents.len()), 0);
            lowest.iter_mut().zip(exponents).for_each(|(low, e)| *low = (*low).min(*e));
        }
        lowest.iter().map(|e| -e).collect()
    }

    fn times_monomial(&self, monomial: &[i32]) -> Polynomial {
        Polynomial(self.0.iter().map(|(e, value)| (times(e, monomial), value.clone())).collect())
    }

    /// self / divisor where it goes out even, by division from the highest term down.
    fn divide(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let (up, down) = (self.denominator(), divisor.denominator());
        let (mut rest, divisor) = (self.times_monomial(&up), divisor.times_monomial(&down));
        let (lead, lead_value) = divisor.0.last_key_value()?;
        let inverse = lead_value.recip()?;
        let mut quotient = Polynomial::default();
        while let Some((top, value)) = rest.0.last_key_value() {
            let negative: Exponents = lead.iter().map(|e| -e).collect();
            let exponents = times(top, &negative);
            if exponents.iter().any(|e| *e < 0) || quotient.0.len() >= MOST_TERMS {
                return None;
            }
            let value = value.mul(&inverse)?;
            rest.add_product(&divisor, &value.neg(), &exponents)?;
            quotient.0.insert(exponents, value);
        }
        // (p·up)/(d·down) = (p/d)·up/down
        let back: Exponents = times(&down, &up.iter().map(|e| -e).collect::<Vec<_>>());
        Some(quotient.times_monomial(&back))
    }
}

/// Higher powers are left as they are, so that sums of exponents stay numbers.
const LARGEST_EXPONENT: i32 = 1 << 20;

/// The product of two monomials.
fn times(a: &[i32], b: &[i32]) -> Exponents {
    let at = |m: &[i32], k: usize| m.get(k).copied().unwrap_or(0);
    let mut product: Exponents = (0..a.len().max(b.len())).map(|k| at(a, k) + at(b, k)).collect();
    while product.last() == Some(&0) {
        product.pop();
    }
    product
}

impl Atoms {
    /// An expression multiplied out; none where that would be long.
    pub(crate) fn expand(&mut self, graph: &mut Graph, e: Expr) -> Option<Polynomial> {
        // operands first, without recursion: formulas may be as deep as the text is long
        let mut stack = vec![(e, false)];
        while let Some((e, ready)) = stack.pop() {
            if self.known.contains_key(&e) {
                continue;
            }
            if !ready {
                stack.push((e, true));
                match graph.node(e) {
                    Node::Add(a, b) | Node::Mul(a, b) => stack.extend([(a, false), (b, false)]),
                    Node::Pow(base, _) => stack.push((base, false)),
                    _ => {}
                }
                continue;
            }
            let polynomial = self.combine(graph, e);
            self.known.insert(e, polynomial);
        }
        self.known.get(&e)?.clone()
    }

    /// One expression whose operands are known.
    fn combine(&mut self, graph: &mut Graph, e: Expr) -> Option<Polynomial> {
        let of = |atoms: &Atoms, e: &Expr| atoms.known.get(e)?.clone();
        match graph.node(e) {
            Node::Number(id) => Some(Polynomial::constant(graph.number_at(id).clone())),
            Node::Add(a, b) => {
                let (mut sum, other) = (of(self, &a)?, of(self, &b)?);
                sum.add_product(&other, &Number::integer(1), &[])?;
                Some(sum)
            }
            Node::Mul(a, b) => of(self, &a)?.multiply(&of(self, &b)?),
            Node::Pow(base, exponent) => match graph.number(exponent).and_then(Number::to_i64) {
                Some(n) if n.abs() <= i64::from(HIGHEST_POWER) => {
                    self.power(e, &of(self, &base)?, i32::try_from(n).ok()?)
                }
                _ => Some(self.root(graph, e, base, exponent)),
            },
            Node::Apply(Function::Tan, u) => {
                let (sin, cos) = (graph.apply(Function::Sin, u), graph.apply(Function::Cos, u));
                let (sin, inverse) = (self.atom(sin, 1), self.atom(cos, -1));
                sin.multiply(&inverse)
            }
            _ => Some(self.atom(e, 1)),
        }
    }

    /// u^(k/2) as a power of √u.
    fn root(&mut self, graph: &mut Graph, e: Expr, base: Expr, exponent: Expr) -> Polynomial {
        match graph.number(exponent).and_then(Number::to_small) {
            Some((k, 2)) if k.abs() <= i64::from(HIGHEST_POWER) => {
                let root = graph.sqrt(base);
                self.atom(root, k as i32)
            }
            _ => self.atom(e, 1),
        }
    }

    fn power(&mut self, e: Expr, base: &Polynomial, n: i32) -> Option<Polynomial> {
        if n >= 0 {
            let mut product = Polynomial::constant(Number::integer(1));
            for _ in 0..n {
                product = product.multiply(base)?;
            }
            return Some(product);
        }
        let mut terms = base.0.iter();
        match (terms.next(), terms.next()) {
            // one over a single term
            (Some((exponents, value)), None) => {
                let exponents: Option<Exponents> = exponents.iter().map(|x| x.checked_mul(n)).collect();
                let exponents = exponents.filter(|all| all.iter().all(|x| x.abs() <= LARGEST_EXPONENT))?;
                let value = value.pow(&Number::integer(i64::from(n)))?;
                Some(Polynomial(BTreeMap::from([(exponents, value)])))
            }
            _ => Some(self.atom(e, 1)),
        }
    }

    fn atom(&mut self, e: Expr, power: i32) -> Polynomial {
        let next = self.exprs.len();
        let k = *self.index.entry(e).or_insert(next);
        if k == next {
            self.exprs.push(e);
        }
        let mut exponents = vec![0; k + 1];
        exponents[k] = power;
        Polynomial(BTreeMap::from([(exponents, Number::integer(1))]))
    }

    /// What the square of an atom is: cos² = 1 − sin², and that of a root.
    fn square(&mut self, graph: &mut Graph, atom: usize) -> Option<Polynomial> {
        match graph.node(self.exprs[atom]) {
            Node::Apply(Function::Cos, u) => {
                let sin = graph.apply(Function::Sin, u);
                let sin = self.atom(sin, 2);
                Polynomial::constant(Number::integer(1)).minus(&sin)
            }
            Node::Pow(base, Expr::HALF) => self.expand(graph, base),
            _ => None,
        }
    }

    /// Whether a polynomial is zero, with cos² + sin² = 1 and √u² = u. What is not found zero may still be.
    pub(crate) fn is_zero(&mut self, graph: &mut Graph, p: &Polynomial) -> bool {
        self.reduced(graph, &p.times_monomial(&p.denominator())).is_some_and(|p| p.0.is_empty())
    }

    /// The same polynomial without squares of cosines and roots.
    fn reduced(&mut self, graph: &mut Graph, p: &Polynomial) -> Option<Polynomial> {
        let mut p = p.clone();
        for k in 0..self.exprs.len() {
            if let Some(square) = self.square(graph, k) {
                p = without_squares(&p, k, &square)?;
            }
        }
        Some(p)
    }

    /// p / d where it goes out even; a root in d = a + b √u is moved up: 1/d = (a − b √u)/(a² − b² u).
    pub(crate) fn divide(&mut self, graph: &mut Graph, p: &Polynomial, d: &Polynomial) -> Option<Polynomial> {
        if let Some(quotient) = p.divide(d) {
            return Some(quotient);
        }
        for k in 0..self.exprs.len() {
            let power = |e: &Exponents| e.get(k).copied().unwrap_or(0);
            let is_root = matches!(graph.node(self.exprs[k]), Node::Pow(_, Expr::HALF));
            if !is_root || !d.0.keys().any(|e| power(e) == 1) || d.0.keys().any(|e| !(0..2).contains(&power(e))) {
                continue;
            }
            let sign = |(e, value): (&Exponents, &Number)| {
                (e.clone(), if power(e) == 1 { value.neg() } else { value.clone() })
            };
            let conjugate = Polynomial(d.0.iter().map(sign).collect());
            let (above, below) = (p.multiply(&conjugate)?, d.multiply(&conjugate)?);
            let (above, below) = (self.reduced(graph, &above)?, self.reduced(graph, &below)?);
            if let Some(quotient) = above.divide(&below) {
                return Some(quotient);
            }
        }
        None
    }

    /// Factors with which divisors give p, by division from the highest term down: each term by the first divisor that takes it.
    ///
    /// Whether the division goes out even may depend on the order of the divisors; if it does, it is a proof.
    pub(crate) fn divide_by_all(
        &mut self,
        graph: &mut Graph,
        p: &Polynomial,
        divisors: &[Polynomial],
    ) -> Option<Vec<Polynomial>> {
        let mut rest = self.reduced(graph, p)?;
        if [&rest].into_iter().chain(divisors).any(|p| p.denominator().iter().any(|e| *e != 0)) {
            return None;
        }
        let mut quotients = vec![Polynomial::default(); divisors.len()];
        for _ in 0..MOST_TERMS {
            let Some((top, value)) = rest.0.last_key_value() else { return Some(quotients) };
            let takes = |d: &Polynomial| {
                let (lead, lead_value) = d.0.last_key_value()?;
                let exponents = times(top, &lead.iter().map(|e| -e).collect::<Vec<_>>());
                let factor = value.mul(&lead_value.recip()?)?;
                exponents.iter().all(|e| *e >= 0).then_some((exponents, factor))
            };
            let (k, (exponents, factor)) = divisors.iter().enumerate().find_map(|(k, d)| Some((k, takes(d)?)))?;
            rest.add_product(&divisors[k], &factor.neg(), &exponents)?;
            let term = Polynomial(BTreeMap::from([(exponents, factor)]));
            quotients[k].add_product(&term, &Number::integer(1), &[])?;
        }
        None
    }

    /// What p becomes on d = 0, each time one atom that d contains alone in a term is put in by the others.
    ///
    /// For d = √u − l that is √u = l, which turns √u + l into 2 l.
    pub(crate) fn on_zero_of(&self, p: &Polynomial, d: &Polynomial) -> Vec<Polynomial> {
        (0..self.exprs.len()).filter_map(|k| put_in(p, k, &solved_for(d, k)?)).collect()
    }

    /// A polynomial as an expression.
    pub(crate) fn expr(&self, graph: &mut Graph, p: &Polynomial) -> Expr {
        let mut terms = Vec::new();
        for (exponents, value) in &p.0 {
            let mut product = graph.exact(value.clone());
            for (k, &n) in exponents.iter().enumerate().filter(|(_, n)| **n != 0) {
                let power = graph.powi(self.exprs[k], n);
                product = graph.mul(product, power);
            }
            terms.push(product);
        }
        graph.sum(&terms)
    }
}

/// The atom in terms of the others where d = 0, if d contains it in one term c · atom only.
fn solved_for(d: &Polynomial, atom: usize) -> Option<Polynomial> {
    let mut alone = vec![0; atom + 1];
    alone[atom] = 1;
    let inverse = d.0.get(&alone)?.recip()?.neg();
    let mut rest = d.clone();
    rest.0.remove(&alone);
    if rest.0.keys().any(|e| e.get(atom).is_some_and(|n| *n != 0)) {
        return None;
    }
    let mut solved = Polynomial::default();
    solved.add_product(&rest, &inverse, &[])?;
    Some(solved)
}

/// The polynomial with an atom replaced; none where it divides.
fn put_in(p: &Polynomial, atom: usize, value: &Polynomial) -> Option<Polynomial> {
    let mut out = Polynomial::default();
    for (exponents, coefficient) in &p.0 {
        let n = exponents.get(atom).copied().unwrap_or(0);
        let mut rest = exponents.clone();
        if n != 0 {
            rest[atom] = 0;
        }
        let mut term = Polynomial(BTreeMap::from([(times(&rest, &[]), coefficient.clone())]));
        for _ in 0..u32::try_from(n).ok()? {
            term = term.multiply(value)?;
        }
        out.add_product(&term, &Number::integer(1), &[])?;
    }
    Some(out)
}

/// The polynomial with every square of an atom replaced.
fn without_squares(p: &Polynomial, atom: usize, square: &Polynomial) -> Option<Polynomial> {
    let mut reduced = Polynomial::default();
    for (exponents, value) in &p.0 {
        let n = exponents.get(atom).copied().unwrap_or(0);
        let mut rest = exponents.clone();
        if n >= 2 {
            rest[atom] = n % 2;
        }
        let mut term = Polynomial(BTreeMap::from([(times(&rest, &[]), value.clone())]));
        for _ in 0..n / 2 {
            term = term.multiply(square)?;
        }
        reduced.add_product(&term, &Number::integer(1), &[])?;
    }
    Some(reduced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(graph: &mut Graph) -> [Expr; 3] {
        ["x", "y", "l"].map(|name| graph.symbol(name, name))
    }

    #[test]
    fn a_product_is_divided_by_its_factor() {
        let mut graph = Graph::new();
        let [x, y, l] = symbols(&mut graph);
        let squares = [x, y].map(|s| graph.powi(s, 2));
        let minus = graph.powi(l, 2);
        let minus = graph.neg(minus);
        let circle = graph.sum(&[squares[0], squares[1], minus]);
        let factor = graph.add(Expr::ONE, squares[0]);
        let product = graph.mul(factor, circle);
        let mut atoms = Atoms::default();
        let [p, d, f] = [product, circle, factor].map(|e| atoms.expand(&mut graph, e).unwrap());
        assert_eq!(p.divide(&d), Some(f.clone()));
        // a sum that the factor is not in
        assert_eq!(p.minus(&f).unwrap().divide(&d), None);
    }

    /// (x² + y² − l²)/(√(x² + y²) − l) = √(x² + y²) + l.
    #[test]
    fn a_length_divides_its_square() {
        let mut graph = Graph::new();
        let [x, y, l] = symbols(&mut graph);
        let squares = [x, y, l].map(|s| graph.powi(s, 2));
        let sum = graph.add(squares[0], squares[1]);
        let root = graph.sqrt(sum);
        let (p, d, wanted) = (graph.sub(sum, squares[2]), graph.sub(root, l), graph.add(root, l));
        let mut atoms = Atoms::default();
        let [p, d, wanted] = [p, d, wanted].map(|e| atoms.expand(&mut graph, e).unwrap());
        assert_eq!(atoms.divide(&mut graph, &p, &d), Some(wanted.clone()));
        assert_eq!(atoms.divide(&mut graph, &d, &p), None);
        // on √u = l the quotient is 2 l
        let twice = graph.add(l, l);
        let twice = atoms.expand(&mut graph, twice).unwrap();
        assert!(atoms.on_zero_of(&wanted, &d).contains(&twice));
    }

    #[test]
    fn sines_and_cosines_obey_pythagoras_and_nothing_else() {
        let mut graph = Graph::new();
        let [x, ..] = symbols(&mut graph);
        let (sin, cos) = (graph.apply(Function::Sin, x), graph.apply(Function::Cos, x));
        let tan = graph.apply(Function::Tan, x);
        // tan(x) cos(x)³ = sin(x) (1 − sin(x)²)
        let cube = graph.powi(cos, 3);
        let left = graph.mul(tan, cube);
        let square = graph.powi(sin, 2);
        let rest = graph.sub(Expr::ONE, square);
        let right = graph.mul(sin, rest);
        let mut atoms = Atoms::default();
        let [l, r, s] = [left, right, sin].map(|e| atoms.expand(&mut graph, e).unwrap());
        let difference = l.minus(&r).unwrap();
        assert!(atoms.is_zero(&mut graph, &difference));
        let wrong = l.minus(&s).unwrap();
        assert!(!atoms.is_zero(&mut graph, &wrong));
    }
}
