//! The length of the next step.

use super::{Motion, scales::STEP_SHARE};
use crate::{Dynamics, Method, MotionError};

/// Longest and shortest next step, as multiples of the last.
const GROWTH: (f64, f64) = (0.2, 6.0);

/// What the estimate may miss: the next step is this part of the ideal one.
const SAFETY: f64 = 0.9;

/// The weight of the last error relative to the present one.
const ERROR_MEMORY: f64 = 0.3;

/// The step that error control wants next, and why the last attempt failed.
pub(super) struct StepSize {
    pub(super) h: f64,
    /// The error of the last accepted step, and `true` if the next may be longer.
    last_error: f64,
    may_grow: bool,
    cause: Option<MotionError>,
    /// Where steps of one length began, and how many have been taken since.
    fixed: (f64, usize),
}

impl StepSize {
    pub(super) fn new(start: f64) -> StepSize {
        StepSize { h: 0.0, last_error: 1.0, may_grow: true, cause: None, fixed: (start, 0) }
    }

    /// The next step is to have this length.
    #[inline]
    pub(super) fn set(&mut self, h: f64) {
        self.h = h;
    }

    /// The next step is not to be longer than this.
    #[inline]
    pub(super) fn limit(&mut self, h: f64) {
        self.h = self.h.min(h);
    }

    /// The next step may be this long.
    #[inline]
    pub(super) fn raise(&mut self, h: f64) {
        self.h = self.h.max(h);
    }

    /// A step of length h could not be computed: a quarter of it is tried next.
    #[inline]
    pub(super) fn failed(&mut self, h: f64, cause: MotionError) {
        self.h = 0.25 * h;
        self.cause = Some(cause);
    }

    /// A formula is resolved in a step of length h only: that is tried next, and the step does not grow at once.
    pub(super) fn resolve(&mut self, h: f64, function: usize) {
        (self.h, self.may_grow) = (h, false);
        self.cause = Some(MotionError::Unresolved { function });
    }

    /// Nothing has failed yet in this step.
    #[inline]
    pub(super) fn clear_cause(&mut self) {
        self.cause = None;
    }

    /// Why the last attempt failed, if it did.
    #[inline]
    pub(super) fn take_cause(&mut self) -> Option<MotionError> {
        self.cause.take()
    }

    /// Steps of one length that end at the end: `left` is the time until then.
    #[inline]
    pub(super) fn fix(&mut self, t: f64, left: f64) {
        self.h = left / (left / self.h - 1e-9).ceil().max(1.0);
        self.fixed = (t, 0);
    }

    /// The end of the next step of one length: counted, so that rounding does not add up.
    #[inline]
    pub(super) fn next_fixed(&mut self) -> f64 {
        self.fixed.1 += 1;
        self.fixed.0 + self.fixed.1 as f64 * self.h
    }

    /// `true` if an error, as a multiple of what is allowed, is accepted; sets the next step.
    #[inline]
    pub(super) fn accepts(&mut self, error: f64, h: f64, limit: f64, order: i32) -> Result<bool, MotionError> {
        if !error.is_finite() {
            return Err(MotionError::NotFinite { what: "the error estimate".into() });
        }
        let accepted = error <= limit;
        let error = error.max(1e-10);
        // a part of the last error damps the to and fro of step sizes (Gustafsson)
        let exponent = 1.0 / f64::from(order);
        let damped =
            error.powf(-exponent + 0.75 * ERROR_MEMORY * exponent) * self.last_error.powf(ERROR_MEMORY * exponent);
        let factor = (SAFETY * damped).clamp(GROWTH.0, GROWTH.1);
        self.h = if !accepted {
            self.may_grow = false;
            h * (SAFETY * error.powf(-exponent)).clamp(GROWTH.0, SAFETY)
        } else {
            self.last_error = error.clamp(1e-4, 1.0);
            // after a rejection the step does not grow at once
            h * if std::mem::replace(&mut self.may_grow, true) && error <= 1.0 { factor } else { factor.min(1.0) }
        };
        Ok(accepted)
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// A first step after Hairer, Nørsett and Wanner, II.4: from the sizes of y, ẏ and ÿ.
    pub(super) fn first_step(&mut self, rate: &[f64]) -> Result<f64, MotionError> {
        let (n2, t, y) = (2 * self.flow.smooth.n, self.point.t, &self.point.y);
        let whole = self.options.end - t;
        let (d0, d1) = (self.scales.size(&y[..n2]), self.scales.size(&rate[..n2]));
        // what is less than the error that is allowed may be rounding, and has no size
        let h0 = if d0 < 1.0 || d1 < 1e-5 { 1e-6 * whole } else { 0.01 * d0 / d1 }.min(whole);
        let y1: Vec<f64> = y.iter().zip(rate).map(|(y, f)| y + h0 * f).collect();
        let mut f1 = vec![0.0; rate.len()];
        // if the system cannot be evaluated a little ahead, a tiny step finds out more
        if self.flow.rate_quickly(t + h0, &y1, &mut f1).is_err() {
            return Ok(1e-3 * h0);
        }
        let change: Vec<f64> = f1.iter().zip(rate).map(|(x, y)| x - y).collect();
        let d2 = self.scales.size(&change[..n2]) / h0;
        let method = self.integrator.method();
        if method.is_fixed_step() {
            // a three-hundredth of the shortest period
            let unit = STEP_SHARE * self.options.tolerance;
            let rate = (d1 * unit).max((d2 * unit).sqrt());
            return Ok(if rate > 0.0 { (0.02 / rate).min(whole) } else { 1e-3 * whole });
        }
        let order = if method == Method::Order8 { 8.0 } else { 5.0 };
        let scale = d1.max(d2);
        let h1 = if scale <= 1e-15 { f64::max(1e-6 * whole, 1e-3 * h0) } else { (0.01 / scale).powf(1.0 / order) };
        Ok((100.0 * h0).min(h1).min(whole))
    }
}
