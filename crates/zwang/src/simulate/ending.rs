//! What is said about how a motion went and why it ended.

use zwang_motion::{
    Asked, Drift, Inequality, MotionError, Outcome, Passage, Settings, State, Stiffness, Struck, Tamed, TriedMode,
};

use super::Run;

use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::Change;
use crate::quantity::{number, rounded};
use crate::start::{joined, no_way_on};
use crate::system::System;
use crate::verdict::{Contradiction, contradiction, control, failure};

/// Why the motion ended before its time; `start` is what controls asked where it began.
pub(super) fn ending(
    equations: &Equations,
    system: &mut System,
    state: &State,
    outcome: &Outcome,
    start: Option<&Asked>,
    settings: &Settings,
) -> Option<Diagnostic> {
    let at = place(equations, state);
    let d = match outcome {
        Outcome::End => return None,
        Outcome::Contradiction { error, t, state, later } => {
            match contradiction::of_motion(equations, system, (state, later), settings) {
                Some(found) => Contradiction { t: *t, ..found }.diagnostic(equations),
                None => failure::explain(equations, state, error),
            }
        }
        Outcome::Failed(MotionError::Unreachable { row, reached, needed }) => {
            control::out_of_reach(equations, system, state, (*row, (*reached, *needed)), settings)
        }
        Outcome::HoldLost { row } => match control::losing(equations, system, state, (start, Some(*row)), settings) {
            Some(lost) => lost,
            None => control::unreachable(equations, state, *row, (0, 1)),
        },
        Outcome::Failed(error) => failure::explain(equations, state, error),
        Outcome::StepTooLong { h } => Diagnostic::error(
            "Z604",
            format!("a step of {} is too long for this method at t = {}", number(*h), rounded(state.t, 9)),
        )
        .with_note("the equations of the step have no solution near by")
        .help("give a shorter one with --step, or leave `method` out"),
        Outcome::Sliding { event } => sliding(equations, state, *event),
        Outcome::JumpedOff { event, row, is_velocity } => {
            jumped_off(equations, system.when(*event), *row, *is_velocity)
        }
        Outcome::Restless { t } => restless(equations, *t),
        Outcome::Stalled { coordinate } => stalled(equations, state, *coordinate),
        Outcome::Ambiguous { t, rows, n_modes, tried } => {
            let how_many = if *n_modes == 0 { "no motion" } else { "more than one motion" };
            let message = format!("with friction, {how_many} is possible from t = {} on", number(*t));
            let d = ambiguous(equations, message, rows);
            tried.iter().fold(d, |d, mode| d.with_note(tried_mode(equations, mode)))
        }
        Outcome::AmbiguousBlow { t, rows, outcomes } => {
            let how_many = if outcomes.is_empty() { "no outcome" } else { "more than one outcome" };
            let message = format!("with friction, the impact at t = {} has {how_many}", number(*t));
            let d = ambiguous(equations, message, rows);
            outcomes.iter().fold(d, |d, places| d.with_note(outcome_of_blow(equations, places)))
        }
        Outcome::TooManyModes { t, rows } => too_many(equations, *t, rows),
        // contacts among the rows need not hold
        Outcome::Undetermined { t, rows } if equations.n_always.is_some() => undetermined(equations, *t, rows),
        Outcome::Undetermined { t, rows } => {
            let parameters = system.parameters().to_vec();
            match no_way_on(equations, &parameters, state, settings) {
                Some(found) => Contradiction { t: *t, ..found }.diagnostic(equations),
                None => undetermined(equations, *t, rows),
            }
        }
        Outcome::StepTooSmall { h, coordinate, rows, cause } => {
            match control::losing(equations, system, state, (start, None), settings) {
                Some(lost) => lost,
                None => too_small(equations, state, *h, *coordinate, cause.as_ref()).about(equations, rows),
            }
        }
    };
    Some(d.with_note(at))
}

/// `at t = 0.52 s: x = 1, y = 2, x' = 0, …`
fn place(equations: &Equations, state: &State) -> String {
    const MOST: usize = 6;
    let names = equations.model.coordinates.iter();
    let values = names.clone().zip(&state.q).map(|(c, q)| format!("{} = {}", c.name, rounded(*q, 7)));
    let rates = names.zip(&state.qdot).map(|(c, v)| format!("{}' = {}", c.name, rounded(*v, 7)));
    let more = if state.q.len() > MOST { ", …" } else { "" };
    let shown: Vec<String> = values.take(MOST).chain(rates.take(MOST)).collect();
    format!("stopped at t = {}: {}{more}", number(state.t), shown.join(", "))
}

