//! B = A R⁻ᵀ by rows and S = B Bᵀ; the structure that follows from the patterns is computed once.

use crate::{
    Matrix,
    factor::{blocks::Blocks, dot, norm, small, sparse::Sparse},
    limits,
};
use std::collections::HashMap;

/// The rows of B that represent all rows of A, in the order in which S is factored.
///
/// Coordinates have an internal order: blocks of M that the same rows involve are adjacent, so that two rows overlap
/// in few contiguous runs of numbers.
pub(crate) struct ScaledRows {
    /// Entries of row k are `start[k]..start[k + 1]`.
    start: Vec<u32>,
    /// The index of each entry in the values of A, `NO_INDEX` if a block has no entry; and its internal coordinate.
    source: Vec<u32>,
    place: Vec<u32>,
    /// B.
    value: Vec<f64>,
    /// The external coordinate of each internal one.
    pub(crate) coordinate: Vec<u32>,
    /// The internal position of each external coordinate.
    pub(crate) position: Vec<u32>,
    /// The scale of each coordinate: D of M = D⁻¹ R Rᵀ D⁻¹.
    unit: Vec<f64>,
    /// Blocks of more than one coordinate with their first internal coordinate; and the parts of B in them.
    blocks: Vec<(u32, u32)>,
    pieces: Vec<(u32, u32)>,
    /// The products whose sums are the off-diagonal entries of S.
    products: Vec<Product>,
    /// The version of the factor of M that B was computed with.
    version: u64,
}

/// Adds to one entry of S the product of two runs of B.
struct Product {
    slot: u32,
    left: u32,
    right: u32,
    size: u32,
}

const NO_INDEX: u32 = u32::MAX;

/// Blocks of M that the same rows involve.
struct Cluster {
    rows: Vec<u32>,
    blocks: Vec<u32>,
    size: usize,
}

impl ScaledRows {
    /// Finds the structure for the rows `kept` of A, the matching S, and the order of the rows: row k here is row
    /// `kept[order[k]]`. `None` if the structure would be too large.
    pub(crate) fn new(A: &Matrix, blocks: &Blocks, kept: &[usize]) -> Option<(ScaledRows, Sparse, Vec<usize>)> {
        let m = kept.len();
        if u32::try_from(A.n_stored().max(A.n_cols).max(A.n_rows)).is_err() {
            return None;
        }
        let mut clusters = clusters(A, blocks, kept);
        let pairs = |c: &Cluster| c.rows.len() * c.rows.len() / 2;
        if clusters.iter().map(pairs).sum::<usize>() > limits::PRODUCTS {
            return None;
        }
        let (col_start, row) = pattern(m, &clusters);
        let (sparse, order) = Sparse::new(m, col_start, row)?;
        // from here on rows are numbered by their position in the factor
        let mut place_of = vec![0u32; m];
        order.iter().enumerate().for_each(|(k, &i)| place_of[i] = k as u32);
        for cluster in &mut clusters {
            cluster.rows.iter_mut().for_each(|row| *row = place_of[*row as usize]);
            cluster.rows.sort_unstable();
        }
        // coordinates in the order in which the rows involve them; those without a row come last
        clusters.sort_by_key(|cluster| cluster.rows.first().map_or(NO_INDEX, |&row| row));
        let mut rows = ScaledRows {
            start: vec![0; m + 1],
            source: Vec::new(),
            place: Vec::new(),
            value: Vec::new(),
            coordinate: Vec::with_capacity(A.n_cols),
            position: vec![0; A.n_cols],
            unit: vec![1.0; A.n_cols],
            blocks: Vec::new(),
            pieces: Vec::new(),
            products: Vec::new(),
            version: u64::MAX,
        };
        rows.lay_out(&clusters, blocks);
        rows.find_sources(A, order.iter().map(|&k| kept[k]));
        rows.find_products(&clusters, blocks, &sparse)?;
        Some((rows, sparse, order))
    }

