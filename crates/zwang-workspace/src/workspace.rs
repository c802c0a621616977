//! A text, its files and its overrides.

use std::ops::ControlFlow;
use std::sync::Arc;

use zwang::diagnostic::{Diagnostics, Fix};
use zwang::inverse::MotionPath;
use zwang::simulate::End;
use zwang::syntax::Span;
use zwang::{
    Budget, Derivation, Error, LoadOptions, ModelText, Monitor, Overrides, Progress, Resource, Run, RunOptions, System,
};
use zwang_motion::Drift;
use zwang_view::DriftComparison;

use crate::answer::{Answer, AnswerEnd, Body};
use crate::cache::{Cache, FileMap};
use crate::equations::{may_conflict, not_in_formulas, written};
use crate::fix::{AppliedFix, MOST_ROUNDS, fixed_text};
use crate::request::{EquationsPart, Request};

/// What a request may use in a browser, whose tab has less room than a computer and a reader who waits: numbers of expressions,
/// steps, events and cells that take some seconds and about a hundred megabytes each.
pub const WEB_BUDGET: Budget =
    Budget { nodes: 1_000_000, bytes: 200_000_000, steps: 2_000_000, events: 50_000, cells: 5_000_000 };

/// Opens a table by the name that a model gives it.
type Opener = Box<dyn Fn(&str) -> Result<String, String>>;

/// One text, many requests.
pub struct Workspace {
    text: String,
    text_hash: u64,
    files: FileMap,
    opener: Option<Opener>,
    options: LoadOptions<'static>,
    cache: Cache,
}

impl Workspace {
    /// An empty text; no request may use more than the budget.
    pub fn new(budget: Budget) -> Workspace {
        Workspace::with_options(LoadOptions { budget, ..LoadOptions::default() })
    }

    /// An empty text that is loaded with these settings, route, machine code and overrides; its files are set apart.
    pub fn with_options(options: LoadOptions<'static>) -> Workspace {
        let text = String::new();
        let (text_hash, cache) = (hash(&text), Cache::default());
        Workspace { text, text_hash, files: FileMap::new(), opener: None, options, cache }
    }

    /// Replaces the text. Nothing is computed.
    pub fn set_text(&mut self, text: &str) {
        if text != self.text {
            (self.text, self.text_hash, self.cache) = (text.to_string(), hash(text), Cache::default());
        }
    }

    /// Sets the files that models may open: tables.
    pub fn set_files(&mut self, files: FileMap) {
        if files != self.files {
            (self.files, self.cache) = (files, Cache::default());
        }
    }

    /// Sets who opens the tables that are not among the files; it is called when a model that names one is read.
    pub fn open_with(&mut self, open: impl Fn(&str) -> Result<String, String> + 'static) {
        self.opener = Some(Box::new(open));
        self.cache = Cache::default();
    }

    /// Sets changes of the text, as `--set` and `--start` make them. Numbers of parameters need no derivation.
    pub fn set_overrides(&mut self, overrides: Overrides) {
        self.options.overrides = overrides;
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The changes of the text.
    pub fn overrides(&self) -> &Overrides {
        &self.options.overrides
    }

    /// Number of derivations for the present text, for callers who want to know the cost of a change.
    pub fn n_derivations(&self) -> usize {
        self.cache.n_derivations()
    }

    /// The system behind the answers, for callers that need names or values before they ask.
    pub fn system(&mut self) -> Result<System, Error> {
        self.load(|cache, text, options| cache.system(text, options))
    }

    /// Derives the model again whether or not it is known, for callers who measure what that costs.
    pub fn derive(&self) -> Result<Derivation, Error> {
        let open = |name: &str| self.open(name);
        zwang::derive(&self.text, &LoadOptions { files: &open, ..self.options.clone() })
    }

    /// Applies the safe fixes of the errors to the text, as long as an error has one.
    pub fn fix(&mut self) -> Vec<AppliedFix> {
        let mut all = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let fixed = self.system().err().and_then(|error| fixed_text(&self.text, &error));
            let Some((text, applied)) = fixed else { break };
            self.set_text(&text);
            all.extend(applied);
        }
        all
    }

