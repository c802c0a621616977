//! Projection onto the constraints, and residuals of a state.

use super::{RowScratch, Smooth};
use crate::{
    ConstraintLevel, ControlRows, Drift, Dynamics, Given, Matrix, MotionError, Settings,
    acceleration::decomposition::Decomposition, limits, tolerance,
};
use ConstraintLevel::{Positions, Velocities};

/// The rows onto which positions and velocities are projected.
pub(super) struct Levels {
    /// The first h rows and the first hs, if they are fewer than all; `None` if a larger set serves.
    positions: Option<LevelRows>,
    velocities: Option<LevelRows>,
    /// The number of control rows tracked exactly on positions, and on positions or velocities.
    pub(super) n_tracked: (usize, usize),
}

impl Levels {
    /// Of A, with h rows on positions and hs on positions or velocities.
    pub(super) fn new(
        A: &Matrix,
        (h, hs): (usize, usize),
        control: Option<&ControlRows>,
        settings: &Settings,
    ) -> Levels {
        let n_tracked = control.map_or((0, 0), |control| (control.n_held.0, control.n_held.0 + control.n_held.1));
        let level = |n_rows: usize, n_tracked: usize| {
            let is_own = n_tracked > 0 || (0 < n_rows && n_rows < A.n_rows);
            is_own.then(|| LevelRows::new(A, n_rows, control.map(|control| (control, n_tracked)), settings))
        };
        let is_same = hs == h && n_tracked.0 == n_tracked.1;
        let velocities = if is_same { None } else { level(hs, n_tracked.1) };
        Levels { positions: level(h, n_tracked.0), velocities, n_tracked }
    }

    /// Those that are decomposed by themselves.
    pub(super) fn own(&mut self) -> impl Iterator<Item = &mut LevelRows> {
        [&mut self.positions, &mut self.velocities].into_iter().flatten()
    }

    /// The number of control rows tracked exactly.
    fn n_tracked(&self, level: ConstraintLevel) -> usize {
        match level {
            Positions => self.n_tracked.0,
            Velocities => self.n_tracked.1,
        }
    }
}

/// The first rows of A, and the control rows tracked exactly, decomposed by themselves.
pub(super) struct LevelRows {
    A: Matrix,
    /// The number of values that belong to A; the others are those of control rows.
    n_own: usize,
    pub(super) decomposition: Decomposition,
    /// `true` if it was tried sparsely, as all rows are if the system is large.
    tried_large: bool,
    /// `true` if these rows alone leave directions without mass, which all rows together determine.
    is_supported: bool,
}

impl LevelRows {
    pub(super) fn new(
        A: &Matrix,
        n_rows: usize,
        held: Option<(&ControlRows, usize)>,
        settings: &Settings,
    ) -> LevelRows {
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
        LevelRows {
            A: level,
            n_own: end,
            decomposition: Decomposition::new(settings),
            tried_large: false,
            is_supported: false,
        }
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
        let mut found = self.decompose(given);
        if found.is_err() && self.decomposition.is_large() {
            // these rows alone may not be of that kind
            self.decomposition = Decomposition::new(settings);
            found = self.decompose(given);
        }
        if matches!(found, Err(MotionError::Indeterminate { .. })) && !self.is_supported {
            self.is_supported = true;
            return self.decompose(given);
        }
        found
    }

    fn decompose(&mut self, given: &Given) -> Result<(), MotionError> {
        let all = self.is_supported.then_some(&given.constraint_matrix);
        self.decomposition.factor_supported(&given.mass_matrix, &self.A, all)
    }
}

/// Two corrections in a row may not shrink by less than this: then the point is not clearly nearer to this branch than to
/// another (Kantorovich).
const CONTRACTION: f64 = 0.25;

