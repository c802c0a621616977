//! Dense factorizations written out, for a few coordinates.

use super::{add_multiple, dot};
use crate::tolerance;

/// Cholesky: overwrites the lower triangle of M (n x n) with R, M = R Rᵀ; fails at the first pivot not above `floor`.
pub(crate) fn cholesky(M: &mut [f64], n: usize, floor: f64) -> bool {
    for i in 0..n {
        let (above, row) = M.split_at_mut(i * n);
        for j in 0..i {
            let rj = &above[j * n..j * n + j + 1];
            row[j] = (row[j] - dot(&row[..j], rj)) / rj[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        // a NaN fails too
        if !(pivot > floor) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// x ← R⁻¹ x, R lower triangular, row after row.
pub(crate) fn solve_lower(R: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let row = &R[i * n..i * n + i + 1];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

/// x ← R⁻ᵀ x, R lower triangular, row after row.
pub(crate) fn solve_lower_transposed(R: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        let row = &R[i * n..i * n + i + 1];
        x[i] /= row[i];
        let s = x[i];
        add_multiple(&mut x[..i], -s, &row[..i]);
    }
}

/// The number of pivots above `floor` that Cholesky with diagonal pivoting finds in M (n x n, unit diagonal,
/// overwritten), and the largest entry of the remaining Schur complement. For a positive semidefinite M that entry is
/// of the order of `floor`.
pub(crate) fn semidefinite_rank(M: &mut [f64], n: usize, floor: f64) -> (usize, f64) {
    // a block of at most 16 coordinates does not allocate
    let (mut few, mut many) = ([0; 16], Vec::new());
    let order = match few.get_mut(..n) {
        Some(few) => few,
        None => {
            many.resize(n, 0);
            &mut many[..]
        }
    };
    (0..n).for_each(|i| order[i] = i);
    for k in 0..n {
        let Some(p) = (k..n).max_by(|&i, &j| M[order[i] * (n + 1)].total_cmp(&M[order[j] * (n + 1)])) else { break };
        order.swap(k, p);
        let p = order[k];
        if M[p * (n + 1)] <= floor {
            let rest = &order[k..];
            let entries = rest.iter().flat_map(|&i| rest.iter().map(move |&j| (i, j)));
            return (k, entries.fold(0.0, |top: f64, (i, j)| top.max(M[i * n + j].abs())));
        }
        let pivot = M[p * (n + 1)];
        for &i in &order[k + 1..] {
            let s = M[i * n + p] / pivot;
            for &j in &order[k + 1..] {
                M[i * n + j] -= s * M[p * n + j];
            }
        }
    }
    (n, 0.0)
}

/// A matrix stored by columns, under Householder QR with column pivoting in place.
///
/// Reflector k is I − v vᵀ/τ with v = (1, below the diagonal of column k).
pub(crate) struct Columns<'c> {
    pub(crate) n_rows: usize,
    pub(crate) n_cols: usize,
    pub(crate) factor: &'c mut [f64],
    pub(crate) tau: &'c mut [f64],
    pub(crate) perm: &'c mut [usize],
    /// Length of the remainder of column j, and at n_cols + j its length when that was last computed in full.
    pub(crate) lengths: &'c mut [f64],
}

impl Columns<'_> {
    /// Factors the columns. Stops after `max_rank` columns or when no remaining column is longer than `tolerance`
    /// times the first pivot; returns the number of columns taken and the length of the longest one left.
    pub(crate) fn factor(&mut self, tolerance: f64, max_rank: usize) -> (usize, f64) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        self.measure();
        let mut first = 0.0;
        let steps = n_rows.min(n_cols).min(max_rank);
        for k in 0..steps {
            let mut p = k;
            for j in k + 1..n_cols {
                if self.lengths[j] > self.lengths[p] {
                    p = j;
                }
            }
            if k == 0 {
                first = self.lengths[p];
            }
            if !(self.lengths[p] > tolerance * first) {
                return (k, self.lengths[p]);
            }
            self.take(k, p);
        }
        let rest = if steps < n_rows { &self.lengths[steps..n_cols] } else { &[] };
        (steps, rest.iter().fold(0.0, |top: f64, x| top.max(*x)))
    }

    /// Factors the first `rank` columns in their present order.
    pub(crate) fn factor_in_order(&mut self, rank: usize) {
        for k in 0..self.n_rows.min(self.n_cols).min(rank) {
            self.reflect_column(k);
        }
    }

    /// Factors `rank` columns, those of large weight first, as long as their remainders are at least 1e-3 of the
    /// longest.
    ///
    /// Columns have length one; `weight` is indexed by the original columns of the matrix.
    pub(crate) fn factor_by_weight(&mut self, rank: usize, weight: &[f64]) -> usize {
        self.measure();
        let steps = self.n_rows.min(self.n_cols).min(rank);
        for k in 0..steps {
            let longest = self.lengths[k..self.n_cols].iter().fold(0.0, |top: f64, x| top.max(*x));
            let candidates = (k..self.n_cols).filter(|&j| self.lengths[j] > tolerance::CLEARLY_INDEPENDENT * longest);
            let value = |j: usize| self.lengths[j] * weight[self.perm[j]];
            let Some(p) = candidates.max_by(|&i, &j| value(i).total_cmp(&value(j))) else { return k };
            self.take(k, p);
        }
        steps
    }

    fn measure(&mut self) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        for j in 0..n_cols {
            let column = &self.factor[j * n_rows..(j + 1) * n_rows];
            let length = dot(column, column).sqrt();
            (self.lengths[j], self.lengths[n_cols + j], self.perm[j]) = (length, length, j);
        }
    }

    /// Makes column p the k-th, and reflects all later ones.
    fn take(&mut self, k: usize, p: usize) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        if p != k {
            let (left, right) = self.factor.split_at_mut(p * n_rows);
            left[k * n_rows..(k + 1) * n_rows].swap_with_slice(&mut right[..n_rows]);
            self.perm.swap(k, p);
            self.lengths.swap(k, p);
            self.lengths.swap(n_cols + k, n_cols + p);
        }
        self.reflect_column(k);
        for j in k + 1..n_cols {
            let other = &self.factor[j * n_rows + k..(j + 1) * n_rows];
            // the remaining length by Pythagoras, recomputed if that would cancel
            let (length, full) = (self.lengths[j], self.lengths[n_cols + j]);
            if length > 0.0 {
                let left = 1.0 - (other[0] / length) * (other[0] / length);
                if left * (length / full) * (length / full) <= tolerance::DOWNDATED_NORM {
                    self.lengths[j] = dot(&other[1..], &other[1..]).sqrt();
                    self.lengths[n_cols + j] = self.lengths[j];
                } else {
                    self.lengths[j] = length * left.sqrt();
                }
            }
        }
    }
}

