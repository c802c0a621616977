//! Every threshold of the mechanics, relative to the terms that enter; the numbers below them are those of zwang-motion.

pub(crate) use zwang_motion::tolerance::{COARSE, DISTINCT, LAW, ROUNDING, RUN};

// values

/// Rounding of some dozen operations, or of a solve at a state on the constraints to 1e-12, relative to the terms.
pub(crate) const EVALUATED: f64 = 100.0 * ROUNDING;

/// Rounding of one value or instant after a few operations; no run is more accurate.
pub(crate) const VALUE_ROUNDING: f64 = ROUNDING / 100.0;

/// Exponents of units that agree to this are equal: fractions round.
pub(crate) const EXPONENT: f64 = 1e-9;

/// Ten correct digits suffice for all later steps.
pub(crate) const TEN_DIGITS: f64 = 100.0 * ROUNDING;

/// What rounding leaves in an elimination of some hundred terms, relative to the terms.
pub(crate) const ELIMINATED: f64 = 1e-9;

/// The fraction by which a run may be longer than a table: times are sums, which round.
pub(crate) const TABLE_END: f64 = 1e-9;

/// The step of central differences relative to 1 + |x|; their relative error is about its square.
pub(crate) const CENTRAL_STEP: f64 = 1e-5;

/// The step of central differences near a state, the cube root of ε: rounding and curvature then cause errors of equal
/// size.
pub(crate) const CURVED_STEP: f64 = 2e-5;

/// The step of the differences of an iteration, relative to 1 + |t|: half the digits suffice for convergence.
pub(crate) const SEARCH_STEP: f64 = 1e-6;

/// A derivative below this fraction of its terms is the error of the differences and counts as zero.
pub(crate) const DIFFERENCE_ERROR: f64 = DISTINCT;

/// A factor below this fraction of the largest takes no part and is not shown.
pub(crate) const NEGLIGIBLE: f64 = DISTINCT;

/// The distances of a generic state from the start relative to the size of each coordinate; a smaller one is tried if
/// no state is found.
pub(crate) const GENERIC_DISTANCES: [f64; 4] = [0.4, 0.08, 0.01, 1e-3];

/// The distance of other states relative to the size of the system, or to the reach of a search.
pub(crate) const OTHER_STATE: f64 = 0.1;

// zero

/// A certified value above this fraction of the terms that cancel in it needs no proof that it is not zero.
pub(crate) const CLEAR_VALUE: f64 = 1e-6;

/// An argument that is aimed at a value of order one is there.
pub(crate) const AIMED: f64 = 1e-9;

/// The same at a double root, which a search approaches slowly.
pub(crate) const AIMED_ROUGHLY: f64 = 1e-3;

/// The distance from a constraint that a search leaves, and the radius of the box that is certified, relative to the ranges.
pub(crate) const ON_CONSTRAINT: f64 = ROUNDING;

// start and constraints

/// The violation of an inequality at the start, relative to the size of its row, above which a motion cannot begin.
pub(crate) const START_VIOLATION: f64 = DISTINCT;

/// A projection from elsewhere that ends farther away than this, relative to the size, has another solution.
pub(crate) const OTHER_SOLUTION: f64 = 1e-4;

/// A projection from nearby that ends within this, relative to the size, has the same solution.
pub(crate) const SAME_SOLUTION: f64 = 1e-3;

/// A value below this fraction of the largest is shown as zero.
pub(crate) const SHOWN_AS_ZERO: f64 = ROUNDING / 10.0;

/// The largest value is not taken smaller than this where values are shown.
pub(crate) const SHOWN_SIZE: f64 = 1e-3;

/// The part of an equilibrated row below which a program hands over to a decomposition: rounding would cost three
/// digits.
pub(crate) const LEAST_ROW: f64 = 2.5e-3;

/// The number of digits of a time: it is known as precisely as a residual can be detected.
pub(crate) const TIME_DIGITS: usize = 6;

/// A change below this fraction of the changes by single multipliers is rounding or the error of a dependence.
pub(crate) const MULTIPLIER_SHIFT: f64 = 1e-8;

/// A pivot within this factor of the rank tolerance could fall on the other side with other rounding.
pub(crate) const CLOSE_PIVOT: f64 = 1e3;

/// At a start on the constraints, rounding leaves far less than a tenth of the rank tolerance of dependent rows.
pub(crate) const DEPENDENT_PART: f64 = 0.1;

/// A disagreement smaller than this, relative to its terms, may be the error of the other state.
pub(crate) const CLEAR_DISAGREEMENT: f64 = 1e-7;

/// A form counts as definite if its least pivot is above this fraction of its largest entry; the differences have ten
/// digits.
pub(crate) const DEFINITE_FORM: f64 = 1e-6;

/// A direction of which the others leave less than this fraction depends on them: it comes from differences.
pub(crate) const NEW_DIRECTION: f64 = 1e-7;

/// Relative tolerance for factors at two states, or of a formula and a solve: the rank tolerance permits such errors.
pub(crate) const FACTORS_AGREE: f64 = 1e-8;

/// The least pivot of an independent row: far above the square root of rounding, which a double root leaves.
pub(crate) const INDEPENDENT_ROW: f64 = 1e-4;

/// A value counts as nonzero if it exceeds the scatter of its lanes by this factor: two digits are then correct.
pub(crate) const CLEAR_SCATTER: f64 = 100.0;

/// A value counts as zero if it is below this multiple of the scatter.
pub(crate) const ZERO_SCATTER: f64 = 10.0;

/// A zero is accepted only if the scatter is below this fraction of the terms that cancelled: six digits.
pub(crate) const SHARP_ZERO: f64 = 1e-6;

