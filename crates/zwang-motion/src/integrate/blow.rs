//! Impact with friction: every combination of sticking, sliding and no impulse is tried, all contacts at once.

use super::search::{Search, Tried, seek};
use super::touching::Touching;
use crate::Roughness;
use crate::factor::dense::symmetric_eigen;
use crate::unilateral::fixed_point::Rounds;
use crate::unilateral::sharing::{MARGIN, Misses, share_out};
use crate::unilateral::{Friction, MOST_NORMALS, length};

/// What a place does in a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blow {
    /// It takes an impulse, and its slip, if it has friction, ends.
    Sticks,
    /// It takes an impulse and slides in this sense, pressed with this sign.
    Slides { sense: f64, press: f64 },
    /// It takes no impulse.
    Spared,
}

/// Inequalities may be missed by this part of the largest speed or impulse.
const EDGE: f64 = 1e-9;

/// Rows that repeat each other agree to this part, but for feet that do not lie exactly in a plane; and but for rods almost in line,
/// which repeat nothing.
const REPEATED: f64 = 1e-12;

/// Relaxation has come to its end where it misses the laws by this part.
const RELAXED: f64 = 1e-11;

/// Two outcomes are different ones if their velocities differ by this part.
const DIFFERENT: f64 = 1e-6;

/// The equations of a blow, for the normals and then the slips of what touches.
pub(super) struct Blows<'t> {
    pub(super) touching: &'t Touching,
    /// Rates before, of normals and slips.
    pub(super) before: Vec<f64>,
    /// What the rates of the normals shall be at least.
    pub(super) wanted: Vec<f64>,
    /// How rough each friction is, by its place among all.
    pub(super) roughness: &'t [Roughness],
    pub(super) frictions: &'t [Friction],
}

/// Impulses and the rates after them.
struct After {
    impulses: Vec<f64>,
    rates: Vec<f64>,
    /// How far rows that repeat each other miss what is asked of them, as a part of that.
    missed: f64,
}

/// Why a blow has no outcome.
pub(super) enum NoOutcome {
    None,
    /// Two of them.
    Several(Vec<Vec<Struck>>),
    /// None was found among very many.
    NotFound,
}

/// What a place does in a blow.
#[derive(Clone, Debug, PartialEq)]
pub struct Struck {
    /// Its first row that presses.
    pub row: usize,
    /// `sticks`, `slides`, `closed` if it is smooth, or `spared`.
    pub act: &'static str,
    /// How fast its gap opens then.
    pub opens: f64,
}

/// The impulses of a blow.
pub(super) struct Outcomes {
    pub(super) impulses: Vec<f64>,
    /// Whether there were too many combinations to look for another outcome.
    pub(super) is_unchecked: bool,
}

/// A place with friction, or a contact without: its normal and its slips among the rows.
struct Spot {
    /// The contact's own row; none where the place belongs to a constraint that always holds.
    normal: Option<usize>,
    slips: Vec<usize>,
    friction: Option<usize>,
    /// Impulses of the rows that press, by the impulses of all rows.
    pushes: Vec<Vec<f64>>,
}

