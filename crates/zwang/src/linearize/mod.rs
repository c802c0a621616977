//! The motion near a state to first order, on the variations that the constraints allow.
//!
//! $$ M\,\ddot x + C\,\dot x + K\,x = 0, \qquad
//!    M\,\delta\ddot q - A^T\delta\lambda = \delta(Q + C + A^T\lambda - M\ddot q), \qquad A\,\delta\ddot q = \delta(b - A\ddot q) $$
//!
//! A nonideal law contains the multipliers of the ideal part, whose change counts: δC = ∂C/∂q δq + ∂C/∂q̇ δq̇ + ∂C/∂λ δλ.
//! All this holds for variations that satisfy the constraints: φ_q δq = 0 and likewise for the rates φ̇ and ψ. The free positions x
//! and the free velocities u represent all; with nonholonomic constraints there are fewer velocities than positions.

#![allow(non_snake_case, reason = "matrices have the names of the papers")]

mod echelon;
mod equilibria;
mod ideal_multipliers;
mod integral_manifold;
mod linearizer;
pub(crate) mod messages;
mod obstacle;
mod timed;
mod zeros;

use zwang_motion::{Eigen, MotionError, Settings, State, eigen};

use crate::analysis::dot;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::linearize::messages::lost_rank;
pub use crate::linearize::messages::obstacle as obstacle_text;
use crate::random::Random;
use crate::{analysis::check::Check, limits, tolerance};

pub use equilibria::equilibria;
pub use obstacle::Obstacle;
pub use timed::is_timed;
pub use zeros::Zeros;

use equilibria::reaches;
use linearizer::{Linearizer, VariationBasis};
use timed::rests_always;

/// The linear equations at one state.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// The state of the linearization.
    pub state: State,
    /// The kind of motion at the state.
    pub place: MotionKind,
    /// The free velocities, by coordinate, which determine all others.
    pub velocities: Vec<usize>,
    /// The free positions, by coordinate, which determine all others.
    pub positions: Vec<usize>,
    /// M, by rows, one for each of `velocities`.
    pub mass: Vec<f64>,
    /// C, by rows, with one row and one column for each of `velocities`.
    pub damping: Vec<f64>,
    /// K, by rows, with one column for each of `positions`.
    pub stiffness: Vec<f64>,
    /// λ with the shape of each mode over all coordinates, the fastest growing first.
    pub modes: Vec<Eigen>,
    /// The potential energy.
    pub potential: f64,
    /// `true` if the energy is known to be conserved.
    pub is_conservative: bool,
    /// The reason why there are no linear equations here; M, C, K and the modes are then empty.
    pub obstacle: Option<Obstacle>,
    /// `true` if the coefficients change with the time.
    pub is_timed: bool,
    /// The multiplicity and growth of the eigenvalue zero.
    pub zeros: Zeros,
    /// The coordinates that change along the family of equilibria to which this one belongs; empty if it is isolated.
    pub family: Vec<usize>,
}

/// The kind of motion at a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MotionKind {
    /// Rest that lasts: q̇ = 0 and q̈ = 0 at all times.
    Equilibrium,
    /// Motion with constant velocities: q̈ = 0, now and to first order in time.
    Steady,
    /// Neither: the equations are those of small deviations from the motion, with the coefficients of one instant.
    Passing,
}

/// The stability that the linear equations show.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Stability {
    /// A mode grows, by the factor e in this time at the fastest.
    Unstable {
        /// 1/Re λ.
        time: f64,
    },
    /// All modes decay, by the factor 1/e in this time at the slowest.
    Stable {
        /// −1/Re λ.
        time: f64,
    },
    /// No mode grows exponentially, but one grows with this power of the time, beyond a uniform drift of positions.
    Growing {
        /// 1 for t, 2 for t², ….
        power: usize,
    },
    /// The energy is conserved and has a minimum here: the motion stays near.
    Minimum,
    /// No mode grows, but one neither grows nor decays: terms of higher order decide.
    Neutral,
    /// Linear equations with the coefficients of one instant, or none at all, do not determine the future.
    Undecided,
}

impl Linearized {
    /// The stability by the eigenvalues.
    pub fn stability(&self) -> Stability {
        if self.place == MotionKind::Passing || self.is_timed || self.obstacle.is_some() {
            return Stability::Undecided;
        }
        let fastest = self.modes.iter().fold(0.0_f64, |top, m| top.max(m.value.0.hypot(m.value.1)));
        let most = self.modes.iter().fold(f64::NEG_INFINITY, |top, m| top.max(m.value.0));
        match most {
            x if x > tolerance::NO_GROWTH * fastest => Stability::Unstable { time: 1.0 / x },
            x if x < -tolerance::NO_GROWTH * fastest => Stability::Stable { time: -1.0 / x },
            _ if !self.zeros.is_even => Stability::Growing { power: self.zeros.power },
            _ if self.is_minimum() => Stability::Minimum,
            _ => Stability::Neutral,
        }
    }

