//! The explicit equation of motion in closed form: q̈ = a + M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A a) on independent rows.

mod driven;
mod elimination;
mod gaussian;
mod named;
mod on_constraints;
mod plain;
mod recorder;
mod shares;

use std::collections::HashMap;

use zwang_expr::{Expr, Graph, Program};
use zwang_motion::{Matrix, Settings, dependence};

pub use crate::equations::Part;
use crate::model::Control;
use crate::random::scattered;
use crate::{
    equations::{Equations, SparseRow},
    limits,
};
pub(crate) use elimination::{Mass, cramer};
use gaussian::gaussian;
pub(crate) use recorder::{PartLabel, PartRecorder, expanded};
use shares::Shares;

/// The quantities that follow from M, Q, A and b, as formulas.
#[derive(Clone, Debug, Default)]
pub struct ClosedForm {
    /// The named parts in the order in which they are needed; empty if every formula is short enough without.
    pub parts: Vec<Part>,
    /// a = M⁻¹Q of each coordinate; empty if M is singular without the constraints, or a is too long to be read.
    pub free: Vec<Expr>,
    /// e = b − A a of the rows that are used; empty if a is, or if e is too long to be read.
    pub gap: Vec<(usize, Expr)>,
    /// The rows that were used, and λ for each; the other rows are redundant. If a nonideal law contains multipliers of
    /// redundant rows, all rows with the shortest λ, in which each has its share.
    pub multipliers: Vec<(usize, Expr)>,
    /// The number of redundant rows.
    pub n_redundant: usize,
    /// Aᵀλ of each coordinate: the ideal constraint force; empty without constraints, or if it is too long to be read.
    pub constraint_force: Vec<Expr>,
    /// The nonideal part of the constraint force of each coordinate, UK02 (6): M q̈ − Q − Aᵀλ; empty without nonideal
    /// forces.
    pub nonideal_force: Vec<Expr>,
    /// u of each coordinate, KU94 (33); empty without controls.
    pub control: Vec<Expr>,
    /// q̈ of each coordinate.
    pub accelerations: Vec<Expr>,
    /// G = (q̈ − a)ᵀM(q̈ − a), the Gaussian; `None` without constraints or if a is not known.
    pub gaussian: Option<Expr>,
    /// P = B⁺B and N = I − P for small systems; `None` if they are too long.
    pub projections: Option<Projections>,
    /// `true` if M is regular without the constraints, so that a exists.
    pub is_regular: bool,
    /// `true` if M is positive definite at no state that was tried, so that M^½, and with it P and N, do not exist.
    pub is_indefinite: bool,
    /// `true` if the redundant rows are so only for the present parameter values, so that all formulas hold for
    /// these.
    pub needs_values: bool,
}

/// The projections of UK95, n × n.
#[derive(Clone, Debug)]
pub struct Projections {
    /// `true` if they act on the scaled accelerations M^½ q̈; otherwise M^{-½} P M^½ = M⁻¹Aᵀ S⁻¹ A, which acts on q̈
    /// itself.
    pub scaled: bool,
    /// P, onto the accelerations that the constraints determine.
    pub onto_rows: Vec<Vec<Expr>>,
    /// N, onto the accelerations that they leave free.
    pub along_rows: Vec<Vec<Expr>>,
}

impl ClosedForm {
    /// All formulas except those of the parts.
    pub fn formulas(&self) -> Vec<Expr> {
        let rows = self.gap.iter().chain(&self.multipliers).map(|(_, e)| *e);
        let vectors = [&self.free, &self.constraint_force, &self.nonideal_force, &self.control, &self.accelerations];
        let projections = self.projections.iter().flat_map(|p| p.onto_rows.iter().chain(&p.along_rows)).flatten();
        let rest = vectors.into_iter().flatten().chain(&self.gaussian).chain(projections).copied();
        rows.chain(rest).collect()
    }

    /// The form without those of Qc, a, e, G, P and N that have an entry which is too long.
    fn without(mut self, is_long: impl Fn(&Expr) -> bool) -> ClosedForm {
        if self.constraint_force.iter().any(&is_long) {
            self.constraint_force.clear();
        }
        if self.free.iter().any(&is_long) {
            self.free.clear();
        }
        if self.free.is_empty() || self.gap.iter().any(|(_, e)| is_long(e)) {
            self.gap.clear();
        }
        self.gaussian = self.gaussian.filter(|e| !is_long(e));
        self.projections =
            self.projections.filter(|p| !p.onto_rows.iter().chain(&p.along_rows).flatten().any(&is_long));
        self
    }