    /// Answers a request.
    pub fn answer(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Answer {
        let mut listening = Listening { monitor, is_cancelled: false };
        let found = self.find(request, &mut listening);
        let is_spent = listening.monitor.spent().is_some();
        let is_cancelled = listening.is_cancelled;
        let (source, diagnostics, body, error) = match found {
            Ok((source, notes, body)) => (source, notes, Some(body), None),
            Err(error) => match &error {
                Error::Model { source, diagnostics } | Error::Ended { source, diagnostics, .. } => {
                    (Arc::clone(source), diagnostics.clone(), None, Some(error))
                }
                _ => (self.plain_source(), Diagnostics::default(), None, Some(error)),
            },
        };
        let spent = match (&error, &body) {
            (Some(Error::Budget { .. }), _) => true,
            (_, Some(Body::Run(run))) => matches!(run.end(), End::BudgetSpent(_)),
            _ => is_cancelled && is_spent,
        };
        let end = match (spent, is_cancelled) {
            (true, _) => AnswerEnd::Budget,
            (false, true) => AnswerEnd::Cancelled,
            (false, false) => AnswerEnd::Done,
        };
        Answer { text_hash: self.text_hash, end, source, diagnostics, body, error }
    }

    fn find(&mut self, request: &Request, monitor: &mut dyn Monitor) -> Result<Found, Error> {
        match request {
            Request::Explain(code) => self.explain(code),
            Request::Fixes(span) => Ok(self.fixes(*span)),
            Request::Equations(part) => self.equations(part),
            Request::Export { language, name } => self.export(*language, name),
            _ => {
                let system = self.system()?;
                let (notes, body) = self.computed(&system, request, monitor)?;
                Ok((Arc::clone(system.source()), notes, body))
            }
        }
    }

    /// The answer to a request that needs numbers.
    fn computed(
        &self,
        system: &System,
        request: &Request,
        monitor: &mut dyn Monitor,
    ) -> Result<(Diagnostics, Body), Error> {
        match request {
            Request::Check => {
                let check = system.check()?;
                Ok((check.notes.clone(), Body::Check(check)))
            }
            Request::Run(options) => {
                let run = system.run_with(&self.limited(options), monitor)?;
                Ok((run.notes().clone(), Body::Run(Box::new(run))))
            }
            Request::CompareDrift(options) => compared(system, &self.limited(options), monitor),
            Request::Inspect(at, options) => {
                let found = system.inspect_with(at, &self.limited(options), monitor)?;
                Ok((found.check.notes.clone(), Body::Inspection(Box::new(found))))
            }
            Request::ScaledStart => {
                let missing = || Error::Request("there is no start at which accelerations could be drawn".into());
                let scaled = system.scaled_start().ok_or_else(missing)?;
                Ok((system.notes().clone(), Body::ScaledStart(Box::new(scaled))))
            }
            Request::Linearize(at) => {
                let found = system.linearize_with(at.as_ref(), &self.limited(&RunOptions::default()), monitor)?;
                Ok((found.notes.clone(), Body::Linearization(found)))
            }
            Request::Inverse { table, driven } => {
                let cells = table.lines.len() * (table.columns.len() + 4 * system.coordinates().len());
                if cells as u64 > self.options.budget.cells {
                    let (needed, allowed) = (cells as u64, self.options.budget.cells);
                    return Err(Error::Budget { what: Budget::CELLS, needed, allowed });
                }
                let path = MotionPath::new(system.coordinates(), table).map_err(Error::Request)?;
                let found = match driven.is_empty() {
                    true => system.inverse(&path)?,
                    false => system.inverse_with(&path, driven)?,
                };
                let mut notes = system.notes().clone();
                notes.extend(found.obstacles());
                Ok((notes, Body::Inverse(Box::new(found))))
            }
            _ => Err(Error::Request("this request is not known".into())),
        }
    }

    /// The options of a run within the budget of the workspace.
    fn limited(&self, options: &RunOptions) -> RunOptions {
        RunOptions { budget: smaller(options.budget, self.options.budget), ..options.clone() }
    }

    fn equations(&mut self, part: &EquationsPart) -> Result<Found, Error> {
        let mut derivation = self.derivation()?;
        derivation.note_unsupported();
        let is_document = matches!(part, EquationsPart::Derivation(_));
        let needs_check = may_conflict(&derivation.equations.model);
        // compiled only for what is shown of it
        let system = match is_document || needs_check {
            true => self.system(),
            false => Err(Error::Request(String::new())),
        };
        let text = self.options.overrides.stated_in(derivation.source.own());
        let written = written(&mut derivation, part, &text, &system);
        let Derivation { source, mut notes, .. } = derivation;
        if let Some(system) = system.ok().filter(|_| needs_check) {
            notes.extend(not_in_formulas(&system));
        }
        match notes.has_errors() {
            true => Err(Error::Model { source, diagnostics: notes }),
            false => Ok((source, notes, Body::Text(written))),
        }
    }

    fn export(&mut self, language: zwang_view::Language, name: &str) -> Result<Found, Error> {
        let mut derivation = self.derivation()?;
        // without a value for every quantity the rows that could be left out are not known
        let exported = match self.system() {
            Ok(system) => system.exported()?,
            Err(_) => derivation.exported(&[])?,
        };
        let code = zwang_view::code(&exported, language, name);
        Ok((derivation.source, derivation.notes, Body::Text(code)))
    }

    fn explain(&self, code: &str) -> Result<Found, Error> {
        let page = zwang::explain::explain(code).ok_or_else(|| Error::Request(format!("there is no page `{code}`")))?;
        Ok((self.plain_source(), Diagnostics::default(), Body::Text(page.to_string())))
    }

    /// The fixes of the messages that touch a piece of the text.
    fn fixes(&mut self, span: Span) -> Found {
        let no_op = &mut |_: Progress| ControlFlow::Continue(());
        let Answer { source, diagnostics, .. } = self.answer(&Request::Check, no_op);
        let touches = |own: Span| own.start <= span.end && span.start <= own.end;
        let near = diagnostics.iter().filter(|d| d.span.is_some_and(touches));
        let fixes: Vec<Fix> = near.flat_map(|d| d.fixes.clone()).collect();
        (source, diagnostics, Body::Fixes(fixes))
    }

    fn derivation(&mut self) -> Result<Derivation, Error> {
        self.load(|cache, text, options| cache.derivation(text, options))
    }

    /// Calls `act` with the options and the tables.
    fn load<T>(&mut self, act: impl FnOnce(&mut Cache, &str, &LoadOptions) -> T) -> T {
        let mut cache = std::mem::take(&mut self.cache);
        let open = |name: &str| self.open(name);
        let done = act(&mut cache, &self.text, &LoadOptions { files: &open, ..self.options.clone() });
        self.cache = cache;
        done
    }

    /// A table: one of the files, else what the opener finds.
    fn open(&self, name: &str) -> Result<String, String> {
        match (self.files.get(name), &self.opener) {
            (Some(table), _) => Ok(table.clone()),
            (None, Some(open)) => open(name),
            (None, None) => Err(format!("there is no file `{name}`")),
        }
    }

    fn plain_source(&self) -> Arc<ModelText> {
        Arc::new(ModelText { text: self.text.clone(), file_length: self.text.len() })
    }
}

/// A caller's monitor that notes whether it ended the work.
struct Listening<'m> {
    monitor: &'m mut dyn Monitor,
    is_cancelled: bool,
}

