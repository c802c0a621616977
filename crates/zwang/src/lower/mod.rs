//! From tree to model: names are resolved, families expanded, units converted, and all mistakes reported at once.

mod body;
mod call;
mod constraints;
mod controls;
mod dimensions;
mod events;
mod formula;
mod friction;
mod initial;
mod mechanics;
mod names;
#[cfg(test)]
mod other_units;
mod plots;
mod points;
mod run_statement;
mod scene;
mod table;
mod value;

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::limits;
use crate::model::{self, Constraint, Derived, Model, Unsupported};
use crate::syntax::Span;
use crate::syntax::tree::*;
use crate::units::Dimension;
use body::Frame;
use dimensions::{Dim, DimensionClash, Dimensions};
use names::{Definitions, LabelTable, Labelled, NameTable, NamedObject};
use plots::{Curves, Shown};
use points::Sketch;
use table::Tables;
use value::{Quantity, Value};

/// An error value: the mistake was already reported; this part is skipped and the others continue.
pub(crate) struct Reported;

/// The result of lowering a part.
type Lowering<T> = Result<T, Reported>;

/// The function that opens files: it returns the text of the file that a model names, or the reason for the failure.
pub type Files<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// Turns the tree of a text into a model, or `None` if there are errors.
///
/// Fails if the model has more than `n_nodes` distinct expressions.
pub fn lower(
    tree: &SyntaxTree,
    text: &str,
    files: Files,
    n_nodes: usize,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Model>, TooManyExpressions> {
    let mut lower = Lower::new(tree, text, files, diagnostics);
    lower.graph.set_limit(n_nodes);
    lower.statements();
    if lower.graph.is_full() { Err(TooManyExpressions) } else { Ok(lower.finish()) }
}

/// A model has more distinct expressions than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyExpressions;

/// The meaning of a symbol of the graph.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Meaning {
    Position(usize),
    Velocity,
    Acceleration,
    Parameter(usize),
    Other,
}

struct Lower<'a> {
    tree: &'a SyntaxTree,
    text: &'a str,
    tables: Tables<'a>,
    diagnostics: &'a mut Diagnostics,
    graph: Graph,
    /// The equations between dimensions so far.
    dimensions: Dimensions,
    /// The dimensions of coordinates, parameters, rows, energy and time.
    dims: ModelDims,
    names: NameTable,
    labels: LabelTable,
    definitions: Definitions,
    /// The index variables and function arguments in scope.
    locals: Vec<(String, Value)>,
    frames: FxHashMap<String, Frame>,
    meaning: FxHashMap<Expr, Meaning>,
    /// The entry of the start that gives a quantity.
    start_entries: FxHashMap<Expr, usize>,
    /// `true` once the constraints have their multipliers, so that `reaction` can be used.
    rows_ready: bool,
    /// `true` while a nonideal law is lowered.
    states_law: bool,
    work: usize,
    derived: FxHashMap<Derived, Expr>,
    outputs: Vec<Shown>,
    plots: Vec<Curves>,
    /// The number of points, particles and bodies.
    n_points: usize,
    /// The points that each constraint refers to.
    sketches: FxHashMap<Labelled, Sketch>,
    /// The frictions as stated.
    frictions: Vec<friction::Draft>,
    model: Model,
}

/// The dimensions of the quantities that the model declares.
struct ModelDims {
    coordinates: Vec<Dim>,
    parameters: Vec<Dim>,
    /// The dimension of each row, by its multiplier.
    rows: FxHashMap<Expr, Dim>,
    energy: Dim,
    time: Dim,
}

