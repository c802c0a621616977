//! The motion near a state to first order, on what the constraints leave free.
//!
//! $$ M\,\ddot x + C\,\dot x + K\,x = 0, \qquad
//!    M\,\delta\ddot q - A^T\delta\lambda = \delta(Q + C + A^T\lambda - M\ddot q), \qquad A\,\delta\ddot q = \delta(b - A\ddot q) $$
//!
//! for variations that keep the constraints: φ_q δq = 0 and the same for the rates φ̇ and ψ. As many positions x, and as many
//! velocities u, as are free stand for all; where constraints are nonholonomic there are fewer velocities than positions.

#![allow(non_snake_case, reason = "matrices have the names of the papers")]

mod echelon;

use zwang_expr::Expr;
use zwang_motion::{
    Dynamics, Eigen, Given, Instant, Jacobian, MotionError, Settings, Snapshot, Solution, State, eigen, route,
};

use crate::check::Check;
use crate::model::Level;
use crate::random::Random;
use crate::start::{moved_state, units};
use crate::verdict::dot;

use echelon::{Echelon, shortest};

/// The linear equations at one state.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// Where.
    pub state: State,
    /// What the motion does there.
    pub place: Place,
    /// The coordinates whose velocities stand for all.
    pub velocities: Vec<usize>,
    /// The coordinates whose positions stand for all.
    pub positions: Vec<usize>,
    /// M, by rows, one for each of `velocities`.
    pub mass: Vec<f64>,
    /// C, the same.
    pub damping: Vec<f64>,
    /// K, one column for each of `positions`.
    pub stiffness: Vec<f64>,
    /// λ with the shape of each mode over all coordinates, the fastest growing first.
    pub modes: Vec<Eigen>,
    /// The potential energy.
    pub potential: f64,
    /// Whether the energy is known to be conserved.
    pub is_conservative: bool,
}

/// What the motion does at a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It rests: q̇ = 0 and q̈ = 0.
    Equilibrium,
    /// It goes on as it is: q̈ = 0.
    Steady,
    /// Neither: the equations hold for an instant.
    Passing,
}

/// What the linear equations say of the future.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Stability {
    /// Something grows, at most by e in this time.
    Unstable {
        /// 1/Re λ.
        time: f64,
    },
    /// Everything dies out, by e in this time at the slowest.
    Stable {
        /// −1/Re λ.
        time: f64,
    },
    /// The energy is conserved and has a minimum here: the motion stays near.
    Minimum,
    /// Nothing grows, but something neither grows nor dies out: what was left out decides.
    Neutral,
}

/// A real part below this, beside the fastest rate, is rounding: double eigenvalues are known to the root of ε.
const NO_GROWTH: f64 = 1e-7;

impl Linearized {
    /// What the eigenvalues say.
    pub fn stability(&self) -> Stability {
        let fastest = self.modes.iter().fold(0.0_f64, |top, m| top.max(m.value.0.hypot(m.value.1)));
        let most = self.modes.iter().fold(f64::NEG_INFINITY, |top, m| top.max(m.value.0));
        match most {
            x if x > NO_GROWTH * fastest => Stability::Unstable { time: 1.0 / x },
            x if x < -NO_GROWTH * fastest => Stability::Stable { time: -1.0 / x },
            _ if self.is_minimum() => Stability::Minimum,
            _ => Stability::Neutral,
        }
    }

    /// Lagrange's and Dirichlet's condition: at rest, energy conserved, K positive definite.
    fn is_minimum(&self) -> bool {
        let k = self.velocities.len();
        let K = |i: usize, j: usize| 0.5 * (self.stiffness[i * k + j] + self.stiffness[j * k + i]);
        self.place == Place::Equilibrium
            && self.is_conservative
            && self.positions == self.velocities
            && is_positive((0..k).map(|i| (0..k).map(|j| K(i, j)).collect()).collect())
    }

