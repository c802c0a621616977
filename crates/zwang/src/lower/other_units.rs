//! The gallery in other units of mass, length and time: what is decided about a model does not depend on them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::lower::Lower;
use crate::simulate::{Event, EventKind};
use crate::syntax::parse;
use crate::{RunOptions, load};

/// Powers of ten by which the numbers for mass, length and time grow.
type Powers = [i32; 3];

const OTHER_UNITS: [Powers; 6] = [[6, 0, 0], [-6, 0, 0], [0, 6, 0], [0, -6, 0], [0, 0, 6], [0, 0, -6]];

/// Models whose files have units of their own, which stay as they are.
const WITH_TABLES: [&str; 1] = ["tall_building"];

/// A model of ten million steps, and one whose factor e^(x/l) of a disguised copy is one at every state that is tried.
const LEFT_OUT: [&str; 2] = ["pendulum_long", "knife_edge_copy"];

/// The text with every number multiplied by the power of ten of its dimension; `None` without units.
fn in_other_units(text: &str, powers: Powers) -> Option<String> {
    let (tree, mut diagnostics) = parse(text);
    if !tree.has_units {
        return None;
    }
    let no_files = |_: &str| Err(String::new());
    let mut lower = Lower::new(&tree, text, &no_files, &mut diagnostics);
    lower.statements();
    let mut shifts = BTreeMap::new();
    for (span, dim) in &lower.dimensions.numbers {
        let exponents = lower.dimensions.base(dim).0;
        let shift: f64 = (0..3).map(|k| exponents[k] * f64::from(powers[k])).sum();
        let brackets = text[span.start..].len() - text[span.start..].trim_start_matches(['(', ' ']).len();
        shifts.insert(span.start + brackets, shift.round() as i32);
    }
    let mut out = String::with_capacity(2 * text.len());
    let mut at = 0;
    for (start, shift) in shifts {
        let number = numeral(&text[start..]);
        if number.is_empty() || start < at || shift == 0 {
            continue;
        }
        out.push_str(&text[at..start]);
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let exponent: i32 = exponent.parse().unwrap();
        out.push_str(&format!("{mantissa}e{}", exponent + shift));
        at = start + number.len();
    }
    Some(out + &text[at..])
}

/// The numeral at the beginning of a text.
fn numeral(text: &str) -> &str {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let mantissa = digits(text);
    let rest = text[mantissa..].strip_prefix(['e', 'E']).unwrap_or("");
    let sign = usize::from(rest.starts_with(['+', '-']));
    let exponent = digits(&rest[sign..]);
    if mantissa > 0 && exponent > 0 { &text[..mantissa + 1 + sign + exponent] } else { &text[..mantissa] }
}

/// What is decided about a model: kinds of constraints, ranks, messages, events, the way the run ends.
#[derive(Debug, PartialEq)]
struct Decided {
    constraints: Vec<String>,
    redundant: Vec<String>,
    ranks: (usize, bool, usize),
    notes: Vec<&'static str>,
    events: Vec<(String, EventKind)>,
    end: String,
}

/// The name of an event; the formula of a `when` is written with other numbers.
fn name_of(event: &Event) -> String {
    if event.kind == EventKind::When { String::new() } else { event.name.clone() }
}

fn decided(text: &str) -> Result<Decided, String> {
    let system = load(text).map_err(|e| e.to_string())?;
    let check = system.check().map_err(|e| e.to_string())?;
    let run = system.run(&RunOptions::default()).map_err(|e| e.to_string())?;
    Ok(Decided {
        constraints: check.constraints.iter().map(|c| format!("{c:?}")).collect(),
        redundant: check.redundant.iter().map(|r| r.row.clone()).collect(),
        ranks: (check.rank, check.regular, check.degrees_of_freedom()),
        notes: run.notes().iter().map(|d| d.code).collect(),
        events: run.events().iter().map(|e| (name_of(e), e.kind.clone())).collect(),
        end: format!("{:?}", run.end()).split('{').next().unwrap_or_default().to_string(),
    })
}

/// The first place where two verdicts differ.
fn difference(stated: &Decided, now: &Decided) -> String {
    let (stated, now) = (format!("{stated:#?}"), format!("{now:#?}"));
    let differs = stated.lines().zip(now.lines()).find(|(a, b)| a != b);
    differs.map_or_else(|| "one has more".to_string(), |(a, b)| format!("{} became {}", a.trim(), b.trim()))
}

/// What is decided otherwise about a model in other units.
fn changes(text: &str) -> Vec<String> {
    let stated = decided(text);
    let in_units = |powers| match (&stated, decided(&in_other_units(text, powers).unwrap_or_default())) {
        (Ok(stated), Ok(now)) if *stated == now => None,
        (Ok(stated), Ok(now)) => Some(format!("{powers:?}: {}", difference(stated, &now))),
        (Err(error), _) => Some(format!("{powers:?}: {error}")),
        (_, Err(error)) => Some(format!("{powers:?}: {error}")),
    };
    OTHER_UNITS.into_iter().filter_map(in_units).collect()
}

#[test]
fn nothing_is_decided_by_the_units() {
    let models = format!("{}/../../models", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = std::fs::read_dir(&models)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(".zw").map(str::to_string))
        .filter(|name| !WITH_TABLES.contains(&name.as_str()) && !LEFT_OUT.contains(&name.as_str()))
        .collect();
    names.sort();
    let texts: Vec<(String, String)> = names
        .into_iter()
        .map(|name| (std::fs::read_to_string(format!("{models}/{name}.zw")).unwrap(), name))
        .filter(|(text, _)| in_other_units(text, [0; 3]).is_some())
        .map(|(text, name)| (name, text))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(changes(text).into_iter().map(|change| format!("{name} {change}")));
        }
        wrong
    };
    let wrong = thread::scope(|scope| {
        let other = scope.spawn(work);
        [work(), other.join().unwrap()].concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(texts.len() > 50, "{} models", texts.len());
}
