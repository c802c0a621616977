//! Every named quantity at one instant, given and computed.

use crate::{
    ControlRows, Dynamics, Gap, Given, Instant, Legendre, MotionError, Route, RouteSolution, Settings, Size, State,
    acceleration::{problem::check_finite, shortest::Shortest},
    control::ControlForce,
    factor::{
        blocks::Blocks,
        dense::{Qr, Stop, symmetric_eigen},
        dot, norm,
    },
};

use std::fmt;

/// The quantities that follow from the given M, Q, A, b, C.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateQuantities {
    /// a = M⁻¹Q; zeros if M is singular.
    pub unconstrained_acceleration: Vec<f64>,
    /// e = b − A a; zeros if M is singular.
    pub defect: Vec<f64>,
    /// q̈.
    pub qddot: Vec<f64>,
    /// Qc_ideal = Aᵀλ, the part of the constraint force that does no virtual work.
    pub constraint_force_ideal: Vec<f64>,
    /// Qc_nonideal, the rest of the constraint force.
    pub constraint_force_nonideal: Vec<f64>,
    /// C, the force whose virtual work is the virtual work of the constraints.
    pub nonideal_force: Vec<f64>,
    /// u, the control force; zero without controls.
    pub control_force: Vec<f64>,
    /// The part of u that is linear in b_c, KU94 (33); the rest answers the motion without control.
    pub control_linear: Vec<f64>,
    /// The share of each control row in the power u·q̇.
    pub control_powers: Vec<f64>,
    /// A_c, b_c and the admissible forces; `None` without controls.
    pub asked: Option<ControlRows>,
    /// The number of independent control directions that the driven coordinates reach, and the number that the
    /// constraints leave.
    pub control_rank: (usize, usize),
    /// The driven coordinates whose force is at its bound, by their index among the driven ones.
    pub saturated: Vec<usize>,
    /// The shortest λ of the ideal part, for the rows as written.
    pub lambda: Vec<f64>,
    /// The acting λ, nonideal forces included; equal to `lambda` if every constraint is ideal.
    pub lambda_acting: Vec<f64>,
    /// Rank of A.
    pub rank: usize,
    /// The clarity of the rank decision.
    pub gap: Gap,
    /// G = (q̈ − a)ᵀ M (q̈ − a); zero if M is singular.
    pub gaussian: f64,
    /// True if M is singular, so that a, e and G are undefined.
    pub singular_mass: bool,
}

/// All quantities at one instant of a motion, allocated once and refilled for every state.
pub struct Snapshot {
    /// Time, coordinates and velocities.
    pub state: State,
    /// M, Q, A, b at the state.
    pub given: Given,
    /// The Legendre data at the state, if the system offers them.
    pub legendre: Option<Legendre>,
    /// The quantities computed from them.
    pub found: StateQuantities,
    mass: Blocks,
    ideal: RouteSolution,
    total: RouteSolution,
    work: Vec<f64>,
}

