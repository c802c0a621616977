//! Candidates for the next mode: the states that each place may take, and by how much a mode violates its own inequalities.

use super::ContactSystem;
use super::place::ContactState;
use super::resolve::PreviousMode;
use super::resolve::Resolver;
use super::{Slip, length, unit_vector};
use crate::{Dynamics, MotionError, tolerance};

/// What one contact, or one friction of a permanent constraint, may do next.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// A contact, and `true` if it closes.
    pub(super) contact: Option<(usize, bool)>,
    pub(super) friction: Option<FrictionCandidate>,
}

/// What one friction may do next.
#[derive(Clone, Debug)]
pub(super) struct FrictionCandidate {
    pub(super) friction: usize,
    pub(super) state: ContactState,
    /// The sign of the normal force.
    pub(super) side: f64,
    /// `true` for slip onset.
    pub(super) trial_onset: bool,
    /// `true` if it has just reached its cone.
    pub(super) released: bool,
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// `true` if the slip of friction k accelerates in this sense in the current motion: a place without normal force need
    /// not move.
    pub(super) fn accelerates(&self, k: usize, sense: f64) -> bool {
        let (w, terms) = onset_acceleration(&self.system, k, sense);
        w > tolerance::LAW * terms
    }

    /// The first normal row of each place, for messages.
    pub(super) fn pressing(&self, units: &[Vec<Candidate>]) -> Vec<usize> {
        let friction_candidates = units.iter().filter_map(|unit| unit[0].friction.as_ref());
        friction_candidates.map(|t| self.system.mode.frictions[t.friction].normals[0]).collect()
    }

    /// Candidates for each resting contact and each friction, the likely first.
    pub(super) fn units(
        &mut self,
        resting: &[usize],
        triggered: &[usize],
        before: &PreviousMode,
    ) -> Result<Vec<Vec<Candidate>>, MotionError> {
        let old = &before.states;
        let mut units = Vec::new();
        self.system.update_friction()?;
        // once a slip in space has all but stopped its direction is rounding, and so is the force that another place holds
        // against it
        let (mut stops, mut fades) = (false, false);
        for k in (0..old.len()).filter(|&k| matches!(old[k], ContactState::Sliding(_))) {
            let has_stopped = self.system.mode.frictions[k].slip.len() > 1 && has_stopped(&mut self.system, k, false)?;
            fades |= has_stopped;
            stops |= has_stopped && before.slow[k] == 0.0;
        }
        let rests = self.resting_slips(resting, fades)?;
        let n_contacts = self.system.mode.contacts.len();
        let has_friction = |c: usize| self.system.mode.frictions.iter().any(|f| f.contact == Some(c));
        for &c in resting.iter().filter(|&&c| !has_friction(c)) {
            let closes = [true, false].map(|closed| Candidate { contact: Some((c, closed)), friction: None });
            units.push(
                closes.into_iter().filter(|x| !(triggered.contains(&c) && x.contact == Some((c, true)))).collect(),
            );
        }
        for k in 0..self.system.mode.frictions.len() {
            let contact = self.system.mode.frictions[k].contact;
            if contact.is_some_and(|c| !resting.contains(&c)) {
                continue;
            }
            let released = triggered.contains(&(n_contacts + 2 * k)) && old[k] == ContactState::Sticking && !stops;
            let friction_candidates = self.friction_candidates(k, before.sides[k], released, rests[k])?;
            let mut unit: Vec<Candidate> = friction_candidates
                .into_iter()
                .map(|t| Candidate { contact: contact.map(|c| (c, true)), friction: Some(t) })
                .collect();
            if let Some(c) = contact {
                if triggered.contains(&c) {
                    unit.clear();
                }
                let idle = FrictionCandidate {
                    friction: k,
                    state: ContactState::Open,
                    side: 1.0,
                    trial_onset: false,
                    released,
                };
                unit.push(Candidate { contact: Some((c, false)), friction: Some(idle) });
            }
            units.push(unit);
        }
        Ok(units)
    }

