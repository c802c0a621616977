//! Symbols against oracles of their own. One program, because each takes seconds to link.

mod algebra;
mod batch;
mod derivative;
mod executor;
mod formula;
mod interval;
mod long;
mod number;
mod oracle;
mod print;
mod program;
mod shorten;
mod simplify;
mod trig;
