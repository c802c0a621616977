//! Equivalent formulations: Lagrange's equations of the first kind, Gauss's least constraint, and d'Alembert's principle on
//! independent accelerations, which in Cartesian coordinates is Gibbs and Appell's.
//!
//! KUXI95 shows for the pendulum that all of them are the explicit equation; here they are written out for any small
//! system.

use zwang_expr::{Algebra, Expr, Graph};

use crate::formulas::closed_form::independent_rows;
use crate::formulas::printed::LIMITS;
use crate::model::Model;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};

/// An equation: its left and right side.
pub type Equality = (Expr, Expr);

/// Formulations that are equivalent to the explicit equation, in the accelerations as symbols.
pub struct Equivalent {
    /// M q̈ = Q + Aᵀλ, one equation for each coordinate, KUXI95 (1).
    pub first_kind: Vec<Equality>,
    /// A q̈ = b, one equation for each row.
    pub rows: Vec<Equality>,
    /// The function that the actual q̈ minimizes among all that satisfy the rows, KUXI95 (18): (q̈ − a)ᵀM(q̈ − a).
    pub constraint: Option<Expr>,
    /// The equations of the free accelerations, if the rows can be solved for the others.
    pub appell: Option<Appell>,
}

/// The equations that remain after the rows are solved for some accelerations.
pub struct Appell {
    /// The dependent accelerations, each in terms of the others.
    pub dependent: Vec<(usize, Expr)>,
    /// For each of the others the work of M q̈ and of Q along it, by d'Alembert's principle.
    pub equations: Vec<Equality>,
    /// `true` if T = ½ q̇ᵀM q̇ with constant M, as for particles in Cartesian coordinates. Then 𝒮 = ½ q̈ᵀM q̈ is Gibbs's
    /// function and the equations are ∂𝒮/∂q̈ᵢ = Πᵢ, with Π the force. In curvilinear coordinates the function of the
    /// particles' accelerations has further terms, which Q contains here.
    pub is_gibbs: bool,
}

/// Derives the formulations; `free` is a = M⁻¹Q, empty if it is not known. `None` with controls or nonideal laws, whose
/// forces these formulations do not contain.
pub fn equivalent(equations: &mut Equations, free: &[Expr]) -> Option<Equivalent> {
    if !(equations.asked.is_empty() && equations.nonideal_force.is_empty()) {
        return None;
    }
    let accelerations: Vec<Expr> = equations.model.coordinates.iter().map(|c| c.qddot).collect();
    let rows: Vec<(SparseRow, Expr)> = equations.rows.iter().map(|r| (r.coefficients.clone(), r.rhs)).collect();
    let lambda: Vec<Expr> = equations.rows.iter().map(|r| r.lambda).collect();
    let masses = equations.mass_matrix.clone();
    let force = equations.given_force.clone();
    let free: Vec<Expr> = free.iter().enumerate().map(|(k, a)| short_or_symbol(equations, k, *a)).collect();
    let graph = &mut equations.model.graph;
    let inertia: Vec<Expr> = masses.iter().map(|row| product(graph, row, &accelerations)).collect();
    let mut first_kind = Vec::with_capacity(masses.len());
    for (k, left) in inertia.iter().enumerate() {
        let mut right = vec![force[k]];
        for ((row, _), l) in rows.iter().zip(&lambda) {
            right.extend(row.iter().filter(|(j, _)| *j == k).map(|(_, e)| graph.mul(*e, *l)));
        }
        first_kind.push((*left, graph.sum(&right)));
    }
    let constraint = (!free.is_empty()).then(|| least(graph, &masses, &accelerations, &free));
    let rows = rows.iter().map(|(row, b)| (product(graph, row, &accelerations), *b)).collect();
    let appell = appell(equations, &inertia, &force, &accelerations);
    Some(Equivalent { first_kind, rows, constraint, appell })
}

/// a of a coordinate if it is short, otherwise a symbol for it.
fn short_or_symbol(equations: &mut Equations, k: usize, a: Expr) -> Expr {
    let Model { graph, coordinates, .. } = &mut equations.model;
    if graph.size(a) <= limits::GAUSSIAN_NODES {
        return a;
    }
    let latex = format!("a_{{{}}}", graph.latex(coordinates[k].q));
    graph.symbol(&format!("a_{}", coordinates[k].name), &latex)
}

