//! Integrability: velocity constraints that integrate to position constraints, and the positions that the others leave
//! reachable.
//!
//! The rows are one-forms, and the distribution D is their annihilator. The dimension of D + [D, D] + … gives the
//! number of functions of the positions that stay constant (Frobenius). A row is integrable if it annihilates all of it.

mod antiderivative;
mod factors;
mod flag;
mod integrals;
mod noisy;
mod pfaffian;
mod relations;

use std::sync::Arc;

use zwang_expr::{Expr, Graph, Program};
use zwang_motion::{Dependence, Settings, State};

use crate::analysis::constraints::dependence::Dependencies;
use crate::analysis::start::joined;
use crate::diagnostic::Diagnostic;
use crate::equations::zero::{Region, is_zero_in};
use crate::equations::{ConstraintRow, Equations};
use crate::model::{Change, Level, Model};
use crate::quantity::rounded;
use crate::{
    analysis::constraints::classification::{Classification, Time},
    limits,
};
use flag::{Flag, Undecided, flag};
use integrals::{IntegralSearch, LocalIntegral};
use noisy::{Noisy, NoisySign};
use pfaffian::{Neighbourhood, Pfaffian, Sharpness, StateValues};

/// The result for position rows and velocity rows together: the positions that a motion can reach.
#[derive(Clone, Debug, Default)]
pub struct Integrability {
    /// Dimensions of D, D + [D, D], … at generic states until they stay the same; `None` if not decided or if there is
    /// no D.
    pub growth_vector: Option<Vec<usize>>,
    /// `true` if these are counted on (t, q) instead of q.
    pub with_time: bool,
    /// The number of position constraints that follow from the velocity rows in addition to the stated ones; `None` if
    /// not decided.
    pub n_integrals: Option<usize>,
    /// The integrals that were found.
    pub integrals: Vec<Integral>,
    /// The result in one sentence; empty if no row contains velocities.
    pub verdict: String,
    /// The evidence that no more directions are reached.
    pub evidence: IntegrabilityEvidence,
}

/// The evidence that brackets give no more directions.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum IntegrabilityEvidence {
    /// No velocity rows, or nothing is decided.
    #[default]
    CannotTell,
    /// Exact identities.
    Proved,
    /// It held at this many states; the coefficients act nowhere in a narrow place.
    Held(usize),
}

impl IntegrabilityEvidence {
    /// `proved`, `held` or `cannot-tell`.
    pub fn as_str(self) -> &'static str {
        match self {
            IntegrabilityEvidence::CannotTell => "cannot-tell",
            IntegrabilityEvidence::Proved => "proved",
            IntegrabilityEvidence::Held(_) => "held",
        }
    }
}

/// A position constraint that follows from velocity rows.
#[derive(Clone, Debug)]
pub struct Integral {
    /// The rows it follows from, with their multipliers as text; the text is empty if these vary with the state in an
    /// unknown way.
    pub combination: Vec<(String, String)>,
    /// The constant function.
    pub text: Option<String>,
    /// Its value at the start.
    pub value: Option<f64>,
    /// The function itself, with its graph, which has the symbols of the model.
    pub(crate) function: Option<(Arc<Graph>, Expr)>,
    rows: Vec<usize>,
    /// `true` if it follows from these rows without any others.
    alone: bool,
    /// `true` if one of these rows vanishes at the start, where the function would still constrain.
    vanishes: bool,
}

/// `true` if the velocity rows are so long that their analysis takes milliseconds.
pub(crate) fn takes_long(equations: &Equations) -> bool {
    let mut n = 0;
    equations.rows.iter().filter(|r| r.level == Level::Velocity).any(|row| {
        n += equations.model.graph.size(row.residual);
        n > limits::VELOCITY_ROW_NODES
    })
}

/// The inputs of the analysis of integrability.
pub struct ConstraintsInContext<'a> {
    /// The equations.
    pub equations: &'a Equations,
    /// The start; without one little can be decided if positions are constrained.
    pub start: Option<&'a State>,
    /// The tolerances and the seed.
    pub settings: &'a Settings,
}

