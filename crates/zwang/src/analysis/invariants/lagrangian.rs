//! Properties of the Lagrangian, Y05: regularity, conservation of energy, conserved momenta.
#![allow(non_snake_case)]

use zwang_motion::{Matrix, Settings};

use crate::analysis::invariants::energy::{EnergyVerdict, energy};
use crate::analysis::invariants::momentum::{Conserved, Cyclic, momenta};
use crate::equations::Equations;
use crate::quantity::rounded;
use crate::random::scattered;
use crate::{analysis::check::Check, limits, tolerance};
use zwang_expr::Expr;

/// The results that follow from the Lagrangian without integration.
#[derive(Clone, Debug, Default)]
pub struct LagrangianSide {
    /// Directions without mass at the state; empty if L is regular there.
    pub degenerate: Vec<Degenerate>,
    /// The conservation of E = p·q̇ − L.
    pub energy: EnergyVerdict,
    /// Coordinates that L does not contain.
    pub cyclic: Vec<Cyclic>,
    /// Conserved momenta and sums of momenta.
    pub conserved: Vec<Conserved>,
    /// The analysis that was left out because of the size of the system.
    pub skipped: Option<String>,
}

/// A direction u in which L is not quadratic: M u = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Degenerate {
    /// u, without its zeros: coordinates and factors.
    pub direction: Vec<(String, f64)>,
    /// `true` if M is as singular at other states; `None` if they were not tried.
    pub everywhere: Option<bool>,
}

impl Degenerate {
    /// `phi`, or `x - 2·y`.
    pub fn text(&self) -> String {
        combination(&self.direction, "")
    }
}

/// Analyses the Lagrangian of a model whose start is known.
pub fn lagrangian_side(check: &mut Check, settings: &Settings) -> LagrangianSide {
    let (cyclic, conserved, skipped) = momenta(check);
    LagrangianSide { degenerate: degenerate(check), energy: energy(check, settings), cyclic, conserved, skipped }
}

/// The null directions of M at the state.
fn degenerate(check: &Check) -> Vec<Degenerate> {
    let (n, equations) = (check.state.q.len(), &check.equations);
    if check.regular {
        return Vec::new();
    }
    let named = |(k, x): (usize, f64)| (equations.model.coordinates[k].name.clone(), x);
    if n > limits::OTHER_STATES_COORDINATES {
        // in a large system only coordinates that L does not contain at all
        let bare = (0..n).filter(|&k| check.snapshot.given.mass_matrix.row(k).1.iter().all(|x| *x == 0.0));
        return bare.map(|k| Degenerate { direction: vec![named((k, 1.0))], everywhere: None }).collect();
    }
    let here = massless(&check.snapshot.given.mass_matrix);
    let elsewhere = generic_defect(equations, check, here.len());
    let one = |direction: Vec<f64>| Degenerate {
        direction: tidied(&direction).into_iter().enumerate().filter(|(_, x)| *x != 0.0).map(named).collect(),
        everywhere: elsewhere,
    };
    here.into_iter().map(one).collect()
}

/// Directions u with M u = 0, M scaled to a unit diagonal so that units do not matter.
fn massless(M: &Matrix) -> Vec<Vec<f64>> {
    let n = M.n_rows;
    let scale: Vec<f64> =
        (0..n).map(|k| M.get(k, k).abs().sqrt()).map(|s| if s > 0.0 { 1.0 / s } else { 1.0 }).collect();
    let mut space = NullSpace::new(n);
    for i in 0..n {
        let mut row = vec![0.0; n];
        let (columns, values) = M.row(i);
        columns.iter().zip(values).for_each(|(&j, &x)| row[j] = x * scale[i] * scale[j]);
        space.add(row, 1.0);
    }
    let unscaled = |u: Vec<f64>| u.iter().zip(&scale).map(|(x, s)| x * s).collect();
    space.directions().into_iter().map(unscaled).collect()
}

