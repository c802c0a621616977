//! Whether the driven coordinates can do what controls ask, and which directions are missing.

use zwang_motion::{
    Asked, Dependence, Dynamics, Given, Legendre, Matrix, Route, Settings, Snapshot, Solution, State, dependence,
};

use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Level;
use crate::quantity::rounded;
use crate::start::joined;
use crate::system::System;

/// Above this many coordinates the responses to single forces are not looked at.
const MOST_COORDINATES: usize = 200;

/// Z701: controls that cannot be followed from this state.
///
/// A unit force on each coordinate in turn gives the accelerations the physical constraints leave possible; the driven ones
/// must reach as many directions of what is asked as all of them together.
pub fn following(
    equations: &Equations,
    system: &mut System,
    snapshot: &Snapshot,
    route: &mut dyn Route,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let (state, n) = (&snapshot.state, snapshot.state.q.len());
    let Some(mut asked) = system.allocate_asked().filter(|_| n <= MOST_COORDINATES) else { return Vec::new() };
    if system.fill_asked(state, &mut asked).is_err() {
        return Vec::new();
    }
    let Some(responses) = responses(&snapshot.given, route, n) else { return Vec::new() };
    let mut found = Vec::new();
    let n_controls = equations.model.controls.len();
    // each by itself, and if that is possible all of them together
    let mut groups: Vec<Vec<usize>> = (0..n_controls).map(|k| vec![k]).collect();
    groups.extend((n_controls > 1).then(|| (0..n_controls).collect()));
    for group in groups {
        if group.len() > 1 && !found.is_empty() {
            break;
        }
        let is_of_group = |i: &usize| group.contains(&equations.asked[*i].row.constraint);
        let rows: Vec<usize> = (0..equations.asked.len()).filter(is_of_group).collect();
        let driven = driven_by(equations, &group);
        let reach = |coordinates: &[usize]| reached(&asked, &responses, &rows, coordinates, settings);
        let (Some(needed), Some(reached)) = (reach(&(0..n).collect::<Vec<_>>()), reach(&driven)) else {
            continue;
        };
        if reached.rank >= needed.rank {
            continue;
        }
        let missing = needed.independent.iter().filter(|i| !reached.independent.contains(i));
        let missing: Vec<Vec<(usize, f64)>> = missing.map(|&i| unreached(&reached, &rows, i)).collect();
        let mut scene = Scene { system, snapshot, asked: &asked, responses: &responses, driven };
        let degree = missing.first().and_then(|rows| scene.relative_degree(equations, route, rows));
        let names: Vec<String> = missing.iter().map(|rows| equations.asked[rows[0].0].row.name.clone()).collect();
        found.push(match degree.filter(|_| group.len() == 1) {
            Some(degree) => late(equations, group[0], degree, &names),
            None => too_few(equations, &group, state, (reached.rank, needed.rank), &names),
        });
    }
    if found.is_empty() {
        found.extend(not_met(equations, snapshot, &asked, settings));
    }
    found
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

/// The combination of asked rows that no driven coordinate moves, with row i of `rows` first.
fn unreached(reached: &Dependence, rows: &[usize], i: usize) -> Vec<(usize, f64)> {
    let mut combination = vec![(rows[i], 1.0)];
    if let Some((_, terms)) = reached.dependent.iter().find(|(row, _)| *row == i) {
        combination.extend(terms.iter().map(|&(j, c)| (rows[j], -c)));
    }
    combination
}

/// Which of some asked rows are independent, as far as forces on these coordinates move them.
fn reached(
    asked: &Asked,
    responses: &[Vec<f64>],
    rows: &[usize],
    coordinates: &[usize],
    settings: &Settings,
) -> Option<Dependence> {
    let entry = |i: usize, c: usize| asked.rows.row_times(i, &responses[c]);
    let size = |i: usize| (0..responses.len()).fold(0.0_f64, |top, c| top.max(entry(i, c).abs()));
    let mut dense = Vec::with_capacity(rows.len() * coordinates.len());
    for &i in rows {
        // what is only rounding beside the response to all forces is none
        let floor = settings.rank_tolerance * size(i);
        dense.extend(coordinates.iter().map(|&c| entry(i, c)).map(|x| if x.abs() > floor { x } else { 0.0 }));
    }
    dependence(&Matrix::from_dense(rows.len(), coordinates.len(), &dense), settings).ok()
}

fn too_few(
    equations: &Equations,
    controls: &[usize],
    state: &State,
    (reached, needed): (usize, usize),
    missing: &[String],
) -> Diagnostic {
    let model = &equations.model;
    let driven = driven_by(equations, controls);
    let names: Vec<String> = driven.iter().take(6).map(|k| format!("`{}`", model.coordinates[*k].name)).collect();
    let directions = if needed == 1 { "1 direction".to_string() } else { format!("{needed} directions") };
    let stated: Vec<String> = controls.iter().map(|&k| format!("`{}`", model.controls[k].stated.name)).collect();
    let ask = if stated.len() == 1 { "asks" } else { "together ask" };
    let message = format!("{} {ask} for {directions} but {} can drive {reached}", joined(&stated), joined(&names));
    let rows: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let last = controls.last().map_or(0, |&k| k);
    Diagnostic::error("Z701", message)
        .at(model.controls[last].stated.span, format!("rank {reached} of {needed} at t = {}", rounded(state.t, 9)))
        .with_note(format!("missing: {}", joined(&rows)))
        .help("drive more coordinates with `using`, or ask for fewer components, such as tip.x alone")
}

/// Z702: the driven coordinates act on what is asked only through the motion of others.
fn late(equations: &Equations, control: usize, degree: usize, missing: &[String]) -> Diagnostic {
    let model = &equations.model;
    let control = &model.controls[control];
    let driven = control.driven(model.n_coordinates());
    let names: Vec<String> = driven.iter().take(6).map(|k| format!("`{}`", model.coordinates[*k].name)).collect();
    let rows: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("forces on {} do not show in {}'' but in a later derivative", joined(&names), joined(&rows));
    Diagnostic::error("Z702", message)
        .at(control.stated.span, format!("relative degree {degree}; what is computed needs 2"))
        .with_note("such forces follow from further derivatives of what is asked, which this version does not take")
        .help("ask for a motion of coordinates the driven ones move at once, or drive more coordinates with `using`")
}

/// What the relative degree is found from.
struct Scene<'s> {
    system: &'s mut System,
    snapshot: &'s Snapshot,
    asked: &'s Asked,
    /// The change of q̈ that a unit force on each coordinate makes.
    responses: &'s [Vec<f64>],
    driven: Vec<usize>,
}

