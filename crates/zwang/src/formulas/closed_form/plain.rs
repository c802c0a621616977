//! Closed forms without named parts: everything is substituted, then shortened.

use zwang_expr::{Algebra, Expr, Graph};

use crate::formulas::closed_form::elimination::{Mass, common_factor, solve_symmetric, times_number};
use crate::formulas::closed_form::{ClosedForm, ClosedFormProblem, Projections, gaussian, row_of};
use crate::formulas::printed::LIMITS;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};

/// Adds the quantities other than the motion: Qc, a, e, G, P and N. Those that take too long to shorten are left out.
pub(super) fn completed(equations: &mut Equations, problem: &ClosedFormProblem, mut form: ClosedForm) -> ClosedForm {
    form.is_regular = problem.is_regular;
    if !problem.rows.is_empty() {
        form.constraint_force = constraint_force(equations, &form.multipliers).unwrap_or_default();
    }
    let has_forces = !(problem.rows.is_empty() && form.nonideal_force.is_empty() && form.control.is_empty());
    if problem.is_regular {
        // without forces of constraints and controls a equals q̈
        form.free = match has_forces {
            true => free(equations, &problem.masses).unwrap_or_default(),
            false => form.accelerations.clone(),
        };
    }
    if !form.free.is_empty() {
        form.gap = gap(equations, &problem.rows, &form.free).unwrap_or_default();
    }
    let knows_forces = problem.rows.is_empty() || !form.constraint_force.is_empty();
    if has_forces && knows_forces && !form.free.is_empty() {
        let short = |g: &mut Graph, e: Expr| Algebra::new(g, &[e], LIMITS).shortest(g, e);
        form.gaussian = gaussian(&mut equations.model.graph, &form, short);
    }
    if has_forces && problem.is_regular {
        form.projections = projections(equations, problem);
    }
    form
}

/// q̈, λ and the forces of controls and nonideal laws, without parts; `None` if one takes too long to shorten.
pub(super) fn motion(equations: &mut Equations, problem: &ClosedFormProblem) -> Option<ClosedForm> {
    let ideal_and_free = equations.asked.is_empty() && equations.nonideal_force.is_empty();
    if ideal_and_free && let Some(form) = solved_together(equations, problem) {
        return Some(form);
    }
    let ideal = solve(equations, problem, &problem.rows, &problem.force)?;
    let form = if !equations.asked.is_empty() {
        controlled(equations, problem, ideal)?
    } else if !equations.nonideal_force.is_empty() {
        with_nonideal_force(equations, problem, ideal)?
    } else {
        ideal
    };
    shortened(&mut equations.model.graph, form)
}

/// q̈ and λ as the solution of M q̈ − Aᵀλ = Q, A q̈ = b, if that is a small system.
fn solved_together(equations: &mut Equations, problem: &ClosedFormProblem) -> Option<ClosedForm> {
    let (matrix, right) = joint(equations, &problem.rows);
    if right.len() > limits::UNKNOWNS_TOGETHER {
        return None;
    }
    let graph = &mut equations.model.graph;
    let all = [matrix.concat(), right.clone()].concat();
    let solved = Algebra::new(graph, &all, LIMITS).solve(graph, &matrix, &right)?;
    let (accelerations, lambda) = solved.split_at(equations.mass_matrix.len());
    let multipliers = problem.rows.iter().copied().zip(lambda.iter().copied()).collect();
    Some(ClosedForm { accelerations: accelerations.to_vec(), multipliers, ..ClosedForm::default() })
}

