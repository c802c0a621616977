//! Diagnostics for redundant and vanishing rows.

use zwang_expr::Expr;
use zwang_motion::{Matrix, Settings, spectrum::eigen};

use crate::analysis::constraints::dependence::{DependenceAway, Dependencies, Evidence, Redundant};
use crate::analysis::start::joined;
use crate::diagnostic::Diagnostic;
use crate::equations::{ConstraintRow, Equations};
use crate::model::Model;
use crate::quantity::rounded;
use crate::{analysis::constraints::dependence::necessity::is_fixed, limits, tolerance};

fn random_states(n: usize) -> String {
    if n == 1 { "1 random state".into() } else { format!("{n} random states") }
}

/// The dependence in one sentence without its end: "`again` repeats `rod[2]`: again = 2*rod[2], proved".
fn sentence(r: &Redundant) -> String {
    let names: Vec<String> = match r.depends_on.len() {
        0..=limits::NAMES => r.depends_on.iter().map(|(n, _)| format!("`{n}`")).collect(),
        n => vec![format!("{n} others")],
    };
    let verb = if r.depends_on.len() == 1 { "repeats" } else { "follows from" };
    let numbers = || {
        let term = |(n, c): &(String, f64)| match *c {
            1.0 => n.clone(),
            -1.0 => format!("-{n}"),
            c => format!("{}*{n}", rounded(c, 4)),
        };
        let terms: Vec<String> = r.depends_on.iter().take(limits::NAMES).map(term).collect();
        let more = if r.depends_on.len() > limits::NAMES { " + …" } else { "" };
        format!("`{} = {}{more}`", r.row, terms.join(" + ").replace("+ -", "- "))
    };
    let formula = r.formula.as_ref().map_or_else(numbers, |f| format!("`{} = {f}`", r.row));
    let place = match r.evidence {
        Evidence::Proved if r.formula.is_some() => ", proved",
        Evidence::Proved => ", proved (the factor at this state)",
        Evidence::Held(n) => match r.formula {
            Some(_) => &format!(", held at {}", random_states(n)),
            None => match r.likeness {
                DependenceAway::Same => &format!(", held at {}", random_states(n)),
                DependenceAway::Factors => &format!(" at this state, with other factors at {}", random_states(n)),
                DependenceAway::Rows => &format!(" at this state, with other rows at {}", random_states(n)),
            },
        },
        Evidence::Failed(_) => match &r.ends_at {
            Some(place) => &format!(" at this state, though not at {place}"),
            None => " at this state, though not at others",
        },
        Evidence::NoOtherPosition => " here, and there is no other position near",
        Evidence::NotTried => " at this state; whether at others was not found out",
    };
    format!("`{}` {verb} {}: {formula}{place}", r.row, joined(&names))
}

/// Z310: notes on redundant rows; a singular position is a warning.
pub fn redundancy_notes(
    equations: &Equations,
    found: &Dependencies,
    rank: usize,
    settings: &Settings,
) -> Vec<Diagnostic> {
    found.redundant.iter().take(limits::NOTES).map(|r| redundancy_note(equations, found, rank, (r, settings))).collect()
}

fn redundancy_note(
    equations: &Equations,
    found: &Dependencies,
    rank: usize,
    (r, settings): (&Redundant, &Settings),
) -> Diagnostic {
    let (n, m) = (equations.model.n_coordinates(), equations.rows.len());
    let message = format!("{}; {m} equations, {rank} independent", sentence(r));
    let row = equations.rows.iter().find(|e| e.name == r.row);
    let at = |d: Diagnostic, label: &str| match row {
        Some(row) => d.at(equations.model.constraints[row.constraint].span, label),
        None => d,
    };
    let (note, warning) = (Diagnostic::note("Z310", message.as_str()), Diagnostic::warning("Z310", message.as_str()));
    if let Some(rest) = &r.rest {
        let differ = format!(
            "exactly they differ by {rest}, which numbers cannot tell from rounding: they are taken for the same"
        );
        return at(warning, "almost the same as others")
            .with_note(differ)
            .help("drop one of them if they are meant to be the same; if not, one of them must differ more");
    }
    // if rows are dependent only here, the count of freedoms holds only here
    if r.evidence == Evidence::NoOtherPosition && rank < n {
        return at(warning, "a singular position")
            .with_note("the rows touch here: each is needed, and rank and multipliers are those of this position");
    }
    if let Some(place) = &r.ends_at {
        return at(warning, "parts from the others")
            .with_note(format!("at {place} the others hold and this one is independent of them: it is needed there"))
            .with_note("the motion ends with Z301 where they contradict each other")
            .help("drop one of them, or write both so that they agree wherever the motion comes");
    }
    if matches!(r.evidence, Evidence::Failed(_)) {
        return match found.is_singular() {
            true => singular(equations, found, rank, r, |label| at(warning, label)),
            false => at(note, "not needed at this state")
                .with_note("as many rows are independent here as nearby, though not the same: no singular position"),
        };
    }
    if let Some(name) = &r.asked_share {
        return at(warning, "changes the share that the law sees")
            .with_note(format!("a nonideal law uses the reaction of `{name}`, which is only a share of the whole"))
            .help("drop the repeated constraint, so that the law sees the whole reaction");
    }
    if !found.is_clearly_dependent(settings) {
        return at(warning, "not clearly independent of others")
            .with_note(format!(
                "a part of {:.1e} of its size is its own: more than rounding, but below {:.0e}, where a row counts",
                found.largest_dropped(),
                settings.rank_tolerance
            ))
            .with_note("the motion shown is that without it; it is not decided whether that is the only one")
            .help("state what the rows differ by as a constraint of its own, or leave the row out if they are to be the same");
    }
    let label = match r.everywhere.is_none() && !is_fixed(equations, rank) {
        true => "given by others at this state",
        false => "not needed for the motion",
    };
    at(note, label)
        .with_note("the motion and the total constraint force are unique")
        .with_note(format!("the split between {} is not: the multipliers shown are the smallest possible", sharing(r)))
}

