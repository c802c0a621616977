//! Random M, Q, A, b of any rank: all routes agree, G is least, the ideal constraint force does no virtual work.
//!
//! `ZWANG_CASES` sets how many systems are drawn.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use faer::MatRef;
use zwang_motion::*;

/// xorshift*, so that every case can be drawn again from its number.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Draw {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1);
        (0..8).for_each(|_| _ = draw.bits());
        draw
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Between −1 and 1.
    fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.real()).collect()
    }

    /// 0 to k − 1.
    fn below(&mut self, k: usize) -> usize {
        (self.bits() >> 33) as usize % k
    }
}

/// A drawn system and what is known of it.
struct Case {
    n: usize,
    m: usize,
    rank: usize,
    given: Given,
    legendre: Legendre,
    qdot: Vec<f64>,
    /// cond(B) · √cond(M), with the rows of B at length one and M at a unit diagonal.
    condition: f64,
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn times(A: &Matrix, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; A.n_rows];
    A.multiply(x, &mut y);
    y
}

fn transposed_times(A: &Matrix, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; A.n_cols];
    A.multiply_transposed(x, &mut y);
    y
}

/// V diag(d) Vᵀ with 0.1 ≤ d ≤ 10, in one case of four in units up to a thousand times larger or smaller.
fn draw_mass(draw: &mut Draw, n: usize) -> Vec<f64> {
    let mut M = vec![0.0; n * n];
    (0..n).for_each(|i| M[i * (n + 1)] = 10f64.powf(draw.real()));
    for _ in 0..3 {
        // M ← H M H with a random reflection
        let v = draw.vector(n);
        let vv = dot(&v, &v).max(1e-3);
        for side in 0..2 {
            for i in 0..n {
                let at = |j: usize| if side == 0 { j * n + i } else { i * n + j };
                let s = 2.0 * (0..n).map(|j| v[j] * M[at(j)]).sum::<f64>() / vv;
                (0..n).for_each(|j| M[at(j)] -= s * v[j]);
            }
        }
    }
    let graded = draw.below(4) == 0;
    let unit: Vec<f64> = (0..n).map(|_| if graded { 10f64.powf(3.0 * draw.real()) } else { 1.0 }).collect();
    for i in 0..n {
        for j in 0..=i {
            let x = 0.5 * (M[i * n + j] + M[j * n + i]) * unit[i] * unit[j];
            (M[i * n + j], M[j * n + i]) = (x, x);
        }
    }
    M
}

/// m rows of the given rank: some drawn, the others copies, multiples by up to 1e±8, sums of them, or zero.
fn draw_rows(draw: &mut Draw, n: usize, m: usize, rank: usize) -> Vec<f64> {
    let base: Vec<Vec<f64>> = (0..rank).map(|_| draw.vector(n)).collect();
    let mut rows = base.clone();
    while rows.len() < m {
        let mut row = vec![0.0; n];
        if rank > 0 {
            match draw.below(4) {
                0 => row.clone_from(&base[draw.below(rank)]),
                1 => row = base[draw.below(rank)].iter().map(|x| -3.0 * x).collect(),
                2 => {
                    for _ in 0..2 + draw.below(3) {
                        let (s, other) = (draw.real(), &base[draw.below(rank)]);
                        row.iter_mut().zip(other).for_each(|(x, y)| *x += s * y);
                    }
                    // a sum that cancels would be no sum of these rows any more
                    if norm(&row) < 0.1 {
                        row.fill(0.0);
                    }
                }
                _ => {}
            }
        }
        rows.push(row);
    }
    for i in (1..m).rev() {
        rows.swap(i, draw.below(i + 1));
    }
    for row in &mut rows {
        let scale = [1.0, 1.0, 1e8, 1e-8][draw.below(4)];
        row.iter_mut().for_each(|x| *x *= scale);
    }
    rows.concat()
}

