//! The start: from the user's values to a state that satisfies every constraint.
//!
//! Exact values are kept, values after `~` may move, missing positions follow from the constraints, and missing
//! velocities are zero if the constraints allow it. Every change is the smallest in the metric of the masses.

mod conflict;
mod continuation;
pub(crate) mod level;
mod nearest_admissible;
mod neighbourhood;

use zwang_motion::{Dynamics, Matrix, MotionError, Projection, Settings, State, project, project_only};

pub(crate) use crate::analysis::messages::start::{joined, start_line};
use crate::compile::evaluator::Evaluator;
use crate::compile::program::Compiled;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::equations::Equations;
use crate::model::Model;
use crate::random::scattered;
use crate::{analysis::constraints::contradiction, analysis::messages, tolerance};
pub(crate) use conflict::{
    at_state, nearby_positions, positions_clash, velocities_at, velocities_clash, velocities_meet_elsewhere,
};
pub(crate) use continuation::no_way_on;
use level::{Equation, LevelEquations, LevelPart, point_rows};
pub(crate) use nearest_admissible::nearest_outside;
pub use neighbourhood::{NearbyState, nearby_state};
pub(crate) use neighbourhood::{beside, elsewhere, units};

/// The form in which a value was given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum GivenAs {
    /// With `=`.
    Exact,
    /// With `~`.
    Near,
    /// Through an equation for a point.
    Bound,
    /// Not at all.
    Missing,
}

/// Finds the start and reports missing, inconsistent or contradictory values; with `fix` the nearest consistent start
/// is taken.
pub fn find_start(
    equations: &mut Equations,
    system: &mut Evaluator,
    settings: &Settings,
    fix: bool,
    diagnostics: &mut Diagnostics,
) -> Option<State> {
    let n = equations.model.n_coordinates();
    let mut finder = Finder { settings, fix, diagnostics, state: State::zero(n), system };
    finder.finite_values(&equations.model)?;
    finder.level(equations, false)?;
    let left_out = finder.level(equations, true)?;
    let Finder { state, diagnostics, .. } = finder;
    diagnostics.extend(messages::start::left_out(&equations.model, &left_out, &state.qdot));
    Some(state)
}

struct Finder<'a> {
    settings: &'a Settings,
    fix: bool,
    diagnostics: &'a mut Diagnostics,
    state: State,
    system: &'a mut Evaluator,
}

/// The result of the search at one level.
enum NearestStart {
    /// On the constraints with all given values kept; found from this guess.
    Kept { attempt: usize },
    /// The constraints can be satisfied, but not together with these equations of the start.
    Unmet(Vec<String>),
    /// The nearest consistent values, which differ from the given ones.
    Moved(Vec<f64>),
    /// No values were found that satisfy the constraints.
    Contradiction,
    /// A term is not finite there.
    NonFinite(MotionError),
}

