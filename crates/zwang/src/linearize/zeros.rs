//! The eigenvalue zero: its multiplicity, and the growth of its solutions.

#![allow(non_snake_case)]

use crate::linearize::echelon::{Echelon, largest};
use crate::{analysis::dot, tolerance};

/// The eigenvalue zero of (ẋ, u̇) = F (x, u).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Zeros {
    /// Its algebraic multiplicity.
    pub count: usize,
    /// The highest power of t in its solutions: with Jordan blocks of size r, r − 1.
    pub power: usize,
    /// `true` if velocities are constant, so that positions drift at most linearly.
    pub is_even: bool,
}

/// Counts by ranks: ker F ⊂ ker F² ⊂ … until the dimension stays the same. A computed eigenvalue of a block of size r
/// would have 1/r of the digits.
///
/// ker Fʲ⁺¹ are the z with F z in ker Fʲ, so no power of F is formed. The first `p` entries are positions.
pub(super) fn zeros(F: &[f64], size: usize, p: usize) -> Zeros {
    let F = without_rounding(F, size);
    let mut kernel: Vec<Vec<f64>> = Vec::new();
    let mut power = 0;
    loop {
        let next = preimage(&F, size, &kernel);
        if next.len() <= kernel.len() {
            break;
        }
        (kernel, power) = (next, power + 1);
    }
    Zeros { count: kernel.len(), power: power.max(1) - 1, is_even: velocities_stay(&F, size, p, &kernel) && power <= 2 }
}

/// Sets entries to zero that are rounding relative to the largest: a row of rounding would count in the rank.
fn without_rounding(F: &[f64], size: usize) -> Vec<Vec<f64>> {
    let least = tolerance::VALUE_ROUNDING * largest(F);
    F.chunks(size.max(1)).map(|row| row.iter().map(|x| if x.abs() <= least { 0.0 } else { *x }).collect()).collect()
}

/// The z with F z in the span of these vectors.
fn preimage(F: &[Vec<f64>], size: usize, of: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = size + of.len();
    let row = |(i, row): (usize, &Vec<f64>)| row.iter().copied().chain(of.iter().map(|z| -z[i])).collect();
    let mut echelon = Echelon::new(F.iter().enumerate().map(row).collect());
    echelon.reduce(n);
    let mut found = Vec::new();
    for free in (0..n).filter(|j| !echelon.pivots.contains(j)) {
        let mut z = echelon.dependent(n, |row| -row[free], free);
        z.truncate(size);
        let top = largest(&z);
        if top > 0.0 {
            found.push(z.iter().map(|x| x / top).collect());
        }
    }
    found
}

/// `true` if F z has no velocity components for any z of the kernel.
fn velocities_stay(F: &[Vec<f64>], size: usize, p: usize, kernel: &[Vec<f64>]) -> bool {
    (p..size).all(|i| kernel.iter().all(|z| dot(&F[i], z).abs() <= tolerance::IN_KERNEL * largest(&F[i])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(F: &[f64], size: usize, p: usize, wanted: (usize, usize, bool)) {
        let found = zeros(F, size, p);
        assert_eq!((found.count, found.power, found.is_even), wanted);
    }

    #[test]
    fn jordan_blocks_are_counted() {
        // a free particle: x = x₀ + v t
        check(&[0.0, 1.0, 0.0, 0.0], 2, 1, (2, 1, true));
        // an oscillator has no zero eigenvalue
        check(&[0.0, 1.0, -4.0, 0.0], 2, 1, (0, 0, true));
        // a velocity that decays leaves its position where it ends
        check(&[0.0, 1.0, 0.0, -3.0], 2, 1, (1, 0, true));
    }

    /// ẏ = u, u̇ = −φ, φ̇ = w, ẇ = 0: y grows with t³, u with t².
    #[test]
    fn a_velocity_that_another_position_drives_grows() {
        let F = [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]];
        check(&F.concat(), 4, 2, (4, 3, false));
    }
}
