//! Guards of a contact mode: gaps, normal forces, cones and slips.

use super::ContactSystem;
use super::place::{ContactMode, ContactState};
use super::{ContactRow, length};
use crate::factor::dot;
use crate::{Dynamics, MotionError, tolerance};

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// The rate of the gap of each open contact at the state; zero for closed ones.
    pub(crate) fn fill_closing(&mut self, closing: &mut Vec<f64>) -> Result<(), MotionError> {
        closing.clear();
        if self.mode.contacts.is_empty() {
            return Ok(());
        }
        self.fill_rates()?;
        let ContactMode { contacts, closed, rates, .. } = &*self.mode;
        let rate = |(contact, &closed): (&ContactRow, &bool)| if closed { 0.0 } else { rates[contact.row] };
        closing.extend(contacts.iter().zip(closed).map(rate));
        Ok(())
    }

    /// The rate of the gap of a contact at the state.
    pub(crate) fn closing_rate(&mut self, c: usize) -> Result<f64, MotionError> {
        self.fill_rates()?;
        Ok(self.mode.rates[self.mode.contacts[c].row])
    }

    /// Guards, negative once the mode has ended: the gap of an open contact that is closing, the normal force of a closed
    /// one. The shapes are the same as continuous quantities, of which values below the floors do not count.
    pub(crate) fn fill_guards(
        &mut self,
        values: &mut [f64],
        shapes: &mut [f64],
        floors: &mut [f64],
    ) -> Result<(), MotionError> {
        self.evaluate()?;
        self.smooth.fill_gaps()?;
        self.fill_rates()?;
        let (gaps, rates) = (&self.smooth.scratch.residual, &self.mode.rates);
        for (c, contact) in self.mode.contacts.iter().enumerate() {
            let row = contact.row;
            values[c] = if self.mode.closed[c] {
                self.smooth.instant.lambda[row] + self.mode.force_threshold
            } else {
                let slack = if self.mode.separating[c] {
                    tolerance::SEPARATING * self.row_size(row, &self.smooth.q_size)
                } else {
                    0.0
                };
                let is_struck = gaps[row] < -slack && rates[row] < 0.0;
                if is_struck { -1.0 } else { 1.0 }
            };
        }
        let first = self.mode.contacts.len();
        self.update_friction()?;
        for k in 0..self.mode.frictions.len() {
            (values[first + 2 * k], values[first + 2 * k + 1]) = self.friction_guards(k);
        }
        shapes.copy_from_slice(values);
        let top = self.smooth.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        floors.fill(tolerance::RUN * top);
        for (c, contact) in self.mode.contacts.iter().enumerate().filter(|(c, _)| !self.mode.closed[*c]) {
            shapes[c] = self.smooth.scratch.residual[contact.row];
            floors[c] = self.mode.tolerance * self.row_size(contact.row, &self.smooth.q_size);
        }
        for (k, friction) in self.mode.frictions.iter().enumerate() {
            if matches!(self.mode.states[k], ContactState::Sliding(_)) {
                floors[first + 2 * k] = tolerance::SLIP_EXTREMUM * self.rate_noise(&friction.slip);
            }
        }
        Ok(())
    }

    /// Guards of friction k: its distance from the cone, or its slip along its direction; and the normal force, if it may
    /// change its side.
    fn friction_guards(&self, k: usize) -> (f64, f64) {
        let (mode, lambda) = (&self.mode, &self.smooth.instant.lambda);
        let friction = &mode.frictions[k];
        let normal_forces = friction.normal_forces(lambda);
        match mode.states[k] {
            ContactState::Open => (1.0, 1.0),
            ContactState::Sticking => {
                let force = length(&friction.slips(|row| lambda[row]));
                (mode.laws[k].static_mu * mode.laws[k].normal(&normal_forces) - force + mode.force_threshold, 1.0)
            }
            ContactState::Sliding(sense) => {
                let along = match friction.slip[..] {
                    [row] => sense * mode.rates[row],
                    _ => dot(&friction.slips(|row| mode.rates[row]), &mode.directions[k]),
                };
                let is_sided = friction.contact.is_none() && friction.single().is_some();
                let side = if is_sided { mode.sides[k] * normal_forces[0] } else { 1.0 };
                (along + self.rate_noise(&friction.slip) + mode.lag[k], side + mode.force_threshold)
            }
        }
    }
}
