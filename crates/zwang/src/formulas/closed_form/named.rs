//! Closed forms by named parts: the elimination itself, step by step, each step short.
//!
//! M = L D Lᵀ makes the accelerations Lᵀq̈ independent of each other: their masses are D, their forces f = L⁻¹Q, and
//! the rows become Y = A L⁻ᵀ. Then
//!
//! $$ S = A M^{-1} A^T = Y D^{-1} Y^T = K F K^T, \qquad e = b - Y D^{-1} f, \qquad S\lambda = e, \qquad
//!    L^T \ddot q = D^{-1} (f + Y^T \lambda). $$
//!
//! If M is diagonal or constant, its inverse is short and none of this is needed: q̈ = M⁻¹(Q + Aᵀλ).

#![allow(non_snake_case)]

use zwang_expr::{Algebra, Expr, Graph};

use crate::formulas::closed_form::plain::transposed;
use crate::formulas::closed_form::recorder::{PartLabel, PartRecorder};
use crate::formulas::closed_form::{ClosedForm, ClosedFormProblem, gaussian, row_of};
use crate::formulas::printed::LIMITS;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};

/// The closed form by parts; `None` if a pivot vanishes.
pub(super) fn named(equations: &mut Equations, problem: &ClosedFormProblem) -> Option<ClosedForm> {
    let mut recorder = PartRecorder::new(&equations.model, &equations.parts);
    let mut solver = RowSolver::new(equations, problem, &mut recorder)?;
    let mut form = solver.form(equations, problem)?;
    let mut results: Vec<&mut Expr> = Vec::new();
    form.gap.iter_mut().chain(&mut form.multipliers).for_each(|(_, e)| results.push(e));
    let vectors = [&mut form.free, &mut form.constraint_force, &mut form.nonideal_force, &mut form.control];
    vectors.into_iter().chain([&mut form.accelerations]).flatten().for_each(|e| results.push(e));
    results.extend(form.gaussian.as_mut());
    recorder.tidy(&mut equations.model.graph, &mut results);
    form.parts = recorder.parts;
    Some(form)
}

/// The solution for one system of rows, by parts.
struct RowSolver<'a> {
    recorder: &'a mut PartRecorder,
    coordinates: Vec<PartLabel>,
    rows: Vec<PartLabel>,
    mass: InvertedMass,
    /// Q.
    given: Vec<Expr>,
    /// f = L⁻¹Q, or Q.
    force: Vec<Expr>,
}

/// The form in which M is inverted.
#[derive(Clone)]
enum InvertedMass {
    /// By its inverse, which is short.
    Inverse(Vec<SparseRow>),
    /// By M = L D Lᵀ.
    Factors(LdlFactors),
}

