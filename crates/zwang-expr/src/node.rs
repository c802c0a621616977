//! The nodes of expressions and the handles to them.

#[allow(unused_imports)] // for the links of the documentation
use crate::Graph;

/// A handle to an expression in a [`Graph`]; equal handles are equal expressions.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// The number 0, the same in every graph.
    pub const ZERO: Expr = Expr(0);
    /// The number 1, the same in every graph.
    pub const ONE: Expr = Expr(1);
    /// The number -1, the same in every graph.
    pub const MINUS_ONE: Expr = Expr(2);
    /// The number 1/2, the same in every graph.
    pub const HALF: Expr = Expr(3);

    /// No expression; marks empty entries of scratch arrays.
    pub(crate) const NONE: Expr = Expr(u32::MAX);

    /// The index in the graph; operands have smaller indices than the expressions built from them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A handle to an exact number of a [`Graph`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NumberId(pub(crate) u32);

/// A handle to a symbol of a [`Graph`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub(crate) u32);

/// A handle to a table of a [`Graph`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableId(pub(crate) u32);

impl TableId {
    /// The index of the table in its graph and in the programs compiled from that graph.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An elementary function of one argument.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    /// Stored as the power 1/2, so that no node applies it.
    Sqrt,
    Abs,
    Sign,
}

impl Function {
    /// Every function, in the order of the language's table.
    pub const ALL: [Function; 14] = {
        use Function::*;
        [Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Sqrt, Abs, Sign]
    };

    /// The name in text: `sin`, `log`, ...
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 14] =
            ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "sign"];
        NAMES[self as usize]
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// An elementary function of two arguments.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Function2 {
    /// `atan2(y, x)`: the angle of the point (x, y), in (-π, π]; -0 counts as 0.
    Atan2,
    Min,
    Max,
}

impl Function2 {
    /// Every function of two arguments.
    pub const ALL: [Function2; 3] = [Function2::Atan2, Function2::Min, Function2::Max];

    /// The name in text: `atan2`, `min`, `max`.
    pub fn name(self) -> &'static str {
        ["atan2", "min", "max"][self as usize]
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Function2> {
        Function2::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// An order relation between two values.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Every comparison.
    pub const ALL: [Comparison; 4] = {
        use Comparison::*;
        [Less, LessOrEqual, Greater, GreaterOrEqual]
    };

    /// The symbol in text: `<`, `<=`, `>`, `>=`.
    pub fn symbol(self) -> &'static str {
        ["<", "<=", ">", ">="][self as usize]
    }

    /// `true` if the relation holds between `left` and `right`.
    pub fn holds<T: PartialOrd + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }
}

/// One operation of an expression, with handles to its operands.
///
/// Division is `a * b^-1` and subtraction `a + (-1)*b`; printing and programs show them as `/` and `-`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// An exact number.
    Number(NumberId),
    /// The circle constant.
    Pi,
    /// A free symbol.
    Symbol(SymbolId),
    /// A sum; a number stands first.
    Add(Expr, Expr),
    /// A product; a number stands first.
    Mul(Expr, Expr),
    /// A power.
    Pow(Expr, Expr),
    /// A function of one argument.
    Apply(Function, Expr),
    /// The value of a table at an argument.
    Look(TableId, Expr),
    /// A function of two arguments.
    Apply2(Function2, Expr, Expr),
    /// `if left comparison right then then else otherwise`.
    #[allow(missing_docs)]
    Select { comparison: Comparison, left: Expr, right: Expr, then: Expr, otherwise: Expr },
}

impl Node {
    /// The operands, in order.
    pub fn operands(&self) -> Operands {
        let (list, len) = match *self {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => ([Expr::NONE; 4], 0),
            Node::Add(a, b) | Node::Mul(a, b) | Node::Pow(a, b) | Node::Apply2(_, a, b) => {
                ([a, b, Expr::NONE, Expr::NONE], 2)
            }
            Node::Apply(_, x) | Node::Look(_, x) => ([x, Expr::NONE, Expr::NONE, Expr::NONE], 1),
            Node::Select { left, right, then, otherwise, .. } => ([left, right, then, otherwise], 4),
        };
        Operands { list, len }
    }

    /// A well mixed hash of the node.
    pub(crate) fn hash(&self) -> u32 {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        let pair =
            |tag: u64, a: Expr, b: Expr| ((a.0 as u64) << 32 | b.0 as u64).wrapping_mul(K) ^ tag.wrapping_mul(K >> 5);
        let mixed = match *self {
            Node::Number(id) => pair(1, Expr(id.0), Expr::ZERO),
            Node::Pi => pair(2, Expr::ZERO, Expr::ZERO),
            Node::Symbol(id) => pair(3, Expr(id.0), Expr::ZERO),
            Node::Add(a, b) => pair(4, a, b),
            Node::Mul(a, b) => pair(5, a, b),
            Node::Pow(a, b) => pair(6, a, b),
            Node::Apply(f, x) => pair(8 + f as u64, x, Expr::ZERO),
            Node::Look(table, x) => pair(40, x, Expr(table.0)),
            Node::Apply2(f, x, y) => pair(32 + f as u64, x, y),
            Node::Select { comparison, left, right, then, otherwise } => {
                pair(64 + comparison as u64, left, right).rotate_left(29).wrapping_mul(K) ^ pair(7, then, otherwise)
            }
        };
        ((mixed ^ (mixed >> 32)).wrapping_mul(K) >> 32) as u32
    }
}

/// The operands of a [`Node`], at most four.
#[derive(Copy, Clone, Debug)]
pub struct Operands {
    list: [Expr; 4],
    len: usize,
}

impl std::ops::Deref for Operands {
    type Target = [Expr];

    fn deref(&self) -> &[Expr] {
        &self.list[..self.len]
    }
}
