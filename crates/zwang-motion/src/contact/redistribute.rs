//! Redistribution of indeterminate forces.
//!
//! A table on four legs stands as long as *some* distribution of its weight keeps every leg under compression and inside its
//! cone. The shortest λ may violate this; the nearest λ that does not then replaces it. The motion does not depend on this
//! choice.

use super::ContactSystem;
use super::Slip;
use super::load_path::BlockedDirections;
use super::place::ContactState;
use crate::factor::dense::{Qr, Stop, symmetric_eigen};
use crate::{Dynamics, MotionError, limits, tolerance};

/// Violated inequalities of a distribution of λ.
#[derive(Default)]
pub(crate) struct Violations {
    /// Each violation with its gradient by λ.
    pub(crate) violations: Vec<(f64, Vec<(usize, f64)>)>,
}

/// Changes λ along free directions until no inequality is violated, or violations are as small as possible.
pub(crate) fn redistribute_along(
    lambda: &mut Vec<f64>,
    free: &[Vec<f64>],
    violations_of: impl Fn(&[f64]) -> Violations,
) {
    let mut violations = violations_of(lambda);
    let mut least = violations.size();
    for _ in 0..limits::REDISTRIBUTION_ROUNDS {
        if least == 0.0 {
            return;
        }
        let step = violations.step(free, free.len());
        let Some((next, after)) = shorter(lambda, free, &step, &violations_of, least) else { return };
        (*lambda, least, violations) = (next, after.size(), after);
    }
}

/// λ after the largest part of a step that reduces the violations.
fn shorter(
    lambda: &[f64],
    free: &[Vec<f64>],
    step: &[f64],
    violations_of: impl Fn(&[f64]) -> Violations,
    least: f64,
) -> Option<(Vec<f64>, Violations)> {
    let mut part = 1.0;
    for _ in 0..limits::REDISTRIBUTION_HALVINGS {
        let mut next = lambda.to_vec();
        for (z, h) in free.iter().zip(step) {
            next.iter_mut().zip(z).for_each(|(x, z)| *x += part * h * z);
        }
        let violations = violations_of(&next);
        if violations.size() < least * (1.0 - tolerance::REDISTRIBUTION_DECREASE * part) {
            return Some((next, violations));
        }
        part *= 0.5;
    }
    None
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// Changes λ, and not Aᵀλ, so that contacts are under compression and sticking places stay inside their cones, if that
    /// is possible. Normal forces of sliding places keep their λ: the motion itself depends on it, and that is reported
    /// elsewhere.
    pub(crate) fn redistribute(&mut self) -> Result<(), MotionError> {
        if self.n_repeated(self.smooth.all.rank()) == 0 {
            return Ok(());
        }
        self.update_friction()?;
        let room = tolerance::MODE_MARGIN * self.smooth.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        if self.violations(&self.smooth.instant.lambda, room).size() == 0.0 {
            return Ok(());
        }
        self.find_free_directions();
        let mut lambda = self.smooth.instant.lambda.clone();
        let free = self.free_forces(self.smooth.all.rank());
        redistribute_along(&mut lambda, &free, |lambda| self.violations(lambda, room));
        self.smooth.instant.lambda = lambda;
        Ok(())
    }

    /// `true` if forces on which the motion does not depend are indeterminate; the active rows have this rank.
    pub(crate) fn is_indeterminate(&self, rank: usize) -> bool {
        self.n_repeated(rank) > 0 && !self.free_forces(rank).is_empty()
    }

    /// The number of active slip rows that depend on those of the same place: on a surface in space three rows have rank
    /// two.
    pub(crate) fn n_repeated_slips(&self) -> usize {
        let mode = &self.mode;
        let sticks = (0..mode.frictions.len()).filter(|&k| mode.states[k] == ContactState::Sticking);
        sticks.map(|k| mode.frictions[k].slip.len() - self.n_slips(k)).sum()
    }

    /// The rank of the slip rows of friction k.
    pub(crate) fn n_slips(&self, k: usize) -> usize {
        let rows: Vec<Vec<f64>> = self.mode.frictions[k].slip.iter().map(|&row| self.dense_row(row)).collect();
        let m = rows.len();
        let product = |k: usize| rows[k / m].iter().zip(&rows[k % m]).map(|(x, y)| x * y).sum::<f64>();
        let S: Vec<f64> = (0..m * m).map(product).collect();
        let (values, _) = symmetric_eigen(&S, m, self.smooth.settings.small_limit);
        let top = values.iter().fold(0.0, |top: f64, x| top.max(*x));
        values.iter().filter(|x| **x > tolerance::ROUNDING * top).count()
    }

    pub(super) fn dense_row(&self, row: usize) -> Vec<f64> {
        self.dense_sum(&[(row, 1.0)])
    }

    fn dense_sum(&self, sum: &[(usize, f64)]) -> Vec<f64> {
        let mut x = vec![0.0; self.smooth.n];
        for &(row, part) in sum {
            let (col, value) = self.smooth.rows.whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| x[j] += part * a);
        }
        x
    }

    /// `true` if this row is the normal row of a sliding place.
    fn presses_sliding(&self, row: usize) -> bool {
        let mut frictions = self.mode.frictions.iter().zip(&self.mode.states);
        frictions.any(|(friction, state)| matches!(state, ContactState::Sliding(_)) && friction.normals.contains(&row))
    }

    /// Directions in which λ changes without any force: the null space of Aᵀ on the active rows, which have this rank; those
    /// of friction along free directions only. Normal rows of sliding places are left out.
    fn free_forces(&self, rank: usize) -> Vec<Vec<f64>> {
        let mode = &self.mode;
        let is_slip = |row: &usize| mode.frictions.iter().any(|friction| friction.slip.contains(row));
        let held = (0..self.smooth.rows.off.len())
            .filter(|row| !self.smooth.rows.off[*row] && !self.presses_sliding(*row) && !is_slip(row));
        let along = |(blocked_directions, direction): (&BlockedDirections, &Slip)| {
            mode.frictions[blocked_directions.friction].slip.iter().copied().zip(direction.iter().copied()).collect()
        };
        let free_directions = mode.blocked.iter().flat_map(|blocked_directions| {
            blocked_directions.free_directions.iter().map(move |direction| (blocked_directions, direction))
        });
        let sums: Vec<Vec<(usize, f64)>> = held.map(|row| vec![(row, 1.0)]).chain(free_directions.map(along)).collect();
        let dense: Vec<Vec<f64>> = sums.iter().map(|sum| self.dense_sum(sum)).collect();
        // a row that has vanished is free by itself, and its force is treated as zero
        let length: Vec<f64> = dense.iter().map(|x| super::length(x)).collect();
        let unit = |i: usize| if length[i] > 0.0 { 1.0 / length[i] } else { 0.0 };
        let stop = match mode.slides() {
            true => Stop::Tolerance(self.smooth.settings.rank_tolerance),
            false => Stop::Rank(rank),
        };
        let rows = dense.iter().zip(0..).map(|(x, i)| x.iter().map(|x| unit(i) * x).collect()).collect::<Vec<_>>();
        let of = |null: Vec<f64>| {
            let mut z = vec![0.0; self.smooth.rows.off.len()];
            for (i, sum) in sums.iter().enumerate() {
                sum.iter().for_each(|&(row, part)| z[row] += part * unit(i) * null[i]);
            }
            z
        };
        null_space(&rows, self.smooth.n, stop).into_iter().map(of).collect()
    }

    fn violations(&self, lambda: &[f64], room: f64) -> Violations {
        let mode = &self.mode;
        let mut violations = Vec::new();
        for (contact, closed) in mode.contacts.iter().zip(&mode.closed) {
            if *closed && lambda[contact.row] < room && !self.presses_sliding(contact.row) {
                violations.push((room - lambda[contact.row], vec![(contact.row, -1.0)]));
            }
        }
        for (k, friction) in
            mode.frictions.iter().enumerate().filter(|(k, _)| mode.states[*k] == ContactState::Sticking)
        {
            let (law, normal_forces) = (mode.laws[k], friction.normal_forces(lambda));
            let slip = friction.slips(|row| lambda[row]);
            let force = super::length(&slip);
            let violation = force - law.static_mu * law.normal(&normal_forces) + room;
            if violation > 0.0 && force > 0.0 {
                let side = if friction.contact.is_some() { 1.0 } else { normal_forces[0].signum() };
                let gradient = law.gradient(friction, side, &normal_forces);
                let along = friction.slip.iter().zip(&slip).map(|(&row, x)| (row, x / force));
                let pressed = friction.normals.iter().zip(&gradient).map(|(&row, g)| (row, -law.static_mu * g));
                violations.push((violation, along.chain(pressed).collect()));
            }
        }
        Violations { violations }
    }
}

