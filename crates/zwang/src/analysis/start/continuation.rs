//! Continuation of a motion: positions ahead that the constraints do not allow.

use zwang_motion::{Matrix, Settings, State, project_only};

use crate::analysis::start::level::{LevelEquations, LevelPart};
use crate::diagnostic::Contradiction;
use crate::equations::Equations;
use crate::model::Level;
use crate::{analysis::constraints::contradiction::contradiction_of, tolerance};

/// The fraction of that distance that must remain after projection onto the constraints; with less there is no
/// continuation.
const GOES_ON: f64 = 0.5;

/// The smallest set of constraints that allow no positions further along the velocity of a state; `None` if they allow
/// some.
///
/// Projected onto the constraints, a point ahead stays ahead if a branch continues, and returns if none does.
pub(crate) fn no_way_on(
    equations: &Equations,
    parameters: &[f64],
    state: &State,
    settings: &Settings,
) -> Option<Contradiction> {
    let mut level = LevelEquations::new(equations, &[], state, false);
    level.set_parameters(parameters);
    let pace = state.qdot.iter().zip(&level.sizes).fold(0.0_f64, |top, (v, size)| top.max((v / size).abs()));
    let h = tolerance::CONTINUATION / pace;
    if !h.is_normal() {
        return None;
    }
    let mut ahead = ContradictionAhead { level, from: state, h, settings };
    ahead.level.set_time(state.t + h);
    let mut rows: Vec<usize> = (0..ahead.level.origins.len()).collect();
    if ahead.met(&rows).is_some() {
        return None;
    }
    let mut at = 0;
    while at < rows.len() {
        let others = without(&rows, at);
        match ahead.met(&others) {
            Some(_) => at += 1,
            None => rows = others,
        }
    }
    let residual = |at: usize| {
        let x = ahead.met(&without(&rows, at))?;
        Some(ahead.level.residual(&x)[rows[at]])
    };
    let residuals: Vec<f64> = (0..rows.len()).map(residual).map(|residual| residual.unwrap_or(f64::NAN)).collect();
    let found = contradiction_of(equations, Level::Position, state.t, &rows, &residuals);
    Some(Contradiction { later: Some((state.t + h, residuals)), ..found })
}

fn without(rows: &[usize], at: usize) -> Vec<usize> {
    rows[..at].iter().chain(&rows[at + 1..]).copied().collect()
}

/// A point further along a velocity.
struct ContradictionAhead<'a, 'e> {
    level: LevelEquations<'e>,
    from: &'a State,
    h: f64,
    settings: &'a Settings,
}

impl ContradictionAhead<'_, '_> {
    /// Positions ahead that satisfy some rows.
    fn met(&mut self, rows: &[usize]) -> Option<Vec<f64>> {
        let State { q, qdot, .. } = self.from;
        let n = q.len();
        let mut x: Vec<f64> = q.iter().zip(qdot).map(|(q, v)| q + self.h * v).collect();
        let mut part = LevelPart::new(&mut self.level, rows, false);
        let found = project_only(&mut part, &Matrix::identity(n), &vec![true; n], &mut x, self.settings).ok()?;
        let way: f64 = x.iter().zip(q).zip(qdot).map(|((x, q), v)| (x - q) * v).sum();
        let whole: f64 = qdot.iter().map(|v| self.h * v * v).sum();
        (found.converged && way >= GOES_ON * whole).then_some(x)
    }
}
