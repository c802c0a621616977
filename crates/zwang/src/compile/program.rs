//! A program with its workspace, as machine code if that pays, and the explanation of non-finite values.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use zwang_expr::{Expr, Graph, Node, Program};
use zwang_machine::{Layout, MachineCode, OptLevel};
use zwang_motion::MotionError;

use crate::{limits, quantity::number};

/// The time at which programs become machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JitPolicy {
    /// After interpretation has taken about as long as code generation.
    #[default]
    Adaptive,
    /// At the first run.
    Immediate,
    /// At the first run, with full optimisation.
    Optimized,
    /// Never.
    Never,
}

/// Runs work in the background, such as the generation of optimised machine code; the libraries start no threads
/// themselves.
pub trait Background: Send + Sync {
    /// Runs `work` on another thread, at any time.
    fn spawn(&self, work: Box<dyn FnOnce() + Send>);
}

/// The policy of code generation and the executor of background optimisation.
#[derive(Clone, Default)]
pub struct Jit {
    /// The time at which programs become machine code.
    pub policy: JitPolicy,
    /// The executor of background optimisation; `None` if the evaluator itself optimises.
    pub background: Option<Arc<dyn Background>>,
}

impl From<JitPolicy> for Jit {
    fn from(policy: JitPolicy) -> Jit {
        Jit { policy, background: None }
    }
}

/// A program and its machine code, shared by all evaluators: it is immutable except that code is added.
struct SharedProgram {
    /// The whole program, from which a non-finite value is traced.
    program: Program,
    /// The range of the fixed inputs, the parameters; subexpressions of these alone are computed when they change.
    held: Range<usize>,
    before: Program,
    /// The part that remains to be run for every state.
    main: Program,
    /// The inputs and outputs that [`run_at`](Compiled::run_at) passes separately.
    layout: Layout,
    jit: Jit,
    /// Quickly generated code, then optimised code; `None` inside if the machine has no code generator.
    quick: OnceLock<Option<Arc<MachineCode>>>,
    better: Arc<OnceLock<Option<Arc<MachineCode>>>>,
    better_is_ordered: AtomicBool,
    /// The number of calls of all evaluators, updated every 512 calls of one.
    n_calls: AtomicUsize,
}

/// A program over given symbols as one evaluator runs it: with its workspace, its parameters and its last values.
pub(crate) struct Compiled {
    shared: Arc<SharedProgram>,
    parameters: Option<Vec<f64>>,
    inputs: Vec<f64>,
    workspace: Vec<f64>,
    values: Vec<f64>,
    machine: Option<Arc<MachineCode>>,
    is_best: bool,
    /// Calls since the shared count was updated, and the number of calls until the next update.
    n_calls: usize,
    next_look: usize,
}

impl Clone for Compiled {
    /// Creates another evaluator of the same program.
    fn clone(&self) -> Compiled {
        Compiled::of(Arc::clone(&self.shared))
    }
}

impl SharedProgram {
    fn new(program: Program, held: Range<usize>, layout: Layout, jit: Jit) -> SharedProgram {
        let (before, main) = program.split(held.clone());
        SharedProgram {
            program,
            held,
            before,
            main,
            layout,
            jit,
            quick: OnceLock::new(),
            better: Arc::default(),
            better_is_ordered: AtomicBool::new(false),
            n_calls: AtomicUsize::new(0),
        }
    }

    /// The number of calls after which code generation pays.
    fn pays_after(&self) -> usize {
        match self.jit.policy {
            JitPolicy::Adaptive => limits::GENERATOR_START / self.main.len().max(1) + limits::INTERPRETATIONS,
            JitPolicy::Immediate | JitPolicy::Optimized => 0,
            JitPolicy::Never => usize::MAX,
        }
    }

    /// The quickly generated code, generated now if necessary.
    fn code(&self) -> Option<Arc<MachineCode>> {
        let make = || {
            let is_worth_it =
                self.jit.policy == JitPolicy::Optimized && self.main.len() <= limits::OPTIMISED_INSTRUCTIONS;
            let level = if is_worth_it { OptLevel::Thorough } else { OptLevel::Quick };
            MachineCode::with_layout(&self.main, self.layout.clone(), level).map(Arc::new)
        };
        self.quick.get_or_init(make).clone()
    }

    /// True if optimised code may follow the first code.
    fn can_be_better(&self) -> bool {
        self.jit.policy == JitPolicy::Adaptive && self.main.len() <= limits::OPTIMISED_INSTRUCTIONS
    }