/// A larger number in a combination is an accident.
pub(crate) const COMBINATION_NUMBER: f64 = 1e4;

/// Constant multipliers agree to rounding at states that are far apart; others differ by their own size.
pub(crate) const CONSTANT_MULTIPLIER: f64 = 1e-7;

/// Velocity residuals below this fraction of their terms may come from the errors of the positions.
pub(crate) const VELOCITY_ROUGHLY: f64 = 1e-8;

/// A slope below this fraction of its scale counts as zero: y is known to a few digits only.
pub(crate) const LEVEL_SLOPE: f64 = 1e-5;

/// A curvature below this fraction of its scale counts as zero.
pub(crate) const STRAIGHT: f64 = 1e-9;

/// The distance along the velocity relative to the sizes of the coordinates: far enough for a residual that grows with
/// the third power.
pub(crate) const CONTINUATION: f64 = 1e-2;

/// Step lengths that are tried, relative to the size of the system: the largest that stays on the constraints is taken.
pub(crate) const NEIGHBOUR_STEPS: [f64; 6] = [0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4];

/// A random direction whose free part is below this length has no free part: far above rounding, far below chance.
pub(crate) const NO_DIRECTION: f64 = 1e-8;

/// A mass below this fraction of the largest counts as zero: its unit is beyond the digits of the others.
pub(crate) const MASSLESS: f64 = ROUNDING / 1000000000000.0;

// control and forces

/// A direction of the control rows in which forces do less than this fraction of the largest is nearly lost.
pub(crate) const AUTHORITY_NEARLY_LOST: f64 = 1e-2;

/// The fraction of its terms above which a residual counts as a violation: the spline through a few hundred rows of a
/// smooth motion leaves less.
pub(crate) const INVERSE_RESIDUAL: f64 = 1e-4;

/// The factor above the rounding threshold from which a power is certain; between the two nothing is decided.
pub(crate) const POWER_CERTAIN: f64 = 1e3;

/// Powers cancel if their sum is below this fraction of the sum of their sizes. If they differ by more than one over
/// its square root, the smallest could be lost in the rounding of the others.
pub(crate) const POWERS_CANCEL: f64 = ROUNDING / 10.0;

/// A pivot of M below this fraction of its diagonal entry is doubtful: the default of `Settings::mass_preferred`, below
/// which rows are added to M.
pub(crate) const LEAST_MASS: f64 = 1e-6;

/// A violation above this, relative to the size of the coordinates, is more than any eye would forgive.
pub(crate) const VISIBLE_VIOLATION: f64 = 1e-3;

// near a state

/// The remainder below which a row of an echelon form depends on the others.
pub(crate) const ECHELON_PIVOT: f64 = 100.0 * ROUNDING;

/// Eigenvalues of members of one family agree to this.
pub(crate) const SAME_EIGENVALUE: f64 = 1e-4;

/// The length that other directions leave of one below which it is one of them.
pub(crate) const REPEATED_DIRECTION: f64 = 10.0 * ROUNDING;

/// Equilibria closer than this, relative to 1 + |q|, are the same.
pub(crate) const SAME_EQUILIBRIUM: f64 = 1e-6;

/// The distance below which equilibria with zero eigenvalues are the same: a multiple root has fewer digits.
pub(crate) const SAME_MULTIPLE_ROOT: f64 = 1e-3;

/// The distance along a family: large compared with the digits of a root, small compared with the radius of curvature.
pub(crate) const FAMILY_STEP: f64 = 1e-2;

/// The shortest fraction of a step that is tried.
pub(crate) const SHORTEST_STEP: f64 = 1e-3;

/// The relative length of the last step above which the iteration diverges: a decaying force has no root far out.
pub(crate) const DIVERGING_STEP: f64 = 1e-3;

/// A coordinate below this is tried at zero: the accuracy of a root of multiplicity five.
pub(crate) const ROUNDED_ROOT: f64 = 1e-3;

/// Rounding of one evaluation, relative to the free acceleration.
pub(crate) const RESIDUAL_ROUNDING: f64 = ROUNDING / 1000.0;

/// A real part below this fraction of the fastest rate is rounding: double eigenvalues are known to the root of ε.
pub(crate) const NO_GROWTH: f64 = 1e-7;

/// The square root of ε, with some margin.
pub(crate) const ROOT_OF_ROUNDING: f64 = 1e-7;

/// A pivot of the stiffness below this fraction of the whole is not clearly positive.
pub(crate) const DEFINITE_STIFFNESS: f64 = 1e-9;

/// An entry of a certificate above this takes part in a contradiction.
pub(crate) const TAKES_PART: f64 = 1e-9;

/// The relative accuracy of an equilibrium.
pub(crate) const EQUILIBRIUM: f64 = 1e-9;

/// The distance from a state at which a kink or a jump of the equations is sought.
pub(crate) const OBSTACLE_STEP: f64 = 1e-4;

/// Values that differ by less than this fraction at later times do not depend on time: rounding of some hundred
/// operations.
pub(crate) const UNCHANGED_IN_TIME: f64 = 10.0 * ROUNDING;

/// A state that a search has moved by less than this, relative to 1 + |q|, has stayed.
pub(crate) const STAYS: f64 = 1e-9;

/// A product with a kernel vector below this fraction of the row vanishes.
pub(crate) const IN_KERNEL: f64 = 1e-8;

/// Relative to the largest, at a diagonal of one, an eigenvalue of M below this is zero to rounding.
pub(crate) const SINGULAR_MASS: f64 = 1e-13;

/// An eigenvalue of M below this, relative to the largest, costs more than half of the digits.
pub(crate) const NEARLY_SINGULAR_MASS: f64 = 1e-8;
