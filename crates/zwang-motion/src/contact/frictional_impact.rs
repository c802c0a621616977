//! Impact with friction: every combination of sticking, sliding and no impulse is tried, all contacts at once.

use super::enumerate::{SearchResult, Verdict, enumerate};
use super::fixed_point::Rounds;
use super::redistribute::{Violations, redistribute_along};
use super::touching::Touching;
use super::{Friction, MOST_NORMALS, length};
use crate::factor::dense::symmetric_eigen;
use crate::{Coulomb, limits, tolerance};

/// What a place does in an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PlaceImpact {
    /// It takes an impulse, and its slip, if it has friction, ends.
    Sticking,
    /// It takes an impulse and slides in this sense, with a normal impulse of this sign.
    Sliding { sense: f64, side: f64 },
    /// It takes no impulse.
    WithoutImpulse,
}

/// The equations of an impact, for the normals and then the slips of the contacts that touch.
pub(super) struct FrictionalImpact<'t> {
    pub(super) touching: &'t Touching,
    /// Rates before, of normals and slips.
    pub(super) before: Vec<f64>,
    /// The least rates of the normals afterwards.
    pub(super) wanted: Vec<f64>,
    /// Coulomb's law of each friction.
    pub(super) laws: &'t [Coulomb],
    pub(super) frictions: &'t [Friction],
}

/// Impulses and the rates after them.
struct After {
    impulses: Vec<f64>,
    rates: Vec<f64>,
    /// By how much redundant rows violate their equations, relative to these.
    residual: f64,
}

/// Why an impact has no outcome.
pub(super) enum NoOutcome {
    None,
    /// Two of them.
    Several(Vec<Vec<ImpactState>>),
    /// None was found among very many.
    NotFound,
}

/// What a place does in an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactState {
    /// Its first normal row.
    pub row: usize,
    /// `sticks`, `slides`, `closed` if it has no friction, or `spared` without an impulse.
    pub act: &'static str,
    /// The rate of its gap afterwards.
    pub opens: f64,
}

/// The impulses of an impact.
pub(super) struct Outcomes {
    pub(super) impulses: Vec<f64>,
    /// `true` if there were too many combinations to look for another outcome.
    pub(super) is_unchecked: bool,
}

/// A place with friction, or a contact without: its normal and its slips among the rows.
struct ImpactPlace {
    /// The contact's own row; `None` if the place belongs to a permanent constraint.
    normal: Option<usize>,
    slips: Vec<usize>,
    friction: Option<usize>,
    /// Impulses of the normal rows, by the impulses of all rows.
    normal_forces: Vec<Vec<f64>>,
}

