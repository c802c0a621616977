//! Least squares with bounds: what bounded forces can do of what is asked.

use crate::factor::{dot, largest, small};

/// min |D w − d| subject to |wᵢ| ≤ limitᵢ, by an active set (Stark and Parker).
#[derive(Default)]
pub(crate) struct Bounded {
    /// −1 or 1 where w is at that bound, 0 where it is free.
    side: Vec<f64>,
    H: Vec<f64>,
    g: Vec<f64>,
    /// The forces that are free, the best values of these, and their part of H.
    free: Vec<usize>,
    best: Vec<f64>,
    part: Vec<f64>,
}

/// Where D leaves w open the shortest one is taken: this part of the size of DᵀD stands for "as little force as possible".
const SHORTEST: f64 = 1e-12;

/// A bound is left if that gains more than this beside the size of the gradient; below it is rounding.
const GAIN: f64 = 1e-11;

impl Bounded {
    /// Starts from the w at hand, which may lie beyond its bounds. `margins` become the distance to the bound, or, where it acts,
    /// minus the force it holds back.
    /// Where D leaves w open, wᵀW w is least.
    pub(crate) fn solve(
        &mut self,
        (D, d): (&[f64], &[f64]),
        W: &[f64],
        limit: &[f64],
        w: &mut [f64],
        margins: &mut [f64],
    ) {
        let k = w.len();
        self.square(D, d, W, k);
        self.side.clear();
        for (w, limit) in w.iter_mut().zip(limit) {
            self.side.push(if w.abs() > *limit { w.signum() } else { 0.0 });
            *w = w.clamp(-limit, *limit);
        }
        // each round frees or binds one force and lowers |D w − d|, so that none comes twice
        let most = 10 * (k + 1) * (k + 1);
        for _ in 0..most {
            self.settle(limit, w);
            if !self.free_one(w) {
                break;
            }
        }
        for i in 0..k {
            let pull = self.gradient(i, w) / self.H[i * k + i];
            margins[i] = if self.side[i] == 0.0 { limit[i] - w[i].abs() } else { -pull.abs() };
        }
    }

    /// H = DᵀD, with a little of W, and g = Dᵀd.
    fn square(&mut self, D: &[f64], d: &[f64], W: &[f64], k: usize) {
        self.H.clear();
        self.H.resize(k * k, 0.0);
        self.g.clear();
        self.g.resize(k, 0.0);
        for (row, d) in D.chunks_exact(k.max(1)).zip(d) {
            for i in 0..k {
                self.g[i] += row[i] * d;
                (0..k).for_each(|j| self.H[i * k + j] += row[i] * row[j]);
            }
        }
        let top = |X: &[f64]| (0..k).fold(0.0, |top: f64, i| top.max(X[i * k + i]));
        let share = SHORTEST * top(&self.H) / top(W);
        self.H.iter_mut().zip(W).for_each(|(h, w)| *h += share * w);
    }

    fn gradient(&self, i: usize, w: &[f64]) -> f64 {
        let k = w.len();
        self.g[i] - dot(&self.H[i * k..(i + 1) * k], w)
    }

    /// The best free forces, others staying at their bounds; those that would pass theirs are bound on the way.
    fn settle(&mut self, limit: &[f64], w: &mut [f64]) {
        let k = w.len();
        for _ in 0..=k {
            self.free.clear();
            self.free.extend((0..k).filter(|&i| self.side[i] == 0.0));
            self.find_best(w);
            let (free, best) = (&self.free, &self.best);
            // how far towards the best one can go
            let part = |(&i, &z): (&usize, &f64)| match z.abs() > limit[i] {
                true => (limit[i].copysign(z) - w[i]) / (z - w[i]),
                false => 1.0,
            };
            let first = free.iter().zip(best).map(|pair| (*pair.0, part(pair))).min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((hit, share)) = first else { return };
            for (&i, z) in free.iter().zip(best) {
                w[i] += share.clamp(0.0, 1.0) * (z - w[i]);
            }
            if share >= 1.0 {
                return;
            }
            let at = free.iter().position(|&i| i == hit).map_or(0.0, |at| best[at]);
            self.side[hit] = at.signum();
            w[hit] = limit[hit].copysign(at);
        }
    }

