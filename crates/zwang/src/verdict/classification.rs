//! The kind of each constraint, found and never declared: KU94, conclusion 4.

use zwang_expr::{Expr, Graph, Node, Program};

use crate::equations::Equations;
use crate::model::{Constraint, Level, Load, Model};
use crate::random::scattered;
use crate::switches::switches_by;

/// Whether time stands in a constraint.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Time {
    /// It does not.
    Scleronomic,
    /// It does.
    Rheonomic,
}

/// How a constraint depends on the velocities once it is differentiated to that level.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Velocity {
    /// Linear and homogeneous: rest is always allowed.
    Catastatic,
    /// Linear with a further term: rest may be forbidden.
    Acatastatic,
    /// Not linear.
    Nonlinear,
}

/// What one constraint is.
#[derive(Clone, Debug)]
pub struct Classification {
    /// The constraint's name.
    pub name: String,
    /// How many scalar equations it has.
    pub n_rows: usize,
    /// The highest derivative its rows contain.
    pub level: Level,
    /// Scleronomic or rheonomic.
    pub time: Time,
    /// Catastatic, acatastatic or nonlinear; none for rows on accelerations.
    pub velocity: Option<Velocity>,
    /// Whether its force does no work on virtual displacements.
    pub ideal: bool,
    /// Whether it comes from a position constraint; none where that is not decided.
    pub integrable: Option<bool>,
    /// Whether the motion changes without it; none where that is not decided.
    pub essential: Option<bool>,
}

impl Classification {
    /// `holonomic`, `nonholonomic` or `acceleration`, as written.
    pub fn kind(&self) -> &'static str {
        match self.level {
            Level::Position => "holonomic",
            Level::Velocity => "nonholonomic",
            Level::Acceleration => "acceleration",
        }
    }
}

impl Time {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Time::Scleronomic => "scleronomic",
            Time::Rheonomic => "rheonomic",
        }
    }
}

impl Velocity {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Velocity::Catastatic => "catastatic",
            Velocity::Acatastatic => "acatastatic",
            Velocity::Nonlinear => "nonlinear",
        }
    }
}

/// The kind of every constraint.
pub fn classify(equations: &mut Equations) -> Vec<Classification> {
    let rest: std::collections::HashMap<Expr, Expr> =
        equations.model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
    let velocities: rustc_hash::FxHashSet<Expr> = rest.keys().copied().collect();
    let mut kinds: Vec<Classification> = equations
        .model
        .constraints
        .iter()
        .map(|c| Classification {
            name: c.name.clone(),
            n_rows: c.rows.len(),
            level: c.rows.iter().map(|r| r.level).max().unwrap_or(Level::Position),
            time: Time::Scleronomic,
            velocity: None,
            ideal: c.friction.is_none() && !does_work(&equations.model, c),
            integrable: None,
            essential: None,
        })
        .collect();
    for k in 0..equations.rows.len() {
        let row = &equations.rows[k];
        let graph = &mut equations.model.graph;
        let kind = &mut kinds[row.constraint];
        let timed = depends_on(graph, row.residual, equations.model.time);
        if timed {
            kind.time = Time::Rheonomic;
        }
        let Some(rate) = row.rate else { continue };
        let velocity = if row.level == Level::Position && !timed {
            // φ̇ = φ_q q̇
            Velocity::Catastatic
        } else {
            let coefficients: Vec<Expr> = row.coefficients.iter().map(|(_, a)| *a).collect();
            let linear = is_free_of(graph, &coefficients, &velocities);
            let at_rest = graph.substitute(&[rate], &rest)[0];
            match linear {
                false => Velocity::Nonlinear,
                true if vanishes(graph, at_rest) && !switches_by(graph, &[at_rest], |s| s == equations.model.time) => {
                    Velocity::Catastatic
                }
                true => Velocity::Acatastatic,
            }
        };
        // a vector constraint is as bad as its worst row
        let order = |v: Option<Velocity>| v.map_or(0, |v| v as usize + 1);
        if order(Some(velocity)) > order(kind.velocity) {
            kind.velocity = Some(velocity);
        }
    }
    kinds.iter_mut().for_each(|k| k.integrable = (k.level == Level::Position).then_some(true));
    kinds
}

/// Whether an expression contains a symbol that does not cancel.
pub(crate) fn depends_on(graph: &mut Graph, e: Expr, symbol: Expr) -> bool {
    if graph.symbols(e).binary_search(&symbol).is_err() {
        return false;
    }
    let slope = graph.derivative(e, symbol);
    // a step has no slope
    !(slope == Expr::ZERO || vanishes(graph, slope)) || switches_by(graph, &[e], |s| s == symbol)
}

/// Whether expressions contain none of the symbols, or only such that cancel.
fn is_free_of(graph: &mut Graph, exprs: &[Expr], symbols: &rustc_hash::FxHashSet<Expr>) -> bool {
    exprs.iter().all(|&e| {
        let slopes = graph.gradient_in(e, |s| symbols.contains(&s));
        slopes.into_iter().all(|(_, slope)| vanishes(graph, slope))
    })
}

/// Whether a nonideal law belongs to a constraint: it contains a reaction of it, or none at all and so may be any's.
fn does_work(model: &Model, constraint: &Constraint) -> bool {
    let belongs = |load: &Load| {
        let parts: Vec<Expr> = match load {
            Load::Coordinate(_, force) => vec![*force],
            Load::Point(_, parts) | Load::Torque(_, parts) => parts.clone(),
        };
        let used = model.graph.symbols_of(&parts);
        let has = |c: &Constraint| c.rows.iter().any(|r| used.contains(&r.lambda));
        has(constraint) || !model.constraints.iter().any(has)
    };
    model.nonideal.iter().any(belongs)
}

/// Whether an expression vanishes identically: by construction, or at a few arbitrary states but for rounding.
///
/// A product vanishes with one of its factors; a sum is compared with the sizes of its terms.
pub(crate) fn vanishes(graph: &Graph, expr: Expr) -> bool {
    let (mut factors, mut open) = (Vec::new(), vec![expr]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Mul(a, b) => open.extend([a, b]),
            _ => factors.push(e),
        }
    }
    factors.into_iter().any(|factor| factor == Expr::ZERO || sum_vanishes(graph, factor))
}

/// Values of expressions at a few scattered places, those left out at which some have none.
pub(crate) fn samples(graph: &Graph, expressions: &[Expr]) -> Vec<Vec<f64>> {
    let mut symbols: Vec<Expr> = expressions.iter().flat_map(|e| graph.symbols(*e)).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let Ok(program) = Program::new(graph, &symbols, expressions) else { return Vec::new() };
    let (mut work, mut values) = (program.workspace(), vec![0.0; expressions.len()]);
    let mut at = |k: usize| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.4 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        values.clone()
    };
    (1..4).map(&mut at).filter(|values| values.iter().all(|v| v.is_finite())).collect()
}

fn sum_vanishes(graph: &Graph, expr: Expr) -> bool {
    let (mut terms, mut open) = (Vec::new(), vec![expr]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            Node::Add(a, b) => open.extend([a, b]),
            _ => terms.push(e),
        }
    }
    let symbols = graph.symbols(expr);
    let Ok(program) = Program::new(graph, &symbols, &terms) else { return false };
    let (mut work, mut values) = (program.workspace(), vec![0.0; terms.len()]);
    let mut looks_zero = |k: usize| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.4 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        let (sum, size) = values.iter().fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
        // rounding of a handful of operations on terms of that size
        sum.abs() <= 1e-12 * size
    };
    terms.len() > 1 && (1..4).all(&mut looks_zero)
}