    /// How many eigenvalues are zero: directions in which nothing pulls back.
    pub fn n_zero(&self) -> usize {
        let size = |m: &Eigen| m.value.0.hypot(m.value.1);
        let fastest = self.modes.iter().fold(0.0_f64, |top, m| top.max(size(m)));
        self.modes.iter().filter(|m| size(m) <= NO_GROWTH * fastest).count()
    }
}

/// Whether a symmetric matrix is positive definite, clearly: every pivot is a part of its diagonal entry.
fn is_positive(mut K: Vec<Vec<f64>>) -> bool {
    const CLEARLY: f64 = 1e-9;
    for p in 0..K.len() {
        let whole = K[p][p];
        for i in 0..p {
            let factor = K[p][i] / K[i][i];
            for j in i..K.len() {
                K[p][j] -= factor * K[i][j];
            }
        }
        // a NaN is not positive
        if whole.is_nan() || K[p][p].is_nan() || whole <= 0.0 || K[p][p] <= CLEARLY * whole {
            return false;
        }
    }
    true
}

/// The linear equations at a state on the constraints.
pub fn linearize(check: &mut Check, state: &State, settings: &Settings) -> Result<Linearized, MotionError> {
    let mut way = Way::new(check, settings);
    way.look(check, state)?;
    let space = way.space(check, state);
    let (p, k, n) = (space.positions.len(), space.velocities.len(), state.q.len());
    // F of (ẋ, u̇) = F (x, u), column by column
    let size = p + k;
    let mut F = vec![0.0; size * size];
    for (column, (dq, dv)) in space.basis.iter().enumerate() {
        let acceleration = way.derivative(check, dq, dv)?;
        for (row, &j) in space.positions.iter().enumerate() {
            F[row * size + column] = dv[j];
        }
        for (row, &j) in space.velocities.iter().enumerate() {
            F[(p + row) * size + column] = acceleration[j];
        }
    }
    let M = &way.snapshot.given.mass_matrix;
    let mut mass = vec![0.0; k * k];
    for i in 0..k {
        let pushed: Vec<f64> = (0..n).map(|row| M.row_times(row, &space.basis[p + i].1)).collect();
        for j in 0..k {
            mass[i * k + j] = dot(&pushed, &space.basis[p + j].1);
        }
    }
    let times_mass =
        |i: usize, column: usize| -> f64 { -(0..k).map(|j| mass[i * k + j] * F[(p + j) * size + column]).sum::<f64>() };
    let damping = (0..k * k).map(|at| times_mass(at / k, p + at % k)).collect();
    let stiffness = (0..k * p).map(|at| times_mass(at / p.max(1), at % p.max(1))).collect();
    let found = eigen(&F, size).ok_or(MotionError::NotFinite { what: "a derivative of the motion".into() })?;
    let shape = |mode: Eigen| {
        let part = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            let mut sum = vec![0.0; n];
            for (x, (dq, _)) in mode.vector.iter().zip(&space.basis) {
                sum.iter_mut().zip(dq).for_each(|(s, d)| *s += of(x) * d);
            }
            sum
        };
        let vector = part(|x| x.0).into_iter().zip(part(|x| x.1)).collect();
        Eigen { value: mode.value, vector }
    };
    let place = if is_timed(check) { Place::Passing } else { way.place(state) };
    Ok(Linearized {
        state: state.clone(),
        place,
        mass,
        damping,
        stiffness,
        modes: found.into_iter().map(shape).collect(),
        potential: check.system.energies(state)?.potential,
        is_conservative: check.lagrangian.as_ref().is_some_and(|side| side.energy.conserved == Some(true)),
        velocities: space.velocities,
        positions: space.positions,
    })
}

/// Whether the equations of motion contain the time.
pub fn is_timed(check: &Check) -> bool {
    let residuals = check.equations.rows.iter().map(|row| row.residual);
    let exprs: Vec<Expr> = check.equations.formulas().into_iter().chain(residuals).collect();
    let model = &check.equations.model;
    model.graph.symbols_of(&exprs).binary_search(&model.time).is_ok()
}

/// Starts beyond the given one from which equilibria are looked for.
const MORE_STARTS: u64 = 24;

