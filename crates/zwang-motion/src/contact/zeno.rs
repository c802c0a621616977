//! Zeno behaviour: which contacts close, and where bounces that become ever shorter accumulate.

use super::impact::{Bounce, excluded};
use super::resolve::PreviousMode;
use super::resolve::Resolver;
use super::touching::Touching;
use super::{ContactTransition, Side, TransitionKind, complementarity, length};
use crate::{ConstraintLevel, Dynamics, MotionError, tolerance};

/// Intervals that shrink by less than this do not show an accumulation point.
const SHRINKS: f64 = 0.95;

/// Intervals shrink regularly if they do so by the same factor twice, to this relative difference.
const REGULAR: f64 = 0.01;

/// Impacts that follow each other: their rows, the duration of the last of them, and its ratio to those before, twice.
struct Series {
    rows: Vec<usize>,
    last: f64,
    ratio: f64,
    before: Option<f64>,
}

impl Series {
    /// `true` if intervals shrink by the same factor again and again.
    fn is_regular(&self) -> bool {
        self.before.is_some_and(|before| (before - self.ratio).abs() <= REGULAR * self.ratio)
    }

    /// The remaining time of the impacts, by the geometric series.
    fn left(&self) -> f64 {
        self.last * self.ratio / (1.0 - self.ratio)
    }

    /// The remaining time if they are not regular, at most.
    fn most_left(&self) -> f64 {
        let slow_limits = self.before.map_or(self.ratio, |before| before.max(self.ratio)).min(SHRINKS);
        if self.is_regular() { self.left() } else { self.last / (1.0 - slow_limits) }
    }
}

/// Contacts that close permanently after impacts in turn.
pub(super) struct Accumulated {
    pub(super) touching: Touching,
    pub(super) closed: Vec<bool>,
    /// The remaining time of the impacts.
    pub(super) left: f64,
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Which of the touching contacts close: the least constraint among accelerations, for those that do not open already.
    pub(super) fn closing_contacts(&mut self, touching: &Touching) -> Result<Vec<bool>, MotionError> {
        let system = &mut self.system;
        system.open_all();
        system.smooth.set_state(self.t, self.y);
        system.evaluate()?;
        let rates = system.rates()?;
        let resting = |k: &usize| rates[touching.rows[*k]] <= system.rate_noise(&[touching.rows[*k]]);
        let places: Vec<usize> = (0..touching.contacts.len()).filter(resting).collect();
        let (A, b) = (&system.smooth.rows.whole.constraint_matrix, &system.smooth.rows.whole.constraint_rhs);
        let qddot = &system.smooth.instant.qddot;
        let terms = |row: usize| {
            let (col, value) = A.row(row);
            b[row].abs() + col.iter().zip(value).map(|(&j, a)| (a * qddot[j]).abs()).sum::<f64>()
        };
        let w0: Vec<f64> = places.iter().map(|&k| A.row_times(touching.rows[k], qddot) - b[touching.rows[k]]).collect();
        let noise: Vec<f64> = places.iter().map(|&k| tolerance::ROW_ROUNDING * terms(touching.rows[k])).collect();
        let S = touching.part(&places);
        let rows: Vec<usize> = places.iter().map(|&k| touching.rows[k]).collect();
        let found = complementarity(&S, &w0, &vec![Side::Unilateral; w0.len()], &noise)
            .map_err(|error| excluded(error, &rows))?;
        let mut closed = vec![false; system.mode.contacts.len()];
        for (at, &k) in places.iter().enumerate() {
            let size = found.slack[at].abs() <= 10.0 * noise[at] + tolerance::SLACK_ROUNDING * w0[at].abs();
            closed[touching.contacts[k]] =
                found.active.contains(&at) || (size && found.lambda.iter().any(|l| *l > 0.0));
        }
        // redundant rows are active too, unless the shortest λ would be tensile in one of them
        if self.has_tension(&closed)? {
            closed.fill(false);
            found.active.iter().for_each(|&at| closed[touching.contacts[places[at]]] = true);
        }
        Ok(closed)
    }

    /// `true` if a contact would be under tension if these were closed.
    fn has_tension(&mut self, closed: &[bool]) -> Result<bool, MotionError> {
        let system = &mut self.system;
        system.mode.closed.copy_from_slice(closed);
        system.mask();
        system.release();
        let done = system.evaluate();
        let top = system.smooth.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        let rows = system.mode.contacts.iter().zip(closed).filter(|(_, closed)| **closed).map(|(c, _)| c.row);
        let has_tension = rows
            .map(|row| system.smooth.instant.lambda[row])
            .any(|normal_force| normal_force < -tolerance::ROUNDING * top);
        system.open_all();
        system.release();
        done?;
        Ok(has_tension)
    }

