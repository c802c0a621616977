//! Conserved momenta: of coordinates that L does not contain, and along directions without any force.

use std::cell::RefCell;
use std::collections::HashMap;

use rustc_hash::FxHashSet;
use zwang_expr::{Expr, Graph, Number};

use crate::analysis::invariants::lagrangian::{Arbitrary, NullSpace, combination, tidied};
use crate::equations::Equations;
use crate::equations::switches::switches_by;
use crate::equations::zero::{Region, Sign, is_zero, is_zero_in, quick_sign};
use crate::model::Change;
use crate::{analysis::check::Check, limits, tolerance};

/// A coordinate that L does not contain: ∂L/∂qₖ = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Cyclic {
    /// The coordinate.
    pub coordinate: String,
    /// pₖ = ∂L/∂q̇ₖ as a formula; `None` if it is longer than `FORMULA_CHARACTERS`.
    pub momentum: Option<String>,
    /// `true` if pₖ is conserved; `None` if the model contains statements that are not computed.
    pub conserved: Option<bool>,
    /// The causes of its change: constraints, forces, events.
    pub spoiled_by: Vec<String>,
}

/// A conserved momentum p·u with a constant direction u.
#[derive(Clone, Debug, PartialEq)]
pub struct Conserved {
    /// `p_theta`, or `p_x1 + p_x2`.
    pub name: String,
    /// The formula; `None` if it is longer than `FORMULA_CHARACTERS`.
    pub formula: Option<String>,
    /// u without its zeros: coordinates and factors.
    pub terms: Vec<(String, f64)>,
    /// Its value at the state.
    pub value: Option<f64>,
}

/// The causes of change along each coordinate.
struct Acting {
    /// ∂L/∂q.
    slope: Vec<Expr>,
    /// The constraints whose rows contain the coordinate.
    constraints: Vec<Vec<usize>>,
}

/// Cyclic coordinates, conserved momenta, and the reason why some were not sought.
pub(super) fn momenta(check: &mut Check) -> (Vec<Cyclic>, Vec<Conserved>, Option<String>) {
    let n = check.state.q.len();
    let acting = acting(&mut check.equations);
    let switching = Switching::new(&check.equations);
    let region = Region::around(&check.equations.model, &check.state);
    let mut cyclic = Vec::new();
    let mut alone = vec![false; n];
    for k in 0..n {
        let (graph, slope) = (&check.equations.model.graph, acting.slope[k]);
        // in a system of thousands only slopes that vanish by construction count
        let is_cyclic = if n <= limits::OTHER_STATES_COORDINATES { is_zero(graph, slope) } else { slope == Expr::ZERO };
        if check.equations.momentum[k] == Expr::ZERO || !is_cyclic {
            continue;
        }
        let (conserved, spoiled_by) = spoilers(&check.equations, &region, &acting, &switching, k);
        alone[k] = conserved == Some(true);
        // a chain of thousands of masses would list them all
        if n <= limits::OTHER_STATES_COORDINATES || alone[k] {
            let model = &check.equations.model;
            let momentum = model.graph.text_limited(check.equations.momentum[k], limits::FORMULA_CHARACTERS);
            cyclic.push(Cyclic { coordinate: model.coordinates[k].name.clone(), momentum, conserved, spoiled_by });
        }
    }
    let mut directions: Vec<Vec<(usize, f64)>> = (0..n).filter(|&k| alone[k]).map(|k| vec![(k, 1.0)]).collect();
    let driven = check.equations.model.driven();
    let others: Vec<usize> = (0..n).filter(|k| !alone[*k] && driven.binary_search(k).is_err()).collect();
    let mut skipped = None;
    if others.len() > limits::MOMENTUM_COORDINATES {
        skipped =
            Some(format!("sums of momenta are sought among {} coordinates at most", limits::MOMENTUM_COORDINATES));
    } else if check.equations.model.later.iter().all(|l| !l.changes_motion)
        && check.equations.model.only_at_times().is_empty()
    {
        let (switching, others): (Vec<usize>, Vec<usize>) =
            others.into_iter().partition(|&k| switching.along(&check.equations, &acting, k));
        skipped = skipped_for(&check.equations, &switching);
        let (proved, undecided) = proved_sums(check, &acting, &others);
        directions.extend(proved);
        skipped = skipped.or(undecided);
    }
    let conserved: Vec<Conserved> = directions.into_iter().filter_map(|u| conserved(check, &u)).collect();
    // an apparent force may vanish for these parameters
    for one in &mut cyclic {
        if conserved.iter().any(|c| matches!(&c.terms[..], [(name, _)] if *name == one.coordinate)) {
            (one.conserved, one.spoiled_by) = (Some(true), Vec::new());
        }
    }
    (cyclic, conserved, skipped)
}

