//! Diagnostics for an acceleration that could not be computed.

use zwang_motion::{MotionError, State};

use crate::analysis::start::joined;
use crate::diagnostic::Diagnostic;
use crate::equations::{Equations, RowKind};
use crate::model::{Level, Model};
use crate::quantity::{number, rounded};
use crate::{analysis::control::unreachable, limits, tolerance};

/// The diagnostic for an acceleration that could not be computed.
pub fn explain(equations: &Equations, state: &State, error: &MotionError) -> Diagnostic {
    let model = &equations.model;
    match error {
        MotionError::Contradiction { certificate, gap, residual } => {
            let largest = certificate.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
            let rows: Vec<usize> = (0..certificate.len()).filter(|k| certificate[*k].abs() > tolerance::NEGLIGIBLE * largest).collect();
            let names: Vec<String> = rows.iter().take(6).map(|k| format!("`{}`", equations.rows[*k].name)).collect();
            let size = residual.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
            let message = match names.len() {
                1 => format!("constraint {} cannot hold at t = {}: it asks 0 = {}", names[0], rounded(state.t, 9), number(*gap)),
                _ => format!("constraints {} contradict each other at t = {}", joined(&names), rounded(state.t, 9)),
            };
            let mut d = Diagnostic::error("Z301", message);
            let mut shown = Vec::new();
            for &k in rows.iter().take(6) {
                let span = model.constraints[equations.rows[k].constraint].span;
                if !shown.contains(&span) {
                    d = if shown.is_empty() { d.at(span, "one of them") } else { d.and_at(span, "one of them") };
                    shown.push(span);
                }
            }
            d.with_note(format!("no accelerations satisfy A q'' = b: what remains is {}", number(size)))
                .help("drop one of them, or make the motions they ask for agree")
        }
        MotionError::MassTooSmall { coordinate, mass } => mass_too_small(model, *coordinate, *mass),
        MotionError::Indeterminate { direction } => undetermined(equations, direction),
        MotionError::MassNotPositive { direction, value } => {
            let names = involved(equations, direction);
            let d = Diagnostic::error("Z403", format!("the kinetic energy is negative for some velocities of {}", joined(&names)));
            let d = match model.energy_span {
                Some(span) => d.at(span, "gives a negative mass"),
                None => d,
            };
            d.with_note(format!("v·M v = {} for a velocity of length 1", number(*value)))
                .help("masses and inertias must be positive; check signs and parameter values")
        }
        MotionError::NotFinite { what } => Diagnostic::error("Z402", format!("{what} is not finite"))
            .with_note(format!("at t = {}", state.t))
            .help("0/0, 1/0 and roots of negative numbers have no value: `direction(v)` is v/|v| and zero at rest; |v|^2 = l^2 has no root to differentiate"),
        MotionError::OutsideTable { what } => Diagnostic::error("Z402", format!("there is no value of {what}"))
            .with_note("a table has no values beyond its rows")
            .help("run as long as the table lasts, start inside it, or add rows to it"),
        MotionError::Unresolved { .. } => Diagnostic::error(
            "Z604",
            format!("a function changes within less than the shortest step at t = {}", number(state.t)),
        ),
        MotionError::NotConverged { residual } => {
            Diagnostic::error("Z301", format!("the acceleration could not be found to full accuracy: {} remains", number(*residual)))
                .help("the constraints may nearly depend on each other; `zwang check` lists them")
        }
        MotionError::Unreachable { row, reached, needed } => unreachable(equations, state, *row, (*reached, *needed)),
        MotionError::WeightNotPositive => weight_not_positive(equations, state),
        MotionError::NotPositive { what, control, value } => not_positive(equations, state, (what, *control, *value)),
        MotionError::LimitNotPositive => Diagnostic::error("Z704", "the limit of a control force is not positive")
            .with_note(format!("at t = {}", state.t))
            .help("a limit is the largest size of a force; let what changes it stay above zero"),
        MotionError::Controlled => {
            Diagnostic::error("Z605", "the method `rattle` knows no control forces").help("leave `method` out")
        }
        MotionError::NotQuadratic => {
            let d = Diagnostic::error("Z605", "the method `rattle` needs a Lagrangian quadratic in the velocities");
            let d = match model.energy_span {
                Some(span) => d.at(span, "its masses depend on the velocities"),
                None => d,
            };
            d.help("leave `method` out, or use `order8`")
        }
        MotionError::MassSingular => Diagnostic::error("Z605", "the method `rattle` needs a regular mass matrix")
            .with_note("here it is singular, and the constraints make up for it")
            .help("leave `method` out, or use `order8`"),
        MotionError::Jammed { row } => at_row(
            Diagnostic::error("Z610", format!("friction of `{}` holds its own normal force up", name_of(equations, *row))),
            equations,
            *row,
        )
        .with_note(format!("at t = {} no normal force, or any, satisfies Coulomb's law (Painlevé)", rounded(state.t, 9)))
        .help("a smaller coefficient of friction, or a soft support instead of a rigid one, has a motion"),
        MotionError::Excluded { row, others } => excluded(equations, state, *row, others),
        MotionError::NotHolonomic { row } => not_holonomic(equations, *row),
        MotionError::NoLegendre | MotionError::NoJacobian => Diagnostic::error("Z404", error.to_string()),
    }
}

