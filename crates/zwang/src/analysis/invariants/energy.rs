//! Conservation of the energy E = p·q̇ − L, and the causes of its change.
//!
//! dE/dt = F·q̇ − ∂L/∂t + λᵀA q̇ + C·q̇ (Y05 6, UK02 29). The energy is conserved if it is proved that the terms are zero on the
//! constraints. One state at which they do not cancel shows that E changes: near the start, or where a formula acts during the
//! run. Between the two nothing is decided.

use rustc_hash::FxHashSet;
use zwang_expr::{Expr, Function, Graph, Node, Program};
use zwang_motion::{Settings, Snapshot, State, route};

use crate::analysis::constraints::classification::{Classification, Time, Velocity};
use crate::analysis::start::{nearby_state, units};
use crate::equations::zero::{Region, Sign, aimed_states, is_zero, is_zero_in, sign};
use crate::equations::{Equations, Symbols, applied_force};
use crate::model::{Change, Level, Load, Model, Shape};
use crate::random::scattered;
use crate::{analysis::check::Check, limits, tolerance};

/// The result on the conservation of energy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyVerdict {
    /// `true` if it is conserved; `None` if that is not decided.
    pub conserved: Option<bool>,
    /// The causes of its change, or the reasons why nothing is decided, each in one sentence.
    pub why: Vec<String>,
    /// Further notes: powers that cancel, forces that have a potential.
    pub notes: Vec<String>,
}

impl EnergyVerdict {
    /// The evidence: `proved`, `witness` or `cannot-tell`.
    pub fn evidence(&self) -> &'static str {
        match self.conserved {
            Some(true) => "proved",
            Some(false) => "witness",
            None => "cannot-tell",
        }
    }
}

/// A force, constraint or time dependence that may do work.
struct WorkSource {
    /// `the force on `x` does work`.
    sentence: String,
    /// Its kind, for the sum of powers.
    kind: WorkKind,
    /// The largest power found, relative to force times speed.
    most: f64,
    /// `true` if its force was nonzero at some state.
    acts: bool,
}

enum WorkKind {
    /// A generalized force: coordinate and component.
    Force(Vec<(usize, Expr)>),
    /// −∂L/∂t, term by term.
    Time(Vec<Expr>),
    /// A constraint, by its index: its rows do work if A q̇ is not zero.
    Constraint(usize),
}

impl WorkSource {
    /// The fraction of force times speed below which it does no work.
    fn nothing(&self) -> f64 {
        if matches!(self.kind, WorkKind::Constraint(_)) { tolerance::EVALUATED } else { tolerance::VALUE_ROUNDING }
    }

    fn works(&self) -> bool {
        self.most >= tolerance::POWER_CERTAIN * self.nothing()
    }
}

/// Decides whether E is conserved.
pub(super) fn energy(check: &mut Check, settings: &Settings) -> EnergyVerdict {
    let mut sources = sources(check);
    let model = &check.equations.model;
    let later: Vec<String> =
        model.later.iter().filter(|l| l.changes_motion).map(|l| format!("{} is not computed yet", l.what)).collect();
    let later = match later.is_empty() {
        true => model.only_at_times().iter().map(|what| format!("{what} may take some of it")).collect(),
        false => later,
    };
    if !later.is_empty() {
        return EnergyVerdict { conserved: None, why: later, notes: Vec::new() };
    }
    if !check.equations.asked.is_empty() {
        return with_controls(check, settings);
    }
    let jumps = jumps(check);
    let doubt = regime(&check.equations).or_else(|| steps(&mut check.equations));
    if sources.is_empty() {
        return match (jumps.is_empty(), doubt) {
            (true, Some(why)) => EnergyVerdict { conserved: None, why: vec![why], notes: Vec::new() },
            (kept, _) => EnergyVerdict { conserved: Some(kept), why: jumps, notes: Vec::new() },
        };
    }
    if jumps.is_empty() && doubt.is_none() && holds_still(check, &sources) {
        let notes = vec!["the constraints leave nothing that could move".into()];
        return EnergyVerdict { conserved: Some(true), why: Vec::new(), notes };
    }
    let mut verdict = observed(check, &mut sources, settings);
    if !jumps.is_empty() {
        let known = if verdict.conserved == Some(false) { std::mem::take(&mut verdict.why) } else { Vec::new() };
        verdict =
            EnergyVerdict { conserved: Some(false), why: known.into_iter().chain(jumps).collect(), notes: Vec::new() };
    } else if verdict.conserved != Some(false)
        && let Some(why) = doubt
    {
        verdict = EnergyVerdict { conserved: None, why: vec![why], notes: Vec::new() };
    }
    if verdict.conserved == Some(false)
        && let Some(note) = potential_note(&mut check.equations, &sources)
    {
        verdict.notes.push(note);
    }
    verdict
}

