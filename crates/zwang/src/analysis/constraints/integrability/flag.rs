//! The flag of a distribution: D, D + [D, D], … by Lie brackets of symbolic vector fields at generic states.
//!
//! The rows are brought to the form dz_d = Σ f_id dz_i with as many pivots d as there are independent rows. Then
//! X_i = ∂_i + Σ_d f_id ∂_d span D, and every bracket has pivot components only:
//!
//! $$ [X_i, X_j] = \sum_d \bigl(X_i(f_{jd}) - X_j(f_{id})\bigr)\,\partial_d $$

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Graph, Program};

use crate::analysis::constraints::integrability::noisy::{Noisy, NoisySign, VectorSpan, sign_of};
use crate::analysis::constraints::integrability::pfaffian::{Pfaffian, StateValues};
use crate::equations::SparseRow;
use crate::equations::zero::{Region, is_zero_in};
use crate::{analysis::constraints::integrability::integrals::curl, limits, tolerance};

/// The reason why a flag is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undecided {
    /// No state on the constraints was found near the start.
    NoStates,
    /// Every coefficient of this stated form vanishes at all states that were evaluated.
    Vanishes(usize),
    /// Every allowed direction has dt = 0: at generic states no velocities satisfy the rows together.
    NoMotion,
    /// Numbers that are neither clearly zero nor clearly nonzero.
    Unclear(&'static str),
    /// States disagree.
    Differs(&'static str),
    /// Too many coordinates, or expressions that grew too long; the dimensions known by then.
    TooLong(Vec<usize>),
}

/// The flag of D: the directions that its brackets reach.
#[derive(Clone, Debug)]
pub(super) struct Flag {
    /// Dimensions of D, D², … until they stay the same.
    pub dimensions: Vec<usize>,
    /// The number of independent forms, and the number of those that are differentials of known functions.
    pub n_independent: usize,
    pub n_functions: usize,
    /// The states that decided.
    pub samples: Vec<StateValues>,
    /// For each of these the new directions, as vectors over z.
    pub directions: Vec<Vec<Vec<Noisy>>>,
    /// The new directions as formulas: column and component.
    pub formulas: Vec<SparseRow>,
    /// `true` if it is proved that there are no more directions: whatever vanished at the states is identically zero.
    pub is_proved: bool,
}

impl Flag {
    /// The number of constant functions of z in addition to the known ones.
    pub fn n_integrals(&self) -> usize {
        self.n_independent - self.directions.first().map_or(0, Vec::len) - self.n_functions
    }
}

/// What was taken as zero at all states, and whether each was proved to be.
struct Proofs<'a> {
    /// Where it has to be zero; `None` if nothing has to be proved.
    region: Option<&'a Region>,
    all: bool,
    /// `false` if a whole row vanished and not every entry of it was proved to.
    rows: bool,
    /// `false` if a row counts as exact and that was not proved.
    exact: bool,
    /// The number of attempts that may still fail: each takes as long as all numbers together.
    attempts: usize,
}

impl Proofs<'_> {
    /// `true` if an expression is proved to be zero.
    fn is_zero(&mut self, graph: &Graph, e: Expr) -> bool {
        let is_proved = self.attempts > 0 && self.region.is_some_and(|region| is_zero_in(graph, e, region));
        self.attempts = self.attempts.saturating_sub(usize::from(!is_proved));
        is_proved
    }

    /// Notes that an expression is taken as zero.
    fn taken_as_zero(&mut self, graph: &Graph, e: Expr) {
        self.all = self.is_zero(graph, e) && self.all;
    }
}

/// Rows in reduced echelon form: the pivot of each, and its other entries by column.
struct SymbolicEchelon {
    n_functions: usize,
    pivots: Vec<usize>,
    rows: Vec<FxHashMap<usize, SampledEntry>>,
}

impl SymbolicEchelon {
    /// `true` if the rows imply dz = 0 for this column.
    fn stops(&self, column: usize) -> bool {
        self.pivots.iter().zip(&self.rows).any(|(pivot, row)| *pivot == column && row.is_empty())
    }
}

/// An entry as an expression and at every state.
#[derive(Clone, Debug)]
struct SampledEntry {
    expr: Expr,
    values: Vec<Noisy>,
}