impl Clone for Snapshot {
    fn clone(&self) -> Snapshot {
        Snapshot {
            state: self.state.clone(),
            given: self.given.clone(),
            legendre: self.legendre.clone(),
            found: self.found.clone(),
            mass: Blocks::new(),
            ideal: self.ideal.clone(),
            total: self.total.clone(),
            work: self.work.clone(),
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Snapshot { state, given, legendre, found, .. } = self;
        f.debug_struct("Snapshot")
            .field("state", state)
            .field("given", given)
            .field("legendre", legendre)
            .field("found", found)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// A snapshot with the sizes and patterns of the system.
    pub fn new(dynamics: &mut dyn Dynamics) -> Snapshot {
        let Size { coordinates: n, rows: m, .. } = dynamics.size();
        let zeros = vec![0.0; n];
        Snapshot {
            state: State::zero(n),
            given: dynamics.allocate(),
            legendre: dynamics.legendre().map(|legendre| legendre.allocate_legendre()),
            found: StateQuantities {
                unconstrained_acceleration: zeros.clone(),
                defect: vec![0.0; m],
                qddot: zeros.clone(),
                constraint_force_ideal: zeros.clone(),
                constraint_force_nonideal: zeros.clone(),
                nonideal_force: zeros.clone(),
                control_force: zeros.clone(),
                control_linear: zeros.clone(),
                asked: dynamics.control().map(|control| control.allocate_control_rows()),
                lambda: vec![0.0; m],
                lambda_acting: vec![0.0; m],
                ..StateQuantities::default()
            },
            mass: Blocks::new(),
            ideal: RouteSolution::default(),
            total: RouteSolution::default(),
            work: zeros,
        }
    }

    /// Fills everything at the state.
    ///
    /// The ideal problem comes first and gives λ; then C(λ), and with it the second solve, UK02 (6) and (32):
    ///
    /// $$ M \ddot q = Q + M^{1/2}B^+e + M^{1/2}(I - B^+B)M^{-1/2}C $$
    ///
    /// Qc_ideal = Aᵀλ, and Qc_nonideal is the force that the second solve adds to it.
    pub fn take(
        &mut self,
        dynamics: &mut dyn Dynamics,
        state: &State,
        route: &mut dyn Route,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        self.state.t = state.t;
        self.state.q.clone_from(&state.q);
        self.state.qdot.clone_from(&state.qdot);
        dynamics.fill(state, &mut self.given)?;
        if let Some(legendre) = &mut self.legendre {
            dynamics.legendre().ok_or(MotionError::NoLegendre)?.fill_legendre(state, legendre)?;
        }

        if self.found.asked.is_some() {
            return self.take_controlled(dynamics, route, settings);
        }
        route.at(state);
        route.solve(&self.given, self.legendre.as_ref(), &[], &mut self.ideal)?;
        let found = &mut self.found;
        found.qddot.clone_from(&self.ideal.qddot);
        found.lambda.clone_from(&self.ideal.lambda);
        found.lambda_acting.clone_from(&self.ideal.lambda);
        (found.rank, found.gap) = (self.ideal.rank, self.ideal.gap);
        let A = &self.given.constraint_matrix;
        A.multiply_transposed(&found.lambda, &mut found.constraint_force_ideal);

        found.nonideal_force.fill(0.0);
        found.constraint_force_nonideal.fill(0.0);
        if let Some(nonideal) = dynamics.nonideal() {
            let C = &mut found.nonideal_force;
            nonideal.fill_nonideal(state, &found.lambda, C)?;
            if C.iter().any(|x| *x != 0.0) {
                route.at(state);
                route.solve(&self.given, self.legendre.as_ref(), C, &mut self.total)?;
                found.qddot.clone_from(&self.total.qddot);
                found.lambda_acting.clone_from(&self.total.lambda);
                // Qc_nonideal = C + Aᵀ(λ_total − λ)
                A.multiply_transposed(&self.total.lambda, &mut self.work);
                for i in 0..C.len() {
                    let change = self.work[i] - found.constraint_force_ideal[i];
                    found.constraint_force_nonideal[i] = C[i] + change;
                }
            }
        }
        self.measure(settings);
        Ok(())
    }

    /// Fills everything at the state with controls: u acts in addition to Q and is computed by the route itself from
    /// q̈ₚ, KU94 (33).
    fn take_controlled(
        &mut self,
        dynamics: &mut dyn Dynamics,
        route: &mut dyn Route,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        let Some(asked) = self.found.asked.take() else { return Ok(()) };
        let mut control = ControlForce::new(asked, self.found.qddot.len(), None, settings);
        let mut instant = Instant::new(dynamics, &self.state);
        let legendre = self.legendre.as_ref();
        let solved = control.solve_by_route(dynamics, &self.given, route, legendre, (&mut instant, &mut self.ideal));
        let found = &mut self.found;
        (found.rank, found.gap) = (self.ideal.rank, self.ideal.gap);
        let ControlForce { asked, solver, .. } = &mut control;
        found.control_rank = (solver.rank(), solver.whole_rank());
        found.saturated = (0..solver.margins.len()).filter(|&i| solver.margins[i] < 0.0).collect();
        solver.linear_part(asked, &mut found.control_linear)?;
        found.asked = Some(control.asked);
        solved?;
        let A = &self.given.constraint_matrix;
        A.multiply_transposed(&instant.lambda_ideal, &mut found.constraint_force_ideal);
        // Qc_nonideal = C + Aᵀ(λ_total − λ)
        A.multiply_transposed(&instant.lambda, &mut self.work);
        let C = &instant.nonideal_force;
        for i in 0..C.len() {
            found.constraint_force_nonideal[i] = C[i] + self.work[i] - found.constraint_force_ideal[i];
        }
        found.qddot = instant.qddot;
        found.lambda = instant.lambda_ideal;
        found.lambda_acting = instant.lambda;
        found.nonideal_force = instant.nonideal_force;
        found.control_force = instant.control_force;
        found.control_powers = instant.control_powers;
        self.measure(settings);
        Ok(())
    }

    /// a, e and G, which need M to be regular.
    fn measure(&mut self, settings: &Settings) {
        let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = &self.given;
        let found = &mut self.found;
        let (a, e) = (&mut found.unconstrained_acceleration, &mut found.defect);
        self.mass.find(M);
        found.singular_mass = !self.mass.factor_regular(M, settings);
        if found.singular_mass {
            a.fill(0.0);
            e.fill(0.0);
            found.gaussian = 0.0;
            return;
        }
        // a = M⁻¹Q
        a.clone_from(Q);
        self.mass.solve(a);
        // e = b − A a
        A.multiply(a, e);
        e.iter_mut().zip(b).for_each(|(e, b)| *e = b - *e);
        // G = (q̈ − a)ᵀ M (q̈ − a)
        let change = &mut self.work;
        change.clear();
        change.extend(found.qddot.iter().zip(a.iter()).map(|(x, a)| x - a));
        found.gaussian = (0..change.len()).map(|i| change[i] * M.row_times(i, change)).sum();
    }
}

/// The two projections of UK95 and the influence of the rows on each other, dense, row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// P = B⁺B, n x n.
    pub P: Vec<f64>,
    /// N = I − B⁺B, n x n.
    pub N: Vec<f64>,
    /// (A M⁻¹Aᵀ)⁺, m x m: ∂λᵢ/∂eⱼ.
    pub influence: Vec<f64>,
}

/// P, N and the influence matrix, UK95 (12) to (16) and its last section.
///
/// $$ P = B^+B, \quad N = I - B^+B, \quad \frac{\partial\lambda}{\partial e} = (A M^{-1} A^T)^+, \qquad B = A M^{-1/2} $$
///
/// M^{1/2} is the symmetric root. The influence refers to the rows as written. Fails if M is singular.
pub fn geometry(given: &Given, settings: &Settings) -> Result<Geometry, MotionError> {
    check_finite(given, &[])?;
    let (n, m, limit) = (given.given_force.len(), given.constraint_rhs.len(), settings.small_limit);
    let inverse_root = inverse_root(given, settings)?;

    // Bᵀ by columns, each of length one
    let mut qr = Qr::new();
    qr.resize(n, m);
    let mut scale = vec![1.0; m];
    for i in 0..m {
        let (col, value) = given.constraint_matrix.row(i);
        let column = qr.column_mut(i);
        for k in 0..n {
            column[k] = col.iter().zip(value).map(|(&j, &x)| inverse_root[k * n + j] * x).sum();
        }
        let length = norm(column);
        if length > 0.0 {
            scale[i] = 1.0 / length;
            column.iter_mut().for_each(|x| *x /= length);
        }
    }
    qr.factor(Stop::Tolerance(settings.rank_tolerance), limit);

    // P projects onto the range of Bᵀ: the first columns of Q
    let mut P = vec![0.0; n * n];
    let mut q = vec![0.0; n];
    for k in 0..qr.rank {
        q.fill(0.0);
        q[k] = 1.0;
        qr.apply(&mut q);
        (0..n * n).for_each(|at| P[at] += q[at / n] * q[at % n]);
    }
    let N = (0..n * n).map(|at| if at % (n + 1) == 0 { 1.0 - P[at] } else { -P[at] }).collect();

    // (B Bᵀ)⁺ = Σ f fᵀ, f the shortest multipliers for each unit of scaled force
    let mut influence = vec![0.0; m * m];
    let mut shortest = Shortest::new();
    let (mut unit, mut f) = (vec![0.0; m.max(n)], vec![0.0; m]);
    for k in 0..qr.rank {
        unit.fill(0.0);
        unit[k] = 1.0;
        shortest.on_triangle(&qr, |i| scale[i], &unit, &mut f);
        (0..m * m).for_each(|at| influence[at] += f[at / m] * f[at % m]);
    }
    Ok(Geometry { P, N, influence })
}

/// M^{-1/2}, symmetric.
pub(crate) fn inverse_root(given: &Given, settings: &Settings) -> Result<Vec<f64>, MotionError> {
    let n = given.given_force.len();
    let (mass, direction) = symmetric_eigen(&given.mass_matrix.to_dense(), n, settings.small_limit);
    let mut blocks = Blocks::new();
    blocks.find(&given.mass_matrix);
    if !blocks.factor_regular(&given.mass_matrix, settings) || mass.first().is_some_and(|x| *x <= 0.0) {
        let v = direction[..n].to_vec();
        let mut Mv = vec![0.0; n];
        given.mass_matrix.multiply(&v, &mut Mv);
        return Err(MotionError::MassNotPositive { value: dot(&v, &Mv), direction: v });
    }
    let mut X = vec![0.0; n * n];
    for k in 0..n {
        let (v, s) = (&direction[k * n..(k + 1) * n], 1.0 / mass[k].sqrt());
        (0..n * n).for_each(|at| X[at] += s * v[at / n] * v[at % n]);
    }
    Ok(X)
}