    /// The quantities of constraints and controls that are absent, each with the reason.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let (rows, is_free) = (!self.multipliers.is_empty(), self.control.is_empty());
        let candidates = [
            ("a", (rows || !is_free) && self.free.is_empty()),
            ("e", rows && self.gap.is_empty()),
            ("Qc", rows && self.constraint_force.is_empty()),
            ("G", rows && self.gaussian.is_none()),
            ("P and N", rows && self.projections.is_none()),
        ];
        let reason = |name: &'static str| match name {
            "Qc" => "too long to be read",
            _ if !self.is_regular => "M is singular without the constraints",
            "P and N" if self.is_indefinite => "M is not positive definite, so M^(1/2) does not exist",
            _ => "too long to be read",
        };
        candidates.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| (name, reason(name))).collect()
    }

    /// Changes all formulas except those of the parts.
    fn for_each(&mut self, mut change: impl FnMut(&mut Expr)) {
        self.gap.iter_mut().chain(&mut self.multipliers).for_each(|(_, e)| change(e));
        let vectors = [&mut self.free, &mut self.constraint_force, &mut self.nonideal_force, &mut self.control];
        vectors.into_iter().chain([&mut self.accelerations]).flatten().for_each(&mut change);
        self.gaussian.iter_mut().for_each(&mut change);
        let rows = self.projections.iter_mut().flat_map(|p| p.onto_rows.iter_mut().chain(&mut p.along_rows));
        rows.flatten().for_each(change);
    }

    /// The number of symbols to read.
    fn cost(&self, graph: &Graph) -> u64 {
        let values = self.parts.iter().map(|part| part.value).chain(self.formulas());
        // a name and an equals sign each
        values.fold(0, |sum, e| sum.saturating_add(graph.cost(e)).saturating_add(2))
    }
}

/// The closed form, or the reason why there is none.
///
/// Nonideal forces enter through Q + C, UK02 (6), with the multipliers of the ideal part.
///
/// Each formula is in the shortest form found, see [`Algebra`](zwang_expr::Algebra). Formulas that would be too long to
/// read are given by named parts with meanings, in the order of the elimination.
pub fn closed_form(equations: &mut Equations) -> Result<ClosedForm, &'static str> {
    let problem = match ClosedFormProblem::of(equations) {
        Ok(problem) => problem,
        Err(why) => return driven::driven(equations).ok_or(why),
    };
    let plain = plain::motion(equations, &problem);
    let cost = |e: &Expr| equations.model.graph.cost(*e);
    let is_short = plain.as_ref().is_some_and(|form| form.formulas().iter().all(|e| cost(e) <= limits::SHORT_FORMULA));
    let named = if is_short { None } else { named::named(equations, &problem) };
    let shorter_by_parts = match (&plain, &named) {
        (Some(plain), Some(named)) => named.cost(&equations.model.graph) <= plain.cost(&equations.model.graph),
        (None, Some(_)) => true,
        _ => false,
    };
    let form = match plain {
        Some(plain) if !shorter_by_parts => {
            let form = plain::completed(equations, &problem, plain);
            let graph = &equations.model.graph;
            form.without(|e| graph.cost(*e) > limits::LONGEST_FORMULA)
        }
        _ => named.ok_or("a pivot of the elimination vanishes everywhere")?,
    };
    let n_redundant = equations.rows.len() - problem.rows.len();
    let needs_values = n_redundant > 0 && repeats_by_values(equations);
    let is_indefinite = problem.is_regular && !is_positive_somewhere(equations);
    let mut form = ClosedForm { n_redundant, needs_values, is_indefinite, ..with_shared(equations, form) };
    form.projections = form.projections.filter(|_| !is_indefinite);
    Ok(form)
}

/// `true` if M is positive definite at a generic state: all pivots of its elimination are positive.
fn is_positive_somewhere(equations: &mut Equations) -> bool {
    let masses = equations.mass_matrix.clone();
    let mut is_positive = false;
    at_generic_states(equations, &masses, |mass| {
        let n = mass.n_rows;
        let mut rest = mass.to_dense();
        is_positive |= (0..n).all(|k| {
            let pivot = rest[k * n + k];
            for i in k + 1..n {
                let factor = rest[i * n + k] / pivot;
                (k..n).for_each(|j| rest[i * n + j] -= factor * rest[k * n + j]);
            }
            pivot > 0.0
        });
        Some(())
    });
    is_positive
}

