//! Redundant rows: the rows, their formulas, and whether they are redundant everywhere or only here.

mod formula;
pub(crate) mod necessity;

use zwang_expr::Expr;
use zwang_motion::{Dependence, Given, Matrix, Settings, State, dependence};

use crate::analysis::start::{NearbyState, beside, elsewhere};
use crate::compile::evaluator::Evaluator;
use crate::equations::switches::switches_by;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Change;
use crate::{analysis::constraints::rigidity::is_rigid, limits, tolerance};

use formula::FormulaQuery;
pub use necessity::{Necessity, necessity};

/// A row that is a linear combination of others.
#[derive(Clone, Debug)]
pub struct Redundant {
    /// Its name.
    pub row: String,
    /// The rows of the combination, with their factors at this state.
    pub depends_on: Vec<(String, f64)>,
    /// The combination as a formula that holds wherever the constraints do, `2*l*rod[2]`; `None` if none was found.
    pub formula: Option<String>,
    /// `true` if the row is dependent at other states on the constraints too; `None` if that is not known.
    pub everywhere: Option<bool>,
    /// The evidence for `everywhere`.
    pub evidence: Evidence,
    /// The dependence at the other states.
    pub likeness: DependenceAway,
    /// The exact difference from the combination, if it is too small to distinguish from rounding: `1e-12*y`.
    pub rest: Option<String>,
    /// A state on the other rows at which this one is independent of them, if the dependence ends there: `x = 5.16`.
    pub ends_at: Option<String>,
    /// A row of the combination whose share of the common force enters a nonideal law.
    pub asked_share: Option<String>,
}

/// The dependence of a row at other states.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DependenceAway {
    /// The same rows with the same factors.
    Same,
    /// The same rows with other factors.
    Factors,
    /// Other rows, or none.
    Rows,
}

/// The evidence for whether a dependence holds at other states.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// An exact identity between the formulas of the rows.
    Proved,
    /// It held at all of this many random states on the constraints.
    Held(usize),
    /// It failed at some of this many random states.
    Failed(usize),
    /// The constraints allow no other position nearby.
    NoOtherPosition,
    /// No other state was tried, or none was found.
    NotTried,
}

impl Evidence {
    /// `proved`, `held`, `failed`, `no-other-position` or `not-tried`.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::Proved => "proved",
            Evidence::Held(_) => "held",
            Evidence::Failed(_) => "failed",
            Evidence::NoOtherPosition => "no-other-position",
            Evidence::NotTried => "not-tried",
        }
    }

    /// The number of random states that were evaluated.
    pub fn n_states(self) -> usize {
        match self {
            Evidence::Held(n) | Evidence::Failed(n) => n,
            _ => 0,
        }
    }
}

/// The linear dependences of the rows, here and at other states.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// The redundant rows here.
    pub redundant: Vec<Redundant>,
    /// The dependences here.
    pub here: Dependence,
    /// Other states on the constraints; empty if the rows are independent here, because they are then independent
    /// nearby.
    pub elsewhere: NearbyState,
    /// The dependences at those states.
    pub there: Vec<Dependence>,
    /// The rows whose entries here are rounding, although not zero.
    pub faded: Vec<usize>,
    /// The rank in the metric of the masses and that of the coefficients alone, if they differ: then neither is
    /// trusted.
    pub ranks: Option<(usize, usize)>,
    /// The largest remainder of a dependent row, relative to its terms.
    pub dropped: f64,
    /// `true` if it is proved that no motion leaves this position.
    is_rigid: bool,
    /// Rows with another formula elsewhere: they switch, or an event changes a parameter in them.
    changing: Vec<usize>,
    /// The reference size of each row.
    usual: Vec<f64>,
}

impl Dependencies {
    /// The largest part of a row that was dropped as dependent, relative to the row.
    pub fn largest_dropped(&self) -> f64 {
        self.here.gap.dropped.max(self.dropped)
    }

    /// `true` if rows that are taken as dependent are so up to rounding.
    pub fn is_clearly_dependent(&self, settings: &Settings) -> bool {
        self.largest_dropped() <= tolerance::DEPENDENT_PART * settings.rank_tolerance
    }
}

/// The number of random states that are evaluated.
fn n_walks(n: usize) -> usize {
    match n {
        0..=limits::MANY_STATES_COORDINATES => 8,
        n if n <= limits::OTHER_STATES_COORDINATES => 3,
        _ => 0,
    }
}