/// Finds the flag of the forms at the states given; with a region, proves what is zero at these states.
pub(super) fn flag(
    graph: &mut Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    samples: &[StateValues],
    region: Option<&Region>,
) -> Result<Flag, Undecided> {
    if samples.is_empty() {
        return Err(Undecided::NoStates);
    }
    if pfaffian.z.len() > limits::BRACKET_COORDINATES {
        return Err(Undecided::TooLong(Vec::new()));
    }
    let limit = graph.len() + limits::BRACKET_NODES;
    match flag_at(graph, pfaffian, symbols, samples, (region, limit)) {
        // one state may be unlucky
        Err(Undecided::Unclear(what)) if samples.len() > 2 => {
            let pairs = (0..samples.len()).map(|k| [&samples[..k], &samples[k + 1..]].concat());
            let found = pairs.map(|pair| flag_at(graph, pfaffian, symbols, &pair, (region, limit))).find(Result::is_ok);
            found.unwrap_or(Err(Undecided::Unclear(what)))
        }
        other => other,
    }
}

fn flag_at(
    graph: &mut Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    samples: &[StateValues],
    (region, limit): (Option<&Region>, usize),
) -> Result<Flag, Undecided> {
    let mut proofs = Proofs { region, all: true, rows: true, exact: true, attempts: limits::FAILED_PROOFS };
    let echelon = echelon(graph, pfaffian, symbols, samples, (&mut proofs, limit))?;
    if pfaffian.has_time && echelon.stops(pfaffian.place[&pfaffian.z[0]]) {
        return Err(Undecided::NoMotion);
    }
    let n_known = n_exact(graph, pfaffian, symbols, samples, &mut proofs);
    Brackets::new(graph, pfaffian, symbols, samples, echelon, (proofs, limit)).grow(n_known)
}

/// The number of velocity rows that are exact differentials as written, independent of each other and of the known
/// functions.
fn n_exact(
    graph: &mut Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    samples: &[StateValues],
    proofs: &mut Proofs,
) -> usize {
    if pfaffian.is_extended {
        return 0;
    }
    let z = &pfaffian.z;
    let functions = pfaffian.forms.iter().filter(|f| f.is_function).map(|f| (true, &f.entries));
    let stated = pfaffian.stated.iter().map(|(_, entries)| (false, entries));
    let mut span = VectorSpan::default();
    let mut n = 0;
    for (is_function, entries) in functions.chain(stated) {
        let curl: Vec<Expr> = if is_function { Vec::new() } else { curl_entries(graph, pfaffian, entries) };
        let is_zero = |v: &Vec<Noisy>| v.iter().all(|e| e.sign() == NoisySign::Zero);
        let exact = curl.is_empty() || evaluated(graph, symbols, samples, &curl).is_some_and(|v| v.iter().all(is_zero));
        if exact {
            proofs.exact = curl.into_iter().all(|e| proofs.is_zero(graph, e)) && proofs.exact;
        }
        let exprs: Vec<Expr> = entries.iter().map(|(_, e)| *e).collect();
        let Some(values) = evaluated(graph, symbols, &samples[..1], &exprs).filter(|_| exact) else { continue };
        let mut vector = vec![Noisy::default(); z.len()];
        entries.iter().zip(&values[0]).for_each(|((k, _), v)| vector[*k] = *v);
        let reduced = span.reduce(vector);
        n += usize::from(span.insert(reduced) == NoisySign::NotZero && !is_function);
    }
    n
}

fn curl_entries(graph: &mut Graph, pfaffian: &Pfaffian, entries: &SparseRow) -> Vec<Expr> {
    curl(graph, &pfaffian.place, entries).into_iter().map(|(_, e)| e).collect()
}

