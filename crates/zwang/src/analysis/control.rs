//! Control authority: the directions of the control rows that forces on the driven coordinates reach, and those that
//! are missing.

#![allow(non_snake_case, reason = "A is the letter of the papers")]

use zwang_motion::{
    ControlRows, Dependence, Dynamics, Given, Legendre, Matrix, Route, RouteSolution, Settings, Snapshot, State,
    dependence,
};

use crate::compile::evaluator::Evaluator;
use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Level;
use crate::quantity::rounded;
use crate::{
    analysis::start::{elsewhere, joined},
    limits, tolerance,
};

/// Z701 and Z702: controls that cannot be tracked from this state.
///
/// A unit force on each coordinate in turn gives the accelerations that the physical constraints allow. The driven
/// coordinates must reach as many directions of the control rows as all coordinates together.
pub fn following(
    equations: &Equations,
    system: &mut Evaluator,
    snapshot: &Snapshot,
    route: &mut dyn Route,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let n = snapshot.state.q.len();
    if n > limits::RESPONSE_COORDINATES {
        return Vec::new();
    }
    let Some(place) = ControlResponse::new(system, &snapshot.state, &snapshot.given, route) else { return Vec::new() };
    let mut found = Vec::new();
    let n_controls = equations.model.controls.len();
    // each control alone, then, if each is reachable, all of them together
    let mut groups: Vec<Vec<usize>> = (0..n_controls).map(|k| vec![k]).collect();
    groups.extend((n_controls > 1).then(|| (0..n_controls).collect()));
    for controls in groups {
        if controls.len() > 1 && !found.is_empty() {
            break;
        }
        let group = ControlSet::new(equations, controls);
        let Some((reached, needed)) = place.reached(&group, settings) else { continue };
        if reached.rank >= needed.rank {
            // control rows that are dependent here and independent nearby
            if needed.rank < group.rows.len()
                && let Some(there) = usual_ranks(equations, system, snapshot, &group, route, settings)
                && there.1 > needed.rank
            {
                let again = needed.vanished.iter().chain(needed.dependent.iter().map(|(i, _)| i));
                let missing: Vec<Combination> = again.map(|&i| unreached(&needed, &group.rows, i)).collect();
                found.push(singular(equations, &group, &snapshot.state, ((needed.rank, there.1), there), &missing));
            }
            continue;
        }
        let missing = needed.independent.iter().filter(|i| !reached.independent.contains(i));
        let missing: Vec<Combination> = missing.map(|&i| unreached(&reached, &group.rows, i)).collect();
        let ranks = (reached.rank, needed.rank);
        if let Some(there) = usual_ranks(equations, system, snapshot, &group, route, settings)
            && there.0 == there.1
            && there.0 > reached.rank
        {
            found.push(singular(equations, &group, &snapshot.state, (ranks, there), &missing));
            continue;
        }
        let mut scene = DegreeInputs { system, snapshot, place: &place, driven: &group.driven };
        let degree = missing.first().and_then(|rows| scene.relative_degree(equations, route, rows));
        // fewer driven forces than independent control rows are too few in any derivative
        found.push(match degree.filter(|_| group.driven.len() >= needed.rank) {
            Some(degree) => late(equations, &group, degree, &missing),
            None => too_few(equations, &group, &snapshot.state, ranks, &missing),
        });
    }
    if found.is_empty() {
        found.extend(not_met(equations, system, snapshot, &place, route, settings));
    }
    if found.is_empty() {
        found.extend(repeats(equations, system, snapshot, &place, route, settings));
    }
    found
}

