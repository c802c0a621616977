//! Sliding friction: a force in proportion to one that it changes itself.

use super::fixed_point::Rounds;
use super::leaning::lean;
use super::modes::{Grip, Modes};
use super::{MOST_NORMALS, Slip, length, unit_vector};
use crate::factor::{add_multiple, dense::symmetric_eigen, dot};
use crate::{Dynamics, MotionError, flow::Flow};

/// What a normal force of one does through one sliding friction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    /// Which friction.
    friction: usize,
    /// μ.
    mu: f64,
    /// N, once it is found.
    normal: f64,
    /// λ of its slip rows for N = 1: −μ s/|s|.
    rub: Slip,
    /// The accelerations and multipliers this makes.
    qddot: Vec<f64>,
    lambda: Vec<f64>,
}

/// Equations G N = g for the normal forces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Normals {
    N: Vec<f64>,
    G: Vec<f64>,
    g: Vec<f64>,
}

/// What unit forces in the slip rows of one friction do.
struct Slippery {
    friction: usize,
    /// By how much a slip must accelerate to turn its direction as far as a force does.
    mass: f64,
    /// Where constraints and closed contacts let it slide.
    ways: Vec<Slip>,
    /// Accelerations and multipliers, row by row.
    qddot: Vec<Vec<f64>>,
    lambda: Vec<Vec<f64>>,
}

