//! The generalized inverse for large systems whose M falls into small blocks: particles, bodies.

use super::{Solution, problem::check_finite, shortest::check_multipliers};
use crate::{
    Gap, Given, Matrix, MotionError, Settings,
    dependence::{contradiction, dependence},
    factor::{add_multiple, blocks::Blocks, dot, norm, power_of_two, small, sparse::Proximal},
};

/// q̈ = a + M⁻¹Aᵀλ with λ = (A M⁻¹Aᵀ)⁺ e, everything sparse; the cost grows like the nonzeros of the factor.
pub(crate) struct Large {
    settings: Settings,
    blocks: Blocks,
    plan: Option<Plan>,
    pattern: (Vec<usize>, Vec<usize>),
    /// Values of B = A R⁻ᵀ, block pieces of one row after those of the other.
    B: Vec<f64>,
    scale: Vec<f64>,
    a: Vec<f64>,
    e: Vec<f64>,
    lambda: Vec<f64>,
    work: Vec<f64>,
    gathered: Vec<f64>,
    square: Vec<f64>,
    /// Whether all rows have one scale.
    same_scale: bool,
}

/// What the patterns of M and A decide once.
struct Plan {
    /// Row i of B consists of `piece[row_start[i]..row_start[i + 1]]`.
    row_start: Vec<usize>,
    piece: Vec<Piece>,
    /// For every entry of A, where it goes in B.
    target: Vec<usize>,
    /// Entries of S: products of pieces that share a block.
    product: Vec<Product>,
    /// For each block, the rows of A that touch no other.
    row_of: Vec<Vec<usize>>,
    proximal: Proximal,
}

/// The part of a row of B that belongs to one block of M.
struct Piece {
    block: usize,
    offset: usize,
}

struct Product {
    slot: u32,
    left: u32,
    right: u32,
    size: u32,
}

/// Blocks above this size count as large: factoring them for every row would cost more than the dense route.
const BLOCK_LIMIT: usize = 16;

/// A dense decomposition still fits into memory and patience up to here.
const DENSE_LIMIT: usize = 4000;

impl Large {
    pub(crate) fn new(settings: &Settings) -> Large {
        Large {
            settings: settings.clone(),
            blocks: Blocks::new(),
            plan: None,
            pattern: (Vec::new(), Vec::new()),
            B: Vec::new(),
            scale: Vec::new(),
            a: Vec::new(),
            e: Vec::new(),
            lambda: Vec::new(),
            work: Vec::new(),
            gathered: Vec::new(),
            square: Vec::new(),
            same_scale: true,
        }
    }

    /// The acceleration, or false if the system is not of this kind and the dense route must do.
    pub(crate) fn solve(
        &mut self,
        given: &Given,
        extra_force: &[f64],
        solution: &mut Solution,
    ) -> Result<bool, MotionError> {
        check_finite(given, extra_force)?;
        let Given { mass_matrix: M, given_force: Q, constraint_matrix: A, constraint_rhs: b } = given;
        if !self.factor(M, A)? {
            return Ok(false);
        }
        solution.qddot.resize(Q.len(), 0.0);
        self.solve_for(A, Q, extra_force, b, &mut solution.qddot);
        (solution.rank, solution.gap) = (self.rank(), self.gap());
        if solution.qddot.iter().any(|x| !x.is_finite()) {
            return Err(MotionError::NotFinite { what: "the acceleration".into() });
        }
        if !self.meets_rows(given, &solution.qddot) {
            return self.explain(given, &solution.qddot);
        }
        solution.lambda.resize(b.len(), 0.0);
        self.multipliers(A, &mut solution.lambda)?;
        check_multipliers(&solution.lambda)?;
        Ok(true)
    }

