//! Every numerical setting, its default and the reason for it.

use crate::tolerance;

/// Tolerances, iteration limits and size limits of the numerical methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A direction of the equilibrated rows counts if it is at least this large relative to the largest. Default
    /// 1e-10: rounding leaves about 1e-15 of exactly dependent rows, and a direction of 1e-10 that is kept still gives
    /// six digits; `Gap` measures the clarity of the decision.
    pub rank_tolerance: f64,
    /// Rows are in conflict if the part of b that no acceleration can satisfy exceeds this, relative to the sizes that
    /// enter the row. Default 1e-8: a hundred times the rank tolerance, because a direction dropped there leaves a
    /// residual of that size without any contradiction. Infinite: no conflict is reported, and the solution is that of
    /// least squares for rows of the same size.
    pub contradiction_tolerance: f64,
    /// A contradiction below this, as an acceleration, is rounding. Default 1e-12: at rest b and a may both consist of
    /// rounding of terms of order 1000, and no relative measure exists.
    pub contradiction_floor: f64,
    /// M counts as singular if a pivot of it, at a unit diagonal, is below this, and as indefinite if vᵀMv is below
    /// minus a hundred times this for a unit v. Default 1e-12: the acceleration along a direction with this mass still
    /// has four digits.
    pub mass_tolerance: f64,
    /// AᵀA is added to M, which leaves the motion unchanged, if a pivot of M is below this. Default 1e-6: above it
    /// rounding costs at most a few digits; below it the added term replaces a pivot that is mostly rounding.
    pub mass_preferred: f64,
    /// The two-form route fails if the q-part of its vector field differs from q̇, or its force from Q, by more than
    /// this, relatively. Default 1e-6: the error of a solve with M at the edge of `mass_preferred` stays far below it,
    /// a wrong ∂E/∂q̇ does not.
    pub second_order_tolerance: f64,
    /// Seed of the inverses drawn by the `any-inverse` route. Default 1; the acceleration does not depend on it.
    pub seed: u64,
    /// Up to this number of coordinates dense algebra is written out; above it faer is used. Default 24: measured, the
    /// two cost the same between 14 and 30.
    pub small_limit: usize,
    /// Above this number of coordinates a system whose M is block diagonal is treated sparsely, if that is less work.
    /// Default 16: measured, chains and bodies then gain a factor of three and more; below it a step does not become
    /// faster, and the dense decomposition decides the rank more sharply. Zero: every system that admits it is treated
    /// sparsely, whatever the work.
    pub sparse_limit: usize,
    /// Proximal term µ of the sparse route, relative to the unit diagonal of S. Default 1e-10: far above rounding,
    /// so that S + µI has a Cholesky factor, and small enough that two iterations reach rounding.
    pub proximal: f64,
    /// Largest number of proximal iterations. Default 12: two or three suffice when the rows are clearly dependent or
    /// clearly not.
    pub proximal_iterations: usize,
    /// Largest number of steps of a projection onto g(x) = 0. Default 100: near a solution a handful is enough, a
    /// distant start or a double root takes tens.
    pub projection_iterations: usize,
    /// g(x) counts as zero if it is below this, relative to the sizes of J x. Default 1e-12: the accuracy that
    /// rounding in g and the rank tolerance permit.
    pub projection_tolerance: f64,
}

impl Settings {
    /// For rows at a solution of an iteration, which depend on each other, or agree, only to half the digits.
    #[doc(hidden)]
    pub fn near_root(&self) -> Settings {
        Settings { rank_tolerance: 1e-5, contradiction_tolerance: 1e-4, ..self.clone() }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            rank_tolerance: tolerance::RANK,
            contradiction_tolerance: 1e-8,
            contradiction_floor: 1e-12,
            mass_tolerance: 1e-12,
            mass_preferred: 1e-6,
            second_order_tolerance: 1e-6,
            seed: 1,
            small_limit: 24,
            sparse_limit: 16,
            proximal: 1e-10,
            proximal_iterations: 12,
            projection_iterations: 100,
            projection_tolerance: 1e-12,
        }
    }
}
