//! What the user said, with names resolved: coordinates, parameters, energies, forces, constraints, start.

use rustc_hash::FxHashMap;
use std::ops::Range;
use zwang_expr::{Expr, Graph, Program};
use zwang_motion::State;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::quantity::{in_unit, with_unit};
use crate::syntax::Span;
use crate::units::{Dimension, Unit};

/// A generalized coordinate with its velocity and acceleration.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// As the user writes it: `θ`, `x[3]`.
    pub name: String,
    /// What it is, in the user's words.
    pub description: Option<String>,
    /// q, a symbol.
    pub q: Expr,
    /// q̇, a symbol.
    pub qdot: Expr,
    /// q̈, a symbol.
    pub qddot: Expr,
    /// What it measures, if the model tells.
    pub dimension: Option<Dimension>,
    /// Where it was declared.
    pub span: Span,
}

/// A number that can be changed without deriving again.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As the user writes it.
    pub name: String,
    /// What it is, in the user's words.
    pub description: Option<String>,
    /// Its symbol.
    pub symbol: Expr,
    /// Its value in SI, perhaps by other parameters.
    pub value: Expr,
    /// The range it may be changed in.
    pub range: Option<(Expr, Expr)>,
    /// The unit its value was written with.
    pub unit: Option<Unit>,
    /// Where it was declared.
    pub span: Span,
}

/// An applied force, or a contribution to C.
#[derive(Clone, Debug)]
pub enum Load {
    /// On one coordinate.
    Coordinate(usize, Expr),
    /// A force at a point: place and force, component by component.
    Point(Vec<Expr>, Vec<Expr>),
    /// A torque on a body: its angular velocity and the torque, in space axes.
    Torque(Vec<Expr>, Vec<Expr>),
}

/// How many derivatives of the coordinates a constraint row contains.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Positions and time: φ(q, t) = 0.
    Position,
    /// Velocities: ψ(q, q̇, t) = 0.
    Velocity,
    /// Accelerations, linearly.
    Acceleration,
}

/// One scalar equation.
#[derive(Clone, Debug)]
pub struct Row {
    /// `rod`, `rod[2]`, `pin.x`.
    pub name: String,
    /// lhs − rhs.
    pub expr: Expr,
    /// rhs alone, to tell both sides apart in messages.
    pub right: Expr,
    /// What it contains.
    pub level: Level,
    /// Its multiplier, a symbol.
    pub lambda: Expr,
    /// Unit of lhs − rhs, if the model tells.
    pub dimension: Option<Dimension>,
}

/// A stated constraint: one equality between scalars or vectors.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The user's label, or `c1`, `c2`, … for those without.
    pub name: String,
    /// Its rows.
    pub rows: Vec<Row>,
    /// The equation in the text.
    pub span: Span,
    /// Whether it carries friction and so is not ideal.
    pub friction: Option<Span>,
}

/// Coulomb friction, driven by the reaction of one constraint or contact.
#[derive(Clone, Debug)]
pub struct FrictionLaw {
    /// Whether it belongs to a constraint; else to a contact.
    pub constraint: bool,
    /// Which one.
    pub of: usize,
    /// The coefficient while it sticks.
    pub holding: Expr,
    /// The coefficient while it slides.
    pub sliding: Expr,
    /// The force at the sliding place for a multiplier of one, for each row that presses.
    pub forces: Vec<Vec<Expr>>,
    /// The slip velocity, one row per component.
    pub slip: Vec<Row>,
    /// Where it is stated.
    pub span: Span,
}

/// A motion to be followed.
#[derive(Clone, Debug)]
pub struct Control {
    /// What is asked, as an equality.
    pub stated: Constraint,
    /// The coordinates that `using` names; none if any may be driven.
    pub using: Vec<usize>,
    /// τ: an error dies out in this time. Without it the motion is held as stated.
    pub settling: Option<Expr>,
    /// ζ of a dying error; 1 unless given.
    pub damping: Expr,
    /// W of the least wᵀW w, row after row for the coordinates it drives; empty for the metric of mass.
    pub weight: Vec<Expr>,
    /// The largest force on each coordinate it drives; empty if nothing bounds it.
    pub limit: Vec<Expr>,
}