    /// Factors M by blocks and S = B Bᵀ; false if the system is not of this kind.
    pub(crate) fn factor(&mut self, M: &Matrix, A: &Matrix) -> Result<bool, MotionError> {
        let m = A.n_rows;
        let changed = self.blocks.find(M);
        if self.blocks.largest() > BLOCK_LIMIT {
            return Ok(false);
        }
        if changed || self.plan.is_none() || self.pattern.0 != A.row_start || self.pattern.1 != A.col {
            self.plan = Plan::new(A, &self.blocks);
            self.pattern = (A.row_start.clone(), A.col.clone());
        }
        let Some(plan) = &self.plan else { return Ok(false) };
        // rows within a block, such as |quaternion|² = 1, may make up for what M lacks
        self.square.clear();
        if !self.blocks.factor(M, self.settings.mass_preferred, &self.settings) {
            self.square.resize(m, 0.0);
            if !self.blocks.factor_with_rows(M, A, &plan.row_of, &mut self.square, &self.settings) {
                return Ok(false);
            }
        }
        // S = B Bᵀ, rows of B at the same size
        self.fill_B(A);
        self.same_scale = self.equilibrate(m);
        let Some(plan) = &mut self.plan else { return Ok(false) };
        plan.fill_S(&self.B);
        Ok(plan.proximal.factor(&self.settings))
    }

