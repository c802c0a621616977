//! The explicit equation of motion in closed form: q̈ = a + M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A a) on independent rows.

use zwang_expr::{Expr, Graph, Node, Program};
use zwang_motion::{Matrix, Settings, dependence};

use crate::equations::{Equations, SparseRow};
use crate::model::Control;
use crate::printed::{Joint, shortened};
use crate::random::scattered;

/// Above this many coordinates or independent rows formulas are of no use to a reader.
const MOST: usize = 24;

/// Explicit accelerations and the multipliers they come from.
pub struct ClosedForm {
    /// q̈ of each coordinate.
    pub accelerations: Vec<Expr>,
    /// The rows that were used, and λ for each; the others repeat them.
    pub multipliers: Vec<(usize, Expr)>,
    /// u of each coordinate, KU94 (33); empty without controls.
    pub control: Vec<Expr>,
}

/// The closed form; none if M is singular even with the constraints' help, or if the system is too large to be read.
///
/// Nonideal forces enter through Q + C, UK02 (6), with the multipliers of the ideal part.
///
/// Each formula is in the shortest form found, see [`Algebra`](zwang_expr::Algebra); what takes too long to shorten stays long.
pub fn closed_form(equations: &mut Equations) -> Option<ClosedForm> {
    let (closed, joint) = solved(equations)?;
    Some(shortened(&mut equations.model.graph, closed, joint))
}

/// The closed form as elimination gives it, and what it solves, if it is nothing but a system of linear equations.
fn solved(equations: &mut Equations) -> Option<(ClosedForm, Option<Joint>)> {
    let n = equations.model.n_coordinates();
    if n > MOST || equations.rows.len() > 2 * MOST {
        return None;
    }
    let masses = equations.mass_matrix.clone();
    let coefficients: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
    let rows = independent_rows(equations, &coefficients)?;
    let mut problem = Problem { masses, force: equations.given_force.clone(), rows };
    if independent_rows(equations, &problem.masses)?.len() < n {
        problem.borrow_mass_from_rows(equations);
        if independent_rows(equations, &problem.masses)?.len() < n {
            return None;
        }
    }
    let ideal = solve(equations, &problem)?;
    if !equations.asked.is_empty() {
        return Some((controlled(equations, problem, ideal)?, None));
    }
    if equations.nonideal_force.is_empty() {
        let picked: Vec<(SparseRow, Expr)> =
            problem.rows.iter().map(|&k| (equations.rows[k].coefficients.clone(), equations.rows[k].rhs)).collect();
        let (masses, force) = (equations.mass_matrix.clone(), equations.given_force.clone());
        let joint = Joint::new(&mut equations.model.graph, &masses, &force, &picked);
        return Some((ideal, Some(joint)));
    }
    // λ of the ideal part goes into C, then Q + C drives the system
    let known = ideal.multipliers.iter().map(|(k, e)| (equations.rows[*k].lambda, *e));
    let zero = equations.rows.iter().map(|r| (r.lambda, Expr::ZERO));
    let known = zero.chain(known).collect();
    let graph = &mut equations.model.graph;
    let nonideal = graph.substitute(&equations.nonideal_force, &known);
    problem.force.iter_mut().zip(&nonideal).for_each(|(q, &c)| *q = graph.add(*q, c));
    let moved = solve(equations, &problem)?;
    Some((ClosedForm { multipliers: ideal.multipliers, ..moved }, None))
}

