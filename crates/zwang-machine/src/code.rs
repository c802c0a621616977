//! Machine code, which is compiled once and run many times.

use crate::emit::{Emitter, Outputs};
use crate::layout::{Layout, OptLevel};
use crate::schedule::Schedule;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, types::I64};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module;
use std::sync::{Arc, Mutex};
use zwang_expr::{Program, Table};

/// A program as machine code.
pub struct MachineCode {
    /// Always `Some`, except while it is freed. The lock is needed because the code generator's tables cannot be shared
    /// between threads, as the code can.
    module: Mutex<Option<Box<JITModule>>>,
    functions: Vec<Function>,
    constants: Vec<f64>,
    /// The tables whose addresses the code contains.
    _tables: Vec<Arc<Table>>,
    n_inputs: usize,
    n_outputs: usize,
    n_work: usize,
    n_state: usize,
}

/// Inputs, constants, workspace, outputs, state.
type Function = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64, *const f64);

impl MachineCode {
    /// Compiles a program; `None` if the processor is not supported or the code generator fails.
    pub fn new(program: &Program, effort: OptLevel) -> Option<MachineCode> {
        MachineCode::with_layout(program, Layout::default(), effort)
    }

    /// Compiles a program with a layout, to be run by [`run_at`](MachineCode::run_at); `None` on failure.
    pub fn with_layout(program: &Program, layout: Layout, effort: OptLevel) -> Option<MachineCode> {
        let n_outputs = program.n_outputs().checked_sub(layout.n_apart)?;
        let mut module = JITModule::new(builder(effort)?);
        let schedule = Schedule::new(program, layout);
        let outputs = Outputs::new(program);
        let convention = module.isa().default_call_conv();
        let mut signature = Signature::new(convention);
        signature.params = vec![AbiParam::new(I64); 5];
        let mut context = Context::new();
        let mut builder_context = FunctionBuilderContext::new();
        let mut values = vec![None; schedule.place.len()];
        let mut ids = Vec::with_capacity(schedule.chunks.len());
        for c in 0..schedule.chunks.len() {
            let id = module.declare_anonymous_function(&signature).ok()?;
            context.func.signature = signature.clone();
            let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
            Emitter::new(&mut builder, program, &schedule, &outputs, &mut values, convention, effort).chunk(c);
            builder.finalize(module.isa().frontend_config());
            module.define_function(id, &mut context).ok()?;
            module.clear_context(&mut context);
            ids.push(id);
        }
        module.finalize_definitions().ok()?;
        let functions = ids.into_iter().map(|id| function(module.get_finalized_function(id))).collect();
        Some(MachineCode {
            module: Mutex::new(Some(Box::new(module))),
            functions,
            constants: program.constants().to_vec(),
            _tables: program.tables().to_vec(),
            n_inputs: program.n_inputs(),
            n_outputs,
            n_work: schedule.n_work,
            n_state: schedule.layout.state.len(),
        })
    }

    /// The storage for intermediate values, to be passed to [`run`](MachineCode::run).
    pub fn workspace(&self) -> Vec<f64> {
        vec![0.0; self.n_work]
    }

    /// Fills `outputs` from `inputs`, with the same bits as the interpreter; allocates nothing.
    pub fn run(&self, inputs: &[f64], workspace: &mut [f64], outputs: &mut [f64]) {
        self.run_at(inputs, &[], workspace, outputs);
    }

    /// Fills `outputs` from `inputs` and from `state`, a slice of its own for the inputs `Layout::state`.
    #[inline]
    pub fn run_at(&self, inputs: &[f64], state: &[f64], workspace: &mut [f64], outputs: &mut [f64]) {
        assert_eq!(inputs.len(), self.n_inputs, "number of inputs");
        assert_eq!(state.len(), self.n_state, "size of the state");
        assert_eq!(workspace.len(), self.n_work, "size of the workspace");
        assert_eq!(outputs.len(), self.n_outputs, "number of outputs");
        for function in &self.functions {
            // the code accesses these lengths only
            #[allow(unsafe_code)]
            unsafe {
                function(
                    inputs.as_ptr(),
                    self.constants.as_ptr(),
                    workspace.as_mut_ptr(),
                    outputs.as_mut_ptr(),
                    state.as_ptr(),
                );
            }
        }
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.get_mut().ok().and_then(Option::take) {
            // the functions are dropped with it, so no caller remains
            #[allow(unsafe_code)]
            unsafe {
                module.free_memory();
            }
        }
    }
}

/// The code generator for this processor at a level of optimisation.
fn builder(effort: OptLevel) -> Option<JITBuilder> {
    let registers = match effort {
        OptLevel::Quick => "single_pass",
        OptLevel::Thorough => "backtracking",
    };
    let mut flags = settings::builder();
    let all = [
        // programs have no common subexpressions left and are scheduled already
        ("opt_level", "none"),
        ("regalloc_algorithm", registers),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in all {
        flags.set(name, value).ok()?;
    }
    let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    Some(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()))
}

/// The function at an address, ready to be called.
fn function(address: *const u8) -> Function {
    // the address is that of a function emitted with this signature, valid as long as its module
    #[allow(unsafe_code)]
    unsafe {
        std::mem::transmute::<*const u8, Function>(address)
    }
}
