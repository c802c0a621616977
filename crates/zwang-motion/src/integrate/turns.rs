//! What is watched while a mode lasts: gaps, pushes, cones and slips.

use super::contact::{LIFTING, TOUCHING};
use crate::factor::dot;
use crate::unilateral::modes::{Grip, Modes};
use crate::unilateral::{Contact, length};
use crate::{Dynamics, MotionError, flow::Flow};

/// Rates of slip, in those that are rounding, below which their ups and downs do not matter.
const SLOW: f64 = 1e3;

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// How many ends of the mode are watched.
    pub(super) fn n_turns(&self) -> usize {
        self.modes.contacts.len() + 2 * self.modes.frictions.len()
    }

    /// How fast the gaps of open contacts change here; those of closed ones do not.
    pub(super) fn fill_closing(&mut self, closing: &mut Vec<f64>) -> Result<(), MotionError> {
        closing.clear();
        if self.modes.contacts.is_empty() {
            return Ok(());
        }
        self.fill_rates()?;
        let Modes { contacts, closed, rates, .. } = &self.modes;
        let rate = |(contact, &closed): (&Contact, &bool)| if closed { 0.0 } else { rates[contact.row] };
        closing.extend(contacts.iter().zip(closed).map(rate));
        Ok(())
    }

    /// How fast the gap of a contact changes here.
    pub(super) fn closing_rate(&mut self, c: usize) -> Result<f64, MotionError> {
        self.fill_rates()?;
        Ok(self.modes.rates[self.modes.contacts[c].row])
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
        self.fill_gaps()?;
        self.fill_rates()?;
        let (gaps, rates) = (&self.residual, &self.modes.rates);
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
        self.feel()?;
        for k in 0..self.modes.frictions.len() {
            (values[first + 2 * k], values[first + 2 * k + 1]) = self.friction_turns(k);
        }
        shapes.copy_from_slice(values);
        let top = self.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        floors.fill(TOUCHING * top);
        for (c, contact) in self.modes.contacts.iter().enumerate().filter(|(c, _)| !self.modes.closed[*c]) {
            shapes[c] = self.residual[contact.row];
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
    fn friction_turns(&self, k: usize) -> (f64, f64) {
        let (modes, lambda) = (&self.modes, &self.instant.lambda);
        let friction = &modes.frictions[k];
        let pushes = friction.pushes(lambda);
        match modes.grips[k] {
            Grip::Idle => (1.0, 1.0),
            Grip::Sticks => {
                let force = length(&friction.slips(|row| lambda[row]));
                (modes.roughness[k].holding * modes.roughness[k].normal(&pushes) - force + modes.no_push, 1.0)
            }
            Grip::Slides(sense) => {
                let along = match friction.slip[..] {
                    [row] => sense * modes.rates[row],
                    _ => dot(&friction.slips(|row| modes.rates[row]), &modes.directions[k]),
                };
                let is_sided = friction.contact.is_none() && friction.single().is_some();
                let side = if is_sided { modes.presses[k] * pushes[0] } else { 1.0 };
                (along + self.rate_noise(&friction.slip) + modes.behind[k], side + modes.no_push)
            }
        }
    }
}
