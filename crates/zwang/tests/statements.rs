//! The statements of a model that its equations do not contain: run, output, plot, when and animate.

use crate::common::derived;

use zwang::Overrides;
use zwang::model::{Change, Model, Shape};
use zwang::units::Dimension;

/// The model of a text without mistakes.
fn model(text: &str) -> Model {
    derived(text, &Overrides::default()).equations.model
}

const PENDULUM: &str = "coordinates x, y\n\
    parameter m = 1 kg, l = 1 m, k = 2 N/m\n\
    particle P at (x, y) with mass m\n\
    constraint rod: |P| = l\n\
    potential k*x^2/2\n\
    start x = l, y = 0\n";

#[test]
fn a_run_carries_method_and_step() {
    let run = model(&format!("{PENDULUM}run 10 s with method rattle and step 10 ms")).run.unwrap();
    assert_eq!(run.method.unwrap().0, "rattle");
    assert!(run.tolerance.is_none());
    let model = model(&format!("{PENDULUM}run 10 s with tolerance 1e-10 and method order8 and step 10 ms"));
    let run = model.run.as_ref().unwrap();
    assert_eq!(model.constants(&[run.duration, run.step.unwrap(), run.tolerance.unwrap()]), [10.0, 0.01, 1e-10]);
}

#[test]
fn outputs_and_curves_know_what_they_measure() {
    let text = format!("{PENDULUM}output pull = |reaction(rod)| in N\noutput E = energy()\nplot pull, P' vs E");
    let with_units = model(&text);
    let force = zwang::units::find("N").unwrap().dimension;
    assert!(with_units.outputs[0].dimension.unwrap().same(force));
    let plot = &with_units.plots[0];
    assert!(plot.curves[0].dimension.unwrap().same(force));
    assert_eq!(plot.curves[0].unit.as_ref().unwrap().text, "N");
    let speed = zwang::units::find("m").unwrap().dimension.times(Dimension::SECOND, -1.0);
    assert!(plot.curves[1].dimension.unwrap().same(speed));
    assert!(plot.versus.as_ref().unwrap().dimension.is_some());
    let plain = model("coordinates x\nmass x: 1\nstart x = 0\noutput E = energy()\nplot x");
    assert!(plain.outputs[0].dimension.is_none() && plain.plots[0].curves[0].dimension.is_none());
}

#[test]
fn curves_are_named_as_written_and_families_and_vectors_spread_out() {
    let text = "coordinates theta[1..3], y\nmass theta, y: 1\nlet P = (y, theta[1])\n\
                constraint floor: y + theta[2] = 0\nstart theta = 0, y = 0\n\
                plot theta, theta[2]', P,\n   reaction(floor).y, # a force\n   2 *  y vs t";
    let model = model(text);
    let names: Vec<&str> = model.plots[0].curves.iter().map(|c| c.name.as_str()).collect();
    let wanted = ["theta[1]", "theta[2]", "theta[3]", "theta[2]'", "P.x", "P.y", "reaction(floor).y", "2 * y"];
    assert_eq!(names, wanted);
    assert!(model.plots[0].versus.is_none());
}

#[test]
fn energies_are_put_into_curves_and_events() {
    let text = format!("{PENDULUM}plot energy(), x vs momentum(x)\nwhen energy() > 3 J: x' = momentum(y)/m");
    let equations = derived(&text, &Overrides::default()).equations;
    let [curve, x, versus] = equations.plots[0][..] else { panic!() };
    assert_eq!((curve, x), (equations.energy, equations.model.coordinates[0].q));
    assert_eq!(versus, equations.momentum[0]);
    let (condition, value) = equations.whens[0];
    let symbols = equations.model.state_symbols();
    let graph = &equations.model.graph;
    assert!(graph.symbols_of(&[condition, value]).iter().all(|s| symbols.contains(s)));
}

#[test]
fn an_event_is_a_margin_and_a_change() {
    let text =
        format!("{PENDULUM}when t >= 2 s: k = 0\nwhen x < 1 m:  y' = -0.5*y'\nwhen  y > 0.5[m] * t / 1 s: ẋ = 0");
    let model = model(&text);
    assert!(model.later.is_empty());
    let shown: Vec<_> =
        model.whens.iter().map(|w| (w.name.as_str(), model.graph.text(w.condition), w.change)).collect();
    assert_eq!(shown[0], ("t >= 2 s", "t - 2".into(), Change::Parameter(2)));
    assert_eq!(shown[1], ("x < 1 m", "1 - x".into(), Change::Velocity(1)));
    assert_eq!((shown[2].0, shown[2].2), ("y > 0.5[m] * t / 1 s", Change::Velocity(0)));
    assert_eq!(model.graph.text(model.whens[1].value), "-y'/2");
}

