//! The rewrites applied as nodes are built, each with the law it uses.
//!
//! A law holds wherever its left side has a finite value; the right side may be defined further, as in
//! x/x = 1. A constant that is not finite, such as 0^-1, is never cancelled: it is kept and found when run.
//!
//! Every rule looks at a bounded number of nodes, so that building is fast and long sums stay shared.

use crate::graph::{Comparison, Expr, Function, Function2, Graph, Node, flag};
use crate::number::Number;

/// How far down a sum or product a like term or an equal base is looked for: longer searches seldom find more.
const LOOK_DOWN: usize = 8;

/// Sums: a number stands first, numeric coefficients of equal terms are added.
impl Graph {
    /// a + b.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        // 0 + x = x
        if a == Expr::ZERO {
            return b;
        }
        if b == Expr::ZERO {
            return a;
        }
        // (c + x) + (d + y) = (c + d) + (x + y)
        let ((c, x), (d, y)) = (self.split_constant(a), self.split_constant(b));
        let rest = self.add_terms(x, y);
        match self.add_numbers(c, d) {
            Some(c) => self.offset(c, rest),
            None => self.sorted_add(a, b),
        }
    }

    /// a - b.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        let minus_b = self.neg(b);
        self.add(a, minus_b)
    }

    /// -a.
    pub fn neg(&mut self, a: Expr) -> Expr {
        self.scale(Expr::MINUS_ONE, a)
    }

    /// The sum of all terms, from left to right.
    pub fn sum(&mut self, terms: &[Expr]) -> Expr {
        terms.iter().fold(Expr::ZERO, |total, &term| self.add(total, term))
    }

    /// The number and the rest: e = c + rest.
    fn split_constant(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Number(_) => (e, Expr::ZERO),
            Node::Add(c, rest) if self.is_number(c) => (c, rest),
            _ => (Expr::ZERO, e),
        }
    }

    /// c + rest for a number c.
    fn offset(&mut self, c: Expr, rest: Expr) -> Expr {
        if c == Expr::ZERO {
            return rest;
        }
        if rest == Expr::ZERO {
            return c;
        }
        let (d, x) = self.split_constant(rest);
        match self.add_numbers(c, d) {
            Some(_) if d == Expr::ZERO => self.intern(Node::Add(c, rest)),
            Some(sum) if x == Expr::ZERO || sum == Expr::ZERO => self.add_shallow(sum, x),
            Some(sum) => self.intern(Node::Add(sum, x)),
            None => self.sorted_add(c, rest),
        }
    }

    /// a + b where neither has a number in front.
    fn add_terms(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ZERO || b == Expr::ZERO {
            return if a == Expr::ZERO { b } else { a };
        }
        self.merge_terms(a, b)
            .or_else(|| self.merge_selects(a, b))
            .or_else(|| self.merge_into_sum(a, b))
            .or_else(|| self.merge_into_sum(b, a))
            .unwrap_or_else(|| self.sorted_add(a, b))
    }

    /// a + b by the rules of two terms only.
    fn add_shallow(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ZERO || b == Expr::ZERO {
            return if a == Expr::ZERO { b } else { a };
        }
        if let Some(sum) = self.add_numbers(a, b) {
            return sum;
        }
        self.merge_terms(a, b).unwrap_or_else(|| self.sorted_add(a, b))
    }

    fn sorted_add(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.sorted(a, b);
        self.intern(Node::Add(a, b))
    }

    /// c x + d x = (c + d) x.
    fn merge_terms(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        if x != y || x == Expr::ONE {
            return None;
        }
        let c = self.add_numbers(c, d)?;
        Some(self.scale(c, x))
    }

    /// (if p then a else 0) + (if p then 0 else b) = if p then a else b.
    fn merge_selects(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (p, q) = (Guard::of(self.node(a))?, Guard::of(self.node(b))?);
        if p.condition() != q.condition() {
            return None;
        }
        Some(match (p.in_then, q.in_then) {
            (true, false) => p.build(self, p.value, q.value),
            (false, true) => p.build(self, q.value, p.value),
            (in_then, _) => {
                let total = self.add_shallow(p.value, q.value);
                p.around(self, total, in_then)
            }
        })
    }

    /// Adds `term` to a like term of the sum `chain`, looking a few terms down.
    fn merge_into_sum(&mut self, term: Expr, chain: Expr) -> Option<Expr> {
        let (_, like) = self.split_coefficient(term);
        let mut passed = [Expr::ZERO; LOOK_DOWN];
        let mut at = chain;
        for depth in 0..LOOK_DOWN {
            let Node::Add(l, r) = self.node(at) else {
                return None;
            };
            for (this, other) in [(l, r), (r, l)] {
                if self.split_coefficient(this).1 == like {
                    let merged = self.merge_terms(term, this)?;
                    let kept = passed[..depth].iter().rev();
                    let start = self.add_shallow(merged, other);
                    return Some(kept.fold(start, |sum, &p| self.add_shallow(p, sum)));
                }
            }
            let down_right = matches!(self.node(r), Node::Add(..));
            (at, passed[depth]) = if down_right { (r, l) } else { (l, r) };
        }
        None
    }
}

