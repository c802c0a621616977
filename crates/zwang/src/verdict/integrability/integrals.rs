//! The functions that velocity rows keep constant, in closed form where that can be found.
//!
//! Σ mₖ αₖ = dΦ for some multipliers m of the rows α. They are looked for as constants, as integrating factors that are
//! products of powers, and as sums of simple functions; each is a linear problem over generic states, and whatever is
//! found is differentiated again before it is shown.

use zwang_expr::{Expr, Function, Graph, Node, Program};

use super::antiderivative::{antiderivative, operands, power_of};
use super::flag::Flag;
use super::noisy::{Noisy, Sign, Span, sign_of};
use super::pfaffian::{Pfaffian, Random, Sample};
use crate::equations::SparseRow;
use crate::model::Model;

/// A function that stays constant, by the combination of rows whose integral it is.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Rows of the equations with their multipliers.
    pub combination: Vec<(usize, Expr)>,
    /// Φ; none if only the combination is known.
    pub potential: Option<Expr>,
    /// Whether the multipliers vary with the state in a way that was not found; they are left out then.
    pub varies: bool,
}

/// A velocity row as a form, with dα.
struct RowForm {
    row: usize,
    entries: SparseRow,
    curl: Curl,
}

/// The entries of dα for i < j.
pub(super) type Curl = Vec<((usize, usize), Expr)>;

/// Unknown multipliers that are fitted at once; more would take longer than a blink.
const MOST_UNKNOWNS: usize = 90;

/// Rows beyond which no closed form is looked for.
const MOST_ROWS: usize = 40;

/// A remainder below this, beside what it is left of, is rounding: the sums have a few hundred terms.
const ROUNDING: f64 = 1e-9;

/// Looks for as many integrals as the flag says there are.
pub(super) struct Search<'a> {
    pub graph: &'a mut Graph,
    pub model: &'a Model,
    pub pfaffian: &'a Pfaffian,
    pub flag: &'a Flag,
    /// Generic states, on no constraint.
    pub probes: Vec<Sample>,
    symbols: Vec<Expr>,
    /// All symbols with their values at the start, where a closed form should be finite.
    start: Vec<f64>,
    rows: Vec<RowForm>,
    /// Differentials known so far, at each state of the flag.
    spans: Vec<Span>,
    found: Vec<Found>,
}

