//! Determinacy of the constraint forces: the combinations of multipliers that the model determines, and the
//! indeterminate ones.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Program};
use zwang_motion::{Dependence, Given, Snapshot, State, StateQuantities};

use crate::equations::Equations;
use crate::model::{Derived, Shape};
use crate::{analysis::constraints::dependence::Dependencies, tolerance};

/// A linear combination of multipliers, by the names of their rows.
pub type Combination = Vec<(String, f64)>;

/// Rows whose multipliers can be changed together without changing the force Aᵀλ.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The names of the rows.
    pub rows: Vec<String>,
    /// Independent changes of the multipliers that make no force: Aᵀy = 0. Their number is the family's dimension.
    pub directions: Vec<Combination>,
    /// The determined combinations: their number is that of the rows minus the dimension.
    pub determined: Vec<Combination>,
}

/// A displayed quantity that depends on multipliers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name: that of an output, a curve or a drawn force.
    pub name: String,
    /// `true` if the model determines it at this state.
    pub here: bool,
    /// `true` if the model determines it in general; `None` if no other states were found.
    pub general: Option<bool>,
}

/// The determined and the indeterminate quantities; empty if all multipliers are unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Determinacy {
    /// The families of multipliers at this state.
    pub families: Vec<Family>,
    /// The quantities that depend on multipliers.
    pub quantities: Vec<Quantity>,
}

impl Determinacy {
    /// The rows whose multiplier belongs to a family.
    pub fn rows(&self) -> Vec<String> {
        self.families.iter().flat_map(|f| f.rows.iter().cloned()).collect()
    }

    /// `true` if the quantity of this name is known to be indeterminate along the motion.
    pub fn is_choice(&self, name: &str) -> bool {
        self.quantities.iter().any(|q| q.name == name && !q.general.unwrap_or(q.here))
    }

    /// `true` if the quantity of this name is indeterminate at this state.
    pub fn is_choice_here(&self, name: &str) -> bool {
        self.quantities.iter().any(|q| q.name == name && !q.here)
    }
}

/// A state with the changes of the multipliers that make no force there.
struct FreeMultipliers<'a> {
    state: &'a State,
    given: &'a Given,
    changes: Vec<Change>,
    /// The indices of the changes in which each row takes part.
    changes_of: FxHashMap<usize, Vec<usize>>,
    /// The values of the state symbols, in their order.
    values: Vec<f64>,
}

impl<'a> FreeMultipliers<'a> {
    fn new(equations: &Equations, state: &'a State, given: &'a Given, d: &Dependence) -> FreeMultipliers<'a> {
        let changes = changes(d);
        let mut changes_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, change) in changes.iter().enumerate() {
            change.iter().for_each(|(k, _)| changes_of.entry(*k).or_default().push(at));
        }
        FreeMultipliers { state, given, changes, changes_of, values: equations.model.state_values(state) }
    }
}

/// The determinacy of multipliers and quantities at a state and in general.
pub fn determinacy(equations: &Equations, snapshot: &Snapshot, rows: &Dependencies) -> Determinacy {
    let here = FreeMultipliers::new(equations, &snapshot.state, &snapshot.given, &rows.here);
    if here.changes.is_empty() {
        return Determinacy::default();
    }
    let there = rows.elsewhere.states.iter().zip(&rows.there);
    let general: Vec<FreeMultipliers> = there
        .filter(|(_, d)| Some(d.rank) == rows.rank_elsewhere())
        .map(|((state, given), d)| FreeMultipliers::new(equations, state, given, d))
        .collect();
    let mut quantities: Vec<Quantity> = Vec::new();
    let mut named: FxHashMap<String, usize> = FxHashMap::default();
    let sources = sources(equations);
    for (name, expr) in shown(equations) {
        let mut probe = Probe::new(equations, &sources, &snapshot.found, expr);
        let powers = powers(equations, expr);
        if probe.is_none() && powers.is_empty() {
            continue;
        }
        let mut stays = |place: &FreeMultipliers| {
            probe.as_mut().is_none_or(|probe| probe.stays(place))
                && powers.iter().all(|sum| power_stays(equations, place, sum))
        };
        let here = stays(&here);
        let general = (!general.is_empty()).then(|| general.iter().all(&mut stays));
        // components of a drawn force share a name: it is determined if all of them are
        match named.get(&name).map(|at| &mut quantities[*at]) {
            Some(other) => {
                other.here &= here;
                other.general = other.general.zip(general).map(|(a, b)| a && b);
            }
            None => {
                named.insert(name.clone(), quantities.len());
                quantities.push(Quantity { name, here, general });
            }
        }
    }
    Determinacy { families: families(equations, &rows.here), quantities }
}

