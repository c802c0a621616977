//! The stages of [`load`](crate::load) and [`System::run`](crate::System::run) one by one, for callers that need the
//! intermediate results.

use std::ops::ControlFlow;

use zwang_motion::{Drift, Method, RouteName, Settings};

use crate::analysis::check::{Analyses, Check, analyse, prepare};
use crate::compile::program::{Jit, JitPolicy};
use crate::diagnostic::Diagnostics;
use crate::error::ModelText;
use crate::lower::Files;
use crate::model::Model;
use crate::run::{Keep, Progress, RunOptions};
use crate::simulate::{self, Run};
use crate::syntax::Overrides;

/// A text that was read: the model if it has no errors, and all messages about it.
pub struct Reading {
    /// The text.
    pub source: ModelText,
    /// The model; `None` if there are errors.
    pub model: Option<Model>,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
}

/// Reads a model text.
pub fn read(text: &str, overrides: &Overrides) -> Reading {
    read_with(text, overrides, &|_| Err("no file can be opened here".into()))
}

/// Reads a model that names files, which `files` opens: tables.
pub fn read_with(text: &str, overrides: &Overrides, files: Files) -> Reading {
    let (source, model, diagnostics) = crate::system::read(text, overrides, files);
    Reading { source, model, diagnostics }
}

/// The settings of a check.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Tolerances and limits of the numerical methods.
    pub settings: Settings,
    /// True to take the nearest consistent start instead of rejecting an inconsistent one.
    pub fix_start: bool,
    /// True to compile the programs of the two-form route as well.
    pub with_legendre: bool,
    /// The route whose acceleration is shown.
    pub route: RouteName,
    /// When programs become machine code.
    pub jit: JitPolicy,
    /// True to omit analyses that take milliseconds and do not change the motion, because a run is waiting.
    pub defer_slow_analyses: bool,
}

/// Derives the equations, finds the start and analyses the constraints there; `None` if there are errors.
pub fn check(model: Model, wishes: &Wishes, diagnostics: &mut Diagnostics) -> Option<Check> {
    let with_legendre = wishes.with_legendre || wishes.route == RouteName::TwoForm;
    let prepared = prepare(model, with_legendre, &Jit::from(wishes.jit), diagnostics)?;
    let analyses = if wishes.defer_slow_analyses { Analyses::ForRun } else { Analyses::Constraints };
    analyse(prepared, &wishes.settings, wishes.route, wishes.fix_start, analyses, diagnostics)
}

/// The settings of a run; `None` means as the model states, else the default.
#[derive(Clone, Debug, Default)]
pub struct RunWishes {
    /// Time of the end, in seconds.
    pub to: Option<f64>,
    /// Error allowed per step, relative.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: Option<Method>,
    /// The step of a fixed-step method, the longest step of others.
    pub step: Option<f64>,
    /// The measure against drift from the constraints; a Baumgarte rate of zero is replaced by one chosen from the
    /// duration.
    pub drift: Drift,
    /// Time between two rows of the samples; by default a thousandth of the run.
    pub every: Option<f64>,
    /// True to keep samples of every quantity.
    pub samples: bool,
    /// True to keep the scene and the plots.
    pub pictures: bool,
    /// Tolerances and limits of the numerical methods.
    pub settings: Settings,
}

impl RunWishes {
    /// Converts the settings to options of a run.
    pub fn options(&self) -> RunOptions {
        let RunWishes { to, tolerance, method, step, drift, every, samples, pictures, .. } = self.clone();
        let keep = Keep { samples, pictures, ..Keep::default() };
        RunOptions { to, tolerance, method, step, drift, every, keep, ..RunOptions::default() }
    }
}

/// Computes the motion of a checked model; `goes_on` is called after every step. `None`, with the reason among the
/// messages, if the motion cannot start.
pub fn simulate(
    check: Check,
    wishes: &RunWishes,
    diagnostics: &mut Diagnostics,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Option<Run> {
    let motion = check.motion_evaluator();
    let monitor = &mut |progress: Progress| match goes_on(progress.t) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    simulate::simulate(check, motion, &wishes.options(), &wishes.settings, diagnostics, monitor).ok()
}
