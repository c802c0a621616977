//! Rows that repeat others: which, by what formula, and whether everywhere or only here.

use zwang_expr::{Expr, Node};
use zwang_motion::{Dependence, Given, Matrix, Settings, State, dependence};

use super::polynomial::Atoms;
use super::rigidity::is_rigid;
use crate::diagnostic::{Diagnostic, Severity};
use crate::equations::{ConstraintRow, Equations};
use crate::model::{Change, Level, Model};
use crate::quantity::rounded;
use crate::start::{Elsewhere, beside, elsewhere, joined};
use crate::switches::switches_by;
use crate::system::System;

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

/// Coordinates up to which eight random states are looked at, and beyond which none is, to keep `check` a blink.
const FEW_COORDINATES: usize = 60;
const MOST_COORDINATES: usize = 400;

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

/// A look at one dependent row.
struct Look<'a> {
    equations: &'a mut Equations,
    system: &'a System,
    state: &'a State,
    found: &'a Dependencies,
    settings: &'a Settings,
}

/// Formulas for the factors, and whether the identity behind them is proved.
struct Formula {
    factors: Vec<Expr>,
    proved: bool,
}

impl Look<'_> {
    fn at(&mut self, row: usize, terms: &[(usize, f64)], wants_formula: bool) -> Redundant {
        let elsewhere = self.factors_elsewhere(row, terms);
        let formula = match wants_formula {
            true => self.formula(row, terms, elsewhere.as_deref()),
            false => None,
        };
        let is_proved = match &formula {
            Some(formula) => formula.proved,
            None => !wants_formula && self.is_multiple(row, terms),
        };
        let n = self.found.there.len();
        let changes = |k: &usize| self.found.changing.binary_search(k).is_ok();
        let may_change = changes(&row) || terms.iter().any(|(k, _)| changes(k));
        let evidence = match n {
            _ if is_proved => Evidence::Proved,
            1.. if may_change && self.is_given_elsewhere(row) => Evidence::NotTried,
            1.. if self.is_given_elsewhere(row) => Evidence::Held(n),
            1.. => Evidence::Failed(n),
            0 if self.found.is_only_position() => Evidence::NoOtherPosition,
            0 => Evidence::NotTried,
        };
        let everywhere = match evidence {
            Evidence::Proved | Evidence::Held(_) => Some(true),
            Evidence::Failed(_) => Some(false),
            Evidence::NoOtherPosition | Evidence::NotTried => None,
        };
        let near = |numbers: &Vec<f64>| numbers.iter().zip(terms).all(|(x, (_, c))| (x - c).abs() <= AGREES * c.abs());
        let likeness = match &elsewhere {
            Some(numbers) if numbers.iter().all(near) => Likeness::Same,
            Some(_) => Likeness::Factors,
            None => Likeness::Rows,
        };
        let names = &self.equations.rows;
        let depends_on = terms.iter().map(|(k, c)| (names[*k].name.clone(), *c)).collect();
        let row_name = names[row].name.clone();
        let formula = formula.filter(|_| everywhere == Some(true)).and_then(|f| self.text(terms, &f.factors));
        Redundant { row: row_name, depends_on, formula, everywhere, evidence, likeness }
    }

    /// Whether other rows give this one at every other state.
    ///
    /// Where the rank is the same there, it is enough that the row takes part in a dependence: which of its rows comes
    /// out as the dependent one is a matter of their order.
    fn is_given_elsewhere(&self, row: usize) -> bool {
        let is_dependent = |d: &Dependence| d.vanished.contains(&row) || d.dependent.iter().any(|(r, _)| *r == row);
        let takes_part = |d: &Dependence| d.dependent.iter().any(|(_, terms)| terms.iter().any(|(k, _)| *k == row));
        let is_singular = self.found.is_singular();
        self.found.there.iter().all(|d| is_dependent(d) || (!is_singular && takes_part(d)))
    }

    /// Whether a row is a multiple of another one, by division.
    fn is_multiple(&mut self, row: usize, terms: &[(usize, f64)]) -> bool {
        let [(k, _)] = terms else { return false };
        let (whole, part) = (&self.equations.rows[row], &self.equations.rows[*k]);
        let pair = match whole.level == part.level {
            true => Some((whole.residual, part.residual)),
            false => whole.rate.zip(part.rate),
        };
        pair.is_some_and(|(whole, part)| !self.quotients(whole, part).is_empty())
    }

    /// The factors of the same rows at each of the other states; none where these rows do not give it there.
    fn factors_elsewhere(&self, row: usize, terms: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let each = self.found.elsewhere.states.iter();
        each.map(|(_, given)| factors(&self.found.rows(given), row, terms, self.settings)).collect()
    }

    /// Formulas for the factors that agree with the numbers at every state that was looked at.
    fn formula(&mut self, row: usize, terms: &[(usize, f64)], elsewhere: Option<&[Vec<f64>]>) -> Option<Formula> {
        let here: Vec<f64> = terms.iter().map(|(_, c)| *c).collect();
        let elsewhere = elsewhere?;
        let level = |k: usize| self.equations.rows[k].level;
        // rows of one level are compared as written, others as rates
        let as_written = terms.iter().all(|(k, _)| level(*k) == level(row));
        let of = |k: usize| {
            let row = &self.equations.rows[k];
            if as_written { Some(row.residual) } else { row.rate }
        };
        let whole = of(row)?;
        let parts: Vec<Expr> = terms.iter().map(|(k, _)| of(*k)).collect::<Option<_>>()?;
        let mut candidates = Vec::new();
        match parts[..] {
            [part] => candidates.extend(self.quotients(whole, part)),
            _ => candidates.extend(self.cofactors(whole, &parts)),
        }
        candidates.extend(self.constants(&here, elsewhere, whole, &parts));
        candidates.extend(self.by_columns(row, terms, whole, &parts));
        // a proof first, then the shortest
        let graph = &self.equations.model.graph;
        candidates.sort_by_key(|c| (!c.proved, c.factors.iter().map(|e| graph.size(*e)).sum::<usize>()));
        candidates.into_iter().find(|c| self.agrees(c, &here, elsewhere))
    }

    /// whole = factor · part by division of one by the other, which is a proof.
    fn quotients(&mut self, whole: Expr, part: Expr) -> Vec<Formula> {
        let graph = &mut self.equations.model.graph;
        let mut atoms = Atoms::default();
        let Some(p) = atoms.expand(graph, whole) else { return Vec::new() };
        let Some(d) = atoms.expand(graph, part) else { return Vec::new() };
        let (quotient, is_divisor) = match atoms.divide(graph, &p, &d) {
            Some(quotient) => (quotient, false),
            None => match atoms.divide(graph, &d, &p) {
                Some(quotient) => (quotient, true),
                None => return Vec::new(),
            },
        };
        // the rows agree where the constraint holds, and there the factor may be simpler
        let mut forms = atoms.on_zero_of(&quotient, &d);
        forms.push(quotient);
        let mut found = Vec::new();
        for form in forms {
            let factor = atoms.expr(graph, &form);
            let factor = if is_divisor { graph.div(Expr::ONE, factor) } else { factor };
            found.push(Formula { factors: vec![factor], proved: true });
        }
        found
    }

    /// whole = Σ factor · part by division, with the parts in their order and in the opposite one.
    fn cofactors(&mut self, whole: Expr, parts: &[Expr]) -> Vec<Formula> {
        let graph = &mut self.equations.model.graph;
        let mut atoms = Atoms::default();
        let Some(p) = atoms.expand(graph, whole) else { return Vec::new() };
        let Some(mut parts) = parts.iter().map(|e| atoms.expand(graph, *e)).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        let forward = atoms.divide_by_all(graph, &p, &parts);
        parts.reverse();
        let mut backward = atoms.divide_by_all(graph, &p, &parts);
        backward.iter_mut().for_each(|quotients| quotients.reverse());
        let mut found = Vec::new();
        for quotients in [forward, backward].into_iter().flatten() {
            let factors = quotients.iter().map(|q| atoms.expr(graph, q)).collect();
            found.push(Formula { factors, proved: true });
        }
        found
    }

    /// Factors that are the same simple fractions at every state.
    fn constants(&mut self, here: &[f64], elsewhere: &[Vec<f64>], whole: Expr, parts: &[Expr]) -> Option<Formula> {
        let same = |k: usize| elsewhere.iter().all(|there| (there[k] - here[k]).abs() <= AGREES * here[k].abs());
        let fractions: Vec<(i64, i64)> =
            (0..here.len()).map(|k| fraction(here[k]).filter(|_| same(k))).collect::<Option<_>>()?;
        let graph = &mut self.equations.model.graph;
        let factors: Vec<Expr> = fractions.iter().map(|(p, q)| graph.rational(*p, *q)).collect();
        let proved = self.is_identity(whole, parts, &factors);
        // numbers at one state alone are no constants
        (proved || !elsewhere.is_empty()).then_some(Formula { factors, proved })
    }

    /// Factors by quotients of entries: a column that only one of the rows shares with the dependent one gives its factor.
    fn by_columns(&mut self, row: usize, terms: &[(usize, f64)], whole: Expr, parts: &[Expr]) -> Vec<Formula> {
        let entry = |equations: &Equations, k: usize, j: usize| {
            let coefficients = &equations.rows[k].coefficients;
            coefficients.iter().find(|(c, _)| *c == j).map(|(_, e)| *e)
        };
        let mut choices: Vec<Vec<Expr>> = Vec::new();
        for (k, _) in terms {
            let mut quotients = Vec::new();
            for (j, own) in self.equations.rows[*k].coefficients.clone().into_iter().take(MOST_COLUMNS) {
                let alone = terms.iter().all(|(other, _)| other == k || entry(self.equations, *other, j).is_none());
                let Some(of_row) = entry(self.equations, row, j).filter(|_| alone) else { continue };
                quotients.push(self.equations.model.graph.div(of_row, own));
            }
            let graph = &self.equations.model.graph;
            quotients.sort_by_key(|e| graph.size(*e));
            choices.push(quotients);
        }
        // the n-th shortest of each
        let n = choices.iter().map(Vec::len).min().unwrap_or(0);
        let mut found = Vec::new();
        for pick in 0..n {
            let factors: Vec<Expr> = choices.iter().map(|c| c[pick]).collect();
            let proved = self.is_identity(whole, parts, &factors);
            found.push(Formula { factors, proved });
        }
        found
    }

    /// Whether whole = Σ factor · part by multiplying out.
    fn is_identity(&mut self, whole: Expr, parts: &[Expr], factors: &[Expr]) -> bool {
        let graph = &mut self.equations.model.graph;
        let products: Vec<Expr> = parts.iter().zip(factors).map(|(part, factor)| graph.mul(*part, *factor)).collect();
        let sum = graph.sum(&products);
        let mut atoms = Atoms::default();
        let (Some(whole), Some(sum)) = (atoms.expand(graph, whole), atoms.expand(graph, sum)) else { return false };
        whole.minus(&sum).is_some_and(|rest| atoms.is_zero(graph, &rest))
    }

    /// Whether formulas give the numbers found at every state; where there are none, only a proof will do.
    fn agrees(&self, formula: &Formula, here: &[f64], elsewhere: &[Vec<f64>]) -> bool {
        let close = |state: &State, numbers: &[f64]| {
            let values = self.system.evaluate(&self.equations.model, state, &formula.factors);
            values.is_some_and(|values| {
                values.iter().zip(numbers).all(|(v, c)| (v - c).abs() <= AGREES * c.abs().max(v.abs()))
            })
        };
        let states = self.found.elsewhere.states.iter().map(|(state, _)| state);
        close(self.state, here)
            && states.zip(elsewhere).all(|(state, numbers)| close(state, numbers))
            && (formula.proved || !elsewhere.is_empty())
    }

    /// `2*l*rod[2]`, if it is short.
    fn text(&mut self, terms: &[(usize, f64)], factors: &[Expr]) -> Option<String> {
        let graph = &mut self.equations.model.graph;
        let mut text = String::new();
        for ((k, _), factor) in terms.iter().zip(factors) {
            let name = &self.equations.rows[*k].name;
            let term = match graph.node(*factor) {
                // a sum stands before the name, in brackets
                Node::Add(..) => format!("({})*{name}", graph.text_limited(*factor, LONGEST_FORMULA)?),
                Node::Apply(..) | Node::Symbol(_) => {
                    format!("{}*{name}", graph.text_limited(*factor, LONGEST_FORMULA)?)
                }
                _ => {
                    let symbol = graph.symbol(name, name);
                    let product = graph.mul(*factor, symbol);
                    graph.text_limited(product, LONGEST_FORMULA)?
                }
            };
            match term.strip_prefix('-') {
                _ if text.is_empty() => text = term,
                Some(term) => text.push_str(&format!(" - {term}")),
                None => text.push_str(&format!(" + {term}")),
            }
        }
        (text.chars().count() <= LONGEST_FORMULA).then_some(text)
    }
}

