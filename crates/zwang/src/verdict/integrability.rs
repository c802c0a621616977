//! Velocity constraints that are position constraints in disguise.

use std::collections::HashMap;

use zwang_expr::{Expr, Graph};

use super::classification::{Classification, Velocity, vanishes};
use crate::diagnostic::Diagnostic;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Level;

/// Marks rows that are exact, and offers the position constraint they are the rate of.
///
/// A row Σ aᵢ q̇ᵢ + a₀ is exact if ∂aᵢ/∂qⱼ = ∂aⱼ/∂qᵢ and ∂aᵢ/∂t = ∂a₀/∂qᵢ. Rows that only an integrating factor
/// or a combination of rows makes exact are not looked for here, so other rows stay undecided.
pub fn exact_rows(equations: &mut Equations, kinds: &mut [Classification]) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    let mut n_exact = vec![0; kinds.len()];
    let rest: HashMap<Expr, Expr> = equations.model.coordinates.iter().map(|c| (c.qdot, Expr::ZERO)).collect();
    for k in 0..equations.rows.len() {
        let row = equations.rows[k].clone();
        let kind = &mut kinds[row.constraint];
        if row.level != Level::Velocity || kind.velocity == Some(Velocity::Nonlinear) {
            continue;
        }
        // a₀: what is left at rest
        let a0 = equations.model.graph.substitute(&[row.residual], &rest)[0];
        if !is_exact(equations, &row, a0) {
            continue;
        }
        // a vector constraint is integrable if all its rows are
        n_exact[row.constraint] += 1;
        if n_exact[row.constraint] == kind.n_rows {
            kind.integrable = Some(true);
        }
        let potential = potential(equations, &row, a0);
        let constraint = &equations.model.constraints[row.constraint];
        let text = potential.map(|p| equations.model.graph.text(p));
        let d = match &text {
            Some(text) => Diagnostic::note(
                "Z311",
                format!("constraint `{}` can be integrated: it is the rate of   {text} = const", row.name),
            ),
            None => Diagnostic::note(
                "Z311",
                format!("constraint `{}` can be integrated: it comes from a position constraint", row.name),
            ),
        };
        let d = d
            .at(constraint.span, "a total time derivative")
            .with_note("written as a position constraint it cannot drift");
        notes.push(match &text {
            Some(text) => d.help(format!("constraint {}: {text} = …   with the value it has at the start", row.name)),
            None => d,
        });
    }
    notes
}

fn is_exact(equations: &mut Equations, row: &ConstraintRow, a0: Expr) -> bool {
    let model = &mut equations.model;
    let coordinates: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
    let graph = &mut model.graph;
    let derivative = |graph: &mut Graph, e: Expr, s: Expr| graph.derivative(e, s);
    let coefficient = |j: usize| row.coefficients.iter().find(|(k, _)| *k == j).map_or(Expr::ZERO, |(_, a)| *a);
    // only coordinates that occur can spoil exactness
    let mut all: Vec<Expr> = row.coefficients.iter().map(|(_, a)| *a).collect();
    all.push(a0);
    let free = graph.symbols_of(&all);
    let occurring: Vec<usize> = (0..coordinates.len())
        .filter(|&j| free.binary_search(&coordinates[j]).is_ok() || coefficient(j) != Expr::ZERO)
        .collect();
    for (position, &i) in occurring.iter().enumerate() {
        for &j in &occurring[position + 1..] {
            let left = derivative(graph, coefficient(i), coordinates[j]);
            let right = derivative(graph, coefficient(j), coordinates[i]);
            let difference = graph.sub(left, right);
            if !vanishes(graph, difference) {
                return false;
            }
        }
        let left = derivative(graph, coefficient(i), model.time);
        let right = derivative(graph, a0, coordinates[i]);
        let difference = graph.sub(left, right);
        if !vanishes(graph, difference) {
            return false;
        }
    }
    true
}

/// Σ aᵢ qᵢ + a₀ t, where the coefficients are constants.
fn potential(equations: &mut Equations, row: &ConstraintRow, a0: Expr) -> Option<Expr> {
    let model = &mut equations.model;
    let parameters: Vec<Expr> = model.parameters.iter().map(|p| p.symbol).collect();
    let graph = &mut model.graph;
    let mut terms = vec![graph.mul(a0, model.time)];
    for (k, a) in &row.coefficients {
        terms.push(graph.mul(*a, model.coordinates[*k].q));
    }
    let mut coefficients: Vec<Expr> = row.coefficients.iter().map(|(_, a)| *a).collect();
    coefficients.push(a0);
    let constant = graph.symbols_of(&coefficients).iter().all(|s| parameters.contains(s));
    constant.then(|| graph.sum(&terms))
}
