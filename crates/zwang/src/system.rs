//! Equations compiled and given parameter values: numbers at any state.

mod compile;

use rustc_hash::FxHashMap;
use std::sync::Arc;
use zwang_expr::{Expr, Graph};
use zwang_motion::{
    Asked, Contact, Dynamics, Found, Friction, Given, Instant, Jacobian, Legendre, MotionError, Reaction, Roughness,
    State, Tableau,
};

use crate::compiled::{Coding, Compiled};
use crate::control::{Controls, control_values};
use crate::equations::Equations;
use crate::explicit::{LONGEST, N_PIVOTS, acceleration, correction, least_pivot};
use crate::model::{Derived, Model};
use crate::moving::{Derivatives, Moving, Source};
use crate::one_sided::OneSided;
use crate::step::Step;

/// The compiled equations of one model with its parameter values.
pub struct System {
    n: usize,
    inputs: Vec<f64>,
    with_lambda: Vec<f64>,
    parameters: Vec<f64>,
    given: Compiled,
    energies: Compiled,
    nonideal: Option<Compiled>,
    controls: Option<Controls>,
    /// The symbols of control forces and powers in outputs.
    control_symbols: Vec<(Expr, Derived)>,
    /// The power of each control, while the motion is under way.
    powers: Vec<f64>,
    legendre: Option<Compiled>,
    outputs: Vec<(String, Option<Compiled>)>,
    empty: Given,
    empty_legendre: Option<Legendre>,
    /// t, q, q̇ and the parameters, with the graph they live in: for messages.
    symbols: Vec<Expr>,
    /// Where each of them stands.
    place: FxHashMap<Expr, usize>,
    graph: Arc<Graph>,
    /// What only a moving system needs.
    moving: Option<Box<Moving>>,
    /// The rows that hold only at times.
    one_sided: Option<Box<OneSided>>,
    /// What each event and impact changed.
    jumps: Vec<Jump>,
    /// Energies before the event under way, and whether that is an impact.
    before: Option<(Energies, bool)>,
    source: Option<Source>,
    derivatives: Option<Box<Derivatives>>,
    coding: Coding,
    explicit: Option<Box<Explicit>>,
}

/// What is computed explicitly, for rows known to be independent.
struct Explicit {
    rows: Vec<usize>,
    /// The rate of the motion, and the steps onto φ = 0 and onto φ̇ = 0, ψ = 0.
    acceleration: Option<Compiled>,
    positions: Option<Compiled>,
    velocities: Option<Compiled>,
    step: Step,
}

/// A sudden change of the energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// Before it.
    pub before: Energies,
    /// After it.
    pub after: Energies,
    /// Whether a contact was struck; else an event has changed something.
    pub is_impact: bool,
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

impl System {
    /// Compiles what a motion needs; false if something contains a symbol without a value.
    pub fn prepare_motion(&mut self, equations: &mut Equations) -> bool {
        self.moving = Moving::compile(equations, self.coding).map(Box::new);
        self.one_sided = OneSided::compile(equations, self.coding).map(Box::new);
        self.set_source(equations);
        self.moving.is_some() && (equations.n_always.is_none() || self.one_sided.is_some())
    }

    /// When programs become machine code.
    pub(crate) fn coding(&self) -> Coding {
        self.coding
    }

    /// Decides when programs that are made from now on become machine code.
    pub fn set_coding(&mut self, coding: Coding) {
        self.coding = coding;
    }

    /// The program of the explicit acceleration with its inputs, if there is one: t, q, q̇ come first, to be filled in, and
    /// what the parameters give follows; three numbers about pivots come out first, then q̇ and q̈.
    pub fn explicit_program(&self) -> Option<(&zwang_expr::Program, &[f64])> {
        self.explicit.as_ref()?.acceleration.as_ref().map(Compiled::main)
    }