/// The result without events: by states near the start, by proof, then by states at which the sources act.
fn observed(check: &mut Check, sources: &mut [WorkSource], settings: &Settings) -> EnergyVerdict {
    let mut look = Observation::default();
    let program = program(&check.equations, sources);
    let is_small = check.state.q.len() <= limits::OTHER_STATES_COORDINATES;
    if let Some(program) = &program {
        look.at(check, program, &check.state.clone(), sources, settings, true);
        if is_small {
            for state in states(check, settings) {
                look.at(check, program, &state, sources, settings, false);
            }
        }
    }
    let near = look.verdict(sources);
    if near.conserved == Some(false) {
        return near;
    }
    if is_proved(&mut check.equations, sources, &check.state) {
        return EnergyVerdict { conserved: Some(true), why: Vec::new(), notes: near.notes };
    }
    if let Some(program) = program.filter(|_| is_small) {
        for state in acting_states(check, sources) {
            look.at(check, &program, &state, sources, settings, false);
        }
    }
    let anywhere = look.verdict(sources);
    if anywhere.conserved == Some(false) {
        let working: Vec<&WorkSource> = sources.iter().filter(|s| s.works()).collect();
        let why: Vec<String> = working.into_iter().map(|s| with_witness(check, s)).collect();
        return EnergyVerdict { why: shortened(why), ..anywhere };
    }
    let why = match (near.conserved, sources.first()) {
        (Some(true), Some(source)) => vec![with_witness(check, source)],
        _ => near.why,
    };
    EnergyVerdict { conserved: None, why, notes: Vec::new() }
}

/// `the force on `x``, from the sentence that it does work.
fn undecided_source(source: &WorkSource) -> String {
    source.sentence.replace(" and does work", "").replace(" does work", "").replace(" do work", "")
}

/// The power of the explicit sources, Σ F·q̇ − ∂L/∂t.
fn explicit_power(equations: &mut Equations, sources: &[WorkSource]) -> Expr {
    let Model { graph, coordinates, .. } = &mut equations.model;
    let mut parts = Vec::new();
    for source in sources {
        match &source.kind {
            WorkKind::Force(force) => parts.extend(force.iter().map(|(k, f)| graph.mul(*f, coordinates[*k].qdot))),
            WorkKind::Time(terms) => parts.extend(terms),
            WorkKind::Constraint(_) => {}
        }
    }
    graph.sum(&parts)
}

/// `true` if it is proved that the powers of all sources cancel on the constraints.
///
/// λ is not known, so each constraint has to do no work by itself: A q̇ = 0, or no load and no prescribed acceleration at all.
fn is_proved(equations: &mut Equations, sources: &[WorkSource], start: &State) -> bool {
    let region = Region::on_constraints(equations, start);
    let power = explicit_power(equations, sources);
    if !is_zero_in(&equations.model.graph, power, &region) {
        return false;
    }
    let working: Vec<usize> =
        sources.iter().filter_map(|s| if let WorkKind::Constraint(c) = s.kind { Some(c) } else { None }).collect();
    if working.is_empty() || is_without_load(equations, &region) {
        return true;
    }
    let powers = equations.power().of_constraint;
    working.into_iter().all(|c| is_zero_in(&equations.model.graph, powers[c], &region))
}

/// `true` if the motion without constraints satisfies every row, so that all multipliers are zero: A M⁻¹Q = b, for a diagonal M or
/// without any force.
#[allow(non_snake_case)]
fn is_without_load(equations: &mut Equations, region: &Region) -> bool {
    let Equations { model, rows, given_force: Q, mass_matrix: M, .. } = equations;
    let graph = &mut model.graph;
    let is_diagonal = |k: usize| matches!(M[k][..], [(j, _)] if j == k);
    // a load on one row may reach another through it
    let mut held: Vec<usize> = rows.iter().flat_map(|row| row.coefficients.iter().map(|(k, _)| *k)).collect();
    held.sort_unstable();
    held.dedup();
    let is_free = held.iter().all(|&k| is_zero_in(graph, Q[k], region));
    if !is_free && !held.iter().all(|&k| is_diagonal(k)) {
        return false;
    }
    rows.iter().all(|row| {
        let mut parts = vec![graph.neg(row.rhs)];
        for &(k, a) in row.coefficients.iter().filter(|_| !is_free) {
            let acceleration = graph.div(Q[k], M[k][0].1);
            parts.push(graph.mul(a, acceleration));
        }
        let missed = graph.sum(&parts);
        is_zero_in(graph, missed, region)
    })
}

