//! Radau's collocation of order 5 for stiff systems, on q̈ = f(t, q, q̇) directly.

use super::step::{Step, join};
use crate::{Dynamics, Jacobian, MotionError, flow::Flow, limits, tolerance};

/// Radau IIA with three stages (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8).
///
/// The unknowns are the accelerations Kᵢ at the nodes; V = q̇ + hAK and Q = q + hcq̇ + h²A²K follow, so Newton's matrix is
/// I − h²A²⊗∂f/∂q − hA⊗∂f/∂q̇, with the exact derivatives of the motion. No node lies at the start of the step.
pub(crate) struct Radau {
    n: usize,
    jacobian: Option<Jacobian>,
    /// ∂f/∂q and ∂f/∂q̇, n x n, row after row.
    by_q: Vec<f64>,
    by_qdot: Vec<f64>,
    newton: Lu,
    filter: Lu,
    /// Accelerations at the nodes of this step and of the last accepted one, and the length of that.
    K: Vec<f64>,
    last_K: Vec<f64>,
    last_h: f64,
    /// Velocities and rates of the integrals at the nodes.
    V: Vec<f64>,
    W: Vec<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    y: Vec<f64>,
    rate: Vec<f64>,
    start_rate: Vec<f64>,
    end_rate: Vec<f64>,
    error: Vec<f64>,
    filtered: Vec<f64>,
    knows_start: bool,
    pub(crate) end: Vec<f64>,
    /// Stages are taken on the constraints and Newton's matrix is the identity: for a start in a singular position.
    pub(crate) by_iteration: bool,
}

const SQRT6: f64 = 2.449_489_742_783_178;

/// Nodes.
const C: [f64; 3] = [(4.0 - SQRT6) / 10.0, (4.0 + SQRT6) / 10.0, 1.0];

/// Weights of the stages.
const A: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * SQRT6) / 360.0, (296.0 - 169.0 * SQRT6) / 1800.0, (-2.0 + 3.0 * SQRT6) / 225.0],
    [(296.0 + 169.0 * SQRT6) / 1800.0, (88.0 + 7.0 * SQRT6) / 360.0, (-2.0 - 3.0 * SQRT6) / 225.0],
    [(16.0 - SQRT6) / 36.0, (16.0 + SQRT6) / 36.0, 1.0 / 9.0],
];

/// The real eigenvalue of A⁻¹.
const GAMMA: f64 = 3.637_834_252_744_496;

/// Weights of the error estimate.
const E: [f64; 3] = [-(13.0 + 7.0 * SQRT6) / 3.0, (-13.0 + 7.0 * SQRT6) / 3.0, -1.0 / 3.0];

impl Radau {
    pub(crate) fn new<D: Dynamics + ?Sized>(flow: &mut Flow<D>) -> Result<Radau, MotionError> {
        let (n, size) = (flow.smooth.n, flow.smooth.n_values());
        let zeros = |k: usize| vec![0.0; k];
        Ok(Radau {
            n,
            jacobian: flow.smooth.dynamics.jacobian().map(|jacobian| jacobian.allocate_jacobian()),
            by_q: zeros(n * n),
            by_qdot: zeros(n * n),
            newton: Lu::new(3 * n),
            filter: Lu::new(n),
            K: zeros(3 * n),
            last_K: zeros(3 * n),
            last_h: 0.0,
            V: zeros(3 * n),
            W: zeros(3 * (size - 2 * n)),
            f: zeros(3 * n),
            delta: zeros(3 * n),
            y: zeros(size),
            rate: zeros(size),
            start_rate: zeros(size),
            end_rate: zeros(size),
            error: zeros(2 * n),
            filtered: zeros(2 * n),
            knows_start: false,
            end: zeros(size),
            by_iteration: false,
        })
    }

    /// Starts without regard to the last step.
    pub(crate) fn restart(&mut self) {
        (self.last_h, self.knows_start) = (0.0, false);
    }

