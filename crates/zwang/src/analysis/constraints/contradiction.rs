//! Contradictory constraints: the rows, their residuals, how certain the result is, and whether it holds everywhere or
//! only here.

use zwang_expr::Expr;
use zwang_motion::{Conflict, Dynamics, MotionError, Settings, State, conflict};

use crate::analysis::start::{
    at_state, joined, nearby_positions, nearby_state, velocities_clash, velocities_meet_elsewhere,
};
use crate::compile::evaluator::Evaluator;
use crate::diagnostic::{Certainty, ConflictingRow, Contradiction, Diagnostic};
use crate::equations::Equations;
use crate::model::{Level, Row};
use crate::quantity::{rounded, with_unit};
use crate::units::Dimension;
use crate::{analysis::messages::failure::explain, limits, tolerance};

/// The contradiction of some rows, each with its residual at a state that satisfies the others.
pub(crate) fn contradiction_of(
    equations: &Equations,
    level: Level,
    t: f64,
    rows: &[usize],
    residuals: &[f64],
) -> Contradiction {
    let stated = equations.model.rows();
    let clash = |(&row, &residual): (&usize, &f64)| {
        let name = equations.rows[row].name.clone();
        let dimension = stated.iter().find(|r| r.name == name).and_then(|r| dimension(r, level));
        let level = equations.rows[row].level;
        ConflictingRow { row, name, level, residual: Some(residual).filter(|residual| residual.is_finite()), dimension }
    };
    Contradiction {
        level,
        clashes: rows.iter().zip(residuals).map(clash).collect(),
        t,
        everywhere: None,
        agrees_at: None,
        surety: Certainty::Certain,
        minimal: true,
        later: None,
    }
}

/// The unit of a row at a level: that of the stated row, divided by seconds once for each differentiation.
fn dimension(stated: &Row, level: Level) -> Option<Dimension> {
    let order = |level: Level| match level {
        Level::Position => 0.0,
        Level::Velocity => 1.0,
        Level::Acceleration => 2.0,
    };
    Some(stated.dimension?.times(Dimension::SECOND, order(stated.level) - order(level)))
}

/// The contradiction in A q̈ = b at a state, if there is one.
pub(crate) fn of_accelerations(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
) -> Option<Contradiction> {
    let found = accelerations(system, state, settings)?;
    Some(contradiction_of(equations, Level::Acceleration, state.t, &found.rows, &found.residuals()))
}

fn accelerations(system: &mut Evaluator, state: &State, settings: &Settings) -> Option<Conflict> {
    let mut given = system.allocate();
    system.fill(state, &mut given).ok()?;
    conflict(&given.constraint_matrix, &given.constraint_rhs, settings)
}

/// A contradiction that ends a motion, at its first state and at a later one.
pub(crate) fn of_motion(
    equations: &Equations,
    system: &mut Evaluator,
    (state, later): (&State, &State),
    settings: &Settings,
) -> Option<Contradiction> {
    // at its first state the residual is as large as the tolerance that detected it, so a quarter of that must suffice
    let sharp = Settings {
        contradiction_tolerance: 0.25 * settings.contradiction_tolerance,
        contradiction_floor: 0.25 * settings.contradiction_floor,
        ..settings.clone()
    };
    let parameters = system.parameters().to_vec();
    let mut found = of_accelerations(equations, system, state, &sharp)
        .or_else(|| at_state(equations, &parameters, state, settings))?;
    if later.t > state.t && found.level == Level::Acceleration {
        let rows = found.rows();
        let there = accelerations(system, later, settings).filter(|there| there.rows == rows);
        found.later = there.map(|there| (later.t, there.residuals()));
    }
    Some(found)
}

/// `true` if an expression contains the time.
pub(crate) fn has_time(equations: &Equations, e: Expr) -> bool {
    equations.model.graph.symbols(e).contains(&equations.model.time)
}

