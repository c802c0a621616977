//! Cholesky of a mass matrix block by block, the blocks found from its pattern.

use super::{dense::Scratch, dense::cholesky, root_power_of_two, small};
use crate::{Matrix, Settings};

/// M = R Rᵀ where M falls into blocks that share no entry: single particles, single bodies, or all in one.
pub(crate) struct Blocks {
    /// Coordinates of block k are `member[start[k]..start[k + 1]]`.
    pub(crate) start: Vec<usize>,
    pub(crate) member: Vec<usize>,
    /// Block and place within it of each coordinate.
    pub(crate) place: Vec<(usize, usize)>,
    /// Where the factor of block k begins in `R`.
    offset: Vec<usize>,
    R: Vec<f64>,
    /// Powers of two that give M a unit diagonal.
    scale: Vec<f64>,
    pattern: (Vec<usize>, Vec<usize>),
    work: Vec<f64>,
    scratch: Scratch,
}

impl Blocks {
    pub(crate) fn new() -> Blocks {
        Blocks {
            start: vec![0],
            member: Vec::new(),
            place: Vec::new(),
            offset: vec![0],
            R: Vec::new(),
            scale: Vec::new(),
            pattern: (Vec::new(), Vec::new()),
            work: Vec::new(),
            scratch: Scratch::new(),
        }
    }

    /// Finds the blocks of the pattern; does nothing if the pattern is the one of the last call. True if it changed.
    pub(crate) fn find(&mut self, M: &Matrix) -> bool {
        if self.pattern.0 == M.row_start && self.pattern.1 == M.col {
            return false;
        }
        self.pattern = (M.row_start.clone(), M.col.clone());
        let n = M.n_rows;
        // union of coordinates that share an entry, each set named by its first member
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
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut name = vec![usize::MAX; n];
        self.place.clear();
        for i in 0..n {
            let r = root(&mut parent, i);
            if name[r] == usize::MAX {
                name[r] = members.len();
                members.push(Vec::new());
            }
            let k = name[r];
            self.place.push((k, members[k].len()));
            members[k].push(i);
        }
        (self.start, self.offset) = (vec![0], vec![0]);
        self.member.clear();
        for block in &members {
            self.member.extend_from_slice(block);
            self.start.push(self.member.len());
            self.offset.push(self.offset[self.offset.len() - 1] + block.len() * block.len());
        }
        self.R.resize(self.offset[members.len()], 0.0);
        self.scale.resize(n, 1.0);
        self.work.resize(self.largest(), 0.0);
        true
    }

    /// Size of the largest block.
    pub(crate) fn largest(&self) -> usize {
        self.start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    /// Factors M, whose blocks have been found. False if M is not clearly positive definite.
    pub(crate) fn factor(&mut self, M: &Matrix, settings: &Settings) -> bool {
        for i in 0..M.n_rows {
            let d = M.get(i, i);
            if !(d > 0.0) {
                return false;
            }
            self.scale[i] = 1.0 / root_power_of_two(d);
        }
        for k in 0..self.start.len() - 1 {
            let block = &self.member[self.start[k]..self.start[k + 1]];
            let size = block.len();
            let R = &mut self.R[self.offset[k]..self.offset[k + 1]];
            R.fill(0.0);
            for (i, &row) in block.iter().enumerate() {
                let (col, value) = M.row(row);
                for (&col, &x) in col.iter().zip(value) {
                    R[i * size + self.place[col].1] = x * self.scale[row] * self.scale[col];
                }
            }
            if !cholesky(R, size, settings.mass_tolerance, settings.small_limit, &mut self.scratch) {
                return false;
            }
        }
        true
    }

    /// The factor of block k, its size, and the scale of its coordinates: M = D⁻¹ R Rᵀ D⁻¹.
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