/// Z707: control rows that other control rows or constraints already imply.
fn repeats(
    equations: &Equations,
    system: &mut Evaluator,
    snapshot: &Snapshot,
    place: &ControlResponse,
    route: &mut dyn Route,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let group = ControlSet::all(equations);
    let Some((_, needed)) = place.reached(&group, settings) else { return Vec::new() };
    if needed.rank == group.rows.len() {
        return Vec::new();
    }
    // the rows may be dependent in this position only
    let usual = usual_ranks(equations, system, snapshot, &group, route, settings);
    if usual.is_none_or(|(_, usual)| usual > needed.rank) {
        return Vec::new();
    }
    let again = needed.vanished.iter().chain(needed.dependent.iter().map(|(i, _)| i));
    again.map(|&i| repeated(equations, snapshot, &unreached(&needed, &group.rows, i), settings)).collect()
}

/// Z707: the first row of a combination follows from its other rows and from constraints.
fn repeated(
    equations: &Equations,
    snapshot: &Snapshot,
    combination: &[(usize, f64)],
    settings: &Settings,
) -> Diagnostic {
    let row = &equations.asked[combination[0].0].row;
    let constraints = constraints_behind(snapshot, &[combination.to_vec()], settings);
    let of_controls = combination[1..].iter().map(|&(i, _)| &equations.asked[i].row);
    let mut behind: Vec<_> = of_controls
        .map(|row| (format!("`{}`", row.name), equations.model.controls[row.constraint].stated.span))
        .collect();
    behind.extend(constraints.iter().map(|&k| {
        let row = &equations.rows[k];
        (format!("constraint `{}`", row.name), equations.model.constraints[row.constraint].span)
    }));
    let words: Vec<String> = behind.iter().take(6).map(|(words, _)| words.clone()).collect();
    let span = equations.model.controls[row.constraint].stated.span;
    let message = match words.is_empty() {
        true => format!("the target of control `{}` is always satisfied", row.name),
        false => format!("the target of control `{}` follows from {} at the start", row.name, joined(&words)),
    };
    let mut d = Diagnostic::note("Z707", message).at(span, "redundant");
    let mut shown = vec![span];
    for (_, span) in behind.into_iter().take(6) {
        if !shown.contains(&span) {
            d = d.and_at(span, "implies it");
            shown.push(span);
        }
    }
    d.with_note("the force is the same without it; `power` and `work` are shared among them arbitrarily")
}

/// Control rows, each with a factor.
type Combination = Vec<(usize, f64)>;

/// A set of controls: their control rows and the coordinates they drive.
struct ControlSet {
    controls: Vec<usize>,
    rows: Vec<usize>,
    driven: Vec<usize>,
}

impl ControlSet {
    fn new(equations: &Equations, controls: Vec<usize>) -> ControlSet {
        let is_of_group = |i: &usize| controls.contains(&equations.asked[*i].row.constraint);
        let rows = (0..equations.asked.len()).filter(is_of_group).collect();
        let driven = driven_by(equations, &controls);
        ControlSet { controls, rows, driven }
    }

    fn all(equations: &Equations) -> ControlSet {
        ControlSet::new(equations, (0..equations.model.controls.len()).collect())
    }
}

/// The control rows at a state, and the change of q̈ by a unit force on each coordinate there.
struct ControlResponse {
    asked: ControlRows,
    responses: Vec<Vec<f64>>,
    /// The largest response of each row to a unit force without constraints; zero if M alone does not determine it.
    free: Vec<f64>,
}

impl ControlResponse {
    fn new(system: &mut Evaluator, state: &State, given: &Given, route: &mut dyn Route) -> Option<ControlResponse> {
        let control = system.control()?;
        let mut asked = control.allocate_control_rows();
        control.fill_control_rows(state, &mut asked).ok()?;
        let n = state.q.len();
        let responses = responses(given, route, n)?;
        let alone =
            Given { constraint_matrix: Matrix::from_pattern(0, n, &[]), constraint_rhs: Vec::new(), ..given.clone() };
        let without = self::responses(&alone, route, n).unwrap_or_default();
        let most = |i: usize| without.iter().fold(0.0_f64, |top, y| top.max(asked.rows.row_times(i, y).abs()));
        let free = (0..asked.rhs.len()).map(most).collect();
        Some(ControlResponse { asked, responses, free })
    }