/// The equilibria found from the start and from random positions around it, the lowest first; none where the equations contain the
/// time, or constraints forbid rest.
pub fn equilibria(check: &mut Check, settings: &Settings) -> Vec<Linearized> {
    let mut found: Vec<Linearized> = Vec::new();
    if is_timed(check) {
        return found;
    }
    let start = check.state.clone();
    let mass: Vec<f64> = (0..start.q.len()).map(|k| check.snapshot.given.mass_matrix.get(k, k)).collect();
    let unit = units(&mass, &start.q);
    for seed in 0..=MORE_STARTS {
        let mut state = State { qdot: vec![0.0; start.q.len()], ..start.clone() };
        if seed > 0 {
            let mut random = Random::new(seed);
            // pure numbers may be angles: all of a turn is tried
            let reach = |k: usize| if check.system.unit(k).is_none() { 3.2 } else { 2.0 * unit[k] };
            state.q.iter_mut().enumerate().for_each(|(k, q)| *q += reach(k) * random.next());
        }
        let Some(rest) = rest_near(check, state, settings) else { continue };
        let Ok(linear) = linearize(check, &rest, settings) else { continue };
        if linear.place == Place::Equilibrium && !found.iter().any(|known| is_same(known, &linear)) {
            found.push(linear);
        }
    }
    found.sort_by(|x, y| x.potential.total_cmp(&y.potential));
    found
}

/// Whether two equilibria are one, or differ by whole turns.
fn is_same(x: &Linearized, y: &Linearized) -> bool {
    const CLOSE: f64 = 1e-6;
    let turn = std::f64::consts::TAU;
    let near = |(x, y): (&f64, &f64)| {
        let apart = (x - y).abs();
        apart <= CLOSE * (1.0 + x.abs()) || (apart / turn - (apart / turn).round()).abs() <= CLOSE
    };
    let alike = |x: &Eigen, y: &Eigen| {
        (x.value.0 - y.value.0).hypot(x.value.1 - y.value.1) <= 1e-4 * (1.0 + x.value.0.hypot(x.value.1))
    };
    // rounding may order them otherwise
    let has_all = |x: &Linearized, y: &Linearized| x.modes.iter().all(|m| y.modes.iter().any(|other| alike(m, other)));
    // along a direction in which nothing pulls back every place is one
    let is_neutral = x.n_zero() > 0 && x.n_zero() == y.n_zero() && (x.potential - y.potential).abs() <= CLOSE;
    (is_neutral || x.state.q.iter().zip(&y.state.q).all(near)) && has_all(x, y) && has_all(y, x)
}

/// A state of rest near a guess, by Newton's method along the constraints; none if that leads nowhere.
fn rest_near(check: &mut Check, guess: State, settings: &Settings) -> Option<State> {
    const MOST_STEPS: usize = 60;
    let mut way = Way::new(check, settings);
    let mut state = at_rest(check, guess, settings)?;
    way.look(check, &state).ok()?;
    let mut size = way.push();
    for _ in 0..MOST_STEPS {
        let is_rest = way.place(&state) == Place::Equilibrium;
        let Some(step) = way.newton_step(check, &state) else {
            return is_rest.then(|| upright(check, state, settings));
        };
        // shorter and shorter, until it pushes less there
        let mut part = 1.0;
        loop {
            let mut next = state.clone();
            next.q.iter_mut().zip(&step).for_each(|(q, d)| *q += part * d);
            let next = at_rest(check, next, settings);
            if let Some(next) = next.filter(|next| way.look(check, next).is_ok() && way.push() < size) {
                (state, size) = (next, way.push());
                break;
            }
            part *= 0.5;
            // at rest to the last digit no step helps
            if is_rest || part < 1e-3 {
                return is_rest.then(|| upright(check, state, settings));
            }
        }
    }
    None
}

