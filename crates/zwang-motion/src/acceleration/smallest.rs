//! The smallest singular values of B and their vectors, for the analysis of positions in which one of them vanishes.

use crate::{
    factor::{
        add_multiple,
        dense::{Stop, svd},
        dot,
    },
    limits, tolerance,
};
use faer::MatRef;

/// Some of the smallest singular values in decreasing order, so that the smallest is the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Smallest {
    pub(crate) sigma: Vec<f64>,
    /// Left vectors, one after the other, each of length m.
    pub(crate) U: Vec<f64>,
    pub(crate) m: usize,
    /// Right vectors, each of length n.
    pub(crate) V: Vec<f64>,
    pub(crate) n: usize,
}

impl Smallest {
    /// The number of singular values.
    pub(crate) fn len(&self) -> usize {
        self.sigma.len()
    }

    /// The smallest singular value.
    pub(crate) fn last(&self) -> f64 {
        self.sigma.last().copied().unwrap_or(0.0)
    }

    pub(crate) fn u(&self, k: usize) -> &[f64] {
        &self.U[k * self.m..(k + 1) * self.m]
    }

    pub(crate) fn v(&self, k: usize) -> &[f64] {
        &self.V[k * self.n..(k + 1) * self.n]
    }

    /// The `count` smallest values with their vectors.
    pub(crate) fn tail(&self, count: usize) -> Smallest {
        let from = self.len() - count.min(self.len());
        Smallest {
            sigma: self.sigma[from..].to_vec(),
            U: self.U[from * self.m..].to_vec(),
            V: self.V[from * self.n..].to_vec(),
            ..*self
        }
    }

    /// The values at these indices with their vectors.
    pub(crate) fn chosen(&self, places: impl Iterator<Item = usize>) -> Smallest {
        let mut chosen = Smallest { m: self.m, n: self.n, ..Smallest::default() };
        for k in places {
            chosen.sigma.push(self.sigma[k]);
            chosen.U.extend_from_slice(self.u(k));
            chosen.V.extend_from_slice(self.v(k));
        }
        chosen
    }

    /// Removes from x its part along the left vectors.
    pub(crate) fn remove_left(&self, x: &mut [f64]) {
        (0..self.len()).for_each(|k| remove(self.u(k), x));
    }

    /// Removes from x its part along the right vectors.
    pub(crate) fn remove_right(&self, x: &mut [f64]) {
        (0..self.len()).for_each(|k| remove(self.v(k), x));
    }
}

fn remove(unit: &[f64], x: &mut [f64]) {
    let s = dot(unit, x);
    add_multiple(x, -s, unit);
}

/// The smallest singular values of an m x n matrix B by inverse iteration of several vectors at once.
///
/// `solve` is x ← (B Bᵀ + µI)⁻¹ x and `transposed` y = Bᵀx. With the vectors Y made orthonormal, the singular values
/// of YᵀB itself are taken, so that no value is squared. A nearby `start` speeds up the iteration.
pub(crate) fn by_iteration(
    (m, n): (usize, usize),
    count: usize,
    start: Option<&Smallest>,
    mut solve: impl FnMut(&mut [f64]),
    mut transposed: impl FnMut(&[f64], &mut [f64]),
) -> Smallest {
    let count = count.min(m).min(n);
    let mut Y = first_vectors(m, count, start);
    let mut found = Smallest { m, n, ..Smallest::default() };
    if count == 0 {
        return found;
    }
    let mut image = vec![0.0; count * n];
    for _ in 0..limits::SMALLEST_VALUE_ROUNDS {
        for y in Y.chunks_exact_mut(m) {
            solve(y);
            if y.iter().any(|y| !y.is_finite()) {
                return found;
            }
        }
        make_orthonormal(&mut Y, m, count);
        for (y, image) in Y.chunks_exact(m).zip(image.chunks_exact_mut(n)) {
            transposed(y, image);
        }
        let values = svd(&image, count, n, Stop::Rank(count), 0);
        let before = std::mem::replace(&mut found.sigma, values.sigma);
        found.V = values.V;
        // the left vectors are the basis Y, rotated by those of YᵀB
        let turned =
            MatRef::from_column_major_slice(&Y, m, count) * MatRef::from_column_major_slice(&values.U, count, count);
        (0..count * m).for_each(|at| Y[at] = turned[(at % m, at / m)]);
        found.U.clone_from(&Y);
        let settled = |k: usize| (before[k] - found.sigma[k]).abs() <= tolerance::SETTLED_VALUE * found.sigma[k];
        if before.len() == count && (limits::UNSETTLED_VALUES.min(count - 1)..count).all(settled) {
            break;
        }
    }
    found
}

/// The start vectors: those given, then pseudorandom numbers.
fn first_vectors(m: usize, count: usize, start: Option<&Smallest>) -> Vec<f64> {
    let mut Y = Vec::with_capacity(count * m);
    if let Some(start) = start.filter(|start| start.m == m) {
        Y.extend_from_slice(&start.U[..start.len().min(count) * m]);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while Y.len() < count * m {
        // xorshift*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        Y.push((state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
    }
    Y
}

/// Makes the vectors orthonormal by QR, each at length one first.
fn make_orthonormal(Y: &mut [f64], m: usize, count: usize) {
    for y in Y.chunks_exact_mut(m) {
        let top = y.iter().fold(0.0, |top: f64, y| top.max(y.abs()));
        y.iter_mut().for_each(|y| *y /= if top > 0.0 { top } else { 1.0 });
    }
    let Q = MatRef::from_column_major_slice(Y, m, count).qr().compute_thin_Q();
    (0..count * m).for_each(|at| Y[at] = Q[(at % m, at / m)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B = diag(1, 2, …, 20) without its last column: the smallest values and unit vectors.
    #[test]
    fn the_smallest_values_of_a_diagonal_matrix_are_found() {
        let (m, n) = (20, 20);
        let solve = |x: &mut [f64]| (0..m).for_each(|i| x[i] /= ((i + 1) * (i + 1)) as f64);
        let transposed = |x: &[f64], y: &mut [f64]| (0..n).for_each(|i| y[i] = (i + 1) as f64 * x[i]);
        let found = by_iteration((m, n), 6, None, solve, transposed);
        assert_eq!(found.len(), 6);
        for (k, sigma) in found.sigma.iter().rev().take(3).enumerate() {
            assert!((sigma - (k + 1) as f64).abs() < 1e-6, "{sigma}");
            assert!((found.u(5 - k)[k].abs() - 1.0).abs() < 1e-3 && (found.v(5 - k)[k].abs() - 1.0).abs() < 1e-3);
        }
    }
}
