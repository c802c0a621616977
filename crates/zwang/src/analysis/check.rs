//! The order of the analyses: derive, compile, find the start, analyse the constraints there.

use zwang_motion::{MotionError, RouteName, Settings, Snapshot, State, route};

use crate::analysis::messages;
use crate::analysis::start::{find_start, nearest_outside, start_line};
use crate::analysis::{
    self, Classification, Dependencies, Determinacy, Freedom, Integrability, LagrangianSide, Redundant, lagrangian_side,
};
use crate::compile::evaluator::Evaluator;
use crate::compile::program::Jit;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::equations::Equations;
use crate::model::Model;
use crate::quantity::{number, with_unit};
use crate::{
    analysis::constraints::{contradiction, dependence, determinacy, exclusion, freedom, hidden, integrability},
    tolerance,
};

/// The extent of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Analyses {
    /// All analyses, invariants included.
    Full,
    /// Without the analyses that take milliseconds and change no motion.
    ForRun,
}

/// The equations of a model, the kinds of its constraints, and its evaluator.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) equations: Equations,
    pub(crate) constraints: Vec<Classification>,
    pub(crate) evaluator: Evaluator,
}

/// All results that follow from a model without integrating it.
#[derive(Clone)]
pub struct Check {
    /// The derived equations.
    pub equations: Equations,
    /// The compiled equations.
    pub system: Evaluator,
    /// The consistent start.
    pub state: State,
    /// Every quantity at the start, computed by `route`.
    pub snapshot: Snapshot,
    /// The route that computes the accelerations.
    pub route: RouteName,
    /// The kind of each constraint.
    pub constraints: Vec<Classification>,
    /// The redundant rows.
    pub redundant: Vec<Redundant>,
    /// The position constraints that velocity constraints imply, and the growth vector.
    pub integrability: Integrability,
    /// Constraints that could be left out together, by index.
    pub removable: Vec<usize>,
    /// The multipliers, and the quantities computed from them, that the model determines.
    pub determinacy: Determinacy,
    /// The degrees of freedom, here and in general.
    pub freedom: Freedom,
    /// Rank of A.
    pub rank: usize,
    /// `true` if M is regular.
    pub regular: bool,
    /// The mode of each contact and friction law at the state, after it was computed: `open`, `closed`, `sticks` or
    /// `slides`.
    pub modes: Vec<(String, &'static str)>,
    /// Regularity, energy and momenta; `None` until [`Check::analyse_lagrangian`] is called.
    pub lagrangian: Option<LagrangianSide>,
    /// All diagnostics, those of parsing and derivation included.
    pub notes: Diagnostics,
}

impl Check {
    /// n − rank.
    pub fn degrees_of_freedom(&self) -> usize {
        self.state.q.len() - self.rank
    }

    /// Analyses regularity, energy and momenta. A run needs none of this, so `check` leaves it out.
    pub fn analyse_lagrangian(&mut self, settings: &Settings) {
        self.lagrangian = Some(lagrangian_side(self, settings));
    }

    /// Moves to another state, such as the end of a run, and computes every quantity and the rank there.
    pub fn move_to(&mut self, state: State, settings: &Settings) -> Result<(), Box<Diagnostic>> {
        self.look_at(&state, settings).map_err(|error| {
            // a contact mode that was not found was searched for among all rows
            if self.equations.has_contacts() {
                self.system = self.system.with_all_rows();
                self.equations = self.equations.clone().with_contact_rows();
            }
            Box::new(contradiction::explained(&self.equations, &mut self.system, &state, &error, settings))
        })
    }

