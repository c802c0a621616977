{
    use zwang_motion::*;

    // a unit mass on a rod of length 1, hanging at (3/5, -4/5) at rest: x ẍ + y ÿ = 0, stated twice
    let given = Given {
        mass_matrix: Matrix::identity(2),
        given_force: vec![0.0, -10.0],
        constraint_matrix: Matrix::from_dense(2, 2, &[0.6, -0.8, 1.2, -1.6]),
        constraint_rhs: vec![0.0, 0.0],
    };
    let mut route = route(RouteName::GeneralizedInverse, &Settings::default());
    let mut solution = RouteSolution::default();
    route.solve(&given, None, &[], &mut solution).unwrap();

    // KUXI95 (26): (0, -g) plus what the rod adds; λ is shared by the two rows as shortest
    let error = |x: &[f64], y: [f64; 2]| (x[0] - y[0]).abs().max((x[1] - y[1]).abs());
    assert!(error(&solution.qddot, [-4.8, -3.6]) < 1e-14);
    assert!(error(&solution.lambda, [-1.6, -3.2]) < 1e-14);
    assert_eq!(solution.rank, 1);
}
