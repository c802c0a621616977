//! The stated model with names resolved: coordinates, parameters, energies, forces, constraints, start.

use rustc_hash::FxHashMap;
use std::ops::Range;
use zwang_expr::{Expr, Graph, Program};
use zwang_motion::State;

pub use crate::diagnostic::Level;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::quantity::{in_unit, with_unit};
use crate::syntax::Span;
use crate::units::{Dimension, Unit};

/// A generalized coordinate with its velocity and acceleration.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// Name as the user writes it: `θ`, `x[3]`.
    pub name: String,
    /// The user's description.
    pub description: Option<String>,
    /// q, a symbol.
    pub q: Expr,
    /// q̇, a symbol.
    pub qdot: Expr,
    /// q̈, a symbol.
    pub qddot: Expr,
    /// Its dimension, if the model states units.
    pub dimension: Option<Dimension>,
    /// Its declaration in the text.
    pub span: Span,
}

/// A number that can be changed without a new derivation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As the user writes it.
    pub name: String,
    /// The user's description.
    pub description: Option<String>,
    /// Its symbol.
    pub symbol: Expr,
    /// Its value in SI units, possibly in terms of other parameters.
    pub value: Expr,
    /// The range of admissible values.
    pub range: Option<(Expr, Expr)>,
    /// The unit its value was written with.
    pub unit: Option<Unit>,
    /// Its declaration in the text.
    pub span: Span,
}

/// An applied force, or a contribution to C.
#[derive(Clone, Debug)]
pub enum Load {
    /// On one coordinate.
    Coordinate(usize, Expr),
    /// A force at a point: position and force, component by component.
    Point(Vec<Expr>, Vec<Expr>),
    /// A torque on a body: its angular velocity and the torque, in space axes.
    Torque(Vec<Expr>, Vec<Expr>),
}

/// One scalar equation.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the row: `rod`, `rod[2]`, `pin.x`.
    pub name: String,
    /// lhs − rhs.
    pub expr: Expr,
    /// rhs alone, to distinguish both sides in messages.
    pub right: Expr,
    /// The highest derivative of the coordinates in the row.
    pub level: Level,
    /// Its multiplier, a symbol.
    pub lambda: Expr,
    /// Dimension of lhs − rhs, if the model states units.
    pub dimension: Option<Dimension>,
}

/// A stated constraint: one equality between scalars or vectors.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The user's label, or `c1`, `c2`, … for those without.
    pub name: String,
    /// Its rows; components of a vector that hold identically have none.
    pub rows: Vec<Row>,
    /// The number of components of the equation.
    pub n_components: usize,
    /// The equation in the text.
    pub span: Span,
    /// The friction statement of a constraint with friction, which is not ideal.
    pub friction: Option<Span>,
}

/// Coulomb friction, driven by the reaction of one constraint or contact.
#[derive(Clone, Debug)]
pub struct FrictionLaw {
    /// True for friction of a constraint, false for friction of a contact.
    pub constraint: bool,
    /// Index of the constraint or contact.
    pub of: usize,
    /// The static coefficient.
    pub static_mu: Expr,
    /// The kinetic coefficient.
    pub kinetic_mu: Expr,
    /// The force at the sliding point for a unit multiplier, for each normal row.
    pub forces: Vec<Vec<Expr>>,
    /// The slip velocity, one row per component.
    pub slip: Vec<Row>,
    /// The statement in the text.
    pub span: Span,
}

/// A control: a motion to be tracked.
#[derive(Clone, Debug)]
pub struct Control {
    /// The control target, as an equality.
    pub stated: Constraint,
    /// The coordinates that `using` names; empty if all may be driven.
    pub using: Vec<usize>,
    /// τ: the time in which an error decays. Without it the motion is tracked exactly.
    pub settling: Option<Expr>,
    /// ζ of a decaying error; 1 unless stated.
    pub damping: Expr,
    /// W of the minimum of wᵀW w, row after row for the coordinates it drives; empty for the mass metric.
    pub weight: Vec<Expr>,
    /// The largest force on each coordinate it drives; empty without bounds.
    pub limit: Vec<Expr>,
}

