//! Compiled equations with parameter values, for evaluation at any state.

use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};
use zwang_expr::{Expr, Graph};
use zwang_motion::{
    ConditionRate, ConstraintLevel, Contact, ContactLaws, ControlEquations, ControlRows, Coulomb, Dynamics,
    Elimination, Enclosure, EventFunctions, Friction, Given, Instant, Integrals, Jacobian, Jacobians, Legendre,
    LegendreData, MotionError, NonidealForce, Reaction, SharpTerms, Size, State, StateQuantities, Tableau, TermEntry,
    Units,
};

use crate::compile::control_programs::{Controls, control_values};
use crate::compile::explicit::{N_PIVOTS, acceleration, correction, least_pivot};
use crate::compile::motion_programs::{Derivatives, EquationTerms, MotionPrograms};
use crate::compile::program::{Compiled, Jit, JitPolicy};
use crate::compile::row_selection::RowSelection;
use crate::compile::sharp_programs::SharpPrograms;
use crate::compile::whole_step::{StepProgram, WholeStep};
use crate::equations::{Equations, RowKind};
use crate::model::{Derived, Model};
use crate::{compile::contact_programs::ContactPrograms, limits};

/// The compiled equations of one model with its parameter values.
///
/// A clone shares programs and machine code, and has its own numbers.
#[derive(Clone)]
pub struct Evaluator {
    pub(super) n: usize,
    pub(super) inputs: Vec<f64>,
    pub(super) with_lambda: Vec<f64>,
    pub(super) parameters: Vec<f64>,
    pub(super) given: Compiled,
    pub(super) energies: Compiled,
    pub(super) nonideal: Option<Compiled>,
    pub(super) controls: Option<Controls>,
    /// The symbols of control forces and powers in outputs.
    pub(super) control_symbols: Vec<(Expr, Derived)>,
    /// The power of each control during a motion.
    pub(super) powers: Vec<f64>,
    pub(super) legendre: Option<Compiled>,
    pub(super) outputs: Vec<OutputProgram>,
    /// M, Q, A, b with all rows of the motion.
    pub(super) empty: Given,
    /// The rows that are constraints here; `None` if all are.
    pub(super) selection: Option<Box<RowSelection>>,
    pub(super) empty_legendre: Option<Legendre>,
    /// The symbols t, q, q̇ and parameters with their graph, for messages.
    pub(super) symbols: Vec<Expr>,
    /// The index of each symbol.
    pub(super) place: FxHashMap<Expr, usize>,
    pub(super) graph: Arc<Graph>,
    /// The programs that only a motion needs.
    pub(super) moving: Option<Box<MotionPrograms>>,
    /// The programs of the contact rows.
    pub(super) contact: Option<Box<ContactPrograms>>,
    pub(super) source: Option<Arc<EquationTerms>>,
    /// Terms that may act between the nodes of a method.
    pub(super) sharp: Option<Box<SharpPrograms>>,
    pub(super) cache: Arc<ProgramCache>,
    pub(super) derivatives: Option<Box<Derivatives>>,
    pub(super) jit: Jit,
    pub(super) explicit: Option<Box<Explicit>>,
}

/// An output as a function of state, λ, q̈, u and G.
#[derive(Clone)]
pub(super) struct OutputProgram {
    pub(super) name: String,
    /// The rows whose multipliers it contains.
    pub(super) rows: Vec<usize>,
    /// `None` if it depends on the whole motion.
    pub(super) program: Option<Compiled>,
}

/// Programs that are compiled when a motion first needs them, shared by all evaluators of the model.
#[derive(Default)]
pub(super) struct ProgramCache {
    explicit: Mutex<Vec<Arc<ExplicitPrograms>>>,
    derivatives: OnceLock<Option<Derivatives>>,
}

/// The explicit programs for a set of independent rows, for any parameter values.
struct ExplicitPrograms {
    rows: Vec<usize>,
    /// The rate of the motion, and the steps onto φ = 0 and onto φ̇ = 0, ψ = 0.
    acceleration: Option<Compiled>,
    positions: Option<Compiled>,
    velocities: Option<Compiled>,
    step: Mutex<Option<StepProgram>>,
}

