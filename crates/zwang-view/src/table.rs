//! The output of `check`, `inspect` and `run` for people.

use zwang::analysis::{Classification, Mobility, Velocity};
use zwang::model::Level;
use zwang::quantity::{number, rounded};
use zwang::units::Dimension;
use zwang::{Check, Inspection};
use zwang_motion::Matrix;

use crate::geometry::{GeometryNames, reading};
use crate::lagrangian::lagrangian_lines;

/// Coordinates and constraints in one line, then the constraints by kind.
pub fn summary(file: &str, check: &Check) -> String {
    let model = &check.equations.model;
    let title = if model.title.is_empty() { String::new() } else { format!("  \"{}\"", model.title) };
    format!("{file}{title}\n  {}\n{}", counts(check), kinds(check))
}

/// `4 coordinates, 3 constraint equations, 2 independent  →  2 degrees of freedom`.
fn counts(check: &Check) -> String {
    let (n, m) = (check.state.q.len(), check.equations.rows.len());
    let freedom = count(check.degrees_of_freedom(), "degree", "degrees");
    let contacts = match check.equations.model.contacts.iter().map(|c| c.rows.len()).sum() {
        0 => String::new(),
        n => count(n, "contact", "contacts"),
    };
    let constraints = match m {
        0 if !contacts.is_empty() => contacts.clone(),
        0 => "no constraints".to_string(),
        _ => {
            let beside = if contacts.is_empty() { String::new() } else { format!(", {contacts}") };
            let equations = count(m, "constraint equation", "constraint equations");
            format!("{equations}, {} independent{beside}", check.rank)
        }
    };
    let known = freedoms(check);
    format!("{}, {constraints}  →  {freedom} of freedom{known}", count(n, "coordinate", "coordinates"))
}

/// The remarks on the number of degrees of freedom: ` (coordinates minus equations: 0)`, ` here, 1 nearby`.
fn freedoms(check: &Check) -> String {
    let freedom = &check.freedom;
    let real = freedom.general.unwrap_or(freedom.here);
    let counted = match freedom.counted {
        n if n == real as isize => String::new(),
        n => format!(" (coordinates minus equations: {n})"),
    };
    match freedom.mobility {
        Mobility::Singular => format!(" here, {real} nearby{counted}"),
        Mobility::Shaky => format!(" of infinitesimal size only{counted}"),
        Mobility::Unknown => format!(" here{counted}"),
        Mobility::Regular | Mobility::Fixed => counted,
    }
}

pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `holonomic, scleronomic, ideal`.
pub(crate) fn kind_words(c: &Classification) -> String {
    let mut words = vec![c.kind(), c.time.as_str()];
    words.extend(c.velocity.map(|v| v.as_str()).filter(|v| *v != "catastatic"));
    words.push(if c.ideal { "ideal" } else { "nonideal" });
    if c.level == Level::Velocity {
        words[0] = match c.integrable {
            Some(true) => "holonomic, stated for velocities",
            None if c.velocity != Some(Velocity::Nonlinear) => "on velocities",
            _ => "nonholonomic",
        };
    }
    words.join(", ")
}

/// The results on the constraints, one sentence each: count and rank, integrability, redundancy, indeterminate
/// multipliers.
pub(crate) fn verdicts(check: &Check) -> Vec<String> {
    let mut lines = counts(check);
    lines.push('\n');
    if !check.integrability.verdict.is_empty() {
        lines.push_str(&format!("{}\n", check.integrability.verdict));
    }
    if !check.regular {
        lines.push_str("the mass matrix is singular; the constraints make up for it\n");
    }
    lines.push_str(&left_out(check));
    lines.push_str(&undetermined(check));
    lines.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

/// `rod[1], rod[2]: holonomic, scleronomic, ideal`, with the constraints of one kind together.
fn kinds(check: &Check) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for c in &check.constraints {
        let words = kind_words(c);
        match groups.iter_mut().find(|(kind, _)| *kind == words) {
            Some((_, names)) => names.push(&c.name),
            None => groups.push((words, vec![&c.name])),
        }
    }
    let line = |(kind, names): &(String, Vec<&str>)| {
        let shown = match names.len() {
            0..=6 => names.join(", "),
            n => format!("{}, {}, … {} ({n} in all)", names[0], names[1], names[n - 1]),
        };
        format!("  {shown}: {kind}\n")
    };
    let mut out: String = groups.iter().map(line).collect();
    for control in &check.equations.model.controls {
        out.push_str(&format!("  {}: control, {}\n", control.stated.name, control_words(control, check)));
    }
    out
}

