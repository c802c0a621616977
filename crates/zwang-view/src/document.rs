//! The derivation as text in the model's own syntax, and as LaTeX.

use std::collections::HashMap;

use zwang::equations::{Equations, SparseRow};
use zwang::{ClosedForm, closed_form};
use zwang_expr::Expr;

/// Longest formula printed on one line before its parts get names.
const LONGEST: usize = 4000;

/// Longest closed form that is written without naming its parts, in nodes: about twelve lines.
const LONGEST_WHOLE: usize = 1000;

/// L, M, Q, A, b and the explicit equations, one line `x'' = …` per coordinate, in model syntax.
pub fn equations_text(equations: &mut Equations) -> String {
    let equations = &mut equations.printed();
    let closed = closed_form(equations);
    let model = &equations.model;
    let text = |e: Expr| model.graph.text_limited(e, LONGEST).unwrap_or_else(|| "… (too long to print)".into());
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let title = if model.title.is_empty() { "Equations of motion" } else { &model.title };
    let mut out = format!("# {title}\n\n# Lagrangian\nL = {}\n", text(equations.lagrangian));

    out.push_str("\n# mass matrix M (entries that are not zero)\n");
    out.push_str(&entries("M", &equations.mass_matrix, &names, &names, &text, true));
    out.push_str("\n# given force Q: all that drives the unconstrained system, velocity terms included\n");
    for (name, q) in names.iter().zip(&equations.given_force) {
        out.push_str(&format!("Q[{name}] = {}\n", text(*q)));
    }
    if !equations.rows.is_empty() {
        let rows: Vec<&str> = equations.rows.iter().map(|r| r.name.as_str()).collect();
        let coefficients: Vec<SparseRow> = equations.rows.iter().map(|r| r.coefficients.clone()).collect();
        out.push_str("\n# constraints A q'' = b\n");
        out.push_str(&entries("A", &coefficients, &rows, &names, &text, false));
        for row in &equations.rows {
            out.push_str(&format!("b[{}] = {}\n", row.name, text(row.rhs)));
        }
    }
    if !equations.nonideal_force.is_empty() {
        out.push_str("\n# nonideal force C, with the multipliers of the ideal part\n");
        for (name, c) in names.iter().zip(&equations.nonideal_force) {
            out.push_str(&format!("C[{name}] = {}\n", text(*c)));
        }
    }
    if !equations.asked.is_empty() {
        let rows: Vec<&str> = equations.asked.iter().map(|r| r.row.name.as_str()).collect();
        let coefficients: Vec<SparseRow> = equations.asked.iter().map(|r| r.row.coefficients.clone()).collect();
        out.push_str("\n# asked by controls: A_c q'' = b_c, errors that settle included\n");
        out.push_str(&entries("A_c", &coefficients, &rows, &names, &text, false));
        for asked in &equations.asked {
            out.push_str(&format!("b_c[{}] = {}\n", asked.row.name, text(asked.row.rhs)));
        }
    }
    match closed {
        Some(closed) => out.push_str(&explicit_text(equations, &closed)),
        None => out.push_str(&implicit_text(equations)),
    }
    out
}

fn entries(
    symbol: &str,
    rows: &[SparseRow],
    row_names: &[&str],
    col_names: &[&str],
    text: &dyn Fn(Expr) -> String,
    symmetric: bool,
) -> String {
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, entry) in row.iter().filter(|(j, _)| !symmetric || *j >= i) {
            let entry = text(*entry);
            // some entries vanish only once sin² + cos² is put together
            if entry != "0" {
                out.push_str(&format!("{symbol}[{}, {}] = {entry}\n", row_names[i], col_names[*j]));
            }
        }
    }
    out
}

