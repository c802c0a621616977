//! The least force that makes the system satisfy the control rows, in addition to the physical constraints.

use super::bounds::Bounded;
use crate::{
    ControlRows, Matrix, MotionError, Settings,
    factor::{blocks::Blocks, dot, largest, small},
};

/// KU94 (33) with physical constraints, by forces u = S w on the driven coordinates.
///
/// With q̈ₚ the motion under the physical constraints alone and K = M^{-1/2} Nₚ M^{-1/2} what these leave of a force,
///
/// $$ \min_w\ w^T W w \quad\text{subject to}\quad A_c K S\,w = b_c - A_c\ddot q_p $$
///
/// which for S = I and W = M⁻¹ is u = M^{1/2}(B_c Nₚ)⁺(b_c − A_c q̈ₚ). The rows J = A_c K S are made orthonormal in the metric
/// P = W⁻¹ one after the other, the longest first, so that they may have any rank and nothing is squared.
pub(crate) struct ControlSolver {
    settings: Settings,
    n: usize,
    /// Rows yᵢ = K A_cᵢᵀ, what the constraints leave of each control row, and M yᵢ.
    responses: Vec<f64>,
    weighted: Vec<f64>,
    /// J and P Jᵀ, row after row.
    J: Vec<f64>,
    PJ: Vec<f64>,
    rows: Orthonormal,
    /// The same rows with every coordinate driven: the metric in which a residual is measured.
    whole: Orthonormal,
    bounded: Bounded,
    mass: Blocks,
    is_regular: bool,
    /// Rows of which the constraints leave nothing; then also those that no driven coordinate moves.
    dead: Vec<bool>,
    /// The size of each without the physical constraints.
    free: Vec<f64>,
    work: Vec<f64>,
    /// A force on few coordinates, and its response.
    unit: Vec<f64>,
    /// What bounded forces are to do, D w = d, and a column of J.
    D: Vec<f64>,
    d: Vec<f64>,
    column: Vec<f64>,
    rhs: Vec<f64>,
    w: Vec<f64>,
    /// Multipliers of the rows: w = P Jᵀμ where no bound acts.
    pub(crate) multipliers: Vec<f64>,
    /// The size of the force within its bounds relative to the one without.
    part: f64,
    /// The distance of each driven force from its bound; if the bound acts, minus the force it holds back.
    pub(crate) margins: Vec<f64>,
}

impl ControlSolver {
    pub(crate) fn new(settings: &Settings) -> ControlSolver {
        ControlSolver {
            settings: settings.clone(),
            n: 0,
            responses: Vec::new(),
            weighted: Vec::new(),
            J: Vec::new(),
            PJ: Vec::new(),
            rows: Orthonormal::default(),
            whole: Orthonormal::default(),
            bounded: Bounded::default(),
            mass: Blocks::new(),
            is_regular: false,
            dead: Vec::new(),
            free: Vec::new(),
            work: Vec::new(),
            unit: Vec::new(),
            D: Vec::new(),
            d: Vec::new(),
            column: Vec::new(),
            rhs: Vec::new(),
            w: Vec::new(),
            multipliers: Vec::new(),
            part: 1.0,
            margins: Vec::new(),
        }
    }

    /// A driven force, and its distance from its bound.
    pub(crate) fn bounded_force(&self, place: usize) -> (f64, f64) {
        (self.w[place], self.margins[place])
    }

    /// Rank of A_c K S: the number of control directions that the driven coordinates reach.
    pub(crate) fn rank(&self) -> usize {
        self.rows.rank
    }

    /// Rank of A_c K: the number of directions that the physical constraints leave.
    pub(crate) fn whole_rank(&self) -> usize {
        self.whole.rank
    }

    /// The size of the terms that Q and u contribute to a row: Σ |(A_c K)_j| (|Q_j| + |u_j|).
    pub(crate) fn size_of_forces(&self, row: usize, Q: &[f64], u: &[f64]) -> f64 {
        let response = &self.responses[row * self.n..(row + 1) * self.n];
        response.iter().zip(Q.iter().zip(u)).map(|(y, (Q, u))| y.abs() * (Q.abs() + u.abs())).sum()
    }