/// `settling, by forces on q1, q2`.
fn control_words(control: &zwang::model::Control, check: &Check) -> String {
    let manner = if control.settling.is_some() { "settling" } else { "held as stated" };
    let coordinates = &check.equations.model.coordinates;
    let names: Vec<&str> = control.using.iter().map(|&k| coordinates[k].name.as_str()).collect();
    let by = match names.len() {
        0 => "by any force".to_string(),
        1..=MOST_NAMES => format!("by forces on {}", names.join(", ")),
        n => format!("by forces on {n} coordinates"),
    };
    let limit = if control.limit.is_empty() { "" } else { " within limits" };
    format!("{manner}, {by}{limit}")
}

/// The output of `check`: the summary, the start and the parameters.
pub fn check_table(file: &str, check: &Check) -> String {
    let mut out = summary(file, check);
    let model = &check.equations.model;
    if !check.integrability.verdict.is_empty() {
        out.push_str(&format!("  {}\n", check.integrability.verdict));
    }
    match &check.lagrangian {
        Some(side) => out.push_str(&lagrangian_lines(side)),
        None if !check.regular => out.push_str("  the mass matrix is singular; the constraints make up for it\n"),
        None => {}
    }
    out.push_str(&left_out(check));
    out.push_str(&undetermined(check));
    if model.n_coordinates() <= 12 {
        let (q_size, v_size) = (size(&check.state.q), size(&check.state.qdot));
        let value = |(c, (q, v)): (&zwang::model::Coordinate, (&f64, &f64))| {
            let unit = c.dimension.map_or(String::new(), |d| d.unit());
            let (q, v) = (without_rounding(*q, q_size), without_rounding(*v, v_size));
            format!("{} = {} {unit}, {}' = {}", c.name, number(q), c.name, number(v)).replace(" ,", ",")
        };
        let values = model.coordinates.iter().zip(check.state.q.iter().zip(&check.state.qdot)).map(value);
        out.push_str(&format!("  start: {}\n", values.collect::<Vec<_>>().join("; ")));
    }
    out
}

/// The largest numbers of names and of families shown; the rest is counted.
const MOST_NAMES: usize = 6;
const MOST_FAMILIES: usize = 4;

/// `a`, `b`, … and the total number.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > MOST_NAMES { format!(", … ({} in all)", names.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The constraints that the motion does not need.
fn left_out(check: &Check) -> String {
    let together: Vec<&str> = check.removable.iter().map(|c| check.constraints[*c].name.as_str()).collect();
    let alone = check.constraints.iter().filter(|c| c.essential == Some(false)).map(|c| c.name.as_str());
    let taken: std::collections::HashSet<&str> = together.iter().copied().collect();
    let others: Vec<&str> = alone.filter(|name| !taken.contains(name)).collect();
    match (together.len(), others.len()) {
        (0, 0) => String::new(),
        (0, _) => format!("  could be left out, one of them: {}\n", listed(&others)),
        (_, 0) => format!("  could be left out: {}\n", listed(&together)),
        (1, _) => format!("  could be left out: {} (or {} instead)\n", listed(&together), listed(&others)),
        _ => format!("  could be left out: {} (in place of one of them also {})\n", listed(&together), listed(&others)),
    }
}