    /// The size of the terms that Q and u contribute to a row.
    fn size_of_forces(&self, row: usize, Q: &[f64], u: &[f64]) -> f64 {
        let forces = Q.iter().zip(u).map(|(Q, u)| Q.abs() + u.abs());
        self.responses.iter().zip(forces).map(|(y, f)| self.asked.rows.row_times(row, y).abs() * f).sum()
    }

    /// The directions of a group's rows that its driven coordinates reach, and those that all coordinates would reach.
    fn reached(&self, group: &ControlSet, settings: &Settings) -> Option<(Dependence, Dependence)> {
        let all: Vec<usize> = (0..self.responses.len()).collect();
        Some((self.reach(&group.rows, &group.driven, settings)?, self.reach(&group.rows, &all, settings)?))
    }

    /// The independent ones of some control rows, as far as forces on these coordinates move them.
    fn reach(&self, rows: &[usize], coordinates: &[usize], settings: &Settings) -> Option<Dependence> {
        let entry = |i: usize, c: usize| self.asked.rows.row_times(i, &self.responses[c]);
        let size = |i: usize| (0..self.responses.len()).fold(0.0_f64, |top, c| top.max(entry(i, c).abs()));
        let mut dense = Vec::with_capacity(rows.len() * coordinates.len());
        for &i in rows {
            // a response is treated as zero if it is rounding relative to that to all forces, or to these without
            // constraints
            let floor = settings.rank_tolerance * size(i);
            let floor = if size(i) <= tolerance::ELIMINATED * self.free[i] { f64::INFINITY } else { floor };
            dense.extend(coordinates.iter().map(|&c| entry(i, c)).map(|x| if x.abs() > floor { x } else { 0.0 }));
        }
        dependence(&Matrix::from_dense(rows.len(), coordinates.len(), &dense), settings).ok()
    }
}

/// The largest ranks, reached and needed, at three other states on the constraints.
fn usual_ranks(
    equations: &Equations,
    system: &mut Evaluator,
    snapshot: &Snapshot,
    group: &ControlSet,
    route: &mut dyn Route,
    settings: &Settings,
) -> Option<(usize, usize)> {
    let states = elsewhere(equations, system, &snapshot.state, settings, limits::GENERIC_STATES).states;
    let ranks = states.iter().filter_map(|(state, given)| {
        let (reached, needed) = ControlResponse::new(system, state, given, route)?.reached(group, settings)?;
        Some((reached.rank, needed.rank))
    });
    ranks.max()
}

