//! The explicit acceleration as one straight-line program: the elimination is written out for the given system.
//!
//! $$ \ddot q = R^{-T}\bigl(D^{-1}R^{-1}Q + Z^T\lambda\bigr), \qquad S\lambda = b - Z R^{-1}Q, \qquad S = Y Z^T $$
//!
//! with M = R D Rᵀ, Y = A R⁻ᵀ and Z = Y D⁻¹; S is eliminated in the same way. The zero entries are known beforehand,
//! so only nonzero entries are computed. The order of the pivots is fixed. The program also reports a pivot that has
//! become small relative to its diagonal entry, so that a decomposition with pivoting can decide.

#![allow(non_snake_case, reason = "matrices have the names of the papers")]

use std::collections::{BTreeMap, BTreeSet};
use zwang_expr::{Assembler, Expr, Program, Register};

use crate::{compile::motion_programs::EquationTerms, limits, tolerance};

/// A pivot of S below this fraction of its diagonal entry is doubtful. S squares: a direction of the rows is then 1/20
/// of the others, and rounding would cost three digits. A straight chain of n links has a pivot of about 1/n, so the
/// bound decreases with the number of rows.
fn least_row(n_rows: usize) -> f64 {
    tolerance::LEAST_ROW * f64::min(1.0, 40.0 / n_rows.max(1) as f64)
}

/// A pivot of J P Jᵀ below this fraction of its value at the start is doubtful. The control authority is then a fifth
/// of that at the start, and a decomposition with pivoting decides whether it is lost; rounding grows before that.
const LEAST_HOLD: f64 = 4e-2;

/// The program from t, q, q̇ and parameters to the least pivots, q̇, q̈ and the rates of the integrals, for the rows
/// `kept`, which must be a maximal independent set. `None` if the program would be too long, if a quantity has no
/// value, or if it needs a multiplier that the kept rows do not determine.
///
/// The first output is positive if no pivot of M is doubtful, the second if no pivot of the rows is; the third is the
/// least pivot of the rows, each multiplied by the square of its scale.
///
/// `squares` are inputs, the squares of the scales of the rows. Control forces without bounds are included:
/// `asked_squares` are the squares of the reciprocal lengths of the control rows at the start of the motion.
pub(crate) fn acceleration(
    source: &EquationTerms,
    kept: &[usize],
    squares: &[Expr],
    asked_squares: &[Expr],
) -> Option<Program> {
    let is_whole = kept.len() == source.rows.len();
    let has_nonideal = !source.nonideal.is_empty();
    let has_controls = !source.asked.is_empty();
    if (!is_whole && (has_nonideal || source.needs_lambda)) || (has_nonideal && has_controls) {
        return None;
    }
    let mut program = EliminationWriter::new(source);
    let factored = program.factored(source, kept, squares)?;
    let mut force = program.values(&source.force)?;
    let rhs = program.values(&kept.iter().map(|&r| source.rhs[r]).collect::<Vec<_>>())?;
    let mut solution = program.solve(&factored, numbered(&force), &rhs);
    // C follows from the multipliers of the ideal part, and acts like a force
    let (mut power, mut works) = (None, vec![None; source.integrands.len()]);
    if has_nonideal {
        program.bind(&source.lambda, &solution.lambda);
        let C = program.values(&source.nonideal)?;
        let velocities = program.values(&source.qdot)?;
        for (&C, &v) in C.iter().zip(&velocities) {
            power = Some(program.plus_product(power, C, v));
        }
        let offset = source.integrands.len() - source.nonideal_works.len();
        for (k, value) in program.values(&source.nonideal_works)?.into_iter().enumerate() {
            works[offset + k] = Some(value);
        }
        force = force.iter().zip(&C).map(|(&f, &c)| program.assembler.add(f, c)).collect();
        solution = program.solve(&factored, numbered(&force), &rhs);
    }
    let mut of_controls = Vec::new();
    if has_controls {
        let powers = program.steer(source, &factored, kept, asked_squares, &mut solution)?;
        for k in 0..source.n_controls {
            let own: Vec<Register> = (0..powers.len()).filter(|&i| source.owner[i] == k).map(|i| powers[i]).collect();
            of_controls.push(program.sum(&own)?);
        }
        power = program.sum(&powers);
    }
    if is_whole {
        program.bind(&source.lambda, &solution.lambda);
    }
    if source.has_power {
        works[0] = power;
    }
    let mut rates = program.values(&source.integrands)?;
    for (rate, work) in rates.iter_mut().zip(works) {
        *rate = work.map_or(*rate, |work| program.assembler.add(*rate, work));
    }
    let qdot = program.values(&source.qdot)?;
    program.finish(&qdot, &[solution.x, rates, of_controls].concat())
}

