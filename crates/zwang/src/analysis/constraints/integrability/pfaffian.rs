//! The constraint rows as one-forms, and generic states at which they are evaluated.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Expr, Function, Graph, Limits, Node, Program};
use zwang_motion::{Settings, State};

use crate::analysis::constraints::integrability::noisy::{self, Noisy};
use crate::analysis::start::StartProjector;
use crate::equations::switches::switches_by;
use crate::equations::zero::{Region, aimed_states, is_zero};
use crate::equations::{Equations, SparseRow};
use crate::model::{Level, Model};
use crate::random::Random;
use crate::units::Dimension;
use crate::{
    analysis::constraints::classification::{Classification, Velocity, depends_on},
    tolerance,
};

/// The limits within which terms of a coefficient are cancelled.
const SHORTENING: Limits = Limits { terms: 400, work: 100_000, total: 200_000 };

/// A higher power acts in a narrow place, as exp does.
const HIGHEST_PLAIN_POWER: f64 = 4.0;

/// A one-form Σ aᵢ dzᵢ that the allowed directions annul: index of z and aᵢ.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The row of the equations it comes from; `None` for dq − q̇ dt.
    pub row: Option<usize>,
    /// `true` if it is the differential of a function that is known to be constant: of φ, or of ψ on positions and
    /// velocities.
    pub is_function: bool,
    pub entries: SparseRow,
}

/// How narrow the places may be in which coefficients act.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sharpness {
    /// Polynomials, sines and cosines: three random states see all of them.
    Plain,
    /// Quotients, whose denominators are aimed at.
    Quotients,
    /// Other functions, such as tanh: only a proof shows that nothing acts.
    Functions,
}

/// The forms of all rows on a space with coordinates z.
#[derive(Clone, Debug, Default)]
pub(super) struct Pfaffian {
    /// q; (t, q) with time; (t, q, q̇) with rows that are nonlinear in the velocities.
    pub z: Vec<Expr>,
    /// The index of each z.
    pub place: FxHashMap<Expr, usize>,
    pub has_time: bool,
    pub is_extended: bool,
    /// Known functions first.
    pub forms: Vec<Form>,
    /// For each velocity row of the equations its one-form.
    pub stated: Vec<(usize, SparseRow)>,
}

impl Pfaffian {
    /// The forms of the position and velocity rows, or of the linear ones only; rows on accelerations are left out.
    pub fn new(equations: &Equations, graph: &mut Graph, kinds: &[Classification], only_linear: bool) -> Pfaffian {
        let model = &equations.model;
        let is_nonlinear = |k: &usize| {
            let row = &equations.rows[*k];
            row.level == Level::Velocity && kinds[row.constraint].velocity == Some(Velocity::Nonlinear)
        };
        let rows = (0..equations.rows.len()).filter(|&k| equations.rows[k].rate.is_some());
        let rows: Vec<usize> = rows.filter(|k| !only_linear || !is_nonlinear(k)).collect();
        if rows.iter().any(is_nonlinear) {
            return Pfaffian::extended(equations, graph, &rows);
        }
        let rest: HashMap<Expr, Expr> = model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
        // a₀ dt: ∂φ/∂t, or ψ at rest
        let mut timed: Vec<Expr> = Vec::new();
        for &k in &rows {
            let row = &equations.rows[k];
            let part = match row.level {
                Level::Position => graph.derivative(row.residual, model.time),
                _ => graph.substitute(&[row.residual], &rest)[0],
            };
            timed.push(if is_zero(graph, part) { Expr::ZERO } else { part });
        }
        let is_timed = |k: &usize| depends_on(graph, equations.rows[*k].residual, model.time);
        let has_time = timed.iter().any(|e| *e != Expr::ZERO) || rows.iter().any(is_timed);
        let first = usize::from(has_time);
        let mut pfaffian = Pfaffian { has_time, ..Pfaffian::default() };
        pfaffian.z.extend(has_time.then_some(model.time));
        pfaffian.z.extend(model.coordinates.iter().map(|c| c.q));
        pfaffian.place = places(&pfaffian.z);
        for (&k, a0) in rows.iter().zip(timed) {
            let row = &equations.rows[k];
            let mut entries: SparseRow = Vec::new();
            entries.extend((a0 != Expr::ZERO).then_some((0, a0)));
            // coefficients of a linear row may still contain velocities that cancel
            let coefficients: Vec<Expr> = row.coefficients.iter().map(|(_, a)| *a).collect();
            let coefficients = graph.substitute(&coefficients, &rest);
            entries.extend(row.coefficients.iter().zip(coefficients).map(|((j, _), a)| (j + first, a)));
            if row.level == Level::Velocity {
                pfaffian.stated.push((k, entries.clone()));
            }
            pfaffian.forms.push(Form { row: Some(k), is_function: row.level == Level::Position, entries });
        }
        pfaffian
    }

