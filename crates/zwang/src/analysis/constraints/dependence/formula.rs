//! One dependent row: its factors, as a formula if there is one, and whether the dependence is proved.

use zwang_expr::{Algebra, Expr, Graph, Limits, Node, Program};
use zwang_motion::{Dependence, Dynamics, Matrix, Settings, State, dependence};

use crate::compile::evaluator::Evaluator;
use crate::equations::Equations;
use crate::equations::zero::{Region, aimed_states, is_zero};
use crate::model::{Level, Model};
use crate::quantity::rounded;
use crate::random::scattered;
use crate::{
    analysis::constraints::dependence::{DependenceAway, Dependencies, Evidence, Redundant},
    limits, tolerance,
};

/// The limits of one proof: it must cost less than it saves.
const LIMITS: Limits = Limits { terms: 400, work: 100_000, total: 300_000 };

/// The algebra in which rows are compared.
fn algebra(graph: &mut Graph, exprs: &[Expr]) -> Algebra {
    Algebra::new(graph, exprs, LIMITS)
}

/// The inputs for the analysis of one dependent row.
pub(super) struct FormulaQuery<'a> {
    pub(super) equations: &'a mut Equations,
    pub(super) system: &'a Evaluator,
    pub(super) state: &'a State,
    pub(super) found: &'a Dependencies,
    pub(super) settings: &'a Settings,
}

/// Formulas for the factors; `proved` if the identity between the rows is proved.
struct FactorFormulas {
    factors: Vec<Expr>,
    proved: bool,
}