/// The names of what is drawn, each with the kind of its shape.
fn drawn(model: &Model) -> Vec<String> {
    let kind = |shape: &Shape| match shape {
        Shape::Point { has_mass: true, .. } => "particle",
        Shape::Point { .. } => "point",
        Shape::Rod { .. } => "rod",
        Shape::Body { .. } => "body",
        Shape::Trace { .. } => "trace",
        Shape::Force { .. } => "force",
    };
    model.scene.iter().map(|d| format!("{} {}", kind(&d.shape), d.name)).collect()
}

/// The components of a shape's first rod.
fn first_rod(model: &Model) -> [Vec<String>; 2] {
    let text = |place: &[zwang_expr::Expr]| place.iter().map(|e| model.graph.text(*e)).collect();
    let rod = model.scene.iter().find_map(|d| match &d.shape {
        Shape::Rod { from, to } => Some([text(from), text(to)]),
        _ => None,
    });
    rod.unwrap_or_else(|| panic!("no rod in {:?}", drawn(model)))
}

#[test]
fn without_an_animate_statement_everything_is_drawn() {
    let text = "let n = 2\ncoordinates x[1..n], y[1..n]\npoint P[0] = (0, 0)\n\
                particle P[i in 1..n] at (x[i], y[i]) with mass 1\n\
                constraint link[i in 1..n]: |P[i] - P[i-1]| = 1\nconstraint floor: P[2].y = -1\n\
                start x[1] = 1, x[2] ~ 1, y ~ 0";
    let model = model(text);
    let wanted = [
        "point P[0]",
        "particle P[1]",
        "particle P[2]",
        "rod link[1]",
        "force reaction(link[1], P[1])",
        "rod link[2]",
        "force reaction(link[2], P[1])",
        "force reaction(link[2], P[2])",
        "trace trace(P[1])",
        "trace trace(P[2])",
    ];
    assert_eq!(drawn(&model), wanted);
    assert!(model.later.is_empty());
}

#[test]
fn an_animate_statement_draws_what_it_names_and_nothing_else() {
    let text = "coordinates x[1..2], y[1..2]\nparticle P[i in 1..2] at (x[i], y[i]) with mass 1\n\
                point A = (0, 1)\nconstraint link[i in 1..2]: |P[i] - A| = 1\nconstraint rail: P[1].y = 1\n\
                start x = 1, y = 1\nanimate P, A, link, trace(P), trace((x[1], y[1], 0)), rail, P[1] + P[2]";
    let wanted = [
        "particle P[1]",
        "particle P[2]",
        "point A",
        "rod link[1]",
        "force reaction(link[1], P[1])",
        "rod link[2]",
        "force reaction(link[2], P[2])",
        "trace trace(P[1])",
        "trace trace(P[2])",
        "trace trace((x[1], y[1], 0))",
        "force reaction(rail, P[1])",
        "point P[1] + P[2]",
    ];
    assert_eq!(drawn(&model(text)), wanted);
}

#[test]
fn coordinates_alone_make_points_and_rods() {
    let pendulum = model("coordinates x, y\nmass x, y: 1\nconstraint rod: x^2 + y^2 = 1\nstart x = 1, y = 0");
    let wanted = ["particle (x, y)", "rod rod", "force reaction(rod, (x, y))", "trace trace((x, y))"];
    assert_eq!(drawn(&pendulum), wanted);
    assert_eq!(first_rod(&pendulum), [["0", "0"], ["x", "y"]]);
    let wire = model("coordinates x, y\nmass x, y: 1\nconstraint wire: y = x^2\nstart x = 1, y = 1");
    assert_eq!(drawn(&wire), ["particle (x, y)", "trace trace((x, y))"]);
    let bar = "coordinates x1, y1, z1, x2, y2, z2\nmass x1, y1, z1, x2, y2, z2: 1\n\
               constraint bar: sqrt((x1 - x2)^2 + (y2 - y1)^2 + (z2 - z1)^2) = 1\n\
               constraint odd: x1 + y1 + z1 = x2 + y2 + z2\n\
               start x1 = 0, y1 = 0, z1 = 0, x2 ~ 1, y2 ~ -1, z2 ~ 0";
    assert_eq!(first_rod(&model(bar)), [["x1", "y1", "z1"], ["x2", "y2", "z2"]]);
    assert_eq!(drawn(&model(bar)).iter().filter(|d| d.starts_with("rod")).count(), 1);
    assert!(model("coordinates q\nmass q: 1\nstart q = 0").scene.is_empty());
}

