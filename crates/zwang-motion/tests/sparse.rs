//! Random sparse systems whose M falls into blocks: the sparse and the dense solver agree, for any rank.
//!
//! `ZWANG_CASES` sets how many systems are drawn.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

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

fn n_cases() -> u64 {
    std::env::var("ZWANG_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

/// How the rows of a case depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rows {
    Independent,
    Copies,
    Multiples,
    Sums,
    Everything,
}

/// M in blocks of one to six coordinates, some without mass along one direction, which a row of its own then holds; rows that
/// touch a few blocks, and rows made of other rows.
fn draw_case(number: u64, rows: Rows) -> Given {
    let mut draw = Draw::new(number);
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut n = 0;
    for _ in 0..6 + draw.below(10) {
        let size = [1, 1, 1, 2, 3, 6][draw.below(6)];
        blocks.push((n..n + size).collect());
        n += size;
    }
    // coordinates of one block need not be neighbours
    let mut name: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|i| name.swap(i, draw.below(i + 1)));
    blocks.iter_mut().flatten().for_each(|i| *i = name[*i]);

    let mut M = vec![0.0; n * n];
    let mut A: Vec<Vec<f64>> = Vec::new();
    for block in &blocks {
        let hollow = (block.len() > 1 && draw.below(6) == 0).then(|| {
            let v = draw.vector(block.len());
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
            v.iter().map(|x| x / length).collect::<Vec<f64>>()
        });
        // Σ vᵀv over all unit vectors and more, without the part along the hollow direction
        for k in 0..3 * block.len() {
            let unit = |i: usize| if i == k { 0.5 } else { 0.0 };
            let mut v = if k < block.len() { (0..block.len()).map(unit).collect() } else { draw.vector(block.len()) };
            if let Some(w) = &hollow {
                let s: f64 = v.iter().zip(w).map(|(x, y)| x * y).sum();
                v.iter_mut().zip(w).for_each(|(x, y)| *x -= s * y);
            }
            for (a, &i) in block.iter().enumerate() {
                for (b, &j) in block.iter().enumerate() {
                    M[i * n + j] += v[a] * v[b];
                }
            }
        }
        if let Some(w) = hollow {
            let mut row = vec![0.0; n];
            block.iter().zip(&w).for_each(|(&i, x)| row[i] = 2.0 * x);
            A.push(row);
        }
    }
    // few enough rows that they stay clear of each other
    while A.len() < n / 3 {
        let mut row = vec![0.0; n];
        for _ in 0..1 + draw.below(3) {
            let block = &blocks[draw.below(blocks.len())];
            block.iter().for_each(|&i| row[i] = draw.real());
        }
        A.push(row);
    }
    let base = A.clone();
    for k in 0..if rows == Rows::Independent { 0 } else { n / 2 } {
        let row = &base[draw.below(base.len())];
        let kind = if rows == Rows::Everything { [Rows::Copies, Rows::Multiples, Rows::Sums][k % 3] } else { rows };
        A.push(match kind {
            Rows::Copies => row.clone(),
            Rows::Multiples => {
                let c = 10f64.powf(4.0 * draw.real()) * if draw.below(2) == 0 { -1.0 } else { 1.0 };
                row.iter().map(|x| c * x).collect()
            }
            _ => {
                let (other, s) = (&base[draw.below(base.len())], 1.5 + draw.real());
                row.iter().zip(other).map(|(x, y)| x + s * y).collect()
            }
        });
    }
    for i in (1..A.len()).rev() {
        A.swap(i, draw.below(i + 1));
    }
    let A = Matrix::from_dense(A.len(), n, &A.concat());
    let mut b = vec![0.0; A.n_rows];
    A.multiply(&draw.vector(n), &mut b);
    let M = Matrix::from_dense(n, n, &M);
    Given { mass_matrix: M, given_force: draw.vector(n), constraint_matrix: A, constraint_rhs: b }
}

const KINDS: [Rows; 5] = [Rows::Independent, Rows::Copies, Rows::Multiples, Rows::Sums, Rows::Everything];

fn sparse_route() -> Box<dyn Route> {
    route(RouteName::GeneralizedInverse, &Settings { sparse_limit: 0, ..Settings::default() })
}

fn by(route: &mut dyn Route, given: &Given) -> Result<RouteSolution, MotionError> {
    let mut solution = RouteSolution::default();
    route.solve(given, None, &[], &mut solution).map(|()| solution)
}

fn dense(given: &Given) -> Result<RouteSolution, MotionError> {
    let settings = Settings { sparse_limit: usize::MAX, ..Settings::default() };
    by(&mut *route(RouteName::GeneralizedInverse, &settings), given)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |top: f64, x| top.max(x.abs()))
}