/// Decides for every constraint whether it is integrable, and computes the growth vector.
///
/// Without velocity rows there are no brackets: D is tangent to φ = 0, and `positions` gives its codimension.
pub fn integrability(
    scene: &ConstraintsInContext,
    kinds: &mut [Classification],
    positions: impl FnOnce() -> Option<usize>,
) -> Integrability {
    let equations = scene.equations;
    if !equations.rows.iter().any(|r| r.level == Level::Velocity) {
        return positions_only(equations, kinds, positions);
    }
    if equations.model.n_coordinates() > limits::BRACKET_COORDINATES {
        return many_coordinates(scene, kinds);
    }
    // brackets are numerous and short-lived: they stay out of the model's graph
    let mut graph = equations.model.graph.clone();
    let pfaffian = Pfaffian::new(equations, &mut graph, kinds, false);
    let zero = State::zero(equations.model.n_coordinates());
    let near = Neighbourhood { equations, start: scene.start.unwrap_or(&zero), settings: scene.settings };
    let symbols = equations.model.state_symbols();
    let mut pfaffian = pfaffian;
    // a state on the constraints is known to fewer digits
    let samples = near.states(&graph, &pfaffian, limits::GENERIC_STATES, false);
    pfaffian.cancel(&mut graph, &symbols, &samples);
    let found = surest_flag(&mut graph, &near, &pfaffian, &symbols);
    let mut answer = Integrability { with_time: pfaffian.has_time, ..Integrability::default() };
    // closed forms are sought among the linear rows
    let linear = match (&found, pfaffian.is_extended) {
        (_, true) => {
            let linear = Pfaffian::new(equations, &mut graph, kinds, true);
            surest_flag(&mut graph, &near, &linear, &symbols).ok().map(|flag| (linear, flag))
        }
        (found, false) => found.as_ref().ok().map(|flag| (pfaffian.clone(), flag.clone())),
    };
    let mut n_proved = 0;
    if let Some((pfaffian, flag)) = linear.filter(|(_, flag)| flag.n_integrals() > 0) {
        (answer.integrals, n_proved) = closed_forms(&mut graph, scene, &near, &pfaffian, &flag);
    }
    match &found {
        Ok(flag) => {
            mark(&graph, &near, &pfaffian, flag, kinds);
            // closed forms prove as much as brackets
            let is_proved = flag.n_integrals() == 0 || flag.is_proved || n_proved >= flag.n_integrals();
            // without narrow places the states decide, and the sentence says that they did
            if is_proved || pfaffian.sharpness(&graph) < Sharpness::Functions {
                answer.growth_vector = (!pfaffian.is_extended).then(|| flag.dimensions.clone());
                answer.n_integrals = Some(flag.n_integrals());
                answer.verdict = sentence(equations, kinds, &pfaffian, flag);
                if !is_proved {
                    let states = counted_states(flag.samples.len());
                    answer.verdict.push_str(&format!(" (held at {states}, not proved)"));
                }
                answer.evidence = if is_proved {
                    IntegrabilityEvidence::Proved
                } else {
                    IntegrabilityEvidence::Held(flag.samples.len())
                };
            } else {
                answer.verdict = not_proved(flag);
                leave_open(kinds, |_| true);
            }
            if pfaffian.has_branches(&graph) {
                answer.verdict.push_str(" (near the start: a row switches between formulas)");
                leave_open(kinds, |_| true);
            }
            if let Some(until) = until(equations) {
                answer.verdict.push_str(&until);
                leave_open(kinds, |c| equations.rows.iter().any(|r| r.constraint == c && is_changed(equations, r)));
            }
        }
        Err(why) => answer.verdict = undecided(equations, &pfaffian, why),
    }
    answer
}

