//! A loaded model with parameter values and a start: what users hold, clone and run.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use zwang_expr::Expr;
use zwang_motion::{IntegrationOptions, RouteName, Scaled, Settings, State};

use crate::compile::evaluator::Evaluator;
use crate::compile::program::{Background, Jit, JitPolicy};
use crate::diagnostic::{Diagnostics, Severity};
use crate::equations::{ConstraintRow, Equations};
use crate::error::{Error, ModelText};
use crate::formulas::exported::{Exported, repeating, undetermined_controls};
use crate::inspect::{Inspection, inspect, scaled_start};
use crate::inverse::{self, Inverse, MotionPath};
use crate::linearize::messages::{not_at_times, refusal};
use crate::linearize::{self, Linearization};
use crate::lower::{Files, lower};
use crate::model::{Coordinate, Level, Model, Output, Parameter, evaluate};
use crate::run::{Budget, Monitor, Progress, RunOptions, Stage};
use crate::samples::ascii_name;
use crate::simulate::{End, Run, simulate};
use crate::syntax::name::canonical;
use crate::syntax::{Overrides, parse};
use crate::{
    analysis::check::{Analyses, Check, Prepared, analyse, later_errors, prepare, unsupported_notes},
    tolerance,
};

/// How a model is read and compiled; the default is what `load` does.
#[derive(Clone)]
pub struct LoadOptions<'a> {
    /// Changes to the text, as `--set` and `--start` make them.
    pub overrides: Overrides,
    /// Opens the tables that a model names.
    pub files: Files<'a>,
    /// The numbers that decide something.
    pub settings: Settings,
    /// The route whose acceleration is shown and integrated.
    pub route: RouteName,
    /// When programs become machine code.
    pub jit: JitPolicy,
    /// Runs the compilation to faster machine code concurrently; without it the caller waits for it, once.
    pub background: Option<Arc<dyn Background>>,
    /// Take the nearest consistent start instead of refusing one that is off.
    pub fix_start: bool,
    /// What loading may use.
    pub budget: Budget,
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        LoadOptions {
            overrides: Overrides::default(),
            files: &|_| Err("no file can be opened here".into()),
            settings: Settings::default(),
            route: RouteName::default(),
            jit: JitPolicy::default(),
            background: None,
            fix_start: false,
            budget: Budget::default(),
        }
    }
}

/// The state of an inspection.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum At {
    /// The start.
    #[default]
    Start,
    /// The motion at a time, in seconds, found by a run up to there.
    Time(f64),
    /// This state, which must lie on the constraints.
    State(State),
}

/// Reads, derives and compiles a model. What is not an error is in [`System::notes`].
///
/// ```
/// let system = zwang::load("coordinates x\nmass x: 2\nforce x: 6\nstart x = 0\nrun 2 s")?;
/// let run = system.run(&zwang::RunOptions::default())?;
/// assert!((run.state().q[0] - 6.0).abs() < 1e-9);
/// # Ok::<(), zwang::Error>(())
/// ```
pub fn load(text: &str) -> Result<System, Error> {
    load_with(text, &LoadOptions::default())
}

/// Reads, derives and compiles a model that names files, with overrides or with other settings.
pub fn load_with(text: &str, options: &LoadOptions) -> Result<System, Error> {
    derive(text, options)?.compile(options)
}

/// Reads and derives a model without compiling it: the equations are there also where a quantity has no value yet.
pub fn derive(text: &str, options: &LoadOptions) -> Result<Derivation, Error> {
    let (source, model, notes) = read(text, options)?;
    let source = Arc::new(source);
    let Some(model) = model else { return Err(Error::Model { source, diagnostics: notes }) };
    options.budget.allows(&model.graph)?;
    let equations = Equations::derive(model);
    options.budget.allows(&equations.model.graph)?;
    Ok(Derivation { source, equations, notes })
}

/// A model that was derived and not compiled.
#[derive(Clone)]
pub struct Derivation {
    /// The text, with overrides behind it.
    pub source: Arc<ModelText>,
    /// M, Q, A, b, still symbolic.
    pub equations: Equations,
    /// What reading says that is no error.
    pub notes: Diagnostics,
}

