//! The graph stores each distinct expression once and identifies it by a small copyable handle.
//!
//! Nodes are created after their operands, so the order of the handles is topological.

use crate::node::{Expr, Function, Function2, Node, NumberId, SymbolId, TableId};
use crate::number::Number;
use crate::real;
use crate::scratch::Scratch;
use crate::table::Table;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Facts about a node that follow from its operands, one bit each.
pub(crate) mod flag {
    /// free of symbols
    pub const CONSTANT: u8 = 1;
    /// ≥ 0 wherever it is defined
    pub const NONNEGATIVE: u8 = 2;
    /// contains a constant that is not finite, such as 0^-1
    pub const SINGULAR: u8 = 4;
}

/// An entry of the hash table; comparing hashes first avoids most comparisons of nodes.
#[derive(Copy, Clone, Debug)]
struct Slot {
    hash: u32,
    /// `Expr::NONE` if the slot is empty
    expr: Expr,
}

impl Slot {
    const EMPTY: Slot = Slot { hash: 0, expr: Expr::NONE };
}

#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub latex: String,
    pub rate: Option<Expr>,
}

/// A set of expressions, each stored once.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    flags: Vec<u8>,
    /// hash table over `nodes`, with open addressing
    table: Vec<Slot>,
    pub(crate) numbers: Vec<Number>,
    number_ids: FxHashMap<Number, Expr>,
    /// the values of compound constants such as sqrt(2)
    constants: FxHashMap<Expr, f64>,
    pub(crate) symbols: Vec<Symbol>,
    /// tables, including the derivatives computed so far
    pub(crate) tables: Vec<Arc<Table>>,
    pub(crate) slopes: Vec<Option<TableId>>,
    /// memo of `rate`; `Expr::NONE` for a rate not computed yet
    pub(crate) rates: Vec<Expr>,
    pub(crate) scratch: Scratch,
    /// the largest number of nodes
    most: usize,
    /// `true` once a node was refused
    is_full: bool,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// A graph that contains only the numbers 0, 1, -1 and 1/2.
    pub fn new() -> Graph {
        let mut graph = Graph {
            nodes: Vec::new(),
            flags: Vec::new(),
            table: vec![Slot::EMPTY; 64],
            numbers: Vec::new(),
            number_ids: FxHashMap::default(),
            constants: FxHashMap::default(),
            symbols: Vec::new(),
            tables: Vec::new(),
            slopes: Vec::new(),
            rates: Vec::new(),
            scratch: Scratch::default(),
            most: usize::MAX,
            is_full: false,
        };
        for (value, expected) in [
            (Number::ZERO, Expr::ZERO),
            (Number::ONE, Expr::ONE),
            (Number::MINUS_ONE, Expr::MINUS_ONE),
            (Number::ratio(1, 2), Expr::HALF),
        ] {
            let made = graph.exact(value);
            assert_eq!(made, expected);
        }
        graph
    }

    /// The number of expressions in the graph.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Limits the number of expressions. Beyond the limit nothing but symbols is stored: every new expression is 0, and
    /// [`Graph::is_full`] tells that what was built since then has no meaning.
    pub fn set_limit(&mut self, most: usize) {
        self.most = most;
    }

    /// `true` once an expression was refused; the graph and everything built with it must be dropped.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) -> Expr {
        self.exact(Number::integer(value))
    }

    /// The fraction `numerator / denominator`; the denominator must not be zero.
    pub fn rational(&mut self, numerator: i64, denominator: i64) -> Expr {
        self.exact(Number::ratio(numerator, denominator))
    }

    /// The exact value of the decimal `text`, such as `9.81`, `1e-3` or `2.5E+7`; see [`Number::from_decimal`].
    pub fn decimal(&mut self, text: &str) -> Option<Expr> {
        Number::from_decimal(text).map(|value| self.exact(value))
    }

    /// An exact number.
    pub fn exact(&mut self, value: Number) -> Expr {
        if let Some(&e) = self.number_ids.get(&value) {
            return e;
        }
        if self.nodes.len() >= self.most {
            self.is_full = true;
            return Expr::ZERO;
        }
        let id = NumberId(self.numbers.len() as u32);
        self.numbers.push(value.clone());
        let e = self.intern(Node::Number(id));
        self.number_ids.insert(value, e);
        e
    }

    /// The circle constant.
    pub fn pi(&mut self) -> Expr {
        self.intern(Node::Pi)
    }

    /// A new symbol, distinct from all existing ones; `name` and `latex` are printed unchanged.
    pub fn symbol(&mut self, name: &str, latex: &str) -> Expr {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol { name: name.to_string(), latex: latex.to_string(), rate: None });
        self.intern(Node::Symbol(id))
    }

    /// Adds a table, or returns the existing one if it is equal; [`look`](Graph::look) makes an expression of it.
    pub fn add_table(&mut self, table: Table) -> TableId {
        if let Some(at) = self.tables.iter().position(|known| **known == table) {
            return TableId(at as u32);
        }
        self.tables.push(Arc::new(table));
        self.slopes.push(None);
        TableId(self.tables.len() as u32 - 1)
    }

    /// The table with this handle.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.index()]
    }

    /// The value of a table at an argument, as an expression.
    pub fn look(&mut self, table: TableId, argument: Expr) -> Expr {
        self.intern(Node::Look(table, argument))
    }

    /// The derivative of a table with respect to its argument.
    pub fn slope_of_table(&mut self, table: TableId) -> TableId {
        if let Some(known) = self.slopes[table.index()] {
            return known;
        }
        let slope = self.add_table(self.tables[table.index()].derivative());
        self.slopes[table.index()] = Some(slope);
        slope
    }

    /// Sets the time derivative of a symbol, which [`Graph::rate`] needs.
    pub fn set_rate(&mut self, symbol: Expr, rate: Expr) {
        let id = self.symbol_id(symbol);
        let before = self.symbols[id].rate.replace(rate);
        // rates memoised before the first definition of this one do not depend on it
        if before.is_some_and(|before| before != rate) {
            self.rates.clear();
        }
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Expr) -> &str {
        &self.symbols[self.symbol_id(symbol)].name
    }

    fn symbol_id(&self, symbol: Expr) -> usize {
        match self.node(symbol) {
            Node::Symbol(id) => id.0 as usize,
            other => panic!("{other:?} is not a symbol"),
        }
    }

    /// The node with this handle.
    pub fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    /// `true` if `e` is a symbol.
    pub fn is_symbol(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Symbol(_))
    }

    /// The exact value of `e`, or `None` if it is not a number.
    pub fn number(&self, e: Expr) -> Option<&Number> {
        match self.node(e) {
            Node::Number(id) => Some(&self.numbers[id.0 as usize]),
            _ => None,
        }
    }

    /// The exact number with this handle.
    pub fn number_at(&self, id: NumberId) -> &Number {
        &self.numbers[id.0 as usize]
    }

    /// The value of a number or of π, otherwise `None`.
    pub fn number_value(&self, e: Expr) -> Option<f64> {
        match self.node(e) {
            Node::Number(id) => Some(self.numbers[id.0 as usize].to_f64()),
            Node::Pi => Some(std::f64::consts::PI),
            _ => None,
        }
    }

    /// The value of an expression without symbols, which need not be finite; `None` if it contains symbols.
    pub fn constant_value(&self, e: Expr) -> Option<f64> {
        if !self.has(e, flag::CONSTANT) {
            return None;
        }
        self.number_value(e).or_else(|| self.constants.get(&e).copied())
    }

    /// `true` if all facts in `bits` are known of `e`.
    pub(crate) fn has(&self, e: Expr, bits: u8) -> bool {
        self.flags[e.index()] & bits == bits
    }

    /// The unique handle of `node`, which must already be in the form that `simplify` produces.
    pub(crate) fn intern(&mut self, node: Node) -> Expr {
        let hash = node.hash();
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table[at];
            if slot.expr == Expr::NONE {
                return self.insert(Slot { hash, expr: Expr(self.nodes.len() as u32) }, at, node);
            }
            if slot.hash == hash && self.nodes[slot.expr.index()] == node {
                return slot.expr;
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, slot: Slot, at: usize, node: Node) -> Expr {
        if self.nodes.len() >= self.most && !matches!(node, Node::Symbol(_)) {
            self.is_full = true;
            return Expr::ZERO;
        }
        assert!(slot.expr.0 < u32::MAX - 1, "the graph is full");
        self.table[at] = slot;
        self.nodes.push(node);
        let flags = self.facts(slot.expr, node);
        self.flags.push(flags);
        if 4 * self.nodes.len() > 3 * self.table.len() {
            self.grow();
        }
        slot.expr
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        let mut table = vec![Slot::EMPTY; mask + 1];
        for &slot in self.table.iter().filter(|slot| slot.expr != Expr::NONE) {
            let mut at = slot.hash as usize & mask;
            while table[at].expr != Expr::NONE {
                at = (at + 1) & mask;
            }
            table[at] = slot;
        }
        self.table = table;
    }

    /// The flags of a new node, from those of its operands; the value of a new constant is stored in `constants`.
    fn facts(&mut self, e: Expr, node: Node) -> u8 {
        let operands = node.operands();
        let all = operands.iter().fold(u8::MAX, |bits, x| bits & self.flags[x.index()]);
        let any = operands.iter().fold(0, |bits, x| bits | self.flags[x.index()]);
        let mut flags = any & flag::SINGULAR;
        if self.is_nonnegative(node, all) {
            flags |= flag::NONNEGATIVE;
        }
        match node {
            Node::Symbol(_) => {}
            Node::Number(_) | Node::Pi => flags |= flag::CONSTANT,
            _ if all & flag::CONSTANT != 0 => {
                let value = evaluate(self, node, |x| self.constant_value(x).unwrap_or(f64::NAN));
                self.constants.insert(e, value);
                flags |= flag::CONSTANT;
                if !value.is_finite() {
                    flags |= flag::SINGULAR;
                }
            }
            _ => {}
        }
        flags
    }

    /// `true` if the node is known to be ≥ 0 wherever it is defined; `all` has the facts common to all operands.
    fn is_nonnegative(&self, node: Node, all: u8) -> bool {
        let known = |x: Expr| self.has(x, flag::NONNEGATIVE);
        match node {
            Node::Number(id) => !self.numbers[id.0 as usize].is_negative(),
            Node::Pi => true,
            Node::Symbol(_) | Node::Look(..) => false,
            Node::Add(..) | Node::Mul(..) => all & flag::NONNEGATIVE != 0,
            // even powers; non-integer powers are defined for u ≥ 0 only
            Node::Pow(u, n) => known(u) || self.number(n).is_some_and(|n| n.is_even() || !n.is_integer()),
            Node::Apply(f, _) => matches!(f, Function::Exp | Function::Cosh | Function::Abs | Function::Acos),
            Node::Apply2(Function2::Atan2, ..) => false,
            Node::Apply2(Function2::Min, ..) => all & flag::NONNEGATIVE != 0,
            Node::Apply2(Function2::Max, x, y) => known(x) || known(y),
            Node::Select { then, otherwise, .. } => known(then) && known(otherwise),
        }
    }
}

/// The value of one node; `of` returns the values of its operands.
pub(crate) fn evaluate(graph: &Graph, node: Node, of: impl Fn(Expr) -> f64) -> f64 {
    match node {
        Node::Number(id) => graph.number_at(id).to_f64(),
        Node::Pi => std::f64::consts::PI,
        Node::Symbol(_) => f64::NAN,
        Node::Add(a, b) => of(a) + of(b),
        Node::Mul(a, b) => of(a) * of(b),
        Node::Pow(a, b) => real::pow(of(a), of(b)),
        Node::Apply(f, x) => real::apply(f, of(x)),
        Node::Look(table, x) => graph.table(table).value(of(x)),
        Node::Apply2(f, x, y) => real::apply2(f, of(x), of(y)),
        Node::Select { comparison, left, right, then, otherwise } => {
            real::select(comparison, of(left), of(right), of(then), of(otherwise))
        }
    }
}
