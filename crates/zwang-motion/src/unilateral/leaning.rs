//! What sticks leaves to constraints and contacts what these hold already.
//!
//! A block is pushed into the corner of a rough floor and a rough wall. The wall keeps it from moving further, and so could the
//! friction of the floor. Friction of a place that creeps, however slowly, tells which does: where constraints and contacts
//! leave no way nothing creeps, and no friction arises. So all of the push is the wall's, and its own friction feels all of it.

use super::modes::{Grip, Modes};
use super::sliding::along_ways;
use super::{Friction, Slip, length};
use crate::factor::{add_multiple, dense::symmetric_eigen, dot};
use crate::{Dynamics, MotionError, flow::Flow};

/// Beside the largest, eigenvalues below this are rounding.
const ROUNDING: f64 = 1e-15;

/// Rows that hold and are not friction, each of length one, with orthonormal directions made of them.
struct Basis {
    /// Each row, and what it was multiplied by.
    rows: Vec<(usize, f64)>,
    /// Directions, and the parts of the rows in each.
    directions: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Basis {
    /// Takes out of x what lies along the rows, and returns how much of each.
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

/// Friction that sticks, and where it could slide.
#[derive(Clone, Debug)]
pub(crate) struct Leaning {
    pub(super) friction: usize,
    /// Its ways to go, as directions among its slip rows; along the others constraints and contacts hold it.
    pub(super) ways: Vec<Slip>,
    /// For each slip row, what of it they hold, as multiples of their rows.
    held: Vec<Vec<(usize, f64)>>,
}

impl Leaning {
    /// Hands forces along no way over to the rows that hold there.
    fn hand_over(&self, slip: &[usize], lambda: &mut [f64]) {
        let force: Slip = std::array::from_fn(|i| slip.get(i).map_or(0.0, |&row| lambda[row]));
        let own = along_ways(&self.ways, &force);
        for ((&row, held), (force, own)) in slip.iter().zip(&self.held).zip(force.iter().zip(own)) {
            lambda[row] = own;
            held.iter().for_each(|&(of, part)| lambda[of] += part * (force - own));
        }
    }
}

/// Changes λ, and not Aᵀλ, so that no friction acts where constraints and contacts leave no way.
pub(crate) fn lean(leanings: &[Leaning], frictions: &[Friction], lambda: &mut [f64]) {
    leanings.iter().for_each(|leaning| leaning.hand_over(&frictions[leaning.friction].slip, lambda));
}

impl Modes {
    /// The same as the mode says.
    pub(crate) fn lean(&self, lambda: &mut [f64]) {
        if self.leans {
            lean(&self.leanings, &self.frictions, lambda);
        }
    }
}

impl<D: Dynamics + ?Sized> Flow<'_, D> {
    /// How many rows that hold say what others do, those of one place apart.
    pub(crate) fn n_repeated(&self, rank: usize) -> usize {
        let n_held = self.modes.off.iter().filter(|off| !**off).count();
        if n_held > rank { n_held.saturating_sub(rank + self.n_repeated_slips()) } else { 0 }
    }

    /// Finds what leans, if rows repeat each other: else all forces are determined. Where a mode leaves every friction its ways
    /// nothing does, and it is not looked for in every step.
    pub(crate) fn find_leanings(&mut self) {
        if self.modes.is_empty() || !self.modes.sticks() || self.n_repeated(self.all.rank()) == 0 {
            self.modes.leanings.clear();
        } else if self.modes.n_ways.is_empty() || self.modes.leans {
            self.find_ways();
        }
    }

    /// Finds where what sticks could slide.
    pub(super) fn find_ways(&mut self) {
        let fixed = self.fixed_rows();
        let sticks = (0..self.modes.frictions.len()).filter(|&k| self.modes.grips[k] == Grip::Sticks);
        let leanings: Vec<Leaning> = sticks.map(|k| self.leaning(k, &fixed)).collect();
        if self.modes.n_ways.is_empty() {
            self.modes.n_ways = vec![0; self.modes.frictions.len()];
            leanings.iter().for_each(|leaning| self.modes.n_ways[leaning.friction] = leaning.ways.len());
            self.modes.leans = leanings.iter().any(|leaning| leaning.ways.len() < self.n_slips(leaning.friction));
        }
        self.modes.leanings = leanings;
    }

    /// Where constraints and closed contacts let friction k slide, as directions among its slip rows.
    pub(super) fn ways(&self, k: usize) -> Vec<Slip> {
        let fixed = self.fixed_rows();
        self.leaning(k, &fixed).ways
    }

    /// The slip of friction k here, of which constraints and contacts leave no choice.
    pub(crate) fn held_slip(&mut self, k: usize) -> Result<Slip, MotionError> {
        let mut slip = self.slip(k)?;
        let free = along_ways(&self.ways(k), &slip);
        add_multiple(&mut slip, -1.0, &free);
        Ok(slip)
    }

    /// The rows that hold and are not friction, the most independent first: rods almost in line are not in line.
    fn fixed_rows(&self) -> Basis {
        let modes = &self.modes;
        let is_slip = |row: &usize| modes.frictions.iter().any(|friction| friction.slip.contains(row));
        let held = (0..modes.off.len()).filter(|row| !modes.off[*row] && !is_slip(row) && !modes.is_braced);
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
            if !(size > self.settings.rank_tolerance) {
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

    /// Where friction k could slide, as the fixed rows let it.
    fn leaning(&self, k: usize, fixed: &Basis) -> Leaning {
        let (mut held, mut left, mut top) = (Vec::new(), Vec::new(), 0f64);
        for &row in &self.modes.frictions[k].slip {
            let mut x = self.dense_row(row);
            top = top.max(dot(&x, &x));
            let parts = fixed.take_out(&mut x);
            held.push(fixed.rows.iter().zip(&parts).map(|((row, scale), part)| (*row, scale * part)).collect());
            left.push(x);
        }
        let s = left.len();
        let S: Vec<f64> = (0..s * s).map(|ij| dot(&left[ij / s], &left[ij % s])).collect();
        let (values, vectors) = symmetric_eigen(&S, s, self.settings.small_limit);
        // the number of ways is kept with the rank: stages of a step lie off the constraints
        let sticks = self.modes.grips[k] == Grip::Sticks;
        let least = if s == 1 { self.settings.rank_tolerance.powi(2) } else { ROUNDING };
        let n_ways = match self.modes.n_ways.get(k).filter(|_| sticks) {
            Some(&n_ways) => n_ways,
            None => values.iter().filter(|x| **x > least * top).count(),
        };
        let way = |k: usize| std::array::from_fn(|i| if i < s { vectors[k * s + i] } else { 0.0 });
        let ways = (s - n_ways..s).map(way).collect();
        Leaning { friction: k, ways, held }
    }
}
