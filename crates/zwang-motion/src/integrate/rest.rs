//! Coming to rest: which contacts close, and where bounces that become ever shorter end.

use super::contact::{Before, NO_PUSH, TOUCHING};
use super::impact::{Bounce, excluded};
use super::touching::Touching;
use super::*;
use crate::unilateral::{Side, Turn, complementarity, length};

/// Bounces lower than this part of the size of the row are lost in rounding.
const LOWEST: f64 = 4e-13;

/// Intervals that shrink by less than this do not tell where they end.
const SHRINKS: f64 = 0.95;

/// Bounces this low are rounding even where their gap is known best.
const LOST: f64 = 1e-15;

/// Intervals shrink regularly if they do so by the same part twice, but for this.
const REGULAR: f64 = 0.01;

/// Impacts that follow each other: what was struck, how long the last of them took, and that beside those before, twice.
struct Series {
    rows: Vec<usize>,
    last: f64,
    ratio: f64,
    before: Option<f64>,
}

impl Series {
    /// Whether intervals shrink by the same part time and again.
    fn is_regular(&self) -> bool {
        self.before.is_some_and(|before| (before - self.ratio).abs() <= REGULAR * self.ratio)
    }

    /// The time the impacts would still take, by the geometric series.
    fn left(&self) -> f64 {
        self.last * self.ratio / (1.0 - self.ratio)
    }

    /// The same if they are not regular, as long as it may be.
    fn most_left(&self) -> f64 {
        let slowest = self.before.map_or(self.ratio, |before| before.max(self.ratio)).min(SHRINKS);
        if self.is_regular() { self.left() } else { self.last / (1.0 - slowest) }
    }
}

