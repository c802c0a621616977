//! The text as a tree: what was written, where, and nothing more.

use super::Span;
use crate::units::Unit;

/// All statements of a model, in the order they stand.
#[derive(Clone, Debug, Default)]
pub struct SyntaxTree {
    /// The statements that could be read; the others left messages.
    pub statements: Vec<Statement>,
    /// Whether a unit of a dimension occurs outside `run`, so that time is counted in seconds.
    pub has_units: bool,
    /// Words of statements that could not be read: names that may have been declared there.
    pub garbled: Vec<String>,
}

/// One statement with its place.
#[derive(Clone, Debug)]
pub struct Statement {
    /// From its keyword to its last token.
    pub span: Span,
    /// What it says.
    pub kind: StatementKind,
}

/// A word with its place, as written.
#[derive(Clone, Debug)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `x`, `x[3]`, `x[1..n]`, `x[i in 1..n]`: what a statement is about.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: Name,
    /// Its indices; empty for a plain name.
    pub indices: Vec<Index>,
    /// The whole of it.
    pub span: Span,
}

/// One index of a target.
#[derive(Clone, Debug)]
pub enum Index {
    /// `[3]`
    One(Formula),
    /// `[1..n]`, or `[i in 1..n]` with the name of the index
    Range(Option<Name>, Formula, Formula),
}

/// `with mass m and inertia I`: named properties.
#[derive(Clone, Debug)]
pub struct Property {
    /// Which.
    pub name: Name,
    /// Its value.
    pub value: Formula,
}

/// Which energy-like function a statement gives.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EnergyKind {
    /// L itself.
    Lagrangian,
    /// A part of T.
    Kinetic,
    /// A part of V.
    Potential,
    /// Rayleigh's function.
    Dissipation,
}

/// How a body is turned.
#[derive(Clone, Debug)]
pub enum Turned {
    /// Rotations about its own successive axes: axis, angle.
    Axes(Vec<(Name, Formula)>),
    /// In the plane: one angle.
    Plane(Formula),
    /// Four quaternion components, scalar first.
    Quaternion(Vec<Formula>),
}

/// One equation of a `start` statement.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The coordinate or point.
    pub target: Target,
    /// 0 for a position, 1 for a velocity.
    pub primes: u32,
    /// True for `=`, false for `~`.
    pub exact: bool,
    /// The value.
    pub value: Formula,
    /// The whole equation.
    pub span: Span,
    /// Whether it comes from the command line and wins over what the file says.
    pub replaces: bool,
}

/// The values a `sweep` runs through.
#[derive(Clone, Debug)]
pub enum SweepRange {
    /// `from a to b in n steps`
    Steps(Box<[Formula; 3]>),
    /// `over a, b, c`
    Over(Vec<Formula>),
    /// `~ normal(mean, deviation)`
    Random(Name, Vec<Formula>),
}

/// One parameter with its value, range and description.
#[derive(Clone, Debug)]
pub struct ParameterDeclaration {
    /// Its name, or a family.
    pub target: Target,
    /// Its value.
    pub value: Formula,
    /// The range it may be changed in.
    pub range: Option<(Formula, Formula)>,
    /// What it is.
    pub description: Option<String>,
    /// The unit the file gives it, where the command line has changed the value.
    pub set_unit: Option<Unit>,
}

impl ParameterDeclaration {
    /// The unit its value was written with.
    pub fn unit(&self) -> Option<Unit> {
        let mut value = &self.value;
        while let FormulaKind::Negative(inner) = &value.kind {
            value = inner;
        }
        match &value.kind {
            FormulaKind::WithUnit(_, unit) => Some(unit.clone()),
            _ => self.set_unit.clone(),
        }
    }
}

