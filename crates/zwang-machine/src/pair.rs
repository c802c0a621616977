//! Two numbers in one vector register, with which the formulas of sine and cosine are emitted.

use cranelift_codegen::ir::{
    ConstantData, InstBuilder, MemFlagsData, Type, Value,
    types::{F64X2, I64X2},
};
use cranelift_frontend::FunctionBuilder;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitXor, Mul, Shl, Sub};
use zwang_expr::trig::Lane;

/// Two numbers that the emitted code computes.
#[derive(Copy, Clone)]
pub(crate) struct Pair<'c, 'f> {
    value: Value,
    builder: &'c RefCell<&'c mut FunctionBuilder<'f>>,
}

/// The bits of the two numbers.
#[derive(Copy, Clone)]
pub(crate) struct Bits<'c, 'f>(Pair<'c, 'f>);

impl<'c, 'f> Pair<'c, 'f> {
    /// Emits a vector of two numbers.
    pub(crate) fn new(builder: &'c RefCell<&'c mut FunctionBuilder<'f>>, x: Value, y: Value) -> Pair<'c, 'f> {
        let mut b = builder.borrow_mut();
        let both = b.ins().splat(F64X2, x);
        let value = if x == y { both } else { b.ins().insertlane(both, y, 1) };
        Pair { value, builder }
    }

    /// The first and the second number.
    pub(crate) fn apart(self) -> [Value; 2] {
        let mut b = self.builder.borrow_mut();
        [0, 1].map(|lane| b.ins().extractlane(self.value, lane))
    }

    fn then(self, emit: impl FnOnce(&mut FunctionBuilder<'f>) -> Value) -> Pair<'c, 'f> {
        Pair { value: emit(&mut self.builder.borrow_mut()), ..self }
    }

    fn twice(self, which: Type, bits: u64) -> Pair<'c, 'f> {
        let both = [bits.to_le_bytes(), bits.to_le_bytes()].concat();
        self.then(|b| {
            let constant = b.func.dfg.constants.insert(ConstantData::from(both));
            b.ins().vconst(which, constant)
        })
    }

    fn seen_as(self, which: Type) -> Pair<'c, 'f> {
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.then(|b| b.ins().bitcast(which, flags, self.value))
    }
}

impl<'c, 'f> Lane for Pair<'c, 'f> {
    type Bits = Bits<'c, 'f>;

    fn constant(self, value: f64) -> Self {
        self.twice(F64X2, value.to_bits())
    }

    fn constant_bits(self, value: u64) -> Self::Bits {
        Bits(self.twice(I64X2, value))
    }

    fn bits(self) -> Self::Bits {
        Bits(self.seen_as(I64X2))
    }

    fn from_bits(bits: Self::Bits) -> Self {
        bits.0.seen_as(F64X2)
    }
}

macro_rules! operator {
    ($trait:ident $name:ident $emit:ident $pair:ident) => {
        impl $trait for $pair<'_, '_> {
            type Output = Self;

            fn $name(self, other: Self) -> Self {
                self.joined(other, |b, x, y| b.ins().$emit(x, y))
            }
        }
    };
}
operator!(Add add fadd Pair);
operator!(Sub sub fsub Pair);
operator!(Mul mul fmul Pair);
operator!(Sub sub isub Bits);
operator!(BitAnd bitand band Bits);
operator!(BitXor bitxor bxor Bits);

impl<'f> Pair<'_, 'f> {
    fn joined(self, other: Self, emit: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value) -> Self {
        self.then(|b| emit(b, self.value, other.value))
    }
}

impl<'f> Bits<'_, 'f> {
    fn joined(self, other: Self, emit: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value) -> Self {
        Bits(self.0.joined(other.0, emit))
    }
}

impl Shl<usize> for Bits<'_, '_> {
    type Output = Self;

    fn shl(self, places: usize) -> Self {
        Bits(self.0.then(|b| b.ins().ishl_imm_u(self.0.value, places as i64)))
    }
}