    /// Lagrange's and Dirichlet's condition: at rest, energy conserved, K positive definite.
    fn is_minimum(&self) -> bool {
        let k = self.velocities.len();
        let K = |i: usize, j: usize| 0.5 * (self.stiffness[i * k + j] + self.stiffness[j * k + i]);
        self.place == MotionKind::Equilibrium
            && self.is_conservative
            && self.positions == self.velocities
            && is_positive((0..k).map(|i| (0..k).map(|j| K(i, j)).collect()).collect())
    }

    /// The number of zero eigenvalues: directions without a restoring force.
    pub fn n_zero(&self) -> usize {
        let size = |m: &Eigen| m.value.0.hypot(m.value.1);
        let fastest = self.modes.iter().fold(0.0_f64, |top, m| top.max(size(m)));
        self.modes.iter().filter(|m| size(m) <= tolerance::NO_GROWTH * fastest).count()
    }
}

/// `true` if a symmetric matrix is clearly positive definite: every pivot is above 1e-9 of its diagonal entry.
fn is_positive(mut K: Vec<Vec<f64>>) -> bool {
    for p in 0..K.len() {
        let whole = K[p][p];
        for i in 0..p {
            let factor = K[p][i] / K[i][i];
            for j in i..K.len() {
                K[p][j] -= factor * K[i][j];
            }
        }
        // a NaN is not positive
        if whole.is_nan() || K[p][p].is_nan() || whole <= 0.0 || K[p][p] <= tolerance::DEFINITE_STIFFNESS * whole {
            return false;
        }
    }
    true
}

/// The choice of states.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinearizedAt {
    /// One state: a time of the motion, or a steady motion.
    State,
    /// Equilibria.
    Equilibria {
        /// `true` if the equations change with the time, so that few states rest at all times.
        is_timed: bool,
    },
}

/// The linear equations that were found, and their states.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// The choice of states at which they were taken.
    pub at: LinearizedAt,
    /// One for each state.
    pub states: Vec<Linearized>,
    /// All diagnostics of the analysis.
    pub notes: Diagnostics,
}

/// The linear equations at the state of a check if a time was requested or the motion is steady; otherwise at every
/// equilibrium found from there.
pub(crate) fn linearization(
    check: &mut Check,
    is_asked: bool,
    settings: &Settings,
) -> Result<Linearization, Box<Diagnostic>> {
    check.analyse_lagrangian(settings);
    check.system.compile_motion(&mut check.equations);
    let state = check.state.clone();
    let here = linearize(check, &state, settings).map_err(|error| {
        let d = Diagnostic::error("Z402", error.to_string()).with_note(format!("at t = {}", state.t));
        d.help("linearize at another time with --at, or from another start")
    })?;
    let at = match is_asked || here.place == MotionKind::Steady {
        true => LinearizedAt::State,
        false => LinearizedAt::Equilibria { is_timed: here.is_timed },
    };
    let mut states = match at {
        LinearizedAt::State => Vec::new(),
        LinearizedAt::Equilibria { .. } => equilibria(check, settings),
    };
    match lost_rank(&here) {
        Some(lost) if states.is_empty() => return Err(Box::new(lost)),
        // that the start has no linear equations is reported in addition to the equilibria
        Some(_) if here.place != MotionKind::Equilibrium => states.insert(0, here),
        None if states.is_empty() => states.push(here),
        _ => {}
    }
    Ok(Linearization { at, states, notes: std::mem::take(&mut check.notes) })
}

/// The linear equations at a state on the constraints.
pub fn linearize(check: &mut Check, state: &State, settings: &Settings) -> Result<Linearized, MotionError> {
    let is_timed = is_timed(check);
    linearize_knowing(check, state, settings, is_timed)
}

