//! Position constraints that follow from velocity rows: an integral keeps its value at the start.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph, Node};
use zwang_motion::{Settings, State};

use crate::analysis::start::StartProjector;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Level;
use crate::{analysis::check::Check, tolerance};

/// The reachable positions: the equations with the integrals of velocity rows among their position rows.
pub(super) struct IntegralManifold {
    /// Φ − c for each integral.
    pub(super) functions: Vec<Expr>,
    /// The equations with the integrals; `None` if there are no integrals.
    equations: Option<Equations>,
    mover: StartProjector,
}

impl IntegralManifold {
    pub(super) fn new(check: &mut Check) -> IntegralManifold {
        let functions = functions(check);
        if functions.is_empty() {
            return IntegralManifold { functions, equations: None, mover: StartProjector::default() };
        }
        let mut equations = check.equations.clone();
        let rows: Vec<ConstraintRow> = functions.iter().filter_map(|&e| row(&mut equations, e)).collect();
        equations.rows.splice(0..0, rows);
        IntegralManifold { functions, equations: Some(equations), mover: StartProjector::default() }
    }

    /// The state projected onto the constraints and brought to rest; `None` if they forbid that.
    pub(super) fn at_rest(&mut self, check: &Check, state: State, settings: &Settings) -> Option<State> {
        let equations = self.equations.as_ref().unwrap_or(&check.equations);
        let there = self.mover.moved(equations, State { qdot: vec![0.0; state.q.len()], ..state }, settings, true)?;
        let is_still = there.qdot.iter().all(|v| v.abs() <= tolerance::ROUNDING);
        is_still.then(|| State { qdot: vec![0.0; there.q.len()], ..there })
    }
}

/// Φ − c of every integral that was found in closed form, in the graph of the model.
fn functions(check: &mut Check) -> Vec<Expr> {
    let Check { integrability, equations, .. } = check;
    let graph = &mut equations.model.graph;
    let mut found = Vec::new();
    for integral in &integrability.integrals {
        let (Some((from, function)), Some(value)) = (&integral.function, integral.value) else { continue };
        let mut known = FxHashMap::default();
        let (Some(function), Some(constant)) =
            (copied(from, graph, *function, &mut known), graph.decimal(&format!("{value:e}")))
        else {
            continue;
        };
        found.push(graph.sub(function, constant));
    }
    found
}

/// An expression of one graph in another with the same symbols and tables; `None` if it contains a table or an `if`.
fn copied(from: &Graph, into: &mut Graph, e: Expr, known: &mut FxHashMap<Expr, Expr>) -> Option<Expr> {
    if let Some(done) = known.get(&e) {
        return Some(*done);
    }
    let mut of = |into: &mut Graph, x: Expr| copied(from, into, x, known);
    let new = match from.node(e) {
        Node::Number(_) => into.exact(from.number(e)?.clone()),
        Node::Pi => into.pi(),
        // symbols existed before the graphs were separated
        Node::Symbol(_) => e,
        Node::Add(a, b) => {
            let (a, b) = (of(into, a)?, of(into, b)?);
            into.add(a, b)
        }
        Node::Mul(a, b) => {
            let (a, b) = (of(into, a)?, of(into, b)?);
            into.mul(a, b)
        }
        Node::Pow(a, b) => {
            let (a, b) = (of(into, a)?, of(into, b)?);
            into.pow(a, b)
        }
        Node::Apply(function, x) => {
            let x = of(into, x)?;
            into.apply(function, x)
        }
        Node::Apply2(function, x, y) => {
            let (x, y) = (of(into, x)?, of(into, y)?);
            into.apply2(function, x, y)
        }
        Node::Look(..) | Node::Select { .. } => return None,
    };
    known.insert(e, new);
    Some(new)
}

/// A function of positions as a row, with the name and multiplier of the first row.
fn row(equations: &mut Equations, residual: Expr) -> Option<ConstraintRow> {
    let first = equations.rows.first()?.clone();
    let model = &mut equations.model;
    let rate = model.graph.rate(residual);
    let mut coefficients = Vec::new();
    for (k, c) in model.coordinates.iter().enumerate() {
        let derivative = model.graph.derivative(residual, c.q);
        if derivative != Expr::ZERO {
            coefficients.push((k, derivative));
        }
    }
    Some(ConstraintRow {
        level: Level::Position,
        residual,
        rate: Some(rate.ok()?),
        coefficients,
        rhs: Expr::ZERO,
        ..first
    })
}