/// A pivot of the equations for the normal forces below this says that friction and normal force hold each other up.
const JAMMED: f64 = 1e-10;

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// The slip of friction k here, and the direction in which it slides: along the slip, or as the mode says where it has
    /// just begun.
    pub(crate) fn direction(&mut self, k: usize) -> Result<Slip, MotionError> {
        let before = self.modes.directions[k];
        if let (1, Grip::Slides(sense)) = (self.modes.frictions[k].slip.len(), self.modes.grips[k]) {
            return Ok([sense, 0.0, 0.0]);
        }
        if self.modes.begins[k] || self.modes.slow[k] > 0.0 {
            return Ok(before);
        }
        // beyond the place where it stops the force goes on as it was, so that the place can be found
        let goes_on = |d: &Slip| dot(d, &before) > 0.0;
        Ok(self.slip_direction(k)?.filter(goes_on).unwrap_or(before))
    }

    /// Lets slips follow their accelerations up to these speeds, if all of them go where those lead, within the tolerance. After a
    /// blow they may not: then they keep the directions of their slips.
    pub(crate) fn follow(&mut self, slips: &[(usize, f64)]) -> Result<bool, MotionError> {
        for &(k, slow) in slips {
            if let Some(d) = self.slip_direction(k)? {
                self.modes.directions[k] = d;
            }
            self.modes.slow[k] = slow;
            self.modes.bases[k] = self.modes.directions[k];
        }
        let mut follows = !slips.is_empty() && self.evaluate().is_ok();
        for &(k, _) in slips {
            follows = follows && self.goes_along(k)?;
        }
        for &(k, _) in slips {
            if follows {
                self.modes.bases[k] = self.modes.directions[k];
            } else {
                self.modes.slow[k] = 0.0;
                self.modes.directions[k] = self.modes.bases[k];
            }
        }
        Ok(follows)
    }

    /// Whether friction k slides in its direction, within the tolerance.
    fn goes_along(&mut self, k: usize) -> Result<bool, MotionError> {
        let slip = self.slip(k)?;
        let d = &self.modes.directions[k];
        let along = dot(&slip, d);
        let across = length(&std::array::from_fn::<f64, 3, _>(|i| slip[i] - along * d[i]));
        let is_still = length(&slip) <= self.rate_noise(&self.modes.frictions[k].slip);
        Ok(is_still || (along > 0.0 && across <= self.tolerated_slip(k)))
    }

    /// The direction of the slip of friction k, unless it is rounding.
    pub(crate) fn slip_direction(&mut self, k: usize) -> Result<Option<Slip>, MotionError> {
        let slip = self.slip(k)?;
        let moves = length(&slip) > self.rate_noise(&self.modes.frictions[k].slip);
        Ok(unit_vector(slip).filter(|_| moves))
    }

    /// A slip of friction k that is no more than the tolerance of the run.
    pub(crate) fn tolerated_slip(&self, k: usize) -> f64 {
        let sizes = self.modes.frictions[k].slip.iter().map(|&row| self.row_size(row, &self.v_size));
        self.modes.tolerance * sizes.fold(0.0, f64::max)
    }

    /// Whether friction k slides in space along its slip, which its direction follows.
    pub(crate) fn follows_slip(&self, k: usize) -> bool {
        self.modes.slides_in_space(k) && self.modes.slow[k] == 0.0
    }

    /// s of friction k here.
    pub(crate) fn slip(&mut self, k: usize) -> Result<Slip, MotionError> {
        self.fill_rates()?;
        Ok(self.modes.frictions[k].slips(|row| self.modes.rates[row]))
    }

    /// φ̇ and ψ of all rows here, whether they hold or not.
    pub(crate) fn rates(&mut self) -> Result<Vec<f64>, MotionError> {
        self.fill_rates()?;
        Ok(self.modes.rates.clone())
    }

    /// The same, kept with the mode.
    pub(crate) fn fill_rates(&mut self) -> Result<(), MotionError> {
        self.modes.rates.resize(self.h + self.dynamics.n_velocity_rows(), 0.0);
        self.dynamics.fill_velocities(&self.instant.state, &mut self.modes.rates)
    }

    /// A rate of these rows below this is rounding.
    pub(crate) fn rate_noise(&self, rows: &[usize]) -> f64 {
        /// Velocities are known to this part of their size after a projection.
        const STILL: f64 = 1e-12;
        let size = |&row: &usize| self.row_size(row, &self.v_size);
        STILL * rows.iter().map(size).fold(0.0, f64::max)
    }

    /// Σ |Aᵢⱼ| sizeⱼ of a row, whether it holds or not.
    pub(crate) fn row_size(&self, row: usize, sizes: &[f64]) -> f64 {
        self.modes.whole.constraint_matrix.row_size(row, sizes)
    }

    /// How rough every place is here.
    pub(crate) fn feel(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill_roughness(&self.instant.state, &mut self.modes.roughness)
    }

    /// What every sliding friction does for a unit push, with the decomposition at hand.
    pub(crate) fn prepare_sliding(&mut self) -> Result<(), MotionError> {
        self.feel()?;
        let mut n_slides = 0;
        for k in 0..self.modes.frictions.len() {
            if !matches!(self.modes.grips[k], Grip::Slides(_)) {
                continue;
            }
            let rough = self.modes.roughness[k];
            let holds = self.modes.begins[k] && !self.modes.loose[k];
            let mu = if holds { rough.holding } else { rough.sliding };
            let rub = self.direction(k)?.map(|d| -mu * d);
            if self.modes.responses.len() == n_slides {
                self.modes.responses.push(Response::default());
            }
            let response = &mut self.modes.responses[n_slides];
            (response.friction, response.mu, response.normal, response.rub) = (k, mu, 0.0, rub);
            self.respond(n_slides)?;
            n_slides += 1;
        }
        self.modes.responses.truncate(n_slides);
        Ok(())
    }

    /// The accelerations and multipliers of a response, whose force is known.
    fn respond(&mut self, i: usize) -> Result<(), MotionError> {
        let Modes { responses, frictions, whole, leanings, leans, .. } = &mut self.modes;
        let Response { friction, rub, qddot, lambda, .. } = &mut responses[i];
        let (none, force) = (&mut self.rhs, &mut self.delta);
        none.fill(0.0);
        force.fill(0.0);
        for (&row, x) in frictions[*friction].slip.iter().zip(&*rub) {
            let (col, value) = whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] += x * a);
        }
        let A = &self.given.constraint_matrix;
        qddot.resize(self.n, 0.0);
        lambda.resize(A.n_rows, 0.0);
        self.all.solve(A, force, &[], &none[..A.n_rows], qddot)?;
        self.all.multipliers(A, lambda)?;
        if *leans {
            lean(leanings, frictions, lambda);
        }
        Ok(())
    }

    /// Finds the directions d in which these frictions accelerate their own slips, s̈ ∥ d: of the friction μ N d, those that
    ///
    /// $$ d \leftarrow \frac{\mu N d + r \ddot s}{|\mu N d + r \ddot s|} $$
    ///
    /// leaves as they are, for any r > 0. Where what held lets go, s̈ is zero but for rounding, and d stays against the force
    /// that held; s̈ alone would have no direction there. A slip that goes on may slow down, s̈ against d. One that `sets_out`
    /// must not: there the divisor is at least μ N, and a d shorter than one says that friction would hold.
    pub(crate) fn settle_directions(&mut self, sought: &[usize], sets_out: bool) -> Result<(), MotionError> {
        /// Enough where the place gives way ten times as easily in one direction as in another, even without mixing.
        const ROUNDS: usize = 400;
        /// Mixing that has not helped by then does not.
        const MIXED: usize = 100;
        const FOUND: f64 = 1e-13;
        /// Slow rounds may leave this.
        const NEAR: f64 = 1e-9;
        self.evaluate_once()?;
        let places = self.slippery(sought)?;
        let mut rounds = Rounds::default();
        let mut change = 0f64;
        for round in 0..ROUNDS {
            let now: Vec<f64> = sought.iter().flat_map(|&k| self.modes.directions[k].iter().copied()).collect();
            let wished: Vec<f64> = places.iter().flat_map(|place| self.wished(place, sets_out)).collect();
            change = wished.iter().zip(&now).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            let next = if round < MIXED && change > FOUND { rounds.next(&now, &wished) } else { wished };
            self.turn(&places, &next, sets_out)?;
            if change <= FOUND {
                return Ok(());
            }
        }
        if change <= NEAR { Ok(()) } else { Err(MotionError::NotConverged { residual: change }) }
    }

    /// What forces along the slips of these frictions do, with the decomposition at hand.
    fn slippery(&mut self, frictions: &[usize]) -> Result<Vec<Slippery>, MotionError> {
        let none = vec![0.0; self.given.constraint_rhs.len()];
        let mut places = Vec::new();
        for &friction in frictions {
            let ways = self.ways(friction);
            let mut place = Slippery { friction, mass: 0.0, ways, qddot: Vec::new(), lambda: Vec::new() };
            for &row in &self.modes.frictions[friction].slip {
                let (mut force, mut qddot, mut lambda) = (vec![0.0; self.n], vec![0.0; self.n], none.clone());
                let (col, value) = self.modes.whole.constraint_matrix.row(row);
                col.iter().zip(value).for_each(|(&j, a)| force[j] += a);
                self.all.solve(&self.given.constraint_matrix, &force, &[], &none, &mut qddot)?;
                self.all.multipliers(&self.given.constraint_matrix, &mut lambda)?;
                self.modes.lean(&mut lambda);
                place.qddot.push(qddot);
                place.lambda.push(lambda);
            }
            // together they give way more easily than one by one, by their number at most
            place.mass = 1.0 / (frictions.len() as f64 * self.compliance(friction)?);
            places.push(place);
        }
        Ok(places)
    }

    /// Where the motion at hand would turn a direction.
    fn wished(&self, place: &Slippery, sets_out: bool) -> Slip {
        let (whole, qddot) = (&self.modes.whole, &self.instant.qddot);
        let along = |row: usize| whole.constraint_matrix.row_times(row, qddot) - whole.constraint_rhs[row];
        let wish = self.modes.frictions[place.friction].slips(|row| place.mass * along(row) - self.instant.lambda[row]);
        // what others hold does not slide, and friction does not act against what holds already
        let wish = if sets_out { along_ways(&place.ways, &wish) } else { wish };
        let most = self.response(place.friction).map_or(0.0, |r| r.mu * r.normal);
        let size = if sets_out { length(&wish).max(most) } else { length(&wish) };
        if size > 0.0 { wish.map(|x| x / size) } else { self.modes.directions[place.friction] }
    }

    fn response(&self, friction: usize) -> Option<&Response> {
        self.modes.responses.iter().find(|response| response.friction == friction)
    }

    /// The motion with these directions, one after the other, by what forces along the slips do.
    fn turn(&mut self, places: &[Slippery], directions: &[f64], sets_out: bool) -> Result<(), MotionError> {
        for (place, own) in places.iter().zip(directions.as_chunks::<3>().0) {
            // mixing may leave the circle
            let size = length(own);
            let scale = if (sets_out && size <= 1.0) || size == 0.0 { 1.0 } else { 1.0 / size };
            let own = own.map(|d| scale * d);
            let Some(response) = self.modes.responses.iter_mut().find(|r| r.friction == place.friction) else {
                continue;
            };
            response.rub = own.map(|d| -response.mu * d);
            response.qddot.fill(0.0);
            response.lambda.fill(0.0);
            for ((rub, qddot), lambda) in response.rub.iter().zip(&place.qddot).zip(&place.lambda) {
                response.qddot.iter_mut().zip(qddot).for_each(|(x, y)| *x += rub * y);
                response.lambda.iter_mut().zip(lambda).for_each(|(x, y)| *x += rub * y);
            }
            self.modes.directions[place.friction] = own;
        }
        self.instant.qddot.clone_from(&self.modes.smooth.0);
        self.instant.lambda.clone_from(&self.modes.smooth.1);
        self.add_sliding()
    }

    /// How easily friction k gives way at most: the largest acceleration of its slip by a unit force along it, with the
    /// decomposition at hand.
    pub(crate) fn compliance(&mut self, k: usize) -> Result<f64, MotionError> {
        /// What others hold does not give way at all, but for rounding: this part of what it would alone counts.
        const HELD: f64 = 1e-3;
        let (most, alone) = self.gives_way(&self.modes.frictions[k].slip.clone())?;
        Ok(most.max(HELD * alone))
    }

    /// Whether the rows that hold leave others no way, with the decomposition at hand.
    pub(crate) fn are_held(&mut self, rows: &[usize]) -> Result<bool, MotionError> {
        /// What is left of the way they have alone, by rounding and where feet do not quite lie in a plane.
        const NOTHING: f64 = 1e-9;
        let (most, alone) = self.gives_way(rows)?;
        Ok(most <= NOTHING * alone)
    }

    /// How easily rows give way at most, and how easily without any rows that hold.
    fn gives_way(&mut self, rows: &[usize]) -> Result<(f64, f64), MotionError> {
        let none = vec![0.0; self.given.constraint_rhs.len()];
        let (mut force, mut x) = (vec![0.0; self.n], vec![0.0; self.n]);
        let (mut W, mut alone) = (Vec::new(), f64::MIN_POSITIVE);
        for &row in rows {
            let A = &self.modes.whole.constraint_matrix;
            force.fill(0.0);
            let (col, value) = A.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] += a);
            self.all.solve(&self.given.constraint_matrix, &force, &[], &none, &mut x)?;
            W.extend(rows.iter().map(|&other| A.row_times(other, &x)));
            self.all.solve_mass(&mut force);
            alone = alone.max(A.row_times(row, &force));
        }
        let (values, _) = symmetric_eigen(&W, rows.len(), self.settings.small_limit);
        Ok((values.iter().fold(0.0, |top: f64, x| top.max(*x)), alone))
    }

    /// Adds friction to q̈ and λ, which are those without it. The normal forces solve
    ///
    /// $$ N_k = \Bigl|F_k\Bigl(\lambda + \sum_j N_j\,\lambda^{(j)}\Bigr)\Bigr| $$
    ///
    /// by Newton's method; where one row presses, its sign is the mode's, and one step is exact.
    pub(crate) fn add_sliding(&mut self) -> Result<(), MotionError> {
        self.modes.smooth.0.clone_from(&self.instant.qddot);
        self.modes.smooth.1.clone_from(&self.instant.lambda);
        let mut normals = std::mem::take(&mut self.modes.normals);
        let solved = self.normal_forces(&mut normals);
        self.modes.normals = normals;
        solved?;
        let Modes { responses, frictions, normals, .. } = &mut self.modes;
        let instant = &mut self.instant;
        for (response, &N) in responses.iter_mut().zip(&normals.N) {
            response.normal = N;
            instant.qddot.iter_mut().zip(&response.qddot).for_each(|(x, r)| *x += N * r);
            instant.lambda.iter_mut().zip(&response.lambda).for_each(|(x, r)| *x += N * r);
        }
        for response in &*responses {
            for (&row, rub) in frictions[response.friction].slip.iter().zip(&response.rub) {
                instant.lambda[row] = response.normal * rub;
            }
        }
        Ok(())
    }

    /// Finds the normal forces of what slides.
    fn normal_forces(&self, normals: &mut Normals) -> Result<(), MotionError> {
        /// Newton's steps: a few square the error away.
        const ROUNDS: usize = 40;
        const FOUND: f64 = 1e-15;
        let (modes, lambda, responses) = (&self.modes, &self.instant.lambda, &self.modes.responses);
        let k = responses.len();
        let Normals { N, G, g } = normals;
        N.clear();
        N.resize(k, 0.0);
        G.resize(k * k, 0.0);
        g.resize(k, 0.0);
        let of = |r: &Response| (&modes.frictions[r.friction], modes.roughness[r.friction], modes.presses[r.friction]);
        let jammed = |i: usize| MotionError::Jammed { row: of(&responses[i]).0.normals[0] };
        let is_curved = responses.iter().any(|r| of(r).0.single().is_none());
        for (i, r) in responses.iter().enumerate() {
            let (friction, rough, _) = of(r);
            // |a + N b| = N has one solution where |b| < 1, and none or two elsewhere
            if friction.single().is_none() && rough.normal(&friction.pushes(&r.lambda)) >= 1.0 - JAMMED {
                return Err(jammed(i));
            }
        }
        for _ in 0..ROUNDS {
            for (i, r) in responses.iter().enumerate() {
                let (friction, rough, press) = of(r);
                let own = friction.pushes(lambda);
                let by = |j: usize| friction.pushes(&responses[j].lambda);
                let now: [f64; MOST_NORMALS] =
                    std::array::from_fn(|l| own[l] + N.iter().enumerate().map(|(j, n)| n * by(j)[l]).sum::<f64>());
                let gradient = rough.gradient(friction, press, &now);
                (0..k).for_each(|j| G[i * k + j] = f64::from(u8::from(i == j)) - dot(&by(j), &gradient));
                g[i] = dot(&own, &gradient);
            }
            eliminate(G, g, JAMMED).map_err(jammed)?;
            let size = g.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
            let change = g.iter().zip(&*N).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            N.copy_from_slice(g);
            if !is_curved || change <= FOUND * size {
                return Ok(());
            }
        }
        Err(jammed(0))
    }
}