impl<'a> Search<'a> {
    pub fn new(
        graph: &'a mut Graph,
        model: &'a Model,
        pfaffian: &'a Pfaffian,
        flag: &'a Flag,
        probes: Vec<Sample>,
        start: Vec<f64>,
    ) -> Search<'a> {
        let symbols = model.state_symbols();
        let spans = vec![Span::default(); flag.samples.len()];
        let mut search =
            Search { graph, model, pfaffian, flag, probes, symbols, start, rows: Vec::new(), spans, found: Vec::new() };
        for form in pfaffian.forms.iter().filter(|f| f.is_function) {
            search.remember(&form.entries);
        }
        for (row, entries) in pfaffian.stated.iter().take(MOST_ROWS) {
            let curl = curl(search.graph, &pfaffian.z, entries);
            search.rows.push(RowForm { row: *row, entries: entries.clone(), curl });
        }
        search
    }

    /// The integrals, the simplest first.
    pub fn run(mut self) -> Vec<Found> {
        // where a formula switches, what holds at the probes need not hold behind the switch
        let can_look = !self.probes.is_empty() && !self.pfaffian.has_branches(self.graph);
        if can_look && self.pfaffian.stated.len() <= MOST_ROWS {
            self.exact_rows();
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

    fn is_done(&self) -> bool {
        self.found.len() >= self.flag.n_integrals()
    }

    /// Adds a differential to those known, at every state of the flag; says whether it is new.
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
        let is_new = reduced.iter().all(|v| sign_of(v) == Sign::NotZero);
        if is_new {
            self.spans.iter_mut().zip(reduced).for_each(|(span, v)| {
                span.insert(v);
            });
        }
        is_new
    }

    /// Whether expressions vanish at every probe.
    fn vanish(&self, exprs: &[Expr]) -> bool {
        vanish(self.graph, &self.symbols, &self.probes, exprs)
    }

    /// The form Σ m α.
    fn form(&mut self, combination: &[(usize, Expr)]) -> SparseRow {
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

    fn is_closed(&mut self, entries: &SparseRow) -> bool {
        let curl: Vec<Expr> = curl(self.graph, &self.pfaffian.z, entries).into_iter().map(|(_, e)| e).collect();
        self.vanish(&curl)
    }

    /// Takes a combination whose form is closed, if it is new.
    fn take(&mut self, combination: Vec<(usize, Expr)>, entries: &SparseRow) -> bool {
        if self.is_done() || !self.remember(entries) {
            return false;
        }
        let potential = self.potential(entries);
        let combination = combination.into_iter().map(|(k, m)| (self.rows[k].row, m)).collect();
        let mut found = Found { combination, potential, varies: false };
        self.tidy(&mut found);
        self.found.push(found);
        true
    }

    /// Without fractions and with a plus in front; a row that is a rate as it stands stays as it is.
    fn tidy(&mut self, found: &mut Found) {
        let Some(phi) = found.potential else { return };
        if found.combination.iter().map(|(_, m)| *m).eq([Expr::ONE]) {
            return;
        }
        let terms = operands(self.graph, phi, |node| matches!(node, Node::Add(..)));
        let below = |e: Expr| match self.graph.node(e) {
            Node::Mul(a, _) => self.graph.number(a).and_then(|n| n.to_small()).map_or(1, |(_, q)| q),
            _ => 1,
        };
        // halves and thirds, not whatever a parameter's digits give
        let common = terms.iter().map(|t| below(*t)).fold(1, |a, b| if a % b == 0 { a } else { a * b });
        let common = if (1..=12).contains(&common) { common } else { 1 };
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

    /// Rows that are total time derivatives as they stand.
    fn exact_rows(&mut self) {
        for k in 0..self.rows.len() {
            let curl: Vec<Expr> = self.rows[k].curl.iter().map(|(_, e)| *e).collect();
            if self.vanish(&curl) {
                let entries = self.rows[k].entries.clone();
                self.take(vec![(k, Expr::ONE)], &entries);
            }
        }
    }

    /// Constants c with d(Σ c m α) = 0, for all rows α and the multipliers m; simple ones come first.
    fn ansatz(&mut self, multipliers: Vec<Expr>) {
        if self.is_done() || multipliers.is_empty() {
            return;
        }
        let most = (MOST_UNKNOWNS / self.rows.len()).max(1);
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

    /// Takes the combination that a null vector stands for, with coefficients that hold for other parameters if possible.
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
        let mut random = Random(7);
        let n = self.model.parameters.len();
        let probes: Vec<Sample> = self.probes.iter().map(|p| p.with_other_parameters(n, &mut random)).collect();
        let curl: Vec<Expr> = curl(self.graph, &self.pfaffian.z, entries).into_iter().map(|(_, e)| e).collect();
        vanish(self.graph, &self.symbols, &probes, &curl)
    }

    /// A number as a short fraction, perhaps times powers of two parameters.
    fn recognized(&mut self, c: f64, by_parameters: bool) -> Option<Expr> {
        let plain = fraction(c);
        if let (Some((p, q)), false) = (plain, by_parameters) {
            return Some(self.graph.rational(p, q));
        }
        const POWERS: [i32; 4] = [1, -1, 2, -2];
        let parameters: Vec<(Expr, f64)> = self.used_parameters();
        let trial = |graph: &mut Graph, factors: &[(Expr, f64, i32)]| {
            let size: f64 = factors.iter().map(|(_, v, n)| v.powi(*n)).product();
            // numbers such as 1/2 or -4, but nothing longer: a longer fraction fits anything
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
            // half as many equations again as unknowns leave no room for accidents
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

    /// Coordinates and functions of them that the rows contain: what multipliers are made of.
    fn atoms(&self) -> Vec<Expr> {
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

    /// Multipliers that are simple: 1, each atom with its partner, and its reciprocal.
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

    /// Single rows with an integrating factor μ = Π atomʷ: dα + d ln μ ∧ α = 0 is linear in the exponents w.
    fn integrating_factors(&mut self) {
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
            if left.sqrt() <= ROUNDING * dot(&right, &right).sqrt() {
                // factors that are finite everywhere come first
                let is_finite = w > 0.0 || matches!(self.graph.node(atoms[u]), Node::Apply(Function::Exp, _));
                let factor = self.power(&[(atoms[u], w)]);
                if is_finite { found.extend(factor) } else { singular.extend(factor) }
            }
        }
        found.extend(singular);
        // all together: the right side is one column more
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

    /// Φ with dΦ the form, variable by variable: Φ ← Φ + ∫ (aᵢ − ∂Φ/∂zᵢ) dzᵢ, in one order or the other.
    fn potential(&mut self, entries: &SparseRow) -> Option<Expr> {
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
        // whatever the integrals were, the derivatives decide
        let mut left = Vec::new();
        for (k, &s) in z.iter().enumerate() {
            let slope = self.graph.derivative(phi, s);
            let wanted = entries.iter().find(|(j, _)| *j == k).map_or(Expr::ZERO, |(_, a)| *a);
            left.push(self.graph.sub(slope, wanted));
        }
        self.vanish(&left).then_some(phi)
    }

    /// The expression without variables it does not really depend on: a number is put in for them.
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

    /// What is left: combinations whose rows are known but not their integral.
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
                if let Some(combination) = known.filter(|c| c.iter().all(|(k, _)| *k < self.rows.len())) {
                    let entries = self.form(&combination);
                    if self.remember(&entries) {
                        let combination = combination.into_iter().map(|(k, m)| (self.rows[k].row, m)).collect();
                        self.found.push(Found { combination, potential: None, varies: false });
                    }
                }
            }
        }
        // the others, by the rows that take part in them
        let mut rows: Vec<usize> = at_states[0].iter().flatten().map(|(k, _)| self.pfaffian.stated[*k].0).collect();
        rows.sort_unstable();
        rows.dedup();
        while !self.is_done() {
            let combination = rows.iter().map(|&row| (row, Expr::ONE)).collect();
            self.found.push(Found { combination, potential: None, varies: true });
        }
    }
}

/// α(v), exactly zero where it is rounding.
fn on(form: &[(usize, Noisy)], v: &[Noisy]) -> f64 {
    let sum = form.iter().map(|(k, a)| a.mul(v[*k])).fold(Noisy::default(), Noisy::add);
    if sum.sign() == Sign::Zero { 0.0 } else { sum.value() }
}

fn nearly_equal(a: &[(usize, f64)], b: &[(usize, f64)]) -> bool {
    /// Constant multipliers at states that are far apart agree to rounding; others differ by their own size.
    const SAME: f64 = 1e-7;
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() <= SAME * x.1.abs())
}

/// Whether expressions vanish wherever they are finite among the states, at two of them at least.
fn vanish(graph: &Graph, symbols: &[Expr], samples: &[Sample], exprs: &[Expr]) -> bool {
    /// So many states decide.
    const ENOUGH: usize = 4;
    if exprs.iter().all(|e| *e == Expr::ZERO) {
        return true;
    }
    let Ok(program) = Program::new(graph, symbols, exprs) else { return false };
    let values: Vec<Vec<Noisy>> = samples.iter().filter_map(|s| s.run(&program)).take(ENOUGH).collect();
    values.len() >= 2 && values.iter().all(|v| sign_of(v) == Sign::Zero)
}

/// dα: ∂aⱼ/∂zᵢ − ∂aᵢ/∂zⱼ for i < j, without what is zero by structure.
pub(super) fn curl(graph: &mut Graph, z: &[Expr], entries: &SparseRow) -> Curl {
    let mut slopes = vec![Vec::new(); z.len()];
    for &(k, a) in entries {
        let symbols = graph.symbols(a);
        for (i, s) in z.iter().enumerate() {
            if symbols.binary_search(s).is_ok() {
                let slope = graph.derivative(a, *s);
                slopes[k].push((i, slope));
            }
        }
    }
    let of = |k: usize, i: usize| slopes[k].iter().find(|(j, _)| *j == i).map_or(Expr::ZERO, |(_, e)| *e);
    let mut curl = Vec::new();
    for i in 0..z.len() {
        for j in i + 1..z.len() {
            let (left, right) = (of(j, i), of(i, j));
            let entry = graph.sub(left, right);
            if entry != Expr::ZERO {
                curl.push(((i, j), entry));
            }
        }
    }
    curl
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn unique(list: Vec<Expr>) -> Vec<Expr> {
    let mut seen = rustc_hash::FxHashSet::default();
    list.into_iter().filter(|e| seen.insert(*e)).collect()
}

/// For each column that earlier ones give, the relation Σ c column = 0: index and c, the column itself last with c = 1.
fn null_vectors(columns: &[Vec<f64>]) -> Vec<Vec<(usize, f64)>> {
    // kept columns, orthonormal, with what they are made of
    let mut basis: Vec<(Vec<f64>, Vec<(usize, f64)>)> = Vec::new();
    let mut found = Vec::new();
    let norms: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    for (k, column) in columns.iter().enumerate() {
        if norms[k] == 0.0 || !norms[k].is_finite() {
            found.extend((norms[k] == 0.0).then(|| vec![(k, 1.0)]));
            continue;
        }
        let mut rest: Vec<f64> = column.iter().map(|x| x / norms[k]).collect();
        let mut made = vec![(k, 1.0 / norms[k])];
        // twice is enough
        for _ in 0..2 {
            for (direction, of) in &basis {
                let along = dot(&rest, direction);
                rest.iter_mut().zip(direction).for_each(|(r, d)| *r -= along * d);
                made.extend(of.iter().map(|(j, c)| (*j, -along * c)));
            }
        }
        let made = gathered(made);
        let size = dot(&rest, &rest).sqrt();
        if size > ROUNDING {
            let direction = rest.iter().map(|r| r / size).collect();
            basis.push((direction, made.iter().map(|(j, c)| (*j, c / size)).collect()));
            continue;
        }
        // as multiples of the new column, without what is rounding
        let large = |j: usize, c: f64| (c * norms[j]).abs() > 10.0 * ROUNDING;
        let vector = made.iter().filter(|(j, c)| large(*j, *c)).map(|(j, c)| (*j, c * norms[k])).collect();
        found.push(vector);
    }
    found
}

/// One entry per index, in order.
fn gathered(mut list: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    list.sort_by_key(|(j, _)| *j);
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for (j, c) in list {
        match sums.last_mut() {
            Some((last, sum)) if *last == j => *sum += c,
            _ => sums.push((j, c)),
        }
    }
    sums
}

/// The fraction with a small denominator that a number is, if it is one to ten digits.
pub(super) fn fraction(x: f64) -> Option<(i64, i64)> {
    /// Larger numbers in a combination are accidents.
    const LARGEST: f64 = 1e4;
    if !x.is_finite() || x.abs() > LARGEST {
        return None;
    }
    let denominators = 1..=60_i64;
    denominators.into_iter().find_map(|q| {
        let p = (x * q as f64).round();
        (p != 0.0 && (x * q as f64 - p).abs() <= ROUNDING * p.abs()).then_some((p as i64, q))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// c₂ = 2 c₀ − c₁/3 and c₃ = 0.
    #[test]
    fn relations_between_columns_are_found() {
        let a = vec![1.0, 2.0, -1.0, 0.5];
        let b = vec![0.0, 3e6, 1e6, 7e6];
        let c = a.iter().zip(&b).map(|(a, b)| 2.0 * a - b / 3.0).collect();
        let vectors = null_vectors(&[a, b, c, vec![0.0; 4]]);
        assert_eq!(vectors.len(), 2);
        let wanted = [(0, -2.0), (1, 1.0 / 3.0), (2, 1.0)];
        assert!(vectors[0].iter().zip(wanted).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() < 1e-6), "{vectors:?}");
        assert_eq!(vectors[1], [(3, 1.0)]);
    }

    #[test]
    fn short_fractions_are_recognized() {
        assert_eq!(fraction(-0.75), Some((-3, 4)));
        assert_eq!(fraction(1.0 / 3.0), Some((1, 3)));
        assert_eq!(fraction(std::f64::consts::PI), None);
        assert_eq!(fraction(0.0), None);
    }
}
