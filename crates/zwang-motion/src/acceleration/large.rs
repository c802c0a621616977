//! The generalized inverse for large systems whose M is block diagonal with small blocks: particles, bodies.

mod multipliers;
mod near;

use multipliers::MultiplierShortener;

use super::{
    RouteSolution, problem::check_finite, repeats::Repeats, scaled_rows::ScaledRows, shortest::check_multipliers,
};
use crate::{
    Gap, Given, Matrix, MotionError, Settings,
    acceleration::dependence::{contradiction, dependence},
    factor::{
        blocks::Blocks,
        largest, norm, power_of_two,
        sparse::{Pivots, Sparse},
    },
    limits, tolerance,
};

/// q̈ = a + M⁻¹Aᵀλ with λ = (A M⁻¹Aᵀ)⁺ e, all matrices sparse; the cost grows with the number of nonzeros of the
/// factor.
///
/// Rows that are multiples of others are removed first. If the rest are independent, S = A M⁻¹Aᵀ has a factor;
/// otherwise S + µI has one, and an iteration removes the effect of µ. The solution is then corrected until A q̈ = b
/// is satisfied to rounding:
///
/// $$ \ddot q \leftarrow \ddot q + M^{-1}A^T\,\delta, \qquad (S + \mu I)\,\delta = b - A\ddot q $$
///
/// The residual is that of A itself, so the correction recovers the digits that S loses by squaring. Null vectors of S
/// contribute no force, so the limit is that of the generalized inverse for any rank.
pub(crate) struct Large {
    settings: Settings,
    blocks: Blocks,
    repeats: Repeats,
    plan: Option<Plan>,
    pattern: (Vec<usize>, Vec<usize>),
    /// True if the sparse route does not apply to these patterns.
    declined: bool,
    /// The factors that multiply the rows of B; all ones while the rows are independent.
    scale: Vec<f64>,
    /// The reciprocal frozen lengths of the rows; empty if none are frozen.
    held: Vec<f64>,
    held_rank: Option<usize>,
    /// µ, zero while the rows are independent.
    mu: f64,
    /// True if all rows share one scale; `None` before that is decided.
    alike: Option<bool>,
    pivots: Pivots,
    /// Indices of dependent rows, and the rows that are therefore omitted while the rank is frozen.
    dependent: Vec<usize>,
    left_out: Vec<usize>,
    /// Finds the shortest λ if rows are omitted.
    shortener: Option<Box<MultiplierShortener>>,
    /// The rank that elimination of A itself, not of S, has confirmed.
    confirmed: Option<usize>,
    work: Work,
    /// s² of the rows that are added to singular blocks of M.
    square: Vec<f64>,
    row_of: Vec<Vec<usize>>,
    /// True if the last solve satisfied every row to rounding, redundant rows included.
    met: bool,
}

/// The vectors of one solve.
#[derive(Default)]
struct Work {
    /// R⁻¹Q + Bᵀλ, q̈, |q̈| + |a| and a change of the first, in the internal order of coordinates.
    scaled: Vec<f64>,
    x: Vec<f64>,
    reach: Vec<f64>,
    change: Vec<f64>,
    /// The right-hand side of each row, A q̈, the sizes that enter the row, and its residual.
    asked: Vec<f64>,
    product: Vec<f64>,
    size: Vec<f64>,
    left: Vec<f64>,
    lambda: Vec<f64>,
    /// Q with the forces added to it.
    force: Vec<f64>,
}

impl Work {
    /// Vectors for n coordinates and m rows.
    fn resize(&mut self, n: usize, m: usize) {
        for x in [&mut self.scaled, &mut self.x, &mut self.reach, &mut self.change] {
            x.resize(n, 0.0);
        }
        for x in [&mut self.asked, &mut self.product, &mut self.size, &mut self.left, &mut self.lambda] {
            x.resize(m, 0.0);
        }
    }
}

/// The structure that follows from the patterns of M and A and is computed once.
struct Plan {
    rows: ScaledRows,
    sparse: Sparse,
}

