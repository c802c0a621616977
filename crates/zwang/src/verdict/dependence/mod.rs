//! Rows that repeat others: which, by what formula, and whether everywhere or only here.

mod formula;
mod necessity;
mod notes;

use zwang_expr::Expr;
use zwang_motion::{Dependence, Given, Matrix, Settings, State, dependence};

use super::MOST_COORDINATES;
use super::rigidity::is_rigid;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Change;
use crate::start::{Elsewhere, beside, elsewhere};
use crate::switches::switches_by;
use crate::system::System;

use formula::Look;
pub use necessity::{Necessity, necessity};
pub use notes::{redundancy_notes, vanishing_notes};

/// A row that others give.
#[derive(Clone, Debug)]
pub struct Redundant {
    /// Its name.
    pub row: String,
    /// The rows it is made of, with their factors at this state.
    pub depends_on: Vec<(String, f64)>,
    /// The same as a formula that holds wherever the constraints do, `2*l*rod[2]`; none where none was found.
    pub formula: Option<String>,
    /// Whether it repeats others at other states on the constraints too; none where that was not found out.
    pub everywhere: Option<bool>,
    /// How `everywhere` is known.
    pub evidence: Evidence,
    /// What gives it at the other states.
    pub likeness: Likeness,
    /// What it differs by from the others exactly, where numbers cannot tell that from rounding: `1e-12*y`.
    pub rest: Option<String>,
    /// A row among these whose share of the common force a nonideal law asks for.
    pub asked_share: Option<String>,
}

/// What gives a dependent row at other states.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same rows with the same factors.
    Same,
    /// The same rows with other factors.
    Factors,
    /// Other rows, or none.
    Rows,
}

/// How it is known whether a dependence holds at other states.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// By an identity between the formulas of the rows, exactly.
    Proved,
    /// It held at this many random states on the constraints, all that were tried.
    Held(usize),
    /// It failed at some of this many random states.
    Failed(usize),
    /// The constraints leave no other position near.
    NoOtherPosition,
    /// No other state was looked at, or none was found.
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

    /// The number of random states that were looked at.
    pub fn n_states(self) -> usize {
        match self {
            Evidence::Held(n) | Evidence::Failed(n) => n,
            _ => 0,
        }
    }
}

/// What the rows are to each other, here and at other states.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// The rows that repeat others here.
    pub redundant: Vec<Redundant>,
    /// What the rows are to each other here.
    pub here: Dependence,
    /// Other states on the constraints; none where the rows are independent here, because then they are elsewhere.
    pub elsewhere: Elsewhere,
    /// What the rows are to each other there.
    pub there: Vec<Dependence>,
    /// The rows whose entries are nothing but rounding here, though not zero.
    pub faded: Vec<usize>,
    /// The rank beside the masses and that of the coefficients alone, where they differ: then neither is believed.
    pub ranks: Option<(usize, usize)>,
    /// What is left of dependent rows, at most, beside what they are made of.
    pub dropped: f64,
    /// Whether there is no way from this position, proved.
    is_rigid: bool,
    /// Rows that are other formulas elsewhere: they switch, or an event changes a parameter in them.
    changing: Vec<usize>,
    /// The usual size of each row.
    usual: Vec<f64>,
}

/// Coordinates up to which eight random states are looked at, beyond them three.
const FEW_COORDINATES: usize = 60;

/// With fewer states than that nothing is said to hold elsewhere.
const FEWEST_STATES: usize = 3;

/// How many random states are looked at.
fn n_walks(n: usize) -> usize {
    match n {
        0..=FEW_COORDINATES => 8,
        n if n <= MOST_COORDINATES => 3,
        _ => 0,
    }
}

/// Finds the rows that repeat others at this state, and whether they do so elsewhere.
pub fn redundant(
    equations: &mut Equations,
    system: &mut System,
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
    // one state more may be as special as this one; a larger rank is evidence whatever the number
    let fewest = FEWEST_STATES.min(n_walks(state.q.len()));
    if found.there.len() < fewest && found.there.iter().all(|d| d.rank <= found.here.rank) {
        found.there.clear();
        found.elsewhere.states.clear();
    }
    if found.is_only_position_found() {
        found.is_rigid = is_rigid(equations, system, state, given, &found.here);
    }
    found.changing = changing(equations);
    let rows: Vec<(usize, Vec<(usize, f64)>)> = found.here.dependent.clone();
    let mut look = Look { equations, system, state, found: &found, settings };
    let numbered = rows.iter().enumerate();
    let redundant = numbered.map(|(at, (row, terms))| look.at(*row, terms, at < MOST_FORMULAS)).collect();
    found.redundant = redundant;
    found
}

