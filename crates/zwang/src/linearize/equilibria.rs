//! Equilibria, sought from the start and from random positions around it.

use zwang_motion::{Settings, State};

use crate::analysis::dot;
use crate::analysis::start::units;
use crate::linearize::echelon::largest;
use crate::linearize::linearizer::Linearizer;
use crate::linearize::timed::is_timed;
use crate::linearize::{Linearized, MotionKind, linearize_knowing};
use crate::random::Random;
use crate::{analysis::check::Check, limits, tolerance};

/// The distance, as a multiple of the reach of the search, beyond which a force decays rather than vanishes.
const FARTHEST_ROOT: f64 = 1e4;

/// The equilibria found from the start and from random positions around it. The positions of the start come first if
/// they are an equilibrium, then the lowest potential, with one equilibrium of each family. If the equations change
/// with the time, only equilibria that rest at all times count.
pub fn equilibria(check: &mut Check, settings: &Settings) -> Vec<Linearized> {
    let is_timed = is_timed(check);
    let mut search = EquilibriumSearch { found: Vec::new(), linearizer: Linearizer::new(check, settings) };
    let start = check.state.clone();
    let reach = reaches(check);
    for seed in 0..=limits::EQUILIBRIUM_STARTS {
        let mut state = State { qdot: vec![0.0; start.q.len()], ..start.clone() };
        if seed > 0 {
            let mut random = Random::new(seed);
            state.q.iter_mut().zip(&reach).for_each(|(q, reach)| *q += reach * random.next());
        }
        let Some(rest) = search.rest_near(check, state) else { continue };
        let is_far = |((x, y), reach): ((&f64, &f64), &f64)| (x - y).abs() > FARTHEST_ROOT * reach;
        if rest.q.iter().zip(&start.q).zip(&reach).any(is_far) {
            continue;
        }
        let rest = search.upright(check, rest);
        let Ok(linear) = linearize_knowing(check, &rest, settings, is_timed) else { continue };
        if linear.place == MotionKind::Equilibrium && !search.is_known(check, &linear) {
            search.add(check, linear);
        }
    }
    let mut found = search.found;
    found.sort_by(|x, y| x.potential.total_cmp(&y.potential));
    // moving or not, the start is the user's own state
    if let Some(at) = found.iter().position(|x| is_close(&x.state.q, &start.q, tolerance::SAME_EQUILIBRIUM)) {
        found[..=at].rotate_right(1);
    }
    found
}

/// The distance from the start to which each coordinate is varied.
pub(super) fn reaches(check: &Check) -> Vec<f64> {
    let q = &check.state.q;
    let mass: Vec<f64> = (0..q.len()).map(|k| check.snapshot.given.mass_matrix.get(k, k)).collect();
    let unit = units(&mass, q);
    // pure numbers may be angles: a whole turn is tried
    (0..q.len()).map(|k| if check.system.unit(k).is_none() { 3.2 } else { 2.0 * unit[k] }).collect()
}

/// `true` if positions are equal, or differ by whole turns.
fn is_close(x: &[f64], y: &[f64], close: f64) -> bool {
    let turn = std::f64::consts::TAU;
    x.iter().zip(y).all(|(x, y)| {
        let apart = (x - y).abs();
        apart <= close * (1.0 + x.abs()) || (apart / turn - (apart / turn).round()).abs() <= close
    })
}

/// `true` if both have the same eigenvalues; rounding may change their order.
fn is_alike(x: &Linearized, y: &Linearized) -> bool {
    let has_all = |x: &Linearized, y: &Linearized| {
        x.modes.iter().all(|m| {
            let same = |(re, im): (f64, f64)| {
                (m.value.0 - re).hypot(m.value.1 - im)
                    <= tolerance::SAME_EIGENVALUE * (1.0 + m.value.0.hypot(m.value.1))
            };
            y.modes.iter().any(|other| same(other.value))
        })
    };
    has_all(x, y) && has_all(y, x)
}

struct EquilibriumSearch<'s> {
    found: Vec<Linearized>,
    linearizer: Linearizer<'s>,
}

