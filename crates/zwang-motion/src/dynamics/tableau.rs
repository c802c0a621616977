//! The explicit Runge-Kutta method that a system may compute as one step.

/// Pairs of stage and coefficient; what is left out is zero.
type Sparse = &'static [(usize, f64)];

/// An explicit Runge-Kutta method with its error estimate and its dense output.
///
/// Stages 0 to `n_stages` − 1 make the step, stage `n_stages` is the rate at its end, and the stages after that serve the dense
/// output alone. With Δ = y₁ − y₀ and θ = (t − t₀)/h the dense output is the nested polynomial of Hairer, Nørsett and
/// Wanner (Solving Ordinary Differential Equations I, II.6),
///
/// $$ y_0 + \theta\bigl(F_0 + (1-\theta)(F_1 + \theta(F_2 + (1-\theta)(F_3 + \dots)))\bigr) $$
///
/// where F₀ = Δ, F₁ = h f₀ − Δ, F₂ = 2Δ − h(f₀ + f₁) and the others are h Σ dᵢ kᵢ.
#[derive(Debug)]
pub struct Tableau {
    /// Order of the step.
    pub(crate) order: i32,
    /// Stages of the step.
    pub n_stages: usize,
    /// Nodes, also those of the dense output.
    pub c: &'static [f64],
    /// One row per stage, the dense ones after the rate at the end, whose row is `b`.
    pub a: &'static [Sparse],
    /// Weights.
    pub b: Sparse,
    /// Weights of the error estimate.
    pub(crate) error: Sparse,
    /// Weights of a second, coarser estimate; empty if there is none.
    pub(crate) coarse: Sparse,
    /// Weights of F₃, F₄, ….
    pub(crate) dense: &'static [Sparse],
    /// The middle of the widest gap between the nodes, and the gap as far as no stage comes near it.
    pub(crate) gap: NodeGap,
}

/// A part of the step in which no stage is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeGap {
    pub(crate) from: f64,
    pub(crate) middle: f64,
    pub(crate) to: f64,
}
