//! Hidden constraints: conditions that several constraints imply and none states.
//!
//! Dependent rows agree at the start, or there would be no start. If they disagree at other states that satisfy all
//! stated conditions there, a further condition holds along every motion: ẋ = y and x = 0 imply y = 0.

use std::collections::HashMap;

use zwang_expr::{Expr, Graph, Node};
use zwang_motion::{Dependence, Dynamics, Settings, State};

use crate::analysis::start::{joined, nearby_positions, positions_clash, velocities_at};
use crate::analysis::{Contradiction, Evidence, Redundant};
use crate::compile::evaluator::Evaluator;
use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Level;
use crate::quantity::{rounded, with_unit};
use crate::{
    analysis::constraints::contradiction::{has_time, of_accelerations},
    limits, tolerance,
};

/// Rows that together imply a condition which none of them states.
pub(crate) struct HiddenConstraint {
    /// Z308.
    pub(crate) warning: Diagnostic,
    /// The names of the rows.
    names: Vec<String>,
}

impl HiddenConstraint {
    fn new(warning: Diagnostic, found: &Contradiction) -> HiddenConstraint {
        HiddenConstraint { warning, names: found.clashes.iter().map(|c| c.name.clone()).collect() }
    }

    /// `true` if a redundant row has no part in the hidden constraint.
    pub(crate) fn leaves(&self, r: &Redundant) -> bool {
        r.evidence == Evidence::Proved && !self.names.contains(&r.row)
    }
}

/// Z308: rows that depend on each other at the start and disagree at other states on the constraints.
pub(crate) fn further_condition(
    equations: &mut Equations,
    system: &mut Evaluator,
    state: &State,
    here: &Dependence,
    settings: &Settings,
) -> Option<HiddenConstraint> {
    let involved = involved(here);
    if state.q.len() > limits::OTHER_STATES_COORDINATES || !may_hide(equations, &involved) {
        return None;
    }
    let is_part = |found: &Contradiction| found.clashes.iter().all(|clash| involved.contains(&clash.row));
    let found =
        (0..limits::HIDDEN_STATES).find_map(|attempt| disagreement(equations, system, state, settings, (attempt, 0.0)));
    if let Some(found) = found {
        return is_part(&found)
            .then(|| HiddenConstraint::new(warning(equations, system, state, &found, settings), &found));
    }
    // rows that disagree only because of the time imply nothing about the state: they agree now and not later
    let is_timed = involved.iter().any(|&i| has_time(equations, equations.rows[i].residual));
    let after = LATER * equations.model.horizon();
    let later = if is_timed { disagreement(equations, system, state, settings, (0, after)) } else { None };
    let found = later.filter(is_part)?;
    Some(HiddenConstraint::new(parting(equations, (state.t, state.t + after), &found), &found))
}

/// The time after the start at which constraints that contain the time are tested again, as a fraction of the run.
const LATER: f64 = 0.1;

/// Z308: rows that agree at the start and not a little later.
fn parting(equations: &Equations, (now, later): (f64, f64), found: &Contradiction) -> Diagnostic {
    let names: Vec<String> = found.clashes.iter().take(6).map(|c| format!("`{}`", c.name)).collect();
    let (now, later) = (rounded(now, 6), rounded(later, 6));
    let message = format!("constraints {} agree at t = {now} but not at t = {later}", joined(&names));
    places(Diagnostic::warning("Z308", message), equations, found)
        .with_note("a run ends with Z301 where they part")
        .help("make them agree at all times, or drop one of them")
}

