//! The order in which a program is computed, and the storage of its values.

use crate::layout::Layout;
use std::collections::VecDeque;
use zwang_expr::{Function, Instruction, Operation, Program};

/// The number of instructions per function; the compile time of a function grows faster than its length.
const CHUNK: usize = 2_000;

/// The longest program that is compiled as one function, in instructions.
const WHOLE: usize = 20_000;

/// The number of items after its last use from which a value is read from the workspace, as an operand of the
/// instruction that uses it. The register allocator would spill it and reload it with an instruction of its own.
const FAR: u32 = 30;

/// The number of instructions searched for one whose operands are ready; further ahead, more values would be live than
/// there are registers.
const AHEAD: usize = 16;

/// The number of instructions issued per cycle, and the latency in cycles of a quotient and of any other operation;
/// typical values of current processors.
const ISSUED_AT_ONCE: usize = 2;
const LATENCY_OF_QUOTIENT: u32 = 13;
const LATENCY: u32 = 4;

/// One item of the schedule.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum ScheduleItem {
    /// Instruction k.
    Instruction(usize),
    /// Sine and cosine of all arguments of this group, in one call.
    Trig(usize),
}

/// Arguments whose sines and cosines are computed in one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The registers of the arguments.
    pub(crate) arguments: Vec<u32>,
    /// The registers of the results, each with the index of its argument and its function.
    pub(crate) results: Vec<(u32, usize, Function)>,
    /// The offset of the group in the workspace: arguments, then sines, then cosines.
    pub(crate) offset: usize,
}

impl Group {
    /// The index in the workspace of the sine or cosine of argument k.
    pub(crate) fn place(&self, k: usize, function: Function) -> usize {
        let n = self.arguments.len();
        self.offset + k + if function == Function::Sin { n } else { 2 * n }
    }
}

/// A program in an order suited to machine code.
pub(crate) struct Schedule {
    /// The items of each function.
    pub(crate) chunks: Vec<Vec<ScheduleItem>>,
    pub(crate) groups: Vec<Group>,
    /// The index of a register in the workspace: results of sine and cosine, and values that pass from one function to
    /// another; `u32::MAX` for all others.
    pub(crate) place: Vec<u32>,
    /// `true` for a value with distant uses; it is stored in the workspace even if its own function uses it.
    pub(crate) is_kept: Vec<bool>,
    /// The number of values in the workspace.
    pub(crate) n_work: usize,
    pub(crate) layout: Layout,
}

impl Schedule {
    pub(crate) fn new(program: &Program, layout: Layout) -> Schedule {
        let first = program.constants().len() + program.n_inputs();
        let mut schedule = Schedule {
            chunks: Vec::new(),
            groups: Vec::new(),
            place: vec![u32::MAX; first + program.len()],
            is_kept: vec![false; first + program.len()],
            n_work: layout.n_apart,
            layout,
        };
        let levels = schedule.group(program, first);
        let items = schedule.order(program, first, &levels);
        let size = if items.len() <= WHOLE { WHOLE } else { CHUNK };
        schedule.chunks = items.chunks(size).map(<[ScheduleItem]>::to_vec).collect();
        if schedule.chunks.is_empty() {
            // outputs may be inputs or constants
            schedule.chunks.push(Vec::new());
        }
        schedule.place_crossing(program, first);
        schedule.place_far(program, first);
        schedule
    }

    /// Groups the arguments of sines and cosines by their nesting depth in such functions; returns the depth of each
    /// register.
    fn group(&mut self, program: &Program, first: usize) -> Vec<u32> {
        let mut level = vec![0u32; self.place.len()];
        let mut number = vec![u32::MAX; self.place.len()];
        for (k, instruction) in program.instructions().iter().enumerate() {
            let below = instruction.operands().map(|r| level[r as usize]).max().unwrap_or(0);
            level[first + k] = below;
            let Some(function) = sine_or_cosine(instruction.operation) else { continue };
            level[first + k] = below + 1;
            if self.groups.len() <= below as usize {
                self.groups.resize_with(below as usize + 1, Group::default);
            }
            let Group { arguments, results, .. } = &mut self.groups[below as usize];
            let at = &mut number[instruction.a as usize];
            if *at == u32::MAX {
                *at = arguments.len() as u32;
                arguments.push(instruction.a);
            }
            results.push(((first + k) as u32, *at as usize, function));
        }
        for group in &mut self.groups {
            group.offset = self.n_work;
            self.n_work += 3 * group.arguments.len();
            for &(register, k, function) in &group.results {
                self.place[register as usize] = group.place(k, function) as u32;
            }
        }
        level
    }