#[test]
fn a_rod_may_hang_on_a_place_that_no_coordinate_moves() {
    let hung = |formula: &str| {
        let text = "coordinates x, y\nparameter a = 2\nparticle P at (x, y) with mass 1\n";
        first_rod(&model(&format!("{text}constraint rod: {formula} = 1\nstart x ~ 2, y ~ -1")))
    };
    assert_eq!(hung("|P|"), [["0", "0"], ["x", "y"]]);
    assert_eq!(hung("|P - (a, sin(t))|^2"), [["a", "sin(t)"], ["x", "y"]]);
    assert_eq!(hung("|(a, 0) - P|"), [["a", "0"], ["x", "y"]]);
    assert_eq!(hung("x^2 + y^2"), [["0", "0"], ["x", "y"]]);
}

#[test]
fn a_force_that_the_coordinates_do_not_determine_is_left_out() {
    let text = "coordinates θ\nparticle P at (sin(θ), cos(θ)) with mass 1\npoint A = (2, 0)\n\
                constraint rod: |P - A| = 2\nstart θ ~ 0.1";
    let model = model(text);
    assert_eq!(drawn(&model), ["particle P", "point A", "rod rod", "trace trace(P)"]);
    assert!(model.derived.is_empty());
}

#[test]
fn forces_are_reactions_at_their_particle() {
    let text = format!("{PENDULUM}output F = reaction(rod, P)");
    let model = model(&text);
    let force = model.scene.iter().find_map(|d| match &d.shape {
        Shape::Force { force, .. } => Some(force.clone()),
        _ => None,
    });
    assert_eq!(force.unwrap(), [model.outputs[0].expr, model.outputs[1].expr]);
}

#[test]
fn bodies_are_drawn_as_ellipsoids_of_their_inertia() {
    let text = "coordinates x, y, z, a, u, v, b\nparameter m = 2, r = 3\n\
                body ball at (x, y, z) turned z by a with mass m and inertia 2/5*m*r^2\n\
                body disk at (u, v) turned by b with mass m and inertia m*r^2\n\
                start x = 0, y = 0, z = 0, a = 0, u = 0, v = 0, b = 0";
    let model = model(text);
    let shapes: Vec<_> = model
        .scene
        .iter()
        .map(|d| match &d.shape {
            Shape::Body { axes, radii, .. } => (axes.len(), model.constants(radii)),
            other => panic!("{other:?}"),
        })
        .collect();
    let near = |found: &[f64], wanted: &[f64]| crate::common::relative(found, wanted) < 1e-14;
    assert!(shapes[0].0 == 3 && near(&shapes[0].1, &[3.0; 3]), "{shapes:?}");
    assert!(shapes[1].0 == 2 && near(&shapes[1].1, &[3.0; 2]), "{shapes:?}");
    let Shape::Body { axes, .. } = &model.scene[1].shape else { panic!() };
    let axes: Vec<Vec<String>> = axes.iter().map(|a| a.iter().map(|e| model.graph.text(*e)).collect()).collect();
    assert_eq!(axes, [["cos(b)", "sin(b)"], ["-sin(b)", "cos(b)"]]);
}

/// Every place of every scene of the gallery is known at a state, forces with the multipliers.
#[test]
fn scenes_of_the_gallery_can_be_drawn() {
    for (name, text) in crate::common::gallery() {
        let model = model(&text);
        let mut known = model.state_symbols();
        let controls = model.controls.iter().map(|c| &c.stated);
        let all = model.constraints.iter().chain(&model.contacts).chain(controls);
        known.extend(all.flat_map(|c| &c.rows).map(|row| row.lambda));
        for drawn in &model.scene {
            let exprs = match &drawn.shape {
                Shape::Point { place, .. } | Shape::Trace { place } => place.clone(),
                Shape::Rod { from, to } => [from.clone(), to.clone()].concat(),
                Shape::Body { place, axes, radii } => [place.clone(), axes.concat(), radii.clone()].concat(),
                Shape::Force { at, force } => [at.clone(), force.clone()].concat(),
            };
            let symbols = model.graph.symbols_of(&exprs);
            assert!(symbols.iter().all(|s| known.contains(s)), "{name}: {}", drawn.name);
        }
    }
}