/// Products: a number stands first, exponents of equal bases are added.
impl Graph {
    /// a b.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        // 1 x = x
        if a == Expr::ONE {
            return b;
        }
        if b == Expr::ONE {
            return a;
        }
        // (c x) (d y) = (c d) (x y)
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        match self.mul_numbers(c, d) {
            Some(Expr::ZERO) => self.vanish(if a == Expr::ZERO { b } else { a }),
            Some(c) => {
                let rest = self.mul_factors(x, y);
                self.scale(c, rest)
            }
            None => self.sorted_mul(a, b),
        }
    }

    /// a / b.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        let reciprocal = self.pow(b, Expr::MINUS_ONE);
        self.mul(a, reciprocal)
    }

    /// The product of all factors, from left to right.
    pub fn product(&mut self, factors: &[Expr]) -> Expr {
        factors.iter().fold(Expr::ONE, |total, &factor| self.mul(total, factor))
    }

    /// The coefficient and the rest: e = c rest.
    pub(crate) fn split_coefficient(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Number(_) => (e, Expr::ONE),
            Node::Mul(c, rest) if self.is_number(c) => (c, rest),
            _ => (Expr::ONE, e),
        }
    }

    /// 0 x = 0 for finite x.
    fn vanish(&mut self, x: Expr) -> Expr {
        if self.has(x, flag::SINGULAR) { self.intern(Node::Mul(Expr::ZERO, x)) } else { Expr::ZERO }
    }

    /// c x for a number c; inside the guard if x is a choice between a value and zero.
    fn scale(&mut self, c: Expr, x: Expr) -> Expr {
        if c == Expr::ONE {
            return x;
        }
        if c == Expr::ZERO {
            return self.vanish(x);
        }
        if Guard::of(self.node(x)).is_none() {
            return self.scale_plain(c, x);
        }
        let guards = Guards::of(self, x);
        let scaled = self.scale_plain(c, guards.inner);
        guards.around(self, scaled)
    }

    fn scale_plain(&mut self, c: Expr, x: Expr) -> Expr {
        // c (d y) = (c d) y
        let (d, y) = self.split_coefficient(x);
        match self.mul_numbers(c, d) {
            Some(Expr::ONE) => y,
            Some(c) if y == Expr::ONE => c,
            Some(c) => self.intern(Node::Mul(c, y)),
            None => self.sorted_mul(c, x),
        }
    }

    /// a b where neither has a coefficient.
    fn mul_factors(&mut self, a: Expr, b: Expr) -> Expr {
        if a == Expr::ONE || b == Expr::ONE {
            return if a == Expr::ONE { b } else { a };
        }
        self.merge_factors(a, b)
            .or_else(|| self.mul_inside_guards(a, b))
            .or_else(|| self.merge_into_product(a, b))
            .or_else(|| self.merge_into_product(b, a))
            .unwrap_or_else(|| self.sorted_mul(a, b))
    }

    /// a b by the rules of two factors only.
    fn mul_shallow(&mut self, a: Expr, b: Expr) -> Expr {
        let ((c, x), (d, y)) = (self.split_coefficient(a), self.split_coefficient(b));
        let Some(c) = self.mul_numbers(c, d) else {
            return self.sorted_mul(a, b);
        };
        if x == Expr::ONE || y == Expr::ONE {
            return self.scale(c, if x == Expr::ONE { y } else { x });
        }
        let rest = self.merge_factors(x, y).unwrap_or_else(|| self.sorted_mul(x, y));
        self.scale(c, rest)
    }

    fn sorted_mul(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.sorted(a, b);
        self.intern(Node::Mul(a, b))
    }

    /// The base and the exponent if that is a number: e = base^exponent.
    fn split_power(&self, e: Expr) -> (Expr, Expr) {
        match self.node(e) {
            Node::Pow(base, exponent) if self.is_number(exponent) => (base, exponent),
            _ => (e, Expr::ONE),
        }
    }

    /// uᵃ uᵇ = uᵃ⁺ᵇ for numbers a, b: a power that is no integer is defined for u ≥ 0 only, where this holds too.
    fn merge_factors(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let ((base, m), (other, n)) = (self.split_power(a), self.split_power(b));
        if base != other || self.has(base, flag::SINGULAR) || base == Expr::ZERO {
            return None;
        }
        let exponent = self.add_numbers(m, n)?;
        Some(self.pow(base, exponent))
    }

    /// (if p then a else 0) b = if p then a b else 0: the guard also keeps b from being looked at.
    fn mul_inside_guards(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (guarded, factor) = if Guard::of(self.node(a)).is_some() { (a, b) } else { (b, a) };
        Guard::of(self.node(guarded))?;
        let guards = Guards::of(self, guarded);
        let product = self.mul_shallow(guards.inner, factor);
        Some(guards.around(self, product))
    }

    /// Multiplies `factor` into a factor of the product `chain` with the same base, looking a few factors down.
    fn merge_into_product(&mut self, factor: Expr, chain: Expr) -> Option<Expr> {
        let (base, _) = self.split_power(factor);
        let mut passed = [Expr::ONE; LOOK_DOWN];
        let mut at = chain;
        for depth in 0..LOOK_DOWN {
            let Node::Mul(l, r) = self.node(at) else {
                return None;
            };
            for (this, other) in [(l, r), (r, l)] {
                if self.split_power(this).0 == base {
                    let merged = self.merge_factors(factor, this)?;
                    let kept = passed[..depth].iter().rev();
                    let start = self.mul_shallow(merged, other);
                    return Some(kept.fold(start, |product, &p| self.mul_shallow(p, product)));
                }
            }
            let down_right = matches!(self.node(r), Node::Mul(..));
            (at, passed[depth]) = if down_right { (r, l) } else { (l, r) };
        }
        None
    }
}