impl<'a> Lower<'a> {
    fn new(tree: &'a SyntaxTree, text: &'a str, files: Files<'a>, diagnostics: &'a mut Diagnostics) -> Lower<'a> {
        let mut graph = Graph::new();
        let mut dimensions = Dimensions::default();
        let time = graph.symbol("t", "t");
        graph.set_rate(time, Expr::ONE);
        // in a model with units, time is in seconds; without units, it may be a pure number like everything else
        let dims = ModelDims {
            coordinates: Vec::new(),
            parameters: Vec::new(),
            rows: FxHashMap::default(),
            energy: dimensions.unknown(Some("energy")),
            time: if tree.has_units { Dimension::SECOND.into() } else { dimensions.unknown(Some("t")) },
        };
        let model = Model {
            title: String::new(),
            graph: Graph::new(),
            time,
            coordinates: Vec::new(),
            parameters: Vec::new(),
            kinetic: Expr::ZERO,
            potential: Expr::ZERO,
            lagrangian: Expr::ZERO,
            dissipation: Expr::ZERO,
            forces: Vec::new(),
            nonideal: Vec::new(),
            constraints: Vec::new(),
            contacts: Vec::new(),
            restitutions: Vec::new(),
            frictions: Vec::new(),
            controls: Vec::new(),
            start: Vec::new(),
            start_span: None,
            run: None,
            outputs: Vec::new(),
            plots: Vec::new(),
            whens: Vec::new(),
            scene: Vec::new(),
            derived: FxHashMap::default(),
            later: Vec::new(),
            gravity: Vec::new(),
            energy_span: None,
            parameter_values: Vec::new(),
        };
        Lower {
            tree,
            text,
            tables: Tables::new(files),
            diagnostics,
            graph,
            dimensions,
            dims,
            names: NameTable::new(tree),
            labels: LabelTable::default(),
            definitions: Definitions::default(),
            locals: Vec::new(),
            frames: FxHashMap::default(),
            meaning: FxHashMap::default(),
            start_entries: FxHashMap::default(),
            rows_ready: false,
            states_law: false,
            work: 0,
            derived: FxHashMap::default(),
            outputs: Vec::new(),
            plots: Vec::new(),
            n_points: 0,
            sketches: FxHashMap::default(),
            frictions: Vec::new(),
            model,
        }
    }

    /// Reports a mistake and skips the part that contains it.
    fn report<T>(&mut self, diagnostic: Diagnostic) -> Lowering<T> {
        self.diagnostics.push(diagnostic);
        Err(Reported)
    }

    /// Counts a step of work; fails for a model that exceeds `WORK` or its number of expressions.
    fn spend(&mut self, span: Span) -> Lowering<()> {
        if self.graph.is_full() {
            return Err(Reported);
        }
        self.work += 1;
        match self.work.cmp(&limits::WORK) {
            std::cmp::Ordering::Less => return Ok(()),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => return Err(Reported),
        }
        self.report(
            Diagnostic::error(
                "Z009",
                "the model is too large: written out, its formulas have more than 20 million parts",
            )
            .at(span, "the limit is reached here")
            .help("use smaller families and sums, and fewer calls of functions within functions"),
        )
    }

    /// Requires equal dimensions and reports a conflict; the spans are the positions of both quantities.
    fn same_dimension(&mut self, left: (&Dim, Span), right: (&Dim, Span), because: &str) -> Lowering<()> {
        match self.dimensions.unify(left.0, right.0, left.1.to(right.1)) {
            Ok(()) => Ok(()),
            Err(clash) => self.report_clash(*clash, left.1, right.1, because),
        }
    }

    /// Requires that a quantity times `rest` is an energy: [quantity] = [E]/[rest].
    fn energy_over(&mut self, rest: &Dim, at: Span, given: (&Dim, Span), because: &str) -> Lowering<()> {
        let wanted = self.dims.energy.times(rest, -1.0);
        self.same_dimension((&wanted, at), given, because)
    }

    fn report_clash(&mut self, clash: DimensionClash, left: Span, right: Span, because: &str) -> Lowering<()> {
        let DimensionClash { left: first, right: second, reasons } = clash;
        let mut d = Diagnostic::error("Z501", format!("{because}: {first} and {second}")).at(right, second);
        if left != right {
            d = d.and_at(left, first);
        }
        for (name, dimension, span) in reasons.into_iter().filter(|(name, _, _)| name != "energy").take(4) {
            if span != left && span != right {
                d = d.and_at(span, format!("because of this `{name}` is {dimension}"));
            } else {
                d = d.with_note(format!("`{name}` is {dimension}"));
            }
        }
        let d = d.help("a factor with the missing unit, as in `m*g*y` for `m*y`; or leave the units off");
        self.report(d)
    }

    /// Calls `work` for all members of a target, each with its indices bound.
    fn each_member(&mut self, target: &Target, mut work: impl FnMut(&mut Self, &names::Member) -> Lowering<()>) {
        let Ok(members) = self.members(target) else { return };
        for member in members {
            let bound = self.bound(&member);
            let before = std::mem::replace(&mut self.locals, bound);
            let _ = work(self, &member);
            self.locals = before;
        }
    }

    /// Records a statement that is understood but not computed by this version.
    fn later(&mut self, what: String, changes_motion: bool, span: Span) {
        self.model.later.push(Unsupported { what, changes_motion, span });
    }

    /// The symbol of a derived quantity.
    fn derived_symbol(&mut self, derived: Derived, name: String) -> Expr {
        if let Some(&symbol) = self.derived.get(&derived) {
            return symbol;
        }
        let symbol = self.graph.symbol(&name, &format!("\\mathrm{{{name}}}"));
        self.meaning.insert(symbol, Meaning::Other);
        self.derived.insert(derived, symbol);
        self.model.derived.insert(symbol, derived);
        symbol
    }

    /// Lowers the value of every parameter, its range, and its dimension.
    fn parameters(&mut self) {
        let mut k = 0;
        for statement in &self.tree.statements {
            let StatementKind::Parameters(list) = &statement.kind else { continue };
            for declared in list {
                self.each_member(&declared.target, |lower, member| {
                    let this = k;
                    if lower.names.objects.get(&member.key) != Some(&NamedObject::Parameter(this)) {
                        return Err(Reported);
                    }
                    k += 1;
                    lower.parameter(this, declared)
                });
            }
        }
        let values = model::parameter_values(&self.graph, &self.model.parameters, self.diagnostics);
        self.model.parameter_values = values;
        self.check_ranges();
    }

    fn parameter(&mut self, k: usize, declared: &ParameterDeclaration) -> Lowering<()> {
        let dim = self.dims.parameters[k].clone();
        let own = declared.target.span;
        let value = self.constant(&declared.value)?;
        self.same_dimension((&value.dim, declared.value.span), (&dim, own), "a value and its use differ")?;
        self.model.parameters[k].value = value.expr;
        self.model.parameters[k].unit = declared.unit();
        if let Some(unit) = &declared.set_unit {
            let wanted = Dim::from(unit.dimension);
            self.same_dimension(
                (&wanted, own),
                (&value.dim, declared.value.span),
                "a value does not fit its parameter",
            )?;
        }
        if let Some((low, high)) = &declared.range {
            let (low_value, high_value) = (self.constant(low)?, self.constant(high)?);
            self.same_dimension((&value.dim, declared.value.span), (&low_value.dim, low.span), "a range differs")?;
            self.same_dimension((&value.dim, declared.value.span), (&high_value.dim, high.span), "a range differs")?;
            self.model.parameters[k].range = Some((low_value.expr, high_value.expr));
        }
        Ok(())
    }

    /// Warns of parameters outside their own ranges, which are probably typing errors.
    fn check_ranges(&mut self) {
        let warnings = self.model.range_warnings(&self.graph, &self.model.parameter_values);
        self.diagnostics.extend(warnings);
    }

    fn statements(&mut self) {
        self.declare();
        self.parameters();
        self.start();
        self.mechanics();
        self.constraints();
        self.place_frictions();
        self.contacts_beside_controls();
        self.definitions();
        self.requests();
        self.scene();
    }

    /// A scalar that consists of numbers and parameters only.
    fn constant(&mut self, formula: &Formula) -> Lowering<Quantity> {
        let value = self.scalar(formula)?;
        self.check_constant(value.expr, formula.span)?;
        Ok(value)
    }

    fn parameter_of(&self, symbol: Expr) -> Option<usize> {
        match self.meaning.get(&symbol) {
            Some(Meaning::Parameter(k)) => Some(*k),
            _ => None,
        }
    }

    /// Evaluates every definition, so that mistakes in unused ones are found too.
    fn definitions(&mut self) {
        for statement in &self.tree.statements {
            let target = match &statement.kind {
                StatementKind::Let { target, arguments: None, .. } => target,
                StatementKind::Point { target, .. } => target,
                _ => continue,
            };
            let Ok(members) = self.members(target) else { continue };
            for member in members {
                let _ = self.definition(&member.key, target.span);
            }
        }
    }

    /// The finished model, or `None` if there were errors.
    fn finish(mut self) -> Option<Model> {
        if self.model.coordinates.is_empty() && !self.diagnostics.has_errors() {
            let import = self.model.later.iter().find(|later| later.what.starts_with("import"));
            self.diagnostics.push(match import {
                Some(later) => {
                    let message = format!("not yet: {} is understood but this version does not compute it", later.what);
                    Diagnostic::error("Z901", message)
                        .at(later.span, "the coordinates of the model would come from it")
                        .help("state the coordinates, bodies and constraints themselves")
                }
                None => Diagnostic::error("Z009", "the model has no coordinates")
                    .help("begin with   coordinates x, y   or let   zwang new pendulum   write a first model"),
            });
        }
        if self.diagnostics.has_errors() {
            return None;
        }
        self.settle_shown();
        self.tables_last();
        // a model of pure numbers has no units, whatever could be inferred
        if !self.tree.has_units {
            self.model.graph = self.graph;
            return Some(self.model);
        }
        for (coordinate, dim) in self.model.coordinates.iter_mut().zip(&self.dims.coordinates) {
            coordinate.dimension = self.dimensions.known(dim);
            if let Some(odd) = coordinate.dimension.filter(|d| d.0.iter().any(|e| e.fract() != 0.0)) {
                self.diagnostics.push(
                    Diagnostic::warning("Z501", format!("`{}` comes out with the unit {odd}", coordinate.name))
                        .at(coordinate.span, "a fractional power of a unit")
                        .help("an exponent or a factor is missing somewhere, as in x^2 + y^2 = l for l^2"),
                );
            }
        }
        let controls = self.model.controls.iter_mut().map(|c| &mut c.stated);
        let all = self.model.constraints.iter_mut().chain(&mut self.model.contacts).chain(controls);
        for row in all.flat_map(|c: &mut Constraint| &mut c.rows) {
            row.dimension = self.dims.rows.get(&row.lambda).and_then(|dim| self.dimensions.known(dim));
        }
        self.model.graph = self.graph;
        Some(self.model)
    }
}