/// The explicit programs of one evaluator.
#[derive(Clone)]
pub(super) struct Explicit {
    programs: Arc<ExplicitPrograms>,
    /// The squares of the scales of the rows, then of the control rows, at the start of the motion.
    squares: Vec<f64>,
    acceleration: Option<Compiled>,
    positions: Option<Compiled>,
    velocities: Option<Compiled>,
    step: WholeStep,
}

/// Energies and momenta at a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Energies {
    /// T.
    pub kinetic: f64,
    /// V.
    pub potential: f64,
    /// E = p·q̇ − L.
    pub energy: f64,
    /// p.
    pub momentum: Vec<f64>,
}

impl Evaluator {
    /// Compiles the programs of a motion with the rows of these equations, which are those of the evaluator; false if a
    /// formula contains a symbol without a value.
    pub fn compile_motion(&mut self, equations: &mut Equations) -> bool {
        self.moving = MotionPrograms::compile(equations, &self.jit).map(Box::new);
        self.contact = ContactPrograms::compile(equations, &self.jit).map(Box::new);
        self.set_source(equations);
        let has_contacts = equations.rows.iter().any(|row| row.kind != RowKind::Permanent);
        self.moving.is_some() && (!has_contacts || self.contact.is_some())
    }

    /// An evaluator of the same programs with all rows of the motion.
    pub(crate) fn with_all_rows(&self) -> Evaluator {
        Evaluator { selection: None, ..self.clone() }
    }

    /// An evaluator of the same programs in a contact mode: with the rows that hold, and with the forces of the others. It has
    /// no programs of a motion.
    pub(crate) fn in_contact_mode(&self, holds: &[bool], lambda: &[f64]) -> Evaluator {
        let rows = (0..holds.len()).filter(|&row| holds[row]).collect();
        let selection = Some(Box::new(RowSelection::new(rows, Some(lambda), &self.empty)));
        Evaluator { selection, moving: None, contact: None, source: None, sharp: None, explicit: None, ..self.clone() }
    }

    /// True if the programs of a motion are there.
    pub(crate) fn can_move(&self) -> bool {
        self.moving.is_some()
    }

    /// Sets when programs compiled from now on become machine code.
    pub fn set_jit(&mut self, jit: JitPolicy) {
        self.jit.policy = jit;
    }

    /// The program of the explicit acceleration with its inputs, if it exists. The inputs t, q, q̇ come first and are
    /// to be filled in; values computed from the parameters follow. The first three outputs concern pivots, then come
    /// q̇ and q̈.
    pub fn explicit_program(&self) -> Option<(&zwang_expr::Program, &[f64])> {
        self.explicit.as_ref()?.acceleration.as_ref().map(Compiled::main)
    }

    /// The explicit programs for independent rows, as far as the system admits them.
    fn explicit_programs(&self, rows: &[usize]) -> Arc<ExplicitPrograms> {
        // a poisoned cache is merely rebuilt
        let Ok(mut known) = self.cache.explicit.lock() else { return Arc::new(self.make_explicit(rows)) };
        if let Some(programs) = known.iter().find(|programs| programs.rows == rows) {
            return Arc::clone(programs);
        }
        let made = Arc::new(self.make_explicit(rows));
        known.push(Arc::clone(&made));
        made
    }

    fn make_explicit(&self, rows: &[usize]) -> ExplicitPrograms {
        let none = (None, None, None);
        let (acceleration, positions, velocities) = match self.source.as_ref() {
            Some(source) if self.n_instructions() <= limits::EXPLICIT_INSTRUCTIONS => {
                self.make_explicit_of(source, rows)
            }
            _ => none,
        };
        ExplicitPrograms { rows: rows.to_vec(), acceleration, positions, velocities, step: Mutex::default() }
    }