/// Powers.
impl Graph {
    /// base^exponent.
    pub fn pow(&mut self, base: Expr, exponent: Expr) -> Expr {
        // u¹ = u
        if exponent == Expr::ONE {
            return base;
        }
        // u⁰ = 1, also for u = 0
        if exponent == Expr::ZERO && !self.has(base, flag::SINGULAR) {
            return Expr::ONE;
        }
        // 1ᵛ = 1
        if base == Expr::ONE && !self.has(exponent, flag::SINGULAR) {
            return Expr::ONE;
        }
        let simpler = match self.number(exponent) {
            Some(n) if n.is_integer() => self.integer_power(base, exponent),
            Some(_) => self.rational_power(base, exponent),
            None => None,
        };
        simpler.unwrap_or_else(|| self.intern(Node::Pow(base, exponent)))
    }

    /// base^exponent for an integer.
    pub fn powi(&mut self, base: Expr, exponent: i32) -> Expr {
        let exponent = self.integer(exponent.into());
        self.pow(base, exponent)
    }

    /// √x, which is x^(1/2).
    pub fn sqrt(&mut self, x: Expr) -> Expr {
        self.pow(x, Expr::HALF)
    }

    fn integer_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        match self.node(base) {
            Node::Number(_) => self.number_power(base, n),
            // (c u)ⁿ = cⁿ uⁿ
            Node::Mul(c, u) if self.is_number(c) => {
                let c = self.number_power(c, n)?;
                let power = self.pow(u, n);
                Some(self.scale(c, power))
            }
            // (uᵐ)ⁿ = uᵐⁿ, where u⁰ would hide a u that is not finite
            Node::Pow(u, m) if !self.has(base, flag::SINGULAR) => {
                let exponent = if self.is_number(m) { self.mul_numbers(m, n)? } else { self.mul(m, n) };
                Some(self.pow(u, exponent))
            }
            // |u|²ᵏ = u²ᵏ
            Node::Apply(Function::Abs, u) if self.number(n)?.is_even() => Some(self.pow(u, n)),
            _ => None,
        }
    }

    fn rational_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        match self.node(base) {
            Node::Number(_) => self.number_power(base, n),
            // (c u)ⁿ = cⁿ uⁿ for c > 0
            Node::Mul(c, u) if self.is_number(c) => {
                let c = self.number_power(c, n)?;
                let power = self.pow(u, n);
                Some(self.scale(c, power))
            }
            Node::Pow(u, m) if !self.has(base, flag::SINGULAR) => {
                let even = self.number(m)?.is_even();
                let exponent = self.mul_numbers(m, n)?;
                // (u²ᵏ)ⁿ = |u|²ᵏⁿ; other (uᵐ)ⁿ = uᵐⁿ are defined for u ≥ 0 only, where this holds
                let u = if even { self.apply(Function::Abs, u) } else { u };
                Some(self.pow(u, exponent))
            }
            _ => None,
        }
    }

    fn number_power(&mut self, base: Expr, n: Expr) -> Option<Expr> {
        let power = self.number(base)?.pow(self.number(n)?)?;
        Some(self.exact(power))
    }
}

