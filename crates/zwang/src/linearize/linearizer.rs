//! The equations and their derivatives at one state after another.

#![allow(non_snake_case)]

use zwang_expr::Expr;
use zwang_motion::{
    Dynamics, Given, Instant, Jacobian, Jacobians, MotionError, RouteSolution, Settings, Snapshot, State, route,
};

use crate::analysis::dot;
use crate::compile::program::Compiled;
use crate::equations::switches::switches;
use crate::linearize::MotionKind;
use crate::linearize::echelon::{Echelon, shortest};
use crate::linearize::ideal_multipliers::{IdealMultipliers, times};
use crate::linearize::integral_manifold::IntegralManifold;
use crate::model::Level;
use crate::{analysis::check::Check, tolerance};

/// Variations that satisfy the constraints: (δq, δq̇) for each free position, then for each free velocity.
pub(super) struct VariationBasis {
    pub(super) positions: Vec<usize>,
    pub(super) velocities: Vec<usize>,
    pub(super) basis: Vec<(Vec<f64>, Vec<f64>)>,
}

impl VariationBasis {
    /// δq for changes of the free positions.
    pub(super) fn moved(&self, x: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.basis.first().map_or(0, |(dq, _)| dq.len())];
        for (x, (dq, _)) in x.iter().zip(&self.basis) {
            sum.iter_mut().zip(dq).for_each(|(s, d)| *s += x * d);
        }
        sum
    }
}

/// The equations and their derivatives at a state.
pub(super) struct Linearizer<'s> {
    pub(super) settings: &'s Settings,
    pub(super) snapshot: Snapshot,
    jacobian: Jacobian,
    /// The change of the multipliers that nonideal laws contain; `None` if none does.
    ideal: Option<IdealMultipliers>,
    /// `true` if the Jacobian is finite at this state.
    is_smooth: bool,
    route: Box<dyn zwang_motion::Route>,
    /// ∂φ/∂q; then ∂/∂q̇ and ∂/∂q of φ̇ and ψ, row by row; `None` if a symbol has no value.
    gradients: [Option<Compiled>; 3],
    /// The positions that the motion can reach.
    pub(super) leaf: IntegralManifold,
    /// Expressions whose sign change switches a formula.
    pub(super) switches: Vec<Expr>,
}