    /// The scale of each row, for a length of one where the rank was decided.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.rows.scale
    }

    /// The row of which least is left relative to those taken before it, and how much, relative to its length where the rank
    /// was decided.
    pub(crate) fn weakest(&self) -> Option<(usize, f64)> {
        let (rows, m) = (&self.rows, self.rows.scale.len());
        let left = rows.order.iter().enumerate().map(|(l, &row)| (row, rows.T[row * m + l]));
        left.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Freezes the ranks and the scales found last.
    pub(crate) fn hold(&mut self) {
        (self.rows.held, self.whole.held) = (Some(self.rows.rank), Some(self.whole.rank));
    }

    /// Lets ranks and scales be decided anew.
    pub(crate) fn release(&mut self) {
        (self.rows.held, self.whole.held) = (None, None);
    }

    /// Takes in M and the control rows; `respond` turns a force into the acceleration K f the constraints leave of it.
    pub(crate) fn prepare(
        &mut self,
        M: &Matrix,
        asked: &ControlRows,
        mut respond: impl FnMut(&[f64], &mut [f64]) -> Result<(), MotionError>,
    ) -> Result<(), MotionError> {
        let (n, m) = (M.n_rows, asked.rhs.len());
        self.n = n;
        self.responses.resize(m * n, 0.0);
        self.weighted.resize(m * n, 0.0);
        self.unit.resize(n, 0.0);
        for i in 0..m {
            write_row(asked, i, &mut self.unit);
            let y = &mut self.responses[i * n..(i + 1) * n];
            respond(&self.unit, y)?;
            M.multiply(y, &mut self.weighted[i * n..(i + 1) * n]);
        }
        self.mass.find(M);
        self.is_regular = self.mass.factor_regular(M, &self.settings);
        self.find_dead_rows(asked);
        let (tolerance, k) = (self.settings.rank_tolerance, asked.driven.len());
        self.whole.factor(&self.responses, &self.weighted, n, (&self.dead, &self.free), tolerance);
        self.drive(asked)?;
        for i in 0..m {
            self.dead[i] |= self.is_unmoved(i, k);
        }
        self.rows.factor(&self.J, &self.PJ, k, (&self.dead, &self.free), tolerance);
        Ok(())
    }

    /// Rows of which the physical constraints leave nothing but rounding.
    fn find_dead_rows(&mut self, asked: &ControlRows) {
        let (n, tolerance) = (self.n, self.settings.rank_tolerance);
        self.dead.clear();
        self.free.clear();
        for i in 0..asked.rhs.len() {
            let left = largest(&self.responses[i * n..(i + 1) * n]);
            write_row(asked, i, &mut self.unit);
            let mut free = 0.0;
            if self.is_regular {
                // M⁻¹A_cᵢᵀ: the response without constraints
                self.mass.solve(&mut self.unit);
                free = largest(&self.unit);
            }
            self.dead.push(!(left > tolerance * free));
            self.free.push(largest(&self.unit));
        }
    }

    /// `true` if no driven coordinate moves row i, while some coordinate does.
    fn is_unmoved(&self, i: usize, k: usize) -> bool {
        let whole = largest(&self.responses[i * self.n..(i + 1) * self.n]);
        !(largest(&self.J[i * k..(i + 1) * k]) > self.settings.rank_tolerance * whole)
    }

    /// J = A_c K S and P Jᵀ: the entries of the responses at the driven coordinates, and these in the metric of the force.
    fn drive(&mut self, asked: &ControlRows) -> Result<(), MotionError> {
        let (n, m, k) = (self.n, asked.rhs.len(), asked.driven.len());
        self.J.clear();
        for i in 0..m {
            self.J.extend(asked.driven.iter().map(|&j| self.responses[i * n + j]));
        }
        self.PJ.clear();
        // u = M^{1/2}(B_c Nₚ)⁺…: with all coordinates driven P is M itself
        if asked.weight.is_empty() && k == n {
            for i in 0..m {
                self.PJ.extend(asked.driven.iter().map(|&j| self.weighted[i * n + j]));
            }
            return Ok(());
        }
        self.PJ.extend_from_slice(&self.J);
        self.write_weight(asked);
        let floor = self.settings.mass_tolerance * (0..k).fold(0.0, |top: f64, i| top.max(self.work[i * k + i]));
        if !small::cholesky(&mut self.work, k, floor) {
            return Err(MotionError::WeightNotPositive);
        }
        for row in self.PJ.chunks_exact_mut(k.max(1)) {
            small::solve_lower(&self.work, k, row);
            small::solve_lower_transposed(&self.work, k, row);
        }
        Ok(())
    }

    /// W into `work`: as given, or SᵀM⁻¹S; the identity where M has no inverse.
    fn write_weight(&mut self, asked: &ControlRows) {
        let k = asked.driven.len();
        if !asked.weight.is_empty() {
            self.work.clone_from(&asked.weight);
            return;
        }
        self.work.clear();
        self.work.resize(k * k, 0.0);
        for (i, &j) in asked.driven.iter().enumerate() {
            if !self.is_regular {
                self.work[i * k + i] = 1.0;
                continue;
            }
            self.unit.fill(0.0);
            self.unit[j] = 1.0;
            self.mass.solve(&mut self.unit);
            asked.driven.iter().enumerate().for_each(|(l, &at)| self.work[i * k + l] = self.unit[at]);
        }
    }

    /// u for the motion q̈ₚ that the physical constraints alone would make.
    pub(crate) fn force(&mut self, asked: &ControlRows, qddot: &[f64], u: &mut [f64]) -> Result<(), MotionError> {
        // r = b_c − A_c q̈ₚ
        self.rhs.clear();
        self.rhs.extend((0..asked.rhs.len()).map(|i| asked.rhs[i] - asked.rows.row_times(i, qddot)));
        self.least(asked, u)
    }

    /// The part of u that is linear in b_c, KU94 (33); no bound acts on it.
    pub(crate) fn linear_part(&mut self, asked: &ControlRows, u: &mut [f64]) -> Result<(), MotionError> {
        self.rhs.clone_from(&asked.rhs);
        let multipliers = std::mem::take(&mut self.multipliers);
        let found = self.unbounded(asked);
        self.multipliers = multipliers;
        self.spread(asked, u);
        found
    }

    fn least(&mut self, asked: &ControlRows, u: &mut [f64]) -> Result<(), MotionError> {
        // an event may have changed it
        if asked.limit.iter().any(|limit| !(*limit > 0.0)) {
            return Err(MotionError::LimitNotPositive);
        }
        self.unbounded(asked)?;
        self.part = 1.0;
        self.margins.clear();
        if !asked.limit.is_empty() {
            let beyond = self.w.iter().zip(&asked.limit).any(|(w, limit)| w.abs() > *limit);
            self.margins.extend(self.w.iter().zip(&asked.limit).map(|(w, limit)| limit - w.abs()));
            // forces that cannot satisfy all control rows come as close as they can, too
            if beyond || self.rows.rank < self.whole.rank {
                let wanted = largest(&self.w);
                self.bounded(asked);
                self.part = if wanted > 0.0 { (largest(&self.w) / wanted).min(1.0) } else { 1.0 };
            }
        }
        self.spread(asked, u);
        match u.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(MotionError::NotFinite { what: "the control force".into() }),
        }
    }

    /// The least w with J w = r.
    fn unbounded(&mut self, asked: &ControlRows) -> Result<(), MotionError> {
        self.multipliers.resize(asked.rhs.len(), 0.0);
        self.w.resize(asked.driven.len(), 0.0);
        self.rows.solve(&self.rhs, &mut self.w, &mut self.multipliers)
    }

    /// The w within its bounds that comes closest, in Gauss's sense.
    ///
    /// The residual r − J w is measured by the least scaled acceleration that would make up for it, |(B_c Nₚ)⁺(r − J w)|.
    fn bounded(&mut self, asked: &ControlRows) {
        let (m, k) = (asked.rhs.len(), asked.driven.len());
        let rank = self.whole.rank;
        // D = (B_c Nₚ)⁺J by columns, and the same for r
        self.column.resize(m, 0.0);
        self.D.resize(rank * k, 0.0);
        for j in 0..k {
            (0..m).for_each(|i| self.column[i] = self.J[i * k + j]);
            let reduced = self.whole.coordinates(&self.column);
            (0..rank).for_each(|l| self.D[l * k + j] = reduced[l]);
        }
        let d = self.whole.coordinates(&self.rhs);
        self.d.clear();
        self.d.extend_from_slice(d);
        self.write_weight(asked);
        self.bounded.solve((&self.D, &self.d), &self.work, &asked.limit, &mut self.w, &mut self.margins);
    }

    /// u = S w.
    fn spread(&self, asked: &ControlRows, u: &mut [f64]) {
        u.fill(0.0);
        asked.driven.iter().zip(&self.w).for_each(|(&j, w)| u[j] = *w);
    }

    /// The share of each control row in the power u·q̇; if bounds act, of a force that is smaller in all its parts alike.
    pub(crate) fn powers(&self, asked: &ControlRows, qdot: &[f64], powers: &mut [f64]) {
        let k = asked.driven.len();
        for (i, power) in powers.iter_mut().enumerate() {
            let push = self.PJ[i * k..(i + 1) * k].iter().zip(&asked.driven).map(|(p, &j)| p * qdot[j]);
            *power = self.part * self.multipliers[i] * push.sum::<f64>();
        }
    }
}

