//! Impact: the velocities jump to the nearest that the contacts allow.

use super::blow::{Blows, NoOutcome};
use super::touching::Touching;
use super::*;
use crate::unilateral::{NoPushes, Side, Tamed, complementarity};

/// A contact that was struck, and how fast it opens again.
pub(super) struct Bounce {
    pub(super) contact: usize,
    pub(super) rate: f64,
}

/// What a blow has done.
#[derive(Default)]
pub(super) struct Blow {
    /// Contacts that were closing and open again.
    pub(super) bounces: Vec<Bounce>,
    /// The normal impulse of each contact that touches.
    pub(super) impulses: Vec<(usize, f64)>,
}

impl Blow {
    /// The contacts that took an impulse.
    pub(super) fn struck(&self) -> Vec<usize> {
        /// Beside the largest impulse, one below this is rounding.
        const NOTHING: f64 = 1e-12;
        let top = self.impulses.iter().fold(0.0, |top: f64, (_, p)| top.max(*p));
        self.impulses.iter().filter(|(_, p)| *p > NOTHING * top).map(|(c, _)| *c).collect()
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// Impact, all contacts at once: of the velocities the contacts allow the one nearest to that before, Moreau's law.
    ///
    /// $$ \min\ (v^+ - v^-)^T M (v^+ - v^-) \quad\text{subject to}\quad \dot g^+ \ge \max(-e\,\dot g^-, 0) $$
    pub(super) fn strike(&mut self, touching: &Touching, stopped: &[bool]) -> Result<Blow, Outcome> {
        let flow = &mut self.flow;
        flow.place(self.t, &self.y);
        let rates = flow.rates().map_err(Outcome::Failed)?;
        let noise: Vec<f64> = touching.normals().iter().map(|&row| flow.rate_noise(&[row])).collect();
        let before: Vec<f64> = touching.normals().iter().map(|&row| rates[row]).collect();
        if before.iter().zip(&noise).all(|(rate, noise)| *rate >= -noise) {
            return Ok(Blow::default());
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
        let bounces = (0..before.len()).filter(opens).map(bounce).collect();
        Ok(Blow { bounces, impulses: touching.contacts.iter().copied().zip(impulses).collect() })
    }

    /// Impulses that make no energy. Newton's restitution may, with friction or with several coefficients at once (Kane and
    /// Levinson), or it may ask for what no impulse inside the cones does, as where a rough wedge jams; then all coefficients are
    /// lowered by the same part, just so far as they must. Without any restitution no energy is ever made:
    /// T⁺ − T⁻ = −½|v⁺ − v⁻|² + pᵀġ⁺, and pᵀġ⁺ ≤ 0.
    fn tame(&mut self, touching: &Touching, rates: &[f64], wanted: &[f64], noise: &[f64]) -> Result<Vec<f64>, Outcome> {
        /// Halvings until the part is known to rounding.
        const HALVINGS: usize = 50;
        /// A smaller part than this is none.
        const SMALLEST: f64 = 1e-5;
        /// Energy below this part of what the impulses carry is rounding.
        const ROUNDING: f64 = 1e-12;
        let gains = |impulses: &[f64]| {
            let after = touching.rates_after(rates, impulses);
            let works = || impulses.iter().zip(rates).zip(&after).map(|((p, x), y)| (p * x, p * y));
            let size: f64 = works().map(|(x, y)| x.abs() + y.abs()).sum();
            works().map(|(x, y)| x + y).sum::<f64>() > ROUNDING * size
        };
        match self.impulses(touching, rates, wanted, noise) {
            Ok(whole) if !gains(&whole) => return Ok(whole),
            Ok(_) => {}
            Err(Outcome::AmbiguousBlow { outcomes, .. }) if outcomes.is_empty() && wanted.iter().any(|w| *w > 0.0) => {}
            Err(outcome) => return Err(outcome),
        }
        let scaled = |part: f64| wanted.iter().map(|w| part * w).collect::<Vec<f64>>();
        let without = self.impulses(touching, rates, &scaled(0.0), noise)?;
        let mut best = without.clone();
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.impulses(touching, rates, &scaled(middle), noise) {
                Ok(impulses) if !gains(&impulses) => (low, best) = (middle, impulses),
                _ => high = middle,
            }
        }
        // what rows that exclude each other miss within rounding is no restitution
        if low < SMALLEST {
            (low, best) = (0.0, without);
        }
        let struck = |(k, row): (usize, &usize)| (wanted[k] > 0.0).then_some(*row);
        let rows = touching.normals().iter().enumerate().filter_map(struck).collect();
        // a blow may be tried again with bounces that die out
        self.tamed.retain(|tamed| tamed.t < self.t);
        self.tamed.push(Tamed { t: self.t, rows, part: low });
        Ok(best)
    }

    /// Blows whose restitution was lowered, because nothing could meet it or energy would have been made.
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
            return self.blows(touching, rates, wanted, noise);
        }
        let found = smooth_impulses(touching, rates, wanted, noise);
        found.map_err(|error| Outcome::Failed(excluded(error, touching.normals())))
    }

    /// Impulses where some contacts have friction.
    fn blows(
        &mut self,
        touching: &Touching,
        rates: &[f64],
        wanted: &[f64],
        noise: &[f64],
    ) -> Result<Vec<f64>, Outcome> {
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
            // what no velocity keeps, no friction does
            NoOutcome::None => match smooth_impulses(touching, rates, wanted, noise) {
                Err(error @ NoPushes::Contradiction { .. }) => Outcome::Failed(excluded(error, &rows)),
                _ => Outcome::AmbiguousBlow { t, rows, outcomes: Vec::new() },
            },
            NoOutcome::Several(outcomes) => Outcome::AmbiguousBlow { t, rows, outcomes },
            NoOutcome::NotFound => Outcome::TooManyModes { t, rows },
        })?;
        self.n_unchecked += usize::from(found.is_unchecked);
        Ok(found.impulses)
    }
}

/// Impulses of the normals alone after which they have at least the wanted rates.
fn smooth_impulses(touching: &Touching, rates: &[f64], wanted: &[f64], noise: &[f64]) -> Result<Vec<f64>, NoPushes> {
    let places: Vec<usize> = (0..wanted.len()).collect();
    let w0: Vec<f64> = rates.iter().zip(wanted).map(|(r, w)| r - w).collect();
    let rounding: Vec<f64> = noise.iter().map(|x| 1e-3 * x).collect();
    let found = complementarity(&touching.part(&places), &w0, &vec![Side::OneSided; w0.len()], &rounding)?;
    Ok(found.lambda)
}

pub(super) fn excluded(error: NoPushes, rows: &[usize]) -> MotionError {
    match error {
        NoPushes::Contradiction { row } => MotionError::Excluded {
            row: rows[row],
            others: rows.iter().copied().filter(|other| *other != rows[row]).collect(),
        },
        NoPushes::NotConverged => MotionError::NotConverged { residual: 0.0 },
    }
}