/// The motion with controls by any force: that of all rows together, whose force beyond the constraints' is u = M (q̈ − q̈ₚ). It does
/// not change λ. None if some coordinates only are driven, if weights or limits matter, or if C would have to know u.
fn controlled(equations: &mut Equations, physical: Problem, ideal: ClosedForm) -> Option<ClosedForm> {
    let n = equations.model.n_coordinates();
    let is_plain = |c: &Control| c.driven(n).len() == n && c.weight.is_empty() && c.limit.is_empty();
    if !equations.nonideal_force.is_empty() || !equations.model.controls.iter().all(is_plain) {
        return None;
    }
    let all = equations.rows.iter().chain(equations.asked.iter().map(|r| &r.row));
    let coefficients: Vec<SparseRow> = all.map(|r| r.coefficients.clone()).collect();
    let rows = independent_rows(equations, &coefficients)?;
    let moved = solve(equations, &Problem { rows, ..physical })?;
    let g = &mut equations.model.graph;
    let pairs = moved.accelerations.iter().zip(&ideal.accelerations);
    let change: Vec<Expr> = pairs.map(|(&x, &y)| g.sub(x, y)).collect();
    let force = |row: &SparseRow| {
        let parts: Vec<Expr> = row.iter().map(|&(j, m)| g.mul(m, change[j])).collect();
        g.sum(&parts)
    };
    let control = equations.mass_matrix.iter().map(force).collect();
    Some(ClosedForm { accelerations: moved.accelerations, multipliers: ideal.multipliers, control })
}

/// Rows of a symbolic matrix that are independent at a generic state.
pub(crate) fn independent_rows(equations: &Equations, rows: &[SparseRow]) -> Option<Vec<usize>> {
    let model = &equations.model;
    let exprs: Vec<Expr> = rows.iter().flat_map(|row| row.iter().map(|(_, e)| *e)).collect();
    let mut symbols = model.graph.symbols_of(&exprs);
    symbols.retain(|s| !model.parameters.iter().any(|p| p.symbol == *s));
    let n_free = symbols.len();
    symbols.extend(model.parameters.iter().map(|p| p.symbol));
    let program = Program::new(&model.graph, &symbols, &exprs).ok()?;
    let pattern: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().map(|(k, _)| *k).collect()).collect();
    let mut matrix = Matrix::from_pattern(rows.len(), model.n_coordinates(), &pattern);
    let mut best: Option<Vec<usize>> = None;
    for attempt in 0..5 {
        let generic = (0..n_free).map(|k| 0.2 + 0.7 * scattered(k, attempt));
        let inputs: Vec<f64> = generic.chain(model.parameter_values.iter().copied()).collect();
        program.run(&inputs, &mut program.workspace(), &mut matrix.value);
        if matrix.value.iter().any(|v| !v.is_finite()) {
            continue;
        }
        let found = dependence(&matrix, &Settings::default()).ok()?.independent;
        if best.as_ref().is_none_or(|b| found.len() > b.len()) {
            best = Some(found);
        }
    }
    best
}

#[allow(non_snake_case)]
fn solve(equations: &mut Equations, problem: &Problem) -> Option<ClosedForm> {
    let n = equations.model.n_coordinates();
    let Problem { masses, force, rows } = problem;
    // behind the constraints stand the rows of controls
    let all: Vec<_> = equations.rows.iter().chain(equations.asked.iter().map(|r| &r.row)).collect();
    let picked: Vec<(SparseRow, Expr)> = rows.iter().map(|&k| (all[k].coefficients.clone(), all[k].rhs)).collect();
    let g = &mut equations.model.graph;
    let mass = Mass::new(g, masses)?;

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
    Some(ClosedForm { accelerations, multipliers, control: Vec::new() })
}

/// What is solved: M, Q and the rows that are independent.
struct Problem {
    masses: Vec<SparseRow>,
    force: Vec<Expr>,
    rows: Vec<usize>,
}