    /// Orders the coordinates and the entries of each row.
    fn lay_out(&mut self, clusters: &[Cluster], blocks: &Blocks) {
        for cluster in clusters {
            for &block in &cluster.blocks {
                let members = blocks.start[block as usize]..blocks.start[block as usize + 1];
                if members.len() > 1 {
                    self.blocks.push((block, self.coordinate.len() as u32));
                }
                for &i in &blocks.member[members] {
                    self.position[i] = self.coordinate.len() as u32;
                    self.coordinate.push(i as u32);
                }
            }
            cluster.rows.iter().for_each(|&k| self.start[k as usize + 1] += cluster.size as u32);
        }
        let m = self.start.len() - 1;
        (0..m).for_each(|k| self.start[k + 1] += self.start[k]);
        // runs of one row in the order of their coordinates
        let n_entries = self.start[m] as usize;
        self.source = vec![NO_INDEX; n_entries];
        self.place = vec![0; n_entries];
        self.value = vec![0.0; n_entries];
        let mut next = self.start.clone();
        let mut first = 0;
        for cluster in clusters {
            for &k in &cluster.rows {
                let at = next[k as usize];
                (0..cluster.size as u32).for_each(|x| self.place[(at + x) as usize] = first + x);
                next[k as usize] += cluster.size as u32;
            }
            first += cluster.size as u32;
        }
    }

    fn find_sources(&mut self, A: &Matrix, rows: impl Iterator<Item = usize>) {
        for (k, row) in rows.enumerate() {
            let entries = self.start[k] as usize..self.start[k + 1] as usize;
            for (at, &j) in A.row(row).0.iter().enumerate() {
                if let Ok(to) = self.place[entries.clone()].binary_search(&self.position[j]) {
                    self.source[entries.start + to] = (A.row_start[row] + at) as u32;
                }
            }
        }
    }

    fn find_products(&mut self, clusters: &[Cluster], blocks: &Blocks, sparse: &Sparse) -> Option<()> {
        let mut run: Vec<u32> = Vec::new();
        for cluster in clusters {
            let Some(&block) = cluster.blocks.first() else { continue };
            let first = self.position[blocks.member[blocks.start[block as usize]]];
            run.clear();
            for &k in &cluster.rows {
                let entries = self.start[k as usize] as usize..self.start[k as usize + 1] as usize;
                let at = self.place[entries.clone()].binary_search(&first).ok()?;
                run.push((entries.start + at) as u32);
                // pieces of blocks within the run
                let mut at = entries.start + at;
                for &block in &cluster.blocks {
                    let size = blocks.start[block as usize + 1] - blocks.start[block as usize];
                    if size > 1 {
                        self.pieces.push((block, at as u32));
                    }
                    at += size;
                }
            }
            for (a, &left) in run.iter().enumerate() {
                for (b, &right) in run[..a].iter().enumerate() {
                    let slot = sparse.place(cluster.rows[a] as usize, cluster.rows[b] as usize)?;
                    let size = cluster.size as u32;
                    self.products.push(Product { slot: u32::try_from(slot).ok()?, left, right, size });
                }
            }
        }
        self.products.sort_unstable_by_key(|product| (product.slot, product.left));
        Some(())
    }

    /// Computes B for new values of A; M must be factored.
    pub(crate) fn fill(&mut self, A: &Matrix, blocks: &Blocks) {
        if self.version != blocks.version() {
            self.version = blocks.version();
            let scale = |&i: &u32| blocks.scale(i as usize);
            self.unit.iter_mut().zip(&self.coordinate).for_each(|(unit, i)| *unit = scale(i));
        }
        for ((value, &source), &place) in self.value.iter_mut().zip(&self.source).zip(&self.place) {
            *value = A.value.get(source as usize).map_or(0.0, |x| x * self.unit[place as usize]);
        }
        for &(block, at) in &self.pieces {
            let (R, size) = blocks.block(block as usize);
            small::solve_lower(R, size, &mut self.value[at as usize..at as usize + size]);
        }
    }

