//! Whether the steps resolve the formulas: no step passes over what a sharp term does between its nodes.
//!
//! An error estimate presumes that every formula is smooth along the step. With P(θ) the path of a step and W(θ) a sharp term along
//! it, this is bounded on the whole step and not at its nodes:
//!
//! $$ |W(P(\theta)) - p(\theta)| \le \eta \quad\text{for all } \theta\in[0, 1], \qquad
//!    \eta = \max(\text{floor},\ \kappa(\max W - \min W)) $$
//!
//! where p is the polynomial of degree 7 through W at eight Chebyshev points. Where it fails the step is cut. Bounds are intervals,
//! divided by halves where they are too wide. This holds along P; how far the motion is from P is the estimate's business.

use super::{
    Motion,
    bernstein::{Bernstein, HIGHEST_DEGREE, Interpolation},
};
use crate::{
    ControlRows, Dynamics, Enclosure, Given, MotionError, SharpTerms, State, Step, TermEntry, limits,
    methods::{Integrator, RungeKutta},
    singular::StepPlan,
    tolerance::{self, RunWindow},
};

/// The path of a step, the terms in question, and storage for the search.
pub(super) struct Resolution {
    /// `false` if the system has no sharp terms.
    is_on: bool,
    /// Time and function of the last cut; after one, the next step is examined before its stages.
    last_cut: Option<(f64, usize)>,
    /// t, q and q̇ over the step by number, and by how much the path may be off.
    path: Vec<Bernstein>,
    radius: Vec<f64>,
    /// For each term the boxes that its searches may still take without finding anything; a term whose bounds stay too wide is
    /// given up when none are left, and `n_given_up` counts these.
    boxes_left: Vec<usize>,
    n_given_up: usize,
    /// The coordinates that occur in arguments.
    coordinates: Vec<usize>,
    part: Vec<Bernstein>,
    enclosures: Vec<Enclosure>,
    values: Vec<f64>,
    terms: Vec<usize>,
    waiting: Vec<(f64, f64)>,
    interpolation: Interpolation,
    state: State,
    given: Given,
    control: Option<ControlRows>,
    /// Time and function of the first step of fixed length that passed over what it does.
    passed_over: Option<(f64, usize)>,
}

/// Where a term is not what its values say: a value shows it, or bounds do not exclude it.
#[derive(Clone, Copy)]
enum Deviation {
    None,
    Possible(f64),
    Shown(f64),
}

/// What a term must exceed to count: by this it changes the motion within the tolerance.
struct Floors<'a> {
    given: &'a Given,
    control: Option<&'a ControlRows>,
    /// Errors of q and q̇ that one step may make, and sizes of q̇.
    allowed: &'a [f64],
    sizes: &'a [f64],
    tolerance: f64,
    h: f64,
}

impl Floors<'_> {
    fn of(&self, entry: TermEntry) -> f64 {
        let M = |i: usize| self.given.mass_matrix.get(i, i).abs();
        match entry {
            TermEntry::Force(i) => self.allowed[self.sizes.len() + i] * M(i) / self.h,
            TermEntry::Mass(i, j) => self.tolerance * (M(i) * M(j)).sqrt(),
            TermEntry::Row(row, j) => {
                self.tolerance * self.given.constraint_matrix.row_size(row, self.sizes) / self.sizes[j]
            }
            TermEntry::Rhs(row) => self.of_rhs(&self.given.constraint_matrix, row),
            TermEntry::ControlRow(row, j) => self
                .control
                .map_or(0.0, |control| self.tolerance * control.rows.row_size(row, self.sizes) / self.sizes[j]),
            TermEntry::ControlRhs(row) => self.control.map_or(0.0, |control| self.of_rhs(&control.rows, row)),
        }
    }

    /// The change of b that the allowed changes of q̇ make in a row.
    fn of_rhs(&self, rows: &crate::Matrix, row: usize) -> f64 {
        rows.row_size(row, &self.allowed[self.sizes.len()..]) / self.h
    }
}