fn product(graph: &mut Graph, row: &SparseRow, x: &[Expr]) -> Expr {
    let terms: Vec<Expr> = row.iter().map(|&(j, e)| graph.mul(e, x[j])).collect();
    graph.sum(&terms)
}

/// (q̈ − a)ᵀM(q̈ − a), term by term.
fn least(graph: &mut Graph, masses: &[SparseRow], accelerations: &[Expr], free: &[Expr]) -> Expr {
    let off: Vec<Expr> = accelerations.iter().zip(free).map(|(&x, &a)| graph.sub(x, a)).collect();
    let two = graph.integer(2);
    let mut terms = Vec::new();
    for (i, row) in masses.iter().enumerate() {
        for &(j, m) in row.iter().filter(|(j, _)| *j >= i) {
            let square = if i == j { graph.pow(off[i], two) } else { graph.mul(off[i], off[j]) };
            let term = graph.mul(m, square);
            terms.push(if i == j { term } else { graph.mul(two, term) });
        }
    }
    graph.sum(&terms)
}

/// Solves the rows for some accelerations and sets the virtual work of M q̈ − Q along the others to zero.
fn appell(equations: &mut Equations, inertia: &[Expr], force: &[Expr], accelerations: &[Expr]) -> Option<Appell> {
    let n = accelerations.len();
    let coefficients: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
    let rows = independent_rows(equations, &coefficients)?;
    if rows.is_empty() || rows.len() > limits::DEPENDENT_ACCELERATIONS || rows.len() > n {
        return None;
    }
    let chosen = dependent_columns(equations, &coefficients, &rows)?;
    let others: Vec<usize> = (0..n).filter(|j| !chosen.contains(j)).collect();
    let entry = |k: usize, j: usize| coefficients[k].iter().find(|(c, _)| *c == j).map_or(Expr::ZERO, |(_, e)| *e);
    let matrix: Vec<Vec<Expr>> = rows.iter().map(|&k| chosen.iter().map(|&j| entry(k, j)).collect()).collect();
    let rhs: Vec<Expr> = rows.iter().map(|&k| equations.rows[k].rhs).collect();
    let graph = &mut equations.model.graph;

    // q̈ of the dependent coordinates: A_d⁻¹(b − A_f q̈_f)
    let mut right = Vec::with_capacity(rows.len());
    for (&k, &b) in rows.iter().zip(&rhs) {
        let terms: Vec<Expr> = others.iter().map(|&j| graph.mul(entry(k, j), accelerations[j])).collect();
        let known = graph.sum(&terms);
        right.push(graph.sub(b, known));
    }
    let all = [matrix.concat(), right.clone(), inertia.to_vec(), force.to_vec()].concat();
    let mut algebra = Algebra::new(graph, &all, LIMITS);
    let solved = algebra.solve(graph, &matrix, &right)?;

    // for each other coordinate: the change of the dependent ones with it, and the virtual work along that change
    let mut found = Vec::with_capacity(others.len());
    for &i in &others {
        let column: Vec<Expr> = rows.iter().map(|&k| graph.neg(entry(k, i))).collect();
        let along = algebra.solve(graph, &matrix, &column)?;
        let mut side = |of: &[Expr]| {
            let mut terms = vec![of[i]];
            terms.extend(chosen.iter().zip(&along).map(|(&j, &x)| graph.mul(x, of[j])));
            let whole = graph.sum(&terms);
            algebra.shortest(graph, whole).unwrap_or(whole)
        };
        found.push((side(inertia), side(force)));
    }
    let dependent = chosen.into_iter().zip(solved).collect();
    Some(Appell { dependent, equations: found, is_gibbs: is_gibbs(equations) })
}

/// `true` if T = ½ q̇ᵀM q̇ by the exact algebra, with M of numbers and parameters.
fn is_gibbs(equations: &mut Equations) -> bool {
    let velocities: Vec<Expr> = equations.model.coordinates.iter().map(|c| c.qdot).collect();
    let masses = equations.mass_matrix.clone();
    let mut moving: Vec<Expr> = equations.model.coordinates.iter().flat_map(|c| [c.q, c.qdot]).collect();
    moving.push(equations.model.time);
    moving.extend(equations.parts.iter().map(|part| part.symbol));
    let entries: Vec<Expr> = masses.iter().flatten().map(|(_, e)| *e).collect();
    let graph = &mut equations.model.graph;
    if graph.symbols_of(&entries).iter().any(|s| moving.contains(s)) {
        return false;
    }
    let momenta: Vec<Expr> = masses.iter().map(|row| product(graph, row, &velocities)).collect();
    let twice: Vec<Expr> = momenta.iter().zip(&velocities).map(|(p, v)| graph.mul(*p, *v)).collect();
    let (twice, two) = (graph.sum(&twice), graph.integer(2));
    let whole = graph.mul(two, equations.kinetic);
    let difference = graph.sub(whole, twice);
    Algebra::new(graph, &[difference], LIMITS).is_zero(graph, difference) == Some(true)
}

