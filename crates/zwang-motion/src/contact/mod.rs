//! Unilateral contact, impact, friction.
//!
//! Some rows of A are active only at times. A *contact mode* states which. While it lasts the system is an ordinary
//! constrained one; inactive rows are rows of zeros, which the decomposition leaves out like any row that has vanished.
//!
//! - A *contact* is a row on positions, g(q, t) ≥ 0. It is *closed* (its row is active, its λ ≥ 0 is the normal force) or
//!   *open*.
//! - *Friction* belongs to normal rows, with the normal force N = |Fλ|, and to rows on velocities, the slip s. The place
//!   *sticks* (the slip rows are active, and their λ stays inside the cone |λ| ≤ μN) or *slides* (λ = −μN s/|s| acts along
//!   them).
//! - A mode ends where one of its inequalities does: the gap of an open contact or the λ of a closed one reaches zero, the
//!   slip of a sliding place stops, the λ of a sticking place reaches its cone. These *guards* are event functions like any
//!   others.
//! - At an event velocities may have to jump: *impact* is Gauss's principle for velocities, with restitution. The next mode
//!   is the one whose motion satisfies its own inequalities. Without friction it is the least constraint with inequalities,
//!   and unique; with friction there may be none or several, which is reported and not guessed.

mod candidates;
mod dual_active_set;
mod enumerate;
mod fixed_point;
mod frictional_impact;
mod guards;
mod impact;
mod imposed_slip;
mod indeterminate;
mod load_path;
mod log;
mod mode_search;
mod place;
mod redistribute;
mod report;
mod resolve;
mod sliding;
mod slow_slip;
mod system;
mod touching;
mod zeno;

pub use dual_active_set::{NoSolution, NormalForces, Side, complementarity};
pub use frictional_impact::ImpactState;
pub(crate) use log::ContactLog;
use place::{ContactMode, ContactState};
pub use report::{CandidateMode, Inequality};
pub(crate) use resolve::{ContactError, PreviousMode, Resolver};
pub(crate) use system::{ContactSystem, StepVerdict};

use crate::dynamics::Jump;
pub(crate) use crate::dynamics::{ContactRow, Coulomb, Friction, MOST_NORMALS, Slip, length, unit_vector};
use crate::{
    Dynamics,
    smooth::{RowMask, Smooth},
    tolerance::RunWindow,
};

/// Contact along a motion: the current mode, and the log of what has happened.
pub(crate) struct Contact {
    mode: ContactMode,
    log: ContactLog,
    window: RunWindow,
}

/// The state of the motion that contact needs.
pub(crate) struct MotionPoint<'a> {
    pub(crate) t: f64,
    pub(crate) y: &'a mut Vec<f64>,
    /// The rank of the active rows.
    pub(crate) rank: usize,
    /// `true` if no step has been taken yet.
    pub(crate) is_first: bool,
    /// The unit of each coordinate.
    pub(crate) units: &'a [Option<usize>],
    /// The acceleration of each coordinate that is rounding relative to the forces at the start.
    pub(crate) rounding_acceleration: &'a [f64],
}

impl Contact {
    /// `None` if all rows of the system are permanent. Masks the contact rows.
    pub(crate) fn new<D: Dynamics + ?Sized>(smooth: &mut Smooth<D>, window: RunWindow) -> Option<Contact> {
        let laws = smooth.dynamics.contacts()?;
        let (contacts, frictions) = (laws.contact_rows(), laws.frictions());
        if contacts.is_empty() && frictions.is_empty() {
            return None;
        }
        smooth.rows = RowMask::new(&smooth.given);
        let log = ContactLog::new(window.start, contacts.len(), frictions.len());
        let mode = ContactMode::new(contacts, frictions, window.tolerance);
        mode.mask(&mut smooth.rows);
        Some(Contact { mode, log, window })
    }

    /// Contact together with the smooth part.
    pub(crate) fn system<'a, 'd, D: Dynamics + ?Sized>(
        &'a mut self,
        smooth: &'a mut Smooth<'d, D>,
    ) -> ContactSystem<'a, 'd, D> {
        ContactSystem { smooth, mode: &mut self.mode }
    }

