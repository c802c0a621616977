//! Positions further along a motion that the constraints do not allow.

use zwang_motion::{Matrix, Settings, State, project_only};

use super::level::{LevelEquations, Part};
use crate::equations::Equations;
use crate::model::Level;
use crate::verdict::Contradiction;

/// How far along the velocity is looked, beside the sizes of the coordinates: far enough for a gap that opens with the third power.
const FAR: f64 = 1e-2;
/// Of that way so much must be left once the positions are on the constraints, or there is no way on.
const GOES_ON: f64 = 0.5;

/// The constraints that allow no positions further along the velocity of a state, the smallest set; none if they allow some.
///
/// Projected onto the constraints, a point ahead stays ahead where a branch goes on, and comes back where none does.
pub(crate) fn no_way_on(
    equations: &Equations,
    parameters: &[f64],
    state: &State,
    settings: &Settings,
) -> Option<Contradiction> {
    let mut level = LevelEquations::new(equations, &[], state, false);
    level.set_parameters(parameters);
    let pace = state.qdot.iter().zip(&level.sizes).fold(0.0_f64, |top, (v, size)| top.max((v / size).abs()));
    let h = FAR / pace;
    if !h.is_normal() {
        return None;
    }
    let mut ahead = Ahead { level, from: state, h, settings };
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
    let miss = |at: usize| {
        let x = ahead.met(&without(&rows, at))?;
        Some(ahead.level.residual(&x)[rows[at]])
    };
    let misses: Vec<f64> = (0..rows.len()).map(miss).map(|miss| miss.unwrap_or(f64::NAN)).collect();
    let found = Contradiction::new(equations, Level::Position, state.t, &rows, &misses);
    Some(Contradiction { later: Some((state.t + h, misses)), ..found })
}

fn without(rows: &[usize], at: usize) -> Vec<usize> {
    rows[..at].iter().chain(&rows[at + 1..]).copied().collect()
}

/// A point further along a velocity.
struct Ahead<'a, 'e> {
    level: LevelEquations<'e>,
    from: &'a State,
    h: f64,
    settings: &'a Settings,
}

impl Ahead<'_, '_> {
    /// Positions ahead that satisfy some rows.
    fn met(&mut self, rows: &[usize]) -> Option<Vec<f64>> {
        let State { q, qdot, .. } = self.from;
        let n = q.len();
        let mut x: Vec<f64> = q.iter().zip(qdot).map(|(q, v)| q + self.h * v).collect();
        let mut part = Part::new(&mut self.level, rows, false);
        let found = project_only(&mut part, &Matrix::identity(n), &vec![true; n], &mut x, self.settings).ok()?;
        let way: f64 = x.iter().zip(q).zip(qdot).map(|((x, q), v)| (x - q) * v).sum();
        let whole: f64 = qdot.iter().map(|v| self.h * v * v).sum();
        (found.converged && way >= GOES_ON * whole).then_some(x)
    }
}
