//! Modes that were tried, in words: what each place does, and which inequality it misses.

use super::choices::{Choice, Try, excess, setting_out};
use super::*;
use crate::unilateral::Friction;
use crate::unilateral::modes::Grip;

/// A mode that was tried, and why it is none.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedMode {
    /// What each place does, by its first row that presses: `closed`, `open`, `sticks` or `slides`.
    pub acts: Vec<(usize, &'static str)>,
    /// What it misses most; none where it fits.
    pub misses: Option<Inequality>,
}

/// An inequality that a mode does not keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inequality {
    /// The λ that presses has the wrong sign.
    Pull {
        /// The row.
        row: usize,
        /// λ, with the sign that it should have taken out.
        lambda: f64,
    },
    /// A contact that lets go would be entered.
    Enters {
        /// The row.
        row: usize,
        /// The second derivative of its gap.
        opening: f64,
    },
    /// What sticks is pulled harder than it can hold.
    Cone {
        /// The first row that presses.
        row: usize,
        /// The force along the slip.
        force: f64,
        /// The most it can be, μN.
        most: f64,
    },
    /// What begins to slide turns against the friction that moves it.
    TurnsBack {
        /// The first row that presses.
        row: usize,
        /// The acceleration along the sense of the slip.
        along: f64,
    },
    /// The equations of the mode have no solution.
    NoSolution,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// A mode in words.
    pub(super) fn told(&self, units: &[Vec<Choice>], at: &[usize], misses: Option<Inequality>) -> TriedMode {
        let act = |choice: &Choice| {
            let row = |t: &Try| self.flow.modes.frictions[t.friction].normals[0];
            match (&choice.friction, choice.contact) {
                (Some(t), _) if t.grip == Grip::Sticks => Some((row(t), "sticks")),
                (Some(t), _) if t.grip != Grip::Idle => Some((row(t), "slides")),
                (_, Some((c, closed))) => {
                    Some((self.flow.modes.contacts[c].row, if closed { "closed" } else { "open" }))
                }
                _ => None,
            }
        };
        let acts = units.iter().zip(at).filter_map(|(unit, &k)| act(&unit[k])).collect();
        TriedMode { acts, misses }
    }

    /// The mode at hand in words, and what it misses.
    pub(super) fn told_now(&self, misses: Inequality) -> TriedMode {
        let modes = &self.flow.modes;
        let act = |(friction, grip): (&Friction, &Grip)| match grip {
            Grip::Idle => None,
            Grip::Sticks => Some((friction.normals[0], "sticks")),
            Grip::Slides(_) => Some((friction.normals[0], "slides")),
        };
        let acts = modes.frictions.iter().zip(&modes.grips).filter_map(act).collect();
        TriedMode { acts, misses: Some(misses) }
    }

    /// The inequality that the mode at hand misses most.
    pub(super) fn missed_most(&self, units: &[Vec<Choice>], at: &[usize], faults: &[f64]) -> Option<Inequality> {
        let worst = (0..faults.len()).max_by(|&a, &b| faults[a].total_cmp(&faults[b]))?;
        let choice = &units[worst][at[worst]];
        let (flow, lambda) = (&self.flow, &self.flow.instant.lambda);
        if let Some((c, closed)) = choice.contact {
            let row = flow.modes.contacts[c].row;
            let (opening, _) = excess(flow, row);
            if closed && lambda[row] < 0.0 {
                return Some(Inequality::Pull { row, lambda: lambda[row] });
            } else if !closed {
                return Some(Inequality::Enters { row, opening });
            }
        }
        let t = choice.friction.as_ref()?;
        let friction = &flow.modes.frictions[t.friction];
        let (row, pushes) = (friction.normals[0], friction.pushes(lambda));
        let rough = flow.modes.roughness[t.friction];
        match t.grip {
            Grip::Idle => None,
            Grip::Sticks => {
                let force = friction.slip.iter().map(|&row| lambda[row] * lambda[row]).sum::<f64>().sqrt();
                Some(Inequality::Cone { row, force, most: rough.holding * rough.normal(&pushes) })
            }
            Grip::Slides(_) if friction.single().is_some() && t.press * pushes[0] < 0.0 => {
                Some(Inequality::Pull { row, lambda: t.press * pushes[0] })
            }
            Grip::Slides(sense) => Some(Inequality::TurnsBack { row, along: setting_out(flow, t.friction, sense).0 }),
        }
    }
}
