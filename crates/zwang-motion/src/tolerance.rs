//! Every threshold of the numerical methods: four numbers, their multiples, and functions of a scale.
//!
//! A threshold is relative to a scale of the system, never to a unit: a row has the size $\sum_j |A_{ij}| q_j$, forces the largest
//! multiplier present, an instant the length of the run. Those that a user may set are in [`Settings`](crate::Settings).

/// What a solve and a projection leave, relative to the terms that enter.
pub const ROUNDING: f64 = 1e-12;

/// An inequality holds, or an equation that was not solved for, if it is violated by less than this fraction of its terms.
pub const LAW: f64 = 1e-9;

/// Two solutions differ if they do so by this fraction.
pub const DISTINCT: f64 = 1e-6;

/// The tolerance of a run unless the user states another; a start or a gap is known to the same fraction.
pub const RUN: f64 = 1e-9;

/// A step shorter than this fraction of the time, or of the run, does not count as a step.
pub(crate) const SHORTEST: f64 = 1e-13;

/// The time span of a run and its tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunWindow {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) tolerance: f64,
}

impl RunWindow {
    /// The length of the run.
    #[inline]
    pub(crate) fn length(self) -> f64 {
        self.end - self.start
    }

    /// The interval around the time t that counts as one instant.
    #[inline]
    pub(crate) fn instant(self, t: f64) -> f64 {
        SHORTEST * self.length().max(t.abs())
    }
}

// rank and rows

/// The part of an equilibrated row, or of a column relative to the longest, that must remain for it to be clearly
/// independent: rounding is far below its square.
pub(crate) const CLEARLY_INDEPENDENT: f64 = 1e-3;

/// A direction of equilibrated rows counts if it is at least this large relative to the largest: rounding leaves 1e-15.
pub const RANK: f64 = 100.0 * ROUNDING;

/// Entries below this fraction of their terms have been cancelled by elimination.
pub(crate) const CANCELLED_ENTRY: f64 = ROUNDING / 1000.0;

/// A multiple of a row of length one below this is rounding.
pub(crate) const NO_MULTIPLE: f64 = 10.0 * ROUNDING;

/// The square of a norm is computed again once downdating has left less than this part of it.
pub(crate) const DOWNDATED_NORM: f64 = 1e-6;

/// Columns are orthogonal if their product is below this fraction of that of their lengths.
pub(crate) const ORTHOGONAL_COLUMNS: f64 = 5e-16;

/// An off-diagonal entry below this fraction of the root of both entries on it counts as zero.
pub(crate) const DIAGONAL: f64 = 1e-16;

/// The same entry, relative to the largest of the matrix.
pub(crate) const DIAGONAL_FLOOR: f64 = 1e-30;

/// Pivots of S above this, relative to its diagonal, count without doubt: they are squares of the remainder of a row,
/// and rounding leaves 1e-15 in dependent rows.
pub(crate) const CLEAR_PIVOT: f64 = 100.0 * ROUNDING;

/// Lower bound of a certain pivot, which is the square of the remainder of a row: rounding divided by it stays below
/// it.
pub(crate) const CERTAIN_PIVOT: f64 = 1e-7;

/// A row is satisfied to rounding if its residual is below this fraction of the sizes that enter it: it is evaluated,
/// not solved for.
pub(crate) const ROW_ROUNDING: f64 = ROUNDING / 100.0;

/// The residual that rounding leaves in dependent rows, as a fraction of the contradiction tolerance.
pub(crate) const CONTRADICTION_ROUNDING: f64 = 1e-6;

/// The remainder that rounding leaves of a dependent row of length one.
pub(crate) const DEPENDENT_REMAINDER: f64 = ROUNDING / 10.0;

/// Entries of multiples agree to this fraction of the rank tolerance, relative to the largest entry: 1e-13 by default,
/// far above rounding.
pub(crate) const PARALLEL_ROWS: f64 = 1e-3;

/// Relative change below which a singular value has converged; the values at the upper end converge last and are not
/// tested.
pub(crate) const SETTLED_VALUE: f64 = 1e-4;

/// A mass below this loses digits, or its reciprocal overflows: numbers end at 2e-308.
pub(crate) const SMALLEST_MASS: f64 = 1e-290;

