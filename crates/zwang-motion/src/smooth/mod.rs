//! The acceleration without contact: M, Q, A, b at a state, decomposed with a frozen rank, and the projection onto
//! constraints.

mod explicit;
mod jacobian;
mod mask;
mod project;

use crate::{
    ConstraintLevel, Drift, Dynamics, Given, Instant, Legendre, MotionError, Route, RouteName, RouteSolution, Settings,
    Size, State, acceleration::decomposition::Decomposition, acceleration::dependence::contradiction,
    control::ControlForce, route,
};
use explicit::ExplicitUse;
pub(crate) use mask::RowMask;
use project::Levels;

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
    pub(crate) hs: usize,
    pub(crate) given: Given,
    /// Inactive rows.
    pub(crate) rows: RowMask,
    /// All rows.
    pub(crate) all: Decomposition,
    /// The rows onto which states are projected.
    levels: Levels,
    /// Control rows, and the force that satisfies them.
    pub(crate) control: Option<ControlForce>,
    route: Option<ChosenRoute>,
    pub(crate) instant: Instant,
    pub(crate) scratch: RowScratch,
    /// Sizes of q and q̇, relative to which changes are measured.
    pub(crate) q_size: Vec<f64>,
    pub(crate) v_size: Vec<f64>,
    pub(crate) wants_lambda: bool,
    explicit: ExplicitUse,
    /// `true` if all rows are independent.
    pub(crate) has_full_rank: bool,
    pub(crate) work: AlgebraCounts,
}

/// The route that the user chose instead of the decomposition.
struct ChosenRoute {
    route: Box<dyn Route>,
    /// The Legendre data, if the system has a Lagrangian.
    legendre: Option<Legendre>,
    solution: RouteSolution,
}

/// Scratch for residuals, right-hand sides, changes of q or q̇, and derivatives by columns.
#[derive(Default)]
pub(crate) struct RowScratch {
    pub(crate) residual: Vec<f64>,
    pub(crate) rhs: Vec<f64>,
    pub(crate) delta: Vec<f64>,
    columns: Vec<f64>,
}

/// What accelerations have cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct AlgebraCounts {
    pub(crate) evaluations: usize,
    pub(crate) factorizations: usize,
}