fn names_of(equations: &Equations, rows: &[usize]) -> Vec<String> {
    const MOST: usize = 6;
    let mut names: Vec<String> = rows.iter().take(MOST).map(|&k| format!("`{}`", equations.rows[k].name)).collect();
    if rows.len() > MOST {
        names.push(format!("{} more", rows.len() - MOST));
    }
    names
}

/// Whether a row is that of a contact, in a word.
fn word(equations: &Equations, row: usize) -> &'static str {
    match equations.n_always.is_some_and(|first| equations.rows[row].constraint >= first) {
        true => "contact",
        false => "constraint",
    }
}

/// Z603: the constraints do not say how the motion goes on.
fn undetermined(equations: &Equations, t: f64, rows: &[usize]) -> Diagnostic {
    let names = names_of(equations, rows);
    let what = match names.len() {
        1 => format!("{} {} loses its grip", word(equations, rows[0]), names[0]),
        _ => format!("constraints {} become dependent", joined(&names)),
    };
    let mut d =
        Diagnostic::error("Z603", format!("{what} at t = {}, and the motion beyond is not determined", number(t)));
    if let Some(&row) = rows.first() {
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, "its derivatives vanish there");
    }
    if rows.len() == 1 && word(equations, rows[0]) == "contact" {
        let help = "state the gap so that it grows in proportion to the distance, as y >= 0 for y^3 >= 0";
        return d.with_note("where the gap closes its derivatives vanish, so that nothing can push there").help(help);
    }
    d.help("start on the branch you want with some speed along it, loosen the tolerance, or state which way it goes by a constraint")
}

/// Z609: modes that change without end.
fn restless(equations: &Equations, t: f64) -> Diagnostic {
    let has_contacts = (0..equations.rows.len()).any(|row| word(equations, row) == "contact");
    let (what, help) = match has_contacts {
        true => (
            "contacts open and close",
            "a little less restitution lets bounces die out; contacts that exclude each other have no motion",
        ),
        false => ("sticking and sliding alternate", "look for a force or a slip that jumps where it changes its sign"),
    };
    Diagnostic::error("Z609", format!("{what} without end at t = {}", rounded(t, 9)))
        .with_note("thousands of changes have hardly moved the time on")
        .help(help)
}

/// Z610: Coulomb's law has no solution, or several.
fn ambiguous(equations: &Equations, message: String, rows: &[usize]) -> Diagnostic {
    let mut d = Diagnostic::error("Z610", message);
    if let Some(&row) = rows.first() {
        let names = joined(&names_of(equations, rows));
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, format!("friction of {names}"));
    }
    d.with_note("rigid bodies and Coulomb's law do not always agree (Painlevé); nothing is guessed here")
        .help("a smaller coefficient of friction, or a soft support instead of a rigid one, has a motion")
}

/// `` `a` sticking, opening at 0.3; `b` without an impulse, opening at 1.2: this keeps the laws of friction and restitution ``.
fn outcome_of_blow(equations: &Equations, places: &[Struck]) -> String {
    let told = |place: &Struck| {
        let name = &equations.rows[place.row].name;
        let act = match place.act {
            "sticks" => "sticking",
            "slides" => "sliding",
            "spared" => "without an impulse",
            act => act,
        };
        let is_contact = word(equations, place.row) == "contact";
        let opens = if is_contact { format!(", opening at {}", rounded(place.opens, 5)) } else { String::new() };
        format!("`{name}` {act}{opens}")
    };
    let told: Vec<String> = places.iter().map(told).collect();
    format!("{}: this keeps the laws of friction and restitution", told.join("; "))
}

