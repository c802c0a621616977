//! Read access to a motion.

use super::{Counts, Motion, Outcome, RoundingLimit, Saturation, SignChange, Solver, Stiffness};
use crate::{
    ContactTransition, Dynamics, Instant, Jump, Method, MotionError, RankDrop, ReducedRestitution, State, Step,
    contact::{Contact, ContactLog},
    smooth::{AlgebraCounts, Smooth},
};

/// The constraint force in its parts, UK02 (6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForceParts {
    /// Qc_ideal.
    pub ideal: Vec<f64>,
    /// Qc_nonideal.
    pub nonideal: Vec<f64>,
    /// C.
    pub law: Vec<f64>,
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The motion at a time in the last step: the state on the constraints, q̈ and λ there.
    pub fn at(&mut self, t: f64) -> Result<&Instant, MotionError> {
        let wants = std::mem::replace(&mut self.flow.smooth.wants_lambda, true);
        let done = self.evaluate_at(t);
        self.flow.smooth.wants_lambda = wants;
        done?;
        Ok(&self.flow.smooth.instant)
    }

    fn evaluate_at(&mut self, t: f64) -> Result<(), MotionError> {
        // samples do not count as cost of the motion
        let work = self.flow.smooth.work;
        let done = self.find_at(t);
        self.flow.smooth.work = work;
        done
    }

    fn find_at(&mut self, t: f64) -> Result<(), MotionError> {
        if t == self.point.t {
            self.flow.smooth.set_state(t, &self.point.y);
            // in a singular position the directions that vanish there are left out
            if let Some(rank) = self.singular.start() {
                self.flow.smooth.all.hold(rank);
                let done = self.flow.evaluate();
                self.flow.smooth.all.hold(self.singular.rank());
                return done;
            }
            return self.flow.evaluate();
        }
        self.make_dense()?;
        let mut y = std::mem::take(&mut self.scratch);
        y.resize(self.point.y.len(), 0.0);
        self.step.dense.values(t, &mut y);
        self.flow.smooth.set_state(t, &y);
        // a sample in the neighbourhood of a singular position stays as interpolated
        let explicit = self.flow.smooth.is_explicit() && self.flow.smooth.project(false).is_ok();
        if !explicit {
            self.flow.smooth.set_state(t, &y);
            if self.flow.smooth.project(true).is_err() {
                self.flow.smooth.set_state(t, &y);
            }
        }
        self.scratch = y;
        self.flow.evaluate()
    }

    /// q̈ at the state reached, found as in the stages of a step.
    pub fn acceleration(&mut self) -> Result<&[f64], MotionError> {
        let n = self.flow.smooth.n;
        self.flow.rate_quickly(self.point.t, &self.point.y, &mut self.scratch)?;
        Ok(&self.scratch[n..2 * n])
    }

    /// The algebra by which accelerations are found.
    pub fn solver(&self) -> Solver {
        let flow = &self.flow;
        match (flow.smooth.has_route(), flow.smooth.is_mostly_explicit(), flow.smooth.all.is_large()) {
            (true, _, _) => Solver::Route,
            (_, true, _) => Solver::Explicit,
            (_, _, true) => Solver::Sparse,
            _ if flow.smooth.n <= flow.smooth.settings.small_limit => Solver::Small,
            _ => Solver::Dense,
        }
    }

    /// The instant that was sampled last.
    pub fn instant(&self) -> &Instant {
        &self.flow.smooth.instant
    }

    /// M q̈ − Q − u at that instant: the force of all constraints.
    pub fn constraint_force(&self) -> Vec<f64> {
        self.added_force().iter().zip(&self.flow.smooth.instant.control_force).map(|(force, u)| force - u).collect()
    }

    /// M q̈ − Q: all forces in addition to the given ones.
    fn added_force(&self) -> Vec<f64> {
        let Smooth { given, instant, .. } = &self.flow.smooth;
        let row = |i: usize| given.mass_matrix.row_times(i, &instant.qddot) - given.given_force[i];
        (0..self.flow.smooth.n).map(row).collect()
    }

    /// The constraint force at that instant, in its parts.
    ///
    /// Qc_ideal = Aᵀλ is that of the ideal problem; C is the sum of prescribed nonideal forces and sliding friction;
    /// Qc_nonideal = M q̈ − Q − Qc_ideal.
    pub fn force_parts(&self) -> ForceParts {
        let Smooth { given, instant, .. } = &self.flow.smooth;
        let mut ideal = vec![0.0; self.flow.smooth.n];
        given.constraint_matrix.multiply_transposed(&instant.lambda_ideal, &mut ideal);
        let mut law = instant.nonideal_force.clone();
        if let Some(contact) = &self.flow.contact {
            contact.add_sliding_force(&self.flow.smooth, &mut law);
        }
        let nonideal = self.constraint_force().iter().zip(&ideal).map(|(whole, ideal)| whole - ideal).collect();
        ForceParts { ideal, nonideal, law }
    }

    /// G = (q̈ − a)ᵀ M (q̈ − a) at that instant; not a number if M is singular.
    pub fn gaussian(&mut self) -> f64 {
        if self.flow.smooth.all.has_singular_mass() {
            return f64::NAN;
        }
        let force = self.added_force();
        let mut change = force.clone();
        self.flow.smooth.all.solve_mass(&mut change);
        force.iter().zip(&change).map(|(f, x)| f * x).sum()
    }

    /// `true` if a row is active: a contact may be open, a place may slide.
    pub fn holds(&self, row: usize) -> bool {
        self.flow.smooth.rows.off.get(row).is_none_or(|off| !off)
    }

    /// What each contact and each friction does now, by its first normal row: `open`, `closed`, `sticks` or `slides`.
    pub fn modes(&self) -> Vec<(usize, &'static str)> {
        self.flow.contact.as_ref().map_or_else(Vec::new, Contact::words)
    }

    /// The first normal row of each friction.
    pub fn rows_with_friction(&self) -> Vec<usize> {
        self.flow.contact.as_ref().map_or_else(Vec::new, Contact::rows_with_friction)
    }

    /// Transitions of contacts so far, in the order of time.
    pub fn contact_transitions(&self) -> &[ContactTransition] {
        self.contact_log().map_or(&[], |log| &log.transitions)
    }

    /// Rows with friction whose force was indeterminate somewhere, because other rows share it.
    pub fn shared_normals(&self) -> &[usize] {
        self.contact_log().map_or(&[], |log| &log.indeterminate_normals)
    }

    /// Contacts whose force was indeterminate somewhere, because others share it.
    pub fn undetermined_contacts(&self) -> &[usize] {
        self.contact_log().map_or(&[], |log| &log.indeterminate_contacts)
    }

    /// Impacts whose restitution was reduced, because nothing could satisfy it or energy would have been gained.
    pub fn reduced_restitutions(&self) -> &[ReducedRestitution] {
        self.contact_log().map_or(&[], |log| &log.reduced_restitutions)
    }

    /// The number of searches with too many modes to look for another one that fits.
    pub fn n_unchecked(&self) -> usize {
        self.contact_log().map_or(0, |log| log.n_unchecked)
    }

    fn contact_log(&self) -> Option<&ContactLog> {
        self.flow.contact.as_ref().map(Contact::log)
    }

    /// The last step with its dense output.
    pub fn last_step(&mut self) -> Result<&Step, MotionError> {
        self.make_dense()?;
        Ok(&self.step.dense)
    }

    /// Every change of bound so far, those at the start included.
    pub fn saturations(&self) -> &[Saturation] {
        &self.saturation.changes
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.point.t
    }

    /// Where the last step began.
    pub fn step_start(&self) -> f64 {
        self.step.dense.start
    }

    /// The system that moves.
    pub fn dynamics(&mut self) -> &mut D {
        self.flow.smooth.dynamics
    }

    /// The state reached.
    pub fn state(&self) -> State {
        self.point.state()
    }

    /// The quantities integrated along the motion.
    pub fn integrals(&self) -> &[f64] {
        self.point.integrals()
    }

    /// Why the motion ended; `None` while it continues.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The method in use.
    pub fn method(&self) -> Method {
        self.integrator.method()
    }

    /// The sizes of q and of q̇ so far, relative to which errors are measured.
    pub fn sizes(&self) -> (&[f64], &[f64]) {
        (&self.flow.smooth.q_size, &self.flow.smooth.v_size)
    }

    /// Rank of A along the motion.
    pub fn rank(&self) -> usize {
        self.singular.rank()
    }

    /// What the run has cost so far.
    pub fn counts(&self) -> Counts {
        let AlgebraCounts { evaluations, factorizations } = self.flow.smooth.work;
        Counts { evaluations, factorizations, ..self.counts.clone() }
    }

    /// The first time at which a step of fixed length passed over what a formula does, and the number of the function.
    pub fn passed_over(&self) -> Option<(f64, usize)> {
        self.resolution.passed_over()
    }

    /// Positions passed at which the constraints lose rank.
    pub fn rank_drops(&self) -> &[RankDrop] {
        self.singular.rank_drops()
    }

    /// Events that changed something.
    pub fn events(&self) -> &[SignChange] {
        &self.log.events
    }

    /// The jumps since the last call, in the order of time.
    pub fn take_jumps(&mut self) -> Vec<Jump> {
        self.log.take_jumps()
    }

    /// Events that set velocities which the constraints do not allow, and their times; the projection onto the constraints
    /// was taken.
    pub fn undone(&self) -> &[(f64, usize)] {
        &self.log.undone
    }

    /// Where rounding has limited the steps most, if it has.
    pub fn rounding_limit(&self) -> Option<RoundingLimit> {
        self.monitor.rounding
    }

    /// Stiffness for an explicit method, if it was noticed.
    pub fn stiffness(&self) -> Option<&Stiffness> {
        self.monitor.stiffness.as_ref()
    }
}