impl EquilibriumSearch<'_> {
    /// `true` if an equilibrium, or one of its family, was found before.
    fn is_known(&mut self, check: &mut Check, new: &Linearized) -> bool {
        for at in 0..self.found.len() {
            let known = &self.found[at];
            let close = if known.zeros.count > 0 && new.zeros.count > 0 {
                tolerance::SAME_MULTIPLE_ROOT
            } else {
                tolerance::SAME_EQUILIBRIUM
            };
            if is_alike(known, new) && is_close(&known.state.q, &new.state.q, close) {
                return true;
            }
            let (from, n_family) = (known.state.clone(), known.family.len());
            if n_family == 0 || new.zeros.count == 0 {
                continue;
            }
            let is_same = match from.q.len() <= limits::FOLLOWED_COORDINATES {
                true => self.leads_to(check, from, &new.state.q),
                false => is_alike(known, new) && (known.potential - new.potential).abs() <= tolerance::SAME_EQUILIBRIUM,
            };
            if is_same {
                return true;
            }
        }
        false
    }

    /// Adds an equilibrium, with the coordinates that change along its family.
    fn add(&mut self, check: &mut Check, mut new: Linearized) {
        if new.zeros.count > 0 && self.linearizer.look(check, &new.state).is_ok() {
            for direction in self.linearizer.free_directions(check, &new.state).unwrap_or_default() {
                let mut beside = new.state.clone();
                beside.q.iter_mut().zip(&direction).for_each(|(q, d)| *q += tolerance::FAMILY_STEP * d);
                let wanted = beside.q.clone();
                let Some(there) = self.rest_near(check, beside) else { continue };
                let off = there.q.iter().zip(&wanted).fold(0.0_f64, |top, (x, y)| top.max((x - y).abs()));
                if off <= 0.1 * tolerance::FAMILY_STEP {
                    new.family.extend((0..direction.len()).filter(|&k| direction[k].abs() > tolerance::NEGLIGIBLE));
                }
            }
            new.family.sort_unstable();
            new.family.dedup();
        }
        self.found.push(new);
    }

    /// `true` if a continuous family of equilibria leads from one to another: it is followed with a correction after
    /// each step.
    fn leads_to(&mut self, check: &mut Check, mut here: State, q: &[f64]) -> bool {
        let turn = std::f64::consts::TAU;
        let pure: Vec<bool> = (0..q.len()).map(|k| check.system.unit(k).is_none()).collect();
        for left in (1..=limits::FAMILY_STEPS).rev().chain([1; limits::FAMILY_MORE_STEPS]) {
            if is_close(&here.q, q, tolerance::SAME_EQUILIBRIUM) {
                return true;
            }
            let mut gap: Vec<f64> = q.iter().zip(&here.q).map(|(x, y)| x - y).collect();
            gap.iter_mut().zip(&pure).filter(|(_, pure)| **pure).for_each(|(g, _)| *g -= turn * (*g / turn).round());
            if self.linearizer.look(check, &here).is_err() {
                return false;
            }
            let Some(directions) = self.linearizer.free_directions(check, &here) else { return false };
            for direction in &directions {
                let part = dot(&gap, direction) / left as f64;
                here.q.iter_mut().zip(direction).for_each(|(q, d)| *q += part * d);
            }
            let Some(next) = self.rest_near(check, here) else { return false };
            here = next;
        }
        is_close(&here.q, q, tolerance::SAME_EQUILIBRIUM)
    }

    /// An equilibrium near a guess, by Newton's method along the constraints; `None` if that does not converge.
    ///
    /// For a root of multiplicity m each step leaves (m − 1)/m of the distance, which reveals m: the step is then
    /// multiplied by m.
    fn rest_near(&mut self, check: &mut Check, guess: State) -> Option<State> {
        /// The fraction at which two full steps are tried before shorter ones; a power of one half.
        const TWO_STEPS: f64 = 0.125;
        let mut state = self.linearizer.at_rest(check, guess)?;
        self.linearizer.look(check, &state).ok()?;
        let mut size = self.linearizer.push();
        let (mut last, mut n_left) = (f64::INFINITY, limits::EQUILIBRIUM_STEPS);
        while n_left > 0 {
            let Some(step) = self.linearizer.newton_step(check, &state) else { break };
            let length = dot(&step, &step).sqrt();
            // the step is halved until the acceleration decreases
            let is_rest = self.linearizer.place(&state) == MotionKind::Equilibrium;
            let mut part = 1.0;
            let mut next = None;
            while next.is_none() && part >= tolerance::SHORTEST_STEP && !(is_rest && part < 1.0) {
                next = self.moved(check, &state, &step, part).filter(|(_, push)| *push < size);
                part *= 0.5;
                // along a curved valley a step may first increase the acceleration, until the next one decreases it
                if next.is_none() && (is_rest || part == TWO_STEPS) {
                    next = self.two_steps(check, &state, &step, size);
                }
            }
            let Some(mut next) = next else { break };
            if let Some(m) = multiplicity(length / last) {
                let further = self.moved(check, &state, &step, m);
                next = further.filter(|(_, push)| *push < next.1).unwrap_or(next);
            }
            (state, size) = next;
            last = length;
            n_left -= 1;
            self.linearizer.look(check, &state).ok()?;
            if size == 0.0 {
                break;
            }
        }
        if n_left == 0 && last > tolerance::DIVERGING_STEP * (1.0 + largest(&state.q)) {
            return None;
        }
        self.linearizer.look(check, &state).ok()?;
        (self.linearizer.place(&state) == MotionKind::Equilibrium).then(|| self.rounded(check, state, size))
    }

    /// The full step and the one after it, if the acceleration decreases.
    fn two_steps(&mut self, check: &mut Check, state: &State, step: &[f64], size: f64) -> Option<(State, f64)> {
        let (between, _) = self.moved(check, state, step, 1.0)?;
        let second = self.linearizer.newton_step(check, &between)?;
        self.moved(check, &between, &second, 1.0).filter(|(_, push)| *push < size)
    }

    /// A fraction of a step, projected onto the constraints and at rest, with the largest acceleration there.
    fn moved(&mut self, check: &mut Check, state: &State, step: &[f64], part: f64) -> Option<(State, f64)> {
        let mut next = state.clone();
        next.q.iter_mut().zip(step).for_each(|(q, d)| *q += part * d);
        let next = self.linearizer.at_rest(check, next)?;
        self.linearizer.look(check, &next).ok()?;
        Some((next, self.linearizer.push()))
    }

    /// The equilibrium with small coordinates set to zero, if the acceleration does not increase.
    fn rounded(&mut self, check: &mut Check, state: State, size: f64) -> State {
        let mut other = state.clone();
        other.q.iter_mut().filter(|q| q.abs() <= tolerance::ROUNDED_ROOT).for_each(|q| *q = 0.0);
        if other.q == state.q {
            return state;
        }
        let free =
            self.linearizer.snapshot.found.unconstrained_acceleration.iter().fold(1.0_f64, |top, a| top.max(a.abs()));
        let still = vec![0.0; state.q.len()];
        match self.moved(check, &other, &still, 0.0) {
            Some((there, push)) if push <= size.max(tolerance::RESIDUAL_ROUNDING * free) => there,
            _ => state,
        }
    }

    /// The equilibrium without whole turns, for pure numbers that are angles.
    fn upright(&mut self, check: &mut Check, state: State) -> State {
        let turn = std::f64::consts::TAU;
        let mut best = state;
        let pure: Vec<usize> = (0..best.q.len()).filter(|&k| check.system.unit(k).is_none()).collect();
        for k in pure {
            let turns = (best.q[k] / turn).round();
            if turns == 0.0 {
                continue;
            }
            let mut other = best.clone();
            other.q[k] -= turns * turn;
            let wanted = other.q.clone();
            let there = self.linearizer.at_rest(check, other).filter(|there| {
                let stayed = there.q.iter().zip(&wanted).all(|(x, y)| (x - y).abs() <= tolerance::STAYS);
                stayed
                    && self.linearizer.look(check, there).is_ok()
                    && self.linearizer.place(there) == MotionKind::Equilibrium
            });
            best = there.unwrap_or(best);
        }
        best
    }
}

/// The factor of a step if each step is this fraction of the previous one.
fn multiplicity(ratio: f64) -> Option<f64> {
    /// The fractions of multiple roots: a simple root leaves less, and a root of higher multiplicity is flat to all
    /// digits.
    const OF_ROOTS: std::ops::Range<f64> = 0.4..0.9;
    OF_ROOTS.contains(&ratio).then(|| (1.0 / (1.0 - ratio)).round())
}
