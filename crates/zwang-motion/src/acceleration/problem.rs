//! The scaled problem that every route solves.

use crate::{
    Given, Matrix, MotionError, RouteSolution, Settings,
    acceleration::dependence::contradiction,
    factor::{
        add_multiple,
        dense::{self, DenseScratch},
        dot, largest, norm, power_of_two, root_power_of_two, small,
    },
    tolerance,
};

/// M, Q, A, b dense and scaled: M has a diagonal of about one, every row of A its largest entry between one and two.
///
/// With q = D x and the rows multiplied by D_r the scaled problem is D M D ẍ = D Q, D_r A D ẍ = D_r b. All scales are
/// powers of two, so scaling does not round. A singular M is replaced by M + AᵀA and Q by Q + Aᵀb, scaled, which
/// leaves the motion unchanged.
///
/// If A holds only some of the rows of a system, as for a projection of positions, M + AᵀA may still be singular: a coordinate
/// without mass may occur in a row on velocities alone. Then SᵀS is added as well, S being all rows: among the changes that A
/// allows, the least one counts that of what the other rows measure.
pub(crate) struct Problem {
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) M: Vec<f64>,
    pub(crate) Q: Vec<f64>,
    pub(crate) A: Vec<f64>,
    pub(crate) b: Vec<f64>,
    /// Cholesky factor, M = R Rᵀ, lower, row after row.
    pub(crate) R: Vec<f64>,
    /// M⁻¹Q.
    pub(crate) a: Vec<f64>,
    /// D.
    pub(crate) col_scale: Vec<f64>,
    /// D_r.
    pub(crate) row_scale: Vec<f64>,
    /// S, scaled like A; empty unless M + AᵀA has been singular.
    support: Vec<f64>,
    /// True if M and Q are replaced.
    pub(crate) singular: bool,
    pub(crate) was_singular: bool,
    /// True if D, and the decision that M is singular, stay as they are while M stays singular.
    pub(crate) holds_columns: bool,
    scratch: DenseScratch,
}

impl Problem {
    pub(crate) fn new() -> Problem {
        Problem {
            n: 0,
            m: 0,
            M: Vec::new(),
            Q: Vec::new(),
            A: Vec::new(),
            b: Vec::new(),
            R: Vec::new(),
            a: Vec::new(),
            col_scale: Vec::new(),
            row_scale: Vec::new(),
            support: Vec::new(),
            singular: false,
            was_singular: false,
            holds_columns: false,
            scratch: DenseScratch::new(),
        }
    }

    /// Scales the given problem, factors M, and replaces M if it is singular.
    pub(crate) fn fill(&mut self, given: &Given, extra_force: &[f64], settings: &Settings) -> Result<(), MotionError> {
        check_finite(given, extra_force)?;
        self.factor(&given.mass_matrix, &given.constraint_matrix, None, settings)?;
        self.load(&given.given_force, extra_force, &given.constraint_rhs);
        Ok(())
    }

    /// Scales M and A, factors M, and replaces M if it is singular, with S if there is one. Q and b are loaded later.
    pub(crate) fn factor(
        &mut self,
        M: &Matrix,
        A: &Matrix,
        S: Option<&Matrix>,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        let (n, m) = (M.n_rows, A.n_rows);
        let mut masses = (0..n).map(|coordinate| (coordinate, M.get(coordinate, coordinate)));
        if let Some((coordinate, mass)) = masses.find(|(_, mass)| 0.0 < *mass && *mass < tolerance::SMALLEST_MASS) {
            return Err(MotionError::MassTooSmall { coordinate, mass });
        }
        (self.n, self.m, self.singular) = (n, m, false);
        self.M.resize(n * n, 0.0);
        self.R.resize(n * n, 0.0);
        self.A.resize(m * n, 0.0);
        self.Q.resize(n, 0.0);
        self.a.resize(n, 0.0);
        self.b.resize(m, 0.0);
        self.col_scale.resize(n, 1.0);
        self.row_scale.resize(m, 1.0);
        self.support.resize(S.map_or(0, |S| S.n_rows * n), 0.0);
        self.scale(M, A, S);
        // an M that was singular at the last state is likely to be singular at this one
        if !self.was_singular && self.factor_mass(settings.mass_preferred, settings) {
            return Ok(());
        }
        if self.was_singular {
            self.add_rows();
            self.singular = true;
            if self.factor_mass(settings.mass_preferred, settings) {
                return Ok(());
            }
            self.scale(M, A, S);
            self.singular = false;
        }
        self.replace_singular(M, A, S, settings)?;
        // a stage far from the solution must not decide for later states
        if !self.holds_columns {
            self.was_singular = self.singular;
        }
        Ok(())
    }