/// Lower bound of a mass for scaling, relative to the largest mass it is coupled with: a mass that is negligible, as in
/// quaternions, must not be scaled up to one.
pub(crate) const MASS_FLOOR: f64 = 1e-8;

// projection

/// Step of a forward difference relative to the size of the state, √ε: rounding then costs as much as curvature.
pub(crate) const DIFFERENCE_STEP: f64 = 1.5e-8;

/// Levenberg and Marquardt begin with this damping, relative to the diagonal.
pub(crate) const FIRST_DAMPING: f64 = 1e-3;

/// A step is taken if it decreases the merit by this part of what a linear residual promises (Armijo).
pub(crate) const SUFFICIENT_DECREASE: f64 = 1e-4;

/// The part of a unit vector of n directions, times √n, below which it has no free part of its own.
pub(crate) const FREE_PART: f64 = 1e-3;

/// A residual below this fraction of its largest value so far is small: the slope alone cannot say so close to a root.
pub(crate) const SMALL_RESIDUAL: f64 = 1e-6;

/// Fraction of the diagonal added to a singular W: small relative to the accuracy needed, large relative to rounding.
pub(crate) const SINGULAR_WEIGHT: f64 = 1e-8;

/// Weight of a massless unknown relative to the heaviest: it moves first.
pub(crate) const MASSLESS_WEIGHT: f64 = 1e-6;

/// Corrections below this, relative to the size of q, may stall: they are rounding divided by a small singular value.
pub(crate) const STALLED_CORRECTION: f64 = 1e-9;

/// A Newton step below this, relative to the size of q, leaves rounding alone: its square does.
pub(crate) const QUADRATIC_STEP: f64 = 1e-9;

/// The largest residual that an event or a switch may leave in a row, relative to the size of the row.
pub(crate) const OFF_CONSTRAINT: f64 = DISTINCT;

// control

/// A singular value of C below this fraction of the largest is rounding of a product of three matrices.
pub(crate) const CONTROL_SINGULAR: f64 = 100.0 * ROUNDING;

/// A bound is left if that gains more than this relative to the terms of the gain; less is rounding.
pub(crate) const BOUND_GAIN: f64 = 100.0 * ROUNDING;

/// The square of what other columns leave of a column, as a fraction of its own, below which it depends on them.
pub(crate) const DEPENDENT_COLUMN: f64 = 1e-8;

/// C has converged if it changes by less than this fraction.
pub(crate) const CONTROL_CONVERGED: f64 = ROUNDING / 100.0;

/// The fraction by which rounding changes a force that equals its bound.
pub(crate) const BOUND_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Control authority is lost if less than this fraction of a row, and of the longest step, remains.
pub(crate) const LOST_AUTHORITY: f64 = 1e-3;

/// A pivot of B below this, relative to its row, is too small to be squared.
pub(crate) const SQUARABLE_PIVOT: f64 = 1e-5;

// contact

/// Forces below this fraction of the largest are rounding.
pub(crate) const FORCE_ROUNDING: f64 = ROUNDING / 10.0;

/// A redistribution step is taken if violations decrease by this part of the step.
pub(crate) const REDISTRIBUTION_DECREASE: f64 = 1e-3;

/// Rounding of an impulse as a fraction of the noise of its velocity: none is subtracted.
pub(crate) const IMPULSE_NOISE: f64 = 1e-3;

/// A slack below this fraction of its terms is rounding.
pub(crate) const SLACK_ROUNDING: f64 = ROUNDING / 10.0;

/// A fixed point has converged if a round changes it by less than this fraction.
pub(crate) const MIXING_CONVERGED: f64 = ROUNDING / 10.0;

/// Relaxation has converged if it violates the laws by this fraction.
pub(crate) const RELAXED: f64 = 10.0 * ROUNDING;

/// Mixing that still changes an impact by more than this fraction after its rounds does not converge.
pub(crate) const MIXING_NEAR: f64 = 1e-3;

/// The fraction of their distance by which the feet of one body may leave a common plane: redundant rows violate each
/// other by it.
pub(crate) const PLANAR_FEET: f64 = DISTINCT;

/// A smaller common factor of the restitution is treated as zero.
pub(crate) const LEAST_RESTITUTION: f64 = 1e-5;

