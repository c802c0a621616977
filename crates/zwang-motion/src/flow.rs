//! The motion as a flow: the rate of the state at a held rank, and the way back onto the constraints.

use crate::{
    Asked, Drift, Dynamics, Given, Instant, Jacobian, Legendre, Matrix, MotionError, Route, RouteName, Settings,
    Solution, State, Tableau, acceleration::decomposition::Decomposition, dependence::contradiction, route,
    steering::Control, unilateral::modes::Modes,
};

/// y = (q, q̇, w) ↦ ẏ = (q̇, q̈, ẇ), where w are the integrals the system asks for.
///
/// The acceleration is UK02 (12) with the rank held: stages of a Runge-Kutta step lie off the constraints, where rows that
/// depend on each other become independent and contradict.
pub(crate) struct Flow<'d, D: Dynamics + ?Sized> {
    pub(crate) dynamics: &'d mut D,
    pub(crate) settings: Settings,
    pub(crate) drift: Drift,
    pub(crate) n: usize,
    /// Rows on positions, and rows on positions or velocities.
    pub(crate) h: usize,
    hs: usize,
    /// Asked rows held on positions, and those held on positions or velocities.
    held: (usize, usize),
    pub(crate) given: Given,
    /// Which rows hold, where some do only at times.
    pub(crate) modes: Modes,
    /// All rows; the first h and the first hs where they are fewer.
    pub(crate) all: Decomposition,
    positions: Option<Level>,
    velocities: Option<Level>,
    /// What controls ask for, and the force that does it.
    pub(crate) control: Option<Control>,
    way: Option<Box<dyn Route>>,
    legendre: Option<Legendre>,
    solution: Solution,
    pub(crate) instant: Instant,
    residual: Vec<f64>,
    rhs: Vec<f64>,
    delta: Vec<f64>,
    columns: Vec<f64>,
    /// Sizes of q and q̇, against which changes are measured.
    pub(crate) q_size: Vec<f64>,
    pub(crate) v_size: Vec<f64>,
    pub(crate) wants_lambda: bool,
    /// Whether the system gives its acceleration explicitly, for the rank that is held.
    pub(crate) is_explicit: bool,
    /// Whether all rows are independent.
    pub(crate) is_whole: bool,
    /// How often the explicit acceleration was asked for, and how often a pivot was in doubt.
    n_asked: usize,
    n_doubts: usize,
    pub(crate) n_evaluations: usize,
    pub(crate) n_factorizations: usize,
}

/// The first rows of A, and of what is asked those that are held, decomposed by themselves.
struct Level {
    A: Matrix,
    /// How many of the values belong to A, the rest being those of held rows.
    n_own: usize,
    decomposition: Decomposition,
    /// Whether it was tried sparsely, as all rows are where the system is large.
    tried_large: bool,
}

impl Level {
    fn new(A: &Matrix, n_rows: usize, held: Option<(&Asked, usize)>, settings: &Settings) -> Level {
        let end = A.row_start[n_rows];
        let mut level = Matrix {
            n_rows,
            n_cols: A.n_cols,
            row_start: A.row_start[..=n_rows].to_vec(),
            col: A.col[..end].to_vec(),
            value: A.value[..end].to_vec(),
        };
        if let Some((asked, n_held)) = held {
            for i in 0..n_held {
                let (col, value) = asked.rows.row(i);
                level.col.extend(col);
                level.value.extend(value);
                level.row_start.push(level.col.len());
            }
            level.n_rows += n_held;
        }
        Level { A: level, n_own: end, decomposition: Decomposition::new(settings), tried_large: false }
    }

    fn factor(
        &mut self,
        given: &Given,
        asked: Option<&Asked>,
        large: bool,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        let (own, held) = self.A.value.split_at_mut(self.n_own);
        own.copy_from_slice(&given.constraint_matrix.value[..own.len()]);
        if let Some(asked) = asked {
            held.copy_from_slice(&asked.rows.value[..held.len()]);
        }
        if large && !std::mem::replace(&mut self.tried_large, true) {
            self.decomposition.go_large();
        }
        let found = self.decomposition.factor(&given.mass_matrix, &self.A);
        if found.is_err() && self.decomposition.is_large() {
            // these rows alone may not be of that kind
            self.decomposition = Decomposition::new(settings);
            return self.decomposition.factor(&given.mass_matrix, &self.A);
        }
        found
    }
}

