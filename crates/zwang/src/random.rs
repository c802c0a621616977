//! Pseudo-random numbers between -1 and 1, the same at every run.
//!
//! sin(17 k) looks just as arbitrary, but all triples of consecutive values lie in one plane.

/// A sequence of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// xorshift64*, Vigna 2016.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        between(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D))
    }
}

/// The number at position (i, j) of an infinite table: splitmix64, Steele, Lea and Flood 2014.
pub(crate) fn scattered(i: usize, j: usize) -> f64 {
    let place = (i as u64).wrapping_mul(0xD1B5_4A32_D192_ED03).wrapping_add(j as u64 + 1);
    let z = place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    between(z ^ (z >> 31))
}

fn between(bits: u64) -> f64 {
    2.0 * (bits >> 11) as f64 / (1u64 << 53) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 0, mean square 1/3, and uncorrelated neighbours, within five standard deviations.
    #[test]
    fn numbers_are_spread_evenly() {
        let n = 10_000;
        let mut random = Random::new(7);
        let drawn: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let rows: Vec<f64> = (0..n).map(|i| scattered(i, 3)).collect();
        let columns: Vec<f64> = (0..n).map(|j| scattered(3, j)).collect();
        for numbers in [drawn, rows, columns] {
            let mean = |f: &dyn Fn(usize) -> f64| (0..n - 2).map(f).sum::<f64>() / (n - 2) as f64;
            let bound = 5.0 / (n as f64).sqrt();
            assert!(mean(&|k| numbers[k]).abs() < bound);
            assert!((mean(&|k| numbers[k] * numbers[k]) - 1.0 / 3.0).abs() < bound);
            assert!(mean(&|k| numbers[k] * numbers[k + 1]).abs() < bound);
            assert!(mean(&|k| numbers[k] * numbers[k + 2]).abs() < bound);
        }
    }
}
