//! The equations of a model as expressions: M, Q, A, b, φ, ψ, C, momenta and energy.

mod rows;
pub(crate) mod sharp;
pub(crate) mod switches;
pub(crate) mod zero;

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph, Node};

pub(crate) use crate::equations::rows::ContactRows;
pub use crate::equations::rows::RowKind;
use crate::equations::rows::derive_rows;
use crate::equations::switches::switches_by;
use crate::equations::zero::is_zero;
use crate::model::{Coordinate, Derived, Level, Load, Model, Plot, Row, When};

/// A named quantity that shortens the formulas which use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The symbol that stands for it in later formulas.
    pub symbol: Expr,
    /// The printed name, in model syntax: `S_rod_rod`, `a_x`, `D_2`; unused in the model.
    pub name: String,
    /// Its meaning in words, common to all parts of a kind.
    pub meaning: String,
    /// Its formula, which may use earlier parts.
    pub value: Expr,
}

/// A sparse vector: index and value of each nonzero entry.
pub type SparseRow = Vec<(usize, Expr)>;

/// One constraint row, ready for A q̈ = b.
#[derive(Clone, Debug)]
pub struct ConstraintRow {
    /// Name of the row: `rod[2]`, `pin.x`.
    pub name: String,
    /// Index of the constraint in the model.
    pub constraint: usize,
    /// Positions, velocities or accelerations.
    pub level: Level,
    /// φ, ψ or the acceleration row as written: lhs − rhs.
    pub residual: Expr,
    /// The row at velocity level: φ̇, or ψ itself; `None` for rows on accelerations.
    pub rate: Option<Expr>,
    /// The row of A.
    pub coefficients: SparseRow,
    /// The entry of b.
    pub rhs: Expr,
    /// Its multiplier, a symbol.
    pub lambda: Expr,
    /// When it is a constraint.
    pub kind: RowKind,
}

/// One control row, ready for A_c q̈ = b_c.
#[derive(Clone, Debug)]
pub struct ControlRow {
    /// The row; `constraint` is the index of the control, and b contains the terms that make an error decay.
    pub row: ConstraintRow,
    /// True if the row is tracked exactly: its drift is removed by projection.
    pub is_held: bool,
    /// True if the start must satisfy the row.
    pub binds_start: bool,
}

/// The Legendre data of the two-form route, Y05 3.1.
#[derive(Clone, Debug)]
pub struct LegendreExpressions {
    /// ∂pᵢ/∂qⱼ.
    pub momentum_by_q: Vec<SparseRow>,
    /// ∂p/∂t.
    pub momentum_by_t: Vec<Expr>,
    /// ∂E/∂q.
    pub energy_by_q: Vec<Expr>,
    /// ∂E/∂q̇.
    pub energy_by_qdot: Vec<Expr>,
}

/// The equations of motion as expressions: printable, comparable, still symbolic.
#[derive(Clone)]
pub struct Equations {
    /// The model they follow from; its graph holds all expressions.
    pub model: Model,
    /// L.
    pub lagrangian: Expr,
    /// T: the part of L that vanishes with the velocities.
    pub kinetic: Expr,
    /// V = T − L.
    pub potential: Expr,
    /// p = ∂L/∂q̇.
    pub momentum: Vec<Expr>,
    /// E = p·q̇ − L.
    pub energy: Expr,
    /// M = ∂²L/∂q̇∂q̇, full rows.
    pub mass_matrix: Vec<SparseRow>,
    /// F: applied forces and −∂D/∂q̇.
    pub applied_force: Vec<Expr>,
    /// Q = F + ∂L/∂q − (∂p/∂q) q̇ − ∂p/∂t.
    pub given_force: Vec<Expr>,
    /// The rows of A q̈ = b: positions first, then velocities, then accelerations.
    pub rows: Vec<ConstraintRow>,
    /// The rows of A_c q̈ = b_c: exactly tracked ones on positions, exactly tracked ones on velocities, the others.
    pub asked: Vec<ControlRow>,
    /// C, with the multipliers of the ideal part as symbols; empty if every constraint is ideal.
    pub nonideal_force: Vec<Expr>,
    /// The outputs, with energies and momenta substituted.
    pub outputs: Vec<Expr>,
    /// For each plot its curves, then its abscissa unless that is t, with energies and momenta substituted.
    pub plots: Vec<Vec<Expr>>,
    /// For each event its condition g ≥ 0 and the new value, with energies and momenta substituted.
    pub whens: Vec<(Expr, Expr)>,
    /// Common parts that shorten the formulas, see [`Equations::printed`]; empty as derived.
    pub parts: Vec<Part>,
    /// The rows of a motion with contacts or friction; `rows` are the permanent ones of these. `None` if there are no others.
    pub(crate) contact_rows: Option<Arc<ContactRows>>,
}