/// Two corrections in a row may not shrink by less than this: then the point is not clearly nearer to this branch than to
/// another (Kantorovich).
const CONTRACTION: f64 = 0.25;

/// Corrections below this, relative to the size of q, may stall: they are rounding divided by a small singular value.
const STALLED: f64 = 1e-9;

/// A Newton step below this, relative to the size of q, leaves nothing but rounding.
const SQUARED: f64 = 1e-9;

impl<'d, D: Dynamics + ?Sized> Flow<'d, D> {
    pub(crate) fn new(dynamics: &'d mut D, route_name: RouteName, drift: Drift, settings: &Settings) -> Flow<'d, D> {
        let (n, m) = (dynamics.n_coordinates(), dynamics.n_rows());
        let h = dynamics.n_position_rows();
        let hs = h + dynamics.n_velocity_rows();
        let given = dynamics.allocate();
        let modes = Modes::new(dynamics.contacts(), dynamics.frictions(), &given);
        let A = &given.constraint_matrix;
        let asked = dynamics.allocate_asked();
        let held = asked.as_ref().map_or((0, 0), |asked| (asked.n_held.0, asked.n_held.0 + asked.n_held.1));
        let level = |n_rows: usize, n_held: usize| {
            let is_own = n_held > 0 || (0 < n_rows && n_rows < m);
            is_own.then(|| Level::new(A, n_rows, asked.as_ref().map(|asked| (asked, n_held)), settings))
        };
        let same = hs == h && held.0 == held.1;
        let (positions, velocities) = (level(h, held.0), if same { None } else { level(hs, held.1) });
        // without a check for contradictions: those are looked for at accepted states
        let settings = settings.clone();
        let way = (route_name != RouteName::GeneralizedInverse)
            .then(|| route(route_name, &Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() }));
        Flow {
            drift,
            n,
            h,
            hs,
            given,
            modes,
            all: Decomposition::new(&settings),
            positions,
            velocities,
            held,
            control: asked.map(|asked| {
                let rate = match drift {
                    Drift::Baumgarte { rate } => Some(rate),
                    _ => None,
                };
                Control::new(asked, n, rate, &settings)
            }),
            legendre: way.as_ref().and_then(|_| dynamics.allocate_legendre()),
            way,
            solution: Solution::default(),
            instant: Instant::new(dynamics, &State::zero(n)),
            residual: vec![0.0; m + held.1],
            rhs: vec![0.0; m + held.1],
            delta: vec![0.0; n],
            columns: Vec::new(),
            q_size: vec![1.0; n],
            v_size: vec![1.0; n],
            wants_lambda: dynamics.n_integrals() > 0,
            is_explicit: false,
            is_whole: false,
            n_asked: 0,
            n_doubts: 0,
            n_evaluations: 0,
            n_factorizations: 0,
            settings,
            dynamics,
        }
    }

    pub(crate) fn n_values(&self) -> usize {
        2 * self.n + self.instant.integrals.len()
    }

    /// Puts the flow at a time and y.
    pub(crate) fn place(&mut self, t: f64, y: &[f64]) {
        let n = self.n;
        self.instant.state.t = t;
        self.instant.state.q.copy_from_slice(&y[..n]);
        self.instant.state.qdot.copy_from_slice(&y[n..2 * n]);
        self.instant.integrals.copy_from_slice(&y[2 * n..]);
    }

    /// Writes q and q̇ back into y.
    pub(crate) fn take_state(&self, y: &mut [f64]) {
        let n = self.n;
        y[..n].copy_from_slice(&self.instant.state.q);
        y[n..2 * n].copy_from_slice(&self.instant.state.qdot);
    }

    /// M, Q, A, b here, decomposed.
    pub(crate) fn factor(&mut self) -> Result<(), MotionError> {
        self.n_evaluations += 1;
        self.fill()?;
        self.n_factorizations += 1;
        self.all.factor(&self.given.mass_matrix, &self.given.constraint_matrix)
    }