fn draw_case(number: u64) -> Case {
    let mut draw = Draw::new(number);
    let (n, m) = (1 + draw.below(12), draw.below(17));
    let rank = draw.below(n.min(m) + 1);
    let M = Matrix::from_dense(n, n, &draw_mass(&mut draw, n));
    let A = Matrix::from_dense(m, n, &draw_rows(&mut draw, n, m, rank));
    let b = times(&A, &draw.vector(n));
    let Q = draw.vector(n);

    // ∂p/∂q, ∂p/∂t, F, q̇ at will, and ∂L/∂q such that Q = F + ∂L/∂q − (∂p/∂q) q̇ − ∂p/∂t
    let unit: Vec<f64> = (0..n).map(|i| M.get(i, i).sqrt()).collect();
    let force = |draw: &mut Draw| (0..n).map(|i| draw.real() * unit[i]).collect::<Vec<f64>>();
    let (p_t, F) = (force(&mut draw), force(&mut draw));
    let v: Vec<f64> = (0..n).map(|i| draw.real() / unit[i]).collect();
    let p_q: Vec<f64> = (0..n * n).map(|k| draw.real() * unit[k / n] * unit[k % n]).collect();
    let p_q = Matrix::from_dense(n, n, &p_q);
    let (forward, back) = (times(&p_q, &v), transposed_times(&p_q, &v));
    let L_q: Vec<f64> = (0..n).map(|i| Q[i] - F[i] + forward[i] + p_t[i]).collect();
    let legendre = Legendre {
        momentum: times(&M, &v),
        momentum_by_q: p_q,
        momentum_by_t: p_t,
        energy_by_q: (0..n).map(|i| back[i] - L_q[i]).collect(),
        energy_by_qdot: times(&M, &v),
        force: F,
    };
    let condition = condition(&M, &A, rank);
    let given = Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b };
    Case { n, m, rank, given, legendre, qdot: v, condition }
}

/// M in units that give it a unit diagonal: D M D, and D.
fn unit_mass(M: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = M.n_rows;
    let D: Vec<f64> = (0..n).map(|i| 1.0 / M.get(i, i).sqrt()).collect();
    ((0..n * n).map(|k| M.get(k / n, k % n) * D[k / n] * D[k % n]).collect(), D)
}

/// The symmetric root of M to the power p, from faer.
fn mass_power(M: &[f64], n: usize, p: f64) -> Vec<f64> {
    let eigen = MatRef::from_row_major_slice(M, n, n).self_adjoint_eigen(faer::Side::Lower).unwrap();
    let entry = |i: usize, j: usize| (0..n).map(|k| eigen.S()[k].powf(p) * eigen.U()[(i, k)] * eigen.U()[(j, k)]).sum();
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

fn product(X: &[f64], Y: &[f64], r: usize, k: usize, c: usize) -> Vec<f64> {
    (0..r * c).map(|at| (0..k).map(|l| X[at / c * k + l] * Y[l * c + at % c]).sum()).collect()
}

fn unit_rows(mut rows: Vec<f64>, n: usize) -> Vec<f64> {
    for row in rows.chunks_exact_mut(n) {
        let length = norm(row);
        row.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
    }
    rows
}

fn condition(M: &Matrix, A: &Matrix, rank: usize) -> f64 {
    let (n, m) = (M.n_rows, A.n_rows);
    let (scaled, D) = unit_mass(M);
    let mass = MatRef::from_row_major_slice(&scaled, n, n).singular_values().unwrap();
    let root = (mass[0] / mass[n - 1]).sqrt();
    if rank == 0 {
        return root;
    }
    let rows: Vec<f64> = A.to_dense().iter().enumerate().map(|(k, x)| x * D[k % n]).collect();
    let B = unit_rows(product(&rows, &mass_power(&scaled, n, -0.5), m, n, n), n);
    let sigma = MatRef::from_row_major_slice(&B, m, n).singular_values().unwrap();
    root * sigma[0] / sigma[rank - 1]
}

/// Orthonormal directions with A v = 0 in coordinates of unit mass, given back as written.
fn virtual_displacements(case: &Case) -> Vec<Vec<f64>> {
    let (n, m) = (case.n, case.m);
    let (_, D) = unit_mass(&case.given.mass_matrix);
    let mut rows: Vec<f64> =
        case.given.constraint_matrix.to_dense().iter().enumerate().map(|(k, x)| x * D[k % n]).collect();
    rows = unit_rows(rows, n);
    rows.resize((m + n) * n, 0.0);
    let svd = MatRef::from_row_major_slice(&rows, m + n, n).svd().unwrap();
    (case.rank..n).map(|k| (0..n).map(|i| svd.V()[(i, k)] * D[i]).collect()).collect()
}

fn solve(name: RouteName, case: &Case, settings: &Settings) -> RouteSolution {
    let mut route = route(name, settings);
    let mut solution = RouteSolution::default();
    route.at(&State { t: 0.0, q: vec![0.0; case.n], qdot: case.qdot.clone() });
    route.solve(&case.given, Some(&case.legendre), &[], &mut solution).unwrap();
    solution
}

/// |x|_M with M's diagonal for M.
fn size(case: &Case, x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, x)| x * x * case.given.mass_matrix.get(i, i)).sum::<f64>().sqrt()
}

