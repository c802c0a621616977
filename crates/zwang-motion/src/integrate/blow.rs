//! Impact with friction: every combination of sticking, sliding and no impulse is tried, all contacts at once.

use super::contact::Touching;
use crate::Roughness;

/// What a contact does in a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blow {
    /// It takes an impulse, and its slip, if it has friction, ends.
    Sticks,
    /// It takes an impulse and slides in this sense.
    Slides(f64),
    /// It takes no impulse.
    Spared,
}

/// Combinations that are tried at most.
const MOST: usize = 20_000;

/// Inequalities may be missed by this part of the largest speed or impulse.
const EDGE: f64 = 1e-9;

/// Two outcomes are different ones if their velocities differ by this part.
const DIFFERENT: f64 = 1e-6;

/// The equations of a blow, for the normals and then the slips of the contacts that touch.
pub(super) struct Blows<'t> {
    pub(super) touching: &'t Touching,
    /// Rates before, of normals and slips.
    pub(super) before: Vec<f64>,
    /// What the rates of the normals shall be at least.
    pub(super) wanted: Vec<f64>,
    /// For each contact that touches: how rough it is, if it has friction.
    pub(super) rough: Vec<Option<Roughness>>,
}

/// Impulses and the rates after them.
struct After {
    impulses: Vec<f64>,
    rates: Vec<f64>,
}

/// Why a blow has no outcome.
pub(super) enum NoOutcome {
    None,
    Several,
}

impl Blows<'_> {
    /// The impulses of the one outcome that keeps Newton's and Coulomb's laws.
    pub(super) fn find(&self) -> Result<Vec<f64>, NoOutcome> {
        let units: Vec<Vec<Blow>> = (0..self.rough.len()).map(|c| self.choices(c)).collect();
        let n_modes = units.iter().fold(1usize, |n, unit| n.saturating_mul(unit.len()));
        // with two coefficients sticking and sliding may both be possible, and what can stick does
        let is_unique = self.rough.iter().flatten().all(|r| r.holding == r.sliding);
        let mut at = vec![0; units.len()];
        let mut found: Option<After> = None;
        for _ in 0..n_modes.min(MOST) {
            let blows: Vec<Blow> = units.iter().zip(&at).map(|(unit, &k)| unit[k]).collect();
            if let Some(after) = self.after(&blows).filter(|after| self.is_kept(&blows, after)) {
                match &found {
                    None => found = Some(after),
                    Some(first) if is_unique && self.differ(first, &after) => return Err(NoOutcome::Several),
                    _ => {}
                }
                if n_modes > MOST {
                    break;
                }
            }
            for (k, unit) in at.iter_mut().zip(&units) {
                *k += 1;
                if *k < unit.len() {
                    break;
                }
                *k = 0;
            }
        }
        found.map(|after| after.impulses).ok_or(NoOutcome::None)
    }

    fn choices(&self, c: usize) -> Vec<Blow> {
        match (self.rough[c], self.touching.slips[c].len()) {
            (None, _) => vec![Blow::Sticks, Blow::Spared],
            (_, 1) => vec![Blow::Sticks, Blow::Slides(1.0), Blow::Slides(-1.0), Blow::Spared],
            _ => vec![Blow::Sticks, Blow::Slides(1.0), Blow::Spared],
        }
    }

    /// Impulses and rates if the contacts do this; none if the equations exclude each other.
    fn after(&self, blows: &[Blow]) -> Option<After> {
        const ROUNDS: usize = 60;
        let mut directions: Vec<Vec<f64>> = blows.iter().enumerate().map(|(c, blow)| self.first(c, *blow)).collect();
        let in_space = |c: usize| matches!(blows[c], Blow::Slides(_)) && directions[c].len() > 1;
        let sought: Vec<usize> = (0..blows.len()).filter(|&c| in_space(c)).collect();
        for _ in 0..ROUNDS {
            let after = self.solve(blows, &directions)?;
            let mut change = 0f64;
            for &c in &sought {
                let slip: Vec<f64> = self.touching.slips[c].iter().map(|&k| after.rates[k]).collect();
                let speed = slip.iter().map(|s| s * s).sum::<f64>().sqrt();
                if !(speed > 0.0) {
                    return None;
                }
                for (d, s) in directions[c].iter_mut().zip(slip) {
                    change = change.max((*d - s / speed).abs());
                    *d = s / speed;
                }
            }
            if change < 1e-13 {
                return Some(after);
            }
        }
        None
    }

    /// The direction in which a contact slides, as far as it is known before.
    fn first(&self, c: usize, blow: Blow) -> Vec<f64> {
        let slips = &self.touching.slips[c];
        let Blow::Slides(sense) = blow else { return vec![0.0; slips.len()] };
        if slips.len() == 1 {
            return vec![sense];
        }
        let slip: Vec<f64> = slips.iter().map(|&k| self.before[k]).collect();
        let speed = slip.iter().map(|s| s * s).sum::<f64>().sqrt();
        if speed > 0.0 { slip.iter().map(|s| s / speed).collect() } else { slip }
    }

    fn solve(&self, blows: &[Blow], directions: &[Vec<f64>]) -> Option<After> {
        let (n, S) = (self.before.len(), &self.touching.S);
        let (mut G, mut g) = (vec![0.0; n * n], vec![0.0; n]);
        let mut asks = |row: usize, right: f64| {
            G[row * n..(row + 1) * n].copy_from_slice(&S[row * n..(row + 1) * n]);
            g[row] = right;
        };
        for (c, blow) in blows.iter().enumerate() {
            if *blow != Blow::Spared {
                asks(c, self.wanted[c] - self.before[c]);
            }
            if *blow == Blow::Sticks {
                self.touching.slips[c].iter().for_each(|&k| asks(k, -self.before[k]));
            }
        }
        for (c, blow) in blows.iter().enumerate() {
            if *blow == Blow::Spared {
                G[c * n + c] = 1.0;
            }
            for (&k, d) in self.touching.slips[c].iter().zip(&directions[c]) {
                if *blow != Blow::Sticks {
                    G[k * n + k] = 1.0;
                }
                if let (Blow::Slides(_), Some(rough)) = (blow, self.rough[c]) {
                    G[k * n + c] = rough.sliding * rough.lever * d;
                }
            }
        }
        let impulses = solved(G, g)?;
        let rate = |i: usize| self.before[i] + (0..n).map(|j| S[i * n + j] * impulses[j]).sum::<f64>();
        Some(After { rates: (0..n).map(rate).collect(), impulses })
    }

    /// Whether an outcome keeps the inequalities of what the contacts do in it.
    fn is_kept(&self, blows: &[Blow], after: &After) -> bool {
        let top = |x: &[f64]| x.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        let (speed, strongest) = (top(&self.before), top(&after.impulses));
        blows.iter().enumerate().all(|(c, blow)| {
            let impulse = after.impulses[c];
            let slips = &self.touching.slips[c];
            let friction = slips.iter().map(|&k| after.impulses[k].powi(2)).sum::<f64>().sqrt();
            let pushes = impulse >= -EDGE * strongest;
            match (blow, self.rough[c]) {
                (Blow::Spared, _) => after.rates[c] >= self.wanted[c] - EDGE * speed,
                (Blow::Sticks, None) => pushes,
                (Blow::Sticks, Some(r)) => pushes && friction <= r.holding * r.lever * impulse + EDGE * strongest,
                (Blow::Slides(sense), _) => {
                    pushes && (slips.len() > 1 || sense * after.rates[slips[0]] >= -EDGE * speed)
                }
            }
        })
    }

    fn differ(&self, x: &After, y: &After) -> bool {
        let size = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        x.rates.iter().zip(&y.rates).any(|(x, y)| (x - y).abs() > DIFFERENT * size)
    }
}