impl Derivation {
    /// The system; it has the settings, route and machine code of the options, whose text and overrides were read before.
    pub fn compile(self, options: &LoadOptions) -> Result<System, Error> {
        let Derivation { source, equations, mut notes } = self;
        let jit = Jit { policy: options.jit, background: options.background.clone() };
        let Some(mut prepared) = prepare(equations, options.route == RouteName::TwoForm, &jit, &mut notes) else {
            return Err(Error::Model { source, diagnostics: notes });
        };
        let graph = &mut prepared.equations.model.graph;
        options.budget.allows(graph)?;
        // what is derived from here on has limits of its own
        graph.set_limit(usize::MAX);
        let parameters = prepared.equations.model.parameter_values.clone();
        let model = CompiledModel {
            source,
            notes,
            settings: options.settings.clone(),
            route: options.route,
            fix_start: options.fix_start,
            jit,
            prepared,
            with_legendre: OnceLock::new(),
            motion: OnceLock::new(),
            motion_with_legendre: OnceLock::new(),
        };
        let (assigned, start) = (Vec::new(), Vec::new());
        Ok(System { model: Arc::new(model), parameters, assigned, start, checked: Arc::default() })
    }

    /// Adds to the notes what is understood and not computed yet.
    pub fn note_unsupported(&mut self) {
        unsupported_notes(&self.equations.model, Severity::Note, &mut self.notes);
    }

    /// The control force, or without controls the acceleration, as a function for other languages; the redundant `rows` are left
    /// out.
    pub fn exported(&mut self, rows: &[String]) -> Result<Exported, Error> {
        let mut notes = self.notes.clone();
        if !later_errors(&self.equations.model, &mut notes) {
            match Exported::new(&mut self.equations, rows) {
                Ok(exported) => return Ok(exported),
                Err(diagnostic) => notes.push(*diagnostic),
            }
        }
        Err(Error::Model { source: Arc::clone(&self.source), diagnostics: notes })
    }
}

/// The text with the overrides behind it, the model if it has no errors, and all messages.
pub(crate) fn read(text: &str, options: &LoadOptions) -> Result<(ModelText, Option<Model>, Diagnostics), Error> {
    let mut text = crate::syntax::with_line_ends(text);
    let (mut tree, mut diagnostics) = parse(&text);
    let file_length = text.len();
    options.overrides.apply(&mut text, &mut tree, &mut diagnostics);
    let most = usize::try_from(options.budget.nodes).unwrap_or(usize::MAX);
    let model = lower(&tree, &text, options.files, most, &mut diagnostics);
    let model = model.map_err(|_| options.budget.too_many_nodes())?.filter(|_| !diagnostics.has_errors());
    Ok((ModelText { text, file_length }, model, diagnostics))
}

/// What is the same for all parameter values and starts.
struct CompiledModel {
    source: Arc<ModelText>,
    /// What reading and deriving say.
    notes: Diagnostics,
    settings: Settings,
    route: RouteName,
    fix_start: bool,
    jit: Jit,
    /// The equations, the kinds of the constraints, and an evaluator that never moves.
    prepared: Prepared,
    with_legendre: OnceLock<Option<Evaluator>>,
    /// Evaluators with the programs of a motion, contacts included; made for the first run.
    motion: OnceLock<Option<Evaluator>>,
    motion_with_legendre: OnceLock<Option<Evaluator>>,
}

impl CompiledModel {
    /// The equations and an evaluator, to be worked with.
    fn prepared(&self, with_legendre: bool) -> Option<Prepared> {
        if !with_legendre || self.route == RouteName::TwoForm {
            return Some(self.prepared.clone());
        }
        let compile = || Evaluator::compile(&mut self.prepared.equations.clone(), true, self.jit.clone());
        let evaluator = self.with_legendre.get_or_init(compile).clone()?;
        Some(Prepared { evaluator, ..self.prepared.clone() })
    }

