//! What each contact and each friction may do next, and how far a mode misses what it promises.

use super::contact::{Before, NO_PUSH};
use super::friction::EDGE;
use super::*;
use crate::unilateral::modes::Grip;
use crate::unilateral::{Slip, length, unit_vector};

/// What one contact, or one friction of a row that always holds, may do next.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// A contact, and whether it closes.
    pub(super) contact: Option<(usize, bool)>,
    pub(super) friction: Option<Try>,
}

/// What one friction may do next.
#[derive(Clone, Debug)]
pub(super) struct Try {
    pub(super) friction: usize,
    pub(super) grip: Grip,
    /// The sign of the λ that presses.
    pub(super) press: f64,
    /// Whether it sets out from rest.
    pub(super) begins: bool,
    /// Whether it has just reached its cone.
    pub(super) lets_go: bool,
}

/// Forces below this part of the largest are rounding.
const ROUNDING: f64 = 1e-13;

/// Where what sticks reaches its cone, forces are known to so many tolerances: they follow from velocities, and their squares.
const REACHED: f64 = 1e3;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Whether friction k, which slides, becomes faster in this sense in the motion at hand: what presses nowhere need not move.
    pub(super) fn sets_off(&self, k: usize, sense: f64) -> bool {
        let (w, terms) = setting_out(&self.flow, k, sense);
        w > EDGE * terms
    }

    /// The rows that press, for messages.
    pub(super) fn pressing(&self, units: &[Vec<Choice>]) -> Vec<usize> {
        let tries = units.iter().filter_map(|unit| unit[0].friction.as_ref());
        tries.map(|t| self.flow.modes.frictions[t.friction].normals[0]).collect()
    }

    /// What each contact that rests and each friction may do, the likely first.
    pub(super) fn units(
        &mut self,
        resting: &[usize],
        fired: &[usize],
        before: &Before,
    ) -> Result<Vec<Vec<Choice>>, MotionError> {
        let old = &before.grips;
        let mut units = Vec::new();
        self.flow.feel()?;
        // where a slip in space has all but stopped its direction is rounding, and so is what another place has to hold against it
        let (mut stops, mut fades) = (false, false);
        for k in (0..old.len()).filter(|&k| matches!(old[k], Grip::Slides(_))) {
            let has_stopped = self.flow.modes.frictions[k].slip.len() > 1 && has_stopped(&mut self.flow, k, false)?;
            fades |= has_stopped;
            stops |= has_stopped && before.slow[k] == 0.0;
        }
        let rests = self.resting_slips(resting, fades)?;
        let n_contacts = self.flow.modes.contacts.len();
        let has_friction = |c: usize| self.flow.modes.frictions.iter().any(|f| f.contact == Some(c));
        for &c in resting.iter().filter(|&&c| !has_friction(c)) {
            let closes = [true, false].map(|closed| Choice { contact: Some((c, closed)), friction: None });
            units.push(closes.into_iter().filter(|x| !(fired.contains(&c) && x.contact == Some((c, true)))).collect());
        }
        for k in 0..self.flow.modes.frictions.len() {
            let contact = self.flow.modes.frictions[k].contact;
            if contact.is_some_and(|c| !resting.contains(&c)) {
                continue;
            }
            let lets_go = fired.contains(&(n_contacts + 2 * k)) && old[k] == Grip::Sticks && !stops;
            let tries = self.tries(k, before.presses[k], lets_go, rests[k])?;
            let mut unit: Vec<Choice> =
                tries.into_iter().map(|t| Choice { contact: contact.map(|c| (c, true)), friction: Some(t) }).collect();
            if let Some(c) = contact {
                if fired.contains(&c) {
                    unit.clear();
                }
                let idle = Try { friction: k, grip: Grip::Idle, press: 1.0, begins: false, lets_go };
                unit.push(Choice { contact: Some((c, false)), friction: Some(idle) });
            }
            units.push(unit);
        }
        Ok(units)
    }

    /// Which slips are at rest. Where one in space has stopped, so have those that it holds together with others.
    fn resting_slips(&mut self, resting: &[usize], stops: bool) -> Result<Vec<bool>, MotionError> {
        /// Slips that are held by others are less fast than so many tolerances: a few times as fast as those.
        const SLOW: f64 = 1e3;
        let flow = &mut self.flow;
        let n = flow.modes.frictions.len();
        let mut rests = (0..n).map(|k| has_stopped(flow, k, stops)).collect::<Result<Vec<bool>, MotionError>>()?;
        if !stops {
            return Ok(rests);
        }
        let touches = |flow: &Flow<D>, k: usize| flow.modes.frictions[k].contact.is_none_or(|c| resting.contains(&c));
        flow.modes.open_all();
        resting.iter().for_each(|&c| flow.modes.closed[c] = true);
        for k in (0..n).filter(|&k| rests[k]) {
            flow.modes.grips[k] = if touches(flow, k) { Grip::Sticks } else { Grip::Idle };
        }
        flow.modes.switch();
        flow.release();
        flow.factor()?;
        for k in 0..n {
            // what is held against a belt slides
            let is_slow = length(&flow.slip(k)?) <= SLOW * flow.tolerated_slip(k);
            let slip = flow.modes.frictions[k].slip.clone();
            rests[k] |= is_slow && touches(flow, k) && flow.are_held(&slip)?;
        }
        flow.modes.open_all();
        flow.release();
        Ok(rests)
    }

    /// What friction k may do while it is pressed, at first with this sign, at rest or not.
    fn tries(&mut self, k: usize, press: f64, lets_go: bool, rests: bool) -> Result<Vec<Try>, MotionError> {
        let flow = &mut self.flow;
        let slip = flow.slip(k)?;
        let rows = flow.modes.frictions[k].slip.clone();
        let speed = length(&slip);
        let is_contact = flow.modes.frictions[k].contact.is_some();
        let is_sided = !is_contact && flow.modes.frictions[k].single().is_some();
        let presses: &[f64] = if is_sided { &[press, -press] } else { &[1.0] };
        let senses: &[f64] = if rests && rows.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
        let mut tries = Vec::new();
        let dragged = flow.modes.dragged[k];
        let sense = dragged.map_or(1.0, |slip| slip[0].signum());
        let senses = if dragged.is_some() && rows.len() == 1 { &[sense] } else { senses };
        // what has just reached its cone does not hold, nor what is dragged along, nor what is smooth; slips at rest that hold each
        // other are decided together
        let can_hold = dragged.is_none() || flow.modes.together;
        if rests && !lets_go && can_hold && flow.modes.roughness[k].holding > 0.0 {
            tries.push(Try { friction: k, grip: Grip::Sticks, press: 1.0, begins: false, lets_go });
        }
        for &press in presses {
            for &sense in senses {
                let sense = if rests { sense } else { slip[0].signum() };
                tries.push(Try { friction: k, grip: Grip::Slides(sense), press, begins: rests, lets_go });
            }
        }
        if !rests {
            flow.modes.directions[k] = slip.map(|s| s / speed);
        }
        Ok(tries)
    }

    /// Sets a mode.
    pub(super) fn take(&mut self, units: &[Vec<Choice>], at: &[usize]) {
        let modes = &mut self.flow.modes;
        modes.open_all();
        modes.begins.fill(false);
        for choice in units.iter().zip(at).map(|(unit, &k)| &unit[k]) {
            if let Some((c, closed)) = choice.contact {
                modes.closed[c] = closed;
            }
            if let Some(t) = &choice.friction {
                modes.grips[t.friction] = t.grip;
                modes.presses[t.friction] = t.press;
                modes.begins[t.friction] = t.begins;
            }
        }
        modes.switch();
        self.flow.release();
    }

    /// How far the motion in the mode at hand misses the inequalities of each unit, as a part of the terms in them.
    pub(super) fn faults(&mut self, units: &[Vec<Choice>], at: &[usize]) -> Result<Vec<f64>, MotionError> {
        self.seek_directions(units, at)?;
        self.flow.evaluate()?;
        let flow = &mut self.flow;
        let mut roughness = flow.modes.roughness.clone();
        flow.dynamics.fill_roughness(&flow.instant.state, &mut roughness)?;
        let is_shared = flow.has_shares(flow.all.rank());
        let lambda = &flow.instant.lambda;
        let top = lambda.iter().fold(f64::MIN_POSITIVE, |top: f64, l| top.max(l.abs()));
        // what sticks has less room than what ends it, and hardly any where several places share a force that is too large for all of
        // them: where it meets sliding the two agree
        let room = if is_shared { ROUNDING } else { 0.5 * NO_PUSH };
        let tolerance = flow.modes.tolerance;
        let fault = |choice: &Choice| {
            let of_contact = choice.contact.map_or(0.0, |(c, closed)| {
                let row = flow.modes.contacts[c].row;
                let (w, terms) = excess(flow, row);
                if closed { -lambda[row] / top } else { -w / terms }
            });
            let Some(t) = &choice.friction else { return of_contact };
            let friction = &flow.modes.frictions[t.friction];
            let pushes = friction.pushes(lambda);
            let force = friction.slip.iter().map(|&row| lambda[row] * lambda[row]).sum::<f64>().sqrt();
            let rough = roughness[t.friction];
            let of_friction = match t.grip {
                Grip::Idle => 0.0,
                Grip::Sticks => (force - rough.holding * rough.normal(&pushes)) * EDGE / (room * top),
                Grip::Slides(sense) => {
                    let pull = if friction.single().is_some() { -t.press * pushes[0] / top } else { 0.0 };
                    let (w, terms) = setting_out(flow, t.friction, sense);
                    // what less friction than there is would hold does not set out
                    let is_spatial = friction.slip.len() > 1;
                    let held = if is_spatial { 1.0 - length(&flow.modes.directions[t.friction]) } else { 0.0 };
                    // where it has just reached its cone, it does so within the error of the step
                    let room = if t.lets_go { f64::max(0.0, REACHED * tolerance - EDGE) } else { 0.0 };
                    match t.begins {
                        true if held > EDGE + room => held,
                        true => pull.max(-w / terms - room),
                        false => pull,
                    }
                }
            };
            of_contact.max(of_friction)
        };
        let choices = units.iter().zip(at).map(|(unit, &k)| &unit[k]);
        Ok(choices.map(fault).collect())
    }

    /// In space, sliding sets out along the acceleration it leads to.
    fn seek_directions(&mut self, units: &[Vec<Choice>], at: &[usize]) -> Result<(), MotionError> {
        let tries = units.iter().zip(at).filter_map(|(unit, &k)| unit[k].friction.as_ref());
        let sought: Vec<usize> = tries
            .filter(|t| t.begins && self.flow.modes.frictions[t.friction].slip.len() > 1)
            .map(|t| t.friction)
            .collect();
        if sought.is_empty() {
            return Ok(());
        }
        self.first_directions(&sought);
        let mut done = self.flow.settle_directions(&sought, true);
        if done.is_err() {
            self.pulled_directions(&sought)?;
            done = self.flow.settle_directions(&sought, true);
        }
        let modes = &mut self.flow.modes;
        sought.iter().for_each(|&k| modes.bases[k] = modes.directions[k]);
        done
    }

    /// Where these frictions would slide to: where they are pulled without them.
    fn pulled_directions(&mut self, sought: &[usize]) -> Result<(), MotionError> {
        // where several places let go together, none of the forces that held says where they go
        sought.iter().for_each(|&k| self.flow.modes.directions[k].fill(0.0));
        self.flow.evaluate_once()?;
        for &k in sought {
            let pulled = self.flow.modes.frictions[k].slips(|row| excess(&self.flow, row).0);
            self.flow.modes.directions[k] = unit_vector(pulled).unwrap_or_default();
        }
        Ok(())
    }

    /// Where these frictions would slide to: against the forces that would hold them.
    fn first_directions(&mut self, sought: &[usize]) {
        for &k in sought {
            self.flow.modes.grips[k] = Grip::Sticks;
        }
        self.flow.modes.switch();
        self.flow.release();
        // what cannot be held sets out by itself
        let can_hold = self.flow.evaluate().is_ok();
        for &k in sought {
            self.flow.modes.directions[k] = if can_hold { self.held_direction(k) } else { Slip::default() };
        }
        let modes = &mut self.flow.modes;
        sought.iter().for_each(|&k| modes.grips[k] = Grip::Slides(1.0));
        modes.switch();
        self.flow.release();
    }

    /// Where friction k, which is held in the motion at hand, would slide to: against the force that holds it. Where constraints
    /// drag it along all the same, so much of the direction is theirs as that force leaves of the cone.
    fn held_direction(&self, k: usize) -> Slip {
        let (flow, friction) = (&self.flow, &self.flow.modes.frictions[k]);
        let lambda = &flow.instant.lambda;
        let held = friction.slips(|row| -lambda[row]);
        let own = unit_vector(held).unwrap_or_default();
        let rough = flow.modes.roughness[k];
        let part = length(&held) / (rough.holding * rough.normal(&friction.pushes(lambda)));
        match flow.modes.dragged[k].and_then(unit_vector).filter(|_| part < 1.0) {
            Some(drag) => {
                let left = (1.0 - part * part).sqrt();
                std::array::from_fn(|i| part * own[i] + left * drag[i])
            }
            None => own,
        }
    }
}