    /// For each friction: `true` if its slip is at rest. If one in space has stopped, so have those that it blocks together
    /// with others.
    fn resting_slips(&mut self, resting: &[usize], stops: bool) -> Result<Vec<bool>, MotionError> {
        let system = &mut self.system;
        let n = system.mode.frictions.len();
        let mut rests = (0..n).map(|k| has_stopped(system, k, stops)).collect::<Result<Vec<bool>, MotionError>>()?;
        if !stops {
            return Ok(rests);
        }
        let touches = |system: &ContactSystem<'_, '_, D>, k: usize| {
            system.mode.frictions[k].contact.is_none_or(|c| resting.contains(&c))
        };
        system.open_all();
        resting.iter().for_each(|&c| system.mode.closed[c] = true);
        for k in (0..n).filter(|&k| rests[k]) {
            system.mode.states[k] = if touches(system, k) { ContactState::Sticking } else { ContactState::Open };
        }
        system.mask();
        system.release();
        system.smooth.factor()?;
        for k in 0..n {
            // a place that is held against a belt slides
            let is_slow = length(&system.slip(k)?) <= tolerance::UNCERTAIN_SLIP * system.tolerated_slip(k);
            let slip = system.mode.frictions[k].slip.clone();
            rests[k] |= is_slow && touches(system, k) && system.are_blocked(&slip)?;
        }
        system.open_all();
        system.release();
        Ok(rests)
    }

    /// Candidates for friction k, at first with this side, at rest or not.
    fn friction_candidates(
        &mut self,
        k: usize,
        side: f64,
        released: bool,
        rests: bool,
    ) -> Result<Vec<FrictionCandidate>, MotionError> {
        let system = &mut self.system;
        let slip = system.slip(k)?;
        let rows = system.mode.frictions[k].slip.clone();
        let speed = length(&slip);
        let is_contact = system.mode.frictions[k].contact.is_some();
        let is_sided = !is_contact && system.mode.frictions[k].single().is_some();
        let sides: &[f64] = if is_sided { &[side, -side] } else { &[1.0] };
        let senses: &[f64] = if rests && rows.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
        let mut friction_candidates = Vec::new();
        let imposed_slips = system.mode.imposed_slips[k];
        let sense = imposed_slips.map_or(1.0, |slip| slip[0].signum());
        let senses = if imposed_slips.is_some() && rows.len() == 1 { &[sense] } else { senses };
        // a place sticks unless it has just reached its cone, a slip is imposed on it, or it has no friction; slips at rest
        // that block each other are decided together
        let can_hold = imposed_slips.is_none() || system.mode.imposed_together;
        if rests && !released && can_hold && system.mode.laws[k].static_mu > 0.0 {
            friction_candidates.push(FrictionCandidate {
                friction: k,
                state: ContactState::Sticking,
                side: 1.0,
                trial_onset: false,
                released,
            });
        }
        for &side in sides {
            for &sense in senses {
                let sense = if rests { sense } else { slip[0].signum() };
                friction_candidates.push(FrictionCandidate {
                    friction: k,
                    state: ContactState::Sliding(sense),
                    side,
                    trial_onset: rests,
                    released,
                });
            }
        }
        if !rests {
            system.mode.directions[k] = slip.map(|s| s / speed);
        }
        Ok(friction_candidates)
    }

    /// Sets a mode.
    pub(super) fn take(&mut self, units: &[Vec<Candidate>], at: &[usize]) {
        let mode = &mut *self.system.mode;
        mode.open_all();
        mode.trial_onset.fill(false);
        for choice in units.iter().zip(at).map(|(unit, &k)| &unit[k]) {
            if let Some((c, closed)) = choice.contact {
                mode.closed[c] = closed;
            }
            if let Some(t) = &choice.friction {
                mode.states[t.friction] = t.state;
                mode.sides[t.friction] = t.side;
                mode.trial_onset[t.friction] = t.trial_onset;
            }
        }
        self.system.mask();
        self.system.release();
    }

