//! The linearised motion near states, as text and as JSON.

use serde_json::{Value, json};
use zwang::ModelText;
use zwang::diagnostic::Diagnostics;
use zwang::linearize::{Linearized, LinearizedAt, MotionKind, Stability, obstacle_text as obstacle};
use zwang::model::Model;
use zwang::quantity::rounded;
use zwang_motion::Eigen;

use crate::json::diagnostics_json;

/// The number of significant digits shown.
const DIGITS: usize = 6;

/// Each state with its stability, its eigenvalues, and M, C, K.
pub fn linearize_table(file: &str, model: &Model, at: LinearizedAt, found: &[Linearized]) -> String {
    let has_equilibria = found.iter().any(|linear| linear.place == MotionKind::Equilibrium);
    let head = match (at, has_equilibria) {
        (LinearizedAt::State, _) => "",
        (LinearizedAt::Equilibria { is_timed: false }, true) => {
            "  equilibria found from the start and around it; there may be others\n"
        }
        (LinearizedAt::Equilibria { is_timed: false }, false) => {
            "  no equilibrium was found from the start and around it\n"
        }
        (LinearizedAt::Equilibria { is_timed: true }, true) => {
            "  the equations change with the time; states found that rest at all times, there may be others\n"
        }
        (LinearizedAt::Equilibria { is_timed: true }, false) => {
            "  the equations change with the time, and no state was found that rests at all times\n"
        }
    };
    let mut out = format!("{file}\n{head}");
    for linear in found {
        out.push_str(&format!("\n{}\n  {}\n", place(model, linear), stability(linear)));
        out.push_str(&family(model, linear));
        out.push_str(&eigenvalues(model, linear));
        out.push_str(&matrices(model, linear));
    }
    out
}

/// `equilibrium at x = 0, y = -2`.
fn place(model: &Model, linear: &Linearized) -> String {
    let names = model.coordinates.iter();
    let values = names.clone().zip(&linear.state.q).map(|(c, q)| format!("{} = {}", c.name, shown(*q)));
    let moving = names.zip(&linear.state.qdot).filter(|(_, v)| **v != 0.0);
    let rates = moving.map(|(c, v)| format!("{}' = {}", c.name, shown(*v)));
    let state = values.chain(rates).collect::<Vec<_>>().join(", ");
    match linear.place {
        MotionKind::Equilibrium => format!("equilibrium at {state}"),
        MotionKind::Steady => format!("steady motion at {state}"),
        MotionKind::Passing => {
            format!("no equilibrium at t = {}: {state}", rounded(linear.state.t, DIGITS))
        }
    }
}

/// A number as text; less than 1e-12 is shown as 0.
fn shown(x: f64) -> String {
    if x.abs() < 1e-12 { "0".into() } else { rounded(x, DIGITS) }
}

fn stability(linear: &Linearized) -> String {
    let drifts = if linear.zeros.power == 1 && linear.zeros.is_even { "; after a push they drift" } else { "" };
    let zeros = match linear.n_zero() {
        0 => String::new(),
        1 => "; one eigenvalue is zero: no force restores deviations in its direction".into(),
        n => format!("; {n} eigenvalues are zero: no force restores deviations in their directions{drifts}"),
    };
    match linear.stability() {
        _ if linear.obstacle.is_some() => linear.obstacle.as_ref().map_or(String::new(), obstacle),
        _ if linear.modes.is_empty() => "no coordinate is free to move".into(),
        Stability::Undecided if linear.place == MotionKind::Passing => {
            "small deviations from the motion, with the coefficients of this instant: stability is not judged".into()
        }
        Stability::Undecided => format!(
            "the coefficients change with the time and are those at t = {}: stability is not judged",
            rounded(linear.state.t, DIGITS)
        ),
        Stability::Unstable { time } => format!("unstable: a mode grows by e in {}{zeros}", shown(time)),
        Stability::Stable { time } => format!("stable: every mode decays, the slowest by e in {}", shown(time)),
        Stability::Growing { power } => format!("unstable: a deviation grows with {}{zeros}", power_of_time(power)),
        Stability::Minimum => "stable: the energy is conserved and the potential has a minimum here".into(),
        Stability::Neutral => {
            format!("undecided: no mode grows and not every mode decays; terms of higher order decide{zeros}")
        }
    }
}

