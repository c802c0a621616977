//! Contacts and friction along a motion: where a mode ends, what is struck, which mode follows.

use super::blow::{Blows, NoOutcome};
use super::*;
use crate::unilateral::modes::{Grip, Modes};
use crate::unilateral::{Contact, ModeChange, NoPushes, Side, Tamed, Turn, complementarity};

/// A gap below this part of the size of its row counts as touching; it equals the default tolerance of a run.
const TOUCHING: f64 = 1e-9;

/// The gap of a contact that opens without a blow may be negative by this part of the size of its row: nothing but rounding
/// and the error of one step.
const LIFTING: f64 = 1e-10;

/// A push below this part of those that the forces at hand make is none.
const NO_PUSH: f64 = 1e-12;

/// Bounces lower than this part of the size of the row are lost in rounding.
const LOWEST: f64 = 1e-13;

/// So many changes of mode within this part of the run do not end.
const MOST_CHANGES: usize = 10_000;
const CLOSE: f64 = 1e-9;

/// The mode that was left, to tell what has changed.
pub(super) struct Before {
    closed: Vec<bool>,
    pub(super) grips: Vec<Grip>,
    /// Whether rows that hold repeat each other and nothing slides, so that forces may be shared in many ways.
    pub(super) is_shared: bool,
}

impl Before {
    /// Whether it is this mode.
    pub(super) fn is_same(&self, modes: &Modes) -> bool {
        self.closed == modes.closed && self.grips == modes.grips
    }
}

/// Contacts that touch, with what one impulse or force in each does to all.
pub(super) struct Touching {
    pub(super) contacts: Vec<usize>,
    /// Their rows, then the slip rows of those with friction.
    pub(super) rows: Vec<usize>,
    /// For each contact, the places of its slip rows among the rows.
    pub(super) slips: Vec<Vec<usize>>,
    /// Frictions of rows that always hold, and feel what is struck.
    pub(super) held: Vec<Held>,
    /// A M⁻¹Aᵀ of these rows, with the other rows held.
    pub(super) S: Vec<f64>,
    /// The change of q̇ or q̈ by a unit λ of each.
    pub(super) responses: Vec<Vec<f64>>,
}

impl Touching {
    /// A M⁻¹Aᵀ of some of the rows.
    fn part(&self, places: &[usize]) -> Vec<f64> {
        let n = self.rows.len();
        places.iter().flat_map(|&i| places.iter().map(move |&j| self.S[i * n + j])).collect()
    }

    /// Leaves out frictions that no blow reaches, with the rows after the first.
    fn forget_held(&mut self, n_rows: usize) {
        let n = self.rows.len();
        self.held.clear();
        self.S = (0..n_rows * n_rows).map(|k| self.S[k / n_rows * n + k % n_rows]).collect();
        self.rows.truncate(n_rows);
        self.responses.truncate(n_rows);
    }

    /// The rates of all rows after impulses.
    fn rates_after(&self, before: &[f64], impulses: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let rate = |i: usize| before[i] + impulses.iter().enumerate().map(|(j, p)| self.S[i * n + j] * p).sum::<f64>();
        (0..n).map(rate).collect()
    }

    /// The row of each contact.
    fn normals(&self) -> &[usize] {
        &self.rows[..self.contacts.len()]
    }
}

/// Friction of a constraint that always holds, beside contacts that are struck.
pub(super) struct Held {
    pub(super) friction: usize,
    /// The places of its slip rows among the rows.
    pub(super) slips: Vec<usize>,
    /// For each of its rows that press, the λ by a unit λ of each of the rows.
    pub(super) pushes: Vec<Vec<f64>>,
}

impl Held {
    /// Whether impulses of the first rows press here.
    fn feels(&self, n_rows: usize) -> bool {
        /// λ below this part of the largest is rounding.
        const NOTHING: f64 = 1e-12;
        let top = self.pushes.iter().flatten().fold(0.0, |top: f64, x| top.max(x.abs()));
        self.pushes.iter().any(|by| by[..n_rows].iter().any(|x| x.abs() > NOTHING * top))
    }
}

