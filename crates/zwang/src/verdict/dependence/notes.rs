//! What is said about rows that repeat others or vanish.

use zwang_expr::Expr;

use super::necessity::is_fixed;
use super::{Dependencies, Evidence, Likeness, Redundant};
use crate::diagnostic::{Diagnostic, Severity};
use crate::equations::{ConstraintRow, Equations};
use crate::quantity::rounded;
use crate::start::joined;

/// Names shown before the rest is only counted.
const MOST_NAMES: usize = 6;

fn random_states(n: usize) -> String {
    if n == 1 { "1 random state".into() } else { format!("{n} random states") }
}

/// What repeats what, in one sentence without its end: "`again` repeats `rod[2]`: again = 2*rod[2], proved".
fn sentence(r: &Redundant) -> String {
    let names: Vec<String> = match r.depends_on.len() {
        0..=MOST_NAMES => r.depends_on.iter().map(|(n, _)| format!("`{n}`")).collect(),
        n => vec![format!("{n} others")],
    };
    let verb = if r.depends_on.len() == 1 { "repeats" } else { "follows from" };
    let numbers = || {
        let term = |(n, c): &(String, f64)| match *c {
            1.0 => n.clone(),
            -1.0 => format!("-{n}"),
            c => format!("{}*{n}", rounded(c, 4)),
        };
        let terms: Vec<String> = r.depends_on.iter().take(MOST_NAMES).map(term).collect();
        let more = if r.depends_on.len() > MOST_NAMES { " + …" } else { "" };
        format!("`{} = {}{more}`", r.row, terms.join(" + ").replace("+ -", "- "))
    };
    let formula = r.formula.as_ref().map_or_else(numbers, |f| format!("`{} = {f}`", r.row));
    let place = match r.evidence {
        Evidence::Proved if r.formula.is_some() => ", proved",
        Evidence::Proved => ", proved (the factor at this state)",
        Evidence::Held(n) => match r.formula {
            Some(_) => &format!(", held at {}", random_states(n)),
            None => match r.likeness {
                Likeness::Same => &format!(", held at {}", random_states(n)),
                Likeness::Factors => &format!(" at this state, with other factors at {}", random_states(n)),
                Likeness::Rows => &format!(" at this state, with other rows at {}", random_states(n)),
            },
        },
        Evidence::Failed(_) => " at this state, though not at others",
        Evidence::NoOtherPosition => " here, and there is no other position near",
        Evidence::NotTried => " at this state; whether at others was not found out",
    };
    format!("`{}` {verb} {}: {formula}{place}", r.row, joined(&names))
}

/// Z310: a calm note on what repeats what.
pub fn redundancy_notes(equations: &Equations, found: &Dependencies, rank: usize) -> Vec<Diagnostic> {
    let (n, m) = (equations.model.n_coordinates(), equations.rows.len());
    let note = |r: &Redundant| {
        let message = format!("{}; {m} equations, {rank} independent", sentence(r));
        let row = equations.rows.iter().find(|e| e.name == r.row);
        // where rows meet only here, the count of freedoms holds only here
        let shaky = r.evidence == Evidence::NoOtherPosition && rank < n;
        let is_needed_elsewhere = matches!(r.evidence, Evidence::Failed(_));
        let singular = shaky || (is_needed_elsewhere && found.is_singular());
        let involved = |e: &ConstraintRow| e.name == r.row || r.depends_on.iter().any(|(name, _)| *name == e.name);
        let involved: Vec<usize> = (0..m).filter(|k| involved(&equations.rows[*k])).collect();
        let by_velocities = varied_by(equations, &involved) == Varied::Velocities;
        let d = if singular { Diagnostic::warning("Z310", message) } else { Diagnostic::note("Z310", message) };
        let label = match is_needed_elsewhere {
            _ if r.rest.is_some() => "almost the same as others",
            _ if singular && by_velocities => "a singular velocity",
            _ if singular => "a singular position",
            true => "not needed at this state",
            false if r.everywhere.is_none() && !is_fixed(equations, rank) => "given by others at this state",
            false => "not needed for the motion",
        };
        let d = match row {
            Some(row) => d.at(equations.model.constraints[row.constraint].span, label),
            None => d,
        };
        if let Some(rest) = &r.rest {
            let mut d = d.with_note(format!(
                "exactly they differ by {rest}, which numbers cannot tell from rounding: they are taken for the same"
            ));
            d.severity = Severity::Warning;
            return d.help("drop one of them if they are meant to be the same; if not, one of them must differ more");
        }
        if singular {
            if shaky {
                return d.with_note(
                    "the rows touch here: each is needed, and rank and multipliers are those of this position",
                );
            }
            let nearby = n - found.rank_elsewhere().unwrap_or(rank).min(n);
            let here = n - rank;
            let freedoms = if here == 1 { "degree" } else { "degrees" };
            let this = if by_velocities { "velocity" } else { "position" };
            let counts = format!(
                "{here} {freedoms} of freedom here, {nearby} nearby: rank and multipliers are those of this {this}"
            );
            return d.with_note(counts).help(format!("start from another {this} if this one was not meant"));
        }
        if is_needed_elsewhere {
            return d
                .with_note("as many rows are independent here as nearby, though not the same: no singular position");
        }
        let shared = match r.depends_on.len() {
            0..=MOST_NAMES => {
                let names = r.depends_on.iter().map(|(name, _)| name).chain([&r.row]);
                joined(&names.map(|name| format!("`{name}`")).collect::<Vec<_>>())
            }
            n => format!("these {} rows", n + 1),
        };
        if let Some(name) = &r.asked_share {
            let mut d = d
                .with_note(format!("a nonideal law uses the reaction of `{name}`, which is only a share of the whole"));
            d.severity = Severity::Warning;
            d.label = "changes the share that the law sees".into();
            return d.help("drop the repeated constraint, so that the law sees the whole reaction");
        }
        d.with_note("the motion and the total constraint force are unique")
            .with_note(format!("the split between {shared} is not: the multipliers shown are the smallest possible"))
    };
    const MOST: usize = 8;
    found.redundant.iter().take(MOST).map(note).collect()
}

/// Z312: rows that vanish at this state.
pub fn vanishing_notes(equations: &Equations, found: &Dependencies) -> Vec<Diagnostic> {
    let warning = |&k: &usize| {
        let row = &equations.rows[k];
        let other = match varied_by(equations, &[k]) {
            Varied::Positions => "from other positions",
            Varied::Velocities => "from other velocities",
            Varied::Time => "at another time",
            Varied::Parameters => "with other parameters",
        };
        let d = Diagnostic::warning(
            "Z312",
            format!("constraint `{}` says nothing at this state: its row of A vanishes", row.name),
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

/// What the coefficients of rows change with, the first of these.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Varied {
    Positions,
    Velocities,
    Time,
    Parameters,
}

fn varied_by(equations: &Equations, rows: &[usize]) -> Varied {
    let model = &equations.model;
    let entries: Vec<Expr> =
        rows.iter().flat_map(|k| equations.rows[*k].coefficients.iter().map(|(_, e)| *e)).collect();
    let symbols = model.graph.symbols_of(&entries);
    let has = |s: &Expr| symbols.binary_search(s).is_ok();
    if model.coordinates.iter().any(|c| has(&c.q)) {
        Varied::Positions
    } else if model.coordinates.iter().any(|c| has(&c.qdot)) {
        Varied::Velocities
    } else if has(&model.time) {
        Varied::Time
    } else {
        Varied::Parameters
    }
}
