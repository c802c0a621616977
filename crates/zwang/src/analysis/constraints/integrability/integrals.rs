//! The functions that velocity rows keep constant, in closed form if one is found.
//!
//! Σ mₖ αₖ = dΦ for some multipliers m of the rows α. The multipliers are sought as constants, as integrating factors
//! that are products of powers, and as sums of simple functions. Each is a linear problem over generic states, and
//! every result is differentiated again before it is shown.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Function, Graph, Node, Program};

use crate::analysis::constraints::integrability::flag::Flag;
use crate::analysis::constraints::integrability::noisy::{Noisy, NoisySign, VectorSpan, sign_of};
use crate::analysis::constraints::integrability::pfaffian::{Pfaffian, StateValues};
use crate::analysis::constraints::integrability::relations::{fraction, nearly_equal, null_vectors};
use crate::equations::SparseRow;
use crate::equations::zero::{Region, is_zero, is_zero_in};
use crate::model::Model;
use crate::random::Random;
use crate::{
    analysis::constraints::integrability::antiderivative::{antiderivative, operands},
    limits,
};

/// A constant function, with the combination of rows of which it is the integral.
#[derive(Clone, Debug)]
pub(super) struct LocalIntegral {
    /// Rows of the equations with their multipliers.
    pub combination: Vec<(usize, Expr)>,
    /// Φ; `None` if only the combination is known.
    pub potential: Option<Expr>,
    /// `true` if the multipliers vary with the state in an unknown way; they are then left out.
    pub varies: bool,
    /// `true` if it needs no other rows.
    pub alone: bool,
}

impl LocalIntegral {
    /// `true` if it is proved that the combination of rows is dΦ.
    pub fn is_proved(&self, graph: &mut Graph, pfaffian: &Pfaffian, region: &Region) -> bool {
        let Some(phi) = self.potential.filter(|_| !self.varies) else { return false };
        (0..pfaffian.z.len()).all(|j| {
            let mut parts = Vec::new();
            for (row, m) in &self.combination {
                let entries = pfaffian.stated.iter().find(|(k, _)| k == row).map(|(_, entries)| entries);
                let entry = entries.and_then(|e| e.iter().find(|(column, _)| *column == j));
                parts.extend(entry.map(|(_, a)| graph.mul(*m, *a)));
            }
            let slope = graph.derivative(phi, pfaffian.z[j]);
            let sum = graph.sum(&parts);
            let missed = graph.sub(sum, slope);
            is_zero_in(graph, missed, region)
        })
    }
}

/// A velocity row as a form, with dα.
pub(super) struct RowForm {
    pub row: usize,
    pub entries: SparseRow,
    pub curl: Curl,
}

/// The entries of dα for i < j.
pub(super) type Curl = Vec<((usize, usize), Expr)>;

/// The search for as many integrals as the flag implies.
pub(super) struct IntegralSearch<'a> {
    pub graph: &'a mut Graph,
    pub model: &'a Model,
    pub pfaffian: &'a Pfaffian,
    pub flag: &'a Flag,
    /// Generic states, on no constraint.
    pub probes: Vec<StateValues>,
    pub(super) symbols: Vec<Expr>,
    /// The values of all symbols at the start, where a closed form should be finite.
    pub(super) start: Vec<f64>,
    pub(super) rows: Vec<RowForm>,
    /// Differentials known so far, at each state of the flag.
    spans: Vec<VectorSpan>,
    found: Vec<LocalIntegral>,
}

