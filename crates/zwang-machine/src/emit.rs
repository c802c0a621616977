//! Instructions of a program as instructions of Cranelift.

use crate::functions;
use crate::layout::OptLevel;
use crate::pair::Pair;
use crate::schedule::{Group, Schedule, ScheduleItem, Touches, sine_or_cosine};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, SigRef, Signature, Value, condcodes::FloatCC, types::F64, types::I64,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use zwang_expr::{Comparison, Function, Function2, Instruction, Operation, Program, trig};

/// The largest number of arguments whose sines and cosines are computed inline; for more, the call is faster.
const INLINED: usize = 4;

/// Emits one function; its parameters are pointers to inputs, constants, workspace, outputs and state.
pub(crate) struct Emitter<'e, 'f> {
    builder: &'e mut FunctionBuilder<'f>,
    program: &'e Program,
    schedule: &'e Schedule,
    /// The outputs that each register provides.
    outputs: &'e Outputs,
    pointers: [Value; 5],
    /// The value of each register computed in this function, otherwise `None`.
    values: &'e mut [Option<Value>],
    convention: CallConv,
    /// `true` if sines and cosines are computed inline.
    inlines: bool,
    signatures: [Option<SigRef>; 4],
    touches: Touches,
}

/// The outputs that each register provides.
pub(crate) struct Outputs {
    start: Vec<u32>,
    index: Vec<u32>,
}

impl Outputs {
    pub(crate) fn new(program: &Program) -> Outputs {
        let n_registers = program.constants().len() + program.n_inputs() + program.len();
        let mut start = vec![0u32; n_registers + 1];
        program.outputs().iter().for_each(|&r| start[r as usize + 1] += 1);
        (0..n_registers).for_each(|r| start[r + 1] += start[r]);
        let mut next = start.clone();
        let mut index = vec![0; program.n_outputs()];
        for (k, &r) in program.outputs().iter().enumerate() {
            index[next[r as usize] as usize] = k as u32;
            next[r as usize] += 1;
        }
        Outputs { start, index }
    }

    fn of(&self, register: usize) -> &[u32] {
        &self.index[self.start[register] as usize..self.start[register + 1] as usize]
    }
}

/// Memory that is valid and aligned.
const SOUND: MemFlagsData = MemFlagsData::trusted();

impl<'e, 'f> Emitter<'e, 'f> {
    pub(crate) fn new(
        builder: &'e mut FunctionBuilder<'f>,
        program: &'e Program,
        schedule: &'e Schedule,
        outputs: &'e Outputs,
        values: &'e mut [Option<Value>],
        convention: CallConv,
        effort: OptLevel,
    ) -> Emitter<'e, 'f> {
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let params = builder.block_params(block);
        let pointers = [params[0], params[1], params[2], params[3], params[4]];
        // values pass from one function to another through the workspace
        let inlines = effort == OptLevel::Thorough && schedule.chunks.len() == 1;
        Emitter {
            builder,
            program,
            schedule,
            outputs,
            pointers,
            values,
            convention,
            inlines,
            signatures: [None; 4],
            touches: Touches::new(schedule.place.len()),
        }
    }

    /// Emits all items of chunk c.
    pub(crate) fn chunk(&mut self, c: usize) {
        for item in &self.schedule.chunks[c] {
            self.touches.go_on();
            match *item {
                ScheduleItem::Instruction(k) => self.instruction(k),
                ScheduleItem::Trig(group) => self.trig(group),
            }
        }
        if c + 1 == self.schedule.chunks.len() {
            self.copy_outputs();
        }
        self.builder.ins().return_(&[]);
        // values are valid in their own function only
        for item in &self.schedule.chunks[c] {
            if let ScheduleItem::Instruction(k) = item {
                self.values[self.first() + k] = None;
            }
        }
    }

    /// Writes the outputs that no instruction of a chunk computes: inputs, constants, sines and cosines.
    fn copy_outputs(&mut self) {
        let first = self.first();
        for (k, &r) in self.program.outputs().iter().enumerate() {
            let is_computed = r as usize >= first
                && sine_or_cosine(self.program.instructions()[r as usize - first].operation).is_none();
            if !is_computed {
                let value = self.value(r);
                self.put_out(value, k);
            }
        }
    }

    fn first(&self) -> usize {
        self.program.constants().len() + self.program.n_inputs()
    }

