//! Dense factorizations of any size: written out below a limit, by faer above it.

use super::Gap;
use super::{add_multiple, dot, norm, small};
use crate::limits;
use faer::{
    MatMut, MatRef, Par, Side,
    dyn_stack::{MemBuffer, MemStack, StackReq},
    linalg::{cholesky::llt, qr::col_pivoting, triangular_solve},
};

/// Work memory for faer, kept from call to call.
pub(crate) struct DenseScratch {
    buffer: MemBuffer,
    bytes: usize,
}

impl DenseScratch {
    pub(crate) fn new() -> DenseScratch {
        DenseScratch { buffer: MemBuffer::new(StackReq::EMPTY), bytes: 0 }
    }

    pub(crate) fn stack(&mut self, need: StackReq) -> &mut MemStack {
        let bytes = need.unaligned_bytes_required();
        if bytes > self.bytes {
            self.buffer = MemBuffer::new(need);
            self.bytes = bytes;
        }
        MemStack::new(&mut self.buffer)
    }
}

/// Cholesky: overwrites the lower triangle of M (n x n) with R, M = R Rᵀ; fails at a pivot not above `floor`.
pub(crate) fn cholesky(M: &mut [f64], n: usize, floor: f64, small_limit: usize, scratch: &mut DenseScratch) -> bool {
    if n <= small_limit {
        return small::cholesky(M, n, floor);
    }
    let stack = scratch.stack(llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    let matrix = MatMut::from_row_major_slice_mut(&mut M[..n * n], n, n);
    let done = llt::factor::cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default());
    done.is_ok() && (0..n).all(|i| M[i * n + i] * M[i * n + i] > floor)
}

/// Each of the k columns x (one after the other) ← R⁻¹ x.
pub(crate) fn solve_lower_columns(R: &[f64], n: usize, columns: &mut [f64], k: usize, small_limit: usize) {
    if n <= small_limit {
        for x in columns[..n * k].chunks_exact_mut(n.max(1)) {
            small::solve_lower(R, n, x);
        }
    } else {
        let R = MatRef::from_row_major_slice(&R[..n * n], n, n);
        let columns = MatMut::from_column_major_slice_mut(&mut columns[..n * k], n, k);
        triangular_solve::solve_lower_triangular_in_place(R, columns, Par::Seq);
    }
}

/// Stopping rule of a pivoted decomposition.
#[derive(Clone, Copy)]
pub(crate) enum Stop {
    /// Stop at the first pivot below this, relative to the first pivot.
    Tolerance(f64),
    /// Stop after this number of columns: the rank is known already.
    Rank(usize),
}

/// Householder QR with column pivoting, X Π = Q T, where X is stored by columns.
pub(crate) struct Qr {
    pub(crate) n_rows: usize,
    pub(crate) n_cols: usize,
    /// X by columns; after `factor`, T on and above the diagonal and the reflectors below it.
    pub(crate) columns: Vec<f64>,
    /// Column k of T is column perm[k] of X.
    pub(crate) perm: Vec<usize>,
    pub(crate) rank: usize,
    pub(crate) gap: Gap,
    tau: Vec<f64>,
    lengths: Vec<f64>,
    perm_inverse: Vec<usize>,
    scratch: DenseScratch,
}

impl Qr {
    pub(crate) fn new() -> Qr {
        Qr {
            n_rows: 0,
            n_cols: 0,
            columns: Vec::new(),
            perm: Vec::new(),
            rank: 0,
            gap: Gap::default(),
            tau: Vec::new(),
            lengths: Vec::new(),
            perm_inverse: Vec::new(),
            scratch: DenseScratch::new(),
        }
    }

