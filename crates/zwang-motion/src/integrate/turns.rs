//! What is watched while a mode lasts: gaps, pushes, cones and slips.

use super::contact::{LIFTING, TOUCHING};
use crate::unilateral::Contact;
use crate::unilateral::modes::Grip;
use crate::{Dynamics, MotionError, flow::Flow};

/// Rates of slip, in those that are rounding, below which their ups and downs do not matter.
const SLOW: f64 = 1e3;

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// How many ends of the mode are watched.
    pub(super) fn n_turns(&self) -> usize {
        self.modes.contacts.len() + 2 * self.modes.frictions.len()
    }

    /// How fast the gaps of open contacts change here; those of closed ones do not.
    pub(super) fn closing(&mut self) -> Result<Vec<f64>, MotionError> {
        if self.modes.contacts.is_empty() {
            return Ok(Vec::new());
        }
        let rates = self.rates()?;
        let rate = |(c, contact): (usize, &Contact)| if self.modes.closed[c] { 0.0 } else { rates[contact.row] };
        Ok(self.modes.contacts.iter().enumerate().map(rate).collect())
    }

    /// What is negative where the mode has ended: the gap of an open contact that is closing, the push of a closed one. The
    /// shapes are the same as continuous quantities, of which what lies below the floors does not matter.
    pub(super) fn fill_turns(
        &mut self,
        values: &mut [f64],
        shapes: &mut [f64],
        floors: &mut [f64],
    ) -> Result<(), MotionError> {
        if self.modes.is_empty() {
            return Ok(());
        }
        self.evaluate()?;
        let mut gaps = vec![0.0; self.h];
        self.dynamics.fill_positions(&self.instant.state, &mut gaps)?;
        let rates = self.rates()?;
        for (c, contact) in self.modes.contacts.iter().enumerate() {
            let row = contact.row;
            values[c] = if self.modes.closed[c] {
                self.instant.lambda[row] + self.modes.no_push
            } else {
                let slack = if self.modes.lifting[c] { LIFTING * self.row_size(row, &self.q_size) } else { 0.0 };
                let is_struck = gaps[row] < -slack && rates[row] < 0.0;
                if is_struck { -1.0 } else { 1.0 }
            };
        }
        let first = self.modes.contacts.len();
        for k in 0..self.modes.frictions.len() {
            (values[first + 2 * k], values[first + 2 * k + 1]) = self.friction_turns(k, &rates)?;
        }
        shapes.copy_from_slice(values);
        let top = self.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        floors.fill(TOUCHING * top);
        for (c, contact) in self.modes.contacts.iter().enumerate().filter(|(c, _)| !self.modes.closed[*c]) {
            shapes[c] = gaps[contact.row];
            floors[c] = self.modes.tolerance * self.row_size(contact.row, &self.q_size);
        }
        for (k, friction) in self.modes.frictions.iter().enumerate() {
            if matches!(self.modes.grips[k], Grip::Slides(_)) {
                floors[first + 2 * k] = SLOW * self.rate_noise(&friction.slip);
            }
        }
        Ok(())
    }

    /// What is negative where friction k changes: its room in the cone, or its slip along its direction; and the force that
    /// presses, where it may change its side.
    fn friction_turns(&mut self, k: usize, rates: &[f64]) -> Result<(f64, f64), MotionError> {
        let friction = self.modes.frictions[k].clone();
        let pushes = friction.pushes(&self.instant.lambda);
        match self.modes.grips[k] {
            Grip::Idle => Ok((1.0, 1.0)),
            Grip::Sticks => {
                self.feel()?;
                let rough = self.modes.roughness[k];
                let force = friction.slip.iter().map(|&row| self.instant.lambda[row].powi(2)).sum::<f64>().sqrt();
                Ok((rough.holding * rough.normal(&pushes) - force + self.modes.no_push, 1.0))
            }
            Grip::Slides(sense) => {
                let along: f64 = match friction.slip[..] {
                    [row] => sense * rates[row],
                    _ => friction.slip.iter().zip(&self.modes.directions[k]).map(|(&row, d)| d * rates[row]).sum(),
                };
                let is_sided = friction.contact.is_none() && friction.single().is_some();
                let side = if is_sided { self.modes.presses[k] * pushes[0] } else { 1.0 };
                Ok((along + self.rate_noise(&friction.slip) + self.modes.behind[k], side + self.modes.no_push))
            }
        }
    }
}
