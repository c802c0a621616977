//! RATTLE: a symplectic, time-symmetric method with a fixed step for systems with position constraints.

use super::step::{Step, join};
use crate::{ConstraintLevel, Dynamics, Legendre, Method, MotionError, flow::Flow, limits, tolerance};

/// The partitioned Lobatto method of order 2 on (q, p) (Jay 1996), which for constant M is RATTLE of Andersen:
///
/// $$ p_{1/2} = p_0 + \tfrac h2\bigl(\partial L/\partial q + F + A^T\lambda\bigr)_0, \quad
///    q_1 = q_0 + \tfrac h2(v_0 + v_1), \quad
///    p_1 = p_{1/2} + \tfrac h2\bigl(\partial L/\partial q + F + A^T\mu\bigr)_1 $$
///
/// with v the velocity that belongs to p_{1/2} at either end, λ from φ(q₁) = 0 and µ from φ̇(q₁, v₁) = 0. Composed of five such
/// steps (Suzuki) it has order 4.
pub(crate) struct Rattle {
    n: usize,
    parts: Vec<f64>,
    legendre: Legendre,
    q: Vec<f64>,
    q0: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    half: Vec<f64>,
    kick: Vec<f64>,
    held: Vec<f64>,
    v0: Vec<f64>,
    v1: Vec<f64>,
    phi: Vec<f64>,
    rhs: Vec<f64>,
    delta: Vec<f64>,
    rate: Vec<f64>,
    pub(crate) end: Vec<f64>,
}

impl Rattle {
    /// Fails if the system has no Lagrangian, or constraints that are not on positions.
    pub(crate) fn new<D: Dynamics + ?Sized>(flow: &mut Flow<D>, method: Method) -> Result<Rattle, MotionError> {
        let (n, m, size) = (flow.smooth.n, flow.smooth.given.constraint_rhs.len(), flow.smooth.n_values());
        let lagrangian = flow.smooth.dynamics.legendre().ok_or(MotionError::NoLegendre)?;
        let (legendre, is_natural) = (lagrangian.allocate_legendre(), lagrangian.is_natural());
        if flow.smooth.h < m || flow.smooth.dynamics.nonideal().is_some() {
            return Err(MotionError::NotHolonomic { row: flow.smooth.h });
        }
        if flow.smooth.control.is_some() {
            return Err(MotionError::Controlled);
        }
        if !is_natural {
            return Err(MotionError::NotQuadratic);
        }
        if flow.smooth.all.has_singular_mass() {
            return Err(MotionError::MassSingular);
        }
        let parts = match method {
            Method::Rattle4 => {
                let outer = 1.0 / (4.0 - 4f64.cbrt());
                vec![outer, outer, 1.0 - 4.0 * outer, outer, outer]
            }
            _ => vec![1.0],
        };
        let zeros = |k: usize| vec![0.0; k];
        Ok(Rattle {
            n,
            parts,
            legendre,
            q: zeros(n),
            q0: zeros(n),
            v: zeros(n),
            p: zeros(n),
            half: zeros(n),
            kick: zeros(n),
            held: zeros(n),
            v0: zeros(n),
            v1: zeros(n),
            phi: zeros(m),
            rhs: zeros(m),
            delta: zeros(n),
            rate: zeros(size),
            end: zeros(size),
        })
    }

    /// The method of this order.
    pub(crate) fn method(&self) -> Method {
        if self.parts.len() == 1 { Method::Rattle } else { Method::Rattle4 }
    }