/// `t`, `t²`, `t^4`.
fn power_of_time(power: usize) -> String {
    match power {
        0 | 1 => "t".into(),
        2 => "t²".into(),
        3 => "t³".into(),
        n => format!("t^{n}"),
    }
}

/// The coordinates along which there are more equilibria.
fn family(model: &Model, linear: &Linearized) -> String {
    let names: Vec<String> = linear.family.iter().map(|&k| format!("`{}`", model.coordinates[k].name)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("  one of a family: there are equilibria all along {}\n", names.join(", ")),
    }
}

/// One line for each real eigenvalue and for each conjugate pair.
fn eigenvalues(model: &Model, linear: &Linearized) -> String {
    let zeros = linear.n_zero();
    let fastest = linear.modes.iter().fold(0.0_f64, |top, m| top.max(m.value.0.hypot(m.value.1)));
    let clean = |x: f64| if x.abs() <= 1e-12 * fastest { 0.0 } else { x };
    // if the coefficients change with time, their eigenvalues do not show growth
    let shows_growth = linear.stability() != Stability::Undecided;
    let mut lines = vec![["eigenvalue", "grows or decays by e in", "period", "coordinates"].map(str::to_string)];
    let is_zero = |m: &Eigen| m.value.0.hypot(m.value.1) <= 1e-7 * fastest;
    for mode in linear.modes.iter().filter(|m| m.value.1 >= 0.0 && !(is_zero(m) && zeros > 0)) {
        let (re, im) = (clean(mode.value.0), clean(mode.value.1));
        let value = match im == 0.0 {
            true => shown(re),
            false if re == 0.0 => format!("± {} i", shown(im)),
            false => format!("{} ± {} i", shown(re), shown(im)),
        };
        let time = if re == 0.0 {
            "never".into()
        } else {
            format!("{} {}", if re > 0.0 { "grows" } else { "decays" }, shown(1.0 / re.abs()))
        };
        let period = if im == 0.0 { "-".into() } else { shown(std::f64::consts::TAU / im) };
        lines.push([value, time, period, shape(model, mode)]);
    }
    if lines.len() == 1 {
        return String::new();
    }
    let width = |k: usize| lines.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut out = String::new();
    for [value, time, period, shape] in &lines {
        let pad = |text: &str, width: usize| format!("{text}{}", " ".repeat(width - text.chars().count()));
        let mut cells = vec![pad(value, widths[0])];
        if shows_growth {
            cells.extend([pad(time, widths[1]), pad(period, widths[2])]);
        }
        out.push_str(&format!("  {}  {shape}\n", cells.join("  ")));
    }
    out
}

/// The coordinates of a mode, scaled so that the largest is 1: `θ 1, x -0.2`; size and angle for those out of phase.
fn shape(model: &Model, mode: &Eigen) -> String {
    /// The fraction of the largest component below which a component is not shown.
    const SMALL_COMPONENT: f64 = 1e-3;
    const COMPONENTS_SHOWN: usize = 5;
    let size = |x: &(f64, f64)| x.0.hypot(x.1);
    let largest = mode.vector.iter().fold((0.0, 0.0), |top, x| if size(x) > size(&top) { *x } else { top });
    let norm = size(&largest).powi(2);
    if norm == 0.0 {
        return "velocities only".into();
    }
    // divided by the largest, which becomes 1
    let part =
        |x: &(f64, f64)| ((x.0 * largest.0 + x.1 * largest.1) / norm, (x.1 * largest.0 - x.0 * largest.1) / norm);
    let mut parts: Vec<(f64, String)> = Vec::new();
    for (c, x) in model.coordinates.iter().zip(&mode.vector) {
        let (re, im) = part(x);
        let text = match im.abs() <= 1e-6 {
            true => format!("{} {}", c.name, rounded(re, 3)),
            false => format!("{} {} at {}°", c.name, rounded(re.hypot(im), 3), rounded(im.atan2(re).to_degrees(), 3)),
        };
        parts.push((re.hypot(im), text));
    }
    parts.retain(|(size, _)| *size >= SMALL_COMPONENT);
    parts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let more = if parts.len() > COMPONENTS_SHOWN { ", …" } else { "" };
    let texts: Vec<String> = parts.into_iter().take(COMPONENTS_SHOWN).map(|(_, text)| text).collect();
    format!("{}{more}", texts.join(", "))
}

