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
    residual: Vec<f64>,
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
        let symbolic = factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        let factor = vec![0.0; symbolic.len_val()];
        Some(Proximal {
            pattern,
            symbolic,
            value: vec![0.0; n_stored],
            factor,
            residual: vec![0.0; m],
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
        let m = self.residual.len();
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
                let m = self.residual.len();
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
            dropped: if rank < self.residual.len() { relative(dropped) } else { 0.0 },
        };
    }

    /// x ← S⁺ y, from x = 0; returns the largest |y − S x| that is left.
    pub(crate) fn solve(&mut self, y: &[f64], x: &mut [f64], settings: &Settings) -> f64 {
        x.fill(0.0);
        let size = largest(y);
        let mut left = size;
        self.residual.copy_from_slice(y);
        for _ in 0..settings.proximal_iterations {
            if left <= 1e-15 * size {
                break;
            }
            self.solve_shifted();
            x.iter_mut().zip(&self.residual).for_each(|(x, dx)| *x += dx);
            // residual = y − S x, from the lower triangle
            self.residual.copy_from_slice(y);
            let (col_start, row) = (self.pattern.col_ptr(), self.pattern.row_idx());
            for j in 0..y.len() {
                let k = col_start[j];
                let mut sum = self.value[k] * x[j];
                for k in k + 1..col_start[j + 1] {
                    sum += self.value[k] * x[row[k]];
                    self.residual[row[k]] -= self.value[k] * x[j];
                }
                self.residual[j] -= sum;
            }
            let now = largest(&self.residual);
            // rounding is reached when an iteration no longer gains
            if !(now < 0.5 * left) {
                left = left.min(now);
                break;
            }
            left = now;
        }
        left
    }

    /// residual ← (S + µI)⁻¹ residual.
    fn solve_shifted(&mut self) {
        let m = self.residual.len();
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let rhs = MatMut::from_column_major_slice_mut(&mut self.residual, m, 1);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            rhs,
            Par::Seq,
            self.scratch.stack(need),
        );
    }
}