/// The indeterminate multipliers, the combinations of them that are determined, and the values shown.
pub(crate) fn undetermined(check: &Check) -> String {
    let determinacy = &check.determinacy;
    let place =
        if matches!(check.freedom.mobility, Mobility::Singular | Mobility::Shaky) { " at this state" } else { "" };
    let mut out = String::new();
    for family in determinacy.families.iter().take(MOST_FAMILIES) {
        let rows: Vec<&str> = family.rows.iter().map(String::as_str).collect();
        let free = match family.directions.len() {
            1 => String::new(),
            n => format!(" ({n} directions are free)"),
        };
        let sums: Vec<String> = family.determined.iter().take(MOST_FAMILIES).map(|c| multipliers(c)).collect();
        let more = if family.determined.len() > MOST_FAMILIES { ", …" } else { "" };
        let known = match sums.len() {
            0 => "nothing of it is".to_string(),
            1 => format!("only {} is", sums[0]),
            _ => format!("only {}{more} are", sums.join(", ")),
        };
        out.push_str(&format!("  multipliers of {} not determined{place}{free}; {known}\n", listed(&rows)));
    }
    if determinacy.families.len() > MOST_FAMILIES {
        out.push_str(&format!("  … {} such families in all\n", determinacy.families.len()));
    }
    let choice = |q: &&zwang::analysis::Quantity| !q.here;
    let names: Vec<&str> = determinacy.quantities.iter().filter(choice).map(|q| q.name.as_str()).collect();
    if !names.is_empty() {
        let only_here = determinacy.quantities.iter().filter(choice).all(|q| q.general == Some(true));
        let place = if only_here { " at this state" } else { "" };
        out.push_str(&format!(
            "  not determined{place}: {}; shown by the smallest multipliers, a choice\n",
            listed(&names)
        ));
    }
    out
}

/// `lambda(rod) + 2*lambda(again)`.
fn multipliers(terms: &[(String, f64)]) -> String {
    let term = |(name, c): &(String, f64)| match *c {
        1.0 => format!("lambda({name})"),
        -1.0 => format!("-lambda({name})"),
        c => format!("{}*lambda({name})", rounded(c, 4)),
    };
    let more = if terms.len() > MOST_NAMES { " + …" } else { "" };
    let shown: Vec<String> = terms.iter().take(MOST_NAMES).map(term).collect();
    format!("{}{more}", shown.join(" + ").replace("+ -", "- "))
}

/// The widest matrix that is shown entry by entry.
const WIDEST_TABLE: usize = 10;

/// Every quantity at the state, as tables.
pub fn inspect_table(file: &str, inspection: &Inspection) -> String {
    let check = &inspection.check;
    let model = &check.equations.model;
    let (given, found) = (&check.snapshot.given, &check.snapshot.found);
    let mut out = summary(file, check);
    out.push_str(&format!("\nat t = {}\n", number(check.state.t)));
    if !check.modes.is_empty() {
        let modes: Vec<String> = check.modes.iter().map(|(name, word)| format!("{name} {word}")).collect();
        out.push_str(&format!("  {}\n", modes.join(", ")));
    }

    let names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let mut columns: Vec<(&str, &[f64])> =
        vec![("q", &check.state.q), ("q'", &check.state.qdot), ("Q", &given.given_force)];
    if check.regular {
        columns.push(("a", &found.unconstrained_acceleration));
    }
    columns.push(("q''", &found.qddot));
    columns.push(("Qc ideal", &found.constraint_force_ideal));
    if found.nonideal_force.iter().any(|c| *c != 0.0) {
        columns.push(("Qc nonideal", &found.constraint_force_nonideal));
        columns.push(("C", &found.nonideal_force));
    }
    let rest: Vec<f64> = found.control_force.iter().zip(&found.control_linear).map(|(u, part)| u - part).collect();
    if found.asked.is_some() {
        columns.push(("control", &found.control_force));
        columns.push(("linear in b", &found.control_linear));
        columns.push(("rest", &rest));
    }
    columns.push(("p", &inspection.energies.momentum));
    let units: Vec<String> = model.coordinates.iter().map(|c| c.dimension.map_or(String::new(), unit_note)).collect();
    out.push_str(&vectors("coordinate", &names, &columns, Some(&units)));

    if !check.equations.rows.is_empty() {
        let rows: Vec<String> = check.equations.rows.iter().map(|r| r.name.clone()).collect();
        let mut columns: Vec<(&str, &[f64])> = vec![("b", &given.constraint_rhs)];
        if check.regular {
            columns.push(("e = b - A a", &found.defect));
        }
        match found.nonideal_force.iter().any(|c| *c != 0.0) {
            // the acting multipliers differ from those of ideal constraints
            true => columns.extend([("lambda ideal", &found.lambda[..]), ("lambda acting", &found.lambda_acting[..])]),
            false => columns.push(("lambda", &found.lambda)),
        }
        out.push('\n');
        out.push_str(&vectors("row", &rows, &columns, None));
        out.push_str(&undetermined(check));
    }
    if let Some(asked) = &found.asked {
        let rows: Vec<String> = check.equations.asked.iter().map(|r| r.row.name.clone()).collect();
        out.push('\n');
        out.push_str(&vectors("asked", &rows, &[("b", &asked.rhs)], None));
        let (reached, needed) = found.control_rank;
        out.push_str(&format!("  the driven coordinates reach {reached} of {needed} directions\n"));
    }
    out.push_str(&matrix("M", &given.mass_matrix));
    out.push_str(&matrix("A", &given.constraint_matrix));
    if let Some(geometry) = inspection.geometry.as_ref().filter(|_| !check.equations.rows.is_empty()) {
        let (n, m) = (names.len(), given.constraint_rhs.len());
        out.push_str(&dense("P = B⁺B, part of M^½ q'' fixed by the constraints", n, n, &geometry.P));
        out.push_str(&dense("N = I - B⁺B", n, n, &geometry.N));
        if m > 0 {
            out.push_str(&dense("influence (A M⁻¹Aᵀ)⁺", m, m, &geometry.influence));
        }
    }
    if let Some(scaled) = inspection.scaled.as_ref().filter(|_| !check.equations.rows.is_empty()) {
        out.push_str(&format!("\n{}\n", reading(scaled, &GeometryNames::of(&check.equations))));
    }
    out.push_str(&scalars(inspection));
    out
}

