//! Control: its force at a state, together with multipliers and nonideal forces.

mod bounds;
mod solve;

use crate::{
    ConstraintLevel, ControlRows, Dynamics, Given, Instant, Legendre, MotionError, Route, RouteSolution, Settings,
    State, acceleration::decomposition::Decomposition, factor::largest, limits, tolerance,
};
pub(crate) use solve::ControlSolver;

/// Control along a motion.
pub(crate) struct ControlForce {
    pub(crate) asked: ControlRows,
    pub(crate) solver: ControlSolver,
    /// u + C, and C of the round before.
    extra: Vec<f64>,
    last: Vec<f64>,
    /// b of constraints at rest.
    still: Vec<f64>,
    /// Baumgarte's rate for the rows tracked exactly, if that is how they are.
    rate: Option<f64>,
    held: Vec<f64>,
}

impl ControlForce {
    pub(crate) fn new(asked: ControlRows, n: usize, rate: Option<f64>, settings: &Settings) -> ControlForce {
        let n_held = asked.n_held.0 + asked.n_held.1;
        ControlForce {
            asked,
            solver: ControlSolver::new(settings),
            extra: vec![0.0; n],
            last: vec![0.0; n],
            still: Vec::new(),
            rate,
            held: vec![0.0; n_held],
        }
    }

    /// Evaluates the control rows at the state, with Baumgarte's terms if rows are tracked by these.
    fn ask<D: Dynamics + ?Sized>(&mut self, dynamics: &mut D, state: &State) -> Result<(), MotionError> {
        let Some(control) = dynamics.control() else { return Ok(()) };
        control.fill_control_rows(state, &mut self.asked)?;
        let Some(alpha) = self.rate else { return Ok(()) };
        let (n_positions, rhs) = (self.asked.n_held.0, &mut self.asked.rhs);
        control.fill_tracked(state, ConstraintLevel::Velocities, &mut self.held)?;
        for (i, off) in self.held.iter().enumerate() {
            rhs[i] -= if i < n_positions { 2.0 * alpha } else { alpha } * off;
        }
        control.fill_tracked(state, ConstraintLevel::Positions, &mut self.held[..n_positions])?;
        for (i, off) in self.held[..n_positions].iter().enumerate() {
            rhs[i] -= alpha * alpha * off;
        }
        Ok(())
    }

    /// The reciprocal lengths of the control rows, if all of them are independent and no force is bounded.
    pub(crate) fn plain_scales(&self) -> Option<Vec<f64>> {
        let (rows, n_asked) = (&self.solver, self.asked.rhs.len());
        let is_plain = self.asked.limit.is_empty() && rows.rank() == n_asked && rows.whole_rank() == n_asked;
        is_plain.then(|| rows.scales().to_vec())
    }

    /// The distance of a bounded force from its upper and from its lower bound; from the one that acts, minus the force it
    /// holds back.
    pub(crate) fn distances(&self, place: usize) -> [f64; 2] {
        let (limit, (w, margin)) = (self.asked.limit[place], self.solver.bounded_force(place));
        if limit.is_infinite() {
            return [1.0, 1.0];
        }
        let near = if margin.abs() <= tolerance::BOUND_ROUNDING * limit { 0.0 } else { margin };
        // what is held back counts for the other bound, too: a demand may jump from one to the other
        let far = 2.0 * limit - margin;
        if w >= 0.0 { [near, far] } else { [far, near] }
    }

