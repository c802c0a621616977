//! The stages of an explicit Runge-Kutta step, its error estimate and its dense output.

use super::step::{Step, join};
use crate::{Dynamics, MotionError, Tableau, flow::Flow};

/// One step of an explicit method: its stages and its end.
pub(crate) struct RungeKutta {
    pub(crate) tableau: &'static Tableau,
    /// Rates at the stages, one after the other; the one at the end of the step and the dense ones follow.
    k: Vec<f64>,
    size: usize,
    /// y at the present stage; after the step, at its last stage.
    stage: Vec<f64>,
    /// y at the end of the step.
    pub(crate) end: Vec<f64>,
    /// The smallest singular value that counts in the stages, relative to the largest.
    pub(crate) smallest: f64,
    pub(crate) guarded: bool,
    has_dense: bool,
}

/// See [`RungeKutta::spread`].
pub(crate) struct Spread {
    pub(crate) neighbours: f64,
    pub(crate) own: f64,
    pub(crate) coordinate: usize,
}

impl RungeKutta {
    pub(crate) fn new(tableau: &'static Tableau, n_values: usize) -> RungeKutta {
        RungeKutta {
            tableau,
            k: vec![0.0; tableau.a.len().max(tableau.n_stages + 2) * n_values],
            size: n_values,
            stage: vec![0.0; n_values],
            end: vec![0.0; n_values],
            smallest: 1.0,
            guarded: false,
            has_dense: false,
        }
    }

    /// The rate at stage i.
    pub(crate) fn rate(&self, i: usize) -> &[f64] {
        let size = self.size;
        &self.k[i * size..(i + 1) * size]
    }

    pub(crate) fn rate_mut(&mut self, i: usize) -> &mut [f64] {
        let size = self.size;
        &mut self.k[i * size..(i + 1) * size]
    }

    /// The rate at the end of the step.
    pub(crate) fn end_rate(&self) -> &[f64] {
        self.rate(self.tableau.n_stages)
    }

    /// y at the end of the step, and room for its rate.
    pub(crate) fn end_and_rate(&mut self) -> (&[f64], &mut [f64]) {
        let from = self.tableau.n_stages * self.size;
        (&self.end, &mut self.k[from..from + self.size])
    }

    /// The rate at the end becomes that of the start of the next step.
    pub(crate) fn reuse_end_rate(&mut self) {
        let size = self.size;
        let from = self.tableau.n_stages * size;
        self.k.copy_within(from..from + size, 0);
    }

    /// y at the end of a step of length h from (t, y), whose rate is known as stage 0.
    pub(crate) fn attempt<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(), MotionError> {
        self.smallest = 1.0;
        self.has_dense = false;
        let (tableau, k) = (self.tableau, &mut self.k);
        let step = |dynamics: &mut D| dynamics.explicit_step(tableau, t, h, y, k);
        if !self.guarded && flow.smooth.explicit_step(tableau.n_stages, step) {
            let from = tableau.n_stages * self.size;
            let (end, stage) = self.k[from..from + 2 * self.size].split_at(self.size);
            self.end.copy_from_slice(end);
            self.stage.copy_from_slice(stage);
            return Ok(());
        }
        for i in 1..self.tableau.n_stages {
            self.evaluate(flow, t, y, h, i)?;
        }
        let mut end = std::mem::take(&mut self.end);
        self.combine(self.tableau.b, y, h, &mut end);
        self.end = end;
        Ok(())
    }