/// Gauss-Jordan elimination in the order of the forms, symbolically and at every state at once.
fn echelon(
    graph: &mut Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    samples: &[StateValues],
    (proofs, limit): (&mut Proofs, usize),
) -> Result<SymbolicEchelon, Undecided> {
    let mut found = SymbolicEchelon { n_functions: 0, pivots: Vec::new(), rows: Vec::new() };
    for (row, mut entries) in evaluated_forms(graph, pfaffian, symbols, samples, proofs)?.into_iter().enumerate() {
        let vanished = entries.is_empty();
        for (pivot, of) in found.pivots.iter().zip(&found.rows) {
            if let Some(factor) = entries.remove(pivot) {
                subtract(graph, &mut entries, &factor, of, proofs);
            }
        }
        match verdict(&entries, samples.len()) {
            // a function whose differential vanishes does not describe its level set; a velocity row is then merely
            // empty
            NoisySign::Zero if vanished && pfaffian.forms[row].is_function => return Err(Undecided::Vanishes(row)),
            NoisySign::Zero => {
                proofs.rows = proofs.rows && proofs.all;
                continue;
            }
            NoisySign::Unclear => return Err(Undecided::Unclear("whether the rows depend on each other")),
            NoisySign::NotZero => {}
        }
        let Some(pivot) = best_pivot(graph, &entries) else {
            return Err(Undecided::Differs("which rows depend on each other"));
        };
        normalize(graph, &mut entries, pivot);
        for of in &mut found.rows {
            if let Some(factor) = of.remove(&pivot) {
                subtract(graph, of, &factor, &entries, proofs);
            }
        }
        if graph.len() > limit {
            return Err(Undecided::TooLong(Vec::new()));
        }
        found.n_functions += usize::from(pfaffian.forms[row].is_function);
        found.pivots.push(pivot);
        found.rows.push(entries);
    }
    Ok(found)
}

/// The entries of every form that are not zero, at every state.
fn evaluated_forms(
    graph: &Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    samples: &[StateValues],
    proofs: &mut Proofs,
) -> Result<Vec<FxHashMap<usize, SampledEntry>>, Undecided> {
    let exprs: Vec<Expr> = pfaffian.forms.iter().flat_map(|f| f.entries.iter().map(|(_, e)| *e)).collect();
    let values = evaluated(graph, symbols, samples, &exprs).ok_or(Undecided::NoStates)?;
    let mut k = 0;
    let mut rows = Vec::new();
    for form in &pfaffian.forms {
        let mut entries = FxHashMap::default();
        for &(column, expr) in &form.entries {
            let entry = SampledEntry { expr, values: values.iter().map(|v| v[k]).collect() };
            match entry.is_zero() {
                true => proofs.taken_as_zero(graph, entry.expr),
                false => {
                    entries.insert(column, entry);
                }
            }
            k += 1;
        }
        rows.push(entries);
    }
    Ok(rows)
}

/// Expressions at every state; `None` if one is not finite.
fn evaluated(graph: &Graph, symbols: &[Expr], samples: &[StateValues], exprs: &[Expr]) -> Option<Vec<Vec<Noisy>>> {
    let program = Program::new(graph, symbols, exprs).ok()?;
    samples.iter().map(|s| s.run(&program)).collect()
}

impl SampledEntry {
    fn is_zero(&self) -> bool {
        self.values.iter().all(|v| v.sign() == NoisySign::Zero)
    }

    /// The relative error at the worst state.
    fn relative_error(&self) -> f64 {
        self.values.iter().map(|v| v.relative_error()).fold(0.0, f64::max)
    }
}

/// The decision whether a row is zero at all states.
fn verdict(entries: &FxHashMap<usize, SampledEntry>, n_states: usize) -> NoisySign {
    let at = |k: usize| entries.values().map(|e| e.values[k]).collect::<Vec<_>>();
    let signs: Vec<NoisySign> = (0..n_states).map(|k| sign_of(&at(k))).collect();
    if signs.iter().all(|s| *s == NoisySign::Zero) {
        NoisySign::Zero
    } else if signs.contains(&NoisySign::NotZero) {
        NoisySign::NotZero
    } else {
        NoisySign::Unclear
    }
}

/// Of the entries that are clearly nonzero at every state, the pivot that keeps expressions short.
fn best_pivot(graph: &Graph, entries: &FxHashMap<usize, SampledEntry>) -> Option<usize> {
    let clear = |e: &SampledEntry| e.values.iter().all(|v| v.sign() == NoisySign::NotZero);
    let cost = |e: &SampledEntry| length(graph, e.expr);
    let mut columns: Vec<usize> = entries.iter().filter(|(_, e)| clear(e)).map(|(k, _)| *k).collect();
    columns.sort_unstable();
    let good: Vec<usize> =
        columns.iter().copied().filter(|k| entries[k].relative_error() < tolerance::TEN_DIGITS).collect();
    match good.is_empty() {
        false => good.into_iter().min_by_key(|k| cost(&entries[k])),
        true => columns.into_iter().min_by(|a, b| entries[a].relative_error().total_cmp(&entries[b].relative_error())),
    }
}