impl Problem {
    /// M + AᵀA and Q + Aᵀb in the place of M and Q: the motion and the multipliers stay the same, and a singular M becomes
    /// regular where the constraints fix what it leaves open.
    fn borrow_mass_from_rows(&mut self, equations: &mut Equations) {
        let n = self.masses.len();
        let mut dense = vec![vec![Expr::ZERO; n]; n];
        for (i, row) in self.masses.iter().enumerate() {
            row.iter().for_each(|(j, e)| dense[i][*j] = *e);
        }
        let g = &mut equations.model.graph;
        for &k in &self.rows {
            let row = &equations.rows[k];
            for (i, a) in &row.coefficients {
                for (j, b) in &row.coefficients {
                    let product = g.mul(*a, *b);
                    dense[*i][*j] = g.add(dense[*i][*j], product);
                }
                let push = g.mul(*a, row.rhs);
                self.force[*i] = g.add(self.force[*i], push);
            }
        }
        let sparse = |row: Vec<Expr>| row.into_iter().enumerate().filter(|(_, e)| *e != Expr::ZERO).collect();
        self.masses = dense.into_iter().map(sparse).collect();
    }
}

/// M in blocks of coordinates that are coupled through it.
pub(crate) struct Mass {
    blocks: Vec<(Vec<usize>, Vec<Vec<Expr>>)>,
    /// The mass all coordinates share, if they do; else one.
    common: Expr,
}

impl Mass {
    pub(crate) fn new(g: &mut Graph, rows: &[SparseRow]) -> Option<Mass> {
        let n = rows.len();
        let mut block_of: Vec<usize> = (0..n).collect();
        for (i, row) in rows.iter().enumerate() {
            // a coordinate without mass has no closed form this way
            row.iter().find(|(j, _)| *j == i)?;
            for (j, _) in row {
                let (old, new) = (block_of[*j].max(block_of[i]), block_of[*j].min(block_of[i]));
                block_of.iter_mut().filter(|b| **b == old).for_each(|b| *b = new);
            }
        }
        let mut blocks = Vec::new();
        for label in 0..n {
            let members: Vec<usize> = (0..n).filter(|k| block_of[*k] == label).collect();
            if members.is_empty() {
                continue;
            }
            let entry = |i: usize, j: usize| rows[i].iter().find(|(k, _)| *k == j).map_or(Expr::ZERO, |(_, e)| *e);
            let matrix = members.iter().map(|&i| members.iter().map(|&j| entry(i, j)).collect()).collect();
            blocks.push((members, matrix));
        }
        let first = rows.first().and_then(|r| r.first()).map_or(Expr::ONE, |(_, e)| *e);
        let shared =
            blocks.iter().all(|(members, m): &(Vec<usize>, Vec<Vec<Expr>>)| members.len() == 1 && m[0][0] == first);
        let common = if shared { first } else { g.integer(1) };
        Some(Mass { blocks, common })
    }

    /// M⁻¹ x.
    pub(crate) fn solve(&self, g: &mut Graph, x: &[Expr]) -> Option<Vec<Expr>> {
        let unit = self.unit_solve(g, x)?;
        Some(unit.into_iter().map(|e| g.div(e, self.common)).collect())
    }

    /// (M / common)⁻¹ x.
    fn unit_solve(&self, g: &mut Graph, x: &[Expr]) -> Option<Vec<Expr>> {
        if self.common != Expr::ONE {
            return Some(x.to_vec());
        }
        let mut solved = vec![Expr::ZERO; x.len()];
        for (members, matrix) in &self.blocks {
            let right: Vec<Expr> = members.iter().map(|&k| x[k]).collect();
            if right.iter().all(|e| *e == Expr::ZERO) {
                continue;
            }
            let part = solve_symmetric(g, matrix.clone(), right)?;
            members.iter().zip(part).for_each(|(&k, e)| solved[k] = e);
        }
        Some(solved)
    }
}

/// Solves a positive definite system: by Cramer's rule while that is short, else by elimination.
fn solve_symmetric(g: &mut Graph, a: Vec<Vec<Expr>>, b: Vec<Expr>) -> Option<Vec<Expr>> {
    match b.len() {
        0 => Some(Vec::new()),
        1..=3 => Some(cramer(g, &a, &b)),
        _ => eliminate(g, a, b),
    }
}

