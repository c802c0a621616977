//! Every quantity of the papers at one state, by every route.

use zwang_motion::{
    Dynamics, Geometry, IntegrationOptions, Legendre, Motion, MotionError, RouteName, Scaled, Settings, Snapshot,
    Solver, geometry, route, scaled,
};

use crate::analysis::check::{Check, Prepared};
use crate::analysis::start::find_start;
use crate::compile::evaluator::Energies;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::{limits, tolerance};

/// The result of one route: q̈, or the reason for its failure; `None` if it was not tried.
pub type RouteResult = Option<Result<Vec<f64>, MotionError>>;

/// All quantities at one state.
pub struct Inspection {
    /// The results of `check`, with the snapshot by the default route.
    pub check: Check,
    /// T, V, E and p.
    pub energies: Energies,
    /// P, N and the influence matrix; `None` for singular M or more than 300 coordinates.
    pub geometry: Option<Geometry>,
    /// The scaled accelerations and their parts; `None` if there is no geometry.
    pub scaled: Option<Scaled>,
    /// q̈ by every route.
    pub routes: Vec<(RouteName, RouteResult)>,
    /// The largest difference between two routes, relative to the largest acceleration found; if the constraints hold
    /// the system at rest, relative to the largest acceleration without them.
    pub disagreement: f64,
    /// The outputs; `None` for those that need the motion.
    pub outputs: Vec<(String, Option<f64>)>,
    /// The solver that a motion from here would use, with its number of instructions if it is explicit.
    pub solver: Option<(Solver, Option<usize>)>,
}

/// Computes all quantities at the start, with contacts and friction in the mode that they have there.
pub fn inspect(mut check: Check, settings: &Settings) -> Result<Inspection, Box<Diagnostic>> {
    let state = check.state.clone();
    if check.equations.has_contacts() {
        check.move_to(state.clone(), settings)?;
    }
    let failed = |error: MotionError| {
        Box::new(Diagnostic::error("Z402", error.to_string()).with_note(format!("at t = {}", state.t)))
    };
    let energies = check.system.energies(&check.state).map_err(failed)?;
    let state = check.state.clone();
    let small = state.q.len() <= limits::INSPECTED_COORDINATES;
    let found = &check.snapshot.found;
    let qddot = found.qddot.clone();
    let geometry = (small && !found.singular_mass).then(|| geometry(&check.snapshot.given, settings));
    let geometry = geometry.transpose().map_err(failed)?;
    // rows scaled beyond the range of numbers have an influence beyond it
    let geometry = geometry.filter(|g| g.influence.iter().chain(&g.P).all(|x| x.is_finite()));
    let scaled = geometry.as_ref().and_then(|_| scaled_accelerations(&check, settings));
    let routes = RouteName::ALL.map(|name| (name, by_route(&mut check, name, settings, small)));
    let disagreement = disagreement(&routes, &qddot, &check.snapshot.found.unconstrained_acceleration);
    let outputs = check.system.outputs(&state, &check.snapshot.found);
    let solver = solver(&mut check, settings);
    Ok(Inspection { check, energies, geometry, scaled, routes: routes.to_vec(), disagreement, outputs, solver })
}

/// The scaled accelerations at the state of a check; `None` for singular M or more than 300 coordinates.
pub fn scaled_accelerations(check: &Check, settings: &Settings) -> Option<Scaled> {
    if check.state.q.len() > limits::INSPECTED_COORDINATES || check.snapshot.found.singular_mass {
        return None;
    }
    let found = &check.snapshot.found;
    let mut given = check.snapshot.given.clone();
    // a control acts like a given force
    given.given_force.iter_mut().zip(&found.control_force).for_each(|(q, u)| *q += u);
    let found = scaled(&given, &found.nonideal_force, settings).ok()?;
    is_finite(&found).then_some(found)
}

/// The scaled accelerations at a start where the constraints may contradict each other.
///
/// `None` if there is no start, or if the mass is singular. Nonideal forces are left out: they follow from multipliers,
/// which do not exist here.
pub(crate) fn scaled_start(prepared: Prepared, settings: &Settings, fix_start: bool) -> Option<Scaled> {
    let Prepared { mut equations, evaluator: mut system, .. } = prepared;
    let mut diagnostics = Diagnostics::default();
    let state = find_start(&mut equations, &mut system, settings, fix_start, &mut diagnostics)?;
    if state.q.len() > limits::INSPECTED_COORDINATES {
        return None;
    }
    let mut given = system.allocate();
    system.fill(&state, &mut given).ok()?;
    let found = scaled(&given, &[], settings).ok()?;
    is_finite(&found).then_some(found)
}

