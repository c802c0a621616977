//! The motion near a state to first order, on what the constraints leave free.
//!
//! $$ M\,\ddot x + C\,\dot x + K\,x = 0, \qquad
//!    M\,\delta\ddot q - A^T\delta\lambda = \delta(Q + C + A^T\lambda - M\ddot q), \qquad A\,\delta\ddot q = \delta(b - A\ddot q) $$
//!
//! for variations that keep the constraints: φ_q δq = 0 and the same for the rates φ̇ and ψ. As many positions x, and as many
//! velocities u, as are free stand for all; where constraints are nonholonomic there are fewer velocities than positions.

#![allow(non_snake_case, reason = "matrices have the names of the papers")]

mod echelon;
mod equilibria;
mod leaf;
mod obstacle;
mod timed;
mod way;
mod zeros;

use zwang_motion::{Eigen, MotionError, Settings, State, eigen};

use crate::check::Check;
use crate::random::Random;
use crate::verdict::dot;

pub use equilibria::equilibria;
pub use obstacle::Obstacle;
pub use timed::is_timed;
pub use zeros::Zeros;

use equilibria::reaches;
use timed::rests_always;
use way::{Space, Way};

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
    /// Why there are no linear equations here; M, C, K and the modes are empty then.
    pub obstacle: Option<Obstacle>,
    /// Whether the coefficients change with the time.
    pub is_timed: bool,
    /// What belongs to the eigenvalue zero.
    pub zeros: Zeros,
    /// The coordinates that change along a family of equilibria of which this is one; empty where it stands alone.
    pub family: Vec<usize>,
}

/// What the motion does at a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It rests, and stays at rest: q̇ = 0 and q̈ = 0 at all times.
    Equilibrium,
    /// It goes on as it is: q̈ = 0, now and a little later.
    Steady,
    /// Neither: the equations are those of small deviations from the motion, with the coefficients of one instant.
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
    /// Nothing grows by e, but something with this power of the time, and not only the place of what drifts evenly.
    Growing {
        /// 1 for t, 2 for t², ….
        power: usize,
    },
    /// The energy is conserved and has a minimum here: the motion stays near.
    Minimum,
    /// Nothing grows, but something neither grows nor dies out: what was left out decides.
    Neutral,
    /// Linear equations with the coefficients of one instant, or none at all, say nothing of the future.
    Undecided,
}

/// A real part below this, beside the fastest rate, is rounding: double eigenvalues are known to the root of ε.
const NO_GROWTH: f64 = 1e-7;

