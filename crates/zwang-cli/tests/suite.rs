//! The command, asked as a user would. One program, because each takes seconds to link.

mod commands;
mod control;
mod corpus;
mod export;
mod hostile;
mod in_rust;
mod run;
#[path = "../../zwang-view/tests/tool.rs"]
mod tool;