    fn make_explicit_of(
        &self,
        source: &EquationTerms,
        rows: &[usize],
    ) -> (Option<Compiled>, Option<Compiled>, Option<Compiled>) {
        // the row lengths at the start differ from run to run, so they are inputs
        let n_squares = rows.len() + source.asked.len();
        let names = (1..=n_squares).map(|k| format!("square of scale {k}"));
        let (source, squares) = source.shortened().with_inputs(names);
        let (squares, asked_squares) = squares.split_at(rows.len());
        let compile = |program| Compiled::explicit(program, source.held(), N_PIVOTS, &self.jit);
        let Some(acceleration) = acceleration(&source, rows, squares, asked_squares) else { return (None, None, None) };
        let first = |n_rows: usize| &rows[..rows.partition_point(|&r| r < n_rows)];
        let (positions, velocities) = (&source.positions, &source.velocities);
        let positions = correction(&source, first(positions.len()), positions).map(compile);
        let velocities = correction(&source, first(velocities.len()), velocities).map(compile);
        (Some(compile(acceleration)), positions, velocities)
    }

    /// Sets up the explicit programs with their own storage, for the current parameters.
    fn start_explicit(&mut self, rows: &[usize], scales: &[f64], asked_scales: &[f64]) {
        let programs = self.explicit_programs(rows);
        let mut squares: Vec<f64> = scales.iter().map(|scale| scale * scale).collect();
        squares.resize(rows.len(), 0.0);
        squares.extend(asked_scales.iter().map(|scale| scale * scale));
        let n_asked = self.source.as_ref().map_or(0, |source| source.asked.len());
        squares.resize(rows.len() + n_asked, 0.0);
        let (acceleration, positions, velocities) =
            (programs.acceleration.clone(), programs.positions.clone(), programs.velocities.clone());
        let step = WholeStep::new(self.jit.policy);
        self.explicit = Some(Box::new(Explicit { programs, squares, acceleration, positions, velocities, step }));
        self.hold_parameters();
    }

    /// Stores the expressions from which explicit accelerations and derivatives are compiled.
    pub fn set_source(&mut self, equations: &Equations) {
        let mut source = EquationTerms::new(equations);
        if let Some(moving) = &self.moving {
            moving.add_integrands(&mut source);
        }
        self.graph = source.graph.clone();
        (self.explicit, self.derivatives, self.cache) = (None, None, Arc::default());
        let source = Arc::new(source);
        self.sharp = SharpPrograms::new(&source).map(Box::new);
        self.source = Some(source);
    }

    /// A sharp function of the equations, as text.
    pub(crate) fn sharp_text(&self, function: usize) -> Option<String> {
        self.sharp.as_ref()?.text(function)
    }

    /// The rows that the explicit acceleration uses.
    pub fn explicit_rows(&self) -> Option<&[usize]> {
        self.explicit.as_ref().map(|explicit| explicit.programs.rows.as_slice())
    }

    /// Sets all parameters.
    pub fn set_parameters(&mut self, values: &[f64]) {
        self.parameters.copy_from_slice(values);
        self.hold_parameters();
    }

    /// Passes the parameters to the explicit programs.
    fn hold_parameters(&mut self) {
        let Some(explicit) = self.explicit.as_deref_mut() else { return };
        let Explicit { squares, acceleration, positions, velocities, step, .. } = explicit;
        let held = [&self.parameters[..], squares].concat();
        step.hold(&held);
        [acceleration, positions, velocities].into_iter().flatten().for_each(|program| program.hold(&held));
    }

    /// The current parameter values; an event may have changed them.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The index of the `when` statement of an event; `None` if the event is a switch inside a formula.
    pub fn when(&self, event: usize) -> Option<usize> {
        self.moving.as_ref().and_then(|moving| moving.when(event))
    }

    /// True if the energy may change, so that the work is integrated as the first integral.
    pub fn has_power(&self) -> bool {
        self.moving.as_ref().is_some_and(|moving| moving.has_power)
    }

    /// The constraints and controls whose work is integrated, after the power if there is one.
    pub fn works(&self) -> &[Derived] {
        self.moving.as_ref().map_or(&[], |moving| &moving.works)
    }

