//! A run: the model moved from its start, with everything read off on the way.

mod account;
mod ending;
mod gauge;
mod record;

use std::time::Instant as Clock;

use zwang_expr::Expr;
use zwang_motion::{Counts, Drift, Method, Motion, MotionError, Outcome, Passage, Plan, Reaction, Settings, State};

use crate::check::Check;
use crate::diagnostic::Diagnostics;
use crate::samples::Samples;
use crate::scene::Scene;
use crate::system::System;
use crate::verdict::contradiction;
pub use account::{Audit, EnergyAccount, Extent, ExtentValues, Momentum};
use account::Accountant;
use gauge::{Around, Gauges};
pub use record::Pictured;
use record::{Extremes, Recorder};

/// What is wished of a run; what is left out is as the model says, or the default.
#[derive(Clone, Debug, Default)]
pub struct RunWishes {
    /// When it ends.
    pub to: Option<f64>,
    /// Error allowed per step, relative.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: Option<Method>,
    /// The step of a fixed-step method, the longest step of others.
    pub step: Option<f64>,
    /// What keeps the system on the constraints; Baumgarte's rate is chosen from the duration if it is zero.
    pub drift: Drift,
    /// Time between two rows of the samples; a thousandth of the run if left out.
    pub every: Option<f64>,
    /// Keep samples of every quantity.
    pub samples: bool,
    /// Keep what is to be drawn and plotted.
    pub pictures: bool,
    /// The numbers that decide something.
    pub settings: Settings,
}

/// What happened at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// When.
    pub t: f64,
    /// The user's name for it: a constraint, a condition.
    pub name: String,
    /// `rank-drop`, `when` or `switch`.
    pub kind: &'static str,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// At its end.
    Finished,
    /// By the user.
    Interrupted,
    /// Because of the motion.
    Stopped(Outcome),
}

impl Ended {
    /// In one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Ended::Finished => "finished",
            Ended::Interrupted => "interrupted",
            Ended::Stopped(Outcome::Contradiction(_)) => "contradiction",
            Ended::Stopped(Outcome::Undetermined { .. }) => "undetermined",
            Ended::Stopped(Outcome::StepTooSmall { .. }) => "step-too-small",
            Ended::Stopped(_) => "failed",
        }
    }
}

/// A finished run.
pub struct Run {
    /// What was known before; its system has the parameters of the end.
    pub check: Check,
    /// How it ended.
    pub ended: Ended,
    /// The state at the end.
    pub state: State,
    /// When it should have ended.
    pub end: f64,
    /// Rank along the motion.
    pub rank: usize,
    /// The tolerance.
    pub tolerance: f64,
    /// The method at the end.
    pub method: Method,
    /// What kept the system on the constraints.
    pub drift: Drift,
    /// What it cost.
    pub counts: Counts,
    /// Seconds from the text to machine programs, and of the motion itself.
    pub compile_seconds: f64,
    /// Seconds the motion took.
    pub wall_seconds: f64,
    /// Residuals, energy, momenta.
    pub audit: Audit,
    /// The outputs.
    pub outputs: Vec<Extent>,
    /// Events in the order of time.
    pub events: Vec<Happening>,
    /// Positions passed in which the constraints lose rank.
    pub passages: Vec<Passage>,
    /// The motion at chosen times, if wished.
    pub samples: Samples,
    /// What was drawn and plotted, if wished.
    pub scene: Scene,
    /// The curves of every `plot`.
    pub plots: Vec<Pictured>,
}

/// Moves a checked model. `goes_on` is asked after every step with the time reached and says whether to go on.
///
/// Fails, with the reason among the messages, where the motion cannot even begin; a motion that ends early is a run.
pub fn simulate(
    mut check: Check,
    wishes: &RunWishes,
    diagnostics: &mut Diagnostics,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Option<Run> {
    let clock = Clock::now();
    let plan = plan(&check, wishes);
    if !check.system.prepare_motion(&mut check.equations) {
        diagnostics.push(crate::diagnostic::Diagnostic::error("Z901", "an event or an integral contains a quantity that this version cannot compute"));
        return None;
    }
    let compile_seconds = clock.elapsed().as_secs_f64();
    let clock = Clock::now();
    let mut run = match Walk::new(&mut check, wishes, &plan).and_then(|walk| walk.run(goes_on)) {
        Ok(walked) => walked.into_run(check, &plan),
        Err(error) => {
            diagnostics.push(contradiction::explain(&check.equations, &check.state, &error));
            return None;
        }
    };
    run.compile_seconds += compile_seconds;
    run.wall_seconds = clock.elapsed().as_secs_f64();
    say(&run, diagnostics);
    Some(run)
}

/// The plan of the run: the command line wins over the model.
pub fn plan(check: &Check, wishes: &RunWishes) -> Plan {
    let model = &check.equations.model;
    let stated = model.run.as_ref();
    let number = |e: Option<Expr>| e.map(|e| model.constants(&[e])[0]).filter(|x| x.is_finite());
    let default = Plan::default();
    let end = wishes.to.or(number(stated.map(|r| r.duration))).unwrap_or(default.end);
    let drift = match wishes.drift {
        Drift::Baumgarte { rate } if rate <= 0.0 => Drift::Baumgarte { rate: BAUMGARTE / end },
        other => other,
    };
    Plan {
        end,
        tolerance: wishes.tolerance.or(number(stated.and_then(|r| r.tolerance))).unwrap_or(default.tolerance),
        method: wishes.method.or(stated.and_then(|r| r.method.as_ref()?.0.parse().ok())).unwrap_or_default(),
        step: wishes.step.or(number(stated.and_then(|r| r.step))),
        drift,
        route: check.route,
    }
}

/// Baumgarte's rate times the length of the run: errors die out within a hundredth of it.
const BAUMGARTE: f64 = 200.0;

/// Rows of the samples unless the user says otherwise.
const ROWS: f64 = 1000.0;

fn say(run: &Run, diagnostics: &mut Diagnostics) {
    let equations = &run.check.equations;
    if let Some(note) = ending::passed(equations, &run.passages) {
        diagnostics.push(note);
    }
    if let Ended::Stopped(outcome) = &run.ended
        && let Some(error) = ending::ending(equations, &run.state, outcome)
    {
        diagnostics.push(error);
    }
    if let Some((stiffness, switched)) = &run.check.stiffness {
        diagnostics.push(ending::stiff(equations, stiffness, *switched));
    }
}
