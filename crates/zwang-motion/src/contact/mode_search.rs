//! The search for the next mode with friction: the mode whose motion satisfies its own inequalities.

use super::candidates::{Candidate, has_stopped};
use super::enumerate::{SearchResult, Verdict, enumerate};
use super::place::ContactState;
use super::resolve::PreviousMode;
use super::resolve::{ContactError, Resolver};
use super::{CandidateMode, ContactSystem, Inequality};
use crate::{Dynamics, MotionError, limits, tolerance};

/// The parameters of a search.
#[derive(Clone, Copy)]
struct ModeQuery<'b> {
    /// Contacts that may close.
    resting: &'b [usize],
    /// Guards that have triggered.
    triggered: &'b [usize],
    before: &'b PreviousMode,
    /// `true` if it must differ from the mode that is left.
    is_over: bool,
    /// `true` if the constraints agree: then a mode whose rows contradict each other is excluded.
    agree: bool,
}

/// A search and its result: modes that fit, and some that do not.
struct ModeSearch {
    units: Vec<Vec<Candidate>>,
    search: SearchResult,
    /// A mode that satisfies its inequalities, but whose closed contacts contradict each other or the constraints.
    contradicts: Option<Vec<usize>>,
    /// A mode whose rows contradict each other by more than rounding, though by less than a contradiction.
    barely: Option<Vec<usize>>,
    fits: Vec<CandidateMode>,
    reported: Vec<CandidateMode>,
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Finds the mode whose motion satisfies its inequalities: `resting` contacts may close; `triggered` are the guards at
    /// zero.
    pub(super) fn choose_among(
        &mut self,
        resting: &[usize],
        triggered: &[usize],
        before: &PreviousMode,
    ) -> Result<(), ContactError> {
        let ModeSearch { units, search, contradicts, barely, fits, reported } =
            self.search_widely(resting, triggered, before)?;
        let (t, rows) = (self.t, self.pressing(&units));
        let (at, is_checked) = match search {
            SearchResult::Found { at, is_checked } => (at, is_checked),
            SearchResult::None if barely.is_some() => (barely.unwrap_or_default(), true),
            SearchResult::None if contradicts.is_some() => (contradicts.unwrap_or_default(), true),
            SearchResult::Several => return Err(ContactError::Ambiguous { t, rows, n_modes: 2, tried: fits }),
            SearchResult::None => return Err(ContactError::Ambiguous { t, rows, n_modes: 0, tried: reported }),
            SearchResult::NotFound => return Err(ContactError::TooManyModes { t, rows }),
        };
        self.log.n_unchecked += usize::from(!is_checked);
        self.take(&units, &at);
        // directions of slip onset are found again, now with the kinetic coefficient
        let mode = &mut self.system.mode;
        mode.slip_onset.copy_from_slice(&mode.trial_onset);
        mode.trial_onset.fill(false);
        let spatial = (0..mode.frictions.len()).filter(|&k| mode.slip_onset[k] && mode.frictions[k].slip.len() > 1);
        spatial.for_each(|k| mode.slow[k] = f64::INFINITY);
        self.violations(&units, &at).map_err(ContactError::Failed)?;
        self.mark_arrested(before).map_err(ContactError::Failed)?;
        self.set_slip_regime(before).map_err(ContactError::Failed)
    }

    /// Searches for the mode that follows; if there is none, with friction in blocked directions, and then with
    /// accelerations judged relative to those of their unit.
    fn search_widely(
        &mut self,
        resting: &[usize],
        triggered: &[usize],
        before: &PreviousMode,
    ) -> Result<ModeSearch, ContactError> {
        let n_contacts = before.closed.len();
        // sliding that ends may continue in another direction
        let released = |k: usize| k < n_contacts || before.states[(k - n_contacts) / 2] == ContactState::Sticking;
        let is_dragged = self.system.mode.imposed_slips.iter().any(Option::is_some);
        let has_fired = triggered.iter().any(|&k| released(k)) || is_dragged;
        self.system.smooth.set_state(self.t, self.y);
        self.system.open_all();
        self.system.mode.resists_blocked = false;
        self.system.release();
        self.system.evaluate().map_err(ContactError::Failed)?;
        // where forces pass through zero, what is rounding relative to others is treated as zero
        let size = |(x, rounding): (&f64, &f64)| x.abs() + rounding / tolerance::LAW;
        self.system.mode.free =
            self.system.smooth.instant.qddot.iter().zip(self.rounding_acceleration).map(size).collect();
        // constraints that contradict each other do so in every mode, which is reported where the motion continues
        let agree = self.system.smooth.satisfies_all_rows().map_err(ContactError::Failed)?;
        let query = ModeQuery { resting, triggered, before, is_over: has_fired, agree };
        let mut sought = self.search_after(query)?;
        // friction in blocked directions is the last resort
        if sought.search == SearchResult::None {
            self.system.mode.resists_blocked = true;
            let braced = self.search_after(query)?;
            match braced.search {
                SearchResult::None => self.system.mode.resists_blocked = false,
                _ => sought = braced,
            }
        }
        // an acceleration that is rounding relative to the others does not exclude a mode
        if sought.search == SearchResult::None {
            let usual = self.usual_accelerations();
            let own = std::mem::replace(&mut self.system.mode.free, usual);
            let wider = self.search_with_kinetic(ModeQuery { triggered: &[], ..query })?;
            match wider.search {
                SearchResult::Found { .. } => sought = wider,
                _ => self.system.mode.free = own,
            }
        }
        Ok(sought)
    }

