//! Forces that the motion does not determine one by one, noted for those who look at them.

use super::*;
use crate::unilateral::modes::Grip;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Rows with friction whose force the motion has not determined somewhere, because other rows share it.
    pub fn shared_normals(&self) -> &[usize] {
        &self.shared
    }

    /// Contacts whose force the motion has not determined somewhere, because others share it.
    pub fn undetermined_contacts(&self) -> &[usize] {
        &self.undetermined
    }

    /// Notes contacts and rows with friction that repeat others in this mode: their λ is the shortest of many.
    pub(super) fn mind_shared(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        let rank = rank_without(flow, &[])?;
        if rank + flow.n_repeated_slips() == flow.modes.off.iter().filter(|off| !**off).count() {
            return Ok(());
        }
        flow.feel()?;
        for k in 0..flow.modes.frictions.len() {
            let friction = flow.modes.frictions[k].clone();
            let row = friction.normals[0];
            let (list, rows, n_own) = match flow.modes.grips[k] {
                // where there is no friction nothing depends on the force
                Grip::Slides(_) if flow.modes.roughness[k].sliding != 0.0 => {
                    (&mut self.shared, &friction.normals, friction.normals.len())
                }
                // what sticks at several places shares the force along the slip
                Grip::Sticks => (&mut self.undetermined, &friction.slip, flow.n_slips(k)),
                _ => continue,
            };
            // a force that no other row can take leaves as many directions free as it has rows of its own
            if !list.contains(&row) && rank_without(flow, rows)? + n_own > rank {
                list.push(row);
            }
        }
        for c in (0..flow.modes.contacts.len()).filter(|&c| flow.modes.closed[c]).collect::<Vec<usize>>() {
            let row = flow.modes.contacts[c].row;
            if !self.undetermined.contains(&row) && rank_without(flow, &[row])? == rank {
                self.undetermined.push(row);
            }
        }
        flow.release();
        Ok(())
    }
}

/// The rank of the rows that hold, without these.
fn rank_without<D: Dynamics + ?Sized>(flow: &mut Flow<D>, rows: &[usize]) -> Result<usize, MotionError> {
    rows.iter().for_each(|&row| flow.modes.off[row] = true);
    flow.release();
    let rank = flow.factor().map(|()| flow.all.rank());
    flow.modes.switch();
    rank
}
