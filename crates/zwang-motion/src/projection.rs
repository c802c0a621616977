//! Projection of values onto g(x) = 0 with the smallest change.

use crate::{
    Given, Matrix, MotionError, Route, RouteSolution, Settings,
    acceleration::dependence::contradiction,
    acceleration::generalized_inverse::GeneralizedInverse,
    factor::{blocks::Blocks, dot, largest, norm},
    limits, tolerance,
};

/// Equations g(x) = 0 with their Jacobian.
pub trait Residual {
    /// Number of unknowns.
    fn n_unknowns(&self) -> usize;

    /// Number of equations.
    fn n_rows(&self) -> usize;

    /// The reference size of an unknown: a change of rounding size relative to it counts as zero.
    fn size(&self, _unknown: usize) -> f64 {
        1.0
    }

    /// A Jacobian with the right pattern; its values are not set.
    fn allocate(&self) -> Matrix;

    /// g and J = ∂g/∂x at x.
    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError>;
}

/// Result of a projection onto g(x) = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// The number of steps taken.
    pub iterations: usize,
    /// True if g(x) = 0 was reached.
    pub converged: bool,
    /// g at the end.
    pub residual: Vec<f64>,
    /// Certificate of a failed projection: y with yᵀJ = 0 on the movable unknowns and yᵀg ≠ 0; its nonzero entries are
    /// the conflicting rows. Empty otherwise.
    pub certificate: Vec<f64>,
    /// Orthonormal directions in which the movable unknowns remain free, at most eight.
    pub free: Vec<Vec<f64>>,
    /// The number of such directions, including those beyond eight.
    pub n_free: usize,
}

/// Moves the movable entries of x to the nearest point with g(x) = 0, in the metric of `weight`.
///
/// Each step solves the linearised problem from the start x₀, so that its limit is the nearest point:
///
/// $$ \min_\delta\ \delta^T W \delta \quad\text{subject to}\quad J(x_k)\,\delta = J(x_k)(x_k - x_0) - g(x_k), \qquad x_{k+1} = x_0 + \delta $$
///
/// This is the quadratic program of the accelerations (KU94 19) with W for M, and is solved by the same route, for any
/// rank of J. If a full step does not reduce g, it is shortened, or damped by a slack in every row. Plain Newton
/// steps, the smallest that satisfy J δ = −g, then converge to rounding. A singular W is made regular by 1e-8 of its
/// diagonal. If g = 0 cannot be reached, the result reports it together with the conflicting rows.
pub fn project(
    residual: &mut dyn Residual,
    weight: &Matrix,
    movable: &[bool],
    x: &mut [f64],
    settings: &Settings,
) -> Result<Projection, MotionError> {
    search(residual, weight, movable, x, settings, true)
}

/// Projects x onto g(x) = 0 as [`project`] does, but faster, without the free directions: `free` and `n_free` are not
/// set.
pub fn project_only(
    residual: &mut dyn Residual,
    weight: &Matrix,
    movable: &[bool],
    x: &mut [f64],
    settings: &Settings,
) -> Result<Projection, MotionError> {
    search(residual, weight, movable, x, settings, false)
}

fn search(
    residual: &mut dyn Residual,
    weight: &Matrix,
    movable: &[bool],
    x: &mut [f64],
    settings: &Settings,
    wants_free: bool,
) -> Result<Projection, MotionError> {
    if let Some(i) = x.iter().position(|x| !x.is_finite()) {
        return Err(MotionError::NotFinite { what: format!("the start value {i}") });
    }
    let mut search = ProjectionIteration::new(residual, weight, movable, x, settings);
    search.evaluate(x)?;
    if let Some(i) = search.g.iter().position(|g| !g.is_finite()) {
        return Err(MotionError::NotFinite { what: format!("equation {i} at the start") });
    }
    if let Some((i, j)) = search.jacobian.not_finite() {
        return Err(MotionError::NotFinite { what: format!("the derivative of equation {i} by unknown {j}") });
    }
    search.first_sizes = search.sizes(x);
    search.pass();
    // without movable unknowns there is no search
    if search.movable.is_empty() {
        let converged = search.is_on(x);
        let residual = search.g;
        let worst = (0..residual.len()).max_by(|&i, &j| residual[i].abs().total_cmp(&residual[j].abs()));
        let certificate = match worst.filter(|_| !converged) {
            Some(worst) => (0..residual.len()).map(|i| f64::from(i == worst)).collect(),
            None => Vec::new(),
        };
        return Ok(Projection { converged, residual, certificate, ..Projection::default() });
    }
    search.approach(x)?;
    search.polish(x)?;
    search.report(x, wants_free)
}

