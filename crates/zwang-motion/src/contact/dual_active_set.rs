//! Gauss's principle with inequalities by a dual active set: forces that may only push, KU94 conclusion 8.

use crate::tolerance;

/// What a row asks of its force λ and of w = S λ + w₀, by which its acceleration (or velocity) exceeds its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// w = 0, whatever λ is.
    Held,
    /// λ ≥ 0, w ≥ 0, and one of them is zero.
    Unilateral,
}

/// The forces of least constraint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalForces {
    /// λ; if rows are redundant it is one of many, and only Aᵀλ is unique.
    pub lambda: Vec<f64>,
    /// w = S λ + w₀.
    pub slack: Vec<f64>,
    /// The rows that carry λ; they are independent.
    pub active: Vec<usize>,
}

/// No forces satisfy all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSolution {
    /// This row contradicts the others.
    Contradiction {
        /// Index of the row.
        row: usize,
    },
    /// Rounding kept the search from ending.
    NotConverged,
}

/// Finds λ with w = S λ + w₀ as the sides ask: the multipliers of
///
/// $$ \min_{\ddot q}\ (\ddot q - a)^T M (\ddot q - a) \quad\text{subject to}\quad A_E\ddot q = b_E,\ A_I\ddot q \ge b_I $$
///
/// with S = A M⁻¹Aᵀ and w₀ = A a − b. By the dual method of Goldfarb and Idnani: always at the minimum over the active rows;
/// the row with the largest violation becomes active, and rows whose force would become tensile leave. Rows may be
/// redundant. S is n x n, row after row; `noise` is the rounding of each w₀.
pub fn complementarity(S: &[f64], w0: &[f64], sides: &[Side], noise: &[f64]) -> Result<NormalForces, NoSolution> {
    let mut search = ActiveSet::new(S, w0, sides, noise);
    // every round raises the minimum or drops a row; more rounds than this are a circle of rounding
    let most = 100 + 20 * w0.len();
    for _ in 0..most {
        let Some(row) = search.most_violated() else { return Ok(search.finish()) };
        search.push(row)?;
    }
    Err(NoSolution::NotConverged)
}

struct ActiveSet<'p> {
    n: usize,
    /// S with a unit diagonal, and the scales of its rows.
    S: Vec<f64>,
    scale: Vec<f64>,
    w0: Vec<f64>,
    noise: Vec<f64>,
    sides: &'p [Side],
    active: Vec<usize>,
    lambda: Vec<f64>,
    w: Vec<f64>,
}

impl<'p> ActiveSet<'p> {
    fn new(S: &[f64], w0: &[f64], sides: &'p [Side], noise: &[f64]) -> ActiveSet<'p> {
        let n = w0.len();
        let scale: Vec<f64> =
            (0..n).map(|i| if S[i * n + i] > 0.0 { S[i * n + i].sqrt().recip() } else { 1.0 }).collect();
        let w0: Vec<f64> = (0..n).map(|i| scale[i] * w0[i]).collect();
        ActiveSet {
            n,
            S: (0..n * n).map(|k| S[k] * scale[k / n] * scale[k % n]).collect(),
            noise: (0..n).map(|i| scale[i] * noise[i]).collect(),
            w: w0.clone(),
            w0,
            sides,
            active: Vec::new(),
            lambda: vec![0.0; n],
            scale,
        }
    }

    /// w = S λ + w₀.
    fn update(&mut self) {
        for i in 0..self.n {
            self.w[i] = self.w0[i] + self.active.iter().map(|&j| self.S[i * self.n + j] * self.lambda[j]).sum::<f64>();
        }
    }

    /// The rounding of w.
    fn uncertainty(&self, i: usize) -> f64 {
        let terms: f64 = self.active.iter().map(|&j| (self.S[i * self.n + j] * self.lambda[j]).abs()).sum();
        tolerance::SLACK_ROUNDING * (self.w0[i].abs() + terms) + self.noise[i]
    }

    /// The row with the largest violation; equalities come first, since they never leave.
    fn most_violated(&self) -> Option<usize> {
        let is_violated = |i: &usize| match self.sides[*i] {
            Side::Held => self.w[*i].abs() > self.uncertainty(*i),
            Side::Unilateral => self.w[*i] < -self.uncertainty(*i),
        };
        let open = || (0..self.n).filter(|i| !self.active.contains(i)).filter(is_violated);
        let by_size = |a: &usize, b: &usize| self.w[*a].abs().total_cmp(&self.w[*b].abs());
        open().filter(|&i| self.sides[i] == Side::Held).max_by(by_size).or_else(|| open().max_by(by_size))
    }

    /// Increases the force of row p until the row is satisfied; rows that would become tensile leave on the way.
    fn push(&mut self, p: usize) -> Result<(), NoSolution> {
        let sign = if self.w[p] < 0.0 { 1.0 } else { -1.0 };
        loop {
            // with r the share of row p that the active rows give, z² is what is new in it
            let r = self.share(p);
            let s = |j: usize| self.S[p * self.n + j];
            let new = s(p) - self.active.iter().zip(&r).map(|(&j, r)| s(j) * r).sum::<f64>();
            let whole = if new > tolerance::ROUNDING { self.w[p].abs() / new } else { f64::INFINITY };
            let leaving = self.first_to_pull(&r, sign);
            let step = leaving.map_or(whole, |(_, step)| step.min(whole));
            if step.is_infinite() {
                return Err(NoSolution::Contradiction { row: p });
            }
            for (&j, r) in self.active.iter().zip(&r) {
                self.lambda[j] -= sign * step * r;
            }
            self.lambda[p] += sign * step;
            match leaving.filter(|(_, at)| *at < whole) {
                None => {
                    self.active.push(p);
                    self.update();
                    return Ok(());
                }
                Some((k, _)) => {
                    let j = self.active.remove(k);
                    self.lambda[j] = 0.0;
                    self.update();
                    // row p is not active yet, but its force is there
                    for i in 0..self.n {
                        self.w[i] += self.S[i * self.n + p] * self.lambda[p];
                    }
                }
            }
        }
    }

    /// S_WW⁻¹ S_Wp.
    fn share(&self, p: usize) -> Vec<f64> {
        self.solve(&self.active.iter().map(|&j| self.S[j * self.n + p]).collect::<Vec<f64>>())
    }

    /// S_WW⁻¹ x, by Cholesky and one correction.
    fn solve(&self, x: &[f64]) -> Vec<f64> {
        let k = self.active.len();
        let s = |i: usize, j: usize| self.S[self.active[i] * self.n + self.active[j]];
        let mut R = vec![0.0; k * k];
        for i in 0..k {
            for j in 0..=i {
                let sum = s(i, j) - (0..j).map(|l| R[i * k + l] * R[j * k + l]).sum::<f64>();
                R[i * k + j] = if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / R[j * k + j] };
            }
        }
        let backward = |mut y: Vec<f64>| {
            for i in 0..k {
                y[i] = (y[i] - (0..i).map(|l| R[i * k + l] * y[l]).sum::<f64>()) / R[i * k + i];
            }
            for i in (0..k).rev() {
                y[i] = (y[i] - (i + 1..k).map(|l| R[l * k + i] * y[l]).sum::<f64>()) / R[i * k + i];
            }
            y
        };
        let mut y = backward(x.to_vec());
        let left: Vec<f64> = (0..k).map(|i| x[i] - (0..k).map(|j| s(i, j) * y[j]).sum::<f64>()).collect();
        y.iter_mut().zip(backward(left)).for_each(|(y, d)| *y += d);
        y
    }