/// Finds the redundant rows at this state, and whether they are redundant elsewhere.
pub fn redundant(
    equations: &mut Equations,
    system: &mut Evaluator,
    state: &State,
    given: &Given,
    settings: &Settings,
) -> Dependencies {
    let mut found = Dependencies { usual: usual_sizes(system, state, given), ..Dependencies::default() };
    let rows = found.rows(given);
    let Ok(here) = dependence(&rows, settings) else { return Dependencies::default() };
    found.dropped = remainder(&rows, &here);
    let is_faded = |i: &usize| size(&rows, *i) == 0.0 && size(&given.constraint_matrix, *i) > 0.0;
    found.faded = here.vanished.iter().copied().filter(is_faded).collect();
    if let Some(plain) = by_coefficients(&rows, given, settings).filter(|plain| plain.rank != here.rank) {
        found.ranks = Some((here.rank, plain.rank));
        found.here = if plain.rank > here.rank { plain } else { here };
        return found;
    }
    found.here = here;
    if found.here.dependent.is_empty() && found.here.vanished.is_empty() {
        return found;
    }
    found.elsewhere = elsewhere(equations, system, state, settings, n_walks(state.q.len()));
    let states = std::mem::take(&mut found.elsewhere.states);
    for (other, given) in states {
        let rows = found.rows(&given);
        if let Ok(there) = dependence(&rows, settings)
            && found.is_clear(&given, &rows, &there)
        {
            found.there.push(there);
            found.elsewhere.states.push((other, given));
        }
    }
    // one other state may be as special as this one; a larger rank is evidence whatever the number of states
    let fewest = limits::GENERIC_STATES.min(n_walks(state.q.len()));
    if found.there.len() < fewest && found.there.iter().all(|d| d.rank <= found.here.rank) {
        found.there.clear();
        found.elsewhere.states.clear();
    }
    if found.is_only_position_found() {
        found.is_rigid = is_rigid(equations, system, state, given, &found.here);
    }
    found.changing = changing(equations);
    let rows: Vec<(usize, Vec<(usize, f64)>)> = found.here.dependent.clone();
    let mut look = FormulaQuery { equations, system, state, found: &found, settings };
    let numbered = rows.iter().enumerate();
    let redundant = numbered.map(|(at, (row, terms))| look.at(*row, terms, at < limits::DEPENDENCE_FORMULAS)).collect();
    found.redundant = redundant;
    found
}

/// The dependences of the rows without the masses; `None` if all masses are equal.
///
/// Rows that were set to zero as rounding stay zero.
fn by_coefficients(rows: &Matrix, given: &Given, settings: &Settings) -> Option<Dependence> {
    let unit = mass_units(given);
    if unit.iter().all(|u| *u == unit[0]) {
        return None;
    }
    let mut plain = given.constraint_matrix.clone();
    for i in (0..rows.n_rows).filter(|i| size(rows, *i) == 0.0) {
        plain.row_mut(i).1.fill(0.0);
    }
    dependence(&plain, settings).ok()
}

/// The largest remainder of a dependent row after its combination is subtracted, relative to the terms.
fn remainder(rows: &Matrix, d: &Dependence) -> f64 {
    let mut rest = vec![0.0_f64; rows.n_cols];
    let mut largest = 0.0_f64;
    for (row, terms) in &d.dependent {
        let mut whole = 0.0;
        for (k, factor) in terms.iter().map(|(k, c)| (*k, -c)).chain([(*row, 1.0)]) {
            whole += factor.abs() * size(rows, k);
            let (columns, values) = rows.row(k);
            columns.iter().zip(values).for_each(|(&j, x)| rest[j] += factor * x);
        }
        for k in terms.iter().map(|(k, _)| *k).chain([*row]) {
            for &j in rows.row(k).0 {
                let left = std::mem::take(&mut rest[j]).abs();
                largest = if whole > 0.0 { largest.max(left / whole) } else { largest };
            }
        }
    }
    largest
}

/// The unit of each column, 1/√m.
#[allow(non_snake_case)]
fn mass_units(given: &Given) -> Vec<f64> {
    let M = &given.mass_matrix;
    // a power of two leaves every digit unchanged
    let unit = |j: usize| match M.get(j, j) {
        m if m > 0.0 && m.is_normal() => 2.0_f64.powi((-0.5 * m.log2()).round().clamp(-300.0, 300.0) as i32),
        _ => 1.0,
    };
    (0..given.constraint_matrix.n_cols).map(unit).collect()
}

/// A with every column in units of 1/√m, so that a change of units changes no result.
#[allow(non_snake_case)]
fn by_mass(given: &Given) -> Matrix {
    let A = &given.constraint_matrix;
    let unit = mass_units(given);
    let mut scaled = A.clone();
    for i in 0..A.n_rows {
        let (columns, values) = scaled.row_mut(i);
        columns.iter().zip(values).for_each(|(&j, x)| *x *= unit[j]);
    }
    scaled
}