    /// Q = D (force + extra), b = D_r rhs and a = M⁻¹Q, the unconstrained motion. An empty force stands for zero.
    pub(crate) fn load(&mut self, force: &[f64], extra: &[f64], rhs: &[f64]) {
        let Problem { n, m, Q, b, a, A, R, col_scale: D, row_scale, .. } = self;
        let part = |x: &[f64], i: usize| x.get(i).copied().unwrap_or(0.0);
        for i in 0..*n {
            Q[i] = D[i] * (part(force, i) + part(extra, i));
        }
        for i in 0..*m {
            b[i] = row_scale[i] * rhs[i];
        }
        // with M + AᵀA for M, Q + Aᵀb for Q
        if self.singular {
            for (row, b) in A.chunks_exact((*n).max(1)).zip(b.iter()) {
                add_multiple(Q, *b, row);
            }
        }
        a.copy_from_slice(Q);
        small::solve_lower(R, *n, a);
        small::solve_lower_transposed(R, *n, a);
    }

    /// D M D and D_r A D.
    fn scale(&mut self, M: &Matrix, A: &Matrix, S: Option<&Matrix>) {
        let n = self.n;
        M.write_dense(&mut self.M);
        if !(self.holds_columns && self.was_singular) {
            self.scale_columns(M, A, S);
        }
        let D = &self.col_scale;
        for i in 0..n {
            for j in 0..n {
                self.M[i * n + j] *= D[i] * D[j];
            }
        }
        A.write_dense(&mut self.A);
        for i in 0..self.m {
            let row = &mut self.A[i * n..(i + 1) * n];
            row.iter_mut().zip(D).for_each(|(x, d)| *x *= d);
            let s = 1.0 / power_of_two(largest(row));
            row.iter_mut().for_each(|x| *x *= s);
            self.row_scale[i] = s;
        }
        let Some(S) = S else { return };
        S.write_dense(&mut self.support);
        for row in self.support.chunks_exact_mut(n.max(1)) {
            row.iter_mut().zip(D).for_each(|(x, d)| *x *= d);
            let s = 1.0 / power_of_two(largest(row));
            row.iter_mut().for_each(|x| *x *= s);
        }
    }

    /// D from the diagonal of M, with a floor: a mass that is negligible relative to those it is coupled with, as in
    /// quaternions, must not be scaled up to one. One that vanishes there takes the scale of the others.
    fn scale_columns(&mut self, M: &Matrix, A: &Matrix, S: Option<&Matrix>) {
        let n = self.n;
        for i in 0..n {
            let coupled = M.row(i).0.iter().fold(0.0, |top: f64, &j| top.max(self.M[j * (n + 1)]));
            let d = self.M[i * (n + 1)];
            let mass = if d > 0.0 { d.max(tolerance::MASS_FLOOR * coupled) } else { coupled };
            self.col_scale[i] = if mass > 0.0 { 1.0 / root_power_of_two(mass) } else { 0.0 };
        }
        if self.col_scale.contains(&0.0) {
            self.scale_massless(S.unwrap_or(A));
        }
    }

