//! Contacts and friction at one state: active rows become constraints, sliding friction becomes a nonideal force.

use zwang_motion::{IntegrationOptions, Motion, MotionError, RouteName, Settings, Snapshot, State, route};

use crate::analysis::check::Check;
use crate::analysis::constraints::{dependence, determinacy};
use crate::analysis::{self, Determinacy};
use crate::compile::evaluator::Evaluator;

/// The contact mode at a state.
struct Mode {
    state: State,
    /// `true` for each active row of the motion.
    holds: Vec<bool>,
    /// The multipliers that act, one for each row of the motion.
    lambda: Vec<f64>,
    /// The mode of each contact and of each friction law, by its row.
    words: Vec<(usize, &'static str)>,
}

impl Check {
    /// Replaces contacts and friction by their contact mode at a state: closed and sticking contacts become
    /// constraints, sliding friction becomes C.
    ///
    /// Returns the state, with the velocities after any impact there, and the multipliers of the remaining rows.
    /// Nothing changes if all rows are permanent.
    pub(crate) fn enter_contact_mode(
        &mut self,
        state: &State,
        settings: &Settings,
    ) -> Result<(State, Option<Vec<f64>>), MotionError> {
        if !self.equations.has_contacts() {
            return Ok((state.clone(), None));
        }
        let mut system = self.motion_evaluator().ok_or_else(not_known)?;
        let mode = find_mode(&mut system, state, settings)?;
        let equations = self.equations.clone().with_contact_rows();
        let name = |row: usize| equations.model.constraints[equations.rows[row].constraint].name.clone();
        self.modes = mode.words.iter().map(|&(row, word)| (name(row), word)).collect();
        let lambda: Vec<_> = equations.rows.iter().map(|row| row.lambda).collect();
        self.equations = equations.in_contact_mode(&mode.holds, &mode.lambda).ok_or_else(not_known)?;
        self.system = system.in_contact_mode(&mode.holds, &mode.lambda).with_outputs_of(&self.equations, &lambda);
        self.constraints = analysis::classify(&mut self.equations);
        Ok((mode.state, Some(kept(&mode.lambda, &mode.holds))))
    }

    /// The determinacy of the multipliers, and of the quantities computed from them, at a state, contacts and friction
    /// included; `None` if the contact mode was not found.
    pub(crate) fn determinacy_at(&self, state: &State, settings: &Settings) -> Option<Determinacy> {
        let mut system = self.motion_evaluator()?;
        let mode = find_mode(&mut system, state, settings).ok()?;
        let mut equations = self.equations.clone().in_contact_mode(&mode.holds, &mode.lambda)?;
        let mut system = system.in_contact_mode(&mode.holds, &mode.lambda);
        let mut snapshot = Snapshot::new(&mut system);
        let mut solver = route(RouteName::GeneralizedInverse, settings);
        snapshot.take(&mut system, &mode.state, &mut *solver, settings).ok()?;
        let rows = dependence::redundant(&mut equations, &mut system, &mode.state, &snapshot.given, settings);
        Some(determinacy::determinacy(&equations, &snapshot, &rows))
    }

    /// An evaluator with all rows that can move; `None` if a formula contains a symbol without a value.
    pub fn motion_evaluator(&self) -> Option<Evaluator> {
        let mut system = self.system.with_all_rows();
        if !system.can_move() && !system.compile_motion(&mut self.equations.clone().with_contact_rows()) {
            return None;
        }
        Some(system)
    }
}

fn not_known() -> MotionError {
    MotionError::NotFinite { what: "a contact or its friction".into() }
}

/// The multipliers of the rows that hold.
fn kept(lambda: &[f64], holds: &[bool]) -> Vec<f64> {
    lambda.iter().zip(holds).filter(|(_, holds)| **holds).map(|(lambda, _)| *lambda).collect()
}

fn find_mode(system: &mut Evaluator, state: &State, settings: &Settings) -> Result<Mode, MotionError> {
    let plan = IntegrationOptions {
        end: state.t + 1.0,
        route: RouteName::GeneralizedInverse,
        ..IntegrationOptions::default()
    };
    let mut motion = Motion::new(system, state, &plan, settings)?;
    if motion.outcome().is_some() {
        return Err(MotionError::Jammed { row: motion.rows_with_friction().first().copied().unwrap_or(0) });
    }
    let lambda = motion.at(state.t)?.lambda.clone();
    let holds = (0..lambda.len()).map(|row| motion.holds(row)).collect();
    Ok(Mode { state: motion.state(), holds, lambda, words: motion.modes() })
}