    /// Rank of A.
    pub(crate) fn rank(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.proximal.rank)
    }

    /// How clearly the rank was decided.
    pub(crate) fn gap(&self) -> Gap {
        self.plan.as_ref().map_or(Gap::default(), |plan| plan.proximal.gap)
    }

    /// x = a + R⁻ᵀ Bᵀλ with λ = S⁺(g − A a) and a = M⁻¹(f + extra); an empty f is zero.
    pub(crate) fn solve_for(&mut self, A: &Matrix, f: &[f64], extra: &[f64], g: &[f64], x: &mut [f64]) {
        let (n, m) = (x.len(), g.len());
        let part = |x: &[f64], i: usize| x.get(i).copied().unwrap_or(0.0);
        self.a.clear();
        self.a.extend((0..n).map(|i| part(f, i) + part(extra, i)));
        // f gains s²Aᵀg as M has gained s²AᵀA
        for i in (0..self.square.len()).filter(|&i| self.square[i] != 0.0) {
            let (col, value) = A.row(i);
            col.iter().zip(value).for_each(|(&j, x)| self.a[j] += self.square[i] * x * g[i]);
        }
        self.blocks.solve(&mut self.a);
        self.e.resize(m, 0.0);
        A.multiply(&self.a, &mut self.e);
        for i in 0..m {
            self.e[i] = self.scale[i] * (g[i] - self.e[i]);
        }
        self.lambda.resize(m, 0.0);
        let Some(plan) = &mut self.plan else { return };
        plan.proximal.solve(&self.e, &mut self.lambda, &self.settings);
        self.apply_force(n);
        for i in 0..n {
            x[i] = self.a[i] + self.work[i];
        }
    }

    /// x ← M⁻¹ x.
    pub(crate) fn solve_mass(&mut self, x: &mut [f64]) {
        self.blocks.solve(x);
    }

    /// λ of the last solve, the shortest for the rows as written.
    pub(crate) fn multipliers(&mut self, A: &Matrix, lambda: &mut [f64]) -> Result<(), MotionError> {
        let redundant = self.rank() < lambda.len();
        if let (true, true, Some(plan)) = (redundant, self.same_scale, &mut self.plan) {
            plan.proximal.project(&mut self.lambda);
        }
        for i in 0..lambda.len() {
            lambda[i] = self.lambda[i] * self.scale[i];
        }
        if redundant && !self.same_scale {
            shorten(A, lambda, &self.settings)?;
        }
        Ok(())
    }

    /// B = A R⁻ᵀ, each block of each row by forward substitution.
    fn fill_B(&mut self, A: &Matrix) {
        let Some(plan) = &self.plan else { return };
        let size = plan.piece.last().map_or(0, |piece| piece.offset + self.blocks.block(piece.block).1);
        self.B.clear();
        self.B.resize(size, 0.0);
        for ((&x, &j), &k) in A.value.iter().zip(&A.col).zip(&plan.target) {
            self.B[k] += x * self.blocks.scale(j);
        }
        for piece in &plan.piece {
            let (R, size) = self.blocks.block(piece.block);
            small::solve_lower(R, size, &mut self.B[piece.offset..piece.offset + size]);
        }
    }

    /// Scales the rows of B to lengths near one; a common scale where all lengths are alike, since λ is then already the shortest.
    fn equilibrate(&mut self, m: usize) -> bool {
        /// Lengths within this factor keep a common scale; the diagonal of S then spans its square.
        const ALIKE: f64 = 8.0;
        let Some(plan) = &self.plan else { return true };
        let (mut low, mut high) = (f64::INFINITY, 0f64);
        self.scale.resize(m, 1.0);
        for i in 0..m {
            let length = norm(plan.row(i, &self.B));
            self.scale[i] = length;
            if length > 0.0 {
                (low, high) = (low.min(length), high.max(length));
            }
        }
        let same = high <= ALIKE * low;
        for i in 0..m {
            let s = 1.0 / power_of_two(if same && self.scale[i] > 0.0 { high } else { self.scale[i] });
            self.scale[i] = s;
            let place = plan.row_place(i, self.B.len());
            self.B[place].iter_mut().for_each(|x| *x *= s);
        }
        same
    }

    /// work = R⁻ᵀ Bᵀ λ, in the coordinates as written.
    fn apply_force(&mut self, n: usize) {
        let Some(plan) = &self.plan else { return };
        // Bᵀλ gathered block by block, in the order of `member`
        let Large { blocks, work, gathered, lambda, B, .. } = self;
        gathered.clear();
        gathered.resize(n, 0.0);
        work.resize(n, 0.0);
        for i in 0..lambda.len() {
            for piece in &plan.piece[plan.row_start[i]..plan.row_start[i + 1]] {
                let (start, size) = (blocks.start[piece.block], blocks.block(piece.block).1);
                add_multiple(&mut gathered[start..start + size], lambda[i], &B[piece.offset..piece.offset + size]);
            }
        }
        for k in 0..blocks.start.len() - 1 {
            let (R, size) = blocks.block(k);
            small::solve_lower_transposed(R, size, &mut gathered[blocks.start[k]..blocks.start[k] + size]);
        }
        for (x, &i) in gathered.iter().zip(&blocks.member) {
            work[i] = x * blocks.scale(i);
        }
    }

    /// Whether every row is met, relative to the sizes that enter it.
    pub(crate) fn meets_rows(&self, given: &Given, qddot: &[f64]) -> bool {
        let (A, b) = (&given.constraint_matrix, &given.constraint_rhs);
        let Settings { contradiction_tolerance, contradiction_floor, .. } = self.settings;
        if contradiction_tolerance == f64::INFINITY {
            return true;
        }
        let whole = qddot.iter().zip(&self.a).fold(0.0, |top: f64, (x, a)| top.max(x.abs() + a.abs()));
        (0..b.len()).all(|i| {
            let (col, value) = A.row(i);
            let (mut sum, mut size, mut top) = (0.0, b[i].abs(), 0f64);
            for (&j, &x) in col.iter().zip(value) {
                sum += x * qddot[j];
                size += x.abs() * (qddot[j].abs() + self.a[j].abs());
                top = top.max(x.abs());
            }
            if top == 0.0 {
                (size, top) = (whole, 1.0);
            }
            (b[i] - sum).abs() <= contradiction_tolerance * size + contradiction_floor * top
        })
    }

    /// A row is not met: either rows contradict each other, or they are too nearly dependent for S, which squares.
    fn explain(&self, given: &Given, qddot: &[f64]) -> Result<bool, MotionError> {
        let error = contradiction(given, qddot, &self.settings);
        let MotionError::Contradiction { certificate, gap, residual } = &error else { return Err(error) };
        let b = &given.constraint_rhs;
        let size: f64 = certificate.iter().zip(b).map(|(y, b)| (y * b).abs()).sum();
        let few = certificate.iter().filter(|y| **y != 0.0).count() <= given.constraint_matrix.n_rows / 2;
        if few && gap.abs() > self.settings.contradiction_tolerance * size {
            return Err(error);
        }
        if b.len().max(qddot.len()) <= DENSE_LIMIT {
            return Ok(false);
        }
        Err(MotionError::NotConverged { residual: norm(residual) })
    }
}