fn free_motion(case: &Case) -> Vec<f64> {
    let (n, (scaled, D)) = (case.n, unit_mass(&case.given.mass_matrix));
    let inverse = mass_power(&scaled, n, -1.0);
    let DQ: Vec<f64> = case.given.given_force.iter().zip(&D).map(|(Q, D)| Q * D).collect();
    product(&inverse, &DQ, n, n, 1).iter().zip(&D).map(|(x, D)| x * D).collect()
}

/// The sizes of ∂E/∂q, ∂p/∂t and F as accelerations.
fn terms(case: &Case) -> f64 {
    let (_, D) = unit_mass(&case.given.mass_matrix);
    let Legendre { energy_by_q, momentum_by_t, force, .. } = &case.legendre;
    [energy_by_q, momentum_by_t, force]
        .iter()
        .map(|x| norm(&x.iter().zip(&D).map(|(x, D)| x * D).collect::<Vec<_>>()))
        .sum()
}

fn n_cases() -> u64 {
    std::env::var("ZWANG_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// What routes may differ by, in units of the condition: rounding in a few hundred operations.
const ROUNDING: f64 = 1e-12;

#[test]
fn all_routes_agree_for_any_rank() {
    let settings = Settings::default();
    let (mut worst, mut worst_lambda, mut nearly_dependent) = (0f64, 0f64, 0);
    for number in 0..n_cases() {
        let case = draw_case(number);
        // rows dependent by chance to within a decade of the tolerance: routes may then decide differently
        if case.condition > 1e9 {
            nearly_dependent += 1;
            continue;
        }
        let a = free_motion(&case);
        let first = solve(RouteName::GeneralizedInverse, &case, &settings);
        let reach = size(&case, &first.qddot) + size(&case, &a);
        assert_eq!(first.rank, case.rank, "case {number}");
        assert_eq!(first.lambda.len(), case.m);
        for name in RouteName::ALL {
            let other = solve(name, &case, &settings);
            assert_eq!(other.rank, case.rank, "case {number}, {name}: {:?}", other.gap);
            assert!(
                other.gap.kept > settings.rank_tolerance && other.gap.dropped < 1e-12,
                "case {number}, {name}: {:?}",
                other.gap
            );
            let difference: Vec<f64> = first.qddot.iter().zip(&other.qddot).map(|(x, y)| x - y).collect();
            // the two-form starts from data of which Q is a difference
            let reach = if name == RouteName::TwoForm { reach + terms(&case) } else { reach };
            let relative = size(&case, &difference) / (reach * case.condition);
            assert!(relative < ROUNDING, "case {number}, {name}: {relative:.1e}, condition {:.1e}", case.condition);
            worst = worst.max(relative);

            let difference: Vec<f64> = first.lambda.iter().zip(&other.lambda).map(|(x, y)| x - y).collect();
            if case.rank > 0 && norm(&first.lambda) > 0.0 {
                let relative = norm(&difference) / (norm(&first.lambda) * case.condition * case.condition);
                assert!(
                    relative < 1e3 * ROUNDING,
                    "case {number}, {name}: λ {relative:.1e}, condition {:.1e}",
                    case.condition
                );
                worst_lambda = worst_lambda.max(relative);
            }
        }
    }
    println!(
        "largest disagreement / condition: {worst:.1e}, λ / condition²: {worst_lambda:.1e}, left out {nearly_dependent}"
    );
    assert!(nearly_dependent <= 1 + n_cases() / 1000);
}

/// A q̈ = b, M q̈ = Q + Aᵀλ, and λ has nothing in the null space of Aᵀ.
#[test]
fn the_solution_satisfies_its_equations() {
    let settings = Settings::default();
    for number in 0..n_cases() {
        let case = draw_case(number);
        let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = &case.given;
        let a = free_motion(&case);
        for name in [RouteName::GeneralizedInverse, RouteName::LeastConstraint] {
            let RouteSolution { qddot, lambda, .. } = solve(name, &case, &settings);
            for i in 0..case.m {
                let (col, value) = A.row(i);
                let terms = col.iter().zip(value).map(|(&j, x)| x.abs() * (qddot[j].abs() + a[j].abs()));
                let size: f64 = b[i].abs() + terms.sum::<f64>();
                let left = (A.row_times(i, &qddot) - b[i]).abs();
                assert!(
                    left <= ROUNDING * case.condition * size,
                    "case {number}, {name}, row {i}: {left:.1e} of {size:.1e}"
                );
            }
            let (Mqddot, force) = (times(M, &qddot), transposed_times(A, &lambda));
            let (_, D) = unit_mass(M);
            let left: Vec<f64> = (0..case.n).map(|i| D[i] * (Mqddot[i] - Q[i] - force[i])).collect();
            let size = size(&case, &qddot) + norm(&Q.iter().zip(&D).map(|(Q, D)| Q * D).collect::<Vec<_>>());
            assert!(
                norm(&left) <= ROUNDING * case.condition * case.condition * size,
                "case {number}, {name}: {:.1e}",
                norm(&left) / size
            );

            // certificates of dependent rows span the null space of Aᵀ
            let found = dependence(A, &settings).unwrap();
            assert_eq!(found.rank, case.rank, "case {number}: {:?}", found.gap);
            for (row, terms) in &found.dependent {
                let length = terms.iter().fold(1.0, |sum, (_, c)| f64::hypot(sum, *c));
                // a coefficient is known to rounding for rows of the same size, and these are not
                let share = |k: usize| norm(A.row(*row).1) / norm(A.row(k).1) * lambda[k].abs();
                let unknown = 1e-11 * found.independent.iter().map(|&k| share(k)).sum::<f64>();
                let along = lambda[*row] - terms.iter().map(|(k, c)| c * lambda[*k]).sum::<f64>();
                let allowed = (1e-8 + 1e-14 * case.condition * case.condition) * length * norm(&lambda);
                assert!(
                    along.abs() <= allowed + unknown,
                    "case {number}, {name}: {:.1e}",
                    along / length / norm(&lambda)
                );
            }
            assert!(found.vanished.iter().all(|&i| lambda[i].abs() <= 1e-14 * norm(&lambda)), "case {number}");
        }
    }
}

#[test]
fn the_gaussian_is_least_and_the_ideal_force_does_no_virtual_work() {
    let settings = Settings::default();
    for number in 0..n_cases() / 2 {
        let case = draw_case(number);
        let (M, A) = (&case.given.mass_matrix, &case.given.constraint_matrix);
        let a = free_motion(&case);
        let RouteSolution { qddot, lambda, .. } = solve(RouteName::GeneralizedInverse, &case, &settings);
        let gaussian = |x: &[f64]| {
            let change: Vec<f64> = x.iter().zip(&a).map(|(x, a)| x - a).collect();
            dot(&change, &times(M, &change))
        };
        let force = transposed_times(A, &lambda);
        let free = virtual_displacements(&case);
        let mut draw = Draw::new(number + 1_000_000);
        let least = gaussian(&qddot);
        for v in &free {
            let work: f64 = dot(v, &force);
            let size: f64 = v.iter().zip(&force).map(|(v, f)| (v * f).abs()).sum();
            assert!(
                work.abs() <= ROUNDING * case.condition * case.condition * (1.0 + size),
                "case {number}: {work:.1e} of {size:.1e}"
            );
        }
        for _ in 0..4 {
            let mut other = qddot.clone();
            let step = 10f64.powf(-4.0 * draw.real().abs()) * size(&case, &qddot).max(1.0);
            for v in &free {
                let s = step * draw.real();
                other.iter_mut().zip(v).for_each(|(x, v)| *x += s * v);
            }
            assert!(gaussian(&other) >= least * (1.0 - 1e-11 * case.condition), "case {number}");
        }
    }
}

/// KU94 (19) given to an interior-point solver that shares nothing with the routes.
#[test]
fn an_independent_quadratic_program_agrees() {
    use clarabel::{algebra::CscMatrix, solver::*};
    let settings = Settings::default();
    let mut compared = 0;
    for number in 0..(n_cases() / 20).min(2000) {
        let case = draw_case(number);
        if case.condition > 1e3 {
            continue;
        }
        let (n, m) = (case.n, case.m);
        let (M, D) = unit_mass(&case.given.mass_matrix);
        let upper: Vec<f64> = (0..n * n).map(|k| if k / n <= k % n { M[k] } else { 0.0 }).collect();
        let mut rows: Vec<f64> =
            case.given.constraint_matrix.to_dense().iter().enumerate().map(|(k, x)| x * D[k % n]).collect();
        let mut b = case.given.constraint_rhs.clone();
        for (row, b) in rows.chunks_exact_mut(n).zip(&mut b) {
            let length = norm(row);
            if length > 0.0 {
                row.iter_mut().for_each(|x| *x /= length);
                *b /= length;
            }
        }
        let csc = |dense: &[f64], rows: usize| {
            let columns = dense.chunks_exact(n).map(|row| row.to_vec()).collect::<Vec<_>>();
            let (mut start, mut index, mut value) = (vec![0], Vec::new(), Vec::new());
            for j in 0..n {
                for (i, row) in columns.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
                    index.push(i);
                    value.push(row[j]);
                }
                start.push(index.len());
            }
            CscMatrix::new(rows, n, start, index, value)
        };
        let minus_Q: Vec<f64> = case.given.given_force.iter().zip(&D).map(|(Q, D)| -Q * D).collect();
        let options = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-11,
            tol_gap_rel: 1e-11,
            tol_feas: 1e-11,
            ..Default::default()
        };
        let cones = [SupportedConeT::ZeroConeT(m)];
        let mut solver = DefaultSolver::new(&csc(&upper, n), &minus_Q, &csc(&rows, m), &b, &cones, options).unwrap();
        solver.solve();
        if !matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
            continue;
        }
        compared += 1;
        let ours = solve(RouteName::GeneralizedInverse, &case, &settings);
        let theirs: Vec<f64> = solver.solution.x.iter().zip(&D).map(|(x, D)| x * D).collect();
        let difference: Vec<f64> = ours.qddot.iter().zip(&theirs).map(|(x, y)| x - y).collect();
        let relative = size(&case, &difference) / (size(&case, &ours.qddot) + size(&case, &free_motion(&case)));
        assert!(relative < 1e-8 * case.condition, "case {number}: {relative:.1e}");
    }
    println!("compared {compared}");
    assert!(compared > 30.min(n_cases() as usize / 100));
}