/// The largest entry of a row.
fn size(rows: &Matrix, i: usize) -> f64 {
    rows.row(i).1.iter().fold(0.0, |top: f64, x| top.max(x.abs()))
}

/// The reference size of each row: the smallest at a few states nearby.
fn usual_sizes(system: &mut Evaluator, state: &State, given: &Given) -> Vec<f64> {
    let others: Vec<Matrix> = beside(system, state).iter().map(by_mass).collect();
    let smallest = |i: usize| others.iter().map(|rows| size(rows, i)).fold(f64::INFINITY, f64::min);
    let usual = (0..given.constraint_rhs.len()).map(smallest);
    usual.map(|size| if size.is_finite() { size } else { 0.0 }).collect()
}

impl Dependencies {
    /// `true` if every dependence here is an identity, so that no other states are needed.
    pub(crate) fn is_proved(&self) -> bool {
        self.ranks.is_none()
            && self.here.vanished.is_empty()
            && self.redundant.iter().all(|r| r.evidence == Evidence::Proved)
    }

    /// `true` if more rows are independent at other states.
    pub fn is_singular(&self) -> bool {
        self.rank_elsewhere().is_some_and(|rank| rank > self.here.rank)
    }

    /// `true` if the rank at another state is beyond doubt.
    ///
    /// If constraints are tangent, a point close to them passes for one on them, and rows that coincide at the point of
    /// tangency differ slightly there. Rows that are clearly independent, or dependent to rounding, belong to no such
    /// point.
    fn is_clear(&self, given: &Given, rows: &Matrix, there: &Dependence) -> bool {
        let scaled = by_mass(given);
        let is_fading = |i: usize| {
            let part = size(&scaled, i) / self.usual[i];
            part > tolerance::ROUNDING && part < tolerance::INDEPENDENT_ROW
        };
        there.gap.kept >= tolerance::INDEPENDENT_ROW
            && remainder(rows, there) <= tolerance::ROUNDING
            && !(0..scaled.n_rows).any(is_fading)
    }

    /// A in units of the masses, with rows that are rounding set to zero.
    fn rows(&self, given: &Given) -> Matrix {
        let mut rows = by_mass(given);
        for i in 0..rows.n_rows {
            if size(&rows, i) <= tolerance::ELIMINATED * self.usual[i] {
                rows.row_mut(i).1.fill(0.0);
            }
        }
        rows
    }

    /// The rank here: that of the solve, unless it counts rows that are rounding.
    pub(crate) fn rank(&self, solved: usize) -> usize {
        if self.faded.is_empty() { solved } else { self.here.rank }
    }

    /// `true` if every neighbourhood search returned to this position.
    fn is_only_position_found(&self) -> bool {
        self.elsewhere.n_tried > 0 && self.elsewhere.n_back == self.elsewhere.n_tried
    }

    /// `true` if there is no other position nearby, by the neighbourhood search and by proof.
    pub fn is_only_position(&self) -> bool {
        self.is_only_position_found() && self.is_rigid
    }

    /// The largest rank at other states; `None` if no other state was evaluated.
    pub fn rank_elsewhere(&self) -> Option<usize> {
        self.there.iter().map(|d| d.rank).max()
    }

    /// The dependences of general rank: those at the states with the largest rank, or at this state if no other is
    /// known.
    pub(crate) fn general(&self) -> Vec<&Dependence> {
        match self.rank_elsewhere() {
            Some(rank) => self.there.iter().filter(|d| d.rank == rank).collect(),
            None => vec![&self.here],
        }
    }
}

/// Rows that switch between formulas, or in which an event changes a parameter.
fn changing(equations: &Equations) -> Vec<usize> {
    let model = &equations.model;
    let parameter = |change: Change| match change {
        Change::Parameter(k) => Some(model.parameters[k].symbol),
        Change::Velocity(_) => None,
    };
    let changed: Vec<Expr> = model.whens.iter().filter_map(|w| parameter(w.change)).collect();
    let fixed: Vec<Expr> = model.parameters.iter().map(|p| p.symbol).filter(|s| !changed.contains(s)).collect();
    let changes = |row: &ConstraintRow| {
        switches_by(&model.graph, &[row.residual], |s| !fixed.contains(&s))
            || !changed.is_empty() && model.graph.symbols(row.residual).iter().any(|s| changed.contains(s))
    };
    (0..equations.rows.len()).filter(|k| changes(&equations.rows[*k])).collect()
}