    /// The explicit programs for independent rows, as far as the system allows for them.
    fn make_explicit(&self, rows: &[usize], scales: &[f64], asked_scales: &[f64]) -> Explicit {
        let step = Step::new(self.coding);
        let mut explicit =
            Explicit { rows: rows.to_vec(), acceleration: None, positions: None, velocities: None, step };
        let Some(source) = self.source.as_ref().filter(|_| self.n_instructions() <= LONGEST) else { return explicit };
        let source = source.shortened();
        let held = source.held();
        let compile = |program| {
            let mut compiled = Compiled::explicit(program, held.clone(), N_PIVOTS, self.coding);
            compiled.hold(&self.parameters);
            compiled
        };
        explicit.acceleration = acceleration(&source, rows, scales, asked_scales).map(compile);
        if explicit.acceleration.is_some() {
            let first = |n_rows: usize| &rows[..rows.partition_point(|&r| r < n_rows)];
            let (positions, velocities) = (&source.positions, &source.velocities);
            explicit.positions = correction(&source, first(positions.len()), positions).map(compile);
            explicit.velocities = correction(&source, first(velocities.len()), velocities).map(compile);
        }
        explicit
    }

    /// Keeps the expressions that explicit accelerations and derivatives are made of.
    pub fn set_source(&mut self, equations: &Equations) {
        let mut source = Source::new(equations);
        if let Some(moving) = &self.moving {
            moving.tell(&mut source);
        }
        self.graph = source.graph.clone();
        (self.explicit, self.derivatives) = (None, None);
        self.source = Some(source);
    }

    /// The rows the explicit acceleration is made of.
    pub fn explicit_rows(&self) -> Option<&[usize]> {
        self.explicit.as_ref().map(|explicit| explicit.rows.as_slice())
    }

    /// Sets all parameters.
    pub fn set_parameters(&mut self, values: &[f64]) {
        self.parameters.copy_from_slice(values);
        self.hold_parameters();
    }

    /// Lets the explicit programs know the parameters.
    fn hold_parameters(&mut self) {
        let Some(Explicit { acceleration, positions, velocities, step, .. }) = self.explicit.as_deref_mut() else {
            return;
        };
        step.hold(&self.parameters);
        [acceleration, positions, velocities].into_iter().flatten().for_each(|program| program.hold(&self.parameters));
    }

    /// The parameter values now; an event may have changed them.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Which `when` statement an event is; none if it is a switch inside a formula.
    pub fn when(&self, event: usize) -> Option<usize> {
        self.moving.as_ref().and_then(|moving| moving.when(event))
    }

    /// Whether the energy is expected to change, so that the work is integrated as the first integral.
    pub fn has_power(&self) -> bool {
        self.moving.as_ref().is_some_and(|moving| moving.has_power)
    }

    /// The constraints and controls whose work is integrated, after the power if there is one.
    pub fn works(&self) -> &[Derived] {
        self.moving.as_ref().map_or(&[], |moving| &moving.works)
    }

    /// Takes what events and impacts have changed since the last call.
    pub fn take_jumps(&mut self) -> Vec<Jump> {
        std::mem::take(&mut self.jumps)
    }