/// The program from t, q, q̇ and parameters to the least pivots and to the smallest change, in the mass metric, that
/// removes the residuals of these rows to first order: x = −M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ residuals.
pub(crate) fn correction(source: &EquationTerms, rows: &[usize], residuals: &[Expr]) -> Option<Program> {
    let mut program = EliminationWriter::new(source);
    let factored = program.factored(source, rows, &[])?;
    let residuals = program.values(&rows.iter().map(|&r| residuals[r]).collect::<Vec<_>>())?;
    let rhs: Vec<Register> = residuals.into_iter().map(|r| program.assembler.neg(r)).collect();
    let x = program.solve(&factored, Vec::new(), &rhs).x;
    program.finish(&[], &x)
}

/// The number of outputs that precede the results: see [`least_pivot`].
pub(crate) const N_PIVOTS: usize = 3;

/// The least pivot of the rows; `None` if a pivot was doubtful or a result is not finite.
pub(crate) fn least_pivot(pivots: &[f64]) -> Option<f64> {
    // a pivot may be NaN
    (pivots[0] > 0.0 && pivots[1] > 0.0 && pivots[2].is_finite()).then(|| pivots[2])
}

/// M = R D Rᵀ and S = Y Zᵀ of some rows, eliminated.
struct Factored {
    n: usize,
    M: Factor,
    /// The position of each coordinate in the order of the pivots.
    place: Vec<usize>,
    /// Z = Y D⁻¹ with Y = A R⁻ᵀ, rows in the order of the pivots of M.
    Z: Vec<BTreeMap<usize, Register>>,
    S: Factor,
}

/// The solution for one right-hand side.
struct Solution {
    x: Vec<Register>,
    lambda: Vec<Register>,
}

/// The response of the control rows to control forces.
struct Reach {
    /// J P Jᵀ.
    gram: Vec<Vec<Register>>,
    /// P Jᵢᵀ for each control row, over the driven coordinates.
    PJ: Vec<Vec<Register>>,
    /// The basic motions: K A_cᵢᵀ of each row, or K eⱼ of each driven coordinate.
    ways: Vec<Solution>,
    is_by_rows: bool,
}

/// Entries with their indices.
fn numbered(entries: &[Register]) -> Vec<(usize, Register)> {
    entries.iter().copied().enumerate().collect()
}

/// A symmetric matrix: for each row its entries, both triangles.
type Symmetric = Vec<BTreeMap<usize, Register>>;

/// R D Rᵀ: the pivots in their order, the columns of R below them by original index, and 1/D by order.
struct Factor {
    order: Vec<usize>,
    columns: Vec<Vec<(usize, Register)>>,
    inverse: Vec<Register>,
}

/// Elimination, written into a program.
struct EliminationWriter<'s> {
    assembler: Assembler<'s>,
    /// The least of pivot − bound · diagonal of M so far.
    mass_pivot: Register,
    /// The least of pivot − bound · diagonal of the rows so far.
    row_pivot: Register,
    /// The least pivot of the rows so far, at their scales.
    least: Register,
}

