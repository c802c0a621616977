//! The analysis of the Lagrangian: energy and momenta as text and as JSON, the Legendre transform as formulas.

use serde_json::{Map, Value, json};
use zwang::analysis::{Cyclic, LagrangianSide};
use zwang::equations::Equations;
use zwang::{LegendreTransform, legendre_transform};
use zwang_expr::Expr;

use crate::article::pasted;
use crate::letters::letter_or;

/// The largest number of momenta with a line of their own.
const MOST_MOMENTA: usize = 4;

/// The largest number of coordinates named in one line.
const MOST_NAMES: usize = 6;

/// The longest formula printed on one line, in nodes.
const LONGEST: usize = 4000;

/// Regularity, energy and momenta in a few lines, each indented by two spaces.
pub(crate) fn lagrangian_lines(side: &LagrangianSide) -> String {
    let mut lines = Vec::new();
    if !side.degenerate.is_empty() {
        lines.push(singular(side));
    }
    lines.push(energy(side));
    lines.extend(side.energy.notes.iter().cloned());
    for one in side.conserved.iter().take(MOST_MOMENTA) {
        let formula = one.formula.as_ref().map_or(String::new(), |f| format!(" = {f}"));
        let reason = match &one.terms[..] {
            [(name, _)] if side.cyclic.iter().any(|c| c.coordinate == *name) => format!("`{name}` is cyclic: "),
            _ => String::new(),
        };
        lines.push(format!("{reason}{}{formula} is conserved", one.name));
    }
    if side.conserved.len() > MOST_MOMENTA {
        lines.push(format!("{} momenta are conserved in all", side.conserved.len()));
    }
    lines.extend(spoiled(&side.cyclic));
    lines.into_iter().map(|line| format!("  {line}\n")).collect()
}

fn singular(side: &LagrangianSide) -> String {
    let directions: Vec<String> = side.degenerate.iter().take(MOST_NAMES).map(|d| format!("`{}`", d.text())).collect();
    let more = if side.degenerate.len() > MOST_NAMES { ", …" } else { "" };
    let place = match side.degenerate[0].everywhere {
        Some(true) => "",
        Some(false) => " at this state, though not at others",
        None => " at this state",
    };
    let list = directions.join(", ");
    format!(
        "the Lagrangian is singular{place}: here nothing has mass along {list}{more}; the constraints make up for it"
    )
}

fn energy(side: &LagrangianSide) -> String {
    let why = side.energy.why.join("; ");
    match side.energy.conserved {
        Some(true) => "energy is conserved".into(),
        Some(false) => format!("energy is not conserved: {why}"),
        None => format!("whether energy is conserved is not decided: {why}"),
    }
}

/// Cyclic coordinates whose momenta are not conserved, one line for those with the same causes.
fn spoiled(cyclic: &[Cyclic]) -> Vec<String> {
    let mut groups: Vec<(&[String], Vec<&str>)> = Vec::new();
    for one in cyclic.iter().filter(|c| c.conserved != Some(true)) {
        match groups.iter_mut().find(|(by, _)| *by == one.spoiled_by) {
            Some((_, names)) => names.push(&one.coordinate),
            None => groups.push((&one.spoiled_by, vec![&one.coordinate])),
        }
    }
    let quoted = |names: &[&str]| {
        let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|n| format!("`{n}`")).collect();
        if names.len() > MOST_NAMES {
            format!("{}, … ({} in all)", shown.join(", "), names.len())
        } else {
            shown.join(", ")
        }
    };
    let names: Vec<&str> = groups.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    match &groups[..] {
        [] => Vec::new(),
        [(by, names)] => {
            let (verb, whom) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
            let acts = if by.len() == 1 { "acts" } else { "act" };
            vec![format!("{} {verb} cyclic, but {} {acts} on {whom}", quoted(names), listed(by))]
        }
        _ => vec![format!("{} are cyclic, but constraints or forces act on them", quoted(&names))],
    }
}

/// `the force on `x`, constraints `a` and `b``, with the constraints together at the end.
fn listed(by: &[String]) -> String {
    let (constraints, others): (Vec<&str>, Vec<&str>) =
        by.iter().map(String::as_str).partition(|s| s.starts_with("constraint "));
    let mut parts: Vec<String> = others.iter().map(|s| s.to_string()).collect();
    let names: Vec<&str> = constraints.iter().map(|s| s.trim_start_matches("constraint ")).collect();
    match &names[..] {
        [] => {}
        [one] => parts.push(format!("constraint {one}")),
        [first @ .., last] => parts.push(format!("constraints {} and {last}", first.join(", "))),
    }
    parts.join(", ")
}

