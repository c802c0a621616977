//! What of the constraint forces the model determines, and what is one of a family.

use rustc_hash::FxHashMap;
use zwang_expr::{Expr, Program};
use zwang_motion::{Dependence, Found, Given, Snapshot, State};

use super::dependence::Dependencies;
use crate::equations::Equations;
use crate::model::{Derived, Shape};

/// A sum of multiples of multipliers, by the names of their rows.
pub type Combination = Vec<(String, f64)>;

/// Rows whose multipliers can be shifted against each other without any change of force.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The rows.
    pub rows: Vec<String>,
    /// Independent changes of the multipliers that make no force: Aᵀy = 0. Their number is the family's dimension.
    pub directions: Vec<Combination>,
    /// What is determined: as many independent sums as there are rows beyond the dimension.
    pub determined: Vec<Combination>,
}

/// A quantity to be shown that is made of multipliers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name: that of an output, a curve or a drawn force.
    pub name: String,
    /// Whether the model determines it at this state.
    pub here: bool,
    /// Whether it does so in general; none where other states were not found.
    pub general: Option<bool>,
}

/// What is determined and what is not; empty where all multipliers are unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Determinacy {
    /// The families of multipliers at this state.
    pub families: Vec<Family>,
    /// The quantities made of multipliers.
    pub quantities: Vec<Quantity>,
}

impl Determinacy {
    /// The rows whose multiplier is one of a family.
    pub fn rows(&self) -> Vec<String> {
        self.families.iter().flat_map(|f| f.rows.iter().cloned()).collect()
    }

    /// Whether a quantity of this name is known not to be determined along the motion.
    pub fn is_choice(&self, name: &str) -> bool {
        self.quantities.iter().any(|q| q.name == name && !q.general.unwrap_or(q.here))
    }

    /// Whether it is determined at this state.
    pub fn is_choice_here(&self, name: &str) -> bool {
        self.quantities.iter().any(|q| q.name == name && !q.here)
    }
}

/// A state with the changes of the multipliers that make no force there.
struct Place<'a> {
    state: &'a State,
    given: &'a Given,
    changes: Vec<Change>,
    /// The changes each row takes part in, by number.
    changes_of: FxHashMap<usize, Vec<usize>>,
    /// The values of the symbols of the state, in their order.
    values: Vec<f64>,
}

impl<'a> Place<'a> {
    fn new(equations: &Equations, state: &'a State, given: &'a Given, d: &Dependence) -> Place<'a> {
        let changes = changes(d);
        let mut changes_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, change) in changes.iter().enumerate() {
            change.iter().for_each(|(k, _)| changes_of.entry(*k).or_default().push(at));
        }
        Place { state, given, changes, changes_of, values: equations.model.state_values(state) }
    }
}

/// What is determined at a state and in general.
pub fn determinacy(equations: &Equations, snapshot: &Snapshot, rows: &Dependencies) -> Determinacy {
    let here = Place::new(equations, &snapshot.state, &snapshot.given, &rows.here);
    if here.changes.is_empty() {
        return Determinacy::default();
    }
    let there = rows.elsewhere.states.iter().zip(&rows.there);
    let general: Vec<Place> = there
        .filter(|(_, d)| Some(d.rank) == rows.rank_elsewhere())
        .map(|((state, given), d)| Place::new(equations, state, given, d))
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
        let mut stays = |place: &Place| {
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

/// Powers of constraints, times numbers.
type Powers = Vec<(usize, f64)>;

/// Sums of powers that must stay for an expression to stay: of all powers in it and of all works, where it contains them times
/// numbers, else each by itself.
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

/// Whether no change that makes no force changes a sum of powers, Σ λᵢ Aᵢ q̇ over the rows of each constraint.
fn power_stays(equations: &Equations, place: &Place, powers: &Powers) -> bool {
    let mass = |j: usize| place.given.mass_matrix.get(j, j).max(0.0);
    let rates = &place.state.qdot;
    let whole: f64 = rates.iter().enumerate().map(|(j, v)| mass(j) * v * v).sum::<f64>().sqrt();
    // a velocity that should be zero is rounding of what moves with as much energy
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
        sum.abs() <= SHIFT * size
    })
}