impl<'a> RowSolver<'a> {
    fn new(
        equations: &mut Equations,
        problem: &ClosedFormProblem,
        recorder: &'a mut PartRecorder,
    ) -> Option<RowSolver<'a>> {
        let g = &mut equations.model.graph;
        let coordinates = equations.model.coordinates.iter().map(|c| PartLabel::new(&c.name, g.latex(c.q)));
        let coordinates = PartLabel::distinct(coordinates.collect());
        let names = equations.rows.iter().chain(equations.asked.iter().map(|r| &r.row)).map(|row| row.name.clone());
        let rows = names.map(|name| PartLabel::new(&name, format!("\\text{{{}}}", name.replace('_', "\\_"))));
        let rows = PartLabel::distinct(rows.collect());
        let n = coordinates.len();
        let mut M = vec![vec![Expr::ZERO; n]; n];
        let (letter, meaning) = match problem.is_regular {
            true => ("M", "entries of the mass matrix M"),
            false => ("MA", "M + A^T A with the rows that M needs to be regular; the motion cannot tell it from M"),
        };
        for (i, row) in problem.masses.iter().enumerate() {
            for (j, e) in row.iter().filter(|(j, _)| *j >= i) {
                let labels = [&coordinates[i], &coordinates[*j]];
                M[i][*j] = recorder.name(g, letter, &labels, meaning, *e, limits::SHORT_ENTRY);
                M[*j][i] = M[i][*j];
            }
        }
        let (letter, meaning) = match problem.is_regular {
            true => ("Q", "given force Q"),
            false => ("QA", "Q + A^T b, which belongs to M + A^T A"),
        };
        let mut named =
            |(k, e): (usize, &Expr)| recorder.name(g, letter, &[&coordinates[k]], meaning, *e, limits::SHORT_ENTRY);
        let Q: Vec<Expr> = problem.force.iter().enumerate().map(&mut named).collect();
        let kind = FactorLetters {
            pivot: "D",
            lower: "L",
            meaning: match problem.is_regular {
                true => "M = L D L^T: the accelerations L^T q'' are independent of each other, with the masses D",
                false => {
                    "M + A^T A = L D L^T: the accelerations L^T q'' are independent of each other, with the masses D"
                }
            },
        };
        let mass = match short_inverse(equations, problem, &M) {
            Some(inverse) => InvertedMass::Inverse(inverse),
            None => InvertedMass::Factors(LdlFactors::of(recorder, &mut equations.model.graph, M, &coordinates, kind)?),
        };
        let mut solver = RowSolver { recorder, coordinates, rows, mass, given: Q.clone(), force: Vec::new() };
        let g = &mut equations.model.graph;
        solver.force = solver.independent_force(g, &Q, "f", "forces f = L^-1 Q on the independent accelerations");
        Some(solver)
    }

    fn form(&mut self, equations: &mut Equations, problem: &ClosedFormProblem) -> Option<ClosedForm> {
        let mut form = ClosedForm { is_regular: problem.is_regular, ..ClosedForm::default() };
        if problem.is_regular {
            let meaning = "acceleration a = M^-1 Q without constraints";
            form.free = self.moved(&mut equations.model.graph, &self.force.clone(), "a", meaning);
        }
        let force = self.force.clone();
        let ideal = self.answer(equations, &problem.rows, &force, "lambda", "multipliers")?;
        if problem.is_regular {
            form.gap = ideal.gap.clone();
        }
        form.multipliers = ideal.multipliers.clone();
        let (letter, meaning) = match equations.nonideal_force.is_empty() {
            true => ("Qc", "constraint force Qc = A^T lambda"),
            false => ("Qi", "ideal part Qi = A^T lambda of the constraint force"),
        };
        form.constraint_force = self.pushed(equations, &form.multipliers, letter, meaning);
        let mut acting = ideal.clone();
        if !equations.asked.is_empty() {
            acting = self.answer(
                equations,
                &problem.all_rows,
                &force,
                "mu",
                "multipliers together with the control targets",
            )?;
            let whole = transposed(equations, &acting.multipliers);
            let physical = transposed(equations, &ideal.multipliers);
            let g = &mut equations.model.graph;
            let difference = |(k, (x, y)): (usize, (&Expr, &Expr))| {
                let u = g.sub(*x, *y);
                self.recorder.keep(g, "u", &[&self.coordinates[k]], "control force", u)
            };
            form.control = whole.iter().zip(&physical).enumerate().map(difference).collect();
        }
        if !equations.nonideal_force.is_empty() {
            acting = self.with_nonideal_force(equations, problem, &mut form, &ideal)?;
        }
        form.accelerations = self.accelerations(&mut equations.model.graph, &acting, &form);
        let has_forces =
            !(form.constraint_force.is_empty() && form.control.is_empty() && form.nonideal_force.is_empty());
        if problem.is_regular && has_forces {
            let short = |g: &mut Graph, e: Expr| Some(self.recorder.short(g, e));
            form.gaussian = gaussian(&mut equations.model.graph, &form, short);
        }
        Some(form)
    }

    /// C with the multipliers of the ideal part, and its part that acts in addition to the rows: Qₙ = C + Aᵀ(λ' − λ).
    fn with_nonideal_force(
        &mut self,
        equations: &mut Equations,
        problem: &ClosedFormProblem,
        form: &mut ClosedForm,
        ideal: &MultiplierParts,
    ) -> Option<MultiplierParts> {
        form.multipliers = problem.acting_multipliers(equations, &ideal.multipliers);
        let known = form.multipliers.iter().map(|(k, e)| (equations.rows[*k].lambda, *e)).collect();
        let g = &mut equations.model.graph;
        let C = g.substitute(&equations.nonideal_force, &known);
        let named = |(k, c): (usize, &Expr)| {
            self.recorder.keep(g, "C", &[&self.coordinates[k]], "nonideal force C with the multipliers put in", *c)
        };
        let C: Vec<Expr> = C.iter().enumerate().map(named).collect();
        let whole: Vec<Expr> = problem.force.iter().zip(&C).map(|(q, c)| g.add(*q, *c)).collect();
        let f = self.independent_force(g, &whole, "h", "forces h = L^-1 (Q + C) on the independent accelerations");
        let moved = self.answer(equations, &problem.rows, &f, "mu", "multipliers with the nonideal force")?;
        let g = &mut equations.model.graph;
        let pairs = moved.multipliers.iter().zip(&ideal.multipliers);
        let change: Vec<(usize, Expr)> = pairs.map(|((k, x), (_, y))| (*k, g.sub(*x, *y))).collect();
        let reaction = transposed(equations, &change);
        let g = &mut equations.model.graph;
        let sum = |(k, (c, r)): (usize, (&Expr, &Expr))| {
            let sum = g.add(*c, *r);
            self.recorder.keep(g, "Qn", &[&self.coordinates[k]], "nonideal part of the constraint force", sum)
        };
        form.nonideal_force = C.iter().zip(&reaction).enumerate().map(sum).collect();
        Some(moved)
    }

    /// L⁻¹x, or x.
    fn independent_force(&mut self, g: &mut Graph, x: &[Expr], letter: &str, meaning: &str) -> Vec<Expr> {
        let InvertedMass::Factors(mass) = self.mass.clone() else { return x.to_vec() };
        mass.forward(g, x.to_vec(), |g, k, e| self.recorder.keep(g, letter, &[&self.coordinates[k]], meaning, e))
    }

    /// The acceleration by a force f: L⁻ᵀD⁻¹f, or M⁻¹f.
    fn moved(&mut self, g: &mut Graph, f: &[Expr], letter: &str, meaning: &str) -> Vec<Expr> {
        match self.mass.clone() {
            InvertedMass::Factors(mass) => {
                let z = f.iter().zip(&mass.pivots).map(|(x, d)| g.div(*x, *d)).collect();
                mass.back(g, z, |g, k, e| self.recorder.keep(g, letter, &[&self.coordinates[k]], meaning, e))
            }
            InvertedMass::Inverse(inverse) => {
                let sum = |(k, row): (usize, &SparseRow)| {
                    let terms: Vec<Expr> = row.iter().map(|(j, x)| g.mul(*x, f[*j])).collect();
                    let sum = g.sum(&terms);
                    self.recorder.keep(g, letter, &[&self.coordinates[k]], meaning, sum)
                };
                inverse.iter().enumerate().map(sum).collect()
            }
        }
    }

    /// λ of some rows under a force f, by S = K F Kᵀ.
    fn answer(
        &mut self,
        equations: &mut Equations,
        rows: &[usize],
        f: &[Expr],
        letter: &str,
        what: &str,
    ) -> Option<MultiplierParts> {
        let picked: Vec<(SparseRow, Expr)> = rows.iter().map(|&k| row_of(equations, k)).collect();
        let g = &mut equations.model.graph;
        let Y: Vec<Vec<Expr>> =
            rows.iter().zip(&picked).map(|(&at, (row, _))| self.independent_row(g, at, row)).collect();
        let named_b = |(&at, (_, b)): (&usize, &(SparseRow, Expr))| {
            self.recorder.name(g, "b", &[&self.rows[at]], "right side b of the constraints", *b, limits::SHORT_ENTRY)
        };
        let b: Vec<Expr> = rows.iter().zip(&picked).map(named_b).collect();
        let mut e = Vec::new();
        for (k, &at) in rows.iter().enumerate() {
            // e = b − Y D⁻¹f
            let products = self.products(g, &Y[k], f);
            let gap = g.sub(b[k], products);
            let meaning = "what the constraints ask beyond the motion without them: e = b - A a";
            e.push(self.recorder.keep(g, "e", &[&self.rows[at]], meaning, gap));
        }
        let m = rows.len();
        let mut S = vec![vec![Expr::ZERO; m]; m];
        for i in 0..m {
            for j in i..m {
                let sum = self.products(g, &Y[i], &Y[j]);
                let labels = [&self.rows[rows[i]], &self.rows[rows[j]]];
                let meaning = "S = A M^-1 A^T, how a force in one constraint moves another";
                S[i][j] = self.recorder.keep(g, "S", &labels, meaning, sum);
                S[j][i] = S[i][j];
            }
        }
        let labels: Vec<PartLabel> = rows.iter().map(|&k| self.rows[k].clone()).collect();
        let meaning = "S = K F K^T: what each constraint does once those before it are kept";
        let kind = FactorLetters { pivot: "F", lower: "K", meaning };
        let factors = LdlFactors::of(self.recorder, g, S, &labels, kind)?;
        let recorder = &mut *self.recorder;
        let y = factors.forward(g, e.clone(), |g, k, e| {
            recorder.keep(g, "r", &[&labels[k]], "K^-1 e: what each constraint asks beyond those before it", e)
        });
        let z: Vec<Expr> = y.iter().zip(&factors.pivots).map(|(y, d)| g.div(*y, *d)).collect();
        let lambda = factors.back(g, z, |g, k, e| {
            let e = recorder.short(g, e);
            recorder.name(g, letter, &[&labels[k]], what, e, 1)
        });
        Some(MultiplierParts {
            force: f.to_vec(),
            rows: Y,
            gap: rows.iter().copied().zip(e).collect(),
            multipliers: rows.iter().copied().zip(lambda).collect(),
        })
    }

    /// A row of Y = A L⁻ᵀ.
    fn independent_row(&mut self, g: &mut Graph, at: usize, row: &SparseRow) -> Vec<Expr> {
        let mut dense = vec![Expr::ZERO; self.coordinates.len()];
        for (j, e) in row {
            let labels = [&self.rows[at], &self.coordinates[*j]];
            dense[*j] =
                self.recorder.name(g, "A", &labels, "entries of the constraint matrix A", *e, limits::SHORT_ENTRY);
        }
        let InvertedMass::Factors(mass) = self.mass.clone() else { return dense };
        mass.forward(g, dense, |g, k, e| {
            let labels = [&self.rows[at], &self.coordinates[k]];
            self.recorder.keep(g, "Y", &labels, "rows Y = A L^-T of the independent accelerations", e)
        })
    }

    /// xᵀM⁻¹y of transformed vectors: xᵀD⁻¹y.
    fn products(&self, g: &mut Graph, x: &[Expr], y: &[Expr]) -> Expr {
        let mut terms = Vec::new();
        for k in 0..x.len() {
            let moved = match &self.mass {
                InvertedMass::Factors(mass) => g.div(y[k], mass.pivots[k]),
                InvertedMass::Inverse(inverse) => {
                    let row: Vec<Expr> = inverse[k].iter().map(|(j, e)| g.mul(*e, y[*j])).collect();
                    g.sum(&row)
                }
            };
            terms.push(g.mul(x[k], moved));
        }
        g.sum(&terms)
    }

    /// Aᵀλ.
    fn pushed(&mut self, equations: &mut Equations, x: &[(usize, Expr)], letter: &str, meaning: &str) -> Vec<Expr> {
        if x.is_empty() {
            return Vec::new();
        }
        let mut sums = vec![Expr::ZERO; self.coordinates.len()];
        for (at, factor) in x {
            let (row, _) = row_of(equations, *at);
            let g = &mut equations.model.graph;
            for (j, e) in row {
                let labels = [&self.rows[*at], &self.coordinates[j]];
                let e =
                    self.recorder.name(g, "A", &labels, "entries of the constraint matrix A", e, limits::SHORT_ENTRY);
                let product = g.mul(e, *factor);
                sums[j] = g.add(sums[j], product);
            }
        }
        let g = &mut equations.model.graph;
        let keep = |(k, e): (usize, Expr)| self.recorder.keep(g, letter, &[&self.coordinates[k]], meaning, e);
        sums.into_iter().enumerate().map(keep).collect()
    }

    /// q̈ = L⁻ᵀD⁻¹(f + Yᵀλ), or M⁻¹ times all forces.
    fn accelerations(&mut self, g: &mut Graph, answer: &MultiplierParts, form: &ClosedForm) -> Vec<Expr> {
        const MEANING: &str = "accelerations, each with the help of those before it";
        let mut sums = answer.force.clone();
        if let InvertedMass::Inverse(_) = &self.mass {
            sums = self.given.clone();
            for force in [&form.constraint_force, &form.nonideal_force, &form.control] {
                sums.iter_mut().zip(force).for_each(|(sum, x)| *sum = g.add(*sum, *x));
            }
            return self.moved(g, &sums, "acc", MEANING);
        }
        for (row, (_, lambda)) in answer.rows.iter().zip(&answer.multipliers) {
            for (sum, y) in sums.iter_mut().zip(row) {
                let product = g.mul(*y, *lambda);
                *sum = g.add(*sum, product);
            }
        }
        self.moved(g, &sums, "acc", MEANING)
    }
}

