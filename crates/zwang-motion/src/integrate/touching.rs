//! What touches where the motion stands, and what impulses there do.

use super::contact::{Before, TOUCHING};
use super::*;

/// What closes or has opened within this part of the time that the tolerance lets pass does so at once: far less than bounces
/// have left where they are cut short.
const AT_ONCE: f64 = 0.01;

/// Contacts that touch, with what one impulse or force in each does to all.
pub(super) struct Touching {
    pub(super) contacts: Vec<usize>,
    /// Their rows, then the slip rows of those with friction.
    pub(super) rows: Vec<usize>,
    /// For each contact, the places of its slip rows among the rows.
    pub(super) slips: Vec<Vec<usize>>,
    /// Frictions of rows that always hold, and feel what is struck.
    pub(super) held: Vec<Held>,
    /// A M⁻¹Aᵀ of these rows, with the other rows held.
    pub(super) S: Vec<f64>,
    /// The change of q̇ or q̈ by a unit λ of each.
    pub(super) responses: Vec<Vec<f64>>,
}

impl Touching {
    /// A M⁻¹Aᵀ of some of the rows.
    pub(super) fn part(&self, places: &[usize]) -> Vec<f64> {
        let n = self.rows.len();
        places.iter().flat_map(|&i| places.iter().map(move |&j| self.S[i * n + j])).collect()
    }

    /// Leaves out frictions that no blow reaches, with the rows after the first.
    fn forget_held(&mut self, n_rows: usize) {
        let n = self.rows.len();
        self.held.clear();
        self.S = (0..n_rows * n_rows).map(|k| self.S[k / n_rows * n + k % n_rows]).collect();
        self.rows.truncate(n_rows);
        self.responses.truncate(n_rows);
    }

    /// The rates of all rows after impulses.
    pub(super) fn rates_after(&self, before: &[f64], impulses: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let rate = |i: usize| before[i] + impulses.iter().enumerate().map(|(j, p)| self.S[i * n + j] * p).sum::<f64>();
        (0..n).map(rate).collect()
    }

    /// The row of each contact.
    pub(super) fn normals(&self) -> &[usize] {
        &self.rows[..self.contacts.len()]
    }
}

/// Friction of a constraint that always holds, beside contacts that are struck.
pub(super) struct Held {
    pub(super) friction: usize,
    /// The places of its slip rows among the rows.
    pub(super) slips: Vec<usize>,
    /// For each of its rows that press, the λ by a unit λ of each of the rows.
    pub(super) pushes: Vec<Vec<f64>>,
}

impl Held {
    /// Whether impulses of the first rows press here.
    fn feels(&self, n_rows: usize) -> bool {
        /// λ below this part of the largest is rounding.
        const NOTHING: f64 = 1e-12;
        let top = self.pushes.iter().flatten().fold(0.0, |top: f64, x| top.max(x.abs()));
        self.pushes.iter().any(|by| by[..n_rows].iter().any(|x| x.abs() > NOTHING * top))
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The contacts that touch here.
    pub(super) fn touching(&mut self, before: &Before, fired: &[usize]) -> Result<Touching, MotionError> {
        // a start may be given to the default tolerance; on the way gaps are known better where the run asks for it
        let is_start = self.counts.steps == 0;
        let near = if is_start { TOUCHING } else { TOUCHING.min(self.plan.tolerance) };
        let at_once = AT_ONCE * self.plan.tolerance * (self.plan.end - self.t0);
        let flow = &mut self.flow;
        flow.modes.open_all();
        flow.release();
        flow.place(self.t, &self.y);
        flow.evaluate()?;
        let mut gaps = vec![0.0; flow.h];
        flow.dynamics.fill_positions(&flow.instant.state, &mut gaps)?;
        let rates = flow.rates()?;
        let touches = |&c: &usize| {
            let row = flow.modes.contacts[c].row;
            let (gap, rate) = (gaps[row], rates[row].abs());
            let is_near = gap <= near * flow.row_size(row, &flow.q_size);
            // what moves on is struck when its own gap closes: of bounces that die out the last are lower than any tolerance; where it
            // is rough, slips are not known so far down
            let is_rough = flow.modes.frictions.iter().any(|friction| friction.contact == Some(c));
            let stays = is_start || is_rough || rate <= self.plan.tolerance * flow.row_size(row, &flow.v_size);
            before.closed[c] || fired.contains(&c) || (is_near && (stays || gap <= at_once * rate))
        };
        let contacts: Vec<usize> = (0..flow.modes.contacts.len()).filter(touches).collect();
        let mut rows: Vec<usize> = contacts.iter().map(|&c| flow.modes.contacts[c].row).collect();
        let mut slips = Vec::new();
        for &c in &contacts {
            let friction = flow.modes.frictions.iter().find(|f| f.contact == Some(c));
            let first = rows.len();
            rows.extend(friction.iter().flat_map(|f| &f.slip));
            slips.push((first..rows.len()).collect());
        }
        let n_own = rows.len();
        let always = |k: &usize| flow.modes.frictions[*k].contact.is_none() && !contacts.is_empty();
        let mut held = Vec::new();
        for k in (0..flow.modes.frictions.len()).filter(always) {
            let first = rows.len();
            rows.extend(&flow.modes.frictions[k].slip);
            held.push(Held { friction: k, slips: (first..rows.len()).collect(), pushes: Vec::new() });
        }
        let none = vec![0.0; flow.given.constraint_rhs.len()];
        let (mut responses, mut lambdas) = (Vec::new(), Vec::new());
        for &row in &rows {
            let (mut force, mut x) = (vec![0.0; flow.n], vec![0.0; flow.n]);
            let (col, value) = flow.modes.whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] = *a);
            flow.all.solve(&flow.given.constraint_matrix, &force, &[], &none, &mut x)?;
            responses.push(x);
            if !held.is_empty() {
                let mut lambda = none.clone();
                flow.all.multipliers(&flow.given.constraint_matrix, &mut lambda)?;
                lambdas.push(lambda);
            }
        }
        for friction in &mut held {
            let normals = &flow.modes.frictions[friction.friction].normals;
            friction.pushes = normals.iter().map(|&row| lambdas.iter().map(|lambda| lambda[row]).collect()).collect();
        }
        let A = &flow.modes.whole.constraint_matrix;
        let S = rows.iter().flat_map(|&row| responses.iter().map(move |x| A.row_times(row, x))).collect();
        let mut touching = Touching { contacts, rows, slips, held, S, responses };
        if !touching.held.iter().any(|held| held.feels(n_own)) {
            touching.forget_held(n_own);
        }
        Ok(touching)
    }
}