/// Functions and choices.
impl Graph {
    /// f(x).
    pub fn apply(&mut self, f: Function, x: Expr) -> Expr {
        use Function::*;
        if f == Sqrt {
            return self.sqrt(x);
        }
        if let Some(value) = self.exact_value(f, x) {
            return value;
        }
        match f {
            Abs => return self.abs(x),
            // sign(c u) = sign(c) sign(u)
            Sign => {
                let (c, u) = self.split_coefficient(x);
                let negative = self.number(c).is_some_and(Number::is_negative);
                let sign = self.intern(Node::Apply(Sign, u));
                return if negative { self.neg(sign) } else { sign };
            }
            // log(exp(u)) = u
            Log => {
                if let Node::Apply(Exp, u) = self.node(x) {
                    return u;
                }
            }
            // exp(log(u)) = u
            Exp => {
                if let Node::Apply(Log, u) = self.node(x) {
                    return u;
                }
            }
            _ => {}
        }
        self.apply_parity(f, x)
    }

    /// f(-u) = -f(u) for odd f, f(-u) = f(u) for even f.
    fn apply_parity(&mut self, f: Function, x: Expr) -> Expr {
        use Function::*;
        let (c, _) = self.split_coefficient(x);
        if !self.number(c).is_some_and(Number::is_negative) {
            return self.intern(Node::Apply(f, x));
        }
        match f {
            Sin | Tan | Asin | Atan | Sinh | Tanh => {
                let minus_x = self.neg(x);
                let value = self.intern(Node::Apply(f, minus_x));
                self.neg(value)
            }
            Cos | Cosh => {
                let minus_x = self.neg(x);
                self.intern(Node::Apply(f, minus_x))
            }
            _ => self.intern(Node::Apply(f, x)),
        }
    }

    /// |c u| = |c| |u|, and |u| = u where u ≥ 0.
    fn abs(&mut self, x: Expr) -> Expr {
        if self.has(x, flag::NONNEGATIVE) {
            return x;
        }
        let (c, u) = self.split_coefficient(x);
        let size = self.number(c).map_or(Number::ONE, Number::abs);
        let c = self.exact(size);
        let abs = if self.has(u, flag::NONNEGATIVE) { u } else { self.intern(Node::Apply(Function::Abs, u)) };
        self.scale(c, abs)
    }

    /// The values of f that are rational: at 0, at 1, at multiples of π/2, and of numbers' signs.
    fn exact_value(&mut self, f: Function, x: Expr) -> Option<Expr> {
        use Function::*;
        match (f, self.node(x)) {
            (Sin | Tan | Asin | Atan | Sinh | Tanh | Abs | Sign, _) if x == Expr::ZERO => Some(Expr::ZERO),
            (Cos | Cosh | Exp, _) if x == Expr::ZERO => Some(Expr::ONE),
            (Log | Acos, _) if x == Expr::ONE => Some(Expr::ZERO),
            (Sign, Node::Number(_)) => Some(if self.number(x)?.is_negative() { Expr::MINUS_ONE } else { Expr::ONE }),
            (Abs, Node::Number(_)) => {
                let abs = self.number(x)?.abs();
                Some(self.exact(abs))
            }
            (Sin | Cos, _) => self.at_quarter_turns(f, x),
            _ => None,
        }
    }

    /// sin(k π/2) and cos(k π/2) for an integer k.
    fn at_quarter_turns(&self, f: Function, x: Expr) -> Option<Expr> {
        let (c, rest) = self.split_coefficient(x);
        if self.node(rest) != Node::Pi {
            return None;
        }
        let quarters = self.number(c)?.mul(&Number::integer(2))?.to_i64()?;
        let quarters = quarters.rem_euclid(4) + if f == Function::Cos { 1 } else { 0 };
        Some([Expr::ZERO, Expr::ONE, Expr::ZERO, Expr::MINUS_ONE][quarters as usize % 4])
    }

