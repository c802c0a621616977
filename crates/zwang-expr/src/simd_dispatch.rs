//! Selection of the widest vector instructions that both the machine and the build support.

/// A loop that is compiled once per instruction set; this covers only code inlined into `run`.
pub trait VectorKernel {
    /// The result of the loop.
    type Output;

    /// Runs the loop; to be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs the loops with AVX2 if the machine has it, otherwise with the instruction set of the build.
///
/// The instruction sets differ in the number of values per instruction, never in the values: only fused operations of
/// the program are fused, so every operation rounds alike. AVX2 is selected by name. The widest set that `pulp` can be
/// built for would also be used by faer, whose sums would then depend on the machine.
#[inline(always)]
pub fn run<L: VectorKernel>(loops: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        return avx2.vectorize(Inlined(loops));
    }
    loops.run()
}

#[cfg(target_arch = "x86_64")]
struct Inlined<L>(L);

#[cfg(target_arch = "x86_64")]
impl<L: VectorKernel> pulp::NullaryFnOnce for Inlined<L> {
    type Output = L::Output;

    #[inline(always)]
    fn call(self) -> L::Output {
        self.0.run()
    }
}