/// The largest difference relative to the largest entry.
fn difference(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    let most = x.iter().zip(y).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
    most / largest(y).max(f64::MIN_POSITIVE)
}

/// How far the smallest direction kept is from nothing bounds what any solver can tell.
fn check_same(given: &Given, sparse: &RouteSolution, what: &str) {
    let dense = dense(given).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert_eq!(sparse.rank, dense.rank, "{what}: {:?} and {:?}", sparse.gap, dense.gap);
    let condition = 1.0 / dense.gap.kept;
    let off = difference(&sparse.qddot, &dense.qddot);
    assert!(off < 1e-12 * condition * condition + 1e-10, "{what}: q̈ differs by {off:.1e}, condition {condition:.1e}");
    // rows in units far apart leave fewer digits of the shortest λ, none of its force and its length
    let off = difference(&sparse.lambda, &dense.lambda);
    assert!(off < 1e-12 * condition * condition + 1e-6, "{what}: λ differs by {off:.1e}, condition {condition:.1e}");
    let length = |x: &[f64]| x.iter().fold(0.0, |sum: f64, x| sum.hypot(*x));
    assert!(length(&sparse.lambda) <= length(&dense.lambda) * (1.0 + 1e-11 * condition * condition), "{what}: |λ|");
    let mut force = vec![0.0; given.given_force.len()];
    given.mass_matrix.multiply(&sparse.qddot, &mut force);
    force.iter_mut().zip(&given.given_force).for_each(|(f, Q)| *f -= Q);
    let mut found = vec![0.0; force.len()];
    given.constraint_matrix.multiply_transposed(&sparse.lambda, &mut found);
    let off = difference(&found, &force);
    assert!(off < 1e-12 * condition * condition + 1e-10, "{what}: Aᵀλ is off by {off:.1e}");
}

#[test]
fn sparse_and_dense_give_the_same() {
    for rows in KINDS {
        for number in 0..n_cases() {
            let given = draw_case(number, rows);
            let what = format!("case {number}, {rows:?}");
            let solution = by(&mut *sparse_route(), &given).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            check_same(&given, &solution, &what);
        }
    }
}

/// One route for many values of one pattern: rows that are multiples here and not there, that vanish and come back.
#[test]
fn values_may_change_as_they_like() {
    for number in 0..n_cases() / 4 {
        let mut route = sparse_route();
        let mut given = draw_case(number, Rows::Everything);
        let x = Draw::new(number + 5).vector(given.given_force.len());
        let first = given.constraint_matrix.value.clone();
        for state in 0..8 {
            let mut draw = Draw::new(1000 * number + state);
            let A = &mut given.constraint_matrix;
            A.value.clone_from(&first);
            for i in 0..A.n_rows {
                let row = A.row_mut(i).1;
                match draw.below(12) {
                    0 if state % 2 == 1 => row.fill(0.0),
                    1 if state > 2 => row.iter_mut().for_each(|x| *x += 0.3 * draw.real()),
                    2 if state > 4 => row.iter_mut().for_each(|x| *x *= 7.0),
                    _ => {}
                }
            }
            A.multiply(&x, &mut given.constraint_rhs);
            let what = format!("case {number}, state {state}");
            // where a row that holds a massless direction is gone, neither solver has an answer
            match (by(&mut *route, &given), dense(&given)) {
                (Ok(solution), Ok(_)) => check_same(&given, &solution, &what),
                (Err(_), Err(_)) => {}
                (sparse, dense) => panic!("{what}: {sparse:?} and {dense:?}"),
            }
        }
    }
}

/// Rows that differ from others by ε: independent down to 1e-5, dependent from 1e-12 on; q̈ follows where it can be known.
#[test]
fn nearly_dependent_rows_are_decided_as_densely() {
    for number in 0..n_cases() / 4 {
        for epsilon in [1e-2, 1e-4, 1e-12, 1e-14] {
            let mut given = draw_case(number, Rows::Independent);
            let mut draw = Draw::new(number + 77);
            let (m, n) = (given.constraint_matrix.n_rows, given.given_force.len());
            let mut A = given.constraint_matrix.to_dense();
            for i in 0..m / 2 {
                let row: Vec<f64> = A[i * n..(i + 1) * n].to_vec();
                A.extend(row.iter().map(|x| if *x == 0.0 { 0.0 } else { x + epsilon * draw.real() }));
            }
            given.constraint_matrix = Matrix::from_dense(m + m / 2, n, &A);
            given.constraint_rhs.resize(m + m / 2, 0.0);
            given.constraint_matrix.multiply(&draw.vector(n), &mut given.constraint_rhs);
            let what = format!("case {number}, ε = {epsilon}");
            let solution = by(&mut *sparse_route(), &given).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let dense = dense(&given).unwrap();
            assert_eq!(solution.rank, dense.rank, "{what}: {:?}, {:?}", solution.gap, dense.gap);
            // what nearness leaves of the digits
            let allowed = 1e-12 / (dense.gap.kept * dense.gap.kept) + 1e-9;
            let off = difference(&solution.qddot, &dense.qddot);
            assert!(off < allowed, "{what}: q̈ differs by {off:.1e}");
        }
    }
}

