{
    // the pendulum in Cartesian coordinates, at its lowest point with speed v = 2
    let text = "
        coordinates x, y
        parameter m = 1 kg, l = 1 m, g = 9.81 m/s^2
        lagrangian L = m/2*(x'^2 + y'^2) - m*g*y
        constraint rod: x^2 + y^2 = l^2
        start x = 0, y = -l, x' = 2 m/s
    ";
    let system = zwang::load(text).expect("the model has no mistakes");
    let check = system.check().expect("nor do its constraints");
    assert_eq!((check.rank, check.degrees_of_freedom()), (1, 1));

    // the rod pulls with m g + m v²/l
    let pull = check.snapshot.found.constraint_force_ideal[1];
    assert!((pull - (9.81 + 4.0)).abs() < 1e-12);

    // another rod, moved for ten seconds
    let run = system.with("l", 2.0).expect("l is a parameter").run(&zwang::RunOptions::to(10.0)).expect("it moves");
    assert!(run.column("x").expect("x is a coordinate").values.iter().all(|x| x.abs() < 2.0));
}