/// The flag near the start or, if nothing proves that it is all, the largest one where the coefficients act.
fn surest_flag(
    graph: &mut Graph,
    near: &Neighbourhood,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
) -> Result<Flag, Undecided> {
    let region = region(near, pfaffian);
    let samples = near.states(graph, pfaffian, limits::GENERIC_STATES, true);
    let found = flag(graph, pfaffian, symbols, &samples, Some(&region))?;
    if found.n_integrals() == 0 || found.is_proved {
        return Ok(found);
    }
    let n_states = match pfaffian.sharpness(graph) {
        Sharpness::Plain => return Ok(found),
        Sharpness::Quotients => limits::FEW_ACTING_STATES,
        Sharpness::Functions => limits::ACTING_STATES,
    };
    let elsewhere = near.acting_states(graph, pfaffian, &region, n_states);
    // a single state shows what is not zero
    let at_one = |sample: StateValues| flag(graph, pfaffian, symbols, &[sample], None).ok();
    let others: Vec<Flag> = elsewhere.into_iter().filter_map(at_one).collect();
    // the generic dimensions are the largest
    let fewest = others.into_iter().min_by_key(|flag| flag.n_integrals());
    Ok(fewest.filter(|flag| flag.n_integrals() < found.n_integrals()).unwrap_or(found))
}

/// The states on the position constraints, or on all constraints if velocities are among the coordinates.
fn region(near: &Neighbourhood, pfaffian: &Pfaffian) -> Region {
    let equations = near.equations;
    if pfaffian.is_extended {
        return Region::on_constraints(equations, near.start);
    }
    let positions = equations.rows.iter().filter(|row| row.level == Level::Position);
    Region { zeros: positions.map(|row| row.residual).collect(), ..Region::around(&equations.model, near.start) }
}

/// The closed forms of the integrals, and the number of those that are proved.
fn closed_forms(
    graph: &mut Graph,
    scene: &ConstraintsInContext,
    near: &Neighbourhood,
    pfaffian: &Pfaffian,
    flag: &Flag,
) -> (Vec<Integral>, usize) {
    let equations = scene.equations;
    let probes = near.states(graph, pfaffian, limits::PROBES, false);
    let start = equations.model.state_values(near.start);
    let found = IntegralSearch::new(graph, &equations.model, pfaffian, flag, probes, start).run();
    let region = Region::around(&equations.model, near.start);
    // where a coefficient may act elsewhere only what is proved is shown
    let is_plain = flag.is_proved || pfaffian.sharpness(graph) < Sharpness::Functions;
    let proved: Vec<bool> = found.iter().map(|f| !is_plain && f.is_proved(graph, pfaffian, &region)).collect();
    let n_proved = proved.iter().filter(|proved| **proved).count();
    let is_open = pfaffian.has_branches(graph);
    let holds =
        |f: &LocalIntegral| !is_open && !f.combination.iter().any(|(k, _)| is_changed(equations, &equations.rows[*k]));
    let shared = Arc::new(graph.clone());
    let value_of = |e: Expr| scene.start.and_then(|state| value(&shared, &equations.model, state, e));
    let kept = found.iter().zip(&proved).filter(|(f, proved)| holds(f) && (is_plain || **proved));
    (kept.map(|(f, _)| integral(&shared, equations, f, &value_of)).collect(), n_proved)
}

fn counted_states(n: usize) -> String {
    if n == 1 { "1 state".to_string() } else { format!("{n} states") }
}

/// The result if brackets vanish at all states and no proof was found that they do.
fn not_proved(flag: &Flag) -> String {
    let states = counted_states(flag.samples.len());
    format!(
        "integrability not decided: {} at {states} near the start, but no identity was found",
        counted(flag.n_integrals())
    )
}

/// Marks constraints that are integrable only near the start, or only until an event, as undecided.
fn leave_open(kinds: &mut [Classification], is_meant: impl Fn(usize) -> bool) {
    for (k, kind) in kinds.iter_mut().enumerate() {
        if kind.level == Level::Velocity && kind.integrable == Some(true) && is_meant(k) {
            kind.integrable = None;
        }
    }
}

/// `true` if an event changes a parameter in a row.
fn is_changed(equations: &Equations, row: &ConstraintRow) -> bool {
    let model = &equations.model;
    let used = model.graph.symbols(row.residual);
    let changes = |change: Change| matches!(change, Change::Parameter(k) if used.contains(&model.parameters[k].symbol));
    model.whens.iter().any(|w| changes(w.change))
}

