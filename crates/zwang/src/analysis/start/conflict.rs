//! The smallest set of constraints that cannot hold together at one level, with residuals and certainty.
//!
//! Equations linear in the unknowns are decided with certainty. Other sets count as impossible if no search from
//! several starts satisfies them. Rows are left out as long as the rest stays impossible, so that in the end every set
//! with one row fewer is satisfied by values that were found.

#![allow(non_snake_case)]

use zwang_expr::Expr;
use zwang_motion::{Conflict, Matrix, MotionError, Residual, Settings, State, conflict, project_only};

use crate::analysis::start::level::{LevelEquations, LevelPart, usual_sizes};
use crate::analysis::start::{GivenAs, guesses};
use crate::compile::program::Compiled;
use crate::diagnostic::{Certainty, Contradiction};
use crate::equations::Equations;
use crate::model::Level;
use crate::random::scattered;
use crate::{analysis::constraints::contradiction::contradiction_of, limits, tolerance};

/// The contradiction between constraints at one level that no search has satisfied; the error carries values that
/// satisfy all of them, if some are found after all.
pub(super) fn contradiction(
    equations: &Equations,
    level: &mut LevelEquations,
    guess: &[f64],
    settings: &Settings,
) -> Result<Contradiction, Vec<f64>> {
    let t = level.time();
    let starts = starts(guess, &level.sizes);
    let mut search = StartConflictSearch { level, settings, starts, work: 0, n_tried: 0 };
    let found = match search.linear() {
        Some(conflict) => {
            let residuals = conflict.residuals();
            FoundConflict { rows: conflict.rows, residuals, surety: Certainty::Certain, minimal: true }
        }
        None => search.nonlinear(guess)?,
    };
    let (everywhere, agrees_at) = search.at_other_times(&found.rows, equations.model.time);
    let at = if search.level.is_velocity { Level::Velocity } else { Level::Position };
    let known = contradiction_of(equations, at, t, &found.rows, &found.residuals);
    Ok(Contradiction { everywhere, agrees_at, surety: found.surety, minimal: found.minimal, ..known })
}

/// The contradiction at a state of a motion, first between velocities, then between positions; `None` if both can be
/// satisfied.
pub(crate) fn at_state(
    equations: &Equations,
    parameters: &[f64],
    state: &State,
    settings: &Settings,
) -> Option<Contradiction> {
    // positions along a motion are not known to the last digit
    let settings = &Settings { projection_tolerance: tolerance::VELOCITY_ROUGHLY, ..settings.clone() };
    [true, false].into_iter().find_map(|is_velocity| {
        let mut level = LevelEquations::new(equations, &[], state, is_velocity);
        level.set_parameters(parameters);
        let x = if is_velocity { &state.qdot } else { &state.q };
        let mut all = StartConflictSearch { level: &mut level, settings, starts: vec![x.clone()], work: 0, n_tried: 0 };
        let rows: Vec<usize> = (0..all.level.origins.len()).collect();
        if rows.is_empty() || all.met(&rows, 1).is_some() {
            return None;
        }
        contradiction(equations, &mut level, x, settings).ok()
    })
}

/// The contradiction between positions at the time of a state, near its positions; `None` unless it is certain.
pub(crate) fn positions_clash(equations: &Equations, state: &State, settings: &Settings) -> Option<Contradiction> {
    let mut level = LevelEquations::new(equations, &[], state, false);
    let found = contradiction(equations, &mut level, &state.q, settings).ok()?;
    (found.surety == Certainty::Certain).then_some(found)
}

/// `true` if no velocities were found that satisfy some rows at the positions of a state.
pub(crate) fn velocities_clash(equations: &Equations, state: &State, rows: &[usize], settings: &Settings) -> bool {
    let mut level = LevelEquations::new(equations, &[], state, true);
    let settings = &Settings { projection_tolerance: tolerance::VELOCITY_ROUGHLY, ..settings.clone() };
    let starts = starts(&state.qdot, &level.sizes);
    let mut search = StartConflictSearch { level: &mut level, settings, starts, work: 0, n_tried: 0 };
    search.met(rows, usize::MAX).is_none()
}