    /// φ or ψ of every row as written: positions, then velocities.
    pub fn residuals(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Vec::new() };
        let mut values = moving.positions.run(&self.inputs).to_vec();
        values.extend(&moving.velocities.run(&self.inputs)[moving.n_positions..]);
        if let Some(contact) = &self.contact {
            contact.mask(&mut values);
        }
        values
    }

    /// φ̇ of every row on positions.
    pub fn position_rates(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Vec::new() };
        let mut rates = moving.velocities.run(&self.inputs)[..moving.n_positions].to_vec();
        if let Some(contact) = &self.contact {
            contact.mask_rates(&mut rates);
        }
        rates
    }

    /// The number of instructions of the program of M, Q, A, b.
    pub fn n_instructions(&self) -> usize {
        self.given.n_instructions()
    }

    fn set(&mut self, state: &State) {
        self.set_state(state);
        self.inputs[2 * self.n + 1..].copy_from_slice(&self.parameters);
    }

    fn set_state(&mut self, state: &State) {
        let n = self.n;
        self.inputs[0] = state.t;
        self.inputs[1..=n].copy_from_slice(&state.q);
        self.inputs[n + 1..=2 * n].copy_from_slice(&state.qdot);
    }

    /// Values of expressions of the model at a state; `None` if one contains other symbols than state and parameters,
    /// or is not finite.
    pub fn evaluate(&self, model: &Model, state: &State, exprs: &[Expr]) -> Option<Vec<f64>> {
        // a system may have very many symbols, and these expressions few of them
        let symbols = model.graph.symbols_of(exprs);
        let n = state.q.len();
        let value = |s: &Expr| match self.place.get(s)? {
            0 => Some(state.t),
            k if *k <= n => Some(state.q[k - 1]),
            k if *k <= 2 * n => Some(state.qdot[k - 1 - n]),
            k => Some(self.parameters[k - 1 - 2 * n]),
        };
        let inputs: Vec<f64> = symbols.iter().map(value).collect::<Option<_>>()?;
        let values = Compiled::new(&model.graph, &symbols, exprs)?.run(&inputs).to_vec();
        values.iter().all(|v| v.is_finite()).then_some(values)
    }

    /// Energies and momenta at a state.
    pub fn energies(&mut self, state: &State) -> Result<Energies, MotionError> {
        self.set(state);
        self.energies_of_inputs()
    }

    /// Energies and momenta at a state with other parameter values.
    pub(crate) fn energies_with(&mut self, parameters: &[f64], state: &State) -> Result<Energies, MotionError> {
        self.set_state(state);
        self.inputs[2 * self.n + 1..].copy_from_slice(parameters);
        self.energies_of_inputs()
    }

    fn energies_of_inputs(&mut self) -> Result<Energies, MotionError> {
        let values = self.energies.run(&self.inputs);
        let energies =
            Energies { kinetic: values[0], potential: values[1], energy: values[2], momentum: values[3..].to_vec() };
        if values.iter().all(|v| v.is_finite()) {
            Ok(energies)
        } else {
            Err(self.energies.explain_non_finite(&self.graph, &self.symbols, &self.inputs))
        }
    }

    /// The unit of a coordinate: coordinates of one unit have the same number; none is a pure number, such as an angle.
    pub(crate) fn unit(&self, coordinate: usize) -> Option<usize> {
        self.moving.as_ref().and_then(|moving| moving.units[coordinate])
    }

    /// ε of every control row on positions or velocities, as written.
    pub fn control_errors(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let program = self.controls.as_mut().and_then(|controls| controls.errors.as_mut());
        program.map_or(Vec::new(), |program| program.run(&self.inputs).to_vec())
    }

    /// The power of each control from the force and the powers of the control rows.
    pub fn control_powers(&self, force: &[f64], of_rows: &[f64], qdot: &[f64]) -> Vec<f64> {
        let Some(controls) = &self.controls else { return Vec::new() };
        let whole: f64 = force.iter().zip(qdot).map(|(u, v)| u * v).sum();
        let mut powers = vec![0.0; controls.n_controls];
        controls.powers(of_rows, whole, &mut powers);
        powers
    }

    /// The outputs at a state whose quantities are known; `None` for those that need the whole motion.
    pub fn outputs(&mut self, state: &State, found: &StateQuantities) -> Vec<(String, Option<f64>)> {
        self.set(state);
        let gaussian = found.gaussian;
        let powers = self.control_powers(&found.control_force, &found.control_powers, &state.qdot);
        let mut inputs = self.inputs.clone();
        match &mut self.selection {
            Some(selection) => inputs.extend(selection.lambda(&found.lambda_acting)),
            None => inputs.extend(&found.lambda_acting),
        }
        inputs.extend(&found.qddot);
        inputs.extend(control_values(&self.control_symbols, &found.control_force, &powers));
        let selection = self.selection.as_deref();
        let evaluate = |output: &mut OutputProgram| {
            let is_known = selection.is_none_or(|selection| selection.knows(&output.rows));
            let value = output.program.as_mut().filter(|_| is_known).map(|program| {
                let mut inputs = inputs.clone();
                inputs.resize(program.n_inputs(), gaussian);
                program.run(&inputs)[0]
            });
            (output.name.clone(), value.filter(|v| v.is_finite()))
        };
        self.outputs.iter_mut().map(evaluate).collect()
    }
}

