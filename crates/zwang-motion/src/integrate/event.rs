//! Quantities that change their sign during a step, located on its dense output.

use super::step::Step;
use crate::{Dynamics, MotionError, flow::Flow};

/// A watched quantity changed its sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub t: f64,
    /// Which of the watched quantities.
    pub event: usize,
    /// From negative to positive.
    pub upwards: bool,
}

/// The first events of a step: when, and which in which direction.
pub(crate) struct Found {
    pub(crate) t: f64,
    pub(crate) which: Vec<(usize, bool)>,
}

/// The signs of the watched quantities at the start of the step.
pub(crate) struct Watch {
    /// None for one that is zero where the watch began.
    positive: Vec<Option<bool>>,
    /// How many are the system's own; then come bounds of forces, two for each; the rest are ends of the mode, positive
    /// while it lasts.
    n_events: usize,
    n_own: usize,
    values: Vec<f64>,
    /// The same as continuous quantities: of an open contact its gap.
    shapes: Vec<f64>,
    /// What does not matter of each.
    floors: Vec<f64>,
    /// The largest of each so far.
    tops: Vec<f64>,
    /// The longest time between two looks.
    spacing: f64,
    /// The length of the next panel, where the last ones had to be cut.
    panel: f64,
    y: Vec<f64>,
    /// Looks, old ones whose room is used again, and the signs before a panel.
    looks: Vec<Look>,
    spare: Vec<Look>,
    signs: Vec<Option<bool>>,
}

/// A step is looked through in so many panels at least.
const PANELS: f64 = 2.0;

/// Looks in a panel, as parts of it: irregular, so that nothing periodic looks constant.
const LOOKS: [f64; 4] = [0.23, 0.47, 0.74, 1.0];

/// The first and the last panel of a step have one more look, near the end of the step: a dip there has no neighbour beyond.
const EDGE: f64 = 0.02;

/// Looks in a run at least: what happens within a thousandth of the run is met, whether or not the state moves.
const LOOKS_IN_RUN: f64 = 1000.0;

/// Panels in which a quantity is not resolved are cut into so many, and down to this part of the longest.
const CUT: f64 = 4.0;
const SHORTEST: f64 = 1.0 / 4096.0;

/// Beside the time, a panel shorter than this has no room for looks.
const MOMENT: f64 = 256.0 * f64::EPSILON;

/// Beside its distance from zero, and beside its size in the panel or in the whole run, a quantity may be missed by this part.
const MISSED: f64 = 0.2;
const RESOLVED: (f64, f64) = (0.02, 1e-6);

/// One look at the watched quantities.
#[derive(Default)]
struct Look {
    t: f64,
    /// Whether something has changed its sign, and whether so clearly that it is no error of the steps.
    changed: bool,
    is_clear: bool,
    shapes: Vec<f64>,
    /// How fast the gaps of open contacts change.
    rates: Vec<f64>,
}

impl Watch {
    pub(crate) fn new(n_events: usize, n_bounds: usize, n_turns: usize, run: f64) -> Watch {
        let n_own = n_events + n_bounds;
        let n = n_own + n_turns;
        Watch {
            positive: vec![None; n],
            n_events,
            n_own,
            values: vec![0.0; n],
            shapes: vec![0.0; n],
            floors: vec![0.0; n],
            tops: vec![0.0; n],
            spacing: run / LOOKS_IN_RUN,
            panel: f64::INFINITY,
            y: Vec::new(),
            looks: Vec::new(),
            spare: Vec::new(),
            signs: Vec::new(),
        }
    }

    /// How long the next step may be, so that what is watched, and what is read off beside it, is seen in it.
    pub(crate) fn longest_step(&self) -> f64 {
        2.0 * PANELS * self.panel
    }

    /// The bound at which a force is, of the two watched from here on: 1 the upper one, −1 the lower one, 0 none.
    pub(crate) fn side(&self, upper: usize) -> i8 {
        match (self.positive[upper], self.positive[upper + 1]) {
            (Some(false), _) => 1,
            (_, Some(false)) => -1,
            _ => 0,
        }
    }