impl Resolution {
    pub(super) fn new<D: Dynamics + ?Sized>(dynamics: &mut D, start: &State) -> Resolution {
        let n = start.q.len();
        // the floors of rows that open and close are not known yet
        let has_contacts = dynamics.contacts().is_some();
        let terms = dynamics.sharp_terms().filter(|_| !has_contacts);
        let inputs = terms.map(|terms| terms.argument_inputs().to_vec());
        let size = if inputs.is_some() { 2 * n + 1 } else { 0 };
        let mut coordinates: Vec<usize> = inputs.iter().flatten().filter(|k| **k > 0).map(|k| (k - 1) % n).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let is_on = inputs.is_some();
        Resolution {
            is_on,
            last_cut: None,
            boxes_left: Vec::new(),
            n_given_up: 0,
            path: vec![Bernstein::new(&[0.0]); size],
            radius: vec![0.0; size],
            coordinates,
            part: vec![Bernstein::new(&[0.0]); size],
            enclosures: vec![Enclosure::default(); size],
            values: vec![0.0; size],
            terms: Vec::new(),
            waiting: Vec::with_capacity(if is_on { limits::HALVES } else { 0 }),
            interpolation: Interpolation::new(),
            state: if is_on { start.clone() } else { State::default() },
            given: if is_on { dynamics.allocate() } else { Given::default() },
            control: dynamics.control().filter(|_| is_on).map(|control| control.allocate_control_rows()),
            passed_over: None,
        }
    }

    /// Time and function of the first step of fixed length that passed over what it does.
    pub(super) fn passed_over(&self) -> Option<(f64, usize)> {
        self.passed_over
    }

    /// The function for which steps were cut shortly before a time.
    pub(super) fn cut_near(&self, t: f64, window: RunWindow) -> Option<MotionError> {
        let is_near = |(at, _): &(f64, usize)| t - at <= tolerance::NEAR_CUT * window.length();
        self.last_cut.filter(is_near).map(|(_, function)| MotionError::Unresolved { function })
    }

    /// The path of a coordinate: the cubic through both ends, which may be off by twice what it misses at inner stages.
    fn join(&mut self, rk: &RungeKutta, (y, h): (&[f64], f64), allowed: &[f64], i: usize) {
        let n = self.values.len() / 2;
        let (f0, f1, end) = (rk.rate(0), rk.end_rate(), &rk.end);
        let cubic = |k: usize| Bernstein::cubic((y[k], h * f0[k]), (end[k], h * f1[k]));
        (self.path[1 + i], self.path[1 + n + i]) = (cubic(i), cubic(n + i));
        // the speed at a stage is its rate of q
        let speed = &self.path[1 + n + i];
        let stages = (1..rk.tableau.n_stages).filter(|&s| rk.tableau.c[s] > 0.5 && rk.tableau.c[s] < 0.95);
        let off = stages.map(|s| (rk.rate(s)[i] - speed.value(rk.tableau.c[s])).abs()).fold(0.0, f64::max);
        self.radius[1 + i] = 0.5 * h * off + allowed[i];
        self.radius[1 + n + i] = 2.0 * off + allowed[n + i];
    }

    /// The path joins both ends: cubics for q, whose rates are known, and lines for q̇.
    fn join_ends(&mut self, t: f64, h: f64, y: &[f64], end: &[f64]) {
        let n = self.values.len() / 2;
        self.path[0] = Bernstein::new(&[t, t + h]);
        for i in 0..n {
            self.path[1 + i] = Bernstein::cubic((y[i], h * y[n + i]), (end[i], h * end[n + i]));
            self.path[1 + n + i] = Bernstein::new(&[y[n + i], end[n + i]]);
        }
        self.radius.fill(0.0);
    }

    /// The path is the dense output.
    fn follow(&mut self, step: &Step) {
        let (n, size) = (step.n, step.y.len());
        self.path[0] = Bernstein::new(&[step.start, step.start + step.h]);
        for k in 0..2 * n {
            let n_parts = step.F.len() / size;
            self.path[1 + k] = Bernstein::nested(step.y[k], n_parts, |part| step.F[part * size + k]);
        }
        self.radius.fill(0.0);
    }

    /// The path is the parabola from (t, y) with this rate.
    fn predict(&mut self, t: f64, h: f64, y: &[f64], rate: &[f64]) {
        let n = self.values.len() / 2;
        self.path[0] = Bernstein::new(&[t, t + h]);
        for i in 0..n {
            let (q, v, a) = (y[i], h * y[n + i], h * rate[n + i]);
            self.path[1 + i] = Bernstein::new(&[q, q + 0.5 * v, q + v + 0.5 * h * a]);
            self.path[1 + n + i] = Bernstein::new(&[y[n + i], y[n + i] + a]);
        }
        self.radius.fill(0.0);
    }

