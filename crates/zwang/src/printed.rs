//! The equations in the form that is shortest to read; what is computed stays as it is.

use zwang_expr::{Algebra, Expr, Graph, Limits};

use crate::closed_form::ClosedForm;
use crate::equations::{ConstraintRow, Equations, SparseRow};

/// Work on the closed form of one quantity, in operations on terms of polynomials: what takes longer is too long to be read.
pub(crate) const LIMITS: Limits = Limits { terms: 2000, work: 400_000, total: 1_200_000 };

/// Largest system of equations that is solved for accelerations and multipliers together.
const MOST_UNKNOWNS: usize = 8;

impl Equations {
    /// The same equations for print: every expression in the shortest form found, entries that are zero left out.
    ///
    /// What takes too long stays as it is. Values are the same up to rounding.
    pub fn printed(&self) -> Equations {
        let mut printed = self.clone();
        let exprs = printed.shown();
        let graph = &mut printed.model.graph;
        let mut algebra = Algebra::new(graph, &exprs, LIMITS);
        let mut short = |e: &mut Expr| *e = algebra.shortest(graph, *e).unwrap_or(*e);
        let short_row = |row: &mut SparseRow, short: &mut dyn FnMut(&mut Expr)| {
            row.iter_mut().for_each(|(_, e)| short(e));
            row.retain(|(_, e)| *e != Expr::ZERO);
        };
        // T and V apart, as mechanics states them
        short(&mut printed.kinetic);
        short(&mut printed.potential);
        printed.momentum.iter_mut().for_each(&mut short);
        printed.mass_matrix.iter_mut().for_each(|row| short_row(row, &mut short));
        printed.given_force.iter_mut().for_each(&mut short);
        let mut short_constraint = |row: &mut ConstraintRow| {
            short_row(&mut row.coefficients, &mut short);
            short(&mut row.rhs);
        };
        printed.rows.iter_mut().for_each(&mut short_constraint);
        printed.asked.iter_mut().for_each(|asked| short_constraint(&mut asked.row));
        printed.nonideal_force.iter_mut().for_each(&mut short);
        printed.lagrangian = graph.sub(printed.kinetic, printed.potential);
        printed
    }

    /// Any expressions of the model, each in the shortest form found.
    pub fn shortest(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        let graph = &mut self.model.graph;
        let short = graph.shortest(exprs, LIMITS);
        short.into_iter().zip(exprs).map(|(short, e)| short.unwrap_or(*e)).collect()
    }

    /// All expressions that are printed.
    fn shown(&self) -> Vec<Expr> {
        let rows = self.rows.iter().chain(self.asked.iter().map(|asked| &asked.row));
        let entries =
            self.mass_matrix.iter().chain(rows.clone().map(|row| &row.coefficients)).flatten().map(|(_, e)| *e);
        let others = self.momentum.iter().chain(&self.given_force).chain(&self.nonideal_force).copied();
        entries.chain(others).chain(rows.map(|row| row.rhs)).chain([self.kinetic, self.potential]).collect()
    }
}

/// What the accelerations and multipliers are the solution of: M q̈ − Aᵀλ = Q, A q̈ = b.
pub(crate) struct Joint {
    pub matrix: Vec<Vec<Expr>>,
    pub right: Vec<Expr>,
}

impl Joint {
    pub(crate) fn new(graph: &mut Graph, masses: &[SparseRow], force: &[Expr], rows: &[(SparseRow, Expr)]) -> Joint {
        let (n, m) = (masses.len(), rows.len());
        let mut matrix = vec![vec![Expr::ZERO; n + m]; n + m];
        for (i, row) in masses.iter().enumerate() {
            row.iter().for_each(|(j, e)| matrix[i][*j] = *e);
        }
        for (k, (row, _)) in rows.iter().enumerate() {
            for (j, e) in row {
                matrix[n + k][*j] = *e;
                matrix[*j][n + k] = graph.neg(*e);
            }
        }
        let right = force.iter().copied().chain(rows.iter().map(|(_, b)| *b)).collect();
        Joint { matrix, right }
    }
}

/// The closed form in the shortest form found; `joint` gives accelerations and multipliers alone, where it is known.
pub(crate) fn shortened(graph: &mut Graph, closed: ClosedForm, joint: Option<Joint>) -> ClosedForm {
    let n = closed.accelerations.len();
    if let Some(joint) = joint.filter(|joint| joint.right.len() <= MOST_UNKNOWNS) {
        let all = [joint.matrix.concat(), joint.right.clone()].concat();
        let solved = Algebra::new(graph, &all, LIMITS).solve(graph, &joint.matrix, &joint.right);
        if let Some(solved) = solved {
            let multipliers = closed.multipliers.iter().zip(&solved[n..]).map(|((k, _), e)| (*k, *e)).collect();
            return ClosedForm { accelerations: solved[..n].to_vec(), multipliers, ..closed };
        }
    }
    let multipliers = closed.multipliers.iter().map(|(_, e)| *e);
    let all: Vec<Expr> = multipliers.chain(closed.control.iter().chain(&closed.accelerations).copied()).collect();
    let mut algebra = Algebra::new(graph, &all, LIMITS);
    let mut short = |e: &Expr| algebra.shortest(graph, *e).unwrap_or(*e);
    ClosedForm {
        multipliers: closed.multipliers.iter().map(|(k, e)| (*k, short(e))).collect(),
        control: closed.control.iter().map(&mut short).collect(),
        accelerations: closed.accelerations.iter().map(&mut short).collect(),
    }
}
