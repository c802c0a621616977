//! The programs of a motion beyond M, Q, A, b: residuals, work, events, derivatives.

use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;
use zwang_expr::{Expr, Graph};
use zwang_motion::{ConditionRate, Instant, Jacobian, Matrix, MotionError, Reaction, State};

use crate::compile::control_programs::weight;
use crate::compile::program::{Compiled, Jit};
use crate::equations::switches::switches;
use crate::equations::{Equations, SparseRow};
use crate::model::{Change, Derived, Level, Model};

use crate::units::Dimension;

/// The compiled functions that a motion needs.
#[derive(Clone)]
pub(crate) struct MotionPrograms {
    pub(crate) n_positions: usize,
    pub(crate) n_velocities: usize,
    /// True if M does not depend on the velocities.
    pub(crate) is_natural: bool,
    /// φ; then φ̇ and ψ.
    pub(crate) positions: Compiled,
    pub(crate) velocities: Compiled,
    /// The number of the unit of each coordinate; `None` for pure numbers.
    pub(crate) units: Vec<Option<usize>>,
    /// True if the model uses units.
    pub(crate) has_units: bool,
    /// The power of everything that changes the energy, if anything does; then the powers whose work is requested.
    integrands: Option<Compiled>,
    integrand_exprs: Vec<Expr>,
    nonideal_exprs: Vec<Expr>,
    pub(crate) has_power: bool,
    /// True if an integrand contains a multiplier, or a nonideal law adds to one.
    pub(crate) needs_lambda: bool,
    /// The powers of the nonideal laws whose work is requested, with λ of the ideal part.
    nonideal: Option<Compiled>,
    /// The constraints whose work is integrated, then the controls.
    pub(crate) works: Vec<Derived>,
    /// The conditions of `when`, then the switches of the formulas.
    events: Option<Compiled>,
    pub(crate) n_events: usize,
    n_whens: usize,
    /// The quantity that each `when` changes, and the new values.
    changes: Vec<Change>,
    /// ∂g/∂y of each condition, as places in (t, q, q̇), whether the condition is strict, and the program of all entries.
    condition_gradients: Vec<Vec<usize>>,
    strict: Vec<bool>,
    condition_entries: Option<Compiled>,
    new_values: Option<Compiled>,
    /// Parameters that depend on other parameters, in an order in which they can be evaluated.
    followers: Vec<usize>,
    follower_values: Option<Compiled>,
    inputs: Vec<f64>,
}

/// The derivatives of the equations of motion, compiled when a stiff method first needs them.
#[derive(Clone)]
pub(crate) struct Derivatives {
    pub(crate) program: Compiled,
    /// The graph of its expressions, for messages.
    pub(crate) graph: Arc<Graph>,
    pub(crate) empty: Jacobian,
    pub(crate) inputs: Vec<f64>,
}