/// Row i of the control rows, written out.
fn write_row(asked: &ControlRows, i: usize, out: &mut [f64]) {
    out.fill(0.0);
    let (col, value) = asked.rows.row(i);
    col.iter().zip(value).for_each(|(&j, &x)| out[j] = x);
}

/// Rows made orthonormal in a metric P, the longest first: Jᵢ = Σ T_il e_l with e_lᵀP e_m = δ_lm.
#[derive(Default)]
struct Orthonormal {
    k: usize,
    rank: usize,
    held: Option<usize>,
    /// What each row is multiplied by to have length one, or had when the rank was decided.
    scale: Vec<f64>,
    /// e_l and P e_l, row after row.
    e: Vec<f64>,
    Pe: Vec<f64>,
    /// What is left of the rows, and of P times them.
    v: Vec<f64>,
    Pv: Vec<f64>,
    /// T, one row of m entries per row of J, scaled.
    T: Vec<f64>,
    /// Row `order[l]` was taken in step l.
    order: Vec<usize>,
    /// TᵀT if rows are redundant, and what was found with it.
    square: Vec<f64>,
    c: Vec<f64>,
}

impl Orthonormal {
    /// Factors rows `J` (m x k) with `PJ`; rows that are dead count as zero. `free` are the sizes of the rows without constraints.
    fn factor(&mut self, J: &[f64], PJ: &[f64], k: usize, (dead, free): (&[bool], &[f64]), tolerance: f64) {
        let m = dead.len();
        self.k = k;
        if self.held.is_none() || self.scale.len() != m {
            let length = |i: usize| dot(&J[i * k..(i + 1) * k], &PJ[i * k..(i + 1) * k]).max(0.0).sqrt();
            let is_alive = |i: usize| !dead[i] && length(i) > 0.0;
            // a row that is dead here may live further on: then it counts as those do that live here
            let unit = (0..m).find(|&i| is_alive(i)).map_or(1.0, |i| free[i] / length(i));
            let scale = |i: usize| match is_alive(i) {
                true => 1.0 / length(i),
                false if free[i] > 0.0 => unit / free[i],
                false => 0.0,
            };
            self.scale.clear();
            self.scale.extend((0..m).map(scale));
        }
        let scale = |i: usize| if dead[i] { 0.0 } else { self.scale[i] };
        for (scaled, rows) in [(&mut self.v, J), (&mut self.Pv, PJ)] {
            scaled.clear();
            scaled.extend(rows.iter().take(m * k).enumerate().map(|(at, x)| scale(at / k) * x));
        }
        let most = self.held.unwrap_or(m.min(k));
        self.T.clear();
        self.T.resize(m * m, 0.0);
        self.order.clear();
        self.e.clear();
        self.Pe.clear();
        while self.order.len() < most {
            let square = |i: usize| dot(self.left(i), &self.Pv[i * k..(i + 1) * k]);
            let open = (0..m).filter(|i| self.scale[*i] > 0.0 && !self.order.contains(i));
            let Some(next) = open.max_by(|&i, &j| square(i).total_cmp(&square(j))) else { break };
            if self.held.is_none() && !(square(next).max(0.0).sqrt() > tolerance) {
                break;
            }
            if !self.take(next, m) {
                break;
            }
        }
        self.rank = self.order.len();
    }