    /// The system's own events among these, and the ends of the mode.
    pub(crate) fn part(&self, which: &[(usize, bool)]) -> (Vec<(usize, bool)>, Vec<usize>) {
        let own = which.iter().copied().filter(|(event, _)| *event < self.n_own).collect();
        (own, which.iter().filter(|(event, _)| *event >= self.n_own).map(|(event, _)| event - self.n_own).collect())
    }

    fn fill<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        let (own, turns) = self.values.split_at_mut(self.n_own);
        flow.fill_watched(own)?;
        let (own_shapes, shapes) = self.shapes.split_at_mut(self.n_own);
        own_shapes.copy_from_slice(own);
        flow.fill_turns(turns, shapes, &mut self.floors[self.n_own..])?;
        self.tops.iter_mut().zip(&self.shapes).for_each(|(top, x)| *top = top.max(x.abs()));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Notes the signs where the flow stands.
    pub(crate) fn begin<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>) -> Result<(), MotionError> {
        if self.is_empty() {
            return Ok(());
        }
        self.fill(flow)?;
        self.positive.iter_mut().zip(&self.values).for_each(|(sign, x)| *sign = (*x != 0.0).then_some(*x > 0.0));
        // a force that is just as large as its bound has not come to it
        for (sign, x) in self.positive[self.n_events..self.n_own].iter_mut().zip(&self.values[self.n_events..]) {
            *sign = Some(*x >= 0.0);
        }
        self.positive[self.n_own..].fill(Some(true));
        self.panel = f64::INFINITY;
        Ok(())
    }

    /// These quantities have changed their sign.
    pub(crate) fn passed(&mut self, which: &[(usize, bool)]) {
        let own = which.iter().filter(|(event, _)| *event < self.n_own);
        own.for_each(|&(event, upwards)| self.positive[event] = Some(upwards));
    }

    fn place<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) {
        self.y.resize(step.y.len(), 0.0);
        step.values(t, &mut self.y);
        flow.place(t, &self.y);
    }

    fn at<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) -> Result<(), MotionError> {
        self.place(flow, step, t);
        self.fill(flow)
    }

    fn changed(&self) -> bool {
        self.values.iter().zip(&self.positive).any(|(x, sign)| has_changed(*x, *sign))
    }

    /// Whether something has changed its sign, gaps by more than the error of the steps: what is less deep was grazed.
    fn is_clear<D: Dynamics + ?Sized>(&self, flow: &Flow<D>) -> bool {
        let signs = self.values.iter().zip(&self.positive).enumerate();
        let mut changed = signs.filter(|(_, (x, sign))| has_changed(**x, **sign)).map(|(k, _)| k);
        changed.any(|k| {
            let is_open = k >= self.n_own && flow.modes.closed.get(k - self.n_own) == Some(&false);
            !is_open || self.shapes[k] < -self.floors[k]
        })
    }

    /// Gives those that were zero the sign they have now.
    fn settle(&mut self) {
        for (sign, x) in self.positive.iter_mut().zip(&self.values).filter(|(sign, x)| sign.is_none() && **x != 0.0) {
            *sign = Some(*x > 0.0);
        }
    }

    /// The first change of sign in the step, to rounding: by bisection, which asks nothing of the quantity but its sign.
    ///
    /// A system at rest takes steps of any length, while the forces on it may go up and down; so the looks do not follow the
    /// steps but the quantities themselves.
    pub(crate) fn first<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
    ) -> Result<Option<Found>, MotionError> {
        let mut looks = std::mem::take(&mut self.looks);
        let found = self.scan(flow, step, &mut looks);
        self.spare.append(&mut looks);
        self.looks = looks;
        match found? {
            Some((low, high)) => self.locate(flow, step, low, high).map(Some),
            None => Ok(None),
        }
    }

    /// Looks through a step, panel by panel: two times between which something changes first.
    fn scan<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        looks: &mut Vec<Look>,
    ) -> Result<Option<(f64, f64)>, MotionError> {
        let longest = f64::min((step.end - step.start) / PANELS, self.spacing * LOOKS.len() as f64);
        // panels are never so short that time does not move on
        let shortest = f64::max(SHORTEST * longest, MOMENT * step.end.abs().max(step.start.abs()));
        let mut panel = self.panel.min(longest).max(shortest);
        looks.push(self.look(flow, step, step.start)?);
        (looks[0].changed, looks[0].is_clear) = (false, false);
        loop {
            let low = looks[looks.len() - 1].t;
            if low >= step.end {
                // where nothing had to be cut the next step may be as long as it likes
                self.panel = if panel < longest { panel } else { f64::INFINITY };
                return Ok(None);
            }
            let n_before = looks.len();
            self.signs.clone_from(&self.positive);
            let whole = panel.min(step.end - low);
            let seen = self.look_through(flow, step, whole, looks);
            // what has no value somewhere may have changed before
            let is_resolved = seen.is_ok() && self.is_resolved(&looks[n_before - 1..]);
            if !is_resolved && whole > shortest {
                self.spare.extend(looks.drain(n_before..));
                self.positive.clone_from(&self.signs);
                panel = f64::max(whole / CUT, shortest);
                continue;
            }
            seen?;
            // of the panels before, two looks are enough to see a dip
            if let Some(between) = self.change(flow, step, looks, n_before.saturating_sub(2))? {
                return Ok(Some(between));
            }
            // where a gap has closed, though not yet clearly, its last opening is remembered
            let open = looks.iter().rposition(|look| !look.changed).unwrap_or(0);
            let n_over = open.min(looks.len() - 2);
            self.spare.extend(looks.drain(..n_over));
            panel = f64::min(2.0 * panel, longest).max(shortest);
        }
    }

    /// Looks at a panel that follows the last look, up to the first change at least.
    fn look_through<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        whole: f64,
        looks: &mut Vec<Look>,
    ) -> Result<(), MotionError> {
        let low = looks[looks.len() - 1].t;
        let is_last = !(low + (1.0 + EDGE) * whole < step.end);
        let first = (low == step.start).then_some(EDGE);
        let last = is_last.then_some(1.0 - EDGE);
        let inner = LOOKS[..LOOKS.len() - 1].iter().copied();
        let mut has_changed = false;
        for part in first.into_iter().chain(inner).chain(last).chain([1.0]) {
            let t = if part == 1.0 && is_last { step.end } else { low + part * whole };
            match self.look(flow, step, t) {
                Ok(look) => {
                    has_changed |= look.is_clear;
                    looks.push(look);
                }
                // beyond the place where the mode ends its formulas may have no values
                Err(_) if has_changed => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn look<D: Dynamics + ?Sized>(&mut self, flow: &mut Flow<D>, step: &Step, t: f64) -> Result<Look, MotionError> {
        self.at(flow, step, t)?;
        if t > step.start {
            self.settle();
        }
        let changed = self.changed();
        // beyond the step nobody looks again
        let is_clear = self.is_clear(flow) || (changed && t >= step.end);
        self.place(flow, step, t);
        let mut look = self.spare.pop().unwrap_or_default();
        (look.t, look.changed, look.is_clear) = (t, changed, is_clear);
        look.shapes.clone_from(&self.shapes);
        flow.fill_closing(&mut look.rates)?;
        Ok(look)
    }

    /// Whether a parabola through the ends and the middle of a panel meets the looks between, wherever a quantity could reach
    /// zero.
    fn is_resolved(&self, looks: &[Look]) -> bool {
        let [first, .., last] = looks else { return true };
        let at = |part: f64| {
            let t = first.t + part * (last.t - first.t);
            looks.iter().min_by(|x, y| (x.t - t).abs().total_cmp(&(y.t - t).abs())).unwrap_or(first)
        };
        let [left, middle, right] = [LOOKS[0], LOOKS[1], LOOKS[2]].map(at);
        if !(first.t < left.t && left.t < middle.t && middle.t < right.t && right.t < last.t) {
            return true;
        }
        (0..self.shapes.len()).all(|k| {
            let [x, y, z] = [first, middle, last].map(|look| (look.t, look.shapes[k]));
            let missed = |look: &Look| (parabola(x, y, z, look.t) - look.shapes[k]).abs();
            let missed = f64::max(missed(left), missed(right));
            let sizes = || looks.iter().map(|look| look.shapes[k].abs());
            let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
            missed <= MISSED * least || missed <= RESOLVED.0 * most + RESOLVED.1 * self.tops[k] + self.floors[k]
        })
    }

    /// Two times between which something changes its sign, at a look after the first one or in a dip between looks.
    fn change<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        looks: &[Look],
        first: usize,
    ) -> Result<Option<(f64, f64)>, MotionError> {
        for k in first + 1..looks.len() {
            if looks[k].is_clear {
                let before = looks[..k].iter().rposition(|look| !look.changed).unwrap_or(0);
                return Ok(Some((looks[before].t, looks[k].t)));
            }
            if let Some(low) = self.dip(flow, step, &looks[k - 1], &looks[k])? {
                return Ok(Some((looks[k - 1].t, low)));
            }
            if k >= first + 2
                && let Some(low) = self.sag(flow, step, [&looks[k - 2], &looks[k - 1], &looks[k]])?
            {
                return Ok(Some((looks[k - 2].t, low)));
            }
        }
        Ok(None)
    }

    /// Where a gap that closes at one look and opens at the next has closed altogether between them: a place inside.
    fn dip<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        before: &Look,
        after: &Look,
    ) -> Result<Option<f64>, MotionError> {
        /// Halvings until the nearest place is met to rounding of its depth.
        const HALVINGS: usize = 40;
        let n = before.rates.len();
        for c in (0..n).filter(|&c| before.rates[c] < 0.0 && after.rates[c] > 0.0) {
            let (mut low, mut high) = (before.t, after.t);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                self.place(flow, step, middle);
                if flow.closing_rate(c)? < 0.0 { low = middle } else { high = middle }
            }
            self.at(flow, step, low)?;
            if self.is_clear(flow) {
                return Ok(Some(low));
            }
        }
        Ok(None)
    }

    /// Where a quantity that is nearer to zero at the middle look than at its neighbours has changed its sign around it.
    fn sag<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        [a, b, c]: [&Look; 3],
    ) -> Result<Option<f64>, MotionError> {
        /// Shortenings by the golden section until the lowest place is met to rounding of its depth.
        const SHORTENINGS: usize = 40;
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        /// A dip that a parabola takes not below this part of the middle look is not looked at.
        const SHALLOW: f64 = 0.3;
        for k in 0..self.shapes.len() {
            let Some(positive) = self.positive[k] else { continue };
            let sign = if positive { 1.0 } else { -1.0 };
            let [x, y, z] = [a, b, c].map(|look| (look.t, sign * look.shapes[k]));
            let depth = f64::max(x.1, z.1) - y.1;
            if !(y.1 < x.1 && y.1 <= z.1 && depth > RESOLVED.1 * self.floors[k]) || vertex(x, y, z) > SHALLOW * y.1 {
                continue;
            }
            let (mut low, mut high) = (a.t, c.t);
            let (mut left, mut right) = (low + GOLDEN * (high - low), high - GOLDEN * (high - low));
            for _ in 0..SHORTENINGS {
                let mut depth = |t: f64| -> Result<(f64, bool), MotionError> {
                    self.at(flow, step, t)?;
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

    /// The change between two times to rounding. A contact that is entered deeply enough was struck where its gap closed.
    fn locate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &Step,
        mut low: f64,
        mut high: f64,
    ) -> Result<Found, MotionError> {
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            self.at(flow, step, middle)?;
            if self.changed() {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.at(flow, step, high)?;
        let signs = self.values.iter().zip(&self.positive).enumerate();
        let which = signs.filter(|(_, (x, sign))| has_changed(**x, **sign)).map(|(k, (x, _))| (k, *x > 0.0)).collect();
        Ok(Found { t: high, which })
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

/// Whether a quantity has the other sign than it had. Zero has none, so that a step never starts on the edge itself.
fn has_changed(x: f64, positive: Option<bool>) -> bool {
    positive.is_some_and(|positive| if positive { x < 0.0 } else { x > 0.0 })
}