    /// The value of a register.
    fn value(&mut self, register: u32) -> Value {
        let r = register as usize;
        let is_far = self.touches.touch(r) && self.schedule.is_kept[r];
        if let Some(value) = self.values[r].filter(|_| !is_far) {
            return value;
        }
        let [inputs, constants, work, _, state] = self.pointers;
        let n_constants = self.program.constants().len();
        // loaded next to its use, so that it becomes an operand of the instruction
        if r < n_constants {
            self.load(SOUND.with_readonly(), constants, r)
        } else if r < self.first() {
            let Range { start, end } = self.schedule.layout.state;
            match r - n_constants {
                k if k >= start && k < end => self.load(SOUND.with_readonly(), state, k - start),
                k => self.load(SOUND.with_readonly(), inputs, k),
            }
        } else {
            self.load(SOUND, work, self.schedule.place[r] as usize)
        }
    }

    fn load(&mut self, flags: MemFlagsData, pointer: Value, index: usize) -> Value {
        self.builder.ins().load(F64, flags, pointer, 8 * index as i32)
    }

    fn store(&mut self, value: Value, pointer: Value, index: usize) {
        self.builder.ins().store(SOUND, value, pointer, 8 * index as i32);
    }

    /// Stores `value` as output k.
    fn put_out(&mut self, value: Value, k: usize) {
        match k.checked_sub(self.schedule.layout.n_apart) {
            Some(k) => self.store(value, self.pointers[3], k),
            None => self.store(value, self.pointers[2], k),
        }
    }

    fn instruction(&mut self, k: usize) {
        let instruction = self.program.instructions()[k];
        let register = self.first() + k;
        let value = self.operation(instruction);
        self.touches.touch(register);
        self.values[register] = Some(value);
        for &output in self.outputs.of(register) {
            self.put_out(value, output as usize);
        }
        if self.schedule.place[register] != u32::MAX {
            self.store(value, self.pointers[2], self.schedule.place[register] as usize);
        }
    }

    fn operation(&mut self, Instruction { operation, a, b, c }: Instruction) -> Value {
        let x = self.value(a);
        match operation {
            Operation::Neg => return self.builder.ins().fneg(x),
            Operation::Apply(f) => return self.apply(f, x),
            Operation::Look(table) => return self.look(table.index(), x),
            _ => {}
        }
        let y = self.value(b);
        match operation {
            Operation::Add => self.builder.ins().fadd(x, y),
            Operation::Sub => self.builder.ins().fsub(x, y),
            Operation::Mul => self.builder.ins().fmul(x, y),
            Operation::Div => self.builder.ins().fdiv(x, y),
            Operation::MulAdd | Operation::MulSub => {
                let x = if operation == Operation::MulSub { self.builder.ins().fneg(x) } else { x };
                let z = self.value(c);
                self.builder.ins().fma(x, y, z)
            }
            Operation::Pow => self.call2(functions::power_address(), x, y),
            Operation::Apply2(Function2::Min) => self.extreme(FloatCC::LessThanOrEqual, x, y),
            Operation::Apply2(Function2::Max) => self.extreme(FloatCC::GreaterThanOrEqual, x, y),
            Operation::Apply2(f) => self.call2(functions::address2(f), x, y),
            Operation::Compare(comparison) => {
                let holds = self.builder.ins().fcmp(condition(comparison), x, y);
                let (one, zero) = (self.number(1.0), self.number(0.0));
                self.builder.ins().select(holds, one, zero)
            }
            Operation::Select => {
                let z = self.value(c);
                let zero = self.number(0.0);
                let holds = self.builder.ins().fcmp(FloatCC::NotEqual, x, zero);
                self.builder.ins().select(holds, y, z)
            }
            Operation::Neg | Operation::Apply(_) | Operation::Look(_) => unreachable!("of one operand"),
        }
    }

    fn number(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    /// x if it is NaN or if the comparison holds, else y.
    fn extreme(&mut self, condition: FloatCC, x: Value, y: Value) -> Value {
        let holds = self.builder.ins().fcmp(condition, x, y);
        let chosen = self.builder.ins().select(holds, x, y);
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
        self.builder.ins().select(is_nan, x, chosen)
    }

    fn apply(&mut self, f: Function, x: Value) -> Value {
        match f {
            Function::Sqrt => self.builder.ins().sqrt(x),
            Function::Abs => self.builder.ins().fabs(x),
            _ => {
                let signature = self.signature(0, &[F64], Some(F64));
                self.call(signature, functions::address(f), &[x])
            }
        }
    }

    /// The value of a table at x; the table's address is valid as long as the code exists.
    fn look(&mut self, table: usize, x: Value) -> Value {
        let signature = self.signature(3, &[I64, F64], Some(F64));
        let address = Arc::as_ptr(&self.program.tables()[table]) as usize;
        let table = self.builder.ins().iconst(I64, address as i64);
        self.call(signature, functions::table_address(), &[table, x])
    }

    fn call2(&mut self, address: usize, x: Value, y: Value) -> Value {
        let signature = self.signature(1, &[F64, F64], Some(F64));
        self.call(signature, address, &[x, y])
    }

    fn call(&mut self, signature: SigRef, address: usize, arguments: &[Value]) -> Value {
        let address = self.builder.ins().iconst(I64, address as i64);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call)[0]
    }

