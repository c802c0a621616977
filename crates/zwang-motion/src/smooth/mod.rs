//! The acceleration without contact: M, Q, A, b at a state, decomposed with a frozen rank, and the projection onto
//! constraints.

mod jacobian;
mod mask;
mod project;

use crate::{
    Drift, Dynamics, Given, Instant, Legendre, MotionError, Route, RouteName, RouteSolution, Settings, State,
    acceleration::decomposition::Decomposition, acceleration::dependence::contradiction, control::ControlForce, route,
};
pub(crate) use mask::RowMask;
use project::Level;
pub(crate) use project::OFF;

/// q̈, λ and C at a state, for the active rows.
///
/// The acceleration is UK02 (12) with the rank frozen: stages of a Runge-Kutta step lie off the constraints, where rows that
/// depend on each other become independent and contradict.
pub(crate) struct Smooth<'d, D: Dynamics + ?Sized> {
    pub(crate) dynamics: &'d mut D,
    pub(crate) settings: Settings,
    pub(crate) drift: Drift,
    pub(crate) n: usize,
    /// The number of rows on positions, and of rows on positions or velocities.
    pub(crate) h: usize,
    hs: usize,
    /// The number of control rows tracked exactly on positions, and on positions or velocities.
    n_tracked: (usize, usize),
    pub(crate) given: Given,
    /// Inactive rows.
    pub(crate) rows: RowMask,
    /// All rows; the first h and the first hs if they are fewer.
    pub(crate) all: Decomposition,
    positions: Option<Level>,
    velocities: Option<Level>,
    /// Control rows, and the force that satisfies them.
    pub(crate) control: Option<ControlForce>,
    route: Option<Box<dyn Route>>,
    legendre: Option<Legendre>,
    solution: RouteSolution,
    pub(crate) instant: Instant,
    pub(crate) residual: Vec<f64>,
    pub(crate) rhs: Vec<f64>,
    pub(crate) delta: Vec<f64>,
    columns: Vec<f64>,
    /// Sizes of q and q̇, relative to which changes are measured.
    pub(crate) q_size: Vec<f64>,
    pub(crate) v_size: Vec<f64>,
    pub(crate) wants_lambda: bool,
    /// `true` if the system gives its acceleration explicitly, for the frozen rank.
    pub(crate) is_explicit: bool,
    /// `true` if all rows are independent.
    pub(crate) has_full_rank: bool,
    /// The number of explicit accelerations asked for, and of those in doubt.
    n_asked: usize,
    n_doubts: usize,
    pub(crate) n_evaluations: usize,
    pub(crate) n_factorizations: usize,
}