impl Control {
    /// The coordinates it drives, of n.
    pub fn driven(&self, n: usize) -> Vec<usize> {
        if self.using.is_empty() { (0..n).collect() } else { self.using.clone() }
    }

    /// Whether the drift of a row is projected away, as that of a constraint: nothing lets it off.
    pub fn is_held(&self, row: &Row) -> bool {
        self.binds_start(row) && self.limit.is_empty()
    }

    /// Whether the start must satisfy a row.
    pub fn binds_start(&self, row: &Row) -> bool {
        self.settling.is_none() && row.level != Level::Acceleration
    }
}

/// One equation of the start.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The quantity that is given: a coordinate, or a component of a point.
    pub quantity: Expr,
    /// The coordinate, if it is one.
    pub coordinate: Option<usize>,
    /// Whether it is a velocity.
    pub is_velocity: bool,
    /// True for `=`, false for `~`.
    pub exact: bool,
    /// Its value in SI.
    pub value: Expr,
    /// Its name as written, for messages.
    pub name: String,
    /// Whether it comes from the command line.
    pub is_override: bool,
    /// Where it stands.
    pub span: Span,
}

/// A quantity that only the finished equations or the motion can give.
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
    /// A component of a reaction along which its point cannot move.
    Undetermined,
}

/// A quantity to be shown.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name; components of a vector are `name.x`.
    pub name: String,
    /// Its value in SI.
    pub expr: Expr,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// What it measures, if the model tells.
    pub dimension: Option<Dimension>,
}

/// Curves drawn in one picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The curves, each named as the user wrote it.
    pub curves: Vec<Output>,
    /// What they are drawn over; none for t.
    pub versus: Option<Output>,
    /// The statement.
    pub span: Span,
}

/// What an event changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The parameter of this index.
    Parameter(usize),
    /// The velocity of the coordinate of this index.
    Velocity(usize),
}

/// An event: where its condition begins to hold, something changes.
#[derive(Clone, Debug)]
pub struct When {
    /// The condition as written: `t >= 2 s`.
    pub name: String,
    /// g, made of what a state gives: the condition holds where g ≥ 0.
    pub condition: Expr,
    /// What changes.
    pub change: Change,
    /// Its new value in SI, made of what a state gives.
    pub value: Expr,
    /// The statement.
    pub span: Span,
}

/// Something to draw; its places follow from a state, a force also from the multipliers.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// `P[2]`, `rod`, `trace(P)`, `reaction(rod, P)`.
    pub name: String,
    /// What it is and where.
    pub shape: Shape,
}

/// What can be drawn. All vectors have two components in the plane and three in space.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A point or particle.
    Point {
        /// Where it is.
        place: Vec<Expr>,
        /// Whether it is a particle.
        has_mass: bool,
    },
    /// A straight line from one place to another.
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
    /// The path of a place.
    Trace {
        /// Where it is.
        place: Vec<Expr>,
    },
    /// The force a constraint puts on a particle.
    Force {
        /// Where it acts.
        at: Vec<Expr>,
        /// Its components.
        force: Vec<Expr>,
    },
}

/// How long to run and how accurately.
#[derive(Clone, Debug)]
pub struct Run {
    /// Seconds.
    pub duration: Expr,
    /// Relative tolerance.
    pub tolerance: Option<Expr>,
    /// One of [`METHODS`], and where it is named.
    pub method: Option<(String, Span)>,
    /// Seconds of one step.
    pub step: Option<Expr>,
}

/// The words that may follow `method` in a `run`.
pub const METHODS: [&str; 6] = ["auto", "order8", "order5", "stiff", "rattle", "rattle4"];

/// What was stated and is understood, but not computed by this version.
#[derive(Clone, Debug)]
pub struct Later {
    /// The statement, in the user's words: "contact `floor`".
    pub what: String,
    /// Whether the equations are incomplete without it.
    pub changes_motion: bool,
    /// Where it stands.
    pub span: Span,
}