/// Determines whether rows also contradict each other at other positions or states on the constraints.
pub(crate) fn look_elsewhere(
    contradiction: &mut Contradiction,
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
) {
    if state.q.len() > limits::OTHER_STATES_COORDINATES || contradiction.level == Level::Position {
        return;
    }
    let rows = contradiction.rows();
    // a residual that this test does not detect here shows nothing elsewhere
    if contradiction.level == Level::Velocity && !velocities_clash(equations, state, &rows, settings) {
        return;
    }
    let clash_at = |attempt: usize, system: &mut Evaluator| match contradiction.level {
        Level::Velocity => {
            // constraints that contain the time are tested at another time
            let is_timed = equations.rows.iter().any(|row| has_time(equations, row.residual));
            let later = if is_timed { 0.1 * equations.model.horizon() * (attempt + 1) as f64 } else { 0.0 };
            let other = nearby_positions(equations, state, settings, attempt, later)?;
            Some(velocities_clash(equations, &other, &rows, settings))
        }
        _ => {
            let other = nearby_state(equations, system, state, settings, attempt)?;
            let mut given = system.allocate();
            system.fill(&other, &mut given).ok()?;
            let part = given.constraint_matrix.rows(&rows);
            let b: Vec<f64> = rows.iter().map(|&i| given.constraint_rhs[i]).collect();
            Some(conflict(&part, &b, settings).is_some())
        }
    };
    let seen: Vec<bool> = (0..limits::GENERIC_STATES).filter_map(|attempt| clash_at(attempt, system)).collect();
    contradiction.everywhere = (!seen.is_empty()).then(|| seen.iter().all(|clashes| *clashes));
    // positions at which the rows agree may be too rare for a random state
    let is_velocity = contradiction.level == Level::Velocity;
    if is_velocity && contradiction.everywhere != Some(false) {
        let meets = velocities_meet_elsewhere(equations, state, &rows, settings);
        contradiction.everywhere = meets.map(|meets| !meets);
    }
}

/// The diagnostic for a failed acceleration; for contradictory constraints it names the smallest set of them.
pub(crate) fn explained(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    error: &MotionError,
    settings: &Settings,
) -> Diagnostic {
    let found = match error {
        MotionError::Contradiction { .. } => of_accelerations(equations, system, state, settings),
        _ => None,
    };
    match found {
        Some(mut found) => {
            look_elsewhere(&mut found, equations, system, state, settings);
            found.diagnostic(equations)
        }
        None => explain(equations, state, error),
    }
}

impl Contradiction {
    /// Z301: the fact, each row with its residual, and the further findings.
    pub(crate) fn diagnostic(self, equations: &Equations) -> Diagnostic {
        let span = |row: usize| equations.model.constraints[equations.rows[row].constraint].span;
        // members of a family and rows of a vector share a place; each place is shown once
        let mut places: Vec<usize> = Vec::new();
        for k in 0..self.clashes.len() {
            let is_new = places.iter().all(|&p| span(self.clashes[p].row) != span(self.clashes[k].row));
            if is_new && places.len() < limits::NAMES {
                places.push(k);
            }
        }
        let mut d = Diagnostic::error("Z301", self.fact(&places));
        for (position, &k) in places.iter().enumerate() {
            let (place, label) = (span(self.clashes[k].row), self.label(k));
            d = if position == 0 { d.at(place, label) } else { d.and_at(place, label) };
        }
        for note in self.notes(equations) {
            d = d.with_note(note);
        }
        let help = match (self.clashes.len(), self.surety) {
            (1, Certainty::Certain) => "change it so that it can hold",
            (1, _) => "change it so that it can hold, or start near a place where it does",
            _ => "drop one of them, or make them agree",
        };
        d = d.help(help);
        d.contradiction = Some(Box::new(self));
        d
    }

