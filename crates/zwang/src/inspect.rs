//! Every quantity of the papers at one state, by every route.

use zwang_motion::{Dynamics, Geometry, MotionError, RouteName, Settings, Snapshot, geometry, route};

use crate::check::Check;
use crate::system::Energies;

/// Above this many coordinates the dense quantities and the dense routes are left out.
const MOST_COORDINATES: usize = 300;

/// What one route says: q̈, or why it has none; nothing if it was not tried.
pub type RouteResult = Option<Result<Vec<f64>, MotionError>>;

/// All quantities at one state.
pub struct Inspection {
    /// What `check` knows, with the snapshot by the default route.
    pub check: Check,
    /// T, V, E and p.
    pub energies: Energies,
    /// P, N and the influence matrix; none for singular M or very large systems.
    pub geometry: Option<Geometry>,
    /// q̈ by every route.
    pub routes: Vec<(RouteName, RouteResult)>,
    /// Largest difference between two routes, relative to the largest acceleration.
    pub disagreement: f64,
    /// The outputs; none for those that need the motion.
    pub outputs: Vec<(String, Option<f64>)>,
}

/// Looks at the start state from every side.
pub fn inspect(mut check: Check, settings: &Settings) -> Result<Inspection, MotionError> {
    let state = check.state.clone();
    let energies = check.system.energies(&state)?;
    let small = state.q.len() <= MOST_COORDINATES;
    let found = &check.snapshot.found;
    let (lambda, qddot, gaussian) = (found.lambda.clone(), found.qddot.clone(), found.gaussian);
    let geometry = (small && !found.singular_mass).then(|| geometry(&check.snapshot.given, settings)).transpose()?;
    let routes = RouteName::ALL.map(|name| (name, by_route(&mut check, name, settings, small)));
    let disagreement = disagreement(&routes, &qddot);
    let outputs = check.system.outputs(&state, &lambda, &qddot, gaussian);
    Ok(Inspection { check, energies, geometry, routes: routes.to_vec(), disagreement, outputs })
}

fn by_route(check: &mut Check, name: RouteName, settings: &Settings, small: bool) -> RouteResult {
    if name == RouteName::GeneralizedInverse {
        return Some(Ok(check.snapshot.found.qddot.clone()));
    }
    if !small {
        return None;
    }
    let mut snapshot = Snapshot::new(&check.system);
    let mut way = route(name, check.system.n_coordinates(), check.system.n_rows(), settings);
    let state = check.state.clone();
    Some(snapshot.take(&mut check.system, &state, &mut *way, settings).map(|()| snapshot.found.qddot))
}

fn disagreement(routes: &[(RouteName, RouteResult)], reference: &[f64]) -> f64 {
    let scale = reference.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
    let mut largest = 0.0_f64;
    for (_, result) in routes {
        if let Some(Ok(qddot)) = result {
            let difference = qddot.iter().zip(reference).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            largest = largest.max(difference / scale);
        }
    }
    // two routes that agree on zero agree
    if largest.is_finite() { largest } else { 0.0 }
}
