//! Least squares with bounds: the part of the control target that bounded forces can achieve.

use crate::{
    factor::{dot, norm, small},
    tolerance,
};

/// min |D w − d| subject to |wᵢ| ≤ limitᵢ, and of those w the one with wᵀW w least, by an active set (Stark and Parker).
///
/// Both aims are kept apart, the second counts only where the first leaves w open: for forces F that are free, the others B
/// being at their bounds, with W_FF = R Rᵀ,
///
/// $$ w_F = s + R^{-T} C^{+}(d - D_B w_B - D_F s), \qquad s = -W_{FF}^{-1}W_{FB}w_B, \qquad C = D_F R^{-T} $$
#[derive(Default)]
pub(crate) struct Bounded {
    /// −1 or 1 where w is at that bound, 0 where it is free.
    side: Vec<f64>,
    /// The forces that are free, and the best values of these.
    free: Vec<usize>,
    best: Vec<f64>,
    /// R, and C by columns, which become those of U Σ; V by columns; σ⁻², zero where σ is rounding.
    root: Vec<f64>,
    columns: Vec<f64>,
    V: Vec<f64>,
    inverse: Vec<f64>,
    /// A row of C, v = C⁺(…), d − D w, and μ with D_Fᵀμ = (W w)_F.
    row: Vec<f64>,
    v: Vec<f64>,
    rest: Vec<f64>,
    mu: Vec<f64>,
}

/// D, d and W.
#[derive(Copy, Clone)]
struct BoundedProblem<'a> {
    D: &'a [f64],
    d: &'a [f64],
    W: &'a [f64],
    k: usize,
}

impl BoundedProblem<'_> {
    /// Dᵢᵀx.
    fn column_times(&self, i: usize, x: &[f64]) -> f64 {
        self.D.iter().skip(i).step_by(self.k).zip(x).map(|(a, x)| a * x).sum()
    }

    /// |Dᵢ|.
    fn length(&self, i: usize) -> f64 {
        self.D.iter().skip(i).step_by(self.k).map(|a| a * a).sum::<f64>().sqrt()
    }
}

/// What it gains to leave a bound, above which it is no rounding, and by how much the gain falls per force.
struct Gain {
    value: f64,
    floor: f64,
    fall: f64,
    /// `true` if it is |D w − d| that falls.
    is_first: bool,
}

impl Bounded {
    /// Starts from the current w, which may lie beyond its bounds. `margins` become the distance to the bound, or, where it acts,
    /// minus the force it holds back.
    pub(crate) fn solve(
        &mut self,
        (D, d): (&[f64], &[f64]),
        W: &[f64],
        limit: &[f64],
        w: &mut [f64],
        margins: &mut [f64],
    ) {
        let k = w.len();
        let problem = BoundedProblem { D, d, W, k };
        self.side.clear();
        for (w, limit) in w.iter_mut().zip(limit) {
            self.side.push(if w.abs() > *limit { w.signum() } else { 0.0 });
            *w = w.max(-limit).min(*limit);
        }
        // each round frees or binds one force and comes closer, so that none comes twice
        let most = 10 * (k + 1) * (k + 1);
        for _ in 0..most {
            self.settle(problem, limit, w);
            if !self.free_one(problem, w) {
                break;
            }
        }
        for i in 0..k {
            margins[i] = match self.side[i] == 0.0 {
                true => limit[i] - w[i].abs(),
                false => {
                    let Gain { value, fall, .. } = self.gain(problem, i, w);
                    if fall > 0.0 { value.min(0.0) / fall } else { 0.0 }
                }
            };
        }
    }