impl Control {
    /// The coordinates that it drives among n.
    pub fn driven(&self, n: usize) -> Vec<usize> {
        if self.using.is_empty() { (0..n).collect() } else { self.using.clone() }
    }

    /// True if the row is tracked exactly: its drift is removed by projection like that of a constraint.
    pub fn is_held(&self, row: &Row) -> bool {
        self.binds_start(row) && self.limit.is_empty()
    }

    /// True if the start must satisfy the row.
    pub fn binds_start(&self, row: &Row) -> bool {
        self.settling.is_none() && row.level != Level::Acceleration
    }
}

/// One equation of the start.
#[derive(Clone, Debug)]
pub struct InitialValue {
    /// The stated quantity: a coordinate, or a component of a point.
    pub quantity: Expr,
    /// Index of the coordinate, if the quantity is one.
    pub coordinate: Option<usize>,
    /// True for a velocity.
    pub is_velocity: bool,
    /// True for `=`, false for `~`.
    pub exact: bool,
    /// Its value in SI units.
    pub value: Expr,
    /// Its name as written, for messages.
    pub name: String,
    /// True if it comes from the command line.
    pub is_override: bool,
    /// Its position in the text.
    pub span: Span,
}

/// A quantity that requires the derived equations or the motion.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Derived {
    /// E = p·q̇ − L.
    Energy,
    /// T.
    Kinetic,
    /// V.
    Potential,
    /// G.
    Gaussian,
    /// pᵢ.
    Momentum(usize),
    /// Work of a constraint since the start.
    Work(usize),
    /// Power of a constraint.
    Power(usize),
    /// Control force on a coordinate.
    Control(usize),
    /// Work of a control since the start.
    ControlWork(usize),
    /// Power of a control.
    ControlPower(usize),
    /// A component of a reaction in a direction in which its point cannot move.
    Undetermined,
}

/// A quantity to be shown.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name; components of a vector are `name.x`.
    pub name: String,
    /// Its value in SI units.
    pub expr: Expr,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// Its dimension, if the model states units.
    pub dimension: Option<Dimension>,
}

/// Curves of one plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The curves, each named as the user wrote it.
    pub curves: Vec<Output>,
    /// The abscissa of the curves; `None` for t.
    pub versus: Option<Output>,
    /// The statement.
    pub span: Span,
}

/// The quantity that an event changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The parameter of this index.
    Parameter(usize),
    /// The velocity of the coordinate of this index.
    Velocity(usize),
}

/// An event: a change of a value at the time at which a condition becomes true.
#[derive(Clone, Debug)]
pub struct When {
    /// The condition as written: `t >= 2 s`.
    pub name: String,
    /// g, a function of the state: the condition is true if g ≥ 0.
    pub condition: Expr,
    /// True if the condition is true for g > 0 only: `x > 1`.
    pub is_strict: bool,
    /// The quantity that changes.
    pub change: Change,
    /// Its new value in SI units, a function of the state.
    pub value: Expr,
    /// The statement.
    pub span: Span,
}

/// An item to draw; its positions follow from a state, a force also from the multipliers.
#[derive(Clone, Debug)]
pub struct AnimateItem {
    /// `P[2]`, `rod`, `trace(P)`, `reaction(rod, P)`.
    pub name: String,
    /// Its kind and position.
    pub shape: Shape,
}

/// The shapes that can be drawn. All vectors have two components in the plane and three in space.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A point or particle.
    Point {
        /// Its position.
        place: Vec<Expr>,
        /// True for a particle.
        has_mass: bool,
    },
    /// A straight line between two points.
    Rod {
        /// One end.
        from: Vec<Expr>,
        /// The other end.
        to: Vec<Expr>,
    },
    /// A rigid body, drawn as the homogeneous ellipsoid of its mass and inertia.
    Body {
        /// Its centre of mass.
        place: Vec<Expr>,
        /// The images of the body axes in space: two vectors in the plane, three in space.
        axes: Vec<Vec<Expr>>,
        /// Its half-axes, one along each of `axes`; in the plane both are the radius of gyration.
        radii: Vec<Expr>,
    },
    /// The path of a point.
    Trace {
        /// Its position.
        place: Vec<Expr>,
    },
    /// The force of a constraint on a particle.
    Force {
        /// Its point of application.
        at: Vec<Expr>,
        /// Its components.
        force: Vec<Expr>,
    },
}