/// The reason why sums with these coordinates are not sought.
fn skipped_for(equations: &Equations, switching: &[usize]) -> Option<String> {
    let name = |k: &usize| format!("`{}`", equations.model.coordinates[*k].name);
    let names: Vec<String> = switching.iter().take(limits::NAMES).map(name).collect();
    let more = if switching.len() > limits::NAMES { ", …" } else { "" };
    let list = format!("{}{more}", names.join(", "));
    (!names.is_empty()).then(|| format!("momenta along {list} are not sought: a formula switches"))
}

/// Formulas that switch: a result at states around the start need not hold beyond the switch.
struct Switching {
    /// Symbols that decide a switch in L, and in a row.
    in_lagrangian: FxHashSet<Expr>,
    in_rows: FxHashSet<Expr>,
    /// Parameters that no event changes: a switch that depends on them alone never occurs.
    fixed: FxHashSet<Expr>,
}

impl Switching {
    fn new(equations: &Equations) -> Switching {
        let model = &equations.model;
        let is_changed = |k: usize| model.whens.iter().any(|w| matches!(w.change, Change::Parameter(j) if j == k));
        let fixed: FxHashSet<Expr> =
            model.parameters.iter().enumerate().filter(|(k, _)| !is_changed(*k)).map(|(_, p)| p.symbol).collect();
        let deciding = |exprs: &[Expr]| {
            let found = RefCell::new(FxHashSet::default());
            switches_by(&model.graph, exprs, |s| {
                found.borrow_mut().insert(s);
                false
            });
            found.into_inner()
        };
        let residuals: Vec<Expr> = equations.rows.iter().map(|row| row.residual).collect();
        Switching { in_lagrangian: deciding(&[equations.lagrangian]), in_rows: deciding(&residuals), fixed }
    }

    /// The switch that a coordinate decides, or that its momentum contains, although no slope shows it: a step has zero
    /// slope.
    fn steps(&self, equations: &Equations, k: usize) -> Option<&'static str> {
        let q = equations.model.coordinates[k].q;
        let varies = |s: Expr| !self.fixed.contains(&s);
        if self.in_lagrangian.contains(&q) || switches_by(&equations.model.graph, &[equations.momentum[k]], varies) {
            return Some("a switch in the Lagrangian");
        }
        self.in_rows.contains(&q).then_some("a switch in a constraint")
    }

    /// `true` if a force or row along a coordinate switches.
    fn along(&self, equations: &Equations, acting: &Acting, k: usize) -> bool {
        let nonideal = equations.nonideal_force.get(k).copied();
        let of_row =
            |row: &crate::equations::ConstraintRow| row.coefficients.iter().find(|(j, _)| *j == k).map(|(_, e)| *e);
        let mut exprs: Vec<Expr> = equations.rows.iter().filter_map(of_row).collect();
        exprs.extend([acting.slope[k], equations.applied_force[k]].into_iter().chain(nonideal));
        self.steps(equations, k).is_some() || switches_by(&equations.model.graph, &exprs, |s| !self.fixed.contains(&s))
    }
}