    /// φ, φ̇ or ψ of every row as written: positions, then velocities.
    pub fn residuals(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Vec::new() };
        let mut values = moving.positions.run(&self.inputs).to_vec();
        values.extend(&moving.velocities.run(&self.inputs)[moving.n_positions..]);
        if let Some(one_sided) = &self.one_sided {
            one_sided.mask(&mut values);
        }
        values
    }

    /// φ̇ of every row on positions.
    pub fn position_rates(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Vec::new() };
        let mut rates = moving.velocities.run(&self.inputs)[..moving.n_positions].to_vec();
        if let Some(one_sided) = &self.one_sided {
            one_sided.mask_rates(&mut rates);
        }
        rates
    }

    /// How many instructions give M, Q, A, b.
    pub fn n_instructions(&self) -> usize {
        self.given.n_instructions()
    }

    fn set(&mut self, state: &State) {
        let n = self.n;
        self.inputs[0] = state.t;
        self.inputs[1..=n].copy_from_slice(&state.q);
        self.inputs[n + 1..=2 * n].copy_from_slice(&state.qdot);
        self.inputs[2 * n + 1..].copy_from_slice(&self.parameters);
    }

    /// Values of expressions of the model at a state; none if one contains more than state and parameters, or is not
    /// finite.
    pub fn evaluate(&self, model: &Model, state: &State, exprs: &[Expr]) -> Option<Vec<f64>> {
        // a system may have very many symbols, and these expressions few
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
        let values = self.energies.run(&self.inputs);
        let energies =
            Energies { kinetic: values[0], potential: values[1], energy: values[2], momentum: values[3..].to_vec() };
        if values.iter().all(|v| v.is_finite()) {
            Ok(energies)
        } else {
            Err(self.energies.trouble(&self.graph, &self.symbols, &self.inputs))
        }
    }

    /// ε of every asked row on positions or velocities, as written.
    pub fn control_errors(&mut self, state: &State) -> Vec<f64> {
        self.set(state);
        let program = self.controls.as_mut().and_then(|controls| controls.errors.as_mut());
        program.map_or(Vec::new(), |program| program.run(&self.inputs).to_vec())
    }

    /// The power of each control: the force and the shares of what is asked are known.
    pub fn control_powers(&self, force: &[f64], of_rows: &[f64], qdot: &[f64]) -> Vec<f64> {
        let Some(controls) = &self.controls else { return Vec::new() };
        let whole: f64 = force.iter().zip(qdot).map(|(u, v)| u * v).sum();
        let mut powers = vec![0.0; controls.n_controls];
        controls.powers(of_rows, whole, &mut powers);
        powers
    }

    /// The outputs at a state once the motion there is known; none for those that need the whole motion.
    pub fn outputs(&mut self, state: &State, found: &Found) -> Vec<(String, Option<f64>)> {
        self.set(state);
        let gaussian = found.gaussian;
        let powers = self.control_powers(&found.control_force, &found.control_powers, &state.qdot);
        let mut inputs = self.inputs.clone();
        inputs.extend(found.lambda_acting.iter().chain(&found.qddot));
        inputs.extend(control_values(&self.control_symbols, &found.control_force, &powers));
        let evaluate = |(name, compiled): &mut (String, Option<Compiled>)| {
            let value = compiled.as_mut().map(|c| {
                let mut inputs = inputs.clone();
                inputs.resize(c.n_inputs(), gaussian);
                c.run(&inputs)[0]
            });
            (name.clone(), value.filter(|v| v.is_finite()))
        };
        self.outputs.iter_mut().map(evaluate).collect()
    }
}

impl Dynamics for System {
    fn n_coordinates(&self) -> usize {
        self.n
    }

    fn n_rows(&self) -> usize {
        self.empty.constraint_rhs.len()
    }

    fn allocate(&self) -> Given {
        self.empty.clone()
    }

    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError> {
        self.set(state);
        let values = self.given.run(&self.inputs);
        let finite = values.iter().all(|v| v.is_finite());
        distribute(
            values,
            [
                &mut given.mass_matrix.value,
                &mut given.given_force,
                &mut given.constraint_matrix.value,
                &mut given.constraint_rhs,
            ],
        );
        if finite { Ok(()) } else { Err(self.given.trouble(&self.graph, &self.symbols, &self.inputs)) }
    }

    fn has_nonideal(&self) -> bool {
        self.nonideal.is_some()
    }

    #[allow(non_snake_case)]
    fn fill_nonideal(&mut self, state: &State, lambda: &[f64], C: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        let Some(nonideal) = &mut self.nonideal else {
            C.fill(0.0);
            return Ok(());
        };
        self.with_lambda.clear();
        self.with_lambda.extend(self.inputs.iter().chain(lambda));
        self.with_lambda.resize(nonideal.n_inputs(), 0.0);
        C.copy_from_slice(nonideal.run(&self.with_lambda));
        if C.iter().all(|c| c.is_finite()) {
            Ok(())
        } else {
            Err(nonideal.trouble(&self.graph, &self.symbols, &self.with_lambda))
        }
    }