    /// An evaluator that can move.
    fn motion(&self, with_legendre: bool) -> Option<Evaluator> {
        let with_legendre = with_legendre || self.route == RouteName::TwoForm;
        let known = if with_legendre { &self.motion_with_legendre } else { &self.motion };
        let compile = || {
            let Prepared { equations, evaluator, .. } = self.prepared(with_legendre)?;
            let mut evaluator = evaluator.with_all_rows();
            evaluator.compile_motion(&mut equations.with_contact_rows()).then_some(evaluator)
        };
        known.get_or_init(compile).clone()
    }
}

/// A start value that replaces that of the model.
#[derive(Clone, Copy)]
struct StartValue {
    coordinate: usize,
    is_velocity: bool,
    value: f64,
    /// False for a guess, which the constraints may change.
    exact: bool,
}

/// A check, once it was requested.
type Checked = Result<Arc<Check>, Error>;

/// A compiled model with parameter values and a start.
///
/// `Clone` copies three small vectors; programs and machine code are shared. It is `Send` and `Sync`: any number of threads may
/// run it, each with parameters of its own.
///
/// ```
/// # let text = include_str!("../../../models/pendulum.zw");
/// let system = zwang::load(text)?;
/// let run = system.with("l", 2.0)?.run(&zwang::RunOptions::to(10.0))?;
/// let x = run.column("x")?;
/// # assert_eq!(x.values.len(), 1001);
/// # Ok::<(), zwang::Error>(())
/// ```
#[derive(Clone)]
pub struct System {
    model: Arc<CompiledModel>,
    parameters: Vec<f64>,
    /// Parameters that a caller has set: they follow no others.
    assigned: Vec<usize>,
    start: Vec<StartValue>,
    /// What was found out for these parameters and this start: in full, for a run, with and without the Legendre transform.
    checked: Arc<[OnceLock<Checked>; 4]>,
}

impl System {
    /// The same system with another value of a parameter, in SI units. Nothing is derived or compiled; parameters that depend
    /// on it follow.
    pub fn with(&self, parameter: &str, value: f64) -> Result<System, Error> {
        let model = self.model();
        let wanted = canonical(parameter);
        let is_wanted = |p: &Parameter| canonical(&p.name) == wanted;
        let Some(k) = model.parameters.iter().position(is_wanted) else {
            return Err(Error::unknown(parameter, model.parameters.iter().map(|p| p.name.as_str())));
        };
        finite(parameter, value)?;
        let mut values = self.parameters.clone();
        values[k] = value;
        let mut assigned = self.assigned.clone();
        assigned.push(k);
        model.follow(&assigned, &mut values);
        Ok(System { assigned, ..self.with_parameters(&values)? })
    }

    /// The same system with these values of all parameters, in SI units and in the order of [`System::parameters`].
    pub fn with_parameters(&self, values: &[f64]) -> Result<System, Error> {
        let parameters = &self.model().parameters;
        if values.len() != parameters.len() {
            let message = format!("{} values were given for {} parameters", values.len(), parameters.len());
            return Err(Error::Request(message));
        }
        for (p, value) in parameters.iter().zip(values) {
            finite(&p.name, *value)?;
        }
        let assigned = (0..values.len()).collect();
        Ok(System { parameters: values.to_vec(), assigned, checked: Arc::default(), ..self.clone() })
    }

    /// The same system with other start values, by the names `x` and `x'`, in SI units. What is not named stays as the model
    /// states it, or is found from the constraints.
    pub fn start(&self, values: &[(&str, f64)]) -> Result<System, Error> {
        let coordinates = &self.model().coordinates;
        let mut start = self.start.clone();
        for (name, value) in values {
            let wanted = ascii_name(name);
            let is_it = |c: &Coordinate, primes: &str| ascii_name(&format!("{}{primes}", c.name)) == wanted;
            let found = (0..coordinates.len())
                .flat_map(|k| [(k, false), (k, true)])
                .find(|(k, is_velocity)| is_it(&coordinates[*k], if *is_velocity { "'" } else { "" }));
            let Some((k, is_velocity)) = found else {
                return Err(Error::unknown(name, coordinates.iter().map(|c| c.name.as_str())));
            };
            finite(name, *value)?;
            start.retain(|s: &StartValue| (s.coordinate, s.is_velocity) != (k, is_velocity));
            start.push(StartValue { coordinate: k, is_velocity, value: *value, exact: true });
        }
        Ok(System { start, checked: Arc::default(), ..self.clone() })
    }

