//! Diagnostics for a start that is off the constraints, incomplete or impossible.

use zwang_motion::MotionError;

use crate::analysis::messages::failure;
use crate::diagnostic::Diagnostic;
use crate::model::{Level, Model};
use crate::quantity::{number, rounded, with_unit};
use crate::units::Dimension;
use crate::{analysis::start::level::LevelEquations, limits, tolerance};

/// A start that violates the constraints, and the nearest one that satisfies them.
pub(crate) struct StartViolation<'a> {
    /// The given values at this level.
    pub(crate) given: &'a [f64],
    /// The nearest positions.
    pub(crate) nearest: &'a [f64],
    /// The velocities at those positions.
    pub(crate) velocity: &'a [f64],
    /// `true` if the velocities violate the constraints, not the positions.
    pub(crate) is_velocity: bool,
    /// The violated row of the largest residual, and the nearest values that satisfy this row alone; `None` if it is the only
    /// one.
    pub(crate) worst: usize,
    pub(crate) alone: Option<&'a [f64]>,
}

/// The violated row of the largest residual, and `true` if others are violated, too.
pub(crate) fn worst_row(level: &mut LevelEquations, given: &[f64]) -> (usize, bool) {
    let residual = level.residual(given);
    let rows: Vec<usize> = (0..residual.len()).filter(|k| !level.origins[*k].is_start).collect();
    let worst = rows.iter().copied().max_by(|a, b| residual[*a].abs().total_cmp(&residual[*b].abs())).unwrap_or(0);
    let top = residual.get(worst).map_or(0.0, |r| r.abs());
    (worst, rows.iter().any(|&k| k != worst && residual[k].abs() > tolerance::RUN * top))
}

/// Z201: the violation of the worst row, and the line to paste.
pub(crate) fn off_constraint(model: &Model, level: &mut LevelEquations, violation: StartViolation) -> Diagnostic {
    let residual = level.residual(violation.given);
    let origin = level.origins[violation.worst].clone();
    let reached = if violation.is_velocity { violation.velocity } else { violation.nearest };
    let to_all = distance(model, violation.given, reached, violation.is_velocity);
    let how_much =
        violation.alone.map_or(to_all.clone(), |alone| distance(model, violation.given, alone, violation.is_velocity));
    let asked = model.controls.iter().flat_map(|c| &c.stated.rows);
    let row = model.rows().into_iter().chain(asked).find(|r| r.name == origin.name);
    let off = residual[violation.worst];
    let dimension = row.and_then(|r| r.dimension);
    let gives = match row {
        // a position constraint whose rate is wrong changes at that rate
        Some(r) if violation.is_velocity && r.level == Level::Position => {
            let rate = dimension.map(|d| d.times(Dimension::SECOND, -1.0));
            format!("left side minus right side would change at {}", with_unit(off, rate))
        }
        Some(r) => match level.value(&model.graph, r.right) {
            Some(right) => {
                format!("left side {}, right side {}", with_unit(right + off, dimension), with_unit(right, dimension))
            }
            None => format!("left side minus right side is {}", with_unit(off, dimension)),
        },
        None => String::new(),
    };
    let what = if violation.is_velocity { "the start velocities violate" } else { "the start state violates" };
    let kind = if origin.is_control { "control" } else { "constraint" };
    let mut d = Diagnostic::error("Z201", format!("{what} {kind} `{}` by {how_much}", origin.name));
    d = match model.start_span {
        Some(span) => d.at(span, "not on it").and_at(origin.span, format!("here: {gives}")),
        None => d.at(origin.span, format!("here: {gives}")),
    };
    let of_all = if violation.alone.is_some() { format!("; it is {to_all} away") } else { String::new() };
    let d = d.with_note(format!(
        "nearest consistent start (smallest change, weighted by mass{of_all}):\n    {}",
        start_line(model, violation.nearest, violation.velocity)
    ));
    let d = d.help("paste that line, or use ~ for values that may move, or run with --fix-start");
    if origin.is_control { d.help("or let the error decay: `with settling 0.2 s`") } else { d }
}

/// Z201: the start conditions of controls cannot be satisfied together with the constraints.
pub(crate) fn unmet_control(level: &LevelEquations) -> Diagnostic {
    let asked: Vec<_> = level.origins.iter().filter(|o| o.is_control).collect();
    let names: Vec<String> = asked.iter().take(6).map(|o| format!("`{}`", o.name)).collect();
    let what = if level.is_velocity { "velocities" } else { "positions" };
    let message = format!("no {what} near the start satisfy control {} and the constraints", joined(&names));
    let d = Diagnostic::error("Z201", message);
    let d = match asked.first() {
        Some(origin) => d.at(origin.span, "to be tracked exactly from the start"),
        None => d,
    };
    d.help("let the error decay: `with settling 0.2 s`; or start nearer to the target")
}