#[test]
fn any_inverse_does_not_depend_on_which() {
    for number in 0..n_cases() / 10 {
        let case = draw_case(number);
        let first = solve(RouteName::AnyInverse, &case, &Settings::default());
        let reach = size(&case, &first.qddot) + size(&case, &free_motion(&case));
        for seed in [0, 2, 77, u64::MAX] {
            let other = solve(RouteName::AnyInverse, &case, &Settings { seed, ..Settings::default() });
            let difference: Vec<f64> = first.qddot.iter().zip(&other.qddot).map(|(x, y)| x - y).collect();
            assert!(size(&case, &difference) < ROUNDING * reach * case.condition, "case {number}, seed {seed}");
        }
    }
}

/// P² = P = Pᵀ, P + N = I, P q̈ₛ = B⁺b, N q̈ₛ = N aₛ (UK95 12 to 16); the influence is symmetric and gives λ (UK95 19).
#[test]
fn the_two_projections_split_the_acceleration() {
    let settings = Settings::default();
    for number in 0..n_cases() / 2 {
        let case = draw_case(number);
        let (n, m) = (case.n, case.m);
        let Given { mass_matrix: M, constraint_matrix: A, constraint_rhs: b, .. } = &case.given;
        let Geometry { P, N, influence } = geometry(&case.given, &settings).unwrap();
        let near = |x: &[f64], y: &[f64], scale: f64, what: &str| {
            let largest = x.iter().zip(y).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            assert!(largest <= scale, "case {number}, {what}: {largest:.1e}, condition {:.1e}", case.condition);
        };
        near(&product(&P, &P, n, n, n), &P, 1e-13, "P² = P");
        for i in 0..n {
            for j in 0..n {
                assert!((P[i * n + j] - P[j * n + i]).abs() < 1e-14);
                assert!((P[i * n + j] + N[i * n + j] - if i == j { 1.0 } else { 0.0 }).abs() < 1e-15);
            }
        }
        assert!((P.iter().step_by(n + 1).sum::<f64>() - case.rank as f64).abs() < 1e-10, "trace P = rank");
        (0..m * m).for_each(|k| assert_eq!(influence[k], influence[k % m * m + k / m]));

        // the rest in units where it can be compared: the symmetric root mixes all coordinates
        let spread = (0..n).map(|i| M.get(i, i)).fold((f64::MAX, 0f64), |(l, h), x| (l.min(x), h.max(x)));
        if spread.1 / spread.0 > 1e4 {
            continue;
        }
        let root = mass_power(&M.to_dense(), n, 0.5);
        let solution = solve(RouteName::GeneralizedInverse, &case, &settings);
        let scaled = product(&root, &solution.qddot, n, n, 1);
        let free = product(&root, &free_motion(&case), n, n, 1);
        let scale = 1e-11 * case.condition * (norm(&scaled) + norm(&free));
        near(&product(&N, &scaled, n, n, 1), &product(&N, &free, n, n, 1), scale, "N q̈ₛ = N aₛ");
        // B⁺b = Bᵀ (B Bᵀ)⁺ b = M^{-1/2} Aᵀ · influence · b
        let weighted = product(&influence, b, m, m, 1);
        let B_plus_b = product(&mass_power(&M.to_dense(), n, -0.5), &transposed_times(A, &weighted), n, n, 1);
        near(&product(&P, &scaled, n, n, 1), &B_plus_b, 1e2 * case.condition * scale, "P q̈ₛ = B⁺b");
        let a = free_motion(&case);
        let e: Vec<f64> = (0..m).map(|i| b[i] - A.row_times(i, &a)).collect();
        let lambda = product(&influence, &e, m, m, 1);
        let largest = norm(&solution.lambda);
        near(&lambda, &solution.lambda, 1e-9 * case.condition * case.condition * largest, "λ = influence e");
    }
}