impl Plan {
    /// True if the sparse route takes less work than dense algebra for n coordinates and m rows.
    fn pays(&self, n: usize, m: usize, blocks: &Blocks, settings: &Settings) -> bool {
        /// The number of dense operations in the time of one sparse operation: written by hand, and by faer.
        const BY_HAND: f64 = 1.2;
        const BY_FAER: f64 = 3.0;
        if settings.sparse_limit == 0 {
            return true;
        }
        let (n, m) = (n as f64, m as f64);
        // Cholesky, R⁻¹Aᵀ, and its QR
        let dense = n * n * n / 3.0 + m * n * n + 2.0 * m * m.min(n) * n;
        let speed = if n > settings.small_limit as f64 { BY_FAER } else { BY_HAND };
        let masses: usize = blocks.start.windows(2).map(|w| (w[1] - w[0]).pow(3) / 3).sum();
        let sparse = masses + self.rows.operations(blocks) + self.sparse.operations();
        (sparse as f64) < dense / speed
    }
}

impl Large {
    pub(crate) fn new(settings: &Settings) -> Large {
        Large {
            settings: settings.clone(),
            blocks: Blocks::new(),
            repeats: Repeats::default(),
            plan: None,
            pattern: (Vec::new(), Vec::new()),
            declined: false,
            scale: Vec::new(),
            held: Vec::new(),
            held_rank: None,
            mu: 0.0,
            alike: None,
            pivots: Pivots::none(),
            dependent: Vec::new(),
            left_out: Vec::new(),
            shortener: None,
            confirmed: None,
            work: Work::default(),
            square: Vec::new(),
            row_of: Vec::new(),
            met: false,
        }
    }

    /// Computes the acceleration; false if the system does not qualify and needs the dense route.
    pub(crate) fn solve(
        &mut self,
        given: &Given,
        extra_force: &[f64],
        wants_lambda: bool,
        solution: &mut RouteSolution,
    ) -> Result<bool, MotionError> {
        let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = given;
        if !self.factor(M, A)? {
            check_finite(given, extra_force)?;
            return Ok(false);
        }
        if Q.len().max(b.len()) <= limits::DOUBTFUL_COORDINATES && self.is_doubtful(A) {
            check_finite(given, extra_force)?;
            return Ok(false);
        }
        solution.qddot.resize(Q.len(), 0.0);
        self.solve_for(A, Q, extra_force, b, &mut solution.qddot);
        (solution.rank, solution.gap) = (self.rank(), self.gap());
        let finite = solution.qddot.iter().all(|x| x.is_finite());
        // if every row is satisfied to rounding, all input was finite
        if !(self.met && finite) {
            check_finite(given, extra_force)?;
            if !finite {
                return Err(MotionError::NotFinite { what: "the acceleration".into() });
            }
            if !self.meets_rows(given, &solution.qddot) {
                return self.explain(given, &solution.qddot);
            }
        }
        if wants_lambda {
            solution.lambda.resize(b.len(), 0.0);
            self.multipliers(A, &mut solution.lambda)?;
            check_multipliers(&solution.lambda)?;
        }
        Ok(true)
    }

    /// Factors M by blocks and S = B Bᵀ; false if the system does not qualify.
    pub(crate) fn factor(&mut self, M: &Matrix, A: &Matrix) -> Result<bool, MotionError> {
        let done = self.factor_both(M, A)?;
        self.hold_lengths();
        Ok(done)
    }