/// States on the constraints at which the formulas of the sources act.
fn acting_states(check: &mut Check, sources: &[WorkSource]) -> Vec<State> {
    let Check { equations, state, .. } = check;
    let mut exprs: Vec<Expr> = Vec::new();
    let powers = equations.power().of_constraint;
    for source in sources {
        match &source.kind {
            WorkKind::Force(force) => exprs.extend(force.iter().map(|(_, e)| *e)),
            WorkKind::Time(terms) => exprs.extend(terms),
            WorkKind::Constraint(c) => exprs.push(powers[*c]),
        }
    }
    let region = Region::on_constraints(equations, state);
    let n = state.q.len();
    let state_at =
        |values: Vec<f64>| State { t: values[0], q: values[1..=n].to_vec(), qdot: values[n + 1..=2 * n].to_vec() };
    aimed_states(&equations.model.graph, &exprs, &region).into_iter().map(state_at).collect()
}

/// The sentence of a source with a number that shows its work, or with the states at which its work was not told from zero.
fn with_witness(check: &mut Check, source: &WorkSource) -> String {
    let Check { equations, state, .. } = check;
    let region = Region::on_constraints(equations, state);
    let exprs: Vec<Expr> = match &source.kind {
        WorkKind::Force(force) => force.iter().map(|(_, e)| *e).collect(),
        WorkKind::Time(terms) => {
            let sum = equations.model.graph.sum(terms);
            vec![equations.model.graph.neg(sum)]
        }
        // λ does not belong to the sentence
        WorkKind::Constraint(c) => moving_parts(equations, *c),
    };
    let model = &equations.model;
    let decided: Vec<(Expr, Sign)> = exprs.into_iter().map(|e| (e, sign(&model.graph, e, &region))).collect();
    let formula = |e: Expr| model.graph.text_limited(e, limits::FORMULA_CHARACTERS);
    let what = undecided_source(source);
    for (e, sign) in &decided {
        let Sign::NotZero(witness) = sign else { continue };
        let witness = witness.text(model);
        return match (&source.kind, formula(*e)) {
            (WorkKind::Time(_), Some(text)) => format!("∂L/∂t = {text} is {witness}"),
            (WorkKind::Time(_), None) => format!("∂L/∂t is {witness}"),
            (WorkKind::Constraint(_), _) => format!("{}: it moves at the rate {witness}", source.sentence),
            (WorkKind::Force(_), Some(text)) => format!("{}: {text} is {witness}", source.sentence),
            (WorkKind::Force(_), None) => format!("{}: it is {witness}", source.sentence),
        };
    }
    let open =
        decided.iter().find_map(|(e, sign)| if let Sign::NotDecided(tried) = sign { Some((*e, tried)) } else { None });
    match open {
        Some((e, tried)) => match formula(e) {
            Some(text) => format!("{what}: {text} is {}", tried.text()),
            None => format!("{what} is {}", tried.text()),
        },
        None => format!("{what}: its work is zero wherever it was looked at, but no identity was found"),
    }
}

/// A q̇ of the rows of a constraint, as it follows from the rest of their rates.
fn moving_parts(equations: &mut Equations, constraint: usize) -> Vec<Expr> {
    let Equations { model, rows, .. } = equations;
    let rest: std::collections::HashMap<Expr, Expr> = model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
    let rates: Vec<Expr> = rows.iter().filter(|r| r.constraint == constraint).filter_map(|r| r.rate).collect();
    model.graph.substitute(&rates, &rest)
}

