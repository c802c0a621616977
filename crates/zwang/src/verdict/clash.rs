//! Constraints that cannot hold together: which, by how much, how surely, and whether everywhere or only here.

use zwang_motion::{Conflict, Dynamics, MotionError, Settings, State, conflict};

use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Level;
use crate::quantity::{rounded, with_unit};
use crate::start::{at_state, joined, nearby_positions, nearby_state, velocities_clash, velocities_meet_elsewhere};
use crate::system::System;
use crate::units::Dimension;
use crate::verdict::contradiction::explain;

/// One row among those that contradict each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    /// Which row of the equations.
    pub row: usize,
    /// Its name.
    pub name: String,
    /// lhs − rhs, or its rate at this level, where the other rows hold; in SI units.
    pub miss: f64,
    /// The unit of that, if the model tells.
    pub dimension: Option<Dimension>,
}

/// How surely rows contradict each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Surety {
    /// A sum of multiples of the rows has no zero.
    Certain,
    /// No search from so many starts met them, which proves nothing.
    Searched {
        /// How many.
        n_starts: usize,
    },
}

/// Rows that cannot hold together.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Whether no positions, no velocities at the positions given, or no accelerations at the state given satisfy them.
    pub level: Level,
    /// The rows; without any one of them the others can hold, if `minimal`.
    pub clashes: Vec<Clash>,
    /// When.
    pub t: f64,
    /// Whether also at other times, positions or states; none where that could not be told.
    pub everywhere: Option<bool>,
    /// A later time at which they agree.
    pub agrees_at: Option<f64>,
    /// How surely.
    pub surety: Surety,
    /// Whether none of the rows can be spared.
    pub minimal: bool,
    /// During a motion: a later time, and how far the first row is off there.
    pub later: Option<(f64, f64)>,
}

impl Contradiction {
    /// Rows, by name, with how far each is off where the others hold.
    pub(crate) fn new(equations: &Equations, level: Level, t: f64, rows: &[usize], misses: &[f64]) -> Contradiction {
        let clash = |(&row, &miss): (&usize, &f64)| Clash {
            row,
            name: equations.rows[row].name.clone(),
            miss,
            dimension: dimension(equations, row, level),
        };
        Contradiction {
            level,
            clashes: rows.iter().zip(misses).map(clash).collect(),
            t,
            everywhere: None,
            agrees_at: None,
            surety: Surety::Certain,
            minimal: true,
            later: None,
        }
    }

    /// `positions`, `velocities` or `accelerations`.
    pub fn unknowns(&self) -> &'static str {
        match self.level {
            Level::Position => "positions",
            Level::Velocity => "velocities",
            Level::Acceleration => "accelerations",
        }
    }

    fn rows(&self) -> Vec<usize> {
        self.clashes.iter().map(|clash| clash.row).collect()
    }
}

/// The unit of a row at a level above its own: once or twice divided by seconds.
fn dimension(equations: &Equations, row: usize, level: Level) -> Option<Dimension> {
    let name = &equations.rows[row].name;
    let stated = equations.model.rows().into_iter().find(|r| r.name == *name)?;
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
    system: &mut System,
    state: &State,
    settings: &Settings,
) -> Option<Contradiction> {
    let found = accelerations(system, state, settings)?;
    Some(Contradiction::new(equations, Level::Acceleration, state.t, &found.rows, &found.misses()))
}

fn accelerations(system: &mut System, state: &State, settings: &Settings) -> Option<Conflict> {
    let mut given = system.allocate();
    system.fill(state, &mut given).ok()?;
    conflict(&given.constraint_matrix, &given.constraint_rhs, settings)
}

/// A contradiction that ends a motion, at its first state and at one further on.
pub(crate) fn of_motion(
    equations: &Equations,
    system: &mut System,
    (state, later): (&State, &State),
    settings: &Settings,
) -> Option<Contradiction> {
    // where it begins it is as small as it was told by, so that half of that must do
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
        found.later = there.map(|there| (later.t, there.misses()[0]));
    }
    Some(found)
}

/// Coordinates beyond which other states are not tried, to keep `check` a blink.
const MOST_COORDINATES_TRIED: usize = 400;

/// Other states that are tried.
const OTHERS: usize = 3;

/// Finds out whether rows also contradict each other at other positions or states on the constraints.
pub(crate) fn look_elsewhere(
    contradiction: &mut Contradiction,
    equations: &Equations,
    system: &mut System,
    state: &State,
    settings: &Settings,
) {
    if state.q.len() > MOST_COORDINATES_TRIED || contradiction.level == Level::Position {
        return;
    }
    let rows = contradiction.rows();
    let clash_at = |attempt: usize, system: &mut System| match contradiction.level {
        Level::Velocity => {
            let other = nearby_positions(equations, state, settings, attempt)?;
            Some(velocities_clash(equations, &other, &rows, settings))
        }
        _ => {
            let other = nearby_state(equations, system, state, settings, attempt)?;
            let mut given = system.allocate();
            system.fill(&other, &mut given).ok()?;
            let part = crate::start::rows_of(&given.constraint_matrix, &rows);
            let b: Vec<f64> = rows.iter().map(|&i| given.constraint_rhs[i]).collect();
            Some(conflict(&part, &b, settings).is_some())
        }
    };
    let seen: Vec<bool> = (0..OTHERS).filter_map(|attempt| clash_at(attempt, system)).collect();
    contradiction.everywhere = (!seen.is_empty()).then(|| seen.iter().all(|clashes| *clashes));
    // positions that allow for both may be too few to be met by chance
    let is_velocity = contradiction.level == Level::Velocity;
    if is_velocity && contradiction.everywhere != Some(false) {
        let meets = velocities_meet_elsewhere(equations, state, &rows, settings);
        contradiction.everywhere = meets.map(|meets| !meets);
    }
}

