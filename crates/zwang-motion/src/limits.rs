//! Limits on iterations and sizes: none decides a result, each ends work that no longer gains or that takes too long.

// algebra

/// Largest size of the sets of rows that are enumerated for the smallest conflict.
pub(crate) const SET_SIZE: usize = 4;

/// Largest number of sets of one size that are enumerated.
pub(crate) const SETS: usize = 5000;

/// Elimination of fewer rows is as fast as the search for a certificate.
pub(crate) const FEW_ROWS: usize = 64;

/// Largest number of coordinates for which a dense decomposition has acceptable memory and time.
pub(crate) const DENSE_COORDINATES: usize = 4000;

/// Up to this size a dense decomposition, which does not square, decides a doubtful rank.
pub(crate) const DOUBTFUL_COORDINATES: usize = 600;

/// The number of coordinates beyond which the rank at the start is not examined: it takes longer than anybody waits.
pub(crate) const START_COORDINATES: usize = 600;

/// Blocks above this size are left to the dense route, whose vectorised operations are faster.
pub(crate) const BLOCK_SIZE: usize = 48;

/// Number of corrections if S itself was factored: the first repairs its rounding, the second that of a nearly singular
/// S.
pub(crate) const CORRECTIONS: usize = 3;

/// Largest number of iterations. Each one reduces the error by the ratio of µ to the smallest eigenvalue that counts:
/// two suffice, except in very long chains.
pub(crate) const MULTIPLIER_ROUNDS: usize = 12;

/// Number of solves: one and its correction.
pub(crate) const REFINEMENTS: usize = 2;

/// Largest number of rows of one pattern that a row is compared with.
pub(crate) const ROWS_COMPARED: usize = 16;

/// Number of searches invalidated by a row that ceased to be a multiple, after which no row is treated as one.
pub(crate) const PARTED_SEARCHES: usize = 3;

/// More products than this take longer than a dense decomposition, or more memory than there is.
pub(crate) const PRODUCTS: usize = 100_000_000;

/// Largest number of iterations for the smallest singular values; three or four suffice if a value is about to vanish.
pub(crate) const SMALLEST_VALUE_ROUNDS: usize = 15;

/// The number of values at the upper end that need not have converged.
pub(crate) const UNSETTLED_VALUES: usize = 2;

/// Largest size for rotations, which take several sweeps over all pairs; above it faer is faster.
pub(crate) const ROTATED_SIZE: usize = 12;

/// Largest number of free directions for which basis vectors are returned.
pub(crate) const FREE_DIRECTIONS: usize = 8;

/// Number of unit vectors tried before the search for further directions ends.
pub(crate) const UNIT_VECTORS: usize = 64;

/// With C given by the multipliers and these by u, rounds until C converges.
pub(crate) const CONTROL_ROUNDS: usize = 100;

// contact

/// Combinations that are enumerated; 20,000 take about a second.
pub(crate) const MODES: usize = 20_000;

/// The number of candidate modes that are reported.
pub(crate) const MODES_REPORTED: usize = 4;

/// Changes that are remembered: more than the directions in which a few places slide are of no use.
pub(crate) const CHANGES_REMEMBERED: usize = 8;

/// Rounds of relaxation.
pub(crate) const RELAXATION_ROUNDS: usize = 20_000;

/// The number of rounds of relaxation between checks of the laws.
pub(crate) const RELAXATION_CHECK: usize = 50;

/// Rounds of mixing: enough if the compliance of a place differs by a factor of ten between directions, even without
/// mixing.
pub(crate) const MIXING_ROUNDS: usize = 400;

/// Rounds of an impact after which mixing that has not converged does not: such a combination has no outcome.
pub(crate) const MIXED_IMPACT_ROUNDS: usize = 60;

/// Rounds for forces after which mixing that has not converged does not.
pub(crate) const MIXED_FORCE_ROUNDS: usize = 100;

/// Newton's steps: a few square the error away.
pub(crate) const NEWTON_ROUNDS: usize = 40;

