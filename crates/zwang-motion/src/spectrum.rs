//! Eigenvalues and eigenvectors of a real matrix.

use faer::MatRef;

/// An eigenvalue, real and imaginary part, with its vector, whose largest entry is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// The eigenvalue λ: real and imaginary part.
    pub value: (f64, f64),
    /// x with F x = λ x.
    pub vector: Vec<(f64, f64)>,
}

/// The eigenvalues of an n x n matrix, given row by row, in order of decreasing real part; `None` if an entry is not
/// finite or the iteration does not converge.
pub fn eigen(matrix: &[f64], n: usize) -> Option<Vec<Eigen>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let found = MatRef::from_row_major_slice(matrix, n, n).eigen().ok()?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    let one = |k: usize| {
        let column: Vec<faer::c64> = (0..n).map(|i| vectors[(i, k)]).collect();
        let largest = column.iter().copied().max_by(|x, y| x.norm_sqr().total_cmp(&y.norm_sqr()))?;
        let vector = column.iter().map(|x| x / largest).map(|x| (x.re, x.im)).collect();
        Some(Eigen { value: (values[k].re, values[k].im), vector })
    };
    let mut all = (0..n).map(one).collect::<Option<Vec<Eigen>>>()?;
    all.sort_by(|x, y| y.value.0.total_cmp(&x.value.0).then(y.value.1.total_cmp(&x.value.1)));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A damped oscillator, x'' + 2 x' + 5 x = 0: λ = −1 ± 2i, and the velocity is λ times the position.
    #[test]
    fn a_damped_oscillator_has_its_pair() {
        let all = eigen(&[0.0, 1.0, -5.0, -2.0], 2).unwrap();
        for (found, im) in all.iter().zip([2.0, -2.0]) {
            assert!((found.value.0 + 1.0).abs() < 1e-14 && (found.value.1 - im).abs() < 1e-14, "{found:?}");
            let [(a, b), (c, d)] = found.vector[..] else { panic!("two entries") };
            assert!((c - (-a - im * b)).abs() < 1e-14 && (d - (im * a - b)).abs() < 1e-14, "{found:?}");
        }
    }
}