    /// By how much the current motion violates the inequalities of each unit, relative to the terms in them.
    pub(super) fn violations(&mut self, units: &[Vec<Candidate>], at: &[usize]) -> Result<Vec<f64>, MotionError> {
        self.find_directions(units, at)?;
        self.system.evaluate()?;
        let system = &mut self.system;
        let mut laws = system.mode.laws.clone();
        system.fill_friction_laws(&mut laws)?;
        let is_indeterminate = system.is_indeterminate(system.smooth.all.rank());
        let lambda = &system.smooth.instant.lambda;
        let top = lambda.iter().fold(f64::MIN_POSITIVE, |top: f64, l| top.max(l.abs()));
        // a sticking place has less margin than its guard, and hardly any if several places share an indeterminate force
        // that is too large for all of them: at the cone sticking and sliding agree
        let room = if is_indeterminate { tolerance::FORCE_ROUNDING } else { 0.5 * tolerance::ROUNDING };
        let tolerance = system.mode.tolerance;
        let violation = |choice: &Candidate| {
            let of_contact = choice.contact.map_or(0.0, |(c, closed)| {
                let row = system.mode.contacts[c].row;
                let (w, terms) = excess(system, row);
                if closed { -lambda[row] / top } else { -w / terms }
            });
            let Some(t) = &choice.friction else { return of_contact };
            let friction = &system.mode.frictions[t.friction];
            let normal_forces = friction.normal_forces(lambda);
            let force = friction.slip.iter().map(|&row| lambda[row] * lambda[row]).sum::<f64>().sqrt();
            let law = laws[t.friction];
            let of_friction = match t.state {
                ContactState::Open => 0.0,
                ContactState::Sticking => {
                    (force - law.static_mu * law.normal(&normal_forces)) * tolerance::LAW / (room * top)
                }
                ContactState::Sliding(sense) => {
                    let pull = if friction.single().is_some() { -t.side * normal_forces[0] / top } else { 0.0 };
                    let (w, terms) = onset_acceleration(system, t.friction, sense);
                    // a place that less friction would hold does not start to slide
                    let is_spatial = friction.slip.len() > 1;
                    let held = if is_spatial { 1.0 - length(&system.mode.directions[t.friction]) } else { 0.0 };
                    // where it has just reached its cone, it does so within the error of the step
                    let room = if t.released {
                        f64::max(0.0, tolerance::UNCERTAIN_SLIP * tolerance - tolerance::LAW)
                    } else {
                        0.0
                    };
                    match t.trial_onset {
                        true if held > tolerance::LAW + room => held,
                        true => pull.max(-w / terms - room),
                        false => pull,
                    }
                }
            };
            of_contact.max(of_friction)
        };
        let choices = units.iter().zip(at).map(|(unit, &k)| &unit[k]);
        Ok(choices.map(violation).collect())
    }

    /// Finds directions of slip onset in space: along the acceleration it leads to.
    fn find_directions(&mut self, units: &[Vec<Candidate>], at: &[usize]) -> Result<(), MotionError> {
        let friction_candidates = units.iter().zip(at).filter_map(|(unit, &k)| unit[k].friction.as_ref());
        let sought: Vec<usize> = friction_candidates
            .filter(|t| t.trial_onset && self.system.mode.frictions[t.friction].slip.len() > 1)
            .map(|t| t.friction)
            .collect();
        if sought.is_empty() {
            return Ok(());
        }
        self.first_directions(&sought);
        let mut done = self.system.settle_directions(&sought, true);
        if done.is_err() {
            self.pulled_directions(&sought)?;
            done = self.system.settle_directions(&sought, true);
        }
        let mode = &mut self.system.mode;
        sought.iter().for_each(|&k| mode.bases[k] = mode.directions[k]);
        done
    }

    /// First guess of these directions: along the acceleration without this friction.
    fn pulled_directions(&mut self, sought: &[usize]) -> Result<(), MotionError> {
        // if several places are released together, none of the static forces gives their directions
        sought.iter().for_each(|&k| self.system.mode.directions[k].fill(0.0));
        self.system.evaluate_once()?;
        for &k in sought {
            let pulled = self.system.mode.frictions[k].slips(|row| excess(&self.system, row).0);
            self.system.mode.directions[k] = unit_vector(pulled).unwrap_or_default();
        }
        Ok(())
    }