/// M⁻¹ if M is diagonal, or if its inverse is constant and short.
fn short_inverse(equations: &mut Equations, problem: &ClosedFormProblem, M: &[Vec<Expr>]) -> Option<Vec<SparseRow>> {
    let model = &mut equations.model;
    let g = &mut model.graph;
    let mut moving: Vec<Expr> = model.coordinates.iter().flat_map(|c| [c.q, c.qdot]).collect();
    moving.push(model.time);
    moving.extend(equations.parts.iter().map(|part| part.symbol));
    let mut inverse = vec![SparseRow::new(); M.len()];
    for (members, _) in &crate::formulas::closed_form::Mass::new(g, &problem.masses)?.blocks {
        if let [k] = members[..] {
            inverse[k].push((k, g.div(Expr::ONE, M[k][k])));
            continue;
        }
        let block: Vec<Vec<Expr>> = members.iter().map(|&i| members.iter().map(|&j| M[i][j]).collect()).collect();
        if g.symbols_of(&block.concat()).iter().any(|s| moving.contains(s)) {
            return None;
        }
        let mut algebra = Algebra::new(g, &block.concat(), LIMITS);
        for (j, &column) in members.iter().enumerate() {
            let unit: Vec<Expr> = (0..members.len()).map(|i| if i == j { Expr::ONE } else { Expr::ZERO }).collect();
            let solved = algebra.solve(g, &block, &unit)?;
            for (&i, e) in members.iter().zip(solved).filter(|(_, e)| *e != Expr::ZERO) {
                if g.cost(e) > limits::SHORT_ENTRY {
                    return None;
                }
                inverse[i].push((column, e));
            }
        }
    }
    Some(inverse)
}

