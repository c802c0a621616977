//! Text to tree, never failing: every mistake leaves a message and the reading goes on at the next statement.

mod formula;
pub mod lexer;
pub mod name;
mod overrides;
mod parser;
mod span;
pub mod tree;

pub use formula::unit;
pub use overrides::Overrides;
pub use parser::parse;
pub use span::{Span, line_and_column};
pub use tree::SyntaxTree;
