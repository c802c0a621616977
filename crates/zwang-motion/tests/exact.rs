//! Problems with exact answers, by every route.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use zwang_motion::*;

fn given(n: usize, M: &[f64], Q: &[f64], A: &[f64], b: &[f64]) -> Given {
    Given {
        mass_matrix: Matrix::from_dense(n, n, M),
        given_force: Q.to_vec(),
        constraint_matrix: Matrix::from_dense(b.len(), n, A),
        constraint_rhs: b.to_vec(),
    }
}

/// Legendre data of L = ½ q̇ᵀMq̇ at rest with all of Q from a potential.
fn legendre(given: &Given) -> Legendre {
    let n = given.given_force.len();
    Legendre {
        momentum: vec![0.0; n],
        momentum_by_q: Matrix::from_dense(n, n, &vec![0.0; n * n]),
        momentum_by_t: vec![0.0; n],
        energy_by_q: given.given_force.iter().map(|Q| -Q).collect(),
        energy_by_qdot: vec![0.0; n],
        force: vec![0.0; n],
    }
}

fn solve(name: RouteName, given: &Given) -> Result<RouteSolution, MotionError> {
    let mut solution = RouteSolution::default();
    route(name, &Settings::default()).solve(given, Some(&legendre(given)), &[], &mut solution)?;
    Ok(solution)
}

fn near(x: &[f64], y: &[f64], tolerance: f64, what: &str) {
    assert_eq!(x.len(), y.len(), "{what}");
    for (x, y) in x.iter().zip(y) {
        assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{what}: {x} instead of {y}");
    }
}

/// C from λ.
type Nonideal = Option<fn(&[f64], &mut [f64])>;

/// A fixed `Given`, with a force C that may depend on λ.
struct Fixed {
    given: Given,
    nonideal: Nonideal,
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

    fn nonideal(&mut self) -> Option<&mut dyn NonidealForce> {
        self.nonideal.is_some().then_some(self)
    }
}