    /// The optimised code, if it exists; its generation is started after enough calls.
    fn better_code(&self, n_calls: usize) -> Option<Arc<MachineCode>> {
        if let Some(code) = self.better.get() {
            return code.clone();
        }
        let pays = self.pays_after().saturating_add(if self.jit.background.is_some() {
            limits::CALLS_TO_OPTIMISE
        } else {
            limits::CALLS_TO_OPTIMISE_HERE
        });
        if n_calls < pays || self.better_is_ordered.swap(true, Ordering::Relaxed) {
            return None;
        }
        let (program, layout, better) = (self.main.clone(), self.layout.clone(), Arc::clone(&self.better));
        let make = move || {
            better.get_or_init(|| MachineCode::with_layout(&program, layout, OptLevel::Thorough).map(Arc::new));
        };
        match &self.jit.background {
            Some(background) => background.spawn(Box::new(make)),
            None => make(),
        }
        self.better.get().cloned().flatten()
    }
}

impl Compiled {
    /// Compiles expressions; `None` if they contain a symbol that is not an input.
    pub(crate) fn new(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Option<Compiled> {
        let program = Program::new(graph, inputs, outputs).ok()?;
        Some(Compiled::from_program(program, 0..0, Layout::default(), JitPolicy::Never.into()))
    }

    /// Compiles expressions that are evaluated along a motion; the inputs `held` are the fixed parameters.
    pub(crate) fn moving(
        graph: &Graph,
        inputs: &[Expr],
        held: Range<usize>,
        outputs: &[Expr],
        jit: &Jit,
    ) -> Option<Compiled> {
        let program = Program::new(graph, inputs, outputs).ok()?;
        Some(Compiled::from_program(program, held, Layout::default(), jit.clone()))
    }

    /// A program of t, (q, q̇) and the parameters `held`, for [`run_at`](Compiled::run_at), which returns the first
    /// `n_apart` outputs separately.
    pub(crate) fn explicit(program: Program, held: Range<usize>, n_apart: usize, jit: &Jit) -> Compiled {
        let layout = Layout { state: 1..held.start, n_apart };
        Compiled::from_program(program, held, layout, jit.clone())
    }

    fn from_program(program: Program, held: Range<usize>, layout: Layout, jit: Jit) -> Compiled {
        Compiled::of(Arc::new(SharedProgram::new(program, held, layout, jit)))
    }

    fn of(shared: Arc<SharedProgram>) -> Compiled {
        let main = &shared.main;
        let mut compiled = Compiled {
            parameters: None,
            inputs: vec![0.0; main.n_inputs()],
            workspace: main.workspace(),
            values: vec![0.0; main.n_outputs()],
            machine: None,
            is_best: false,
            n_calls: 0,
            next_look: shared.pays_after(),
            shared,
        };
        // code that another evaluator has generated already
        if compiled.shared.quick.get().is_some() {
            compiled.next_look = 0;
        }
        compiled
    }

    /// Uses machine code from now on.
    fn take_code(&mut self, code: Arc<MachineCode>, is_best: bool) {
        self.workspace = code.workspace();
        self.machine = Some(code);
        self.is_best = is_best;
    }

    /// The values for these inputs.
    pub(crate) fn run(&mut self, inputs: &[f64]) -> &[f64] {
        let Range { start, end } = self.shared.held;
        self.hold(&inputs[start..end]);
        let n_late = inputs.len() - self.shared.held.len();
        self.inputs[..start].copy_from_slice(&inputs[..start]);
        self.inputs[start..n_late].copy_from_slice(&inputs[end..]);
        self.run_loaded()
    }

    /// Fills `out` with the values at t and (q, q̇) for the fixed parameters, and returns the first outputs
    /// separately.
    #[inline]
    pub(crate) fn run_at(&mut self, t: f64, y: &[f64], out: &mut [f64]) -> &[f64] {
        self.inputs[0] = t;
        self.count();
        match &self.machine {
            Some(code) => {
                code.run_at(&self.inputs, y, &mut self.workspace, out);
                &self.workspace[..self.shared.layout.n_apart]
            }
            None => self.interpret_at(y, out),
        }
    }

    #[cold]
    fn interpret_at(&mut self, y: &[f64], out: &mut [f64]) -> &[f64] {
        let SharedProgram { main, layout, .. } = &*self.shared;
        self.inputs[layout.state.clone()].copy_from_slice(y);
        main.run(&self.inputs, &mut self.workspace, &mut self.values);
        let (apart, found) = self.values.split_at(layout.n_apart);
        out.copy_from_slice(found);
        apart
    }

    fn run_loaded(&mut self) -> &[f64] {
        self.count();
        match &self.machine {
            Some(code) => code.run(&self.inputs, &mut self.workspace, &mut self.values),
            None => self.shared.main.run(&self.inputs, &mut self.workspace, &mut self.values),
        }
        &self.values
    }

    /// Counts the coming call, and generates code if that pays.
    #[inline]
    fn count(&mut self) {
        self.n_calls += 1;
        if self.n_calls >= self.next_look {
            self.look_for_code();
        }
    }

    /// Computes the subexpressions of the parameters alone, unless the parameters are those of the last call.
    pub(crate) fn hold(&mut self, parameters: &[f64]) {
        if self.parameters.as_ref().is_some_and(|known| same_bits(known, parameters)) {
            return;
        }
        self.parameters = Some(parameters.to_vec());
        let SharedProgram { program, before, held, .. } = &*self.shared;
        let n_late = program.n_inputs() - held.len();
        before.run(parameters, &mut before.workspace(), &mut self.inputs[n_late..]);
    }

    /// Generates code when it pays and optimised code when that pays; the values are identical bit by bit.
    #[cold]
    fn look_for_code(&mut self) {
        let shared = Arc::clone(&self.shared);
        let n_calls = shared.n_calls.fetch_add(self.n_calls, Ordering::Relaxed) + self.n_calls;
        self.n_calls = 0;
        if self.machine.is_none() {
            let Some(code) = shared.code() else {
                self.next_look = usize::MAX;
                return;
            };
            self.take_code(code, !shared.can_be_better());
        }
        if !self.is_best
            && let Some(code) = shared.better_code(n_calls)
        {
            self.take_code(code, true);
        }
        self.next_look = if self.is_best { usize::MAX } else { limits::CALLS_PER_COUNT };
    }

    /// The values of the last run.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The whole program.
    pub(crate) fn whole(&self) -> &Program {
        &self.shared.program
    }

    /// The number of inputs.
    pub(crate) fn n_inputs(&self) -> usize {
        self.shared.program.n_inputs()
    }

    /// The number of instructions.
    pub(crate) fn n_instructions(&self) -> usize {
        self.shared.program.len()
    }

    /// The program that is run for every state with fixed parameters, and its inputs: t, q, q̇ (not filled in) and the
    /// values computed from the parameters.
    pub(crate) fn main(&self) -> (&Program, &[f64]) {
        (&self.shared.main, &self.inputs)
    }

    /// Names the term that is not finite and its inputs; `symbols` name the first of the inputs.
    pub(crate) fn explain_non_finite(&mut self, graph: &Graph, symbols: &[Expr], inputs: &[f64]) -> MotionError {
        let mut all = inputs.to_vec();
        all.resize(self.n_inputs(), 0.0);
        let Some(first) = self.shared.program.first_non_finite(&all, &mut self.shared.program.workspace()) else {
            return MotionError::NotFinite { what: "a value".into() };
        };
        let text = graph
            .text_limited(first.expr, limits::NODES_SHOWN)
            .map_or("a long expression".into(), |t| format!("`{t}`"));
        let at = |s: &Expr| {
            let k = symbols.iter().position(|t| t == s)?;
            Some(format!("{} = {}", graph.name(*s), number(all[k])))
        };
        let place: Vec<String> = graph.symbols(first.expr).iter().filter_map(at).take(6).collect();
        if let Node::Look(table, _) = graph.node(first.expr) {
            let (from, to) = graph.table(table).range();
            let (from, to) = (number(from), number(to));
            let place = place.join(", ");
            return MotionError::OutsideTable {
                what: format!("{text}, whose rows go from {from} to {to}, at {place}"),
            };
        }
        let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
        MotionError::NotFinite { what: format!("{text}{place}") }
    }
}

/// True if two slices are identical bit by bit, NaN included.
fn same_bits(x: &[f64], y: &[f64]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    struct Threads;

    impl Background for Threads {
        fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
            std::thread::spawn(work);
        }
    }

