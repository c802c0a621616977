//! Positions where the constraints lose rank: detected ahead, crossed within one full step on the smooth branch, and checked.
//!
//! Let σ be the singular value of B that vanishes at t*, σ = κ(t − t*). Noise ε in the constraints turns into ε/(κτ) in q,
//! ε/(κτ²) in q̇ and 2ε/(κτ³) in q̈ at the distance τ, so a step that comes near t* must not have a stage there, must have
//! its stages on the constraints, and must not be small. `docs/theory.md` has the argument.

use crate::{
    ConstraintLevel, Dynamics, Instant, MotionError,
    acceleration::{decomposition::Decomposition, smallest::Smallest},
    dynamics::NodeGap,
    limits,
    methods::Step,
    smooth::Smooth,
    tolerance,
};
use faer::MatRef;

/// A passage through a position in which rows become dependent that are independent elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDrop {
    /// Time of the passage.
    pub t: f64,
    /// Rank there.
    pub rank: usize,
    /// Rank before and after.
    pub of: usize,
    /// The rows that become dependent, the most affected first.
    pub rows: Vec<usize>,
    /// The rate at which the singular value passes zero, in the mass metric, rows at length one.
    pub kappa: f64,
    /// The distance between the branches there; rounding for a true crossing.
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

    /// `true` if it is real up to the accuracy of the prediction.
    fn is_real(self) -> bool {
        self.im.abs() <= tolerance::PREDICTED_REAL * self.re.abs()
    }
}

/// Length and kind of the next step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepPlan {
    pub(crate) h: f64,
    /// The step that error control allows.
    pub(crate) full: f64,
    /// Stages on the constraints.
    pub(crate) guarded: bool,
    /// The time of the predicted crossing inside the step, from its start.
    pub(crate) crossing: Option<f64>,
    /// The motion is not determined beyond the crossing ahead.
    pub(crate) ends: bool,
}

/// Singular positions near the present state.
#[derive(Clone, Default)]
pub(crate) struct Crossing {
    roots: Vec<Root>,
    /// The rank of A elsewhere, and how clear it was at the last accepted state.
    rank: usize,
    pub(crate) kept: f64,
    /// The largest singular value so far; the smallest that counts now, and its rate.
    top: f64,
    sigma: f64,
    kappa: f64,
    /// The effect of noise in the scaled velocity along w, relative to the size of the velocities.
    weight: f64,
    /// Size of the coordinates in the mass metric.
    length: f64,
    /// `true` if A vanishes with the velocities and not with the position, so that no branch is the natural one.
    by_velocity: bool,
    last_B: Vec<f64>,
    /// The least pivot in a fixed order, at the last step that gave it.
    least: Option<f64>,
    /// The smallest pivot of the decomposition, or the pivots of all rows of a large system; and scratch for new ones.
    pivots: Vec<f64>,
    new_pivots: Vec<f64>,
    /// The small singular values at the last look ahead, and the number of those that could vanish soon.
    near: Smallest,
    n_near: usize,
    /// ‖Ḃ‖ over the last step.
    pace: f64,
    recent: [f64; 5],
    n_recent: usize,
    /// A crossing that turned out to be avoided: the branches do not meet there.
    avoided: Option<f64>,
}

/// Steps within this many step lengths of a singular position are guarded.
const REACH: f64 = 4.0;

/// The time over which the motion is followed to both sides for the derivatives of B, as a fraction of the step: far above
/// rounding in the second difference, near enough for a prediction.
const PROBE: f64 = 0.02;

/// Nearest distance of a stage to the crossing, as a fraction of the step.
const NEAREST: f64 = 0.13;

impl Crossing {
    /// Forgets everything: the state has jumped.
    pub(crate) fn reset(&mut self) {
        *self = Crossing { avoided: self.avoided, top: self.top, ..Crossing::default() };
    }

    fn longest(&self, h: f64) -> f64 {
        self.recent.iter().fold(h, |top: f64, x| top.max(*x))
    }