/// ` (until `when t >= 1` changes `k`)`, if `k` occurs in a row.
fn until(equations: &Equations) -> Option<String> {
    let model = &equations.model;
    let residuals: Vec<Expr> = equations.rows.iter().map(|r| r.residual).collect();
    let used = model.graph.symbols_of(&residuals);
    model.whens.iter().find_map(|w| match w.change {
        Change::Parameter(k) if used.contains(&model.parameters[k].symbol) => {
            Some(format!(" (until `when {}` changes `{}`)", w.name, model.parameters[k].name))
        }
        _ => None,
    })
}

/// The result without velocity rows: D is tangent to the position rows and never grows.
fn positions_only(
    equations: &Equations,
    kinds: &[Classification],
    positions: impl FnOnce() -> Option<usize>,
) -> Integrability {
    let model = &equations.model;
    let with_time = kinds.iter().any(|k| k.level == Level::Position && k.time == Time::Rheonomic);
    let growth_vector =
        positions().map(|rank| vec![(model.n_coordinates() + usize::from(with_time)).saturating_sub(rank)]);
    Integrability { growth_vector, with_time, n_integrals: Some(0), ..Integrability::default() }
}

/// The rank of the position rows at generic states: at a singular start it is smaller than nearby. `None` if the only
/// known state is a start at which rows are dependent.
pub fn rank_of_positions(equations: &Equations, rows: &Dependencies) -> Option<usize> {
    let m = equations.rows.iter().filter(|r| r.level == Level::Position).count();
    let rank = |d: &Dependence| d.independent.iter().filter(|k| **k < m).count();
    match rank(&rows.here) {
        here if here == m => Some(m),
        here => rows.there.iter().map(rank).max().map(|there| there.max(here)),
    }
}

/// Marks every velocity constraint: it is integrable if all its rows annul every direction of the brackets.
fn mark(graph: &Graph, near: &Neighbourhood, pfaffian: &Pfaffian, flag: &Flag, kinds: &mut [Classification]) {
    let (equations, region) = (near.equations, region(near, pfaffian));
    let symbols = equations.model.state_symbols();
    for kind in kinds.iter_mut().filter(|k| k.level == Level::Velocity) {
        kind.integrable = Some(true);
    }
    for (row, entries) in &pfaffian.stated {
        let kind = &mut kinds[equations.rows[*row].constraint];
        if kind.level != Level::Velocity {
            continue;
        }
        let this = annuls(graph, &symbols, entries, flag);
        let is_plain = || pfaffian.sharpness(graph) < Sharpness::Functions;
        let is_certain = this != Some(true) || is_plain() || is_annulment_proved(graph, entries, flag, &region);
        let this = if is_certain { this } else { None };
        // a vector constraint is integrable if all its rows are
        kind.integrable = match (kind.integrable, this) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (None, _) | (_, None) => None,
            _ => Some(true),
        };
    }
}

/// `true` if a form vanishes on all directions that brackets gave; `None` if that is not clear.
fn annuls(graph: &Graph, symbols: &[Expr], entries: &[(usize, Expr)], flag: &Flag) -> Option<bool> {
    let exprs: Vec<Expr> = entries.iter().map(|(_, e)| *e).collect();
    let program = Program::new(graph, symbols, &exprs).ok()?;
    let mut signs = Vec::new();
    for (sample, directions) in flag.samples.iter().zip(&flag.directions) {
        let values = sample.run(&program)?;
        for direction in directions {
            let products = entries.iter().zip(&values).map(|((k, _), a)| a.mul(direction[*k]));
            signs.push(products.fold(Noisy::default(), Noisy::add).sign());
        }
    }
    if signs.iter().all(|s| *s == NoisySign::Zero) {
        Some(true)
    } else if signs.contains(&NoisySign::NotZero) {
        Some(false)
    } else {
        None
    }
}

/// `true` if it is proved that a form vanishes on all directions that brackets gave.
fn is_annulment_proved(graph: &Graph, entries: &[(usize, Expr)], flag: &Flag, region: &Region) -> bool {
    let mut graph = graph.clone();
    flag.formulas.iter().all(|direction| {
        let component = |k: usize| direction.iter().find(|(j, _)| *j == k).map(|(_, e)| *e);
        let parts: Vec<Expr> = entries.iter().filter_map(|(k, a)| component(*k).map(|c| graph.mul(*a, c))).collect();
        let sum = graph.sum(&parts);
        is_zero_in(&graph, sum, region)
    })
}