struct ProjectionIteration<'r> {
    residual: &'r mut dyn Residual,
    settings: Settings,
    /// The movable unknowns, and the index of each unknown among them.
    movable: Vec<usize>,
    place: Vec<usize>,
    start: Vec<f64>,
    g: Vec<f64>,
    /// The largest |g| of each row over the iterates, and the size of each row at the start.
    passed: Vec<f64>,
    first_sizes: Vec<f64>,
    jacobian: Matrix,
    /// W for M, J of the movable unknowns for A.
    given: Given,
    /// The damped problem: W and J extended by one slack per row, whose weight sets the damping.
    damped: Option<(Given, GeneralizedInverse)>,
    route: GeneralizedInverse,
    solution: RouteSolution,
    iterations: usize,
}

const IMMOVABLE: usize = usize::MAX;

impl<'r> ProjectionIteration<'r> {
    fn new(residual: &'r mut dyn Residual, weight: &Matrix, movable: &[bool], x: &[f64], settings: &Settings) -> Self {
        let m = residual.n_rows();
        let jacobian = residual.allocate();
        // steps are least-squares steps: conflicting rows are reported at the end
        let settings = Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() };
        let mut place = vec![IMMOVABLE; x.len()];
        let movable: Vec<usize> = (0..x.len()).filter(|&j| movable[j]).collect();
        movable.iter().enumerate().for_each(|(k, &j)| place[j] = k);
        let n = movable.len();
        let W = regular_weight(weight, &movable, &place, &settings);
        let given = Given {
            constraint_matrix: pattern(&jacobian, &place, n, false),
            mass_matrix: W,
            given_force: vec![0.0; n],
            constraint_rhs: vec![0.0; m],
        };
        ProjectionIteration {
            residual,
            route: GeneralizedInverse::without_multipliers(&settings),
            settings,
            movable,
            place,
            start: x.to_vec(),
            g: vec![0.0; m],
            passed: vec![0.0; m],
            first_sizes: Vec::new(),
            jacobian,
            given,
            damped: None,
            solution: RouteSolution::default(),
            iterations: 0,
        }
    }

    /// g and J at x, J also without the immovable unknowns.
    fn evaluate(&mut self, x: &[f64]) -> Result<(), MotionError> {
        self.residual.fill(x, &mut self.g, &mut self.jacobian)?;
        let A = &mut self.given.constraint_matrix;
        let mut at = 0;
        for (&j, &value) in self.jacobian.col.iter().zip(&self.jacobian.value) {
            if self.place[j] != IMMOVABLE {
                A.value[at] = value;
                at += 1;
            }
        }
        Ok(())
    }

    /// The size of each row at x, against which g is measured: the effect of a change of x by rounding.
    fn sizes(&self, x: &[f64]) -> Vec<f64> {
        (0..self.g.len())
            .map(|i| {
                let (col, value) = self.jacobian.row(i);
                let reach = |j: usize| self.residual.size(j) + x[j].abs() + self.start[j].abs();
                let size: f64 = col.iter().zip(value).map(|(&j, J)| J.abs() * reach(j)).sum();
                if size > 0.0 { size } else { 1.0 }
            })
            .collect()
    }

    /// Records g at an iterate.
    fn pass(&mut self) {
        self.passed.iter_mut().zip(&self.g).for_each(|(most, g)| *most = most.max(g.abs()));
    }

    /// True if g(x) counts as zero: a change of x by rounding could remove it, and it is below 1e-6 of its largest
    /// value so far.
    ///
    /// The first condition alone also holds for √x + 1 close to x = 0, where the slope is unbounded.
    fn is_zero(&self, sizes: &[f64]) -> bool {
        let tolerance = self.settings.projection_tolerance;
        let is_small = |i: usize| {
            self.g[i].abs() <= (tolerance::SMALL_RESIDUAL * self.passed[i]).max(tolerance * self.first_sizes[i])
        };
        self.relative(sizes) <= tolerance && (0..self.g.len()).all(is_small)
    }

    /// The largest |g| relative to the sizes; infinite if a value is not finite.
    fn relative(&self, sizes: &[f64]) -> f64 {
        let finite = self.g.iter().all(|g| g.is_finite()) && self.jacobian.value.iter().all(|J| J.is_finite());
        let most = self.g.iter().zip(sizes).fold(0.0, |top: f64, (g, size)| top.max(g.abs() / size));
        if finite { most } else { f64::INFINITY }
    }

    /// |g|² relative to the given sizes; infinite if a value is not finite.
    fn merit(&self, sizes: &[f64]) -> f64 {
        let sum: f64 = self.g.iter().zip(sizes).map(|(g, size)| (g / size) * (g / size)).sum();
        let finite = sum.is_finite() && self.jacobian.value.iter().all(|J| J.is_finite());
        if finite { sum } else { f64::INFINITY }
    }

    /// Evaluates g and J at x + s p and returns the merit there.
    fn try_step(
        &mut self,
        x: &[f64],
        s: f64,
        p: &[f64],
        sizes: &[f64],
        trial: &mut Vec<f64>,
    ) -> Result<f64, MotionError> {
        trial.clear();
        trial.extend_from_slice(x);
        self.movable.iter().zip(p).for_each(|(&j, p)| trial[j] = x[j] + s * p);
        match self.evaluate(trial) {
            Ok(()) => Ok(self.merit(sizes)),
            // a step out of the domain of g is too long and will be shortened
            Err(MotionError::NotFinite { .. }) => Ok(f64::INFINITY),
            Err(error) => Err(error),
        }
    }

    /// The step towards the nearest point of the linearised equations, from x.
    fn nearest_step(&mut self, x: &[f64]) -> Result<Vec<f64>, MotionError> {
        let moved: Vec<f64> = self.movable.iter().map(|&j| x[j] - self.start[j]).collect();
        let Given { constraint_matrix: J, constraint_rhs: b, .. } = &mut self.given;
        for i in 0..b.len() {
            b[i] = J.row_times(i, &moved) - self.g[i];
        }
        self.route.solve(&self.given, None, &[], &mut self.solution)?;
        Ok(self.solution.qddot.iter().zip(&moved).map(|(to, from)| to - from).collect())
    }

    /// The smallest step with J δ = −g.
    fn newton_step(&mut self) -> Result<Vec<f64>, MotionError> {
        self.given.constraint_rhs.iter_mut().zip(&self.g).for_each(|(b, g)| *b = -g);
        self.route.solve(&self.given, None, &[], &mut self.solution)?;
        Ok(self.solution.qddot.clone())
    }

    /// The step with δᵀWδ + |z|²/µ least and J δ + z = −g, the rows at their sizes.
    fn damped_step(&mut self, mu: f64, sizes: &[f64]) -> Result<Vec<f64>, MotionError> {
        let n = self.movable.len();
        let (damped, route) = self.damped.get_or_insert_with(|| {
            let m = self.g.len();
            let damped = Given {
                mass_matrix: direct_sum(&self.given.mass_matrix, m),
                given_force: vec![0.0; n + m],
                constraint_matrix: pattern(&self.jacobian, &self.place, n, true),
                constraint_rhs: vec![0.0; m],
            };
            (damped, GeneralizedInverse::without_multipliers(&self.settings))
        });
        let Given { mass_matrix: W, constraint_matrix: J, constraint_rhs: b, .. } = damped;
        let top = (0..n).fold(0.0, |top: f64, j| top.max(W.get(j, j)));
        for i in 0..b.len() {
            let from = self.given.constraint_matrix.row(i).1;
            let place = J.row_start[i]..J.row_start[i + 1];
            let row = &mut J.value[place];
            row[..from.len()].iter_mut().zip(from).for_each(|(to, from)| *to = from / sizes[i]);
            row[from.len()] = 1.0;
            b[i] = -self.g[i] / sizes[i];
            let at = W.row_start[n + i];
            W.value[at] = if top > 0.0 { top / mu } else { 1.0 / mu };
        }
        route.solve(damped, None, &[], &mut self.solution)?;
        Ok(self.solution.qddot[..n].to_vec())
    }

    /// Iterates towards the nearest point until the steps stay small or no step reduces g.
    fn approach(&mut self, x: &mut [f64]) -> Result<(), MotionError> {
        let Settings { projection_iterations: limit, projection_tolerance: tolerance, .. } = self.settings;
        let (mut trial, mut last, mut relax) = (Vec::new(), Vec::new(), 1.0f64);
        let mut mu = tolerance::FIRST_DAMPING;
        while self.iterations < limit {
            let sizes = self.sizes(x);
            let merit = self.merit(&sizes);
            let mut p = self.nearest_step(x)?;
            // a step that reverses without becoming shorter has overshot along the constraints
            if last.len() == p.len() && dot(&p, &last) < 0.0 && norm(&p) > 0.5 * norm(&last) {
                relax *= 0.5;
            } else {
                relax = (1.3 * relax).min(1.0);
            }
            last.clone_from(&p);
            p.iter_mut().for_each(|p| *p *= relax);
            let reach = largest(x);
            let is_short =
                |(&j, p): (&usize, &f64)| p.abs() <= tolerance::QUADRATIC_STEP * (self.residual.size(j) + reach);
            let on_it = self.is_zero(&sizes);
            if on_it && self.movable.iter().zip(&p).all(is_short) {
                return Ok(());
            }
            self.iterations += 1;

            // full steps, then shorter ones; near g = 0 a step along the constraints may increase g slightly
            let mut taken = false;
            let spend = (merit * 2.0).max(tolerance * tolerance);
            for k in 0..6 {
                let s = 0.5f64.powi(k);
                let now = self.try_step(x, s, &p, &sizes, &mut trial)?;
                if now <= (1.0 - tolerance::SUFFICIENT_DECREASE * s) * merit || (on_it && now <= spend) {
                    taken = true;
                    break;
                }
            }
            // steps with increasing damping
            if !taken && !on_it {
                self.evaluate(x)?;
                for _ in 0..12 {
                    let p = self.damped_step(mu, &sizes)?;
                    let now = self.try_step(x, 1.0, &p, &sizes, &mut trial)?;
                    if now < merit * (1.0 - tolerance::ROUNDING) {
                        taken = true;
                        mu = (mu * 0.1).max(tolerance::ROUNDING);
                        break;
                    }
                    mu *= 10.0;
                    self.evaluate(x)?;
                }
                mu = mu.min(1e3);
            }
            if !taken {
                return self.evaluate(x);
            }
            x.copy_from_slice(&trial);
            self.pass();
        }
        Ok(())
    }

    /// Newton steps as long as they reduce g.
    fn polish(&mut self, x: &mut [f64]) -> Result<(), MotionError> {
        let mut trial = Vec::new();
        while self.iterations < 2 * self.settings.projection_iterations {
            let sizes = self.sizes(x);
            let merit = self.merit(&sizes);
            if merit == 0.0 {
                return Ok(());
            }
            let p = self.newton_step()?;
            let now = self.try_step(x, 1.0, &p, &sizes, &mut trial)?;
            if !(now < 0.5 * merit) {
                return self.evaluate(x);
            }
            self.iterations += 1;
            x.copy_from_slice(&trial);
        }
        Ok(())
    }

    /// True if g(x) counts as zero.
    fn is_on(&self, x: &[f64]) -> bool {
        self.is_zero(&self.sizes(x))
    }

    /// The residual, the conflicting rows and the free directions.
    fn report(mut self, x: &[f64], wants_free: bool) -> Result<Projection, MotionError> {
        let converged = self.is_on(x);
        let certificate = if converged { Vec::new() } else { self.certificate() };
        let (n_free, free) = if wants_free { self.free()? } else { (0, Vec::new()) };
        Ok(Projection { iterations: self.iterations, converged, residual: self.g.clone(), certificate, free, n_free })
    }

    /// y with yᵀJ = 0 and yᵀg ≠ 0 at a point where no step makes g smaller.
    ///
    /// The iteration reaches such a point only approximately, so the tolerance for dependent rows is larger here.
    fn certificate(&mut self) -> Vec<f64> {
        self.given.constraint_rhs.iter_mut().zip(&self.g).for_each(|(b, g)| *b = -g);
        let loose = self.settings.near_root();
        match contradiction(&self.given, &vec![0.0; self.movable.len()], &loose) {
            MotionError::Contradiction { certificate, .. } => certificate,
            _ => Vec::new(),
        }
    }

    /// Directions with J δ = 0: unit vectors projected onto them, by the same program with W = I and b = 0.
    fn free(&mut self) -> Result<(usize, Vec<Vec<f64>>), MotionError> {
        let n = self.movable.len();
        self.given.mass_matrix = Matrix::identity(n);
        self.given.constraint_rhs.fill(0.0);
        self.given.given_force.fill(0.0);
        // the route already has the patterns, unless those of W differ
        let route = &mut self.route;
        route.solve(&self.given, None, &[], &mut self.solution)?;
        let n_free = n - self.solution.rank.min(n);
        let wanted = n_free.min(limits::FREE_DIRECTIONS);
        let mut found: Vec<Vec<f64>> = Vec::new();
        for j in 0..n.min(if n <= limits::UNIT_VECTORS { n } else { n.min(limits::UNIT_VECTORS * 8) }) {
            if found.len() == wanted {
                break;
            }
            self.given.given_force[j] = 1.0;
            route.solve_again(&self.given, &mut self.solution)?;
            self.given.given_force[j] = 0.0;
            let mut v = self.solution.qddot.clone();
            for _ in 0..2 {
                for w in &found {
                    let s = dot(&v, w);
                    v.iter_mut().zip(w).for_each(|(v, w)| *v -= s * w);
                }
            }
            let length = norm(&v);
            if length > tolerance::FREE_PART / (n as f64).sqrt() {
                found.push(v.iter().map(|v| v / length).collect());
            }
        }
        let widen = |v: Vec<f64>| {
            let mut wide = vec![0.0; self.start.len()];
            self.movable.iter().zip(v).for_each(|(&j, v)| wide[j] = v);
            wide
        };
        Ok((n_free, found.into_iter().map(widen).collect()))
    }
}