    /// q̈, and λ and C where they are needed, here.
    pub(crate) fn evaluate(&mut self) -> Result<(), MotionError> {
        // slips that are slow go where their acceleration leads
        let modes = &mut self.modes;
        let slow: Vec<usize> = (0..modes.slow.len()).filter(|&k| modes.slow[k] > 0.0).collect();
        slow.iter().for_each(|&k| modes.directions[k].clone_from(&modes.bases[k]));
        let has_lambda = match slow.is_empty() {
            true => self.evaluate_once()?,
            false => self.settle_directions(&slow, false).map(|()| true)?,
        };
        if has_lambda { self.share() } else { Ok(()) }
    }

    /// The same with the directions of slow slips as they are, and the shortest λ; whether that may be shared.
    pub(crate) fn evaluate_once(&mut self) -> Result<bool, MotionError> {
        let slides = self.modes.slides();
        if self.way.is_some() && !slides {
            return self.evaluate_by_route().map(|()| false);
        }
        self.factor()?;
        self.stabilize()?;
        if slides {
            self.prepare_sliding()?;
        }
        let Flow { dynamics, given, all, instant, .. } = self;
        let Given { given_force: Q, constraint_matrix: A, constraint_rhs: b, .. } = given;
        if let Some(control) = &mut self.control {
            return control.steer(&mut **dynamics, given, all, instant).map(|()| false);
        }
        all.solve(A, Q, &[], b, &mut instant.qddot)?;
        let nonideal = dynamics.has_nonideal();
        if !(nonideal || self.wants_lambda || slides) {
            return Ok(false);
        }
        all.multipliers(A, &mut instant.lambda_ideal)?;
        instant.lambda.copy_from_slice(&instant.lambda_ideal);
        if nonideal {
            dynamics.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            all.solve(A, Q, &instant.nonideal_force, b, &mut instant.qddot)?;
            all.multipliers(A, &mut instant.lambda)?;
        }
        if slides {
            self.add_sliding()?;
        }
        Ok(true)
    }

    /// Lets the system prepare what it can compute explicitly, for rows that are independent here and imply the others.
    pub(crate) fn specialize(&mut self) {
        let (m, rank) = (self.given.constraint_rhs.len(), self.all.rank());
        let asked_scales = match &self.control {
            None => Some(Vec::new()),
            // rows that are held, bounds and rows that repeat others take a decomposition
            Some(control) => Some(control).filter(|_| self.held.1 == 0).and_then(|control| control.plain_scales()),
        };
        let usable = self.way.is_none()
            && asked_scales.is_some()
            && !self.modes.slides()
            && !matches!(self.drift, Drift::Baumgarte { .. });
        let rows = match rank == m {
            true => Some((0..m).collect()),
            // rows on positions first: others may follow from them, but do not imply them
            false => self.all.independent_rows(|i| {
                if i < self.h {
                    1e6
                } else if i < self.hs {
                    1e3
                } else {
                    1.0
                }
            }),
        };
        (self.n_asked, self.n_doubts) = (0, 0);
        self.is_whole = rank == m;
        self.is_explicit = usable
            && rows.is_some_and(|rows: Vec<usize>| {
                let scales = self.all.row_scales();
                let scales: Vec<f64> = rows.iter().map(|&i| scales[i]).collect();
                self.dynamics.specialize(&rows, &scales, &asked_scales.unwrap_or_default())
            });
    }

    /// Whether every row is met by an acceleration, relative to the sizes that enter it; M, Q, A, b are those of the state.
    /// False means that a closer look is needed.
    pub(crate) fn meets_rows(&self, qddot: &[f64]) -> bool {
        let (A, b) = (&self.given.constraint_matrix, &self.given.constraint_rhs);
        let Settings { contradiction_tolerance, contradiction_floor, .. } = self.settings;
        (0..b.len()).all(|i| {
            let (col, value) = A.row(i);
            let (mut sum, mut size, mut top) = (0.0, b[i].abs(), 0f64);
            for (&j, &x) in col.iter().zip(value) {
                sum += x * qddot[j];
                size += (x * qddot[j]).abs();
                top = top.max(x.abs());
            }
            (b[i] - sum).abs() <= contradiction_tolerance * size + contradiction_floor * top
        })
    }