    /// Looks ahead from an accepted state, whose decomposition is current; the last step had length h.
    ///
    /// In the block of small singular values, Σ = diag σ, with K₁ and K₂ the first and second derivative of UᵀBV along the motion,
    /// the distances in time are the roots of det(Σ + D K₁ + ½D²K₂) = 0. The smallest pivot makes it cheap if nothing is
    /// near.
    pub(crate) fn look<D: Dynamics + ?Sized>(&mut self, smooth: &mut Smooth<D>, h: f64) -> Result<(), MotionError> {
        self.recent[self.n_recent % 5] = h;
        self.n_recent += 1;
        self.roots.clear();
        (self.rank, self.kept) = (smooth.all.held_rank(), smooth.all.gap().kept);
        if self.rank == 0 || smooth.drift != crate::Drift::Project {
            return Ok(());
        }
        let far = self.is_far(&smooth.all, h);
        smooth.all.write_B(&mut self.last_B);
        if far {
            return Ok(());
        }
        let here = smooth.instant.clone();
        let (values, K1, K2) = self.small_values(smooth, &here, h)?;
        self.roots = roots(&values.sigma, &K1, &K2);
        self.verify(smooth, &here, h, &values)?;
        let nearest = self.roots.iter().fold(f64::INFINITY, |d: f64, root| d.min(root.distance()));
        self.kappa = self.sigma / nearest;
        self.by_velocity = false;
        if self.ahead(2.0 * REACH * self.longest(h)).is_some() && smooth.hs > smooth.h {
            // the same with the velocities kept: if nothing is left of the rate, A vanishes with the velocity
            let (last, delta) = (K1.len() - 1, PROBE * h);
            displaced(smooth, &here, delta, false)?;
            let still = (smooth.all.between(&values)[last] - self.sigma).abs();
            self.by_velocity = still < tolerance::PREDICTED_REAL * (K1[last] * delta).abs();
        }
        self.near = values;
        smooth.instant = here;
        Ok(())
    }

    /// `true` if no singular value can vanish within reach, judged by the least pivot alone; the last step was of length h.
    ///
    /// Pivots taken in a fixed order vanish where a singular value does, but may be larger before: so the bounds are stricter than
    /// those for pivots that were sought.
    pub(crate) fn is_clear(&mut self, pivot: f64, h: f64) -> bool {
        /// Below this a look is taken in any case.
        const SMALL_VALUE: f64 = 0.07;
        /// Above this no look is taken before it is known how fast the pivot falls.
        const LARGE_VALUE: f64 = 0.3;
        /// The fall over the last step, taken this many times, must not reach zero.
        const FALL_AHEAD: f64 = 3.0;
        let least = pivot.max(0.0).sqrt();
        let is_safe = match self.least.replace(least) {
            Some(before) => least > FALL_AHEAD * REACH * (least - before).abs() * self.longest(h) / h,
            None => least > LARGE_VALUE,
        };
        if least < SMALL_VALUE || !is_safe {
            return false;
        }
        self.recent[self.n_recent % 5] = h;
        self.n_recent += 1;
        self.roots.clear();
        self.last_B.clear();
        true
    }

    /// The small singular values at the state, and the first and second derivative of UᵀBV along the motion.
    ///
    /// Of a large system a few are taken first, and more as long as the largest of them, too, could reach zero while the steps are
    /// guarded.
    fn small_values<D: Dynamics + ?Sized>(
        &mut self,
        smooth: &mut Smooth<D>,
        here: &Instant,
        h: f64,
    ) -> Result<(Smallest, Vec<f64>, Vec<f64>), MotionError> {
        let delta = PROBE * h;
        let reach = f64::min(0.5 * self.top, 4.0 * REACH * self.longest(h) * self.pace);
        let mut count = self.n_near + limits::FIRST_VALUES;
        loop {
            let values = smooth.all.smallest(count, reach, Some(&self.near));
            self.measure(smooth, &values);
            let middle = smooth.all.between(&values);
            displaced(smooth, here, delta, true)?;
            let ahead = smooth.all.between(&values);
            displaced(smooth, here, -delta, true)?;
            let behind = smooth.all.between(&values);
            let parts = || ahead.iter().zip(&behind).zip(&middle);
            let K1: Vec<f64> = parts().map(|((plus, minus), _)| (plus - minus) / (2.0 * delta)).collect();
            let K2: Vec<f64> =
                parts().map(|((plus, minus), now)| (plus - 2.0 * now + minus) / (delta * delta)).collect();
            if !smooth.all.is_large() {
                return Ok((values, K1, K2));
            }
            // those that could vanish by themselves, and a few more with which they may be coupled
            let rate = |k: usize| K1[k * (values.len() + 1)].abs();
            let comes = |k: &usize| values.sigma[*k] < 2.0 * REACH * self.longest(h) * rate(*k);
            let from = (0..values.len()).find(comes).unwrap_or(values.len());
            if from >= limits::FIRST_VALUES / 2 || count >= limits::CROSSING_VALUES || values.len() < count {
                self.n_near = values.len() - from;
                return Ok((values, K1, K2));
            }
            self.near = values;
            count *= 2;
            smooth.instant.clone_from(here);
            smooth.factor()?;
        }
    }

    /// Drops roots at which nothing vanishes: a quadratic says little about a matrix that turns fast.
    fn verify<D: Dynamics + ?Sized>(
        &mut self,
        smooth: &mut Smooth<D>,
        here: &Instant,
        h: f64,
        values: &Smallest,
    ) -> Result<(), MotionError> {
        /// The largest remainder of the smallest singular value at the predicted position.
        const VALUE_LEFT: f64 = 0.3;
        while let Some(D) = self.ahead(2.0 * self.longest(h)) {
            displaced(smooth, here, D, true)?;
            let left = smooth.all.smallest(values.len(), 0.0, Some(values)).last();
            if left < VALUE_LEFT * self.sigma {
                return Ok(());
            }
            self.roots.retain(|root| !(root.is_real() && root.re == D));
        }
        Ok(())
    }

