//! Velocity constraints that are position constraints in disguise.

use std::collections::HashMap;

use zwang_expr::{Expr, Function, Graph, Node};
use zwang_motion::State;

use super::classification::{Classification, Velocity, vanishes};
use crate::diagnostic::Diagnostic;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Level;
use crate::quantity::number;
use crate::system::System;

/// A velocity row that is the rate of a position constraint.
pub struct ExactRow {
    row: usize,
    /// The left side of that constraint, where it was found.
    potential: Option<Expr>,
}

/// Marks rows that are exact, and finds the position constraints they are the rates of.
///
/// A row Σ aᵢ q̇ᵢ + a₀ is exact if ∂aᵢ/∂qⱼ = ∂aⱼ/∂qᵢ and ∂aᵢ/∂t = ∂a₀/∂qᵢ. Rows that only an integrating factor
/// or a combination of rows makes exact are not looked for here, so other rows stay undecided.
pub fn exact_rows(equations: &mut Equations, kinds: &mut [Classification]) -> Vec<ExactRow> {
    let mut found = Vec::new();
    let mut n_exact = vec![0; kinds.len()];
    let rest: HashMap<Expr, Expr> = equations.model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
    for k in 0..equations.rows.len() {
        let row = equations.rows[k].clone();
        let kind = &mut kinds[row.constraint];
        if row.level != Level::Velocity || kind.velocity == Some(Velocity::Nonlinear) {
            continue;
        }
        // a₀: what is left at rest
        let a0 = equations.model.graph.substitute(&[row.residual], &rest)[0];
        if !is_exact(equations, &row, a0) {
            continue;
        }
        // a vector constraint is integrable if all its rows are
        n_exact[row.constraint] += 1;
        if n_exact[row.constraint] == kind.n_rows {
            kind.integrable = Some(true);
        }
        found.push(ExactRow { row: k, potential: potential(equations, &row, a0) });
    }
    found
}

/// Z311: the position constraint that a row is the rate of, as a line to paste where the start is known.
pub fn exact_note(equations: &Equations, exact: &ExactRow, start: Option<(&System, &State)>) -> Diagnostic {
    let (model, row) = (&equations.model, &equations.rows[exact.row]);
    let name = &row.name;
    let text = exact.potential.map(|p| model.graph.text(p));
    let message = match &text {
        Some(text) => format!("constraint `{name}` can be integrated: it is the rate of   {text} = const"),
        None => format!("constraint `{name}` can be integrated: it comes from a position constraint"),
    };
    let d = Diagnostic::note("Z311", message)
        .at(model.constraints[row.constraint].span, "a total time derivative")
        .with_note("written as a position constraint it cannot drift");
    let value = start.and_then(|(system, state)| Some(system.evaluate(model, state, &[exact.potential?])?[0]));
    match (text, value) {
        (Some(text), Some(value)) => d.help(format!("constraint {name}: {text} = {}", number(value))),
        (Some(text), None) => d.help(format!("constraint {name}: {text} = …   with the value it has at the start")),
        (None, _) => d.help("find the function whose rate it is, and write that as the constraint"),
    }
}

fn is_exact(equations: &mut Equations, row: &ConstraintRow, a0: Expr) -> bool {
    let model = &mut equations.model;
    let coordinates: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
    let graph = &mut model.graph;
    let derivative = |graph: &mut Graph, e: Expr, s: Expr| graph.derivative(e, s);
    let coefficient = |j: usize| row.coefficients.iter().find(|(k, _)| *k == j).map_or(Expr::ZERO, |(_, a)| *a);
    // only coordinates that occur can spoil exactness
    let mut all: Vec<Expr> = row.coefficients.iter().map(|(_, a)| *a).collect();
    all.push(a0);
    let free = graph.symbols_of(&all);
    let occurring: Vec<usize> = (0..coordinates.len())
        .filter(|&j| free.binary_search(&coordinates[j]).is_ok() || coefficient(j) != Expr::ZERO)
        .collect();
    for (position, &i) in occurring.iter().enumerate() {
        for &j in &occurring[position + 1..] {
            let left = derivative(graph, coefficient(i), coordinates[j]);
            let right = derivative(graph, coefficient(j), coordinates[i]);
            let difference = graph.sub(left, right);
            if !vanishes(graph, difference) {
                return false;
            }
        }
        let left = derivative(graph, coefficient(i), model.time);
        let right = derivative(graph, a0, coordinates[i]);
        let difference = graph.sub(left, right);
        if !vanishes(graph, difference) {
            return false;
        }
    }
    true
}

