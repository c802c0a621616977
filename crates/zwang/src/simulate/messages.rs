//! Diagnostics about the course and the end of a motion.

use zwang_motion::{
    CandidateMode, ControlRows, Drift, ImpactState, Inequality, MotionError, Outcome, RankDrop, ReducedRestitution,
    RoundingLimit, Settings, State, Stiffness,
};

use crate::run::Resource;
use crate::simulate::result::MotionRecord;
use crate::{limits, simulate::Run, tolerance};

use crate::analysis::constraints::contradiction;
use crate::analysis::messages::failure;
use crate::analysis::start::{joined, no_way_on};
use crate::analysis::{Contradiction, control};
use crate::compile::evaluator::Evaluator;
use crate::diagnostic::Diagnostic;
use crate::equations::Equations;
use crate::model::{Change, When};
use crate::quantity::{number, rounded};

/// Z620: the run ended where its budget did.
pub(super) fn budget_spent(resource: Resource, record: &MotionRecord) -> Diagnostic {
    let t = rounded(record.state.t, 9);
    let spent = match resource {
        Resource::Steps => format!("{} steps", record.counts.steps),
        Resource::Events => format!("{} events", record.events.len()),
        Resource::Time => "time".into(),
        Resource::Memory => "memory".into(),
    };
    Diagnostic::error("Z620", format!("the run ended at t = {t}: its budget of {spent} was spent"))
        .with_note("the results up to there hold")
        .help(format!("raise it, on the command line by `--budget {}=…`, or ask for less", resource.as_str()))
}

/// The reason why the motion ended before its time; `start` are the control rows at its start.
pub(crate) fn ending(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    outcome: &Outcome,
    start: Option<&ControlRows>,
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
        Outcome::ControlAuthorityLost { row } => {
            match control::losing(equations, system, state, (start, Some(*row)), settings) {
                Some(lost) => lost,
                None => control::unreachable(equations, state, *row, (0, 1)),
            }
        }
        Outcome::Failed(error) => failure::explain(equations, state, error),
        Outcome::StepTooLong { h } => Diagnostic::error(
            "Z604",
            format!("a step of {} is too long for this method at t = {}", number(*h), rounded(state.t, 9)),
        )
        .with_note("the equations of the step have no solution near by")
        .help("give a shorter one with --step, or leave `method` out"),
        Outcome::Sliding { event } => sliding(equations, state, *event),
        Outcome::AccumulatedEvents { t, events } => {
            let whens: Vec<usize> = events.iter().filter_map(|event| system.when(*event)).collect();
            accumulated(equations, *t, &whens)
        }
        Outcome::OffConstraint { event, row, is_velocity } => {
            jumped_off(equations, system.when(*event), *row, *is_velocity)
        }
        Outcome::EndlessTransitions { t } => restless(equations, *t),
        Outcome::NoProgress { coordinate } => stalled(equations, state, *coordinate),
        Outcome::Ambiguous { t, rows, n_modes, tried } => {
            let how_many = if *n_modes == 0 { "no motion" } else { "more than one motion" };
            let message = format!("with friction, {how_many} is possible from t = {} on", number(*t));
            let d = ambiguous(equations, message, rows);
            tried.iter().fold(d, |d, mode| d.with_note(tried_mode(equations, mode)))
        }
        Outcome::AmbiguousImpact { t, rows, outcomes } => {
            let how_many = if outcomes.is_empty() { "no outcome" } else { "more than one outcome" };
            let message = format!("with friction, the impact at t = {} has {how_many}", number(*t));
            let d = ambiguous(equations, message, rows);
            outcomes.iter().fold(d, |d, places| d.with_note(outcome_of_blow(equations, places)))
        }
        Outcome::TooManyModes { t, rows } => too_many(equations, *t, rows),
        // contacts among the rows need not hold
        Outcome::MotionNotUnique { t, rows } if equations.has_contacts() => undetermined(equations, *t, rows),
        Outcome::MotionNotUnique { t, rows } => {
            let parameters = system.parameters().to_vec();
            match no_way_on(equations, &parameters, state, settings) {
                Some(found) => Contradiction { t: *t, ..found }.diagnostic(equations),
                None => undetermined(equations, *t, rows),
            }
        }
        Outcome::StepTooSmall { h, coordinate, rows, cause } => {
            match control::losing(equations, system, state, (start, None), settings) {
                Some(lost) => lost,
                None => {
                    let unresolved = match cause {
                        Some(MotionError::Unresolved { function }) => {
                            system.sharp_text(*function).map(|text| (state, text))
                        }
                        _ => None,
                    };
                    match unresolved {
                        Some((state, text)) => unresolved_function(state, &text),
                        None => about(too_small(equations, state, *h, *coordinate, cause.as_ref()), equations, rows),
                    }
                }
            }
        }
    };
    Some(d.with_note(at))
}

