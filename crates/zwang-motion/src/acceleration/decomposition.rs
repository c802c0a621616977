//! The constrained problem at one state, decomposed once and solved for many right-hand sides.

use super::{large::Large, problem::Problem, shortest::Shortest, smallest::Smallest};
use crate::{
    Gap, Given, Matrix, MotionError, Settings,
    factor::{
        dense::{Qr, Stop, solve_lower_columns, svd},
        dot, norm, power_of_two, small,
    },
    tolerance,
};

/// M = R Rᵀ and a complete orthogonal decomposition of B = A R⁻ᵀ, or its sparse counterpart if the system is large.
///
/// For any f and g it gives the x that minimises (x − M⁻¹f)ᵀ M (x − M⁻¹f) subject to A x = g, in the least-squares
/// sense if rows are linearly dependent:
///
/// $$ x = M^{-1}f + R^{-T} B^+ (g - A M^{-1} f) $$
///
/// With f = Q and g = b, x is the acceleration, UK02 (12); with f = 0 and g = −φ it is a step onto the constraints.
/// The rank and the scales of the rows can be frozen, so that x is a smooth function of the state.
pub(crate) struct Decomposition {
    settings: Settings,
    pub(crate) problem: Problem,
    pub(crate) qr: Qr,
    second: Qr,
    shortest: Shortest,
    large: Option<Large>,
    /// True if a sparse factorization has succeeded; and true if it was abandoned since, because the system no longer
    /// qualifies.
    was_large: bool,
    fell_back: bool,
    /// The factor that multiplies row i of `problem`.
    scale: Vec<f64>,
    /// Bᵀ by columns before the decomposition, with the rows of B scaled.
    pub(crate) B: Vec<f64>,
    /// The frozen rank and row scales, the latter for the rows as written; `None` while they are not frozen.
    held: Option<(usize, Vec<f64>)>,
    /// The rows in the order of their pivots; and true if that order is frozen.
    order: Vec<usize>,
    keeps_order: bool,
    e: Vec<f64>,
    pub(crate) z: Vec<f64>,
    pub(crate) x: Vec<f64>,
}

impl Decomposition {
    pub(crate) fn new(settings: &Settings) -> Decomposition {
        Decomposition {
            settings: settings.clone(),
            problem: Problem::new(),
            qr: Qr::new(),
            second: Qr::new(),
            shortest: Shortest::new(),
            large: None,
            was_large: false,
            fell_back: false,
            scale: Vec::new(),
            B: Vec::new(),
            held: None,
            order: Vec::new(),
            keeps_order: false,
            e: Vec::new(),
            z: Vec::new(),
            x: Vec::new(),
        }
    }

    /// Uses the sparse factorization from now on.
    pub(crate) fn go_large(&mut self) {
        self.large = Some(Large::new(&self.settings));
    }

    /// True if the sparse factorization was abandoned since the last call.
    pub(crate) fn take_fallback(&mut self) -> bool {
        std::mem::take(&mut self.fell_back)
    }

    /// True if the system is factored sparsely.
    pub(crate) fn is_large(&self) -> bool {
        self.large.is_some()
    }

    /// Decomposes M and A.
    pub(crate) fn factor(&mut self, M: &Matrix, A: &Matrix) -> Result<(), MotionError> {
        self.factor_supported(M, A, None)
    }

    /// Decomposes M and A, which are rows of S: the other rows of S make up for what A leaves of a singular M.
    pub(crate) fn factor_supported(&mut self, M: &Matrix, A: &Matrix, S: Option<&Matrix>) -> Result<(), MotionError> {
        if let Some(large) = &mut self.large {
            if large.factor(M, A)? {
                self.was_large = true;
                return Ok(());
            }
            // the system does not qualify for the sparse factorization, or no longer does
            (self.large, self.fell_back) = (None, self.was_large);
        }
        self.problem.factor(M, A, S, &self.settings)?;
        self.decompose();
        Ok(())
    }

    /// Decomposes Bᵀ Π = Q T, where Bᵀ = R⁻¹Aᵀ is stored by columns, each scaled to a length of about one or by its
    /// frozen scale.
    pub(crate) fn decompose(&mut self) {
        let Problem { n, m, A, R, row_scale, .. } = &self.problem;
        let (n, m, small_limit) = (*n, *m, self.settings.small_limit);
        self.qr.resize(n, m);
        self.qr.columns.copy_from_slice(A);
        solve_lower_columns(R, n, &mut self.qr.columns, m, small_limit);
        self.scale.resize(m, 1.0);
        for i in 0..m {
            let column = self.qr.column_mut(i);
            let s = match &self.held {
                Some((_, whole)) => whole[i] / row_scale[i],
                None => 1.0 / power_of_two(dot(column, column).sqrt()),
            };
            column.iter_mut().for_each(|x| *x *= s);
            self.scale[i] = s;
        }
        self.B.clone_from(&self.qr.columns);
        match &self.held {
            Some((rank, _)) if self.keeps_order && self.order.len() == m => {
                for (k, &i) in self.order.iter().enumerate() {
                    self.qr.columns[k * n..(k + 1) * n].copy_from_slice(&self.B[i * n..(i + 1) * n]);
                }
                self.qr.perm.copy_from_slice(&self.order);
                self.qr.factor_in_order(*rank);
            }
            Some((rank, _)) => self.qr.factor(Stop::Rank(*rank), small_limit),
            None => self.qr.factor(Stop::Tolerance(self.settings.rank_tolerance), small_limit),
        }
        if !self.keeps_order {
            self.order.clone_from(&self.qr.perm);
        }
        self.decompose_again();
    }