impl Plan {
    fn new(A: &Matrix, blocks: &Blocks) -> Option<Plan> {
        let m = A.n_rows;
        let (mut row_start, mut piece, mut target) = (vec![0], Vec::new(), Vec::with_capacity(A.col.len()));
        let mut offset = 0;
        let mut touching: Vec<Vec<(usize, usize)>> = vec![Vec::new(); blocks.start.len() - 1];
        let mut row_of = vec![Vec::new(); blocks.start.len() - 1];
        let mut seen = vec![usize::MAX; blocks.start.len() - 1];
        for i in 0..m {
            let first = piece.len();
            for &j in A.row(i).0 {
                let (block, place) = blocks.place[j];
                if seen[block] == usize::MAX || seen[block] < first {
                    seen[block] = piece.len();
                    touching[block].push((i, offset));
                    piece.push(Piece { block, offset });
                    offset += blocks.block(block).1;
                }
                target.push(piece[seen[block]].offset + place);
            }
            row_start.push(piece.len());
            if piece.len() == first + 1 {
                row_of[piece[first].block].push(i);
            }
        }
        // pattern of the lower triangle of S by columns, and what to multiply
        let mut columns: Vec<Vec<usize>> = (0..m).map(|i| vec![i]).collect();
        for rows in &touching {
            for (k, &(j, _)) in rows.iter().enumerate() {
                columns[j].extend(rows[k..].iter().map(|&(i, _)| i));
            }
        }
        let (mut col_start, mut row) = (vec![0], Vec::new());
        for column in &mut columns {
            column.sort_unstable();
            column.dedup();
            row.extend_from_slice(column);
            col_start.push(row.len());
        }
        if offset > u32::MAX as usize || row.len() > u32::MAX as usize {
            return None;
        }
        let mut product = Vec::new();
        for (block, rows) in touching.iter().enumerate() {
            let size = blocks.block(block).1 as u32;
            for (k, &(j, right)) in rows.iter().enumerate() {
                for &(i, left) in &rows[k..] {
                    let slot = col_start[j] + columns[j].binary_search(&i).ok()?;
                    product.push(Product { slot: slot as u32, left: left as u32, right: right as u32, size });
                }
            }
        }
        product.sort_unstable_by_key(|product| product.slot);
        Some(Plan { row_start, piece, target, product, row_of, proximal: Proximal::new(m, col_start, row)? })
    }

    /// Where row i lies in the values of B, which are `end` in number.
    fn row_place(&self, i: usize, end: usize) -> std::ops::Range<usize> {
        let at = |k: usize| self.piece.get(k).map_or(end, |piece| piece.offset);
        at(self.row_start[i])..at(self.row_start[i + 1])
    }

    fn row<'b>(&self, i: usize, B: &'b [f64]) -> &'b [f64] {
        &B[self.row_place(i, B.len())]
    }

    /// S = B Bᵀ, its lower triangle.
    fn fill_S(&mut self, B: &[f64]) {
        let S = &mut self.proximal.value;
        S.fill(0.0);
        for &Product { slot, left, right, size } in &self.product {
            let (left, right, size) = (left as usize, right as usize, size as usize);
            S[slot as usize] += dot(&B[left..left + size], &B[right..right + size]);
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
    let Some(mut system) = Proximal::new(K.len(), col_start, row) else { return Ok(()) };
    system.value.copy_from_slice(&value);
    if !system.factor(settings) {
        return Err(MotionError::NotConverged { residual: norm(lambda) });
    }
    let y: Vec<f64> = K.iter().map(|column| column.iter().map(|&(i, y)| y * lambda[i]).sum()).collect();
    let mut c = vec![0.0; K.len()];
    system.solve(&y, &mut c, settings);
    for (column, c) in K.iter().zip(c) {
        column.iter().for_each(|&(i, y)| lambda[i] -= y * c);
    }
    Ok(())
}