/// `at t = 0.52 s: x = 1, y = 2, x' = 0, …`
fn place(equations: &Equations, state: &State) -> String {
    let names = equations.model.coordinates.iter();
    let values = names.clone().zip(&state.q).map(|(c, q)| format!("{} = {}", c.name, rounded(*q, 7)));
    let rates = names.zip(&state.qdot).map(|(c, v)| format!("{}' = {}", c.name, rounded(*v, 7)));
    let more = if state.q.len() > limits::NAMES { ", …" } else { "" };
    let shown: Vec<String> = values.take(limits::NAMES).chain(rates.take(limits::NAMES)).collect();
    format!("stopped at t = {}: {}{more}", number(state.t), shown.join(", "))
}

fn names_of(equations: &Equations, rows: &[usize]) -> Vec<String> {
    let mut names: Vec<String> =
        rows.iter().take(limits::NAMES).map(|&k| format!("`{}`", equations.rows[k].name)).collect();
    if rows.len() > limits::NAMES {
        names.push(format!("{} more", rows.len() - limits::NAMES));
    }
    names
}

/// Whether a row is that of a contact, in a word.
fn word(equations: &Equations, row: usize) -> &'static str {
    match equations.is_of_contact(row) {
        true => "contact",
        false => "constraint",
    }
}

/// Z603: the constraints do not determine how the motion continues.
fn undetermined(equations: &Equations, t: f64, rows: &[usize]) -> Diagnostic {
    let names = names_of(equations, rows);
    let what = match names.len() {
        1 => format!("{} {} loses rank", word(equations, rows[0]), names[0]),
        _ => format!("constraints {} become dependent", joined(&names)),
    };
    let mut d =
        Diagnostic::error("Z603", format!("{what} at t = {}, and the motion beyond is not determined", number(t)));
    if let Some(&row) = rows.first() {
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, "its derivatives vanish there");
    }
    if rows.len() == 1 && word(equations, rows[0]) == "contact" {
        let help = "state the gap so that it grows in proportion to the distance, as y >= 0 for y^3 >= 0";
        return d
            .with_note("the derivatives of the gap vanish where it closes, so no normal force can act there")
            .help(help);
    }
    d.help("start on the branch you want with some speed along it, loosen the tolerance, or state which way it goes by a constraint")
}

/// Z609: modes that change without end.
fn restless(equations: &Equations, t: f64) -> Diagnostic {
    let has_contacts = (0..equations.rows.len()).any(|row| word(equations, row) == "contact");
    let (what, help) = match has_contacts {
        true => (
            "contacts open and close",
            "lower the restitution so that bounces lose energy; contacts that exclude each other allow no motion",
        ),
        false => ("sticking and sliding alternate", "look for a force or a slip that jumps where it changes its sign"),
    };
    Diagnostic::error("Z609", format!("{what} without end at t = {}", rounded(t, 9)))
        .with_note("10,000 transitions advanced the time by less than 1e-4 of the run")
        .help(help)
}

/// Z610: Coulomb's law has no solution, or several.
fn ambiguous(equations: &Equations, message: String, rows: &[usize]) -> Diagnostic {
    let mut d = Diagnostic::error("Z610", message);
    if let Some(&row) = rows.first() {
        let names = joined(&names_of(equations, rows));
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, format!("friction of {names}"));
    }
    d.with_note("rigid bodies with Coulomb friction may have no motion or several (Painlevé's paradox); the run does not choose")
        .help("reduce the coefficient of friction, or replace the rigid support by a stiff spring with damping")
}

