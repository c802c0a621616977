//! Systems written by hand, with the truth about how they move.
#![allow(dead_code)]

use zwang_motion::*;

/// A system with constant masses, given as functions; A is written row after row, whole.
#[derive(Clone)]
pub struct Mechanism {
    /// Masses of the coordinates.
    pub masses: Vec<f64>,
    /// Rows on positions, and rows on velocities.
    pub n_rows: (usize, usize),
    /// Q, A, b at a state.
    pub equations: fn(&State, &mut [f64], &mut [f64], &mut [f64]),
    /// φ.
    pub positions: fn(&State, &mut [f64]),
    /// φ̇ and ψ.
    pub velocities: fn(&State, &mut [f64]),
}

impl Mechanism {
    fn m(&self) -> usize {
        self.n_rows.0 + self.n_rows.1
    }

    /// Q + Aᵀλ − M q̈, then b − A q̈.
    fn balance(&mut self, instant: &Instant, state: &State) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (self.masses.len(), self.m());
        let (mut Q, mut A, mut b) = (vec![0.0; n], vec![0.0; m * n], vec![0.0; m]);
        (self.equations)(state, &mut Q, &mut A, &mut b);
        for i in 0..n {
            Q[i] -= self.masses[i] * instant.qddot[i];
            for k in 0..m {
                Q[i] += A[k * n + i] * instant.lambda[k];
                b[k] -= A[k * n + i] * instant.qddot[i];
            }
        }
        (Q, b)
    }
}

impl Dynamics for Mechanism {
    fn size(&self) -> Size {
        let (position_rows, velocity_rows) = self.n_rows;
        Size { coordinates: self.masses.len(), rows: self.m(), position_rows, velocity_rows }
    }

    fn allocate(&self) -> Given {
        let (n, m) = (self.masses.len(), self.m());
        let mut mass_matrix = Matrix::identity(n);
        mass_matrix.value.copy_from_slice(&self.masses);
        Given {
            mass_matrix,
            given_force: vec![0.0; n],
            constraint_matrix: Matrix::from_pattern(m, n, &vec![(0..n).collect(); m]),
            constraint_rhs: vec![0.0; m],
        }
    }

    fn fill(&mut self, state: &State, given: &mut Given) -> Result<(), MotionError> {
        let Given { given_force, constraint_matrix, constraint_rhs, .. } = given;
        (self.equations)(state, given_force, &mut constraint_matrix.value, constraint_rhs);
        Ok(())
    }

    fn fill_residuals(
        &mut self,
        state: &State,
        level: ConstraintLevel,
        residuals: &mut [f64],
    ) -> Result<(), MotionError> {
        match level {
            ConstraintLevel::Positions => (self.positions)(state, residuals),
            ConstraintLevel::Velocities => (self.velocities)(state, residuals),
        }
        Ok(())
    }

    fn jacobian(&mut self) -> Option<&mut dyn Jacobians> {
        Some(self)
    }

    fn legendre(&mut self) -> Option<&mut dyn LegendreData> {
        Some(self)
    }
}

impl Jacobians for Mechanism {
    fn allocate_jacobian(&self) -> Jacobian {
        let (n, m) = (self.masses.len(), self.m());
        let whole = |rows: usize| Matrix::from_pattern(rows, n, &vec![(0..n).collect(); rows]);
        let (rows_by_q, rows_by_qdot) = (whole(m), whole(m));
        Jacobian { force_by_q: whole(n), force_by_qdot: whole(n), rows_by_q, rows_by_qdot, ..Jacobian::default() }
    }

    /// Central differences: Newton's iteration needs no more.
    fn fill_jacobian(&mut self, instant: &Instant, jacobian: &mut Jacobian) -> Result<(), MotionError> {
        let (n, m) = (self.masses.len(), self.m());
        let width = f64::EPSILON.cbrt();
        for j in 0..2 * n {
            let shifted = |by: f64| {
                let mut state = instant.state.clone();
                if j < n {
                    state.q[j] += by
                } else {
                    state.qdot[j - n] += by
                };
                state
            };
            let (above, below) = (self.balance(instant, &shifted(width)), self.balance(instant, &shifted(-width)));
            let Jacobian { force_by_q, force_by_qdot, rows_by_q, rows_by_qdot, .. } = &mut *jacobian;
            let (force, rows) = if j < n { (force_by_q, rows_by_q) } else { (force_by_qdot, rows_by_qdot) };
            for i in 0..n {
                force.value[i * n + j % n] = (above.0[i] - below.0[i]) / (2.0 * width);
            }
            for k in 0..m {
                rows.value[k * n + j % n] = (above.1[k] - below.1[k]) / (2.0 * width);
            }
        }
        Ok(())
    }
}