impl<D: Dynamics + ?Sized> Smooth<'_, D> {
    /// Projects q onto φ = 0 and q̇ onto φ̇ = 0, ψ = 0 with the smallest change in the mass metric, by Newton steps.
    ///
    /// `fresh` decomposes at the state first; otherwise the system does it explicitly, or the decomposition of a state close
    /// by serves. Returns the change of q, relative to its size.
    pub(crate) fn project(&mut self, fresh: bool) -> Result<f64, MotionError> {
        if self.hs + self.levels.n_tracked.1 == 0 || self.drift != Drift::Project {
            return Ok(0.0);
        }
        let explicit = !fresh && self.is_explicit();
        if fresh {
            self.factor()?;
        }
        if !explicit {
            self.factor_levels()?;
        }
        let moved = self.newton(Positions, explicit)?;
        self.newton(Velocities, explicit)?;
        Ok(moved)
    }

    /// Projects q̇ onto φ̇ = 0, ψ = 0 with the current decomposition.
    pub(crate) fn project_velocity(&mut self) -> Result<(), MotionError> {
        if self.hs + self.levels.n_tracked.1 == 0 {
            return Ok(());
        }
        self.factor_levels()?;
        self.newton(Velocities, false).map(|_| ())
    }

    /// Decomposes the first rows by themselves, if they are fewer.
    pub(crate) fn factor_levels(&mut self) -> Result<(), MotionError> {
        if self.levels.n_tracked.1 > 0
            && let (Some(control), Some(equations)) = (&mut self.control, self.dynamics.control())
        {
            equations.fill_control_rows(&self.instant.state, &mut control.asked)?;
        }
        let asked = self.control.as_ref().map(|control| &control.asked);
        for level in self.levels.own() {
            self.work.factorizations += 1;
            level.factor(&self.given, asked, self.all.is_large(), &self.settings)?;
        }
        Ok(())
    }

    /// Newton steps until rounding, `explicit` ones or with the current decomposition. Returns the sum of their lengths.
    fn newton(&mut self, level: ConstraintLevel, explicit: bool) -> Result<f64, MotionError> {
        let (n_rows, n_tracked) = (self.n_rows(level), self.levels.n_tracked(level));
        if n_rows + n_tracked == 0 {
            return Ok(0.0);
        }
        let (mut last, mut whole) = (f64::INFINITY, 0.0);
        for _ in 0..limits::PROJECTION_STEPS {
            let size = match explicit {
                true => self.explicit_correction(level)?,
                false => self.correction(level, n_rows, n_tracked)?,
            };
            if !size.is_finite() || (size > CONTRACTION * last && last > tolerance::STALLED_CORRECTION) {
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
            let x = match level {
                Positions => &mut state.q,
                Velocities => &mut state.qdot,
            };
            x.iter_mut().zip(&self.scratch.delta).for_each(|(x, d)| *x += d);
            whole += size;
            last = size;
            // with derivatives at the state Newton's steps square the error
            let enough = if explicit { tolerance::QUADRATIC_STEP } else { 4.0 * f64::EPSILON };
            if size <= enough {
                break;
            }
        }
        Ok(whole)
    }

    /// The correction by the system itself, with derivatives at the state; its size.
    fn explicit_correction(&mut self, level: ConstraintLevel) -> Result<f64, MotionError> {
        let (state, delta) = (&self.instant.state, &mut self.scratch.delta);
        match self.dynamics.elimination().is_some_and(|formulas| formulas.correct(state, level, delta)) {
            true => Ok(self.size_of_correction(level)),
            false => Err(MotionError::NotConverged { residual: 0.0 }),
        }
    }

    /// delta = −R⁻ᵀB⁺φ, or the same for φ̇ and ψ; its size.
    fn correction(&mut self, level: ConstraintLevel, n_rows: usize, n_tracked: usize) -> Result<f64, MotionError> {
        self.fill_residual(level)?;
        let RowScratch { residual, rhs, delta, .. } = &mut self.scratch;
        if let (1.., Some(control)) = (n_tracked, self.dynamics.control()) {
            control.fill_tracked(&self.instant.state, level, &mut residual[n_rows..n_rows + n_tracked])?;
        }
        let n_rows = n_rows + n_tracked;
        rhs.fill(0.0);
        rhs.iter_mut().zip(&residual[..n_rows]).for_each(|(r, x)| *r = -x);
        let n_all = self.given.constraint_rhs.len();
        let Levels { positions, velocities, n_tracked } = &mut self.levels;
        let own = if level == Positions { &mut *positions } else { velocities };
        // velocities may share a level with positions, or with all rows
        match own {
            Some(own) => own.decomposition.solve(&own.A, &[], &[], &rhs[..n_rows], delta)?,
            None if n_rows == n_all && n_tracked.1 == 0 => {
                self.all.solve(&self.given.constraint_matrix, &[], &[], &rhs[..n_all], delta)?;
            }
            None => {
                let Some(shared) = positions else { return Ok(0.0) };
                shared.decomposition.solve(&shared.A, &[], &[], &rhs[..n_rows], delta)?;
            }
        }
        Ok(self.size_of_correction(level))
    }

    fn size_of_correction(&self, level: ConstraintLevel) -> f64 {
        let delta = self.scratch.delta.iter().zip(self.sizes(level));
        delta.fold(0.0, |top: f64, (d, s)| top.max(d.abs() / s))
    }

    /// The number of rows stated for positions, or for positions and velocities.
    fn n_rows(&self, level: ConstraintLevel) -> usize {
        match level {
            Positions => self.h,
            Velocities => self.hs,
        }
    }

    /// The sizes of q or of q̇.
    fn sizes(&self, level: ConstraintLevel) -> &[f64] {
        match level {
            Positions => &self.q_size,
            Velocities => &self.v_size,
        }
    }

    /// The largest |φ| or |φ̇|, |ψ| at the state relative to the size of its row.
    pub(crate) fn largest_residual(&mut self) -> Result<f64, MotionError> {
        let mut most = 0f64;
        for level in [Positions, Velocities] {
            let n_rows = self.fill_residual(level)?;
            most = (0..n_rows).map(|i| self.part_off(i, level)).fold(most, f64::max);
        }
        Ok(most)
    }

    /// Fills in φ, or φ̇ and ψ, of the active rows. Returns the number of rows.
    pub(super) fn fill_residual(&mut self, level: ConstraintLevel) -> Result<usize, MotionError> {
        let n_rows = self.n_rows(level);
        let residual = &mut self.scratch.residual[..n_rows];
        self.dynamics.fill_residuals(&self.instant.state, level, residual)?;
        self.rows.apply_to_residual(residual);
        Ok(n_rows)
    }

    /// Fills in φ of all rows, active or not.
    pub(crate) fn fill_gaps(&mut self) -> Result<(), MotionError> {
        self.dynamics.fill_residuals(&self.instant.state, Positions, &mut self.scratch.residual[..self.h])
    }

    /// The residual of a row, relative to its size.
    fn part_off(&self, row: usize, level: ConstraintLevel) -> f64 {
        let size = self.given.constraint_matrix.row_size(row, self.sizes(level));
        if size > 0.0 { self.scratch.residual[row].abs() / size } else { 0.0 }
    }

    /// The change of the velocities from those of y, relative to their size.
    pub(crate) fn velocities_moved(&self, y: &[f64]) -> f64 {
        let velocities = self.instant.state.qdot.iter().zip(&y[self.n..]).zip(&self.v_size);
        velocities.fold(0.0, |most: f64, ((v, before), size)| most.max((v - before).abs() / size))
    }

    /// The row stated for positions, or for positions or velocities, whose residual exceeds this fraction of its size, if there is one.
    pub(crate) fn violated_row(&mut self, level: ConstraintLevel, most: f64) -> Result<Option<usize>, MotionError> {
        let n_rows = self.fill_residual(level)?;
        let off = |i: &usize| self.part_off(*i, level) > most;
        match (0..n_rows).find(off) {
            Some(row) => Ok(Some(row)),
            None => self.violated_control_row(level, most),
        }
    }

    /// The same for control rows tracked exactly; they are numbered behind the constraints.
    pub(crate) fn violated_control_row(
        &mut self,
        level: ConstraintLevel,
        most: f64,
    ) -> Result<Option<usize>, MotionError> {
        let n_tracked = self.levels.n_tracked(level);
        let Some(control) = self.control.as_mut().filter(|_| n_tracked > 0) else { return Ok(None) };
        let Some(equations) = self.dynamics.control() else { return Ok(None) };
        equations.fill_control_rows(&self.instant.state, &mut control.asked)?;
        let residual = &mut self.scratch.residual[..n_tracked];
        equations.fill_tracked(&self.instant.state, level, residual)?;
        let sizes = if level == Positions { &self.q_size } else { &self.v_size };
        let off = |i: &usize| {
            let size = control.asked.rows.row_size(*i, sizes);
            size > 0.0 && residual[*i].abs() > most * size
        };
        Ok((0..n_tracked).find(off).map(|i| self.given.constraint_rhs.len() + i))
    }
}
