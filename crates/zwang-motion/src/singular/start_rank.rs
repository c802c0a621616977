//! The rank at the start of a motion, which may be a singular position.

use super::crossing::displaced;
use crate::{
    Dynamics, Instant, MotionError,
    acceleration::decomposition::Decomposition,
    factor::{
        dense::{Qr, Stop, svd},
        dot, norm, small,
    },
    limits,
    smooth::Smooth,
    tolerance,
};

/// The rank away from the start: the number of directions that vanish at the start only is added.
///
/// κ = singular values of U₀ᵀ Ḃ N₀ along the motion; if the system is at rest, along each direction of N₀.
pub(crate) fn generic_rank<D: Dynamics + ?Sized>(smooth: &mut Smooth<D>) -> Result<StartRank, MotionError> {
    let (n, m, r) = (smooth.n, smooth.given.constraint_rhs.len(), smooth.all.rank());
    let regular = StartRank { rank: r, singular: false, at_rest: false };
    if r == m || n == 0 {
        return Ok(regular);
    }
    if smooth.all.is_large() {
        return sparse_generic_rank(smooth, regular);
    }
    // the scales of the rows must not change from here to there
    smooth.all.hold(r);
    let B = smooth.all.B.clone();
    let limit = smooth.settings.small_limit;
    let values = svd(&B, m, n, Stop::Rank(r), limit);
    let (U0, N0) = (complement(&values.U, r, m), complement(&values.V, r, n));
    let here = smooth.instant.clone();
    let size = |x: &[f64], sizes: &[f64]| x.iter().zip(sizes).fold(0.0, |top: f64, (x, s)| top.max(x.abs() / s));
    let pace = size(&here.state.qdot, &smooth.q_size);
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
        kappa.sigma.iter().filter(|k| **k > tolerance::SLOPE_OF_RANK * whole && **k > tolerance::RANK).count()
    };
    let mut found = 0;
    if pace > 0.0 {
        // short enough that the velocity does not turn, as that of a body does which starts slowly after an impact
        let turning = size(&here.qddot, &smooth.q_size);
        let s = f64::min(tolerance::RANK_PROBE / pace, (2.0 * tolerance::RANK_PROBE / turning).sqrt());
        let (ahead, behind) = (displaced_B(smooth, &here, s, true)?, displaced_B(smooth, &here, -s, true)?);
        found = count(&ahead, &behind);
    }
    let mut at_rest = false;
    if found == 0 && pace < tolerance::STARTS_AT_REST {
        // at rest: some direction in which the system can start makes the rows independent
        for direction in N0.chunks_exact(n) {
            let mut x = direction.to_vec();
            smooth.instant = here.clone();
            smooth.factor()?;
            small::solve_lower_transposed(&smooth.all.problem.R, n, &mut x);
            (0..n).for_each(|i| x[i] *= smooth.all.problem.col_scale[i]);
            let s = tolerance::RANK_PROBE / size(&x, &smooth.q_size).max(f64::MIN_POSITIVE);
            let mut probe = here.clone();
            probe.state.qdot.copy_from_slice(&x);
            probe.qddot.fill(0.0);
            let (ahead, behind) = (displaced_B(smooth, &probe, s, false)?, displaced_B(smooth, &probe, -s, false)?);
            at_rest |= count(&ahead, &behind) > 0;
        }
    }
    smooth.instant = here;
    smooth.factor()?;
    Ok(StartRank { rank: r + found, singular: found > 0, at_rest })
}

/// The rank of a large system, found densely if rows are redundant otherwise than as multiples. Dense algebra stays in use
/// if the start is singular, which it alone can leave.
fn sparse_generic_rank<D: Dynamics + ?Sized>(
    smooth: &mut Smooth<D>,
    regular: StartRank,
) -> Result<StartRank, MotionError> {
    if !smooth.all.is_deficient() || smooth.n > limits::START_COORDINATES {
        return Ok(regular);
    }
    let sparse = std::mem::replace(&mut smooth.all, Decomposition::new(&smooth.settings));
    if let Ok(found) = smooth.factor().and_then(|()| generic_rank(smooth))
        && (found.singular || found.at_rest)
    {
        return Ok(found);
    }
    smooth.all = sparse;
    smooth.factor()?;
    Ok(regular)
}

fn displaced_B<D: Dynamics + ?Sized>(
    smooth: &mut Smooth<D>,
    here: &Instant,
    s: f64,
    with_velocity: bool,
) -> Result<Vec<f64>, MotionError> {
    // along the velocity alone: a bend to both sides would move the middle, for which U₀ and N₀ are taken
    let straight = Instant { qddot: vec![0.0; smooth.n], ..here.clone() };
    displaced(smooth, &straight, s, false)?;
    if with_velocity && smooth.hs > smooth.h {
        let velocities = here.state.qdot.iter().zip(&here.qddot).map(|(v, a)| v + s * a);
        smooth.instant.state.qdot.iter_mut().zip(velocities).for_each(|(x, v)| *x = v);
        smooth.factor()?;
    }
    Ok(smooth.all.B.clone())
}

/// The rank at the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartRank {
    /// The rank to freeze.
    pub(crate) rank: usize,
    /// `true` if the start is a singular position that is being passed.
    pub(crate) singular: bool,
    /// `true` if the system rests in a singular position.
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

/// The rows with the largest part in a singular value that has almost vanished at the state; empty if none has.
pub(crate) fn vanishing_rows<D: Dynamics + ?Sized>(smooth: &Smooth<D>) -> Vec<usize> {
    let (n, m, r) = (smooth.n, smooth.given.constraint_rhs.len(), smooth.all.rank());
    if r == 0 || smooth.all.B.len() != n * m {
        return Vec::new();
    }
    let values = svd(&smooth.all.B, m, n, Stop::Rank(r), smooth.settings.small_limit);
    if values.sigma[r - 1] > tolerance::VANISHING_VALUE * values.sigma[0].max(1.0) {
        return Vec::new();
    }
    let share = |i: usize| values.U[(r - 1) * m + i].abs();
    let most = (0..m).map(share).fold(0.0, f64::max);
    (0..m).filter(|&i| share(i) > 0.1 * most).collect()
}

/// uᵀ B w, B row after row.
fn bilinear(B: &[f64], u: &[f64], w: &[f64]) -> f64 {
    u.iter().zip(B.chunks_exact(w.len())).map(|(u, row)| u * dot(row, w)).sum()
}
