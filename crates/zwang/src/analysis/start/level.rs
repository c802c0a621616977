//! The constraints at one level as equations for the positions or for the velocities.

use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Expr, Graph};
use zwang_motion::{Matrix, MotionError, Residual, State};

use crate::equations::switches::switches_by;
use crate::equations::{ConstraintRow, Equations, SparseRow};
use crate::model::{Level, Model};
use crate::syntax::Span;
use crate::units::Dimension;
use crate::{compile::program::Compiled, tolerance};

/// The constraints at one level.
fn constraint_equations(equations: &Equations, is_velocity: bool) -> Vec<Equation> {
    let span = |row: &ConstraintRow| equations.model.constraints[row.constraint].span;
    equations.rows.iter().filter_map(|row| equation_of(row, span(row), false, is_velocity)).collect()
}

/// A row as an equation for positions or for velocities; `None` if it does not constrain these.
fn equation_of(row: &ConstraintRow, span: Span, is_control: bool, is_velocity: bool) -> Option<Equation> {
    let rate = row.rate?;
    if !is_velocity && row.level != Level::Position {
        return None;
    }
    let origin = Origin { name: row.name.clone(), span, is_start: false, is_control, exact: true };
    // ∂φ̇/∂q̇ = ∂φ/∂q, so both levels have the row of A
    Some((origin, if is_velocity { rate } else { row.residual }, row.coefficients.clone()))
}

/// The origin of an equation.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The row's or the start entry's name.
    pub(crate) name: String,
    /// Its place in the text.
    pub(crate) span: Span,
    /// `true` for an equation of the start, `false` for a constraint.
    pub(crate) is_start: bool,
    /// `true` if it is a control row.
    pub(crate) is_control: bool,
    exact: bool,
}

/// One equation: its origin, g and the gradient of g.
pub(crate) type Equation = (Origin, Expr, SparseRow);

/// g(x) = 0 for x = q or x = q̇, with its Jacobian.
pub(crate) struct LevelEquations<'e> {
    pub(crate) is_velocity: bool,
    pub(crate) origins: Vec<Origin>,
    n: usize,
    rows: Vec<(Expr, SparseRow)>,
    /// The reference size of each unknown.
    pub(crate) sizes: Vec<f64>,
    program: Compiled,
    inputs: Vec<f64>,
    symbols: Vec<Expr>,
    graph: &'e Graph,
}

