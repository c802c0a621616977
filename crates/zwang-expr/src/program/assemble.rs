//! The assembly of programs: expressions are lowered to instructions, and arithmetic is done on their results.

use crate::graph::Graph;
use crate::node::{Expr, Function, Function2, Node};
use crate::program::{Instruction, Operation, Program, UnknownSymbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest integer power computed by multiplications; above it, a general power is faster.
const MAX_PRODUCT_POWER: i64 = 64;

/// A value of a program under assembly.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Register(u32);

impl Register {
    /// The number of the first constant until the program is finished.
    const CONSTANTS: u32 = 1 << 31;
}

/// Emits instructions and records the register of each expression.
///
/// Expressions and plain arithmetic mix freely: a computed register can be bound to a symbol of expressions lowered
/// later.
///
/// ```
/// use zwang_expr::{Assembler, Function, Graph};
///
/// // x = sin(y)/y, then x² + 1 with x for z
/// let mut g = Graph::new();
/// let [y, z] = ["y", "z"].map(|name| g.symbol(name, name));
/// let sine = g.apply(Function::Sin, y);
/// let square = g.powi(z, 2);
/// let mut assembler = Assembler::new(&g, &[y]);
/// let [sine, y] = assembler.lower(&[sine, y])?[..] else { unreachable!() };
/// let x = assembler.div(sine, y);
/// assembler.bind(z, x);
/// let square = assembler.lower(&[square])?[0];
/// let one = assembler.constant(1.0);
/// let sum = assembler.add(square, one);
/// let program = assembler.finish(&[sum]);
/// let mut out = [0.0];
/// program.run(&[0.5], &mut program.workspace(), &mut out);
/// assert!((out[0] - (0.5f64.sin() / 0.5).powi(2) - 1.0).abs() < 1e-15);
/// # Ok::<(), zwang_expr::UnknownSymbol>(())
/// ```
pub struct Assembler<'g> {
    graph: &'g Graph,
    n_inputs: usize,
    constants: Vec<f64>,
    /// index of each constant, by its bits
    places: FxHashMap<u64, u32>,
    instructions: Vec<Instruction>,
    origins: Vec<Expr>,
    /// register of each lowered expression; a map, so that a small program of a large graph is cheap
    registers: FxHashMap<Expr, Register>,
    /// register of each instruction that may be reused: powers, comparisons and plain arithmetic, so that x² is
    /// computed once for x⁴ and 1/x²
    known: FxHashMap<Instruction, Register>,
}

impl<'g> Assembler<'g> {
    /// Starts a program whose inputs are these symbols.
    pub fn new(graph: &'g Graph, inputs: &[Expr]) -> Assembler<'g> {
        let mut assembler = Assembler {
            graph,
            n_inputs: inputs.len(),
            constants: Vec::new(),
            places: FxHashMap::default(),
            instructions: Vec::new(),
            origins: Vec::new(),
            registers: FxHashMap::default(),
            known: FxHashMap::default(),
        };
        for (k, &input) in inputs.iter().enumerate() {
            assembler.bind(input, Register(k as u32));
        }
        assembler
    }

    /// Starts a program of `n_inputs` inputs that are not bound to symbols, and returns their registers.
    pub fn of_inputs(graph: &'g Graph, n_inputs: usize) -> (Assembler<'g>, Vec<Register>) {
        let assembler = Assembler { n_inputs, ..Assembler::new(graph, &[]) };
        (assembler, (0..n_inputs as u32).map(Register).collect())
    }

    /// The outputs of another program of the same graph for these inputs; instructions already emitted are reused.
    pub fn inline(&mut self, program: &Program, inputs: &[Register]) -> Vec<Register> {
        assert_eq!(inputs.len(), program.n_inputs, "number of inputs");
        let mut place: Vec<Register> = program.constants.iter().map(|&value| self.constant(value)).collect();
        place.extend(inputs);
        for (&Instruction { operation, a, b, c }, &origin) in program.instructions.iter().zip(&program.origins) {
            let [a, b, c] = [a, b, c].map(|r| place[r as usize]);
            place.push(self.emit_known(origin, operation, a, b, c));
        }
        program.outputs.iter().map(|&r| place[r as usize]).collect()
    }

    /// Binds the register to the symbol for all expressions lowered from now on.
    pub fn bind(&mut self, symbol: Expr, register: Register) {
        assert!(self.graph.is_symbol(symbol), "only a symbol can be bound");
        self.registers.insert(symbol, register);
    }

    /// Binds registers to symbols that were bound before; expressions that contain them are lowered again when needed.
    pub fn rebind(&mut self, pairs: &[(Expr, Register)]) {
        let mut old: FxHashSet<Expr> = pairs.iter().map(|(symbol, _)| *symbol).collect();
        let mut lowered: Vec<Expr> = self.registers.keys().copied().collect();
        // operands come before the expressions built from them
        lowered.sort_unstable();
        for e in lowered {
            if old.contains(&e) || self.graph.node(e).operands().iter().any(|x| old.contains(x)) {
                old.insert(e);
                self.registers.remove(&e);
            }
        }
        pairs.iter().for_each(|&(symbol, register)| self.bind(symbol, register));
    }

    /// The values of expressions; fails if one contains a symbol that is not bound.
    pub fn lower(&mut self, exprs: &[Expr]) -> Result<Vec<Register>, UnknownSymbol> {
        for e in self.missing(exprs) {
            let register = self.lower_one(e)?;
            self.registers.insert(e, register);
        }
        Ok(exprs.iter().map(|&e| self.at(e)).collect())
    }

    /// The expressions that must be lowered for these, operands first.
    fn missing(&self, exprs: &[Expr]) -> Vec<Expr> {
        let mut seen = FxHashSet::default();
        let mut missing = Vec::new();
        let mut stack = exprs.to_vec();
        while let Some(e) = stack.pop() {
            if !self.registers.contains_key(&e) && seen.insert(e) {
                missing.push(e);
                InstructionForm::of(self.graph, e).needs(&self.graph.node(e), |x| stack.push(x));
            }
        }
        missing.sort_unstable();
        missing
    }

    fn at(&self, e: Expr) -> Register {
        self.registers[&e]
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> Register {
        let constants = &mut self.constants;
        let place = *self.places.entry(value.to_bits()).or_insert_with(|| {
            constants.push(value);
            constants.len() as u32 - 1
        });
        Register(Register::CONSTANTS + place)
    }

    /// a + b.
    pub fn add(&mut self, a: Register, b: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Add, a, b)
    }

    /// a - b.
    pub fn sub(&mut self, a: Register, b: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Sub, a, b)
    }

