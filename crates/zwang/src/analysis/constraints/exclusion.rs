//! Contacts that exclude each other: gaps whose weighted sum does not depend on the positions and is negative.
//!
//! If ∂g/∂q = −c ∂h/∂q with c > 0, then s = g + c h is a function of the time alone. Where s < 0 no positions satisfy g ≥ 0
//! and h ≥ 0. The exact algebra proves the first, one number the second.

use zwang_expr::{Algebra, Expr, Limits};

use crate::diagnostic::Diagnostic;
use crate::equations::SparseRow;
use crate::model::{Model, Row, evaluate};
use crate::quantity::rounded;
use crate::span::Span;
use crate::{limits, tolerance};

/// The work on the formulas of one pair, in operations on terms: a few milliseconds.
const LIMITS: Limits = Limits { terms: 400, work: 100_000, total: 300_000 };

/// Z301: each pair of contacts that no positions satisfy together, an error from the start on, a warning later in the run.
pub(crate) fn exclusions(model: &mut Model, start: f64) -> Vec<Diagnostic> {
    let rows: Vec<(Span, Row)> =
        model.contacts.iter().flat_map(|c| c.rows.iter().map(move |row| (c.span, row.clone()))).collect();
    if rows.len() > limits::EXCLUDING_CONTACTS {
        return Vec::new();
    }
    let positions: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
    let gradients: Vec<SparseRow> = rows.iter().map(|(_, row)| gradient(model, row.expr, &positions)).collect();
    let mut found = Vec::new();
    for i in 0..rows.len() {
        for j in 0..i {
            let Some(sum) = sum_without_positions(model, (&rows[j].1, &gradients[j]), (&rows[i].1, &gradients[i]))
            else {
                continue;
            };
            let Some(t) = first_negative(model, sum, start) else { continue };
            found.push(exclusion(model, [&rows[j], &rows[i]], sum, (t, start)));
        }
    }
    found
}

fn gradient(model: &mut Model, gap: Expr, positions: &[Expr]) -> SparseRow {
    let slopes = model.graph.gradient_in(gap, |s| positions.contains(&s));
    let place = |s: Expr| positions.iter().position(|q| *q == s).unwrap_or_default();
    let mut row: SparseRow = slopes.into_iter().filter(|(_, e)| *e != Expr::ZERO).map(|(s, e)| (place(s), e)).collect();
    row.sort_by_key(|(k, _)| *k);
    row
}

/// g + c h with c > 0, if it is free of the positions.
fn sum_without_positions(model: &mut Model, g: (&Row, &SparseRow), h: (&Row, &SparseRow)) -> Option<Expr> {
    let columns = |row: &SparseRow| row.iter().map(|(k, _)| *k).collect::<Vec<_>>();
    if g.1.is_empty() || columns(g.1) != columns(h.1) {
        return None;
    }
    let graph = &mut model.graph;
    let mut algebra = Algebra::new(graph, &[g.0.expr, h.0.expr], LIMITS);
    let ratio = graph.div(g.1[0].1, h.1[0].1);
    let ratio = graph.neg(ratio);
    let factor = algebra.shortest(graph, ratio)?;
    let parameters: Vec<Expr> = model.parameters.iter().map(|p| p.symbol).collect();
    if !model.graph.symbols(factor).iter().all(|s| parameters.contains(s)) || model.constants(&[factor])[0] <= 0.0 {
        return None;
    }
    let graph = &mut model.graph;
    let scaled = graph.mul(factor, h.0.expr);
    let sum = graph.add(g.0.expr, scaled);
    let sum = algebra.shortest(graph, sum)?;
    let is_known = |s: &Expr| *s == model.time || parameters.contains(s);
    model.graph.symbols(sum).iter().all(is_known).then_some(sum)
}

/// The first time of the run at which a function of the time is seen negative, bisected to where it becomes so.
fn first_negative(model: &Model, sum: Expr, start: f64) -> Option<f64> {
    let symbols: Vec<Expr> = std::iter::once(model.time).chain(model.parameters.iter().map(|p| p.symbol)).collect();
    let at = |t: f64| {
        let values: Vec<f64> = std::iter::once(t).chain(model.parameter_values.iter().copied()).collect();
        evaluate(&model.graph, &symbols, &values, &[sum])[0]
    };
    let step = model.horizon() / limits::EXCLUSION_TIMES as f64;
    let times = (0..=limits::EXCLUSION_TIMES).map(|k| start + k as f64 * step);
    let later = times.into_iter().find(|t| at(*t) < 0.0)?;
    if later == start {
        return Some(start);
    }
    let (mut before, mut after) = (later - step, later);
    for _ in 0..limits::BISECTIONS {
        let middle = 0.5 * (before + after);
        if at(middle) < 0.0 { after = middle } else { before = middle }
    }
    Some(after)
}

fn exclusion(model: &Model, rows: [&(Span, Row); 2], sum: Expr, (t, start): (f64, f64)) -> Diagnostic {
    let [(first, g), (second, h)] = rows;
    let is_timed = model.graph.symbols(sum).contains(&model.time);
    let is_early = t - start <= tolerance::ROUNDING * model.horizon();
    let when = match is_timed {
        true => format!(" from t = {} on", rounded(if is_early { start } else { t }, tolerance::TIME_DIGITS)),
        false => String::new(),
    };
    let message =
        format!("contact `{}` and contact `{}` exclude each other{when}: no positions satisfy both", g.name, h.name);
    let d = if is_early { Diagnostic::error("Z301", message) } else { Diagnostic::warning("Z301", message) };
    d.at(*first, "this one")
        .and_at(*second, "and this one")
        .with_note(format!("together they require {} >= 0, whatever the positions are", model.graph.text(sum)))
        .help("leave one of them out, or make room between them")
}