/// Relative to the largest, eigenvalues of the load below this are rounding.
pub(crate) const LOAD_EIGENVALUE: f64 = ROUNDING / 1000.0;

/// A gap below this fraction of the size of its row is rounding of one evaluation.
pub(crate) const GAP_ROUNDING: f64 = ROUNDING / 1000.0;

/// Margin to each inequality, as a fraction of the largest λ: rounding alone must not end a mode.
pub(crate) const MODE_MARGIN: f64 = 100.0 * ROUNDING;

/// Damping that leaves the directions that reduce no violation as they are.
pub(crate) const REDISTRIBUTION_DAMPING: f64 = 100.0 * ROUNDING;

/// Relative damping of redundant changes.
pub(crate) const MIXING_DAMPING: f64 = ROUNDING;

/// The gap of a contact that opens without an impact may be negative by this fraction of the size of its row: rounding,
/// and the error of one step.
pub(crate) const SEPARATING: f64 = 100.0 * ROUNDING;

/// A normal force below this fraction of the largest multiplier is treated as zero where forces are indeterminate,
/// which are found less exactly.
pub(crate) const INDETERMINATE_FORCE: f64 = 3e-10;

/// The part of a run within which a limited number of transitions do not end.
pub(crate) const ENDLESS_TRANSITIONS: f64 = 1e-9;

/// A limited number of transitions within this part of the motion so far do not end, unless speeds fall meanwhile, as they do
/// while bounces accumulate. The length of the run has no part in it: a longer run of the same motion has the same events.
pub(crate) const CROWDED_TRANSITIONS: f64 = 1e-4;

/// Relative to its largest size so far, a row below this has vanished.
pub(crate) const VANISHED_ROW: f64 = 1e-9;

/// A pivot of the equations for the normal forces below this: the friction increases its own normal force without
/// bound.
pub(crate) const JAMMED: f64 = 100.0 * ROUNDING;

/// The fraction of its own compliance that a blocked slip keeps: rounding leaves it no other.
pub(crate) const BLOCKED_COMPLIANCE: f64 = 1e-3;

/// The relative change below which Newton's steps have converged.
pub(crate) const NEWTON_CONVERGED: f64 = ROUNDING / 1000.0;

/// Bounces lower than this fraction of the size of the row are lost in rounding.
pub(crate) const LOWEST_BOUNCE: f64 = 4e-13;

/// The multiple of the tolerance to which forces and blocked slips are known where a mode is about to change: they
/// follow from velocities, and their squares.
pub(crate) const UNCERTAIN_SLIP: f64 = 1e3;

/// Slips below this multiple of their rounding do not count as extrema.
pub(crate) const SLIP_EXTREMUM: f64 = 1e3;

/// Where sliding ends the slip has passed zero by at most this multiple of its rounding.
pub(crate) const STOPPED_SLIP: f64 = 100.0;

// motion

/// Newton's error within a step of Radau must be below this fraction of the tolerance.
pub(crate) const RADAU_CONVERGED: f64 = 1e-2;

/// From this tolerance on the lower order takes fewer evaluations; it is that of a first look.
pub const COARSE: f64 = 1e-4;

/// The same where the linear equations are solved by iteration, whose error is not that of Newton.
pub(crate) const RADAU_ITERATED: f64 = 1e-4;

/// A coordinate counts as changing at least at this fraction of the fastest rate.
pub(crate) const SLOWEST_RATE: f64 = 1e-3;

/// The implicit equations of RATTLE are solved when a round changes q by less than this, relative to its size.
pub(crate) const RATTLE_CONVERGED: f64 = ROUNDING / 2500.0;

/// Rounds of RATTLE that no longer gain have come to rounding, which the division by h amplifies, if they change q by
/// less than this.
pub(crate) const RATTLE_STALLED: f64 = 100.0 * ROUNDING;

/// The largest residual at the end of a step, in tolerances, where formulas switch: it is of the size of the error of
/// the step.
pub(crate) const SWITCH_RESIDUAL: f64 = 100.0;

/// A contradiction that takes a larger part of the run to be seen is reported where it is seen.
pub(crate) const CONTRADICTION_SOON: f64 = 1e-3;

/// A subinterval shorter than this, relative to the time, has no room for samples.
pub(crate) const MOMENT: f64 = 256.0 * f64::EPSILON;

