//! The options, the monitor and the budget of a run.

use std::ops::ControlFlow;

use zwang_expr::Graph;
use zwang_motion::{Drift, Method};

use crate::model::Model;
use crate::{error::Error, tolerance};

/// How to run; `None` means as the model states, else the default.
///
/// ```
/// let options = zwang::RunOptions { tolerance: Some(1e-12), ..zwang::RunOptions::to(10.0) };
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Time of the end, in seconds.
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
    /// What is kept of the motion.
    pub keep: Keep,
    /// What the run may use.
    pub budget: Budget,
}

impl RunOptions {
    /// To this time, the rest as the model states.
    pub fn to(t: f64) -> RunOptions {
        RunOptions { to: Some(t), ..RunOptions::default() }
    }

    /// For a first look: a tolerance of 1e-4, and neither audit nor extremes of the outputs.
    pub fn coarse() -> RunOptions {
        let keep = Keep { extremes: false, audit: false, ..Keep::default() };
        RunOptions { tolerance: Some(tolerance::COARSE), keep, ..RunOptions::default() }
    }

    /// An error that names the option if one of them has no meaning.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let is_tolerance = |x: &f64| (tolerance::VALUE_ROUNDING..=0.1).contains(x);
        if let Some(x) = self.tolerance.filter(|x| !is_tolerance(x)) {
            return Err(Error::Request(format!("the tolerance must lie between 1e-14 and 0.1, not at {x}")));
        }
        for (name, value) in [("step", self.step), ("every", self.every)] {
            if let Some(x) = value.filter(|x| !(x.is_finite() && *x > 0.0)) {
                return Err(Error::Request(format!("`{name}` must be a time of more than 0 s, not {x}")));
            }
        }
        match self.to.filter(|x| !x.is_finite()) {
            Some(x) => Err(Error::Request(format!("`to` must be a time, not {x}"))),
            None => Ok(()),
        }
    }

    /// The method that is meant: the caller's, else the model's.
    pub(crate) fn method_in(&self, model: &Model) -> Method {
        let stated = || model.run.as_ref()?.method.as_ref()?.0.parse().ok();
        self.method.or_else(stated).unwrap_or_default()
    }
}

/// What is kept of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Every quantity at equal intervals, for [`Run::column`](crate::Run::column).
    pub samples: bool,
    /// The dense output, for [`Run::state_at`](crate::Run::state_at).
    pub dense: bool,
    /// The scene and the curves of `plot`.
    pub pictures: bool,
    /// The extremes of the outputs between the steps.
    pub extremes: bool,
    /// Residuals, energy balance and momenta at every step.
    pub audit: bool,
}

impl Default for Keep {
    /// Everything but the dense output and pictures.
    fn default() -> Keep {
        Keep { samples: true, dense: false, pictures: false, extremes: true, audit: true }
    }
}

/// What a request may use; counted before it is spent. A limit on time is a [`Monitor`] that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Distinct expressions of the model and its equations.
    pub nodes: u64,
    /// Bytes of the rows that are kept.
    pub bytes: u64,
    /// Accepted steps.
    pub steps: u64,
    /// Events.
    pub events: u64,
    /// Rows times columns that are kept.
    pub cells: u64,
}

impl Default for Budget {
    /// What a desktop computer has room for: 20 million expressions, 1 million events and 100 million cells of the samples take
    /// one or two gigabytes each. Steps and bytes are not limited.
    fn default() -> Budget {
        Budget { nodes: 20_000_000, events: 1_000_000, cells: 100_000_000, ..Budget::UNLIMITED }
    }
}

impl Budget {
    /// The name of expressions in messages.
    pub const EXPRESSIONS: &str = "expressions";

    /// The name of rows times columns in messages.
    pub const CELLS: &str = "cells of the samples";

    /// The name of memory in messages.
    pub const BYTES: &str = "bytes of the samples";

    /// No limit.
    pub const UNLIMITED: Budget =
        Budget { nodes: u64::MAX, bytes: u64::MAX, steps: u64::MAX, events: u64::MAX, cells: u64::MAX };

    /// Fails if a graph has more expressions, or was full before everything was in it.
    pub(crate) fn allows(&self, graph: &Graph) -> Result<(), Error> {
        if graph.is_full() || graph.len() as u64 > self.nodes { Err(self.too_many_nodes()) } else { Ok(()) }
    }

    pub(crate) fn too_many_nodes(&self) -> Error {
        Error::Budget { what: Budget::EXPRESSIONS, needed: self.nodes.saturating_add(1), allowed: self.nodes }
    }

    /// Rows and columns are known before the motion begins.
    pub(crate) fn allows_table(&self, n_rows: f64, n_columns: usize) -> Result<(), Error> {
        let n_cells = (n_rows * n_columns as f64).min(u64::MAX as f64) as u64;
        allows(Budget::CELLS, n_cells, self.cells)?;
        allows(Budget::BYTES, n_cells.saturating_mul(8), self.bytes)
    }
}

fn allows(what: &'static str, needed: u64, allowed: u64) -> Result<(), Error> {
    if needed <= allowed { Ok(()) } else { Err(Error::Budget { what, needed, allowed }) }
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Accepted steps.
    Steps,
    /// Events.
    Events,
    /// Time, which the caller's monitor measures.
    Time,
    /// Memory, which the caller's monitor measures.
    Memory,
}

impl Resource {
    /// The name in messages and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Resource::Steps => "steps",
            Resource::Events => "events",
            Resource::Time => "time",
            Resource::Memory => "memory",
        }
    }
}

/// What a request is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Compiling what a motion needs.
    Compile,
    /// Moving.
    Move,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// The part that is done, from 0 to 1.
    pub fraction: f64,
    /// The time that the motion has reached.
    pub t: f64,
    /// Accepted steps so far.
    pub steps: u64,
}

/// Told after every step how far a request has come; `Break` ends the work in order. Clocks belong to whoever implements it.
pub trait Monitor {
    /// Says whether to continue.
    fn progress(&mut self, progress: Progress) -> ControlFlow<()>;

    /// What ran out, if a limit ended the work and not the user.
    fn spent(&self) -> Option<Resource> {
        None
    }
}

impl<F: FnMut(Progress) -> ControlFlow<()>> Monitor for F {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self(progress)
    }
}