impl<'d, D: Dynamics + ?Sized> Smooth<'d, D> {
    pub(crate) fn new(dynamics: &'d mut D, route_name: RouteName, drift: Drift, settings: &Settings) -> Smooth<'d, D> {
        let (n, m) = (dynamics.n_coordinates(), dynamics.n_rows());
        let h = dynamics.n_position_rows();
        let hs = h + dynamics.n_velocity_rows();
        let given = dynamics.allocate();
        let A = &given.constraint_matrix;
        let asked = dynamics.allocate_control_rows();
        let n_tracked = asked.as_ref().map_or((0, 0), |asked| (asked.n_held.0, asked.n_held.0 + asked.n_held.1));
        let level = |n_rows: usize, n_tracked: usize| {
            let is_own = n_tracked > 0 || (0 < n_rows && n_rows < m);
            is_own.then(|| Level::new(A, n_rows, asked.as_ref().map(|asked| (asked, n_tracked)), settings))
        };
        let same = hs == h && n_tracked.0 == n_tracked.1;
        let (positions, velocities) = (level(h, n_tracked.0), if same { None } else { level(hs, n_tracked.1) });
        // without a check for contradictions: these are looked for at accepted states
        let settings = settings.clone();
        let chosen = (route_name != RouteName::GeneralizedInverse)
            .then(|| route(route_name, &Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() }));
        Smooth {
            drift,
            n,
            h,
            hs,
            given,
            rows: RowMask::default(),
            all: Decomposition::new(&settings),
            positions,
            velocities,
            n_tracked,
            control: asked.map(|asked| {
                let rate = match drift {
                    Drift::Baumgarte { rate } => Some(rate),
                    _ => None,
                };
                ControlForce::new(asked, n, rate, &settings)
            }),
            legendre: chosen.as_ref().and_then(|_| dynamics.allocate_legendre()),
            route: chosen,
            solution: RouteSolution::default(),
            instant: Instant::new(dynamics, &State::zero(n)),
            residual: vec![0.0; m + n_tracked.1],
            rhs: vec![0.0; m + n_tracked.1],
            delta: vec![0.0; n],
            columns: Vec::new(),
            q_size: vec![1.0; n],
            v_size: vec![1.0; n],
            wants_lambda: dynamics.n_integrals() > 0,
            is_explicit: false,
            has_full_rank: false,
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

    /// Sets the state to (t, y).
    pub(crate) fn set_state(&mut self, t: f64, y: &[f64]) {
        let n = self.n;
        self.instant.state.t = t;
        self.instant.state.q.copy_from_slice(&y[..n]);
        self.instant.state.qdot.copy_from_slice(&y[n..2 * n]);
        self.instant.integrals.copy_from_slice(&y[2 * n..]);
    }

    /// Writes q and q̇ into y.
    pub(crate) fn write_state(&self, y: &mut [f64]) {
        let n = self.n;
        y[..n].copy_from_slice(&self.instant.state.q);
        y[n..2 * n].copy_from_slice(&self.instant.state.qdot);
    }

    /// Evaluates M, Q, A, b at the state and decomposes them.
    pub(crate) fn factor(&mut self) -> Result<(), MotionError> {
        self.n_evaluations += 1;
        self.fill()?;
        self.n_factorizations += 1;
        self.all.factor(&self.given.mass_matrix, &self.given.constraint_matrix)
    }

    /// Finds q̈, and λ and C if they are needed, at the state; all rows are permanent.
    pub(crate) fn evaluate(&mut self) -> Result<(), MotionError> {
        if self.route.is_some() {
            return self.evaluate_by_route();
        }
        self.factor()?;
        self.stabilize()?;
        self.solve(self.wants_lambda, |_| {}).map(|_| ())
    }

    /// Finds q̈ with the decomposition at hand, and λ and C if they are wanted or act. `transfer` may change λ after each
    /// solve, but not Aᵀλ. Returns `true` if λ has been found.
    pub(crate) fn solve(&mut self, wants_lambda: bool, transfer: impl Fn(&mut [f64])) -> Result<bool, MotionError> {
        let Smooth { dynamics, given, all, instant, .. } = self;
        let Given { given_force: Q, constraint_matrix: A, constraint_rhs: b, .. } = given;
        if let Some(control) = &mut self.control {
            return control.solve(&mut **dynamics, given, all, instant).map(|()| false);
        }
        all.solve(A, Q, &[], b, &mut instant.qddot)?;
        let nonideal = dynamics.has_nonideal();
        if !(nonideal || wants_lambda) {
            return Ok(false);
        }
        all.multipliers(A, &mut instant.lambda_ideal)?;
        transfer(&mut instant.lambda_ideal);
        instant.lambda.copy_from_slice(&instant.lambda_ideal);
        if nonideal {
            dynamics.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            all.solve(A, Q, &instant.nonideal_force, b, &mut instant.qddot)?;
            all.multipliers(A, &mut instant.lambda)?;
            transfer(&mut instant.lambda);
        }
        Ok(true)
    }

    /// Lets the system prepare its explicit acceleration, if that is allowed, for rows that are independent here and imply the
    /// others.
    pub(crate) fn specialize(&mut self, is_allowed: bool) {
        let (m, rank) = (self.given.constraint_rhs.len(), self.all.rank());
        let asked_scales = match &self.control {
            None => Some(Vec::new()),
            // exactly tracked rows, bounds and redundant rows take a decomposition
            Some(control) => Some(control).filter(|_| self.n_tracked.1 == 0).and_then(|control| control.plain_scales()),
        };
        let usable = is_allowed
            && self.route.is_none()
            && asked_scales.is_some()
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
        self.has_full_rank = rank == m;
        self.is_explicit = usable
            && rows.is_some_and(|rows: Vec<usize>| {
                let scales = self.all.row_scales();
                let scales: Vec<f64> = rows.iter().map(|&i| scales[i]).collect();
                self.dynamics.specialize(&rows, &scales, &asked_scales.unwrap_or_default())
            });
    }

    /// `true` if an acceleration satisfies every row, relative to the sizes that enter it; M, Q, A, b are those of the
    /// state. `false` means that a closer look is needed.
    pub(crate) fn satisfies_rows(&self, qddot: &[f64]) -> bool {
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

    /// Evaluates M, Q, A, b at the state.
    pub(crate) fn fill(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill(&self.instant.state, &mut self.given)?;
        self.rows.apply(&mut self.given);
        Ok(())
    }

    /// Finds q̈, λ and C at the state by the route the user chose.
    pub(crate) fn evaluate_by_route(&mut self) -> Result<(), MotionError> {
        self.n_evaluations += 1;
        self.n_factorizations += 1;
        self.fill()?;
        self.stabilize()?;
        let Smooth { dynamics, given, route, instant, solution, legendre, control, .. } = self;
        let Some(route) = route else { return Ok(()) };
        if let Some(legendre) = legendre {
            dynamics.fill_legendre(&instant.state, legendre)?;
        }
        if let Some(control) = control {
            return control.solve_by_route(
                &mut **dynamics,
                given,
                &mut **route,
                legendre.as_ref(),
                (instant, solution),
            );
        }
        route.at(&instant.state);
        route.solve(given, legendre.as_ref(), &[], solution)?;
        instant.lambda_ideal.copy_from_slice(&solution.lambda);
        if dynamics.has_nonideal() {
            dynamics.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            route.at(&instant.state);
            route.solve(given, legendre.as_ref(), &instant.nonideal_force, solution)?;
        }
        instant.qddot.copy_from_slice(&solution.qddot);
        instant.lambda.copy_from_slice(&solution.lambda);
        Ok(())
    }

    /// Baumgarte's terms: b ← b − 2α(φ̇, ψ/2) − α²φ.
    pub(crate) fn stabilize(&mut self) -> Result<(), MotionError> {
        let Drift::Baumgarte { rate: alpha } = self.drift else { return Ok(()) };
        let b = &mut self.given.constraint_rhs;
        self.dynamics.fill_velocities(&self.instant.state, &mut self.residual[..self.hs])?;
        self.rows.apply_to_residual(&mut self.residual[..self.hs]);
        for i in 0..self.hs {
            b[i] -= if i < self.h { 2.0 * alpha } else { alpha } * self.residual[i];
        }
        self.dynamics.fill_positions(&self.instant.state, &mut self.residual[..self.h])?;
        self.rows.apply_to_residual(&mut self.residual[..self.h]);
        for i in 0..self.h {
            b[i] -= alpha * alpha * self.residual[i];
        }
        Ok(())
    }

    /// The explicit rate at (t, y) with its least pivot; `None` if the system has none here, or a pivot is in doubt.
    #[inline]
    pub(crate) fn explicit_rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Option<f64> {
        if !self.is_explicit {
            return None;
        }
        self.n_asked += 1;
        let pivot = self.dynamics.accelerate(t, y, rate)?;
        self.n_evaluations += 1;
        Some(pivot)
    }

    /// All stages and the end of an explicit step, if the system computes them together by `step`; `false` if it does not.
    pub(crate) fn explicit_step(&mut self, n_stages: usize, step: impl FnOnce(&mut D) -> bool) -> bool {
        let is_done = self.is_explicit && step(self.dynamics);
        if is_done {
            self.n_asked += n_stages - 1;
            self.n_evaluations += n_stages - 1;
        }
        is_done
    }

    /// Counts an explicit rate that was in doubt. If most are, it is not asked for any more.
    pub(crate) fn count_doubt(&mut self) {
        /// The number of questions after which that is decided.
        const TRIAL: usize = 64;
        if self.is_explicit {
            self.n_doubts += 1;
            self.is_explicit = self.n_asked < TRIAL || 2 * self.n_doubts < self.n_asked;
        }
    }

    /// ẏ at the state; q̈ has been found.
    pub(crate) fn write_rate(&mut self, rate: &mut [f64]) -> Result<(), MotionError> {
        let n = self.n;
        rate[..n].copy_from_slice(&self.instant.state.qdot);
        rate[n..2 * n].copy_from_slice(&self.instant.qddot);
        self.dynamics.fill_integrands(&self.instant, &mut rate[2 * n..])
    }

    /// The control row that cannot be satisfied at the state, if there is one; q̈ has been found.
    pub(crate) fn unreachable(&self) -> Option<MotionError> {
        let ControlForce { asked, solver, .. } = self.control.as_ref()?;
        // a force at its bound is no error
        if solver.margins.iter().any(|margin| *margin < 0.0) {
            return None;
        }
        let row = asked.missed_row(&self.instant.qddot, &self.settings)?;
        Some(MotionError::Unreachable { row, reached: solver.rank(), needed: solver.whole_rank() })
    }

    /// The number of bounded forces.
    pub(crate) fn n_bounded(&self) -> usize {
        self.control.as_ref().map_or(0, |control| control.asked.limit.len())
    }

    /// Freezes the ranks found at the state.
    pub(crate) fn freeze_rank(&mut self, rank: usize) {
        self.all.hold(rank);
        if let Some(control) = &mut self.control {
            control.solver.hold();
        }
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            let rank = level.decomposition.rank();
            level.decomposition.hold(rank);
        }
    }

    /// Keeps the order of the pivots through the stages of a step, or lets it be chosen anew at an accepted state.
    pub(crate) fn keep_order(&mut self, keeps: bool) {
        self.all.keep_order(keeps);
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            level.decomposition.keep_order(keeps);
        }
    }

    /// Lets all ranks be decided anew.
    pub(crate) fn release(&mut self) {
        self.all.release();
        if let Some(control) = &mut self.control {
            control.solver.release();
        }
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            level.decomposition.release();
        }
    }