impl Equations {
    /// Derives the equations of motion.
    ///
    /// $$ M = \frac{\partial^2 L}{\partial\dot q\,\partial\dot q}, \qquad
    ///    Q = F + \frac{\partial L}{\partial q} - \frac{\partial p}{\partial q}\,\dot q - \frac{\partial p}{\partial t} $$
    ///
    /// One reverse sweep gives all momenta, one sweep per momentum its row of M and its part of Q, so a coordinate
    /// that does not occur adds no work.
    pub fn derive(mut model: Model) -> Equations {
        let symbols = Symbols::new(model.time, &model.coordinates);
        let (kinetic, potential, lagrangian) = energies(&mut model, &symbols);
        let graph = &mut model.graph;

        // p = ∂L/∂q̇ and ∂L/∂q in one sweep for each part of L: the kinetic part cancels against the rates of the
        // momenta
        let n = model.coordinates.len();
        let mut momentum = vec![Expr::ZERO; n];
        let mut force = applied_force(graph, &model.coordinates, &symbols, &model.forces, model.dissipation);
        let applied_force = force.clone();
        let is_velocity = |s: Expr| matches!(symbols.of(s), Some(StateSymbol::Velocity(_)));
        for part in moving_and_resting(graph, lagrangian, is_velocity) {
            for (symbol, derivative) in graph.gradient_in(part, |s| symbols.is_state(s)) {
                match symbols.of(symbol) {
                    Some(StateSymbol::Velocity(k)) => momentum[k] = graph.add(momentum[k], derivative),
                    Some(StateSymbol::Position(k)) => force[k] = graph.add(force[k], derivative),
                    _ => {}
                }
            }
        }

        // one row of M from each momentum, and the velocity terms of Q: the rate of the momentum at constant q̇
        let mut upper: Vec<SparseRow> = vec![Vec::new(); n];
        for k in 0..n {
            for (symbol, derivative) in graph.gradient_in(momentum[k], is_velocity) {
                if let Some(StateSymbol::Velocity(j)) = symbols.of(symbol) {
                    upper[k].extend((j >= k).then_some((j, derivative)));
                }
            }
        }
        let at_constant_velocity = |s: Expr| match symbols.of(s) {
            Some(StateSymbol::Position(j)) => model.coordinates[j].qdot,
            Some(StateSymbol::Time) => Expr::ONE,
            _ => Expr::ZERO,
        };
        for (k, rate) in graph.tangents(&momentum, at_constant_velocity).into_iter().enumerate() {
            force[k] = graph.sub(force[k], rate);
        }

        let products: Vec<Expr> = (0..n).map(|k| graph.mul(momentum[k], model.coordinates[k].qdot)).collect();
        let action = graph.sum(&products);
        let energy = graph.sub(action, lagrangian);
        let contact_rows = ContactRows::derive(&mut model, &symbols);
        let rows = match &contact_rows {
            Some(contact) => contact.permanent(),
            None => {
                let constraints = std::mem::take(&mut model.constraints);
                let rows = derive_rows(&mut model, &constraints, &symbols, |_, _| RowKind::Permanent);
                model.constraints = constraints;
                rows
            }
        };
        let asked = asked_rows(&mut model, &symbols);
        let mut equations = Equations {
            model,
            lagrangian,
            kinetic,
            potential,
            momentum,
            energy,
            mass_matrix: mirrored(upper),
            applied_force,
            given_force: force,
            rows,
            asked,
            nonideal_force: Vec::new(),
            outputs: Vec::new(),
            plots: Vec::new(),
            whens: Vec::new(),
            parts: Vec::new(),
            contact_rows,
        };
        equations.finish(&symbols);
        equations
    }