    /// S = B Bᵀ.
    pub(crate) fn fill_S(&self, sparse: &mut Sparse) {
        let B = &self.value[..];
        let mut first = self.start[0] as usize;
        for (d, &end) in sparse.diagonal.iter_mut().zip(&self.start[1..]) {
            let row = &B[first..end as usize];
            *d = dot(row, row);
            first = end as usize;
        }
        let S = sparse.values();
        S.fill(0.0);
        for &Product { slot, left, right, size } in &self.products {
            let (left, right, size) = (left as usize, right as usize, size as usize);
            let (x, y) = (&B[left..left + size], &B[right..right + size]);
            // short runs without a loop
            S[slot as usize] += match (x, y) {
                (&[x], &[y]) => x * y,
                (&[x0, x1], &[y0, y1]) => x0 * y0 + x1 * y1,
                (&[x0, x1, x2], &[y0, y1, y2]) => x0 * y0 + x1 * y1 + x2 * y2,
                _ => dot(x, y),
            };
        }
    }

    /// The length of every row of B.
    pub(crate) fn lengths(&self, length: &mut [f64]) {
        for (k, length) in length.iter_mut().enumerate() {
            *length = norm(&self.value[self.start[k] as usize..self.start[k + 1] as usize]);
        }
    }

    /// The approximate number of operations for B, S and a solve.
    pub(crate) fn operations(&self, blocks: &Blocks) -> usize {
        let pieces: usize = self.pieces.iter().map(|&(block, _)| blocks.block(block as usize).1.pow(2)).sum();
        let products: usize = self.products.iter().map(|product| product.size as usize).sum();
        pieces + products + 6 * self.value.len()
    }

    /// The number of stored values of B.
    pub(crate) fn n_values(&self) -> usize {
        self.value.len()
    }