    /// Orders the instructions: those that the arguments of a group need come before it, all others after the last
    /// group. Few values are then live when functions are called.
    fn order(&self, program: &Program, first: usize, levels: &[u32]) -> Vec<ScheduleItem> {
        let instructions = program.instructions();
        let mut is_early = vec![false; instructions.len()];
        for group in &self.groups {
            group.arguments.iter().filter(|&&r| r as usize >= first).for_each(|&r| is_early[r as usize - first] = true);
        }
        for k in (0..instructions.len()).rev() {
            if is_early[k] {
                let below = instructions[k].operands().filter(|&r| r as usize >= first);
                below.for_each(|r| is_early[r as usize - first] = true);
            }
        }
        let mut early: Vec<Vec<usize>> = vec![Vec::new(); self.groups.len()];
        let mut late = Vec::with_capacity(instructions.len());
        for k in (0..instructions.len()).filter(|&k| sine_or_cosine(instructions[k].operation).is_none()) {
            let part = if is_early[k] { &mut early[levels[first + k] as usize] } else { &mut late };
            part.push(k);
        }
        let mut items = Vec::with_capacity(instructions.len() + self.groups.len());
        for (group, part) in early.into_iter().enumerate() {
            items.extend(overlapped(program, first, part.into()));
            items.push(ScheduleItem::Trig(group));
        }
        items.extend(overlapped(program, first, on_demand(program, first, &late)));
        items
    }

    /// Assigns a workspace index to every value that one function computes and another uses.
    fn place_crossing(&mut self, program: &Program, first: usize) {
        if self.chunks.len() < 2 {
            return;
        }
        let mut chunk_of = vec![usize::MAX; self.place.len()];
        for (c, items) in self.chunks.iter().enumerate() {
            for item in items {
                if let ScheduleItem::Instruction(k) = item {
                    chunk_of[first + k] = c;
                }
            }
        }
        let chunks = std::mem::take(&mut self.chunks);
        for (c, items) in chunks.iter().enumerate() {
            for &item in items {
                for r in self.used(program, item) {
                    if chunk_of[r] != usize::MAX && chunk_of[r] != c {
                        self.give_place(r);
                    }
                }
            }
        }
        self.chunks = chunks;
    }

    /// Assigns a workspace index to every value that is used long after its previous use.
    fn place_far(&mut self, program: &Program, first: usize) {
        let mut touches = Touches::new(self.place.len());
        let chunks = std::mem::take(&mut self.chunks);
        for &item in chunks.iter().flatten() {
            touches.go_on();
            for r in self.used(program, item) {
                if touches.touch(r) && r >= first {
                    self.give_place(r);
                    self.is_kept[r] = true;
                }
            }
            match item {
                ScheduleItem::Instruction(k) => _ = touches.touch(first + k),
                ScheduleItem::Trig(group) => {
                    self.groups[group].results.iter().for_each(|&(r, ..)| _ = touches.touch(r as usize))
                }
            }
        }
        self.chunks = chunks;
    }

    /// The registers that an item reads.
    fn used(&self, program: &Program, item: ScheduleItem) -> Vec<usize> {
        let used: Vec<u32> = match item {
            ScheduleItem::Instruction(k) => program.instructions()[k].operands().collect(),
            ScheduleItem::Trig(group) => self.groups[group].arguments.clone(),
        };
        used.into_iter().map(|r| r as usize).collect()
    }

