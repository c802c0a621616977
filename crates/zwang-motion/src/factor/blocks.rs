//! Cholesky of a mass matrix block by block, the blocks found from its pattern.

use super::{dense::DenseScratch, dense::cholesky, largest, power_of_two, root_power_of_two, same, small};
use crate::{Matrix, Settings, tolerance};

/// M = R Rᵀ for an M of blocks that share no entry: single particles, single bodies, or one block for all.
pub(crate) struct Blocks {
    /// Coordinates of block k are `member[start[k]..start[k + 1]]`.
    pub(crate) start: Vec<usize>,
    pub(crate) member: Vec<usize>,
    /// Block of each coordinate and its index within the block.
    pub(crate) place: Vec<(usize, usize)>,
    /// Start of the factor of block k in `R`.
    offset: Vec<usize>,
    R: Vec<f64>,
    /// The scales that give M a unit diagonal: powers of two, and 1/√m for a block of one coordinate, whose R is then
    /// one.
    scale: Vec<f64>,
    /// Index of each diagonal entry in the values of M, `NONE` if it is not stored.
    diagonal: Vec<usize>,
    /// The values of M that R was computed from and the floor of its pivots; empty if R is the factor of another
    /// matrix.
    known: Vec<f64>,
    floor: Option<f64>,
    /// The number of changes of R.
    version: u64,
    largest: usize,
    pattern: (Vec<usize>, Vec<usize>),
    work: Vec<f64>,
    scratch: DenseScratch,
}

const NONE: usize = usize::MAX;

impl Blocks {
    pub(crate) fn new() -> Blocks {
        Blocks {
            start: vec![0],
            member: Vec::new(),
            place: Vec::new(),
            offset: vec![0],
            R: Vec::new(),
            scale: Vec::new(),
            diagonal: Vec::new(),
            known: Vec::new(),
            floor: None,
            version: 0,
            largest: 0,
            pattern: (Vec::new(), Vec::new()),
            work: Vec::new(),
            scratch: DenseScratch::new(),
        }
    }

