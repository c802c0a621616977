//! From formulas to values: one rule per kind of formula, with dimensions.

use crate::diagnostic::Diagnostic;
use crate::limits;
use crate::lower::dimensions::Dim;
use crate::lower::names::suffix;
use crate::lower::value::{Quantity, Value};
use crate::lower::{Lower, Lowering};
use crate::syntax::Span;
use crate::syntax::name::canonical;
use crate::syntax::tree::*;
use crate::units::{Dimension, Unit};
use zwang_expr::{Comparison, Expr, Function};

impl Lower<'_> {
    /// The value of a formula.
    pub(super) fn formula(&mut self, formula: &Formula) -> Lowering<Value> {
        self.spend(formula.span)?;
        let span = formula.span;
        match &formula.kind {
            FormulaKind::Number(written) => self.number(written, None, span),
            FormulaKind::WithUnit(written, unit) => self.number(written, Some(unit), span),
            FormulaKind::Name(name) => self.named(canonical(name), name, span),
            FormulaKind::Indexed(name, indices) => {
                let indices = indices.iter().map(|i| self.integer(i)).collect::<Lowering<Vec<i64>>>()?;
                let suffix = suffix(&indices);
                self.named(canonical(&name.text) + &suffix, &format!("{}{suffix}", name.text), span)
            }
            FormulaKind::Call(name, arguments) => {
                let value = self.call(name, arguments, span)?;
                self.finite(value, span)
            }
            FormulaKind::Member(of, name, arguments) => self.member(of, name, arguments.as_deref(), span),
            FormulaKind::Prime(of, primes) => {
                let value = self.formula(of)?;
                self.primed(value, *primes, span)
            }
            FormulaKind::Sum(terms) => self.sum(terms),
            FormulaKind::Product(factors) => self.product(factors),
            FormulaKind::Negative(of) => {
                let value = self.formula(of)?;
                Ok(self.scaled(value, Quantity::new(Expr::MINUS_ONE, Dimension::NONE.into())))
            }
            FormulaKind::Power(base, exponent) => {
                let value = self.power(base, exponent)?;
                self.finite(value, span)
            }
            FormulaKind::Vector(parts) => self.vector(parts, span),
            FormulaKind::Length(of) => {
                let value = self.formula(of)?;
                self.length(value, of.span)
            }
            FormulaKind::If(condition, then, otherwise) => self.choice(condition, then, otherwise),
            FormulaKind::SumOver(index, from, to, body) => self.sum_over(index, from, to, body, span),
            FormulaKind::Compare(..) => self.misplaced("a comparison", "after `if` or `when`", span),
            FormulaKind::Matrix(_) => self.misplaced("a matrix", "after `mass matrix =` or `inertia`", span),
            FormulaKind::Text(_) => self.misplaced("a text in quotes", "as a file name in `table`", span),
        }
    }

    /// Rejects a constant that is not finite, such as sqrt(-1).
    fn finite(&mut self, value: Value, span: Span) -> Lowering<Value> {
        let Value::Scalar(q) = &value else { return Ok(value) };
        match self.graph.constant_value(q.expr) {
            Some(x) if !x.is_finite() => {
                let written = self.text.get(span.start..span.end).unwrap_or_default();
                self.report(no_value(&format!("`{written}` has no value"), span, "not a finite number"))
            }
            _ => Ok(value),
        }
    }

    fn misplaced<T>(&mut self, what: &str, place: &str, span: Span) -> Lowering<T> {
        let d = Diagnostic::error("Z106", format!("{what} can only stand {place}")).at(span, "not here");
        self.report(d)
    }

    /// The value of a formula that must be a scalar.
    pub(super) fn scalar(&mut self, formula: &Formula) -> Lowering<Quantity> {
        let value = self.formula(formula)?;
        self.as_scalar(value, formula.span)
    }

    pub(super) fn as_scalar(&mut self, value: Value, span: Span) -> Lowering<Quantity> {
        match value {
            Value::Scalar(quantity) => Ok(quantity),
            other => self.report(
                Diagnostic::error("Z106", format!("{} stands where a scalar is expected", other.word()))
                    .at(span, "not a scalar")
                    .help("take a component (.x), a length |…|, or a dot product"),
            ),
        }
    }

    /// The components of a value that must be a vector.
    pub(super) fn as_vector(&mut self, value: Value, span: Span) -> Lowering<Vec<Quantity>> {
        match value {
            Value::Vector(parts) => Ok(parts),
            other => self.report(
                Diagnostic::error("Z106", format!("{} stands where a vector is expected", other.word()))
                    .at(span, "not a vector")
                    .help("write its components as (a, b) or (a, b, c)"),
            ),
        }
    }

    fn number(&mut self, written: &str, unit: Option<&Unit>, span: Span) -> Lowering<Value> {
        let Some(number) = self.graph.decimal(written) else {
            let d = Diagnostic::error("Z006", "this number cannot be computed with").at(span, "out of range");
            return self.report(d);
        };
        let dim = self.dimensions.number(unit.map(|u| u.dimension), span);
        let Some(unit) = unit else { return Ok(Value::Scalar(Quantity::new(number, dim))) };
        let factor = self.graph.rational(unit.numerator, unit.denominator);
        let pi = self.graph.pi();
        let pi = self.graph.powi(pi, unit.pi);
        let expr = self.graph.product(&[number, factor, pi]);
        Ok(Value::Scalar(Quantity::new(expr, dim)))
    }

    fn sum(&mut self, terms: &[(bool, Formula)]) -> Lowering<Value> {
        let (_, first) = &terms[0];
        let values = self.each(terms.iter().map(|(_, term)| term))?;
        let mut values = values.into_iter();
        let mut total = values.next().expect("a sum has terms");
        for ((minus, term), value) in terms[1..].iter().zip(values) {
            let value =
                if *minus { self.scaled(value, Quantity::new(Expr::MINUS_ONE, Dimension::NONE.into())) } else { value };
            total = self.added(total, value, (first.span, term.span))?;
        }
        Ok(total)
    }

    pub(super) fn added(&mut self, a: Value, b: Value, spans: (Span, Span)) -> Lowering<Value> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => Ok(Value::Scalar(self.added_scalars(a, b, spans)?)),
            (Value::Vector(a), Value::Vector(b)) if a.len() == b.len() => {
                let parts = a.into_iter().zip(b).map(|(a, b)| self.added_scalars(a, b, spans));
                Ok(Value::Vector(parts.collect::<Lowering<Vec<_>>>()?))
            }
            (Value::Generalized(a), Value::Generalized(b)) => {
                let mut sum = a;
                for (k, part) in b {
                    match sum.iter().position(|(j, _)| *j == k) {
                        Some(at) => sum[at].1 = self.added_scalars(sum[at].1.clone(), part, spans)?,
                        None => sum.push((k, part)),
                    }
                }
                sum.sort_by_key(|(k, _)| *k);
                Ok(Value::Generalized(sum))
            }
            (a, b) => self.report(
                Diagnostic::error("Z106", format!("cannot add {} and {}", a.word(), b.word()))
                    .at(spans.1, b.word())
                    .and_at(spans.0, a.word())
                    .help("take a component (.x) or a length |…| of the vector, or make the other one a vector too"),
            ),
        }
    }

    fn added_scalars(&mut self, a: Quantity, b: Quantity, spans: (Span, Span)) -> Lowering<Quantity> {
        if a.expr == Expr::ZERO {
            return Ok(b);
        }
        if b.expr != Expr::ZERO {
            self.same_dimension((&a.dim, spans.0), (&b.dim, spans.1), "a sum of different things")?;
        }
        // the dimension of a sum is that of a term whose dimension is known
        let dim = if self.dimensions.known(&a.dim).is_some() { a.dim } else { b.dim };
        Ok(Quantity::new(self.graph.add(a.expr, b.expr), dim))
    }

    /// All values; every formula is evaluated, so that every mistake among them is reported.
    pub(super) fn each<'f>(&mut self, formulas: impl Iterator<Item = &'f Formula>) -> Lowering<Vec<Value>> {
        let values: Vec<Lowering<Value>> = formulas.map(|f| self.formula(f)).collect();
        values.into_iter().collect()
    }

    fn product(&mut self, factors: &[(bool, Formula)]) -> Lowering<Value> {
        let mut total: Option<Value> = None;
        let values = self.each(factors.iter().map(|(_, factor)| factor))?;
        for (k, ((divides, factor), value)) in factors.iter().zip(values).enumerate() {
            let value = if is_pure(factors, k) { self.pure(value, factor.span)? } else { value };
            total = Some(match (total, *divides) {
                (None, _) => value,
                (Some(total), true) => {
                    let Quantity { expr, dim } = self.as_scalar(value, factor.span)?;
                    if expr == Expr::ZERO {
                        return self.report(no_value("a division by zero has no value", factor.span, "always zero"));
                    }
                    let inverse = Quantity::new(self.graph.powi(expr, -1), dim.power(-1.0));
                    self.scaled(total, inverse)
                }
                (Some(total), false) => self.multiplied(total, value, factors[0].1.span, factor.span)?,
            });
        }
        Ok(total.expect("a product has factors"))
    }

    /// A literal that is a pure number because of its place in the formula.
    fn pure(&mut self, value: Value, span: Span) -> Lowering<Value> {
        let Quantity { expr, .. } = self.as_scalar(value, span)?;
        Ok(Value::Scalar(Quantity::new(expr, Dimension::NONE.into())))
    }

    fn multiplied(&mut self, a: Value, b: Value, first: Span, second: Span) -> Lowering<Value> {
        match (a, b) {
            (a, Value::Scalar(b)) => Ok(self.scaled(a, b)),
            (Value::Scalar(a), b) => Ok(self.scaled(b, a)),
            (a, b) => self.report(
                Diagnostic::error("Z106", "a product of two vectors")
                    .at(second, b.word())
                    .and_at(first, a.word())
                    .help("write dot(a, b) or cross(a, b)"),
            ),
        }
    }

    /// Every component times a scalar.
    pub(super) fn scaled(&mut self, value: Value, by: Quantity) -> Value {
        let mut times = |q: Quantity| Quantity::new(self.graph.mul(q.expr, by.expr), q.dim.times(&by.dim, 1.0));
        match value {
            Value::Scalar(q) => Value::Scalar(times(q)),
            Value::Vector(v) => Value::Vector(v.into_iter().map(times).collect()),
            Value::Generalized(g) => Value::Generalized(g.into_iter().map(|(k, q)| (k, times(q))).collect()),
        }
    }

    fn power(&mut self, base: &Formula, exponent: &Formula) -> Lowering<Value> {
        let value = self.formula(base)?;
        if !matches!(value, Value::Scalar(_)) {
            return self.report(
                Diagnostic::error("Z106", format!("a power of {}", value.word()))
                    .at(base.span, "not a scalar")
                    .help("write |v|^2 or dot(v, v)"),
            );
        }
        let base_value = self.as_scalar(value, base.span)?;
        let power = self.scalar(exponent)?;
        let dim = match self.graph.constant_value(power.expr) {
            Some(e) if e.is_finite() => base_value.dim.power(e),
            _ => {
                self.pure_number(&base_value.dim, base.span, "the base of a variable power")?;
                self.pure_number(&power.dim, exponent.span, "an exponent")?;
                Dim::default()
            }
        };
        Ok(Value::Scalar(Quantity::new(self.graph.pow(base_value.expr, power.expr), dim)))
    }

    /// Requires a pure number; a power of time, in seconds, is accepted, so that `sin(t)` can be written.
    pub(super) fn pure_number(&mut self, dim: &Dim, span: Span, what: &str) -> Lowering<()> {
        if self.dimensions.is_power_of_time(dim, &self.dims.time) {
            return Ok(());
        }
        match self.dimensions.unify(dim, &Dim::default(), span) {
            Ok(()) => Ok(()),
            Err(clash) => self.report_clash(*clash, span, span, &format!("{what} must be a pure number")),
        }
    }

    fn vector(&mut self, parts: &[Formula], span: Span) -> Lowering<Value> {
        if parts.len() > 3 {
            return self.report(
                Diagnostic::error("Z106", format!("a vector has two or three components, not {}", parts.len()))
                    .at(span, "too many"),
            );
        }
        let values = self.each(parts.iter())?;
        let scalars = values.into_iter().zip(parts).map(|(value, part)| self.as_scalar(value, part.span));
        Ok(Value::Vector(scalars.collect::<Lowering<Vec<_>>>()?))
    }

    /// |v|: absolute value of a scalar, length of a vector.
    pub(super) fn length(&mut self, value: Value, span: Span) -> Lowering<Value> {
        if let Value::Scalar(q) = value {
            return Ok(Value::Scalar(Quantity::new(self.graph.apply(Function::Abs, q.expr), q.dim)));
        }
        let parts = value.components();
        let dim = self.common_dimension(&parts, span)?;
        let squares: Vec<Expr> = parts.iter().map(|q| self.graph.powi(q.expr, 2)).collect();
        let sum = self.graph.sum(&squares);
        Ok(Value::Scalar(Quantity::new(self.graph.sqrt(sum), dim)))
    }

    /// The common dimension of all components; zeros fit any dimension.
    pub(super) fn common_dimension(&mut self, parts: &[Quantity], span: Span) -> Lowering<Dim> {
        let mut common: Option<Dim> = None;
        for part in parts.iter().filter(|q| q.expr != Expr::ZERO) {
            if let Some(common) = &common {
                self.same_dimension((common, span), (&part.dim, span), "a length over components of different units")?;
            }
            common = Some(part.dim.clone());
        }
        Ok(common.unwrap_or_else(|| self.dimensions.unknown(None)))
    }

    /// The total time derivative of order `primes`.
    pub(super) fn primed(&mut self, value: Value, primes: u32, span: Span) -> Lowering<Value> {
        if primes > 3 {
            return self.report(
                Diagnostic::error("Z404", "more than two derivatives")
                    .at(span, "too many primes")
                    .help("x' is the velocity, x'' the acceleration"),
            );
        }
        let mut rate = |q: Quantity| -> Lowering<Quantity> {
            let mut expr = q.expr;
            for _ in 0..primes {
                expr = match self.graph.rate(expr) {
                    Ok(rate) => rate,
                    Err(no_rate) => {
                        let name = self.graph.name(no_rate.0).to_string();
                        return self.report(
                            Diagnostic::error("Z404", format!("the rate of `{name}` is not part of a model"))
                                .at(span, "differentiated once too often")
                                .help("positions, velocities and accelerations are; a third derivative is not"),
                        );
                    }
                };
            }
            Ok(Quantity::new(expr, q.dim.times(&self.dims.time, -f64::from(primes))))
        };
        Ok(match value {
            Value::Scalar(q) => Value::Scalar(rate(q)?),
            Value::Vector(v) => Value::Vector(v.into_iter().map(rate).collect::<Lowering<Vec<_>>>()?),
            Value::Generalized(g) => {
                let parts = g.into_iter().map(|(k, q)| Ok((k, rate(q)?)));
                Value::Generalized(parts.collect::<Lowering<Vec<_>>>()?)
            }
        })
    }

    /// A comparison as its sign and two sides.
    pub(super) fn comparison(&mut self, condition: &Formula) -> Lowering<(Comparison, Expr, Expr)> {
        let FormulaKind::Compare(sign, left, right) = &condition.kind else {
            return self.misplaced("this", "where no comparison is expected", condition.span);
        };
        let (a, b) = (self.scalar(left)?, self.scalar(right)?);
        self.same_dimension((&a.dim, left.span), (&b.dim, right.span), "a comparison of different things")?;
        let comparison = match *sign {
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            _ => Comparison::GreaterOrEqual,
        };
        Ok((comparison, a.expr, b.expr))
    }

    fn choice(&mut self, condition: &Formula, then: &Formula, otherwise: &Formula) -> Lowering<Value> {
        let (comparison, left, right) = self.comparison(condition)?;
        if let (Some(left), Some(right)) = (self.graph.constant_value(left), self.graph.constant_value(right)) {
            // `if k > 1 then 1/(k - 1) else 0` in a family: the other branch belongs to other members
            return self.formula(if comparison.holds(&left, &right) { then } else { otherwise });
        }
        let (a, b) = (self.formula(then), self.formula(otherwise));
        let (a, b) = (a?, b?);
        if std::mem::discriminant(&a) != std::mem::discriminant(&b) {
            return self.report(
                Diagnostic::error("Z106", format!("one branch is {}, the other {}", a.word(), b.word()))
                    .at(otherwise.span, b.word())
                    .and_at(then.span, a.word()),
            );
        }
        let mut choose = |a: Quantity, b: Quantity| -> Lowering<Quantity> {
            if a.expr != Expr::ZERO && b.expr != Expr::ZERO {
                self.same_dimension((&a.dim, then.span), (&b.dim, otherwise.span), "two branches differ")?;
            }
            let dim = if a.expr == Expr::ZERO { b.dim } else { a.dim };
            Ok(Quantity::new(self.graph.select(comparison, left, right, a.expr, b.expr), dim))
        };
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => Ok(Value::Scalar(choose(a, b)?)),
            (Value::Vector(a), Value::Vector(b)) if a.len() == b.len() => {
                let parts = a.into_iter().zip(b).map(|(a, b)| choose(a, b));
                Ok(Value::Vector(parts.collect::<Lowering<Vec<_>>>()?))
            }
            (Value::Generalized(a), Value::Generalized(b)) => {
                // a coordinate that only one branch acts on has zero force in the other
                let zero = |dim: &Dim| Quantity::new(Expr::ZERO, dim.clone());
                let find =
                    |list: &[(usize, Quantity)], k: usize| list.iter().find(|(j, _)| *j == k).map(|(_, q)| q.clone());
                let mut coordinates: Vec<usize> = a.iter().chain(&b).map(|(k, _)| *k).collect();
                coordinates.sort_unstable();
                coordinates.dedup();
                let mut parts = Vec::new();
                for k in coordinates {
                    let (x, y) = (find(&a, k), find(&b, k));
                    let dim = x.as_ref().or(y.as_ref()).map_or(Dim::default(), |q| q.dim.clone());
                    parts.push((k, choose(x.unwrap_or_else(|| zero(&dim)), y.unwrap_or_else(|| zero(&dim)))?));
                }
                Ok(Value::Generalized(parts))
            }
            (_, b) => self.report(
                Diagnostic::error("Z106", "the two branches have different sizes")
                    .at(otherwise.span, b.word())
                    .help("give both branches the same number of components"),
            ),
        }
    }

    fn sum_over(&mut self, index: &Name, from: &Formula, to: &Formula, body: &Formula, span: Span) -> Lowering<Value> {
        let (from, to) = (self.integer(from)?, self.integer(to)?);
        // every term is a step of work, so that too many are known before the first
        let n_terms = to.saturating_sub(from).saturating_add(1);
        self.allow_terms(n_terms, 1, limits::WORK, span)?;
        let name = canonical(&index.text);
        let mut total: Option<Value> = None;
        for k in from..=to {
            let before = self.work;
            self.spend(span)?;
            let number = Value::Scalar(Quantity::new(self.graph.integer(k), Dimension::NONE.into()));
            self.locals.push((name.clone(), number));
            let term = self.formula(body);
            self.locals.pop();
            let term = term?;
            if k == from {
                // the terms of an inner sum may become fewer, at most to none: on average to half
                self.allow_terms(n_terms, self.work - before, 2 * limits::WORK, span)?;
            }
            total = Some(match total {
                None => term,
                Some(total) => self.added(total, term, (body.span, body.span))?,
            });
        }
        let zero = || Value::Scalar(Quantity::new(Expr::ZERO, self.dimensions.unknown(None)));
        Ok(total.unwrap_or_else(zero))
    }

    /// Fails if terms of this many parts each exceed a number of parts.
    fn allow_terms(&mut self, n_terms: i64, n_parts: usize, most: usize, span: Span) -> Lowering<()> {
        if n_terms.max(0) as u64 <= (most / n_parts.max(1)) as u64 {
            return Ok(());
        }
        let each = if n_parts > 1 { format!(" of {n_parts} parts each") } else { String::new() };
        self.report(
            Diagnostic::error("Z009", format!("the sum has {n_terms} terms{each}"))
                .at(span, format!("at most {} parts are possible", limits::WORK))
                .help("use a closed form of the sum, or fewer terms"),
        )
    }
}

/// `true` if a literal factor is a pure number because of its place: the divisor 2, and 1 divided by it.
///
/// Any other number without a unit may be a quantity whose unit was omitted, as in `force x: -3*x`.
fn is_pure(factors: &[(bool, Formula)], k: usize) -> bool {
    let is = |k: usize, number: &str, divides: bool| {
        factors
            .get(k)
            .is_some_and(|(d, f)| *d == divides && matches!(&f.kind, FormulaKind::Number(written) if written == number))
    };
    is(k, "2", true) || is(k, "1", false) && is(k + 1, "2", true)
}

/// Z402: a constant without a finite value, at every state.
fn no_value(message: &str, span: Span, label: &str) -> Diagnostic {
    Diagnostic::error("Z402", message).at(span, label).with_note("it is so at every state and time")
}