    /// a b.
    pub fn mul(&mut self, a: Register, b: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Mul, a, b)
    }

    /// a b + c, rounded once.
    pub fn mul_add(&mut self, a: Register, b: Register, c: Register) -> Register {
        self.emit(Expr::NONE, Operation::MulAdd, a, b, c)
    }

    /// c - a b, rounded once.
    pub fn mul_sub(&mut self, a: Register, b: Register, c: Register) -> Register {
        self.emit(Expr::NONE, Operation::MulSub, a, b, c)
    }

    /// a / b.
    pub fn div(&mut self, a: Register, b: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Div, a, b)
    }

    /// -a.
    pub fn neg(&mut self, a: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Neg, a, a)
    }

    /// The smaller of a and b; NaN if a or b is NaN.
    pub fn min(&mut self, a: Register, b: Register) -> Register {
        self.emit_once(Expr::NONE, Operation::Apply2(Function2::Min), a, b)
    }

    /// The number of instructions emitted so far.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// `true` if no instruction has been emitted.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    fn lower_one(&mut self, e: Expr) -> Result<Register, UnknownSymbol> {
        Ok(match InstructionForm::of(self.graph, e) {
            InstructionForm::Leaf => match self.graph.constant_value(e).filter(|value| value.is_finite()) {
                Some(value) => self.constant(value),
                None => return Err(UnknownSymbol(e)),
            },
            InstructionForm::Plain => self.plain(e),
            InstructionForm::Difference(a, b) => self.emit(e, Operation::Sub, self.at(a), self.at(b), self.at(b)),
            InstructionForm::Negative(a) => self.emit(e, Operation::Neg, self.at(a), self.at(a), self.at(a)),
            InstructionForm::Power(a, n) => self.power(e, self.at(a), n),
            InstructionForm::Quotient(a, b, n) => {
                let below = self.power(e, self.at(b), n);
                self.emit(e, Operation::Div, self.at(a), below, below)
            }
        })
    }

    fn plain(&mut self, e: Expr) -> Register {
        let two = |s: &mut Self, operation, a, b| s.emit(e, operation, s.at(a), s.at(b), s.at(b));
        match self.graph.node(e) {
            Node::Add(a, b) => two(self, Operation::Add, a, b),
            Node::Mul(a, b) => two(self, Operation::Mul, a, b),
            Node::Pow(a, b) => two(self, Operation::Pow, a, b),
            Node::Apply(f, x) => two(self, Operation::Apply(f), x, x),
            Node::Look(table, x) => two(self, Operation::Look(table), x, x),
            Node::Apply2(f, x, y) => two(self, Operation::Apply2(f), x, y),
            Node::Select { comparison, left, right, then, otherwise } => {
                let holds = self.emit_once(e, Operation::Compare(comparison), self.at(left), self.at(right));
                self.emit(e, Operation::Select, holds, self.at(then), self.at(otherwise))
            }
            Node::Number(_) | Node::Pi | Node::Symbol(_) => unreachable!("leaves have registers"),
        }
    }

    /// x^(n/2) for n > 0, or x⁰ = 1.
    fn power(&mut self, e: Expr, x: Register, n: i64) -> Register {
        if n % 2 == 0 {
            return self.product(e, x, n / 2);
        }
        let root = self.emit_once(e, Operation::Apply(Function::Sqrt), x, x);
        self.product(e, root, n)
    }

    /// xⁿ by repeated squaring.
    fn product(&mut self, e: Expr, x: Register, mut n: i64) -> Register {
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
        result.unwrap_or_else(|| self.constant(1.0))
    }

    /// The register of a new instruction.
    fn emit(&mut self, origin: Expr, operation: Operation, a: Register, b: Register, c: Register) -> Register {
        self.instructions.push(Instruction { operation, a: a.0, b: b.0, c: c.0 });
        self.origins.push(origin);
        Register((self.n_inputs + self.instructions.len()) as u32 - 1)
    }

    /// The register of an instruction; an equal one emitted earlier is reused.
    fn emit_once(&mut self, origin: Expr, operation: Operation, a: Register, b: Register) -> Register {
        self.emit_known(origin, operation, a, b, b)
    }

    fn emit_known(&mut self, origin: Expr, operation: Operation, a: Register, b: Register, c: Register) -> Register {
        let instruction = Instruction { operation, a: a.0, b: b.0, c: c.0 };
        if let Some(&register) = self.known.get(&instruction) {
            return register;
        }
        let register = self.emit(origin, operation, a, b, c);
        self.known.insert(instruction, register);
        register
    }

    /// The program whose outputs are these values; unneeded instructions are removed.
    pub fn finish(self, outputs: &[Register]) -> Program {
        let Assembler { graph, constants, n_inputs, mut instructions, mut origins, .. } = self;
        let (n_constants, n_ready) = (constants.len() as u32, n_inputs as u32);
        let mut is_needed = vec![false; instructions.len()];
        let need = |is_needed: &mut [bool], r: u32| {
            if (n_ready..Register::CONSTANTS).contains(&r) {
                is_needed[(r - n_ready) as usize] = true;
            }
        };
        outputs.iter().for_each(|r| need(&mut is_needed, r.0));
        for k in (0..instructions.len()).rev() {
            if is_needed[k] {
                instructions[k].operands().for_each(|r| need(&mut is_needed, r));
            }
        }
        // final registers: constants, inputs, instructions
        let mut place = Vec::with_capacity(instructions.len());
        let mut next = n_constants + n_ready;
        for &needed in &is_needed {
            place.push(next);
            next += u32::from(needed);
        }
        let number = |r: u32| match r.checked_sub(Register::CONSTANTS) {
            Some(constant) => constant,
            None if r < n_ready => n_constants + r,
            None => place[(r - n_ready) as usize],
        };
        for Instruction { a, b, c, .. } in &mut instructions {
            (*a, *b, *c) = (number(*a), number(*b), number(*c));
        }
        let mut needed = is_needed.iter();
        instructions.retain(|_| *needed.next().unwrap_or(&true));
        let mut needed = is_needed.iter();
        origins.retain(|_| *needed.next().unwrap_or(&true));
        let outputs = outputs.iter().map(|r| number(r.0)).collect();
        Program { constants, n_inputs, instructions, origins, outputs, tables: graph.tables.clone() }
    }
}

