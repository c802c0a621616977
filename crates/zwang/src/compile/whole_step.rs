//! A whole step of an explicit Runge-Kutta method as one straight-line program.
//!
//! $$ k_i = f\bigl(t + c_i h,\; y + h \textstyle\sum_j a_{ij} k_j\bigr), \qquad y_1 = y + h \textstyle\sum_i b_i k_i $$
//!
//! Stage by stage, every rate passes through memory, and the sums of the next stage wait for it. In one program
//! numbers stay in registers, and operations that do not depend on the last rate run in parallel with it.

use std::sync::Mutex;
use zwang_expr::{Assembler, Graph, Program, Register};
use zwang_motion::Tableau;

use crate::compile::program::{Compiled, Jit, JitPolicy};
use crate::{
    compile::explicit::{N_PIVOTS, least_pivot},
    limits,
};

/// The program of a step of a method.
pub(crate) type StepProgram = (&'static Tableau, Compiled);

/// The program of a step, generated when it pays.
#[derive(Clone)]
pub(crate) struct WholeStep {
    n_taken: usize,
    made: Option<StepProgram>,
    /// h, y and the rate at y.
    state: Vec<f64>,
}

impl WholeStep {
    pub(crate) fn new(jit: JitPolicy) -> WholeStep {
        let n_taken = match jit {
            JitPolicy::Optimized => limits::STEPS_TO_PAY,
            JitPolicy::Adaptive | JitPolicy::Immediate => 0,
            JitPolicy::Never => usize::MAX,
        };
        WholeStep { n_taken, made: None, state: Vec::new() }
    }

    /// True if the program should be generated before the next step.
    pub(crate) fn is_due(&mut self) -> bool {
        self.n_taken = self.n_taken.saturating_add(1);
        self.n_taken == limits::STEPS_TO_PAY + 1
    }

    /// Uses the program of `shared`, and generates it if necessary from that of the acceleration, whose inputs are t,
    /// 2 n values of the state and parameters.
    pub(crate) fn make(
        &mut self,
        shared: &Mutex<Option<StepProgram>>,
        (graph, acceleration): (&Graph, &Program),
        n: usize,
        tableau: &'static Tableau,
        parameters: &[f64],
    ) {
        if acceleration.len() * tableau.n_stages > limits::STEP_INSTRUCTIONS {
            return;
        }
        let Ok(mut shared) = shared.lock() else { return };
        let known = shared.take().filter(|(known, _)| std::ptr::eq(*known, tableau));
        let (_, program) = shared.insert(known.unwrap_or_else(|| {
            let program = program(graph, acceleration, n, tableau);
            let held = program.n_inputs() - parameters.len()..program.n_inputs();
            (tableau, Compiled::explicit(program, held, N_PIVOTS, &Jit::from(JitPolicy::Optimized)))
        }));
        let mut program = program.clone();
        self.state = vec![0.0; program.n_inputs() - parameters.len() - 1];
        program.hold(parameters);
        self.made = Some((tableau, program));
    }

    pub(crate) fn hold(&mut self, parameters: &[f64]) {
        if let Some((_, program)) = &mut self.made {
            program.hold(parameters);
        }
    }

    /// Takes a step by the program; false if there is none for this method, or a pivot is doubtful.
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

/// The program from t, h, y, the rate at y and the parameters to the least pivots, the rates at the other stages, y at
/// the end and y at the last stage; the sums are those of the method stage by stage, in the same order.
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