    fn factor_both(&mut self, M: &Matrix, A: &Matrix) -> Result<bool, MotionError> {
        let mut is_new = self.blocks.find(M);
        if self.blocks.largest() > limits::BLOCK_SIZE {
            return Ok(false);
        }
        is_new |= self.pattern.0 != A.row_start || self.pattern.1 != A.col;
        if !is_new && self.declined {
            return Ok(false);
        }
        is_new |= self.plan.is_none();
        if is_new || !self.repeats.update(A) {
            self.make_plan(A, is_new)?;
        }
        let Some(plan) = &mut self.plan else { return Ok(false) };
        // rows within a block, such as |quaternion|² = 1, may make a singular block of M definite
        self.square.clear();
        if !self.blocks.factor(M, self.settings.mass_preferred, &self.settings) {
            if let Some((i, j)) = M.not_finite() {
                let what = format!("the mass matrix at row {i}, column {j}");
                return Err(MotionError::NotFinite { what });
            }
            if self.row_of.is_empty() {
                self.row_of = rows_within(A, &self.blocks);
            }
            self.square.resize(A.n_rows, 0.0);
            if !self.blocks.factor_with_rows(M, A, &self.row_of, &mut self.square, &self.settings) {
                return Ok(false);
            }
        }
        plan.rows.fill(A, &self.blocks);
        // dense blocks do not reveal dependent rows, so these are not searched again
        let known = self.mu > 0.0 && !plan.sparse.counts();
        if !known {
            plan.rows.fill_S(&mut plan.sparse);
            let pivots = plan.sparse.factor(0.0, tolerance::CLEAR_PIVOT);
            if let Some(pivots) = pivots.filter(|pivots| pivots.rank == self.repeats.kept.len()) {
                (self.pivots, self.mu) = (pivots, 0.0);
                self.scale.fill(1.0);
                return Ok(true);
            }
            self.find_dependent(0.0);
            return Ok(self.factor_dependent(pivots));
        }
        Ok(self.factor_dependent(None))
    }

    /// Finds the patterns and the rows that are multiples of others.
    fn make_plan(&mut self, A: &Matrix, is_new: bool) -> Result<(), MotionError> {
        if let Some((i, j)) = A.not_finite() {
            return Err(MotionError::NotFinite { what: format!("constraint row {i} at coordinate {j}") });
        }
        self.repeats.find(A, &self.left_out, is_new, &self.settings);
        self.plan = None;
        self.row_of.clear();
        (self.mu, self.alike, self.confirmed) = (0.0, None, None);
        self.pattern.0.clone_from(&A.row_start);
        self.pattern.1.clone_from(&A.col);
        let (n, m) = (A.n_cols, self.repeats.kept.len());
        self.work.resize(n, m);
        self.scale.clear();
        self.scale.resize(m, 1.0);
        self.held.clear();
        if let Some((rows, sparse, order)) = ScaledRows::new(A, &self.blocks, &self.repeats.kept) {
            self.repeats.reorder(&order);
            self.plan = Some(Plan { rows, sparse }).filter(|plan| plan.pays(n, A.n_rows, &self.blocks, &self.settings));
        }
        self.declined = self.plan.is_none();
        Ok(())
    }

    /// Factors S + µI with the rows of B scaled to the same length; `pivots` are those of S if known.
    fn factor_dependent(&mut self, pivots: Option<Pivots>) -> bool {
        let Some(plan) = &mut self.plan else { return false };
        plan.rows.lengths(&mut self.scale);
        let alike = equilibrate(&mut self.scale, &self.repeats, self.alike);
        self.alike = Some(alike);
        plan.rows.scale_rows(&self.scale);
        plan.rows.fill_S(&mut plan.sparse);
        self.mu = self.settings.proximal;
        // dependent rows leave a pivot of µ(1 + |c|²) with c their coefficients; no row is omitted
        let floor = if plan.sparse.counts() { 0.0 } else { 1e-2 * self.mu.sqrt() };
        let Some(shifted) = plan.sparse.factor(self.mu, floor) else { return false };
        if pivots.is_none() {
            self.find_dependent(floor);
        }
        self.pivots = pivots.unwrap_or(shifted);
        if pivots.is_none() && shifted.rank == self.repeats.kept.len() {
            // the rows seem independent again: the next factorization checks
            self.mu = f64::MIN_POSITIVE;
        }
        true
    }

    /// A maximal set of independent rows, if all omitted rows are multiples of others; otherwise `None`.
    pub(crate) fn independent_rows(&self) -> Option<Vec<usize>> {
        let mut kept = self.repeats.kept.clone();
        kept.sort_unstable();
        (self.pivots.rank == kept.len()).then_some(kept)
    }