    /// The same system near positions of no special proportion, for results that do not depend on the start.
    pub fn generic_start(&self) -> System {
        // multiples of about the golden ratio, so that no two values have a simple proportion
        let guess =
            |k: usize| StartValue { coordinate: k, is_velocity: false, value: 0.3 + 0.618 * k as f64, exact: false };
        let start = (0..self.coordinates().len()).map(guess).collect();
        System { start, checked: Arc::default(), ..self.clone() }
    }

    /// The coordinates, in the order of [`State::q`].
    pub fn coordinates(&self) -> &[Coordinate] {
        &self.model().coordinates
    }

    /// The parameters as the model states them.
    pub fn parameters(&self) -> &[Parameter] {
        &self.model().parameters
    }

    /// The values of the parameters, in SI units.
    pub fn parameter_values(&self) -> &[f64] {
        &self.parameters
    }

    /// The outputs that the model states.
    pub fn outputs(&self) -> &[Output] {
        &self.model().outputs
    }

    /// The text, with overrides behind it.
    pub fn source(&self) -> &Arc<ModelText> {
        &self.model.source
    }

    /// The text as the user wrote it.
    pub fn text(&self) -> &str {
        self.model.source.own()
    }

    /// What reading and deriving say that is no error.
    pub fn notes(&self) -> &Diagnostics {
        &self.model.notes
    }

    /// The model behind the equations.
    pub fn model(&self) -> &Model {
        &self.model.prepared.equations.model
    }

    /// The numbers that decide something.
    pub fn settings(&self) -> &Settings {
        &self.model.settings
    }

    /// An error if the motion would be wrong because this version does not compute all that the model states.
    pub fn is_computable(&self) -> Result<(), Error> {
        let mut notes = self.model.notes.clone();
        match later_errors(self.model(), &mut notes) {
            true => Err(self.failed(notes)),
            false => Ok(()),
        }
    }

    /// The part of a check that a run needs: the start, the rank and their diagnostics, without the slow analyses.
    pub fn check_briefly(&self) -> Result<Arc<Check>, Error> {
        self.analysed(Analyses::ForRun, false)
    }

    /// Consistent start, rank, redundancy, freedom, invariants: computed once per set of parameters and start.
    pub fn check(&self) -> Result<Arc<Check>, Error> {
        self.analysed(Analyses::Full, false)
    }

    /// The equations with these parameters: M, Q, A, b, still symbolic. Without a check: they are there also where constraints
    /// contradict each other.
    pub fn equations(&self) -> Equations {
        let mut equations = self.model.prepared.equations.clone();
        equations.model.parameter_values.copy_from_slice(&self.parameters);
        equations
    }

    /// Moves the system. A motion that ends early is a run too; an error means that it could not begin.
    pub fn run(&self, options: &RunOptions) -> Result<Run, Error> {
        self.run_with(options, &mut |_| ControlFlow::Continue(()))
    }

    /// Moves the system and tells `monitor` after every step how far it has come.
    pub fn run_with(&self, options: &RunOptions, monitor: &mut dyn Monitor) -> Result<Run, Error> {
        options.validate()?;
        let with_legendre = options.method_in(self.model()).is_fixed_step();
        let check = Check::clone(&*self.analysed(Analyses::ForRun, with_legendre)?);
        self.moved(check, with_legendre, options, monitor)
    }

