//! The whole way from text to a verdict: read, derive, compile, start, and what the constraints say there.

use zwang_motion::{MotionError, RouteName, Settings, Snapshot, State, route};

use crate::compiled::Coding;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::equations::Equations;
use crate::lower::{Files, lower};
use crate::model::Model;
use crate::quantity::{number, with_unit};
use crate::start::{find_start, nearest_outside, start_line};
use crate::syntax::{Overrides, parse};
use crate::system::System;
use crate::verdict::{
    self, Classification, Dependencies, Determinacy, Freedom, Integrability, LagrangianSide, Redundant, contradiction,
    dependence, determinacy, freedom, hidden, integrability, lagrangian_side,
};

/// A text that was read: the model if it has no errors, and everything there is to say about it.
pub struct Reading {
    /// The text, with the overrides of the command line appended.
    pub text: String,
    /// How much of `text` is the user's file.
    pub file_length: usize,
    /// The model; none if there are errors.
    pub model: Option<Model>,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
}

/// Reads a model text.
///
/// ```
/// let reading = zwang::read("coordinates x\nmass x: 2\nforce x: 6\nstart x = 0", &Default::default());
/// assert!(!reading.diagnostics.has_errors());
/// ```
pub fn read(text: &str, overrides: &Overrides) -> Reading {
    read_with(text, overrides, &|_| Err("no file can be opened here".into()))
}

/// The same for a model that names files, which `files` opens: tables.
pub fn read_with(text: &str, overrides: &Overrides, files: Files) -> Reading {
    let mut text = with_line_ends(text);
    let (mut tree, mut diagnostics) = parse(&text);
    let file_length = text.len();
    overrides.apply(&mut text, &mut tree, &mut diagnostics);
    let model = lower(&tree, &text, files, &mut diagnostics);
    let model = model.filter(|_| !diagnostics.has_errors());
    Reading { text, file_length, model, diagnostics }
}

/// What to look at, and how.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The numbers that decide something.
    pub settings: Settings,
    /// Take the nearest consistent start instead of refusing one that is off.
    pub fix_start: bool,
    /// Also compile what the two-form route needs.
    pub with_legendre: bool,
    /// The route whose answer is shown.
    pub route: RouteName,
    /// When programs become machine code.
    pub coding: Coding,
    /// Leave out what takes milliseconds and changes no motion: a run is waiting.
    pub brief: bool,
}

/// All that can be said about a model without moving it.
pub struct Check {
    /// The derived equations.
    pub equations: Equations,
    /// The same, compiled.
    pub system: System,
    /// The consistent start.
    pub state: State,
    /// Every quantity there, by the route asked for.
    pub snapshot: Snapshot,
    /// That route.
    pub route: RouteName,
    /// The kind of each constraint.
    pub constraints: Vec<Classification>,
    /// Rows that repeat others.
    pub redundant: Vec<Redundant>,
    /// What velocity constraints say about positions, and the growth vector.
    pub integrability: Integrability,
    /// Constraints that could be left out together, by number.
    pub removable: Vec<usize>,
    /// Which multipliers, and what is made of them, the model determines.
    pub determinacy: Determinacy,
    /// How many freedoms there are, here and in general.
    pub freedom: Freedom,
    /// Rank of A.
    pub rank: usize,
    /// Whether M is regular.
    pub regular: bool,
    /// What each contact and friction does at the state, once it was looked at: `open`, `closed`, `sticks` or `slides`.
    pub modes: Vec<(String, &'static str)>,
    /// What the Lagrangian tells, once [`Check::look_at_lagrangian`] was asked for it.
    pub lagrangian: Option<LagrangianSide>,
}

impl Check {
    /// n − rank.
    pub fn degrees_of_freedom(&self) -> usize {
        self.state.q.len() - self.rank
    }

    /// Finds out about regularity, energy and momenta. A run needs none of this, so `check` leaves it out.
    pub fn look_at_lagrangian(&mut self, settings: &Settings) {
        self.lagrangian = Some(lagrangian_side(self, settings));
    }