impl LegendreData for Mechanism {
    fn allocate_legendre(&self) -> Legendre {
        let n = self.masses.len();
        Legendre {
            momentum: vec![0.0; n],
            momentum_by_q: Matrix::from_pattern(n, n, &vec![vec![]; n]),
            momentum_by_t: vec![0.0; n],
            energy_by_q: vec![0.0; n],
            energy_by_qdot: vec![0.0; n],
            force: vec![0.0; n],
        }
    }

    /// p = M q̇ and ∂E/∂q = −Q.
    fn fill_legendre(&mut self, state: &State, legendre: &mut Legendre) -> Result<(), MotionError> {
        let (n, m) = (self.masses.len(), self.m());
        let (mut A, mut b) = (vec![0.0; m * n], vec![0.0; m]);
        (self.equations)(state, &mut legendre.energy_by_q, &mut A, &mut b);
        for i in 0..n {
            legendre.energy_by_q[i] = -legendre.energy_by_q[i];
            legendre.momentum[i] = self.masses[i] * state.qdot[i];
            legendre.energy_by_qdot[i] = legendre.momentum[i];
        }
        Ok(())
    }
}

fn nothing(_: &State, _: &mut [f64]) {}

/// A system and its motion in closed form.
pub struct Known {
    /// What it is.
    pub name: &'static str,
    /// The system.
    pub mechanism: Mechanism,
    /// q and q̇ at t.
    pub truth: fn(f64) -> State,
}

/// Kepler's orbit of eccentricity ½ and period 2π, from the point nearest to the centre.
pub fn kepler() -> Known {
    const E: f64 = 0.5;
    fn equations(state: &State, Q: &mut [f64], _: &mut [f64], _: &mut [f64]) {
        let (x, y) = (state.q[0], state.q[1]);
        let r3 = x.hypot(y).powi(3);
        (Q[0], Q[1]) = (-x / r3, -y / r3);
    }
    fn truth(t: f64) -> State {
        let mut u = t;
        for _ in 0..60 {
            u -= (u - E * u.sin() - t) / (1.0 - E * u.cos());
        }
        let (b, pace) = ((1.0 - E * E).sqrt(), 1.0 / (1.0 - E * u.cos()));
        State { t, q: vec![u.cos() - E, b * u.sin()], qdot: vec![-u.sin() * pace, b * u.cos() * pace] }
    }
    let mechanism =
        Mechanism { masses: vec![1.0; 2], n_rows: (0, 0), equations, positions: nothing, velocities: nothing };
    Known { name: "kepler", mechanism, truth }
}

/// g/l of the pendulum, and the sine of half its amplitude.
const G: f64 = 9.81;
const K: f64 = 0.7;

fn pendulum_force(Q: &mut [f64]) {
    (Q[0], Q[1]) = (0.0, -G);
}

/// sin(θ/2) = k sn(√g t, k) and θ̇ = 2k√g cn(√g t, k), from the lowest point.
fn pendulum_truth(t: f64) -> State {
    let (sn, cn, dn) = jacobi(G.sqrt() * t, K);
    // θ = 2 asin(k sn), cos(θ/2) = dn
    let (sine, cosine, rate) = (2.0 * K * sn * dn, dn * dn - K * K * sn * sn, 2.0 * K * G.sqrt() * cn);
    State { t, q: vec![sine, -cosine], qdot: vec![rate * cosine, rate * sine] }
}

/// The pendulum on a rod, x² + y² = 1 stated once.
pub fn pendulum() -> Known {
    fn equations(state: &State, Q: &mut [f64], A: &mut [f64], b: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        pendulum_force(Q);
        A.copy_from_slice(q);
        b[0] = -v[0] * v[0] - v[1] * v[1];
    }
    fn positions(state: &State, phi: &mut [f64]) {
        phi[0] = 0.5 * (state.q[0] * state.q[0] + state.q[1] * state.q[1] - 1.0);
    }
    fn velocities(state: &State, psi: &mut [f64]) {
        psi[0] = state.q[0] * state.qdot[0] + state.q[1] * state.qdot[1];
    }
    let mechanism = Mechanism { masses: vec![1.0; 2], n_rows: (1, 0), equations, positions, velocities };
    Known { name: "pendulum", mechanism, truth: pendulum_truth }
}

