//! Candidate modes in words: the state of each place, and the inequality that it violates.

use super::Friction;
use super::candidates::{Candidate, FrictionCandidate, excess, onset_acceleration};
use super::place::ContactState;
use super::resolve::Resolver;
use crate::Dynamics;

/// A candidate mode, and why it is excluded.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateMode {
    /// What each place does, by its first normal row: `closed`, `open`, `sticks` or `slides`.
    pub acts: Vec<(usize, &'static str)>,
    /// Its largest violation; `None` if it fits.
    pub violation: Option<Inequality>,
}

/// An inequality that a mode violates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inequality {
    /// The normal force is tensile.
    Pull {
        /// Index of the constraint row.
        row: usize,
        /// λ, with the sign that it should have taken out.
        lambda: f64,
    },
    /// A contact that opens would be entered.
    Enters {
        /// Index of the constraint row.
        row: usize,
        /// The second derivative of its gap.
        opening: f64,
    },
    /// The force of a sticking place lies outside its cone.
    Cone {
        /// Index of its first normal row.
        row: usize,
        /// The force along the slip.
        force: f64,
        /// Its largest value, μN.
        most: f64,
    },
    /// A slip onset turns against the friction that moves it.
    TurnsBack {
        /// Index of the first normal row.
        row: usize,
        /// The acceleration along the sense of the slip.
        along: f64,
    },
    /// The equations of the mode have no solution.
    NoSolution,
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Describes a mode.
    pub(super) fn describe(
        &self,
        units: &[Vec<Candidate>],
        at: &[usize],
        violation: Option<Inequality>,
    ) -> CandidateMode {
        let act = |choice: &Candidate| {
            let row = |t: &FrictionCandidate| self.system.mode.frictions[t.friction].normals[0];
            match (&choice.friction, choice.contact) {
                (Some(t), _) if t.state == ContactState::Sticking => Some((row(t), "sticks")),
                (Some(t), _) if t.state != ContactState::Open => Some((row(t), "slides")),
                (_, Some((c, closed))) => {
                    Some((self.system.mode.contacts[c].row, if closed { "closed" } else { "open" }))
                }
                _ => None,
            }
        };
        let acts = units.iter().zip(at).filter_map(|(unit, &k)| act(&unit[k])).collect();
        CandidateMode { acts, violation }
    }

    /// Describes the current mode, and what it violates.
    pub(super) fn describe_current(&self, violation: Inequality) -> CandidateMode {
        let mode = &self.system.mode;
        let act = |(friction, state): (&Friction, &ContactState)| match state {
            ContactState::Open => None,
            ContactState::Sticking => Some((friction.normals[0], "sticks")),
            ContactState::Sliding(_) => Some((friction.normals[0], "slides")),
        };
        let acts = mode.frictions.iter().zip(&mode.states).filter_map(act).collect();
        CandidateMode { acts, violation: Some(violation) }
    }

    /// The largest violation of the current mode.
    pub(super) fn largest_violation(
        &self,
        units: &[Vec<Candidate>],
        at: &[usize],
        violations: &[f64],
    ) -> Option<Inequality> {
        let worst = (0..violations.len()).max_by(|&a, &b| violations[a].total_cmp(&violations[b]))?;
        let choice = &units[worst][at[worst]];
        let (system, lambda) = (&self.system, &self.system.smooth.instant.lambda);
        if let Some((c, closed)) = choice.contact {
            let row = system.mode.contacts[c].row;
            let (opening, _) = excess(system, row);
            if closed && lambda[row] < 0.0 {
                return Some(Inequality::Pull { row, lambda: lambda[row] });
            } else if !closed {
                return Some(Inequality::Enters { row, opening });
            }
        }
        let t = choice.friction.as_ref()?;
        let friction = &system.mode.frictions[t.friction];
        let (row, normal_forces) = (friction.normals[0], friction.normal_forces(lambda));
        let law = system.mode.laws[t.friction];
        match t.state {
            ContactState::Open => None,
            ContactState::Sticking => {
                let force = friction.slip.iter().map(|&row| lambda[row] * lambda[row]).sum::<f64>().sqrt();
                Some(Inequality::Cone { row, force, most: law.static_mu * law.normal(&normal_forces) })
            }
            ContactState::Sliding(_) if friction.single().is_some() && t.side * normal_forces[0] < 0.0 => {
                Some(Inequality::Pull { row, lambda: t.side * normal_forces[0] })
            }
            ContactState::Sliding(sense) => {
                Some(Inequality::TurnsBack { row, along: onset_acceleration(system, t.friction, sense).0 })
            }
        }
    }
}
