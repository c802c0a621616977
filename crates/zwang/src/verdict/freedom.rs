//! Freedom that is left: which multipliers are unique, and what driven coordinates can do.

use zwang_motion::{Dependence, Given, Legendre, Matrix, Route, Settings, Solution, dependence};

use crate::diagnostic::Diagnostic;
use crate::equations::{Equations, Symbols, constraint_row};
use crate::system::System;

/// The rows whose multiplier is one of many: those that take part in a dependence.
pub fn indeterminate(equations: &Equations, here: &Dependence) -> Vec<String> {
    let mut rows: Vec<usize> = Vec::new();
    for (row, combination) in &here.dependent {
        rows.push(*row);
        rows.extend(combination.iter().map(|(k, _)| *k));
    }
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().map(|k| equations.rows[k].name.clone()).collect()
}

/// Z701: controls whose driven coordinates cannot do what is asked.
///
/// A unit force on each coordinate in turn gives the accelerations the physical constraints leave possible; the
/// driven ones must reach as many directions of the asked motion as all of them together.
pub fn actuators(
    equations: &mut Equations,
    system: &mut System,
    state: &zwang_motion::State,
    given: &Given,
    route: &mut dyn Route,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let n = state.q.len();
    let controls = equations.model.controls.clone();
    for (control, driven) in controls.iter().filter(|(_, driven)| !driven.is_empty() && n <= 200) {
        let Some(rows) = control_rows(equations, system, state, control) else { continue };
        let Some(responses) = responses(given, route, n) else { continue };
        let rank_of = |columns: &[usize]| {
            let entry = |row: &Vec<f64>, c: usize| row.iter().zip(&responses[c]).map(|(a, r)| a * r).sum::<f64>();
            let dense: Vec<f64> = rows.iter().flat_map(|row| columns.iter().map(move |&c| entry(row, c))).collect();
            dependence(&Matrix::from_dense(rows.len(), columns.len(), &dense), settings).map_or(0, |d| d.rank)
        };
        let (needed, reached) = (rank_of(&(0..n).collect::<Vec<_>>()), rank_of(driven));
        if reached < needed {
            let names: Vec<String> =
                driven.iter().map(|k| format!("`{}`", equations.model.coordinates[*k].name)).collect();
            found.push(
                Diagnostic::error(
                    "Z701",
                    format!(
                        "`{}` asks for {needed} directions but {} can drive {reached}",
                        control.name,
                        names.join(", ")
                    ),
                )
                .at(control.span, format!("rank {reached} of {needed} at t = {}", state.t))
                .help("drive more coordinates with `using`, or ask for fewer components, such as tip.x alone"),
            );
        }
    }
    found
}

/// The rows of A that a control would need, at a state.
fn control_rows(
    equations: &mut Equations,
    system: &System,
    state: &zwang_motion::State,
    control: &crate::model::Constraint,
) -> Option<Vec<Vec<f64>>> {
    let model = &mut equations.model;
    let n = model.coordinates.len();
    let symbols = Symbols::new(model.time, &model.coordinates);
    let mut rows = Vec::new();
    for row in &control.rows {
        let coefficients = constraint_row(&mut model.graph, &symbols, row);
        let exprs: Vec<_> = coefficients.iter().map(|(_, e)| *e).collect();
        let values = system.evaluate(model, state, &exprs)?;
        let mut dense = vec![0.0; n];
        coefficients.iter().zip(values).for_each(|((k, _), v)| dense[*k] = v);
        rows.push(dense);
    }
    Some(rows)
}

/// The change of q̈ that a unit force on each coordinate makes.
fn responses(given: &Given, route: &mut dyn Route, n: usize) -> Option<Vec<Vec<f64>>> {
    let mut solve = |force: &[f64]| {
        let mut solution = Solution::default();
        route.solve(given, None::<&Legendre>, force, &mut solution).ok()?;
        Some(solution.qddot)
    };
    let free = solve(&vec![0.0; n])?;
    let mut responses = Vec::new();
    for k in 0..n {
        let mut force = vec![0.0; n];
        force[k] = 1.0;
        let moved = solve(&force)?;
        responses.push(moved.iter().zip(&free).map(|(a, b)| a - b).collect());
    }
    Some(responses)
}
