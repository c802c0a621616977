//! Texts across the boundary of a WebAssembly module: the caller allocates memory, writes UTF-8 there, and reads the answer
//! behind its length.

/// Room for `n` bytes, which [`zwang_answer`] gives back.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn zwang_allocate(n: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; n].into_boxed_slice()).cast()
}

/// Answers the request of `n` bytes at `request`, which was allocated with that length and is given back. The answer begins with its
/// length as four bytes, little-endian; [`zwang_free`] gives it back.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn zwang_answer(request: *mut u8, n: usize) -> *mut u8 {
    // the caller had it from `zwang_allocate(n)`, and nobody else has it
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, n)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request)).into_bytes();
    let mut framed = (answer.len() as u32).to_le_bytes().to_vec();
    framed.extend(answer);
    Box::into_raw(framed.into_boxed_slice()).cast()
}

/// Gives back an answer of `n` bytes, its length of four bytes included.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn zwang_free(answer: *mut u8, n: usize) {
    // the caller had it from `zwang_answer`, and nobody else has it
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, n)) });
}