/// `` `a` sticking, opening at 0.3; `b` without an impulse, opening at 1.2: this satisfies the laws of friction and restitution ``.
fn outcome_of_blow(equations: &Equations, places: &[ImpactState]) -> String {
    let sentence = |place: &ImpactState| {
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
    let sentences: Vec<String> = places.iter().map(sentence).collect();
    format!("{}: this satisfies the laws of friction and restitution", sentences.join("; "))
}

/// `with `a` sliding and `b` closed: `a` would have to pull, λ = -3.2`.
fn tried_mode(equations: &Equations, mode: &CandidateMode) -> String {
    let name = |row: usize| format!("`{}`", equations.rows[row].name);
    let act = |&(row, word): &(usize, &'static str)| match word {
        "sticks" => format!("{} sticking", name(row)),
        "slides" => format!("{} sliding", name(row)),
        word => format!("{} {word}", name(row)),
    };
    let acts: Vec<String> = mode.acts.iter().map(act).collect();
    let why = match mode.violation {
        None => "this satisfies every inequality".to_string(),
        Some(Inequality::NoSolution) => "no acceleration satisfies the equations".to_string(),
        Some(Inequality::Pull { row, lambda }) if word(equations, row) == "constraint" => {
            format!(
                "this friction assumes one side of {}, but its force would act on the other: λ = {} has the wrong sign",
                name(row),
                rounded(lambda, 5)
            )
        }
        Some(Inequality::Pull { row, lambda }) => {
            format!("{} would have to pull: λ = {} instead of λ >= 0", name(row), rounded(lambda, 5))
        }
        Some(Inequality::Enters { row, opening }) => {
            format!(
                "{} would be penetrated: its gap has the acceleration {}, which must be >= 0",
                name(row),
                rounded(opening, 5)
            )
        }
        Some(Inequality::Cone { row, force, most }) => {
            format!(
                "{} would need a friction force of {}, more than μ N = {}",
                name(row),
                rounded(force, 5),
                rounded(most, 5)
            )
        }
        Some(Inequality::TurnsBack { row, along }) => {
            format!("the slip of {} would reverse at once: its acceleration is {}", name(row), rounded(along, 5))
        }
    };
    format!("with {}: {why}", joined(&acts))
}

/// Z606: a law of the velocities goes back and forth.
fn stalled(equations: &Equations, state: &State, coordinate: usize) -> Diagnostic {
    let name = &equations.model.coordinates[coordinate].name;
    let message = format!("a formula switches back and forth without end at t = {}", rounded(state.t, 9));
    Diagnostic::error("Z606", message)
        .with_note(format!(
            "`{name}'` changes its sign in every step or so, and the steps have become too short to continue"
        ))
        .help("a law such as direction(P') determines no force at rest: dry friction that sticks is `with friction`")
}

/// Z615: an event sets velocities that the constraints do not allow.
pub(crate) fn undone(equations: &Equations, whens: &[(f64, usize)]) -> Option<Diagnostic> {
    let is_velocity = |(_, k): &&(f64, usize)| matches!(equations.model.whens[*k].change, Change::Velocity(_));
    let &(t, k) = whens.iter().find(is_velocity)?;
    let when = &equations.model.whens[k];
    let message = format!("the constraints do not allow all of the velocity that `{}` sets", when.name);
    Some(
        Diagnostic::warning("Z615", message)
            .at(when.span, format!("at t = {}", rounded(t, 7)))
            .with_note("the nearest velocities they allow, in the metric of the masses, were taken, as after an impact")
            .help("set a velocity along the constraints, or change a parameter of the constraint instead"),
    )
}

/// Z612: very many places with friction, and no mode was found.
fn too_many(equations: &Equations, t: f64, rows: &[usize]) -> Diagnostic {
    let message = format!("no motion with friction was found at t = {}", number(t));
    let mut d = Diagnostic::error("Z612", message);
    if let Some(&row) = rows.first() {
        let names = joined(&names_of(equations, rows));
        d = d.at(equations.model.constraints[equations.rows[row].constraint].span, format!("friction of {names}"));
    }
    d.with_note("20,000 combinations of open, sticking and sliding places were tried; there are more")
        .help("remove `with friction` from contacts that need none, or let fewer places touch at once")
}

/// Z614: contacts that share a force.
pub(crate) fn undetermined_contacts(equations: &Equations, rows: &[usize]) -> Option<Diagnostic> {
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
            .with_note("the motion and the total force are; shown are the shortest multipliers of the rows as written, changed if one would be tensile or outside its cone")
            .help("`zwang inspect --at T` says which sums of them are determined at the time T"),
    )
}