    /// Row k of B.
    pub(crate) fn row(&self, k: usize) -> &[f64] {
        &self.value[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// Multiplies every row of B by its given factor.
    pub(crate) fn scale_rows(&mut self, scale: &[f64]) {
        for (k, s) in scale.iter().enumerate() {
            let entries = self.start[k] as usize..self.start[k + 1] as usize;
            self.value[entries].iter_mut().for_each(|x| *x *= s);
        }
    }

    /// u = R⁻¹ D f, in the internal order.
    pub(crate) fn load(&self, blocks: &Blocks, f: &[f64], u: &mut [f64]) {
        for ((u, &i), unit) in u.iter_mut().zip(&self.coordinate).zip(&self.unit) {
            *u = f[i as usize] * unit;
        }
        for &(block, at) in &self.blocks {
            let (R, size) = blocks.block(block as usize);
            small::solve_lower(R, size, &mut u[at as usize..at as usize + size]);
        }
    }

    /// x ← D R⁻ᵀ u, in the internal order.
    pub(crate) fn unload(&self, blocks: &Blocks, u: &[f64], x: &mut [f64]) {
        x.copy_from_slice(u);
        for &(block, at) in &self.blocks {
            let (R, size) = blocks.block(block as usize);
            small::solve_lower_transposed(R, size, &mut x[at as usize..at as usize + size]);
        }
        x.iter_mut().zip(&self.unit).for_each(|(x, unit)| *x *= unit);
    }

    /// Row k of B times u.
    #[inline]
    pub(crate) fn times(&self, k: usize, u: &[f64]) -> f64 {
        let entries = self.start[k] as usize..self.start[k + 1] as usize;
        let each = self.value[entries.clone()].iter().zip(&self.place[entries]);
        each.map(|(b, &place)| b * u[place as usize]).sum()
    }

    /// u += s times row k of B.
    #[inline]
    pub(crate) fn add(&self, k: usize, s: f64, u: &mut [f64]) {
        let entries = self.start[k] as usize..self.start[k + 1] as usize;
        for (b, &place) in self.value[entries.clone()].iter().zip(&self.place[entries]) {
            u[place as usize] += s * b;
        }
    }

    /// Row k of A itself times x, and the sum of the sizes: Σ|A|·reach.
    #[inline]
    pub(crate) fn as_written(&self, k: usize, A: &Matrix, x: &[f64], reach: &[f64]) -> (f64, f64) {
        let entries = self.start[k] as usize..self.start[k + 1] as usize;
        let (mut sum, mut size) = (0.0, 0.0);
        for (&source, &place) in self.source[entries.clone()].iter().zip(&self.place[entries]) {
            if let Some(a) = A.value.get(source as usize) {
                sum += a * x[place as usize];
                size += a.abs() * reach[place as usize];
            }
        }
        (sum, size)
    }
}

/// Groups the blocks of M by the rows that involve them; only the rows `kept` count.
fn clusters(A: &Matrix, blocks: &Blocks, kept: &[usize]) -> Vec<Cluster> {
    let n_blocks = blocks.start.len() - 1;
    // rows of each block
    let mut seen = vec![usize::MAX; n_blocks];
    let mut start = vec![0usize; n_blocks + 1];
    let mut touch = |row: usize, k: usize, each: &mut dyn FnMut(usize)| {
        for &j in A.row(row).0 {
            let block = blocks.place[j].0;
            if seen[block] != k {
                seen[block] = k;
                each(block);
            }
        }
    };
    kept.iter().enumerate().for_each(|(k, &row)| touch(row, k, &mut |block| start[block + 1] += 1));
    (0..n_blocks).for_each(|block| start[block + 1] += start[block]);
    let (mut next, mut rows) = (start.clone(), vec![0u32; start[n_blocks]]);
    for (k, &row) in kept.iter().enumerate() {
        // marks beyond the row numbers distinguish this pass from the last
        touch(row, kept.len() + k, &mut |block| {
            rows[next[block]] = k as u32;
            next[block] += 1;
        });
    }
    let mut found: Vec<Cluster> = Vec::new();
    let mut of_rows: HashMap<&[u32], usize> = HashMap::new();
    for block in 0..n_blocks {
        let own = &rows[start[block]..start[block + 1]];
        let at = *of_rows.entry(own).or_insert_with(|| {
            found.push(Cluster { rows: own.to_vec(), blocks: Vec::new(), size: 0 });
            found.len() - 1
        });
        found[at].blocks.push(block as u32);
        found[at].size += blocks.start[block + 1] - blocks.start[block];
    }
    found
}

/// The lower triangle of S by columns, the diagonal included.
fn pattern(m: usize, clusters: &[Cluster]) -> (Vec<usize>, Vec<usize>) {
    let mut start = vec![0usize; m + 1];
    (0..m).for_each(|j| start[j + 1] = 1);
    for cluster in clusters {
        let n = cluster.rows.len();
        cluster.rows.iter().enumerate().for_each(|(at, &j)| start[j as usize + 1] += n - at - 1);
    }
    (0..m).for_each(|j| start[j + 1] += start[j]);
    let (mut next, mut row) = (start.clone(), vec![0usize; start[m]]);
    for j in 0..m {
        row[next[j]] = j;
        next[j] += 1;
    }
    for cluster in clusters {
        for (at, &j) in cluster.rows.iter().enumerate() {
            for &i in &cluster.rows[at + 1..] {
                row[next[j as usize]] = i as usize;
                next[j as usize] += 1;
            }
        }
    }
    // sorted, repeats merged
    let mut end = 0;
    let mut merged = vec![0usize; m + 1];
    for j in 0..m {
        row[start[j]..start[j + 1]].sort_unstable();
        for at in start[j]..start[j + 1] {
            if at == start[j] || row[at] != row[at - 1] {
                let i = row[at];
                // the read position is never behind the write position
                row[end] = i;
                end += 1;
            }
        }
        merged[j + 1] = end;
    }
    row.truncate(end);
    (merged, row)
}
