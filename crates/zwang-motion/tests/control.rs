//! Random M, Q, A_p, A_c of any rank: the control force is that of KU94 (33) in addition to constraints, found by other algebra.
#![allow(non_snake_case)]

use faer::{Mat, Side};
use zwang_motion::*;

/// Numbers between −1 and 1 that are the same in every run.
struct Draw(u64);

impl Draw {
    fn real(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, rows: usize, cols: usize) -> Mat<f64> {
        Mat::from_fn(rows, cols, |_, _| self.real())
    }
}

/// A system with the same matrices at every state.
struct Fixed {
    given: Given,
    asked: ControlRows,
}

impl Dynamics for Fixed {
    fn size(&self) -> Size {
        Size { coordinates: self.given.given_force.len(), rows: self.given.constraint_rhs.len(), ..Size::default() }
    }
    fn allocate(&self) -> Given {
        self.given.clone()
    }
    fn fill(&mut self, _: &State, given: &mut Given) -> Result<(), MotionError> {
        given.clone_from(&self.given);
        Ok(())
    }
    fn control(&mut self) -> Option<&mut dyn ControlEquations> {
        Some(self)
    }
}

impl ControlEquations for Fixed {
    fn allocate_control_rows(&self) -> ControlRows {
        self.asked.clone()
    }
    fn fill_control_rows(&mut self, _: &State, rows: &mut ControlRows) -> Result<(), MotionError> {
        rows.clone_from(&self.asked);
        Ok(())
    }
}

fn sparse(X: &Mat<f64>) -> Matrix {
    let entries: Vec<f64> = (0..X.nrows() * X.ncols()).map(|at| X[(at / X.ncols(), at % X.ncols())]).collect();
    Matrix::from_dense(X.nrows(), X.ncols(), &entries)
}

/// X⁺ by singular values above 1e-9 of the largest.
fn pseudo_inverse(X: &Mat<f64>) -> Mat<f64> {
    let svd = X.thin_svd().unwrap();
    let s = svd.S().column_vector();
    let top = (0..s.nrows()).fold(0.0, |top: f64, k| top.max(s[k]));
    let inverse = Mat::from_fn(s.nrows(), s.nrows(), |i, j| if i == j && s[i] > 1e-9 * top { 1.0 / s[i] } else { 0.0 });
    svd.V() * inverse * svd.U().transpose()
}

/// M^p by eigenvalues.
fn power(M: &Mat<f64>, p: f64) -> Mat<f64> {
    let eigen = M.self_adjoint_eigen(Side::Lower).unwrap();
    let s = eigen.S().column_vector();
    let n = M.nrows();
    let middle = Mat::from_fn(n, n, |i, j| if i == j { s[i].powf(p) } else { 0.0 });
    eigen.U() * middle * eigen.U().transpose()
}

fn snapshot(system: &mut Fixed, name: RouteName) -> StateQuantities {
    let settings = Settings::default();
    let mut snapshot = Snapshot::new(system);
    let state = State::zero(system.size().coordinates);
    snapshot.take(system, &state, &mut *route(name, &settings), &settings).unwrap();
    snapshot.found
}

fn vector(draw: &mut Draw, n: usize) -> Mat<f64> {
    draw.matrix(n, 1)
}

fn close(found: &[f64], wanted: &Mat<f64>, what: &str) {
    let size = (0..wanted.nrows()).fold(1.0, |top: f64, i| top.max(wanted[(i, 0)].abs()));
    for (i, x) in found.iter().enumerate() {
        assert!((x - wanted[(i, 0)]).abs() < 1e-8 * size, "{what}: {found:?} instead of {wanted:?}");
    }
}