    /// On (t, q, q̇): dφ, dφ̇, dψ and dq − q̇ dt. The positions that the motions allowed by ψ reach then follow from
    /// forms again.
    fn extended(equations: &Equations, graph: &mut Graph, rows: &[usize]) -> Pfaffian {
        let model = &equations.model;
        let n = model.n_coordinates();
        let mut z = vec![model.time];
        z.extend(model.coordinates.iter().map(|c| c.q));
        z.extend(model.coordinates.iter().map(|c| c.qdot));
        let place = places(&z);
        let mut forms = Vec::new();
        for &k in rows {
            let row = &equations.rows[k];
            let is_position = row.level == Level::Position;
            for function in [is_position.then_some(row.residual), row.rate].into_iter().flatten() {
                let gradient = graph.gradient_in(function, |s| place.contains_key(&s));
                let mut entries: SparseRow = gradient.into_iter().map(|(s, d)| (place[&s], d)).collect();
                entries.sort_by_key(|(j, _)| *j);
                forms.push(Form { row: Some(k), is_function: true, entries });
            }
        }
        for (j, c) in model.coordinates.iter().enumerate() {
            let against = graph.neg(c.qdot);
            forms.push(Form { row: None, is_function: false, entries: vec![(0, against), (1 + j, Expr::ONE)] });
        }
        debug_assert_eq!(z.len(), 2 * n + 1);
        // ψ_q̇ (dq − q̇ dt)
        let mut stated = Vec::new();
        for &k in rows.iter().filter(|&&k| equations.rows[k].level == Level::Velocity) {
            let mut entries: SparseRow = Vec::new();
            let mut along = Expr::ZERO;
            for &(j, a) in &equations.rows[k].coefficients {
                entries.push((1 + j, a));
                let part = graph.mul(a, model.coordinates[j].qdot);
                along = graph.sub(along, part);
            }
            entries.insert(0, (0, along));
            stated.push((k, entries));
        }
        Pfaffian { z, place, has_time: true, is_extended: true, forms, stated }
    }
}

impl Pfaffian {
    /// Cancels terms of coefficients that lose digits at some states: (y + 10⁵)³ − y³ − … is one at y = 0 and rounding elsewhere.
    pub fn cancel(&mut self, graph: &mut Graph, symbols: &[Expr], samples: &[StateValues]) {
        let entries = self.forms.iter_mut().flat_map(|form| &mut form.entries);
        for (_, e) in entries.chain(self.stated.iter_mut().flat_map(|(_, entries)| entries)) {
            let Ok(program) = Program::new(graph, symbols, &[*e]) else { continue };
            let mut values = samples.iter().filter_map(|s| s.run(&program));
            let has_digits = |v: Vec<Noisy>| v[0].value() == 0.0 || v[0].relative_error() < tolerance::TEN_DIGITS;
            if !values.all(has_digits)
                && let Some(short) = graph.shortest(&[*e], SHORTENING)[0]
            {
                *e = short;
            }
        }
        let is_there = |(_, e): &(usize, Expr)| *e != Expr::ZERO;
        self.forms.iter_mut().for_each(|form| form.entries.retain(is_there));
        self.stated.iter_mut().for_each(|(_, entries)| entries.retain(is_there));
    }