fn acting(equations: &mut Equations) -> Acting {
    let Equations { model, lagrangian, rows, .. } = equations;
    let n = model.coordinates.len();
    let place: HashMap<Expr, usize> = model.coordinates.iter().enumerate().map(|(k, c)| (c.q, k)).collect();
    let mut slope = vec![Expr::ZERO; n];
    for (symbol, derivative) in model.graph.gradient_in(*lagrangian, |s| place.contains_key(&s)) {
        slope[place[&symbol]] = derivative;
    }
    let mut constraints = vec![Vec::new(); n];
    for row in rows {
        for (k, e) in &row.coefficients {
            let list: &mut Vec<usize> = &mut constraints[*k];
            if *e != Expr::ZERO && list.last() != Some(&row.constraint) && !list.contains(&row.constraint) {
                list.push(row.constraint);
            }
        }
    }
    Acting { slope, constraints }
}

/// `Some(true)` if pₖ of a cyclic coordinate is conserved, and the causes of its change.
fn spoilers(
    equations: &Equations,
    region: &Region,
    acting: &Acting,
    switching: &Switching,
    k: usize,
) -> (Option<bool>, Vec<String>) {
    let (mut list, mut undecided) = (Vec::new(), Vec::new());
    let step = switching.steps(equations, k);
    let Equations { model, applied_force, nonideal_force, momentum, .. } = equations;
    let nonideal = nonideal_force.get(k).copied().unwrap_or(Expr::ZERO);
    let of_coordinate = format!("the force on `{}`", model.coordinates[k].name);
    for (force, what) in [(applied_force[k], of_coordinate), (nonideal, "a nonideal law".to_string())] {
        if is_zero(&model.graph, force) {
            continue;
        }
        match quick_sign(&model.graph, force, region) {
            Sign::Zero => {}
            Sign::NotZero(_) => list.push(what),
            Sign::NotDecided(tried) => undecided.push(format!("{what} is {}", tried.text())),
        }
    }
    let drives = |c: &&crate::model::Control| c.using.is_empty() || c.using.contains(&k);
    list.extend(model.controls.iter().filter(drives).map(|c| format!("control `{}`", c.stated.name)));
    let takes_part = |c: &usize| {
        let rows = equations.rows.iter().filter(|row| row.constraint == *c);
        rows.flat_map(|row| &row.coefficients).any(|(j, e)| *j == k && !is_zero(&model.graph, *e))
    };
    let held = acting.constraints[k].iter().copied().filter(takes_part);
    list.extend(held.map(|c| format!("constraint `{}`", model.constraints[c].name)));
    list.extend(events_on(model, momentum[k]));
    if list.len() > limits::NAMES {
        let more = list.len() - limits::NAMES + 1;
        list.truncate(limits::NAMES - 1);
        list.push(format!("{more} more"));
    }
    let mut later: Vec<String> = model.later.iter().filter(|l| l.changes_motion).map(|l| l.what.clone()).collect();
    later.extend(model.only_at_times());
    later.extend(step.map(String::from));
    later.extend(undecided);
    match (list.is_empty(), later.is_empty()) {
        (true, true) => (Some(true), list),
        (true, false) => (None, later),
        (false, _) => (Some(false), list),
    }
}

/// The events that change a quantity at once.
fn events_on(model: &crate::model::Model, quantity: Expr) -> Vec<String> {
    let used = model.graph.symbols(quantity);
    let changes = |change: Change| match change {
        Change::Parameter(k) => used.binary_search(&model.parameters[k].symbol).is_ok(),
        // momenta contain several velocities; a jump of one of them is a jump of the momentum
        Change::Velocity(k) => used.binary_search(&model.coordinates[k].qdot).is_ok(),
    };
    model.whens.iter().filter(|w| changes(w.change)).map(|w| format!("`when {}`", w.name)).collect()
}

