//! Sliding friction: a force proportional to the normal force, which it changes itself.

use super::ContactSystem;
use super::fixed_point::Rounds;
use super::load_path::transfer_blocked;
use super::place::{ContactMode, ContactState};
use super::{MOST_NORMALS, Slip, length, unit_vector};
use crate::factor::{add_multiple, dense::symmetric_eigen, dot};
use crate::{ConstraintLevel, Dynamics, MotionError, limits, tolerance};

/// The response to a unit normal force through one sliding friction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    /// Index of the friction.
    friction: usize,
    /// μ.
    mu: f64,
    /// N, once it is found.
    normal: f64,
    /// λ of its slip rows for N = 1: −μ s/|s|.
    friction_per_normal: Slip,
    /// The accelerations and multipliers of this force.
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

/// The response to unit forces in the slip rows of one friction.
struct PlaceResponse {
    friction: usize,
    /// The factor of the slip acceleration relative to the force, in the iteration for its direction.
    mass: f64,
    /// Free directions.
    free_directions: Vec<Slip>,
    /// Accelerations and multipliers, row by row.
    qddot: Vec<Vec<f64>>,
    lambda: Vec<Vec<f64>>,
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// The direction in which friction k slides: along its slip, or as the mode says if it has just started.
    pub(crate) fn direction(&mut self, k: usize) -> Result<Slip, MotionError> {
        let before = self.mode.directions[k];
        if let (1, ContactState::Sliding(sense)) = (self.mode.frictions[k].slip.len(), self.mode.states[k]) {
            return Ok([sense, 0.0, 0.0]);
        }
        if self.mode.trial_onset[k] || self.mode.slow[k] > 0.0 {
            return Ok(before);
        }
        // beyond the point at which the slip stops the force continues as it was, so that the point can be found
        let goes_on = |d: &Slip| dot(d, &before) > 0.0;
        Ok(self.slip_direction(k)?.filter(goes_on).unwrap_or(before))
    }

    /// Lets slips follow their accelerations up to these speeds, if all of them point there within the tolerance. After an
    /// impact they may not: then they keep the directions of their slips.
    pub(crate) fn follow_acceleration(&mut self, slips: &[(usize, f64)]) -> Result<bool, MotionError> {
        for &(k, slow) in slips {
            if let Some(d) = self.slip_direction(k)? {
                self.mode.directions[k] = d;
            }
            self.mode.slow[k] = slow;
            self.mode.bases[k] = self.mode.directions[k];
        }
        let mut follows = !slips.is_empty() && self.evaluate().is_ok();
        for &(k, _) in slips {
            follows = follows && self.slides_along_direction(k)?;
        }
        for &(k, _) in slips {
            if follows {
                self.mode.bases[k] = self.mode.directions[k];
            } else {
                self.mode.slow[k] = 0.0;
                self.mode.directions[k] = self.mode.bases[k];
            }
        }
        Ok(follows)
    }

    /// `true` if friction k slides in its direction, within the tolerance.
    fn slides_along_direction(&mut self, k: usize) -> Result<bool, MotionError> {
        let slip = self.slip(k)?;
        let d = &self.mode.directions[k];
        let along = dot(&slip, d);
        let across = length(&std::array::from_fn::<f64, 3, _>(|i| slip[i] - along * d[i]));
        let is_still = length(&slip) <= self.rate_noise(&self.mode.frictions[k].slip);
        Ok(is_still || (along > 0.0 && across <= self.tolerated_slip(k)))
    }

    /// The direction of the slip of friction k, unless it is rounding.
    pub(crate) fn slip_direction(&mut self, k: usize) -> Result<Option<Slip>, MotionError> {
        let slip = self.slip(k)?;
        let moves = length(&slip) > self.rate_noise(&self.mode.frictions[k].slip);
        Ok(unit_vector(slip).filter(|_| moves))
    }

