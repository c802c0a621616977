//! States without linear equations: jumps and corners of formulas, and positions where constraints lose rank.

#![allow(non_snake_case)]

use zwang_expr::{Expr, Node};
use zwang_motion::{MotionError, State};

use crate::linearize::echelon::Echelon;
use crate::linearize::linearizer::{Linearizer, VariationBasis};
use crate::random::Random;
use crate::{analysis::check::Check, limits, tolerance};

/// The reason why there are no linear equations at a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The forces jump where one of these formulas changes its sign, and it does so here.
    Jump {
        /// The formulas as text.
        switches: Vec<String>,
    },
    /// The forces have a corner there: their derivatives differ on the two sides.
    Corner {
        /// The formulas as text.
        switches: Vec<String>,
    },
    /// These constraints lose rank here.
    Rank {
        /// Their names.
        constraints: Vec<String>,
    },
}

/// Rows that vanish at the state or are dependent only there; `None` if the constraints have their general rank.
pub(super) fn lost_rank(check: &Check, linearizer: &Linearizer) -> Option<Obstacle> {
    let A = &linearizer.snapshot.given.constraint_matrix;
    let rows = &check.equations.rows;
    let is_zero = |i: usize| A.row(i).1.iter().all(|x| x.abs() <= tolerance::ROUNDING);
    let vanished: Vec<usize> = (0..rows.len()).filter(|&i| !rows[i].coefficients.is_empty() && is_zero(i)).collect();
    if !vanished.is_empty() {
        return Some(of_rows(check, &vanished));
    }
    let general = check.state.q.len() - check.freedom.general?;
    (linearizer.snapshot.found.rank < general).then(|| of_rows(check, &dependent_rows(linearizer)))
}

/// The rows whose variations contradict each other; they do so only if rank is lost.
pub(super) fn contradicted(check: &Check, linearizer: &Linearizer, error: &MotionError) -> Option<Obstacle> {
    let MotionError::Contradiction { certificate, .. } = error else { return None };
    let mut rows: Vec<usize> = (0..certificate.len()).filter(|&i| certificate[i] != 0.0).collect();
    if rows.is_empty() {
        rows = dependent_rows(linearizer);
    }
    Some(of_rows(check, &rows))
}

fn of_rows(check: &Check, rows: &[usize]) -> Obstacle {
    let name = |i: &usize| check.equations.rows.get(*i).map(|row| row.name.clone());
    let mut constraints: Vec<String> = rows.iter().filter_map(name).collect();
    constraints.dedup();
    Obstacle::Rank { constraints }
}

/// The rows with y ≠ 0 for some y with yᵀA = 0.
fn dependent_rows(linearizer: &Linearizer) -> Vec<usize> {
    let A = &linearizer.snapshot.given.constraint_matrix;
    let m = A.n_rows;
    let mut echelon = Echelon::new((0..A.n_cols).map(|j| (0..m).map(|i| A.get(i, j)).collect()).collect());
    echelon.reduce(m);
    let mut takes_part = vec![false; m];
    for free in (0..m).filter(|i| !echelon.pivots.contains(i)) {
        let y = echelon.dependent(m, |row| -row[free], free);
        y.iter().zip(&mut takes_part).for_each(|(y, part)| *part |= y.abs() > tolerance::TAKES_PART);
    }
    (0..m).filter(|&i| takes_part[i]).collect()
}

/// A jump or corner of the forces at the state.
///
/// If nothing switches at the state, the formulas are smooth. Otherwise both sides are evaluated: |v| v switches and is
/// smooth enough.
pub(super) fn broken(
    check: &mut Check,
    linearizer: &mut Linearizer,
    state: &State,
    space: &VariationBasis,
) -> Option<Obstacle> {
    let switching: Vec<Expr> = linearizer.switches.iter().copied().filter(|&e| changes_sign(check, state, e)).collect();
    if switching.is_empty() {
        return None;
    }
    let graph = &mut check.equations.model.graph;
    // -x changes its sign where x does
    let mut text = |e: &Expr| {
        let opposite = graph.neg(*e);
        let texts = [graph.text(*e), graph.text(opposite)];
        texts.into_iter().min_by_key(String::len).unwrap_or_default()
    };
    let switches: Vec<String> = switching.iter().map(&mut text).collect();
    match directions(space).iter().filter_map(|d| side(check, linearizer, d)).max()? {
        Smoothness::Smooth => None,
        Smoothness::Bends => Some(Obstacle::Corner { switches }),
        Smoothness::Jumps => Some(Obstacle::Jump { switches }),
    }
}

