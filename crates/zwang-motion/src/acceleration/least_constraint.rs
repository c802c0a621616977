//! Gauss's principle as a quadratic program, KU94 (19).

use super::{Route, RouteSolution, problem::Problem, shortest::Shortest};
use crate::{
    Gap, Given, Legendre, MotionError, Settings,
    factor::{dot, norm, small},
};

/// KU94 (19) by a dual active-set method.
pub(crate) struct LeastConstraint {
    settings: Settings,
    problem: Problem,
    shortest: Shortest,
}

impl LeastConstraint {
    pub(crate) fn new(settings: &Settings) -> LeastConstraint {
        LeastConstraint { settings: settings.clone(), problem: Problem::new(), shortest: Shortest::new() }
    }
}

/// The dual method of Goldfarb and Idnani: every iterate is the minimum over the active rows, whose number grows.
///
/// J Jᵀ = M⁻¹, and Jᵀ turns the active rows into an upper triangle T followed by zeros. `d[i]` is Jᵀ times row i: its
/// first entries express the dependence of the row on the active ones, the rest its independent part. An inequality
/// would enter by the same step, shortened at the sign change of another multiplier, and `Active` would also drop
/// rows.
struct Active<'p> {
    problem: &'p Problem,
    /// Column k of J is `J[k]`.
    J: Vec<Vec<f64>>,
    d: Vec<Vec<f64>>,
    /// Length of `d[i]` at the start.
    length: Vec<f64>,
    active: Vec<usize>,
    T: Vec<Vec<f64>>,
    /// The minimum and its multipliers, one per active row.
    x: Vec<f64>,
    u: Vec<f64>,
}

impl<'p> Active<'p> {
    /// The unconstrained minimum, q̈ = a, with no row active.
    fn at_free_motion(problem: &'p Problem) -> Active<'p> {
        let (n, m) = (problem.n, problem.m);
        // J = R⁻ᵀ: its transpose turns a row by forward substitution
        let J = (0..n)
            .map(|k| {
                let mut column = vec![0.0; n];
                column[k] = 1.0;
                small::solve_lower_transposed(&problem.R, n, &mut column);
                column
            })
            .collect();
        let d: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                let mut d = problem.row(i).to_vec();
                small::solve_lower(&problem.R, n, &mut d);
                d
            })
            .collect();
        let length = d.iter().map(|d| norm(d)).collect();
        Active { problem, J, d, length, active: Vec::new(), T: Vec::new(), x: problem.a.clone(), u: Vec::new() }
    }

    /// The length of the part of row i that is independent of the active rows, relative to the row.
    fn news(&self, i: usize) -> f64 {
        if self.length[i] == 0.0 { 0.0 } else { norm(&self.d[i][self.active.len()..]) / self.length[i] }
    }

    /// Adds row p and moves to the minimum that also satisfies it.
    fn add(&mut self, p: usize) {
        let k = self.active.len();
        // directions of the step: z for x, r for the multipliers of the active rows
        let fresh = &self.d[p][k..];
        let new_square = dot(fresh, fresh);
        let mut z = vec![0.0; self.problem.n];
        for (J, d) in self.J[k..].iter().zip(fresh) {
            z.iter_mut().zip(J).for_each(|(z, J)| *z += d * J);
        }
        let mut r = self.d[p][..k].to_vec();
        for i in (0..k).rev() {
            r[i] /= self.T[i][i];
            let s = r[i];
            (0..i).for_each(|j| r[j] -= s * self.T[i][j]);
        }

        // the full step satisfies row p
        let t = (self.problem.b[p] - dot(self.problem.row(p), &self.x)) / new_square;
        self.x.iter_mut().zip(&z).for_each(|(x, z)| *x += t * z);
        self.u.iter_mut().zip(&r).for_each(|(u, r)| *u -= t * r);
        self.u.push(t);
        self.activate(p);
    }

    /// Rotates J so that row p becomes the next column of the triangle.
    fn activate(&mut self, p: usize) {
        let k = self.active.len();
        for j in (k + 1..self.problem.n).rev() {
            let (x, y) = (self.d[p][j - 1], self.d[p][j]);
            if y == 0.0 {
                continue;
            }
            let length = x.hypot(y);
            let (c, s) = (x / length, y / length);
            for d in &mut self.d {
                (d[j - 1], d[j]) = (c * d[j - 1] + s * d[j], c * d[j] - s * d[j - 1]);
            }
            let (left, right) = self.J.split_at_mut(j);
            for (x, y) in left[j - 1].iter_mut().zip(&mut right[0]) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
            self.d[p][j] = 0.0;
        }
        self.T.push(self.d[p][..=k].to_vec());
        self.active.push(p);
    }
}

impl Route for LeastConstraint {
    /// The acceleration of least constraint, KU94 (19).
    ///
    /// $$ \min_{\ddot q}\ \tfrac12 (\ddot q - a)^T M (\ddot q - a) \quad\text{subject to}\quad A \ddot q = b $$
    ///
    /// Starts from the unconstrained motion and activates one row after the other, the one with the largest
    /// independent part first. A row without an independent part is redundant, or it conflicts with the active ones.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        self.problem.fill(given, extra_force, &self.settings)?;
        let m = self.problem.m;
        let mut set = Active::at_free_motion(&self.problem);
        let mut open: Vec<usize> = (0..m).collect();
        let mut gap = Gap::default();
        while set.active.len() < self.problem.n {
            let Some(at) = (0..open.len()).max_by(|&i, &j| set.news(open[i]).total_cmp(&set.news(open[j]))) else {
                break;
            };
            let news = set.news(open[at]);
            if !(news > self.settings.rank_tolerance) {
                gap.dropped = news;
                break;
            }
            gap.kept = news;
            set.add(open.swap_remove(at));
        }
        self.problem.finish(given, &set.x, &self.settings, solution)?;
        let mut lambda = vec![0.0; m];
        set.active.iter().zip(&set.u).for_each(|(&i, u)| lambda[i] = *u);
        let rank = set.active.len();
        self.shortest.shorten(&self.problem, &lambda, rank, &mut solution.lambda, self.settings.small_limit)?;
        (solution.rank, solution.gap) = (rank, gap);
        Ok(())
    }
}