impl<'e> LevelEquations<'e> {
    /// The constraints, and the exact start equations of points.
    pub(crate) fn new(
        equations: &'e Equations,
        points: &[Equation],
        state: &State,
        is_velocity: bool,
    ) -> LevelEquations<'e> {
        let rows = constraint_equations(equations, is_velocity);
        LevelEquations::with_points(equations, rows, points, state, is_velocity)
    }

    /// The constraints, followed by the start conditions of controls without `settling`, and the exact start equations
    /// of points.
    pub(crate) fn with_controls(
        equations: &'e Equations,
        points: &[Equation],
        state: &State,
        is_velocity: bool,
    ) -> LevelEquations<'e> {
        let mut rows = constraint_equations(equations, is_velocity);
        for asked in equations.asked.iter().filter(|r| r.binds_start) {
            let span = equations.model.controls[asked.row.constraint].stated.span;
            rows.extend(equation_of(&asked.row, span, true, is_velocity));
        }
        LevelEquations::with_points(equations, rows, points, state, is_velocity)
    }

    fn with_points(
        equations: &'e Equations,
        mut rows: Vec<Equation>,
        points: &[Equation],
        state: &State,
        is_velocity: bool,
    ) -> LevelEquations<'e> {
        rows.extend(points.iter().filter(|(o, _, _)| o.exact).cloned());
        LevelEquations::compile(equations, state, is_velocity, rows)
    }

    /// `true` if control rows are among the equations.
    pub(crate) fn has_controls(&self) -> bool {
        self.origins.iter().any(|o| o.is_control)
    }

    /// The constraints, evaluated by a program that was compiled before.
    pub(crate) fn again(
        equations: &'e Equations,
        state: &State,
        is_velocity: bool,
        program: Option<Compiled>,
    ) -> LevelEquations<'e> {
        let rows = constraint_equations(equations, is_velocity);
        LevelEquations::by(equations, state, is_velocity, rows, program)
    }

    /// The compiled program, for use in `again`.
    pub(crate) fn into_program(self) -> Compiled {
        self.program
    }

    /// The given equations only.
    pub(crate) fn compile(
        equations: &'e Equations,
        state: &State,
        is_velocity: bool,
        rows: Vec<Equation>,
    ) -> LevelEquations<'e> {
        LevelEquations::by(equations, state, is_velocity, rows, None)
    }

    fn by(
        equations: &'e Equations,
        state: &State,
        is_velocity: bool,
        rows: Vec<Equation>,
        program: Option<Compiled>,
    ) -> LevelEquations<'e> {
        let model = &equations.model;
        let n = model.coordinates.len();
        let (symbols, inputs) = (model.state_symbols(), model.state_values(state));
        let (origins, rows): (Vec<_>, Vec<_>) = rows.into_iter().map(|(o, g, j)| (o, (g, j))).unzip();
        let program = program.unwrap_or_else(|| compiled(&model.graph, &symbols, &rows));
        let sizes = usual_sizes(model, state, is_velocity);
        LevelEquations { is_velocity, origins, n, rows, sizes, program, inputs, symbols, graph: &model.graph }
    }

    /// Sets time, positions and velocities to those of another state.
    pub(crate) fn at(&mut self, state: &State) {
        self.inputs[0] = state.t;
        self.inputs[1..=self.n].copy_from_slice(&state.q);
        self.inputs[self.n + 1..=2 * self.n].copy_from_slice(&state.qdot);
    }

    /// The coordinates in the equations, each with `true` if the equation is exact.
    pub(crate) fn touched(&self) -> Vec<(usize, bool)> {
        let each = self.rows.iter().zip(&self.origins);
        each.flat_map(|((_, row), origin)| row.iter().map(|(k, _)| (*k, origin.exact))).collect()
    }

    /// Names of the start equations that do not hold at x.
    pub(crate) fn unmet_start_equations(&mut self, x: &[f64]) -> Vec<String> {
        let residual = self.residual(x);
        let unmet =
            self.origins.iter().zip(residual).filter(|(o, r)| o.is_start && (r.is_nan() || r.abs() > tolerance::RUN));
        unmet.map(|(origin, _)| origin.name.clone()).collect()
    }

    /// Keeps the constraints only.
    pub(crate) fn drop_start_equations(&mut self) {
        let keep: Vec<bool> = self.origins.iter().map(|o| !o.is_start).collect();
        if keep.iter().all(|k| *k) {
            return;
        }
        let mut flags = keep.iter();
        self.rows.retain(|_| *flags.next().expect("one flag per row"));
        let mut flags = keep.iter();
        self.origins.retain(|_| *flags.next().expect("one flag per row"));
        self.program = compiled(self.graph, &self.symbols, &self.rows);
    }

    /// g at x.
    pub(crate) fn residual(&mut self, x: &[f64]) -> Vec<f64> {
        self.evaluate(x);
        self.program.values()[..self.rows.len()].to_vec()
    }

    /// The value of another expression at the state where g was last evaluated.
    pub(crate) fn value(&self, graph: &Graph, expr: Expr) -> Option<f64> {
        let mut program = Compiled::new(graph, &self.symbols, &[expr])?;
        Some(program.run(&self.inputs)[0]).filter(|v| v.is_finite())
    }

    /// Sets the parameter values, which an event may have changed from those of the model.
    pub(crate) fn set_parameters(&mut self, values: &[f64]) {
        let from = 1 + 2 * self.n;
        self.inputs[from..].copy_from_slice(values);
    }

    /// The time at which the equations are evaluated.
    pub(crate) fn time(&self) -> f64 {
        self.inputs[0]
    }

    /// Sets the time at which the equations are evaluated.
    pub(crate) fn set_time(&mut self, t: f64) {
        self.inputs[0] = t;
    }

    /// `true` if an equation contains the time.
    pub(crate) fn is_timed(&self, row: usize, time: Expr) -> bool {
        self.graph.symbols(self.rows[row].0).contains(&time)
    }

    /// Equations whose gradient is free of the unknowns, so that they may be linear.
    pub(crate) fn with_fixed_gradient(&self) -> Vec<usize> {
        let from = if self.is_velocity { 1 + self.n } else { 1 };
        let unknowns: FxHashSet<Expr> = self.symbols[from..from + self.n].iter().copied().collect();
        let is_fixed = |row: &usize| {
            let gradient: Vec<Expr> = self.rows[*row].1.iter().map(|(_, e)| *e).collect();
            !self.graph.symbols_of(&gradient).iter().any(|s| unknowns.contains(s)) && !self.switches(&[*row])
        };
        (0..self.rows.len()).filter(is_fixed).collect()
    }

    /// `true` if some equations have other formulas for other values of the unknowns.
    pub(crate) fn switches(&self, rows: &[usize]) -> bool {
        let from = if self.is_velocity { 1 + self.n } else { 1 };
        let unknowns = &self.symbols[from..from + self.n];
        let exprs: Vec<Expr> = rows.iter().map(|&row| self.rows[row].0).collect();
        switches_by(self.graph, &exprs, |s| unknowns.contains(&s))
    }

    fn evaluate(&mut self, x: &[f64]) {
        let from = if self.is_velocity { 1 + self.n } else { 1 };
        self.inputs[from..from + self.n].copy_from_slice(x);
        self.program.run(&self.inputs);
    }
}