    /// Completes C, outputs, plots and events by substituting energies and momenta.
    fn finish(&mut self, symbols: &Symbols) {
        let mut known: HashMap<Expr, Expr> = HashMap::new();
        for (&symbol, derived) in &self.model.derived {
            let value = match *derived {
                Derived::Energy => self.energy,
                Derived::Kinetic => self.kinetic,
                Derived::Potential => self.potential,
                Derived::Momentum(k) => self.momentum[k],
                Derived::Gaussian
                | Derived::Work(_)
                | Derived::Power(_)
                | Derived::ControlWork(_)
                | Derived::ControlPower(_)
                | Derived::Undetermined => continue,
                // without controls the control force is zero
                Derived::Control(_) if self.model.controls.is_empty() => Expr::ZERO,
                Derived::Control(_) => continue,
            };
            known.insert(symbol, value);
        }
        let Model { graph, outputs, plots, whens, .. } = &mut self.model;
        let outputs: Vec<Expr> = outputs.iter().map(|o| o.expr).collect();
        self.outputs = graph.substitute(&outputs, &known);
        let exprs = |plot: &Plot| plot.curves.iter().chain(&plot.versus).map(|o| o.expr).collect::<Vec<_>>();
        self.plots = plots.iter().map(|plot| graph.substitute(&exprs(plot), &known)).collect();
        let put_in = |when: &When, graph: &mut Graph| {
            let parts = graph.substitute(&[when.condition, when.value], &known);
            (parts[0], parts[1])
        };
        self.whens = whens.iter().map(|when| put_in(when, graph)).collect();
        if !self.model.nonideal.is_empty() {
            let graph = &mut self.model.graph;
            let nonideal = applied_force(graph, &self.model.coordinates, symbols, &self.model.nonideal, Expr::ZERO);
            self.nonideal_force = self.model.graph.substitute(&nonideal, &known);
        }
    }

    /// True if some constraint does work beyond its ideal part: by a nonideal law, or by friction.
    pub(crate) fn has_nonideal_parts(&self) -> bool {
        !(self.nonideal_force.is_empty() && self.model.frictions.is_empty())
    }

    /// Every formula that determines the motion: M, Q, A, b, C and the control rows.
    pub(crate) fn formulas(&self) -> Vec<Expr> {
        let masses = self.mass_matrix.iter().flatten().map(|(_, e)| *e);
        let rows = self.rows.iter().flat_map(|r| r.coefficients.iter().map(|(_, e)| *e).chain([r.rhs]));
        let asked = self.asked.iter().flat_map(|r| r.row.coefficients.iter().map(|(_, e)| *e).chain([r.row.rhs]));
        let weights = self.model.controls.iter().flat_map(|c| c.weight.iter().copied());
        let physical = masses.chain(self.given_force.iter().copied()).chain(rows);
        physical.chain(self.nonideal_force.iter().copied()).chain(asked).chain(weights).collect()
    }

    /// The power that changes the energy: dE/dt = F·q̇ − ∂L/∂t + λᵀA q̇ + (C + u)·q̇; without C and u here.
    pub(crate) fn power(&mut self) -> Power {
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let Model { graph, coordinates, time, constraints, frictions, .. } = &mut self.model;
        let slips: Vec<Expr> = frictions.iter().flat_map(|law| &law.slip).map(|row| row.lambda).collect();
        let mut terms: Vec<Expr> = Vec::new();
        for (c, &force) in coordinates.iter().zip(&self.applied_force) {
            terms.push(graph.mul(force, c.qdot));
        }
        for (symbol, derivative) in graph.gradient_in(self.lagrangian, |s| symbols.is_state(s)) {
            if symbol == *time {
                terms.push(graph.neg(derivative));
            }
        }
        let mut of_constraint = vec![Expr::ZERO; constraints.len()];
        let mut works = !self.nonideal_force.is_empty() || !self.asked.is_empty();
        for row in &self.rows {
            let parts: Vec<Expr> = row.coefficients.iter().map(|&(j, e)| graph.mul(e, coordinates[j].qdot)).collect();
            let motion = graph.sum(&parts);
            // a sliding place does not satisfy its slip row, and friction does work there
            let slides = row.level == Level::Velocity && slips.contains(&row.lambda);
            // on the constraint the rate is zero, so A q̇ is the negative of the part of the rate that does not
            // contain velocities
            let mut motion = row.rate.filter(|_| !slides).map_or(motion, |rate| graph.sub(motion, rate));
            // a term that a switch in time turns on is zero before
            if !slides && is_idle(graph, &symbols, row, motion) && !switches_by(graph, &[motion], |s| s == *time) {
                motion = Expr::ZERO;
            }
            let power = graph.mul(row.lambda, motion);
            of_constraint[row.constraint] = graph.add(of_constraint[row.constraint], power);
            works |= motion != Expr::ZERO;
            terms.push(power);
        }
        let nonideal = self.nonideal_power();
        let graph = &mut self.model.graph;
        let applied = graph.sum(&terms[..terms.len() - self.rows.len()]);
        let whole = (works || applied != Expr::ZERO).then(|| graph.sum(&terms));
        Power { whole, of_constraint, nonideal }
    }

