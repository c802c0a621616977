//! What is written can be read back. One program, because each takes seconds to link.

mod arrays;
mod documents;
mod equations_code;
mod figures;
mod geometry;
mod page;
mod round_trip;
mod tool;
