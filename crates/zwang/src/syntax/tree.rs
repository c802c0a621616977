//! The text as a syntax tree: the statements as written and their positions.

use crate::syntax::Span;
use crate::units::Unit;

/// All statements of a model, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct SyntaxTree {
    /// The statements that could be read; mistakes in the others were reported.
    pub statements: Vec<Statement>,
    /// `true` if a unit with a dimension occurs outside `run`, so that time is measured in seconds.
    pub has_units: bool,
    /// Words of statements that could not be read; they may be names declared there.
    pub garbled: Vec<String>,
}

/// One statement with its position.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Span from its keyword to its last token.
    pub span: Span,
    /// The content of the statement.
    pub kind: StatementKind,
}

/// A word as written, with its position.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text as written.
    pub text: String,
    /// Position in the text.
    pub span: Span,
}

/// `x`, `x[3]`, `x[1..n]`, `x[i in 1..n]`: the object of a statement.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name.
    pub name: Name,
    /// The indices; empty for a plain name.
    pub indices: Vec<Index>,
    /// Span of the name and its indices.
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
    /// The name of the property.
    pub name: Name,
    /// The value of the property.
    pub value: Formula,
}

/// The kind of energy function in a statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EnergyKind {
    /// The Lagrangian L itself.
    Lagrangian,
    /// A term of T.
    Kinetic,
    /// A term of V.
    Potential,
    /// Rayleigh's dissipation function.
    Dissipation,
}

/// The orientation of a body.
#[derive(Clone, Debug)]
pub enum Turned {
    /// Rotations about its own successive axes, each with axis and angle.
    Axes(Vec<(Name, Formula)>),
    /// A single angle in the plane.
    Plane(Formula),
    /// Four quaternion components, scalar first.
    Quaternion(Vec<Formula>),
}

/// The left side of an equation of a `start` statement.
#[derive(Clone, Debug)]
pub enum InitialSide {
    /// A coordinate, point, definition or member, or a family of them.
    Quantity {
        /// The name.
        target: Target,
        /// 0 for the quantity itself, 1 for its rate.
        primes: u32,
    },
    /// Any other formula.
    Formula(Formula),
}

/// One equation of a `start` statement.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The left side.
    pub left: InitialSide,
    /// `true` for `=`, `false` for `~`.
    pub exact: bool,
    /// The value.
    pub value: Formula,
    /// Span of the whole equation.
    pub span: Span,
    /// `true` if the equation comes from the command line and replaces that of the file.
    pub replaces: bool,
}

/// The values of a `sweep`.
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
    /// The name of the parameter or family.
    pub target: Target,
    /// The value.
    pub value: Formula,
    /// The range within which it may be changed.
    pub range: Option<(Formula, Formula)>,
    /// The description.
    pub description: Option<String>,
    /// The unit in the file, if the command line has changed the value.
    pub set_unit: Option<Unit>,
}

impl ParameterDeclaration {
    /// The unit with which the value was written.
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

/// The content of a statement.
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

/// A formula with its position.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Position in the text.
    pub span: Span,
    /// The content of the formula.
    pub kind: FormulaKind,
}

impl Formula {
    /// The direct subformulas.
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

/// The content of a formula. Sums and products are lists, so that a long one is not deeply nested.
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
    /// The terms, with `true` for those that are subtracted.
    Sum(Vec<(bool, Formula)>),
    /// The factors, with `true` for those that divide.
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
