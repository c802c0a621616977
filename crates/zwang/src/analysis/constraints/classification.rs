//! The kind of each constraint, derived and never declared: KU94, conclusion 4.

use zwang_expr::{Expr, Graph};

use crate::equations::Equations;
use crate::equations::switches::switches_by;
use crate::equations::zero::is_zero;
use crate::model::{Constraint, Level, Load, Model};

/// Dependence of a constraint on the time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Time {
    /// The time does not occur.
    Scleronomic,
    /// The time occurs.
    Rheonomic,
}

/// Dependence of a constraint on the velocities, after differentiation to the velocity level.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Velocity {
    /// Linear and homogeneous: rest is always allowed.
    Catastatic,
    /// Linear with a further term: rest may be forbidden.
    Acatastatic,
    /// Not linear.
    Nonlinear,
}

/// The kind of one constraint.
#[derive(Clone, Debug)]
pub struct Classification {
    /// The constraint's name.
    pub name: String,
    /// The number of its scalar equations.
    pub n_rows: usize,
    /// The highest derivative its rows contain.
    pub level: Level,
    /// Scleronomic or rheonomic.
    pub time: Time,
    /// Catastatic, acatastatic or nonlinear; `None` for rows on accelerations.
    pub velocity: Option<Velocity>,
    /// `true` if its force does no work on virtual displacements.
    pub ideal: bool,
    /// `true` if it follows from a position constraint; `None` if that is not decided.
    pub integrable: Option<bool>,
    /// `true` if the motion changes without it; `None` if that is not decided.
    pub essential: Option<bool>,
}

impl Classification {
    /// `holonomic`, `nonholonomic` or `acceleration`, by the level as written.
    pub fn kind(&self) -> &'static str {
        match self.level {
            Level::Position => "holonomic",
            Level::Velocity => "nonholonomic",
            Level::Acceleration => "acceleration",
        }
    }
}

impl Time {
    /// The name in reports and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Time::Scleronomic => "scleronomic",
            Time::Rheonomic => "rheonomic",
        }
    }
}

impl Velocity {
    /// The name in reports and JSON.
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
                // a term that a switch in time turns on is zero before
                true if is_zero(graph, at_rest) && !switches_by(graph, &[at_rest], |s| s == equations.model.time) => {
                    Velocity::Catastatic
                }
                true => Velocity::Acatastatic,
            }
        };
        // the row of the highest kind decides for a vector constraint
        let order = |v: Option<Velocity>| v.map_or(0, |v| v as usize + 1);
        if order(Some(velocity)) > order(kind.velocity) {
            kind.velocity = Some(velocity);
        }
    }
    kinds.iter_mut().for_each(|k| k.integrable = (k.level == Level::Position).then_some(true));
    kinds
}

/// `true` if an expression contains a symbol and no proof shows that it cancels.
pub(crate) fn depends_on(graph: &mut Graph, e: Expr, symbol: Expr) -> bool {
    if graph.symbols(e).binary_search(&symbol).is_err() {
        return false;
    }
    let slope = graph.derivative(e, symbol);
    // a step has zero slope
    !(slope == Expr::ZERO || is_zero(graph, slope)) || switches_by(graph, &[e], |s| s == symbol)
}

/// `true` if expressions contain none of the symbols, or only symbols that cancel for certain.
fn is_free_of(graph: &mut Graph, exprs: &[Expr], symbols: &rustc_hash::FxHashSet<Expr>) -> bool {
    exprs.iter().all(|&e| {
        let slopes = graph.gradient_in(e, |s| symbols.contains(&s));
        slopes.into_iter().all(|(_, slope)| is_zero(graph, slope))
    })
}

/// `true` if a nonideal law belongs to a constraint: it contains one of its multipliers, or none of any constraint, so
/// that it may belong to each.
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
