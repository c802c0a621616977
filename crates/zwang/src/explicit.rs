//! The explicit acceleration as one straight-line program: the elimination is written out for this very system.
//!
//! $$ \ddot q = L^{-T}\bigl(D^{-1}L^{-1}Q + Z\lambda\bigr), \qquad S\lambda = b - Z^T L^{-1}Q, \qquad S = Y^T Z $$
//!
//! with M = L D Lᵀ, Y = L⁻¹Aᵀ and Z = D⁻¹Y; S is eliminated in the same way. Which entries are zero is known beforehand,
//! so only what matters is computed. The order of the pivots is fixed: the program also tells whether one of them has
//! become so small beside its diagonal entry that the decomposition which looks for its pivots should decide.

use std::collections::{BTreeMap, BTreeSet};
use zwang_expr::{Assembler, Expr, Program, Register};
use zwang_motion::Instant;

use crate::moving::Source;

/// A pivot of M below this part of its diagonal entry is in doubt; the same bound decides elsewhere whether M needs help.
const LEAST_MASS: f64 = 1e-6;

/// A pivot of S below this part of its diagonal entry is in doubt. S squares: a direction of the rows is then 1/20 of
/// the others, singular positions may be near, and rounding would cost three digits.
const LEAST_ROW: f64 = 2.5e-3;

/// Longer programs are not made: sparse algebra is as fast, and code would take seconds to make.
const LONGEST: usize = 60_000;

/// What the program gives, one after the other: the doubt (positive if there is none), q̈, then λ of the ideal part, λ and
/// C where they are wanted.
pub(crate) struct Layout {
    pub(crate) n: usize,
    pub(crate) n_rows: usize,
    pub(crate) has_lambda: bool,
    pub(crate) has_nonideal: bool,
}

impl Layout {
    /// Where q̈, λ of the ideal part, λ and C begin, and where it all ends.
    pub(crate) fn places(&self) -> [usize; 5] {
        let with = if self.has_lambda { self.n_rows } else { 0 };
        let nonideal = if self.has_nonideal { (with, self.n) } else { (0, 0) };
        let starts = [1, self.n, with, nonideal.0, nonideal.1];
        let mut end = 0;
        starts.map(|length| {
            end += length;
            end
        })
    }

    /// Writes what the program found into the instant.
    pub(crate) fn distribute(&self, values: &[f64], instant: &mut Instant) {
        let [qddot, ideal, lambda, C, end] = self.places();
        instant.qddot.copy_from_slice(&values[qddot..ideal]);
        if !self.has_lambda {
            return;
        }
        instant.lambda_ideal.copy_from_slice(&values[ideal..lambda]);
        if self.has_nonideal {
            instant.lambda.copy_from_slice(&values[lambda..C]);
            instant.nonideal_force.copy_from_slice(&values[C..end]);
        } else {
            instant.lambda.copy_from_slice(&values[ideal..lambda]);
        }
    }
}

