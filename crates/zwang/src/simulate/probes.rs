//! Quantities evaluated along the motion: outputs, curves, points and forces to draw.

use rustc_hash::FxHashSet;
use zwang_expr::Expr;
use zwang_motion::Instant;

use crate::compile::control_programs::{control_symbols, control_values};
use crate::compile::program::Compiled;
use crate::equations::Equations;
use crate::model::Derived;

/// One program for many expressions of state, λ, q̈, G and work.
pub(super) struct Probes {
    program: Option<Compiled>,
    /// Index of each expression among the values of the program; `None` if it cannot be computed.
    place: Vec<Option<usize>>,
    inputs: Vec<f64>,
    wants_gaussian: bool,
    /// The symbols of control forces and powers.
    controls: Vec<(Expr, Derived)>,
    /// Indices of the integrated works, and of their powers, that the expressions contain.
    works: Vec<usize>,
    powers: Vec<usize>,
}

/// The values that probes need in addition to the instant itself.
pub(super) struct ProbeContext<'a> {
    pub(super) parameters: &'a [f64],
    pub(super) gaussian: f64,
    pub(super) works: &'a [f64],
    /// The powers of the integrated works.
    pub(super) powers: &'a [f64],
    /// The power of each control.
    pub(super) control_powers: &'a [f64],
}

impl Probes {
    /// Compiles the expressions that can be computed; `works` are integrated.
    pub(super) fn new(equations: &Equations, works: &[Derived], exprs: &[Expr]) -> Probes {
        let model = &equations.model;
        let graph = &model.graph;
        let derived = |wanted: Derived| model.derived.iter().find(|(_, d)| **d == wanted).map(|(s, _)| *s);
        let gaussian = derived(Derived::Gaussian);
        let mut inputs = model.state_symbols();
        inputs.extend(equations.rows.iter().map(|r| r.lambda));
        inputs.extend(model.coordinates.iter().map(|c| c.qddot));
        let controls = control_symbols(model);
        inputs.extend(controls.iter().map(|(s, _)| *s));
        // of the integrated works only those that expressions contain have a symbol
        let asked = |of: fn(Derived) -> Option<Derived>| -> (Vec<usize>, Vec<Expr>) {
            let places = works.iter().enumerate();
            places.filter_map(|(k, &work)| Some((k, derived(of(work)?)?))).unzip()
        };
        let (work_places, work_symbols) = asked(Some);
        let (power_places, power_symbols) = asked(power_of);
        inputs.extend(work_symbols.into_iter().chain(power_symbols));
        inputs.extend(gaussian);
        let known: FxHashSet<Expr> = inputs.iter().copied().collect();
        let can = |e: &Expr| graph.symbols(*e).iter().all(|s| known.contains(s));
        let wanted: Vec<Expr> = exprs.iter().copied().filter(can).collect();
        let mut n_before = 0;
        let place = exprs.iter().map(|e| {
            can(e).then(|| {
                n_before += 1;
                n_before - 1
            })
        });
        Probes {
            place: place.collect(),
            program: Compiled::new(graph, &inputs, &wanted),
            inputs: Vec::with_capacity(inputs.len()),
            wants_gaussian: gaussian.is_some(),
            controls,
            works: work_places,
            powers: power_places,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.place.is_empty()
    }

    /// True if an expression contains G.
    pub(super) fn wants_gaussian(&self) -> bool {
        self.wants_gaussian
    }

    /// Reads the value of every expression, NaN if it cannot be computed.
    pub(super) fn read(&mut self, instant: &Instant, around: &ProbeContext, values: &mut Vec<f64>) {
        values.clear();
        let Some(program) = &mut self.program else {
            values.resize(self.place.len(), f64::NAN);
            return;
        };
        let state = &instant.state;
        self.inputs.clear();
        self.inputs.push(state.t);
        self.inputs.extend(state.q.iter().chain(&state.qdot).chain(around.parameters));
        self.inputs.extend(instant.lambda.iter().chain(&instant.qddot));
        self.inputs.extend(control_values(&self.controls, &instant.control_force, around.control_powers));
        self.inputs.extend(self.works.iter().map(|&k| around.works[k]));
        self.inputs.extend(self.powers.iter().map(|&k| around.powers[k]));
        self.inputs.resize(program.n_inputs(), around.gaussian);
        let found = program.run(&self.inputs);
        values.extend(self.place.iter().map(|place| place.map_or(f64::NAN, |k| found[k])));
    }
}

/// The power that belongs to the work of a constraint.
fn power_of(work: Derived) -> Option<Derived> {
    if let Derived::Work(k) = work { Some(Derived::Power(k)) } else { None }
}