/// `energy`, `cyclic`, `conserved` and `degenerate` of `check --json`.
pub(crate) fn lagrangian_json(side: &LagrangianSide) -> Map<String, Value> {
    let factors = |terms: &[(String, f64)]| -> Map<String, Value> {
        terms.iter().map(|(name, x)| (name.clone(), json!(x))).collect()
    };
    let degenerate = side
        .degenerate
        .iter()
        .map(|d| json!({ "direction": factors(&d.direction), "everywhere": d.everywhere }))
        .collect::<Vec<_>>();
    let cyclic = side.cyclic.iter().map(|c| {
        json!({
            "coordinate": c.coordinate, "momentum": c.momentum, "conserved": c.conserved, "spoiled_by": c.spoiled_by,
        })
    });
    let conserved = side
        .conserved
        .iter()
        .map(|c| json!({ "name": c.name, "formula": c.formula, "coefficients": factors(&c.terms), "value": c.value }));
    let mut object = Map::new();
    object.insert("degenerate".into(), json!(degenerate));
    object.insert(
        "energy".into(),
        json!({
            "conserved": side.energy.conserved, "evidence": side.energy.evidence(), "why": side.energy.why,
            "notes": side.energy.notes,
        }),
    );
    object.insert("cyclic".into(), cyclic.collect());
    object.insert("conserved".into(), conserved.collect());
    object.insert("momenta_skipped".into(), json!(side.skipped));
    object
}

/// The Legendre transform, Θ_L, Ω_L, E and H as text in model syntax.
pub fn lagrangian_text(equations: &mut Equations) -> String {
    let (equations, transform) = &shortened(equations);
    let model = &equations.model;
    let text = |e: Expr| model.graph.text_limited(e, LONGEST).unwrap_or_else(|| "… (too long to print)".into());
    let own = |letter, word| letter_or(model, letter, word);
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let title = if model.title.is_empty() { "The Lagrangian" } else { &model.title };
    let mut out = format!("# {title}\n\n# Lagrangian\n{} = {}\n", own("L", "Lagrangian"), text(equations.lagrangian));
    out.push_str("\n# Legendre transform p = dL/dv\n");
    for (symbol, p) in transform.symbols.iter().zip(&transform.momentum) {
        out.push_str(&format!("{} = {}\n", model.graph.name(*symbol), text(*p)));
    }
    let one_form: Vec<String> = names
        .iter()
        .zip(&transform.momentum)
        .filter(|(_, p)| **p != Expr::ZERO)
        .map(|(name, p)| format!("({}) d({name})", text(*p)))
        .collect();
    out.push_str(&format!("\n# one-form Theta_L = p dq\nTheta_L = {}\n", sum(&one_form)));
    out.push_str("\n# two-form Omega_L = -d Theta_L, with ^ for the wedge\n");
    let two_form: Vec<String> =
        two_form(equations, transform).into_iter().map(|(e, i, j)| format!("({}) d({i}) ^ d({j})", text(e))).collect();
    out.push_str(&format!("Omega_L = {}\n", sum(&two_form)));
    out.push_str(&format!("\n# energy E = p v - L\n{} = {}\n", own("E", "energy"), text(transform.energy)));
    match (&transform.velocities, transform.hamiltonian) {
        (Some(velocities), Some(hamiltonian)) => {
            out.push_str("\n# velocities by momenta, and the Hamiltonian H = E with them\n");
            for (name, v) in names.iter().zip(velocities) {
                out.push_str(&format!("{name}' = {}\n", text(*v)));
            }
            out.push_str(&format!("{} = {}\n", own("H", "Hamiltonian"), text(hamiltonian)));
        }
        _ => {
            let why = transform.why_not.unwrap_or("the velocities do not follow from the momenta");
            out.push_str(&format!("\n# no Hamiltonian was found: {why}\n"));
        }
    }
    out
}