    /// The power of the nonideal laws, each attributed to the constraint whose reaction alone it contains.
    fn nonideal_power(&mut self) -> Vec<Expr> {
        let Model { graph, coordinates, constraints, nonideal, .. } = &mut self.model;
        let mut powers = vec![Expr::ZERO; constraints.len()];
        for load in nonideal.iter() {
            let (parts, rates): (Vec<Expr>, Vec<Expr>) = match load {
                Load::Coordinate(k, force) => (vec![*force], vec![coordinates[*k].qdot]),
                Load::Torque(omega, parts) => (parts.clone(), omega.clone()),
                Load::Point(place, parts) => {
                    let rate = |e: &Expr| graph.rate(*e).unwrap_or(Expr::ZERO);
                    (parts.clone(), place.iter().map(rate).collect())
                }
            };
            let used = graph.symbols_of(&parts);
            let mut owners =
                (0..constraints.len()).filter(|&k| constraints[k].rows.iter().any(|r| used.contains(&r.lambda)));
            if let (Some(owner), None) = (owners.next(), owners.next()) {
                for (&force, &rate) in parts.iter().zip(&rates) {
                    let power = graph.mul(force, rate);
                    powers[owner] = graph.add(powers[owner], power);
                }
            }
        }
        powers
    }

    /// The Legendre data: derivatives of p and of E, derived independently of M and Q.
    pub fn legendre(&mut self) -> LegendreExpressions {
        let symbols = Symbols::new(self.model.time, &self.model.coordinates);
        let n = self.momentum.len();
        let graph = &mut self.model.graph;
        let mut data = LegendreExpressions {
            momentum_by_q: vec![Vec::new(); n],
            momentum_by_t: vec![Expr::ZERO; n],
            energy_by_q: vec![Expr::ZERO; n],
            energy_by_qdot: vec![Expr::ZERO; n],
        };
        for (i, &p) in self.momentum.iter().enumerate() {
            for (symbol, derivative) in graph.gradient_in(p, |s| symbols.is_state(s)) {
                match symbols.of(symbol) {
                    Some(StateSymbol::Position(j)) => data.momentum_by_q[i].push((j, derivative)),
                    Some(StateSymbol::Time) => data.momentum_by_t[i] = derivative,
                    _ => {}
                }
            }
        }
        for (symbol, derivative) in graph.gradient_in(self.energy, |s| symbols.is_state(s)) {
            match symbols.of(symbol) {
                Some(StateSymbol::Position(j)) => data.energy_by_q[j] = derivative,
                Some(StateSymbol::Velocity(j)) => data.energy_by_qdot[j] = derivative,
                _ => {}
            }
        }
        data
    }
}

/// `true` if it is proved that A q̇ is zero wherever a row holds; `motion` is A q̇ less the rate.
fn is_idle(graph: &mut Graph, symbols: &Symbols, row: &ConstraintRow, motion: Expr) -> bool {
    let entries: Vec<Expr> = row.coefficients.iter().map(|(_, e)| *e).collect();
    let has = |graph: &Graph, exprs: &[Expr], is_meant: &dyn Fn(StateSymbol) -> bool| {
        graph.symbols_of(exprs).into_iter().filter_map(|s| symbols.of(s)).any(is_meant)
    };
    match row.level {
        // φ̇ = φ_q q̇ without the time, by the chain rule
        Level::Position if !has(graph, &[row.residual], &|kind| kind == StateSymbol::Time) => true,
        // ψ = A q̇ + ψ₀ if A does not depend on velocities
        Level::Velocity if !has(graph, &entries, &|kind| matches!(kind, StateSymbol::Velocity(_))) => {
            let rest = graph.substitute(&[row.residual], &symbols.rest)[0];
            is_zero(graph, rest)
        }
        _ => is_zero(graph, motion),
    }
}