/// q̈ = a + M⁻¹Aᵀλ with everything put in.
fn explicit_text(equations: &Equations, closed: &ClosedForm) -> String {
    let model = &equations.model;
    let mut exprs: Vec<Expr> = closed.multipliers.iter().map(|(_, e)| *e).collect();
    exprs.extend(closed.control.iter().chain(&closed.accelerations));
    let mut out = String::new();
    let parts = named_parts(equations, &exprs);
    if !parts.order.is_empty() {
        out.push_str("\n# parts: without them the formulas below would be too long\n");
        for (part, name) in &parts.order {
            let inner: HashMap<Expr, String> =
                parts.names.iter().filter(|(e, _)| **e != *part).map(|(e, n)| (*e, n.clone())).collect();
            out.push_str(&format!("let {name} = {}\n", model.graph.text_with(*part, &inner)));
        }
    }
    let text = |e: Expr| model.graph.text_with(e, &parts.names);
    if !closed.multipliers.is_empty() {
        out.push_str("\n# multipliers, with which the constraint force is A^T lambda");
        let left_out = equations.rows.len() - closed.multipliers.len();
        let left_out =
            if left_out > 0 { format!(" ({left_out} rows repeat others and are left out)") } else { String::new() };
        out.push_str(&format!("{left_out}\n"));
        for (k, lambda) in &closed.multipliers {
            out.push_str(&format!("lambda({}) = {}\n", equations.rows[*k].name, text(*lambda)));
        }
    }
    if !closed.control.is_empty() {
        out.push_str("\n# control force\n");
        for (c, e) in model.coordinates.iter().zip(&closed.control) {
            out.push_str(&format!("control({}) = {}\n", c.name, text(*e)));
        }
    }
    out.push_str("\n# explicit equations of motion\n");
    for (c, e) in model.coordinates.iter().zip(&closed.accelerations) {
        out.push_str(&format!("{}'' = {}\n", c.name, text(*e)));
    }
    out
}

/// M q̈ = Q + Aᵀλ where no closed form is to be had.
fn implicit_text(equations: &Equations) -> String {
    let model = &equations.model;
    let text = |e: Expr| model.graph.text_limited(e, LONGEST).unwrap_or_else(|| "…".into());
    let mut out = String::from(
        "\n# equations of motion M q'' = Q + A^T lambda\n# (no closed form: M is singular everywhere, the system is large, or no state was found to look at)\n",
    );
    if !equations.asked.is_empty() {
        out = String::from(
            "\n# equations of motion M q'' = Q + u + A^T lambda with the least u = control(...) on the driven coordinates\n",
        );
    }
    let driven = if equations.asked.is_empty() { Vec::new() } else { model.driven() };
    for (i, row) in equations.mass_matrix.iter().enumerate().take(200) {
        let left: Vec<String> =
            row.iter().map(|(j, m)| format!("({})*{}''", text(*m), model.coordinates[*j].name)).collect();
        let left = if left.is_empty() { "0".to_string() } else { left.join(" + ") };
        let force: Vec<String> = equations
            .rows
            .iter()
            .filter_map(|r| {
                let (_, a) = r.coefficients.iter().find(|(k, _)| *k == i)?;
                Some(format!(" + ({})*lambda({})", text(*a), r.name))
            })
            .collect();
        let name = &model.coordinates[i].name;
        let control = if driven.contains(&i) { format!(" + control({name})") } else { String::new() };
        let nonideal = if equations.nonideal_force.is_empty() { String::new() } else { format!(" + C[{name}]") };
        out.push_str(&format!("{left} = {}{control}{nonideal}{}\n", text(equations.given_force[i]), force.concat()));
    }
    out
}

struct NamedParts {
    names: HashMap<Expr, String>,
    order: Vec<(Expr, String)>,
}

/// Names for the parts of formulas that would be too long otherwise: what is used more than once and is not small.
fn named_parts(equations: &Equations, exprs: &[Expr]) -> NamedParts {
    let graph = &equations.model.graph;
    let fits = exprs.iter().all(|e| graph.text_limited(*e, LONGEST_WHOLE).is_some());
    let mut parts = NamedParts { names: HashMap::new(), order: Vec::new() };
    if fits {
        return parts;
    }
    let mut used: HashMap<Expr, usize> = HashMap::new();
    let (mut seen, mut open) = (std::collections::HashSet::new(), exprs.to_vec());
    while let Some(e) = open.pop() {
        if seen.insert(e) {
            for &operand in graph.node(e).operands().iter() {
                *used.entry(operand).or_insert(0) += 1;
                open.push(operand);
            }
        }
    }
    let taken = |name: &str| {
        equations.model.parameters.iter().any(|p| p.name == name)
            || equations.model.coordinates.iter().any(|c| c.name == name)
    };
    let prefix = ["k", "part", "w_"].into_iter().find(|p| !taken(&format!("{p}1"))).unwrap_or("part_");
    let mut shared: Vec<Expr> =
        used.into_iter().filter(|(e, n)| *n > 1 && graph.size(*e) > 4).map(|(e, _)| e).collect();
    shared.sort();
    let free = (1..).map(|k| format!("{prefix}{k}")).filter(|name| !taken(name));
    for (e, name) in shared.into_iter().zip(free) {
        parts.names.insert(e, name.clone());
        parts.order.push((e, name));
    }
    parts
}

/// The same as LaTeX, ready for a document with amsmath.
pub fn equations_latex(equations: &mut Equations) -> String {
    let lines: Vec<String> = equations_sections(equations).into_iter().flat_map(|(_, lines)| lines).collect();
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
}

