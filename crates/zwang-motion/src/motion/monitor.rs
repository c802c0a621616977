//! What is checked after every step: constraints, control authority, stiffness, progress, the algebra in use.

use super::{Motion, Outcome, RoundingLimit, Stiffness, point::Point};
use crate::{
    Drift, Dynamics, Method, MotionError,
    acceleration::decomposition::Decomposition,
    limits,
    methods::{Integrator, Spread},
    tolerance::{self, RunWindow},
};

/// A step counts as stiff if neighbouring solutions part at this rate at least, times the step, and this much faster than
/// the solution itself changes.
const STIFF: (f64, f64) = (0.3, 100.0);

/// Counters over many steps.
pub(super) struct MotionMonitor {
    progress: RecentProgress,
    n_stiff: usize,
    n_not_stiff: usize,
    /// The longest time constant of the fast mode found while counting, which is the best estimate.
    time_constant: f64,
    /// The step of the explicit method when stiffness was noticed.
    explicit_step: f64,
    pub(super) stiffness: Option<Stiffness>,
    /// The largest tolerance that rounding has been found to need, and the step there; `None` if it limits no step.
    pub(super) rounding: Option<RoundingLimit>,
    /// The longest step since the last restart, and the accelerations at the ends of such steps.
    longest: f64,
    reference_acceleration: Vec<f64>,
}

/// The progress of the last steps.
struct RecentProgress {
    t: f64,
    n_steps: usize,
    /// For each velocity, its sign, the number of its changes since, and its largest size meanwhile.
    flips: Vec<(bool, usize, f64)>,
}

impl MotionMonitor {
    pub(super) fn new(point: &Point) -> MotionMonitor {
        let flips: Vec<(bool, usize, f64)> = point.velocities().iter().map(|v| (*v > 0.0, 0, 0.0)).collect();
        MotionMonitor {
            reference_acceleration: vec![0.0; flips.len()],
            progress: RecentProgress { t: point.t, n_steps: 0, flips },
            n_stiff: 0,
            n_not_stiff: 0,
            time_constant: 0.0,
            explicit_step: 0.0,
            stiffness: None,
            rounding: None,
            longest: 0.0,
        }
    }