    /// Contacts whose bounces accumulate within the tolerance, and their remaining time: 2v/|a| (1 + e + e² + …). A contact
    /// that has been stopped opens again only because another throws it off.
    pub(super) fn accumulating(
        &mut self,
        bounces: &[Bounce],
        stopped: &[bool],
        closed: &[bool],
    ) -> Result<Vec<(usize, f64)>, MotionError> {
        let mut found = Vec::new();
        if bounces.iter().all(|bounce| stopped[bounce.contact]) {
            return Ok(found);
        }
        let system = &mut self.system;
        let mut restitutions = vec![0.0; system.mode.contacts.len()];
        system.smooth.set_state(self.t, self.y);
        system.fill_restitutions(&mut restitutions)?;
        system.mode.closed.copy_from_slice(closed);
        system.mask();
        system.release();
        system.evaluate()?;
        let longest = self.window.tolerance * self.window.length();
        for bounce in bounces.iter().filter(|bounce| !stopped[bounce.contact]) {
            let row = system.mode.contacts[bounce.contact].row;
            let whole = &system.smooth.rows.whole;
            let a = whole.constraint_matrix.row_times(row, &system.smooth.instant.qddot) - whole.constraint_rhs[row];
            let (e, v) = (restitutions[bounce.contact], bounce.rate);
            let time = 2.0 * v / (-a * (1.0 - e));
            let height = v * v / (-2.0 * a);
            // if others throw it off in between, its own coefficient does not give its remaining time
            let lowest = if is_thrown(&self.log.transitions, self.t, row, e) {
                tolerance::GAP_ROUNDING
            } else {
                tolerance::LOWEST_BOUNCE
            };
            let is_low = height <= lowest * system.row_size(row, &system.smooth.q_size);
            if a < 0.0 && e < 1.0 && (time <= longest || is_low) {
                found.push((bounce.contact, time));
            }
        }
        system.open_all();
        system.release();
        Ok(found)
    }

    /// Ends impacts that follow each other ever faster, on one contact or on several in turn, as those of a box that rocks:
    /// all of them close once their remaining time is less than the tolerance of the run, if they then stay closed. `struck`
    /// are the contacts of this impact, and y is where it began.
    pub(super) fn end_accumulation(
        &mut self,
        before: &PreviousMode,
        struck: &[usize],
        y: &[f64],
    ) -> Result<Option<Accumulated>, MotionError> {
        let Some((contacts, left)) = self.accumulation(struck, y)? else { return Ok(None) };
        let moved = self.y.clone();
        let touching = self.touching(before, &contacts)?;
        let normals: Vec<usize> =
            (0..touching.contacts.len()).filter(|&k| contacts.contains(&touching.contacts[k])).collect();
        if let Some(slips) = self.end_rates(&touching, &normals, &normals)? {
            // slips that were at rest while it rocked still are
            let places: Vec<usize> = normals.iter().copied().chain(slips).collect();
            let pressed = std::mem::replace(&mut *self.y, moved.clone());
            if self.end_rates(&touching, &places, &normals)?.is_none() {
                *self.y = pressed;
            }
            let closed = self.closing_contacts(&touching)?;
            if contacts.iter().all(|&c| closed[c]) && !self.closes(&touching)? {
                return Ok(Some(Accumulated { touching, closed, left }));
            }
        }
        *self.y = moved;
        Ok(None)
    }