impl Blows<'_> {
    /// The impulses of the one outcome that keeps Newton's and Coulomb's laws.
    pub(super) fn find(&self) -> Result<Outcomes, NoOutcome> {
        let spots = self.spots();
        let units: Vec<Vec<Blow>> = spots.iter().map(|spot| self.choices(spot)).collect();
        let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
        // with two coefficients sticking and sliding may both be possible, and what can stick does
        let rough = || spots.iter().filter_map(|spot| spot.friction).map(|k| self.roughness[k]);
        let is_unique = rough().all(|r| r.holding == r.sliding);
        let repeats = self.repeats();
        let mut found: Option<(After, Vec<Blow>)> = None;
        let mut other: Option<(After, Vec<Blow>)> = None;
        let mut barely: Option<After> = None;
        let search = seek(&sizes, |at| {
            let blows: Vec<Blow> = units.iter().zip(at).map(|(unit, &k)| unit[k]).collect();
            let Some(after) = self.after(&spots, &blows) else { return Tried::Nothing };
            let faults: Vec<f64> = (0..spots.len()).map(|k| self.fault(&spots[k], blows[k], &after)).collect();
            if faults.iter().any(|fault| fault.is_nan()) {
                return Tried::Nothing;
            }
            if faults.iter().any(|fault| *fault > EDGE) {
                return Tried::Faulty(faults);
            }
            if after.missed > REPEATED {
                barely.get_or_insert(after);
                return Tried::Nothing;
            }
            match &found {
                Some((first, was)) if is_unique && self.differ(first, &after) => {
                    // contacts that repeat others share the impulse, and friction follows it
                    let pairs = || was.iter().zip(&blows).enumerate().filter(|(_, (x, y))| x != y);
                    let is_share = pairs().all(|(k, _)| repeats.contains(&k))
                        && pairs().any(|(_, (x, y))| (*x == Blow::Spared) != (*y == Blow::Spared));
                    if is_share {
                        return Tried::Fits;
                    }
                    other = Some((after, blows));
                    return Tried::Another;
                }
                None => found = Some((after, blows)),
                _ => {}
            }
            Tried::Fits
        });
        match (search, found) {
            (Search::Several, found) => {
                let both = found.iter().chain(&other).map(|(after, blows)| self.told(&spots, blows, after));
                Err(NoOutcome::Several(both.collect()))
            }
            (Search::Found { is_checked, .. }, Some((after, _))) => {
                Ok(Outcomes { impulses: after.impulses, is_unchecked: !is_checked })
            }
            (Search::Found { .. }, None) => Err(NoOutcome::None),
            (Search::None, _) if barely.is_some() => {
                Ok(Outcomes { impulses: barely.map_or(Vec::new(), |after| after.impulses), is_unchecked: false })
            }
            (search, _) => match self.relax(&spots) {
                Some(impulses) => Ok(Outcomes { impulses, is_unchecked: search == Search::NotFound }),
                None if search == Search::NotFound => Err(NoOutcome::NotFound),
                None => Err(NoOutcome::None),
            },
        }
    }

    /// What each place does.
    fn told(&self, spots: &[Spot], blows: &[Blow], after: &After) -> Vec<Struck> {
        let speed = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        let of = |(spot, blow): (&Spot, &Blow)| {
            let act = match (blow, spot.friction) {
                (Blow::Sticks, None) => "closed",
                (Blow::Sticks, Some(_)) => "sticks",
                (Blow::Slides { .. }, _) => "slides",
                (Blow::Spared, _) => "spared",
            };
            let row = spot.normal.map(|c| self.touching.rows[c]);
            let row = row.or(spot.friction.map(|k| self.frictions[k].normals[0])).unwrap_or_default();
            // what opens by rounding does not
            let opens = spot.normal.map(|c| after.rates[c]).filter(|rate| rate.abs() > EDGE * speed);
            Struck { row, act, opens: opens.unwrap_or(0.0) }
        };
        spots.iter().zip(blows).map(of).collect()
    }

    /// Impulses by relaxation: one place after the other takes the impulse that it would by itself. Slow, but where many feet slide
    /// hardly at all it comes to an end, and rounds of directions do not.
    fn relax(&self, spots: &[Spot]) -> Option<Vec<f64>> {
        /// Rounds, and between looks whether they are enough.
        const ROUNDS: usize = 20_000;
        const LOOK: usize = 50;
        // what presses where a constraint always holds is not one impulse
        if spots.iter().any(|spot| spot.normal.is_none()) {
            return None;
        }
        let n = self.before.len();
        let mut after = After { impulses: vec![0.0; n], rates: self.before.clone(), missed: 0.0 };
        for round in 1..=ROUNDS {
            spots.iter().for_each(|spot| self.relax_spot(spot, &mut after));
            if round % LOOK == 0 {
                let rate = |i: usize| {
                    self.before[i] + (0..n).map(|j| self.touching.S[i * n + j] * after.impulses[j]).sum::<f64>()
                };
                after.rates = (0..n).map(rate).collect();
                if spots.iter().all(|spot| self.is_relaxed(spot, &after)) {
                    return Some(after.impulses);
                }
            }
        }
        None
    }

    /// The impulse of a place that ends its closing, and the nearest to one that ends its slip inside the cone.
    fn relax_spot(&self, spot: &Spot, after: &mut After) {
        let n = self.before.len();
        let push = |after: &mut After, row: usize, change: f64| {
            after.impulses[row] += change;
            (0..n).for_each(|i| after.rates[i] += self.touching.S[i * n + row] * change);
        };
        let Some(c) = spot.normal else { return };
        if self.touching.S[c * n + c] > 0.0 {
            let wish = after.impulses[c] - (after.rates[c] - self.wanted[c]) / self.touching.S[c * n + c];
            push(after, c, wish.max(0.0) - after.impulses[c]);
        }
        let wish = self.relaxed_slip(spot, after);
        for (&k, wish) in spot.slips.iter().zip(wish) {
            push(after, k, wish - after.impulses[k]);
        }
    }

    /// The impulses along the slip towards which a place relaxes.
    fn relaxed_slip(&self, spot: &Spot, after: &After) -> Vec<f64> {
        let part = 1.0 / self.compliance(spot);
        let wish: Vec<f64> = spot.slips.iter().map(|&k| after.impulses[k] - part * after.rates[k]).collect();
        let (size, most) = (length(&wish), self.most(spot, after));
        if size <= most { wish } else { wish.iter().map(|x| x * most / size).collect() }
    }

    /// Whether a place keeps Newton's and Coulomb's laws.
    fn is_relaxed(&self, spot: &Spot, after: &After) -> bool {
        let top = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |top: f64, x| top.max(x.abs()));
        let (speed, strongest) = (top(&self.before), top(&after.impulses));
        let Some(c) = spot.normal else { return false };
        let missed = (self.wanted[c] - after.rates[c]) / speed;
        let holds = if after.impulses[c] > 0.0 { missed.abs() <= RELAXED } else { missed <= RELAXED };
        let wish = self.relaxed_slip(spot, after);
        let changes = spot.slips.iter().zip(wish).map(|(&k, wish)| (wish - after.impulses[k]).abs());
        holds && changes.fold(0.0, f64::max) <= RELAXED * strongest
    }

    /// Contacts whose rows repeat those of others that are struck: without them A M⁻¹Aᵀ of the normals has the same rank.
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

    fn spots(&self) -> Vec<Spot> {
        let Touching { contacts, slips, held, rows, .. } = self.touching;
        let unit = |c: usize| (0..rows.len()).map(|j| f64::from(u8::from(j == c))).collect::<Vec<f64>>();
        let of = |c: usize| self.frictions.iter().position(|f| f.contact == Some(contacts[c]));
        let contact = |c: usize| Spot {
            normal: Some(c),
            slips: slips[c].clone(),
            friction: of(c),
            pushes: of(c).map_or(Vec::new(), |_| vec![unit(c)]),
        };
        let held = held.iter().map(|held| Spot {
            normal: None,
            slips: held.slips.clone(),
            friction: Some(held.friction),
            pushes: held.pushes.clone(),
        });
        (0..contacts.len()).map(contact).chain(held).collect()
    }

    fn choices(&self, spot: &Spot) -> Vec<Blow> {
        let mut choices = vec![Blow::Sticks];
        if let Some(k) = spot.friction {
            let is_sided = spot.normal.is_none() && self.frictions[k].single().is_some();
            let presses: &[f64] = if is_sided { &[1.0, -1.0] } else { &[1.0] };
            let senses: &[f64] = if spot.slips.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
            choices.extend(
                presses.iter().flat_map(|&press| senses.iter().map(move |&sense| Blow::Slides { sense, press })),
            );
        }
        choices.extend(spot.normal.map(|_| Blow::Spared));
        choices
    }

    /// Impulses and rates if the places do this; none if the equations exclude each other. In space the direction d of a slip v
    /// is the one that d ← (μ P d + r v)/max(|μ P d + r v|, μ P) leaves as it is: the nearest impulse inside the cone. Where v is
    /// small, v alone would go back and forth.
    fn after(&self, spots: &[Spot], blows: &[Blow]) -> Option<After> {
        /// Enough where the place gives way ten times as easily in one direction as in another.
        const ROUNDS: usize = 400;
        /// Mixing that has not come near by then does not: such a combination has no outcome.
        const MIXED: usize = 60;
        const NEAR: f64 = 1e-3;
        const FOUND: f64 = 1e-13;
        let mut directions: Vec<Vec<f64>> =
            spots.iter().zip(blows).map(|(spot, blow)| self.first(spot, *blow)).collect();
        let slides = |k: usize| matches!(blows[k], Blow::Slides { .. });
        let sought: Vec<usize> = (0..blows.len()).filter(|&k| slides(k) && directions[k].len() > 1).collect();
        let is_curved = (0..blows.len())
            .any(|k| slides(k) && spots[k].friction.is_some_and(|f| self.frictions[f].single().is_none()));
        // together they give way more easily than one by one, by their number at most
        let mass = |k: &usize| 1.0 / (sought.len() as f64 * self.compliance(&spots[*k]));
        let masses: Vec<f64> = sought.iter().map(mass).collect();
        let mut impulses = vec![0.0; self.before.len()];
        let mut rounds = Rounds::default();
        for round in 0..ROUNDS {
            let mut after = self.solve(spots, blows, &directions, &impulses)?;
            let size = after.impulses.iter().fold(0.0, |top: f64, p| top.max(p.abs()));
            let moved = after.impulses.iter().zip(&impulses).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            let change = if is_curved && size > 0.0 { moved / size } else { 0.0 };
            impulses.copy_from_slice(&after.impulses);
            let now: Vec<f64> = sought.iter().flat_map(|&k| directions[k].iter().copied()).collect();
            let wished = sought.iter().zip(&masses).map(|(&k, mass)| self.wished(&spots[k], *mass, &after));
            let wished: Vec<f64> = wished.collect::<Option<Vec<_>>>()?.concat();
            let change = wished.iter().zip(&now).fold(change, |top, (x, y)| top.max((x - y).abs()));
            if change < FOUND {
                // what less friction than there is would stop does not slide
                let slides = |&k: &usize| length(&directions[k]) > 1.0 - EDGE;
                if !sought.iter().all(slides) {
                    return None;
                }
                self.share(spots, blows, &mut after.impulses);
                return Some(after);
            }
            if round == MIXED && change > NEAR && !is_curved {
                return None;
            }
            let next = if is_curved || round > MIXED { wished } else { rounds.next(&now, &wished) };
            let mut next = &next[..];
            for &k in &sought {
                let (own, rest) = next.split_at(directions[k].len());
                next = rest;
                // mixing may leave the circle
                let scale = 1.0 / length(own).max(1.0);
                directions[k] = own.iter().map(|d| scale * d).collect();
            }
        }
        None
    }

    /// The direction that the outcome of another would turn to.
    fn wished(&self, spot: &Spot, mass: f64, after: &After) -> Option<Vec<f64>> {
        let wish: Vec<f64> = spot.slips.iter().map(|&s| mass * after.rates[s] - after.impulses[s]).collect();
        let size = length(&wish).max(self.most(spot, after));
        (size > 0.0).then(|| wish.iter().map(|x| x / size).collect())
    }

    /// Shares impulses that are not determined one by one, as where two feet of a rigid edge are struck: the smallest, or the next
    /// that push and stay in their cones. No velocity depends on this.
    fn share(&self, spots: &[Spot], blows: &[Blow], impulses: &mut Vec<f64>) {
        let n = self.before.len();
        let speed = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        // rods almost in line share nothing: what they would take differently moves them
        let is_free = |z: &Vec<f64>| {
            let part: f64 = z.iter().zip(impulses.iter()).map(|(z, p)| z * p).sum();
            let rate = |i: usize| (0..n).map(|j| self.touching.S[i * n + j] * z[j]).sum::<f64>();
            (0..n).all(|i| (part * rate(i)).abs() <= EDGE * speed)
        };
        let free: Vec<Vec<f64>> = self.free_shares(spots, blows).into_iter().filter(is_free).collect();
        if free.is_empty() {
            return;
        }
        for z in &free {
            let part: f64 = z.iter().zip(impulses.iter()).map(|(z, p)| z * p).sum();
            impulses.iter_mut().zip(z).for_each(|(p, z)| *p -= part * z);
        }
        let room = MARGIN * impulses.iter().fold(0.0, |top: f64, p| top.max(p.abs()));
        share_out(impulses, &free, |p| self.misses(spots, blows, p, room));
    }

    /// Directions in which impulses change without any velocity, an orthonormal basis: of what is struck and sticks. What presses
    /// where a place slides keeps its impulse.
    fn free_shares(&self, spots: &[Spot], blows: &[Blow]) -> Vec<Vec<f64>> {
        /// Beside the largest, an eigenvalue below this is rounding.
        const NOTHING: f64 = 1e-12;
        let n = self.before.len();
        let sticking = spots.iter().zip(blows).filter(|(_, blow)| **blow == Blow::Sticks);
        let held: Vec<usize> = sticking.flat_map(|(spot, _)| spot.normal.iter().chain(&spot.slips).copied()).collect();
        let S: Vec<f64> = held.iter().flat_map(|&i| held.iter().map(move |&j| self.touching.S[i * n + j])).collect();
        let (values, vectors) = symmetric_eigen(&S, held.len(), held.len());
        let top = values.iter().fold(0.0, |top: f64, x| top.max(*x));
        let of = |k: usize| {
            let mut z = vec![0.0; n];
            held.iter().enumerate().for_each(|(i, &row)| z[row] = vectors[k * held.len() + i]);
            z
        };
        (0..held.len()).filter(|&k| !(values[k] > NOTHING * top)).map(of).collect()
    }

    /// What impulses of struck places that stick miss of pushing and of their cones, with some room.
    fn misses(&self, spots: &[Spot], blows: &[Blow], impulses: &[f64], room: f64) -> Misses {
        let mut misses = Misses::default();
        for spot in spots.iter().zip(blows).filter(|(_, blow)| **blow == Blow::Sticks).map(|(spot, _)| spot) {
            if let Some(c) = spot.normal.filter(|&c| impulses[c] < room) {
                misses.misses.push((room - impulses[c], vec![(c, -1.0)]));
            }
            let Some(k) = spot.friction else { continue };
            let (rough, pushes) = (self.roughness[k], pressed(spot, impulses));
            let friction = length(&spot.slips.iter().map(|&s| impulses[s]).collect::<Vec<f64>>());
            let miss = friction - rough.holding * rough.normal(&pushes) + room;
            if miss > 0.0 && friction > 0.0 {
                let press = if spot.normal.is_some() { 1.0 } else { pushes[0].signum() };
                let gradient = rough.gradient(&self.frictions[k], press, &pushes);
                let along = spot.slips.iter().map(|&s| (s, impulses[s] / friction));
                let by = |j: usize| spot.pushes.iter().zip(&gradient).map(|(by, g)| g * by[j]).sum::<f64>();
                let pressed = (0..impulses.len()).map(|j| (j, -rough.holding * by(j))).filter(|(_, x)| *x != 0.0);
                misses.misses.push((miss, along.chain(pressed).collect()));
            }
        }
        misses
    }

    /// The most that friction can do at a place, μ N.
    fn most(&self, spot: &Spot, after: &After) -> f64 {
        let rough = spot.friction.map(|k| self.roughness[k]);
        rough.map_or(0.0, |rough| rough.sliding * rough.normal(&pressed(spot, &after.impulses)))
    }

    /// How easily a place gives way along its slip: at most the trace of its A M⁻¹Aᵀ.
    fn compliance(&self, spot: &Spot) -> f64 {
        let n = self.before.len();
        spot.slips.iter().map(|&k| self.touching.S[k * n + k]).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The direction in which a place slides, as far as it is known before.
    fn first(&self, spot: &Spot, blow: Blow) -> Vec<f64> {
        let Blow::Slides { sense, .. } = blow else { return vec![0.0; spot.slips.len()] };
        if spot.slips.len() == 1 {
            return vec![sense];
        }
        let slip: Vec<f64> = spot.slips.iter().map(|&k| self.before[k]).collect();
        let speed = length(&slip);
        if speed > 0.0 { slip.iter().map(|s| s / speed).collect() } else { slip }
    }

    fn solve(&self, spots: &[Spot], blows: &[Blow], directions: &[Vec<f64>], now: &[f64]) -> Option<After> {
        let (n, S) = (self.before.len(), &self.touching.S);
        let (mut G, mut g) = (vec![0.0; n * n], vec![0.0; n]);
        let mut asks = |row: usize, right: f64| {
            G[row * n..(row + 1) * n].copy_from_slice(&S[row * n..(row + 1) * n]);
            g[row] = right;
        };
        for (spot, blow) in spots.iter().zip(blows) {
            if let (Some(c), true) = (spot.normal, *blow != Blow::Spared) {
                asks(c, self.wanted[c] - self.before[c]);
            }
            if *blow == Blow::Sticks {
                spot.slips.iter().for_each(|&k| asks(k, -self.before[k]));
            }
        }
        for ((spot, blow), direction) in spots.iter().zip(blows).zip(directions) {
            if let (Some(c), Blow::Spared) = (spot.normal, blow) {
                G[c * n + c] = 1.0;
            }
            let rub = match (blow, spot.friction) {
                (Blow::Slides { press, .. }, Some(f)) => self.rub(spot, f, *press, now),
                _ => Vec::new(),
            };
            for (&k, d) in spot.slips.iter().zip(direction) {
                if *blow != Blow::Sticks {
                    G[k * n + k] = 1.0;
                }
                rub.iter().enumerate().for_each(|(j, x)| G[k * n + j] += x * d);
            }
        }
        let (impulses, missed) = solved(G, g)?;
        let rate = |i: usize| self.before[i] + (0..n).map(|j| S[i * n + j] * impulses[j]).sum::<f64>();
        Some(After { rates: (0..n).map(rate).collect(), impulses, missed })
    }

    /// μ N by the impulses of all rows.
    fn rub(&self, spot: &Spot, friction: usize, press: f64, now: &[f64]) -> Vec<f64> {
        let rough = self.roughness[friction];
        let gradient = rough.gradient(&self.frictions[friction], press, &pressed(spot, now));
        let along = |j: usize| spot.pushes.iter().zip(&gradient).map(|(by, g)| g * by[j]).sum::<f64>();
        (0..now.len()).map(|j| rough.sliding * along(j)).collect()
    }

    /// How far a place misses the inequalities of what it does, as a part of the largest speed or impulse.
    fn fault(&self, spot: &Spot, blow: Blow, after: &After) -> f64 {
        let top = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |top: f64, x| top.max(x.abs()));
        let (speed, strongest) = (top(&self.before), top(&after.impulses));
        let pull = spot.normal.map_or(0.0, |c| -after.impulses[c] / strongest);
        let pushes = pressed(spot, &after.impulses);
        let rough = spot.friction.map(|k| self.roughness[k]);
        match (blow, rough) {
            (Blow::Spared, _) => spot.normal.map_or(0.0, |c| (self.wanted[c] - after.rates[c]) / speed),
            (Blow::Sticks, None) => pull,
            (Blow::Sticks, Some(r)) => {
                let friction = length(&spot.slips.iter().map(|&k| after.impulses[k]).collect::<Vec<f64>>());
                pull.max((friction - r.holding * r.normal(&pushes)) / strongest)
            }
            (Blow::Slides { sense, press }, _) => {
                let is_single = spot.pushes.len() == 1;
                let pull = if is_single { -press * pushes[0] / strongest } else { pull };
                pull.max(-self.along(spot, sense, after) / speed)
            }
        }
    }

    /// How fast a place slides along its direction after the blow, against which friction acts.
    fn along(&self, spot: &Spot, sense: f64, after: &After) -> f64 {
        if let [slip] = spot.slips[..] {
            return sense * after.rates[slip];
        }
        let friction: Vec<f64> = spot.slips.iter().map(|&k| after.impulses[k]).collect();
        let power: f64 = spot.slips.iter().zip(&friction).map(|(&k, p)| p * after.rates[k]).sum();
        -power / length(&friction).max(f64::MIN_POSITIVE)
    }

    fn differ(&self, x: &After, y: &After) -> bool {
        let size = self.before.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
        x.rates.iter().zip(&y.rates).any(|(x, y)| (x - y).abs() > DIFFERENT * size)
    }
}