/// u = M^{1/2}(B_c Nₚ)⁺(b_c − A_c q̈ₚ), with repeated constraints and repeated controls too.
#[test]
fn the_control_force_is_that_of_the_formula() {
    let mut draw = Draw(3);
    for round in 0..60 {
        let (n, m, k) = (5 + round % 3, 1 + round % 2, 1 + round % 2);
        let root = draw.matrix(n, n);
        let M = &root * root.transpose() + Mat::<f64>::identity(n, n);
        let (Q, q) = (vector(&mut draw, n), vector(&mut draw, n));
        // rows stated twice, and right-hand sides that some acceleration q satisfies
        let twice =
            |X: Mat<f64>, rows: usize| Mat::from_fn(2 * rows, n, |i, j| X[(i % rows, j)] * (1.0 + (i / rows) as f64));
        let (A, A_c) = (twice(draw.matrix(m, n), m), twice(draw.matrix(k, n), k));
        let (b, b_c) = (&A * &q, &A_c * &q);

        let (half, inverse) = (power(&M, 0.5), power(&M, -0.5));
        let B = &A * &inverse;
        let N = Mat::<f64>::identity(n, n) - pseudo_inverse(&B) * &B;
        let a = &inverse * &inverse * &Q;
        let motion = &a + &inverse * pseudo_inverse(&B) * (&b - &A * &a);
        let residual = &b_c - &A_c * &motion;
        let B_c = &A_c * &inverse;
        let u = &half * pseudo_inverse(&(&B_c * &N)) * &residual;
        let moved = &motion + &inverse * &N * &inverse * &u;

        let column = |x: &Mat<f64>| (0..x.nrows()).map(|i| x[(i, 0)]).collect::<Vec<f64>>();
        let given = Given {
            mass_matrix: sparse(&M),
            given_force: column(&Q),
            constraint_matrix: sparse(&A),
            constraint_rhs: column(&b),
        };
        let asked =
            ControlRows { rows: sparse(&A_c), rhs: column(&b_c), driven: (0..n).collect(), ..ControlRows::default() };
        let mut system = Fixed { given, asked };
        for name in [RouteName::GeneralizedInverse, RouteName::Multipliers, RouteName::LeastConstraint] {
            let found = snapshot(&mut system, name);
            close(&found.control_force, &u, "u");
            close(&found.qddot, &moved, "q̈");
            assert_eq!((found.rank, found.control_rank), (m, (k, k)), "round {round}");
        }

        // the part linear in b_c
        let linear = &half * pseudo_inverse(&(&B_c * &N)) * &b_c;
        close(&snapshot(&mut system, RouteName::GeneralizedInverse).control_linear, &linear, "part linear in b");
    }
}

/// u = S w with A_c M^{-1/2} Nₚ M^{-1/2} S w = b_c − A_c q̈ₚ, as many driven coordinates as rows.
#[test]
fn driven_coordinates_alone_carry_the_force() {
    let mut draw = Draw(11);
    for round in 0..40 {
        let n = 5;
        let root = draw.matrix(n, n);
        let M = &root * root.transpose() + Mat::<f64>::identity(n, n);
        let column = |x: &Mat<f64>| (0..x.nrows()).map(|i| x[(i, 0)]).collect::<Vec<f64>>();
        let given = Given {
            mass_matrix: sparse(&M),
            given_force: column(&vector(&mut draw, n)),
            constraint_matrix: sparse(&draw.matrix(1, n)),
            constraint_rhs: vec![draw.real()],
        };
        let rhs = vec![draw.real(), draw.real()];
        let rows = sparse(&draw.matrix(2, n));
        let asked = ControlRows { rows, rhs, driven: vec![1, 3], ..ControlRows::default() };
        let found = snapshot(&mut Fixed { given: given.clone(), asked: asked.clone() }, RouteName::GeneralizedInverse);
        assert!([0, 2, 4].iter().all(|&i| found.control_force[i] == 0.0), "round {round}");
        let size = found.qddot.iter().fold(1.0, |top: f64, x| top.max(x.abs()));
        for i in 0..2 {
            assert!((asked.rows.row_times(i, &found.qddot) - asked.rhs[i]).abs() < 1e-10 * size, "round {round}");
        }
        let off = given.constraint_matrix.row_times(0, &found.qddot) - given.constraint_rhs[0];
        assert!(off.abs() < 1e-10 * size, "round {round}: {off:e}");
    }
}