    /// p at the state, and the decomposition there.
    pub(crate) fn restart<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
    ) -> Result<(), MotionError> {
        self.q.copy_from_slice(&y[..self.n]);
        self.v.copy_from_slice(&y[self.n..2 * self.n]);
        flow.smooth.set_state(t, y);
        flow.smooth.factor()?;
        flow.smooth.fill_legendre(&mut self.legendre)?;
        self.p.copy_from_slice(&self.legendre.momentum);
        Ok(())
    }

    /// One step from (t, y), which is where the last one ended.
    pub(crate) fn attempt<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(), MotionError> {
        // the samples taken meanwhile have moved the flow away
        self.restart(flow, t, y)?;
        let mut now = t;
        for k in 0..self.parts.len() {
            let part = self.parts[k] * h;
            self.kick_and_drift(flow, now, part)?;
            now += part;
            self.kick_again(flow, now, part)?;
        }
        let n = self.n;
        self.end.copy_from_slice(y);
        self.end[..n].copy_from_slice(&self.q);
        self.end[n..2 * n].copy_from_slice(&self.v);
        self.integrate(flow, t, y, h)
    }

    /// The integrals by the trapezoidal rule, which has the order of one part of the step.
    fn integrate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(), MotionError> {
        let n2 = 2 * self.n;
        if y.len() == n2 {
            return Ok(());
        }
        flow.rate(t, y, false, &mut self.rate)?;
        for k in n2..y.len() {
            self.end[k] = y[k] + 0.5 * h * self.rate[k];
        }
        flow.rate(t + h, &self.end, false, &mut self.rate)?;
        for k in n2..y.len() {
            self.end[k] += 0.5 * h * self.rate[k];
        }
        Ok(())
    }

    fn kick_at<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, t: f64, at_end: bool) -> Result<(), MotionError> {
        let state = &mut flow.smooth.instant.state;
        state.t = t;
        state.q.copy_from_slice(&self.q);
        state.qdot.copy_from_slice(if at_end { &self.v1 } else { &self.v0 });
        flow.smooth.fill_legendre(&mut self.legendre)?;
        // ∂L/∂q + F, with ∂L/∂q = (∂p/∂q)ᵀ q̇ − ∂E/∂q
        let Legendre { momentum_by_q, energy_by_q, force, .. } = &self.legendre;
        momentum_by_q.multiply_transposed(&flow.smooth.instant.state.qdot, &mut self.kick);
        for i in 0..self.n {
            self.kick[i] += force[i] - energy_by_q[i];
        }
        Ok(())
    }

    /// v with p(q, v) = half, by M⁻¹ of the start of the step; the legendre data are those at v.
    fn velocity<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, at_end: bool) -> f64 {
        for i in 0..self.n {
            self.delta[i] = self.half[i] - self.legendre.momentum[i];
        }
        flow.smooth.all.solve_mass(&mut self.delta);
        let v = if at_end { &mut self.v1 } else { &mut self.v0 };
        let mut most = 0f64;
        for i in 0..self.n {
            v[i] += self.delta[i];
            most = most.max(self.delta[i].abs() / flow.smooth.v_size[i]);
        }
        most
    }

    /// p½ and q₁ with φ(q₁) = 0.
    fn kick_and_drift<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, t: f64, h: f64) -> Result<(), MotionError> {
        let n = self.n;
        self.q0.copy_from_slice(&self.q);
        self.held.fill(0.0);
        self.v0.copy_from_slice(&self.v);
        self.v1.copy_from_slice(&self.v);
        for i in 0..n {
            self.q[i] = self.q0[i] + h * self.v[i];
        }
        let mut last = f64::INFINITY;
        for _ in 0..limits::RATTLE_ROUNDS {
            // p½ = p₀ + h/2 (∂L/∂q + F) + the part that holds the constraints
            std::mem::swap(&mut self.q, &mut self.q0);
            self.kick_at(flow, t, false)?;
            for i in 0..n {
                self.half[i] = self.p[i] + 0.5 * h * self.kick[i] + self.held[i];
            }
            let mut change = self.velocity(flow, false);
            std::mem::swap(&mut self.q, &mut self.q0);
            self.kick_at(flow, t + h, true)?;
            change = change.max(self.velocity(flow, true));
            for i in 0..n {
                let q = self.q0[i] + 0.5 * h * (self.v0[i] + self.v1[i]);
                change = change.max((q - self.q[i]).abs() / flow.smooth.q_size[i]);
                self.q[i] = q;
            }
            change = change.max(self.hold(flow, t + h, h)?);
            if change <= tolerance::RATTLE_CONVERGED || (change >= 0.5 * last && change < tolerance::RATTLE_STALLED) {
                return Ok(());
            }
            if !change.is_finite() {
                break;
            }
            last = change;
        }
        Err(MotionError::NotConverged { residual: last })
    }

    /// Moves q₁ along M⁻¹A₀ᵀ towards φ(q₁) = 0 and notes the impulse that does it; how far it went.
    fn hold<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, t: f64, h: f64) -> Result<f64, MotionError> {
        if self.phi.is_empty() {
            return Ok(0.0);
        }
        flow.smooth.instant.state.t = t;
        flow.smooth.instant.state.q.copy_from_slice(&self.q);
        flow.smooth.residuals(ConstraintLevel::Positions, &mut self.phi)?;
        self.rhs.iter_mut().zip(&self.phi).for_each(|(r, x)| *r = -x);
        flow.smooth.all.solve(&flow.smooth.given.constraint_matrix, &[], &[], &self.rhs, &mut self.delta)?;
        let mut most = 0f64;
        for i in 0..self.n {
            self.held[i] += flow.smooth.given.mass_matrix.row_times(i, &self.delta) / h;
            most = most.max(self.delta[i].abs() / flow.smooth.q_size[i]);
        }
        Ok(most)
    }

    /// p₁ and v₁ with φ̇(q₁, v₁) = 0; the decomposition is then that of the new state.
    fn kick_again<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, t: f64, h: f64) -> Result<(), MotionError> {
        let n = self.n;
        self.kick_at(flow, t, true)?;
        for i in 0..n {
            self.half[i] += 0.5 * h * self.kick[i];
        }
        flow.smooth.factor()?;
        let mut last = f64::INFINITY;
        for _ in 0..limits::RATTLE_ROUNDS {
            let change = self.velocity(flow, true);
            self.kick_at(flow, t, true)?;
            if change <= tolerance::RATTLE_CONVERGED * 8.0
                || (change >= 0.5 * last && change < tolerance::RATTLE_STALLED)
            {
                break;
            }
            last = change;
        }
        self.v.copy_from_slice(&self.v1);
        flow.smooth.instant.state.t = t;
        flow.smooth.instant.state.q.copy_from_slice(&self.q);
        flow.smooth.instant.state.qdot.copy_from_slice(&self.v);
        flow.smooth.project_velocity()?;
        self.v.copy_from_slice(&flow.smooth.instant.state.qdot);
        flow.smooth.fill_legendre(&mut self.legendre)?;
        self.p.copy_from_slice(&self.legendre.momentum);
        Ok(())
    }

    /// The cubic through both ends with their rates.
    pub(crate) fn dense<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        h: f64,
        step: &mut Step,
    ) -> Result<(), MotionError> {
        let size = self.end.len();
        let (mut f0, mut f1) = (vec![0.0; size], vec![0.0; size]);
        flow.rate(step.start, &step.y, false, &mut f0)?;
        flow.rate(step.start + h, &self.end, false, &mut f1)?;
        join(&mut step.F, h, (&step.y, &f0), (&self.end, &f1), 0);
        Ok(())
    }
}