    /// M, Q, A, b here.
    pub(crate) fn fill(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill(&self.instant.state, &mut self.given)?;
        self.modes.mask(&mut self.given);
        Ok(())
    }

    /// q̈, λ and C here by the route the user chose.
    fn evaluate_by_route(&mut self) -> Result<(), MotionError> {
        self.n_evaluations += 1;
        self.n_factorizations += 1;
        self.fill()?;
        self.stabilize()?;
        let Flow { dynamics, given, way, instant, solution, legendre, control, .. } = self;
        let Some(way) = way else { return Ok(()) };
        if let Some(legendre) = legendre {
            dynamics.fill_legendre(&instant.state, legendre)?;
        }
        if let Some(control) = control {
            return control.steer_by_route(&mut **dynamics, given, &mut **way, legendre.as_ref(), (instant, solution));
        }
        way.at(&instant.state);
        way.solve(given, legendre.as_ref(), &[], solution)?;
        instant.lambda_ideal.copy_from_slice(&solution.lambda);
        if dynamics.has_nonideal() {
            dynamics.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            way.at(&instant.state);
            way.solve(given, legendre.as_ref(), &instant.nonideal_force, solution)?;
        }
        instant.qddot.copy_from_slice(&solution.qddot);
        instant.lambda.copy_from_slice(&solution.lambda);
        Ok(())
    }

    /// Baumgarte's terms: b ← b − 2α(φ̇, ψ/2) − α²φ.
    fn stabilize(&mut self) -> Result<(), MotionError> {
        let Drift::Baumgarte { rate: alpha } = self.drift else { return Ok(()) };
        let b = &mut self.given.constraint_rhs;
        self.dynamics.fill_velocities(&self.instant.state, &mut self.residual[..self.hs])?;
        self.modes.mask_residual(&mut self.residual[..self.hs]);
        for i in 0..self.hs {
            b[i] -= if i < self.h { 2.0 * alpha } else { alpha } * self.residual[i];
        }
        self.dynamics.fill_positions(&self.instant.state, &mut self.residual[..self.h])?;
        self.modes.mask_residual(&mut self.residual[..self.h]);
        for i in 0..self.h {
            b[i] -= alpha * alpha * self.residual[i];
        }
        Ok(())
    }

    /// ẏ at (t, y); a guarded rate is taken on the constraints, ẏ = f(P(y)).
    pub(crate) fn rate(&mut self, t: f64, y: &[f64], guarded: bool, rate: &mut [f64]) -> Result<(), MotionError> {
        self.place(t, y);
        if guarded {
            self.project(true)?;
        }
        self.evaluate()?;
        self.write_rate(rate)
    }