    /// First guess of these directions: against the static forces.
    fn first_directions(&mut self, sought: &[usize]) {
        for &k in sought {
            self.system.mode.states[k] = ContactState::Sticking;
        }
        self.system.mask();
        self.system.release();
        // a place that cannot stick starts to slide by itself
        let can_hold = self.system.evaluate().is_ok();
        for &k in sought {
            self.system.mode.directions[k] = if can_hold { self.held_direction(k) } else { Slip::default() };
        }
        let mode = &mut self.system.mode;
        sought.iter().for_each(|&k| mode.states[k] = ContactState::Sliding(1.0));
        self.system.mask();
        self.system.release();
    }

    /// The direction in which friction k, which sticks in the current motion, would slide: against its static force. If
    /// constraints impose a slip, it has the part of the direction that this force leaves of the cone.
    fn held_direction(&self, k: usize) -> Slip {
        let (system, friction) = (&self.system, &self.system.mode.frictions[k]);
        let lambda = &system.smooth.instant.lambda;
        let held = friction.slips(|row| -lambda[row]);
        let own = unit_vector(held).unwrap_or_default();
        let law = system.mode.laws[k];
        let part = length(&held) / (law.static_mu * law.normal(&friction.normal_forces(lambda)));
        match system.mode.imposed_slips[k].and_then(unit_vector).filter(|_| part < 1.0) {
            Some(drag) => {
                let left = (1.0 - part * part).sqrt();
                std::array::from_fn(|i| part * own[i] + left * drag[i])
            }
            None => own,
        }
    }
}

/// A q̈ − b of a row, active or not, and the size of its terms.
pub(super) fn excess<D: Dynamics + ?Sized>(system: &ContactSystem<'_, '_, D>, row: usize) -> (f64, f64) {
    let whole = &system.smooth.rows.whole;
    let (col, value) = whole.constraint_matrix.row(row);
    let b = whole.constraint_rhs[row];
    let terms =
        col.iter().zip(value).map(|(&j, a)| (a * system.smooth.instant.qddot[j], a.abs() * system.mode.free[j]));
    terms.fold((-b, b.abs().max(f64::MIN_POSITIVE)), |(sum, size), (x, free)| (sum + x, size + x.abs() + free))
}

/// The acceleration of friction k along its direction at slip onset, and the size of its terms.
pub(super) fn onset_acceleration<D: Dynamics + ?Sized>(
    system: &ContactSystem<'_, '_, D>,
    k: usize,
    sense: f64,
) -> (f64, f64) {
    let slip = &system.mode.frictions[k].slip;
    if let [row] = slip[..] {
        let (w, terms) = excess(system, row);
        return (sense * w, terms);
    }
    let parts = slip.iter().zip(&system.mode.directions[k]).map(|(&row, d)| (excess(system, row), d));
    parts.fold((0.0, f64::MIN_POSITIVE), |(sum, top), ((w, terms), d)| (sum + d * w, top.max(terms)))
}

/// `true` if the slip of friction k is within rounding, or within the tolerance in space, where steps resolve it no further.
/// Feet of one body stop together, but for that.
pub(super) fn has_stopped<D: Dynamics + ?Sized>(
    system: &mut ContactSystem<'_, '_, D>,
    k: usize,
    others_have: bool,
) -> Result<bool, MotionError> {
    /// The size of a slip that has not quite stopped relative to one that has.
    const STOPPED_TOGETHER: f64 = 10.0;
    let speed = length(&system.slip(k)?);
    let slip = &system.mode.frictions[k].slip;
    let tolerated = if others_have { STOPPED_TOGETHER * system.tolerated_slip(k) } else { system.tolerated_slip(k) };
    let error = if slip.len() > 1 { tolerated } else { 0.0 };
    Ok(speed <= error.max(tolerance::STOPPED_SLIP * system.rate_noise(slip)))
}