/// What a failed acceleration means; constraints that contradict each other are named, the smallest set of them.
pub(crate) fn explained(
    equations: &Equations,
    system: &mut System,
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

/// Names that are listed.
const MOST_NAMES: usize = 6;

impl Contradiction {
    /// Z301: the fact, each row with how far it is off, and what is known beyond.
    pub(crate) fn diagnostic(self, equations: &Equations) -> Diagnostic {
        let mut d = Diagnostic::error("Z301", self.fact());
        let mut spans = Vec::new();
        for clash in self.clashes.iter().take(MOST_NAMES) {
            let span = equations.model.constraints[equations.rows[clash.row].constraint].span;
            let label = self.label(clash);
            // rows of one vector share a place
            if spans.contains(&span) {
                continue;
            }
            d = if spans.is_empty() { d.at(span, label) } else { d.and_at(span, label) };
            spans.push(span);
        }
        for note in self.notes() {
            d = d.with_note(note);
        }
        let is_alone = self.clashes.len() == 1;
        let help = match (is_alone, self.surety) {
            (true, Surety::Certain) => "change it so that it can hold",
            (true, _) => "change it so that it can hold, or start near a place where it does",
            _ => "drop one of them, or make them agree",
        };
        d = d.help(help);
        d.contradiction = Some(Box::new(self));
        d
    }

    fn fact(&self) -> String {
        let names: Vec<String> = self.clashes.iter().take(MOST_NAMES).map(|c| format!("`{}`", c.name)).collect();
        let (what, t) = (self.unknowns(), rounded(self.t, 9));
        let when = match self.level {
            Level::Position if self.everywhere == Some(true) => String::new(),
            Level::Position | Level::Acceleration => format!(" at t = {t}"),
            Level::Velocity => String::new(),
        };
        let place = match self.level {
            Level::Position => "",
            Level::Velocity => "at these positions ",
            Level::Acceleration => "",
        };
        match (&names[..], self.clashes.len() - names.len()) {
            ([only], _) => format!("constraint {only} cannot hold{when}: {place}no {what} satisfy it"),
            (_, 0) => {
                let names = joined(&names);
                format!("constraints {names} contradict each other{when}: {place}no {what} satisfy them together")
            }
            (_, more) => {
                let names = names.join(", ");
                format!(
                    "constraints {names} and {more} more contradict each other{when}: {place}no {what} satisfy them together"
                )
            }
        }
    }

    fn label(&self, clash: &Clash) -> String {
        let what = match (self.level, &clash.dimension) {
            (Level::Position, _) => "left side minus right side",
            (Level::Velocity, _) => "its velocity form",
            (Level::Acceleration, _) => "its acceleration form",
        };
        let others = match self.clashes.len() {
            1 => "at the closest",
            2 => "where the other holds",
            _ => "where the others hold",
        };
        format!("{what} is {} {others}", with_unit(clash.miss, clash.dimension))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some((t, miss)), Some(first)) = (self.later, self.clashes.first()) {
            let (t, miss) = (rounded(t, 4), with_unit(miss, first.dimension));
            notes.push(format!("it begins here: at t = {t} the acceleration form of `{}` would be off by {miss}", first.name));
        }
        if self.clashes.len() > 1 {
            notes.push(match self.minimal {
                true => "without any one of them the others can hold".into(),
                false => "perhaps fewer of them are to blame: the search for the smallest set became too long".into(),
            });
        }
        notes.extend(self.elsewhere());
        if let Surety::Searched { n_starts } = self.surety {
            notes.push(format!(
                "no solution was found from {n_starts} starts near the given one; that does not prove that there is none"
            ));
        }
        notes
    }

    /// Everywhere or only here.
    fn elsewhere(&self) -> Option<String> {
        let they = if self.clashes.len() == 1 { "it" } else { "they" };
        let agree = if self.clashes.len() == 1 { "can hold" } else { "agree" };
        Some(match (self.level, self.everywhere, self.agrees_at) {
            (Level::Position, Some(true), _) => "so it is at other times too".into(),
            (Level::Position, Some(false), Some(t)) => format!("only now: {they} {agree} at t = {}", rounded(t, 9)),
            (Level::Velocity, Some(true), _) => format!("no other positions were found at which {they} {agree}"),
            (Level::Velocity, Some(false), _) => format!("only here: at other positions {they} {agree}"),
            (Level::Acceleration, Some(true), _) => format!("at the other states that were tried {they} do not {agree} either"),
            (Level::Acceleration, Some(false), _) => format!("only here: at other states {they} {agree}"),
            _ => return None,
        })
    }
}
