//! States at which an expression could show that it is not zero: where its atoms act, on the constraints.
//!
//! tanh, exp and the like do something where their arguments are of order one, powers where their bases are. A state is sought by
//! Gauss–Newton with the least change, measured by the ranges of the symbols, on {constraints, argument = c}.

use rustc_hash::{FxHashMap, FxHashSet};
use zwang_expr::{Expr, Function, Graph, Interval, Node, Program};

use crate::equations::sharp::summands;
use crate::equations::zero::Tried;
use crate::equations::zero::certificate::{Conditions, box_around};
use crate::equations::zero::region::{FreeSymbol, Region, Witness};
use crate::{limits, random::scattered, tolerance};

/// The values at which arguments are aimed: in the middle, and where the slopes of bumps and of their derivatives are steep.
const ARGUMENTS: [f64; 4] = [0.0, 1.0 / 3.0, -0.7, -1.0];

/// The same for the bases of powers; 1/(1 + u²) is steep at u = 1.
const BASES: [f64; 3] = [2.0, 1.0, 0.5];

/// An argument, by its row among the conditions, and the value at which it is aimed.
type Aim = (usize, f64);

/// The search for states, and the expressions that are evaluated there.
pub(super) struct AimedStates {
    /// The symbols of the expressions and constraints that are free.
    free: Vec<FreeSymbol>,
    /// `true` for those that the first expression contains.
    is_shown: Vec<bool>,
    /// Constraints, then arguments.
    conditions: Conditions,
    n_zeros: usize,
    /// Groups of aims: none, one, or two of different arguments.
    aims: Vec<Vec<Aim>>,
    /// The first expression and its terms.
    values: Program,
    /// An atom that states are aimed at.
    atom: Option<String>,
    n_tried: usize,
}