    /// `true` if accelerations have mostly been explicit so far.
    pub(crate) fn is_mostly_explicit(&self) -> bool {
        self.is_explicit && 2 * self.n_doubts <= self.n_asked
    }

    /// `true` if the user chose another route than the default one.
    pub(crate) fn has_route(&self) -> bool {
        self.route.is_some()
    }

    /// The contradiction at the state, if A q̈ = b cannot be satisfied; q̈ has been found.
    pub(crate) fn contradiction(&mut self) -> Option<MotionError> {
        match self.satisfies_all_rows() {
            Ok(true) => None,
            Ok(false) => Some(contradiction(&self.given, &self.instant.qddot, &self.settings)),
            Err(error) => Some(error),
        }
    }

    /// `true` if A q̈ = b can be satisfied at the state; q̈ has been found.
    pub(crate) fn satisfies_all_rows(&mut self) -> Result<bool, MotionError> {
        if self.route.is_some() {
            let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = &self.given;
            self.all.factor(M, A).and_then(|()| self.all.solve(A, Q, &[], b, &mut self.delta))?;
        }
        Ok(self.all.meets_rows(&self.given, &self.instant.qddot))
    }

    /// `true` if A q̈ = b, where it can be satisfied, is so to rounding.
    pub(crate) fn satisfies_rows_closely(&self) -> bool {
        self.route.is_some() || self.all.meets_rows_closely(&self.given, &self.instant.qddot)
    }
}
