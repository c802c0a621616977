//! The shares of redundant rows in the constraint force.
//!
//! The force Aᵀλ does not determine the multipliers of redundant rows; the shortest ones are meant, wherever a law contains
//! them. With A = W A_R for the independent rows R,
//!
//! $$ A_R^T\lambda_R = A^T\lambda, \qquad \lambda = W (W^T W)^{-1} \lambda_R. $$

#![allow(non_snake_case)]

use zwang_expr::{Algebra, Expr, Graph};

use crate::equations::{Equations, SparseRow};
use crate::formulas::closed_form::plain::entry;
use crate::formulas::printed::LIMITS;

/// W (WᵀW)⁻¹: the multiplier of every row as a combination of those of the independent rows, by their index there.
#[derive(Clone, Debug)]
pub(super) struct Shares(Vec<SparseRow>);

impl Shares {
    /// The shares if a nonideal law contains a multiplier that redundant rows share; `None` if every row acts alone there.
    /// Fails if they have no short form.
    pub(super) fn new(equations: &mut Equations, rows: &[usize]) -> Result<Option<Shares>, &'static str> {
        let laws = equations.model.graph.symbols_of(&equations.nonideal_force);
        let is_used = |k: usize| laws.binary_search(&equations.rows[k].lambda).is_ok();
        if rows.len() == equations.rows.len() || !(0..equations.rows.len()).any(is_used) {
            return Ok(None);
        }
        Shares::of_rows(equations, rows).map(Some).ok_or("the shares of redundant rows in their force are too long")
    }

    fn of_rows(equations: &mut Equations, rows: &[usize]) -> Option<Shares> {
        let W = combinations(equations, rows)?;
        let g = &mut equations.model.graph;
        // WᵀW of the rows that redundant ones contain; for the others it is the identity
        let is_shared = |i: &usize| W.iter().filter(|row| entry(row, *i) != Expr::ZERO).count() > 1;
        let shared: Vec<usize> = (0..rows.len()).filter(is_shared).collect();
        let gram = |g: &mut Graph, i: usize, j: usize| {
            let terms: Vec<Expr> = W.iter().map(|row| g.mul(entry(row, i), entry(row, j))).collect();
            g.sum(&terms)
        };
        let matrix: Vec<Vec<Expr>> = shared.iter().map(|&i| shared.iter().map(|&j| gram(g, i, j)).collect()).collect();
        let entries: Vec<Expr> = W.iter().flatten().map(|(_, e)| *e).collect();
        let mut algebra = Algebra::new(g, &[matrix.concat(), entries].concat(), LIMITS);
        let mut shares = Vec::with_capacity(W.len());
        for row in &W {
            // WᵀW is symmetric: a row of W (WᵀW)⁻¹ is (WᵀW)⁻¹ times that row of W
            let right: Vec<Expr> = shared.iter().map(|&i| entry(row, i)).collect();
            let solved = match right.iter().all(|e| *e == Expr::ZERO) {
                true => right,
                false => algebra.solve(g, &matrix, &right)?,
            };
            let own = row.iter().filter(|(i, _)| !shared.contains(i)).copied();
            let mut share: SparseRow = shared.iter().copied().zip(solved).chain(own).collect();
            share.retain(|(_, e)| *e != Expr::ZERO);
            shares.push(share);
        }
        Some(Shares(shares))
    }

    /// The shortest multipliers of all rows.
    pub(super) fn multipliers(&self, equations: &mut Equations, independent: &[(usize, Expr)]) -> Vec<(usize, Expr)> {
        let g = &mut equations.model.graph;
        let sum = |(k, row): (usize, &SparseRow)| {
            let terms: Vec<Expr> = row.iter().map(|(i, e)| g.mul(*e, independent[*i].1)).collect();
            (k, g.sum(&terms))
        };
        self.0.iter().enumerate().map(sum).collect()
    }
}

/// W with A = W A_R: a redundant row a is the combination (A_R A_Rᵀ)⁻¹ A_R a of the independent ones, wherever the
/// constraints hold.
fn combinations(equations: &mut Equations, rows: &[usize]) -> Option<Vec<SparseRow>> {
    let A: Vec<SparseRow> = equations.rows.iter().map(|row| row.coefficients.clone()).collect();
    let n = equations.model.n_coordinates();
    let g = &mut equations.model.graph;
    let entries: Vec<Expr> = A.iter().flatten().map(|(_, e)| *e).collect();
    let mut algebra = Algebra::new(g, &entries, LIMITS);
    let mut W = Vec::with_capacity(A.len());
    for (k, row) in A.iter().enumerate() {
        if let Some(i) = rows.iter().position(|at| *at == k) {
            W.push(vec![(i, Expr::ONE)]);
            continue;
        }
        let multiple = (0..rows.len()).find_map(|i| Some((i, ratio(g, &mut algebra, row, &A[rows[i]])?)));
        if let Some(single) = multiple {
            W.push(vec![single]);
            continue;
        }
        let product = |g: &mut Graph, x: &SparseRow, y: &SparseRow| {
            let terms: Vec<Expr> = (0..n).map(|j| g.mul(entry(x, j), entry(y, j))).collect();
            g.sum(&terms)
        };
        let right: Vec<Expr> = rows.iter().map(|&i| product(g, &A[i], row)).collect();
        let matrix: Vec<Vec<Expr>> =
            rows.iter().map(|&i| rows.iter().map(|&j| product(g, &A[i], &A[j])).collect()).collect();
        let solved = algebra.solve(g, &matrix, &right)?;
        W.push(solved.into_iter().enumerate().filter(|(_, e)| *e != Expr::ZERO).collect());
    }
    Some(W)
}

/// c with row = c other, if the algebra proves that there is one.
fn ratio(g: &mut Graph, algebra: &mut Algebra, row: &SparseRow, other: &SparseRow) -> Option<Expr> {
    let columns = |row: &SparseRow| row.iter().map(|(j, _)| *j).collect::<Vec<_>>();
    let (first, rest) = (row.first()?, &row[1..]);
    if columns(row) != columns(other) {
        return None;
    }
    for ((_, x), (_, y)) in rest.iter().zip(&other[1..]) {
        let (left, right) = (g.mul(first.1, *y), g.mul(*x, other[0].1));
        let difference = g.sub(left, right);
        if algebra.is_zero(g, difference) != Some(true) {
            return None;
        }
    }
    let ratio = g.div(first.1, other[0].1);
    algebra.shortest(g, ratio)
}