    /// f(x, y).
    pub fn apply2(&mut self, f: Function2, x: Expr, y: Expr) -> Expr {
        match f {
            Function2::Atan2 => {
                // atan2(0, x) = 0 for x > 0
                if x == Expr::ZERO && self.number(y).is_some_and(|y| *y > Number::ZERO) {
                    return Expr::ZERO;
                }
                self.intern(Node::Apply2(f, x, y))
            }
            Function2::Min | Function2::Max => self.min_max(f, x, y),
        }
    }

    /// min(x, x) = x, min(x, y) = min(y, x), and the chosen one of two numbers; likewise max.
    fn min_max(&mut self, f: Function2, x: Expr, y: Expr) -> Expr {
        if x == y {
            return x;
        }
        if let (Some(a), Some(b)) = (self.number(x), self.number(y)) {
            return if (a < b) == (f == Function2::Min) { x } else { y };
        }
        let (x, y) = self.sorted(x, y);
        self.intern(Node::Apply2(f, x, y))
    }

    /// `if left comparison right then then else otherwise`; choices between numbers are made at once.
    pub fn select(&mut self, comparison: Comparison, left: Expr, right: Expr, then: Expr, otherwise: Expr) -> Expr {
        if then == otherwise {
            return then;
        }
        if let (Some(a), Some(b)) = (self.number(left), self.number(right)) {
            return if comparison.holds(a, b) { then } else { otherwise };
        }
        self.intern(Node::Select { comparison, left, right, then, otherwise })
    }
}

/// Numbers.
impl Graph {
    pub(crate) fn is_number(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_))
    }

    fn add_numbers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == Expr::ZERO || b == Expr::ZERO {
            return Some(if a == Expr::ZERO { b } else { a });
        }
        let sum = self.number(a)?.add(self.number(b)?)?;
        Some(self.exact(sum))
    }

    fn mul_numbers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == Expr::ONE || b == Expr::ONE {
            return Some(if a == Expr::ONE { b } else { a });
        }
        let product = self.number(a)?.mul(self.number(b)?)?;
        Some(self.exact(product))
    }

    /// Operands of a commutative operation in their order: numbers first, then the older one.
    fn sorted(&self, a: Expr, b: Expr) -> (Expr, Expr) {
        let key = |e: Expr| (!self.is_number(e), e);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }
}

/// A choice between a value and zero.
#[derive(Copy, Clone)]
struct Guard {
    comparison: Comparison,
    left: Expr,
    right: Expr,
    value: Expr,
    in_then: bool,
}

impl Guard {
    fn of(node: Node) -> Option<Guard> {
        match node {
            Node::Select { comparison, left, right, then, otherwise: Expr::ZERO } => {
                Some(Guard { comparison, left, right, value: then, in_then: true })
            }
            Node::Select { comparison, left, right, then: Expr::ZERO, otherwise } => {
                Some(Guard { comparison, left, right, value: otherwise, in_then: false })
            }
            _ => None,
        }
    }

    fn condition(&self) -> (Comparison, Expr, Expr) {
        (self.comparison, self.left, self.right)
    }

    fn build(&self, graph: &mut Graph, then: Expr, otherwise: Expr) -> Expr {
        graph.select(self.comparison, self.left, self.right, then, otherwise)
    }

    fn around(&self, graph: &mut Graph, value: Expr, in_then: bool) -> Expr {
        if in_then { self.build(graph, value, Expr::ZERO) } else { self.build(graph, Expr::ZERO, value) }
    }
}

/// The guards around a value, outermost first, as far as they are looked at.
struct Guards {
    list: [Option<Guard>; LOOK_DOWN],
    inner: Expr,
}

impl Guards {
    fn of(graph: &Graph, e: Expr) -> Guards {
        let mut guards = Guards { list: [None; LOOK_DOWN], inner: e };
        for slot in &mut guards.list {
            *slot = Guard::of(graph.node(guards.inner));
            let Some(guard) = slot else { break };
            guards.inner = guard.value;
        }
        guards
    }

    fn around(&self, graph: &mut Graph, value: Expr) -> Expr {
        self.list.iter().flatten().rev().fold(value, |value, guard| guard.around(graph, value, guard.in_then))
    }
}
