{
    // the pendulum in Cartesian coordinates, at its lowest point with speed v = 2
    let text = "
        coordinates x, y
        parameter m = 1 kg, l = 1 m, g = 9.81 m/s^2
        lagrangian L = m/2*(x'^2 + y'^2) - m*g*y
        constraint rod: x^2 + y^2 = l^2
        start x = 0, y = -l, x' = 2 m/s
    ";
    let reading = zwang::read(text, &zwang::Overrides::default());
    let mut messages = reading.diagnostics;
    let model = reading.model.expect("the model has no mistakes");
    let check = zwang::check(model, &zwang::Wishes::default(), &mut messages).expect("nor do its constraints");
    assert_eq!((check.rank, check.degrees_of_freedom()), (1, 1));

    // the rod pulls with m g + m v²/l
    let pull = check.snapshot.found.constraint_force_ideal[1];
    assert!((pull - (9.81 + 4.0)).abs() < 1e-12);
}
