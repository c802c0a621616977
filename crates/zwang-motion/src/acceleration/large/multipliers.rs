//! The shortest multipliers of large systems.

use super::{Large, Plan, Work};
use crate::{
    Matrix, MotionError, Settings,
    acceleration::dependence::dependence,
    factor::{largest, norm, sparse::Sparse},
    limits, tolerance,
};

/// Solver for the shortest λ: a sparse problem with the identity for M.
pub(super) struct MultiplierShortener {
    large: Large,
    identity: Matrix,
    force: Vec<f64>,
    asked: Vec<f64>,
    x: Vec<f64>,
}

impl Large {
    /// The shortest λ of the last solve, for the rows as written.
    pub(crate) fn multipliers(&mut self, A: &Matrix, lambda: &mut [f64]) -> Result<(), MotionError> {
        let redundant = self.is_deficient();
        if redundant && self.alike == Some(true) {
            self.project();
        }
        for (x, s) in self.work.left.iter_mut().zip(&self.scale).zip(&self.work.lambda).map(|((x, s), y)| (x, s * y)) {
            *x = s;
        }
        if redundant && self.alike != Some(true) {
            self.shorten(A)?;
        }
        for (k, &i) in self.repeats.kept.iter().enumerate() {
            self.work.left[k] /= self.repeats.square(k);
            lambda[i] = self.work.left[k];
        }
        for (row, of, factor) in self.repeats.iter() {
            lambda[row] = factor * self.work.left[of];
        }
        self.share_with_left_out(A, lambda)
    }

    /// Includes the omitted rows: λ ← (A Aᵀ)⁺ A (Aᵀλ), the shortest λ with the same force.
    fn share_with_left_out(&mut self, A: &Matrix, lambda: &mut [f64]) -> Result<(), MotionError> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        self.left_out.iter().for_each(|&i| lambda[i] = 0.0);
        let n = A.n_cols;
        let MultiplierShortener { large, identity, force, asked, x } = &mut **self.shortener.get_or_insert_with(|| {
            let (identity, room) = (Matrix::identity(n), vec![0.0; n]);
            Box::new(MultiplierShortener {
                large: Large::new(&self.settings),
                identity,
                force: room.clone(),
                asked: Vec::new(),
                x: room,
            })
        });
        A.multiply_transposed(lambda, force);
        asked.resize(A.n_rows, 0.0);
        A.multiply(force, asked);
        if large.factor(identity, A)? {
            large.solve_for(A, &[], &[], asked, x);
            large.multipliers(A, lambda)?;
        }
        Ok(())
    }

    /// λ ← S S⁺ λ: removes from λ its part in the null space of S, where rounding has been divided by µ.
    fn project(&mut self) {
        let Some(Plan { rows, sparse }) = &mut self.plan else { return };
        // product = range, and range += S (S + µI)⁻¹ (λ − range)
        let Work { lambda, left, product: range, change, .. } = &mut self.work;
        range.fill(0.0);
        for _ in 0..limits::MULTIPLIER_ROUNDS {
            left.iter_mut().zip(lambda.iter().zip(&*range)).for_each(|(x, (lambda, range))| *x = lambda - range);
            change.fill(0.0);
            sparse.solve(left, |k, x| rows.add(k, x, change));
            let mut most = 0f64;
            for (k, range) in range.iter_mut().enumerate() {
                let step = rows.times(k, change);
                most = most.max(step.abs());
                *range += step;
            }
            // every iteration also adds rounding, so the loop ends with the last one that gains
            if most <= tolerance::ROUNDING * largest(range) {
                break;
            }
        }
        lambda.copy_from_slice(range);
    }

    /// Shortens λ, stored in `left`, for rows of different lengths, by means of the dependences of the rows.
    fn shorten(&mut self, A: &Matrix) -> Result<(), MotionError> {
        let kept = &self.repeats.kept;
        let pattern: Vec<Vec<usize>> = kept.iter().map(|&i| A.row(i).0.to_vec()).collect();
        // a row that represents several multiples has their combined length
        let mut whole = Matrix::from_pattern(kept.len(), A.n_cols, &pattern);
        for (k, &i) in kept.iter().enumerate() {
            let weight = self.repeats.square(k).sqrt();
            self.work.left[k] /= weight;
            whole.row_mut(k).1.iter_mut().zip(A.row(i).1).for_each(|(x, a)| *x = weight * a);
        }
        shorten(&whole, &mut self.work.left, &self.settings)?;
        for k in 0..kept.len() {
            self.work.left[k] *= self.repeats.square(k).sqrt();
        }
        self.restore_force();
        Ok(())
    }

    /// Changes `left` so that its force equals that of λ again: the dependences are known only to rounding, and λ may
    /// be large.
    fn restore_force(&mut self) {
        let Some(Plan { rows, sparse }) = &mut self.plan else { return };
        let Large { scale, work: Work { lambda, left, product, change, .. }, .. } = self;
        for _ in 0..2 {
            change.fill(0.0);
            for k in 0..left.len() {
                rows.add(k, lambda[k] - left[k] / scale[k], change);
            }
            product.iter_mut().enumerate().for_each(|(k, x)| *x = rows.times(k, change));
            sparse.solve(product, |k, x| left[k] += scale[k] * x);
        }
    }
}