    fn moved(
        &self,
        mut check: Check,
        with_legendre: bool,
        options: &RunOptions,
        monitor: &mut dyn Monitor,
    ) -> Result<Run, Error> {
        let mut notes = std::mem::take(&mut check.notes);
        if later_errors(&check.equations.model, &mut notes) {
            return Err(self.failed(notes));
        }
        // a monitor that breaks here breaks again where the motion begins, and the run ends there
        let t = check.state.t;
        let _ = monitor.progress(Progress { stage: Stage::Compile, fraction: 0.0, t, steps: 0 });
        let motion = self.model.motion(with_legendre);
        match simulate(check, motion, options, &self.model.settings, &mut notes, monitor) {
            Ok(mut run) => {
                run.notes = notes;
                Ok(run)
            }
            Err(Some(error)) => Err(error),
            Err(None) => Err(self.failed(notes)),
        }
    }

    /// Every quantity of the theory at a state, by every route.
    pub fn inspect(&self, at: At) -> Result<Inspection, Error> {
        self.inspect_with(&at, &RunOptions::default(), &mut |_| ControlFlow::Continue(()))
    }

    /// Every quantity at a state; `options` say how a later time is reached.
    pub fn inspect_with(&self, at: &At, options: &RunOptions, monitor: &mut dyn Monitor) -> Result<Inspection, Error> {
        let check = Check::clone(&*self.analysed(Analyses::Full, true)?);
        let mut check = self.at(check, at, options, monitor)?;
        let mut notes = std::mem::take(&mut check.notes);
        match inspect(check, &self.model.settings) {
            Ok(mut inspection) => {
                inspection.check.notes = notes;
                Ok(inspection)
            }
            Err(diagnostic) => {
                notes.push(*diagnostic);
                Err(self.failed(notes))
            }
        }
    }

    /// The scaled accelerations at the start, with a gap at each row where the constraints contradict each other. `None` if there
    /// is no start, or if the mass is singular.
    pub fn scaled_start(&self) -> Option<Scaled> {
        scaled_start(self.prepared(false)?, &self.model.settings, self.model.fix_start)
    }

    /// A check at another state than the start.
    fn at(&self, mut check: Check, at: &At, options: &RunOptions, monitor: &mut dyn Monitor) -> Result<Check, Error> {
        let mut notes = check.notes.clone();
        if later_errors(&check.equations.model, &mut notes) {
            return Err(self.failed(notes));
        }
        options.validate()?;
        let state = match at {
            At::Time(t) if !t.is_finite() => return Err(Error::Request(format!("{t} is no time"))),
            At::Time(t) if *t < check.state.t => {
                let message = format!("the time must not lie before the start at t = {}, as {t} does", check.state.t);
                return Err(Error::Request(message));
            }
            At::Start => return Ok(check),
            At::Time(t) if *t <= check.state.t => return Ok(check),
            At::State(state) => {
                self.is_state(state)?;
                state.clone()
            }
            At::Time(t) => {
                let options = RunOptions { to: Some(*t), ..options.clone() };
                let run = self.moved(check, true, &options, monitor)?;
                if run.record.ended != End::Finished {
                    let source = Arc::clone(&self.model.source);
                    return Err(Error::Ended { source, diagnostics: run.notes, t: run.record.state.t });
                }
                let state = run.record.state.clone();
                check = run.check;
                check.notes = run.notes;
                state
            }
        };
        match check.move_to(state, &self.model.settings) {
            Ok(()) => match violated(&check).filter(|_| matches!(at, At::State(_))) {
                Some(name) => Err(Error::Request(format!("the state does not satisfy constraint `{name}`"))),
                None => Ok(check),
            },
            Err(diagnostic) => {
                check.notes.push(*diagnostic);
                Err(self.failed(check.notes))
            }
        }
    }

    /// M, C, K, eigenvalues and modes of the motion at a state; `None` is the start if it is a steady motion, else every
    /// equilibrium that is found from there.
    pub fn linearize(&self, at: Option<At>) -> Result<Linearization, Error> {
        self.linearize_with(at.as_ref(), &RunOptions::default(), &mut |_| ControlFlow::Continue(()))
    }