/// `0.5 a - b` as `a - 2 b`, in the user's names: a combination of control rows whose largest factor is one.
fn direction(equations: &Equations, combination: &[(usize, f64)]) -> String {
    let mut terms = combination.to_vec();
    terms.sort_by_key(|(row, _)| *row);
    let top = terms
        .iter()
        .fold(0.0, |top: f64, (_, c)| if c.abs() > (1.0 + tolerance::NEGLIGIBLE) * top.abs() { *c } else { top });
    let mut text = String::new();
    for &(row, c) in terms.iter().filter(|(_, c)| c.abs() > tolerance::NEGLIGIBLE * top.abs()) {
        let c = c / top;
        let sign = match (text.is_empty(), c < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let factor = if (c.abs() - 1.0).abs() < tolerance::NEGLIGIBLE {
            String::new()
        } else {
            format!("{} ", rounded(c.abs(), 4))
        };
        text.push_str(&format!("{sign}{factor}`{}`", equations.asked[row].row.name));
    }
    text
}

/// `missing: …`, the unreachable directions of the control rows.
fn missing_note(equations: &Equations, missing: &[Combination]) -> String {
    let directions: Vec<String> = missing.iter().map(|rows| direction(equations, rows)).collect();
    format!("missing: {}", joined(&directions))
}

/// `` `x` and `l` ``, the driven coordinates; beyond six, the number of the others.
fn driven_names(equations: &Equations, driven: &[usize]) -> String {
    let name = |k: &usize| format!("`{}`", equations.model.coordinates[*k].name);
    let mut names: Vec<String> = driven.iter().take(limits::NAMES).map(name).collect();
    if driven.len() > limits::NAMES {
        names.push(format!("{} more", driven.len() - limits::NAMES));
    }
    joined(&names)
}

/// `` `a` and `b` ``, the controls of a group.
fn control_names(equations: &Equations, controls: &[usize]) -> String {
    let names: Vec<String> =
        controls.iter().map(|&k| format!("`{}`", equations.model.controls[k].stated.name)).collect();
    joined(&names)
}

/// A label at each control of a group; the last one carries the full text.
fn at_controls(d: Diagnostic, equations: &Equations, controls: &[usize], label: &str) -> Diagnostic {
    let Some((&last, others)) = controls.split_last() else { return d };
    let d = d.at(equations.model.controls[last].stated.span, label);
    others.iter().fold(d, |d, &k| d.and_at(equations.model.controls[k].stated.span, "one of them"))
}

/// Z701: the driven coordinates lose control authority in this position and have it elsewhere.
fn singular(
    equations: &Equations,
    group: &ControlSet,
    state: &State,
    ((reached, needed), there): ((usize, usize), (usize, usize)),
    missing: &[Combination],
) -> Diagnostic {
    let (asked, t) = (control_names(equations, &group.controls), rounded(state.t, 9));
    let names = driven_names(equations, &group.driven);
    let message = format!("in this position forces on {names} do not move all that {asked} needs");
    let d = at_controls(
        Diagnostic::error("Z701", message),
        equations,
        &group.controls,
        &format!("rank {reached} of {needed} at t = {t}"),
    );
    d.with_note(missing_note(equations, missing))
        .with_note(format!("the position is singular: close by the rank is {} of {}", there.0, there.1))
        .help("start away from this position, or drive more coordinates with `using`")
}

/// The coordinates that some controls drive together.
fn driven_by(equations: &Equations, controls: &[usize]) -> Vec<usize> {
    let model = &equations.model;
    let mut driven: Vec<usize> =
        controls.iter().flat_map(|&k| model.controls[k].driven(model.n_coordinates())).collect();
    driven.sort_unstable();
    driven.dedup();
    driven
}

/// The combination of control rows that no driven coordinate moves, with row i of `rows` first.
fn unreached(reached: &Dependence, rows: &[usize], i: usize) -> Vec<(usize, f64)> {
    let mut combination = vec![(rows[i], 1.0)];
    if let Some((_, terms)) = reached.dependent.iter().find(|(row, _)| *row == i) {
        combination.extend(terms.iter().map(|&(j, c)| (rows[j], -c)));
    }
    combination
}

fn too_few(
    equations: &Equations,
    group: &ControlSet,
    state: &State,
    (reached, needed): (usize, usize),
    missing: &[Combination],
) -> Diagnostic {
    let directions = if needed == 1 { "1 direction".to_string() } else { format!("{needed} directions") };
    let ask = if group.controls.len() == 1 { "asks" } else { "together ask" };
    let (stated, names) = (control_names(equations, &group.controls), driven_names(equations, &group.driven));
    let message = format!("{stated} {ask} for {directions} but {names} can drive {reached}");
    let label = format!("rank {reached} of {needed} at t = {}", rounded(state.t, 9));
    at_controls(Diagnostic::error("Z701", message), equations, &group.controls, &label)
        .with_note(missing_note(equations, missing))
        .help("drive more coordinates with `using`, or ask for fewer components, such as tip.x alone")
}

/// Z702: the driven coordinates act on the control rows only through the motion of other coordinates.
fn late(equations: &Equations, group: &ControlSet, degree: usize, missing: &[Combination]) -> Diagnostic {
    let names = driven_names(equations, &group.driven);
    let first = &equations.asked[missing[0][0].0].row;
    let (needs, primes) = match first.level {
        Level::Position => (2, "''"),
        Level::Velocity => (1, "'"),
        Level::Acceleration => (0, ""),
    };
    let rows: Vec<String> = missing.iter().map(|rows| shown_with(equations, rows, primes)).collect();
    let message = format!("forces on {names} do not show in {} but in a later derivative", joined(&rows));
    let label = format!("relative degree {degree}; what is computed needs {needs}");
    at_controls(Diagnostic::error("Z702", message), equations, &group.controls, &label)
        .with_note("such forces follow from further derivatives of the target, which this version does not take")
        .help("ask for a motion of coordinates the driven ones move at once, or drive more coordinates with `using`")
}

/// A direction with primes: `` `move.x`'' ``, `` (`a` - 2 `b`)'' ``.
fn shown_with(equations: &Equations, combination: &[(usize, f64)], primes: &str) -> String {
    let text = direction(equations, combination);
    let is_plain = text.matches('`').count() == 2 && text.starts_with('`');
    if is_plain || primes.is_empty() { format!("{text}{primes}") } else { format!("({text}){primes}") }
}

/// The inputs of the computation of the relative degree.
struct DegreeInputs<'s> {
    system: &'s mut Evaluator,
    snapshot: &'s Snapshot,
    place: &'s ControlResponse,
    driven: &'s [usize],
}

