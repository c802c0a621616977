//! The functions that machine code calls: those of the interpreter.

use zwang_expr::{Function, Function2, Table, real, trig};

/// The address of the function f(x).
pub(crate) fn address(f: Function) -> usize {
    macro_rules! table {
        ($($name:ident)*) => {
            match f {
                $(Function::$name => {
                    extern "C" fn call(x: f64) -> f64 {
                        real::apply(Function::$name, x)
                    }
                    call as *const () as usize
                })*
            }
        };
    }
    table!(Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Log Sqrt Abs Sign)
}

/// The address of the function f(x, y).
pub(crate) fn address2(f: Function2) -> usize {
    macro_rules! table {
        ($($name:ident)*) => {
            match f {
                $(Function2::$name => {
                    extern "C" fn call(x: f64, y: f64) -> f64 {
                        real::apply2(Function2::$name, x, y)
                    }
                    call as *const () as usize
                })*
            }
        };
    }
    table!(Atan2 Min Max)
}

/// The address of the function that evaluates a table at x.
pub(crate) fn table_address() -> usize {
    extern "C" fn call(table: *const Table, x: f64) -> f64 {
        // machine code passes a table that its program keeps alive
        #[allow(unsafe_code)]
        let table = unsafe { &*table };
        table.value(x)
    }
    call as *const () as usize
}

/// The address of the function xʸ.
pub(crate) fn power_address() -> usize {
    extern "C" fn call(x: f64, y: f64) -> f64 {
        real::pow(x, y)
    }
    call as *const () as usize
}

/// The address of the function for many sines and cosines: `work` has n arguments and receives n sines, then n cosines.
pub(crate) fn trig_address() -> usize {
    extern "C" fn call(work: *mut f64, n: usize) {
        // machine code passes a pointer into its workspace with space for 3 n values
        #[allow(unsafe_code)]
        let work = unsafe { std::slice::from_raw_parts_mut(work, 3 * n) };
        let (arguments, results) = work.split_at_mut(n);
        let (sines, cosines) = results.split_at_mut(n);
        trig::sin_cos_many(arguments, sines, cosines);
    }
    call as *const () as usize
}
