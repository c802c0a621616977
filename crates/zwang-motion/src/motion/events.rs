//! Event functions and guards: changes of sign during a step, located on its dense output.

use super::sign::{Sign, noise, restarted};
use crate::{
    ConditionRate, Dynamics, MotionError, Step,
    flow::Flow,
    limits,
    tolerance::{self, RunWindow},
};

/// An event function changed its sign.
#[derive(Clone, Debug, PartialEq)]
pub struct SignChange {
    /// Time of the event.
    pub t: f64,
    /// Index of the event function.
    pub event: usize,
    /// `true` from negative to positive.
    pub upwards: bool,
}

/// The first events of a step: their time, and the index and direction of each.
pub(crate) struct LocatedEvents {
    pub(crate) t: f64,
    pub(crate) which: Vec<(usize, bool)>,
}

/// The signs of the event functions at the start of the step.
pub(crate) struct EventFinder {
    sign: Vec<Sign>,
    /// The rates of conditions at the last restart, the first of the system's events; and those that a jump has made true.
    rates: Vec<ConditionRate>,
    /// How far each condition had passed zero where it was located, and the part of it that is rounding.
    beyond: Vec<f64>,
    noise: Vec<f64>,
    triggered: Vec<(usize, bool)>,
    /// The number of the system's own; then come bounds of forces, two for each; the rest are guards of the contact mode,
    /// positive while it lasts.
    n_events: usize,
    n_own: usize,
    values: Vec<f64>,
    /// The same as continuous quantities: the gap of an open contact.
    shapes: Vec<f64>,
    /// The part of each that does not count.
    floors: Vec<f64>,
    /// The largest of each so far.
    tops: Vec<f64>,
    /// The longest time between two samples.
    spacing: f64,
    window: RunWindow,
    /// The length of the next subinterval, if the last ones had to be divided.
    subinterval: f64,
    y: Vec<f64>,
    /// Samples, old ones whose memory is used again, and the signs before a subinterval.
    samples: Vec<EventSample>,
    free_samples: Vec<EventSample>,
    signs: Vec<Sign>,
}

/// The least number of subintervals of a step.
const SUBINTERVALS: f64 = 2.0;

/// Samples in a subinterval, as fractions of it: irregular, so that nothing periodic looks constant.
const SAMPLES: [f64; 4] = [0.23, 0.47, 0.74, 1.0];

/// The first and the last subinterval have one more sample, near the end of the step: a dip there has no neighbour beyond.
const EDGE_SAMPLE: f64 = 0.02;

/// The least number of samples in a run: an event within a thousandth of the run is found, whether or not the state moves.
const SAMPLES_IN_RUN: f64 = 1000.0;

/// A subinterval in which a function is not resolved is divided by this number, down to this fraction of the longest.
const DIVISIONS: f64 = 4.0;
const SHORTEST_SUBINTERVAL: f64 = 1.0 / 4096.0;

/// Error of the parabola relative to the distance from zero, and relative to the size in the subinterval or in the whole
/// run.
const ERROR_TO_ZERO: f64 = 0.2;
const RESOLVED: (f64, f64) = (0.02, tolerance::DISTINCT);

/// One sample of the event functions.
#[derive(Default)]
struct EventSample {
    t: f64,
    /// `true` if a sign has changed, and `true` if by more than the error of the steps.
    changed: bool,
    is_clear: bool,
    shapes: Vec<f64>,
    /// The rates of the gaps of open contacts.
    rates: Vec<f64>,
}

impl EventFinder {
    pub(crate) fn new(
        (n_conditions, n_events): (usize, usize),
        n_bounds: usize,
        n_guards: usize,
        window: RunWindow,
    ) -> EventFinder {
        let n_own = n_events + n_bounds;
        let n = n_own + n_guards;
        EventFinder {
            sign: vec![Sign::Unknown; n],
            rates: vec![ConditionRate::default(); n_conditions],
            beyond: vec![0.0; n_conditions],
            noise: vec![0.0; n_conditions],
            triggered: Vec::with_capacity(n_conditions),
            n_events,
            n_own,
            values: vec![0.0; n],
            shapes: vec![0.0; n],
            floors: vec![0.0; n],
            tops: vec![0.0; n],
            spacing: window.length() / SAMPLES_IN_RUN,
            window,
            subinterval: f64::INFINITY,
            y: Vec::new(),
            samples: Vec::new(),
            free_samples: Vec::new(),
            signs: Vec::new(),
        }
    }

