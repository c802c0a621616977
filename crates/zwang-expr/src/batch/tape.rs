//! A program translated into steps on few slots.

use crate::node::{Comparison, Function, Function2, TableId};
use crate::program::{Instruction, Operation, Program};
use crate::table::Table;
use std::sync::Arc;

/// The steps of a program over slots.
#[derive(Clone, Debug)]
pub struct Tape {
    pub steps: Vec<TapeStep>,
    pub n_slots: usize,
    pub n_inputs: usize,
    pub n_outputs: usize,
    pub tables: Vec<Arc<Table>>,
}

/// One step; the fields are slots unless the action states otherwise.
#[derive(Copy, Clone, Debug)]
pub struct TapeStep {
    pub action: Action,
    pub to: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

/// The action of a [`TapeStep`]; v is a constant.
#[derive(Copy, Clone, Debug)]
pub enum Action {
    /// input number a
    Input,
    /// v
    Constant(f64),
    /// a becomes output number `to`
    Output,
    /// sin a, and cos a into slot b
    SinCos,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    MulAdd,
    MulSub,
    /// a + v
    AddConstant(f64),
    /// a - v
    SubConstant(f64),
    /// v - a
    ConstantSub(f64),
    /// a / v
    DivConstant(f64),
    /// v / a
    ConstantDiv(f64),
    /// v a
    Scale(f64),
    Pow,
    Apply(Function),
    Look(TableId),
    Apply2(Function2),
    Compare(Comparison),
    Select,
}

/// The absence of a slot or register.
const NO_SLOT: u32 = u32::MAX;

impl Tape {
    pub fn new(program: &Program) -> Tape {
        let mut translation = Translation::new(program);
        (0..translation.first).for_each(|r| translation.give_out(r));
        (0..program.instructions.len()).for_each(|k| translation.translate(k));
        let Translation { steps, n_slots, .. } = translation;
        let (n_inputs, n_outputs) = (program.n_inputs, program.outputs.len());
        Tape { steps, n_slots: n_slots as usize, n_inputs, n_outputs, tables: program.tables.clone() }
    }
}

/// The translation of a program into steps; it records the slot of each register.
struct Translation<'a> {
    program: &'a Program,
    /// first register of the instructions
    first: u32,
    /// the outputs with their registers, sorted by register
    outputs: Vec<(u32, u32)>,
    /// for each register, the registers of its sine and cosine
    turns: Vec<[u32; 2]>,
    steps: Vec<TapeStep>,
    /// slot of each register that has been computed
    slots: Vec<u32>,
    /// the number of reads of each register that remain
    uses: Vec<u32>,
    /// slots whose registers are no longer read, the most recently used one on top
    free: Vec<u32>,
    n_slots: u32,
}