/// The multipliers that nonideal laws contain, each in terms of those of independent rows; empty if every row acts alone in
/// them. Fails if they have no short form.
pub(crate) fn shared_multipliers(
    equations: &mut Equations,
    rows: &[usize],
) -> Result<HashMap<Expr, Expr>, &'static str> {
    let Some(shares) = Shares::new(equations, rows)? else { return Ok(HashMap::new()) };
    let independent: Vec<(usize, Expr)> = rows.iter().map(|&k| (k, equations.rows[k].lambda)).collect();
    let all = shares.multipliers(equations, &independent);
    Ok(all.into_iter().map(|(k, share)| (equations.rows[k].lambda, share)).collect())
}

/// `true` if rows are redundant for the present parameter values and independent for others.
fn repeats_by_values(equations: &mut Equations) -> bool {
    let rows: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
    let stated = independent_rows(equations, &rows).map(|found| found.len());
    let mut any = equations.clone();
    // between zero and two: values without special ratios
    let values = any.model.parameter_values.iter_mut().enumerate();
    values.for_each(|(k, value)| *value = 1.0 + scattered(k, usize::from(u8::MAX)));
    independent_rows(&mut any, &rows).map(|found| found.len()) > stated
}

/// The form with the parts of the equations that it uses.
fn with_shared(equations: &Equations, mut form: ClosedForm) -> ClosedForm {
    let graph = &equations.model.graph;
    let own = form.parts.iter().map(|part| part.value);
    let mut used = graph.symbols_of(&form.formulas().into_iter().chain(own).collect::<Vec<_>>());
    let mut shared = Vec::new();
    for part in equations.parts.iter().rev().filter(|part| !form.parts.contains(part)) {
        if used.contains(&part.symbol) {
            used.extend(graph.symbols(part.value));
            shared.push(part.clone());
        }
    }
    shared.reverse();
    shared.append(&mut form.parts);
    ClosedForm { parts: by_meaning(graph, shared), ..form }
}

/// The parts with those of one meaning together, as far as each can follow the parts it uses.
fn by_meaning(graph: &Graph, parts: Vec<Part>) -> Vec<Part> {
    let mut sorted: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let used = graph.symbols(part.value);
        let earliest = sorted.iter().rposition(|p| used.contains(&p.symbol)).map_or(0, |at| at + 1);
        let of_its_kind = sorted.iter().rposition(|p| p.meaning == part.meaning).map(|at| at + 1);
        let at = of_its_kind.filter(|at| *at >= earliest).unwrap_or(sorted.len());
        sorted.insert(at, part);
    }
    sorted
}

/// The problem to solve: M, Q and the independent rows.
#[derive(Clone)]
struct ClosedFormProblem {
    masses: Vec<SparseRow>,
    force: Vec<Expr>,
    /// The independent rows among the constraints.
    rows: Vec<usize>,
    /// The independent rows among the constraints followed by the control rows; empty without controls.
    all_rows: Vec<usize>,
    /// `true` if M is regular by itself; otherwise `masses` and `force` are M + aᵀa and Q + aᵀb with some rows a of A.
    is_regular: bool,
    /// The shares of redundant rows, if a nonideal law contains their multipliers.
    shares: Option<Shares>,
}