/// Contacts that close for good after impacts in turn.
struct Rocked {
    touching: Touching,
    closed: Vec<bool>,
    /// The time the impacts would still take.
    left: f64,
}

/// A contact that was struck, and how fast it opens again.
struct Bounce {
    contact: usize,
    rate: f64,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The mode now.
    pub(super) fn mode(&self) -> Before {
        let modes = &self.flow.modes;
        let n_held = modes.off.iter().filter(|off| !**off).count();
        Before {
            closed: modes.closed.clone(),
            grips: modes.grips.clone(),
            is_shared: !modes.slides() && self.rank < n_held,
        }
    }

    /// Rows with friction whose force the motion has not determined somewhere, because other rows share it.
    pub fn shared_normals(&self) -> &[usize] {
        &self.shared
    }

    /// Contacts whose force the motion has not determined somewhere, because others share it.
    pub fn undetermined_contacts(&self) -> &[usize] {
        &self.undetermined
    }

    /// Changes of mode so far, in the order of time.
    pub fn mode_changes(&self) -> &[ModeChange] {
        &self.mode_changes
    }

    /// The mode at the start, and what is struck there.
    pub(super) fn begin_contact(&mut self) -> Result<(), MotionError> {
        if self.flow.modes.is_empty() {
            return Ok(());
        }
        if let (true, Some(contact)) = (self.method.is_fixed_step(), self.flow.modes.contacts.first()) {
            return Err(MotionError::NotHolonomic { row: contact.row });
        }
        self.flow.wants_lambda = true;
        let before = self.mode();
        match self.settle(&before, &[]) {
            Err(Outcome::Failed(error) | Outcome::Contradiction { error, .. }) => Err(error),
            Err(outcome) => {
                self.outcome = Some(outcome);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Finds impacts and the mode that follows where the motion stands, and begins there. `fired` are the contacts whose gap
    /// or push has reached zero.
    pub(super) fn settle(&mut self, before: &Before, fired: &[usize]) -> Result<(), Outcome> {
        self.count_changes()?;
        let is_start = self.counts.steps == 0 && self.t == self.t0;
        let mut touching = self.touching(before, fired).map_err(Outcome::Failed)?;
        let mut stopped = vec![false; before.closed.len()];
        let y = self.y.clone();
        let mut left = None;
        let closed = loop {
            self.y.copy_from_slice(&y);
            let bounces = self.strike(&touching, &stopped)?;
            let closed = self.rest(&touching).map_err(Outcome::Failed)?;
            // bounces that die out before anything else can happen are over
            let Some((contact, time)) = self.dying(&bounces, &closed).map_err(Outcome::Failed)? else {
                let ended = self.end_rocking(before, &y).map_err(Outcome::Failed)?;
                let closed = ended.map_or(closed, |ended| {
                    (touching, left) = (ended.touching, Some(ended.left));
                    ended.closed
                });
                self.note_impacts(&touching, &y, before).map_err(Outcome::Failed)?;
                break closed;
            };
            stopped[contact] = true;
            left = Some(f64::max(time, left.unwrap_or(0.0)));
        };
        // a closed contact that has fired takes off, an open one was struck
        let n_contacts = before.closed.len();
        let let_go: Vec<usize> = fired.iter().copied().filter(|&k| k >= n_contacts || before.closed[k]).collect();
        self.choose_mode(&touching, closed, &let_go, before)?;
        self.note_turns(before, is_start, left.unwrap_or(0.0));
        self.begin().map_err(|error| self.failed(error))?;
        self.mind_pushes().map_err(Outcome::Failed)
    }

    /// Changes that follow each other without end are a motion that this law does not determine.
    fn count_changes(&mut self) -> Result<(), Outcome> {
        if self.t - self.first_change > CLOSE * (self.plan.end - self.t0) {
            (self.first_change, self.n_changes) = (self.t, 0);
        }
        self.n_changes += 1;
        match self.n_changes < MOST_CHANGES {
            true => Ok(()),
            false => Err(Outcome::Restless { t: self.t }),
        }
    }

    /// Looks at the gaps after an event: a contact whose surface went away is open; the row of one whose surface went into the
    /// system is returned.
    pub(super) fn mind_gaps(&mut self, before: &mut Before) -> Result<Option<usize>, MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        for (c, closed) in before.closed.iter_mut().enumerate() {
            let row = flow.modes.contacts[c].row;
            let off = jump::OFF * flow.row_size(row, &flow.q_size);
            if gaps[row] < -off {
                return Ok(Some(row));
            }
            *closed &= gaps[row] <= off;
        }
        Ok(None)
    }

    /// The contacts that touch here.
    fn touching(&mut self, before: &Before, fired: &[usize]) -> Result<Touching, MotionError> {
        let flow = &mut self.flow;
        flow.modes.open_all();
        flow.release();
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        let touches = |&c: &usize| {
            let row = flow.modes.contacts[c].row;
            let near = gaps[row] <= TOUCHING * flow.row_size(row, &flow.q_size);
            before.closed[c] || near || fired.contains(&c)
        };
        let contacts: Vec<usize> = (0..flow.modes.contacts.len()).filter(touches).collect();
        let mut rows: Vec<usize> = contacts.iter().map(|&c| flow.modes.contacts[c].row).collect();
        let mut slips = Vec::new();
        for &c in &contacts {
            let friction = flow.modes.frictions.iter().find(|f| f.contact == Some(c));
            let first = rows.len();
            rows.extend(friction.iter().flat_map(|f| &f.slip));
            slips.push((first..rows.len()).collect());
        }
        let n_own = rows.len();
        let always = |k: &usize| flow.modes.frictions[*k].contact.is_none() && !contacts.is_empty();
        let mut held = Vec::new();
        for k in (0..flow.modes.frictions.len()).filter(always) {
            let first = rows.len();
            rows.extend(&flow.modes.frictions[k].slip);
            held.push(Held { friction: k, slips: (first..rows.len()).collect(), pushes: Vec::new() });
        }
        let none = vec![0.0; flow.given.constraint_rhs.len()];
        let (mut responses, mut lambdas) = (Vec::new(), Vec::new());
        for &row in &rows {
            let (mut force, mut x) = (vec![0.0; flow.n], vec![0.0; flow.n]);
            let (col, value) = flow.modes.whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] = *a);
            flow.all.solve(&flow.given.constraint_matrix, &force, &[], &none, &mut x)?;
            responses.push(x);
            if !held.is_empty() {
                let mut lambda = none.clone();
                flow.all.multipliers(&flow.given.constraint_matrix, &mut lambda)?;
                lambdas.push(lambda);
            }
        }
        for friction in &mut held {
            let normals = &flow.modes.frictions[friction.friction].normals;
            friction.pushes = normals.iter().map(|&row| lambdas.iter().map(|lambda| lambda[row]).collect()).collect();
        }
        let A = &flow.modes.whole.constraint_matrix;
        let S = rows.iter().flat_map(|&row| responses.iter().map(move |x| A.row_times(row, x))).collect();
        let mut touching = Touching { contacts, rows, slips, held, S, responses };
        if !touching.held.iter().any(|held| held.feels(n_own)) {
            touching.forget_held(n_own);
        }
        Ok(touching)
    }