impl NonidealForce for Fixed {
    fn fill_nonideal(&mut self, _: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError> {
        if let Some(nonideal) = self.nonideal {
            nonideal(lambda, C);
        }
        Ok(())
    }
}

fn snapshot(given: &Given, nonideal: Nonideal) -> StateQuantities {
    let mut fixed = Fixed { given: given.clone(), nonideal };
    let mut snapshot = Snapshot::new(&mut fixed);
    let n = given.given_force.len();
    let mut route = route(RouteName::GeneralizedInverse, &Settings::default());
    snapshot.take(&mut fixed, &State::zero(n), route.as_mut(), &Settings::default()).unwrap();
    snapshot.found
}

/// A full M, three rows of rank two.
fn rational(b: [f64; 3]) -> Given {
    let M = [4., 1., 0., 0., 1., 3., 1., 0., 0., 1., 2., 0., 0., 0., 0., 1.];
    let A = [1., 2., 0., 1., 0., 1., -1., 2., 1., 3., -1., 3.];
    given(4, &M, &[1., -2., 3., 4.], &A, &b)
}

#[test]
fn rationals_come_out_to_rounding() {
    let given = rational([3., -1., 2.]);
    for name in RouteName::ALL {
        let solution = solve(name, &given).unwrap();
        near(&solution.qddot, &[22. / 13., 0., 47. / 13., 17. / 13.], 1e-14, name.as_str());
        near(&solution.lambda, &[205. / 39., -185. / 39., 20. / 39.], 1e-14, name.as_str());
        assert_eq!(solution.rank, 2);
    }
    let found = snapshot(&given, None);
    near(&found.unconstrained_acceleration, &[2. / 3., -5. / 3., 7. / 3., 4.], 1e-14, "a");
    near(&found.constraint_force_ideal, &[75. / 13., 95. / 13., 55. / 13., -35. / 13.], 1e-14, "Qc_ideal");
    near(&[found.gaussian], &[400. / 13.], 1e-14, "G");
    near(
        &found.defect,
        &[3. - (2. / 3. - 10. / 3. + 4.), -1. - (-4. + 8.), 2. - (2. / 3. - 5. - 7. / 3. + 12.)],
        1e-14,
        "e",
    );
    assert!(!found.singular_mass);
}

#[test]
fn rationals_that_contradict_are_refused() {
    for name in RouteName::ALL {
        match solve(name, &rational([3., -1., 3.])) {
            Err(MotionError::Contradiction { certificate, gap, residual }) => {
                near(&certificate, &[-1., -1., 1.], 1e-13, name.as_str());
                near(&[gap], &[1.], 1e-13, name.as_str());
                assert_eq!(residual.len(), 3);
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// C = Aᵀw changes nothing; any other C only by its part along virtual displacements, UK02 after (32).
#[test]
fn only_the_part_of_c_along_virtual_displacements_acts() {
    let given = rational([3., -1., 2.]);
    let ideal = snapshot(&given, None);
    // 2 · row 0 − row 1
    let along_rows = snapshot(&given, Some(|_, C| C.copy_from_slice(&[2., 3., 1., 0.])));
    near(&along_rows.qddot, &ideal.qddot, 1e-14, "q̈");
    near(&along_rows.constraint_force_nonideal, &[0.; 4], 1e-13, "Qc_nonideal");
    assert_eq!(along_rows.nonideal_force, [2., 3., 1., 0.]);

    let found = snapshot(&given, Some(|lambda, C| C[0] = -0.5 * lambda[0].abs()));
    near(&found.lambda, &ideal.lambda, 1e-15, "λ of the ideal part");
    let v = [[2., -1., -1., 0.], [3., -2., 0., 1.]];
    let mut total = vec![0.0; 4];
    given.mass_matrix.multiply(&found.qddot, &mut total);
    for i in 0..4 {
        total[i] -= given.given_force[i] + found.constraint_force_ideal[i];
    }
    near(&found.constraint_force_nonideal, &total, 1e-13, "M q̈ = Q + Qc");
    for v in v {
        let work = |f: &[f64]| v.iter().zip(f).map(|(v, f)| v * f).sum::<f64>();
        near(&[work(&found.constraint_force_nonideal)], &[work(&found.nonideal_force)], 1e-13, "vᵀQc = vᵀC");
    }
}

/// Rows c, 2c, y, y + c, 3y − c/2 of c = x² + y² + z² − 1 at (1, 0, 0) and at a moving state.
#[test]
fn five_rows_of_rank_two_hold_a_pendulum() {
    let (s, v) = (0.6f64, 1.7);
    let c = (1.0 - s * s).sqrt();
    // position (s, 0, −c), velocity v (c, 0, s)
    let (row_c, row_y) = ([2. * s, 0., -2. * c], [0., 1., 0.]);
    let b_c = -2. * v * v;
    let combine = |x: f64, y: f64| -> Vec<f64> { (0..3).map(|i| x * row_c[i] + y * row_y[i]).collect() };
    let coefficients = [(1., 0.), (2., 0.), (0., 1.), (1., 1.), (-0.5, 3.)];
    let A: Vec<f64> = coefficients.iter().flat_map(|&(x, y)| combine(x, y)).collect();
    let b: Vec<f64> = coefficients.iter().map(|&(x, _)| x * b_c).collect();
    let M = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
    let Q = [0., 0., -9.81];
    let five = given(3, &M, &Q, &A, &b);
    let two = given(3, &M, &Q, &[row_c, row_y].concat(), &[b_c, 0.]);
    for name in RouteName::ALL {
        let (x, y) = (solve(name, &five).unwrap(), solve(name, &two).unwrap());
        assert_eq!((x.rank, y.rank), (2, 2));
        near(&x.qddot, &y.qddot, 1e-14, name.as_str());
        let (mut force, mut other) = (vec![0.0; 3], vec![0.0; 3]);
        five.constraint_matrix.multiply_transposed(&x.lambda, &mut force);
        two.constraint_matrix.multiply_transposed(&y.lambda, &mut other);
        near(&force, &other, 1e-12, name.as_str());
        // the shortest: λ is in the range of A, so it is a combination of the two coefficient columns
        let (p, q) = (x.lambda[0], x.lambda[2]);
        near(&x.lambda, &coefficients.map(|(x, y)| x * p + y * q), 1e-13, name.as_str());
    }
    let found = dependence(&five.constraint_matrix, &Settings::default()).unwrap();
    assert_eq!((found.rank, &found.independent[..]), (2, &[0, 2][..]));
    let rows: Vec<usize> = found.dependent.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [1, 3, 4]);
    assert_eq!(found.dependent[0].1, [(0, 2.0)]);
}

/// A wheel in two coordinates, one without mass.
#[test]
fn a_massless_coordinate_is_carried_by_its_constraint() {
    let (m, R, J, alpha, g) = (2., 0.5, 0.3, 25f64.to_radians(), 9.81);
    let inertia = m * R * R + J;
    let given = given(2, &[0., 0., 0., inertia], &[-m * g, 0.], &[1., R * alpha.sin()], &[0.]);
    for name in RouteName::ALL {
        let solution = solve(name, &given).unwrap();
        near(&solution.qddot, &[-1.095079234054703, 5.182356434595327], 1e-14, name.as_str());
        near(&solution.lambda, &[m * g], 1e-14, name.as_str());
    }
    let found = snapshot(&given, None);
    assert!(found.singular_mass);
    assert!(matches!(geometry(&given, &Settings::default()), Err(MotionError::MassNotPositive { .. })));
}

/// Two masses in three coordinates: M = diag(1, 0, 2), x₁ + q − x₂ = 0.
#[test]
fn two_masses_in_three_coordinates() {
    let (x1, q) = (0.1, -0.15);
    let M = [1., 0., 0., 0., 0., 0., 0., 0., 2.];
    let Q = [-50. * x1, -20. * q, 0.];
    let held = given(3, &M, &Q, &[1., 1., -1.], &[0.]);
    for name in RouteName::ALL {
        let solution = solve(name, &held).unwrap();
        // λ = 20 q: ẍ₁ = −50 x₁ + λ, 2ẍ₂ = −λ
        let lambda = 20. * q;
        let expected = [-50. * x1 + lambda, -lambda / 2. - (-50. * x1 + lambda), -lambda / 2.];
        near(&solution.qddot, &expected, 1e-13, name.as_str());
        near(&solution.lambda, &[lambda], 1e-13, name.as_str());
    }
    // without the constraint nothing determines q̈
    let loose = given(3, &M, &Q, &[], &[]);
    for name in RouteName::ALL {
        let Err(MotionError::Indeterminate { direction }) = solve(name, &loose) else { panic!("{name}") };
        near(&direction.iter().map(|x| x.abs()).collect::<Vec<_>>(), &[0., 1., 0.], 1e-12, name.as_str());
    }
}

/// A rigid rotor in a unit quaternion: M singular along q itself, made whole by |q|² = 1, moving.
#[test]
fn a_singular_mass_matrix_with_velocity_is_the_same_by_the_two_form() {
    // M = I − q qᵀ (T = ½|q̇|² − ½(q·q̇)²) at q = (0.6, 0.8), q̇ = 2 (−0.8, 0.6); b = −2|q̇|²
    let (q, v) = ([0.6, 0.8], [-1.6, 1.2]);
    let M: Vec<f64> = (0..4).map(|k| if k % 3 == 0 { 1.0 } else { 0.0 } - q[k / 2] * q[k % 2]).collect();
    // p = q̇ − q (q·q̇), and q·q̇ = 0 here: ∂p/∂q = −q q̇ᵀ, ∂L/∂q = 0, Q = −(∂p/∂q) q̇
    let p_q: Vec<f64> = (0..4).map(|k| -q[k / 2] * v[k % 2]).collect();
    let speed2 = 4.0;
    let Q = [q[0] * speed2, q[1] * speed2];
    let given = given(2, &M, &Q, &[2. * q[0], 2. * q[1]], &[-2. * speed2]);
    let back = |i: usize| p_q[i] * v[0] + p_q[2 + i] * v[1];
    let legendre = Legendre {
        momentum: v.to_vec(),
        momentum_by_q: Matrix::from_dense(2, 2, &p_q),
        momentum_by_t: vec![0.0; 2],
        energy_by_q: vec![back(0), back(1)],
        energy_by_qdot: v.to_vec(),
        force: vec![0.0; 2],
    };
    for name in RouteName::ALL {
        let mut route = route(name, &Settings::default());
        let mut solution = RouteSolution::default();
        route.at(&State { t: 0.0, q: q.to_vec(), qdot: v.to_vec() });
        route.solve(&given, Some(&legendre), &[], &mut solution).unwrap();
        near(&solution.qddot, &[-speed2 * q[0], -speed2 * q[1]], 1e-13, name.as_str());
    }
    // a field that is not of second order is noticed
    let wrong = Legendre { energy_by_qdot: vec![1.0, 1.0], ..legendre };
    let mut route = route(RouteName::TwoForm, &Settings::default());
    route.at(&State { t: 0.0, q: q.to_vec(), qdot: v.to_vec() });
    let error = route.solve(&given, Some(&wrong), &[], &mut RouteSolution::default());
    assert!(matches!(error, Err(MotionError::NotConverged { .. })));
    assert_eq!(route.solve(&given, None, &[], &mut RouteSolution::default()), Err(MotionError::NoLegendre));
}

#[test]
fn a_negative_mass_is_refused() {
    for M in [[1., 0., 0., -1.], [1., 2., 2., 1.], [0., 1., 1., 0.], [0., 1e-3, 1e-3, 1.]] {
        let given = given(2, &M, &[1., 1.], &[1., 1.], &[0.]);
        for name in RouteName::ALL {
            let error = solve(name, &given);
            let Err(MotionError::MassNotPositive { direction, value }) = error else { panic!("{name}: {error:?}") };
            let form: f64 = (0..4).map(|k| direction[k / 2] * M[k] * direction[k % 2]).sum();
            assert!(value < 0.0 && (form - value).abs() < 1e-15, "{name}");
        }
    }
}

/// A row of zeros counts as no row if its right side is zero or rounding, and as a contradiction otherwise.
#[test]
fn a_row_of_zeros_holds_or_contradicts() {
    for (b, holds) in [(0.0, true), (1e-15, true), (1e-3, false)] {
        let given = given(2, &[1., 0., 0., 1.], &[1., 2.], &[0., 0., 1., 1.], &[b, 1.]);
        for name in RouteName::ALL {
            match solve(name, &given) {
                Ok(solution) => {
                    assert!(holds, "{name}");
                    near(&solution.qddot, &[0., 1.], 1e-14, name.as_str());
                    near(&solution.lambda, &[0., -1.], 1e-14, name.as_str());
                    assert_eq!(solution.rank, 1);
                }
                Err(MotionError::Contradiction { certificate, .. }) => {
                    assert!(!holds, "{name}");
                    assert_eq!(certificate, [1., 0.]);
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
}

/// A row stated twice with right sides that differ a little: accepted at rounding, refused at a thousandth.
#[test]
fn a_row_stated_twice_may_differ_by_rounding_only() {
    for (difference, holds) in [(1e-12, true), (1e-3, false)] {
        let given = given(2, &[1., 0., 0., 1.], &[1., 2.], &[1., 1., 1., 1.], &[1., 1. + difference]);
        for name in RouteName::ALL {
            assert_eq!(solve(name, &given).is_ok(), holds, "{name}");
        }
    }
}

/// At rest everything is zero or rounding, and rounding does not contradict.
#[test]
fn rounding_at_rest_is_no_contradiction() {
    let given = given(2, &[1., 0., 0., 1.], &[0., 1e-17], &[1., 1., 2., 2., 1., 0.], &[1e-17, -3e-17, 0.]);
    for name in RouteName::ALL {
        let solution = solve(name, &given).unwrap();
        near(&solution.qddot, &[0., 0.], 1e-15, name.as_str());
    }
}

#[test]
fn names_are_read_back_as_written() {
    for name in RouteName::ALL {
        assert_eq!(name.as_str().parse(), Ok(name));
    }
    assert!("simplex".parse::<RouteName>().unwrap_err().contains("`quasi-velocities`"));
}

/// A plane chain of k rods, pinned at its first mass, every mass one, under gravity and moving.
fn chain(k: usize, stated: usize, scale: f64) -> Given {
    let n = 2 * k;
    let angle = |i: usize| 0.3 + 0.9 * (1.0 + i as f64 * 0.7).sin();
    let rate = |i: usize| (0.3 * i as f64).cos();
    let mut rows = Vec::new();
    for i in 0..k {
        let pattern: Vec<usize> = if i == 0 { vec![0, 1] } else { vec![2 * i - 2, 2 * i - 1, 2 * i, 2 * i + 1] };
        rows.extend(std::iter::repeat_n(pattern, stated));
    }
    let mut A = Matrix::from_pattern(k * stated, n, &rows);
    let mut b = Vec::new();
    for row in 0..k * stated {
        let i = row / stated;
        let s = if row % stated == 0 { 1.0 } else { scale };
        let (x, y) = (s * angle(i).cos(), s * angle(i).sin());
        let values = if i == 0 { vec![x, y] } else { vec![-x, -y, x, y] };
        A.row_mut(row).1.copy_from_slice(&values);
        b.push(-s * rate(i) * rate(i));
    }
    let Q = (0..n).map(|i| if i % 2 == 0 { 0.0 } else { -9.81 }).collect();
    Given { mass_matrix: Matrix::identity(n), given_force: Q, constraint_matrix: A, constraint_rhs: b }
}

/// The same problem solved by the sparse and by the dense solver.
fn sparse_and_dense(given: &Given) -> (RouteSolution, RouteSolution) {
    let solve = |sparse_limit: usize| {
        let settings = Settings { sparse_limit, ..Settings::default() };
        let mut solution = RouteSolution::default();
        route(RouteName::GeneralizedInverse, &settings).solve(given, None, &[], &mut solution).unwrap();
        solution
    };
    (solve(10), solve(1000))
}

/// The sparse and the dense solver agree, rods stated once, twice, and twice in other units.
#[test]
fn a_chain_is_the_same_sparse_and_dense() {
    for (stated, scale) in [(1, 1.0), (2, 1.0), (2, -2.0), (2, 1e4), (3, 1e-3)] {
        let given = chain(60, stated, scale);
        let (sparse, dense) = sparse_and_dense(&given);
        assert_eq!((sparse.rank, dense.rank), (60, 60));
        near(&sparse.qddot, &dense.qddot, 1e-11, "q̈");
        near(&sparse.lambda, &dense.lambda, 1e-9, "λ");
    }
}

/// Long chains, also with every rod stated twice: A q̈ = b holds, and redundancy changes nothing.
#[test]
fn long_chains_hold() {
    for k in [2000, 20_000] {
        let mut first: Option<Vec<f64>> = None;
        for stated in [1, 2] {
            let given = chain(k, stated, 1.0);
            let mut route = route(RouteName::GeneralizedInverse, &Settings::default());
            let mut solution = RouteSolution::default();
            route.solve(&given, None, &[], &mut solution).unwrap();
            let started = std::time::Instant::now();
            route.solve(&given, None, &[], &mut solution).unwrap();
            println!("{k} rods stated {stated} times: {:.2} ms", 1e3 * started.elapsed().as_secs_f64());
            assert_eq!(solution.rank, k);
            let mut left = vec![0.0; k * stated];
            given.constraint_matrix.multiply(&solution.qddot, &mut left);
            left.iter_mut().zip(&given.constraint_rhs).for_each(|(x, b)| *x -= b);
            near(&left, &vec![0.0; k * stated], 1e-11, "A q̈ = b");
            let mut force = vec![0.0; 2 * k];
            given.constraint_matrix.multiply_transposed(&solution.lambda, &mut force);
            let expected: Vec<f64> = solution.qddot.iter().zip(&given.given_force).map(|(x, Q)| x - Q).collect();
            near(&force, &expected, 1e-9, "Aᵀλ = M q̈ − Q");
            near(first.get_or_insert_with(|| solution.qddot.clone()), &solution.qddot, 1e-11, "once or twice");
        }
    }
}

/// In a large system too a contradiction is refused and its two rows named.
#[test]
fn a_contradiction_in_a_long_chain_names_two_rows() {
    let mut given = chain(500, 2, 1.0);
    given.constraint_rhs[601] += 0.5;
    let error = route(RouteName::GeneralizedInverse, &Settings::default()).solve(
        &given,
        None,
        &[],
        &mut RouteSolution::default(),
    );
    let Err(MotionError::Contradiction { certificate, gap, .. }) = error else { panic!("{error:?}") };
    let rows: Vec<usize> = (0..1000).filter(|&i| certificate[i] != 0.0).collect();
    assert_eq!(rows, [600, 601]);
    assert!((gap.abs() - 0.5).abs() < 1e-12);
}

/// Many rotors in two coordinates each, M = I − q qᵀ singular, held by |q|² = 1: sparse, dense and single give the same.
#[test]
fn many_singular_blocks_are_the_same_sparse_and_dense() {
    let k = 40;
    let (mut rows, mut M) =
        (Vec::new(), Matrix::from_pattern(2 * k, 2 * k, &(0..2 * k).map(|i| vec![i & !1, i | 1]).collect::<Vec<_>>()));
    // every rotor by itself, and each coupled to the next
    (0..k).for_each(|i| rows.push(vec![2 * i, 2 * i + 1]));
    (1..k).for_each(|i| rows.push(vec![2 * i - 2, 2 * i - 1, 2 * i, 2 * i + 1]));
    let mut A = Matrix::from_pattern(2 * k - 1, 2 * k, &rows);
    let q = |i: usize| if i.is_multiple_of(2) { (i as f64).cos() } else { (i as f64 - 1.0).sin() };
    for i in 0..2 * k {
        let own: Vec<f64> = M.row(i).0.iter().map(|&j| if i == j { 1.0 } else { 0.0 } - q(i) * q(j)).collect();
        M.row_mut(i).1.copy_from_slice(&own);
    }
    for i in 0..k {
        A.row_mut(i).1.copy_from_slice(&[2.0 * q(2 * i), 2.0 * q(2 * i + 1)]);
    }
    for i in 1..k {
        let (x, y) = (2 * i - 2, 2 * i);
        A.row_mut(k + i - 1).1.copy_from_slice(&[-q(x + 1), q(x), 2.0 * q(y + 1), -2.0 * q(y)]);
    }
    let b = (0..2 * k - 1).map(|i| if i < k { -2.0 } else { 0.3 }).collect();
    let Q = (0..2 * k).map(|i| (0.37 * i as f64).sin()).collect();
    let given = Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b };
    let (sparse, dense) = sparse_and_dense(&given);
    assert_eq!((sparse.rank, dense.rank), (2 * k - 1, 2 * k - 1));
    near(&sparse.qddot, &dense.qddot, 1e-11, "q̈");
    near(&sparse.lambda, &dense.lambda, 1e-10, "λ");
}
