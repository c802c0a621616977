//! Which mode follows where friction acts: the one whose motion keeps its own inequalities.

use super::choices::{Choice, has_stopped};
use super::contact::Before;
use super::search::{Search, Tried, seek};
use super::*;
use crate::unilateral::modes::Grip;

/// Which mode follows?
#[derive(Clone, Copy)]
struct Question<'b> {
    /// Contacts that may close.
    resting: &'b [usize],
    /// What has just let go.
    fired: &'b [usize],
    before: &'b Before,
    /// Whether it is another one than the one that was left.
    is_over: bool,
    /// Whether the constraints agree: then rows that contradict each other are no mode.
    agree: bool,
}

/// The modes that were looked at, and what was found: those that fit, and some that do not.
struct Sought {
    units: Vec<Vec<Choice>>,
    search: Search,
    /// One that keeps its inequalities, but whose closed contacts contradict each other or the constraints.
    contradicts: Option<Vec<usize>>,
    /// One whose rows miss each other by more than rounding, though by less than a contradiction.
    barely: Option<Vec<usize>>,
    fits: Vec<TriedMode>,
    told: Vec<TriedMode>,
}

/// How many modes that were tried are told.
const MOST_TOLD: usize = 4;

/// Inequalities may be missed by this part of the terms in them: modes meet where they are equalities.
pub(super) const EDGE: f64 = 1e-9;

/// Two accelerations are different ones if they differ by this part.
const DIFFERENT: f64 = 1e-6;

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Finds the mode whose motion keeps its inequalities: `resting` contacts may close; `fired` have just let go.
    pub(super) fn choose_among(&mut self, resting: &[usize], fired: &[usize], before: &Before) -> Result<(), Outcome> {
        let Sought { units, search, contradicts, barely, fits, told } = self.seek_widely(resting, fired, before)?;
        let (t, rows) = (self.t, self.pressing(&units));
        let (at, is_checked) = match search {
            Search::Found { at, is_checked } => (at, is_checked),
            Search::None if barely.is_some() => (barely.unwrap_or_default(), true),
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
        self.mind_standing(before).map_err(Outcome::Failed)?;
        self.mind_slow(before).map_err(Outcome::Failed)
    }

    /// Looks for the mode that follows; where there is none, with friction against what holds already, and with accelerations
    /// judged beside others.
    fn seek_widely(&mut self, resting: &[usize], fired: &[usize], before: &Before) -> Result<Sought, Outcome> {
        let n_contacts = before.closed.len();
        // sliding that ends may go on in another direction
        let lets_go = |k: usize| k < n_contacts || before.grips[(k - n_contacts) / 2] == Grip::Sticks;
        let is_dragged = self.flow.modes.dragged.iter().any(Option::is_some);
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
        let asked = Question { resting, fired, before, is_over: has_fired, agree };
        let mut sought = self.seek_after(asked)?;
        // friction against what holds already is the last resort
        if sought.search == Search::None {
            self.flow.modes.is_braced = true;
            let braced = self.seek_after(asked)?;
            match braced.search {
                Search::None => self.flow.modes.is_braced = false,
                _ => sought = braced,
            }
        }
        // an acceleration that is rounding beside the others is no reason against a mode
        if sought.search == Search::None {
            let usual = self.usual_accelerations();
            let own = std::mem::replace(&mut self.flow.modes.free, usual);
            let wider = self.seek_loose(Question { fired: &[], ..asked })?;
            match wider.search {
                Search::Found { .. } => sought = wider,
                _ => self.flow.modes.free = own,
            }
        }
        Ok(sought)
    }

    /// Notes what sticks no more, but stands. Where several places hold a mechanism, one may be at the edge of its cone while nothing
    /// moves.
    fn mind_standing(&mut self, before: &Before) -> Result<(), MotionError> {
        for k in 0..self.flow.modes.frictions.len() {
            let stood = before.told(k) == Grip::Sticks;
            // at a dead centre a slip has no way either, but it turns back
            let stays = matches!(self.flow.modes.grips[k], Grip::Slides(sense) if !self.sets_off(k, sense));
            let flow = &mut self.flow;
            let slip = flow.modes.frictions[k].slip.clone();
            flow.modes.stands[k] = stood && stays && has_stopped(flow, k, false)? && flow.are_held(&slip)?;
        }
        Ok(())
    }

    /// Looks for the mode that follows what has fired.
    fn seek_after(&mut self, asked: Question) -> Result<Sought, Outcome> {
        let is_shared = asked.before.is_shared;
        let anything = Question { fired: &[], ..asked };
        // where forces are shared no single one says what lets go; something does
        let first = match is_shared || asked.fired.is_empty() {
            true => self.seek_loose(anything)?,
            false => self.seek_loose(Question { is_over: false, ..asked })?,
        };
        // nor where what lets go changes the forces on others so that it holds again
        match first.search == Search::None && !is_shared && asked.is_over {
            true => self.seek_loose(anything),
            false => Ok(first),
        }
    }

    /// The largest free acceleration among coordinates of the same unit, for each.
    fn usual_accelerations(&self) -> Vec<f64> {
        let free = &self.flow.modes.free;
        let alike = |j: usize| (0..free.len()).filter(move |&i| self.units[i] == self.units[j]);
        (0..free.len()).map(|j| alike(j).map(|i| free[i]).fold(0.0, f64::max)).collect()
    }

    /// Looks for the mode that follows. What sets out has overcome the friction that holds, but what it then does to other places
    /// is the friction of sliding: where that changes the mode, it is sought again, and what slides in both is loose.
    fn seek_loose(&mut self, asked: Question) -> Result<Sought, Outcome> {
        self.flow.modes.loose.fill(false);
        let first = self.seek_mode(asked)?;
        let mut newly = self.loosened(&first);
        let mut later = None;
        while !newly.is_empty() {
            newly.iter().for_each(|&k| self.flow.modes.loose[k] = true);
            let next = self.seek_mode(asked)?;
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

    /// Looks for the mode that follows.
    fn seek_mode(&mut self, asked: Question) -> Result<Sought, Outcome> {
        let Question { resting, fired, before, is_over, agree } = asked;
        let units = self.units(resting, fired, before).map_err(Outcome::Failed)?;
        let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
        let repeats = self.repeats(resting).map_err(Outcome::Failed)?;
        let mut found: Option<(Vec<f64>, Vec<usize>)> = None;
        let mut contradicts: Option<Vec<usize>> = None;
        // where rods lie in line, what sticks at both ends excludes every velocity across them: rows then miss each other by its
        // square, which may be small beside the forces
        let mut barely: Option<Vec<usize>> = None;
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
            if keeps_all && self.flow.modes.sticks() && !self.flow.meets_rows_closely() {
                barely.get_or_insert_with(|| at.to_vec());
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
        Ok(Sought { units, search, contradicts, barely, fits, told })
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

    /// How often there were too many modes to look for another one that fits.
    pub fn n_unchecked(&self) -> usize {
        self.n_unchecked
    }
}

fn differ(x: &[f64], y: &[f64], free: &[f64]) -> bool {
    let size = x.iter().chain(y).chain(free).fold(0.0, |top: f64, x| top.max(x.abs()));
    x.iter().zip(y).any(|(x, y)| (x - y).abs() > DIFFERENT * size)
}
