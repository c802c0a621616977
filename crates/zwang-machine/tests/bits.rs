//! Machine code gives the bits of the interpreter.

#[path = "../../zwang-expr/tests/executor/mod.rs"]
mod executor;

use executor::{N_INPUTS, check, config, inputs, picks, program};
use proptest::prelude::*;
use zwang_expr::{Expr, Function, Graph, Program};
use zwang_machine::{Layout, MachineCode, OptLevel};

/// Runs machine code state by state; values of one state lie `n` apart.
fn run(code: &MachineCode, n: usize, inputs: &[f64], outputs: &mut [f64]) {
    let mut workspace = code.workspace();
    let n_outputs = outputs.len() / n.max(1);
    let mut found = vec![0.0; n_outputs];
    for s in 0..n {
        let state: Vec<f64> = inputs.iter().skip(s).step_by(n).copied().collect();
        code.run(&state, &mut workspace, &mut found);
        (0..n_outputs).for_each(|k| outputs[k * n + s] = found[k]);
    }
}

fn check_code(program: &Program, effort: OptLevel, n_states: usize, seed: u64) {
    let code = MachineCode::new(program, effort).expect("this processor is known");
    check(program, n_states, &inputs(n_states, seed), |n, inputs, outputs| run(&code, n, inputs, outputs));
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn quick_code_is_bit_equal_to_the_interpreter(picks in picks(150), seed: u64) {
        check_code(&program(&picks), OptLevel::Quick, 8, seed);
    }

    #[test]
    fn thorough_code_is_bit_equal_to_the_interpreter(picks in picks(60), seed: u64) {
        check_code(&program(&picks), OptLevel::Thorough, 8, seed);
    }

    /// What depends on some inputs alone, computed beforehand: the same bits again.
    #[test]
    fn a_split_program_is_bit_equal_to_the_whole(picks in picks(100), a in 0..=N_INPUTS, b in 0..=N_INPUTS, seed: u64) {
        let program = program(&picks);
        let held = a.min(b)..a.max(b);
        let (before, after) = program.split(held.clone());
        check(&program, 5, &inputs(5, seed), |n, inputs, outputs| {
            for s in 0..n {
                let state: Vec<f64> = inputs.iter().skip(s).step_by(n).copied().collect();
                let mut handed = vec![0.0; before.n_outputs()];
                before.run(&state[held.clone()], &mut before.workspace(), &mut handed);
                let late = state.iter().enumerate().filter(|(k, _)| !held.contains(k)).map(|(_, x)| *x);
                let all: Vec<f64> = late.chain(handed).collect();
                let mut found = vec![0.0; after.n_outputs()];
                after.run(&all, &mut after.workspace(), &mut found);
                (0..found.len()).for_each(|k| outputs[k * n + s] = found[k]);
            }
        });
    }
}

/// Programs of several functions: values cross from one to the next, sines and cosines among them.
#[test]
fn long_programs_are_cut_into_functions() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..N_INPUTS).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let mut chain = vec![symbols[0], symbols[1]];
    for k in 0..12_000 {
        let (last, early) = (chain[chain.len() - 1], chain[k / 2]);
        let product = g.mul(last, symbols[k % N_INPUTS]);
        let next = g.add(product, early);
        chain.push(if k % 1000 == 0 { g.apply(Function::Sin, next) } else { next });
    }
    let outputs: Vec<Expr> = chain.iter().skip(500).step_by(500).copied().collect();
    let program = Program::new(&g, &symbols, &outputs).expect("all symbols are inputs");
    assert!(program.len() > 20_000, "{} instructions", program.len());
    check_code(&program, OptLevel::Quick, 8, 11);
}

/// Sines of sines: every depth is one group.
#[test]
fn nested_sines_are_found_level_by_level() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..N_INPUTS).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let mut e = symbols[0];
    let mut outputs = Vec::new();
    for k in 0..12 {
        let sine = g.apply(Function::Sin, e);
        let cosine = g.apply(Function::Cos, e);
        let sum = g.add(sine, symbols[k % N_INPUTS]);
        e = g.mul(sum, cosine);
        outputs.extend([sine, e]);
    }
    let program = Program::new(&g, &symbols, &outputs).expect("all symbols are inputs");
    check_code(&program, OptLevel::Quick, 16, 5);
    check_code(&program, OptLevel::Thorough, 16, 5);
}

#[test]
fn programs_without_instructions_copy_inputs_and_constants() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..N_INPUTS).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let program = Program::new(&g, &symbols, &[symbols[2], Expr::HALF, symbols[2]]).expect("all symbols are inputs");
    check_code(&program, OptLevel::Quick, 3, 1);
    let empty = Program::new(&g, &symbols, &[]).expect("nothing is needed");
    check_code(&empty, OptLevel::Quick, 1, 1);
}