/// Contacts that close for good after impacts in turn.
pub(super) struct Rocked {
    pub(super) touching: Touching,
    pub(super) closed: Vec<bool>,
    /// The time the impacts would still take.
    pub(super) left: f64,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Which of the touching contacts close: the least constraint among accelerations, for those that do not open already.
    pub(super) fn rest(&mut self, touching: &Touching) -> Result<Vec<bool>, MotionError> {
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

    /// Contacts whose bounces die out within the tolerance, and the time they would still take: 2v/|a| (1 + e + e² + …). One that
    /// has been stopped opens again only because another throws it off.
    pub(super) fn dying(
        &mut self,
        bounces: &[Bounce],
        stopped: &[bool],
        closed: &[bool],
    ) -> Result<Vec<(usize, f64)>, MotionError> {
        let mut found = Vec::new();
        if bounces.iter().all(|bounce| stopped[bounce.contact]) {
            return Ok(found);
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
        for bounce in bounces.iter().filter(|bounce| !stopped[bounce.contact]) {
            let row = flow.modes.contacts[bounce.contact].row;
            let whole = &flow.modes.whole;
            let a = whole.constraint_matrix.row_times(row, &flow.instant.qddot) - whole.constraint_rhs[row];
            let (e, v) = (restitutions[bounce.contact], bounce.rate);
            let time = 2.0 * v / (-a * (1.0 - e));
            let height = v * v / (-2.0 * a);
            // where others throw it off in between its own coefficient does not tell how long it takes
            let lowest = if is_thrown(&self.mode_changes, self.t, row, e) { LOST } else { LOWEST };
            let is_low = height <= lowest * flow.row_size(row, &flow.q_size);
            if a < 0.0 && e < 1.0 && (time <= longest || is_low) {
                found.push((bounce.contact, time));
            }
        }
        flow.modes.open_all();
        flow.release();
        Ok(found)
    }

    /// Impacts that follow each other ever faster, on one contact or on several in turn, as those of a box that rocks: all of
    /// them close once the rest would last less than the tolerance of the run, if they then stay closed. `struck` are the contacts
    /// of this impact, and y is where it began.
    pub(super) fn end_rocking(
        &mut self,
        before: &Before,
        struck: &[usize],
        y: &[f64],
    ) -> Result<Option<Rocked>, MotionError> {
        let Some((contacts, left)) = self.rocking(struck, y)? else { return Ok(None) };
        let moved = self.y.clone();
        let touching = self.touching(before, &contacts)?;
        let normals: Vec<usize> =
            (0..touching.contacts.len()).filter(|&k| contacts.contains(&touching.contacts[k])).collect();
        if let Some(slips) = self.hold(&touching, &normals, &normals)? {
            // what stood still while it rocked still does
            let places: Vec<usize> = normals.iter().copied().chain(slips).collect();
            let pressed = std::mem::replace(&mut self.y, moved.clone());
            if self.hold(&touching, &places, &normals)?.is_none() {
                self.y = pressed;
            }
            let closed = self.rest(&touching)?;
            if contacts.iter().all(|&c| closed[c]) && !self.closes(&touching)? {
                return Ok(Some(Rocked { touching, closed, left }));
            }
        }
        self.y = moved;
        Ok(None)
    }

    /// Whether something that touches is about to be struck.
    fn closes(&mut self, touching: &Touching) -> Result<bool, MotionError> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates()?;
        Ok(touching.normals().iter().any(|&row| rates[row] < -flow.rate_noise(&[row])))
    }

    /// Gives these places among the rows that touch the impulses that end their rates, of whichever sign; none if they exclude each
    /// other. Returns the places of the slips that these impulses have changed by as much as is left of them: they were not sliding.
    fn hold(
        &mut self,
        touching: &Touching,
        places: &[usize],
        contacts: &[usize],
    ) -> Result<Option<Vec<usize>>, MotionError> {
        self.flow.place(self.t, &self.y);
        let rates = self.flow.rates()?;
        let w0: Vec<f64> = places.iter().map(|&k| rates[touching.rows[k]]).collect();
        let noise: Vec<f64> = places.iter().map(|&k| self.flow.rate_noise(&[touching.rows[k]])).collect();
        let sides = vec![Side::Held; w0.len()];
        let Ok(found) = complementarity(&touching.part(places), &w0, &sides, &noise) else { return Ok(None) };
        let n = self.flow.n;
        for (&k, p) in places.iter().zip(&found.lambda) {
            self.y[n..2 * n].iter_mut().zip(&touching.responses[k]).for_each(|(v, x)| *v += p * x);
        }
        let before: Vec<f64> = touching.rows.iter().map(|&row| rates[row]).collect();
        let mut impulses = vec![0.0; before.len()];
        places.iter().zip(&found.lambda).for_each(|(&k, p)| impulses[k] = *p);
        let after = touching.rates_after(&before, &impulses);
        let stands = |slips: &&Vec<usize>| {
            let change: Vec<f64> = slips.iter().map(|&k| after[k] - before[k]).collect();
            let left: Vec<f64> = slips.iter().map(|&k| after[k]).collect();
            length(&left) <= 2.0 * length(&change)
        };
        Ok(Some(contacts.iter().map(|&k| &touching.slips[k]).filter(stands).flatten().copied().collect()))
    }

    /// The contacts that have been struck of late, and the time their impacts would still take by the geometric series.
    fn rocking(&mut self, struck: &[usize], y: &[f64]) -> Result<Option<(Vec<usize>, f64)>, MotionError> {
        /// Impacts of which the intervals are added up and compared: two where feet are struck in turn, more where the order
        /// is not so regular, as in a groove.
        const IMPACTS: [usize; 4] = [2, 4, 8, 16];
        if self.y == y {
            return Ok(None);
        }
        self.flow.place(self.t, &self.y);
        self.flow.evaluate()?;
        let rates = self.flow.rates()?;
        let mut gaps = vec![0.0; self.flow.h];
        self.flow.dynamics.fill_positions(&self.flow.instant.state, &mut gaps)?;
        for n_impacts in IMPACTS {
            let Some(series) = self.series(n_impacts, struck) else { return Ok(None) };
            let (rows, last) = (&series.rows, series.last);
            if !self.is_slow(rows, &rates, last) {
                continue;
            }
            let flow = &self.flow;
            let touches = |&row: &usize| gaps[row] <= TOUCHING * flow.row_size(row, &flow.q_size);
            // a flight of duration τ that sets out with v rises by v τ/4
            let height = |row: usize| 0.25 * rates[row].abs() * series.ratio * last;
            let lowest = if series.is_regular() { LOWEST } else { LOST };
            let is_low = |&row: &usize| height(row) <= lowest * flow.row_size(row, &flow.q_size);
            let longest = self.plan.tolerance * (self.plan.end - self.t0);
            let is_over = rows.iter().all(is_low) || series.most_left() <= longest;
            if series.ratio < SHRINKS && is_over && rows.iter().all(touches) {
                let contacts = flow.modes.contacts.iter().enumerate();
                let struck = contacts.filter(|(_, contact)| rows.contains(&contact.row)).map(|(c, _)| c);
                return Ok(Some((struck.collect(), series.left())));
            }
        }
        Ok(None)
    }

    /// Whether rows move no faster than forces make them in the time of the last impacts, or than the tolerance lets pass. Where
    /// something is struck fast in a narrow gap impacts also follow each other ever faster, but their speeds do not die out.
    fn is_slow(&self, rows: &[usize], rates: &[f64], last: f64) -> bool {
        /// Contacts that hold meanwhile make accelerations larger than in free flight, hardly more than so many times.
        const AMPLE: f64 = 10.0;
        let flow = &self.flow;
        let whole = &flow.modes.whole;
        let size = |row: usize| flow.row_size(row, &flow.v_size);
        let falls = |&row: &usize| {
            let a = whole.constraint_matrix.row_times(row, &flow.instant.qddot) - whole.constraint_rhs[row];
            a.abs() / size(row)
        };
        let fastest = AMPLE * last * rows.iter().map(falls).fold(0.0, f64::max) + self.plan.tolerance;
        rows.iter().all(|&row| rates[row].abs() <= fastest * size(row))
    }

    /// The last impacts, this one included, taken together `n_impacts` by `n_impacts`; none if there were not so many.
    fn series(&self, n_impacts: usize, struck: &[usize]) -> Option<Series> {
        let mut times = vec![self.t];
        let mut rows: Vec<usize> = struck.iter().map(|&c| self.flow.modes.contacts[c].row).collect();
        for change in self.mode_changes.iter().rev().filter(|change| change.turn == Turn::Impact) {
            if change.t < times[times.len() - 1] {
                times.push(change.t);
            }
            if times.len() <= 2 * n_impacts + 1 {
                rows.push(change.row);
            }
            if times.len() > 3 * n_impacts {
                break;
            }
        }
        let (now, middle, first) = (times[0], times.get(n_impacts)?, times.get(2 * n_impacts)?);
        let (last, second) = (now - middle, middle - first);
        let before = times.get(3 * n_impacts).map(|earliest| second / (first - earliest));
        Some(Series { rows, last, ratio: last / second, before })
    }
}

/// Whether bounces of a row, which is struck at t, have not become shorter by its restitution alone.
fn is_thrown(changes: &[ModeChange], t: f64, row: usize, e: f64) -> bool {
    /// What times of low bounces are known to, as a part of them.
    const ALIKE: f64 = 0.05;
    let mut times = changes.iter().rev().filter(|change| change.turn == Turn::Impact && change.row == row);
    let (Some(last), Some(before)) = (times.next(), times.next()) else { return false };
    let (now, wanted) = (t - last.t, e * (last.t - before.t));
    (now - wanted).abs() > ALIKE * now
}