    /// `true` if polynomials follow all functions over the range of the path; if not, `terms` are those in question.
    fn is_tame(&mut self, terms: &mut dyn SharpTerms) -> bool {
        self.terms.clear();
        for &k in terms.argument_inputs() {
            self.enclosures[k] = enclosure(&self.path[k], self.radius[k]);
        }
        terms.find_untamed(&self.enclosures, &mut self.terms);
        let boxes_left = &self.boxes_left;
        self.terms.retain(|term| boxes_left.get(*term) != Some(&0));
        self.terms.is_empty()
    }

    /// Drops the terms that stay within their floor over the whole path.
    fn drop_constant(&mut self, terms: &mut dyn SharpTerms, floors: &Floors) {
        let Resolution { path, radius, enclosures, terms: open, .. } = self;
        path.iter().zip(radius).zip(enclosures.iter_mut()).for_each(|((x, r), out)| *out = enclosure(x, *r));
        open.retain(|&term| {
            let Enclosure { lo, hi } = terms.enclose(term, enclosures);
            !(hi - lo <= floors.of(terms.entry(term)))
        });
    }

    /// The first place θ in `part` at which a term may not be what eight of its values say; `None` if it is everywhere, or if the
    /// term is given up.
    fn differs(&mut self, terms: &mut dyn SharpTerms, term: usize, floor: f64, most_boxes: usize) -> Option<f64> {
        if self.boxes_left.len() <= term {
            self.boxes_left.resize(term + 1, limits::BOXES_WITHOUT_FIND);
        }
        let (found, n_boxes) = self.search(terms, term, floor, most_boxes);
        let left = &mut self.boxes_left[term];
        *left = match found {
            // one look at a smooth term takes a few boxes
            Deviation::None => (*left + limits::BOXES_PER_LOOK).saturating_sub(n_boxes).min(limits::BOXES_WITHOUT_FIND),
            Deviation::Possible(_) => left.saturating_sub(n_boxes),
            Deviation::Shown(_) => limits::BOXES_WITHOUT_FIND,
        };
        if *left == 0 {
            self.n_given_up += 1;
            return None;
        }
        match found {
            Deviation::None => None,
            Deviation::Possible(place) | Deviation::Shown(place) => Some(place),
        }
    }

    /// The same, with the number of boxes that the search took.
    fn search(&mut self, terms: &mut dyn SharpTerms, term: usize, floor: f64, most_boxes: usize) -> (Deviation, usize) {
        let mut known = [0.0; HIGHEST_DEGREE + 1];
        for k in 0..=HIGHEST_DEGREE {
            let node = self.interpolation.nodes[k];
            known[k] = self.value_at(terms, term, node);
            if !known[k].is_finite() {
                return (Deviation::Shown(node), k);
            }
        }
        let p = self.interpolation.through(&known);
        let range = |(low, high): (f64, f64), x: &f64| (low.min(*x), high.max(*x));
        let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
        let rounding = self.rounding(terms, term).max(tolerance::TERM_ROUNDING * low.abs().max(high.abs()));
        let eta = floor.max(tolerance::UNSEEN_CHANGE * (high - low)).max(rounding);
        self.waiting.clear();
        self.waiting.push((0.0, 1.0));
        let mut n_boxes = 0;
        while let Some((low, high)) = self.waiting.pop() {
            n_boxes += 1;
            let W = self.enclose_on(terms, term, low, high);
            let (least, most) = p.portion(low, high).range();
            if W.hi - least <= eta && most - W.lo <= eta {
                continue;
            }
            let middle = 0.5 * (low + high);
            let is_off = !((self.value_at(terms, term, middle) - p.value(middle)).abs() <= eta);
            if is_off {
                return (Deviation::Shown(if low > 0.0 { low } else { middle }), n_boxes);
            }
            if n_boxes > most_boxes || high - low < tolerance::UNSEEN_PLACE {
                return (Deviation::Possible(low), n_boxes);
            }
            self.waiting.push((middle, high));
            self.waiting.push((low, middle));
        }
        (Deviation::None, n_boxes)
    }

    /// Rounding of a term along the part: several times the width of its bounds at a point.
    fn rounding(&mut self, terms: &mut dyn SharpTerms, term: usize) -> f64 {
        [0.0, 0.5, 1.0].into_iter().fold(0.0, |top: f64, theta| {
            for &k in terms.inputs_of(term) {
                let at = self.part[k].value(theta);
                self.enclosures[k] = Enclosure { lo: at, hi: at };
            }
            let W = terms.enclose(term, &self.enclosures);
            let width = tolerance::POINT_WIDTHS * (W.hi - W.lo);
            if width.is_finite() { top.max(width) } else { top }
        })
    }