/// The matrix of M q̈ − Aᵀλ = Q, A q̈ = b and its right side.
pub(super) fn joint(equations: &mut Equations, rows: &[usize]) -> (Vec<Vec<Expr>>, Vec<Expr>) {
    let (n, m) = (equations.mass_matrix.len(), rows.len());
    let mut matrix = vec![vec![Expr::ZERO; n + m]; n + m];
    for (i, row) in equations.mass_matrix.iter().enumerate() {
        row.iter().for_each(|(j, e)| matrix[i][*j] = *e);
    }
    let mut right = equations.given_force.clone();
    for (k, &at) in rows.iter().enumerate() {
        for (j, e) in &equations.rows[at].coefficients {
            matrix[n + k][*j] = *e;
            matrix[*j][n + k] = equations.model.graph.neg(*e);
        }
        right.push(equations.rows[at].rhs);
    }
    (matrix, right)
}

/// λ of the ideal part is substituted in C, then Q + C drives the system; the part of C that acts in addition to the
/// rows is Qₙ.
fn with_nonideal_force(
    equations: &mut Equations,
    problem: &ClosedFormProblem,
    ideal: ClosedForm,
) -> Option<ClosedForm> {
    let multipliers = problem.acting_multipliers(equations, &ideal.multipliers);
    let known = multipliers.iter().map(|(k, e)| (equations.rows[*k].lambda, *e)).collect();
    let g = &mut equations.model.graph;
    let nonideal = g.substitute(&equations.nonideal_force, &known);
    let force: Vec<Expr> = problem.force.iter().zip(&nonideal).map(|(&q, &c)| g.add(q, c)).collect();
    let moved = solve(equations, problem, &problem.rows, &force)?;
    // C + Aᵀ(λ' − λ), where λ' acts with C
    let g = &mut equations.model.graph;
    let pairs = moved.multipliers.iter().zip(&ideal.multipliers);
    let change: Vec<(usize, Expr)> = pairs.map(|((k, x), (_, y))| (*k, g.sub(*x, *y))).collect();
    let reaction = transposed(equations, &change);
    let g = &mut equations.model.graph;
    let nonideal_force = nonideal.iter().zip(&reaction).map(|(&c, &r)| g.add(c, r)).collect();
    Some(ClosedForm { multipliers, nonideal_force, ..moved })
}

/// The motion with controls by any force: that of all rows together. Its force in addition to that of the constraints
/// is u = M (q̈ − q̈ₚ), which does not change λ.
fn controlled(equations: &mut Equations, problem: &ClosedFormProblem, ideal: ClosedForm) -> Option<ClosedForm> {
    let moved = solve(equations, problem, &problem.all_rows, &problem.force)?;
    let g = &mut equations.model.graph;
    let pairs = moved.accelerations.iter().zip(&ideal.accelerations);
    let change: Vec<Expr> = pairs.map(|(&x, &y)| g.sub(x, y)).collect();
    let force = |row: &SparseRow| {
        let parts: Vec<Expr> = row.iter().map(|&(j, m)| g.mul(m, change[j])).collect();
        g.sum(&parts)
    };
    let control = equations.mass_matrix.iter().map(force).collect();
    Some(ClosedForm { multipliers: ideal.multipliers, control, ..moved })
}