    /// How narrow the places may be in which coefficients act.
    pub fn sharpness(&self, graph: &Graph) -> Sharpness {
        let (mut seen, mut open) = (FxHashSet::default(), Vec::new());
        open.extend(self.forms.iter().flat_map(|f| f.entries.iter().map(|(_, e)| *e)));
        let mut found = Sharpness::Plain;
        while let Some(e) = open.pop() {
            if graph.constant_value(e).is_some() || !seen.insert(e) {
                continue;
            }
            let node = graph.node(e);
            let this = match node {
                Node::Apply(Function::Sin | Function::Cos | Function::Tan, _) | Node::Symbol(_) => Sharpness::Plain,
                Node::Add(..) | Node::Mul(..) => Sharpness::Plain,
                Node::Pow(_, n) => match graph.number(n).map(|n| n.to_f64()) {
                    Some(n) if n < 0.0 => Sharpness::Quotients,
                    Some(n) if n <= HIGHEST_PLAIN_POWER => Sharpness::Plain,
                    _ => Sharpness::Functions,
                },
                _ => Sharpness::Functions,
            };
            found = found.max(this);
            open.extend_from_slice(&node.operands());
        }
        found
    }

    /// `true` if a row contains `if`, `abs`, `sign`, `min` or `max`, so that regions of states may differ.
    pub fn has_branches(&self, graph: &Graph) -> bool {
        let entries: Vec<Expr> = self.forms.iter().flat_map(|f| f.entries.iter().map(|(_, e)| *e)).collect();
        switches_by(graph, &entries, |_| true)
    }
}

fn places(z: &[Expr]) -> FxHashMap<Expr, usize> {
    z.iter().enumerate().map(|(k, s)| (*s, k)).collect()
}

/// The start near which generic states are sought.
pub(super) struct Neighbourhood<'a> {
    pub equations: &'a Equations,
    pub start: &'a State,
    pub settings: &'a Settings,
}

impl Neighbourhood<'_> {
    /// Up to `n` generic states near the start at which every form is finite, on all constraints or anywhere.
    pub fn states(&self, graph: &Graph, pfaffian: &Pfaffian, n: usize, on_constraints: bool) -> Vec<StateValues> {
        let model = &self.equations.model;
        let symbols = model.state_symbols();
        let scales = scales(model, &self.start.q);
        let speeds = scales_of_velocities(&self.start.qdot, &scales);
        let moved = on_constraints && pfaffian.forms.iter().any(|f| f.is_function);
        let entries: Vec<Expr> = pfaffian.forms.iter().flat_map(|f| f.entries.iter().map(|(_, e)| *e)).collect();
        let Ok(program) = Program::new(graph, &symbols, &entries) else { return Vec::new() };
        let mut random = Random::new(self.settings.seed);
        let (mut states, mut mover) = (Vec::new(), StartProjector::default());
        for attempt in 0..tolerance::GENERIC_DISTANCES.len() * 2 * n {
            let distance = tolerance::GENERIC_DISTANCES[attempt / (2 * n)];
            let mut shift = |x: &[f64], sizes: &[f64]| -> Vec<f64> {
                x.iter().zip(sizes).map(|(x, s)| x + distance * s * random.next()).collect()
            };
            let (q, qdot) = (shift(&self.start.q, &scales), shift(&self.start.qdot, &speeds));
            let t = self.start.t + if pfaffian.has_time { distance * (1.0 + random.next()) } else { 0.0 };
            let mut state = State { t, q, qdot };
            if moved {
                match mover.moved(self.equations, state, self.settings, pfaffian.is_extended) {
                    Some(moved) => state = moved,
                    None => continue,
                }
            }
            let mut sample = StateValues { values: model.state_values(&state).into_iter().map(Noisy::exact).collect() };
            if moved {
                sample.blur(scales.iter().chain(&speeds), self.settings.projection_tolerance);
            }
            if sample.run(&program).is_some() {
                states.push(sample);
            }
            if states.len() == n {
                break;
            }
        }
        states
    }
}