    /// What is left of row i.
    fn left(&self, i: usize) -> &[f64] {
        &self.v[i * self.k..(i + 1) * self.k]
    }

    /// Takes row `next` as the next direction and out of all others; false if nothing is left of it.
    fn take(&mut self, next: usize, m: usize) -> bool {
        let (k, l) = (self.k, self.order.len());
        // once more against those before: what is left is then orthogonal to rounding
        for before in 0..l {
            let c = dot(self.left(next), &self.Pe[before * k..(before + 1) * k]);
            self.subtract(next, before, c, m);
        }
        let length = dot(self.left(next), &self.Pv[next * k..(next + 1) * k]).max(0.0).sqrt();
        if !(length > 0.0) {
            return false;
        }
        self.T[next * m + l] = length;
        self.e.extend(self.v[next * k..(next + 1) * k].iter().map(|x| x / length));
        self.Pe.extend(self.Pv[next * k..(next + 1) * k].iter().map(|x| x / length));
        self.order.push(next);
        for i in 0..m {
            if !self.order.contains(&i) {
                let c = dot(self.left(i), &self.Pe[l * k..(l + 1) * k]);
                self.subtract(i, l, c, m);
            }
        }
        true
    }

    /// Takes c e_l out of row i.
    fn subtract(&mut self, i: usize, l: usize, c: f64, m: usize) {
        let k = self.k;
        self.T[i * m + l] += c;
        (0..k).for_each(|j| self.v[i * k + j] -= c * self.e[l * k + j]);
        (0..k).for_each(|j| self.Pv[i * k + j] -= c * self.Pe[l * k + j]);
    }