fn unit_note(dimension: Dimension) -> String {
    dimension.unit()
}

fn scalars(inspection: &Inspection) -> String {
    let check = &inspection.check;
    let found = &check.snapshot.found;
    let e = &inspection.energies;
    let mut out =
        format!("\nenergy {}, kinetic {}, potential {}\n", number(e.energy), number(e.kinetic), number(e.potential));
    let gap = match (found.gap.kept, found.gap.dropped) {
        (kept, dropped) if dropped > 0.0 => {
            format!(" (smallest direction kept {kept:.1e}, largest dropped {dropped:.1e})")
        }
        (kept, _) if check.rank > 0 => format!(" (smallest direction kept {kept:.1e})"),
        _ => String::new(),
    };
    out.push_str(&format!("rank of A {}{gap}\n", check.rank));
    if check.regular {
        out.push_str(&format!("Gaussian G = (q'' - a)ᵀ M (q'' - a) = {}\n", number(found.gaussian)));
    } else {
        out.push_str("M is singular: a, e, G, P, N and the influence matrix do not exist\n");
    }
    for (name, value) in &inspection.outputs {
        let output = check.equations.model.outputs.iter().find(|o| o.name == *name);
        let (factor, unit) = output.and_then(|o| o.unit.as_ref()).map_or((1.0, ""), |u| (u.factor(), u.text.as_str()));
        match value {
            Some(value) => {
                let choice = if check.determinacy.is_choice_here(name) {
                    " (one of a family: by the smallest multipliers)"
                } else {
                    ""
                };
                out.push_str(format!("{name} = {} {unit}{choice}", number(value / factor)).trim_end());
                out.push('\n');
            }
            None => out.push_str(&format!(
                "{name}: not known here (it needs the motion, or the coordinates do not determine it)\n"
            )),
        }
    }
    out.push_str("\nq'' by six routes (docs/theory.md has their equations)\n");
    for (name, result) in &inspection.routes {
        let text = match result {
            Some(Ok(qddot)) if qddot.len() <= WIDEST_TABLE => {
                let size = size(qddot);
                qddot.iter().map(|x| number(without_rounding(*x, size))).collect::<Vec<_>>().join("  ")
            }
            Some(Ok(qddot)) => format!("{} … ({} values)", number(qddot[0]), qddot.len()),
            Some(Err(error)) => format!("failed: {error}"),
            None => "not tried on a system of this size".to_string(),
        };
        out.push_str(&format!("  {:<20} {text}\n", name.as_str()));
    }
    out.push_str(&format!("  largest relative difference {:.1e}\n", inspection.disagreement));
    if let Some(text) = solver_text(inspection) {
        out.push_str(&format!("  a run would take: {text}\n"));
    }
    out
}