/// Factors at two states, or of a formula and a solve, agree up to this: the rank tolerance lets so much through.
const AGREES: f64 = 1e-8;
/// Columns whose quotients are tried.
const MOST_COLUMNS: usize = 12;
/// Characters of a formula that still explains more than numbers do.
const LONGEST_FORMULA: usize = 90;

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

/// The factors with which some rows give another one; none where they do not.
#[allow(non_snake_case)]
fn factors(A: &Matrix, row: usize, terms: &[(usize, f64)], settings: &Settings) -> Option<Vec<f64>> {
    let rows: Vec<usize> = terms.iter().map(|(k, _)| *k).chain([row]).collect();
    let found = dependence(&A.rows(&rows), settings).ok()?;
    let (_, combination) = found.dependent.iter().find(|(i, _)| *i == terms.len())?;
    let mut factors = vec![0.0; terms.len()];
    combination.iter().for_each(|(k, c)| factors[*k] = *c);
    Some(factors)
}

/// A number as a fraction with a small denominator, but for a power of ten: rows may be written in any unit.
fn fraction(x: f64) -> Option<(i64, i64)> {
    /// A larger power leaves no room for the fraction.
    const MOST_DIGITS: f64 = 14.0;
    if let Some(found) = plain_fraction(x) {
        return Some(found);
    }
    let digits = x.abs().log10().floor();
    if !digits.is_finite() || digits.abs() > MOST_DIGITS {
        return None;
    }
    let ten = 10_i64.checked_pow(digits.abs() as u32)?;
    if digits < 0.0 {
        let (p, q) = plain_fraction(x * ten as f64)?;
        return Some((p, q.checked_mul(ten)?));
    }
    let (p, q) = plain_fraction(x / ten as f64)?;
    Some((p.checked_mul(ten)?, q))
}

