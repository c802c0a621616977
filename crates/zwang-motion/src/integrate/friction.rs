//! Which mode follows where friction acts: the one whose motion keeps its own inequalities.

use super::contact::{Before, NO_PUSH};
use super::search::{Search, Tried, seek};
use super::*;
use crate::unilateral::modes::Grip;
use crate::unilateral::{length, unit_vector};

/// What one contact, or one friction of a row that always holds, may do next.
#[derive(Clone, Debug)]
struct Choice {
    /// A contact, and whether it closes.
    contact: Option<(usize, bool)>,
    friction: Option<Try>,
}

/// What one friction may do next.
#[derive(Clone, Debug)]
struct Try {
    friction: usize,
    grip: Grip,
    /// The sign of the λ that presses.
    press: f64,
    /// Whether it sets out from rest.
    begins: bool,
    /// Whether it has just reached its cone.
    lets_go: bool,
}

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

/// The modes that were looked at, and what was found: those that fit, and some that do not.
struct Sought {
    units: Vec<Vec<Choice>>,
    search: Search,
    /// One that keeps its inequalities, but whose closed contacts contradict each other or the constraints.
    contradicts: Option<Vec<usize>>,
    fits: Vec<TriedMode>,
    told: Vec<TriedMode>,
}

/// How many modes that were tried are told.
const MOST_TOLD: usize = 4;

/// Inequalities may be missed by this part of the terms in them: modes meet where they are equalities.
const EDGE: f64 = 1e-9;

/// Forces below this part of the largest are rounding.
const ROUNDING: f64 = 1e-13;

/// Where what sticks reaches its cone, forces are known to so many tolerances: they follow from velocities, and their squares.
const REACHED: f64 = 1e3;

