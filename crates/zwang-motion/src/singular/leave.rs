//! The first step out of a position in which the constraints lose rank.

use crate::{Dynamics, MotionError, flow::Flow, limits, methods::Radau};

/// The first step out of a singular position.
pub(crate) struct FirstStep {
    pub(crate) radau: Radau,
    pub(crate) h: f64,
    /// Its error as a multiple of what is allowed.
    pub(crate) error: f64,
}

/// The first step out of a position in which the constraints lose rank, where the motion cannot be evaluated: collocation has
/// no node there. One step is compared with two of half its length.
///
/// The step is not longer than `longest`; `None` if its error exceeds `most`, a multiple of what is allowed. Counts the steps that were
/// tried in vain.
pub(crate) fn first_step<D: Dynamics + ?Sized>(
    flow: &mut Flow<D>,
    (t, y): (f64, &[f64]),
    allowed: &[f64],
    longest: f64,
    most: f64,
    n_rejected: &mut usize,
) -> Result<Option<FirstStep>, MotionError> {
    let n = flow.smooth.n;
    let rate = (0..n).map(|i| y[n + i].abs() / flow.smooth.q_size[i]).fold(0.0, f64::max);
    let mut h = (0.05 / rate).min(longest);
    let (mut whole, mut half) = (Radau::new(flow)?, Radau::new(flow)?);
    (whole.by_iteration, half.by_iteration) = (true, true);
    let mut best = (f64::INFINITY, h);
    for _ in 0..limits::FIRST_STEP_HALVINGS {
        match try_both(flow, (&mut whole, &mut half), (t, y), allowed, h) {
            Ok(error) if error < best.0 => best = (error, h),
            // rounding grows when the step shrinks
            Ok(error) if error > 4.0 * best.0 => break,
            _ => {}
        }
        if best.0 <= 1.0 {
            break;
        }
        *n_rejected += 1;
        h *= 0.5;
    }
    if !(best.0 <= most) {
        return Ok(None);
    }
    try_both(flow, (&mut whole, &mut half), (t, y), allowed, best.1)?;
    Ok(Some(FirstStep { radau: whole, h: best.1, error: best.0 }))
}

/// The error of one step of length h, from two of half its length.
fn try_both<D: Dynamics + ?Sized>(
    flow: &mut Flow<D>,
    (whole, half): (&mut Radau, &mut Radau),
    (t, y): (f64, &[f64]),
    allowed: &[f64],
    h: f64,
) -> Result<f64, MotionError> {
    whole.restart();
    whole.attempt(flow, t, y, h, allowed)?;
    half.restart();
    half.attempt(flow, t, y, 0.5 * h, allowed)?;
    let middle = half.end.clone();
    half.attempt(flow, t + 0.5 * h, &middle, 0.5 * h, allowed)?;
    // the two differ by 31 times the error of the better one, for order 5
    let parts = allowed.iter().enumerate().map(|(i, a)| ((whole.end[i] - half.end[i]) / a).abs());
    Ok(parts.fold(0.0, f64::max))
}
