//! Closed forms for controls that drive some coordinates only: as many as there are control rows, so that the force is
//! unique.

use zwang_expr::{Algebra, Expr};

use crate::formulas::closed_form::plain::{completed, joint};
use crate::formulas::closed_form::{ClosedForm, ClosedFormProblem, independent_rows, on_constraints};
use crate::formulas::printed::LIMITS;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};

/// q̈, λ and the force w on the driven coordinates, the solution of M q̈ − Aᵀλ − S w = Q, A q̈ = b, A_c q̈ = b_c, as
/// long as no limit is reached; `None` if that is not a small regular system, or if there are nonideal forces.
pub(super) fn driven(equations: &mut Equations) -> Option<ClosedForm> {
    let n = equations.model.n_coordinates();
    let driven = equations.model.driven();
    let n_asked = equations.asked.len();
    if n_asked == 0 || driven.len() != n_asked || !equations.nonideal_force.is_empty() {
        return None;
    }
    let stated: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
    if n + stated.len() + n_asked > limits::UNKNOWNS_TOGETHER {
        return None;
    }
    let rows = on_constraints::independent_rows_there(equations, &stated)?;
    let (mut matrix, mut right) = joint(equations, &rows);
    // a column for each driven coordinate, a row for each control row
    let minus_one = equations.model.graph.integer(-1);
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend(driven.iter().map(|&k| if i == k { minus_one } else { Expr::ZERO }));
    }
    for asked in &equations.asked {
        let mut row = vec![Expr::ZERO; matrix[0].len()];
        asked.row.coefficients.iter().for_each(|(j, e)| row[*j] = *e);
        matrix.push(row);
        right.push(asked.row.rhs);
    }
    let graph = &mut equations.model.graph;
    let all = [matrix.concat(), right.clone()].concat();
    let solved = Algebra::new(graph, &all, LIMITS).solve(graph, &matrix, &right)?;
    if solved.iter().any(|e| graph.cost(*e) > limits::LONGEST_FORMULA) {
        return None;
    }
    let (accelerations, forces) = solved.split_at(n);
    let (lambda, force) = forces.split_at(rows.len());
    let mut control = vec![Expr::ZERO; n];
    driven.iter().zip(force).for_each(|(&k, &w)| control[k] = w);
    let multipliers: Vec<(usize, Expr)> = rows.iter().copied().zip(lambda.iter().copied()).collect();
    let form = ClosedForm { accelerations: accelerations.to_vec(), multipliers, control, ..ClosedForm::default() };
    let (masses, force) = (equations.mass_matrix.clone(), equations.given_force.clone());
    let is_regular = independent_rows(equations, &masses)?.len() == n;
    let problem = ClosedFormProblem { masses, force, rows, all_rows: Vec::new(), is_regular, shares: None };
    let form = completed(equations, &problem, form);
    let graph = &equations.model.graph;
    Some(form.without(|e| graph.cost(*e) > limits::LONGEST_FORMULA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cart_is_moved_so_that_its_pendulum_follows() {
        // with M and m the masses, l θ'' = g sin θ − x'' cos θ, and the first row gives the force
        let text = "coordinates x, θ\nparameters M = 2, m = 1, l = 1, g = 9.81\n\
                    kinetic T = M*x'^2/2 + m*(x'^2 + 2*l*x'*θ'*cos(θ) + l^2*θ'^2)/2\npotential V = m*g*l*cos(θ)\n\
                    control hold: θ'' = 0 using x\nstart x = 0, θ = 0.1";
        let derived = crate::derive(text, &Default::default()).expect("the model is right");
        let mut equations = derived.equations.printed();
        let form = crate::formulas::closed_form::closed_form(&mut equations).expect("as many driven as asked for");
        let text = |e: Expr| equations.model.graph.text(e);
        assert_eq!(text(form.accelerations[0]), "g*tan(θ)");
        assert_eq!(form.accelerations[1], Expr::ZERO);
        assert_eq!(form.control[1], Expr::ZERO);
        assert_eq!(text(form.control[0]), "tan(θ)*(M*g + m*(g - l*θ'^2*cos(θ)))");
    }
}
