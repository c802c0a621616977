//! What a model carries for the simulator: run, plots, events and the scene.

mod common;

use zwang::equations::Equations;
use zwang::model::{Change, Model};
use zwang::units::Dimension;
use zwang::{Overrides, read};

/// The model of a text without mistakes.
fn model(text: &str) -> Model {
    let reading = read(text, &Overrides::default());
    reading.model.unwrap_or_else(|| panic!("{text}\n{:#?}", reading.diagnostics))
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
    let equations = Equations::derive(model(&text));
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