/// The linear equations at a state on the constraints, if it is known whether the equations change with the time.
fn linearize_knowing(
    check: &mut Check,
    state: &State,
    settings: &Settings,
    is_timed: bool,
) -> Result<Linearized, MotionError> {
    let mut linearizer = Linearizer::new(check, settings);
    linearizer.look(check, state)?;
    let mut here = Linearized {
        state: state.clone(),
        place: MotionKind::Passing,
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
        true if rests_always(check, &mut linearizer, state) => MotionKind::Equilibrium,
        true => MotionKind::Passing,
        false => linearizer.place(state),
    };
    linearizer.look(check, state)?;
    let space = linearizer.space(check, state);
    here.obstacle =
        obstacle::lost_rank(check, &linearizer).or_else(|| obstacle::broken(check, &mut linearizer, state, &space));
    if here.obstacle.is_some() {
        return Ok(here);
    }
    if here.place == MotionKind::Steady && !goes_on(check, &mut linearizer, state)? {
        here.place = MotionKind::Passing;
    }
    let F = match matrix(check, &mut linearizer, &space) {
        Ok(F) => F,
        Err(error) => {
            here.obstacle = obstacle::contradicted(check, &linearizer, &error);
            return if here.obstacle.is_some() { Ok(here) } else { Err(error) };
        }
    };
    let mass = mass(&linearizer, &space);
    fill(here, check, linearizer, space, F, mass)
}

/// `true` if q̈ stays zero: its derivative along the motion is zero too.
fn goes_on(check: &mut Check, linearizer: &mut Linearizer, state: &State) -> Result<bool, MotionError> {
    let jerk = linearizer.derivative(check, &state.qdot, &vec![0.0; state.q.len()])?;
    let speed = echelon::largest(&state.qdot);
    let free = echelon::largest(&linearizer.snapshot.found.unconstrained_acceleration);
    Ok(echelon::largest(&jerk) <= tolerance::DIFFERENCE_ERROR * (free + speed))
}

/// F of (ẋ, u̇) = F (x, u), column by column.
fn matrix(check: &mut Check, linearizer: &mut Linearizer, space: &VariationBasis) -> Result<Vec<f64>, MotionError> {
    let p = space.positions.len();
    let size = p + space.velocities.len();
    let mut F = vec![0.0; size * size];
    for (column, (dq, dv)) in space.basis.iter().enumerate() {
        let acceleration = linearizer.derivative(check, dq, dv)?;
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
fn mass(linearizer: &Linearizer, space: &VariationBasis) -> Vec<f64> {
    let (p, k) = (space.positions.len(), space.velocities.len());
    let M = &linearizer.snapshot.given.mass_matrix;
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
    mut linearizer: Linearizer,
    space: VariationBasis,
    mut F: Vec<f64>,
    mass: Vec<f64>,
) -> Result<Linearized, MotionError> {
    let (p, k) = (space.positions.len(), space.velocities.len());
    let size = p + k;
    if here.place == MotionKind::Equilibrium {
        without_remains(check, &mut linearizer, &here.state, &space, &mut F);
    }
    let times_mass =
        |i: usize, column: usize| -> f64 { -(0..k).map(|j| mass[i * k + j] * F[(p + j) * size + column]).sum::<f64>() };
    here.damping = (0..k * k).map(|at| times_mass(at / k, p + at % k)).collect();
    here.stiffness = (0..k * p).map(|at| times_mass(at / p.max(1), at % p.max(1))).collect();
    here.mass = mass;
    here.zeros = zeros::zeros(&F, size, p);
    let mut found = eigen(&F, size).ok_or(MotionError::NotFinite { what: "a derivative of the motion".into() })?;
    // the eigenvalues that the ranks show to be zero are the smallest
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

/// Clears derivatives by positions that are remainders of a multiple root. Such an equilibrium is known to half its
/// digits or fewer, and a derivative that vanishes there comes out as a small fraction of its size elsewhere.
fn without_remains(
    check: &mut Check,
    linearizer: &mut Linearizer,
    state: &State,
    space: &VariationBasis,
    F: &mut [f64],
) {
    let (p, k) = (space.positions.len(), space.velocities.len());
    let size = p + k;
    let reach = reaches(check);
    let mut elsewhere = vec![0.0_f64; k * p];
    for seed in 1..=limits::NEARBY_STATES {
        let mut random = Random::new(seed);
        let mut there = state.clone();
        there.q.iter_mut().zip(&reach).for_each(|(q, reach)| *q += tolerance::OTHER_STATE * reach * random.next());
        let Some(there) = linearizer.at_rest(check, there).filter(|there| linearizer.look(check, there).is_ok()) else {
            continue;
        };
        let other = linearizer.space(check, &there);
        if other.positions != space.positions || other.velocities != space.velocities {
            continue;
        }
        let Some(slope) = linearizer.slope(check, &other) else { continue };
        elsewhere.iter_mut().zip(&slope).for_each(|(top, x)| *top = top.max(x.abs()));
    }
    for (at, top) in elsewhere.into_iter().enumerate() {
        let entry = &mut F[(p + at / p) * size + at % p];
        if entry.abs() <= tolerance::ROOT_OF_ROUNDING * top {
            *entry = 0.0;
        }
    }
}
