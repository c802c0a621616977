//! From text to tree. Parsing never fails: every mistake is reported, and reading continues at the next statement.

mod formula;
pub mod lexer;
pub mod name;
mod overrides;
mod parser;
pub mod tree;

pub use crate::span::{Span, line_and_column};
pub use formula::unit;
pub use overrides::{Overrides, quoted};
pub use parser::parse;
pub use tree::SyntaxTree;

/// The text with every lone carriage return replaced by a line feed; its length does not change.
pub(crate) fn with_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        out.push(if c == '\r' && characters.peek() != Some(&'\n') { '\n' } else { c });
    }
    out
}