    /// `true` if a contact that touches is about to close.
    fn closes(&mut self, touching: &Touching) -> Result<bool, MotionError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        let rates = system.rates()?;
        Ok(touching.normals().iter().any(|&row| rates[row] < -system.rate_noise(&[row])))
    }

    /// Gives these places among the rows the impulses that end their rates, of whichever sign; `None` if they exclude each
    /// other. Returns the slips that these impulses have changed by at least half of what is left of them: they were not
    /// sliding.
    fn end_rates(
        &mut self,
        touching: &Touching,
        places: &[usize],
        contacts: &[usize],
    ) -> Result<Option<Vec<usize>>, MotionError> {
        self.system.smooth.set_state(self.t, self.y);
        let rates = self.system.rates()?;
        let w0: Vec<f64> = places.iter().map(|&k| rates[touching.rows[k]]).collect();
        let noise: Vec<f64> = places.iter().map(|&k| self.system.rate_noise(&[touching.rows[k]])).collect();
        let sides = vec![Side::Held; w0.len()];
        let Ok(found) = complementarity(&touching.part(places), &w0, &sides, &noise) else { return Ok(None) };
        let n = self.system.smooth.n;
        for (&k, p) in places.iter().zip(&found.lambda) {
            self.y[n..2 * n].iter_mut().zip(&touching.responses[k]).for_each(|(v, x)| *v += p * x);
        }
        let before: Vec<f64> = touching.rows.iter().map(|&row| rates[row]).collect();
        let mut impulses = vec![0.0; before.len()];
        places.iter().zip(&found.lambda).for_each(|(&k, p)| impulses[k] = *p);
        let after = touching.rates_after(&before, &impulses);
        let arrested = |slips: &&Vec<usize>| {
            let change: Vec<f64> = slips.iter().map(|&k| after[k] - before[k]).collect();
            let left: Vec<f64> = slips.iter().map(|&k| after[k]).collect();
            length(&left) <= 2.0 * length(&change)
        };
        Ok(Some(contacts.iter().map(|&k| &touching.slips[k]).filter(arrested).flatten().copied().collect()))
    }

    /// The contacts of the last impacts, and their remaining time by the geometric series.
    fn accumulation(&mut self, struck: &[usize], y: &[f64]) -> Result<Option<(Vec<usize>, f64)>, MotionError> {
        /// Impacts of which the intervals are added up and compared: two if feet alternate, more if the order is less
        /// regular, as in a groove.
        const IMPACTS: [usize; 4] = [2, 4, 8, 16];
        if *self.y == y {
            return Ok(None);
        }
        self.system.smooth.set_state(self.t, self.y);
        self.system.evaluate()?;
        let rates = self.system.rates()?;
        let mut gaps = vec![0.0; self.system.smooth.h];
        self.system.smooth.residuals(ConstraintLevel::Positions, &mut gaps)?;
        for n_impacts in IMPACTS {
            let Some(series) = self.series(n_impacts, struck) else { return Ok(None) };
            let (rows, last) = (&series.rows, series.last);
            if !self.is_slow(rows, &rates, last) {
                continue;
            }
            let system = &self.system;
            let touches = |&row: &usize| gaps[row] <= tolerance::RUN * system.row_size(row, &system.smooth.q_size);
            // a flight of duration τ that starts with v rises by v τ/4
            let height = |row: usize| 0.25 * rates[row].abs() * series.ratio * last;
            let lowest = if series.is_regular() { tolerance::LOWEST_BOUNCE } else { tolerance::GAP_ROUNDING };
            let is_low = |&row: &usize| height(row) <= lowest * system.row_size(row, &system.smooth.q_size);
            let longest = self.window.tolerance * self.window.length();
            let is_over = rows.iter().all(is_low) || series.most_left() <= longest;
            if series.ratio < SHRINKS && is_over && rows.iter().all(touches) {
                let contacts = system.mode.contacts.iter().enumerate();
                let struck = contacts.filter(|(_, contact)| rows.contains(&contact.row)).map(|(c, _)| c);
                return Ok(Some((struck.collect(), series.left())));
            }
        }
        Ok(None)
    }

    /// `true` if rows move no faster than forces make them in the time of the last impacts, or than the tolerance allows. In
    /// a narrow gap impacts also follow each other ever faster, but their speeds do not decrease.
    fn is_slow(&self, rows: &[usize], rates: &[f64], last: f64) -> bool {
        /// Closed contacts make accelerations larger than in free flight, by this factor at most.
        const AMPLE: f64 = 10.0;
        let system = &self.system;
        let whole = &system.smooth.rows.whole;
        let size = |row: usize| system.row_size(row, &system.smooth.v_size);
        let falls = |&row: &usize| {
            let a = whole.constraint_matrix.row_times(row, &system.smooth.instant.qddot) - whole.constraint_rhs[row];
            a.abs() / size(row)
        };
        let fastest = AMPLE * last * rows.iter().map(falls).fold(0.0, f64::max) + self.window.tolerance;
        rows.iter().all(|&row| rates[row].abs() <= fastest * size(row))
    }

    /// The last impacts, this one included, taken together `n_impacts` by `n_impacts`; `None` if there were fewer.
    fn series(&self, n_impacts: usize, struck: &[usize]) -> Option<Series> {
        let mut times = vec![self.t];
        let mut rows: Vec<usize> = struck.iter().map(|&c| self.system.mode.contacts[c].row).collect();
        for change in self.log.transitions.iter().rev().filter(|change| change.turn == TransitionKind::Impact) {
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

/// `true` if bounces of a row, which takes an impulse at t, have not become shorter by its restitution alone.
fn is_thrown(changes: &[ContactTransition], t: f64, row: usize, e: f64) -> bool {
    /// Relative accuracy of the times of low bounces.
    const ALIKE_TIMES: f64 = 0.05;
    let mut times = changes.iter().rev().filter(|change| change.turn == TransitionKind::Impact && change.row == row);
    let (Some(last), Some(before)) = (times.next(), times.next()) else { return false };
    let (now, wanted) = (t - last.t, e * (last.t - before.t));
    (now - wanted).abs() > ALIKE_TIMES * now
}
