//! Diagnostics for states without linear equations.

use crate::diagnostic::Diagnostic;
use crate::linearize::{Linearized, Obstacle};
use crate::model::Model;

/// The reason why there are no linear equations.
pub fn obstacle(obstacle: &Obstacle) -> String {
    let quoted = |names: &[String]| {
        let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        all.join(", ")
    };
    match obstacle {
        Obstacle::Jump { switches } => {
            format!("the force jumps here, where {} changes its sign: there is no linearization", quoted(switches))
        }
        Obstacle::Corner { switches } => {
            let names = quoted(switches);
            format!("the force has a corner here, where {names} changes its sign: there is no linearization")
        }
        Obstacle::Rank { constraints } if constraints.len() == 1 => {
            let name = quoted(constraints);
            format!(
                "the rows of constraint {name} vanish here or have less rank than nearby: there is no linearization"
            )
        }
        Obstacle::Rank { constraints } => {
            let names = quoted(constraints);
            format!("the rows of constraints {names} have less rank here than nearby: there is no linearization")
        }
    }
}

/// Z312: the constraints lose rank at the only state, so that there are no linear equations.
pub(crate) fn lost_rank(here: &Linearized) -> Option<Diagnostic> {
    let why = here.obstacle.as_ref().filter(|why| matches!(why, Obstacle::Rank { .. }))?;
    let d = Diagnostic::error("Z312", obstacle(why)).with_note(format!("at t = {}", here.state.t));
    Some(d.help("linearize at another time with --at, or from another start"))
}

/// Z901: statements without linear equations, or without any that this version derives.
pub(crate) fn refusal(model: &Model) -> Option<Diagnostic> {
    if let Some(d) = not_at_times(model, "linearize") {
        return Some(d);
    }
    let control = model.controls.first()?;
    let message = format!("not yet: `linearize` does not know control `{}`", control.stated.name);
    let d = Diagnostic::error("Z901", message).at(control.stated.span, "its force follows the motion");
    Some(d.help("leave it out to see the system by itself"))
}

/// Z901: contacts and friction, which a command does not support.
pub(crate) fn not_at_times(model: &Model, command: &str) -> Option<Diagnostic> {
    let first = model.only_at_times().into_iter().next()?;
    let message = format!("not yet: `{command}` does not know {first}");
    let d = Diagnostic::error("Z901", message).help("state a held contact as a `constraint`, and leave friction out");
    Some(match model.first_at_times() {
        Some(span) => d.at(span, "holds only at times"),
        None => d,
    })
}
