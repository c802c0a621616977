//! Power and work of the constraint forces along the motion: ideal part, nonideal part and C, separately.

use zwang_motion::{Motion, MotionError};

use crate::compile::evaluator::Evaluator;

/// Power, or work, of the parts of the constraint force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Of Qc_ideal = Aᵀλ: zero unless a constraint depends on time.
    pub ideal: f64,
    /// Of Qc_nonideal, the acting part of C with the resulting change of the reactions.
    pub nonideal: f64,
    /// Of C as prescribed: nonideal laws and sliding friction.
    pub law: f64,
}

impl Parts {
    fn add(&mut self, weight: f64, other: Parts) {
        self.ideal += weight * other.ideal;
        self.nonideal += weight * other.nonideal;
        self.law += weight * other.law;
    }
}

/// The work since the start, accumulated over the steps.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkIntegrator {
    /// The work up to the start of the last step, and the work in it.
    before: Parts,
    step: Parts,
}

/// Gauss's five nodes in (−1, 1) and their weights, exact for polynomials of degree nine: more than the dense output
/// has.
const PLACES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

impl WorkIntegrator {
    /// Adds the work of the last step.
    pub(super) fn look(&mut self, motion: &mut Motion<Evaluator>) -> Result<(), MotionError> {
        let last = self.step;
        self.before.add(1.0, last);
        self.step = work(motion, motion.step_start(), motion.t())?;
        Ok(())
    }

    /// The work to a time in the last step.
    pub(super) fn at(&self, motion: &mut Motion<Evaluator>, t: f64) -> Result<Parts, MotionError> {
        let mut whole = self.before;
        match t == motion.t() {
            true => whole.add(1.0, self.step),
            false => whole.add(1.0, work(motion, motion.step_start(), t)?),
        }
        Ok(whole)
    }

    /// The work to the end.
    pub(super) fn total(&self) -> Parts {
        let mut whole = self.before;
        whole.add(1.0, self.step);
        whole
    }
}

/// The work between two times in the last step.
fn work(motion: &mut Motion<Evaluator>, from: f64, to: f64) -> Result<Parts, MotionError> {
    let mut sum = Parts::default();
    let half = 0.5 * (to - from);
    if half == 0.0 {
        return Ok(sum);
    }
    for (place, weight) in PLACES {
        motion.at(from + half * (1.0 + place))?;
        sum.add(weight * half, power(motion));
    }
    Ok(sum)
}

/// The power at the instant evaluated last.
pub(super) fn power(motion: &Motion<Evaluator>) -> Parts {
    let forces = motion.force_parts();
    let velocity = &motion.instant().state.qdot;
    let by = |force: &[f64]| force.iter().zip(velocity).map(|(f, v)| f * v).sum();
    Parts { ideal: by(&forces.ideal), nonideal: by(&forces.nonideal), law: by(&forces.law) }
}
