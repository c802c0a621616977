//! L D Lᵀ of a sparse symmetric matrix, row by row, with order and structure found once.

/// S = L D Lᵀ with S positive semidefinite: L has ones on its diagonal, D is diagonal.
///
/// Rows are in the order of elimination. The products for each entry of L are listed once, so that a factorization is
/// one loop over numbers. The list pays while an entry takes few products, as in chains and trees.
pub(crate) struct Ldl {
    /// Entries of row k left of the diagonal are `start[k]..start[k + 1]`, columns increasing.
    start: Vec<u32>,
    col: Vec<u32>,
    /// Products of entry e are `product[product_start[e]..product_start[e + 1]]`.
    product_start: Vec<u32>,
    product: Vec<(u32, u32)>,
    /// S left of the diagonal, then L.
    pub(crate) value: Vec<f64>,
    /// 1/D, zero in omitted rows.
    inverse: Vec<f64>,
}

/// Summary of the pivots. A pivot is the square of the part of a row that is independent of earlier rows, relative to
/// the square of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pivots {
    /// The number of pivots kept.
    pub(crate) rank: usize,
    /// The smallest pivot kept and the largest omitted, relative to the diagonal.
    pub(crate) kept: f64,
    pub(crate) dropped: f64,
}

impl Pivots {
    pub(crate) fn none() -> Pivots {
        Pivots { rank: 0, kept: f64::INFINITY, dropped: 0.0 }
    }

    /// Counts one more pivot; true if it is kept.
    pub(crate) fn see(&mut self, relative: f64, floor: f64) -> bool {
        let keeps = relative > floor;
        if keeps {
            self.rank += 1;
            self.kept = self.kept.min(relative);
        } else {
            // a NaN is ignored by `max`
            self.dropped = self.dropped.max(relative);
        }
        keeps
    }
}

impl Ldl {
    /// Builds the structure from the columns of L below the diagonal. `None` if the products exceed the size of a
    /// list.
    pub(crate) fn new(m: usize, col_start: &[usize], row: &[usize]) -> Option<Ldl> {
        let n_entries = row.len();
        if u32::try_from(n_entries.max(m)).is_err() {
            return None;
        }
        // by rows; traversing the columns in order sorts each row
        let mut start = vec![0u32; m + 1];
        row.iter().for_each(|&i| start[i + 1] += 1);
        (0..m).for_each(|i| start[i + 1] += start[i]);
        let (mut next, mut col) = (start.clone(), vec![0u32; n_entries]);
        for j in 0..m {
            for &i in &row[col_start[j]..col_start[j + 1]] {
                col[next[i] as usize] = j as u32;
                next[i] += 1;
            }
        }
        // L_kj needs the products of L_kl D_l and L_jl for the l that both rows have
        let (mut product_start, mut product) = (Vec::with_capacity(n_entries + 1), Vec::new());
        product_start.push(0);
        let mut place = vec![u32::MAX; m];
        for k in 0..m {
            let own = start[k]..start[k + 1];
            own.clone().for_each(|e| place[col[e as usize] as usize] = e);
            for e in own.clone() {
                let j = col[e as usize] as usize;
                for f in start[j]..start[j + 1] {
                    let shared = place[col[f as usize] as usize];
                    if shared != u32::MAX {
                        product.push((shared, f));
                    }
                }
                product_start.push(u32::try_from(product.len()).ok()?);
            }
            own.for_each(|e| place[col[e as usize] as usize] = u32::MAX);
        }
        let (value, inverse) = (vec![0.0; n_entries], vec![0.0; m]);
        Some(Ldl { start, col, product_start, product, value, inverse })
    }

    /// Index of entry (k, j) in `value`, j < k in the order of elimination.
    pub(crate) fn place(&self, k: usize, j: usize) -> Option<usize> {
        let first = self.start[k] as usize;
        let row = &self.col[first..self.start[k + 1] as usize];
        row.binary_search(&(j as u32)).ok().map(|at| first + at)
    }

    /// Factors S + µI. Rows whose pivot is not above `floor`, relative to their diagonal, are omitted.
    pub(crate) fn factor(&mut self, diagonal: &[f64], mu: f64, floor: f64) -> Pivots {
        let Ldl { start, col, product_start, product, value, inverse } = self;
        let mut pivots = Pivots::none();
        for k in 0..diagonal.len() {
            let (first, end) = (start[k] as usize, start[k + 1] as usize);
            // L_kj D_j = S_kj − Σ (L_kl D_l) L_jl
            for e in first..end {
                let list = product_start[e] as usize..product_start[e + 1] as usize;
                if !list.is_empty() {
                    let sum: f64 = product[list].iter().map(|&(x, y)| value[x as usize] * value[y as usize]).sum();
                    value[e] -= sum;
                }
            }
            // D_k = S_kk − Σ (L_kj D_j) L_kj
            let whole = diagonal[k] + mu;
            let mut d = whole;
            for (x, &j) in value[first..end].iter_mut().zip(&col[first..end]) {
                let l = *x * inverse[j as usize];
                d -= *x * l;
                *x = l;
            }
            inverse[k] = if pivots.see(d / whole, floor) { 1.0 / d } else { 0.0 };
        }
        pivots
    }

    /// The number of operations of a factorization and a solve.
    pub(crate) fn operations(&self) -> usize {
        self.product.len() + 5 * self.value.len() + 10 * self.inverse.len()
    }

    /// The pivots of all rows; zero for an omitted row.
    pub(crate) fn pivots(&self) -> impl Iterator<Item = f64> {
        self.inverse.iter().map(|x| if *x > 0.0 { 1.0 / x } else { 0.0 })
    }

    /// x ← S⁻¹ x on the rows kept, zero on the others; `each` is called with every final entry, the last row first.
    pub(crate) fn solve(&self, x: &mut [f64], mut each: impl FnMut(usize, f64)) {
        let Ldl { start, col, value, inverse, .. } = self;
        let mut first = 0;
        for k in 0..inverse.len() {
            let end = start[k + 1] as usize;
            let mut sum = x[k];
            for (l, &j) in value[first..end].iter().zip(&col[first..end]) {
                sum -= l * x[j as usize];
            }
            x[k] = sum;
            first = end;
        }
        let mut end = value.len();
        x.iter_mut().zip(inverse).for_each(|(x, d)| *x *= d);
        for k in (0..inverse.len()).rev() {
            let first = start[k] as usize;
            let done = x[k];
            each(k, done);
            for (l, &j) in value[first..end].iter().zip(&col[first..end]) {
                x[j as usize] -= l * done;
            }
            end = first;
        }
    }
}
