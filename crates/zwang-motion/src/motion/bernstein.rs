//! Polynomials in Bernstein form on [0, 1]: they lie between their least and their largest coefficient.

/// The highest degree: that of the dense output of order 8.
pub(super) const HIGHEST_DEGREE: usize = 7;

/// A polynomial Σ cₖ Bₖ(θ) of a degree of at most [`HIGHEST_DEGREE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Bernstein {
    degree: usize,
    c: [f64; HIGHEST_DEGREE + 1],
}

impl Bernstein {
    /// The polynomial with these coefficients.
    pub(super) fn new(coefficients: &[f64]) -> Bernstein {
        let mut c = [0.0; HIGHEST_DEGREE + 1];
        c[..coefficients.len()].copy_from_slice(coefficients);
        Bernstein { degree: coefficients.len() - 1, c }
    }

    /// The cubic through both ends; `start` and `end` are values and h times their rates.
    #[inline]
    pub(super) fn cubic(start: (f64, f64), end: (f64, f64)) -> Bernstein {
        let (y0, y1) = (start.0, end.0);
        let c = [y0, y0 + start.1 / 3.0, y1 - end.1 / 3.0, y1, 0.0, 0.0, 0.0, 0.0];
        Bernstein { degree: 3, c }
    }

    /// The nested polynomial y₀ + θ(F₀ + (1 − θ)(F₁ + θ(F₂ + …))) of a dense output with at most [`HIGHEST_DEGREE`] parts.
    pub(super) fn nested(y0: f64, n_parts: usize, part: impl Fn(usize) -> f64) -> Bernstein {
        let (mut c, mut degree) = ([0.0; HIGHEST_DEGREE + 1], 0);
        for k in (0..n_parts).rev() {
            c[..=degree].iter_mut().for_each(|x| *x += part(k));
            let (before, new) = (c, degree + 1);
            for j in 0..=new {
                // θ b has the coefficients j/n b[j − 1], (1 − θ) b has (n − j)/n b[j]
                let (weight, from) = if k % 2 == 0 { (j, j.wrapping_sub(1)) } else { (new - j, j) };
                c[j] = if weight == 0 { 0.0 } else { weight as f64 / new as f64 * before[from] };
            }
            degree = new;
        }
        c[..=degree].iter_mut().for_each(|x| *x += y0);
        Bernstein { degree, c }
    }

    /// The value at θ (de Casteljau).
    #[inline]
    pub(super) fn value(&self, theta: f64) -> f64 {
        let (mut c, rest) = (self.c, 1.0 - theta);
        for k in (1..=self.degree).rev() {
            for j in 0..k {
                c[j] = rest * c[j] + theta * c[j + 1];
            }
        }
        c[0]
    }

    /// The part on [0, θ], on [0, 1] again.
    pub(super) fn until(&self, theta: f64) -> Bernstein {
        let (mut c, mut left, rest) = (self.c, self.c, 1.0 - theta);
        for k in (1..=self.degree).rev() {
            for j in 0..k {
                c[j] = rest * c[j] + theta * c[j + 1];
            }
            left[self.degree + 1 - k] = c[0];
        }
        Bernstein { degree: self.degree, c: left }
    }

    /// The part on [θ, 1], on [0, 1] again.
    pub(super) fn from(&self, theta: f64) -> Bernstein {
        let (mut c, mut right, rest) = (self.c, self.c, 1.0 - theta);
        for k in (1..=self.degree).rev() {
            for j in 0..k {
                c[j] = rest * c[j] + theta * c[j + 1];
            }
            right[k - 1] = c[k - 1];
        }
        Bernstein { degree: self.degree, c: right }
    }

    /// The part on [low, high].
    pub(super) fn portion(&self, low: f64, high: f64) -> Bernstein {
        let left = if high < 1.0 { self.until(high) } else { *self };
        if low > 0.0 { left.from(low / high) } else { left }
    }

    /// The least and the largest coefficient, between which the values lie.
    #[inline]
    pub(super) fn range(&self) -> (f64, f64) {
        let c = &self.c[..=self.degree];
        (c.iter().fold(f64::INFINITY, |l, x| l.min(*x)), c.iter().fold(f64::NEG_INFINITY, |h, x| h.max(*x)))
    }
}