/// A matrix by columns.
type Columns = Vec<Vec<f64>>;

impl DegreeInputs<'_> {
    /// The relative degree: the first derivative of a combination of control rows in which the driven forces appear, up
    /// to 2n for positions.
    ///
    /// The system is linearized at the state with the control force constant: ż = N z + B w and ε = C z, of which the
    /// derivative of order d contains C N^(d−1) B w. A row on velocities or accelerations counts as one that was
    /// differentiated once or twice.
    fn relative_degree(
        &mut self,
        equations: &Equations,
        route: &mut dyn Route,
        combination: &[(usize, f64)],
    ) -> Option<usize> {
        let n = self.place.responses.len();
        let taken = match equations.asked[combination.first()?.0].row.level {
            Level::Position => 0,
            Level::Velocity => 1,
            Level::Acceleration => 2,
        };
        let [by_q, by_qdot] = self.linearized(route)?;
        // c = C N² = (A_c ∂q̈/∂q, A_c ∂q̈/∂q̇): C N is (0, A_c), whose product with B vanishes
        let mut c = vec![0.0; 2 * n];
        for &(i, factor) in combination {
            let (col, value) = self.place.asked.rows.row(i);
            col.iter().zip(value).for_each(|(&j, x)| c[n + j] += factor * x);
        }
        for degree in 3..=2 * n {
            let (left, right) = c.split_at(n);
            let next_left: Vec<f64> = (0..n).map(|j| (0..n).map(|i| right[i] * by_q[j][i]).sum()).collect();
            let next_right: Vec<f64> =
                (0..n).map(|j| left[j] + (0..n).map(|i| right[i] * by_qdot[j][i]).sum::<f64>()).collect();
            c = next_left.into_iter().chain(next_right).collect();
            let shows = |k: usize| c[n..].iter().zip(&self.place.responses[k]).map(|(x, y)| x * y).sum::<f64>().abs();
            let size = |k: usize| c[n..].iter().zip(&self.place.responses[k]).map(|(x, y)| (x * y).abs()).sum::<f64>();
            let (most, whole) = (self.driven.iter().map(|&k| shows(k)), self.driven.iter().map(|&k| size(k)));
            let (most, whole) = (most.fold(0.0, f64::max), whole.fold(0.0, f64::max));
            if most > tolerance::DIFFERENCE_ERROR * whole && most > 0.0 {
                return Some(degree - taken);
            }
        }
        None
    }

    /// The columns of ∂q̈/∂q and ∂q̈/∂q̇ with the control force constant.
    fn linearized(&mut self, route: &mut dyn Route) -> Option<[Columns; 2]> {
        let (state, n) = (&self.snapshot.state, self.place.responses.len());
        let mut given = self.system.allocate();
        let mut solution = RouteSolution::default();
        let mut at = |state: &State, system: &mut Evaluator| {
            system.fill(state, &mut given).ok()?;
            route.solve(&given, None::<&Legendre>, &self.snapshot.found.control_force, &mut solution).ok()?;
            Some(solution.qddot.clone())
        };
        let mut columns = [Vec::new(), Vec::new()];
        for (part, columns) in columns.iter_mut().enumerate() {
            for j in 0..n {
                let mut moved = |sign: f64| {
                    let mut moved = state.clone();
                    let x = if part == 0 { &mut moved.q[j] } else { &mut moved.qdot[j] };
                    let step = tolerance::CENTRAL_STEP * (1.0 + x.abs());
                    *x += sign * step;
                    at(&moved, self.system).map(|qddot| (qddot, step))
                };
                let ((up, step), (down, _)) = (moved(1.0)?, moved(-1.0)?);
                columns.push(up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * step)).collect());
            }
        }
        Some(columns)
    }
}