/// `true` if an expression is zero at a state, relative to its terms.
fn changes_sign(check: &Check, state: &State, e: Expr) -> bool {
    let (mut terms, mut open) = (Vec::new(), vec![e]);
    while let Some(e) = open.pop() {
        match check.equations.model.graph.node(e) {
            Node::Add(a, b) => open.extend([a, b]),
            _ => terms.push(e),
        }
    }
    let values = check.system.evaluate(&check.equations.model, state, &terms);
    let Some(values) = values else { return false };
    let (sum, size) = values.iter().fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
    f64::abs(sum) <= tolerance::EQUILIBRIUM * f64::max(size, 1.0)
}

/// Each free direction, and eight combinations of them: two conditions may have to change at once.
fn directions(space: &VariationBasis) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut all = space.basis.clone();
    let Some((dq, dv)) = space.basis.first() else { return all };
    for seed in 1..=limits::OBSTACLE_STATES {
        let mut random = Random::new(seed);
        let mut sum = (vec![0.0; dq.len()], vec![0.0; dv.len()]);
        for (dq, dv) in &space.basis {
            let part = random.next();
            sum.0.iter_mut().zip(dq).for_each(|(s, x)| *s += part * x);
            sum.1.iter_mut().zip(dv).for_each(|(s, x)| *s += part * x);
        }
        all.push(sum);
    }
    all
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Smoothness {
    Smooth,
    Bends,
    Jumps,
}

/// The smoothness of the acceleration at the state along a direction; `None` if it has no value next to it.
///
/// At half the distance a smooth function keeps one half of its difference, a jump all of it. Of the sum of both sides
/// minus twice the middle, a smooth function keeps a quarter and a corner one half.
fn side(check: &mut Check, linearizer: &mut Linearizer, (dq, dv): &(Vec<f64>, Vec<f64>)) -> Option<Smoothness> {
    /// The ratio of differences above which there is a jump: between one half and one.
    const JUMPS: f64 = 0.85;
    /// The ratio above which the slope is infinite, as for |x|^(2/3): between one half and the ratio of a jump.
    const STEEP: f64 = 0.6;
    /// The ratio of second differences above which there is a corner: between a quarter and one half; |x|^(3/2), which
    /// is differentiable, gives 0.354.
    const BENDS: f64 = 0.42;
    let middle = linearizer.snapshot.found.qddot.clone();
    let mut at = |part: f64| linearizer.beside(check, dq, dv, part * tolerance::OBSTACLE_STEP).ok();
    let (far, near) = ([at(1.0)?, at(-1.0)?], [at(0.5)?, at(-0.5)?]);
    let mut found = Smoothness::Smooth;
    for i in 0..middle.len() {
        let size = tolerance::EVALUATED * far.iter().fold(middle[i].abs().max(1.0), |top, a| top.max(a[i].abs()));
        for (far, near) in far.iter().zip(&near) {
            let [far, near] = [far, near].map(|a| (a[i] - middle[i]).abs());
            if far > size && near > STEEP * far {
                found = found.max(if near > JUMPS * far { Smoothness::Jumps } else { Smoothness::Bends });
            }
        }
        let [far, near] = [&far, &near].map(|a| (a[0][i] + a[1][i] - 2.0 * middle[i]).abs());
        if far > size && near > BENDS * far {
            found = found.max(Smoothness::Bends);
        }
    }
    Some(found)
}
