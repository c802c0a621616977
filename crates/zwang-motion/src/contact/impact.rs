//! Impact: the velocities jump to the nearest that the contacts allow.

use super::frictional_impact::{FrictionalImpact, NoOutcome};
use super::resolve::{ContactError, Resolver};
use super::touching::Touching;
use super::{NoSolution, ReducedRestitution, Side, complementarity};
use crate::{Dynamics, MotionError, limits, tolerance};

/// A contact that took an impulse, and the rate at which it opens again.
pub(super) struct Bounce {
    pub(super) contact: usize,
    pub(super) rate: f64,
}

/// The result of an impact.
#[derive(Default)]
pub(super) struct ImpactResult {
    /// Contacts that were closing and open again.
    pub(super) bounces: Vec<Bounce>,
    /// The normal impulse of each contact that touches.
    pub(super) impulses: Vec<(usize, f64)>,
}

impl ImpactResult {
    /// The contacts that took an impulse.
    pub(super) fn with_impulse(&self) -> Vec<usize> {
        let top = self.impulses.iter().fold(0.0, |top: f64, (_, p)| top.max(*p));
        self.impulses.iter().filter(|(_, p)| *p > tolerance::ROUNDING * top).map(|(c, _)| *c).collect()
    }
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// Impact, all contacts at once: of the velocities the contacts allow the one nearest to that before, Moreau's law.
    ///
    /// $$ \min\ (v^+ - v^-)^T M (v^+ - v^-) \quad\text{subject to}\quad \dot g^+ \ge \max(-e\,\dot g^-, 0) $$
    pub(super) fn resolve_impact(
        &mut self,
        touching: &Touching,
        stopped: &[bool],
    ) -> Result<ImpactResult, ContactError> {
        let system = &mut self.system;
        system.smooth.set_state(self.t, self.y);
        let rates = system.rates().map_err(ContactError::Failed)?;
        let noise: Vec<f64> = touching.normals().iter().map(|&row| system.rate_noise(&[row])).collect();
        let before: Vec<f64> = touching.normals().iter().map(|&row| rates[row]).collect();
        if before.iter().zip(&noise).all(|(rate, noise)| *rate >= -noise) {
            return Ok(ImpactResult::default());
        }
        let mut restitutions = vec![0.0; system.mode.contacts.len()];
        system.fill_restitutions(&mut restitutions).map_err(ContactError::Failed)?;
        let wanted = |k: usize| match before[k] < -noise[k] && !stopped[touching.contacts[k]] {
            true => -restitutions[touching.contacts[k]] * before[k],
            false => 0.0,
        };
        let wanted: Vec<f64> = (0..before.len()).map(wanted).collect();
        let rates: Vec<f64> = touching.rows.iter().map(|&row| rates[row]).collect();
        let impulses = self.limit_restitution(touching, &rates, &wanted, &noise)?;
        let n = self.system.smooth.n;
        for (x, p) in touching.responses.iter().zip(&impulses) {
            self.y[n..2 * n].iter_mut().zip(x).for_each(|(v, x)| *v += p * x);
        }
        let after = touching.rates_after(&rates, &impulses);
        let opens = |k: &usize| after[*k] > noise[*k] && before[*k] < -noise[*k];
        let bounce = |k: usize| Bounce { contact: touching.contacts[k], rate: after[k] };
        let bounces = (0..before.len()).filter(opens).map(bounce).collect();
        Ok(ImpactResult { bounces, impulses: touching.contacts.iter().copied().zip(impulses).collect() })
    }

