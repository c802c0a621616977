//! See `bodies`.
#![no_main]

#[allow(dead_code)]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| bodies::run(text));