    /// Tries a step from (t, y); the error as a multiple of what is allowed.
    pub(crate) fn attempt<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
        allowed: &[f64],
    ) -> Result<f64, MotionError> {
        let n = self.n;
        if !self.by_iteration {
            self.prepare(flow, t, y, h)?;
        }
        self.guess(h);
        self.iterate(flow, t, y, h, allowed)?;
        let error = if self.by_iteration { 0.0 } else { self.estimate(flow, t, y, h, allowed)? };
        // the last node is the end of the step
        self.set_node(y, h, 2);
        self.end[..2 * n].copy_from_slice(&self.y[..2 * n]);
        let n_integrals = y.len() - 2 * n;
        for k in 0..n_integrals {
            let sum: f64 = (0..3).map(|j| A[2][j] * self.W[j * n_integrals + k]).sum();
            self.end[2 * n + k] = y[2 * n + k] + h * sum;
        }
        flow.smooth.set_state(t + h, &self.end);
        flow.smooth.project(true)?;
        flow.smooth.write_state(&mut self.end);
        flow.evaluate()?;
        flow.smooth.write_rate(&mut self.end_rate)?;
        self.last_K.copy_from_slice(&self.K);
        self.last_h = h;
        Ok(error)
    }

    /// The rate and the derivatives at the start, and the factors of Newton's matrix.
    fn prepare<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(), MotionError> {
        let n = self.n;
        let wants = std::mem::replace(&mut flow.smooth.wants_lambda, true);
        let done = flow.rate(t, y, false, &mut self.start_rate);
        flow.smooth.wants_lambda = wants;
        done?;
        self.knows_start = true;
        flow.derivatives(self.jacobian.as_mut(), &mut self.by_q, &mut self.by_qdot)?;
        let mut A2 = [[0.0; 3]; 3];
        for (i, row) in A2.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = (0..3).map(|k| A[i][k] * A[k][j]).sum();
            }
        }
        let size = 3 * n;
        for i in 0..3 {
            for j in 0..3 {
                for a in 0..n {
                    for b in 0..n {
                        let unit = if i == j && a == b { 1.0 } else { 0.0 };
                        let at = a * n + b;
                        self.newton.matrix[(i * n + a) * size + j * n + b] =
                            unit - h * h * A2[i][j] * self.by_q[at] - h * A[i][j] * self.by_qdot[at];
                    }
                }
            }
        }
        // (µ² − µ ∂f/∂q̇ − ∂f/∂q) for the error filter, µ = γ/h
        let mu = GAMMA / h;
        for a in 0..n {
            for b in 0..n {
                let unit = if a == b { mu * mu } else { 0.0 };
                self.filter.matrix[a * n + b] = unit - mu * self.by_qdot[a * n + b] - self.by_q[a * n + b];
            }
        }
        self.newton.factor()?;
        self.filter.factor()
    }

    /// The accelerations of the last step continued, or that at the start.
    fn guess(&mut self, h: f64) {
        let n = self.n;
        if self.last_h == 0.0 {
            let start = if self.knows_start { &self.start_rate[n..2 * n] } else { &self.rate[n..2 * n] };
            for i in 0..3 {
                self.K[i * n..(i + 1) * n].copy_from_slice(start);
            }
            return;
        }
        for i in 0..3 {
            let x = 1.0 + C[i] * h / self.last_h;
            let weight = |j: usize| {
                let others = (0..3).filter(|k| *k != j);
                others.fold(1.0, |product, k| product * (x - C[k]) / (C[j] - C[k]))
            };
            let weights = [weight(0), weight(1), weight(2)];
            for a in 0..n {
                self.K[i * n + a] = (0..3).map(|j| weights[j] * self.last_K[j * n + a]).sum();
            }
        }
    }

    /// y at node i.
    fn set_node(&mut self, y: &[f64], h: f64, i: usize) {
        let n = self.n;
        for a in 0..n {
            let (q, v) = (y[a], y[n + a]);
            self.V[i * n + a] = v + h * (0..3).map(|j| A[i][j] * self.K[j * n + a]).sum::<f64>();
            let mut twice = 0.0;
            for j in 0..3 {
                let inner: f64 = (0..3).map(|k| A[j][k] * self.K[k * n + a]).sum();
                twice += A[i][j] * inner;
            }
            self.y[a] = q + h * (C[i] * v + h * twice);
            self.y[n + a] = self.V[i * n + a];
        }
    }

    /// Newton's iteration for K = f(t, Q, V).
    fn iterate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
        allowed: &[f64],
    ) -> Result<(), MotionError> {
        let (n, n_integrals) = (self.n, y.len() - 2 * self.n);
        let mut last = f64::INFINITY;
        for _ in 0..if self.by_iteration { 4 * limits::RADAU_ITERATIONS } else { limits::RADAU_ITERATIONS } {
            for i in 0..3 {
                self.set_node(y, h, i);
                self.y[2 * n..].copy_from_slice(&y[2 * n..]);
                flow.rate(t + C[i] * h, &self.y, self.by_iteration, &mut self.rate)?;
                self.f[i * n..(i + 1) * n].copy_from_slice(&self.rate[n..2 * n]);
                self.W[i * n_integrals..(i + 1) * n_integrals].copy_from_slice(&self.rate[2 * n..]);
            }
            for k in 0..3 * n {
                self.delta[k] = self.f[k] - self.K[k];
            }
            if !self.by_iteration {
                self.newton.solve(&mut self.delta);
            }
            self.K.iter_mut().zip(&self.delta).for_each(|(K, d)| *K += d);
            let change = |k: usize| (h * self.delta[k] / allowed[n + k % n]).abs();
            let size = (0..3 * n).map(change).fold(0.0, f64::max);
            let ratio = size / last;
            let floor = if self.by_iteration { tolerance::RADAU_ITERATED } else { tolerance::RADAU_CONVERGED };
            if size <= floor || (last.is_finite() && ratio < 1.0 && ratio / (1.0 - ratio) * size <= floor) {
                return Ok(());
            }
            // without Newton's matrix the comparison of two steps decides whether this is good enough
            if self.by_iteration && last.is_finite() && ratio > 0.5 && size <= 100.0 {
                return Ok(());
            }
            // rounding: further iterations do not gain
            if ratio > 0.5 && size <= 1.0 && size < 1e3 * f64::EPSILON / allowed[n].max(f64::MIN_POSITIVE) {
                return Ok(());
            }
            if !(ratio < 0.95) && last.is_finite() {
                return Err(MotionError::NotConverged { residual: size });
            }
            last = size;
        }
        Err(MotionError::NotConverged { residual: last })
    }

    /// (µ − J)⁻¹(f₀ + Σ Eᵢ(Yᵢ − y)/h), the embedded estimate of order 3, filtered so that stiff components do not dominate
    /// it.
    fn estimate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
        allowed: &[f64],
    ) -> Result<f64, MotionError> {
        let n = self.n;
        let mut sum = std::mem::take(&mut self.error);
        sum.fill(0.0);
        for (i, weight) in E.iter().enumerate() {
            self.set_node(y, h, i);
            (0..2 * n).for_each(|k| sum[k] += weight / h * (self.y[k] - y[k]));
        }
        let mut x = std::mem::take(&mut self.filtered);
        (0..2 * n).for_each(|k| x[k] = sum[k] + self.start_rate[k]);
        self.filter_error(h, &mut x);
        let size = |x: &[f64]| x.iter().zip(allowed).fold(0.0, |top: f64, (x, a)| top.max((x / a).abs()));
        let mut error = size(&x);
        // once more from the shifted start, which bounds the estimate for stiff components
        if error > 1.0 {
            for k in 0..2 * n {
                self.y[k] = y[k] + x[k];
            }
            self.y[2 * n..].copy_from_slice(&y[2 * n..]);
            if flow.rate(t, &self.y, false, &mut self.rate).is_ok() {
                x.iter_mut().enumerate().for_each(|(k, x)| *x = sum[k] + self.rate[k]);
                self.filter_error(h, &mut x);
                error = size(&x);
            }
        }
        (self.error, self.filtered) = (sum, x);
        Ok(error)
    }

    /// x ← (µ − J)⁻¹ x with J = [0 I; ∂f/∂q ∂f/∂q̇].
    fn filter_error(&mut self, h: f64, x: &mut [f64]) {
        let n = self.n;
        let mu = GAMMA / h;
        let (q, v) = x.split_at_mut(n);
        for a in 0..n {
            let row = &self.by_qdot[a * n..(a + 1) * n];
            let product: f64 = row.iter().zip(q.iter()).map(|(F, q)| F * q).sum();
            self.delta[a] = v[a] + mu * q[a] - product;
        }
        self.filter.solve(&mut self.delta[..n]);
        for a in 0..n {
            v[a] = mu * self.delta[a] - q[a];
            q[a] = self.delta[a];
        }
    }

    /// The polynomial through both ends with their rates, and through the inner nodes.
    pub(crate) fn dense(&mut self, h: f64, step: &mut Step) {
        let (n, size) = (self.n, self.end.len());
        let f0: Vec<f64> = (0..size).map(|i| self.start_rate_at(step, i)).collect();
        step.F.clear();
        join(&mut step.F, h, (&step.y, &f0), (&self.end, &self.end_rate), 2);
        let y = step.y.clone();
        let nodes: Vec<Vec<f64>> = (0..2)
            .map(|i| {
                self.set_node(&y, h, i);
                self.y[..2 * n].to_vec()
            })
            .collect();
        for k in 0..2 * n {
            // what is missing at the inner nodes is θ²(1 − θ)²(F₃ + θF₄)
            let missing = |i: usize| {
                let theta = C[i];
                let cubic =
                    step.y[k] + theta * (step.F[k] + (1.0 - theta) * (step.F[size + k] + theta * step.F[2 * size + k]));
                (nodes[i][k] - cubic) / (theta * theta * (1.0 - theta) * (1.0 - theta))
            };
            let (first, second) = (missing(0), missing(1));
            let slope = (second - first) / (C[1] - C[0]);
            step.F[4 * size + k] = slope;
            step.F[3 * size + k] = first - C[0] * slope;
        }
    }

    fn start_rate_at(&self, step: &Step, i: usize) -> f64 {
        let n = self.n;
        match i {
            _ if i < n => step.y[n + i],
            _ if self.knows_start => self.start_rate[i],
            // continued from the nodes, where the start itself cannot be evaluated
            _ if i < 2 * n => {
                let weight = |j: usize| (0..3).filter(|k| *k != j).fold(1.0, |x, k| x * C[k] / (C[k] - C[j]));
                (0..3).map(|j| weight(j) * self.K[j * n + i - n]).sum()
            }
            _ => self.end_rate[i],
        }
    }
}

