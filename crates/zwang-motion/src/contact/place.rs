//! The contact mode: which rows are active now.

use super::load_path::BlockedDirections;
use super::sliding::{Normals, Response};
use super::{ContactRow, Coulomb, Friction, Slip};
use crate::smooth::RowMask;

/// The state of a place with friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContactState {
    /// The contact is open.
    Open,
    /// The slip rows hold.
    Sticking,
    /// The place slides, in this sense if it has one slip row.
    Sliding(f64),
}

/// The contact mode: what each place does now, and what the search for the next mode assumes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactMode {
    pub(super) contacts: Vec<ContactRow>,
    pub(super) frictions: Vec<Friction>,
    /// For each contact: `true` if it is closed.
    pub(super) closed: Vec<bool>,
    /// The state of each friction, and the sign of its normal force.
    pub(super) states: Vec<ContactState>,
    pub(super) sides: Vec<f64>,
    /// The direction in which each friction slides.
    pub(super) directions: Vec<Slip>,
    /// The directions from which those of slow slips are found, so that these depend on the state alone.
    pub(super) bases: Vec<Slip>,
    /// The slip that constraints impose on each place that stuck until now; and `true` if they impose them together, so that
    /// one place may stick if others are released.
    pub(super) imposed_slips: Vec<Option<Slip>>,
    pub(super) imposed_together: bool,
    /// For each friction: `true` if its slip onset is a trial, with the static coefficient.
    pub(super) trial_onset: Vec<bool>,
    /// Of these, the places that are released whatever the others do: the trial has the kinetic coefficient.
    pub(super) kinetic_assumed: Vec<bool>,
    /// For each friction: `true` if it started to slide where the mode began.
    pub(super) slip_onset: Vec<bool>,
    /// Speed below which a slip in space follows its acceleration, zero for all others; and the largest such speed.
    pub(super) slow: Vec<f64>,
    pub(super) slow_limits: Vec<f64>,
    /// For each friction that started to slide: its speed against its direction, within the tolerance that counts as rest.
    pub(super) lag: Vec<f64>,
    /// For each friction: `true` if it is on its cone, but the other active rows block its slip, so that it does not move.
    pub(super) arrested: Vec<bool>,
    /// For each contact: `true` if it is open and its gap is within rounding: that gap does not count as an impact.
    pub(super) separating: Vec<bool>,
    /// For each contact: `true` if it carries no force, but other active rows hold it closed.
    pub(super) unloaded: Vec<bool>,
    /// The tolerance of the run. A gap must be entered by this fraction of the size of its row; less is the error of the
    /// steps.
    pub(super) tolerance: f64,
    /// A normal force below this is treated as zero.
    pub(super) force_threshold: f64,
    pub(super) laws: Vec<Coulomb>,
    /// The size of the accelerations with every contact open and no friction, relative to which others are judged.
    pub(super) free: Vec<f64>,
    pub(super) responses: Vec<Response>,
    /// Sticking places with their free directions, if rows are redundant; and the number of free directions of each place,
    /// once that is decided.
    pub(super) blocked: Vec<BlockedDirections>,
    pub(super) n_free: Vec<usize>,
    /// `true` if some place has fewer free directions than it would have alone.
    pub(super) has_blocked: bool,
    /// `true` if friction may act in blocked directions: only if no motion is possible otherwise.
    pub(super) resists_blocked: bool,
    /// Scratch for the equations of the normal forces, and for rates of rows.
    pub(super) normals: Normals,
    pub(super) rates: Vec<f64>,
    /// q̈ and λ without sliding friction.
    pub(super) smooth: (Vec<f64>, Vec<f64>),
}

impl ContactMode {
    /// All places open; `tolerance` is that of the run.
    pub(super) fn new(contacts: Vec<ContactRow>, frictions: Vec<Friction>, tolerance: f64) -> ContactMode {
        ContactMode {
            closed: vec![false; contacts.len()],
            states: vec![ContactState::Open; frictions.len()],
            sides: vec![1.0; frictions.len()],
            directions: vec![Slip::default(); frictions.len()],
            bases: vec![Slip::default(); frictions.len()],
            imposed_slips: vec![None; frictions.len()],
            imposed_together: false,
            trial_onset: vec![false; frictions.len()],
            kinetic_assumed: vec![false; frictions.len()],
            slip_onset: vec![false; frictions.len()],
            slow: vec![0.0; frictions.len()],
            slow_limits: vec![0.0; frictions.len()],
            lag: vec![0.0; frictions.len()],
            arrested: vec![false; frictions.len()],
            separating: vec![false; contacts.len()],
            unloaded: vec![false; contacts.len()],
            tolerance,
            force_threshold: 0.0,
            laws: vec![Coulomb::default(); frictions.len()],
            responses: Vec::new(),
            blocked: Vec::new(),
            n_free: Vec::new(),
            has_blocked: false,
            resists_blocked: false,
            normals: Normals::default(),
            smooth: (Vec::new(), Vec::new()),
            rates: Vec::new(),
            free: Vec::new(),
            contacts,
            frictions,
        }
    }

    /// Opens every place.
    #[inline]
    pub(super) fn open_all(&mut self) {
        self.closed.fill(false);
        self.states.fill(ContactState::Open);
        self.slow.fill(0.0);
    }

    /// Decides for every row whether it holds.
    #[inline]
    pub(super) fn mask(&self, rows: &mut RowMask) {
        rows.off.fill(false);
        for (contact, closed) in self.contacts.iter().zip(&self.closed) {
            rows.off[contact.row] = !closed;
        }
        for (friction, state) in self.frictions.iter().zip(&self.states) {
            friction.slip.iter().for_each(|&row| rows.off[row] = *state != ContactState::Sticking);
        }
    }

    /// `true` if some place sticks.
    #[inline]
    pub(super) fn sticks(&self) -> bool {
        self.states.contains(&ContactState::Sticking)
    }

    /// The state of friction k as it is reported: a place that is arrested sticks.
    #[inline]
    pub(super) fn reported_state(&self, k: usize) -> ContactState {
        if self.arrested[k] { ContactState::Sticking } else { self.states[k] }
    }

    /// `true` if friction k slides on a surface in space, so that its slip has a direction.
    #[inline]
    pub(super) fn slides_in_space(&self, k: usize) -> bool {
        self.frictions[k].slip.len() > 1 && matches!(self.states[k], ContactState::Sliding(_))
    }

    /// `true` if some place slides.
    #[inline]
    pub(super) fn slides(&self) -> bool {
        self.states.iter().any(|state| matches!(state, ContactState::Sliding(_)))
    }
}