/// Other velocities that satisfy the constraints at the positions of a state; the contradiction if there are none.
///
/// `loose` has the tolerance for a contradiction, `settings` the accuracy of the velocities.
pub(crate) fn velocities_at(
    equations: &Equations,
    state: &State,
    loose: &Settings,
    settings: &Settings,
) -> Result<State, Box<Contradiction>> {
    let mut level = LevelEquations::new(equations, &[], state, true);
    let rows: Vec<usize> = (0..level.origins.len()).collect();
    let shaken = |(k, v): (usize, &f64)| v + 0.1 * scattered(k, 0) * (level.sizes[k] + v.abs());
    let guess: Vec<f64> = state.qdot.iter().enumerate().map(shaken).collect();
    let starts = starts(&guess, &level.sizes);
    let mut search = StartConflictSearch { level: &mut level, settings, starts, work: 0, n_tried: 0 };
    let mut found = search.met(&rows, 1);
    if found.is_none() && !rows.is_empty() {
        found = match contradiction(equations, &mut level, &guess, loose) {
            Ok(found) => return Err(Box::new(found)),
            Err(velocities) => Some(velocities),
        };
    }
    Ok(State { qdot: found.unwrap_or(guess), ..state.clone() })
}

/// The given values, guesses around them, and values spread further out.
fn starts(guess: &[f64], sizes: &[f64]) -> Vec<Vec<f64>> {
    let open = vec![GivenAs::Missing; guess.len()];
    let mut starts: Vec<Vec<f64>> = guesses(guess, &open, sizes).collect();
    let size = guess.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
    let size = |j: usize| if size > 0.0 { size } else { sizes[j] };
    // multiples of irrational numbers modulo one fill the interval evenly, over coordinates and over starts
    let spread = |k: usize, j: usize| {
        let turn = ((k + 1) as f64 * 0.618_033_988_749_895 + j as f64 * 0.754_877_666_246_693).fract();
        2.0 * turn - 1.0
    };
    for k in 0..limits::CONTRADICTION_STARTS {
        let reach = [1.0, 3.0][k % 2];
        starts.push(guess.iter().enumerate().map(|(j, x)| x + reach * size(j) * spread(k, j)).collect());
    }
    starts
}

struct FoundConflict {
    rows: Vec<usize>,
    residuals: Vec<f64>,
    surety: Certainty,
    minimal: bool,
}

struct StartConflictSearch<'a, 'e> {
    level: &'a mut LevelEquations<'e>,
    settings: &'a Settings,
    starts: Vec<Vec<f64>>,
    /// Work spent so far.
    work: usize,
    /// The number of starts of the last search.
    n_tried: usize,
}

impl StartConflictSearch<'_, '_> {
    /// The conflict among the equations that are linear in the unknowns.
    fn linear(&mut self) -> Option<Conflict> {
        let rows = self.level.with_fixed_gradient();
        let n = self.level.n_unknowns();
        let (zero, other) = (vec![0.0; n], self.starts.last()?.clone());
        let mut part = LevelPart::new(self.level, &rows, false);
        let (mut J, mut g, mut there) = (part.allocate(), vec![0.0; rows.len()], vec![0.0; rows.len()]);
        part.fill(&other, &mut there, &mut J).ok()?;
        part.fill(&zero, &mut g, &mut J).ok()?;
        // a formula may switch although its derivative does not show it
        let is_linear = |k: usize| {
            let (col, value) = J.row(k);
            let size: f64 = col.iter().zip(value).map(|(&j, x)| (x * other[j]).abs()).sum::<f64>() + g[k].abs();
            (there[k] - g[k] - J.row_times(k, &other)).abs() <= tolerance::ROUNDING * (size + there[k].abs())
        };
        let kept: Vec<usize> = (0..rows.len()).filter(|&k| is_linear(k)).collect();
        let b: Vec<f64> = kept.iter().map(|&k| -g[k]).collect();
        let A = J.rows(&kept);
        // a residual that a search would accept is not a conflict
        let sharp =
            Settings { contradiction_tolerance: 4.0 * self.settings.projection_tolerance, ..self.settings.clone() };
        let mut found = conflict(&A, &b, &sharp)?;
        found.rows.iter_mut().for_each(|k| *k = rows[kept[*k]]);
        Some(found)
    }