/// The pattern of the Jacobian on the n movable unknowns, whose indices are given; with one slack per row if `extra`.
fn pattern(jacobian: &Matrix, place: &[usize], n: usize, extra: bool) -> Matrix {
    let m = jacobian.n_rows;
    let (mut row_start, mut col) = (Vec::with_capacity(m + 1), Vec::with_capacity(jacobian.n_stored()));
    row_start.push(0);
    for i in 0..m {
        // indices of movable unknowns increase with the unknowns
        col.extend(jacobian.row(i).0.iter().map(|&j| place[j]).filter(|&k| k != IMMOVABLE));
        col.extend(extra.then_some(n + i));
        row_start.push(col.len());
    }
    let value = vec![0.0; col.len()];
    Matrix { n_rows: m, n_cols: if extra { n + m } else { n }, row_start, col, value }
}

/// W for the movable unknowns, made regular if it is singular.
fn regular_weight(weight: &Matrix, movable: &[usize], place: &[usize], settings: &Settings) -> Matrix {
    let n = movable.len();
    let columns = |j: usize| weight.row(j).0.iter().map(|&k| place[k]).filter(|&k| k != IMMOVABLE);
    let rows: Vec<Vec<usize>> = movable.iter().enumerate().map(|(k, &j)| columns(j).chain([k]).collect()).collect();
    let mut W = Matrix::from_pattern(n, n, &rows);
    for (k, &j) in movable.iter().enumerate() {
        let (col, value) = W.row_mut(k);
        col.iter().zip(value).for_each(|(&l, x)| *x = weight.get(j, movable[l]));
    }
    let mut blocks = Blocks::new();
    blocks.find(&W);
    if blocks.factor(&W, settings.mass_tolerance, settings) {
        return W;
    }
    let diagonal: Vec<f64> = (0..n).map(|k| W.get(k, k)).collect();
    let all = largest(&diagonal);
    for k in 0..n {
        let (col, value) = W.row_mut(k);
        // relative to the coordinates that it is coupled with: others may have other units
        let coupled = col.iter().fold(0.0, |top: f64, &l| top.max(diagonal[l]));
        let top = if coupled > 0.0 { coupled } else { all };
        if let Ok(at) = col.binary_search(&k) {
            let d = value[at];
            value[at] += if d > tolerance::MASSLESS_WEIGHT * top {
                tolerance::SINGULAR_WEIGHT * d
            } else if top > 0.0 {
                tolerance::MASSLESS_WEIGHT * top
            } else {
                1.0
            };
        }
    }
    W
}

/// [W 0; 0 I] with m additional rows.
fn direct_sum(W: &Matrix, m: usize) -> Matrix {
    let n = W.n_rows;
    let mut sum = W.clone();
    (sum.n_rows, sum.n_cols) = (n + m, n + m);
    for i in 0..m {
        sum.col.push(n + i);
        sum.value.push(1.0);
        sum.row_start.push(sum.col.len());
    }
    sum
}