/// The distance between two values of the coordinates, with a unit if all changed coordinates share one.
fn distance(model: &Model, given: &[f64], nearest: &[f64], is_velocity: bool) -> String {
    let changes: Vec<f64> = given.iter().zip(nearest).map(|(a, b)| b - a).collect();
    let length = changes.iter().map(|d| d * d).sum::<f64>().sqrt();
    let moved = (0..changes.len()).filter(|k| changes[*k].abs() > tolerance::RUN * length);
    let dimensions: Vec<Option<Dimension>> = moved.map(|k| model.coordinates[k].dimension).collect();
    let common = dimensions
        .first()
        .copied()
        .flatten()
        .filter(|first| dimensions.iter().all(|d| d.is_some_and(|d| d.same(*first))));
    let common = common.map(|d| if is_velocity { d.times(Dimension::SECOND, -1.0) } else { d });
    with_unit(length, common)
}

/// A `start` line with every coordinate and the velocities that are not zero.
pub(crate) fn start_line(model: &Model, q: &[f64], qdot: &[f64]) -> String {
    let unit = |d: Option<Dimension>| match d {
        Some(d) if !d.same(Dimension::NONE) => format!(" {}", d.unit()),
        _ => String::new(),
    };
    let mut entries = Vec::new();
    let size = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // rounding is shown as zero
    let tidy = |x: f64, largest: f64| {
        if x.abs() <= tolerance::SHOWN_AS_ZERO * largest.max(tolerance::SHOWN_SIZE) { 0.0 } else { x }
    };
    let (largest, fastest) = (size(q), size(qdot));
    for (c, x) in model.coordinates.iter().zip(q) {
        entries.push(format!("{} = {}{}", c.name, number(tidy(*x, largest)), unit(c.dimension)));
    }
    for (c, v) in model.coordinates.iter().zip(qdot) {
        if tidy(*v, fastest) != 0.0 {
            let rate = c.dimension.map(|d| d.times(Dimension::SECOND, -1.0));
            entries.push(format!("{}' = {}{}", c.name, number(*v), unit(rate)));
        }
    }
    format!("start {}", entries.join(", "))
}