    /// Interpreted, then quick code, then optimised code from the background: the same bits throughout.
    #[test]
    fn better_code_takes_over_once_it_is_there() {
        let mut g = Graph::new();
        let symbols = ["t", "x", "k"].map(|name| g.symbol(name, name));
        let [_, x, k] = symbols;
        let mut e = x;
        for _ in 0..40 {
            let sine = g.apply(zwang_expr::Function::Sin, e);
            e = g.mul(sine, k);
        }
        let program = Program::new(&g, &symbols, &[x, e]).expect("all symbols are inputs");
        let jit = Jit { policy: JitPolicy::Adaptive, background: Some(Arc::new(Threads)) };
        let mut compiled = Compiled::explicit(program, 2..3, 1, &jit);
        compiled.hold(&[1.5]);
        let mut out = [0.0];
        assert_eq!(compiled.run_at(0.0, &[0.3], &mut out), [0.3]);
        let expected = out[0].to_bits();
        let begin = Instant::now();
        let mut seen = Vec::new();
        while begin.elapsed() < Duration::from_secs(60) && seen.len() < 3 {
            let stage = (compiled.machine.is_some(), compiled.is_best);
            if seen.last() != Some(&stage) {
                seen.push(stage);
            }
            compiled.run_at(0.0, &[0.3], &mut out);
            assert_eq!(out[0].to_bits(), expected);
        }
        assert_eq!(seen, [(false, false), (true, false), (true, true)]);
    }
}
