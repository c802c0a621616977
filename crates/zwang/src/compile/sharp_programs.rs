//! Bounds of sharp functions and of the terms that contain them, over a box of t, q and q̇.
//!
//! Arguments of all sharp functions are one program over intervals. Of a function that is not tame over a step, its terms are
//! compiled when that first happens: W = a ∂T/∂a for each summand T of an entry that contains it.

use rustc_hash::FxHashSet;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;
use zwang_expr::{Expr, Function, Graph, Interval, Node, Program};
use zwang_motion::{Enclosure, TermEntry};

use crate::compile::motion_programs::EquationTerms;
use crate::equations::sharp::{below, sharp_functions, summands};
use crate::limits;

/// The range of its argument over which a polynomial of degree seven follows a wave or an exponential, and a step as tanh.
const FOLLOWED_RANGE: f64 = 3.0;
const FOLLOWED_STEP: f64 = 1.5;

/// Beyond these arguments an exponential is zero and tanh is constant.
const EXP_VANISHES: f64 = -745.0;
const TANH_ENDS: f64 = 20.0;

/// The sharp functions of a system and their terms.
#[derive(Clone)]
pub(crate) struct SharpPrograms {
    source: Arc<EquationTerms>,
    functions: Arc<Vec<Expr>>,
    kinds: Vec<FunctionKind>,
    /// Inputs of the arguments that are part of the state.
    inputs: Vec<usize>,
    /// Arguments as a program of these inputs and of parameters; the part of parameters alone is done when they change.
    held: Arc<Program>,
    arguments: Arc<Program>,
    parameters: Option<Vec<f64>>,
    boxes: Boxes,
    /// The terms of each function, once it is compiled.
    terms_of: Vec<Option<Vec<usize>>>,
    terms: Vec<SharpTerm>,
    known: FxHashSet<(Expr, TermEntry)>,
    /// The graph in which terms are formed.
    graph: Option<Box<Graph>>,
}

/// How a function is judged by its arguments, the next outputs of their program.
#[derive(Clone, Copy)]
enum FunctionKind {
    Apply(Function),
    Power,
    Angle,
}

/// Inputs, registers and outputs of a program over intervals.
#[derive(Clone)]
struct Boxes {
    inputs: Vec<Interval>,
    registers: Vec<Interval>,
    outputs: Vec<Interval>,
}

impl Boxes {
    fn new(program: &Program) -> Boxes {
        Boxes {
            inputs: vec![Interval::ZERO; program.n_inputs()],
            registers: program.enclosure_workspace(),
            outputs: vec![Interval::ZERO; program.n_outputs()],
        }
    }

    fn run(&mut self, program: &Program) {
        program.enclose_defined(&self.inputs, &mut self.registers, &mut self.outputs);
    }
}

impl SharpPrograms {
    /// The sharp functions of M, Q, A, b and the control rows; `None` if there are none, or if the equations are
    /// too large for their terms to be bounded in each step.
    pub(crate) fn new(source: &Arc<EquationTerms>) -> Option<SharpPrograms> {
        let graph = &*source.graph;
        let states: FxHashSet<Expr> = source.inputs[..=2 * source.q.len()].iter().copied().collect();
        let formulas: Vec<Expr> = entries(source).into_iter().map(|(_, e)| e).collect();
        if below(graph, &formulas).len() > limits::SHARP_NODES {
            return None;
        }
        let functions = sharp_functions(graph, &formulas, |s| states.contains(&s));
        if functions.is_empty() {
            return None;
        }
        let (mut kinds, mut arguments) = (Vec::new(), Vec::new());
        for &function in &functions {
            let node = graph.node(function);
            arguments.extend_from_slice(&node.operands());
            kinds.push(match node {
                Node::Apply(f, _) => FunctionKind::Apply(f),
                Node::Pow(..) => FunctionKind::Power,
                _ => FunctionKind::Angle,
            });
        }
        let used: FxHashSet<Expr> = graph.symbols_of(&arguments).into_iter().collect();
        let inputs: Vec<usize> = (0..=2 * source.q.len()).filter(|&k| used.contains(&source.inputs[k])).collect();
        let mut symbols: Vec<Expr> = inputs.iter().map(|&k| source.inputs[k]).collect();
        symbols.extend(&source.inputs[source.held()]);
        let program = Program::new(graph, &symbols, &arguments).ok()?;
        let (held, arguments) = program.split(inputs.len()..symbols.len());
        Some(SharpPrograms {
            source: Arc::clone(source),
            terms_of: vec![None; functions.len()],
            functions: Arc::new(functions),
            kinds,
            inputs,
            held: Arc::new(held),
            boxes: Boxes::new(&arguments),
            arguments: Arc::new(arguments),
            parameters: None,
            terms: Vec::new(),
            known: FxHashSet::default(),
            graph: None,
        })
    }