/// Z701: rows that no force satisfies, because of the position, the constraints or other controls.
fn not_met(
    equations: &Equations,
    system: &mut Evaluator,
    snapshot: &Snapshot,
    place: &ControlResponse,
    route: &mut dyn Route,
    settings: &Settings,
) -> Option<Diagnostic> {
    let found = &snapshot.found;
    if !found.saturated.is_empty() {
        return None;
    }
    let forces = |row| place.size_of_forces(row, &snapshot.given.given_force, &found.control_force);
    let row = place.asked.violated_row(&found.qddot, forces, settings)?;
    let group = ControlSet::all(equations);
    let (_, needed) = place.reached(&group, settings)?;
    let missing = impossible(place, &group.rows, &needed, &found.qddot);
    if missing.is_empty() {
        return Some(unreachable(equations, &snapshot.state, row, found.control_rank));
    }
    let usual = usual_ranks(equations, system, snapshot, &group, route, settings);
    Some(match usual.filter(|(reached, _)| *reached > needed.rank) {
        Some((usual, _)) => vanishing(equations, &snapshot.state, (needed.rank, usual), &missing),
        None => against(equations, snapshot, settings, &missing),
    })
}

/// Combinations of rows that no force can change and that are not satisfied.
fn impossible(place: &ControlResponse, rows: &[usize], needed: &Dependence, qddot: &[f64]) -> Vec<Combination> {
    let mut all: Vec<Combination> = needed.vanished.iter().map(|&i| vec![(rows[i], 1.0)]).collect();
    all.extend(needed.dependent.iter().map(|(i, _)| unreached(needed, rows, *i)));
    let residual = |combination: &Combination| {
        let off = |&(i, c): &(usize, f64)| c * (place.asked.rhs[i] - place.asked.rows.row_times(i, qddot));
        combination.iter().map(off).sum::<f64>().abs()
    };
    let top = all.iter().map(residual).fold(0.0, f64::max);
    all.into_iter().filter(|combination| residual(combination) > tolerance::NEGLIGIBLE * top).collect()
}

/// The controls whose rows take part in some combinations.
fn controls_of(equations: &Equations, combinations: &[Combination]) -> Vec<usize> {
    let mut controls: Vec<usize> =
        combinations.iter().flatten().map(|&(row, _)| equations.asked[row].row.constraint).collect();
    controls.sort_unstable();
    controls.dedup();
    controls
}

