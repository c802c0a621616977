//! Load paths of sticking contacts. Where permanent constraints and closed contacts already block a slip direction, static
//! friction in that direction is indeterminate; it is set to zero and the blocking constraints carry the load.
//!
//! A block is pushed into the corner of a floor and a wall, both with friction. The wall keeps it from moving further, and
//! so could the friction of the floor. Friction is the limit of creep, however slow: in blocked directions nothing creeps,
//! and no friction arises. So the wall carries the whole load, and its own friction follows from that.

use super::ContactSystem;
use super::place::{ContactMode, ContactState};
use super::sliding::along_directions;
use super::{Friction, Slip, length};
use crate::factor::{add_multiple, dense::symmetric_eigen, dot};
use crate::{Dynamics, MotionError, tolerance};

/// Active rows without those of friction, each of length one, and orthonormal directions that span them.
struct Basis {
    /// Each row, and its scale.
    rows: Vec<(usize, f64)>,
    /// Directions, and the parts of the rows in each.
    directions: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Basis {
    /// Removes from x its part in the span of the rows; returns the coefficient of each row.
    fn take_out(&self, x: &mut [f64]) -> Vec<f64> {
        let mut taken = vec![0.0; self.rows.len()];
        // twice, for what rounding leaves of the first time
        for (direction, parts) in self.directions.iter().chain(&self.directions) {
            let along = dot(direction, x);
            add_multiple(x, -along, direction);
            add_multiple(&mut taken, along, parts);
        }
        taken
    }
}

/// A sticking place and its free directions.
#[derive(Clone, Debug)]
pub(crate) struct BlockedDirections {
    pub(super) friction: usize,
    /// Free directions, among its slip rows; the others are blocked by constraints and contacts.
    pub(super) free_directions: Vec<Slip>,
    /// For each slip row: its blocked part, as multiples of the blocking rows.
    held: Vec<Vec<(usize, f64)>>,
}

impl BlockedDirections {
    /// Transfers forces in blocked directions to the blocking rows.
    fn transfer(&self, slip: &[usize], lambda: &mut [f64]) {
        let force: Slip = std::array::from_fn(|i| slip.get(i).map_or(0.0, |&row| lambda[row]));
        let own = along_directions(&self.free_directions, &force);
        for ((&row, held), (force, own)) in slip.iter().zip(&self.held).zip(force.iter().zip(own)) {
            lambda[row] = own;
            held.iter().for_each(|&(of, part)| lambda[of] += part * (force - own));
        }
    }
}

/// Changes λ, and not Aᵀλ, so that no friction acts in blocked directions.
pub(crate) fn transfer_blocked(blocked: &[BlockedDirections], frictions: &[Friction], lambda: &mut [f64]) {
    blocked.iter().for_each(|blocked_directions| {
        blocked_directions.transfer(&frictions[blocked_directions.friction].slip, lambda)
    });
}

impl ContactMode {
    /// Transfers forces in blocked directions, if the mode has such.
    pub(crate) fn transfer_blocked(&self, lambda: &mut [f64]) {
        if self.has_blocked {
            transfer_blocked(&self.blocked, &self.frictions, lambda);
        }
    }
}

impl<D: Dynamics + ?Sized> ContactSystem<'_, '_, D> {
    /// The number of redundant active rows, not counting those within one place.
    pub(crate) fn n_repeated(&self, rank: usize) -> usize {
        let n_held = self.smooth.rows.n_active();
        if n_held > rank { n_held.saturating_sub(rank + self.n_repeated_slips()) } else { 0 }
    }

    /// Finds blocked directions if rows are redundant; otherwise all forces are determined. In a mode that leaves every
    /// place all its directions, they are not looked for in every step.
    pub(crate) fn find_blocked_directions(&mut self) {
        if !self.mode.sticks() || self.n_repeated(self.smooth.all.rank()) == 0 {
            self.mode.blocked.clear();
        } else if self.mode.n_free.is_empty() || self.mode.has_blocked {
            self.find_free_directions();
        }
    }

    /// Finds the free directions of sticking places.
    pub(super) fn find_free_directions(&mut self) {
        let fixed = self.fixed_rows();
        let sticks = (0..self.mode.frictions.len()).filter(|&k| self.mode.states[k] == ContactState::Sticking);
        let blocked: Vec<BlockedDirections> = sticks.map(|k| self.blocked_directions(k, &fixed)).collect();
        if self.mode.n_free.is_empty() {
            self.mode.n_free = vec![0; self.mode.frictions.len()];
            blocked.iter().for_each(|blocked_directions| {
                self.mode.n_free[blocked_directions.friction] = blocked_directions.free_directions.len()
            });
            self.mode.has_blocked = blocked.iter().any(|blocked_directions| {
                blocked_directions.free_directions.len() < self.n_slips(blocked_directions.friction)
            });
        }
        self.mode.blocked = blocked;
    }