/// Rows that repeat others with another right-hand side are refused, and the certificate combines rows to nothing.
#[test]
fn contradictions_are_refused() {
    let mut refused = 0;
    for rows in [Rows::Copies, Rows::Multiples, Rows::Sums] {
        for number in 0..n_cases() / 4 {
            let mut given = draw_case(number, rows);
            let A = given.constraint_matrix.clone();
            let found = dependence(&A, &Settings::default()).unwrap();
            let Some((row, _)) = found.dependent.last() else { continue };
            given.constraint_rhs[*row] += largest(A.row(*row).1);
            let (error, also) = (by(&mut *sparse_route(), &given), dense(&given));
            // where the row is so nearly dependent that it was kept, it can be met
            if also.is_ok() && error.is_ok() {
                continue;
            }
            refused += 1;
            let Err(MotionError::Contradiction { certificate, gap, .. }) = error else {
                panic!("case {number}, {rows:?}: {error:?}")
            };
            let mut combination = vec![0.0; A.n_cols];
            A.multiply_transposed(&certificate, &mut combination);
            let size = (0..A.n_rows).fold(0.0, |top: f64, i| top.max(certificate[i].abs() * largest(A.row(i).1)));
            assert!(largest(&combination) <= 1e-8 * size && gap.abs() > 0.0, "case {number}, {rows:?}");
        }
    }
    assert!(refused as u64 > n_cases() / 2, "{refused} refused");
}

/// No number whatsoever makes it panic or answer with something that is not a number, nor spoils what follows.
#[test]
fn wild_numbers_are_answered_or_refused() {
    let wild = [0.0, f64::NAN, f64::INFINITY, -1.0, 1e300, 1e-300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0];
    for number in 0..n_cases() {
        let rows = KINDS[number as usize % 5];
        let calm = draw_case(number, rows);
        let mut draw = Draw::new(number + 7_000_000);
        let mut route = sparse_route();
        for _ in 0..4 {
            let mut given = calm.clone();
            for _ in 0..1 + draw.below(3) {
                let Given { mass_matrix, given_force, constraint_matrix, constraint_rhs } = &mut given;
                let values = [&mut mass_matrix.value, given_force, &mut constraint_matrix.value, constraint_rhs];
                let target = values.into_iter().nth(draw.below(4)).unwrap();
                if !target.is_empty() {
                    let k = draw.below(target.len());
                    target[k] = wild[draw.below(wild.len())];
                }
            }
            let not_finite = |x: &[f64]| x.iter().any(|x| !x.is_finite());
            let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = &given;
            let is_wild = [&M.value, Q, &A.value, b].into_iter().any(|x| not_finite(x));
            match by(&mut *route, &given) {
                Ok(solution) => {
                    let at = |x: &[f64]| x.iter().position(|x| !x.is_finite()).map(|i| (i, x[i]));
                    let places = [at(&M.value), at(Q), at(&A.value), at(b)];
                    assert!(!is_wild, "case {number}: {places:?}");
                    assert!(!not_finite(&solution.qddot) && !not_finite(&solution.lambda), "case {number}");
                }
                Err(MotionError::NotFinite { .. }) => {}
                Err(error) => assert!(!is_wild, "case {number}: {error:?}"),
            }
        }
        let solution = by(&mut *route, &calm).unwrap_or_else(|error| panic!("case {number}: {error:?}"));
        check_same(&calm, &solution, &format!("case {number}, afterwards"));
    }
}

/// Once the patterns are known nothing is allocated, whatever the rank.
#[test]
fn a_solve_allocates_nothing_after_the_first() {
    for rows in [Rows::Independent, Rows::Copies, Rows::Multiples] {
        let given = draw_case(3, rows);
        let (mut route, mut solution) = (sparse_route(), RouteSolution::default());
        route.solve(&given, None, &[], &mut solution).unwrap();
        let info = allocation_counter::measure(|| {
            (0..10).for_each(|_| route.solve(&given, None, &[], &mut solution).unwrap());
        });
        assert_eq!(info.count_total, 0, "{rows:?}");
    }
}