    /// Makes room for an n_rows x n_cols matrix, whose columns the caller then fills.
    pub(crate) fn resize(&mut self, n_rows: usize, n_cols: usize) {
        (self.n_rows, self.n_cols) = (n_rows, n_cols);
        self.columns.resize(n_rows * n_cols, 0.0);
        self.tau.resize(n_rows.min(n_cols), 0.0);
        self.perm.resize(n_cols, 0);
        self.perm_inverse.resize(n_cols, 0);
        self.lengths.resize(2 * n_cols, 0.0);
    }

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.columns[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// Factors the columns and decides the rank.
    pub(crate) fn factor(&mut self, stop: Stop, small_limit: usize) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        let size = n_rows.min(n_cols);
        let (tolerance, max_rank) = match stop {
            Stop::Tolerance(tolerance) => (tolerance, size),
            Stop::Rank(rank) => (0.0, rank.min(size)),
        };
        let Qr { columns, tau, perm, perm_inverse, lengths, scratch, .. } = self;
        let (rank, left) = if n_rows <= small_limit || n_cols <= 2 {
            small::Columns { n_rows, n_cols, factor: columns, tau, perm, lengths }.factor(tolerance, max_rank)
        } else {
            let need = col_pivoting::factor::qr_in_place_scratch::<usize, f64>(
                n_rows,
                n_cols,
                1,
                Par::Seq,
                Default::default(),
            );
            let matrix = MatMut::from_column_major_slice_mut(columns, n_rows, n_cols);
            let coefficients = MatMut::from_row_major_slice_mut(tau, 1, size);
            col_pivoting::factor::qr_in_place(
                matrix,
                coefficients,
                perm,
                perm_inverse,
                Par::Seq,
                scratch.stack(need),
                Default::default(),
            );
            let pivot = |k: usize| columns[k * (n_rows + 1)].abs();
            let rank = (0..max_rank).find(|&k| !(pivot(k) > tolerance * pivot(0))).unwrap_or(max_rank);
            (rank, if rank < size { pivot(rank) } else { 0.0 })
        };
        self.rank = rank;
        let first = if size > 0 && rank > 0 { self.columns[0].abs() } else { 1.0 };
        self.gap = Gap {
            kept: if rank > 0 { self.columns[(rank - 1) * (n_rows + 1)].abs() / first } else { 1.0 },
            dropped: if rank < n_cols { left / first } else { 0.0 },
        };
    }

    /// Factors the first `rank` columns in their present order, which `perm` records.
    pub(crate) fn factor_in_order(&mut self, rank: usize) {
        let Qr { n_rows, n_cols, columns, tau, perm, lengths, .. } = self;
        let size = (*n_rows).min(*n_cols);
        let (n_rows, n_cols) = (*n_rows, *n_cols);
        small::Columns { n_rows, n_cols, factor: columns, tau, perm, lengths }.factor_in_order(rank);
        self.rank = rank.min(size);
        let pivot = |k: usize| self.columns[k * (n_rows + 1)].abs();
        let (low, high) = (0..self.rank).map(pivot).fold((f64::INFINITY, 0f64), |(l, h), x| (l.min(x), h.max(x)));
        self.gap = Gap { kept: if high > 0.0 { low / high } else { 1.0 }, dropped: 0.0 };
    }

    /// Factors `rank` columns, those of large weight first; the columns have length one.
    pub(crate) fn factor_by_weight(&mut self, rank: usize, weight: &[f64]) {
        let Qr { n_rows, n_cols, columns, tau, perm, lengths, .. } = self;
        let mut columns = small::Columns { n_rows: *n_rows, n_cols: *n_cols, factor: columns, tau, perm, lengths };
        self.rank = columns.factor_by_weight(rank, weight);
    }

    /// The entry T[k, j], k ≤ j.
    pub(crate) fn t(&self, k: usize, j: usize) -> f64 {
        self.columns[j * self.n_rows + k]
    }

    /// x ← Qᵀ x, by the reflectors of the first `rank` columns.
    pub(crate) fn apply_transposed(&self, x: &mut [f64]) {
        for k in 0..self.rank {
            self.apply_reflector(k, x);
        }
    }

    /// x ← Q x.
    pub(crate) fn apply(&self, x: &mut [f64]) {
        for k in (0..self.rank).rev() {
            self.apply_reflector(k, x);
        }
    }

    fn apply_reflector(&self, k: usize, x: &mut [f64]) {
        let tail = &self.columns[k * self.n_rows + k + 1..(k + 1) * self.n_rows];
        let s = (x[k] + dot(tail, &x[k + 1..self.n_rows])) / self.tau[k];
        x[k] -= s;
        add_multiple(&mut x[k + 1..self.n_rows], -s, tail);
    }