    /// The best free forces, others staying at their bounds; those that would pass theirs are bound on the way.
    fn settle(&mut self, problem: BoundedProblem, limit: &[f64], w: &mut [f64]) {
        let k = w.len();
        for _ in 0..=k {
            self.free.clear();
            self.free.extend((0..k).filter(|&i| self.side[i] == 0.0));
            self.find_best(problem, w);
            let (free, best) = (&self.free, &self.best);
            // how far towards the best one can go
            let part = |(&i, &z): (&usize, &f64)| match z.abs() > limit[i] {
                true => (limit[i].copysign(z) - w[i]) / (z - w[i]),
                false => 1.0,
            };
            let first = free.iter().zip(best).map(|pair| (*pair.0, part(pair))).min_by(|a, b| a.1.total_cmp(&b.1));
            let (hit, share) = first.unwrap_or((0, 1.0));
            for (&i, z) in free.iter().zip(best) {
                w[i] += share.clamp(0.0, 1.0) * (z - w[i]);
            }
            if share >= 1.0 {
                free.iter().zip(best).for_each(|(&i, z)| w[i] = *z);
                self.look(problem, w);
                return;
            }
            let at = free.iter().position(|&i| i == hit).map_or(0.0, |at| best[at]);
            self.side[hit] = at.signum();
            w[hit] = limit[hit].copysign(at);
        }
        self.look(problem, w);
    }

    /// The minimum over the free forces; where they are where W has no root.
    fn find_best(&mut self, problem: BoundedProblem, w: &[f64]) {
        let BoundedProblem { D, d, W, k } = problem;
        let Bounded { side, free, best, root, columns, V, inverse, row, v, rest, .. } = self;
        let (f, r) = (free.len(), d.len());
        let bound = |row: &[f64]| (0..k).filter(|&j| side[j] != 0.0).map(|j| row[j] * w[j]).sum::<f64>();
        root.clear();
        best.clear();
        for &i in free.iter() {
            let of = &W[i * k..(i + 1) * k];
            best.push(-bound(of));
            root.extend(free.iter().map(|&j| of[j]));
        }
        if !small::cholesky(root, f, 0.0) {
            inverse.clear();
            best.iter_mut().zip(free.iter()).for_each(|(z, &i)| *z = w[i]);
            return;
        }
        small::solve_lower(root, f, best);
        small::solve_lower_transposed(root, f, best);
        // C by columns, with rows of zeros where it has fewer rows than columns
        let m = r.max(f);
        columns.clear();
        columns.resize(m * f, 0.0);
        rest.clear();
        for l in 0..r {
            let of = &D[l * k..(l + 1) * k];
            row.clear();
            row.extend(free.iter().map(|&j| of[j]));
            rest.push(d[l] - bound(of) - dot(row, best));
            small::solve_lower(root, f, row);
            row.iter().enumerate().for_each(|(a, x)| columns[a * m + l] = *x);
        }
        V.clear();
        V.resize(f * f, 0.0);
        small::jacobi_svd(columns, m, f, V);
        let square = |a: usize| dot(&columns[a * m..a * m + r], &columns[a * m..a * m + r]);
        let top = (0..f).map(square).fold(0.0, f64::max);
        inverse.clear();
        inverse.extend(
            (0..f).map(square).map(|x| {
                if x > tolerance::CONTROL_SINGULAR * tolerance::CONTROL_SINGULAR * top { 1.0 / x } else { 0.0 }
            }),
        );
        v.clear();
        v.resize(f, 0.0);
        for a in (0..f).filter(|&a| inverse[a] > 0.0) {
            let part = inverse[a] * dot(&columns[a * m..a * m + r], rest);
            v.iter_mut().zip(&V[a * f..(a + 1) * f]).for_each(|(v, x)| *v += part * x);
        }
        row.clone_from(v);
        small::solve_lower_transposed(root, f, row);
        best.iter_mut().zip(row.iter()).for_each(|(z, x)| *z += x);
    }