    fn value_at(&mut self, terms: &mut dyn SharpTerms, term: usize, theta: f64) -> f64 {
        for &k in terms.inputs_of(term) {
            self.values[k] = self.part[k].value(theta);
        }
        terms.value(term, &self.values)
    }

    fn enclose_on(&mut self, terms: &mut dyn SharpTerms, term: usize, low: f64, high: f64) -> Enclosure {
        for &k in terms.inputs_of(term) {
            self.enclosures[k] = enclosure(&self.part[k].portion(low, high), self.radius[k]);
        }
        terms.enclose(term, &self.enclosures)
    }

    /// A term that differs somewhere on the path, if one does.
    fn any_differs(&mut self, terms: &mut dyn SharpTerms, floors: &Floors) -> bool {
        self.part.clone_from(&self.path);
        let open = std::mem::take(&mut self.terms);
        let differs = |&term: &usize| {
            let floor = floors.of(terms.entry(term));
            self.differs(terms, term, floor, limits::BOXES_AT_FIRST).is_some()
        };
        let found = open.iter().any(differs);
        self.terms = open;
        found
    }

    /// The longest part of the path over which all terms are resolved, and the term that ends it; `None` if it is the whole path.
    fn longest(&mut self, terms: &mut dyn SharpTerms, mut floors: Floors) -> Option<(f64, usize)> {
        let (whole, open) = (floors.h, std::mem::take(&mut self.terms));
        let (mut part, mut cut) = (1.0, None);
        while part > tolerance::RESOLVED_PART {
            self.part
                .iter_mut()
                .zip(&self.path)
                .for_each(|(out, x)| *out = if part < 1.0 { x.until(part) } else { *x });
            floors.h = part * whole;
            let mut first: Option<(f64, usize)> = None;
            for &term in &open {
                let floor = floors.of(terms.entry(term));
                let place = self.differs(terms, term, floor, limits::BOXES);
                first = match (place, first) {
                    (Some(place), None) => Some((place, term)),
                    (Some(place), Some(known)) if place < known.0 => Some((place, term)),
                    _ => first,
                };
            }
            let Some((place, term)) = first else { break };
            // up to where the terms are as expected, or half
            part *= if place > 0.5 { place } else { 0.5 };
            cut = Some((part, term));
        }
        self.terms = open;
        cut
    }
}

/// The range of a path that may be off by a radius.
#[inline]
fn enclosure(path: &Bernstein, radius: f64) -> Enclosure {
    let (lo, hi) = path.range();
    Enclosure { lo: lo - radius, hi: hi + radius }
}