/// Steps of central differences, as a part of the size of a coordinate: their error is about its square.
const STEP: f64 = 1e-5;

/// What differences leave of a derivative that vanishes, beside the largest.
const VANISHES: f64 = 1e-6;

/// A matrix by columns.
type Columns = Vec<Vec<f64>>;

impl Scene<'_> {
    /// In which derivative of a combination of asked positions the driven forces first show, up to 2n.
    ///
    /// Linearized where the system stands, with the control force as it is: ż = N z + B w and ε = C z, of which the
    /// derivative of order d contains C N^(d−1) B w.
    fn relative_degree(
        &mut self,
        equations: &Equations,
        route: &mut dyn Route,
        combination: &[(usize, f64)],
    ) -> Option<usize> {
        let n = self.responses.len();
        if combination.iter().any(|&(i, _)| equations.asked[i].row.level != Level::Position) {
            return None;
        }
        let [by_q, by_qdot] = self.linearized(route)?;
        // c = C N² = (A_c ∂q̈/∂q, A_c ∂q̈/∂q̇): C N is (0, A_c), whose product with B vanishes
        let mut c = vec![0.0; 2 * n];
        for &(i, factor) in combination {
            let (col, value) = self.asked.rows.row(i);
            col.iter().zip(value).for_each(|(&j, x)| c[n + j] += factor * x);
        }
        for degree in 3..=2 * n {
            let (left, right) = c.split_at(n);
            let next_left: Vec<f64> = (0..n).map(|j| (0..n).map(|i| right[i] * by_q[j][i]).sum()).collect();
            let next_right: Vec<f64> =
                (0..n).map(|j| left[j] + (0..n).map(|i| right[i] * by_qdot[j][i]).sum::<f64>()).collect();
            c = next_left.into_iter().chain(next_right).collect();
            let shows = |k: usize| c[n..].iter().zip(&self.responses[k]).map(|(x, y)| x * y).sum::<f64>().abs();
            let size = |k: usize| c[n..].iter().zip(&self.responses[k]).map(|(x, y)| (x * y).abs()).sum::<f64>();
            let (most, whole) = (self.driven.iter().map(|&k| shows(k)), self.driven.iter().map(|&k| size(k)));
            let (most, whole) = (most.fold(0.0, f64::max), whole.fold(0.0, f64::max));
            if most > VANISHES * whole && most > 0.0 {
                return Some(degree);
            }
        }
        None
    }

    /// The columns of ∂q̈/∂q and ∂q̈/∂q̇ with the control force held.
    fn linearized(&mut self, route: &mut dyn Route) -> Option<[Columns; 2]> {
        let (state, n) = (&self.snapshot.state, self.responses.len());
        let mut given = self.system.allocate();
        let mut solution = Solution::default();
        let mut at = |state: &State, system: &mut System| {
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
                    let step = STEP * (1.0 + x.abs());
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

/// Several controls together, or controls against constraints.
fn not_met(equations: &Equations, snapshot: &Snapshot, asked: &Asked, settings: &Settings) -> Option<Diagnostic> {
    if !snapshot.found.saturated.is_empty() {
        return None;
    }
    let row = asked.missed_row(&snapshot.found.qddot, settings)?;
    Some(unreachable(equations, &snapshot.state, row, snapshot.found.control_rank))
}

/// Z701: no force on the driven coordinates meets a row.
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
            "drive more coordinates with `using`, or keep away from positions in which the driven ones lose their hold"
        }
    };
    d.help(help)
}