/// Those of the directions that numbers suggest for which it is proved that (∂L/∂q + F + C + Aᵀλ)·u = 0, and a note on the others.
#[allow(clippy::type_complexity)]
fn proved_sums(check: &mut Check, acting: &Acting, others: &[usize]) -> (Vec<Vec<(usize, f64)>>, Option<String>) {
    let candidates = sums(check, acting, others);
    if candidates.is_empty() {
        return (candidates, None);
    }
    let forces = forces(&mut check.equations, acting, others);
    let region = Region::on_constraints(&check.equations, &check.state);
    let Equations { model, rows, .. } = &mut check.equations;
    let mut is_proved = |u: &Vec<(usize, f64)>| {
        let factor = |k: usize| u.iter().find(|(j, _)| *j == k).map(|(_, x)| *x);
        let columns = std::iter::once(&forces[..]).chain(rows.iter().map(|row| &row.coefficients[..]));
        columns.into_iter().all(|entries| {
            let graph = &mut model.graph;
            let parts: Vec<Expr> =
                entries.iter().filter_map(|(k, e)| factor(*k).map(|x| times(graph, x, *e))).collect();
            let sum = graph.sum(&parts);
            is_zero_in(graph, sum, &region)
        })
    };
    let (proved, open): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|u| is_proved(u));
    let named = |u: &Vec<(usize, f64)>| {
        let terms: Vec<(String, f64)> =
            u.iter().map(|&(k, x)| (check.equations.model.coordinates[k].name.clone(), x)).collect();
        combination(&terms, "p_")
    };
    let note = open.first().map(|u| format!("whether {} is conserved is not decided: no identity was found", named(u)));
    (proved, note)
}

/// Constant directions u among `others` with A u = 0 and (∂L/∂q + F + C)·u = 0 at all states that are tried.
///
/// The rows of A and that force are stacked for n + 2 arbitrary states. Directions orthogonal to all of them, and to
/// those of four further states, are taken.
fn sums(check: &mut Check, acting: &Acting, others: &[usize]) -> Vec<Vec<(usize, f64)>> {
    if others.is_empty() {
        return Vec::new();
    }
    let forces = forces(&mut check.equations, acting, others);
    let (check, equations) = (&*check, &check.equations);
    let mut column = vec![None; check.state.q.len()];
    others.iter().enumerate().for_each(|(at, &k)| column[k] = Some(at));
    let entries: Vec<(usize, usize, Expr)> = entries(equations, &forces, &column);
    let exprs: Vec<Expr> = entries.iter().map(|(_, _, e)| *e).collect();
    let Some(mut samples) = Arbitrary::new(equations, check, &exprs) else { return Vec::new() };
    let (n_rows, n) = (equations.rows.len() + 1, others.len());

    // one unit for each column, from the first state with finite values
    let Some(first) = (0..8).find_map(|_| samples.next()) else { return Vec::new() };
    let scale = column_scale(&entries, &first, n_rows, n);
    let laid = |values: &[f64]| dense_rows(&entries, values, n_rows, &scale);
    let mut space = NullSpace::new(n);
    let (mut n_seen, mut n_tried) = (0, 0);
    // each state adds at least one row if there is one to find
    while n_seen < n + 2 && n_tried < 2 * n + 8 && !space.is_empty() {
        n_tried += 1;
        let Some(values) = samples.next() else { continue };
        n_seen += 1;
        laid(&values).into_iter().for_each(|row| space.add(row, 1.0));
    }
    if n_seen < n + 2 {
        return Vec::new();
    }
    let fresh: Vec<Vec<f64>> = (0..4).filter_map(|_| samples.next()).flat_map(|values| laid(&values)).collect();
    let holds = |u: &Vec<f64>| {
        let size = u.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        fresh.iter().all(|row| row.iter().zip(u).map(|(x, y)| x * y).sum::<f64>().abs() <= tolerance::ELIMINATED * size)
    };
    let unscaled = |u: Vec<f64>| {
        let u = tidied(&u.iter().zip(&scale).map(|(x, s)| x * s).collect::<Vec<_>>());
        u.into_iter().zip(others).filter(|(x, _)| *x != 0.0).map(|(x, &k)| (k, x)).collect()
    };
    space.directions().into_iter().filter(|u| !fresh.is_empty() && holds(u)).map(unscaled).collect()
}

/// ∂L/∂q + F + C of some coordinates, if it is not zero by construction.
fn forces(equations: &mut Equations, acting: &Acting, others: &[usize]) -> Vec<(usize, Expr)> {
    let Equations { model, applied_force, nonideal_force, .. } = equations;
    let nonideal = |k: usize| nonideal_force.get(k).copied().unwrap_or(Expr::ZERO);
    let whole = |&k: &usize| (k, model.graph.sum(&[acting.slope[k], applied_force[k], nonideal(k)]));
    others.iter().map(whole).filter(|(_, e)| *e != Expr::ZERO).collect()
}