    /// Moves to another state; on failure the error is returned without its explanation.
    pub(crate) fn look_at(&mut self, state: &State, settings: &Settings) -> Result<(), MotionError> {
        let has_contacts = self.equations.has_contacts();
        let (state, lambda) = self.enter_contact_mode(state, settings)?;
        if has_contacts {
            self.snapshot = Snapshot::new(&mut self.system);
        }
        let mut solver = route(self.route, settings);
        self.snapshot.take(&mut self.system, &state, &mut *solver, settings)?;
        if let Some(lambda) = lambda {
            // if forces are indeterminate, the acting ones keep normal forces compressive and friction in its cone
            let found = &mut self.snapshot.found;
            found.lambda_acting.copy_from_slice(&lambda);
            if self.equations.nonideal_force.is_empty() {
                found.lambda.copy_from_slice(&lambda);
            }
        }
        let Check { equations, system, snapshot, .. } = self;
        // an event may have changed parameters, and everything from here on concerns this state
        equations.model.parameter_values.copy_from_slice(system.parameters());
        let rows = dependence::redundant(equations, system, &state, &snapshot.given, settings);
        self.determinacy = determinacy::determinacy(equations, snapshot, &rows);
        self.rank = rows.rank(snapshot.found.rank);
        self.freedom = freedom::freedom(equations, self.rank, &rows);
        let necessity = dependence::necessity(equations, &rows, settings);
        self.constraints.iter_mut().zip(necessity.essential).for_each(|(c, essential)| c.essential = essential);
        (self.removable, self.redundant) = (necessity.removable, rows.redundant);
        self.lagrangian = None;
        self.regular = !self.snapshot.found.singular_mass;
        self.state = state;
        Ok(())
    }
}

/// Classifies the constraints and compiles the equations; `None` if a symbol in them has no value.
pub(crate) fn prepare(
    mut equations: Equations,
    with_legendre: bool,
    jit: &Jit,
    notes: &mut Diagnostics,
) -> Option<Prepared> {
    let constraints = analysis::classify(&mut equations);
    let evaluator = compiled(&mut equations, with_legendre, jit, notes)?;
    Some(Prepared { equations, constraints, evaluator })
}

/// Finds the start and analyses the constraints there; `None` if there are errors.
pub(crate) fn analyse(
    prepared: Prepared,
    settings: &Settings,
    route_name: RouteName,
    fix_start: bool,
    analyses: Analyses,
    diagnostics: &mut Diagnostics,
) -> Option<Check> {
    let Prepared { mut equations, mut constraints, evaluator: mut system } = prepared;
    let Some(state) = find_start(&mut equations, &mut system, settings, fix_start, diagnostics) else {
        let scene = integrability::ConstraintsInContext { equations: &equations, start: None, settings };
        let integrability = integrability::integrability(&scene, &mut constraints, || None);
        diagnostics.extend(integrability::integral_notes(&equations, &integrability));
        return None;
    };
    contacts_outside(&equations, &mut system, &state, settings, diagnostics);
    diagnostics.extend(exclusion::exclusions(&mut equations.model, state.t));
    coefficients_in_range(&equations, &system, &state, diagnostics);

    let mut snapshot = Snapshot::new(&mut system);
    let mut solver = route(route_name, settings);
    if let Err(error) = snapshot.take(&mut system, &state, &mut *solver, settings) {
        diagnostics.push(contradiction::explained(&equations, &mut system, &state, &error, settings));
        return None;
    }
    let rows = dependence::redundant(&mut equations, &mut system, &state, &snapshot.given, settings);
    let rank = rows.rank(snapshot.found.rank);
    let freedom = freedom::freedom(&equations, rank, &rows);
    let mut integrability = Integrability::default();
    if analyses == Analyses::Full || !integrability::takes_long(&equations) {
        let of_positions = || integrability::rank_of_positions(&equations, &rows);
        let scene = integrability::ConstraintsInContext { equations: &equations, start: Some(&state), settings };
        integrability = integrability::integrability(&scene, &mut constraints, of_positions);
    }
    let mut necessity = dependence::necessity(&equations, &rows, settings);
    constraints
        .iter_mut()
        .zip(std::mem::take(&mut necessity.essential))
        .for_each(|(c, essential)| c.essential = essential);

    diagnostics.extend(integrability::integral_notes(&equations, &integrability));
    // rows that agree here and disagree elsewhere are redundant only at this instant, and none can be removed
    match hidden::further_condition(&mut equations, &mut system, &state, &rows.here, settings) {
        Some(further) => {
            let mut apart = rows.clone();
            apart.redundant.retain(|r| further.leaves(r));
            diagnostics.push(further.warning);
            diagnostics.extend(messages::dependence::redundancy_notes(&equations, &apart, rank, settings));
            constraints.iter_mut().for_each(|c| c.essential = None);
            necessity.removable.clear();
        }
        None => diagnostics.extend(dependence_notes(&equations, &rows, &freedom, settings)),
    }
    diagnostics.extend(messages::dependence::nearly_singular_mass(&equations.model, &snapshot.given.mass_matrix));
    diagnostics.extend(analysis::control::following(&equations, &mut system, &snapshot, &mut *solver, settings));
    unsupported_notes(&equations.model, Severity::Note, diagnostics);
    let mut check = Check {
        determinacy: determinacy::determinacy(&equations, &snapshot, &rows),
        removable: necessity.removable,
        redundant: rows.redundant,
        freedom,
        rank,
        regular: !snapshot.found.singular_mass,
        equations,
        system,
        state,
        snapshot,
        route: route_name,
        constraints,
        integrability,
        modes: Vec::new(),
        lagrangian: None,
        notes: Diagnostics::default(),
    };
    if diagnostics.has_errors() {
        return None;
    }
    if analyses == Analyses::Full {
        check.analyse_lagrangian(settings);
    }
    Some(check)
}

/// The evaluator; `None`, with the reason as a diagnostic, if a symbol in the equations has no value.
fn compiled(
    equations: &mut Equations,
    with_legendre: bool,
    jit: &Jit,
    diagnostics: &mut Diagnostics,
) -> Option<Evaluator> {
    let system = Evaluator::compile(equations, with_legendre, jit.clone());
    if system.is_none() {
        unsupported_notes(&equations.model, Severity::Error, diagnostics);
        if !diagnostics.has_errors() {
            let message = "the equations contain a quantity that this version cannot compute";
            diagnostics.push(Diagnostic::error("Z901", message).help("leave out what is only known along the motion"));
        }
    }
    system
}

/// Z310, Z312 and Z318: redundant rows, vanishing rows, and freedoms that nearby states do not have.
fn dependence_notes(
    equations: &Equations,
    rows: &Dependencies,
    freedom: &Freedom,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let rank = equations.model.n_coordinates() - freedom.here;
    let mut notes = messages::dependence::redundancy_notes(equations, rows, rank, settings);
    notes.extend(messages::dependence::vanishing_notes(equations, rows));
    notes.extend(freedom::mobility_note(equations, freedom));
    notes.extend(freedom::doubt_note(equations, rank, rows, settings));
    notes
}

/// Z203: contacts that start with a negative gap.
fn contacts_outside(
    equations: &Equations,
    system: &mut Evaluator,
    state: &State,
    settings: &Settings,
    diagnostics: &mut Diagnostics,
) {
    let mut nearest = None;
    let rows: Vec<_> = equations.model.contacts.iter().flat_map(|c| &c.rows).map(|r| r.expr).collect();
    let gaps = system.evaluate(&equations.model, state, &rows).unwrap_or_default();
    let n_inside = gaps.iter().filter(|gap| **gap < -tolerance::RUN).count();
    for contact in &equations.model.contacts {
        let exprs: Vec<_> = contact.rows.iter().map(|r| r.expr).collect();
        let Some(gaps) = system.evaluate(&equations.model, state, &exprs) else { continue };
        for (row, gap) in contact.rows.iter().zip(gaps).filter(|(_, gap)| *gap < -tolerance::RUN) {
            let depth = with_unit(-gap, row.dimension);
            let mut d = Diagnostic::error("Z203", format!("contact `{}` starts {depth} inside its limit", row.name))
                .at(
                    contact.span,
                    format!("left side minus right side is {}, must be >= 0", with_unit(gap, row.dimension)),
                );
            if let Some(span) = equations.model.start_span {
                d = d.and_at(span, "the start");
            }
            let moved =
                nearest.get_or_insert_with(|| nearest_outside(equations, system, state, tolerance::RUN, settings));
            diagnostics.push(match moved {
                Some(q) => d.help(format!(
                    "nearest allowed start (smallest change, weighted by mass, of what is not given exactly if that will do):\n    {}",
                    start_line(&equations.model, q, &state.qdot)
                )),
                None if n_inside > 1 => d.help("no start outside of all contacts was found; they may exclude each other"),
                None => d.help(format!("move the start by at least {depth} to the allowed side; touching is allowed")),
            });
        }
    }
}

/// Z320: restitution is between 0 and 1; friction is not negative, and static friction is not less than kinetic
/// friction.
fn coefficients_in_range(equations: &Equations, system: &Evaluator, state: &State, diagnostics: &mut Diagnostics) {
    let model = &equations.model;
    let mut judge = |what: String, expr, span, most: f64| {
        let value = system.evaluate(model, state, &[expr]).map(|values| values[0]);
        let Some(value) = value.filter(|x| !(0.0..=most).contains(x)) else { return };
        let (label, help) = match most.is_finite() {
            true => ("between 0 (all is lost) and 1 (nothing is)", "energy does not come out of an impact"),
            false => ("not negative", "friction does not drive"),
        };
        let d = Diagnostic::error("Z320", format!("the {what} is {}", number(value)));
        diagnostics.push(d.at(span, format!("it must be {label}")).help(help));
    };
    for (contact, &restitution) in model.contacts.iter().zip(&model.restitutions) {
        judge(format!("restitution of `{}`", contact.name), restitution, contact.span, 1.0);
    }
    for law in &model.frictions {
        let of = if law.constraint { &model.constraints[law.of] } else { &model.contacts[law.of] };
        for coefficient in [law.static_mu, law.kinetic_mu] {
            judge(format!("coefficient of friction of `{}`", of.name), coefficient, law.span, f64::INFINITY);
            if law.kinetic_mu == law.static_mu {
                break;
            }
        }
    }
    for law in &model.frictions {
        let of = if law.constraint { &model.constraints[law.of] } else { &model.contacts[law.of] };
        let values = system.evaluate(model, state, &[law.static_mu, law.kinetic_mu]);
        let Some((holding, sliding)) = values.map(|v| (v[0], v[1])).filter(|(h, s)| s > h) else { continue };
        let message = format!("the friction of `{}` is larger sliding than at rest", of.name);
        let label = format!("{} while it slides, {} while it sticks", number(sliding), number(holding));
        let help = "write the larger one first:   with friction 0.6 and sliding 0.4";
        diagnostics.push(Diagnostic::error("Z320", message).at(law.span, label).help(help));
    }
}

/// Z901: statements that are understood and not computed by this version.
pub(crate) fn unsupported_notes(model: &Model, severity: Severity, diagnostics: &mut Diagnostics) {
    for later in model.later.iter().filter(|l| severity == Severity::Note || l.changes_motion) {
        let consequence = match (later.changes_motion, severity) {
            (true, Severity::Note) => "what is shown is without it",
            (true, _) => "the motion would be wrong without it",
            _ => "nothing else depends on it",
        };
        let message = match severity {
            Severity::Note => format!("{} is understood but not computed yet", later.what),
            _ => format!("not yet: {} is understood but this version does not compute it", later.what),
        };
        let mut d = Diagnostic::note("Z901", message).at(later.span, consequence);
        d.severity = severity;
        diagnostics.push(match severity {
            Severity::Note => d,
            _ if later.what.ends_with("beside a control") => {
                d.help("state a held contact as a `constraint`, or leave the friction or the control out")
            }
            _ => d.help("`zwang check` works without most of these"),
        });
    }
}

/// Adds errors for statements that this version does not compute; `true` if one of them changes the motion.
pub(crate) fn later_errors(model: &Model, notes: &mut Diagnostics) -> bool {
    let changes = model.later.iter().any(|later| later.changes_motion);
    if changes {
        unsupported_notes(model, Severity::Error, notes);
    }
    changes
}
