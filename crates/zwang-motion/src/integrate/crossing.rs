//! Positions where the constraints lose rank: seen ahead, crossed inside one full step on the smooth branch, and checked.
//!
//! Let σ be the singular value of B that vanishes at t*, σ = κ(t − t*). Noise ε in the constraints turns into ε/(κτ) in q,
//! ε/(κτ²) in q̇ and 2ε/(κτ³) in q̈ at the distance τ, so a step that comes near t* must not have a stage there, must have
//! its stages on the constraints, and must not be small. `docs/theory.md` has the argument.

use super::{step::Step, tableau::Gap};
use crate::{
    Dynamics, Instant, MotionError,
    factor::{
        dense::{Qr, Stop, Svd, svd},
        dot, norm, small,
    },
    flow::Flow,
};
use faer::MatRef;

/// A passage through a position where the rows are dependent that are not so elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// When.
    pub t: f64,
    /// Rank there.
    pub rank: usize,
    /// Rank before and after.
    pub of: usize,
    /// The rows that become dependent, the most affected first.
    pub rows: Vec<usize>,
    /// How fast the singular value passes zero, in the mass metric, rows at length one.
    pub kappa: f64,
    /// How far the constraints are from meeting there; rounding for a true crossing.
    pub rho: f64,
}

/// A predicted time, relative to now, at which a singular value vanishes; complex for a near miss.
#[derive(Clone, Copy, Debug)]
struct Root {
    re: f64,
    im: f64,
}

impl Root {
    fn distance(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Real up to what the prediction can tell.
    fn is_real(self) -> bool {
        self.im.abs() <= 1e-3 * self.re.abs()
    }
}

/// How the next step is to be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) h: f64,
    /// The step the error control allows.
    pub(crate) full: f64,
    /// Stages on the constraints.
    pub(crate) guarded: bool,
    /// The predicted crossing inside the step, measured from its start.
    pub(crate) crossing: Option<f64>,
    /// The motion is not determined beyond the crossing ahead.
    pub(crate) ends: bool,
}

/// What is known of singular positions near the present state.
#[derive(Clone, Default)]
pub(crate) struct Crossing {
    roots: Vec<Root>,
    /// The largest singular value so far; the smallest that counts now, and its rate.
    top: f64,
    sigma: f64,
    kappa: f64,
    /// What noise in the scaled velocity along w is worth, relative to the size of the velocities.
    weight: f64,
    /// Size of the coordinates in the mass metric.
    length: f64,
    /// Whether A vanishes with the velocities and not with the position, so that no branch is the natural one.
    by_velocity: bool,
    last_B: Vec<f64>,
    /// The least pivot in a fixed order, where it was told last.
    least: Option<f64>,
    /// The smallest pivot of the decomposition.
    pivot: f64,
    /// ‖Ḃ‖ over the last step.
    pace: f64,
    recent: [f64; 5],
    n_recent: usize,
    /// A crossing that turned out to be avoided: the branches do not meet there.
    avoided: Option<f64>,
}

/// Steps within this many step lengths of a singular position are guarded.
const REACH: f64 = 4.0;

/// Rounding of the constraints, relative to the size of the coordinates.
const NOISE: f64 = 2e-16;

/// How far the motion is followed to both sides for the derivatives of B, as a part of the step: far above rounding in the
/// second difference, near enough for a prediction.
const PROBE: f64 = 0.02;

/// Nearest distance of a stage to the crossing, as a part of the step.
const NEAREST: f64 = 0.13;

impl Crossing {
    /// Forgets everything: the state has jumped.
    pub(crate) fn reset(&mut self) {
        *self = Crossing { avoided: self.avoided, top: self.top, ..Crossing::default() };
    }

    fn longest(&self, h: f64) -> f64 {
        self.recent.iter().fold(h, |top: f64, x| top.max(*x))
    }

