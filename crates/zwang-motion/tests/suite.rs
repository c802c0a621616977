//! Accelerations and motions against closed forms and each other. One program, because each takes seconds to link.

#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

mod consistency;
mod control;
mod exact;
mod example;
mod mechanism;
mod one_sided;
mod order;
mod routes;
mod sparse;