/// Halvings until the common factor of the restitution is known to rounding.
pub(crate) const RESTITUTION_HALVINGS: usize = 50;

/// Rounds of Gauss and Newton: violations are almost linear in λ.
pub(crate) const REDISTRIBUTION_ROUNDS: usize = 60;

/// Halvings of one step of the redistribution.
pub(crate) const REDISTRIBUTION_HALVINGS: usize = 12;

/// The number of transitions within a short part of the run that counts as endless.
pub(crate) const CONTACT_TRANSITIONS: usize = 10_000;

/// The number of changes of one mode at one instant: it may change once where its slip turns back, and once more.
pub(crate) const SLIP_REVERSALS: usize = 3;

// motion

/// Newton's iterations within a step of Radau.
pub(crate) const RADAU_ITERATIONS: usize = 12;

/// Rounds of the implicit equations of RATTLE.
pub(crate) const RATTLE_ROUNDS: usize = 60;

/// Attempts at one step: each failure makes it shorter, so that far fewer lead to the shortest.
pub(crate) const STEP_ATTEMPTS: usize = 200;

/// The number of steps that may end at the same contradiction: far more than the halvings that lead to the shortest step.
pub(crate) const CONTRADICTIONS_MET: usize = 400;

/// The number of times that one condition is triggered at one instant before its changes count as endless: a chain of impacts
/// stated by conditions may need some.
pub(crate) const TRIGGERS_AT_ONE_INSTANT: usize = 100;

/// The number of switches within a short part of the run that counts as endless.
pub(crate) const SWITCHES: usize = 1000;

/// Halvings until the lowest point is known to rounding of its depth.
pub(crate) const LOWEST_POINT_HALVINGS: usize = 40;

/// Steps of the golden section until the lowest point is known to rounding of its depth.
pub(crate) const LOWEST_POINT_SHORTENINGS: usize = 40;

/// Steps that are judged together for progress and for stiffness.
pub(crate) const STEPS_WITHOUT_PROGRESS: usize = 10_000;

/// One step in twenty must turn a velocity back for the motion to count as stiff.
pub(crate) const STEPS_PER_REVERSAL: usize = 20;

/// After 60 steps those of the stiff method should not be shorter than half of the explicit ones.
pub(crate) const STIFF_TRIAL: usize = 60;

/// A dense decomposition of more coordinates than this takes longer than anybody waits.
pub(crate) const DENSE_CONTROL: usize = 1000;

/// The stiff method solves with all coordinates coupled: more of them cost more than short steps.
pub(crate) const STIFF_COORDINATES: usize = 500;

/// The number of singular values that are computed first for a crossing.
pub(crate) const FIRST_VALUES: usize = 8;

/// The largest number of singular values that are computed for a crossing.
pub(crate) const CROSSING_VALUES: usize = 256;

/// The largest number of halvings of the first step.
pub(crate) const FIRST_STEP_HALVINGS: usize = 12;

/// The number of explicit rates after which it is decided whether most are in doubt.
pub(crate) const EXPLICIT_TRIAL: usize = 64;

/// Newton steps of one projection.
pub(crate) const PROJECTION_STEPS: usize = 12;

/// The number of nonzero entries of a vector that a message shows.
pub(crate) const ENTRIES_SHOWN: usize = 8;

/// Boxes into which a step is divided until a term is enclosed: a feature takes 1000 however narrow it is.
pub(crate) const BOXES: usize = 1000;

/// Boxes that a term may take without anything found, and how many each look at it adds: a term that takes more has bounds that are
/// too wide, and is given up.
pub(crate) const BOXES_WITHOUT_FIND: usize = 2 * BOXES;
pub(crate) const BOXES_PER_LOOK: usize = 4;

/// The same for the path that is known without further evaluations: if these do not suffice, the dense output is made.
pub(crate) const BOXES_AT_FIRST: usize = 300;

/// Parts of a step that are waiting in a search by halves: as many as halvings.
pub(crate) const HALVES: usize = 64;