/// What a statement says.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each variant shows how its fields are written")]
pub enum StatementKind {
    /// `model "title"`
    Title(String),
    /// `coordinates x "position", q[1..n]`
    Coordinates(Vec<(Target, Option<String>)>),
    /// `parameter l = 1 m from 0.2 m to 3 m "rod length"`
    Parameters(Vec<ParameterDeclaration>),
    /// `let r = …` or `let f(s) = …`
    Let { target: Target, arguments: Option<Vec<Name>>, value: Formula },
    /// `point A = (x, y)`
    Point { target: Target, value: Formula },
    /// `particle P at (x, y) with mass m`
    Particle { target: Target, at: Formula, properties: Vec<Property> },
    /// `body B at (…) turned … with mass m and inertia I`
    Body { target: Target, at: Formula, turned: Turned, properties: Vec<Property> },
    /// `gravity (0, -g)`
    Gravity(Formula),
    /// `lagrangian`, `kinetic`, `potential`, `dissipation`
    Energy { kind: EnergyKind, name: Option<Name>, value: Formula },
    /// `mass x, y: m`
    Mass { targets: Vec<Target>, value: Formula },
    /// `mass matrix = [a, b; c, d]`
    MassMatrix(Formula),
    /// `force x: …`, and `torque B: …` with `is_torque`
    Force { is_torque: bool, targets: Vec<Target>, value: Formula },
    /// `constraint rod: left = right with friction μ at P`
    Constraint { label: Option<Target>, left: Formula, right: Formula, properties: Vec<Property> },
    /// `contact floor: left >= right with …`
    Contact { label: Option<Target>, left: Formula, right: Formula, properties: Vec<Property> },
    /// `control trace: left = right using q1, q2 with …`
    Control { label: Option<Target>, left: Formula, right: Formula, using: Vec<Target>, properties: Vec<Property> },
    /// `nonideal x: …`
    Nonideal { target: Target, value: Formula },
    /// `start x = 1, y ~ 2`
    Start(Vec<Initial>),
    /// `run 10 s with tolerance 1e-9`
    Run { duration: Formula, properties: Vec<Property> },
    /// `sweep l from … to … in 50 steps`
    Sweep { target: Target, range: SweepRange, properties: Vec<Property> },
    /// `output tension = … in N`
    Output { target: Target, value: Formula, unit: Option<(Unit, Span)> },
    /// `plot x, y vs t`
    Plot { values: Vec<Formula>, versus: Option<Formula> },
    /// `animate P, rod, trace(P)`
    Animate(Vec<Formula>),
    /// `when t >= 2 s: k = 0`
    When { condition: Formula, target: Target, primes: u32, value: Formula },
    /// `import "arm.urdf" as arm`
    Import { path: String, name: Option<Name> },
}

/// A formula with its place.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: FormulaKind,
}

impl Formula {
    /// The formulas it is made of, one level down.
    pub fn parts(&self) -> Vec<&Formula> {
        match &self.kind {
            FormulaKind::Number(_) | FormulaKind::WithUnit(..) | FormulaKind::Name(_) | FormulaKind::Text(_) => vec![],
            FormulaKind::Indexed(_, parts) | FormulaKind::Call(_, parts) | FormulaKind::Vector(parts) => {
                parts.iter().collect()
            }
            FormulaKind::Member(of, _, arguments) => std::iter::once(&**of).chain(arguments.iter().flatten()).collect(),
            FormulaKind::Prime(of, _) | FormulaKind::Negative(of) | FormulaKind::Length(of) => vec![of],
            FormulaKind::Sum(parts) | FormulaKind::Product(parts) => parts.iter().map(|(_, part)| part).collect(),
            FormulaKind::Power(a, b) | FormulaKind::Compare(_, a, b) => vec![a, b],
            FormulaKind::Matrix(rows) => rows.iter().flatten().collect(),
            FormulaKind::If(a, b, c) | FormulaKind::SumOver(_, a, b, c) => vec![a, b, c],
        }
    }
}

/// What a formula is. Sums and products are lists, so that a long one is not a deep one.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// A number as written.
    Number(String),
    /// A number with its unit: `0.3[m]`, `9.81 m/s^2`.
    WithUnit(String, Unit),
    /// A plain name.
    Name(String),
    /// `x[i]`
    Indexed(Name, Vec<Formula>),
    /// `f(a, b)`
    Call(Name, Vec<Formula>),
    /// `P.x`, `B.point(u, v, w)`
    Member(Box<Formula>, Name, Option<Vec<Formula>>),
    /// `x''`, `(…)'`
    Prime(Box<Formula>, u32),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Formula)>),
    /// Factors, each with whether it divides.
    Product(Vec<(bool, Formula)>),
    /// `-a`
    Negative(Box<Formula>),
    /// `a^b`
    Power(Box<Formula>, Box<Formula>),
    /// `(a, b)`
    Vector(Vec<Formula>),
    /// `[a, b; c, d]`
    Matrix(Vec<Vec<Formula>>),
    /// `|a|`
    Length(Box<Formula>),
    /// `a < b`; only as a condition
    Compare(&'static str, Box<Formula>, Box<Formula>),
    /// `if c then a else b`
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    /// `sum(i in a..b: body)`
    SumOver(Name, Box<Formula>, Box<Formula>, Box<Formula>),
    /// `"…"`; only as an argument of `table`
    Text(String),
}