impl Monitor for Listening<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let flow = self.monitor.progress(progress);
        self.is_cancelled |= flow.is_break();
        flow
    }

    fn spent(&self) -> Option<Resource> {
        self.monitor.spent()
    }
}

type Found = (Arc<ModelText>, Diagnostics, Body);

/// The motion with each measure against drift. Only the first keeps samples and pictures.
fn compared(system: &System, options: &RunOptions, monitor: &mut dyn Monitor) -> Result<(Diagnostics, Body), Error> {
    let first = system.run_with(&RunOptions { drift: Drift::Project, ..options.clone() }, monitor)?;
    let notes = first.notes().clone();
    let mut runs = vec![DriftComparison { name: Drift::Project.as_str(), run: Ok(Box::new(first)) }];
    let keep = zwang::Keep { samples: false, pictures: false, ..options.keep };
    for drift in [Drift::Baumgarte { rate: 0.0 }, Drift::None] {
        let run: Result<Run, Error> = system.run_with(&RunOptions { drift, keep, ..options.clone() }, monitor);
        let failed = |error: Error| {
            let first = error.diagnostics().and_then(|notes| notes.iter().find(|d| d.is_error()).cloned());
            first.map_or("it failed".into(), |d| d.message)
        };
        runs.push(DriftComparison { name: drift.as_str(), run: run.map(Box::new).map_err(failed) });
    }
    Ok((notes, Body::Comparison(runs)))
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