/// A q̈ − b of a row, whether it holds or not, and the size of its terms.
pub(super) fn excess<D: Dynamics + ?Sized>(flow: &Flow<D>, row: usize) -> (f64, f64) {
    let whole = &flow.modes.whole;
    let (col, value) = whole.constraint_matrix.row(row);
    let b = whole.constraint_rhs[row];
    let terms = col.iter().zip(value).map(|(&j, a)| (a * flow.instant.qddot[j], a.abs() * flow.modes.free[j]));
    terms.fold((-b, b.abs().max(f64::MIN_POSITIVE)), |(sum, size), (x, free)| (sum + x, size + x.abs() + free))
}

/// How fast friction k, which begins to slide, does so along its direction, and the size of the terms in that.
pub(super) fn setting_out<D: Dynamics + ?Sized>(flow: &Flow<D>, k: usize, sense: f64) -> (f64, f64) {
    let slip = &flow.modes.frictions[k].slip;
    if let [row] = slip[..] {
        let (w, terms) = excess(flow, row);
        return (sense * w, terms);
    }
    let parts = slip.iter().zip(&flow.modes.directions[k]).map(|(&row, d)| (excess(flow, row), d));
    parts.fold((0.0, f64::MIN_POSITIVE), |(sum, top), ((w, terms), d)| (sum + d * w, top.max(terms)))
}

/// Whether the slip of friction k is no more than rounding, or than the tolerance in space, where steps follow it no further down.
/// Feet of one body stop together, but for that.
pub(super) fn has_stopped<D: Dynamics + ?Sized>(
    flow: &mut Flow<D>,
    k: usize,
    others_have: bool,
) -> Result<bool, MotionError> {
    /// Where sliding ends the slip has gone beyond zero by its noise, and not much further.
    const STOPPED: f64 = 100.0;
    /// What a slip that has not quite stopped may be beside one that has.
    const TOGETHER: f64 = 10.0;
    let speed = length(&flow.slip(k)?);
    let slip = &flow.modes.frictions[k].slip;
    let tolerated = if others_have { TOGETHER * flow.tolerated_slip(k) } else { flow.tolerated_slip(k) };
    let error = if slip.len() > 1 { tolerated } else { 0.0 };
    Ok(speed <= error.max(STOPPED * flow.rate_noise(slip)))
}