    /// The linear equations; `options` and `monitor` belong to the motion up to a later time.
    pub fn linearize_with(
        &self,
        at: Option<&At>,
        options: &RunOptions,
        monitor: &mut dyn Monitor,
    ) -> Result<Linearization, Error> {
        let mut check = Check::clone(&*self.analysed(Analyses::Full, true)?);
        if let Some(refusal) = refusal(&check.equations.model) {
            check.notes.push(refusal);
            return Err(self.failed(check.notes));
        }
        let mut check = self.at(check, at.unwrap_or(&At::Start), options, monitor)?;
        linearize::linearization(&mut check, at.is_some(), &self.model.settings).map_err(|diagnostic| {
            check.notes.push(*diagnostic);
            self.failed(check.notes)
        })
    }

    /// The forces that produce a path, and whether the constraints allow it; they act on the coordinates that the controls drive,
    /// without controls on all.
    pub fn inverse(&self, path: &MotionPath) -> Result<Inverse, Error> {
        self.inverse_with(path, &self.driven())
    }

    /// The forces on the coordinates `driven` that produce a path.
    pub fn inverse_with(&self, path: &MotionPath, driven: &[usize]) -> Result<Inverse, Error> {
        let mut notes = self.model.notes.clone();
        if later_errors(self.model(), &mut notes) {
            return Err(self.failed(notes));
        }
        if let Some(refusal) = not_at_times(self.model(), "inverse") {
            notes.push(refusal);
            return Err(self.failed(notes));
        }
        if let Some(k) = driven.iter().find(|k| **k >= self.coordinates().len()) {
            return Err(Error::Request(format!("there is no coordinate number {k}")));
        }
        inverse::inverse(self.equations(), path, driven).map_err(|diagnostic| {
            notes.push(*diagnostic);
            self.failed(notes)
        })
    }

    /// The control force, or without controls the acceleration, as a function for other languages. Rows that are redundant
    /// everywhere are left out; which they are is found at the start, without one near any other state.
    pub fn exported(&self) -> Result<Exported, Error> {
        let rows = match self.redundant_rows()? {
            Some(rows) => rows,
            None => self.generic_start().redundant_rows()?.unwrap_or_default(),
        };
        self.derivation().exported(&rows)
    }

    /// The derived model behind the system, with these parameters.
    pub fn derivation(&self) -> Derivation {
        let (source, notes) = (Arc::clone(&self.model.source), self.model.notes.clone());
        Derivation { source, equations: self.equations(), notes }
    }

    /// The rows that are redundant everywhere; `None` without a start. Fails if the force of a control is not determined.
    fn redundant_rows(&self) -> Result<Option<Vec<String>>, Error> {
        let checked = self.check();
        let refused = match checked.as_ref().map_or_else(Error::diagnostics, |check| Some(&check.notes)) {
            Some(diagnostics) => undetermined_controls(diagnostics),
            None => Vec::new(),
        };
        if refused.is_empty() {
            return Ok(checked.ok().as_deref().map(repeating));
        }
        let mut notes = self.model.notes.clone();
        notes.extend(refused);
        Err(self.failed(notes))
    }

    /// The coordinates on which forces act: those of the controls, else all.
    pub fn driven(&self) -> Vec<usize> {
        let driven = self.model().driven();
        if driven.is_empty() { (0..self.coordinates().len()).collect() } else { driven }
    }

    /// The coordinates of these names, in the order of the model.
    pub fn driven_by<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<usize>, Error> {
        let mut driven = Vec::new();
        for name in names.iter().map(S::as_ref) {
            let wanted = canonical(name.trim());
            match self.coordinates().iter().position(|c| canonical(&c.name) == wanted) {
                Some(k) if driven.contains(&k) => return Err(Error::Request(format!("`{name}` is named twice"))),
                Some(k) => driven.push(k),
                None => return Err(Error::Request(format!("`{name}` is not a coordinate of the model"))),
            }
        }
        driven.sort_unstable();
        Ok(driven)
    }