    /// The fact; of many rows those at the given places are named first.
    fn fact(&self, places: &[usize]) -> String {
        let mut listed: Vec<usize> = places.to_vec();
        listed.extend((0..self.clashes.len()).filter(|k| !places.contains(k)));
        listed.truncate(limits::NAMES);
        listed.sort_unstable();
        let mut names: Vec<String> = listed.iter().map(|&k| format!("`{}`", self.clashes[k].name)).collect();
        let more = self.clashes.len() - names.len();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let what = self.unknowns();
        let when = match self.level {
            Level::Position if self.everywhere == Some(true) => String::new(),
            // a motion that has not begun has no time to show
            Level::Velocity if self.t == 0.0 => String::new(),
            _ if self.later.is_some() => format!(" from t = {} on", rounded(self.t, tolerance::TIME_DIGITS)),
            _ => format!(" at t = {}", rounded(self.t, tolerance::TIME_DIGITS)),
        };
        let place = if self.level == Level::Velocity { "at these positions " } else { "" };
        let what = match self.level {
            Level::Position if self.later.is_some() => "positions further along the motion",
            _ => what,
        };
        match &names[..] {
            [only] if self.surety != Certainty::Certain => {
                format!("constraint {only} was not met{when}: {place}no {what} were found that satisfy it")
            }
            [only] => format!("constraint {only} cannot hold{when}: {place}no {what} satisfy it"),
            _ => {
                let names = joined(&names);
                format!("constraints {names} contradict each other{when}: {place}no {what} satisfy them together")
            }
        }
    }

    fn label(&self, k: usize) -> String {
        let clash = &self.clashes[k];
        let what = match (self.level, clash.level) {
            (Level::Velocity, Level::Position) => "its rate is off by",
            (Level::Acceleration, Level::Position) => "its acceleration is off by",
            (Level::Acceleration, Level::Velocity) => "its rate is off by",
            _ => "left side minus right side is",
        };
        let others = match self.clashes.len() {
            1 => "at the closest",
            2 => "if the other holds",
            _ => "if the others hold",
        };
        let (residual, when) = match &self.later {
            Some((t, residuals)) => {
                (Some(residuals[k]).filter(|m| m.is_finite()), format!(" at t = {}", rounded(*t, 4)))
            }
            None => (clash.residual, String::new()),
        };
        match residual {
            Some(residual) => format!("{what} {} {others}{when}", with_unit(residual, clash.dimension)),
            None => "one of them".into(),
        }
    }

    fn notes(&self, equations: &Equations) -> Vec<String> {
        let mut notes = Vec::new();
        if self.clashes.len() > 1 {
            notes.push(match self.minimal {
                true => "without any one of them the others can hold".into(),
                false => "perhaps fewer of them are to blame: the search for the smallest set became too long".into(),
            });
        }
        notes.extend(self.elsewhere(equations));
        if let Certainty::Searched { n_starts } = self.surety {
            let starts = if n_starts == 1 { "one start" } else { &format!("{n_starts} starts") };
            notes.push(format!(
                "no solution was found from {starts} near the given one; that does not prove that there is none"
            ));
        }
        notes
    }

    /// The note on whether the contradiction holds everywhere or only here.
    fn elsewhere(&self, equations: &Equations) -> Option<String> {
        let is_timed = self.clashes.iter().any(|clash| has_time(equations, equations.rows[clash.row].residual));
        let they = if self.clashes.len() == 1 { "it" } else { "they" };
        let agree = if self.clashes.len() == 1 { "can hold" } else { "agree" };
        Some(match (self.level, self.everywhere, self.agrees_at) {
            (Level::Position, Some(true), _) if is_timed => format!("no time was found at which {they} {agree}"),
            (Level::Position, Some(true), _) => "the time does not enter: it is so at every time".into(),
            (Level::Position, Some(false), Some(t)) => format!("only now: {they} {agree} at t = {}", rounded(t, 9)),
            (Level::Velocity, Some(true), _) => format!("no other positions were found at which {they} {agree}"),
            (Level::Velocity, Some(false), _) => format!("only here: at other positions {they} {agree}"),
            (Level::Acceleration, Some(true), _) => format!("at no other state that was tried {they} {agree}"),
            (Level::Acceleration, Some(false), _) => format!("only here: at other states {they} {agree}"),
            _ => return None,
        })
    }
}