impl MotionPrograms {
    /// Compiles the programs; `None` if a formula contains a symbol without a value.
    pub(crate) fn compile(equations: &mut Equations, jit: &Jit) -> Option<MotionPrograms> {
        let inputs = equations.model.state_symbols();
        let held = 2 * equations.model.coordinates.len() + 1..inputs.len();
        let level = |l: Level| equations.rows.iter().filter(|r| r.level == l).count();
        let (n_positions, n_velocities) = (level(Level::Position), level(Level::Velocity));
        let positions: Vec<Expr> = equations.rows[..n_positions].iter().map(|r| r.residual).collect();
        let velocities: Vec<Expr> = equations.rows.iter().filter_map(|r| r.rate).collect();
        let power = equations.power();
        let works: Vec<usize> = {
            let mut works: Vec<usize> = equations.model.derived.values().filter_map(work_of).collect();
            works.sort_unstable();
            works.dedup();
            works
        };
        let mut integrands: Vec<Expr> = power.whole.into_iter().collect();
        integrands.extend(works.iter().map(|&k| power.of_constraint[k]));
        let has_nonideal = works.iter().any(|&k| power.nonideal[k] != Expr::ZERO);
        let nonideal: Vec<Expr> = works.iter().filter(|_| has_nonideal).map(|&k| power.nonideal[k]).collect();
        let lambdas = equations.rows.iter().map(|r| r.lambda);
        let with_lambda: Vec<Expr> = inputs.iter().copied().chain(lambdas).collect();

        // a row may contain a switch that its derivatives do not show
        let stated = equations.rows.iter().flat_map(|r| [Some(r.residual), r.rate]).flatten();
        let formulas: Vec<Expr> = equations.formulas().into_iter().chain(stated).collect();
        let switching = switches(&mut equations.model.graph, &formulas);
        let (conditions, values): (Vec<Expr>, Vec<Expr>) = equations.whens.iter().copied().unzip();
        let (condition_gradients, gradient_exprs) =
            gradients(&mut equations.model.graph, &conditions, &inputs[..held.start]);
        let events: Vec<Expr> = conditions.iter().chain(&switching).copied().collect();
        let graph = &equations.model.graph;
        let lambda: FxHashSet<Expr> = equations.rows.iter().map(|r| r.lambda).collect();
        let needs_lambda = graph.symbols_of(&integrands).iter().any(|s| lambda.contains(s)) || has_nonideal;
        let compile = |inputs: &[Expr], exprs: &[Expr]| Compiled::moving(graph, inputs, held.clone(), exprs, jit);
        // switches of C contain λ, which is not a function of the state; they are not monitored
        let known: FxHashSet<Expr> = inputs.iter().copied().collect();
        let events: Vec<Expr> =
            events.into_iter().filter(|e| graph.symbols(*e).iter().all(|s| known.contains(s))).collect();
        let some = |inputs: &[Expr], exprs: &[Expr]| match exprs.is_empty() {
            true => Some(None),
            false => compile(inputs, exprs).map(Some),
        };
        let mut works: Vec<Derived> = works.into_iter().map(Derived::Work).collect();
        works.extend((0..equations.model.controls.len()).map(Derived::ControlWork));
        let followers = followers(&equations.model);
        let follower_exprs: Vec<Expr> = followers.iter().map(|&k| equations.model.parameters[k].value).collect();
        Some(MotionPrograms {
            n_positions,
            n_velocities,
            is_natural: is_natural(equations),
            positions: compile(&inputs, &positions)?,
            velocities: compile(&inputs, &velocities)?,
            units: units(&equations.model),
            has_units: equations.model.coordinates.iter().any(|c| c.dimension.is_some()),
            integrands: some(&with_lambda, &integrands)?,
            integrand_exprs: integrands,
            nonideal_exprs: nonideal.clone(),
            has_power: power.whole.is_some(),
            needs_lambda,
            nonideal: some(&with_lambda, &nonideal)?,
            works,
            n_events: events.len(),
            events: some(&inputs, &events)?,
            n_whens: values.len(),
            changes: equations.model.whens.iter().map(|w| w.change).collect(),
            condition_gradients,
            strict: equations.model.whens.iter().map(|w| w.is_strict).collect(),
            condition_entries: some(&inputs, &gradient_exprs)?,
            new_values: some(&inputs, &values)?,
            follower_values: some(&inputs, &follower_exprs)?,
            followers,
            inputs: Vec::with_capacity(with_lambda.len()),
        })
    }

    /// Adds the integrands of the motion to `source`.
    pub(crate) fn add_integrands(&self, source: &mut EquationTerms) {
        source.integrands = self.integrand_exprs.clone();
        source.nonideal_works = self.nonideal_exprs.clone();
        (source.has_power, source.needs_lambda) = (self.has_power, self.needs_lambda);
    }

    pub(crate) fn n_integrals(&self) -> usize {
        usize::from(self.has_power) + self.works.len()
    }