/// The result with controls: a control force that does no work would be a coincidence.
fn with_controls(check: &mut Check, settings: &Settings) -> EnergyVerdict {
    let names: Vec<String> = check.equations.model.controls.iter().map(|c| format!("`{}`", c.stated.name)).collect();
    let power = |u: &[f64], state: &State| {
        let parts: Vec<f64> = u.iter().zip(&state.qdot).map(|(u, v)| u * v).collect();
        let size: f64 = parts.iter().map(|x| x.abs()).sum();
        (parts.iter().sum::<f64>().abs(), size)
    };
    let works =
        |(whole, size): (f64, f64)| size > 0.0 && whole > tolerance::POWER_CERTAIN * tolerance::EVALUATED * size;
    let mut found = works(power(&check.snapshot.found.control_force, &check.state));
    if !found && check.state.q.len() <= limits::OTHER_STATES_COORDINATES {
        let mut solver = route(check.route, settings);
        for state in states(check, settings) {
            let mut snapshot = Snapshot::new(&mut check.system);
            let taken = snapshot.take(&mut check.system, &state, &mut *solver, settings);
            found |= taken.is_ok() && works(power(&snapshot.found.control_force, &state));
        }
    }
    let (what, verb) = if names.len() == 1 { ("control", "does") } else { ("controls", "do") };
    let names = names.join(", ");
    match found {
        true => EnergyVerdict {
            conserved: Some(false),
            why: vec![format!("{what} {names} {verb} work")],
            notes: Vec::new(),
        },
        false => EnergyVerdict {
            conserved: None,
            why: vec![format!("{what} {names} may do work elsewhere")],
            notes: Vec::new(),
        },
    }
}

/// `true` if the system rests permanently: no freedom, no prescribed motion and no formula with the time.
fn holds_still(check: &Check, sources: &[WorkSource]) -> bool {
    check.freedom.here == 0
        && check.state.qdot.iter().all(|v| *v == 0.0)
        && check.constraints.iter().all(|c| c.time == Time::Scleronomic && c.velocity == Some(Velocity::Catastatic))
        && !sources.iter().any(|s| matches!(s.kind, WorkKind::Time(_)))
}

/// All sources of work that do not vanish by construction.
fn sources(check: &mut Check) -> Vec<WorkSource> {
    let Check { equations, constraints, .. } = check;
    let symbols = Symbols::new(equations.model.time, &equations.model.coordinates);
    let mut sources = Vec::new();
    let mut add = |sentence: String, kind| sources.push(WorkSource { sentence, kind, most: 0.0, acts: false });
    let slope = equations.model.graph.derivative(equations.lagrangian, equations.model.time);
    if !is_zero(&equations.model.graph, slope) {
        let formula = equations.model.graph.text_limited(slope, 60).map_or(String::new(), |f| format!(": ∂L/∂t = {f}"));
        let graph = &mut equations.model.graph;
        let terms = terms(graph, slope).into_iter().map(|e| graph.neg(e)).collect();
        add(format!("the Lagrangian depends on time{formula}"), WorkKind::Time(terms));
    }
    let present = |force: &[Expr]| -> Vec<(usize, Expr)> {
        force.iter().copied().enumerate().filter(|(_, e)| *e != Expr::ZERO).collect()
    };
    // rounding of a force that is zero would be all of its power
    let nonzero = |graph: &Graph, force: Vec<Expr>| -> Vec<(usize, Expr)> {
        force.into_iter().enumerate().filter(|(_, e)| *e != Expr::ZERO && !is_zero(graph, *e)).collect()
    };
    let n_loads = equations.model.forces.len() + equations.model.nonideal.len();
    if n_loads * equations.model.coordinates.len() > limits::FORCE_ENTRIES {
        // more than `FORCE_ENTRIES` components are reported together
        add("the applied forces do work".into(), WorkKind::Force(present(&equations.applied_force)));
        add("the nonideal laws do work".into(), WorkKind::Force(present(&equations.nonideal_force)));
        sources.retain(|s| !matches!(&s.kind, WorkKind::Force(force) if force.is_empty()));
        sources.extend(working_constraints(equations, constraints));
        return sources;
    }
    for (loads, is_nonideal) in [(equations.model.forces.clone(), false), (equations.model.nonideal.clone(), true)] {
        for load in &loads {
            let Model { graph, coordinates, .. } = &mut equations.model;
            let force = applied_force(graph, coordinates, &symbols, std::slice::from_ref(load), Expr::ZERO);
            let force = nonzero(graph, force);
            if !force.is_empty() {
                let name = load_name(&equations.model, load);
                let what = if is_nonideal { name.replacen("the force", "the nonideal law", 1) } else { name };
                add(format!("{what} does work"), WorkKind::Force(force));
            }
        }
    }
    if equations.model.dissipation != Expr::ZERO {
        let Model { graph, coordinates, dissipation, .. } = &mut equations.model;
        let force = applied_force(graph, coordinates, &symbols, &[], *dissipation);
        let force = nonzero(graph, force);
        if !force.is_empty() {
            add("`dissipation` does work".into(), WorkKind::Force(force));
        }
    }
    sources.extend(working_constraints(equations, constraints));
    sources
}