/// The number of nodes of an expression when written out, up to `LONG`.
fn length(graph: &Graph, e: Expr) -> usize {
    let (mut n, mut open) = (0, vec![e]);
    while let Some(e) = open.pop() {
        n += usize::from(graph.constant_value(e).is_none());
        if n >= limits::LENGTH_COMPARED {
            break;
        }
        open.extend(graph.node(e).operands().iter());
    }
    n
}

/// entries ← entries / entries[pivot], with the pivot itself left out.
fn normalize(graph: &mut Graph, entries: &mut FxHashMap<usize, SampledEntry>, pivot: usize) {
    let Some(by) = entries.remove(&pivot) else { return };
    for entry in entries.values_mut() {
        entry.expr = graph.div(entry.expr, by.expr);
        entry.values = entry.values.iter().zip(&by.values).map(|(a, b)| a.div(*b)).collect();
    }
}

/// entries ← entries − factor · of; entries that cancel at every state are dropped.
fn subtract(
    graph: &mut Graph,
    entries: &mut FxHashMap<usize, SampledEntry>,
    factor: &SampledEntry,
    of: &FxHashMap<usize, SampledEntry>,
    proofs: &mut Proofs,
) {
    for (&column, entry) in of {
        let expr = graph.mul(factor.expr, entry.expr);
        let values = factor.values.iter().zip(&entry.values).map(|(a, b)| a.mul(*b).neg());
        let entry = match entries.remove(&column) {
            None => SampledEntry { expr: graph.neg(expr), values: values.collect() },
            Some(old) => SampledEntry {
                expr: graph.sub(old.expr, expr),
                values: old.values.iter().zip(values).map(|(a, b)| a.add(b)).collect(),
            },
        };
        match entry.is_zero() {
            true => proofs.taken_as_zero(graph, entry.expr),
            false => {
                entries.insert(column, entry);
            }
        }
    }
}

/// A vector field with pivot components only: its components, and their values at every state.
struct Direction {
    components: Vec<Expr>,
    values: Vec<Vec<Noisy>>,
}

/// The determinant of some columns of the last rows, expanded along the first of these.
fn determinant(graph: &mut Graph, rows: &[Vec<Expr>], columns: &[usize]) -> Expr {
    let Some(row) = rows.len().checked_sub(columns.len()).filter(|_| !columns.is_empty()) else { return Expr::ONE };
    let mut sum = Expr::ZERO;
    for (at, &column) in columns.iter().enumerate().filter(|(_, c)| rows[row][**c] != Expr::ZERO) {
        let rest = [&columns[..at], &columns[at + 1..]].concat();
        let minor = determinant(graph, rows, &rest);
        let term = graph.mul(rows[row][column], minor);
        sum = if at % 2 == 0 { graph.add(sum, term) } else { graph.sub(sum, term) };
    }
    sum
}

struct Brackets<'a> {
    graph: &'a mut Graph,
    symbols: &'a [Expr],
    samples: Vec<StateValues>,
    z: &'a [Expr],
    echelon: SymbolicEchelon,
    /// The columns without pivot, and f_id for each.
    free: Vec<usize>,
    fields: Vec<Vec<Expr>>,
    /// Directions that brackets gave, and the index of the first of the last round.
    found: Vec<Direction>,
    n_before: usize,
    spans: Vec<VectorSpan>,
    proofs: Proofs<'a>,
    /// Brackets that are no new directions, with the number of directions known then.
    dependent: Vec<Vec<Expr>>,
    limit: usize,
}

impl<'a> Brackets<'a> {
    fn new(
        graph: &'a mut Graph,
        pfaffian: &'a Pfaffian,
        symbols: &'a [Expr],
        samples: &[StateValues],
        echelon: SymbolicEchelon,
        (proofs, limit): (Proofs<'a>, usize),
    ) -> Brackets<'a> {
        let free: Vec<usize> = (0..pfaffian.z.len()).filter(|k| !echelon.pivots.contains(k)).collect();
        let component = |graph: &mut Graph, row: &FxHashMap<usize, SampledEntry>, k: usize| match row.get(&k) {
            Some(entry) => graph.neg(entry.expr),
            None => Expr::ZERO,
        };
        let fields = free.iter().map(|&k| echelon.rows.iter().map(|row| component(graph, row, k)).collect()).collect();
        let samples = samples.to_vec();
        let spans = vec![VectorSpan::default(); samples.len()];
        let (z, found) = (&pfaffian.z[..], Vec::new());
        let dependent = Vec::new();
        Brackets {
            graph,
            symbols,
            samples,
            z,
            echelon,
            free,
            fields,
            found,
            n_before: 0,
            spans,
            proofs,
            dependent,
            limit,
        }
    }

