//! The nearest start at which no contact is penetrated.

use zwang_expr::Expr;
use zwang_motion::{Dynamics, Given, Matrix, MotionError, Residual, Settings, State, project_only};

use crate::compile::program::Compiled;
use crate::equations::Equations;
use crate::model::Level;
use crate::{compile::evaluator::Evaluator, limits};

/// φ = 0 of constraints and gap = 0 of some contacts, as functions of the coordinates.
struct ClosedGaps {
    n: usize,
    m: usize,
    t: f64,
    rest: Vec<f64>,
    program: Compiled,
}

impl ClosedGaps {
    fn new(equations: &Equations, state: &State, rows: &[Expr]) -> Option<ClosedGaps> {
        let model = &equations.model;
        let mut graph = model.graph.clone();
        let mut outputs = rows.to_vec();
        for &row in rows {
            outputs.extend(model.coordinates.iter().map(|c| graph.derivative(row, c.q)));
        }
        let program = Compiled::new(&graph, &model.state_symbols(), &outputs)?;
        let n = state.q.len();
        let rest = model.state_values(state)[1 + n..].to_vec();
        Some(ClosedGaps { n, m: rows.len(), t: state.t, rest, program })
    }
}

impl Residual for ClosedGaps {
    fn n_unknowns(&self) -> usize {
        self.n
    }

    fn n_rows(&self) -> usize {
        self.m
    }

    fn allocate(&self) -> Matrix {
        let columns: Vec<Vec<usize>> = vec![(0..self.n).collect(); self.m];
        Matrix::from_pattern(self.m, self.n, &columns)
    }

    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        let inputs: Vec<f64> =
            std::iter::once(self.t).chain(x.iter().copied()).chain(self.rest.iter().copied()).collect();
        let values = self.program.run(&inputs);
        g.copy_from_slice(&values[..self.m]);
        jacobian.value.copy_from_slice(&values[self.m..]);
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(MotionError::NotFinite { what: "a gap".into() }),
        }
    }
}

/// The positions nearest to a state, in the metric of the masses, without a negative gap; `None` if they are not found.
pub(crate) fn nearest_outside(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    touching: f64,
    settings: &Settings,
) -> Option<Vec<f64>> {
    let model = &equations.model;
    let mut given = system.allocate();
    system.fill(state, &mut given).ok()?;
    // exact values are kept if the other coordinates can move far enough
    let exact = |k: usize| model.start.iter().any(|i| i.exact && !i.is_velocity && i.coordinate == Some(k));
    let loose: Vec<bool> = (0..state.q.len()).map(|k| !exact(k)).collect();
    let moved =
        loose.contains(&true).then(|| move_outside(equations, system, state, touching, &given, &loose, settings));
    moved
        .flatten()
        .or_else(|| move_outside(equations, system, state, touching, &given, &vec![true; state.q.len()], settings))
}

/// The nearest positions without a negative gap, if only some of the coordinates may move.
fn move_outside(
    equations: &Equations,
    system: &Evaluator,
    state: &State,
    touching: f64,
    given: &Given,
    movable: &[bool],
    settings: &Settings,
) -> Option<Vec<f64>> {
    let model = &equations.model;
    let gaps: Vec<Expr> = model.contacts.iter().flat_map(|c| &c.rows).map(|row| row.expr).collect();
    let positions = equations.rows.iter().filter(|r| r.level == Level::Position).map(|r| r.residual);
    let mut rows: Vec<Expr> = positions.collect();
    let mut q = state.q.clone();
    for _ in 0..limits::ADMISSIBLE_ROUNDS {
        let here = State { q: q.clone(), ..state.clone() };
        let values = system.evaluate(model, &here, &gaps)?;
        let entered = |(gap, value): (&Expr, &f64)| (*value < -touching && !rows.contains(gap)).then_some(*gap);
        let new: Vec<Expr> = gaps.iter().zip(&values).filter_map(entered).collect();
        if new.is_empty() {
            return values.iter().all(|gap| *gap >= -touching).then_some(q);
        }
        rows.extend(new);
        q.copy_from_slice(&state.q);
        let mut equations_of = ClosedGaps::new(equations, state, &rows)?;
        let found = project_only(&mut equations_of, &given.mass_matrix, movable, &mut q, settings).ok()?;
        if !found.converged {
            return None;
        }
    }
    None
}
