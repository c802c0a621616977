//! Loops compiled for the widest vectors that the machine at hand and the build both know.

/// Loops to be compiled several times, once per instruction set; only what is inlined into `run` is.
pub trait Loops {
    /// What comes out.
    type Output;

    /// Does the work; to be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs the loops with AVX2 where there is AVX2, else as the build has them.
///
/// The instruction sets differ in how many numbers are treated at once, never in the numbers: nothing is fused but what the
/// program fuses, so every operation rounds alike. AVX2 is asked for by name, since the widest set that `pulp` can be built for is also the one
/// that faer then computes with, whose sums would depend on the machine.
#[inline(always)]
pub fn run<L: Loops>(loops: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        return avx2.vectorize(Inlined(loops));
    }
    loops.run()
}

#[cfg(target_arch = "x86_64")]
struct Inlined<L>(L);

#[cfg(target_arch = "x86_64")]
impl<L: Loops> pulp::NullaryFnOnce for Inlined<L> {
    type Output = L::Output;

    #[inline(always)]
    fn call(self) -> L::Output {
        self.0.run()
    }
}
