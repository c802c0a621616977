//! Contacts that touch at a point of the motion, and the response to impulses there.

use super::resolve::PreviousMode;
use super::resolve::Resolver;
use crate::{ConstraintLevel, Dynamics, MotionError, tolerance};

/// A contact that closes or has opened within this fraction of the time that the tolerance allows does so at once: far less
/// than the remaining time of bounces that are cut short.
const REBOUND_AT_ONCE: f64 = 0.01;

/// Contacts that touch, with the response of all rows to a unit impulse or force in each.
pub(super) struct Touching {
    pub(super) contacts: Vec<usize>,
    /// Their rows, then the slip rows of those with friction.
    pub(super) rows: Vec<usize>,
    /// For each contact, the indices of its slip rows among the rows.
    pub(super) slips: Vec<Vec<usize>>,
    /// Frictions of permanent constraints that respond to the impacts.
    pub(super) held: Vec<PermanentFriction>,
    /// A M⁻¹Aᵀ of these rows, with the other active rows eliminated.
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

    /// Leaves out frictions that no impact reaches, with the rows after the first.
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

/// Friction of a permanent constraint at an impact.
pub(super) struct PermanentFriction {
    pub(super) friction: usize,
    /// The indices of its slip rows among the rows.
    pub(super) slips: Vec<usize>,
    /// For each of its normal rows, the λ by a unit λ of each of the rows.
    pub(super) normal_forces: Vec<Vec<f64>>,
}

impl PermanentFriction {
    /// `true` if impulses of the first rows change its normal force.
    fn feels(&self, n_rows: usize) -> bool {
        let top = self.normal_forces.iter().flatten().fold(0.0, |top: f64, x| top.max(x.abs()));
        self.normal_forces.iter().any(|by| by[..n_rows].iter().any(|x| x.abs() > tolerance::ROUNDING * top))
    }
}

impl<D: Dynamics + ?Sized> Resolver<'_, '_, D> {
    /// The contacts that touch at the state.
    pub(super) fn touching(&mut self, before: &PreviousMode, triggered: &[usize]) -> Result<Touching, MotionError> {
        // a start may be given to the default tolerance; later gaps are known better if the run asks for it
        let is_start = self.is_first;
        let near = if is_start { tolerance::RUN } else { tolerance::RUN.min(self.window.tolerance) };
        let at_once = REBOUND_AT_ONCE * self.window.tolerance * self.window.length();
        let system = &mut self.system;
        system.open_all();
        system.release();
        system.smooth.set_state(self.t, self.y);
        system.evaluate()?;
        let mut gaps = vec![0.0; system.smooth.h];
        system.smooth.residuals(ConstraintLevel::Positions, &mut gaps)?;
        let rates = system.rates()?;
        let touches = |&c: &usize| {
            let row = system.mode.contacts[c].row;
            let (gap, rate) = (gaps[row], rates[row].abs());
            let is_near = gap <= near * system.row_size(row, &system.smooth.q_size);
            // a contact that moves takes its impulse when its own gap closes: the last of the bounces that accumulate are
            // lower than any tolerance; with friction, slips are not known that far down
            let has_law = system.mode.frictions.iter().any(|friction| friction.contact == Some(c));
            let unloaded =
                is_start || has_law || rate <= self.window.tolerance * system.row_size(row, &system.smooth.v_size);
            before.closed[c] || triggered.contains(&c) || (is_near && (unloaded || gap <= at_once * rate))
        };
        let contacts: Vec<usize> = (0..system.mode.contacts.len()).filter(touches).collect();
        let mut rows: Vec<usize> = contacts.iter().map(|&c| system.mode.contacts[c].row).collect();
        let mut slips = Vec::new();
        for &c in &contacts {
            let friction = system.mode.frictions.iter().find(|f| f.contact == Some(c));
            let first = rows.len();
            rows.extend(friction.iter().flat_map(|f| &f.slip));
            slips.push((first..rows.len()).collect());
        }
        let n_own = rows.len();
        let always = |k: &usize| system.mode.frictions[*k].contact.is_none() && !contacts.is_empty();
        let mut held = Vec::new();
        for k in (0..system.mode.frictions.len()).filter(always) {
            let first = rows.len();
            rows.extend(&system.mode.frictions[k].slip);
            held.push(PermanentFriction {
                friction: k,
                slips: (first..rows.len()).collect(),
                normal_forces: Vec::new(),
            });
        }
        let none = vec![0.0; system.smooth.given.constraint_rhs.len()];
        let (mut responses, mut lambdas) = (Vec::new(), Vec::new());
        for &row in &rows {
            let (mut force, mut x) = (vec![0.0; system.smooth.n], vec![0.0; system.smooth.n]);
            let (col, value) = system.smooth.rows.whole.constraint_matrix.row(row);
            col.iter().zip(value).for_each(|(&j, a)| force[j] = *a);
            system.smooth.all.solve(&system.smooth.given.constraint_matrix, &force, &[], &none, &mut x)?;
            responses.push(x);
            if !held.is_empty() {
                let mut lambda = none.clone();
                system.smooth.all.multipliers(&system.smooth.given.constraint_matrix, &mut lambda)?;
                lambdas.push(lambda);
            }
        }
        for friction in &mut held {
            let normals = &system.mode.frictions[friction.friction].normals;
            friction.normal_forces =
                normals.iter().map(|&row| lambdas.iter().map(|lambda| lambda[row]).collect()).collect();
        }
        let A = &system.smooth.rows.whole.constraint_matrix;
        let S = rows.iter().flat_map(|&row| responses.iter().map(move |x| A.row_times(row, x))).collect();
        let mut touching = Touching { contacts, rows, slips, held, S, responses };
        if !touching.held.iter().any(|held| held.feels(n_own)) {
            touching.forget_held(n_own);
        }
        Ok(touching)
    }
}