/// Z612: the motion satisfies all laws, but whether it is the only one was not examined.
pub(crate) fn unchecked(n_times: usize) -> Option<Diagnostic> {
    let times = match n_times {
        0 => return None,
        1 => "once".to_string(),
        n => format!("{n} times"),
    };
    let message = format!("not all combinations of sticking and sliding were tried ({times})");
    Some(
        Diagnostic::note("Z612", message)
            .with_note("the motion satisfies Coulomb's law; a second motion was not looked for"),
    )
}

/// Z613: restitution that would have made energy.
pub(crate) fn reduced_restitutions(equations: &Equations, blows: &[ReducedRestitution]) -> Option<Diagnostic> {
    let first = blows.first()?;
    let more = if blows.len() > 1 { format!(" (the first of {} impacts)", blows.len()) } else { String::new() };
    let names = joined(&names_of(equations, &first.rows));
    let lowered = match first.part == 0.0 {
        true => "was set to zero".to_string(),
        false => format!("was reduced to {} times the stated value", rounded(first.part, 3)),
    };
    let message = format!("at t = {}{more} the restitution of {names} {lowered}", rounded(first.t, 7));
    let d = Diagnostic::note("Z613", message);
    let d = match first.rows.first() {
        Some(&row) => d.at(equations.model.constraints[equations.rows[row].constraint].span, "takes an impulse"),
        None => d,
    };
    Some(d.with_note("with the full value the impact would have gained energy, or no impulse could have produced it"))
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

/// Z604: a function acts within less than the rounding of the time or of its argument, or grows without bound.
fn unresolved_function(state: &State, text: &str) -> Diagnostic {
    let message = format!("the motion cannot be continued beyond t = {}", number(state.t));
    Diagnostic::error("Z604", message)
        .with_note(format!("`{text}` changes there within less than the shortest step, or has a pole"))
        .help("make it wider than the rounding of its argument, or end the run before it")
}

/// Z619: steps of one length that pass over what a formula does.
pub(crate) fn passed_over(system: &Evaluator, run: &Run) -> Option<Diagnostic> {
    let (t, function) = run.record.passed_over?;
    let text = system.sharp_text(function)?;
    let message = format!("a step passes over what `{text}` does at about t = {}", rounded(t, 7));
    Some(
        Diagnostic::warning("Z619", message)
            .with_note("the steps of this method have one length, so they cannot be shortened there")
            .help("give a shorter step with --step, or leave `method` out"),
    )
}

/// Z611: friction in proportion to a force that is not determined.
pub(crate) fn shared(equations: &Equations, rows: &[usize]) -> Option<Diagnostic> {
    let &first = rows.first()?;
    let names = joined(&names_of(equations, rows));
    let message = format!("the normal force that drives the friction of {names} is not determined");
    let span = equations.model.constraints[equations.rows[first].constraint].span;
    let d = Diagnostic::warning("Z611", message).at(span, "other constraints share it");
    Some(
        d.with_note(
            "the shortest multipliers of the rows as written were taken; rigid bodies do not determine the shares",
        )
        .help("remove the redundant constraint, or replace the rigid supports by springs, which determine the shares"),
    )
}

/// Z608: the constraints are not kept.
pub(crate) fn left(equations: &Equations, run: &Run) -> Option<Diagnostic> {
    let size = run.record.sizes.0.iter().fold(0.0, |top: f64, q| top.max(*q));
    let (row, most) = run.record.audit.residuals.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if run.drift() == Drift::Project || *most <= tolerance::VISIBLE_VIOLATION * size.max(f64::MIN_POSITIVE) {
        return None;
    }
    let constraint = equations.rows.iter().find(|r| r.name == *row)?.constraint;
    let message =
        format!("constraint `{row}` is violated by up to {}: this is not the motion of the model", rounded(*most, 3));
    let d = Diagnostic::warning("Z608", message).at(equations.model.constraints[constraint].span, "not satisfied");
    Some(d.help("run with --drift project, the default"))
}

/// Z606: a formula switches back and forth without end.
fn sliding(equations: &Equations, state: &State, event: usize) -> Diagnostic {
    let message = format!("a formula switches back and forth without end at t = {}", rounded(state.t, 9));
    let d = Diagnostic::error("Z606", message)
        .with_note("the motion slides along the switching surface, and the formula does not determine it there");
    let d = match equations.model.whens.get(event) {
        Some(when) => d.at(when.span, "triggered again and again"),
        None => d,
    };
    d.help("make the change gradual, as in tanh(x'/0.001) for sign(x'); dry friction that sticks is `with friction`")
}

/// Z616: events accumulate.
fn accumulated(equations: &Equations, t: f64, whens: &[usize]) -> Diagnostic {
    let whens: Vec<&When> = whens.iter().map(|&k| &equations.model.whens[k]).collect();
    let names: Vec<String> = whens.iter().map(|when| format!("`{}`", when.name)).collect();
    let message = match names.len() {
        1 => format!("the event {} accumulates at t = {}", names[0], rounded(t, 9)),
        _ => format!("the events {} trigger each other without end at t = {}", joined(&names), rounded(t, 9)),
    };
    let label = if names.len() == 1 { "triggered ever faster" } else { "triggered again at the same instant" };
    let mut d = Diagnostic::error("Z616", message);
    for (k, when) in whens.iter().enumerate() {
        d = if k == 0 { d.at(when.span, label) } else { d.and_at(when.span, "and here") };
    }
    let d = d.with_note("infinitely many changes before any later time: the statements allow no motion beyond");
    d.help("a body that bounces and comes to rest is a contact:   contact floor: y >= 0 with restitution 0.8")
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
                .at(span, "no longer satisfied after it")
                .and_at(when.span, "changes the target or the state");
            match stated {
                "control" => d.help("let the control find its way back:   with settling 0.2"),
                _ => d.help("let the parameter change over time by a formula of t, so that the system can follow"),
            }
        }
        None => Diagnostic::error("Z607", format!("{stated} `{name}` switches so that the {what} would have to jump"))
            .at(span, "not satisfied after the switch")
            .with_note("no formula determines the motion beyond such a corner")
            .help("round the corner off, or state an impact with `contact`"),
    }
}