/// The same with the rod stated three times, the same equation multiplied.
pub fn pendulum_in_copies() -> Known {
    const TIMES: [f64; 3] = [1.0, 1e6, -3.7];
    fn equations(state: &State, Q: &mut [f64], A: &mut [f64], b: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        pendulum_force(Q);
        for (k, s) in TIMES.iter().enumerate() {
            (A[2 * k], A[2 * k + 1]) = (s * q[0], s * q[1]);
            b[k] = -s * (v[0] * v[0] + v[1] * v[1]);
        }
    }
    fn positions(state: &State, phi: &mut [f64]) {
        let one = 0.5 * (state.q[0] * state.q[0] + state.q[1] * state.q[1] - 1.0);
        (0..3).for_each(|k| phi[k] = TIMES[k] * one);
    }
    fn velocities(state: &State, psi: &mut [f64]) {
        let one = state.q[0] * state.qdot[0] + state.q[1] * state.qdot[1];
        (0..3).for_each(|k| psi[k] = TIMES[k] * one);
    }
    let mechanism = Mechanism { masses: vec![1.0; 2], n_rows: (3, 0), equations, positions, velocities };
    Known { name: "pendulum in copies", mechanism, truth: pendulum_truth }
}

/// The same with the rod stated three times: as it is, multiplied by a million, and as r⁴ = 1, which is the same only on the
/// circle.
pub fn pendulum_in_forms() -> Known {
    fn equations(state: &State, Q: &mut [f64], A: &mut [f64], b: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        let (r2, v2, rv) = (q[0] * q[0] + q[1] * q[1], v[0] * v[0] + v[1] * v[1], q[0] * v[0] + q[1] * v[1]);
        pendulum_force(Q);
        for (k, s) in [1.0, 1e6, 4.0 * r2].into_iter().enumerate() {
            (A[2 * k], A[2 * k + 1]) = (s * q[0], s * q[1]);
            b[k] = -s * v2;
        }
        b[2] -= 8.0 * rv * rv;
    }
    fn positions(state: &State, phi: &mut [f64]) {
        let r2 = state.q[0] * state.q[0] + state.q[1] * state.q[1];
        phi.copy_from_slice(&[0.5 * (r2 - 1.0), 0.5e6 * (r2 - 1.0), r2 * r2 - 1.0]);
    }
    fn velocities(state: &State, psi: &mut [f64]) {
        let r2 = state.q[0] * state.q[0] + state.q[1] * state.q[1];
        let one = state.q[0] * state.qdot[0] + state.q[1] * state.qdot[1];
        psi.copy_from_slice(&[one, 1e6 * one, 4.0 * r2 * one]);
    }
    let mechanism = Mechanism { masses: vec![1.0; 2], n_rows: (3, 0), equations, positions, velocities };
    Known { name: "pendulum in forms", mechanism, truth: pendulum_truth }
}

/// ω of the hoop, and g/R: the bead has a resting place at the side.
const OMEGA: f64 = 2.0;
const HOOP_G: f64 = 1.5;

/// A bead on a hoop of radius 1 that turns about the upright axis: x² + y² + z² = 1 and x sin ωt = y cos ωt.
pub fn hoop() -> Known {
    fn equations(state: &State, Q: &mut [f64], A: &mut [f64], b: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        let (s, c) = (OMEGA * state.t).sin_cos();
        Q.copy_from_slice(&[0.0, 0.0, -HOOP_G]);
        A.copy_from_slice(&[q[0], q[1], q[2], s, -c, 0.0]);
        b[0] = -(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        b[1] = -2.0 * OMEGA * (v[0] * c + v[1] * s) + OMEGA * OMEGA * (q[0] * s - q[1] * c);
    }
    fn positions(state: &State, phi: &mut [f64]) {
        let q = &state.q;
        let (s, c) = (OMEGA * state.t).sin_cos();
        phi.copy_from_slice(&[0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0), q[0] * s - q[1] * c]);
    }
    fn velocities(state: &State, psi: &mut [f64]) {
        let (q, v) = (&state.q, &state.qdot);
        let (s, c) = (OMEGA * state.t).sin_cos();
        psi[0] = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];
        psi[1] = v[0] * s - v[1] * c + OMEGA * (q[0] * c + q[1] * s);
    }
    fn truth(t: f64) -> State {
        let (x, v) = hoop_angle(t);
        let ((s, c), (sx, cx)) = ((OMEGA * t).sin_cos(), x.sin_cos());
        State {
            t,
            q: vec![sx * c, sx * s, -cx],
            qdot: vec![v * cx * c - OMEGA * sx * s, v * cx * s + OMEGA * sx * c, v * sx],
        }
    }
    let mechanism = Mechanism { masses: vec![1.0; 3], n_rows: (2, 0), equations, positions, velocities };
    Known { name: "hoop", mechanism, truth }
}