/// The constraints whose A q̇ does not vanish by construction.
fn working_constraints(equations: &mut Equations, kinds: &[Classification]) -> Vec<WorkSource> {
    let power = equations.power();
    let graph = &mut equations.model.graph;
    let works = |e: Expr| e != Expr::ZERO && !is_zero(graph, e);
    let working = power.of_constraint.iter().enumerate().filter(|(_, e)| works(**e));
    let source = |k: usize| WorkSource {
        sentence: constraint_sentence(&kinds[k]),
        kind: WorkKind::Constraint(k),
        most: 0.0,
        acts: false,
    };
    working.map(|(k, _)| source(k)).collect()
}

/// `the force on `x``, `the force at `P``.
fn load_name(model: &Model, load: &Load) -> String {
    let text = |parts: &[Expr]| {
        let texts: Vec<String> =
            parts.iter().map(|e| model.graph.text_limited(*e, 40).unwrap_or_else(|| "…".into())).collect();
        format!("({})", texts.join(", "))
    };
    match load {
        Load::Coordinate(k, _) => format!("the force on `{}`", model.coordinates[*k].name),
        Load::Point(place, _) => {
            let named = model.scene.iter().find(|d| match &d.shape {
                Shape::Point { place: drawn, .. } | Shape::Body { place: drawn, .. } => drawn == place,
                _ => false,
            });
            format!("the force at `{}`", named.map_or_else(|| text(place), |d| d.name.clone()))
        }
        Load::Torque(_, parts) => format!("the torque `{}`", text(parts)),
    }
}

fn constraint_sentence(kind: &Classification) -> String {
    let name = &kind.name;
    let why = match (kind.level, kind.velocity, kind.time) {
        (Level::Acceleration, ..) => "is on accelerations",
        (_, Some(Velocity::Nonlinear), _) => "is not linear in the velocities",
        (Level::Velocity, ..) => "has a part without velocities",
        (Level::Position, _, Time::Rheonomic) => "moves with time",
        _ => "is held",
    };
    format!("constraint `{name}` {why} and does work")
}

/// Events at which the energy jumps.
fn jumps(check: &mut Check) -> Vec<String> {
    let whens = check.equations.model.whens.clone();
    let mut found = Vec::new();
    for when in whens {
        let (energy, model) = (check.equations.energy, &mut check.equations.model);
        let (symbol, name) = match when.change {
            Change::Parameter(k) => (model.parameters[k].symbol, model.parameters[k].name.clone()),
            Change::Velocity(k) => (model.coordinates[k].qdot, format!("{}'", model.coordinates[k].name)),
        };
        // a velocity that only changes its sign leaves the energy unchanged
        let after = model.graph.substitute(&[energy], &[(symbol, when.value)].into_iter().collect())[0];
        let change = model.graph.sub(after, energy);
        if !is_zero(&model.graph, change) && !is_kept(check, change) {
            found.push(format!("`when {}` changes `{name}`", when.name));
        }
    }
    found
}

/// `true` if it is proved that a change of the energy is zero on the constraints.
fn is_kept(check: &Check, change: Expr) -> bool {
    let region = Region::on_constraints(&check.equations, &check.state);
    is_zero_in(&check.equations.model.graph, change, &region)
}

/// An event after which forces or constraints may do work that do none before.
fn regime(equations: &Equations) -> Option<String> {
    let residuals = equations.rows.iter().map(|row| row.residual);
    let formulas: Vec<Expr> = equations.formulas().into_iter().chain(residuals).collect();
    let used = equations.model.graph.symbols_of(&formulas);
    // a jump of a velocity in a row may change other velocities
    let is_held = |k: usize| equations.rows.iter().any(|row| row.coefficients.iter().any(|(j, _)| *j == k));
    let changes = |change: Change| match change {
        Change::Parameter(k) => used.binary_search(&equations.model.parameters[k].symbol).is_ok(),
        Change::Velocity(k) => is_held(k),
    };
    let event = equations.model.whens.iter().find(|w| changes(w.change))?;
    Some(format!("`when {}` changes what acts; before it the energy stays the same", event.name))
}

/// A step in the Lagrangian, or a row at which velocities may jump; both may make the energy jump.
fn steps(equations: &mut Equations) -> Option<String> {
    let fixed: Vec<Expr> = equations.model.parameters.iter().map(|p| p.symbol).collect();
    let graph = &mut equations.model.graph;
    if has_step(graph, &[equations.lagrangian], &fixed) {
        return Some("the Lagrangian switches between formulas, and the energy may jump there".into());
    }
    for row in &equations.rows {
        // φ and φ_q have to be continuous; of a velocity row only the row itself
        let mut exprs = vec![row.residual];
        match row.level {
            Level::Position => exprs.extend(row.coefficients.iter().map(|(_, e)| *e).chain(row.rate)),
            Level::Velocity => {}
            Level::Acceleration => continue,
        }
        if has_step(graph, &exprs, &fixed) {
            let name = &equations.model.constraints[row.constraint].name;
            return Some(format!("constraint `{name}` has a corner, where velocities may jump"));
        }
    }
    None
}