impl Columns<'_> {
    /// Reflects column k and all later ones.
    fn reflect_column(&mut self, k: usize) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        let (left, right) = self.factor.split_at_mut((k + 1) * n_rows);
        let column = &mut left[k * n_rows + k..];
        let tau = reflect(column);
        self.tau[k] = tau;
        let tail = &column[1..];
        for j in k + 1..n_cols {
            let other = &mut right[(j - k - 1) * n_rows + k..(j - k) * n_rows];
            let s = (other[0] + dot(tail, &other[1..])) / tau;
            other[0] -= s;
            add_multiple(&mut other[1..], -s, tail);
        }
    }
}

/// Turns x into (β, v₂, v₃, …) with (I − v vᵀ/τ) x = (β, 0, 0, …), v₁ = 1; returns τ.
fn reflect(x: &mut [f64]) -> f64 {
    let (head, tail) = (x[0], &mut x[1..]);
    let tail_square = dot(tail, tail);
    if tail_square == 0.0 {
        return f64::INFINITY;
    }
    let beta = -(head * head + tail_square).sqrt().copysign(head);
    let v1 = head - beta;
    for v in tail.iter_mut() {
        *v /= v1;
    }
    x[0] = beta;
    0.5 * (1.0 + tail_square / (v1 * v1))
}

/// Singular values by one-sided Jacobi rotations (Hestenes): A = U Σ Vᵀ for m x n with m ≥ n.
///
/// `columns` holds A by columns and becomes U Σ; `V` (n x n, by columns) becomes V. Unsorted.
pub(crate) fn jacobi_svd(columns: &mut [f64], m: usize, n: usize, V: &mut [f64]) {
    V.fill(0.0);
    for j in 0..n {
        V[j * n + j] = 1.0;
    }
    for _sweep in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (left, right) = columns.split_at_mut(q * m);
                let (x, y) = (&mut left[p * m..(p + 1) * m], &mut right[..m]);
                let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
                if !(xy.abs() > tolerance::ORTHOGONAL_COLUMNS * (xx * yy).sqrt()) {
                    continue;
                }
                rotated = true;
                let (c, s) = rotation(xx, yy, xy);
                rotate(x, y, c, s);
                let (left, right) = V.split_at_mut(q * n);
                rotate(&mut left[p * n..(p + 1) * n], &mut right[..n], c, s);
            }
        }
        if !rotated {
            break;
        }
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations.
///
/// `S` (n x n) becomes diagonal up to rounding; row k of `V` becomes the eigenvector of S[k, k].
pub(crate) fn jacobi_eigen(S: &mut [f64], n: usize, V: &mut [f64]) {
    V.fill(0.0);
    for j in 0..n {
        V[j * n + j] = 1.0;
    }
    let top = (0..n).fold(0.0, |top: f64, i| top.max(S[i * (n + 1)].abs()));
    for _sweep in 0..30 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (xx, yy, xy) = (S[p * n + p], S[q * n + q], S[p * n + q]);
                // relative to both entries, so that a graded matrix keeps its small values
                if !(xy.abs() > tolerance::DIAGONAL * (xx * yy).abs().sqrt() + tolerance::DIAGONAL_FLOOR * top) {
                    continue;
                }
                rotated = true;
                let (c, s) = rotation(xx, yy, xy);
                // S ← Jᵀ S J, rows and then columns
                let (above, below) = S.split_at_mut(q * n);
                rotate(&mut above[p * n..(p + 1) * n], &mut below[..n], c, s);
                for i in 0..n {
                    let (x, y) = (S[i * n + p], S[i * n + q]);
                    (S[i * n + p], S[i * n + q]) = (c * x - s * y, s * x + c * y);
                }
                (S[p * n + q], S[q * n + p]) = (0.0, 0.0);
                let (above, below) = V.split_at_mut(q * n);
                rotate(&mut above[p * n..(p + 1) * n], &mut below[..n], c, s);
            }
        }
        if !rotated {
            break;
        }
    }
}

/// The rotation (c, s) that makes [xx xy; xy yy] diagonal by (x, y) ← (c x − s y, s x + c y).
fn rotation(xx: f64, yy: f64, xy: f64) -> (f64, f64) {
    let zeta = (yy - xx) / (2.0 * xy);
    let t = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    (c, c * t)
}

fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}
