//! Gauss's principle with inequalities: random problems against an interior-point solver that shares nothing with ours.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use clarabel::{algebra::CscMatrix, solver::*};
use zwang_motion::{NoSolution, Side, complementarity};

/// Random numbers by a multiplicative generator (Knuth's MMIX), the same on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }

    /// Between −1 and 1.
    fn real(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// min ½(x − a)ᵀM(x − a) with A x = b for the first `n_held` rows, A x ≥ b for the others.
struct Case {
    n: usize,
    m: usize,
    n_held: usize,
    M: Vec<f64>,
    a: Vec<f64>,
    A: Vec<f64>,
    b: Vec<f64>,
}

/// Few coordinates and up to eight rows, some of them copies, multiples or sums of others, some met exactly at the free motion.
fn draw_case(number: u64) -> Case {
    let mut draw = Draw(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
    let n = 1 + draw.below(6);
    let m = 1 + draw.below(8);
    let n_held = draw.below(1 + (n as u64 - 1).min(m as u64) / 2);
    let R: Vec<f64> =
        (0..n * n).map(|k| if k / n == k % n { 1.0 + draw.real().abs() } else { 0.4 * draw.real() }).collect();
    let M = (0..n * n).map(|k| (0..n).map(|l| R[k / n * n + l] * R[k % n * n + l]).sum()).collect();
    let a: Vec<f64> = (0..n).map(|_| 10.0 * draw.real()).collect();
    let (mut A, mut b): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    // a point all rows allow, so that there is a solution
    let inside: Vec<f64> = (0..n).map(|_| 5.0 * draw.real()).collect();
    for i in 0..m {
        let mut row: Vec<f64> = (0..n).map(|_| draw.real()).collect();
        if i > n_held && draw.below(3) == 0 {
            let (j, k) = (n_held + draw.below((i - n_held) as u64), n_held + draw.below((i - n_held) as u64));
            let (s, t) = (0.5 + draw.real().abs(), draw.real().abs() * draw.below(2) as f64);
            row = (0..n).map(|l| s * A[j * n + l] + t * A[k * n + l]).collect();
        }
        let at = |x: &[f64]| -> f64 { row.iter().zip(x).map(|(r, x)| r * x).sum() };
        let room = if i < n_held { 0.0 } else { draw.real().abs() * draw.below(2) as f64 };
        let on_free_motion = i >= n_held && draw.below(8) == 0 && at(&a) <= at(&inside);
        b.push(if on_free_motion { at(&a) } else { at(&inside) - room });
        A.extend(row);
    }
    Case { n, m, n_held, M, a, A, b }
}

fn csc(dense: &[f64], n_rows: usize, n: usize) -> CscMatrix<f64> {
    let (mut start, mut index, mut value) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in (0..n_rows).filter(|i| dense[i * n + j] != 0.0) {
            index.push(i);
            value.push(dense[i * n + j]);
        }
        start.push(index.len());
    }
    CscMatrix::new(n_rows, n, start, index, value)
}

/// x by clarabel, if it reached its full accuracy; where bounds only just touch it sometimes does not.
fn theirs(case: &Case) -> Option<Vec<f64>> {
    let Case { n, m, n_held, M, a, A, b } = case;
    let upper: Vec<f64> = (0..n * n).map(|k| if k / n <= k % n { M[k] } else { 0.0 }).collect();
    let linear: Vec<f64> = (0..*n).map(|i| -(0..*n).map(|j| M[i * n + j] * a[j]).sum::<f64>()).collect();
    // A x ≥ b is −A x + s = −b with s ≥ 0
    let rows: Vec<f64> = A.iter().enumerate().map(|(k, x)| if k / n < *n_held { *x } else { -x }).collect();
    let right: Vec<f64> = b.iter().enumerate().map(|(i, x)| if i < *n_held { *x } else { -x }).collect();
    let options = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        ..Default::default()
    };
    let cones = [SupportedConeT::ZeroConeT(*n_held), SupportedConeT::NonnegativeConeT(m - n_held)];
    let mut solver =
        DefaultSolver::new(&csc(&upper, *n, *n), &linear, &csc(&rows, *m, *n), &right, &cones, options).ok()?;
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| solver.solution.x.clone())
}