    pub(crate) fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    pub(crate) fn term(&self, term: usize) -> &SharpTerm {
        &self.terms[term]
    }

    pub(crate) fn term_mut(&mut self, term: usize) -> &mut SharpTerm {
        &mut self.terms[term]
    }

    /// A function as text.
    pub(crate) fn text(&self, function: usize) -> Option<String> {
        self.source.graph.text_limited(*self.functions.get(function)?, limits::NODES_SHOWN)
    }

    /// Collects the terms of the functions that a polynomial does not follow over a box.
    pub(crate) fn find_untamed(&mut self, inputs: &[Enclosure], parameters: &[f64], terms: &mut Vec<usize>) {
        self.hold(parameters);
        for (out, &k) in self.boxes.inputs.iter_mut().zip(&self.inputs) {
            *out = interval(inputs[k]);
        }
        self.boxes.run(&self.arguments);
        let mut next = 0;
        for k in 0..self.kinds.len() {
            let first = self.boxes.outputs[next];
            let is_tame = match self.kinds[k] {
                FunctionKind::Apply(f) => is_tame(f, first),
                FunctionKind::Power => is_tame_power(first, self.boxes.outputs[next + 1]),
                FunctionKind::Angle => is_tame_angle(first, self.boxes.outputs[next + 1]),
            };
            next += if matches!(self.kinds[k], FunctionKind::Apply(_)) { 1 } else { 2 };
            if !is_tame {
                if self.terms_of[k].is_none() {
                    self.compile(k);
                }
                terms.extend(self.terms_of[k].iter().flatten());
            }
        }
    }

    /// Computes the parts of the arguments that depend on the parameters alone.
    fn hold(&mut self, parameters: &[f64]) {
        if self.parameters.as_deref() == Some(parameters) {
            return;
        }
        self.parameters = Some(parameters.to_vec());
        let mut boxes = Boxes::new(&self.held);
        boxes.inputs.iter_mut().zip(parameters).for_each(|(out, x)| *out = Interval::point(*x));
        boxes.run(&self.held);
        self.boxes.inputs[self.inputs.len()..].copy_from_slice(&boxes.outputs);
    }

    /// Compiles the terms of a function.
    #[cold]
    fn compile(&mut self, k: usize) {
        let SharpPrograms { source, functions, terms, known, graph, .. } = self;
        let graph = graph.get_or_insert_with(|| Box::new(Graph::clone(&source.graph)));
        let function = functions[k];
        let first = terms.len();
        for (entry, formula) in entries(source) {
            for summand in summands(graph, formula) {
                let slope = graph.derivative_by_node(summand, function);
                let term = graph.mul(function, slope);
                if term != Expr::ZERO && known.insert((term, entry)) {
                    terms.extend(SharpTerm::new(graph, source, k, entry, term));
                }
            }
        }
        self.terms_of[k] = Some((first..self.terms.len()).collect());
    }
}

/// The entries of M, Q, A, b and the control rows.
fn entries(source: &EquationTerms) -> Vec<(TermEntry, Expr)> {
    let mut found = Vec::new();
    for (i, row) in source.mass.iter().enumerate() {
        found.extend(row.iter().filter(|(j, _)| *j >= i).map(|&(j, e)| (TermEntry::Mass(i, j), e)));
    }
    found.extend(source.force.iter().enumerate().map(|(i, &e)| (TermEntry::Force(i), e)));
    for (r, row) in source.rows.iter().enumerate() {
        found.extend(row.iter().map(|&(j, e)| (TermEntry::Row(r, j), e)));
    }
    found.extend(source.rhs.iter().enumerate().map(|(r, &e)| (TermEntry::Rhs(r), e)));
    for (r, row) in source.asked.iter().enumerate() {
        found.extend(row.iter().map(|&(j, e)| (TermEntry::ControlRow(r, j), e)));
    }
    found.extend(source.asked_rhs.iter().enumerate().map(|(r, &e)| (TermEntry::ControlRhs(r), e)));
    found
}

fn interval(x: Enclosure) -> Interval {
    Interval::new(x.lo, x.hi)
}