/// Z701: a position or velocity in which no force moves a direction of the control rows.
fn vanishing(
    equations: &Equations,
    state: &State,
    (here, usual): (usize, usize),
    missing: &[Combination],
) -> Diagnostic {
    let controls = controls_of(equations, missing);
    let message = format!(
        "no force makes the motion follow {} from this state, which is singular",
        control_names(equations, &controls)
    );
    let label = format!("rank {here} of {usual} at t = {}", rounded(state.t, 9));
    at_controls(Diagnostic::error("Z701", message), equations, &controls, &label)
        .with_note(missing_note(equations, missing))
        .with_note("accelerations do not show in it here; close by they do")
        .help("start away from this state, or ask for another motion there")
}

/// Z701: controls that contradict each other or the constraints.
fn against(equations: &Equations, snapshot: &Snapshot, settings: &Settings, missing: &[Combination]) -> Diagnostic {
    let controls = controls_of(equations, missing);
    let names = control_names(equations, &controls);
    let rows = constraints_behind(snapshot, missing, settings);
    let constraints: Vec<String> = rows.iter().take(6).map(|&k| format!("`{}`", equations.rows[k].name)).collect();
    let t = rounded(snapshot.state.t, 9);
    let message = match (controls.len(), constraints.is_empty()) {
        (1, true) => format!("no force makes the motion follow {names} at t = {t}"),
        (1, false) => {
            let hold = if constraints.len() == 1 { "holds" } else { "hold" };
            format!("no force makes the motion follow {names} at t = {t}: {} {hold} it otherwise", joined(&constraints))
        }
        _ => format!("no force makes the motion follow {names} at t = {t}: they contradict each other"),
    };
    let d = at_controls(Diagnostic::error("Z701", message), equations, &controls, "asks for something else");
    let mut spans: Vec<_> =
        rows.iter().map(|&k| equations.model.constraints[equations.rows[k].constraint].span).collect();
    spans.dedup();
    let d = spans.into_iter().take(6).fold(d, |d, span| d.and_at(span, "holds it"));
    d.with_note(missing_note(equations, missing))
        .help("ask for a motion that the constraints and the other controls leave possible")
}

/// The constraint rows that together fix some combinations of control rows.
fn constraints_behind(snapshot: &Snapshot, missing: &[Combination], settings: &Settings) -> Vec<usize> {
    let Some(asked) = &snapshot.found.asked else { return Vec::new() };
    let (A, n) = (&snapshot.given.constraint_matrix, snapshot.state.q.len());
    let mut dense = vec![0.0; A.n_rows * n];
    A.write_dense(&mut dense);
    for combination in missing {
        let mut row = vec![0.0; n];
        for &(i, c) in combination {
            let (col, value) = asked.rows.row(i);
            col.iter().zip(value).for_each(|(&j, x)| row[j] += c * x);
        }
        dense.extend(row);
    }
    let all = Matrix::from_dense(A.n_rows + missing.len(), n, &dense);
    let Ok(found) = dependence(&all, settings) else { return Vec::new() };
    let behind = found.dependent.iter().filter(|(row, _)| *row >= A.n_rows).flat_map(|(_, terms)| terms);
    let mut rows: Vec<usize> = behind.map(|(k, _)| *k).filter(|&k| k < A.n_rows).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Z701: no force on the driven coordinates satisfies a row.
pub(crate) fn unreachable(
    equations: &Equations,
    state: &State,
    row: usize,
    (reached, needed): (usize, usize),
) -> Diagnostic {
    let asked = &equations.asked[row].row;
    let control = &equations.model.controls[asked.constraint];
    let t = rounded(state.t, 9);
    let d = Diagnostic::error("Z701", format!("no force makes the motion follow `{}` at t = {t}", asked.name));
    let d = match reached < needed {
        true => d.at(control.stated.span, format!("rank {reached} of {needed}")),
        false => d.at(control.stated.span, "the constraints, or other controls, ask for something else"),
    };
    let help = match control.using.is_empty() {
        true => "ask for a motion that the constraints and the other controls leave possible",
        false => {
            "drive more coordinates with `using`, or keep away from positions in which the driven ones lose control authority"
        }
    };
    d.with_note(format!("missing: `{}`", asked.name)).help(help)
}

/// Z701 along a motion: the most specific diagnostic that the state reached allows.
pub(crate) fn out_of_reach(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    (row, ranks): (usize, (usize, usize)),
    settings: &Settings,
) -> Diagnostic {
    let lenient = Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() };
    let mut snapshot = Snapshot::new(system);
    let solver = &mut *zwang_motion::route(Default::default(), &lenient);
    let found = match snapshot.take(system, state, solver, &lenient) {
        Ok(()) => following(equations, system, &snapshot, solver, settings).into_iter().find(Diagnostic::is_error),
        Err(_) => None,
    };
    found.unwrap_or_else(|| unreachable(equations, state, row, ranks))
}