    /// Looks at another state, such as the end of a run: every quantity there, and the rank.
    pub fn move_to(&mut self, state: State, settings: &Settings) -> Result<(), Box<Diagnostic>> {
        self.look_at(&state, settings).map_err(|error| {
            Box::new(contradiction::explained(&self.equations, &mut self.system, &state, &error, settings))
        })
    }

    /// The same, with the bare error.
    pub(crate) fn look_at(&mut self, state: &State, settings: &Settings) -> Result<(), MotionError> {
        let is_one_sided = self.equations.is_one_sided();
        let (state, lambda) = self.enter_mode(state, settings)?;
        if is_one_sided {
            self.snapshot = Snapshot::new(&self.system);
        }
        let mut way = route(self.route, settings);
        self.snapshot.take(&mut self.system, &state, &mut *way, settings)?;
        if let Some(lambda) = lambda {
            // where forces are shared, those that act keep contacts pushing and friction in its cone
            let found = &mut self.snapshot.found;
            found.lambda_acting.copy_from_slice(&lambda);
            if self.equations.nonideal_force.is_empty() {
                found.lambda.copy_from_slice(&lambda);
            }
        }
        let Check { equations, system, snapshot, .. } = self;
        // an event may have changed them, and everything from here on is about this state
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

/// Derives the equations, finds the start and looks at the constraints there; none if there are errors.
pub fn check(model: Model, wishes: &Wishes, diagnostics: &mut Diagnostics) -> Option<Check> {
    let mut equations = Equations::derive(model);
    let mut constraints = verdict::classify(&mut equations);
    let mut system = compiled(&mut equations, wishes, diagnostics)?;
    let settings = &wishes.settings;
    let Some(state) = find_start(&mut equations, &mut system, settings, wishes.fix_start, diagnostics) else {
        let scene = integrability::Scene { equations: &equations, start: None, settings };
        let integrability = integrability::integrability(&scene, &mut constraints, || None);
        diagnostics.extend(integrability::integral_notes(&equations, &integrability));
        return None;
    };
    contacts_outside(&equations, &mut system, &state, settings, diagnostics);
    coefficients_in_range(&equations, &system, &state, diagnostics);

    let mut snapshot = Snapshot::new(&system);
    let mut way = route(wishes.route, settings);
    if let Err(error) = snapshot.take(&mut system, &state, &mut *way, settings) {
        diagnostics.push(contradiction::explained(&equations, &mut system, &state, &error, settings));
        return None;
    }
    let rows = dependence::redundant(&mut equations, &mut system, &state, &snapshot.given, settings);
    let rank = rows.rank(snapshot.found.rank);
    let freedom = freedom::freedom(&equations, rank, &rows);
    let mut integrability = Integrability::default();
    if !(wishes.brief && integrability::takes_long(&equations)) {
        let of_positions = || integrability::rank_of_positions(&equations, &rows);
        let scene = integrability::Scene { equations: &equations, start: Some(&state), settings };
        integrability = integrability::integrability(&scene, &mut constraints, of_positions);
    }
    let mut necessity = dependence::necessity(&equations, &rows, settings);
    constraints
        .iter_mut()
        .zip(std::mem::take(&mut necessity.essential))
        .for_each(|(c, essential)| c.essential = essential);

    diagnostics.extend(integrability::integral_notes(&equations, &integrability));
    // rows that agree here and disagree elsewhere repeat each other only in this moment, and none can be spared
    match hidden::further_condition(&mut equations, &mut system, &state, &rows.here, settings) {
        Some(further) => {
            let mut apart = rows.clone();
            apart.redundant.retain(|r| further.leaves(r));
            diagnostics.push(further.warning);
            diagnostics.extend(dependence::redundancy_notes(&equations, &apart, rank));
            constraints.iter_mut().for_each(|c| c.essential = None);
            necessity.removable.clear();
        }
        None => diagnostics.extend(dependence_notes(&equations, &rows, &freedom, settings)),
    }
    diagnostics.extend(verdict::control::following(&equations, &mut system, &snapshot, &mut *way, settings));
    later_notes(&equations.model, Severity::Note, diagnostics);
    let check = Check {
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
        route: wishes.route,
        constraints,
        integrability,
        modes: Vec::new(),
        lagrangian: None,
    };
    (!diagnostics.has_errors()).then_some(check)
}

/// The system, compiled; none, with the reason, if something in it has no value.
fn compiled(equations: &mut Equations, wishes: &Wishes, diagnostics: &mut Diagnostics) -> Option<System> {
    let with_legendre = wishes.with_legendre || wishes.route == RouteName::TwoForm;
    let system = System::compile(equations, with_legendre, wishes.coding);
    if system.is_none() {
        later_notes(&equations.model, Severity::Error, diagnostics);
        if !diagnostics.has_errors() {
            let message = "the equations contain a quantity that this version cannot compute";
            diagnostics.push(Diagnostic::error("Z901", message).help("leave out what is only known along the motion"));
        }
    }
    system
}

/// Z310, Z312 and Z318: what repeats what, what vanishes, and freedoms that are not what they seem.
fn dependence_notes(
    equations: &Equations,
    rows: &Dependencies,
    freedom: &Freedom,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let rank = equations.model.n_coordinates() - freedom.here;
    let mut notes = dependence::redundancy_notes(equations, rows, rank);
    notes.extend(dependence::vanishing_notes(equations, rows));
    notes.extend(freedom::mobility_note(equations, freedom));
    notes.extend(freedom::doubt_note(equations, rank, rows, settings));
    notes
}

/// A gap that is negative by less than this counts as touching; it equals the default tolerance of a run.
const TOUCHING: f64 = 1e-9;

/// Z203: contacts that start inside.
fn contacts_outside(
    equations: &Equations,
    system: &mut System,
    state: &State,
    settings: &Settings,
    diagnostics: &mut Diagnostics,
) {
    let mut nearest = None;
    let rows: Vec<_> = equations.model.contacts.iter().flat_map(|c| &c.rows).map(|r| r.expr).collect();
    let gaps = system.evaluate(&equations.model, state, &rows).unwrap_or_default();
    let n_inside = gaps.iter().filter(|gap| **gap < -TOUCHING).count();
    for contact in &equations.model.contacts {
        let exprs: Vec<_> = contact.rows.iter().map(|r| r.expr).collect();
        let Some(gaps) = system.evaluate(&equations.model, state, &exprs) else { continue };
        for (row, gap) in contact.rows.iter().zip(gaps).filter(|(_, gap)| *gap < -TOUCHING) {
            let depth = with_unit(-gap, row.dimension);
            let mut d = Diagnostic::error("Z203", format!("contact `{}` starts {depth} inside its limit", row.name))
                .at(
                    contact.span,
                    format!("left side minus right side is {}, must be >= 0", with_unit(gap, row.dimension)),
                );
            if let Some(span) = equations.model.start_span {
                d = d.and_at(span, "the start");
            }
            let moved = nearest.get_or_insert_with(|| nearest_outside(equations, system, state, TOUCHING, settings));
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

/// Z320: restitution is between 0 and 1, friction not negative and not less at rest than sliding.
fn coefficients_in_range(equations: &Equations, system: &System, state: &State, diagnostics: &mut Diagnostics) {
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
        for coefficient in [law.holding, law.sliding] {
            judge(format!("coefficient of friction of `{}`", of.name), coefficient, law.span, f64::INFINITY);
            if law.sliding == law.holding {
                break;
            }
        }
    }
    for law in &model.frictions {
        let of = if law.constraint { &model.constraints[law.of] } else { &model.contacts[law.of] };
        let values = system.evaluate(model, state, &[law.holding, law.sliding]);
        let Some((holding, sliding)) = values.map(|v| (v[0], v[1])).filter(|(h, s)| s > h) else { continue };
        let message = format!("the friction of `{}` is larger sliding than at rest", of.name);
        let label = format!("{} while it slides, {} while it sticks", number(sliding), number(holding));
        let help = "write the larger one first:   with friction 0.6 and sliding 0.4";
        diagnostics.push(Diagnostic::error("Z320", message).at(law.span, label).help(help));
    }
}

/// Z901: what was understood but is not computed by this version.
pub fn later_notes(model: &Model, severity: Severity, diagnostics: &mut Diagnostics) {
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

/// The text in which a lone carriage return, too, ends a line; its length stays the same.
fn with_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        out.push(if c == '\r' && characters.peek() != Some(&'\n') { '\n' } else { c });
    }
    out
}
