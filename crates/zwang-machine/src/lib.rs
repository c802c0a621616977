//! Programs as machine code of this processor.
//!
//! A [`Program`](zwang_expr::Program) is straight-line code, so its machine code is too: no loops, no branches, every value
//! in a register or in one flat array. The results are those of the interpreter, bit by bit: nothing is contracted or
//! reordered, and functions are the interpreter's own.
//!
//! ```
//! use zwang_expr::{Graph, Program};
//! use zwang_machine::{Effort, MachineCode};
//!
//! // x² y
//! let mut g = Graph::new();
//! let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
//! let square = g.powi(x, 2);
//! let e = g.mul(square, y);
//! let program = Program::new(&g, &[x, y], &[e])?;
//! if let Some(code) = MachineCode::new(&program, Effort::Quick) {
//!     let mut outputs = [0.0];
//!     code.run(&[3.0, 2.0], &mut code.workspace(), &mut outputs);
//!     assert_eq!(outputs, [18.0]);
//! }
//! # Ok::<(), zwang_expr::UnknownSymbol>(())
//! ```

mod code;
mod emit;
mod functions;
mod pair;
mod schedule;

pub use code::{Effort, Layout, MachineCode};