/// A direction of what is asked in which forces do less than this beside the others is nearly lost.
const NEARLY_LOST: f64 = 1e-2;

/// Z703: a position in which the driven coordinates lose their hold on what is asked, so that forces grow without bound.
pub(crate) fn losing(
    equations: &Equations,
    system: &mut System,
    state: &State,
    start: Option<&Asked>,
    settings: &Settings,
) -> Option<Diagnostic> {
    let start = start?;
    let mut rank_at = |rank_tolerance: f64| {
        let settings = Settings { contradiction_tolerance: f64::INFINITY, rank_tolerance, ..settings.clone() };
        let mut snapshot = Snapshot::new(system);
        let way = &mut *zwang_motion::route(Default::default(), &settings);
        snapshot.take(system, state, way, &settings).ok().map(|()| snapshot.found)
    };
    let (here, nearly) = (rank_at(settings.rank_tolerance)?, rank_at(NEARLY_LOST)?);
    // a row may also have become short as a whole
    let length = |asked: &Asked, i: usize| asked.rows.row(i).1.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let now = here.asked.as_ref()?;
    let n_short = (0..now.rhs.len()).filter(|&i| length(now, i) < NEARLY_LOST * length(start, i)).count();
    let lost = n_short.max(here.control_rank.0.saturating_sub(nearly.control_rank.0));
    if lost == 0 {
        return None;
    }
    let names: Vec<String> = equations.model.controls.iter().map(|c| format!("`{}`", c.stated.name)).collect();
    let t = rounded(state.t, 9);
    let message = format!("the forces lose their hold on {} at t = {t}", joined(&names));
    let span = equations.model.controls.first().map(|c| c.stated.span)?;
    let top = here.control_force.iter().fold(0.0_f64, |top, u| top.max(u.abs()));
    Some(
        Diagnostic::error("Z703", message)
            .at(span, format!("{lost} of {} directions nearly out of reach", now.rhs.len()))
            .with_note(format!("the largest force has grown to {} (in SI units)", rounded(top, 4)))
            .help("ask for a motion that keeps away from this position, or bound the force with `limit`"),
    )
}

/// The change of q̈ that a unit force on each coordinate makes.
fn responses(given: &Given, route: &mut dyn Route, n: usize) -> Option<Vec<Vec<f64>>> {
    let mut solve = |force: &[f64]| {
        let mut solution = Solution::default();
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
