//! Columns of numbers as smooth functions: interpolating splines.
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use std::fmt;

/// The degree of the pieces; second derivatives, which enter forces, are then smooth themselves.
const DEGREE: usize = 5;

/// The fraction of the range by which an argument may exceed an end: times are sums of steps, which round.
const BEYOND: f64 = 1e-9;

/// A smooth function that interpolates the rows of a table.
///
/// It is the spline of degree 5 with four continuous derivatives. The second and third rows from each end are not knots
/// ("not a knot" for cubic splines), so polynomials up to degree 5 are reproduced exactly. Up to six rows give a single
/// polynomial.
#[derive(Clone, PartialEq)]
pub struct Table {
    name: String,
    column: String,
    order: u32,
    /// The beginnings of the pieces and the end of the last one.
    knots: Vec<f64>,
    /// c₀ + c₁ s + … + c₅ s⁵, where s is the distance from the beginning of the piece.
    pieces: Vec<[f64; DEGREE + 1]>,
}

/// The reason why rows do not form a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableError {
    /// There are fewer than two rows.
    TooFew,
    /// The argument of this row, counted from 0, is not larger than that of the previous row.
    NotGrowing(usize),
    /// A number of this row is not finite.
    NotFinite(usize),
    /// The numbers are too far apart for a spline: a coefficient overflows.
    Overflow,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({:?}, order {}, {} pieces)", self.name, self.order, self.pieces.len())
    }
}

impl Table {
    /// The spline through (x, y). `name` and `column` are the user's names; `column` is empty if there is only one.
    pub fn new(name: &str, column: &str, x: &[f64], y: &[f64]) -> Result<Table, TableError> {
        let n = x.len().min(y.len());
        if n < 2 {
            return Err(TableError::TooFew);
        }
        if let Some(row) = (0..n).find(|&i| !(x[i].is_finite() && y[i].is_finite())) {
            return Err(TableError::NotFinite(row));
        }
        if let Some(row) = (1..n).find(|&i| x[i] <= x[i - 1]) {
            return Err(TableError::NotGrowing(row));
        }
        let degree = DEGREE.min(n - 1);
        let spline = Spline::new(degree, &x[..n]);
        let weights = spline.interpolate(&x[..n], &y[..n]);
        let knots = spline.breaks();
        let pieces: Vec<[f64; DEGREE + 1]> =
            knots[..knots.len() - 1].iter().map(|&at| spline.piece(&weights, at)).collect();
        match pieces.iter().flatten().all(|c| c.is_finite()) {
            true => Ok(Table { name: name.into(), column: column.into(), order: 0, knots, pieces }),
            false => Err(TableError::Overflow),
        }
    }

    /// The user's name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column that is interpolated; empty if the table has only one.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The number of differentiations.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// The first and the last argument.
    pub fn range(&self) -> (f64, f64) {
        (self.knots[0], self.knots[self.knots.len() - 1])
    }

    /// The beginnings of the pieces and the end of the last one.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The coefficients of each piece in powers of the distance from its beginning, lowest power first.
    pub fn pieces(&self) -> &[[f64; DEGREE + 1]] {
        &self.pieces
    }

    /// The value at x; NaN outside the range.
    pub fn value(&self, x: f64) -> f64 {
        let (first, last) = self.range();
        let slack = BEYOND * (last - first);
        if !(x >= first - slack && x <= last + slack) {
            return f64::NAN;
        }
        let piece = self.knots.partition_point(|knot| *knot <= x).clamp(1, self.pieces.len()) - 1;
        let s = x - self.knots[piece];
        self.pieces[piece].iter().rev().fold(0.0, |sum, c| sum * s + c)
    }

    /// The derivative, piece by piece.
    pub fn derivative(&self) -> Table {
        let slope =
            |c: &[f64; DEGREE + 1]| std::array::from_fn(|k| if k < DEGREE { (k + 1) as f64 * c[k + 1] } else { 0.0 });
        Table { order: self.order + 1, pieces: self.pieces.iter().map(slope).collect(), ..self.clone() }
    }
}

/// B-splines of one degree over a sequence of knots, with the ends repeated.
struct Spline {
    degree: usize,
    knots: Vec<f64>,
}