/// Z301: contacts, or a contact and the permanent constraints, exclude each other.
fn excluded(equations: &Equations, state: &State, row: usize, others: &[usize]) -> Diagnostic {
    let is_permanent = |k: &usize| equations.rows[*k].kind == RowKind::Permanent;
    let permanent: Vec<usize> = (0..equations.rows.len()).filter(is_permanent).collect();
    let (what, others) = if others.is_empty() { ("constraint", &permanent[..]) } else { ("contact", others) };
    let names: Vec<String> =
        others.iter().take(limits::FEW_NAMES).map(|&k| format!("{what} `{}`", name_of(equations, k))).collect();
    let message = format!("contact `{}` and {} exclude each other", name_of(equations, row), joined(&names));
    let mut d = at_row(Diagnostic::error("Z301", message), equations, row);
    for row in others.iter().take(limits::FEW_NAMES).filter_map(|&k| equations.rows.get(k)) {
        d = d.and_at(equations.model.constraints[row.constraint].span, "and this one");
    }
    d.with_note(format!("at t = {} no motion keeps all of them", rounded(state.t, 9)))
        .help("leave one of them out, or make room between them")
}

/// Z704: W is not a metric at this state.
fn weight_not_positive(equations: &Equations, state: &State) -> Diagnostic {
    let d = Diagnostic::error("Z704", "the weight of the control forces is not positive definite");
    let d = match equations.model.controls.iter().find(|control| !control.weight.is_empty()) {
        Some(control) => d.at(control.stated.span, format!("not a metric at t = {}", rounded(state.t, 9))),
        None => d.with_note(format!("at t = {}", rounded(state.t, 9))),
    };
    d.with_note("a force of some direction would count as nothing, or less").help(
        "give a weight that is positive for every combination of forces, as [2, 1; 1, 2] is and [1, 2; 2, 1] is not",
    )
}

/// Z704: an event has made a property of a control zero or negative.
fn not_positive(equations: &Equations, state: &State, (what, control, value): (&str, usize, f64)) -> Diagnostic {
    let stated = &equations.model.controls[control].stated;
    let message = format!(
        "`{what}` of control `{}` is {} from t = {} on, and must be positive",
        stated.name,
        number(value),
        rounded(state.t, 9)
    );
    let label = match what {
        "limit" => "without a force nothing follows",
        _ => "errors would grow instead of dying out",
    };
    let d = Diagnostic::error("Z704", message).at(stated.span, label);
    d.help("let the `when` that changes it leave it above zero")
}

fn name_of(equations: &Equations, row: usize) -> &str {
    equations.rows.get(row).map_or("", |row| row.name.as_str())
}

fn at_row(d: Diagnostic, equations: &Equations, row: usize) -> Diagnostic {
    match equations.rows.get(row) {
        Some(row) => d.at(equations.model.constraints[row.constraint].span, "this one"),
        None => d,
    }
}

/// Z605: a method for position constraints is used with another constraint.
fn not_holonomic(equations: &Equations, row: usize) -> Diagnostic {
    let message = "the method `rattle` holds ideal constraints on positions only";
    let d = Diagnostic::error("Z605", message);
    let d = match equations.rows.get(row) {
        Some(row) if row.level == Level::Position => {
            d.at(equations.model.constraints[row.constraint].span, "holds only at times")
        }
        Some(row) => d.at(equations.model.constraints[row.constraint].span, "contains velocities or accelerations"),
        None => d.with_note("a `nonideal` law does work on the virtual displacements"),
    };
    d.help("leave `method` out, or use `order8`")
}

/// Z401: directions that have neither mass nor constraint.
fn undetermined(equations: &Equations, direction: &[f64]) -> Diagnostic {
    let model = &equations.model;
    let names = involved(equations, direction);
    let massless: Vec<String> = (0..direction.len())
        .filter(|k| equations.momentum[*k] == zwang_expr::Expr::ZERO && direction[*k].abs() > tolerance::NEGLIGIBLE)
        .map(|k| format!("`{}'`", model.coordinates[k].name))
        .collect();
    let message = match names.len() {
        1 => format!("the acceleration of {} is not determined", names[0]),
        _ => format!("the accelerations of {} are not determined one by one", joined(&names)),
    };
    let d = Diagnostic::error("Z401", message);
    let label = match massless.len() {
        0 => "no mass in this direction".to_string(),
        _ => format!("{} does not occur, so there is no mass", joined(&massless)),
    };
    let declared = direction.iter().position(|x| x.abs() > tolerance::NEGLIGIBLE).map(|k| model.coordinates[k].span);
    let d = match model.energy_span.or(declared) {
        Some(span) => d.at(span, label),
        None => d,
    };
    d.with_note("a coordinate without mass is fine if the constraints fix it; here they do not").help(format!(
        "give it a mass, as in   mass {}: 1   or a constraint",
        names.first().map_or("x", |name| name.trim_matches('`'))
    ))
}

/// The coordinates that take part in a direction, six at most.
fn involved(equations: &Equations, direction: &[f64]) -> Vec<String> {
    let largest = direction.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let names = equations.model.coordinates.iter().zip(direction);
    names
        .filter(|(_, x)| x.abs() > tolerance::NEGLIGIBLE * largest)
        .take(6)
        .map(|(c, _)| format!("`{}`", c.name))
        .collect()
}

/// Z401: a mass that numbers cannot divide by.
pub(crate) fn mass_too_small(model: &Model, coordinate: usize, mass: f64) -> Diagnostic {
    let name = &model.coordinates[coordinate].name;
    let message = format!("the mass of `{name}`, {}, is too small to divide by", number(mass));
    let d = Diagnostic::error("Z401", message);
    let d = match model.energy_span {
        Some(span) => d.at(span, "gives this mass"),
        None => d,
    };
    d.with_note("numbers below 2.2e-308 lose their digits, and what is divided by them overflows")
        .help("choose larger units, or leave the mass out if a constraint determines the coordinate")
}