/// The stated problem. It never changes after it is built.
#[derive(Clone)]
pub struct Model {
    /// The title.
    pub title: String,
    /// Where all expressions live.
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
    /// Sum of what was stated as a Lagrangian.
    pub lagrangian: Expr,
    /// Rayleigh's dissipation function.
    pub dissipation: Expr,
    /// Applied forces.
    pub forces: Vec<Load>,
    /// Contributions to C.
    pub nonideal: Vec<Load>,
    /// The equalities.
    pub constraints: Vec<Constraint>,
    /// One-sided constraints: gap ≥ 0.
    pub contacts: Vec<Constraint>,
    /// The restitution of each contact.
    pub restitutions: Vec<Expr>,
    /// Friction of constraints and contacts.
    pub frictions: Vec<FrictionLaw>,
    /// Motions to be followed.
    pub controls: Vec<Control>,
    /// The start.
    pub start: Vec<Initial>,
    /// Where the start begins in the text.
    pub start_span: Option<Span>,
    /// The run.
    pub run: Option<Run>,
    /// What to show.
    pub outputs: Vec<Output>,
    /// What to plot.
    pub plots: Vec<Plot>,
    /// Events.
    pub whens: Vec<When>,
    /// What to draw.
    pub scene: Vec<Drawn>,
    /// Symbols that stand for derived quantities.
    pub derived: FxHashMap<Expr, Derived>,
    /// What later versions will compute.
    pub later: Vec<Later>,
    /// The field of `gravity`, for pictures; empty if there is none.
    pub gravity: Vec<Expr>,
    /// The first energy statement, for messages about mass.
    pub energy_span: Option<Span>,
    /// The values of the parameters, in SI.
    pub parameter_values: Vec<f64>,
}

impl Model {
    /// n.
    pub fn n_coordinates(&self) -> usize {
        self.coordinates.len()
    }

    /// The rows of all constraints: positions first, then velocities, then accelerations.
    pub fn rows(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.constraints.iter().flat_map(|c| &c.rows).collect();
        rows.sort_by_key(|row| row.level);
        rows
    }

    /// What holds only at times: "contact `floor`".
    pub fn only_at_times(&self) -> Vec<String> {
        let rough = |law: &FrictionLaw| match law.constraint {
            true => format!("friction of `{}`", self.constraints[law.of].name),
            false => format!("friction of `{}`", self.contacts[law.of].name),
        };
        let contacts = self.contacts.iter().map(|c| format!("contact `{}`", c.name));
        contacts.chain(self.frictions.iter().map(rough)).collect()
    }

    /// Whether a coordinate or parameter is called so.
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

    /// Where the first of what holds only at times is stated.
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

    /// t, q, q̇ and the parameters: what every compiled expression of the state takes.
    pub fn state_symbols(&self) -> Vec<Expr> {
        let mut symbols = vec![self.time];
        symbols.extend(self.coordinates.iter().map(|c| c.q));
        symbols.extend(self.coordinates.iter().map(|c| c.qdot));
        symbols.extend(self.parameters.iter().map(|p| p.symbol));
        symbols
    }

    /// The time by which what is "a little later" is measured: how long the run is to be, else a second.
    pub fn horizon(&self) -> f64 {
        let duration = self.run.as_ref().map_or(1.0, |run| self.constants(&[run.duration])[0]);
        if duration.is_finite() && duration > 0.0 { duration } else { 1.0 }
    }

    /// Which of [`Model::state_symbols`] are the parameters, which a motion holds.
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

    /// The same for expressions of a graph the model does not own yet.
    pub(crate) fn constants_in(&self, graph: &Graph, exprs: &[Expr]) -> Vec<f64> {
        let symbols: Vec<Expr> = self.parameters.iter().map(|p| p.symbol).collect();
        evaluate(graph, &symbols, &self.parameter_values, exprs)
    }
}

/// Values of expressions for given values of symbols; NaN where another symbol occurs.
fn evaluate(graph: &Graph, symbols: &[Expr], values: &[f64], exprs: &[Expr]) -> Vec<f64> {
    let mut out = vec![f64::NAN; exprs.len()];
    if let Ok(program) = Program::new(graph, symbols, exprs) {
        program.run(values, &mut program.workspace(), &mut out);
    }
    out
}

/// Finds the values of all parameters, which may be given by one another; says which go in a circle.
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
        // what uses a bad value is not a mistake of its own
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