    /// The factors that scale the remaining rows to a length of about one.
    pub(crate) fn row_scales(&self) -> Vec<f64> {
        let mut scales = vec![1.0; self.pattern.0.len().saturating_sub(1)];
        let Some(plan) = &self.plan else { return scales };
        let mut lengths = vec![1.0; self.repeats.kept.len()];
        plan.rows.lengths(&mut lengths);
        for (k, &i) in self.repeats.kept.iter().enumerate() {
            scales[i] = self.scale[k] / power_of_two(lengths[k]);
        }
        scales
    }

    /// The rows whose pivots are not above the floor.
    fn find_dependent(&mut self, floor: f64) {
        let Some(Plan { sparse, .. }) = &self.plan else { return };
        self.dependent.clear();
        sparse.each_pivot(|k, pivot| {
            if !(pivot > floor * sparse.diagonal[k]) {
                self.dependent.push(k);
            }
        });
    }

    /// Rank of A.
    pub(crate) fn rank(&self) -> usize {
        self.pivots.rank
    }

    /// True if rounding may have decided the rank. A small pivot of S is uncertain by rounding over the smallest pivot
    /// before it, and a remainder that S treats as zero may be 1e-8 of a row. Elimination therefore checks dependent
    /// rows once.
    fn is_doubtful(&mut self, A: &Matrix) -> bool {
        let tolerance = self.settings.rank_tolerance;
        if self.pivots.kept < f64::max(tolerance::CERTAIN_PIVOT, 100.0 * tolerance * tolerance) {
            return true;
        }
        if self.rank() < self.repeats.kept.len() && self.confirmed != Some(self.rank()) {
            self.confirmed = dependence(A, &self.settings).ok().map(|found| found.rank);
        }
        self.rank() < self.repeats.kept.len() && self.confirmed != Some(self.rank())
    }

    /// The clarity of the rank decision; pivots of S are squares of those of B.
    pub(crate) fn gap(&self) -> Gap {
        let Pivots { rank, kept, dropped } = self.pivots;
        Gap { kept: if rank > 0 { kept.sqrt().min(1.0) } else { 1.0 }, dropped: dropped.sqrt().min(1.0) }
    }

    /// x = a + M⁻¹Aᵀλ with λ = S⁺(g − A a) and a = M⁻¹(f + extra); an empty f stands for zero.
    pub(crate) fn solve_for(&mut self, A: &Matrix, f: &[f64], extra: &[f64], g: &[f64], x: &mut [f64]) {
        self.load(A, f, extra, g);
        let Some(plan) = &mut self.plan else { return };
        let Plan { rows, sparse } = plan;
        // the right-hand side of each row, and the residual of a
        for (asked, &i) in self.work.asked.iter_mut().zip(&self.repeats.kept) {
            *asked = g[i];
        }
        self.repeats.merge(g, &mut self.work.asked);
        for k in 0..self.work.asked.len() {
            self.work.left[k] = self.scale[k] * self.work.asked[k] - rows.times(k, &self.work.scaled);
        }
        let scaled = &mut self.work.scaled;
        sparse.solve(&mut self.work.left, |k, lambda| rows.add(k, lambda, scaled));
        self.work.lambda.copy_from_slice(&self.work.left);
        rows.unload(&self.blocks, &self.work.scaled, &mut self.work.x);
        self.work.reach.iter_mut().zip(&self.work.x).for_each(|(reach, x)| *reach += x.abs());
        self.correct(A);
        // omitted rows are not checked here
        self.met = self.met && self.left_out.is_empty() && self.repeats_are_met(g);
        let Some(Plan { rows, .. }) = &self.plan else { return };
        for (&i, value) in rows.coordinate.iter().zip(&self.work.x) {
            x[i as usize] = *value;
        }
    }