    /// True if every parameter lies in the range that the model states for it.
    pub fn is_in_range(&self) -> bool {
        self.model().range_warnings(&self.model().graph, &self.parameters).is_empty()
    }

    /// What was found out about these parameters and this start.
    pub(crate) fn analysed(&self, analyses: Analyses, with_legendre: bool) -> Result<Arc<Check>, Error> {
        let place = usize::from(analyses == Analyses::Full) + 2 * usize::from(with_legendre);
        self.checked[place].get_or_init(|| self.analyse(analyses, with_legendre).map(Arc::new)).clone()
    }

    fn analyse(&self, analyses: Analyses, with_legendre: bool) -> Result<Check, Error> {
        let CompiledModel { settings, route, fix_start, .. } = &*self.model;
        let mut notes = self.model.notes.clone();
        let Some(prepared) = self.prepared(with_legendre) else { return Err(self.failed(notes)) };
        if !self.assigned.is_empty() {
            let model = self.model();
            notes.extend(model.range_warnings(&model.graph, &self.parameters));
        }
        match analyse(prepared, settings, *route, *fix_start, analyses, &mut notes) {
            Some(mut check) => {
                check.notes = notes;
                Ok(check)
            }
            None => Err(self.failed(notes)),
        }
    }

    /// The equations and an evaluator with these parameters and this start, to be worked with.
    fn prepared(&self, with_legendre: bool) -> Option<Prepared> {
        let mut prepared = self.model.prepared(with_legendre)?;
        let model = &mut prepared.equations.model;
        model.parameter_values.copy_from_slice(&self.parameters);
        for s in &self.start {
            model.set_start(s.coordinate, s.is_velocity, s.value, s.exact);
        }
        prepared.evaluator.set_parameters(&self.parameters);
        Some(prepared)
    }

    /// An error if a state has other sizes than the system, or numbers that are not finite.
    fn is_state(&self, state: &State) -> Result<(), Error> {
        let n = self.coordinates().len();
        let all = state.q.iter().chain(&state.qdot).chain([&state.t]);
        match state.q.len() == n && state.qdot.len() == n && all.into_iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(Error::Request(format!("a state of this system has {n} finite positions and velocities"))),
        }
    }

    fn failed(&self, diagnostics: Diagnostics) -> Error {
        Error::Model { source: Arc::clone(&self.model.source), diagnostics }
    }

    /// When a run with these options ends.
    pub fn end(&self, options: &RunOptions) -> f64 {
        let model = self.model();
        let symbols: Vec<_> = model.parameters.iter().map(|p| p.symbol).collect();
        let stated =
            || model.run.as_ref().map(|run| evaluate(&model.graph, &symbols, &self.parameters, &[run.duration])[0]);
        options.to.or_else(|| stated().filter(|t| t.is_finite())).unwrap_or(IntegrationOptions::default().end)
    }
}

/// A constraint row that the state of a check violates by more than a millionth of the sizes that enter it.
fn violated(check: &Check) -> Option<&str> {
    let Check { equations, state, snapshot, .. } = check;
    let largest = |values: &[f64]| values.iter().fold(tolerance::DISTINCT, |top: f64, x| top.max(x.abs()));
    let (q, qdot) = (largest(&state.q), largest(&state.qdot));
    let is_violated = |(k, row): &(usize, &ConstraintRow)| {
        let length: f64 = snapshot.given.constraint_matrix.row(*k).1.iter().map(|a| a.abs()).sum();
        let exceeds = |e: Expr, size: f64| {
            let value = check.system.evaluate(&equations.model, state, &[e]);
            value.is_some_and(|value| value[0].abs() > tolerance::START_VIOLATION * length * size)
        };
        let is_off = row.level == Level::Position && exceeds(row.residual, q);
        is_off || row.rate.is_some_and(|rate| exceeds(rate, qdot))
    };
    equations.rows.iter().enumerate().find(is_violated).map(|(_, row)| row.name.as_str())
}

fn finite(name: &str, value: f64) -> Result<(), Error> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::Request(format!("`{name}` must be a finite number, not {value}"))),
    }
}