impl<'a> IntegralSearch<'a> {
    pub fn new(
        graph: &'a mut Graph,
        model: &'a Model,
        pfaffian: &'a Pfaffian,
        flag: &'a Flag,
        probes: Vec<StateValues>,
        start: Vec<f64>,
    ) -> IntegralSearch<'a> {
        let symbols = model.state_symbols();
        let spans = vec![VectorSpan::default(); flag.samples.len()];
        let mut search = IntegralSearch {
            graph,
            model,
            pfaffian,
            flag,
            probes,
            symbols,
            start,
            rows: Vec::new(),
            spans,
            found: Vec::new(),
        };
        for form in pfaffian.forms.iter().filter(|f| f.is_function) {
            search.remember(&form.entries);
        }
        for (row, entries) in &pfaffian.stated {
            let curl = curl(search.graph, &pfaffian.place, entries);
            search.rows.push(RowForm { row: *row, entries: entries.clone(), curl });
        }
        search
    }

    /// The integrals, the simplest first.
    pub fn run(mut self) -> Vec<LocalIntegral> {
        // if a formula switches, a result at the probes need not hold beyond the switch
        let can_look = !self.probes.is_empty() && !self.pfaffian.has_branches(self.graph);
        if can_look {
            self.exact_rows();
        }
        if can_look && self.pfaffian.stated.len() <= limits::COMBINED_ROWS {
            self.ansatz(vec![Expr::ONE]);
            self.integrating_factors();
            let atoms = self.atoms();
            let multipliers = self.multipliers(&atoms);
            self.ansatz(multipliers);
            let products = self.products(&atoms);
            self.ansatz(products);
        }
        self.numeric_combinations();
        self.found
    }

    pub(super) fn is_done(&self) -> bool {
        self.found.len() >= self.flag.n_integrals()
    }

    /// Adds a differential to the known ones, at every state of the flag; `true` if it is new.
    fn remember(&mut self, entries: &SparseRow) -> bool {
        let exprs: Vec<Expr> = entries.iter().map(|(_, e)| *e).collect();
        let Ok(program) = Program::new(self.graph, &self.symbols, &exprs) else { return false };
        let mut reduced = Vec::new();
        for (sample, span) in self.flag.samples.iter().zip(&self.spans) {
            let Some(values) = sample.run(&program) else { return false };
            let mut vector = vec![Noisy::default(); self.pfaffian.z.len()];
            entries.iter().zip(values).for_each(|((k, _), v)| vector[*k] = v);
            reduced.push(span.reduce(vector));
        }
        let is_new = reduced.iter().all(|v| sign_of(v) == NoisySign::NotZero);
        if is_new {
            self.spans.iter_mut().zip(reduced).for_each(|(span, v)| {
                span.insert(v);
            });
        }
        is_new
    }

    /// `true` if expressions vanish at every probe.
    fn vanish(&self, exprs: &[Expr]) -> bool {
        vanish(self.graph, &self.symbols, &self.probes, exprs)
    }

    /// The form Σ m α.
    pub(super) fn form(&mut self, combination: &[(usize, Expr)]) -> SparseRow {
        let mut sums = vec![Expr::ZERO; self.pfaffian.z.len()];
        for &(k, m) in combination {
            for j in 0..self.rows[k].entries.len() {
                let (column, a) = self.rows[k].entries[j];
                let part = self.graph.mul(m, a);
                sums[column] = self.graph.add(sums[column], part);
            }
        }
        sums.into_iter().enumerate().filter(|(_, e)| *e != Expr::ZERO).collect()
    }

    pub(super) fn is_closed(&mut self, entries: &SparseRow) -> bool {
        let curl: Vec<Expr> = curl(self.graph, &self.pfaffian.place, entries).into_iter().map(|(_, e)| e).collect();
        self.vanish(&curl)
    }

    /// Records a combination whose form is closed, if it is new.
    pub(super) fn take(&mut self, combination: Vec<(usize, Expr)>, entries: &SparseRow) -> bool {
        if self.is_done() || !self.remember(entries) {
            return false;
        }
        let potential = self.potential(entries);
        let combination = combination.into_iter().map(|(k, m)| (self.rows[k].row, m)).collect();
        let mut found = LocalIntegral { combination, potential, varies: false, alone: true };
        self.tidy(&mut found);
        self.found.push(found);
        true
    }

    /// Removes fractions and a leading minus; a row that is a rate as written is left unchanged.
    fn tidy(&mut self, found: &mut LocalIntegral) {
        let Some(phi) = found.potential else { return };
        if found.combination.iter().map(|(_, m)| *m).eq([Expr::ONE]) {
            return;
        }
        let terms = operands(self.graph, phi, |node| matches!(node, Node::Add(..)));
        let below = |e: Expr| match self.graph.node(e) {
            Node::Mul(a, _) => self.graph.number(a).and_then(|n| n.to_small()).map_or(1, |(_, q)| q),
            _ => 1,
        };
        // halves and thirds, not the denominators that a parameter's digits give
        let multiple = |a: i64, b: i64| if a % b == 0 { Some(a) } else { a.checked_mul(b) };
        let common = terms.iter().map(|t| below(*t)).try_fold(1, multiple);
        let common = common.filter(|c| (1..=12).contains(c)).unwrap_or(1);
        let first = match found.combination.len() {
            1 => phi,
            _ => found.combination[0].1,
        };
        let sign = if self.graph.text(first).starts_with('-') { -1 } else { 1 };
        let factor = self.graph.integer(sign * common);
        let parts: Vec<Expr> = terms.into_iter().map(|t| self.graph.mul(factor, t)).collect();
        found.potential = Some(self.graph.sum(&parts));
        for (_, m) in &mut found.combination {
            *m = self.graph.mul(factor, *m);
        }
    }

    /// Records the rows that are total time derivatives as written.
    fn exact_rows(&mut self) {
        for k in 0..self.rows.len() {
            let curl: Vec<Expr> = self.rows[k].curl.iter().map(|(_, e)| *e).collect();
            if self.vanish(&curl) {
                let entries = self.rows[k].entries.clone();
                self.take(vec![(k, Expr::ONE)], &entries);
            }
        }
    }

    /// Finds constants c with d(Σ c m α) = 0, for all rows α and the multipliers m; simple ones come first.
    fn ansatz(&mut self, multipliers: Vec<Expr>) {
        if self.is_done() || multipliers.is_empty() {
            return;
        }
        let most = (limits::FITTED_MULTIPLIERS / self.rows.len()).max(1);
        let multipliers = &multipliers[..multipliers.len().min(most)];
        let unknowns: Vec<(usize, Expr)> =
            multipliers.iter().flat_map(|&m| (0..self.rows.len()).map(move |k| (k, m))).collect();
        let Some(columns) = self.closing_columns(multipliers) else { return };
        for vector in null_vectors(&columns) {
            if self.is_done() {
                return;
            }
            self.try_vector(&unknowns, &vector);
        }
    }

    /// Records the combination of a null vector, if possible with coefficients that hold for other parameter values.
    fn try_vector(&mut self, unknowns: &[(usize, Expr)], vector: &[(usize, f64)]) {
        let mut best: Option<(Vec<(usize, Expr)>, SparseRow)> = None;
        for by_parameters in [false, true] {
            let mut combination: Vec<(usize, Expr)> = Vec::new();
            for &(u, c) in vector {
                let Some(c) = self.recognized(c, by_parameters) else { return };
                let (k, m) = unknowns[u];
                let m = self.graph.mul(c, m);
                match combination.iter_mut().find(|(row, _)| *row == k) {
                    Some((_, sum)) => *sum = self.graph.add(*sum, m),
                    None => combination.push((k, m)),
                }
            }
            combination.sort_by_key(|(k, _)| *k);
            let entries = self.form(&combination);
            if !self.is_closed(&entries) {
                continue;
            }
            let general = self.is_closed_for_other_parameters(&entries);
            best = Some((combination, entries));
            if general {
                break;
            }
        }
        if let Some((combination, entries)) = best {
            self.take(combination, &entries);
        }
    }

    fn is_closed_for_other_parameters(&mut self, entries: &SparseRow) -> bool {
        let mut random = Random::new(7);
        let n = self.model.parameters.len();
        let probes: Vec<StateValues> = self.probes.iter().map(|p| p.with_other_parameters(n, &mut random)).collect();
        let curl: Vec<Expr> = curl(self.graph, &self.pfaffian.place, entries).into_iter().map(|(_, e)| e).collect();
        vanish(self.graph, &self.symbols, &probes, &curl)
    }

    /// A number as a short fraction, or as one times powers of up to two parameters.
    fn recognized(&mut self, c: f64, by_parameters: bool) -> Option<Expr> {
        let plain = fraction(c);
        if let (Some((p, q)), false) = (plain, by_parameters) {
            return Some(self.graph.rational(p, q));
        }
        const POWERS: [i32; 4] = [1, -1, 2, -2];
        let parameters: Vec<(Expr, f64)> = self.used_parameters();
        let trial = |graph: &mut Graph, factors: &[(Expr, f64, i32)]| {
            let size: f64 = factors.iter().map(|(_, v, n)| v.powi(*n)).product();
            // numbers such as 1/2 or -4 only: a longer fraction fits any number
            let (p, q) = fraction(c / size).filter(|(p, q)| p.abs() <= 12 && *q <= 12)?;
            let mut product = graph.rational(p, q);
            for &(symbol, _, n) in factors {
                let power = graph.powi(symbol, n);
                product = graph.mul(product, power);
            }
            Some(product)
        };
        for &(a, x) in &parameters {
            for n in POWERS {
                if let Some(found) = trial(self.graph, &[(a, x, n)]) {
                    return Some(found);
                }
            }
        }
        for (k, &(a, x)) in parameters.iter().enumerate() {
            for &(b, y) in &parameters[k + 1..] {
                for n in POWERS {
                    for m in POWERS {
                        if let Some(found) = trial(self.graph, &[(a, x, n), (b, y, m)]) {
                            return Some(found);
                        }
                    }
                }
            }
        }
        plain.map(|(p, q)| self.graph.rational(p, q))
    }

    /// The parameters in the rows, with their values.
    fn used_parameters(&self) -> Vec<(Expr, f64)> {
        let exprs: Vec<Expr> = self.rows.iter().flat_map(|r| r.entries.iter().map(|(_, e)| *e)).collect();
        let used = self.graph.symbols_of(&exprs);
        let all = self.model.parameters.iter().zip(&self.model.parameter_values);
        let found = all.filter(|(p, v)| used.binary_search(&p.symbol).is_ok() && **v != 0.0);
        found.map(|(p, v)| (p.symbol, *v)).take(8).collect()
    }

    /// For each unknown (multiplier by multiplier, row by row) the entries of d(m α) = m dα + dm ∧ α at the probes.
    fn closing_columns(&mut self, multipliers: &[Expr]) -> Option<Vec<Vec<f64>>> {
        let z = &self.pfaffian.z;
        let n = z.len();
        let mut exprs: Vec<Expr> = Vec::new();
        for row in &self.rows {
            exprs.extend(row.entries.iter().map(|(_, e)| *e));
            exprs.extend(row.curl.iter().map(|(_, e)| *e));
        }
        for &m in multipliers {
            exprs.push(m);
            for &s in z {
                let slope = self.graph.derivative(m, s);
                exprs.push(slope);
            }
        }
        let program = Program::new(self.graph, &self.symbols, &exprs).ok()?;
        let n_unknowns = multipliers.len() * self.rows.len();
        let mut columns = vec![Vec::new(); n_unknowns];
        for probe in &self.probes {
            // one and a half times as many equations as unknowns exclude accidental solutions
            if columns[0].len() > n_unknowns + n_unknowns / 2 + 20 {
                break;
            }
            let Some(values) = probe.run(&program) else { continue };
            let mut values = values.iter().map(|v| v.value());
            let mut forms = Vec::new();
            for row in &self.rows {
                let mut a = vec![0.0; n];
                row.entries.iter().for_each(|(k, _)| a[*k] = values.next().unwrap_or(0.0));
                let mut d = vec![0.0; n * n];
                row.curl.iter().for_each(|((i, j), _)| d[i * n + j] = values.next().unwrap_or(0.0));
                forms.push((a, d));
            }
            for b in 0..multipliers.len() {
                let m = values.next().unwrap_or(0.0);
                let slope: Vec<f64> = (0..n).map(|_| values.next().unwrap_or(0.0)).collect();
                for (k, (a, d)) in forms.iter().enumerate() {
                    let column = &mut columns[b * self.rows.len() + k];
                    for i in 0..n {
                        column.extend((i + 1..n).map(|j| m * d[i * n + j] + slope[i] * a[j] - slope[j] * a[i]));
                    }
                }
            }
        }
        (!columns[0].is_empty()).then_some(columns)
    }

    /// The coordinates, and the functions of them, that the rows contain: the atoms of multipliers.
    pub(super) fn atoms(&self) -> Vec<Expr> {
        let exprs: Vec<Expr> = self.rows.iter().flat_map(|r| r.entries.iter().map(|(_, e)| *e)).collect();
        let is_coordinate = |e: &Expr| self.pfaffian.z.contains(e);
        let mut atoms: Vec<Expr> = self.graph.symbols_of(&exprs).into_iter().filter(is_coordinate).collect();
        let mut functions = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = exprs;
        while let Some(e) = open.pop() {
            if seen.insert(e) {
                let varies = || self.graph.symbols(e).iter().any(is_coordinate);
                if matches!(self.graph.node(e), Node::Apply(..)) && varies() {
                    functions.push(e);
                }
                open.extend(self.graph.node(e).operands().iter());
            }
        }
        functions.sort_unstable();
        atoms.extend(functions);
        atoms
    }

    /// Simple multipliers: 1, each atom with its cofunction, and its reciprocal.
    fn multipliers(&mut self, atoms: &[Expr]) -> Vec<Expr> {
        let mut found = vec![Expr::ONE];
        for &e in atoms {
            found.push(e);
            if let Node::Apply(Function::Sin, u) = self.graph.node(e) {
                found.push(self.graph.apply(Function::Cos, u));
            }
            if let Node::Apply(Function::Cos, u) = self.graph.node(e) {
                found.push(self.graph.apply(Function::Sin, u));
            }
        }
        found.extend(atoms.iter().map(|&e| self.graph.powi(e, -1)).collect::<Vec<_>>());
        unique(found)
    }

    /// 1, the atoms and their products in pairs.
    fn products(&mut self, atoms: &[Expr]) -> Vec<Expr> {
        let mut found = vec![Expr::ONE];
        found.extend(atoms);
        for (k, &a) in atoms.iter().enumerate() {
            for &b in &atoms[k..] {
                found.push(self.graph.mul(a, b));
            }
        }
        unique(found)
    }

    /// Φ with dΦ the form, variable by variable: Φ ← Φ + ∫ (aᵢ − ∂Φ/∂zᵢ) dzᵢ, in one order or the other.
    pub(super) fn potential(&mut self, entries: &SparseRow) -> Option<Expr> {
        let forwards = self.potential_in_order(entries.clone());
        forwards.or_else(|| self.potential_in_order(entries.iter().rev().copied().collect()))
    }

    fn potential_in_order(&mut self, entries: SparseRow) -> Option<Expr> {
        let z = self.pfaffian.z.clone();
        let mut phi = Expr::ZERO;
        let mut done: Vec<Expr> = Vec::new();
        for &(k, a) in &entries {
            let known = self.graph.derivative(phi, z[k]);
            let open = self.graph.sub(a, known);
            if !self.vanish(&[open]) {
                let open = self.without(open, &done);
                let (symbols, probes) = (&self.symbols, &self.probes);
                let is_zero = |graph: &Graph, e: Expr| vanish(graph, symbols, probes, &[e]);
                let part = antiderivative(self.graph, open, z[k], &is_zero)?;
                phi = self.graph.add(phi, part);
            }
            done.push(z[k]);
        }
        // whatever rules gave the integrals, the derivatives decide
        let mut left = Vec::new();
        for (k, &s) in z.iter().enumerate() {
            let slope = self.graph.derivative(phi, s);
            let wanted = entries.iter().find(|(j, _)| *j == k).map_or(Expr::ZERO, |(_, a)| *a);
            left.push(self.graph.sub(slope, wanted));
        }
        self.vanish(&left).then_some(phi)
    }

    /// Replaces variables on which the expression does not depend by a number.
    fn without(&mut self, mut e: Expr, variables: &[Expr]) -> Expr {
        for &s in variables {
            if self.graph.symbols(e).binary_search(&s).is_err() {
                continue;
            }
            for value in [Expr::ZERO, Expr::ONE] {
                let other = self.graph.substitute(&[e], &[(s, value)].into_iter().collect())[0];
                let difference = self.graph.sub(e, other);
                if self.vanish(&[difference]) {
                    e = other;
                    break;
                }
            }
        }
        e
    }

    /// Combinations whose rows are known and whose integral is not.
    fn numeric_combinations(&mut self) {
        let missing = self.flag.n_integrals().saturating_sub(self.found.len());
        if missing == 0 || self.pfaffian.is_extended {
            return;
        }
        let exprs: Vec<Expr> = self.pfaffian.stated.iter().flat_map(|(_, e)| e.iter().map(|(_, e)| *e)).collect();
        let Ok(program) = Program::new(self.graph, &self.symbols, &exprs) else { return };
        let mut at_states = Vec::new();
        for (sample, directions) in self.flag.samples.iter().zip(&self.flag.directions) {
            let Some(values) = sample.run(&program) else { return };
            let mut values = values.into_iter();
            let mut columns = Vec::new();
            for (_, entries) in &self.pfaffian.stated {
                let form: Vec<(usize, Noisy)> =
                    entries.iter().map(|(k, _)| (*k, values.next().unwrap_or_default())).collect();
                columns.push(directions.iter().map(|v| on(&form, v)).collect::<Vec<f64>>());
            }
            at_states.push(null_vectors(&columns));
        }
        let first = at_states[0].clone();
        for (c, vector) in first.iter().enumerate() {
            let same = |others: &Vec<Vec<(usize, f64)>>| others.get(c).is_some_and(|o| nearly_equal(o, vector));
            if self.is_done() {
                return;
            }
            if at_states.iter().all(same) {
                let known: Option<Vec<(usize, Expr)>> =
                    vector.iter().map(|&(k, c)| Some((k, self.recognized(c, false)?))).collect();
                if let Some(combination) = known {
                    let entries = self.form(&combination);
                    if self.remember(&entries) {
                        let combination = combination.into_iter().map(|(k, m)| (self.rows[k].row, m)).collect();
                        self.found.push(LocalIntegral { combination, potential: None, varies: false, alone: false });
                    }
                }
            }
        }
        // the other combinations, by the rows that take part in them
        let mut rows: Vec<usize> = at_states[0].iter().flatten().map(|(k, _)| self.pfaffian.stated[*k].0).collect();
        rows.sort_unstable();
        rows.dedup();
        while !self.is_done() {
            let combination = rows.iter().map(|&row| (row, Expr::ONE)).collect();
            self.found.push(LocalIntegral { combination, potential: None, varies: true, alone: false });
        }
    }
}

