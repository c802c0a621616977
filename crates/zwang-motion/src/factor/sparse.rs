//! Sparse positive semidefinite matrices S of fixed pattern, with a factorization that admits dependent rows.

pub(crate) use super::ldl::Pivots;
use super::{dense::DenseScratch, ldl::Ldl};
use faer::{
    Conj, MatMut, Par, Side,
    linalg::cholesky::llt::factor::LltRegularization,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::{
            SupernodalThreshold,
            cholesky::{
                CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
                factorize_symbolic_cholesky, supernodal::SupernodalLltRef,
            },
        },
    },
};

/// S, refilled for every state, and its factor.
///
/// Rows are in an order that keeps the factor sparse. A factor with little fill, as in chains and trees, is computed
/// row by row; one with much fill, as in nets, by faer in dense blocks.
pub(crate) struct Sparse {
    /// The diagonal of S.
    pub(crate) diagonal: Vec<f64>,
    kind: SparseFactor,
}

enum SparseFactor {
    Rows(Ldl),
    Blocks(Box<Supernodes>),
}

/// Products per entry of the factor, in units of faer's own limit, above which dense blocks are faster: measured on
/// nets.
const DENSE_BLOCKS: f64 = 0.3;

impl Sparse {
    /// Finds the order and the structure of the factor from the lower triangle of S given by columns, rows increasing,
    /// the diagonal included. Also returns the order: row k of this object is row `order[k]` of the pattern. `None` if
    /// memory or the index type does not suffice.
    pub(crate) fn new(m: usize, col_start: Vec<usize>, row: Vec<usize>) -> Option<(Sparse, Vec<usize>)> {
        let diagonal = vec![0.0; m];
        if let Some((order, start, below)) = from_both_ends(m, &col_start, &row) {
            return Some((Sparse { diagonal, kind: SparseFactor::Rows(Ldl::new(m, &start, &below)?) }, order));
        }
        let pattern = SymbolicSparseColMat::new_checked(m, m, col_start, None, row);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold(DENSE_BLOCKS),
            ..CholeskySymbolicParams::default()
        };
        let symbolic =
            factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        if let SymbolicCholeskyRaw::Simplicial(factor) = symbolic.raw() {
            let order = symbolic.perm().map_or_else(|| (0..m).collect(), |perm| perm.arrays().0.to_vec());
            // faer stores the diagonal first in each column
            let mut start = vec![0];
            let mut below = Vec::with_capacity(factor.row_idx().len() - m);
            for j in 0..m {
                below.extend_from_slice(&factor.row_idx()[factor.col_ptr()[j] + 1..factor.col_ptr()[j + 1]]);
                start.push(below.len());
            }
            return Some((Sparse { diagonal, kind: SparseFactor::Rows(Ldl::new(m, &start, &below)?) }, order));
        }
        let supernodes = Supernodes {
            value: vec![0.0; pattern.row_idx().len()],
            factor: vec![0.0; symbolic.len_val()],
            pattern,
            symbolic,
            scratch: DenseScratch::new(),
        };
        Some((Sparse { diagonal, kind: SparseFactor::Blocks(Box::new(supernodes)) }, (0..m).collect()))
    }

    /// True if a factorization counts dependent rows, which only the row-by-row one does.
    pub(crate) fn counts(&self) -> bool {
        matches!(self.kind, SparseFactor::Rows(_))
    }

    /// Index of the entry of rows i and j in the values.
    pub(crate) fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (low, high) = (i.min(j), i.max(j));
        match &self.kind {
            SparseFactor::Rows(ldl) => ldl.place(high, low),
            SparseFactor::Blocks(supernodes) => {
                let first = supernodes.pattern.col_ptr()[low];
                let rows = &supernodes.pattern.row_idx()[first..supernodes.pattern.col_ptr()[low + 1]];
                rows.binary_search(&high).ok().map(|at| first + at)
            }
        }
    }

    /// The values off the diagonal, to be filled before every factorization.
    pub(crate) fn values(&mut self) -> &mut [f64] {
        match &mut self.kind {
            SparseFactor::Rows(ldl) => &mut ldl.value,
            SparseFactor::Blocks(supernodes) => &mut supernodes.value,
        }
    }

    /// Factors S + µI; pivots not above `floor`, relative to the diagonal, do not count. `None` if there is no factor,
    /// which can happen only with such pivots.
    pub(crate) fn factor(&mut self, mu: f64, floor: f64) -> Option<Pivots> {
        match &mut self.kind {
            SparseFactor::Rows(ldl) => Some(ldl.factor(&self.diagonal, mu, floor)),
            SparseFactor::Blocks(supernodes) => supernodes.factor(&self.diagonal, mu, floor),
        }
    }

    /// The approximate number of operations of a factorization and a solve; operations in dense blocks are faster.
    pub(crate) fn operations(&self) -> usize {
        match &self.kind {
            SparseFactor::Rows(ldl) => ldl.operations(),
            SparseFactor::Blocks(supernodes) => 10 * supernodes.factor.len(),
        }
    }

    /// Calls `each` with every row and its pivot; zero for an omitted row.
    pub(crate) fn each_pivot(&self, mut each: impl FnMut(usize, f64)) {
        match &self.kind {
            SparseFactor::Rows(ldl) => ldl.pivots().enumerate().for_each(|(k, pivot)| each(k, pivot)),
            SparseFactor::Blocks(supernodes) => supernodes.each_pivot(each),
        }
    }

    /// x ← (S + µI)⁻¹ x; `each` is called with every final entry.
    pub(crate) fn solve(&mut self, x: &mut [f64], mut each: impl FnMut(usize, f64)) {
        match &mut self.kind {
            SparseFactor::Rows(ldl) => ldl.solve(x, each),
            SparseFactor::Blocks(supernodes) => {
                supernodes.solve(x);
                x.iter().enumerate().for_each(|(k, x)| each(k, *x));
            }
        }
    }
}

