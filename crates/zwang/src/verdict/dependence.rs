//! Rows that repeat others: which, how, and whether everywhere or only here.

use zwang_motion::{Dependence, Dynamics, Given, Settings, State, dependence};

use crate::diagnostic::{Diagnostic, Severity};
use crate::equations::Equations;
use crate::model::Level;
use crate::quantity::rounded;
use crate::start::nearby_state;
use crate::system::System;

/// A row that others give.
#[derive(Clone, Debug)]
pub struct Redundant {
    /// Its name.
    pub row: String,
    /// The rows it is made of, with their factors.
    pub depends_on: Vec<(String, f64)>,
    /// Whether it repeats them at other states on the constraints too; none where that was not tried.
    pub everywhere: Option<bool>,
}

/// Coordinates beyond which other states are not tried, to keep `check` a blink.
const MOST_COORDINATES_TRIED: usize = 400;

/// Finds the rows that repeat others at this state, and whether they do so elsewhere.
pub fn redundant(
    equations: &mut Equations,
    system: &mut System,
    state: &State,
    given: &Given,
    settings: &Settings,
) -> (Vec<Redundant>, Dependence) {
    let Ok(here) = dependence(&given.constraint_matrix, settings) else {
        return (Vec::new(), Dependence::default());
    };
    let names: Vec<String> = equations.rows.iter().map(|r| r.name.clone()).collect();
    let mut elsewhere = Vec::new();
    if !here.dependent.is_empty() && state.q.len() <= MOST_COORDINATES_TRIED {
        for attempt in 0..3 {
            let Some(other) = nearby_state(equations, system, state, settings, attempt) else { continue };
            let mut there = system.allocate();
            if system.fill(&other, &mut there).is_ok() {
                elsewhere.extend(dependence(&there.constraint_matrix, settings));
            }
        }
    }
    let list = here
        .dependent
        .iter()
        .map(|(row, combination)| Redundant {
            row: names[*row].clone(),
            depends_on: combination.iter().map(|(k, c)| (names[*k].clone(), *c)).collect(),
            everywhere: (!elsewhere.is_empty())
                .then(|| elsewhere.iter().all(|e| e.dependent.iter().any(|(r, _)| r == row))),
        })
        .collect();
    (list, here)
}

/// Z310: a calm note on what repeats what.
pub fn redundancy_notes(equations: &Equations, redundant: &[Redundant], rank: usize) -> Vec<Diagnostic> {
    let m = equations.rows.len();
    let state_only = equations.model.n_coordinates() <= MOST_COORDINATES_TRIED;
    let note = |r: &Redundant| {
        let (verb, combination) = match &r.depends_on[..] {
            [(only, factor)] if (factor - 1.0).abs() < 1e-9 => ("repeats", format!("`{only}`")),
            [(only, factor)] => ("repeats", format!("`{only}` (times {})", rounded(*factor, 4))),
            many => (
                "follows from",
                many.iter().take(6).map(|(n, c)| format!("{}·`{n}`", rounded(*c, 4))).collect::<Vec<_>>().join(" + "),
            ),
        };
        let place = match r.everywhere {
            Some(true) => "",
            Some(false) => " at this state, though not at others",
            None if state_only => " at this state (other states on all constraints were not found near it)",
            None => " at this state",
        };
        let message = format!("`{}` {verb} {combination}{place}; {m} equations, {rank} independent", r.row);
        let row = equations.rows.iter().find(|e| e.name == r.row);
        // where rows meet only here, the count of freedoms holds only here
        let singular = r.everywhere == Some(false);
        let d = if singular { Diagnostic::warning("Z310", message) } else { Diagnostic::note("Z310", message) };
        let label = if singular { "a singular position" } else { "not needed for the motion" };
        let d = match row {
            Some(row) => d.at(equations.model.constraints[row.constraint].span, label),
            None => d,
        };
        if singular {
            let d =
                d.with_note("rank and degrees of freedom are those of this position; nearby there are fewer freedoms");
            return d.help("start from another position if this one was not meant");
        }
        let mut shared: Vec<String> = r.depends_on.iter().map(|(n, _)| format!("`{n}`")).collect();
        shared.truncate(6);
        shared.push(format!("`{}`", r.row));
        if let Some(name) = law_on_a_share(equations, r) {
            let mut d = d
                .with_note(format!("a nonideal law uses the reaction of `{name}`, which is only a share of the whole"));
            d.severity = Severity::Warning;
            d.label = "changes the share that the law sees".into();
            return d.help("drop the repeated constraint, so that the law sees the whole reaction");
        }
        d.with_note("the motion and the total constraint force are unique").with_note(format!(
            "the split between {} is not: the multipliers shown are the smallest possible",
            crate::start::joined(&shared)
        ))
    };
    redundant.iter().take(8).map(note).collect()
}

/// Z312: rows that vanish at this state.
pub fn vanishing_notes(equations: &Equations, here: &Dependence) -> Vec<Diagnostic> {
    let warning = |&row: &usize| {
        let row = &equations.rows[row];
        let what = match row.level {
            Level::Position => "positions",
            Level::Velocity => "velocities",
            Level::Acceleration => "values",
        };
        Diagnostic::warning(
            "Z312",
            format!("constraint `{}` says nothing at this state: its row of A vanishes", row.name),
        )
        .at(equations.model.constraints[row.constraint].span, "all its coefficients are zero here")
        .help(format!("start from other {what}, or write the constraint so that it does not vanish"))
    };
    here.vanished.iter().take(8).map(warning).collect()
}

/// The constraint row among those that repeat each other whose multiplier a nonideal law contains.
fn law_on_a_share<'e>(equations: &'e Equations, redundant: &Redundant) -> Option<&'e str> {
    if equations.nonideal_force.is_empty() {
        return None;
    }
    let used = equations.model.graph.symbols_of(&equations.nonideal_force);
    let shares = |name: &str| name == redundant.row || redundant.depends_on.iter().any(|(n, _)| n == name);
    let row = equations.rows.iter().find(|row| shares(&row.name) && used.contains(&row.lambda))?;
    Some(&row.name)
}