    /// The power and the powers whose work is requested; `of_controls` is the power of each control.
    pub(crate) fn rates(&mut self, values: &[f64], instant: &Instant, of_controls: &[f64], rates: &mut [f64]) {
        let Some(integrands) = &mut self.integrands else { return };
        self.inputs.clear();
        self.inputs.extend(values.iter().chain(&instant.lambda));
        let found = integrands.run(&self.inputs);
        let (rates, rest) = rates.split_at_mut(found.len());
        rates.copy_from_slice(found);
        let asked = self.works[self.works.len() - rest.len()..].iter();
        for (rate, work) in rest.iter_mut().zip(asked) {
            let Derived::ControlWork(k) = work else { continue };
            *rate = of_controls.get(*k).copied().unwrap_or(0.0);
        }
        if self.has_power {
            let parts = instant.nonideal_force.iter().zip(&instant.state.qdot);
            rates[0] += parts.map(|(force, v)| force * v).sum::<f64>() + of_controls.iter().sum::<f64>();
        }
        if let Some(nonideal) = &mut self.nonideal {
            self.inputs.truncate(values.len());
            self.inputs.extend(&instant.lambda_ideal);
            let works = &mut rates[usize::from(self.has_power)..];
            works.iter_mut().zip(nonideal.run(&self.inputs)).for_each(|(rate, power)| *rate += power);
        }
    }

    pub(crate) fn events(&mut self, values: &[f64], out: &mut [f64]) {
        if let Some(events) = &mut self.events {
            out.copy_from_slice(events.run(values));
        }
    }

    /// The number of conditions of `when`, the first of the events.
    pub(crate) fn n_conditions(&self) -> usize {
        self.n_whens
    }

    /// True if a condition is stated with `<` or `>`.
    pub(crate) fn is_strict(&self, condition: usize) -> bool {
        self.strict[condition]
    }

    /// ġ of each condition and the sizes of its terms, from the inputs, q̈ and the sizes of q̇.
    pub(crate) fn condition_rates(
        &mut self,
        values: &[f64],
        qddot: &[f64],
        speeds: &[f64],
        rates: &mut [ConditionRate],
    ) {
        let Some(program) = &mut self.condition_entries else { return rates.fill(ConditionRate::default()) };
        let n = qddot.len();
        let mut entries = program.run(values).iter();
        for (rate, places) in rates.iter_mut().zip(&self.condition_gradients) {
            *rate = ConditionRate::default();
            for (&place, d) in places.iter().zip(&mut entries) {
                let (y_rate, speed) = match place {
                    0 => (1.0, 1.0),
                    place if place <= n => (values[n + place], speeds[place - 1].max(values[n + place].abs())),
                    place => (qddot[place - n - 1], qddot[place - n - 1].abs()),
                };
                rate.rate += d * y_rate;
                rate.size += (d * values[place]).abs();
                rate.rate_size += d.abs() * speed;
            }
        }
    }

    /// The index of the `when` of an event; `None` if the event is a switch.
    pub(crate) fn when(&self, event: usize) -> Option<usize> {
        (event < self.n_whens).then_some(event)
    }

    /// Applies the change of a `when`; a switch changes only the formulas.
    pub(crate) fn apply_event(
        &mut self,
        event: usize,
        upwards: bool,
        values: &[f64],
        state: &mut State,
        parameters: &mut [f64],
    ) -> Result<Reaction, MotionError> {
        let Some(k) = self.when(event) else { return Ok(Reaction::Switch) };
        if !upwards {
            return Ok(Reaction::Ignore);
        }
        let value = self.new_values.as_mut().map_or(f64::NAN, |program| program.run(values)[k]);
        if !value.is_finite() {
            return Err(MotionError::NotFinite { what: "the new value of an event".into() });
        }
        match self.changes[k] {
            Change::Velocity(i) => state.qdot[i] = value,
            Change::Parameter(i) => {
                parameters[i] = value;
                self.follow(i, state, parameters);
            }
        }
        Ok(Reaction::Change)
    }

    /// Recomputes the parameters that depend on others, except the one that was set.
    fn follow(&mut self, set: usize, state: &State, parameters: &mut [f64]) {
        let Some(program) = &mut self.follower_values else { return };
        for _ in 0..self.followers.len() {
            self.inputs.clear();
            self.inputs.push(state.t);
            self.inputs.extend(state.q.iter().chain(&state.qdot).chain(parameters.iter()));
            let values = program.run(&self.inputs);
            for (&k, &value) in self.followers.iter().zip(values).filter(|(k, _)| **k != set) {
                parameters[k] = value;
            }
        }
    }
}