    /// z ← T₁⁻¹ z, T₁ the leading rank x rank triangle.
    pub(crate) fn solve_triangle(&self, z: &mut [f64]) {
        for k in (0..self.rank).rev() {
            let column = &self.columns[k * self.n_rows..k * self.n_rows + k + 1];
            z[k] /= column[k];
            let s = z[k];
            add_multiple(&mut z[..k], -s, &column[..k]);
        }
    }

    /// z ← T₁⁻ᵀ z.
    pub(crate) fn solve_triangle_transposed(&self, z: &mut [f64]) {
        for k in 0..self.rank {
            let column = &self.columns[k * self.n_rows..k * self.n_rows + k + 1];
            z[k] = (z[k] - dot(&column[..k], &z[..k])) / column[k];
        }
    }
}

/// A = U Σ Vᵀ truncated to its rank: σ decreasing, row k of `U` and of `V` the k-th singular vectors.
pub(crate) struct Svd {
    pub(crate) sigma: Vec<f64>,
    /// min(m, n) rows of length m.
    pub(crate) U: Vec<f64>,
    /// min(m, n) rows of length n.
    pub(crate) V: Vec<f64>,
    pub(crate) rank: usize,
    pub(crate) gap: Gap,
}

/// Singular values of A (m x n, row after row) by Jacobi rotations; faer above the limit.
pub(crate) fn svd(A: &[f64], m: usize, n: usize, stop: Stop, small_limit: usize) -> Svd {
    if m.max(n) > 2 * small_limit || m.min(n) > limits::ROTATED_SIZE {
        return faer_svd(A, m, n, stop);
    }
    // the taller of A and Aᵀ by columns: its columns are the rows of the wider one
    let (long, short) = (m.max(n), m.min(n));
    let mut columns = vec![0.0; long * short];
    if m >= n {
        for i in 0..m {
            for j in 0..n {
                columns[j * m + i] = A[i * n + j];
            }
        }
    } else {
        columns.copy_from_slice(&A[..m * n]);
    }
    let mut rotations = vec![0.0; short * short];
    small::jacobi_svd(&mut columns, long, short, &mut rotations);
    let lengths: Vec<f64> = columns.chunks_exact(long.max(1)).map(norm).collect();
    let mut order: Vec<usize> = (0..short).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let sigma: Vec<f64> = order.iter().map(|&k| lengths[k]).collect();
    let (mut tall, mut wide) = (Vec::with_capacity(long * short), Vec::with_capacity(short * short));
    for &k in &order {
        let scale = if lengths[k] > 0.0 { 1.0 / lengths[k] } else { 0.0 };
        tall.extend(columns[k * long..(k + 1) * long].iter().map(|x| x * scale));
        wide.extend_from_slice(&rotations[k * short..(k + 1) * short]);
    }
    let (U, V) = if m >= n { (tall, wide) } else { (wide, tall) };
    let (rank, gap) = decide(&sigma, stop);
    Svd { sigma, U, V, rank, gap }
}

/// Singular values of A (m x n, row after row) by faer. All zeros if the iteration fails, which does not happen for a
/// finite A.
pub(crate) fn faer_svd(A: &[f64], m: usize, n: usize, stop: Stop) -> Svd {
    let short = m.min(n);
    let mut found =
        Svd { sigma: vec![0.0; short], U: vec![0.0; short * m], V: vec![0.0; short * n], rank: 0, gap: Gap::default() };
    if short == 0 {
        return found;
    }
    if let Ok(svd) = MatRef::from_row_major_slice(&A[..m * n], m, n).thin_svd() {
        for k in 0..short {
            found.sigma[k] = svd.S()[k];
            for i in 0..m {
                found.U[k * m + i] = svd.U()[(i, k)];
            }
            for j in 0..n {
                found.V[k * n + j] = svd.V()[(j, k)];
            }
        }
    }
    (found.rank, found.gap) = decide(&found.sigma, stop);
    found
}

/// Rank and gap from decreasing sizes.
fn decide(sigma: &[f64], stop: Stop) -> (usize, Gap) {
    let first = sigma.first().copied().unwrap_or(0.0);
    let rank = match stop {
        Stop::Tolerance(tolerance) => sigma.iter().take_while(|&&s| s > tolerance * first).count(),
        Stop::Rank(rank) => rank.min(sigma.len()),
    };
    let relative = |k: usize| if first > 0.0 { sigma[k] / first } else { 0.0 };
    let gap = Gap {
        kept: if rank > 0 { relative(rank - 1) } else { 1.0 },
        dropped: if rank < sigma.len() { relative(rank) } else { 0.0 },
    };
    (rank, gap)
}