/// Removes from λ its part in the null space of Aᵀ, spanned by the dependences of the rows.
///
/// With K the certificates of the dependent rows, λ ← λ − K (KᵀK)⁻¹ Kᵀλ.
fn shorten(A: &Matrix, lambda: &mut [f64], settings: &Settings) -> Result<(), MotionError> {
    let found = dependence(A, settings)?;
    found.vanished.iter().for_each(|&i| lambda[i] = 0.0);
    let K: Vec<Vec<(usize, f64)>> = found
        .dependent
        .into_iter()
        .map(|(i, terms)| {
            let length = terms.iter().fold(1.0, |sum, (_, c)| f64::hypot(sum, *c));
            terms.into_iter().map(|(k, c)| (k, -c / length)).chain([(i, 1.0 / length)]).collect()
        })
        .collect();
    let mut touching: Vec<Vec<(usize, f64)>> = vec![Vec::new(); A.n_rows];
    for (k, column) in K.iter().enumerate() {
        column.iter().for_each(|&(i, y)| touching[i].push((k, y)));
    }
    // the lower triangle of KᵀK by columns
    let (mut col_start, mut row, mut value) = (vec![0], Vec::new(), Vec::new());
    let mut sums = vec![0.0; K.len()];
    for (k, column) in K.iter().enumerate() {
        let first = row.len();
        for &(i, y) in column {
            for &(l, z) in touching[i].iter().filter(|(l, _)| *l >= k) {
                sums[l] += y * z;
                row.push(l);
            }
        }
        row[first..].sort_unstable();
        let mut end = first;
        for at in first..row.len() {
            if end == first || row[end - 1] != row[at] {
                row[end] = row[at];
                end += 1;
            }
        }
        row.truncate(end);
        for &l in &row[first..] {
            value.push(std::mem::take(&mut sums[l]));
        }
        col_start.push(row.len());
    }
    let (starts, rows) = (col_start.clone(), row.clone());
    let Some((mut system, order)) = Sparse::new(K.len(), col_start, row) else { return Ok(()) };
    let mut place = vec![0; K.len()];
    order.iter().enumerate().for_each(|(at, &k)| place[k] = at);
    system.values().fill(0.0);
    for k in 0..K.len() {
        for at in starts[k]..starts[k + 1] {
            if rows[at] == k {
                system.diagonal[place[k]] = value[at];
            } else if let Some(slot) = system.place(place[k], place[rows[at]]) {
                system.values()[slot] = value[at];
            }
        }
    }
    if system.factor(0.0, 0.0).is_none() {
        return Err(MotionError::NotConverged { residual: norm(lambda) });
    }
    // twice: the second pass removes the rounding of the first
    for _ in 0..2 {
        let y = |k: usize| K[k].iter().map(|&(i, y)| y * lambda[i]).sum();
        let mut c: Vec<f64> = order.iter().map(|&k| y(k)).collect();
        system.solve(&mut c, |_, _| {});
        for (column, &at) in K.iter().zip(&place) {
            column.iter().for_each(|&(i, y)| lambda[i] -= y * c[at]);
        }
    }
    Ok(())
}