/// The gradient of each expression with respect to these symbols: the places of its entries, and all entries one after the
/// other.
fn gradients(graph: &mut Graph, exprs: &[Expr], symbols: &[Expr]) -> (Vec<Vec<usize>>, Vec<Expr>) {
    let place: FxHashMap<Expr, usize> = symbols.iter().enumerate().map(|(k, s)| (*s, k)).collect();
    let mut entries = Vec::new();
    let places = exprs.iter().map(|&e| {
        let gradient = graph.gradient_in(e, |s| place.contains_key(&s));
        entries.extend(gradient.iter().map(|(_, d)| *d));
        gradient.iter().map(|(s, _)| place[s]).collect()
    });
    (places.collect(), entries)
}

fn is_natural(equations: &Equations) -> bool {
    let masses: Vec<Expr> = equations.mass_matrix.iter().flatten().map(|(_, e)| *e).collect();
    let symbols = equations.model.graph.symbols_of(&masses);
    !equations.model.coordinates.iter().any(|c| symbols.contains(&c.qdot))
}

fn work_of(derived: &Derived) -> Option<usize> {
    match derived {
        Derived::Work(k) | Derived::Power(k) => Some(*k),
        _ => None,
    }
}

fn followers(model: &Model) -> Vec<usize> {
    (0..model.parameters.len()).filter(|&k| !model.graph.symbols(model.parameters[k].value).is_empty()).collect()
}

/// Coordinates of one dimension share a number; pure numbers, and all coordinates of a model without units, have
/// `None`.
fn units(model: &Model) -> Vec<Option<usize>> {
    let mut known: Vec<Dimension> = Vec::new();
    let number = |dimension: Option<Dimension>| {
        let dimension = dimension.filter(|d| !d.same(Dimension::NONE))?;
        let place = known.iter().position(|d| d.same(dimension));
        Some(place.unwrap_or_else(|| {
            known.push(dimension);
            known.len() - 1
        }))
    };
    model.coordinates.iter().map(|c| c.dimension).map(number).collect()
}

/// Derivatives of expressions by q, by q̇ and by λ of the ideal part, one sparse row for each expression.
type Gradients = [Vec<SparseRow>; 3];

impl Derivatives {
    /// The derivatives of Q + Aᵀλ − M q̈, of b − A q̈ and of C, with q̈ and λ as symbols.
    ///
    /// C contains the multipliers of the ideal part; those that act are symbols of their own.
    pub(crate) fn compile(source: &EquationTerms, jit: &Jit) -> Option<Derivatives> {
        let mut graph = Graph::clone(&source.graph);
        let (n, m) = (source.qddot.len(), source.rows.len());
        let acting: Vec<Expr> = (1..=m).map(|k| graph.symbol(&format!("acting λ {k}"), "λ")).collect();
        let (forces, rates) = source.balances(&mut graph, &acting);
        let [force, rate, nonideal] =
            [&forces, &rates, &source.nonideal].map(|sums| source.gradients(&mut graph, sums));
        let parts = [&force[0], &force[1], &rate[0], &rate[1], &nonideal[0], &nonideal[1], &nonideal[2]];
        let outputs: Vec<Expr> = parts.iter().flat_map(|rows| rows.iter().flatten().map(|(_, e)| *e)).collect();
        let symbols = [&source.inputs, &source.lambda, &acting, &source.qddot];
        let inputs: Vec<Expr> = symbols.into_iter().flatten().copied().collect();
        let program = Compiled::moving(&graph, &inputs, source.held(), &outputs, jit)?;
        let matrix = |rows: &[SparseRow], n_columns: usize| {
            let columns: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().map(|(k, _)| *k).collect()).collect();
            Matrix::from_pattern(rows.len(), n_columns, &columns)
        };
        let empty = Jacobian {
            force_by_q: matrix(&force[0], n),
            force_by_qdot: matrix(&force[1], n),
            rows_by_q: matrix(&rate[0], n),
            rows_by_qdot: matrix(&rate[1], n),
            nonideal_by_q: matrix(&nonideal[0], n),
            nonideal_by_qdot: matrix(&nonideal[1], n),
            nonideal_by_lambda: matrix(&nonideal[2], m),
        };
        Some(Derivatives { program, graph: Arc::new(graph), empty, inputs: Vec::with_capacity(inputs.len()) })
    }
}