/// Two accelerations are different ones if they differ by this part.
const DIFFERENT: f64 = 1e-6;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Finds the mode whose motion keeps its inequalities: `resting` contacts may close; `fired` have just let go.
    pub(super) fn choose_among(&mut self, resting: &[usize], fired: &[usize], before: &Before) -> Result<(), Outcome> {
        let n_contacts = before.closed.len();
        // sliding that ends may go on in another direction
        let lets_go = |k: usize| k < n_contacts || before.grips[(k - n_contacts) / 2] == Grip::Sticks;
        let is_dragged = self.flow.modes.dragged.iter().any(|slip| !slip.is_empty());
        let has_fired = fired.iter().any(|&k| lets_go(k)) || is_dragged;
        self.flow.place(self.t, &self.y);
        self.flow.modes.open_all();
        self.flow.modes.is_braced = false;
        self.flow.release();
        self.flow.evaluate().map_err(Outcome::Failed)?;
        // where forces pass through zero, what is rounding beside others is none
        let size = |(x, idle): (&f64, &f64)| x.abs() + idle / EDGE;
        self.flow.modes.free = self.flow.instant.qddot.iter().zip(&self.idle).map(size).collect();
        // constraints that contradict each other do so in every mode, which is told where the motion goes on
        let agree = self.flow.meets_all_rows().map_err(Outcome::Failed)?;
        // friction against what holds already is the last resort
        let mut sought = self.seek_after(resting, fired, before, (has_fired, agree))?;
        if sought.search == Search::None {
            self.flow.modes.is_braced = true;
            let braced = self.seek_after(resting, fired, before, (has_fired, agree))?;
            match braced.search {
                Search::None => self.flow.modes.is_braced = false,
                _ => sought = braced,
            }
        }
        let Sought { units, search, contradicts, fits, told } = sought;
        let (t, rows) = (self.t, self.pressing(&units));
        let (at, is_checked) = match search {
            Search::Found { at, is_checked } => (at, is_checked),
            Search::None if contradicts.is_some() => (contradicts.unwrap_or_default(), true),
            Search::Several => return Err(Outcome::Ambiguous { t, rows, n_modes: 2, tried: fits }),
            Search::None => return Err(Outcome::Ambiguous { t, rows, n_modes: 0, tried: told }),
            Search::NotFound => return Err(Outcome::TooManyModes { t, rows }),
        };
        self.n_unchecked += usize::from(!is_checked);
        self.take(&units, &at);
        // directions that were sought are found again, now with the coefficient of sliding
        let modes = &mut self.flow.modes;
        modes.sets_out.copy_from_slice(&modes.begins);
        modes.begins.fill(false);
        let spatial = (0..modes.frictions.len()).filter(|&k| modes.sets_out[k] && modes.frictions[k].slip.len() > 1);
        spatial.for_each(|k| modes.slow[k] = f64::INFINITY);
        self.faults(&units, &at).map_err(Outcome::Failed)?;
        self.mind_slow(before).map_err(Outcome::Failed)
    }

    /// Looks for the mode that follows what has `fired`; `has_fired` says whether something let go.
    fn seek_after(
        &mut self,
        resting: &[usize],
        fired: &[usize],
        before: &Before,
        (has_fired, agree): (bool, bool),
    ) -> Result<Sought, Outcome> {
        // where forces are shared no single one says what lets go; something does
        let first = match before.is_shared || fired.is_empty() {
            true => self.seek_loose(resting, &[], before, (has_fired, agree))?,
            false => self.seek_loose(resting, fired, before, (false, agree))?,
        };
        // nor where what lets go changes the forces on others so that it holds again
        match first.search == Search::None && !before.is_shared && has_fired {
            true => self.seek_loose(resting, &[], before, (true, agree)),
            false => Ok(first),
        }
    }

    /// Looks for the mode that follows. What sets out has overcome the friction that holds, but what it then does to other places
    /// is the friction of sliding: where that changes the mode, it is sought again, and what slides in both is loose.
    fn seek_loose(
        &mut self,
        resting: &[usize],
        fired: &[usize],
        before: &Before,
        hints: (bool, bool),
    ) -> Result<Sought, Outcome> {
        self.flow.modes.loose.fill(false);
        let first = self.seek_mode(resting, fired, before, hints)?;
        let mut newly = self.loosened(&first);
        let mut later = None;
        while !newly.is_empty() {
            newly.iter().for_each(|&k| self.flow.modes.loose[k] = true);
            let next = self.seek_mode(resting, fired, before, hints)?;
            newly = self.loosened(&next);
            later = matches!(next.search, Search::Found { .. }).then_some(next);
        }
        self.flow.modes.loose.fill(false);
        Ok(later.unwrap_or(first))
    }

    /// Where the mode that was found is none with the friction of sliding: what sets out in it all the same, and was not loose.
    fn loosened(&mut self, sought: &Sought) -> Vec<usize> {
        let Search::Found { at, .. } = &sought.search else { return Vec::new() };
        let choices = || sought.units.iter().zip(at).map(|(unit, &k)| &unit[k]);
        let modes = &self.flow.modes;
        let falls = |k: usize| modes.roughness[k].sliding < modes.roughness[k].holding && !modes.loose[k];
        let beginning =
            |choice: &Choice| choice.friction.as_ref().filter(|t| t.begins && falls(t.friction)).map(|t| t.friction);
        let beginning: Vec<Option<usize>> = choices().map(beginning).collect();
        if beginning.iter().all(Option::is_none) {
            return Vec::new();
        }
        let loose = self.flow.modes.loose.clone();
        self.take(&sought.units, at);
        self.flow.modes.loose.fill(true);
        let faults = self.faults(&sought.units, at).unwrap_or_default();
        self.flow.modes.loose = loose;
        if faults.iter().all(|fault| *fault <= EDGE) {
            return Vec::new();
        }
        beginning.iter().zip(&faults).filter(|(_, fault)| **fault <= EDGE).filter_map(|(k, _)| *k).collect()
    }

    /// Looks for the mode that follows; it is not the one that was left where `is_over`. Where constraints `agree`, rows that
    /// contradict each other are no mode.
    fn seek_mode(
        &mut self,
        resting: &[usize],
        fired: &[usize],
        before: &Before,
        (is_over, agree): (bool, bool),
    ) -> Result<Sought, Outcome> {
        let units = self.units(resting, fired, before).map_err(Outcome::Failed)?;
        let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
        let repeats = self.repeats(resting).map_err(Outcome::Failed)?;
        let mut found: Option<(Vec<f64>, Vec<usize>)> = None;
        let mut contradicts: Option<Vec<usize>> = None;
        let mut told: Vec<TriedMode> = Vec::new();
        let mut fits: Vec<TriedMode> = Vec::new();
        let search = seek(&sizes, |at| {
            self.take(&units, at);
            let is_left = is_over && before.is_same(&self.flow.modes);
            // a mode without a solution is none
            let faults = self.faults(&units, at).unwrap_or_default();
            let has_solution = faults.len() == at.len() && !faults.iter().any(|fault| fault.is_nan());
            let is_met = !agree || self.flow.meets_all_rows().unwrap_or(false);
            let keeps_all = has_solution && !is_left && faults.iter().all(|fault| *fault <= EDGE);
            if keeps_all && !is_met && !self.flow.modes.sticks() {
                contradicts.get_or_insert_with(|| at.to_vec());
            }
            if !has_solution || !is_met {
                if told.len() < MOST_TOLD {
                    told.push(self.told(&units, at, Some(Inequality::NoSolution)));
                }
                return Tried::Nothing;
            }
            if !keeps_all {
                if told.len() < MOST_TOLD {
                    let misses = self.missed_most(&units, at, &faults);
                    told.push(self.told(&units, at, misses));
                }
                return if is_left { Tried::Nothing } else { Tried::Faulty(faults) };
            }
            let qddot = &self.flow.instant.qddot;
            match &found {
                Some((first, _)) if differ(first, qddot, &self.flow.modes.free) => {
                    // contacts that repeat others share a force: which of them presses is not Coulomb's question
                    let other = self.told(&units, at, None);
                    if found.as_ref().is_some_and(|(_, was)| self.is_share(&units, was, at, &repeats)) {
                        return Tried::Fits;
                    }
                    fits.push(other);
                    return Tried::Another;
                }
                None => {
                    fits.push(self.told(&units, at, None));
                    found = Some((qddot.clone(), at.to_vec()));
                }
                _ => {}
            }
            Tried::Fits
        });
        Ok(Sought { units, search, contradicts, fits, told })
    }

    /// Whether two modes differ in which of the contacts press that repeat others, or what sticks: their friction then differs too,
    /// and what sticks with it.
    fn is_share(&mut self, units: &[Vec<Choice>], was: &[usize], now: &[usize], repeats: &[usize]) -> bool {
        let differs = units.iter().zip(was.iter().zip(now)).filter(|(_, (x, y))| x != y);
        let pairs: Option<Vec<_>> = differs.map(|(unit, (&x, &y))| unit[x].contact.zip(unit[y].contact)).collect();
        let Some(pairs) = pairs else { return false };
        let mut opens = false;
        for ((c, was_closed), (_, is_closed)) in pairs {
            let closing = if was_closed { was } else { now };
            let turns = was_closed != is_closed;
            opens |= turns;
            let mut repeated = || self.is_repeated(units, closing, c).unwrap_or(false);
            if !(repeats.contains(&c) || turns && repeated()) {
                return false;
            }
        }
        opens
    }

    /// Whether the row of contact c repeats what the others of a mode say.
    fn is_repeated(&mut self, units: &[Vec<Choice>], at: &[usize], c: usize) -> Result<bool, MotionError> {
        self.take(units, at);
        self.flow.factor()?;
        let rank = self.flow.all.rank();
        self.flow.modes.off[self.flow.modes.contacts[c].row] = true;
        self.flow.release();
        self.flow.factor()?;
        Ok(self.flow.all.rank() == rank)
    }

    /// Of contacts that may close, those whose rows repeat what the others and the constraints say.
    fn repeats(&mut self, resting: &[usize]) -> Result<Vec<usize>, MotionError> {
        let flow = &mut self.flow;
        let rank_of = |flow: &mut Flow<D>, without: Option<usize>| -> Result<usize, MotionError> {
            flow.modes.open_all();
            resting.iter().for_each(|&c| flow.modes.closed[c] = Some(c) != without);
            flow.modes.switch();
            flow.release();
            flow.factor()?;
            Ok(flow.all.rank())
        };
        let rank = rank_of(flow, None)?;
        let mut repeats = Vec::new();
        if rank < flow.modes.off.iter().filter(|off| !**off).count() {
            for &c in resting {
                if rank_of(flow, Some(c))? == rank {
                    repeats.push(c);
                }
            }
        }
        flow.modes.open_all();
        flow.release();
        Ok(repeats)
    }

    /// A mode in words.
    fn told(&self, units: &[Vec<Choice>], at: &[usize], misses: Option<Inequality>) -> TriedMode {
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

    /// The inequality that the mode at hand misses most.
    fn missed_most(&self, units: &[Vec<Choice>], at: &[usize], faults: &[f64]) -> Option<Inequality> {
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

    /// Whether friction k, which slides, becomes faster in this sense in the motion at hand: what presses nowhere need not move.
    pub(super) fn sets_off(&self, k: usize, sense: f64) -> bool {
        let (w, terms) = setting_out(&self.flow, k, sense);
        w > EDGE * terms
    }

    /// How often there were too many modes to look for another one that fits.
    pub fn n_unchecked(&self) -> usize {
        self.n_unchecked
    }

    /// Notes contacts and rows with friction that repeat others in this mode: their λ is the shortest of many.
    pub(super) fn mind_shared(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        flow.release();
        flow.factor()?;
        let rank = flow.all.rank();
        if rank + flow.n_repeated_slips() == flow.modes.off.iter().filter(|off| !**off).count() {
            return Ok(());
        }
        let mut roughness = flow.modes.roughness.clone();
        flow.dynamics.fill_roughness(&flow.instant.state, &mut roughness)?;
        for (k, rough) in roughness.iter().enumerate() {
            let normals = flow.modes.frictions[k].normals.clone();
            // where there is no friction nothing depends on the force
            let is_rubbed = matches!(flow.modes.grips[k], Grip::Slides(_)) && rough.sliding != 0.0;
            if !is_rubbed || self.shared.contains(&normals[0]) {
                continue;
            }
            normals.iter().for_each(|&row| flow.modes.off[row] = true);
            flow.release();
            flow.factor()?;
            // a force that no other row can take leaves as many directions free as it has rows
            if flow.all.rank() + normals.len() > rank {
                self.shared.push(normals[0]);
            }
            flow.modes.switch();
        }
        // what sticks at several places shares the force along the slip
        for k in 0..flow.modes.frictions.len() {
            let (row, slip) = (flow.modes.frictions[k].normals[0], flow.modes.frictions[k].slip.clone());
            if flow.modes.grips[k] != Grip::Sticks || self.undetermined.contains(&row) {
                continue;
            }
            slip.iter().for_each(|&slip_row| flow.modes.off[slip_row] = true);
            flow.release();
            flow.factor()?;
            if flow.all.rank() + flow.n_slips(k) > rank {
                self.undetermined.push(row);
            }
            flow.modes.switch();
        }
        for c in 0..flow.modes.contacts.len() {
            let row = flow.modes.contacts[c].row;
            if !flow.modes.closed[c] || self.undetermined.contains(&row) {
                continue;
            }
            flow.modes.off[row] = true;
            flow.release();
            flow.factor()?;
            if flow.all.rank() == rank {
                self.undetermined.push(row);
            }
            flow.modes.switch();
        }
        flow.release();
        Ok(())
    }

    /// The rows that press, for messages.
    fn pressing(&self, units: &[Vec<Choice>]) -> Vec<usize> {
        let tries = units.iter().filter_map(|unit| unit[0].friction.as_ref());
        tries.map(|t| self.flow.modes.frictions[t.friction].normals[0]).collect()
    }

    /// What each contact that rests and each friction may do, the likely first.
    fn units(&mut self, resting: &[usize], fired: &[usize], before: &Before) -> Result<Vec<Vec<Choice>>, MotionError> {
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
            let tries = self.tries(k, contact.is_some(), lets_go, rests[k])?;
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

    /// What friction k may do while it is pressed, at rest or not.
    fn tries(&mut self, k: usize, is_contact: bool, lets_go: bool, rests: bool) -> Result<Vec<Try>, MotionError> {
        let flow = &mut self.flow;
        let slip = flow.slip(k)?;
        let rows = flow.modes.frictions[k].slip.clone();
        let speed = length(&slip);
        let is_sided = !is_contact && flow.modes.frictions[k].single().is_some();
        let presses: &[f64] = if is_sided { &[1.0, -1.0] } else { &[1.0] };
        let senses: &[f64] = if rests && rows.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
        let mut tries = Vec::new();
        let dragged = flow.modes.dragged[k].clone();
        let senses = if dragged.len() == 1 { &[dragged[0].signum()] } else { senses };
        // what has just reached its cone does not hold, nor what is dragged along, nor what is smooth; slips at rest that hold each
        // other are decided together
        let can_hold = dragged.is_empty() || flow.modes.together;
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
            flow.modes.directions[k] = slip.iter().map(|s| s / speed).collect();
        }
        Ok(tries)
    }

    /// Sets a mode.
    fn take(&mut self, units: &[Vec<Choice>], at: &[usize]) {
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
    fn faults(&mut self, units: &[Vec<Choice>], at: &[usize]) -> Result<Vec<f64>, MotionError> {
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
        sought.iter().for_each(|&k| modes.bases[k].clone_from(&modes.directions[k]));
        done
    }

    /// Where these frictions would slide to: where they are pulled without them.
    fn pulled_directions(&mut self, sought: &[usize]) -> Result<(), MotionError> {
        // where several places let go together, none of the forces that held says where they go
        sought.iter().for_each(|&k| self.flow.modes.directions[k].fill(0.0));
        self.flow.evaluate_once()?;
        for &k in sought {
            let slip = self.flow.modes.frictions[k].slip.clone();
            let pulled: Vec<f64> = slip.iter().map(|&row| excess(&self.flow, row).0).collect();
            let none = vec![0.0; slip.len()];
            self.flow.modes.directions[k] = unit_vector(&pulled).unwrap_or(none);
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
            let none = vec![0.0; self.flow.modes.frictions[k].slip.len()];
            self.flow.modes.directions[k] = if can_hold { self.held_direction(k) } else { none };
        }
        let modes = &mut self.flow.modes;
        sought.iter().for_each(|&k| modes.grips[k] = Grip::Slides(1.0));
        modes.switch();
        self.flow.release();
    }

    /// Where friction k, which is held in the motion at hand, would slide to: against the force that holds it. Where constraints
    /// drag it along all the same, so much of the direction is theirs as that force leaves of the cone.
    fn held_direction(&self, k: usize) -> Vec<f64> {
        let (flow, friction) = (&self.flow, &self.flow.modes.frictions[k]);
        let lambda = &flow.instant.lambda;
        let held: Vec<f64> = friction.slip.iter().map(|&row| -lambda[row]).collect();
        let none = vec![0.0; held.len()];
        let rough = flow.modes.roughness[k];
        let part = length(&held) / (rough.holding * rough.normal(&friction.pushes(lambda)));
        match unit_vector(&flow.modes.dragged[k]).filter(|_| part < 1.0) {
            Some(drag) => {
                let own = unit_vector(&held).unwrap_or(none);
                let left = (1.0 - part * part).sqrt();
                own.iter().zip(&drag).map(|(h, d)| part * h + left * d).collect()
            }
            None => unit_vector(&held).unwrap_or(none),
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
fn setting_out<D: Dynamics + ?Sized>(flow: &Flow<D>, k: usize, sense: f64) -> (f64, f64) {
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
fn has_stopped<D: Dynamics + ?Sized>(flow: &mut Flow<D>, k: usize, others_have: bool) -> Result<bool, MotionError> {
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

fn differ(x: &[f64], y: &[f64], free: &[f64]) -> bool {
    let size = x.iter().chain(y).chain(free).fold(0.0, |top: f64, x| top.max(x.abs()));
    x.iter().zip(y).any(|(x, y)| (x - y).abs() > DIFFERENT * size)
}
