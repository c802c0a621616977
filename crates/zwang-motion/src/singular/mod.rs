//! Positions in which the constraints lose rank: the rank at the start, steps out of and across such positions.

mod crossing;
mod leave;
mod start_rank;

use crossing::Crossing;
pub use crossing::RankDrop;
pub(crate) use crossing::StepPlan;
pub(crate) use leave::first_step;
pub(crate) use start_rank::{StartRank, generic_rank, vanishing_rows};

use crate::{
    Dynamics, MotionError, Step, dynamics::NodeGap, flow::Flow, methods::RungeKutta, smooth::Smooth, tolerance,
};

/// Rank along the motion, singular positions near the present state, and those passed so far.
#[derive(Default)]
pub(crate) struct Singular {
    crossing: Crossing,
    rank: usize,
    /// The rank at the start, if the motion starts in a position in which the constraints lose rank.
    start: Option<usize>,
    rank_drops: Vec<RankDrop>,
}

impl Singular {
    /// The rank along the motion.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The rank at the start, if that is a singular position.
    #[inline]
    pub(crate) fn start(&self) -> Option<usize> {
        self.start
    }

    /// Positions passed in which the constraints lose rank.
    #[inline]
    pub(crate) fn rank_drops(&self) -> &[RankDrop] {
        &self.rank_drops
    }

    /// The last pivot that counted at the last accepted state, relative to the first.
    #[inline]
    pub(crate) fn kept(&self) -> f64 {
        self.crossing.kept
    }

    /// The rank found where the motion restarts; `rank_there` is the rank in that very position.
    #[inline]
    pub(crate) fn set_rank(&mut self, found: &StartRank, rank_there: usize) {
        self.rank = found.rank;
        self.start = found.singular.then_some(rank_there);
    }

    /// Forgets positions ahead: the state has jumped.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.crossing.reset();
    }

    /// The step out of the singular start has been taken; it began at t.
    #[inline]
    pub(crate) fn leave_start(&mut self, t: f64, n_rows: usize) {
        let rank = self.start.take().unwrap_or(0);
        let rows = (0..n_rows).collect();
        self.rank_drops.push(RankDrop { t, rank, of: self.rank, rows, kappa: f64::NAN, rho: 0.0 });
    }

    /// The step ends at t: later passages have not been made.
    #[inline]
    pub(crate) fn end_at(&mut self, t: f64) {
        self.rank_drops.retain(|passage| passage.t <= t);
    }

    /// The step to take from t if error control wants h; `is_first` if none was rejected from here.
    #[inline]
    pub(crate) fn plan(&self, t: f64, h: f64, gap: NodeGap, tolerance: f64, is_first: bool) -> StepPlan {
        self.crossing.choose(t, h, gap, tolerance, is_first)
    }

    /// What rounding in the constraints does to the velocity in a step of length h whose stages have σ at least.
    #[inline]
    pub(crate) fn noise(&self, h: f64, sigma: f64) -> f64 {
        self.crossing.noise(h, sigma)
    }

    /// `true` if no singular position is near, judged by the least pivot alone; the last step was of length h.
    #[inline]
    pub(crate) fn is_clear(&mut self, pivot: f64, h: f64) -> bool {
        self.crossing.is_clear(pivot, h)
    }

    /// Looks ahead from an accepted state, decomposed; the last step was of length h.
    pub(crate) fn look<D: Dynamics + ?Sized>(&mut self, smooth: &mut Smooth<D>, h: f64) -> Result<(), MotionError> {
        self.crossing.look(smooth, h)
    }

    /// `false` if a step crossed a position in which the branches do not meet. The flow stands at the end of the step, where the
    /// rows have this least pivot, or are decomposed.
    pub(crate) fn allows<D: Dynamics + ?Sized>(
        &mut self,
        (flow, rk): (&mut Flow<D>, &mut RungeKutta),
        step: &mut Step,
        pivot: Option<f64>,
        plan: StepPlan,
        tolerance: f64,
    ) -> Result<bool, MotionError> {
        let (t, h) = (step.start, plan.h);
        if let Some(pivot) = pivot {
            if self.crossing.is_clear(pivot, h) {
                return Ok(true);
            }
            flow.smooth.set_state(t + h, &rk.end);
            flow.evaluate_accepted()?;
        }
        let before = plan.guarded.then(|| self.crossing.clone());
        self.crossing.look(&mut flow.smooth, h)?;
        let guess = plan.crossing.map(|D| t + D).or_else(|| self.crossing.behind(h).map(|D| t + h + D));
        let (Some(guess), Some(before)) = (guess, before) else { return Ok(true) };
        rk.fill_dense(flow, step)?;
        let Some(passage) = self.crossing.check(&mut flow.smooth, step, guess)? else { return Ok(true) };
        let inside = passage.t > t - tolerance::LAW * h && passage.t < t + h * (1.0 + tolerance::LAW);
        if !inside
            || self.rank_drops.last().is_some_and(|last| (last.t - passage.t).abs() < tolerance::SAME_CROSSING * h)
        {
            return Ok(true);
        }
        if self.crossing.meets(&passage, tolerance) {
            self.rank_drops.push(passage);
            return Ok(true);
        }
        self.crossing = before;
        self.crossing.avoid(passage.t);
        Ok(false)
    }
}