/// The diagnostic for a position or velocity near which more rows are independent.
fn singular(
    equations: &Equations,
    found: &Dependencies,
    rank: usize,
    r: &Redundant,
    at: impl FnOnce(&str) -> Diagnostic,
) -> Diagnostic {
    let n = equations.model.n_coordinates();
    let is_involved = |e: &ConstraintRow| e.name == r.row || r.depends_on.iter().any(|(name, _)| *name == e.name);
    let involved: Vec<usize> = (0..equations.rows.len()).filter(|k| is_involved(&equations.rows[*k])).collect();
    let this = match varied_by(equations, &involved) {
        VariesWith::Velocities => "velocity",
        _ => "position",
    };
    let (here, nearby) = (n - rank, n - found.rank_elsewhere().unwrap_or(rank).min(n));
    let freedoms = if here == 1 { "degree" } else { "degrees" };
    at(&format!("a singular {this}"))
        .with_note(format!(
            "{here} {freedoms} of freedom here, {nearby} nearby: rank and multipliers are those of this {this}"
        ))
        .help(format!("start from another {this} if this one was not meant"))
}

/// The rows that share a force: "`a` and `b`", "these 12 rows".
fn sharing(r: &Redundant) -> String {
    match r.depends_on.len() {
        0..=limits::NAMES => {
            let names = r.depends_on.iter().map(|(name, _)| name).chain([&r.row]);
            joined(&names.map(|name| format!("`{name}`")).collect::<Vec<_>>())
        }
        n => format!("these {} rows", n + 1),
    }
}

/// Z618: a mass matrix that is singular but for a small part, at a diagonal of one.
#[allow(non_snake_case)]
pub fn nearly_singular_mass(model: &Model, M: &Matrix) -> Option<Diagnostic> {
    let n = M.n_rows;
    let scale: Vec<f64> = (0..n).map(|i| M.get(i, i).sqrt()).collect();
    if n > limits::SMALL_MATRIX || scale.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    let scaled: Vec<f64> = (0..n * n).map(|k| M.get(k / n, k % n) / (scale[k / n] * scale[k % n])).collect();
    let found = eigen(&scaled, n)?;
    let (most, least) = (found.first()?, found.last()?);
    let part = least.value.0 / most.value.0;
    if !(tolerance::SINGULAR_MASS < part && part < tolerance::NEARLY_SINGULAR_MASS) {
        return None;
    }
    let takes_part = |k: &usize| least.vector[*k].0.abs() > tolerance::NEGLIGIBLE;
    let names: Vec<String> =
        (0..n).filter(takes_part).take(6).map(|k| format!("`{}`", model.coordinates[k].name)).collect();
    let message = format!("the mass matrix is nearly singular: its condition is {:.1e} at the start", 1.0 / part);
    let digits = (-f64::EPSILON.log10() + part.log10()).floor();
    let d = Diagnostic::note("Z618", message);
    let d = match model.energy_span {
        Some(span) => d.at(span, "almost no mass in one direction"),
        None => d,
    };
    Some(
        d.with_note(format!(
            "{} can move together with {part:.1e} of their mass: accelerations that way have about {digits} digits, and a force \
             that way makes a motion fast enough to need very short steps",
            joined(&names)
        ))
        .help("leave that direction out by a constraint, or use coordinates in which its mass is an entry of its own"),
    )
}

/// Z312: rows that vanish at this state.
pub fn vanishing_notes(equations: &Equations, found: &Dependencies) -> Vec<Diagnostic> {
    let warning = |&k: &usize| {
        let row = &equations.rows[k];
        let other = match varied_by(equations, &[k]) {
            VariesWith::Positions => "from other positions",
            VariesWith::Velocities => "from other velocities",
            VariesWith::Time => "at another time",
            VariesWith::Parameters => "with other parameters",
        };
        let d = Diagnostic::warning(
            "Z312",
            format!("constraint `{}` restricts nothing at this state: its row of A vanishes", row.name),
        )
        .at(equations.model.constraints[row.constraint].span, "all its coefficients are zero here");
        let n = found.there.len();
        if n > 0 && found.there.iter().all(|d| d.vanished.contains(&k)) {
            return d
                .with_note(format!(
                    "it vanishes at {} on the constraints too: what it asks for cannot be judged from its row",
                    random_states(n)
                ))
                .help("write the constraint without a square: `u = 0` instead of `u^2 = 0`");
        }
        d.help(format!("start {other}, or write the constraint so that it does not vanish"))
    };
    found.here.vanished.iter().take(8).map(warning).collect()
}

/// The first of these on which the coefficients of rows depend.
#[derive(Copy, Clone, PartialEq, Eq)]
enum VariesWith {
    Positions,
    Velocities,
    Time,
    Parameters,
}

fn varied_by(equations: &Equations, rows: &[usize]) -> VariesWith {
    let model = &equations.model;
    let entries: Vec<Expr> =
        rows.iter().flat_map(|k| equations.rows[*k].coefficients.iter().map(|(_, e)| *e)).collect();
    let symbols = model.graph.symbols_of(&entries);
    let has = |s: &Expr| symbols.binary_search(s).is_ok();
    if model.coordinates.iter().any(|c| has(&c.q)) {
        VariesWith::Positions
    } else if model.coordinates.iter().any(|c| has(&c.qdot)) {
        VariesWith::Velocities
    } else if has(&model.time) {
        VariesWith::Time
    } else {
        VariesWith::Parameters
    }
}