    /// Looks ahead from an accepted state at which the flow stands, decomposed; the last step was of length h.
    ///
    /// In the block of small singular values, Σ = diag σ, with K₁ and K₂ the first and second derivative of UᵀBV along the motion,
    /// the distances in time are the roots of det(Σ + D K₁ + ½D²K₂) = 0. A look at the smallest pivot makes it cheap where nothing is near.
    pub(crate) fn look<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, h: f64) -> Result<(), MotionError> {
        self.recent[self.n_recent % 5] = h;
        self.n_recent += 1;
        self.roots.clear();
        let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
        if flow.all.is_large() || r == 0 || flow.drift != crate::Drift::Project {
            return Ok(());
        }
        let far = self.is_far(&flow.all.qr, &flow.all.B, h);
        self.last_B.clone_from(&flow.all.B);
        if far {
            return Ok(());
        }
        let B = self.last_B.clone();
        let values = svd(&B, m, n, Stop::Rank(r), flow.settings.small_limit);
        self.top = self.top.max(values.sigma[0]);
        let last = r - 1;
        // those that can reach zero while the steps are guarded
        let reach = f64::min(0.5 * self.top, 4.0 * REACH * self.longest(h) * self.pace);
        let small: Vec<usize> = (0..r).filter(|&k| k == last || values.sigma[k] < reach).collect();
        self.measure(flow, &values, last);
        let here = flow.instant.clone();
        let delta = PROBE * h;
        let ahead = displaced(flow, &here, delta, true)?;
        let behind = displaced(flow, &here, -delta, true)?;
        let k = small.len();
        let (mut K1, mut K2) = (vec![0.0; k * k], vec![0.0; k * k]);
        for (a, &i) in small.iter().enumerate() {
            for (b, &j) in small.iter().enumerate() {
                let (u, w) = (&values.U[i * m..(i + 1) * m], &values.V[j * n..(j + 1) * n]);
                let (plus, minus) = (bilinear(&ahead, u, w), bilinear(&behind, u, w));
                let middle = if i == j { values.sigma[i] } else { 0.0 };
                K1[a * k + b] = (plus - minus) / (2.0 * delta);
                K2[a * k + b] = (plus - 2.0 * middle + minus) / (delta * delta);
            }
        }
        let sigma: Vec<f64> = small.iter().map(|&i| values.sigma[i]).collect();
        self.roots = roots(&sigma, &K1, &K2);
        self.verify(flow, &here, h)?;
        let nearest = self.roots.iter().fold(f64::INFINITY, |d: f64, root| d.min(root.distance()));
        self.kappa = self.sigma / nearest;
        self.by_velocity = false;
        if self.ahead(2.0 * REACH * self.longest(h)).is_some() && flow.dynamics.n_velocity_rows() > 0 {
            // the same with the velocities kept: where nothing is left of the rate, A vanishes with the velocity
            let (u, w) = (&values.U[last * m..(last + 1) * m], &values.V[last * n..(last + 1) * n]);
            let along = (bilinear(&ahead, u, w) - bilinear(&behind, u, w)).abs();
            let kept = displaced(flow, &here, delta, false)?;
            let still = (bilinear(&kept, u, w) - self.sigma).abs() * 2.0;
            self.by_velocity = still < 1e-3 * along;
        }
        flow.instant = here;
        Ok(())
    }

    /// Whether no singular value can vanish within reach, judged by the least pivot alone; the last step was of length h.
    ///
    /// Pivots taken in a fixed order vanish where a singular value does, but may be larger before: so the bounds are stricter than
    /// those for pivots that were looked for.
    pub(crate) fn is_clear(&mut self, pivot: f64, h: f64) -> bool {
        /// Below this a look is taken in any case.
        const SMALL: f64 = 0.07;
        /// Above this no look is taken before it is known how fast the pivot falls.
        const LARGE: f64 = 0.3;
        /// The fall over the last step, taken this many times, must not reach zero.
        const FALL: f64 = 3.0;
        let least = pivot.max(0.0).sqrt();
        let is_safe = match self.least.replace(least) {
            Some(before) => least > FALL * REACH * (least - before).abs() * self.longest(h) / h,
            None => least > LARGE,
        };
        if least < SMALL || !is_safe {
            return false;
        }
        self.recent[self.n_recent % 5] = h;
        self.n_recent += 1;
        self.roots.clear();
        self.last_B.clear();
        true
    }

    /// Drops roots at which nothing vanishes: a quadratic says little about a matrix that turns fast.
    fn verify<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, here: &Instant, h: f64) -> Result<(), MotionError> {
        /// What must be left of the smallest singular value at most, at the place predicted.
        const LEFT: f64 = 0.3;
        let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
        while let Some(D) = self.ahead(2.0 * self.longest(h)) {
            let B = displaced(flow, here, D, true)?;
            let left = svd(&B, m, n, Stop::Rank(r), flow.settings.small_limit).sigma[r - 1];
            if left < LEFT * self.sigma {
                return Ok(());
            }
            self.roots.retain(|root| !(root.is_real() && root.re == D));
        }
        Ok(())
    }

    /// Whether no singular value can vanish within reach: the smallest pivot is not small and does not fall fast enough.
    fn is_far(&mut self, qr: &Qr, B: &[f64], h: f64) -> bool {
        /// The fall of the smallest pivot over the last step, taken this many times, must not reach zero.
        const FALL: f64 = 3.0;
        /// Below this part of the largest so far a pivot is looked at in any case.
        const SMALL: f64 = 0.02;
        let pivot = qr.t(qr.rank - 1, qr.rank - 1).abs();
        let before = std::mem::replace(&mut self.pivot, pivot);
        self.top = self.top.max(qr.t(0, 0).abs());
        if self.last_B.len() != B.len() {
            self.pace = f64::INFINITY;
            return false;
        }
        let change: f64 = B.iter().zip(&self.last_B).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        self.pace = change / h;
        pivot > SMALL * self.top && pivot > FALL * REACH * self.longest(h) * (pivot - before).abs() / h
    }

    fn measure<D: Dynamics + ?Sized>(&mut self, flow: &Flow<D>, values: &Svd, last: usize) {
        let problem = &flow.all.problem;
        let n = flow.n;
        self.sigma = values.sigma[last];
        let mut x = values.V[last * n..(last + 1) * n].to_vec();
        small::solve_lower_transposed(&problem.R, n, &mut x);
        let parts = (0..n).map(|i| (x[i] * problem.col_scale[i]).abs() / flow.v_size[i]);
        self.weight = parts.fold(0.0, f64::max);
        let scaled: Vec<f64> = (0..n).map(|i| flow.q_size[i] / problem.col_scale[i]).collect();
        self.length = norm(&scaled);
    }

    /// The first real root ahead, nearer than `limit`.
    fn ahead(&self, limit: f64) -> Option<f64> {
        let real = self.roots.iter().filter(|root| root.is_real() && root.re > 0.0 && root.re < limit);
        real.map(|root| root.re).reduce(f64::min)
    }

    /// The step to take where the error control wants h and allows `tolerance`; `is_first` if none was rejected from here.
    ///
    /// A crossing must fall into the gap of the stages, or so near to the start that only the rate already known lies there.
    pub(crate) fn choose(&self, t: f64, h: f64, gap: Gap, tolerance: f64, is_first: bool) -> Choice {
        let longest = self.longest(h);
        let guarded = self.roots.iter().any(|root| root.distance() < REACH * longest);
        let plain = Choice { h, full: h, guarded, crossing: None, ends: false };
        if let Some(avoided) = self.avoided.filter(|at| t < at + REACH * longest) {
            let room = self.ahead(REACH * longest).map_or(h, |d| h.min(0.5 * d));
            return Choice { h: if t < avoided { room } else { h }, ..plain };
        }
        let Some(D) = self.ahead(2.0 * h) else { return plain };
        if self.by_velocity {
            return Choice { h: h.min(0.5 * D), ends: self.sigma < 1e-6 * self.top, ..plain };
        }
        // noise wants a larger step, unless that was tried
        let noise = if is_first { self.noise(h, NEAREST * self.kappa * h) / tolerance } else { 1.0 };
        let mut h = h * noise.clamp(1.0, 1e4).powf(0.1);
        let c = D / h;
        if !(c < 0.02 || (gap.from..=gap.to).contains(&c) || c >= 1.0 + gap.from) {
            h = if c > gap.to { D - gap.middle * h } else { D / gap.middle };
        }
        Choice { h, crossing: (D < h).then_some(D), ..plain }
    }

    /// What rounding in the constraints does to the velocity in a step of length h whose stages meet σ.
    pub(crate) fn noise(&self, h: f64, sigma: f64) -> f64 {
        if self.roots.is_empty() {
            return 0.0;
        }
        0.6 * h * NOISE * self.length * self.kappa * self.kappa / sigma.powi(3) * self.weight
    }

    /// Whether a crossing lies behind, inside the step of length h that has just been made.
    pub(crate) fn behind(&self, h: f64) -> Option<f64> {
        let real = self.roots.iter().filter(|root| root.is_real() && root.re <= 0.0 && root.re > -h);
        real.map(|root| root.re).reduce(f64::max)
    }

    /// The branches do not meet: the crossing must not be taken.
    pub(crate) fn avoid(&mut self, t: f64) {
        self.avoided = Some(t);
    }

    /// Finds the crossing near `guess` on the dense output of a step and how far the branches are apart there; none if no
    /// singular value vanishes after all.
    pub(crate) fn check<D: Dynamics + ?Sized>(
        &self,
        flow: &mut Flow<D>,
        step: &Step,
        guess: f64,
    ) -> Result<Option<Passage>, MotionError> {
        let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
        let mut y = vec![0.0; step.y.len()];
        let (mut t, mut kappa) = (guess, self.kappa);
        let mut at = |flow: &mut Flow<D>, t: f64| -> Result<Vec<f64>, MotionError> {
            step.values(t, &mut y);
            flow.place(t, &y);
            flow.factor()?;
            Ok(flow.all.B.clone())
        };
        for _ in 0..8 {
            let B = at(flow, t)?;
            let values = svd(&B, m, n, Stop::Rank(r), flow.settings.small_limit);
            let (u, w) = (&values.U[(r - 1) * m..r * m], &values.V[(r - 1) * n..r * n]);
            let delta = 1e-4 * step.h;
            let rate = (bilinear(&at(flow, t + delta)?, u, w) - bilinear(&at(flow, t - delta)?, u, w)) / (2.0 * delta);
            if rate == 0.0 {
                break;
            }
            kappa = rate.abs();
            let change = -values.sigma[r - 1] / rate;
            t += change.clamp(-0.5 * step.h, 0.5 * step.h);
            if change.abs() < 1e-13 * step.h {
                break;
            }
        }
        let B = at(flow, t)?;
        let values = svd(&B, m, n, Stop::Rank(r), flow.settings.small_limit);
        // where the prediction was wrong nothing vanishes
        let vanished = (0..r).filter(|&k| values.sigma[k] < 1e-5 * (kappa * step.h).min(self.top)).count();
        if vanished == 0 {
            return Ok(None);
        }
        let rho = self.gap_between_branches(flow, &values, r - vanished)?;
        let mut rows: Vec<usize> = (0..m).collect();
        let share = |i: usize| (r - vanished..r).map(|k| values.U[k * m + i].abs()).fold(0.0, f64::max);
        rows.sort_by(|&i, &j| share(j).total_cmp(&share(i)));
        let most = rows.first().map_or(0.0, |&i| share(i));
        rows.retain(|&i| share(i) > 0.1 * most);
        Ok(Some(Passage { t, rank: r - vanished, of: r, rows, kappa, rho }))
    }

    /// |U₀ᵀφ| where the flow stands, once φ = 0 is met in the directions that do not vanish; relative to the size of q.
    fn gap_between_branches<D: Dynamics + ?Sized>(
        &self,
        flow: &mut Flow<D>,
        values: &Svd,
        rank: usize,
    ) -> Result<f64, MotionError> {
        let (n, m, h) = (flow.n, flow.given.constraint_rhs.len(), flow.h);
        let scale: Vec<f64> = (0..m).map(|i| flow.all.row_scale(i)).collect();
        let mut phi = vec![0.0; h];
        let mut scaled = vec![0.0; m];
        for _ in 0..4 {
            flow.dynamics.fill_positions(&flow.instant.state, &mut phi)?;
            (0..h).for_each(|i| scaled[i] = scale[i] * phi[i]);
            // x ← x − V_r Σ_r⁻¹ U_rᵀ Dφ
            let mut x = vec![0.0; n];
            for k in 0..rank {
                let s = dot(&values.U[k * m..(k + 1) * m], &scaled) / values.sigma[k];
                (0..n).for_each(|j| x[j] -= s * values.V[k * n + j]);
            }
            small::solve_lower_transposed(&flow.all.problem.R, n, &mut x);
            (0..n).for_each(|j| flow.instant.state.q[j] += x[j] * flow.all.problem.col_scale[j]);
        }
        flow.dynamics.fill_positions(&flow.instant.state, &mut phi)?;
        (0..h).for_each(|i| scaled[i] = scale[i] * phi[i]);
        let parts = (rank..values.rank).map(|k| dot(&values.U[k * m..(k + 1) * m], &scaled).abs());
        Ok(parts.fold(0.0, f64::max) / self.length.max(f64::MIN_POSITIVE))
    }

    /// How large ρ may be for a true crossing: rounding, and the square of the error along the branch.
    pub(crate) fn meets(&self, passage: &Passage, tolerance: f64) -> bool {
        passage.rho <= 1e-13 + (30.0 * tolerance).powi(2)
    }
}