impl Dynamics for Evaluator {
    fn size(&self) -> Size {
        let rows = self.selection.as_ref().map_or(self.empty.constraint_rhs.len(), |selection| selection.rows.len());
        let (position_rows, velocity_rows) =
            self.moving.as_ref().map_or((0, 0), |moving| (moving.n_positions, moving.n_velocities));
        Size { coordinates: self.n, rows, position_rows, velocity_rows }
    }

    fn allocate(&self) -> Given {
        match &self.selection {
            Some(selection) => self.empty.select(&selection.rows),
            None => self.empty.clone(),
        }
    }

    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError> {
        self.set(state);
        let values = self.given.run(&self.inputs);
        let finite = match &mut self.selection {
            Some(selection) => {
                distribute(values, parts_of(&mut selection.all));
                given.copy_selected(&selection.all, &selection.rows);
                given.is_finite()
            }
            None => {
                distribute(values, parts_of(given));
                values.iter().all(|v| v.is_finite())
            }
        };
        if finite { Ok(()) } else { Err(self.given.explain_non_finite(&self.graph, &self.symbols, &self.inputs)) }
    }

    fn fill_residuals(
        &mut self,
        state: &State,
        level: ConstraintLevel,
        residuals: &mut [f64],
    ) -> Result<(), MotionError> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Ok(()) };
        let program = match level {
            ConstraintLevel::Positions => &mut moving.positions,
            ConstraintLevel::Velocities => &mut moving.velocities,
        };
        residuals.copy_from_slice(program.run(&self.inputs));
        match residuals.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(program.explain_non_finite(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    /// In a model without units angles are not known.
    fn units(&self) -> Units<'_> {
        match self.moving.as_ref().filter(|moving| moving.has_units) {
            Some(moving) => Units::Stated(&moving.units),
            None => Units::Unstated,
        }
    }

    #[inline]
    fn explicit_rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        let program = self.explicit.as_mut()?.acceleration.as_mut()?;
        let pivots = program.run_at(t, &y[..2 * self.n], rate);
        least_pivot(pivots)
    }

    fn explicit_step(&mut self, tableau: &'static Tableau, t: f64, h: f64, y: &[f64], k: &mut [f64]) -> bool {
        let Some(Explicit { programs, squares, acceleration: Some(acceleration), step, .. }) =
            self.explicit.as_deref_mut()
        else {
            return false;
        };
        if step.is_due() {
            let held = [&self.parameters[..], squares].concat();
            step.make(&programs.step, (&self.graph, acceleration.whole()), self.n, tableau, &held);
        }
        step.take(tableau, t, h, y, k)
    }

    fn elimination(&mut self) -> Option<&mut dyn Elimination> {
        Some(self)
    }

    fn nonideal(&mut self) -> Option<&mut dyn NonidealForce> {
        let has_force = self.nonideal.is_some() || self.selection.as_ref().is_some_and(|rows| rows.has_force());
        has_force.then_some(self)
    }

    fn control(&mut self) -> Option<&mut dyn ControlEquations> {
        self.controls.is_some().then_some(self)
    }

    fn integrals(&mut self) -> Option<&mut dyn Integrals> {
        (self.n_integrals() > 0).then_some(self)
    }

    fn events(&mut self) -> Option<&mut dyn EventFunctions> {
        (self.n_events() > 0).then_some(self)
    }

    fn sharp_terms(&mut self) -> Option<&mut dyn SharpTerms> {
        self.sharp.is_some().then_some(self)
    }

    fn contacts(&mut self) -> Option<&mut dyn ContactLaws> {
        self.contact.is_some().then_some(self)
    }

    /// Compiles the derivatives when they are first requested.
    fn jacobian(&mut self) -> Option<&mut dyn Jacobians> {
        if self.derivatives.is_none() {
            let source = self.source.as_ref()?;
            let shared = self.cache.derivatives.get_or_init(|| Derivatives::compile(source, &self.jit));
            self.derivatives = shared.clone().map(Box::new);
        }
        self.derivatives.is_some().then_some(self)
    }

    fn legendre(&mut self) -> Option<&mut dyn LegendreData> {
        self.empty_legendre.is_some().then_some(self)
    }
}