    /// A coordinate without mass takes its scale from the constraints: its largest entry in a row becomes as large as
    /// that of the scaled coordinates with mass; in a row without such an entry it becomes one.
    fn scale_massless(&mut self, A: &Matrix) {
        let massless: Vec<bool> = self.col_scale.iter().map(|scale| *scale == 0.0).collect();
        let (mut beside_mass, mut alone) = (vec![0.0; self.n], vec![0.0; self.n]);
        for i in 0..A.n_rows {
            let (col, value) = A.row(i);
            let top = col.iter().zip(value).fold(0.0, |top: f64, (&j, x)| top.max(x.abs() * self.col_scale[j]));
            let (shares, top) = if top > 0.0 { (&mut beside_mass, top) } else { (&mut alone, largest(value)) };
            for (&j, &x) in col.iter().zip(value) {
                if massless[j] && top > 0.0 {
                    shares[j] = f64::max(shares[j], x.abs() / top);
                }
            }
        }
        for j in (0..self.n).filter(|&j| massless[j]) {
            let share = if beside_mass[j] > 0.0 { beside_mass[j] } else { alone[j] };
            self.col_scale[j] = 1.0 / power_of_two(share);
        }
    }

    /// M = R Rᵀ; false if a pivot is not above the floor.
    fn factor_mass(&mut self, floor: f64, settings: &Settings) -> bool {
        self.R.copy_from_slice(&self.M);
        dense::cholesky(&mut self.R, self.n, floor, settings.small_limit, &mut self.scratch)
    }

    /// M ← M + AᵀA if the sum is clearly positive definite, which holds if and only if [M; A] has full column rank;
    /// `load` then replaces Q by Q + Aᵀb.
    ///
    /// Both terms are scaled to one, so σ = 1. λ stays the same because A q̈ = b. If the sum is not clearly definite,
    /// M is kept, provided that it is definite at all.
    fn replace_singular(
        &mut self,
        M: &Matrix,
        A: &Matrix,
        S: Option<&Matrix>,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        self.check_semidefinite(M, settings)?;
        self.add_rows();
        self.singular = true;
        if self.factor_mass(settings.mass_preferred, settings) {
            return Ok(());
        }
        self.scale(M, A, S);
        self.singular = false;
        if self.factor_mass(settings.mass_tolerance, settings) {
            return Ok(());
        }
        self.add_rows();
        self.singular = true;
        if self.factor_mass(settings.mass_tolerance, settings) {
            return Ok(());
        }
        let (_, vectors) = dense::symmetric_eigen(&self.M, self.n, settings.small_limit);
        Err(MotionError::Indeterminate { direction: self.direction(&vectors[..self.n]) })
    }

    /// Fails if vᵀMv is negative beyond rounding for some v.
    fn check_semidefinite(&mut self, M: &Matrix, settings: &Settings) -> Result<(), MotionError> {
        let (n, rounding) = (self.n, 100.0 * settings.mass_tolerance);
        self.R.copy_from_slice(&self.M);
        let (_, remainder) = small::semidefinite_rank(&mut self.R, n, settings.mass_tolerance);
        let negative = (0..n).any(|i| self.M[i * (n + 1)] < 0.0);
        if negative || remainder > rounding {
            let (values, vectors) = dense::symmetric_eigen(&self.M, n, settings.small_limit);
            if values[0] < -rounding {
                let direction = self.direction(&vectors[..n]);
                let mut Mv = vec![0.0; n];
                M.multiply(&direction, &mut Mv);
                return Err(MotionError::MassNotPositive { value: dot(&direction, &Mv), direction });
            }
        }
        Ok(())
    }

    /// M += AᵀA + SᵀS.
    fn add_rows(&mut self) {
        let n = self.n;
        for row in self.A.chunks_exact(n.max(1)).chain(self.support.chunks_exact(n.max(1))) {
            for j in (0..n).filter(|&j| row[j] != 0.0) {
                add_multiple(&mut self.M[j * n..(j + 1) * n], row[j], row);
            }
        }
    }