/// Inputs and outputs in several pieces: the same bits as in one.
#[test]
fn a_state_of_its_own_and_outputs_apart() {
    let mut g = Graph::new();
    let symbols: Vec<Expr> = (0..5).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
    let sine = g.apply(Function::Sin, symbols[1]);
    let product = g.mul(sine, symbols[4]);
    let outputs = [symbols[2], product, sine, Expr::ONE, symbols[0]];
    let program = Program::new(&g, &symbols, &outputs).expect("all symbols are inputs");
    let mut expected = [0.0; 5];
    program.run(&[0.5, 0.7, -2.0, 3.0, 1.25], &mut program.workspace(), &mut expected);
    for effort in [OptLevel::Quick, OptLevel::Thorough] {
        let layout = Layout { state: 1..3, n_apart: 2 };
        let code = MachineCode::with_layout(&program, layout, effort).expect("this processor is known");
        let (mut work, mut rest) = (code.workspace(), [0.0; 3]);
        // the places of the state are not looked at
        code.run_at(&[0.5, f64::NAN, f64::NAN, 3.0, 1.25], &[0.7, -2.0], &mut work, &mut rest);
        assert_eq!((&work[..2], &rest[..]), (&expected[..2], &expected[2..]), "{effort:?}");
    }
}

/// Sines and cosines in place: one to four arguments, within the limit of their formulas, beyond it, and no numbers.
#[test]
fn arguments_of_any_size() {
    for n in 1..=4 {
        let mut g = Graph::new();
        let symbols: Vec<Expr> = (0..n).map(|k| g.symbol(&format!("x{k}"), "x")).collect();
        let both = |g: &mut Graph, f| symbols.iter().map(|&x| g.apply(f, x)).collect::<Vec<_>>();
        let outputs = [both(&mut g, Function::Sin), both(&mut g, Function::Cos)].concat();
        let program = Program::new(&g, &symbols, &outputs).expect("all symbols are inputs");
        let code = MachineCode::new(&program, OptLevel::Thorough).expect("this processor is known");
        let arguments = [0.3, -2.0, 5e5, -524288.0, 524288.1, 1e22, -0.0, f64::INFINITY, f64::NAN, 4e-310];
        for first in 0..arguments.len() {
            let inputs: Vec<f64> = (0..n).map(|k| arguments[(first + 3 * k) % arguments.len()]).collect();
            let (mut expected, mut found) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            program.run(&inputs, &mut program.workspace(), &mut expected);
            code.run(&inputs, &mut code.workspace(), &mut found);
            let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
            assert!(expected.iter().zip(&found).all(same), "{inputs:?}: {expected:?} {found:?}");
        }
    }
}

/// Tables, their derivatives and the ends of their range: interpreter, code and many states at once give the same bits.
#[test]
fn tables_have_the_bits_of_the_interpreter() {
    let x: Vec<f64> = (0..40).map(|k| 0.1 * f64::from(k) + 0.01 * f64::from(k).sin()).collect();
    let y: Vec<f64> = x.iter().map(|x| (3.0 * x).sin() * x).collect();
    let mut graph = Graph::new();
    let inputs: Vec<Expr> = (0..2).map(|k| graph.symbol(&format!("x{k}"), "x")).collect();
    let table = graph.add_table(zwang_expr::Table::new("y", "", &x, &y).unwrap());
    let value = graph.look(table, inputs[0]);
    let product = graph.mul(value, inputs[1]);
    let slope = graph.derivative(product, inputs[0]);
    let program = Program::new(&graph, &inputs, &[value, product, slope]).unwrap();
    let n = 100;
    let states: Vec<f64> = (0..2 * n).map(|k| 0.05 * f64::from(k as u32 % 100) - 0.2).collect();
    let mut batched = vec![0.0; 3 * n];
    zwang_expr::Batch::new(&program).run(n, &states, &mut batched);
    for effort in [OptLevel::Quick, OptLevel::Thorough] {
        let code = MachineCode::new(&program, effort).expect("this processor is known");
        let mut outputs = vec![0.0; 3 * n];
        run(&code, n, &states, &mut outputs);
        let mut found = [0.0; 3];
        for s in 0..n {
            program.run(&[states[s], states[n + s]], &mut program.workspace(), &mut found);
            for (k, found) in found.iter().enumerate() {
                assert_eq!(found.to_bits(), outputs[k * n + s].to_bits(), "x = {}", states[s]);
                assert_eq!(found.to_bits(), batched[k * n + s].to_bits(), "x = {}", states[s]);
            }
        }
    }
    assert!(batched.iter().any(|x| x.is_nan()) && batched.iter().filter(|x| x.is_finite()).count() > 200);
}