/// A number as a fraction with a small denominator, by continued fractions.
fn plain_fraction(x: f64) -> Option<(i64, i64)> {
    /// Larger ones would fit any number to the digits at hand.
    const LARGEST: i64 = 1000;
    let (mut before, mut now) = ((0i64, 1i64), (1i64, 0i64));
    let mut rest = x;
    for _ in 0..20 {
        let whole = rest.floor();
        if !whole.is_finite() || whole.abs() > 1e9 {
            return None;
        }
        let next = ((whole as i64).checked_mul(now.0)?.checked_add(before.0)?, (whole as i64) * now.1 + before.1);
        (before, now) = (now, next);
        if now.1 > LARGEST {
            return None;
        }
        if (now.0 as f64 / now.1 as f64 - x).abs() <= 1e-12 * x.abs() {
            return Some(now);
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

/// Names shown before the rest is only counted.
const MOST_NAMES: usize = 6;

fn random_states(n: usize) -> String {
    if n == 1 { "1 random state".into() } else { format!("{n} random states") }
}

/// What repeats what, in one sentence without its end: "`again` repeats `rod[2]`: again = 2*rod[2], proved".
fn sentence(r: &Redundant) -> String {
    let names: Vec<String> = match r.depends_on.len() {
        0..=MOST_NAMES => r.depends_on.iter().map(|(n, _)| format!("`{n}`")).collect(),
        n => vec![format!("{n} others")],
    };
    let verb = if r.depends_on.len() == 1 { "repeats" } else { "follows from" };
    let numbers = || {
        let term = |(n, c): &(String, f64)| match *c {
            1.0 => n.clone(),
            -1.0 => format!("-{n}"),
            c => format!("{}*{n}", rounded(c, 4)),
        };
        let terms: Vec<String> = r.depends_on.iter().take(MOST_NAMES).map(term).collect();
        let more = if r.depends_on.len() > MOST_NAMES { " + …" } else { "" };
        format!("`{} = {}{more}`", r.row, terms.join(" + ").replace("+ -", "- "))
    };
    let formula = r.formula.as_ref().map_or_else(numbers, |f| format!("`{} = {f}`", r.row));
    let place = match r.evidence {
        Evidence::Proved if r.formula.is_some() => ", proved",
        Evidence::Proved => ", proved (the factor at this state)",
        Evidence::Held(n) => match r.formula {
            Some(_) => &format!(", held at {}", random_states(n)),
            None => match r.likeness {
                Likeness::Same => &format!(", held at {}", random_states(n)),
                Likeness::Factors => &format!(" at this state, with other factors at {}", random_states(n)),
                Likeness::Rows => &format!(" at this state, with other rows at {}", random_states(n)),
            },
        },
        Evidence::Failed(_) => " at this state, though not at others",
        Evidence::NoOtherPosition => " here, and there is no other position near",
        Evidence::NotTried => " at this state; whether at others was not found out",
    };
    format!("`{}` {verb} {}: {formula}{place}", r.row, joined(&names))
}

/// Z310: a calm note on what repeats what.
pub fn redundancy_notes(equations: &Equations, found: &Dependencies, rank: usize) -> Vec<Diagnostic> {
    let (n, m) = (equations.model.n_coordinates(), equations.rows.len());
    let note = |r: &Redundant| {
        let message = format!("{}; {m} equations, {rank} independent", sentence(r));
        let row = equations.rows.iter().find(|e| e.name == r.row);
        // where rows meet only here, the count of freedoms holds only here
        let shaky = r.evidence == Evidence::NoOtherPosition && rank < n;
        let is_needed_elsewhere = matches!(r.evidence, Evidence::Failed(_));
        let singular = shaky || (is_needed_elsewhere && found.is_singular());
        let d = if singular { Diagnostic::warning("Z310", message) } else { Diagnostic::note("Z310", message) };
        let label = match is_needed_elsewhere {
            _ if singular => "a singular position",
            true => "not needed at this state",
            false if r.everywhere.is_none() && !is_fixed(equations, rank) => "given by others at this state",
            false => "not needed for the motion",
        };
        let d = match row {
            Some(row) => d.at(equations.model.constraints[row.constraint].span, label),
            None => d,
        };
        if singular {
            if shaky {
                return d.with_note(
                    "the rows touch here: each is needed, and rank and multipliers are those of this position",
                );
            }
            let nearby = n - found.rank_elsewhere().unwrap_or(rank).min(n);
            let here = n - rank;
            let freedoms = if here == 1 { "degree" } else { "degrees" };
            let counts = format!(
                "{here} {freedoms} of freedom here, {nearby} nearby: rank and multipliers are those of this position"
            );
            return d.with_note(counts).help("start from another position if this one was not meant");
        }
        if is_needed_elsewhere {
            return d
                .with_note("as many rows are independent here as nearby, though not the same: no singular position");
        }
        let shared = match r.depends_on.len() {
            0..=MOST_NAMES => {
                let names = r.depends_on.iter().map(|(name, _)| name).chain([&r.row]);
                joined(&names.map(|name| format!("`{name}`")).collect::<Vec<_>>())
            }
            n => format!("these {} rows", n + 1),
        };
        if let Some(name) = law_on_a_share(equations, r) {
            let mut d = d
                .with_note(format!("a nonideal law uses the reaction of `{name}`, which is only a share of the whole"));
            d.severity = Severity::Warning;
            d.label = "changes the share that the law sees".into();
            return d.help("drop the repeated constraint, so that the law sees the whole reaction");
        }
        d.with_note("the motion and the total constraint force are unique")
            .with_note(format!("the split between {shared} is not: the multipliers shown are the smallest possible"))
    };
    const MOST: usize = 8;
    found.redundant.iter().take(MOST).map(note).collect()
}

/// Z312: rows that vanish at this state.
pub fn vanishing_notes(equations: &Equations, found: &Dependencies) -> Vec<Diagnostic> {
    let warning = |&k: &usize| {
        let row = &equations.rows[k];
        let what = match row.level {
            Level::Position => "positions",
            Level::Velocity => "velocities",
            Level::Acceleration => "values",
        };
        let d = Diagnostic::warning(
            "Z312",
            format!("constraint `{}` says nothing at this state: its row of A vanishes", row.name),
        )
        .at(equations.model.constraints[row.constraint].span, "all its coefficients are zero here");
        let n = found.there.len();
        if n > 0 && found.there.iter().all(|d| d.vanished.contains(&k)) {
            return d
                .with_note(format!(
                    "it vanishes at {} on the constraints too: what it asks for cannot be judged from its row",
                    random_states(n)
                ))
                .help("write the constraint without a square: `u = 0` instead of `u^2 = 0`");
        }
        d.help(format!("start from other {what}, or write the constraint so that it does not vanish"))
    };
    found.here.vanished.iter().take(8).map(warning).collect()
}

/// The constraint row among those that repeat each other whose multiplier a nonideal law contains.
fn law_on_a_share<'e>(equations: &'e Equations, redundant: &Redundant) -> Option<&'e str> {
    if equations.nonideal_force.is_empty() {
        return None;
    }
    let used = equations.model.graph.symbols_of(&equations.nonideal_force);
    let shares = |name: &str| name == redundant.row || redundant.depends_on.iter().any(|(n, _)| n == name);
    let row = equations.rows.iter().find(|row| shares(&row.name) && used.contains(&row.lambda))?;
    Some(&row.name)
}

/// Which constraints the motion needs, and which could be left out.
#[derive(Clone, Debug, Default)]
pub struct Necessity {
    /// For each constraint whether the motion changes without it; none where other states were not found.
    pub essential: Vec<Option<bool>>,
    /// A set of constraints that could be left out together, later ones first.
    pub removable: Vec<usize>,
}

/// Which constraints could be left out, each alone and together, here and wherever the rank is what it is in general.
///
/// Rows R can go if the rank stays, which is so if the multipliers that make no force, Aᵀy = 0, take every value on R.
/// Of a constraint that vanishes here nothing is said: what it asks for nearby its row does not tell.
pub fn necessity(equations: &Equations, found: &Dependencies, settings: &Settings) -> Necessity {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); equations.model.constraints.len()];
    equations.rows.iter().enumerate().for_each(|(k, row)| rows_of[row.constraint].push(k));
    let mut states = found.general();
    if !found.there.is_empty() {
        states.push(&found.here);
    }
    let (m, rank) = (equations.rows.len(), found.here.rank);
    // a position that cannot be left decides alone
    let is_decided = !found.there.is_empty() || rank == m || is_fixed(equations, rank) || found.is_proved();
    let known = found.ranks.is_none() && is_decided;
    let loose: Vec<Loose> = states.iter().map(|d| loose_parts(d, &found.usual, m)).collect();
    let withheld = withheld(equations, found);
    let is_open = |rows: &[usize]| rows.iter().any(|k| found.here.vanished.contains(k) || withheld[*k]);
    let can_all_go = |rows: &[usize]| loose.iter().all(|loose| can_go(loose, rows, settings));
    let judge = |rows: &Vec<usize>| (known && !is_open(rows)).then(|| !can_all_go(rows));
    let essential: Vec<Option<bool>> = rows_of.iter().map(judge).collect();
    let alone: Vec<usize> =
        (0..rows_of.len()).filter(|c| essential[*c] == Some(false) && !rows_of[*c].is_empty()).collect();
    let given_by_others = |d: &Dependence, k: &usize| {
        d.vanished.contains(k) || d.dependent.binary_search_by_key(k, |(row, _)| *row).is_ok()
    };
    let goes = |c: &usize| states.iter().all(|d| rows_of[*c].iter().all(|k| given_by_others(d, k)));
    let mut removable: Vec<usize> = alone.iter().copied().filter(goes).collect();
    // which row comes out as dependent may differ from state to state: then one after the other is tried as well
    if alone.len() <= MOST_TOGETHER {
        let mut gone: Vec<usize> = removable.iter().flat_map(|c| rows_of[*c].clone()).collect();
        for &c in alone.iter().rev() {
            if removable.contains(&c) {
                continue;
            }
            let together: Vec<usize> = gone.iter().chain(&rows_of[c]).copied().collect();
            if can_all_go(&together) {
                gone = together;
                removable.push(c);
            }
        }
        removable.sort_unstable();
    }
    Necessity { essential, removable }
}