/// uᵀ B w, B row after row.
fn bilinear(B: &[f64], u: &[f64], w: &[f64]) -> f64 {
    u.iter().zip(B.chunks_exact(w.len())).map(|(u, row)| u * dot(row, w)).sum()
}

/// B at the state moved along the motion for the time s, to second order; the velocity too if `with_velocity`.
fn displaced<D: Dynamics + ?Sized>(
    flow: &mut Flow<D>,
    here: &Instant,
    s: f64,
    with_velocity: bool,
) -> Result<Vec<f64>, MotionError> {
    let state = &mut flow.instant.state;
    state.t = here.state.t + s;
    for i in 0..flow.n {
        let (q, v, a) = (here.state.q[i], here.state.qdot[i], here.qddot[i]);
        state.q[i] = q + s * (v + 0.5 * s * a);
        state.qdot[i] = if with_velocity { v + s * a } else { v };
    }
    flow.factor()?;
    Ok(flow.all.B.clone())
}

/// Roots D of det(Σ + D K₁ + ½D²K₂) = 0, through the eigenvalues 1/D of the companion matrix.
fn roots(sigma: &[f64], K1: &[f64], K2: &[f64]) -> Vec<Root> {
    let k = sigma.len();
    let size = 2 * k;
    let mut companion = vec![0.0; size * size];
    for i in 0..k {
        let s = sigma[i].max(f64::MIN_POSITIVE.sqrt());
        for j in 0..k {
            companion[i * size + j] = -K1[i * k + j] / s;
            companion[i * size + k + j] = -0.5 * K2[i * k + j] / s;
        }
        companion[(k + i) * size + i] = 1.0;
    }
    let Ok(values) = MatRef::from_row_major_slice(&companion, size, size).eigenvalues() else { return Vec::new() };
    let inverse = |z: faer::c64| {
        let square = z.re * z.re + z.im * z.im;
        Root { re: z.re / square, im: -z.im / square }
    };
    values
        .into_iter()
        .filter(|z| z.re != 0.0 || z.im != 0.0)
        .map(inverse)
        .filter(|root| root.distance().is_finite())
        .collect()
}