/// LU factors of a small dense matrix with partial pivoting.
struct Lu {
    size: usize,
    matrix: Vec<f64>,
    pivot: Vec<usize>,
}

impl Lu {
    fn new(size: usize) -> Lu {
        Lu { size, matrix: vec![0.0; size * size], pivot: vec![0; size] }
    }

    fn factor(&mut self) -> Result<(), MotionError> {
        let (n, X) = (self.size, &mut self.matrix);
        for k in 0..n {
            let p = (k..n).max_by(|&i, &j| X[i * n + k].abs().total_cmp(&X[j * n + k].abs())).unwrap_or(k);
            self.pivot[k] = p;
            if p != k {
                let (above, below) = X.split_at_mut(p * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
            }
            let pivot = X[k * n + k];
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(MotionError::NotFinite { what: "Newton's matrix".into() });
            }
            let (above, below) = X.split_at_mut((k + 1) * n);
            let row = &above[k * n + k + 1..(k + 1) * n];
            for other in below.chunks_exact_mut(n) {
                let s = other[k] / pivot;
                other[k] = s;
                if s != 0.0 {
                    other[k + 1..].iter_mut().zip(row).for_each(|(x, y)| *x -= s * y);
                }
            }
        }
        Ok(())
    }

    fn solve(&self, x: &mut [f64]) {
        let (n, X) = (self.size, &self.matrix);
        for k in 0..n {
            x.swap(k, self.pivot[k]);
        }
        for i in 0..n {
            let row = &X[i * n..i * n + i];
            x[i] -= row.iter().zip(x.iter()).map(|(a, b)| a * b).sum::<f64>();
        }
        for i in (0..n).rev() {
            let row = &X[i * n + i + 1..(i + 1) * n];
            let sum: f64 = row.iter().zip(&x[i + 1..n]).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - sum) / X[i * n + i];
        }
    }
}
