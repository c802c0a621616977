//! The Legendre transform of L with its one-form and two-form, as formulas: Y05 2.2, 3.1, 3.2.

use std::collections::HashMap;

use zwang_expr::Expr;

use crate::formulas::closed_form::{Mass, independent_rows};
use crate::{equations::Equations, limits};

/// p, Θ_L, Ω_L and, if L is quadratic in the velocities, the inverse transform from p to q̇, and H.
///
/// $$ \Theta_L = p_i\,dq^i, \qquad \Omega_L = -d\Theta_L
///    = \tfrac12\Big(\frac{\partial p_i}{\partial q^j} - \frac{\partial p_j}{\partial q^i}\Big) dq^i\wedge dq^j
///    + M_{ij}\,dq^i\wedge d\dot q^j $$
pub struct LegendreTransform {
    /// p = ∂L/∂q̇, the components of Θ_L.
    pub momentum: Vec<Expr>,
    /// ∂pᵢ/∂qʲ − ∂pⱼ/∂qⁱ for i < j, if it is not zero: the part dqⁱ∧dqʲ of Ω_L. Its part dqⁱ∧dq̇ʲ is M.
    pub gyroscopic: Vec<(usize, usize, Expr)>,
    /// E = p·q̇ − L; as T + V if that is the same.
    pub energy: Expr,
    /// The symbols for the momenta in `velocities` and `hamiltonian`.
    pub symbols: Vec<Expr>,
    /// q̇ in terms of p; `None` if L is singular or not quadratic, or the system is too large to be read.
    pub velocities: Option<Vec<Expr>>,
    /// H(q, p, t) = p·q̇ − L with these velocities.
    pub hamiltonian: Option<Expr>,
    /// The reason why `velocities` is `None`.
    pub why_not: Option<&'static str>,
}

/// The Legendre transform of a model's Lagrangian.
pub fn legendre_transform(equations: &mut Equations) -> LegendreTransform {
    let data = equations.legendre();
    let n = equations.momentum.len();
    let graph = &mut equations.model.graph;
    let entry =
        |i: usize, j: usize| data.momentum_by_q[i].iter().find(|(k, _)| *k == j).map_or(Expr::ZERO, |(_, e)| *e);
    let mut gyroscopic = Vec::new();
    for i in 0..n {
        // only pairs that occur
        let mut partners: Vec<usize> = data.momentum_by_q[i].iter().map(|(j, _)| *j).collect();
        partners.extend((0..n).filter(|&j| entry(j, i) != Expr::ZERO));
        partners.sort_unstable();
        partners.dedup();
        for j in partners.into_iter().filter(|&j| j > i) {
            let difference = graph.sub(entry(i, j), entry(j, i));
            if difference != Expr::ZERO && !crate::equations::zero::is_zero(graph, difference) {
                gyroscopic.push((i, j, difference));
            }
        }
    }
    let symbols: Vec<Expr> = (0..n)
        .map(|k| {
            let c = &equations.model.coordinates[k];
            let (name, latex) = (format!("p_{}", c.name), format!("p_{{{}}}", equations.model.graph.latex(c.q)));
            equations.model.graph.symbol(&name, &latex)
        })
        .collect();
    let momentum = equations.momentum.clone();
    let graph = &mut equations.model.graph;
    let sum = graph.add(equations.kinetic, equations.potential);
    let difference = graph.sub(sum, equations.energy);
    let is_natural = difference == Expr::ZERO || crate::equations::zero::is_zero(graph, difference);
    let energy = if is_natural { sum } else { equations.energy };
    let mut transform =
        LegendreTransform { momentum, gyroscopic, energy, symbols, velocities: None, hamiltonian: None, why_not: None };
    match back(equations, &transform.symbols) {
        Ok((velocities, hamiltonian)) => {
            (transform.velocities, transform.hamiltonian) = (Some(velocities), Some(hamiltonian));
        }
        Err(why) => transform.why_not = Some(why),
    }
    transform
}

/// q̇ = M⁻¹(p − p₀) and H = ½(p − p₀)·q̇ + E₀, where p₀ and E₀ are momentum and energy at rest.
fn back(equations: &mut Equations, symbols: &[Expr]) -> Result<(Vec<Expr>, Expr), &'static str> {
    let n = symbols.len();
    if n > limits::LEGENDRE_COORDINATES {
        return Err("the system is too large for velocities by momenta to be read");
    }
    let rates: Vec<Expr> = equations.model.coordinates.iter().map(|c| c.qdot).collect();
    let masses: Vec<Expr> = equations.mass_matrix.iter().flatten().map(|(_, e)| *e).collect();
    if equations.model.graph.symbols_of(&masses).iter().any(|s| rates.contains(s)) {
        return Err("L is not quadratic in the velocities");
    }
    const SINGULAR: &str = "L is singular: the velocities do not follow from the momenta";
    let rank = independent_rows(equations, &equations.mass_matrix.clone()).map(|rows| rows.len());
    if rank != Some(n) {
        return Err(SINGULAR);
    }
    let masses = equations.mass_matrix.clone();
    let graph = &mut equations.model.graph;
    let rest: HashMap<Expr, Expr> = rates.iter().map(|v| (*v, Expr::ZERO)).collect();
    let at_rest = graph.substitute(&equations.momentum, &rest);
    let moving: Vec<Expr> = symbols.iter().zip(&at_rest).map(|(p, p0)| graph.sub(*p, *p0)).collect();
    let velocities = Mass::new(graph, &masses).and_then(|mass| mass.solve(graph, &moving)).ok_or(SINGULAR)?;
    let products: Vec<Expr> = moving.iter().zip(&velocities).map(|(p, v)| graph.mul(*p, *v)).collect();
    let (sum, two) = (graph.sum(&products), graph.integer(2));
    let (kinetic, resting) = (graph.div(sum, two), graph.substitute(&[equations.energy], &rest)[0]);
    Ok((velocities, graph.add(kinetic, resting)))
}
