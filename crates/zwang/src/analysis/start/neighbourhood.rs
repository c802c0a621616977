//! Neighbourhood search: random states on the constraints; a property of all of them is taken to hold in general.

use zwang_motion::{Dynamics, Given, Matrix, Route, RouteName, RouteSolution, Settings, State, project_only, route};

use crate::compile::evaluator::Evaluator;
use crate::equations::Equations;
use crate::model::Level;
use crate::random::Random;
use crate::{analysis::start::level::LevelEquations, limits, tolerance};

/// The results of a neighbourhood search.
#[derive(Clone, Debug, Default)]
pub struct NearbyState {
    /// States on all constraints, away from the given one, with M, Q, A, b there.
    pub states: Vec<(State, Given)>,
    /// The number of searches.
    pub n_tried: usize,
    /// The number of searches in which every step, however small, led back to its start.
    pub n_back: usize,
}

/// The shortest step that counts as evidence after a longer one led back: if constraints are tangent, nearer points
/// cannot be distinguished from points on them.
const SHORTEST_EVIDENCE: f64 = 0.03;
/// The fraction of a step that must remain after projection for it to lead away. If constraints are only tangent,
/// nothing remains.
const LEADS_AWAY: f64 = 0.2;

/// Searches `n_walks` times from a state along directions that the constraints leave free, and keeps the states
/// reached.
///
/// A step follows a random direction with A v = 0 and is then projected to the nearest point with φ = 0. The velocity
/// is drawn at random and projected onto φ̇ = 0, ψ = 0. Lengths are measured by √(m) q, which does not depend on the
/// units.
pub(crate) fn elsewhere(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
    n_walks: usize,
) -> NearbyState {
    let mut found = NearbyState::default();
    let Some(mut walk) = NeighbourhoodSearch::new(equations, system, state, settings) else { return found };
    for attempt in 0..n_walks {
        found.n_tried += 1;
        walk.random = Random::new(attempt as u64 + 1);
        match walk.away(system, state) {
            Branch::To(there) => found.states.push(*there),
            Branch::Back => found.n_back += 1,
            Branch::Nowhere => {}
        }
    }
    found
}

/// Another state on the constraints near a given one, different for each attempt.
pub fn nearby_state(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
    attempt: usize,
) -> Option<State> {
    let mut walk = NeighbourhoodSearch::new(equations, system, state, settings)?;
    walk.random = Random::new(attempt as u64 + 1);
    match walk.away(system, state) {
        Branch::To(there) => Some(there.0),
        Branch::Back | Branch::Nowhere => None,
    }
}

/// M, Q, A, b at three states near a given one, which need not be on the constraints: they give reference sizes.
pub(crate) fn beside(system: &mut Evaluator, state: &State) -> Vec<Given> {
    let mut given = system.allocate();
    // masses are needed only for their sizes, even if another term has no value
    let _ = system.fill(state, &mut given);
    let mass: Vec<f64> = (0..state.q.len()).map(|k| given.mass_matrix.get(k, k)).collect();
    let (unit, unit_rate) = (units(&mass, &state.q), units(&mass, &state.qdot));
    let mut found = Vec::new();
    for seed in 1..=limits::NEARBY_STATES {
        let mut random = Random::new(seed);
        let mut other = state.clone();
        other.q.iter_mut().zip(&unit).for_each(|(q, unit)| *q += tolerance::OTHER_STATE * unit * random.next());
        other.qdot.iter_mut().zip(&unit_rate).for_each(|(v, unit)| *v += tolerance::OTHER_STATE * unit * random.next());
        let mut given = system.allocate();
        if system.fill(&other, &mut given).is_ok() {
            found.push(given);
        }
    }
    found
}

/// The result of one search.
enum Branch {
    To(Box<(State, Given)>),
    Back,
    Nowhere,
}

struct NeighbourhoodSearch<'a> {
    settings: &'a Settings,
    positions: LevelEquations<'a>,
    velocities: LevelEquations<'a>,
    /// The unit of each coordinate and of each velocity: their size in the system.
    unit: Vec<f64>,
    unit_rate: Vec<f64>,
    /// 1/unit² on the diagonal, for positions and for velocities alike.
    weight: Matrix,
    n_position_rows: usize,
    /// The largest change of the time, for constraints that contain it.
    time: f64,
    route: Box<dyn Route>,
    random: Random,
}