/// Whether the constraints leave nothing but this position, at all times.
fn is_fixed(equations: &Equations, rank: usize) -> bool {
    let Model { graph, time, .. } = &equations.model;
    let is_still = |row: &ConstraintRow| row.level == Level::Position && !graph.symbols(row.residual).contains(time);
    rank == equations.model.n_coordinates() && equations.rows.iter().all(is_still)
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

/// Rows of which nothing is said: they share a load that a law asks for, or they may change.
fn withheld(equations: &Equations, found: &Dependencies) -> Vec<bool> {
    let graph = &equations.model.graph;
    let asked = graph.symbols_of(&equations.nonideal_force);
    let is_asked = |k: usize| {
        let row = &equations.rows[k];
        asked.contains(&row.lambda) || equations.model.constraints[row.constraint].friction.is_some()
    };
    let mut withheld = vec![false; equations.rows.len()];
    for (row, terms) in &found.here.dependent {
        let family: Vec<usize> = terms.iter().map(|(k, _)| *k).chain([*row]).collect();
        let may_change = !found.is_proved() && family.iter().any(|k| found.changing.binary_search(k).is_ok());
        if may_change || family.iter().any(|k| is_asked(*k)) {
            family.iter().for_each(|k| withheld[*k] = true);
        }
    }
    withheld
}

/// Constraints tried one after the other: each trial costs what all before it cost together.
const MOST_TOGETHER: usize = 50;

/// For each row the vectors y with Aᵀy = 0 it takes part in, by number, with its entry.
type Loose = Vec<Vec<(usize, f64)>>;

/// The rows count in units of their usual sizes, and what each y is made of beside its largest part.
fn loose_parts(d: &Dependence, usual: &[f64], m: usize) -> Loose {
    let size = |k: usize| usual.get(k).copied().filter(|s| *s > 0.0).unwrap_or(1.0);
    let mut parts = vec![Vec::new(); m];
    for (at, (row, terms)) in d.dependent.iter().enumerate() {
        let y: Vec<(usize, f64)> =
            [(*row, size(*row))].into_iter().chain(terms.iter().map(|(k, c)| (*k, -c * size(*k)))).collect();
        let largest = y.iter().fold(0.0_f64, |top, (_, y)| top.max(y.abs()));
        y.into_iter().for_each(|(k, y)| parts[k].push((at, y / largest)));
    }
    for (at, row) in d.vanished.iter().enumerate() {
        parts[*row].push((d.dependent.len() + at, 1.0));
    }
    parts
}

fn can_go(loose: &[Vec<(usize, f64)>], rows: &[usize], settings: &Settings) -> bool {
    let mut used: Vec<usize> = rows.iter().flat_map(|k| loose[*k].iter().map(|(at, _)| *at)).collect();
    used.sort_unstable();
    used.dedup();
    if used.len() < rows.len() {
        return false;
    }
    let mut dense = vec![0.0; rows.len() * used.len()];
    for (i, k) in rows.iter().enumerate() {
        for (at, y) in &loose[*k] {
            let column = used.binary_search(at).unwrap_or(0);
            dense[i * used.len() + column] = *y;
        }
    }
    dependence(&Matrix::from_dense(rows.len(), used.len(), &dense), settings).is_ok_and(|d| d.rank == rows.len())
}