/// The order that eliminates each chain from both its ends in turn, and the columns of its factor below the diagonal.
/// `None` unless the graph of S consists of chains: every row has at most two neighbours and there is no cycle.
///
/// No order has less fill, and at any time two independent rows can be processed in parallel.
fn from_both_ends(m: usize, col_start: &[usize], row: &[usize]) -> Option<(Vec<usize>, Vec<usize>, Vec<usize>)> {
    const NONE: usize = usize::MAX;
    let mut neighbours = vec![[NONE; 2]; m];
    for j in 0..m {
        for &i in row[col_start[j]..col_start[j + 1]].iter().filter(|&&i| i != j) {
            for (x, y) in [(i, j), (j, i)] {
                *neighbours[x].iter_mut().find(|other| **other == NONE)? = y;
            }
        }
    }
    let next =
        |now: usize, from: usize| if neighbours[now][0] == from { neighbours[now][1] } else { neighbours[now][0] };
    let (mut order, mut seen) = (Vec::with_capacity(m), vec![false; m]);
    let mut chain = Vec::new();
    for end in (0..m).filter(|&k| neighbours[k][1] == NONE) {
        if seen[end] {
            continue;
        }
        chain.clear();
        let (mut from, mut now) = (NONE, end);
        while now != NONE {
            seen[now] = true;
            chain.push(now);
            (from, now) = (now, next(now, from));
        }
        let n = chain.len();
        order.extend((0..n).map(|k| if k % 2 == 0 { chain[k / 2] } else { chain[n - 1 - k / 2] }));
    }
    // the remaining rows form cycles
    if order.len() < m {
        return None;
    }
    let mut place = vec![0; m];
    order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let (mut start, mut below) = (vec![0], Vec::with_capacity(m));
    for (k, &i) in order.iter().enumerate() {
        let later = neighbours[i].iter().filter(|&&other| other != NONE).map(|&other| place[other]);
        below.extend(later.filter(|&other| other > k));
        start.push(below.len());
    }
    Some((order, start, below))
}

/// R Rᵀ in dense blocks, by faer.
struct Supernodes {
    /// Lower triangle by columns, diagonal first.
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicCholesky<usize>,
    value: Vec<f64>,
    factor: Vec<f64>,
    scratch: DenseScratch,
}

impl Supernodes {
    fn factor(&mut self, diagonal: &[f64], mu: f64, floor: f64) -> Option<Pivots> {
        for (d, &k) in diagonal.iter().zip(self.pattern.col_ptr()) {
            self.value[k] = d + mu;
        }
        let need = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let S = SparseColMatRef::new(self.pattern.as_ref(), &self.value);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                S,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                self.scratch.stack(need),
                Default::default(),
            )
            .ok()?;
        let mut pivots = Pivots::none();
        self.each_pivot(|k, pivot| _ = pivots.see(pivot / (diagonal[k] + mu), floor));
        Some(pivots)
    }

    fn each_pivot(&self, mut each: impl FnMut(usize, f64)) {
        let SymbolicCholeskyRaw::Supernodal(symbolic) = self.symbolic.raw() else { return };
        let factor = SupernodalLltRef::new(symbolic, &self.factor);
        let perm = self.symbolic.perm();
        let original = |j: usize| perm.as_ref().map_or(j, |perm| perm.arrays().0[j]);
        for s in 0..symbolic.n_supernodes() {
            let (block, first) = (factor.supernode(s).val(), symbolic.supernode_begin()[s]);
            (0..block.ncols()).for_each(|j| each(original(first + j), block[(j, j)] * block[(j, j)]));
        }
    }

    fn solve(&mut self, x: &mut [f64]) {
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let m = x.len();
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, m, 1),
            Par::Seq,
            self.scratch.stack(need),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of one, two and five rows in arbitrary order, and a cycle.
    #[test]
    fn chains_are_taken_from_both_ends() {
        // 3 | 0 - 6 | 5 - 1 - 7 - 2 - 4
        let columns = [vec![0, 6], vec![1, 5, 7], vec![2, 4, 7], vec![3], vec![4], vec![5], vec![6], vec![7]];
        let start: Vec<usize> = (0..=8).map(|j| columns[..j].iter().map(Vec::len).sum()).collect();
        let (order, from, below) = from_both_ends(8, &start, &columns.concat()).unwrap();
        assert_eq!(order, [0, 6, 3, 4, 5, 2, 1, 7]);
        assert_eq!((from, below), (vec![0, 1, 1, 1, 2, 3, 4, 5, 5], vec![1, 5, 6, 7, 7]));
        assert!(from_both_ends(3, &[0, 3, 5, 6], &[0, 1, 2, 1, 2, 2]).is_none());
    }
}