/// Powers, with the acting multipliers as symbols.
pub(crate) struct Power {
    /// The power of applied forces, time and constraints together; `None` if it is structurally zero.
    pub(crate) whole: Option<Expr>,
    /// λᵀA q̇ of each constraint.
    pub(crate) of_constraint: Vec<Expr>,
    /// The power of the nonideal laws of each constraint, with the multipliers of the ideal part.
    pub(crate) nonideal: Vec<Expr>,
}

/// The kind of a symbol of the state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum StateSymbol {
    Time,
    Position(usize),
    Velocity(usize),
    Acceleration(usize),
}

/// The kind of every symbol, and the substitutions that set velocities or accelerations to zero.
pub(crate) struct Symbols {
    kinds: FxHashMap<Expr, StateSymbol>,
    rest: HashMap<Expr, Expr>,
    unaccelerated: HashMap<Expr, Expr>,
}

impl Symbols {
    pub(crate) fn new(time: Expr, coordinates: &[Coordinate]) -> Symbols {
        let mut kinds = FxHashMap::default();
        kinds.insert(time, StateSymbol::Time);
        for (k, c) in coordinates.iter().enumerate() {
            kinds.insert(c.q, StateSymbol::Position(k));
            kinds.insert(c.qdot, StateSymbol::Velocity(k));
            kinds.insert(c.qddot, StateSymbol::Acceleration(k));
        }
        let rest = coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
        let unaccelerated = coordinates.iter().map(|c| (c.qddot, Expr::ZERO)).collect();
        Symbols { kinds, rest, unaccelerated }
    }

    fn of(&self, symbol: Expr) -> Option<StateSymbol> {
        self.kinds.get(&symbol).copied()
    }

    fn is_state(&self, symbol: Expr) -> bool {
        !matches!(self.of(symbol), None | Some(StateSymbol::Acceleration(_)))
    }
}

/// The terms of a sum with velocities, and those without.
fn moving_and_resting(graph: &mut Graph, sum: Expr, is_velocity: impl Fn(Expr) -> bool) -> [Expr; 2] {
    let (mut moving, mut resting, mut stack) = (Vec::new(), Vec::new(), vec![sum]);
    while let Some(e) = stack.pop() {
        match graph.node(e) {
            Node::Add(a, b) => stack.extend([b, a]),
            _ if graph.symbols(e).iter().any(|&s| is_velocity(s)) => moving.push(e),
            _ => resting.push(e),
        }
    }
    [graph.sum(&moving), graph.sum(&resting)]
}

/// T, V and L; a stated Lagrangian is split at q̇ = 0.
fn energies(model: &mut Model, symbols: &Symbols) -> (Expr, Expr, Expr) {
    let graph = &mut model.graph;
    let at_rest = graph.substitute(&[model.lagrangian], &symbols.rest)[0];
    let moving = graph.sub(model.lagrangian, at_rest);
    let kinetic = graph.add(model.kinetic, moving);
    let potential = graph.sub(model.potential, at_rest);
    if model.kinetic == Expr::ZERO && model.potential == Expr::ZERO {
        return (kinetic, potential, model.lagrangian);
    }
    let natural = graph.sub(model.kinetic, model.potential);
    (kinetic, potential, graph.add(natural, model.lagrangian))
}

/// Generalized forces by virtual work: Qᵢ = F·∂P/∂qᵢ, τ·∂ω/∂q̇ᵢ, and −∂D/∂q̇ᵢ.
pub(crate) fn applied_force(
    graph: &mut Graph,
    coordinates: &[Coordinate],
    symbols: &Symbols,
    loads: &[Load],
    dissipation: Expr,
) -> Vec<Expr> {
    let mut force = vec![Expr::ZERO; coordinates.len()];
    let mut add = |graph: &mut Graph, k: usize, term: Expr| force[k] = graph.add(force[k], term);
    for load in loads {
        let (places, parts) = match load {
            Load::Coordinate(k, f) => {
                add(graph, *k, *f);
                continue;
            }
            Load::Point(place, parts) => (place, parts),
            Load::Torque(omega, parts) => (omega, parts),
        };
        let is_point = matches!(load, Load::Point(..));
        for (&place, &part) in places.iter().zip(parts) {
            for (symbol, derivative) in graph.gradient_in(place, |s| symbols.is_state(s)) {
                let k = match symbols.of(symbol) {
                    Some(StateSymbol::Position(k)) if is_point => k,
                    Some(StateSymbol::Velocity(k)) if !is_point => k,
                    _ => continue,
                };
                let term = graph.mul(part, derivative);
                add(graph, k, term);
            }
        }
    }
    for (symbol, derivative) in graph.gradient_in(dissipation, |s| symbols.is_state(s)) {
        if let Some(StateSymbol::Velocity(k)) = symbols.of(symbol) {
            let term = graph.neg(derivative);
            add(graph, k, term);
        }
    }
    force
}