/// `true` if M has as many null directions at arbitrary states.
fn generic_defect(equations: &Equations, check: &Check, n_here: usize) -> Option<bool> {
    let entries: Vec<Expr> = equations.mass_matrix.iter().flatten().map(|(_, e)| *e).collect();
    let mut samples = Arbitrary::new(equations, check, &entries)?;
    let pattern: Vec<Vec<usize>> =
        equations.mass_matrix.iter().map(|row| row.iter().map(|(j, _)| *j).collect()).collect();
    let mut M = Matrix::from_pattern(pattern.len(), pattern.len(), &pattern);
    let mut least: Option<usize> = None;
    for _ in 0..3 {
        if let Some(values) = samples.next() {
            M.value.copy_from_slice(&values);
            let n = massless(&M).len();
            least = Some(least.map_or(n, |m| m.min(n)));
        }
    }
    least.map(|n| n == n_here)
}

/// Vectors orthogonal to all added rows, by elimination row after row.
pub(super) struct NullSpace {
    n: usize,
    /// Pivot column and row; the entry is one there and zero in every other row.
    rows: Vec<(usize, Vec<f64>)>,
}

impl NullSpace {
    pub(super) fn new(n: usize) -> NullSpace {
        NullSpace { n, rows: Vec::new() }
    }

    /// `true` if only the zero vector is left.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == self.n
    }

    /// Adds a row whose entries are rounding below `ELIMINATED` times the given size.
    pub(super) fn add(&mut self, mut row: Vec<f64>, size: f64) {
        for (pivot, known) in &self.rows {
            let factor = row[*pivot];
            if factor != 0.0 {
                row.iter_mut().zip(known).for_each(|(x, y)| *x -= factor * y);
            }
        }
        let largest = (0..self.n).max_by(|&i, &j| row[i].abs().total_cmp(&row[j].abs()));
        let Some(pivot) = largest.filter(|&k| row[k].abs() > tolerance::ELIMINATED * size) else { return };
        let divisor = row[pivot];
        row.iter_mut().for_each(|x| *x /= divisor);
        for (_, known) in &mut self.rows {
            let factor = known[pivot];
            if factor != 0.0 {
                known.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            }
        }
        self.rows.push((pivot, row));
    }

    /// One direction for each column without a pivot: one there, and the entries that compensate it at the pivots.
    pub(super) fn directions(&self) -> Vec<Vec<f64>> {
        let is_free = |k: &usize| self.rows.iter().all(|(pivot, _)| pivot != k);
        let direction = |free: usize| {
            let mut u = vec![0.0; self.n];
            u[free] = 1.0;
            for (pivot, row) in &self.rows {
                u[*pivot] = if row[free].abs() > tolerance::ELIMINATED { -row[free] } else { 0.0 };
            }
            u
        };
        (0..self.n).filter(is_free).map(direction).collect()
    }
}

/// Values of expressions at arbitrary states around the start, whether or not they satisfy the constraints.
///
/// A result there holds as an identity, and so wherever the formulas do not switch.
pub(super) struct Arbitrary {
    program: zwang_expr::Program,
    centre: Vec<f64>,
    /// The number of inputs that are t, q and q̇.
    n_state: usize,
    /// Fixed inputs: parameters that no event changes.
    held: Vec<bool>,
    n_drawn: usize,
}

impl Arbitrary {
    /// `None` if an expression contains symbols other than state, parameters and multipliers.
    pub(super) fn new(equations: &Equations, check: &Check, exprs: &[Expr]) -> Option<Arbitrary> {
        let model = &equations.model;
        let n_state = 2 * model.n_coordinates() + 1;
        let mut symbols = model.state_symbols();
        let mut centre = model.state_values(&check.state);
        let mut held = vec![false; n_state];
        held.resize(symbols.len(), true);
        for when in &model.whens {
            if let crate::model::Change::Parameter(k) = when.change {
                held[n_state + k] = false;
            }
        }
        symbols.extend(equations.rows.iter().map(|r| r.lambda));
        centre.resize(symbols.len(), 0.0);
        held.resize(symbols.len(), false);
        let program = zwang_expr::Program::new(&model.graph, &symbols, exprs).ok()?;
        Some(Arbitrary { program, centre, n_state, held, n_drawn: 0 })
    }