    /// Computes brackets until no new direction appears, or until the known constant functions leave no room.
    fn grow(mut self, n_known: usize) -> Result<Flag, Undecided> {
        let dimension = self.free.len();
        let mut dimensions = vec![dimension];
        self.drop_idle();
        let most = self.echelon.pivots.len().saturating_sub(self.echelon.n_functions + n_known);
        while self.found.len() < most {
            let n_before = self.found.len();
            let whole = match dimensions.len() {
                1 => self.first_brackets(most)?,
                _ => self.next_brackets(most)?,
            };
            if !whole {
                return Err(Undecided::TooLong(dimensions));
            }
            if self.found.len() == n_before {
                break;
            }
            self.n_before = n_before;
            dimensions.push(dimension + self.found.len());
        }
        let is_full = self.proofs.rows && self.proofs.exact && self.found.len() == most;
        let is_proved = is_full || self.found.len() < most && self.proofs.all && self.are_dependent();
        Ok(self.finish(dimensions, is_proved))
    }

    fn finish(self, dimensions: Vec<usize>, is_proved: bool) -> Flag {
        let n = self.z.len();
        let spread = |values: &[Noisy]| {
            let mut vector = vec![Noisy::default(); n];
            self.echelon.pivots.iter().zip(values).for_each(|(&k, v)| vector[k] = *v);
            vector
        };
        let at = |k: usize| self.found.iter().map(|d| spread(&d.values[k])).collect();
        let directions = (0..self.samples.len()).map(at).collect();
        let formula = |d: &Direction| self.echelon.pivots.iter().copied().zip(d.components.iter().copied()).collect();
        Flag {
            formulas: self.found.iter().map(formula).collect(),
            is_proved,
            dimensions,
            n_independent: self.echelon.pivots.len(),
            n_functions: self.echelon.n_functions,
            samples: self.samples,
            directions,
        }
    }

    /// `true` if it is proved that the brackets which are no new directions lie in the span of the others: all determinants of the
    /// found directions and one of them, on columns where the found ones are independent, are zero.
    fn are_dependent(&mut self) -> bool {
        let r = self.found.len();
        if r > limits::PROVED_DIRECTIONS {
            return self.dependent.is_empty();
        }
        // pivots of the found directions at the first state
        let pivots: Vec<usize> = self.spans.first().map_or(Vec::new(), VectorSpan::pivots);
        let known: Vec<Vec<Expr>> = self.found.iter().map(|d| d.components.clone()).collect();
        for components in std::mem::take(&mut self.dependent) {
            let mut rows = known.clone();
            rows.push(components.clone());
            for column in (0..components.len()).filter(|c| !pivots.contains(c)) {
                let columns: Vec<usize> = pivots.iter().copied().chain([column]).collect();
                let determinant = determinant(self.graph, &rows, &columns);
                if !self.proofs.is_zero(self.graph, determinant) {
                    return false;
                }
            }
        }
        true
    }

    /// X(e) for many e, where X has the components `along` at the pivots and the component ∂_free.
    fn along(&mut self, free: Option<usize>, along: &[Expr], exprs: &[Expr]) -> Vec<Expr> {
        let mut rates: FxHashMap<Expr, Expr> = FxHashMap::default();
        for (&pivot, &component) in self.echelon.pivots.iter().zip(along) {
            rates.insert(self.z[pivot], component);
        }
        rates.extend(free.map(|k| (self.z[k], Expr::ONE)));
        self.graph.tangents(exprs, |s| rates.get(&s).copied().unwrap_or(Expr::ZERO))
    }

