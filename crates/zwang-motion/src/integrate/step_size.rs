//! How large errors are beside the motion, and how long the next step may be.

use super::*;

/// Longest and shortest next step, as multiples of the last.
const GROWTH: (f64, f64) = (0.2, 6.0);

/// What the estimate may miss: the next step is this part of the ideal one.
const SAFETY: f64 = 0.9;

/// How much the last error counts beside the present one.
const DAMPING: f64 = 0.3;

/// The size of velocities fades by this factor in a step: to half in fifty; and never below this part of the largest ever.
const FORGETTING: f64 = 0.986;
const LEAST_MEMORY: f64 = 1e-4;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Sizes of q and q̇ by which errors are measured: the largest of its unit so far.
    ///
    /// Pure numbers such as angles have a natural size, and each its own; their velocities share one. What is at rest
    /// takes √(size of q · |q̈|) where the motion starts `afresh`, or the pace of the others.
    pub(super) fn measure(&mut self, afresh: bool) {
        let first = self.counts.steps == 0 && self.t == self.t0;
        let n = self.flow.n;
        if first {
            self.flow.q_size.fill(0.0);
            self.of_unit.fill((0.0, 0.0));
            self.fastest.fill(0.0);
            self.measure_noise();
        }
        let Flow { instant, q_size, v_size, .. } = &mut self.flow;
        let of_unit = &mut self.of_unit;
        // a fast beginning is forgotten, but not a place of rest between two swings
        for ((_, v), ever) in of_unit.iter_mut().zip(&self.fastest) {
            *v = (*v * FORGETTING).max(LEAST_MEMORY * ever);
        }
        // the last place is that of the pure numbers
        let pure = of_unit.len() - 1;
        for i in 0..n {
            let (q, v) = &mut of_unit[self.units[i].unwrap_or(pure)];
            *q = q.max(instant.state.q[i].abs());
            *v = v.max(instant.state.qdot[i].abs());
        }
        for ((_, v), ever) in of_unit.iter().zip(&mut self.fastest) {
            *ever = ever.max(*v);
        }
        for i in 0..n {
            q_size[i] = match self.units[i] {
                Some(unit) if of_unit[unit].0 > self.noise[unit] => of_unit[unit].0,
                Some(_) => 1.0,
                None => q_size[i].max(instant.state.q[i].abs()).max(self.natural_size),
            };
        }
        // where forces hold each other, rounding of their balance is no motion
        let whole = self.plan.end - self.t0;
        if afresh {
            for i in (0..n).filter(|&i| instant.qddot[i].abs() > self.idle[i]) {
                let (_, v) = &mut of_unit[self.units[i].unwrap_or(pure)];
                *v = v.max((q_size[i] * instant.qddot[i].abs()).sqrt());
            }
        }
        let pace = |i: usize| match of_unit[self.units[i].unwrap_or(pure)].1 {
            v if v > self.idle[i] * whole => v / q_size[i],
            _ => 0.0,
        };
        let fastest = (0..n).map(pace).fold(0.0, f64::max);
        let slowest = 1e-3 * if fastest > 0.0 { fastest } else { 1.0 };
        for i in 0..n {
            v_size[i] = q_size[i] * pace(i).max(slowest);
            self.allowed[i] = SHARE * self.plan.tolerance * q_size[i];
            self.allowed[n + i] = SHARE * self.plan.tolerance * v_size[i];
        }
    }

    /// What holds still is held against forces: q̈ is zero but for the rounding of what they would do, and so are positions after
    /// the time of the run. Values below that say nothing about the size of the system.
    fn measure_noise(&mut self) {
        /// Rounding of a sum of forces.
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        self.noise.fill(0.0);
        let time = self.plan.end - self.t;
        let strongest = self.flow.given.given_force.iter().fold(0.0, |top: f64, f| top.max(f.abs()));
        for (i, unit) in self.units.iter().enumerate() {
            let (mass, force) = (self.flow.given.mass_matrix.get(i, i), self.flow.given.given_force[i]);
            // what pushes one coordinate may be held through another
            let idle = ROUNDING * (strongest / mass).abs();
            self.idle[i] = if mass > 0.0 && idle.is_finite() { idle } else { 0.0 };
            if let Some(unit) = unit.filter(|_| mass > 0.0) {
                let reach = (force / mass).abs() * time * time;
                self.noise[unit] = self.noise[unit].max(f64::EPSILON * if reach.is_finite() { reach } else { 0.0 });
            }
        }
    }

    /// A first step after Hairer, Nørsett and Wanner, II.4: from the sizes of y, ẏ and ÿ.
    pub(super) fn first_step(&mut self, rate: &[f64]) -> Result<f64, MotionError> {
        let n2 = 2 * self.flow.n;
        let whole = self.plan.end - self.t;
        let size =
            |x: &[f64], allowed: &[f64]| x.iter().zip(allowed).fold(0.0, |top: f64, (x, a)| top.max((x / a).abs()));
        let (d0, d1) = (size(&self.y[..n2], &self.allowed), size(&rate[..n2], &self.allowed));
        // what is less than the error that is allowed may be rounding, and has no size
        let h0 = if d0 < 1.0 || d1 < 1e-5 { 1e-6 * whole } else { 0.01 * d0 / d1 }.min(whole);
        let y1: Vec<f64> = self.y.iter().zip(rate).map(|(y, f)| y + h0 * f).collect();
        let mut f1 = vec![0.0; rate.len()];
        // where the system cannot be evaluated a little ahead, a tiny step finds out more
        if self.flow.rate_quickly(self.t + h0, &y1, &mut f1).is_err() {
            return Ok(1e-3 * h0);
        }
        let change: Vec<f64> = f1.iter().zip(rate).map(|(x, y)| x - y).collect();
        let d2 = size(&change[..n2], &self.allowed) / h0;
        if self.method.is_fixed_step() {
            // a three-hundredth of the shortest period
            let unit = SHARE * self.plan.tolerance;
            let pace = (d1 * unit).max((d2 * unit).sqrt());
            return Ok(if pace > 0.0 { (0.02 / pace).min(whole) } else { 1e-3 * whole });
        }
        let order = if self.method == Method::Order8 { 8.0 } else { 5.0 };
        let scale = d1.max(d2);
        let h1 = if scale <= 1e-15 { f64::max(1e-6 * whole, 1e-3 * h0) } else { (0.01 / scale).powf(1.0 / order) };
        Ok((100.0 * h0).min(h1).min(whole))
    }

    /// Whether an error, as a multiple of what is allowed, is accepted; sets the next step.
    pub(super) fn judge(&mut self, error: f64, h: f64, limit: f64, order: i32) -> Result<bool, MotionError> {
        if !error.is_finite() {
            return Err(MotionError::NotFinite { what: "the error estimate".into() });
        }
        let accepted = error <= limit;
        let error = error.max(1e-10);
        // a part of the last error damps the to and fro of step sizes (Gustafsson)
        let exponent = 1.0 / f64::from(order);
        let damped = error.powf(-exponent + 0.75 * DAMPING * exponent) * self.last_error.powf(DAMPING * exponent);
        let factor = (SAFETY * damped).clamp(GROWTH.0, GROWTH.1);
        self.h = if !accepted {
            self.grows = false;
            h * (SAFETY * error.powf(-exponent)).clamp(GROWTH.0, SAFETY)
        } else {
            self.last_error = error.clamp(1e-4, 1.0);
            // after a rejection the step does not grow at once
            h * if std::mem::replace(&mut self.grows, true) && error <= 1.0 { factor } else { factor.min(1.0) }
        };
        Ok(accepted)
    }
}
