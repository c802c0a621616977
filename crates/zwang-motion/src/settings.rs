//! Every knob, its default and the reason for it.

/// The numbers that decide something.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A direction of the equilibrated rows counts if it is at least this large beside the largest. Default 1e-10:
    /// rounding leaves about 1e-15 where rows depend exactly, and a direction of 1e-10 that is kept still gives
    /// six digits; `Gap` says how clear the decision was.
    pub rank_tolerance: f64,
    /// Rows contradict each other if the part of b that no acceleration can meet exceeds this, relative to the
    /// sizes that enter the row. Default 1e-8: a hundred times the rank tolerance, because a direction
    /// dropped there leaves a residual of that size without any contradiction. Infinite: no row is ever refused, and
    /// the answer is the one of least squares for rows of the same size.
    pub contradiction_tolerance: f64,
    /// A contradiction below this, as an acceleration, is rounding. Default 1e-12: at rest b and a may both be nothing
    /// but rounding of terms of order 1000, and no relative measure exists.
    pub contradiction_floor: f64,
    /// M counts as singular if a pivot of it, at a unit diagonal, is below this, and as indefinite if vᵀMv is below minus a
    /// hundred times this for a unit v. Default 1e-12: a direction with so little mass still gets four digits of its
    /// acceleration.
    pub mass_tolerance: f64,
    /// M gets help from A, which changes no motion, if a pivot of it is below this. Default 1e-6: above it rounding costs
    /// at most a few digits, below it the help is exact where M is rounding.
    pub mass_preferred: f64,
    /// The two-form route fails if the q-part of its vector field misses q̇, or its force misses Q, by more than this,
    /// relatively. Default 1e-6: the error of a solve with M at the edge of `mass_preferred` stays far below it, a wrong
    /// ∂E/∂q̇ does not.
    pub second_order_tolerance: f64,
    /// Seed of the inverses drawn by the `any-inverse` route. Default 1; the answer does not depend on it.
    pub seed: u64,
    /// Below this many coordinates dense algebra is written out by hand, above it is faer's. Default 24: measured,
    /// the two cost the same between 14 and 30.
    pub small_limit: usize,
    /// Above this many coordinates a system whose M falls into blocks is handled sparsely, if that is less work. Default 16:
    /// measured, chains and bodies then gain a factor of three and more; below it a step of a motion gains nothing, and the
    /// dense decomposition shows the rank more sharply. Zero: every system that can be, whatever the work.
    pub sparse_limit: usize,
    /// Proximal term µ of the sparse route, relative to the unit diagonal of S. Default 1e-10: far above rounding,
    /// so that S + µI has a Cholesky factor, and small enough that two iterations reach rounding.
    pub proximal: f64,
    /// Largest number of proximal iterations. Default 12: two or three suffice when the rows are clearly dependent or
    /// clearly not.
    pub proximal_iterations: usize,
    /// Largest number of steps that put values on g(x) = 0. Default 100: near a solution a handful is enough, a start
    /// far off or a double root takes tens.
    pub projection_iterations: usize,
    /// g(x) counts as zero if it is below this, relative to the sizes of J x. Default 1e-12: what rounding in g and the
    /// rank tolerance leave reachable.
    pub projection_tolerance: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            rank_tolerance: 1e-10,
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