#[allow(non_snake_case)]
fn solve(equations: &mut Equations, problem: &ClosedFormProblem, rows: &[usize], force: &[Expr]) -> Option<ClosedForm> {
    let n = equations.model.n_coordinates();
    let picked: Vec<(SparseRow, Expr)> = rows.iter().map(|&k| row_of(equations, k)).collect();
    let g = &mut equations.model.graph;
    let mass = Mass::new(g, &problem.masses)?;

    // a = M⁻¹Q
    let a = mass.solve(g, force)?;

    // each row divided by its common number, e = b − A a
    let mut A: Vec<Vec<Expr>> = Vec::new();
    let (mut e, mut factors) = (Vec::new(), Vec::new());
    for (row, rhs) in &picked {
        let factor = common_factor(g, row);
        let mut dense = vec![Expr::ZERO; n];
        for (k, entry) in row {
            dense[*k] = g.div(*entry, factor);
        }
        let products: Vec<Expr> = dense.iter().zip(&a).map(|(&x, &y)| g.mul(x, y)).collect();
        let product = g.sum(&products);
        let inverse = g.div(Expr::ONE, factor);
        let b = times_number(g, inverse, *rhs);
        e.push(g.sub(b, product));
        A.push(dense);
        factors.push(factor);
    }

    // S λ = e with S = A M⁻¹Aᵀ; with one mass for all it is S = A Aᵀ and λ a multiple of the mass
    let columns: Option<Vec<Vec<Expr>>> = A.iter().map(|row| mass.unit_solve(g, row)).collect();
    let columns = columns?;
    let r = A.len();
    let mut S = vec![vec![Expr::ZERO; r]; r];
    for i in 0..r {
        for j in i..r {
            let products: Vec<Expr> = A[i].iter().zip(&columns[j]).map(|(&x, &y)| g.mul(x, y)).collect();
            S[i][j] = g.sum(&products);
            S[j][i] = S[i][j];
        }
    }
    let lambda = solve_symmetric(g, S, e)?;

    // q̈ = a + M⁻¹Aᵀλ
    let mut accelerations = Vec::with_capacity(n);
    for k in 0..n {
        let mut terms = vec![a[k]];
        terms.extend((0..r).map(|i| g.mul(columns[i][k], lambda[i])));
        accelerations.push(g.sum(&terms));
    }
    let scale = mass.common;
    let multipliers = rows.iter().zip(lambda).zip(&factors).map(|((&k, l), &f)| {
        let l = g.mul(l, scale);
        (k, g.div(l, f))
    });
    let multipliers = multipliers.collect();
    Some(ClosedForm { accelerations, multipliers, ..ClosedForm::default() })
}

/// Every formula in its shortest form; `None` if that takes too long.
fn shortened(graph: &mut Graph, mut form: ClosedForm) -> Option<ClosedForm> {
    if form.formulas().iter().any(|e| graph.cost(*e) > limits::HOPELESS_FORMULA) {
        return None;
    }
    let mut algebra = Algebra::new(graph, &form.formulas(), LIMITS);
    let mut is_whole = true;
    form.for_each(|e| match algebra.shortest(graph, *e) {
        Some(short) => *e = short,
        None => is_whole = false,
    });
    is_whole.then_some(form)
}

/// Some formulas, each in its shortest form; `None` if that takes too long.
fn all_short(graph: &mut Graph, exprs: &[Expr]) -> Option<Vec<Expr>> {
    let mut algebra = Algebra::new(graph, exprs, LIMITS);
    exprs.iter().map(|e| algebra.shortest(graph, *e)).collect()
}

/// a = M⁻¹Q.
fn free(equations: &mut Equations, masses: &[SparseRow]) -> Option<Vec<Expr>> {
    if masses.len() <= limits::UNKNOWNS_TOGETHER {
        let (matrix, right) = joint(equations, &[]);
        let g = &mut equations.model.graph;
        let all = [matrix.concat(), right.clone()].concat();
        return Algebra::new(g, &all, LIMITS).solve(g, &matrix, &right);
    }
    let g = &mut equations.model.graph;
    let a = Mass::new(g, masses)?.solve(g, &equations.given_force)?;
    all_short(g, &a)
}

/// e = b − A a.
fn gap(equations: &mut Equations, rows: &[usize], a: &[Expr]) -> Option<Vec<(usize, Expr)>> {
    let picked: Vec<(SparseRow, Expr)> = rows.iter().map(|&k| row_of(equations, k)).collect();
    let g = &mut equations.model.graph;
    let gap = |(row, b): &(SparseRow, Expr)| {
        let products: Vec<Expr> = row.iter().map(|(j, x)| g.mul(*x, a[*j])).collect();
        let product = g.sum(&products);
        g.sub(*b, product)
    };
    let e: Vec<Expr> = picked.iter().map(gap).collect();
    let e = all_short(g, &e)?;
    Some(rows.iter().copied().zip(e).collect())
}