/// α(v), exactly zero if it is rounding.
fn on(form: &[(usize, Noisy)], v: &[Noisy]) -> f64 {
    let sum = form.iter().map(|(k, a)| a.mul(v[*k])).fold(Noisy::default(), Noisy::add);
    if sum.sign() == NoisySign::Zero { 0.0 } else { sum.value() }
}

/// The velocity rows that are exact differentials as written.
pub(super) fn exact_rows(
    graph: &mut Graph,
    pfaffian: &Pfaffian,
    symbols: &[Expr],
    probes: &[StateValues],
) -> Vec<usize> {
    let curls: Vec<Vec<Expr>> = pfaffian
        .stated
        .iter()
        .map(|(_, entries)| curl(graph, &pfaffian.place, entries).into_iter().map(|(_, e)| e).collect())
        .collect();
    let Ok(program) = Program::new(graph, symbols, &curls.concat()) else { return Vec::new() };
    let values: Vec<Vec<Noisy>> = probes.iter().filter_map(|p| p.run(&program)).collect();
    let mut first = 0;
    let mut exact = Vec::new();
    for ((row, _), curl) in pfaffian.stated.iter().zip(&curls) {
        let range = first..first + curl.len();
        first = range.end;
        let seems_exact = values.len() >= 2 && values.iter().all(|v| sign_of(&v[range.clone()]) == NoisySign::Zero);
        if seems_exact && curl.iter().all(|e| is_zero(graph, *e)) {
            exact.push(*row);
        }
    }
    exact
}