/// The duration, accuracy and method of a run.
#[derive(Clone, Debug)]
pub struct RunStatement {
    /// The duration, in seconds.
    pub duration: Expr,
    /// Relative tolerance.
    pub tolerance: Option<Expr>,
    /// One of [`METHODS`], and its position in the text.
    pub method: Option<(String, Span)>,
    /// The length of one step, in seconds.
    pub step: Option<Expr>,
}

/// The words that may follow `method` in a `run`.
pub const METHODS: [&str; 6] = ["auto", "order8", "order5", "stiff", "rattle", "rattle4"];

/// A statement that is understood and not computed by this version.
#[derive(Clone, Debug)]
pub struct Unsupported {
    /// The statement, in the user's words: "contact `floor`".
    pub what: String,
    /// True if the equations are incomplete without it.
    pub changes_motion: bool,
    /// Its position in the text.
    pub span: Span,
}

/// The stated problem. It never changes after it is built.
#[derive(Clone)]
pub struct Model {
    /// The title.
    pub title: String,
    /// The graph of all expressions.
    pub graph: Graph,
    /// t, a symbol.
    pub time: Expr,
    /// The coordinates.
    pub coordinates: Vec<Coordinate>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Sum of the kinetic energies.
    pub kinetic: Expr,
    /// Sum of the potential energies.
    pub potential: Expr,
    /// Sum of the stated Lagrangians.
    pub lagrangian: Expr,
    /// Rayleigh's dissipation function.
    pub dissipation: Expr,
    /// Applied forces.
    pub forces: Vec<Load>,
    /// Contributions to C.
    pub nonideal: Vec<Load>,
    /// The equalities.
    pub constraints: Vec<Constraint>,
    /// Unilateral constraints: gap ≥ 0.
    pub contacts: Vec<Constraint>,
    /// The restitution of each contact.
    pub restitutions: Vec<Expr>,
    /// Friction of constraints and contacts.
    pub frictions: Vec<FrictionLaw>,
    /// The controls.
    pub controls: Vec<Control>,
    /// The start.
    pub start: Vec<InitialValue>,
    /// The position of the start in the text.
    pub start_span: Option<Span>,
    /// The run.
    pub run: Option<RunStatement>,
    /// The outputs to show.
    pub outputs: Vec<Output>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Events.
    pub whens: Vec<When>,
    /// The items to draw.
    pub scene: Vec<AnimateItem>,
    /// Symbols that stand for derived quantities.
    pub derived: FxHashMap<Expr, Derived>,
    /// Statements that this version does not compute.
    pub later: Vec<Unsupported>,
    /// The field of `gravity`, for pictures; empty if there is none.
    pub gravity: Vec<Expr>,
    /// The first energy statement, for messages about mass.
    pub energy_span: Option<Span>,
    /// The values of the parameters, in SI.
    pub parameter_values: Vec<f64>,
}

impl Model {
    /// The number of coordinates, n.
    pub fn n_coordinates(&self) -> usize {
        self.coordinates.len()
    }

    /// The rows of all constraints: positions first, then velocities, then accelerations.
    pub fn rows(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.constraints.iter().flat_map(|c| &c.rows).collect();
        rows.sort_by_key(|row| row.level);
        rows
    }

    /// The contacts and frictions in words, such as "contact `floor`".
    pub fn only_at_times(&self) -> Vec<String> {
        let rough = |law: &FrictionLaw| match law.constraint {
            true => format!("friction of `{}`", self.constraints[law.of].name),
            false => format!("friction of `{}`", self.contacts[law.of].name),
        };
        let contacts = self.contacts.iter().map(|c| format!("contact `{}`", c.name));
        contacts.chain(self.frictions.iter().map(rough)).collect()
    }

