//! Programs over intervals: bounds of every output for all inputs of a box.

use crate::interval::Interval;
use crate::node::Function;
use crate::program::{Instruction, Operation, Program};
use crate::table::Table;
use std::sync::Arc;

impl Program {
    /// Fills `outputs` with bounds of the outputs for all `inputs`; allocates nothing.
    ///
    /// At every point of the box at which all operations are defined, the exact values and those of [`run`](Program::run) lie in
    /// the bounds; where an operation is undefined somewhere in the box, its bounds are the whole line. A constant that is no short
    /// binary fraction counts as rounded. The workspace must come from [`enclosure_workspace`](Program::enclosure_workspace).
    pub fn enclose(&self, inputs: &[Interval], workspace: &mut [Interval], outputs: &mut [Interval]) {
        self.enclose_by::<false>(inputs, workspace, outputs);
    }

    /// [`enclose`](Program::enclose) with bounds of the defined values alone: roots, logarithms and powers are bounded over the part
    /// of their operand at which they have a value.
    pub fn enclose_defined(&self, inputs: &[Interval], workspace: &mut [Interval], outputs: &mut [Interval]) {
        self.enclose_by::<true>(inputs, workspace, outputs);
    }

    fn enclose_by<const DEFINED: bool>(
        &self,
        inputs: &[Interval],
        workspace: &mut [Interval],
        outputs: &mut [Interval],
    ) {
        assert_eq!(inputs.len(), self.n_inputs, "number of inputs");
        assert_eq!(outputs.len(), self.outputs.len(), "number of outputs");
        assert_eq!(workspace.len(), self.n_registers(), "size of the workspace");
        let (n_constants, first) = (self.constants.len(), self.constants.len() + self.n_inputs);
        workspace[n_constants..first].copy_from_slice(inputs);
        for (k, instruction) in self.instructions.iter().enumerate() {
            workspace[first + k] = step::<DEFINED>(instruction, workspace, &self.tables);
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            *output = workspace[register as usize];
        }
    }

    /// The registers for [`enclose`](Program::enclose), with the constants filled in.
    pub fn enclosure_workspace(&self) -> Vec<Interval> {
        let mut registers: Vec<Interval> = self.constants.iter().map(|&value| constant(value)).collect();
        registers.resize(self.n_registers(), Interval::ZERO);
        registers
    }
}

/// The last bits of a number that is a short binary fraction, such as 2 or 3/8, are zero; others are rounded.
const LAST_BITS: u64 = (1 << 20) - 1;

fn constant(value: f64) -> Interval {
    if value.to_bits() & LAST_BITS == 0 { Interval::point(value) } else { Interval::point(value).widened(0.0) }
}

#[inline(always)]
fn step<const DEFINED: bool>(instruction: &Instruction, registers: &[Interval], tables: &[Arc<Table>]) -> Interval {
    let Instruction { operation, a: first, b: second, c: third } = *instruction;
    let (a, b) = (registers[first as usize], registers[second as usize]);
    let a = if DEFINED { domain_of(a, operation, b) } else { a };
    // x x is a square, which a product of two numbers from the same interval is not
    let product = || if first == second { a.square() } else { a * b };
    match operation {
        Operation::Add => a + b,
        Operation::Sub => a - b,
        Operation::Mul => product(),
        Operation::Div => a.quotient(b),
        Operation::Neg => -a,
        Operation::MulAdd => product() + registers[third as usize],
        Operation::MulSub => registers[third as usize] - product(),
        Operation::Pow => a.power(b),
        Operation::Apply(f) => a.apply(f),
        Operation::Look(table) => a.look(&tables[table.index()]),
        Operation::Apply2(f) => a.apply2(f, b),
        Operation::Compare(comparison) => a.compare(comparison, b),
        Operation::Select => a.select(b, registers[third as usize]),
    }
}

/// The part of the interval at which an operation with a second operand b is defined; all of it if there is no such part.
#[inline]
fn domain_of(a: Interval, operation: Operation, b: Interval) -> Interval {
    let domain = match operation {
        Operation::Apply(Function::Sqrt | Function::Log) => Interval::new(0.0, f64::INFINITY),
        Operation::Apply(Function::Asin | Function::Acos) => Interval::new(-1.0, 1.0),
        Operation::Pow if !(b.width() == 0.0 && b.lo().fract() == 0.0) => Interval::new(0.0, f64::INFINITY),
        _ => return a,
    };
    a.intersection(domain).unwrap_or(a)
}