/// The program for the rows `kept`, which must be independent; none if it would be too long or a quantity has no value.
/// With `has_lambda` the multipliers are given too; then all rows must be kept.
pub(crate) fn explicit(source: &Source, kept: &[usize], has_lambda: bool) -> Option<(Program, Layout)> {
    let n = source.q.len();
    let has_nonideal = !source.nonideal.is_empty();
    let mut program = Elimination::new(source)?;
    let mass = program.matrix(&source.mass)?;
    let Factor { order, columns, inverse } = program.factor(mass, LEAST_MASS)?;
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &i)| place[i] = k);

    // Y and Z, rows of A in the order of the pivots of M
    let mut rows = Vec::with_capacity(kept.len());
    for &r in kept {
        let registers = program.values(source.rows[r].iter().map(|(_, e)| *e))?;
        let entries = source.rows[r].iter().map(|(j, _)| place[*j]).zip(registers);
        let y = program.forward(&columns, &place, entries.collect());
        let z: BTreeMap<usize, Register> =
            y.iter().map(|(&p, &y)| (p, program.assembler.mul(y, inverse[p]))).collect();
        rows.push((y, z));
        program.check_length()?;
    }
    let force = program.values(source.force.iter().copied())?;
    let rhs = program.values(kept.iter().map(|&r| source.rhs[r]))?;
    let S = program.gram(&rows, n);
    let S = program.factor(S, LEAST_ROW)?;

    let solve = |program: &mut Elimination, force: &[Register]| {
        let loads = (0..n).map(|i| (place[i], force[i])).collect();
        let u = program.forward(&columns, &place, loads);
        let mut x: Vec<Option<Register>> =
            (0..n).map(|p| u.get(&p).map(|&u| program.assembler.mul(u, inverse[p]))).collect();
        // e = b − Zᵀu
        let e: Vec<Register> = rows
            .iter()
            .zip(&rhs)
            .map(|((_, z), &b)| {
                z.iter().filter_map(|(p, &z)| Some((z, *u.get(p)?))).fold(b, |e, (z, u)| program.minus_product(e, z, u))
            })
            .collect();
        let lambda = program.solve(&S, e);
        for ((_, z), &lambda) in rows.iter().zip(&lambda) {
            for (&p, &z) in z {
                x[p] = Some(program.plus_product(x[p], z, lambda));
            }
        }
        (program.backward(&columns, &order, &place, x), lambda)
    };
    let (mut qddot, lambda_ideal) = solve(&mut program, &force);
    let mut found = Vec::new();
    if has_lambda {
        found.extend(&lambda_ideal);
    }
    if has_nonideal {
        for (&r, &register) in kept.iter().zip(&lambda_ideal) {
            program.assembler.bind(source.lambda[r], register);
        }
        let C = program.values(source.nonideal.iter().copied())?;
        let sum: Vec<Register> = force.iter().zip(&C).map(|(&f, &c)| program.assembler.add(f, c)).collect();
        let (x, lambda) = solve(&mut program, &sum);
        qddot = x;
        if has_lambda {
            found.extend(lambda);
        }
        found.extend(C);
    }
    program.check_length()?;
    let layout = Layout { n, n_rows: kept.len(), has_lambda, has_nonideal };
    let mut outputs = vec![program.doubt];
    outputs.extend(qddot);
    outputs.extend(found);
    Some((program.assembler.finish(&outputs), layout))
}

/// A symmetric matrix: for each row its entries, both triangles.
type Symmetric = Vec<BTreeMap<usize, Register>>;

/// L D Lᵀ: the pivots in their order, the columns of L below them by original index, and 1/D by order.
struct Factor {
    order: Vec<usize>,
    columns: Vec<Vec<(usize, Register)>>,
    inverse: Vec<Register>,
}

/// Elimination, written into a program.
struct Elimination<'s> {
    assembler: Assembler<'s>,
    /// The least of pivot − bound · diagonal so far.
    doubt: Register,
}