    /// c with T c = r for scaled rows, in the sense of least squares where they are more than the rank.
    fn coordinates(&mut self, r: &[f64]) -> &mut [f64] {
        let (m, rank) = (self.scale.len(), self.rank);
        let Orthonormal { T, c, square, order, scale, .. } = self;
        let T = |i: usize, l: usize| T[i * m + l];
        c.clear();
        c.resize(rank, 0.0);
        if rank == m {
            for (l, &i) in order.iter().enumerate() {
                let before: f64 = (0..l).map(|b| T(i, b) * c[b]).sum();
                c[l] = (scale[i] * r[i] - before) / T(i, l);
            }
            return c;
        }
        // TᵀT c = Tᵀr: the rows have length one, and those taken are clearly independent
        square.clear();
        square.resize(rank * rank, 0.0);
        for i in 0..m {
            for a in 0..rank {
                c[a] += T(i, a) * scale[i] * r[i];
                (0..rank).for_each(|b| square[a * rank + b] += T(i, a) * T(i, b));
            }
        }
        if small::cholesky(square, rank, 0.0) {
            small::solve_lower(square, rank, c);
            small::solve_lower_transposed(square, rank, c);
        }
        c
    }

    /// The least w with J w = r, and the multipliers of the rows taken, w = P Jᵀμ.
    fn solve(&mut self, r: &[f64], w: &mut [f64], multipliers: &mut [f64]) -> Result<(), MotionError> {
        let (m, k, rank) = (self.scale.len(), self.k, self.rank);
        self.coordinates(r);
        let Orthonormal { T, c, Pe, order, scale, .. } = self;
        w.fill(0.0);
        for (l, c) in c.iter().enumerate() {
            (0..k).for_each(|j| w[j] += c * Pe[l * k + j]);
        }
        // μ = T⁻ᵀc on the rows taken
        multipliers.fill(0.0);
        for l in (0..rank).rev() {
            let i = order[l];
            c[l] /= T[i * m + l];
            let s = c[l];
            (0..l).for_each(|b| c[b] -= s * T[i * m + b]);
            multipliers[i] = scale[i] * s;
        }
        match w.iter().chain(multipliers.iter()).all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(MotionError::NotFinite { what: "the control force".into() }),
        }
    }
}