/// Impulses of the rows that press at a place.
fn pressed(spot: &Spot, impulses: &[f64]) -> [f64; MOST_NORMALS] {
    let mut pushes = [0.0; MOST_NORMALS];
    for (push, by) in pushes.iter_mut().zip(&spot.pushes) {
        *push = by.iter().zip(impulses).map(|(x, p)| x * p).sum();
    }
    pushes
}

/// The rank of a symmetric matrix without negative directions, by pivots on its diagonal.
fn rank(mut S: Vec<f64>, n: usize) -> usize {
    /// Beside the largest, a pivot below this is rounding.
    const NOTHING: f64 = 1e-12;
    let top = (0..n).fold(0.0, |top: f64, i| top.max(S[i * n + i]));
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(place) = (0..left.len()).max_by(|&a, &b| S[left[a] * (n + 1)].total_cmp(&S[left[b] * (n + 1)])) {
        let p = left[place];
        if !(S[p * n + p] > NOTHING * top) {
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

/// G x = g by elimination with full pivots; where rows repeat each other some x are zero, and they miss each other by a part
/// that is returned. None if rows exclude each other.
fn solved(mut G: Vec<f64>, mut g: Vec<f64>) -> Option<(Vec<f64>, f64)> {
    /// Beside the largest entry, a pivot below this is rounding.
    const NOTHING: f64 = 1e-12;
    /// Feet of one body that touch within a tolerance do not lie exactly in a plane: rows that repeat each other on a plane then
    /// miss each other by that part of the distance between the feet.
    const EXCLUDED: f64 = 1e-6;
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
    let missed = g[rank..].iter().fold(0.0, |top: f64, x| top.max(x.abs()));
    if missed > EXCLUDED * right {
        return None;
    }
    let mut x = vec![0.0; n];
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..rank).map(|j| G[i * n + j] * x[order[j]]).sum();
        x[order[i]] = (g[i] - sum) / G[i * n + i];
    }
    Some((x, if missed > 0.0 { missed / right } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blows(touching: &Touching, before: [f64; 2], mu: f64) -> Vec<f64> {
        let roughness = [Roughness { forces: [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]], holding: mu, sliding: mu }];
        let frictions = [Friction { normals: vec![0], contact: Some(0), slip: vec![1] }];
        let wanted = vec![-0.5 * before[0]];
        let blows = Blows { touching, before: before.to_vec(), wanted, roughness: &roughness, frictions: &frictions };
        let Ok(found) = blows.find() else { panic!("an outcome of {before:?}") };
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
            let found = blows(&touching, [-1.0, slip], mu);
            assert!((found[0] - 1.5).abs() < 1e-14 && (found[1] - friction).abs() < 1e-14, "{slip}: {found:?}");
        }
    }
}