impl<'s> Elimination<'s> {
    fn new(source: &'s Source) -> Option<Elimination<'s>> {
        let mut assembler = Assembler::new(&source.graph, &source.inputs);
        let doubt = assembler.constant(f64::MAX);
        Some(Elimination { assembler, doubt })
    }

    fn check_length(&self) -> Option<()> {
        (self.assembler.len() <= LONGEST).then_some(())
    }

    fn values(&mut self, exprs: impl Iterator<Item = Expr>) -> Option<Vec<Register>> {
        self.assembler.lower(&exprs.collect::<Vec<_>>()).ok()
    }

    fn matrix(&mut self, rows: &[Vec<(usize, Expr)>]) -> Option<Symmetric> {
        let mut matrix = Vec::with_capacity(rows.len());
        for row in rows {
            let values = self.values(row.iter().map(|(_, e)| *e))?;
            matrix.push(row.iter().map(|(j, _)| *j).zip(values).collect());
        }
        Some(matrix)
    }

    /// x − a b.
    fn minus_product(&mut self, x: Register, a: Register, b: Register) -> Register {
        let product = self.assembler.mul(a, b);
        self.assembler.sub(x, product)
    }

    /// x + a b, where x may be nothing yet.
    fn plus_product(&mut self, x: Option<Register>, a: Register, b: Register) -> Register {
        let product = self.assembler.mul(a, b);
        x.map_or(product, |x| self.assembler.add(x, product))
    }

    /// S = L D Lᵀ, those rows first that touch fewest others, and among them those that wait for nothing.
    fn factor(&mut self, mut S: Symmetric, least: f64) -> Option<Factor> {
        let n = S.len();
        let least = self.assembler.constant(least);
        let diagonal: Vec<Option<Register>> = (0..n).map(|i| S[i].remove(&i)).collect();
        let mut pivot = diagonal.clone();
        // how many eliminations an entry waits for: short chains of divisions run side by side
        let mut depth = vec![0; n];
        let mut queue: BTreeSet<(usize, usize, usize)> = (0..n).map(|i| (S[i].len(), 0, i)).collect();
        let (mut order, mut columns, mut inverse) = (Vec::new(), vec![Vec::new(); n], Vec::new());
        let one = self.assembler.constant(1.0);
        while let Some((_, _, p)) = queue.pop_first() {
            // a coordinate without mass is left to those who look for pivots
            let (d, whole) = (pivot[p]?, diagonal[p]?);
            let bound = self.assembler.mul(least, whole);
            let above = self.assembler.sub(d, bound);
            self.doubt = self.assembler.min(self.doubt, above);
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
                    let product = self.assembler.mul(l, x);
                    let entry = match S[i].get(&j) {
                        Some(&old) => self.assembler.sub(old, product),
                        None => self.assembler.neg(product),
                    };
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

    /// L⁻¹x; x and the result by order.
    fn forward(
        &mut self,
        columns: &[Vec<(usize, Register)>],
        place: &[usize],
        mut x: BTreeMap<usize, Register>,
    ) -> BTreeMap<usize, Register> {
        let mut by_order: Vec<usize> = vec![0; place.len()];
        place.iter().enumerate().for_each(|(i, &k)| by_order[k] = i);
        let mut next = x.keys().next().copied();
        while let Some(p) = next {
            let value = x[&p];
            for &(i, l) in &columns[by_order[p]] {
                let product = self.assembler.mul(l, value);
                let entry = match x.get(&place[i]) {
                    Some(&old) => self.assembler.sub(old, product),
                    None => self.assembler.neg(product),
                };
                x.insert(place[i], entry);
            }
            next = x.range(p + 1..).next().map(|(p, _)| *p);
        }
        x
    }

    /// L⁻ᵀx; x by order, the result by original index.
    fn backward(
        &mut self,
        columns: &[Vec<(usize, Register)>],
        order: &[usize],
        place: &[usize],
        mut x: Vec<Option<Register>>,
    ) -> Vec<Register> {
        let zero = self.assembler.constant(0.0);
        for p in (0..order.len()).rev() {
            let mut sum = x[p].unwrap_or(zero);
            for &(i, l) in &columns[order[p]] {
                sum = self.minus_product(sum, l, x[place[i]].unwrap_or(zero));
            }
            x[p] = Some(sum);
        }
        place.iter().map(|&p| x[p].unwrap_or(zero)).collect()
    }

    /// S = YᵀZ.
    fn gram(&mut self, rows: &[(BTreeMap<usize, Register>, BTreeMap<usize, Register>)], n: usize) -> Symmetric {
        let mut touching: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (r, (y, _)) in rows.iter().enumerate() {
            y.keys().for_each(|&p| touching[p].push(r));
        }
        let mut S: Symmetric = vec![BTreeMap::new(); rows.len()];
        for (r, (y, _)) in rows.iter().enumerate() {
            for (p, &y) in y {
                for &s in touching[*p].iter().filter(|&&s| s <= r) {
                    let entry = self.plus_product(S[r].get(&s).copied(), y, rows[s].1[p]);
                    S[r].insert(s, entry);
                    S[s].insert(r, entry);
                }
            }
        }
        S
    }

    /// S⁻¹e.
    fn solve(&mut self, S: &Factor, mut e: Vec<Register>) -> Vec<Register> {
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