/// An orthonormal basis of the coefficients with which rows of length n add up to zero. Products of rows would square the
/// angles between them, and rods that lie in line to 1e-6 would seem to lie in line.
fn null_space(rows: &[Vec<f64>], n: usize, stop: Stop) -> Vec<Vec<f64>> {
    let m = rows.len();
    let mut qr = Qr::new();
    qr.resize(m, n);
    (0..n).for_each(|j| qr.column_mut(j).iter_mut().zip(rows).for_each(|(x, row)| *x = row[j]));
    qr.factor(stop, usize::MAX);
    let of = |k: usize| {
        let mut z: Vec<f64> = (0..m).map(|i| f64::from(u8::from(i == k))).collect();
        qr.apply(&mut z);
        z
    };
    (qr.rank..m).map(of).collect()
}

impl Violations {
    /// The root of the sum of squares.
    fn size(&self) -> f64 {
        self.violations.iter().map(|(violation, _)| violation * violation).sum::<f64>().sqrt()
    }

    /// The least squares step along the free directions.
    fn step(&self, free: &[Vec<f64>], n_free: usize) -> Vec<f64> {
        let (mut G, mut g) = (vec![0.0; n_free * n_free], vec![0.0; n_free]);
        for (violation, gradient) in &self.violations {
            let slope: Vec<f64> = free.iter().map(|z| gradient.iter().map(|&(row, d)| d * z[row]).sum()).collect();
            for i in 0..n_free {
                g[i] -= violation * slope[i];
                (0..n_free).for_each(|j| G[i * n_free + j] += slope[i] * slope[j]);
            }
        }
        let top = (0..n_free).fold(f64::MIN_POSITIVE, |top: f64, i| top.max(G[i * n_free + i]));
        (0..n_free).for_each(|i| G[i * n_free + i] += tolerance::REDISTRIBUTION_DAMPING * top);
        match super::sliding::eliminate(&mut G, &mut g, 0.0) {
            Ok(()) => g,
            Err(_) => vec![0.0; n_free],
        }
    }
}
