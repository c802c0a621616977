//! Antiderivatives of the expressions in velocity constraints: sums of products of powers and elementary functions.
//!
//! No rule is trusted: every caller differentiates the result again.

use zwang_expr::{Expr, Function, Function2, Graph, Node};

use crate::{analysis::constraints::integrability::relations::fraction, limits};

/// ∫ e dx; `None` if no rule applies. `is_zero` decides whether an expression vanishes identically.
pub(super) fn antiderivative(
    graph: &mut Graph,
    e: Expr,
    x: Expr,
    is_zero: &dyn Fn(&Graph, Expr) -> bool,
) -> Option<Expr> {
    if graph.size(e) > limits::INTEGRAND_NODES {
        return None;
    }
    let rules = Rules { x, is_zero };
    // first as it stands, then expanded
    if let Some(whole) = rules.sum(graph, operands(graph, e, is_sum)) {
        return Some(whole);
    }
    let terms = expanded(graph, e, x)?;
    rules.sum(graph, terms)
}

struct Rules<'a> {
    x: Expr,
    is_zero: &'a dyn Fn(&Graph, Expr) -> bool,
}

impl Rules<'_> {
    fn sum(&self, graph: &mut Graph, terms: Vec<Expr>) -> Option<Expr> {
        let mut parts = Vec::new();
        for term in terms {
            let factors = operands(graph, term, is_product);
            let (with, without): (Vec<Expr>, Vec<Expr>) = factors.into_iter().partition(|f| depends(graph, *f, self.x));
            let integral = match with[..] {
                [] => self.x,
                [one] => self.single(graph, one).or_else(|| self.substitution(graph, &with))?,
                _ => self.by_parts(graph, &with).or_else(|| self.substitution(graph, &with))?,
            };
            let constant = graph.product(&without);
            parts.push(graph.mul(constant, integral));
        }
        Some(graph.sum(&parts))
    }

    /// The slope of u if it is linear in x and not constant.
    fn slope(&self, graph: &mut Graph, u: Expr) -> Option<Expr> {
        let slope = graph.derivative(u, self.x);
        (slope != Expr::ZERO && !depends(graph, slope, self.x)).then_some(slope)
    }

    /// ∫ f dx for one factor: a power or a function of an expression linear in x, or 1/(a + b x²).
    fn single(&self, graph: &mut Graph, f: Expr) -> Option<Expr> {
        let (base, exponent) = power_of(graph, f);
        if let Some(slope) = self.slope(graph, base) {
            let integral = power_integral(graph, base, exponent)?;
            return Some(graph.div(integral, slope));
        }
        if let Node::Apply(function, u) = graph.node(base)
            && let Some(slope) = self.slope(graph, u)
        {
            let integral = function_integral(graph, function, u, exponent)?;
            return Some(graph.div(integral, slope));
        }
        if graph.number_value(exponent) == Some(-1.0) { self.arctangent(graph, base) } else { None }
    }

    /// ∫ dx/(a + b x²) = atan(x √(b/a))/√(a b), where a and b have the same sign.
    fn arctangent(&self, graph: &mut Graph, below: Expr) -> Option<Expr> {
        let first = graph.derivative(below, self.x);
        let second = graph.derivative(first, self.x);
        if second == Expr::ZERO || depends(graph, second, self.x) {
            return None;
        }
        let b = graph.mul(Expr::HALF, second);
        let square = graph.powi(self.x, 2);
        let moving = graph.mul(b, square);
        let a = graph.sub(below, moving);
        if depends(graph, a, self.x) || a == Expr::ZERO {
            return None;
        }
        // a is a square: the angle of (s, x √b) is continuous where s changes its sign
        if let Node::Pow(s, n) = graph.node(a)
            && graph.number_value(n) == Some(2.0)
        {
            let root = graph.sqrt(b);
            let across = graph.mul(self.x, root);
            let angle = graph.apply2(Function2::Atan2, across, s);
            let divisor = graph.mul(s, root);
            return Some(graph.div(angle, divisor));
        }
        // √(a b) is the ratio's root times a, which needs no sign of a alone
        let ratio = graph.div(b, a);
        let root = graph.sqrt(ratio);
        let argument = graph.mul(self.x, root);
        let angle = graph.apply(Function::Atan, argument);
        let divisor = graph.mul(a, root);
        Some(graph.div(angle, divisor))
    }

    /// ∫ xⁿ g(u) dx for g = sin, cos, exp of u linear in x: each step lowers the power by one.
    fn by_parts(&self, graph: &mut Graph, factors: &[Expr]) -> Option<Expr> {
        let [a, b] = factors[..] else { return None };
        let power = |graph: &Graph, e: Expr| {
            let (base, exponent) = power_of(graph, e);
            let n = graph.number_value(exponent)?;
            (base == self.x && n.fract() == 0.0 && (1.0..=8.0).contains(&n)).then_some(n as i32)
        };
        let (n, g) = match (power(graph, a), power(graph, b)) {
            (Some(n), _) => (n, b),
            (_, Some(n)) => (n, a),
            _ => return None,
        };
        let Node::Apply(Function::Sin | Function::Cos | Function::Exp, u) = graph.node(g) else { return None };
        self.slope(graph, u)?;
        // Σ (−1)ᵏ (xⁿ)⁽ᵏ⁾ G_{k+1}, with G_k the k-th antiderivative of g
        let (mut parts, mut outer, mut inner) = (Vec::new(), graph.powi(self.x, n), g);
        for _ in 0..=n {
            let mut whole = Vec::new();
            for term in operands(graph, inner, is_sum) {
                let factors = operands(graph, term, is_product);
                let (with, without): (Vec<Expr>, Vec<Expr>) =
                    factors.into_iter().partition(|f| depends(graph, *f, self.x));
                let [one] = with[..] else { return None };
                let integral = self.single(graph, one)?;
                let constant = graph.product(&without);
                whole.push(graph.mul(constant, integral));
            }
            inner = graph.sum(&whole);
            parts.push(graph.mul(outer, inner));
            let less = graph.derivative(outer, self.x);
            outer = graph.neg(less);
        }
        Some(graph.sum(&parts))
    }

    /// ∫ F(u) c u' dx: one factor is a power or a function of u, and the others are a constant times u'.
    fn substitution(&self, graph: &mut Graph, factors: &[Expr]) -> Option<Expr> {
        for (k, &f) in factors.iter().enumerate() {
            let rest: Vec<Expr> = factors.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, e)| *e).collect();
            let rest = graph.product(&rest);
            let (base, exponent) = power_of(graph, f);
            if let Some(constant) = self.constant_beside(graph, rest, base) {
                let integral = power_integral(graph, base, exponent)?;
                return Some(graph.mul(constant, integral));
            }
            if let Node::Apply(function, u) = graph.node(base)
                && let Some(constant) = self.constant_beside(graph, rest, u)
                && let Some(integral) = function_integral(graph, function, u, exponent)
            {
                return Some(graph.mul(constant, integral));
            }
        }
        None
    }

    /// c with rest = c u', free of x; `None` if there is no such c.
    fn constant_beside(&self, graph: &mut Graph, rest: Expr, u: Expr) -> Option<Expr> {
        let slope = graph.derivative(u, self.x);
        if slope == Expr::ZERO {
            return None;
        }
        let ratio = graph.div(rest, slope);
        if !depends(graph, ratio, self.x) {
            return Some(ratio);
        }
        let change = graph.derivative(ratio, self.x);
        if !(self.is_zero)(graph, change) {
            return None;
        }
        // a constant may be evaluated anywhere; 0 leaves the shortest formula, if it has a value there
        let at = |graph: &mut Graph, x: Expr| graph.substitute(&[ratio], &[(self.x, x)].into_iter().collect())[0];
        let candidates = [at(graph, Expr::ZERO), at(graph, Expr::ONE), at(graph, Expr::HALF)];
        for candidate in candidates {
            // a plain number is better shown as one
            let number = graph.constant_value(candidate).and_then(fraction).map(|(p, q)| graph.rational(p, q));
            let constant = number.unwrap_or(candidate);
            let difference = graph.sub(ratio, constant);
            if (self.is_zero)(graph, difference) {
                return Some(constant);
            }
        }
        None
    }
}