    /// The motion restarts: steps are compared with those from here on.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.longest = 0.0;
        self.reference_acceleration.fill(0.0);
    }

    /// Ends a motion in which a law of the velocities changes its sign again and again: a velocity turns back within the error
    /// that is allowed, in one step of twenty, while nothing moves by more than a small part of its size. `rate` is the
    /// fastest relative rate of change.
    #[inline]
    pub(super) fn check_progress(
        &mut self,
        point: &Point,
        (v_size, rate): (&[f64], impl Fn() -> f64),
        window: RunWindow,
    ) -> Result<(), Outcome> {
        let progress = &mut self.progress;
        for ((positive, n_flips, most), v) in progress.flips.iter_mut().zip(point.velocities()) {
            *n_flips += usize::from(*positive != (*v > 0.0));
            *positive = *v > 0.0;
            *most = most.max(v.abs());
        }
        progress.n_steps += 1;
        if progress.n_steps < limits::STEPS_WITHOUT_PROGRESS {
            return Ok(());
        }
        let flips = &progress.flips;
        let most = (0..flips.len())
            .filter(|&i| flips[i].1 > limits::STEPS_WITHOUT_PROGRESS / limits::STEPS_PER_REVERSAL)
            .filter(|&i| flips[i].2 < tolerance::RESTING_SPEED * window.tolerance * v_size[i])
            .max_by_key(|&i| flips[i].1);
        let is_slow = (point.t - progress.t) * rate() < tolerance::NO_PROGRESS;
        (progress.t, progress.n_steps) = (point.t, 0);
        progress.flips.iter_mut().for_each(|(_, n_flips, most)| (*n_flips, *most) = (0, 0.0));
        match most {
            Some(coordinate) if is_slow => Err(Outcome::NoProgress { coordinate }),
            _ => Ok(()),
        }
    }

    /// `true` after the last of the steps that are judged together.
    #[inline]
    pub(super) fn has_judged(&self) -> bool {
        self.progress.n_steps == 0
    }

    /// Rounding limits the steps: to this length here, unless the tolerance is larger.
    pub(super) fn note_rounding(&mut self, limit: RoundingLimit) {
        if self.rounding.is_none_or(|known| known.tolerance < limit.tolerance) {
            self.rounding = Some(limit);
        }
    }

    /// Notes the length of a step; `true` if it is one of the long ones.
    #[inline]
    fn is_long(&mut self, h: f64) -> bool {
        /// A step of this part of the longest is long.
        const LONG_STEP: f64 = 0.5;
        self.longest = self.longest.max(h);
        h >= LONG_STEP * self.longest
    }

    /// Notes the accelerations at the end of a long step. An acceleration that would change the velocities little in such a step is
    /// treated as zero.
    #[inline]
    fn note_accelerations(&mut self, qddot: &[f64], v_size: &[f64]) {
        for ((reference, a), v) in self.reference_acceleration.iter_mut().zip(qddot).zip(v_size) {
            *reference = reference.max(a.abs()).max(v / self.longest);
        }
    }

    /// Counts a step of the explicit method that ends at t.
    #[inline]
    fn count_explicit_step(&mut self, is_stiff: bool, spread: &Spread, t: f64, h: f64) {
        if is_stiff {
            self.n_not_stiff = 0;
            self.n_stiff += 1;
            self.time_constant = self.time_constant.max(h / spread.neighbours);
            if self.n_stiff == 15 {
                self.stiffness = Some(Stiffness {
                    t,
                    coordinate: spread.coordinate,
                    time_constant: self.time_constant,
                    given_up: false,
                });
                self.explicit_step = h;
            }
        } else if self.n_stiff > 0 {
            self.n_not_stiff += 1;
            if self.n_not_stiff == 6 {
                (self.n_stiff, self.time_constant) = (0, 0.0);
            }
        }
    }

    /// Counts a step of the stiff method; `true` if it is given up, because it needs shorter steps than the explicit one did.
    #[inline]
    fn gives_up_stiff_method(&mut self, h: f64) -> bool {
        const SHORTER_STEP: f64 = 0.5;
        let Some(stiffness) = self.stiffness.as_mut().filter(|stiffness| !stiffness.given_up) else { return false };
        self.n_stiff += 1;
        if self.n_stiff != limits::STIFF_TRIAL || h > SHORTER_STEP * self.explicit_step {
            return false;
        }
        stiffness.given_up = true;
        true
    }

    /// `true` if the motion is stiff and the stiff method has not been given up.
    #[inline]
    pub(super) fn wants_stiff_method(&self) -> bool {
        self.stiffness.as_ref().is_some_and(|stiffness| !stiffness.given_up)
    }

    /// The stiff method begins.
    #[inline]
    pub(super) fn begin_stiff_method(&mut self) {
        self.n_stiff = 0;
    }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The contradiction at the end of the step, if the constraints cannot be satisfied there. The rank stays as it was decided
    /// at the last restart.
    pub(super) fn check_constraints(&mut self) -> Result<Option<MotionError>, MotionError> {
        if self.options.drift != Drift::Project || self.flow.smooth.given.constraint_rhs.is_empty() {
            return Ok(None);
        }
        // independent rows can always be satisfied, and the last correction was nothing but rounding
        if self.step.pivot.is_some() && (self.flow.smooth.has_full_rank || self.redundant_rows_hold()?) {
            return Ok(None);
        }
        if let Some(error) = self.flow.smooth.contradiction() {
            return Ok(Some(error));
        }
        self.violated_projection()
    }

    /// The contradiction between positions or velocities that the last projection has left.
    pub(super) fn violated_projection(&mut self) -> Result<Option<MotionError>, MotionError> {
        if self.options.drift != Drift::Project {
            return Ok(None);
        }
        let is_satisfied =
            self.flow.smooth.largest_residual()? <= 100.0 * self.options.tolerance.max(tolerance::ROUNDING);
        let smooth = &self.flow.smooth;
        Ok((!is_satisfied).then(|| {
            crate::acceleration::dependence::contradiction(&smooth.given, &smooth.instant.qddot, &smooth.settings)
        }))
    }

    /// `true` if the redundant rows that an explicit acceleration leaves out are satisfied at the end of the step; if not, there
    /// is a decomposition there to tell more.
    fn redundant_rows_hold(&mut self) -> Result<bool, MotionError> {
        let Some(rk) = self.integrator.runge_kutta() else { return Ok(false) };
        let n = self.flow.smooth.n;
        self.flow.smooth.fill()?;
        let is_satisfied = self.flow.smooth.satisfies_rows(&rk.end_rate()[n..2 * n]);
        if is_satisfied
            && self.flow.smooth.largest_residual()? <= 100.0 * self.options.tolerance.max(tolerance::ROUNDING)
        {
            return Ok(true);
        }
        self.step.set_pivot(None);
        self.flow.evaluate()?;
        Ok(false)
    }

    /// Notes the length of a step, and the accelerations at the ends of long ones, for systems with control.
    pub(super) fn note_step_length(&mut self, h: f64) {
        if !self.monitor.is_long(h) || self.flow.smooth.control.is_none() {
            return;
        }
        let Some(rk) = self.integrator.runge_kutta() else { return };
        let n = self.flow.smooth.n;
        self.monitor.note_accelerations(&rk.end_rate()[n..2 * n], &self.flow.smooth.v_size);
    }

    /// The control row for which the driven coordinates lose authority, if a step of this length shows it: what is left of a row
    /// has become small relative to what it was, and the steps with it, because forces grow as the authority falls. A motion that
    /// passes such a position with finite forces continues.
    pub(super) fn lost_control_row(&self, h: f64) -> Option<usize> {
        /// What accelerations grow by at least, as a part of what the authority has lost: long steps have seen some of both already.
        const GROWN: f64 = 0.02;
        if h > tolerance::LOST_AUTHORITY * self.monitor.longest {
            return None;
        }
        let solver = &self.flow.smooth.control.as_ref()?.solver;
        // a force at its bound does not grow
        if solver.margins.iter().any(|margin| *margin < 0.0) {
            return None;
        }
        let (row, left) = solver.weakest().filter(|(_, left)| *left < tolerance::LOST_AUTHORITY)?;
        let Some(rk) = self.integrator.runge_kutta() else { return Some(row) };
        let n = self.flow.smooth.n;
        let mut rate = rk.end_rate()[n..2 * n].iter().zip(&self.monitor.reference_acceleration);
        let grows = rate.any(|(a, reference)| a.abs() * left > GROWN * reference);
        grows.then_some(row)
    }

    /// Leaves sparse algebra if a pivot becomes very small: S = B Bᵀ squares, and what corrects it then no longer gains.
    /// Singular positions that are crossed are no reason, since steps have no stage there.
    pub(super) fn check_solver(&mut self) -> Result<(), MotionError> {
        // a look ahead leaves the decomposition of another state behind
        let kept = match (self.step.pivot, &self.integrator) {
            (Some(pivot), _) => pivot.max(0.0).sqrt(),
            (None, Integrator::RungeKutta(_)) => self.singular.kept(),
            _ => self.flow.smooth.all.gap().kept,
        };
        let smooth = &mut self.flow.smooth;
        let leaves = smooth.all.is_large() && smooth.n <= limits::DENSE_CONTROL && kept <= tolerance::SQUARABLE_PIVOT;
        if !(smooth.all.take_fallback() || leaves) {
            return Ok(());
        }
        self.make_dense()?;
        self.flow.smooth.all = Decomposition::new(&self.flow.smooth.settings);
        self.restart()?;
        self.update_saturation();
        self.choose_first_step()?;
        self.step.note_restart();
        Ok(())
    }

    /// Compares the error that rounding leaves in a step with the one that is allowed, once in many steps. The rounding of q̈ is
    /// what a change of the state by one rounding makes of it.
    pub(super) fn check_rounding(&mut self) -> Result<(), MotionError> {
        if !self.monitor.has_judged() || self.integrator.runge_kutta().is_none() {
            return Ok(());
        }
        let (t, h, n) = (self.point.t, self.step.dense.h, self.flow.smooth.n);
        let (mut rate, mut beside) = (vec![0.0; self.point.y.len()], vec![0.0; self.point.y.len()]);
        let moved: Vec<f64> = self.point.y.iter().map(|y| y * (1.0 + f64::EPSILON)).collect();
        self.flow.rate_quickly(t, &self.point.y, &mut rate)?;
        self.flow.rate_quickly(t, &moved, &mut beside)?;
        let allowed = &self.scales.allowed;
        let noise = (n..2 * n).fold(0.0, |top: f64, i| top.max((rate[i] - beside[i]).abs() / allowed[i]));
        let fastest = self.fastest_rate();
        if h * noise > tolerance::ROUNDING_OF_STEP && h * fastest < tolerance::RESOLVED_STEP {
            let of_step = noise * tolerance::RESOLVED_STEP / fastest;
            let tolerance = self.options.tolerance * of_step / tolerance::ROUNDING_OF_STEP;
            self.monitor.note_rounding(RoundingLimit { t, h, tolerance });
        }
        Ok(())
    }

    /// Counts steps in which neighbouring motions part much faster than the motion itself changes.
    pub(super) fn check_stiffness(&mut self) -> Result<(), MotionError> {
        let Some(rk) = self.integrator.runge_kutta() else { return self.check_stiff_method() };
        if rk.guarded || self.monitor.stiffness.is_some() || self.flow.smooth.n > limits::STIFF_COORDINATES {
            return Ok(());
        }
        let h = self.step.dense.h;
        let spread = rk.spread(h, &self.scales.allowed);
        let is_stiff = spread.neighbours > STIFF.0 && spread.neighbours > STIFF.1 * spread.own;
        let is_stiff = is_stiff && !self.slips_change()?;
        self.monitor.count_explicit_step(is_stiff, &spread, self.point.t, h);
        Ok(())
    }

    /// `true` if a slip in space has changed its speed in the step by more than 1 %.
    fn slips_change(&mut self) -> Result<bool, MotionError> {
        let dense = &self.step.dense;
        match self.flow.contact_system() {
            Some(mut system) => system.slips_change((dense.start, &dense.y), (self.point.t, &self.point.y)),
            None => Ok(false),
        }
    }

    /// Gives the stiff method up if it needs shorter steps than the explicit one did.
    fn check_stiff_method(&mut self) -> Result<(), MotionError> {
        let is_tried = matches!(self.integrator, Integrator::Radau(_)) && self.options.method == Method::Auto;
        if !is_tried || !self.monitor.gives_up_stiff_method(self.step.dense.h) {
            return Ok(());
        }
        self.make_dense()?;
        self.use_method(Method::Order8)?;
        self.step.note_restart();
        Ok(())
    }
}