impl<D: Dynamics + ?Sized> Motion<'_, D> {
    /// The part of a trial step over which its formulas are resolved, and the term that is not beyond; `None` if all are.
    ///
    /// A first look at the range of the arguments costs no evaluation. Only if it does not suffice, terms are bounded, then on the
    /// dense output.
    fn unresolved(&mut self, plan: StepPlan) -> Result<Option<(f64, usize)>, MotionError> {
        let (t, h) = (self.point.t, plan.h);
        let resolution = &mut self.resolution;
        let is_guess = match &self.integrator {
            Integrator::RungeKutta(rk) => {
                resolution.path[0] = Bernstein::new(&[t, t + h]);
                let coordinates = std::mem::take(&mut resolution.coordinates);
                coordinates.iter().for_each(|&i| resolution.join(rk, (&self.point.y, h), &self.scales.allowed, i));
                resolution.coordinates = coordinates;
                true
            }
            Integrator::Rattle(rattle) => {
                resolution.join_ends(t, h, &self.point.y, &rattle.end);
                true
            }
            Integrator::Radau(_) => {
                self.step.make_dense(&mut self.integrator, &mut self.flow)?;
                resolution.follow(&self.step.dense);
                false
            }
        };
        let Some(terms) = self.flow.smooth.dynamics.sharp_terms() else { return Ok(None) };
        if resolution.is_tame(terms) {
            return Ok(None);
        }
        if let Integrator::RungeKutta(rk) = &self.integrator {
            let n = self.flow.smooth.n;
            (0..n).for_each(|i| resolution.join(rk, (&self.point.y, h), &self.scales.allowed, i));
        }
        self.measure_floors()?;
        let is_resolved = self.with_floors(h, |resolution, terms, floors| {
            resolution.drop_constant(terms, &floors);
            resolution.terms.is_empty() || is_guess && !resolution.any_differs(terms, &floors)
        });
        if is_resolved != Some(false) {
            return Ok(None);
        }
        if is_guess {
            self.make_dense()?;
            self.resolution.follow(&self.step.dense);
        }
        Ok(self.with_floors(h, |resolution, terms, floors| resolution.longest(terms, floors)).flatten())
    }

    /// M, A and control rows at the start of the step, by which terms are measured.
    fn measure_floors(&mut self) -> Result<(), MotionError> {
        let (Resolution { state, given, control, .. }, n) = (&mut self.resolution, self.flow.smooth.n);
        state.t = self.point.t;
        state.q.copy_from_slice(&self.point.y[..n]);
        state.qdot.copy_from_slice(&self.point.y[n..2 * n]);
        let dynamics = &mut self.flow.smooth.dynamics;
        dynamics.fill(state, given)?;
        if let (Some(rows), Some(control)) = (control, dynamics.control()) {
            control.fill_control_rows(state, rows)?;
        }
        Ok(())
    }

    /// The terms with their floors for a step of length h; rows that do not hold have none.
    fn with_floors<T>(
        &mut self,
        h: f64,
        work: impl FnOnce(&mut Resolution, &mut dyn SharpTerms, Floors) -> T,
    ) -> Option<T> {
        let resolution = &mut self.resolution;
        let (given, control) = (std::mem::take(&mut resolution.given), resolution.control.take());
        let smooth = &mut self.flow.smooth;
        let floors = Floors {
            given: &given,
            control: control.as_ref(),
            allowed: &self.scales.allowed,
            sizes: &smooth.v_size,
            tolerance: self.options.tolerance,
            h,
        };
        let off = &smooth.rows.off;
        let found = smooth.dynamics.sharp_terms().map(|terms| {
            resolution.terms.retain(|&term| match terms.entry(term) {
                TermEntry::Row(row, _) | TermEntry::Rhs(row) => !off.get(row).copied().unwrap_or(false),
                _ => true,
            });
            work(resolution, terms, floors)
        });
        (self.resolution.given, self.resolution.control) = (given, control);
        found
    }

    /// `true` if the trial step resolves the formulas; if not, the next one to try is shorter. Steps of one length cannot be: that
    /// they pass over something is noted.
    pub(super) fn resolves_formulas(&mut self, plan: StepPlan) -> Result<bool, MotionError> {
        if !self.resolution.is_on {
            return Ok(true);
        }
        let unresolved = self.unresolved(plan)?;
        self.counts.functions_not_bounded = self.resolution.n_given_up;
        let Some((part, term)) = unresolved else { return Ok(true) };
        if self.integrator.is_fixed_step() {
            let at = self.point.t + part * plan.h;
            let function = self.function_of(term);
            self.resolution.passed_over.get_or_insert((at, function));
            return Ok(true);
        }
        self.cut_for_formula(part * plan.h, term);
        self.counts.rejected += 1;
        self.step.reject();
        Ok(false)
    }

    fn cut_for_formula(&mut self, h: f64, term: usize) {
        self.counts.cut_for_formulas += 1;
        let function = self.function_of(term);
        self.resolution.last_cut = Some((self.point.t, function));
        self.step_size.resolve(h, function);
    }

    fn function_of(&mut self, term: usize) -> usize {
        self.flow.smooth.dynamics.sharp_terms().map_or(0, |terms| terms.function_of(term))
    }

    /// Shortens the next step if its formulas are not resolved along the parabola ahead: that saves the stages of a trial step.
    pub(super) fn resolve_ahead(&mut self, plan: StepPlan) -> Result<bool, MotionError> {
        let Some(rk) = self.integrator.runge_kutta().filter(|_| self.resolution.last_cut.is_some() && !plan.guarded)
        else {
            return Ok(false);
        };
        self.resolution.predict(self.point.t, plan.h, &self.point.y, rk.rate(0));
        let Some(terms) = self.flow.smooth.dynamics.sharp_terms() else { return Ok(false) };
        if self.resolution.is_tame(terms) {
            return Ok(false);
        }
        self.measure_floors()?;
        let cut = self.with_floors(plan.h, |resolution, terms, floors| {
            resolution.drop_constant(terms, &floors);
            if resolution.terms.is_empty() { None } else { resolution.longest(terms, floors) }
        });
        match cut.flatten() {
            Some((part, term)) => {
                self.cut_for_formula(part * plan.h, term);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