    /// Free directions of friction k among its slip rows: those that constraints and closed contacts leave.
    pub(super) fn free_directions(&self, k: usize) -> Vec<Slip> {
        let fixed = self.fixed_rows();
        self.blocked_directions(k, &fixed).free_directions
    }

    /// The part of the slip of friction k that constraints and contacts impose.
    pub(crate) fn blocked_slip(&mut self, k: usize) -> Result<Slip, MotionError> {
        let mut slip = self.slip(k)?;
        let free = along_directions(&self.free_directions(k), &slip);
        add_multiple(&mut slip, -1.0, &free);
        Ok(slip)
    }

    /// Active rows without those of friction, the most independent first: rods almost in line are not in line.
    fn fixed_rows(&self) -> Basis {
        let mode = &self.mode;
        let is_slip = |row: &usize| mode.frictions.iter().any(|friction| friction.slip.contains(row));
        let held = (0..self.smooth.rows.off.len())
            .filter(|row| !self.smooth.rows.off[*row] && !is_slip(row) && !mode.resists_blocked);
        let unit = |row: usize| {
            let mut x = self.dense_row(row);
            let scale = 1.0 / length(&x);
            x.iter_mut().for_each(|x| *x *= scale);
            ((row, scale), x)
        };
        let units = held.map(unit).filter(|((_, scale), _)| scale.is_finite());
        let (rows, vectors): (Vec<_>, Vec<Vec<f64>>) = units.unzip();
        let own = |i: usize| (0..rows.len()).map(|j| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let mut left: Vec<_> = vectors.into_iter().enumerate().map(|(i, x)| (x, own(i))).collect();
        let mut basis = Basis { rows, directions: Vec::new() };
        let longest = |left: &[(Vec<f64>, Vec<f64>)]| {
            (0..left.len()).max_by(|&i, &j| length(&left[i].0).total_cmp(&length(&left[j].0)))
        };
        while let Some(next) = longest(&left) {
            let (mut x, mut parts) = left.swap_remove(next);
            let size = length(&x);
            if !(size > self.smooth.settings.rank_tolerance) {
                break;
            }
            x.iter_mut().chain(&mut parts).for_each(|x| *x /= size);
            let more = basis.take_out(&mut x);
            add_multiple(&mut parts, -1.0, &more);
            for (other, of) in &mut left {
                let along = dot(&x, other);
                add_multiple(other, -along, &x);
                add_multiple(of, -along, &parts);
            }
            basis.directions.push((x, parts));
        }
        basis
    }

    /// Free directions of friction k, given the other active rows.
    fn blocked_directions(&self, k: usize, fixed: &Basis) -> BlockedDirections {
        let (mut held, mut left, mut top) = (Vec::new(), Vec::new(), 0f64);
        for &row in &self.mode.frictions[k].slip {
            let mut x = self.dense_row(row);
            top = top.max(dot(&x, &x));
            let parts = fixed.take_out(&mut x);
            held.push(fixed.rows.iter().zip(&parts).map(|((row, scale), part)| (*row, scale * part)).collect());
            left.push(x);
        }
        let s = left.len();
        let S: Vec<f64> = (0..s * s).map(|ij| dot(&left[ij / s], &left[ij % s])).collect();
        let (values, vectors) = symmetric_eigen(&S, s, self.smooth.settings.small_limit);
        // the number of free directions is frozen with the rank: stages of a step lie off the constraints
        let sticks = self.mode.states[k] == ContactState::Sticking;
        let least = if s == 1 { self.smooth.settings.rank_tolerance.powi(2) } else { tolerance::LOAD_EIGENVALUE };
        let n_free = match self.mode.n_free.get(k).filter(|_| sticks) {
            Some(&n_free) => n_free,
            None => values.iter().filter(|x| **x > least * top).count(),
        };
        let direction = |k: usize| std::array::from_fn(|i| if i < s { vectors[k * s + i] } else { 0.0 });
        let free_directions = (s - n_free..s).map(direction).collect();
        BlockedDirections { friction: k, free_directions, held }
    }
}