/// `true` if a formula may jump: `sign`, or an `if` whose two formulas differ at the switch.
///
/// `abs`, `min` and `max` are continuous. A switch that depends on parameters alone never occurs; events that change
/// parameters are reported separately.
fn has_step(graph: &mut Graph, exprs: &[Expr], fixed: &[Expr]) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), exprs.to_vec());
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        let node = graph.node(e);
        let steps = match node {
            Node::Apply(Function::Sign, u) => graph.symbols(u).iter().any(|s| !fixed.contains(s)),
            Node::Select { left, right, .. } => {
                let varies = graph.symbols_of(&[left, right]).iter().any(|s| !fixed.contains(s));
                varies && !meets(graph, e, fixed)
            }
            _ => false,
        };
        if steps {
            return true;
        }
        open.extend_from_slice(&node.operands());
    }
    false
}

/// `true` if the two formulas of an `if` are found to agree at the switch: one symbol is eliminated by left = right, if
/// that is linear in it.
fn meets(graph: &mut Graph, select: Expr, fixed: &[Expr]) -> bool {
    let Node::Select { left, right, then, otherwise, .. } = graph.node(select) else { return false };
    let gap = graph.sub(left, right);
    let symbols: Vec<Expr> = graph.symbols(gap).into_iter().filter(|s| !fixed.contains(s)).collect();
    for s in symbols {
        let slope = graph.derivative(gap, s);
        if slope == Expr::ZERO || graph.symbols(slope).contains(&s) {
            continue;
        }
        let step = graph.div(gap, slope);
        let there = graph.sub(s, step);
        let at = graph.substitute(&[then, otherwise], &[(s, there)].into_iter().collect());
        return agree(graph, [at[0], at[1]], [then, otherwise]);
    }
    false
}

/// `true` if two formulas have the same values at three arbitrary states, relative to the sizes they have in general.
fn agree(graph: &Graph, there: [Expr; 2], anywhere: [Expr; 2]) -> bool {
    let exprs = [there, anywhere].concat();
    let symbols = graph.symbols_of(&exprs);
    let Ok(program) = Program::new(graph, &symbols, &exprs) else { return false };
    let (mut work, mut values) = (program.workspace(), vec![0.0; exprs.len()]);
    (1..4).all(|k| {
        let inputs: Vec<f64> = (0..symbols.len()).map(|j| 0.7 + scattered(j, k)).collect();
        program.run(&inputs, &mut work, &mut values);
        let size = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        (values[0] - values[1]).abs() <= tolerance::EVALUATED * size
    })
}

/// The components of all forces, with the multipliers as inputs.
fn program(equations: &Equations, sources: &[WorkSource]) -> Option<Program> {
    let mut inputs = equations.model.state_symbols();
    inputs.extend(equations.rows.iter().map(|r| r.lambda));
    let exprs: Vec<Expr> = sources
        .iter()
        .flat_map(|s| match &s.kind {
            WorkKind::Force(force) => force.iter().map(|(_, e)| *e).collect(),
            WorkKind::Time(terms) => terms.clone(),
            WorkKind::Constraint(_) => Vec::new(),
        })
        .collect();
    Program::new(&equations.model.graph, &inputs, &exprs).ok()
}

/// States around the start that satisfy all constraints, at other times if anything depends on time.
fn states(check: &mut Check, settings: &Settings) -> Vec<State> {
    let Check { equations, system, state, .. } = check;
    // with x = t the formulas of the motion do not contain the time, but the position does
    let residuals = equations.rows.iter().map(|row| row.residual);
    let exprs: Vec<Expr> = equations.formulas().into_iter().chain([equations.lagrangian]).chain(residuals).collect();
    let is_timed = equations.model.graph.symbols_of(&exprs).binary_search(&equations.model.time).is_ok();
    let mut found = Vec::new();
    for attempt in 0..2 * limits::DECIDING_STATES {
        let mut from = state.clone();
        // the second half tries nearer states, in case moving constraints lead too far
        let reach = if attempt < limits::DECIDING_STATES { 1.0 } else { 0.1 };
        if is_timed {
            // not a fraction of a period that anyone would choose
            from.t += 0.37 * equations.model.horizon() * reach * (attempt + 1) as f64;
        }
        found.extend(nearby_state(equations, system, &from, settings, attempt));
        if found.len() == limits::DECIDING_STATES {
            break;
        }
    }
    found
}

