//! Machine code of programs for this processor.
//!
//! A [`Program`](zwang_expr::Program) is straight-line code, and so is its machine code: no loops, no branches, every
//! value in a register or in one flat array. The results have the bits of the interpreter: no operation is contracted
//! or reordered, and the functions are those of the interpreter.
//!
//! ```
//! use zwang_expr::{Graph, Program};
//! use zwang_machine::{OptLevel, MachineCode};
//!
//! // x² y
//! let mut g = Graph::new();
//! let [x, y] = ["x", "y"].map(|name| g.symbol(name, name));
//! let square = g.powi(x, 2);
//! let e = g.mul(square, y);
//! let program = Program::new(&g, &[x, y], &[e])?;
//! if let Some(code) = MachineCode::new(&program, OptLevel::Quick) {
//!     let mut outputs = [0.0];
//!     code.run(&[3.0, 2.0], &mut code.workspace(), &mut outputs);
//!     assert_eq!(outputs, [18.0]);
//! }
//! # Ok::<(), zwang_expr::UnknownSymbol>(())
//! ```

#[cfg(not(target_family = "wasm"))]
mod code;
#[cfg(not(target_family = "wasm"))]
mod emit;
#[cfg(not(target_family = "wasm"))]
mod functions;
mod layout;
#[cfg(target_family = "wasm")]
mod none;
#[cfg(not(target_family = "wasm"))]
mod pair;
#[cfg(not(target_family = "wasm"))]
mod schedule;

#[cfg(not(target_family = "wasm"))]
pub use code::MachineCode;
pub use layout::{Layout, OptLevel};
#[cfg(target_family = "wasm")]
pub use none::MachineCode;