/// M⁻¹ by Gauss and Jordan; M is far from singular.
fn inverse(M: &[f64], n: usize) -> Vec<f64> {
    let mut work = M.to_vec();
    let mut out: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
    for k in 0..n {
        let pivot = work[k * n + k];
        for j in 0..n {
            work[k * n + j] /= pivot;
            out[k * n + j] /= pivot;
        }
        for i in (0..n).filter(|i| *i != k) {
            let factor = work[i * n + k];
            for j in 0..n {
                work[i * n + j] -= factor * work[k * n + j];
                out[i * n + j] -= factor * out[k * n + j];
            }
        }
    }
    out
}

struct Ours {
    x: Vec<f64>,
    lambda: Vec<f64>,
    slack: Vec<f64>,
}

fn ours(case: &Case) -> Result<Ours, NoSolution> {
    let Case { n, m, n_held, M, a, A, b } = case;
    let (n, m) = (*n, *m);
    let W = inverse(M, n);
    let AW: Vec<f64> = (0..m * n).map(|k| (0..n).map(|l| A[k / n * n + l] * W[l * n + k % n]).sum()).collect();
    let S: Vec<f64> = (0..m * m).map(|k| (0..n).map(|l| AW[k / m * n + l] * A[k % m * n + l]).sum()).collect();
    let w0: Vec<f64> = (0..m).map(|i| (0..n).map(|l| A[i * n + l] * a[l]).sum::<f64>() - b[i]).collect();
    let noise: Vec<f64> =
        (0..m).map(|i| 1e-14 * ((0..n).map(|l| (A[i * n + l] * a[l]).abs()).sum::<f64>() + b[i].abs())).collect();
    let sides: Vec<Side> = (0..m).map(|i| if i < *n_held { Side::Held } else { Side::Unilateral }).collect();
    let found = complementarity(&S, &w0, &sides, &noise)?;
    let x = (0..n).map(|l| a[l] + (0..m).map(|i| AW[i * n + l] * found.lambda[i]).sum::<f64>()).collect();
    Ok(Ours { x, lambda: found.lambda, slack: found.slack })
}

/// Ten thousand problems, degenerate and redundant ones among them: the same x as the other solver, and complementarity to
/// rounding.
#[test]
fn an_independent_solver_finds_the_same_acceleration() {
    const N: u64 = 10_000;
    let (mut compared, mut pushing, mut worst) = (0, 0, 0f64);
    for number in 0..N {
        let case = draw_case(number);
        let Ok(found) = ours(&case) else { panic!("case {number} has a solution") };
        let size = 1.0 + case.a.iter().fold(0.0, |top: f64, a| top.max(a.abs()));
        let strongest = found.lambda.iter().fold(size, |top, l| top.max(l.abs()));
        for i in case.n_held..case.m {
            assert!(found.lambda[i] >= 0.0, "case {number}: row {i} pulls");
            assert!(found.slack[i] >= -1e-11 * strongest, "case {number}: row {i} is violated by {:e}", found.slack[i]);
            let product = found.lambda[i] * found.slack[i];
            assert!(product.abs() <= 1e-10 * strongest * strongest, "case {number}: row {i}, λ w = {product:e}");
            pushing += usize::from(found.lambda[i] > 1e-9);
        }
        for i in 0..case.n_held {
            assert!(found.slack[i].abs() <= 1e-11 * strongest, "case {number}: row {i} does not hold");
        }
        let Some(x) = theirs(&case) else { continue };
        compared += 1;
        let off = x.iter().zip(&found.x).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs())) / size;
        worst = worst.max(off);
        // a duality gap of 1e-12 leaves the root of it in x, where a bound only just touches
        assert!(off < 1e-5, "case {number}: {off:e}");
    }
    println!("compared {compared}, largest difference {worst:e}, {pushing} rows push");
    assert!(compared as u64 > N * 95 / 100, "only {compared} compared");
    assert!(pushing as u64 > N, "only {pushing} rows push");
}

/// Bounds that exclude each other are refused: x ≥ c + 1 and −x ≥ −c along the same row.
#[test]
fn excluded_bounds_are_refused() {
    let mut n_refused = 0;
    for number in 0..1000 {
        let mut case = draw_case(number);
        let row: Vec<f64> = case.A[case.n_held * case.n..].iter().take(case.n).copied().collect();
        if row.len() < case.n || row.iter().all(|x| x.abs() < 1e-3) {
            continue;
        }
        case.A.extend(row.iter().map(|x| -x));
        case.b.push(1.0 - case.b[case.n_held]);
        case.m += 1;
        assert!(matches!(ours(&case), Err(NoSolution::Contradiction { .. })), "case {number}");
        n_refused += 1;
    }
    assert!(n_refused > 900, "only {n_refused} have a row that can be excluded");
}