/// `with `a` sliding and `b` closed: `a` would have to pull, λ = -3.2`.
fn tried_mode(equations: &Equations, mode: &TriedMode) -> String {
    let name = |row: usize| format!("`{}`", equations.rows[row].name);
    let act = |&(row, word): &(usize, &'static str)| match word {
        "sticks" => format!("{} sticking", name(row)),
        "slides" => format!("{} sliding", name(row)),
        word => format!("{} {word}", name(row)),
    };
    let acts: Vec<String> = mode.acts.iter().map(act).collect();
    let why = match mode.misses {
        None => "this keeps every inequality".to_string(),
        Some(Inequality::NoSolution) => "no acceleration satisfies the equations".to_string(),
        Some(Inequality::Pull { row, lambda }) if word(equations, row) == "constraint" => {
            format!(
                "pressed on the side that this friction is for, {} would press on the other: λ = {} has the wrong sign",
                name(row),
                rounded(lambda, 5)
            )
        }
        Some(Inequality::Pull { row, lambda }) => {
            format!("{} would have to pull: λ = {} instead of λ >= 0", name(row), rounded(lambda, 5))
        }
        Some(Inequality::Enters { row, opening }) => {
            format!(
                "{} would be entered: its gap has the acceleration {} instead of one >= 0",
                name(row),
                rounded(opening, 5)
            )
        }
        Some(Inequality::Cone { row, force, most }) => {
            format!("{} would have to hold {} with at most μ N = {}", name(row), rounded(force, 5), rounded(most, 5))
        }
        Some(Inequality::TurnsBack { row, along }) => {
            format!("{} would turn back at once: its slip has the acceleration {}", name(row), rounded(along, 5))
        }
    };
    format!("with {}: {why}", joined(&acts))
}

/// Z606: a law of the velocities goes back and forth.
fn stalled(equations: &Equations, state: &State, coordinate: usize) -> Diagnostic {
    let name = &equations.model.coordinates[coordinate].name;
    let message = format!("a formula switches back and forth without end at t = {}", rounded(state.t, 9));
    Diagnostic::error("Z606", message)
        .with_note(format!("`{name}'` changes its sign in every step or so, and the steps have become too short to go on"))
        .help("a law such as direction(P') does not say what happens at rest: dry friction that sticks is `with friction`")
}

/// Z615: an event sets velocities that the constraints do not allow.
pub(super) fn undone(equations: &Equations, whens: &[(f64, usize)]) -> Option<Diagnostic> {
    let is_velocity = |(_, k): &&(f64, usize)| matches!(equations.model.whens[*k].change, Change::Velocity(_));
    let &(t, k) = whens.iter().find(is_velocity)?;
    let when = &equations.model.whens[k];
    let message = format!("the constraints do not allow all of the velocity that `{}` sets", when.name);
    Some(
        Diagnostic::warning("Z615", message)
            .at(when.span, format!("at t = {}", rounded(t, 7)))
            .with_note(
                "the nearest velocities they allow, in the metric of the masses, were taken: a blow against them",
            )
            .help("set a velocity along the constraints, or change a parameter of the constraint instead"),
    )
}

/// Z612: very many places with friction, and no mode was found.
fn too_many(equations: &Equations, t: f64, rows: &[usize]) -> Diagnostic {
    let message = format!("no motion with friction was found at t = {} among very many that could be", number(t));
    let mut d = Diagnostic::error("Z612", message);
    if let Some(&row) = rows.first() {
        let names = joined(&names_of(equations, rows));
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, format!("friction of {names}"));
    }
    d.with_note("twenty thousand combinations of sticking, sliding and letting go were tried; there are more")
        .help("leave out friction where it hardly matters, or let fewer places touch at once")
}

/// Z614: contacts that share a force.
pub(super) fn undetermined_contacts(equations: &Equations, rows: &[usize]) -> Option<Diagnostic> {
    let &first = rows.first()?;
    let names = joined(&names_of(equations, rows));
    let (message, label) = match rows.len() {
        1 => (format!("the force of {names} is not determined"), "other constraints share it"),
        _ => (format!("the forces of {names} are not determined one by one"), "shares a force with others"),
    };
    let span = equations.model.constraints[equations.rows[first].constraint].span;
    Some(
        Diagnostic::note("Z614", message)
            .at(span, label)
            .with_note("the motion and the total force are; shown are the smallest single forces, or the next that push and stay in their cones")
            .help("`zwang inspect --at T` says which sums of them are determined at the time T"),
    )
}

/// Z612: the motion fits, but whether another one does was not looked at.
pub(super) fn unchecked(n_times: usize) -> Option<Diagnostic> {
    let times = match n_times {
        0 => return None,
        1 => "once".to_string(),
        n => format!("{n} times"),
    };
    let message = format!("{times} there were too many ways to stick and slide to look at them all");
    Some(
        Diagnostic::note("Z612", message)
            .with_note("the motion keeps Coulomb's law; whether another one would too was not looked at"),
    )
}