    /// `true` if no singular value can vanish within reach: no pivot is small or falls fast enough.
    fn is_far(&mut self, all: &Decomposition, h: f64) -> bool {
        /// The fall of a pivot over the last step, taken this many times, must not reach zero.
        const FALL_AHEAD: f64 = 3.0;
        const FALL_OF_MANY: f64 = 1.5;
        /// Below this part of the largest so far a pivot is looked at in any case. In a large system, a long chain, one pivot
        /// may always be small, and that of rows that depend on others is nothing.
        const SMALL_PIVOT: f64 = 0.02;
        self.top = self.top.max(all.pivots(&mut self.new_pivots));
        std::mem::swap(&mut self.pivots, &mut self.new_pivots);
        let change = all.change(&self.last_B);
        if change == f64::INFINITY || self.pivots.len() != self.new_pivots.len() {
            self.pace = f64::INFINITY;
            return false;
        }
        self.pace = change / h;
        let (small, fall) =
            if all.is_large() { (tolerance::SMALL_PIVOT_OF_MANY, FALL_OF_MANY) } else { (SMALL_PIVOT, FALL_AHEAD) };
        let steps = fall * REACH * self.longest(h) / h;
        self.pivots.iter().zip(&self.new_pivots).all(|(now, before)| {
            let is_nothing = all.is_large() && now.max(*before) < tolerance::DEPENDENT_PIVOT;
            is_nothing || (*now > small * self.top && *now > steps * (now - before).abs())
        })
    }

    fn measure<D: Dynamics + ?Sized>(&mut self, smooth: &Smooth<D>, values: &Smallest) {
        let Some(last) = values.len().checked_sub(1) else { return };
        self.sigma = values.last();
        self.top = self.top.max(values.sigma[0]);
        let x = smooth.all.to_coordinates(values.v(last));
        self.weight = x.iter().zip(&smooth.v_size).fold(0.0, |top: f64, (x, v)| top.max(x.abs() / v));
        self.length = smooth.all.length(&smooth.q_size);
    }

    /// The first real root ahead, nearer than `limit`.
    fn ahead(&self, limit: f64) -> Option<f64> {
        let real = self.roots.iter().filter(|root| root.is_real() && root.re > 0.0 && root.re < limit);
        real.map(|root| root.re).reduce(f64::min)
    }

    /// The step to take if error control wants h and allows `tolerance`; `is_first` if none was rejected from here.
    ///
    /// A crossing must fall into the gap of the stages, or so near to the start that only the rate already known lies there.
    pub(crate) fn choose(&self, t: f64, h: f64, gap: NodeGap, tolerance: f64, is_first: bool) -> StepPlan {
        let longest = self.longest(h);
        let guarded = self.roots.iter().any(|root| root.distance() < REACH * longest);
        let plain = StepPlan { h, full: h, guarded, crossing: None, ends: false };
        if let Some(avoided) = self.avoided.filter(|at| t < at + REACH * longest) {
            let room = self.ahead(REACH * longest).map_or(h, |d| h.min(0.5 * d));
            return StepPlan { h: if t < avoided { room } else { h }, ..plain };
        }
        let Some(D) = self.ahead(2.0 * h) else { return plain };
        if self.by_velocity {
            return StepPlan { h: h.min(0.5 * D), ends: self.sigma < tolerance::VANISHED_VALUE * self.top, ..plain };
        }
        // noise wants a larger step, unless that was tried
        let noise = if is_first { self.noise(h, NEAREST * self.kappa * h) / tolerance } else { 1.0 };
        let mut h = h * noise.clamp(1.0, 1e4).powf(0.1);
        let c = D / h;
        if !(c < 0.02 || (gap.from..=gap.to).contains(&c) || c >= 1.0 + gap.from) {
            h = if c > gap.to { D - gap.middle * h } else { D / gap.middle };
        }
        StepPlan { h, crossing: (D < h).then_some(D), ..plain }
    }

    /// The effect of rounding in the constraints on the velocity in a step of length h whose stages have σ at least.
    pub(crate) fn noise(&self, h: f64, sigma: f64) -> f64 {
        if self.roots.is_empty() {
            return 0.0;
        }
        0.6 * h * tolerance::CONSTRAINT_NOISE * self.length * self.kappa * self.kappa / sigma.powi(3) * self.weight
    }