/// The multipliers of some rows under a force.
#[derive(Clone)]
struct MultiplierParts {
    force: Vec<Expr>,
    /// Y.
    rows: Vec<Vec<Expr>>,
    gap: Vec<(usize, Expr)>,
    multipliers: Vec<(usize, Expr)>,
}

/// The letters of two factors and their meaning.
struct FactorLetters {
    pivot: &'static str,
    lower: &'static str,
    meaning: &'static str,
}

/// A symmetric matrix as L D Lᵀ.
#[derive(Clone)]
struct LdlFactors {
    /// The order in which the unknowns are eliminated.
    order: Vec<usize>,
    /// D.
    pivots: Vec<Expr>,
    /// The entries of L below the diagonal, by row.
    lower: Vec<SparseRow>,
}

impl LdlFactors {
    /// Factors a symmetric matrix, unknowns with few neighbours first, so that little fills in.
    fn of(
        recorder: &mut PartRecorder,
        g: &mut Graph,
        mut a: Vec<Vec<Expr>>,
        labels: &[PartLabel],
        kind: FactorLetters,
    ) -> Option<LdlFactors> {
        let n = a.len();
        let mut open: Vec<usize> = (0..n).collect();
        let mut factors = LdlFactors { order: Vec::new(), pivots: vec![Expr::ONE; n], lower: vec![Vec::new(); n] };
        while !open.is_empty() {
            let n_neighbours = |k: usize| open.iter().filter(|j| a[k][**j] != Expr::ZERO).count();
            let able = open.iter().copied().filter(|k| a[*k][*k] != Expr::ZERO);
            let k = able.min_by_key(|k| (n_neighbours(*k), g.cost(a[*k][*k])))?;
            open.retain(|j| *j != k);
            let d = recorder.keep(g, kind.pivot, &[&labels[k]], kind.meaning, a[k][k]);
            factors.pivots[k] = d;
            factors.order.push(k);
            for &i in open.iter().filter(|i| a[**i][k] != Expr::ZERO) {
                let ratio = g.div(a[i][k], d);
                let l = recorder.keep(g, kind.lower, &[&labels[i], &labels[k]], kind.meaning, ratio);
                if l != Expr::ZERO {
                    factors.lower[i].push((k, l));
                }
            }
            let column: Vec<(usize, Expr)> = open
                .iter()
                .filter_map(|&i| factors.lower[i].last().filter(|(j, _)| *j == k).map(|(_, l)| (i, *l)))
                .collect();
            for (at, (i, l)) in column.iter().enumerate() {
                for (j, other) in &column[at..] {
                    let product = g.mul(*l, *other);
                    let term = g.mul(product, d);
                    let rest = g.sub(a[*i][*j], term);
                    a[*i][*j] = rest;
                    a[*j][*i] = a[*i][*j];
                }
            }
        }
        Some(factors)
    }