/// M, C and K by rows, without the zero columns of K.
fn matrices(model: &Model, linear: &Linearized) -> String {
    /// The largest number of rows shown; `--json` has all of them.
    const MATRIX_ROWS_SHOWN: usize = 12;
    let name = |&k: &usize| model.coordinates[k].name.clone();
    let (k, p) = (linear.velocities.len(), linear.positions.len());
    if k == 0 || k > MATRIX_ROWS_SHOWN || p > MATRIX_ROWS_SHOWN {
        return String::new();
    }
    let largest = |entries: &[f64]| entries.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let size = largest(&linear.stiffness);
    let kept: Vec<usize> =
        (0..p).filter(|j| (0..k).any(|i| linear.stiffness[i * p + j].abs() > 1e-12 * size)).collect();
    let rows: Vec<String> = linear.velocities.iter().map(name).collect();
    let columns: Vec<String> = kept.iter().map(|&j| name(&linear.positions[j])).collect();
    let table = |title: &str, width: usize, columns: &[usize], entries: &[f64]| {
        let size = largest(entries);
        let mut out = format!("  {title}\n");
        for i in 0..k {
            let clean = |x: f64| if x.abs() <= 1e-12 * size { 0.0 } else { x };
            let cells: Vec<String> =
                columns.iter().map(|j| format!("{:>12}", shown(clean(entries[i * width + j])))).collect();
            out.push_str(&format!("    {}\n", cells.join(" ")));
        }
        out
    };
    let all: Vec<usize> = (0..k).collect();
    let mut out = format!("  M x'' + C x' + K x = 0 for {}\n", rows.join(", "));
    if columns != rows && !columns.is_empty() {
        out =
            format!("  M u' + C u + K s = 0 for the rates u of {}, and s = {}\n", rows.join(", "), columns.join(", "));
    }
    out.push_str(&table("M", k, &all, &linear.mass));
    match largest(&linear.damping) > 0.0 {
        true => out.push_str(&table("C", k, &all, &linear.damping)),
        false => out.push_str("  C = 0\n"),
    }
    match kept.is_empty() {
        false => out.push_str(&table("K", p, &kept, &linear.stiffness)),
        true => out.push_str("  K = 0\n"),
    }
    out
}

/// The linearisations as JSON.
pub fn linearize_json(source: &ModelText, diagnostics: &Diagnostics, model: &Model, found: &[Linearized]) -> Value {
    let name = |k: &usize| model.coordinates[*k].name.clone();
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let by_rows = |entries: &[f64], width: usize| -> Value {
        if width == 0 { json!([]) } else { json!(entries.chunks(width).collect::<Vec<_>>()) }
    };
    let one = |linear: &Linearized| {
        let (stability, time) = match linear.stability() {
            Stability::Unstable { time } => ("unstable", Some(time)),
            Stability::Stable { time } => ("stable", Some(time)),
            Stability::Growing { .. } => ("growing", None),
            Stability::Minimum => ("minimum", None),
            Stability::Neutral => ("neutral", None),
            Stability::Undecided => ("undecided", None),
        };
        let place = match linear.place {
            MotionKind::Equilibrium => "equilibrium",
            MotionKind::Steady => "steady",
            MotionKind::Passing => "passing",
        };
        let mode = |m: &Eigen| json!({ "re": m.value.0, "im": m.value.1, "shape": m.vector });
        json!({
            "place": place,
            "t": linear.state.t,
            "q": linear.state.q,
            "qdot": linear.state.qdot,
            "potential": linear.potential,
            "velocities": linear.velocities.iter().map(name).collect::<Vec<_>>(),
            "positions": linear.positions.iter().map(name).collect::<Vec<_>>(),
            "M": by_rows(&linear.mass, linear.velocities.len()),
            "C": by_rows(&linear.damping, linear.velocities.len()),
            "K": by_rows(&linear.stiffness, linear.positions.len()),
            "modes": linear.modes.iter().map(mode).collect::<Vec<_>>(),
            "stability": stability,
            "time": time,
            "zeros": { "count": linear.zeros.count, "power": linear.zeros.power },
            "timed": linear.is_timed,
            "family": linear.family.iter().map(name).collect::<Vec<_>>(),
            "obstacle": linear.obstacle.as_ref().map(obstacle),
        })
    };
    json!({
        "model": model.title,
        "coordinates": names,
        "states": found.iter().map(one).collect::<Vec<_>>(),
        "diagnostics": diagnostics_json(source, diagnostics),
    })
}