impl<'a> NeighbourhoodSearch<'a> {
    fn new(
        equations: &'a Equations,
        system: &mut Evaluator,
        state: &State,
        settings: &'a Settings,
    ) -> Option<NeighbourhoodSearch<'a>> {
        let mut given = system.allocate();
        system.fill(state, &mut given).ok()?;
        let mass: Vec<f64> = (0..state.q.len()).map(|k| given.mass_matrix.get(k, k)).collect();
        let (unit, unit_rate) = (units(&mass, &state.q), units(&mass, &state.qdot));
        let mut weight = Matrix::identity(unit.len());
        weight.value.iter_mut().zip(&unit).for_each(|(w, unit)| *w = 1.0 / (unit * unit));
        let model = &equations.model;
        let is_timed = |row: &crate::equations::ConstraintRow| {
            let level = row.rate.unwrap_or(row.residual);
            model.graph.symbols_of(&[row.residual, level]).binary_search(&model.time).is_ok()
        };
        Some(NeighbourhoodSearch {
            settings,
            positions: LevelEquations::new(equations, &[], state, false),
            velocities: LevelEquations::new(equations, &[], state, true),
            unit,
            unit_rate,
            weight,
            n_position_rows: equations.rows.iter().filter(|r| r.level == Level::Position).count(),
            time: if equations.rows.iter().any(is_timed) { 0.1 * model.horizon() } else { 0.0 },
            route: route(RouteName::GeneralizedInverse, settings),
            random: Random::new(1),
        })
    }

    fn away(&mut self, system: &mut Evaluator, state: &State) -> Branch {
        let mut here = state.clone();
        let mut given = system.allocate();
        for _ in 0..limits::SEARCH_STEPS {
            if system.fill(&here, &mut given).is_err() {
                return Branch::Nowhere;
            }
            let Some(direction) = self.free_direction(&given) else { return Branch::Nowhere };
            here = match self.step(&here, &direction) {
                Ok(there) => there,
                Err(way) => return way,
            };
        }
        for k in 0..here.qdot.len() {
            here.qdot[k] += self.unit_rate[k] * self.random.next();
        }
        self.velocities.at(&here);
        let movable = vec![true; here.q.len()];
        match project_only(&mut self.velocities, &self.weight, &movable, &mut here.qdot, self.settings) {
            Ok(found) if found.converged => {}
            _ => return Branch::Nowhere,
        }
        // a velocity that the constraints forbid is set to zero: only rounding of the removed part remains
        for (v, _) in
            here.qdot.iter_mut().zip(&self.unit_rate).filter(|(v, unit)| v.abs() <= tolerance::ROUNDING * **unit)
        {
            *v = 0.0;
        }
        match system.fill(&here, &mut given) {
            Ok(()) => Branch::To(Box::new((here, given))),
            Err(_) => Branch::Nowhere,
        }
    }

    /// The largest step along a direction that stays on the constraints.
    fn step(&mut self, here: &State, direction: &[f64]) -> Result<State, Branch> {
        let movable = vec![true; here.q.len()];
        let length = self.length(direction);
        // all positions may be fixed while velocities are still free
        let fixed = length <= tolerance::NO_DIRECTION && self.time == 0.0;
        if fixed {
            return if self.n_position_rows == 0 || self.velocities_are_free() {
                Ok(here.clone())
            } else {
                Err(Branch::Back)
            };
        }
        let shift = self.random.next().abs();
        let mut came_back = false;
        for size in tolerance::NEIGHBOUR_STEPS {
            let mut there = here.clone();
            there.t += self.time * size * shift;
            // the remainder of a blocked direction is rounding and has no meaning
            let along = if length > tolerance::NO_DIRECTION { size / length } else { 0.0 };
            there.q.iter_mut().zip(direction).for_each(|(q, v)| *q += along * v);
            self.positions.at(&there);
            match project_only(&mut self.positions, &self.weight, &movable, &mut there.q, self.settings) {
                Ok(found) if found.converged => {}
                _ => continue,
            }
            let moved: Vec<f64> = there.q.iter().zip(&here.q).map(|(a, b)| a - b).collect();
            if self.length(&moved) >= LEADS_AWAY * size || (self.time > 0.0 && there.t > here.t) {
                return if size >= SHORTEST_EVIDENCE || !came_back { Ok(there) } else { Err(Branch::Nowhere) };
            }
            came_back = true;
        }
        Err(if came_back { Branch::Back } else { Branch::Nowhere })
    }

    /// `true` if there are velocity rows, which may differ at one position.
    fn velocities_are_free(&self) -> bool {
        self.velocities.origins.len() > self.n_position_rows
    }

    /// The largest change of a coordinate in units of the system.
    fn length(&self, change: &[f64]) -> f64 {
        let top = change.iter().zip(&self.unit).fold(0.0_f64, |top, (x, unit)| top.max((x / unit).abs()));
        if top.is_finite() { top } else { 0.0 }
    }

    /// The part of a random direction that the position rows leave free: W v = W r + Aᵀλ, A v = 0.
    #[allow(non_snake_case)]
    fn free_direction(&mut self, given: &Given) -> Option<Vec<f64>> {
        let r: Vec<f64> = self.unit.iter().map(|unit| unit * self.random.next()).collect();
        if self.n_position_rows == 0 {
            return Some(r);
        }
        let positions: Vec<usize> = (0..self.n_position_rows).collect();
        let force = r.iter().zip(&self.weight.value).map(|(r, w)| r * w).collect();
        let problem = Given {
            mass_matrix: self.weight.clone(),
            given_force: force,
            constraint_rhs: vec![0.0; self.n_position_rows],
            constraint_matrix: given.constraint_matrix.rows(&positions),
        };
        let mut solution = RouteSolution::default();
        self.route.solve(&problem, None, &[], &mut solution).ok()?;
        Some(solution.qddot)
    }
}

/// The size of each coordinate in a system: √(m) x of one is as large as that of all together.
///
/// Without mass the unit is the coordinate's own value, and 1 if that is zero.
pub(crate) fn units(mass: &[f64], x: &[f64]) -> Vec<f64> {
    let own = |x: f64| if x != 0.0 { x.abs() } else { 1.0 };
    let action: f64 = mass.iter().zip(x).map(|(m, x)| m.max(0.0) * x * x).sum();
    let largest = mass.iter().fold(0.0_f64, |top, m| top.max(*m));
    let whole = if action > 0.0 { action.sqrt() } else { largest.sqrt() };
    let unit = |(m, x): (&f64, &f64)| match *m {
        m if m > tolerance::MASSLESS * largest && (whole / m.sqrt()).is_normal() => whole / m.sqrt(),
        _ => own(*x),
    };
    mass.iter().zip(x).map(unit).collect()
}