/// True if a polynomial of degree seven follows a function over a range of its argument.
fn is_tame(f: Function, x: Interval) -> bool {
    let (lo, hi, width) = (x.lo(), x.hi(), x.width());
    match f {
        Function::Sin | Function::Cos | Function::Sinh | Function::Cosh => width <= FOLLOWED_RANGE,
        Function::Exp => width <= FOLLOWED_RANGE || hi < EXP_VANISHES,
        Function::Tanh => width <= FOLLOWED_STEP || lo > TANH_ENDS || hi < -TANH_ENDS,
        Function::Atan => width <= 1f64.hypot(x.least_magnitude()),
        Function::Log => lo > 0.0 && hi <= FOLLOWED_RANGE * lo,
        Function::Tan => {
            let branch = PI * (x.middle() / PI).round();
            width <= 0.5 * (FRAC_PI_2 - (lo - branch).abs().max((hi - branch).abs()))
        }
        Function::Asin | Function::Acos => width <= 0.5 * (1.0 - x.magnitude()),
        Function::Sqrt | Function::Abs | Function::Sign => true,
    }
}

/// The same for xⁿ, which changes by a factor of e³ at most.
fn is_tame_power(x: Interval, n: Interval) -> bool {
    let (least, most) = (x.least_magnitude(), x.magnitude());
    if !(least > 0.0 && most <= FOLLOWED_RANGE * least) || x.contains(0.0) {
        return false;
    }
    let power = n.magnitude();
    // log r ≤ r − 1
    let is_short = power * (most / least - 1.0) <= FOLLOWED_RANGE || power * (most / least).ln() <= FOLLOWED_RANGE;
    is_short && (n.width() == 0.0 || n.width() * least.ln().abs().max(most.ln().abs()) <= FOLLOWED_RANGE)
}

/// The same for the angle of a point (x, y), which is to stay away from the origin.
fn is_tame_angle(y: Interval, x: Interval) -> bool {
    y.width().hypot(x.width()) <= y.least_magnitude().hypot(x.least_magnitude())
}

/// What a sharp function contributes to one entry: W = a ∂T/∂a.
#[derive(Clone)]
pub(crate) struct SharpTerm {
    pub(crate) function: usize,
    pub(crate) entry: TermEntry,
    symbols: Symbols,
    value: Program,
    registers: Vec<f64>,
    values: Vec<f64>,
    /// W with some arguments as inputs after the symbols.
    bounds: Program,
    boxes: Boxes,
    arguments: Vec<CentredArgument>,
}

/// The inputs of a program that are part of the state, and its parameters.
#[derive(Clone)]
struct Symbols {
    states: Vec<usize>,
    parameters: Vec<usize>,
}

impl Symbols {
    /// The symbols of an expression, with the list of them as inputs.
    fn of(graph: &Graph, source: &EquationTerms, e: Expr) -> (Symbols, Vec<Expr>) {
        let used: FxHashSet<Expr> = graph.symbols(e).into_iter().collect();
        let first = 2 * source.q.len() + 1;
        let all: Vec<usize> = (0..source.inputs.len()).filter(|&k| used.contains(&source.inputs[k])).collect();
        let list = all.iter().map(|&k| source.inputs[k]).collect();
        let (states, parameters): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&k| k < first);
        (Symbols { states, parameters: parameters.into_iter().map(|k| k - first).collect() }, list)
    }

    fn fill(&self, inputs: &[Enclosure], parameters: &[f64], out: &mut [Interval]) {
        let states = self.states.iter().map(|&k| interval(inputs[k]));
        let all = states.chain(self.parameters.iter().map(|&k| Interval::point(parameters[k])));
        out.iter_mut().zip(all).for_each(|(out, x)| *out = x);
    }

    fn len(&self) -> usize {
        self.states.len() + self.parameters.len()
    }
}

impl SharpTerm {
    /// `None` if the term does not depend on the state, or on symbols without a value.
    fn new(
        graph: &mut Graph,
        source: &EquationTerms,
        function: usize,
        entry: TermEntry,
        term: Expr,
    ) -> Option<SharpTerm> {
        let (symbols, mut list) = Symbols::of(graph, source, term);
        if symbols.states.is_empty() {
            return None;
        }
        let value = Program::new(graph, &list, &[term]).ok()?;
        let mut replaced = std::collections::HashMap::new();
        let mut arguments = Vec::new();
        for argument in repeating_arguments(graph, source, term) {
            let symbol = graph.symbol("u", "u");
            arguments.push(CentredArgument::new(graph, source, argument)?);
            replaced.insert(argument, symbol);
            list.push(symbol);
        }
        let bounded = graph.substitute(&[term], &replaced);
        let bounds = Program::new(graph, &list, &bounded).ok()?;
        Some(SharpTerm {
            function,
            entry,
            registers: value.workspace(),
            values: vec![0.0; symbols.len()],
            value,
            boxes: Boxes::new(&bounds),
            bounds,
            arguments,
            symbols,
        })
    }