/// The form in which a node becomes one instruction, apart from powers.
enum InstructionForm {
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

impl InstructionForm {
    fn of(graph: &Graph, e: Expr) -> InstructionForm {
        if is_constant(graph, e) {
            return InstructionForm::Leaf;
        }
        match graph.node(e) {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => InstructionForm::Leaf,
            // a + (-1) b = a - b
            Node::Add(a, b) => match (negated(graph, a), negated(graph, b)) {
                (_, Some(b)) => InstructionForm::Difference(a, b),
                (Some(a), None) => InstructionForm::Difference(b, a),
                (None, None) => InstructionForm::Plain,
            },
            Node::Mul(Expr::MINUS_ONE, b) => InstructionForm::Negative(b),
            // a b^-n = a / b^n
            Node::Mul(a, b) => match (reciprocal(graph, a), reciprocal(graph, b)) {
                (_, Some((b, n))) => InstructionForm::Quotient(a, b, n),
                (Some((a, n)), None) => InstructionForm::Quotient(b, a, n),
                (None, None) => InstructionForm::Plain,
            },
            Node::Pow(a, n) => match halves(graph, n) {
                Some(n) if n < 0 => InstructionForm::Quotient(Expr::ONE, a, -n),
                Some(n) => InstructionForm::Power(a, n),
                None => InstructionForm::Plain,
            },
            _ => InstructionForm::Plain,
        }
    }

    /// Calls `need` for the expressions that the instruction reads.
    fn needs(&self, node: &Node, mut need: impl FnMut(Expr)) {
        match *self {
            InstructionForm::Leaf => {}
            InstructionForm::Plain => node.operands().iter().for_each(|&x| need(x)),
            InstructionForm::Difference(a, b) | InstructionForm::Quotient(a, b, _) => {
                need(a);
                need(b);
            }
            InstructionForm::Negative(a) | InstructionForm::Power(a, _) => need(a),
        }
    }
}

/// `true` if `e` is a finite constant; other constants stay in the program, so that running it finds them.
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