    fn evaluate<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
        i: usize,
    ) -> Result<(), MotionError> {
        let size = y.len();
        let mut stage = std::mem::take(&mut self.stage);
        self.combine(self.tableau.a[i], y, h, &mut stage);
        self.stage = stage;
        let rate = &mut self.k[i * size..(i + 1) * size];
        let t = t + self.tableau.c[i] * h;
        if !self.guarded {
            return flow.rate_quickly(t, &self.stage, rate).map(|_| ());
        }
        flow.rate(t, &self.stage, true, rate)?;
        self.smallest = self.smallest.min(flow.smooth.all.gap().kept);
        Ok(())
    }

    /// out = y + h Σ wᵢ kᵢ.
    fn combine(&self, weights: &[(usize, f64)], y: &[f64], h: f64, out: &mut Vec<f64>) {
        let size = self.size;
        out.resize(size, 0.0);
        let mut first = 0;
        while first + 8 <= size {
            self.combine_some::<8>(weights, y, h, first, out);
            first += 8;
        }
        if first + 4 <= size {
            self.combine_some::<4>(weights, y, h, first, out);
            first += 4;
        }
        (first..size).for_each(|i| self.combine_some::<1>(weights, y, h, i, out));
    }

    /// out = y + h Σ wᵢ kᵢ for N components from the first on, kept in registers.
    #[inline(always)]
    fn combine_some<const N: usize>(&self, weights: &[(usize, f64)], y: &[f64], h: f64, first: usize, out: &mut [f64]) {
        let mut sum = [0.0; N];
        sum.copy_from_slice(&y[first..first + N]);
        self.add_some(weights, h, first, &mut sum);
        out[first..first + N].copy_from_slice(&sum);
    }

    /// sum + h Σ wᵢ kᵢ for N components from the first on.
    #[inline(always)]
    fn add_some<const N: usize>(&self, weights: &[(usize, f64)], h: f64, first: usize, sum: &mut [f64; N]) {
        for &(i, w) in weights {
            let (hw, at) = (h * w, i * self.size + first);
            sum.iter_mut().zip(&self.k[at..at + N]).for_each(|(x, k)| *x += hw * k);
        }
    }

    /// The largest of both estimates relative to what is allowed, of N components from the first on.
    #[inline(always)]
    fn estimates<const N: usize>(&self, first: usize, allowed: &[f64], (fine, coarse): (f64, f64)) -> (f64, f64) {
        let (mut f, mut c) = ([0.0; N], [0.0; N]);
        self.add_some(self.tableau.error, 1.0, first, &mut f);
        self.add_some(self.tableau.coarse, 1.0, first, &mut c);
        let most = |top: f64, parts: &[f64; N]| {
            parts.iter().zip(&allowed[first..]).fold(top, |top, (x, a)| top.max((x / a).abs()))
        };
        (most(fine, &f), most(coarse, &c))
    }

    /// The estimated error of the step as a multiple of what is allowed: `allowed(i)` for component i.
    ///
    /// Two estimates are combined as in DOP853, h e₅²/√(e₅² + e₃²/100). The rate at the end must be known.
    pub(crate) fn error(&self, h: f64, allowed: &[f64]) -> f64 {
        let (mut first, mut most) = (0, (0.0, 0.0));
        while first + 4 <= allowed.len() {
            most = self.estimates::<4>(first, allowed, most);
            first += 4;
        }
        let (fine, coarse) = (first..allowed.len()).fold(most, |most, i| self.estimates::<1>(i, allowed, most));
        // at rest the squares underflow
        if self.tableau.coarse.is_empty() || fine * fine < f64::MIN_POSITIVE {
            return h * fine;
        }
        h * fine * fine / (fine * fine + 0.01 * coarse * coarse).sqrt()
    }

    fn sum(&self, weights: &[(usize, f64)], i: usize) -> f64 {
        let size = self.size;
        weights.iter().map(|&(stage, w)| w * self.k[stage * size + i]).sum()
    }

    /// How fast neighbouring solutions part, how fast the solution itself changes, both times h, and the component in which
    /// neighbours part most.
    ///
    /// The last stage and the end of the step are two points close by (Hairer's test for stiffness). A motion is stiff if it
    /// changes slowly and its neighbours do not, yet steps cannot be much longer than those need.
    pub(crate) fn spread(&self, h: f64, allowed: &[f64]) -> Spread {
        let (first, last, end) = (self.rate(0), self.rate(self.tableau.n_stages - 1), self.rate(self.tableau.n_stages));
        let (mut apart, mut near, mut most, mut coordinate) = (0.0, 0.0, 0.0, 0);
        let (mut change, mut whole) = (0.0, 0.0);
        for i in 0..allowed.len() {
            let (f, y) = ((end[i] - last[i]) / allowed[i], (self.end[i] - self.stage[i]) / allowed[i]);
            (apart, near) = (apart + f * f, near + y * y);
            if f.abs() > most {
                (most, coordinate) = (f.abs(), i % (allowed.len() / 2));
            }
            let (own, size) = ((end[i] - first[i]) / allowed[i], first[i] / allowed[i]);
            (change, whole) = (change + own * own, whole + size * size);
        }
        let ratio = |x: f64, y: f64| if y > 0.0 { f64::sqrt(x / y) } else { 0.0 };
        Spread { neighbours: h * ratio(apart, near), own: ratio(change, whole), coordinate }
    }

    /// Fills in the dense output of a step that holds its start, its length and y there.
    pub(crate) fn fill_dense<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        step: &mut Step,
    ) -> Result<(), MotionError> {
        let y = std::mem::take(&mut step.y);
        let done = self.dense(flow, step.start, &y, step.h, step);
        step.y = y;
        done
    }

    /// Fills the dense output of the step from (t, y) of length h to `self.end`.
    fn dense<D: Dynamics + ?Sized>(
        &mut self,
        flow: &mut Flow<D>,
        t: f64,
        y: &[f64],
        h: f64,
        step: &mut Step,
    ) -> Result<(), MotionError> {
        let (size, n_stages) = (y.len(), self.tableau.n_stages);
        if !self.has_dense {
            for i in n_stages + 1..self.tableau.a.len() {
                self.evaluate(flow, t, y, h, i)?;
            }
            self.has_dense = true;
        }
        let (f0, f1) = (self.rate(0), self.rate(n_stages));
        join(&mut step.F, h, (y, f0), (&self.end, f1), self.tableau.dense.len());
        for (k, weights) in self.tableau.dense.iter().enumerate() {
            for i in 0..size {
                step.F[(3 + k) * size + i] = h * self.sum(weights, i);
            }
        }
        Ok(())
    }
}