    /// True if a coordinate or parameter has this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.coordinates.iter().any(|c| c.name == name) || self.parameters.iter().any(|p| p.name == name)
    }

    /// The events as statements: `when x >= 1: x' = -1`.
    pub fn events(&self) -> Vec<String> {
        let event = |when: &When| {
            let constant = self.graph.constant_value(when.value);
            let (changed, value) = match when.change {
                Change::Parameter(k) => {
                    let Parameter { name, unit, .. } = &self.parameters[k];
                    (name.clone(), constant.map(|x| in_unit(x, unit.as_ref())))
                }
                Change::Velocity(k) => {
                    let Coordinate { name, dimension, .. } = &self.coordinates[k];
                    let dimension = dimension.map(|d| d.times(Dimension::SECOND, -1.0));
                    (format!("{name}'"), constant.map(|x| with_unit(x, dimension)))
                }
            };
            format!("when {}: {changed} = {}", when.name, value.unwrap_or_else(|| self.graph.text(when.value)))
        };
        self.whens.iter().map(event).collect()
    }

    /// The position of the first contact or friction in the text.
    pub fn first_at_times(&self) -> Option<Span> {
        self.contacts.iter().map(|c| c.span).chain(self.frictions.iter().map(|law| law.span)).next()
    }

    /// The coordinates that controls drive.
    pub fn driven(&self) -> Vec<usize> {
        let mut driven: Vec<usize> = self.controls.iter().flat_map(|c| c.driven(self.n_coordinates())).collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }

    /// t, q, q̇ and the parameters: the inputs of every compiled expression of the state.
    pub fn state_symbols(&self) -> Vec<Expr> {
        let mut symbols = vec![self.time];
        symbols.extend(self.coordinates.iter().map(|c| c.q));
        symbols.extend(self.coordinates.iter().map(|c| c.qdot));
        symbols.extend(self.parameters.iter().map(|p| p.symbol));
        symbols
    }

    /// The time scale for "a little later": the duration of the run, else one second.
    pub fn horizon(&self) -> f64 {
        let duration = self.run.as_ref().map_or(1.0, |run| self.constants(&[run.duration])[0]);
        if duration.is_finite() && duration > 0.0 { duration } else { 1.0 }
    }

    /// The range of the parameters in [`Model::state_symbols`]; they are fixed inputs during a motion.
    pub fn held_symbols(&self) -> Range<usize> {
        let first = 1 + 2 * self.coordinates.len();
        first..first + self.parameters.len()
    }

    /// The values of [`Model::state_symbols`] at a state.
    pub fn state_values(&self, state: &State) -> Vec<f64> {
        let mut values = vec![state.t];
        values.extend(state.q.iter().chain(&state.qdot).chain(&self.parameter_values));
        values
    }

    /// The values of expressions that contain parameters only.
    pub fn constants(&self, exprs: &[Expr]) -> Vec<f64> {
        self.constants_in(&self.graph, exprs)
    }

    /// Evaluates again the parameters that are given by others, but not those of `set`.
    pub(crate) fn follow(&self, set: &[usize], values: &mut [f64]) {
        let symbols: Vec<Expr> = self.parameters.iter().map(|p| p.symbol).collect();
        let is_given = |k: &usize| !set.contains(k) && !self.graph.symbols(self.parameters[*k].value).is_empty();
        let followers: Vec<usize> = (0..values.len()).filter(is_given).collect();
        let exprs: Vec<Expr> = followers.iter().map(|&k| self.parameters[k].value).collect();
        // a parameter may depend on another that depends on a third
        for _ in 0..followers.len() {
            let found = evaluate(&self.graph, &symbols, values, &exprs);
            followers.iter().zip(found).for_each(|(&k, value)| values[k] = value);
        }
    }

    /// Z109: parameters that lie outside their own range.
    pub(crate) fn range_warnings(&self, graph: &Graph, values: &[f64]) -> Vec<Diagnostic> {
        let symbols: Vec<Expr> = self.parameters.iter().map(|p| p.symbol).collect();
        let warning = |(Parameter { name, span, range, .. }, value): (&Parameter, &f64)| {
            let bounds = range.map(|(low, high)| evaluate(graph, &symbols, values, &[low, high]))?;
            let is_outside = *value < bounds[0] || *value > bounds[1];
            let place = format!("{value} is not between {} and {} (in SI units)", bounds[0], bounds[1]);
            let d = Diagnostic::warning("Z109", format!("parameter `{name}` lies outside its own range"));
            is_outside.then(|| d.at(*span, place).help("change its value or its range"))
        };
        self.parameters.iter().zip(values).filter_map(warning).collect()
    }

    /// Sets the start of a coordinate, or of its velocity, to a value in SI units, overriding the text.
    pub(crate) fn set_start(&mut self, coordinate: usize, is_velocity: bool, value: f64, exact: bool) {
        // the shortest decimal that reads back as the same number
        let Some(number) = self.graph.decimal(&format!("{:e}", value.abs())) else { return };
        let number = if value < 0.0 { self.graph.neg(number) } else { number };
        let Coordinate { name, q, qdot, span, .. } = &self.coordinates[coordinate];
        let entry = InitialValue {
            quantity: if is_velocity { *qdot } else { *q },
            coordinate: Some(coordinate),
            is_velocity,
            exact,
            value: number,
            name: format!("{name}{}", if is_velocity { "'" } else { "" }),
            is_override: true,
            span: *span,
        };
        match self.start.iter_mut().find(|known| known.quantity == entry.quantity) {
            Some(known) => *known = entry,
            None => self.start.push(entry),
        }
    }

    /// The values of expressions that contain parameters only, in a graph that the model does not own yet.
    pub(crate) fn constants_in(&self, graph: &Graph, exprs: &[Expr]) -> Vec<f64> {
        let symbols: Vec<Expr> = self.parameters.iter().map(|p| p.symbol).collect();
        evaluate(graph, &symbols, &self.parameter_values, exprs)
    }
}