    /// If rows are linearly dependent, decomposes Tᵀ Π' = Z S, which makes the orthogonal decomposition complete.
    fn decompose_again(&mut self) {
        let (qr, second, m, r) = (&self.qr, &mut self.second, self.problem.m, self.qr.rank);
        if r == m {
            return;
        }
        second.resize(m, r);
        for k in 0..r {
            for j in 0..m {
                second.columns[k * m + j] = if k <= j { qr.t(k, j) } else { 0.0 };
            }
        }
        second.factor(Stop::Rank(r), self.settings.small_limit);
    }

    /// Rank of A.
    pub(crate) fn rank(&self) -> usize {
        self.large.as_ref().map_or(self.qr.rank, Large::rank)
    }

    /// The frozen rank; the rank of the last decomposition if none is frozen.
    pub(crate) fn held_rank(&self) -> usize {
        self.large.as_ref().map_or(self.qr.rank, Large::held_rank)
    }

    /// The clarity of the rank decision.
    pub(crate) fn gap(&self) -> Gap {
        self.large.as_ref().map_or(self.qr.gap, Large::gap)
    }

    /// Freezes this rank and the scales of the rows. The sparse factorization freezes the scales only, against which
    /// small singular values are judged: its solution is smooth without a frozen rank.
    pub(crate) fn hold(&mut self, rank: usize) {
        if let Some(large) = &mut self.large {
            return large.hold(rank);
        }
        let whole = match self.held.take() {
            Some((_, whole)) => whole,
            None => (0..self.problem.m).map(|i| self.scale[i] * self.problem.row_scale[i]).collect(),
        };
        self.held = Some((rank, whole));
        self.problem.holds_columns = true;
    }

    /// Freezes the last order of the pivots, or releases it. Off the constraints the solution depends on which
    /// dependent rows are omitted, so the order must not change between the stages of a step.
    pub(crate) fn keep_order(&mut self, keeps: bool) {
        self.keeps_order = keeps;
    }

    /// Releases the frozen rank, scales and order; they are decided anew at the next state.
    pub(crate) fn release(&mut self) {
        (self.held, self.keeps_order) = (None, false);
        if let Some(large) = &mut self.large {
            large.release();
        }
        (self.problem.holds_columns, self.problem.was_singular) = (false, false);
    }

    /// A maximal set of independent rows, those of large weight first; `None` if the set is not known.
    pub(crate) fn independent_rows(&self, weight: impl Fn(usize) -> f64) -> Option<Vec<usize>> {
        if let Some(large) = &self.large {
            return large.independent_rows();
        }
        let (n, m) = (self.problem.n, self.problem.m);
        let mut rows = Qr::new();
        rows.resize(n, m);
        rows.columns.copy_from_slice(&self.B);
        let weights: Vec<f64> = (0..m).map(weight).collect();
        rows.factor_by_weight(self.qr.rank, &weights);
        let mut kept = rows.perm[..rows.rank].to_vec();
        kept.sort_unstable();
        (rows.rank == self.qr.rank).then_some(kept)
    }

    /// The factors that scale the rows as written to a length of about one.
    pub(crate) fn row_scales(&self) -> Vec<f64> {
        match &self.large {
            Some(large) => large.row_scales(),
            None => (0..self.problem.m).map(|i| self.row_scale(i)).collect(),
        }
    }

    /// The factor that multiplies row i as written.
    pub(crate) fn row_scale(&self, i: usize) -> f64 {
        self.scale[i] * self.problem.row_scale[i]
    }

