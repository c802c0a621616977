//! Linear systems of expressions, solved without regard to the length of the result.

use zwang_expr::{Expr, Graph, Node};

use crate::{equations::SparseRow, limits};

/// M in blocks of coordinates that it couples.
pub(crate) struct Mass {
    pub blocks: Vec<(Vec<usize>, Vec<Vec<Expr>>)>,
    /// The mass that all coordinates share, if they do; otherwise one.
    pub common: Expr,
}

impl Mass {
    pub(crate) fn new(g: &mut Graph, rows: &[SparseRow]) -> Option<Mass> {
        let n = rows.len();
        let mut block_of: Vec<usize> = (0..n).collect();
        for (i, row) in rows.iter().enumerate() {
            // a coordinate without mass has no closed form by this method
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
    pub fn unit_solve(&self, g: &mut Graph, x: &[Expr]) -> Option<Vec<Expr>> {
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

/// Solves a positive definite system: by Cramer's rule up to three unknowns, otherwise by elimination.
pub fn solve_symmetric(g: &mut Graph, a: Vec<Vec<Expr>>, b: Vec<Expr>) -> Option<Vec<Expr>> {
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

/// Gaussian elimination without pivoting, which a positive definite matrix does not need.
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

/// The number that all entries of a row have in common; one if there is none.
pub fn common_factor(g: &mut Graph, row: &SparseRow) -> Expr {
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

/// A number times an expression, multiplied into the terms of a sum of up to 200 nodes.
pub fn times_number(g: &mut Graph, number: Expr, e: Expr) -> Expr {
    match g.node(e) {
        Node::Add(a, b) if number != Expr::ONE && g.size(e) <= limits::EXPANDED_SUM => {
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