/// Rows that repeat others with another right-hand side are refused, and the certificate says which.
#[test]
fn contradictions_are_refused_with_a_certificate() {
    let settings = Settings::default();
    let mut refused = 0;
    for number in 0..n_cases() / 4 {
        let mut case = draw_case(number);
        let A = case.given.constraint_matrix.clone();
        let found = dependence(&A, &settings).unwrap();
        let Some((row, _)) = found.dependent.last() else { continue };
        let reach = size(&case, &solve(RouteName::GeneralizedInverse, &case, &settings).qddot)
            + size(&case, &free_motion(&case));
        let (_, D) = unit_mass(&case.given.mass_matrix);
        let (col, value) = A.row(*row);
        let length = reach * col.iter().zip(value).map(|(&j, x)| (x * D[j]).abs()).sum::<f64>();
        // a disturbance of rounding size changes nothing, one of a thousandth is refused by every route
        case.given.constraint_rhs[*row] += 1e-12 * length;
        solve(RouteName::GeneralizedInverse, &case, &settings);
        case.given.constraint_rhs[*row] += 1e-3 * length;
        for name in RouteName::ALL {
            let mut route = route(name, &settings);
            let error = route.solve(&case.given, Some(&case.legendre), &[], &mut RouteSolution::default());
            let Err(MotionError::Contradiction { certificate, gap, residual }) = error else {
                panic!("case {number}, {name}: {error:?}")
            };
            let combination = transposed_times(&A, &certificate);
            let size = certificate.iter().enumerate().fold(0.0, |top: f64, (i, y)| top.max(y.abs() * norm(A.row(i).1)));
            assert!(norm(&combination) <= 1e-8 * size, "case {number}, {name}");
            assert!(gap.abs() > 0.0 && certificate[*row] != 0.0 && residual.len() == case.m, "case {number}, {name}");
            assert!(certificate.iter().filter(|y| **y != 0.0).count() <= case.rank + 1);
        }
        refused += 1;
    }
    assert!(refused > 0 || n_cases() < 20);
}