impl Spline {
    fn new(degree: usize, x: &[f64]) -> Spline {
        let n = x.len();
        // the number of B-splines equals the number of rows: all rows but three at each end are inner knots
        let inner = if n > degree + 1 { &x[3..n - 3] } else { &[][..] };
        let ends = |at: f64| std::iter::repeat_n(at, degree + 1);
        Spline { degree, knots: ends(x[0]).chain(inner.iter().copied()).chain(ends(x[n - 1])).collect() }
    }

    /// The distinct knots.
    fn breaks(&self) -> Vec<f64> {
        self.knots[self.degree..self.knots.len() - self.degree].to_vec()
    }

    /// The k with knots[k] ≤ x < knots[k+1]; the last piece includes its end.
    fn span(&self, x: f64) -> usize {
        let last = self.knots.len() - self.degree - 2;
        (self.knots.partition_point(|knot| *knot <= x).max(1) - 1).clamp(self.degree, last)
    }

    /// The B-splines of degree `degree` that do not vanish on the span, at x (Cox and de Boor).
    fn basis(&self, span: usize, x: f64, degree: usize) -> [f64; DEGREE + 1] {
        let mut basis = [0.0; DEGREE + 1];
        basis[0] = 1.0;
        for d in 1..=degree {
            let mut carried = 0.0;
            for k in 0..d {
                let (left, right) = (self.knots[span + 1 + k - d], self.knots[span + 1 + k]);
                let part = basis[k] / (right - left);
                basis[k] = carried + (right - x) * part;
                carried = (x - left) * part;
            }
            basis[d] = carried;
        }
        basis
    }

    /// The weights of the B-splines whose sum interpolates every row.
    ///
    /// The matrix is totally positive, so elimination needs no pivoting (de Boor and Pinkus).
    fn interpolate(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let (n, p) = (x.len(), self.degree);
        // row i stores the columns i − p … i + p
        let width = 2 * p + 1;
        let mut band = vec![0.0; n * width];
        for (i, &x) in x.iter().enumerate() {
            let span = self.span(x);
            let basis = self.basis(span, x, p);
            for (k, value) in basis[..=p].iter().enumerate() {
                if let Some(place) = (span + k).checked_sub(i).filter(|place| *place < width) {
                    band[i * width + place] = *value;
                }
            }
        }
        let mut weights = y.to_vec();
        for i in 0..n {
            for row in i + 1..(i + p + 1).min(n) {
                let factor = band[row * width + p + i - row] / band[i * width + p];
                if factor != 0.0 {
                    (i..(i + p + 1).min(n))
                        .for_each(|c| band[row * width + p + c - row] -= factor * band[i * width + p + c - i]);
                    weights[row] -= factor * weights[i];
                }
            }
        }
        for i in (0..n).rev() {
            let after: f64 = (i + 1..(i + p + 1).min(n)).map(|c| band[i * width + p + c - i] * weights[c]).sum();
            weights[i] = (weights[i] - after) / band[i * width + p];
        }
        weights
    }

    /// The polynomial on the piece that begins at a knot: its derivatives there, divided by factorials.
    fn piece(&self, weights: &[f64], at: f64) -> [f64; DEGREE + 1] {
        let (p, span) = (self.degree, self.span(at));
        let mut local: Vec<f64> = weights[span - p..=span].to_vec();
        let mut coefficients = [0.0; DEGREE + 1];
        let mut factorial = 1.0;
        for order in 0..=p {
            let degree = p - order;
            let basis = self.basis(span, at, degree);
            coefficients[order] = local.iter().zip(&basis).map(|(w, b)| w * b).sum::<f64>() / factorial;
            // weights of the derivative: degree (w[k+1] − w[k]) / (knots[k+1+degree] − knots[k+1])
            let first = span - degree;
            for k in 0..degree {
                let gap = self.knots[first + k + 1 + degree] - self.knots[first + k + 1];
                local[k] = degree as f64 * (local[k + 1] - local[k]) / gap;
            }
            local.truncate(degree);
            factorial *= (order + 1) as f64;
        }
        coefficients
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, f: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        // unevenly spaced on purpose
        let x: Vec<f64> = (0..n).map(|i| i as f64 / (n - 1) as f64).map(|s| 3.0 * s + 0.2 * (5.0 * s).sin()).collect();
        let y = x.iter().map(|x| f(*x)).collect();
        (x, y)
    }

