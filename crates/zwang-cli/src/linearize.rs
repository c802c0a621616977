//! `zwang linearize`: equilibria and the motion near them.

use zwang::diagnostic::Diagnostic;
use zwang::linearize::{Linearized, Obstacle, Place, equilibria, linearize};
use zwang_view::{LinearizedAt, linearize_json, linearize_table, obstacle};

use crate::arguments::OneModel;
use crate::run;
use crate::shell::{Exit, print, print_json};
use crate::source::{Source, settings};

/// Linearizes at a time of the motion if one is given; else at the start if it is a steady motion, else at every equilibrium found.
pub fn run(model: &OneModel, at: Option<f64>) -> Exit {
    let settings = settings(model)?;
    let mut source = Source::open(&model.source, model.json)?;
    let mut check = source.check(model, true)?;
    source.refuse_later(&check, model.json)?;
    if let Some(refusal) = refusal(&check.equations.model) {
        source.diagnostics.push(refusal);
        return source.fail(model.json);
    }
    if let Some(t) = at.filter(|t| *t > 0.0) {
        check = run::moved_to(&mut source, check, t, None, model)?;
    }
    check.look_at_lagrangian(&settings);
    check.system.prepare_motion(&mut check.equations);
    let state = check.state.clone();
    let here = match linearize(&mut check, &state, &settings) {
        Ok(here) => here,
        Err(error) => {
            let d = Diagnostic::error("Z402", error.to_string()).with_note(format!("at t = {}", state.t));
            source.diagnostics.push(d.help("linearize at another time with --at, or from another start"));
            return source.fail(model.json);
        }
    };
    let looked = match at.is_some() || here.place == Place::Steady {
        true => LinearizedAt::State,
        false => LinearizedAt::Equilibria { is_timed: here.is_timed },
    };
    let mut found = match looked {
        LinearizedAt::State => Vec::new(),
        LinearizedAt::Equilibria { .. } => equilibria(&mut check, &settings),
    };
    match lost_rank(&here) {
        Some(lost) if found.is_empty() => {
            source.diagnostics.push(lost);
            return source.fail(model.json);
        }
        // that the start cannot be told is told beside what was found
        Some(_) if here.place != Place::Equilibrium => found.insert(0, here),
        None if found.is_empty() => found.push(here),
        _ => {}
    }
    let stated = &check.equations.model;
    if model.json {
        return print_json(&linearize_json(&source.reading, &source.diagnostics, stated, &found));
    }
    source.say();
    print(&linearize_table(&source.file, stated, looked, &found))
}

/// Z312: the constraints have no linear equations at the only state there is.
fn lost_rank(here: &Linearized) -> Option<Diagnostic> {
    let why = here.obstacle.as_ref().filter(|why| matches!(why, Obstacle::Rank { .. }))?;
    let d = Diagnostic::error("Z312", obstacle(why)).with_note(format!("at t = {}", here.state.t));
    Some(d.help("linearize at another time with --at, or from another start"))
}

/// Z901: what has no linear equations, or none that this version finds.
fn refusal(model: &zwang::model::Model) -> Option<Diagnostic> {
    if let Some(first) = model.only_at_times().first() {
        let message = format!("not yet: `linearize` does not know {first}");
        let d =
            Diagnostic::error("Z901", message).help("state a held contact as a `constraint`, and leave friction out");
        return Some(match model.first_at_times() {
            Some(span) => d.at(span, "holds only at times"),
            None => d,
        });
    }
    let control = model.controls.first()?;
    let message = format!("not yet: `linearize` does not know control `{}`", control.stated.name);
    let d = Diagnostic::error("Z901", message).at(control.stated.span, "its force follows the motion");
    Some(d.help("leave it out to see the system by itself"))
}