    /// Finds the blocks of the pattern, unless the pattern is that of the last call. True if it changed.
    pub(crate) fn find(&mut self, M: &Matrix) -> bool {
        if self.pattern.0 == M.row_start && self.pattern.1 == M.col {
            return false;
        }
        self.pattern = (M.row_start.clone(), M.col.clone());
        let n = M.n_rows;
        // union of coordinates that share an entry; each set is represented by its first member
        let mut parent: Vec<usize> = (0..n).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for i in 0..n {
            for &j in M.row(i).0 {
                let (x, y) = (root(&mut parent, i), root(&mut parent, j));
                let (x, y) = (x.min(y), x.max(y));
                parent[y] = x;
            }
        }
        // blocks in the order of their first members, members in order
        let (mut name, mut size) = (vec![NONE; n], Vec::new());
        self.place.clear();
        for i in 0..n {
            let r = root(&mut parent, i);
            if name[r] == NONE {
                name[r] = size.len();
                size.push(0);
            }
            let k = name[r];
            self.place.push((k, size[k]));
            size[k] += 1;
        }
        (self.start, self.offset) = (vec![0], vec![0]);
        for (k, size) in size.iter().enumerate() {
            self.start.push(self.start[k] + size);
            self.offset.push(self.offset[k] + size * size);
        }
        self.member.resize(n, 0);
        for (i, &(k, at)) in self.place.iter().enumerate() {
            self.member[self.start[k] + at] = i;
        }
        let place = |i: usize| M.row(i).0.binary_search(&i).map_or(NONE, |at| M.row_start[i] + at);
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(place));
        self.R.clear();
        self.R.resize(self.offset[size.len()], 1.0);
        self.scale.resize(n, 1.0);
        self.largest = size.iter().copied().max().unwrap_or(0);
        self.work.resize(self.largest, 0.0);
        self.floor = None;
        true
    }

    /// Size of the largest block.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// The number of changes of the factor.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Factors M, whose blocks are known. False if a pivot is not above `floor`. An M equal to that of the last call
    /// is not factored again.
    pub(crate) fn factor(&mut self, M: &Matrix, floor: f64, settings: &Settings) -> bool {
        if self.floor == Some(floor) && same(&self.known, &M.value) {
            return true;
        }
        self.forget();
        if M.not_finite().is_some() {
            return false;
        }
        for k in 0..self.start.len() - 1 {
            if let &[i] = &self.member[self.start[k]..self.start[k + 1]] {
                let d = self.mass(M, i);
                if !(d > 0.0) {
                    return false;
                }
                self.scale[i] = 1.0 / d.sqrt();
                self.R[self.offset[k]] = 1.0;
                continue;
            }
            if !self.scale_block(k, M) {
                return false;
            }
            self.fill_block(k, M);
            if !self.factor_block(k, floor, settings) {
                return false;
            }
        }
        self.known.clone_from(&M.value);
        self.floor = Some(floor);
        true
    }

    /// The mass of coordinate i.
    fn mass(&self, M: &Matrix, i: usize) -> f64 {
        M.value.get(self.diagonal[i]).copied().unwrap_or(0.0)
    }

    /// The power of two that scales the mass of coordinate i to about one, with a floor: a mass that is negligible
    /// relative to those it is coupled with, as in quaternions, must not be scaled up to one. One that vanishes takes
    /// the scale of the others.
    fn unit(&self, M: &Matrix, i: usize) -> f64 {
        let (own, coupled) = (self.mass(M, i), self.coupled_mass(M, i));
        1.0 / root_power_of_two(if own > 0.0 { own.max(tolerance::MASS_FLOOR * coupled) } else { coupled })
    }

    /// The factor that gives coordinate i a mass of about one.
    pub(crate) fn unit_mass_scale(&self, i: usize) -> f64 {
        self.scale[i]
    }

    /// The largest mass that coordinate i is coupled with.
    fn coupled_mass(&self, M: &Matrix, i: usize) -> f64 {
        M.row(i).0.iter().fold(0.0, |top: f64, &j| top.max(self.mass(M, j)))
    }

    /// Gives block k a unit diagonal; false if a coordinate has no mass.
    fn scale_block(&mut self, k: usize, M: &Matrix) -> bool {
        (self.start[k]..self.start[k + 1]).all(|at| {
            let i = self.member[at];
            self.scale[i] = self.unit(M, i);
            self.mass(M, i) > 0.0
        })
    }

    /// Coordinates of block k that neither have mass nor are coupled with one take their scales from the rows: the
    /// largest entry in a row becomes one. False if a mass is negative.
    fn scale_massless(&mut self, k: usize, M: &Matrix, A: &Matrix, rows: &[usize]) -> bool {
        (self.start[k]..self.start[k + 1]).all(|at| {
            let i = self.member[at];
            let d = self.mass(M, i);
            self.scale[i] = self.unit(M, i);
            if d == 0.0 && self.coupled_mass(M, i) == 0.0 {
                let share = rows.iter().fold(0.0, |top: f64, &row| {
                    let size = largest(A.row(row).1);
                    if size > 0.0 { top.max(A.get(row, i).abs() / size) } else { top }
                });
                self.scale[i] = 1.0 / power_of_two(share);
            }
            d >= 0.0
        })
    }

    fn forget(&mut self) {
        self.floor = None;
        self.version += 1;
    }

    /// Factors M; false if M is singular. Pivots taken in order can hide a singular M whose null vector lies nearly
    /// within the first coordinates, so small pivots are checked again by diagonal pivoting.
    pub(crate) fn factor_regular(&mut self, M: &Matrix, settings: &Settings) -> bool {
        if self.factor(M, settings.mass_preferred, settings) {
            return true;
        }
        if (0..M.n_rows).any(|i| !(M.get(i, i) > 0.0)) {
            return false;
        }
        self.forget();
        (0..self.start.len() - 1).for_each(|k| _ = self.scale_block(k, M));
        let full_rank = (0..self.start.len() - 1).all(|k| {
            self.fill_block(k, M);
            let (size, range) = (self.start[k + 1] - self.start[k], self.offset[k]..self.offset[k + 1]);
            small::semidefinite_rank(&mut self.R[range], size, settings.mass_tolerance).0 == size
        });
        full_rank && self.factor(M, settings.mass_tolerance, settings)
    }

    /// Factors M + Σ s²aᵀa over rows a of A that lie within one block, for a singular M. `row_of` lists the rows
    /// within each block; `square` receives s² of each row used, zero for the others. False if M is not positive
    /// semidefinite or if the sum is not definite.
    pub(crate) fn factor_with_rows(
        &mut self,
        M: &Matrix,
        A: &Matrix,
        row_of: &[Vec<usize>],
        square: &mut [f64],
        settings: &Settings,
    ) -> bool {
        square.fill(0.0);
        self.forget();
        for k in 0..self.start.len() - 1 {
            if !self.scale_block(k, M) && !self.scale_massless(k, M, A, &row_of[k]) {
                return false;
            }
            self.fill_block(k, M);
            if self.factor_block(k, settings.mass_preferred, settings) {
                continue;
            }
            self.fill_block(k, M);
            let (size, range) = (self.start[k + 1] - self.start[k], self.offset[k]..self.offset[k + 1]);
            let (rank, left) = small::semidefinite_rank(&mut self.R[range], size, settings.mass_tolerance);
            if left > 100.0 * settings.mass_tolerance {
                return false;
            }
            // with the rows if the sum is clearly definite, else without, else with
            self.fill_block_with_rows(k, M, A, &row_of[k], square);
            if self.factor_block(k, settings.mass_preferred, settings) {
                continue;
            }
            // pivots taken in order can hide that a block is singular
            self.fill_block(k, M);
            if rank == size && self.factor_block(k, settings.mass_tolerance, settings) {
                row_of[k].iter().for_each(|&row| square[row] = 0.0);
                continue;
            }
            self.fill_block_with_rows(k, M, A, &row_of[k], square);
            let range = self.offset[k]..self.offset[k + 1];
            if small::semidefinite_rank(&mut self.R[range], size, settings.mass_tolerance).0 < size {
                return false;
            }
            self.fill_block_with_rows(k, M, A, &row_of[k], square);
            if !self.factor_block(k, settings.mass_tolerance, settings) {
                return false;
            }
        }
        // a single coordinate has R = 1 everywhere
        for k in (0..self.start.len() - 1).filter(|&k| self.start[k + 1] - self.start[k] == 1) {
            let (i, R) = (self.member[self.start[k]], &mut self.R[self.offset[k]]);
            self.scale[i] /= std::mem::replace(R, 1.0);
        }
        true
    }

    /// Fills block k with M + Σ s²aᵀa over the rows a, scaled to a unit diagonal of M.
    fn fill_block_with_rows(&mut self, k: usize, M: &Matrix, A: &Matrix, rows: &[usize], square: &mut [f64]) {
        self.fill_block(k, M);
        let size = self.start[k + 1] - self.start[k];
        let R = &mut self.R[self.offset[k]..self.offset[k + 1]];
        for &row in rows {
            let (col, value) = A.row(row);
            let scaled = |(&j, &x): (&usize, &f64)| (self.place[j].1, x * self.scale[j]);
            let top = col.iter().zip(value).map(scaled).fold(0.0, |top: f64, (_, x)| top.max(x.abs()));
            let s = 1.0 / power_of_two(top);
            square[row] = s * s;
            for (i, x) in col.iter().zip(value).map(scaled) {
                for (j, y) in col.iter().zip(value).map(scaled) {
                    R[i * size + j] += (s * x) * (s * y);
                }
            }
        }
    }

    /// Fills block k with M, scaled to a unit diagonal.
    fn fill_block(&mut self, k: usize, M: &Matrix) {
        let block = &self.member[self.start[k]..self.start[k + 1]];
        let R = &mut self.R[self.offset[k]..self.offset[k + 1]];
        R.fill(0.0);
        for (i, &row) in block.iter().enumerate() {
            let (col, value) = M.row(row);
            for (&col, &x) in col.iter().zip(value) {
                R[i * block.len() + self.place[col].1] = x * self.scale[row] * self.scale[col];
            }
        }
    }

    fn factor_block(&mut self, k: usize, floor: f64, settings: &Settings) -> bool {
        let size = self.start[k + 1] - self.start[k];
        let R = &mut self.R[self.offset[k]..self.offset[k + 1]];
        cholesky(R, size, floor, settings.small_limit, &mut self.scratch)
    }

    /// The factor of block k and its size. With the scale D of the coordinates, M = D⁻¹ R Rᵀ D⁻¹.
    pub(crate) fn block(&self, k: usize) -> (&[f64], usize) {
        (&self.R[self.offset[k]..self.offset[k + 1]], self.start[k + 1] - self.start[k])
    }

    /// The scale of coordinate i.
    pub(crate) fn scale(&self, i: usize) -> f64 {
        self.scale[i]
    }

    /// x ← M⁻¹ x.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        for k in 0..self.start.len() - 1 {
            let block = &self.member[self.start[k]..self.start[k + 1]];
            let R = &self.R[self.offset[k]..self.offset[k + 1]];
            if let (&[i], &[r]) = (block, R) {
                let s = self.scale[i] / r;
                x[i] *= s * s;
                continue;
            }
            let y = &mut self.work[..block.len()];
            for (y, &i) in y.iter_mut().zip(block) {
                *y = x[i] * self.scale[i];
            }
            small::solve_lower(R, block.len(), y);
            small::solve_lower_transposed(R, block.len(), y);
            for (y, &i) in y.iter().zip(block) {
                x[i] = y * self.scale[i];
            }
        }
    }
}
