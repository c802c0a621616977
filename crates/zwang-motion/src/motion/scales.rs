//! Scales of positions and velocities, relative to which errors are measured.

use crate::{
    Dynamics, State, Units,
    smooth::Smooth,
    tolerance::{self, RunWindow},
};

/// The part of the tolerance that one step may spend: errors of many steps add up.
pub(super) const STEP_SHARE: f64 = 0.08;

/// The size of velocities fades by this factor in a step: to half in fifty; and never below this part of the largest ever.
const FORGETTING: f64 = 0.986;

/// Sizes by unit and by coordinate; those of q and q̇ are kept with the smooth part.
pub(super) struct Scales {
    /// The error allowed in one step, component by component.
    pub(super) allowed: Vec<f64>,
    /// The unit of each coordinate, and the largest q and q̇ of each unit so far; the last belongs to pure numbers.
    pub(super) units: Vec<Option<usize>>,
    of_unit: Vec<(f64, f64)>,
    /// States of first order: coordinates without mass that only rows on velocities determine. Each has a unit of its own.
    first_order: Vec<usize>,
    /// What rounding alone makes of each unit during the run.
    noise: Vec<f64>,
    /// Accelerations of each coordinate that are rounding relative to the forces at the start.
    pub(super) rounding_acceleration: Vec<f64>,
    /// The least size of a pure number: 1 for an angle; that of the start if angles are not known.
    natural_size: f64,
    /// The largest velocity of each unit ever.
    speed_scale: Vec<f64>,
}

impl Scales {
    pub(super) fn new<D: Dynamics + ?Sized>(smooth: &Smooth<D>, start: &State, tolerance: f64) -> Scales {
        let mut units = match smooth.dynamics.units() {
            Units::Stated(units) => units.to_vec(),
            Units::Pure | Units::Unstated => vec![None; smooth.n],
        };
        let first_order = first_order_states(smooth);
        // angles and lengths have one size, states of first order each their own
        let placed = start.q.iter().enumerate().filter(|(k, _)| !first_order.contains(k)).map(|(_, q)| q);
        let natural_size = match smooth.dynamics.units() {
            Units::Unstated => placed.fold(0.0, |top: f64, q| top.max(q.abs())),
            Units::Pure | Units::Stated(_) => 1.0,
        };
        let mut n_units = units.iter().flatten().max().map_or(0, |k| k + 1) + 1;
        for &state in &first_order {
            units[state] = Some(n_units - 1);
            n_units += 1;
        }
        Scales {
            allowed: vec![tolerance; 2 * smooth.n],
            of_unit: vec![(0.0, 0.0); n_units],
            noise: vec![0.0; n_units],
            rounding_acceleration: vec![0.0; units.len()],
            natural_size: if natural_size > 0.0 { natural_size } else { 1.0 },
            speed_scale: vec![0.0; n_units],
            units,
            first_order,
        }
    }

    /// Forgets all sizes, and measures what rounding does: at the start of the run.
    pub(super) fn reset<D: Dynamics + ?Sized>(&mut self, smooth: &mut Smooth<D>, window: RunWindow) {
        smooth.q_size.fill(0.0);
        self.of_unit.fill((0.0, 0.0));
        self.speed_scale.fill(0.0);
        self.measure_noise(smooth, window);
    }