/// ∫ uⁿ du.
fn power_integral(graph: &mut Graph, u: Expr, n: Expr) -> Option<Expr> {
    if graph.number_value(n) == Some(-1.0) {
        let size = graph.apply(Function::Abs, u);
        return Some(graph.apply(Function::Log, size));
    }
    graph.number_value(n)?;
    let more = graph.add(n, Expr::ONE);
    let power = graph.pow(u, more);
    Some(graph.div(power, more))
}

/// ∫ f(u)ⁿ du for the powers with a short result.
fn function_integral(graph: &mut Graph, f: Function, u: Expr, n: Expr) -> Option<Expr> {
    let n = graph.number_value(n)?;
    let log_of = |graph: &mut Graph, e: Expr| {
        let size = graph.apply(Function::Abs, e);
        graph.apply(Function::Log, size)
    };
    let mut of = |f: Function| graph.apply(f, u);
    let (sin, cos) = (of(Function::Sin), of(Function::Cos));
    match (f, n) {
        (Function::Sin, 1.0) => Some(graph.neg(cos)),
        (Function::Cos, 1.0) => Some(sin),
        (Function::Exp, _) => {
            let n = if n == 1.0 { Expr::ONE } else { return None };
            let exp = graph.apply(Function::Exp, u);
            Some(graph.div(exp, n))
        }
        (Function::Sinh, 1.0) => Some(graph.apply(Function::Cosh, u)),
        (Function::Cosh, 1.0) => Some(graph.apply(Function::Sinh, u)),
        (Function::Tan, 1.0) => {
            let log = log_of(graph, cos);
            Some(graph.neg(log))
        }
        (Function::Tanh, 1.0) => {
            let cosh = graph.apply(Function::Cosh, u);
            Some(graph.apply(Function::Log, cosh))
        }
        // ∫ sin² = (u − sin u cos u)/2, ∫ cos² = (u + sin u cos u)/2
        (Function::Sin | Function::Cos, 2.0) => {
            let product = graph.mul(sin, cos);
            let sum = if f == Function::Cos { graph.add(u, product) } else { graph.sub(u, product) };
            Some(graph.mul(Expr::HALF, sum))
        }
        (Function::Cos, -2.0) => Some(graph.apply(Function::Tan, u)),
        (Function::Sin, -2.0) => {
            let cotangent = graph.div(cos, sin);
            Some(graph.neg(cotangent))
        }
        (Function::Tan, -1.0) => Some(log_of(graph, sin)),
        // ∫ log u = u log u − u
        (Function::Log, 1.0) => {
            let log = graph.apply(Function::Log, u);
            let product = graph.mul(u, log);
            Some(graph.sub(product, u))
        }
        _ => None,
    }
}

