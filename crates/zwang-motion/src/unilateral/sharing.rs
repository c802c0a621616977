//! Forces that are not determined one by one: how contacts that repeat each other may share them.
//!
//! A table on four legs stands as long as *some* way to share its weight keeps every leg pushing and inside its cone. The
//! shortest λ need not be one: where it is not, the nearest to it that is stands for it. The motion does not depend on this.

use super::Slip;
use super::leaning::Leaning;
use super::modes::Grip;
use crate::factor::dense::{Qr, Stop, symmetric_eigen};
use crate::{Dynamics, MotionError, flow::Flow};

/// Room that is asked for, as a part of the largest λ: rounding alone must not end a mode.
pub(crate) const MARGIN: f64 = 1e-10;

/// Eigenvalues of products of rows below this are rounding.
const SINGULAR: f64 = 1e-12;

/// Rounds of Gauss and Newton: violations are almost linear in the shares.
const ROUNDS: usize = 60;

/// What a share of λ must keep, and by how much it misses that.
#[derive(Default)]
pub(crate) struct Misses {
    /// Each miss with its gradient by λ.
    pub(crate) misses: Vec<(f64, Vec<(usize, f64)>)>,
}

/// Changes λ along free directions until nothing is missed, or as little as possible.
pub(crate) fn share_out(lambda: &mut Vec<f64>, free: &[Vec<f64>], misses_of: impl Fn(&[f64]) -> Misses) {
    let mut misses = misses_of(lambda);
    let mut least = misses.size();
    for _ in 0..ROUNDS {
        if least == 0.0 {
            return;
        }
        let step = misses.step(free, free.len());
        let Some((next, after)) = shorter(lambda, free, &step, &misses_of, least) else { return };
        (*lambda, least, misses) = (next, after.size(), after);
    }
}