/// The expressions from which explicit accelerations and derivatives are compiled.
#[derive(Clone)]
pub(crate) struct EquationTerms {
    pub(crate) graph: Arc<Graph>,
    pub(crate) inputs: Vec<Expr>,
    pub(crate) q: Vec<Expr>,
    pub(crate) qdot: Vec<Expr>,
    pub(crate) qddot: Vec<Expr>,
    pub(crate) lambda: Vec<Expr>,
    pub(crate) mass: Vec<SparseRow>,
    pub(crate) force: Vec<Expr>,
    pub(crate) nonideal: Vec<Expr>,
    pub(crate) rows: Vec<SparseRow>,
    pub(crate) rhs: Vec<Expr>,
    /// φ of the rows on positions; φ̇ and ψ of those on positions or velocities.
    pub(crate) positions: Vec<Expr>,
    pub(crate) velocities: Vec<Expr>,
    /// The power, if anything changes the energy, and the powers whose work is requested.
    pub(crate) integrands: Vec<Expr>,
    pub(crate) has_power: bool,
    /// True if an integrand contains a multiplier.
    pub(crate) needs_lambda: bool,
    /// The contributions of the nonideal laws to the last integrands, with λ of the ideal part.
    pub(crate) nonideal_works: Vec<Expr>,
    /// A_c and b_c of controls, the coordinates they drive, W if it is stated, and the control of each row.
    pub(crate) asked: Vec<SparseRow>,
    pub(crate) asked_rhs: Vec<Expr>,
    pub(crate) driven: Vec<usize>,
    pub(crate) weight: Vec<Expr>,
    pub(crate) owner: Vec<usize>,
    pub(crate) n_controls: usize,
}

impl EquationTerms {
    /// Q + Aᵀλ − M q̈ and b − A q̈, with these symbols for λ.
    fn balances(&self, graph: &mut Graph, lambda: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
        let less_products = |graph: &mut Graph, first: Expr, row: &SparseRow| {
            let products = row.iter().map(|&(j, entry)| graph.mul(entry, self.qddot[j])).collect::<Vec<_>>();
            let mut terms = vec![first];
            terms.extend(products.into_iter().map(|product| graph.neg(product)));
            graph.sum(&terms)
        };
        let mut forces: Vec<Expr> =
            self.force.iter().zip(&self.mass).map(|(&force, row)| less_products(graph, force, row)).collect();
        for (row, &lambda) in self.rows.iter().zip(lambda) {
            for &(j, entry) in row {
                let pull = graph.mul(entry, lambda);
                forces[j] = graph.add(forces[j], pull);
            }
        }
        let rates = self.rhs.iter().zip(&self.rows).map(|(&rhs, row)| less_products(graph, rhs, row)).collect();
        (forces, rates)
    }

    fn gradients(&self, graph: &mut Graph, sums: &[Expr]) -> Gradients {
        let n = self.q.len();
        let place: FxHashMap<Expr, usize> =
            self.q.iter().chain(&self.qdot).chain(&self.lambda).enumerate().map(|(k, e)| (*e, k)).collect();
        let mut parts = Gradients::default();
        for &sum in sums {
            let mut row: [SparseRow; 3] = Default::default();
            for (symbol, entry) in graph.gradient_in(sum, |s| place.contains_key(&s)) {
                let (side, k) = match place[&symbol] {
                    k if k < n => (0, k),
                    k if k < 2 * n => (1, k - n),
                    k => (2, k - 2 * n),
                };
                if entry != Expr::ZERO {
                    row[side].push((k, entry));
                }
            }
            for (part, mut row) in parts.iter_mut().zip(row) {
                row.sort_by_key(|(k, _)| *k);
                part.push(row);
            }
        }
        parts
    }