impl<'s> Linearizer<'s> {
    pub(super) fn new(check: &mut Check, settings: &'s Settings) -> Linearizer<'s> {
        let leaf = IntegralManifold::new(check);
        let equations = &mut check.equations;
        let model = &mut equations.model;
        let positions: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
        let velocities: Vec<Expr> = model.coordinates.iter().map(|c| c.qdot).collect();
        let symbols = model.state_symbols();
        let mut gradient = |exprs: &[Expr], by: &[Expr]| -> Option<Compiled> {
            let entry = |(&e, &s): (&Expr, &Expr)| model.graph.derivative(e, s);
            let all: Vec<Expr> = exprs.iter().flat_map(|e| by.iter().map(move |s| (e, s))).map(entry).collect();
            Compiled::new(&model.graph, &symbols, &all)
        };
        let rows = &equations.rows;
        let mut stated: Vec<Expr> = rows.iter().filter(|r| r.level == Level::Position).map(|r| r.residual).collect();
        stated.extend_from_slice(&leaf.functions);
        let rates: Vec<Expr> = rows.iter().filter_map(|r| r.rate).collect();
        let gradients = [gradient(&stated, &positions), gradient(&rates, &velocities), gradient(&rates, &positions)];
        let formulas = equations.formulas();
        let switches = switches(&mut equations.model.graph, &formulas);
        check.system.set_source(&check.equations);
        let jacobian = check.system.jacobian().map(|formulas| formulas.allocate_jacobian()).unwrap_or_default();
        let route = route(check.route, settings);
        Linearizer {
            settings,
            snapshot: Snapshot::new(&mut check.system),
            jacobian,
            ideal: None,
            is_smooth: true,
            route,
            gradients,
            leaf,
            switches,
        }
    }

    /// The state projected onto the integral manifold and brought to rest; `None` if the constraints forbid that.
    pub(super) fn at_rest(&mut self, check: &Check, state: State) -> Option<State> {
        self.leaf.at_rest(check, state, self.settings)
    }

    /// Evaluates all quantities at a state.
    pub(super) fn look(&mut self, check: &mut Check, state: &State) -> Result<(), MotionError> {
        self.snapshot.take(&mut check.system, state, &mut *self.route, self.settings)?;
        let found = &self.snapshot.found;
        let instant = Instant {
            state: state.clone(),
            qddot: found.qddot.clone(),
            lambda_ideal: found.lambda.clone(),
            lambda: found.lambda_acting.clone(),
            nonideal_force: found.nonideal_force.clone(),
            control_force: found.control_force.clone(),
            control_powers: found.control_powers.clone(),
            integrals: Vec::new(),
        };
        let Linearizer { snapshot, jacobian, route, .. } = self;
        let filled = check.system.fill_jacobian(&instant, jacobian);
        let filled = filled.and_then(|()| IdealMultipliers::new(&mut check.system, snapshot, &mut **route, jacobian));
        self.is_smooth = match filled {
            Ok(ideal) => {
                self.ideal = ideal;
                true
            }
            // |v| v at rest: the derivative exists, although its formula divides zero by zero
            Err(MotionError::NotFinite { .. }) => false,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The largest acceleration at the state.
    pub(super) fn push(&self) -> f64 {
        self.snapshot.found.qddot.iter().fold(0.0, |top, x| top.max(x.abs()))
    }

    pub(super) fn place(&self, state: &State) -> MotionKind {
        let free = self.snapshot.found.unconstrained_acceleration.iter().fold(0.0_f64, |top, a| top.max(a.abs()));
        let speed = state.qdot.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
        match self.push() <= tolerance::EVALUATED * (free + speed).max(1.0) {
            true if speed == 0.0 => MotionKind::Equilibrium,
            true => MotionKind::Steady,
            false => MotionKind::Passing,
        }
    }

    /// δq̈ by central differences, in which all even terms cancel, the departure from the constraints included; with
    /// two step lengths, so that |v| v cancels as well.
    fn difference(&mut self, check: &mut Check, dq: &[f64], dv: &[f64]) -> Result<Vec<f64>, MotionError> {
        let mut at = |part: f64| self.beside(check, dq, dv, part * tolerance::CURVED_STEP);
        let [far, near] = [(at(1.0)?, at(-1.0)?), (at(0.5)?, at(-0.5)?)];
        let slope =
            |(after, before): &(Vec<f64>, Vec<f64>), i: usize| (after[i] - before[i]) / (2.0 * tolerance::CURVED_STEP);
        Ok((0..dq.len()).map(|i| 2.0 * (2.0 * slope(&near, i)) - slope(&far, i)).collect())
    }

    /// q̈ at the state plus `part` times a variation.
    pub(super) fn beside(
        &mut self,
        check: &mut Check,
        dq: &[f64],
        dv: &[f64],
        part: f64,
    ) -> Result<Vec<f64>, MotionError> {
        let here = &self.snapshot.state;
        let moved = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + part * d).collect();
        let state = State { t: here.t, q: moved(&here.q, dq), qdot: moved(&here.qdot, dv) };
        // a straight line leaves the constraints, and redundant rows then differ slightly
        let loose = Settings { contradiction_tolerance: tolerance::DISTINCT, ..self.settings.clone() };
        let mut snapshot = Snapshot::new(&mut check.system);
        snapshot.take(&mut check.system, &state, &mut *self.route, &loose)?;
        Ok(snapshot.found.qddot.clone())
    }

    /// δq̈ for a variation that satisfies the constraints.
    pub(super) fn derivative(&mut self, check: &mut Check, dq: &[f64], dv: &[f64]) -> Result<Vec<f64>, MotionError> {
        if !self.is_smooth {
            return self.difference(check, dq, dv);
        }
        let Linearizer { jacobian, ideal, route, .. } = self;
        let given = &self.snapshot.given;
        let mut force = times(&jacobian.force_by_q, &jacobian.force_by_qdot, dq, dv);
        // δC = ∂C/∂q δq + ∂C/∂q̇ δq̇ + ∂C/∂λ δλ
        let nonideal = times(&jacobian.nonideal_by_q, &jacobian.nonideal_by_qdot, dq, dv);
        force.iter_mut().zip(&nonideal).for_each(|(f, c)| *f += c);
        if let Some(ideal) = ideal {
            let change = ideal.change(given, &mut **route, (dq, dv))?;
            let by_lambda = &jacobian.nonideal_by_lambda;
            force.iter_mut().enumerate().for_each(|(i, f)| *f += by_lambda.row_times(i, &change));
        }
        let problem = Given {
            mass_matrix: given.mass_matrix.clone(),
            constraint_matrix: given.constraint_matrix.clone(),
            given_force: force,
            constraint_rhs: times(&jacobian.rows_by_q, &jacobian.rows_by_qdot, dq, dv),
        };
        let mut solution = RouteSolution::default();
        self.route.solve(&problem, None, &[], &mut solution)?;
        Ok(solution.qddot)
    }

    /// The derivatives of the free accelerations by the free positions, row by row.
    pub(super) fn slope(&mut self, check: &mut Check, space: &VariationBasis) -> Option<Vec<f64>> {
        let (p, k) = (space.positions.len(), space.velocities.len());
        let mut slope = vec![0.0; k * p];
        for column in 0..p {
            let (dq, dv) = &space.basis[column];
            let change = self.derivative(check, dq, dv).ok()?;
            (0..k).for_each(|row| slope[row * p + column] = change[space.velocities[row]]);
        }
        Some(slope)
    }

    /// The change of the positions after which the acceleration should vanish, as far as the free positions allow.
    pub(super) fn newton_step(&mut self, check: &mut Check, state: &State) -> Option<Vec<f64>> {
        let space = self.space(check, state);
        let slope = self.slope(check, &space)?;
        let push: Vec<f64> = space.velocities.iter().map(|&j| -self.snapshot.found.qddot[j]).collect();
        let x = shortest(&slope, space.positions.len(), &push)?;
        let step = space.moved(&x);
        step.iter().all(|x| x.is_finite()).then_some(step)
    }

    /// Orthonormal directions in which the positions can change and the acceleration, to first order, does not.
    pub(super) fn free_directions(&mut self, check: &mut Check, state: &State) -> Option<Vec<Vec<f64>>> {
        let space = self.space(check, state);
        let slope = self.slope(check, &space)?;
        let p = space.positions.len();
        let mut rows = Echelon::new(slope.chunks(p.max(1)).map(<[f64]>::to_vec).collect());
        rows.reduce(p);
        let mut found: Vec<Vec<f64>> = Vec::new();
        for j in (0..p).filter(|j| !rows.pivots.contains(j)) {
            let mut direction = space.moved(&rows.dependent(p, |row| -row[j], j));
            for known in &found {
                let part = dot(&direction, known);
                direction.iter_mut().zip(known).for_each(|(x, y)| *x -= part * y);
            }
            let length = dot(&direction, &direction).sqrt();
            if length > 0.0 {
                found.push(direction.iter().map(|x| x / length).collect());
            }
        }
        Some(found)
    }

    pub(super) fn space(&mut self, check: &Check, state: &State) -> VariationBasis {
        let n = state.q.len();
        let inputs = check.equations.model.state_values(state);
        let mut values = |k: usize| -> Vec<Vec<f64>> {
            let Some(program) = &mut self.gradients[k] else { return Vec::new() };
            // a row without finite values constrains nothing
            let row = |row: &[f64]| if row.iter().all(|x| x.is_finite()) { row.to_vec() } else { vec![0.0; n] };
            program.run(&inputs).chunks(n).map(row).collect()
        };
        let [of_positions, by_velocities, by_positions] = [0, 1, 2].map(&mut values);
        let mut positions = Echelon::new(of_positions);
        positions.reduce(n);
        let joined = by_velocities.into_iter().zip(by_positions).map(|(v, q)| [v, q].concat()).collect();
        let mut rates = Echelon::new(joined);
        rates.reduce(n);
        let free = |echelon: &Echelon| (0..n).filter(|j| !echelon.pivots.contains(j)).collect::<Vec<_>>();
        let (free_positions, free_velocities) = (free(&positions), free(&rates));
        let mut basis = Vec::with_capacity(free_positions.len() + free_velocities.len());
        for &j in &free_positions {
            let dq = positions.dependent(n, |row| -row[j], j);
            let dv = rates.dependent(n, |row| -dot(&row[n..], &dq), usize::MAX);
            basis.push((dq, dv));
        }
        for &j in &free_velocities {
            basis.push((vec![0.0; n], rates.dependent(n, |row| -row[j], j)));
        }
        VariationBasis { positions: free_positions, velocities: free_velocities, basis }
    }
}
