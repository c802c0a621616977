//! The log of contacts along a motion: transitions, indeterminate forces, reduced restitution.

use super::{ContactTransition, ReducedRestitution};
use crate::Jump;

/// What has happened so far. It survives a mode that is taken back.
pub(crate) struct ContactLog {
    pub(crate) transitions: Vec<ContactTransition>,
    /// Impacts that the motion has not taken over yet.
    pub(crate) jumps: Vec<Jump>,
    /// Rows with friction, and contacts, whose force is indeterminate because others share it.
    pub(crate) indeterminate_normals: Vec<usize>,
    pub(crate) indeterminate_contacts: Vec<usize>,
    /// The number of searches with too many modes to look at them all.
    pub(crate) n_unchecked: usize,
    /// Impacts whose restitution was reduced, because they would have gained energy.
    pub(crate) reduced_restitutions: Vec<ReducedRestitution>,
    /// The time since which transitions are counted, and their number.
    pub(super) first_transition: f64,
    pub(super) n_transitions: usize,
    /// The same over a longer while, with the speed at its start.
    pub(super) recent: TransitionCount,
    /// For each friction, the last change of the side from which it is pressed.
    pub(super) side_changes: Vec<SideChange>,
    /// The largest size of the row of each contact.
    pub(super) row_tops: Vec<f64>,
}

impl ContactLog {
    /// Nothing has happened yet at `start`.
    pub(super) fn new(start: f64, n_contacts: usize, n_frictions: usize) -> ContactLog {
        ContactLog {
            transitions: Vec::new(),
            jumps: Vec::new(),
            indeterminate_normals: Vec::new(),
            indeterminate_contacts: Vec::new(),
            n_unchecked: 0,
            reduced_restitutions: Vec::new(),
            first_transition: start,
            n_transitions: 0,
            recent: TransitionCount::default(),
            side_changes: vec![SideChange::default(); n_frictions],
            row_tops: vec![0.0; n_contacts],
        }
    }
}

/// The number of transitions since a time, and the speed of the system at that time.
#[derive(Default)]
pub(super) struct TransitionCount {
    pub(super) since: f64,
    pub(super) n_transitions: usize,
    pub(super) speed: f64,
}

/// A change of side: its time, the force there, and the number of changes at this very instant.
#[derive(Clone, Copy, Default)]
pub(super) struct SideChange {
    pub(super) t: f64,
    pub(super) lambda: f64,
    pub(super) n_times: usize,
}