/// The same place without whole turns, where pure numbers are angles.
fn upright(check: &mut Check, state: State, settings: &Settings) -> State {
    let turn = std::f64::consts::TAU;
    let mut best = state;
    let pure: Vec<usize> = (0..best.q.len()).filter(|&k| check.system.unit(k).is_none()).collect();
    for k in pure {
        let turns = (best.q[k] / turn).round();
        if turns == 0.0 {
            continue;
        }
        let mut other = best.clone();
        other.q[k] -= turns * turn;
        let wanted = other.q.clone();
        let mut way = Way::new(check, settings);
        let there = at_rest(check, other, settings).filter(|there| {
            let stayed = there.q.iter().zip(&wanted).all(|(x, y)| (x - y).abs() <= 1e-9);
            stayed && way.look(check, there).is_ok() && way.place(there) == Place::Equilibrium
        });
        best = there.unwrap_or(best);
    }
    best
}

/// The state put onto the constraints and brought to rest; none if they forbid that.
fn at_rest(check: &Check, state: State, settings: &Settings) -> Option<State> {
    let there = moved_state(&check.equations, State { qdot: vec![0.0; state.q.len()], ..state }, settings, true)?;
    there.qdot.iter().all(|v| v.abs() <= 1e-12).then(|| State { qdot: vec![0.0; there.q.len()], ..there })
}

/// Variations that keep the constraints: (δq, δq̇) for each free position, then for each free velocity.
struct Space {
    positions: Vec<usize>,
    velocities: Vec<usize>,
    basis: Vec<(Vec<f64>, Vec<f64>)>,
}

/// The equations and their derivatives at a state.
struct Way<'s> {
    settings: &'s Settings,
    snapshot: Snapshot,
    jacobian: Jacobian,
    /// Whether that has values here.
    is_smooth: bool,
    route: Box<dyn zwang_motion::Route>,
    /// ∂φ/∂q; then ∂/∂q̇ and ∂/∂q of φ̇ and ψ, row by row.
    gradients: [Vec<Vec<Expr>>; 3],
}

