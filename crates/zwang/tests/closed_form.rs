//! Printed formulas against the numbers of the engine, where laws contain the forces of redundant rows.

use std::collections::HashMap;

use zwang::{At, closed_form, load};
use zwang_expr::{Expr, Program};
use zwang_motion::StateQuantities;

/// λ of the rows that are printed, the nonideal force and q̈ at the start, by the printed formulas and by the engine.
fn both(text: &str) -> ([Vec<f64>; 3], StateQuantities, Vec<usize>) {
    let system = load(text).unwrap_or_else(|error| panic!("{error}"));
    let inspection = system.inspect(At::Start).unwrap_or_else(|error| panic!("{error}"));
    let mut equations = system.derivation().equations.printed();
    let closed = closed_form(&mut equations).expect("a small system");
    let model = &mut equations.model;
    let mut known: HashMap<Expr, Expr> = HashMap::new();
    for part in &closed.parts {
        let value = model.graph.substitute(&[part.value], &known)[0];
        known.insert(part.symbol, value);
    }
    let inputs = model.state_values(&inspection.check.state);
    let mut values = |exprs: Vec<Expr>| {
        let exprs = model.graph.substitute(&exprs, &known);
        let program = Program::new(&model.graph, &model.state_symbols(), &exprs).expect("all symbols have values");
        let mut out = vec![0.0; exprs.len()];
        program.run(&inputs, &mut program.workspace(), &mut out);
        out
    };
    let multipliers = values(closed.multipliers.iter().map(|(_, e)| *e).collect());
    let rows = closed.multipliers.iter().map(|(k, _)| *k).collect();
    let found = inspection.check.snapshot.found.clone();
    ([multipliers, values(closed.nonideal_force.clone()), values(closed.accelerations.clone())], found, rows)
}

fn close(found: &[f64], wanted: &[f64], text: &str) {
    assert_eq!(found.len(), wanted.len(), "{text}");
    let size = wanted.iter().fold(1.0_f64, |top, x| top.max(x.abs()));
    for (x, y) in found.iter().zip(wanted) {
        assert!((x - y).abs() <= 1e-12 * size, "{found:?} and {wanted:?}\n{text}");
    }
}

/// The shares are those of the shortest λ: of a row stated twice half in each, of one three times as long three tenths.
#[test]
fn laws_with_forces_of_redundant_rows_are_printed_as_they_are_run() {
    let ring = "coordinates x, y\nmass x: 1\nmass y: 2\nforce y: -9.81\nconstraint ring: x^2 + y^2 = 1\n";
    let start = "start x = 0.6, y = -0.8, x' = 0.8, y' = 0.6\n";
    let law = "nonideal x: -0.4*lambda(again)*x'\nnonideal y: -0.4*lambda(again)*y' + 0.1*lambda(ring)\n";
    for again in ["x^2 + y^2 = 1", "3*x^2 + 3*y^2 = 3", "(1 + t^2 + x^2)*(x^2 + y^2 - 1) = 0", "(x^2 + y^2)^2 = 1"] {
        let text = format!("{ring}constraint again: {again}\n{law}{start}");
        let ([multipliers, nonideal, accelerations], found, rows) = both(&text);
        assert_eq!(rows, [0, 1], "{text}");
        assert!(found.constraint_force_nonideal.iter().any(|force| force.abs() > 0.1));
        close(&multipliers, &found.lambda, &text);
        close(&nonideal, &found.constraint_force_nonideal, &text);
        close(&accelerations, &found.qddot, &text);
    }
}

/// A row that is the sum of two others shares with both.
#[test]
fn a_row_that_is_the_sum_of_others_shares_with_both() {
    let text = "coordinates x, y, u, v\nmass x, y, u, v: 1\nforce y: -9.81\nforce v: -9.81
constraint first: x^2 + y^2 = 1\nconstraint second: (u - x)^2 + (v - y)^2 = 1
constraint both: x^2 + y^2 + 2*(u - x)^2 + 2*(v - y)^2 = 3\nconstraint apart: u = 0.6 + sin(t)
nonideal x: -0.2*lambda(second)*x'\nnonideal v: -0.1*lambda(both)*v' + 0.05*lambda(apart)
start x = 0.6, y = -0.8, u = 0.6, v = -1.8, x' = 0.4, y' = 0.3, u' = 1, v' = 0.3";
    let ([multipliers, nonideal, accelerations], found, rows) = both(text);
    assert_eq!(rows, [0, 1, 2, 3]);
    close(&multipliers, &found.lambda, text);
    close(&nonideal, &found.constraint_force_nonideal, text);
    close(&accelerations, &found.qddot, text);
}

/// λ of the kept row carries the whole force; the law has the shares of both.
#[test]
fn an_exported_law_has_the_shares_of_redundant_rows() {
    let text = "coordinates x, y\nmass x: 1\nmass y: 2\nforce y: -9.81\nconstraint ring: x^2 + y^2 = 1
constraint again: 3*x^2 + 3*y^2 = 3\nnonideal x: -0.4*lambda(again)*x' + lambda(ring)\nnonideal y: -0.4*lambda(again)*y'
start x = 0.6, y = -0.8, x' = 0.8, y' = 0.6";
    let system = load(text).unwrap();
    let exported = system.exported().unwrap_or_else(|error| panic!("{error}"));
    let inspection = system.inspect(At::Start).unwrap();
    let found = &inspection.check.snapshot.found;
    let law = exported.law.expect("the ring is not ideal");
    let whole = match &exported.row_names[..] {
        [only] if only == "ring" => found.lambda[0] + 3.0 * found.lambda[1],
        [only] if only == "again" => found.lambda[0] / 3.0 + found.lambda[1],
        other => panic!("{other:?}"),
    };
    let mut inputs = system.model().state_values(&inspection.check.state);
    inputs.push(whole);
    let mut out = vec![0.0; law.program.n_outputs()];
    law.program.run(&inputs, &mut law.program.workspace(), &mut out);
    let force: Vec<f64> = law.force.iter().map(|&k| out[k]).collect();
    close(&force, &found.nonideal_force, text);
}

/// Without M^(1/2) there are no projections; that is said, not that they are too long.
#[test]
fn an_indefinite_mass_has_no_projections() {
    for kinetic in ["x'^2/2 - y'^2/2", "x'^2/2 + 3*x'*y' + y'^2/2"] {
        let text =
            format!("coordinates x, y\nlagrangian {kinetic} - y\nconstraint c: x^2 + 2*y^2 = 1\nstart x = 1, y = 0");
        let mut equations = zwang::derive(&text, &Default::default()).expect("the model is right").equations.printed();
        let closed = closed_form(&mut equations).expect("a small system");
        assert!(closed.projections.is_none());
        let reasons: Vec<&str> =
            closed.missing().into_iter().filter(|(name, _)| *name == "P and N").map(|m| m.1).collect();
        assert!(matches!(reasons[..], [why] if why.contains("not positive definite")), "{reasons:?}");
    }
}