/// Z703: a position in which the driven coordinates lose control authority, so that forces grow without bound.
///
/// `weakest` is the row that is known to be lost, if there is one.
pub(crate) fn losing(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    (start, weakest): (Option<&ControlRows>, Option<usize>),
    settings: &Settings,
) -> Option<Diagnostic> {
    let start = start?;
    let strict = Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() };
    let loose = Settings { rank_tolerance: tolerance::AUTHORITY_NEARLY_LOST, ..strict.clone() };
    let mut snapshot = Snapshot::new(system);
    let solver = &mut *zwang_motion::route(Default::default(), &strict);
    snapshot.take(system, state, solver, &strict).ok()?;
    let place = ControlResponse::new(system, state, &snapshot.given, solver)?;
    let group = ControlSet::all(equations);
    let (here, nearly) = (place.reached(&group, &strict)?.0, place.reached(&group, &loose)?.0);
    // the whole row may have become short as well
    let length = |asked: &ControlRows, i: usize| asked.rows.row(i).1.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let is_short = |i: usize| length(&place.asked, i) < tolerance::AUTHORITY_NEARLY_LOST * length(start, i);
    let mut lost: Vec<Combination> = Vec::new();
    for &i in &here.independent {
        match nearly.independent.contains(&i) {
            false => lost.push(unreached(&nearly, &group.rows, i)),
            true if is_short(i) => lost.push(vec![(group.rows[i], 1.0)]),
            true => {}
        }
    }
    if lost.is_empty() {
        lost.push(vec![(weakest?, 1.0)]);
    }
    let needed = here.rank.max(lost.len());
    let controls = controls_of(equations, &lost);
    let message = format!(
        "forces on {} cannot make the motion follow {} beyond t = {}: rank {} of {needed} there",
        driven_names(equations, &group.driven),
        control_names(equations, &controls),
        rounded(state.t, 9),
        needed - lost.len(),
    );
    let top = snapshot.found.control_force.iter().fold(0.0_f64, |top, u| top.max(u.abs()));
    let label = "the forces lose their authority over it";
    Some(
        at_controls(Diagnostic::error("Z703", message), equations, &controls, label)
            .with_note(missing_note(equations, &lost))
            .with_note(format!("the largest force has grown to {} (in SI units)", rounded(top, 4)))
            .help("ask for a motion that keeps away from this position, or bound the force with `limit`"),
    )
}

/// The change of q̈ by a unit force on each coordinate.
fn responses(given: &Given, route: &mut dyn Route, n: usize) -> Option<Vec<Vec<f64>>> {
    let mut solve = |force: &[f64]| {
        let mut solution = RouteSolution::default();
        route.solve(given, None::<&Legendre>, force, &mut solution).ok()?;
        Some(solution.qddot)
    };
    let free = solve(&vec![0.0; n])?;
    let mut responses = Vec::new();
    for k in 0..n {
        let mut force = vec![0.0; n];
        force[k] = 1.0;
        let moved = solve(&force)?;
        responses.push(moved.iter().zip(&free).map(|(a, b)| a - b).collect());
    }
    Some(responses)
}
