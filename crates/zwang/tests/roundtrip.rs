//! Text that is printed parses back to the same: for every derived expression of the gallery.

use crate::common::{Random, derived, gallery};
use zwang::Overrides;
use zwang::equations::Equations;
use zwang::model::Model;
use zwang_expr::{Expr, Program};

/// Longest text that is parsed back, to keep the test quick.
const LONGEST: usize = 3000;

/// Size up to which the printed text is the same after parsing, character by character.
const SHORT: usize = 100;

/// The derived expressions of a model that are short enough to print.
fn printed(equations: &Equations) -> Vec<(Expr, String)> {
    let mut exprs = vec![equations.lagrangian, equations.kinetic, equations.potential, equations.energy];
    exprs.extend(equations.mass_matrix.iter().flatten().map(|(_, e)| *e));
    exprs.extend(&equations.given_force);
    exprs.extend(equations.rows.iter().flat_map(|r| r.coefficients.iter().map(|(_, e)| *e).chain([r.rhs, r.residual])));
    exprs.extend(&equations.momentum);
    exprs.sort();
    exprs.dedup();
    let graph = &equations.model.graph;
    exprs.into_iter().filter_map(|e| Some((e, graph.text_limited(e, LONGEST)?))).take(60).collect()
}

/// A model with the same names in which the text is an output; units are left off.
fn reread(model: &Model, printed: &str) -> Model {
    let coordinates: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let mut text = format!("coordinates {}\n", coordinates.join(", "));
    for (parameter, value) in model.parameters.iter().zip(&model.parameter_values) {
        text.push_str(&format!("parameter {} = {value:e}\n", parameter.name));
    }
    text.push_str(&format!("output printed_back = {printed}\n"));
    derived(&text, &Overrides::default()).equations.model
}

/// Symbols of the state and the parameters, in one order for both models.
fn symbols(model: &Model) -> Vec<Expr> {
    let mut symbols = vec![model.time];
    symbols.extend(model.coordinates.iter().flat_map(|c| [c.q, c.qdot, c.qddot]));
    symbols.extend(model.parameters.iter().map(|p| p.symbol));
    symbols
}

#[test]
fn printed_equations_parse_back_to_the_same_text_and_value() {
    let (mut n_compared, mut n_same) = (0, 0);
    for (name, text) in gallery() {
        let equations = derived(&text, &Overrides::default()).equations;
        let first = symbols(&equations.model);
        let mut random = Random(7);
        let inputs: Vec<f64> = (0..first.len()).map(|_| 0.2 + random.next().abs()).collect();
        for (e, printed) in &printed(&equations) {
            let again = reread(&equations.model, printed);
            let (second, output) = (symbols(&again), &again.outputs[0]);
            // long factors stand in the order they were built; all others in an order of their own
            if equations.model.graph.text_limited(*e, SHORT).is_some() {
                assert_eq!(again.graph.text(output.expr), *printed, "{name}: print, parse, print");
                n_same += 1;
            }
            let value = |graph, symbols: &[Expr], e| {
                let program = Program::new(graph, symbols, &[e]).ok()?;
                let mut out = [0.0];
                program.run(&inputs, &mut program.workspace(), &mut out);
                Some(out[0])
            };
            let (Some(a), Some(b)) =
                (value(&equations.model.graph, &first, *e), value(&again.graph, &second, output.expr))
            else {
                panic!("{name}: {printed} contains a symbol of its own");
            };
            if a.is_finite() {
                let scale = equations.model.graph.size(*e) as f64 * (1.0 + a.abs());
                assert!((a - b).abs() <= 1e-13 * scale, "{name}: {printed} is {a}, parsed back {b}");
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 500 && n_same > 400, "only {n_compared} and {n_same} expressions were compared");
}