/// `true` if expressions vanish at all states where they are finite, at least two.
fn vanish(graph: &Graph, symbols: &[Expr], samples: &[StateValues], exprs: &[Expr]) -> bool {
    if exprs.iter().all(|e| *e == Expr::ZERO) {
        return true;
    }
    let Ok(program) = Program::new(graph, symbols, exprs) else { return false };
    let values: Vec<Vec<Noisy>> =
        samples.iter().filter_map(|s| s.run(&program)).take(limits::DECIDING_STATES).collect();
    values.len() >= 2 && values.iter().all(|v| sign_of(v) == NoisySign::Zero)
}

/// dα: ∂aⱼ/∂zᵢ − ∂aᵢ/∂zⱼ for i < j, without entries that are structurally zero.
pub(super) fn curl(graph: &mut Graph, place: &FxHashMap<Expr, usize>, entries: &SparseRow) -> Curl {
    // (column, variable) and the slope
    let mut slopes: FxHashMap<(usize, usize), Expr> = FxHashMap::default();
    for &(column, a) in entries {
        for s in graph.symbols(a) {
            if let Some(&variable) = place.get(&s).filter(|v| **v != column) {
                let slope = graph.derivative(a, s);
                slopes.insert((column, variable), slope);
            }
        }
    }
    let mut pairs: Vec<(usize, usize)> = slopes.keys().map(|&(i, j)| (i.min(j), i.max(j))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut curl = Vec::new();
    for (i, j) in pairs {
        let of = |column: usize, variable: usize| slopes.get(&(column, variable)).copied().unwrap_or(Expr::ZERO);
        let entry = graph.sub(of(j, i), of(i, j));
        if entry != Expr::ZERO {
            curl.push(((i, j), entry));
        }
    }
    curl
}

pub(super) fn unique(list: Vec<Expr>) -> Vec<Expr> {
    let mut seen = rustc_hash::FxHashSet::default();
    list.into_iter().filter(|e| seen.insert(*e)).collect()
}