    /// A scaled direction in the coordinates as written, of length one.
    fn direction(&self, x: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = x.iter().zip(&self.col_scale).map(|(x, d)| x * d).collect();
        let length = norm(&v);
        v.iter_mut().for_each(|v| *v = if v.abs() < tolerance::ROUNDING * length { 0.0 } else { *v / length });
        v
    }

    /// Row i of the scaled A.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.A[i * self.n..(i + 1) * self.n]
    }

    /// M x − Q, the constraint force that the scaled acceleration x needs.
    pub(crate) fn constraint_force(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| dot(&self.M[i * self.n..(i + 1) * self.n], x) - self.Q[i]).collect()
    }

    /// Checks that every row is satisfied and writes q̈ = D x.
    pub(crate) fn finish(
        &self,
        given: &Given,
        x: &[f64],
        settings: &Settings,
        solution: &mut RouteSolution,
    ) -> Result<(), MotionError> {
        solution.qddot.resize(self.n, 0.0);
        for (y, (x, d)) in solution.qddot.iter_mut().zip(x.iter().zip(&self.col_scale)) {
            *y = x * d;
        }
        if solution.qddot.iter().any(|x| !x.is_finite()) {
            return Err(MotionError::NotFinite { what: "the acceleration".into() });
        }
        match self.meets_rows(x, settings) {
            true => Ok(()),
            false => Err(contradiction(given, &solution.qddot, settings)),
        }
    }

    /// True if the scaled acceleration x satisfies every row, relative to the sizes that enter it: b, and A times the
    /// unconstrained and the constrained acceleration.
    pub(crate) fn meets_rows(&self, x: &[f64], settings: &Settings) -> bool {
        self.meets_rows_within(x, settings, 1.0)
    }

    /// True if x satisfies every row with `part` of the tolerance relative to accelerations; the tolerance relative to
    /// b is unchanged.
    pub(crate) fn meets_rows_within(&self, x: &[f64], settings: &Settings, part: f64) -> bool {
        if settings.contradiction_tolerance == f64::INFINITY {
            return true;
        }
        let reach = norm(x) + norm(&self.a);
        let mut floor = settings.contradiction_floor;
        if self.n > 0 {
            floor *= self.col_scale.iter().fold(f64::INFINITY, |s: f64, d| s.min(1.0 / d));
        }
        (0..self.m).all(|i| {
            let row = self.row(i);
            let residual = (self.b[i] - dot(row, x)).abs();
            let vanished = row.iter().all(|x| *x == 0.0);
            let size = if vanished { self.row_scale[i] } else { norm(row) };
            let of_b = if vanished { 0.0 } else { self.b[i].abs() };
            let least = if vanished { settings.contradiction_floor } else { floor };
            residual <= settings.contradiction_tolerance * (of_b + part * size * reach) + part * least
        })
    }
}

/// Names the first number that is not finite.
pub(crate) fn check_finite(given: &Given, extra_force: &[f64]) -> Result<(), MotionError> {
    let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = given;
    let fail = |what: String| Err(MotionError::NotFinite { what });
    let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
    if !finite(&M.value) {
        return fail(M.not_finite().map_or(String::new(), |(i, j)| format!("the mass matrix at row {i}, column {j}")));
    }
    if !finite(&A.value) {
        return fail(A.not_finite().map_or(String::new(), |(i, j)| format!("constraint row {i} at coordinate {j}")));
    }
    for (name, x) in [
        ("the given force on coordinate", Q.as_slice()),
        ("the right side of constraint row", b),
        ("the added force on coordinate", extra_force),
    ] {
        if let Some(i) = x.iter().position(|x| !x.is_finite()) {
            return fail(format!("{name} {i}"));
        }
    }
    Ok(())
}