impl Linearized {
    /// What the eigenvalues say.
    pub fn stability(&self) -> Stability {
        if self.place == Place::Passing || self.is_timed || self.obstacle.is_some() {
            return Stability::Undecided;
        }
        let fastest = self.modes.iter().fold(0.0_f64, |top, m| top.max(m.value.0.hypot(m.value.1)));
        let most = self.modes.iter().fold(f64::NEG_INFINITY, |top, m| top.max(m.value.0));
        match most {
            x if x > NO_GROWTH * fastest => Stability::Unstable { time: 1.0 / x },
            x if x < -NO_GROWTH * fastest => Stability::Stable { time: -1.0 / x },
            _ if !self.zeros.is_even => Stability::Growing { power: self.zeros.power },
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
    let is_timed = is_timed(check);
    linearize_knowing(check, state, settings, is_timed)
}

/// The same where it is known whether the equations change with the time.
fn linearize_knowing(
    check: &mut Check,
    state: &State,
    settings: &Settings,
    is_timed: bool,
) -> Result<Linearized, MotionError> {
    let mut way = Way::new(check, settings);
    way.look(check, state)?;
    let mut here = Linearized {
        state: state.clone(),
        place: Place::Passing,
        velocities: Vec::new(),
        positions: Vec::new(),
        mass: Vec::new(),
        damping: Vec::new(),
        stiffness: Vec::new(),
        modes: Vec::new(),
        potential: check.system.energies(state)?.potential,
        is_conservative: check.lagrangian.as_ref().is_some_and(|side| side.energy.conserved == Some(true)),
        obstacle: None,
        is_timed,
        zeros: Zeros::default(),
        family: Vec::new(),
    };
    here.place = match is_timed {
        true if rests_always(check, &mut way, state) => Place::Equilibrium,
        true => Place::Passing,
        false => way.place(state),
    };
    way.look(check, state)?;
    let space = way.space(check, state);
    here.obstacle = obstacle::lost_rank(check, &way).or_else(|| obstacle::broken(check, &mut way, state, &space));
    if here.obstacle.is_some() {
        return Ok(here);
    }
    if here.place == Place::Steady && !goes_on(check, &mut way, state)? {
        here.place = Place::Passing;
    }
    let F = match matrix(check, &mut way, &space) {
        Ok(F) => F,
        Err(error) => {
            here.obstacle = obstacle::contradicted(check, &way, &error);
            return if here.obstacle.is_some() { Ok(here) } else { Err(error) };
        }
    };
    let mass = mass(&way, &space);
    fill(here, check, way, space, F, mass)
}

/// Whether q̈ stays zero: its derivative along the motion is zero too.
fn goes_on(check: &mut Check, way: &mut Way, state: &State) -> Result<bool, MotionError> {
    /// Derivatives by differences have so many digits.
    const NOTHING: f64 = 1e-6;
    let jerk = way.derivative(check, &state.qdot, &vec![0.0; state.q.len()])?;
    let speed = echelon::largest(&state.qdot);
    let free = echelon::largest(&way.snapshot.found.unconstrained_acceleration);
    Ok(echelon::largest(&jerk) <= NOTHING * (free + speed))
}

/// F of (ẋ, u̇) = F (x, u), column by column.
fn matrix(check: &mut Check, way: &mut Way, space: &Space) -> Result<Vec<f64>, MotionError> {
    let p = space.positions.len();
    let size = p + space.velocities.len();
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
    Ok(F)
}

/// NᵀMN.
fn mass(way: &Way, space: &Space) -> Vec<f64> {
    let (p, k) = (space.positions.len(), space.velocities.len());
    let M = &way.snapshot.given.mass_matrix;
    let mut mass = vec![0.0; k * k];
    for i in 0..k {
        let free = &space.basis[p + i].1;
        let pushed: Vec<f64> = (0..free.len()).map(|row| M.row_times(row, free)).collect();
        for j in 0..k {
            mass[i * k + j] = dot(&pushed, &space.basis[p + j].1);
        }
    }
    mass
}

/// M, C, K and the modes.
fn fill(
    mut here: Linearized,
    check: &mut Check,
    mut way: Way,
    space: Space,
    mut F: Vec<f64>,
    mass: Vec<f64>,
) -> Result<Linearized, MotionError> {
    let (p, k) = (space.positions.len(), space.velocities.len());
    let size = p + k;
    if here.place == Place::Equilibrium {
        without_remains(check, &mut way, &here.state, &space, &mut F);
    }
    let times_mass =
        |i: usize, column: usize| -> f64 { -(0..k).map(|j| mass[i * k + j] * F[(p + j) * size + column]).sum::<f64>() };
    here.damping = (0..k * k).map(|at| times_mass(at / k, p + at % k)).collect();
    here.stiffness = (0..k * p).map(|at| times_mass(at / p.max(1), at % p.max(1))).collect();
    here.mass = mass;
    here.zeros = zeros::zeros(&F, size, p);
    let mut found = eigen(&F, size).ok_or(MotionError::NotFinite { what: "a derivative of the motion".into() })?;
    // those that ranks show to be zero are the smallest
    let mut order: Vec<usize> = (0..found.len()).collect();
    let square = |m: &Eigen| m.value.0.hypot(m.value.1);
    order.sort_by(|&i, &j| square(&found[i]).total_cmp(&square(&found[j])));
    order.iter().take(here.zeros.count).for_each(|&i| found[i].value = (0.0, 0.0));
    let shape = |mode: Eigen| {
        let part = |of: fn(&(f64, f64)) -> f64| space.moved(&mode.vector.iter().take(p).map(of).collect::<Vec<_>>());
        let vector = part(|x| x.0).into_iter().zip(part(|x| x.1)).collect();
        Eigen { value: mode.value, vector }
    };
    here.modes = found.into_iter().map(shape).collect();
    (here.positions, here.velocities) = (space.positions, space.velocities);
    Ok(here)
}

/// Clears derivatives by positions that are what is left of a multiple root: such an equilibrium is known to half its digits and less,
/// and a derivative that vanishes there comes out as small as that beside what it is elsewhere.
fn without_remains(check: &mut Check, way: &mut Way, state: &State, space: &Space, F: &mut [f64]) {
    /// The root of ε, with some room.
    const REMAINS: f64 = 1e-7;
    const N_PLACES: u64 = 3;
    /// Beside the reach of the search.
    const NEAR: f64 = 0.1;
    let (p, k) = (space.positions.len(), space.velocities.len());
    let size = p + k;
    let reach = reaches(check);
    let mut elsewhere = vec![0.0_f64; k * p];
    for seed in 1..=N_PLACES {
        let mut random = Random::new(seed);
        let mut there = state.clone();
        there.q.iter_mut().zip(&reach).for_each(|(q, reach)| *q += NEAR * reach * random.next());
        let Some(there) = way.at_rest(check, there).filter(|there| way.look(check, there).is_ok()) else {
            continue;
        };
        let other = way.space(check, &there);
        if other.positions != space.positions || other.velocities != space.velocities {
            continue;
        }
        let Some(slope) = way.slope(check, &other) else { continue };
        elsewhere.iter_mut().zip(&slope).for_each(|(top, x)| *top = top.max(x.abs()));
    }
    for (at, top) in elsewhere.into_iter().enumerate() {
        let entry = &mut F[(p + at / p) * size + at % p];
        if entry.abs() <= REMAINS * top {
            *entry = 0.0;
        }
    }
}
