//! The motion as a flow: smooth part and contact together give the rate that methods integrate.

use crate::{
    Drift, Dynamics, Jacobian, MotionError, RouteName, Settings,
    contact::{Contact, ContactSystem},
    smooth::Smooth,
    tolerance::{self, RunWindow},
};

/// y = (q, q̇, w) ↦ ẏ = (q̇, q̈, ẇ), where w are the integrals the system asks for.
pub(crate) struct Flow<'d, D: Dynamics + ?Sized> {
    pub(crate) smooth: Smooth<'d, D>,
    /// `None` if all rows are permanent.
    pub(crate) contact: Option<Contact>,
}

impl<'d, D: Dynamics + ?Sized> Flow<'d, D> {
    pub(crate) fn new(
        dynamics: &'d mut D,
        route: RouteName,
        drift: Drift,
        window: RunWindow,
        settings: &Settings,
    ) -> Flow<'d, D> {
        let mut smooth = Smooth::new(dynamics, route, drift, settings);
        let contact = Contact::new(&mut smooth, window);
        Flow { smooth, contact }
    }

    /// Contact together with the smooth part, if there is contact.
    pub(crate) fn contact_system(&mut self) -> Option<ContactSystem<'_, 'd, D>> {
        let Flow { smooth, contact } = self;
        contact.as_mut().map(|contact| contact.system(smooth))
    }

    /// Finds q̈, and λ and C if they are needed, at the state.
    pub(crate) fn evaluate(&mut self) -> Result<(), MotionError> {
        match self.contact_system() {
            Some(mut system) => system.evaluate(),
            None => self.smooth.evaluate(),
        }
    }

    /// Evaluates at an accepted state: the order of the pivots is chosen here, and kept through the stages of the next step.
    pub(crate) fn evaluate_accepted(&mut self) -> Result<(), MotionError> {
        self.smooth.keep_order(false);
        let found = self.evaluate();
        self.smooth.keep_order(true);
        found
    }

    /// Lets ranks be decided anew.
    pub(crate) fn release(&mut self) {
        self.smooth.release();
        if let Some(contact) = &mut self.contact {
            contact.release();
        }
    }

    /// Lets the system prepare its explicit acceleration; sliding friction has none.
    pub(crate) fn specialize(&mut self) {
        let slides = self.contact.as_ref().is_some_and(Contact::slides);
        self.smooth.specialize(!slides);
    }

    /// ẏ at (t, y); a guarded rate is taken on the constraints, ẏ = f(P(y)).
    pub(crate) fn rate(&mut self, t: f64, y: &[f64], guarded: bool, rate: &mut [f64]) -> Result<(), MotionError> {
        self.smooth.set_state(t, y);
        if guarded {
            self.smooth.project(true)?;
        }
        self.evaluate()?;
        self.smooth.write_rate(rate)
    }

    /// ẏ at (t, y), without a decomposition if the system is explicit and no pivot is in doubt. Returns the least pivot
    /// then, and `None` if there is a decomposition.
    #[inline]
    pub(crate) fn rate_quickly(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<Option<f64>, MotionError> {
        if let Some(pivot) = self.smooth.explicit_rate(t, y, rate) {
            return Ok(Some(pivot));
        }
        self.rate_in_doubt(t, y, rate)
    }

    #[cold]
    fn rate_in_doubt(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<Option<f64>, MotionError> {
        self.smooth.count_doubt();
        self.smooth.set_state(t, y);
        self.evaluate()?;
        self.smooth.write_rate(rate)?;
        Ok(None)
    }

    /// ∂q̈/∂q and ∂q̈/∂q̇ at the state, n x n, row after row; q̈ and λ have been found.
    pub(crate) fn derivatives(
        &mut self,
        jacobian: Option<&mut Jacobian>,
        by_q: &mut [f64],
        by_qdot: &mut [f64],
    ) -> Result<(), MotionError> {
        match self.smooth.derivatives(jacobian, by_q, by_qdot)? {
            true => Ok(()),
            false => self.differences(by_q, by_qdot),
        }
    }

    /// The derivatives by differences: a solver that uses them only needs to converge.
    fn differences(&mut self, by_q: &mut [f64], by_qdot: &mut [f64]) -> Result<(), MotionError> {
        let n = self.smooth.n;
        let (base, here) = (self.smooth.instant.qddot.clone(), self.smooth.instant.state.clone());
        for (on_positions, out) in [(true, by_q), (false, by_qdot)] {
            for j in 0..n {
                let sizes = if on_positions { &self.smooth.q_size } else { &self.smooth.v_size };
                let state = &mut self.smooth.instant.state;
                let x = if on_positions { &mut state.q[j] } else { &mut state.qdot[j] };
                let before = *x;
                *x += tolerance::DIFFERENCE_STEP * sizes[j].max(before.abs());
                let step = *x - before;
                self.evaluate()?;
                (0..n).for_each(|i| out[i * n + j] = (self.smooth.instant.qddot[i] - base[i]) / step);
                self.smooth.instant.state.clone_from(&here);
            }
        }
        self.evaluate()
    }

    /// Event functions at the state: those of the system, and the distance of each bounded force from its upper and its lower
    /// bound.
    pub(crate) fn fill_events(&mut self, values: &mut [f64]) -> Result<(), MotionError> {
        let smooth = &mut self.smooth;
        let mut n_events = 0;
        if let Some(events) = smooth.dynamics.events() {
            n_events = events.n_events();
            events.fill_events(&smooth.instant.state, &mut values[..n_events])?;
        }
        if values.len() > n_events {
            self.evaluate()?;
            let Some(control) = &self.smooth.control else { return Ok(()) };
            for (place, pair) in values[n_events..].chunks_exact_mut(2).enumerate() {
                pair.copy_from_slice(&control.distances(place));
            }
        }
        Ok(())
    }

    /// The number of guards of the contact mode.
    pub(crate) fn n_guards(&self) -> usize {
        self.contact.as_ref().map_or(0, Contact::n_guards)
    }

    /// Guards of the contact mode at the state, negative once it has ended; nothing without contact.
    pub(crate) fn fill_guards(
        &mut self,
        values: &mut [f64],
        shapes: &mut [f64],
        floors: &mut [f64],
    ) -> Result<(), MotionError> {
        match self.contact_system() {
            Some(mut system) => system.fill_guards(values, shapes, floors),
            None => Ok(()),
        }
    }

    /// The rate of the gap of each open contact at the state; zero for closed ones.
    pub(crate) fn fill_closing(&mut self, closing: &mut Vec<f64>) -> Result<(), MotionError> {
        match self.contact_system() {
            Some(mut system) => system.fill_closing(closing),
            None => {
                closing.clear();
                Ok(())
            }
        }
    }

    /// The rate of the gap of a contact at the state.
    pub(crate) fn closing_rate(&mut self, contact: usize) -> Result<f64, MotionError> {
        match self.contact_system() {
            Some(mut system) => system.closing_rate(contact),
            None => Ok(0.0),
        }
    }
}