/// The lines of the LaTeX under headings, for a page.
fn equations_sections(equations: &mut Equations) -> Vec<(String, Vec<String>)> {
    // contacts and sticking friction hold only at times
    let mut always = equations.always();
    let equations = &mut always.as_mut().unwrap_or(equations).printed();
    let closed = closed_form(equations);
    let model = &equations.model;
    let tex = |e: Expr| model.graph.latex(e);
    let n = model.coordinates.len();
    let mut sections = vec![("Lagrangian", vec![format!("L &= {}", tex(equations.lagrangian))])];
    if n <= 8 {
        let mut lines = vec![
            format!("M &= {}", bmatrix(n, n, |i, j| entry(&equations.mass_matrix[i], j).map_or("0".into(), tex))),
            format!("Q &= {}", bmatrix(n, 1, |i, _| tex(equations.given_force[i]))),
        ];
        let m = equations.rows.len();
        if m > 0 && m <= 12 {
            let coefficient = |i: usize, j: usize| entry(&equations.rows[i].coefficients, j).map_or("0".into(), tex);
            lines.push(format!("A &= {}", bmatrix(m, n, coefficient)));
            lines.push(format!("b &= {}", bmatrix(m, 1, |i, _| tex(equations.rows[i].rhs))));
        }
        let m = equations.asked.len();
        if m > 0 && m <= 12 {
            let coefficient =
                |i: usize, j: usize| entry(&equations.asked[i].row.coefficients, j).map_or("0".into(), tex);
            lines.push(format!("A_c &= {}", bmatrix(m, n, coefficient)));
            lines.push(format!("b_c &= {}", bmatrix(m, 1, |i, _| tex(equations.asked[i].row.rhs))));
        }
        if !equations.nonideal_force.is_empty() {
            lines.push(format!("C &= {}", bmatrix(n, 1, |i, _| tex(equations.nonideal_force[i]))));
        }
        sections.push(("Mass, force and constraints", lines));
    }
    if let Some(closed) = closed {
        let mut exprs: Vec<Expr> = closed.multipliers.iter().map(|(_, e)| *e).collect();
        exprs.extend(closed.control.iter().chain(&closed.accelerations));
        let parts = named_parts(equations, &exprs);
        let named: HashMap<Expr, String> = parts.names.iter().map(|(e, n)| (*e, part_latex(n))).collect();
        let with_parts = |e: Expr| model.graph.latex_with(e, &named);
        let part = |(part, name): &(Expr, String)| {
            let inner = named.iter().filter(|(e, _)| **e != *part).map(|(e, n)| (*e, n.clone())).collect();
            format!("{} &= {}", part_latex(name), model.graph.latex_with(*part, &inner))
        };
        sections.push(("Parts used below", parts.order.iter().map(part).collect()));
        let multiplier =
            |(k, lambda): &(usize, Expr)| format!("{} &= {}", tex(equations.rows[*k].lambda), with_parts(*lambda));
        sections.push(("Multipliers", closed.multipliers.iter().map(multiplier).collect()));
        let force = model.coordinates.iter().zip(&closed.control);
        let force = force.map(|(c, e)| format!("u_{{{}}} &= {}", tex(c.q), with_parts(*e)));
        sections.push(("Control force", force.collect()));
        let motion = model.coordinates.iter().zip(&closed.accelerations);
        let motion = motion.map(|(c, e)| format!("{} &= {}", tex(c.qddot), with_parts(*e)));
        sections.push(("Explicit equations of motion", motion.collect()));
    } else {
        let (u, asked) = match equations.asked.is_empty() {
            true => ("", ""),
            false => (" + u", ", \\qquad A_c \\ddot q = b_c"),
        };
        let motion = format!("M \\ddot q &= Q{u} + A^{{\\mathsf T}} \\lambda, \\qquad A \\ddot q = b{asked}");
        sections.push(("Equations of motion", vec![motion]));
    }
    sections.retain(|(_, lines)| !lines.is_empty());
    sections.into_iter().map(|(heading, lines)| (heading.to_string(), lines)).collect()
}

/// `k12` as LaTeX.
fn part_latex(name: &str) -> String {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    format!("{}_{{{}}}", name[..digits].trim_end_matches('_'), &name[digits..])
}

fn entry(row: &SparseRow, column: usize) -> Option<Expr> {
    row.iter().find(|(k, _)| *k == column).map(|(_, e)| *e)
}

fn bmatrix(n_rows: usize, n_cols: usize, entry: impl Fn(usize, usize) -> String) -> String {
    let row = |i: usize| (0..n_cols).map(|j| entry(i, j)).collect::<Vec<_>>().join(" & ");
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
}