/// Reference sizes of the coordinates, or velocities: the largest start value or parameter of their dimension, relative
/// to which rounding is judged. For pure numbers, and if nothing is known, 1.
pub(crate) fn usual_sizes(model: &Model, state: &State, is_velocity: bool) -> Vec<f64> {
    let units = model.parameters.iter().map(|p| p.unit.as_ref().map(|unit| unit.dimension));
    let known: Vec<(Dimension, f64)> = model
        .coordinates
        .iter()
        .map(|c| c.dimension)
        .zip(&state.q)
        .chain(units.zip(&model.parameter_values))
        .filter_map(|(dimension, value)| Some((dimension?, value.abs())))
        .filter(|(dimension, size)| *dimension != Dimension::NONE && *size > 0.0)
        .collect();
    let size_of = |dimension: Option<Dimension>| {
        let alike = known.iter().filter(|(d, _)| Some(*d) == dimension).map(|(_, size)| *size);
        alike.reduce(f64::max).unwrap_or(1.0)
    };
    let in_a_second = |k: usize, size: f64| if is_velocity { size.max(state.qdot[k].abs()) } else { size };
    model.coordinates.iter().enumerate().map(|(k, c)| in_a_second(k, size_of(c.dimension))).collect()
}

fn compiled(graph: &Graph, symbols: &[Expr], rows: &[(Expr, SparseRow)]) -> Compiled {
    let mut outputs: Vec<Expr> = rows.iter().map(|(g, _)| *g).collect();
    outputs.extend(rows.iter().flat_map(|(_, row)| row.iter().map(|(_, e)| *e)));
    Compiled::new(graph, symbols, &outputs).expect("lowering and the system let no other symbol through")
}

/// The start equations that are not about a single coordinate: quantity − value, and its gradient.
pub(crate) fn point_rows(equations: &mut Equations, is_velocity: bool) -> Vec<Equation> {
    let model = &mut equations.model;
    let is_point = |i: &&crate::model::InitialValue| i.is_velocity == is_velocity && i.coordinate.is_none();
    if !model.start.iter().any(|i| is_point(&i)) {
        return Vec::new();
    }
    let symbol = |c: &crate::model::Coordinate| if is_velocity { c.qdot } else { c.q };
    let index: FxHashMap<Expr, usize> = model.coordinates.iter().enumerate().map(|(k, c)| (symbol(c), k)).collect();
    let mut rows = Vec::new();
    for initial in model.start.iter().filter(is_point) {
        let g = model.graph.sub(initial.quantity, initial.value);
        let gradient = model.graph.gradient_in(g, |s| index.contains_key(&s));
        let mut row: SparseRow = gradient.into_iter().map(|(s, d)| (index[&s], d)).collect();
        row.sort_by_key(|(k, _)| *k);
        let origin = Origin {
            name: initial.name.clone(),
            span: initial.span,
            is_start: true,
            is_control: false,
            exact: initial.exact,
        };
        rows.push((origin, g, row));
    }
    rows
}