    /// The active row whose force is the first to become tensile, by its place, and the length of the step until then.
    fn first_to_pull(&self, r: &[f64], sign: f64) -> Option<(usize, f64)> {
        let falls = |k: &usize| self.sides[self.active[*k]] == Side::Unilateral && sign * r[*k] > tolerance::ROUNDING;
        let step = |k: usize| (k, (self.lambda[self.active[k]] / (sign * r[k])).max(0.0));
        (0..r.len()).filter(falls).map(step).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// λ once more with the active rows known, as written.
    fn finish(mut self) -> NormalForces {
        let right: Vec<f64> = self.active.iter().map(|&i| -self.w0[i]).collect();
        for (&i, x) in self.active.iter().zip(self.solve(&right)) {
            self.lambda[i] = if self.sides[i] == Side::Unilateral { x.max(0.0) } else { x };
        }
        self.update();
        let mut active = self.active.clone();
        active.sort_unstable();
        NormalForces {
            lambda: self.lambda.iter().zip(&self.scale).map(|(x, s)| x * s).collect(),
            slack: self.w.iter().zip(&self.scale).map(|(x, s)| x / s).collect(),
            active,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(S: &[f64], w0: &[f64]) -> NormalForces {
        let n = w0.len();
        complementarity(S, w0, &vec![Side::Unilateral; n], &vec![0.0; n]).unwrap()
    }

    /// ÿ ≥ 0, ẍ + ÿ ≥ 0 for a unit mass, with and without the redundant 2ẍ + 3ÿ ≥ 0.
    #[test]
    fn one_sided_rows_at_rest_give_the_exact_pushes() {
        let rows = [[0.0, 1.0], [1.0, 1.0], [2.0, 3.0]];
        let cases = [([-3.0, -10.0], [0.0, 0.0]), ([5.0, -10.0], [5.0, 0.0]), ([-8.0, 5.0], [-6.5, 6.5])];
        for n in [2, 3] {
            let S: Vec<f64> =
                (0..n * n).map(|k| rows[k / n].iter().zip(&rows[k % n]).map(|(x, y)| x * y).sum()).collect();
            for (a, wanted) in cases {
                let w0: Vec<f64> = rows[..n].iter().map(|row| row[0] * a[0] + row[1] * a[1]).collect();
                let found = solved(&S, &w0);
                for k in 0..2 {
                    let change: f64 = (0..n).map(|i| rows[i][k] * found.lambda[i]).sum();
                    assert!((a[k] + change - wanted[k]).abs() < 1e-14, "{n} rows, {a:?}: {found:?}");
                }
            }
        }
        let found = solved(&[1.0, 1.0, 1.0, 2.0], &[-10.0, -13.0]);
        assert!((found.lambda[0] - 7.0).abs() < 1e-14 && (found.lambda[1] - 3.0).abs() < 1e-14, "{found:?}");
    }

    /// x'' ≥ 1 and −x'' ≥ 0 cannot both hold.
    #[test]
    fn rows_that_exclude_each_other_are_refused() {
        let found = complementarity(&[1.0, -1.0, -1.0, 1.0], &[-1.0, 0.0], &[Side::Unilateral; 2], &[0.0; 2]);
        assert!(matches!(found, Err(NoSolution::Contradiction { .. })), "{found:?}");
    }

    /// A row without any influence is satisfied or violated, whatever the forces are.
    #[test]
    fn rows_that_vanish_push_nothing() {
        assert_eq!(solved(&[0.0], &[1.0]).lambda, [0.0]);
        let found = complementarity(&[0.0], &[-1.0], &[Side::Unilateral], &[0.0]);
        assert_eq!(found, Err(NoSolution::Contradiction { row: 0 }));
    }
}