    /// Marks places as arrested: they no longer stick, but do not move. Where several places hold a mechanism, one may be on
    /// its cone while nothing moves.
    fn mark_arrested(&mut self, before: &PreviousMode) -> Result<(), MotionError> {
        for k in 0..self.system.mode.frictions.len() {
            let stood = before.reported_state(k) == ContactState::Sticking;
            // at a dead centre a slip is blocked too, but it turns back
            let unloaded =
                matches!(self.system.mode.states[k], ContactState::Sliding(sense) if !self.accelerates(k, sense));
            let system = &mut self.system;
            let slip = system.mode.frictions[k].slip.clone();
            system.mode.arrested[k] =
                stood && unloaded && has_stopped(system, k, false)? && system.are_blocked(&slip)?;
        }
        Ok(())
    }

    /// Searches for the mode after the guards that have triggered.
    fn search_after(&mut self, query: ModeQuery) -> Result<ModeSearch, ContactError> {
        let is_indeterminate = query.before.is_indeterminate;
        let anything = ModeQuery { triggered: &[], ..query };
        // if forces are indeterminate no single one says which place is released; some place is
        let first = match is_indeterminate || query.triggered.is_empty() {
            true => self.search_with_kinetic(anything)?,
            false => self.search_with_kinetic(ModeQuery { is_over: false, ..query })?,
        };
        // nor if a release changes the forces on others so that the place sticks again
        match first.search == SearchResult::None && !is_indeterminate && query.is_over {
            true => self.search_with_kinetic(anything),
            false => Ok(first),
        }
    }

    /// The largest free acceleration among coordinates of the same unit, for each.
    fn usual_accelerations(&self) -> Vec<f64> {
        let free = &self.system.mode.free;
        let alike = |j: usize| (0..free.len()).filter(move |&i| self.units[i] == self.units[j]);
        (0..free.len()).map(|j| alike(j).map(|i| free[i]).fold(0.0, f64::max)).collect()
    }

    /// Searches for the mode that follows. A slip onset has overcome static friction, but acts on other places with kinetic
    /// friction: if that changes the mode, the search is repeated, with kinetic friction for the places that slide in both.
    fn search_with_kinetic(&mut self, query: ModeQuery) -> Result<ModeSearch, ContactError> {
        self.system.mode.kinetic_assumed.fill(false);
        let first = self.search_mode(query)?;
        let mut newly = self.newly_kinetic(&first);
        let mut later = None;
        while !newly.is_empty() {
            newly.iter().for_each(|&k| self.system.mode.kinetic_assumed[k] = true);
            let next = self.search_mode(query)?;
            newly = self.newly_kinetic(&next);
            later = matches!(next.search, SearchResult::Found { .. }).then_some(next);
        }
        self.system.mode.kinetic_assumed.fill(false);
        Ok(later.unwrap_or(first))
    }

    /// If the mode that was found does not fit with kinetic friction: the slip onsets in it that nevertheless fit, and had
    /// static friction.
    fn newly_kinetic(&mut self, sought: &ModeSearch) -> Vec<usize> {
        let SearchResult::Found { at, .. } = &sought.search else { return Vec::new() };
        let choices = || sought.units.iter().zip(at).map(|(unit, &k)| &unit[k]);
        let mode = &self.system.mode;
        let falls = |k: usize| mode.laws[k].kinetic_mu < mode.laws[k].static_mu && !mode.kinetic_assumed[k];
        let beginning = |choice: &Candidate| {
            choice.friction.as_ref().filter(|t| t.trial_onset && falls(t.friction)).map(|t| t.friction)
        };
        let beginning: Vec<Option<usize>> = choices().map(beginning).collect();
        if beginning.iter().all(Option::is_none) {
            return Vec::new();
        }
        let kinetic_assumed = self.system.mode.kinetic_assumed.clone();
        self.take(&sought.units, at);
        self.system.mode.kinetic_assumed.fill(true);
        let violations = self.violations(&sought.units, at).unwrap_or_default();
        self.system.mode.kinetic_assumed = kinetic_assumed;
        if violations.iter().all(|violation| *violation <= tolerance::LAW) {
            return Vec::new();
        }
        beginning
            .iter()
            .zip(&violations)
            .filter(|(_, violation)| **violation <= tolerance::LAW)
            .filter_map(|(k, _)| *k)
            .collect()
    }