impl FrictionalImpact<'_> {
    /// The impulses of the one outcome that satisfies Newton's and Coulomb's laws.
    pub(super) fn find(&self) -> Result<Outcomes, NoOutcome> {
        let places = self.places();
        let units: Vec<Vec<PlaceImpact>> = places.iter().map(|place| self.choices(place)).collect();
        let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
        // with two coefficients sticking and sliding may both be possible, and a place that can stick does
        let law = || places.iter().filter_map(|place| place.friction).map(|k| self.laws[k]);
        let is_unique = law().all(|r| r.static_mu == r.kinetic_mu);
        let repeats = self.repeats();
        let mut found: Option<(After, Vec<PlaceImpact>)> = None;
        let mut other: Option<(After, Vec<PlaceImpact>)> = None;
        let mut barely: Option<After> = None;
        let search = enumerate(&sizes, |at| {
            let actions: Vec<PlaceImpact> = units.iter().zip(at).map(|(unit, &k)| unit[k]).collect();
            let Some(after) = self.after(&places, &actions) else { return Verdict::Nothing };
            let violations: Vec<f64> =
                (0..places.len()).map(|k| self.violation(&places[k], actions[k], &after)).collect();
            if violations.iter().any(|violation| violation.is_nan()) {
                return Verdict::Nothing;
            }
            if violations.iter().any(|violation| *violation > tolerance::LAW) {
                return Verdict::Violated(violations);
            }
            if after.residual > tolerance::ROUNDING {
                barely.get_or_insert(after);
                return Verdict::Nothing;
            }
            match &found {
                Some((first, was)) if is_unique && self.differ(first, &after) => {
                    // redundant contacts share the impulse, and friction follows it
                    let pairs = || was.iter().zip(&actions).enumerate().filter(|(_, (x, y))| x != y);
                    let is_share = pairs().all(|(k, _)| repeats.contains(&k))
                        && pairs().any(|(_, (x, y))| {
                            (*x == PlaceImpact::WithoutImpulse) != (*y == PlaceImpact::WithoutImpulse)
                        });
                    if is_share {
                        return Verdict::Fits;
                    }
                    other = Some((after, actions));
                    return Verdict::Another;
                }
                None => found = Some((after, actions)),
                _ => {}
            }
            Verdict::Fits
        });
        match (search, found) {
            (SearchResult::Several, found) => {
                let both = found.iter().chain(&other).map(|(after, actions)| self.describe(&places, actions, after));
                Err(NoOutcome::Several(both.collect()))
            }
            (SearchResult::Found { is_checked, .. }, Some((after, _))) => {
                Ok(Outcomes { impulses: after.impulses, is_unchecked: !is_checked })
            }
            (SearchResult::Found { .. }, None) => Err(NoOutcome::None),
            (SearchResult::None, _) if barely.is_some() => {
                Ok(Outcomes { impulses: barely.map_or(Vec::new(), |after| after.impulses), is_unchecked: false })
            }
            (search, _) => match self.relax(&places) {
                Some(impulses) => Ok(Outcomes { impulses, is_unchecked: search == SearchResult::NotFound }),
                None if search == SearchResult::NotFound => Err(NoOutcome::NotFound),
                None => Err(NoOutcome::None),
            },
        }
    }

    /// What each place does.
    fn describe(&self, places: &[ImpactPlace], actions: &[PlaceImpact], after: &After) -> Vec<ImpactState> {
        let speed = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        let of = |(place, action): (&ImpactPlace, &PlaceImpact)| {
            let act = match (action, place.friction) {
                (PlaceImpact::Sticking, None) => "closed",
                (PlaceImpact::Sticking, Some(_)) => "sticks",
                (PlaceImpact::Sliding { .. }, _) => "slides",
                (PlaceImpact::WithoutImpulse, _) => "spared",
            };
            let row = place.normal.map(|c| self.touching.rows[c]);
            let row = row.or(place.friction.map(|k| self.frictions[k].normals[0])).unwrap_or_default();
            // a rate within rounding does not count as opening
            let opens = place.normal.map(|c| after.rates[c]).filter(|rate| rate.abs() > tolerance::LAW * speed);
            ImpactState { row, act, opens: opens.unwrap_or(0.0) }
        };
        places.iter().zip(actions).map(of).collect()
    }

    /// Impulses by relaxation: one place after the other takes the impulse that it would by itself. Slow, but it converges
    /// if many feet slide by little, and iterations of directions do not.
    fn relax(&self, places: &[ImpactPlace]) -> Option<Vec<f64>> {
        // the normal force of a permanent constraint is not one impulse
        if places.iter().any(|place| place.normal.is_none()) {
            return None;
        }
        let n = self.before.len();
        let mut after = After { impulses: vec![0.0; n], rates: self.before.clone(), residual: 0.0 };
        for round in 1..=limits::RELAXATION_ROUNDS {
            places.iter().for_each(|place| self.relax_place(place, &mut after));
            if round % limits::RELAXATION_CHECK == 0 {
                let rate = |i: usize| {
                    self.before[i] + (0..n).map(|j| self.touching.S[i * n + j] * after.impulses[j]).sum::<f64>()
                };
                after.rates = (0..n).map(rate).collect();
                if places.iter().all(|place| self.is_relaxed(place, &after)) {
                    return Some(after.impulses);
                }
            }
        }
        None
    }

    /// The impulse of a place that ends its closing, and the nearest to one that ends its slip inside the cone.
    fn relax_place(&self, place: &ImpactPlace, after: &mut After) {
        let n = self.before.len();
        let normal_force = |after: &mut After, row: usize, change: f64| {
            after.impulses[row] += change;
            (0..n).for_each(|i| after.rates[i] += self.touching.S[i * n + row] * change);
        };
        let Some(c) = place.normal else { return };
        if self.touching.S[c * n + c] > 0.0 {
            let target = after.impulses[c] - (after.rates[c] - self.wanted[c]) / self.touching.S[c * n + c];
            normal_force(after, c, target.max(0.0) - after.impulses[c]);
        }
        let target = self.relaxed_slip(place, after);
        for (&k, target) in place.slips.iter().zip(target) {
            normal_force(after, k, target - after.impulses[k]);
        }
    }

    /// The impulses along the slip towards which a place relaxes.
    fn relaxed_slip(&self, place: &ImpactPlace, after: &After) -> Vec<f64> {
        let part = 1.0 / self.compliance(place);
        let target: Vec<f64> = place.slips.iter().map(|&k| after.impulses[k] - part * after.rates[k]).collect();
        let (size, most) = (length(&target), self.most(place, after));
        if size <= most { target } else { target.iter().map(|x| x * most / size).collect() }
    }

    /// `true` if a place satisfies Newton's and Coulomb's laws.
    fn is_relaxed(&self, place: &ImpactPlace, after: &After) -> bool {
        let top = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |top: f64, x| top.max(x.abs()));
        let (speed, strongest) = (top(&self.before), top(&after.impulses));
        let Some(c) = place.normal else { return false };
        let residual = (self.wanted[c] - after.rates[c]) / speed;
        let holds =
            if after.impulses[c] > 0.0 { residual.abs() <= tolerance::RELAXED } else { residual <= tolerance::RELAXED };
        let target = self.relaxed_slip(place, after);
        let changes = place.slips.iter().zip(target).map(|(&k, target)| (target - after.impulses[k]).abs());
        holds && changes.fold(0.0, f64::max) <= tolerance::RELAXED * strongest
    }

    /// Contacts whose rows depend on those of others: without them A M⁻¹Aᵀ of the normals has the same rank.
    fn repeats(&self) -> Vec<usize> {
        let (n, n_contacts) = (self.before.len(), self.touching.contacts.len());
        let rank_without = |left_out: Option<usize>| {
            let places: Vec<usize> = (0..n_contacts).filter(|c| Some(*c) != left_out).collect();
            let entry = |i: usize, j: usize| self.touching.S[i * n + j];
            rank(places.iter().flat_map(|&i| places.iter().map(move |&j| entry(i, j))).collect(), places.len())
        };
        let whole = rank_without(None);
        if whole == n_contacts {
            return Vec::new();
        }
        (0..n_contacts).filter(|&c| rank_without(Some(c)) == whole).collect()
    }

    fn places(&self) -> Vec<ImpactPlace> {
        let Touching { contacts, slips, held, rows, .. } = self.touching;
        let unit = |c: usize| (0..rows.len()).map(|j| f64::from(u8::from(j == c))).collect::<Vec<f64>>();
        let of = |c: usize| self.frictions.iter().position(|f| f.contact == Some(contacts[c]));
        let contact = |c: usize| ImpactPlace {
            normal: Some(c),
            slips: slips[c].clone(),
            friction: of(c),
            normal_forces: of(c).map_or(Vec::new(), |_| vec![unit(c)]),
        };
        let held = held.iter().map(|held| ImpactPlace {
            normal: None,
            slips: held.slips.clone(),
            friction: Some(held.friction),
            normal_forces: held.normal_forces.clone(),
        });
        (0..contacts.len()).map(contact).chain(held).collect()
    }

    fn choices(&self, place: &ImpactPlace) -> Vec<PlaceImpact> {
        let mut choices = vec![PlaceImpact::Sticking];
        if let Some(k) = place.friction {
            let is_sided = place.normal.is_none() && self.frictions[k].single().is_some();
            let sides: &[f64] = if is_sided { &[1.0, -1.0] } else { &[1.0] };
            let senses: &[f64] = if place.slips.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
            choices.extend(
                sides.iter().flat_map(|&side| senses.iter().map(move |&sense| PlaceImpact::Sliding { sense, side })),
            );
        }
        choices.extend(place.normal.map(|_| PlaceImpact::WithoutImpulse));
        choices
    }

    /// Impulses and rates if the places do this; `None` if the equations exclude each other. In space the direction d of a
    /// slip v is the fixed point of d ← (μ P d + r v)/max(|μ P d + r v|, μ P): the nearest impulse inside the cone. If v is
    /// small, v alone would oscillate.
    fn after(&self, places: &[ImpactPlace], actions: &[PlaceImpact]) -> Option<After> {
        let mut directions: Vec<Vec<f64>> =
            places.iter().zip(actions).map(|(place, action)| self.first(place, *action)).collect();
        let slides = |k: usize| matches!(actions[k], PlaceImpact::Sliding { .. });
        let sought: Vec<usize> = (0..actions.len()).filter(|&k| slides(k) && directions[k].len() > 1).collect();
        let is_curved = (0..actions.len())
            .any(|k| slides(k) && places[k].friction.is_some_and(|f| self.frictions[f].single().is_none()));
        // together their compliance is larger than one by one, by their number at most
        let mass = |k: &usize| 1.0 / (sought.len() as f64 * self.compliance(&places[*k]));
        let masses: Vec<f64> = sought.iter().map(mass).collect();
        let mut impulses = vec![0.0; self.before.len()];
        let mut rounds = Rounds::default();
        for round in 0..limits::MIXING_ROUNDS {
            let mut after = self.solve(places, actions, &directions, &impulses)?;
            let size = after.impulses.iter().fold(0.0, |top: f64, p| top.max(p.abs()));
            let moved = after.impulses.iter().zip(&impulses).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            let change = if is_curved && size > 0.0 { moved / size } else { 0.0 };
            impulses.copy_from_slice(&after.impulses);
            let now: Vec<f64> = sought.iter().flat_map(|&k| directions[k].iter().copied()).collect();
            let target_direction =
                sought.iter().zip(&masses).map(|(&k, mass)| self.target_direction(&places[k], *mass, &after));
            let target_direction: Vec<f64> = target_direction.collect::<Option<Vec<_>>>()?.concat();
            let change = target_direction.iter().zip(&now).fold(change, |top, (x, y)| top.max((x - y).abs()));
            if change < tolerance::MIXING_CONVERGED {
                // a place that less friction would stop does not slide
                let slides = |&k: &usize| length(&directions[k]) > 1.0 - tolerance::LAW;
                if !sought.iter().all(slides) {
                    return None;
                }
                self.redistribute(places, actions, &mut after.impulses);
                return Some(after);
            }
            if round == limits::MIXED_IMPACT_ROUNDS && change > tolerance::MIXING_NEAR && !is_curved {
                return None;
            }
            let next = if is_curved || round > limits::MIXED_IMPACT_ROUNDS {
                target_direction
            } else {
                rounds.next(&now, &target_direction)
            };
            let mut next = &next[..];
            for &k in &sought {
                let (own, rest) = next.split_at(directions[k].len());
                next = rest;
                // mixing may leave the unit circle
                let scale = 1.0 / length(own).max(1.0);
                directions[k] = own.iter().map(|d| scale * d).collect();
            }
        }
        None
    }

    /// The direction towards which an outcome turns a slip.
    fn target_direction(&self, place: &ImpactPlace, mass: f64, after: &After) -> Option<Vec<f64>> {
        let target: Vec<f64> = place.slips.iter().map(|&s| mass * after.rates[s] - after.impulses[s]).collect();
        let size = length(&target).max(self.most(place, after));
        (size > 0.0).then(|| target.iter().map(|x| x / size).collect())
    }

    /// Redistributes indeterminate impulses, as those of two feet of a rigid edge: the smallest, or the nearest that are
    /// compressive and stay in their cones. No velocity depends on this.
    fn redistribute(&self, places: &[ImpactPlace], actions: &[PlaceImpact], impulses: &mut Vec<f64>) {
        let n = self.before.len();
        let speed = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        // rods almost in line are independent: another distribution would move them
        let is_free = |z: &Vec<f64>| {
            let part: f64 = z.iter().zip(impulses.iter()).map(|(z, p)| z * p).sum();
            let rate = |i: usize| (0..n).map(|j| self.touching.S[i * n + j] * z[j]).sum::<f64>();
            (0..n).all(|i| (part * rate(i)).abs() <= tolerance::LAW * speed)
        };
        let free: Vec<Vec<f64>> = self.free_forces(places, actions).into_iter().filter(is_free).collect();
        if free.is_empty() {
            return;
        }
        for z in &free {
            let part: f64 = z.iter().zip(impulses.iter()).map(|(z, p)| z * p).sum();
            impulses.iter_mut().zip(z).for_each(|(p, z)| *p -= part * z);
        }
        let room = tolerance::MODE_MARGIN * impulses.iter().fold(0.0, |top: f64, p| top.max(p.abs()));
        redistribute_along(impulses, &free, |p| self.violations(places, actions, p, room));
    }

    /// An orthonormal basis of the changes of impulses of sticking places that change no velocity. Normal impulses of
    /// sliding places stay as they are.
    fn free_forces(&self, places: &[ImpactPlace], actions: &[PlaceImpact]) -> Vec<Vec<f64>> {
        let n = self.before.len();
        let sticking = places.iter().zip(actions).filter(|(_, action)| **action == PlaceImpact::Sticking);
        let held: Vec<usize> =
            sticking.flat_map(|(place, _)| place.normal.iter().chain(&place.slips).copied()).collect();
        let S: Vec<f64> = held.iter().flat_map(|&i| held.iter().map(move |&j| self.touching.S[i * n + j])).collect();
        let (values, vectors) = symmetric_eigen(&S, held.len(), held.len());
        let top = values.iter().fold(0.0, |top: f64, x| top.max(*x));
        let of = |k: usize| {
            let mut z = vec![0.0; n];
            held.iter().enumerate().for_each(|(i, &row)| z[row] = vectors[k * held.len() + i]);
            z
        };
        (0..held.len()).filter(|&k| !(values[k] > tolerance::ROUNDING * top)).map(of).collect()
    }

    /// By how much impulses of sticking places violate compression and their cones, with a margin.
    fn violations(&self, places: &[ImpactPlace], actions: &[PlaceImpact], impulses: &[f64], room: f64) -> Violations {
        let mut violations = Violations::default();
        for place in
            places.iter().zip(actions).filter(|(_, action)| **action == PlaceImpact::Sticking).map(|(place, _)| place)
        {
            if let Some(c) = place.normal.filter(|&c| impulses[c] < room) {
                violations.violations.push((room - impulses[c], vec![(c, -1.0)]));
            }
            let Some(k) = place.friction else { continue };
            let (law, normal_forces) = (self.laws[k], pressed(place, impulses));
            let friction = length(&place.slips.iter().map(|&s| impulses[s]).collect::<Vec<f64>>());
            let violation = friction - law.static_mu * law.normal(&normal_forces) + room;
            if violation > 0.0 && friction > 0.0 {
                let side = if place.normal.is_some() { 1.0 } else { normal_forces[0].signum() };
                let gradient = law.gradient(&self.frictions[k], side, &normal_forces);
                let along = place.slips.iter().map(|&s| (s, impulses[s] / friction));
                let by = |j: usize| place.normal_forces.iter().zip(&gradient).map(|(by, g)| g * by[j]).sum::<f64>();
                let pressed = (0..impulses.len()).map(|j| (j, -law.static_mu * by(j))).filter(|(_, x)| *x != 0.0);
                violations.violations.push((violation, along.chain(pressed).collect()));
            }
        }
        violations
    }

    /// The largest friction of a place, μ N.
    fn most(&self, place: &ImpactPlace, after: &After) -> f64 {
        let law = place.friction.map(|k| self.laws[k]);
        law.map_or(0.0, |law| law.kinetic_mu * law.normal(&pressed(place, &after.impulses)))
    }

    /// The compliance of a place along its slip: at most the trace of its A M⁻¹Aᵀ.
    fn compliance(&self, place: &ImpactPlace) -> f64 {
        let n = self.before.len();
        place.slips.iter().map(|&k| self.touching.S[k * n + k]).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The direction in which a place slides, as far as it is known before.
    fn first(&self, place: &ImpactPlace, action: PlaceImpact) -> Vec<f64> {
        let PlaceImpact::Sliding { sense, .. } = action else { return vec![0.0; place.slips.len()] };
        if place.slips.len() == 1 {
            return vec![sense];
        }
        let slip: Vec<f64> = place.slips.iter().map(|&k| self.before[k]).collect();
        let speed = length(&slip);
        if speed > 0.0 { slip.iter().map(|s| s / speed).collect() } else { slip }
    }

    fn solve(
        &self,
        places: &[ImpactPlace],
        actions: &[PlaceImpact],
        directions: &[Vec<f64>],
        now: &[f64],
    ) -> Option<After> {
        let (n, S) = (self.before.len(), &self.touching.S);
        let (mut G, mut g) = (vec![0.0; n * n], vec![0.0; n]);
        let mut asks = |row: usize, right: f64| {
            G[row * n..(row + 1) * n].copy_from_slice(&S[row * n..(row + 1) * n]);
            g[row] = right;
        };
        for (place, action) in places.iter().zip(actions) {
            if let (Some(c), true) = (place.normal, *action != PlaceImpact::WithoutImpulse) {
                asks(c, self.wanted[c] - self.before[c]);
            }
            if *action == PlaceImpact::Sticking {
                place.slips.iter().for_each(|&k| asks(k, -self.before[k]));
            }
        }
        for ((place, action), direction) in places.iter().zip(actions).zip(directions) {
            if let (Some(c), PlaceImpact::WithoutImpulse) = (place.normal, action) {
                G[c * n + c] = 1.0;
            }
            let friction_per_normal = match (action, place.friction) {
                (PlaceImpact::Sliding { side, .. }, Some(f)) => self.friction_per_normal(place, f, *side, now),
                _ => Vec::new(),
            };
            for (&k, d) in place.slips.iter().zip(direction) {
                if *action != PlaceImpact::Sticking {
                    G[k * n + k] = 1.0;
                }
                friction_per_normal.iter().enumerate().for_each(|(j, x)| G[k * n + j] += x * d);
            }
        }
        let (impulses, residual) = solved(G, g)?;
        let rate = |i: usize| self.before[i] + (0..n).map(|j| S[i * n + j] * impulses[j]).sum::<f64>();
        Some(After { rates: (0..n).map(rate).collect(), impulses, residual })
    }

    /// μ N by the impulses of all rows.
    fn friction_per_normal(&self, place: &ImpactPlace, friction: usize, side: f64, now: &[f64]) -> Vec<f64> {
        let law = self.laws[friction];
        let gradient = law.gradient(&self.frictions[friction], side, &pressed(place, now));
        let along = |j: usize| place.normal_forces.iter().zip(&gradient).map(|(by, g)| g * by[j]).sum::<f64>();
        (0..now.len()).map(|j| law.kinetic_mu * along(j)).collect()
    }

    /// By how much a place violates the inequalities of what it does, relative to the largest speed or impulse.
    fn violation(&self, place: &ImpactPlace, action: PlaceImpact, after: &After) -> f64 {
        let top = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |top: f64, x| top.max(x.abs()));
        let (speed, strongest) = (top(&self.before), top(&after.impulses));
        let pull = place.normal.map_or(0.0, |c| -after.impulses[c] / strongest);
        let normal_forces = pressed(place, &after.impulses);
        let law = place.friction.map(|k| self.laws[k]);
        match (action, law) {
            (PlaceImpact::WithoutImpulse, _) => place.normal.map_or(0.0, |c| (self.wanted[c] - after.rates[c]) / speed),
            (PlaceImpact::Sticking, None) => pull,
            (PlaceImpact::Sticking, Some(r)) => {
                let friction = length(&place.slips.iter().map(|&k| after.impulses[k]).collect::<Vec<f64>>());
                pull.max((friction - r.static_mu * r.normal(&normal_forces)) / strongest)
            }
            (PlaceImpact::Sliding { sense, side }, _) => {
                let is_single = place.normal_forces.len() == 1;
                let pull = if is_single { -side * normal_forces[0] / strongest } else { pull };
                pull.max(-self.along(place, sense, after) / speed)
            }
        }
    }

    /// The slip of a place along its direction after the impact, against which friction acts.
    fn along(&self, place: &ImpactPlace, sense: f64, after: &After) -> f64 {
        if let [slip] = place.slips[..] {
            return sense * after.rates[slip];
        }
        let friction: Vec<f64> = place.slips.iter().map(|&k| after.impulses[k]).collect();
        let power: f64 = place.slips.iter().zip(&friction).map(|(&k, p)| p * after.rates[k]).sum();
        -power / length(&friction).max(f64::MIN_POSITIVE)
    }

    fn differ(&self, x: &After, y: &After) -> bool {
        let size = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        x.rates.iter().zip(&y.rates).any(|(x, y)| (x - y).abs() > tolerance::DISTINCT * size)
    }
}