/// Z202: positions that nothing determines.
pub(crate) fn missing(model: &Model, open: &[usize], n_free: usize, found: &[f64]) -> Diagnostic {
    let names: Vec<String> = open.iter().map(|k| model.coordinates[*k].name.clone()).collect();
    let (shown, more) = (names.iter().take(8), names.len().saturating_sub(8));
    let quoted: Vec<String> = shown.map(|n| format!("`{n}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if names.len() == 1 { "initial position is" } else { "initial positions are" };
    let freedom = match n_free {
        1 => "the constraints leave one direction open".to_string(),
        n => format!("the constraints leave {n} directions open"),
    };
    // values on the constraints, so that the line can be pasted
    let line: Vec<String> =
        open.iter().take(8).map(|k| format!("{} ~ {}", model.coordinates[*k].name, rounded(found[*k], 4))).collect();
    let d = Diagnostic::error("Z202", format!("{} {noun} missing: {}{more}", names.len(), quoted.join(", ")));
    let span = model.start_span.or_else(|| open.first().map(|k| model.coordinates[*k].span));
    let d = match span {
        Some(span) => d.at(span, freedom),
        None => d,
    };
    d.with_note("velocities that are not given are zero")
        .help(format!("give them exactly, or state approximate values:   start {}", line.join(", ")))
}

/// Z202: velocities that must not be zero and that the constraints do not determine.
pub(crate) fn open_velocities(model: &Model, found: &[f64]) -> Diagnostic {
    // values after ~ may move, so they are open too
    let given = |k: usize| model.start.iter().any(|i| i.is_velocity && i.exact && i.coordinate == Some(k));
    let open: Vec<usize> = (0..found.len()).filter(|k| !given(*k) && found[*k] != 0.0).take(8).collect();
    let names: Vec<String> = open.iter().map(|k| format!("`{}'`", model.coordinates[*k].name)).collect();
    let line: Vec<String> =
        open.iter().map(|k| format!("{}' ~ {}", model.coordinates[*k].name, rounded(found[*k], 4))).collect();
    let who = if model.constraints.is_empty() { "controls" } else { "constraints" };
    let d = Diagnostic::error("Z202", format!("the {who} forbid rest and leave {} open", joined(&names)));
    let d = match model.start_span {
        Some(span) => d.at(span, "does not determine the velocities"),
        None => d,
    };
    d.help(format!("state approximate values:   start {}", line.join(", ")))
}

/// A note on values after `~` that do not select one start.
pub(crate) fn not_unique(model: &Model, q: &[f64]) -> Diagnostic {
    let near: Vec<String> = model
        .start
        .iter()
        .filter(|i| !i.exact && !i.is_velocity)
        .filter_map(|i| Some(format!("{} = {}", i.name, rounded(q[i.coordinate?], 4))))
        .take(6)
        .collect();
    let d = Diagnostic::note("Z202", "the values after ~ lie where no start is nearest; one was chosen");
    let d = match model.start_span {
        Some(span) => d.at(span, format!("taken: {}", near.join(", "))),
        None => d,
    };
    d.help("give values nearer to the start that is meant")
}

/// Z206: velocities that are not given and not zero.
pub(crate) fn left_out(model: &Model, open: &[usize], found: &[f64]) -> Option<Diagnostic> {
    let fastest = found.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
    let least = tolerance::SHOWN_AS_ZERO * fastest.max(tolerance::SHOWN_SIZE);
    let moving: Vec<usize> = open.iter().copied().filter(|&k| found[k].abs() > least).collect();
    let names: Vec<String> =
        moving.iter().take(limits::FEW_NAMES).map(|&k| format!("`{}'`", model.coordinates[k].name)).collect();
    let more = moving.len().saturating_sub(names.len());
    let first = *moving.first()?;
    let value = |k: usize| {
        let dimension = model.coordinates[k].dimension.map(|d| d.times(Dimension::SECOND, -1.0));
        with_unit(found[k], dimension)
    };
    let message = match moving.len() {
        1 => format!("{} is not given and starts at {}", names[0], value(first)),
        _ => {
            let values: Vec<String> = moving.iter().take(names.len()).map(|&k| value(k)).collect();
            let (mut names, mut values) = (names, values);
            if more > 0 {
                names.push(format!("{more} more"));
                values.push("…".into());
            }
            format!("{} are not given and start at {}", joined(&names), joined(&values))
        }
    };
    let d = Diagnostic::note("Z206", message);
    let d = match model.start_span {
        Some(span) => d.at(span, "zero does not satisfy the constraints"),
        None => d,
    };
    let d = d.with_note("of the velocities that the constraints allow, the smallest are taken, weighted by mass");
    Some(d.help(format!("to begin otherwise give them:   start {}' = …", model.coordinates[first].name)))
}

/// Z204: equations of the start that cannot hold, alone or together with the constraints.
pub(crate) fn unmet(model: &Model, names: &[String], is_velocity: bool) -> Diagnostic {
    let quoted: Vec<String> = names.iter().take(6).map(|n| format!("`{n}`")).collect();
    let verb = if names.len() == 1 { "cannot have its start value" } else { "cannot have their start values" };
    let d = Diagnostic::error("Z204", format!("{} {verb} here", joined(&quoted)));
    let span = model.start.iter().find(|i| names.contains(&i.name)).map(|i| i.span).or(model.start_span);
    let d = match span {
        Some(span) if is_velocity => d.at(span, "no velocities near the given ones satisfy this and the constraints"),
        Some(span) => d.at(span, "no positions near the given ones meet this and the constraints"),
        None => d,
    };
    d.help("start the coordinates near the place with ~, or give values that can be reached")
}

/// Z202: positions for which the constraints have more than one solution.
pub(crate) fn ambiguous(model: &Model, first: &[f64], second: &[f64]) -> Diagnostic {
    let differs = |k: &usize| (first[*k] - second[*k]).abs() > tolerance::DISTINCT * (1.0 + first[*k].abs());
    let open: Vec<usize> = (0..first.len()).filter(differs).take(6).collect();
    let names: Vec<String> = open.iter().map(|k| format!("`{}`", model.coordinates[*k].name)).collect();
    let listed = |values: &[f64]| {
        let one = |k: &usize| format!("{} ~ {}", model.coordinates[*k].name, rounded(values[*k], 4));
        open.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let d = Diagnostic::error("Z202", format!("the constraints allow more than one start for {}", names.join(", ")));
    let d = match model.start_span {
        Some(span) => d.at(span, "does not determine which one"),
        None => d,
    };
    d.help(format!("state approximate values:   start {}", listed(first)))
        .help(format!("or:   start {}", listed(second)))
}

/// `a`, `b` and `c`.
pub(crate) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Z402: a term that is not finite where the start is sought; Z401: a mass that numbers cannot divide by.
pub(crate) fn trouble(model: &Model, error: &MotionError) -> Diagnostic {
    if let MotionError::MassTooSmall { coordinate, mass } = error {
        return failure::mass_too_small(model, *coordinate, *mass);
    }
    let what = match error {
        MotionError::NotFinite { what } => format!("{what} is not finite"),
        other => other.to_string(),
    };
    let d = Diagnostic::error("Z402", format!("at the start {what}"));
    let d = match model.start_span {
        Some(span) => d.at(span, "at these values"),
        None => d,
    };
    if matches!(error, MotionError::OutsideTable { .. }) {
        return d.help("start where the table has rows, or add rows to it");
    }
    d.help("start elsewhere, or write the constraint without the division: |v|^2 = l^2 has none")
}
