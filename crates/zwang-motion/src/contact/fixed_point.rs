//! Fixed points x = T(x) by Anderson mixing over the last few rounds.

use super::length;
use super::sliding::eliminate;
use crate::{limits, tolerance};

/// The last rounds, as far as they serve the next.
#[derive(Default)]
pub(crate) struct Rounds {
    /// x and T(x) − x of the last round.
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// Changes of x and of T(x) − x from round to round.
    changes: Vec<(Vec<f64>, Vec<f64>)>,
}

/// If the residual grows by more than this factor, the last rounds belong to another place.
const RESIDUAL_GROWN: f64 = 2.0;

impl Rounds {
    /// The next x: T(x), corrected so that T(x) − x vanishes to first order in the last changes.
    pub(crate) fn next(&mut self, x: &[f64], image: &[f64]) -> Vec<f64> {
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let residual = minus(image, x);
        if let Some((before, of_before)) = self.last.take() {
            if length(&residual) > RESIDUAL_GROWN * length(&of_before) {
                self.changes.clear();
            } else {
                self.changes.push((minus(x, &before), minus(&residual, &of_before)));
            }
            if self.changes.len() > limits::CHANGES_REMEMBERED {
                self.changes.remove(0);
            }
        }
        let mut next = image.to_vec();
        for (part, (of_x, of_residual)) in self.parts(&residual).iter().zip(&self.changes) {
            for ((next, dx), dr) in next.iter_mut().zip(of_x).zip(of_residual) {
                *next -= part * (dx + dr);
            }
        }
        self.last = Some((x.to_vec(), residual));
        next
    }

    /// The coefficients of the changes that make up the residual, by least squares.
    fn parts(&self, residual: &[f64]) -> Vec<f64> {
        let n = self.changes.len();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let change = |i: usize| &self.changes[i].1;
        let mut G: Vec<f64> = (0..n * n).map(|k| product(change(k / n), change(k % n))).collect();
        let mut g: Vec<f64> = (0..n).map(|i| product(change(i), residual)).collect();
        (0..n).for_each(|i| G[i * n + i] *= 1.0 + tolerance::MIXING_DAMPING);
        match eliminate(&mut G, &mut g, 0.0) {
            Ok(()) if g.iter().all(|x| x.is_finite()) => g,
            _ => vec![0.0; n],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = (1 − c) x + c e with c down to a hundredth: plain rounds gain a hundredth of the error each, these are exact after as
    /// many as there are directions.
    #[test]
    fn a_linear_map_is_solved_in_as_many_rounds_as_it_has_directions() {
        let (rates, fixed) = ([0.01, 0.1, 1.0], [0.3, -0.2, 0.7]);
        let (mut x, mut rounds) = (vec![0.0; 3], Rounds::default());
        for _ in 0..5 {
            let image: Vec<f64> = (0..3).map(|i| (1.0 - rates[i]) * x[i] + rates[i] * fixed[i]).collect();
            x = rounds.next(&x, &image);
        }
        assert!(x.iter().zip(&fixed).all(|(x, y)| (x - y).abs() < 1e-9), "{x:?}");
    }
}