/// For how many dependent rows a formula is looked for: no reader wants more, and each takes about a millisecond. Of the
/// others only single multiples are proved, by one division.
const MOST_FORMULAS: usize = 200;

/// What the rows are to each other without the masses; none where these change nothing.
///
/// Rows put to zero as rounding stay so.
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

/// What the combinations of dependent rows leave of them, at most, beside the terms they are made of.
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
    // a power of two changes no digit
    let unit = |j: usize| match M.get(j, j) {
        m if m > 0.0 && m.is_normal() => 2.0_f64.powi((-0.5 * m.log2()).round().clamp(-300.0, 300.0) as i32),
        _ => 1.0,
    };
    (0..given.constraint_matrix.n_cols).map(unit).collect()
}

/// A with every column in units of 1/√m, so that a change of units changes no verdict.
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

/// A row this much smaller than usual is nothing but rounding: cos(π/2), or what is left of a square on its constraint.
const FADED: f64 = 1e-9;

/// The largest entry of a row.
fn size(rows: &Matrix, i: usize) -> f64 {
    rows.row(i).1.iter().fold(0.0, |top: f64, x| top.max(x.abs()))
}

/// The size of each row a little away from a state, the smallest of a few.
fn usual_sizes(system: &mut System, state: &State, given: &Given) -> Vec<f64> {
    let others: Vec<Matrix> = beside(system, state).iter().map(by_mass).collect();
    let smallest = |i: usize| others.iter().map(|rows| size(rows, i)).fold(f64::INFINITY, f64::min);
    let usual = (0..given.constraint_rhs.len()).map(smallest);
    usual.map(|size| if size.is_finite() { size } else { 0.0 }).collect()
}

impl Dependencies {
    /// Whether every dependence here is an identity, so that other states need not be asked.
    pub(crate) fn is_proved(&self) -> bool {
        self.ranks.is_none()
            && self.here.vanished.is_empty()
            && self.redundant.iter().all(|r| r.evidence == Evidence::Proved)
    }

    /// Whether more rows are independent at other states.
    pub fn is_singular(&self) -> bool {
        self.rank_elsewhere().is_some_and(|rank| rank > self.here.rank)
    }

    /// Whether the rank of another state is beyond doubt.
    ///
    /// Where constraints touch, a point close to them passes for one on them, and rows that are the same where they
    /// touch differ a little there. Rows that are clearly independent, or dependent to rounding, belong to no such point.
    fn is_clear(&self, given: &Given, rows: &Matrix, there: &Dependence) -> bool {
        /// What must remain of rows that count: far above the root of rounding, which a double root leaves.
        const CLEAR: f64 = 1e-4;
        /// What rounding may leave of rows that do not, with some digits lost on the way.
        const ROUNDING: f64 = 1e-12;
        let scaled = by_mass(given);
        let is_fading = |i: usize| {
            let part = size(&scaled, i) / self.usual[i];
            part > ROUNDING && part < CLEAR
        };
        there.gap.kept >= CLEAR && remainder(rows, there) <= ROUNDING && !(0..scaled.n_rows).any(is_fading)
    }

    /// A in units of the masses, with rows that are nothing but rounding put to zero.
    fn rows(&self, given: &Given) -> Matrix {
        let mut rows = by_mass(given);
        for i in 0..rows.n_rows {
            if size(&rows, i) <= FADED * self.usual[i] {
                rows.row_mut(i).1.fill(0.0);
            }
        }
        rows
    }

    /// The rank here: that of the solve, unless rows that are nothing but rounding were counted in it.
    pub(crate) fn rank(&self, solved: usize) -> usize {
        if self.faded.is_empty() { solved } else { self.here.rank }
    }

    /// Whether every walk led back.
    fn is_only_position_found(&self) -> bool {
        self.elsewhere.n_tried > 0 && self.elsewhere.n_back == self.elsewhere.n_tried
    }

    /// Whether there is no other position near, found by walks and proved.
    pub fn is_only_position(&self) -> bool {
        self.is_only_position_found() && self.is_rigid
    }

    /// The largest rank at other states; none where none was looked at.
    pub fn rank_elsewhere(&self) -> Option<usize> {
        self.there.iter().map(|d| d.rank).max()
    }

    /// The states that count in general: where the rank is largest; this one alone where no other is known.
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