    /// Leaves out fields ∂_i along which nothing changes: all their brackets are zero.
    fn drop_idle(&mut self) {
        let symbols = self.graph.symbols_of(&self.fields.concat());
        let is_idle = |i: &usize| {
            let still = self.fields[*i].iter().all(|e| *e == Expr::ZERO);
            still && symbols.binary_search(&self.z[self.free[*i]]).is_err()
        };
        let busy: Vec<usize> = (0..self.fields.len()).filter(|i| !is_idle(i)).collect();
        self.fields = busy.iter().map(|&i| self.fields[i].clone()).collect();
        self.free = busy.iter().map(|&i| self.free[i]).collect();
    }

    /// Adds [X_i, X_j] for all i < j; `false` if they grow too long.
    fn first_brackets(&mut self, most: usize) -> Result<bool, Undecided> {
        let (d, r) = (self.fields.len(), self.echelon.pivots.len());
        let all: Vec<Expr> = self.fields.concat();
        let mut rates = Vec::with_capacity(d);
        for i in 0..d {
            rates.push(self.along(Some(self.free[i]), &self.fields[i].clone(), &all));
            if self.graph.len() > self.limit {
                return Ok(false);
            }
        }
        let mut brackets = Vec::new();
        for i in 0..d {
            for j in i + 1..d {
                brackets.push((0..r).map(|k| self.graph.sub(rates[i][j * r + k], rates[j][i * r + k])).collect());
            }
        }
        self.take(brackets, most)?;
        Ok(true)
    }

    /// Adds [X_i, W] for the directions W that were new in the last round; `false` if they grow too long.
    fn next_brackets(&mut self, most: usize) -> Result<bool, Undecided> {
        let (d, r) = (self.fields.len(), self.echelon.pivots.len());
        let new: Vec<Vec<Expr>> = self.found[self.n_before..].iter().map(|w| w.components.clone()).collect();
        for i in 0..d {
            if self.found.len() == most {
                break;
            }
            let field = self.fields[i].clone();
            let rates = self.along(Some(self.free[i]), &field, &new.concat());
            let mut brackets = Vec::new();
            for (w, components) in new.iter().enumerate() {
                let back = self.along(None, components, &field);
                brackets.push((0..r).map(|k| self.graph.sub(rates[w * r + k], back[k])).collect());
                if self.graph.len() > self.limit {
                    return Ok(false);
                }
            }
            self.take(brackets, most)?;
        }
        Ok(true)
    }

    /// Keeps the candidates that are new directions at every state.
    fn take(&mut self, candidates: Vec<Vec<Expr>>, most: usize) -> Result<(), Undecided> {
        let mut candidates: Vec<Vec<Expr>> =
            candidates.into_iter().filter(|c| c.iter().any(|e| *e != Expr::ZERO)).collect();
        // short ones first: their brackets stay short
        candidates.sort_by_cached_key(|c| c.iter().map(|e| length(self.graph, *e)).sum::<usize>());
        let r = self.echelon.pivots.len();
        let program = Program::new(self.graph, self.symbols, &candidates.concat());
        let program = program.map_err(|_| Undecided::Unclear("a bracket"))?;
        let values: Option<Vec<Vec<Noisy>>> = self.samples.iter().map(|s| s.run(&program)).collect();
        let values = values.ok_or(Undecided::Unclear("a bracket, which is not finite where it was looked at"))?;
        for (c, components) in candidates.into_iter().enumerate() {
            if self.found.len() == most {
                break;
            }
            let at = |k: usize| values[k][c * r..(c + 1) * r].to_vec();
            let reduced: Vec<Vec<Noisy>> = self.spans.iter().enumerate().map(|(k, s)| s.reduce(at(k))).collect();
            let signs: Vec<NoisySign> = reduced.iter().map(|v| sign_of(v)).collect();
            if signs.iter().all(|s| *s == NoisySign::Zero) {
                self.dependent.push(components);
                continue;
            }
            if signs.contains(&NoisySign::Unclear) {
                return Err(Undecided::Unclear("whether a bracket is a new direction"));
            }
            if signs.contains(&NoisySign::Zero) {
                return Err(Undecided::Differs("whether a bracket is a new direction"));
            }
            self.spans.iter_mut().zip(reduced).for_each(|(span, v)| {
                span.insert(v);
            });
            self.found.push(Direction { components, values: (0..self.samples.len()).map(at).collect() });
        }
        Ok(())
    }
}