    /// The conflict that remains after rows are left out one by one; the error carries values that satisfy all rows, if
    /// some are found.
    fn nonlinear(&mut self, guess: &[f64]) -> Result<FoundConflict, Vec<f64>> {
        let all: Vec<usize> = (0..self.level.origins.len()).collect();
        if let Some(x) = self.met(&all, usize::MAX) {
            return Err(x);
        }
        let mut rows = self.suspects(&all, guess);
        let mut minimal = self.leave_out(&mut rows);
        if let Some(pair) = self.smaller(&all, &rows) {
            (rows, minimal) = (pair, true);
        }
        // a set that other starts satisfy is not a contradiction: then it is only known that no start satisfied all
        // rows
        if self.met(&rows, usize::MAX).is_some() {
            (rows, minimal) = (all, false);
        }
        let (surety, compromise) = self.surety(&rows, self.n_tried);
        let residuals = self.residuals(&rows, &compromise);
        Ok(FoundConflict { rows, residuals, surety, minimal })
    }

    /// Values that satisfy some rows, found from the first `n_starts` starts.
    fn met(&mut self, rows: &[usize], n_starts: usize) -> Option<Vec<f64>> {
        let n = self.level.n_unknowns();
        let (weight, movable) = (Matrix::identity(n), vec![true; n]);
        let n_starts = n_starts.min(self.starts.len());
        for k in 0..n_starts {
            if self.work > limits::CONTRADICTION_WORK && k > 0 {
                break;
            }
            self.n_tried = k + 1;
            let mut x = self.starts[k].clone();
            let mut part = LevelPart::new(self.level, rows, false);
            let found = project_only(&mut part, &weight, &movable, &mut x, self.settings);
            self.work += n * found.as_ref().map_or(1, |p| 1 + p.iterations);
            if found.is_ok_and(|p| p.converged) {
                return Some(x);
            }
        }
        None
    }

    /// The conflicting rows at the point where the search stagnates, if they cannot be satisfied by themselves.
    fn suspects(&mut self, all: &[usize], guess: &[f64]) -> Vec<usize> {
        let n = self.level.n_unknowns();
        let mut x = guess.to_vec();
        let mut part = LevelPart::new(self.level, all, false);
        let found = project_only(&mut part, &Matrix::identity(n), &vec![true; n], &mut x, self.settings);
        let certificate = found.map(|p| p.certificate).unwrap_or_default();
        let fighting: Vec<usize> = (0..certificate.len()).filter(|&k| certificate[k] != 0.0).collect();
        match !fighting.is_empty() && fighting.len() < all.len() && self.met(&fighting, limits::FEW_STARTS).is_none() {
            true => fighting,
            false => all.to_vec(),
        }
    }

