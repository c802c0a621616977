//! Straight-line code from inputs to outputs: live work only, shared work once.

use crate::graph::Graph;
use crate::node::{Comparison, Expr, Function, Function2, Node};
use rustc_hash::FxHashMap;
use std::fmt;

/// Largest integer power computed by multiplications; beyond, a general power is faster.
const MAX_PRODUCT_POWER: i64 = 64;

/// An output uses a symbol that is not an input.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UnknownSymbol(pub Expr);

impl fmt::Display for UnknownSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbol {} is not an input of the program", self.0.index())
    }
}

impl std::error::Error for UnknownSymbol {}

/// What an [`Instruction`] does with its operands a, b, c.
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
    /// a to the power b.
    Pow,
    /// f(a).
    Apply(Function),
    /// f(a, b).
    Apply2(Function2),
    /// 1 if the comparison of a and b holds, else 0.
    Compare(Comparison),
    /// b if a is not 0, else c.
    Select,
}

/// One step of a [`Program`]: an operation on registers; the result goes into the next register.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// What is done.
    pub operation: Operation,
    /// The first operand's register.
    pub a: u32,
    /// The second operand's register; 0 where there is none.
    pub b: u32,
    /// The third operand's register; 0 where there is none.
    pub c: u32,
}

impl Instruction {
    /// The registers read.
    pub fn operands(&self) -> impl Iterator<Item = u32> {
        let count = match self.operation {
            Operation::Neg | Operation::Apply(_) => 1,
            Operation::Select => 3,
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
    /// the expression each instruction works for
    pub(crate) origins: Vec<Expr>,
    pub(crate) outputs: Vec<u32>,
}

impl Program {
    /// Code for `outputs` as functions of the symbols `inputs`.
    ///
    /// Fails if an output contains a symbol that is not an input.
    pub fn new(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Result<Program, UnknownSymbol> {
        let live = live_nodes(graph, outputs);
        let mut compiler = Compiler::new(graph, inputs, &live)?;
        for &e in &live {
            compiler.lower(e);
        }
        Ok(compiler.finish(inputs.len(), outputs))
    }

    /// How many inputs [`run`](Program::run) takes.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// How many outputs [`run`](Program::run) fills.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether there are no instructions: all outputs are inputs or constants.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The constants, which occupy the first registers.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The instructions; number k writes register `constants + inputs + k`.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The register of each output.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
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
}

/// How a node becomes one instruction, up to powers.
enum Shape {
    /// a leaf: symbol or constant
    Leaf,
    /// the plain operation of the node on all its operands
    Plain,
    /// a - b
    Difference(Expr, Expr),
    /// -a
    Negative(Expr),
    /// a / b^(n/2)
    Quotient(Expr, Expr, i64),
    /// a^(n/2)
    Power(Expr, i64),
}

impl Shape {
    fn of(graph: &Graph, e: Expr) -> Shape {
        if is_constant(graph, e) {
            return Shape::Leaf;
        }
        match graph.node(e) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => Shape::Leaf,
            // a + (-1) b = a - b
            Node::Add(a, b) => match (negated(graph, a), negated(graph, b)) {
                (_, Some(b)) => Shape::Difference(a, b),
                (Some(a), None) => Shape::Difference(b, a),
                (None, None) => Shape::Plain,
            },
            Node::Mul(Expr::MINUS_ONE, b) => Shape::Negative(b),
            // a b^-n = a / b^n
            Node::Mul(a, b) => match (reciprocal(graph, a), reciprocal(graph, b)) {
                (_, Some((b, n))) => Shape::Quotient(a, b, n),
                (Some((a, n)), None) => Shape::Quotient(b, a, n),
                (None, None) => Shape::Plain,
            },
            Node::Pow(a, n) => match halves(graph, n) {
                Some(n) if n < 0 => Shape::Quotient(Expr::ONE, a, -n),
                Some(n) => Shape::Power(a, n),
                None => Shape::Plain,
            },
            _ => Shape::Plain,
        }
    }

    /// The expressions the instruction needs.
    fn needs(&self, node: &Node, mut need: impl FnMut(Expr)) {
        match *self {
            Shape::Leaf => {}
            Shape::Plain => node.operands().iter().for_each(|&x| need(x)),
            Shape::Difference(a, b) | Shape::Quotient(a, b, _) => {
                need(a);
                need(b);
            }
            Shape::Negative(a) | Shape::Power(a, _) => need(a),
        }
    }
}

/// Whether `e` is a finite number once and for all; other constants are left to the program, where they are found.
fn is_constant(graph: &Graph, e: Expr) -> bool {
    graph.constant_value(e).is_some_and(f64::is_finite)
}

/// b of (-1) b.
fn negated(graph: &Graph, e: Expr) -> Option<Expr> {
    match graph.node(e) {
        Node::Mul(Expr::MINUS_ONE, b) if !is_constant(graph, e) => Some(b),
        _ => None,
    }
}

/// b and n of b^(-n/2).
fn reciprocal(graph: &Graph, e: Expr) -> Option<(Expr, i64)> {
    match graph.node(e) {
        Node::Pow(b, n) if !is_constant(graph, e) => halves(graph, n).filter(|&n| n < 0).map(|n| (b, -n)),
        _ => None,
    }
}

/// n of a small exponent n/2.
fn halves(graph: &Graph, exponent: Expr) -> Option<i64> {
    let (n, d) = graph.number(exponent)?.to_small()?;
    match d {
        1 if n.abs() <= MAX_PRODUCT_POWER => Some(2 * n),
        2 if n.abs() <= MAX_PRODUCT_POWER => Some(n),
        _ => None,
    }
}

/// The nodes that become instructions or leaves, operands first.
fn live_nodes(graph: &Graph, outputs: &[Expr]) -> Vec<Expr> {
    let n_nodes = outputs.iter().map(|e| e.index() + 1).max().unwrap_or(0);
    let mut seen = vec![false; n_nodes];
    let mut live = Vec::new();
    let mut stack = outputs.to_vec();
    while let Some(e) = stack.pop() {
        if !std::mem::replace(&mut seen[e.index()], true) {
            live.push(e);
            Shape::of(graph, e).needs(&graph.node(e), |x| stack.push(x));
        }
    }
    live.sort_unstable();
    live
}

/// Emits instructions and remembers the register of each expression.
struct Compiler<'a> {
    graph: &'a Graph,
    constants: Vec<f64>,
    instructions: Vec<Instruction>,
    origins: Vec<Expr>,
    /// register of each expression
    registers: Vec<u32>,
    /// register of each power and comparison, so that x² is computed once for x⁴ and 1/x²
    known: FxHashMap<Instruction, u32>,
    first: u32,
}

impl<'a> Compiler<'a> {
    /// Gives registers to constants and inputs.
    fn new(graph: &'a Graph, inputs: &[Expr], live: &[Expr]) -> Result<Compiler<'a>, UnknownSymbol> {
        let n_nodes = live.iter().chain(inputs).map(|e| e.index() + 1).max().unwrap_or(0);
        let mut registers = vec![u32::MAX; n_nodes.max(Expr::ONE.index() + 1)];
        let mut constants = vec![1.0];
        let mut places: FxHashMap<u64, u32> = [(1f64.to_bits(), 0)].into_iter().collect();
        registers[Expr::ONE.index()] = 0;
        for &e in live {
            if let Some(value) = graph.constant_value(e).filter(|value| value.is_finite()) {
                registers[e.index()] = *places.entry(value.to_bits()).or_insert_with(|| {
                    constants.push(value);
                    constants.len() as u32 - 1
                });
            }
        }
        for (k, &input) in inputs.iter().enumerate() {
            assert!(graph.is_symbol(input), "an input of a program is not a symbol");
            registers[input.index()] = (constants.len() + k) as u32;
        }
        let unknown = live.iter().find(|&&e| graph.is_symbol(e) && registers[e.index()] == u32::MAX);
        if let Some(&symbol) = unknown {
            return Err(UnknownSymbol(symbol));
        }
        let first = (constants.len() + inputs.len()) as u32;
        let (instructions, origins) = (Vec::new(), Vec::new());
        Ok(Compiler { graph, constants, instructions, origins, registers, known: FxHashMap::default(), first })
    }

    fn at(&self, e: Expr) -> u32 {
        self.registers[e.index()]
    }

    fn lower(&mut self, e: Expr) {
        let register = match Shape::of(self.graph, e) {
            Shape::Leaf => return,
            Shape::Plain => self.plain(e),
            Shape::Difference(a, b) => self.emit(e, Operation::Sub, self.at(a), self.at(b), 0),
            Shape::Negative(a) => self.emit(e, Operation::Neg, self.at(a), 0, 0),
            Shape::Power(a, n) => self.power(e, self.at(a), n),
            Shape::Quotient(a, b, n) => {
                let below = self.power(e, self.at(b), n);
                self.emit(e, Operation::Div, self.at(a), below, 0)
            }
        };
        self.registers[e.index()] = register;
    }

    fn plain(&mut self, e: Expr) -> u32 {
        match self.graph.node(e) {
            Node::Add(a, b) => self.emit(e, Operation::Add, self.at(a), self.at(b), 0),
            Node::Mul(a, b) => self.emit(e, Operation::Mul, self.at(a), self.at(b), 0),
            Node::Pow(a, b) => self.emit(e, Operation::Pow, self.at(a), self.at(b), 0),
            Node::Apply(f, x) => self.emit(e, Operation::Apply(f), self.at(x), 0, 0),
            Node::Apply2(f, x, y) => self.emit(e, Operation::Apply2(f), self.at(x), self.at(y), 0),
            Node::Select { comparison, left, right, then, otherwise } => {
                let holds = self.emit_once(e, Operation::Compare(comparison), self.at(left), self.at(right));
                self.emit(e, Operation::Select, holds, self.at(then), self.at(otherwise))
            }
            Node::Number(_) | Node::Pi | Node::Symbol(_) => unreachable!("leaves have registers"),
        }
    }

    /// x^(n/2) for n > 0, or x⁰ = 1.
    fn power(&mut self, e: Expr, x: u32, n: i64) -> u32 {
        if n % 2 == 0 {
            return self.product(e, x, n / 2);
        }
        let root = self.emit_once(e, Operation::Apply(Function::Sqrt), x, 0);
        self.product(e, root, n)
    }

    /// xⁿ by repeated squaring.
    fn product(&mut self, e: Expr, x: u32, mut n: i64) -> u32 {
        let (mut square, mut result) = (x, None);
        while n > 0 {
            if n % 2 == 1 {
                result = Some(result.map_or(square, |r| self.emit_once(e, Operation::Mul, r, square)));
            }
            n /= 2;
            if n > 0 {
                square = self.emit_once(e, Operation::Mul, square, square);
            }
        }
        result.unwrap_or_else(|| self.at(Expr::ONE))
    }

    /// The register of a new instruction.
    fn emit(&mut self, origin: Expr, operation: Operation, a: u32, b: u32, c: u32) -> u32 {
        self.instructions.push(Instruction { operation, a, b, c });
        self.origins.push(origin);
        self.first + self.instructions.len() as u32 - 1
    }

    /// The register of an instruction that may have been emitted for another expression.
    fn emit_once(&mut self, origin: Expr, operation: Operation, a: u32, b: u32) -> u32 {
        let instruction = Instruction { operation, a, b, c: 0 };
        if let Some(&register) = self.known.get(&instruction) {
            return register;
        }
        let register = self.emit(origin, operation, a, b, 0);
        self.known.insert(instruction, register);
        register
    }

    fn finish(self, n_inputs: usize, outputs: &[Expr]) -> Program {
        let outputs = outputs.iter().map(|&e| self.at(e)).collect();
        let Compiler { constants, instructions, origins, .. } = self;
        Program { constants, n_inputs, instructions, origins, outputs }
    }
}
