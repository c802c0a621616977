//! The constraints at one level as equations for the positions or for the velocities.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph};
use zwang_motion::{Matrix, MotionError, Residual, State};

use crate::compiled::Compiled;
use crate::equations::{Equations, SparseRow};
use crate::model::Level;
use crate::syntax::Span;

/// Where an equation comes from.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The row's or the start entry's name.
    pub(super) name: String,
    /// Its place in the text.
    pub(super) span: Span,
    /// True for an equation of the start, false for a constraint.
    pub(super) is_start: bool,
    exact: bool,
}

/// One equation: where it comes from, g and its gradient.
pub(super) type Equation = (Origin, Expr, SparseRow);

/// g(x) = 0 for x = q or x = q̇, with its Jacobian.
pub(super) struct LevelEquations<'e> {
    pub(super) is_velocity: bool,
    pub(super) origins: Vec<Origin>,
    n: usize,
    rows: Vec<(Expr, SparseRow)>,
    program: Compiled,
    inputs: Vec<f64>,
    symbols: Vec<Expr>,
    graph: &'e Graph,
}

impl<'e> LevelEquations<'e> {
    /// The constraints, and the exact ones among the start equations of points.
    pub(super) fn new(
        equations: &'e Equations,
        points: &[Equation],
        state: &State,
        is_velocity: bool,
    ) -> LevelEquations<'e> {
        let mut rows = Vec::new();
        for row in &equations.rows {
            let Some(rate) = row.rate else { continue };
            let (g, level) = if is_velocity { (rate, row.level) } else { (row.residual, row.level) };
            if !is_velocity && level != Level::Position {
                continue;
            }
            let span = equations.model.constraints[row.constraint].span;
            let origin = Origin { name: row.name.clone(), span, is_start: false, exact: true };
            // ∂φ̇/∂q̇ = ∂φ/∂q, so both levels have the row of A
            rows.push((origin, g, row.coefficients.clone()));
        }
        rows.extend(points.iter().filter(|(o, _, _)| o.exact).cloned());
        LevelEquations::compile(equations, state, is_velocity, rows)
    }

    /// The given equations alone.
    pub(super) fn compile(
        equations: &'e Equations,
        state: &State,
        is_velocity: bool,
        rows: Vec<Equation>,
    ) -> LevelEquations<'e> {
        let model = &equations.model;
        let n = model.coordinates.len();
        let (symbols, inputs) = (model.state_symbols(), model.state_values(state));
        let (origins, rows): (Vec<_>, Vec<_>) = rows.into_iter().map(|(o, g, j)| (o, (g, j))).unzip();
        let program = compiled(&model.graph, &symbols, &rows);
        LevelEquations { is_velocity, origins, n, rows, program, inputs, symbols, graph: &model.graph }
    }

    /// Takes time, and for velocities the positions, from another state.
    pub(super) fn at(&mut self, state: &State) {
        self.inputs[0] = state.t;
        self.inputs[1..=self.n].copy_from_slice(&state.q);
        self.inputs[self.n + 1..=2 * self.n].copy_from_slice(&state.qdot);
    }

    /// The coordinates the equations contain, and whether exactly.
    pub(super) fn touched(&self) -> Vec<(usize, bool)> {
        let each = self.rows.iter().zip(&self.origins);
        each.flat_map(|((_, row), origin)| row.iter().map(|(k, _)| (*k, origin.exact))).collect()
    }

    /// Names of the start equations that do not hold at x.
    pub(super) fn unmet_start_equations(&mut self, x: &[f64]) -> Vec<String> {
        let residual = self.residual(x);
        let unmet = self.origins.iter().zip(residual).filter(|(o, r)| o.is_start && (r.is_nan() || r.abs() > 1e-9));
        unmet.map(|(origin, _)| origin.name.clone()).collect()
    }

    /// Keeps the constraints only.
    pub(super) fn drop_start_equations(&mut self) {
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
    pub(super) fn residual(&mut self, x: &[f64]) -> Vec<f64> {
        self.evaluate(x);
        self.program.values()[..self.rows.len()].to_vec()
    }

    /// Another expression of the state where g was last evaluated.
    pub(super) fn value(&self, graph: &Graph, expr: Expr) -> Option<f64> {
        let mut program = Compiled::new(graph, &self.symbols, &[expr])?;
        Some(program.run(&self.inputs)[0]).filter(|v| v.is_finite())
    }

    fn evaluate(&mut self, x: &[f64]) {
        let from = if self.is_velocity { 1 + self.n } else { 1 };
        self.inputs[from..from + self.n].copy_from_slice(x);
        self.program.run(&self.inputs);
    }
}

fn compiled(graph: &Graph, symbols: &[Expr], rows: &[(Expr, SparseRow)]) -> Compiled {
    let mut outputs: Vec<Expr> = rows.iter().map(|(g, _)| *g).collect();
    outputs.extend(rows.iter().flat_map(|(_, row)| row.iter().map(|(_, e)| *e)));
    Compiled::new(graph, symbols, &outputs).expect("lowering and the system let no other symbol through")
}

/// The start equations that are not about a single coordinate: quantity − value, and its gradient.
pub(super) fn point_rows(equations: &mut Equations, is_velocity: bool) -> Vec<Equation> {
    let model = &mut equations.model;
    let is_point = |i: &&crate::model::Initial| i.is_velocity == is_velocity && i.coordinate.is_none();
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
        let origin = Origin { name: initial.name.clone(), span: initial.span, is_start: true, exact: initial.exact };
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
        Err(self.program.trouble(self.graph, &self.symbols, &self.inputs))
    }
}