/// Impulses of the normal rows of a place.
fn pressed(place: &ImpactPlace, impulses: &[f64]) -> [f64; MOST_NORMALS] {
    let mut normal_forces = [0.0; MOST_NORMALS];
    for (normal_force, by) in normal_forces.iter_mut().zip(&place.normal_forces) {
        *normal_force = by.iter().zip(impulses).map(|(x, p)| x * p).sum();
    }
    normal_forces
}

/// The rank of a positive semidefinite matrix, by pivots on its diagonal.
fn rank(mut S: Vec<f64>, n: usize) -> usize {
    let top = (0..n).fold(0.0, |top: f64, i| top.max(S[i * n + i]));
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(place) = (0..left.len()).max_by(|&a, &b| S[left[a] * (n + 1)].total_cmp(&S[left[b] * (n + 1)])) {
        let p = left[place];
        if !(S[p * n + p] > tolerance::ROUNDING * top) {
            break;
        }
        left.swap_remove(place);
        for &i in &left {
            let factor = S[i * n + p] / S[p * n + p];
            left.iter().for_each(|&j| S[i * n + j] -= factor * S[p * n + j]);
        }
    }
    n - left.len()
}

/// Solves G x = g by elimination with full pivots; if rows are redundant some x are zero, and their relative violation is
/// returned. `None` if rows exclude each other.
fn solved(mut G: Vec<f64>, mut g: Vec<f64>) -> Option<(Vec<f64>, f64)> {
    let n = g.len();
    let (size, right) =
        (G.iter().fold(0.0, |t: f64, x| t.max(x.abs())), g.iter().fold(0.0, |t: f64, x| t.max(x.abs())));
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let places = (rank..n).flat_map(|i| (rank..n).map(move |j| (i, j)));
        let (i, j) = places.max_by(|a, b| G[a.0 * n + a.1].abs().total_cmp(&G[b.0 * n + b.1].abs()))?;
        if !(G[i * n + j].abs() > tolerance::ROUNDING * size) {
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
    let residual = g[rank..].iter().fold(0.0, |top: f64, x| top.max(x.abs()));
    if residual > tolerance::PLANAR_FEET * right {
        return None;
    }
    let mut x = vec![0.0; n];
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..rank).map(|j| G[i * n + j] * x[order[j]]).sum();
        x[order[i]] = (g[i] - sum) / G[i * n + i];
    }
    Some((x, if residual > 0.0 { residual / right } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(touching: &Touching, before: [f64; 2], mu: f64) -> Vec<f64> {
        let laws = [Coulomb { forces: [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]], static_mu: mu, kinetic_mu: mu }];
        let frictions = [Friction { normals: vec![0], contact: Some(0), slip: vec![1] }];
        let wanted = vec![-0.5 * before[0]];
        let actions =
            FrictionalImpact { touching, before: before.to_vec(), wanted, laws: &laws, frictions: &frictions };
        let Ok(found) = actions.find() else { panic!("an outcome of {before:?}") };
        found.impulses
    }

    /// A unit mass with velocity (s, −1) and restitution ½ takes a normal impulse of 3/2; friction takes μ times that, or all s.
    #[test]
    fn a_particle_that_is_struck_slides_on_or_sticks() {
        let touching = Touching {
            contacts: vec![0],
            rows: vec![0, 1],
            slips: vec![vec![1]],
            held: Vec::new(),
            S: vec![1.0, 0.0, 0.0, 1.0],
            responses: Vec::new(),
        };
        for (slip, mu, friction) in [(3.0, 0.2, -0.3), (-3.0, 0.2, 0.3), (0.1, 0.2, -0.1), (0.0, 0.2, 0.0)] {
            let found = actions(&touching, [-1.0, slip], mu);
            assert!((found[0] - 1.5).abs() < 1e-14 && (found[1] - friction).abs() < 1e-14, "{slip}: {found:?}");
        }
    }
}