    /// The range of the inputs that are parameters.
    pub(crate) fn held(&self) -> Range<usize> {
        1 + 2 * self.q.len()..self.inputs.len()
    }

    /// Adds inputs after the parameters, for numbers that are constant during a motion.
    pub(crate) fn with_inputs(mut self, names: impl Iterator<Item = String>) -> (EquationTerms, Vec<Expr>) {
        let mut graph = Graph::clone(&self.graph);
        let symbols: Vec<Expr> = names.map(|name| graph.symbol(&name, &name)).collect();
        self.inputs.extend(&symbols);
        self.graph = Arc::new(graph);
        (self, symbols)
    }

    /// These terms in expressions that take less work with constant parameters. Derivatives should be taken before.
    pub(crate) fn shortened(&self) -> EquationTerms {
        let mut graph = Graph::clone(&self.graph);
        let held: FxHashSet<Expr> = self.inputs[self.held()].iter().copied().collect();
        let matrices = self.mass.iter().chain(&self.rows).chain(&self.asked).flatten().map(|(_, e)| *e);
        let vectors = [
            &self.force,
            &self.rhs,
            &self.nonideal,
            &self.positions,
            &self.velocities,
            &self.integrands,
            &self.asked_rhs,
            &self.weight,
        ];
        let all: Vec<Expr> = matrices.chain(vectors.into_iter().flatten().copied()).collect();
        let mut short = graph.shortened(&all, |s| held.contains(&s)).into_iter();
        let mut next = || short.next().expect("as many as were given");
        let mut matrix = |rows: &[SparseRow]| -> Vec<SparseRow> {
            rows.iter().map(|row| row.iter().map(|(j, _)| (*j, next())).collect()).collect()
        };
        let (mass, rows, asked) = (matrix(&self.mass), matrix(&self.rows), matrix(&self.asked));
        let mut vector = |exprs: &[Expr]| -> Vec<Expr> { exprs.iter().map(|_| next()).collect() };
        let [force, rhs, nonideal, positions, velocities, integrands, asked_rhs, weight] =
            vectors.map(|exprs| vector(exprs));
        let graph = Arc::new(graph);
        let moved = EquationTerms { graph, mass, force, nonideal, rows, rhs, ..self.clone() };
        EquationTerms { positions, velocities, integrands, asked, asked_rhs, weight, ..moved }
    }

    pub(crate) fn new(equations: &Equations) -> EquationTerms {
        let model = &equations.model;
        let driven = if equations.asked.is_empty() { Vec::new() } else { model.driven() };
        EquationTerms {
            graph: Arc::new(model.graph.clone()),
            inputs: model.state_symbols(),
            q: model.coordinates.iter().map(|c| c.q).collect(),
            qdot: model.coordinates.iter().map(|c| c.qdot).collect(),
            qddot: model.coordinates.iter().map(|c| c.qddot).collect(),
            lambda: equations.rows.iter().map(|r| r.lambda).collect(),
            mass: equations.mass_matrix.clone(),
            force: equations.given_force.clone(),
            nonideal: equations.nonideal_force.clone(),
            rows: equations.rows.iter().map(|r| r.coefficients.clone()).collect(),
            rhs: equations.rows.iter().map(|r| r.rhs).collect(),
            positions: equations.rows.iter().filter(|r| r.level == Level::Position).map(|r| r.residual).collect(),
            velocities: equations.rows.iter().filter_map(|r| r.rate).collect(),
            integrands: Vec::new(),
            has_power: false,
            needs_lambda: false,
            nonideal_works: Vec::new(),
            asked: equations.asked.iter().map(|r| r.row.coefficients.clone()).collect(),
            asked_rhs: equations.asked.iter().map(|r| r.row.rhs).collect(),
            weight: weight(equations, &driven),
            owner: equations.asked.iter().map(|r| r.row.constraint).collect(),
            n_controls: model.controls.len(),
            driven,
        }
    }
}
