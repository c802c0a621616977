//! Sparse positive semidefinite systems S x = y of any rank, by a proximal iteration.

use super::{dense::Scratch, largest};
use crate::{Gap, Settings};
use faer::{
    Conj, MatMut, Par, Side,
    linalg::cholesky::llt::factor::LltRegularization,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::cholesky::{
            CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
            factorize_symbolic_cholesky, supernodal::SupernodalLltRef,
        },
    },
};

/// S with a diagonal of about one, or of zero where a row is empty; pattern fixed, values refilled.
///
/// The factor of S + µI is computed once per S; then x ← x + (S + µI)⁻¹(y − S x) converges to S⁺y, because the
/// null space of S takes no part.
pub(crate) struct Proximal {
    /// Lower triangle by columns, diagonal first.
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicCholesky<usize>,
    pub(crate) value: Vec<f64>,
    factor: Vec<f64>,
    work: Vec<f64>,
    range: Vec<f64>,
    spare: Vec<f64>,
    scratch: Scratch,
    pub(crate) rank: usize,
    pub(crate) gap: Gap,
}

impl Proximal {
    /// Symbolic analysis of the lower triangle given by columns, rows increasing, the diagonal included. None if memory
    /// or the index type do not suffice.
    pub(crate) fn new(m: usize, col_start: Vec<usize>, row: Vec<usize>) -> Option<Proximal> {
        let n_stored = row.len();
        let pattern = SymbolicSparseColMat::new_checked(m, m, col_start, None, row);
        let params = CholeskySymbolicParams::default();
        let symbolic =
            factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        let factor = vec![0.0; symbolic.len_val()];
        Some(Proximal {
            pattern,
            symbolic,
            value: vec![0.0; n_stored],
            factor,
            work: vec![0.0; m],
            range: Vec::new(),
            spare: Vec::new(),
            scratch: Scratch::new(),
            rank: 0,
            gap: Gap::default(),
        })
    }

    /// Where the diagonal entry of column j lies in `value`.
    pub(crate) fn diagonal(&self, j: usize) -> usize {
        self.pattern.col_ptr()[j]
    }

    /// Factors S + µI and counts the rank: a dependent row leaves a pivot of the order of µ.
    pub(crate) fn factor(&mut self, settings: &Settings) -> bool {
        let m = self.work.len();
        let mu = settings.proximal;
        for j in 0..m {
            let k = self.diagonal(j);
            self.value[k] += mu;
        }
        let need = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let S = SparseColMatRef::new(self.pattern.as_ref(), &self.value);
        let done = self
            .symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                S,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                self.scratch.stack(need),
                Default::default(),
            )
            .is_ok();
        for j in 0..m {
            let k = self.diagonal(j);
            self.value[k] -= mu;
        }
        if done {
            self.count_rank(mu);
        }
        done
    }

    /// Pivots above √µ·10⁻² are kept; dependent rows leave µ(1 + |c|²) with c their coefficients, far below.
    fn count_rank(&mut self, mu: f64) {
        let threshold = 1e-2 * mu.sqrt();
        let (mut rank, mut first, mut kept, mut dropped) = (0, 0f64, f64::INFINITY, 0f64);
        let mut see = |root: f64| {
            let pivot = root * root;
            first = first.max(pivot);
            if pivot > threshold {
                rank += 1;
                kept = kept.min(pivot);
            } else {
                dropped = dropped.max(pivot);
            }
        };
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(simplicial) => {
                let m = self.work.len();
                simplicial.col_ptr()[..m].iter().for_each(|&k| see(self.factor[k]));
            }
            SymbolicCholeskyRaw::Supernodal(supernodal) => {
                let factor = SupernodalLltRef::new(supernodal, &self.factor);
                for s in 0..supernodal.n_supernodes() {
                    let block = factor.supernode(s).val();
                    (0..block.ncols()).for_each(|j| see(block[(j, j)]));
                }
            }
        }
        self.rank = rank;
        // pivots of S are squares of those of B
        let relative = |x: f64| if first > 0.0 { (x / first).sqrt() } else { 0.0 };
        self.gap = Gap {
            kept: if rank > 0 { relative(kept) } else { 1.0 },
            dropped: if rank < self.work.len() { relative(dropped) } else { 0.0 },
        };
    }

    /// x ← S⁺ y, from x = 0; returns the largest |y − S x| that is left.
    pub(crate) fn solve(&mut self, y: &[f64], x: &mut [f64], settings: &Settings) -> f64 {
        x.fill(0.0);
        let size = largest(y);
        let mut left = size;
        self.work.copy_from_slice(y);
        for _ in 0..settings.proximal_iterations {
            if left <= 1e-15 * size {
                break;
            }
            self.solve_shifted();
            x.iter_mut().zip(&self.work).for_each(|(x, dx)| *x += dx);
            self.product(x);
            self.work.iter_mut().zip(y).for_each(|(r, y)| *r = y - *r);
            let now = largest(&self.work);
            // rounding is reached when an iteration no longer gains
            if !(now < 0.5 * left) {
                left = left.min(now);
                break;
            }
            left = now;
        }
        left
    }

    /// x ← S S⁺ x: takes out of x what lies in the null space of S, where rounding of y has been divided by µ.
    pub(crate) fn project(&mut self, x: &mut [f64]) {
        /// Each round gains the ratio of µ to the smallest eigenvalue that counts: two suffice, except in very long chains.
        const ROUNDS: usize = 12;
        let m = x.len();
        self.range.clear();
        self.range.resize(m, 0.0);
        for _ in 0..ROUNDS {
            // range += S (S + µI)⁻¹ (x − range)
            (0..m).for_each(|i| self.work[i] = x[i] - self.range[i]);
            self.solve_shifted();
            let step = std::mem::take(&mut self.work);
            let mut range = std::mem::take(&mut self.range);
            self.work = std::mem::take(&mut self.spare);
            self.work.resize(m, 0.0);
            self.product(&step);
            let change = largest(&self.work);
            range.iter_mut().zip(&self.work).for_each(|(r, w)| *r += w);
            // every round also adds a little rounding, so it is the last one that gains
            let done = change <= 1e-12 * largest(&range);
            (self.range, self.spare) = (range, step);
            if done {
                break;
            }
        }
        x.copy_from_slice(&self.range);
    }

    /// work = S x, from the lower triangle.
    fn product(&mut self, x: &[f64]) {
        let Proximal { pattern, value, work, .. } = self;
        work.fill(0.0);
        let (col_start, row) = (pattern.col_ptr(), pattern.row_idx());
        for j in 0..x.len() {
            let k = col_start[j];
            let mut sum = value[k] * x[j];
            for k in k + 1..col_start[j + 1] {
                sum += value[k] * x[row[k]];
                work[row[k]] += value[k] * x[j];
            }
            work[j] += sum;
        }
    }

    /// work ← (S + µI)⁻¹ work.
    fn solve_shifted(&mut self) {
        let m = self.work.len();
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let rhs = MatMut::from_column_major_slice_mut(&mut self.work, m, 1);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            rhs,
            Par::Seq,
            self.scratch.stack(need),
        );
    }
}