/// λ after as much of a step as makes the misses smaller.
fn shorter(
    lambda: &[f64],
    free: &[Vec<f64>],
    step: &[f64],
    misses_of: impl Fn(&[f64]) -> Misses,
    least: f64,
) -> Option<(Vec<f64>, Misses)> {
    const HALVINGS: usize = 12;
    let mut part = 1.0;
    for _ in 0..HALVINGS {
        let mut next = lambda.to_vec();
        for (z, h) in free.iter().zip(step) {
            next.iter_mut().zip(z).for_each(|(x, z)| *x += part * h * z);
        }
        let misses = misses_of(&next);
        if misses.size() < least * (1.0 - 1e-3 * part) {
            return Some((next, misses));
        }
        part *= 0.5;
    }
    None
}

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// Changes λ, of which Aᵀλ is all that matters, so that contacts push and what sticks stays inside its cone, if that is
    /// possible. What presses where friction slides keeps its λ: the motion itself depends on it, and that is said elsewhere.
    pub(crate) fn share(&mut self) -> Result<(), MotionError> {
        if self.modes.is_empty() || self.n_repeated(self.all.rank()) == 0 {
            return Ok(());
        }
        self.feel()?;
        let room = MARGIN * self.instant.lambda.iter().fold(0.0, |top: f64, l| top.max(l.abs()));
        if self.misses(&self.instant.lambda, room).size() == 0.0 {
            return Ok(());
        }
        self.find_ways();
        let mut lambda = self.instant.lambda.clone();
        let free = self.free_shares(self.all.rank());
        share_out(&mut lambda, &free, |lambda| self.misses(lambda, room));
        self.instant.lambda = lambda;
        Ok(())
    }

    /// Whether forces that the motion does not depend on may be shared in several ways, where rows that hold have this rank.
    pub(crate) fn has_shares(&self, rank: usize) -> bool {
        self.n_repeated(rank) > 0 && !self.free_shares(rank).is_empty()
    }

    /// How many of the slip rows that hold repeat those of the same place: on a surface in space three rows say two things.
    pub(crate) fn n_repeated_slips(&self) -> usize {
        let modes = &self.modes;
        let sticks = (0..modes.frictions.len()).filter(|&k| modes.grips[k] == Grip::Sticks);
        sticks.map(|k| modes.frictions[k].slip.len() - self.n_slips(k)).sum()
    }

    /// How many of the slip rows of friction k are independent of each other.
    pub(crate) fn n_slips(&self, k: usize) -> usize {
        let rows: Vec<Vec<f64>> = self.modes.frictions[k].slip.iter().map(|&row| self.dense_row(row)).collect();
        let m = rows.len();
        let product = |k: usize| rows[k / m].iter().zip(&rows[k % m]).map(|(x, y)| x * y).sum::<f64>();
        let S: Vec<f64> = (0..m * m).map(product).collect();
        let (values, _) = symmetric_eigen(&S, m, self.settings.small_limit);
        let top = values.iter().fold(0.0, |top: f64, x| top.max(*x));
        values.iter().filter(|x| **x > SINGULAR * top).count()
    }

    pub(super) fn dense_row(&self, row: usize) -> Vec<f64> {
        self.dense_sum(&[(row, 1.0)])
    }

    fn dense_sum(&self, sum: &[(usize, f64)]) -> Vec<f64> {
        let mut x = vec![0.0; self.n];
        for &(row, part) in sum {
            let (col, value) = self.modes.whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| x[j] += part * a);
        }
        x
    }

    /// Whether this row presses where friction slides.
    fn rubs(&self, row: usize) -> bool {
        let mut frictions = self.modes.frictions.iter().zip(&self.modes.grips);
        frictions.any(|(friction, grip)| matches!(grip, Grip::Slides(_)) && friction.normals.contains(&row))
    }

    /// Directions in which λ changes without any force: the null space of Aᵀ on the rows that hold and have this rank, those of
    /// friction along its ways only. Those that press where friction slides stay out of it.
    fn free_shares(&self, rank: usize) -> Vec<Vec<f64>> {
        let modes = &self.modes;
        let is_slip = |row: &usize| modes.frictions.iter().any(|friction| friction.slip.contains(row));
        let held = (0..modes.off.len()).filter(|row| !modes.off[*row] && !self.rubs(*row) && !is_slip(row));
        let along = |(leaning, way): (&Leaning, &Slip)| {
            modes.frictions[leaning.friction].slip.iter().copied().zip(way.iter().copied()).collect()
        };
        let ways = modes.leanings.iter().flat_map(|leaning| leaning.ways.iter().map(move |way| (leaning, way)));
        let sums: Vec<Vec<(usize, f64)>> = held.map(|row| vec![(row, 1.0)]).chain(ways.map(along)).collect();
        let dense: Vec<Vec<f64>> = sums.iter().map(|sum| self.dense_sum(sum)).collect();
        // a row that has vanished is free by itself, and its force is none
        let length: Vec<f64> = dense.iter().map(|x| super::length(x)).collect();
        let unit = |i: usize| if length[i] > 0.0 { 1.0 / length[i] } else { 0.0 };
        let stop = match modes.slides() {
            true => Stop::Tolerance(self.settings.rank_tolerance),
            false => Stop::Rank(rank),
        };
        let rows = dense.iter().zip(0..).map(|(x, i)| x.iter().map(|x| unit(i) * x).collect()).collect::<Vec<_>>();
        let of = |null: Vec<f64>| {
            let mut z = vec![0.0; modes.off.len()];
            for (i, sum) in sums.iter().enumerate() {
                sum.iter().for_each(|&(row, part)| z[row] += part * unit(i) * null[i]);
            }
            z
        };
        null_space(&rows, self.n, stop).into_iter().map(of).collect()
    }

    fn misses(&self, lambda: &[f64], room: f64) -> Misses {
        let modes = &self.modes;
        let mut misses = Vec::new();
        for (contact, closed) in modes.contacts.iter().zip(&modes.closed) {
            if *closed && lambda[contact.row] < room && !self.rubs(contact.row) {
                misses.push((room - lambda[contact.row], vec![(contact.row, -1.0)]));
            }
        }
        for (k, friction) in modes.frictions.iter().enumerate().filter(|(k, _)| modes.grips[*k] == Grip::Sticks) {
            let (rough, pushes) = (modes.roughness[k], friction.pushes(lambda));
            let slip = friction.slips(|row| lambda[row]);
            let force = super::length(&slip);
            let miss = force - rough.holding * rough.normal(&pushes) + room;
            if miss > 0.0 && force > 0.0 {
                let press = if friction.contact.is_some() { 1.0 } else { pushes[0].signum() };
                let gradient = rough.gradient(friction, press, &pushes);
                let along = friction.slip.iter().zip(&slip).map(|(&row, x)| (row, x / force));
                let pressed = friction.normals.iter().zip(&gradient).map(|(&row, g)| (row, -rough.holding * g));
                misses.push((miss, along.chain(pressed).collect()));
            }
        }
        Misses { misses }
    }
}

/// Factors with which rows of length n add up to nothing, an orthonormal basis. Products of rows would square the angles between
/// them, and rods that lie in line but for a millionth would seem to lie in line.
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

impl Misses {
    /// The root of the sum of squares.
    fn size(&self) -> f64 {
        self.misses.iter().map(|(miss, _)| miss * miss).sum::<f64>().sqrt()
    }

    /// The least squares step along the free directions.
    fn step(&self, free: &[Vec<f64>], n_free: usize) -> Vec<f64> {
        let (mut G, mut g) = (vec![0.0; n_free * n_free], vec![0.0; n_free]);
        for (miss, gradient) in &self.misses {
            let slope: Vec<f64> = free.iter().map(|z| gradient.iter().map(|&(row, d)| d * z[row]).sum()).collect();
            for i in 0..n_free {
                g[i] -= miss * slope[i];
                (0..n_free).for_each(|j| G[i * n_free + j] += slope[i] * slope[j]);
            }
        }
        // directions that mend nothing stay as they are
        const DAMPING: f64 = 1e-10;
        let top = (0..n_free).fold(f64::MIN_POSITIVE, |top: f64, i| top.max(G[i * n_free + i]));
        (0..n_free).for_each(|i| G[i * n_free + i] += DAMPING * top);
        match super::sliding::eliminate(&mut G, &mut g, 0.0) {
            Ok(()) => g,
            Err(_) => vec![0.0; n_free],
        }
    }
}