impl FormulaQuery<'_> {
    /// The analysis of one dependent row.
    pub(super) fn at(&mut self, row: usize, terms: &[(usize, f64)], wants_formula: bool) -> Redundant {
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
        // where the dependence holds at other states on the constraints, it may still end farther away
        let is_held = !is_proved && n > 0 && self.is_given_elsewhere(row);
        let ends_at = if is_held { self.end(row, terms) } else { None };
        let may_change = changes(&row) || terms.iter().any(|(k, _)| changes(k));
        let evidence = match n {
            _ if is_proved => Evidence::Proved,
            _ if ends_at.is_some() => Evidence::Failed(n + 1),
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
        let near = |numbers: &Vec<f64>| {
            numbers.iter().zip(terms).all(|(x, (_, c))| (x - c).abs() <= tolerance::FACTORS_AGREE * c.abs())
        };
        let likeness = match &elsewhere {
            Some(numbers) if numbers.iter().all(near) => DependenceAway::Same,
            Some(_) => DependenceAway::Factors,
            None => DependenceAway::Rows,
        };
        let names = &self.equations.rows;
        let depends_on = terms.iter().map(|(k, c)| (names[*k].name.clone(), *c)).collect();
        let row_name = names[row].name.clone();
        let rest = formula.as_ref().filter(|_| !is_proved).and_then(|f| self.rest(row, terms, &f.factors));
        let formula = formula.filter(|_| everywhere == Some(true)).and_then(|f| self.text(row, terms, &f.factors));
        let asked_share = self.asked_share(row, terms);
        Redundant { row: row_name, depends_on, formula, everywhere, evidence, likeness, rest, ends_at, asked_share }
    }

    /// `true` if this row is dependent at every other state.
    ///
    /// If the rank is the same there, it suffices that the row takes part in a dependence: the order of the rows
    /// decides which of them comes out as the dependent one.
    fn is_given_elsewhere(&self, row: usize) -> bool {
        let is_dependent = |d: &Dependence| d.vanished.contains(&row) || d.dependent.iter().any(|(r, _)| *r == row);
        let takes_part = |d: &Dependence| d.dependent.iter().any(|(_, terms)| terms.iter().any(|(k, _)| *k == row));
        let is_singular = self.found.is_singular();
        self.found.there.iter().all(|d| is_dependent(d) || (!is_singular && takes_part(d)))
    }

    /// A state at which a position row does not depend on the rows that give it here, although these hold there.
    ///
    /// r is constant where the others hold, on every branch, if ∂r is a combination of their gradients there. The states are those
    /// at which the formulas of the rows act, which random states near the start may never see.
    fn end(&mut self, row: usize, terms: &[(usize, f64)]) -> Option<String> {
        let Equations { rows, model, .. } = &*self.equations;
        let family: Vec<usize> = terms.iter().map(|(k, _)| *k).chain([row]).collect();
        if family.iter().any(|k| rows[*k].level != Level::Position) {
            return None;
        }
        let residuals: Vec<Expr> = family.iter().map(|k| rows[*k].residual).collect();
        let given: Vec<usize> = self.found.here.dependent.iter().map(|(k, _)| *k).collect();
        let others = (0..rows.len()).filter(|k| rows[*k].level == Level::Position && !given.contains(k));
        let region = Region { zeros: others.map(|k| rows[k].residual).collect(), ..Region::around(model, self.state) };
        let n = self.state.q.len();
        for values in aimed_states(&model.graph, &residuals, &region) {
            let there = State { t: values[0], q: values[1..=n].to_vec(), qdot: self.state.qdot.clone() };
            let mut system = self.system.clone();
            let mut quantities = system.allocate();
            if system.fill(&there, &mut quantities).is_err() {
                continue;
            }
            let held: Vec<usize> = (0..rows.len()).filter(|k| *k == row || !given.contains(k)).collect();
            let part = self.found.rows(&quantities).rows(&held);
            let Ok(found) = dependence(&part, self.settings) else { continue };
            let at = held.iter().position(|k| *k == row)?;
            let is_clear = found.gap.kept >= tolerance::INDEPENDENT_ROW && found.vanished.is_empty();
            if is_clear && found.independent.contains(&at) && found.rank == held.len() {
                return Some(place(model, &there, &residuals));
            }
        }
        None
    }

    /// `true` if a row is a multiple of another one, by division.
    fn is_multiple(&mut self, row: usize, terms: &[(usize, f64)]) -> bool {
        let [(k, _)] = terms else { return false };
        let (whole, part) = (&self.equations.rows[row], &self.equations.rows[*k]);
        let pair = match whole.level == part.level {
            true => Some((whole.residual, part.residual)),
            false => whole.rate.zip(part.rate),
        };
        pair.is_some_and(|(whole, part)| !self.quotients(whole, part).is_empty())
    }

    /// The factors of the same rows at each of the other states; `None` if the row does not depend on these rows there.
    fn factors_elsewhere(&self, row: usize, terms: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let each = self.found.elsewhere.states.iter();
        each.map(|(_, given)| factors(&self.found.rows(given), row, terms, self.settings)).collect()
    }

    /// Formulas for the factors that agree with the numbers at every state that was evaluated.
    fn formula(
        &mut self,
        row: usize,
        terms: &[(usize, f64)],
        elsewhere: Option<&[Vec<f64>]>,
    ) -> Option<FactorFormulas> {
        let here: Vec<f64> = terms.iter().map(|(_, c)| *c).collect();
        let elsewhere = elsewhere?;
        let level = |k: usize| self.equations.rows[k].level;
        // rows of one level are compared as written, rows of different levels as rates
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
        // proved formulas first, then the shortest
        let graph = &self.equations.model.graph;
        candidates.sort_by_key(|c| (!c.proved, c.factors.iter().map(|e| graph.size(*e)).sum::<usize>()));
        candidates.into_iter().find(|c| self.agrees(c, &here, elsewhere))
    }

    /// whole = factor · part by division of one by the other, which is a proof.
    fn quotients(&mut self, whole: Expr, part: Expr) -> Vec<FactorFormulas> {
        let graph = &mut self.equations.model.graph;
        let mut algebra = algebra(graph, &[whole, part]);
        let (quotient, is_divisor) = match algebra.quotient(graph, whole, part) {
            Some(quotient) => (quotient, false),
            None => match algebra.quotient(graph, part, whole) {
                Some(quotient) => (quotient, true),
                None => return Vec::new(),
            },
        };
        // the rows agree on the constraint, where the factor may be simpler
        let mut forms = algebra.on_zero_of(graph, quotient, part);
        forms.push(quotient);
        let mut found = Vec::new();
        for form in forms {
            let factor = if is_divisor { graph.div(Expr::ONE, form) } else { form };
            found.push(FactorFormulas { factors: vec![factor], proved: true });
        }
        found
    }

    /// whole = Σ factor · part by division, with the parts in their order and in reverse order.
    fn cofactors(&mut self, whole: Expr, parts: &[Expr]) -> Vec<FactorFormulas> {
        let graph = &mut self.equations.model.graph;
        let mut parts = parts.to_vec();
        let mut algebra = algebra(graph, &[&[whole], &parts[..]].concat());
        let forward = algebra.cofactors(graph, whole, &parts);
        parts.reverse();
        let mut backward = algebra.cofactors(graph, whole, &parts);
        backward.iter_mut().for_each(|quotients| quotients.reverse());
        let proved = |factors: Vec<Expr>| FactorFormulas { factors, proved: true };
        [forward, backward].into_iter().flatten().map(proved).collect()
    }

    /// Factors that are the same simple fractions at every state.
    fn constants(
        &mut self,
        here: &[f64],
        elsewhere: &[Vec<f64>],
        whole: Expr,
        parts: &[Expr],
    ) -> Option<FactorFormulas> {
        let same = |k: usize| {
            elsewhere.iter().all(|there| (there[k] - here[k]).abs() <= tolerance::FACTORS_AGREE * here[k].abs())
        };
        let fractions: Vec<(i64, i64)> =
            (0..here.len()).map(|k| fraction(here[k]).filter(|_| same(k))).collect::<Option<_>>()?;
        let graph = &mut self.equations.model.graph;
        let factors: Vec<Expr> = fractions.iter().map(|(p, q)| graph.rational(*p, *q)).collect();
        let proved = self.is_identity(whole, parts, &factors);
        // numbers at a single state do not show that the factors are constant
        (proved || !elsewhere.is_empty()).then_some(FactorFormulas { factors, proved })
    }

    /// Factors as quotients of entries: a column that the dependent row shares with one row only gives the factor of
    /// that row.
    fn by_columns(&mut self, row: usize, terms: &[(usize, f64)], whole: Expr, parts: &[Expr]) -> Vec<FactorFormulas> {
        let entry = |equations: &Equations, k: usize, j: usize| {
            let coefficients = &equations.rows[k].coefficients;
            coefficients.iter().find(|(c, _)| *c == j).map(|(_, e)| *e)
        };
        let mut choices: Vec<Vec<Expr>> = Vec::new();
        for (k, _) in terms {
            let mut quotients = Vec::new();
            for (j, own) in self.equations.rows[*k].coefficients.clone().into_iter().take(limits::QUOTIENT_COLUMNS) {
                let alone = terms.iter().all(|(other, _)| other == k || entry(self.equations, *other, j).is_none());
                let Some(of_row) = entry(self.equations, row, j).filter(|_| alone) else { continue };
                quotients.push(self.equations.model.graph.div(of_row, own));
            }
            let graph = &self.equations.model.graph;
            quotients.sort_by_key(|e| graph.size(*e));
            choices.push(quotients);
        }
        // the n-th shortest of each row
        let n = choices.iter().map(Vec::len).min().unwrap_or(0);
        let mut found = Vec::new();
        for pick in 0..n {
            let factors: Vec<Expr> = choices.iter().map(|c| c[pick]).collect();
            let proved = self.is_identity(whole, parts, &factors);
            found.push(FactorFormulas { factors, proved });
        }
        found
    }

    /// row − Σ factor · part of rows with constant coefficients, if it is not zero: such rows differ everywhere,
    /// however little.
    fn rest(&mut self, row: usize, terms: &[(usize, f64)], factors: &[Expr]) -> Option<String> {
        let Equations { rows, model, .. } = &mut *self.equations;
        let graph = &mut model.graph;
        let is_constant = |e: &Expr| graph.constant_value(*e).is_some();
        let is_affine = |k: usize| rows[k].coefficients.iter().all(|(_, e)| is_constant(e));
        let all_affine = terms.iter().all(|(k, _)| is_affine(*k)) && is_affine(row);
        if !all_affine || !factors.iter().all(is_constant) {
            return None;
        }
        let of = |k: usize| rows.get(k).filter(|r| r.level == rows[row].level).map(|r| r.residual);
        let mut sum = of(row)?;
        for ((k, _), factor) in terms.iter().zip(factors) {
            let product = graph.mul(*factor, of(*k)?);
            sum = graph.sub(sum, product);
        }
        let rest = algebra(graph, &[sum]).shortest(graph, sum)?;
        let unknown = |s: &Expr| model.parameters.iter().any(|p| p.symbol == *s);
        match rest == Expr::ZERO || graph.symbols(rest).iter().any(unknown) {
            true => None,
            false => graph.text_limited(rest, limits::FACTOR_CHARACTERS),
        }
    }

    /// A row of the dependence whose multiplier enters a nonideal law; `None` if the law depends on the sum only, so
    /// that another split of the same force, λ with Aᵀλ unchanged, leaves C unchanged.
    fn asked_share(&self, row: usize, terms: &[(usize, f64)]) -> Option<String> {
        let Equations { model, rows, nonideal_force, .. } = &*self.equations;
        let used = model.graph.symbols_of(nonideal_force);
        let mut family = terms.iter().map(|(k, _)| *k).chain([row]);
        let asked = family.find(|k| used.contains(&rows[*k].lambda))?;
        let symbols: Vec<Expr> = model.state_symbols().into_iter().chain(rows.iter().map(|r| r.lambda)).collect();
        let first = symbols.len() - rows.len();
        let split = |s: f64| {
            let program = Program::new(&model.graph, &symbols, nonideal_force).ok()?;
            let mut inputs = model.state_values(self.state);
            // at rest a friction law has no effect
            let n = self.state.q.len();
            (0..n).for_each(|k| inputs[1 + n + k] += scattered(k, 1));
            inputs.extend((0..rows.len()).map(|k| scattered(k, 0)));
            inputs[first + row] += s;
            terms.iter().for_each(|(k, c)| inputs[first + k] -= c * s);
            let mut force = vec![0.0; nonideal_force.len()];
            program.run(&inputs, &mut program.workspace(), &mut force);
            Some(force)
        };
        let same = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance::FACTORS_AGREE * x.abs().max(y.abs());
        let sees_sum_only = split(0.0).zip(split(1.0)).is_some_and(|(x, y)| x.iter().zip(&y).all(same));
        (!sees_sum_only).then(|| rows[asked].name.clone())
    }

    /// `true` if whole = Σ factor · part, by expansion.
    fn is_identity(&mut self, whole: Expr, parts: &[Expr], factors: &[Expr]) -> bool {
        let graph = &mut self.equations.model.graph;
        let products: Vec<Expr> = parts.iter().zip(factors).map(|(part, factor)| graph.mul(*part, *factor)).collect();
        let sum = graph.sum(&products);
        let rest = graph.sub(whole, sum);
        is_zero(graph, rest)
    }

    /// `true` if formulas give the numbers at every state; without other states only a proof counts.
    fn agrees(&self, formula: &FactorFormulas, here: &[f64], elsewhere: &[Vec<f64>]) -> bool {
        let close = |state: &State, numbers: &[f64]| {
            let values = self.system.evaluate(&self.equations.model, state, &formula.factors);
            values.is_some_and(|values| {
                values
                    .iter()
                    .zip(numbers)
                    .all(|(v, c)| (v - c).abs() <= tolerance::FACTORS_AGREE * c.abs().max(v.abs()))
            })
        };
        let states = self.found.elsewhere.states.iter().map(|(state, _)| state);
        close(self.state, here)
            && states.zip(elsewhere).all(|(state, numbers)| close(state, numbers))
            && (formula.proved || !elsewhere.is_empty())
    }

    /// `2*l*rod[2]`, if it is short; a row that enters by its rate is written `rod'`.
    fn text(&mut self, row: usize, terms: &[(usize, f64)], factors: &[Expr]) -> Option<String> {
        let graph = &mut self.equations.model.graph;
        let mut text = String::new();
        let rows = &self.equations.rows;
        for ((k, _), factor) in terms.iter().zip(factors) {
            let marks = "'".repeat(order(rows[row].level) - order(rows[*k].level).min(order(rows[row].level)));
            let name = &format!("{}{marks}", rows[*k].name);
            let term = match graph.node(*factor) {
                // a sum is written before the name, in parentheses
                Node::Add(..) => format!("({})*{name}", graph.text_limited(*factor, limits::FACTOR_CHARACTERS)?),
                Node::Apply(..) | Node::Symbol(_) => {
                    format!("{}*{name}", graph.text_limited(*factor, limits::FACTOR_CHARACTERS)?)
                }
                _ => {
                    let symbol = graph.symbol(name, name);
                    let product = graph.mul(*factor, symbol);
                    graph.text_limited(product, limits::FACTOR_CHARACTERS)?
                }
            };
            match term.strip_prefix('-') {
                _ if text.is_empty() => text = term,
                Some(term) => text.push_str(&format!(" - {term}")),
                None => text.push_str(&format!(" + {term}")),
            }
        }
        (text.chars().count() <= limits::FACTOR_CHARACTERS).then_some(text)
    }
}