    /// Sizes of q and q̇ by which errors are measured: the largest of its unit so far.
    ///
    /// Pure numbers such as angles have a natural size, and each its own; their velocities share one. What is at rest
    /// takes √(size of q · |q̈|) where the motion `restarts`, or the rate of the others.
    pub(super) fn update<D: Dynamics + ?Sized>(&mut self, smooth: &mut Smooth<D>, window: RunWindow, restarts: bool) {
        let n = smooth.n;
        let Smooth { instant, q_size, v_size, .. } = smooth;
        let of_unit = &mut self.of_unit;
        // a fast beginning is forgotten, but not a place of rest between two swings
        for ((_, v), ever) in of_unit.iter_mut().zip(&self.speed_scale) {
            *v = (*v * FORGETTING).max(tolerance::SPEED_MEMORY * ever);
        }
        // the last place is that of the pure numbers
        let pure = of_unit.len() - 1;
        for i in 0..n {
            let (q, v) = &mut of_unit[self.units[i].unwrap_or(pure)];
            *q = q.max(instant.state.q[i].abs());
            *v = v.max(instant.state.qdot[i].abs());
        }
        for ((_, v), ever) in of_unit.iter().zip(&mut self.speed_scale) {
            *ever = ever.max(*v);
        }
        // a state of first order that starts at zero has the size that its rate gives it in the time of the others
        if restarts && !self.first_order.is_empty() {
            let of_unit_of = |i: usize| of_unit[self.units[i].unwrap_or(pure)];
            let others = (0..n).filter(|i| !self.first_order.contains(i)).map(of_unit_of);
            let rate = others.fold(0.0, |top: f64, (q, v)| if q > 0.0 { top.max(v / q) } else { top });
            let time = if rate > 0.0 { (1.0 / rate).min(window.length()) } else { window.length() };
            for &i in &self.first_order {
                let (q, v) = &mut of_unit[self.units[i].unwrap_or(pure)];
                *q = if *q > 0.0 { *q } else { *v * time };
            }
        }
        for i in 0..n {
            q_size[i] = match self.units[i] {
                Some(unit) if of_unit[unit].0 > self.noise[unit] => of_unit[unit].0,
                Some(_) => 1.0,
                None => q_size[i].max(instant.state.q[i].abs()).max(self.natural_size),
            };
        }
        // where forces hold each other, rounding of their balance is no motion
        if restarts {
            for i in (0..n).filter(|&i| instant.qddot[i].abs() > self.rounding_acceleration[i]) {
                let (_, v) = &mut of_unit[self.units[i].unwrap_or(pure)];
                *v = v.max((q_size[i] * instant.qddot[i].abs()).sqrt());
            }
        }
        let rate = |i: usize| match of_unit[self.units[i].unwrap_or(pure)].1 {
            v if v > self.rounding_acceleration[i] * window.length() => v / q_size[i],
            _ => 0.0,
        };
        let fastest = (0..n).map(rate).fold(0.0, f64::max);
        let slowest = tolerance::SLOWEST_RATE * if fastest > 0.0 { fastest } else { 1.0 };
        for i in 0..n {
            v_size[i] = q_size[i] * rate(i).max(slowest);
            self.allowed[i] = STEP_SHARE * window.tolerance * q_size[i];
            self.allowed[n + i] = STEP_SHARE * window.tolerance * v_size[i];
        }
    }

    /// What holds still is held against forces: q̈ is zero but for the rounding of what they would do, and so are positions after
    /// the time of the run. Values below that say nothing about the size of the system.
    fn measure_noise<D: Dynamics + ?Sized>(&mut self, smooth: &Smooth<D>, window: RunWindow) {
        self.noise.fill(0.0);
        let time = window.length();
        let pure = self.noise.len() - 1;
        let (mut strongest, mut strongest_scaled) = (vec![0.0; self.noise.len()], 0.0f64);
        for (i, unit) in self.units.iter().enumerate() {
            let (mass, force) = (smooth.given.mass_matrix.get(i, i), smooth.given.given_force[i].abs());
            let of_unit: &mut f64 = &mut strongest[unit.unwrap_or(pure)];
            *of_unit = of_unit.max(force);
            if mass > 0.0 {
                strongest_scaled = strongest_scaled.max(force / mass.sqrt());
            }
        }
        for (i, unit) in self.units.iter().enumerate() {
            let (mass, force) = (smooth.given.mass_matrix.get(i, i), smooth.given.given_force[i]);
            // a force on one coordinate may be held through another; that of another unit counts by M^(-1/2) Q
            let held = f64::max(strongest[unit.unwrap_or(pure)] / mass, strongest_scaled / mass.sqrt());
            let rounding = tolerance::FORCE_SUM_ROUNDING * held;
            self.rounding_acceleration[i] = if mass > 0.0 && rounding.is_finite() { rounding } else { 0.0 };
            if let Some(unit) = unit.filter(|_| mass > 0.0) {
                let reach = (force / mass).abs() * time * time;
                self.noise[unit] = self.noise[unit].max(f64::EPSILON * if reach.is_finite() { reach } else { 0.0 });
            }
        }
    }

    /// The largest component of x relative to the error that is allowed.
    #[inline]
    pub(super) fn size(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.allowed).fold(0.0, |top: f64, (x, a)| top.max((x / a).abs()))
    }
}

/// Coordinates without mass that occur in no row on positions.
fn first_order_states<D: Dynamics + ?Sized>(smooth: &Smooth<D>) -> Vec<usize> {
    let (M, A) = (&smooth.given.mass_matrix, &smooth.given.constraint_matrix);
    let is_placed = |j: usize| (0..smooth.h).any(|row| A.row(row).0.contains(&j));
    (0..smooth.n).filter(|&j| M.row(j).0.is_empty() && !is_placed(j)).collect()
}