/// Cramer's rule: every unknown over one common determinant.
pub(crate) fn cramer(g: &mut Graph, a: &[Vec<Expr>], b: &[Expr]) -> Vec<Expr> {
    if b.is_empty() {
        return Vec::new();
    }
    let whole = determinant(g, a);
    let unknown = |column: usize, g: &mut Graph| {
        let mut replaced = a.to_vec();
        replaced.iter_mut().zip(b).for_each(|(row, &x)| row[column] = x);
        let part = determinant(g, &replaced);
        g.div(part, whole)
    };
    (0..b.len()).map(|column| unknown(column, g)).collect()
}

/// Expansion along the first row.
fn determinant(g: &mut Graph, a: &[Vec<Expr>]) -> Expr {
    if a.len() == 1 {
        return a[0][0];
    }
    let mut terms = Vec::new();
    for (column, &entry) in a[0].iter().enumerate().filter(|(_, e)| **e != Expr::ZERO) {
        let without = |row: &Vec<Expr>| row.iter().enumerate().filter(|(k, _)| *k != column).map(|(_, e)| *e).collect();
        let minor: Vec<Vec<Expr>> = a[1..].iter().map(without).collect();
        let cofactor = determinant(g, &minor);
        let term = g.mul(entry, cofactor);
        terms.push(if column % 2 == 1 { g.neg(term) } else { term });
    }
    g.sum(&terms)
}

/// Gaussian elimination without exchanges, which a positive definite matrix never needs.
fn eliminate(g: &mut Graph, mut a: Vec<Vec<Expr>>, mut b: Vec<Expr>) -> Option<Vec<Expr>> {
    let n = b.len();
    for k in 0..n {
        if a[k][k] == Expr::ZERO {
            return None;
        }
        for i in k + 1..n {
            if a[i][k] == Expr::ZERO {
                continue;
            }
            let factor = g.div(a[i][k], a[k][k]);
            for j in k..n {
                let term = g.mul(factor, a[k][j]);
                a[i][j] = g.sub(a[i][j], term);
            }
            let term = g.mul(factor, b[k]);
            b[i] = g.sub(b[i], term);
        }
    }
    for k in (0..n).rev() {
        let terms: Vec<Expr> = (k + 1..n).map(|j| g.mul(a[k][j], b[j])).collect();
        let sum = g.sum(&terms);
        let rest = g.sub(b[k], sum);
        b[k] = g.div(rest, a[k][k]);
    }
    Some(b)
}

/// The number all entries of a row have in common; one if they do not.
fn common_factor(g: &mut Graph, row: &SparseRow) -> Expr {
    let number = |e: Expr, g: &Graph| match g.node(e) {
        Node::Number(_) => Some(e),
        Node::Mul(a, _) if matches!(g.node(a), Node::Number(_)) => Some(a),
        _ => None,
    };
    let factors: Option<Vec<Expr>> = row.iter().map(|(_, e)| number(*e, g)).collect();
    match factors.as_deref() {
        Some([first, rest @ ..]) if g.number_value(*first) != Some(0.0) => {
            let size = |e: Expr| g.number_value(e).map(f64::abs);
            if rest.iter().all(|f| size(*f) == size(*first)) { *first } else { Expr::ONE }
        }
        _ => Expr::ONE,
    }
}

/// A number times an expression, multiplied into the terms of a sum while it is short.
fn times_number(g: &mut Graph, number: Expr, e: Expr) -> Expr {
    const SHORT: usize = 200;
    match g.node(e) {
        Node::Add(a, b) if number != Expr::ONE && g.size(e) <= SHORT => {
            let (a, b) = (times_number(g, number, a), times_number(g, number, b));
            g.add(a, b)
        }
        Node::Mul(factor, sum) if matches!(g.node(factor), Node::Number(_)) => {
            let number = g.mul(number, factor);
            times_number(g, number, sum)
        }
        _ => g.mul(number, e),
    }
}
