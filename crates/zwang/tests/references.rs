//! The reference values of the gallery speak of what there is, and the bad runs of what must happen.

use crate::common::reference::{Moment, Reference, ReferenceRun, parse, references};
use crate::common::{ROOT, checked, derived, model_text};
use zwang::Overrides;

#[test]
fn a_reference_reads_as_written() {
    let text = "# source\n\nrun --set l=2 --set \"a=10 deg\" --start \"x=0.5, x'=1\" --to 10\nt = 1\nx = 0.5\nx' = -1.5e-3\n\
                error x' 1e-9\nt = 10\ntip.x = 2\nenergy drift <= 1e-9\nevent 0.5 rank-drop\nrun\n";
    let first = ReferenceRun {
        overrides: vec!["l=2".into(), "a=10 deg".into()],
        start: vec!["x=0.5, x'=1".into()],
        to: Some(10.0),
        moments: vec![
            Moment { t: 1.0, values: vec![("x".into(), 0.5, 0.0), ("x'".into(), -1.5e-3, 1e-9)] },
            Moment { t: 10.0, values: vec![("tip.x".into(), 2.0, 0.0)] },
        ],
        energy_drift: Some(1e-9),
        events: vec![(0.5, "rank-drop".into())],
        amplified: vec![],
    };
    assert_eq!(parse(text), Ok(Reference { runs: vec![first, ReferenceRun::default()] }));
}

#[test]
fn a_mistake_in_a_reference_is_named_with_its_line() {
    let wrong = [
        ("t = 1", "1: no `run` line above: t = 1"),
        ("run\nx = 1", "2: no `t = ` line above: x = 1"),
        ("run\nt = 1\nx = one", "3: `one` is not a number: x = one"),
        ("run\nt = 1\nx = 1\nx = 2", "4: given twice: x = 2"),
        ("run\nt = 1\nerror x 1e-9", "3: no value of that name above: error x 1e-9"),
        ("run\nt = 2\nt = 1", "3: moments stand in order of time: t = 1"),
        ("run --til 3", "1: --til is not known: run --til 3"),
        ("run --start \"x=1", "1: a quote is not closed: run --start \"x=1"),
    ];
    for (text, message) in wrong {
        assert_eq!(parse(text), Err(message.to_string()));
    }
}

/// Every file belongs to a model, every name in it to a coordinate, a velocity or an output, and every moment to the run.
#[test]
fn references_name_what_their_models_have() {
    let references = references();
    assert!(references.len() >= 40, "only {} references", references.len());
    for (name, reference) in references {
        assert!(!reference.runs.is_empty(), "{name}: no run");
        for run in &reference.runs {
            let overrides = Overrides { set: run.overrides.clone(), start: run.start.clone() };
            let model = derived(&model_text(&name), &overrides).equations.model;
            let coordinates = model.coordinates.iter().map(|c| &c.name);
            let mut known: Vec<String> = coordinates.flat_map(|c| [c.clone(), format!("{c}'")]).collect();
            known.extend(model.outputs.iter().map(|o| o.name.clone()));
            let duration = model.run.as_ref().map_or(10.0, |run| model.constants(&[run.duration])[0]);
            let end = run.to.unwrap_or(duration);
            assert!(!run.moments.is_empty(), "{name}: a run has no moments");
            for moment in &run.moments {
                assert!((0.0..=end).contains(&moment.t), "{name}: t = {} lies outside the run to {end}", moment.t);
                assert!(!moment.values.is_empty(), "{name}: no values at t = {}", moment.t);
                for (quantity, ..) in &moment.values {
                    assert!(known.contains(quantity), "{name}: {quantity} is neither coordinate nor output");
                }
            }
            assert!(run.events.iter().all(|e| (0.0..=end).contains(&e.0)), "{name}: an event outside the run");
        }
    }
}

/// Runs that must fail say in their text what happens and when; only one of them fails before it moves.
#[test]
fn bad_runs_begin_well_but_for_one() {
    let mut n_runs = 0;
    for entry in std::fs::read_dir(format!("{ROOT}/crates/zwang/tests/bad_runs")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (check, diagnostics) = checked(&text, &Overrides::default());
        let reported = if name == "off_start" { "# Must be refused" } else { "# Must stop at t = " };
        assert!(
            text.lines().nth(1).is_some_and(|line| line.starts_with(reported)),
            "{name} does not say what must happen"
        );
        assert_eq!(check.is_some(), name != "off_start", "{name}: {diagnostics:#?}");
        n_runs += 1;
    }
    assert!(n_runs >= 7, "only {n_runs} bad runs");
}