/// Eigenvalues, increasing, and eigenvectors (row k belongs to value k) of the symmetric S (n x n).
pub(crate) fn symmetric_eigen(S: &[f64], n: usize, small_limit: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; n * n];
    if n > 2 * small_limit {
        let mut values = vec![0.0; n];
        if let Ok(eigen) = MatRef::from_row_major_slice(&S[..n * n], n, n).self_adjoint_eigen(Side::Lower) {
            for k in 0..n {
                values[k] = eigen.S()[k];
                for i in 0..n {
                    vectors[k * n + i] = eigen.U()[(i, k)];
                }
            }
        }
        return (values, vectors);
    }
    let mut S = S[..n * n].to_vec();
    small::jacobi_eigen(&mut S, n, &mut vectors);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| S[i * (n + 1)].total_cmp(&S[j * (n + 1)]));
    let values = order.iter().map(|&k| S[k * (n + 1)]).collect();
    let sorted = order.iter().flat_map(|&k| vectors[k * n..(k + 1) * n].iter().copied()).collect();
    (values, sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(k: usize) -> f64 {
        (1.7 * k as f64 + 0.3 * (k as f64 * 0.37).sin() * k as f64).sin()
    }

    /// 5 of 8 columns are independent; both implementations find it and give the same |T|.
    #[test]
    fn qr_by_hand_and_by_faer_are_the_same() {
        let (n, m, r) = (9, 8, 5);
        let mut columns = vec![0.0; n * m];
        for j in 0..m {
            for i in 0..n {
                columns[j * n + i] = (0..r).map(|k| wave(i * r + k) * wave(1000 + k * m + j)).sum();
            }
        }
        let factored: Vec<Qr> = [0, 100]
            .iter()
            .map(|&limit| {
                let mut qr = Qr::new();
                qr.resize(n, m);
                qr.columns.copy_from_slice(&columns);
                qr.factor(Stop::Tolerance(1e-10), limit);
                qr
            })
            .collect();
        for qr in &factored {
            assert_eq!(qr.rank, r);
            assert!(qr.gap.dropped < 1e-14 && qr.gap.kept > 1e-4, "{:?}", qr.gap);
            // Q T = X Π
            for j in 0..m {
                let mut x = vec![0.0; n];
                for k in 0..r.min(j + 1) {
                    x[k] = qr.t(k, j);
                }
                qr.apply(&mut x);
                let p = qr.perm[j];
                for i in 0..n {
                    assert!((x[i] - columns[p * n + i]).abs() < 1e-13);
                }
            }
        }
        assert_eq!(factored[0].perm[..r], factored[1].perm[..r]);
    }

    #[test]
    fn singular_values_by_rotations_and_by_faer_are_the_same() {
        for (m, n) in [(7, 4), (4, 7), (5, 5), (1, 3), (0, 3)] {
            let A: Vec<f64> = (0..m * n).map(wave).collect();
            let (one, other) = (svd(&A, m, n, Stop::Tolerance(1e-10), 100), faer_svd(&A, m, n, Stop::Tolerance(1e-10)));
            assert_eq!(one.rank, other.rank);
            for k in 0..m.min(n) {
                assert!((one.sigma[k] - other.sigma[k]).abs() < 1e-14 * 10.0);
            }
            for i in 0..m {
                for j in 0..n {
                    let sum: f64 = (0..m.min(n)).map(|k| one.U[k * m + i] * one.sigma[k] * one.V[k * n + j]).sum();
                    assert!((sum - A[i * n + j]).abs() < 1e-14 * 10.0);
                }
            }
        }
    }

    #[test]
    fn eigenvectors_give_the_matrix_back() {
        let n = 6;
        let mut S = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                S[i * n + j] = wave(i.min(j) * n + i.max(j));
            }
        }
        for limit in [0, 100] {
            let (values, vectors) = symmetric_eigen(&S, n, limit);
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| values[k] * vectors[k * n + i] * vectors[k * n + j]).sum();
                    assert!((sum - S[i * n + j]).abs() < 1e-13);
                }
            }
        }
    }
}