impl Elimination for Evaluator {
    /// Keeps the first scales while the rows are the same: they record only the former length of a row.
    fn prepare(&mut self, rows: &[usize], scales: &[f64], control_scales: &[f64]) -> bool {
        if self.explicit_rows() != Some(rows) {
            self.start_explicit(rows, scales, control_scales);
        }
        self.explicit.as_ref().is_some_and(|explicit| explicit.acceleration.is_some())
    }

    fn correct(&mut self, state: &State, level: ConstraintLevel, delta: &mut [f64]) -> bool {
        let Some(explicit) = &mut self.explicit else { return false };
        let program = match level {
            ConstraintLevel::Positions => &mut explicit.positions,
            ConstraintLevel::Velocities => &mut explicit.velocities,
        };
        let Some(program) = program else { return false };
        let inputs = &mut self.inputs[..=2 * self.n];
        inputs[1..=self.n].copy_from_slice(&state.q);
        inputs[self.n + 1..].copy_from_slice(&state.qdot);
        let pivots = program.run_at(state.t, &inputs[1..], delta);
        least_pivot(pivots).is_some()
    }
}

impl NonidealForce for Evaluator {
    #[allow(non_snake_case)]
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        C.fill(0.0);
        if let Some(nonideal) = &mut self.nonideal {
            self.with_lambda.clear();
            self.with_lambda.extend(&self.inputs);
            match &mut self.selection {
                Some(selection) => self.with_lambda.extend(selection.lambda(lambda)),
                None => self.with_lambda.extend(lambda),
            }
            C.copy_from_slice(nonideal.run(&self.with_lambda));
        }
        if let Some(selection) = self.selection.as_mut().filter(|selection| selection.has_force()) {
            distribute(self.given.run(&self.inputs), parts_of(&mut selection.all));
            selection.add_force(C);
        }
        let Some(nonideal) = &mut self.nonideal else { return Ok(()) };
        if C.iter().all(|c| c.is_finite()) {
            Ok(())
        } else {
            Err(nonideal.explain_non_finite(&self.graph, &self.symbols, &self.with_lambda))
        }
    }
}

impl ControlEquations for Evaluator {
    fn allocate_control_rows(&self) -> ControlRows {
        self.controls.as_ref().map_or_else(ControlRows::default, |controls| controls.empty.clone())
    }