impl Residual for LevelEquations<'_> {
    fn n_unknowns(&self) -> usize {
        self.n
    }

    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn size(&self, unknown: usize) -> f64 {
        self.sizes[unknown]
    }

    fn allocate(&self) -> Matrix {
        let pattern: Vec<Vec<usize>> = self.rows.iter().map(|(_, row)| row.iter().map(|(k, _)| *k).collect()).collect();
        Matrix::from_pattern(self.rows.len(), self.n, &pattern)
    }

    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        self.evaluate(x);
        let values = self.program.values();
        let (residual, entries) = values.split_at(self.rows.len());
        g.copy_from_slice(residual);
        jacobian.value.copy_from_slice(entries);
        if values.iter().all(|v| v.is_finite()) {
            return Ok(());
        }
        Err(self.program.explain_non_finite(self.graph, &self.symbols, &self.inputs))
    }
}

/// A subset of the equations; the time may be an additional unknown.
pub(crate) struct LevelPart<'a, 'e> {
    level: &'a mut LevelEquations<'e>,
    rows: &'a [usize],
    with_time: bool,
    /// The index at which the gradient of each row begins among the program's outputs.
    place: Vec<usize>,
}

impl<'a, 'e> LevelPart<'a, 'e> {
    pub(crate) fn new(level: &'a mut LevelEquations<'e>, rows: &'a [usize], with_time: bool) -> LevelPart<'a, 'e> {
        let mut next = level.rows.len();
        let mut starts = Vec::with_capacity(level.rows.len());
        for (_, row) in &level.rows {
            starts.push(next);
            next += row.len();
        }
        let place = rows.iter().map(|&i| starts[i]).collect();
        LevelPart { level, rows, with_time, place }
    }

    fn run(&mut self, x: &[f64]) {
        let n = self.level.n;
        if self.with_time {
            self.level.inputs[0] = x[n];
        }
        self.level.evaluate(&x[..n]);
    }

    /// g of these rows at the time x[n] + `by`.
    fn shifted(&mut self, x: &[f64], by: f64) -> Vec<f64> {
        let n = self.level.n;
        self.level.inputs[0] = x[n] + by;
        self.level.evaluate(&x[..n]);
        self.rows.iter().map(|&i| self.level.program.values()[i]).collect()
    }
}

impl Residual for LevelPart<'_, '_> {
    fn n_unknowns(&self) -> usize {
        self.level.n + usize::from(self.with_time)
    }

    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn size(&self, unknown: usize) -> f64 {
        self.level.sizes.get(unknown).copied().unwrap_or(1.0)
    }

    fn allocate(&self) -> Matrix {
        let time = self.with_time.then_some(self.level.n);
        let columns = |i: &usize| self.level.rows[*i].1.iter().map(|(k, _)| *k).chain(time).collect();
        let pattern: Vec<Vec<usize>> = self.rows.iter().map(columns).collect();
        Matrix::from_pattern(self.rows.len(), self.n_unknowns(), &pattern)
    }

    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        let rates: Vec<f64> = match self.with_time {
            true => {
                let h = tolerance::SEARCH_STEP * (1.0 + x[self.level.n].abs());
                let (after, before) = (self.shifted(x, h), self.shifted(x, -h));
                after.iter().zip(&before).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            }
            false => Vec::new(),
        };
        self.run(x);
        let values = self.level.program.values();
        let mut is_finite = rates.iter().all(|r| r.is_finite());
        for (k, &i) in self.rows.iter().enumerate() {
            let n_entries = self.level.rows[i].1.len();
            g[k] = values[i];
            let to = jacobian.row_mut(k).1;
            to[..n_entries].copy_from_slice(&values[self.place[k]..self.place[k] + n_entries]);
            if let Some(rate) = rates.get(k) {
                to[n_entries] = *rate;
            }
            is_finite &= g[k].is_finite() && to.iter().all(|x| x.is_finite());
        }
        let what = || "a constraint".to_string();
        if is_finite { Ok(()) } else { Err(MotionError::NotFinite { what: what() }) }
    }
}