/// How many directions that vanish at the start do so only there: the rank that holds away from it.
///
/// κ = singular values of U₀ᵀ Ḃ N₀ along the motion; where the system is at rest, along each direction of N₀.
pub(crate) fn generic_rank<D: Dynamics + ?Sized>(flow: &mut Flow<D>) -> Result<StartRank, MotionError> {
    let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
    let regular = StartRank { rank: r, singular: false, at_rest: false };
    if flow.all.is_large() || r == m || n == 0 {
        return Ok(regular);
    }
    // the scales of the rows must not change from here to there
    flow.all.hold(r);
    let B = flow.all.B.clone();
    let limit = flow.settings.small_limit;
    let values = svd(&B, m, n, Stop::Rank(r), limit);
    let (U0, N0) = (complement(&values.U, r, m), complement(&values.V, r, n));
    let here = flow.instant.clone();
    let size = |x: &[f64], sizes: &[f64]| x.iter().zip(sizes).fold(0.0, |top: f64, (x, s)| top.max(x.abs() / s));
    let pace = size(&here.state.qdot, &flow.q_size);
    let count = |ahead: &[f64], behind: &[f64]| {
        let change: Vec<f64> = ahead.iter().zip(behind).map(|(x, y)| x - y).collect();
        let whole = norm(&change);
        let (rows, cols) = (U0.len() / m, N0.len() / n);
        let mut block = vec![0.0; rows * cols];
        for i in 0..rows {
            for j in 0..cols {
                block[i * cols + j] = bilinear(&change, &U0[i * m..(i + 1) * m], &N0[j * n..(j + 1) * n]);
            }
        }
        let kappa = svd(&block, rows, cols, Stop::Rank(rows.min(cols)), limit);
        kappa.sigma.iter().filter(|k| **k > 1e-5 * whole && **k > 1e-10).count()
    };
    let mut found = 0;
    if pace > 0.0 {
        let s = 1e-4 / pace;
        let (ahead, behind) = (displaced(flow, &here, s, true)?, displaced(flow, &here, -s, true)?);
        found = count(&ahead, &behind);
    }
    let mut at_rest = false;
    if found == 0 && pace < 1e-9 {
        // at rest: some direction in which the system can set out makes the rows independent
        for direction in N0.chunks_exact(n) {
            let mut x = direction.to_vec();
            flow.instant = here.clone();
            flow.factor()?;
            small::solve_lower_transposed(&flow.all.problem.R, n, &mut x);
            (0..n).for_each(|i| x[i] *= flow.all.problem.col_scale[i]);
            let s = 1e-4 / size(&x, &flow.q_size).max(f64::MIN_POSITIVE);
            let mut probe = here.clone();
            probe.state.qdot.copy_from_slice(&x);
            probe.qddot.fill(0.0);
            let (ahead, behind) = (displaced(flow, &probe, s, false)?, displaced(flow, &probe, -s, false)?);
            at_rest |= count(&ahead, &behind) > 0;
        }
    }
    flow.instant = here;
    flow.factor()?;
    Ok(StartRank { rank: r + found, singular: found > 0, at_rest })
}