/// The powers observed at several states.
#[derive(Default)]
struct Observation {
    n_states: usize,
    /// The largest |sum of all powers| relative to the sum of their sizes.
    whole: f64,
    /// The largest ratio of two powers at one state, neither of them rounding.
    spread: f64,
}

impl Observation {
    /// Adds a state. The start itself may be at rest, so it can prove a change but not conservation.
    fn at(
        &mut self,
        check: &mut Check,
        program: &Program,
        state: &State,
        sources: &mut [WorkSource],
        settings: &Settings,
        is_start: bool,
    ) {
        let taken;
        let snapshot = if is_start {
            &check.snapshot
        } else {
            let mut other = Snapshot::new(&mut check.system);
            let mut solver = route(check.route, settings);
            if other.take(&mut check.system, state, &mut *solver, settings).is_err() {
                return;
            }
            taken = other;
            &taken
        };
        let mass = &check.snapshot.given.mass_matrix;
        let mass: Vec<f64> = (0..state.q.len()).map(|k| mass.get(k, k)).collect();
        let usual = units(&mass, &check.state.qdot);
        let kinetic: f64 = mass.iter().zip(&usual).map(|(m, v)| m.abs() * v * v).sum();
        let floor = tolerance::ROUNDING * kinetic / check.equations.model.horizon();
        let found = &snapshot.found;
        let mut inputs = check.equations.model.state_values(state);
        inputs.extend(&found.lambda);
        let mut values = vec![0.0; program.n_outputs()];
        program.run(&inputs, &mut program.workspace(), &mut values);
        if !values.iter().chain(&found.lambda_acting).all(|x| x.is_finite()) {
            return;
        }
        let mut values = values.into_iter();
        let mut powers = Vec::new();
        for source in sources.iter_mut() {
            let (mut power, mut scale) =
                power_and_scale(source, &check.equations, snapshot, state, &usual, &mut values);
            // without a load the multipliers are rounding, and so is the scale they are compared with
            if matches!(source.kind, WorkKind::Constraint(_)) && scale <= floor {
                (power, scale) = (0.0, 0.0);
            }
            source.acts |= scale > 0.0;
            if scale > 0.0 {
                source.most = source.most.max(power.abs() / scale);
            }
            powers.extend((power.abs() > source.nothing() * scale).then_some(power));
        }
        self.n_states += usize::from(!is_start);
        let size: f64 = powers.iter().map(|p| p.abs()).sum();
        if size > 0.0 {
            let least = powers.iter().fold(f64::INFINITY, |m, p| m.min(p.abs()));
            self.whole = self.whole.max(powers.iter().sum::<f64>().abs() / size);
            self.spread = self.spread.max(size / least);
        }
    }

    /// The result that the numbers suggest; only a proof makes it certain that the energy is conserved.
    fn verdict(&self, sources: &[WorkSource]) -> EnergyVerdict {
        let working: Vec<&WorkSource> = sources.iter().filter(|s| s.works()).collect();
        let mut verdict = EnergyVerdict::default();
        if self.whole >= tolerance::POWER_CERTAIN * tolerance::POWERS_CANCEL && !working.is_empty() {
            verdict.conserved = Some(false);
            verdict.why = shortened(working.iter().map(|s| s.sentence.clone()).collect());
            return verdict;
        }
        let undecided = |why: String| EnergyVerdict { conserved: None, why: vec![why], notes: Vec::new() };
        if self.n_states < limits::DECIDING_STATES {
            let may = |s: &WorkSource| match s.sentence.contains(" does work") {
                true => s.sentence.replace(" does work", " may do work"),
                false => s.sentence.replace(" do work", " may do work"),
            };
            let mut verdict = undecided("too few other states on the constraints were looked at".into());
            verdict.why.extend(shortened(sources.iter().map(may).collect()));
            return verdict;
        }
        if let Some(source) = sources.iter().find(|s| !s.works() && s.most > s.nothing()) {
            let size = format!("{:.0e}", source.most);
            let why = source.sentence.replace(" does work", "").replace(" and", "");
            return undecided(format!("{why}: its power is {size} of force times speed, too little to decide"));
        }
        if self.whole > tolerance::POWERS_CANCEL || self.spread > tolerance::POWERS_CANCEL.powf(-0.5) {
            return undecided(match self.whole < 0.1 {
                true => {
                    format!(
                        "the powers cancel to {:.0e} of their sizes, too little to decide",
                        self.whole.max(tolerance::POWERS_CANCEL)
                    )
                }
                false => "all powers are as small as rounding, too little to decide".into(),
            });
        }
        verdict.conserved = Some(true);
        if !working.is_empty() {
            verdict.notes.push("the powers of the forces cancel".into());
        }
        verdict
    }
}