/// The solver with which a run would compute the accelerations.
pub(crate) fn solver_text(inspection: &Inspection) -> Option<String> {
    let (solver, n_instructions) = inspection.solver?;
    Some(match n_instructions {
        Some(n) => format!("{}, {n} instructions", solver.as_str()),
        None => solver.as_str().to_string(),
    })
}

/// Named vectors in columns.
fn vectors(head: &str, names: &[String], columns: &[(&str, &[f64])], units: Option<&[String]>) -> String {
    let mut lines =
        vec![std::iter::once(head.to_string()).chain(columns.iter().map(|(h, _)| h.to_string())).collect::<Vec<_>>()];
    const MOST_ROWS_SHOWN: usize = 30;
    for (k, name) in names.iter().enumerate().take(MOST_ROWS_SHOWN) {
        let mut line = vec![match units.map(|u| u[k].as_str()) {
            Some(unit) if !unit.is_empty() => format!("{name} [{unit}]"),
            _ => name.clone(),
        }];
        line.extend(columns.iter().map(|(_, v)| v.get(k).map_or("-".into(), |x| short(*x, size(v)))));
        lines.push(line);
    }
    let mut out = aligned(&lines);
    if names.len() > MOST_ROWS_SHOWN {
        out.push_str(&format!("  … {} more\n", names.len() - MOST_ROWS_SHOWN));
    }
    out
}

fn matrix(name: &str, matrix: &Matrix) -> String {
    if matrix.n_rows == 0 {
        return String::new();
    }
    if matrix.n_rows > WIDEST_TABLE || matrix.n_cols > WIDEST_TABLE {
        let (r, c) = (matrix.n_rows, matrix.n_cols);
        return format!(
            "\n{name}: {r} by {c}, {} entries that can be other than zero (--json shows all)\n",
            matrix.value.len()
        );
    }
    dense(name, matrix.n_rows, matrix.n_cols, &matrix.to_dense())
}

fn dense(name: &str, n_rows: usize, n_cols: usize, values: &[f64]) -> String {
    if n_rows > WIDEST_TABLE || n_cols > WIDEST_TABLE {
        return String::new();
    }
    let largest = size(values);
    let row = |i: usize| values[i * n_cols..(i + 1) * n_cols].iter().map(|x| short(*x, largest)).collect();
    let rows: Vec<Vec<String>> = (0..n_rows).map(row).collect();
    format!("\n{name}\n{}", aligned(&rows))
}

/// The largest absolute value.
fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// The number with seven digits; 0 if it is less than 1e-15 of the largest entry.
fn short(x: f64, largest: f64) -> String {
    rounded(without_rounding(x, largest), 7)
}

/// The number, or 0 if it is less than 1e-15 of the largest of its kind: rounding that a sum of such numbers leaves.
fn without_rounding(x: f64, largest: f64) -> f64 {
    if x.abs() <= 1e-15 * largest { 0.0 } else { x }
}

/// Columns of equal width, the first flush left.
pub(crate) fn aligned(lines: &[Vec<String>]) -> String {
    let n = lines.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |k: usize| lines.iter().filter_map(|l| l.get(k)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n).map(wide).collect();
    let mut out = String::new();
    for line in lines {
        let cells = line.iter().enumerate().map(|(k, cell)| {
            let pad = " ".repeat(widths[k] - cell.chars().count());
            if k == 0 && lines[0][0].starts_with(char::is_alphabetic) {
                format!("{cell}{pad}")
            } else {
                format!("{pad}{cell}")
            }
        });
        out.push_str(&format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
    out
}