    /// The x that minimises (x − M⁻¹f)ᵀ M (x − M⁻¹f) subject to A x = g; an empty f stands for zero.
    pub(crate) fn solve(
        &mut self,
        A: &Matrix,
        f: &[f64],
        extra: &[f64],
        g: &[f64],
        x: &mut [f64],
    ) -> Result<(), MotionError> {
        if let Some(large) = &mut self.large {
            large.solve_for(A, f, extra, g, x);
        } else {
            self.problem.load(f, extra, g);
            self.find_x();
            for (x, (found, d)) in x.iter_mut().zip(self.x.iter().zip(&self.problem.col_scale)) {
                *x = found * d;
            }
        }
        match x.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(MotionError::NotFinite { what: "the acceleration".into() }),
        }
    }

    /// x = a + R⁻ᵀ B⁺ (b − A a) for the loaded right-hand sides, scaled.
    pub(crate) fn find_x(&mut self) {
        let (n, m) = (self.problem.n, self.problem.m);
        // e = b − A a: the amount by which the unconstrained motion violates the constraints
        self.e.resize(m, 0.0);
        for i in 0..m {
            self.e[i] = self.problem.b[i] - dot(self.problem.row(i), &self.problem.a);
        }
        self.x.clear();
        self.x.resize(n.max(m), 0.0);
        self.solve_triangle();
        // x = Q z = B⁺e, the scaled change of the acceleration
        let Problem { R, a, .. } = &self.problem;
        let r = self.qr.rank;
        self.x.truncate(n);
        let x = &mut self.x[..];
        x.fill(0.0);
        x[..r].copy_from_slice(&self.z[..r]);
        self.qr.apply(x);
        small::solve_lower_transposed(R, n, x);
        x.iter_mut().zip(a).for_each(|(x, a)| *x += a);
    }

    /// z with Tᵀz = Πᵀe, in the least-squares sense if rows are linearly dependent.
    fn solve_triangle(&mut self) {
        let (qr, m, r) = (&self.qr, self.problem.m, self.qr.rank);
        let z = &mut self.z;
        z.resize(m, 0.0);
        for k in 0..m {
            z[k] = self.scale[qr.perm[k]] * self.e[qr.perm[k]];
        }
        if r == m {
            qr.solve_triangle_transposed(z);
            return;
        }
        let second = &self.second;
        second.apply_transposed(z);
        second.solve_triangle(z);
        self.x[..r].copy_from_slice(&z[..r]);
        for k in 0..r {
            z[second.perm[k]] = self.x[k];
        }
    }

    /// x ← M⁻¹ x.
    pub(crate) fn solve_mass(&mut self, x: &mut [f64]) {
        if let Some(large) = &mut self.large {
            return large.solve_mass(x);
        }
        let Problem { n, R, col_scale: D, .. } = &self.problem;
        x.iter_mut().zip(D).for_each(|(x, d)| *x *= d);
        small::solve_lower(R, *n, x);
        small::solve_lower_transposed(R, *n, x);
        x.iter_mut().zip(D).for_each(|(x, d)| *x *= d);
    }

    /// True if the last acceleration satisfies A q̈ = b, relative to the sizes that enter each row.
    pub(crate) fn meets_rows(&self, given: &Given, qddot: &[f64]) -> bool {
        match &self.large {
            Some(large) => large.meets_rows(given, qddot),
            None => self.problem.meets_rows(&self.x, &self.settings),
        }
    }

    /// True if the last acceleration satisfies A q̈ = b up to rounding. A large system is judged as by `meets_rows`.
    pub(crate) fn meets_rows_closely(&self, given: &Given, qddot: &[f64]) -> bool {
        match &self.large {
            Some(large) => large.meets_rows(given, qddot),
            None => self.problem.meets_rows_within(&self.x, &self.settings, tolerance::CONTRADICTION_ROUNDING),
        }
    }

    /// The shortest λ of the last solve, with Aᵀλ = M x − f, for the rows as written.
    pub(crate) fn multipliers(&mut self, A: &Matrix, lambda: &mut [f64]) -> Result<(), MotionError> {
        if let Some(large) = &mut self.large {
            return large.multipliers(A, lambda);
        }
        let scale = |i: usize| self.problem.row_scale[i] * self.scale[i];
        self.shortest.on_triangle(&self.qr, scale, &self.z, lambda);
        Ok(())
    }

    /// True if M is singular, so that rows of A are added to it.
    pub(crate) fn has_singular_mass(&self) -> bool {
        self.large.as_ref().map_or(self.problem.singular, Large::has_singular_mass)
    }

    /// True if rows are linearly dependent without being multiples of one another; known only for the sparse
    /// factorization.
    pub(crate) fn is_deficient(&self) -> bool {
        self.large.as_ref().is_some_and(Large::is_deficient)
    }
}

/// Singular values and vectors of B near a rank drop, with the rows of B at their frozen scales. The order of rows and
/// of the coordinates of vectors is internal to this type.
impl Decomposition {
    /// Writes the smallest pivot, or the pivots of all rows if the system is large; returns the largest pivot.
    pub(crate) fn pivots(&self, pivots: &mut Vec<f64>) -> f64 {
        if let Some(large) = &self.large {
            large.pivots(pivots);
            // the frozen scales give the rows length one
            return 1.0;
        }
        pivots.clear();
        pivots.extend(self.qr.rank.checked_sub(1).map(|last| self.qr.t(last, last).abs()));
        if self.qr.rank > 0 { self.qr.t(0, 0).abs() } else { 0.0 }
    }