/// The power of a source at a state, and force times speed there.
///
/// The speed of a coordinate includes its reference speed, so that a coordinate at rest has a scale as well.
fn power_and_scale(
    source: &WorkSource,
    equations: &Equations,
    snapshot: &Snapshot,
    state: &State,
    usual: &[f64],
    values: &mut impl Iterator<Item = f64>,
) -> (f64, f64) {
    let (given, found) = (&snapshot.given, &snapshot.found);
    // the velocities of other states were drawn in these units
    let speed = |k: usize| state.qdot[k].abs() + usual[k];
    match &source.kind {
        WorkKind::Force(force) => force
            .iter()
            .zip(values)
            .fold((0.0, 0.0), |(power, scale), ((k, _), f)| (power + f * state.qdot[*k], scale + f.abs() * speed(*k))),
        WorkKind::Time(terms) => {
            terms.iter().zip(values).fold((0.0, 0.0), |(power, scale), (_, x)| (power + x, scale + x.abs()))
        }
        WorkKind::Constraint(c) => {
            let rows = equations.rows.iter().enumerate().filter(|(_, row)| row.constraint == *c);
            let (mut power, mut touched, mut scale) = (0.0, Vec::new(), 0.0);
            for (i, _) in rows {
                let lambda = found.lambda_acting[i];
                power += lambda * given.constraint_matrix.row_times(i, &state.qdot);
                let (columns, values) = given.constraint_matrix.row(i);
                // the force of each row alone: forces of several rows may cancel in the sum
                scale += columns.iter().zip(values).map(|(&k, a)| (lambda * a).abs() * speed(k)).sum::<f64>();
                touched.extend(columns);
            }
            touched.sort_unstable();
            touched.dedup();
            let force = |k: usize| given.given_force[k].abs() + found.constraint_force_ideal[k].abs();
            (power, scale + touched.into_iter().map(|k| force(k) * speed(k)).sum::<f64>())
        }
    }
}

/// The terms of a sum.
fn terms(graph: &zwang_expr::Graph, sum: Expr) -> Vec<Expr> {
    let (mut found, mut open) = (Vec::new(), vec![sum]);
    while let Some(e) = open.pop() {
        match graph.node(e) {
            zwang_expr::Node::Add(a, b) => open.extend([b, a]),
            _ => found.push(e),
        }
    }
    found
}

/// The first few sentences, and the number of the others.
fn shortened(mut sentences: Vec<String>) -> Vec<String> {
    sentences.dedup();
    if sentences.len() > limits::NAMES {
        let more = sentences.len() - limits::NAMES;
        sentences.truncate(limits::NAMES);
        sentences.push(format!("{more} more do work"));
    }
    sentences
}

/// The note that applied forces are a gradient and would be part of the energy if stated as a potential.
fn potential_note(equations: &mut Equations, sources: &[WorkSource]) -> Option<String> {
    let model = &mut equations.model;
    let is_load = |s: &WorkSource| matches!(s.kind, WorkKind::Force(_)) && !s.sentence.contains("nonideal");
    let only = sources.iter().filter(|s| s.works()).all(is_load);
    if !only || model.coordinates.len() > limits::CURL_COORDINATES || !model.nonideal.is_empty() {
        return None;
    }
    let used = model.graph.symbols_of(&equations.applied_force);
    let moving = |s: &Expr| *s == model.time || model.coordinates.iter().any(|c| c.qdot == *s || c.qddot == *s);
    if used.iter().any(moving) {
        return None;
    }
    for i in 0..model.coordinates.len() {
        for j in 0..i {
            let (qi, qj) = (model.coordinates[i].q, model.coordinates[j].q);
            let graph = &mut model.graph;
            let (a, b) = (equations.applied_force[i], equations.applied_force[j]);
            let (left, right) = (graph.derivative(a, qj), graph.derivative(b, qi));
            let curl = graph.sub(left, right);
            if !is_zero(graph, curl) {
                return None;
            }
        }
    }
    Some("the applied forces have a potential; stated as `potential` it would be part of the energy".into())
}
