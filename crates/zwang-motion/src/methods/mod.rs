//! Integration methods: Runge-Kutta of order 5 and 8, Radau of order 5 for stiff systems, RATTLE with a fixed step.

mod radau;
mod rattle;
mod runge_kutta;
mod step;
mod tableau;

pub(crate) use radau::Radau;
pub(crate) use rattle::Rattle;
pub(crate) use runge_kutta::{RungeKutta, Spread};
pub use step::Step;
pub use tableau::{ORDER_5, ORDER_8};

use crate::{Dynamics, Method, MotionError, flow::Flow};

/// The integration method in use, with its stages.
pub(crate) enum Integrator {
    RungeKutta(RungeKutta),
    Radau(Box<Radau>),
    Rattle(Box<Rattle>),
}

impl Integrator {
    /// Fails if the system lacks an ability that the method needs.
    pub(crate) fn new<D: Dynamics + ?Sized>(flow: &mut Flow<D>, method: Method) -> Result<Integrator, MotionError> {
        Ok(match method {
            Method::Stiff => Integrator::Radau(Box::new(Radau::new(flow)?)),
            Method::Rattle | Method::Rattle4 => Integrator::Rattle(Box::new(Rattle::new(flow, method)?)),
            Method::Order5 => Integrator::RungeKutta(RungeKutta::new(&ORDER_5, flow.smooth.n_values())),
            _ => Integrator::RungeKutta(RungeKutta::new(&ORDER_8, flow.smooth.n_values())),
        })
    }

    /// The method in use.
    #[inline]
    pub(crate) fn method(&self) -> Method {
        match self {
            Integrator::RungeKutta(rk) if rk.tableau.order == ORDER_5.order => Method::Order5,
            Integrator::RungeKutta(_) => Method::Order8,
            Integrator::Radau(_) => Method::Stiff,
            Integrator::Rattle(rattle) => rattle.method(),
        }
    }

    /// `true` if all steps have one length.
    #[inline]
    pub(crate) fn is_fixed_step(&self) -> bool {
        matches!(self, Integrator::Rattle(_))
    }

    /// The explicit method, if that is in use.
    #[inline]
    pub(crate) fn runge_kutta(&self) -> Option<&RungeKutta> {
        if let Integrator::RungeKutta(rk) = self { Some(rk) } else { None }
    }

    /// The explicit method, if that is in use.
    #[inline]
    pub(crate) fn runge_kutta_mut(&mut self) -> Option<&mut RungeKutta> {
        if let Integrator::RungeKutta(rk) = self { Some(rk) } else { None }
    }

    /// Fills in the dense output of the last trial step, of which `step` holds the start, the length and y at the start.
    pub(crate) fn fill_dense<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &mut Step,
    ) -> Result<(), MotionError> {
        match self {
            Integrator::RungeKutta(rk) => rk.fill_dense(flow, step),
            Integrator::Radau(radau) => {
                radau.dense(step.h, step);
                Ok(())
            }
            Integrator::Rattle(rattle) => rattle.dense(flow, step.h, step),
        }
    }

    /// Starts from (t, y), of which the rate is known, without regard to earlier steps.
    pub(crate) fn restart<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        (t, y): (f64, &[f64]),
        rate: &[f64],
    ) -> Result<(), MotionError> {
        match self {
            Integrator::RungeKutta(rk) => rk.rate_mut(0).copy_from_slice(rate),
            Integrator::Radau(radau) => radau.restart(),
            Integrator::Rattle(rattle) => rattle.restart(flow, t, y)?,
        }
        Ok(())
    }

    /// The end of the last trial step.
    #[inline]
    pub(crate) fn end(&self) -> &[f64] {
        match self {
            Integrator::RungeKutta(rk) => &rk.end,
            Integrator::Radau(radau) => &radau.end,
            Integrator::Rattle(rattle) => &rattle.end,
        }
    }
}