    /// Writes the values of B.
    pub(crate) fn write_B(&self, B: &mut Vec<f64>) {
        match &self.large {
            Some(large) => large.write_B(B),
            None => B.clone_from(&self.B),
        }
    }

    /// The distance of B from its earlier values; infinite if these belong to a B of another size.
    pub(crate) fn change(&self, before: &[f64]) -> f64 {
        match &self.large {
            _ if before.len() != self.n_values() => f64::INFINITY,
            Some(large) => large.change(before),
            None => self.B.iter().zip(before).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
        }
    }

    fn n_values(&self) -> usize {
        self.large.as_ref().map_or(self.B.len(), Large::n_values)
    }

    /// The smallest singular values of B among those within its rank: `count` of them, or, in a small system, all
    /// below `below` and in any case the smallest. Vectors from a nearby state speed up the iteration.
    pub(crate) fn smallest(&mut self, count: usize, below: f64, near: Option<&Smallest>) -> Smallest {
        if let Some(large) = &mut self.large {
            return large.smallest(count, near);
        }
        let (n, m, r) = (self.problem.n, self.problem.m, self.qr.rank);
        let values = svd(&self.B, m, n, Stop::Rank(r), self.settings.small_limit);
        let whole = Smallest { sigma: values.sigma, U: values.U, m, V: values.V, n };
        whole.chosen((0..r).filter(|&k| k + 1 == r || whole.sigma[k] < below))
    }

    /// UᵀBV, row after row.
    pub(crate) fn between(&self, values: &Smallest) -> Vec<f64> {
        if let Some(large) = &self.large {
            return large.between(values);
        }
        let count = values.len();
        let bilinear = |u: &[f64], w: &[f64]| -> f64 {
            u.iter().zip(self.B.chunks_exact(w.len().max(1))).map(|(u, row)| u * dot(row, w)).sum()
        };
        (0..count * count).map(|at| bilinear(values.u(at / count), values.v(at % count))).collect()
    }

    /// D R⁻ᵀ v: the coordinates as written of a right vector.
    pub(crate) fn to_coordinates(&self, v: &[f64]) -> Vec<f64> {
        if let Some(large) = &self.large {
            return large.to_coordinates(v);
        }
        let Problem { n, R, col_scale: D, .. } = &self.problem;
        let mut x = v.to_vec();
        small::solve_lower_transposed(R, *n, &mut x);
        x.iter_mut().zip(D).for_each(|(x, d)| *x *= d);
        x
    }

    /// The approximate length of a change of the coordinates in the metric of M.
    pub(crate) fn length(&self, change: &[f64]) -> f64 {
        let scale = |i: usize| match &self.large {
            Some(large) => large.mass_scale(i),
            None => 1.0 / self.problem.col_scale[i],
        };
        let scaled: Vec<f64> = change.iter().enumerate().map(|(i, x)| x * scale(i)).collect();
        norm(&scaled)
    }

    /// The share of each row of A in the left vectors.
    pub(crate) fn shares(&self, values: &Smallest, n_rows: usize) -> Vec<f64> {
        let mut share = vec![0.0; n_rows];
        for k in 0..values.len() {
            match &self.large {
                Some(large) => large.shares(values.u(k), &mut share),
                None => share.iter_mut().zip(values.u(k)).for_each(|(s, u)| *s = f64::max(*s, u.abs())),
            }
        }
        share
    }

    /// The residual of A x = g along the left vectors; x becomes the smallest vector that satisfies A x = g in all
    /// other directions.
    pub(crate) fn solve_without(&mut self, values: &Smallest, g: &[f64], x: &mut [f64]) -> f64 {
        if let Some(large) = &mut self.large {
            return large.solve_without(values, g, x);
        }
        let (n, m, r) = (self.problem.n, self.problem.m, self.qr.rank);
        let scaled: Vec<f64> = (0..m).map(|i| self.row_scale(i) * g[i]).collect();
        let along = (0..values.len()).map(|k| dot(values.u(k), &scaled).abs()).fold(0.0, f64::max);
        // x = V_r Σ_r⁻¹ U_rᵀ g
        let whole = svd(&self.B, m, n, Stop::Rank(r), self.settings.small_limit);
        let mut change = vec![0.0; n];
        for k in 0..r.saturating_sub(values.len()) {
            let s = dot(&whole.U[k * m..(k + 1) * m], &scaled) / whole.sigma[k];
            change.iter_mut().zip(&whole.V[k * n..(k + 1) * n]).for_each(|(x, v)| *x += s * v);
        }
        x.copy_from_slice(&self.to_coordinates(&change));
        along
    }
}
