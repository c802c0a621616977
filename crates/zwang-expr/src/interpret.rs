//! The interpreter of programs; its result defines the value of a program.

use crate::node::Expr;
use crate::program::{Instruction, Operation, Program};
use crate::real;
use crate::table::Table;
use std::sync::Arc;

/// The first non-finite value of a program.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct NonFinite {
    /// The expression whose value is not finite although the values of its operands are.
    pub expr: Expr,
    /// The value: an infinity or NaN.
    pub value: f64,
}

impl Program {
    /// Fills `outputs` from `inputs`; allocates nothing.
    ///
    /// The lengths must be those of the program, and the workspace must come from [`workspace`](Program::workspace).
    pub fn run(&self, inputs: &[f64], workspace: &mut [f64], outputs: &mut [f64]) {
        assert_eq!(outputs.len(), self.outputs.len(), "number of outputs");
        let first = self.load(inputs, workspace);
        for (k, instruction) in self.instructions.iter().enumerate() {
            workspace[first + k] = step(instruction, workspace, &self.tables);
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            *output = workspace[register as usize];
        }
    }

    /// The first instruction whose result is not finite although its operands are, or `None`.
    pub fn first_non_finite(&self, inputs: &[f64], workspace: &mut [f64]) -> Option<NonFinite> {
        let first = self.load(inputs, workspace);
        for (k, instruction) in self.instructions.iter().enumerate() {
            let value = step(instruction, workspace, &self.tables);
            workspace[first + k] = value;
            if !value.is_finite() && instruction.operands().all(|r| workspace[r as usize].is_finite()) {
                return Some(NonFinite { expr: self.origins[k], value });
            }
        }
        None
    }

    /// Writes constants and inputs into the registers and returns the first register of the instructions.
    fn load(&self, inputs: &[f64], workspace: &mut [f64]) -> usize {
        assert_eq!(inputs.len(), self.n_inputs, "number of inputs");
        assert_eq!(workspace.len(), self.n_registers(), "size of the workspace");
        let (n_constants, first) = (self.constants.len(), self.constants.len() + self.n_inputs);
        workspace[..n_constants].copy_from_slice(&self.constants);
        workspace[n_constants..first].copy_from_slice(inputs);
        first
    }
}

#[inline(always)]
fn step(instruction: &Instruction, registers: &[f64], tables: &[Arc<Table>]) -> f64 {
    let Instruction { operation, a, b, c } = *instruction;
    let (a, b) = (registers[a as usize], registers[b as usize]);
    match operation {
        Operation::Add => a + b,
        Operation::Sub => a - b,
        Operation::Mul => a * b,
        Operation::Div => a / b,
        Operation::Neg => -a,
        Operation::MulAdd => a.mul_add(b, registers[c as usize]),
        Operation::MulSub => (-a).mul_add(b, registers[c as usize]),
        Operation::Pow => real::pow(a, b),
        Operation::Apply(f) => real::apply(f, a),
        Operation::Look(table) => tables[table.index()].value(a),
        Operation::Apply2(f) => real::apply2(f, a, b),
        Operation::Compare(comparison) => f64::from(comparison.holds(&a, &b)),
        Operation::Select if a != 0.0 => b,
        Operation::Select => registers[c as usize],
    }
}