    /// A slip of friction k that is within the tolerance of the run.
    pub(crate) fn tolerated_slip(&self, k: usize) -> f64 {
        let sizes = self.mode.frictions[k].slip.iter().map(|&row| self.row_size(row, &self.smooth.v_size));
        self.mode.tolerance * sizes.fold(0.0, f64::max)
    }

    /// `true` if friction k slides in space along its slip, which its direction follows.
    pub(crate) fn follows_slip(&self, k: usize) -> bool {
        self.mode.slides_in_space(k) && self.mode.slow[k] == 0.0
    }

    /// The slip s of friction k at the state.
    pub(crate) fn slip(&mut self, k: usize) -> Result<Slip, MotionError> {
        self.fill_rates()?;
        Ok(self.mode.frictions[k].slips(|row| self.mode.rates[row]))
    }

    /// φ̇ and ψ of all rows at the state, active or not.
    pub(crate) fn rates(&mut self) -> Result<Vec<f64>, MotionError> {
        self.fill_rates()?;
        Ok(self.mode.rates.clone())
    }

    /// Fills in φ̇ and ψ of all rows.
    pub(crate) fn fill_rates(&mut self) -> Result<(), MotionError> {
        self.mode.rates.resize(self.smooth.hs, 0.0);
        self.smooth.residuals(ConstraintLevel::Velocities, &mut self.mode.rates)
    }

    /// A rate of these rows below this is rounding.
    pub(crate) fn rate_noise(&self, rows: &[usize]) -> f64 {
        let size = |&row: &usize| self.row_size(row, &self.smooth.v_size);
        tolerance::ROUNDING * rows.iter().map(size).fold(0.0, f64::max)
    }

    /// Σ |Aᵢⱼ| sizeⱼ of a row, active or not.
    pub(crate) fn row_size(&self, row: usize, sizes: &[f64]) -> f64 {
        self.smooth.rows.row_size(row, sizes)
    }

    /// Updates Coulomb's law of every place at the state.
    pub(crate) fn update_friction(&mut self) -> Result<(), MotionError> {
        if self.mode.frictions.is_empty() {
            return Ok(());
        }
        match self.smooth.dynamics.contacts() {
            Some(laws) => laws.fill_friction_laws(&self.smooth.instant.state, &mut self.mode.laws),
            None => Ok(()),
        }
    }

    /// The response of every sliding friction to a unit normal force, with the current decomposition.
    pub(crate) fn prepare_sliding(&mut self) -> Result<(), MotionError> {
        self.update_friction()?;
        let mut n_slides = 0;
        for k in 0..self.mode.frictions.len() {
            if !matches!(self.mode.states[k], ContactState::Sliding(_)) {
                continue;
            }
            let law = self.mode.laws[k];
            let holds = self.mode.trial_onset[k] && !self.mode.kinetic_assumed[k];
            let mu = if holds { law.static_mu } else { law.kinetic_mu };
            let friction_per_normal = self.direction(k)?.map(|d| -mu * d);
            if self.mode.responses.len() == n_slides {
                self.mode.responses.push(Response::default());
            }
            let response = &mut self.mode.responses[n_slides];
            (response.friction, response.mu, response.normal, response.friction_per_normal) =
                (k, mu, 0.0, friction_per_normal);
            self.respond(n_slides)?;
            n_slides += 1;
        }
        self.mode.responses.truncate(n_slides);
        Ok(())
    }