/// Powers of constraints with constant factors.
type Powers = Vec<(usize, f64)>;

/// The sums of powers that must not change for an expression to be determined: one sum of all powers in it and one of
/// all works, if they enter with constant factors; otherwise each power alone.
fn powers(equations: &Equations, expr: Expr) -> Vec<Powers> {
    let model = &equations.model;
    let (mut powers, mut works) = (Vec::new(), Vec::new());
    for symbol in model.graph.symbols(expr) {
        match model.derived.get(&symbol) {
            Some(Derived::Power(c)) => powers.push((symbol, *c)),
            Some(Derived::Work(c)) => works.push((symbol, *c)),
            _ => {}
        }
    }
    if powers.is_empty() && works.is_empty() {
        return Vec::new();
    }
    let mut graph = model.graph.clone();
    let mut times_numbers = |symbols: &[(Expr, usize)]| -> Option<Powers> {
        let number = |&(symbol, c): &(Expr, usize)| {
            let slope = graph.derivative(expr, symbol);
            Some((c, graph.constant_value(slope)?))
        };
        symbols.iter().map(number).collect()
    };
    match (times_numbers(&powers), times_numbers(&works)) {
        (Some(powers), Some(works)) => vec![powers, works],
        _ => powers.iter().chain(&works).map(|(_, c)| vec![(*c, 1.0)]).collect(),
    }
}

/// `true` if no change of the multipliers that makes no force changes a sum of powers, Σ λᵢ Aᵢ q̇ over the rows of each
/// constraint.
fn power_stays(equations: &Equations, place: &FreeMultipliers, powers: &Powers) -> bool {
    let mass = |j: usize| place.given.mass_matrix.get(j, j).max(0.0);
    let rates = &place.state.qdot;
    let whole: f64 = rates.iter().enumerate().map(|(j, v)| mass(j) * v * v).sum::<f64>().sqrt();
    // a velocity that should be zero has the rounding error of coordinates that move with the same energy
    let usual = |j: usize| if mass(j) > 0.0 { whole / mass(j).sqrt() } else { rates[j].abs() };
    let power = |k: usize| {
        let (columns, values) = place.given.constraint_matrix.row(k);
        let terms = columns.iter().zip(values).map(|(&j, a)| (a * rates[j], a.abs() * usual(j)));
        terms.fold((0.0, 0.0), |(sum, size), (x, by)| (sum + x, size + by))
    };
    let weight = |k: usize| powers.iter().find(|(c, _)| *c == equations.rows[k].constraint).map(|(_, weight)| *weight);
    place.changes.iter().all(|change| {
        let own = change.iter().filter_map(|(k, y)| Some((*k, y * weight(*k)?)));
        let (sum, size) = own.fold((0.0_f64, 0.0_f64), |(sum, size), (k, y)| {
            let (motion, terms) = power(k);
            (sum + y * motion, size + (y * terms).abs())
        });
        sum.abs() <= tolerance::MULTIPLIER_SHIFT * size
    })
}

/// A change of the multipliers that makes no force, by rows.
type Change = Vec<(usize, f64)>;

/// y with Aᵀy = 0: one for each dependent row.
fn changes(d: &Dependence) -> Vec<Change> {
    let of =
        |(row, terms): &(usize, Change)| [(*row, 1.0)].into_iter().chain(terms.iter().map(|(k, c)| (*k, -c))).collect();
    let vanished = d.vanished.iter().map(|row| vec![(*row, 1.0)]);
    d.dependent.iter().map(of).chain(vanished).collect()
}