/// A limited number of switches within this multiple of the time that changes the motion by its own size do not end.
pub(crate) const CROWDED_SWITCHES: f64 = DISTINCT;

/// One of these switches takes less than this fraction of the time: they follow each other as closely as time resolves.
pub(crate) const UNRESOLVED_SWITCH: f64 = 1024.0 * f64::EPSILON;

/// Rounding of the accelerations limits the steps if one rounding of the state takes this part of the error of a step:
/// evaluating the forces takes tens of them.
pub(crate) const ROUNDING_OF_STEP: f64 = 1e-2;

/// A step that resolves a motion, relative to the time that changes it by its own size.
pub(crate) const RESOLVED_STEP: f64 = 1e-2;

/// What a motion changes by in a limited number of steps, relative to its size, if it does not come forward.
pub(crate) const NO_PROGRESS: f64 = 1e-3;

/// A velocity below this multiple of the tolerance, relative to its size, is at rest.
pub(crate) const RESTING_SPEED: f64 = 1e3;

/// The size of velocities never fades below this part of the largest ever.
pub(crate) const SPEED_MEMORY: f64 = 1e-4;

/// Rounding of a sum of forces.
pub(crate) const FORCE_SUM_ROUNDING: f64 = 64.0 * f64::EPSILON;

// unseen features

/// The part of its change over a step by which a term may differ from the polynomial through eight of its values: smooth terms
/// of accepted steps stay below a tenth.
pub(crate) const UNSEEN_CHANGE: f64 = 0.3;

/// Steps that become too small within this part of the run after a cut do so because of the function that was cut for.
pub(crate) const NEAR_CUT: f64 = 1e-9;

/// The part of a step that is not divided any more in the search for an unseen feature.
pub(crate) const UNSEEN_PLACE: f64 = SHORTEST;

/// Widths of the bounds of a term at a point, by which rounding of neighbouring points may differ.
pub(crate) const POINT_WIDTHS: f64 = 8.0;

/// Rounding of a term relative to its size.
pub(crate) const TERM_ROUNDING: f64 = ROUNDING;

/// No part of a step is resolved if not even this part is.
pub(crate) const RESOLVED_PART: f64 = SHORTEST / 10.0;

// singular positions

/// Rounding of the constraints, relative to the size of the coordinates.
pub(crate) const CONSTRAINT_NOISE: f64 = ROUNDING / 5000.0;

/// A singular value of the slope of B below this fraction of the whole does not make rows independent.
pub(crate) const SLOPE_OF_RANK: f64 = 1e-5;

/// The distance, relative to the size of the coordinates, at which the rank near the start is examined.
pub(crate) const RANK_PROBE: f64 = 1e-4;

/// A relative speed below this counts as rest.
pub(crate) const STARTS_AT_REST: f64 = 1e-9;

/// The accuracy of a prediction: a smaller imaginary part, or a smaller remaining change, counts as zero.
pub(crate) const PREDICTED_REAL: f64 = 1e-3;

/// A step ends at a singular value below this fraction of the largest so far.
pub(crate) const VANISHED_VALUE: f64 = 1e-6;

/// The step of the difference that gives the rate of a singular value, as a fraction of the step.
pub(crate) const CROSSING_DIFFERENCE: f64 = 1e-4;

/// The time of a crossing is known if a correction is below this fraction of the step.
pub(crate) const CROSSING_TIME: f64 = ROUNDING / 10.0;

/// A value that remains above this fraction of its change over the step has not vanished: the prediction was wrong.
pub(crate) const NOT_VANISHED: f64 = 1e-5;

/// Rounding of ρ at a crossing.
pub(crate) const CROSSING_LENGTH: f64 = ROUNDING / 10.0;

/// Two crossings within this fraction of a step are one.
pub(crate) const SAME_CROSSING: f64 = 1e-3;

/// In a large system, a long chain, one pivot may always be small: below this part of the largest so far it is looked
/// at in any case.
pub(crate) const SMALL_PIVOT_OF_MANY: f64 = 1e-3;

/// In a large system a pivot below this part of the largest so far belongs to rows that depend on others.
pub(crate) const DEPENDENT_PIVOT: f64 = 1e-4;

/// A singular value below this, relative to the largest, is about to vanish.
pub(crate) const VANISHING_VALUE: f64 = 1e-3;
