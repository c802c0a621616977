//! The log of indeterminate forces.

use super::ContactSystem;
use super::place::ContactState;
use super::resolve::Resolver;
use crate::{Dynamics, MotionError};

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Logs contacts and rows with friction that are redundant in this mode: their λ is the shortest of many.
    pub(super) fn note_indeterminate_forces(&mut self) -> Result<(), MotionError> {
        let system = &mut self.system;
        let rank = rank_without(system, &[])?;
        if rank + system.n_repeated_slips() == system.smooth.rows.n_active() {
            return Ok(());
        }
        system.update_friction()?;
        for k in 0..system.mode.frictions.len() {
            let friction = system.mode.frictions[k].clone();
            let row = friction.normals[0];
            let (list, rows, n_own) = match system.mode.states[k] {
                // without friction nothing depends on the force
                ContactState::Sliding(_) if system.mode.laws[k].kinetic_mu != 0.0 => {
                    (&mut self.log.indeterminate_normals, &friction.normals, friction.normals.len())
                }
                // several sticking places share the force along the slip
                ContactState::Sticking => (&mut self.log.indeterminate_contacts, &friction.slip, system.n_slips(k)),
                _ => continue,
            };
            // a force that no other row can carry leaves as many directions free as it has rows of its own
            if !list.contains(&row) && rank_without(system, rows)? + n_own > rank {
                list.push(row);
            }
        }
        for c in (0..system.mode.contacts.len()).filter(|&c| system.mode.closed[c]).collect::<Vec<usize>>() {
            let row = system.mode.contacts[c].row;
            if !self.log.indeterminate_contacts.contains(&row) && rank_without(system, &[row])? == rank {
                self.log.indeterminate_contacts.push(row);
            }
        }
        system.release();
        Ok(())
    }
}

/// The rank of the active rows, without these.
fn rank_without<D: Dynamics + ?Sized>(
    system: &mut ContactSystem<'_, '_, D>,
    rows: &[usize],
) -> Result<usize, MotionError> {
    rows.iter().for_each(|&row| system.smooth.rows.off[row] = true);
    system.release();
    let rank = system.smooth.factor().map(|()| system.smooth.all.rank());
    system.mask();
    rank
}
