//! What of the constraint forces the model determines, and what is one of a family.

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
}

/// What is determined at a state and in general.
pub fn determinacy(equations: &Equations, snapshot: &Snapshot, rows: &Dependencies) -> Determinacy {
    let here = Place { state: &snapshot.state, given: &snapshot.given, changes: changes(&rows.here) };
    if here.changes.is_empty() {
        return Determinacy::default();
    }
    let there = rows.elsewhere.states.iter().zip(&rows.there);
    let general: Vec<Place> = there
        .filter(|(_, d)| Some(d.rank) == rows.rank_elsewhere())
        .map(|((state, given), d)| Place { state, given, changes: changes(d) })
        .collect();
    let mut quantities: Vec<Quantity> = Vec::new();
    for (name, expr) in shown(equations) {
        let mut probe = Probe::new(equations, &snapshot.found, expr);
        let powers = powers(equations, expr);
        if probe.is_none() && powers.is_empty() {
            continue;
        }
        let mut stays = |place: &Place| {
            probe.as_mut().is_none_or(|probe| probe.stays(equations, place.state, &place.changes))
                && powers.iter().all(|c| power_stays(equations, place, *c))
        };
        let here = stays(&here);
        let general = (!general.is_empty()).then(|| general.iter().all(&mut stays));
        // components of a drawn force share a name: it is determined if all of them are
        match quantities.iter_mut().find(|other| other.name == name) {
            Some(other) => {
                other.here &= here;
                other.general = other.general.zip(general).map(|(a, b)| a && b);
            }
            None => quantities.push(Quantity { name, here, general }),
        }
    }
    Determinacy { families: families(equations, &rows.here), quantities }
}

/// The constraints whose power or work an expression contains.
fn powers(equations: &Equations, expr: Expr) -> Vec<usize> {
    let derived = |symbol: &Expr| match equations.model.derived.get(symbol) {
        Some(Derived::Power(c) | Derived::Work(c)) => Some(*c),
        _ => None,
    };
    equations.model.graph.symbols(expr).iter().filter_map(derived).collect()
}

/// Whether no change that makes no force changes the power of a constraint, Σ λᵢ Aᵢ q̇ over its rows.
fn power_stays(equations: &Equations, place: &Place, constraint: usize) -> bool {
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
    place.changes.iter().all(|change| {
        let own = change.iter().filter(|(k, _)| equations.rows[*k].constraint == constraint);
        let (sum, size) = own.fold((0.0_f64, 0.0_f64), |(sum, size), (k, y)| {
            let (motion, terms) = power(*k);
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
    fn root(group: &[usize], mut k: usize) -> usize {
        while group[k] != k {
            k = group[k];
        }
        k
    }
    for (row, terms) in &d.dependent {
        for (k, _) in terms {
            let (a, b) = (root(&group, *row), root(&group, *k));
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
        let family = members.entry(root(&group, k)).or_insert_with(|| Family {
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

/// A quantity as a function of the multipliers.
struct Probe {
    program: Program,
    work: Vec<f64>,
    /// The multipliers it contains, by row.
    rows: Vec<usize>,
    /// What it needs beyond state and multipliers: q̈ and G.
    rest: Vec<f64>,
    lambda: Vec<f64>,
}

impl Probe {
    /// None for a quantity without multipliers, or one that only the motion gives.
    fn new(equations: &Equations, found: &Found, expr: Expr) -> Option<Probe> {
        let model = &equations.model;
        let used = model.graph.symbols(expr);
        let rows: Vec<usize> =
            (0..equations.rows.len()).filter(|k| used.binary_search(&equations.rows[*k].lambda).is_ok()).collect();
        if rows.is_empty() {
            return None;
        }
        let mut inputs = model.state_symbols();
        inputs.extend(equations.rows.iter().map(|r| r.lambda));
        inputs.extend(model.coordinates.iter().map(|c| c.qddot));
        let gaussian = model.derived.iter().find(|(_, d)| **d == Derived::Gaussian).map(|(s, _)| *s);
        inputs.extend(gaussian);
        let program = Program::new(&model.graph, &inputs, &[expr]).ok()?;
        let mut rest = found.qddot.clone();
        rest.extend(gaussian.map(|_| found.gaussian));
        Some(Probe { work: program.workspace(), program, rows, rest, lambda: found.lambda_acting.clone() })
    }

    fn value(&mut self, equations: &Equations, state: &State, lambda: &[f64]) -> f64 {
        let mut inputs = equations.model.state_values(state);
        inputs.extend(lambda.iter().chain(&self.rest));
        let mut value = [0.0];
        self.program.run(&inputs, &mut self.work, &mut value);
        value[0]
    }

    /// Whether no change of the multipliers that makes no force changes the value.
    ///
    /// For a sum of multiples of multipliers one step along each change tells; a size or a square is asked at two steps.
    fn stays(&mut self, equations: &Equations, state: &State, changes: &[Change]) -> bool {
        let size = self.lambda.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        let size = if size > 0.0 { size } else { 1.0 };
        let before = self.value(equations, state, &self.lambda.clone());
        let rows = self.rows.clone();
        for change in changes.iter().filter(|y| y.iter().any(|(k, _)| rows.contains(k))) {
            let largest = change.iter().fold(0.0_f64, |top, (_, y)| top.max(y.abs()));
            for step in [0.7, -1.9] {
                let mut lambda = self.lambda.clone();
                let mut parts = 0.0_f64;
                for (k, y) in change {
                    let by = step * size * y / largest;
                    // what this multiplier alone would do: the measure for rounding
                    let mut alone = self.lambda.clone();
                    alone[*k] += by;
                    parts += (self.value(equations, state, &alone) - before).abs();
                    lambda[*k] += by;
                }
                let after = self.value(equations, state, &lambda);
                let moved = (after - before).abs();
                // where it has no value nothing is claimed of it
                if moved > SHIFT * (parts + before.abs()) {
                    return false;
                }
            }
        }
        true
    }
}

/// A change below this, beside what its parts change alone, is rounding and the error of a dependence.
const SHIFT: f64 = 1e-8;
