//! Lagrange's equations of the first kind, KUXI95 (1).

use super::{Route, RouteSolution, problem::Problem, shortest::Shortest};
use crate::{Gap, Given, Legendre, MotionError, Settings};

/// KUXI95 (1) by elimination of the saddle matrix.
pub(crate) struct Multipliers {
    settings: Settings,
    problem: Problem,
    shortest: Shortest,
    saddle: Saddle,
}

impl Multipliers {
    pub(crate) fn new(settings: &Settings) -> Multipliers {
        Multipliers {
            settings: settings.clone(),
            problem: Problem::new(),
            shortest: Shortest::new(),
            saddle: Saddle::default(),
        }
    }
}

/// [M −Aᵀ; A 0 | Q; b] under elimination with complete pivoting.
#[derive(Default)]
struct Saddle {
    width: usize,
    entries: Vec<f64>,
    /// Rows and columns in the order of the pivots taken.
    pivots: Vec<(usize, usize)>,
    row_used: Vec<bool>,
    col_used: Vec<bool>,
}

impl Saddle {
    fn fill(&mut self, problem: &Problem) {
        let Problem { n, m, M, Q, A, b, .. } = problem;
        let (n, m) = (*n, *m);
        self.width = n + m + 1;
        self.entries.clear();
        self.entries.resize((n + m) * self.width, 0.0);
        self.pivots.clear();
        self.row_used = vec![false; n + m];
        self.col_used = vec![false; n + m];
        for i in 0..n {
            let row = &mut self.entries[i * self.width..(i + 1) * self.width];
            row[..n].copy_from_slice(&M[i * n..(i + 1) * n]);
            row[n + m] = Q[i];
            (0..m).for_each(|k| row[n + k] = -A[k * n + i]);
        }
        for k in 0..m {
            let row = &mut self.entries[(n + k) * self.width..(n + k + 1) * self.width];
            row[..n].copy_from_slice(&A[k * n..(k + 1) * n]);
            row[n + m] = b[k];
        }
    }

    /// Takes pivots within the given rows and columns, the largest first, while `goes_on` accepts their size.
    fn eliminate(
        &mut self,
        rows: std::ops::Range<usize>,
        cols: std::ops::Range<usize>,
        mut goes_on: impl FnMut(f64) -> bool,
    ) {
        loop {
            let (mut best, mut size) = (None, 0.0);
            for i in rows.clone().filter(|&i| !self.row_used[i]) {
                for j in cols.clone().filter(|&j| !self.col_used[j]) {
                    let x = self.entries[i * self.width + j].abs();
                    if x > size {
                        (best, size) = (Some((i, j)), x);
                    }
                }
            }
            if !goes_on(size) {
                return;
            }
            let Some((p, q)) = best else { return };
            (self.row_used[p], self.col_used[q]) = (true, true);
            self.pivots.push((p, q));
            let pivot_row = self.entries[p * self.width..(p + 1) * self.width].to_vec();
            for i in (0..self.row_used.len()).filter(|&i| !self.row_used[i]) {
                let row = &mut self.entries[i * self.width..(i + 1) * self.width];
                let s = row[q] / pivot_row[q];
                if s != 0.0 {
                    row.iter_mut().zip(&pivot_row).for_each(|(x, y)| *x -= s * y);
                    row[q] = 0.0;
                }
            }
        }
    }

    /// The unknowns; those without a pivot are zero.
    fn solve(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.width - 1];
        for &(p, q) in self.pivots.iter().rev() {
            let row = &self.entries[p * self.width..(p + 1) * self.width];
            let sum: f64 = row[..x.len()].iter().zip(&x).map(|(r, x)| r * x).sum();
            x[q] = (row[x.len()] - sum) / row[q];
        }
        x
    }
}

impl Route for Multipliers {
    /// Acceleration and multipliers together, KUXI95 (1).
    ///
    /// $$ \begin{pmatrix} M & -A^T \\ A & 0 \end{pmatrix} \begin{pmatrix} \ddot q \\ \lambda \end{pmatrix}
    ///    = \begin{pmatrix} Q \\ b \end{pmatrix} $$
    ///
    /// Gaussian elimination with complete pivoting, in two rounds. The first takes pivots from A alone until none is
    /// left above the tolerance: their number is the rank r, and rows without a pivot must vanish together with their
    /// right side. The second takes the n pivots of the upper rows. In one round a direction of size σ of A would show
    /// as σ². The m − r multipliers without a pivot are zero before the shortest are found.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        self.problem.fill(given, extra_force, &self.settings)?;
        let (n, m) = (self.problem.n, self.problem.m);
        self.saddle.fill(&self.problem);

        let (mut first, mut last, mut left) = (0.0, 0.0, 0.0);
        self.saddle.eliminate(n..n + m, 0..n, |size| {
            first = f64::max(first, size);
            if size > self.settings.rank_tolerance * first {
                last = size;
                true
            } else {
                left = size;
                false
            }
        });
        let rank = self.saddle.pivots.len();
        self.saddle.eliminate(0..n, 0..n + m, |size| size > 0.0);

        let x = self.saddle.solve();
        self.problem.finish(given, &x[..n], &self.settings, solution)?;
        self.shortest.shorten(&self.problem, &x[n..], rank, &mut solution.lambda, self.settings.small_limit)?;
        solution.rank = rank;
        solution.gap = match rank {
            0 => Gap::default(),
            _ => Gap { kept: last / first, dropped: left / first },
        };
        Ok(())
    }
}