/// θ and θ̇ by θ̈ = sin θ (ω² cos θ − g), from a table and the rest of the way.
fn hoop_angle(t: f64) -> (f64, f64) {
    const SPACING: f64 = 1.0 / 64.0;
    static TABLE: std::sync::OnceLock<Vec<(f64, f64)>> = std::sync::OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = vec![(0.4, 1.1)];
        for k in 0..64 * 40 {
            table.push(hoop_piece(table[k], SPACING));
        }
        table
    });
    let k = (t / SPACING) as usize;
    hoop_piece(table[k], t - SPACING * k as f64)
}

/// The classical method with steps far too small for its error to be seen.
fn hoop_piece((mut x, mut v): (f64, f64), t: f64) -> (f64, f64) {
    const STEPS: usize = 100;
    let f = |x: f64| x.sin() * (OMEGA * OMEGA * x.cos() - HOOP_G);
    let h = t / STEPS as f64;
    // what rounding takes away is added in the next step
    let (mut lost_x, mut lost_v) = (0.0, 0.0);
    for _ in 0..STEPS {
        let (v1, a1) = (v, f(x));
        let (v2, a2) = (v + 0.5 * h * a1, f(x + 0.5 * h * v1));
        let (v3, a3) = (v + 0.5 * h * a2, f(x + 0.5 * h * v2));
        let (v4, a4) = (v + h * a3, f(x + h * v3));
        let dx = h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4) + lost_x;
        let dv = h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4) + lost_v;
        let (next_x, next_v) = (x + dx, v + dv);
        (lost_x, lost_v) = (dx - (next_x - x), dv - (next_v - v));
        (x, v) = (next_x, next_v);
    }
    (x, v)
}

/// The free particle with ẏ = z ẋ: z = z₀ + ż₀t, ẋ = C/√(1 + z²), the rest by quadrature.
pub fn heisenberg() -> Known {
    fn equations(state: &State, Q: &mut [f64], A: &mut [f64], b: &mut [f64]) {
        Q.fill(0.0);
        A.copy_from_slice(&[-state.q[2], 1.0, 0.0]);
        b[0] = state.qdot[2] * state.qdot[0];
    }
    fn velocities(state: &State, psi: &mut [f64]) {
        psi[0] = state.qdot[1] - state.q[2] * state.qdot[0];
    }
    fn truth(t: f64) -> State {
        let (z0, zdot, xdot0) = (0.5f64, -0.7, 1.2);
        let z = z0 + zdot * t;
        let (root, root0) = ((1.0 + z * z).sqrt(), (1.0 + z0 * z0).sqrt());
        let C = xdot0 * root0;
        State {
            t,
            q: vec![C / zdot * (z.asinh() - z0.asinh()), C / zdot * (root - root0), z],
            qdot: vec![C / root, C * z / root, zdot],
        }
    }
    let mechanism = Mechanism { masses: vec![1.0; 3], n_rows: (0, 1), equations, positions: nothing, velocities };
    Known { name: "heisenberg", mechanism, truth }
}

/// All systems with one statement of each constraint.
pub fn all() -> Vec<Known> {
    vec![kepler(), pendulum(), hoop(), heisenberg()]
}

/// sn, cn, dn by the arithmetic-geometric mean (Abramowitz and Stegun, 16.4).
pub fn jacobi(u: f64, k: f64) -> (f64, f64, f64) {
    let (mut a, mut b, mut c) = (vec![1.0], (1.0 - k * k).sqrt(), vec![k]);
    while c.last().unwrap().abs() > 1e-17 {
        let last = *a.last().unwrap();
        c.push(0.5 * (last - b));
        a.push(0.5 * (last + b));
        b = (last * b).sqrt();
        if a.len() > 12 {
            break;
        }
    }
    let top = a.len() - 1;
    let mut phi = 2f64.powi(top as i32) * a[top] * u;
    for n in (1..=top).rev() {
        phi = 0.5 * (phi + (c[n] / a[n] * phi.sin()).asin());
    }
    let (sn, cn) = phi.sin_cos();
    (sn, cn, (1.0 - k * k * sn * sn).sqrt())
}
