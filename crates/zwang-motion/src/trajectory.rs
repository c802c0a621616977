//! A whole motion, known at every instant.

use crate::{Dynamics, Motion, MotionError, State, Step};

/// The accepted steps of a motion with their dense output, one after the other.
///
/// At an event that changes the velocities two steps meet with different states; the later one counts there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    steps: Vec<Step>,
}

impl Trajectory {
    /// Follows a motion to its end and keeps every step. Memory grows with the number of steps.
    pub fn follow<D: Dynamics + ?Sized>(motion: &mut Motion<'_, D>) -> Result<Trajectory, MotionError> {
        let mut steps = Vec::new();
        while motion.advance() {
            steps.push(motion.last_step()?.clone());
        }
        Ok(Trajectory { steps })
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// When it begins and ends; none if no step was taken.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.steps.first()?.start, self.steps.last()?.end))
    }

    /// The state at a time, as interpolated; none outside the motion.
    pub fn state(&self, t: f64) -> Option<State> {
        let (start, end) = self.span()?;
        if !(start..=end).contains(&t) {
            return None;
        }
        let after = self.steps.partition_point(|step| step.start <= t);
        Some(self.steps[after.max(1) - 1].state(t))
    }
}