    /// The longest next step in which event functions, and samples of the run, are resolved.
    pub(crate) fn longest_step(&self) -> f64 {
        2.0 * SUBINTERVALS * self.subinterval
    }

    /// The bound at which a bounded force is: 1 the upper one, −1 the lower one, 0 none.
    pub(crate) fn side(&self, place: usize) -> i8 {
        let upper = self.n_events + 2 * place;
        match (self.sign[upper], self.sign[upper + 1]) {
            (Sign::Negative, _) => 1,
            (_, Sign::Negative) => -1,
            _ => 0,
        }
    }

    /// The system's own events among these, and the guards of the mode.
    pub(crate) fn part(&self, which: &[(usize, bool)]) -> (Vec<(usize, bool)>, Vec<usize>) {
        let own = which.iter().copied().filter(|(event, _)| *event < self.n_own).collect();
        (own, which.iter().filter(|(event, _)| *event >= self.n_own).map(|(event, _)| event - self.n_own).collect())
    }

    fn fill<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        let (own, guards) = self.values.split_at_mut(self.n_own);
        flow.fill_events(own)?;
        let (own_shapes, shapes) = self.shapes.split_at_mut(self.n_own);
        own_shapes.copy_from_slice(own);
        flow.fill_guards(guards, shapes, &mut self.floors[self.n_own..])?;
        self.tops.iter_mut().zip(&self.shapes).for_each(|(top, x)| *top = top.max(x.abs()));
        Ok(())
    }

    /// `true` if an event function is the system's own; the bounds of control forces follow these.
    pub(crate) fn is_of_system(&self, event: usize) -> bool {
        event < self.n_events
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Notes the signs at the state.
    pub(crate) fn restart<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        if self.is_empty() {
            return Ok(());
        }
        self.restart_conditions(flow);
        self.fill(flow)?;
        let n_conditions = self.rates.len();
        for (sign, x) in self.sign[n_conditions..].iter_mut().zip(&self.values[n_conditions..]) {
            *sign = Sign::of(*x);
        }
        // a force that is just as large as its bound has not reached it
        for (sign, x) in self.sign[self.n_events..self.n_own].iter_mut().zip(&self.values[self.n_events..]) {
            *sign = if *x >= 0.0 { Sign::Positive } else { Sign::Negative };
        }
        self.sign[self.n_own..].fill(Sign::Positive);
        for (k, rate) in self.rates.iter().enumerate() {
            let events = flow.smooth.dynamics.events();
            let is_strict = events.is_some_and(|events| events.is_strict(k));
            self.noise[k] = noise(rate, std::mem::take(&mut self.beyond[k]));
            let (sign, is_triggered) = restarted(self.sign[k], self.values[k], self.noise[k], rate, is_strict);
            self.sign[k] = sign;
            if is_triggered {
                self.triggered.push((k, true));
            }
        }
        self.subinterval = f64::INFINITY;
        Ok(())
    }

    /// The rates of the conditions at the state, whose acceleration has been found.
    fn restart_conditions<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) {
        self.triggered.clear();
        if self.rates.is_empty() {
            return;
        }
        let smooth = &mut flow.smooth;
        if let Some(events) = smooth.dynamics.events() {
            events.fill_condition_rates(&smooth.instant, &smooth.v_size, &mut self.rates);
        }
    }

    /// The conditions that the last restart has made true, as events at this time.
    pub(crate) fn take_triggered(&mut self, t: f64) -> Option<LocatedEvents> {
        let which: Vec<(usize, bool)> = self.triggered.drain(..).collect();
        (!which.is_empty()).then_some(LocatedEvents { t, which })
    }

    /// `true` if an event is the change of a condition.
    pub(crate) fn is_condition(&self, event: usize) -> bool {
        event < self.rates.len()
    }

    /// `true` if a condition is triggered again although it was not clearly false in between.
    pub(crate) fn has_returned(&self, event: usize) -> bool {
        self.is_condition(event) && self.sign[event] == Sign::Returned
    }

    /// These conditions have changed their sign: the motion restarts from there.
    pub(crate) fn note_conditions(&mut self, which: &[(usize, bool)]) {
        let n_conditions = self.rates.len();
        self.note(which, |event| event < n_conditions);
    }

    /// These functions have changed their sign, conditions excepted.
    pub(crate) fn passed(&mut self, which: &[(usize, bool)]) {
        let (n_conditions, n_own) = (self.rates.len(), self.n_own);
        self.note(which, |event| (n_conditions..n_own).contains(&event));
    }

    fn note(&mut self, which: &[(usize, bool)], counts: impl Fn(usize) -> bool) {
        for &(event, upwards) in which.iter().filter(|(event, _)| counts(*event)) {
            self.sign[event] = if upwards { Sign::Positive } else { Sign::Negative };
        }
    }

    fn set_state<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) {
        self.y.resize(step.y.len(), 0.0);
        step.values(t, &mut self.y);
        flow.smooth.set_state(t, &self.y);
    }

    fn evaluate_at<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        t: f64,
    ) -> Result<(), MotionError> {
        self.set_state(flow, step, t);
        self.fill(flow)
    }

    fn changed(&self) -> bool {
        self.values.iter().zip(&self.sign).any(|(x, sign)| sign.has_changed(*x))
    }

    /// `true` if a sign has changed, of gaps by more than the error of the steps: a smaller depth is grazing.
    fn is_clear<D: Dynamics + ?Sized>(&self, flow: &Flow<D>) -> bool {
        let signs = self.values.iter().zip(&self.sign).enumerate();
        let mut changed = signs.filter(|(_, (x, sign))| sign.has_changed(**x)).map(|(k, _)| k);
        changed.any(|k| {
            let is_open =
                k >= self.n_own && flow.contact.as_ref().is_some_and(|contact| contact.is_open(k - self.n_own));
            !is_open || self.shapes[k] < -self.floors[k]
        })
    }

    /// Gives functions that were zero the sign they have now.
    fn settle_signs(&mut self) {
        for (k, (sign, x)) in self.sign.iter_mut().zip(&self.values).enumerate() {
            *sign = sign.settled(*x, self.noise.get(k).copied().unwrap_or(0.0));
        }
    }

    /// The first change of sign in the step, to rounding: by bisection, which needs nothing of the function but its sign.
    ///
    /// A system at rest takes steps of any length, while the forces on it may oscillate; so samples do not follow the steps
    /// but the functions themselves.
    pub(crate) fn first<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
    ) -> Result<Option<LocatedEvents>, MotionError> {
        let mut samples = std::mem::take(&mut self.samples);
        let found = self.scan(flow, step, &mut samples);
        self.free_samples.append(&mut samples);
        self.samples = samples;
        match found? {
            Some((low, high)) => {
                let located = self.locate(flow, step, low, high)?;
                self.unsettle_signs(&located);
                Ok(Some(located))
            }
            None => Ok(None),
        }
    }

    /// Conditions that were leaving before the event are judged by their value there, not by samples beyond it.
    fn unsettle_signs(&mut self, located: &LocatedEvents) {
        for k in 0..self.rates.len() {
            if self.signs[k] == Sign::Leaving && !located.which.iter().any(|(event, _)| *event == k) {
                self.sign[k] = Sign::Leaving.settled(self.values[k], self.noise[k]);
            }
        }
    }

    /// Scans a step, one subinterval after the other: two times between which the first change lies.
    fn scan<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        samples: &mut Vec<EventSample>,
    ) -> Result<Option<(f64, f64)>, MotionError> {
        let longest = f64::min((step.end - step.start) / SUBINTERVALS, self.spacing * SAMPLES.len() as f64);
        // subintervals are never so short that time does not advance
        let shortest =
            f64::max(SHORTEST_SUBINTERVAL * longest, tolerance::MOMENT * step.end.abs().max(step.start.abs()));
        let mut subinterval = self.subinterval.min(longest).max(shortest);
        // a condition that was just triggered may become false and true again very soon
        let (mut growth, mut least) = (2.0, shortest);
        if self.sign.contains(&Sign::Leaving) {
            subinterval = self.window.instant(step.start).min(longest);
            (growth, least) = (DIVISIONS, 0.0);
        }
        samples.push(self.sample(flow, step, step.start)?);
        (samples[0].changed, samples[0].is_clear) = (false, false);
        loop {
            let low = samples[samples.len() - 1].t;
            if low >= step.end {
                // if nothing had to be divided, the next step may have any length
                self.subinterval = if subinterval < longest { subinterval } else { f64::INFINITY };
                return Ok(None);
            }
            let n_before = samples.len();
            self.signs.clone_from(&self.sign);
            let whole = subinterval.min(step.end - low);
            let seen = self.sample_subinterval(flow, step, whole, samples);
            // a function without a value somewhere may have changed before
            let is_resolved = seen.is_ok() && self.is_resolved(&samples[n_before - 1..]);
            if !is_resolved && whole > shortest {
                self.free_samples.extend(samples.drain(n_before..));
                self.sign.clone_from(&self.signs);
                subinterval = f64::max(whole / DIVISIONS, shortest);
                continue;
            }
            seen?;
            // of the subintervals before, two samples are enough to see a dip
            if let Some(between) = self.change(flow, step, samples, n_before.saturating_sub(2))? {
                return Ok(Some(between));
            }
            // if a gap has closed, though not yet clearly, its last opening is remembered
            let open = samples.iter().rposition(|sample| !sample.changed).unwrap_or(0);
            let n_over = open.min(samples.len() - 2);
            self.free_samples.extend(samples.drain(..n_over));
            subinterval = f64::min(growth * subinterval, longest).max(least);
        }
    }

    /// Samples a subinterval that follows the last sample, up to the first change at least.
    fn sample_subinterval<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        whole: f64,
        samples: &mut Vec<EventSample>,
    ) -> Result<(), MotionError> {
        let low = samples[samples.len() - 1].t;
        let is_last = !(low + (1.0 + EDGE_SAMPLE) * whole < step.end);
        let first = (low == step.start).then_some(EDGE_SAMPLE);
        let last = is_last.then_some(1.0 - EDGE_SAMPLE);
        let inner = SAMPLES[..SAMPLES.len() - 1].iter().copied();
        let mut has_changed = false;
        for part in first.into_iter().chain(inner).chain(last).chain([1.0]) {
            let t = if part == 1.0 && is_last { step.end } else { low + part * whole };
            match self.sample(flow, step, t) {
                Ok(sample) => {
                    has_changed |= sample.is_clear;
                    samples.push(sample);
                }
                // beyond the end of the mode its formulas may have no values
                Err(_) if has_changed => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sample<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        t: f64,
    ) -> Result<EventSample, MotionError> {
        self.evaluate_at(flow, step, t)?;
        if t > step.start {
            self.settle_signs();
        }
        let changed = self.changed();
        // beyond the step there are no more samples
        let is_clear = self.is_clear(flow) || (changed && t >= step.end);
        self.set_state(flow, step, t);
        let mut sample = self.free_samples.pop().unwrap_or_default();
        (sample.t, sample.changed, sample.is_clear) = (t, changed, is_clear);
        sample.shapes.clone_from(&self.shapes);
        flow.fill_closing(&mut sample.rates)?;
        Ok(sample)
    }

    /// `true` if a parabola through the ends and the middle of a subinterval agrees with the samples between, wherever a
    /// function could reach zero.
    fn is_resolved(&self, samples: &[EventSample]) -> bool {
        let [first, .., last] = samples else { return true };
        let nearest = |part: f64| {
            let t = first.t + part * (last.t - first.t);
            samples.iter().min_by(|x, y| (x.t - t).abs().total_cmp(&(y.t - t).abs())).unwrap_or(first)
        };
        let [left, middle, right] = [SAMPLES[0], SAMPLES[1], SAMPLES[2]].map(nearest);
        if !(first.t < left.t && left.t < middle.t && middle.t < right.t && right.t < last.t) {
            return true;
        }
        (0..self.shapes.len()).all(|k| {
            let [x, y, z] = [first, middle, last].map(|sample| (sample.t, sample.shapes[k]));
            let error = |sample: &EventSample| (parabola(x, y, z, sample.t) - sample.shapes[k]).abs();
            let error = f64::max(error(left), error(right));
            let sizes = || samples.iter().map(|sample| sample.shapes[k].abs());
            let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
            error <= ERROR_TO_ZERO * least || error <= RESOLVED.0 * most + RESOLVED.1 * self.tops[k] + self.floors[k]
        })
    }

    /// Two times between which a sign changes, at a sample after the first one or in a dip between samples.
    fn change<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        samples: &[EventSample],
        first: usize,
    ) -> Result<Option<(f64, f64)>, MotionError> {
        for k in first + 1..samples.len() {
            if samples[k].is_clear {
                let before = samples[..k].iter().rposition(|sample| !sample.changed).unwrap_or(0);
                return Ok(Some((samples[before].t, samples[k].t)));
            }
            if let Some(low) = self.dip(flow, step, &samples[k - 1], &samples[k])? {
                return Ok(Some((samples[k - 1].t, low)));
            }
            if k >= first + 2
                && let Some(low) = self.sag(flow, step, [&samples[k - 2], &samples[k - 1], &samples[k]])?
            {
                return Ok(Some((samples[k - 2].t, low)));
            }
        }
        Ok(None)
    }

    /// A time at which a gap is closed that closes at one sample and opens at the next.
    fn dip<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        before: &EventSample,
        after: &EventSample,
    ) -> Result<Option<f64>, MotionError> {
        let n = before.rates.len();
        for c in (0..n).filter(|&c| before.rates[c] < 0.0 && after.rates[c] > 0.0) {
            let (mut low, mut high) = (before.t, after.t);
            for _ in 0..limits::LOWEST_POINT_HALVINGS {
                let middle = 0.5 * (low + high);
                self.set_state(flow, step, middle);
                if flow.closing_rate(c)? < 0.0 { low = middle } else { high = middle }
            }
            self.evaluate_at(flow, step, low)?;
            if self.is_clear(flow) {
                return Ok(Some(low));
            }
        }
        Ok(None)
    }

    /// A time at which a function has changed its sign that is nearer to zero at the middle sample than at its neighbours.
    fn sag<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        [a, b, c]: [&EventSample; 3],
    ) -> Result<Option<f64>, MotionError> {
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        /// A dip that a parabola does not take below this fraction of the middle sample is not examined.
        const SHALLOW: f64 = 0.3;
        for k in 0..self.shapes.len() {
            let Some(sign) = self.sign[k].factor() else { continue };
            let [x, y, z] = [a, b, c].map(|sample| (sample.t, sign * sample.shapes[k]));
            let depth = f64::max(x.1, z.1) - y.1;
            if !(y.1 < x.1 && y.1 <= z.1 && depth > RESOLVED.1 * self.floors[k]) || vertex(x, y, z) > SHALLOW * y.1 {
                continue;
            }
            let (mut low, mut high) = (a.t, c.t);
            let (mut left, mut right) = (low + GOLDEN * (high - low), high - GOLDEN * (high - low));
            for _ in 0..limits::LOWEST_POINT_SHORTENINGS {
                let mut depth = |t: f64| -> Result<(f64, bool), MotionError> {
                    self.evaluate_at(flow, step, t)?;
                    Ok((sign * self.shapes[k], self.is_clear(flow)))
                };
                let (of_left, of_right) = (depth(left)?, depth(right)?);
                if of_left.1 || of_right.1 {
                    return Ok(Some(if of_left.1 { left } else { right }));
                }
                if of_left.0 < of_right.0 {
                    high = right
                } else {
                    low = left
                }
                (left, right) = (low + GOLDEN * (high - low), high - GOLDEN * (high - low));
            }
        }
        Ok(None)
    }

    /// The change between two times, to rounding. A contact that is entered deeply enough took its impulse where its gap
    /// closed.
    fn locate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        mut low: f64,
        mut high: f64,
    ) -> Result<LocatedEvents, MotionError> {
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            self.evaluate_at(flow, step, middle)?;
            if self.changed() {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.evaluate_at(flow, step, high)?;
        let signs = self.values.iter().zip(&self.sign).enumerate();
        let changed = signs.filter(|(_, (x, sign))| sign.has_changed(**x));
        let which: Vec<(usize, bool)> = changed.map(|(k, (x, _))| (k, *x > 0.0)).collect();
        for &(event, _) in which.iter().filter(|(event, _)| *event < self.rates.len()) {
            self.beyond[event] = self.values[event].abs();
        }
        Ok(LocatedEvents { t: high, which })
    }
}

/// The parabola through three points, at t.
fn parabola(x: (f64, f64), y: (f64, f64), z: (f64, f64), t: f64) -> f64 {
    let first = (y.1 - x.1) / (y.0 - x.0);
    let second = ((z.1 - y.1) / (z.0 - y.0) - first) / (z.0 - x.0);
    x.1 + (t - x.0) * (first + (t - y.0) * second)
}

/// The lowest value of the parabola through three points of which the middle one is lowest.
fn vertex(x: (f64, f64), y: (f64, f64), z: (f64, f64)) -> f64 {
    let (left, right) = ((y.1 - x.1) / (y.0 - x.0), (z.1 - y.1) / (z.0 - y.0));
    let second = (right - left) / (z.0 - x.0);
    let slope = left + second * (y.0 - x.0);
    if second > 0.0 { y.1 - 0.25 * slope * slope / second } else { y.1 }
}