    fn fill_control_rows(&mut self, state: &State, asked: &mut ControlRows) -> Result<(), MotionError> {
        self.set(state);
        let Some(controls) = &mut self.controls else { return Ok(()) };
        controls.program.run(&self.inputs);
        let is_finite = controls.distribute(asked);
        if let Some(error) = controls.explain_non_finite() {
            return Err(error);
        }
        match is_finite {
            true => Ok(()),
            false => Err(controls.program.explain_non_finite(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    fn fill_tracked(&mut self, state: &State, level: ConstraintLevel, values: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        let Some(controls) = &mut self.controls else { return Ok(()) };
        let program = match level {
            ConstraintLevel::Positions => &mut controls.positions,
            ConstraintLevel::Velocities => &mut controls.velocities,
        };
        values.copy_from_slice(program.run(&self.inputs));
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(program.explain_non_finite(&self.graph, &self.symbols, &self.inputs)),
        }
    }
}

impl Integrals for Evaluator {
    fn n_integrals(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_integrals())
    }

    fn fill_integrands(&mut self, instant: &Instant, rates: &mut [f64]) -> Result<(), MotionError> {
        if rates.is_empty() {
            return Ok(());
        }
        self.set(&instant.state);
        if let Some(controls) = &self.controls {
            let whole: f64 = instant.control_force.iter().zip(&instant.state.qdot).map(|(u, v)| u * v).sum();
            self.powers.resize(controls.n_controls, 0.0);
            controls.powers(&instant.control_powers, whole, &mut self.powers);
        }
        if let Some(moving) = &mut self.moving {
            moving.rates(&self.inputs, instant, &self.powers, rates);
        }
        match rates.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(MotionError::NotFinite { what: "the power".into() }),
        }
    }
}

impl EventFunctions for Evaluator {
    fn n_events(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_events)
    }

    fn n_conditions(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_conditions())
    }

    fn is_strict(&self, condition: usize) -> bool {
        self.moving.as_ref().is_some_and(|moving| moving.is_strict(condition))
    }

    fn fill_condition_rates(&mut self, instant: &Instant, speeds: &[f64], rates: &mut [ConditionRate]) {
        self.set(&instant.state);
        if let Some(moving) = &mut self.moving {
            moving.condition_rates(&self.inputs, &instant.qddot, speeds, rates);
        }
    }

    fn fill_events(&mut self, state: &State, values: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        if let Some(moving) = &mut self.moving {
            moving.events(&self.inputs, values);
        }
        Ok(())
    }

    fn apply_event(&mut self, event: usize, upwards: bool, state: &mut State) -> Result<Reaction, MotionError> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Ok(Reaction::Ignore) };
        let reaction = moving.apply_event(event, upwards, &self.inputs, state, &mut self.parameters)?;
        self.hold_parameters();
        Ok(reaction)
    }
}

impl SharpTerms for Evaluator {
    fn argument_inputs(&self) -> &[usize] {
        self.sharp.as_ref().map_or(&[], |sharp| sharp.inputs())
    }

    fn find_untamed(&mut self, inputs: &[Enclosure], terms: &mut Vec<usize>) {
        if let Some(sharp) = &mut self.sharp {
            sharp.find_untamed(inputs, &self.parameters, terms);
        }
    }

    fn function_of(&self, term: usize) -> usize {
        self.sharp.as_ref().map_or(0, |sharp| sharp.term(term).function)
    }

    fn entry(&self, term: usize) -> TermEntry {
        self.sharp.as_ref().map_or(TermEntry::Force(0), |sharp| sharp.term(term).entry)
    }

    fn inputs_of(&self, term: usize) -> &[usize] {
        self.sharp.as_ref().map_or(&[], |sharp| sharp.term(term).inputs())
    }

    fn value(&mut self, term: usize, inputs: &[f64]) -> f64 {
        self.sharp.as_mut().map_or(0.0, |sharp| sharp.term_mut(term).value(inputs, &self.parameters))
    }

