//! Straight-line code from inputs to outputs, without dead code and without repeated subexpressions.

pub mod assemble;

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, TableId};
use crate::table::Table;
use assemble::Assembler;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// An output uses a symbol that is not an input.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UnknownSymbol(pub Expr);

impl fmt::Display for UnknownSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbol {} is not an input of the program", self.0.index())
    }
}

impl std::error::Error for UnknownSymbol {}

/// The operation of an [`Instruction`] on its operands a, b, c.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a b.
    Mul,
    /// a / b.
    Div,
    /// -a.
    Neg,
    /// a b + c, rounded once.
    MulAdd,
    /// c - a b, rounded once.
    MulSub,
    /// a to the power b.
    Pow,
    /// f(a).
    Apply(Function),
    /// The value of a table at a.
    Look(TableId),
    /// f(a, b).
    Apply2(Function2),
    /// 1 if the comparison of a and b holds, else 0.
    Compare(Comparison),
    /// b if a is not 0, else c.
    Select,
}

/// One step of a [`Program`]: an operation on registers, whose result is written into the next register.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The operation.
    pub operation: Operation,
    /// The first operand's register.
    pub a: u32,
    /// The second operand's register; equal to the first if the operation has one operand.
    pub b: u32,
    /// The third operand's register; equal to the second if the operation has fewer than three.
    pub c: u32,
}

impl Instruction {
    /// The registers that are read.
    pub fn operands(&self) -> impl Iterator<Item = u32> {
        let count = match self.operation {
            Operation::Neg | Operation::Apply(_) | Operation::Look(_) => 1,
            Operation::MulAdd | Operation::MulSub | Operation::Select => 3,
            _ => 2,
        };
        [self.a, self.b, self.c].into_iter().take(count)
    }
}

/// Straight-line code: constants, then inputs, then one register per instruction.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) constants: Vec<f64>,
    pub(crate) n_inputs: usize,
    pub(crate) instructions: Vec<Instruction>,
    /// the expression that each instruction belongs to
    pub(crate) origins: Vec<Expr>,
    pub(crate) outputs: Vec<u32>,
    pub(crate) tables: Vec<Arc<Table>>,
}

impl Program {
    /// Code for `outputs` as functions of the symbols `inputs`.
    ///
    /// Fails if an output contains a symbol that is not an input.
    pub fn new(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Result<Program, UnknownSymbol> {
        let mut assembler = Assembler::new(graph, inputs);
        let outputs = assembler.lower(outputs)?;
        Ok(assembler.finish(&outputs))
    }

    /// The number of inputs that [`run`](Program::run) takes.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The number of outputs that [`run`](Program::run) fills.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// `true` if there are no instructions: all outputs are inputs or constants.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The constants, which occupy the first registers.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The instructions; instruction k writes register `constants + inputs + k`.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The register of each output.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// The tables that [`Operation::Look`] refers to, by [`TableId::index`].
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The registers, to be passed to [`run`](Program::run).
    pub fn workspace(&self) -> Vec<f64> {
        let mut registers = self.constants.clone();
        registers.resize(self.n_registers(), 0.0);
        registers
    }

    pub(crate) fn n_registers(&self) -> usize {
        self.constants.len() + self.n_inputs + self.instructions.len()
    }

    /// Splits the program in two: the part that depends on the fixed inputs alone, and the rest. The first program
    /// takes the fixed inputs; the second takes the others, followed by the outputs of the first.
    ///
    /// Run one after the other, they give the same outputs. Inputs that change seldom, such as parameters, then cost no
    /// work while they are constant.
    pub fn split(&self, held: Range<usize>) -> (Program, Program) {
        let (n_constants, first) = (self.constants.len(), self.constants.len() + self.n_inputs);
        // `true` for a register that depends on constants and fixed inputs only
        let mut early: Vec<bool> = (0..first).map(|r| r < n_constants || held.contains(&(r - n_constants))).collect();
        for instruction in &self.instructions {
            early.push(instruction.operands().all(|r| early[r as usize]));
        }
        let mut wanted = vec![false; early.len()];
        let late = self.instructions.iter().zip(&early[first..]).filter(|(_, early)| !**early);
        let used = late.flat_map(|(instruction, _)| instruction.operands()).chain(self.outputs.iter().copied());
        used.for_each(|r| wanted[r as usize] = true);
        let handed: Vec<u32> =
            (n_constants as u32..early.len() as u32).filter(|&r| early[r as usize] && wanted[r as usize]).collect();
        let early_place = |r: usize| if r < n_constants { r } else { r.wrapping_sub(held.start) } as u32;
        let before = self.part(|r| early[r], held.len(), early_place, &handed);

        // the second program's registers: constants, its own inputs, outputs of the first program
        let n_late = self.n_inputs - held.len();
        let mut place: Vec<u32> = (0..early.len() as u32).collect();
        (n_constants + held.end..first).for_each(|r| place[r] -= held.len() as u32);
        handed.iter().enumerate().for_each(|(k, &r)| place[r as usize] = (n_constants + n_late + k) as u32);
        let after = self.part(|r| !early[r], n_late + handed.len(), |r| place[r], &self.outputs);
        (before, after)
    }

    /// The instructions whose registers are `kept`, renumbered; `place` maps the constants and inputs to new registers.
    fn part(
        &self,
        kept: impl Fn(usize) -> bool,
        n_inputs: usize,
        place: impl Fn(usize) -> u32,
        outputs: &[u32],
    ) -> Program {
        let (n_constants, first) = (self.constants.len(), self.constants.len() + self.n_inputs);
        let mut number: Vec<u32> = (0..self.n_registers()).map(place).collect();
        let (mut instructions, mut origins) = (Vec::new(), Vec::new());
        for (k, instruction) in self.instructions.iter().enumerate().filter(|(k, _)| kept(first + k)) {
            let [a, b, c] = [instruction.a, instruction.b, instruction.c].map(|r| number[r as usize]);
            number[first + k] = (n_constants + n_inputs + instructions.len()) as u32;
            instructions.push(Instruction { operation: instruction.operation, a, b, c });
            origins.push(self.origins[k]);
        }
        let outputs = outputs.iter().map(|&r| number[r as usize]).collect();
        let (constants, tables) = (self.constants.clone(), self.tables.clone());
        Program { constants, n_inputs, instructions, origins, outputs, tables }
    }
}