    /// The minimum over the free forces; where they are where there is none.
    fn find_best(&mut self, w: &[f64]) {
        let Bounded { side, H, g, free, best, part } = self;
        let (k, f) = (w.len(), free.len());
        part.clear();
        best.clear();
        for &i in free.iter() {
            let bound: f64 = (0..k).filter(|&j| side[j] != 0.0).map(|j| H[i * k + j] * w[j]).sum();
            best.push(g[i] - bound);
            part.extend(free.iter().map(|&j| H[i * k + j]));
        }
        if small::cholesky(part, f, 0.0) {
            small::solve_lower(part, f, best);
            small::solve_lower_transposed(part, f, best);
        } else {
            best.iter_mut().zip(free.iter()).for_each(|(z, &i)| *z = w[i]);
        }
    }

    /// Frees the bound force whose way back gains most; false if none gains.
    fn free_one(&mut self, w: &[f64]) -> bool {
        let floor = GAIN * largest(&self.g);
        let gain = |i: usize| -self.side[i] * self.gradient(i, w);
        let bound = (0..w.len()).filter(|&i| self.side[i] != 0.0 && gain(i) > floor);
        let Some(i) = bound.max_by(|&i, &j| gain(i).total_cmp(&gain(j))) else { return false };
        self.side[i] = 0.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(D: &[f64], d: &[f64], limit: &[f64], start: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut w, mut margins, k) = (start.to_vec(), vec![0.0; start.len()], start.len());
        let W: Vec<f64> = (0..k * k).map(|at| if at % (k + 1) == 0 { 1.0 } else { 0.0 }).collect();
        Bounded::default().solve((D, d), &W, limit, &mut w, &mut margins);
        (w, margins)
    }

    /// One force: it stops at its bound, and the margin is what it would need beyond.
    #[test]
    fn one_force_stops_at_its_bound() {
        let (w, margins) = solve(&[2.0], &[10.0], &[3.0], &[5.0]);
        assert_eq!(w, [3.0]);
        assert!((margins[0] + 2.0).abs() < 1e-9, "{margins:?}");
    }

    /// min (w₀ + w₁ − 4)² + (w₀ − w₁)² with w₀ ≤ 1: the other one makes up for it, 2 (w₁ − 3) + 2 (w₁ − 1) = 0.
    #[test]
    fn the_free_force_makes_up_for_the_bound_one() {
        let (w, margins) = solve(&[1.0, 1.0, 1.0, -1.0], &[4.0, 0.0], &[1.0, 9.0], &[2.0, 2.0]);
        assert!((w[0] - 1.0).abs() < 1e-12 && (w[1] - 2.0).abs() < 1e-9, "{w:?}");
        assert!(margins[0] < 0.0 && (margins[1] - 7.0).abs() < 1e-9, "{margins:?}");
    }

    /// Random programs meet the conditions of Karush, Kuhn and Tucker.
    #[test]
    fn random_programs_are_solved() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        for round in 0..200 {
            let (k, r) = (1 + round % 5, 5);
            let D: Vec<f64> = (0..r * k).map(|_| random()).collect();
            let d: Vec<f64> = (0..r).map(|_| 3.0 * random()).collect();
            let limit: Vec<f64> = (0..k).map(|_| 0.1 + random().abs()).collect();
            let start: Vec<f64> = (0..k).map(|_| 3.0 * random()).collect();
            let (w, _) = solve(&D, &d, &limit, &start);
            for i in 0..k {
                let slope: f64 = (0..r).map(|a| D[a * k + i] * (d[a] - dot(&D[a * k..(a + 1) * k], &w))).sum();
                assert!(w[i].abs() <= limit[i]);
                match limit[i] - w[i].abs() > 1e-9 {
                    true => assert!(slope.abs() < 1e-9, "{round}: {slope:e}"),
                    false => assert!(slope * w[i] > -1e-9, "{round}: {slope:e}"),
                }
            }
        }
    }
}