/// Z613: restitution that would have made energy.
pub(super) fn tamed(equations: &Equations, blows: &[Tamed]) -> Option<Diagnostic> {
    let first = blows.first()?;
    let more = if blows.len() > 1 { format!(" and in {} more", blows.len() - 1) } else { String::new() };
    let names = joined(&names_of(equations, &first.rows));
    let lowered = match first.part == 0.0 {
        true => "could not act".to_string(),
        false => format!("was lowered to {} of itself", rounded(first.part, 3)),
    };
    let message = format!("the restitution of {names} {lowered} in the impact at t = {}{more}", rounded(first.t, 7));
    let d = Diagnostic::note("Z613", message);
    let d = match first.rows.first() {
        Some(&row) => d.at(equations.model.constraints[equations.rows[row].constraint].span, "struck"),
        None => d,
    };
    Some(d.with_note("as stated it would have made energy out of nothing, which Newton's law does not exclude, or no impulse could have met it"))
}

/// Z604: a motion that ends in finite time, or cannot be resolved.
fn too_small(
    equations: &Equations,
    state: &State,
    h: f64,
    coordinate: usize,
    cause: Option<&MotionError>,
) -> Diagnostic {
    let name = equations.model.coordinates.get(coordinate).map_or(String::new(), |c| c.name.clone());
    let value = state.q.get(coordinate).copied().unwrap_or(0.0);
    let rate = state.qdot.get(coordinate).copied().unwrap_or(0.0);
    let message = format!("the motion cannot be continued beyond t = {}", number(state.t));
    if let Some(MotionError::OutsideTable { what }) = cause {
        return Diagnostic::error("Z604", message)
            .with_note(format!("there is no value of {what}"))
            .help("run as long as the table lasts, or add rows to it");
    }
    let d = Diagnostic::error("Z604", message).with_note(format!(
        "steps have shrunk to {h:.1e}; `{name}` changes fastest: {name} = {}, {name}' = {}",
        rounded(value, 6),
        rounded(rate, 6)
    ));
    let d = match cause {
        Some(MotionError::NotFinite { what }) => d.with_note(format!("{what} is not finite")),
        Some(MotionError::NotConverged { .. }) => {
            d.with_note("no state on the constraints was found near the next step")
        }
        Some(other) => d.with_note(other.to_string()),
        None => d,
    };
    d.help("look for a force or a coordinate that grows without bound there: a singularity of the coordinates, a collision, a constraint that ends")
}

/// Z611: friction in proportion to a force that is not determined.
pub(super) fn shared(equations: &Equations, rows: &[usize]) -> Option<Diagnostic> {
    let &first = rows.first()?;
    let names = joined(&names_of(equations, rows));
    let message = format!("the normal force that drives the friction of {names} is not determined");
    let span = equations.model.constraints[equations.rows[first].constraint].span;
    let d = Diagnostic::warning("Z611", message).at(span, "other constraints share it");
    Some(
        d.with_note("the smallest forces that hold the motion were taken; rigid bodies alone do not tell the shares")
            .help("leave out what repeats it, or state a soft support that tells how the force is shared"),
    )
}

/// Z608: the constraints are not kept.
pub(super) fn left(equations: &Equations, run: &Run) -> Option<Diagnostic> {
    /// Relative to the size of the coordinates, more than any eye would forgive.
    const VISIBLE: f64 = 1e-3;
    let size = run.sizes.0.iter().fold(0.0, |top: f64, q| top.max(*q));
    let (row, most) = run.audit.residuals.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if run.drift == Drift::Project || *most <= VISIBLE * size.max(f64::MIN_POSITIVE) {
        return None;
    }
    let constraint = equations.rows.iter().find(|r| r.name == *row)?.constraint;
    let message =
        format!("constraint `{row}` is left by up to {}: this is not the motion of the model", rounded(*most, 3));
    let d = Diagnostic::warning("Z608", message).at(equations.model.constraints[constraint].span, "not kept");
    Some(d.help("run with --drift project, the default"))
}

/// Z606: a formula switches back and forth without end.
fn sliding(equations: &Equations, state: &State, event: usize) -> Diagnostic {
    let message = format!("a formula switches back and forth without end at t = {}", rounded(state.t, 9));
    let d = Diagnostic::error("Z606", message)
        .with_note("the motion slides along the place where it switches, and the formula does not say how");
    let d = match equations.model.whens.get(event) {
        Some(when) => d.at(when.span, "fires again and again"),
        None => d,
    };
    d.help("make the change gradual, as in tanh(x'/0.001) for sign(x'); dry friction that sticks is `with friction`")
}