/// φ with φ̇ = Σ aᵢ q̇ᵢ + a₀, found variable by variable: φ ← φ + ∫ (aᵢ − ∂φ/∂qᵢ) dqᵢ; none if an integral is not simple.
fn potential(equations: &mut Equations, row: &ConstraintRow, a0: Expr) -> Option<Expr> {
    let model = &mut equations.model;
    let graph = &mut model.graph;
    let mut wanted: Vec<(Expr, Expr)> = row.coefficients.iter().map(|(k, a)| (model.coordinates[*k].q, *a)).collect();
    wanted.push((model.time, a0));
    let mut phi = Expr::ZERO;
    for (variable, a) in wanted {
        let known = graph.derivative(phi, variable);
        let open = graph.sub(a, known);
        if !vanishes(graph, open) {
            let part = antiderivative(graph, open, variable)?;
            phi = graph.add(phi, part);
        }
    }
    // whatever the integrals were, the rate decides
    let rate = graph.rate(phi).ok()?;
    let difference = graph.sub(rate, row.residual);
    vanishes(graph, difference).then_some(phi)
}

/// ∫ e dx for sums of c xⁿ, c sin u, c cos u and c eᵘ, with c free of x and u linear in x.
fn antiderivative(graph: &mut Graph, e: Expr, x: Expr) -> Option<Expr> {
    /// Longer integrands are not of this simple kind.
    const LONGEST: usize = 200;
    if graph.size(e) > LONGEST {
        return None;
    }
    let mut total = Expr::ZERO;
    for term in operands(graph, e, |node| matches!(node, Node::Add(..))) {
        let factors = operands(graph, term, |node| matches!(node, Node::Mul(..)));
        let (with, without): (Vec<Expr>, Vec<Expr>) =
            factors.into_iter().partition(|f| graph.symbols(*f).binary_search(&x).is_ok());
        let integral = match with[..] {
            [] => x,
            [one] => simple_antiderivative(graph, one, x)?,
            _ => return None,
        };
        let constant = graph.product(&without);
        let part = graph.mul(constant, integral);
        total = graph.add(total, part);
    }
    Some(total)
}

/// ∫ f dx for f = xⁿ, sin u, cos u, eᵘ with u linear in x.
fn simple_antiderivative(graph: &mut Graph, f: Expr, x: Expr) -> Option<Expr> {
    let (base, exponent) = match graph.node(f) {
        Node::Pow(base, exponent) => (base, graph.number_value(exponent)),
        _ => (f, Some(1.0)),
    };
    if base == x {
        let n = exponent.filter(|n| n.fract() == 0.0 && n.abs() < 100.0)? as i32;
        if n == -1 {
            let size = graph.apply(Function::Abs, x);
            return Some(graph.apply(Function::Log, size));
        }
        let (power, divisor) = (graph.powi(x, n + 1), graph.integer(i64::from(n) + 1));
        return Some(graph.div(power, divisor));
    }
    let Node::Apply(function, u) = graph.node(f) else { return None };
    let slope = graph.derivative(u, x);
    if graph.symbols(slope).binary_search(&x).is_ok() {
        return None;
    }
    let outer = match function {
        Function::Sin => {
            let cos = graph.apply(Function::Cos, u);
            graph.neg(cos)
        }
        Function::Cos => graph.apply(Function::Sin, u),
        Function::Exp => f,
        _ => return None,
    };
    Some(graph.div(outer, slope))
}

/// The operands of nested sums or products, whichever `is_nested` says.
fn operands(graph: &Graph, e: Expr, is_nested: fn(Node) -> bool) -> Vec<Expr> {
    let (mut found, mut open) = (Vec::new(), vec![e]);
    while let Some(e) = open.pop() {
        match is_nested(graph.node(e)) {
            true => open.extend(graph.node(e).operands().iter()),
            false => found.push(e),
        }
    }
    found
}
