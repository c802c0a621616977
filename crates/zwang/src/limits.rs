//! Limits on work, sizes and lengths: none decides a result, each ends work that takes too long or text that nobody reads.

// messages

/// Largest number of characters of one text in a message, or of a formula that is offered as a line to paste.
pub(crate) const TEXT: usize = 400;

/// Largest number of messages kept; a garbled file should not bury its first mistake.
pub(crate) const MESSAGES: usize = 100;

/// The largest number of names or causes listed; the others are counted.
pub(crate) const NAMES: usize = 6;

/// The largest number of names where each of them is long.
pub(crate) const FEW_NAMES: usize = 4;

/// The largest number of findings of one kind that are reported one by one.
pub(crate) const NOTES: usize = 8;

/// The number of characters of the longest formula that a message shows.
pub(crate) const FORMULA_CHARACTERS: usize = 120;

/// The number of nodes of the longest expression that a message shows.
pub(crate) const NODES_SHOWN: usize = 60;

/// The number of characters beyond which numbers explain more than a formula.
pub(crate) const FACTOR_CHARACTERS: usize = 90;

/// The number of characters of a number that was probably meant, `-1` or `0.8125`.
pub(crate) const NUMBER_CHARACTERS: usize = 8;

/// The length above which names are not compared, in characters.
pub(crate) const NAME_COMPARED: usize = 64;

// text and model

/// The largest number of formulas and subformulas of a model after expansion of families, sums and functions. It takes
/// some ten seconds and a few gigabytes, and is enough for a chain of 100,000 masses with every rod stated twice.
pub(crate) const WORK: usize = 20_000_000;

/// The largest number of members of a family.
pub(crate) const MEMBERS: usize = 400_000;

/// The largest depth of definitions that refer to each other.
pub(crate) const DEFINITION_DEPTH: usize = 2_000;

/// The largest nesting depth of brackets; each level needs stack.
pub(crate) const BRACKET_DEPTH: usize = 200;

/// The largest number of points for which rods and forces are drawn; more are indistinguishable and costly.
pub(crate) const SKETCHED_POINTS: usize = 2_000;

/// The largest number of subformulas of a constraint that are searched for points; a rod names its ends early.
pub(crate) const SEARCHED_SUBFORMULAS: usize = 1_000;

/// The largest number of particles with default traces; more would hide the picture.
pub(crate) const TRACED_PARTICLES: usize = 4;

/// The largest number of expressions that the forces of a scene may add; a point that depends on many coordinates adds
/// many.
pub(crate) const FORCE_NODES: usize = 200_000;

/// Number of halvings of the bracket of an extremum: a quadratic maximum is then exact to rounding.
pub(crate) const EXTREMUM_HALVINGS: usize = 16;

// checks

/// The number of generic states that decide a general result: that two agree by chance and a third does not would be a
/// rare accident, and one may be singular.
pub(crate) const GENERIC_STATES: usize = 3;

/// The number of nodes beyond which no expression is proved to be zero.
pub(crate) const PROOF_NODES: usize = 4_000;

/// The number of nodes up to which a constraint is solved for one of its symbols.
pub(crate) const SOLVED_NODES: usize = 200;

/// The number of free symbols beyond which no states are sought at which an expression acts.
pub(crate) const AIMED_SYMBOLS: usize = 120;

/// The number of atoms at whose arguments states are aimed.
pub(crate) const AIMED_ATOMS: usize = 12;

/// The number of states aimed at single arguments, and at pairs of them.
pub(crate) const AIMED_STATES: usize = 40;
pub(crate) const AIMED_PAIRS: usize = 16;

/// The number of states, where coefficients act, at which brackets are computed again; fewer if only quotients act.
pub(crate) const ACTING_STATES: usize = 6;
pub(crate) const FEW_ACTING_STATES: usize = 2;

/// The number of proofs of one analysis that may fail before no more are tried.
pub(crate) const FAILED_PROOFS: usize = 2;

/// The largest number of directions among which the dependence of another one is proved by determinants.
pub(crate) const PROVED_DIRECTIONS: usize = 3;

/// The number of steps of one search for an aimed state.
pub(crate) const AIMED_STEPS: usize = 60;

/// The number of states of which the largest clear value is shown.
pub(crate) const WITNESSES_COMPARED: usize = 8;

/// The number of other states that are tried for hidden constraints.
pub(crate) const HIDDEN_STATES: usize = 2;

/// The number of other states that test a formula; a false identity fails at almost every state.
pub(crate) const DECIDING_STATES: usize = 4;

/// The number of coordinates beyond which the dense quantities and the dense routes are left out.
pub(crate) const INSPECTED_COORDINATES: usize = 300;

/// The number of coordinates beyond which the responses to unit forces are not computed.
pub(crate) const RESPONSE_COORDINATES: usize = 200;