/// A change of the multipliers that makes no force, by rows.
type Change = Vec<(usize, f64)>;

/// y with Aᵀy = 0: one for each row that others give.
fn changes(d: &Dependence) -> Vec<Change> {
    let of =
        |(row, terms): &(usize, Change)| [(*row, 1.0)].into_iter().chain(terms.iter().map(|(k, c)| (*k, -c))).collect();
    let vanished = d.vanished.iter().map(|row| vec![(*row, 1.0)]);
    d.dependent.iter().map(of).chain(vanished).collect()
}

/// Rows that hang together through dependences, each with what is loose and what is not.
fn families(equations: &Equations, d: &Dependence) -> Vec<Family> {
    // the first row of each group stands for it
    let mut group: Vec<usize> = (0..equations.rows.len()).collect();
    fn root(group: &mut [usize], mut k: usize) -> usize {
        while group[k] != k {
            // half the way next time
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
    // each independent row carries its own multiplier and its share of those that repeat it
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

/// Everything to be shown, by name, component by component.
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

/// Where the value of a symbol comes from.
#[derive(Copy, Clone)]
enum Source {
    /// By its number among the symbols of the state.
    State(usize),
    /// The multiplier of a row.
    Lambda(usize),
    /// An acceleration.
    Acceleration(usize),
    /// G.
    Gaussian,
}

/// Where the value of each symbol comes from.
fn sources(equations: &Equations) -> FxHashMap<Expr, Source> {
    let model = &equations.model;
    let mut sources: FxHashMap<Expr, Source> = FxHashMap::default();
    sources.extend(model.state_symbols().into_iter().enumerate().map(|(at, s)| (s, Source::State(at))));
    sources.extend(equations.rows.iter().enumerate().map(|(k, row)| (row.lambda, Source::Lambda(k))));
    sources.extend(model.coordinates.iter().enumerate().map(|(k, c)| (c.qddot, Source::Acceleration(k))));
    let gaussian = model.derived.iter().find(|(_, d)| **d == Derived::Gaussian).map(|(s, _)| *s);
    sources.extend(gaussian.map(|s| (s, Source::Gaussian)));
    sources
}

/// A quantity as a function of the multipliers.
struct Probe {
    program: Program,
    work: Vec<f64>,
    /// The multipliers it contains: their rows and their places among the inputs.
    rows: Vec<(usize, usize)>,
    /// The values of the state it contains: their numbers and their places among the inputs.
    state: Vec<(usize, usize)>,
    inputs: Vec<f64>,
    /// The size of all multipliers.
    size: f64,
}

impl Probe {
    /// None for a quantity without multipliers, or one that only the motion gives.
    fn new(equations: &Equations, sources: &FxHashMap<Expr, Source>, found: &Found, expr: Expr) -> Option<Probe> {
        let graph = &equations.model.graph;
        let used = graph.symbols(expr);
        let (mut rows, mut state, mut inputs) = (Vec::new(), Vec::new(), vec![0.0; used.len()]);
        for (place, symbol) in used.iter().enumerate() {
            match *sources.get(symbol)? {
                Source::State(at) => state.push((at, place)),
                Source::Lambda(k) => {
                    rows.push((k, place));
                    inputs[place] = found.lambda_acting[k];
                }
                Source::Acceleration(k) => inputs[place] = found.qddot[k],
                Source::Gaussian => inputs[place] = found.gaussian,
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

    /// Whether no change of the multipliers that makes no force changes the value.
    ///
    /// For a sum of multiples of multipliers one step along each change tells; a size, a square or the larger of two is asked
    /// at several, far and near.
    fn stays(&mut self, place: &Place) -> bool {
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
                // what each multiplier alone would do: the measure for rounding
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
                // what has no value, such as 0/0, is not determined either
                let is_same = moved <= SHIFT * (parts + before.abs());
                if !is_same {
                    return false;
                }
            }
        }
        true
    }
}

/// A change below this, beside what its parts change alone, is rounding and the error of a dependence.
const SHIFT: f64 = 1e-8;