    /// The values at the next state; `None` if one of them is not finite.
    pub(super) fn next(&mut self) -> Option<Vec<f64>> {
        self.n_drawn += 1;
        let seed = self.n_drawn;
        // shifts of the size of the values themselves, and of order one if they are small; t increases
        let shift = |(k, x): (usize, &f64)| {
            let wave = scattered(k, seed);
            match k {
                _ if self.held[k] => *x,
                0 => x + 0.6 * (1.2 + wave),
                _ if k < self.n_state => x + 0.4 * wave * (1.0 + x.abs()),
                _ => x * (1.0 + 0.4 * wave) + 0.4 * wave,
            }
        };
        let inputs: Vec<f64> = self.centre.iter().enumerate().map(shift).collect();
        let mut values = vec![0.0; self.program.n_outputs()];
        self.program.run(&inputs, &mut self.program.workspace(), &mut values);
        values.iter().all(|x| x.is_finite()).then_some(values)
    }
}

/// A direction with whole numbers if they fit, otherwise with its first factor one.
pub(super) fn tidied(u: &[f64]) -> Vec<f64> {
    /// The largest whole number that reads better than a decimal.
    const LARGEST_WHOLE: f64 = 12.0;
    let entries = || u.iter().filter(|x| **x != 0.0);
    let (Some(first), Some(least)) = (entries().next(), entries().map(|x| x.abs()).min_by(f64::total_cmp)) else {
        return u.to_vec();
    };
    let whole = (1..=LARGEST_WHOLE as usize).find_map(|k| {
        let factor = k as f64 * first.signum() / least;
        let scaled: Vec<f64> = u.iter().map(|x| x * factor).collect();
        let fits =
            |x: &f64| (x - x.round()).abs() <= tolerance::ELIMINATED * x.abs().max(1.0) && x.abs() <= LARGEST_WHOLE;
        scaled.iter().all(fits).then(|| scaled.iter().map(|x| x.round() + 0.0).collect())
    });
    whole.unwrap_or_else(|| u.iter().map(|x| x / first + 0.0).collect())
}

/// `p_x + 2·p_y`: factors before names, each name after `prefix`.
pub(super) fn combination(parts: &[(String, f64)], prefix: &str) -> String {
    let mut out = String::new();
    for (k, (name, factor)) in parts.iter().enumerate() {
        out.push_str(match (k, *factor < 0.0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        });
        if (factor.abs() - 1.0).abs() > tolerance::ELIMINATED {
            out.push_str(&format!("{}·", rounded(factor.abs(), 6)));
        }
        out.push_str(&format!("{prefix}{name}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_orthogonal_to_all_rows() {
        let rows = [vec![1.0, -1.0, 0.0, 0.0], vec![0.0, 2.0, -2.0, 0.0], vec![1.0, 1.0, -2.0, 0.0]];
        let mut space = NullSpace::new(4);
        rows.iter().for_each(|row| space.add(row.clone(), 2.0));
        let found = space.directions();
        assert_eq!(found.len(), 2);
        for u in &found {
            for row in &rows {
                assert!(row.iter().zip(u).map(|(x, y)| x * y).sum::<f64>().abs() < 1e-14);
            }
        }
    }

    #[test]
    fn factors_become_whole_numbers_where_they_can() {
        assert_eq!(tidied(&[0.5, 0.0, -1.5]), [1.0, 0.0, -3.0]);
        assert_eq!(tidied(&[-2.0, 3.0]), [2.0, -3.0]);
        assert_eq!(tidied(&[2.0, 1.1]), [1.0, 0.55]);
        let parts = [("x".to_string(), 1.0), ("y".to_string(), -2.5)];
        assert_eq!(combination(&parts, "p_"), "p_x - 2.5·p_y");
    }
}
