//! Random programs with every operation, random states, and what each way to run a program must fulfil: every output of
//! every state has the bits that `Program::run` gives it. Tests of other crates include this file by its path.

#![allow(dead_code)] // each test file uses a part

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use zwang_expr::{Assembler, Comparison, Expr, Function, Function2, Graph, Program};

pub const N_INPUTS: usize = 4;

/// Values at which something may go wrong, also beyond the limit of the short way to sine and cosine.
const SPECIAL: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    std::f64::consts::FRAC_PI_2,
    5e-324,
    -1e-310,
    1e6,
    -1e22,
    1e300,
    -f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    -2.0,
];

/// The same cases at every run.
pub fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(30), ..Config::default() }
}

/// An expression made of earlier ones: what it is, of which, and whether it is an output.
#[derive(Clone, Debug)]
pub struct Pick {
    kind: u8,
    of: [u16; 4],
    is_output: bool,
}

/// Lists of expressions over N_INPUTS symbols, later ones made of earlier ones.
pub fn picks(longest: usize) -> impl Strategy<Value = Vec<Pick>> {
    let pick = (any::<u8>(), any::<[u16; 4]>(), prop::bool::weighted(0.2));
    prop::collection::vec(pick.prop_map(|(kind, of, is_output)| Pick { kind, of, is_output }), 1..=longest)
}

/// The program of a list; the last expression, some inputs and constants and products that are fused with sums are outputs
/// as well.
pub fn program(picks: &[Pick]) -> Program {
    let mut g = Graph::new();
    let inputs: [Expr; N_INPUTS] = std::array::from_fn(|k| g.symbol(&format!("x{k}"), "x"));
    let mut all = inputs.to_vec();
    all.extend([g.pi(), g.integer(2), g.integer(-1), g.rational(1, 3), g.rational(-7, 5)]);
    let mut outputs = vec![inputs[1], all[N_INPUTS], inputs[1]];
    for pick in picks {
        let e = build(&mut g, pick, &all);
        all.push(e);
        if pick.is_output {
            outputs.push(e);
        }
    }
    outputs.extend(all.last());
    let mut assembler = Assembler::new(&g, &inputs);
    let mut outputs = assembler.lower(&outputs).expect("all symbols are inputs");
    let mut sum = outputs[0];
    for k in 2..outputs.len() {
        let (a, b) = (outputs[k], outputs[k - 1]);
        sum = if k % 2 == 0 { assembler.mul_add(a, b, sum) } else { assembler.mul_sub(a, b, sum) };
        outputs.push(sum);
    }
    assembler.finish(&outputs)
}

fn build(g: &mut Graph, pick: &Pick, all: &[Expr]) -> Expr {
    // the first operand is a late one, so that there are long chains
    let late = all.len() - 1 - pick.of[0] as usize % all.len().min(12);
    let [_, b, c, d] = pick.of.map(|k| all[k as usize % all.len()]);
    let (a, choice) = (all[late], pick.of[3] as usize);
    match pick.kind % 32 {
        0..=5 => g.add(a, b),
        6..=9 => g.sub(a, b),
        10 => g.sub(b, a),
        11..=16 => g.mul(a, b),
        17 | 18 => g.div(a, b),
        19 => g.div(b, a),
        20 => g.neg(a),
        21 => g.powi(a, choice as i32 % 9 - 3),
        22 => g.sqrt(a),
        23 => g.pow(a, b),
        24 => g.apply(Function::Sin, a),
        25 => g.apply(Function::Cos, a),
        26 | 27 => g.apply(Function::ALL[choice % Function::ALL.len()], a),
        28 | 29 => g.apply2(Function2::ALL[choice % Function2::ALL.len()], a, b),
        _ => g.select(Comparison::ALL[choice % Comparison::ALL.len()], a, b, c, d),
    }
}

/// Inputs of that many states, component by component; a part of them special.
pub fn inputs(n_states: usize, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    // from none to every fourth
    let special = 250 * (next() % 3) / 2;
    let mut value = || match next() {
        r if r % 1000 < special => SPECIAL[next() as usize % SPECIAL.len()],
        _ => 6.0 * next() as f64 / (1u64 << 53) as f64 - 3.0,
    };
    (0..n_states * N_INPUTS).map(|_| value()).collect()
}

/// Runs a program for all states by `run(n_states, inputs, outputs)` and compares with `Program::run`.
pub fn check(program: &Program, n_states: usize, inputs: &[f64], run: impl FnOnce(usize, &[f64], &mut [f64])) {
    let n_outputs = program.n_outputs();
    let mut outputs = vec![f64::from_bits(0x7FF8_0000_DEAD_BEEF); n_outputs * n_states];
    run(n_states, inputs, &mut outputs);
    let (mut workspace, mut expected) = (program.workspace(), vec![0.0; n_outputs]);
    for s in 0..n_states {
        let state: Vec<f64> = (0..N_INPUTS).map(|i| inputs[i * n_states + s]).collect();
        program.run(&state, &mut workspace, &mut expected);
        for (o, &expected) in expected.iter().enumerate() {
            let found = outputs[o * n_states + s];
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "output {o} of state {s} of {n_states}, {state:?}: {found:e} instead of {expected:e}");
        }
    }
}
