//! Linear relations between columns of numbers, and numbers as short fractions.

use crate::{analysis::dot, tolerance};

/// A relation Σ c column = 0: index and c.
pub(super) type Relation = Vec<(usize, f64)>;

/// For each column that depends on earlier ones, the relation Σ c column = 0: index and c, the column itself last with
/// c = 1.
pub(super) fn null_vectors(columns: &[Vec<f64>]) -> Vec<Relation> {
    // independent columns, orthonormalized, with the combination that gives each
    let mut basis: Vec<(Vec<f64>, Relation)> = Vec::new();
    let mut found = Vec::new();
    let norms: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    for (k, column) in columns.iter().enumerate() {
        if norms[k] == 0.0 || !norms[k].is_finite() {
            found.extend((norms[k] == 0.0).then(|| vec![(k, 1.0)]));
            continue;
        }
        let mut rest: Vec<f64> = column.iter().map(|x| x / norms[k]).collect();
        let mut made = vec![(k, 1.0 / norms[k])];
        // two passes suffice
        for _ in 0..2 {
            for (direction, of) in &basis {
                let along = dot(&rest, direction);
                rest.iter_mut().zip(direction).for_each(|(r, d)| *r -= along * d);
                made.extend(of.iter().map(|(j, c)| (*j, -along * c)));
            }
        }
        let made = gathered(made);
        let size = dot(&rest, &rest).sqrt();
        if size > tolerance::ELIMINATED {
            let direction = rest.iter().map(|r| r / size).collect();
            basis.push((direction, made.iter().map(|(j, c)| (*j, c / size)).collect()));
            continue;
        }
        // as multiples of the new column, without entries that are rounding
        let large = |j: usize, c: f64| (c * norms[j]).abs() > 10.0 * tolerance::ELIMINATED;
        let vector = made.iter().filter(|(j, c)| large(*j, *c)).map(|(j, c)| (*j, c * norms[k])).collect();
        found.push(vector);
    }
    found
}

/// One entry per index, in order.
fn gathered(mut list: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    list.sort_by_key(|(j, _)| *j);
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for (j, c) in list {
        match sums.last_mut() {
            Some((last, sum)) if *last == j => *sum += c,
            _ => sums.push((j, c)),
        }
    }
    sums
}

/// The fraction with a denominator up to 60 that equals a number to nine digits, if there is one.
pub(super) fn fraction(x: f64) -> Option<(i64, i64)> {
    if !x.is_finite() || x.abs() > tolerance::COMBINATION_NUMBER {
        return None;
    }
    let denominators = 1..=60_i64;
    denominators.into_iter().find_map(|q| {
        let p = (x * q as f64).round();
        (p != 0.0 && (x * q as f64 - p).abs() <= tolerance::ELIMINATED * p.abs()).then_some((p as i64, q))
    })
}

/// `true` if two relations are the same.
pub(super) fn nearly_equal(a: &[(usize, f64)], b: &[(usize, f64)]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() <= tolerance::CONSTANT_MULTIPLIER * x.1.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// c₂ = 2 c₀ − c₁/3 and c₃ = 0.
    #[test]
    fn relations_between_columns_are_found() {
        let a = vec![1.0, 2.0, -1.0, 0.5];
        let b = vec![0.0, 3e6, 1e6, 7e6];
        let c = a.iter().zip(&b).map(|(a, b)| 2.0 * a - b / 3.0).collect();
        let vectors = null_vectors(&[a, b, c, vec![0.0; 4]]);
        assert_eq!(vectors.len(), 2);
        let wanted = [(0, -2.0), (1, 1.0 / 3.0), (2, 1.0)];
        assert!(vectors[0].iter().zip(wanted).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() < 1e-6), "{vectors:?}");
        assert_eq!(vectors[1], [(3, 1.0)]);
    }

    #[test]
    fn short_fractions_are_recognized() {
        assert_eq!(fraction(-0.75), Some((-3, 4)));
        assert_eq!(fraction(1.0 / 3.0), Some((1, 3)));
        assert_eq!(fraction(std::f64::consts::PI), None);
        assert_eq!(fraction(0.0), None);
    }
}