fn is_sum(node: Node) -> bool {
    matches!(node, Node::Add(..))
}

fn is_product(node: Node) -> bool {
    matches!(node, Node::Mul(..))
}

fn depends(graph: &Graph, e: Expr, x: Expr) -> bool {
    graph.symbols(e).binary_search(&x).is_ok()
}

/// e as base and exponent.
pub(super) fn power_of(graph: &Graph, e: Expr) -> (Expr, Expr) {
    match graph.node(e) {
        Node::Pow(base, exponent) => (base, exponent),
        _ => (e, Expr::ONE),
    }
}

/// The terms of e, with products of sums that contain x expanded; `None` if there are more than `EXPANSION_TERMS`.
fn expanded(graph: &mut Graph, e: Expr, x: Expr) -> Option<Vec<Expr>> {
    let mut done = Vec::new();
    let mut open = operands(graph, e, is_sum);
    while let Some(term) = open.pop() {
        if open.len() + done.len() > limits::EXPANSION_TERMS {
            return None;
        }
        let factors = operands(graph, term, is_product);
        let is_open = |graph: &Graph, f: Expr| {
            let (base, exponent) = power_of(graph, f);
            let n = graph.number_value(exponent).filter(|n| n.fract() == 0.0 && (1.0..=4.0).contains(n))?;
            (is_sum(graph.node(base)) && depends(graph, f, x)).then_some((base, n as i32))
        };
        let Some((at, (base, n))) = (0..factors.len()).find_map(|k| Some((k, is_open(graph, factors[k])?))) else {
            done.push(term);
            continue;
        };
        let others: Vec<Expr> = (0..factors.len()).filter(|k| *k != at).map(|k| factors[k]).collect();
        let others = graph.product(&others);
        let less = graph.powi(base, n - 1);
        let others = graph.mul(others, less);
        for part in operands(graph, base, is_sum) {
            open.push(graph.mul(part, others));
        }
    }
    Some(done)
}

/// The operands of nested sums or products, as `is_nested` selects.
pub(super) fn operands(graph: &Graph, e: Expr, is_nested: fn(Node) -> bool) -> Vec<Expr> {
    let (mut found, mut open) = (Vec::new(), vec![e]);
    while let Some(e) = open.pop() {
        match is_nested(graph.node(e)) {
            true => open.extend(graph.node(e).operands().iter()),
            false => found.push(e),
        }
    }
    found
}