/// G x = g by elimination with full pivots; where rows repeat each other some x are zero. None if rows exclude each other.
fn solved(mut G: Vec<f64>, mut g: Vec<f64>) -> Option<Vec<f64>> {
    /// Beside the largest entry, a pivot below this is rounding.
    const NOTHING: f64 = 1e-12;
    let n = g.len();
    let (size, right) =
        (G.iter().fold(0.0, |t: f64, x| t.max(x.abs())), g.iter().fold(0.0, |t: f64, x| t.max(x.abs())));
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let places = (rank..n).flat_map(|i| (rank..n).map(move |j| (i, j)));
        let (i, j) = places.max_by(|a, b| G[a.0 * n + a.1].abs().total_cmp(&G[b.0 * n + b.1].abs()))?;
        if !(G[i * n + j].abs() > NOTHING * size) {
            break;
        }
        (0..n).for_each(|k| G.swap(rank * n + k, i * n + k));
        g.swap(rank, i);
        (0..n).for_each(|k| G.swap(k * n + rank, k * n + j));
        order.swap(rank, j);
        for k in rank + 1..n {
            let factor = G[k * n + rank] / G[rank * n + rank];
            (rank..n).for_each(|l| G[k * n + l] -= factor * G[rank * n + l]);
            g[k] -= factor * g[rank];
        }
        rank += 1;
    }
    if g[rank..].iter().any(|x| x.abs() > 1e-9 * right) {
        return None;
    }
    let mut x = vec![0.0; n];
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..rank).map(|j| G[i * n + j] * x[order[j]]).sum();
        x[order[i]] = (g[i] - sum) / G[i * n + i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blows(touching: &Touching, before: [f64; 2], mu: f64) -> Result<Vec<f64>, NoOutcome> {
        let rough = vec![Some(Roughness { lever: 1.0, holding: mu, sliding: mu })];
        Blows { touching, before: before.to_vec(), wanted: vec![-0.5 * before[0]], rough }.find()
    }

    /// A unit mass with velocity (s, −1) and restitution ½ takes a normal impulse of 3/2; friction takes μ times that, or all s.
    #[test]
    fn a_particle_that_is_struck_slides_on_or_sticks() {
        let touching = Touching {
            contacts: vec![0],
            rows: vec![0, 1],
            slips: vec![vec![1]],
            S: vec![1.0, 0.0, 0.0, 1.0],
            responses: Vec::new(),
        };
        for (slip, mu, friction) in [(3.0, 0.2, -0.3), (-3.0, 0.2, 0.3), (0.1, 0.2, -0.1), (0.0, 0.2, 0.0)] {
            let Ok(found) = blows(&touching, [-1.0, slip], mu) else { panic!("an outcome for slip {slip}") };
            assert!((found[0] - 1.5).abs() < 1e-14 && (found[1] - friction).abs() < 1e-14, "{slip}: {found:?}");
        }
    }
}
