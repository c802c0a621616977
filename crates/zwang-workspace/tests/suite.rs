//! The workspace, asked as its callers do, and with inputs that nobody would write.

#[path = "../../../fuzz/targets/bodies.rs"]
mod bodies;
mod mutations;
mod workspace;