impl AimedStates {
    /// Prepares the search for states at which the atoms of some expressions act.
    pub(super) fn new(graph: &Graph, exprs: &[Expr], region: &Region) -> AimedStates {
        let wanted = [exprs, &region.zeros].concat();
        let (mut part, all) = graph.part(&wanted);
        let known: FxHashMap<Expr, FreeSymbol> = region.free.iter().map(|f| (f.symbol, *f)).collect();
        let values: FxHashMap<Expr, f64> = region.fixed.iter().copied().collect();
        let (mut free, mut inputs, mut fixed, mut held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (old, new) in graph.symbols_of(&wanted).into_iter().zip(part.symbols_of(&all)) {
            match values.get(&old) {
                Some(value) => {
                    held.push(new);
                    fixed.push(*value);
                }
                None => {
                    let unknown = FreeSymbol { symbol: old, centre: 0.0, near: 1.0, width: 2.0, end: None };
                    free.push(known.get(&old).copied().unwrap_or(unknown));
                    inputs.push(new);
                }
            }
        }
        let is_small = part.len() <= limits::PROOF_NODES && free.len() <= limits::AIMED_SYMBOLS;
        let (exprs, zeros) = all.split_at(exprs.len());
        let own: FxHashSet<Expr> = inputs.iter().copied().collect();
        let atoms = if is_small { atoms(&part, exprs, &own) } else { Vec::new() };
        let zeros = if is_small { zeros } else { &[] };
        let arguments: Vec<Expr> = atoms.iter().map(|atom| atom.argument).collect();
        let rows: Vec<Expr> = zeros.iter().chain(&arguments).copied().collect();
        let symbols = [&inputs[..], &held].concat();
        let conditions = Conditions::new(&mut part, &rows, &inputs, &held, fixed);
        let first = exprs.first().copied().unwrap_or(Expr::ZERO);
        let shown = part.symbols(first);
        let outputs = [vec![first], summands(&part, first)].concat();
        let values = Program::new(&part, &symbols, &outputs).unwrap_or_else(|_| unreachable!("all symbols are inputs"));
        AimedStates {
            is_shown: inputs.iter().map(|s| shown.binary_search(s).is_ok()).collect(),
            free,
            conditions,
            n_zeros: zeros.len(),
            // without its constraints a state answers nothing
            aims: if is_small || region.zeros.is_empty() { aims(&atoms, zeros.len()) } else { Vec::new() },
            values,
            atom: atoms.first().and_then(|atom| part.text_limited(atom.expr, limits::FORMULA_CHARACTERS)),
            n_tried: 0,
        }
    }

    /// What was tried.
    pub(super) fn tried(&self) -> Tried {
        Tried { n_states: self.n_tried, atom: self.atom.clone() }
    }

    /// The states found, as values of all free symbols of a region; symbols that no expression contains keep their centres.
    pub(super) fn all_values(&self, region: &Region) -> Vec<Vec<f64>> {
        let place = |symbol: Expr| self.free.iter().position(|own| own.symbol == symbol);
        let places: Vec<Option<usize>> = region.free.iter().map(|f| place(f.symbol)).collect();
        let spread = |z: Vec<f64>| {
            let value = |(f, at): (&FreeSymbol, &Option<usize>)| at.map_or(f.centre, |k| z[k]);
            region.free.iter().zip(&places).map(value).collect()
        };
        // random states are no aimed ones
        let found: Vec<Vec<f64>> =
            (0..self.aims.len()).filter(|k| !self.aims[*k].is_empty()).filter_map(|k| self.state(k)).collect();
        found.into_iter().map(spread).collect()
    }

    /// The largest certified value of the first expression at so many states or all, with its share in the terms that cancel in it.
    pub(super) fn largest_witness(&mut self, n_compared: usize) -> Option<(Witness, f64)> {
        let mut best: Option<(Witness, f64)> = None;
        for k in 0..self.aims.len() {
            let Some(z) = self.state(k) else { continue };
            self.n_tried += 1;
            let Some((value, share)) = self.certified(&z) else { continue };
            let witness = self.witness(value, &z);
            // a state of the run is better than one after it
            let rank = |w: &Witness| (!w.is_beyond, w.value.abs());
            if best.as_ref().is_none_or(|(known, _)| rank(&witness) > rank(known)) {
                best = Some((witness, share));
            }
            let is_enough = |(w, share): &(Witness, f64)| *share > tolerance::CLEAR_VALUE && !w.is_beyond;
            if self.n_tried >= n_compared && best.as_ref().is_some_and(is_enough) {
                break;
            }
        }
        best
    }

    fn witness(&self, value: f64, z: &[f64]) -> Witness {
        let is_beyond = self.free.iter().zip(z).any(|(f, x)| f.end.is_some_and(|end| *x > end || *x < end - f.width));
        let shown = self.free.iter().zip(z).zip(&self.is_shown).filter(|(_, shown)| **shown);
        let at = shown.map(|((f, x), _)| (f.symbol, *x)).collect();
        Witness { value, at, is_beyond }
    }

    /// The bound of the first expression that is nearest to zero, and its part in its terms, if an interval without zero proves it.
    fn certified(&self, z: &[f64]) -> Option<(f64, f64)> {
        let width: Vec<f64> = self.free.iter().map(|f| f.width).collect();
        let state = box_around(&self.conditions, self.n_zeros, z, &width)?;
        let inputs = self.conditions.with_fixed(&state);
        let mut values = vec![Interval::WHOLE; self.values.n_outputs()];
        self.values.enclose(&inputs, &mut self.values.enclosure_workspace(), &mut values);
        let value = values[0];
        if value.contains(0.0) || !value.is_bounded() {
            return None;
        }
        let size: f64 = values[1..].iter().map(|v| v.magnitude()).sum();
        let nearest = if value.lo() > 0.0 { value.lo() } else { value.hi() };
        Some((nearest, nearest.abs() / size))
    }

    /// The state of one group of aims; `None` if none was found.
    fn state(&self, k: usize) -> Option<Vec<f64>> {
        let rows: Vec<Aim> = (0..self.n_zeros).map(|i| (i, 0.0)).chain(self.aims[k].iter().copied()).collect();
        let from = |far: bool| -> Vec<f64> {
            let drawn = |(j, f): (usize, &FreeSymbol)| {
                let reach = if far { f.width } else { f.near };
                // another place for each symbol and each state
                f.centre + reach * scattered(f.symbol.index() + j, k)
            };
            self.free.iter().enumerate().map(drawn).collect()
        };
        self.solved(from(false), &rows).or_else(|| self.solved(from(true), &rows))
    }

    /// Gauss–Newton with the least change relative to the ranges.
    fn solved(&self, mut z: Vec<f64>, rows: &[Aim]) -> Option<Vec<f64>> {
        if rows.is_empty() {
            return Some(z);
        }
        let is_near = |misses: &[f64], norms: &[f64], accuracy: f64| {
            let is_met = |(k, miss): (usize, &f64)| match k < self.n_zeros {
                true => miss.abs() <= tolerance::ON_CONSTRAINT * norms[k],
                false => miss.abs() <= accuracy,
            };
            misses.iter().enumerate().all(is_met)
        };
        for _ in 0..limits::AIMED_STEPS {
            let (values, slopes) = self.conditions.at(&z)?;
            let scaled: Vec<Vec<f64>> = rows.iter().map(|(i, _)| self.scaled(&slopes[*i])).collect();
            let misses: Vec<f64> = rows.iter().map(|(i, c)| c - values[*i]).collect();
            let norms: Vec<f64> = scaled.iter().map(|row| length(row)).collect();
            if is_near(&misses, &norms, tolerance::AIMED) {
                return Some(z);
            }
            let step = least_step(&scaled, &misses);
            let longest = step.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
            if longest <= f64::EPSILON {
                return is_near(&misses, &norms, tolerance::AIMED_ROUGHLY).then_some(z);
            }
            // no further than the range
            let part = (1.0 / longest).min(1.0);
            z.iter_mut().zip(&self.free).zip(&step).for_each(|((z, f), d)| *z += part * f.width * d);
        }
        let (values, slopes) = self.conditions.at(&z)?;
        let misses: Vec<f64> = rows.iter().map(|(i, c)| c - values[*i]).collect();
        let norms: Vec<f64> = rows.iter().map(|(i, _)| length(&self.scaled(&slopes[*i]))).collect();
        is_near(&misses, &norms, tolerance::AIMED_ROUGHLY).then_some(z)
    }

    fn scaled(&self, row: &[f64]) -> Vec<f64> {
        row.iter().zip(&self.free).map(|(x, f)| x * f.width).collect()
    }
}

/// The shortest d with rows · d = misses; rows that depend on earlier ones are left out.
fn least_step(rows: &[Vec<f64>], misses: &[f64]) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    let (mut step, mut basis) = (vec![0.0; n], Vec::<Vec<f64>>::new());
    for (row, miss) in rows.iter().zip(misses) {
        let mut rest = row.clone();
        // two passes suffice
        for _ in 0..2 {
            for direction in &basis {
                let along = product(&rest, direction);
                rest.iter_mut().zip(direction).for_each(|(x, y)| *x -= along * y);
            }
        }
        let left = length(&rest);
        if left <= tolerance::NEW_DIRECTION * length(row) {
            continue;
        }
        rest.iter_mut().for_each(|x| *x /= left);
        let missing = (miss - product(row, &step)) / left;
        step.iter_mut().zip(&rest).for_each(|(x, y)| *x += missing * y);
        basis.push(rest);
    }
    step
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn length(a: &[f64]) -> f64 {
    product(a, a).sqrt()
}

/// A subexpression that acts where its argument is of order one.
struct SharpAtom {
    expr: Expr,
    argument: Expr,
    aims: &'static [f64],
}

/// The atoms of some expressions that depend on free symbols, each argument once.
fn atoms(graph: &Graph, exprs: &[Expr], free: &FxHashSet<Expr>) -> Vec<SharpAtom> {
    use Function::*;
    let (mut seen, mut open) = (FxHashSet::default(), exprs.to_vec());
    let (mut found, mut arguments) = (Vec::new(), FxHashSet::default());
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        let node = graph.node(e);
        let acts = match node {
            Node::Apply(Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Tan | Abs | Sign, u) => {
                Some((u, &ARGUMENTS[..]))
            }
            Node::Pow(u, n) if graph.number(n).is_none_or(is_sharp_power) => Some((u, &BASES[..])),
            _ => None,
        };
        if let Some((argument, aims)) = acts
            && found.len() < limits::AIMED_ATOMS
            && graph.symbols(argument).iter().any(|s| free.contains(s))
            && arguments.insert(argument)
        {
            found.push(SharpAtom { expr: e, argument, aims });
        }
        open.extend_from_slice(&node.operands());
    }
    found.sort_by_key(|atom| atom.expr);
    found
}

/// `true` for exponents that are negative, broken or above four.
fn is_sharp_power(n: &zwang_expr::Number) -> bool {
    n.is_negative() || n.to_i64().is_none_or(|n| n > 4)
}

/// Random states first, then single arguments, then pairs.
fn aims(atoms: &[SharpAtom], first_row: usize) -> Vec<Vec<Aim>> {
    let mut aims: Vec<Vec<Aim>> = vec![Vec::new(); limits::GENERIC_STATES];
    let most = atoms.iter().map(|atom| atom.aims.len()).max().unwrap_or(0);
    let of = |k: usize, at: usize| (first_row + k, atoms[k].aims[at % atoms[k].aims.len()]);
    for at in 0..most {
        aims.extend((0..atoms.len()).filter(|&k| at < atoms[k].aims.len()).map(|k| vec![of(k, at)]));
    }
    aims.truncate(limits::AIMED_STATES);
    // both where they are steep, then both in the middle
    for at in [2, 0] {
        for k in 0..atoms.len() {
            aims.extend((0..k).map(|j| vec![of(j, at), of(k, at)]));
        }
    }
    aims.truncate(limits::AIMED_STATES + limits::AIMED_PAIRS);
    aims
}