    /// A polynomial of degree at most 5 is reproduced everywhere, with all its derivatives.
    #[test]
    fn polynomials_are_met_exactly() {
        for n in 2..40 {
            let degree = (n - 1).min(5) as i32;
            let f = |x: f64| (0..=degree).map(|k| (k + 1) as f64 * (x - 1.0).powi(k)).sum::<f64>();
            let slope = |x: f64| (1..=degree).map(|k| (k * (k + 1)) as f64 * (x - 1.0).powi(k - 1)).sum::<f64>();
            let (x, y) = rows(n, f);
            let table = Table::new("p", "", &x, &y).unwrap();
            let (first, last) = table.range();
            for k in 0..=100 {
                let at = first + (last - first) * k as f64 / 100.0;
                assert!((table.value(at) - f(at)).abs() < 1e-10 * (1.0 + f(at).abs()), "{n} rows at {at}");
                let found = table.derivative().value(at);
                assert!((found - slope(at)).abs() < 1e-8 * (1.0 + slope(at).abs()), "{n} rows: {found} at {at}");
            }
        }
    }

    /// The error of a sine decreases with the sixth power of the row distance, that of its second derivative with the
    /// fourth.
    #[test]
    fn errors_fall_as_the_degree_says() {
        let error = |n: usize, order: usize| {
            let (x, y) = rows(n, f64::sin);
            let mut table = Table::new("s", "", &x, &y).unwrap();
            (0..order).for_each(|_| table = table.derivative());
            let (first, last) = table.range();
            let at = |k: usize| first + (last - first) * k as f64 / 1000.0;
            let truth = |x: f64| if order == 0 { x.sin() } else { -x.sin() };
            (0..=1000).fold(0f64, |top, k| top.max((table.value(at(k)) - truth(at(k))).abs()))
        };
        for (order, power) in [(0, 6), (2, 4)] {
            let ratio = error(20, order) / error(40, order);
            let wanted = (39f64 / 19.0).powi(power);
            assert!(ratio > 0.6 * wanted && ratio < 2.0 * wanted, "order {order}: {ratio} beside {wanted}");
        }
        assert!(error(40, 0) < 1e-8 && error(40, 2) < 1e-5, "{:e} {:e}", error(40, 0), error(40, 2));
    }

    /// The spline interpolates its rows, its fourth derivative is continuous, and outside its range it is NaN.
    #[test]
    fn rough_rows_are_met_smoothly() {
        let (x, y) = rows(60, |x| (40.0 * x).sin().signum());
        let mut table = Table::new("rough", "", &x, &y).unwrap();
        x.iter().zip(&y).for_each(|(x, y)| assert!((table.value(*x) - y).abs() < 1e-12));
        let (first, last) = table.range();
        assert!(
            table.value(last + 0.01).is_nan() && table.value(first - 0.01).is_nan() && table.value(f64::NAN).is_nan()
        );
        (0..4).for_each(|_| table = table.derivative());
        let size = table.pieces().iter().fold(0f64, |top, c| top.max(c[0].abs()));
        for knot in &table.knots()[1..table.knots().len() - 1] {
            let (before, after) = (table.value(knot.next_down()), table.value(*knot));
            assert!((before - after).abs() < 1e-9 * size, "{before} {after} at {knot}");
        }
    }

    #[test]
    fn rows_that_are_no_table_are_reported() {
        let table = |x: &[f64], y: &[f64]| Table::new("t", "", x, y).err();
        assert_eq!(table(&[1.0], &[1.0]), Some(TableError::TooFew));
        assert_eq!(table(&[0.0, 1.0, 1.0], &[0.0; 3]), Some(TableError::NotGrowing(2)));
        assert_eq!(table(&[0.0, 1.0, 2.0], &[0.0, f64::NAN, 0.0]), Some(TableError::NotFinite(1)));
        assert_eq!(table(&[0.0, 1e-300], &[-1e300, 1e300]), Some(TableError::Overflow));
    }
}
