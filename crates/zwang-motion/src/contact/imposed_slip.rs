//! Slips that permanent constraints and closed contacts impose on sticking places.

use super::place::ContactState;
use super::{ContactSystem, Slip, length};
use crate::{Dynamics, MotionError, State};

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// The slip that constraints and contacts impose, at a state ahead, on each place that sticks, one by one or together; `None`
    /// for a place on which they impose none. Empty if the constraints contradict each other there. The motion has to restart
    /// after that.
    pub(crate) fn imposed_slips(
        &mut self,
        ahead: &State,
        imposed_together: bool,
    ) -> Result<Vec<Option<Slip>>, MotionError> {
        let saved = (self.mode.clone(), self.smooth.rows.clone(), self.smooth.instant.state.clone());
        let mode = &saved.0;
        let sticks = |k: &usize| mode.states[*k] == ContactState::Sticking;
        self.smooth.instant.state.clone_from(ahead);
        self.open_all();
        self.mode.closed.clone_from(&mode.closed);
        self.mask();
        self.release();
        let mut imposed = vec![None; mode.frictions.len()];
        let done = self.evaluate().and_then(|()| self.smooth.project(true)).and_then(|_| {
            self.evaluate()?;
            for k in (0..imposed.len()).filter(sticks) {
                let slip = if imposed_together { self.slip(k)? } else { self.blocked_slip(k)? };
                if length(&slip) > self.rate_noise(&self.mode.frictions[k].slip) {
                    imposed[k] = Some(slip);
                }
            }
            self.smooth.satisfies_all_rows()
        });
        (*self.mode, self.smooth.rows, self.smooth.instant.state) = saved;
        done.map(|agree| if agree { imposed } else { Vec::new() })
    }

    /// Lets the next search for a mode know of imposed slips, or forget them.
    pub(crate) fn impose_slips(&mut self, imposed: Vec<Option<Slip>>, imposed_together: bool) {
        (self.mode.imposed_slips, self.mode.imposed_together) = (imposed, imposed_together);
    }

    /// Forgets imposed slips.
    pub(crate) fn forget_imposed_slips(&mut self) {
        self.mode.imposed_slips.fill(None);
    }
}
