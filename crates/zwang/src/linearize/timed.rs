//! Time dependence of the equations of motion.

use zwang_expr::{Expr, Program};
use zwang_motion::State;

use crate::equations::Equations;
use crate::equations::switches::switches_by;
use crate::linearize::linearizer::Linearizer;
use crate::linearize::{MotionKind, echelon};
use crate::random::scattered;
use crate::{analysis::check::Check, limits, tolerance};

/// Later times at which the equations are evaluated, as multiples of the run: not fractions of a period that anyone
/// would choose.
const TIMES: [f64; 5] = [0.137, 0.371, 0.713, 1.291, 2.917];

/// `true` if the equations of motion, or the positions that the constraints allow, change with the time.
///
/// In a description with moving frames the time often cancels, as in cos² + sin². Formulas with the same values at all
/// these times, at random states, are taken not to depend on it.
pub fn is_timed(check: &Check) -> bool {
    let equations = &check.equations;
    let groups = groups(equations);
    let all: Vec<Expr> = groups.iter().flatten().copied().collect();
    let model = &equations.model;
    if model.graph.symbols_of(&all).binary_search(&model.time).is_err() {
        return false;
    }
    switches_by(&model.graph, &all, |s| s == model.time) || !is_constant(check, &groups)
}

/// Formulas whose values are compared with each other: masses, forces, and the coefficients, right side and residual of
/// each row.
fn groups(equations: &Equations) -> Vec<Vec<Expr>> {
    let masses = equations.mass_matrix.iter().flatten().map(|(_, e)| *e).collect();
    let forces = equations.given_force.iter().chain(&equations.nonideal_force).copied().collect();
    let mut groups = vec![masses, forces];
    for row in &equations.rows {
        groups.push(row.coefficients.iter().map(|(_, e)| *e).collect());
        groups.extend([vec![row.rhs], vec![row.residual]]);
    }
    groups
}

/// `true` if the formulas have the same values at all times, up to rounding relative to the largest of their group.
fn is_constant(check: &Check, groups: &[Vec<Expr>]) -> bool {
    let equations = &check.equations;
    let model = &equations.model;
    let mut symbols = model.state_symbols();
    symbols.extend(equations.rows.iter().map(|row| row.lambda));
    let all: Vec<Expr> = groups.iter().flatten().copied().collect();
    let Ok(program) = Program::new(&model.graph, &symbols, &all) else { return false };
    let mut work = program.workspace();
    let mut values_at = |state: usize, time: f64| {
        let State { t, q, qdot } = &check.state;
        let mut inputs = vec![t + time * model.horizon()];
        inputs.extend(q.iter().chain(qdot).enumerate().map(|(k, x)| x + scattered(k, state)));
        inputs.extend_from_slice(check.system.parameters());
        inputs.extend((0..equations.rows.len()).map(|k| scattered(k, state + limits::GENERIC_STATES)));
        let mut values = vec![0.0; all.len()];
        program.run(&inputs, &mut work, &mut values);
        values.iter().all(|x| x.is_finite()).then_some(values)
    };
    let mut n_compared = 0;
    for state in 0..limits::GENERIC_STATES {
        let Some(first) = values_at(state, 0.0) else { continue };
        for time in TIMES {
            let Some(later) = values_at(state, time) else { continue };
            n_compared += 1;
            let mut from = 0;
            for group in groups {
                let to = from + group.len();
                let largest = echelon::largest(&first[from..to]).max(echelon::largest(&later[from..to]));
                let moved = first[from..to]
                    .iter()
                    .zip(&later[from..to])
                    .any(|(x, y)| (x - y).abs() > tolerance::UNCHANGED_IN_TIME * largest);
                if moved {
                    return false;
                }
                from = to;
            }
        }
    }
    n_compared > TIMES.len()
}

/// `true` if a state of rest is one at later times too.
pub(super) fn rests_always(check: &mut Check, linearizer: &mut Linearizer, state: &State) -> bool {
    if state.qdot.iter().any(|v| *v != 0.0) {
        return false;
    }
    let horizon = check.equations.model.horizon();
    std::iter::once(0.0).chain(TIMES).all(|time| {
        let later = State { t: state.t + time * horizon, ..state.clone() };
        linearizer.at_rest(check, later).is_some_and(|there| {
            let stays = there.q.iter().zip(&state.q).all(|(x, y)| (x - y).abs() <= tolerance::STAYS * (1.0 + y.abs()));
            stays && linearizer.look(check, &there).is_ok() && linearizer.place(&there) == MotionKind::Equilibrium
        })
    })
}
