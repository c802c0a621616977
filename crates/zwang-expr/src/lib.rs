//! Symbols: from expressions and their derivatives to programs that evaluate them.
//!
//! $$ p = \frac{\partial T}{\partial \dot q}, \qquad M = \frac{\partial p}{\partial \dot q} $$
//!
//! An expression is a handle into a [`Graph`], which stores each distinct expression once. Constants are exact. A few
//! simplifications are made while expressions are built. A [`Graph::gradient`] costs a small multiple of the expression
//! itself. A [`Program`] evaluates many expressions and computes common subexpressions once. A [`Batch`] does so for
//! many states at once and gives the same bits; [`Program::enclose`] bounds the values over a box of [`Interval`]s. The crate contains no mechanics; a symbol may have a rate, which
//! [`Graph::rate`] uses.
//!
//! ```
//! use zwang_expr::{Expr, Graph, Program};
//!
//! // T = m/2 v²
//! let mut g = Graph::new();
//! let [m, v] = ["m", "v"].map(|name| g.symbol(name, name));
//! let square = g.powi(v, 2);
//! let energy = g.product(&[Expr::HALF, m, square]);
//! assert_eq!(g.text(energy), "m*v^2/2");
//!
//! // p = ∂T/∂v
//! let momentum = g.derivative(energy, v);
//! assert_eq!(g.text(momentum), "m*v");
//!
//! let program = Program::new(&g, &[m, v], &[energy, momentum])?;
//! let mut outputs = [0.0; 2];
//! program.run(&[2.0, 3.0], &mut program.workspace(), &mut outputs);
//! assert_eq!(outputs, [9.0, 6.0]);
//! # Ok::<(), zwang_expr::UnknownSymbol>(())
//! ```
//!
//! No function here recurses over the depth of an expression. Operands are older than the expressions built from them,
//! so the order of the handles is an order of evaluation.

mod algebra;
mod angles;
mod batch;
mod differentiate;
mod enclose;
mod graph;
mod interpret;
mod interval;
mod latex;
mod node;
mod number;
mod print;
mod program;
pub mod real;
mod scratch;
mod shorten;
mod simd_dispatch;
mod simplify;
mod source;
mod substitute;
mod table;
mod terms;
pub mod trig;

pub use algebra::{Algebra, Limits};
pub use batch::Batch;
pub use differentiate::NoRate;
pub use graph::Graph;
pub use interpret::NonFinite;
pub use interval::Interval;
pub use node::{Comparison, Expr, Function, Function2, Node, NumberId, Operands, SymbolId, TableId};
pub use number::Number;
pub use program::assemble::{Assembler, Register};
pub use program::{Instruction, Operation, Program, UnknownSymbol};
pub use source::{Notation, Piece, Unwritable};
pub use table::{Table, TableError};
