//! Rows that are independent on the constraints themselves, where the motion takes place.
//!
//! An overconstrained mechanism such as Bricard's moves because its rows are dependent wherever they all hold, and only
//! there.

use zwang_expr::{Expr, Program};
use zwang_motion::{Matrix, MotionError, Residual, Settings, dependence, project_only};

use crate::formulas::closed_form::{expanded, independent_rows};
use crate::model::Level;
use crate::random::scattered;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};

/// Rows that are independent at generic states on the constraints; if no such state is found, at generic states.
pub(super) fn independent_rows_there(equations: &mut Equations, rows: &[SparseRow]) -> Option<Vec<usize>> {
    let generic = independent_rows(equations, rows)?;
    let Some(mut positions) = Positions::new(equations, rows) else { return Some(generic) };
    let mut there: Option<Vec<usize>> = None;
    for attempt in 0..limits::DECIDING_STATES {
        if let Some(found) = positions.independent(attempt)
            && there.as_ref().is_none_or(|best| found.len() > best.len())
        {
            there = Some(found);
        }
    }
    Some(there.filter(|found| found.len() < generic.len()).unwrap_or(generic))
}

/// The position constraints, and all rows, at chosen positions.
struct Positions {
    n: usize,
    /// The start positions that the model states.
    start: Vec<Option<f64>>,
    /// φ and ∂φ/∂q.
    residual: Program,
    gradient: Matrix,
    /// A.
    rows: Program,
    matrix: Matrix,
    /// The number of symbols other than q and the parameters: time and velocities.
    n_others: usize,
    parameters: Vec<f64>,
    others: Vec<f64>,
}

impl Positions {
    /// `None` without position constraints, or if a formula contains a symbol without a value.
    fn new(equations: &mut Equations, rows: &[SparseRow]) -> Option<Positions> {
        let n = equations.model.n_coordinates();
        let held: Vec<usize> =
            (0..equations.rows.len()).filter(|&k| equations.rows[k].level == Level::Position).collect();
        if held.is_empty() {
            return None;
        }
        let entries =
            |rows: &mut dyn Iterator<Item = &SparseRow>| rows.flatten().map(|(_, e)| *e).collect::<Vec<Expr>>();
        let all = entries(&mut rows.iter());
        let own = entries(&mut held.iter().map(|&k| &rows[k]));
        let residuals = held.iter().map(|&k| equations.rows[k].residual);
        let phi: Vec<Expr> = residuals.chain(own).collect();
        let graph = &mut equations.model.graph;
        let (all, phi) = (expanded(graph, &equations.parts, &all), expanded(graph, &equations.parts, &phi));
        let model = &equations.model;
        let mut symbols: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
        let others = model.graph.symbols_of(&[all.clone(), phi.clone()].concat());
        let is_other = |s: &Expr| !symbols.contains(s) && !model.parameters.iter().any(|p| p.symbol == *s);
        let others: Vec<Expr> = others.into_iter().filter(is_other).collect();
        symbols.extend(&others);
        symbols.extend(model.parameters.iter().map(|p| p.symbol));
        let pattern = |rows: &mut dyn Iterator<Item = &SparseRow>| -> Vec<Vec<usize>> {
            rows.map(|row| row.iter().map(|(k, _)| *k).collect()).collect()
        };
        let mut start = vec![None; n];
        for given in model.start.iter().filter(|given| !given.is_velocity) {
            if let Some(k) = given.coordinate {
                start[k] = Some(model.constants(&[given.value])[0]).filter(|x| x.is_finite());
            }
        }
        Some(Positions {
            n,
            start,
            residual: Program::new(&model.graph, &symbols, &phi).ok()?,
            gradient: Matrix::from_pattern(held.len(), n, &pattern(&mut held.iter().map(|&k| &rows[k]))),
            rows: Program::new(&model.graph, &symbols, &all).ok()?,
            matrix: Matrix::from_pattern(rows.len(), n, &pattern(&mut rows.iter())),
            n_others: others.len(),
            parameters: model.parameter_values.clone(),
            others: Vec::new(),
        })
    }

    /// The rows that are independent at a point on the constraints, near the start if that is known.
    fn independent(&mut self, attempt: usize) -> Option<Vec<usize>> {
        let n = self.n;
        let near = |k: usize| match self.start[k] {
            Some(start) => start + 0.2 * (scattered(k, attempt) - 0.5),
            None => 0.2 + 0.7 * scattered(k, attempt),
        };
        let mut q: Vec<f64> = (0..n).map(near).collect();
        // arbitrary time and velocities
        self.others = (0..self.n_others).map(|k| 0.2 + 0.7 * scattered(n + k, attempt)).collect();
        let settings = Settings::default();
        let found = project_only(self, &Matrix::identity(n), &vec![true; n], &mut q, &settings).ok()?;
        if !found.converged {
            return None;
        }
        self.rows.run(&self.inputs(&q), &mut self.rows.workspace(), &mut self.matrix.value);
        let is_finite = self.matrix.value.iter().all(|x| x.is_finite());
        is_finite.then(|| dependence(&self.matrix, &settings).ok()).flatten().map(|found| found.independent)
    }

    fn inputs(&self, q: &[f64]) -> Vec<f64> {
        q.iter().chain(&self.others).chain(&self.parameters).copied().collect()
    }
}

impl Residual for Positions {
    fn n_unknowns(&self) -> usize {
        self.n
    }

    fn n_rows(&self) -> usize {
        self.gradient.n_rows
    }

    fn allocate(&self) -> Matrix {
        self.gradient.clone()
    }

    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        let mut out = vec![0.0; g.len() + jacobian.value.len()];
        self.residual.run(&self.inputs(x), &mut self.residual.workspace(), &mut out);
        let (values, slopes) = out.split_at(g.len());
        g.copy_from_slice(values);
        jacobian.value.copy_from_slice(slopes);
        Ok(())
    }
}