/// Both triangles from the upper one.
fn mirrored(upper: Vec<SparseRow>) -> Vec<SparseRow> {
    let mut full: Vec<SparseRow> = vec![Vec::new(); upper.len()];
    for (i, row) in upper.into_iter().enumerate() {
        for (j, entry) in row {
            full[i].push((j, entry));
            if i != j {
                full[j].push((i, entry));
            }
        }
    }
    full.iter_mut().for_each(|row| row.sort_by_key(|(j, _)| *j));
    full
}

/// The row of A that belongs to a constraint row: ∂φ/∂q, ∂ψ/∂q̇ or ∂χ/∂q̈.
pub(crate) fn constraint_row(graph: &mut Graph, symbols: &Symbols, row: &Row) -> SparseRow {
    let wanted = |symbol: Expr| match (row.level, symbols.of(symbol)) {
        (Level::Position, Some(StateSymbol::Position(k))) => Some(k),
        (Level::Velocity, Some(StateSymbol::Velocity(k))) => Some(k),
        (Level::Acceleration, Some(StateSymbol::Acceleration(k))) => Some(k),
        _ => None,
    };
    let gradient = graph.gradient_in(row.expr, |s| wanted(s).is_some());
    let mut entries: SparseRow = gradient.into_iter().filter_map(|(s, d)| Some((wanted(s)?, d))).collect();
    entries.sort_by_key(|(k, _)| *k);
    entries
}

/// The rows of A_c q̈ = b_c. A settling error obeys ε̈ + (2ζ/τ) ε̇ + ε/τ² = 0 on positions, ε̇ + ε/τ = 0 on velocities.
fn asked_rows(model: &mut Model, symbols: &Symbols) -> Vec<ControlRow> {
    let mut asked = Vec::new();
    for (k, control) in model.controls.iter().enumerate() {
        for row in &control.stated.rows {
            let (is_held, binds_start) = (control.is_held(row), control.binds_start(row));
            let graph = &mut model.graph;
            let mut ready = ready_row(graph, symbols, k, row.clone());
            if let (Some(tau), Some(rate)) = (control.settling, ready.rate) {
                let pull = match row.level {
                    Level::Position => {
                        // (2 ζ ε̇ + ε/τ)/τ
                        let twice = graph.add(control.damping, control.damping);
                        let (damped, part) = (graph.mul(twice, rate), graph.div(row.expr, tau));
                        let sum = graph.add(damped, part);
                        graph.div(sum, tau)
                    }
                    _ => graph.div(rate, tau),
                };
                ready.rhs = graph.sub(ready.rhs, pull);
            }
            asked.push(ControlRow { row: ready, is_held, binds_start });
        }
    }
    asked.sort_by_key(|r| (!r.is_held, r.row.level));
    asked
}

fn ready_row(graph: &mut Graph, symbols: &Symbols, constraint: usize, row: Row) -> ConstraintRow {
    // every symbol has a rate up to this level, except those that this version does not compute
    let rate = |graph: &mut Graph, e: Expr| graph.rate(e).unwrap_or(Expr::ZERO);
    let velocity_level = match row.level {
        Level::Position => Some(rate(graph, row.expr)),
        Level::Velocity => Some(row.expr),
        Level::Acceleration => None,
    };
    let acceleration_level = velocity_level.map_or(row.expr, |e| rate(graph, e));
    let rest = graph.substitute(&[acceleration_level], &symbols.unaccelerated)[0];
    let coefficients = constraint_row(graph, symbols, &row);
    ConstraintRow {
        name: row.name,
        constraint,
        level: row.level,
        residual: row.expr,
        rate: velocity_level,
        coefficients,
        rhs: graph.neg(rest),
        lambda: row.lambda,
        kind: RowKind::Permanent,
    }
}