    /// ẏ at (t, y), without a decomposition where the system is explicit and no pivot is in doubt. Returns the least pivot
    /// then, and none where there is a decomposition.
    #[inline]
    pub(crate) fn rate_quickly(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<Option<f64>, MotionError> {
        if self.is_explicit {
            self.n_asked += 1;
            if let Some(pivot) = self.dynamics.accelerate(t, y, rate) {
                self.n_evaluations += 1;
                return Ok(Some(pivot));
            }
        }
        self.rate_in_doubt(t, y, rate)
    }

    /// All stages and the end of an explicit step, where the system computes them together.
    pub(crate) fn step_quickly(&mut self, tableau: &'static Tableau, t: f64, h: f64, y: &[f64], k: &mut [f64]) -> bool {
        let is_done = self.is_explicit && self.dynamics.step(tableau, t, h, y, k);
        if is_done {
            self.n_asked += tableau.n_stages - 1;
            self.n_evaluations += tableau.n_stages - 1;
        }
        is_done
    }

    #[cold]
    fn rate_in_doubt(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<Option<f64>, MotionError> {
        /// After so many questions an explicit acceleration that is mostly in doubt is no longer asked for.
        const TRIAL: usize = 64;
        if self.is_explicit {
            self.n_doubts += 1;
            self.is_explicit = self.n_asked < TRIAL || 2 * self.n_doubts < self.n_asked;
        }
        self.place(t, y);
        self.evaluate()?;
        self.write_rate(rate)?;
        Ok(None)
    }

    /// ẏ here, q̈ being known.
    pub(crate) fn write_rate(&mut self, rate: &mut [f64]) -> Result<(), MotionError> {
        let n = self.n;
        rate[..n].copy_from_slice(&self.instant.state.qdot);
        rate[n..2 * n].copy_from_slice(&self.instant.qddot);
        self.dynamics.fill_integrands(&self.instant, &mut rate[2 * n..])
    }

    /// Puts q on φ = 0 and q̇ on φ̇ = 0, ψ = 0 with the smallest change in the mass metric, by Newton steps.
    ///
    /// `fresh` decomposes here first; otherwise the system does it explicitly, or the decomposition of a state close by serves.
    /// Returns how far q moved, relative to its size.
    pub(crate) fn project(&mut self, fresh: bool) -> Result<f64, MotionError> {
        if self.hs + self.held.1 == 0 || self.drift != Drift::Project {
            return Ok(0.0);
        }
        let explicit = !fresh && self.is_explicit;
        if fresh {
            self.factor()?;
        }
        if !explicit {
            self.factor_levels()?;
        }
        let moved = self.newton(true, explicit)?;
        self.newton(false, explicit)?;
        Ok(moved)
    }

    /// Puts q̇ on φ̇ = 0, ψ = 0 with the decomposition at hand.
    pub(crate) fn project_velocity(&mut self) -> Result<(), MotionError> {
        if self.hs + self.held.1 == 0 {
            return Ok(());
        }
        self.factor_levels()?;
        self.newton(false, false).map(|_| ())
    }

    /// ∂q̈/∂q and ∂q̈/∂q̇ here, n x n, row after row; q̈ and λ have been found.
    ///
    /// Each column solves M δq̈ − Aᵀδλ = δ(Q + C + Aᵀλ − M q̈), A δq̈ = δ(b − A q̈), with the decomposition at hand. How C
    /// changes through λ is left out.
    pub(crate) fn derivatives(
        &mut self,
        jacobian: Option<&mut Jacobian>,
        by_q: &mut [f64],
        by_qdot: &mut [f64],
    ) -> Result<(), MotionError> {
        let n = self.n;
        if self.control.is_some() {
            return self.differences(by_q, by_qdot);
        }
        let Some(jacobian) = jacobian else { return Err(MotionError::NoJacobian) };
        match self.dynamics.fill_jacobian(&self.instant, jacobian) {
            // |v| v at rest has a derivative, though its formula divides zero by zero
            Err(MotionError::NotFinite { .. }) => return self.differences(by_q, by_qdot),
            filled => filled?,
        }
        let Jacobian { force_by_q, force_by_qdot, rows_by_q, rows_by_qdot } = jacobian;
        let A = &self.given.constraint_matrix;
        let m = A.n_rows;
        // room for the derivatives by columns, and for one right-hand side
        let Flow { all, columns, rhs, delta, .. } = self;
        columns.resize((n + m) * n + n, 0.0);
        for (force, rows, out) in [(force_by_q, rows_by_q, by_q), (force_by_qdot, rows_by_qdot, by_qdot)] {
            let (f, rest) = columns.split_at_mut(n);
            let (forces, rates) = rest.split_at_mut(n * n);
            force.write_dense(forces);
            rows.write_dense(&mut rates[..m * n]);
            for j in 0..n {
                (0..n).for_each(|i| f[i] = forces[i * n + j]);
                (0..m).for_each(|i| rhs[i] = rates[i * n + j]);
                all.solve(A, f, &[], rhs, delta)?;
                (0..n).for_each(|i| out[i * n + j] = delta[i]);
            }
        }
        Ok(())
    }

    /// The same by differences, for a system with controls, or where formulas of derivatives have no value: what solves with it only
    /// needs to converge.
    fn differences(&mut self, by_q: &mut [f64], by_qdot: &mut [f64]) -> Result<(), MotionError> {
        /// √ε: what is lost by rounding is then as much as by the bend.
        const PART: f64 = 1.5e-8;
        let n = self.n;
        let (base, here) = (self.instant.qddot.clone(), self.instant.state.clone());
        for (on_positions, out) in [(true, by_q), (false, by_qdot)] {
            for j in 0..n {
                let sizes = if on_positions { &self.q_size } else { &self.v_size };
                let state = &mut self.instant.state;
                let x = if on_positions { &mut state.q[j] } else { &mut state.qdot[j] };
                let before = *x;
                *x += PART * sizes[j].max(before.abs());
                let step = *x - before;
                self.evaluate()?;
                (0..n).for_each(|i| out[i * n + j] = (self.instant.qddot[i] - base[i]) / step);
                self.instant.state.clone_from(&here);
            }
        }
        self.evaluate()
    }

    /// What an asked row cannot be met by, if that is so here; q̈ has been found.
    pub(crate) fn unreachable(&self) -> Option<MotionError> {
        let Control { asked, steering, .. } = self.control.as_ref()?;
        // a force at its bound is no mistake
        if steering.margins.iter().any(|margin| *margin < 0.0) {
            return None;
        }
        let row = asked.missed_row(&self.instant.qddot, &self.settings)?;
        Some(MotionError::Unreachable { row, reached: steering.rank(), needed: steering.whole_rank() })
    }

    /// How many forces are bounded.
    pub(crate) fn n_bounded(&self) -> usize {
        self.control.as_ref().map_or(0, |control| control.asked.limit.len())
    }

    /// The quantities watched for a change of sign: those of the system, and how far each bounded force is from its upper and
    /// from its lower bound.
    pub(crate) fn fill_watched(&mut self, values: &mut [f64]) -> Result<(), MotionError> {
        let n_events = self.dynamics.n_events();
        self.dynamics.fill_events(&self.instant.state, &mut values[..n_events])?;
        if values.len() > n_events {
            self.evaluate()?;
            let Some(control) = &self.control else { return Ok(()) };
            for (place, pair) in values[n_events..].chunks_exact_mut(2).enumerate() {
                pair.copy_from_slice(&control.distances(place));
            }
        }
        Ok(())
    }

    /// Decomposes the first rows by themselves, where they are fewer.
    pub(crate) fn factor_levels(&mut self) -> Result<(), MotionError> {
        if let Some(control) = self.control.as_mut().filter(|_| self.held.1 > 0) {
            self.dynamics.fill_asked(&self.instant.state, &mut control.asked)?;
        }
        let asked = self.control.as_ref().map(|control| &control.asked);
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            self.n_factorizations += 1;
            level.factor(&self.given, asked, self.all.is_large(), &self.settings)?;
        }
        Ok(())
    }

    /// Newton steps until rounding, `explicit` ones or with the decomposition at hand; how far they went together.
    fn newton(&mut self, on_positions: bool, explicit: bool) -> Result<f64, MotionError> {
        const MOST: usize = 12;
        let n_rows = if on_positions { self.h } else { self.hs };
        let n_held = if on_positions { self.held.0 } else { self.held.1 };
        if n_rows + n_held == 0 {
            return Ok(0.0);
        }
        let (mut last, mut whole) = (f64::INFINITY, 0.0);
        for _ in 0..MOST {
            let size = match explicit {
                true => self.explicit_correction(on_positions)?,
                false => self.correction(on_positions, n_rows, n_held)?,
            };
            if !size.is_finite() || (size > CONTRACTION * last && last > STALLED) {
                return Err(MotionError::NotConverged { residual: size });
            }
            // a contact may stand on a corner of its surface, which rounding must not carry it across
            if !self.modes.is_empty() && !explicit && size <= 4.0 * f64::EPSILON {
                return Ok(whole);
            }
            // rounding stalls: the last correction was the last that meant something
            if size > CONTRACTION * last {
                return Ok(whole);
            }
            let state = &mut self.instant.state;
            let x = if on_positions { &mut state.q } else { &mut state.qdot };
            x.iter_mut().zip(&self.delta).for_each(|(x, d)| *x += d);
            whole += size;
            last = size;
            // with derivatives taken here Newton's steps square the error
            let enough = if explicit { SQUARED } else { 4.0 * f64::EPSILON };
            if size <= enough {
                break;
            }
        }
        Ok(whole)
    }

    /// The same as `correction`, with derivatives taken here, by the system itself.
    fn explicit_correction(&mut self, on_positions: bool) -> Result<f64, MotionError> {
        match self.dynamics.correct(&self.instant.state, on_positions, &mut self.delta) {
            true => Ok(self.size_of_correction(on_positions)),
            false => Err(MotionError::NotConverged { residual: 0.0 }),
        }
    }

    /// delta = −R⁻ᵀB⁺φ, or the same for φ̇ and ψ; its size.
    fn correction(&mut self, on_positions: bool, n_rows: usize, n_held: usize) -> Result<f64, MotionError> {
        let state = &self.instant.state;
        let (residual, held) = self.residual[..n_rows + n_held].split_at_mut(n_rows);
        if on_positions {
            self.dynamics.fill_positions(state, residual)?;
        } else {
            self.dynamics.fill_velocities(state, residual)?;
        }
        self.modes.mask_residual(residual);
        if n_held > 0 {
            self.dynamics.fill_held(state, on_positions, held)?;
        }
        let residual = &self.residual[..n_rows + n_held];
        let n_rows = n_rows + n_held;
        self.rhs.iter_mut().for_each(|x| *x = 0.0);
        self.rhs.iter_mut().zip(residual.iter()).for_each(|(r, x)| *r = -x);
        let n_all = self.given.constraint_rhs.len();
        let own = if on_positions { &mut self.positions } else { &mut self.velocities };
        // velocities may share a level with positions, or with all rows
        match own {
            Some(level) => {
                level.decomposition.solve(&level.A, &[], &[], &self.rhs[..n_rows], &mut self.delta)?;
            }
            None if n_rows == n_all && self.held.1 == 0 => {
                self.all.solve(&self.given.constraint_matrix, &[], &[], &self.rhs[..n_all], &mut self.delta)?;
            }
            None => {
                let Some(level) = &mut self.positions else { return Ok(0.0) };
                level.decomposition.solve(&level.A, &[], &[], &self.rhs[..n_rows], &mut self.delta)?;
            }
        }
        Ok(self.size_of_correction(on_positions))
    }

    fn size_of_correction(&self, on_positions: bool) -> f64 {
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        self.delta.iter().zip(sizes).fold(0.0, |top: f64, (d, s)| top.max(d.abs() / s))
    }

    /// Keeps the ranks found here from now on.
    pub(crate) fn hold(&mut self, rank: usize) {
        self.all.hold(rank);
        if let Some(control) = &mut self.control {
            control.steering.hold();
        }
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            let rank = level.decomposition.rank();
            level.decomposition.hold(rank);
        }
    }

