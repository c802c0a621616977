//! One accepted step with its dense output.

use crate::State;

/// A piece of the motion between two times, known at every instant between them.
///
/// The polynomial is nested (see the tableau): y₀ + θ(F₀ + (1 − θ)(F₁ + θ(F₂ + …))), θ = (t − t₀)/h.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Time at which it begins.
    pub start: f64,
    /// Time at which it ends; before start + h if an event ended it early.
    pub end: f64,
    pub(crate) h: f64,
    pub(crate) n: usize,
    /// q, q̇ and the integrals at the start.
    pub(crate) y: Vec<f64>,
    /// F₀, F₁, …, each as long as y.
    pub(crate) F: Vec<f64>,
}

impl Step {
    /// q, q̇ and the integrals at a time; `values` is as long as all of them.
    pub(crate) fn values(&self, t: f64, values: &mut [f64]) {
        let size = self.y.len();
        let theta = if self.h == 0.0 { 0.0 } else { (t - self.start) / self.h };
        values.fill(0.0);
        let n_parts = self.F.len() / size.max(1);
        for k in (0..n_parts).rev() {
            let factor = if k % 2 == 0 { theta } else { 1.0 - theta };
            let F = &self.F[k * size..(k + 1) * size];
            values.iter_mut().zip(F).for_each(|(x, F)| *x = (*x + F) * factor);
        }
        values.iter_mut().zip(&self.y).for_each(|(x, y)| *x += y);
    }

    /// The state at a time in the step, as interpolated.
    pub fn state(&self, t: f64) -> State {
        let mut values = vec![0.0; self.y.len()];
        self.values(t, &mut values);
        State { t, q: values[..self.n].to_vec(), qdot: values[self.n..2 * self.n].to_vec() }
    }
}

/// Makes F the cubic through both ends with their rates, (value, rate) each, with room for `n_more` parts beyond it.
pub(crate) fn join(F: &mut Vec<f64>, h: f64, start: (&[f64], &[f64]), end: (&[f64], &[f64]), n_more: usize) {
    let size = start.0.len();
    F.resize((3 + n_more) * size, 0.0);
    for i in 0..size {
        let change = end.0[i] - start.0[i];
        F[i] = change;
        F[size + i] = h * start.1[i] - change;
        F[2 * size + i] = 2.0 * change - h * (start.1[i] + end.1[i]);
    }
}
