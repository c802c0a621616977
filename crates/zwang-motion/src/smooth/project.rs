//! Projection onto the constraints, and residuals of a state.

use super::Smooth;
use crate::{
    ControlRows, Drift, Dynamics, Given, Matrix, MotionError, Settings, acceleration::decomposition::Decomposition,
};

/// The first rows of A, and the control rows tracked exactly, decomposed by themselves.
pub(super) struct Level {
    A: Matrix,
    /// The number of values that belong to A; the others are those of control rows.
    n_own: usize,
    pub(super) decomposition: Decomposition,
    /// `true` if it was tried sparsely, as all rows are if the system is large.
    tried_large: bool,
}

impl Level {
    pub(super) fn new(A: &Matrix, n_rows: usize, held: Option<(&ControlRows, usize)>, settings: &Settings) -> Level {
        let end = A.row_start[n_rows];
        let mut level = Matrix {
            n_rows,
            n_cols: A.n_cols,
            row_start: A.row_start[..=n_rows].to_vec(),
            col: A.col[..end].to_vec(),
            value: A.value[..end].to_vec(),
        };
        if let Some((asked, n_tracked)) = held {
            for i in 0..n_tracked {
                let (col, value) = asked.rows.row(i);
                level.col.extend(col);
                level.value.extend(value);
                level.row_start.push(level.col.len());
            }
            level.n_rows += n_tracked;
        }
        Level { A: level, n_own: end, decomposition: Decomposition::new(settings), tried_large: false }
    }

    pub(super) fn factor(
        &mut self,
        given: &Given,
        asked: Option<&ControlRows>,
        large: bool,
        settings: &Settings,
    ) -> Result<(), MotionError> {
        let (own, held) = self.A.value.split_at_mut(self.n_own);
        own.copy_from_slice(&given.constraint_matrix.value[..own.len()]);
        if let Some(asked) = asked {
            held.copy_from_slice(&asked.rows.value[..held.len()]);
        }
        if large && !std::mem::replace(&mut self.tried_large, true) {
            self.decomposition.go_large();
        }
        let found = self.decomposition.factor(&given.mass_matrix, &self.A);
        if found.is_err() && self.decomposition.is_large() {
            // these rows alone may not be of that kind
            self.decomposition = Decomposition::new(settings);
            return self.decomposition.factor(&given.mass_matrix, &self.A);
        }
        found
    }
}

/// Two corrections in a row may not shrink by less than this: then the point is not clearly nearer to this branch than to
/// another (Kantorovich).
const CONTRACTION: f64 = 0.25;

/// Corrections below this, relative to the size of q, may stall: they are rounding divided by a small singular value.
const STALLED: f64 = 1e-9;

/// A Newton step below this, relative to the size of q, leaves nothing but rounding.
const SQUARED: f64 = 1e-9;

/// The largest residual that an event or a switch may leave in a row, relative to the size of the row.
pub(crate) const OFF: f64 = 1e-6;