    pub(crate) fn inputs(&self) -> &[usize] {
        &self.symbols.states
    }

    /// W at a state.
    pub(crate) fn value(&mut self, inputs: &[f64], parameters: &[f64]) -> f64 {
        let states = self.symbols.states.iter().map(|&k| inputs[k]);
        let all = states.chain(self.symbols.parameters.iter().map(|&k| parameters[k]));
        self.values.iter_mut().zip(all).for_each(|(out, x)| *out = x);
        let mut value = [0.0];
        self.value.run(&self.values, &mut self.registers, &mut value);
        value[0]
    }

    /// Bounds of W over a box.
    pub(crate) fn enclose(&mut self, inputs: &[Enclosure], parameters: &[f64]) -> Enclosure {
        self.symbols.fill(inputs, parameters, &mut self.boxes.inputs);
        let first = self.symbols.len();
        for (k, argument) in self.arguments.iter_mut().enumerate() {
            self.boxes.inputs[first + k] = argument.enclose(inputs, parameters);
        }
        self.boxes.run(&self.bounds);
        Enclosure { lo: self.boxes.outputs[0].lo(), hi: self.boxes.outputs[0].hi() }
    }
}

/// An argument in which symbols repeat: its bounds are those of its mean value form,
///
/// $$ u(m) + \sum_z \frac{\partial u}{\partial z}([z]) ([z] - m_z) $$
///
/// where they are narrower than those of the formula as it stands.
#[derive(Clone)]
struct CentredArgument {
    symbols: Symbols,
    /// u, then its derivatives by the symbols of the state.
    program: Program,
    boxes: Boxes,
    /// The sides of the box whose middle is inserted.
    sides: Vec<Interval>,
}

impl CentredArgument {
    fn new(graph: &mut Graph, source: &EquationTerms, argument: Expr) -> Option<CentredArgument> {
        let (symbols, list) = Symbols::of(graph, source, argument);
        let mut outputs = vec![argument];
        outputs.extend(symbols.states.iter().map(|&k| graph.derivative(argument, source.inputs[k])));
        let program = Program::new(graph, &list, &outputs).ok()?;
        Some(CentredArgument {
            sides: vec![Interval::ZERO; symbols.states.len()],
            symbols,
            boxes: Boxes::new(&program),
            program,
        })
    }

    fn enclose(&mut self, inputs: &[Enclosure], parameters: &[f64]) -> Interval {
        let CentredArgument { symbols, program, boxes, sides } = self;
        symbols.fill(inputs, parameters, &mut boxes.inputs);
        boxes.run(program);
        let natural = boxes.outputs[0];
        let mut change = Interval::ZERO;
        for (k, side) in sides.iter_mut().enumerate() {
            *side = boxes.inputs[k];
            let middle = Interval::point(side.middle());
            change = change + boxes.outputs[1 + k] * (*side - middle);
            boxes.inputs[k] = middle;
        }
        boxes.run(program);
        (boxes.outputs[0] + change).intersection(natural).unwrap_or(natural)
    }
}

/// The arguments of functions and powers in a term in which a symbol of the state stands more than once.
fn repeating_arguments(graph: &Graph, source: &EquationTerms, term: Expr) -> Vec<Expr> {
    let states = &source.inputs[..=2 * source.q.len()];
    let mut found = Vec::new();
    for e in below(graph, &[term]) {
        let operands = match graph.node(e) {
            Node::Apply(_, u) => vec![u],
            Node::Apply2(_, u, v) => vec![u, v],
            Node::Pow(u, _) => vec![u],
            _ => Vec::new(),
        };
        found.extend(operands.into_iter().filter(|&u| repeats(graph, states, u)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// True if a symbol stands more than once in an expression.
fn repeats(graph: &Graph, symbols: &[Expr], e: Expr) -> bool {
    let mut nodes = below(graph, &[e]);
    let mut counts: rustc_hash::FxHashMap<Expr, u32> = rustc_hash::FxHashMap::default();
    counts.insert(e, 1);
    while let Some(x) = nodes.pop() {
        let count = counts[&x];
        if count > 1 && symbols.contains(&x) {
            return true;
        }
        for operand in graph.node(x).operands().iter() {
            let so_far = counts.entry(*operand).or_default();
            *so_far = so_far.saturating_add(count);
        }
    }
    false
}