impl<'a> Translation<'a> {
    fn new(program: &'a Program) -> Translation<'a> {
        let first = (program.constants.len() + program.n_inputs) as u32;
        let mut uses = vec![0; program.n_registers()];
        let mut turns = vec![[NO_SLOT; 2]; program.n_registers()];
        for (r, instruction) in (first..).zip(&program.instructions) {
            instruction.operands().for_each(|x| uses[x as usize] += 1);
            match instruction.operation {
                Operation::Apply(Function::Sin) => turns[instruction.a as usize][0] = r,
                Operation::Apply(Function::Cos) => turns[instruction.a as usize][1] = r,
                _ => {}
            }
        }
        program.outputs.iter().for_each(|&x| uses[x as usize] += 1);
        let mut outputs: Vec<(u32, u32)> = program.outputs.iter().copied().zip(0..).collect();
        outputs.sort_unstable();
        Translation {
            program,
            first,
            outputs,
            turns,
            steps: Vec::new(),
            slots: vec![NO_SLOT; program.n_registers()],
            uses,
            free: Vec::new(),
            n_slots: 0,
        }
    }

    fn constant(&self, r: u32) -> Option<f64> {
        self.program.constants.get(r as usize).copied()
    }

    fn translate(&mut self, k: usize) {
        let r = self.first + k as u32;
        let Instruction { operation, a, b, c } = self.program.instructions[k];
        if self.slots[r as usize] != NO_SLOT {
            return;
        }
        match operation {
            Operation::Apply(f @ (Function::Sin | Function::Cos)) => self.turn(r, f, a),
            Operation::Add => self.binary(r, [a, b], Action::Add, Action::AddConstant, Action::AddConstant),
            Operation::Sub => self.binary(r, [a, b], Action::Sub, Action::ConstantSub, Action::SubConstant),
            Operation::Mul => self.binary(r, [a, b], Action::Mul, Action::Scale, Action::Scale),
            Operation::Div => self.binary(r, [a, b], Action::Div, Action::ConstantDiv, Action::DivConstant),
            Operation::Neg => self.emit(r, Action::Neg, &[a]),
            Operation::MulAdd => self.emit(r, Action::MulAdd, &[a, b, c]),
            Operation::MulSub => self.emit(r, Action::MulSub, &[a, b, c]),
            Operation::Pow => self.emit(r, Action::Pow, &[a, b]),
            Operation::Apply(f) => self.emit(r, Action::Apply(f), &[a]),
            Operation::Look(table) => self.emit(r, Action::Look(table), &[a]),
            Operation::Apply2(f) => self.emit(r, Action::Apply2(f), &[a, b]),
            Operation::Compare(comparison) => self.emit(r, Action::Compare(comparison), &[a, b]),
            Operation::Select => self.emit(r, Action::Select, &[a, b, c]),
        }
    }

    /// An operation on two slots, or on one slot and a constant on the left or on the right.
    fn binary(&mut self, r: u32, [a, b]: [u32; 2], plain: Action, left: fn(f64) -> Action, right: fn(f64) -> Action) {
        match (self.constant(a), self.constant(b)) {
            (Some(v), _) => self.emit_with(r, left(v), a, &[b]),
            (_, Some(v)) => self.emit_with(r, right(v), b, &[a]),
            (None, None) => self.emit(r, plain, &[a, b]),
        }
    }

    /// A sine or cosine, together with its partner if that has not been computed yet.
    fn turn(&mut self, r: u32, f: Function, x: u32) {
        let mut pair =
            self.turns[x as usize].map(|p| if p == NO_SLOT || self.slots[p as usize] != NO_SLOT { NO_SLOT } else { p });
        pair[(f == Function::Cos) as usize] = r;
        let a = self.read(x);
        pair.into_iter().filter(|&p| p != NO_SLOT).for_each(|_| self.release(x));
        let [sin, cos] = pair.map(|_| self.take());
        self.steps.push(TapeStep { action: Action::SinCos, to: sin, a, b: cos, c: 0 });
        for (p, slot) in pair.into_iter().zip([sin, cos]) {
            if p == NO_SLOT {
                self.free.push(slot);
            } else {
                self.define(p, slot);
            }
        }
    }

    /// Emits the step that computes register r from others; it may write into a slot that it reads.
    fn emit(&mut self, r: u32, action: Action, from: &[u32]) {
        let mut slots = [0; 3];
        for (slot, &x) in slots.iter_mut().zip(from) {
            *slot = self.read(x);
        }
        from.iter().for_each(|&x| self.release(x));
        let (to, [a, b, c]) = (self.take(), slots);
        self.steps.push(TapeStep { action, to, a, b, c });
        self.define(r, to);
    }

    /// Emits a step whose action contains the value of register `constant`.
    fn emit_with(&mut self, r: u32, action: Action, constant: u32, from: &[u32]) {
        self.release(constant);
        self.emit(r, action, from);
    }

    /// The slot of a register; constants and inputs are loaded at their first read.
    fn read(&mut self, r: u32) -> u32 {
        if self.slots[r as usize] == NO_SLOT {
            let to = self.take();
            let n_constants = self.program.constants.len() as u32;
            self.steps.push(match self.constant(r) {
                Some(v) => TapeStep { action: Action::Constant(v), to, a: 0, b: 0, c: 0 },
                None => TapeStep { action: Action::Input, to, a: r - n_constants, b: 0, c: 0 },
            });
            self.slots[r as usize] = to;
        }
        self.slots[r as usize]
    }

    /// Counts one read of a register and frees its slot after the last.
    fn release(&mut self, r: u32) {
        self.uses[r as usize] -= 1;
        if self.uses[r as usize] == 0 && self.slots[r as usize] != NO_SLOT {
            self.free.push(self.slots[r as usize]);
        }
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.n_slots += 1;
            self.n_slots - 1
        })
    }

    fn define(&mut self, r: u32, slot: u32) {
        self.slots[r as usize] = slot;
        self.give_out(r);
    }

    /// Writes the outputs that register r provides immediately, so that its slot is freed early.
    fn give_out(&mut self, r: u32) {
        let from = self.outputs.partition_point(|&(x, _)| x < r);
        for k in from..self.outputs.partition_point(|&(x, _)| x <= r) {
            let (a, (_, to)) = (self.read(r), self.outputs[k]);
            self.steps.push(TapeStep { action: Action::Output, to, a, b: 0, c: 0 });
            self.release(r);
        }
    }
}