/// Dependent rows and the rows they depend on.
fn involved(here: &Dependence) -> Vec<usize> {
    let rows = here.dependent.iter().flat_map(|(row, terms)| terms.iter().map(|(k, _)| *k).chain([*row]));
    let mut rows: Vec<usize> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// `true` if rows may imply a hidden constraint. Position constraints without the time do not: at rest they all agree.
fn may_hide(equations: &Equations, rows: &[usize]) -> bool {
    rows.iter().any(|&i| {
        let row = &equations.rows[i];
        row.level != Level::Position || has_time(equations, row.residual)
    })
}

/// A contradiction at another state that satisfies all conditions stated one level below.
fn disagreement(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
    (attempt, later): (usize, f64),
) -> Option<Contradiction> {
    let loose = Settings {
        contradiction_tolerance: tolerance::CLEAR_DISAGREEMENT,
        projection_tolerance: tolerance::CLEAR_DISAGREEMENT,
        ..settings.clone()
    };
    let Some(positions) = nearby_positions(equations, state, settings, attempt, later) else {
        let then = State { t: state.t + later, ..state.clone() };
        return if later > 0.0 { positions_clash(equations, &then, settings) } else { None };
    };
    let other = match velocities_at(equations, &positions, &loose, settings) {
        Ok(other) => other,
        Err(found) => return Some(*found),
    };
    of_accelerations(equations, system, &other, &loose)
}

fn warning(
    equations: &mut Equations,
    system: &mut Evaluator,
    state: &State,
    found: &Contradiction,
    settings: &Settings,
) -> Diagnostic {
    let names: Vec<String> = found.clashes.iter().take(6).map(|c| format!("`{}`", c.name)).collect();
    let rows: Vec<usize> = found.clashes.iter().map(|c| c.row).collect();
    let written = condition(equations, system, state, &rows, found.level, settings);
    let message = match &written {
        Some(text) => format!("constraints {} together imply {text} = 0, which no constraint states", joined(&names)),
        None => {
            format!("constraints {} together imply a further condition, which no constraint states", joined(&names))
        }
    };
    let mut d = places(Diagnostic::warning("Z308", message), equations, found);
    let off = found
        .clashes
        .iter()
        .find_map(|c| Some(format!(": `{}` is off by {}", c.name, with_unit(c.residual?.abs(), c.dimension))));
    d = d.with_note(format!(
        "it holds at the start; nearby, where it does not, no {} satisfy them together{}",
        found.unknowns(),
        off.unwrap_or_default()
    ));
    d = d.with_note("no force keeps the motion on it: a run that leaves it ends with Z301");
    match written {
        Some(text) => d.help(format!("state it:   constraint further: {text} = 0")),
        None => d.help("state the condition as a constraint of its own"),
    }
}

/// Adds a label at the place of each row to a diagnostic.
fn places(mut d: Diagnostic, equations: &Equations, found: &Contradiction) -> Diagnostic {
    let mut spans = Vec::new();
    for clash in &found.clashes {
        let span = equations.model.constraints[equations.rows[clash.row].constraint].span;
        if !spans.contains(&span) {
            d = if spans.is_empty() { d.at(span, "one of them") } else { d.and_at(span, "one of them") };
            spans.push(span);
        }
    }
    d
}

/// The condition as a formula, if the rows enter it with simple constant factors.
fn condition(
    equations: &mut Equations,
    system: &mut Evaluator,
    state: &State,
    rows: &[usize],
    level: Level,
    settings: &Settings,
) -> Option<String> {
    let weights = weights(system, state, rows)?;
    let elsewhere = nearby_positions(equations, state, settings, limits::HIDDEN_STATES, 0.0).and_then(|other| {
        let other = State { qdot: state.qdot.iter().map(|v| v + 0.1).collect(), ..other };
        self::weights(system, &other, rows)
    });
    // factors that vary are either not simple at the other state or different there
    if elsewhere? != weights {
        return None;
    }
    let model = &mut equations.model;
    let at_rest: HashMap<Expr, Expr> = model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
    let mut terms = Vec::new();
    for (&row, &weight) in rows.iter().zip(&weights) {
        let row = &equations.rows[row];
        let part = if level == Level::Acceleration { row.rhs } else { row.rate? };
        let factor = model.graph.integer(weight);
        terms.push(model.graph.mul(factor, part));
    }
    let sum = model.graph.sum(&terms);
    // velocities cancel at their own level
    let sum = if level == Level::Acceleration { sum } else { model.graph.substitute(&[sum], &at_rest)[0] };
    let sum = root(&model.graph, sum);
    let text = model.graph.text_limited(sum, limits::FORMULA_CHARACTERS)?;
    if !text.starts_with('-') {
        return Some(text);
    }
    let opposite = model.graph.neg(sum);
    model.graph.text_limited(opposite, limits::FORMULA_CHARACTERS)
}

/// The expression that must vanish for a power, or a number times it, to vanish: y for 2 y².
fn root(graph: &Graph, mut e: Expr) -> Expr {
    loop {
        e = match graph.node(e) {
            Node::Mul(a, b) if graph.constant_value(a).is_some_and(|x| x != 0.0) => b,
            Node::Mul(a, b) if graph.constant_value(b).is_some_and(|x| x != 0.0) => a,
            Node::Mul(a, b) if a == b => a,
            Node::Pow(a, n) if graph.constant_value(n).is_some_and(|n| n > 0.0) => a,
            _ => return e,
        };
    }
}

/// y with yᵀA = 0 on these rows, as small integers.
fn weights(system: &mut Evaluator, state: &State, rows: &[usize]) -> Option<Vec<i64>> {
    /// The largest common denominator that counts as simple.
    const LARGEST: i64 = 60;
    let mut given = system.allocate();
    system.fill(state, &mut given).ok()?;
    let part = given.constraint_matrix.rows(rows);
    let found = zwang_motion::dependence(&part, &Settings::default()).ok()?;
    let [(last, terms)] = &found.dependent[..] else { return None };
    let mut y = vec![0.0; rows.len()];
    y[*last] = -1.0;
    terms.iter().for_each(|&(k, c)| y[k] = c);
    let least = y.iter().fold(f64::INFINITY, |least: f64, y| least.min(y.abs()));
    // scaled by the smallest factor; factors beyond a million times it are not simple
    let scaled = |d: i64| y.iter().map(move |y| y / least * d as f64);
    let is_whole =
        |d: &i64| scaled(*d).all(|y| y.abs() < 1e6 && (y - y.round()).abs() < tolerance::ELIMINATED * y.abs());
    let d = (1..=LARGEST).find(is_whole)?;
    Some(scaled(d).map(|y| y.round() as i64).collect())
}