/// The values of the coordinates and the time that some expressions contain: `t = 3, x = 5.16`.
fn place(model: &Model, state: &State, exprs: &[Expr]) -> String {
    let used = model.graph.symbols_of(exprs);
    let time = std::iter::once((model.time, state.t));
    let all = time.chain(model.coordinates.iter().map(|c| c.q).zip(state.q.iter().copied()));
    let shown = all.filter(|(s, _)| used.binary_search(s).is_ok()).take(limits::FEW_NAMES);
    let texts: Vec<String> = shown.map(|(s, x)| format!("{} = {}", model.graph.name(s), rounded(x, 3))).collect();
    texts.join(", ")
}

/// The number of differentiations from positions to a level.
fn order(level: Level) -> usize {
    match level {
        Level::Position => 0,
        Level::Velocity => 1,
        Level::Acceleration => 2,
    }
}

/// The factors with which some rows give another one; `None` if it does not depend on them.
#[allow(non_snake_case)]
fn factors(A: &Matrix, row: usize, terms: &[(usize, f64)], settings: &Settings) -> Option<Vec<f64>> {
    let rows: Vec<usize> = terms.iter().map(|(k, _)| *k).chain([row]).collect();
    let found = dependence(&A.rows(&rows), settings).ok()?;
    let (_, combination) = found.dependent.iter().find(|(i, _)| *i == terms.len())?;
    let mut factors = vec![0.0; terms.len()];
    combination.iter().for_each(|(k, c)| factors[*k] = *c);
    Some(factors)
}

/// A number as a fraction with a small denominator, times a power of ten: rows may be written in any unit.
fn fraction(x: f64) -> Option<(i64, i64)> {
    /// The largest power of ten: beyond it the fraction does not fit into 64 bits.
    const DIGITS_OF_FRACTION: f64 = 14.0;
    if let Some(found) = plain_fraction(x) {
        return Some(found);
    }
    let digits = x.abs().log10().floor();
    if !digits.is_finite() || digits.abs() > DIGITS_OF_FRACTION {
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
    /// The largest denominator: a larger one would fit any number to twelve digits.
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
        if (now.0 as f64 / now.1 as f64 - x).abs() <= tolerance::ROUNDING * x.abs() {
            return Some(now);
        }
        rest = 1.0 / (rest - whole);
    }
    None
}
