//! Kalaba and Udwadia's equation with any generalized inverses, KU94 (29).

use super::{Route, RouteSolution, problem::Problem, shortest::Shortest};
use crate::{
    Given, Legendre, MotionError, Settings,
    factor::dense::{Stop, Svd, svd, symmetric_eigen},
};

/// KU94 (29) with a g-inverse of A and a least-squares g-inverse of H drawn at random.
pub(crate) struct AnyInverse {
    settings: Settings,
    problem: Problem,
    shortest: Shortest,
}

impl AnyInverse {
    pub(crate) fn new(settings: &Settings) -> AnyInverse {
        AnyInverse { settings: settings.clone(), problem: Problem::new(), shortest: Shortest::new() }
    }
}

/// Numbers between −1 and 1 that only depend on the seed (xorshift*).
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        bits as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A matrix with entries of about 1/√size, so that its norm is about one.
    fn matrix(&mut self, rows: usize, cols: usize) -> Vec<f64> {
        let scale = 1.0 / (rows.max(cols).max(1) as f64).sqrt();
        (0..rows * cols).map(|_| scale * self.next()).collect()
    }
}

/// X Y for X of r x k and Y of k x c.
fn multiply(X: &[f64], Y: &[f64], r: usize, k: usize, c: usize) -> Vec<f64> {
    let mut Z = vec![0.0; r * c];
    for i in 0..r {
        for l in 0..k {
            let x = X[i * k + l];
            if x != 0.0 {
                (0..c).for_each(|j| Z[i * c + j] += x * Y[l * c + j]);
            }
        }
    }
    Z
}

/// I − X for a square X.
fn complement(X: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 - X[k] } else { -X[k] }).collect()
}

fn add(X: &mut [f64], Y: &[f64]) {
    X.iter_mut().zip(Y).for_each(|(x, y)| *x += y);
}

/// X⁺ = V Σ⁻¹ Uᵀ, n x m, from the decomposition of an m x n matrix.
fn pseudoinverse(found: &Svd, m: usize, n: usize) -> Vec<f64> {
    let mut X = vec![0.0; n * m];
    for k in 0..found.rank {
        for j in 0..n {
            let v = found.V[k * n + j] / found.sigma[k];
            (0..m).for_each(|i| X[j * m + i] += v * found.U[k * m + i]);
        }
    }
    X
}

impl Route for AnyInverse {
    /// The acceleration with any g-inverse A⁻ and any least-squares g-inverse H⁻, KU94 (29).
    ///
    /// $$ \ddot q = \{A^- - (I - A^-A) H^- M^{1/2} A^-\}\, b + (I - A^-A) H^- M^{-1/2} Q, \qquad H = M^{1/2}(I - A^-A) $$
    ///
    /// A⁻ = A⁺ + (I − A⁺A) U + V (I − A A⁺) and H⁻ = H⁺ + (I − H⁺H) U with U and V drawn at random; the acceleration
    /// does not depend on them. The rank of H is n − rank A; it is not decided a second time.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        self.problem.fill(given, extra_force, &self.settings)?;
        let Problem { n, m, M, Q, A, b, .. } = &self.problem;
        let (n, m, limit) = (*n, *m, self.settings.small_limit);
        let mut draw = Draw::new(self.settings.seed);

        // M^{1/2} and M^{-1/2}, symmetric
        let (mass, direction) = symmetric_eigen(M, n, limit);
        let power = |p: f64| {
            let mut X = vec![0.0; n * n];
            for k in 0..n {
                let (v, s) = (&direction[k * n..(k + 1) * n], mass[k].max(f64::MIN_POSITIVE).powf(p));
                (0..n * n).for_each(|at| X[at] += s * v[at / n] * v[at % n]);
            }
            X
        };
        let (root, inverse_root) = (power(0.5), power(-0.5));

        // A⁻, one of all g-inverses
        let decomposed = svd(A, m, n, Stop::Tolerance(self.settings.rank_tolerance), limit);
        let A_plus = pseudoinverse(&decomposed, m, n);
        let mut A_minus = A_plus.clone();
        let free = complement(&multiply(&A_plus, A, n, m, n), n);
        add(&mut A_minus, &multiply(&free, &draw.matrix(n, m), n, n, m));
        let unreached = complement(&multiply(A, &A_plus, m, n, m), m);
        add(&mut A_minus, &multiply(&draw.matrix(n, m), &unreached, n, m, m));

        // H = M^{1/2}(I − A⁻A) and H⁻, one of its least-squares g-inverses
        let onto_null = complement(&multiply(&A_minus, A, n, m, n), n);
        let H = multiply(&root, &onto_null, n, n, n);
        let H_plus = pseudoinverse(&svd(&H, n, n, Stop::Rank(n - decomposed.rank), limit), n, n);
        let mut H_minus = H_plus.clone();
        let free = complement(&multiply(&H_plus, &H, n, n, n), n);
        add(&mut H_minus, &multiply(&free, &draw.matrix(n, n), n, n, n));

        // q̈ = A⁻b + (I − A⁻A) H⁻ (M^{-1/2} Q − M^{1/2} A⁻ b)
        let mut x = multiply(&A_minus, b, n, m, 1);
        let mut residual = multiply(&inverse_root, Q, n, n, 1);
        let taken = multiply(&root, &x, n, n, 1);
        residual.iter_mut().zip(taken).for_each(|(y, x)| *y -= x);
        add(&mut x, &multiply(&onto_null, &multiply(&H_minus, &residual, n, n, 1), n, n, 1));
        self.problem.finish(given, &x, &self.settings, solution)?;

        // λ = A⁺ᵀ (M q̈ − Q)
        let g = self.problem.constraint_force(&x);
        let lambda = multiply(&g, &A_plus, 1, n, m);
        self.shortest.shorten(&self.problem, &lambda, decomposed.rank, &mut solution.lambda, limit)?;
        (solution.rank, solution.gap) = (decomposed.rank, decomposed.gap);
        Ok(())
    }
}
