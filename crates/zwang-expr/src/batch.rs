//! Runs a program for many states at once; each state gets the bits that [`Program::run`] computes for it.

#![allow(clippy::needless_range_loop)] // one index runs over several slots

mod tape;

use crate::node::{Function, Function2};
use crate::program::Program;
use crate::simd_dispatch::{self, VectorKernel};
use crate::{real, trig};
use std::array::from_fn;
use tape::{Action, Tape, TapeStep};

/// The number of states in one vector value: as many as sine and cosine take at once.
const GROUP: usize = 8;

/// The number of groups that pass through the tape together. It is large enough that fetching a step costs little
/// compared with executing it, and small enough that the slots of several thousand steps fit into the cache of a core.
const MANY: usize = 8;

/// Up to this number of states, groups pass through the tape one by one: faster than one pass with empty places.
const FEW: usize = 2 * GROUP;

/// The values of one quantity for a group of states; one cache line.
#[derive(Copy, Clone, Debug)]
#[repr(align(64))]
struct GroupValues([f64; GROUP]);

/// The values of one quantity for the N groups that pass through the tape together.
type Slot<const N: usize> = [GroupValues; N];

/// A [`Program`] for many states at once.
///
/// Each instruction is executed for many states before the next one, with the widest vector instructions that the
/// machine has. Results are stored in slots, and a slot is reused after the last use of its value.
///
/// ```
/// use zwang_expr::{Batch, Graph, Program};
///
/// let mut g = Graph::new();
/// let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
/// let outputs = [g.add(x, y), g.mul(x, y)];
/// let program = Program::new(&g, &[x, y], &outputs)?;
///
/// // x, then y, then x + y and x y, each in three states
/// let mut results = [0.0; 6];
/// Batch::new(&program).run(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut results);
/// assert_eq!(results, [5.0, 7.0, 9.0, 4.0, 10.0, 18.0]);
/// # Ok::<(), zwang_expr::UnknownSymbol>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batch {
    tape: Tape,
    slots: Vec<GroupValues>,
}

impl Batch {
    /// Translates a program and allocates the slots for its values.
    pub fn new(program: &Program) -> Batch {
        let tape = Tape::new(program);
        let slots = vec![GroupValues([0.0; GROUP]); MANY * tape.n_slots];
        Batch { tape, slots }
    }

    /// The number of inputs of each state.
    pub fn n_inputs(&self) -> usize {
        self.tape.n_inputs
    }

    /// The number of outputs of each state.
    pub fn n_outputs(&self) -> usize {
        self.tape.n_outputs
    }

    /// Fills `outputs` from `inputs` for any number of states; allocates nothing.
    ///
    /// Input i of state s is `inputs[i * n_states + s]`, output o of state s is `outputs[o * n_states + s]`. The
    /// lengths must be those of the program times the number of states.
    pub fn run(&mut self, n_states: usize, inputs: &[f64], outputs: &mut [f64]) {
        assert_eq!(inputs.len(), self.n_inputs() * n_states, "number of inputs");
        assert_eq!(outputs.len(), self.n_outputs() * n_states, "number of outputs");
        simd_dispatch::run(BatchRun { batch: self, n_states, inputs, outputs });
    }
}

struct BatchRun<'a> {
    batch: &'a mut Batch,
    n_states: usize,
    inputs: &'a [f64],
    outputs: &'a mut [f64],
}

impl VectorKernel for BatchRun<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut first = 0;
        while self.n_states - first > FEW {
            self.some::<MANY>(first);
            first += (MANY * GROUP).min(self.n_states - first);
        }
        while first < self.n_states {
            self.some::<1>(first);
            first += GROUP.min(self.n_states - first);
        }
    }
}

