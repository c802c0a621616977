//! A whole step of an explicit Runge-Kutta method as one straight-line program.
//!
//! $$ k_i = f\bigl(t + c_i h,\; y + h \textstyle\sum_j a_{ij} k_j\bigr), \qquad y_1 = y + h \textstyle\sum_i b_i k_i $$
//!
//! Stage by stage, every rate goes through memory, and the sums of the next stage begin when it is there. In one program numbers stay
//! in registers, and what does not wait for the last rate is computed while that is being found.

use zwang_expr::{Assembler, Graph, Program, Register};
use zwang_motion::Tableau;

use crate::compiled::{Coding, Compiled};
use crate::explicit::{N_PIVOTS, least_pivot};

/// Longest program of a step, without its sums: beyond a hundred instructions a stage, the way through memory is nothing beside
/// them, and the code no longer fits where a processor keeps what it has decoded.
const LONGEST: usize = 1_200;

/// Making the program takes as long as it saves in so many steps.
const PAYS_AFTER: usize = 5_000;

/// The program of a step, once it is worth it.
pub(crate) struct Step {
    n_taken: usize,
    made: Option<(&'static Tableau, Compiled)>,
    /// h, y and the rate at y.
    state: Vec<f64>,
}

impl Step {
    pub(crate) fn new(coding: Coding) -> Step {
        let n_taken = match coding {
            Coding::Best => PAYS_AFTER,
            Coding::WhenItPays | Coding::AtOnce => 0,
            Coding::Never => usize::MAX,
        };
        Step { n_taken, made: None, state: Vec::new() }
    }

    /// Whether the next step is the one at which the program should be made.
    pub(crate) fn is_due(&mut self) -> bool {
        self.n_taken = self.n_taken.saturating_add(1);
        self.n_taken == PAYS_AFTER + 1
    }

    /// Makes the program from that of the acceleration, whose inputs are t, 2 n values of the state and parameters.
    pub(crate) fn make(
        &mut self,
        (graph, acceleration): (&Graph, &Program),
        n: usize,
        tableau: &'static Tableau,
        parameters: &[f64],
    ) {
        if acceleration.len() * tableau.n_stages > LONGEST {
            return;
        }
        let program = program(graph, acceleration, n, tableau);
        let held = program.n_inputs() - parameters.len()..program.n_inputs();
        self.state = vec![0.0; held.start - 1];
        let mut compiled = Compiled::explicit(program, held, N_PIVOTS, Coding::Best);
        compiled.hold(parameters);
        self.made = Some((tableau, compiled));
    }

    pub(crate) fn hold(&mut self, parameters: &[f64]) {
        if let Some((_, program)) = &mut self.made {
            program.hold(parameters);
        }
    }

    /// Takes a step by the program; false if there is none for this method, or a pivot is in doubt.
    pub(crate) fn take(&mut self, tableau: &'static Tableau, t: f64, h: f64, y: &[f64], k: &mut [f64]) -> bool {
        let Some((_, program)) = self.made.as_mut().filter(|(known, _)| std::ptr::eq(*known, tableau)) else {
            return false;
        };
        let size = y.len();
        self.state[0] = h;
        self.state[1..=size].copy_from_slice(y);
        self.state[1 + size..].copy_from_slice(&k[..size]);
        let found = &mut k[size..(tableau.n_stages + 2) * size];
        least_pivot(program.run_at(t, &self.state, found)).is_some()
    }
}

/// From t, h, y, the rate at y and the parameters to the least pivots, the rates at the other stages, y at the end and y at the last
/// stage; the sums are those of the method stage by stage, in the same order.
fn program(graph: &Graph, acceleration: &Program, n: usize, tableau: &Tableau) -> Program {
    let size = acceleration.n_outputs() - N_PIVOTS;
    let n_parameters = acceleration.n_inputs() - 1 - 2 * n;
    let (mut program, inputs) = Assembler::of_inputs(graph, 2 + 2 * size + n_parameters);
    let (t, h) = (inputs[0], inputs[1]);
    let (y, rest) = inputs[2..].split_at(size);
    let (first, parameters) = rest.split_at(size);
    let mut k = vec![first.to_vec()];
    let (mut pivots, mut at) = (Vec::new(), Vec::new());
    for i in 1..tableau.n_stages {
        at = combined(&mut program, tableau.a[i], h, y, &k);
        let c = program.constant(tableau.c[i]);
        let later = program.mul(c, h);
        let time = program.add(t, later);
        let found = program.inline(acceleration, &[&[time], &at[..2 * n], parameters].concat());
        let (own, rate) = found.split_at(N_PIVOTS);
        pivots = match pivots.is_empty() {
            true => own.to_vec(),
            false => pivots.iter().zip(own).map(|(&x, &y)| program.min(x, y)).collect(),
        };
        k.push(rate.to_vec());
    }
    let end = combined(&mut program, tableau.b, h, y, &k);
    let outputs = [pivots, k[1..].concat(), end, at].concat();
    program.finish(&outputs)
}

/// y + h Σ wᵢ kᵢ.
fn combined(
    program: &mut Assembler,
    weights: &[(usize, f64)],
    h: Register,
    y: &[Register],
    k: &[Vec<Register>],
) -> Vec<Register> {
    let mut sum = y.to_vec();
    for &(i, w) in weights {
        let w = program.constant(w);
        let hw = program.mul(h, w);
        for (x, &k) in sum.iter_mut().zip(&k[i]) {
            let product = program.mul(hw, k);
            *x = program.add(*x, product);
        }
    }
    sum
}