    /// Contact at a point of the motion, to find the mode that follows.
    pub(crate) fn resolver<'a, 'd, D: Dynamics + ?Sized>(
        &'a mut self,
        smooth: &'a mut Smooth<'d, D>,
        point: MotionPoint<'a>,
    ) -> Resolver<'a, 'd, D> {
        let Contact { mode, log, window } = self;
        Resolver::new(ContactSystem { smooth, mode }, log, *window, point)
    }

    /// `true` if a place slides.
    #[inline]
    pub(crate) fn slides(&self) -> bool {
        self.mode.slides()
    }

    /// Lets the number of free directions of each place be decided anew, with the ranks.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.mode.n_free.clear();
    }

    /// The row of the first contact.
    #[inline]
    pub(crate) fn first_row(&self) -> Option<usize> {
        self.mode.contacts.first().map(|contact| contact.row)
    }

    /// The number of guards.
    #[inline]
    pub(crate) fn n_guards(&self) -> usize {
        self.mode.contacts.len() + 2 * self.mode.frictions.len()
    }

    /// `true` if a guard belongs to a contact that is open.
    #[inline]
    pub(crate) fn is_open(&self, guard: usize) -> bool {
        self.mode.closed.get(guard) == Some(&false)
    }

    /// What each contact and each friction does, by its first normal row: `open`, `closed`, `sticks` or `slides`.
    pub(crate) fn words(&self) -> Vec<(usize, &'static str)> {
        let mode = &self.mode;
        let word = |closed: &bool| if *closed { "closed" } else { "open" };
        let contacts = mode.contacts.iter().zip(&mode.closed).map(|(contact, closed)| (contact.row, word(closed)));
        let of_friction = |(friction, state): (&Friction, &ContactState)| match state {
            ContactState::Open => None,
            ContactState::Sticking => Some((friction.normals[0], "sticks")),
            ContactState::Sliding(_) => Some((friction.normals[0], "slides")),
        };
        contacts.chain(mode.frictions.iter().zip(&mode.states).filter_map(of_friction)).collect()
    }

    /// The first normal row of each friction.
    pub(crate) fn rows_with_friction(&self) -> Vec<usize> {
        self.mode.frictions.iter().map(|friction| friction.normals[0]).collect()
    }

    /// Adds the forces of sliding friction at the state to a force.
    pub(crate) fn add_sliding_force<D: Dynamics + ?Sized>(&self, smooth: &Smooth<D>, force: &mut [f64]) {
        let places = self.mode.frictions.iter().zip(&self.mode.states);
        for (friction, _) in places.filter(|(_, state)| matches!(state, ContactState::Sliding(_))) {
            for &row in &friction.slip {
                let (col, value) = smooth.rows.whole.constraint_matrix.row(row);
                col.iter().zip(value).for_each(|(&j, a)| force[j] += smooth.instant.lambda[row] * a);
            }
        }
    }

    /// The log of the motion so far.
    #[inline]
    pub(crate) fn log(&self) -> &ContactLog {
        &self.log
    }

    /// Impacts that the motion has not taken over yet.
    pub(crate) fn jumps_mut(&mut self) -> &mut Vec<Jump> {
        &mut self.log.jumps
    }
}

/// The kind of a transition between modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionKind {
    /// A contact takes an impulse.
    Impact,
    /// A contact opens without an impact.
    TakeOff,
    /// A contact closes.
    Rest,
    /// Sliding ends.
    Stick,
    /// Sliding begins.
    Slip,
}

impl TransitionKind {
    /// In one word, as files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            TransitionKind::Impact => "impact",
            TransitionKind::TakeOff => "take-off",
            TransitionKind::Rest => "rest",
            TransitionKind::Stick => "stick",
            TransitionKind::Slip => "slip",
        }
    }
}

/// A transition between modes.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactTransition {
    /// Time of the transition.
    pub t: f64,
    /// Its kind.
    pub turn: TransitionKind,
    /// Index of the row of the contact, or of the first normal row.
    pub row: usize,
}

/// An impact that would have gained energy with the stated restitution.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedRestitution {
    /// Time of the impact.
    pub t: f64,
    /// The rows with restitution in it.
    pub rows: Vec<usize>,
    /// The factor of the restitution at which no energy is gained.
    pub part: f64,
}