    /// `scaled` = R⁻¹(f + extra), and `reach` = |a|.
    fn load(&mut self, A: &Matrix, f: &[f64], extra: &[f64], g: &[f64]) {
        let Some(Plan { rows, .. }) = &mut self.plan else { return };
        let Large { blocks, square, work: Work { force, scaled, x, reach, .. }, .. } = self;
        if f.is_empty() && extra.is_empty() && square.is_empty() {
            scaled.fill(0.0);
            reach.fill(0.0);
            return;
        }
        if extra.is_empty() && square.is_empty() {
            rows.load(blocks, f, scaled);
        } else {
            force.clear();
            force.resize(scaled.len(), 0.0);
            for part in [f, extra] {
                force.iter_mut().zip(part).for_each(|(x, part)| *x += part);
            }
            // f gains s²Aᵀg as M has gained s²AᵀA
            for i in (0..square.len()).filter(|&i| square[i] != 0.0) {
                let (col, value) = A.row(i);
                col.iter().zip(value).for_each(|(&j, x)| force[j] += square[i] * x * g[i]);
            }
            rows.load(blocks, force, scaled);
        }
        rows.unload(blocks, scaled, x);
        reach.iter_mut().zip(x).for_each(|(reach, a)| *reach = a.abs());
    }

    /// Corrects x until A x = g holds to rounding or the residual stops decreasing.
    fn correct(&mut self, A: &Matrix) {
        let most = if self.mu > 0.0 { self.settings.proximal_iterations } else { limits::CORRECTIONS };
        let (mut last, mut last_move) = (f64::INFINITY, f64::INFINITY);
        for round in 0.. {
            let off = self.residual(A);
            self.met = off == 0.0;
            if self.met || round == most {
                return;
            }
            let Some(Plan { rows, sparse }) = &mut self.plan else { return };
            let change = &mut self.work.change;
            change.fill(0.0);
            sparse.solve(&mut self.work.left, |k, lambda| rows.add(k, lambda, change));
            // conflicting rows are never satisfied, but x converges
            let moved = largest(&self.work.change) / largest(&self.work.scaled);
            let gains =
                off < 0.5 * last || (self.mu > 0.0 && moved > tolerance::ROW_ROUNDING && moved < 0.5 * last_move);
            if !gains {
                return;
            }
            (last, last_move) = (off, moved);
            self.work.scaled.iter_mut().zip(&self.work.change).for_each(|(x, change)| *x += change);
            self.work.lambda.iter_mut().zip(&self.work.left).for_each(|(x, change)| *x += change);
            rows.unload(&self.blocks, &self.work.scaled, &mut self.work.x);
        }
    }

    /// `left` = the scaled residual of each row; returns the largest residual relative to the size of its row, zero if
    /// all rows are satisfied to rounding.
    fn residual(&mut self, A: &Matrix) -> f64 {
        let Some(Plan { rows, .. }) = &self.plan else { return 0.0 };
        let mut off = 0.0;
        for k in 0..self.work.asked.len() {
            let (sum, size) = rows.as_written(k, A, &self.work.x, &self.work.reach);
            let asked = self.work.asked[k];
            let (left, size) = (asked - sum, size + asked.abs());
            self.work.left[k] = self.scale[k] * left;
            (self.work.product[k], self.work.size[k]) = (sum, size);
            // a non-finite row is never satisfied
            if !(left.abs() <= tolerance::ROW_ROUNDING * size && size < f64::INFINITY) {
                off = f64::max(off, left.abs() / size).max(f64::MIN_POSITIVE);
            }
        }
        off
    }

    /// True if the rows removed as multiples are satisfied to rounding too.
    fn repeats_are_met(&self, g: &[f64]) -> bool {
        self.repeats.iter().all(|(row, of, factor)| {
            let left = g[row] - factor * self.work.product[of];
            left.abs() <= tolerance::ROW_ROUNDING * (g[row].abs() + factor.abs() * self.work.size[of])
        })
    }

    /// x ← M⁻¹ x.
    pub(crate) fn solve_mass(&mut self, x: &mut [f64]) {
        self.blocks.solve(x);
    }