    fn give_place(&mut self, register: usize) {
        if self.place[register] == u32::MAX {
            self.place[register] = self.n_work as u32;
            self.n_work += 1;
        }
    }
}

/// The time of the last use of each register, in items.
pub(crate) struct Touches {
    last: Vec<u32>,
    now: u32,
}

impl Touches {
    pub(crate) fn new(n_registers: usize) -> Touches {
        Touches { last: vec![0; n_registers], now: 0 }
    }

    /// Advances to the next item.
    pub(crate) fn go_on(&mut self) {
        self.now += 1;
    }

    /// Records a use of the register; `true` if the previous one was more than `FAR` items ago.
    pub(crate) fn touch(&mut self, register: usize) -> bool {
        let last = std::mem::replace(&mut self.last[register], self.now);
        self.now - last > FAR
    }
}

/// Reorders instructions: if an operand is not ready, the next instruction with ready operands is taken. A processor
/// looks ahead as well, but its queue fills with instructions that wait.
fn overlapped(program: &Program, first: usize, mut waiting: VecDeque<usize>) -> Vec<ScheduleItem> {
    let instructions = program.instructions();
    let mut ready = vec![0u32; first + program.len()];
    waiting.iter().for_each(|&k| ready[first + k] = u32::MAX);
    let mut items = Vec::with_capacity(waiting.len());
    let (mut now, mut n_begun) = (0, 0);
    while !waiting.is_empty() {
        let is_ready = |k: &usize| instructions[*k].operands().all(|r| ready[r as usize] <= now);
        let found = waiting.iter().take(AHEAD).position(is_ready);
        if let Some(k) = found.and_then(|at| waiting.remove(at)) {
            let is_quotient = instructions[k].operation == Operation::Div;
            ready[first + k] = now + if is_quotient { LATENCY_OF_QUOTIENT } else { LATENCY };
            items.push(ScheduleItem::Instruction(k));
            n_begun += 1;
        }
        if found.is_none() || n_begun == ISSUED_AT_ONCE {
            (now, n_begun) = (now + 1, 0);
        }
    }
    items
}

/// The instructions `late` in order of demand: sums are then completed one after the other, each in one register.
fn on_demand(program: &Program, first: usize, late: &[usize]) -> VecDeque<usize> {
    let instructions = program.instructions();
    let mut is_due = vec![false; instructions.len()];
    late.iter().for_each(|&k| is_due[k] = true);
    let mut items = VecDeque::with_capacity(late.len());
    let mut stack = Vec::new();
    let number = |r: u32| (r as usize).checked_sub(first);
    for k in program.outputs().iter().filter_map(|&r| number(r)) {
        stack.push((k, false));
        while let Some((k, is_ready)) = stack.pop() {
            if !is_due[k] {
                continue;
            }
            if is_ready {
                is_due[k] = false;
                items.push_back(k);
                continue;
            }
            stack.push((k, true));
            // the last one pushed comes first
            let Instruction { a, b, c, .. } = instructions[k];
            stack.extend([c, b, a].into_iter().filter_map(number).filter(|&k| is_due[k]).map(|k| (k, false)));
        }
    }
    items
}

/// The function if the operation is sine or cosine, otherwise `None`.
pub(crate) fn sine_or_cosine(operation: Operation) -> Option<Function> {
    match operation {
        Operation::Apply(function @ (Function::Sin | Function::Cos)) => Some(function),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwang_expr::{Expr, Graph};

    #[test]
    fn programs_are_cut_beyond_the_length_of_one_function() {
        for (n, n_chunks) in [(WHOLE, 1), (WHOLE + 1, WHOLE / CHUNK + 1)] {
            let mut g = Graph::new();
            let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
            let mut e = x;
            for k in 0..n {
                e = if k % 2 == 0 { g.mul(e, y) } else { g.add(e, Expr::ONE) };
            }
            let program = Program::new(&g, &[x, y], &[e]).expect("all symbols are inputs");
            assert_eq!(program.len(), n);
            assert_eq!(Schedule::new(&program, Layout::default()).chunks.len(), n_chunks);
        }
    }
}