fn integral(
    graph: &Arc<Graph>,
    equations: &Equations,
    found: &LocalIntegral,
    value_of: &dyn Fn(Expr) -> Option<f64>,
) -> Integral {
    let multiplier = |m: Expr| if found.varies { String::new() } else { graph.text(m) };
    let name = |row: usize| equations.rows[row].name.clone();
    Integral {
        combination: found.combination.iter().map(|&(row, m)| (name(row), multiplier(m))).collect(),
        text: found.potential.and_then(|e| graph.text_limited(e, limits::TEXT)),
        value: found.potential.and_then(value_of),
        function: found.potential.map(|e| (Arc::clone(graph), e)),
        rows: found.combination.iter().map(|(row, _)| *row).collect(),
        alone: found.alone,
        vanishes: found
            .combination
            .iter()
            .any(|(row, _)| equations.rows[*row].coefficients.iter().all(|(_, e)| value_of(*e) == Some(0.0))),
    }
}

fn value(graph: &Graph, model: &Model, state: &State, e: Expr) -> Option<f64> {
    let program = Program::new(graph, &model.state_symbols(), &[e]).ok()?;
    let inputs: Vec<Noisy> = model.state_values(state).into_iter().map(Noisy::exact).collect();
    if noisy::run(&program, &inputs)[0].sign() == NoisySign::Zero {
        return Some(0.0);
    }
    let mut value = [f64::NAN];
    program.run(&model.state_values(state), &mut program.workspace(), &mut value);
    Some(value[0]).filter(|v| v.is_finite())
}

/// `(2, 3, 5)`.
fn vector_text(dimensions: &[usize]) -> String {
    let list: Vec<String> = dimensions.iter().map(usize::to_string).collect();
    format!("({})", list.join(", "))
}

fn counted(n: usize) -> String {
    match n {
        0 => "no position constraint follows".into(),
        1 => "1 position constraint follows".into(),
        n => format!("{n} position constraints follow"),
    }
}

/// The result in words.
fn sentence(equations: &Equations, kinds: &[Classification], pfaffian: &Pfaffian, flag: &Flag) -> String {
    let n_integrals = flag.n_integrals();
    if pfaffian.is_extended {
        let nonlinear = kinds.iter().filter(|k| k.velocity == Some(crate::analysis::Velocity::Nonlinear));
        let names: Vec<String> = nonlinear.map(|k| format!("`{}`", k.name)).collect();
        let (verb, them) = if names.len() == 1 { ("is", "it allows") } else { ("are", "they allow") };
        return format!(
            "{} {verb} nonlinear in the velocities: no distribution, no growth vector; from the motions {them}, {}",
            joined(&names),
            counted(n_integrals)
        );
    }
    let space = if pfaffian.has_time { " on (t, q)" } else { "" };
    let head = format!("growth vector {}{space}", vector_text(&flag.dimensions));
    let n_velocity = flag.n_independent - flag.n_functions;
    let stated = equations.rows.iter().filter(|r| r.level == Level::Velocity).count();
    match n_integrals {
        _ if n_velocity == 0 && stated == 1 => {
            format!("{head}: the velocity constraint follows from those on positions")
        }
        _ if n_velocity == 0 => format!("{head}: the velocity constraints follow from those on positions"),
        0 => format!("{head}: truly nonholonomic, no position constraint follows"),
        n if n == n_velocity => format!("{head}: integrable, {}", counted(n)),
        n => format!("{head}: {} from {n_velocity} velocity equations, the rest is truly nonholonomic", counted(n)),
    }
}