impl<'d, D: Dynamics + ?Sized> Smooth<'d, D> {
    pub(crate) fn new(dynamics: &'d mut D, route_name: RouteName, drift: Drift, settings: &Settings) -> Smooth<'d, D> {
        let Size { coordinates: n, rows: m, position_rows: h, velocity_rows } = dynamics.size();
        let hs = h + velocity_rows;
        let given = dynamics.allocate();
        let control = dynamics.control().map(|control| control.allocate_control_rows());
        let levels = Levels::new(&given.constraint_matrix, (h, hs), control.as_ref(), settings);
        let rate = if let Drift::Baumgarte { rate } = drift { Some(rate) } else { None };
        let n_residuals = m + levels.n_tracked.1;
        Smooth {
            settings: settings.clone(),
            drift,
            n,
            h,
            hs,
            given,
            rows: RowMask::default(),
            all: Decomposition::new(settings),
            levels,
            control: control.map(|rows| ControlForce::new(rows, n, rate, settings)),
            route: ChosenRoute::new(route_name, dynamics, settings),
            instant: Instant::new(dynamics, &State::zero(n)),
            scratch: RowScratch {
                residual: vec![0.0; n_residuals],
                rhs: vec![0.0; n_residuals],
                delta: vec![0.0; n],
                columns: Vec::new(),
            },
            q_size: vec![1.0; n],
            v_size: vec![1.0; n],
            wants_lambda: dynamics.integrals().is_some_and(|integrals| integrals.n_integrals() > 0),
            explicit: ExplicitUse::default(),
            has_full_rank: false,
            work: AlgebraCounts::default(),
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
        self.work.evaluations += 1;
        self.fill()?;
        self.work.factorizations += 1;
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

    /// Computes q̈ with the current decomposition, and λ and C if they are requested or act. `transfer` may change λ after each
    /// solve, but not Aᵀλ. Returns `true` if λ has been found.
    pub(crate) fn solve(&mut self, wants_lambda: bool, transfer: impl Fn(&mut [f64])) -> Result<bool, MotionError> {
        let Smooth { dynamics, given, all, instant, .. } = self;
        let Given { given_force: Q, constraint_matrix: A, constraint_rhs: b, .. } = given;
        if let Some(control) = &mut self.control {
            return control.solve(&mut **dynamics, given, all, instant).map(|()| false);
        }
        all.solve(A, Q, &[], b, &mut instant.qddot)?;
        let nonideal = dynamics.nonideal();
        if nonideal.is_none() && !wants_lambda {
            return Ok(false);
        }
        all.multipliers(A, &mut instant.lambda_ideal)?;
        transfer(&mut instant.lambda_ideal);
        instant.lambda.copy_from_slice(&instant.lambda_ideal);
        if let Some(nonideal) = nonideal {
            nonideal.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
            all.solve(A, Q, &instant.nonideal_force, b, &mut instant.qddot)?;
            all.multipliers(A, &mut instant.lambda)?;
            transfer(&mut instant.lambda);
        }
        Ok(true)
    }

    /// `true` if an acceleration satisfies every row, relative to the sizes that enter it; M, Q, A, b are those of the
    /// state. `false` means that a closer analysis is needed.
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

    /// Fills in φ, or φ̇ and ψ, of all rows at the state, active or not.
    pub(crate) fn residuals(&mut self, level: ConstraintLevel, residuals: &mut [f64]) -> Result<(), MotionError> {
        self.dynamics.fill_residuals(&self.instant.state, level, residuals)
    }

    /// Fills in the Legendre data at the state.
    pub(crate) fn fill_legendre(&mut self, legendre: &mut Legendre) -> Result<(), MotionError> {
        let lagrangian = self.dynamics.legendre().ok_or(MotionError::NoLegendre)?;
        lagrangian.fill_legendre(&self.instant.state, legendre)
    }

    /// Evaluates M, Q, A, b at the state.
    pub(crate) fn fill(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill(&self.instant.state, &mut self.given)?;
        self.rows.apply(&mut self.given);
        Ok(())
    }

    /// Finds q̈, λ and C at the state by the route the user chose.
    pub(crate) fn evaluate_by_route(&mut self) -> Result<(), MotionError> {
        self.work.evaluations += 1;
        self.work.factorizations += 1;
        self.fill()?;
        self.stabilize()?;
        let Smooth { dynamics, given, route, instant, control, .. } = self;
        let Some(ChosenRoute { route, legendre, solution }) = route else { return Ok(()) };
        if let Some(legendre) = legendre {
            dynamics.legendre().ok_or(MotionError::NoLegendre)?.fill_legendre(&instant.state, legendre)?;
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
        if let Some(nonideal) = dynamics.nonideal() {
            nonideal.fill_nonideal(&instant.state, &instant.lambda_ideal, &mut instant.nonideal_force)?;
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
        self.fill_residual(ConstraintLevel::Velocities)?;
        for (i, (b, residual)) in
            self.given.constraint_rhs.iter_mut().zip(&self.scratch.residual[..self.hs]).enumerate()
        {
            *b -= if i < self.h { 2.0 * alpha } else { alpha } * residual;
        }
        self.fill_residual(ConstraintLevel::Positions)?;
        for (b, residual) in self.given.constraint_rhs.iter_mut().zip(&self.scratch.residual[..self.h]) {
            *b -= alpha * alpha * residual;
        }
        Ok(())
    }

    /// ẏ at the state; q̈ has been found.
    pub(crate) fn write_rate(&mut self, rate: &mut [f64]) -> Result<(), MotionError> {
        let n = self.n;
        rate[..n].copy_from_slice(&self.instant.state.qdot);
        rate[n..2 * n].copy_from_slice(&self.instant.qddot);
        match self.dynamics.integrals() {
            Some(integrals) => integrals.fill_integrands(&self.instant, &mut rate[2 * n..]),
            None => Ok(()),
        }
    }

    /// The control row that cannot be satisfied at the state, if there is one; q̈ has been found.
    pub(crate) fn unreachable(&self) -> Option<MotionError> {
        let ControlForce { asked, solver, .. } = self.control.as_ref()?;
        // a force at its bound is no error
        if solver.margins.iter().any(|margin| *margin < 0.0) {
            return None;
        }
        let (Q, u) = (&self.given.given_force, &self.instant.control_force);
        let row = asked.violated_row(&self.instant.qddot, |row| solver.size_of_forces(row, Q, u), &self.settings)?;
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
        for level in self.levels.own() {
            let rank = level.decomposition.rank();
            level.decomposition.hold(rank);
        }
    }

    /// Keeps the order of the pivots through the stages of a step, or lets it be chosen anew at an accepted state.
    pub(crate) fn keep_order(&mut self, keeps: bool) {
        self.all.keep_order(keeps);
        for level in self.levels.own() {
            level.decomposition.keep_order(keeps);
        }
    }

    /// Lets all ranks be decided anew.
    pub(crate) fn release(&mut self) {
        self.all.release();
        if let Some(control) = &mut self.control {
            control.solver.release();
        }
        for level in self.levels.own() {
            level.decomposition.release();
        }
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
            self.all.factor(M, A).and_then(|()| self.all.solve(A, Q, &[], b, &mut self.scratch.delta))?;
        }
        Ok(self.all.meets_rows(&self.given, &self.instant.qddot))
    }

    /// `true` if A q̈ = b, where it can be satisfied, is so to rounding.
    pub(crate) fn satisfies_rows_closely(&self) -> bool {
        self.route.is_some() || self.all.meets_rows_closely(&self.given, &self.instant.qddot)
    }
}

impl ChosenRoute {
    /// `None` for the default route. It looks for no contradictions: that is done at accepted states.
    fn new<D: Dynamics + ?Sized>(name: RouteName, dynamics: &mut D, settings: &Settings) -> Option<ChosenRoute> {
        if name == RouteName::GeneralizedInverse {
            return None;
        }
        let settings = Settings { contradiction_tolerance: f64::INFINITY, ..settings.clone() };
        let legendre = dynamics.legendre().map(|legendre| legendre.allocate_legendre());
        Some(ChosenRoute { route: route(name, &settings), legendre, solution: RouteSolution::default() })
    }
}