    /// Impact, all contacts at once: of the velocities the contacts allow the one nearest to that before, Moreau's law.
    ///
    /// $$ \min\ (v^+ - v^-)^T M (v^+ - v^-) \quad\text{subject to}\quad \dot g^+ \ge \max(-e\,\dot g^-, 0) $$
    fn strike(&mut self, touching: &Touching, stopped: &[bool]) -> Result<Vec<Bounce>, Outcome> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates().map_err(Outcome::Failed)?;
        let noise: Vec<f64> = touching.normals().iter().map(|&row| flow.rate_noise(&[row])).collect();
        let before: Vec<f64> = touching.normals().iter().map(|&row| rates[row]).collect();
        if before.iter().zip(&noise).all(|(rate, noise)| *rate >= -noise) {
            return Ok(Vec::new());
        }
        let mut restitutions = vec![0.0; flow.modes.contacts.len()];
        flow.dynamics.fill_restitutions(&flow.instant.state, &mut restitutions).map_err(Outcome::Failed)?;
        let wanted = |k: usize| match before[k] < -noise[k] && !stopped[touching.contacts[k]] {
            true => -restitutions[touching.contacts[k]] * before[k],
            false => 0.0,
        };
        let wanted: Vec<f64> = (0..before.len()).map(wanted).collect();
        let rates: Vec<f64> = touching.rows.iter().map(|&row| rates[row]).collect();
        let impulses = self.tame(touching, &rates, &wanted, &noise)?;
        let n = self.flow.n;
        for (x, p) in touching.responses.iter().zip(&impulses) {
            self.y[n..2 * n].iter_mut().zip(x).for_each(|(v, x)| *v += p * x);
        }
        let after = touching.rates_after(&rates, &impulses);
        let opens = |k: &usize| after[*k] > noise[*k] && before[*k] < -noise[*k];
        let bounce = |k: usize| Bounce { contact: touching.contacts[k], rate: after[k] };
        Ok((0..before.len()).filter(opens).map(bounce).collect())
    }

    /// Impulses that make no energy. Newton's restitution may, with friction or with several coefficients at once (Kane and
    /// Levinson); then all coefficients are lowered by the same part, just so far that none is made. Without any restitution
    /// none ever is: T⁺ − T⁻ = −½|v⁺ − v⁻|² + pᵀġ⁺, and pᵀġ⁺ ≤ 0.
    fn tame(&mut self, touching: &Touching, rates: &[f64], wanted: &[f64], noise: &[f64]) -> Result<Vec<f64>, Outcome> {
        /// Halvings until the part is known to rounding.
        const HALVINGS: usize = 50;
        /// Energy below this part of what the impulses carry is rounding.
        const ROUNDING: f64 = 1e-12;
        let gains = |impulses: &[f64]| {
            let after = touching.rates_after(rates, impulses);
            let works = || impulses.iter().zip(rates).zip(&after).map(|((p, x), y)| (p * x, p * y));
            let size: f64 = works().map(|(x, y)| x.abs() + y.abs()).sum();
            works().map(|(x, y)| x + y).sum::<f64>() > ROUNDING * size
        };
        let whole = self.impulses(touching, rates, wanted, noise)?;
        if !gains(&whole) {
            return Ok(whole);
        }
        let scaled = |part: f64| wanted.iter().map(|w| part * w).collect::<Vec<f64>>();
        let mut best = self.impulses(touching, rates, &scaled(0.0), noise)?;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.impulses(touching, rates, &scaled(middle), noise) {
                Ok(impulses) if !gains(&impulses) => (low, best) = (middle, impulses),
                _ => high = middle,
            }
        }
        let struck = |(k, row): (usize, &usize)| (wanted[k] > 0.0).then_some(*row);
        let rows = touching.normals().iter().enumerate().filter_map(struck).collect();
        // a blow may be tried again with bounces that die out
        self.tamed.retain(|tamed| tamed.t < self.t);
        self.tamed.push(Tamed { t: self.t, rows, part: low });
        Ok(best)
    }

    /// Blows whose restitution was lowered so as to make no energy.
    pub fn tamed(&self) -> &[Tamed] {
        &self.tamed
    }

    /// Impulses after which the normals have at least the wanted rates.
    fn impulses(
        &mut self,
        touching: &Touching,
        rates: &[f64],
        wanted: &[f64],
        noise: &[f64],
    ) -> Result<Vec<f64>, Outcome> {
        if touching.rows.len() > wanted.len() {
            return self.blows(touching, rates, wanted);
        }
        let w0: Vec<f64> = rates.iter().zip(wanted).map(|(r, w)| r - w).collect();
        let rounding: Vec<f64> = noise.iter().map(|x| 1e-3 * x).collect();
        let found = complementarity(&touching.S, &w0, &vec![Side::OneSided; w0.len()], &rounding);
        Ok(found.map_err(|error| Outcome::Failed(excluded(error, &touching.rows)))?.lambda)
    }

    /// Impulses where some contacts have friction.
    fn blows(&mut self, touching: &Touching, rates: &[f64], wanted: &[f64]) -> Result<Vec<f64>, Outcome> {
        let flow = &mut self.flow;
        let mut roughness = flow.modes.roughness.clone();
        flow.dynamics.fill_roughness(&flow.instant.state, &mut roughness).map_err(Outcome::Failed)?;
        let blows = Blows {
            touching,
            before: rates.to_vec(),
            wanted: wanted.to_vec(),
            roughness: &roughness,
            frictions: &flow.modes.frictions,
        };
        let (t, rows) = (self.t, touching.normals().to_vec());
        let found = blows.find().map_err(|none| match none {
            NoOutcome::None => Outcome::Ambiguous { t, rows, n_modes: 0 },
            NoOutcome::Several => Outcome::Ambiguous { t, rows, n_modes: 2 },
            NoOutcome::NotFound => Outcome::TooManyModes { t, rows },
        })?;
        self.n_unchecked += usize::from(found.is_unchecked);
        Ok(found.impulses)
    }

    /// Which of the touching contacts close: the least constraint among accelerations, for those that do not open already.
    fn rest(&mut self, touching: &Touching) -> Result<Vec<bool>, MotionError> {
        let flow = &mut self.flow;
        flow.modes.open_all();
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let rates = flow.rates()?;
        let resting = |k: &usize| rates[touching.rows[*k]] <= flow.rate_noise(&[touching.rows[*k]]);
        let places: Vec<usize> = (0..touching.contacts.len()).filter(resting).collect();
        let (A, b) = (&flow.modes.whole.constraint_matrix, &flow.modes.whole.constraint_rhs);
        let qddot = &flow.instant.qddot;
        let terms = |row: usize| {
            let (col, value) = A.row(row);
            b[row].abs() + col.iter().zip(value).map(|(&j, a)| (a * qddot[j]).abs()).sum::<f64>()
        };
        let w0: Vec<f64> = places.iter().map(|&k| A.row_times(touching.rows[k], qddot) - b[touching.rows[k]]).collect();
        let noise: Vec<f64> = places.iter().map(|&k| 1e-14 * terms(touching.rows[k])).collect();
        let S = touching.part(&places);
        let rows: Vec<usize> = places.iter().map(|&k| touching.rows[k]).collect();
        let found = complementarity(&S, &w0, &vec![Side::OneSided; w0.len()], &noise)
            .map_err(|error| excluded(error, &rows))?;
        let mut closed = vec![false; flow.modes.contacts.len()];
        for (at, &k) in places.iter().enumerate() {
            let size = found.slack[at].abs() <= 10.0 * noise[at] + 1e-13 * w0[at].abs();
            closed[touching.contacts[k]] =
                found.active.contains(&at) || (size && found.lambda.iter().any(|l| *l > 0.0));
        }
        // rows that repeat others hold too, unless the shortest λ would pull in one of them
        if self.pulls(&closed)? {
            closed.fill(false);
            found.active.iter().for_each(|&at| closed[touching.contacts[places[at]]] = true);
        }
        Ok(closed)
    }

    /// Whether a contact would pull if these were closed.
    fn pulls(&mut self, closed: &[bool]) -> Result<bool, MotionError> {
        let flow = &mut self.flow;
        flow.modes.closed.copy_from_slice(closed);
        flow.modes.switch();
        flow.release();
        let done = flow.evaluate();
        let top = flow.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        let rows = flow.modes.contacts.iter().zip(closed).filter(|(_, closed)| **closed).map(|(c, _)| c.row);
        let pulls = rows.map(|row| flow.instant.lambda[row]).any(|push| push < -NO_PUSH * top);
        flow.modes.open_all();
        flow.release();
        done?;
        Ok(pulls)
    }

    /// A contact whose bounces die out within the tolerance, and the time they would still take: 2v/|a| (1 + e + e² + …).
    fn dying(&mut self, bounces: &[Bounce], closed: &[bool]) -> Result<Option<(usize, f64)>, MotionError> {
        if bounces.is_empty() {
            return Ok(None);
        }
        let flow = &mut self.flow;
        let mut restitutions = vec![0.0; flow.modes.contacts.len()];
        flow.place(self.t, &self.y);
        flow.dynamics.fill_restitutions(&flow.instant.state, &mut restitutions)?;
        flow.modes.closed.copy_from_slice(closed);
        flow.modes.switch();
        flow.release();
        flow.evaluate()?;
        let longest = self.plan.tolerance * (self.plan.end - self.t0);
        let mut found: Option<(usize, f64)> = None;
        for bounce in bounces {
            let row = flow.modes.contacts[bounce.contact].row;
            let whole = &flow.modes.whole;
            let a = whole.constraint_matrix.row_times(row, &flow.instant.qddot) - whole.constraint_rhs[row];
            let (e, v) = (restitutions[bounce.contact], bounce.rate);
            let time = 2.0 * v / (-a * (1.0 - e));
            let height = v * v / (-2.0 * a);
            let is_low = height <= LOWEST * flow.row_size(row, &flow.q_size);
            if a < 0.0 && e < 1.0 && (time <= longest || is_low) && found.is_none_or(|(_, t)| time > t) {
                found = Some((bounce.contact, time));
            }
        }
        flow.modes.open_all();
        flow.release();
        Ok(found)
    }

    /// Impacts that follow each other ever faster, on one contact or on several in turn, as those of a box that rocks: all of
    /// them close once the rest would last less than the tolerance of the run, if they then stay closed.
    fn end_rocking(&mut self, before: &Before, y: &[f64]) -> Result<Option<Rocked>, MotionError> {
        let Some((contacts, left)) = self.rocking(y)? else { return Ok(None) };
        let moved = self.y.clone();
        let touching = self.touching(before, &contacts)?;
        self.flow.place(self.t, &self.y);
        let rates = self.flow.rates()?;
        let places: Vec<usize> =
            (0..touching.contacts.len()).filter(|&k| contacts.contains(&touching.contacts[k])).collect();
        let w0: Vec<f64> = places.iter().map(|&k| rates[touching.rows[k]]).collect();
        let sides = vec![Side::Held; w0.len()];
        if let Ok(found) = complementarity(&touching.part(&places), &w0, &sides, &vec![0.0; w0.len()]) {
            let n = self.flow.n;
            for (&k, p) in places.iter().zip(&found.lambda) {
                self.y[n..2 * n].iter_mut().zip(&touching.responses[k]).for_each(|(v, x)| *v += p * x);
            }
            let closed = self.rest(&touching)?;
            if contacts.iter().all(|&c| closed[c]) {
                return Ok(Some(Rocked { touching, closed, left }));
            }
        }
        self.y = moved;
        Ok(None)
    }

    /// The contacts that have been struck of late, and the time their impacts would still take by the geometric series.
    fn rocking(&mut self, y: &[f64]) -> Result<Option<(Vec<usize>, f64)>, MotionError> {
        /// Impacts of which the intervals are compared, two by two: feet are struck in turn.
        const IMPACTS: usize = 5;
        /// Intervals that shrink by less than this do not tell where they end.
        const SHRINKS: f64 = 0.95;
        if self.y == y {
            return Ok(None);
        }
        let mut times = vec![self.t];
        let mut rows = Vec::new();
        for change in self.mode_changes.iter().rev().filter(|change| change.turn == Turn::Impact) {
            if change.t < times[times.len() - 1] {
                times.push(change.t);
            }
            rows.push(change.row);
            if times.len() == IMPACTS {
                break;
            }
        }
        let [t0, _, t2, _, t4] = times[..] else { return Ok(None) };
        let ratio = (t0 - t2) / (t2 - t4);
        let left = (t0 - t2) * ratio / (1.0 - ratio);
        if ratio >= SHRINKS {
            return Ok(None);
        }
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates()?;
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        if rows.iter().any(|&row| gaps[row] > TOUCHING * flow.row_size(row, &flow.q_size)) {
            return Ok(None);
        }
        // a flight of duration τ that sets out with v rises by v τ/4
        let height = |row: usize| 0.25 * rates[row] * ratio * (t0 - t2);
        let is_low = rows.iter().all(|&row| height(row) <= LOWEST * flow.row_size(row, &flow.q_size));
        let is_over = is_low || left <= self.plan.tolerance * (self.plan.end - self.t0);
        let contacts = flow.modes.contacts.iter().enumerate();
        let struck = contacts.filter(|(_, contact)| rows.contains(&contact.row)).map(|(c, _)| c);
        Ok(is_over.then(|| (struck.collect(), left)))
    }

    /// Notes what was struck; the system counts the energy.
    fn note_impacts(&mut self, touching: &Touching, y: &[f64], before: &Before) -> Result<(), MotionError> {
        if self.y == y {
            return Ok(());
        }
        let flow = &mut self.flow;
        flow.place(self.t, y);
        let rates = flow.rates()?;
        let state = flow.instant.state.clone();
        flow.dynamics.struck(&state)?;
        for (&contact, &row) in touching.contacts.iter().zip(touching.normals()) {
            if rates[row] < -flow.rate_noise(&[row]) && !before.closed[contact] {
                self.mode_changes.push(ModeChange { t: self.t, turn: Turn::Impact, row });
            }
        }
        flow.place(self.t, &self.y);
        let state = flow.instant.state.clone();
        flow.dynamics.landed(&state)
    }

    /// Sets the mode that follows.
    fn choose_mode(
        &mut self,
        touching: &Touching,
        closed: Vec<bool>,
        fired: &[usize],
        before: &Before,
    ) -> Result<(), Outcome> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates().map_err(Outcome::Failed)?;
        for (&c, &row) in touching.contacts.iter().zip(touching.normals()) {
            flow.modes.lifting[c] = !closed[c] && rates[row] <= flow.rate_noise(&[row]);
        }
        let resting = |c: &usize| {
            let row = flow.modes.contacts[*c].row;
            rates[row] <= flow.rate_noise(&[row])
        };
        let resting: Vec<usize> = touching.contacts.iter().copied().filter(resting).collect();
        if !flow.modes.frictions.is_empty() {
            self.choose_among(&resting, fired, before)?;
            let modes = &mut self.flow.modes;
            resting.iter().for_each(|&c| modes.lifting[c] = !modes.closed[c]);
            return self.mind_shared().map_err(Outcome::Failed);
        }
        flow.modes.closed = closed;
        flow.modes.switch();
        self.mind_shared().map_err(Outcome::Failed)
    }

    /// Notes which contacts have opened or closed; `left` is the time that bounces cut short would still take.
    fn note_turns(&mut self, before: &Before, is_start: bool, left: f64) {
        if is_start {
            return;
        }
        let modes = &self.flow.modes;
        for (c, contact) in modes.contacts.iter().enumerate() {
            let (turn, t) = match (before.closed[c], modes.closed[c]) {
                (false, true) => (Turn::Rest, (self.t + left).min(self.plan.end)),
                (true, false) => (Turn::TakeOff, self.t),
                _ => continue,
            };
            self.mode_changes.push(ModeChange { t, turn, row: contact.row });
        }
        for (k, friction) in modes.frictions.iter().enumerate() {
            let turn = match (before.grips[k], modes.grips[k]) {
                (Grip::Sticks, Grip::Slides(_)) => Turn::Slip,
                (Grip::Slides(_), Grip::Sticks) => Turn::Stick,
                _ => continue,
            };
            self.mode_changes.push(ModeChange { t: self.t, turn, row: friction.normals[0] });
        }
    }

    /// How small a push of each closed contact counts as none.
    fn mind_pushes(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let top = flow.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        flow.modes.no_push = NO_PUSH * top;
        Ok(())
    }

    /// Contacts that have left for good may be struck again.
    pub(super) fn mind_lifting(&mut self) -> Result<(), MotionError> {
        let flow = &mut self.flow;
        if !flow.modes.lifting.contains(&true) {
            return Ok(());
        }
        flow.place(self.t, &self.y);
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        for c in 0..flow.modes.contacts.len() {
            let row = flow.modes.contacts[c].row;
            let has_left = gaps[row] > LIFTING * flow.row_size(row, &flow.q_size);
            flow.modes.lifting[c] &= !has_left;
        }
        Ok(())
    }
}

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// How many ends of the mode are watched.
    pub(super) fn n_turns(&self) -> usize {
        self.modes.contacts.len() + 2 * self.modes.frictions.len()
    }

    /// How fast the gaps of open contacts change here; those of closed ones do not.
    pub(super) fn closing(&mut self) -> Result<Vec<f64>, MotionError> {
        if self.modes.contacts.is_empty() {
            return Ok(Vec::new());
        }
        let rates = self.rates()?;
        let rate = |(c, contact): (usize, &Contact)| if self.modes.closed[c] { 0.0 } else { rates[contact.row] };
        Ok(self.modes.contacts.iter().enumerate().map(rate).collect())
    }

    /// What is negative where the mode has ended: the gap of an open contact that is closing, the push of a closed one.
    pub(super) fn fill_turns(&mut self, values: &mut [f64]) -> Result<(), MotionError> {
        if self.modes.is_empty() {
            return Ok(());
        }
        self.evaluate()?;
        let mut gaps = vec![0.0; self.h];
        self.dynamics.fill_positions(&self.instant.state, &mut gaps)?;
        let rates = self.rates()?;
        for (c, contact) in self.modes.contacts.iter().enumerate() {
            let row = contact.row;
            values[c] = if self.modes.closed[c] {
                self.instant.lambda[row] + self.modes.no_push
            } else {
                let slack = if self.modes.lifting[c] { LIFTING * self.row_size(row, &self.q_size) } else { 0.0 };
                let is_struck = gaps[row] < -slack && rates[row] < 0.0;
                if is_struck { -1.0 } else { 1.0 }
            };
        }
        let first = self.modes.contacts.len();
        for k in 0..self.modes.frictions.len() {
            (values[first + 2 * k], values[first + 2 * k + 1]) = self.friction_turns(k, &rates)?;
        }
        Ok(())
    }

    /// What is negative where friction k changes: its room in the cone, or its slip along its direction; and the force that
    /// presses, where it may change its side.
    fn friction_turns(&mut self, k: usize, rates: &[f64]) -> Result<(f64, f64), MotionError> {
        let friction = self.modes.frictions[k].clone();
        let pushes = friction.pushes(&self.instant.lambda);
        match self.modes.grips[k] {
            Grip::Idle => Ok((1.0, 1.0)),
            Grip::Sticks => {
                let mut roughness = std::mem::take(&mut self.modes.roughness);
                let done = self.dynamics.fill_roughness(&self.instant.state, &mut roughness);
                self.modes.roughness = roughness;
                done?;
                let rough = self.modes.roughness[k];
                let force = friction.slip.iter().map(|&row| self.instant.lambda[row].powi(2)).sum::<f64>().sqrt();
                Ok((rough.holding * rough.normal(&pushes) - force + self.modes.no_push, 1.0))
            }
            Grip::Slides(sense) => {
                let along: f64 = match friction.slip[..] {
                    [row] => sense * rates[row],
                    _ => friction.slip.iter().zip(&self.modes.directions[k]).map(|(&row, d)| d * rates[row]).sum(),
                };
                let is_sided = friction.contact.is_none() && friction.single().is_some();
                let side = if is_sided { self.modes.presses[k] * pushes[0] } else { 1.0 };
                Ok((along + self.rate_noise(&friction.slip), side + self.modes.no_push))
            }
        }
    }
}

fn excluded(error: NoPushes, rows: &[usize]) -> MotionError {
    match error {
        NoPushes::Contradiction { row } => MotionError::Excluded { row: rows[row] },
        NoPushes::NotConverged => MotionError::NotConverged { residual: 0.0 },
    }
}