fn is_finite(scaled: &Scaled) -> bool {
    let vectors = [&scaled.free, &scaled.actual, &scaled.demanded, &scaled.pull, &scaled.nonideal, &scaled.gaps];
    vectors.iter().all(|v| v.iter().all(|x| x.is_finite()))
}

/// The matrix of Ω_L in (q, q̇), row after row: entry i, j is Ω_L(∂ᵢ, ∂ⱼ), Y05 3.2.
///
/// $$ \Omega = \begin{pmatrix} \partial p - \partial p^T & M \\ -M & 0 \end{pmatrix} $$
pub fn two_form(legendre: &Legendre, mass_matrix: &[f64], n: usize) -> Vec<f64> {
    let by_q = legendre.momentum_by_q.to_dense();
    let mut omega = vec![0.0; 4 * n * n];
    for i in 0..n {
        for j in 0..n {
            omega[2 * n * i + j] = by_q[i * n + j] - by_q[j * n + i];
            omega[2 * n * i + n + j] = mass_matrix[i * n + j];
            omega[2 * n * (n + i) + j] = -mass_matrix[i * n + j];
        }
    }
    omega
}

/// The solver that a motion from here would use; `None` if no motion can start.
fn solver(check: &mut Check, settings: &Settings) -> Option<(Solver, Option<usize>)> {
    if !check.system.compile_motion(&mut check.equations) {
        return None;
    }
    let plan = IntegrationOptions { end: check.state.t + 1.0, route: check.route, ..IntegrationOptions::default() };
    let solver = Motion::new(&mut check.system, &check.state, &plan, settings).ok()?.solver();
    let program = check.system.explicit_program().filter(|_| solver == Solver::Explicit);
    Some((solver, program.map(|(program, _)| program.len())))
}

fn by_route(check: &mut Check, name: RouteName, settings: &Settings, small: bool) -> RouteResult {
    if name == check.route {
        return Some(Ok(check.snapshot.found.qddot.clone()));
    }
    if !small {
        return None;
    }
    let mut snapshot = Snapshot::new(&mut check.system);
    let mut solver = route(name, settings);
    let state = check.state.clone();
    let taken = snapshot.take(&mut check.system, &state, &mut *solver, settings).map(|()| snapshot.found.qddot);
    Some(taken.and_then(|qddot| match qddot.iter().all(|x| x.is_finite()) {
        true => Ok(qddot),
        false => Err(MotionError::NotFinite { what: "the acceleration".into() }),
    }))
}

/// The largest difference from the default route, relative to the largest q̈; zero if every route gives zeros only.
///
/// A large a must not hide an error of q̈: it is the scale only if q̈ is rounding relative to it.
fn disagreement(routes: &[(RouteName, RouteResult)], reference: &[f64], free: &[f64]) -> f64 {
    let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let found = routes.iter().filter_map(|(_, result)| result.as_ref()?.as_ref().ok());
    let differences = found.flat_map(|qddot| qddot.iter().zip(reference).map(|(a, b)| (a - b).abs()));
    let difference = differences.fold(0.0_f64, f64::max);
    let (moving, free) = (largest(reference), largest(free));
    let scale = if moving > tolerance::ROUNDING * free { moving } else { free };
    if scale > 0.0 { difference / scale } else { difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One route is off by 1e-7 of a q̈ that is a millionth of a.
    #[test]
    fn a_large_free_acceleration_hides_no_error() {
        let by = |x: f64| (RouteName::AnyInverse, Some(Ok(vec![x, 0.0])));
        let off = disagreement(&[by(1.0), by(1.0 + 1e-7)], &[1.0, 0.0], &[1e6, 1e6]);
        assert!((off - 1e-7).abs() < 1e-12, "{off:e}");
        // at rest: the remainder is rounding of a
        assert_eq!(disagreement(&[by(1e-10)], &[0.0, 0.0], &[1e6, 0.0]), 1e-16);
        assert_eq!(disagreement(&[by(0.0)], &[0.0, 0.0], &[0.0, 0.0]), 0.0);
    }
}
