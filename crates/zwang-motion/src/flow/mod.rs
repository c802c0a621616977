//! The motion as a flow: the rate of the state at a held rank.

mod derivatives;
mod landing;

use crate::{
    Drift, Dynamics, Given, Instant, Legendre, MotionError, Route, RouteName, Settings, Solution, State, Tableau,
    acceleration::decomposition::Decomposition,
    dependence::contradiction,
    route,
    steering::Control,
    unilateral::modes::{Grip, Modes},
};
use landing::Level;

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
    pub(crate) residual: Vec<f64>,
    pub(crate) rhs: Vec<f64>,
    pub(crate) delta: Vec<f64>,
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
        let slides = |k: &usize| matches!(modes.grips[*k], Grip::Slides(_)) && modes.slow[*k] > 0.0;
        let slow: Vec<usize> = (0..modes.slow.len()).filter(slides).collect();
        slow.iter().for_each(|&k| modes.directions[k] = modes.bases[k]);
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
        self.find_leanings();
        if slides {
            self.prepare_sliding()?;
        }
        let Flow { dynamics, given, all, instant, modes, .. } = self;
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
        modes.lean(&mut instant.lambda_ideal);
        instant.lambda.copy_from_slice(&instant.lambda_ideal);
        if nonideal {
            dynamics.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            all.solve(A, Q, &instant.nonideal_force, b, &mut instant.qddot)?;
            all.multipliers(A, &mut instant.lambda)?;
            modes.lean(&mut instant.lambda);
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
        // what follows a mode is found with a decomposition
        if self.modes.is_empty() { Ok(()) } else { self.all.factor(&given.mass_matrix, &given.constraint_matrix) }
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
        self.modes.n_ways.clear();
        if let Some(control) = &mut self.control {
            control.steering.release();
        }
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            level.decomposition.release();
        }
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