impl ClosedFormProblem {
    /// The problem, or the reason why there is none: M is singular even with the rows, the system is too large to be
    /// read, or the controls are not plain: only some coordinates are driven, there are weights or limits, or C would
    /// depend on u.
    fn of(equations: &mut Equations) -> Result<ClosedFormProblem, &'static str> {
        const NO_STATE: &str = "no state was found at which M and A have values";
        let n = equations.model.n_coordinates();
        if n > limits::CLOSED_FORM_SIZE || equations.rows.len() > 2 * limits::CLOSED_FORM_SIZE {
            return Err("of so many coordinates or constraints nobody would read it");
        }
        let is_plain = |c: &Control| c.driven(n).len() == n && c.weight.is_empty() && c.limit.is_empty();
        let has_controls = !equations.asked.is_empty();
        if has_controls && !(equations.nonideal_force.is_empty() && equations.model.controls.iter().all(is_plain)) {
            return Err("the controls leave a choice of forces, weigh or limit them, or meet nonideal constraints");
        }
        let stated: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
        let asked = equations.asked.iter().map(|r| r.row.coefficients.clone());
        let all: Vec<SparseRow> = stated.iter().cloned().chain(asked).collect();
        let rows = on_constraints::independent_rows_there(equations, &stated).ok_or(NO_STATE)?;
        let all_rows = if has_controls { independent_rows(equations, &all).ok_or(NO_STATE)? } else { Vec::new() };
        let (masses, force) = (equations.mass_matrix.clone(), equations.given_force.clone());
        let shares = Shares::new(equations, &rows)?;
        let mut problem = ClosedFormProblem { masses, force, rows, all_rows, is_regular: true, shares };
        let mut rank = independent_rows(equations, &problem.masses).ok_or(NO_STATE)?.len();
        problem.is_regular = rank == n;
        // no more rows than M needs
        for k in problem.rows.clone() {
            if rank < n {
                let mut helped = problem.clone();
                helped.borrow_mass_from_row(equations, k);
                let better = independent_rows(equations, &helped.masses).ok_or(NO_STATE)?.len();
                if better > rank {
                    (problem, rank) = (helped, better);
                }
            }
        }
        if rank == n { Ok(problem) } else { Err("M is singular everywhere, also with the constraints") }
    }

    /// The multipliers that laws contain, from those of the independent rows.
    fn acting_multipliers(&self, equations: &mut Equations, independent: &[(usize, Expr)]) -> Vec<(usize, Expr)> {
        match &self.shares {
            Some(shares) => shares.multipliers(equations, independent),
            None => independent.to_vec(),
        }
    }

    /// Replaces M and Q by M + aᵀa and Q + aᵀb for a row a of A. The motion and the multipliers stay the same, and a
    /// singular M becomes regular if the constraints determine the directions without mass.
    fn borrow_mass_from_row(&mut self, equations: &mut Equations, k: usize) {
        let g = &mut equations.model.graph;
        let row = &equations.rows[k];
        for (i, a) in &row.coefficients {
            for (j, b) in &row.coefficients {
                let product = g.mul(*a, *b);
                match self.masses[*i].iter_mut().find(|(at, _)| at == j) {
                    Some((_, entry)) => *entry = g.add(*entry, product),
                    None => self.masses[*i].push((*j, product)),
                }
            }
            let push = g.mul(*a, row.rhs);
            self.force[*i] = g.add(self.force[*i], push);
        }
        self.masses.iter_mut().for_each(|row| row.sort_unstable());
    }
}

/// Coefficients and right side of a row of a constraint, or of a control row numbered after them.
fn row_of(equations: &Equations, k: usize) -> (SparseRow, Expr) {
    let row = match k.checked_sub(equations.rows.len()) {
        None => &equations.rows[k],
        Some(k) => &equations.asked[k].row,
    };
    (row.coefficients.clone(), row.rhs)
}

/// Rows of a symbolic matrix that are independent at a generic state.
pub(crate) fn independent_rows(equations: &mut Equations, rows: &[SparseRow]) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    at_generic_states(equations, rows, |matrix| {
        let found = dependence(matrix, &Settings::default()).ok()?.independent;
        if best.as_ref().is_none_or(|b| found.len() > b.len()) {
            best = Some(found);
        }
        Some(())
    })?;
    best
}

/// Calls `look` with the values of a symbolic matrix at generic states where all are finite; `None` if a symbol has no value, or
/// as soon as `look` returns it.
fn at_generic_states(
    equations: &mut Equations,
    rows: &[SparseRow],
    mut look: impl FnMut(&Matrix) -> Option<()>,
) -> Option<()> {
    let exprs: Vec<Expr> = rows.iter().flat_map(|row| row.iter().map(|(_, e)| *e)).collect();
    let exprs = expanded(&mut equations.model.graph, &equations.parts, &exprs);
    let model = &equations.model;
    let mut symbols = model.graph.symbols_of(&exprs);
    symbols.retain(|s| !model.parameters.iter().any(|p| p.symbol == *s));
    let n_free = symbols.len();
    symbols.extend(model.parameters.iter().map(|p| p.symbol));
    let program = Program::new(&model.graph, &symbols, &exprs).ok()?;
    let pattern: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().map(|(k, _)| *k).collect()).collect();
    let mut matrix = Matrix::from_pattern(rows.len(), model.n_coordinates(), &pattern);
    for attempt in 0..5 {
        let generic = (0..n_free).map(|k| 0.2 + 0.7 * scattered(k, attempt));
        let inputs: Vec<f64> = generic.chain(model.parameter_values.iter().copied()).collect();
        program.run(&inputs, &mut program.workspace(), &mut matrix.value);
        if matrix.value.iter().all(|v| v.is_finite()) {
            look(&matrix)?;
        }
    }
    Some(())
}