/// The nodes 1/2 − cos(πk/7)/2 (Chebyshev and Lobatto), and the matrix that takes values there to coefficients of degree 7.
pub(super) struct Interpolation {
    pub(super) nodes: [f64; HIGHEST_DEGREE + 1],
    inverse: [[f64; HIGHEST_DEGREE + 1]; HIGHEST_DEGREE + 1],
}

impl Interpolation {
    pub(super) fn new() -> Interpolation {
        let nodes =
            std::array::from_fn(|k| 0.5 - 0.5 * (std::f64::consts::PI * k as f64 / HIGHEST_DEGREE as f64).cos());
        let unit = |k: usize| {
            let mut c = [0.0; HIGHEST_DEGREE + 1];
            c[k] = 1.0;
            Bernstein { degree: HIGHEST_DEGREE, c }
        };
        // Gauss and Jordan on [B | 1]; the pivots are the Bernstein polynomials at their own places, which are largest there
        let mut rows: [[f64; HIGHEST_DEGREE + 1]; HIGHEST_DEGREE + 1] =
            nodes.map(|node| std::array::from_fn(|k| unit(k).value(node)));
        let mut inverse = std::array::from_fn(|k| unit(k).c);
        for i in 0..=HIGHEST_DEGREE {
            let pivot = 1.0 / rows[i][i];
            (rows[i], inverse[i]) = (rows[i].map(|x| x * pivot), inverse[i].map(|x| x * pivot));
            for r in (0..=HIGHEST_DEGREE).filter(|r| *r != i) {
                let factor = rows[r][i];
                for k in 0..=HIGHEST_DEGREE {
                    rows[r][k] -= factor * rows[i][k];
                    inverse[r][k] -= factor * inverse[i][k];
                }
            }
        }
        Interpolation { nodes, inverse }
    }

    /// The polynomial of degree 7 through the values at the nodes.
    pub(super) fn through(&self, values: &[f64; HIGHEST_DEGREE + 1]) -> Bernstein {
        let c = self.inverse.map(|row| row.iter().zip(values).map(|(a, v)| a * v).sum());
        Bernstein { degree: HIGHEST_DEGREE, c }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x⁷ − 2x³ + 1 in nested form: parts, values, portions and interpolation agree.
    #[test]
    fn portions_and_interpolation_are_the_same_polynomial() {
        let parts = [0.3, -1.2, 0.7, 2.0, -0.4, 1.1, 0.9];
        let direct = |s: f64| {
            let fold = |sum: f64, k: usize| (sum + parts[k]) * if k.is_multiple_of(2) { s } else { 1.0 - s };
            0.5 + (0..parts.len()).rev().fold(0.0, fold)
        };
        let polynomial = Bernstein::nested(0.5, parts.len(), |k| parts[k]);
        let interpolation = Interpolation::new();
        let again = interpolation.through(&interpolation.nodes.map(direct));
        let portion = polynomial.portion(0.2, 0.7);
        let (low, high) = portion.range();
        for k in 0..=50 {
            let s = f64::from(k) / 50.0;
            let inside = direct(0.2 + 0.5 * s);
            for (found, wanted) in [
                (polynomial.value(s), direct(s)),
                (again.value(s), direct(s)),
                (portion.value(s), inside),
                (polynomial.until(0.7).value(s), direct(0.7 * s)),
                (polynomial.from(0.2).value(s), direct(0.2 + 0.8 * s)),
            ] {
                assert!((found - wanted).abs() < 1e-13, "{found} instead of {wanted} at {s}");
            }
            assert!(low - f64::EPSILON <= inside && inside <= high + f64::EPSILON);
        }
    }

    #[test]
    fn a_cubic_has_its_ends_and_rates() {
        let cubic = Bernstein::cubic((1.0, 0.5), (3.0, -2.0));
        let slope = |s: f64| (cubic.value(s + 0.001) - cubic.value(s - 0.001)) / 0.002;
        assert_eq!((cubic.value(0.0), cubic.value(1.0)), (1.0, 3.0));
        assert!((slope(0.0) - 0.5).abs() < 0.001 && (slope(1.0) + 2.0).abs() < 0.001);
    }
}