impl Finder<'_> {
    /// Finds the positions, or the velocities once the positions are known; returns the coordinates that the start leaves out.
    fn level(&mut self, equations: &mut Equations, is_velocity: bool) -> Option<Vec<usize>> {
        let (mut given, values) = given_values(&equations.model, is_velocity);
        self.keep(is_velocity, &values);
        let points = point_rows(equations, is_velocity);
        let equations = &*equations;
        self.follow_points(equations, &points, &mut given, is_velocity);
        let guess = if is_velocity { self.state.qdot.clone() } else { self.state.q.clone() };
        let mut level = LevelEquations::with_controls(equations, &points, &self.state, is_velocity);
        let model = &equations.model;
        let left_out = (0..given.len()).filter(|&k| given[k] == GivenAs::Missing).collect();
        let message = match self.search(&mut level, &given, &guess) {
            NearestStart::Kept { attempt } => {
                return self.kept(equations, &mut level, &given, &guess, attempt).map(|()| left_out);
            }
            NearestStart::Moved(nearest) if self.accepts(&level, &guess, &nearest) => {
                self.keep(is_velocity, &nearest);
                return Some(left_out);
            }
            NearestStart::Moved(nearest) => self.off_constraint(equations, &mut level, &guess, nearest),
            NearestStart::Unmet(names) => messages::start::unmet(model, &names, is_velocity),
            NearestStart::Contradiction if level.has_controls() => {
                // the constraints alone decide whether they or the controls are at fault
                let mut bare = LevelEquations::new(equations, &points, &self.state, is_velocity);
                match self.search(&mut bare, &given, &guess) {
                    NearestStart::Contradiction => self.contradiction(equations, &mut bare, &guess),
                    _ => messages::start::unmet_control(&level),
                }
            }
            NearestStart::Contradiction => self.contradiction(equations, &mut level, &guess),
            NearestStart::NonFinite(error) => messages::start::trouble(model, &error),
        };
        self.diagnostics.push(message);
        None
    }

    /// The diagnostic for constraints that no values satisfy.
    fn contradiction(&mut self, equations: &Equations, level: &mut LevelEquations, guess: &[f64]) -> Diagnostic {
        let state = self.state.clone();
        match conflict::contradiction(equations, level, guess, self.settings) {
            Ok(mut found) => {
                contradiction::look_elsewhere(&mut found, equations, self.system, &state, self.settings);
                found.diagnostic(equations)
            }
            Err(values) => self.off_constraint(equations, level, guess, values),
        }
    }

    /// The diagnostic for given values that differ from the nearest ones found.
    fn off_constraint(
        &mut self,
        equations: &Equations,
        level: &mut LevelEquations,
        guess: &[f64],
        nearest: Vec<f64>,
    ) -> Diagnostic {
        let is_velocity = level.is_velocity;
        let positions = if is_velocity { self.state.q.clone() } else { nearest.clone() };
        let velocity = if is_velocity { nearest } else { self.nearest_velocity(equations, &nearest) };
        let (worst, has_others) = messages::start::worst_row(level, guess);
        let alone = if has_others { self.nearest_to(level, worst, guess) } else { None };
        let violation = messages::start::StartViolation {
            given: guess,
            nearest: &positions,
            velocity: &velocity,
            is_velocity,
            worst,
            alone: alone.as_deref(),
        };
        messages::start::off_constraint(&equations.model, level, violation)
    }

    /// The values nearest to the given ones that satisfy one row alone.
    fn nearest_to(&mut self, level: &mut LevelEquations, row: usize, given: &[f64]) -> Option<Vec<f64>> {
        let weight = self.weight(given, level.is_velocity);
        let mut x = given.to_vec();
        let rows = [row];
        let movable = vec![true; given.len()];
        let found = project_only(&mut LevelPart::new(level, &rows, false), &weight, &movable, &mut x, self.settings);
        found.is_ok_and(|projection| projection.converged).then_some(x)
    }

    /// Accepts values that keep the given ones if they are the only such values; otherwise reports the ambiguity.
    fn kept(
        &mut self,
        equations: &Equations,
        level: &mut LevelEquations,
        given: &[GivenAs],
        guess: &[f64],
        attempt: usize,
    ) -> Option<()> {
        let model = &equations.model;
        let only_near = given.contains(&GivenAs::Near) && !given.contains(&GivenAs::Missing);
        match (level.is_velocity, attempt) {
            (true, 0) => Some(()),
            // zero is far from the constraints, or their rows vanish there: the velocities must be the only ones
            (true, _) if self.is_only_velocity(level, given, guess) => Some(()),
            (true, _) => {
                self.diagnostics.push(messages::start::open_velocities(model, &self.state.qdot));
                None
            }
            (false, 1..) if only_near => {
                self.diagnostics.push(messages::start::not_unique(model, &self.state.q));
                Some(())
            }
            (false, _) => self.determined(equations, level, given, guess),
        }
    }

    /// `true` if the constraints determine the velocities that were not given, and no other guess leads to others.
    fn is_only_velocity(&mut self, level: &mut LevelEquations, given: &[GivenAs], guess: &[f64]) -> bool {
        let open: Vec<bool> = given.iter().map(|g| *g != GivenAs::Exact).collect();
        let weight = self.weight(guess, true);
        let found = self.state.qdot.clone();
        let mut x = found.clone();
        let is_determined = self.project(level, &weight, &open, &mut x, true).is_ok_and(|p| p.n_free == 0);
        let shaken: Vec<GivenAs> =
            given.iter().zip(&open).map(|(g, open)| if *open { GivenAs::Missing } else { *g }).collect();
        is_determined
            && guesses(guess, &shaken, &level.sizes).skip(1).all(|mut y| {
                let other = self.project(level, &weight, &open, &mut y, false);
                let mut both = found.iter().zip(&y).zip(&level.sizes);
                let is_same = both.all(|((a, b), size)| (a - b).abs() <= tolerance::OTHER_SOLUTION * (size + a.abs()));
                is_same || !other.is_ok_and(|p| p.converged)
            })
    }

    /// `true` if a change is within the user's digits, or allowed by `fix`.
    fn accepts(&self, level: &LevelEquations, given: &[f64], nearest: &[f64]) -> bool {
        let mut moves = given.iter().zip(nearest).zip(&level.sizes);
        self.fix || moves.all(|((a, b), size)| (a - b).abs() <= tolerance::RUN * (size + a.abs()))
    }

    /// Moves the coordinates of points to their start values before the constraints are applied.
    fn follow_points(&mut self, equations: &Equations, points: &[Equation], given: &mut [GivenAs], is_velocity: bool) {
        if points.is_empty() {
            return;
        }
        let mut points = LevelEquations::compile(equations, &self.state, is_velocity, points.to_vec());
        for (coordinate, exact) in points.touched() {
            if given[coordinate] == GivenAs::Missing || (given[coordinate] == GivenAs::Near && exact) {
                given[coordinate] = if exact { GivenAs::Bound } else { GivenAs::Near };
            }
        }
        let movable: Vec<bool> = given.iter().map(|g| matches!(g, GivenAs::Bound | GivenAs::Near)).collect();
        let mut x = if is_velocity { self.state.qdot.clone() } else { self.state.q.clone() };
        // velocities follow by the smallest change in the metric of the masses; positions only lie near the start
        let weight = if is_velocity { self.weight(&x, true) } else { Matrix::identity(x.len()) };
        if self.project(&mut points, &weight, &movable, &mut x, false).is_ok() {
            let target = if is_velocity { &mut self.state.qdot } else { &mut self.state.q };
            *target = x;
        }
    }

    /// Moves first the values that were not given, then those given with `~`, then all.
    fn search(&mut self, level: &mut LevelEquations, given: &[GivenAs], guess: &[f64]) -> NearestStart {
        let weight = self.weight(guess, level.is_velocity);
        let free = |g: &GivenAs| matches!(g, GivenAs::Missing | GivenAs::Bound);
        let stages = [free, |g: &GivenAs| *g != GivenAs::Exact];
        for is_movable in stages {
            let movable: Vec<bool> = given.iter().map(is_movable).collect();
            let shaken: Vec<GivenAs> =
                given.iter().zip(&movable).map(|(g, m)| if *m { GivenAs::Missing } else { *g }).collect();
            for (attempt, start) in guesses(guess, &shaken, &level.sizes).enumerate() {
                let mut x = start;
                match self.project(level, &weight, &movable, &mut x, false) {
                    Ok(projection) if projection.converged => {
                        self.keep(level.is_velocity, &x);
                        return NearestStart::Kept { attempt };
                    }
                    // a bad guess may lie where a term is not finite; the given values may not
                    Err(error @ MotionError::NotFinite { .. }) if !given.contains(&GivenAs::Missing) => {
                        return NearestStart::NonFinite(error);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        let everything = vec![true; guess.len()];
        let unmet = level.unmet_start_equations(guess);
        level.drop_start_equations();
        for attempt in guesses(guess, &vec![GivenAs::Missing; guess.len()], &level.sizes) {
            let mut x = attempt;
            match self.project(level, &weight, &everything, &mut x, false) {
                Ok(projection) if projection.converged && !unmet.is_empty() => return NearestStart::Unmet(unmet),
                Ok(projection) if projection.converged => return NearestStart::Moved(x),
                _ => {}
            }
        }
        let mut x = guess.to_vec();
        match self.project(level, &weight, &everything, &mut x, false) {
            Ok(_) | Err(MotionError::Contradiction { .. }) => NearestStart::Contradiction,
            Err(error) => NearestStart::NonFinite(error),
        }
    }

    /// Projects in the metric of the masses, or in the Euclidean one if the mass is singular or not positive.
    fn project(
        &self,
        level: &mut LevelEquations,
        weight: &Matrix,
        movable: &[bool],
        x: &mut [f64],
        wants_free: bool,
    ) -> Result<Projection, MotionError> {
        let given = x.to_vec();
        let way = if wants_free { project } else { project_only };
        match way(level, weight, movable, x, self.settings) {
            Err(MotionError::MassNotPositive { .. } | MotionError::Indeterminate { .. }) => {
                x.copy_from_slice(&given);
                way(level, &Matrix::identity(x.len()), movable, x, self.settings)
            }
            other => other,
        }
    }

    fn keep(&mut self, is_velocity: bool, x: &[f64]) {
        let target = if is_velocity { &mut self.state.qdot } else { &mut self.state.q };
        target.copy_from_slice(x);
    }

    /// The mass matrix at the guess; the identity if the masses cannot be evaluated.
    fn weight(&mut self, guess: &[f64], is_velocity: bool) -> Matrix {
        let mut state = self.state.clone();
        if !is_velocity {
            state.q.copy_from_slice(guess);
        }
        let mut given = self.system.allocate();
        match self.system.fill(&state, &mut given) {
            Ok(()) => given.mass_matrix,
            Err(_) if given.mass_matrix.value.iter().all(|m| m.is_finite()) => given.mass_matrix,
            Err(_) => Matrix::identity(guess.len()),
        }
    }

    /// `Some` if the constraints determine the positions that were not given; otherwise reports them.
    fn determined(
        &mut self,
        equations: &Equations,
        level: &mut LevelEquations,
        given: &[GivenAs],
        guess: &[f64],
    ) -> Option<()> {
        let open: Vec<bool> = given.iter().map(|g| matches!(g, GivenAs::Missing | GivenAs::Bound)).collect();
        if !open.contains(&true) {
            return Some(());
        }
        let weight = self.weight(&self.state.q.clone(), false);
        let mut x = self.state.q.clone();
        let projection = match self.project(level, &weight, &open, &mut x, true) {
            Ok(projection) => projection,
            Err(error) => {
                self.diagnostics.push(messages::start::trouble(&equations.model, &error));
                return None;
            }
        };
        // if the rows are only tangent, the directions appear free although there is one solution
        if projection.n_free > 0 && !self.touches(level, given, guess, &open) {
            // the directions are computed only while they are few
            let all = projection.free.len() < projection.n_free;
            let loose =
                |k: usize| open[k] && (all || projection.free.iter().any(|d| d[k].abs() > tolerance::NEGLIGIBLE));
            let names: Vec<usize> = (0..open.len()).filter(|&k| loose(k)).collect();
            self.diagnostics.push(messages::start::missing(&equations.model, &names, projection.n_free, &self.state.q));
            return None;
        }
        // another guess may lead to another solution: then the start is ambiguous
        let missing = given.iter().filter(|g| **g == GivenAs::Missing).count();
        if missing == 0 || missing > 40 {
            return Some(());
        }
        for other in guesses(guess, given, &level.sizes).skip(1) {
            let mut y = other;
            let found = project_only(level, &weight, &open, &mut y, self.settings);
            let mut both = x.iter().zip(&y).zip(&level.sizes);
            let differs = both.any(|((a, b), size)| (a - b).abs() > tolerance::OTHER_SOLUTION * (size + a.abs()));
            if found.is_ok_and(|p| p.converged) && differs {
                self.diagnostics.push(messages::start::ambiguous(&equations.model, &x, &y));
                return None;
            }
        }
        Some(())
    }

    /// `true` if the given values, with zeros for the rest, lie on the constraints and every guess leads back to them.
    fn touches(&mut self, level: &mut LevelEquations, given: &[GivenAs], guess: &[f64], open: &[bool]) -> bool {
        if self.state.q != guess {
            return false;
        }
        let weight = self.weight(guess, false);
        // what follows from an equation of the start is as open as what is not given
        let shaken: Vec<GivenAs> =
            given.iter().zip(open).map(|(g, open)| if *open { GivenAs::Missing } else { *g }).collect();
        guesses(guess, &shaken, &level.sizes).skip(1).all(|mut x| {
            let found = project_only(level, &weight, open, &mut x, self.settings);
            let mut both = x.iter().zip(guess).zip(&level.sizes);
            let back = both.all(|((a, b), size)| (a - b).abs() <= tolerance::SAME_SOLUTION * (size + b.abs()));
            found.is_ok_and(|p| p.converged) && back
        })
    }

    /// Z402: start values that are not finite.
    fn finite_values(&mut self, model: &Model) -> Option<()> {
        let values = model.constants(&model.start.iter().map(|i| i.value).collect::<Vec<_>>());
        let bad: Vec<_> = model.start.iter().zip(values).filter(|(_, v)| !v.is_finite()).map(|(i, _)| i).collect();
        for initial in &bad {
            let d = Diagnostic::error("Z402", format!("the start value of `{}` is not finite", initial.name));
            let d = d.at(initial.span, "a division by zero, a root of a negative number, or far too large");
            self.diagnostics.push(d.help("give a number"));
        }
        bad.is_empty().then_some(())
    }

    /// The velocity that belongs to a nearest position, for the line to paste.
    fn nearest_velocity(&mut self, equations: &Equations, q: &[f64]) -> Vec<f64> {
        let (_, mut v) = given_values(&equations.model, true);
        let mut state = self.state.clone();
        state.q.copy_from_slice(q);
        let mut level = LevelEquations::with_controls(equations, &[], &state, true);
        let weight = self.weight(q, false);
        let movable = vec![true; v.len()];
        let _ = project_only(&mut level, &weight, &movable, &mut v, self.settings);
        v
    }
}

/// The form in which every coordinate was given, and the values; zero for those that were not given.
fn given_values(model: &Model, is_velocity: bool) -> (Vec<GivenAs>, Vec<f64>) {
    let n = model.n_coordinates();
    let (mut given, mut values) = (vec![GivenAs::Missing; n], vec![0.0; n]);
    let entries: Vec<_> = model.start.iter().filter(|i| i.is_velocity == is_velocity).collect();
    let numbers = model.constants(&entries.iter().map(|i| i.value).collect::<Vec<_>>());
    for (entry, value) in entries.iter().zip(numbers) {
        if let Some(k) = entry.coordinate {
            given[k] = if entry.exact { GivenAs::Exact } else { GivenAs::Near };
            values[k] = value;
        }
    }
    (given, values)
}

/// The given values with several guesses for the positions that were not given.
fn guesses<'a>(guess: &'a [f64], given: &'a [GivenAs], sizes: &[f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
    let any_missing = given.contains(&GivenAs::Missing);
    let n_guesses = if any_missing { 5 } else { 1 };
    let scale = guess.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let scales: Vec<f64> = if scale > 0.0 { vec![scale; guess.len()] } else { sizes.to_vec() };
    (0..n_guesses).map(move |attempt| {
        let shift = [0.0, 0.6, -0.6, 1.1, -0.35][attempt];
        let moved = |(k, (x, g)): (usize, (&f64, &GivenAs))| match g {
            GivenAs::Missing => x + shift * scales[k] * (1.0 + 0.1 * scattered(k, 0)),
            _ => *x,
        };
        guess.iter().zip(given).enumerate().map(moved).collect()
    })
}

/// Projects one state after another onto the constraints, with programs that are compiled once.
#[derive(Default)]
pub(crate) struct StartProjector {
    positions: Option<Compiled>,
    velocities: Option<Compiled>,
}

impl StartProjector {
    /// Projects the positions onto the constraints, which must be the same at every call, and the velocities too if
    /// `with_velocities`; `None` if the projection does not converge.
    pub(crate) fn moved(
        &mut self,
        equations: &Equations,
        mut state: State,
        settings: &Settings,
        with_velocities: bool,
    ) -> Option<State> {
        let (weight, movable) = (Matrix::identity(state.q.len()), vec![true; state.q.len()]);
        let mut positions = LevelEquations::again(equations, &state, false, self.positions.take());
        let found = project_only(&mut positions, &weight, &movable, &mut state.q, settings);
        self.positions = Some(positions.into_program());
        found.ok().filter(|found| found.converged)?;
        if !with_velocities {
            return Some(state);
        }
        let mut velocities = LevelEquations::again(equations, &state, true, self.velocities.take());
        let found = project_only(&mut velocities, &weight, &movable, &mut state.qdot, settings);
        self.velocities = Some(velocities.into_program());
        found.ok().filter(|found| found.converged).map(|_| state)
    }
}