    /// L⁻¹x.
    fn forward(
        &self,
        g: &mut Graph,
        mut x: Vec<Expr>,
        mut keep: impl FnMut(&mut Graph, usize, Expr) -> Expr,
    ) -> Vec<Expr> {
        for &i in self.order.iter().filter(|i| !self.lower[**i].is_empty()) {
            let terms: Vec<Expr> = self.lower[i].iter().map(|(j, l)| g.mul(*l, x[*j])).collect();
            let sum = g.sum(&terms);
            if sum != Expr::ZERO {
                let rest = g.sub(x[i], sum);
                x[i] = keep(g, i, rest);
            }
        }
        x
    }

    /// L⁻ᵀx, each entry kept.
    fn back(
        &self,
        g: &mut Graph,
        mut x: Vec<Expr>,
        mut keep: impl FnMut(&mut Graph, usize, Expr) -> Expr,
    ) -> Vec<Expr> {
        for &i in self.order.iter().rev() {
            let mut rest = x[i];
            for k in 0..x.len() {
                if let Some((_, l)) = self.lower[k].iter().find(|(j, _)| *j == i) {
                    let term = g.mul(*l, x[k]);
                    rest = g.sub(rest, term);
                }
            }
            x[i] = keep(g, i, rest);
        }
        x
    }
}