    /// d − D w and μ at the best of the free forces.
    fn look(&mut self, BoundedProblem { D, d, k, .. }: BoundedProblem, w: &[f64]) {
        let Bounded { free, columns, V, inverse, v, rest, mu, .. } = self;
        let (f, r) = (free.len(), d.len());
        rest.clear();
        rest.extend((0..r).map(|l| d[l] - dot(&D[l * k..(l + 1) * k], w)));
        mu.clear();
        mu.resize(r, 0.0);
        for a in (0..inverse.len()).filter(|&a| inverse[a] > 0.0) {
            let part = inverse[a] * dot(&V[a * f..(a + 1) * f], v);
            mu.iter_mut().zip(&columns[a * r.max(f)..]).for_each(|(mu, x)| *mu += part * x);
        }
    }

    /// What it gains to leave the bound of force i.
    fn gain(&self, problem: BoundedProblem, i: usize, w: &[f64]) -> Gain {
        let (length, side) = (problem.length(i), self.side[i]);
        let value = -side * problem.column_times(i, &self.rest);
        let floor = tolerance::BOUND_GAIN * length * norm(problem.d);
        if value.abs() > floor || !self.is_spare(problem, i, length) {
            return Gain { value, floor, fall: length * length, is_first: true };
        }
        let of = &problem.W[i * problem.k..(i + 1) * problem.k];
        let value = side * (dot(of, w) - problem.column_times(i, &self.mu));
        let size: f64 = of.iter().zip(w).map(|(a, w)| (a * w).abs()).sum();
        Gain { value, floor: tolerance::BOUND_GAIN * (size + length * norm(&self.mu)), fall: of[i], is_first: false }
    }

    /// `true` if the free forces can compensate a change of force i.
    fn is_spare(&self, problem: BoundedProblem, i: usize, length: f64) -> bool {
        let (f, r) = (self.free.len(), problem.d.len());
        let mut given = 0.0;
        for a in (0..self.inverse.len()).filter(|&a| self.inverse[a] > 0.0) {
            let part = problem.column_times(i, &self.columns[a * r.max(f)..a * r.max(f) + r]);
            given += self.inverse[a] * part * part;
        }
        length * length - given <= tolerance::DEPENDENT_COLUMN * length * length
    }

    /// Frees the bound force whose way back gains most, of |D w − d| if there is one, else of wᵀW w; false if none gains.
    fn free_one(&mut self, problem: BoundedProblem, w: &[f64]) -> bool {
        let mut most: Option<(usize, Gain)> = None;
        for i in (0..w.len()).filter(|&i| self.side[i] != 0.0) {
            let gain = self.gain(problem, i, w);
            let is_more =
                most.as_ref().is_none_or(|(_, other)| (gain.is_first, gain.value) > (other.is_first, other.value));
            if gain.value > gain.floor && is_more {
                most = Some((i, gain));
            }
        }
        let Some((i, _)) = most else { return false };
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

    /// w₀ + w₁ + w₂ = 4 with w₀ ≤ 1/2: the other two share the rest, to the last digits; and a force that does nothing of what is
    /// asked stays zero however close its bound is.
    #[test]
    fn spare_forces_share_alike() {
        let (w, margins) = solve(&[1.0, 1.0, 1.0], &[4.0], &[0.5, 20.0, 30.0], &[4.0 / 3.0; 3]);
        assert!(w.iter().zip([0.5, 1.75, 1.75]).all(|(x, y)| (x - y).abs() < 1e-14), "{w:?}");
        // without its bound it would be 4/3 like the others: W asks for 1.75 − 0.5 more
        assert!((margins[0] + 1.25).abs() < 1e-12, "{margins:?}");
        for bound in [2.0, 0.3, 1e-6] {
            let (w, _) = solve(&[0.0, 1.0], &[3.0], &[bound, 1.0], &[5.0, 3.0]);
            assert!(w[0].abs() < 1e-14 && (w[1] - 1.0).abs() < 1e-14, "{bound}: {w:?}");
        }
    }

    /// Random programs satisfy the conditions of Karush, Kuhn and Tucker.
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
