//! The rank at the start of a motion, which may be a singular position.

use super::displaced;
use crate::{
    Dynamics, Instant, MotionError,
    acceleration::decomposition::Decomposition,
    factor::{
        dense::{Qr, Stop, svd},
        dot, norm, small,
    },
    flow::Flow,
};

/// How many directions that vanish at the start do so only there: the rank that holds away from it.
///
/// κ = singular values of U₀ᵀ Ḃ N₀ along the motion; where the system is at rest, along each direction of N₀.
pub(crate) fn generic_rank<D: Dynamics + ?Sized>(flow: &mut Flow<D>) -> Result<StartRank, MotionError> {
    let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
    let regular = StartRank { rank: r, singular: false, at_rest: false };
    if r == m || n == 0 {
        return Ok(regular);
    }
    if flow.all.is_large() {
        return sparse_generic_rank(flow, regular);
    }
    // the scales of the rows must not change from here to there
    flow.all.hold(r);
    let B = flow.all.B.clone();
    let limit = flow.settings.small_limit;
    let values = svd(&B, m, n, Stop::Rank(r), limit);
    let (U0, N0) = (complement(&values.U, r, m), complement(&values.V, r, n));
    let here = flow.instant.clone();
    let size = |x: &[f64], sizes: &[f64]| x.iter().zip(sizes).fold(0.0, |top: f64, (x, s)| top.max(x.abs() / s));
    let pace = size(&here.state.qdot, &flow.q_size);
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
        kappa.sigma.iter().filter(|k| **k > 1e-5 * whole && **k > 1e-10).count()
    };
    let mut found = 0;
    if pace > 0.0 {
        // not so long that the velocity turns, as it does where a body that has just been struck sets out slowly
        let turning = size(&here.qddot, &flow.q_size);
        let s = f64::min(1e-4 / pace, (2e-4 / turning).sqrt());
        let (ahead, behind) = (displaced_B(flow, &here, s, true)?, displaced_B(flow, &here, -s, true)?);
        found = count(&ahead, &behind);
    }
    let mut at_rest = false;
    if found == 0 && pace < 1e-9 {
        // at rest: some direction in which the system can set out makes the rows independent
        for direction in N0.chunks_exact(n) {
            let mut x = direction.to_vec();
            flow.instant = here.clone();
            flow.factor()?;
            small::solve_lower_transposed(&flow.all.problem.R, n, &mut x);
            (0..n).for_each(|i| x[i] *= flow.all.problem.col_scale[i]);
            let s = 1e-4 / size(&x, &flow.q_size).max(f64::MIN_POSITIVE);
            let mut probe = here.clone();
            probe.state.qdot.copy_from_slice(&x);
            probe.qddot.fill(0.0);
            let (ahead, behind) = (displaced_B(flow, &probe, s, false)?, displaced_B(flow, &probe, -s, false)?);
            at_rest |= count(&ahead, &behind) > 0;
        }
    }
    flow.instant = here;
    flow.factor()?;
    Ok(StartRank { rank: r + found, singular: found > 0, at_rest })
}

/// The same for a large system, looked at densely where rows depend on each other in more than being multiples. It goes on
/// densely if the start is singular, which only dense algebra can leave.
fn sparse_generic_rank<D: Dynamics + ?Sized>(flow: &mut Flow<D>, regular: StartRank) -> Result<StartRank, MotionError> {
    /// More coordinates take longer than anybody waits.
    const MOST: usize = 600;
    if !flow.all.is_deficient() || flow.n > MOST {
        return Ok(regular);
    }
    let sparse = std::mem::replace(&mut flow.all, Decomposition::new(&flow.settings));
    if let Ok(found) = flow.factor().and_then(|()| generic_rank(flow))
        && (found.singular || found.at_rest)
    {
        return Ok(found);
    }
    flow.all = sparse;
    flow.factor()?;
    Ok(regular)
}

fn displaced_B<D: Dynamics + ?Sized>(
    flow: &mut Flow<D>,
    here: &Instant,
    s: f64,
    with_velocity: bool,
) -> Result<Vec<f64>, MotionError> {
    // along the velocity alone: a bend to both sides would move the middle, for which U₀ and N₀ are taken
    let straight = Instant { qddot: vec![0.0; flow.n], ..here.clone() };
    displaced(flow, &straight, s, false)?;
    if with_velocity && flow.dynamics.n_velocity_rows() > 0 {
        let velocities = here.state.qdot.iter().zip(&here.qddot).map(|(v, a)| v + s * a);
        flow.instant.state.qdot.iter_mut().zip(velocities).for_each(|(x, v)| *x = v);
        flow.factor()?;
    }
    Ok(flow.all.B.clone())
}

/// The rank at the start, and what it is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartRank {
    /// The rank to hold.
    pub(crate) rank: usize,
    /// Whether the start is a singular position that is being passed.
    pub(crate) singular: bool,
    /// Whether the system rests in a singular position.
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

/// The rows that take most part in a singular value that has almost vanished where the flow stands; none if none has.
pub(crate) fn dying_rows<D: Dynamics + ?Sized>(flow: &Flow<D>) -> Vec<usize> {
    /// A singular value below this, relative to the largest, is about to vanish.
    const DYING: f64 = 1e-3;
    let (n, m, r) = (flow.n, flow.given.constraint_rhs.len(), flow.all.rank());
    if r == 0 || flow.all.B.len() != n * m {
        return Vec::new();
    }
    let values = svd(&flow.all.B, m, n, Stop::Rank(r), flow.settings.small_limit);
    if values.sigma[r - 1] > DYING * values.sigma[0].max(1.0) {
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
