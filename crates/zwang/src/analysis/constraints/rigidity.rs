//! Rigidity of a position to second order: dependent rows may leave directions with A v = 0 along which no motion
//! exists.

#![allow(non_snake_case, reason = "matrices have the names of the papers")]

use zwang_motion::{Dependence, Dynamics, Given, State};

use crate::compile::evaluator::Evaluator;
use crate::equations::Equations;
use crate::model::Level;
use crate::{analysis::dot, limits, tolerance};

/// `true` if no motion leads away from a position, proved to second order.
///
/// A curve on φ = 0 with velocity v and acceleration w has A v = 0 and A w + vᵀHv = 0. For y with yᵀA = 0 that leaves
/// Σ yᵢ vᵀHᵢv = 0. If such a form is definite on the directions v with A v = 0, the point itself is the only curve.
/// Without a definite form nothing follows. No row may contain the time or velocities.
pub(super) fn is_rigid(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    given: &Given,
    here: &Dependence,
) -> bool {
    let model = &equations.model;
    let is_still = |residual| !model.graph.symbols(residual).contains(&model.time);
    if !equations.rows.iter().all(|row| row.level == Level::Position && is_still(row.residual)) {
        return false;
    }
    let directions = directions(given, here);
    if directions.is_empty() || directions.len() > limits::RIGIDITY_DIRECTIONS {
        return false;
    }
    let Some(forms) = forms(system, state, given, here, &directions) else { return false };
    let k = directions.len();
    let is_definite = |form: &[f64]| is_positive(form, k) || is_positive(&negative(form), k);
    forms.iter().any(|form| is_definite(form)) || nearest_to_identity(&forms, k).is_some_and(|form| is_definite(&form))
}

/// An orthonormal basis of the v with A v = 0.
fn directions(given: &Given, here: &Dependence) -> Vec<Vec<f64>> {
    let A = &given.constraint_matrix;
    let n = A.n_cols;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for &i in &here.independent {
        let mut row = vec![0.0; n];
        let (columns, values) = A.row(i);
        columns.iter().zip(values).for_each(|(&j, a)| row[j] = *a);
        extend(&mut basis, row);
    }
    let rank = basis.len();
    for j in 0..n {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        extend(&mut basis, unit);
    }
    basis.split_off(rank)
}

/// Adds the component of a vector orthogonal to a basis, if it is larger than rounding: more than 1e-7 of the vector.
fn extend(basis: &mut Vec<Vec<f64>>, mut v: Vec<f64>) {
    let before = dot(&v, &v).sqrt();
    for _ in 0..2 {
        for b in &*basis {
            let part = dot(&v, b);
            v.iter_mut().zip(b).for_each(|(v, b)| *v -= part * b);
        }
    }
    let length = dot(&v, &v).sqrt();
    if length > tolerance::NEW_DIRECTION * before {
        v.iter_mut().for_each(|v| *v /= length);
        basis.push(v);
    }
}

/// For each y with yᵀA = 0 the form Σ yᵢ uᵀHᵢv on the directions, by differences of A.
fn forms(
    system: &mut Evaluator,
    state: &State,
    given: &Given,
    here: &Dependence,
    directions: &[Vec<f64>],
) -> Option<Vec<Vec<f64>>> {
    let k = directions.len();
    let size = state.q.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let h = tolerance::CENTRAL_STEP * if size > 0.0 { size } else { 1.0 };
    let rest = State { qdot: vec![0.0; state.q.len()], ..state.clone() };
    // the derivative of every row along each direction, applied to each direction
    let m = given.constraint_rhs.len();
    let mut changes = vec![0.0; m * k * k];
    let mut there = system.allocate();
    for (a, direction) in directions.iter().enumerate() {
        for sign in [1.0, -1.0] {
            let mut other = rest.clone();
            other.q.iter_mut().zip(direction).for_each(|(q, v)| *q += sign * h * v);
            system.fill(&other, &mut there).ok()?;
            for i in 0..m {
                for (b, v) in directions.iter().enumerate() {
                    changes[(i * k + a) * k + b] += sign * there.constraint_matrix.row_times(i, v) / (2.0 * h);
                }
            }
        }
    }
    let form = |y: &[(usize, f64)]| -> Vec<f64> {
        (0..k * k).map(|at| y.iter().map(|(i, y)| y * changes[i * k * k + at]).sum()).collect()
    };
    let dependent = here.dependent.iter().map(|(row, terms)| {
        let others = terms.iter().map(|(i, c)| (*i, -c));
        others.chain([(*row, 1.0)]).collect::<Vec<_>>()
    });
    let vanished = here.vanished.iter().map(|row| vec![(*row, 1.0)]);
    Some(dependent.chain(vanished).map(|y| unit(form(&y))).collect())
}

/// A form scaled to size one, so that all forms have equal weight.
fn unit(mut form: Vec<f64>) -> Vec<f64> {
    let size = dot(&form, &form).sqrt();
    if size > 0.0 {
        form.iter_mut().for_each(|x| *x /= size);
    }
    form
}

/// The linear combination of the forms that is nearest to the identity: a positive definite form in their span has
/// a positive product with the identity.
fn nearest_to_identity(forms: &[Vec<f64>], k: usize) -> Option<Vec<f64>> {
    let mut rest: Vec<f64> = (0..k * k).map(|at| f64::from(at % (k + 1) == 0)).collect();
    let identity = rest.clone();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    forms.iter().for_each(|form| extend(&mut basis, form.clone()));
    for b in &basis {
        let part = dot(&rest, b);
        rest.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
    }
    (basis.len() > 1).then(|| identity.iter().zip(&rest).map(|(i, r)| i - r).collect())
}

fn negative(form: &[f64]) -> Vec<f64> {
    form.iter().map(|x| -x).collect()
}

/// `true` if the symmetric part of a k × k form is positive definite, by elimination.
fn is_positive(form: &[f64], k: usize) -> bool {
    let mut S: Vec<f64> = (0..k * k).map(|at| (form[at] + form[at % k * k + at / k]) / 2.0).collect();
    let top = S.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    for p in 0..k {
        let pivot = S[p * k + p];
        let is_above = pivot > tolerance::DEFINITE_FORM * top;
        if !is_above {
            return false;
        }
        for i in p + 1..k {
            let factor = S[i * k + p] / pivot;
            for j in p + 1..k {
                S[i * k + j] -= factor * S[p * k + j];
            }
        }
    }
    top > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definite_forms_are_distinguished() {
        assert!(is_positive(&[2.0, 1.0, 1.0, 2.0], 2));
        assert!(!is_positive(&[1.0, 2.0, 2.0, 1.0], 2));
        assert!(!is_positive(&[1.0, 0.0, 0.0, 0.0], 2));
        // x² and y², neither definite, have the definite combination x² + y²
        let sum = nearest_to_identity(&[vec![1.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 0.0, 1.0]], 2).unwrap();
        assert!(is_positive(&sum, 2));
        // x y and x² have no definite combination
        let sum = nearest_to_identity(&[vec![0.0, 1.0, 1.0, 0.0], vec![1.0, 0.0, 0.0, 0.0]], 2).unwrap();
        assert!(!is_positive(&sum, 2) && !is_positive(&negative(&sum), 2));
    }
}