/// Z607: an event moves a position constraint away from the state.
fn jumped_off(equations: &Equations, when: Option<usize>, row: usize, is_velocity: bool) -> Diagnostic {
    let (stated, name, span) = match equations.rows.get(row) {
        Some(row) => ("constraint", &row.name, equations.model.constraints[row.constraint].span),
        // what controls ask is numbered behind
        None => {
            let row = &equations.asked[row - equations.rows.len()].row;
            ("control", &row.name, equations.model.controls[row.constraint].stated.span)
        }
    };
    let what = if is_velocity { "velocities" } else { "positions" };
    match when.and_then(|when| equations.model.whens.get(when)) {
        Some(when) => {
            let message = format!("the event `{}` takes the system off {stated} `{name}`", when.name);
            let d = Diagnostic::error("Z607", message)
                .at(span, "no longer met after it")
                .and_at(when.span, "changes what is asked, or the state");
            match stated {
                "control" => d.help("let the control find its way back:   with settling 0.2"),
                _ => d.help("let the parameter change over time by a formula of t, so that the system can follow"),
            }
        }
        None => Diagnostic::error("Z607", format!("{stated} `{name}` switches so that the {what} would have to jump"))
            .at(span, "after the switch it is not met")
            .with_note("what becomes of the motion at such a corner no formula says")
            .help("round the corner off, or state an impact with `contact`"),
    }
}

impl Diagnostic {
    /// The same message with the constraints that are about to become dependent.
    fn about(self, equations: &Equations, rows: &[usize]) -> Diagnostic {
        let mut d = self;
        let mut spans = Vec::new();
        for &row in rows.iter().take(6) {
            let span = equations.model.constraints[equations.rows[row].constraint].span;
            if !spans.contains(&span) {
                d = if spans.is_empty() { d.at(span, "about to end") } else { d.and_at(span, "about to end") };
                spans.push(span);
            }
        }
        match names_of(equations, rows) {
            names if names.is_empty() => d,
            names if names.len() == 1 => {
                d.with_note(format!("{} is about to lose its grip: its motion ends here", names[0]))
            }
            names => d.with_note(format!("{} are about to become dependent: their motion ends here", joined(&names))),
        }
    }
}

/// Z601: the motion is stiff.
pub(super) fn stiff(equations: &Equations, stiffness: &Stiffness, switched: bool) -> Diagnostic {
    let name = &equations.model.coordinates[stiffness.coordinate].name;
    let message = format!(
        "the motion is stiff from t = {}: `{name}` has a fast mode of time constant {:.1e}",
        rounded(stiffness.t, 4),
        stiffness.time_constant
    );
    if switched {
        return Diagnostic::note("Z601", message).with_note("the method `stiff` took over there");
    }
    if stiffness.given_up {
        return Diagnostic::note("Z601", message)
            .with_note("the method `stiff` was tried and needed shorter steps: the fast motion is really there");
    }
    Diagnostic::warning("Z601", message).help("type --method stiff, or `run … with method stiff`")
}

/// Z602: a position was passed in which the constraints lose rank.
pub(super) fn passed(equations: &Equations, passages: &[Passage]) -> Option<Diagnostic> {
    let first = passages.first()?;
    let names = names_of(equations, &first.rows);
    let times: Vec<String> = passages.iter().take(4).map(|p| rounded(p.t, 9)).collect();
    let more = if passages.len() > 4 { format!(", … ({} in all)", passages.len()) } else { String::new() };
    let message = format!("rank drops from {} to {} at t = {}{more}", first.of, first.rank, times.join(", "));
    Some(
        Diagnostic::note("Z602", message)
            .with_note(match names.len() {
                1 => format!("{} loses its grip there; the motion goes on along the same branch", names[0]),
                _ => format!("{} become dependent there; the motion goes on along the same branch", joined(&names)),
            })
            .with_note(format!(
                "at that instant {} and the split of their forces is not determined",
                match first.of - first.rank.min(first.of) {
                    1 => "there is one degree of freedom more".to_string(),
                    n => format!("there are {n} degrees of freedom more"),
                }
            ))
            .with_note(format!(
                "a change of lengths of about {:.0e} would decide otherwise",
                passages.iter().fold(1e-14, |top: f64, p| top.max(p.rho))
            )),
    )
}