/// The same message with the constraints that are about to become dependent.
fn about(d: Diagnostic, equations: &Equations, rows: &[usize]) -> Diagnostic {
    let mut d = d;
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
        names if names.len() == 1 => d.with_note(format!("{} is about to lose rank: its motion ends here", names[0])),
        names => d.with_note(format!("{} are about to become dependent: their motion ends here", joined(&names))),
    }
}

/// Z601: the motion is stiff.
pub(crate) fn stiff(equations: &Equations, stiffness: &Stiffness, switched: bool) -> Diagnostic {
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

/// Z617: a tolerance that rounding does not allow.
pub(crate) fn limited_by_rounding(limit: &RoundingLimit, stated: f64, n_steps: usize) -> Diagnostic {
    // velocities that turn back have little size there: the default can be met elsewhere
    let can = 10f64.powf(limit.tolerance.log10().ceil()).min(tolerance::RUN);
    let message = format!("rounding limits the steps: the tolerance {stated:.0e} is too small for this motion");
    let note = format!(
        "{n_steps} steps, near t = {} of {:.1e}: the accelerations are not known better there, because large forces cancel",
        rounded(limit.t, 4),
        limit.h
    );
    let d = Diagnostic::warning("Z617", message).with_note(note);
    match can > stated {
        true => d.help(format!("a tolerance that can be met:   --tolerance {can:.0e}")),
        false => d.help("weaken the stiffest force, or replace it by a constraint"),
    }
}

/// Z602: a position was passed in which the constraints lose rank.
pub(crate) fn passed(equations: &Equations, rank_drops: &[RankDrop]) -> Option<Diagnostic> {
    let first = rank_drops.first()?;
    let names = names_of(equations, &first.rows);
    let times: Vec<String> = rank_drops.iter().take(4).map(|p| rounded(p.t, 9)).collect();
    let more = if rank_drops.len() > 4 { format!(", … ({} in all)", rank_drops.len()) } else { String::new() };
    let message = format!("rank drops from {} to {} at t = {}{more}", first.of, first.rank, times.join(", "));
    Some(
        Diagnostic::note("Z602", message)
            .with_note(match names.len() {
                1 => format!("{} loses rank there; the motion continues along the same branch", names[0]),
                _ => format!("{} become dependent there; the motion continues along the same branch", joined(&names)),
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
                rank_drops.iter().fold(tolerance::VALUE_ROUNDING, |top: f64, p| top.max(p.rho))
            )),
    )
}