/// As many independent columns as rows, the simplest first.
fn dependent_columns(equations: &mut Equations, coefficients: &[SparseRow], rows: &[usize]) -> Option<Vec<usize>> {
    let graph = &equations.model.graph;
    let n = equations.model.n_coordinates();
    let column = |j: usize| -> SparseRow {
        let entries = rows
            .iter()
            .enumerate()
            .filter_map(|(k, &row)| coefficients[row].iter().find(|(c, _)| *c == j).map(|(_, e)| (k, *e)));
        entries.collect()
    };
    let mut order: Vec<(usize, SparseRow)> = (0..n).map(|j| (j, column(j))).filter(|(_, c)| !c.is_empty()).collect();
    order.sort_by_key(|(_, entries)| entries.iter().map(|(_, e)| graph.size(*e)).max());
    let mut chosen: Vec<(usize, SparseRow)> = Vec::new();
    for candidate in order {
        chosen.push(candidate);
        let columns: Vec<SparseRow> = chosen.iter().map(|(_, c)| c.clone()).collect();
        if independent_rows(equations, &columns)?.len() < chosen.len() {
            chosen.pop();
        }
        if chosen.len() == rows.len() {
            let mut columns: Vec<usize> = chosen.into_iter().map(|(j, _)| j).collect();
            columns.sort_unstable();
            return Some(columns);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Equations, Equivalent) {
        let derived = crate::derive(text, &Default::default()).expect("the model is right");
        let mut equations = derived.equations.printed();
        let free: Vec<Expr> =
            crate::formulas::closed_form::closed_form(&mut equations).map(|closed| closed.free).unwrap_or_default();
        let found = equivalent(&mut equations, &free).expect("there are no controls");
        (equations, found)
    }

    const PENDULUM: &str = "coordinates x, y\nparameters m = 1, g = 9.81, l = 1\nmass x, y: m\nforce y: -m*g\n\
                            constraint rod: x^2/2 + y^2/2 = l^2/2\nstart x = 1, y = 0";

    #[test]
    fn the_pendulum_is_as_in_kuxi95() {
        let (equations, found) = of(PENDULUM);
        let text = |e: Expr| equations.model.graph.text(e);
        // (28), (30)
        assert_eq!(text(found.first_kind[0].0), "m*x''");
        assert_eq!(text(found.first_kind[0].1), "x*lambda(rod)");
        assert_eq!(text(found.rows[0].0), "x*x'' + y*y''");
        // (37)
        assert_eq!(text(found.constraint.unwrap()), "m*(g + y'')^2 + m*x''^2");
        // (39)
        let appell = found.appell.unwrap();
        assert_eq!(appell.dependent[0].0, 0);
        assert_eq!(text(appell.dependent[0].1), "-(x'^2 + y'^2 + y*y'')/x");
    }

    /// S of a particle in polar coordinates has the cross terms −m r φ'² r'' + 2 m r r' φ' φ'', which ½ q̈ᵀM q̈ has not.
    #[test]
    fn only_cartesian_coordinates_have_gibbs_function() {
        let gibbs = |text: &str| of(text).1.appell.expect("the row is solved").is_gibbs;
        assert!(gibbs(PENDULUM));
        assert!(gibbs(
            "coordinates x, y\nparameters m = 1\nlagrangian L = m*(x'^2 + x'*y' + y'^2) - x^2\n\
             constraint c: x + y^2 = 1\nstart x = 1, y = 0"
        ));
        let polar = "coordinates r, φ\nkinetic (r'^2 + r^2*φ'^2)/2\nconstraint c: r = 1 + φ\nstart r = 1, φ = 0";
        assert!(!gibbs(polar));
        // M is constant in a turning frame, and Coriolis' acceleration is part of the particle's
        let turning =
            "coordinates x, y\nkinetic ((x' - 2*y)^2 + (y' + 2*x)^2)/2\nconstraint c: x = y\nstart x = 1, y = 1";
        assert!(!gibbs(turning));
    }
}