/// The rank at the start, and what it is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartRank {
    /// The rank to hold.
    pub(crate) rank: usize,
    /// Whether the start is a singular position that is being passed.
    pub(crate) singular: bool,
    /// Whether the system rests in a singular position.
    pub(crate) at_rest: bool,
}

/// Orthonormal vectors orthogonal to the first r rows of X, each row of length n.
fn complement(X: &[f64], r: usize, n: usize) -> Vec<f64> {
    let mut qr = Qr::new();
    qr.resize(n, r);
    qr.columns.copy_from_slice(&X[..r * n]);
    qr.factor(Stop::Rank(r), usize::MAX);
    let mut out = vec![0.0; (n - r) * n];
    for k in r..n {
        let x = &mut out[(k - r) * n..(k - r + 1) * n];
        x[k] = 1.0;
        qr.apply(x);
    }
    out
}

/// The rows that take most part in a singular value that has almost vanished where the flow stands; none if none has.
pub(crate) fn dying_rows<D: Dynamics + ?Sized>(flow: &Flow<D>) -> Vec<usize> {
    /// A singular value below this, relative to the largest, is about to vanish.
    const DYING: f64 = 1e-3;
    let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
    if r == 0 || flow.all.B.len() != n * m {
        return Vec::new();
    }
    let values = svd(&flow.all.B, m, n, Stop::Rank(r), flow.settings.small_limit);
    if values.sigma[r - 1] > DYING * values.sigma[0].max(1.0) {
        return Vec::new();
    }
    let share = |i: usize| values.U[(r - 1) * m + i].abs();
    let most = (0..m).map(share).fold(0.0, f64::max);
    (0..m).filter(|&i| share(i) > 0.1 * most).collect()
}