    /// Keeps the order of the pivots through the stages of a step, or lets it be chosen afresh at an accepted state.
    pub(crate) fn keep_order(&mut self, keeps: bool) {
        self.all.keep_order(keeps);
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            level.decomposition.keep_order(keeps);
        }
    }

    /// Evaluates at an accepted state: the order of the pivots is chosen here, and kept through the stages of the next step.
    pub(crate) fn evaluate_afresh(&mut self) -> Result<(), MotionError> {
        self.keep_order(false);
        let found = self.evaluate();
        self.keep_order(true);
        found
    }

    /// Decides all ranks afresh.
    pub(crate) fn release(&mut self) {
        self.all.release();
        if let Some(control) = &mut self.control {
            control.steering.release();
        }
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            level.decomposition.release();
        }
    }

    /// The largest |φ| or |φ̇|, |ψ| here as a part of the size of its row.
    pub(crate) fn miss(&mut self) -> Result<f64, MotionError> {
        let mut most = 0f64;
        for on_positions in [true, false] {
            let n_rows = self.fill_residual(on_positions)?;
            most = (0..n_rows).map(|i| self.part_off(i, on_positions)).fold(most, f64::max);
        }
        Ok(most)
    }

    /// Fills in φ, or φ̇ and ψ, of the rows that count; how many there are.
    fn fill_residual(&mut self, on_positions: bool) -> Result<usize, MotionError> {
        let n_rows = if on_positions { self.h } else { self.hs };
        let residual = &mut self.residual[..n_rows];
        match on_positions {
            true => self.dynamics.fill_positions(&self.instant.state, residual)?,
            false => self.dynamics.fill_velocities(&self.instant.state, residual)?,
        }
        self.modes.mask_residual(residual);
        Ok(n_rows)
    }

    /// What was filled in for a row, as a part of its size.
    fn part_off(&self, row: usize, on_positions: bool) -> f64 {
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        let size = self.given.constraint_matrix.row_size(row, sizes);
        if size > 0.0 { self.residual[row].abs() / size } else { 0.0 }
    }

    /// How far the velocities are from those of y, relative to their size.
    pub(crate) fn velocities_moved(&self, y: &[f64]) -> f64 {
        let velocities = self.instant.state.qdot.iter().zip(&y[self.n..]).zip(&self.v_size);
        velocities.fold(0.0, |most: f64, ((v, before), size)| most.max((v - before).abs() / size))
    }

    /// The row on positions, or on velocities, that is off by more than a part of its size, if one is.
    pub(crate) fn row_off(&mut self, on_positions: bool, most: f64) -> Result<Option<usize>, MotionError> {
        let n_rows = self.fill_residual(on_positions)?;
        let off = |i: &usize| self.part_off(*i, on_positions) > most;
        match (0..n_rows).find(off) {
            Some(row) => Ok(Some(row)),
            None => self.held_off(on_positions, most),
        }
    }

    /// The same for what is asked of controls and held; it is numbered behind the constraints.
    pub(crate) fn held_off(&mut self, on_positions: bool, most: f64) -> Result<Option<usize>, MotionError> {
        let n_held = if on_positions { self.held.0 } else { self.held.1 };
        let Some(control) = self.control.as_mut().filter(|_| n_held > 0) else { return Ok(None) };
        self.dynamics.fill_asked(&self.instant.state, &mut control.asked)?;
        let residual = &mut self.residual[..n_held];
        self.dynamics.fill_held(&self.instant.state, on_positions, residual)?;
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        let off = |i: &usize| {
            let size = control.asked.rows.row_size(*i, sizes);
            size > 0.0 && residual[*i].abs() > most * size
        };
        Ok((0..n_held).find(off).map(|i| self.given.constraint_rhs.len() + i))
    }

    /// Whether accelerations have mostly been explicit so far.
    pub(crate) fn is_mostly_explicit(&self) -> bool {
        self.is_explicit && 2 * self.n_doubts <= self.n_asked
    }

    /// Whether the user chose another route than the default one.
    pub(crate) fn has_route(&self) -> bool {
        self.way.is_some()
    }

    /// What contradicts what here, if A q̈ = b cannot be met; q̈ has been found.
    pub(crate) fn contradiction(&mut self) -> Option<MotionError> {
        match self.meets_all_rows() {
            Ok(true) => None,
            Ok(false) => Some(contradiction(&self.given, &self.instant.qddot, &self.settings)),
            Err(error) => Some(error),
        }
    }

    /// Whether A q̈ = b can be met here; q̈ has been found.
    pub(crate) fn meets_all_rows(&mut self) -> Result<bool, MotionError> {
        if self.way.is_some() {
            let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = &self.given;
            self.all.factor(M, A).and_then(|()| self.all.solve(A, Q, &[], b, &mut self.delta))?;
        }
        Ok(self.all.meets_rows(&self.given, &self.instant.qddot))
    }

    /// Whether it is met but for rounding, where it is met.
    pub(crate) fn meets_rows_closely(&self) -> bool {
        self.way.is_some() || self.all.meets_rows_closely(&self.given, &self.instant.qddot)
    }
}