/// The result for many coordinates, where brackets would take too long: only rows that are rates as written are
/// recognized.
fn many_coordinates(scene: &ConstraintsInContext, kinds: &mut [Classification]) -> Integrability {
    let equations = scene.equations;
    let (model, n) = (&equations.model, equations.model.n_coordinates());
    let mut graph = model.graph.clone();
    let pfaffian = Pfaffian::new(equations, &mut graph, kinds, true);
    let zero = State::zero(n);
    let near = Neighbourhood { equations, start: scene.start.unwrap_or(&zero), settings: scene.settings };
    let probes = near.states(&graph, &pfaffian, limits::GENERIC_STATES, false);
    let exact = integrals::exact_rows(&mut graph, &pfaffian, &model.state_symbols(), &probes);
    let mut n_exact = vec![0; kinds.len()];
    for &row in &exact {
        let constraint = equations.rows[row].constraint;
        n_exact[constraint] += 1;
        if n_exact[constraint] == kinds[constraint].n_rows {
            kinds[constraint].integrable = Some(true);
        }
    }
    let found = match exact.len() {
        0 => String::new(),
        1 => "; 1 velocity row is the rate of a position constraint as it stands".into(),
        k => format!("; {k} velocity rows are rates of position constraints as they stand"),
    };
    let verdict = format!(
        "integrability not looked at: {n} coordinates, brackets are computed up to {}{found}",
        limits::BRACKET_COORDINATES
    );
    Integrability { verdict, ..Integrability::default() }
}

fn undecided(equations: &Equations, pfaffian: &Pfaffian, why: &Undecided) -> String {
    let head = "integrability not decided: ";
    let tail = match why {
        Undecided::NoStates => "no other states on the constraints were found near the start".into(),
        Undecided::Vanishes(form) => {
            let row = pfaffian.forms[*form].row.map_or("a row", |k| &equations.rows[k].name);
            format!("all coefficients of `{row}` vanish on the constraints")
        }
        Undecided::NoMotion => {
            "around the start no velocities satisfy the constraints together, a further condition holds".into()
        }
        Undecided::Unclear(what) => {
            format!("rounding hides {what} (values between 10 and 100 times their own scatter)")
        }
        Undecided::Differs(what) => format!("states near the start differ in {what}"),
        Undecided::TooLong(dimensions) if dimensions.is_empty() => {
            format!("{} coordinates give expressions that are too long", pfaffian.z.len())
        }
        Undecided::TooLong(dimensions) => format!(
            "the growth vector begins with {}, then the brackets become too long",
            vector_text(dimensions).trim_end_matches(')').to_string() + ", …)"
        ),
    };
    format!("{head}{tail}")
}

/// Z311: the position constraints of which velocity rows are the rates, as lines to paste if the start is known.
pub fn integral_notes(equations: &Equations, integrability: &Integrability) -> Vec<Diagnostic> {
    integrability.integrals.iter().take(limits::NOTES).enumerate().map(|(k, i)| note(equations, k, i)).collect()
}

fn note(equations: &Equations, index: usize, integral: &Integral) -> Diagnostic {
    let is_single = integral.combination.len() == 1;
    let what = combination_text(&integral.combination);
    let plain = is_single && integral.combination[0].1 == "1";
    let subject = match (is_single, integral.combination.iter().all(|(_, m)| m.is_empty())) {
        (true, _) => format!("constraint `{}`", integral.combination[0].0),
        (_, true) => format!("a combination of {what}, with factors that vary with the state,"),
        _ => format!("the combination {what}"),
    };
    let message = match &integral.text {
        Some(text) if plain || !is_single => {
            format!("{subject} can be integrated: it is the rate of   {text} = const")
        }
        Some(text) => {
            let factor = &integral.combination[0].1;
            format!("{subject} can be integrated: times {factor} it is the rate of   {text} = const")
        }
        None => format!("{subject} can be integrated: it comes from a position constraint"),
    };
    let model = &equations.model;
    let mut spans: Vec<_> =
        integral.rows.iter().map(|&row| model.constraints[equations.rows[row].constraint].span).collect();
    spans.dedup();
    let label = match (plain, is_single, integral.alone || equations.rows.len() == 1) {
        (true, _, true) => "a total time derivative",
        (_, true, true) => "a position constraint in disguise",
        (_, true, false) => "a position constraint in disguise, together with the others",
        _ => "takes part",
    };
    let mut d = Diagnostic::note("Z311", message);
    for (k, span) in spans.into_iter().take(4).enumerate() {
        d = if k == 0 { d.at(span, label) } else { d.and_at(span, label) };
    }
    if let Some(why) = why_not_pasted(integral) {
        return d.with_note(why).help("keep the velocity constraint");
    }
    let d = d.with_note("written as a position constraint it cannot drift");
    // a component of a vector cannot be removed
    let of_vectors = integral.rows.iter().any(|&row| model.constraints[equations.rows[row].constraint].rows.len() > 1);
    let (name, instead) = match (is_single, of_vectors) {
        (true, false) => (integral.combination[0].0.clone(), ""),
        (false, false) => (free_name(model, index), "   in place of one of them"),
        _ => (free_name(model, index), "   as a further constraint"),
    };
    match (&integral.text, integral.value) {
        (Some(text), Some(value)) => d.help(format!("constraint {name}: {text} = {}{instead}", exact(model, value))),
        (Some(text), None) => d.help(format!("constraint {name}: {text} = …   with the value it has at the start")),
        (None, _) => d.help("find the function whose rate it is, and write that as the constraint"),
    }
}

