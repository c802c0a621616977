//! The generalized inverse, UK02 (12): the default route.

use super::{
    Route, Solution,
    large::Large,
    problem::Problem,
    shortest::{Shortest, check_multipliers},
};
use crate::{
    Given, Legendre, MotionError, Settings,
    factor::{
        dense::{Qr, Stop, solve_lower_columns},
        dot, power_of_two, small,
    },
};

/// UK02 (12) by a complete orthogonal decomposition, or sparsely where the system is large.
pub(crate) struct GeneralizedInverse {
    settings: Settings,
    large: Option<Large>,
    problem: Problem,
    qr: Qr,
    second: Qr,
    shortest: Shortest,
    scale: Vec<f64>,
    e: Vec<f64>,
    z: Vec<f64>,
    x: Vec<f64>,
}

impl GeneralizedInverse {
    pub(crate) fn new(settings: &Settings) -> GeneralizedInverse {
        GeneralizedInverse {
            settings: settings.clone(),
            large: None,
            problem: Problem::new(),
            qr: Qr::new(),
            second: Qr::new(),
            shortest: Shortest::new(),
            scale: Vec::new(),
            e: Vec::new(),
            z: Vec::new(),
            x: Vec::new(),
        }
    }

    /// Bᵀ = R⁻¹Aᵀ by columns, each brought to a length of about one, decomposed: Bᵀ Π = Q T.
    fn decompose(&mut self) {
        let Problem { n, m, A, R, .. } = &self.problem;
        let (n, m, small_limit) = (*n, *m, self.settings.small_limit);
        self.qr.resize(n, m);
        self.qr.columns.copy_from_slice(A);
        solve_lower_columns(R, n, &mut self.qr.columns, m, small_limit);
        self.scale.resize(m, 1.0);
        for i in 0..m {
            let column = self.qr.column_mut(i);
            let s = 1.0 / power_of_two(dot(column, column).sqrt());
            column.iter_mut().for_each(|x| *x *= s);
            self.scale[i] = s;
        }
        self.qr.factor(Stop::Tolerance(self.settings.rank_tolerance), small_limit);
    }

    /// z with Tᵀz = Πᵀe, in the sense of least squares where rows repeat each other.
    fn solve_triangle(&mut self) {
        let (qr, m, r) = (&self.qr, self.problem.m, self.qr.rank);
        let z = &mut self.z;
        z.resize(m, 0.0);
        for k in 0..m {
            z[k] = self.scale[qr.perm[k]] * self.e[qr.perm[k]];
        }
        if r == m {
            qr.solve_triangle_transposed(z);
            return;
        }
        // a second decomposition, Tᵀ Π' = Z S: the complete orthogonal one
        let second = &mut self.second;
        second.resize(m, r);
        for k in 0..r {
            for j in 0..m {
                second.columns[k * m + j] = if k <= j { qr.t(k, j) } else { 0.0 };
            }
        }
        second.factor(Stop::Rank(r), self.settings.small_limit);
        second.apply_transposed(z);
        second.solve_triangle(z);
        self.x[..r].copy_from_slice(&z[..r]);
        for k in 0..r {
            z[second.perm[k]] = self.x[k];
        }
    }
}

impl Route for GeneralizedInverse {
    /// Acceleration of the constrained system by the generalized inverse, UK02 (12).
    ///
    /// $$ \ddot q = a + M^{-1/2} B^+ (b - A a), \qquad B = A M^{-1/2} $$
    ///
    /// Any R with M = R Rᵀ may stand for M^(1/2); this uses Cholesky's. A may have any rank: B⁺ comes from a complete
    /// orthogonal decomposition of B with its rows brought to the same length. Large systems whose M falls into small
    /// blocks go through S = A M⁻¹Aᵀ instead. Fails if M is not positive semidefinite, if neither M nor A holds some direction,
    /// or if no acceleration satisfies A q̈ = b.
    fn solve(
        &mut self,
        given: &Given,
        _legendre: Option<&Legendre>,
        extra_force: &[f64],
        solution: &mut Solution,
    ) -> Result<(), MotionError> {
        if given.given_force.len() > self.settings.sparse_limit {
            let large = self.large.get_or_insert_with(|| Large::new(&self.settings));
            if large.solve(given, extra_force, solution)? {
                return Ok(());
            }
        }
        self.problem.fill(given, extra_force, &self.settings)?;
        let (n, m) = (self.problem.n, self.problem.m);
        self.decompose();

        // e = b − A a: how far the free motion would break the constraints
        self.e.resize(m, 0.0);
        for i in 0..m {
            self.e[i] = self.problem.b[i] - dot(self.problem.row(i), &self.problem.a);
        }

        // x = Q z = B⁺e, the scaled change of the acceleration
        self.x.clear();
        self.x.resize(n.max(m), 0.0);
        self.solve_triangle();
        let Problem { R, a, .. } = &self.problem;
        let r = self.qr.rank;
        let x = &mut self.x[..n];
        x.fill(0.0);
        x[..r].copy_from_slice(&self.z[..r]);
        self.qr.apply(x);

        // q̈ = a + R⁻ᵀ B⁺ e
        small::solve_lower_transposed(R, n, x);
        x.iter_mut().zip(a).for_each(|(x, a)| *x += a);
        self.problem.finish(given, x, &self.settings, solution)?;

        // Bᵀλ = B⁺e, the shortest for the rows as written
        solution.lambda.resize(m, 0.0);
        let scale = |i: usize| self.problem.row_scale[i] * self.scale[i];
        self.shortest.on_triangle(&self.qr, scale, &self.z, &mut solution.lambda);
        (solution.rank, solution.gap) = (r, self.qr.gap);
        check_multipliers(&solution.lambda)
    }
}
