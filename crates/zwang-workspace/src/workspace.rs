//! A text, its files and its changes.

use std::ops::ControlFlow;
use std::sync::Arc;

use zwang::diagnostic::{Diagnostics, Fix};
use zwang::inverse::{MotionPath, obstacles};
use zwang::simulate::End;
use zwang::syntax::Span;
use zwang::{Budget, Error, LoadOptions, ModelText, Monitor, Overrides, Progress, RunOptions, System};

use crate::answer::{Answer, AnswerEnd, Body};
use crate::cache::{Cache, FileMap};
use crate::request::{EquationsPart, Request};

/// One text, many requests.
pub struct Workspace {
    text: String,
    text_hash: u64,
    files: FileMap,
    overrides: Overrides,
    budget: Budget,
    cache: Cache,
}

impl Workspace {
    /// An empty text; no request may use more than the budget.
    pub fn new(budget: Budget) -> Workspace {
        let (text, overrides) = (String::new(), Overrides::default());
        Workspace { text_hash: hash(&text), text, files: FileMap::new(), overrides, budget, cache: Cache::default() }
    }

    /// Another text. Nothing is computed.
    pub fn set_text(&mut self, text: &str) {
        if text != self.text {
            (self.text, self.text_hash, self.cache) = (text.to_string(), hash(text), Cache::default());
        }
    }

    /// The files that models may open: tables.
    pub fn set_files(&mut self, files: FileMap) {
        if files != self.files {
            (self.files, self.cache) = (files, Cache::default());
        }
    }

    /// Changes of the text, as `--set` and `--start` make them. Numbers of parameters need no derivation.
    pub fn set_overrides(&mut self, overrides: Overrides) {
        self.overrides = overrides;
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Answers a request.
    pub fn answer(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Answer {
        let mut is_cancelled = false;
        let found = self.find(request, &mut |progress: Progress| {
            let goes_on = monitor.progress(progress);
            is_cancelled |= goes_on.is_break();
            goes_on
        });
        let exceeds = matches!(found, Err(Error::Budget { .. }));
        let (source, diagnostics, refusal, body) = match found {
            Ok((source, notes, body)) => (source, notes, None, Some(body)),
            Err(Error::Model { source, diagnostics } | Error::Ended { source, diagnostics, .. }) => {
                (source, diagnostics, None, None)
            }
            Err(error) => (self.plain_source(), Diagnostics::default(), Some(error.to_string()), None),
        };
        let spent = exceeds || matches!(&body, Some(Body::Run(run)) if matches!(run.end(), End::BudgetSpent(_)));
        let end = match (is_cancelled, spent) {
            (true, _) => AnswerEnd::Cancelled,
            (false, true) => AnswerEnd::Budget,
            (false, false) => AnswerEnd::Done,
        };
        Answer { text_hash: self.text_hash, end, source, diagnostics, refusal, body }
    }

    fn find(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Result<Found, Error> {
        if let Request::Explain(code) = request {
            let page =
                zwang::explain::explain(code).ok_or_else(|| Error::Request(format!("there is no page `{code}`")))?;
            return Ok((self.plain_source(), Diagnostics::default(), Body::Text(page.to_string())));
        }
        if let Request::Fixes(span) = request {
            return Ok(self.fixes(*span));
        }
        let system = self.system()?;
        let source = Arc::clone(system.source());
        let (notes, body) = match request {
            Request::Check => {
                let check = system.check()?;
                (check.notes.clone(), Body::Check(check))
            }
            Request::Run(options) => {
                let budget = smaller(options.budget, self.budget);
                let run = system.run_with(&RunOptions { budget, ..options.clone() }, monitor)?;
                (run.notes().clone(), Body::Run(Box::new(run)))
            }
            Request::Inspect(at) => {
                let found = system.inspect_with(at, &self.limited(), monitor)?;
                (found.check.notes.clone(), Body::Inspection(Box::new(found)))
            }
            Request::Linearize(at) => {
                let found = system.linearize_with(*at, &self.limited(), monitor)?;
                (found.notes.clone(), Body::Linearization(found))
            }
            Request::Equations(part) => (system.notes().clone(), Body::Text(equations(&system, *part))),
            Request::Inverse(table) => {
                let path = MotionPath::new(&system.equations(), table).map_err(Error::Request)?;
                let driven = system.driven();
                let found = system.inverse(&path, &driven)?;
                let names: Vec<String> =
                    driven.iter().map(|&k| format!("`{}`", system.coordinates()[k].name)).collect();
                let mut notes = system.notes().clone();
                notes.extend(obstacles(&found, &names));
                (notes, Body::Inverse(Box::new(found)))
            }
            Request::Export(language) => {
                let rows = system.check().map(|check| zwang::repeating(&check)).unwrap_or_default();
                let code = zwang_view::code(&system.exported(&rows)?, *language, "model");
                (system.notes().clone(), Body::Text(code))
            }
            Request::Explain(_) | Request::Fixes(_) => return Err(Error::Request("this request is not known".into())),
        };
        Ok((source, notes, body))
    }

    /// A run up to a time that is to be looked at.
    fn limited(&self) -> RunOptions {
        RunOptions { budget: self.budget, ..RunOptions::default() }
    }

    fn system(&mut self) -> Result<System, Error> {
        let options = LoadOptions { budget: self.budget, ..LoadOptions::default() };
        self.cache.system(&self.text, &self.files, &self.overrides, &options)
    }

    /// The cures of the messages that touch a piece of the text.
    fn fixes(&mut self, span: Span) -> Found {
        let no_op = &mut |_: Progress| ControlFlow::Continue(());
        let checked = self.find(&Request::Check, no_op);
        let (source, notes) = match checked {
            Ok((source, notes, _)) => (source, notes),
            Err(Error::Model { source, diagnostics } | Error::Ended { source, diagnostics, .. }) => {
                (source, diagnostics)
            }
            Err(_) => (self.plain_source(), Diagnostics::default()),
        };
        let touches = |own: Span| own.start <= span.end && span.start <= own.end;
        let near = notes.iter().filter(|d| d.span.is_some_and(touches));
        let fixes: Vec<Fix> = near.flat_map(|d| d.fixes.clone()).collect();
        (source, notes, Body::Fixes(fixes))
    }

    fn plain_source(&self) -> Arc<ModelText> {
        Arc::new(ModelText { text: self.text.clone(), file_length: self.text.len() })
    }
}

type Found = (Arc<ModelText>, Diagnostics, Body);

fn equations(system: &System, part: EquationsPart) -> String {
    let mut equations = system.equations();
    match part {
        EquationsPart::Explicit => zwang_view::equations_text(&mut equations),
        EquationsPart::ExplicitLatex => zwang_view::equations_latex(&mut equations),
        EquationsPart::Lagrangian => zwang_view::lagrangian_text(&mut equations),
    }
}

/// The smaller of each limit.
fn smaller(x: Budget, y: Budget) -> Budget {
    Budget {
        nodes: x.nodes.min(y.nodes),
        bytes: x.bytes.min(y.bytes),
        steps: x.steps.min(y.steps),
        events: x.events.min(y.events),
        cells: x.cells.min(y.cells),
    }
}

/// FNV-1a of the text: the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