/// The reason why the function would be a different constraint from the rows.
fn why_not_pasted(integral: &Integral) -> Option<&'static str> {
    if integral.vanishes {
        return Some("the row vanishes at the start, but the position constraint would not");
    }
    let text = integral.text.as_ref()?;
    text.contains("atan2(").then_some("as a position constraint it would end where `atan2` jumps by a turn")
}

/// A number that parses to the same value: a simple fraction of pi, or as many digits as are needed.
fn exact(model: &Model, value: f64) -> String {
    let is_pi = |p: i32, q: i32| f64::from(p) * std::f64::consts::PI / f64::from(q) == value.abs();
    let parts = [(1, 1), (2, 1), (1, 2), (3, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 6), (5, 6)];
    let sign = if value < 0.0 { "-" } else { "" };
    let is_taken = model.parameters.iter().any(|p| p.name == "pi") || model.coordinates.iter().any(|c| c.name == "pi");
    if let Some((p, q)) = parts.into_iter().find(|(p, q)| !is_taken && is_pi(*p, *q)) {
        let above = if p == 1 { "pi".to_string() } else { format!("{p}*pi") };
        return if q == 1 { format!("{sign}{above}") } else { format!("{sign}{above}/{q}") };
    }
    // the last digit is rounding, and the start satisfies the equation to that digit
    let short = rounded(value, 15);
    let close = |x: f64| (x - value).abs() <= 4.0 * f64::EPSILON * value.abs();
    if short.len() <= limits::NUMBER_CHARACTERS && short.parse().is_ok_and(close) || short.parse() == Ok(value) {
        short
    } else {
        format!("{value:e}").replace("e0", "")
    }
}

/// `left - right`, `x·roll.x + y·roll.y`; the names only if the multipliers are not known.
pub fn combination_text(combination: &[(String, String)]) -> String {
    if combination.iter().all(|(_, m)| m.is_empty()) {
        let names: Vec<String> = combination.iter().map(|(name, _)| format!("`{name}`")).collect();
        return joined(&names);
    }
    let mut out = String::new();
    for (name, multiplier) in combination {
        let (sign, size) = match multiplier.strip_prefix('-') {
            Some(size) if !size.contains([' ']) => (" - ", size),
            _ => (" + ", multiplier.as_str()),
        };
        let sign = match (out.is_empty(), sign) {
            (true, " + ") => "",
            (true, _) => "-",
            (false, sign) => sign,
        };
        out.push_str(sign);
        match size {
            "1" => out.push_str(&format!("`{name}`")),
            size if size.contains(' ') => out.push_str(&format!("({size})·`{name}`")),
            size => out.push_str(&format!("{size}·`{name}`")),
        }
    }
    out
}

/// An unused name for a new constraint.
fn free_name(model: &Model, index: usize) -> String {
    let taken = |name: &str| model.constraints.iter().any(|c| c.name == name);
    let names = (index..).map(|k| if k == 0 { "hidden".to_string() } else { format!("hidden{}", k + 1) });
    names.into_iter().find(|name| !taken(name)).unwrap_or_default()
}