    fn enclose(&mut self, term: usize, inputs: &[Enclosure]) -> Enclosure {
        let sharp = self.sharp.as_mut();
        sharp.map_or(Enclosure::default(), |sharp| sharp.term_mut(term).enclose(inputs, &self.parameters))
    }
}

impl ContactLaws for Evaluator {
    fn contact_rows(&self) -> Vec<Contact> {
        self.contact.as_ref().map_or(Vec::new(), |contact| contact.contacts.clone())
    }

    fn frictions(&self) -> Vec<Friction> {
        self.contact.as_ref().map_or(Vec::new(), |contact| contact.frictions.clone())
    }

    fn fill_restitutions(&mut self, state: &State, restitutions: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        match &mut self.contact {
            Some(contact) => contact.restitutions(&self.inputs, restitutions),
            None => Ok(()),
        }
    }

    fn fill_friction_laws(&mut self, state: &State, laws: &mut [Coulomb]) -> Result<(), MotionError> {
        self.set(state);
        match &mut self.contact {
            Some(contact) => contact.roughness(&self.inputs, laws),
            None => Ok(()),
        }
    }
}

impl Jacobians for Evaluator {
    fn allocate_jacobian(&self) -> Jacobian {
        self.derivatives.as_ref().map_or_else(Jacobian::default, |derivatives| derivatives.empty.clone())
    }

    fn fill_jacobian(&mut self, instant: &Instant, jacobian: &mut Jacobian) -> Result<(), MotionError> {
        self.set(&instant.state);
        let Some(Derivatives { program, graph, inputs, .. }) = self.derivatives.as_deref_mut() else { return Ok(()) };
        inputs.clear();
        inputs.extend(self.inputs.iter().chain(&instant.lambda_ideal).chain(&instant.lambda).chain(&instant.qddot));
        let values = program.run(inputs);
        let finite = values.iter().all(|v| v.is_finite());
        distribute(
            values,
            [
                &mut jacobian.force_by_q.value,
                &mut jacobian.force_by_qdot.value,
                &mut jacobian.rows_by_q.value,
                &mut jacobian.rows_by_qdot.value,
                &mut jacobian.nonideal_by_q.value,
                &mut jacobian.nonideal_by_qdot.value,
                &mut jacobian.nonideal_by_lambda.value,
            ],
        );
        if finite { Ok(()) } else { Err(program.explain_non_finite(graph, &self.symbols, inputs)) }
    }
}

impl LegendreData for Evaluator {
    fn allocate_legendre(&self) -> Legendre {
        self.empty_legendre.clone().unwrap_or_default()
    }

    fn fill_legendre(&mut self, state: &State, legendre: &mut Legendre) -> Result<(), MotionError> {
        self.set(state);
        let Some(compiled) = &mut self.legendre else { return Err(MotionError::NoLegendre) };
        let values = compiled.run(&self.inputs);
        let finite = values.iter().all(|v| v.is_finite());
        distribute(
            values,
            [
                &mut legendre.momentum,
                &mut legendre.momentum_by_q.value,
                &mut legendre.momentum_by_t,
                &mut legendre.energy_by_q,
                &mut legendre.energy_by_qdot,
                &mut legendre.force,
            ],
        );
        if finite { Ok(()) } else { Err(compiled.explain_non_finite(&self.graph, &self.symbols, &self.inputs)) }
    }

    fn is_natural(&self) -> bool {
        self.moving.as_ref().is_none_or(|moving| moving.is_natural)
    }
}

/// M, Q, A and b in the order of their program.
fn parts_of(given: &mut Given) -> [&mut Vec<f64>; 4] {
    let Given { mass_matrix, given_force, constraint_matrix, constraint_rhs } = given;
    [&mut mass_matrix.value, given_force, &mut constraint_matrix.value, constraint_rhs]
}

/// Copies values into parts, one after the other.
fn distribute<const N: usize>(mut values: &[f64], parts: [&mut Vec<f64>; N]) {
    for part in parts {
        let (head, tail) = values.split_at(part.len());
        part.copy_from_slice(head);
        values = tail;
    }
}