    /// The accelerations and multipliers of a response, whose force is known.
    fn respond(&mut self, i: usize) -> Result<(), MotionError> {
        let ContactMode { responses, frictions, blocked, has_blocked, .. } = &mut *self.mode;
        let whole = &self.smooth.rows.whole;
        let Response { friction, friction_per_normal, qddot, lambda, .. } = &mut responses[i];
        let (none, force) = (&mut self.smooth.scratch.rhs, &mut self.smooth.scratch.delta);
        none.fill(0.0);
        force.fill(0.0);
        for (&row, x) in frictions[*friction].slip.iter().zip(&*friction_per_normal) {
            let (col, value) = whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] += x * a);
        }
        let A = &self.smooth.given.constraint_matrix;
        qddot.resize(self.smooth.n, 0.0);
        lambda.resize(A.n_rows, 0.0);
        self.smooth.all.solve(A, force, &[], &none[..A.n_rows], qddot)?;
        self.smooth.all.multipliers(A, lambda)?;
        if *has_blocked {
            transfer_blocked(blocked, frictions, lambda);
        }
        Ok(())
    }

    /// Finds the directions d in which these frictions accelerate their own slips, s̈ ∥ d: of the friction μ N d, those that
    ///
    /// $$ d \leftarrow \frac{\mu N d + r \ddot s}{|\mu N d + r \ddot s|} $$
    ///
    /// leaves as they are, for any r > 0. At slip onset s̈ is zero but for rounding, and d stays against the static force;
    /// s̈ alone would have no direction there. A slip that continues may slow down, s̈ against d. A slip onset must not:
    /// there the divisor is at least μ N, and a d shorter than one says that the place would stick.
    pub(crate) fn settle_directions(&mut self, sought: &[usize], slip_onset: bool) -> Result<(), MotionError> {
        self.evaluate_once()?;
        let places = self.place_responses(sought)?;
        let mut rounds = Rounds::default();
        let mut change = 0f64;
        for round in 0..limits::MIXING_ROUNDS {
            let now: Vec<f64> = sought.iter().flat_map(|&k| self.mode.directions[k].iter().copied()).collect();
            let target_direction: Vec<f64> =
                places.iter().flat_map(|place| self.target_direction(place, slip_onset)).collect();
            change = target_direction.iter().zip(&now).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            let next = if round < limits::MIXED_FORCE_ROUNDS && change > tolerance::MIXING_CONVERGED {
                rounds.next(&now, &target_direction)
            } else {
                target_direction
            };
            self.turn(&places, &next, slip_onset)?;
            if change <= tolerance::MIXING_CONVERGED {
                return Ok(());
            }
        }
        if change <= tolerance::LAW { Ok(()) } else { Err(MotionError::NotConverged { residual: change }) }
    }

    /// The responses to forces along the slips of these frictions, with the current decomposition.
    fn place_responses(&mut self, frictions: &[usize]) -> Result<Vec<PlaceResponse>, MotionError> {
        let none = vec![0.0; self.smooth.given.constraint_rhs.len()];
        let mut places = Vec::new();
        for &friction in frictions {
            let free_directions = self.free_directions(friction);
            let mut place =
                PlaceResponse { friction, mass: 0.0, free_directions, qddot: Vec::new(), lambda: Vec::new() };
            for &row in &self.mode.frictions[friction].slip {
                let (mut force, mut qddot, mut lambda) =
                    (vec![0.0; self.smooth.n], vec![0.0; self.smooth.n], none.clone());
                let (col, value) = self.smooth.rows.whole.constraint_matrix.row(row);
                col.iter().zip(value).for_each(|(&j, a)| force[j] += a);
                self.smooth.all.solve(&self.smooth.given.constraint_matrix, &force, &[], &none, &mut qddot)?;
                self.smooth.all.multipliers(&self.smooth.given.constraint_matrix, &mut lambda)?;
                self.mode.transfer_blocked(&mut lambda);
                place.qddot.push(qddot);
                place.lambda.push(lambda);
            }
            // together their compliance is larger than one by one, by their number at most
            place.mass = 1.0 / (frictions.len() as f64 * self.compliance(friction)?);
            places.push(place);
        }
        Ok(places)
    }

    /// The direction towards which the current motion turns a slip.
    fn target_direction(&self, place: &PlaceResponse, slip_onset: bool) -> Slip {
        let (whole, qddot) = (&self.smooth.rows.whole, &self.smooth.instant.qddot);
        let along = |row: usize| whole.constraint_matrix.row_times(row, qddot) - whole.constraint_rhs[row];
        let target =
            self.mode.frictions[place.friction].slips(|row| place.mass * along(row) - self.smooth.instant.lambda[row]);
        // blocked directions do not slide, and friction does not act in them
        let target = if slip_onset { along_directions(&place.free_directions, &target) } else { target };
        let most = self.response(place.friction).map_or(0.0, |r| r.mu * r.normal);
        let size = if slip_onset { length(&target).max(most) } else { length(&target) };
        if size > 0.0 { target.map(|x| x / size) } else { self.mode.directions[place.friction] }
    }

    fn response(&self, friction: usize) -> Option<&Response> {
        self.mode.responses.iter().find(|response| response.friction == friction)
    }

    /// Sets these directions one after the other, and finds the motion from the responses along the slips.
    fn turn(&mut self, places: &[PlaceResponse], directions: &[f64], slip_onset: bool) -> Result<(), MotionError> {
        for (place, own) in places.iter().zip(directions.as_chunks::<3>().0) {
            // mixing may leave the unit circle
            let size = length(own);
            let scale = if (slip_onset && size <= 1.0) || size == 0.0 { 1.0 } else { 1.0 / size };
            let own = own.map(|d| scale * d);
            let Some(response) = self.mode.responses.iter_mut().find(|r| r.friction == place.friction) else {
                continue;
            };
            response.friction_per_normal = own.map(|d| -response.mu * d);
            response.qddot.fill(0.0);
            response.lambda.fill(0.0);
            for ((friction_per_normal, qddot), lambda) in
                response.friction_per_normal.iter().zip(&place.qddot).zip(&place.lambda)
            {
                response.qddot.iter_mut().zip(qddot).for_each(|(x, y)| *x += friction_per_normal * y);
                response.lambda.iter_mut().zip(lambda).for_each(|(x, y)| *x += friction_per_normal * y);
            }
            self.mode.directions[place.friction] = own;
        }
        self.smooth.instant.qddot.clone_from(&self.mode.smooth.0);
        self.smooth.instant.lambda.clone_from(&self.mode.smooth.1);
        self.add_friction()
    }

    /// The compliance of friction k: the largest acceleration of its slip by a unit force along it, with the decomposition
    /// at hand.
    pub(crate) fn compliance(&mut self, k: usize) -> Result<f64, MotionError> {
        let (most, alone) = self.compliances(&self.mode.frictions[k].slip.clone())?;
        Ok(most.max(tolerance::BLOCKED_COMPLIANCE * alone))
    }

    /// `true` if the active rows block these rows, with the current decomposition.
    pub(crate) fn are_blocked(&mut self, rows: &[usize]) -> Result<bool, MotionError> {
        let (most, alone) = self.compliances(rows)?;
        Ok(most <= tolerance::LAW * alone)
    }

    /// The largest compliance of rows, and the one without any active rows.
    fn compliances(&mut self, rows: &[usize]) -> Result<(f64, f64), MotionError> {
        let none = vec![0.0; self.smooth.given.constraint_rhs.len()];
        let (mut force, mut x) = (vec![0.0; self.smooth.n], vec![0.0; self.smooth.n]);
        let (mut W, mut alone) = (Vec::new(), f64::MIN_POSITIVE);
        for &row in rows {
            let A = &self.smooth.rows.whole.constraint_matrix;
            force.fill(0.0);
            let (col, value) = A.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] += a);
            self.smooth.all.solve(&self.smooth.given.constraint_matrix, &force, &[], &none, &mut x)?;
            W.extend(rows.iter().map(|&other| A.row_times(other, &x)));
            self.smooth.all.solve_mass(&mut force);
            alone = alone.max(A.row_times(row, &force));
        }
        let (values, _) = symmetric_eigen(&W, rows.len(), self.smooth.settings.small_limit);
        Ok((values.iter().fold(0.0, |top: f64, x| top.max(*x)), alone))
    }

    /// Adds friction to q̈ and λ, which are those without it. The normal forces solve
    ///
    /// $$ N_k = \Bigl|F_k\Bigl(\lambda + \sum_j N_j\,\lambda^{(j)}\Bigr)\Bigr| $$
    ///
    /// by Newton's method; if a place has one normal row, its side is the mode's, and one step is exact.
    pub(crate) fn add_friction(&mut self) -> Result<(), MotionError> {
        self.mode.smooth.0.clone_from(&self.smooth.instant.qddot);
        self.mode.smooth.1.clone_from(&self.smooth.instant.lambda);
        let mut normals = std::mem::take(&mut self.mode.normals);
        let solved = self.solve_normal_forces(&mut normals);
        self.mode.normals = normals;
        solved?;
        let ContactMode { responses, frictions, normals, .. } = &mut *self.mode;
        let instant = &mut self.smooth.instant;
        for (response, &N) in responses.iter_mut().zip(&normals.N) {
            response.normal = N;
            instant.qddot.iter_mut().zip(&response.qddot).for_each(|(x, r)| *x += N * r);
            instant.lambda.iter_mut().zip(&response.lambda).for_each(|(x, r)| *x += N * r);
        }
        for response in &*responses {
            for (&row, friction_per_normal) in
                frictions[response.friction].slip.iter().zip(&response.friction_per_normal)
            {
                instant.lambda[row] = response.normal * friction_per_normal;
            }
        }
        Ok(())
    }

    /// Finds the normal forces of sliding places.
    fn solve_normal_forces(&self, normals: &mut Normals) -> Result<(), MotionError> {
        let (mode, lambda, responses) = (&self.mode, &self.smooth.instant.lambda, &self.mode.responses);
        let k = responses.len();
        let Normals { N, G, g } = normals;
        N.clear();
        N.resize(k, 0.0);
        G.resize(k * k, 0.0);
        g.resize(k, 0.0);
        let of = |r: &Response| (&mode.frictions[r.friction], mode.laws[r.friction], mode.sides[r.friction]);
        let jammed = |i: usize| MotionError::Jammed { row: of(&responses[i]).0.normals[0] };
        let is_curved = responses.iter().any(|r| of(r).0.single().is_none());
        for (i, r) in responses.iter().enumerate() {
            let (friction, law, _) = of(r);
            // |a + N b| = N has one solution if |b| < 1, and none or two otherwise
            if friction.single().is_none() && law.normal(&friction.normal_forces(&r.lambda)) >= 1.0 - tolerance::JAMMED
            {
                return Err(jammed(i));
            }
        }
        for _ in 0..limits::NEWTON_ROUNDS {
            for (i, r) in responses.iter().enumerate() {
                let (friction, law, side) = of(r);
                let own = friction.normal_forces(lambda);
                let by = |j: usize| friction.normal_forces(&responses[j].lambda);
                let now: [f64; MOST_NORMALS] =
                    std::array::from_fn(|l| own[l] + N.iter().enumerate().map(|(j, n)| n * by(j)[l]).sum::<f64>());
                let gradient = law.gradient(friction, side, &now);
                (0..k).for_each(|j| G[i * k + j] = f64::from(u8::from(i == j)) - dot(&by(j), &gradient));
                g[i] = dot(&own, &gradient);
            }
            eliminate(G, g, tolerance::JAMMED).map_err(jammed)?;
            let size = g.iter().fold(0.0, |top: f64, x| top.max(x.abs()));
            let change = g.iter().zip(&*N).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()));
            N.copy_from_slice(g);
            if !is_curved || change <= tolerance::NEWTON_CONVERGED * size {
                return Ok(());
            }
        }
        Err(jammed(0))
    }
}

/// The part of a slip in the span of some directions.
pub(super) fn along_directions(free_directions: &[Slip], slip: &Slip) -> Slip {
    let mut along = Slip::default();
    for direction in free_directions {
        add_multiple(&mut along, dot(direction, slip), direction);
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