/// The number of coordinates beyond which no other states are tried, so that `check` takes a fraction of a second.
pub(crate) const OTHER_STATES_COORDINATES: usize = 400;

/// The number of directions beyond which no proof is tried: the entries of a form grow with its square.
pub(crate) const RIGIDITY_DIRECTIONS: usize = 24;

/// The number of columns whose quotients are tried.
pub(crate) const QUOTIENT_COLUMNS: usize = 12;

/// The number of coordinates up to which eight random states are evaluated; beyond it three.
pub(crate) const MANY_STATES_COORDINATES: usize = 60;

/// The number of dependent rows for which a formula is sought: each takes about a millisecond, and more would not be
/// read. Of the others only single multiples are proved, by one division.
pub(crate) const DEPENDENCE_FORMULAS: usize = 200;

/// The largest number of constraints that are tried one after another: each trial costs as much as all previous ones
/// together.
pub(crate) const CONSTRAINTS_TRIED: usize = 50;

/// The number of nodes beyond which an integrand is not of this simple kind.
pub(crate) const INTEGRAND_NODES: usize = 300;

/// The largest number of terms that an expansion may give.
pub(crate) const EXPANSION_TERMS: usize = 60;

/// The number of nodes that brackets may add to the graph: measured, about forty milliseconds of work.
pub(crate) const BRACKET_NODES: usize = 45_000;

/// The number of coordinates beyond which the elimination alone would take longer than a fraction of a second.
pub(crate) const BRACKET_COORDINATES: usize = 120;

/// The number of nodes beyond which lengths are not distinguished.
pub(crate) const LENGTH_COMPARED: usize = 64;

/// The number of unknown multipliers that are fitted at once; more would take longer than a fraction of a second.
pub(crate) const FITTED_MULTIPLIERS: usize = 90;

/// The number of rows beyond which no factors and combinations are sought.
pub(crate) const COMBINED_ROWS: usize = 40;

/// The number of nodes of all velocity rows together; a carriage has about forty.
pub(crate) const VELOCITY_ROW_NODES: usize = 120;

/// Enough for the largest fit; probes that are not needed are not evaluated.
pub(crate) const PROBES: usize = 24;

/// The number of components of all forces together beyond which forces are not analysed one by one.
pub(crate) const FORCE_ENTRIES: usize = 100_000;

/// The largest number of coordinates: the curl has half its square of components.
pub(crate) const CURL_COORDINATES: usize = 24;

/// The number of coordinates with forces beyond which sums of momenta are not sought.
pub(crate) const MOMENTUM_COORDINATES: usize = 60;

/// The largest work spent on one contradiction: iterations of searches times unknowns.
pub(crate) const CONTRADICTION_WORK: usize = 2_000_000;

/// The number of starts of a search in addition to the guesses for the start itself.
pub(crate) const CONTRADICTION_STARTS: usize = 16;

/// The largest number of pairs of rows that are tried one by one if more rows were found to conflict.
pub(crate) const CONTRADICTION_PAIRS: usize = 120;

/// The number of starts tried while rows are left out; the final result uses all of them.
pub(crate) const FEW_STARTS: usize = 7;

/// The number of first rows that are evaluated whatever the work, in addition to the last one.
pub(crate) const FIRST_ROWS: usize = 6;

/// The number of unknowns beyond which the curvature is not computed.
pub(crate) const CURVED_UNKNOWNS: usize = 40;

/// The number of coordinates beyond which positions and velocities are not sought together.
pub(crate) const JOINT_COORDINATES: usize = 30;

/// Leaving one contact may enter another; more than eight rounds do not converge.
pub(crate) const ADMISSIBLE_ROUNDS: usize = 8;

/// The number of steps of one search: two, so that the second starts from a generic state.
pub(crate) const SEARCH_STEPS: usize = 2;

// programs

/// Up to this number of rows the least pivot is reported. A system with more rows is not monitored for singular
/// positions, because one of its pivots is always small.
pub(crate) const MONITORED_ROWS: usize = 1000;

/// Largest number of instructions of a program: beyond it sparse algebra is as fast, and compilation would take long.
pub(crate) const EXPLICIT_INSTRUCTIONS: usize = 60_000;

/// Largest number of instructions of a step without its sums. Beyond a hundred instructions a stage, the memory traffic
/// is negligible, and the code no longer fits into the cache of decoded instructions.
pub(crate) const STEP_INSTRUCTIONS: usize = 1_200;

/// The number of steps in which the program saves the time of its generation.
pub(crate) const STEPS_TO_PAY: usize = 5_000;

/// The number of interpreted instructions that takes as long as starting the code generator.
pub(crate) const GENERATOR_START: usize = 40_000;

/// The number of interpretations of an instruction that takes as long as generating its code.
pub(crate) const INTERPRETATIONS: usize = 500;