    fn allocate_asked(&self) -> Option<Asked> {
        self.controls.as_ref().map(|controls| controls.empty.clone())
    }

    fn fill_asked(&mut self, state: &State, asked: &mut Asked) -> Result<(), MotionError> {
        self.set(state);
        let Some(controls) = &mut self.controls else { return Ok(()) };
        controls.program.run(&self.inputs);
        let is_finite = controls.distribute(asked);
        if let Some(error) = controls.trouble() {
            return Err(error);
        }
        match is_finite {
            true => Ok(()),
            false => Err(controls.program.trouble(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    fn fill_held(&mut self, state: &State, on_positions: bool, values: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        let Some(controls) = &mut self.controls else { return Ok(()) };
        let program = if on_positions { &mut controls.positions } else { &mut controls.velocities };
        values.copy_from_slice(program.run(&self.inputs));
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(program.trouble(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    /// The scales of the first time stay while the rows are the same: they only say how long a row once was.
    fn specialize(&mut self, rows: &[usize], scales: &[f64], asked_scales: &[f64]) -> bool {
        if self.explicit.as_ref().is_none_or(|explicit| explicit.rows != rows) {
            self.explicit = Some(Box::new(self.make_explicit(rows, scales, asked_scales)));
        }
        self.explicit.as_ref().is_some_and(|explicit| explicit.acceleration.is_some())
    }

    #[inline]
    fn accelerate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        let program = self.explicit.as_mut()?.acceleration.as_mut()?;
        let pivots = program.run_at(t, &y[..2 * self.n], rate);
        least_pivot(pivots)
    }

    fn step(&mut self, tableau: &'static Tableau, t: f64, h: f64, y: &[f64], k: &mut [f64]) -> bool {
        let Some(Explicit { acceleration: Some(acceleration), step, .. }) = self.explicit.as_deref_mut() else {
            return false;
        };
        if step.is_due() {
            step.make((&self.graph, acceleration.whole()), self.n, tableau, &self.parameters);
        }
        step.take(tableau, t, h, y, k)
    }

    fn correct(&mut self, state: &State, on_positions: bool, delta: &mut [f64]) -> bool {
        let Some(explicit) = &mut self.explicit else { return false };
        let program = if on_positions { &mut explicit.positions } else { &mut explicit.velocities };
        let Some(program) = program else { return false };
        let inputs = &mut self.inputs[..=2 * self.n];
        inputs[1..=self.n].copy_from_slice(&state.q);
        inputs[self.n + 1..].copy_from_slice(&state.qdot);
        let pivots = program.run_at(state.t, &inputs[1..], delta);
        least_pivot(pivots).is_some()
    }

    fn n_position_rows(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_positions)
    }

    fn n_velocity_rows(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_velocities)
    }

    fn fill_positions(&mut self, state: &State, phi: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Ok(()) };
        phi.copy_from_slice(moving.positions.run(&self.inputs));
        match phi.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(moving.positions.trouble(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    fn fill_velocities(&mut self, state: &State, psi: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        let Some(moving) = &mut self.moving else { return Ok(()) };
        psi.copy_from_slice(moving.velocities.run(&self.inputs));
        match psi.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(moving.velocities.trouble(&self.graph, &self.symbols, &self.inputs)),
        }
    }

    fn unit(&self, coordinate: usize) -> Option<usize> {
        self.moving.as_ref().and_then(|moving| moving.units[coordinate])
    }

    /// 1 for angles; in a model without units nothing is known to be an angle, and the start tells the size.
    fn natural_size(&self, start: &State) -> f64 {
        let has_units = self.moving.as_ref().is_some_and(|moving| moving.has_units);
        match start.q.iter().fold(0.0, |top: f64, q| top.max(q.abs())) {
            size if size > 0.0 && !has_units => size,
            _ => 1.0,
        }
    }

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

    fn n_events(&self) -> usize {
        self.moving.as_ref().map_or(0, |moving| moving.n_events)
    }

    fn fill_events(&mut self, state: &State, values: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        if let Some(moving) = &mut self.moving {
            moving.events(&self.inputs, values);
        }
        Ok(())
    }

    fn fire(&mut self, event: usize, upwards: bool, state: &mut State) -> Result<Reaction, MotionError> {
        let before = match self.before.take() {
            Some(before) => before,
            None => (self.energies(state)?, false),
        };
        self.set(state);
        let Some(moving) = &mut self.moving else { return Ok(Reaction::Ignore) };
        let reaction = moving.fire(event, upwards, &self.inputs, state, &mut self.parameters)?;
        self.hold_parameters();
        // what changes nothing is followed by no landing
        self.before = (reaction == Reaction::Change).then_some(before);
        Ok(reaction)
    }

    fn landed(&mut self, state: &State) -> Result<(), MotionError> {
        if let Some((before, is_impact)) = self.before.take() {
            let after = self.energies(state)?;
            self.jumps.push(Jump { before, after, is_impact });
        }
        Ok(())
    }

    fn contacts(&self) -> Vec<Contact> {
        self.one_sided.as_ref().map_or(Vec::new(), |one_sided| one_sided.contacts.clone())
    }

    fn fill_restitutions(&mut self, state: &State, restitutions: &mut [f64]) -> Result<(), MotionError> {
        self.set(state);
        match &mut self.one_sided {
            Some(one_sided) => one_sided.restitutions(&self.inputs, restitutions),
            None => Ok(()),
        }
    }

    fn frictions(&self) -> Vec<Friction> {
        self.one_sided.as_ref().map_or(Vec::new(), |one_sided| one_sided.frictions.clone())
    }

    fn fill_roughness(&mut self, state: &State, roughness: &mut [Roughness]) -> Result<(), MotionError> {
        self.set(state);
        match &mut self.one_sided {
            Some(one_sided) => one_sided.roughness(&self.inputs, roughness),
            None => Ok(()),
        }
    }

    fn struck(&mut self, state: &State) -> Result<(), MotionError> {
        self.before = Some((self.energies(state)?, true));
        Ok(())
    }

    fn is_natural(&self) -> bool {
        self.moving.as_ref().is_none_or(|moving| moving.is_natural)
    }

    fn allocate_jacobian(&mut self) -> Option<Jacobian> {
        if self.derivatives.is_none() {
            self.derivatives = Derivatives::compile(self.source.as_ref()?, self.coding).map(Box::new);
        }
        self.derivatives.as_ref().map(|derivatives| derivatives.empty.clone())
    }

    fn fill_jacobian(&mut self, instant: &Instant, jacobian: &mut Jacobian) -> Result<(), MotionError> {
        self.set(&instant.state);
        let Some(Derivatives { program, graph, inputs, .. }) = self.derivatives.as_deref_mut() else { return Ok(()) };
        inputs.clear();
        inputs.extend(self.inputs.iter().chain(&instant.lambda).chain(&instant.qddot));
        let values = program.run(inputs);
        let finite = values.iter().all(|v| v.is_finite());
        distribute(
            values,
            [
                &mut jacobian.force_by_q.value,
                &mut jacobian.force_by_qdot.value,
                &mut jacobian.rows_by_q.value,
                &mut jacobian.rows_by_qdot.value,
            ],
        );
        if finite { Ok(()) } else { Err(program.trouble(graph, &self.symbols, inputs)) }
    }

    fn allocate_legendre(&self) -> Option<Legendre> {
        self.empty_legendre.clone()
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
        if finite { Ok(()) } else { Err(compiled.trouble(&self.graph, &self.symbols, &self.inputs)) }
    }
}

/// Copies values into parts, one after the other.
fn distribute<const N: usize>(mut values: &[f64], parts: [&mut Vec<f64>; N]) {
    for part in parts {
        let (head, tail) = values.split_at(part.len());
        part.copy_from_slice(head);
        values = tail;
    }
}