/// The families: rows connected through dependences, with their indeterminate and their determined combinations.
fn families(equations: &Equations, d: &Dependence) -> Vec<Family> {
    // the first row of each group represents it
    let mut group: Vec<usize> = (0..equations.rows.len()).collect();
    fn root(group: &mut [usize], mut k: usize) -> usize {
        while group[k] != k {
            // path halving
            group[k] = group[group[k]];
            k = group[k];
        }
        k
    }
    for (row, terms) in &d.dependent {
        for (k, _) in terms {
            let (a, b) = (root(&mut group, *row), root(&mut group, *k));
            group[a.max(b)] = a.min(b);
        }
    }
    let mut members: std::collections::BTreeMap<usize, Family> = Default::default();
    let name = |k: usize| equations.rows[k].name.clone();
    let is_dependent: std::collections::BTreeMap<usize, usize> =
        d.dependent.iter().enumerate().map(|(at, (row, _))| (*row, at)).collect();
    // each independent row carries its own multiplier and its share of those of the rows that depend on it
    let mut shares: std::collections::BTreeMap<usize, Vec<(usize, f64)>> = Default::default();
    for (row, terms) in &d.dependent {
        terms.iter().for_each(|(k, c)| shares.entry(*k).or_default().push((*row, *c)));
    }
    for k in (0..equations.rows.len()).filter(|k| is_dependent.contains_key(k) || shares.contains_key(k)) {
        let family = members.entry(root(&mut group, k)).or_insert_with(|| Family {
            rows: Vec::new(),
            directions: Vec::new(),
            determined: Vec::new(),
        });
        family.rows.push(name(k));
        if let Some(at) = is_dependent.get(&k) {
            let terms = d.dependent[*at].1.iter().map(|(j, c)| (name(*j), -c));
            family.directions.push(terms.chain([(name(k), 1.0)]).collect());
        } else {
            let parts = shares[&k].iter().map(|(row, c)| (name(*row), *c));
            family.determined.push([(name(k), 1.0)].into_iter().chain(parts).collect());
        }
    }
    let vanished = d.vanished.iter().map(|&k| Family {
        rows: vec![name(k)],
        directions: vec![vec![(name(k), 1.0)]],
        determined: Vec::new(),
    });
    members.into_values().chain(vanished).collect()
}

/// All displayed quantities, by name, component by component.
fn shown(equations: &Equations) -> Vec<(String, Expr)> {
    let model = &equations.model;
    let mut shown: Vec<(String, Expr)> =
        model.outputs.iter().zip(&equations.outputs).map(|(o, e)| (o.name.clone(), *e)).collect();
    for (plot, exprs) in model.plots.iter().zip(&equations.plots) {
        let curves = plot.curves.iter().chain(&plot.versus).zip(exprs);
        shown.extend(curves.map(|(curve, e)| (curve.name.clone(), *e)));
    }
    for drawn in &model.scene {
        if let Shape::Force { force, .. } = &drawn.shape {
            shown.extend(force.iter().map(|e| (drawn.name.clone(), *e)));
        }
    }
    shown
}

/// The source of a symbol's value.
#[derive(Copy, Clone)]
enum SymbolSource {
    /// The index among the state symbols.
    State(usize),
    /// The multiplier of a row.
    Lambda(usize),
    /// The acceleration of a coordinate.
    Acceleration(usize),
    /// G, the Gaussian.
    Gaussian,
}

/// The source of each symbol's value.
fn sources(equations: &Equations) -> FxHashMap<Expr, SymbolSource> {
    let model = &equations.model;
    let mut sources: FxHashMap<Expr, SymbolSource> = FxHashMap::default();
    sources.extend(model.state_symbols().into_iter().enumerate().map(|(at, s)| (s, SymbolSource::State(at))));
    sources.extend(equations.rows.iter().enumerate().map(|(k, row)| (row.lambda, SymbolSource::Lambda(k))));
    sources.extend(model.coordinates.iter().enumerate().map(|(k, c)| (c.qddot, SymbolSource::Acceleration(k))));
    let gaussian = model.derived.iter().find(|(_, d)| **d == Derived::Gaussian).map(|(s, _)| *s);
    sources.extend(gaussian.map(|s| (s, SymbolSource::Gaussian)));
    sources
}

