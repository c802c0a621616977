//! A program with the room it needs, as machine code where that pays, and what to say when a number is not finite.

use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use zwang_expr::{Expr, Graph, Node, Program};
use zwang_machine::{Effort, Layout, MachineCode};
use zwang_motion::MotionError;

use crate::quantity::number;

/// When programs become machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// Once they have been interpreted for about as long as making the code takes.
    #[default]
    WhenItPays,
    /// When they first run.
    AtOnce,
    /// When they first run, and as good as can be.
    Best,
    /// Never.
    Never,
}

/// A program over given symbols, with its workspace and its last values.
pub(crate) struct Compiled {
    /// The whole program, which says where trouble begins.
    program: Program,
    /// Which inputs are parameters; what depends on them alone is computed when they change.
    held: Range<usize>,
    parameters: Option<Vec<f64>>,
    before: Program,
    /// What is left to be run, its inputs and its values.
    main: Program,
    inputs: Vec<f64>,
    workspace: Vec<f64>,
    values: Vec<f64>,
    /// What [`run_at`](Compiled::run_at) passes by itself.
    layout: Layout,
    coding: Coding,
    machine: Option<MachineCode>,
    /// Better code in the making.
    better: Option<Receiver<Option<MachineCode>>>,
    n_calls: usize,
    next_look: usize,
}

/// Interpreting so many instructions takes as long as starting the code generator.
const START: usize = 40_000;

/// Interpreting an instruction so many times takes as long as making code of it.
const PER_INSTRUCTION: usize = 500;

/// After so many calls better code is made beside the work.
const OFTEN: usize = 20_000;

/// Longer programs are made quickly: better code would take a second and more.
const LONG: usize = 100_000;

/// How often it is looked whether better code is there.
const LOOK: usize = 512;