    /// Leaves rows out as long as the rest cannot be satisfied: first halves, then smaller parts, finally one by one.
    /// `false` if the work exceeds `CONTRADICTION_WORK`.
    fn leave_out(&mut self, rows: &mut Vec<usize>) -> bool {
        let mut size = rows.len().next_power_of_two() / 2;
        while size > 0 {
            let mut at = 0;
            while at < rows.len() && rows.len() > 1 {
                if self.work > limits::CONTRADICTION_WORK {
                    return false;
                }
                let end = (at + size).min(rows.len());
                let rest: Vec<usize> = rows[..at].iter().chain(&rows[end..]).copied().collect();
                if !rest.is_empty() && self.met(&rest, limits::FEW_STARTS).is_none() {
                    *rows = rest;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        true
    }

    /// One or two rows that cannot be satisfied, if more were found.
    fn smaller(&mut self, all: &[usize], rows: &[usize]) -> Option<Vec<usize>> {
        let m = all.len();
        if rows.len() < 2 || m > limits::CONTRADICTION_PAIRS {
            return None;
        }
        let singles = all.iter().map(|&i| vec![i]);
        let pairs = (0..m).flat_map(|i| (i + 1..m).map(move |j| vec![all[i], all[j]]));
        let pairs = pairs.filter(|_| rows.len() > 2 && m * (m - 1) / 2 <= limits::CONTRADICTION_PAIRS);
        for set in singles.chain(pairs) {
            if self.work > limits::CONTRADICTION_WORK {
                return None;
            }
            if set != rows && self.met(&set, limits::FEW_STARTS).is_none() {
                return Some(set);
            }
        }
        None
    }

    /// The residual of each row at values that satisfy the others, near a compromise. Of many rows only some are
    /// evaluated; the others get NaN.
    fn residuals(&mut self, rows: &[usize], compromise: &[f64]) -> Vec<f64> {
        let starts = std::mem::replace(&mut self.starts, vec![compromise.to_vec()]);
        self.starts.extend(starts);
        let mut residuals = Vec::new();
        for (k, &row) in rows.iter().enumerate() {
            let others: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
            let is_looked_at = self.work <= limits::CONTRADICTION_WORK || k < limits::FIRST_ROWS || k + 1 == rows.len();
            let x = match (others.is_empty(), is_looked_at) {
                (true, _) => Some(compromise.to_vec()),
                (_, true) => self.met(&others, limits::FEW_STARTS),
                _ => None,
            };
            residuals.push(x.map_or(f64::NAN, |x| self.level.residual(&x)[row]));
        }
        residuals
    }

    /// The certainty that the rows cannot hold together, and values between them.
    ///
    /// Where the search stagnates there is y with yᵀJ = 0 and yᵀg ≠ 0. If yᵀg is at most quadratic and its curvature
    /// has one sign, it has no zero anywhere, so the rows have no common solution.
    fn surety(&mut self, rows: &[usize], n_starts: usize) -> (Certainty, Vec<f64>) {
        let n = self.level.n_unknowns();
        let (weight, movable) = (Matrix::identity(n), vec![true; n]);
        let mut x = self.starts[0].clone();
        let switches = self.level.switches(rows);
        let mut part = LevelPart::new(self.level, rows, false);
        let found = project_only(&mut part, &weight, &movable, &mut x, self.settings);
        let Ok(found) = found else { return (Certainty::Searched { n_starts }, self.starts[0].clone()) };
        let y = stationary(&mut part, &x).unwrap_or(found.certificate);
        // a formula that switches may be quadratic here and different further away
        match !switches && y.len() == rows.len() && never_zero(&mut part, &y, &x) {
            true => (Certainty::Certain, x),
            false => (Certainty::Searched { n_starts }, x),
        }
    }

    /// `true` if the rows contradict each other at all times, and the earliest time found at which they do not.
    fn at_other_times(&mut self, rows: &[usize], time: Expr) -> (Option<bool>, Option<f64>) {
        if self.level.is_velocity {
            // positions would differ at other times; the caller tries other states
            return (None, None);
        }
        if !rows.iter().any(|&i| self.level.is_timed(i, time)) {
            return (Some(true), None);
        }
        let (n, t) = (self.level.n_unknowns(), self.level.time());
        let (weight, movable) = (Matrix::identity(n + 1), vec![true; n + 1]);
        let mut best: Option<f64> = None;
        for (k, start) in self.starts.iter().take(limits::FEW_STARTS).enumerate() {
            let mut x = start.clone();
            x.push(t + [0.0, 1.0, 0.3, 3.0, 0.1, 10.0, 0.03][k % limits::FEW_STARTS]);
            let mut part = LevelPart::new(self.level, rows, true);
            let found = project_only(&mut part, &weight, &movable, &mut x, self.settings);
            if found.is_ok_and(|p| p.converged) && x[n] >= t {
                best = Some(best.map_or(x[n], |other: f64| other.min(x[n])));
            }
        }
        self.level.set_time(t);
        (Some(best.is_none()), best)
    }
}

/// y with yᵀJ = 0 at a point where |g|² is stationary: y = g, scaled as the rows, is one, and the only one if the other
/// rows are independent.
fn stationary(part: &mut LevelPart, x: &[f64]) -> Option<Vec<f64>> {
    let (mut J, mut g) = (part.allocate(), vec![0.0; part.n_rows()]);
    part.fill(x, &mut g, &mut J).ok()?;
    let loose = Settings::default().near_root();
    let found = conflict(&J, &g.iter().map(|g| -g).collect::<Vec<_>>(), &loose)?;
    (found.rows.len() == g.len()).then_some(found.weights)
}

/// `true` if c = yᵀg is a quadratic function that is nowhere zero, with x close to its extremum.
fn never_zero(part: &mut LevelPart, y: &[f64], x: &[f64]) -> bool {
    let columns: Vec<usize> = {
        let mut columns = part.allocate().col;
        columns.sort_unstable();
        columns.dedup();
        columns
    };
    if columns.len() > limits::CURVED_UNKNOWNS {
        return false;
    }
    let mut scale = f64::MIN_POSITIVE;
    let mut at = |x: &[f64]| -> Option<(f64, Vec<f64>)> {
        let (mut J, mut g) = (part.allocate(), vec![0.0; part.n_rows()]);
        part.fill(x, &mut g, &mut J).ok()?;
        let mut gradient = vec![0.0; x.len()];
        for (k, y) in y.iter().enumerate() {
            scale = J.row(k).1.iter().fold(scale, |top: f64, J| top.max((y * J).abs()));
        }
        J.multiply_transposed(y, &mut gradient);
        let value = g.iter().zip(y).map(|(g, y)| g * y).sum();
        Some((value, columns.iter().map(|&j| gradient[j]).collect()))
    };
    let Some((value, v)) = at(x) else { return false };
    let n = columns.len();
    let mut H = vec![0.0; n * n];
    let reach = 1.0 + x.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
    for (k, &j) in columns.iter().enumerate() {
        let mut there = x.to_vec();
        there[j] += reach;
        let Some((_, w)) = at(&there) else { return false };
        (0..n).for_each(|l| H[l * n + k] = (w[l] - v[l]) / reach);
    }
    // the gradient of a quadratic function is linear
    let far: Vec<f64> = (0..n).map(|k| reach * 2.3 * scattered(k, 0)).collect();
    let mut there = x.to_vec();
    columns.iter().zip(&far).for_each(|(&j, d)| there[j] += d);
    let Some((_, w)) = at(&there) else { return false };
    let straight = (0..n).all(|l| {
        let predicted = v[l] + (0..n).map(|k| H[l * n + k] * far[k]).sum::<f64>();
        (w[l] - predicted).abs() <= tolerance::STRAIGHT * scale
    });
    let sign = value.signum();
    H.iter_mut().for_each(|h| *h *= sign);
    let v: Vec<f64> = v.iter().map(|v| v * sign).collect();
    straight && lowest(H, v, (scale, scale / reach)).is_some_and(|below| value.abs() > 2.0 * below)
}

/// An upper bound on how far the quadratic function with this gradient and curvature falls below its value here; `None`
/// if it is unbounded below. Elimination with the largest diagonal entry first; `sizes` are the scales of slopes and
/// curvatures.
fn lowest(mut H: Vec<f64>, mut v: Vec<f64>, sizes: (f64, f64)) -> Option<f64> {
    let n = v.len();
    let (slope, curvature) = (tolerance::LEVEL_SLOPE * sizes.0, tolerance::STRAIGHT * sizes.1);
    let mut left: Vec<usize> = (0..n).collect();
    let mut below = 0.0;
    while let Some(at) = (0..left.len()).max_by(|&i, &j| H[left[i] * (n + 1)].total_cmp(&H[left[j] * (n + 1)])) {
        let k = left[at];
        let pivot = H[k * (n + 1)];
        if pivot <= curvature {
            // the remaining part must be constant
            let curved = |i: usize| left.iter().any(|&j| H[i * n + j].abs() > curvature);
            return left.iter().all(|&i| !curved(i) && v[i].abs() <= slope).then_some(below);
        }
        left.swap_remove(at);
        below += 0.5 * v[k] * v[k] / pivot;
        for &i in &left {
            let s = H[i * n + k] / pivot;
            v[i] -= s * v[k];
            for &j in &left {
                H[i * n + j] -= s * H[k * n + j];
            }
        }
    }
    Some(below)
}

/// Residuals of positions and velocities together.
struct Joint {
    program: Compiled,
    /// t, q, q̇ and the parameters.
    inputs: Vec<f64>,
    n_rows: usize,
    n: usize,
}

impl Joint {
    fn run(&mut self, x: &[f64]) -> &[f64] {
        self.inputs[1..=x.len()].copy_from_slice(x);
        self.program.run(&self.inputs)
    }
}

impl Residual for Joint {
    fn n_unknowns(&self) -> usize {
        2 * self.n
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn allocate(&self) -> Matrix {
        let all: Vec<usize> = (0..2 * self.n).collect();
        Matrix::from_pattern(self.n_rows, 2 * self.n, &vec![all; self.n_rows])
    }

    /// The derivatives are central differences: few digits suffice for convergence.
    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        let mut there = x.to_vec();
        for j in 0..x.len() {
            let h = tolerance::SEARCH_STEP * (1.0 + x[j].abs());
            there[j] = x[j] + h;
            let after = self.run(&there).to_vec();
            there[j] = x[j] - h;
            let before = self.run(&there);
            for i in 0..before.len() {
                jacobian.row_mut(i).1[j] = (after[i] - before[i]) / (2.0 * h);
            }
            there[j] = x[j];
        }
        g.copy_from_slice(self.run(x));
        let is_finite = g.iter().chain(&jacobian.value).all(|x| x.is_finite());
        if is_finite { Ok(()) } else { Err(MotionError::NotFinite { what: "a constraint".into() }) }
    }
}

/// `true` if other positions were found at which some velocity rows can hold together; `None` if that was not tried.
pub(crate) fn velocities_meet_elsewhere(
    equations: &Equations,
    state: &State,
    rows: &[usize],
    settings: &Settings,
) -> Option<bool> {
    let (model, n) = (&equations.model, state.q.len());
    if n > limits::JOINT_COORDINATES {
        return None;
    }
    let positions = equations.rows.iter().filter(|r| r.level == Level::Position).map(|r| r.residual);
    let outputs: Vec<Expr> = positions.chain(rows.iter().filter_map(|&i| equations.rows[i].rate)).collect();
    let program = Compiled::new(&model.graph, &model.state_symbols(), &outputs)?;
    let mut joint = Joint { program, inputs: model.state_values(state), n_rows: outputs.len(), n };
    let (weight, movable) = (Matrix::identity(2 * n), vec![true; 2 * n]);
    let here: Vec<f64> = state.q.iter().chain(&state.qdot).copied().collect();
    let sizes = [usual_sizes(model, state, false), usual_sizes(model, state, true)].concat();
    Some(
        starts(&here, &sizes)
            .into_iter()
            .take(limits::FEW_STARTS)
            .any(|mut x| project_only(&mut joint, &weight, &movable, &mut x, settings).is_ok_and(|p| p.converged)),
    )
}

/// Other positions on the constraints near given ones, different for each attempt, at the time of the state plus
/// `later`.
pub(crate) fn nearby_positions(
    equations: &Equations,
    state: &State,
    settings: &Settings,
    attempt: usize,
    later: f64,
) -> Option<State> {
    let mut other = State { t: state.t + later, ..state.clone() };
    let sizes = usual_sizes(&equations.model, state, false);
    for (k, x) in other.q.iter_mut().enumerate() {
        *x += 0.07 * scattered(k, attempt) * (sizes[k] + x.abs());
    }
    let mut level = LevelEquations::new(equations, &[], &other, false);
    let n = other.q.len();
    let found = project_only(&mut level, &Matrix::identity(n), &vec![true; n], &mut other.q, settings).ok()?;
    found.converged.then_some(other)
}
