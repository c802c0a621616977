//! The geometry of UK95 in vectors: scaled accelerations and their parts due to constraints and forces.

use crate::{
    Given, MotionError, Settings,
    acceleration::problem::check_finite,
    factor::{
        dense::{Stop, Svd, svd},
        dot, norm,
    },
    snapshot::inverse_root,
};

/// Accelerations scaled by M^{1/2}, in which the equation of motion is two orthogonal projections, UK95 (12) to (16).
///
/// $$ \ddot q_s = \underbrace{B^+ b}_{\text{demanded}} + N a_s + N M^{-1/2} C, \qquad B^+ e = B^+ b - P a_s $$
///
/// If no acceleration satisfies all rows, B⁺b is the least-squares solution for rows of length one, and `gaps` is its
/// distance from the plane of each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaled {
    /// aₛ = M^{1/2}a, the acceleration of the unconstrained motion.
    pub free: Vec<f64>,
    /// q̈ₛ = M^{1/2}q̈, the acceleration of the constrained motion.
    pub actual: Vec<f64>,
    /// B⁺b: the shortest scaled acceleration that the constraints allow.
    pub demanded: Vec<f64>,
    /// N aₛ, the part of the unconstrained acceleration that the constraints leave.
    pub kept: Vec<f64>,
    /// B⁺e, the pull of the constraints; |B⁺e|² is the Gaussian if every constraint is ideal.
    pub pull: Vec<f64>,
    /// N M^{-1/2}C, the contribution of nonideal forces, which lies in the null space of B.
    pub nonideal: Vec<f64>,
    /// The rows of B, each of length one unless it vanishes.
    pub rows: Vec<Vec<f64>>,
    /// bᵢ/|Bᵢ|: the signed distance of the plane of each row from the origin, along its row.
    pub distances: Vec<f64>,
    /// `distances` − `rows`·B⁺b: of rounding size if the rows are consistent.
    pub gaps: Vec<f64>,
    /// Rank of B.
    pub rank: usize,
}

/// The scaled accelerations of a problem with the nonideal force C; an empty slice stands for zero. Fails if M is
/// singular.
pub fn scaled(given: &Given, nonideal_force: &[f64], settings: &Settings) -> Result<Scaled, MotionError> {
    check_finite(given, nonideal_force)?;
    let Given { given_force: Q, constraint_matrix: A, constraint_rhs: b, .. } = given;
    let (n, m) = (Q.len(), b.len());
    let inverse_root = inverse_root(given, settings)?;
    let times = |x: &[f64]| -> Vec<f64> { inverse_root.chunks_exact(n.max(1)).map(|row| dot(row, x)).collect() };

    // B = A M^{-1/2}, and each row with its b divided by its length
    let (mut rows, mut distances) = (Vec::with_capacity(m), Vec::with_capacity(m));
    let mut dense = vec![0.0; n];
    for i in 0..m {
        dense.fill(0.0);
        let (columns, values) = A.row(i);
        columns.iter().zip(values).for_each(|(&j, &x)| dense[j] = x);
        let mut row = times(&dense);
        let length = norm(&row);
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
        distances.push(if length > 0.0 { b[i] / length } else { 0.0 });
        rows.push(row);
    }
    let B = svd(&rows.concat(), m, n, Stop::Tolerance(settings.rank_tolerance), settings.small_limit);

    // M^{1/2}a = M^{-1/2}Q
    let free = times(Q);
    let demanded = least_squares(&B, &distances, n);
    let (along, kept) = split(&B, &free);
    let pull = demanded.iter().zip(&along).map(|(x, y)| x - y).collect();
    let nonideal = match nonideal_force.is_empty() {
        true => vec![0.0; n],
        false => split(&B, &times(nonideal_force)).1,
    };
    let actual = (0..n).map(|k| demanded[k] + kept[k] + nonideal[k]).collect();
    let gaps = rows.iter().zip(&distances).map(|(row, d)| d - dot(row, &demanded)).collect();
    Ok(Scaled { free, actual, demanded, kept, pull, nonideal, rows, distances, gaps, rank: B.rank })
}

/// B⁺x = Σ vₖ (uₖ·x)/σₖ.
fn least_squares(B: &Svd, x: &[f64], n: usize) -> Vec<f64> {
    let mut found = vec![0.0; n];
    for k in 0..B.rank {
        let u = &B.U[k * x.len()..(k + 1) * x.len()];
        let factor = dot(u, x) / B.sigma[k];
        (0..n).for_each(|j| found[j] += factor * B.V[k * n + j]);
    }
    found
}

/// P x and N x.
fn split(B: &Svd, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = x.len();
    let (mut along, mut rest) = (vec![0.0; n], x.to_vec());
    for k in 0..B.rank {
        let v = &B.V[k * n..(k + 1) * n];
        let part = dot(v, x);
        for j in 0..n {
            along[j] += part * v[j];
            rest[j] -= part * v[j];
        }
    }
    // at full rank the null space is empty, and any remainder is rounding
    if B.rank == n {
        rest.fill(0.0);
    }
    (along, rest)
}
