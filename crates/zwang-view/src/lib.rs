//! Results to bytes: messages, tables, JSON and documents. Opens no file.

mod document;
mod json;
mod message;
mod table;

pub use document::{equations_latex, equations_text};
pub use json::{check_json, diagnostics_json, inspect_json, run_json};
pub use message::{Paint, messages};
pub use table::{check_table, inspect_table, summary};
