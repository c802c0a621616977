//! Room on the stack for deeply nested formulas.

/// Calls `f` with `size` bytes of stack if fewer than `least` are left.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn with_stack<T>(least: usize, size: usize, f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(least, size, f)
}

/// Calls `f`: a WebAssembly module has the stack that it was linked with.
#[cfg(target_family = "wasm")]
pub(crate) fn with_stack<T>(_least: usize, _size: usize, f: impl FnOnce() -> T) -> T {
    f()
}
