//! A whole motion with dense output.

use crate::{Dynamics, Motion, MotionError, State, Step};

/// The accepted steps of a motion with their dense output, one after the other.
///
/// At an event that changes the velocities, adjacent steps have different states; the state there is that of the later
/// step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    steps: Vec<Step>,
}

impl Trajectory {
    /// Computes a motion to its end and keeps every step. Memory grows with the number of steps.
    pub fn follow<D: Dynamics + ?Sized>(motion: &mut Motion<'_, D>) -> Result<Trajectory, MotionError> {
        let mut steps = Vec::new();
        while motion.advance() {
            steps.push(motion.last_step()?.clone());
        }
        Ok(Trajectory { steps })
    }

    /// Adds the step that follows the last one.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Times of the start and the end; `None` if no step was taken.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.steps.first()?.start, self.steps.last()?.end))
    }

    /// The interpolated state at a time; `None` outside the motion.
    pub fn state(&self, t: f64) -> Option<State> {
        let (start, end) = self.span()?;
        if !(start..=end).contains(&t) {
            return None;
        }
        let after = self.steps.partition_point(|step| step.start <= t);
        Some(self.steps[after.max(1) - 1].state(t))
    }
}