impl Neighbourhood<'_> {
    /// States on the constraints at which the coefficients of the forms act, wherever these are.
    pub fn acting_states(&self, graph: &Graph, pfaffian: &Pfaffian, region: &Region, n: usize) -> Vec<StateValues> {
        let n_most = n;
        let model = &self.equations.model;
        let entries: Vec<Expr> = pfaffian.forms.iter().flat_map(|f| f.entries.iter().map(|(_, e)| *e)).collect();
        let Ok(program) = Program::new(graph, &model.state_symbols(), &entries) else { return Vec::new() };
        let (scales, n) = (scales(model, &self.start.q), self.start.q.len());
        let speeds = scales_of_velocities(&self.start.qdot, &scales);
        let sample = |values: Vec<f64>| {
            let state = State { t: values[0], q: values[1..=n].to_vec(), qdot: values[n + 1..=2 * n].to_vec() };
            let mut sample = StateValues { values: model.state_values(&state).into_iter().map(Noisy::exact).collect() };
            if !region.zeros.is_empty() {
                sample.blur(scales.iter().chain(&speeds), self.settings.projection_tolerance);
            }
            sample.run(&program).is_some().then_some(sample)
        };
        aimed_states(graph, &entries, region).into_iter().filter_map(sample).take(n_most).collect()
    }
}

/// The values of all symbols at one state, with their error bounds.
#[derive(Clone, Debug)]
pub(super) struct StateValues {
    pub values: Vec<Noisy>,
}

impl StateValues {
    /// Sets the error bounds of a state that was projected onto the constraints to the projection tolerance.
    fn blur<'s>(&mut self, scales: impl Iterator<Item = &'s f64>, tolerance: f64) {
        for (v, scale) in self.values[1..].iter_mut().zip(scales) {
            let size = scale.max(v.value().abs());
            *v = Noisy::within(v.value(), tolerance * size, size);
        }
    }

    /// The outputs of a program over all state symbols; `None` if one of them is not finite.
    pub fn run(&self, program: &Program) -> Option<Vec<Noisy>> {
        let values = noisy::run(program, &self.values);
        values.iter().all(|v| v.is_finite()).then_some(values)
    }

    /// The sample with every parameter changed at random by up to 30 %, to detect results that hold for special values
    /// only.
    pub fn with_other_parameters(&self, n_parameters: usize, random: &mut Random) -> StateValues {
        let mut values = self.values.clone();
        let first = values.len() - n_parameters;
        for v in &mut values[first..] {
            *v = Noisy::exact(v.value() * (1.0 + 0.3 * random.next()));
        }
        StateValues { values }
    }
}

/// The size of each coordinate: its own value, or that of coordinates and parameters of its dimension, or 1.
fn scales(model: &Model, q: &[f64]) -> Vec<f64> {
    let dimension = |k: usize| model.coordinates[k].dimension;
    // the largest value of each dimension
    let mut largest: Vec<(Dimension, f64)> = Vec::new();
    let mut note = |dimension: Option<Dimension>, size: f64| {
        let Some(dimension) = dimension.filter(|_| size > 0.0 && size.is_finite()) else { return };
        match largest.iter_mut().find(|(d, _)| *d == dimension) {
            Some((_, most)) => *most = most.max(size),
            None => largest.push((dimension, size)),
        }
    };
    (0..q.len()).for_each(|k| note(dimension(k), q[k].abs()));
    for (p, value) in model.parameters.iter().zip(&model.parameter_values) {
        note(p.unit.as_ref().map(|u| u.dimension), value.abs());
    }
    let of_others = |k: usize| largest.iter().find(|(d, _)| Some(*d) == dimension(k)).map(|(_, size)| *size);
    let scale = |k: usize| if q[k] != 0.0 { q[k].abs() } else { of_others(k).unwrap_or(1.0) };
    // an angle of 0.01 is a small angle, not a small unit
    let at_least = |k: usize| if dimension(k).is_none_or(|d| d.unit().is_empty()) { 1.0 } else { 0.0 };
    (0..q.len()).map(|k| scale(k).max(at_least(k))).collect()
}

/// The speed scale of each coordinate: that of the fastest relative rate.
fn scales_of_velocities(qdot: &[f64], scales: &[f64]) -> Vec<f64> {
    let fastest = qdot.iter().zip(scales).map(|(v, s)| v.abs() / s).fold(0.0, f64::max);
    let rate = if fastest > 0.0 && fastest.is_finite() { fastest } else { 1.0 };
    qdot.iter().zip(scales).map(|(v, s)| v.abs().max(rate * s)).collect()
}