/// No number whatsoever makes a route panic or answer with something that is not a number.
#[test]
fn wild_numbers_are_answered_or_refused() {
    let settings = Settings::default();
    let wild = [0.0, f64::NAN, f64::INFINITY, -1.0, 1e300, 1e-300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0];
    for number in 0..n_cases() {
        let mut case = draw_case(number);
        let mut draw = Draw::new(number + 7_000_000);
        for _ in 0..1 + draw.below(3) {
            let Given { mass_matrix, given_force, constraint_matrix, constraint_rhs } = &mut case.given;
            let values = [&mut mass_matrix.value, given_force, &mut constraint_matrix.value, constraint_rhs];
            let target = values.into_iter().nth(draw.below(4)).unwrap();
            if !target.is_empty() {
                let k = draw.below(target.len());
                target[k] = wild[draw.below(wild.len())];
            }
        }
        for name in RouteName::ALL {
            let mut solution = RouteSolution::default();
            if route(name, &settings).solve(&case.given, Some(&case.legendre), &[], &mut solution).is_ok() {
                assert!(solution.qddot.iter().chain(&solution.lambda).all(|x| x.is_finite()), "case {number}, {name}");
            }
        }
        let _ = dependence(&case.given.constraint_matrix, &settings);
        let _ = geometry(&case.given, &settings);
    }
}

#[test]
fn no_coordinates_and_no_rows_are_systems_too() {
    for (n, m) in [(0, 0), (0, 2), (3, 0), (1, 1)] {
        let case = Case {
            n,
            m,
            rank: 0,
            given: Given {
                mass_matrix: Matrix::identity(n),
                given_force: vec![2.0; n],
                constraint_matrix: Matrix::from_dense(m, n, &vec![0.0; m * n]),
                constraint_rhs: vec![0.0; m],
            },
            legendre: Legendre {
                momentum: vec![0.0; n],
                momentum_by_q: Matrix::from_dense(n, n, &vec![0.0; n * n]),
                momentum_by_t: vec![0.0; n],
                energy_by_q: vec![-2.0; n],
                energy_by_qdot: vec![0.0; n],
                force: vec![0.0; n],
            },
            qdot: vec![0.0; n],
            condition: 1.0,
        };
        for name in RouteName::ALL {
            let solution = solve(name, &case, &Settings::default());
            assert_eq!((solution.qddot, solution.lambda, solution.rank), (vec![2.0; n], vec![0.0; m], 0), "{name}");
        }
        geometry(&case.given, &Settings::default()).unwrap();
    }
}