impl Compiled {
    /// Compiles expressions; none if they contain a symbol that is no input.
    pub(crate) fn new(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Option<Compiled> {
        Some(Compiled::from_program(Program::new(graph, inputs, outputs).ok()?, 0..0, Layout::default(), Coding::Never))
    }

    /// The same for expressions evaluated along a motion; the inputs `held` are parameters.
    pub(crate) fn moving(
        graph: &Graph,
        inputs: &[Expr],
        held: Range<usize>,
        outputs: &[Expr],
        coding: Coding,
    ) -> Option<Compiled> {
        Some(Compiled::from_program(Program::new(graph, inputs, outputs).ok()?, held, Layout::default(), coding))
    }

    /// A program of t, (q, q̇) and the parameters `held`, for [`run_at`](Compiled::run_at), which returns the first `n_apart`
    /// outputs by themselves.
    pub(crate) fn explicit(program: Program, held: Range<usize>, n_apart: usize, coding: Coding) -> Compiled {
        let layout = Layout { state: 1..held.start, n_apart };
        Compiled::from_program(program, held, layout, coding)
    }

    fn from_program(program: Program, held: Range<usize>, layout: Layout, coding: Coding) -> Compiled {
        let (before, main) = program.split(held.clone());
        let next_look = match coding {
            Coding::WhenItPays => START / main.len().max(1) + PER_INSTRUCTION,
            Coding::AtOnce | Coding::Best => 0,
            Coding::Never => usize::MAX,
        };
        Compiled {
            parameters: None,
            inputs: vec![0.0; main.n_inputs()],
            workspace: main.workspace(),
            values: vec![0.0; main.n_outputs()],
            layout,
            n_calls: 0,
            next_look,
            machine: None,
            better: None,
            program,
            held,
            before,
            main,
            coding,
        }
    }

    /// Makes machine code now.
    fn make_code(&mut self) {
        let is_worth_it = self.coding == Coding::Best && self.main.len() <= LONG;
        let effort = if is_worth_it { Effort::Thorough } else { Effort::Quick };
        self.machine = MachineCode::with_layout(&self.main, self.layout.clone(), effort);
        if let Some(code) = &self.machine {
            self.workspace = code.workspace();
        }
        let may_be_better = self.machine.is_some() && self.coding == Coding::WhenItPays && self.main.len() <= LONG;
        self.next_look = if may_be_better { self.n_calls + OFTEN } else { usize::MAX };
    }

    /// The values for these inputs.
    pub(crate) fn run(&mut self, inputs: &[f64]) -> &[f64] {
        let Range { start, end } = self.held;
        self.hold(&inputs[start..end]);
        let n_late = inputs.len() - self.held.len();
        self.inputs[..start].copy_from_slice(&inputs[..start]);
        self.inputs[start..n_late].copy_from_slice(&inputs[end..]);
        self.run_loaded()
    }

    /// Fills `out` with the values at t and (q, q̇) for the parameters held, and returns those apart.
    #[inline]
    pub(crate) fn run_at(&mut self, t: f64, y: &[f64], out: &mut [f64]) -> &[f64] {
        self.inputs[0] = t;
        self.count();
        let n_apart = self.layout.n_apart;
        match &self.machine {
            Some(code) => {
                code.run_at(&self.inputs, y, &mut self.workspace, out);
                &self.workspace[..n_apart]
            }
            None => self.interpret_at(y, out),
        }
    }

    #[cold]
    fn interpret_at(&mut self, y: &[f64], out: &mut [f64]) -> &[f64] {
        self.inputs[self.layout.state.clone()].copy_from_slice(y);
        self.main.run(&self.inputs, &mut self.workspace, &mut self.values);
        let (apart, found) = self.values.split_at(self.layout.n_apart);
        out.copy_from_slice(found);
        apart
    }

    fn run_loaded(&mut self) -> &[f64] {
        self.count();
        match &self.machine {
            Some(code) => code.run(&self.inputs, &mut self.workspace, &mut self.values),
            None => self.main.run(&self.inputs, &mut self.workspace, &mut self.values),
        }
        &self.values
    }

    /// Counts a call that is about to come, and makes code where that pays.
    #[inline]
    fn count(&mut self) {
        self.n_calls += 1;
        if self.n_calls >= self.next_look {
            self.look_for_code();
        }
    }

    /// Computes what depends on the parameters alone, unless they are those of the last call.
    pub(crate) fn hold(&mut self, parameters: &[f64]) {
        if self.parameters.as_ref().is_some_and(|known| same_bits(known, parameters)) {
            return;
        }
        self.parameters = Some(parameters.to_vec());
        let n_late = self.program.n_inputs() - self.held.len();
        self.before.run(parameters, &mut self.before.workspace(), &mut self.inputs[n_late..]);
    }

    /// Code once it pays, better code once that pays; the values are the same bit by bit.
    #[cold]
    fn look_for_code(&mut self) {
        if self.machine.is_none() {
            self.make_code();
            return;
        }
        let Some(receiver) = &self.better else {
            let (sender, receiver) = channel();
            let (program, layout) = (self.main.clone(), self.layout.clone());
            // if nobody waits for it any more, it is dropped
            let work = move || sender.send(MachineCode::with_layout(&program, layout, Effort::Thorough)).is_ok();
            self.better = std::thread::Builder::new().spawn(work).ok().map(|_| receiver);
            self.next_look = if self.better.is_some() { self.n_calls + LOOK } else { usize::MAX };
            return;
        };
        self.next_look = match receiver.try_recv() {
            Err(TryRecvError::Empty) => self.n_calls + LOOK,
            Err(TryRecvError::Disconnected) | Ok(None) => usize::MAX,
            Ok(Some(code)) => {
                self.workspace = code.workspace();
                self.machine = Some(code);
                usize::MAX
            }
        };
    }

    /// The values of the last run.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The whole program.
    pub(crate) fn whole(&self) -> &Program {
        &self.program
    }

    /// How many inputs it takes.
    pub(crate) fn n_inputs(&self) -> usize {
        self.program.n_inputs()
    }

    /// How many instructions it has.
    pub(crate) fn n_instructions(&self) -> usize {
        self.program.len()
    }

    /// What is run again and again once the parameters are known, and its inputs: t, q, q̇ (not filled in) and what was found
    /// from the parameters.
    pub(crate) fn main(&self) -> (&Program, &[f64]) {
        (&self.main, &self.inputs)
    }

    /// Which term is not finite, and where: `symbols` name the first of the inputs.
    pub(crate) fn trouble(&mut self, graph: &Graph, symbols: &[Expr], inputs: &[f64]) -> MotionError {
        let mut all = inputs.to_vec();
        all.resize(self.n_inputs(), 0.0);
        let Some(trouble) = self.program.first_trouble(&all, &mut self.program.workspace()) else {
            return MotionError::NotFinite { what: "a value".into() };
        };
        const LONGEST: usize = 60;
        let text = graph.text_limited(trouble.expr, LONGEST).map_or("a long expression".into(), |t| format!("`{t}`"));
        let at = |s: &Expr| {
            let k = symbols.iter().position(|t| t == s)?;
            Some(format!("{} = {}", graph.name(*s), number(all[k])))
        };
        let place: Vec<String> = graph.symbols(trouble.expr).iter().filter_map(at).take(6).collect();
        if let Node::Look(table, _) = graph.node(trouble.expr) {
            let (first, last) = graph.table(table).range();
            let (first, last) = (number(first), number(last));
            let place = place.join(", ");
            return MotionError::OutsideTable {
                what: format!("{text}, whose rows go from {first} to {last}, at {place}"),
            };
        }
        let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
        MotionError::NotFinite { what: format!("{text}{place}") }
    }
}

/// Whether two slices are the same to the last bit, NaN included.
fn same_bits(x: &[f64], y: &[f64]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Interpreted, then quick code, then better code made beside the work: the same bits throughout.
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
        let mut compiled = Compiled::explicit(program, 2..3, 1, Coding::WhenItPays);
        compiled.hold(&[1.5]);
        let mut out = [0.0];
        assert_eq!(compiled.run_at(0.0, &[0.3], &mut out), [0.3]);
        let expected = out[0].to_bits();
        let begin = Instant::now();
        let mut seen = Vec::new();
        while begin.elapsed() < Duration::from_secs(60) && seen.len() < 3 {
            let stage = (compiled.machine.is_some(), compiled.better.is_some() && compiled.next_look == usize::MAX);
            if seen.last() != Some(&stage) {
                seen.push(stage);
            }
            compiled.run_at(0.0, &[0.3], &mut out);
            assert_eq!(out[0].to_bits(), expected);
        }
        assert_eq!(seen, [(false, false), (true, false), (true, true)]);
    }
}