/// Aᵀx.
pub(super) fn transposed(equations: &mut Equations, x: &[(usize, Expr)]) -> Vec<Expr> {
    let mut sums = vec![Expr::ZERO; equations.model.n_coordinates()];
    for (k, factor) in x {
        let (row, _) = row_of(equations, *k);
        let g = &mut equations.model.graph;
        for (j, entry) in row {
            let product = g.mul(entry, *factor);
            sums[j] = g.add(sums[j], product);
        }
    }
    sums
}

fn constraint_force(equations: &mut Equations, multipliers: &[(usize, Expr)]) -> Option<Vec<Expr>> {
    let force = transposed(equations, multipliers);
    all_short(&mut equations.model.graph, &force)
}

/// P and N = I − P, column by column: P x is the acceleration M⁻¹AᵀS⁻¹A x by which the rows of A alone respond to x.
fn projections(equations: &mut Equations, problem: &ClosedFormProblem) -> Option<Projections> {
    let n = equations.model.n_coordinates();
    if n > limits::PROJECTED_COORDINATES || problem.rows.is_empty() {
        return None;
    }
    let (matrix, _) = joint(equations, &problem.rows);
    let diagonal: Option<Vec<Expr>> =
        equations.mass_matrix.iter().enumerate().map(|(i, row)| diagonal(row, i)).collect();
    let roots: Vec<Expr> = match &diagonal {
        Some(masses) if masses.iter().all(|m| *m == masses[0]) => vec![Expr::ONE; n],
        Some(masses) => masses.iter().map(|m| equations.model.graph.sqrt(*m)).collect(),
        None => vec![Expr::ONE; n],
    };
    let mut onto_rows = vec![vec![Expr::ZERO; n]; n];
    for column in 0..n {
        let answer = |&k: &usize| entry(&equations.rows[k].coefficients, column);
        let zeros = std::iter::repeat_n(Expr::ZERO, n);
        let right: Vec<Expr> = zeros.chain(problem.rows.iter().map(answer)).collect();
        let graph = &mut equations.model.graph;
        let all = [matrix.concat(), right.clone()].concat();
        let solved = Algebra::new(graph, &all, LIMITS).solve(graph, &matrix, &right)?;
        for (row, x) in solved[..n].iter().enumerate() {
            let scaled = graph.mul(roots[row], *x);
            onto_rows[row][column] = graph.div(scaled, roots[column]);
        }
    }
    let graph = &mut equations.model.graph;
    let mut along_rows = onto_rows.clone();
    for (i, row) in along_rows.iter_mut().enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            let one = if i == j { Expr::ONE } else { Expr::ZERO };
            *x = graph.sub(one, *x);
        }
    }
    let all = [onto_rows.concat(), along_rows.concat()].concat();
    let short = all_short(graph, &all)?;
    if short.iter().any(|e| graph.cost(*e) > limits::PROJECTED_ENTRY) {
        return None;
    }
    // symmetric entries are written alike
    let is_symmetric = diagonal.is_some();
    let at = |i: usize, j: usize| if is_symmetric { i.min(j) * n + i.max(j) } else { i * n + j };
    let square = |entries: &[Expr]| (0..n).map(|i| (0..n).map(|j| entries[at(i, j)]).collect()).collect();
    let (onto_rows, along_rows) = (square(&short[..n * n]), square(&short[n * n..]));
    Some(Projections { scaled: diagonal.is_some(), onto_rows, along_rows })
}

/// The diagonal entry of a row without other entries.
fn diagonal(row: &SparseRow, i: usize) -> Option<Expr> {
    match row[..] {
        [(j, e)] if j == i => Some(e),
        _ => None,
    }
}

/// The entry of a row in a column.
pub(super) fn entry(row: &SparseRow, column: usize) -> Expr {
    row.iter().find(|(k, _)| *k == column).map_or(Expr::ZERO, |(_, e)| *e)
}