/// The part of a slip that lies along some ways.
pub(super) fn along_ways(ways: &[Slip], slip: &Slip) -> Slip {
    let mut along = Slip::default();
    for way in ways {
        add_multiple(&mut along, dot(way, slip), way);
    }
    along
}

/// Solves G x = p in place by elimination with pivots above the least; the row at which it fails.
pub(super) fn eliminate(G: &mut [f64], p: &mut [f64], least: f64) -> Result<(), usize> {
    let k = p.len();
    for c in 0..k {
        let best = (c..k).max_by(|&a, &b| G[a * k + c].abs().total_cmp(&G[b * k + c].abs())).unwrap_or(c);
        if !(G[best * k + c].abs() > least) {
            return Err(c);
        }
        for j in 0..k {
            G.swap(c * k + j, best * k + j);
        }
        p.swap(c, best);
        for i in c + 1..k {
            let factor = G[i * k + c] / G[c * k + c];
            for j in c..k {
                G[i * k + j] -= factor * G[c * k + j];
            }
            p[i] -= factor * p[c];
        }
    }
    for i in (0..k).rev() {
        let sum: f64 = (i + 1..k).map(|j| G[i * k + j] * p[j]).sum();
        p[i] = (p[i] - sum) / G[i * k + i];
    }
    Ok(())
}