impl BatchRun<'_> {
    /// Runs the states from `first` on, at most N groups.
    #[inline(always)]
    fn some<const N: usize>(&mut self, first: usize) {
        let BatchRun { batch: Batch { tape, slots }, n_states, inputs, outputs } = self;
        let slots = slots.as_chunks_mut::<N>().0;
        let n_here = (*n_states - first).min(N * GROUP);
        for &TapeStep { action, to, a, b, c } in &tape.steps {
            let (to, a, b, c) = (to as usize, a as usize, b as usize, c as usize);
            match action {
                Action::Input => load(&inputs[a * *n_states + first..][..n_here], &mut slots[to]),
                Action::Constant(v) => slots[to] = [GroupValues([v; GROUP]); N],
                Action::Output => store(&slots[a], &mut outputs[to * *n_states + first..][..n_here]),
                Action::SinCos => {
                    for j in 0..N {
                        let (mut sin, mut cos) = ([0.0; GROUP], [0.0; GROUP]);
                        trig::sin_cos_eight(&slots[a][j].0, &mut sin, &mut cos);
                        (slots[to][j], slots[b][j]) = (GroupValues(sin), GroupValues(cos));
                    }
                }
                Action::Add => map2(slots, to, [a, b], |x, y| x + y),
                Action::Sub => map2(slots, to, [a, b], |x, y| x - y),
                Action::Mul => map2(slots, to, [a, b], |x, y| x * y),
                Action::Div => map2(slots, to, [a, b], |x, y| x / y),
                Action::Neg => map(slots, to, a, |x| -x),
                Action::MulAdd => map3(slots, to, [a, b, c], f64::mul_add),
                Action::MulSub => map3(slots, to, [a, b, c], |x, y, z| (-x).mul_add(y, z)),
                Action::AddConstant(v) => map(slots, to, a, |x| x + v),
                Action::SubConstant(v) => map(slots, to, a, |x| x - v),
                Action::ConstantSub(v) => map(slots, to, a, |x| v - x),
                Action::Scale(v) => map(slots, to, a, |x| v * x),
                Action::DivConstant(v) => map(slots, to, a, |x| x / v),
                Action::ConstantDiv(v) => map(slots, to, a, |x| v / x),
                Action::Pow => map2(slots, to, [a, b], real::pow),
                Action::Apply(Function::Sqrt) => map(slots, to, a, f64::sqrt),
                Action::Apply(Function::Abs) => map(slots, to, a, f64::abs),
                Action::Apply(Function::Sign) => map(slots, to, a, real::sign),
                Action::Apply(f) => map(slots, to, a, |x| real::apply(f, x)),
                Action::Look(table) => {
                    let table = &tape.tables[table.index()];
                    map(slots, to, a, |x| table.value(x));
                }
                Action::Apply2(Function2::Min) => map2(slots, to, [a, b], |x, y| real::apply2(Function2::Min, x, y)),
                Action::Apply2(Function2::Max) => map2(slots, to, [a, b], |x, y| real::apply2(Function2::Max, x, y)),
                Action::Apply2(f) => map2(slots, to, [a, b], |x, y| real::apply2(f, x, y)),
                Action::Compare(comparison) => map2(slots, to, [a, b], |x, y| f64::from(comparison.holds(&x, &y))),
                Action::Select => map3(slots, to, [a, b, c], |x, y, z| if x != 0.0 { y } else { z }),
            }
        }
    }
}

/// Writes f(a) into slot `to`, which may be `a`.
#[inline(always)]
fn map<const N: usize>(slots: &mut [Slot<N>], to: usize, a: usize, f: impl Fn(f64) -> f64) {
    for j in 0..N {
        let x = slots[a][j].0;
        slots[to][j].0 = from_fn(|k| f(x[k]));
    }
}

/// Writes f(a, b) into slot `to`, which may be `a` or `b`.
#[inline(always)]
fn map2<const N: usize>(slots: &mut [Slot<N>], to: usize, [a, b]: [usize; 2], f: impl Fn(f64, f64) -> f64) {
    for j in 0..N {
        let (x, y) = (slots[a][j].0, slots[b][j].0);
        slots[to][j].0 = from_fn(|k| f(x[k], y[k]));
    }
}

/// Writes f(a, b, c) into slot `to`, which may be one of the operands.
#[inline(always)]
fn map3<const N: usize>(slots: &mut [Slot<N>], to: usize, [a, b, c]: [usize; 3], f: impl Fn(f64, f64, f64) -> f64) {
    for j in 0..N {
        let (x, y, z) = (slots[a][j].0, slots[b][j].0, slots[c][j].0);
        slots[to][j].0 = from_fn(|k| f(x[k], y[k], z[k]));
    }
}

/// Writes the values of the states into a slot; unused places get the value of the last state.
#[inline(always)]
fn load<const N: usize>(from: &[f64], slot: &mut Slot<N>) {
    for (j, group) in slot.iter_mut().enumerate() {
        let there = &from[(j * GROUP).min(from.len())..];
        *group = match there.first_chunk() {
            Some(values) => GroupValues(*values),
            None => GroupValues(from_fn(|k| from[(j * GROUP + k).min(from.len() - 1)])),
        };
    }
}

/// Reads the values of the states from a slot.
#[inline(always)]
fn store<const N: usize>(slot: &Slot<N>, to: &mut [f64]) {
    for (group, to) in slot.iter().zip(to.chunks_mut(GROUP)) {
        match to.as_mut_array() {
            Some(to) => *to = group.0,
            None => to.copy_from_slice(&group.0[..to.len()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Graph};

    /// The instruction set of the build and the widest one of the machine give the same bits.
    #[test]
    fn instruction_sets_agree() {
        let mut g = Graph::new();
        let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
        let (sin, cos) = (g.apply(Function::Sin, x), g.apply(Function::Cos, x));
        let sum = g.sum(&[sin, cos, y, Expr::HALF]);
        let (quotient, root) = (g.div(x, sum), g.sqrt(y));
        let program = Program::new(&g, &[x, y], &[sin, quotient, root]).unwrap();
        let mut batch = Batch::new(&program);
        let n_states = 107;
        let inputs: Vec<f64> = (0..2 * n_states).map(|k| 0.37 * k as f64 * 1.1f64.powi(k as i32)).collect();
        let (mut wide, mut plain) = (vec![0.0; 3 * n_states], vec![0.0; 3 * n_states]);
        batch.run(n_states, &inputs, &mut wide);
        BatchRun { batch: &mut batch, n_states, inputs: &inputs, outputs: &mut plain }.run();
        assert!(wide.iter().zip(&plain).all(|(wide, plain)| wide.to_bits() == plain.to_bits()));
    }
}