/// A quantity as a function of the multipliers.
struct Probe {
    program: Program,
    work: Vec<f64>,
    /// The multipliers it contains: their rows and their positions among the inputs.
    rows: Vec<(usize, usize)>,
    /// The state values it contains: their indices and their positions among the inputs.
    state: Vec<(usize, usize)>,
    inputs: Vec<f64>,
    /// The largest multiplier, or 1 if all are zero.
    size: f64,
}

impl Probe {
    /// `None` for a quantity that contains no multipliers, or a symbol that only the motion determines.
    fn new(
        equations: &Equations,
        sources: &FxHashMap<Expr, SymbolSource>,
        found: &StateQuantities,
        expr: Expr,
    ) -> Option<Probe> {
        let graph = &equations.model.graph;
        let used = graph.symbols(expr);
        let (mut rows, mut state, mut inputs) = (Vec::new(), Vec::new(), vec![0.0; used.len()]);
        for (place, symbol) in used.iter().enumerate() {
            match *sources.get(symbol)? {
                SymbolSource::State(at) => state.push((at, place)),
                SymbolSource::Lambda(k) => {
                    rows.push((k, place));
                    inputs[place] = found.lambda_acting[k];
                }
                SymbolSource::Acceleration(k) => inputs[place] = found.qddot[k],
                SymbolSource::Gaussian => inputs[place] = found.gaussian,
            }
        }
        if rows.is_empty() {
            return None;
        }
        let program = Program::new(graph, &used, &[expr]).ok()?;
        let size = found.lambda_acting.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        let size = if size > 0.0 { size } else { 1.0 };
        Some(Probe { work: program.workspace(), program, rows, state, inputs, size })
    }

    fn value(&mut self) -> f64 {
        let mut value = [0.0];
        self.program.run(&self.inputs, &mut self.work, &mut value);
        value[0]
    }

    /// `true` if no change of the multipliers that makes no force changes the value.
    ///
    /// For a linear combination of multipliers one step along each change decides. A norm, a square or a maximum is
    /// tried at four steps, from 0.7 to 53 times the largest multiplier.
    fn stays(&mut self, place: &FreeMultipliers) -> bool {
        self.state.iter().for_each(|(at, input)| self.inputs[*input] = place.values[*at]);
        let plain = self.inputs.clone();
        let before = self.value();
        let mut numbers: Vec<usize> =
            self.rows.iter().flat_map(|(k, _)| place.changes_of.get(k).into_iter().flatten().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let input_of: FxHashMap<usize, usize> = self.rows.iter().copied().collect();
        for change in numbers.into_iter().map(|at| &place.changes[at]) {
            let largest = change.iter().fold(0.0_f64, |top, (_, y)| top.max(y.abs()));
            let own: Vec<(usize, f64)> =
                change.iter().filter_map(|(k, y)| input_of.get(k).map(|input| (*input, *y))).collect();
            for step in [0.7, -1.9, 37.0, -53.0] {
                let mut parts = 0.0_f64;
                // the change by each multiplier alone: the scale for rounding
                for (input, y) in &own {
                    self.inputs[*input] = plain[*input] + step * self.size * y / largest;
                    parts += (self.value() - before).abs();
                    self.inputs[*input] = plain[*input];
                }
                for (input, y) in &own {
                    self.inputs[*input] = plain[*input] + step * self.size * y / largest;
                }
                let moved = (self.value() - before).abs();
                own.iter().for_each(|(input, _)| self.inputs[*input] = plain[*input]);
                // a quantity without a value, such as 0/0, is not determined either
                let is_same = moved <= tolerance::MULTIPLIER_SHIFT * (parts + before.abs());
                if !is_same {
                    return false;
                }
            }
        }
        true
    }
}