/// The transform with every formula in the shortest form found, without terms that vanish.
fn shortened(equations: &Equations) -> (Equations, LegendreTransform) {
    let mut equations = equations.clone();
    let mut transform = legendre_transform(&mut equations);
    let mut masses = std::mem::take(&mut equations.mass_matrix);
    let mut lagrangian = equations.lagrangian;
    // one search for all formulas, under a common work limit
    let mut formulas: Vec<&mut Expr> = vec![&mut lagrangian, &mut transform.energy];
    formulas.extend(&mut transform.momentum);
    formulas.extend(transform.velocities.iter_mut().flatten().chain(&mut transform.hamiltonian));
    formulas.extend(transform.gyroscopic.iter_mut().map(|(_, _, e)| e));
    formulas.extend(masses.iter_mut().flatten().map(|(_, e)| e));
    let stated: Vec<Expr> = formulas.iter().map(|e| **e).collect();
    for (e, short) in formulas.into_iter().zip(equations.shortest(&stated)) {
        *e = short;
    }
    transform.gyroscopic.retain(|(_, _, e)| *e != Expr::ZERO);
    masses.iter_mut().for_each(|row| row.retain(|(_, e)| *e != Expr::ZERO));
    (equations.lagrangian, equations.mass_matrix) = (lagrangian, masses);
    (equations, transform)
}

fn sum(terms: &[String]) -> String {
    if terms.is_empty() { "0".into() } else { terms.join(" + ") }
}

/// The terms of Ω_L: coefficient and two differentials, first dqⁱ∧dqʲ, then M dqⁱ∧dq̇ʲ.
fn two_form(equations: &Equations, transform: &LegendreTransform) -> Vec<(Expr, String, String)> {
    let name = |k: usize| equations.model.coordinates[k].name.clone();
    let mut terms: Vec<(Expr, String, String)> =
        transform.gyroscopic.iter().map(|&(i, j, e)| (e, name(i), name(j))).collect();
    for (i, row) in equations.mass_matrix.iter().enumerate() {
        terms.extend(row.iter().map(|&(j, e)| (e, name(i), format!("{}'", name(j)))));
    }
    terms
}

/// The Legendre transform, Θ_L, Ω_L, E and H as LaTeX, for a document with amsmath.
pub fn lagrangian_latex(equations: &mut Equations) -> String {
    let (equations, transform) = &shortened(equations);
    let model = &equations.model;
    let tex = |e: Expr| model.graph.latex(e);
    let term = |e: Expr, form: String| match model.graph.latex(e) {
        plain if plain == "1" => form,
        coefficient => format!("\\left({coefficient}\\right) {form}"),
    };
    let mut lines = vec![format!("\\L &= {}", tex(equations.lagrangian))];
    for (symbol, p) in transform.symbols.iter().zip(&transform.momentum) {
        lines.push(format!("{} &= {}", tex(*symbol), tex(*p)));
    }
    let one_form: Vec<String> = model
        .coordinates
        .iter()
        .zip(&transform.momentum)
        .filter(|(_, p)| **p != Expr::ZERO)
        .map(|(c, p)| term(*p, format!("\\mathrm d {}", tex(c.q))))
        .collect();
    lines.push(format!("\\Theta_{{\\L}} &= {}", sum(&one_form)));
    let mut wedges: Vec<String> = Vec::new();
    let wedge = |a: Expr, b: Expr| format!("\\mathrm d {} \\wedge \\mathrm d {}", tex(a), tex(b));
    for &(i, j, e) in &transform.gyroscopic {
        wedges.push(term(e, wedge(model.coordinates[i].q, model.coordinates[j].q)));
    }
    for (i, row) in equations.mass_matrix.iter().enumerate() {
        wedges.extend(row.iter().map(|&(j, e)| term(e, wedge(model.coordinates[i].q, model.coordinates[j].qdot))));
    }
    lines.push(format!("\\Omega_{{\\L}} &= {}", sum(&wedges)));
    lines.push(format!("\\E &= {}", tex(transform.energy)));
    if let (Some(velocities), Some(hamiltonian)) = (&transform.velocities, transform.hamiltonian) {
        for (c, v) in model.coordinates.iter().zip(velocities) {
            lines.push(format!("{} &= {}", tex(c.qdot), tex(*v)));
        }
        lines.push(format!("\\H &= {}", tex(hamiltonian)));
    }
    pasted(&lines)
}