    /// Searches for the mode that follows.
    fn search_mode(&mut self, query: ModeQuery) -> Result<ModeSearch, ContactError> {
        let ModeQuery { resting, triggered, before, is_over, agree } = query;
        let units = self.units(resting, triggered, before).map_err(ContactError::Failed)?;
        let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
        let repeats = self.repeats(resting).map_err(ContactError::Failed)?;
        let mut found: Option<(Vec<f64>, Vec<usize>)> = None;
        let mut contradicts: Option<Vec<usize>> = None;
        // where rods lie in line, sticking at both ends excludes every velocity across them: rows then contradict each other
        // by its square, which may be small relative to the forces
        let mut barely: Option<Vec<usize>> = None;
        let mut reported: Vec<CandidateMode> = Vec::new();
        let mut fits: Vec<CandidateMode> = Vec::new();
        let search = enumerate(&sizes, |at| {
            self.take(&units, at);
            let is_left = is_over && before.is_same(self.system.mode);
            // a mode without a solution is excluded
            let violations = self.violations(&units, at).unwrap_or_default();
            let has_solution = violations.len() == at.len() && !violations.iter().any(|violation| violation.is_nan());
            let is_met = !agree || self.system.smooth.satisfies_all_rows().unwrap_or(false);
            let keeps_all = has_solution && !is_left && violations.iter().all(|violation| *violation <= tolerance::LAW);
            if keeps_all && !is_met && !self.system.mode.sticks() {
                contradicts.get_or_insert_with(|| at.to_vec());
            }
            if !has_solution || !is_met {
                if reported.len() < limits::MODES_REPORTED {
                    reported.push(self.describe(&units, at, Some(Inequality::NoSolution)));
                }
                return Verdict::Nothing;
            }
            if keeps_all && self.system.mode.sticks() && !self.system.smooth.satisfies_rows_closely() {
                barely.get_or_insert_with(|| at.to_vec());
                return Verdict::Nothing;
            }
            if !keeps_all {
                if reported.len() < limits::MODES_REPORTED {
                    let violation = self.largest_violation(&units, at, &violations);
                    reported.push(self.describe(&units, at, violation));
                }
                return if is_left { Verdict::Nothing } else { Verdict::Violated(violations) };
            }
            let qddot = &self.system.smooth.instant.qddot;
            match &found {
                Some((first, _)) if differ(first, qddot, &self.system.mode.free) => {
                    // redundant contacts share a force: which of them carries it is not determined by Coulomb's law
                    let other = self.describe(&units, at, None);
                    if found.as_ref().is_some_and(|(_, was)| self.is_share(&units, was, at, &repeats)) {
                        return Verdict::Fits;
                    }
                    fits.push(other);
                    return Verdict::Another;
                }
                None => {
                    fits.push(self.describe(&units, at, None));
                    found = Some((qddot.clone(), at.to_vec()));
                }
                _ => {}
            }
            Verdict::Fits
        });
        Ok(ModeSearch { units, search, contradicts, barely, fits, reported })
    }

    /// `true` if two modes differ only in which redundant contacts carry a force, or which places stick with them: their
    /// friction then differs too.
    fn is_share(&mut self, units: &[Vec<Candidate>], was: &[usize], now: &[usize], repeats: &[usize]) -> bool {
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

    /// `true` if the row of contact c depends on the other active rows of a mode.
    fn is_repeated(&mut self, units: &[Vec<Candidate>], at: &[usize], c: usize) -> Result<bool, MotionError> {
        self.take(units, at);
        self.system.smooth.factor()?;
        let rank = self.system.smooth.all.rank();
        self.system.smooth.rows.off[self.system.mode.contacts[c].row] = true;
        self.system.release();
        self.system.smooth.factor()?;
        Ok(self.system.smooth.all.rank() == rank)
    }

    /// Of contacts that may close, those whose rows depend on the others and on the constraints.
    fn repeats(&mut self, resting: &[usize]) -> Result<Vec<usize>, MotionError> {
        let system = &mut self.system;
        let rank_of = |system: &mut ContactSystem<'_, '_, D>, without: Option<usize>| -> Result<usize, MotionError> {
            system.open_all();
            resting.iter().for_each(|&c| system.mode.closed[c] = Some(c) != without);
            system.mask();
            system.release();
            system.smooth.factor()?;
            Ok(system.smooth.all.rank())
        };
        let rank = rank_of(system, None)?;
        let mut repeats = Vec::new();
        if rank < system.smooth.rows.n_active() {
            for &c in resting {
                if rank_of(system, Some(c))? == rank {
                    repeats.push(c);
                }
            }
        }
        system.open_all();
        system.release();
        Ok(repeats)
    }
}

fn differ(x: &[f64], y: &[f64], free: &[f64]) -> bool {
    let size = x.iter().chain(y).chain(free).fold(0.0, |top: f64, x| top.max(x.abs()));
    x.iter().zip(y).any(|(x, y)| (x - y).abs() > tolerance::DISTINCT * size)
}