    /// True if the last acceleration satisfies every row, relative to the sizes that enter it.
    pub(crate) fn meets_rows(&self, given: &Given, qddot: &[f64]) -> bool {
        let (A, b) = (&given.constraint_matrix, &given.constraint_rhs);
        let Settings { contradiction_tolerance, contradiction_floor, .. } = self.settings;
        let Some(Plan { rows, .. }) = &self.plan else { return true };
        if contradiction_tolerance == f64::INFINITY || self.met {
            return true;
        }
        let (whole, moved) = (largest(&self.work.reach), norm(&self.work.scaled));
        (0..b.len()).all(|i| {
            let (col, value) = A.row(i);
            let (mut sum, mut size, mut top, mut length) = (0.0, b[i].abs(), 0f64, 0f64);
            for (&j, &x) in col.iter().zip(value) {
                sum += x * qddot[j];
                size += x.abs() * self.work.reach[rows.position[j] as usize];
                top = top.max(x.abs());
                length = length.max(x.abs() * self.blocks.unit_mass_scale(j));
            }
            if top == 0.0 {
                (size, top) = (whole, 1.0);
            }
            // what the rounding of all accelerations together leaves in the row
            let rounding = contradiction_floor * length * moved;
            (b[i] - sum).abs() <= contradiction_tolerance * size + rounding + contradiction_floor * top
        })
    }

    /// Explains a violated row: either rows are in conflict, or they are too nearly dependent for S, which squares.
    fn explain(&self, given: &Given, qddot: &[f64]) -> Result<bool, MotionError> {
        if given.constraint_rhs.len().max(qddot.len()) <= limits::DOUBTFUL_COORDINATES {
            return Ok(false);
        }
        let error = contradiction(given, qddot, &self.settings);
        let MotionError::Contradiction { certificate, gap, residual } = &error else { return Err(error) };
        let b = &given.constraint_rhs;
        let size: f64 = certificate.iter().zip(b).map(|(y, b)| (y * b).abs()).sum();
        let few = certificate.iter().filter(|y| **y != 0.0).count() <= given.constraint_matrix.n_rows / 2;
        if few && gap.abs() > self.settings.contradiction_tolerance * size {
            return Err(error);
        }
        if b.len().max(qddot.len()) <= limits::DENSE_COORDINATES {
            return Ok(false);
        }
        Err(MotionError::NotConverged { residual: norm(residual) })
    }
}

/// Turns the lengths of the rows into their scales. True if all lengths are alike: then one common scale serves, and λ
/// is already the shortest. The decision changes only if lengths drift far apart, because the scales must be smooth
/// functions of the state.
fn equilibrate(scale: &mut [f64], repeats: &Repeats, before: Option<bool>) -> bool {
    /// Lengths within this factor get a common scale, and keep it while they are within its square.
    const ALIKE_LENGTHS: f64 = 8.0;
    let (mut low, mut high) = (f64::INFINITY, 0f64);
    for (k, length) in scale.iter().enumerate().filter(|(_, length)| **length > 0.0) {
        // a row that represents several multiples has their combined length
        let length = repeats.square(k).sqrt() * length;
        (low, high) = (low.min(length), high.max(length));
    }
    let alike = match before {
        None => high <= ALIKE_LENGTHS * low,
        Some(alike) => alike && high <= ALIKE_LENGTHS * ALIKE_LENGTHS * low,
    };
    for (k, scale) in scale.iter_mut().enumerate() {
        *scale = match alike {
            _ if *scale == 0.0 => 1.0,
            true => repeats.square(k).sqrt() / high,
            false => repeats.copies(k).sqrt() / *scale,
        };
    }
    alike
}

/// For each block of M, the rows of A that involve no other block.
fn rows_within(A: &Matrix, blocks: &Blocks) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); blocks.start.len() - 1];
    for i in 0..A.n_rows {
        let mut touched = A.row(i).0.iter().map(|&j| blocks.place[j].0);
        if let Some(first) = touched.next()
            && touched.all(|block| block == first)
        {
            rows[first].push(i);
        }
    }
    rows
}