/// Values of expressions for given values of symbols; NaN if another symbol occurs.
pub(crate) fn evaluate(graph: &Graph, symbols: &[Expr], values: &[f64], exprs: &[Expr]) -> Vec<f64> {
    let mut out = vec![f64::NAN; exprs.len()];
    if let Ok(program) = Program::new(graph, symbols, exprs) {
        program.run(values, &mut program.workspace(), &mut out);
    }
    out
}

/// Evaluates all parameters, which may depend on one another; reports those that depend on themselves.
pub(crate) fn parameter_values(graph: &Graph, parameters: &[Parameter], diagnostics: &mut Diagnostics) -> Vec<f64> {
    let index: FxHashMap<Expr, usize> = parameters.iter().enumerate().map(|(k, p)| (p.symbol, k)).collect();
    let needs: Vec<Vec<Expr>> = parameters.iter().map(|p| graph.symbols(p.value)).collect();
    let mut n_open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); parameters.len()];
    for (k, symbols) in needs.iter().enumerate() {
        symbols.iter().filter_map(|s| index.get(s)).for_each(|&j| users[j].push(k));
    }
    let mut values = vec![f64::NAN; parameters.len()];
    let mut ready: Vec<usize> = (0..parameters.len()).filter(|k| n_open[*k] == 0).collect();
    let mut n_done = 0;
    while let Some(k) = ready.pop() {
        let inputs: Vec<f64> = needs[k].iter().map(|s| values[index[s]]).collect();
        values[k] = evaluate(graph, &needs[k], &inputs, &[parameters[k].value])[0];
        // a value computed from a non-finite one is not reported again
        if !values[k].is_finite() && inputs.iter().all(|x| x.is_finite()) {
            let p = &parameters[k];
            let message = format!("the value of parameter `{}` is not a finite number", p.name);
            let d = Diagnostic::error("Z402", message).at(p.span, "a division by zero, or far too large");
            diagnostics.push(d.help("change the numbers it is made of"));
        }
        n_done += 1;
        for &user in &users[k] {
            n_open[user] -= 1;
            ready.extend((n_open[user] == 0).then_some(user));
        }
    }
    if n_done < parameters.len() {
        let circle: Vec<usize> = (0..parameters.len()).filter(|k| n_open[*k] > 0).collect();
        report_circle(parameters, &circle, diagnostics);
    }
    values
}

fn report_circle(parameters: &[Parameter], circle: &[usize], diagnostics: &mut Diagnostics) {
    let names: Vec<String> = circle.iter().take(6).map(|&k| format!("`{}`", parameters[k].name)).collect();
    let message = format!("the values of {} depend on each other in a circle", names.join(", "));
    diagnostics.push(
        Diagnostic::error("Z105", message)
            .at(parameters[circle[0]].span, "needs itself")
            .help("give one of them a number"),
    );
}