    /// q̈, u, λ and C at the instant, the equations being decomposed.
    ///
    /// First the motion q̈ₚ under the physical constraints alone, then u, then the motion with both, UK02 (6) with Q + u.
    pub(crate) fn solve<D: Dynamics + ?Sized>(
        &mut self,
        dynamics: &mut D,
        given: &Given,
        all: &mut Decomposition,
        instant: &mut Instant,
    ) -> Result<(), MotionError> {
        let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = given;
        self.ask(dynamics, &instant.state)?;
        let ControlForce { asked, solver, extra, last, still, .. } = self;
        still.resize(b.len(), 0.0);
        solver.prepare(M, asked, |force, out| all.solve(A, force, &[], still, out))?;
        let mut nonideal = dynamics.nonideal();
        let Instant { state, qddot, lambda, lambda_ideal, nonideal_force: C, control_force: u, .. } = instant;
        all.solve(A, Q, &[], b, qddot)?;
        solver.force(asked, qddot, u)?;
        for round in 0.. {
            all.solve(A, Q, u, b, qddot)?;
            all.multipliers(A, lambda_ideal)?;
            let Some(nonideal) = &mut nonideal else {
                lambda.copy_from_slice(lambda_ideal);
                break;
            };
            last.copy_from_slice(C);
            nonideal.fill_nonideal(state, lambda_ideal, C)?;
            all.solve(A, Q, C, b, qddot)?;
            solver.force(asked, qddot, u)?;
            extra.iter_mut().zip(u.iter().zip(C.iter())).for_each(|(x, (u, c))| *x = u + c);
            if round > 0 && stays(C, last) {
                all.solve(A, Q, extra, b, qddot)?;
                all.multipliers(A, lambda)?;
                break;
            }
            if round == limits::CONTROL_ROUNDS {
                return Err(MotionError::NotConverged { residual: change(C, last) });
            }
        }
        solver.powers(asked, &instant.state.qdot, &mut instant.control_powers);
        Ok(())
    }

    /// q̈, u, λ and C at the instant by the route the user chose.
    pub(crate) fn solve_by_route<D: Dynamics + ?Sized>(
        &mut self,
        dynamics: &mut D,
        given: &Given,
        route: &mut dyn Route,
        legendre: Option<&Legendre>,
        (instant, solution): (&mut Instant, &mut RouteSolution),
    ) -> Result<(), MotionError> {
        self.ask(dynamics, &instant.state)?;
        let ControlForce { asked, solver, extra, last, .. } = self;
        let Instant { state, qddot, lambda, lambda_ideal, nonideal_force: C, control_force: u, .. } = instant;
        let mut solve = |force: &[f64], solution: &mut RouteSolution| {
            route.at(state);
            route.solve(given, legendre, force, solution)
        };
        solve(&[], solution)?;
        qddot.copy_from_slice(&solution.qddot);
        // K f is what the force changes: a force that changes much, so that the difference keeps its digits
        let mut scaled = vec![0.0; qddot.len()];
        solver.prepare(&given.mass_matrix, asked, |force, out| {
            let mut scale = 1.0;
            for _ in 0..2 {
                scaled.iter_mut().zip(force).for_each(|(x, f)| *x = scale * f);
                solve(&scaled, solution)?;
                out.iter_mut().enumerate().for_each(|(i, x)| *x = (solution.qddot[i] - qddot[i]) / scale);
                let more = largest(qddot) / (scale * largest(out));
                if !(more > 1.0 && more.is_finite()) {
                    break;
                }
                scale *= more;
            }
            Ok(())
        })?;
        solver.force(asked, qddot, u)?;
        let mut nonideal = dynamics.nonideal();
        for round in 0.. {
            solve(u, solution)?;
            lambda_ideal.copy_from_slice(&solution.lambda);
            let Some(nonideal) = &mut nonideal else { break };
            last.copy_from_slice(C);
            nonideal.fill_nonideal(state, lambda_ideal, C)?;
            solve(C, solution)?;
            solver.force(asked, &solution.qddot, u)?;
            extra.iter_mut().zip(u.iter().zip(C.iter())).for_each(|(x, (u, c))| *x = u + c);
            if round > 0 && stays(C, last) {
                solve(extra, solution)?;
                break;
            }
            if round == limits::CONTROL_ROUNDS {
                return Err(MotionError::NotConverged { residual: change(C, last) });
            }
        }
        qddot.copy_from_slice(&solution.qddot);
        lambda.copy_from_slice(&solution.lambda);
        solver.powers(asked, &instant.state.qdot, &mut instant.control_powers);
        Ok(())
    }
}

fn change(now: &[f64], before: &[f64]) -> f64 {
    now.iter().zip(before).fold(0.0, |top: f64, (x, y)| top.max((x - y).abs()))
}

fn stays(now: &[f64], before: &[f64]) -> bool {
    change(now, before) <= tolerance::CONTROL_CONVERGED * largest(now)
}
