//! Every constraint of the gallery stated twice: nothing may change.
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must fail, and `!(x <= y)` says so")]

use crate::common::{NO_SAMPLES, checked, derived, gallery, loaded};
use zwang::Overrides;
use zwang::simulate::End;
use zwang::syntax::{Span, parse, tree::StatementKind};
use zwang::{Run, RunOptions};

/// What the copies are multiplied by.
const FACTOR: &str = "3.7";

/// The text with a copy of every constraint at its end, under another name and multiplied; none if there is no constraint.
fn doubled(text: &str) -> Option<String> {
    let (tree, _) = parse(text);
    let piece = |span: Span| &text[span.start..span.end];
    let mut copies = String::new();
    for (k, statement) in tree.statements.iter().enumerate() {
        let StatementKind::Constraint { label, left, right, properties } = &statement.kind else { continue };
        // a copy takes its share of the normal force, which friction would feel
        if !properties.is_empty() {
            continue;
        }
        // a family keeps its index: `link[i in 1..n]` becomes `again3[i in 1..n]`
        let name = match label {
            Some(target) => piece(target.span).replacen(&target.name.text, &format!("again{k}"), 1),
            None => format!("again{k}"),
        };
        // what is continued on further lines stays in its parentheses
        copies += &format!("constraint {name}: {FACTOR}*({}) = {FACTOR}*({})\n", piece(left.span), piece(right.span));
    }
    (!copies.is_empty()).then(|| format!("{text}\n{copies}"))
}

/// A run to `to` at 1e-9.
fn moved(name: &str, text: &str, set: &[String], to: f64) -> Option<Run> {
    let overrides = Overrides { set: set.to_vec(), start: vec![] };
    let system = loaded(text, &overrides).unwrap_or_else(|error| panic!("{name}: {error}"));
    if system.is_computable().is_err() {
        return None;
    }
    let options = RunOptions { tolerance: Some(TOLERANCE), keep: NO_SAMPLES, ..RunOptions::to(to) };
    Some(system.run(&options).unwrap_or_else(|error| panic!("{name}: {error}")))
}

const TOLERANCE: f64 = 1e-9;

/// Off the constraints a row and its multiple weigh differently beside other rows, so that the stages differ by errors of the
/// size of the tolerance; steps add them up and the motion lets them grow.
const GROWTH: f64 = 1000.0;

/// How long a run may be: shorter where neighbouring motions part fast.
fn length(name: &str, stated: f64) -> f64 {
    let most = if name.starts_with("chain") || name.starts_with("double_pendulum") { 1.0 } else { 2.0 };
    stated.min(most)
}

/// The largest difference as a multiple of the tolerance, and where it is.
fn difference(once: &Run, twice: &Run) -> (f64, String) {
    let mut worst = (0.0, String::new());
    for (k, coordinate) in once.check().equations.model.coordinates.iter().enumerate() {
        let q = (twice.state().q[k] - once.state().q[k]).abs() / once.sizes().0[k];
        let v = (twice.state().qdot[k] - once.state().qdot[k]).abs() / once.sizes().1[k];
        for (error, primes) in [(q, ""), (v, "'")] {
            if !(error / TOLERANCE <= worst.0) {
                worst = (error / TOLERANCE, format!("{}{primes}", coordinate.name));
            }
        }
    }
    worst
}

/// Whether a force that does work is given by the multiplier of one constraint: stated twice, each has a part of it, and the law
/// says something else.
fn drives_by_a_reaction(text: &str) -> bool {
    let (tree, _) = parse(text);
    let laws = tree.statements.iter().filter(|s| matches!(s.kind, StatementKind::Nonideal { .. }));
    laws.map(|s| &text[s.span.start..s.span.end]).any(|law| law.contains("reaction(") || law.contains("lambda("))
}

/// What is wrong when every constraint is stated twice; none without a constraint to state twice.
fn complaints(name: &str, text: &str) -> Option<Vec<String>> {
    let again = doubled(text)?;
    let set = if name.starts_with("four_bar_row") { vec!["N=2".to_string()] } else { vec![] };
    let stated = derived(text, &Overrides::default()).equations.model;
    let duration = stated.run.as_ref().map_or(1.0, |run| stated.constants(&[run.duration])[0]);
    let to = length(name, duration);
    let once = moved(name, text, &set, to)?;
    let twice = moved(name, &again, &set, to)?;
    let (most, at) = difference(&once, &twice);
    println!("{name}: {most:.2} tolerances at {at}, {} and {} steps", once.cost().steps, twice.cost().steps);
    let mut wrong = Vec::new();
    if (once.end(), twice.end()) != (&End::Finished, &End::Finished) {
        wrong.push(format!("{name}: {} once, {} twice", once.end().as_str(), twice.end().as_str()));
    }
    if once.rank() != twice.rank() {
        wrong.push(format!("{name}: rank {} once, {} twice", once.rank(), twice.rank()));
    }
    let (f, g) = (once.check().degrees_of_freedom(), twice.check().degrees_of_freedom());
    if f != g {
        wrong.push(format!("{name}: {f} degrees of freedom once, {g} twice"));
    }
    if !(most <= GROWTH) {
        wrong.push(format!("{name}: {at} differs by {most:.1e} tolerances"));
    }
    Some(wrong)
}

#[test]
fn constraints_stated_twice_change_nothing() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let models = gallery()
        .into_iter()
        .filter(|(name, text)| name.contains(&only) && name != "pendulum_long" && !drives_by_a_reaction(text));
    let found: Vec<Vec<String>> = models.filter_map(|(name, text)| complaints(&name, &text)).collect();
    assert!(found.len() >= 50 || !only.is_empty(), "only {} models were compared", found.len());
    assert!(found.iter().all(Vec::is_empty), "{}", found.concat().join("\n"));
}

/// Where a force law takes the reaction of one of two equal constraints, the split decides the motion: then the motion must not be
/// called unique, and the copy not harmless.
#[test]
fn a_copy_that_changes_a_force_law_is_not_called_harmless() {
    let text = doubled(&crate::common::model_text("ring_with_drag")).unwrap();
    let (_, diagnostics) = checked(&text, &Overrides::default());
    let reported: Vec<String> = diagnostics.iter().map(|d| format!("{d:?}")).collect();
    assert!(
        !reported.iter().any(|d| d.contains("the motion and the total constraint force are unique")),
        "{reported:#?}"
    );
}