/// The number of calls after which optimised code is generated in the background.
pub(crate) const CALLS_TO_OPTIMISE: usize = 20_000;

/// The number of calls after which optimised code is generated if there is no background executor.
pub(crate) const CALLS_TO_OPTIMISE_HERE: usize = 200_000;

/// Longer programs are not optimised: optimisation would take a second and more.
pub(crate) const OPTIMISED_INSTRUCTIONS: usize = 100_000;

/// The number of calls between two updates of the shared count, at which optimised code is also looked up.
pub(crate) const CALLS_PER_COUNT: usize = 512;

// formulas

/// The largest number of dependent accelerations that are solved for.
pub(crate) const DEPENDENT_ACCELERATIONS: usize = 4;

/// The number of nodes up to which a is written into the Gaussian; a longer one becomes a symbol.
pub(crate) const GAUSSIAN_NODES: usize = 6;

/// The number of coordinates beyond which velocities in terms of momenta are of no use to a reader.
pub(crate) const LEGENDRE_COORDINATES: usize = 6;

/// The number of symbols that a name must save: about one line, so that the names do not hide the formula.
pub(crate) const NAME_SAVINGS: u64 = 20;

/// The cost in percent below which formulas with common parts replace formulas that are each in their shortest form.
/// The latter are easier to read.
pub(crate) const COMMON_PARTS_PERCENT: u64 = 85;

/// The largest number of names: a reader does not remember more.
pub(crate) const NAMES_IN_FORMULAS: usize = 150;

/// The number of nodes up to which a sum is multiplied out.
pub(crate) const EXPANDED_SUM: usize = 200;

/// The number of coordinates or independent rows beyond which formulas are of no use to a reader.
pub(crate) const CLOSED_FORM_SIZE: usize = 24;

/// The longest formula that is read without help, in symbols: about eight lines.
pub(crate) const LONGEST_FORMULA: u64 = 250;

/// The longest formula of the motion for which no parts are sought, in symbols: about three lines.
pub(crate) const SHORT_FORMULA: u64 = 90;

/// The number of symbols up to which entries of M, Q, A and b are written where they are used.
pub(crate) const SHORT_ENTRY: u64 = 12;

/// The largest number of unknowns of a system that is solved for accelerations and multipliers together.
pub(crate) const UNKNOWNS_TOGETHER: usize = 8;

/// The number of symbols beyond which no short form of an elimination's result would be found.
pub(crate) const HOPELESS_FORMULA: u64 = 100_000;

/// The largest number of coordinates for which P and N are written: more is not read.
pub(crate) const PROJECTED_COORDINATES: usize = 4;

/// The longest entry of P and N that is written, in symbols.
pub(crate) const PROJECTED_ENTRY: u64 = 24;

/// The number of symbols up to which a quantity needs no name: `2*x/m - y`.
pub(crate) const SHORT_QUANTITY: u64 = 6;

/// The number of symbols up to which a part that is used once is substituted where it is used.
pub(crate) const LONGEST_LINE: u64 = 50;

/// The number of symbols beyond which a formula is not shortened.
pub(crate) const SHORTENED_FORMULA: u64 = 300;

/// The number of symbols that are shortened in total: a second or two.
pub(crate) const SHORTENED_SYMBOLS: u64 = 20_000;

// searches near a state

/// The number of states near a given one that are tried: one may be special or without a value.
pub(crate) const NEARBY_STATES: u64 = 3;

/// The number of starts in addition to the given one.
pub(crate) const EQUILIBRIUM_STARTS: u64 = 24;

/// The number of coordinates beyond which families are not followed.
pub(crate) const FOLLOWED_COORDINATES: usize = 12;

/// The number of parts into which the distance to a member of a family is divided.
pub(crate) const FAMILY_STEPS: usize = 8;

/// The number of further steps over the whole remaining distance, for deviations that the curvature caused.
pub(crate) const FAMILY_MORE_STEPS: usize = 4;

/// The number of steps of one search for an equilibrium.
pub(crate) const EQUILIBRIUM_STEPS: usize = 100;

/// The number of directions in which a kink or a jump is sought.
pub(crate) const OBSTACLE_STATES: u64 = 8;

/// The largest mass matrix whose eigenvalues are computed for a note.
pub(crate) const SMALL_MATRIX: usize = 64;

/// The number of scalar contacts beyond which pairs are not compared for exclusion.
pub(crate) const EXCLUDING_CONTACTS: usize = 60;

/// The number of times of a run at which two contacts are looked at for exclusion.
pub(crate) const EXCLUSION_TIMES: usize = 1000;

/// The number of bisections that locate a time to rounding.
pub(crate) const BISECTIONS: usize = 64;

/// Nodes of M, Q, A and b up to which sharp functions are bounded over each step: in larger equations forming the terms and
/// dividing their boxes would take longer than the motion.
pub(crate) const SHARP_NODES: usize = 500;