impl<D: Dynamics + ?Sized> Smooth<'_, D> {
    /// Projects q onto φ = 0 and q̇ onto φ̇ = 0, ψ = 0 with the smallest change in the mass metric, by Newton steps.
    ///
    /// `fresh` decomposes at the state first; otherwise the system does it explicitly, or the decomposition of a state close
    /// by serves. Returns the change of q, relative to its size.
    pub(crate) fn project(&mut self, fresh: bool) -> Result<f64, MotionError> {
        if self.hs + self.n_tracked.1 == 0 || self.drift != Drift::Project {
            return Ok(0.0);
        }
        let explicit = !fresh && self.is_explicit;
        if fresh {
            self.factor()?;
        }
        if !explicit {
            self.factor_levels()?;
        }
        let moved = self.newton(true, explicit)?;
        self.newton(false, explicit)?;
        Ok(moved)
    }

    /// Projects q̇ onto φ̇ = 0, ψ = 0 with the decomposition at hand.
    pub(crate) fn project_velocity(&mut self) -> Result<(), MotionError> {
        if self.hs + self.n_tracked.1 == 0 {
            return Ok(());
        }
        self.factor_levels()?;
        self.newton(false, false).map(|_| ())
    }

    /// Decomposes the first rows by themselves, if they are fewer.
    pub(crate) fn factor_levels(&mut self) -> Result<(), MotionError> {
        if let Some(control) = self.control.as_mut().filter(|_| self.n_tracked.1 > 0) {
            self.dynamics.fill_control_rows(&self.instant.state, &mut control.asked)?;
        }
        let asked = self.control.as_ref().map(|control| &control.asked);
        for level in [&mut self.positions, &mut self.velocities].into_iter().flatten() {
            self.n_factorizations += 1;
            level.factor(&self.given, asked, self.all.is_large(), &self.settings)?;
        }
        Ok(())
    }

    /// Newton steps until rounding, `explicit` ones or with the decomposition at hand. Returns the sum of their lengths.
    fn newton(&mut self, on_positions: bool, explicit: bool) -> Result<f64, MotionError> {
        const MOST: usize = 12;
        let n_rows = if on_positions { self.h } else { self.hs };
        let n_tracked = if on_positions { self.n_tracked.0 } else { self.n_tracked.1 };
        if n_rows + n_tracked == 0 {
            return Ok(0.0);
        }
        let (mut last, mut whole) = (f64::INFINITY, 0.0);
        for _ in 0..MOST {
            let size = match explicit {
                true => self.explicit_correction(on_positions)?,
                false => self.correction(on_positions, n_rows, n_tracked)?,
            };
            if !size.is_finite() || (size > CONTRACTION * last && last > STALLED) {
                return Err(MotionError::NotConverged { residual: size });
            }
            // a contact may stand on a corner of its surface, which rounding must not carry it across
            if !self.rows.is_empty() && !explicit && size <= 4.0 * f64::EPSILON {
                return Ok(whole);
            }
            // rounding stalls: the last correction was the last that counts
            if size > CONTRACTION * last {
                return Ok(whole);
            }
            let state = &mut self.instant.state;
            let x = if on_positions { &mut state.q } else { &mut state.qdot };
            x.iter_mut().zip(&self.delta).for_each(|(x, d)| *x += d);
            whole += size;
            last = size;
            // with derivatives at the state Newton's steps square the error
            let enough = if explicit { SQUARED } else { 4.0 * f64::EPSILON };
            if size <= enough {
                break;
            }
        }
        Ok(whole)
    }

    /// The correction by the system itself, with derivatives at the state; its size.
    fn explicit_correction(&mut self, on_positions: bool) -> Result<f64, MotionError> {
        match self.dynamics.correct(&self.instant.state, on_positions, &mut self.delta) {
            true => Ok(self.size_of_correction(on_positions)),
            false => Err(MotionError::NotConverged { residual: 0.0 }),
        }
    }

    /// delta = −R⁻ᵀB⁺φ, or the same for φ̇ and ψ; its size.
    fn correction(&mut self, on_positions: bool, n_rows: usize, n_tracked: usize) -> Result<f64, MotionError> {
        let state = &self.instant.state;
        let (residual, held) = self.residual[..n_rows + n_tracked].split_at_mut(n_rows);
        if on_positions {
            self.dynamics.fill_positions(state, residual)?;
        } else {
            self.dynamics.fill_velocities(state, residual)?;
        }
        self.rows.apply_to_residual(residual);
        if n_tracked > 0 {
            self.dynamics.fill_tracked(state, on_positions, held)?;
        }
        let residual = &self.residual[..n_rows + n_tracked];
        let n_rows = n_rows + n_tracked;
        self.rhs.iter_mut().for_each(|x| *x = 0.0);
        self.rhs.iter_mut().zip(residual.iter()).for_each(|(r, x)| *r = -x);
        let n_all = self.given.constraint_rhs.len();
        let own = if on_positions { &mut self.positions } else { &mut self.velocities };
        // velocities may share a level with positions, or with all rows
        match own {
            Some(level) => {
                level.decomposition.solve(&level.A, &[], &[], &self.rhs[..n_rows], &mut self.delta)?;
            }
            None if n_rows == n_all && self.n_tracked.1 == 0 => {
                self.all.solve(&self.given.constraint_matrix, &[], &[], &self.rhs[..n_all], &mut self.delta)?;
            }
            None => {
                let Some(level) = &mut self.positions else { return Ok(0.0) };
                level.decomposition.solve(&level.A, &[], &[], &self.rhs[..n_rows], &mut self.delta)?;
            }
        }
        Ok(self.size_of_correction(on_positions))
    }

    fn size_of_correction(&self, on_positions: bool) -> f64 {
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        self.delta.iter().zip(sizes).fold(0.0, |top: f64, (d, s)| top.max(d.abs() / s))
    }

    /// The largest |φ| or |φ̇|, |ψ| at the state relative to the size of its row.
    pub(crate) fn largest_residual(&mut self) -> Result<f64, MotionError> {
        let mut most = 0f64;
        for on_positions in [true, false] {
            let n_rows = self.fill_residual(on_positions)?;
            most = (0..n_rows).map(|i| self.part_off(i, on_positions)).fold(most, f64::max);
        }
        Ok(most)
    }

    /// Fills in φ, or φ̇ and ψ, of the active rows. Returns the number of rows.
    fn fill_residual(&mut self, on_positions: bool) -> Result<usize, MotionError> {
        let n_rows = if on_positions { self.h } else { self.hs };
        let residual = &mut self.residual[..n_rows];
        match on_positions {
            true => self.dynamics.fill_positions(&self.instant.state, residual)?,
            false => self.dynamics.fill_velocities(&self.instant.state, residual)?,
        }
        self.rows.apply_to_residual(residual);
        Ok(n_rows)
    }

    /// Fills in φ of all rows, active or not.
    pub(crate) fn fill_gaps(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill_positions(&self.instant.state, &mut self.residual[..self.h])
    }

    /// The residual of a row, relative to its size.
    fn part_off(&self, row: usize, on_positions: bool) -> f64 {
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        let size = self.given.constraint_matrix.row_size(row, sizes);
        if size > 0.0 { self.residual[row].abs() / size } else { 0.0 }
    }

    /// The change of the velocities from those of y, relative to their size.
    pub(crate) fn velocities_moved(&self, y: &[f64]) -> f64 {
        let velocities = self.instant.state.qdot.iter().zip(&y[self.n..]).zip(&self.v_size);
        velocities.fold(0.0, |most: f64, ((v, before), size)| most.max((v - before).abs() / size))
    }

    /// The row on positions, or on velocities, whose residual exceeds this fraction of its size, if there is one.
    pub(crate) fn violated_row(&mut self, on_positions: bool, most: f64) -> Result<Option<usize>, MotionError> {
        let n_rows = self.fill_residual(on_positions)?;
        let off = |i: &usize| self.part_off(*i, on_positions) > most;
        match (0..n_rows).find(off) {
            Some(row) => Ok(Some(row)),
            None => self.violated_control_row(on_positions, most),
        }
    }

    /// The same for control rows tracked exactly; they are numbered behind the constraints.
    pub(crate) fn violated_control_row(&mut self, on_positions: bool, most: f64) -> Result<Option<usize>, MotionError> {
        let n_tracked = if on_positions { self.n_tracked.0 } else { self.n_tracked.1 };
        let Some(control) = self.control.as_mut().filter(|_| n_tracked > 0) else { return Ok(None) };
        self.dynamics.fill_control_rows(&self.instant.state, &mut control.asked)?;
        let residual = &mut self.residual[..n_tracked];
        self.dynamics.fill_tracked(&self.instant.state, on_positions, residual)?;
        let sizes = if on_positions { &self.q_size } else { &self.v_size };
        let off = |i: &usize| {
            let size = control.asked.rows.row_size(*i, sizes);
            size > 0.0 && residual[*i].abs() > most * size
        };
        Ok((0..n_tracked).find(off).map(|i| self.given.constraint_rhs.len() + i))
    }
}