    /// Emits the sines and cosines of a group.
    fn trig(&mut self, group: usize) {
        let group = &self.schedule.groups[group];
        let arguments: Vec<Value> = group.arguments.iter().map(|&r| self.value(r)).collect();
        if self.inlines && arguments.len() <= INLINED {
            self.inline_trig(group, &arguments);
        } else {
            self.call_trig(group, &arguments);
        }
    }

    /// Emits one call for all arguments.
    fn call_trig(&mut self, group: &Group, arguments: &[Value]) {
        let work = self.pointers[2];
        for (k, &value) in arguments.iter().enumerate() {
            self.store(value, work, group.offset + k);
        }
        let signature = self.signature(2, &[I64, I64], None);
        let place = self.builder.ins().iadd_imm_s(work, 8 * group.offset as i64);
        let count = self.builder.ins().iconst(I64, arguments.len() as i64);
        let address = self.builder.ins().iconst(I64, functions::trig_address() as i64);
        self.builder.ins().call_indirect(signature, address, &[place, count]);
    }

    /// Emits inline code for two arguments at a time, and the call for the case that an argument is beyond the limit.
    fn inline_trig(&mut self, group: &Group, arguments: &[Value]) {
        let (far, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(far);
        let results: Vec<Value> = group.results.iter().map(|_| self.builder.append_block_param(done, F64)).collect();

        let near = self.are_near(arguments);
        let (sines, cosines) = self.near_trig(arguments);
        let of = |&(_, k, function): &(u32, usize, Function)| {
            BlockArg::Value(if function == Function::Sin { sines[k] } else { cosines[k] })
        };
        let found: Vec<BlockArg> = group.results.iter().map(of).collect();
        self.builder.ins().brif(near, done, &found, far, &[]);

        self.builder.switch_to_block(far);
        self.builder.seal_block(far);
        self.call_trig(group, arguments);
        let of = |&(_, k, function): &(u32, usize, Function)| {
            BlockArg::Value(self.load(SOUND, self.pointers[2], group.place(k, function)))
        };
        let found: Vec<BlockArg> = group.results.iter().map(of).collect();
        self.builder.ins().jump(done, &found);

        self.builder.switch_to_block(done);
        self.builder.seal_block(done);
        for (&(register, ..), value) in group.results.iter().zip(results) {
            let r = register as usize;
            self.touches.touch(r);
            self.values[r] = Some(value);
            if self.schedule.is_kept[r] {
                self.store(value, self.pointers[2], self.schedule.place[r] as usize);
            }
        }
    }

    /// `true` if all arguments are within the limit; NaN is not.
    fn are_near(&mut self, arguments: &[Value]) -> Value {
        let limit = self.number(trig::LIMIT);
        let mut all = None;
        for &x in arguments {
            let size = self.builder.ins().fabs(x);
            let near = self.builder.ins().fcmp(FloatCC::LessThanOrEqual, size, limit);
            all = Some(all.map_or(near, |others| self.builder.ins().band(others, near)));
        }
        all.expect("a group has arguments")
    }

    /// Emits the sines and cosines of arguments within the limit.
    fn near_trig(&mut self, arguments: &[Value]) -> (Vec<Value>, Vec<Value>) {
        let cell = RefCell::new(&mut *self.builder);
        let (mut sines, mut cosines) = (Vec::new(), Vec::new());
        for two in arguments.chunks(2) {
            let (sin, cos) = trig::near(Pair::new(&cell, two[0], two[two.len() - 1]));
            sines.extend(sin.apart());
            cosines.extend(cos.apart());
        }
        (sines, cosines)
    }

    fn signature(
        &mut self,
        which: usize,
        params: &[cranelift_codegen::ir::Type],
        result: Option<cranelift_codegen::ir::Type>,
    ) -> SigRef {
        if let Some(signature) = self.signatures[which] {
            return signature;
        }
        let mut signature = Signature::new(self.convention);
        signature.params.extend(params.iter().map(|&t| AbiParam::new(t)));
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        self.signatures[which] = Some(signature);
        signature
    }
}

fn condition(comparison: Comparison) -> FloatCC {
    match comparison {
        Comparison::Less => FloatCC::LessThan,
        Comparison::LessOrEqual => FloatCC::LessThanOrEqual,
        Comparison::Greater => FloatCC::GreaterThan,
        Comparison::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
    }
}
