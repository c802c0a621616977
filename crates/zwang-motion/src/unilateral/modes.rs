//! Which rows hold now.

use super::leaning::Leaning;
use super::sliding::{Normals, Response};
use super::{Contact, Friction, Roughness, Slip};
use crate::Given;

/// What a friction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Grip {
    /// Its contact is open.
    Idle,
    /// Its slip rows hold.
    Sticks,
    /// It slides, in this sense where there is one slip row.
    Slides(f64),
}

/// The mode, and the rows as they are before those that do not hold become zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    pub(crate) contacts: Vec<Contact>,
    pub(crate) frictions: Vec<Friction>,
    /// One for each contact.
    pub(crate) closed: Vec<bool>,
    /// One for each friction; and the sign of the λ that presses.
    pub(crate) grips: Vec<Grip>,
    pub(crate) presses: Vec<f64>,
    /// Where each friction slides to when it begins.
    pub(crate) directions: Vec<Slip>,
    /// Where those that follow their acceleration are looked for, so that they depend on nothing but the state.
    pub(crate) bases: Vec<Slip>,
    /// Where constraints drag each that stuck until now, if they do; and whether they do so together, so that one may hold if others
    /// let go.
    pub(crate) dragged: Vec<Option<Slip>>,
    pub(crate) together: bool,
    /// Whether each slides out of rest only on trial, with the coefficient that holds.
    pub(crate) begins: Vec<bool>,
    /// Of these, which let go whatever the others do: they slide with the coefficient of sliding on trial, too.
    pub(crate) loose: Vec<bool>,
    /// Whether each slid out of rest where the mode began.
    pub(crate) sets_out: Vec<bool>,
    /// Slips in space below these go where their acceleration leads; zero for all others. And how large these may be.
    pub(crate) slow: Vec<f64>,
    pub(crate) slowest: Vec<f64>,
    /// How fast each that slid out of rest went against its direction, within the tolerance that counts as rest.
    pub(crate) behind: Vec<f64>,
    /// Whether each slides only by name: what else holds leaves it no way.
    pub(crate) stands: Vec<bool>,
    /// Contacts that touch although they are open: rounding of their gap is no impact.
    pub(crate) lifting: Vec<bool>,
    /// Contacts that do not push, but that others hold where they touch: they have not left.
    pub(crate) stays: Vec<bool>,
    /// The tolerance of the run. A gap must be entered by this part of the size of its row: what is less deep is the error of the
    /// steps.
    pub(crate) tolerance: f64,
    /// A push below this is none.
    pub(crate) no_push: f64,
    pub(crate) roughness: Vec<Roughness>,
    /// The size of the accelerations with every contact open and no friction, beside which others are judged.
    pub(crate) free: Vec<f64>,
    pub(crate) responses: Vec<Response>,
    /// What sticks, and where it could slide, where rows repeat each other; and how many ways each place has, once that is decided.
    pub(crate) leanings: Vec<Leaning>,
    pub(crate) n_ways: Vec<usize>,
    /// Whether some have fewer ways than they would have alone.
    pub(crate) leans: bool,
    /// Whether friction may also act where constraints and contacts hold already: only where no motion is possible else.
    pub(crate) is_braced: bool,
    /// Room for the equations of the normal forces, and for rates of rows.
    pub(crate) normals: Normals,
    pub(crate) rates: Vec<f64>,
    /// q̈ and λ without friction where it slides.
    pub(crate) smooth: (Vec<f64>, Vec<f64>),
    /// One for each row: whether it is left out now. Empty where all rows always hold.
    pub(crate) off: Vec<bool>,
    /// A and b with all rows.
    pub(crate) whole: Given,
}

impl Modes {
    /// Everything open or sliding.
    pub(crate) fn new(contacts: Vec<Contact>, frictions: Vec<Friction>, given: &Given) -> Modes {
        if contacts.is_empty() && frictions.is_empty() {
            return Modes::default();
        }
        let mut modes = Modes {
            closed: vec![false; contacts.len()],
            grips: vec![Grip::Idle; frictions.len()],
            presses: vec![1.0; frictions.len()],
            directions: vec![Slip::default(); frictions.len()],
            bases: vec![Slip::default(); frictions.len()],
            dragged: vec![None; frictions.len()],
            together: false,
            begins: vec![false; frictions.len()],
            loose: vec![false; frictions.len()],
            sets_out: vec![false; frictions.len()],
            slow: vec![0.0; frictions.len()],
            slowest: vec![0.0; frictions.len()],
            behind: vec![0.0; frictions.len()],
            stands: vec![false; frictions.len()],
            lifting: vec![false; contacts.len()],
            stays: vec![false; contacts.len()],
            tolerance: 0.0,
            no_push: 0.0,
            roughness: vec![Roughness::default(); frictions.len()],
            responses: Vec::new(),
            leanings: Vec::new(),
            n_ways: Vec::new(),
            leans: false,
            is_braced: false,
            normals: Normals::default(),
            smooth: (Vec::new(), Vec::new()),
            rates: Vec::new(),
            free: Vec::new(),
            off: vec![false; given.constraint_rhs.len()],
            whole: given.clone(),
            contacts,
            frictions,
        };
        modes.switch();
        modes
    }

    /// Whether all rows always hold.
    pub(crate) fn is_empty(&self) -> bool {
        self.off.is_empty()
    }

    /// Opens every contact and lets no friction hold.
    pub(crate) fn open_all(&mut self) {
        self.closed.fill(false);
        self.grips.fill(Grip::Idle);
        self.slow.fill(0.0);
        self.switch();
    }

    /// Decides for every row whether it holds.
    pub(crate) fn switch(&mut self) {
        self.off.fill(false);
        for (contact, closed) in self.contacts.iter().zip(&self.closed) {
            self.off[contact.row] = !closed;
        }
        for (friction, grip) in self.frictions.iter().zip(&self.grips) {
            friction.slip.iter().for_each(|&row| self.off[row] = *grip != Grip::Sticks);
        }
    }

    /// Keeps all rows and makes those zero that do not hold.
    pub(crate) fn mask(&mut self, given: &mut Given) {
        if self.is_empty() {
            return;
        }
        self.whole.constraint_matrix.value.copy_from_slice(&given.constraint_matrix.value);
        self.whole.constraint_rhs.copy_from_slice(&given.constraint_rhs);
        for row in (0..self.off.len()).filter(|row| self.off[*row]) {
            given.constraint_matrix.row_mut(row).1.fill(0.0);
            given.constraint_rhs[row] = 0.0;
        }
    }

    /// The same for residuals of the first rows.
    pub(crate) fn mask_residual(&self, residual: &mut [f64]) {
        residual.iter_mut().zip(&self.off).filter(|(_, off)| **off).for_each(|(x, _)| *x = 0.0);
    }

    /// Whether some friction sticks.
    pub(crate) fn sticks(&self) -> bool {
        self.grips.contains(&Grip::Sticks)
    }

    /// What friction k does, as it is told: what slides only by name sticks.
    pub(crate) fn told(&self, k: usize) -> Grip {
        if self.stands[k] { Grip::Sticks } else { self.grips[k] }
    }

    /// Whether friction k slides on a surface in space, where its slip has a direction.
    pub(crate) fn slides_in_space(&self, k: usize) -> bool {
        self.frictions[k].slip.len() > 1 && matches!(self.grips[k], Grip::Slides(_))
    }

    /// Whether some friction slides.
    pub(crate) fn slides(&self) -> bool {
        self.grips.iter().any(|grip| matches!(grip, Grip::Slides(_)))
    }
}
