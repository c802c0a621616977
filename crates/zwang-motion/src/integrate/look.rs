//! What a motion tells of itself.

use super::*;
use crate::unilateral::modes::Grip;

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
        let wants = std::mem::replace(&mut self.flow.wants_lambda, true);
        let done = self.evaluate_at(t);
        self.flow.wants_lambda = wants;
        done?;
        Ok(&self.flow.instant)
    }

    fn evaluate_at(&mut self, t: f64) -> Result<(), MotionError> {
        // what is only looked at is no cost of the motion
        let (n_evaluations, n_factorizations) = (self.flow.n_evaluations, self.flow.n_factorizations);
        let done = self.look_at(t);
        (self.flow.n_evaluations, self.flow.n_factorizations) = (n_evaluations, n_factorizations);
        done
    }

    fn look_at(&mut self, t: f64) -> Result<(), MotionError> {
        if t == self.t {
            self.flow.place(t, &self.y);
            // in a singular position the directions that vanish there are left out
            if let Some(rank) = self.singular_start {
                self.flow.all.hold(rank);
                let done = self.flow.evaluate();
                self.flow.all.hold(self.rank);
                return done;
            }
            return self.flow.evaluate();
        }
        self.make_dense()?;
        let mut y = std::mem::take(&mut self.spare);
        y.resize(self.y.len(), 0.0);
        self.step.values(t, &mut y);
        self.flow.place(t, &y);
        // a sample in the neighbourhood of a singular position stays as interpolated
        let explicit = self.flow.is_explicit && self.flow.project(false).is_ok();
        if !explicit {
            self.flow.place(t, &y);
            if self.flow.project(true).is_err() {
                self.flow.place(t, &y);
            }
        }
        self.spare = y;
        self.flow.evaluate()
    }

    /// q̈ at the state reached, in the way of the stages of a step.
    pub fn acceleration(&mut self) -> Result<&[f64], MotionError> {
        let n = self.flow.n;
        self.flow.rate_quickly(self.t, &self.y, &mut self.spare)?;
        Ok(&self.spare[n..2 * n])
    }

    /// What the accelerations are found with.
    pub fn solver(&self) -> Solver {
        let flow = &self.flow;
        match (flow.has_route(), flow.is_mostly_explicit(), flow.all.is_large()) {
            (true, _, _) => Solver::Route,
            (_, true, _) => Solver::Explicit,
            (_, _, true) => Solver::Sparse,
            _ if flow.n <= flow.settings.small_limit => Solver::Small,
            _ => Solver::Dense,
        }
    }

    /// The instant that was looked at last.
    pub fn instant(&self) -> &Instant {
        &self.flow.instant
    }

    /// M q̈ − Q − u at that instant: the force of all constraints.
    pub fn constraint_force(&self) -> Vec<f64> {
        self.added_force().iter().zip(&self.flow.instant.control_force).map(|(force, u)| force - u).collect()
    }

    /// M q̈ − Q: all that acts beside the given forces.
    fn added_force(&self) -> Vec<f64> {
        let Flow { given, instant, .. } = &self.flow;
        let row = |i: usize| given.mass_matrix.row_times(i, &instant.qddot) - given.given_force[i];
        (0..self.flow.n).map(row).collect()
    }

    /// The constraint force at that instant, in its parts.
    ///
    /// Qc_ideal = Aᵀλ is that of the ideal problem; C is what laws prescribe and friction does where it slides;
    /// Qc_nonideal = M q̈ − Q − Qc_ideal.
    pub fn force_parts(&self) -> ForceParts {
        let Flow { given, instant, modes, .. } = &self.flow;
        let mut ideal = vec![0.0; self.flow.n];
        given.constraint_matrix.multiply_transposed(&instant.lambda_ideal, &mut ideal);
        let mut law = instant.nonideal_force.clone();
        for (friction, _) in
            modes.frictions.iter().zip(&modes.grips).filter(|(_, grip)| matches!(grip, Grip::Slides(_)))
        {
            for &row in &friction.slip {
                let (col, value) = modes.whole.constraint_matrix.row(row);
                col.iter().zip(value).for_each(|(&j, a)| law[j] += instant.lambda[row] * a);
            }
        }
        let nonideal = self.constraint_force().iter().zip(&ideal).map(|(whole, ideal)| whole - ideal).collect();
        ForceParts { ideal, nonideal, law }
    }

    /// G = (q̈ − a)ᵀ M (q̈ − a) at that instant; not a number where M is singular.
    pub fn gaussian(&mut self) -> f64 {
        if self.flow.all.has_singular_mass() {
            return f64::NAN;
        }
        let force = self.added_force();
        let mut change = force.clone();
        self.flow.all.solve_mass(&mut change);
        force.iter().zip(&change).map(|(f, x)| f * x).sum()
    }

    /// Whether a row holds now: a contact may be open, a slip may slide.
    pub fn holds(&self, row: usize) -> bool {
        self.flow.modes.off.get(row).is_none_or(|off| !off)
    }

    /// What each contact and each friction does now, by its first row that presses: `open`, `closed`, `sticks` or `slides`.
    pub fn modes(&self) -> Vec<(usize, &'static str)> {
        let modes = &self.flow.modes;
        let word = |closed: &bool| if *closed { "closed" } else { "open" };
        let contacts = modes.contacts.iter().zip(&modes.closed).map(|(contact, closed)| (contact.row, word(closed)));
        let grip = |(friction, grip): (&crate::Friction, &Grip)| match grip {
            Grip::Idle => None,
            Grip::Sticks => Some((friction.normals[0], "sticks")),
            Grip::Slides(_) => Some((friction.normals[0], "slides")),
        };
        contacts.chain(modes.frictions.iter().zip(&modes.grips).filter_map(grip)).collect()
    }

    /// The first row that presses of each friction.
    pub fn rows_with_friction(&self) -> Vec<usize> {
        self.flow.modes.frictions.iter().map(|friction| friction.normals[0]).collect()
    }

    /// The last step with its dense output.
    pub fn last_step(&mut self) -> Result<&Step, MotionError> {
        self.make_dense()?;
        Ok(&self.step)
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Where the last step began.
    pub fn step_start(&self) -> f64 {
        self.step.start
    }

    /// The system that moves.
    pub fn dynamics(&mut self) -> &mut D {
        self.flow.dynamics
    }

    /// The state reached.
    pub fn state(&self) -> State {
        let n = self.flow.n;
        State { t: self.t, q: self.y[..n].to_vec(), qdot: self.y[n..2 * n].to_vec() }
    }

    /// The quantities integrated along the motion.
    pub fn integrals(&self) -> &[f64] {
        &self.y[2 * self.flow.n..]
    }

    /// Why the motion ended; none while it goes on.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The method at work.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The sizes of q and of q̇ so far, against which errors are measured.
    pub fn sizes(&self) -> (&[f64], &[f64]) {
        (&self.flow.q_size, &self.flow.v_size)
    }

    /// Rank of A along the motion.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// What the run has cost so far.
    pub fn counts(&self) -> Counts {
        let Flow { n_evaluations, n_factorizations, .. } = self.flow;
        Counts { evaluations: n_evaluations, factorizations: n_factorizations, ..self.counts.clone() }
    }

    /// Positions passed at which the constraints lose rank.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Events that changed something.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Events that set velocities which the constraints do not allow, and when; what they allow of them was taken.
    pub fn undone(&self) -> &[(f64, usize)] {
        &self.undone
    }

    /// Whether and where the motion is stiff for an explicit method.
    pub fn stiffness(&self) -> Option<&Stiffness> {
        self.stiffness.as_ref()
    }
}