    /// The time of a crossing behind, inside the step of length h that has just been made.
    pub(crate) fn behind(&self, h: f64) -> Option<f64> {
        let real = self.roots.iter().filter(|root| root.is_real() && root.re <= 0.0 && root.re > -h);
        real.map(|root| root.re).reduce(f64::max)
    }

    /// The branches do not meet: the crossing must not be taken.
    pub(crate) fn avoid(&mut self, t: f64) {
        self.avoided = Some(t);
    }

    /// Finds the crossing near `guess` on the dense output of a step and the distance between the branches there; `None` if
    /// no singular value vanishes after all.
    pub(crate) fn check<D: Dynamics + ?Sized>(
        &self,
        smooth: &mut Smooth<D>,
        step: &Step,
        guess: f64,
    ) -> Result<Option<RankDrop>, MotionError> {
        let mut y = vec![0.0; step.y.len()];
        let (mut t, mut kappa) = (guess, self.kappa);
        let mut at = |smooth: &mut Smooth<D>, t: f64| -> Result<(), MotionError> {
            step.values(t, &mut y);
            smooth.set_state(t, &y);
            smooth.factor()
        };
        let count = self.near.len();
        for _ in 0..8 {
            at(smooth, t)?;
            let values = smooth.all.smallest(count, 0.0, Some(&self.near)).tail(1);
            let delta = tolerance::CROSSING_DIFFERENCE * step.h;
            at(smooth, t + delta)?;
            let plus = smooth.all.between(&values);
            at(smooth, t - delta)?;
            let minus = smooth.all.between(&values);
            let rate = plus.first().zip(minus.first()).map_or(0.0, |(plus, minus)| (plus - minus) / (2.0 * delta));
            if rate == 0.0 {
                break;
            }
            kappa = rate.abs();
            let change = -values.last() / rate;
            t += change.clamp(-0.5 * step.h, 0.5 * step.h);
            if change.abs() < tolerance::CROSSING_TIME * step.h {
                break;
            }
        }
        at(smooth, t)?;
        // if the prediction was wrong nothing vanishes
        let least = tolerance::NOT_VANISHED * (kappa * step.h).min(self.top);
        let values = smooth.all.smallest(count, least, Some(&self.near));
        let values = values.tail(values.sigma.iter().filter(|s| **s < least).count());
        if values.len() == 0 {
            return Ok(None);
        }
        let m = smooth.given.constraint_rhs.len();
        let share = smooth.all.shares(&values, m);
        let mut rows: Vec<usize> = (0..m).collect();
        rows.sort_by(|&i, &j| share[j].total_cmp(&share[i]));
        let most = rows.first().map_or(0.0, |&i| share[i]);
        rows.retain(|&i| share[i] > 0.1 * most);
        rows.sort_unstable();
        let rho = self.gap_between_branches(smooth, &values)?;
        Ok(Some(RankDrop { t, rank: self.rank.saturating_sub(values.len()), of: self.rank, rows, kappa, rho }))
    }

    /// |U₀ᵀφ| at the state, once φ = 0 is satisfied in the directions that do not vanish; relative to the size of q.
    fn gap_between_branches<D: Dynamics + ?Sized>(
        &self,
        smooth: &mut Smooth<D>,
        values: &Smallest,
    ) -> Result<f64, MotionError> {
        let mut phi = vec![0.0; smooth.given.constraint_rhs.len()];
        let (h, mut x, mut along) = (smooth.h, vec![0.0; smooth.n], 0.0);
        for round in 0..5 {
            smooth.residuals(ConstraintLevel::Positions, &mut phi[..h])?;
            smooth.rows.apply_to_residual(&mut phi[..h]);
            along = smooth.all.solve_without(values, &phi, &mut x);
            if round < 4 {
                smooth.instant.state.q.iter_mut().zip(&x).for_each(|(q, x)| *q -= x);
            }
        }
        Ok(along / self.length.max(f64::MIN_POSITIVE))
    }

    /// `true` if ρ is that of a true crossing: rounding, and the square of the error along the branch.
    pub(crate) fn meets(&self, passage: &RankDrop, tolerance: f64) -> bool {
        passage.rho <= tolerance::CROSSING_LENGTH + (30.0 * tolerance).powi(2)
    }
}

/// Decomposes at the state moved along the motion for the time s, to second order; the velocity too if `with_velocity`.
pub(super) fn displaced<D: Dynamics + ?Sized>(
    smooth: &mut Smooth<D>,
    here: &Instant,
    s: f64,
    with_velocity: bool,
) -> Result<(), MotionError> {
    let state = &mut smooth.instant.state;
    state.t = here.state.t + s;
    for i in 0..smooth.n {
        let (q, v, a) = (here.state.q[i], here.state.qdot[i], here.qddot[i]);
        state.q[i] = q + s * (v + 0.5 * s * a);
        state.qdot[i] = if with_velocity { v + s * a } else { v };
    }
    smooth.factor()
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