impl<'s> Way<'s> {
    fn new(check: &mut Check, settings: &'s Settings) -> Way<'s> {
        let equations = &mut check.equations;
        let model = &mut equations.model;
        let positions: Vec<Expr> = model.coordinates.iter().map(|c| c.q).collect();
        let velocities: Vec<Expr> = model.coordinates.iter().map(|c| c.qdot).collect();
        let mut gradient = |exprs: &[Expr], by: &[Expr]| -> Vec<Vec<Expr>> {
            exprs.iter().map(|&e| by.iter().map(|&s| model.graph.derivative(e, s)).collect()).collect()
        };
        let rows = &equations.rows;
        let stated: Vec<Expr> = rows.iter().filter(|r| r.level == Level::Position).map(|r| r.residual).collect();
        let rates: Vec<Expr> = rows.iter().filter_map(|r| r.rate).collect();
        let gradients = [gradient(&stated, &positions), gradient(&rates, &velocities), gradient(&rates, &positions)];
        check.system.set_source(&check.equations);
        let jacobian = check.system.allocate_jacobian().unwrap_or_default();
        let route = route(check.route, settings);
        Way { settings, snapshot: Snapshot::new(&check.system), jacobian, is_smooth: true, route, gradients }
    }

    /// Fills everything at a state.
    fn look(&mut self, check: &mut Check, state: &State) -> Result<(), MotionError> {
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
        self.is_smooth = match check.system.fill_jacobian(&instant, &mut self.jacobian) {
            Ok(()) => true,
            // |v| v at rest: the derivative is there, though its formula divides zero by zero
            Err(MotionError::NotFinite { .. }) => false,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// How hard the forces push the state away.
    fn push(&self) -> f64 {
        self.snapshot.found.qddot.iter().fold(0.0, |top, x| top.max(x.abs()))
    }

    fn place(&self, state: &State) -> Place {
        /// Accelerations below this part of those that forces could make are rounding.
        const NOTHING: f64 = 1e-10;
        let free = self.snapshot.found.unconstrained_acceleration.iter().fold(0.0_f64, |top, a| top.max(a.abs()));
        let speed = state.qdot.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
        match self.push() <= NOTHING * (free + speed).max(1.0) {
            true if speed == 0.0 => Place::Equilibrium,
            true => Place::Steady,
            false => Place::Passing,
        }
    }

    /// δq̈ by central differences, in which everything even cancels, the way off the constraints too; of two lengths, so that
    /// |v| v cancels as well.
    fn difference(&mut self, check: &mut Check, dq: &[f64], dv: &[f64]) -> Result<Vec<f64>, MotionError> {
        /// The third root of ε: what rounding loses is then as much as what the bend does.
        const APART: f64 = 2e-5;
        let here = self.snapshot.state.clone();
        let loose = Settings { contradiction_tolerance: 1e-6, ..self.settings.clone() };
        let mut snapshot = Snapshot::new(&check.system);
        let mut at = |part: f64| {
            let moved = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + part * APART * d).collect();
            let state = State { t: here.t, q: moved(&here.q, dq), qdot: moved(&here.qdot, dv) };
            snapshot.take(&mut check.system, &state, &mut *self.route, &loose)?;
            Ok::<Vec<f64>, MotionError>(snapshot.found.qddot.clone())
        };
        let [far, near] = [(at(1.0)?, at(-1.0)?), (at(0.5)?, at(-0.5)?)];
        let slope = |(after, before): &(Vec<f64>, Vec<f64>), i: usize| (after[i] - before[i]) / (2.0 * APART);
        Ok((0..dq.len()).map(|i| 2.0 * (2.0 * slope(&near, i)) - slope(&far, i)).collect())
    }

    /// δq̈ for a variation that keeps the constraints.
    fn derivative(&mut self, check: &mut Check, dq: &[f64], dv: &[f64]) -> Result<Vec<f64>, MotionError> {
        if !self.is_smooth {
            return self.difference(check, dq, dv);
        }
        let Jacobian { force_by_q, force_by_qdot, rows_by_q, rows_by_qdot } = &self.jacobian;
        let given = &self.snapshot.given;
        let (n, m) = (dq.len(), given.constraint_rhs.len());
        let problem = Given {
            mass_matrix: given.mass_matrix.clone(),
            constraint_matrix: given.constraint_matrix.clone(),
            given_force: (0..n).map(|i| force_by_q.row_times(i, dq) + force_by_qdot.row_times(i, dv)).collect(),
            constraint_rhs: (0..m).map(|i| rows_by_q.row_times(i, dq) + rows_by_qdot.row_times(i, dv)).collect(),
        };
        let mut solution = Solution::default();
        self.route.solve(&problem, None, &[], &mut solution)?;
        Ok(solution.qddot)
    }

    /// The change of the positions after which nothing should push any more, as far as the free positions allow.
    fn newton_step(&mut self, check: &mut Check, state: &State) -> Option<Vec<f64>> {
        let space = self.space(check, state);
        let (p, k, n) = (space.positions.len(), space.velocities.len(), state.q.len());
        let mut slope = vec![0.0; k * p];
        for column in 0..p {
            let (dq, dv) = &space.basis[column];
            let change = self.derivative(check, dq, dv).ok()?;
            (0..k).for_each(|row| slope[row * p + column] = change[space.velocities[row]]);
        }
        let push: Vec<f64> = space.velocities.iter().map(|&j| -self.snapshot.found.qddot[j]).collect();
        let x = shortest(&slope, k, p, &push)?;
        let mut step = vec![0.0; n];
        for (x, (dq, _)) in x.iter().zip(&space.basis) {
            step.iter_mut().zip(dq).for_each(|(s, d)| *s += x * d);
        }
        step.iter().all(|x| x.is_finite()).then_some(step)
    }

    fn space(&self, check: &Check, state: &State) -> Space {
        let n = state.q.len();
        let values = |rows: &[Vec<Expr>]| -> Vec<Vec<f64>> {
            let value = |row: &Vec<Expr>| check.system.evaluate(&check.equations.model, state, row);
            rows.iter().map(|row| value(row).unwrap_or_else(|| vec![0.0; n])).collect()
        };
        let [of_positions, by_velocities, by_positions] = [0, 1, 2].map(|k| values(&self.gradients[k]));
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
        Space { positions: free_positions, velocities: free_velocities, basis }
    }
}
