//! The equations of the planar pendulum with n links in its angles, and how long something takes.
//!
//! T = Σ m/2 |P_k'|² and V = Σ m g y_k with P_k = P_{k-1} + l (cos θ_k, sin θ_k); then p = ∂T/∂θ',
//! M = ∂p/∂θ' and Q = ∂L/∂θ - (∂p/∂θ) θ'.

use std::time::{Duration, Instant};
use zwang_expr::{Expr, Function, Graph};

pub struct Pendulum {
    pub graph: Graph,
    pub inputs: Vec<Expr>,
    pub outputs: Vec<Expr>,
}

pub fn derive(n: usize) -> Pendulum {
    let mut g = Graph::new();
    let [m, l, gravity] = ["m", "l", "g"].map(|name| g.symbol(name, name));
    let q: Vec<Expr> = (0..n).map(|k| g.symbol(&format!("θ[{k}]"), "θ")).collect();
    let v: Vec<Expr> = (0..n).map(|k| g.symbol(&format!("θ[{k}]'"), "θ")).collect();
    for (&q, &v) in q.iter().zip(&v) {
        g.set_rate(q, v);
    }
    for parameter in [m, l, gravity] {
        g.set_rate(parameter, Expr::ZERO);
    }

    // T and V
    let (mut x, mut y) = (Expr::ZERO, Expr::ZERO);
    let (mut kinetic, mut potential) = (Expr::ZERO, Expr::ZERO);
    let half_m = g.mul(Expr::HALF, m);
    let weight = g.mul(m, gravity);
    for &angle in &q {
        let (cos, sin) = (g.apply(Function::Cos, angle), g.apply(Function::Sin, angle));
        let (dx, dy) = (g.mul(l, cos), g.mul(l, sin));
        (x, y) = (g.add(x, dx), g.add(y, dy));
        let (vx, vy) = (g.rate(x).unwrap(), g.rate(y).unwrap());
        let (vx2, vy2) = (g.powi(vx, 2), g.powi(vy, 2));
        let speed2 = g.add(vx2, vy2);
        let t = g.mul(half_m, speed2);
        kinetic = g.add(kinetic, t);
        let u = g.mul(weight, y);
        potential = g.add(potential, u);
    }
    let lagrangian = g.sub(kinetic, potential);

    // M = ∂p/∂v and Q = ∂L/∂q - (∂p/∂q) v, row by row
    let (first_q, last_q) = (q[0], q[n - 1]);
    let (first_v, last_v) = (v[0], v[n - 1]);
    let is_q = |e: Expr| first_q <= e && e <= last_q;
    let is_v = |e: Expr| first_v <= e && e <= last_v;
    let momenta = g.gradient_in(kinetic, is_v);
    let forces = g.gradient_in(lagrangian, is_q);
    let mut outputs = vec![Expr::ZERO; n * n + n];
    for (row, &(_, p)) in momenta.iter().enumerate() {
        let mut force = forces[row].1;
        for (symbol, derivative) in g.gradient_in(p, |e| is_q(e) || is_v(e)) {
            if is_v(symbol) {
                outputs[row * n + (symbol.index() - first_v.index())] = derivative;
            } else {
                let speed = v[symbol.index() - first_q.index()];
                let term = g.mul(derivative, speed);
                force = g.sub(force, term);
            }
        }
        outputs[n * n + row] = force;
    }
    let inputs = [vec![m, l, gravity], q, v].concat();
    Pendulum { graph: g, inputs, outputs }
}

/// The shortest of several runs: the one least disturbed.
pub fn time<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    let once = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    (0..runs).map(|_| once(&mut work)).min().unwrap_or_default()
}