/// Row, column and expression: first the rows of A, then the total force.
fn entries(equations: &Equations, forces: &[(usize, Expr)], column: &[Option<usize>]) -> Vec<(usize, usize, Expr)> {
    let mut entries = Vec::new();
    for (i, row) in equations.rows.iter().enumerate() {
        entries.extend(row.coefficients.iter().filter_map(|(k, e)| Some((i, column[*k]?, *e))));
    }
    let last = equations.rows.len();
    entries.extend(forces.iter().filter_map(|(k, e)| Some((last, column[*k]?, *e))));
    entries
}

/// The reciprocal of the largest entry of each column, with rows scaled to size one.
fn column_scale(entries: &[(usize, usize, Expr)], values: &[f64], n_rows: usize, n: usize) -> Vec<f64> {
    let rows = dense_rows(entries, values, n_rows, &vec![1.0; n]);
    let largest = |j: usize| rows.iter().fold(0.0_f64, |m, row| m.max(row[j].abs()));
    (0..n).map(largest).map(|x| if x > 0.0 { 1.0 / x } else { 1.0 }).collect()
}

/// The rows with scaled columns, each with a largest entry of one.
fn dense_rows(entries: &[(usize, usize, Expr)], values: &[f64], n_rows: usize, scale: &[f64]) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; scale.len()]; n_rows];
    for ((i, j, _), value) in entries.iter().zip(values) {
        rows[*i][*j] += value * scale[*j];
    }
    for row in &mut rows {
        let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if largest > 0.0 {
            row.iter_mut().for_each(|x| *x /= largest);
        }
    }
    rows.retain(|row| row.iter().any(|x| *x != 0.0));
    rows
}

/// p·u as a conserved momentum; `None` if it vanishes or if an event changes it.
fn conserved(check: &mut Check, u: &[(usize, f64)]) -> Option<Conserved> {
    let Equations { model, momentum, .. } = &mut check.equations;
    let graph = &mut model.graph;
    let parts: Vec<Expr> = u.iter().map(|&(k, x)| times(graph, x, momentum[k])).collect();
    let sum = graph.sum(&parts);
    if is_zero(graph, sum) || !events_on(model, sum).is_empty() {
        return None;
    }
    let terms: Vec<(String, f64)> = u.iter().map(|&(k, x)| (model.coordinates[k].name.clone(), x)).collect();
    Some(Conserved {
        name: combination(&terms, "p_"),
        formula: model.graph.text_limited(sum, limits::FORMULA_CHARACTERS),
        terms,
        value: check.system.evaluate(model, &check.state, &[sum]).map(|v| v[0]),
    })
}

/// A number times an expression.
fn times(graph: &mut Graph, x: f64, e: Expr) -> Expr {
    let factor = match fraction(x) {
        Some(number) => graph.exact(number),
        None => {
            let size = graph.decimal(&x.abs().to_string()).unwrap_or(Expr::ONE);
            if x < 0.0 { graph.neg(size) } else { size }
        }
    };
    graph.mul(factor, e)
}

/// The quotient of two whole numbers below a million that a number equals to rounding, by continued fractions.
fn fraction(x: f64) -> Option<Number> {
    /// Quotients of parameters with six digits.
    const LARGEST_FACTOR: f64 = 1e6;
    let (mut before, mut now, mut rest) = ((0.0, 1.0), (1.0, 0.0), x);
    while rest.is_finite() && rest.abs() < LARGEST_FACTOR {
        let whole = rest.floor();
        (before, now) = (now, (whole * now.0 + before.0, whole * now.1 + before.1));
        if f64::max(f64::abs(now.0), now.1) > LARGEST_FACTOR {
            return None;
        }
        if (now.0 / now.1 - x).abs() <= tolerance::ROUNDING * x.abs() {
            return Some(Number::ratio(now.0 as i64, now.1 as i64));
        }
        rest = 1.0 / (rest - whole);
    }
    None
}
