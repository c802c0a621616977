//! Integrating factors of single rows: μ with d(μ α) = 0.

use zwang_expr::{Expr, Function, Node, Program};

use crate::analysis::constraints::integrability::integrals::{IntegralSearch, unique};
use crate::analysis::constraints::integrability::relations::{fraction, null_vectors};
use crate::analysis::dot;
use crate::{
    analysis::constraints::integrability::antiderivative::{operands, power_of},
    tolerance,
};

impl IntegralSearch<'_> {
    /// Single rows with an integrating factor μ = Π atomʷ: dα + d ln μ ∧ α = 0 is linear in the exponents w.
    pub(super) fn integrating_factors(&mut self) {
        for k in 0..self.rows.len() {
            if self.is_done() {
                return;
            }
            let candidates = self.factors_of(k);
            let mut fallback = None;
            let mut chosen = None;
            for factor in candidates {
                let combination = vec![(k, factor)];
                let entries = self.form(&combination);
                if !self.is_closed(&entries) {
                    continue;
                }
                let finite = self.potential(&entries).is_some_and(|phi| self.is_finite_at_start(phi));
                let this = Some((combination, entries));
                if finite {
                    chosen = this;
                    break;
                }
                fallback = fallback.or(this);
            }
            if let Some((combination, entries)) = chosen.or(fallback) {
                self.take(combination, &entries);
            }
        }
    }

    fn is_finite_at_start(&self, e: Expr) -> bool {
        let Ok(program) = Program::new(self.graph, &self.symbols, &[e]) else { return false };
        let mut value = [f64::NAN];
        program.run(&self.start, &mut program.workspace(), &mut value);
        value[0].is_finite()
    }

    /// Integrating factors of one row, those with one atom first.
    fn factors_of(&mut self, k: usize) -> Vec<Expr> {
        let mut atoms = self.atoms();
        atoms.extend(self.sums(k));
        let columns: Vec<Expr> = self.rows[k].entries.iter().map(|(j, _)| self.pfaffian.z[*j]).collect();
        let occurring: Vec<Expr> =
            self.pfaffian.z.iter().copied().filter(|s| atoms.contains(s) || columns.contains(s)).collect();
        let exponentials: Vec<Expr> = occurring.into_iter().map(|s| self.graph.apply(Function::Exp, s)).collect();
        atoms.extend(exponentials);
        let logs: Vec<Vec<Expr>> = atoms.iter().map(|&e| self.log_slopes(e)).collect();
        let Some((columns, right)) = self.factor_equations(k, &logs) else { return Vec::new() };
        let (mut found, mut singular) = (Vec::new(), Vec::new());
        for (u, column) in columns.iter().enumerate() {
            let (along, size) = (dot(column, &right), dot(column, column));
            if size == 0.0 {
                continue;
            }
            let w = along / size;
            let left: f64 = column.iter().zip(&right).map(|(c, r)| (r - w * c).powi(2)).sum();
            if left.sqrt() <= tolerance::ELIMINATED * dot(&right, &right).sqrt() {
                // factors that are finite everywhere come first
                let is_finite = w > 0.0 || matches!(self.graph.node(atoms[u]), Node::Apply(Function::Exp, _));
                let factor = self.power(&[(atoms[u], w)]);
                if is_finite { found.extend(factor) } else { singular.extend(factor) }
            }
        }
        found.extend(singular);
        // all atoms together: the right side is appended as a column
        let mut all = columns;
        all.push(right);
        let last = all.len() - 1;
        let vectors = null_vectors(&all);
        if let Some(vector) = vectors.iter().find(|v| v.last().is_some_and(|(u, _)| *u == last)) {
            let weights: Vec<(Expr, f64)> = vector[..vector.len() - 1].iter().map(|&(u, c)| (atoms[u], -c)).collect();
            found.extend(self.power(&weights));
        }
        found
    }

    /// Π atomʷ with exponents that are short fractions.
    fn power(&mut self, weights: &[(Expr, f64)]) -> Option<Expr> {
        let mut product = Expr::ONE;
        for &(atom, w) in weights {
            let (p, q) = fraction(w).filter(|(_, q)| *q <= 12)?;
            let exponent = self.graph.rational(p, q);
            let power = match self.graph.node(atom) {
                Node::Apply(Function::Exp, u) => {
                    let argument = self.graph.mul(exponent, u);
                    self.graph.apply(Function::Exp, argument)
                }
                _ => self.graph.pow(atom, exponent),
            };
            product = self.graph.mul(product, power);
        }
        Some(product)
    }

    /// Sums that the coefficients of a row contain as factors, such as x² + y².
    fn sums(&self, k: usize) -> Vec<Expr> {
        let mut found = Vec::new();
        for &(_, e) in &self.rows[k].entries {
            for factor in operands(self.graph, e, |node| matches!(node, Node::Mul(..))) {
                let (base, _) = power_of(self.graph, factor);
                let varies = self.graph.symbols(base).iter().any(|s| self.pfaffian.z.contains(s));
                if matches!(self.graph.node(base), Node::Add(..)) && varies {
                    found.push(base);
                }
            }
        }
        unique(found)
    }

    /// ∂ ln e/∂z.
    fn log_slopes(&mut self, e: Expr) -> Vec<Expr> {
        let slopes: Vec<Expr> = self.pfaffian.z.iter().map(|&s| self.graph.derivative(e, s)).collect();
        slopes.into_iter().map(|d| self.graph.div(d, e)).collect()
    }

    /// The columns d ln(atom) ∧ α and the right side −dα at the probes.
    fn factor_equations(&mut self, k: usize, logs: &[Vec<Expr>]) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let n = self.pfaffian.z.len();
        let row = &self.rows[k];
        let mut exprs: Vec<Expr> = row.entries.iter().map(|(_, e)| *e).collect();
        exprs.extend(row.curl.iter().map(|(_, e)| *e));
        exprs.extend(logs.iter().flatten());
        let program = Program::new(self.graph, &self.symbols, &exprs).ok()?;
        let (mut columns, mut right) = (vec![Vec::new(); logs.len()], Vec::new());
        for probe in &self.probes {
            if right.len() > 2 * logs.len() + 20 {
                break;
            }
            let Some(values) = probe.run(&program) else { continue };
            let mut values = values.iter().map(|v| v.value());
            let (mut a, mut d) = (vec![0.0; n], vec![0.0; n * n]);
            row.entries.iter().for_each(|(k, _)| a[*k] = values.next().unwrap_or(0.0));
            row.curl.iter().for_each(|((i, j), _)| d[i * n + j] = values.next().unwrap_or(0.0));
            for i in 0..n {
                right.extend((i + 1..n).map(|j| -d[i * n + j]));
            }
            for column in &mut columns {
                let slope: Vec<f64> = (0..n).map(|_| values.next().unwrap_or(0.0)).collect();
                for i in 0..n {
                    column.extend((i + 1..n).map(|j| slope[i] * a[j] - slope[j] * a[i]));
                }
            }
        }
        (!right.is_empty()).then_some((columns, right))
    }
}
