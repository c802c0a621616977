//! The states that a question is about, and one of them that answers it.

use zwang_expr::Expr;
use zwang_motion::State;

use crate::equations::Equations;
use crate::model::{Change, Level, Model};
use crate::quantity::rounded;

/// The size of ranges: positions and velocities over ten times their sizes.
const TIMES_THEIR_SIZE: f64 = 10.0;

/// The largest number of values that a sentence shows.
const VALUES_SHOWN: usize = 4;

/// A free symbol and its range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeSymbol {
    pub(crate) symbol: Expr,
    pub(crate) centre: f64,
    /// The distance from the centre at which a first state is drawn.
    pub(crate) near: f64,
    pub(crate) width: f64,
    /// The end of the run, for the time.
    pub(crate) end: Option<f64>,
}

/// The states of a model that satisfy its constraints, over a run and ten times the sizes of its coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    pub(crate) free: Vec<FreeSymbol>,
    /// Parameters with their values.
    pub(crate) fixed: Vec<(Expr, f64)>,
    /// Expressions that are zero at every state.
    pub(crate) zeros: Vec<Expr>,
}

impl Region {
    /// Symbols with their centres and widths, and the time with its range.
    #[cfg(test)]
    pub(crate) fn new(of: Vec<(Expr, f64, f64)>, time: Option<(Expr, f64, f64)>, zeros: Vec<Expr>) -> Region {
        let free = |(symbol, centre, width)| FreeSymbol { symbol, centre, near: 0.1 * width, width, end: None };
        let free: Vec<FreeSymbol> = of.into_iter().map(free).chain(time.map(timed)).collect();
        Region { free, fixed: Vec::new(), zeros }
    }

    /// The region of a model around a start, without constraints.
    pub(crate) fn around(model: &Model, start: &State) -> Region {
        let horizon = model.horizon();
        let own = |k: usize| start.q[k].abs().max(start.qdot[k].abs() * horizon);
        let largest = (0..start.q.len()).map(own).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let usual = if largest > 0.0 { largest } else { 1.0 };
        let size = |k: usize| if own(k) > 0.0 && own(k).is_finite() { own(k) } else { usual };
        let mut free = vec![timed((model.time, start.t, start.t + horizon))];
        let range = |symbol, centre: f64, size: f64| FreeSymbol {
            symbol,
            centre,
            near: size,
            width: TIMES_THEIR_SIZE * size,
            end: None,
        };
        free.extend(model.coordinates.iter().enumerate().map(|(k, c)| range(c.q, start.q[k], size(k))));
        let speed = |k: usize| start.qdot[k].abs().max(size(k) / horizon);
        free.extend(model.coordinates.iter().enumerate().map(|(k, c)| range(c.qdot, start.qdot[k], speed(k))));
        let is_changed = |k: usize| model.whens.iter().any(|w| matches!(w.change, Change::Parameter(j) if j == k));
        let mut region = Region { free, ..Region::default() };
        for (k, (parameter, &value)) in model.parameters.iter().zip(&model.parameter_values).enumerate() {
            match is_changed(k) {
                false => region.fixed.push((parameter.symbol, value)),
                true => region.free.push(range(parameter.symbol, value, if value == 0.0 { 1.0 } else { value.abs() })),
            }
        }
        region
    }

    /// The region with the permanent constraints, on positions and on velocities.
    pub(crate) fn on_constraints(equations: &Equations, start: &State) -> Region {
        let mut region = Region::around(&equations.model, start);
        for row in &equations.rows {
            match row.level {
                Level::Position => region.zeros.extend([Some(row.residual), row.rate].into_iter().flatten()),
                Level::Velocity => region.zeros.push(row.residual),
                Level::Acceleration => {}
            }
        }
        region
    }
}

fn timed((symbol, from, to): (Expr, f64, f64)) -> FreeSymbol {
    let half = 0.5 * (to - from);
    FreeSymbol { symbol, centre: from + half, near: half, width: to - from, end: Some(to) }
}

/// A certified value of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    /// The value.
    pub(crate) value: f64,
    /// The free symbols of the expression with their values.
    pub(crate) at: Vec<(Expr, f64)>,
    /// `true` if it lies after the end of the run.
    pub(crate) is_beyond: bool,
}

impl Witness {
    /// `309 at t = 3, x = 5.56`.
    pub(crate) fn text(&self, model: &Model) -> String {
        let places: Vec<String> =
            self.at.iter().map(|(s, x)| format!("{} = {}", model.graph.name(*s), rounded(*x, 3))).collect();
        let more = if places.len() > VALUES_SHOWN { ", …" } else { "" };
        let places = places.into_iter().take(VALUES_SHOWN).collect::<Vec<_>>().join(", ");
        let beyond = if self.is_beyond { ", after the end of the run" } else { "" };
        let at = if places.is_empty() { String::new() } else { format!(" at {places}{more}") };
        format!("{}{at}{beyond}", rounded(self.value, 3))
    }
}