    /// Impulses that gain no energy. Newton's restitution may gain some, with friction or with several coefficients at once
    /// (Kane and Levinson), or it may ask for a velocity that no impulse inside the cones gives, as at a wedge with
    /// friction; then all coefficients are reduced by the same factor, as little as possible. Without restitution no energy
    /// is ever gained: T⁺ − T⁻ = −½|v⁺ − v⁻|² + pᵀġ⁺, and pᵀġ⁺ ≤ 0.
    fn limit_restitution(
        &mut self,
        touching: &Touching,
        rates: &[f64],
        wanted: &[f64],
        noise: &[f64],
    ) -> Result<Vec<f64>, ContactError> {
        let gains = |impulses: &[f64]| {
            let after = touching.rates_after(rates, impulses);
            let works = || impulses.iter().zip(rates).zip(&after).map(|((p, x), y)| (p * x, p * y));
            let size: f64 = works().map(|(x, y)| x.abs() + y.abs()).sum();
            works().map(|(x, y)| x + y).sum::<f64>() > tolerance::ROUNDING * size
        };
        match self.impulses(touching, rates, wanted, noise) {
            Ok(whole) if !gains(&whole) => return Ok(whole),
            Ok(_) => {}
            Err(ContactError::AmbiguousImpact { outcomes, .. })
                if outcomes.is_empty() && wanted.iter().any(|w| *w > 0.0) => {}
            Err(outcome) => return Err(outcome),
        }
        let scaled = |part: f64| wanted.iter().map(|w| part * w).collect::<Vec<f64>>();
        let without = self.impulses(touching, rates, &scaled(0.0), noise)?;
        let mut best = without.clone();
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..limits::RESTITUTION_HALVINGS {
            let middle = 0.5 * (low + high);
            match self.impulses(touching, rates, &scaled(middle), noise) {
                Ok(impulses) if !gains(&impulses) => (low, best) = (middle, impulses),
                _ => high = middle,
            }
        }
        // a violation within rounding by rows that exclude each other does not count as restitution
        if low < tolerance::LEAST_RESTITUTION {
            (low, best) = (0.0, without);
        }
        let struck = |(k, row): (usize, &usize)| (wanted[k] > 0.0).then_some(*row);
        let rows = touching.normals().iter().enumerate().filter_map(struck).collect();
        // an impact may be tried again with bounces that accumulate
        self.log.reduced_restitutions.retain(|reduced_restitutions| reduced_restitutions.t < self.t);
        self.log.reduced_restitutions.push(ReducedRestitution { t: self.t, rows, part: low });
        Ok(best)
    }

    /// Impulses after which the normal rates are at least those wanted.
    fn impulses(
        &mut self,
        touching: &Touching,
        rates: &[f64],
        wanted: &[f64],
        noise: &[f64],
    ) -> Result<Vec<f64>, ContactError> {
        if touching.rows.len() > wanted.len() {
            return self.frictional_impulses(touching, rates, wanted, noise);
        }
        let found = smooth_impulses(touching, rates, wanted, noise);
        found.map_err(|error| ContactError::Failed(excluded(error, touching.normals())))
    }

    /// Impulses if some contacts have friction.
    fn frictional_impulses(
        &mut self,
        touching: &Touching,
        rates: &[f64],
        wanted: &[f64],
        noise: &[f64],
    ) -> Result<Vec<f64>, ContactError> {
        let system = &mut self.system;
        let mut laws = system.mode.laws.clone();
        system.fill_friction_laws(&mut laws).map_err(ContactError::Failed)?;
        let impact = FrictionalImpact {
            touching,
            before: rates.to_vec(),
            wanted: wanted.to_vec(),
            laws: &laws,
            frictions: &system.mode.frictions,
        };
        let (t, rows) = (self.t, touching.normals().to_vec());
        let found = impact.find().map_err(|none| match none {
            // what no velocity satisfies, no friction does
            NoOutcome::None => match smooth_impulses(touching, rates, wanted, noise) {
                Err(error @ NoSolution::Contradiction { .. }) => ContactError::Failed(excluded(error, &rows)),
                _ => ContactError::AmbiguousImpact { t, rows, outcomes: Vec::new() },
            },
            NoOutcome::Several(outcomes) => ContactError::AmbiguousImpact { t, rows, outcomes },
            NoOutcome::NotFound => ContactError::TooManyModes { t, rows },
        })?;
        self.log.n_unchecked += usize::from(found.is_unchecked);
        Ok(found.impulses)
    }
}

/// Impulses of the normals alone after which their rates are at least those wanted.
fn smooth_impulses(touching: &Touching, rates: &[f64], wanted: &[f64], noise: &[f64]) -> Result<Vec<f64>, NoSolution> {
    let places: Vec<usize> = (0..wanted.len()).collect();
    let w0: Vec<f64> = rates.iter().zip(wanted).map(|(r, w)| r - w).collect();
    let rounding: Vec<f64> = noise.iter().map(|x| tolerance::IMPULSE_NOISE * x).collect();
    let found = complementarity(&touching.part(&places), &w0, &vec![Side::Unilateral; w0.len()], &rounding)?;
    Ok(found.lambda)
}

pub(super) fn excluded(error: NoSolution, rows: &[usize]) -> MotionError {
    match error {
        NoSolution::Contradiction { row } => MotionError::Excluded {
            row: rows[row],
            others: rows.iter().copied().filter(|other| *other != rows[row]).collect(),
        },
        NoSolution::NotConverged => MotionError::NotConverged { residual: 0.0 },
    }
}