impl<'s> EliminationWriter<'s> {
    fn new(source: &'s EquationTerms) -> EliminationWriter<'s> {
        let mut assembler = Assembler::new(&source.graph, &source.inputs);
        let one = assembler.constant(1.0);
        EliminationWriter { assembler, mass_pivot: one, row_pivot: one, least: one }
    }

    fn check_length(&self) -> Option<()> {
        (self.assembler.len() <= limits::EXPLICIT_INSTRUCTIONS).then_some(())
    }

    /// The program that returns the least pivots, the given values unchanged, and the results.
    ///
    /// 0 · Σ results, which is 0 or NaN, is added to the least pivot, so that the caller need not read the results: a
    /// read right after a store waits for the memory.
    fn finish(mut self, given: &[Register], found: &[Register]) -> Option<Program> {
        self.check_length()?;
        if let Some(sum) = self.sum(found) {
            let zero = self.assembler.constant(0.0);
            self.least = self.plus_product(Some(self.least), zero, sum);
        }
        Some(self.assembler.finish(&[&[self.mass_pivot, self.row_pivot, self.least], given, found].concat()))
    }

    /// The sum by pairs, whose longest chain of additions is short.
    fn sum(&mut self, terms: &[Register]) -> Option<Register> {
        match terms {
            [] => None,
            [one] => Some(*one),
            _ => {
                let (left, right) = terms.split_at(terms.len() / 2);
                let (left, right) = (self.sum(left)?, self.sum(right)?);
                Some(self.assembler.add(left, right))
            }
        }
    }

    fn values(&mut self, exprs: &[Expr]) -> Option<Vec<Register>> {
        self.assembler.lower(exprs).ok()
    }

    fn bind(&mut self, symbols: &[Expr], registers: &[Register]) {
        let pairs: Vec<(Expr, Register)> = symbols.iter().copied().zip(registers.iter().copied()).collect();
        self.assembler.rebind(&pairs);
    }

    fn entries(&mut self, row: &[(usize, Expr)]) -> Option<Vec<(usize, Register)>> {
        let values = self.values(&row.iter().map(|(_, e)| *e).collect::<Vec<_>>())?;
        Some(row.iter().map(|(j, _)| *j).zip(values).collect())
    }

    /// Eliminates M and S = A M⁻¹Aᵀ for some rows of A; monitors the pivots at their scales, if `squares` gives any.
    fn factored(&mut self, source: &EquationTerms, rows: &[usize], squares: &[Expr]) -> Option<Factored> {
        let n = source.q.len();
        let mut mass: Symmetric = Vec::with_capacity(n);
        for row in &source.mass {
            mass.push(self.entries(row)?.into_iter().collect());
        }
        let least = self.assembler.constant(tolerance::LEAST_MASS);
        let M = self.factor(mass, |program, _, pivot, diagonal| {
            let above = program.above(pivot, diagonal, least);
            program.mass_pivot = program.assembler.min(program.mass_pivot, above);
        })?;
        let mut place = vec![0; n];
        M.order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let (mut Y, mut Z) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for &r in rows {
            let entries = self.entries(&source.rows[r])?;
            let y = self.forward(&M, &place, entries.into_iter().map(|(j, x)| (place[j], x)).collect());
            Z.push(y.iter().map(|(&p, &y)| (p, self.assembler.mul(y, M.inverse[p]))).collect());
            Y.push(y);
            self.check_length()?;
        }
        let S = self.gram(&Y, &Z, n);
        let least = self.assembler.constant(least_row(rows.len()));
        let squares = self.values(if rows.len() <= limits::MONITORED_ROWS { squares } else { &[] })?;
        let S = self.factor(S, |program, row, pivot, diagonal| {
            let above = program.above(pivot, diagonal, least);
            program.row_pivot = program.assembler.min(program.row_pivot, above);
            if let Some(&square) = squares.get(row) {
                let judged = program.assembler.mul(square, pivot);
                program.least = program.assembler.min(program.least, judged);
            }
        })?;
        Some(Factored { n, M, place, Z, S })
    }

    /// Positive if the pivot is above this fraction of its diagonal entry.
    fn above(&mut self, pivot: Register, diagonal: Register, least: Register) -> Register {
        if pivot == diagonal { pivot } else { self.minus_product(pivot, least, diagonal) }
    }

    /// The x that minimises (x − M⁻¹f)ᵀ M (x − M⁻¹f) subject to A x = g, and its multipliers; f is given by its
    /// entries.
    fn solve(&mut self, factored: &Factored, f: Vec<(usize, Register)>, g: &[Register]) -> Solution {
        let Factored { n, M, place, Z, S } = factored;
        let loads = f.into_iter().map(|(i, f)| (place[i], f)).collect();
        let u = self.forward(M, place, loads);
        let mut x: Vec<Option<Register>> =
            (0..*n).map(|p| u.get(&p).map(|&u| self.assembler.mul(u, M.inverse[p]))).collect();
        // e = g − Z u
        let mut e = g.to_vec();
        for (e, z) in e.iter_mut().zip(Z) {
            for (z, u) in z.iter().filter_map(|(p, &z)| Some((z, *u.get(p)?))) {
                *e = self.minus_product(*e, z, u);
            }
        }
        let lambda = self.eliminate(S, e);
        for (z, &lambda) in Z.iter().zip(&lambda) {
            for (&p, &z) in z {
                x[p] = Some(self.plus_product(x[p], z, lambda));
            }
        }
        Solution { x: self.backward(M, place, x), lambda }
    }

    /// Adds the effect of the control forces to the motion under the constraints alone; returns the power of each
    /// control row.
    ///
    /// With K f the acceleration by a force f under the constraints, J = A_c K S and P = W⁻¹,
    ///
    /// $$ (J P J^T)\mu = b_c - A_c\ddot q, \qquad w = P J^T\mu, \qquad \ddot q \leftarrow \ddot q + K S w $$
    ///
    /// and row i has the power μᵢ (P Jᵢᵀ)·q̇. Doubtful pivots of J P Jᵀ are reported as those of the rows.
    fn steer(
        &mut self,
        source: &EquationTerms,
        factored: &Factored,
        kept: &[usize],
        squares: &[Expr],
        solution: &mut Solution,
    ) -> Option<Vec<Register>> {
        let mut rows = Vec::with_capacity(source.asked.len());
        for row in &source.asked {
            rows.push(self.entries(row)?);
        }
        let mut rest = self.values(&source.asked_rhs)?;
        for (rest, row) in rest.iter_mut().zip(&rows) {
            for &(j, a) in row {
                *rest = self.minus_product(*rest, a, solution.x[j]);
            }
        }
        let reach = match source.weight.is_empty() && source.driven.len() == factored.n {
            true => self.reach_of_any_force(source, factored, kept, &rows)?,
            false => self.reach_of_driven(source, factored, &rows)?,
        };
        let mu = self.share(&reach, rest, squares)?;
        let w: Vec<Register> = (0..source.driven.len()).map(|j| self.combined(&mu, &reach.PJ, j)).collect();
        // K S w, and for forces on some coordinates the resulting change of λ
        let (factors, ways) = if reach.is_by_rows { (&mu, &reach.ways) } else { (&w, &reach.ways) };
        for (&factor, way) in factors.iter().zip(ways) {
            for (x, &d) in solution.x.iter_mut().zip(&way.x) {
                *x = self.plus_product(Some(*x), factor, d);
            }
            for (lambda, &d) in solution.lambda.iter_mut().zip(&way.lambda).filter(|_| !reach.is_by_rows) {
                *lambda = self.plus_product(Some(*lambda), factor, d);
            }
        }
        let velocities = self.values(&source.driven.iter().map(|&j| source.qdot[j]).collect::<Vec<_>>())?;
        let mut powers = Vec::with_capacity(mu.len());
        for (&mu, PJ) in mu.iter().zip(&reach.PJ) {
            let push = self.dot(PJ, &velocities)?;
            powers.push(self.assembler.mul(mu, push));
        }
        Some(powers)
    }

    /// All coordinates are driven and W = M⁻¹: J P Jᵀ = A_c K A_cᵀ, and P Jᵢᵀ = M K A_cᵢᵀ = A_cᵢᵀ + Aᵀνᵢ.
    fn reach_of_any_force(
        &mut self,
        source: &EquationTerms,
        factored: &Factored,
        kept: &[usize],
        rows: &[Vec<(usize, Register)>],
    ) -> Option<Reach> {
        let zero = self.assembler.constant(0.0);
        let ways: Vec<Solution> =
            rows.iter().map(|row| self.solve(factored, row.clone(), &vec![zero; kept.len()])).collect();
        let mut PJ = Vec::with_capacity(rows.len());
        for (row, way) in rows.iter().zip(&ways) {
            let mut pushed = vec![zero; factored.n];
            row.iter().for_each(|&(j, a)| pushed[j] = a);
            for (&r, &nu) in kept.iter().zip(&way.lambda) {
                for (j, a) in self.entries(&source.rows[r])? {
                    pushed[j] = self.plus_product(Some(pushed[j]), a, nu);
                }
            }
            PJ.push(pushed);
        }
        let mut gram = Vec::with_capacity(rows.len());
        for row in rows {
            let entry = |way: &Solution| row.iter().map(|&(j, a)| (a, way.x[j])).collect::<Vec<_>>();
            gram.push(ways.iter().map(|way| self.sum_of_products(&entry(way))).collect::<Option<_>>()?);
        }
        Some(Reach { gram, PJ, ways, is_by_rows: true })
    }

    /// Forces on some coordinates: J from the response to a unit force on each, W as stated or SᵀM⁻¹S.
    fn reach_of_driven(
        &mut self,
        source: &EquationTerms,
        factored: &Factored,
        rows: &[Vec<(usize, Register)>],
    ) -> Option<Reach> {
        let (zero, one) = (self.assembler.constant(0.0), self.assembler.constant(1.0));
        let rest = vec![zero; factored.Z.len()];
        let ways: Vec<Solution> = source.driven.iter().map(|&j| self.solve(factored, vec![(j, one)], &rest)).collect();
        let mut J: Vec<Vec<Register>> = Vec::with_capacity(rows.len());
        for row in rows {
            let entry = |way: &Solution| row.iter().map(|&(j, a)| (a, way.x[j])).collect::<Vec<_>>();
            J.push(ways.iter().map(|way| self.sum_of_products(&entry(way))).collect::<Option<_>>()?);
        }
        let weight = self.weight(source, factored)?;
        let least = self.assembler.constant(tolerance::LEAST_MASS);
        let W = self.factor(weight, |program, _, pivot, diagonal| {
            let above = program.above(pivot, diagonal, least);
            program.mass_pivot = program.assembler.min(program.mass_pivot, above);
        })?;
        let PJ: Vec<Vec<Register>> = J.iter().map(|row| self.eliminate(&W, row.clone())).collect();
        let mut gram = Vec::with_capacity(rows.len());
        for row in &J {
            gram.push(PJ.iter().map(|PJ| self.dot(row, PJ)).collect::<Option<_>>()?);
        }
        Some(Reach { gram, PJ, ways, is_by_rows: false })
    }

    /// W of the driven coordinates.
    fn weight(&mut self, source: &EquationTerms, factored: &Factored) -> Option<Symmetric> {
        let k = source.driven.len();
        if !source.weight.is_empty() {
            let entries = self.values(&source.weight)?;
            return Some(entries.chunks(k).map(|row| row.iter().copied().enumerate().collect()).collect());
        }
        let one = self.assembler.constant(1.0);
        let Factored { n, M, place, .. } = factored;
        let mut weight = Vec::with_capacity(k);
        for &j in &source.driven {
            // M⁻¹eⱼ
            let u = self.forward(M, place, BTreeMap::from([(place[j], one)]));
            let x = (0..*n).map(|p| u.get(&p).map(|&u| self.assembler.mul(u, M.inverse[p]))).collect();
            let x = self.backward(M, place, x);
            weight.push(source.driven.iter().map(|&i| x[i]).enumerate().collect());
        }
        Some(weight)
    }

    /// μ with J P Jᵀμ = rest.
    fn share(&mut self, reach: &Reach, rest: Vec<Register>, squares: &[Expr]) -> Option<Vec<Register>> {
        let least = self.assembler.constant(least_row(rest.len()));
        let hold = self.assembler.constant(LEAST_HOLD);
        let squares = self.values(squares)?;
        let gram = reach.gram.iter().map(|row| row.iter().copied().enumerate().collect()).collect();
        let G = self.factor(gram, |program, row, pivot, diagonal| {
            let above = program.above(pivot, diagonal, least);
            program.row_pivot = program.assembler.min(program.row_pivot, above);
            // relative to its value at the start of the motion
            let judged = program.assembler.mul(squares[row], pivot);
            let above = program.assembler.sub(judged, hold);
            program.row_pivot = program.assembler.min(program.row_pivot, above);
        })?;
        Some(self.eliminate(&G, rest))
    }

    /// Σ factorᵢ rowᵢ[j].
    fn combined(&mut self, factors: &[Register], rows: &[Vec<Register>], j: usize) -> Register {
        let mut sum = None;
        for (&factor, row) in factors.iter().zip(rows) {
            sum = Some(self.plus_product(sum, factor, row[j]));
        }
        sum.unwrap_or_else(|| self.assembler.constant(0.0))
    }

    fn dot(&mut self, x: &[Register], y: &[Register]) -> Option<Register> {
        let pairs: Vec<(Register, Register)> = x.iter().copied().zip(y.iter().copied()).collect();
        self.sum_of_products(&pairs)
    }

    fn sum_of_products(&mut self, pairs: &[(Register, Register)]) -> Option<Register> {
        let mut sum = None;
        for &(a, b) in pairs {
            sum = Some(self.plus_product(sum, a, b));
        }
        sum
    }

    /// x − a b.
    fn minus_product(&mut self, x: Register, a: Register, b: Register) -> Register {
        self.assembler.mul_sub(a, b, x)
    }

    /// x − a b, with `None` for x = 0.
    fn less_product(&mut self, x: Option<Register>, a: Register, b: Register) -> Register {
        match x {
            Some(x) => self.minus_product(x, a, b),
            None => {
                let product = self.assembler.mul(a, b);
                self.assembler.neg(product)
            }
        }
    }

    /// x + a b, with `None` for x = 0.
    fn plus_product(&mut self, x: Option<Register>, a: Register, b: Register) -> Register {
        match x {
            Some(x) => self.assembler.mul_add(a, b, x),
            None => self.assembler.mul(a, b),
        }
    }

    /// S = R D Rᵀ, the rows with fewest neighbours first, and among these the rows with the shortest chain of earlier
    /// eliminations. `watch` receives the row of every pivot, the pivot and its diagonal entry.
    fn factor(&mut self, mut S: Symmetric, watch: impl Fn(&mut Self, usize, Register, Register)) -> Option<Factor> {
        let n = S.len();
        let diagonal: Vec<Option<Register>> = (0..n).map(|i| S[i].remove(&i)).collect();
        let mut pivot = diagonal.clone();
        // the number of eliminations an entry waits for: short chains of divisions run in parallel
        let mut depth = vec![0; n];
        let mut queue: BTreeSet<(usize, usize, usize)> = (0..n).map(|i| (S[i].len(), 0, i)).collect();
        let (mut order, mut columns, mut inverse) = (Vec::new(), vec![Vec::new(); n], Vec::new());
        let one = self.assembler.constant(1.0);
        while let Some((_, _, p)) = queue.pop_first() {
            // a coordinate without mass is left to the decomposition with pivoting
            let (d, whole) = (pivot[p]?, diagonal[p]?);
            watch(self, p, d, whole);
            let reciprocal = self.assembler.div(one, d);
            let column: Vec<(usize, Register)> = std::mem::take(&mut S[p]).into_iter().collect();
            let scaled: Vec<(usize, Register)> =
                column.iter().map(|&(i, x)| (i, self.assembler.mul(x, reciprocal))).collect();
            for &(i, _) in &column {
                queue.remove(&(S[i].len(), depth[i], i));
            }
            for (k, &(i, l)) in scaled.iter().enumerate() {
                S[i].remove(&p);
                depth[i] = depth[i].max(depth[p] + 1);
                pivot[i] = Some(self.minus_product(pivot[i]?, l, column[k].1));
                for &(j, x) in &column[k + 1..] {
                    let entry = self.less_product(S[i].get(&j).copied(), l, x);
                    S[i].insert(j, entry);
                    S[j].insert(i, entry);
                }
            }
            for &(i, _) in &column {
                queue.insert((S[i].len(), depth[i], i));
            }
            order.push(p);
            inverse.push(reciprocal);
            columns[p] = scaled;
            self.check_length()?;
        }
        Some(Factor { order, columns, inverse })
    }

    /// R⁻¹x; x and the result by order.
    fn forward(&mut self, M: &Factor, place: &[usize], mut x: BTreeMap<usize, Register>) -> BTreeMap<usize, Register> {
        let mut next = x.keys().next().copied();
        while let Some(p) = next {
            let value = x[&p];
            for &(i, l) in &M.columns[M.order[p]] {
                let entry = self.less_product(x.get(&place[i]).copied(), l, value);
                x.insert(place[i], entry);
            }
            next = x.range(p + 1..).next().map(|(p, _)| *p);
        }
        x
    }

    /// R⁻ᵀx; x by order, the result by original index.
    fn backward(&mut self, M: &Factor, place: &[usize], mut x: Vec<Option<Register>>) -> Vec<Register> {
        let zero = self.assembler.constant(0.0);
        for p in (0..M.order.len()).rev() {
            let mut sum = x[p].unwrap_or(zero);
            for &(i, l) in &M.columns[M.order[p]] {
                sum = self.minus_product(sum, l, x[place[i]].unwrap_or(zero));
            }
            x[p] = Some(sum);
        }
        place.iter().map(|&p| x[p].unwrap_or(zero)).collect()
    }

    /// S = Y Zᵀ.
    fn gram(&mut self, Y: &[BTreeMap<usize, Register>], Z: &[BTreeMap<usize, Register>], n: usize) -> Symmetric {
        let mut touching: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (r, y) in Y.iter().enumerate() {
            y.keys().for_each(|&p| touching[p].push(r));
        }
        let mut S: Symmetric = vec![BTreeMap::new(); Y.len()];
        for (r, y) in Y.iter().enumerate() {
            for (p, &y) in y {
                for &s in touching[*p].iter().filter(|&&s| s <= r) {
                    let entry = self.plus_product(S[r].get(&s).copied(), y, Z[s][p]);
                    S[r].insert(s, entry);
                    S[s].insert(r, entry);
                }
            }
        }
        S
    }

    /// S⁻¹e.
    fn eliminate(&mut self, S: &Factor, mut e: Vec<Register>) -> Vec<Register> {
        for &p in &S.order {
            for &(i, l) in &S.columns[p] {
                e[i] = self.minus_product(e[i], l, e[p]);
            }
        }
        for (k, &p) in S.order.iter().enumerate().rev() {
            let mut sum = self.assembler.mul(e[p], S.inverse[k]);
            for &(i, l) in &S.columns[p] {
                sum = self.minus_product(sum, l, e[i]);
            }
            e[p] = sum;
        }
        e
    }
}
